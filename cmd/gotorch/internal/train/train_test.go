package train

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch/cmd/gotorch/internal/cli"
	"github.com/gotorch-dev/torch/vision/datasets/digits"
)

// command runs gotorch with arguments and returns what it prints.
func command(ctx context.Context, args ...string) (string, error) {
	root := cli.Root(Commands()...)
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetErr(&out)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	return out.String(), err
}

// stopping is a context that ends after some looks at it, so that a run stops at the same step every time.
type stopping struct {
	context.Context
	left int
}

func (s *stopping) Err() error {
	if s.left--; s.left < 0 {
		return context.Canceled
	}
	return nil
}

func TestResumeGivesTheIdenticalModel(t *testing.T) {
	dir := t.TempDir()
	args := []string{"train", "--model", "mlp", "--epochs", "1", "--batch-size", "500", "--quiet",
		"--tensorboard=false", "--workers", "0", "--checkpoint-every", "3"}
	ref := filepath.Join(dir, "ref")
	if _, err := command(context.Background(), append(args, "--out", ref)...); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join(ref, modelFile))
	if err != nil {
		t.Fatal(err)
	}
	resumes(t, dir, args, want, 1, 6, 11, 16)
}

// TestResumeMixedPrecision resumes runs whose gradients are scaled.
func TestResumeMixedPrecision(t *testing.T) {
	for _, dtype := range []string{"bfloat16", "float16"} {
		dir := t.TempDir()
		args := []string{"train", "--model", "mlp", "--epochs", "1", "--batch-size", "1000", "--amp=" + dtype, "--quiet",
			"--tensorboard=false", "--workers", "0", "--checkpoint-every", "3", "--clip-norm", "1"}
		ref := filepath.Join(dir, "ref")
		out, err := command(context.Background(), append(args, "--out", ref)...)
		if err != nil {
			t.Fatal(out, err)
		}
		want, err := os.ReadFile(filepath.Join(ref, modelFile))
		if err != nil {
			t.Fatal(err)
		}
		out, err = command(context.Background(), "eval", "--checkpoint", ref, "--json")
		var e struct{ Accuracy float64 }
		if err != nil || json.Unmarshal([]byte(out), &e) != nil || e.Accuracy < 0.3 {
			t.Errorf("%s: eval printed %s, %v", dtype, out, err)
		}
		resumes(t, dir, args, want, 6)
	}
}

// resumes stops runs at several places, resumes them, and compares their models with that of a run that was not
// stopped.
func resumes(t *testing.T, dir string, args []string, want []byte, stopAfter ...int) {
	t.Helper()
	for _, looks := range stopAfter {
		out := filepath.Join(dir, "run", string(rune('a'+looks)))
		stops := 0
		_, err := command(&stopping{context.Background(), looks}, append(args, "--out", out)...)
		for ; errors.Is(err, cli.ExitCode(cli.Interrupted)); stops++ {
			if stops > 30 {
				t.Fatal("the run does not end")
			}
			_, err = command(&stopping{context.Background(), looks + 7}, "train", "--resume", out, "--quiet",
				"--tensorboard=false", "--workers", "0")
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(out, modelFile))
		if err != nil {
			t.Fatal(err)
		}
		if stops == 0 {
			t.Errorf("%d looks: the run was never stopped", looks)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%d looks, %d stops: the model differs", looks, stops)
		}
	}
}

func TestTrainThenUse(t *testing.T) {
	dir := t.TempDir()
	out, err := command(context.Background(), "train", "--model", "mlp", "--epochs", "1", "--out",
		filepath.Join(dir, "r"), "--json")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	var done struct {
		Event        string
		Epochs       int
		Steps        int
		TestAccuracy float64 `json:"test_accuracy"`
		Model        string
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &done); err != nil {
		t.Fatalf("last line %q: %v", lines[len(lines)-1], err)
	}
	if done.Event != "done" || done.Epochs != 1 || done.Steps != 157 || done.TestAccuracy < 0.85 {
		t.Errorf("done = %+v", done)
	}
	for _, f := range []string{checkpointFile, modelFile, curveFile} {
		if st, err := os.Stat(filepath.Join(dir, "r", f)); err != nil || st.Size() == 0 {
			t.Errorf("%s: %v", f, err)
		}
	}
	out, err = command(context.Background(), "eval", "--checkpoint", filepath.Join(dir, "r"), "--json")
	var e struct{ Accuracy float64 }
	if err != nil || json.Unmarshal([]byte(out), &e) != nil || e.Accuracy != done.TestAccuracy {
		t.Errorf("eval: %v %v, want accuracy %v", out, err, done.TestAccuracy)
	}
	pic := filepath.Join(dir, "digit.png")
	f, err := os.Create(pic)
	if err != nil {
		t.Fatal(err)
	}
	if err := png.Encode(f, digits.Load(digits.Test).Image(0)); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	out, err = command(context.Background(), "predict", "--checkpoint", filepath.Join(dir, "r"), pic)
	if err != nil || strings.Count(out, " %  ") != 3 {
		t.Errorf("predict: %v\n%s", err, out)
	}
}

