package jit

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"sync"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/graph/trace"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// Module is a module of a TorchScript program, with its parameters, buffers, attributes and methods.
//
// It is a module of package nn as well: a field of another module may hold it, whose parameters and mode it shares.
type Module struct {
	nn.Base
	obj  *graph.Object
	unit *unit
	meta map[string]string

	traced  *trace.Program // of a recorded module
	serving sync.Map       `torch:"-"` // method -> *graph.Serving
}

// Object is the module as a value of package graph.
func (m *Module) Object() *graph.Object { return m.obj }

// OriginalName is the name of the Python class.
func (m *Module) OriginalName() string { return lastPart(m.obj.Class.Name) }

// Named is a child of a module with its name.
type Named struct {
	Name   string
	Module *Module
}

// NamedChildren are the submodules, in the order of the class.
func (m *Module) NamedChildren() []Named {
	var out []Named
	for i, a := range m.obj.Class.Attrs {
		if i >= len(m.obj.Slots) {
			break
		}
		if o, ok := m.obj.Slots[i].X.(*graph.Object); ok && o.Class.Module {
			out = append(out, Named{a.Name, m.unit.module(o)})
		}
	}
	return out
}

// Submodule finds a module by its path ("layer1.0.conv1"); nil when there is none.
func (m *Module) Submodule(path string) *Module {
	for path != "" {
		name, rest, _ := strings.Cut(path, ".")
		v, _ := m.obj.Attr(name)
		o, ok := v.X.(*graph.Object)
		if !ok {
			return nil
		}
		m, path = m.unit.module(o), rest
	}
	return m
}

// walk visits the module and all its submodules, each once, with their paths.
func (m *Module) walk(prefix string, seen map[*graph.Object]bool, f func(prefix string, m *Module)) {
	if seen[m.obj] {
		return
	}
	seen[m.obj] = true
	f(prefix, m)
	for _, c := range m.NamedChildren() {
		c.Module.walk(prefix+c.Name+".", seen, f)
	}
}

// NamedTensor is a parameter or a buffer with its path.
type NamedTensor struct {
	Name   string
	Tensor *tensor.Tensor
}

func (m *Module) tensors(want func(a *graph.Attr) bool, once bool) []NamedTensor {
	var out []NamedTensor
	had := map[*tensor.Tensor]bool{}
	visit := func(prefix string, m *Module) {
		for i := range m.obj.Class.Attrs {
			a := &m.obj.Class.Attrs[i]
			if i >= len(m.obj.Slots) || !want(a) {
				continue
			}
			t := m.obj.Slots[i].T
			if t == nil || once && had[t] {
				continue
			}
			had[t] = true
			out = append(out, NamedTensor{prefix + a.Name, t})
		}
	}
	if once {
		m.walk("", map[*graph.Object]bool{}, visit)
	} else {
		m.every("", 0, visit)
	}
	return out
}

// every visits the module and all its submodules under each of their paths.
func (m *Module) every(prefix string, depth int, f func(prefix string, m *Module)) {
	if depth > maxNestedModules {
		return
	}
	f(prefix, m)
	for _, c := range m.NamedChildren() {
		c.Module.every(prefix+c.Name+".", depth+1, f)
	}
}

const maxNestedModules = 100

// NamedParameters are the parameters of the module and its submodules, each once.
func (m *Module) NamedParameters() []NamedTensor {
	return m.tensors(func(a *graph.Attr) bool { return a.Parameter }, true)
}

// NamedBuffers are the buffers of the module and its submodules, each once.
func (m *Module) NamedBuffers() []NamedTensor {
	return m.tensors(func(a *graph.Attr) bool { return a.Buffer }, true)
}

// StateDict are the parameters and buffers by their paths, as Python's state_dict gives them: parameters of a module
// first, then its buffers, then its submodules.
func (m *Module) StateDict() []NamedTensor {
	var out []NamedTensor
	m.every("", 0, func(prefix string, m *Module) {
		for _, buffers := range []bool{false, true} {
			for i, a := range m.obj.Class.Attrs {
				if i < len(m.obj.Slots) && m.obj.Slots[i].T != nil && (a.Parameter && !buffers || a.Buffer && buffers) {
					out = append(out, NamedTensor{prefix + a.Name, m.obj.Slots[i].T})
				}
			}
		}
	})
	return out
}

// Train puts the module and its submodules into training mode, or into evaluation with false.
func (m *Module) Train(on bool) {
	m.walk("", map[*graph.Object]bool{}, func(_ string, m *Module) {
		nn.SetMode(m, on)
		m.ModeChanged(on)
	})
}

