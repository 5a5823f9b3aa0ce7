package export

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/pyfmt"
	"github.com/gotorch-dev/torch/tensor"
)

// leaf is a leaf of the arguments as an expression: number i, which text names as the program's author knows it.
type leaf struct {
	i    int
	text string // "x['k']"
}

// guard is a condition on the inputs. Programs are exported for inputs that fulfil it.
type guard struct {
	cond expr
	text string // as PyTorch's error gives it
}

// input is a leaf of the arguments.
type input struct {
	name  string    // of the placeholder
	path  string    // as PyTorch writes it behind L: "['x'][0]"
	shown string    // "x[0]"
	arg   *argument // what the signature says of it
	meta  *tensorMetaJSON
	size  *sizeJSON    // of an int that varies
	value tensor.Value // of a constant
	fixed bool         // it is a constant
}

func op2(l expr, op string, r expr) expr { return compare{l, []string{op}, []expr{r}} }

func sizeAt(l leaf, dim int) expr {
	return index{call{fn: attr{l, "size"}}, literal{int64(dim)}}
}

// guards are the conditions that PyTorch checks, in its order: sizes and constants input by input, with the ranges of
// symbols and their equality, then sizes that are computed from others, then the guards of the file.
// (torch/export/_unlift.py, _get_input_guards_for_graph)
func (p *Program) makeGuards(m *programJSON) error {
	ranges := map[string]rangeJSON{}
	for k, r := range m.Ranges {
		size, err := parseSize(k)
		if err != nil {
			return fmt.Errorf("%w: %s: range_constraints: %w", ErrFormat, modelEntry, err)
		}
		ranges[size.String()] = r
	}
	g := guardMaker{p: p, ranges: ranges, sources: map[string]expr{}}
	for i := range p.inputs {
		if err := g.input(i, &p.inputs[i]); err != nil {
			return fmt.Errorf("%w: %s: input %s: %w", ErrFormat, modelEntry, shorten(p.inputs[i].name), err)
		}
	}
	g.computed()
	find := p.leafFinder()
	for _, text := range m.Guards {
		e, err := parseExpr(text)
		if err != nil {
			return fmt.Errorf("%w: %s: guards_code: %w", ErrFormat, modelEntry, err)
		}
		p.guards = append(p.guards, newGuard(replaceLeaves(e, find)))
	}
	return nil
}

func newGuard(e expr) guard { return guard{e, unparse(e)} }

type guardMaker struct {
	p       *Program
	ranges  map[string]rangeJSON // by the text of the size
	sources map[string]expr      // by the text of the size: the first place where it stands alone
	later   []deferred
}

type deferred struct {
	src  expr
	size poly
}

func (g *guardMaker) add(e expr) { g.p.guards = append(g.p.guards, newGuard(e)) }

func (g *guardMaker) input(i int, in *input) error {
	l := leaf{i, in.shown}
	switch {
	case in.fixed:
		switch v := in.value; v.K {
		case tensor.KInt, tensor.KBool, tensor.KStr:
			g.add(op2(l, "==", literal{goValue(v)}))
		case tensor.KFloat:
			if f := v.Float(); math.IsNaN(f) {
				g.add(call{fn: attr{name{"math"}, "isnan"}, args: []expr{l}})
			} else if math.IsInf(f, 0) {
				var inf expr = attr{name{"math"}, "inf"}
				if f < 0 {
					inf = unary{"-", inf}
				}
				g.add(op2(l, "==", inf))
			} else {
				g.add(op2(l, "==", literal{f}))
			}
		}
	case in.size != nil:
		return g.size(l, in.size)
	case in.meta != nil:
		for d := range in.meta.Sizes {
			s := &in.meta.Sizes[d]
			if s.Int != nil {
				g.add(op2(sizeAt(l, d), "==", literal{int64(*s.Int)}))
			} else if err := g.size(sizeAt(l, d), s); err != nil {
				return err
			}
		}
	}
	return nil
}

