package export

import (
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/tensor"
)

// nodes writes the nodes of the present graph.
func (w *exporter) nodes() error {
	for _, n := range w.block.Nodes {
		if err := w.node(n); err != nil {
			where := ""
			if n.Scope != nil && n.Scope.Path != "" {
				where = " in module " + n.Scope.String()
			}
			if p := n.Pos.String(); p != "" {
				where += " at " + p
			}
			return fmt.Errorf("export: %s%s: %w", n.Op, where, err)
		}
	}
	return nil
}

func (w *exporter) node(n *graph.Node) error {
	switch n.Op {
	case graph.GetAttr, graph.Constant: // where they are read
		return nil
	case graph.ListConstruct:
		w.lists[n.Out[0]] = n.In
		return nil
	case graph.ListUnpack: // part of the node whose list it is
		return nil
	case "aten::size.int":
		return w.size(n)
	case "aten::Bool.Tensor":
		w.truths[n.Out[0]] = n.In[0]
		return nil
	case graph.If:
		return w.ifNode(n)
	case graph.Loop:
		return w.loopNode(n)
	}
	if len(n.Out) == 1 && len(n.In) > 0 && isNumber(n.Out[0].Type) && n.Operator != nil && n.Operator.Op() == nil {
		return w.arithmetic(n)
	}
	if n.Operator == nil || n.Operator.Op() == nil || len(n.Blocks) > 0 {
		return fmt.Errorf("%w: torch.export has no form for it", ErrUnsupported)
	}
	namespace, rest, _ := strings.Cut(n.Op, "::")
	switch namespace {
	case "gotorch", "Tensor", "torch", "F":
		return fmt.Errorf("%w: the operator exists here only", ErrUnsupported)
	}
	short, overload, named := strings.Cut(rest, ".")
	if !named {
		overload = "default"
	}
	out := nodeJSON{Target: "torch.ops." + namespace + "." + short + "." + overload, Inputs: []namedArgument{},
		Outputs: []argument{}, Metadata: scopeText(n.Scope)}
	sch := n.Operator.Op().Sch
	last := -1 // the last argument by position that is not left out
	for i, v := range n.In {
		if p := &sch.Params[i]; !p.KwOnly && !w.isDefault(v, p) {
			last = i
		}
	}
	for i, v := range n.In {
		p := &sch.Params[i]
		if p.Writes && w.up != nil && v.Type.Kind == graph.TensorType && !w.owns(v) {
			return fmt.Errorf("%w: argument '%s' is a tensor from outside of a branch or loop, which torch.cond and "+
				"torch.while_loop do not write to", ErrUnsupported, p.Name)
		}
		if i > last && w.isDefault(v, p) {
			continue
		}
		a, err := w.argument(v, p)
		if err != nil {
			return fmt.Errorf("argument '%s': %w", p.Name, err)
		}
		kind := positional
		if p.KwOnly {
			kind = keywordArg
		}
		out.Inputs = append(out.Inputs, namedArgument{p.Name, a, kind})
	}
	for i, v := range n.Out {
		a, err := w.result(v, short, &sch.Results[i])
		if err != nil {
			return err
		}
		out.Outputs = append(out.Outputs, a)
	}
	out.Name = w.unique(short)
	if len(n.Out) == 1 && out.Outputs[0].key == "as_tensor" { // a node is called as its result
		delete(w.names, out.Name)
		out.Name = w.values[n.Out[0]]
	}
	return w.add(&out)
}

func (w *exporter) add(n *nodeJSON) error {
	b, err := json.Marshal(n)
	w.json.Nodes = append(w.json.Nodes, b)
	return err
}

// scopeText is nn_module_stack: the modules around a node, from the outermost.
func scopeText(s *graph.Scope) map[string]string {
	var parts []string
	last := ""
	for ; s != nil; s = s.Parent {
		key := "L__self__"
		if s.Path != "" {
			key += strings.ReplaceAll(s.Path, ".", "_")
		}
		text := key + "," + s.Path + "," + s.Class
		if text != last && s.Class != "" {
			parts = append(parts, text)
		}
		last = text
	}
	if parts == nil {
		return map[string]string{}
	}
	slices.Reverse(parts)
	return map[string]string{"nn_module_stack": strings.Join(parts, ";")}
}

