package conv

import (
	"slices"
	"unsafe"
)

// genericDepthwise is the portable depthwise kernel.
func genericDepthwise[T Float](p *args) {
	var z T
	es := int(unsafe.Sizeof(z))
	n := p.blockEnd / es
	first := (p.rows + 1) / 2
	sum := make([]T, n)
	for i := range p.rows * p.lines {
		r, line := i%p.rows, i/p.rows
		a, c, res := p.a0, p.c0, p.r0
		q := r
		if r >= first {
			a, c, res, q = p.a1, p.c1, p.r1, r-first
		}
		a, c = unsafe.Add(a, line*p.stepA), unsafe.Add(c, line*p.stepC)
		if res != nil {
			res = unsafe.Add(res, line*p.stepC)
		}
		clear(sum)
		for _, s := range segments(p) {
			x := unsafe.Slice((*T)(unsafe.Add(a, q*p.rs+s[0])), n)
			w := unsafe.Slice((*T)(unsafe.Add(p.b, s[1])), n)
			for i := range sum {
				sum[i] += T(x[i] * w[i])
			}
		}
		dst := unsafe.Slice((*T)(unsafe.Add(c, q*p.ldc)), n)
		for i, v := range sum {
			if p.flags&flagBias != 0 {
				v += *(*T)(unsafe.Add(p.bias, i*es))
			}
			if p.flags&flagResidual != 0 {
				v += *(*T)(unsafe.Add(res, q*p.ldr+i*es))
			}
			if p.flags&flagClamp != 0 {
				v = clampTo(v, fromBits[T](p.lo), fromBits[T](p.hi))
			}
			dst[i] = v
		}
	}
}

// clampTo brings v into [lo, hi]; NaN stays NaN.
func clampTo[T Float](v, lo, hi T) T {
	if v < lo {
		v = lo
	}
	if v > hi {
		v = hi
	}
	return v
}

// genericDepthwiseGrad is the portable kernel of the gradient of depthwise weights.
func genericDepthwiseGrad[T Float](p *args) {
	first := (p.rows + 1) / 2
	out := unsafe.Slice((*T)(p.c0), p.rows*p.width)
	for r := range p.rows {
		a, q := p.a0, r
		if r >= first {
			a, q = p.a1, r-first
		}
		dst := slices.Clone(out[r*p.width:][:p.width])
		for _, s := range segments(p) {
			b := unsafe.Add(p.b, s[1])
			for k := range p.k {
				x := unsafe.Slice((*T)(unsafe.Add(a, q*p.rs+s[0]+k*p.cs)), p.width)
				w := unsafe.Slice((*T)(b), p.width)
				for i := range dst {
					dst[i] += T(x[i] * w[i])
				}
				b = unsafe.Add(b, p.ldr)
			}
		}
		copy(out[r*p.width:], dst)
	}
}
