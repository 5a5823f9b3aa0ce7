package onnx

import (
	"fmt"
	"strings"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/dtype"
	"github.com/gotorch-dev/torch/internal/onnxpb"
	"github.com/gotorch-dev/torch/tensor"
)

// node is a node while it is translated. Its methods are what rules are written with.
type node struct {
	*translator
	pb     *onnxpb.Node
	domain string
	opset  int // version of the domain
	in     []*value
	attrs  map[string]*onnxpb.Attr
}

// rule translates a node: it adds calls to the program and returns the node's results.
type rule func(n *node) []*value

// resolve finds the inputs and attributes.
func (n *node) resolve() error {
	for _, name := range n.pb.Inputs {
		if name == "" {
			n.in = append(n.in, nil)
			continue
		}
		v := n.scope.find(name)
		if v == nil {
			return fmt.Errorf("%w: input %q is computed by no node before this one", onnxpb.ErrFormat, name)
		}
		n.in = append(n.in, v)
	}
	for len(n.in) > 0 && n.in[len(n.in)-1] == nil {
		n.in = n.in[:len(n.in)-1]
	}
	n.attrs = map[string]*onnxpb.Attr{}
	for _, a := range n.pb.Attrs {
		if a.Ref != "" {
			given := n.scope.attrs[a.Ref]
			if given == nil {
				continue // an attribute that the call leaves out
			}
			b := *given
			b.Name = a.Name
			a = &b
		}
		n.attrs[a.Name] = a
	}
	return nil
}

// translate finds the node's rule and applies it.
func (n *node) translate() (outs []*value, err error) {
	defer func() {
		switch x := recover().(type) {
		case nil:
		case failure:
			err = x.err
		case *tensor.Error:
			err = x
		default:
			panic(x)
		}
	}()
	if f := n.functions[functionKey(n.domain, n.pb.Op, n.pb.Overload)]; f != nil {
		return n.function(f)
	}
	r := findRule(n.domain, n.pb.Op, n.opset)
	if r == nil {
		return nil, fmt.Errorf("%w: there is no such operator here", ErrUnsupported)
	}
	if n.hasStrings() {
		return n.stringRule(r)(n), nil
	}
	if n.foldable() {
		if outs := n.fold(r); outs != nil {
			n.keepBytes(outs)
			return outs, nil
		}
	}
	return r(n), nil
}

// foldable reports that the node's results are constants.
func (n *node) foldable() bool {
	if len(n.in) == 0 || n.pb.Op == "Bernoulli" || n.pb.Op == "Multinomial" || n.pb.Op == "Dropout" ||
		strings.HasPrefix(n.pb.Op, "Random") {
		return false
	}
	for _, v := range n.in {
		if v != nil && v.konst == nil {
			return false
		}
	}
	for _, a := range n.attrs {
		if a.G != nil || len(a.Graphs) > 0 {
			return false
		}
	}
	return true
}

// fold computes a node of constants: its translation is run as a program of its own. It is first run on tensors without
// memory, which tell the sizes of the results: these must be bounded by the file, so that results which are much larger
// than the inputs are left to be computed when the program runs. It returns nil where the node is left so.
func (n *node) fold(r rule) []*value {
	f := graph.NewFunction("fold")
	root, block := n.root, n.block
	places := make([]*graph.Value, len(n.in))
	var args, shapes []tensor.Value
	most := maxFolded
	for i, v := range n.in {
		if v == nil {
			continue
		}
		places[i], v.g = v.g, f.Body.Param("", graph.Tensor)
		args = append(args, tensor.TensorValue(v.konst))
		shapes = append(shapes, tensor.TensorValue(v.konst.To(tensor.Device{Type: tensor.MetaDevice})))
		most += 4 * v.konst.Numel()
	}
	n.root, n.block = f.Body, f.Body
	defer func() {
		n.root, n.block = root, block
		for i, v := range n.in {
			if v != nil {
				v.g = places[i]
			}
		}
	}()
	vals := r(n)
	var results []*graph.Value
	for _, v := range vals {
		if v == nil {
			continue
		}
		if v.kind != onnxpb.KindTensor {
			return nil
		}
		results = append(results, n.get(v))
	}
	f.Body.Return(results...)
	var sizes, got []tensor.Value
	var err error
	tensor.WithDevice(tensor.Device{Type: tensor.MetaDevice}, func() { sizes, err = run(f, shapes) })
	if err != nil {
		return nil
	}
	for _, x := range sizes {
		if most -= x.T.Numel(); most < 0 {
			return nil
		}
	}
	if got, err = run(f, args); err != nil {
		return nil
	}
	outs := make([]*value, len(vals))
	for i, v := range vals {
		if v != nil {
			outs[i] = constant(got[0].T, v.elem)
			got = got[1:]
		}
	}
	return outs
}

