package jit

import (
	"math"
	"slices"
	"strings"

	"github.com/gotorch-dev/torch/internal/python"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/tensor"
)

// asValue makes a value of a symbol.
func (t *translator) asValue(s symbol) *graph.Value {
	switch s := s.(type) {
	case *graph.Value:
		return s
	case manySymbol:
		return t.b().Tuple(s.vals...)
	case funcSymbol:
		return t.b().Add(&graph.Node{Op: graph.Closure, Func: s.fn.Function},
			&graph.Type{Kind: graph.FunctionType}).Out[0]
	}
	t.fail("this stands for no value")
	return nil
}

// value translates an expression that must have a value. hint is the type that is wanted, nil for any.
func (t *translator) value(e python.Expr, hint *graph.Type) *graph.Value {
	return t.asValue(t.expr(e, hint))
}

// condition translates a condition to a bool.
func (t *translator) condition(e python.Expr) *graph.Value {
	v := t.value(e, graph.Bool)
	switch v.Type.Kind {
	case graph.BoolType, graph.AnyType:
		return v
	case graph.OptionalType, graph.NoneType:
		return t.builtin1("aten::__isnot__", v, t.b().Const(nil))
	case graph.ListType, graph.StrType, graph.DictType:
		return t.builtin1("aten::gt", t.builtin1("aten::len", v), t.b().Const(0))
	}
	return t.builtin1("aten::Bool", v)
}

// expr translates an expression, which may also stand for a function or for several results.
func (t *translator) expr(e python.Expr, hint *graph.Type) symbol {
	if t.nest++; t.nest > python.MaxDepth {
		t.fail("expressions are nested more than %d deep", python.MaxDepth)
	}
	defer func() { t.nest-- }()
	switch e := e.(type) {
	case *python.Const:
		v := boxConst(e.Value)
		return t.b().ConstOf(v, graph.TypeOf(v))
	case *python.Name:
		return t.name(e)
	case *python.Attr:
		return t.attr(e)
	case *python.Call:
		t.at(e)
		return t.callExpr(e, hint)
	case *python.Index:
		return t.index(e, hint)
	case *python.Tuple:
		return t.tuple(e, hint)
	case *python.List:
		return t.list(e, hint)
	case *python.Dict:
		return t.dict(e, hint)
	case *python.Comprehension:
		return t.comprehension(e, hint)
	case *python.Binary:
		return t.binaryExpr(e)
	case *python.Compare:
		// PyTorch's reader of archives computes a chain from the left, as if it were a sum.
		v := t.value(e.L, nil)
		for i, op := range e.Ops {
			v = t.binary(op, v, t.value(e.R[i], nil))
		}
		return v
	case *python.Unary:
		return t.unary(e)
	case *python.Bool:
		return t.logical(e)
	case *python.Conditional:
		return t.ternary(e, hint)
	case *python.Format:
		return t.format(e)
	}
	t.fail("this expression is not part of the language")
	return nil
}

// format is a formatted string literal: "{}, {}".format(x, y).
func (t *translator) format(e *python.Format) symbol {
	text, args := "", []*graph.Value{nil}
	for _, p := range e.Parts {
		switch p := p.(type) {
		case *python.Const:
			text += p.Value.(string)
		case *python.FormatValue:
			if p.Conv != 0 || p.Spec != "" {
				t.fail("format specifications in formatted strings are not part of the language")
			}
			text += "{}"
			args = append(args, t.value(p.X, nil))
		}
	}
	args[0] = t.b().Const(text)
	return t.builtin1("aten::format", args...)
}

func (t *translator) name(e *python.Name) symbol {
	if s := t.sc.find(e.Name); s != nil {
		return s
	}
	t.fail("%s is not defined", e.Name)
	return nil
}

// qualified is the dotted name of an expression that does not start with a variable, "" otherwise.
func (t *translator) qualified(e python.Expr) string {
	root := e
	for {
		a, ok := root.(*python.Attr)
		if !ok {
			break
		}
		root = a.X
	}
	n, ok := root.(*python.Name)
	if !ok || t.sc.find(n.Name) != nil {
		return ""
	}
	return dotted(e)
}

func lastPart(q string) string { return q[strings.LastIndexByte(q, '.')+1:] }

