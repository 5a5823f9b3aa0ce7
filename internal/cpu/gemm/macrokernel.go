package gemm

import "unsafe"

// task computes one block of one matrix: for each block of k, either tile after tile of A, and for each tile
// all strips of B, or the other way round.
//
//	            strips of B (nr columns each)
//	            ┌────┬────┬────┐
//	            │    │    │    │ kc
//	            └────┴────┴────┘
//	  ┌─────┐   ┌────┬────┬────┐
//	mr│ A   │   │ C  │ →  │ →  │   tilesOuter: along a row of tiles, then the next row
//	  ├─────┤   ├────┼────┼────┤
//	mr│     │   │ ↓  │    │    │   stripsOuter: down a column of tiles, then the next column
//	  └─────┘   └────┴────┴────┘
//	    kc
func (g *job[T]) task(matrix, t int) {
	es := g.elemSize()
	i0 := t % g.nmb * g.mb
	i1 := min(i0+g.mb, g.m)
	j0 := g.j0 + t/g.nmb*g.nbl
	j1 := min(j0+g.nbl, g.j1)
	offA, offB, offC := g.offsets(g.first + matrix)

	// Scratch: some tiles of A; a block of B or, with stripsOuter, one strip of B; a block
	// of Cᵀ.
	sizeA, sizeB, sizeC := 0, 0, 0
	if g.packA == packLocal {
		sizeA = roundUp(g.tilesA()*g.mr, 4) * rowStride(g.kc) * es
	}
	if g.packB == packLocal {
		sizeB = roundUp(j1-j0, g.nr) * g.kc * es
		if g.stripsOuter && g.b.cs != es {
			sizeB = g.nr * g.kc * es
		}
	}
	ldc := g.c.rs
	if g.transposedC {
		ldc = (roundUp(j1-j0, g.nr) + 16) * es
		sizeC = (i1 - i0) * ldc
	}
	s := macroKernel[T]{job: g, i0: i0, i1: i1, j0: j0, j1: j1}
	s.c = unsafe.Add(g.c.p, offC+i0*g.c.rs+j0*es)
	var scratchB unsafe.Pointer
	if sizeA+sizeB+sizeC > 0 {
		buf := getBuffer(sizeA + sizeB + sizeC)
		defer buf.put()
		s.packA, scratchB = buf.p, unsafe.Add(buf.p, sizeA)
		if g.transposedC {
			s.c = unsafe.Add(buf.p, sizeA+sizeB)
			if g.beta != 0 {
				g.loadTransposedC(s.c, ldc, i0, i1, j0, j1)
			}
		}
	}

	p := &s.args
	p.alpha, p.ldc = bits(g.alpha), ldc
	for k0 := g.k0; k0 == g.k0 || k0 < g.k1; k0 += g.kc {
		kk := min(g.kc, g.k1-k0)
		p.k, s.k0 = kk, k0
		g.setFlags(p, k0, k0+kk)
		s.a, s.ldA, s.kA = unsafe.Add(g.a.p, offA+(k0-g.ka)*g.a.cs), g.a.rs, g.a.cs
		s.stepSrc = g.nr * g.b.cs
		if g.strip > 0 {
			s.stepSrc = g.strip
		}
		s.srcB = unsafe.Add(g.b.p, offB+j0/g.nr*s.stepSrc+k0*g.b.rs)
		switch {
		case kk == 0: // there may be no A and B
			s.a, s.ldA, s.srcB, s.stepSrc = nil, 0, nil, 0
		case g.panels != nil:
			p.ldb = g.nr * es
			s.stepB = (g.k1 - g.k0 + panelGap) * p.ldb
			s.b = unsafe.Add(g.panels, (j0-g.j0)/g.nr*s.stepB+(k0-g.k0)*p.ldb)
		case sizeB > 0:
			s.b, s.stepB, p.ldb = scratchB, kk*g.nr*es, g.nr*es
			if g.stripsOuter && g.b.cs != es {
				s.stepB = 0 // strips are packed one after the other into the same place
				break
			}
			packStrips[T](g.pt, s.b, g.nr, s.stepB, operand{s.srcB, g.b.rs, g.b.cs}, j1-j0, g.n-j0, kk)
		default:
			s.b, s.stepB, p.ldb = s.srcB, s.stepSrc, g.b.rs
		}
		p.nearB = 8 * p.ldb
		if g.stripsOuter {
			s.stripsOuter()
		} else {
			s.tilesOuter()
		}
	}
	switch {
	case g.transposedC:
		g.storeTransposedC(s.c, ldc, i0, i1, j0, j1)
		if g.act > ActReLU {
			q := g.product
			q.transpose()
			q.activateBlock(j0, j1, i0, i1)
		}
	case g.act > ActReLU && g.k1 == g.k:
		q := g.product
		q.c.p = unsafe.Add(q.c.p, offC)
		q.activateBlock(i0, i1, j0, j1)
	}
}

