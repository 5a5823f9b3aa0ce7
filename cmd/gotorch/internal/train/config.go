package train

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gotorch-dev/torch/cmd/gotorch/internal/cli"
	"github.com/gotorch-dev/torch/serialize"
)

// Config is everything that decides how a run goes. It is stored in the checkpoint, so that a resumed run goes on with
// the same.
type Config struct {
	Task        string // classify, charlm, finetune
	Data        string // digits, mnist; folder of finetune
	Root        string // directory of mnist, or of the images
	Text        string // file of charlm
	Model       string // mlp, lenet, resnet9, gpt; the network of finetune
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
	AMP         string // none, bfloat16, float16
	Weights     string // with which finetune begins
	Freeze      bool   // finetune: only the last layer is trained
	HeadLR      float64
	ImageSize   int
}

var (
	taskNames      = []string{"classify", "charlm"}
	dataNames      = []string{"digits", "mnist"}
	modelNames     = []string{"mlp", "lenet", "resnet9", "gpt"}
	optimizerNames = []string{"sgd", "adam", "adamw"}
	schedulerNames = []string{"none", "step", "cosine", "linear", "onecycle"}
	ampNames       = []string{"none", "bfloat16", "float16"}
)

// given tells which flags the user set.
type given func(flag string) bool

// complete fills in what was not given and refuses contradictions.
func (c *Config) complete(set given) error {
	if c.Task == finetuning {
		return c.completeFinetune(set)
	}
	if c.Text != "" && !set("task") {
		c.Task = "charlm"
	}
	if c.Model == "gpt" && !set("task") {
		c.Task = "charlm"
	}
	if c.Root != "" && !set("data") && c.Task == "classify" {
		c.Data = "mnist"
	}
	if err := cli.Choose("--task", c.Task, taskNames); err != nil {
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
		{"scheduler", c.Scheduler, schedulerNames}, {"amp", c.AMP, ampNames}} {
		if x.flag == "optimizer" && !set("optimizer") || x.flag == "scheduler" && !set("scheduler") {
			continue
		}
		if err := cli.Choose("--"+x.flag, x.value, x.names); err != nil {
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
	}{{"epochs", c.Epochs}, {"steps", c.Steps}, {"batch-size", c.BatchSize}} { // 0 would mean the default
		if set(x.flag) && x.v < 1 {
			return fmt.Errorf("--%s %d: want at least 1", x.flag, x.v)
		}
	}
	if set("lr") && c.LR == 0 {
		return errors.New("--lr 0: want a number above 0")
	}
	c.defaults(set, charlm)
	return c.check(func(name string, value any) string { return fmt.Sprintf("--%s %v", name, value) })
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

// command is the command that trains.
func (c *Config) command() string {
	if c.Task == finetuning {
		return "finetune"
	}
	return "train"
}

// classifies reports whether the model tells classes of pictures apart.
func (c *Config) classifies() bool { return c.Task != "charlm" }

// name is the run's default folder name.
func (c *Config) name() string {
	switch c.Task {
	case "charlm":
		return "charlm-" + c.Model
	case finetuning:
		return filepath.Base(filepath.Clean(c.Root)) + "-" + c.Model
	}
	return c.Data + "-" + c.Model
}

func (c *Config) dict() *serialize.Dict {
	return serialize.NewDict("task", c.Task, "data", c.Data, "root", c.Root, "text", c.Text, "model", c.Model, "epochs",
		c.Epochs, "steps", c.Steps,
		"batch_size", c.BatchSize, "lr", c.LR, "optimizer", c.Optimizer, "scheduler", c.Scheduler, "weight_decay",
		c.WeightDecay, "clip_norm", c.ClipNorm,
		"dropout", c.Dropout, "seed", c.Seed, "context", c.Context, "layers", c.Layers, "heads", c.Heads, "width",
		c.Width, "amp", c.AMP, "weights", c.Weights, "freeze_backbone", c.Freeze, "head_lr", c.HeadLR, "image_size",
		c.ImageSize)
}

// files are the flags that let a command open the files outside of the run's folder that the run was trained on.
func (c *Config) files() []string {
	switch {
	case c.Task == "charlm":
		return []string{"--text", c.Text}
	case c.Task == finetuning:
		return []string{"--data", c.Root}
	case c.Data == "mnist":
		return []string{"--root", c.Root}
	}
	return nil
}

// permitted puts the places of files that the user has given in place of those in a checkpoint. A checkpoint may come
// from someone else, so that its word alone opens no file.
func (c *Config) permitted(text, root string) error {
	named := *c
	c.Text, c.Root = text, root
	var flag, place string
	switch {
	case c.Task == "charlm" && text == "":
		flag, place = "--text", named.Text
	case c.Task == "classify" && c.Data == "mnist" && root == "":
		flag, place = "--root", named.Root
	case c.Task == finetuning && root == "":
		flag, place = "--data", named.Root
	default:
		return nil
	}
	example := ""
	if strings.IndexFunc(place, func(r rune) bool { return !strconv.IsPrint(r) }) < 0 {
		example = fmt.Sprintf(": %s %s if you trust it", flag, cli.Quote(place))
	}
	return fmt.Errorf("the model was trained on %s, says the checkpoint; a path in a checkpoint is only opened when you "+
		"give it with %s%s", dataName(&named), flag, example)
}
