package jit

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/ops/quantized"
	"github.com/gotorch-dev/torch/tensor"
)

// This file prints graphs as code, by the rules of PyTorch's printer (torch/csrc/jit/serialization/python_print.cpp):
// an operator's result stands inside the expression that reads it, if that is the only one, if the result has no name
// of its own, and if the order of evaluation stays what it was; a line that grows too long is split; everything else
// gets a name.

// pyPrinter prints one function.
type pyPrinter struct {
	b      strings.Builder
	level  int
	used   map[string]bool
	next   map[string]int
	inline map[*graph.Node]bool
	text   map[*graph.Value]string
	uses   map[*graph.Value][]use
	consts *constants
}

// use is a place where a value is read: argument number in of a node, or of the end of a block where node is nil.
type use struct {
	node *graph.Node
	in   int
}

// object is the name of a constant that is an object of a registered class.
func (c *constants) object(v tensor.Value) string {
	for i, x := range c.values {
		if x.X == v.X {
			return "CONSTANTS.c" + strconv.Itoa(i)
		}
	}
	c.values = append(c.values, v)
	return "CONSTANTS.c" + strconv.Itoa(len(c.values)-1)
}

// constants are the tensors that code names as CONSTANTS.c0, c1, ….
type constants struct {
	values []tensor.Value
	index  map[*tensor.Tensor]int
}

func (c *constants) name(t *tensor.Tensor) string {
	i, ok := c.index[t]
	if !ok {
		i = len(c.values)
		if c.index == nil {
			c.index = map[*tensor.Tensor]int{}
		}
		c.index[t] = i
		c.values = append(c.values, tensor.TensorValue(t))
	}
	return "CONSTANTS.c" + strconv.Itoa(i)
}

// reserved are names that variables must not have: those of Python and those that archives give a meaning.
var reserved = strings.Fields("False None True and as assert async await break class continue def del elif else " +
	"except finally for from " +
	"global if import in is lambda nonlocal not or pass raise return try while with uninitialized " +
	"unchecked_cast range super annotate print float int bool complex len str abs getattr isinstance torch ops " +
	"inf nan infj nanj CONSTANTS fork awaitable attribute _ list dict tuple device")

// printFunction is the definition of a method or a function. self is the type to write for the first parameter, "" for
// none.
func printFunction(f *graph.Function, level int, self string, consts *constants) string {
	p := &pyPrinter{level: level, used: map[string]bool{}, next: map[string]int{}, inline: map[*graph.Node]bool{},
		text: map[*graph.Value]string{}, uses: map[*graph.Value][]use{}, consts: consts}
	for _, r := range reserved {
		p.used[r] = true
	}
	p.countUses(f.Body)
	p.scanBlock(f.Body)
	p.line("def " + f.Name[strings.LastIndexByte(f.Name, '.')+1:] + "(")
	var head strings.Builder
	for i, v := range f.Body.Params {
		if i > 0 {
			head.WriteString(",\n    ")
		}
		name := p.unique(v)
		p.text[v] = name
		head.WriteString(name)
		switch {
		case i > 0 || self == "":
			head.WriteString(": " + v.Type.Annotation())
		case self != "-":
			head.WriteString(": " + self)
		}
	}
	result := "NoneType"
	if len(f.Body.Results) > 0 {
		result = f.Body.Results[0].Type.Annotation()
	}
	s := strings.TrimSuffix(p.b.String(), "\n") + head.String() + ") -> " + result + ":\n"
	p.b.Reset()
	p.b.WriteString(s)
	p.level++
	p.nodes(f.Body)
	p.split(f.Body.Results)
	if len(f.Body.Results) > 0 {
		p.line("return " + p.use(f.Body.Results[0]))
	}
	return p.b.String()
}

func (p *pyPrinter) line(s string) { p.b.WriteString(strings.Repeat("  ", p.level) + s + "\n") }

func (p *pyPrinter) countUses(b *graph.Block) {
	for _, n := range b.Nodes {
		for i, v := range n.In {
			p.uses[v] = append(p.uses[v], use{n, i})
		}
		for _, c := range n.Blocks {
			p.countUses(c)
		}
	}
	for i, v := range b.Results {
		p.uses[v] = append(p.uses[v], use{nil, i})
	}
}

