// Package bottleneckcmd holds "gotorch bottleneck", which runs a Go program under the profilers of operators and of Go
// and prints where its time goes.
package bottleneckcmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gotorch-dev/torch/profiler/bottleneck"
)

// Command is "gotorch bottleneck".
func Command() *cobra.Command {
	var keep string
	cmd := &cobra.Command{
		Use:   "bottleneck PROGRAM [arguments]",
		Short: "Run a Go program under two profilers and print where its time goes",
		Long: "bottleneck builds a program, a package or a file with func main, such that it runs under the profiler of " +
			"operators and Go's CPU profiler. When the program has ended, it prints one page: the time in operators, by " +
			"operator and by module, the Go functions that take most, and what stands out. Give the program few " +
			"steps of training; it must return from main instead of calling os.Exit. The program's files are not " +
			"changed. The go command is needed.",
		Example: "  gotorch bottleneck ./cmd/mytraining --epochs 1\n" +
			"  gotorch bottleneck --keep prof train.go",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return run(cmd.Context(), args[0], args[1:], keep, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	cmd.Flags().SetInterspersed(false) // what follows the program is the program's
	cmd.Flags().StringVar(&keep, "keep", "", "folder for the profiles (cpu.pprof, trace.json, report.txt)")
	return cmd
}

func run(ctx context.Context, program string, args []string, keep string, out, errOut io.Writer) (err error) {
	work, err := os.MkdirTemp("", "gotorch-bottleneck-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	dir := work
	if keep != "" {
		if err := os.MkdirAll(keep, 0o777); err != nil {
			return err
		}
		if dir, err = filepath.Abs(keep); err != nil {
			return err
		}
	}
	exe, err := build(ctx, program, work)
	if err != nil {
		return err
	}
	c := exec.CommandContext(ctx, exe, args...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, out, errOut
	c.Env = append(os.Environ(), bottleneck.Env+"="+dir)
	if err := c.Run(); err != nil {
		return fmt.Errorf("bottleneck: the program failed: %w", err)
	}
	report, err := os.ReadFile(filepath.Join(dir, bottleneck.ReportFile))
	if err != nil {
		return fmt.Errorf("bottleneck: the program left no report: it must return from main, without os.Exit (%w)", err)
	}
	fmt.Fprintf(out, "\n%s\n", bytes.TrimSpace(report))
	top, err := functions(ctx, exe, filepath.Join(dir, bottleneck.CPUFile))
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\nGo functions\n------------\n%s", top)
	if keep != "" {
		fmt.Fprintf(out, "\nopen %s in https://ui.perfetto.dev; go tool pprof -tagroot op %s\n",
			filepath.Join(keep, bottleneck.TraceFile), filepath.Join(keep, bottleneck.CPUFile))
	}
	return nil
}

// pkg is what "go list" says of a package.
type pkg struct {
	Dir, Name string
	GoFiles   []string
}

// renamed is what func main is called in the program that is built.
const renamed = "gotorchProgramMain"

// wrapper is the main function of that program.
const wrapper = `package main

import "github.com/gotorch-dev/torch/profiler/bottleneck"

func main() { bottleneck.Run(` + renamed + `) }
`

// build builds the program with another main function, by way of an overlay: its files stay as they are.
func build(ctx context.Context, program, work string) (exe string, err error) {
	if strings.HasSuffix(program, ".go") {
		if _, err := os.Stat(program); err != nil {
			return "", fmt.Errorf("bottleneck: %w", err)
		}
	}
	list := exec.CommandContext(ctx, "go", "list", "-json=Dir,Name,GoFiles", program)
	var stderr bytes.Buffer
	list.Stderr = &stderr
	raw, err := list.Output()
	if err != nil {
		return "", fmt.Errorf("bottleneck: %s is no package that go list finds: %w\n%s", program, err, stderr.String())
	}
	var p pkg
	if err := json.Unmarshal(raw, &p); err != nil {
		return "", fmt.Errorf("bottleneck: %s is more than one package: %w", program, err)
	}
	if p.Name != "main" {
		return "", fmt.Errorf("bottleneck: %s is package %s, not a program", program, p.Name)
	}
	replace := map[string]string{}
	for _, name := range p.GoFiles {
		path := filepath.Join(p.Dir, name)
		src, err := renameMain(path)
		if err != nil {
			return "", err
		}
		if src == nil {
			continue
		}
		replace[path] = filepath.Join(work, "main.go")
		if err := os.WriteFile(replace[path], src, 0o666); err != nil {
			return "", err
		}
	}
	if len(replace) != 1 {
		return "", fmt.Errorf("bottleneck: %s has no func main", program)
	}
	extra := filepath.Join(p.Dir, "zz_gotorch_bottleneck.go")
	replace[extra] = filepath.Join(work, "wrapper.go")
	if err := os.WriteFile(replace[extra], []byte(wrapper), 0o666); err != nil {
		return "", err
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	file := filepath.Join(work, "overlay.json")
	if err := os.WriteFile(file, overlay, 0o666); err != nil {
		return "", err
	}
	exe = filepath.Join(work, "program.exe")
	args := []string{"build", "-overlay", file, "-o", exe, program}
	if strings.HasSuffix(program, ".go") {
		args = append(args, extra)
	}
	if out, err := exec.CommandContext(ctx, "go", args...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("bottleneck: %s does not build: %w\n%s", program, err, out)
	}
	return exe, nil
}

// renameMain returns the source of a file with another name for func main, nil if there is none in it.
func renameMain(path string) ([]byte, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, path, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Recv != nil || fn.Name.Name != "main" {
			continue
		}
		at := fset.PositionFor(fn.Name.Pos(), false).Offset
		return append(append(append([]byte{}, src[:at]...), renamed...), src[at+len("main"):]...), nil
	}
	return nil, nil
}

// functions are the Go functions that take most processor time.
func functions(ctx context.Context, exe, profile string) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "tool", "pprof", "-top", "-nodecount=12", exe, profile).Output()
	if err != nil {
		return "", fmt.Errorf("bottleneck: go tool pprof: %w", err)
	}
	var b strings.Builder
	lines := strings.Split(string(out), "\n")
	for i, l := range lines {
		if strings.Contains(l, "flat%") { // the table begins
			for _, l := range lines[i:] {
				if len(l) > 110 {
					l = l[:107] + "..."
				}
				if l != "" {
					b.WriteString(l + "\n")
				}
			}
		}
	}
	return b.String(), nil
}
