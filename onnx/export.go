package onnx

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"reflect"
	"slices"
	"sort"
	"strings"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/onnxform"
	"github.com/gotorch-dev/torch/internal/onnxpb"
	"github.com/gotorch-dev/torch/internal/version"
	"github.com/gotorch-dev/torch/jit"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// The range of operator sets that Export writes.
const (
	OldestOpset  = 13
	DefaultOpset = 18
	NewestOpset  = 25
)

// Training says in which mode a module is written. Batch norm and dropout do different things in the two modes.
type Training int8

// The modes.
const (
	// TrainingEval writes the module in evaluation mode, whatever mode it is in: what a server wants.
	TrainingEval Training = iota
	// TrainingPreserve writes the module in the mode that it is in.
	TrainingPreserve
	// TrainingTrain writes the module in training mode: batch norm takes the statistics of the batch, dropout drops.
	TrainingTrain
)

// Dims names sizes of a tensor that may differ from run to run: Dims{0: "batch"}.
type Dims = map[int]string

// ExportOptions are the options of Export. The zero value writes opset 18 with fixed sizes, in evaluation mode.
type ExportOptions struct {
	// Opset is the version of ONNX's operators, from OldestOpset to NewestOpset; 0 means DefaultOpset.
	Opset int
	// InputNames and OutputNames name what the graph takes and gives, in order. Inputs have the names of the program's
	// parameters otherwise, outputs are "output", or "output_0", "output_1" and so on.
	InputNames, OutputNames []string
	// Dynamic names sizes by the input that has them: {"x": {0: "batch"}}. Sizes with one name are equal. Other sizes
	// are those of the inputs that Export is given.
	Dynamic map[string]Dims
	// Training is the mode in which the module is written.
	Training Training
	// KeepFunctions writes submodules that are more than one node as functions of the model, with the names of their
	// classes, which the graph calls; otherwise everything stands in one graph.
	KeepFunctions bool
	// External writes the weights into a file beside the model, NAME.data. A model above 2 GB, which one file of
	// protocol buffers cannot hold, has it without being asked. ExportTo cannot write it.
	External bool
	// Values are the arguments of the program, where it takes more than tensors. Lists, tuples and dictionaries of
	// tensors become inputs one by one; numbers and texts become part of the file.
	Values []tensor.Value
	// Name is that of the graph, Doc a description of the model, Metadata further entries.
	Name, Doc string
	Metadata  map[string]string
	// Producer is what writes the file, "gotorch" unless said otherwise.
	Producer string
	// Forms says how operators are written that have no form here, by full name ("mylib::my_op").
	Forms map[string]Form
}

// Form writes the call of an operator into a file. It returns the values that are the call's results.
type Form = onnxform.Form

// Call is the call that a Form writes, with the methods that read arguments and add nodes.
type Call = onnxform.Call

// FormValue is a tensor of the file.
type FormValue = onnxform.Value

// Attrs are the attributes of a node that a Form adds.
type Attrs = onnxform.A

// Export writes a module as an ONNX file. module is an nn.Module or a function on tensors, which jit.Trace records with
// the inputs, or a program: a *jit.Module or a *graph.Function, of whose inputs only dtypes and shapes count. The file
// is written to a temporary name, synced and renamed.
//
// Parameters and buffers become initializers under their names in the state dict. Conditions and loops that depend on
// data become If and Loop; those that are known are resolved. Values that the program computes from constants alone
// are computed now. A module in training mode is written in evaluation mode, with a warning, unless
// ExportOptions.Training says otherwise.
//
// Operators that have no form in ONNX are an *ExportError that names all of them, and the modules that call them.
func Export(path string, module any, inputs []*tensor.Tensor, opts ...ExportOptions) error {
	o := firstOption(opts)
	m, err := build(module, inputs, o)
	if err != nil {
		return err
	}
	return writeModel(path, m, o.External)
}