// setFlags sets what the kernels do with C before and after the block [k0,k1) of k: load it unless this is
// the first block and beta is 0, and apply the epilogue after the last block.
func (g *product[T]) setFlags(p *args, k0, k1 int) {
	p.flags = 0
	if g.alpha != 1 {
		p.flags = flagAlpha
	}
	switch {
	case k0 > 0:
		p.flags, p.beta = p.flags|flagLoadC, bits(T(1))
	case g.beta != 0:
		p.flags, p.beta = p.flags|flagLoadC, bits(g.beta)
	}
	if k1 < g.k {
		return
	}
	if g.biasCol != nil {
		p.flags |= flagBiasCol
	}
	if g.biasRow != nil {
		p.flags |= flagBiasRow
	}
	if g.act == ActReLU {
		p.flags |= flagReLU
	}
}

// macroKernel is a task's work on one block of k: the two loops around the micro-kernel.
type macroKernel[T element] struct {
	args
	job            *job[T]
	i0, i1, j0, j1 int
	a              unsafe.Pointer // row 0 of A
	ldA, kA        int            // bytes between rows and between steps of k of A
	packA          unsafe.Pointer // room for tiles of A
	k0             int            // the block's first step
	b              unsafe.Pointer // the first strip, packed or in place
	stepB          int            // bytes from strip to strip
	srcB           unsafe.Pointer // the first strip before packing
	stepSrc        int            // bytes from strip to strip before packing
	c              unsafe.Pointer // the task's first element
}

// packStrip packs strip f of B.
func (s *macroKernel[T]) packStrip(f int) {
	g := s.job
	j := f * g.nr
	packColumns[T](g.pt, unsafe.Add(s.b, f*s.stepB), g.nr, operand{unsafe.Add(s.srcB, f*s.stepSrc), g.b.rs, g.b.cs},
		min(g.nr, s.j1-s.j0-j), g.n-s.j0-j, s.args.k)
}

// tilesOuter multiplies tile after tile of A with all strips of B. Meanwhile the tile of A stays in the L1
// cache and the block of B in the L2 cache.
func (s *macroKernel[T]) tilesOuter() {
	g, p := s.job, &s.args
	es := g.elemSize()
	kk := p.k
	full, edge := (s.j1-s.j0)/g.nr, (s.j1-s.j0)%g.nr
	n := (s.i1 - s.i0 + g.mr - 1) / g.mr
	p.rsA, p.csA = s.ldA, s.kA
	group, packed := g.tilesA(), 0
	if g.packA == packLocal {
		p.rsA, p.csA = rowStride(g.kc)*es, es
	}
	most := max(1, callMACs/(g.mr*g.nr*max(kk, 1)))
	for t := range n {
		i, rows := tile(t, n, s.i1-s.i0)
		i += s.i0
		src := unsafe.Add(s.a, i*s.ldA)
		if g.packA == packLocal && kk > 0 {
			if t%group == 0 {
				packed = i
				end, _ := tile(min(t+group, n), n, s.i1-s.i0)
				height := min(roundUp(s.i0+end-i, 4), g.m-i) // whole steps of the transposing kernels
				packRows[T](g.pt, s.packA, p.rsA, operand{src, s.ldA, s.kA}, height, kk, g.k-s.k0)
			}
			src = unsafe.Add(s.packA, (i-packed)*p.rsA)
		}
		next := i + rows
		for f := 0; f < full; {
			w := min(full-f, most)
			s.prefetchC()
			if g.prefetch && next < g.m && f < 4 {
				// While the first four strips are computed, the next tile of A is fetched.
				s.prefetchA(next, f, full)
			}
			setColumns[T](g.pt, p, g.nr)
			s.tileRow(src, i, rows, f, w)
			if f += w; f == full {
				p.pfLast = rows*p.ldc - (full-1)*g.nr*es // to the first tile of C in the next row of tiles
			}
			runTile[T](g.pt, p)
		}
		if edge > 0 {
			s.edgeStrip(src, i, rows, full, edge, 1)
		}
	}
}

