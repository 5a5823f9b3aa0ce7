package graph

import (
	"slices"
	"sync"

	"github.com/gotorch-dev/torch/tensor"
)

// The instructions of a compiled function. Each reads and writes registers of a frame; values have one register each.
type opcode uint8

const (
	opCall     opcode = iota // an operator of the registry
	opFunc                   // a helper
	opMove                   // out[0] = in[0]
	opMoves                  // out[i] = in[i], all at once
	opLoad                   // out[0] = a fresh copy of a list constant
	opJump                   // to
	opJumpIf                 // to, unless in[0] is true
	opLoopHead               // to, unless in[0] (iterations) < in[1] (limit) and in[2] (condition)
	opLoopNext               // in[0]++, then to
	opFree                   // only frees
	opList
	opUnpack
	opTuple
	opTupleIndex
	opDict
	opGetAttr
	opSetAttr
	opMethod
	opInvoke
	opWithin
	opNew
	opRaise
	opIsInstance
	opClosure
	opFork
	opWait
	opHelper
	opSetGrad
	opGradEnabled
	opMissing
)

// argMode is how an argument of an operator is made.
type argMode uint8

const (
	fromConst    argMode = iota
	fromReg              // as it is
	fromRegBoxed         // a list or a number that the parameter's kind wants in another form
	fromList             // a list of other arguments, which nothing else reads
)

type argument struct {
	mode  argMode
	kind  tensor.Kind
	fixed int
	reg   int32
	val   tensor.Value
	list  []argument
}

// released is a register whose value nobody reads any more; group is the group of its memory, -1 when others may know
// it.
type released struct{ reg, group int32 }

type instr struct {
	op    opcode
	out   []int32
	in    []int32
	to    int32
	index int32
	op1   *tensor.Op // of opCall
	one   bool       // opCall with one tensor as its result
	args  []argument
	group int32 // of opCall: the group of its only result; -1 without
	fn    Func
	free  []released
	over  bool // opMove, opMoves: what the registers held before goes
	node  *Node
}

// program is a compiled function.
type program struct {
	once    sync.Once
	err     error
	code    []instr
	consts  []tensor.Value // registers 0 … hold them
	params  []int32
	result  []int32
	regs    int
	groups  int
	groupOf []int32      // by register: its group, -1 without
	carried [][]int32    // by group: its registers, when control flow hands values on within it; otherwise none
	flows   bool         // a group is so
	extra   []extraConst // registers with defaults of helpers
	frames  sync.Pool
}

// extraConst is a register that holds a constant.
type extraConst struct {
	reg int32
	val tensor.Value
}

// Compile verifies the function and prepares it to run. Run does so as well, the first time. The function must not be
// changed afterwards. An operator that does not exist is an error here if every run meets it; in a branch or a loop it
// is one of the run that meets it.
func (f *Function) Compile() error {
	f.code.once.Do(func() {
		if f.code.err = f.runnable(); f.code.err == nil {
			c := compiler{f: f.inlined(), p: &f.code, uses: map[*Value]*usage{}}
			if err := tensor.Try(c.run); err != nil {
				f.code.err = &Error{Func: f.Name, Node: c.at, Err: err}
			}
		}
	})
	return f.code.err
}

type compiler struct {
	f    *Function
	p    *program
	uses map[*Value]*usage
	// nodes whose list is made where it is read
	fused map[*Node]bool
	at    *Node // that is compiled
}

// usage is what is known of a value.
type usage struct {
	count  int    // of uses
	last   int    // index of the last node in the block of the definition that reads it, here or in a block inside
	onlyIn *Node  // the node of the first use
	onlyAt int    // the argument
	parent *Value // in the group of values that share memory (union-find)
	escape bool   // of a group's representative: something else may know the memory
	outer  bool   // of a representative: a value of the group comes from the caller, or goes to it
	flows  bool   // of a representative: If or Loop hands values on within the group
	fresh  bool   // the value's memory is freed at its last use
	load   bool   // something other than operators reads it, or an operator that changes it
	group  int32
}