// global is what a qualified name stands for: a constant, a class, a function, a member of an enumeration; nil if none.
func (t *translator) global(q string) symbol {
	switch {
	case strings.HasPrefix(q, "CONSTANTS.c"):
		v, err := t.u.constant(q)
		t.check(err)
		return t.b().ConstOf(v, graph.TypeOf(v))
	case q == "math.inf", q == "float.inf":
		return t.b().Const(math.Inf(1))
	case q == "math.nan":
		return t.b().Const(math.NaN())
	case q == "math.pi":
		return t.b().Const(math.Pi)
	case q == "math.e":
		return t.b().Const(math.E)
	}
	typ, err := t.u.typeNamed(q)
	t.check(err)
	if typ != nil {
		return typeSymbol{typ}
	}
	fn, err := t.u.funcNamed(q)
	t.check(err)
	if fn != nil {
		return funcSymbol{fn}
	}
	if i := strings.LastIndexByte(q, '.'); i > 0 {
		typ, err := t.u.typeNamed(q[:i])
		t.check(err)
		if typ != nil && typ.Kind == graph.EnumType {
			if m := typ.Class.Member(q[i+1:]); m != nil {
				return t.b().ConstOf(graph.Box(m), typ)
			}
		}
		if typ != nil && typ.Kind == graph.ClassType {
			if v, ok := typ.Class.Consts[q[i+1:]]; ok {
				return t.b().ConstOf(v, graph.TypeOf(v))
			}
			if m := t.u.funcs[q]; m != nil {
				return funcSymbol{m}
			}
		}
	}
	if strings.HasPrefix(q, "torch.") {
		if dt, ok := dtypeNames[strings.TrimPrefix(q, "torch.")]; ok {
			return t.b().Const(graph.DTypeNumber(dt))
		}
	}
	return nil
}

var dtypeNames = map[string]tensor.DType{"uint8": tensor.Uint8, "int8": tensor.Int8, "int16": tensor.Int16,
	"short": tensor.Int16, "int32": tensor.Int32, "int": tensor.Int32, "int64": tensor.Int64, "long": tensor.Int64,
	"float16": tensor.Float16, "half": tensor.Float16, "float32": tensor.Float32, "float": tensor.Float32,
	"float64": tensor.Float64, "double": tensor.Float64, "bool": tensor.Bool, "bfloat16": tensor.BFloat16,
	"complex64": tensor.Complex64, "complex128": tensor.Complex128}

// tensorAttrs are the attributes of tensors that are calls of operators.
var tensorAttrs = map[string]string{"dtype": "prim::dtype", "device": "prim::device",
	"requires_grad": "prim::requires_grad",
	"grad":          "prim::grad", "data": "prim::data", "is_cuda": "prim::is_cuda", "is_sparse": "prim::is_sparse",
	"layout": "prim::layout", "T": "aten::numpy_T", "mT": "aten::mT", "H": "aten::matrix_H", "mH": "aten::mH",
	"shape": "aten::size", "ndim": "aten::dim", "itemsize": "prim::itemsize", "nbytes": "prim::nbytes",
	"real": "aten::real", "imag": "aten::imag", "is_quantized": "prim::is_quantized", "is_meta": "prim::is_meta",
	"is_mkldnn": "prim::is_mkldnn", "is_cpu": "prim::is_cpu", "name": "prim::name"}

func (t *translator) attr(e *python.Attr) symbol {
	if q := t.qualified(e); q != "" {
		if s := t.global(q); s != nil {
			return s
		}
		t.fail("%s is not defined", q)
	}
	x := t.expr(e.X, nil)
	if ts, ok := x.(typeSymbol); ok {
		if ts.t.Kind == graph.EnumType {
			if m := ts.t.Class.Member(e.Name); m != nil {
				return t.b().ConstOf(graph.Box(m), ts.t)
			}
		}
		t.fail("%s has no member %s", ts.t.Annotation(), e.Name)
	}
	return t.getAttr(t.asValue(x), e.Name)
}