// Eval is Train(false).
func (m *Module) Eval() { m.Train(false) }

// ModeChanged follows package nn.
func (m *Module) ModeChanged(training bool) { m.obj.SetAttr("training", tensor.BoolValue(training)) }

// WalkOwn visits the parameters, buffers and submodules for package nn.
func (m *Module) WalkOwn(param func(string, *tensor.Tensor), buffer func(string, *tensor.Tensor, bool),
	child func(string, nn.Module)) {
	for i, a := range m.obj.Class.Attrs {
		switch {
		case i >= len(m.obj.Slots) || m.obj.Slots[i].T == nil:
		case a.Parameter:
			param(a.Name, m.obj.Slots[i].T)
		case a.Buffer:
			buffer(a.Name, m.obj.Slots[i].T, true)
		}
	}
	for _, c := range m.NamedChildren() {
		child(c.Name, c.Module)
	}
}

// ClassName is the name of the Python class, for package nn.
func (m *Module) ClassName() string { return m.OriginalName() }

// Training reports the module's mode. A frozen module has none, and says true, as Python's does.
func (m *Module) Training() bool {
	v, ok := m.obj.Attr("training")
	return !ok || v.N != 0
}

// Methods are the names of the module's methods.
func (m *Module) Methods() []string {
	var out []string
	for _, name := range m.obj.Class.Order {
		if strings.HasPrefix(name, "__") || contains(m.obj.Class.Hooks.Pre, name) ||
			contains(m.obj.Class.Hooks.Post, name) {
			continue
		}
		out = append(out, name)
	}
	return out
}

// Attr is the value of an attribute.
func (m *Module) Attr(name string) (v tensor.Value, ok bool) {
	if v, ok = m.obj.Attr(name); !ok {
		v, ok = m.obj.Class.Consts[name]
	}
	return v, ok
}

// EnumMember finds a member of an enumeration of the program by the last part of the enumeration's name; nil when there
// is none.
func (m *Module) EnumMember(class, name string) *graph.Enum {
	for q, c := range m.unit.classes {
		if (q == class || lastPart(q) == class) && c.Type.Kind == graph.EnumType {
			return c.Member(name)
		}
	}
	return nil
}

// Method finds a method, nil when there is none.
func (m *Module) Method(name string) *graph.Function { return m.obj.Class.Methods[name] }

// Forward calls the module with tensors and returns its result, which must be one tensor. Gradients are recorded in the
// mode of the calling goroutine. [Module.Call] takes and gives everything else.
func (m *Module) Forward(inputs ...*tensor.Tensor) (*tensor.Tensor, error) {
	args := make([]tensor.Value, len(inputs))
	for i, t := range inputs {
		args[i] = tensor.TensorValue(t)
	}
	v, err := m.Call(context.Background(), "forward", args, nil)
	if err != nil {
		return nil, err
	}
	if v.K != tensor.KTensor {
		return nil, &tensor.Error{Op: m.OriginalName() + ".forward", Err: tensor.ErrType,
			Msg: fmt.Sprintf("the result is %s, no tensor: use Module.Call", graph.TypeOf(v))}
	}
	return v.T, nil
}

// Call calls a method with positional and keyword arguments. The arguments are converted as Python's are: a Go int
// where a float is wanted, a list of numbers where a list of floats is. Hooks of the module run with forward, but for
// programs of the lite interpreter, which has none.
func (m *Module) Call(ctx context.Context, method string, args []tensor.Value,
	kwargs map[string]tensor.Value) (tensor.Value, error) {
	f := m.obj.Class.Methods[method]
	if f == nil {
		return tensor.Value{}, &tensor.Error{Op: m.OriginalName(), Err: tensor.ErrNotFound,
			Msg: fmt.Sprintf("there is no method %s; there are %s", method, strings.Join(m.Methods(), ", "))}
	}
	all, err := bindValues(f.Schema, append([]tensor.Value{graph.Box(m.obj)}, args...), kwargs)
	if err != nil {
		return tensor.Value{}, err
	}
	hooks := method == "forward" && !m.unit.lite
	if hooks {
		if all, err = m.preHooks(ctx, f, all); err != nil {
			return tensor.Value{}, err
		}
	}
	return trace.Invoke(m, method, all[1:], f.Schema.Results[0].Type, func() (tensor.Value, error) {
		out, err := m.run(ctx, method, f, all)
		if err != nil {
			return tensor.Value{}, err
		}
		if hooks {
			return m.postHooks(ctx, all, out[0])
		}
		return out[0], nil
	})
}

