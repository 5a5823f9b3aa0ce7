// Command gotorch trains, evaluates and inspects models, and carries the tools that stand beside them.
package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"github.com/gotorch-dev/torch/cmd/gotorch/internal/boardcmd"
	"github.com/gotorch-dev/torch/cmd/gotorch/internal/bottleneckcmd"
	"github.com/gotorch-dev/torch/cmd/gotorch/internal/cli"
	"github.com/gotorch-dev/torch/cmd/gotorch/internal/cococmd"
	"github.com/gotorch-dev/torch/cmd/gotorch/internal/detectcmd"
	"github.com/gotorch-dev/torch/cmd/gotorch/internal/filecmd"
	"github.com/gotorch-dev/torch/cmd/gotorch/internal/graphcmd"
	"github.com/gotorch-dev/torch/cmd/gotorch/internal/recordcmd"
	"github.com/gotorch-dev/torch/cmd/gotorch/internal/runcmd"
	"github.com/gotorch-dev/torch/cmd/gotorch/internal/train"
	"github.com/gotorch-dev/torch/cmd/gotorch/internal/vetcmd"
)

func main() {
	ctx, stop := cli.Signals(context.Background())
	code := cli.Run(ctx, root(), os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func root() *cobra.Command {
	commands := append(train.Commands(), boardcmd.Command(), bottleneckcmd.Command(), cococmd.Command(),
		detectcmd.Command(),
		runcmd.Command(), vetcmd.Command())
	commands = append(commands, filecmd.Commands()...)
	commands = append(commands, graphcmd.Commands()...)
	return cli.Root(append(commands, recordcmd.Commands()...)...)
}
