package gemm

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/par"
)

// This file multiplies operands of 8 and 16 bits with instructions that multiply groups: one instruction
// takes four adjacent bytes of either operand, which are two or four elements along k, and adds their
// products to a 32-bit lane (VPDPBUSD, VDPBF16PS, VPMADDWD). Both operands are packed in such groups (the
// "VNNI layout"), in tiles of A and strips of B as in a product of float32:
//
//	B, row-major        packed strip of B, groups of 2
//	k=0: a0 b0 c0 d0    a0 a1 | b0 b1 | c0 c1 | d0 d1     one 32-bit lane per column
//	k=1: a1 b1 c1 d1
//	k=2: a2 b2 c2 d2    a2 a3 | b2 b3 | c2 c3 | d2 d3
//	k=3: a3 b3 c3 d3
//
// The results are sums of 32 bits; bfloat16.go, int8.go and narrowint.go make the elements of C from them.

// lowPrecisionArgs is what a kernel reads. The assembly knows the layout of this struct: a test compares the
// offsets.
type lowPrecisionArgs struct {
	a, b, c unsafe.Pointer // tile of A, first strip of B, first element of C
	ldc     int            // bytes between rows of C
	k       int            // groups, a multiple of 4
	count   int            // strips
	stepB   int            // bytes between strips
	rows    int            // rows of the tile
	init    unsafe.Pointer // nil, or what each column's sums begin with
	add     int            // not 0: the sums are added to C
	next    int            // bytes from the tile of A to the tile that is prefetched
	half    unsafe.Pointer // nil, or where the sums are stored, rounded to bfloat16, instead of at c
	ldHalf  int            // bytes between rows at half
}

// lowPrecisionKernel is the kernel of one path for one kind of elements. A call computes rows by count strips
// of nr columns.
type lowPrecisionKernel struct {
	path           path
	mr, packedRows int // rows of a tile; groups per step in it
	nr             int // columns of a strip
	pack           elementFormat
	run            func(*lowPrecisionArgs)
	rounds         bool // knows lowPrecisionArgs.half
}

// group is the number of elements in four packed bytes.
func (l *lowPrecisionKernel) group() int {
	if l.pack == packBytes {
		return 4
	}
	return 2
}

const (
	// lowPrecisionKC bounds a block of k, in groups, for the same reason as maxKC: the rows of a tile of A
	// stay in the L1 cache.
	lowPrecisionKC = 512

	// lowPrecisionScratch bounds the sums of a task that are kept in scratch, in bytes.
	lowPrecisionScratch = 256 << 10
)

// lowPrecisionProduct is the product of one pair of matrices. The operands a and b are seen alike, as
// positions by steps of k: the positions of a are rows of A, the positions of b columns of B.
type lowPrecisionProduct struct {
	lowPrecisionKernel
	m, n, k int
	a, b    lowPrecisionOperand

	// offset says that 128 is added to the elements of A, because the kernel takes them for
	// unsigned: (a+128)·b = a·b + 128·b. The surplus 128·(sum of b over k) of each column is
	// subtracted from its sums.
	offset bool

	// Where the columns of a task are whole strips, sums are stored at c directly. Otherwise,
	// or if c is nil, they are kept in scratch with rows ld elements apart, and store is
	// called with the block [i0,i1)×[j0,j1).
	c   unsafe.Pointer
	ldc int // bytes
	add bool
	// If half is not nil, sums are stored there, rounded to bfloat16, after bias has been
	// added to each row, unless bias is nil.
	half   unsafe.Pointer
	ldHalf int // bytes
	bias   []float32
	store  func(i0, i1, j0, j1 int, sums unsafe.Pointer, ld int)
}

// lowPrecisionJob is a product with its plan, which follows from the sizes alone.
type lowPrecisionJob struct {
	*lowPrecisionProduct
	kg, kc         int            // groups, and how many of them in a block
	tiles          int            // of A
	local          bool           // each task packs its own strips
	pa, pb         unsafe.Pointer // packed tiles and strips
	ones           unsafe.Pointer // a packed row of 128, to compute the correction for offset
	corrections    []int32        // what to add to the sums of a column
	t0, t1, s0, s1 int            // the tiles [t0,t1) are packed at pa, the strips [s0,s1) at pb
}

