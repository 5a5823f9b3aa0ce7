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
			row("memory of the process", "%.1f MiB from the system, %.1f MiB Go heap", float64(ms.Sys)/(1<<20), float64(ms.HeapAlloc)/(1<<20))
			for _, v := range []string{"GOTORCH_CPU", "GOMAXPROCS", "GOGC", "GOMEMLIMIT"} {
				if s, ok := os.LookupEnv(v); ok {
					row(v, "%s", s)
				}
			}
			return nil
		},
	}
}

func summaryCommand() *cobra.Command {
	var batch int
	cmd := &cobra.Command{
		Use: "summary MODEL", Short: "Print a model's layers, shapes and sizes", Args: cobra.ExactArgs(1),
		ValidArgs: modelNames,
		Example:   "  gotorch summary lenet",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := choose("model", args[0], modelNames); err != nil {
				return errors.New(strings.ReplaceAll(err.Error(), "--model", "model"))
			}
			if batch < 1 {
				return fmt.Errorf("--batch-size %d: want at least 1", batch)
			}
			var m nn.Module
			x := torch.Zeros([]int{batch, 1, 28, 28})
			switch args[0] {
			case "gpt":
				m = textmodels.NewGPT(textmodels.GPTConfig{Vocab: 65, Context: 64, Layers: 3, Heads: 4, Width: 96})
				x = torch.Zeros([]int{batch, 64}, torch.ZerosOptions{DType: torch.Int64})
			case "mlp":
				m = models.NewMLP(28*28, 10)
			case "resnet9":
				m = models.NewResNet9(1, 10, 16)
			default:
				m = models.NewLeNet(10)
			}
			return summary.Fprint(cmd.OutOrStdout(), m, x)
		},
	}
	cmd.Flags().IntVar(&batch, "batch-size", 1, "samples of the input whose shapes are shown")
	cmd.SetFlagErrorFunc(flagError)
	return cmd
}