// canInline reports that a value may stand in the expression that reads it.
func (p *pyPrinter) canInline(v *graph.Value) bool {
	n := v.Node
	if len(n.Out) != 1 || len(p.uses[v]) != 1 || len(n.Blocks) > 0 {
		return false
	}
	u := p.uses[v][0]
	if v.Name != "" && u.node != nil {
		return false
	}
	if u.node != nil && (u.node.Op == graph.Loop && u.in >= 2 || u.node.Op == graph.Fork) {
		return false
	}
	return true
}

func constantLike(n *graph.Node) bool { return n.Op == graph.Constant }

// at is the node of a block before number i that is no constant, -1 without.
func previous(b *graph.Block, i int) int {
	for i--; i >= 0 && constantLike(b.Nodes[i]); i-- {
	}
	return i
}

// scanBlock finds what is written inside expressions, from the last node to the first.
func (p *pyPrinter) scanBlock(b *graph.Block) {
	at := map[*graph.Node]int{}
	for i, n := range b.Nodes {
		at[n] = i
	}
	p.scanInputs(b, at, len(b.Nodes), b.Results)
	for i := len(b.Nodes) - 1; i >= 0; i-- {
		p.scanNode(b, at, i)
	}
}

// scanNode scans node i and returns the number of the node before it that is not part of its expression.
func (p *pyPrinter) scanNode(b *graph.Block, at map[*graph.Node]int, i int) int {
	n := b.Nodes[i]
	if p.inline[n] {
		return i
	}
	for _, c := range n.Blocks {
		p.scanBlock(c)
	}
	return p.scanInputs(b, at, i, n.In)
}

func (p *pyPrinter) scanInputs(b *graph.Block, at map[*graph.Node]int, i int, in []*graph.Value) int {
	point := previous(b, i)
	for _, v := range slices.Backward(in) {
		n := v.Node
		if n == nil {
			continue
		}
		if k, here := at[n]; here && k == point && p.canInline(v) {
			point = p.scanNode(b, at, point)
			p.inline[n] = true
		} else if constantLike(n) {
			p.inline[n] = true
		}
	}
	return point
}

// identifier makes a valid name of a text.
func identifier(s string) string {
	if i := strings.LastIndexByte(s, '.'); i > 0 { // the numbers that tell equal names apart
		if _, err := strconv.Atoi(s[i+1:]); err == nil {
			s = s[:i]
		}
	}
	var b strings.Builder
	for i, c := range s {
		switch {
		case c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || i > 0 && c >= '0' && c <= '9':
			b.WriteRune(c)
		case i == 0 && c >= '0' && c <= '9':
			b.WriteString("_" + string(c))
		default:
			b.WriteByte('_')
		}
	}
	return b.String()
}

func validName(s string) bool { return s != "" && identifier(s) == s && !slices.Contains(reserved, s) }

// unique is a name for a value that nothing else has.
func (p *pyPrinter) unique(v *graph.Value) string {
	name := "_"
	if v.Name != "" {
		name = identifier(v.Name)
	}
	candidate := name
	for p.used[name] {
		k := p.next[name]
		p.next[name]++
		name = candidate + strconv.Itoa(k)
	}
	p.used[name] = true
	return name
}

func (p *pyPrinter) use(v *graph.Value) string {
	if s, ok := p.text[v]; ok {
		return s
	}
	if v.Node != nil && constantLike(v.Node) {
		return p.constant(v.Node.Const, v.Type)
	}
	tensor.Fail(tensor.ErrValue, "jit: a value is printed before it is defined")
	return ""
}

// assign gives a value a name, and prints that it is what the expression says.
func (p *pyPrinter) assign(v *graph.Value, expr string) {
	name := p.unique(v)
	p.text[v] = name
	p.line(name + " = " + expr)
}

// longLine is the length from which an expression inside another one gets a name.
const longLine = 40

// split gives names to the expressions among the values, up to the last one that is long.
func (p *pyPrinter) split(in []*graph.Value) {
	last := 0
	inlined := func(v *graph.Value) bool { return v.Node != nil && !constantLike(v.Node) && p.inline[v.Node] }
	for i, v := range in {
		if inlined(v) && len(p.use(v))+p.level*2 >= longLine {
			last = i + 1
		}
	}
	for _, v := range in[:last] {
		if inlined(v) {
			if s := p.text[v]; !p.named(s) {
				p.assign(v, s)
			}
		}
	}
}