func (c *compiler) run() {
	c.fused = map[*Node]bool{}
	c.analyse(c.f.Body)
	c.fuseLists(c.f.Body)
	c.lifetimes(c.f.Body)
	c.groups(c.f.Body)
	c.constants(c.f.Body)
	for _, v := range c.f.Body.Params {
		c.p.params = append(c.p.params, c.newReg(v))
	}
	c.block(c.f.Body)
	for _, v := range c.f.Body.Results {
		c.p.result = append(c.p.result, v.reg)
	}
	c.p.frames.New = func() any {
		f := &frame{p: c.p, regs: make([]tensor.Value, c.p.regs), shared: make([]bool, c.p.groups)}
		copy(f.regs, c.p.consts)
		for _, e := range c.p.extra {
			f.regs[e.reg] = e.val
		}
		return f
	}
}

func (c *compiler) newReg(v *Value) int32 {
	v.reg = int32(c.p.regs)
	c.p.regs++
	g := c.group(v)
	c.p.groupOf = append(c.p.groupOf, g)
	if g >= 0 && c.usage(c.find(v)).flows {
		c.p.carried[g] = append(c.p.carried[g], v.reg)
	}
	return v.reg
}

func (c *compiler) temp() int32 {
	c.p.regs++
	c.p.groupOf = append(c.p.groupOf, -1)
	return int32(c.p.regs - 1)
}

func (c *compiler) usage(v *Value) *usage {
	u := c.uses[v]
	if u == nil {
		u = &usage{last: -1, group: -1}
		c.uses[v] = u
	}
	return u
}

// analyse counts uses.
func (c *compiler) analyse(b *Block) {
	for _, n := range b.Nodes {
		for i, v := range n.In {
			u := c.usage(v)
			if u.count++; u.count == 1 {
				u.onlyIn, u.onlyAt = n, i
			}
			u.load = u.load || n.Operator == nil || n.Operator.op == nil || i >= len(n.Operator.Params) ||
				n.Operator.Params[i].Writes()
		}
		for _, d := range n.Blocks {
			c.analyse(d)
		}
	}
	for _, v := range b.Results {
		u := c.usage(v)
		u.count += 2 // never only one
		u.load = true
	}
}

// fuseLists finds lists that exist only to be handed to one operator.
func (c *compiler) fuseLists(b *Block) {
	for _, n := range b.Nodes {
		for _, d := range n.Blocks {
			c.fuseLists(d)
		}
		if n.Op != ListConstruct {
			continue
		}
		u := c.usage(n.Out[0])
		if u.count != 1 || u.onlyIn.Operator == nil || u.onlyIn.Operator.op == nil || u.onlyIn.Block != b ||
			u.onlyAt >= len(u.onlyIn.Operator.op.Sch.Params) {
			continue
		}
		if p := &u.onlyIn.Operator.op.Sch.Params[u.onlyAt]; !p.Writes && isList(p.Kind) {
			c.fused[n] = true
		}
	}
}

func isList(k tensor.Kind) bool {
	switch k {
	case tensor.KTensors, tensor.KInts, tensor.KFloats, tensor.KBools, tensor.KScalars:
		return true
	}
	return false
}

// scope is the block in which a value is defined.
func (v *Value) scope() *Block {
	if v.Node != nil {
		return v.Node.Block
	}
	return v.Block
}

// lifetimes notes the last use of each value.
func (c *compiler) lifetimes(b *Block) {
	index := map[*Node]int{}
	var walk func(b *Block)
	walk = func(b *Block) {
		for i, n := range b.Nodes {
			index[n] = i
			for _, d := range n.Blocks {
				walk(d)
			}
		}
	}
	walk(b)
	use := func(v *Value, n *Node, in *Block) {
		home := v.scope()
		for in != home {
			n, in = in.Owner, in.Owner.Block
		}
		at := len(home.Nodes) // for a result of the block
		if n != nil {
			at = index[n]
		}
		u := c.usage(v)
		u.last = max(u.last, at)
	}
	var visit func(b *Block)
	visit = func(b *Block) {
		for _, n := range b.Nodes {
			for _, v := range n.In {
				use(v, n, b)
				if v.Node != nil && c.fused[v.Node] {
					for _, e := range v.Node.In {
						use(e, n, b)
					}
				}
			}
			for _, d := range n.Blocks {
				visit(d)
			}
		}
		for _, v := range b.Results {
			use(v, nil, b)
		}
	}
	visit(b)
}

