package jit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/pickle"
	"github.com/gotorch-dev/torch/internal/python"
	"github.com/gotorch-dev/torch/internal/torchzip"
	"github.com/gotorch-dev/torch/tensor"
)

// This file reads the bytecode of the lite interpreter: instructions of a stack machine with registers. PyTorch's
// compiler makes them of a graph, branch by branch, so that the jumps nest: the graph is read off them again by running
// the instructions once on values that are not known yet.
// https://github.com/pytorch/pytorch/blob/main/torch/csrc/jit/runtime/instruction.h

// instruction is one of the stack machine's.
type instruction struct {
	op   string
	x, n int
}

// liteOp is an operator that OP calls.
type liteOp struct {
	name string
	args int // -1: as many as the schema has
}

// liteCode is the bytecode of one function.
type liteCode struct {
	name      string
	code      []instruction
	ops       []liteOp
	constants []tensor.Value
	types     []string
}

// fields reads the tuple of named tables that describes a function.
func fields(v pickle.Value) map[string]pickle.Value {
	out := map[string]pickle.Value{}
	t, _ := v.(pickle.Tuple)
	for _, e := range t {
		if p, ok := e.(pickle.Tuple); ok && len(p) == 2 {
			if name, ok := p[0].(string); ok {
				out[name] = p[1]
			}
		}
	}
	return out
}

func pickledInt(v pickle.Value) (int, bool) {
	n, ok := v.(int64)
	return int(n), ok && int64(int(n)) == n
}

// readBytecode declares the methods that bytecode.pkl has.
func (a *archive) readBytecode(p *unpickler) error {
	prefix := "constants/"
	if a.zr.Has("bytecode/0") {
		prefix = "bytecode/"
	}
	root, err := torchzip.LoadRecord(a.zr, "bytecode.pkl", prefix, torchzip.LoadOptions{})
	if err != nil {
		return fmt.Errorf("%w: bytecode.pkl: %w", ErrFormat, err)
	}
	list, ok := root.(pickle.Tuple)
	if !ok || len(list) == 0 {
		return fmt.Errorf("%w: bytecode.pkl holds no tuple of functions", ErrFormat)
	}
	for i, e := range list {
		if _, isVersion := e.(int64); i == 0 && isVersion {
			continue
		}
		t, ok := e.(pickle.Tuple)
		if !ok || len(t) < 2 {
			return fmt.Errorf("%w: bytecode.pkl: entry %d is no function", ErrFormat, i)
		}
		name, _ := t[0].(string)
		c, err := p.liteCode(name, fields(t[1]))
		if err != nil {
			return fmt.Errorf("%w: bytecode.pkl: %s: %w", ErrFormat, name, err)
		}
		var sch pickle.Value
		if len(t) > 2 {
			sch = t[2]
		}
		if err := a.declareLite(p, c, fields(sch)); err != nil {
			return fmt.Errorf("%w: bytecode.pkl: %s: %w", ErrFormat, name, err)
		}
	}
	return nil
}

func (p *unpickler) liteCode(name string, f map[string]pickle.Value) (*liteCode, error) {
	c := &liteCode{name: name}
	code, _ := f["instructions"].(pickle.Tuple)
	for i, e := range code {
		t, ok := e.(pickle.Tuple)
		if !ok || len(t) != 3 {
			return nil, fmt.Errorf("instruction %d has no three parts", i)
		}
		op, ok1 := t[0].(string)
		x, ok2 := pickledInt(t[1])
		n, ok3 := pickledInt(t[2])
		if !ok1 || !ok2 || !ok3 {
			return nil, fmt.Errorf("instruction %d is malformed", i)
		}
		c.code = append(c.code, instruction{op, x, n})
	}
	ops, _ := f["operators"].(pickle.Tuple)
	for i, e := range ops {
		t, ok := e.(pickle.Tuple)
		if !ok || len(t) < 2 {
			return nil, fmt.Errorf("operator %d is malformed", i)
		}
		o := liteOp{args: -1}
		base, _ := t[0].(string)
		overload, _ := t[1].(string)
		if o.name = base; overload != "" {
			o.name += "." + overload
		}
		if len(t) > 2 {
			if n, ok := pickledInt(t[2]); ok {
				o.args = n
			}
		}
		c.ops = append(c.ops, o)
	}
	consts, _ := f["constants"].(pickle.Tuple)
	for _, e := range consts {
		v, err := p.value(e, nil)
		if err != nil {
			return nil, err
		}
		c.constants = append(c.constants, v)
	}
	types, _ := f["types"].(pickle.Tuple)
	for _, e := range types {
		s, _ := e.(string)
		c.types = append(c.types, s)
	}
	return c, nil
}