// ExportTo is Export to a writer. Weights in a file of their own are an error.
func ExportTo(w io.Writer, module any, inputs []*tensor.Tensor, opts ...ExportOptions) error {
	o := firstOption(opts)
	m, err := build(module, inputs, o)
	if err != nil {
		return err
	}
	if o.External || sizeOf(m) > maxMessage {
		return fmt.Errorf("%w: weights in a file of their own need a path: onnx.Export", ErrUnsupported)
	}
	return m.Write(w)
}

func firstOption(opts []ExportOptions) (o ExportOptions) {
	if len(opts) > 0 {
		o = opts[0]
	}
	if o.Opset == 0 {
		o.Opset = DefaultOpset
	}
	if o.Producer == "" {
		o.Producer = "gotorch"
	}
	return o
}

// ExportError says what keeps a module from being written.
type ExportError struct {
	// Missing are the operators without a form, each with the modules that call it.
	Missing map[string][]string
	// Causes are the reasons other than missing forms.
	Causes []error
}

// Error names all operators and modules.
func (e *ExportError) Error() string {
	var parts []string
	if len(e.Missing) > 0 {
		var ops []string
		for _, op := range slices.Sorted(maps.Keys(e.Missing)) {
			at := e.Missing[op]
			ops = append(ops, op+" in "+strings.Join(at, ", "))
		}
		parts = append(parts, "operators without a form in ONNX: "+strings.Join(ops, "; "))
	}
	for _, c := range e.Causes {
		parts = append(parts, c.Error())
	}
	return "onnx: the module cannot be exported: " + strings.Join(parts, "; ")
}

// Unwrap gives ErrUnsupported and the causes.
func (e *ExportError) Unwrap() []error { return append([]error{ErrUnsupported}, e.Causes...) }

// program is what is exported: a function, its leading arguments that are no inputs, and the module that it is of.
type program struct {
	f      *graph.Function
	self   []tensor.Value
	state  map[*tensor.Tensor]string // parameters and buffers by their first name
	train  bool
	params []graph.Param
	// functions that run before and after f, with the object, the tuple of the arguments, and the result
	pre, post []*graph.Function
}

func programOf(module any, inputs []*tensor.Tensor, o ExportOptions) (*program, error) {
	switch m := module.(type) {
	case *jit.Module: // which is an nn.Module, too
		f := m.Method("forward")
		if f == nil {
			return nil, fmt.Errorf("onnx.Export: %s has no method forward", m.OriginalName())
		}
		p := &program{f: f, self: []tensor.Value{graph.Box(m.Object())}, state: map[*tensor.Tensor]string{}}
		for _, n := range m.StateDict() {
			if p.state[n.Tensor] == "" {
				p.state[n.Tensor] = n.Name
			}
		}
		if v, ok := m.Attr("training"); ok {
			p.train = v.N != 0
		}
		p.params = f.Schema.Params[1:]
		class := m.Object().Class
		for _, name := range class.Hooks.Pre {
			p.pre = append(p.pre, class.Methods[name])
		}
		for _, name := range class.Hooks.Post {
			p.post = append(p.post, class.Methods[name])
		}
		return p, nil
	case nn.Module:
		was := nn.IsTraining(m)
		if o.Training != TrainingPreserve {
			defer inMode(m, o.Training == TrainingTrain)()
		}
		p, err := traced(m, inputs, o)
		if p != nil {
			p.train = was
		}
		return p, err
	case *graph.Function:
		p := &program{f: m}
		for i, v := range m.Body.Params {
			name := v.Name
			if name == "" {
				name = fmt.Sprintf("input_%d", i)
			}
			p.params = append(p.params, graph.Param{Name: name, Type: v.Type})
		}
		return p, nil
	}
	if module == nil || reflect.TypeOf(module).Kind() != reflect.Func {
		return nil, fmt.Errorf("onnx.Export: a %T is no module that can be exported: want an nn.Module, a function on "+
			"tensors, a *jit.Module or a *graph.Function", module)
	}
	return traced(module, inputs, o)
}

