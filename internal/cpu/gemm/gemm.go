package gemm

import (
	"fmt"
	"sync"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/par"
)

// Activation is a function applied to the finished elements of C.
type Activation uint8

const (
	ActNone     Activation = iota
	ActReLU                // max(x, 0), NaN stays NaN; fused into the kernel
	ActGELU                // x·Φ(x), by the error function
	ActGELUTanh            // x·Φ(x), by the tanh approximation
)

// Epilogue is what happens to C while it is still in registers or cache. The
// zero value does nothing.
type Epilogue[T float32 | float64] struct {
	BiasCol []T // nil, or n values: BiasCol[j] is added to column j
	BiasRow []T // nil, or m values: BiasRow[i] is added to row i
	Act     Activation
}

// BatchDim is one dimension of a batch: its length and what one step along it
// adds to the offsets of A, B and C, in elements. A stride of 0 repeats the
// operand (broadcasting); C must not repeat.
type BatchDim struct {
	N, A, B, C int
}

// SGEMM computes C = alpha·A·B + beta·C for the m×k matrix A, the k×n matrix B
// and the m×n matrix C of float32. Element (i, j) of A is a[i*rsA+j*csA], and
// likewise for B and C; strides must not be negative. With beta = 0, C is only
// written; with alpha = 0, A and B are not read. C must not overlap A or B. It
// panics when a slice is too short.
func SGEMM(m, n, k int, alpha float32, a []float32, rsA, csA int, b []float32, rsB, csB int, beta float32, c []float32, rsC, csC int) {
	GEMM(m, n, k, alpha, a, rsA, csA, b, rsB, csB, beta, c, rsC, csC, nil)
}

// DGEMM is [SGEMM] for float64.
func DGEMM(m, n, k int, alpha float64, a []float64, rsA, csA int, b []float64, rsB, csB int, beta float64, c []float64, rsC, csC int) {
	GEMM(m, n, k, alpha, a, rsA, csA, b, rsB, csB, beta, c, rsC, csC, nil)
}

// GEMM is [SGEMM] and [DGEMM] with an optional epilogue: bias and activation
// are applied to alpha·A·B + beta·C.
func GEMM[T float32 | float64](m, n, k int, alpha T, a []T, rsA, csA int, b []T, rsB, csB int, beta T, c []T, rsC, csC int, ep *Epilogue[T]) {
	GEMMBatch(nil, m, n, k, alpha, a, rsA, csA, b, rsB, csB, beta, c, rsC, csC, ep)
}

// SGEMMBatch runs [SGEMM] on batch matrices that lie strideA, strideB and
// strideC elements apart. Stride 0 of A or B uses the same matrix throughout.
func SGEMMBatch(batch, m, n, k int, alpha float32, a []float32, strideA, rsA, csA int, b []float32, strideB, rsB, csB int, beta float32, c []float32, strideC, rsC, csC int) {
	GEMMBatch([]BatchDim{{batch, strideA, strideB, strideC}}, m, n, k, alpha, a, rsA, csA, b, rsB, csB, beta, c, rsC, csC, nil)
}

// DGEMMBatch is [SGEMMBatch] for float64.
func DGEMMBatch(batch, m, n, k int, alpha float64, a []float64, strideA, rsA, csA int, b []float64, strideB, rsB, csB int, beta float64, c []float64, strideC, rsC, csC int) {
	GEMMBatch([]BatchDim{{batch, strideA, strideB, strideC}}, m, n, k, alpha, a, rsA, csA, b, rsB, csB, beta, c, rsC, csC, nil)
}