// declareLite makes a method of bytecode, with the parameters that its schema names.
func (a *archive) declareLite(p *unpickler, c *liteCode, sch map[string]pickle.Value) error {
	i := strings.LastIndexByte(c.name, '.')
	if i < 0 {
		return fmt.Errorf("the name has no class")
	}
	class, method := c.name[:i], c.name[i+1:]
	t, err := p.u.typeNamed(class)
	if err != nil {
		return err
	}
	if t == nil {
		t = p.dynamicClass(class).Type
	}
	if t.Kind != graph.ClassType {
		return fmt.Errorf("%s is no class", class)
	}
	s := &graph.Schema{Name: c.name}
	args, _ := sch["arguments"].(pickle.Tuple)
	for _, e := range args {
		f := fields(e)
		param := graph.Param{Type: graph.Any}
		param.Name, _ = f["name"].(string)
		if text, ok := f["type"].(string); ok {
			param.Type = p.liteType(text)
		}
		if d := f["default_value"]; d != nil {
			v, err := p.value(d, param.Type)
			if err != nil {
				return err
			}
			param.Default = &v
		} else if param.Type.Kind == graph.OptionalType { // None, or no default: the format does not tell
			param.Default = &tensor.Value{}
		}
		s.Params = append(s.Params, param)
	}
	if len(args) == 0 { // old files have no schemas: the first instruction stores the arguments
		n := 1
		if len(c.code) > 0 && c.code[0].op == "STOREN" {
			n = c.code[0].n
		}
		if n < 1 || n > 1000 {
			return fmt.Errorf("%d parameters", n)
		}
		for k := range n {
			s.Params = append(s.Params, graph.Param{Name: fmt.Sprintf("argument_%d", k), Type: graph.Any})
		}
	}
	s.Params[0].Type = t
	s.Results = []graph.Result{{Type: graph.Any}}
	if rets, _ := sch["returns"].(pickle.Tuple); len(rets) == 1 {
		if text, ok := fields(rets[0])["type"].(string); ok {
			s.Results[0].Type = p.liteType(text)
		}
	}
	f := graph.NewFunction(c.name)
	f.Schema = s
	b := &bytecode{c: c, p: p, b: f.Body, version: a.version}
	if err := b.translate(f, s); err != nil {
		return err
	}
	t.Class.AddMethod(method, f)
	return nil
}

// liteType reads a type of the bytecode; what is not known is Any. A named tuple is
// __torch__.Point[NamedTuple, [[x, Tensor], [y, int]]].
func (p *unpickler) liteType(s string) *graph.Type {
	name, rest, named := strings.Cut(s, "[NamedTuple, [")
	if !named || strings.ContainsAny(name, "[, ") {
		t, err := p.u.parseType(s)
		if err != nil {
			return graph.Any
		}
		return t
	}
	t := &graph.Type{Kind: graph.TupleType, Name: name}
	for _, f := range strings.Split(strings.TrimSuffix(rest, "]]"), "], [") {
		field, typ, _ := strings.Cut(strings.Trim(f, "[]"), ", ")
		t.Fields, t.Elems = append(t.Fields, field), append(t.Elems, p.liteType(typ))
	}
	return t
}

// dynamicClass is a class that no code describes: its attributes are those that the first object has.
func (p *unpickler) dynamicClass(name string) *graph.Class {
	if c := p.u.classes[name]; c != nil {
		return c
	}
	c := graph.NewClass(name, graph.ClassType)
	c.Module = true
	p.u.classes[name] = c
	return c
}

// bytecode translates one function.
type bytecode struct {
	c       *liteCode
	p       *unpickler
	b       *graph.Block
	version int
	stack   []*graph.Value // nil: a counter of a loop, which no instruction may read
	regs    map[int]*graph.Value
	depth   int
	done    bool // RET has been met
}

type bytecodeError struct{ error }

func (b *bytecode) fail(at int, format string, args ...any) {
	panic(bytecodeError{fmt.Errorf("instruction %d: %s", at, fmt.Sprintf(format, args...))})
}

