package onnx

import (
	"strings"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/onnxform"
	"github.com/gotorch-dev/torch/tensor"
)

// This file has the forms of what TorchScript computes with numbers and lists, as far as these are known only when the
// file runs: sizes, elements of tensors, and what follows from them. Ints are int64, floats float64 without dimensions.

// numberForms are the forms of helpers by name without overload. The arguments have one dtype unless noted.
var numberForms = map[string]func(c *onnxform.Call, dt tensor.DType) *onnxform.Value{
	"aten::add": binary("Add"), "aten::sub": binary("Sub"), "aten::mul": binary("Mul"), "aten::pow": binary("Pow"),
	"prim::min": binary("Min"), "prim::max": binary("Max"), "aten::neg": unary("Neg"), "prim::abs": unary("Abs"),
	"aten::eq": compare("Equal"), "aten::lt": compare("Less"), "aten::le": compare("LessOrEqual"),
	"aten::gt": compare("Greater"), "aten::ge": compare("GreaterOrEqual"),
	"aten::ne": func(c *onnxform.Call, dt tensor.DType) *onnxform.Value {
		return c.Node("Not", nil, compare("Equal")(c, dt))
	},
	"aten::__not__": unary("Not"), "aten::__and__": binary("And"), "aten::__or__": binary("Or"),
	"aten::sqrt": unary("Sqrt"), "aten::exp": unary("Exp"), "aten::log": unary("Log"),
	"aten::ceil": unary("Ceil"), "aten::floor": unary("Floor"), "aten::round": unary("Round"),
	"aten::Int": unary(""), "aten::Float": unary(""), "aten::Bool": unary(""), "aten::ScalarImplicit": unary(""),
	"aten::div": func(c *onnxform.Call, _ tensor.DType) *onnxform.Value {
		return c.Node("Div", nil, c.Num(0, tensor.Float64), c.Num(1, tensor.Float64))
	},
	"aten::floordiv":  floorDiv,
	"aten::remainder": remainder,
	"aten::__range_length": func(c *onnxform.Call, dt tensor.DType) *onnxform.Value {
		lo, hi, step := c.Num(0, dt), c.Num(1, dt), c.Num(2, dt)
		span := c.Node("Sub", nil, c.Node("Add", nil, c.Node("Sub", nil, hi, lo), step), c.Scalar(1, dt))
		return c.Node("Max", nil, c.Node("Div", nil, span, step), c.Scalar(0, dt))
	},
	"aten::__derive_index": func(c *onnxform.Call, dt tensor.DType) *onnxform.Value {
		return c.Node("Add", nil, c.Num(1, dt), c.Node("Mul", nil, c.Num(0, dt), c.Num(2, dt)))
	},
}

func unary(op string) func(*onnxform.Call, tensor.DType) *onnxform.Value {
	return func(c *onnxform.Call, dt tensor.DType) *onnxform.Value {
		if op == "" {
			return c.Num(0, 0)
		}
		return c.Node(op, nil, c.Num(0, dt))
	}
}

func binary(op string) func(*onnxform.Call, tensor.DType) *onnxform.Value {
	return func(c *onnxform.Call, dt tensor.DType) *onnxform.Value {
		return c.Node(op, nil, c.Num(0, dt), c.Num(1, dt))
	}
}

func compare(op string) func(*onnxform.Call, tensor.DType) *onnxform.Value {
	return func(c *onnxform.Call, dt tensor.DType) *onnxform.Value {
		return c.Node(op, nil, c.Num(0, dt), c.Num(1, dt)).Typed(tensor.Bool)
	}
}

// remainder is Python's %: its sign is the divisor's, as that of ONNX's Mod for integers.
func remainder(c *onnxform.Call, dt tensor.DType) *onnxform.Value {
	if dt != tensor.Float64 {
		return c.Node("Mod", nil, c.Num(0, dt), c.Num(1, dt))
	}
	return c.Node("Sub", nil, c.Num(0, dt), c.Node("Mul", nil, floorDiv(c, dt), c.Num(1, dt)))
}

