// Package graphcmd holds the command lines that write models for other programs and draw them: export and graph.
package graphcmd

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/cmd/gotorch/internal/modelfile"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/models"
)

// Commands returns the commands of this package, to be added to the root command.
func Commands() []*cobra.Command { return []*cobra.Command{exportCommand(), graphCommand()} }

// exportOptions are the flags of export.
type exportOptions struct {
	arch, weights, output string
	classes, size         int
	inputs                []string
	write                 modelfile.WriteOptions
}

func exportCommand() *cobra.Command {
	var o exportOptions
	c := &cobra.Command{
		Use:   "export [FILE]",
		Short: "Write a model for other programs: " + modelfile.Names(),
		Long: "export writes a network of the library (--arch), or a model from a file, in the format that the name of " +
			"--output asks for: .onnx for ONNX, .pt for TorchScript, .pt2 for torch.export.\n\nA network is written " +
			"for images of --size, or for " +
			"--input input=rand(1,3,16,112,112); --dynamic-batch leaves open how many. A model from a file needs its " +
			"inputs described, as gotorch run " +
			"does: NAME=rand(SIZES). Parameters keep the names of the state dict.",
		Example: "  gotorch export --arch resnet18 --weights resnet18.pth --dynamic-batch -o resnet18.onnx\n" +
			"  gotorch export scripted.pt --input 'x=rand(1,3,224,224)' --opset 17 -o scripted.onnx\n" +
			"  gotorch export --arch mobilenet_v2 -o mobilenet_v2.pt",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return export(cmd.OutOrStdout(), args, o) },
	}
	f := c.Flags()
	f.StringVar(&o.arch, "arch", "", "a network by torchvision's name, such as resnet18")
	f.StringVar(&o.weights, "weights", "", "file with the network's weights; random ones without it")
	f.IntVar(&o.classes, "classes", 0, "number of classes of the network; 0: its default")
	f.IntVar(&o.size, "size", 224, "side of the network's images")
	f.StringArrayVar(&o.inputs, "input", nil,
		"an input, NAME=FILE or NAME=rand(1,3,224,224), or in order without NAME=; several times")
	f.IntVar(&o.write.Opset, "opset", 0, "version of ONNX's operators; 0: the default")
	f.BoolVar(&o.write.Batch, "dynamic-batch", false, "the first size of each input may differ from run to run")
	f.BoolVar(&o.write.Functions, "functions", false, "keep modules as functions of the ONNX model")
	f.BoolVar(&o.write.External, "external", false, "ONNX: the weights in a file of their own beside the model")
	f.BoolVar(&o.write.Training, "training", false, "write the network in training mode")
	f.StringVarP(&o.output, "output", "o", "", "the file to write")
	return c
}

func export(w io.Writer, args []string, o exportOptions) error {
	if o.output == "" {
		return fmt.Errorf("--output is missing: the file to write")
	}
	format, err := modelfile.FormatFor(o.output)
	if err != nil {
		return err
	}
	if (len(args) == 0) == (o.arch == "") {
		return fmt.Errorf("expected a FILE or --arch NETWORK, and not both")
	}
	var module any
	var inputs []*tensor.Tensor
	if o.arch != "" {
		module, inputs, err = network(o)
	} else {
		module, inputs, err = fromFile(args[0], o)
	}
	if err != nil {
		return err
	}
	if err := format.Write(o.output, module, inputs, o.write); err != nil {
		return err
	}
	st, err := os.Stat(o.output)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "wrote %s: %s, %.1f MB\n", o.output, format.Name, float64(st.Size())/1e6)
	return nil
}

// network makes a network of the library with an example input.
func network(o exportOptions) (any, []*tensor.Tensor, error) {
	if o.size < 1 || o.size > 1<<14 {
		return nil, nil, fmt.Errorf("--size is %d", o.size)
	}
	m, err := models.GetModel(o.arch, models.Options{NumClasses: o.classes})
	if err != nil {
		return nil, nil, err
	}
	if o.weights != "" {
		sd, err := serialize.LoadStateDict(o.weights)
		if err != nil {
			return nil, nil, err
		}
		if err := nn.LoadStateDict(m, sd); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", o.weights, err)
		}
	}
	x := torch.Rand([]int{1, 3, o.size, o.size})
	if len(o.inputs) > 0 {
		_, what, ok := strings.Cut(o.inputs[0], "=")
		if !ok || len(o.inputs) > 1 {
			return nil, nil, fmt.Errorf("a network takes one --input, input=rand(SIZES)")
		}
		if x, err = modelfile.MakeInput(what, torch.Float32); err != nil {
			return nil, nil, fmt.Errorf("--input: %w", err)
		}
	}
	return m, []*tensor.Tensor{x}, nil
}

// fromFile loads a model with the inputs that the flags describe.
func fromFile(path string, o exportOptions) (any, []*tensor.Tensor, error) {
	from, err := modelfile.FormatOf(path)
	if err != nil {
		return nil, nil, err
	}
	if from.Module == nil {
		return nil, nil, fmt.Errorf("%s is %s, which cannot be written in another format", path, from.Name)
	}
	m, err := from.Open(path)
	if err != nil {
		return nil, nil, err
	}
	named, err := modelfile.Inputs(m.Inputs(), o.inputs)
	if err != nil {
		return nil, nil, err
	}
	var inputs []*tensor.Tensor
	for _, p := range m.Inputs() {
		x := named[p.Name]
		if x == nil {
			break
		}
		inputs = append(inputs, x)
	}
	return from.Module(m), inputs, nil
}