func (b *bytecode) translate(f *graph.Function, s *graph.Schema) (err error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(bytecodeError)
			if !ok {
				panic(r)
			}
			err = e.error
		}
	}()
	b.regs = map[int]*graph.Value{}
	for _, p := range s.Params {
		b.stack = append(b.stack, b.b.Param(p.Name, p.Type))
	}
	b.run(0, len(b.c.code))
	var ret *graph.Value
	if n := len(b.stack); n > 0 && b.stack[n-1] != nil {
		ret = b.stack[n-1]
	} else {
		ret = b.b.Const(nil)
	}
	f.Body.Return(ret)
	return nil
}

func (b *bytecode) push(v *graph.Value) { b.stack = append(b.stack, v) }

func (b *bytecode) pop(at int) *graph.Value {
	n := len(b.stack)
	if n == 0 || b.stack[n-1] == nil {
		b.fail(at, "the stack is empty")
	}
	v := b.stack[n-1]
	b.stack = b.stack[:n-1]
	return v
}

func (b *bytecode) popN(at, n int) []*graph.Value {
	if n < 0 || n > len(b.stack) {
		b.fail(at, "%d values of a stack of %d", n, len(b.stack))
	}
	out := make([]*graph.Value, n)
	for i := n - 1; i >= 0; i-- {
		out[i] = b.pop(at)
	}
	return out
}

// add appends a node whose results go to the stack.
func (b *bytecode) add(n *graph.Node, results ...*graph.Type) {
	for _, v := range b.b.Add(n, results...).Out {
		b.push(v)
	}
}

// run translates the instructions from one place to another.
func (b *bytecode) run(from, to int) {
	if b.depth++; b.depth > python.MaxIndent {
		b.fail(from, "blocks are nested more than %d deep", python.MaxIndent)
	}
	defer func() { b.depth-- }()
	for pc := from; pc < to && !b.done; {
		in := b.c.code[pc]
		b.b.At(graph.Pos{File: "bytecode.pkl, " + b.c.name + ", instruction", Line: pc})
		switch in.op {
		case "JF":
			pc = b.branch(pc, to)
		case "LOOP":
			pc = b.loop(pc, to)
		case "RET":
			if b.depth > 1 {
				b.fail(pc, "RET inside of a branch")
			}
			b.done = true
		case "JMP":
			b.fail(pc, "a jump that ends no branch and no loop")
		default:
			b.step(pc, in)
			pc++
		}
	}
}

// target checks the place of a jump.
func (b *bytecode) target(pc, x, to int) int {
	if x < 1 || x > to-pc {
		b.fail(pc, "a jump by %d leaves its block", x)
	}
	return pc + x
}

// branch translates JF: the instructions up to a JMP are one side, those that the JMP skips the other.
func (b *bytecode) branch(pc, to int) int {
	cond := b.pop(pc)
	other := b.target(pc, b.c.code[pc].x, to)
	jump := other - 1
	if jump <= pc || b.c.code[jump].op != "JMP" {
		b.fail(pc, "the branch does not end with a jump")
	}
	end := b.target(jump, b.c.code[jump].x, to)
	n := &graph.Node{Op: graph.If, In: []*graph.Value{cond}, Block: b.b}
	outer, before, regs := b.b, b.stack, b.regs
	var sides [2][]*graph.Value
	for i, r := range [2][2]int{{pc + 1, jump}, {other, end}} {
		b.b = n.NewBlock()
		b.stack = append([]*graph.Value(nil), before...)
		b.regs = make(map[int]*graph.Value, len(regs))
		for k, v := range regs {
			b.regs[k] = v
		}
		b.run(r[0], r[1])
		sides[i] = b.stack
	}
	b.b, b.regs = outer, regs
	if len(sides[0]) != len(sides[1]) {
		b.fail(pc, "the sides of the branch leave %d and %d values", len(sides[0]), len(sides[1]))
	}
	b.stack = append([]*graph.Value(nil), sides[0]...)
	var types []*graph.Type
	var at []int
	for i := range b.stack {
		x, y := sides[0][i], sides[1][i]
		if x == y {
			continue
		}
		if x == nil || y == nil {
			b.fail(pc, "a branch changes the counter of a loop")
		}
		n.Blocks[0].Results = append(n.Blocks[0].Results, x)
		n.Blocks[1].Results = append(n.Blocks[1].Results, y)
		types, at = append(types, graph.Any), append(at, i)
	}
	b.b.Add(n, types...)
	for i, k := range at {
		b.stack[k] = n.Out[i]
	}
	return end
}

