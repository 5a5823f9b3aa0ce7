package tensor

import (
	"math"
	"slices"
	"strings"
	"sync"
)

// This file stands between the dispatcher and kernels that do not know some kind of tensor. A kernel sees tensors
// without the conjugate and the negative bit, and of the usual dtypes only: where an argument is another one, the
// kernel gets a substitute, and what it writes to a substitute is copied to the tensor itself.

// unusual reports a tensor that kernels do not know. It is asked for every argument of every call.
func (t *Tensor) unusual() bool { return t.flags&lazyBits != 0 || t.dt.IsStorage() }

// StorageClass says which of the element types made for storage (uint16, uint32, uint64, the 8-bit floats, complex32)
// an operator takes, and how its kernel, which does not know them, computes with them. PyTorch refuses them where it has
// no kernel for them either.
type StorageClass uint8

// The classes may be added up.
const (
	// TakesUnsigned is for uint16, uint32 and uint64, which the kernel sees as int32 and int64. Floating-point results
	// are computed from floating-point arguments.
	TakesUnsigned StorageClass = 1 << iota
	// TakesFloat8 is for the 8-bit floats, which the kernel sees as float32. Its results are rounded.
	TakesFloat8
	// TakesComplexHalf is for complex32, which the kernel sees as complex64. Its results are rounded.
	TakesComplexHalf
	// Moves is for an operator that moves elements or compares their bits: the kernel sees integers of their size in
	// the same memory.
	Moves
	// Orders is for an operator that compares by size: the kernel sees uint64 as int64 less half the range, which has
	// the same order.
	Orders
	// TakesStorage is for all types.
	TakesStorage = TakesUnsigned | TakesFloat8 | TakesComplexHalf
)

// storageClasses has what RegisterStorage was told, by name.
var storageClasses sync.Map

// RegisterStorage sets Def.Storage of all overloads of operators, by their names without the namespace aten, for a family
// that lists them in one place.
func RegisterStorage(class StorageClass, names ...string) {
	for _, n := range names {
		old, _ := storageClasses.Load("aten::" + n)
		had, _ := old.(StorageClass)
		storageClasses.Store("aten::"+n, class|had)
	}
}

// storage is the class of an operator.
func (o *Op) storage() StorageClass {
	name, _, _ := strings.Cut(o.def, ".")
	listed, _ := storageClasses.Load(name)
	class, _ := listed.(StorageClass)
	return class | o.Storage
}

// seenAs is the type that a kernel of this class sees instead of dt; Invalid where it does not take dt.
func (s StorageClass) seenAs(dt DType) DType {
	need := TakesComplexHalf
	switch {
	case dt.IsWideUnsigned():
		need = TakesUnsigned
	case dt.IsFloat8():
		need = TakesFloat8
	}
	switch {
	case s&need == 0:
		return 0
	case s&Moves == 0:
		return dt.Compute()
	}
	return [...]DType{1: Uint8, 2: Int16, 4: Int32, 8: Int64}[dt.Size()]
}

// substitution pairs the tensors of a call with those that its kernel sees.
type substitution struct {
	real, seen []*Tensor
	class      StorageClass
	wide       DType // of unsigned integers, where it is not what the class says
}

// of is what the kernel sees in place of t. Contents that nobody reads are not copied.
func (s *substitution) of(t *Tensor, read bool) *Tensor {
	if t == nil || !t.unusual() {
		return t
	}
	if i := slices.Index(s.real, t); i >= 0 {
		return s.seen[i]
	}
	dt := s.seenType(t.dt)
	st := t.stride
	if !t.IsDense() {
		st = nil
	}
	var x *Tensor
	switch {
	case t.dt == dt && read:
		x = t.resolved()
	case t.dt.Size() == dt.Size() && s.class&Moves != 0:
		x = t.resolved()
		v := &Tensor{st: x.st, ver: x.ver, off: x.off, dt: dt, dev: x.dev}
		v.setDims(x.shape, x.stride)
		x = v
	default:
		x = NewOn(t.dev, t.shape, st, dt)
		if read {
			copyRaw(x, t)
			x = s.shifted(x, t.dt)
		}
	}
	x.flags |= t.flags & flagWrapped
	if t.RequiresGrad() { // for kernels that keep something for the gradient
		x.flags |= flagRequiresGrad
	}
	s.real, s.seen = append(s.real, t), append(s.seen, x)
	return x
}

// orders64 reports that the kernel sees numbers of type uint64 shifted.
func (s *substitution) orders64() bool {
	return s.class&Orders != 0 && slices.ContainsFunc(s.real, func(t *Tensor) bool { return t.dt == Uint64 })
}

