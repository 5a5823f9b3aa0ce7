package gemm

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu"
	"github.com/gotorch-dev/torch/internal/par"
)

// This file multiplies a "skinny" A, of at most one tile of rows, with a large row-major B. Every element of
// B is used for a few rows only, so the time is that of reading B from memory, and the order of the reads
// decides. B is read in slabs of kc rows, each from left to right, which is nearly the order of memory:
//
//	      strip 0   strip 1   strip 2
//	    ┌─────────┬─────────┬─────────┐
//	kc  │ ──────► │ ──────► │ ──────► │  slab 0: all strips, then
//	    ├─────────┼─────────┼─────────┤
//	kc  │ ──────► │ ──────► │ ──────► │  slab 1, which is prefetched meanwhile
//	    └─────────┴─────────┴─────────┘
//
// The sums of C are loaded and stored once for each slab; they stay in the cache.

const (
	// Where the columns make fewer than skinnyMinTasks tasks, k is split as well (split-K): each task gets a
	// part of k that is at least skinnyMinSplitK long, and the partial results are added up afterwards.
	skinnyMinTasks  = 4
	skinnyMinSplitK = 256

	// A single row of A meets a B of few rows, each at least gemvMinRowBytes long, in slabs of gemvKC rows.
	gemvMinRowBytes, gemvKC = 1536, 8

	// skinnyPrefetchStrips is how many strips ahead a tile of few rows prefetches B.
	skinnyPrefetchStrips = 4
)

// skinnyMinBytesB is the size in bytes from which on B is assumed to come from memory, or from a last-level
// cache that is not much faster. Tests lower it.
var skinnyMinBytesB = cpu.L3 / 16 * 3

// isSkinny reports whether the product is computed by this file.
func (g *job[T]) isSkinny() bool {
	mr, nr := g.tileSize()
	return g.nb == 1 && g.readsBInOrder() && g.m <= mr && g.k >= 64 && g.n >= 4*nr &&
		g.n*g.k*g.elemSize() > skinnyMinBytesB || g.isRowTimesMatrix()
}

// isRowTimesMatrix reports whether the product is a single row times a B with long rows (the BLAS operation
// gemv with a transposed matrix). Going down one strip of such a B would touch another page with every row,
// and the short vectors of AVX2 leave little arithmetic to hide that.
func (g *product[T]) isRowTimesMatrix() bool {
	least := page
	if g.k < 128 { // too few rows for the hardware to foresee the next
		least = gemvMinRowBytes
	}
	return g.pt == pathAVX2 && g.m == 1 && g.k >= 16 && g.n*g.elemSize() >= least && g.readsBInOrder()
}

// readsBInOrder reports whether B can be read in the order of memory: its columns are adjacent and it does
// not come in panels.
func (g *product[T]) readsBInOrder() bool {
	return lanes[T](g.pt) > 0 && !isInteger[T]() && g.b.cs == g.elemSize() && g.strip == 0
}

// runSkinny computes the product: tasks are runs of columns, or, where these are too few, runs of columns
// times parts of k.
func (g *job[T]) runSkinny() {
	if g.nb > 1 {
		g.runSkinnyBatch()
		return
	}
	es := g.elemSize()
	g.mr, g.nr = g.tileSize()
	if lines := g.a.rs%1024 == 0 && g.m > 8; g.a.cs == es && lines || g.a.cs != es && g.a.rs != es {
		buf := g.copyA() // the rows of A compete for cache sets as well
		defer buf.put()
	}
	// Prefetchers follow about 32 rows. Shorter pieces would end before they get
	// going, but for a single row with short vectors, which leaves them no time:
	// then a set of the L1 cache should hold the rows.
	g.kc = 32
	if g.m == 1 && g.pt == pathAVX2 {
		g.kc = gemvKC
	}
	blocks, width := 1, 8192/es // width: columns of a task
	if g.n > width+width/2 {
		blocks = (g.n + width - 1) / width
	}
	strips := (g.n + g.nr - 1) / g.nr
	from := func(block int) int { return min(block*strips/blocks*g.nr, g.n) } // first column of a block
	parts := min(max(skinnyMinTasks/blocks, 1), max(g.k/skinnyMinSplitK, 1))
	depth := roundUp((g.k+parts-1)/parts, g.kc)
	parts = (g.k + depth - 1) / depth
	cost := g.m * g.n / blocks * depth
	if parts == 1 {
		par.For(blocks, max(1, minTask/cost), func(lo, hi int) {
			for b := lo; b < hi; b++ {
				g.skinnyColumns(g.c, from(b), from(b+1), 0, g.k)
			}
		})
		g.activateRows()
		return
	}
	ld := roundUp(g.n, 16) + 16
	sums := getBuffer(parts * g.m * ld * es)
	defer sums.put()
	h := newJob(&g.product) // the partial products: sums without alpha, beta and epilogue
	defer h.free()
	h.mr, h.nr, h.kc = g.mr, g.nr, g.kc
	h.alpha, h.beta, h.biasCol, h.biasRow, h.act = 1, 0, nil, nil, ActNone
	par.For(blocks*parts, max(1, minTask/cost), func(lo, hi int) {
		for t := lo; t < hi; t++ {
			b, q := t/parts, t%parts
			to := operand{unsafe.Add(sums.p, q*g.m*ld*es), ld * es, es}
			h.skinnyColumns(to, from(b), from(b+1), q*depth, min((q+1)*depth, g.k))
		}
	})
	// A row of C is the product of a row of ones and the parts of the row: the
	// kernels do that, and the epilogue.
	one := T(1)
	par.For(g.m, max(1, minTask/16/(g.n*parts)), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			r := g.product
			r.m, r.k, r.batch = 1, parts, nil
			r.a = operand{unsafe.Pointer(&one), 0, 0}
			r.b = operand{unsafe.Add(sums.p, i*ld*es), g.m * ld * es, es}
			r.c.p = unsafe.Add(g.c.p, i*g.c.rs)
			if g.biasRow != nil {
				r.biasRow = unsafe.Add(g.biasRow, i*es)
			}
			r.runSmall(0, 1)
			if g.act > ActReLU {
				r.activateBlock(0, 1, 0, g.n)
			}
		}
	})
}