// run packs and multiplies, as many tiles and strips at a time as the buffers hold.
func (p *lowPrecisionProduct) run() {
	g := &lowPrecisionJob{lowPrecisionProduct: p}
	g.kg = roundUp(max(1, (p.k+p.group()-1)/p.group()), 4)
	blocks := (g.kg + lowPrecisionKC - 1) / lowPrecisionKC
	g.kc = roundUp((g.kg+blocks-1)/blocks, 4)
	g.tiles = (p.m + p.mr - 1) / p.mr
	strips := (p.n + p.nr - 1) / p.nr
	// With few rows a strip is used a few times only, and should not leave the cache between
	// packing and use: then each task packs its own strips. If there are strips enough for
	// all threads, that also saves waiting for the packing.
	g.local = g.tiles <= 4 || g.tiles <= 40 && strips >= 8

	sizeA, sizeB := p.packedRows*g.kg*4, p.nr*g.kg*4
	chunkA, chunkB := min(g.tiles, max(1, panelBytes/sizeA)), min(strips, max(1, panelBytes/sizeB))
	bufA := getBuffer(chunkA * sizeA)
	defer bufA.put()
	g.pa = bufA.p
	if !g.local {
		bufB := getBuffer(chunkB * sizeB)
		defer bufB.put()
		g.pb = bufB.p
	}
	if p.offset {
		buf := getBuffer(sizeA)
		defer buf.put()
		g.ones = buf.p
		for i := range unsafe.Slice((*uint64)(g.ones), sizeA/8) {
			*at[uint64](g.ones, i*8) = 0x8080808080808080
		}
		g.corrections = make([]int32, chunkB*p.nr)
	}
	for g.s0 = 0; g.s0 < strips; g.s0 += chunkB {
		g.s1 = min(g.s0+chunkB, strips)
		fresh := !g.local // the strips are yet to be packed
		for g.t0 = 0; g.t0 < g.tiles; g.t0 += chunkA {
			g.t1 = min(g.t0+chunkA, g.tiles)
			g.packRound(g.s0 == 0 || chunkA < g.tiles, fresh)
			fresh = false
			g.runTasks()
		}
	}
}

// tileRows returns the rows of tile t of A.
func (g *lowPrecisionJob) tileRows(t int) (i, rows int) { return tile(t, g.tiles, g.m) }

// packRound packs the tiles [t0,t1) if tiles is set, and the strips [s0,s1) if strips is set. A packing task
// packs some of them, or a piece of a long one.
func (g *lowPrecisionJob) packRound(tiles, strips bool) {
	pieceA, piecesA := g.pieces(g.packedRows)
	pieceB, piecesB := g.pieces(g.nr)
	countA, countB := 0, 0
	if tiles {
		countA = (g.t1 - g.t0) * piecesA
	}
	if strips {
		countB = (g.s1 - g.s0) * piecesB
	}
	par.For(countB+countA, max(1, packTask/max(pieceA*g.packedRows, pieceB*g.nr)), func(lo, hi int) {
		for x := lo; x < hi; x++ {
			if x < countB {
				s, q := x/piecesB, x%piecesB*pieceB
				g.packStrip(unsafe.Add(g.pb, (s*g.kg+q)*g.nr*4), g.s0+s, q, min(pieceB, g.kg-q))
				if piecesB == 1 && g.offset {
					g.correctStrips(s, s+1)
				}
			} else {
				y := x - countB
				t, q := y/piecesA, y%piecesA*pieceA
				g.packTile(t, q, min(pieceA, g.kg-q))
			}
		}
	})
	if strips && piecesB > 1 && g.offset {
		par.For(g.s1-g.s0, max(1, packTask/(g.kg*g.nr)), g.correctStrips)
	}
}

// packTile packs the groups [q,q+steps) of the tile t0+t.
func (g *lowPrecisionJob) packTile(t, q, steps int) {
	i, rows := g.tileRows(g.t0 + t)
	dst := unsafe.Add(g.pa, (t*g.kg+q)*g.packedRows*4)
	g.a.packPanel(&g.lowPrecisionKernel, dst, g.packedRows, i, rows, q, steps)
	if n := g.packedRows * steps * 4; g.offset && !flipSignBits(g.path, dst, n) {
		for w := range n / 8 {
			*at[uint64](dst, w*8) ^= 0x8080808080808080
		}
	}
}

// pieces cuts the groups of a panel into pieces that are worth a task.
func (g *lowPrecisionJob) pieces(width int) (piece, pieces int) {
	piece = min(g.kg, max(packTask/width, 64)&^3)
	return piece, (g.kg + piece - 1) / piece
}

// packStrip packs the groups [q,q+steps) of strip s to dst.
func (g *lowPrecisionJob) packStrip(dst unsafe.Pointer, s, q, steps int) {
	g.b.packPanel(&g.lowPrecisionKernel, dst, g.nr, s*g.nr, min(g.nr, g.n-s*g.nr), q, steps)
}

// correctStrips computes the corrections of the strips [s0+lo,s0+hi).
func (g *lowPrecisionJob) correctStrips(lo, hi int) {
	g.correct(unsafe.Add(g.pb, lo*g.kg*g.nr*4), hi-lo, g.corrections[lo*g.nr:hi*g.nr])
}

// correct computes the corrections for offset of the columns of packed strips: minus the product of a row of
// 128 with each column.
func (g *lowPrecisionJob) correct(b unsafe.Pointer, strips int, fix []int32) {
	stepB := g.kg * g.nr * 4
	for q := 0; q < g.kg; q += g.kc {
		p := lowPrecisionArgs{a: g.ones, b: unsafe.Add(b, q*g.nr*4), c: unsafe.Pointer(&fix[0]), k: min(g.kc, g.kg-q),
			count: strips, stepB: stepB, rows: 1}
		if q > 0 {
			p.add = 1
		}
		g.lowPrecisionKernel.run(&p)
	}
	for i := range fix {
		fix[i] = -fix[i]
	}
}