// stripsOuter multiplies strip after strip of B with all tiles of A. Meanwhile the block of A stays in the L2
// cache.
func (s *macroKernel[T]) stripsOuter() {
	g, p := s.job, &s.args
	es := g.elemSize()
	all := (s.j1 - s.j0 + g.nr - 1) / g.nr
	n := (s.i1 - s.i0 + g.mr - 1) / g.mr
	p.rsA, p.csA = s.ldA, s.kA
	most := max(1, callMACs/(g.mr*g.nr*max(p.k, 1)))
	for f := range all {
		if g.packB == packLocal && g.b.cs != es && p.k > 0 {
			s.packStrip(f)
		}
		cols := min(g.nr, s.j1-s.j0-f*g.nr)
		for t := 0; t < n; {
			i, rows, w := tiles(t, n, s.i1-s.i0)
			i += s.i0
			w = min(w, most)
			src := unsafe.Add(s.a, i*s.ldA)
			if cols < g.nr {
				s.edgeStrip(src, i, rows, f, cols, w)
				t += w
				continue
			}
			s.prefetchC()
			if g.prefetch && f+1 < all && t < 8 {
				// While the first tiles are computed, the next strip is fetched.
				w = min(w, 4-t%4)
				s.prefetchB(f+1, t, n)
			}
			setColumns[T](g.pt, p, cols)
			s.tileColumn(src, i, rows, f, w)
			if t += w; t == n {
				p.pfLast = g.nr*es - (i+(w-1)*rows-s.i0)*p.ldc // to the first tile of C in the next strip
			}
			runTile[T](g.pt, p)
		}
	}
}

// edgeStrip computes count tiles below each other in a strip that has fewer than nr columns. Some of the
// masked kernels take fewer rows than a full tile has.
func (s *macroKernel[T]) edgeStrip(src unsafe.Pointer, i, rows, f, cols, count int) {
	g, p := s.job, &s.args
	maxRows := setColumns[T](g.pt, p, cols)
	p.pfRun = noPrefetch
	for r := 0; r < rows; r += maxRows {
		s.tileColumn(unsafe.Add(src, r*p.rsA), i+r, rows, f, count)
		p.rows = min(maxRows, rows-r)
		runTile[T](g.pt, p)
	}
}

// tileRow sets the kernel's arguments for count tiles beside each other, the first one at row i and strip f.
func (s *macroKernel[T]) tileRow(a unsafe.Pointer, i, rows, f, count int) {
	g, p := s.job, &s.args
	s.pointTo(a, i, f)
	width := g.nr * g.elemSize()
	p.rows, p.count = rows, count
	p.stepA, p.stepB, p.stepC, p.stepCol, p.stepRow = 0, s.stepB, width, 0, 0
	p.pfLast = width
	if g.biasCol != nil {
		p.stepCol = width
	}
}

// tileColumn sets the kernel's arguments for count tiles below each other, the first one at row i and strip
// f.
func (s *macroKernel[T]) tileColumn(a unsafe.Pointer, i, rows, f, count int) {
	g, p := s.job, &s.args
	s.pointTo(a, i, f)
	p.rows, p.count = rows, count
	p.stepA, p.stepB, p.stepC, p.stepCol, p.stepRow = rows*p.rsA, 0, rows*p.ldc, 0, 0
	p.pfLast = p.stepC
	if g.biasRow != nil {
		p.stepRow = rows * g.elemSize()
	}
}

// pointTo points the kernel's arguments to row i and strip f.
func (s *macroKernel[T]) pointTo(a unsafe.Pointer, i, f int) {
	g, p := s.job, &s.args
	es := g.elemSize()
	p.a, p.b = a, unsafe.Add(s.b, f*s.stepB)
	p.c = unsafe.Add(s.c, (i-s.i0)*p.ldc+f*g.nr*es)
	if g.biasCol != nil {
		p.biasCol = unsafe.Add(g.biasCol, (s.j0+f*g.nr)*es)
	}
	if g.biasRow != nil {
		p.biasRow = unsafe.Add(g.biasRow, i*es)
	}
}

// tilesA is the number of tiles of A that a task packs at once. The columns of a transposed A lie apart in
// memory: packing several tiles together reads some whole cache lines of each column.
func (g *job[T]) tilesA() int { return max(1, 64/g.mr) }

// noPrefetch is a run so long that its end, where something would be fetched, is never reached.
const noPrefetch = 1 << 40