// find is the representative of a group.
func (c *compiler) find(v *Value) *Value {
	for {
		u := c.usage(v)
		if u.parent == nil {
			return v
		}
		v = u.parent
	}
}

func (c *compiler) union(v, w *Value) {
	a, b := c.find(v), c.find(w)
	if a != b {
		ua, ub := c.usage(a), c.usage(b)
		ua.parent = b
		ub.escape, ub.outer, ub.flows = ub.escape || ua.escape, ub.outer || ua.outer, ub.flows || ua.flows
	}
}

func (c *compiler) escape(v *Value) { c.usage(c.find(v)).escape = true }

// outer says that the caller knows the memory of a value.
func (c *compiler) outer(v *Value) { c.usage(c.find(v)).outer = true }

// flow says that control flow hands on one of the values as v.
func (c *compiler) flow(v *Value, from ...*Value) {
	for _, w := range from {
		c.union(v, w)
	}
	c.usage(c.find(v)).flows = true
}

// group is the number of a value's group, -1 when its memory is never freed by the program.
func (c *compiler) group(v *Value) int32 {
	return c.usage(c.find(v)).group
}

// groups finds the values whose memory only this function knows: results of operators, which are neither part of
// another value nor handed on. Values that share memory by the schemas are one group.
//
// In straight code a group dies with its last member, which is known here. What If and Loop hand on is one group with
// what it was before and after: which of its values share memory is known only when the program runs. Such a value is
// freed at its last use if no register of the group holds the same memory then, and if the memory was made during the
// call: values of the caller and constants may be in the group.
func (c *compiler) groups(b *Block) {
	var fresh []*Value
	var visit func(b *Block)
	visit = func(b *Block) {
		for _, n := range b.Nodes {
			switch {
			case c.fused[n]:
			case n.Op == Constant:
				c.outer(n.Out[0])
			case n.Op == If:
				for i, v := range n.Out {
					c.flow(v, n.Blocks[0].Results[i], n.Blocks[1].Results[i])
				}
			case n.Op == Loop:
				for i, v := range n.Out {
					c.flow(v, n.In[2+i], n.Blocks[0].Params[1+i], n.Blocks[0].Results[1+i])
				}
			case n.Op == UncheckedCast:
				c.flow(n.Out[0], n.In[0])
			case n.Operator != nil && n.Operator.op != nil:
				fresh = append(fresh, c.groupCall(n)...)
			case n.Op == ListUnpack:
				for _, v := range n.Out {
					c.union(v, n.In[0])
				}
			case n.Operator != nil && onTensors(n.Operator.Schema):
				for _, v := range n.Out {
					if !isPlain(v.Type) {
						c.flow(v, tensorsOf(n.In)...)
					}
				}
			default:
				for _, v := range n.In {
					c.escape(v)
				}
				for _, v := range n.Out {
					c.escape(v)
				}
			}
			for _, d := range n.Blocks {
				visit(d)
			}
		}
	}
	visit(b)
	for _, v := range append(slices.Clone(b.Params), b.Results...) {
		c.outer(v)
	}
	// a group dies with its last member, at the place of its only fresh value
	members := map[*Value][]*Value{}
	for v := range c.uses {
		r := c.find(v)
		members[r] = append(members[r], v)
	}
	roots := map[*Value]*Value{}
	for _, v := range fresh {
		r := c.find(v)
		if roots[r] != nil && !c.usage(r).flows {
			c.escape(v)
		}
		roots[r] = v
	}
	for _, root := range fresh {
		r := c.find(root)
		if u := c.usage(r); u.flows && u.group < 0 && !u.escape && len(members[r]) <= maxCarried {
			u.group = c.newGroup()
			c.p.flows = true
			for _, m := range members[r] {
				c.usage(m).fresh = true
			}
			continue
		}
		if u := c.usage(r); u.escape || u.outer || u.flows || roots[r] != root {
			continue
		}
		home, last := root.scope(), 0
		for _, m := range members[r] {
			u := c.usage(m)
			at, in := u.last, m.scope()
			for in != home && in != nil && in.Owner != nil {
				at, in = slices.Index(in.Owner.Block.Nodes, in.Owner), in.Owner.Block
			}
			if in != home {
				last = len(home.Nodes)
				break
			}
			last = max(last, at)
		}
		if last >= len(home.Nodes) {
			c.usage(r).escape = true
			continue
		}
		c.usage(r).group = c.newGroup()
		c.usage(root).last = max(last, c.usage(root).last)
		c.usage(root).fresh = true
	}
}