// run runs a method, prepared for inference where no gradients are recorded.
func (m *Module) run(ctx context.Context, method string, f *graph.Function, all []tensor.Value) ([]tensor.Value,
	error) {
	s, ok := m.serving.Load(method)
	if !ok {
		s, _ = m.serving.LoadOrStore(method, &graph.Serving{Options: m.unit.fuse})
	}
	return s.(*graph.Serving).Run(ctx, f, m.obj, all...)
}

// Apply is Forward for the Forward of another module: it gives all tensors of the result, and a mistake is a panic with
// a *torch.Error, as it is with the layers of package nn.
func (m *Module) Apply(inputs ...*tensor.Tensor) []*tensor.Tensor {
	args := make([]tensor.Value, len(inputs))
	for i, t := range inputs {
		args[i] = tensor.TensorValue(t)
	}
	v, err := m.Call(context.Background(), "forward", args, nil)
	if err != nil {
		panic(&tensor.Error{Op: m.OriginalName() + ".forward", Msg: err.Error(), Err: err})
	}
	return Tensors(v)
}

// Tensors are the tensors of a result of Call: in tuples, lists and dictionaries, in order.
func Tensors(v tensor.Value) []*tensor.Tensor {
	if v.K == tensor.KTensor {
		return []*tensor.Tensor{v.T}
	}
	var out []*tensor.Tensor
	if d, ok := v.X.(*graph.Dict); ok {
		d.Each(func(_, e tensor.Value) { out = append(out, Tensors(e)...) })
		return out
	}
	if items, ok := graph.ItemsOf(v); ok {
		for _, e := range items {
			out = append(out, Tensors(e)...)
		}
	}
	return out
}

func inputTuple(all []tensor.Value) tensor.Value { return graph.NewTuple(all[1:]...) }

// preHooks runs the hooks before forward. What a hook returns takes the place of the inputs.
func (m *Module) preHooks(ctx context.Context, f *graph.Function, all []tensor.Value) ([]tensor.Value, error) {
	for _, name := range m.obj.Class.Hooks.Pre {
		h := m.obj.Class.Methods[name]
		if h == nil {
			continue
		}
		out, err := h.Run(ctx, all[0], inputTuple(all))
		if err != nil {
			return nil, err
		}
		if out[0].K == tensor.KNone {
			continue
		}
		items, ok := graph.ItemsOf(out[0])
		if !ok {
			items = out
		}
		if len(items) != len(f.Body.Params)-1 {
			return nil, fmt.Errorf("hook %s returns %d inputs, %s takes %d", name, len(items), f.Name,
				len(f.Body.Params)-1)
		}
		all = append([]tensor.Value{all[0]}, items...)
	}
	return all, nil
}

// postHooks runs the hooks after forward. What a hook returns takes the place of the result.
func (m *Module) postHooks(ctx context.Context, all []tensor.Value, res tensor.Value) (tensor.Value, error) {
	for _, name := range m.obj.Class.Hooks.Post {
		h := m.obj.Class.Methods[name]
		if h == nil {
			continue
		}
		out, err := h.Run(ctx, all[0], inputTuple(all), res)
		if err != nil {
			return tensor.Value{}, err
		}
		if out[0].K != tensor.KNone {
			res = out[0]
		}
	}
	return res, nil
}

// bindValues puts arguments into the order of a schema and gives them its types.
func bindValues(s *graph.Schema, args []tensor.Value, kwargs map[string]tensor.Value) ([]tensor.Value, error) {
	fail := func(format string, a ...any) error {
		return &tensor.Error{Op: s.Name, Msg: fmt.Sprintf(format, a...), Err: tensor.ErrType}
	}
	if len(args) > len(s.Params) {
		return nil, fail("%s() expected at most %d argument(s) but received %d argument(s). Declaration: %s",
			lastPart(s.Name), len(s.Params), len(args), s)
	}
	out := make([]tensor.Value, len(s.Params))
	used := 0
	for i := range s.Params {
		p := &s.Params[i]
		v, given := kwargs[p.Name]
		switch {
		case i < len(args):
			if given {
				return nil, fail("%s() got multiple values for argument '%s'", lastPart(s.Name), p.Name)
			}
			v = args[i]
		case given:
			used++
		case p.Default != nil:
			v = *p.Default
		default:
			return nil, fail("%s() is missing value for argument '%s'. Declaration: %s", lastPart(s.Name), p.Name, s)
		}
		w, err := Convert(v, p.Type)
		if err != nil {
			return nil, fail("%s() Expected a value of type '%s' for argument '%s' but instead found type '%s'.",
				lastPart(s.Name), p.Type.Annotation(), p.Name, graph.TypeOf(v).Annotation())
		}
		out[i] = w
	}
	if used < len(kwargs) {
		names := make([]string, 0, len(kwargs))
		for k := range kwargs {
			if i := s.Index(k); i < len(args) && i >= 0 || i < 0 {
				names = append(names, k)
			}
		}
		sort.Strings(names)
		return nil, fail("Unknown keyword argument '%s' for operator '%s'. Schema: %s", strings.Join(names, "', '"),
			lastPart(s.Name), s)
	}
	return out, nil
}