// loop translates LOOP: the stack holds the count, the limit, the condition and the carried values.
func (b *bytecode) loop(pc, to int) int {
	in := b.c.code[pc]
	end := b.target(pc, in.x, to)
	back := end - 1
	carried := in.n - 2
	if back <= pc || b.c.code[back].op != "JMP" || back+b.c.code[back].x != pc {
		b.fail(pc, "the loop does not end with a jump to its start")
	}
	if carried < 0 || carried > len(b.stack) {
		b.fail(pc, "the loop carries %d values", carried)
	}
	vals := b.popN(pc, carried)
	cond, most := b.pop(pc), b.pop(pc)
	b.pop(pc) // the count
	n := &graph.Node{Op: graph.Loop, In: append([]*graph.Value{most, cond}, vals...), Block: b.b}
	outer, before, regs := b.b, b.stack, b.regs
	b.b = n.NewBlock()
	b.stack = append(append([]*graph.Value(nil), before...), nil, nil, b.b.Param("", graph.Int))
	var types []*graph.Type
	for range vals {
		b.push(b.b.Param("", graph.Any))
		types = append(types, graph.Any)
	}
	b.regs = make(map[int]*graph.Value, len(regs))
	for k, v := range regs {
		b.regs[k] = v
	}
	b.run(pc+1, back)
	if len(b.stack) != len(before)+3+carried {
		b.fail(pc, "an iteration leaves %d values, want %d", len(b.stack)-len(before), 3+carried)
	}
	b.b.Results = b.popN(back, carried+1)
	b.b, b.stack, b.regs = outer, before, regs
	b.add(n, types...)
	return end
}

// typeAt is entry x of the table of types.
func (b *bytecode) typeAt(pc, x int) *graph.Type {
	if x < 0 || x >= len(b.c.types) {
		b.fail(pc, "there is no type %d", x)
	}
	return b.p.liteType(b.c.types[x])
}

func (b *bytecode) constant(pc, x int) tensor.Value {
	if x < 0 || x >= len(b.c.constants) {
		b.fail(pc, "there is no constant %d", x)
	}
	return b.c.constants[x]
}

// plainInstructions are the instructions that stand for operators with this number of arguments.
var plainInstructions = map[string]struct {
	op   string
	args int
}{"__IS__": {"aten::__is__", 2}, "__ISNOT__": {"aten::__isnot__", 2}, "DEVICE": {"prim::device", 1},
	"DTYPE": {"prim::dtype", 1}, "DIM": {"aten::dim", 1}, "__NOT__": {"aten::__not__", 1},
	"DICT_INDEX": {"aten::__getitem__.Dict_str", 2}, "NUM_TO_TENSOR": {"prim::NumToTensor.Scalar", 1},
	"IS_CUDA": {"prim::is_cuda", 1}, "WARN": {"aten::warn", 2}}

