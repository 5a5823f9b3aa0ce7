package gemm

import (
	"fmt"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/par"
)

// Epilogue is what happens to C while C is still in registers or cache. The zero value does nothing.
type Epilogue[T element] struct {
	BiasCol []T // nil, or n values: BiasCol[j] is added to column j
	BiasRow []T // nil, or m values: BiasRow[i] is added to row i
	Act     Activation
}

// BatchDim is one dimension of a batch: its length and the strides, in elements, by which the offsets of A, B
// and C grow with each step along it. A stride of 0 repeats the operand (broadcasting); C must not repeat.
type BatchDim struct {
	N, A, B, C int
}

// SGEMM computes C = alpha·A·B + beta·C for the m×k matrix A, the k×n matrix B
// and the m×n matrix C of float32. Element (i, j) of A is a[i*rsA+j*csA], and
// likewise for B and C; strides must not be negative. With beta = 0, C is only
// written; with alpha = 0, A and B are not read. C must not overlap A or B. It
// panics when a slice is too short.
func SGEMM(m, n, k int, alpha float32, a []float32, rsA, csA int, b []float32, rsB, csB int, beta float32, c []float32,
	rsC, csC int) {
	GEMM(m, n, k, alpha, a, rsA, csA, b, rsB, csB, beta, c, rsC, csC, nil)
}

// DGEMM is [SGEMM] for float64.
func DGEMM(m, n, k int, alpha float64, a []float64, rsA, csA int, b []float64, rsB, csB int, beta float64, c []float64,
	rsC, csC int) {
	GEMM(m, n, k, alpha, a, rsA, csA, b, rsB, csB, beta, c, rsC, csC, nil)
}

// GEMM is [SGEMM] and [DGEMM] with an optional epilogue: bias and activation
// are applied to alpha·A·B + beta·C.
func GEMM[T element](m, n, k int, alpha T, a []T, rsA, csA int, b []T, rsB, csB int, beta T, c []T, rsC, csC int,
	ep *Epilogue[T]) {
	GEMMBatch(nil, m, n, k, alpha, a, rsA, csA, b, rsB, csB, beta, c, rsC, csC, ep)
}

// gemmBatch is GEMMBatch for one element type.
func gemmBatch[T element](batch []BatchDim, m, n, k int, alpha T, a []T, rsA, csA int, b []T, rsB, csB int, beta T,
	c []T, rsC, csC int, ep *Epilogue[T]) {
	nb := checkBatch(batch, m, n, k, len(a), rsA, csA, len(b), rsB, csB, len(c), rsC, csC, alpha == 0)
	if nb == 0 || m == 0 || n == 0 {
		return
	}
	if alpha == 0 {
		k = 0
	}
	g := product[T]{pt: pathOf[T](), batch: batch, nb: nb, m: m, n: n, k: k, alpha: alpha, beta: beta}
	g.a, g.b, g.c = operandOf(a, rsA, csA), operandOf(b, rsB, csB), operandOf(c, rsC, csC)
	g.epilogue(ep)
	g.multiply()
}

// gemmPanels is GEMMPanels for one element type.
func gemmPanels[T element](m, n, k int, a []T, rsA, csA int, panels []T, c []T, rsC int, ep *Epilogue[T]) {
	w := panelWidth[T]()
	checkSpan("panels", len(panels), (n+w-1)/w, k*w, 1, 1, k*w-1)
	if checkBatch(nil, m, n, k, len(a), rsA, csA, len(panels), 0, 0, len(c), rsC, 1, false); m == 0 || n == 0 {
		return
	}
	g := product[T]{pt: pathOf[T](), nb: 1, m: m, n: n, k: k, alpha: 1}
	g.a, g.b, g.c = operandOf(a, rsA, csA), operandOf(panels, w, 1), operandOf(c, rsC, 1)
	g.strip = k * g.b.rs
	g.epilogue(ep)
	g.multiply()
}

// panelWidth is PanelWidth for one element type.
func panelWidth[T element]() int {
	_, nr := tileSize[T](pathOf[T](), manyRows)
	return nr
}

// manyRows is a number of rows for which tileSize returns its highest tile.
const manyRows = 1 << 20

