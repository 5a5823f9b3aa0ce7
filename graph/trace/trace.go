package trace

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/rng"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// Options are the options of Record.
type Options struct {
	// Names are those of the arguments, "x", "x1", … unless given. The tensors of an argument that is a list, a map or
	// a struct are called "name.0", "name.key", "name.Field".
	Names []string
	// Module is the module whose parameters a function uses, and below which its modules are found. It is the module
	// itself where a module is recorded.
	Module nn.Module
	// Dynamic names the sizes that may be others than those of the example: by the name of the input, then by
	// dimension. Equal names are equal sizes.
	Dynamic map[string]map[int]string
	// Batch tries whether the leading sizes of all inputs may be others, all of them changing alike, and calls them
	// "batch" then. A program that takes no others is recorded for those of the example.
	Batch bool
	// AllDynamic finds out which sizes may differ by trying each, and calls them "s0", "s1", ….
	AllDynamic bool
	// Strict makes what Go code reads of tensors an error instead of a warning.
	Strict bool
	// Unchanged leaves the module's buffers and the state of the generator as they were before the recording.
	Unchanged bool
	// KeepCalls keeps calls of Scripted modules as calls of their methods, instead of recording what the methods do.
	KeepCalls bool
}

// Program is a recorded program.
type Program struct {
	// Func takes Self, if there is one, and the tensors of the inputs; its results are the tensors of the outputs.
	Func *graph.Function
	// Self has the module's parameters and buffers as attributes, under their names in the state dict. They are the
	// module's tensors themselves. It is nil where no module is known.
	Self *graph.Object
	// Module is the recorded module, nil for a function.
	Module nn.Module
	// Shared are further names of tensors that Self has under another name, by that name's: of tied weights.
	Shared map[string]string
	// NonPersistent are the buffers that the state dict leaves out.
	NonPersistent map[string]bool
	// In are the forms of the arguments, Out is that of the result. Leaves of In are numbered for all arguments
	// together.
	In  []*Form
	Out *Form
	// ArgNames are the names of the arguments.
	ArgNames []string
	// Example are the tensors that were recorded with, and Results what came out.
	Example, Results []*tensor.Tensor

	inputs, outputs []graph.Port
	session         *session
	serving         graph.Serving
	calls           []call // of modules, in the order of their ends
}

// recording is held while something is recorded: the marks on memory belong to one recording.
var recording sync.Mutex

// Record runs fn, a module with a Forward method or a function, on the inputs, and records what it does. Inputs and
// results are tensors, slices, maps and structs of them; other values are constants. The inputs themselves are cloned
// first, so that a program may write to them. The mode of gradients and of training are those of the caller.
//
// Mistakes of fn, inputs that do not fit it, and programs that cannot be recorded are errors.
func Record(fn any, inputs []any, opts ...Options) (p *Program, err error) {
	var o Options
	if len(opts) > 0 {
		o = opts[0]
	}
	if active() != nil {
		return nil, &tensor.Error{Op: "Trace", Msg: "a recording cannot be made inside a recording",
			Err: tensor.ErrValue}
	}
	recording.Lock()
	defer recording.Unlock()
	err = tensor.Try(func() { p = record(fn, inputs, o) })
	return p, err
}

// active is the recorder of this goroutine.
func active() *recorder {
	r, _ := tensor.FindLayer(func(l tensor.Layer) bool {
		_, ok := l.(*recorder)
		return ok
	}).(*recorder)
	return r
}

func record(fn any, inputs []any, o Options) *Program {
	t := bind(fn, inputs)
	p := &Program{In: t.forms, Shared: map[string]string{}, NonPersistent: map[string]bool{}, Module: o.Module}
	if m, ok := fn.(nn.Module); ok && p.Module == nil {
		p.Module = m
	}
	for i := range t.forms {
		name := defaultName(i)
		if i < len(o.Names) && o.Names[i] != "" {
			name = o.Names[i]
		}
		p.ArgNames = append(p.ArgNames, name)
	}
	name := "forward"
	s := &session{p: p, target: t, opts: o, name: name}
	p.session = s
	s.describe()
	for i, f := range t.forms { // leaves are numbered through
		s.leafNames = append(s.leafNames, f.names(p.ArgNames[i])...)
	}
	s.run()
	return p
}

// session is what the recordings of one program have in common.
type session struct {
	p         *Program
	target    *target
	opts      Options
	name      string
	leafNames []string
	attrs     map[*tensor.Tensor]string
	objects   map[*graph.Object]string // modules whose calls are kept
	paths     map[nn.Module]string
}