func isNumber(t *graph.Type) bool {
	return t.Kind == graph.IntType || t.Kind == graph.FloatType || t.Kind == graph.BoolType ||
		t.Kind == graph.NumberType
}

// constOf is the value of a constant; ok is false for what is computed.
func (w *exporter) constOf(v *graph.Value) (c tensor.Value, ok bool) {
	if v.Node == nil || v.Node.Op != graph.Constant || v.Node.Const.K == tensor.KTensor {
		return c, false
	}
	return graph.Normal(v.Node.Const), true
}

// isDefault reports an argument that PyTorch would leave out.
func (w *exporter) isDefault(v *graph.Value, p *tensor.Param) bool {
	c, ok := w.constOf(v)
	if !ok || p.Default == nil {
		return false
	}
	if p.Kind == tensor.KGenerator { // the program draws from the default generator
		return true
	}
	d := graph.Normal(*p.Default)
	if c.K == tensor.KNone || d.K == tensor.KNone {
		return c.K == d.K
	}
	return graph.Equal(c, d)
}

// argument writes an argument by the kind of its parameter.
func (w *exporter) argument(v *graph.Value, p *tensor.Param) (argument, error) {
	if items, ok := w.lists[v]; ok {
		return w.list(items, p)
	}
	c, constant := w.constOf(v)
	switch {
	case !constant && (v.Type.Kind == graph.TensorType || v.Type.Kind == graph.AnyType && w.values[v] != ""):
		return tensorArg(w.name(v)), nil
	case !constant && isNumber(v.Type):
		return w.numberArg(v)
	case !constant:
		return argument{}, fmt.Errorf("%w: a value of type %s", ErrUnsupported, v.Type)
	case c.K == tensor.KNone:
		return arg("as_none", true), nil
	}
	switch p.Kind {
	case tensor.KDType:
		d, err := graph.DTypeOf(int(c.N))
		if err != nil {
			return argument{}, err
		}
		if n := dtypeNumber(d); n != 0 {
			return arg("as_scalar_type", n), nil
		}
		return argument{}, fmt.Errorf("%w: dtype %s", ErrUnsupported, d.Name())
	case tensor.KLayout:
		return arg("as_layout", stridedLayout), nil
	case tensor.KFormat:
		return arg("as_memory_format", slices.Index(memoryFormats[:], int(c.N))+1), nil
	case tensor.KDevice:
		return arg("as_device", deviceJSON{Type: "cpu"}), nil
	}
	if items, ok := graph.ItemsOf(c); ok {
		values := make([]*graph.Value, len(items))
		for i, e := range items {
			values[i] = &graph.Value{Node: &graph.Node{Op: graph.Constant, Const: e}, Type: graph.TypeOf(e)}
		}
		return w.list(values, p)
	}
	if (p.Kind == tensor.KInts || p.Kind == tensor.KFloats) && c.K != tensor.KStr { // one number for all
		return w.list([]*graph.Value{v}, p)
	}
	return number1(c, p.Kind)
}

// number1 writes a number, a bool or a string.
func number1(c tensor.Value, k tensor.Kind) (argument, error) {
	switch {
	case c.K == tensor.KStr:
		return arg("as_string", c.X), nil
	case c.K == tensor.KBool:
		return arg("as_bool", c.N != 0), nil
	case k == tensor.KBool && c.K == tensor.KInt:
		return arg("as_bool", c.N != 0), nil
	case c.K == tensor.KInt && k != tensor.KFloat:
		return arg("as_int", c.N), nil
	case c.K == tensor.KInt || c.K == tensor.KFloat:
		return arg("as_float", number(c.Num().F)), nil
	case c.K == tensor.KComplex:
		z := c.Num().C
		return arg("as_complex", map[string]number{"real": number(real(z)), "imag": number(imag(z))}), nil
	}
	return argument{}, fmt.Errorf("%w: a constant %s", ErrUnsupported, graph.Text(c))
}

