package gemm

import (
	"sync"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/par"
)

// operand is a matrix: its first element and its strides in bytes.
type operand struct {
	p      unsafe.Pointer
	rs, cs int
}

func (o operand) t() operand { return operand{o.p, o.cs, o.rs} }

// product is what one call of GEMMBatch asks for.
type product[T element] struct {
	pt          path
	batch       []BatchDim
	nb          int
	m, n, k     int
	alpha, beta T
	a, b, c     operand

	biasCol, biasRow unsafe.Pointer
	act              Activation
	swapped          bool // the roles of A and B have been exchanged
	strip            int  // bytes from one panel of B to the next, when B comes in panels; otherwise 0

	inHalf bool // for dot products only: B holds 16-bit floats of the format half, T is float32
	half   Half
}

// job is a product with its plan.
type job[T element] struct {
	product[T]
	plan

	// The part of the problem that the running tasks cover.
	first  int            // the batch's first matrix
	j0, j1 int            // columns
	k0, k1 int            // steps of k
	ka     int            // the step of k with which a begins, when a is a packed copy
	panels unsafe.Pointer // B packed beforehand, for these columns and steps
	perMat int            // tasks per matrix of the batch

	dims    [4]BatchDim      // memory for batch
	taskRun func(lo, hi int) // runs a range of tasks; made once per job
}

// Jobs are pooled: a small product takes less time than the allocations would.
var jobs32, jobs64 sync.Pool

func jobPool[T element]() *sync.Pool {
	var z T
	if unsafe.Sizeof(z) == 4 {
		return &jobs32
	}
	return &jobs64
}

// newJob returns a job for a product. It copies the batch, because tasks on other threads may hold it.
func newJob[T element](p *product[T]) *job[T] {
	g, ok := jobPool[T]().Get().(*job[T])
	if !ok {
		g = &job[T]{}
		g.taskRun = func(lo, hi int) {
			for t := lo; t < hi; t++ {
				g.task(t/g.perMat, t%g.perMat)
			}
		}
	}
	g.product = *p
	g.batch = append(g.dims[:0], p.batch...)
	return g
}

// free returns g to its pool, without any pointers. After a panic free is simply not called.
func (g *job[T]) free() {
	*g = job[T]{taskRun: g.taskRun}
	jobPool[T]().Put(g)
}

func (g *product[T]) elemSize() int {
	var z T
	return int(unsafe.Sizeof(z))
}

// transpose turns C = A·B into Cᵀ = Bᵀ·Aᵀ. B must not come in panels, unless it is a single panel.
func (g *product[T]) transpose() {
	g.m, g.n = g.n, g.m
	g.a, g.b, g.c = g.b.t(), g.a.t(), g.c.t()
	g.biasCol, g.biasRow = g.biasRow, g.biasCol
	g.swapped = !g.swapped
}

// run computes the product by the first algorithm of doc.go that fits.
func (g *job[T]) run() {
	es := g.elemSize()
	g.normalise()
	if g.useDot() {
		g.runDot()
		return
	}
	if g.c.cs != es {
		g.runScattered()
		return
	}
	if g.isSkinny() {
		g.runSkinny()
		return
	}
	if g.usesFusedPack() {
		g.runFusedPack()
		return
	}
	if g.paysToTransposeC() {
		g.transpose()
		g.transposedC = true
	}
	g.makePlan()
	if g.packB == packShared {
		g.runPanels()
		return
	}
	if g.packA == packShared {
		buf := g.copyA()
		defer buf.put()
	}
	g.j0, g.j1, g.k0, g.k1 = 0, g.n, 0, g.k
	if !g.kOuter {
		g.runTasks(g.nb)
		return
	}
	for g.k0 = 0; g.k0 < g.k; g.k0 += g.kc {
		g.k1 = min(g.k0+g.kc, g.k)
		g.runTasks(g.nb)
	}
}

// copyRowsOfA copies the steps [k0,k1) of A to buf, in rows that are contiguous along k and do not compete
// for the same cache sets.
func (g *job[T]) copyRowsOfA(a operand, buf unsafe.Pointer) {
	es := g.elemSize()
	kk := g.k1 - g.k0
	stride := rowStride(kk) * es
	rows, piece := max(1, packTask/kk), kk // rows and steps of k of one packing task
	if a.cs != es {
		rows, piece = 64, min(kk, packTask/64) // whole cache lines of the columns of A
	}
	pieces := (kk + piece - 1) / piece
	par.For((g.m+rows-1)/rows*pieces, 1, func(lo, hi int) {
		for t := lo; t < hi; t++ {
			i, q := t/pieces*rows, t%pieces*piece
			from := operand{unsafe.Add(a.p, i*a.rs+(g.k0+q)*a.cs), a.rs, a.cs}
			packRows[T](g.pt, unsafe.Add(buf, i*stride+q*es), stride, from, min(rows, g.m-i), min(piece, kk-q),
				g.k-g.k0-q)
		}
	})
	g.a, g.ka = operand{buf, stride, es}, g.k0
}

// copyA copies all of A as copyRowsOfA does.
func (g *job[T]) copyA() buffer {
	buf := getBuffer(g.m * rowStride(g.k) * g.elemSize())
	g.k0, g.k1 = 0, g.k
	g.copyRowsOfA(g.a, buf.p)
	return buf
}

