package train

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch/cmd/gotorch/internal/cli"
	"github.com/gotorch-dev/torch/internal/second"
)

// TestDevice trains on a device whose memory Go code cannot reach: the model is the CPU's to the bit, also when the run
// was stopped and resumed, on the same device or the other one.
func TestDevice(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text.txt")
	if err := os.WriteFile(text, []byte(strings.Repeat("the cat sat on the mat. ", 60)), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, args string
		resume     bool
		files      []string // what a resumed run may open
	}{
		{"sgd", "--model mlp --steps 4 --batch-size 100 --optimizer sgd --weight-decay 0.01", false, nil},
		{"adam", "--model mlp --steps 4 --batch-size 100 --clip-norm 0.5", true, nil},
		{"lenet", "--model lenet --steps 3 --batch-size 16 --optimizer adamw --weight-decay 0.1", false, nil},
		{"charlm", "--text " + text + " --steps 5 --batch-size 6 --context 16 --width 32 --layers 1 --dropout 0.1",
			true, []string{"--text", text}},
	} {
		rest := []string{"--quiet", "--tensorboard=false", "--workers", "0", "--checkpoint-every", "2"}
		args := append(append([]string{"train"}, strings.Fields(c.args)...), rest...)
		run := func(ctx context.Context, args ...string) error {
			_, err := command(ctx, args...)
			return err
		}
		model := func(name string) []byte {
			b, err := os.ReadFile(filepath.Join(dir, name, modelFile))
			if err != nil {
				t.Fatal(c.name, err)
			}
			return b
		}
		cpu, on := c.name+"-cpu", c.name+"-second"
		if err := run(context.Background(), append(args, "--out", filepath.Join(dir, cpu))...); err != nil {
			t.Fatal(c.name, err)
		}
		before := second.Runs()
		if err := run(context.Background(),
			append(args, "--device", "second", "--out", filepath.Join(dir, on))...); err != nil {
			t.Fatal(c.name, err)
		}
		if second.Runs() == before {
			t.Fatalf("%s: nothing ran on the device", c.name)
		}
		if !bytes.Equal(model(on), model(cpu)) {
			t.Errorf("%s: the model differs from the CPU's", c.name)
		}
		for _, devices := range [][]string{{"second", "cpu"}, {"cpu", "second"}} {
			if !c.resume {
				break
			}
			name := c.name + "-" + strings.Join(devices, "-")
			out := filepath.Join(dir, name)
			if err := run(&stopping{context.Background(), 2},
				append(args, "--device", devices[0], "--out", out)...); !errors.Is(err, cli.ExitCode(cli.Interrupted)) {
				t.Fatalf("%s: the run was not stopped: %v", name, err)
			}
			if err := run(context.Background(),
				append(append([]string{"train", "--resume", out, "--device", devices[1]}, c.files...), rest...)...); err != nil {
				t.Fatal(name, err)
			}
			if !bytes.Equal(model(name), model(cpu)) {
				t.Errorf("%s: the model differs from the CPU's", name)
			}
		}
	}
}

func TestMissingDevice(t *testing.T) {
	for name, want := range map[string]string{
		"cuda":     "no backend \"cuda\" is linked (linked are cpu, meta, second)",
		"cuda:1":   "no backend \"cuda\" is linked (linked are cpu, meta, second)",
		"gpu":      "Expected one of cpu, meta, second",
		"second:7": "there are 2 devices",
		"meta":     "no data",
		"":         "Expected one of",
	} {
		_, err := command(context.Background(), "train", "--device", name, "--out", t.TempDir())
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "--device") {
			t.Errorf("--device %s: %v, want %q", name, err, want)
		}
	}
}
