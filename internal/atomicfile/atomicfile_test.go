package atomicfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.txt")
	check := func(want string) {
		t.Helper()
		got, err := os.ReadFile(path)
		if err != nil || string(got) != want {
			t.Errorf("contents %q, %v; want %q", got, err, want)
		}
		if files, _ := os.ReadDir(dir); len(files) != 1 {
			t.Errorf("left behind: %v", files)
		}
	}
	if err := Write(path, text("one")); err != nil {
		t.Fatal(err)
	}
	check("one")
	if err := Write(path, text("two")); err != nil {
		t.Fatal(err)
	}
	check("two")

	boom := errors.New("boom")
	err := Write(path, func(w io.Writer) error {
		_, _ = io.WriteString(w, "half")
		return boom
	})
	if !errors.Is(err, boom) {
		t.Errorf("error %v, want boom", err)
	}
	check("two")

	func() {
		defer func() { _ = recover() }()
		_ = Write(path, func(io.Writer) error { panic("boom") })
	}()
	check("two")

	if err := Write(dir, text("x")); err == nil {
		t.Error("no error for a folder")
	}
	if err := Write(filepath.Join(dir, "none", "a"), text("x")); err == nil {
		t.Error("no error for a missing folder")
	}
	check("two")
}

func TestPermissions(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("permissions are not like Unix's")
	}
	path := filepath.Join(t.TempDir(), "a")
	if err := os.WriteFile(path, nil, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := Write(path, text("x")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v; want 0640 kept", info.Mode(), err)
	}
}

func TestRemoveStale(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.pt", ".a.pt.0123abcd.tmp", ".a.pt.ffffffff.tmp", ".a.pt.0123abc.tmp", ".a.pt.tmp",
		".a.pt.0123ABCD.tmp", ".b.pt.0123abcd.tmp", "x.a.pt.0123abcd.tmp"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := RemoveStale(filepath.Join(dir, "a.pt")); err != nil {
		t.Fatal(err)
	}
	var left []string
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		left = append(left, e.Name())
	}
	want := ".a.pt.0123ABCD.tmp .a.pt.0123abc.tmp .a.pt.tmp .b.pt.0123abcd.tmp a.pt x.a.pt.0123abcd.tmp"
	if got := strings.Join(left, " "); got != want {
		t.Errorf("left are %s, want %s", got, want)
	}
	if RemoveStale(filepath.Join(dir, "none", "a.pt")) == nil {
		t.Error("a folder that is none: no error")
	}
}