// has reports that input i is given.
func (n *node) has(i int) bool { return i < len(n.in) && n.in[i] != nil }

// T is input i, which must be given.
func (n *node) T(i int) *value {
	if !n.has(i) {
		fail("%w: input %d is missing", onnxpb.ErrFormat, i)
	}
	return n.in[i]
}

// opt is input i, nil when it is left out.
func (n *node) opt(i int) *value {
	if !n.has(i) {
		return nil
	}
	return n.in[i]
}

// wants reports that output i is used.
func (n *node) wants(i int) bool { return i < len(n.pb.Outputs) && n.pb.Outputs[i] != "" }

// args turns *value arguments, which may be nil, into those of package graph.
func (n *node) args(args []any) []any {
	out := make([]any, len(args))
	for i, a := range args {
		switch x := a.(type) {
		case *value:
			out[i] = n.get(x)
		case []*value:
			items := make([]*graph.Value, len(x))
			elem := graph.Tensor
			for j, v := range x {
				items[j] = n.get(v)
				if v == nil {
					elem = graph.OptionalOf(graph.Tensor)
				}
			}
			out[i] = n.block.List(elem, items...)
		default:
			out[i] = a
		}
	}
	return out
}

// calls adds a call; arguments are *value, []*value (a list of tensors), *graph.Value, or Go values.
func (n *node) calls(op string, args ...any) []*graph.Value {
	node := n.block.Call(op, n.args(args)...)
	if node.Operator == nil {
		unsupported("operator %s does not exist", op)
	}
	return node.Out
}

// call is the only result of calls.
func (n *node) call(op string, args ...any) *graph.Value { return n.calls(op, args...)[0] }

// tensor makes a result with elements of a type and of unknown rank.
func (n *node) tensor(g *graph.Value, elem onnxpb.DataType) *value {
	return &value{g: g, kind: onnxpb.KindTensor, elem: elem, rank: -1}
}

// same makes a result with the element type and the rank of input 0.
func (n *node) same(g *graph.Value) *value {
	v := n.tensor(g, n.T(0).elem)
	v.rank = n.T(0).rank
	return v
}

// like makes a result with the element type of input 0 and unknown rank.
func (n *node) like(g *graph.Value) *value { return n.tensor(g, n.T(0).elem) }

// sequence makes a result that is a sequence of tensors.
func (n *node) sequence(g *graph.Value, elem onnxpb.DataType) *value {
	return &value{g: g, kind: onnxpb.KindSequence, elem: elem, rank: -1}
}

func one(v *value) []*value { return []*value{v} }

// attr is an attribute of one of the given types, nil when it is left out.
func (n *node) attr(name string, t onnxpb.AttrType) *onnxpb.Attr {
	a := n.attrs[name]
	if a != nil && a.Type != t {
		fail("%w: attribute %q has type %d, want %d", onnxpb.ErrFormat, name, a.Type, t)
	}
	return a
}

func (n *node) int(name string, def int) int {
	if a := n.attr(name, onnxpb.AttrInt); a != nil {
		return int(a.I)
	}
	return def
}

func (n *node) bool(name string, def bool) bool {
	d := 0
	if def {
		d = 1
	}
	return n.int(name, d) != 0
}

func (n *node) float(name string, def float64) float64 {
	if a := n.attr(name, onnxpb.AttrFloat); a != nil {
		return float64(a.F)
	}
	return def
}

func (n *node) str(name, def string) string {
	if a := n.attr(name, onnxpb.AttrString); a != nil {
		return string(a.S)
	}
	return def
}