// Convert gives a value from Go the form that a value of type t has in a program: lists of the registry become lists of
// the program, ints become floats, tuples become named ones.
func Convert(v tensor.Value, t *graph.Type) (tensor.Value, error) {
	v = graph.Normal(v)
	bad := fmt.Errorf("a value of type %s is no %s", graph.TypeOf(v), t)
	switch t.Kind {
	case graph.OptionalType:
		if v.K == tensor.KNone {
			return v, nil
		}
		return Convert(v, t.Elems[0])
	case graph.FloatType:
		if v.K == tensor.KInt || v.K == tensor.KBool {
			return tensor.FloatValue(float64(v.N)), nil
		}
		if v.K == tensor.KTensor && v.T.Numel() == 1 {
			return tensor.FloatValue(v.T.Num().F), nil
		}
	case graph.IntType:
		if v.K == tensor.KTensor && v.T.Numel() == 1 && v.T.DType().IsInt() {
			return tensor.Value{K: tensor.KInt, N: v.T.Num().I}, nil
		}
		if v.K == tensor.KBool {
			return tensor.Value{K: tensor.KInt, N: v.N}, nil
		}
	case graph.ComplexType:
		if v.K == tensor.KInt || v.K == tensor.KFloat {
			return tensor.ComplexValue(v.Num().C), nil
		}
	case graph.TensorType:
		if v.K == tensor.KInt || v.K == tensor.KFloat || v.K == tensor.KBool || v.K == tensor.KComplex {
			return v, bad
		}
	case graph.ListType:
		items, ok := graph.ItemsOf(v)
		if !ok {
			return v, bad
		}
		l, isList := v.X.(*graph.List)
		if !isList {
			l = &graph.List{Items: append([]tensor.Value(nil), items...)}
		}
		l.Elem = t.Elems[0]
		for i, e := range l.Items {
			w, err := Convert(e, t.Elems[0])
			if err != nil {
				return v, err
			}
			l.Items[i] = w
		}
		return graph.Box(l), nil
	case graph.TupleType:
		items, ok := graph.ItemsOf(v)
		if !ok || len(items) != len(t.Elems) {
			return v, bad
		}
		tu := &graph.Tuple{Type: t}
		for i, e := range items {
			w, err := Convert(e, t.Elems[i])
			if err != nil {
				return v, err
			}
			tu.Items = append(tu.Items, w)
		}
		return graph.Box(tu), nil
	case graph.DictType:
		d, ok := v.X.(*graph.Dict)
		if !ok {
			return v, bad
		}
		var err error
		d.Key, d.Elem = t.Elems[0], t.Elems[1]
		d.Each(func(k, e tensor.Value) {
			w, e2 := Convert(e, t.Elems[1])
			if e2 != nil {
				err = e2
				return
			}
			d.Set(k, w)
		})
		return v, err
	case graph.UnionType:
		for _, e := range t.Elems {
			if graph.IsA(v, e) {
				return v, nil
			}
		}
		for _, e := range t.Elems {
			if w, err := Convert(v, e); err == nil {
				return w, nil
			}
		}
		return v, bad
	}
	if !graph.IsA(v, t) {
		return v, bad
	}
	return v, nil
}

// String prints the module as Python prints a RecursiveScriptModule.
func (m *Module) String() string { return m.text(0) }

func (m *Module) text(depth int) string {
	var b strings.Builder
	name := "RecursiveScriptModule("
	if m.unit.traced { // as Python's TopLevelTracedModule
		name = m.OriginalName() + "("
	}
	b.WriteString(name)
	children := m.NamedChildren()
	if len(children) == 0 || depth > maxNestedModules {
		b.WriteString("original_name=" + m.OriginalName() + ")")
		return b.String()
	}
	b.WriteString("\n  original_name=" + m.OriginalName() + "\n")
	for _, c := range children {
		b.WriteString("  (" + c.Name + "): " + strings.ReplaceAll(c.Module.text(depth+1), "\n", "\n  ") + "\n")
	}
	b.WriteString(")")
	return b.String()
}