// getAttr reads an attribute of a value.
func (t *translator) getAttr(v *graph.Value, name string) symbol {
	switch v.Type.Kind {
	case graph.ClassType, graph.InterfaceType:
		c := v.Type.Class
		if c.AttrIndex(name) >= 0 {
			return t.b().GetAttr(v, name)
		}
		if k, ok := c.Consts[name]; ok {
			return t.b().ConstOf(k, graph.TypeOf(k))
		}
		if c.Methods[name] != nil || c.Wants[name] != nil {
			return boundMethod{v, name}
		}
		t.fail("%s has no attribute %s", c.Name, name)
	case graph.EnumType:
		if name == "name" || name == "value" {
			typ := graph.Str
			if name == "value" && len(v.Type.Class.Members) > 0 {
				typ = graph.TypeOf(v.Type.Class.Members[0].Value)
			}
			op := map[string]string{"name": "prim::EnumName", "value": "prim::EnumValue"}[name]
			return t.fit(t.builtin1(op, v), typ)
		}
	case graph.TupleType:
		for i, f := range v.Type.Fields {
			if f == name {
				return t.b().Index(v, i)
			}
		}
	case graph.TensorType:
		if op := tensorAttrs[name]; op != "" {
			return t.builtin1(op, v)
		}
	case graph.DeviceType:
		if name == "type" || name == "index" {
			return t.builtin1("prim::"+name, v)
		}
	case graph.AnyType:
		return t.b().Add(&graph.Node{Op: graph.GetAttr, In: []*graph.Value{v}, Attr: name}, graph.Any).Out[0]
	}
	return boundMethod{v, name}
}

func (t *translator) tuple(e *python.Tuple, hint *graph.Type) symbol {
	var items []*graph.Value
	for i, x := range e.Items {
		var h *graph.Type
		if hint != nil && hint.Kind == graph.TupleType && i < len(hint.Elems) {
			h = hint.Elems[i]
		}
		if s, ok := x.(*python.Star); ok {
			v := t.value(s.X, nil)
			if v.Type.Kind != graph.TupleType {
				t.fail("only tuples can be spread with *")
			}
			for i := range v.Type.Elems {
				items = append(items, t.b().Index(v, i))
			}
			continue
		}
		items = append(items, t.value(x, h))
	}
	return t.b().Tuple(items...)
}

func (t *translator) list(e *python.List, hint *graph.Type) symbol {
	var elem *graph.Type
	for hint != nil && hint.Kind == graph.OptionalType {
		hint = hint.Elems[0]
	}
	if hint != nil && hint.Kind == graph.ListType {
		elem = hint.Elems[0]
	}
	var items []*graph.Value
	for _, x := range e.Items {
		items = append(items, t.value(x, elem))
	}
	if elem == nil {
		for _, v := range items {
			if elem == nil {
				elem = v.Type
			} else if u := graph.Unify(elem, v.Type); u.Kind != graph.AnyType {
				elem = u
			} else if elem.Kind == graph.TensorType && isNumber(v.Type) { // converted below
				elem = v.Type
			} else if v.Type.Kind != graph.TensorType {
				elem = u
			}
		}
		if elem == nil {
			elem = graph.Tensor
		}
	}
	for i, v := range items {
		if w := t.convert(v, elem, 1); w != nil {
			items[i] = w
		}
	}
	return t.b().List(elem, items...)
}

func isNumber(t *graph.Type) bool {
	switch t.Kind {
	case graph.IntType, graph.FloatType, graph.BoolType, graph.ComplexType, graph.NumberType:
		return true
	}
	return false
}

func (t *translator) dict(e *python.Dict, hint *graph.Type) symbol {
	var key, elem *graph.Type
	if hint != nil && hint.Kind == graph.DictType {
		key, elem = hint.Elems[0], hint.Elems[1]
	}
	var items []*graph.Value
	for i := range e.Keys {
		k, v := t.value(e.Keys[i], key), t.value(e.Vals[i], elem)
		if hint == nil || hint.Kind != graph.DictType {
			if i == 0 {
				key, elem = k.Type, v.Type
			} else {
				key, elem = graph.Unify(key, k.Type), graph.Unify(elem, v.Type)
			}
		}
		items = append(items, k, v)
	}
	if key == nil {
		key, elem = graph.Str, graph.Tensor
	}
	return t.b().Dict(key, elem, items...)
}

