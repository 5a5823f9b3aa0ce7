package train

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/serialize"
)

// smallRun trains a tiny language model for two steps and returns its folder and its text.
func smallRun(t testing.TB) (run, text string) {
	t.Helper()
	dir := t.TempDir()
	run, text = filepath.Join(dir, "r"), filepath.Join(dir, "text.txt")
	if err := os.WriteFile(text, []byte(strings.Repeat("the cat sat on the mat. ", 60)), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := command(context.Background(), "train", "--text", text, "--steps", "2", "--context", "8", "--width",
		"8",
		"--layers", "1", "--heads", "1", "--quiet", "--tensorboard=false", "--out", run); err != nil {
		t.Fatal(err)
	}
	return run, text
}

// place is a place in a checkpoint: keys of dicts, and indices of lists.
type place []any

func (p place) set(t testing.TB, v any, to any) {
	t.Helper()
	for i, key := range p {
		last := i == len(p)-1
		switch x := v.(type) {
		case *serialize.Dict:
			if last {
				x.Set(key, to)
			}
			v = x.Get(key)
		case []any:
			v = x[key.(int)]
		default:
			t.Fatalf("%v leads to %T", p[:i], v)
		}
	}
}

// TestHostileCheckpoint changes one field of a good checkpoint: the error names it, says what it is and what it should
// be, and nothing large is allocated on the way.
func TestHostileCheckpoint(t *testing.T) {
	run, text := smallRun(t)
	path := filepath.Join(run, checkpointFile)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		at     place
		to     any
		want   string
		unused bool // by eval, which has no use for the field
	}{
		{place{"version"}, -1, "version -1", false},
		{place{"version"}, "x", "version x", false},
		{place{"config"}, nil, "no configuration", false},
		{place{"config", "task"}, "sing", `field "task" is "sing": want one of classify, charlm`, false},
		{place{"config", "data"}, "cats", `field "data" is "cats"`, false},
		{place{"config", "model"}, "gpt9", `field "model" is "gpt9": want one of gpt`, false},
		{place{"config", "model"}, "lenet", `field "model" is "lenet": want one of gpt`, false},
		{place{"config", "optimizer"}, "adm", `field "optimizer" is "adm"`, false},
		{place{"config", "scheduler"}, "", `field "scheduler" is ""`, false},
		{place{"config", "steps"}, -1, `field "steps" is -1: want at least 0`, false},
		{place{"config", "steps"}, 1 << 62, `field "steps" is 4611686018427387904: want`, false},
		{place{"config", "steps"}, 0, `field "epochs" is 0: want at least 1, or steps`, false},
		{place{"config", "epochs"}, 1 << 40, `field "epochs" is 1099511627776: want`, false},
		{place{"config", "lr"}, nan, `field "lr" is NaN: want a number above 0`, false},
		{place{"config", "lr"}, -0.1, `field "lr" is -0.1`, false},
		{place{"config", "lr"}, 1, `field "lr" is of type int, want float64`, false},
		{place{"config", "weight_decay"}, inf, `field "weight_decay" is +Inf`, false},
		{place{"config", "clip_norm"}, nan, `field "clip_norm" is NaN`, false},
		{place{"config", "dropout"}, 1.0, `field "dropout" is 1: want`, false},
		{place{"config", "batch_size"}, 0, `field "batch_size" is 0: want`, false},
		{place{"config", "batch_size"}, 1 << 50, `field "batch_size" is 1125899906842624`, false},
		{place{"config", "width"}, 1e9, `field "width" is of type float64, want int`, false},
		{place{"config", "width"}, 1000000000, `field "width" is 1000000000: want at least 1 and at most 65536`, false},
		{place{"config", "width"}, 65536, `parameters, want at most`, false},
		{place{"config", "width"}, 1024, `tensor "tok.weight" of the model has shape`, false},
		{place{"config", "context"}, 1 << 17, `tensor "pos.weight" of the model has shape`, false},
		{place{"config", "layers"}, 1024, `no tensor "b.1.`, false},
		{place{"config", "layers"}, -3, `field "layers" is -3`, false},
		{place{"config", "heads"}, 3, `field "width" is 8: want a multiple of the 3 heads`, false},
		{place{"config", "heads"}, 0, `field "heads" is 0`, false},
		{place{"task_state", "vocab"}, "abc", `tensor "tok.weight"`, false},
		{place{"task_state", "vocab"}, 3, "no vocabulary", false},
		{place{"task_state"}, nil, "task_state", false},
		{place{"model"}, 7, "no model", false},
		{place{"model", "tok.weight"}, nil, "tok.weight", false},

		{place{"epoch"}, -1, `field "epoch" is -1: want at least 0`, true},
		{place{"epoch"}, 1 << 40, `field "epoch" is 1099511627776: want`, true},
		{place{"step"}, -1, `field "step" is -1`, true},
		{place{"step"}, 1, `field "step" is 1: want 2 after`, true},
		{place{"step"}, "2", `field "step" is of type string`, true},
		{place{"batch_in_epoch"}, 1 << 40, `field "batch_in_epoch" is 1099511627776`, true},
		{place{"seen"}, -5, `field "seen" is -5`, true},
		{place{"loss_sum"}, nan, `field "loss_sum" is NaN`, true},
		{place{"losses"}, torch.FromSlice([]float64{1}), `field "losses" is torch.float64 of shape [1]`, true},
		{place{"losses"}, torch.FromSlice([]int64{1, 2}), `field "losses" is torch.int64`, true},
		{place{"eval_steps"}, []any{-1}, `"eval_steps" has -1 at index 0`, true},
		{place{"eval_steps"}, []any{}, `have 0 and 1 entries`, true},
		{place{"evals"}, []any{"x"}, `"evals" has x at index 0`, true},
		{place{"rng_state"}, torch.FromSlice([]uint8{1, 2}), "state", true},
		{place{"epoch_rng_state"}, torch.FromSlice([]float32{1}), "", true},
		{place{"optimizer", "param_groups", 0, "lr"}, nan, `field "lr" of the optimizer is NaN`, true},
		{place{"optimizer", "param_groups", 0, "betas"}, serialize.Tuple{0.9, inf}, `field "betas" of the optimizer is +Inf`,
			true},
		{place{"optimizer", "param_groups", 0, "initial_lr"}, nan, `field "initial_lr" of the optimizer is NaN`, true},
		{place{"optimizer", "state"}, []any{}, "optim", true},
		{place{"scheduler"}, nil, `field "scheduler"`, true},
		{place{"scheduler", "last_epoch"}, 1 << 62,
			`field "last_epoch" of the scheduler is 4611686018427387904: want 1`, true},
	} {
		v, err := serialize.Load(bytes.NewReader(good), int64(len(good)))
		if err != nil {
			t.Fatal(err)
		}
		c.at.set(t, v, c.to)
		if err := serialize.SaveFile(path, v); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"train", "--resume", run, "--text", text, "--quiet", "--tensorboard=false"},
			{"eval", run, "--text", text}} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := command(context.Background(), args...)
			runtime.ReadMemStats(&after)
			if used := after.TotalAlloc - before.TotalAlloc; used > 64<<20 {
				t.Errorf("%v = %v: %s allocated %d MiB", c.at, c.to, args[0], used>>20)
			}
			if args[0] == "eval" && c.unused {
				if err != nil {
					t.Errorf("%v = %v: eval has no use for it and says %v", c.at, c.to, err)
				}
				continue
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), run) &&
				!strings.Contains(err.Error(), path) {
				t.Errorf("%v = %v: %s says %v, want %q", c.at, c.to, args[0], err, c.want)
			}
		}
	}
}