// prefetchRun is the number of steps of k that the kernels' main loop takes between two pieces of the next
// tile of C that it fetches, if it fetches that many pieces in k steps.
func prefetchRun(k, runs int) int { return max(4, k/runs) &^ 3 }

// prefetchC makes the kernels fetch the next tile of C: in four pieces, spread over the block of k, or in one
// piece where the matrices fit the L2 cache. Other prefetches are switched off.
func (s *macroKernel[T]) prefetchC() {
	p := &s.args
	p.pf, p.pfSide, p.pfBack, p.pfStep, p.pfJump = uintptr(s.a), 0, 0, 0, 0
	if p.pfRun = prefetchRun(p.k, 1); s.job.prefetch && p.k >= 64 {
		p.pfRun = prefetchRun(p.k, 4)
	}
}

// prefetchA makes the kernels fetch the next tile of A, which begins at row i, while they compute strip f of
// the given number of strips. Normally each of the first four strips fetches four rows, one row in a run;
// with fewer strips a run fetches two or four rows.
func (s *macroKernel[T]) prefetchA(i, f, strips int) {
	g, p := s.job, &s.args
	if s.kA != g.elemSize() {
		return
	}
	rows := 1 // rows that a run fetches
	switch {
	case g.pt != pathAVX512: // these kernels fetch one line in four steps
	case strips == 1:
		rows, p.pfSide, p.pfBack = 4, s.ldA, s.ldA
	case strips < 4:
		rows, p.pfSide, p.pfBack = 2, s.ldA, -s.ldA
	}
	p.pf = uintptr(unsafe.Add(s.a, (i+4*rows*f)*s.ldA))
	p.pfStep = 64 - 2*p.pfSide - p.pfBack
	p.pfJump = rows*s.ldA - p.pfRun/4*64
}

// prefetchB makes the kernels fetch a part of strip f of B, whose rows are two cache lines wide, while they
// compute tile t of the given number of tiles. With more tiles each tile fetches a smaller part.
func (s *macroKernel[T]) prefetchB(f, t, tiles int) {
	p := &s.args
	g := s.job
	if g.packB == packLocal {
		return
	}
	p.pf = uintptr(unsafe.Add(s.b, f*s.stepB))
	switch {
	case tiles >= 8 || g.pt != pathAVX512: // a line of a row every four steps
		p.pf += uintptr(t%4*(p.k/4)*p.ldb + t/4*64)
		p.pfStep = p.ldb
	case tiles >= 4: // a row
		p.pf += uintptr(t * (p.k / 4) * p.ldb)
		p.pfSide, p.pfBack, p.pfStep = 64, -64, p.ldb-64
	default: // two rows
		p.pf += uintptr(t * (p.k / 2) * p.ldb)
		p.pfSide, p.pfBack, p.pfStep = 64, p.ldb-64, p.ldb-64
	}
}

// tile cuts rows into tiles of nearly equal height, the higher ones first, and returns where tile t starts
// and how high it is. Two tiles of 8 and 7 rows run faster than one of 14 and one of 1.
func tile(t, tiles, rows int) (start, n int) {
	h, more := rows/tiles, rows%tiles
	start, n = t*h+min(t, more), h
	if t < more {
		n++
	}
	return start, n
}

// tiles returns what tile returns, and how many tiles of the same height follow, tile t included.
func tiles(t, n, rows int) (start, height, count int) {
	start, height = tile(t, n, rows)
	count = n - t
	if more := rows % n; t < more {
		count = more - t
	}
	return start, height, count
}

// loadTransposedC loads the block of C to which a task with transposedC adds. The task's scratch s holds Cᵀ,
// in rows ldc bytes apart.
func (g *job[T]) loadTransposedC(s unsafe.Pointer, ldc, i0, i1, j0, j1 int) {
	packPanel[T](g.pt, s, ldc/g.elemSize(), unsafe.Add(g.c.p, i0*g.c.rs+j0*g.c.cs), g.c.cs, g.c.rs, j1-j0, j1-j0, i1-i0)
}

// storeTransposedC stores the scratch of a task with transposedC, transposed, to C.
func (g *job[T]) storeTransposedC(s unsafe.Pointer, ldc, i0, i1, j0, j1 int) {
	es := g.elemSize()
	packPanel[T](g.pt, unsafe.Add(g.c.p, i0*g.c.rs+j0*g.c.cs), g.c.cs/es, s, ldc, es, i1-i0, i1-i0, j1-j0)
}