// comprehension is a loop that appends to a list or sets the entries of a dictionary.
func (t *translator) comprehension(e *python.Comprehension, hint *graph.Type) symbol {
	if len(e.Loops) != 1 || e.Kind == python.SetComp {
		t.fail("a comprehension with several loops, or of a set, is not part of the language")
	}
	from := e.Loops[0]
	var out *graph.Value
	outer := t.sc
	t.sc = &scope{parent: outer, vars: map[string]symbol{}, types: map[string]*graph.Type{}, block: outer.block}
	defer func() { t.sc = outer }()
	it := t.iterable(from.Iter)
	if e.Key == nil {
		out = t.b().List(graph.Any)
	} else {
		out = t.b().Dict(graph.Any, graph.Any)
	}
	if hint != nil && (hint.Kind == graph.ListType || hint.Kind == graph.DictType) {
		out.Type = hint
	}
	add := func() {
		v := t.value(e.Elem, nil)
		if e.Key == nil {
			if out.Type.Elems[0].Kind == graph.AnyType {
				out.Type = graph.ListOf(v.Type)
			}
			t.builtin("aten::append", []*graph.Value{out, v}, nil)
			return
		}
		k := t.value(e.Key, nil)
		if out.Type.Elems[0].Kind == graph.AnyType {
			out.Type = graph.DictOf(k.Type, v.Type)
		}
		t.builtin("aten::_set_item", []*graph.Value{out, k, v}, nil)
	}
	body := func(x symbol) {
		t.store(from.Target, x)
		add := add
		for _, c := range slices.Backward(from.Conds) {
			then := add
			add = func() { t.branch(t.condition(c), then, func() {}) }
		}
		add()
	}
	if it.unrolled != nil {
		for _, x := range it.unrolled {
			body(x)
		}
		return out
	}
	n := &graph.Node{Op: graph.Loop, In: []*graph.Value{it.length, t.b().Const(true)}, Block: t.b()}
	c := n.NewBlock()
	i := c.Param("", graph.Int)
	t.inner(c, func() {
		body(it.item(i))
		c.Results = []*graph.Value{t.b().Const(true)}
	})
	t.b().Add(n)
	return out
}

var binaryNames = map[string]string{"+": "aten::add", "-": "aten::sub", "*": "aten::mul", "/": "aten::div",
	"//": "aten::floordiv", "%": "aten::remainder", "**": "aten::pow", "&": "aten::__and__", "|": "aten::__or__",
	"^": "aten::__xor__", "<<": "aten::__lshift__", ">>": "aten::__rshift__", "@": "aten::matmul", "<": "aten::lt",
	">": "aten::gt", "<=": "aten::le", ">=": "aten::ge", "==": "aten::eq", "!=": "aten::ne", "is": "aten::__is__",
	"is not": "aten::__isnot__"}

var binaryMethods = map[string]string{"+": "__add__", "-": "__sub__", "*": "__mul__", "/": "__truediv__",
	"//": "__floordiv__", "%": "__mod__", "**": "__pow__", "&": "__and__", "|": "__or__", "^": "__xor__",
	"<<": "__lshift__", ">>": "__rshift__", "@": "__matmul__", "<": "__lt__", ">": "__gt__", "<=": "__le__",
	">=": "__ge__", "==": "__eq__", "!=": "__ne__"}

func (t *translator) binaryExpr(e *python.Binary) symbol {
	l := t.value(e.L, nil)
	r := t.value(e.R, nil)
	if c, ok := e.L.(*python.Const); ok && (e.Op == "+" || e.Op == "-") { // 3.+2.j is one constant
		if d, ok := e.R.(*python.Const); ok {
			if z, ok := d.Value.(complex128); ok {
				if _, isText := c.Value.(string); !isText && c.Value != nil {
					if e.Op == "-" {
						z = -z
					}
					return t.b().Const(boxConst(c.Value).Num().C + z)
				}
			}
		}
	}
	return t.binary(e.Op, l, r)
}

// binary is a binary operator of the language.
func (t *translator) binary(op string, l, r *graph.Value) *graph.Value {
	switch op {
	case "in":
		return t.contains(r, l)
	case "not in":
		return t.builtin1("aten::__not__", t.contains(r, l))
	}
	if l.Type.Kind == graph.ClassType && binaryMethods[op] != "" && l.Type.Class.Methods[binaryMethods[op]] != nil {
		return t.method(l, binaryMethods[op], []*graph.Value{r}, nil)
	}
	if op == "%" && l.Type.Kind == graph.StrType {
		return t.builtin1("aten::percentFormat", l, r)
	}
	if op == "//" && l.Type.Kind == graph.TensorType {
		return t.builtin1("aten::floor_divide", l, r)
	}
	return t.builtin1(binaryNames[op], l, r)
}

func (t *translator) contains(in, x *graph.Value) *graph.Value {
	if in.Type.Kind == graph.ClassType {
		return t.method(in, "__contains__", []*graph.Value{x}, nil)
	}
	return t.builtin1("aten::__contains__", in, x)
}