// twofold is an example input whose sizes that may differ are at least 2, by repeating what there is: operators treat a
// size of 1 in a way of their own, so that nothing can be learned from it about other sizes.
func twofold(t *tensor.Tensor, dims Dims) *tensor.Tensor {
	shape := slices.Clone(t.Shape())
	for d := range dims {
		if d >= 0 && d < len(shape) && shape[d] == 1 {
			shape[d] = 2
		}
	}
	if slices.Equal(shape, t.Shape()) {
		return t
	}
	return t.Expand(shape).Contiguous()
}

// inMode puts a module and what is in it into a mode, and returns what gives each the mode back that it had.
func inMode(m nn.Module, train bool) (restore func()) {
	type flag struct {
		m  nn.Module
		on bool
	}
	var flags []flag
	for c := range nn.Modules(m) {
		flags = append(flags, flag{c, nn.IsTraining(c)})
	}
	nn.Train(m, train)
	return func() {
		for _, f := range flags { // a module before those that are in it
			nn.Train(f.m, f.on)
		}
	}
}

// traced records a module or a function.
func traced(fn any, inputs []*tensor.Tensor, o ExportOptions) (*program, error) {
	if o.Values != nil {
		return nil, errors.New("onnx.Export: Values are arguments of a program; a Go function is recorded with tensors")
	}
	args := make([]any, len(inputs), len(inputs)+1)
	for i, t := range inputs {
		if i < len(o.InputNames) {
			t = twofold(t, o.Dynamic[o.InputNames[i]])
		}
		args[i] = t
	}
	m, err := jit.Trace(fn, append(args, jit.TraceOptions{Names: o.InputNames, Dynamic: o.Dynamic, NoCheck: true})...)
	if err != nil {
		return nil, fmt.Errorf("onnx.Export: %w", err)
	}
	return programOf(m, inputs, o)
}

// build makes the model.
func build(module any, inputs []*tensor.Tensor, o ExportOptions) (*onnxpb.Model, error) {
	if o.Opset < OldestOpset || o.Opset > NewestOpset {
		return nil, fmt.Errorf("onnx.Export: opset %d, expected %d to %d", o.Opset, OldestOpset, NewestOpset)
	}
	p, err := programOf(module, inputs, o)
	if err != nil {
		return nil, err
	}
	if p.train && o.Training == TrainingEval {
		tensor.Warn("onnx.Export: the module is in training mode and is written in evaluation mode: the file's results " +
			"are those of the module after Eval, not those that it gives now (batch norm and dropout differ)")
	}
	args := o.Values
	if args == nil {
		for _, t := range inputs {
			args = append(args, tensor.TensorValue(t))
		}
	}
	// A size that may differ is given two values, and what depends on it is what comes out differently. The second
	// value is tried in several forms, since a module may allow only some of them (positions up to a largest one).
	var first error
	for _, scale := range scales {
		var m *onnxpb.Model
		tensor.NoGrad(func() {
			x := newExporter(p, o, scale)
			if e := tensor.Try(func() { m, err = x.run(args) }); e != nil {
				err = e
			}
			if err == nil {
				for _, w := range x.warnings {
					tensor.Warn("onnx.Export: %s", w)
				}
			}
		})
		if err == nil {
			return m, nil
		}
		if first == nil {
			first = err
		}
		var sizes *sizeError
		if len(o.Dynamic) == 0 || !errors.As(err, &sizes) {
			break
		}
	}
	return nil, first
}

// scales give the second value of the k-th size that may differ, by its first.
var scales = []func(n, k int) int{
	func(n, k int) int { return n * (k + 2) },
	func(n, k int) int { return n + k + 1 },
	func(n, k int) int { return max(n-k-1, 1) },
	func(n, k int) int { return max(n/2, 1) },
}

// sizeError is that of an operator which does not take the second value of a size.
type sizeError struct{ err error }

func (e *sizeError) Error() string {
	return "with other sizes of the dynamic dimensions: " + e.err.Error()
}

func (e *sizeError) Unwrap() error { return e.err }

// port is an input of the file.
type exportPort struct {
	name string
	v    *sym
}

