package train

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gotorch-dev/torch/serialize"
)

// ExitCode is an error that has been reported already and only sets the exit status.
type ExitCode int

// Error says what the status is.
func (e ExitCode) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// Config is everything that decides how a run goes. It is stored in the checkpoint, so that a resumed run goes on with
// the same.
type Config struct {
	Task        string // classify, charlm
	Data        string // digits, mnist
	Root        string // directory of mnist
	Text        string // file of charlm
	Model       string // mlp, lenet, resnet9, gpt
	Epochs      int
	Steps       int // 0: as many as the epochs have
	BatchSize   int
	LR          float64
	Optimizer   string
	Scheduler   string
	WeightDecay float64
	ClipNorm    float64
	Dropout     float64
	Seed        int
	Context     int // tokens that the gpt sees
	Layers      int
	Heads       int
	Width       int
}

var (
	taskNames      = []string{"classify", "charlm"}
	dataNames      = []string{"digits", "mnist"}
	modelNames     = []string{"mlp", "lenet", "resnet9", "gpt"}
	optimizerNames = []string{"sgd", "adam", "adamw"}
	schedulerNames = []string{"none", "step", "cosine", "linear", "onecycle"}
)

// choose checks a name and suggests the nearest one.
func choose(flag, value string, names []string) error {
	if slices.Contains(names, value) {
		return nil
	}
	hint := ""
	if near := nearest(value, names); near != "" {
		hint = fmt.Sprintf("; did you mean --%s %s?", flag, near)
	}
	return fmt.Errorf("unknown --%s %q: want one of %s%s", flag, value, strings.Join(names, ", "), hint)
}

// nearest finds the name with the smallest edit distance, "" when none is near.
func nearest(s string, names []string) string {
	best, at := 3, ""
	for _, n := range names {
		if d := distance(strings.ToLower(s), n); d < best {
			best, at = d, n
		}
	}
	return at
}

func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		prev := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := prev
			if a[i] != b[j] {
				cost++
			}
			prev = row[j+1]
			row[j+1] = min(cost, prev+1, row[j]+1)
		}
	}
	return row[len(b)]
}

// given tells which flags the user set.
type given func(flag string) bool

// complete fills in what was not given and refuses contradictions.
func (c *Config) complete(set given) error {
	if c.Text != "" && !set("task") {
		c.Task = "charlm"
	}
	if c.Model == "gpt" && !set("task") {
		c.Task = "charlm"
	}
	if c.Root != "" && !set("data") && c.Task == "classify" {
		c.Data = "mnist"
	}
	if err := choose("task", c.Task, taskNames); err != nil {
		return err
	}
	charlm := c.Task == "charlm"
	if !set("model") {
		c.Model = "lenet"
		if charlm {
			c.Model = "gpt"
		}
	}
	for _, x := range []struct {
		flag, value string
		names       []string
	}{{"data", c.Data, dataNames}, {"model", c.Model, modelNames}, {"optimizer", c.Optimizer, optimizerNames},
		{"scheduler", c.Scheduler, schedulerNames}} {
		if x.flag == "optimizer" && !set("optimizer") || x.flag == "scheduler" && !set("scheduler") {
			continue
		}
		if err := choose(x.flag, x.value, x.names); err != nil {
			return err
		}
	}
	switch {
	case charlm && c.Model != "gpt":
		return fmt.Errorf("--model %s classifies images; --task charlm needs --model gpt", c.Model)
	case !charlm && c.Model == "gpt":
		return fmt.Errorf("--model gpt is a language model: use --task charlm --text FILE")
	case charlm && c.Text == "":
		return fmt.Errorf("--task charlm needs a text: --text FILE")
	case charlm && (set("data") || set("root")):
		return fmt.Errorf("--data and --root belong to --task classify; --task charlm reads --text FILE")
	case !charlm && c.Text != "":
		return fmt.Errorf("--text belongs to --task charlm")
	case c.Data == "digits" && c.Root != "":
		return fmt.Errorf("--root is where mnist lies; the digits are embedded: use --data mnist, or leave --root out")
	case c.Data == "mnist" && c.Root == "" && !charlm:
		return fmt.Errorf("--data mnist needs the folder of its files: --root DIR")
	case !charlm && firstSet(set, "dropout", "context", "layers", "heads", "width") != "":
		return fmt.Errorf("--%s belongs to the gpt of --task charlm; --model %s has none",
			firstSet(set, "dropout", "context", "layers", "heads", "width"), c.Model)
	case set("epochs") && set("steps"):
		return fmt.Errorf("--epochs and --steps both say when to stop: give one of them")
	}
	for _, x := range []struct {
		flag string
		v    int
		min  int
	}{{"epochs", c.Epochs, 1}, {"batch-size", c.BatchSize, 1}, {"context", c.Context, 1}, {"layers", c.Layers, 1},
		{"heads", c.Heads, 1}, {"width", c.Width, 1}} {
		if set(x.flag) && x.v < x.min {
			return fmt.Errorf("--%s %d: want at least %d", x.flag, x.v, x.min)
		}
	}
	if c.Steps < 0 || set("steps") && c.Steps == 0 {
		return fmt.Errorf("--steps %d: want at least 1", c.Steps)
	}
	if set("lr") && !(c.LR > 0 && c.LR <= math.MaxFloat64) {
		return fmt.Errorf("--lr %g: want a number above 0", c.LR)
	}
	if !(c.ClipNorm >= 0) {
		return fmt.Errorf("--clip-norm %g: want 0 (no bound) or more", c.ClipNorm)
	}
	if !(c.WeightDecay >= 0) {
		return fmt.Errorf("--weight-decay %g: want 0 or more", c.WeightDecay)
	}
	if !(c.Dropout >= 0 && c.Dropout < 1) {
		return fmt.Errorf("--dropout %g: want at least 0 and less than 1", c.Dropout)
	}
	c.defaults(set, charlm)
	if c.Width%c.Heads != 0 {
		return fmt.Errorf("--width %d is not a multiple of --heads %d", c.Width, c.Heads)
	}
	return nil
}

