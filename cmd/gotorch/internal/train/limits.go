package train

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gotorch-dev/torch/serialize"
)

// What a configuration may ask for. The bounds lie far above what one machine trains, and far below where a product of
// them leaves the range of int or a slip of the finger takes all memory.
const (
	maxEpochs     = 1e6
	maxSteps      = 1e9
	maxBatch      = 1 << 16
	maxTokens     = 1 << 22 // of a batch
	maxParameters = 1 << 31
	maxThreads    = 4096
)

// limits are the ranges of the numbers of a configuration.
var limits = []struct {
	name     string // of the flag
	value    func(c *Config) any
	min, max float64
	open     bool // min itself is outside
}{
	{"epochs", func(c *Config) any { return c.Epochs }, 0, maxEpochs, false},
	{"steps", func(c *Config) any { return c.Steps }, 0, maxSteps, false},
	{"batch-size", func(c *Config) any { return c.BatchSize }, 1, maxBatch, false},
	{"lr", func(c *Config) any { return c.LR }, 0, 1e6, true},
	{"weight-decay", func(c *Config) any { return c.WeightDecay }, 0, 1e6, false},
	{"clip-norm", func(c *Config) any { return c.ClipNorm }, 0, math.MaxFloat64, false},
	{"context", func(c *Config) any { return c.Context }, 1, 1 << 20, false},
	{"layers", func(c *Config) any { return c.Layers }, 1, 1024, false},
	{"heads", func(c *Config) any { return c.Heads }, 1, 1024, false},
	{"width", func(c *Config) any { return c.Width }, 1, 1 << 16, false},
}

// check refuses what cannot be trained: names that there are not and numbers out of range. The errors name what is
// wrong by means of field, which gets the name of a flag and its value.
func (c *Config) check(field func(name string, value any) string) error {
	tasks, sets, models := taskNames, dataNames, modelNames[:3]
	switch c.Task {
	case "charlm":
		models = modelNames[3:]
	case finetuning: // its networks are checked below
		tasks, sets, models = []string{finetuning}, []string{"folder"}, []string{c.Model}
	}
	for _, x := range []struct {
		name, value string
		names       []string
	}{{"task", c.Task, tasks}, {"data", c.Data, sets}, {"model", c.Model, models},
		{"optimizer", c.Optimizer, optimizerNames}, {"scheduler", c.Scheduler, schedulerNames},
		{"amp", c.AMP, ampNames}} {
		if !slices.Contains(x.names, x.value) {
			return fmt.Errorf("%s: want one of %s", field(x.name, fmt.Sprintf("%q", x.value)), strings.Join(x.names, ", "))
		}
	}
	for _, l := range limits {
		v := l.value(c)
		var x float64
		switch n := v.(type) {
		case int:
			x = float64(n)
		case float64:
			x = n
		}
		if x >= l.min && x <= l.max && !(l.open && x == l.min) { // false for NaN
			continue
		}
		from, to := fmt.Sprintf("at least %.10g", l.min), fmt.Sprintf(" and at most %.10g", l.max)
		if l.open {
			from = fmt.Sprintf("a number above %.10g", l.min)
		}
		if l.max == math.MaxFloat64 {
			to = " and finite"
		}
		return fmt.Errorf("%s: want %s%s", field(l.name, v), from, to)
	}
	if !(c.Dropout >= 0 && c.Dropout < 1) {
		return fmt.Errorf("%s: want at least 0 and less than 1", field("dropout", c.Dropout))
	}
	if c.Epochs == 0 && c.Steps == 0 {
		return fmt.Errorf("%s: want at least 1, or steps", field("epochs", c.Epochs))
	}
	switch c.Task {
	case "classify":
		return nil
	case finetuning:
		return c.checkFinetune(field)
	}
	if c.Width%c.Heads != 0 {
		return fmt.Errorf("%s: want a multiple of the %d heads", field("width", c.Width), c.Heads)
	}
	if n := c.BatchSize * c.Context; n > maxTokens {
		return fmt.Errorf("%s: with a context of %d a batch has %d tokens, want at most %d",
			field("batch-size", c.BatchSize), c.Context, n, maxTokens)
	}
	// the matrices of a layer have 3+1+4+4 times the square of the width
	if n := 12 * c.Layers * c.Width * c.Width; n > maxParameters || c.Context*c.Width > maxParameters {
		return fmt.Errorf("%s: with %d layers and a context of %d the model has about %.3g parameters, want at most %.3g",
			field("width", c.Width), c.Layers, c.Context, float64(n)+float64(c.Context*c.Width), float64(maxParameters))
	}
	return nil
}

// checkRange refuses the value of a flag outside of a range.
func checkRange(flag string, value, low, high int) error {
	if value < low || value > high {
		return fmt.Errorf("--%s %d: want at least %d and at most %d", flag, value, low, high)
	}
	return nil
}

// reader takes typed values out of a loaded dict and remembers the first thing that is wrong.
type reader struct {
	d   *serialize.Dict
	err error
}

func get[T any](r *reader, key string) T {
	v, ok := r.d.Get(key).(T)
	if !ok && r.err == nil {
		r.err = fmt.Errorf("field %q is of type %T, want %T", key, r.d.Get(key), v)
	}
	return v
}

// configFrom reads and checks the configuration of a checkpoint.
func configFrom(d *serialize.Dict) (Config, error) {
	r := &reader{d: d}
	c := Config{
		Task: get[string](r, "task"), Data: get[string](r, "data"), Root: get[string](r, "root"),
		Text: get[string](r, "text"), Model: get[string](r, "model"),
		Epochs: get[int](r, "epochs"), Steps: get[int](r, "steps"), BatchSize: get[int](r, "batch_size"),
		LR:        get[float64](r, "lr"),
		Optimizer: get[string](r, "optimizer"), Scheduler: get[string](r, "scheduler"),
		WeightDecay: get[float64](r, "weight_decay"),
		ClipNorm:    get[float64](r, "clip_norm"), Dropout: get[float64](r, "dropout"), Seed: get[int](r, "seed"),
		Context: get[int](r, "context"),
		Layers:  get[int](r, "layers"), Heads: get[int](r, "heads"), Width: get[int](r, "width"),
		AMP: "none",
	}
	if d.Has("amp") { // older checkpoints have none
		c.AMP = get[string](r, "amp")
	}
	if c.Task == finetuning {
		c.Weights, c.Freeze = get[string](r, "weights"), get[bool](r, "freeze_backbone")
		c.HeadLR, c.ImageSize = get[float64](r, "head_lr"), get[int](r, "image_size")
	}
	if r.err != nil {
		return c, r.err
	}
	return c, c.check(func(name string, value any) string {
		return fmt.Sprintf("field %q is %v", strings.ReplaceAll(name, "-", "_"), value)
	})
}
