package gemm

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
)

// Half names a 16-bit floating-point storage format.
type Half uint8

const (
	Float16  Half = iota // IEEE 754 binary16
	BFloat16             // the upper half of a float32
)

// storageFormat holds the conversions between the type N of the elements in memory, of at most 16 bits, and
// the type W in which products are computed.
type storageFormat[N any, W element] struct {
	widen  func(dst []W, src []N)
	narrow func(dst []N, src []W)
}

// storage returns the conversions of the format; narrowing rounds to nearest, ties to even.
func (h Half) storage() storageFormat[uint16, float32] {
	if h == BFloat16 {
		return storageFormat[uint16, float32]{vec.BF16ToF32s, vec.F32ToBF16s}
	}
	return storageFormat[uint16, float32]{vec.F16ToF32s, vec.F32ToF16s}
}

// smallBF16 is the number of multiply-adds below which widening costs less than packing pairs.
const smallBF16 = 1 << 17

// GEMMHalf is [GEMMBatch] for 16-bit floats given by their bits. Operands are
// widened to float32, everything is computed in float32, bias and activation
// included, and C is rounded once at the end.
//
// Where the processor multiplies bfloat16 itself (AVX-512 BF16, instruction
// VDPBF16PS), that is used instead of widening. The products are exact and the
// sums float32 all the same, but they are added in pairs, the order of the
// additions differs, and numbers too small to be normal count as zero, be they
// elements or sums. PyTorch's oneDNN uses the same instruction.
func GEMMHalf(h Half, batch []BatchDim, m, n, k int, alpha float32, a []uint16, rsA, csA int, b []uint16, rsB, csB int,
	beta float32, c []uint16, rsC, csC int, ep *Epilogue[float32]) {
	if h.trySkinny(batch, m, n, k, alpha, a, rsA, csA, b, rsB, csB, beta, c, rsC, csC, ep) {
		return
	}
	if kernel, ok := bf16Kernel(); ok && h == BFloat16 && m*n*k >= smallBF16 && alpha != 0 {
		nb := checkBatch(batch, m, n, k, len(a), rsA, csA, len(b), rsB, csB, len(c), rsC, csC, false)
		if nb == 0 {
			return
		}
		gemmBF16(kernel, nb, batch, m, n, k, alpha, a, rsA, csA, b, rsB, csB, beta, c, rsC, csC, ep)
		return
	}
	gemmWidened(h.storage(), batch, m, n, k, alpha, a, rsA, csA, b, rsB, csB, beta, c, rsC, csC, ep)
}

// gemmWidened computes a product of elements of type N in the wider type W. It widens as much of the operands
// at a time as the cache holds.
func gemmWidened[N any, W element](h storageFormat[N, W], batch []BatchDim, m, n, k int, alpha W, a []N, rsA, csA int,
	b []N, rsB, csB int, beta W, c []N, rsC, csC int, ep *Epilogue[W]) {
	nb := checkBatch(batch, m, n, k, len(a), rsA, csA, len(b), rsB, csB, len(c), rsC, csC, alpha == 0)
	if nb == 0 || m == 0 || n == 0 {
		return
	}
	if alpha == 0 {
		k = 0
	}
	var z W
	es := int(unsafe.Sizeof(z))
	// B and C are converted in blocks that fit the cache as float32, so that memory is read
	// and written in 16 bits only; or all at once when A has so many rows that the conversion
	// hardly counts. Where B is row-major, blocks are wide and low, so that B is read nearly
	// in the order of memory.
	width, depth := n, max(k, 1)
	switch {
	case m >= 256:
	case csB == 1 && rsB != 1:
		width = min(n, max(n/8, 256)&^63)
		depth = min(depth, max(1<<16/width, 32)&^3)
	default:
		width = min(n, max(1<<16/depth, 32)&^31)
	}
	blocks := (n + width - 1) / width
	one := func(x int) {
		oa, ob, oc := batchOffsets(batch, x)
		if k == 0 {
			oa, ob = 0, 0
		}
		bufA := getBuffer(es * m * k)
		defer bufA.put()
		fa := unsafe.Slice((*W)(bufA.p), m*k)
		ra, ca := h.widenMatrix(fa, a[oa:], m, k, rsA, csA)
		par.For(blocks, max(1, minTask/16/max(1, width*max(k, m))), func(lo, hi int) {
			buf := getBuffer(es * (depth + m) * width)
			defer buf.put()
			all := unsafe.Slice((*W)(buf.p), (depth+m)*width)
			for t := lo; t < hi; t++ {
				j := t * width
				w := min(width, n-j)
				fc := all[depth*width:][:m*w]
				cBlock := c[oc+j*csC:]
				old := beta
				if beta != 0 {
					h.widenRows(fc, cBlock, m, w, rsC, csC)
				}
				for q := 0; q == 0 || q < k; q += depth {
					kk := min(depth, k-q)
					fb := all[:kk*w]
					var rb, cb int
					if kk > 0 {
						rb, cb = h.widenMatrix(fb, b[ob+q*rsB+j*csB:], kk, w, rsB, csB)
					}
					var e *Epilogue[W]
					if ep != nil && q+depth >= k {
						e = &Epilogue[W]{BiasRow: ep.BiasRow, Act: ep.Act}
						if ep.BiasCol != nil {
							e.BiasCol = ep.BiasCol[j : j+w]
						}
					}
					GEMM(m, w, kk, alpha, fa[q*ca:], ra, ca, fb, rb, cb, old, fc, w, 1, e)
					old = 1
				}
				h.narrowRows(cBlock, fc, m, w, rsC, csC)
			}
		})
	}
	if nb > 1 && m*n*k <= smallMatrixMACs && len(batch) == 1 && batch[0].C > 0 {
		h.smallMatrices(batch[0], m, n, k, alpha, a, rsA, csA, b, rsB, csB, beta, c, rsC, csC, ep)
		return
	}
	eachMatrix(nb, m*n*k, one)
}

