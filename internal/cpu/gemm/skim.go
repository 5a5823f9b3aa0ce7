package gemm

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/par"
)

// This file multiplies few rows with a large row-major B of which a strip cannot
// well be read by itself: its rows compete for the same sets of the caches, or
// begin inside cache lines, so that every vector straddles two of them and the
// hardware takes each row for the beginning of a stream; or there is but one tile
// of A, so that all depends on reading memory in its order. B is read in slabs of
// some rows, each of which advances from strip to strip. The first tile of A
// copies its strip for those below it, and meanwhile fetches the next slab.

const (
	// skimMost bounds the rows of A.
	skimMost = 64

	// Where pieces of rows make too few tasks, each gets a part of k, which is
	// at least skimPart long, and the parts are added up afterwards.
	skimTasks = 4
	skimPart  = 256

	// skimFew is how many times skimBytes B may have for narrow and high slabs, of
	// which each task has some and which pay for loading and storing C, when they
	// are multiplied by several tiles.
	skimFew = 3

	// skimNear is how many strips ahead tiles of a few rows, which fetch no next
	// slab, fetch their own one.
	skimNear = 4
)

// Rows of B compete that lie skimPage bytes apart, or a multiple of it. From
// skimBytes on, B is supposed to come from memory, and not from the last level of
// cache. Tests lower them.
var skimPage, skimBytes = page, 6 << 20

// skims reports whether the product is one for this file.
func (g *job[T]) skims() bool {
	es := g.es()
	size := g.n * g.k * es
	if lanes[T](g.pt) == 0 || whole[T]() || g.nb > 1 || g.b.cs != es || g.strip > 0 || g.m > skimMost || size <= blockB {
		return false
	}
	mr, nr := g.tileSize()
	if g.k < 64 || g.n < 4*nr {
		return false
	}
	if g.m <= mr { // read once, so that only the order counts
		return size > skimBytes
	}
	// With more rows than few, half as many competitors count as well.
	return g.b.rs%skimPage == 0 || g.b.rs%(skimPage/2) == 0 && g.m > 3*mr || (g.b.rs|int(uintptr(g.b.p)))%64 != 0
}

func (g *job[T]) runSkim() {
	es := g.es()
	g.mr, g.nr = g.tileSize()
	if lines := g.a.rs%1024 == 0 && g.m > 8; g.a.cs == es && lines || g.a.cs != es && g.a.rs != es {
		buf := g.moveA() // its rows compete as well
		defer buf.put()
	}
	width := 0    // bytes of a row that a task reads
	multiple := 1 // of which there are so many tasks
	switch {
	case g.n*g.k*es <= skimBytes || g.m > g.mr && g.n*g.k*es <= skimFew*skimBytes:
		g.kc, width, multiple = 128, 1024, skimTasks
	case g.m <= g.mr:
		// Prefetchers follow about 32 rows. Shorter pieces would end before they
		// get going.
		g.kc, width = 32, 8192
	default:
		// More steps pay for loading and storing C, which needs its part of the
		// cache.
		g.kc, width = 64, 2048
	}
	width /= es
	blocks := 1
	if g.n > width+width/2 {
		blocks = (g.n + width - 1) / width
	}
	strips := (g.n + g.nr - 1) / g.nr
	blocks = min(roundUp(blocks, multiple), strips)
	from := func(block int) int { return min(block*strips/blocks*g.nr, g.n) } // its first column
	parts := min(max(skimTasks/blocks, 1), max(g.k/skimPart, 1))
	depth := roundUp((g.k+parts-1)/parts, g.kc)
	parts = (g.k + depth - 1) / depth
	cost := g.m * g.n / blocks * depth
	if parts == 1 {
		par.For(blocks, max(1, minTask/cost), func(lo, hi int) {
			for b := lo; b < hi; b++ {
				g.skim(g.c, from(b), from(b+1), 0, g.k)
			}
		})
		if g.act > ActReLU {
			par.For(g.m, max(1, minTask/16/g.n), func(lo, hi int) { g.activateBlock(lo, hi, 0, g.n) })
		}
		return
	}
	ld := roundUp(g.n, 16) + 16
	sums := getBuffer(parts * g.m * ld * es)
	defer sums.put()
	h := newJob(&g.product) // what the parts are: nothing but a sum
	defer h.free()
	h.mr, h.nr, h.kc = g.mr, g.nr, g.kc
	h.alpha, h.beta, h.biasCol, h.biasRow, h.act = 1, 0, nil, nil, ActNone
	par.For(blocks*parts, max(1, minTask/cost), func(lo, hi int) {
		for t := lo; t < hi; t++ {
			b, q := t/parts, t%parts
			to := operand{unsafe.Add(sums.p, q*g.m*ld*es), ld * es, es}
			h.skim(to, from(b), from(b+1), q*depth, min((q+1)*depth, g.k))
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
			r.smallRun(0, 1)
			if g.act > ActReLU {
				r.activateBlock(0, 1, 0, g.n)
			}
		}
	})
}

