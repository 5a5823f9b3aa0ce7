package train

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/cpu"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/nn/summary"
	"github.com/gotorch-dev/torch/tensor"
	textmodels "github.com/gotorch-dev/torch/text/models"
	"github.com/gotorch-dev/torch/vision/models"
)

func envCommand() *cobra.Command {
	return &cobra.Command{
		Use: "env", Short: "Print versions, CPU features, kernels, threads and memory", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			w := cmd.OutOrStdout()
			var ms runtime.MemStats
			runtime.ReadMemStats(&ms)
			version := "(unknown)"
			if bi, ok := debug.ReadBuildInfo(); ok {
				version = bi.Main.Version
			}
			row := func(k, format string, args ...any) { fmt.Fprintf(w, "%-22s %s\n", k, fmt.Sprintf(format, args...)) }
			row("gotorch", "%s", version)
			row("reference", "PyTorch 2.15")
			row("go", "%s %s/%s", runtime.Version(), runtime.GOOS, runtime.GOARCH)
			row("cpu kernels", "%s", cpu.Description())
			row("cores", "%d, GOMAXPROCS %d", runtime.NumCPU(), runtime.GOMAXPROCS(0))
			row("operator threads", "%d", torch.NumThreads())
			row("default dtype", "%s", torch.DefaultDType())
			row("operators", "%d", torch.NumOperators())
			row("memory of the process", "%.1f MiB from the system, %.1f MiB Go heap", float64(ms.Sys)/(1<<20),
				float64(ms.HeapAlloc)/(1<<20))
			for _, v := range []string{"GOTORCH_CPU", "GOMAXPROCS", "GOGC", "GOMEMLIMIT"} {
				if s, ok := os.LookupEnv(v); ok {
					row(v, "%s", s)
				}
			}
			return nil
		},
	}
}

// architectures are the models that summary knows, with the shape of one sample of their input; a nil shape is a line
// of 64 tokens.
var architectures = []struct {
	name  string
	input []int
	make  func() nn.Module
}{
	{"mlp", []int{1, 28, 28}, func() nn.Module { return models.NewMLP(28*28, 10) }},
	{"lenet", []int{1, 28, 28}, func() nn.Module { return models.NewLeNet(10) }},
	{"resnet9", []int{1, 28, 28}, func() nn.Module { return models.NewResNet9(1, 10, 16) }},
	{"gpt", nil, func() nn.Module {
		return textmodels.NewGPT(textmodels.GPTConfig{Vocab: 65, Context: 64, Layers: 3, Heads: 4, Width: 96})
	}},
	{"resnet18", []int{3, 224, 224}, func() nn.Module { return models.NewResNet18() }},
	{"resnet34", []int{3, 224, 224}, func() nn.Module { return models.NewResNet34() }},
	{"resnet50", []int{3, 224, 224}, func() nn.Module { return models.NewResNet50() }},
	{"resnet101", []int{3, 224, 224}, func() nn.Module { return models.NewResNet101() }},
	{"resnet152", []int{3, 224, 224}, func() nn.Module { return models.NewResNet152() }},
	{"resnext50_32x4d", []int{3, 224, 224}, func() nn.Module { return models.NewResNeXt50x32x4d() }},
	{"wide_resnet50_2", []int{3, 224, 224}, func() nn.Module { return models.NewWideResNet50x2() }},
	{"mobilenet_v2", []int{3, 224, 224}, func() nn.Module { return models.NewMobileNetV2() }},
}

func summaryCommand() *cobra.Command {
	var names []string
	for _, a := range architectures {
		names = append(names, a.name)
	}
	var batch int
	var ops, training, asJSON bool
	device := "cpu"
	cmd := &cobra.Command{
		Use: "summary MODEL", Short: "Print a model's layers, shapes and sizes, or its operators",
		Args: cobra.ExactArgs(1),
		Long: "summary prints a table of a model's layers. With --ops it prints what an observer sees of one forward " +
			"pass: PyTorch's operators, one a line, with\n" +
			"the shapes of their arguments and results.\n\nModels: " + strings.Join(names, ", "),
		ValidArgs: names,
		Example:   "  gotorch summary lenet\n  gotorch summary resnet50 --ops --train --batch 8 --device meta",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := choose("model", args[0], names); err != nil {
				return errors.New(strings.ReplaceAll(err.Error(), "--model", "model"))
			}
			if batch < 1 {
				return fmt.Errorf("--batch %d: want at least 1", batch)
			}
			if (training || asJSON) && !ops {
				return errors.New("--train and --json belong to --ops")
			}
			d, err := torch.ParseDevice(device)
			if err != nil {
				return fmt.Errorf("--device: %w", err)
			}
			for _, a := range architectures {
				if a.name != args[0] {
					continue
				}
				var m nn.Module
				var x *torch.Tensor
				torch.WithDevice(d, func() {
					m = a.make()
					if a.input == nil {
						x = torch.Zeros([]int{batch, 64}, torch.ZerosOptions{DType: torch.Int64})
					} else {
						x = torch.Zeros(append([]int{batch}, a.input...))
					}
				})
				if !ops {
					return summary.Fprint(cmd.OutOrStdout(), m, x)
				}
				calls, err := summary.Operators(m, x, training)
				if err != nil {
					return err
				}
				return summary.FprintOperators(cmd.OutOrStdout(), calls, asJSON)
			}
			return nil
		},
	}
	cmd.Flags().IntVar(&batch, "batch", 1, "samples of the input whose shapes are shown")
	cmd.Flags().IntVar(&batch, "batch-size", 1, "the same as --batch")
	cmd.Flags().BoolVar(&ops, "ops", false, "print the operators of one forward pass")
	cmd.Flags().BoolVar(&training, "train", false, "with --ops: in training mode, with gradients recorded")
	cmd.Flags().BoolVar(&asJSON, "json", false, "with --ops: print a JSON array")
	cmd.Flags().StringVar(&device, "device", "cpu", "where the pass runs: "+strings.Join(tensor.BackendNames(), ", "))
	cmd.SetFlagErrorFunc(flagError)
	return cmd
}
