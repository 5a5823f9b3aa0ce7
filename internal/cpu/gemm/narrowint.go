package gemm

import (
	"slices"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
)

// This file multiplies matrices of 8-bit and 16-bit integers. The results wrap around: a sum may be computed
// with more bits than the elements of C have, or with just 16, and it does not matter whether bytes are
// signed, because the low bits of the result are the same. Products with few rows read B in place. Other
// products run on the packed kernels of lowprecision.go; tiny ones are widened to 32 bits.

const (
	// narrowIntMaxWidenMACs is the number of multiply-adds up to which widening the operands to int32 costs
	// least.
	narrowIntMaxWidenMACs = 1 << 14

	// narrowIntMaxRows bounds the rows of A for which B is read in place. B is widened in registers once for
	// each of these rows.
	narrowIntMaxRows = 8

	// narrowIntMaxWidth bounds the columns of a task where B is read in the order of memory, narrowIntMaxDots
	// where dot products are taken.
	narrowIntMaxWidth, narrowIntMaxDots = 4096, 512

	// narrowIntDotPiece is the number of steps of k that one call of the dot-product kernel takes.
	narrowIntDotPiece = 1 << 14
)

// narrowInt is a batch of products of integers of up to 16 bits.
type narrowInt[N uint8 | int8 | int16] struct {
	storageFormat[N, int32]
	batch       []BatchDim
	m, n, k     int
	alpha, beta int32
	a, b, c     []N
	rsA, csA    int
	rsB, csB    int
	rsC, csC    int
}

// multiply computes the products, see [GEMMAny].
func (s *narrowInt[N]) multiply() {
	if s.m*s.n == 1 && len(s.batch) == 0 && s.k >= 16 && s.csA == 1 && s.rsB == 1 {
		checkBatch(nil, 1, 1, s.k, len(s.a), s.rsA, 1, len(s.b), 1, s.csB, len(s.c), s.rsC, s.csC, false)
		s.store(s.c, []int32{int32(dotInts(s.a[:s.k], s.b[:s.k]))})
		return
	}
	kernel := int8Kernel()
	if size[N]() == 2 {
		kernel = pairsKernel(packWords)
	}
	if kernel.path == pathGeneric || s.m*s.n*s.k <= narrowIntMaxWidenMACs || s.alpha == 0 {
		gemmWidened(s.storageFormat, s.batch, s.m, s.n, s.k, s.alpha, s.a, s.rsA, s.csA, s.b, s.rsB, s.csB, s.beta, s.c,
			s.rsC, s.csC, nil)
		return
	}
	nb := checkBatch(s.batch, s.m, s.n, s.k, len(s.a), s.rsA, s.csA, len(s.b), s.rsB, s.csB, len(s.c), s.rsC, s.csC,
		false)
	few := min(s.m, s.n) <= narrowIntMaxRows
	if few && s.n < s.m || !few && s.csC != 1 && s.rsC == 1 {
		s.transpose()
	}
	switch {
	case few && s.n >= 16 && s.k >= 8 && s.csB == 1:
		s.forColumns(nb, max(roundUp(s.n/8, 64), 512), narrowIntMaxWidth, s.rowMajor)
	case few && s.n >= 4 && s.k >= 16 && s.rsB == 1:
		s.forColumns(nb, 4, narrowIntMaxDots, s.dotProducts)
	default:
		eachMatrix(nb, s.m*s.n*s.k, func(x int) { s.lowPrecision(kernel, x) })
	}
}

// size is the size of an element in bytes.
func size[N any]() int {
	var z N
	return int(unsafe.Sizeof(z))
}

// transpose turns C = A·B into Cᵀ = Bᵀ·Aᵀ.
func (s *narrowInt[N]) transpose() {
	s.m, s.n, s.rsC, s.csC = s.n, s.m, s.csC, s.rsC
	s.a, s.rsA, s.csA, s.b, s.rsB, s.csB = s.b, s.csB, s.rsB, s.a, s.csA, s.rsA
	s.batch = slices.Clone(s.batch)
	for i := range s.batch {
		d := &s.batch[i]
		d.A, d.B = d.B, d.A
	}
}

// store makes elements of C, beginning with c[0], from a row of finished sums.
func (s *narrowInt[N]) store(c []N, sums []int32) {
	if s.alpha == 1 && s.beta == 0 && s.csC == 1 {
		s.narrow(c[:len(sums)], sums)
		return
	}
	for j, v := range sums {
		v *= s.alpha
		if s.beta != 0 { // otherwise C may hold anything
			v += s.beta * int32(c[j*s.csC])
		}
		c[j*s.csC] = N(v)
	}
}

// lowPrecision computes matrix x of the batch with a kernel of lowprecision.go.
func (s *narrowInt[N]) lowPrecision(kernel lowPrecisionKernel, x int) {
	oa, ob, oc := batchOffsets(s.batch, x)
	g := &lowPrecisionProduct{lowPrecisionKernel: kernel, m: s.m, n: s.n, k: s.k}
	g.a = lowPrecisionOperandOf(s.a[oa:], s.rsA, s.csA, s.m, s.k, g.pack)
	g.b = lowPrecisionOperandOf(s.b[ob:], s.csB, s.rsB, s.n, s.k, g.pack)
	g.store = func(i0, i1, j0, j1 int, sums unsafe.Pointer, ld int) {
		for i := i0; i < i1; i++ {
			s.store(s.c[oc+i*s.rsC+j0*s.csC:], unsafe.Slice(at[int32](sums, (i-i0)*ld*4), j1-j0))
		}
	}
	g.run()
}