// named reports that a text is a variable already.
func (p *pyPrinter) named(s string) bool { return p.used[s] && identifier(s) == s }

func (p *pyPrinter) nodes(b *graph.Block) {
	for _, n := range b.Nodes {
		p.node(n)
	}
}

func (p *pyPrinter) node(n *graph.Node) {
	if constantLike(n) {
		return
	}
	switch n.Op {
	case graph.If:
		p.branch(n)
		return
	case graph.Loop:
		p.loop(n)
		return
	}
	p.split(n.In)
	switch n.Op {
	case graph.TupleUnpack, graph.ListUnpack:
		var names []string
		for _, v := range n.Out {
			p.text[v] = p.unique(v)
			names = append(names, p.text[v])
		}
		if len(names) == 0 {
			return
		}
		p.line(strings.Join(names, ", ") + ", = " + p.use(n.In[0]))
		return
	case graph.SetAttr:
		p.line(p.use(n.In[0]) + "." + n.Attr + " = " + p.use(n.In[1]))
		return
	case graph.Raise:
		p.line("ops.prim.RaiseException(" + p.use(n.In[0]) + ", \"" + n.Attr + "\")")
		return
	}
	expr := p.expression(n)
	if p.inline[n] {
		p.text[n.Out[0]] = expr
		return
	}
	if len(n.Out) == 0 {
		p.line(expr)
		return
	}
	var names []string
	for _, v := range n.Out {
		p.text[v] = p.unique(v)
		names = append(names, p.text[v])
	}
	p.line(strings.Join(names, ", ") + " = " + expr)
}

func (p *pyPrinter) join(in []*graph.Value) string {
	l := make([]string, len(in))
	for i, v := range in {
		l[i] = p.use(v)
	}
	return strings.Join(l, ", ")
}

// expression is the right side of a node.
func (p *pyPrinter) expression(n *graph.Node) string {
	switch n.Op {
	case graph.GetAttr:
		if !validName(n.Attr) {
			return "getattr(" + p.use(n.In[0]) + ", " + strconv.Quote(n.Attr) + ")"
		}
		obj := p.use(n.In[0])
		if !p.named(obj) {
			obj = "(" + obj + ")"
		}
		return obj + "." + n.Attr
	case graph.CallMethod:
		var b strings.Builder
		b.WriteString("(" + p.use(n.In[0]) + ")." + n.Attr + "(")
		for _, v := range n.In[1:] {
			b.WriteString(p.use(v) + ", ")
		}
		return b.String() + ")"
	case graph.CallFunction:
		var b strings.Builder
		b.WriteString(n.Func.Name + "(")
		for _, v := range n.In {
			b.WriteString(p.use(v) + ", ")
		}
		return b.String() + ")"
	case graph.TupleConstruct:
		if len(n.In) == 1 {
			return "(" + p.use(n.In[0]) + ",)"
		}
		return "(" + p.join(n.In) + ")"
	case graph.TupleIndex:
		return "(" + p.use(n.In[0]) + ")[" + strconv.Itoa(n.Index) + "]"
	case graph.ListConstruct:
		s := "[" + p.join(n.In) + "]"
		if elem := n.Out[0].Type.Elems[0]; len(n.In) == 0 || elem.Kind != graph.TensorType &&
			elem.Kind != graph.IntType &&
			elem.Kind != graph.FloatType && elem.Kind != graph.BoolType && elem.Kind != graph.StrType {
			s = "annotate(" + n.Out[0].Type.Annotation() + ", " + s + ")"
		}
		return s
	case graph.DictConstruct:
		var items []string
		for i := 0; i+1 < len(n.In); i += 2 {
			items = append(items, p.use(n.In[i])+": "+p.use(n.In[i+1]))
		}
		s := "{" + strings.Join(items, ", ") + "}"
		if len(items) == 0 {
			s = "annotate(" + n.Out[0].Type.Annotation() + ", " + s + ")"
		}
		return s
	case graph.UncheckedCast:
		return "unchecked_cast(" + n.Out[0].Type.Annotation() + ", " + p.use(n.In[0]) + ")"
	case "aten::Bool.Tensor", "aten::Bool.int", "aten::Bool.float":
		return "bool(" + p.use(n.In[0]) + ")"
	case "aten::Int.Tensor", "aten::Int.Scalar", "aten::Int.float", "aten::Int.bool":
		return "int(" + p.use(n.In[0]) + ")"
	case "aten::Float.Tensor", "aten::Float.Scalar", "aten::Float.int":
		return "float(" + p.use(n.In[0]) + ")"
	case "aten::__getitem__.Dict_str":
		return p.use(n.In[0]) + "[" + p.use(n.In[1]) + "]"
	}
	if n.Operator == nil {
		tensor.Fail(tensor.ErrNotImpl, "jit: a node %s cannot be written as code", n.Op)
	}
	ns, name, _ := strings.Cut(n.Operator.Name, "::")
	fn := "torch." + name
	if ns != "aten" {
		fn = "ops." + ns + "." + name
	}
	var args []string
	for i, v := range n.In[:necessary(n)] {
		s := p.use(v)
		if i < len(n.Operator.Params) && n.Operator.Params[i].KwOnly {
			s = n.Operator.Params[i].Name + "=" + s
		}
		args = append(args, s)
	}
	return fn + "(" + strings.Join(args, ", ") + ")"
}