// run exports the program with these arguments.
func (x *exporter) run(args []tensor.Value) (*onnxpb.Model, error) {
	bound, err := x.bind(args)
	if err != nil {
		return nil, err
	}
	var res []tensor.Value
	if err := x.try(func() {
		defer func() {
			if r := recover(); r != nil {
				if e, ok := r.(raised); ok {
					stop("the program raises %q for the inputs that it is given", e.text)
				}
				panic(r)
			}
		}()
		res = x.program(bound)
	}); err != nil {
		x.cause(err)
	}
	if len(x.missing) > 0 || len(x.causes) > 0 {
		for _, at := range x.missing {
			sort.Strings(at)
		}
		return nil, &ExportError{Missing: x.missing, Causes: x.causes}
	}
	g := x.root
	outs, err := x.outputs(res)
	if err != nil {
		return nil, err
	}
	m := &onnxpb.Model{IRVersion: irVersion(x.opt.Opset), Producer: x.opt.Producer, ProducerVersion: version.Module(),
		Doc: x.opt.Doc, Opsets: []onnxpb.Opset{{Version: int64(x.opt.Opset)}}}
	for _, k := range slices.Sorted(maps.Keys(x.opt.Metadata)) {
		m.Metadata = append(m.Metadata, onnxpb.Entry{Key: k, Value: x.opt.Metadata[k]})
	}
	name := x.opt.Name
	if name == "" {
		name = "main_graph"
	}
	m.Graph = &onnxpb.Graph{Name: name, Outputs: outs}
	for _, in := range x.ports {
		m.Graph.Inputs = append(m.Graph.Inputs, x.info(in.name, in.v))
	}
	m.Graph.Nodes = g.nodes
	for _, d := range slices.Sorted(maps.Keys(x.domains)) {
		m.Opsets = append(m.Opsets, onnxpb.Opset{Domain: d, Version: 1})
	}
	x.prune(m)
	for _, n := range m.Graph.Nodes {
		for _, o := range n.Outputs {
			if s := x.between[o]; s != nil {
				m.Graph.Values = append(m.Graph.Values, x.info(o, s))
			}
		}
	}
	if x.opt.KeepFunctions {
		x.functionsOf(m)
	}
	return m, nil
}

// program exports the function with the hooks of its module.
func (x *exporter) program(args []tensor.Value) []tensor.Value {
	for _, h := range x.p.pre {
		v := x.function(h, append(slices.Clone(x.p.self), graph.NewTuple(args...)))[0]
		if v.K == tensor.KNone {
			continue
		}
		items, ok := graph.ItemsOf(v)
		if !ok {
			items = []tensor.Value{v}
		}
		if len(items) != len(args) {
			stop("hook %s returns %d inputs, %s takes %d", h.Name, len(items), x.p.f.Name, len(args))
		}
		args = items
	}
	res := x.function(x.p.f, append(slices.Clone(x.p.self), args...))
	for _, h := range x.p.post {
		if v := x.function(h, append(slices.Clone(x.p.self), graph.NewTuple(args...), res[0]))[0]; v.K != tensor.KNone {
			res = []tensor.Value{v}
		}
	}
	return res
}

