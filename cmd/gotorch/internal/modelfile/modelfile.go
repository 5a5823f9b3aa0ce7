// Package modelfile is what the commands on models from files share: the table of formats, and inputs that a command
// line describes.
package modelfile

import (
	"fmt"
	"os"
	"strings"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/export"
	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/filekind"
	"github.com/gotorch-dev/torch/jit"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/onnx"
	"github.com/gotorch-dev/torch/tensor"
)

// Format is a format of models. A format that cannot be written has no Write, one that is no source of others no
// Module.
type Format struct {
	Name string // "ONNX"
	Ext  string // of files that are written: ".onnx"
	Kind filekind.Kind
	Open func(path string) (graph.Model, error)
	// Module is what Write of the other formats takes of an open model; nil where it cannot be written again.
	Module func(m graph.Model) any
	// Write writes a module, which is an nn.Module or what Module gives.
	Write func(path string, module any, inputs []*tensor.Tensor, o WriteOptions) error
}

// WriteOptions are what Write is told beside the module.
type WriteOptions struct {
	Opset     int
	Batch     bool // the first size of each input may differ
	Functions bool
	External  bool
	Training  bool
}

// Formats are the formats that commands know.
var Formats = []Format{
	{Name: "ONNX", Ext: ".onnx", Kind: filekind.ONNX,
		Open:  func(path string) (graph.Model, error) { return onnx.Open(path) },
		Write: writeONNX},
	{Name: "TorchScript", Ext: ".pt", Kind: filekind.TorchScript,
		Open:   func(path string) (graph.Model, error) { return jit.LoadFile(path, jit.LoadOptions{MMap: true}) },
		Module: func(m graph.Model) any { return m },
		Write:  writeTorchScript},
	{Name: "torch.export", Ext: ".pt2", Kind: filekind.ExportedProgram,
		Open:  func(path string) (graph.Model, error) { return export.LoadFile(path, export.LoadOptions{MMap: true}) },
		Write: writeExported},
}