// size handles a size that varies.
func (g *guardMaker) size(src expr, s *sizeJSON) error {
	if s.Expr == nil {
		return nil
	}
	size, err := parseSize(s.Expr.Text)
	if err != nil {
		return err
	}
	r, known := g.ranges[size.String()]
	if !known {
		return nil
	}
	if len(size.symbols()) == 1 {
		g.later = append(g.later, deferred{src, size})
	}
	if first := g.sources[size.String()]; first != nil {
		g.add(op2(src, "==", first))
		return nil
	}
	g.sources[size.String()] = src
	if lo, ok := limit(r.Min); ok && lo > 2 {
		g.add(op2(src, ">=", literal{lo}))
	}
	if hi, ok := limit(r.Max); ok {
		g.add(op2(src, "<=", literal{hi}))
	}
	return nil
}

// limit is a limit of a range; ok is false where there is none.
func limit(n *json.Number) (v int64, ok bool) {
	if n == nil {
		return 0, false
	}
	v, err := n.Int64()
	if err != nil {
		f, err := n.Float64()
		if err != nil || math.Abs(f) >= 1<<62 {
			return 0, false
		}
		v = int64(f)
	}
	// "no limit" is also written as a very large number
	return v, v < math.MaxInt64-1 && v > -math.MaxInt64
}

// computed handles sizes that are computed from a symbol that stands alone nowhere, as 2*s in one input and 2*s + 1 in
// another: the first gives the symbol's value.
func (g *guardMaker) computed() {
	solved := map[string]struct {
		src  expr
		a, b *big.Rat // src = a*symbol + b
	}{}
	for _, d := range g.later {
		s := d.size.symbols()[0]
		if g.sources[s] != nil {
			continue
		}
		a, b, ok := d.size.linear(s)
		if !ok {
			continue
		}
		first, known := solved[s]
		if !known {
			first.src, first.a, first.b = d.src, a, b
			solved[s] = first
			continue
		}
		// (first.src - first.b) / first.a == (src - b) / a, without fractions
		f := new(big.Rat).Quo(a, first.a)
		c := new(big.Rat).Sub(b, new(big.Rat).Mul(f, first.b))
		if !f.Num().IsInt64() || !f.Denom().IsInt64() || !c.IsInt() || !c.Num().IsInt64() {
			continue
		}
		left := times(f.Num().Int64(), first.src)
		if n := c.Num().Int64() * f.Denom().Int64(); n != 0 {
			left = binary{"+", literal{n}, left}
			if n < 0 {
				left = binary{"+", unary{"-", literal{-n}}, left.(binary).r}
			}
		}
		g.add(op2(left, "==", times(f.Denom().Int64(), d.src)))
	}
}

func times(n int64, x expr) expr {
	if n == 1 {
		return x
	}
	return binary{"*", literal{n}, x}
}

var numbered = regexp.MustCompile(`^\['(.+)_([0-9]+)'\](.*)$`)

// leafFinder finds the leaf that a path names in a guard of the file.
func (p *Program) leafFinder() func(path string) (leaf, bool) {
	paths := map[string]int{}
	for i, in := range p.inputs {
		paths["L"+in.path] = i
		paths["L['flat_args']["+strconv.Itoa(i)+"]"] = i
	}
	for i, in := range p.inputs { // *args are x_0, x_1, … in the signature
		if m := numbered.FindStringSubmatch(in.path); m != nil {
			alias := "L['" + m[1] + "'][" + m[2] + "]" + m[3]
			if _, taken := paths[alias]; !taken {
				paths[alias] = i
			}
		}
	}
	return func(path string) (leaf, bool) {
		i, ok := paths[path]
		if !ok {
			return leaf{}, false
		}
		return leaf{i, p.inputs[i].shown}, true
	}
}