// maxCarried bounds the values of a group that are looked through at each last use.
const maxCarried = 256

func (c *compiler) newGroup() int32 {
	c.p.groups++
	c.p.carried = append(c.p.carried, nil)
	return int32(c.p.groups - 1)
}

// onTensors reports a helper that keeps none of its arguments: it has nothing but tensors and plain values, and its
// results are plain, or tensors that may be its arguments.
func onTensors(s *Schema) bool {
	for _, p := range s.Params {
		if !isPlain(p.Type) && !isTensor(p.Type) {
			return false
		}
	}
	for _, r := range s.Results {
		if !isPlain(r.Type) && !isTensor(r.Type) {
			return false
		}
	}
	return !s.VarArgs
}

// isTensor reports Tensor and Tensor?.
func isTensor(t *Type) bool {
	return t.Kind == TensorType || t.Kind == OptionalType && t.Elems[0].Kind == TensorType
}

func tensorsOf(l []*Value) (out []*Value) {
	for _, v := range l {
		if !isPlain(v.Type) {
			out = append(out, v)
		}
	}
	return out
}

func isPlain(t *Type) bool {
	switch t.Kind {
	case IntType, FloatType, BoolType, StrType, NumberType, ComplexType, DeviceType, NoneType:
		return true
	case ListType, OptionalType:
		return isPlain(t.Elems[0])
	}
	return false
}

// groupCall says what the results of an operator share memory with, and returns those that are new.
func (c *compiler) groupCall(n *Node) (fresh []*Value) {
	s, op := n.Operator.Schema, n.Operator.op
	for i, v := range n.Out {
		if i >= len(s.Results) {
			break
		}
		shares := s.Results[i].Alias != "" || op.View != nil
		switch {
		case shares:
			for j, a := range n.In {
				if j < len(s.Params) && (s.Params[j].Alias != "" || op.View != nil && j == 0) {
					c.union(v, a)
				}
			}
		case s.Results[i].Type.Kind == TensorType:
			fresh = append(fresh, v)
		default:
			c.escape(v)
		}
	}
	for j, a := range n.In { // written into a list, or kept
		if j < len(s.Params) && s.Params[j].Type.Kind != TensorType && s.Params[j].Alias != "" && len(n.Out) == 0 {
			c.escape(a)
		}
		if a.Node != nil && a.Type.Kind == ListType && !c.fused[a.Node] && !isPlain(a.Type) {
			c.escape(a)
		}
	}
	return fresh
}

// constants gives the constants of the function the first registers.
func (c *compiler) constants(b *Block) {
	for _, n := range b.Nodes {
		if n.Op == Constant && !isMutable(n.Const) {
			c.p.consts = append(c.p.consts, Normal(n.Const))
			c.newReg(n.Out[0])
		}
		for _, d := range n.Blocks {
			c.constants(d)
		}
	}
}

// isMutable reports a constant that a program might change, and so needs a copy of.
func isMutable(v tensor.Value) bool {
	if isList(v.K) {
		return true
	}
	switch v.X.(type) {
	case *List, *Dict:
		return true
	}
	return false
}

func (c *compiler) emit(i instr) *instr {
	i.group = -1
	c.p.code = append(c.p.code, i)
	return &c.p.code[len(c.p.code)-1]
}

func regs(l []*Value) []int32 {
	out := make([]int32, len(l))
	for i, v := range l {
		out[i] = v.reg
	}
	return out
}

