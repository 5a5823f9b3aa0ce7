// Package vetcmd holds "gotorch vet", which looks for modules with fields that training and saving would miss.
package vetcmd

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"
)

// tool is the package of the program that does the work. It is a program of its own because the machinery of analysis
// would make this one larger.
const tool = "github.com/gotorch-dev/torch/cmd/gotorch-vet"

// Command is "gotorch vet".
func Command() *cobra.Command {
	return &cobra.Command{
		Use:   "vet [packages]",
		Short: "Find fields of modules that training and saving would miss",
		Long: "vet looks at Go source for modules that cannot be walked as a whole: private fields that hold layers, " +
			"fields with one name in the state dict, maps whose keys are no strings. nn.New refuses them when the " +
			"program " +
			"runs; vet finds them before.\n\nIt runs \"go vet\" with the tool gotorch-vet, which it looks for beside " +
			"this " +
			"program and in PATH, and builds from the module's own version of GoTorch where it is not installed.",
		Example: "  gotorch vet ./...",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{"./..."}
			}
			return run(cmd.Context(), args)
		},
	}
}

func run(ctx context.Context, packages []string) error {
	path := installed()
	if path == "" {
		dir, err := os.MkdirTemp("", "gotorch-vet-")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		path = filepath.Join(dir, exeName())
		if out, err := exec.CommandContext(ctx, "go", "build", "-o", path, tool).CombinedOutput(); err != nil {
			return fmt.Errorf("vet: there is no program gotorch-vet, and it cannot be built from here: %w\n%sInstall "+
				"it with: "+
				"go install %s@latest", err, out, tool)
		}
	}
	c := exec.CommandContext(ctx, "go", append([]string{"vet", "-vettool=" + path}, packages...)...)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	if err := c.Run(); err != nil {
		return fmt.Errorf("vet: %w", err)
	}
	return nil
}

// installed is the program beside this one or in PATH, "" when there is none.
func installed() string {
	if self, err := os.Executable(); err == nil {
		p := filepath.Join(filepath.Dir(self), exeName())
		if info, err := os.Stat(p); err == nil && info.Mode().IsRegular() {
			return p
		}
	}
	p, err := exec.LookPath("gotorch-vet")
	if err != nil {
		return ""
	}
	return p
}

func exeName() string {
	if runtime.GOOS == "windows" {
		return "gotorch-vet.exe"
	}
	return "gotorch-vet"
}