// GEMMBatch runs [GEMM] on every matrix of a batch with any number of
// dimensions, none meaning a single product. The same epilogue applies to each
// matrix. Matrices and their parts are computed in parallel.
func GEMMBatch[T float32 | float64](batch []BatchDim, m, n, k int, alpha T, a []T, rsA, csA int, b []T, rsB, csB int, beta T, c []T, rsC, csC int, ep *Epilogue[T]) {
	nb := checkBatch(batch, m, n, k, len(a), rsA, csA, len(b), rsB, csB, len(c), rsC, csC, alpha == 0)
	if nb == 0 || m == 0 || n == 0 {
		return
	}
	if alpha == 0 {
		k = 0
	}
	var z T
	es := int(unsafe.Sizeof(z))
	g := newJob[T]()
	g.pt, g.nb = currentPath(), nb
	g.batch = append(g.dims[:0], batch...)
	g.m, g.n, g.k, g.alpha, g.beta = m, n, k, alpha, beta
	g.a = operand{unsafe.Pointer(unsafe.SliceData(a)), rsA * es, csA * es}
	g.b = operand{unsafe.Pointer(unsafe.SliceData(b)), rsB * es, csB * es}
	g.c = operand{unsafe.Pointer(unsafe.SliceData(c)), rsC * es, csC * es}
	if ep != nil {
		if ep.BiasCol != nil {
			checkSpan("BiasCol", len(ep.BiasCol), 1, 0, n, 1, 0)
			g.biasCol = unsafe.Pointer(&ep.BiasCol[0])
		}
		if ep.BiasRow != nil {
			checkSpan("BiasRow", len(ep.BiasRow), 1, 0, m, 1, 0)
			g.biasRow = unsafe.Pointer(&ep.BiasRow[0])
		}
		g.act = ep.Act
	}
	g.run()
	g.free()
}

// checkSpan panics unless a slice of length have holds the last element of a
// matrix: everything below trusts it.
func checkSpan(name string, have, rows, rs, cols, cs, base int) {
	if rs < 0 || cs < 0 {
		panic(fmt.Sprintf("gemm: %s: got strides %d and %d, expected none to be negative", name, rs, cs))
	}
	if need := base + (rows-1)*rs + (cols-1)*cs + 1; have < need {
		panic(fmt.Sprintf("gemm: %s: got %d elements, expected at least %d for %d×%d with strides %d and %d", name, have, need, rows, cols, rs, cs))
	}
}

// operand is a matrix with byte strides.
type operand struct {
	p      unsafe.Pointer
	rs, cs int
}

func (o operand) t() operand { return operand{o.p, o.cs, o.rs} }

// job is one call of GEMMBatch and its plan.
type job[T float] struct {
	pt          path
	batch       []BatchDim
	nb          int
	m, n, k     int
	alpha, beta T
	a, b, c     operand

	biasCol, biasRow unsafe.Pointer
	act              Activation
	swapped          bool // the roles of A and B have been exchanged

	mr, nr   int // largest tile
	kc       int // block of k
	mb, nbl  int // rows and columns of a task
	nmb, nnb int // how many tasks each way
	packA    bool
	packB    bool           // each task packs its columns of B
	panels   unsafe.Pointer // B packed beforehand, whole k, for the columns from j0
	j0, j1   int            // the columns being computed
	panelsA  unsafe.Pointer // A packed beforehand, whole k, tile after tile
	first    int            // the batch's first matrix in this round
	perMat   int            // tasks per matrix

	dims    [4]BatchDim      // backs batch
	taskRun func(lo, hi int) // runs a range of tasks; made once per job
}

// Jobs are pooled: a small product takes less time than the allocations would.
var jobs32, jobs64 sync.Pool

func jobPool[T float]() *sync.Pool {
	var z T
	if unsafe.Sizeof(z) == 4 {
		return &jobs32
	}
	return &jobs64
}

func newJob[T float]() *job[T] {
	if g, ok := jobPool[T]().Get().(*job[T]); ok {
		return g
	}
	g := &job[T]{}
	g.taskRun = func(lo, hi int) {
		for t := lo; t < hi; t++ {
			g.task(t/g.perMat, t%g.perMat)
		}
	}
	return g
}

// free returns g to its pool, holding on to nothing. After a panic it is simply
// not called.
func (g *job[T]) free() {
	*g = job[T]{taskRun: g.taskRun}
	jobPool[T]().Put(g)
}

const (
	// maxKC bounds a block of k, in bytes: a tile's strip of B and a task's
	// block of A then fit the L2 cache, and an assembly call takes
	// microseconds.
	maxKC = 2048

	// Bounds of a task, in multiply-adds. The lower one is a few
	// microseconds, below which handing over costs more than it saves; the
	// upper one keeps a task near 100 µs on slow cores.
	minTask = 1 << 18
	maxTask = 1 << 23

	// panelBytes bounds the copy of B.
	panelBytes = 16 << 20

	page = 4096
)

