package train

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/cmd/gotorch/internal/cli"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/nn/summary"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/tensor"
	textmodels "github.com/gotorch-dev/torch/text/models"
	"github.com/gotorch-dev/torch/vision/models"
)

// architecture is a model that summary knows by name, with the shape of one sample of its input: pictures, or a line of
// tokens, whose shape has one dimension.
type architecture struct {
	name  string
	input []int
	make  func() nn.Module
}

var (
	gray28 = []int{1, 28, 28}
	rgb224 = []int{3, 224, 224}

	architectures = []architecture{
		{"mlp", gray28, func() nn.Module { return models.NewMLP(28*28, 10) }},
		{"lenet", gray28, func() nn.Module { return models.NewLeNet(10) }},
		{"resnet9", gray28, func() nn.Module { return models.NewResNet9(1, 10, 16) }},
		{"gpt", []int{64}, func() nn.Module {
			return textmodels.NewGPT(textmodels.GPTConfig{Vocab: 65, Context: 64, Layers: 3, Heads: 4, Width: 96})
		}},
	}
)

// published are torchvision's networks, with pictures of the size that they were trained on.
func published() []architecture {
	var out []architecture
	for _, name := range models.ListModels() {
		if isDetector(name) { // its input is no batch
			continue
		}
		input := rgb224
		switch name {
		case "inception_v3":
			input = []int{3, 299, 299}
		case "mc3_18", "r2plus1d_18", "r3d_18":
			input = []int{3, 16, 112, 112}
		}
		build, err := models.GetModelBuilder(name)
		if err != nil {
			panic(err) // ListModels names it
		}
		out = append(out, architecture{name, input, func() nn.Module { return build() }})
	}
	return out
}

// tables are the kinds of tables.
var tables = []string{"gotorch", "torchinfo", "torchsummary"}

type summaryFlags struct {
	batch      int
	ops, train bool
	json       bool
	device     string
	table      string
}

func summaryCommand() *cobra.Command {
	known := append(slices.Clone(architectures), published()...)
	var names []string
	for _, a := range known {
		names = append(names, a.name)
	}
	var f summaryFlags
	cmd := &cobra.Command{
		Use: "summary MODEL|FILE", Short: "Print a model's layers, shapes and sizes, or its operators",
		Long: "summary prints a table of a model's layers. The model is one of those below by name, or that of a " +
			"checkpoint of gotorch train (a file, or the folder of a run); of a file with weights alone it prints the " +
			"tensors.\n\nWith --ops it prints what an observer sees of one forward " +
			"pass: PyTorch's operators, one a line, with\n" +
			"the shapes of their arguments and results.\n\nModels: " + strings.Join(names, ", "),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("summary takes one model or file, got %d: models are %s", len(args),
					strings.Join(names, ", "))
			}
			return nil
		},
		ValidArgs: names,
		Example: "  gotorch summary lenet\n  gotorch summary runs/digits-lenet\n" +
			"  gotorch summary resnet50 --ops --train --batch-size 8 --device meta",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkRange("batch-size", f.batch, 1, maxBatch); err != nil {
				return err
			}
			if !slices.Contains(tables, f.table) {
				return cli.Choose("table", f.table, tables)
			}
			if (f.train || f.json) && !f.ops {
				return errors.New("--train and --json belong to --ops")
			}
			d, err := torch.ParseDevice(f.device)
			if err != nil {
				return fmt.Errorf("--device: %w", err)
			}
			for _, a := range known {
				if a.name == args[0] {
					return f.print(cmd.OutOrStdout(), a, d)
				}
			}
			if _, err := os.Stat(args[0]); err == nil {
				return f.file(cmd.OutOrStdout(), args[0], d)
			} else if strings.ContainsRune(args[0], os.PathSeparator) || filepath.Ext(args[0]) != "" {
				return err
			}
			return cli.Choose("model", args[0], names)
		},
	}
	fl := cmd.Flags()
	fl.IntVar(&f.batch, "batch-size", 1, "samples of the input whose shapes are shown")
	fl.StringVar(&f.table, "table", tables[0], "the table: gotorch's own, or that of the Python package torchinfo or "+
		"torchsummary")
	fl.BoolVar(&f.ops, "ops", false, "print the operators of one forward pass")
	fl.BoolVar(&f.train, "train", false, "with --ops: in training mode, with gradients recorded")
	fl.BoolVar(&f.json, "json", false, "with --ops: print a JSON array")
	fl.StringVar(&f.device, "device", "cpu", "where the pass runs: "+strings.Join(tensor.BackendNames(), ", "))
	return cmd
}