func (t *translator) unary(e *python.Unary) symbol {
	if e.Op == "not" {
		return t.builtin1("aten::__not__", t.condition(e.X))
	}
	x := t.value(e.X, nil)
	switch e.Op {
	case "-":
		return t.builtin1("aten::neg", x)
	case "~":
		return t.builtin1("aten::bitwise_not", x)
	}
	return x
}

// logical is and, or: the right side is only computed when it matters.
func (t *translator) logical(e *python.Bool) symbol {
	l := t.condition(e.L)
	const name = "logical value"
	right := func() { t.sc.vars[name] = t.condition(e.R) }
	left := func() { t.sc.vars[name] = t.b().Const(e.Op == "or") }
	if e.Op == "and" {
		t.branch(l, right, left)
	} else {
		t.branch(l, left, right)
	}
	v := t.sc.vars[name].(*graph.Value)
	delete(t.sc.vars, name)
	v.Name = ""
	return v
}

func (t *translator) ternary(e *python.Conditional, hint *graph.Type) symbol {
	const name = "conditional value"
	cond := t.condition(e.Cond)
	t.branch(cond, func() { t.sc.vars[name] = t.value(e.Then, hint) },
		func() { t.sc.vars[name] = t.value(e.Other, hint) })
	v, ok := t.sc.vars[name].(*graph.Value)
	if !ok {
		t.fail("the conditional expression has no value")
	}
	delete(t.sc.vars, name)
	v.Name = ""
	return v
}

// constantInt is the value of an int constant.
func constantInt(v *graph.Value) (int, bool) {
	if v.Node != nil && v.Node.Op == graph.Constant && v.Node.Const.K == tensor.KInt {
		return int(v.Node.Const.N), true
	}
	return 0, false
}

// index is x[i]. hint is the interface that the elements of a module with modules have where that is written.
func (t *translator) index(e *python.Index, hint *graph.Type) symbol {
	x := t.value(e.X, nil)
	if x.Type.Kind == graph.TensorType {
		return t.indexTensor(x, e.Subs)
	}
	if len(e.Subs) != 1 {
		t.fail("a value of type %s has one index", x.Type)
	}
	if s, ok := e.Subs[0].(*python.Slice); ok {
		return t.slice(x, s)
	}
	i := t.value(e.Subs[0], nil)
	switch x.Type.Kind {
	case graph.TupleType:
		if len(x.Type.Elems) == 0 {
			t.fail("an empty tuple has no elements")
		}
		n, ok := constantInt(i)
		if !ok { // of a tuple whose elements have one type
			elem := x.Type.Elems[0]
			for _, e := range x.Type.Elems[1:] {
				elem = graph.Unify(elem, e)
			}
			return t.fit(t.builtin1("gotorch::tuple_index", x, i), elem)
		}
		if n < 0 {
			n += len(x.Type.Elems)
		}
		if n < 0 || n >= len(x.Type.Elems) {
			t.fail("index %d of a tuple of %d is out of range", n, len(x.Type.Elems))
		}
		return t.b().Index(x, n)
	case graph.ClassType, graph.InterfaceType:
		if c := x.Type.Class; c.Module && c.Methods["__getitem__"] == nil {
			return t.submodule(x, i, hint)
		}
		return t.method(x, "__getitem__", []*graph.Value{i}, nil)
	}
	return t.builtin1("aten::__getitem__", x, i)
}

// submodule is an element of a ModuleList or a ModuleDict whose number or name is known only when the program runs. Its
// type is an interface that all elements have.
func (t *translator) submodule(x, i *graph.Value, hint *graph.Type) *graph.Value {
	if hint == nil {
		hint = graph.Any
	}
	var items []*graph.Value
	for _, a := range x.Type.Class.Attrs {
		if a.Type.Class == nil || !a.Type.Class.Module && a.Type.Kind != graph.InterfaceType {
			continue
		}
		if i.Type.Kind == graph.StrType {
			items = append(items, t.b().Const(a.Name))
		}
		items = append(items, t.b().GetAttr(x, a.Name))
	}
	if i.Type.Kind != graph.StrType {
		return t.fit(t.builtin1("aten::__getitem__", t.b().List(hint, items...), i), hint)
	}
	d := t.b().Add(&graph.Node{Op: graph.DictConstruct, In: items}, graph.DictOf(graph.Str, hint)).Out[0]
	return t.fit(t.builtin1("aten::__getitem__", d, i), hint)
}

// bound is a bound of a slice, None when it is left out.
func (t *translator) bound(e python.Expr) *graph.Value {
	if e == nil {
		return t.b().Const(nil)
	}
	return t.value(e, nil)
}