// necessary is the number of arguments without those at the end that are the defaults.
func necessary(n *graph.Node) int {
	k := len(n.In)
	for ; k > 0 && k <= len(n.Operator.Params); k-- {
		d, v := n.Operator.Params[k-1].Default, n.In[k-1]
		if d == nil || v.Node == nil || v.Node.Op != graph.Constant || !equalConstants(graph.Normal(*d), v.Node.Const) {
			break
		}
	}
	return k
}

func equalConstants(a, b tensor.Value) bool {
	b = graph.Normal(b)
	if a.K == tensor.KTensor || b.K == tensor.KTensor {
		return false
	}
	x, ok := graph.ItemsOf(a)
	y, ok2 := graph.ItemsOf(b)
	if ok || ok2 {
		return ok && ok2 && slices.EqualFunc(x, y, equalConstants)
	}
	if a.K == tensor.KBool && b.K == tensor.KBool || a.K == tensor.KInt && b.K == tensor.KInt {
		return a.N == b.N
	}
	return a.K == b.K && graph.Equal(a, b)
}

// constant is the text of a constant.
func (p *pyPrinter) constant(v tensor.Value, t *graph.Type) string {
	switch v.K {
	case tensor.KNone:
		return "None"
	case tensor.KBool:
		if v.N != 0 {
			return "True"
		}
		return "False"
	case tensor.KInt:
		return strconv.FormatInt(v.N, 10)
	case tensor.KFloat:
		return pyFloat(v.Float())
	case tensor.KStr:
		return pyString(v.X.(string))
	case tensor.KDevice:
		return "torch.device(\"" + fmt.Sprint(v.X) + "\")"
	case tensor.KComplex:
		c := v.X.(complex128)
		return "complex(" + pyFloat(real(c)) + ", " + pyFloat(imag(c)) + ")"
	case tensor.KTensor:
		return p.consts.name(v.T)
	}
	if packedParams(v.X) {
		return p.consts.object(v)
	}
	items, ok := graph.ItemsOf(v)
	if cells, is := v.X.([]*quantized.Cell); is {
		ok = true
		for _, c := range cells {
			items = append(items, tensor.AnyValue(c))
		}
	}
	if !ok {
		tensor.Fail(tensor.ErrNotImpl, "jit: a constant of type %s cannot be written as code", graph.TypeOf(v))
	}
	l := make([]string, len(items))
	for i, e := range items {
		l[i] = p.constant(e, nil)
	}
	s := "[" + strings.Join(l, ", ") + "]"
	if _, tuple := v.X.(*graph.Tuple); tuple {
		s = "(" + strings.Join(l, ", ")
		if len(l) == 1 {
			s += ","
		}
		return s + ")"
	}
	if len(items) == 0 {
		if t == nil || t.Kind != graph.ListType {
			t = graph.TypeOf(v)
		}
		s = "annotate(" + t.Annotation() + ", " + s + ")"
	}
	return s
}

