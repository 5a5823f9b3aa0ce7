package train

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"github.com/gotorch-dev/torch/cmd/gotorch/internal/cli"
	"github.com/gotorch-dev/torch/internal/atomicfile"
	"github.com/gotorch-dev/torch/internal/filelock"
)

// lockFile keeps a second run away from a folder while the first one lives.
const lockFile = ".lock"

// place finds and locks the folder and, when resuming, reads the checkpoint.
func (f *trainFlags) place(r *run, set given) error {
	if !set("resume") {
		r.cfg = f.cfg
		if err := r.cfg.complete(set); err != nil {
			return err
		}
		if f.out == "" {
			out, err := freshFolder(filepath.Join("runs", r.cfg.name()))
			if err != nil {
				return err
			}
			r.fresh = true
			return r.enter(out)
		}
		if err := r.enter(f.out); err != nil {
			return err
		}
		if _, err := os.Stat(r.path(checkpointFile)); err == nil {
			return fmt.Errorf("%s already holds a run: go on with %s, or choose another --out", f.out,
				cli.Line(append([]string{r.cfg.command(), "--resume", f.out}, r.cfg.files()...)...))
		}
		return nil
	}
	if set("epochs") && set("steps") {
		return errors.New("--epochs and --steps both say when to stop: give one of them")
	}
	path := f.resume
	if path == latest {
		if path = f.out; path == "" {
			var err error
			if path, err = latestRun(); err != nil {
				return err
			}
		}
	}
	out := path
	st, err := os.Stat(path)
	if err == nil && !st.IsDir() {
		out = filepath.Dir(path)
	}
	if f.out != "" {
		out = f.out
	}
	if err == nil || f.out != "" { // a folder that is missing is not made for the error that says so
		if err := r.enter(out); err != nil {
			return err
		}
	}
	d, err := loadCheckpoint(path)
	if errors.Is(err, fs.ErrNotExist) && f.out != "" && (f.resume == latest || f.resume == f.out) {
		// killed before its first checkpoint: there is nothing to lose, start
		r.cfg = f.cfg
		return r.cfg.complete(set)
	}
	if err != nil {
		return err
	}
	if r.cfg, _, err = configOf(d); err != nil {
		return fmt.Errorf("the checkpoint in %s: %w", path, err)
	}
	if want := r.cfg.command(); want != f.cfg.command() {
		return fmt.Errorf("the run in %s goes on with %s", path, cli.Line(append([]string{want, "--resume", path},
			r.cfg.files()...)...))
	}
	if err := f.sameConfig(&r.cfg, set); err != nil {
		return err
	}
	r.resume = d
	return r.cfg.permitted(f.cfg.Text, f.cfg.Root)
}

// sameConfig refuses flags that contradict the checkpoint: a resumed run goes on as it began, only perhaps for longer.
func (f *trainFlags) sameConfig(c *Config, set given) error {
	for _, x := range []struct {
		flag      string
		got, want any
	}{{"task", f.cfg.Task, c.Task}, {"data", f.cfg.Data, c.Data}, {"model", f.cfg.Model, c.Model},
		{"arch", f.cfg.Model, c.Model}, {"weights", f.cfg.Weights, c.Weights},
		{"freeze-backbone", f.cfg.Freeze, c.Freeze}, {"head-lr", f.cfg.HeadLR, c.HeadLR},
		{"image-size", f.cfg.ImageSize, c.ImageSize},
		{"batch-size", f.cfg.BatchSize, c.BatchSize}, {"lr", f.cfg.LR, c.LR},
		{"optimizer", f.cfg.Optimizer, c.Optimizer},
		{"scheduler", f.cfg.Scheduler, c.Scheduler}, {"weight-decay", f.cfg.WeightDecay, c.WeightDecay},
		{"clip-norm", f.cfg.ClipNorm, c.ClipNorm},
		{"dropout", f.cfg.Dropout, c.Dropout}, {"seed", f.cfg.Seed, c.Seed}, {"context", f.cfg.Context, c.Context},
		{"layers", f.cfg.Layers, c.Layers},
		{"heads", f.cfg.Heads, c.Heads}, {"width", f.cfg.Width, c.Width}, {"amp", f.cfg.AMP, c.AMP}} {
		if set(x.flag) && x.got != x.want {
			return fmt.Errorf("--%s %v contradicts the checkpoint, which has %v: leave it out to go on, or start "+
				"anew without --resume", x.flag, x.got, x.want)
		}
	}
	for _, x := range []struct {
		flag       string
		value, max int
	}{{"epochs", f.cfg.Epochs, maxEpochs}, {"steps", f.cfg.Steps, maxSteps}} {
		if set(x.flag) {
			if err := checkRange(x.flag, x.value, 1, x.max); err != nil {
				return err
			}
		}
	}
	return nil
}

// enter makes a folder, locks it, and removes what a run that was killed left behind.
func (r *run) enter(out string) (err error) {
	r.out = out
	if err := os.MkdirAll(out, 0o755); err != nil {
		return fmt.Errorf("cannot make the folder %s: %w", out, err)
	}
	r.lock, err = filelock.Acquire(r.path(lockFile))
	if errors.Is(err, filelock.ErrLocked) {
		return fmt.Errorf("another run is at work in %s: wait until it ends, or choose another folder with --out (%w)", out,
			err)
	}
	if err != nil {
		return fmt.Errorf("cannot lock the folder %s: %w", out, err)
	}
	for _, name := range []string{checkpointFile, modelFile, curveFile, confusionFile, classesFile} {
		if err := atomicfile.RemoveStale(r.path(name)); err != nil {
			return fmt.Errorf("cannot tidy the folder %s: %w", out, err)
		}
	}
	return nil
}

// freshFolder makes a folder that did not exist: base, or base with the first free number. The system decides who makes
// a folder, so that two runs that start at once get two.
func freshFolder(base string) (string, error) {
	if err := os.MkdirAll(filepath.Dir(base), 0o755); err != nil {
		return "", fmt.Errorf("cannot make the folder %s: %w", filepath.Dir(base), err)
	}
	out := base
	for i := 2; i < math.MaxInt32; i++ {
		err := os.Mkdir(out, 0o755)
		if err == nil {
			return out, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", fmt.Errorf("cannot make the folder %s: %w", out, err)
		}
		out = fmt.Sprintf("%s-%d", base, i)
	}
	return "", fmt.Errorf("%s has too many folders", filepath.Dir(base))
}

// latestRun is the folder below runs whose checkpoint is newest.
func latestRun() (string, error) {
	paths, _ := filepath.Glob(filepath.Join("runs", "*", checkpointFile))
	best, at := int64(-1), ""
	for _, p := range paths {
		if st, err := os.Stat(p); err == nil && st.ModTime().UnixNano() > best {
			best, at = st.ModTime().UnixNano(), filepath.Dir(p)
		}
	}
	if at == "" {
		return "", errors.New("there is no run to resume below runs: give its folder, --resume=DIR")
	}
	return at, nil
}