func (t *translator) slice(x *graph.Value, s *python.Slice) symbol {
	lo, hi := t.bound(s.Lo), t.bound(s.Hi)
	step := t.b().Const(1)
	if s.Step != nil {
		step = t.value(s.Step, nil)
	}
	if x.Type.Kind != graph.TupleType {
		return t.builtin1("aten::slice", x, lo, hi, step)
	}
	n := len(x.Type.Elems)
	from, to, by := 0, n, 1
	for _, p := range []struct {
		v   *graph.Value
		set *int
	}{{lo, &from}, {hi, &to}, {step, &by}} {
		if p.v.Type.Kind == graph.NoneType {
			continue
		}
		k, ok := constantInt(p.v)
		if !ok {
			t.fail("the bounds of a slice of a tuple must be constants")
		}
		if k < 0 && p.set != &by {
			k = max(0, k+n)
		}
		*p.set = min(k, n)
	}
	if by < 1 {
		t.fail("the step of a slice of a tuple must be positive")
	}
	var items []*graph.Value
	for i := from; i < to; i += by {
		items = append(items, t.b().Index(x, i))
	}
	return t.b().Tuple(items...)
}

// indexTensor is x[i, 1:2, None, ...].
func (t *translator) indexTensor(x *graph.Value, subs []python.Expr) *graph.Value {
	dim := 0
	var tensors []*graph.Value
	for k, s := range subs {
		if n, ok := s.(*python.Name); ok && n.Name == "..." {
			left := 0
			for _, r := range subs[k+1:] {
				if c, ok := r.(*python.Const); !ok || c.Value != nil {
					left++
				}
			}
			dim = -left
			continue
		}
		if sl, ok := s.(*python.Slice); ok {
			step := t.b().Const(1)
			if sl.Step != nil {
				step = t.value(sl.Step, nil)
			}
			x = t.builtin1("aten::slice", x, t.b().Const(dim), t.bound(sl.Lo), t.bound(sl.Hi), step)
			dim++
			continue
		}
		i := t.value(s, nil)
		switch i.Type.Kind {
		case graph.NoneType:
			x = t.builtin1("aten::unsqueeze", x, t.b().Const(dim))
			dim++
		case graph.IntType:
			x = t.builtin1("aten::select", x, t.b().Const(dim), i)
			if dim < 0 {
				dim++
			}
		default:
			if dim < 0 {
				t.fail("a tensor as an index after ... is not supported")
			}
			for len(tensors) < dim {
				tensors = append(tensors, t.fit(t.b().Const(nil), graph.OptionalOf(graph.Tensor)))
			}
			if i.Type.Kind == graph.ListType {
				i = t.builtin1("aten::tensor", i)
			}
			tensors = append(tensors, i)
			dim++
		}
	}
	if tensors != nil {
		return t.builtin1("aten::index", x, t.b().List(graph.OptionalOf(graph.Tensor), tensors...))
	}
	return x
}

// storeIndex is x[i] = v.
func (t *translator) storeIndex(e *python.Index, v *graph.Value) {
	x := t.value(e.X, nil)
	switch x.Type.Kind {
	case graph.TensorType:
		var lists bool
		for _, s := range e.Subs {
			if _, ok := s.(*python.Slice); ok {
				continue
			}
			if k := t.value(s, nil).Type.Kind; k == graph.TensorType || k == graph.ListType {
				lists = true
			}
		}
		if lists && len(e.Subs) == 1 {
			if v.Type.Kind != graph.TensorType {
				v = t.builtin1("aten::tensor", v)
			}
			t.builtin("aten::index_put_", []*graph.Value{x, t.b().List(graph.OptionalOf(graph.Tensor),
				t.value(e.Subs[0], nil)), v}, nil)
			return
		}
		part := t.indexTensor(x, e.Subs)
		if v.Type.Kind == graph.TensorType {
			t.builtin("aten::copy_", []*graph.Value{part, v}, nil)
		} else {
			t.builtin("aten::fill_", []*graph.Value{part, v}, nil)
		}
	case graph.ClassType, graph.InterfaceType:
		t.method(x, "__setitem__", []*graph.Value{t.value(e.Subs[0], nil), v}, nil)
	default:
		if len(e.Subs) != 1 {
			t.fail("a value of type %s has one index", x.Type)
		}
		t.builtin("aten::_set_item", []*graph.Value{x, t.value(e.Subs[0], nil), v}, nil)
	}
}