// TestPathsInCheckpoints opens no file on a checkpoint's word.
func TestPathsInCheckpoints(t *testing.T) {
	run, text := smallRun(t)
	secret := filepath.Join(t.TempDir(), "secret")
	for _, line := range []string{"train --quiet --resume " + run, "eval " + run} {
		_, err := command(context.Background(), strings.Fields(line)...)
		if err == nil || !strings.Contains(err.Error(), "--text") || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v, want a word on --text", line, err)
		}
		if _, err := command(context.Background(), strings.Fields(line+" --text "+secret)...); err == nil ||
			!strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v, want the file that --text names to be read", line, err)
		}
	}
	c := Config{Task: "charlm", Text: "a\x1b[2Jb"}
	if err := c.permitted("", ""); strings.ContainsRune(err.Error(), '\x1b') {
		t.Errorf("%q would reach the terminal", err)
	}
	c = Config{Task: "classify", Data: "mnist", Root: "/etc"}
	if err := c.permitted("", ""); err == nil || !strings.Contains(err.Error(), "--root") || c.Root != "" {
		t.Errorf("mnist: %v, root %q", err, c.Root)
	}
}

// FuzzConfig replaces two fields of a configuration. Whatever is accepted is in range, and nothing panics or takes
// memory for the asking.
func FuzzConfig(f *testing.F) {
	names := []string{}
	for k := range (&Config{}).dict().All() {
		names = append(names, k.(string))
	}
	f.Add(uint8(0), "charlm", uint8(6), int64(-1), 0.0)
	f.Add(uint8(5), "", uint8(8), int64(0), math.NaN())
	f.Add(uint8(18), "x", uint8(16), int64(1_000_000_000), 1e300)
	f.Fuzz(func(t *testing.T, field uint8, text string, number uint8, n int64, x float64) {
		for _, base := range []Config{
			{Task: "classify", Data: "digits", Model: "mlp", Epochs: 1, BatchSize: 1, LR: 0.1, Optimizer: "sgd",
				Scheduler: "none", Context: 1, Layers: 1, Heads: 1, Width: 1},
			{Task: "charlm", Data: "digits", Text: "t", Model: "gpt", Steps: 3, BatchSize: 2, LR: 0.1,
				Optimizer: "adamw",
				Scheduler: "cosine", Context: 4, Layers: 1, Heads: 2, Width: 8},
		} {
			d := base.dict()
			d.Set(names[int(field)%len(names)], text)
			if _, isFloat := d.Get(names[int(number)%len(names)]).(float64); isFloat {
				d.Set(names[int(number)%len(names)], x)
			} else {
				d.Set(names[int(number)%len(names)], int(n))
			}
			root := serialize.NewDict("format", checkpointFormat, "version", formatVersion, "config", d, "model",
				serialize.NewDict(), "task_state", serialize.NewDict("vocab", "abc"))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			c, err := configFrom(d)
			if err == nil {
				if !(c.LR > 0 && c.LR <= 1e6 && c.Dropout < 1) || c.BatchSize < 1 || c.BatchSize > maxBatch ||
					c.Task == "charlm" && (c.Width%c.Heads != 0 || c.BatchSize*c.Context > maxTokens) || c.Epochs < 0 ||
					c.Steps < 0 || c.Epochs+c.Steps < 1 {
					t.Errorf("%+v is accepted", c)
				}
				if _, err := modelOf(root); err == nil { // it has no tensors
					t.Errorf("%+v: a model without tensors is accepted", c)
				}
			}
			runtime.ReadMemStats(&after)
			if used := after.TotalAlloc - before.TotalAlloc; used > 32<<20+64*uint64(len(text)) {
				t.Errorf("%d MiB for %+v", used>>20, c)
			}
		}
	})
}