// Graph is the graph of a method, "forward" unless it is named, as PyTorch prints it; "" when there is no such method.
func (m *Module) Graph(name ...string) string {
	method := "forward"
	if len(name) > 0 {
		method = name[0]
	}
	f := m.Method(method)
	if f == nil {
		return ""
	}
	return f.String()
}

// Code is the source of a method, "forward" unless it is named, without the type of self: as it stands in the archive
// of a loaded module, and as PyTorch prints it for a recorded one. It is "" when there is no such method.
func (m *Module) Code(name ...string) string {
	method := "forward"
	if len(name) > 0 {
		method = name[0]
	}
	if f := m.unit.funcs[m.obj.Class.Name+"."+method]; f != nil {
		return f.source()
	}
	if f := m.Method(method); f != nil {
		return printFunction(f, 0, "-", &constants{})
	}
	return ""
}

// source is the definition's text with its indentation removed.
func (f *function) source() string {
	src := f.file.src
	from := strings.LastIndexByte(src[:min(f.def.Start, len(src))], '\n') + 1
	to := min(f.def.End, len(src))
	indent, at := f.def.Start-from, from
	var out []string
	for i, line := range strings.Split(strings.TrimRight(src[from:to], " \n"), "\n") {
		// the lines of the parameters stand in a class where they stand outside
		if signature := i > 0 && len(f.def.Body) > 0 && at < f.bodyStart(); !signature {
			line = line[min(indent, len(line)-len(strings.TrimLeft(line, " "))):]
		}
		at = from + strings.IndexByte(src[at:to]+"\n", '\n') + 1 + at - from
		if i == 0 && f.self != nil && len(f.def.Params) > 0 {
			line = strings.Replace(line, "("+f.def.Params[0].Name+": "+f.self.Annotation(), "("+f.def.Params[0].Name, 1)
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n") + "\n"
}

// bodyStart is the offset of the line on which the first statement of the body begins.
func (f *function) bodyStart() int {
	line, at := 1, 0
	for line < f.def.Body[0].At() {
		i := strings.IndexByte(f.file.src[at:], '\n')
		if i < 0 {
			break
		}
		line, at = line+1, at+i+1
	}
	return at
}

// Metadata are the format, its version and the extra files of the archive, by name, as far as they are short.
func (m *Module) Metadata() map[string]string { return m.meta }

// Inputs are the parameters of forward.
func (m *Module) Inputs() []graph.Port {
	f := m.Method("forward")
	if f == nil {
		return nil
	}
	var out []graph.Port
	for _, p := range f.Schema.Params[1:] {
		out = append(out, graph.Port{Name: p.Name, Type: p.Type, AnyShape: true,
			Optional: p.Default != nil || p.Type.Kind == graph.OptionalType})
	}
	return out
}

// Outputs are the results of forward: "output", or the fields of a tuple as "output.0" or by their names.
func (m *Module) Outputs() []graph.Port {
	f := m.Method("forward")
	if f == nil {
		return nil
	}
	t := f.Schema.Results[0].Type
	if t.Kind != graph.TupleType {
		return []graph.Port{{Name: "output", Type: t, AnyShape: true}}
	}
	var out []graph.Port
	for i, e := range t.Elems {
		name := fmt.Sprintf("output.%d", i)
		if t.Fields != nil {
			name = t.Fields[i]
		}
		out = append(out, graph.Port{Name: name, Type: e, AnyShape: true})
	}
	return out
}

// Run calls forward with tensors by the names of its parameters, without recording gradients. Results that are no
// tensors, or tuples of them, are not in what it returns: Module.Call gives them.
func (m *Module) Run(ctx context.Context, inputs map[string]*tensor.Tensor) (map[string]*tensor.Tensor, error) {
	if err := graph.CheckInputs(m.Inputs(), inputs); err != nil {
		return nil, err
	}
	kwargs := map[string]tensor.Value{}
	for k, t := range inputs {
		kwargs[k] = tensor.TensorValue(t)
	}
	var v tensor.Value
	var err error
	tensor.NoGrad(func() { v, err = m.Call(ctx, "forward", nil, kwargs) })
	if err != nil {
		return nil, err
	}
	out := map[string]*tensor.Tensor{}
	ports := m.Outputs()
	if tu, ok := v.X.(*graph.Tuple); ok && len(tu.Items) == len(ports) {
		for i, e := range tu.Items {
			if e.K == tensor.KTensor {
				out[ports[i].Name] = e.T
			}
		}
	} else if v.K == tensor.KTensor {
		out[ports[0].Name] = v.T
	}
	return out, nil
}

// Close does nothing: a Module holds memory only.
func (m *Module) Close() error { return nil }

var _ graph.Model = (*Module)(nil)
