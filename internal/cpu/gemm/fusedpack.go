package gemm

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu"
	"github.com/gotorch-dev/torch/internal/par"
)

// This file multiplies a matrix A of up to some hundred rows with a large row-major B, and lets the
// micro-kernels pack B while they multiply (fused packing). It serves a B that cannot well be read in place,
// for one of three reasons: the rows of B compete for the same sets of the caches; they begin inside cache
// lines, so that every vector straddles two lines; or they come from memory. Packing B beforehand would take
// a large part of the time, because so few rows of A share the packed copy.
//
// The work on B is a pipeline of three stages that run at the same time, one strip (a panel of nr columns)
// behind the other:
//
//	strip f+1 and later   rows are prefetched into the L2 cache
//	strip f+1             the kernels copy its rows into the panel buffer "next", one row in two steps of k
//	strip f               all tiles of A are multiplied with the panel in the buffer "this"
//
// The micro-kernels do all three: see flagFusedPack and the generator's fusedPackLoop.

const (
	// fusedPackMaxRows bounds the rows of A. A taller A would not stay in the cache, and packing B in advance
	// then costs less.
	fusedPackMaxRows = 384

	// fusedPackPrefetchRows is how many rows of B are prefetched before they are copied. When the rows
	// compete for the same cache sets, the L2 cache has room for about this many.
	fusedPackPrefetchRows = 32

	// fusedPackTaskMACs is the number of multiply-adds of a task. A task should be long, because it begins
	// with packing its first strip, which no arithmetic hides.
	fusedPackTaskMACs = 1 << 24

	// fusedPackTaskMultiple divides the number of tasks, so that 2 or 4 threads get equal shares.
	fusedPackTaskMultiple = 4
)

// fusedPackMaxBytesA bounds the part of A, in bytes, that stays in the L2 cache while strips of B pass.
var fusedPackMaxBytesA = cpu.L2 / 16 * 7

// conflictStride is the distance in bytes at which rows of B begin to compete for the same cache sets: rows
// this far apart, or a multiple of it, do. Tests lower it.
var conflictStride = 1024

// usesFusedPack reports whether the product is computed by this file.
func (g *job[T]) usesFusedPack() bool {
	mr, nr := g.tileSize()
	size := g.n * g.k * g.elemSize()
	if g.nb > 1 || !g.readsBInOrder() || g.m <= mr || g.m > fusedPackMaxRows || g.k < 64 || g.n < 4*nr ||
		size <= blockB {
		return false
	}
	return g.b.rs%conflictStride == 0 || (g.b.rs|int(uintptr(g.b.p)))%64 != 0 || g.m <= 64 && size > skinnyMinBytesB
}

// runFusedPack computes the product: it cuts the strips of B into tasks of nearly equal size.
func (g *job[T]) runFusedPack() {
	es := g.elemSize()
	g.mr, g.nr = g.tileSize()
	if g.a.cs != es || g.a.rs%1024 == 0 {
		buf := g.copyA()
		defer buf.put()
	}
	g.blockKEvenly(maxKC / es)
	g.prefetch = true
	strips := (g.n + g.nr - 1) / g.nr
	each := max(4, fusedPackTaskMACs/(g.m*g.k*g.nr))
	blocks := min(max(1, (strips+fusedPackTaskMultiple*each/2)/(fusedPackTaskMultiple*each))*fusedPackTaskMultiple,
		strips)
	cost := g.m * g.k * (g.n / blocks)
	par.For(blocks, max(1, minTask/cost), func(lo, hi int) {
		for b := lo; b < hi; b++ {
			g.fusedPackStrips(b*strips/blocks, (b+1)*strips/blocks)
		}
	})
	g.activateRows()
}

// fusedPacker is the state of one task: a run of strips of B.
type fusedPacker[T element] struct {
	macroKernel[T]
	f0, f1 int // the strips of the task
	blocks int // number of blocks of k
	group  int // number of blocks of k that are taken one after the other for each strip
}

// stripBlock is one block of k of one strip: the unit that is packed and multiplied at a time.
type stripBlock struct {
	f, k0   int
	cols, k int
	src     unsafe.Pointer
}