// runTasks computes the columns [j0,j1) and the steps [k0,k1) of count matrices.
func (g *job[T]) runTasks(count int) {
	nnb := (g.j1 - g.j0 + g.nbl - 1) / g.nbl
	per := g.nmb * nnb
	cost := min(g.mb, g.m) * min(g.nbl, g.n) * max(g.k1-g.k0, 1)
	grain := max(1, minTask/g.work(cost))
	g.perMat = per
	if count*per <= grain {
		g.taskRun(0, count*per)
		return
	}
	par.For(count*per, grain, g.taskRun)
}

// offsets returns the byte offsets of matrix i of the batch in A, B and C.
func (g *product[T]) offsets(i int) (a, b, c int) {
	if g.nb == 1 {
		return 0, 0, 0
	}
	a, b, c = batchOffsets(g.batch, i)
	if g.swapped {
		a, b = b, a
	}
	es := g.elemSize()
	return a * es, b * es, c * es
}

// runPanels packs B in parallel and then multiplies, for as many columns and steps of k at a time as the
// buffer allows. Waiting for the packing is worth it, because several tasks read the same columns.
func (g *job[T]) runPanels() {
	es := g.elemSize()
	kSpan := g.k
	if g.kOuter {
		kSpan = g.kc
	}
	width := roundUp(g.n, g.nr)
	width = min(width, max(panelBytes/(es*kSpan)/g.nbl, 1)*g.nbl)
	buf := getBuffer(width * (kSpan + panelGap) * es)
	defer buf.put()
	g.panels = buf.p
	a, bufA := g.a, buffer{}
	if g.packA == packShared {
		bufA = getBuffer(g.m * rowStride(kSpan) * es)
		defer bufA.put()
	}
	rounds, count := g.nb, 1
	if g.sameB() {
		rounds, count = 1, g.nb
	}
	for g.first = 0; g.first < rounds; g.first++ {
		for g.j0 = 0; g.j0 < g.n; g.j0 += width {
			g.j1 = min(g.j0+width, g.n)
			for g.k0 = 0; g.k0 < g.k; g.k0 += kSpan {
				g.k1 = min(g.k0+kSpan, g.k)
				if g.packA == packShared {
					g.copyRowsOfA(a, bufA.p)
				}
				g.packRound()
				g.runTasks(count)
			}
		}
	}
}

// sameB reports whether all matrices of the batch are multiplied by one B.
func (g *job[T]) sameB() bool {
	for _, d := range g.batch {
		step := d.B
		if g.swapped {
			step = d.A
		}
		if step != 0 && d.N > 1 {
			return false
		}
	}
	return true
}

// packRound packs the columns [j0,j1) and steps [k0,k1) of B into g.panels, strip after strip.
func (g *job[T]) packRound() {
	es := g.elemSize()
	kk := g.k1 - g.k0
	_, offB, _ := g.offsets(g.first)
	b := operand{unsafe.Add(g.b.p, offB+g.j0*g.b.cs+g.k0*g.b.rs), g.b.rs, g.b.cs}
	cols, avail := g.j1-g.j0, g.n-g.j0
	if b.cs == es {
		// Some rows of B at a time.
		par.For(kk, max(8, packTask/cols), func(lo, hi int) {
			part := operand{unsafe.Add(b.p, lo*b.rs), b.rs, b.cs}
			packStrips[T](g.pt, unsafe.Add(g.panels, lo*g.nr*es), g.nr, (kk+panelGap)*g.nr*es, part, cols, avail, hi-lo)
		})
		return
	}
	// One strip at a time, or a piece of a long one.
	strips := (cols + g.nr - 1) / g.nr
	piece := max(64, roundUp(packTask/g.nr, 64))
	pieces := (kk + piece - 1) / piece
	par.For(strips*pieces, max(1, packTask/(g.nr*min(piece, kk))), func(lo, hi int) {
		for t := lo; t < hi; t++ {
			s, q0 := t/pieces, t%pieces*piece
			j := s * g.nr
			part := operand{unsafe.Add(b.p, j*b.cs+q0*b.rs), b.rs, b.cs}
			packColumns[T](g.pt, unsafe.Add(g.panels, (s*(kk+panelGap)+q0)*g.nr*es), g.nr, part, min(g.nr, cols-j),
				avail-j, min(piece, kk-q0))
		}
	})
}

// runScattered serves a C whose elements are adjacent in neither direction: it computes into a contiguous
// buffer and moves the result. Such products are rare, so the code is simple and not parallel over the batch.
func (g *job[T]) runScattered() {
	es := g.elemSize()
	buf := getBuffer(g.m * g.n * es)
	defer buf.put()
	for x := range g.nb {
		offA, offB, offC := g.offsets(x)
		h := newJob(&g.product)
		h.batch, h.nb, h.swapped = nil, 1, false
		h.a.p, h.b.p = unsafe.Add(g.a.p, offA), unsafe.Add(g.b.p, offB)
		h.c = operand{buf.p, g.n * es, es}
		c := unsafe.Add(g.c.p, offC)
		if g.beta != 0 {
			copyStrided[T](h.c, operand{c, g.c.rs, g.c.cs}, g.m, g.n)
		}
		h.run()
		h.free()
		copyStrided[T](operand{c, g.c.rs, g.c.cs}, operand{buf.p, g.n * es, es}, g.m, g.n)
	}
}
