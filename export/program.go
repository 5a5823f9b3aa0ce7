package export

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/pyfmt"
	"github.com/gotorch-dev/torch/tensor"
)

// Weight is a parameter, a buffer or a constant of a program.
type Weight struct {
	Name      string // its path in the module: "layer1.0.conv1.weight"
	Tensor    *tensor.Tensor
	Parameter bool

	constant bool // a constant, or a buffer that is not in the state dict
}

// Program is a program of torch.export: what torch.export.load(…).module() is in PyTorch, and a [graph.Model].
//
// Any number of goroutines may call it at the same time, unless it changes its buffers or its inputs, as batch norm
// does in training.
type Program struct {
	fn      *graph.Function
	state   map[string]*Weight
	inputs  []input
	in, out *spec
	guards  []guard
	limit   graph.Options
	fuse    graph.FuseOptions // of what Run runs
	writes  bool              // the program changes buffers or inputs
	grads   []string          // what the results behind the user's are gradients of
	ports   []graph.Port
	results []graph.Port
	meta    map[string]string

	model   []byte // model.json
	samples []byte // the example inputs, a file of torch.save
	name    string // of the program in the archive

	serving struct { // the program with operators fused, for Run
		sync.Mutex
		fn       *graph.Function
		versions int
	}
}

var _ graph.Model = (*Program)(nil)

// build translates the program.
func (p *Program) build(m *programJSON) error {
	gm := &m.GraphModule
	if err := p.structure(gm); err != nil {
		return err
	}
	if err := p.readInputs(gm); err != nil {
		return err
	}
	if err := p.makeGuards(m); err != nil {
		return err
	}
	p.meta = map[string]string{"format": "torch.export", "schema_version": fmt.Sprintf("%d.%d", m.Schema.Major,
		m.Schema.Minor), "torch_version": m.Torch, "verifiers": strings.Join(m.Verifiers, ", ")}
	for k, v := range m.Opsets {
		p.meta["opset:"+k] = strconv.Itoa(v)
	}
	fn, err := p.translate(gm)
	if err != nil {
		return err
	}
	p.fn, p.writes = fn, writes(fn.Body)
	if err := p.describeResults(gm); err != nil {
		return err
	}
	return p.fn.Compile()
}

// writes reports that a node of a block changes an argument.
func writes(b *graph.Block) bool {
	for _, n := range b.Nodes {
		if n.Operator != nil && n.Op != "aten::append.t" &&
			slices.ContainsFunc(n.Operator.Params, func(p graph.Param) bool { return p.Writes() }) ||
			slices.ContainsFunc(n.Blocks, writes) || n.Func != nil && writes(n.Func.Body) {
			return true
		}
	}
	return false
}

// structure reads the structures of arguments and results.
func (p *Program) structure(gm *graphModuleJSON) error {
	if len(gm.Calls) == 0 || gm.Calls[0].Signature == nil {
		return fmt.Errorf("%w: %s: module_call_graph has no signature", ErrFormat, modelEntry)
	}
	fields := map[string][]string{}
	for k, v := range gm.NamedTuples {
		fields[k] = v.Fields
	}
	sig := gm.Calls[0].Signature
	var err error
	if p.in, err = parseSpec(sig.In, fields); err != nil {
		return fmt.Errorf("%w: %s: in_spec: %w", ErrFormat, modelEntry, err)
	}
	if p.out, err = parseSpec(sig.Out, fields); err != nil {
		return fmt.Errorf("%w: %s: out_spec: %w", ErrFormat, modelEntry, err)
	}
	if !p.in.is(tupleType) || len(p.in.Children) != 2 || !p.in.Children[0].is(tupleType) ||
		!p.in.Children[1].isDict() {
		return fmt.Errorf("%w: %s: in_spec is %s, want a tuple and a dictionary", ErrFormat, modelEntry, p.in)
	}
	args, kwargs := &p.in.Children[0], &p.in.Children[1]
	names := sig.Names
	if len(names) != len(args.Children)+len(kwargs.Children) {
		names = nil
		for i := range args.Children {
			names = append(names, "arg_"+strconv.Itoa(i))
		}
		names = append(names, kwargs.keys...)
	}
	for i := range args.Children {
		p.leafPaths(&args.Children[i], names[i], "["+pyfmt.Repr(names[i])+"]", "")
	}
	for i := range kwargs.Children {
		k := kwargs.keys[i]
		p.leafPaths(&kwargs.Children[i], k, "["+pyfmt.Repr(k)+"]", "")
	}
	return nil
}