// FuzzCheckpoint replaces a field of a good checkpoint and restores it. Nothing panics, and the counters of a run that
// is accepted fit together.
func FuzzCheckpoint(f *testing.F) {
	folder, text := smallRun(f)
	good, err := os.ReadFile(filepath.Join(folder, checkpointFile))
	if err != nil {
		f.Fatal(err)
	}
	fields := []place{{"epoch"}, {"step"}, {"batch_in_epoch"}, {"seen"}, {"correct"}, {"loss_sum"}, {"done"},
		{"eval_steps"}, {"evals"}, {"rng_state"}, {"epoch_rng_state"}, {"losses"}, {"optimizer"}, {"scheduler"},
		{"optimizer", "state"}, {"optimizer", "param_groups"}, {"optimizer", "param_groups", 0, "lr"},
		{"optimizer", "param_groups", 0, "betas"}, {"optimizer", "param_groups", 0, "eps"},
		{"optimizer", "param_groups", 0, "params"}, {"scheduler", "last_epoch"}, {"scheduler", "base_lrs"},
		{"scheduler", "_last_lr"}, {"scheduler", "T_max"}, {"model"}, {"model", "tok.weight"}, {"task_state"}}
	for i := range fields {
		f.Add(uint8(i), uint8(i%9), int64(-1), 0.5, "x")
	}
	f.Fuzz(func(t *testing.T, at, kind uint8, n int64, x float64, s string) {
		v, err := serialize.Load(bytes.NewReader(good), int64(len(good)))
		if err != nil {
			t.Fatal(err)
		}
		d := v.(*serialize.Dict)
		to := []any{nil, int(n), x, s, n%2 == 0, []any{int(n), x}, serialize.Tuple{x, x}, serialize.NewDict(s, int(n)),
			torch.FromSlice([]byte(s))}[int(kind)%9]
		fields[int(at)%len(fields)].set(t, d, to)
		c, _, err := configOf(d)
		if err != nil {
			return
		}
		c.Text = text
		r := &run{cfg: c, resume: d}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err = r.prepare(0, 0, 0)
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 32<<20+64*uint64(len(s)) {
			t.Errorf("%v = %v: %d MiB", fields[int(at)%len(fields)], to, used>>20)
		}
		if err == nil && (r.st.step != len(r.st.losses) || r.st.step > r.total || r.st.inEpoch < 0 || r.st.seen < 0) {
			t.Errorf("%v = %v is accepted: %+v", fields[int(at)%len(fields)], to, fmt.Sprint(r.st))
		}
	})
}

// FuzzFlags parses a command line of train and completes its configuration.
func FuzzFlags(f *testing.F) {
	for _, s := range []string{"--epochs -1", "--lr nan", "--batch 99999999999", "--text x --width 1e9",
		"--task charlm --text x --heads 0", "--resume", "--resume=x --epochs 3", "--optimizer adm --seed -9"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var flags trainFlags
		cmd := flags.command()
		if err := cmd.ParseFlags(strings.Fields(line)); err == nil {
			c := flags.cfg
			if c.complete(cmd.Flags().Changed) == nil && (c.BatchSize < 1 || c.BatchSize > maxBatch || !(c.LR > 0) ||
				c.Epochs+c.Steps < 1 || c.Task == "charlm" && c.BatchSize*c.Context > maxTokens) {
				t.Errorf("%q gives %+v", line, c)
			}
		}
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 8<<20+64*uint64(len(line)) {
			t.Errorf("%q: %d MiB", line, used>>20)
		}
	})
}