// block emits the nodes of a block.
func (c *compiler) block(b *Block) {
	dies := map[int][]released{}
	note := func(v *Value, at int) {
		if u := c.usage(v); u.last < len(b.Nodes) {
			r := released{reg: v.reg, group: -1}
			if u.fresh {
				r.group = c.group(v)
			}
			dies[max(u.last, at)] = append(dies[max(u.last, at)], r)
		}
	}
	if len(b.Nodes) > 0 {
		for i, v := range b.Params {
			if b.Owner == nil || i > 0 && c.usage(v).last >= 0 { // the number of an iteration is a number
				note(v, 0)
			}
		}
	}
	for i, n := range b.Nodes {
		if n.Op == Constant && !isMutable(n.Const) || c.fused[n] {
			continue
		}
		if n.Op == Constant && !c.usage(n.Out[0]).load { // operators have it among their arguments
			continue
		}
		for _, v := range n.Out {
			c.newReg(v)
		}
		start := len(c.p.code)
		c.at = n
		c.node(n)
		for _, v := range n.Out {
			note(v, i)
		}
		if free := dies[i]; len(free) > 0 {
			if len(n.Blocks) > 0 || len(c.p.code) == start {
				c.emit(instr{op: opFree, node: n, free: free})
			} else {
				c.p.code[len(c.p.code)-1].free = free
			}
			delete(dies, i)
		}
	}
}

func (c *compiler) node(n *Node) {
	out := regs(n.Out)
	simple := func(op opcode) *instr { return c.emit(instr{op: op, node: n, in: regs(n.In), out: out}) }
	switch n.Op {
	case Constant:
		simple(opLoad)
	case Uninitialized:
		c.emit(instr{op: opFree, node: n})
	case UncheckedCast:
		simple(opMove)
	case ListConstruct:
		simple(opList)
	case ListUnpack, TupleUnpack:
		simple(opUnpack)
	case TupleConstruct:
		simple(opTuple)
	case TupleIndex:
		simple(opTupleIndex).index = int32(n.Index)
	case DictConstruct:
		simple(opDict)
	case GetAttr, SetAttr:
		op := opGetAttr
		if n.Op == SetAttr {
			op = opSetAttr
		}
		i := simple(op)
		if i.index = -1; n.Attr == BySlot {
			i.index = int32(n.Index)
		} else if k := n.In[0].Type.Class; k != nil {
			i.index = int32(k.AttrIndex(n.Attr))
		}
	case CallMethod:
		simple(opMethod)
	case CallFunction:
		simple(opInvoke)
	case Within:
		simple(opWithin)
	case CreateObject:
		simple(opNew)
	case Raise:
		simple(opRaise)
	case IsInstance:
		simple(opIsInstance)
	case Closure:
		simple(opClosure)
	case Fork:
		simple(opFork)
	case Wait:
		simple(opWait)
	case SetGrad:
		simple(opSetGrad)
	case GradEnabled:
		simple(opGradEnabled)
	case If:
		c.branch(n)
	case Loop:
		c.loop(n)
	default:
		c.call(n, out)
	}
}

func (c *compiler) branch(n *Node) {
	jump := len(c.p.code)
	c.emit(instr{op: opJumpIf, node: n, in: regs(n.In)})
	c.block(n.Blocks[0])
	c.leave(n.Blocks[0], n.Blocks[0].Results, regs(n.Out))
	end := len(c.p.code)
	c.emit(instr{op: opJump, node: n})
	c.p.code[jump].to = int32(len(c.p.code))
	c.block(n.Blocks[1])
	c.leave(n.Blocks[1], n.Blocks[1].Results, regs(n.Out))
	c.p.code[end].to = int32(len(c.p.code))
}

// leave moves results of a block to the registers out at its end. The registers of the block that held them are done
// with.
func (c *compiler) leave(b *Block, results []*Value, out []int32) {
	i := c.moves(b.Owner, regs(results), out)
	if i == nil {
		return
	}
	for _, v := range results {
		if v.scope() != b || int(v.reg) < len(c.p.consts) || slices.Contains(out, v.reg) ||
			slices.ContainsFunc(i.free, func(r released) bool { return r.reg == v.reg }) {
			continue
		}
		r := released{reg: v.reg, group: -1}
		if c.usage(v).fresh {
			r.group = c.group(v)
		}
		i.free = append(i.free, r)
	}
}

