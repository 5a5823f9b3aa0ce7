package tensor

import (
	"slices"
	"sync"
)

// BatchRule computes a call for all examples of a batch at once. Its results have the batch in dimension 0; with
// Batched.Same set they are the same for all examples.
type BatchRule func(b *Batched) []Value

// Batched is a call inside a mapped function, as its batching rule sees it.
type Batched struct {
	C     *Ctx // the call on one example: numbers, and the shapes of examples
	Op    *Op  // what Call calls: the operator, the functional form of one in place
	Level *VmapLevel
	// Same says that the results are the same for all examples.
	Same bool
	args []Value // with all examples in dimension 0 where in says so
	in   []bool
}

var batchRules = struct {
	sync.RWMutex
	m       map[string]BatchRule
	refused map[string]string
}{m: map[string]BatchRule{}, refused: map[string]string{}}

// RegisterBatchRule gives operators, by the full names of their Defs, a batching rule. Operators that compute element
// by element (Def.Elementwise) need none, nor do composed operators. Where there is no rule, the operator runs for one
// example after the other.
func RegisterBatchRule(r BatchRule, names ...string) {
	batchRules.Lock()
	defer batchRules.Unlock()
	for _, n := range names {
		if batchRules.m[n] != nil {
			panic("tensor.RegisterBatchRule: " + n + " has a batching rule already")
		}
		batchRules.m[n] = r
	}
}

// RefuseBatches says of operators, by the full names of their Defs, why no function that calls them can be mapped where
// their arguments differ between the examples.
func RefuseBatches(why string, names ...string) {
	batchRules.Lock()
	defer batchRules.Unlock()
	for _, n := range names {
		batchRules.m[n] = func(b *Batched) []Value {
			b.C.Fail(ErrNotImpl, "Batching rule not implemented for %s: %s", n, why)
			return nil
		}
		batchRules.refused[n] = why
	}
}

func (o *Op) batchRule() BatchRule {
	batchRules.RLock()
	defer batchRules.RUnlock()
	return batchRules.m[o.def]
}

// Batching says how vmap takes the operator to a whole batch: "rule", "pointwise" (broadcasting), "body" (the operators
// that it is composed of), "random" (by the mode of random numbers), "none" (no tensor goes in), "loop" (one example
// after the other), or "refused".
func (o *Op) Batching() string {
	batchRules.RLock()
	why := batchRules.refused[o.def]
	batchRules.RUnlock()
	switch {
	case why != "":
		return "refused"
	case o.batchRule() != nil:
		return "rule"
	case o.Body != nil:
		return "body"
	case o.Elementwise || o.def == "aten::copy_":
		return "pointwise"
	case o.draws():
		return "random"
	case o.needs == 0 && !slices.ContainsFunc(o.Sch.Params, func(p Param) bool { return p.Kind == KTensor }):
		return "none"
	case o.DataDependent || o.writesFirst():
		return "refused"
	}
	return "loop"
}