// list writes a list by the kind of its parameter.
func (w *exporter) list(items []*graph.Value, p *tensor.Param) (argument, error) {
	if p.Kind == tensor.KTensors {
		var plain []nameJSON
		optional := []argument{}
		for _, v := range items {
			if c, ok := w.constOf(v); ok && c.K == tensor.KNone {
				optional = append(optional, arg("as_none", true))
				continue
			}
			name := w.name(v)
			plain = append(plain, nameJSON{name})
			optional = append(optional, tensorArg(name))
		}
		if p.ElemOpt {
			return arg("as_optional_tensors", optional), nil
		}
		if plain == nil {
			plain = []nameJSON{}
		}
		return arg("as_tensors", plain), nil
	}
	ints, floats, bools, sym := []int64{}, []number{}, []bool{}, []map[string]any{}
	varies := false
	for _, v := range items {
		c, ok := w.constOf(v)
		if !ok {
			a, err := w.numberArg(v)
			if err == nil && p.Kind != tensor.KInts {
				err = fmt.Errorf("%w: a list of other numbers than ints that varies", ErrUnsupported)
			}
			if err != nil {
				return argument{}, err
			}
			varies = true
			var s map[string]any
			if a.key == "as_int" {
				s = map[string]any{"as_int": a.raw}
			} else if err := a.read(&s); err != nil {
				return argument{}, err
			}
			sym = append(sym, s)
			continue
		}
		n := c.Num()
		ints, floats, bools = append(ints, n.I), append(floats, number(n.F)), append(bools, n.I != 0)
		sym = append(sym, map[string]any{"as_int": n.I})
	}
	switch {
	case varies:
		return arg("as_sym_ints", sym), nil
	case p.Kind == tensor.KInts:
		return arg("as_ints", ints), nil
	case p.Kind == tensor.KBools:
		return arg("as_bools", bools), nil
	}
	return arg("as_floats", floats), nil
}

// result names a result.
func (w *exporter) result(v *graph.Value, short string, r *tensor.Result) (argument, error) {
	switch r.Kind {
	case tensor.KTensor:
		if v.Info == nil { // None
			return arg("as_none", true), nil
		}
		name := w.unique(short)
		w.values[v] = name
		return tensorArg(name), w.tensor(name, v)
	case tensor.KTensors:
		names := []nameJSON{}
		for _, u := range w.block.Nodes {
			if u.Op == graph.ListUnpack && u.In[0] == v {
				for _, e := range u.Out {
					name := w.unique("getitem")
					w.values[e] = name
					names = append(names, nameJSON{name})
					if err := w.tensor(name, e); err != nil {
						return argument{}, err
					}
				}
			}
		}
		return arg("as_tensors", names), nil
	}
	return argument{}, fmt.Errorf("%w: it returns a number to Go", ErrUnsupported)
}

// tensor describes the tensor of a value, with its sizes in terms of symbols.
func (w *exporter) tensor(name string, v *graph.Value) error {
	info := v.Info
	if info == nil {
		return fmt.Errorf("%w: nothing is known of value %s", ErrUnsupported, name)
	}
	m := &tensorMetaJSON{DType: dtypeNumber(info.DType), Grad: info.RequiresGrad, Device: deviceJSON{Type: "cpu"},
		Sizes: []sizeJSON{}, Strides: []sizeJSON{}, Offset: sizeOfInt(0), Layout: stridedLayout}
	if m.DType == 0 || len(info.Strides) != len(info.Shape) {
		return fmt.Errorf("%w: a tensor of dtype %s", ErrUnsupported, info.DType.Name())
	}
	sizes := make([]expr, len(info.Shape))
	for i, n := range info.Shape {
		sizes[i] = literal{int64(n)}
		if info.Dims != nil && info.Dims[i].Name != "" {
			e, err := w.sizeExpr(info.Dims[i].Name)
			if err != nil {
				return err
			}
			sizes[i] = e
		}
		m.Sizes = append(m.Sizes, w.sizeOf(sizes[i], n))
	}
	for i, e := range stridesOf(info, sizes) {
		m.Strides = append(m.Strides, w.sizeOf(e, info.Strides[i]))
	}
	w.describe(name, m)
	return nil
}