// floorDiv is Python's //: (a - a mod b) / b, which is exact for integers.
func floorDiv(c *onnxform.Call, dt tensor.DType) *onnxform.Value {
	if dt == tensor.Float64 {
		return c.Node("Floor", nil, c.Node("Div", nil, c.Num(0, dt), c.Num(1, dt)))
	}
	return c.Node("Div", nil, c.Node("Sub", nil, c.Num(0, dt), remainder(c, dt)), c.Num(1, dt))
}

// dtypeOf is the dtype of a number of the program.
func dtypeOf(v tensor.Value) tensor.DType {
	switch v.K {
	case tensor.KFloat:
		return tensor.Float64
	case tensor.KBool:
		return tensor.Bool
	}
	return tensor.Int64
}

// number exports a helper that computes a number; w is what it is in the two worlds.
func (x *exporter) number(op *graph.Operator, in []tensor.Value, which int, w [2]tensor.Value) tensor.Value {
	form := numberForms[op.Name]
	if form == nil || which > 0 || w[0].K != tensor.KInt && w[0].K != tensor.KFloat && w[0].K != tensor.KBool {
		x.lacks(op.FullName())
		return w[0]
	}
	c := &onnxform.Call{Writer: x, Op: op.FullName(), Opset: x.opt.Opset, Args: x.args(op, in)}
	if len(in) == 1 && isList(in[0]) { // the largest of a list
		items, _ := graph.ItemsOf(in[0])
		c.Args = x.args(op, items)
	}
	dt := tensor.Bool // the widest of the arguments'
	for _, a := range c.Args {
		d := dtypeOf(a)
		if v, ok := a.X.(*onnxform.Value); ok {
			d = v.DType
		}
		if d.IsFloat() {
			d = tensor.Float64
		}
		if d == tensor.Float64 || dt == tensor.Bool {
			dt = d
		}
	}
	s := &sym{num: true, w: w, block: x.block}
	err := x.try(func() {
		v := form(c, dt)
		for len(c.Args) > 2 && (op.Name == "prim::min" || op.Name == "prim::max") {
			c.Args = append([]tensor.Value{tensor.AnyValue(v)}, c.Args[2:]...)
			v = form(c, dt)
		}
		if want := dtypeOf(w[0]); v.DType != want {
			v = c.Cast(v.Shaped(), want)
		}
		s.v = v.Shaped()
	})
	if err != nil {
		panic(onnxform.Failure{Err: x.failed(op.FullName(), err)})
	}
	return graph.Box(s)
}

type helperForm func(x *exporter, op *graph.Operator, in []tensor.Value) []tensor.Value

// helpers are the forms of operators that turn tensors into numbers and back, and of those on lists that may be
// sequences of the file.
var helpers map[string]helperForm

