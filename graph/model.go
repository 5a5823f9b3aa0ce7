package graph

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/gotorch-dev/torch/tensor"
)

// Dim is one size of a tensor that a model takes or gives: a number, or a name for a size that is known only when the
// model runs. Equal names are equal sizes.
type Dim struct {
	Size int    // where Name is empty; -1: any
	Name string // of a symbolic size
}

// String is the number, the name, or "?".
func (d Dim) String() string {
	switch {
	case d.Name != "":
		return d.Name
	case d.Size < 0:
		return "?"
	}
	return strconv.Itoa(d.Size)
}

// Port is an input or an output of a model.
type Port struct {
	Name     string
	Type     *Type        // Tensor, or what else the model takes
	DType    tensor.DType // of a tensor; 0 when the file does not tell
	Shape    []Dim        // of a tensor; nil with AnyShape
	AnyShape bool         // the file does not tell the number of dimensions
	Optional bool         // the input may be left out
}

// String describes the port: "x: float32[N, 3, 224, 224]".
func (p Port) String() string {
	var b strings.Builder
	b.WriteString(p.Name + ": ")
	if p.Type != nil && p.Type.Kind != TensorType {
		b.WriteString(p.Type.String())
		return b.String()
	}
	if p.DType == 0 {
		b.WriteString("tensor")
	} else {
		b.WriteString(p.DType.Name())
	}
	if !p.AnyShape {
		dims := make([]string, len(p.Shape))
		for i, d := range p.Shape {
			dims[i] = d.String()
		}
		b.WriteString("[" + strings.Join(dims, ", ") + "]")
	}
	return b.String()
}

// Model is a program that was loaded from a file: what onnx.Open, jit.Load and export.Load return.
type Model interface {
	// Inputs are what Run takes, in the order of the program.
	Inputs() []Port
	// Outputs are what Run returns, in the order of the program.
	Outputs() []Port
	// Metadata is what the file says about itself: the producer, versions, and the author's own entries.
	Metadata() map[string]string
	// Run computes the outputs. It records no gradients. Many goroutines may call it at the same time. A missing or
	// unknown input, and one whose dtype or shape the file rules out, is an error before anything runs.
	Run(ctx context.Context, inputs map[string]*tensor.Tensor) (map[string]*tensor.Tensor, error)
	// Close gives back what the model holds, such as a mapped file. It must not be used afterwards.
	Close() error
}

// CheckInputs refuses inputs that the ports of a model rule out: missing and unknown names, dtypes, numbers of
// dimensions and sizes, and different sizes for one name. The error names the input and what was expected.
func CheckInputs(ports []Port, inputs map[string]*tensor.Tensor) error {
	fail := func(cause error, format string, args ...any) error {
		return &tensor.Error{Op: "Run", Msg: fmt.Sprintf(format, args...), Err: cause}
	}
	known := map[string]bool{}
	sizes := map[string]int{}
	for _, p := range ports {
		known[p.Name] = true
		t, given := inputs[p.Name]
		if !given || t == nil {
			if p.Optional {
				continue
			}
			return fail(tensor.ErrType, "missing input %q, expected %s", p.Name, p)
		}
		if p.DType != 0 && t.DType() != p.DType {
			return fail(tensor.ErrDType, "input %q has dtype %s, expected %s", p.Name, t.DType().Name(), p)
		}
		if p.AnyShape {
			continue
		}
		shape := t.Shape()
		if len(shape) != len(p.Shape) {
			return fail(tensor.ErrShape, "input %q has shape %s, expected %s", p.Name, tensor.ShapeString(shape), p)
		}
		for i, d := range p.Shape {
			if d.Name != "" {
				if n, seen := sizes[d.Name]; seen && n != shape[i] {
					return fail(tensor.ErrShape, "input %q has shape %s, expected %s with %s = %d as in another input",
						p.Name, tensor.ShapeString(shape), p, d.Name, n)
				}
				sizes[d.Name] = shape[i]
			} else if d.Size >= 0 && d.Size != shape[i] {
				return fail(tensor.ErrShape, "input %q has shape %s, expected %s", p.Name, tensor.ShapeString(shape), p)
			}
		}
	}
	for name := range inputs {
		if !known[name] {
			names := make([]string, len(ports))
			for i, p := range ports {
				names[i] = p.String()
			}
			return fail(tensor.ErrType, "there is no input %q; the model takes %s", name, strings.Join(names, ", "))
		}
	}
	return nil
}