// bind makes inputs of the arguments.
func (x *exporter) bind(args []tensor.Value) ([]tensor.Value, error) {
	ps := x.p.params
	if len(args) > len(ps) {
		return nil, fmt.Errorf("onnx.Export: %s takes %d arguments, got %d", x.p.f.Name, len(ps), len(args))
	}
	var bound []tensor.Value
	for i := range ps {
		switch {
		case i < len(args):
			v, err := jit.Convert(args[i], ps[i].Type)
			if err != nil {
				return nil, fmt.Errorf("onnx.Export: argument %s: %w", ps[i].Name, err)
			}
			bound = append(bound, x.input(ps[i].Name, v))
		case ps[i].Default != nil:
			bound = append(bound, graph.Normal(*ps[i].Default))
		case ps[i].Type.Kind == graph.OptionalType:
			bound = append(bound, tensor.Value{})
		default:
			return nil, fmt.Errorf("onnx.Export: %s wants %d inputs: %s is missing", x.p.f.Name, len(ps), ps[i].Name)
		}
	}
	if n := len(x.opt.InputNames); n > len(x.ports) {
		return nil, fmt.Errorf("onnx.Export: %d names for %d inputs", n, len(x.ports))
	}
	for name, dims := range x.opt.Dynamic {
		i := slices.IndexFunc(x.ports, func(p exportPort) bool { return p.name == name })
		if i < 0 {
			return nil, fmt.Errorf("onnx.Export: dynamic sizes of %q, which is no input", name)
		}
		for d := range dims {
			if rank := x.ports[i].v.v.Rank(); d < 0 || d >= rank {
				return nil, fmt.Errorf("onnx.Export: dynamic size %d of %q, which has %d dimensions", d, name, rank)
			}
		}
	}
	return bound, nil
}

// input makes the inputs of an argument: one of a tensor, several of a list or a dictionary.
func (x *exporter) input(name string, v tensor.Value) tensor.Value {
	if v.K == tensor.KTensor && v.T != nil {
		if k := len(x.ports); k < len(x.opt.InputNames) {
			name = x.opt.InputNames[k]
		}
		name = x.unique(name)
		s := x.inputSym(name, v.T)
		x.ports = append(x.ports, exportPort{name, s})
		return graph.Box(s)
	}
	switch l := v.X.(type) {
	case *graph.List:
		items := make([]tensor.Value, len(l.Items))
		for i, e := range l.Items {
			items[i] = x.input(fmt.Sprintf("%s_%d", name, i), e)
		}
		return graph.NewList(l.Elem, items...)
	case *graph.Tuple:
		items := make([]tensor.Value, len(l.Items))
		for i, e := range l.Items {
			items[i] = x.input(fmt.Sprintf("%s_%d", name, i), e)
		}
		return graph.Box(&graph.Tuple{Type: l.Type, Items: items})
	case *graph.Dict:
		d := graph.NewDict(l.Key, l.Elem)
		l.Each(func(k, e tensor.Value) { d.Set(k, x.input(name+"_"+graph.Text(k), e)) })
		return graph.Box(d)
	}
	return v
}

// inputSym is a tensor that the file is given.
func (x *exporter) inputSym(name string, t *tensor.Tensor) *sym {
	s := &sym{v: &onnxform.Value{Name: name, DType: t.DType(), Known: true}}
	shapes := [2][]int{slices.Clone(t.Shape()), slices.Clone(t.Shape())}
	for d, dim := range x.opt.Dynamic[name] {
		if d >= 0 && d < len(shapes[0]) {
			p := x.dimOf(dim, shapes[0][d])
			shapes[0][d], shapes[1][d] = p[0], p[1]
		}
	}
	for i := range s.w {
		s.w[i] = tensor.TensorValue(meta(shapes[i], t.DType()))
	}
	x.facts(s)
	return s
}

// dimOf is the pair of sizes that stands for a named size. Sizes of 1 are avoided: they broadcast.
func (x *exporter) dimOf(name string, n int) [2]int {
	p, ok := x.dims[name]
	if !ok {
		n = max(n, 2)
		for k := len(x.dims); ; k++ {
			p = [2]int{n, x.scale(n, k)}
			if p[1] != p[0] {
				break
			}
		}
		x.dims[name] = p
		if _, had := x.dimNames[p]; !had {
			x.dimNames[p] = name
		}
	}
	return p
}