func init() {
	helpers = map[string]helperForm{
		"aten::size": sizes, "prim::shape": sizes, "aten::sym_size": sizes,
		"aten::size.int": oneSize, "aten::sym_size.int": oneSize, "aten::len.Tensor": oneSize,
		"aten::numel": numel, "aten::sym_numel": numel,
		"prim::device": func(*exporter, *graph.Operator, []tensor.Value) []tensor.Value {
			return []tensor.Value{tensor.DeviceValue(tensor.Device{})}
		},
		"prim::NumToTensor.Scalar": toTensor, "prim::NumToTensor.bool": toTensor, "aten::scalar_tensor": toTensor,
		"aten::_list_to_tensor": listToTensor, "aten::tensor": listToTensor,
		"prim::VarStack": func(x *exporter, _ *graph.Operator, in []tensor.Value) []tensor.Value {
			return x.call(graph.Lookup("aten::stack"), []tensor.Value{graph.NewList(graph.Tensor, in[:len(in)-1]...),
				in[len(in)-1]})
		},
		"prim::VarConcat": func(x *exporter, _ *graph.Operator, in []tensor.Value) []tensor.Value {
			return x.call(graph.Lookup("aten::cat"), []tensor.Value{graph.NewList(graph.Tensor, in[:len(in)-1]...),
				in[len(in)-1]})
		},
		"aten::to.prim_Device": func(x *exporter, _ *graph.Operator, in []tensor.Value) []tensor.Value {
			return x.toDType(in[0], in[2])
		},
		"aten::to.prim_dtype": func(x *exporter, _ *graph.Operator, in []tensor.Value) []tensor.Value {
			return x.toDType(in[0], in[1])
		},
		"aten::to.prim_other": func(_ *exporter, _ *graph.Operator, in []tensor.Value) []tensor.Value { return in[:1] },
		"aten::cpu":           func(_ *exporter, _ *graph.Operator, in []tensor.Value) []tensor.Value { return in[:1] },
		"aten::append.t":      appendItem,
		"aten::__getitem__.t": getItem,
		"aten::len.t":         length,
		"aten::cat":           joined("aten::cat"), "aten::stack": joined("aten::stack"),
	}
	for _, t := range []string{"float", "int", "bool", "complex"} {
		helpers["aten::tensor."+t] = toTensor
	}
	for name, kind := range map[string]tensor.Kind{"aten::Int.Tensor": tensor.KInt, "aten::Float.Tensor": tensor.KFloat,
		"aten::Bool.Tensor": tensor.KBool, "aten::IntImplicit": tensor.KInt, "aten::FloatImplicit": tensor.KFloat,
		"aten::ScalarImplicit": 0, "aten::item": 0, "aten::_local_scalar_dense": 0, "aten::is_nonzero": tensor.KBool} {
		helpers[name] = func(x *exporter, op *graph.Operator, in []tensor.Value) []tensor.Value {
			return []tensor.Value{x.element(in[0], kind)}
		}
	}
}

func (x *exporter) toDType(v, dtype tensor.Value) []tensor.Value {
	if dtype.K == tensor.KNone {
		return []tensor.Value{v}
	}
	return x.call(graph.Lookup("aten::to.dtype"), []tensor.Value{v, dtype, tensor.BoolValue(false),
		tensor.BoolValue(false), {}})
}

func tensorArg(in []tensor.Value) *sym {
	s, ok := in[0].X.(*sym)
	if !ok || s.num {
		stop("a tensor is wanted")
	}
	return s
}

// size is one size of a tensor.
func (x *exporter) size(s *sym, d int) tensor.Value {
	v := x.read(s)
	if !v.Known {
		stop("the number of dimensions is not known")
	}
	if n := v.Shape[d]; n >= 0 {
		return tensor.IntValue(n)
	}
	c := &onnxform.Call{Writer: x, Opset: x.opt.Opset}
	n := &sym{num: true, v: c.SizeOf(v, d).(*onnxform.Value), block: x.block}
	for i := range n.w {
		n.w[i] = tensor.IntValue(s.w[i].T.Shape()[d])
	}
	return graph.Box(n)
}

func sizes(x *exporter, _ *graph.Operator, in []tensor.Value) []tensor.Value {
	s := tensorArg(in)
	items := make([]tensor.Value, max(s.v.Rank(), 0))
	for d := range items {
		items[d] = x.size(s, d)
	}
	return []tensor.Value{graph.NewList(graph.Int, items...)}
}

func oneSize(x *exporter, op *graph.Operator, in []tensor.Value) []tensor.Value {
	s := tensorArg(in)
	d := 0
	if len(in) > 1 {
		d = int(in[1].N)
	}
	if d < 0 {
		d += s.v.Rank()
	}
	if d < 0 || d >= s.v.Rank() {
		stop("%s: there is no dimension %d among %d", op.FullName(), d, s.v.Rank())
	}
	return []tensor.Value{x.size(s, d)}
}