func TestCharLM(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text.txt")
	if err := os.WriteFile(text, []byte(strings.Repeat("the cat sat on the mat. ", 60)), 0o644); err != nil {
		t.Fatal(err)
	}
	run := filepath.Join(dir, "r")
	if _, err := command(context.Background(), "train", "--task", "charlm", "--text", text, "--steps", "30",
		"--context", "16", "--width", "32", "--layers", "1",
		"--out", run, "--quiet", "--tensorboard=false"); err != nil {
		t.Fatal(err)
	}
	a, err := command(context.Background(), "generate", "--checkpoint", run, "--prompt", "the", "--tokens", "20",
		"--seed", "3")
	if err != nil {
		t.Fatal(err)
	}
	b, _ := command(context.Background(), "generate", "--checkpoint", run, "--prompt", "the", "--tokens", "20",
		"--seed", "3")
	if a != b || !strings.HasPrefix(a, "the") || len(a) != len("the")+20+1 {
		t.Errorf("generate printed %q and %q", a, b)
	}
	if _, err := command(context.Background(), "generate", "--checkpoint", run, "--prompt", "ß"); err == nil {
		t.Error("a character outside the vocabulary is accepted")
	}
}

func TestMistakes(t *testing.T) {
	dir := t.TempDir()
	cut := filepath.Join(dir, "cut.pt")
	if err := os.WriteFile(cut, []byte("PK\x03\x04 not much of a zip file"), 0o644); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		want string
	}{
		{"train --modle mlp", "did you mean --model?"},
		{"train --model lenett", "did you mean --model lenet?"},
		{"train --optimizer adm", "did you mean --optimizer adam?"},
		{"train --model gpt", "--text FILE"},
		{"train --data mnist", "--root DIR"},
		{"train --data mnist --root " + dir, "train-images-idx3-ubyte"},
		{"train --epochs 2 --steps 3", "give one of them"},
		{"train --task charlm --text x --model lenet", "classifies images"},
		{"train --lr -1", "--lr -1"},
		{"train --json --quiet", "give one of them"},
		{"train --resume " + cut, "cut.pt"},
		{"train --resume " + filepath.Join(dir, "none"), "there is no checkpoint"},
		{"train --out " + filepath.Join(file, "x"), "cannot make the folder"},
		{"eval", "--checkpoint FILE"},
		{"eval --checkpoint " + cut, "cannot read the checkpoint"},
		{"predict --checkpoint " + cut + " a.png", "cannot read the checkpoint"},
		{"generate --prompt x --temperature -1", "--temperature"},
		{"summary nothing", "unknown model"},
		{"summary lenett", "did you mean model lenet?"},
		{"train --heads 3", "--heads belongs to the gpt"},
		{"train --clip-norm -1", "--clip-norm -1"},
		{"train --lr +Inf", "--lr +Inf"},
		{"eval --threads -1", "--threads -1"},
	} {
		_, err := command(context.Background(), strings.Fields(c.args)...)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("gotorch %s: %v, want an error with %q", c.args, err, c.want)
		}
	}
}

// TestOtherText refuses to go on with a text whose characters are others.
func TestOtherText(t *testing.T) {
	dir := t.TempDir()
	text, run := filepath.Join(dir, "text.txt"), filepath.Join(dir, "r")
	args := []string{"train", "--text", text, "--context", "8", "--width", "8", "--layers", "1", "--heads", "1",
		"--steps", "1", "--quiet", "--tensorboard=false"}
	for i, s := range []string{"abcdef ", "ABCDEF "} {
		if err := os.WriteFile(text, []byte(strings.Repeat(s, 40)), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := command(context.Background(), append(args, [][]string{{"--out", run}, {"--resume=" + run}}[i]...)...)
		if i == 0 && err != nil || i == 1 && (err == nil || !strings.Contains(err.Error(), "other characters")) {
			t.Errorf("text %d: %v", i, err)
		}
	}
}

// TestPictureShapes reads pictures that are much longer than wide without making a huge square of them.
func TestPictureShapes(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {1, 200000}, {200000, 1}, {28, 28}, {3, 5}} {
		src := image.NewGray(image.Rect(0, 0, size[0], size[1]))
		for i := range src.Pix {
			src.Pix[i] = 200 // a light ground is turned dark
		}
		path := filepath.Join(t.TempDir(), "p.png")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(png.Encode(f, src), f.Close()); err != nil {
			t.Fatal(err)
		}
		g, err := readGray(path)
		if err != nil || g.Bounds() != image.Rect(0, 0, 28, 28) || g.Pix[0] != 55 || g.Pix[14*28+14] != 55 {
			t.Errorf("%v: %v", size, err)
		}
	}
}