// outputs flattens the results.
func (x *exporter) outputs(res []tensor.Value) ([]onnxpb.Info, error) {
	type leaf struct {
		name string
		v    tensor.Value
	}
	var leaves []leaf
	var walk func(name string, v tensor.Value)
	walk = func(name string, v tensor.Value) {
		join := func(s string) string {
			if name == "" {
				return s
			}
			return name + "_" + s
		}
		switch l := v.X.(type) {
		case *graph.List:
			for i, e := range l.Items {
				walk(join(fmt.Sprint(i)), e)
			}
		case *graph.Tuple:
			for i, e := range l.Items {
				if l.Type != nil && l.Type.Fields != nil {
					walk(join(l.Type.Fields[i]), e)
				} else {
					walk(join(fmt.Sprint(i)), e)
				}
			}
		case *graph.Dict:
			l.Each(func(k, e tensor.Value) { walk(join(graph.Text(k)), e) })
		default:
			if v.K != tensor.KNone {
				leaves = append(leaves, leaf{name, v})
			}
		}
	}
	if len(res) == 1 {
		walk("", res[0])
	} else {
		for i, v := range res {
			walk(fmt.Sprint(i), v)
		}
	}
	if n := len(x.opt.OutputNames); n > len(leaves) {
		return nil, fmt.Errorf("onnx.Export: %d names for %d outputs", n, len(leaves))
	}
	var infos []onnxpb.Info
	for i, l := range leaves {
		var s *sym
		if err := x.try(func() { s = x.lift(l.v) }); err != nil {
			return nil, &ExportError{Causes: []error{fmt.Errorf("output %s: %w", l.name, err)}}
		}
		name := "output"
		switch {
		case i < len(x.opt.OutputNames):
			name = x.opt.OutputNames[i]
		case l.name != "" && l.name[0] >= '0' && l.name[0] <= '9':
			name = "output_" + l.name
		case l.name != "":
			name = l.name
		}
		name = x.unique(name)
		x.read(s)
		x.root.nodes = append(x.root.nodes, &onnxpb.Node{Op: "Identity", Name: name + "/Identity",
			Inputs: []string{x.name(s.v)}, Outputs: []string{name}})
		infos = append(infos, x.info(name, s))
	}
	return infos, nil
}

// info is the declaration of an input or an output.
func (x *exporter) info(name string, s *sym) onnxpb.Info {
	t := &onnxpb.Type{Kind: onnxpb.KindTensor, DataType: onnxpb.ElemOf(s.v.DType)}
	if s.v.Seq {
		t.DataType = onnxpb.Float
		return onnxpb.Info{Name: name, Type: &onnxpb.Type{Kind: onnxpb.KindSequence, Elem: t}}
	}
	if s.v.Known {
		t.HasShape = true
		var sizes [2][]int
		for i, w := range s.w {
			if w.K == tensor.KTensor {
				sizes[i] = w.T.Shape()
			}
		}
		for d, n := range s.v.Shape {
			dim := onnxpb.Dim{Value: int64(n)}
			if n < 0 {
				dim.Value = -1
				if sizes[0] != nil && sizes[1] != nil {
					dim.Param = x.dimName([2]int{sizes[0][d], sizes[1][d]}, name, d)
				}
			}
			t.Shape = append(t.Shape, dim)
		}
	}
	return onnxpb.Info{Name: name, Type: t}
}

// declare notes the dtype and the shape of a value between, which readers of the file like to know.
func (x *exporter) declare(s *sym) {
	if s.v.Name != "" && s.v.Const == nil && s.v.Known && s.v.DType != 0 && x.block == x.root {
		x.between[s.v.Name] = s
	}
}

// dimName is the name of a size: that of an input where it is the same, or one of its own.
func (x *exporter) dimName(p [2]int, value string, d int) string {
	name, ok := x.dimNames[p]
	if !ok {
		name = fmt.Sprintf("%s_dim_%d", value, d)
		x.dimNames[p] = name
	}
	return name
}

// irVersion is the version of the file format that goes with an opset.
// https://github.com/onnx/onnx/blob/main/docs/Versioning.md
func irVersion(opset int) int64 {
	switch {
	case opset <= 14:
		return 7
	case opset <= 18:
		return 8
	case opset <= 20:
		return 9
	case opset <= 22:
		return 10
	case opset <= 23:
		return 11
	}
	return 12
}

// maxMessage is the size beyond which readers of protocol buffers refuse a file.
const maxMessage = math.MaxInt32 - 1<<20