// forColumns cuts the columns of all matrices into tasks of at least least and at most most columns, and
// calls f for each of them in parallel.
func (s *narrowInt[N]) forColumns(nb, least, most int, f func(x, j0, j1 int)) {
	width := min(max(least, minTask/(s.m*s.k)), most)
	blocks := max(1, s.n/width)
	par.For(nb*blocks, max(1, minTask/(s.m*s.k*(s.n/blocks))), func(lo, hi int) {
		for t := lo; t < hi; t++ {
			b := t % blocks
			f(t/blocks, b*s.n/blocks, (b+1)*s.n/blocks)
		}
	})
}

// rowMajor computes the columns [j0,j1) of matrix x, at least 16 of them, for a B whose columns are adjacent.
// Sums have 16 bits. Eight rows of B at a time are multiplied and added to the sums of all rows of A:
//
//	sums[i, j] += a[i, k]·B[k, j] + … + a[i, k+7]·B[k+7, j]
func (s *narrowInt[N]) rowMajor(x, j0, j1 int) {
	oa, ob, oc := batchOffsets(s.batch, x)
	// The columns beyond the last whole vector are computed as the last 16 columns, into
	// sums of their own behind the others.
	width := j1 - j0
	whole := width &^ 15
	ld := whole + 16
	buf := getBuffer(2*s.m*ld + 4*width)
	defer buf.put()
	sums := unsafe.Slice((*int16)(buf.p), s.m*ld)
	clear(sums)
	for k0 := 0; k0 < s.k; k0 += 8 {
		k := min(k0, s.k-8) // the last group repeats some rows of B, which are multiplied by 0
		b, ldb := s.b[ob+k*s.rsB:], s.rsB*size[N]()
		for i := range s.m {
			var a [8]int16
			for q := k0 - k; q < 8; q++ {
				a[q] = int16(s.a[oa+i*s.rsA+(k+q)*s.csA])
			}
			addEightRows(&sums[i*ld], &a, &b[j0], ldb, whole)
			if width > whole {
				addEightRows(&sums[i*ld+whole], &a, &b[j1-16], ldb, 16)
			}
		}
	}
	wide := unsafe.Slice(at[int32](buf.p, 2*s.m*ld), width)
	for i := range s.m {
		row := sums[i*ld:][:ld]
		copy(row[whole:width], row[ld-(width-whole):])
		vec.I16ToI32s(wide, row[:width])
		s.store(s.c[oc+i*s.rsC+j0*s.csC:], wide)
	}
}

// dotProducts computes the columns [j0,j1) of matrix x, at least 4 of them, for a B whose elements are
// adjacent along k, as dot products of a row of A with four columns of B at a time.
func (s *narrowInt[N]) dotProducts(x, j0, j1 int) {
	oa, ob, oc := batchOffsets(s.batch, x)
	width := j1 - j0
	depth := roundUp(s.k, 16)
	buf := getBuffer(2*s.m*depth + 4*s.m*width)
	defer buf.put()
	// A row of A ends with zeros, up to a whole vector.
	a := unsafe.Slice((*int16)(buf.p), s.m*depth)
	for i := range s.m {
		row := a[i*depth:][:depth]
		for q := range row[:s.k] {
			row[q] = int16(s.a[oa+i*s.rsA+q*s.csA])
		}
		clear(row[s.k:])
	}
	sums := unsafe.Slice(at[int32](buf.p, 2*s.m*depth), s.m*width)
	for y := 0; y < width; y += 4 {
		j := min(y, width-4) // the last group repeats some columns
		b := s.b[ob+(j0+j)*s.csB:]
		// What follows a column of B is multiplied by zero, if it is there.
		steps := depth
		if 3*s.csB+depth > len(b) {
			steps = s.k &^ 15
		}
		for i := range s.m {
			row := a[i*depth:][:depth]
			var out [4]int32
			for q := 0; q < steps; q += narrowIntDotPiece {
				dotFourColumns(&out, &row[q], &b[q], s.csB*size[N](), min(narrowIntDotPiece, steps-q))
			}
			for q := steps; q < s.k; q++ {
				for o := range out {
					out[o] += int32(row[q]) * int32(b[o*s.csB+q])
				}
			}
			copy(sums[i*width+j:], out[:])
		}
	}
	for i := range s.m {
		s.store(s.c[oc+i*s.rsC+j0*s.csC:], sums[i*width:][:width])
	}
}

// The conversions between narrow integers and int32: widening by sign or zero extension, narrowing by dropping the
// upper bits.
var (
	ofI16 = storageFormat[int16, int32]{vec.I16ToI32s, vec.I32ToI16s}
	ofU8  = storageFormat[uint8, int32]{vec.U8ToI32s, vec.I32ToU8s}
	ofI8  = storageFormat[int8, int32]{vec.I8ToI32s,
		func(dst []int8, src []int32) { vec.I32ToU8s(like[uint8](dst), src) }}
)