// skim computes the columns [j0,j1) from the steps [k0,k1) of k, into to.
func (g *job[T]) skim(to operand, j0, j1, k0, k1 int) {
	es := g.es()
	panel := getBuffer(g.kc * g.nr * es)
	defer panel.put()
	s := strips[T]{job: g, i1: g.m, j0: j0, j1: j1}
	s.c, s.ldA, s.kA, s.stepB = unsafe.Add(to.p, j0*es), g.a.rs, g.a.cs, g.nr*es
	p := &s.args
	p.alpha, p.ldc, p.rsA, p.csA, p.panel = bits(g.alpha), to.rs, g.a.rs, g.a.cs, panel.p
	for q := k0; q < k1; q += g.kc {
		p.k = min(g.kc, k1-q)
		g.setFlags(p, q-k0, q+p.k)
		s.a, s.b = unsafe.Add(g.a.p, q*g.a.cs), unsafe.Add(g.b.p, q*g.b.rs+j0*es)
		var next unsafe.Pointer
		if q+g.kc < g.k { // even if it is another task's
			next = unsafe.Add(s.b, g.kc*g.b.rs)
		}
		s.slab(next)
	}
}

// lowFirst is tile with the lower tiles first: the first one has to copy as well, and those below it are then more often of one height and
// computed in one call.
func lowFirst(t, tiles, rows int) (start, n int) {
	end, n := tile(tiles-1-t, tiles, rows)
	return rows - end - n, n
}

// slab multiplies a slab with all rows of A; next is the one after it, or nil.
func (s *strips[T]) slab(next unsafe.Pointer) {
	g, p := s.job, &s.args
	es := g.es()
	ldb := g.b.rs
	full, edge := (s.j1-s.j0)/g.nr, (s.j1-s.j0)%g.nr
	n := (g.m + g.mr - 1) / g.mr
	_, top := lowFirst(0, n, g.m)
	flags := p.flags
	// first computes the top tile of count strips from f on.
	first := func(f, count int) {
		s.beside(s.a, 0, top, f, count)
		p.flags, p.ldb, p.near = flags|flagCopyB, ldb, skimNear*s.stepB
		runTile[T](g.pt, p)
	}
	setColumns[T](g.pt, p, g.nr)
	switch pieces := full + min(edge, 1); {
	case 2*top < g.mr || g.nr > 2*lanes[T](g.pt):
		p.pfRun = noAhead // not a tile that copies
	case next != nil:
		p.pf, p.pfRun, p.pfJump = uintptr(next), pieces, ldb-pieces*s.stepB
	default:
		p.pf, p.pfRun, p.pfJump = uintptr(p.panel), 1, -s.stepB
	}
	p.pfLeft = p.pfRun
	if n == 1 {
		if full > 0 {
			first(0, full)
		}
	} else {
		for f := range full {
			first(f, 1)
			p.flags, p.ldb, p.near = flags, g.nr*es, 8*g.nr*es
			pf, pfRun := p.pf, p.pfRun
			p.pfRun = noAhead
			for t := 1; t < n; {
				i, h := lowFirst(t, n, g.m)
				w := n - t // of the same height
				if low := n - g.m%n; t < low {
					w = low - t
				}
				s.below(unsafe.Add(s.a, i*s.ldA), i, h, f, w)
				p.b = p.panel
				runTile[T](g.pt, p)
				t += w
			}
			p.pf, p.pfRun = pf, pfRun
		}
	}
	p.flags, p.ldb = flags, ldb
	if edge == 0 {
		return
	}
	for t := 0; t < n; {
		i, h, w := tiles(t, n, g.m)
		s.part(unsafe.Add(s.a, i*s.ldA), i, h, full, edge, w)
		t += w
	}
}
