package gemm

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/par"
)

const (
	// A product of up to smallMACs multiply-adds runs at once, without a plan and without tasks, unless
	// reading its operands takes longer than the arithmetic. For each matrix of a batch the limit is
	// smallBatch.
	smallMACs  = 1 << 18
	smallBatch = 1 << 21

	// smallL1 is a number of bytes that surely fits the L1 cache.
	smallL1 = 16 << 10

	// smallB bounds the packed copy of a transposed B, in bytes.
	smallB = 256 << 10
)

// trySmall computes the product without a plan, or reports that it is too large for that. It must not let g
// escape to the heap: a small product is cheap because nothing is allocated.
func (g *product[T]) trySmall() bool {
	macs := g.m * g.n * g.k
	if macs > smallBatch || g.nb == 1 && max(macs, g.work(macs)/2) > smallMACs || g.act > ActReLU && g.nb > 1 {
		return false
	}
	g.normalise()
	es := g.elemSize()
	if g.c.cs != es || g.k*es > maxKC {
		return false
	}
	if !(g.packsAbreast() && g.k < dotsPerRowMinK*g.m) && g.useDot() {
		if g.nb > 1 {
			return false
		}
		g.dots(0, (g.n+3)/4, 0, 0, 0)
		return true
	}
	if g.isRowTimesMatrix() {
		return false
	}
	if g.b.cs != es && (g.b.rs != es || g.n*g.k*es > smallB) || g.b.cs == es && g.paysToTransposeC() {
		return false
	}
	if g.nb == 1 {
		g.runSmall(0, 1)
		if g.act > ActReLU {
			g.activateBlock(0, g.m, 0, g.n)
		}
		return true
	}
	if len(g.batch) != 1 {
		return false
	}
	grain := max(1, minTask/max(macs, 1))
	if g.nb <= grain {
		g.runSmall(0, g.nb)
		return true
	}
	// Tasks run on other threads and need a job that outlives this call's stack frame.
	h := newJob(g)
	par.For(h.nb, grain, h.runSmall)
	h.free()
	return true
}

// dotsPerRowMinK is the length of k, for each row of A, from which on dot products cost less than transposing
// a batch of small matrices.
const dotsPerRowMinK = 24

// packsAbreast reports whether many matrices B of a batch can be transposed together ("abreast"): the
// matrices are small, and the rows of the transposed B follow one another through the whole batch. Row k of
// the packed copy then holds row k of several matrices side by side:
//
//	row k:  B0[k, 0..n) B1[k, 0..n) B2[k, 0..n) …
func (g *product[T]) packsAbreast() bool {
	es := g.elemSize()
	if len(g.batch) != 1 || g.b.rs != es || g.b.cs == es || g.n == 1 || g.k == 0 || g.bytes() > smallL1/2 {
		return false
	}
	step := g.batch[0].B
	if g.swapped {
		step = g.batch[0].A
	}
	return step*es == g.n*g.b.cs
}

// bytes is the size of A, B and C together.
func (g *product[T]) bytes() int { return (g.m*g.k + g.k*g.n + g.m*g.n) * g.elemSize() }

// smallMatrixElements is the number of elements up to which the matrices of a batch of matrix-vector products
// keep their orientation, so that one kernel call takes many of them.
const smallMatrixElements = 256

// normalise makes the columns of C adjacent, if they can be, by exchanging A and B. A single column becomes a
// row: the matrix-vector product then reads the matrix in its order.
func (g *product[T]) normalise() {
	es := g.elemSize()
	if (g.n == 1 && g.m > 1 && (g.nb == 1 || g.m*g.k > smallMatrixElements)) ||
		(g.c.cs != es && g.c.rs == es && g.n > 1) {
		g.transpose()
		g.strip = 0 // B was a single column, whose elements lie a panel width apart
	}
	if g.n == 1 {
		g.c.cs = es // there is one column, so the stride is never used
	}
}