// pyFloat writes a float as PyTorch's printer does: with a point, and 17 digits where it is no whole number.
func pyFloat(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	case math.IsNaN(f):
		return "nan"
	case f == math.Trunc(f) && math.Abs(f) < 1e10:
		s := strconv.FormatFloat(f, 'f', 0, 64) + "."
		if f == 0 && math.Signbit(f) && s[0] != '-' {
			s = "-" + s
		}
		return s
	}
	// C's %.17g
	e := math.Floor(math.Log10(math.Abs(f)))
	if e < -4 || e >= 17 {
		s := strconv.FormatFloat(f, 'e', 16, 64)
		mantissa, exp, _ := strings.Cut(s, "e")
		mantissa = strings.TrimRight(strings.TrimRight(mantissa, "0"), ".")
		return mantissa + "e" + exp
	}
	s := strconv.FormatFloat(f, 'g', 17, 64)
	if strings.Contains(s, ".") && !strings.Contains(s, "e") {
		s = strings.TrimRight(s, "0")
	}
	return s
}

func pyString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b.WriteString("\\" + string(c))
		case c == '\n':
			b.WriteString("\\n")
		case c == '\t':
			b.WriteString("\\t")
		case c == '\r':
			b.WriteString("\\r")
		case c < 0x20 || c >= 0x7f:
			fmt.Fprintf(&b, "\\%03o", c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// branch prints an if.
func (p *pyPrinter) branch(n *graph.Node) {
	p.split(n.In)
	for _, v := range n.Out {
		p.text[v] = p.unique(v)
	}
	cond := p.use(n.In[0])
	for i, head := range []string{"if " + cond + ":", "else:"} {
		b := n.Blocks[i]
		if i == 1 && len(n.Out) == 0 && !slices.ContainsFunc(b.Nodes,
			func(n *graph.Node) bool { return !constantLike(n) }) {
			break
		}
		p.line(head)
		p.level++
		before := p.b.Len()
		p.nodes(b)
		p.split(b.Results)
		p.copies(n.Out, b.Results)
		if p.b.Len() == before {
			p.line("pass")
		}
		p.level--
	}
}

// copies prints that variables take values, those that differ.
func (p *pyPrinter) copies(to, from []*graph.Value) {
	var left, right []string
	for i, v := range to {
		if x := p.use(from[i]); x != p.text[v] {
			left, right = append(left, p.text[v]), append(right, x)
		}
	}
	if len(left) > 0 {
		p.line(strings.Join(left, ", ") + " = " + strings.Join(right, ", "))
	}
}

// loop prints a for, or a while where the number of iterations has no limit.
func (p *pyPrinter) loop(n *graph.Node) {
	p.split(n.In)
	b := n.Blocks[0]
	isConst := func(v *graph.Value, want int64) bool {
		return v.Node != nil && v.Node.Op == graph.Constant && v.Node.Const.N == want &&
			(v.Node.Const.K == tensor.KInt || v.Node.Const.K == tensor.KBool)
	}
	counted := isConst(n.In[1], 1) && isConst(b.Results[0], 1)
	if !counted && !isConst(n.In[0], math.MaxInt64) {
		tensor.Fail(tensor.ErrNotImpl, "jit: a loop with a number of iterations and a condition cannot be written as "+
			"code")
	}
	for i, v := range n.Out {
		named := v
		if v.Name == "" {
			named = b.Params[i+1]
		}
		p.text[v] = p.unique(named)
	}
	for i, v := range n.Out {
		p.line(p.text[v] + " = " + p.use(n.In[i+2]))
		p.text[b.Params[i+1]] = p.text[v]
	}
	if counted {
		p.text[b.Params[0]] = p.unique(b.Params[0])
		p.line("for " + p.text[b.Params[0]] + " in range(" + p.use(n.In[0]) + "):")
	} else {
		cond := &graph.Value{Type: graph.Bool}
		p.assign(cond, p.use(n.In[1]))
		p.line("while " + p.text[cond] + ":")
		p.level++
		p.nodes(b)
		p.split(b.Results)
		p.copies(append([]*graph.Value{cond}, n.Out...), b.Results)
		p.level--
		return
	}
	p.level++
	before := p.b.Len()
	p.nodes(b)
	p.split(b.Results[1:])
	p.copies(n.Out, b.Results[1:])
	if p.b.Len() == before {
		p.line("pass")
	}
	p.level--
}