// leafPaths enters the leaves of an argument.
func (p *Program) leafPaths(s *spec, name, root, rest string) {
	if s.Type == nil {
		p.inputs = append(p.inputs, input{path: root + rest, shown: name + rest})
		return
	}
	for i := range s.Children {
		p.leafPaths(&s.Children[i], name, root, rest+s.step(i))
	}
}

// only reads the one key of a union.
func only(a *argument, v any) error {
	if err := a.read(v); err != nil {
		return fmt.Errorf("%w: %s: signature: %w", ErrFormat, modelEntry, err)
	}
	return nil
}

// readInputs reads what the signature says of the user's inputs.
func (p *Program) readInputs(gm *graphModuleJSON) error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s: signature: %s", ErrFormat, modelEntry, fmt.Sprintf(format, args...))
	}
	if len(gm.Signature.Inputs) != len(gm.Graph.Inputs) {
		return bad("%d input_specs for %d inputs", len(gm.Signature.Inputs), len(gm.Graph.Inputs))
	}
	k := 0
	for i := range gm.Signature.Inputs {
		a := &gm.Signature.Inputs[i]
		if a.key != "user_input" && a.key != "constant_input" {
			continue
		}
		if k == len(p.inputs) {
			return bad("more inputs than the %d of in_spec", len(p.inputs))
		}
		in := &p.inputs[k]
		k++
		var s inputSpecJSON
		if err := only(a, &s); err != nil {
			return err
		}
		if a.key == "constant_input" {
			if s.Value == nil {
				return bad("constant input %s has no value", shorten(s.Name))
			}
			v, named, err := s.Value.constant()
			if err != nil || named != nil {
				return bad("constant input %s is no constant", shorten(s.Name))
			}
			in.name, in.value, in.fixed = s.Name, v, true
			continue
		}
		in.arg = new(argument)
		if err := json.Unmarshal(s.Arg, in.arg); err != nil {
			return bad("%v", err)
		}
		v, named, err := in.arg.constant()
		if err != nil {
			return err
		}
		if len(named) != 1 {
			in.value, in.fixed = v, true
			continue
		}
		in.name = named[0].name
		switch in.arg.key {
		case "as_tensor":
			in.meta = new(tensorMetaJSON)
			if err := unmarshalAt(gm.Graph.Tensors, in.name, in.meta); err != nil {
				return err
			}
		case "as_sym_int":
			in.size = new(sizeJSON)
			if err := unmarshalAt(gm.Graph.Ints, in.name, in.size); err != nil {
				return err
			}
		}
	}
	if k != len(p.inputs) {
		return bad("%d inputs, in_spec has %d", k, len(p.inputs))
	}
	for i := range p.inputs {
		port, err := p.inputs[i].port()
		if err != nil {
			return bad("input %s: %v", shorten(p.inputs[i].name), err)
		}
		if !p.inputs[i].fixed {
			p.ports = append(p.ports, port)
		}
	}
	return nil
}

func unmarshalAt(m map[string]json.RawMessage, name string, v any) error {
	raw, ok := m[name]
	if !ok {
		return fmt.Errorf("%w: %s: value %s is not described", ErrFormat, modelEntry, shorten(name))
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return fmt.Errorf("%w: %s: value %s: %w", ErrFormat, modelEntry, shorten(name), err)
	}
	return nil
}