// print runs a model once and prints what was asked for.
func (f *summaryFlags) print(w io.Writer, a architecture, d torch.Device) (err error) {
	if e := torch.Try(func() {
		var m nn.Module
		var x *torch.Tensor
		torch.WithDevice(d, func() {
			m = a.make()
			if len(a.input) == 1 {
				x = torch.Zeros([]int{f.batch, a.input[0]}, torch.ZerosOptions{DType: torch.Int64})
			} else {
				x = torch.Zeros(append([]int{f.batch}, a.input...))
			}
		})
		if !f.ops {
			err = f.layers(w, m, x)
			return
		}
		var calls []summary.Call
		if calls, err = summary.Operators(m, x, f.train); err == nil {
			err = summary.FprintOperators(w, calls, f.json)
		}
	}); e != nil {
		return e
	}
	return err
}

// layers prints the table of a model's layers.
func (f *summaryFlags) layers(w io.Writer, m nn.Module, x *torch.Tensor) error {
	var text string
	var err error
	switch f.table {
	case "torchinfo":
		text, err = summary.TorchInfo(m, []*torch.Tensor{x})
		text += "\n"
	case "torchsummary":
		if !x.DType().IsFloat() {
			return errors.New("--table torchsummary runs models on pictures alone, this one takes tokens")
		}
		text, err = summary.TorchSummary(m, [][]int{x.Shape()[1:]})
	default:
		return summary.Fprint(w, m, x)
	}
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, text)
	return err
}

// file prints the model of a checkpoint, or the tensors of a file that has only those.
func (f *summaryFlags) file(w io.Writer, path string, d torch.Device) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.IsDir() {
		if _, err := os.Stat(filepath.Join(path, checkpointFile)); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("the folder %s holds no %s", path, checkpointFile)
		}
		path = filepath.Join(path, checkpointFile)
	}
	v, err := serialize.LoadFile(path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	dict, ok := v.(*serialize.Dict)
	if !ok {
		return fmt.Errorf("%s holds %T, want a checkpoint or a state dict", path, v)
	}
	if dict.Get("format") == checkpointFormat {
		t, err := modelOf(dict)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		nn.ToDevice(t.model, d)
		input := gray28
		switch t.cfg.Task {
		case "charlm":
			input = []int{min(64, t.cfg.Context)}
		case finetuning:
			side := preparationOf(t.cfg.Model, t.cfg.ImageSize).crop
			input = []int{3, side, side}
		}
		fmt.Fprintf(w, "%s, trained on %s for %v steps\n", t.cfg.Model, dataName(&t.cfg), dict.Get("step"))
		return f.print(w, architecture{t.cfg.Model, input, func() nn.Module { return t.model }}, d)
	}
	sd, err := dict.StateDict()
	if err != nil {
		return fmt.Errorf("%s is neither a checkpoint of gotorch train nor a state dict: %w", path, err)
	}
	if f.ops {
		return fmt.Errorf("%s holds only weights: --ops needs the model, from a checkpoint or by name", path)
	}
	return printTensors(w, sd)
}

// printTensors prints the tensors of a state dict.
func printTensors(w io.Writer, sd *torch.StateDict) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "TENSOR\tSHAPE\tDTYPE\tNUMBERS")
	n, total, bytes := 0, 0, 0
	for name, x := range sd.All() {
		fmt.Fprintf(t, "%s\t%v\t%s\t%d\n", name, x.Shape(), x.DType(), x.Numel())
		n, total, bytes = n+1, total+x.Numel(), bytes+x.Numel()*x.DType().Size()
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%s, %d numbers, %.2f MiB\n", count(n, "tensor"), total, float64(bytes)/(1<<20))
	return err
}
