package onnx

import (
	"context"
	"fmt"
	"strconv"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/onnxpb"
	"github.com/gotorch-dev/torch/tensor"
)

// Model is a model that was read from an ONNX file: a [graph.Model]. Any number of goroutines may run it at the same
// time.
type Model struct {
	program  *graph.Function
	inputs   []graph.Port
	outputs  []graph.Port
	metadata map[string]string
	weights  map[*tensor.Storage]bool // memory of the program's constants
}

var _ graph.Model = (*Model)(nil)

// load reads and translates a model. open opens files with weights by their path below the model's folder; nil: there
// are none.
func load(b []byte, open func(name string) (readerAt, error), opts []LoadOptions) (m *Model, err error) {
	pb, err := onnxpb.ReadModel(b)
	if err != nil {
		return nil, err
	}
	data := &externalData{open: open, files: map[string]readerAt{}, sizes: map[string]int64{}}
	defer data.close()
	t := &translator{model: pb, external: data.read}
	var inputs, outputs []onnxpb.Info
	if tryErr := tensor.Try(func() {
		tensor.NoGrad(func() {
			m = new(Model)
			m.program, inputs, outputs, err = t.program()
		})
	}); tryErr != nil { // memory for a tensor, say
		err = tryErr
	}
	if err != nil {
		return nil, err
	}
	for _, i := range inputs {
		m.inputs = append(m.inputs, port(i))
	}
	for i, o := range outputs {
		p := port(o)
		if v := m.program.Body.Results[i]; p.Type == nil || v.Type.Kind != graph.TensorType {
			p.Type = v.Type
		}
		m.outputs = append(m.outputs, p)
	}
	m.metadata = metadata(pb)
	var fuse graph.FuseOptions
	for _, o := range opts {
		fuse.Winograd = o.Winograd
	}
	if err := tensor.Try(func() { m.program.FuseWith(fuse) }); err != nil {
		return nil, err
	}
	m.weights = map[*tensor.Storage]bool{}
	for _, n := range m.program.Body.Nodes {
		if n.Op == graph.Constant && n.Const.K == tensor.KTensor {
			m.weights[n.Const.T.Storage()] = true
		}
	}
	if err := m.program.Compile(); err != nil {
		return nil, err
	}
	return m, nil
}

// port describes an input or output.
func port(i onnxpb.Info) graph.Port {
	p := graph.Port{Name: i.Name, Type: graph.Tensor, AnyShape: true}
	if i.Type == nil {
		return p
	}
	p.Type = typeOf(i.Type)
	p.Optional = i.Type.Kind == onnxpb.KindOptional
	if i.Type.Kind != onnxpb.KindTensor {
		return p
	}
	p.DType = onnxpb.DTypeOf(i.Type.DataType)
	if !i.Type.HasShape {
		return p
	}
	p.AnyShape = false
	for _, d := range i.Type.Shape {
		p.Shape = append(p.Shape, graph.Dim{Size: int(d.Value), Name: d.Param})
	}
	return p
}

func metadata(pb *onnxpb.Model) map[string]string {
	m := map[string]string{}
	set := func(key, value string) {
		if value != "" {
			m[key] = value
		}
	}
	set("ir_version", strconv.FormatInt(pb.IRVersion, 10))
	set("producer_name", pb.Producer)
	set("producer_version", pb.ProducerVersion)
	set("domain", pb.Domain)
	set("doc_string", pb.Doc)
	set("graph_name", pb.Graph.Name)
	if pb.Version != 0 {
		set("model_version", strconv.FormatInt(pb.Version, 10))
	}
	for _, o := range pb.Opsets {
		d := o.Domain
		if d == "" {
			d = "ai.onnx"
		}
		set("opset:"+d, strconv.FormatInt(o.Version, 10))
	}
	for _, e := range pb.Metadata {
		m[e.Key] = e.Value
	}
	return m
}

// Inputs are what Run takes, in the order of the file. Initializers are not among them.
func (m *Model) Inputs() []graph.Port { return append([]graph.Port(nil), m.inputs...) }

// Outputs are what Run returns, in the order of the file.
func (m *Model) Outputs() []graph.Port { return append([]graph.Port(nil), m.outputs...) }