// fusedPackStrips computes the columns of the strips [f0,f1).
func (g *job[T]) fusedPackStrips(f0, f1 int) {
	es := g.elemSize()
	width := g.nr * es
	size := (g.kc + 8) * width
	buf := getBuffer(2 * size)
	defer buf.put()
	r := fusedPacker[T]{f0: f0, f1: f1, blocks: (g.k + g.kc - 1) / g.kc}
	r.job, r.i1, r.j1 = g, g.m, g.n
	r.c, r.ldA, r.kA = g.c.p, g.a.rs, g.a.cs
	// As many blocks of k as leave their part of A in the cache.
	r.group = min(max(1, fusedPackMaxBytesA/(g.m*g.kc*es)), r.blocks)
	p := &r.args
	p.alpha, p.ldc, p.rsA, p.csA, p.ldb, p.nearB = bits(g.alpha), g.c.rs, g.a.rs, g.a.cs, width, 8*width
	pieces := (f1 - f0) * r.blocks
	this, next := buf.p, unsafe.Add(buf.p, size)
	t := r.piece(0)
	r.packRest(this, t, 0)
	for x := 1; ; x++ {
		if x == pieces {
			r.multiply(this, t)
			return
		}
		n := r.piece(x)
		left := r.startPacking(next, n, r.piece(x+1))
		r.multiply(this, t)
		r.packRest(next, n, (left-p.packLeft-p.thenLeft)/2)
		this, next, t = next, this, n
	}
}

// piece returns block x of the task. For x equal to the number of blocks it returns the first block of the
// neighbouring task, if there is one: it is only prefetched.
func (r *fusedPacker[T]) piece(x int) stripBlock {
	g := r.job
	es := g.elemSize()
	t := stripBlock{f: r.f1}
	if x < (r.f1-r.f0)*r.blocks {
		all := r.group * (r.f1 - r.f0) // blocks of the task in a group of blocks of k
		first := x / all * r.group
		here := min(r.group, r.blocks-first)
		x %= all
		t.f, t.k0 = r.f0+x/here, (first+x%here)*g.kc
	}
	t.cols, t.k = min(g.nr, g.n-t.f*g.nr), min(g.kc, g.k-t.k0)
	if t.cols > 0 {
		t.src = unsafe.Add(g.b.p, t.k0*g.b.rs+t.f*g.nr*es)
	}
	return t
}

// startPacking sets the arguments with which the kernels copy block t to dst and prefetch the beginning of
// the block after it. It returns the number of steps of k that this takes.
func (r *fusedPacker[T]) startPacking(dst unsafe.Pointer, t, after stripBlock) int {
	g, p := r.job, &r.args
	ld := g.b.rs
	rows := t.k
	if t.cols < g.nr && t.k0+t.k == g.k {
		rows-- // whole vectors are read, and to the right of the last row there may be no memory
	}
	rows &^= 1
	last := 0 // the last rows of t, while which the first rows of the next block are prefetched
	if after.src != nil && (after.f != t.f || after.k0 != t.k0+t.k) {
		last = min(fusedPackPrefetchRows, rows)
		p.thenPrefetch = int(uintptr(after.src)-uintptr(t.src)) - (rows-last)*ld
	}
	p.packSrc, p.packDst, p.packStep = uintptr(t.src), dst, ld
	p.packPrefetch, p.packLeft, p.thenLeft = fusedPackPrefetchRows*ld, 2*(rows-last), 2*last
	return 2 * rows
}

// packRest packs the rows of block t from row done on, which the kernels did not get to.
func (r *fusedPacker[T]) packRest(dst unsafe.Pointer, t stripBlock, done int) {
	if g := r.job; done < t.k {
		es := g.elemSize()
		packColumns[T](g.pt, unsafe.Add(dst, done*g.nr*es), g.nr, operand{unsafe.Add(t.src, done*g.b.rs), g.b.rs, es},
			t.cols, g.n-t.f*g.nr, t.k-done)
	}
}

// multiply multiplies the packed block b with all rows of A.
func (r *fusedPacker[T]) multiply(b unsafe.Pointer, t stripBlock) {
	g, p := r.job, &r.args
	es := g.elemSize()
	p.k = t.k
	g.setFlags(p, t.k0, t.k0+t.k)
	p.flags |= flagFusedPack
	r.a, r.b = unsafe.Add(g.a.p, t.k0*g.a.cs), b
	r.prefetchC()
	n := (g.m + g.mr - 1) / g.mr
	for x := 0; x < n; {
		i, h, w := tiles(x, n, g.m)
		w = min(w, max(1, callMACs/(h*g.nr*t.k)))
		src := unsafe.Add(r.a, i*r.ldA)
		if x += w; t.cols < g.nr {
			r.edgeStrip(src, i, h, t.f, t.cols, w)
			continue
		}
		setColumns[T](g.pt, p, t.cols)
		r.tileColumn(src, i, h, t.f, w)
		if x == n {
			p.pfLast = g.nr*es - (g.m-h)*p.ldc // the next strip's first
		}
		runTile[T](g.pt, p)
	}
}
