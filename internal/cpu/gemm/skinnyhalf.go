package gemm

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/par"
)

// This file multiplies few rows of A with a B of 16-bit floats, as decoding with a language model does. Such
// products wait for memory, so B is read once, in place and in 16 bits, and widened to float32 in registers.
// B is read in slabs, in the order of memory, for the reasons given in skinny.go.

const (
	// skinnyHalfMaxRows bounds the rows of A for a row-major B: the rows of one kernel's tile.
	// skinnyHalfMaxDotRows bounds them for a transposed B: two rounds of dot products.
	skinnyHalfMaxRows, skinnyHalfMaxDotRows = 6, 8

	// skinnyHalfMaxWidth bounds the columns of a task.
	skinnyHalfMaxWidth = 4096
)

// trySkinny computes the products in this way, or reports that they are not skinny.
func (h Half) trySkinny(batch []BatchDim, m, n, k int, alpha float32, a []uint16, rsA, csA int, b []uint16, rsB,
	csB int, beta float32, c []uint16, rsC, csC int, ep *Epilogue[float32]) bool {
	if !hasHalfKernels() || alpha == 0 || m*n*k <= smallMatrixMACs {
		return false
	}
	f := skinnyHalf{half: h, batch: batch, a: a, b: b, c: c, rsA: rsA, csA: csA, rsB: rsB, csB: csB, rsC: rsC, csC: csC}
	f.m, f.n, f.k, f.alpha, f.beta = m, n, k, alpha, beta
	if ep != nil {
		f.ep = *ep
	}
	if n == 1 && m > 1 { // a vector is a row: the matrix is then read in its order
		f.transpose()
	}
	f.dots = f.csB != 1 && f.rsB == 1
	if f.k < 32 || f.n < 16 || f.m > skinnyHalfMaxRows && !(f.dots && f.m <= skinnyHalfMaxDotRows) || f.csB != 1 &&
		!f.dots {
		return false
	}
	nb := checkBatch(batch, m, n, k, len(a), rsA, csA, len(b), rsB, csB, len(c), rsC, csC, false)
	if nb == 0 {
		return true
	}
	f.ep.check(f.m, f.n)
	width := min(max(roundUp(f.n/8, 64), 512), skinnyHalfMaxWidth)
	switch {
	case !f.dots && 2*f.n*f.k > skinnyMinBytesB:
		width = max(width, 2048) // 2048 elements are a page of a row of B
	case f.dots:
		width = min(max(roundUp(1<<17/f.k, 16), 16), skinnyHalfMaxWidth)
	}
	blocks := (f.n + width - 1) / width
	par.For(nb*blocks, max(1, minTask/8/(f.m*min(width, f.n)*f.k)), func(lo, hi int) {
		buf := getBuffer(4 * f.m * (f.k + width))
		defer buf.put()
		for t := lo; t < hi; t++ {
			j := t % blocks * width
			f.columns(t/blocks, j, min(j+width, f.n), unsafe.Slice((*float32)(buf.p), f.m*(f.k+width)), t == lo ||
				j == 0)
		}
	})
	return true
}

// skinnyHalf is a batch of such products.
type skinnyHalf struct {
	half                         Half
	dots                         bool // B is transposed
	swapped                      bool
	batch                        []BatchDim
	m, n, k                      int
	alpha, beta                  float32
	a, b, c                      []uint16
	rsA, csA, rsB, csB, rsC, csC int
	ep                           Epilogue[float32]
}

// transpose turns the product into Cᵀ = Bᵀ·Aᵀ.
func (f *skinnyHalf) transpose() {
	f.m, f.n, f.a, f.b = f.n, f.m, f.b, f.a
	f.rsA, f.csA, f.rsB, f.csB, f.rsC, f.csC = f.csB, f.rsB, f.csA, f.rsA, f.csC, f.rsC
	f.ep.BiasCol, f.ep.BiasRow = f.ep.BiasRow, f.ep.BiasCol
	f.swapped = true
}

// columns computes the columns [j0,j1) of matrix x. The scratch begins with A as float32. With fresh, A is
// converted first; otherwise it is there from the call before.
func (f *skinnyHalf) columns(x, j0, j1 int, scratch []float32, fresh bool) {
	h := f.half.storage()
	oa, ob, oc := batchOffsets(f.batch, x)
	if f.swapped {
		oa, ob = ob, oa
	}
	w := j1 - j0
	fa, sums := scratch[:f.m*f.k], scratch[f.m*f.k:][:f.m*w]
	if fresh {
		h.widenRows(fa, f.a[oa:], f.m, f.k, f.rsA, f.csA)
	}
	out := f.c[oc+j0*f.csC:]
	if f.beta != 0 {
		h.widenRows(sums, out, f.m, w, f.rsC, f.csC)
	}
	g := product[float32]{pt: pathOf[float32](), nb: 1, m: f.m, n: w, k: f.k, alpha: f.alpha, beta: f.beta,
		act: f.ep.Act}
	g.a = operand{unsafe.Pointer(&fa[0]), f.k * 4, 4}
	g.b = operand{unsafe.Pointer(&f.b[ob+j0*f.csB]), f.rsB * 2, f.csB * 2}
	g.c = operand{unsafe.Pointer(&sums[0]), w * 4, 4}
	if f.ep.BiasCol != nil {
		g.biasCol = unsafe.Pointer(&f.ep.BiasCol[j0])
	}
	if f.ep.BiasRow != nil {
		g.biasRow = unsafe.Pointer(&f.ep.BiasRow[0])
	}
	if f.dots {
		g.half, g.inHalf = f.half, true
		g.dots(0, (w+3)/4, 0, 0, 0)
	} else {
		g.skinnyHalfSlabs(f.half)
	}
	if g.act > ActReLU {
		activate(g.act, sums)
	}
	h.narrowRows(out, sums, f.m, w, f.rsC, f.csC)
}

// skinnyHalfSlabs multiplies with a row-major B, slab after slab.
func (g *product[T]) skinnyHalfSlabs(h Half) {
	const nr = 64
	depth := 32
	if g.m > 2 {
		depth = 64 // longer slabs load and store the sums of C less often
	}
	var p args
	p.alpha, p.ldc, p.ldb, p.rsA, p.csA, p.nearB = bits(g.alpha), g.c.rs, g.b.rs, g.a.rs, g.a.cs,
		skinnyPrefetchStrips*2*nr
	p.rows = g.m
	full, edge := g.n/nr, g.n%nr
	most := max(1, callMACs/(g.m*nr*depth))
	for q := 0; q < g.k; q += depth {
		p.k = min(depth, g.k-q)
		g.setFlags(&p, q, q+p.k)
		a, b := unsafe.Add(g.a.p, q*g.a.cs), unsafe.Add(g.b.p, q*g.b.rs)
		for s := 0; s < full || s == full && edge > 0; {
			p.variant, p.count = g.m, min(most, full-s)
			if s == full {
				p.variant, p.count, p.mask = 16+g.m, 1, 1<<uint(edge)-1
			}
			p.a, p.b, p.c, p.biasRow = a, unsafe.Add(b, s*2*nr), unsafe.Add(g.c.p, s*4*nr), g.biasRow
			p.stepB, p.stepC = 2*nr, 4*nr
			if g.biasCol != nil {
				p.biasCol, p.stepCol = unsafe.Add(g.biasCol, s*4*nr), 4*nr
			}
			s += p.count
			h.runHalf(&p)
		}
	}
}