func numel(x *exporter, _ *graph.Operator, in []tensor.Value) []tensor.Value {
	s := tensorArg(in)
	v := x.read(s)
	if v.Static() {
		n := 1
		for _, d := range v.Shape {
			n *= d
		}
		return []tensor.Value{tensor.IntValue(n)}
	}
	n := &sym{num: true, v: x.Emit("", "Size", nil, 1, []*onnxform.Value{v})[0].Typed(tensor.Int64).Shaped(),
		block: x.block}
	for i := range n.w {
		if s.w[i].K == tensor.KTensor {
			n.w[i] = tensor.IntValue(s.w[i].T.Numel())
		} else {
			n.w = standIn(tensor.IntValue(17))
		}
	}
	return []tensor.Value{graph.Box(n)}
}

// element is the element of a tensor that has one, as a number.
func (x *exporter) element(v tensor.Value, kind tensor.Kind) tensor.Value {
	s, ok := v.X.(*sym)
	if !ok {
		return v
	}
	f := x.read(s)
	if f.Folds() && f.Const.Numel() == 1 {
		n := f.Const.Num()
		switch kind {
		case tensor.KInt:
			return tensor.Value{K: tensor.KInt, N: n.I}
		case tensor.KFloat:
			return tensor.FloatValue(n.F)
		case tensor.KBool:
			return tensor.BoolValue(n.F != 0)
		}
		return n.Value()
	}
	dt := map[tensor.Kind]tensor.DType{tensor.KInt: tensor.Int64, tensor.KFloat: tensor.Float64,
		tensor.KBool: tensor.Bool}[kind]
	if kind == 0 {
		switch {
		case f.DType.IsFloat():
			dt = tensor.Float64
		case f.DType == tensor.Bool:
			dt = tensor.Bool
		default:
			dt = tensor.Int64
		}
	}
	n := &sym{num: true, v: x.scalar(v, dt), block: x.block}
	switch dt {
	case tensor.Int64:
		p := x.freshDim()
		n.w = [2]tensor.Value{tensor.IntValue(p[0]), tensor.IntValue(p[1])}
		if s.num || numberWorlds(s, &n.w) {
			break
		}
	case tensor.Float64:
		n.w = standIn(tensor.FloatValue(1.5))
	default:
		n.w = standIn(tensor.BoolValue(true))
	}
	return graph.Box(n)
}

// numberWorlds takes over what is known of a number that was put into a tensor, as a trace does with sizes.
func numberWorlds(s *sym, to *[2]tensor.Value) bool {
	if s.holds == nil {
		return false
	}
	*to = *s.holds
	return true
}

// toTensor makes a tensor of a number.
func toTensor(x *exporter, op *graph.Operator, in []tensor.Value) []tensor.Value {
	s := x.lift(in[0])
	dt := s.v.DType
	if dt == tensor.Float64 {
		dt = tensor.DefaultDType()
	}
	if len(in) > 1 && in[1].K == tensor.KInt && op.Name != "prim::NumToTensor" {
		d, err := graph.DTypeOf(int(in[1].N))
		if err != nil {
			panic(onnxform.Failure{Err: err})
		}
		dt = d
	}
	t := &sym{v: x.cast(x.read(s), dt), block: x.block}
	v := *t.v
	t.v = v.Shaped()
	m := tensor.TensorValue(meta([]int{}, dt))
	t.w = [2]tensor.Value{m, m}
	if s.num && dt == tensor.Int64 {
		w := s.w
		t.holds = &w
	}
	return []tensor.Value{graph.Box(t)}
}

