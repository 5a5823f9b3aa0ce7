package train

import (
	"fmt"
	"os"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/cpu"
)

func envCommand() *cobra.Command {
	return &cobra.Command{
		Use: "env", Aliases: []string{"version"}, Short: "Print versions, CPU features, kernels, threads and memory",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			w := cmd.OutOrStdout()
			var ms runtime.MemStats
			runtime.ReadMemStats(&ms)
			row := func(k, format string, args ...any) { fmt.Fprintf(w, "%-22s %s\n", k, fmt.Sprintf(format, args...)) }
			row("gotorch", "%s", torch.Version())
			row("reference", "PyTorch %s", torch.PyTorchVersion)
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