// replaceLeaves puts leaves in the place of their paths.
func replaceLeaves(e expr, find func(text string) (leaf, bool)) expr {
	all := func(l []expr) []expr {
		out := make([]expr, len(l))
		for i, x := range l {
			out[i] = replaceLeaves(x, find)
		}
		return out
	}
	switch x := e.(type) {
	case index:
		if l, ok := find(unparse(x)); ok {
			return l
		}
		return index{replaceLeaves(x.x, find), replaceLeaves(x.at, find)}
	case attr:
		if l, ok := find(unparse(x)); ok {
			return l
		}
		return attr{replaceLeaves(x.x, find), x.name}
	case call:
		return call{replaceLeaves(x.fn, find), all(x.args), x.kw}
	case unary:
		return unary{x.op, replaceLeaves(x.x, find)}
	case binary:
		return binary{x.op, replaceLeaves(x.l, find), replaceLeaves(x.r, find)}
	case compare:
		return compare{replaceLeaves(x.l, find), x.ops, all(x.r)}
	case logic:
		return logic{x.op, all(x.x)}
	}
	return e
}

// goValue is a value as the evaluator of guards has it.
func goValue(v tensor.Value) any {
	switch v.K {
	case tensor.KInt:
		return v.N
	case tensor.KBool:
		return v.N != 0
	case tensor.KFloat:
		return v.Float()
	case tensor.KStr:
		return v.X
	case tensor.KTensor:
		return v.T
	case tensor.KNone:
		return nil
	}
	return v
}

// check computes the guards for the leaves of the arguments. The error has PyTorch's text.
func (p *Program) check(leaves []tensor.Value) error {
	for i := range p.guards {
		g := &p.guards[i]
		v, err := evaluator(leaves).value(g.cond)
		if err != nil {
			return &tensor.Error{Err: ErrGuard, Msg: fmt.Sprintf("guard %s: %s", g.text, err)}
		}
		if !isTrue(v) {
			return &tensor.Error{Err: ErrGuard, Msg: "Guard failed: " + g.text}
		}
	}
	return nil
}

// evaluator computes guards: numbers are int64, float64 and bool; a tuple of sizes is []int.
type evaluator []tensor.Value

func isTrue(v any) bool {
	switch v := v.(type) {
	case bool:
		return v
	case int64:
		return v != 0
	case float64:
		return v != 0
	case string:
		return v != ""
	case *tensor.Tensor:
		n := v.Num()
		return n.I != 0 || n.F != 0
	}
	return v != nil
}

func (ev evaluator) value(e expr) (any, error) {
	switch e := e.(type) {
	case literal:
		return e.v, nil
	case leaf:
		return goValue(ev[e.i]), nil
	case name:
		if e.id == "inf" || e.id == "int_oo" {
			return math.Inf(1), nil
		}
		return nil, fmt.Errorf("there is no %s", e.id)
	case unary:
		x, err := ev.value(e.x)
		if err != nil {
			return nil, err
		}
		return applyUnary(e.op, x)
	case binary:
		l, err := ev.value(e.l)
		if err != nil {
			return nil, err
		}
		r, err := ev.value(e.r)
		if err != nil {
			return nil, err
		}
		return apply(e.op, l, r)
	case compare:
		l, err := ev.value(e.l)
		if err != nil {
			return nil, err
		}
		for i, op := range e.ops {
			r, err := ev.value(e.r[i])
			if err != nil {
				return nil, err
			}
			if ok, err := comparison(op, l, r); !ok || err != nil {
				return false, err
			}
			l = r
		}
		return true, nil
	case logic:
		for _, x := range e.x {
			v, err := ev.value(x)
			if err != nil || isTrue(v) == (e.op == "or") {
				return v, err
			}
		}
		return e.op == "and", nil
	case index:
		x, err := ev.value(e.x)
		if err != nil {
			return nil, err
		}
		at, err := ev.value(e.at)
		if err != nil {
			return nil, err
		}
		l, isList := x.([]int)
		i, isInt := at.(int64)
		if isInt && i < 0 {
			i += int64(len(l))
		}
		if !isList || !isInt || i < 0 || i >= int64(len(l)) {
			return nil, fmt.Errorf("%s: tuple index out of range", unparse(e))
		}
		return int64(l[i]), nil
	case call:
		return ev.call(e)
	case attr:
		if n, ok := e.x.(name); ok && n.id == "math" {
			switch e.name {
			case "inf":
				return math.Inf(1), nil
			case "pi":
				return math.Pi, nil
			case "e":
				return math.E, nil
			}
		}
	}
	return nil, fmt.Errorf("%s cannot be computed", shorten(unparse(e)))
}