func (g *job[T]) es() int {
	var z T
	return int(unsafe.Sizeof(z))
}

// transpose turns C = A·B into Cᵀ = Bᵀ·Aᵀ.
func (g *job[T]) transpose() {
	g.m, g.n = g.n, g.m
	g.a, g.b, g.c = g.b.t(), g.a.t(), g.c.t()
	g.biasCol, g.biasRow = g.biasRow, g.biasCol
	g.swapped = !g.swapped
}

func (g *job[T]) run() {
	es := g.es()
	// Columns of C must be adjacent. A single column is treated as a row: the
	// matrix-vector product then streams the matrix.
	if (g.n == 1 && g.m > 1) || (g.c.cs != es && g.c.rs == es && g.n > 1) {
		g.transpose()
	}
	if g.n == 1 {
		g.c.cs = es // never used: any stride will do
	}
	if g.useDot() {
		g.runDot()
		return
	}
	if g.c.cs != es {
		g.runScattered()
		return
	}
	g.plan()
	if g.packA && g.nb == 1 && g.nnb > 2 && g.m*g.k*es <= 4*panelBytes {
		buf := g.packWholeA()
		defer buf.put()
	}
	if !g.packB || g.nmb == 1 {
		g.j0, g.j1 = 0, g.n
		g.runTasks(g.nb)
		return
	}
	g.runPanels()
}

// plan chooses blocks from the problem's size, never from the thread count.
func (g *job[T]) plan() {
	es := g.es()
	g.mr, g.nr = tileSize[T](g.pt, g.m)
	maxK := maxKC / es
	nk := max(1, (g.k+maxK-1)/maxK)
	g.kc = max(1, ((g.k+nk-1)/nk+3)&^3)

	// A task's area: small problems are cut in about 64, large ones at the
	// upper bound.
	budget := min(max(g.m*g.n/64*max(g.k, 1)*min(g.nb, 64), minTask), maxTask)
	area := max(budget/max(g.k, 1), g.mr*g.nr)
	if g.k > 0 {
		tall := g.m > 3*g.mr
		switch {
		case g.b.cs != es && g.n > 1:
			g.packB = true
		case tall && g.k >= 32 && g.n > g.nr && g.b.rs%(page/2) == 0:
			g.packB = true // every row of a strip would fall into the same sets
		case g.m >= 8*g.mr && g.n*g.k*es > 64<<10 && (g.b.rs|int(uintptr(g.b.p)))%64 != 0:
			g.packB = true // every vector would straddle two cache lines
		case tall && g.m >= 256 && g.n*g.k*es > 4<<20:
			g.packB = true // more pages than the TLB knows
		}
	}
	// Wide blocks reuse A, tall ones reuse B. Rows first; all of them when B
	// must be packed and the strips are enough to share out, for then each
	// task packs its own strips into its own cache and nobody waits.
	mb := min(g.m, 16*g.mr)
	if mb*4*g.nr > area && mb > 4*g.mr && !(g.packB && mb == g.m && g.n*g.nb >= 16*g.nr) {
		mb = max(4*g.mr, area/(4*g.nr))
	}
	g.nmb = (g.m + mb - 1) / mb
	g.mb = roundUp((g.m+g.nmb-1)/g.nmb, g.mr)
	g.nmb = (g.m + g.mb - 1) / g.mb
	nbl := max(roundUp(min(area/min(g.mb, g.m), g.n), g.nr), g.nr)
	g.nnb = (g.n + nbl - 1) / nbl
	g.nbl = roundUp((g.n+g.nnb-1)/g.nnb, g.nr)
	g.nnb = (g.n + g.nbl - 1) / g.nbl
	if g.k == 0 {
		return // nothing will be read, so nothing need be packed
	}
	if g.n > 2*g.nr && g.k > 8 && g.m > 4 {
		switch {
		case g.a.cs != es && g.a.rs != es:
			g.packA = true
		case g.a.cs == es:
			g.packA = g.a.rs%(page/2) == 0 && g.k >= 64
		default: // A transposed
			g.packA = g.k*g.a.cs > 1<<20 && g.nbl > 2*g.nr
		}
	}
}