// describe makes the object of the module's tensors.
func (s *session) describe() {
	s.attrs, s.paths = map[*tensor.Tensor]string{}, map[nn.Module]string{}
	p := s.p
	if s.opts.KeepCalls {
		s.objects = map[*graph.Object]string{}
	}
	if p.Module == nil {
		return
	}
	for path, m := range nn.NamedModules(p.Module) {
		s.paths[m] = path
	}
	c := graph.NewClass(nn.PythonClass(p.Module), graph.ClassType)
	c.Module = true
	var slots []tensor.Value
	byStorage := map[*tensor.Storage]string{}
	sd := nn.StateDict(p.Module)
	add := func(name string, t *tensor.Tensor, parameter bool) {
		if _, had := s.attrs[t]; had {
			return
		}
		s.attrs[t] = name
		byStorage[t.Storage()] = name
		c.AddAttr(graph.Attr{Name: name, Type: graph.Tensor, Parameter: parameter, Buffer: !parameter})
		slots = append(slots, tensor.TensorValue(t))
		if !parameter && !sd.Has(name) {
			p.NonPersistent[name] = true
		}
	}
	for name, t := range nn.NamedParameters(p.Module) {
		add(name, t, true)
	}
	for name, t := range nn.NamedBuffers(p.Module) {
		add(name, t, false)
	}
	for name, t := range sd.All() {
		if first := byStorage[t.Storage()]; c.AttrIndex(name) < 0 && first != "" {
			p.Shared[name] = first
		}
	}
	if s.opts.KeepCalls {
		for path, m := range nn.NamedModules(p.Module) {
			if k, ok := m.(Scripted); ok && path != "" {
				s.objects[k.Object()] = path
				c.AddAttr(graph.Attr{Name: path, Type: k.Object().Class.Type})
				slots = append(slots, graph.Box(k.Object()))
			}
		}
	}
	p.Self = &graph.Object{Class: c, Slots: slots}
}

// run makes the recordings and merges them.
func (s *session) run() {
	t, p := s.target, s.p
	sizes := s.dynamic()
	var named []size // that the ports name
	if s.opts.Unchanged {
		defer s.restore()()
	}
	base := s.record(t.leaves, false)
	p.Func, p.Out = base.fn, base.form
	p.Example, p.Results, p.calls = base.in, base.out, base.calls
	if s.opts.AllDynamic {
		sizes = s.probe(base)
	} else if batch := s.batch(base); s.opts.Batch && len(sizes) == 0 && batch != nil {
		if attempt(func() { s.generalize(base, batch) }) == nil {
			named, sizes = batch, nil
		} else { // what the attempt has begun is not undone
			base = s.record(t.leaves, true)
			p.Func = base.fn
		}
	}
	if named == nil {
		named = sizes
	}
	dims := map[int]map[int]string{}
	if len(sizes) > 0 {
		s.generalize(base, sizes)
	}
	for _, z := range named {
		for _, at := range z.at {
			if dims[at.leaf] == nil {
				dims[at.leaf] = map[int]string{}
			}
			dims[at.leaf][at.dim] = z.name
		}
	}
	for i, x := range base.in {
		shape := make([]graph.Dim, x.Dim())
		for d := range shape {
			shape[d] = graph.Dim{Size: x.Size(d), Name: dims[i][d]}
			if shape[d].Name != "" {
				shape[d].Size = 0
			}
		}
		p.inputs = append(p.inputs, graph.Port{Name: s.leafNames[i], Type: graph.Tensor, DType: x.DType(),
			Shape: shape})
	}
	names := []string{"output"}
	if p.Out.Kind != Leaf {
		names = p.Out.names("output")
	}
	for i, v := range p.Func.Body.Results {
		port := graph.Port{Name: names[i], Type: graph.Tensor}
		if v.Info != nil {
			port.DType = v.Info.DType
			if port.Shape = v.Info.Dims; port.Shape == nil {
				for _, n := range v.Info.Shape {
					port.Shape = append(port.Shape, graph.Dim{Size: n})
				}
			}
		}
		p.outputs = append(p.outputs, port)
	}
	if err := p.Func.Verify(); err != nil {
		tensor.Fail(tensor.ErrValue, "Trace: %s", err)
	}
}

// take is one recording.
type take struct {
	fn      *graph.Function
	in, out []*tensor.Tensor
	form    *Form
	calls   []call
}

// record runs the target once. Of a further recording nothing stays: buffers and the generator are set back.
func (s *session) record(leaves []*tensor.Tensor, further bool) *take {
	if further {
		defer s.restore()()
	}
	k := &take{fn: graph.NewFunction(s.name), in: s.copies(leaves)}
	r := &recorder{fn: k.fn, block: k.fn.Body, attrs: s.attrs, paths: s.paths, strict: s.opts.Strict, quiet: further,
		loaded: []map[*tensor.Tensor]*graph.Value{{}}, values: map[*tensor.Tensor]*graph.Value{},
		traced: map[*tensor.Storage]bool{}, scope: &graph.Scope{}, objects: s.objects, restore: s.restore}
	if s.p.Module != nil {
		r.scope.Class = nn.PythonClass(s.p.Module)
		r.self = k.fn.Body.Param("self", s.p.Self.Class.Type)
	}
	strays := tensor.Strays()
	r.mark = tensor.StorageMark()
	defer func() {
		for st := range r.traced {
			st.Untrace()
		}
	}()
	for i, x := range k.in {
		r.define(x, k.fn.Body.Param(s.leafNames[i], graph.Tensor))
	}
	tensor.WithLayer(r, func() { k.form, k.out = s.target.run(k.in) })
	if tensor.Strays() != strays {
		tensor.Fail(tensor.ErrValue, "Trace: the program hands tensors to other goroutines, which cannot be recorded")
	}
	k.calls = r.calls
	for r.scope.Parent != nil {
		r.scope = r.scope.Parent
	}
	for _, y := range k.out {
		k.fn.Body.Results = append(k.fn.Body.Results, r.value(y))
	}
	return k
}