func (ev evaluator) call(e call) (any, error) {
	args := make([]any, len(e.args))
	for i, a := range e.args {
		var err error
		if args[i], err = ev.value(a); err != nil {
			return nil, err
		}
	}
	switch fn := e.fn.(type) {
	case attr:
		if n, ok := fn.x.(name); ok && n.id == "math" {
			return apply1(fn.name, args)
		} else if ok && n.id == "torch" {
			return applyNamed(strings.TrimPrefix(fn.name, "sym_"), args)
		}
		x, err := ev.value(fn.x)
		if err != nil {
			return nil, err
		}
		t, ok := x.(*tensor.Tensor)
		if !ok || t == nil {
			return nil, fmt.Errorf("%s is no tensor", unparse(fn.x))
		}
		switch fn.name {
		case "size", "stride":
			l := t.Shape()
			if fn.name == "stride" {
				l = t.Strides()
			}
			if len(args) == 0 {
				return l, nil
			}
			return ev.value(index{literal{l}, literal{args[0]}})
		case "storage_offset":
			return int64(t.StorageOffset()), nil
		case "dim", "ndimension":
			return int64(t.Dim()), nil
		case "numel":
			return int64(t.Numel()), nil
		case "item":
			return goValue(t.Num().Value()), nil
		}
	case name:
		return applyNamed(fn.id, args)
	}
	return nil, fmt.Errorf("%s cannot be computed", shorten(unparse(e)))
}

// applyNamed computes a function of SymPy, of torch.sym_… or of Python.
func applyNamed(fn string, args []any) (any, error) {
	switch fn {
	case "Min", "min", "Max", "max":
		if len(args) == 0 {
			break
		}
		out := args[0]
		for _, a := range args[1:] {
			less, err := comparison("<", a, out)
			if err != nil {
				return nil, err
			}
			if less == (fn == "Min" || fn == "min") {
				out = a
			}
		}
		return out, nil
	case "not":
		if len(args) == 1 {
			return !isTrue(args[0]), nil
		}
	case "ite":
		if len(args) == 3 {
			if isTrue(args[0]) {
				return args[1], nil
			}
			return args[2], nil
		}
	}
	if op := map[string]string{"FloorDiv": "//", "CleanDiv": "//", "Mod": "%", "PythonMod": "%",
		"IntTrueDiv": "/", "FloatTrueDiv": "/", "PowByNatural": "**", "FloatPow": "**", "Pow": "**",
		"LShift": "<<", "RShift": ">>"}[fn]; op != "" && len(args) == 2 {
		return apply(op, args[0], args[1])
	}
	return apply1(fn, args)
}

// apply1 computes a function of one number.
func apply1(fn string, args []any) (any, error) {
	if len(args) != 1 {
		return nil, fmt.Errorf("%s of %d arguments", fn, len(args))
	}
	f, isNumber := toFloat(args[0])
	if !isNumber {
		return nil, fmt.Errorf("%s of %T", fn, args[0])
	}
	round := map[string]func(float64) float64{"floor": math.Floor, "FloorToInt": math.Floor, "ceil": math.Ceil,
		"CeilToInt": math.Ceil, "trunc": math.Trunc, "TruncToInt": math.Trunc, "int": math.Trunc,
		"round": math.RoundToEven, "RoundToInt": math.RoundToEven}[fn]
	if round != nil {
		if n, ok := toInt(args[0]); ok {
			return n, nil
		}
		if f = round(f); math.Abs(f) < 1<<62 {
			return int64(f), nil
		}
		return nil, fmt.Errorf("%s(%v) is no integer", fn, f)
	}
	switch fn {
	case "isnan":
		return math.IsNaN(f), nil
	case "isinf":
		return math.IsInf(f, 0), nil
	case "float", "ToFloat":
		return f, nil
	case "bool":
		return f != 0, nil
	case "abs":
		if n, ok := toInt(args[0]); ok {
			return max(n, -n), nil
		}
		return math.Abs(f), nil
	}
	if m := mathFunctions[strings.TrimPrefix(strings.TrimPrefix(fn, "OpaqueUnaryFn_"), "_sym_")]; m != nil {
		return m(f), nil
	}
	return nil, fmt.Errorf("there is no function %s", fn)
}