// runSkinnyBatch multiplies a batch of single rows with one matrix each.
func (g *job[T]) runSkinnyBatch() {
	eachMatrix(g.nb, g.n*g.k, func(x int) {
		offA, offB, offC := g.offsets(x)
		h := newJob(&g.product)
		h.batch, h.nb, h.swapped = nil, 1, false
		h.a.p, h.b.p, h.c.p = unsafe.Add(g.a.p, offA), unsafe.Add(g.b.p, offB), unsafe.Add(g.c.p, offC)
		h.mr, h.nr = g.tileSize()
		h.kc = gemvKC
		h.skinnyColumns(h.c, 0, g.n, 0, g.k)
		h.activateRows()
		h.free()
	})
}

// activateRows applies an activation that the kernels do not compute themselves (anything beyond ReLU) to the
// rows of C.
func (g *job[T]) activateRows() {
	if g.act > ActReLU {
		par.For(g.m, max(1, minTask/16/g.n), func(lo, hi int) { g.activateBlock(lo, hi, 0, g.n) })
	}
}

// skinnyColumns computes the columns [j0,j1) of the result from the steps [k0,k1) of k, and writes them to
// the operand "to".
func (g *job[T]) skinnyColumns(to operand, j0, j1, k0, k1 int) {
	es := g.elemSize()
	s := macroKernel[T]{job: g, i1: g.m, j0: j0, j1: j1}
	s.c, s.ldA, s.kA, s.stepB = unsafe.Add(to.p, j0*es), g.a.rs, g.a.cs, g.nr*es
	p := &s.args
	p.alpha, p.ldc, p.rsA, p.csA, p.ldb, p.nearB = bits(g.alpha), to.rs, g.a.rs, g.a.cs, g.b.rs,
		skinnyPrefetchStrips*s.stepB
	for q := k0; q < k1; q += g.kc {
		p.k = min(g.kc, k1-q)
		g.setFlags(p, q-k0, q+p.k)
		s.a, s.b = unsafe.Add(g.a.p, q*g.a.cs), unsafe.Add(g.b.p, q*g.b.rs+j0*es)
		s.multiplySlab(q+g.kc < g.k) // even if the next one is another task's
	}
}

// multiplySlab multiplies one slab of B. With more, it prefetches the slab below.
func (s *macroKernel[T]) multiplySlab(more bool) {
	g, p := s.job, &s.args
	full, edge := (s.j1-s.j0)/g.nr, (s.j1-s.j0)%g.nr
	if full > 0 {
		p.pfRun = noPrefetch // a low tile has too little arithmetic to hide prefetches behind
		if pieces := full + min(edge, 1); more && 2*g.m >= g.mr && g.nr == 2*lanes[T](g.pt) {
			p.flags |= flagStreamB
			p.pf, p.pfRun, p.pfJump = uintptr(unsafe.Add(s.b, g.kc*g.b.rs)), pieces, g.b.rs-pieces*s.stepB
		}
		p.pfLeft = p.pfRun
		setColumns[T](g.pt, p, g.nr)
		s.tileRow(s.a, 0, g.m, 0, full)
		runTile[T](g.pt, p)
	}
	if edge > 0 {
		s.edgeStrip(s.a, 0, g.m, full, edge, 1)
	}
}
