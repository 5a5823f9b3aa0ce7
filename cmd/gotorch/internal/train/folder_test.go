package train

import (
	"bytes"
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gotorch-dev/torch/cmd/gotorch/internal/cli"
	"github.com/gotorch-dev/torch/tensorboard"
)

// TestFreshFolder starts runs at once: each gets a folder of its own.
func TestFreshFolder(t *testing.T) {
	base := filepath.Join(t.TempDir(), "runs", "x")
	var wg sync.WaitGroup
	var seen sync.Map
	for range 16 {
		wg.Go(func() {
			out, err := freshFolder(base)
			if _, twice := seen.LoadOrStore(out, true); twice || err != nil {
				t.Errorf("%s: %v, given before: %v", out, err, twice)
			}
		})
	}
	wg.Wait()
	for _, want := range []string{base, base + "-2", base + "-16"} {
		if _, ok := seen.Load(want); !ok {
			t.Errorf("%s is missing", want)
		}
	}
}

// TestLongerRun lengthens a finished run. Without a schedule it becomes the run that had this length from its
// beginning, to the bit; with one it gets the same from both ways of being stopped.
func TestLongerRun(t *testing.T) {
	dir := t.TempDir()
	model := func(out string) []byte {
		b, err := os.ReadFile(filepath.Join(dir, out, modelFile))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	train := func(ctx context.Context, out, flags string) error {
		_, err := command(ctx, append(strings.Fields("train --quiet --workers 0 --checkpoint-every 3 "+flags),
			"--tensorboard=false", "--out", filepath.Join(dir, out))...)
		return err
	}
	run := func(out, flags string) {
		t.Helper()
		if err := train(context.Background(), out, flags); err != nil {
			t.Fatal(out, err)
		}
	}
	const base = "--model mlp --batch-size 5000 --clip-norm 1 "
	run("whole", base+"--scheduler none --epochs 2")
	for _, c := range []struct{ name, first, more string }{
		{"epochs", "--epochs 1", "--epochs 2"},
		{"steps", "--steps 2", "--steps 4"},
		{"within an epoch", "--steps 1", "--epochs 2"},
	} {
		run(c.name, base+"--scheduler none "+c.first)
		run(c.name, "--resume "+c.more)
		if !bytes.Equal(model(c.name), model("whole")) {
			t.Errorf("%s: the lengthened run ends with another model", c.name)
		}
	}
	text := filepath.Join(dir, "text.txt")
	if err := os.WriteFile(text, []byte(strings.Repeat("the cat sat on the mat. ", 60)), 0o644); err != nil {
		t.Fatal(err)
	}
	small := "--text " + text + " --context 8 --width 8 --layers 1 --heads 1 --batch-size 16 --steps 6 --scheduler "
	more := "--resume --steps 15 --text " + text
	for _, sched := range schedulerNames[1:] {
		for _, out := range []string{sched, sched + "-stopped"} {
			run(out, small+sched)
		}
		before := model(sched)
		run(sched, more)
		if bytes.Equal(model(sched), before) {
			t.Errorf("%s: the longer run learned nothing", sched)
		}
		if err := train(&stopping{context.Background(), 4}, sched+"-stopped", more); !errors.Is(err,
			cli.ExitCode(cli.Interrupted)) {
			t.Fatalf("%s was not stopped: %v", sched, err)
		}
		run(sched+"-stopped", more)
		if !bytes.Equal(model(sched+"-stopped"), model(sched)) {
			t.Errorf("%s: stopped and resumed, the longer run ends with another model", sched)
		}
	}
}

// TestFinishedRun resumes a run that has nothing left to do: it says so, and measures no speed.
func TestFinishedRun(t *testing.T) {
	out := filepath.Join(t.TempDir(), "r")
	var text string
	for _, args := range [][]string{{"--model", "mlp", "--steps", "1", "--out", out}, {"--resume", out}} {
		var err error
		if text, err = command(context.Background(), append([]string{"train", "--tensorboard=false"},
			args...)...); err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(text, "the run is finished") || strings.Contains(text, "/s") ||
		!strings.Contains(text, "done: 1 step, train loss") {
		t.Errorf("resumed: %s", text)
	}
}

// TestBoardKeepsLastPoint resumes a finished run twice: its last points stay on the board.
func TestBoardKeepsLastPoint(t *testing.T) {
	out := filepath.Join(t.TempDir(), "r")
	for _, args := range [][]string{{"--model", "mlp", "--batch-size", "1000", "--epochs", "1", "--out", out},
		{"--resume", out}, {"--resume", out, "--epochs", "2"}} {
		if _, err := command(context.Background(), append([]string{"train", "--quiet"}, args...)...); err != nil {
			t.Fatal(err)
		}
	}
	steps := scalarSteps(t, out, "loss/train")
	if len(steps) != 20 {
		t.Fatalf("%d points of loss/train, want 20: %v", len(steps), steps)
	}
	for i, s := range steps {
		if s != int64(i+1) {
			t.Errorf("point %d of loss/train is of step %d", i, s)
		}
	}
	if got := scalarSteps(t, out, "accuracy/test"); len(got) != 2 || got[0] != 10 || got[1] != 20 {
		t.Errorf("accuracy/test has points at %v, want 10 and 20", got)
	}
}

// TestArchitectures compares the models that summary knows with the constructors that there are.
func TestArchitectures(t *testing.T) {
	known := map[string]bool{}
	for _, a := range append(slices.Clone(architectures), published()...) {
		known[strings.NewReplacer("_", "", "x", "").Replace(a.name)] = true
	}
	for _, dir := range []string{"../../../../vision/models", "../../../../text/models"} {
		names, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(names) == 0 {
			t.Fatal(dir, err)
		}
		for _, name := range names {
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range f.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok || fn.Recv != nil || !strings.HasPrefix(fn.Name.Name, "New") ||
					strings.HasSuffix(name, "_test.go") {
					continue
				}
				ps := fn.Type.Params.List
				if _, options := ps[0].Type.(*ast.Ellipsis); strings.Contains(dir, "vision") &&
					(!options || len(ps) != 1) {
					continue // made of parts or of numbers, which no name tells
				}
				// NewWideResNet50_2 is wide_resnet50_2
				want := strings.NewReplacer("_", "", "x",
					"").Replace(strings.ToLower(strings.TrimPrefix(fn.Name.Name, "New")))
				if !known[want] {
					t.Errorf("summary does not know %s of %s", fn.Name.Name, name)
				}
			}
		}
	}
}

// scalarSteps are the steps of the points that the board shows.
func scalarSteps(t *testing.T, dir, tag string) []int64 {
	t.Helper()
	l, err := tensorboard.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	s, err := l.Scalars(".", tag)
	if err != nil {
		t.Fatal(err)
	}
	return s.Steps
}