func toInt(v any) (int64, bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	}
	return 0, false
}

func toFloat(v any) (float64, bool) {
	if f, ok := v.(float64); ok {
		return f, true
	}
	n, ok := toInt(v)
	return float64(n), ok
}

func applyUnary(op string, x any) (any, error) {
	if op == "not" {
		return !isTrue(x), nil
	}
	if n, ok := toInt(x); ok {
		switch op {
		case "-":
			return -n, nil
		case "~":
			return ^n, nil
		}
		return n, nil
	}
	if f, ok := x.(float64); ok && op != "~" {
		if op == "-" {
			return -f, nil
		}
		return f, nil
	}
	return nil, fmt.Errorf("bad operand for unary %s", op)
}

// pythonOps are the helpers of package graph that compute Python's operators.
var pythonOps = map[string]string{"+": "aten::add", "-": "aten::sub", "*": "aten::mul", "//": "aten::floordiv",
	"%": "aten::remainder", "/": "aten::div", "**": "gotorch::sym_pow", "&": "gotorch::sym_and",
	"|": "gotorch::sym_or", "^": "gotorch::sym_xor", "<<": "aten::__lshift__.int", ">>": "aten::__rshift__.int"}

// apply computes an operator on two numbers as a program does.
func apply(op string, l, r any) (any, error) {
	a, ok := boxNumber(l)
	b, ok2 := boxNumber(r)
	if !ok || !ok2 {
		return nil, fmt.Errorf("bad operands for %s", op)
	}
	var v tensor.Value
	err := tensor.Try(func() { v = graph.Lookup(pythonOps[op]).Compute(a, b) })
	return goValue(v), err
}

func boxNumber(v any) (tensor.Value, bool) {
	if n, ok := toInt(v); ok {
		return intValue(n), true
	}
	f, ok := v.(float64)
	return tensor.FloatValue(f), ok
}

func comparison(op string, l, r any) (bool, error) {
	if op == "is" || op == "==" || op == "is not" || op == "!=" {
		return equal(l, r) == (op == "is" || op == "=="), nil
	}
	if a, ok := toInt(l); ok {
		if b, ok := toInt(r); ok {
			if r, known := inOrder(op, a, b); known {
				return r, nil
			}
		}
	}
	if a, ok := toFloat(l); ok {
		if b, ok := toFloat(r); ok {
			if r, known := inOrder(op, a, b); known {
				return r, nil
			}
		}
	}
	return false, fmt.Errorf("%s %s %s cannot be compared", pyfmt.Repr(l), op, pyfmt.Repr(r))
}

// inOrder computes a comparison by size, if op is one.
func inOrder[T cmp.Ordered](op string, a, b T) (result, known bool) {
	switch op {
	case "<":
		return a < b, true
	case "<=":
		return a <= b, true
	case ">":
		return a > b, true
	case ">=":
		return a >= b, true
	}
	return false, false
}
func equal(l, r any) bool {
	if a, ok := toInt(l); ok {
		if b, ok := toInt(r); ok {
			return a == b
		}
	}
	a, ok := toFloat(l)
	b, ok2 := toFloat(r)
	if ok || ok2 {
		return ok && ok2 && a == b
	}
	if x, ok := l.(string); ok {
		y, ok := r.(string)
		return ok && x == y
	}
	return l == nil && r == nil
}