// BatchRuleNames lists the names that rules were given for, so that a test finds those of no operator.
func BatchRuleNames() []string {
	batchRules.RLock()
	defer batchRules.RUnlock()
	var out []string
	for n := range batchRules.m {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

// read looks up what the arguments stand for.
func (b *Batched) read() {
	b.args, b.in = slices.Clone(b.C.args), make([]bool, len(b.C.args))
	for i, v := range b.args {
		if list, ok := v.X.([]*Tensor); ok && v.K == KTensors {
			b.in[i] = slices.ContainsFunc(list, func(t *Tensor) bool {
				x := b.Level.of(t)
				return x != nil && !x.same
			})
			phys := make([]*Tensor, len(list))
			for j, t := range list {
				phys[j] = b.phys(t, b.in[i])
			}
			b.args[i] = TensorsValue(phys)
		} else if x := b.Level.of(v.T); v.K == KTensor && x != nil {
			b.args[i], b.in[i] = TensorValue(x.phys), !x.same
		}
	}
}

// phys is what t stands for; with all, expanded to all examples if it is the same for them.
func (b *Batched) phys(t *Tensor, all bool) *Tensor {
	switch x := b.Level.of(t); {
	case t == nil:
		return nil
	case all:
		return b.Level.Unwrap(t)
	case x != nil:
		return x.phys
	}
	return t
}

// Size is the number of examples.
func (b *Batched) Size() int { return b.Level.size }

// Has reports that argument i has all examples, in dimension 0; of a list of tensors every element has then.
func (b *Batched) Has(i int) bool { return b.in[i] }

// Some reports that one of the arguments has all examples.
func (b *Batched) Some() bool { return slices.Contains(b.in, true) }

// T is tensor argument i, nil for None.
func (b *Batched) T(i int) *Tensor { return b.args[i].T }

// Full is tensor argument i with all examples in dimension 0, nil for None.
func (b *Batched) Full(i int) *Tensor {
	t := b.args[i].T
	if t == nil || b.in[i] {
		return t
	}
	return b.Level.expand(t)
}

// List is tensor list argument i.
func (b *Batched) List(i int) []*Tensor {
	l, _ := b.args[i].X.([]*Tensor)
	return l
}

// Rank is the number of dimensions that tensor argument i has for one example.
func (b *Batched) Rank(i int) int { return len(b.C.args[i].T.shape) }

// Index is the position of a parameter.
func (b *Batched) Index(param string) int { return b.C.op.Sch.Index(param) }

// Args are the arguments, to be changed and given to Call.
func (b *Batched) Args() []Value { return slices.Clone(b.args) }

// Call calls the operator on whole batches.
func (b *Batched) Call(args []Value) []Value { return b.CallOp(b.Op, args) }

// CallOp calls another operator.
func (b *Batched) CallOp(op *Op, args []Value) []Value {
	c := NewCall(op, len(args))
	copy(c.args, args)
	return c.DoAll()
}

// lower runs the call on the whole batch.
func (b *Batched) lower(random bool) []Value {
	op := b.C.op
	switch {
	case op.IsInPlace() || op.writesFirst():
		return b.inPlace(random)
	case random && b.Level.randomness == RandomDifferent:
		return b.different()
	case random && b.Some():
		return b.sameRandom()
	case !b.Some():
		b.Same = true
		return b.Call(b.args)
	}
	return b.functional()
}

func (b *Batched) functional() []Value {
	if r := b.C.op.batchRule(); r != nil {
		return r(b)
	}
	if b.C.op.Elementwise {
		return b.Pointwise()
	}
	return b.Loop()
}

// Pointwise is the rule of operators that compute element by element: tensors with all examples get dimensions of size
// 1 after the batch, until they have the same number of dimensions.
func (b *Batched) Pointwise() []Value {
	res := b.Call(b.aligned())
	if len(res) > 0 && res[0].K == KTensor && len(res[0].T.shape) <= b.rank() {
		b.Same = true // a kernel that does not read the argument with the examples
	}
	return res
}

// rank is the largest number of dimensions that a tensor of the call has for one example.
func (b *Batched) rank() int {
	rank := 0
	for _, v := range b.C.args {
		if v.K == KTensor {
			rank = max(rank, len(v.T.shape))
		}
	}
	return rank
}

func (b *Batched) aligned() []Value {
	rank := b.rank()
	dims := b.promotion()
	args := b.Args()
	for i, v := range args {
		if v.K != KTensor || !b.in[i] {
			continue
		}
		t := v.T
		if n := b.Rank(i); n < rank {
			if n == 0 && dims != 0 && t.dt != dims && t.dt != Bool {
				t = t.ToDType(dims) // a number counts less in promotion than a tensor with dimensions
			}
			shape := append([]int{t.shape[0]}, make([]int, rank-n)...)
			for k := 1; k <= rank-n; k++ {
				shape[k] = 1
			}
			t = t.View(append(shape, t.shape[1:]...))
		}
		args[i] = TensorValue(t)
	}
	return args
}

// promotion is the type that the tensors with dimensions have if those without are of no higher kind and so have no say
// in the type of the result; 0 otherwise.
func (b *Batched) promotion() DType {
	var dims, zero DType
	for _, v := range b.C.args {
		if v.K != KTensor || v.T.dt == Bool {
			continue
		}
		p := &dims
		if len(v.T.shape) == 0 {
			p = &zero
		}
		if *p == 0 {
			*p = v.T.dt
		} else {
			*p = PromoteTypes(*p, v.T.dt)
		}
	}
	if dims == 0 || zero == 0 || kindRank(zero) > kindRank(dims) {
		return 0
	}
	return dims
}

func kindRank(d DType) int {
	switch {
	case d == Bool:
		return 0
	case d.IsComplex():
		return 3
	case d.IsFloat():
		return 2
	}
	return 1
}

// Loop runs the operator for one example after the other and stacks the results: the way of operators without a rule.
func (b *Batched) Loop() []Value {
	if b.Size() == 0 {
		b.C.Fail(ErrNotImpl, "vmap: the operator %s has no batching rule, and a batch without examples says nothing "+
			"about "+
			"the shape of its result", b.C.op.full)
	}
	var all [][]Value
	for e := range b.Size() {
		args := b.Args()
		for i, v := range args {
			if !b.in[i] {
				continue
			}
			if l, ok := v.X.([]*Tensor); ok {
				one := make([]*Tensor, len(l))
				for j, t := range l {
					if t != nil {
						one[j] = t.Select(0, e)
					}
				}
				args[i] = TensorsValue(one)
			} else {
				args[i] = TensorValue(v.T.Select(0, e))
			}
		}
		all = append(all, b.Call(args))
	}
	return b.stack(all)
}

func (b *Batched) stack(all [][]Value) []Value {
	out := slices.Clone(all[0])
	join := func(get func(r []Value) *Tensor) *Tensor {
		ts := make([]*Tensor, len(all))
		for e, r := range all {
			ts[e] = get(r)
			if ts[e] == nil {
				return nil
			}
			if !SameShape(ts[e].shape, ts[0].shape) {
				b.C.Fail(ErrShape, "vmap: %s", vmapShapes(b.C.op, ts[0].shape, ts[e].shape))
			}
		}
		return stackT(ts)
	}
	for i, v := range out {
		switch v.K {
		case KTensor:
			out[i] = TensorValue(join(func(r []Value) *Tensor { return r[i].T }))
		case KTensors:
			l := make([]*Tensor, len(v.X.([]*Tensor)))
			for j := range l {
				l[j] = join(func(r []Value) *Tensor { return r[i].X.([]*Tensor)[j] })
			}
			out[i] = TensorsValue(l)
		case KNone:
		default:
			refuseBranch(b.C)
		}
	}
	return out
}

// inPlace changes the batch that the first argument stands for.
func (b *Batched) inPlace(random bool) []Value {
	op, c := b.C.op, b.C
	self := c.args[0].T
	x := b.Level.of(self)
	switch {
	case x == nil: // the others are the same for all examples
		args := b.Args()
		args[0] = TensorValue(self)
		b.Call(args)
	case op.View != nil: // another view in the same tensor
		b.Op = op.base
		b.Same = x.same
		res := b.functionalOr(x.same)
		x.phys = res[0].T
		shape, stride := x.phys.shape, x.phys.stride
		if !x.same {
			shape, stride = shape[1:], stride[1:]
		}
		self.setDims(shape, stride)
		self.off = x.phys.off
	case random && b.Level.randomness == RandomSame && !x.same:
		one := b.Args()
		one[0] = TensorValue(x.phys.Select(0, 0).CloneLike())
		for i := 1; i < len(one); i++ {
			if b.in[i] {
				c.Fail(ErrNotImpl, "vmap: %s with the same random numbers for all examples of a batched argument",
					op.full)
			}
		}
		r := b.Call(one)
		x.phys.CopyInPlace(r[0].T)
	case random && x.same && b.Level.randomness == RandomDifferent:
		c.Fail(ErrValue, "vmap: Cannot ask for different inplace randomness on an unbatched tensor. This will appear "+
			"like "+
			"same randomness. If this is necessary for your usage, please file an issue with functorch.")
	case random || x.same || op.Elementwise && op.batchRule() == nil || op.def == "aten::copy_":
		b.Call(b.aligned())
	case op.base != nil:
		b.Op = op.base
		res := b.functional()
		x.phys.CopyInPlace(res[0].T)
	default:
		c.Fail(ErrNotImpl, "Batching rule not implemented for %s; the fallback path doesn't work on out= or view ops.",
			op.full)
	}
	return nil
}

func (b *Batched) functionalOr(same bool) []Value {
	if same {
		return b.Call(b.args)
	}
	return b.functional()
}

// CloneLike is a copy with a memory of its own.
func (t *Tensor) CloneLike() *Tensor { return t.cloneOp() }

// different draws other random numbers for each example.
func (b *Batched) different() []Value {
	args := b.Args()
	if i := b.Index("size"); i >= 0 {
		args[i] = IntsValue(append([]int{b.Size()}, b.C.Ints(i)...))
		return b.Call(args)
	}
	if hasTensors(b.C) {
		if b.C.op.batchRule() != nil {
			return b.functional()
		}
		for i, v := range args {
			if v.K == KTensor {
				args[i] = TensorValue(b.Full(i))
			}
		}
		a := *b
		a.args = args
		for i, v := range args {
			if v.K == KTensor {
				a.in = slices.Clone(a.in)
				a.in[i] = true
			}
		}
		if b.C.op.def == "aten::multinomial" {
			return a.Loop()
		}
		return a.Call(a.aligned())
	}
	var all [][]Value
	for range b.Size() {
		all = append(all, b.Call(args))
	}
	return b.stack(all)
}

// sameRandom draws the same random numbers for all examples: what is random must not depend on the example, only on
// its shape.
func (b *Batched) sameRandom() []Value {
	switch b.C.op.Draw {
	case DrawFactors:
		args := b.Args()
		args[0] = TensorValue(b.T(0).Select(0, 0).OnesLike())
		r := b.Call(args)
		return []Value{TensorValue(b.T(0).Mul(r[0].T)), TensorValue(b.Level.expand(r[1].T))}
	case DrawByShape:
		b.Same = true
		args := b.Args()
		args[0] = TensorValue(b.T(0).Select(0, 0))
		return b.Call(args)
	}
	b.C.Fail(ErrNotImpl, "vmap: %s draws numbers that depend on the example, which is not possible with the randomness "+
		"'same'; use 'different'", b.C.op.full)
	return nil
}

var opStack = slot("aten::stack")

func stackT(ts []*Tensor) *Tensor {
	c := NewCall(opStack, 2)
	*c.Arg(0), *c.Arg(1) = TensorsValue(ts), IntValue(0)
	return c.Do1()
}