// port describes an input.
func (in *input) port() (graph.Port, error) {
	port := graph.Port{Name: in.shown, Type: graph.Any, AnyShape: true}
	if in.meta == nil {
		if in.size != nil {
			port.Type = graph.Int
		}
		return port, nil
	}
	return port, describe(&port, in.meta)
}

// describe fills in what is known of a tensor.
func describe(port *graph.Port, meta *tensorMetaJSON) error {
	dt, err := dtypeOf(meta.DType)
	if err != nil {
		return err
	}
	port.Type, port.DType, port.AnyShape = graph.Tensor, dt, false
	for i := range meta.Sizes {
		s := &meta.Sizes[i]
		d := graph.Dim{Size: -1}
		if s.Int != nil {
			d.Size = *s.Int
		} else if s.Expr != nil {
			size, err := parseSize(s.Expr.Text)
			if err != nil {
				return err
			}
			d.Name = size.String()
		}
		port.Shape = append(port.Shape, d)
	}
	return nil
}

// translate makes the function: its parameters are the leaves of the arguments, its results those of the user, then
// gradients. Weights are constants, which the function shares with the state.
func (p *Program) translate(gm *graphModuleJSON) (*graph.Function, error) {
	f := graph.NewFunction("forward")
	b := f.Body
	s := newScope(nil)
	targets := map[string]*graph.Value{} // what mutations name: inputs by their names, buffers by their paths
	k := 0
	for i := range gm.Signature.Inputs {
		a := &gm.Signature.Inputs[i]
		var spec inputSpecJSON
		if err := only(a, &spec); err != nil {
			return nil, err
		}
		var at nameJSON
		if a.key != "user_input" && a.key != "constant_input" {
			if err := json.Unmarshal(spec.Arg, &at); err != nil {
				return nil, fmt.Errorf("%w: %s: signature: %w", ErrFormat, modelEntry, err)
			}
		}
		switch a.key {
		case "user_input", "constant_input":
			in := &p.inputs[k]
			k++
			typ := graph.Any
			if in.meta != nil {
				typ = graph.Tensor
			} else if in.size != nil {
				typ = graph.Int
			}
			v := b.Param(in.name, typ)
			if in.name != "" {
				s.set(in.name, v)
				targets[in.name] = v
			}
		case "parameter", "buffer", "tensor_constant":
			name := spec.Parameter + spec.Buffer + spec.Constant
			w := p.state[name]
			if w == nil || w.Tensor == nil {
				return nil, fmt.Errorf("%w: %s: there is no tensor %s among the weights and constants", ErrFormat,
					modelEntry, shorten(name))
			}
			w.Parameter = w.Parameter || a.key == "parameter"
			v := b.ConstOf(tensor.TensorValue(w.Tensor), graph.Tensor)
			v.Name = at.Name
			s.set(at.Name, v)
			targets[name] = v
		case "token":
			s.set(at.Name, b.Const(nil))
		case "custom_obj":
			return nil, fmt.Errorf("%w: the program has an object of a class of C++ (%s)", ErrUnsupported,
				shorten(spec.Object))
		default:
			return nil, fmt.Errorf("%w: an input of kind %s", ErrUnsupported, shorten(a.key))
		}
	}
	t := &translator{}
	out, err := t.graph(b, &gm.Graph, s)
	if err != nil {
		return nil, err
	}
	if len(gm.Signature.Outputs) != len(out) {
		return nil, fmt.Errorf("%w: %s: %d output_specs for %d outputs", ErrFormat, modelEntry,
			len(gm.Signature.Outputs), len(out))
	}
	copied := map[*graph.Value]*graph.Value{}
	var results, grads []*graph.Value
	for i := range out {
		a := &gm.Signature.Outputs[i]
		var spec outputSpecJSON
		if err := only(a, &spec); err != nil {
			return nil, err
		}
		switch a.key {
		case "buffer_mutation", "parameter_mutation", "user_input_mutation":
			name := spec.Buffer + spec.Parameter + spec.Input
			to := targets[name]
			if to == nil {
				return nil, fmt.Errorf("%w: %s: %s of %s, which is no input", ErrFormat, modelEntry, a.key,
					shorten(name))
			}
			copied[out[i]] = b.Call1("aten::copy_", to, out[i])
		case "user_output", "loss_output":
			results = append(results, out[i])
		case "gradient_to_parameter", "gradient_to_user_input":
			p.grads = append(p.grads, spec.Parameter+spec.Input)
			grads = append(grads, out[i])
		case "token":
		default:
			return nil, fmt.Errorf("%w: an output of kind %s", ErrUnsupported, shorten(a.key))
		}
	}
	if n := p.out.leaves(); n != len(results) {
		return nil, fmt.Errorf("%w: %s: %d results, out_spec has %d", ErrFormat, modelEntry, len(results), n)
	}
	for i, v := range results {
		if c := copied[v]; c != nil {
			results[i] = c
		}
	}
	b.Return(append(results, grads...)...)
	return f, nil
}

