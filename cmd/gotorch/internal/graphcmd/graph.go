package graphcmd

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/gotorch-dev/torch/cmd/gotorch/internal/modelfile"
	"github.com/gotorch-dev/torch/internal/atomicfile"
	"github.com/gotorch-dev/torch/internal/filekind"
	"github.com/gotorch-dev/torch/internal/onnxpb"
)

func graphCommand() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "graph FILE",
		Short: "Draw a model: its operators, from inputs to outputs",
		Long: "graph draws the program of a model in " + modelfile.Names() + " as a picture in SVG, which browsers " +
			"show: a box for each operator, colours by kind, frames around modules, shapes beside the lines where " +
			"the file tells them.",
		Example: "  gotorch graph resnet18.onnx -o resnet18.svg",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if output == "" {
				output = filepath.Base(args[0]) + ".svg"
			}
			d, err := read(args[0])
			if err != nil {
				return err
			}
			if err := d.layout(); err != nil {
				return err
			}
			if err := atomicfile.Write(output, d.svg); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "drew %d operators: %s\n", d.operators, output)
			return nil
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "", "the picture; FILE.svg without it")
	return c
}

// read makes a drawing of a file.
func read(path string) (*drawing, error) {
	format, err := modelfile.FormatOf(path)
	if err != nil {
		return nil, err
	}
	if format.Kind == filekind.ONNX {
		b, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		m, err := onnxpb.ReadModel(b)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return fromONNX(m), nil
	}
	m, err := format.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = m.Close() }()
	return fromModel(m)
}