// listToTensor makes a tensor of a list of numbers.
func listToTensor(x *exporter, op *graph.Operator, in []tensor.Value) []tensor.Value {
	items, ok := graph.ItemsOf(in[0])
	if !ok {
		return toTensor(x, op, in)
	}
	var dt tensor.DType
	for _, e := range items {
		if isList(e) {
			x.lacks(op.FullName())
			return []tensor.Value{{}}
		}
		d := x.lift(e).v.DType
		if d == tensor.Float64 {
			d = tensor.DefaultDType()
		}
		if dt == 0 {
			dt = d
		} else {
			dt = tensor.PromoteTypes(dt, d)
		}
	}
	if len(in) > 1 && in[1].K == tensor.KInt {
		if d, err := graph.DTypeOf(int(in[1].N)); err == nil {
			dt = d
		}
	}
	c := &onnxform.Call{Writer: x, Opset: x.opt.Opset}
	var parts []*onnxform.Value
	for _, e := range items {
		parts = append(parts, c.Unsqueeze(x.scalar(e, dt), 0))
	}
	v := *c.Concat(0, parts...)
	s := &sym{v: v.Typed(dt).Shaped(len(items)), block: x.block}
	x.imagine(s)
	return []tensor.Value{graph.Box(s)}
}

// sequence is the sequence of the file that a list is, nil when it is a list of the program.
func (x *exporter) sequence(v tensor.Value) *sym {
	l, _ := v.X.(*graph.List)
	return x.seqs[l]
}

func appendItem(x *exporter, op *graph.Operator, in []tensor.Value) []tensor.Value {
	s := x.sequence(in[0])
	if s == nil {
		return x.helper(op, in)
	}
	e := x.lift(in[1])
	out := x.Emit("", "SequenceInsert", nil, 1, []*onnxform.Value{s.v, x.cast(x.read(e), s.v.DType)})[0]
	v := *s.v
	v.Name = out.Name
	n := &sym{v: &v, w: s.w, num: s.num, block: x.block}
	x.seqs[in[0].X.(*graph.List)] = n
	return in[:1]
}

func getItem(x *exporter, op *graph.Operator, in []tensor.Value) []tensor.Value {
	s := x.sequence(in[0])
	if s == nil {
		return x.helper(op, in)
	}
	out := x.Emit("", "SequenceAt", nil, 1, []*onnxform.Value{s.v, x.scalar(in[1], tensor.Int64)})[0]
	e := &sym{v: out.Typed(s.v.DType), w: s.w, num: s.num, block: x.block}
	if s.num {
		e.v.Shaped()
	} else {
		x.facts(e)
	}
	return []tensor.Value{graph.Box(e)}
}

func length(x *exporter, op *graph.Operator, in []tensor.Value) []tensor.Value {
	s := x.sequence(in[0])
	if s == nil {
		return x.helper(op, in)
	}
	out := x.Emit("", "SequenceLength", nil, 1, []*onnxform.Value{s.v})[0].Typed(tensor.Int64).Shaped()
	return []tensor.Value{graph.Box(&sym{num: true, v: out, w: standIn(tensor.IntValue(2)), block: x.block})}
}

// joined exports cat and stack of a list that is a sequence of the file.
func joined(name string) helperForm {
	stack := strings.HasSuffix(name, "stack")
	return func(x *exporter, op *graph.Operator, in []tensor.Value) []tensor.Value {
		s := x.sequence(in[0])
		if s == nil {
			return x.call(op, in)
		}
		attrs := onnxform.A{"axis": int(in[1].N), "new_axis": stack}
		out := x.Emit("", "ConcatFromSequence", attrs, 1, []*onnxform.Value{s.v})[0].Typed(s.v.DType)
		r := &sym{v: out, block: x.block}
		if s.w[0].K == tensor.KTensor && s.w[1].K == tensor.KTensor && len(s.w[0].T.Shape()) == len(s.w[1].T.Shape()) {
			p := x.freshDim()
			for i := range r.w {
				shape := append([]int(nil), s.w[i].T.Shape()...)
				d := int(in[1].N)
				if d < 0 {
					d += len(shape)
					if stack {
						d++
					}
				}
				if stack {
					shape = append(shape[:d], append([]int{p[i]}, shape[d:]...)...)
				} else {
					shape[d] = p[i]
				}
				r.w[i] = tensor.TensorValue(meta(shape, s.v.DType))
			}
			x.facts(r)
		}
		return []tensor.Value{graph.Box(r)}
	}
}