// ints is a list of integers, nil when it is left out.
func (n *node) ints(name string) []int {
	a := n.attr(name, onnxpb.AttrInts)
	if a == nil {
		return nil
	}
	return toInts(a.Ints)
}

// intsOr is ints, or k times x when the attribute is left out.
func (n *node) intsOr(name string, k, x int) []int {
	l := n.ints(name)
	if l == nil {
		l = make([]int, k)
		for i := range l {
			l[i] = x
		}
	}
	if len(l) != k {
		fail("%w: attribute %q has %d elements, want %d", onnxpb.ErrFormat, name, len(l), k)
	}
	return l
}

func (n *node) floats(name string) []float64 {
	a := n.attr(name, onnxpb.AttrFloats)
	if a == nil {
		return nil
	}
	out := make([]float64, len(a.Floats))
	for i, f := range a.Floats {
		out[i] = float64(f)
	}
	return out
}

func (n *node) strings(name string) []string {
	a := n.attr(name, onnxpb.AttrStrings)
	if a == nil {
		return nil
	}
	out := make([]string, len(a.Strings))
	for i, s := range a.Strings {
		out[i] = string(s)
	}
	return out
}

// graphAttr is an attribute that holds a graph.
func (n *node) graphAttr(name string) *onnxpb.Graph {
	a := n.attr(name, onnxpb.AttrGraph)
	if a == nil {
		fail("%w: attribute %q is missing", onnxpb.ErrFormat, name)
	}
	return a.G
}

// elemAttr is an attribute that names a type of elements, def when it is left out or 0.
func (n *node) elemAttr(name string, def onnxpb.DataType) onnxpb.DataType {
	if e := onnxpb.DataType(n.int(name, 0)); e != 0 {
		return e
	}
	return def
}

// dtype is the dtype for elements of a type.
func (n *node) dtype(e onnxpb.DataType) tensor.DType {
	d := onnxpb.DTypeOf(e)
	if d == dtype.Invalid {
		unsupported("elements of type %s", e)
	}
	return d
}

func toInts(l []int64) []int {
	out := make([]int, len(l))
	for i, x := range l {
		out[i] = int(x)
	}
	return out
}

// known is input i as a list of integers when it is a constant.
func (n *node) known(i int) (l []int, ok bool) {
	v := n.opt(i)
	if v == nil || v.konst == nil || !v.konst.DType().IsInt() || v.konst.Numel() > 1<<16 {
		return nil, false
	}
	return intsOf(v.konst), true
}

// intList is input i as a list of integers: a Go slice when the input is a constant, otherwise a value of the program.
// It is nil when the input is left out.
func (n *node) intList(i int) any {
	if !n.has(i) {
		return nil
	}
	if l, ok := n.known(i); ok {
		return l
	}
	return n.call("onnx::ints", n.T(i))
}

// intValue is input i, which has one element, as an integer.
func (n *node) intValue(i int) any {
	if l, ok := n.known(i); ok && len(l) == 1 {
		return l[0]
	}
	return n.call("onnx::int", n.T(i))
}

// floatValue is input i, which has one element, as a float; def when it is left out.
func (n *node) floatValue(i int, def any) any {
	if !n.has(i) {
		return def
	}
	if k := n.T(i).konst; k != nil && k.Numel() == 1 && !k.DType().IsComplex() {
		return k.Num().F
	}
	return n.call("onnx::float", n.T(i))
}

// axes is what operators take their axes from: until some version an attribute, since then input i. It is a Go slice, a
// value of the program, or nil when they are left out.
func (n *node) axes(i, since int) any {
	if n.opset >= since {
		return n.intList(i)
	}
	if l := n.ints("axes"); l != nil {
		return l
	}
	return nil
}

// intsOf reads the elements of a tensor of integers.
func intsOf(t *tensor.Tensor) []int {
	return toInts(tensor.Data[int64](t.Detach().ToDType(tensor.Int64).Contiguous()))
}

// opaque is a constant that only a helper looks into.
func (n *node) opaque(x any) *graph.Value {
	return n.root.ConstOf(tensor.AnyValue(x), graph.Any)
}