// Names are the names of the formats: "ONNX or TorchScript".
func Names() string {
	var names []string
	for _, f := range Formats {
		names = append(names, f.Name)
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

// FormatOf finds the format of a file by its contents, and by its name where these do not tell.
func FormatOf(path string) (*Format, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	kind := filekind.Of(f, st.Size()).Kind
	for i := range Formats {
		if x := &Formats[i]; x.Kind == kind || kind == filekind.Unknown && strings.HasSuffix(path, x.Ext) {
			return x, nil
		}
	}
	if kind == filekind.Checkpoint || kind == filekind.Zip { // as archives for TorchScript's lite interpreter look
		kind = filekind.TorchScript
		for i := range Formats {
			if Formats[i].Kind == kind {
				return &Formats[i], nil
			}
		}
	}
	return nil, fmt.Errorf("%s is %s: expected a model in %s", path, kind, Names())
}

// FormatFor finds the format of a file that is to be written, by its name.
func FormatFor(path string) (*Format, error) {
	var known []string
	for i := range Formats {
		if f := &Formats[i]; f.Write != nil {
			if strings.HasSuffix(path, f.Ext) {
				return f, nil
			}
			known = append(known, f.Ext)
		}
	}
	return nil, fmt.Errorf("%s: expected a name that ends in %s", path, strings.Join(known, " or "))
}

// Open loads a model by the kind of its file.
func Open(path string) (graph.Model, error) {
	f, err := FormatOf(path)
	if err != nil {
		return nil, err
	}
	return f.Open(path)
}

func writeONNX(path string, module any, inputs []*tensor.Tensor, w WriteOptions) error {
	o := onnx.ExportOptions{Opset: w.Opset, KeepFunctions: w.Functions, External: w.External}
	if w.Training {
		o.Training = onnx.TrainingTrain
	}
	_, script := module.(*jit.Module)
	if m, ok := module.(nn.Module); ok && !script {
		if !w.Training {
			nn.Eval(m)
		}
		for i := range inputs {
			name := "input"
			if len(inputs) > 1 {
				name = fmt.Sprintf("input_%d", i)
			}
			o.InputNames = append(o.InputNames, name)
		}
	}
	if w.Batch {
		o.Dynamic = map[string]onnx.Dims{}
		names := o.InputNames
		if m, ok := module.(graph.Model); ok && script {
			for _, p := range m.Inputs() {
				names = append(names, p.Name)
			}
		}
		for i, x := range inputs {
			if x.Dim() > 0 && i < len(names) {
				o.Dynamic[names[i]] = onnx.Dims{0: "batch"}
			}
		}
	}
	return onnx.Export(path, module, inputs, o)
}

// recording are the arguments with which a network of the library is recorded, their names, and their dynamic sizes.
func recording(module any, inputs []*tensor.Tensor, o WriteOptions) (args []any, names []string,
	dynamic map[string]map[int]string) {
	for i, x := range inputs {
		name := "input"
		if len(inputs) > 1 {
			name = fmt.Sprintf("input_%d", i)
		}
		names = append(names, name)
		if o.Batch && x.Dim() > 0 {
			if dynamic == nil {
				dynamic = map[string]map[int]string{}
			}
			dynamic[name] = map[int]string{0: "batch"}
			if x.Size(0) == 1 { // a size of 1 says nothing about others
				x = torch.Cat([]*tensor.Tensor{x, x})
			}
		}
		args = append(args, x)
	}
	if n, ok := module.(nn.Module); ok {
		nn.Train(n, o.Training)
	}
	return args, names, dynamic
}

func writeTorchScript(path string, module any, inputs []*tensor.Tensor, o WriteOptions) error {
	m, ok := module.(*jit.Module)
	if !ok {
		args, names, dynamic := recording(module, inputs, o)
		var err error
		if m, err = jit.Trace(module, append(args, jit.TraceOptions{Names: names, Dynamic: dynamic})...); err != nil {
			return err
		}
	}
	return m.Save(path)
}

func writeExported(path string, module any, inputs []*tensor.Tensor, o WriteOptions) error {
	if _, ok := module.(*jit.Module); ok {
		return fmt.Errorf("%s: a TorchScript program cannot be written for torch.export: export the network itself",
			path)
	}
	args, names, dynamic := recording(module, inputs, o)
	p, err := export.Export(module, args, export.Options{Names: names, Dynamic: dynamic})
	if err != nil {
		return err
	}
	return p.Save(path)
}

// Inputs makes the inputs that flags tell, NAME=FILE or NAME=rand(SIZES), and those that they leave out. Without a NAME
// the first flag is the model's first input, the second its second.
func Inputs(ports []graph.Port, flags []string) (map[string]*torch.Tensor, error) {
	inputs := map[string]*torch.Tensor{}
	for i, f := range flags {
		name, what, ok := strings.Cut(f, "=")
		if !ok {
			if i >= len(ports) {
				return nil, fmt.Errorf("--input %s: the model has %d inputs only", f, len(ports))
			}
			name, what = ports[i].Name, f
		}
		var dt tensor.DType
		for _, p := range ports {
			if p.Name == name {
				dt = p.DType
			}
		}
		t, err := MakeInput(what, dt)
		if err != nil {
			return nil, fmt.Errorf("--input %s: %w", f, err)
		}
		inputs[name] = t
	}
	for _, p := range ports {
		if inputs[p.Name] != nil || p.Optional {
			continue
		}
		if p.AnyShape || p.Type.Kind != graph.TensorType {
			return nil, fmt.Errorf("input %s is not given: --input %s=FILE or %s='rand(SIZES)'", p, p.Name, p.Name)
		}
		shape := make([]int, len(p.Shape))
		for i, d := range p.Shape {
			if shape[i] = d.Size; d.Name != "" || d.Size < 0 {
				shape[i] = 1
			}
		}
		t, err := Filled("rand", shape, p.DType)
		if err != nil {
			return nil, err
		}
		inputs[p.Name] = t
	}
	return inputs, nil
}