// operandOf is the operand of a matrix with strides in elements.
func operandOf[T element](s []T, rs, cs int) operand {
	p := unsafe.SliceData(s)
	es := int(unsafe.Sizeof(*p))
	return operand{unsafe.Pointer(p), rs * es, cs * es}
}

// epilogue stores in g what happens to C at the end.
func (g *product[T]) epilogue(ep *Epilogue[T]) {
	if ep == nil {
		return
	}
	if isInteger[T]() {
		panic("gemm: integers have no epilogue")
	}
	ep.check(g.m, g.n)
	g.biasCol, g.biasRow, g.act = unsafe.Pointer(unsafe.SliceData(ep.BiasCol)),
		unsafe.Pointer(unsafe.SliceData(ep.BiasRow)), ep.Act
}

// check panics unless the biases are long enough for an m×n matrix.
func (ep *Epilogue[T]) check(m, n int) {
	if ep.BiasCol != nil {
		checkSpan("BiasCol", len(ep.BiasCol), 1, 0, n, 1, 0)
	}
	if ep.BiasRow != nil {
		checkSpan("BiasRow", len(ep.BiasRow), 1, 0, m, 1, 0)
	}
}

// multiply computes the product. It must not let g escape to the heap, see trySmall.
func (g *product[T]) multiply() {
	if g.tryOuter() || g.trySmall() {
		return
	}
	h := newJob(g)
	h.run()
	h.free()
}

// checkSpan panics unless a slice of length have holds the last element of a matrix that begins at offset
// base. All code below relies on that.
func checkSpan(name string, have, rows, rs, cols, cs, base int) {
	if rs < 0 || cs < 0 {
		panic(fmt.Sprintf("gemm: %s: got strides %d and %d, expected none to be negative", name, rs, cs))
	}
	if need := base + (rows-1)*rs + (cols-1)*cs + 1; have < need {
		panic(fmt.Sprintf("gemm: %s: got %d elements, expected at least %d for %d×%d with strides %d and %d", name,
			have, need, rows, cols, rs, cs))
	}
}

// checkBatch validates sizes, strides and slice lengths, and returns the number
// of matrices.
func checkBatch(batch []BatchDim, m, n, k, lenA, rsA, csA, lenB, rsB, csB, lenC, rsC, csC int, noInput bool) int {
	nb := 1
	var lastA, lastB, lastC int
	for _, d := range batch {
		if d.N < 0 || d.A < 0 || d.B < 0 || d.C < 0 {
			panic(fmt.Sprintf("gemm: got batch dimension %+v, expected no negative values", d))
		}
		nb *= d.N
		lastA += (d.N - 1) * d.A
		lastB += (d.N - 1) * d.B
		lastC += (d.N - 1) * d.C
	}
	if m < 0 || n < 0 || k < 0 {
		panic(fmt.Sprintf("gemm: got sizes m %d, n %d, k %d, expected none to be negative", m, n, k))
	}
	if nb == 0 || m == 0 || n == 0 {
		return nb
	}
	if k > 0 && !noInput {
		checkSpan("A", lenA, m, rsA, k, csA, lastA)
		checkSpan("B", lenB, k, rsB, n, csB, lastB)
	}
	checkSpan("C", lenC, m, rsC, n, csC, lastC)
	return nb
}

// eachMatrix calls f for the matrices of a batch, in parallel. One matrix costs macs multiply-adds, and f may
// itself run in parallel.
func eachMatrix(nb, macs int, f func(x int)) {
	if nb == 1 {
		f(0)
		return
	}
	par.For(nb, max(1, minTask/max(1, macs)), func(lo, hi int) {
		for x := lo; x < hi; x++ {
			f(x)
		}
	})
}

// batchOffsets returns the element offsets of a batch's matrix.
func batchOffsets(batch []BatchDim, i int) (a, b, c int) {
	for d := len(batch) - 1; d >= 0; d-- {
		bd := &batch[d]
		x := i % bd.N
		i /= bd.N
		a += x * bd.A
		b += x * bd.B
		c += x * bd.C
	}
	return a, b, c
}
