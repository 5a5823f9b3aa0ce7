package tensor

import (
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/gotorch-dev/torch/internal/dtype"
)

// This file stands between the dispatcher and kernels that do not know some kind of tensor. A kernel sees tensors
// without the conjugate and the negative bit, and of the usual dtypes only: where an argument is another one, the
// kernel gets a substitute, and what it writes to a substitute is copied to the tensor itself.

// unusual reports a tensor that kernels do not know. It is asked for every argument of every call.
func (t *Tensor) unusual() bool { return t.flags&lazyBits != 0 || t.dt.IsStorage() }

// StorageClass says which of the element types made for storage (uint16, uint32, uint64, the 8-bit floats, complex32)
// an operator takes, and how its kernel, which does not know them, computes with them. PyTorch refuses them where it
// has no kernel for them either.
type StorageClass uint8

// The classes may be added up.
const (
	// TakesUnsigned is for uint16, uint32 and uint64, which the kernel sees as int32 and int64. Floating-point results
	// are computed from floating-point arguments.
	TakesUnsigned StorageClass = 1 << iota
	// TakesFloat8 is for the 8-bit floats but float8_e8m0fnu, which the kernel sees as float32. Its results are
	// rounded.
	TakesFloat8
	// TakesComplexHalf is for complex32, which the kernel sees as complex64. Its results are rounded.
	TakesComplexHalf
	// Moves is for an operator that moves elements or compares their bits: the kernel sees integers of their size in
	// the same memory.
	Moves
	// TakesScales is for float8_e8m0fnu, which has powers of two only.
	TakesScales
	// Orders is for an operator that compares by size: the kernel sees uint64 as int64 less half the range, which has
	// the same order.
	Orders
	// TakesQuantized is for an operator whose kernel takes quantized tensors as they are.
	TakesQuantized
	// infersBComplex is for bcomplex32 where only shapes are computed: no kernel has it.
	infersBComplex
	// TakesStorage is for all types.
	TakesStorage = TakesUnsigned | TakesFloat8 | TakesScales | TakesComplexHalf
)

// storageClasses has what RegisterStorage was told, by name.
var storageClasses sync.Map

// RegisterStorage sets Def.Storage of operators for a family that lists them in one place: names without the namespace
// aten, with an overload or for all overloads.
func RegisterStorage(class StorageClass, names ...string) {
	for _, n := range names {
		old, _ := storageClasses.Load("aten::" + n)
		had, _ := old.(StorageClass)
		storageClasses.Store("aten::"+n, class|had)
	}
}

// sameOut has the texts of RegisterOutType by name.
var sameOut sync.Map

// RegisterSameOut says that forms with out refuse an out tensor of another dtype than that of the result, where those
// of other operators convert the result. Names are as with RegisterStorage, or name a single form: "sum.out".
func RegisterSameOut(names ...string) {
	RegisterOutType("Expected out tensor to have dtype {want c}, but got {got c} instead", names...)
}

// RegisterOutType is RegisterSameOut with a text of its own, in which {want} and {got} stand for the names of the
// result's dtype and the out tensor's in errors, {want c} and {got c} for those in C++. A name that ends with _ is for
// the forms in place.
func RegisterOutType(text string, names ...string) {
	for _, n := range names {
		sameOut.Store("aten::"+n, text)
	}
}

// checkOutType refuses to convert a result of type dt to that of g, where the operator does not.
func (c *Ctx) checkOutType(g *Tensor, dt DType) {
	if dt == g.dt {
		return
	}
	name, _, _ := strings.Cut(c.op.def, ".")
	if c.inplace {
		name += "_"
	}
	for _, n := range [...]string{name, c.op.def, c.op.full} {
		if text, same := sameOut.Load(n); same && c.inplace == strings.HasSuffix(n, "_") {
			c.Fail(ErrDType, "%s", strings.NewReplacer("{want}", dt.ClassName(), "{got}", g.dt.ClassName(), "{want c}",
				dt.CName(), "{got c}", g.dt.CName()).Replace(text.(string)))
		}
	}
	if !dtype.CanCast(dt, g.dt) {
		c.Fail(ErrDType, "result type %s can't be cast to the desired output type %s", dt.ClassName(), g.dt.ClassName())
	}
}

// storage is the class of an operator.
func (o *Op) storage() StorageClass {
	class := o.Storage
	name, _, _ := strings.Cut(o.def, ".")
	for _, n := range [...]string{name, o.def} {
		if listed, ok := storageClasses.Load(n); ok {
			class |= listed.(StorageClass)
		}
	}
	return class
}