func roundUp(x, to int) int { return (x + to - 1) / to * to }

// runTasks computes the columns [j0,j1) of count matrices.
func (g *job[T]) runTasks(count int) {
	nnb := (g.j1 - g.j0 + g.nbl - 1) / g.nbl
	per := g.nmb * nnb
	cost := min(g.mb, g.m) * min(g.nbl, g.n) * max(g.k, 1)
	grain := max(1, minTask/cost)
	g.perMat = per
	if count*per <= grain {
		g.taskRun(0, count*per)
		return
	}
	par.For(count*per, grain, g.taskRun)
}

// offsets returns the byte offsets of a batch's matrix.
func (g *job[T]) offsets(i int) (a, b, c int) {
	a, b, c = batchOffsets(g.batch, i)
	if g.swapped {
		a, b = b, a
	}
	es := g.es()
	return a * es, b * es, c * es
}

// runPanels packs B as a whole, in parallel, and then multiplies, for as many
// columns at a time as the buffer allows: worth its barrier because several
// tasks read the same columns.
func (g *job[T]) runPanels() {
	es := g.es()
	repeats := true // the same B throughout
	for _, d := range g.batch {
		step := d.B
		if g.swapped {
			step = d.A
		}
		repeats = repeats && (step == 0 || d.N == 1)
	}
	width := roundUp(g.n, g.nr)
	width = min(width, max(panelBytes/(es*g.k)/g.nbl, 1)*g.nbl)
	buf := getBuffer(width * g.k * es)
	defer buf.put()
	rounds, count := 1, g.nb
	if !repeats {
		rounds, count = g.nb, 1
	}
	for g.first = 0; g.first < rounds; g.first++ {
		_, offB, _ := g.offsets(g.first)
		for g.j0 = 0; g.j0 < g.n; g.j0 += width {
			g.j1 = min(g.j0+width, g.n)
			strips := (g.j1 - g.j0 + g.nr - 1) / g.nr
			par.For(strips, max(1, 1<<15/(g.nr*g.k)), func(lo, hi int) {
				for s := lo; s < hi; s++ {
					j := g.j0 + s*g.nr
					packPanel[T](g.pt, unsafe.Add(buf.p, s*g.nr*g.k*es), g.nr,
						unsafe.Add(g.b.p, offB+j*g.b.cs), g.b.cs, g.b.rs, min(g.nr, g.j1-j), g.n-j, g.k)
				}
			})
			g.panels = buf.p
			g.runTasks(count)
		}
	}
}

// packWholeA packs A in parallel, for tasks that would otherwise each pack the
// same rows again.
func (g *job[T]) packWholeA() *buffer {
	es := g.es()
	aw := roundUp(g.mr, 8)
	per := g.mb / g.mr
	buf := getBuffer(g.nmb * per * aw * g.k * es)
	par.For(g.nmb*per, max(1, 1<<15/(g.mr*g.k)), func(lo, hi int) {
		for t := lo; t < hi; t++ {
			i0 := t / per * g.mb
			rows := min(g.mb, g.m-i0)
			tiles := (rows + g.mr - 1) / g.mr
			if t%per >= tiles {
				continue // the last block is shorter
			}
			i, r := tile(t%per, tiles, rows)
			i += i0
			packPanel[T](g.pt, unsafe.Add(buf.p, t*aw*g.k*es), aw, unsafe.Add(g.a.p, i*g.a.rs), g.a.rs, g.a.cs, r, g.m-i, g.k)
		}
	})
	g.panelsA = buf.p
	return buf
}