// runTasks multiplies the packed tiles with the packed strips.
func (g *lowPrecisionJob) runTasks() {
	depth := g.kg * g.group()
	budget := min(max(g.m*g.n/32*depth, minTask), maxTask)
	// A task takes a block of B that stays in the L2 cache, and as many tiles as its budget
	// of multiply-adds allows.
	ns, nt := g.s1-g.s0, g.t1-g.t0
	sb := min(ns, max(1, blockB/(g.kc*g.nr*4)))
	if g.local {
		sb = min(sb, max(1, budget/(g.m*g.nr*depth)))
	}
	parts := (ns + sb - 1) / sb
	sb = (ns + parts - 1) / parts
	tb := nt
	if !g.local {
		tb = min(nt, max(1, min(budget/(sb*g.nr*depth), lowPrecisionScratch/4/(sb*g.nr))/g.mr))
	}
	down := (nt + tb - 1) / tb
	cost := min(tb*g.mr, g.m) * sb * g.nr * depth
	par.For(parts*down, max(1, minTask/cost), func(lo, hi int) {
		for x := lo; x < hi; x++ {
			// Tiles vary fastest: neighbours share a block of B.
			t, s := x%down*tb, x/down*sb
			g.task(g.t0+t, min(g.t0+t+tb, g.t1), g.s0+s, min(g.s0+s+sb, g.s1))
		}
	})
}

// task multiplies the tiles [t0,t1) with the strips [s0,s1).
func (g *lowPrecisionJob) task(t0, t1, s0, s1 int) {
	i0, _ := g.tileRows(t0)
	i1, last := g.tileRows(t1 - 1)
	i1 += last
	j0, j1 := s0*g.nr, min(s1*g.nr, g.n)
	full := j1 == s1*g.nr
	direct, rounded := g.c != nil && full, g.half != nil && full

	sizeB := g.kg * g.nr * 4
	sizeC, ld := 0, roundUp(s1*g.nr-j0, 16)+16
	sums := !rounded || g.kc < g.kg // are kept
	if sums && !direct {
		sizeC = (i1 - i0) * ld * 4
	}
	pb, fix := unsafe.Add(g.pb, (s0-g.s0)*sizeB), g.corrections
	local := 0
	if g.local {
		local = (s1 - s0) * sizeB
	}
	buf := getBuffer(local + sizeC)
	defer buf.put()
	if g.local {
		pb = buf.p
		for s := s0; s < s1; s++ {
			for q := 0; q < g.kg; q += g.kc {
				g.packStrip(unsafe.Add(pb, ((s-s0)*g.kg+q)*g.nr*4), s, q, min(g.kc, g.kg-q))
			}
		}
	}
	if g.offset {
		fix = fix[(s0-g.s0)*g.nr:][:(s1-s0)*g.nr]
		if g.local {
			g.correct(pb, s1-s0, fix)
		}
	}
	c, ldc := unsafe.Add(buf.p, local), ld*4
	if direct {
		c, ldc = unsafe.Add(g.c, i0*g.ldc+j0*4), g.ldc
	}
	p := &lowPrecisionArgs{ldc: ldc, stepB: sizeB}
	if sizeA := g.kg * g.packedRows * 4; g.tiles*sizeA > blockB { // the packed A does not stay in the L2 cache
		p.next = sizeA
	}
	for q := 0; q < g.kg; q += g.kc {
		p.k, p.add, p.init = min(g.kc, g.kg-q), 0, nil
		if q > 0 || direct && g.add {
			p.add = 1
		}
		last := rounded && q+g.kc >= g.kg
		most := max(1, 4*callMACs/(g.mr*g.nr*p.k*g.group()))
		for t := t0; t < t1; t++ {
			i, rows := g.tileRows(t)
			p.a, p.rows = unsafe.Add(g.pa, ((t-g.t0)*g.kg+q)*g.packedRows*4), rows
			for s := 0; s < s1-s0; s += most {
				p.count = min(most, s1-s0-s)
				p.b = unsafe.Add(pb, s*sizeB+q*g.nr*4)
				if sums {
					p.c = unsafe.Add(c, (i-i0)*ldc+s*g.nr*4)
				}
				if g.offset && q == 0 {
					p.init = unsafe.Pointer(&fix[s*g.nr])
				}
				if last {
					j := j0 + s*g.nr
					p.half, p.ldHalf = unsafe.Add(g.half, i*g.ldHalf+j*2), g.ldHalf
					if g.bias != nil {
						p.init = unsafe.Pointer(&g.bias[j])
					}
				}
				g.lowPrecisionKernel.run(p)
			}
		}
	}
	if !direct && !rounded {
		g.store(i0, i1, j0, j1, c, ld)
	}
}