// describeResults makes the ports of the results.
func (p *Program) describeResults(gm *graphModuleJSON) error {
	var names []string
	resultNames(p.out, "", &names)
	i := 0
	for k := range gm.Signature.Outputs {
		a := &gm.Signature.Outputs[k]
		if a.key != "user_output" && a.key != "loss_output" {
			continue
		}
		port := graph.Port{Name: names[i], Type: graph.Any, AnyShape: true}
		i++
		_, named, err := gm.Graph.Outputs[k].constant()
		if err != nil {
			return err
		}
		if raw, ok := gm.Graph.Tensors[firstName(named)]; ok {
			var meta tensorMetaJSON
			if err := json.Unmarshal(raw, &meta); err != nil {
				return fmt.Errorf("%w: %s: value %s: %w", ErrFormat, modelEntry, shorten(named[0].name), err)
			}
			if err := describe(&port, &meta); err != nil {
				return fmt.Errorf("%w: %s: value %s: %w", ErrFormat, modelEntry, shorten(named[0].name), err)
			}
		} else if gm.Graph.Outputs[k].key == "as_sym_int" {
			port.Type = graph.Int
		}
		p.results = append(p.results, port)
	}
	return nil
}

func firstName(l []reference) string {
	if len(l) == 0 {
		return ""
	}
	return l[0].name
}

// resultNames names the leaves of the results: "output", "output.0" of a tuple or a list, the keys of a dictionary and
// the fields of a class as they are.
func resultNames(s *spec, prefix string, out *[]string) {
	if s.Type == nil {
		if prefix == "" {
			prefix = "output"
		}
		*out = append(*out, prefix)
		return
	}
	for i := range s.Children {
		step := strconv.Itoa(i)
		if s.keys != nil {
			step = s.keys[i]
		}
		switch {
		case prefix != "":
			step = prefix + "." + step
		case s.keys == nil:
			step = "output." + step
		}
		resultNames(&s.Children[i], step, out)
	}
}

// Inputs are what Run takes: the leaves of the arguments by their place in them ("x", "d['a']"), without constants.
func (p *Program) Inputs() []graph.Port { return slices.Clone(p.ports) }

// Outputs are what Run returns: "output" for a single result, "output.0" and so on for those of a tuple or a list, and
// for a dictionary or a class its keys.
func (p *Program) Outputs() []graph.Port { return slices.Clone(p.results) }

// Metadata is what the file says about itself: format, schema_version, torch_version, verifiers (TRAINING for the
// operators of a program that can be trained, ATEN for a decomposed one), "opset:aten".
func (p *Program) Metadata() map[string]string { return maps.Clone(p.meta) }

// Function is the program that the archive was translated into.
func (p *Program) Function() *graph.Function { return p.fn }

// Close does nothing: a Program holds memory only.
func (p *Program) Close() error { return nil }

// String prints the program as PyTorch prints graphs.
func (p *Program) String() string { return p.fn.String() }