// runSmall computes the matrices [lo,hi) of a batch with at most one dimension. Where B is read in place, one
// kernel call computes the same tile of several matrices.
func (g *product[T]) runSmall(lo, hi int) {
	es := g.elemSize()
	var d BatchDim
	if len(g.batch) == 1 {
		if d = g.batch[0]; g.swapped {
			d.A, d.B = d.B, d.A
		}
	}
	stepA, stepB, stepC := d.A*es, d.B*es, d.C*es
	mr, nr := g.tileSize()
	var t smallTile[T]
	p := &t.args
	p.alpha, p.ldc, p.k, p.rsA, p.csA, p.ldb = bits(g.alpha), g.c.rs, g.k, g.a.rs, g.a.cs, g.b.rs
	p.pf = uintptr(g.c.p)
	t.matA, t.matB, t.matC = stepA, stepB, stepC
	g.setFlags(p, 0, g.k)
	// Tiles of equal height and what remains.
	rows, tiles := g.m, 1
	switch {
	case g.m <= mr:
	case g.m <= 2*mr: // without a division
		rows = (g.m + 1) / 2
		tiles = 2 - g.m&1
	default:
		n := (uint32(g.m) + uint32(mr) - 1) / uint32(mr)
		h := (uint32(g.m) + n - 1) / n
		rows, tiles = int(h), int(uint32(g.m)/h)
	}
	rest := g.m - rows*tiles
	pack := g.b.cs != es && g.n > 1 && g.k > 0
	perCall := hi - lo // matrices per call
	var buf buffer
	size := g.bytes()
	if perCall > 1 {
		perCall = min(perCall, max(1, smallL1/size)) // they pass once per tile
	}
	abreast := pack && perCall > 1 && g.packsAbreast()
	switch {
	case abreast:
		p.ldb, t.matB = perCall*g.n*es, g.n*es
		buf = getBuffer(p.ldb * g.k)
		defer buf.put()
	case pack:
		buf = getBuffer(roundUp(g.n, nr) * g.k * es)
		defer buf.put()
		perCall = 1
	}
	for x := lo; x < hi; x += perCall {
		w := min(perCall, hi-x)
		a, b, c := g.a.p, g.b.p, unsafe.Add(g.c.p, x*stepC)
		strip := max(g.strip, nr*es)
		if g.k > 0 { // otherwise there may be no A and B
			a, b = unsafe.Add(a, x*stepA), unsafe.Add(b, x*stepB)
		} else {
			strip = 0
		}
		switch {
		case abreast:
			packPanel[T](g.pt, buf.p, perCall*g.n, b, g.b.cs, es, w*g.n, (hi-x)*g.n, g.k)
			b = buf.p
		case pack:
			strip = nr * g.k * es
			packStrips[T](g.pt, buf.p, nr, strip, operand{b, g.b.rs, g.b.cs}, g.n, g.n, g.k)
			b, p.ldb = buf.p, nr*es
		}
		p.nearB = 8 * p.ldb
		next := w == 1 && x+1 < hi && size > smallL1 && g.k >= 16 // fetch it meanwhile
		if next {
			p.pf, p.pfStep = uintptr(a)+uintptr(stepA), 64
			// In half the time A, in the other half B: that makes about 56/n and
			// 56/m lines for each step.
			switch low := min(g.m, g.n); {
			case low < 96:
				p.pfSide, p.pfBack = 64, 64
			case low < 192:
				p.pfBack = 64
			}
			p.pfRun = prefetchRun(g.k, 4) // and all of the next tile of C
		} else {
			p.pfStep, p.pfSide, p.pfBack, p.pfRun = 0, 0, 0, prefetchRun(g.k, 1)
		}
		half := g.n / 2
		for j := 0; j < g.n; j += t.strips * nr {
			if next && j >= half {
				p.pf, half = uintptr(g.b.p)+uintptr((x+1)*stepB), g.n
			}
			t.strips, t.stripStep = 1, strip
			if g.m <= mr && w == 1 && !next { // all strips of a single tile in one call, but for the last one
				t.strips = min(max((g.n-j)/nr, 1), max(callMACs/(mr*nr*max(g.k, 1)), 1))
			}
			maxRows := setColumns[T](g.pt, p, min(nr, g.n-j))
			t.a, t.b, t.c, t.j, t.matrices = a, b, unsafe.Add(c, j*es), j, w
			t.run(g, 0, rows, tiles, maxRows)
			if rest > 0 {
				t.run(g, rows*tiles, rest, 1, maxRows)
			}
			if j+t.strips*nr < g.n {
				b = unsafe.Add(b, t.strips*strip)
			}
		}
	}
}

// smallTile is one strip of a small product. It holds no pointer to the product, which would make the product
// escape to the heap.
type smallTile[T element] struct {
	args
	a, b, c           unsafe.Pointer
	j                 int
	matA, matB, matC  int // from matrix to matrix
	matrices          int // matrices
	strips, stripStep int // strips of B, and the bytes from one to the next
}

// run computes count tiles of equal height from row i down: in one kernel call, or, for several matrices, in
// one call per tile.
func (t *smallTile[T]) run(g *product[T], i, rows, count, maxRows int) {
	p := &t.args
	es := g.elemSize()
	if g.k == 0 {
		p.rsA = 0
	}
	for r := 0; r < rows; r += maxRows {
		h := min(maxRows, rows-r)
		for x := i + r; x < i+rows*count; x += rows {
			p.a, p.b, p.c = unsafe.Add(t.a, x*p.rsA), t.b, unsafe.Add(t.c, x*p.ldc)
			if g.biasCol != nil {
				p.biasCol = unsafe.Add(g.biasCol, t.j*es)
			}
			if g.biasRow != nil {
				p.biasRow = unsafe.Add(g.biasRow, x*es)
			}
			p.rows = h
			if t.matrices > 1 {
				p.count, p.stepA, p.stepB, p.stepC, p.stepRow = t.matrices, t.matA, t.matB, t.matC, 0
				p.pfLast = p.stepC
				runTile[T](g.pt, p)
				continue
			}
			if t.strips > 1 {
				width := p.cols * es
				p.count, p.stepA, p.stepB, p.stepC, p.stepCol, p.stepRow = t.strips, 0, t.stripStep, width, 0, 0
				if g.biasCol != nil {
					p.stepCol = width
				}
				p.pfLast = width
				runTile[T](g.pt, p)
				break
			}
			p.count, p.stepA, p.stepB, p.stepC, p.stepCol, p.stepRow = count, rows*p.rsA, 0, rows*p.ldc, 0, 0
			if g.biasRow != nil {
				p.stepRow = rows * es
			}
			p.pfLast = p.stepC
			runTile[T](g.pt, p)
			break
		}
	}
}