// task computes one block of one matrix.
func (g *job[T]) task(matrix, t int) {
	es := g.es()
	i0 := t % g.nmb * g.mb
	i1 := min(i0+g.mb, g.m)
	j0 := g.j0 + t/g.nmb*g.nbl
	j1 := min(j0+g.nbl, g.j1)
	offA, offB, offC := g.offsets(g.first + matrix)
	tiles := (i1 - i0 + g.mr - 1) / g.mr
	aw := roundUp(g.mr, 8) // elements per step of k in a packed tile of A

	var packed struct{ a, b unsafe.Pointer }
	sizeA, sizeB := 0, 0
	if g.packA && g.panelsA == nil {
		sizeA = tiles * aw * g.kc * es
	}
	if g.packB && g.panels == nil {
		sizeB = roundUp(j1-j0, g.nr) * g.kc * es
	}
	if sizeA+sizeB > 0 {
		buf := getBuffer(sizeA + sizeB)
		defer buf.put()
		packed.a, packed.b = buf.p, unsafe.Add(buf.p, sizeA)
	}

	p := &args{alpha: bits(g.alpha), ldc: g.c.rs}
	for k0 := 0; k0 == 0 || k0 < g.k; k0 += g.kc {
		kk := min(g.kc, g.k-k0)
		p.k = kk
		p.flags = 0
		switch {
		case k0 > 0:
			p.flags, p.beta = flagLoadC, bits(T(1))
		case g.beta != 0:
			p.flags, p.beta = flagLoadC, bits(g.beta)
		}
		if k0+kk == g.k { // the last block
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
		if sizeA > 0 && kk > 0 {
			for ti := range tiles {
				i, r := tile(ti, tiles, i1-i0)
				i += i0
				packPanel[T](g.pt, unsafe.Add(packed.a, ti*aw*g.kc*es), aw,
					unsafe.Add(g.a.p, offA+i*g.a.rs+k0*g.a.cs), g.a.rs, g.a.cs, r, g.m-i, kk)
			}
		}
		for j := j0; j < j1; j += g.nr {
			cols := min(g.nr, j1-j)
			maxRows := setColumns[T](g.pt, p, cols)
			switch {
			case kk == 0: // B may be empty
			case g.panels != nil:
				p.b = unsafe.Add(g.panels, ((j-g.j0)*g.k+k0*g.nr)*es)
				p.ldb = g.nr * es
			case sizeB > 0:
				p.b = unsafe.Add(packed.b, (j-j0)*g.kc*es)
				p.ldb = g.nr * es
				packPanel[T](g.pt, p.b, g.nr, unsafe.Add(g.b.p, offB+j*g.b.cs+k0*g.b.rs), g.b.cs, g.b.rs, cols, g.n-j, kk)
			default:
				p.b = unsafe.Add(g.b.p, offB+j*g.b.cs+k0*g.b.rs)
				p.ldb = g.b.rs
			}
			if g.biasCol != nil {
				p.biasCol = unsafe.Add(g.biasCol, j*es)
			}
			for ti := range tiles {
				i, rows := tile(ti, tiles, i1-i0)
				// Some masked kernels take fewer rows than a tile has.
				for r := 0; r < rows; r += maxRows {
					p.rows = min(maxRows, rows-r)
					row := i0 + i + r
					switch {
					case kk == 0:
					case g.panelsA != nil:
						p.a = unsafe.Add(g.panelsA, (((i0/g.mr+ti)*g.k+k0)*aw+r)*es)
						p.rsA, p.csA = es, aw*es
					case sizeA > 0:
						p.a = unsafe.Add(packed.a, (ti*aw*g.kc+r)*es)
						p.rsA, p.csA = es, aw*es
					default:
						p.a = unsafe.Add(g.a.p, offA+row*g.a.rs+k0*g.a.cs)
						p.rsA, p.csA = g.a.rs, g.a.cs
					}
					if g.biasRow != nil {
						p.biasRow = unsafe.Add(g.biasRow, row*es)
					}
					p.c = unsafe.Add(g.c.p, offC+row*g.c.rs+j*es)
					runTile[T](g.pt, p)
				}
			}
		}
	}
	if g.act > ActReLU {
		for i := i0; i < i1; i++ {
			activate(g.act, unsafe.Slice((*T)(unsafe.Add(g.c.p, offC+i*g.c.rs+j0*es)), j1-j0))
		}
	}
}

// tile cuts rows into tiles of nearly equal height: two tiles of 8 and 7 rows
// run faster than one of 14 and one of 1.
func tile(t, tiles, rows int) (start, n int) {
	start = t * rows / tiles
	return start, (t+1)*rows/tiles - start
}

// useDot reports whether the product is better taken as dot products: B is
// contiguous along k and A has too few rows for packing B to pay.
func (g *job[T]) useDot() bool {
	es := g.es()
	if g.k < 8 || g.a.cs != es || g.b.rs != es || g.n < 4 || g.act > ActReLU {
		return false
	}
	if g.b.cs == es {
		return false // B is row-major as well: one row of it, or k is 1
	}
	return g.m <= 4 || (g.m <= 12 && g.k >= 512)
}

func (g *job[T]) runDot() {
	es := g.es()
	// Four columns at a time, in blocks worth a task.
	groups := (g.n + 3) / 4
	per := max(1, minTask/4/(4*g.m*g.k))
	blocks := (groups + per - 1) / per
	grain := 1
	if blocks == 1 {
		grain = max(1, minTask/4/(g.m*g.n*g.k))
	}
	step := dotRows(g.pt)
	par.For(g.nb*blocks, grain, func(lo, hi int) {
		var out [16]T
		for t := lo; t < hi; t++ {
			offA, offB, offC := g.offsets(t / blocks)
			b0 := t % blocks * per
			for q := b0; q < min(b0+per, groups); q++ {
				// The last group is moved left to be whole; what it shares
				// with its neighbour is computed twice but stored once, for C
				// may be an input as well.
				j := min(q*4, g.n-4)
				for i := 0; i < g.m; i += step {
					rows := min(step, g.m-i)
					// Long rows in pieces, as no call may last even when the
					// data comes from memory; the pieces depend on k alone.
					const piece = 1 << 14
					var sum [16]T
					for k0 := 0; k0 < g.k; k0 += piece {
						kk := min(piece, g.k-k0)
						dotFast(g.pt, &out, unsafe.Add(g.a.p, offA+i*g.a.rs+k0*es),
							unsafe.Add(g.b.p, offB+j*g.b.cs+k0*es), g.a.rs, g.b.cs, kk, rows)
						for x := range rows * 4 {
							sum[x] += out[x]
						}
					}
					for r := range rows {
						for x := q*4 - j; x < 4; x++ {
							g.finish(i+r, j+x, at[T](g.c.p, offC+(i+r)*g.c.rs+(j+x)*g.c.cs), sum[r*4+x])
						}
					}
				}
			}
		}
	})
}

// finish stores one element from its sum.
func (g *job[T]) finish(i, j int, c *T, s T) {
	es := g.es()
	s *= g.alpha
	if g.beta != 0 {
		s += T(g.beta * *c)
	}
	if g.biasCol != nil {
		s += *at[T](g.biasCol, j*es)
	}
	if g.biasRow != nil {
		s += *at[T](g.biasRow, i*es)
	}
	if g.act == ActReLU && s < 0 {
		s = 0
	}
	*c = s
}

// runScattered serves a C whose elements are adjacent in neither direction: it
// computes into a contiguous buffer and moves the result. Rare, so simple.
func (g *job[T]) runScattered() {
	es := g.es()
	buf := getBuffer(g.m * g.n * es)
	defer buf.put()
	tmp := unsafe.Slice((*T)(buf.p), g.m*g.n)
	for x := range g.nb {
		offA, offB, offC := g.offsets(x)
		h := newJob[T]()
		run := h.taskRun
		*h = *g
		h.taskRun, h.batch, h.nb, h.swapped = run, nil, 1, false
		h.a.p, h.b.p = unsafe.Add(g.a.p, offA), unsafe.Add(g.b.p, offB)
		h.c = operand{buf.p, g.n * es, es}
		if g.beta != 0 {
			for i := range g.m {
				for j := range g.n {
					tmp[i*g.n+j] = *at[T](g.c.p, offC+i*g.c.rs+j*g.c.cs)
				}
			}
		}
		h.run()
		h.free()
		for i := range g.m {
			for j := range g.n {
				*at[T](g.c.p, offC+i*g.c.rs+j*g.c.cs) = tmp[i*g.n+j]
			}
		}
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
