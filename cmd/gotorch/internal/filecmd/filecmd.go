// Package filecmd holds the command lines that look at files of weights and turn them into one another: inspect,
// convert and diff.
package filecmd

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/tensor"
)

// Commands returns the commands of this package, to be added to the root command.
func Commands() []*cobra.Command {
	return []*cobra.Command{inspectCommand(), convertCommand(), diffCommand()}
}

// onCPU reads files without their devices, mapped into memory.
func onCPU(entry []string) serialize.LoadOptions {
	return serialize.LoadOptions{MapLocation: serialize.ToDevice(tensor.Device{}), MMap: true, Entry: entry}
}

// load reads the weights of a file of any format; flag is what leads to those inside a larger checkpoint.
func load(path string, entry []string, flag string) (*tensor.StateDict, error) {
	sd, err := serialize.LoadStateDict(path, onCPU(entry))
	if err != nil {
		// The library names the call to make; here it is a flag.
		if what, _, ok := strings.Cut(err.Error(), " Take one out:"); ok {
			err = fmt.Errorf("%s Name one by %s KEY", what, flag)
		}
	}
	return sd, err
}

// size prints a number of bytes.
func size(n int64) string {
	const units = "kMGT"
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	f, u := float64(n), -1
	for f >= 999.95 && u < len(units)-1 {
		f, u = f/1000, u+1
	}
	return fmt.Sprintf("%.1f %cB", f, units[u])
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