func (s *session) copies(leaves []*tensor.Tensor) []*tensor.Tensor {
	var out []*tensor.Tensor
	for _, x := range leaves {
		c := x.Detach().Clone()
		if x.RequiresGrad() {
			c.SetRequiresGrad(true)
		}
		out = append(out, c)
	}
	return out
}

// restore notes the module's buffers and the state of the generator, and returns a function that sets them back.
func (s *session) restore() func() {
	state := rng.Default.State()
	type saved struct{ t, was *tensor.Tensor }
	var all []saved
	if s.p.Module != nil {
		for _, t := range nn.Buffers(s.p.Module) {
			all = append(all, saved{t, tensor.CloneRaw(t)})
		}
	}
	return func() {
		_ = rng.Default.SetState(state) // its own
		for _, b := range all {
			if tensor.SameShape(b.t.Shape(), b.was.Shape()) {
				tensor.CopyRaw(b.t, b.was)
			}
		}
	}
}

// Repeat runs fn on copies of the inputs once more. The module's buffers and the state of the generator are those from
// before the call afterwards.
func (p *Program) Repeat() (results []*tensor.Tensor, err error) {
	p.Trial(func(inputs []*tensor.Tensor) {
		err = tensor.Try(func() { _, results = p.session.target.run(inputs) })
	})
	return results, err
}

// Trial calls f with copies of the inputs, and sets the module's buffers and the state of the generator back
// afterwards.
func (p *Program) Trial(f func(inputs []*tensor.Tensor)) {
	defer p.session.restore()()
	f(p.session.copies(p.session.target.leaves))
}

// Inputs are the tensors that the program takes.
func (p *Program) Inputs() []graph.Port { return p.inputs }

// Outputs are the tensors that it gives.
func (p *Program) Outputs() []graph.Port { return p.outputs }

// Metadata says where the program comes from.
func (p *Program) Metadata() map[string]string { return map[string]string{"format": "trace"} }

// Close does nothing.
func (p *Program) Close() error { return nil }

// Call runs the program on the tensors of its inputs, in order. Gradients are recorded in the mode of the caller.
func (p *Program) Call(ctx context.Context, inputs ...*tensor.Tensor) ([]*tensor.Tensor, error) {
	var args []tensor.Value
	if p.Self != nil {
		args = append(args, graph.Box(p.Self))
	}
	for _, x := range inputs {
		args = append(args, tensor.TensorValue(x))
	}
	res, err := p.serving.Run(ctx, p.Func, p.Self, args...)
	if err != nil {
		return nil, err
	}
	out := make([]*tensor.Tensor, len(res))
	for i, v := range res {
		out[i] = v.T
	}
	return out, nil
}

// Run computes the outputs by name. It records no gradients.
func (p *Program) Run(ctx context.Context, inputs map[string]*tensor.Tensor) (map[string]*tensor.Tensor, error) {
	if err := graph.CheckInputs(p.inputs, inputs); err != nil {
		return nil, err
	}
	in := make([]*tensor.Tensor, len(p.inputs))
	for i, port := range p.inputs {
		in[i] = inputs[port.Name]
	}
	var out []*tensor.Tensor
	var err error
	tensor.NoGrad(func() { out, err = p.Call(ctx, in...) })
	if err != nil {
		return nil, err
	}
	res := map[string]*tensor.Tensor{}
	for i, port := range p.outputs {
		res[port.Name] = out[i]
	}
	return res, nil
}

// String prints the graph.
func (p *Program) String() string { return p.Func.String() }

// Freeze is a copy of the function without the object: the module's tensors are constants in it, whose Attr is their
// name. It is what passes for inference want.
func (p *Program) Freeze() *graph.Function {
	g := p.Func.Copy()
	if p.Self == nil {
		return g
	}
	self := g.Body.Params[0]
	g.Body.Params = g.Body.Params[1:]
	var freeze func(b *graph.Block)
	freeze = func(b *graph.Block) {
		for _, n := range b.Nodes {
			if n.Op == graph.GetAttr && n.In[0] == self {
				v, _ := p.Self.Attr(n.Attr)
				n.Op, n.Const, n.In = graph.Constant, v, nil
			}
			for _, c := range n.Blocks {
				freeze(c)
			}
		}
	}
	freeze(g.Body)
	return g
}

var _ graph.Model = (*Program)(nil)

func (s *session) leaf(name string) int {
	i := slices.Index(s.leafNames, name)
	if i < 0 {
		tensor.Fail(tensor.ErrValue, "Trace: Dynamic names %q, which is no input; the inputs are %s", name,
			strings.Join(s.leafNames, ", "))
	}
	return i
}

func dimName(i int) string { return fmt.Sprintf("s%d", i) }
