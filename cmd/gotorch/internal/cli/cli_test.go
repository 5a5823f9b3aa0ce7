package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/gotorch-dev/torch/tensor"
)

func TestInvocation(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("paths of Unix")
	}
	repo := t.TempDir()
	inside := filepath.Join(repo, "cmd", "gotorch")
	if err := errors.Join(os.MkdirAll(inside, 0o755),
		os.WriteFile(filepath.Join(inside, "main.go"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	released := &debug.BuildInfo{Main: debug.Module{Path: module, Version: "v1.2.3"}}
	const run = "/tmp/go-build123/b001/exe/gotorch"
	for _, c := range []struct {
		exe, typed, dir string
		info            *debug.BuildInfo
		want            string
	}{
		{"/usr/bin/gotorch", "gotorch", "/", nil, "gotorch"},
		{"/usr/bin/gotorch", "/usr/bin/gotorch", "/", nil, "/usr/bin/gotorch"},
		{"/my tools/gotorch", "./gotorch", "/my tools", nil, "./gotorch"},
		{"/my tools/gotorch", "/my tools/gotorch", "/", nil, "'/my tools/gotorch'"},
		{run, run, repo, nil, "go run ./cmd/gotorch"},
		{run, run, inside, nil, "go run ."},
		{run, run, t.TempDir(), released, "go run github.com/gotorch-dev/torch/cmd/gotorch@v1.2.3"},
		{run, run, t.TempDir(), nil, "go run github.com/gotorch-dev/torch/cmd/gotorch"},
		{"/home/go-builder/exe/gotorch", "gotorch", repo, nil, "gotorch"},
	} {
		if got := invocation(c.exe, c.typed, c.dir, c.info); got != c.want {
			t.Errorf("%s, typed %s, in %s: %q, want %q", c.exe, c.typed, c.dir, got, c.want)
		}
	}
}

func TestQuote(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("quotes of Unix shells")
	}
	for s, want := range map[string]string{"runs/digits-lenet": "runs/digits-lenet", "my run": "'my run'", "": "''",
		"it's": `'it'\''s'`, "$HOME": "'$HOME'", "a;b": "'a;b'", "*": "'*'", "~x": "'~x'"} {
		if got := Quote(s); got != want {
			t.Errorf("Quote(%q) = %s, want %s", s, got, want)
		}
	}
}

func TestNearest(t *testing.T) {
	names := []string{"train", "eval", "predict", "ops"}
	for s, want := range map[string]string{"trian": "train", "TRAIN": "train", "evl": "eval", "opps": "ops", "xyz": "",
		"": "", strings.Repeat("x", 1<<20): ""} {
		if got := Nearest(s, names); got != want {
			t.Errorf("Nearest(%.20q) = %q, want %q", s, got, want)
		}
	}
}

func TestRun(t *testing.T) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for name, c := range map[string]struct {
		ctx  context.Context
		do   func() error
		code int
		want string
	}{
		"well":        {context.Background(), func() error { return nil }, 0, ""},
		"error":       {context.Background(), func() error { return errors.New("oh") }, 1, "gotorch: oh\n"},
		"status":      {context.Background(), func() error { return ExitCode(7) }, 7, ""},
		"interrupted": {ended, func() error { return ended.Err() }, Interrupted, "gotorch: interrupted\n"},
		"tensor error": {context.Background(), func() error {
			tensor.Fail(tensor.ErrShape, "no such shape")
			return nil
		}, 1, "no such shape"},
	} {
		var out bytes.Buffer
		root := Root(&cobra.Command{Use: "do", RunE: func(*cobra.Command, []string) error { return c.do() }})
		code := Run(c.ctx, root, []string{"do"}, &out, &out)
		if code != c.code || !strings.Contains(out.String(), c.want) || c.want == "" && out.Len() > 0 {
			t.Errorf("%s: status %d, %q", name, code, out.String())
		}
	}
}