// stridesOf are the strides in terms of symbols: each is the product of the sizes of the dimensions with smaller
// strides, where that holds for the example; otherwise the example's.
func stridesOf(info *graph.Info, sizes []expr) []expr {
	out := make([]expr, len(sizes))
	order := make([]int, len(sizes))
	for i := range order {
		order[i] = i
		out[i] = literal{int64(info.Strides[i])}
	}
	sort.SliceStable(order, func(a, b int) bool {
		i, j := order[a], order[b]
		return info.Strides[i] < info.Strides[j] || info.Strides[i] == info.Strides[j] && i > j
	})
	var e expr = literal{int64(1)}
	n := 1
	for _, i := range order {
		if info.Strides[i] != n {
			break
		}
		out[i] = e
		n *= info.Shape[i]
		e = multiply(e, sizes[i])
	}
	return out
}

func multiply(a, b expr) expr {
	if l, ok := a.(literal); ok && l.v == int64(1) {
		return b
	}
	if l, ok := b.(literal); ok && l.v == int64(1) {
		return a
	}
	if l, ok := a.(literal); ok {
		if r, ok := b.(literal); ok {
			return literal{l.v.(int64) * r.v.(int64)}
		}
	}
	return binary{"*", a, b}
}

// sizeExpr reads a size that the recorder has named by sizes of inputs: "2*time".
func (w *exporter) sizeExpr(text string) (expr, error) {
	e, err := parseExpr(text)
	if s := w.symbols[text]; s != nil { // whatever characters a name has
		return name{s.symbol}, nil
	}
	if err != nil {
		return nil, err
	}
	return w.renamed(e)
}

// renamed puts symbols in the place of names.
func (w *exporter) renamed(e expr) (expr, error) {
	switch e := e.(type) {
	case name:
		s := w.symbols[e.id]
		if s == nil {
			return nil, fmt.Errorf("%w: size %q is no size of an input", ErrUnsupported, e.id)
		}
		return name{s.symbol}, nil
	case binary:
		l, err := w.renamed(e.l)
		if err != nil {
			return nil, err
		}
		r, err := w.renamed(e.r)
		return binary{e.op, l, r}, err
	}
	return e, nil
}

// sizeOf writes a size; n is the example's.
func (w *exporter) sizeOf(e expr, n int) sizeJSON {
	if _, ok := e.(literal); ok {
		return sizeOfInt(n)
	}
	if _, err := w.example(e); err != nil { // it depends on an iteration
		return sizeJSON{Expr: &sizeExprJSON{Text: srepr(e)}}
	}
	return sizeJSON{Expr: &sizeExprJSON{Text: srepr(e), Hint: &hintJSON{Int: &n}}}
}

// srepr writes a size as SymPy's srepr does.
func srepr(e expr) string {
	switch e := e.(type) {
	case literal:
		return "Integer(" + strconv.FormatInt(e.v.(int64), 10) + ")"
	case name:
		if strings.HasPrefix(e.id, "u") { // may be 0
			return "Symbol('" + e.id + "', integer=True)"
		}
		return "Symbol('" + e.id + "', positive=True, integer=True)"
	case binary:
		l, r := srepr(e.l), srepr(e.r)
		switch e.op {
		case "+":
			return "Add(" + l + ", " + r + ")"
		case "-":
			return "Add(" + l + ", Mul(Integer(-1), " + r + "))"
		case "*":
			return "Mul(" + l + ", " + r + ")"
		case "//":
			return "FloorDiv(" + l + ", " + r + ")"
		case "%":
			return "Mod(" + l + ", " + r + ")"
		case "**":
			return "Pow(" + l + ", " + r + ")"
		}
	}
	tensor.Fail(ErrUnsupported, "a size %s", unparse(e))
	return ""
}

