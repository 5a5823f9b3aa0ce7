// Command gotorch trains, evaluates and inspects models, and carries the tools that stand beside them.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/gotorch-dev/torch/cmd/gotorch/internal/boardcmd"
	"github.com/gotorch-dev/torch/cmd/gotorch/internal/cococmd"
	"github.com/gotorch-dev/torch/cmd/gotorch/internal/recordcmd"
	"github.com/gotorch-dev/torch/cmd/gotorch/internal/train"
	"github.com/gotorch-dev/torch/cmd/gotorch/internal/vetcmd"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root := &cobra.Command{
		Use:   "gotorch",
		Short: "PyTorch for Go: train, evaluate and inspect models from one binary",
		Long: "gotorch trains, evaluates and inspects neural networks, and carries the tools that stand beside " +
			"them.\n\n" +
			"Start with:\n  gotorch train            a convolutional network on embedded data\n  gotorch train " +
			"--help     everything that training takes",
		SilenceUsage:               true,
		SilenceErrors:              true,
		SuggestionsMinimumDistance: 2,
	}
	root.AddCommand(train.Commands()...)
	root.AddCommand(boardcmd.Command(), cococmd.Command(), vetcmd.Command())
	root.AddCommand(recordcmd.Commands()...)
	if err := root.ExecuteContext(ctx); err != nil {
		var code train.ExitCode
		if errors.As(err, &code) {
			stop()
			os.Exit(int(code))
		}
		fmt.Fprintln(os.Stderr, "gotorch:", err)
		os.Exit(1)
	}
}