// seenAs is the type that a kernel of this class sees instead of dt; Invalid where it does not take dt.
func (s StorageClass) seenAs(dt DType) DType {
	need := TakesComplexHalf
	switch {
	case dt.IsOpaque():
		return 0
	case dt == BComplex32:
		need = infersBComplex
	case dt.IsWideUnsigned():
		need = TakesUnsigned
	case dt == Float8E8M0FNU:
		need = TakesScales
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
	if t == nil || !t.unusual() || s.seenType(t.dt) == 0 {
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
	s := substitution{class: c.storageClass()}
	if s.class&Moves != 0 && !c.onlyMoves() {
		s.class &^= Moves
	}
	if s.class&Moves == 0 {
		s.wide = c.floatOf()
	}
	args, given := c.args, c.given
	c.args = slices.Clone(args)
	for i := range c.args {
		if c.isOutArg(i) {
			continue
		}
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

// isOutArg reports that argument i is the tensor that a result is to be written to, which may have any type: results
// are converted.
func (c *Ctx) isOutArg(i int) bool {
	p := &c.op.Sch.Params[i]
	return p.Writes && p.KwOnly
}

// each calls f for the tensors that the kernel reads and writes.
func (c *Ctx) each(f func(t *Tensor)) {
	for i := range c.args {
		if v := &c.args[i]; v.T != nil && !c.isOutArg(i) {
			f(v.T)
		} else if l, ok := v.X.([]*Tensor); ok {
			for _, t := range l {
				if t != nil {
					f(t)
				}
			}
		}
	}
	for _, t := range c.outs {
		if t != nil { // a result that nobody asked for
			f(t)
		}
	}
}

// storageClass is the operator's class for this call. Elementwise operators convert their arguments to a common type
// first, so that unsigned integers and complex32 are welcome where another argument, or for integers the result, makes
// that a type to compute in. It refuses tensors of the types that the operator does not take.
func (c *Ctx) storageClass() StorageClass {
	class := c.op.storage()
	if c.op.Elementwise && len(c.outs) > 0 && !c.outs[0].dt.IsStorage() && class&Moves == 0 {
		if c.floatOf() != 0 {
			class |= TakesUnsigned
		}
		for i := range c.args {
			if t := c.args[i].T; t != nil && t.dt.IsDifferentiable() && !t.dt.IsStorage() && !c.isOutArg(i) {
				class |= TakesComplexHalf
			}
		}
	}
	if class&TakesComplexHalf != 0 && c.dev.Type == MetaDevice {
		class |= infersBComplex
	}
	c.each(func(t *Tensor) {
		if t.dt.IsStorage() && class.seenAs(t.dt) == 0 {
			c.FailDType(ErrNotImpl, c.op.Sch.Name, t.dt)
		}
	})
	return class
}

// onlyMoves reports that an operator which moves elements has no others to convert: all are of the first result's type,
// but for positions and masks.
func (c *Ctx) onlyMoves() bool {
	for i := range c.args {
		if k := c.op.Sch.Params[i].Kind; c.args[i].isNumber() && (k == KScalar || k == KTensor) {
			return false
		}
	}
	var dt DType
	if len(c.outs) > 0 {
		dt = c.outs[0].dt
	}
	same := true
	c.each(func(t *Tensor) {
		switch {
		case t.dt.IsStorage():
			if dt == 0 {
				dt = t.dt
			}
			same = same && t.dt == dt
		default:
			same = same && !t.dt.IsDifferentiable() && (len(t.shape) > 0 || t.dt == Bool || dt.IsWideUnsigned())
		}
	})
	return same
}

// floatOf is the floating-point type that unsigned integers meet in a call, Invalid where they meet none.
func (c *Ctx) floatOf() DType {
	var dt DType
	c.each(func(t *Tensor) {
		if t.dt.IsFloat() && !t.dt.IsStorage() {
			dt = dtype.Promote(dt, t.dt)
		}
	})
	for i := range c.args {
		if dt == 0 && c.args[i].K == KFloat && c.op.Sch.Params[i].Kind == KTensor {
			dt = DefaultDType()
		}
	}
	return dt
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
	if s.class&Moves == 0 || t.dt == x.dt {
		copyRaw(t, s.shifted(x, t.dt))
		return
	}
	if x.st != t.st { // else the kernel has written to t's memory
		v := &Tensor{st: x.st, ver: x.ver, off: x.off, dt: t.dt, dev: x.dev}
		v.setDims(x.shape, x.stride)
		copyRaw(t, v)
	}
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
	found := false
	c.each(func(t *Tensor) { found = found || t.dt.IsStorage() })
	return found
}