// step translates an instruction without a jump.
func (b *bytecode) step(pc int, in instruction) {
	switch in.op {
	case "OP", "OPN":
		b.call(pc, in)
	case "LOAD", "MOVE":
		v := b.regs[in.x]
		if v == nil {
			b.fail(pc, "register %d is empty", in.x)
		}
		if in.op == "MOVE" {
			delete(b.regs, in.x)
		}
		b.push(v)
	case "STORE":
		b.regs[in.x] = b.pop(pc)
	case "STOREN":
		for i, v := range b.popN(pc, in.n) {
			b.regs[in.x+i] = v
		}
	case "DROP":
		b.pop(pc)
	case "DROPR":
		delete(b.regs, in.x)
	case "LOADC":
		v := b.constant(pc, in.x)
		b.push(b.b.ConstOf(v, graph.TypeOf(v)))
	case "GET_ATTR", "SET_ATTR":
		b.attribute(pc, in)
	case "LIST_CONSTRUCT":
		t := b.typeAt(pc, in.x)
		if t.Kind != graph.ListType {
			t = graph.ListOf(graph.Any)
		}
		b.add(&graph.Node{Op: graph.ListConstruct, In: b.popN(pc, in.n)}, t)
	case "DICT_CONSTRUCT":
		t := b.typeAt(pc, in.x)
		if t.Kind != graph.DictType {
			t = graph.DictOf(graph.Any, graph.Any)
		}
		b.add(&graph.Node{Op: graph.DictConstruct, In: b.popN(pc, in.n)}, t)
	case "TUPLE_CONSTRUCT", "NAMED_TUPLE_CONSTRUCT":
		n := in.x
		if in.op == "NAMED_TUPLE_CONSTRUCT" {
			n = in.n
		}
		items := b.popN(pc, n)
		if in.op == "NAMED_TUPLE_CONSTRUCT" {
			if t := b.typeAt(pc, in.x); t.Kind == graph.TupleType && len(t.Elems) == len(items) {
				b.add(&graph.Node{Op: graph.TupleConstruct, In: items}, t)
				return
			}
		}
		b.push(b.b.Tuple(items...))
	case "LIST_UNPACK":
		if in.x < 0 || in.x > len(b.c.code) {
			b.fail(pc, "a list of %d elements", in.x)
		}
		types := make([]*graph.Type, in.x)
		for i := range types {
			types[i] = graph.Any
		}
		b.add(&graph.Node{Op: graph.ListUnpack, In: []*graph.Value{b.pop(pc)}}, types...)
	case "TUPLE_SLICE":
		v := b.pop(pc)
		if in.n < 0 || in.n > len(b.c.code) || in.x < 0 {
			b.fail(pc, "a slice of %d from %d", in.n, in.x)
		}
		var items []*graph.Value
		for i := range in.n {
			items = append(items, b.b.Index(v, in.x+i))
		}
		b.push(b.b.Tuple(items...))
	case "TUPLE_INDEX":
		if at := b.pop(pc); at.Node == nil || at.Node.Op != graph.Constant {
			b.operator(pc, "gotorch::tuple_index", []*graph.Value{b.pop(pc), at})
		} else if i, ok := constantInt(at); ok {
			b.push(b.b.Index(b.pop(pc), i))
		} else {
			b.fail(pc, "the index of a tuple is no number")
		}
	default:
		b.objects(pc, in)
	}
}

// objects translates the instructions for objects, types and exceptions.
func (b *bytecode) objects(pc int, in instruction) {
	if p, ok := plainInstructions[in.op]; ok {
		b.operator(pc, p.op, b.popN(pc, p.args))
		return
	}
	switch in.op {
	case "CREATE_OBJECT":
		t := b.typeAt(pc, in.x)
		if t.Kind != graph.ClassType {
			b.fail(pc, "%s is no class", t)
		}
		b.add(&graph.Node{Op: graph.CreateObject, Class: t.Class}, t)
	case "ISINSTANCE":
		n := &graph.Node{Op: graph.IsInstance, In: []*graph.Value{b.pop(pc)}}
		if in.n < 0 || in.n > len(b.c.types) {
			b.fail(pc, "%d types", in.n)
		}
		for i := range in.n {
			n.Types = append(n.Types, b.typeAt(pc, in.x+i))
		}
		b.add(n, graph.Bool)
	case "UNCHECKED_CAST": // the value stays as it is
	case "UN_INITIALIZED":
		b.add(&graph.Node{Op: graph.Uninitialized}, graph.Any)
	case "FORMAT":
		b.operator(pc, "aten::format", b.popN(pc, in.x))
	case "RAISE_EXCEPTION":
		class, text := b.pop(pc), b.pop(pc)
		name := ""
		if class.Node != nil && class.Node.Op == graph.Constant {
			name, _ = class.Node.Const.X.(string)
		}
		b.b.Raise(name, text)
	case "TO_LIST":
		args := b.popN(pc, 3) // the tensor, the number of dimensions, the number of the elements' type
		b.operator(pc, "gotorch::tolist", args)
	case "INTERFACE_CALL":
		name, _ := b.constant(pc, in.x).X.(string)
		if name == "" || in.n < 1 {
			b.fail(pc, "a call of no method")
		}
		b.add(&graph.Node{Op: graph.CallMethod, Attr: name, In: b.popN(pc, in.n)}, graph.Any)
	case "ENTER":
		b.add(&graph.Node{Op: graph.CallMethod, Attr: "__enter__", In: b.popN(pc, 1)}, graph.Any)
	case "EXIT":
		none := b.b.Const(nil)
		b.add(&graph.Node{Op: graph.CallMethod, Attr: "__exit__", In: append(b.popN(pc, 1), none, none, none)},
			graph.Any)
	case "WAIT":
		b.add(&graph.Node{Op: graph.Wait, In: b.popN(pc, 1)}, graph.Any)
	default:
		b.fail(pc, "unknown instruction %.40s", in.op)
	}
}