// seenType is what the kernel sees instead of a type.
func (s *substitution) seenType(dt DType) DType {
	if !dt.IsStorage() {
		return dt
	}
	if s.wide != 0 && dt.IsWideUnsigned() {
		return s.wide
	}
	return s.class.seenAs(dt)
}

func (s *substitution) list(l []*Tensor, read bool) []*Tensor {
	out := make([]*Tensor, len(l))
	for i, t := range l {
		out[i] = s.of(t, read)
	}
	return out
}

// runSubstituted runs the kernel with substitutes for the tensors that it does not know.
func (c *Ctx) runSubstituted() {
	s := substitution{class: c.op.storage()}
	c.checkStorage(s.class)
	if len(c.outs) > 0 && c.outs[0].dt.IsFloat() && !c.outs[0].dt.IsStorage() && s.class&Moves == 0 {
		s.wide = c.outs[0].dt
	}
	args, given := c.args, c.given
	c.args = slices.Clone(args)
	for i := range c.args {
		switch v := &c.args[i]; v.K {
		case KTensor:
			v.T = s.of(v.T, true)
		case KTensors:
			v.X = s.list(v.X.([]*Tensor), true)
		case KInt:
			if k := c.op.Sch.Params[i].Kind; (k == KScalar || k == KTensor) && s.orders64() {
				v.N ^= math.MinInt64
			}
		}
	}
	c.given = s.list(given, false)
	for i, t := range c.outs {
		c.outs[i] = s.of(t, false)
	}
	c.kernelOfDevice()
	c.args, c.given = args, given
	for i := range args {
		if p := &c.op.Sch.Params[i]; p.Writes {
			switch v := &args[i]; v.K {
			case KTensor:
				s.writeBack(v.T)
			case KTensors:
				for _, t := range v.X.([]*Tensor) {
					s.writeBack(t)
				}
			}
		}
	}
	for _, t := range given {
		s.writeBack(t)
	}
	for i, t := range c.outs {
		if k := slices.Index(s.seen, t); k >= 0 {
			c.outs[i] = s.real[k]
			s.writeBack(s.real[k])
		}
	}
	if c.op.DataDependent && len(s.real) > 0 && len(c.outs) > 0 && c.outs[0].dt == s.seen[0].dt {
		c.outs[0] = s.realType(c.outs[0], s.real[0].dt)
	}
}

// realType gives a result that the kernel has allocated the type dt, which the kernel does not know.
func (s *substitution) realType(t *Tensor, dt DType) *Tensor {
	switch {
	case t.dt == dt:
		return t
	case s.class&Moves != 0:
		return WithDType(t, dt)
	}
	return DenseAs(s.shifted(t, dt), dt)
}

// checkStorage refuses tensors of types that the operator's class does not take.
func (c *Ctx) checkStorage(class StorageClass) {
	see := func(t *Tensor) {
		if t != nil && t.dt.IsStorage() && class.seenAs(t.dt) == 0 {
			c.FailDType(ErrNotImpl, c.op.Sch.Name, t.dt)
		}
	}
	for i := range c.args {
		see(c.args[i].T)
		if l, ok := c.args[i].X.([]*Tensor); ok {
			for _, t := range l {
				see(t)
			}
		}
	}
	for _, t := range c.given {
		see(t)
	}
	for _, t := range c.outs {
		see(t)
	}
}

// writeBack copies what the kernel has written to t's substitute.
func (s *substitution) writeBack(t *Tensor) {
	i := slices.Index(s.real, t)
	if i < 0 {
		return
	}
	x := s.seen[i]
	if !SameShape(t.shape, x.shape) {
		t.resizeRaw(x.shape)
	}
	copyRaw(t, s.shifted(x, t.dt))
}

var opXor = slot("aten::bitwise_xor.Scalar")

// shifted turns x, which holds the bits of numbers of type dt, into numbers of the same order, and those back.
func (s *substitution) shifted(x *Tensor, dt DType) *Tensor {
	if s.class&Orders == 0 || dt != Uint64 || x.dt != Int64 {
		return x
	}
	with(func(m *mode) { m.noGrad, m.layers = true, nil }, func() {
		c := NewCall(opXor, 2)
		*c.Arg(0), *c.Arg(1) = TensorValue(x), IntValue(math.MinInt64)
		x = c.Do1()
	})
	return x
}

// takesStorage reports that a tensor of the call has a type that is made for storage.
func (c *Ctx) takesStorage() bool {
	return slices.ContainsFunc(c.args, func(v Value) bool {
		l, _ := v.X.([]*Tensor)
		return v.T != nil && v.T.dt.IsStorage() ||
			slices.ContainsFunc(l, func(t *Tensor) bool { return t != nil && t.dt.IsStorage() })
	})
}