func (c *compiler) moves(n *Node, in, out []int32) *instr {
	switch len(out) {
	case 0:
	case 1:
		if in[0] != out[0] {
			return c.emit(instr{op: opMove, node: n, in: in, out: out})
		}
	default:
		return c.emit(instr{op: opMoves, node: n, in: in, out: out})
	}
	return nil
}

func (c *compiler) loop(n *Node) {
	b := n.Blocks[0]
	for _, v := range b.Params {
		c.newReg(v)
	}
	params := regs(b.Params)
	cond, count, zero := c.temp(), c.temp(), c.constant(tensor.IntValue(0))
	c.emit(instr{op: opMoves, node: n, in: append([]int32{n.In[1].reg, zero}, regs(n.In[2:])...),
		out: append([]int32{cond, count}, params[1:]...)})
	head := len(c.p.code)
	c.emit(instr{op: opLoopHead, node: n, in: []int32{count, n.In[0].reg, cond}, out: params[:1]})
	c.block(b)
	c.leave(b, b.Results, append([]int32{cond}, params[1:]...))
	if next := &c.p.code[len(c.p.code)-1]; next.op == opMove || next.op == opMoves {
		next.over = true
	}
	c.emit(instr{op: opLoopNext, node: n, in: []int32{count}, to: int32(head)})
	c.p.code[head].to = int32(len(c.p.code))
	c.leave(b, b.Params[1:], regs(n.Out))
}

// call emits a call of an operator or a helper.
func (c *compiler) call(n *Node, out []int32) {
	o := n.Operator
	if o == nil {
		c.emit(instr{op: opMissing, node: n})
		return
	}
	if o.op == nil {
		in := regs(n.In)
		for i := len(in); i < len(o.Params); i++ { // defaults
			in = append(in, c.constant(*o.Params[i].Default))
		}
		if o.calls != nil {
			c.emit(instr{op: opHelper, node: n, in: in, out: out})
			return
		}
		c.emit(instr{op: opFunc, node: n, fn: o.fn, in: in, out: out})
		return
	}
	i := instr{op: opCall, node: n, op1: o.op, out: out, args: make([]argument, len(o.op.Sch.Params))}
	for k := range i.args {
		p := &o.op.Sch.Params[k]
		if k < len(n.In) {
			i.args[k] = c.argument(n.In[k], p.Kind, p.Fixed)
		} else {
			i.args[k] = argument{mode: fromConst, kind: p.Kind, val: *p.Default}
		}
	}
	res := o.op.Sch.Results
	i.one = len(res) == 1 && res[0].Kind == tensor.KTensor && len(out) == 1
	at := c.emit(i)
	if i.one {
		at.group = c.group(n.Out[0])
	}
}

// constant is a register with a value that the program does not have as a constant. It is filled when a frame is made.
func (c *compiler) constant(v tensor.Value) int32 {
	r := c.temp()
	c.p.extra = append(c.p.extra, extraConst{r, v})
	return r
}

// argument says how an argument of an operator is made.
func (c *compiler) argument(v *Value, k tensor.Kind, fixed int) argument {
	a := argument{mode: fromReg, kind: k, fixed: fixed, reg: v.reg}
	if v.Node != nil && v.Node.Op == Constant {
		a.mode, a.val = fromConst, convert(v.Node.Const, &a)
		return a
	}
	if v.Node != nil && c.fused[v.Node] {
		a.mode = fromList
		constant := k != tensor.KTensors
		for _, e := range v.Node.In {
			x := argument{mode: fromReg, reg: e.reg}
			if e.Node != nil && e.Node.Op == Constant {
				x = argument{mode: fromConst, val: e.Node.Const}
			}
			constant = constant && x.mode == fromConst
			a.list = append(a.list, x)
		}
		if constant {
			items := make([]tensor.Value, len(a.list))
			for i := range items {
				items[i] = a.list[i].val
			}
			a.mode, a.val = fromConst, convert(NewList(nil, items...), &a)
		}
		return a
	}
	if k != tensor.KTensor {
		a.mode = fromRegBoxed
	}
	return a
}