// attribute translates GET_ATTR and SET_ATTR, which number the attributes of the object's class.
func (b *bytecode) attribute(pc int, in instruction) {
	n := &graph.Node{Op: graph.GetAttr, Index: in.x, Attr: graph.BySlot}
	if in.x < 0 {
		b.fail(pc, "attribute %d", in.x)
	}
	if in.op == "GET_ATTR" {
		n.In = b.popN(pc, 1)
		b.add(n, graph.Any)
		return
	}
	n.Op, n.In = graph.SetAttr, b.popN(pc, 2)
	b.b.Add(n)
}

func (b *bytecode) call(pc int, in instruction) {
	if in.x < 0 || in.x >= len(b.c.ops) {
		b.fail(pc, "there is no operator %d", in.x)
	}
	o := b.c.ops[in.x]
	n := o.args
	if in.op == "OPN" {
		n = in.n
	}
	if n < 0 {
		if op := graph.Lookup(o.name); op != nil {
			n = len(op.Params)
		} else {
			n = 0
		}
	}
	if o.name == graph.TupleUnpack && n == 1 {
		b.unpack(pc)
		return
	}
	b.operator(pc, o.name, b.popN(pc, n))
}

// withDefaults completes the arguments of a call that leaves defaults out. Those that the results are written to stand
// last in a schema and are given always, behind the others.
func (b *bytecode) withDefaults(o *graph.Operator, args []*graph.Value) []*graph.Value {
	op := o.Op()
	if op == nil || len(args) >= len(op.Sch.Params) {
		return args
	}
	params := op.Sch.Params
	end := len(params)
	for end > 0 && params[end-1].Writes && params[end-1].KwOnly {
		end--
	}
	outs := len(params) - end
	given := len(args) - outs
	if outs == 0 || given < 0 {
		return args
	}
	all := slices.Clone(args[:given])
	for _, p := range params[given:end] {
		if p.Default == nil {
			return args
		}
		all = append(all, b.b.ConstOf(*p.Default, graph.TypeOf(*p.Default)))
	}
	return append(all, args[given:]...)
}

// unpack takes a tuple apart. Where its type is not known the next instruction tells how many fields it has.
func (b *bytecode) unpack(pc int) {
	v := b.pop(pc)
	n := len(v.Type.Elems)
	if v.Type.Kind != graph.TupleType {
		if n = 1; pc+1 < len(b.c.code) && b.c.code[pc+1].op == "STOREN" {
			n = b.c.code[pc+1].n
		}
	}
	if n < 0 || n > len(b.c.code) {
		b.fail(pc, "a tuple of %d fields", n)
	}
	types := make([]*graph.Type, n)
	for i := range types {
		types[i] = graph.Any
	}
	b.add(&graph.Node{Op: graph.TupleUnpack, In: []*graph.Value{v}}, types...)
}

// operator calls an operator; its results go to the stack.
func (b *bytecode) operator(pc int, name string, args []*graph.Value) {
	base, form, _ := strings.Cut(name, ".")
	if b.version <= lastOldDiv && (base == "aten::div" || base == "aten::div_") && len(args) == 2 &&
		(form == "Tensor" || form == "Scalar") {
		name = "gotorch::old_" + name[len("aten::"):]
	}
	switch name {
	case "prim::unchecked_cast", "prim::unchecked_unwrap_optional", "prim::annotate":
		if len(args) == 1 {
			b.push(args[0])
			return
		}
	case graph.SetGrad:
		if len(args) == 1 {
			b.b.Add(&graph.Node{Op: graph.SetGrad, In: args})
			return
		}
	case graph.GradEnabled:
		b.add(&graph.Node{Op: graph.GradEnabled}, graph.Bool)
		return
	case graph.Raise:
		if len(args) > 0 {
			b.b.Raise("", args[0])
			return
		}
	case graph.Wait:
		b.add(&graph.Node{Op: graph.Wait, In: args}, graph.Any)
		return
	}
	n := &graph.Node{Op: name, Operator: graph.Lookup(name), In: args}
	if n.Operator == nil {
		b.add(n, graph.Any)
		return
	}
	n.In = b.withDefaults(n.Operator, args)
	var types []*graph.Type
	for _, r := range n.Operator.Results {
		types = append(types, substitute(r.Type, map[string]*graph.Type{}))
	}
	b.add(n, types...)
}