// Guards are the conditions that the arguments must fulfil, in Python's notation: "x.size()[0] <= 16".
func (p *Program) Guards() []string {
	out := make([]string, len(p.guards))
	for i := range p.guards {
		out[i] = p.guards[i].text
	}
	return out
}

func (p *Program) weights(want func(w *Weight) bool) []Weight {
	var out []Weight
	for _, name := range slices.Sorted(maps.Keys(p.state)) {
		if w := p.state[name]; w.Tensor != nil && want(w) {
			out = append(out, *w)
		}
	}
	return out
}

// Parameters are the parameters, sorted by name: for an optimizer. A change of them is seen by the next call.
func (p *Program) Parameters() []Weight {
	return p.weights(func(w *Weight) bool { return w.Parameter })
}

// StateDict are the parameters and persistent buffers, sorted by name.
func (p *Program) StateDict() []Weight { return p.weights(func(w *Weight) bool { return !w.constant }) }

// Constants are the tensors that are no part of the state dict: constants, and buffers that are not persistent.
func (p *Program) Constants() []Weight { return p.weights(func(w *Weight) bool { return w.constant }) }

// Call calls the program as Python calls ep.module()(*args, **kwargs): with tensors, numbers, strings, lists, tuples
// ([graph.Tuple]), dictionaries ([graph.Dict]) and data classes ([graph.Object]), in the structure that it was exported
// with. Gradients are recorded in the mode of the calling goroutine. Arguments of another structure are refused with
// ErrInput, those that a guard refuses with ErrGuard; both errors have PyTorch's text. A result that PyTorch returns
// without a copy, such as a buffer, is the program's own here, too.
func (p *Program) Call(ctx context.Context, args []tensor.Value, kwargs map[string]tensor.Value) (tensor.Value, error) {
	out, _, err := p.CallGrads(ctx, args, kwargs)
	return out, err
}

// CallGrads is Call of a program that computes gradients itself (a joint graph of forward and backward): it also
// returns them, by the names of the parameters and inputs.
func (p *Program) CallGrads(ctx context.Context, args []tensor.Value, kwargs map[string]tensor.Value) (out tensor.Value,
	grads map[string]*tensor.Tensor, err error) {
	leaves, err := p.flatten(args, kwargs)
	if err != nil {
		return out, nil, err
	}
	if err := p.check(leaves); err != nil {
		return out, nil, err
	}
	res, err := p.fn.RunWith(ctx, p.limit, leaves...)
	if err != nil {
		return out, nil, err
	}
	out, rest := p.out.unflatten(res)
	if len(p.grads) > 0 {
		grads = map[string]*tensor.Tensor{}
		for i, v := range rest {
			grads[p.grads[i]] = v.T
		}
	}
	return out, grads, nil
}

// Forward is Call with tensors and one tensor as its result.
func (p *Program) Forward(inputs ...*tensor.Tensor) (*tensor.Tensor, error) {
	args := make([]tensor.Value, len(inputs))
	for i, t := range inputs {
		args[i] = tensor.TensorValue(t)
	}
	v, err := p.Call(context.Background(), args, nil)
	if err != nil {
		return nil, err
	}
	if v.K != tensor.KTensor {
		return nil, &tensor.Error{Op: "forward", Err: tensor.ErrType,
			Msg: fmt.Sprintf("the result is %s, no tensor: use Program.Call", graph.TypeOf(v))}
	}
	return v.T, nil
}