// Metadata is what the file says about itself: ir_version, producer_name, producer_version, domain, model_version,
// doc_string, graph_name, the versions of operator sets as "opset:ai.onnx", and the author's own entries.
func (m *Model) Metadata() map[string]string {
	c := make(map[string]string, len(m.metadata))
	for k, v := range m.metadata {
		c[k] = v
	}
	return c
}

// Program is the program that the model was translated into.
func (m *Model) Program() *graph.Function { return m.program }

// Close gives back what the model holds. It must not be used afterwards.
func (m *Model) Close() error { return nil }

// Run computes the outputs, without recording gradients. A missing or unknown input, and one whose dtype or shape the
// file rules out, is an error before anything runs. The context ends the run between two steps. Models whose inputs or
// outputs are sequences, optionals or strings are run by RunValues.
func (m *Model) Run(ctx context.Context, inputs map[string]*tensor.Tensor) (map[string]*tensor.Tensor, error) {
	if err := graph.CheckInputs(m.inputs, inputs); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInput, err)
	}
	args := make([]tensor.Value, len(m.inputs))
	for i, p := range m.inputs {
		if p.Type.Kind == graph.OpaqueType {
			return nil, fmt.Errorf("%w: input %q is %s and no tensor: RunValues takes it", ErrInput, p.Name, p.Type)
		}
		args[i] = tensor.TensorValue(inputs[p.Name])
	}
	res, err := m.run(ctx, args)
	if err != nil {
		return nil, err
	}
	out := make(map[string]*tensor.Tensor, len(res))
	for i, p := range m.outputs {
		if res[i].K != tensor.KTensor && res[i].K != tensor.KNone {
			return nil, fmt.Errorf("output %q is %s and no tensor: RunValues returns it", p.Name, p.Type)
		}
		out[p.Name] = res[i].T
	}
	return out, nil
}

// RunValues is Run for values of all kinds: a tensor, a list of tensors ([graph.NewList]) for a sequence, a tensor of
// strings ([graph.NewStrings]), the zero value for an optional that is left out. The result of ZipMap is a list of
// dictionaries ([graph.Dict]).
func (m *Model) RunValues(ctx context.Context, inputs map[string]tensor.Value) (map[string]tensor.Value, error) {
	tensors := map[string]*tensor.Tensor{}
	ports := m.Inputs()
	for i, p := range ports {
		if v, ok := inputs[p.Name]; ok && v.K == tensor.KTensor {
			tensors[p.Name] = v.T
		} else if ok && p.Type.Kind != graph.TensorType {
			ports[i].Optional = true
		}
	}
	for name, v := range inputs {
		if _, ok := tensors[name]; !ok && v.K == tensor.KTensor {
			tensors[name] = v.T // an unknown name
		}
	}
	if err := graph.CheckInputs(ports, tensors); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInput, err)
	}
	args := make([]tensor.Value, len(m.inputs))
	for i, p := range m.inputs {
		if args[i] = inputs[p.Name]; p.Type == graph.StringTensor {
			if err := checkStrings(p, args[i]); err != nil {
				return nil, fmt.Errorf("%w: %w", ErrInput, err)
			}
		}
	}
	res, err := m.run(ctx, args)
	if err != nil {
		return nil, err
	}
	out := make(map[string]tensor.Value, len(res))
	for i, p := range m.outputs {
		out[p.Name] = res[i]
	}
	return out, nil
}

// run runs the program. A result that is a weight of the model is copied, so that its new owner may change it.
func (m *Model) run(ctx context.Context, args []tensor.Value) (res []tensor.Value, err error) {
	tensor.NoGrad(func() { res, err = m.program.Run(ctx, args...) })
	if err != nil {
		return nil, err
	}
	for i, v := range res {
		if v.K == tensor.KTensor && m.weights[v.T.Storage()] {
			res[i] = tensor.TensorValue(v.T.Clone())
		}
	}
	return res, nil
}

// run runs a program of the translator's.
func run(f *graph.Function, args []tensor.Value) ([]tensor.Value, error) {
	return f.Run(context.Background(), args...)
}
