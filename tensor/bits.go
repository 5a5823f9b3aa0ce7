package tensor

// This file is about the two bits that make a view of a tensor stand for other numbers than those in memory: the
// conjugate bit and the negative bit. Tensor.Conj and the imaginary part of a conjugated tensor cost nothing, since
// only the bit is set; whoever reads the elements applies it. Views keep the bits of what they are a view of. Kernels
// do not know the bits: the dispatcher hands them tensors without (see substitute.go), unless Def.Raw says otherwise.
// https://pytorch.org/docs/stable/generated/torch.conj.html

// lazyBits are the two bits.
const lazyBits = flagConj | flagNeg

// Bits are the conjugate and the negative bit of a tensor.
func Bits(t *Tensor) (conj, neg bool) { return t.flags&flagConj != 0, t.flags&flagNeg != 0 }

// LazyConj and LazyNeg turn the bit of a new view: for view operators.
func LazyConj(t *Tensor) *Tensor {
	t.flags ^= flagConj
	return t
}

// LazyNeg is described at LazyConj.
func LazyNeg(t *Tensor) *Tensor {
	t.flags ^= flagNeg
	return t
}

// PartBits sets the bits of v, a view of the real or the imaginary parts of t: they are negative where t is, and
// imaginary parts also where t is conjugated.
func PartBits(v, t *Tensor, imag bool) *Tensor {
	v.flags &^= lazyBits
	v.flags |= t.flags & flagNeg
	if imag && t.flags&flagConj != 0 {
		v.flags ^= flagNeg
	}
	return v
}

// bare is t without the bits: what lies in memory. It is not a view on the tape.
func (t *Tensor) bare() *Tensor {
	if t.flags&lazyBits == 0 {
		return t
	}
	v := &Tensor{st: t.st, ver: t.ver, off: t.off, dt: t.dt, dev: t.dev, flags: t.flags & flagWrapped}
	v.setDims(t.shape, t.stride)
	return v
}

var (
	opConjPhysical = slot("aten::_conj_physical")
	opNeg          = slot("aten::neg")
)

// applyBits is a new tensor that holds what the bits of flags make of t, which has none itself.
func applyBits(t *Tensor, bits flags) *Tensor {
	with(func(m *mode) { m.noGrad, m.layers = true, nil }, func() {
		for _, b := range [...]struct {
			bit flags
			op  *Op
		}{{flagConj, opConjPhysical}, {flagNeg, opNeg}} {
			if bits&b.bit != 0 {
				c := NewCall(b.op, 1)
				*c.Arg(0) = TensorValue(t)
				t = c.Do1()
			}
		}
	})
	return t
}

// resolved is t where it has neither bit, else a copy of what it stands for; not recorded.
func (t *Tensor) resolved() *Tensor {
	if t.flags&lazyBits == 0 {
		return t
	}
	return applyBits(t.bare(), t.flags&lazyBits)
}

// copyLazy is copyRaw for tensors of which one at least has a bit.
func copyLazy(dst, src *Tensor) {
	if dst.dt == src.dt && (dst.flags^src.flags)&lazyBits == 0 {
		copyRaw(dst.bare(), src.bare())
		return
	}
	src = src.resolved()
	if dst.flags&lazyBits != 0 { // what lies in memory is the same bits of what is to be seen
		if src.dt != dst.dt {
			src = DenseAs(src, dst.dt)
		}
		src = applyBits(src, dst.flags&lazyBits)
	}
	copyRaw(dst.bare(), src)
}

// refuseLazy panics where Go code asks for the memory of a tensor that stands for other numbers.
func (t *Tensor) refuseLazy(what string) {
	switch {
	case t.flags&flagConj != 0:
		Fail(ErrValue, "%s: can't read the memory of a Tensor that has conjugate bit set: use ResolveConj() first",
			what)
	case t.flags&flagNeg != 0:
		Fail(ErrValue, "%s: can't read the memory of a Tensor that has negative bit set: use ResolveNeg() first", what)
	}
}

// Resolved is a tensor without lazy bits: t itself, or a copy with the elements that the bits stand for. For code that
// writes elements to files.
func Resolved(t *Tensor) *Tensor { return t.resolved() }