// flatten lists the leaves of the arguments.
func (p *Program) flatten(args []tensor.Value, kwargs map[string]tensor.Value) ([]tensor.Value, error) {
	fail := func(format string, a ...any) error {
		return &tensor.Error{Msg: fmt.Sprintf(format, a...), Err: ErrInput}
	}
	want := p.in.Children[1].keys
	named := graph.NewDict(graph.Str, nil)
	for _, k := range want {
		if v, ok := kwargs[k]; ok {
			named.Set(tensor.StrValue(k), v)
		}
	}
	if named.Len() != len(want) || len(kwargs) != len(want) {
		return nil, fail("Ran into a kwarg keyword mismatch: Got the following keywords %s but expected %s",
			pyList(slices.Sorted(maps.Keys(kwargs))), pyList(want))
	}
	all := graph.NewTuple(graph.NewTuple(args...), graph.Box(named))
	leaves, ok := p.in.flatten(all, make([]tensor.Value, 0, len(p.inputs)))
	if !ok {
		return nil, fail("Trying to flatten user inputs with exported input tree spec: \n%s\n"+
			"but actually got inputs with tree spec of: \n%s.\nPlease check that the inputs have the same number and "+
			"type of args and kwargs as the ones you used when tracing.", p.in, structure(all))
	}
	return leaves, nil
}

func pyList(l []string) string {
	parts := make([]string, len(l))
	for i, s := range l {
		parts[i] = pyfmt.Repr(s)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// Run calls the program with tensors by the names of Inputs, without recording gradients. Constants that the program
// was exported with need not be given; an int that varies is a tensor with one element. Results that are no tensors are
// not in what it returns: Call gives them. Operators are fused for the first call, and again when weights have changed.
func (p *Program) Run(ctx context.Context, inputs map[string]*tensor.Tensor) (map[string]*tensor.Tensor, error) {
	if err := graph.CheckInputs(p.ports, inputs); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInput, err)
	}
	leaves := make([]tensor.Value, len(p.inputs))
	for i := range p.inputs {
		in := &p.inputs[i]
		if leaves[i] = in.value; in.fixed {
			continue
		}
		t := inputs[in.shown]
		leaves[i] = tensor.TensorValue(t)
		if in.size != nil {
			if t.Numel() != 1 || !t.DType().IsInt() {
				return nil, fmt.Errorf("%w: input %q must be an int, got a tensor of %s", ErrInput, in.shown,
					tensor.ShapeString(t.Shape()))
			}
			leaves[i] = t.Num().Value()
		}
	}
	if err := p.check(leaves); err != nil {
		return nil, err
	}
	f, err := p.fused()
	if err != nil {
		return nil, err
	}
	var res []tensor.Value
	tensor.NoGrad(func() { res, err = f.RunWith(ctx, p.limit, leaves...) })
	if err != nil {
		return nil, err
	}
	out := map[string]*tensor.Tensor{}
	for i, port := range p.results {
		v := res[i]
		if v.K != tensor.KTensor || v.T == nil {
			continue
		}
		if p.owns(v.T) { // its new owner may change it
			v.T = v.T.Clone()
		}
		out[port.Name] = v.T
	}
	return out, nil
}

// owns reports a tensor in the memory of a weight.
func (p *Program) owns(t *tensor.Tensor) bool {
	for _, w := range p.state {
		if w.Tensor != nil && w.Tensor.Storage() == t.Storage() {
			return true
		}
	}
	return false
}

// fused is the program with its operators fused for the weights as they are now.
func (p *Program) fused() (*graph.Function, error) {
	if p.writes {
		return p.fn, nil
	}
	versions := 0
	for _, w := range p.state {
		if w.Tensor != nil {
			versions += w.Tensor.Version() + 1
		}
	}
	p.serving.Lock()
	defer p.serving.Unlock()
	if p.serving.fn != nil && p.serving.versions == versions {
		return p.serving.fn, nil
	}
	var m programJSON
	if err := json.Unmarshal(p.model, &m); err != nil {
		return nil, err
	}
	q := &Program{state: p.state, inputs: p.inputs, in: p.in, out: p.out}
	f, err := q.translate(&m.GraphModule)
	if err != nil {
		return nil, err
	}
	if err := tensor.Try(func() { f.FuseWith(p.fuse) }); err != nil {
		return nil, err
	}
	if err := f.Compile(); err != nil {
		return nil, err
	}
	p.serving.fn, p.serving.versions = f, versions
	return f, nil
}