// firstSet is the first of the flags that was given, "" when none was.
func firstSet(set given, flags ...string) string {
	for _, f := range flags {
		if set(f) {
			return f
		}
	}
	return ""
}

// defaults are good settings for each task.
func (c *Config) defaults(set given, charlm bool) {
	def := func(flag string, apply func()) {
		if !set(flag) {
			apply()
		}
	}
	if charlm {
		def("steps", func() {
			if !set("epochs") {
				c.Steps = 500
			}
		})
		def("batch-size", func() { c.BatchSize = 32 })
		def("lr", func() { c.LR = 3e-3 })
		def("optimizer", func() { c.Optimizer = "adamw" })
		def("scheduler", func() { c.Scheduler = "cosine" })
		def("weight-decay", func() { c.WeightDecay = 0.01 })
		def("clip-norm", func() { c.ClipNorm = 1 })
		return
	}
	def("epochs", func() {
		c.Epochs = 4
		if c.Data == "mnist" {
			c.Epochs = 3
		}
	})
	def("batch-size", func() { c.BatchSize = 64 })
	def("optimizer", func() { c.Optimizer = "adam" })
	def("scheduler", func() { c.Scheduler = "onecycle" })
	def("lr", func() {
		c.LR = 2e-3
		if c.Optimizer == "sgd" {
			c.LR = 0.05
		}
	})
}

// name is the run's default folder name.
func (c *Config) name() string {
	if c.Task == "charlm" {
		return "charlm-" + c.Model
	}
	return c.Data + "-" + c.Model
}

func (c *Config) dict() *serialize.Dict {
	return serialize.NewDict("task", c.Task, "data", c.Data, "root", c.Root, "text", c.Text, "model", c.Model, "epochs",
		c.Epochs, "steps", c.Steps,
		"batch_size", c.BatchSize, "lr", c.LR, "optimizer", c.Optimizer, "scheduler", c.Scheduler, "weight_decay",
		c.WeightDecay, "clip_norm", c.ClipNorm,
		"dropout", c.Dropout, "seed", c.Seed, "context", c.Context, "layers", c.Layers, "heads", c.Heads, "width",
		c.Width)
}

// reader takes typed values out of a loaded dict and remembers the first thing that is wrong.
type reader struct {
	d   *serialize.Dict
	err error
}

func get[T any](r *reader, key string) T {
	v, ok := r.d.Get(key).(T)
	if !ok && r.err == nil {
		r.err = fmt.Errorf("%q is %T, want %T", key, r.d.Get(key), v)
	}
	return v
}

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
	}
	return c, r.err
}