// size writes a node that asks for a size.
func (w *exporter) size(n *graph.Node) error {
	d, ok := w.constOf(n.In[1])
	if !ok {
		return fmt.Errorf("%w: a size of a dimension that varies", ErrUnsupported)
	}
	info := n.In[0].Info
	i := int(d.N)
	if i < 0 && info != nil {
		i += len(info.Shape)
	}
	if info == nil || i < 0 || i >= len(info.Shape) {
		return fmt.Errorf("%w: the size of a value that is not known", ErrUnsupported)
	}
	var e expr = literal{int64(info.Shape[i])}
	if info.Dims != nil && info.Dims[i].Name != "" {
		var err error
		if e, err = w.sizeExpr(info.Dims[i].Name); err != nil {
			return err
		}
	} else if info.Dims != nil && info.Dims[i].Size < 0 {
		return fmt.Errorf("%w: a size that is no sum or product of sizes of the inputs", ErrUnsupported)
	}
	return w.numberNode(n, e, "torch.ops.aten.sym_size.int", "sym_size_int",
		[]namedArgument{{"self", tensorArg(w.name(n.In[0])), positional}, {"dim", arg("as_int", d.N), positional}})
}

// numberNode writes a node whose result is an int.
func (w *exporter) numberNode(n *graph.Node, e expr, target, base string, in []namedArgument) error {
	name, err := w.intNode(e, target, base, in, n.Scope)
	w.values[n.Out[0]], w.numbers[n.Out[0]] = name, e
	return err
}

// intNode adds a node whose result is an int, and returns its name.
func (w *exporter) intNode(e expr, target, base string, in []namedArgument, scope *graph.Scope) (string, error) {
	name := w.unique(base)
	example, _ := w.example(e) // 0 for what depends on an iteration
	b, err := json.Marshal(w.sizeOf(e, int(example)))
	if err != nil {
		return "", err
	}
	w.json.Ints[name] = b
	return name, w.add(&nodeJSON{Target: target, Name: name, Inputs: in, Metadata: scopeText(scope),
		Outputs: []argument{symbolArg(name)}})
}

// sizeOps are Python's operators by the helpers that compute with sizes.
var sizeOps = map[string]string{"aten::add.int": "+", "aten::sub.int": "-", "aten::mul.int": "*",
	"aten::floordiv.int": "//", "aten::remainder.int": "%"}

var pythonNames = map[string]string{"+": "add", "-": "sub", "*": "mul", "//": "floordiv", "%": "mod"}

// arithmetic writes a node that computes with sizes.
func (w *exporter) arithmetic(n *graph.Node) error {
	op := sizeOps[n.Op]
	if op == "" || len(n.In) != 2 {
		return fmt.Errorf("%w: torch.export has no form for it", ErrUnsupported)
	}
	var operands [2]expr
	var in []namedArgument
	for i, v := range n.In {
		if c, ok := w.constOf(v); ok {
			operands[i] = literal{c.N}
			in = append(in, namedArgument{"", arg("as_int", c.N), positional})
			continue
		}
		a, err := w.numberArg(v)
		if err != nil {
			return err
		}
		operands[i] = w.numberOf(v)
		in = append(in, namedArgument{"", a, positional})
	}
	name := pythonNames[op]
	return w.numberNode(n, binary{op, operands[0], operands[1]}, "_operator."+name, name, in)
}

// example is the value of a size for the example inputs.
func (w *exporter) example(e expr) (int64, error) {
	switch e := e.(type) {
	case literal:
		return e.v.(int64), nil
	case name:
		if s := w.symbolOf(e.id); s != nil && !s.iteration {
			return int64(s.example), nil
		}
	case binary:
		l, err := w.example(e.l)
		if err != nil {
			return 0, err
		}
		r, err := w.example(e.r)
		if err != nil {
			return 0, err
		}
		v, err := apply(e.op, l, r)
		if n, ok := v.(int64); ok {
			return n, err
		}
		return 0, err
	}
	return 0, fmt.Errorf("%w: a size %s", ErrUnsupported, unparse(e))
}