// smallMatrixMACs is the number of multiply-adds of one matrix up to which a batch is widened many matrices
// at a time.
const smallMatrixMACs = 1 << 14

// smallMatrices computes a batch of small matrices, in groups that fit the L1 cache after widening.
func (h *storageFormat[N, W]) smallMatrices(d BatchDim, m, n, k int, alpha W, a []N, rsA, csA int, b []N, rsB, csB int,
	beta W, c []N, rsC, csC int, ep *Epilogue[W]) {
	per := m*k + k*n + m*n
	group := max(1, 1<<12/per)
	var z W
	es := int(unsafe.Sizeof(z))
	par.For(d.N, max(group, minTask/(8*m*n*max(k, 8))), func(lo, hi int) {
		buf := getBuffer(group * per * es)
		defer buf.put()
		for x := lo; x < hi; x += group {
			w := min(group, hi-x)
			all := unsafe.Slice((*W)(buf.p), group*per)
			fa, fb, fc := all[:w*m*k], all[group*m*k:][:w*k*n], all[group*(m*k+k*n):][:w*m*n]
			dim := BatchDim{N: w, A: m * k, B: k * n, C: m * n}
			var ra, ca, rb, cb int
			if k > 0 {
				ra, ca = h.widenBatch(fa, a[x*d.A:], w, d.A, m, k, rsA, csA)
				rb, cb = h.widenBatch(fb, b[x*d.B:], w, d.B, k, n, rsB, csB)
			}
			if beta != 0 {
				for y := range w {
					h.widenRows(fc[y*m*n:][:m*n], c[(x+y)*d.C:], m, n, rsC, csC)
				}
			}
			GEMMBatch([]BatchDim{dim}, m, n, k, alpha, fa, ra, ca, fb, rb, cb, beta, fc, n, 1, ep)
			if csC == 1 && rsC == n && d.C == m*n {
				h.narrow(c[x*d.C:][:len(fc)], fc)
				continue
			}
			for y := range w {
				h.narrowRows(c[(x+y)*d.C:], fc[y*m*n:][:m*n], m, n, rsC, csC)
			}
		}
	})
}

// widenBatch widens count matrices, step elements apart, to contiguous ones, as widenMatrix does for one.
func (h *storageFormat[N, W]) widenBatch(dst []W, src []N, count, step, rows, cols, rs, cs int) (drs, dcs int) {
	if step == rows*cols && (cs == 1 && rs == cols || rs == 1 && cs == rows) {
		h.widen(dst, src[:len(dst)])
		if cs == 1 && rs == cols {
			return cols, 1
		}
		return 1, rows
	}
	for x := range count {
		drs, dcs = h.widenMatrix(dst[x*rows*cols:][:rows*cols], src[x*step:], rows, cols, rs, cs)
	}
	return drs, dcs
}

// narrowRows stores a contiguous matrix in the narrow type.
func (h *storageFormat[N, W]) narrowRows(dst []N, src []W, rows, cols, rs, cs int) {
	par.For(rows, max(1, minTask/16/cols), func(lo, hi int) {
		var line [256]N
		if cs == 1 && rs == cols {
			h.narrow(dst[lo*cols:hi*cols], src[lo*cols:])
			return
		}
		for i := lo; i < hi; i++ {
			row := src[i*cols : (i+1)*cols]
			if cs == 1 {
				h.narrow(dst[i*rs:][:cols], row)
				continue
			}
			for j := 0; j < cols; j += len(line) {
				w := min(len(line), cols-j)
				h.narrow(line[:w], row[j:j+w])
				for x := range w {
					dst[i*rs+(j+x)*cs] = line[x]
				}
			}
		}
	})
}

// widenMatrix widens a matrix, keeping its orientation so that reads stay sequential, and returns the strides
// of the copy.
func (h *storageFormat[N, W]) widenMatrix(dst []W, src []N, rows, cols, rs, cs int) (drs, dcs int) {
	if rs == 1 && cs != 1 {
		h.widenRows(dst, src, cols, rows, cs, rs)
		return 1, rows
	}
	h.widenRows(dst, src, rows, cols, rs, cs)
	return cols, 1
}

// widenRows widens a matrix to contiguous rows.
func (h *storageFormat[N, W]) widenRows(dst []W, src []N, rows, cols, rs, cs int) {
	if cols == 0 {
		return
	}
	par.For(rows, max(1, minTask/16/cols), func(lo, hi int) {
		var line [256]N
		if cs == 1 && rs == cols {
			h.widen(dst[lo*cols:hi*cols], src[lo*cols:])
			return
		}
		for i := lo; i < hi; i++ {
			row := dst[i*cols : (i+1)*cols]
			if cs == 1 {
				h.widen(row, src[i*rs:][:cols])
				continue
			}
			for j := 0; j < cols; j += len(line) {
				w := min(len(line), cols-j)
				for x := range w {
					line[x] = src[i*rs+(j+x)*cs]
				}
				h.widen(row[j:j+w], line[:w])
			}
		}
	})
}
