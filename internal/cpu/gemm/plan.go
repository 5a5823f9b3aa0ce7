package gemm

import "github.com/gotorch-dev/torch/internal/cpu"

// packing says when an operand is copied into panels.
type packing uint8

const (
	packNever  packing = iota
	packLocal          // each task copies what it needs, as it needs it
	packShared         // once for all tasks, before they start
)

// plan is how a product is cut into tasks, and in which order a task goes through its operands. A plan
// follows from the problem and the kernels, never from the number of threads.
//
// The names of the sizes are those of the BLIS framework: mr×nr is the tile of C that stays in registers, kc
// the block of k.
type plan struct {
	mr, nr       int // largest tile
	kc           int // block of k
	mb, nbl      int // rows and columns of a task's part of C
	nmb, nnb     int // number of tasks along the rows and along the columns
	packA, packB packing
	transposedC  bool // Cᵀ is computed into scratch, and stored transposed
	// stripsOuter: the outer loop of a task is over strips of B, the inner one over tiles of A; otherwise the
	// other way round.
	stripsOuter bool // strip after strip of B with all tiles of A, not the other way round
	// prefetch: the matrices do not fit the L2 cache together, so the kernels fetch what comes next.
	prefetch bool // the matrices do not fit the L2 cache together: fetch ahead
	kOuter   bool // all tasks work on one block of k before any task begins the next block
}

const (
	// blockB bounds a task's block of B in bytes: the block stays in an L2 cache of 1 MB while all tiles of A
	// pass.
	blockB = 448 << 10

	// minTask and maxTask bound a task's multiply-adds. The lower bound is a few microseconds of work, below
	// which handing a task to another thread costs more than it saves. The upper bound keeps a task near 100
	// µs on slow cores.
	minTask = 1 << 18
	maxTask = 1 << 23

	// packTask is the number of elements that one packing task copies.
	packTask = 1 << 14

	// panelBytes bounds the packed copy of B in bytes.
	panelBytes = 16 << 20

	// callMACs bounds the multiply-adds of one kernel call, some 15 µs.
	callMACs = 1 << 20

	page = 4096

	// panelGap is the number of steps of k that are left free between the panels of B. Packing copies a row
	// of B to all panels, and panels a power of two apart would compete for the same cache sets.
	panelGap = 1

	// pageRows bounds a tile's rows where the rows of A lie a multiple of a page apart. Such rows share one
	// set of the L1 cache, which has 8 or 12 ways. Lower tiles cost less than a copy of A.
	pageRows = 8

	// A product with a transposed A is computed as Cᵀ from transposeCMinMACs multiply-adds on. Where the rows
	// that A has in memory compete for the same cache sets, it is only done for up to transposeCMaxCols
	// columns: with more columns these rows would have to be packed after all.
	transposeCMinMACs = 1 << 16
	transposeCMaxCols = 64

	// transposeCMaxBytesA bounds the size of such an A: a larger A comes from memory.
	transposeCMaxBytesA = 18 << 20
)

// maxKC bounds a block of k in bytes, so that a tile's rows of A stay in the L1 cache while the strips of B
// pass. The rows of A may take 7/8 of a cache of 32 KB. Of what a larger cache has beyond 32 KB they may take
// somewhat less, because more of B is in flight.
var maxKC = 2048 + (cpu.L1-32<<10)*3/64

// blockL2 bounds, in bytes, a task's block of B that does not hold all columns. A larger block would not stay
// in a small L2 cache: pages lie anywhere in physical memory, so some cache sets would be overfilled.
var blockL2 = min(blockB, cpu.L2/16*9)

// paysToTransposeC reports whether to compute Cᵀ = Bᵀ·Aᵀ into scratch, because it moves less data. There are
// two cases, and in both the large operand is read in place:
//
//   - B is large and transposed (a linear layer, y = x·Wᵀ): the few rows of A are packed instead of B.
//   - A is transposed and has many rows (the gradient of the layer's weights, gᵀ·x): the few columns of B are packed
//     instead of A.
func (g *product[T]) paysToTransposeC() bool {
	es := g.elemSize()
	if g.nb > 1 || lanes[T](g.pt) == 0 || g.k < 32 || g.strip > 0 {
		return false
	}
	if g.b.rs == es && g.b.cs != es {
		// Elements moved in both ways; the elements of C are both written and read.
		return g.m >= 5 && g.n*g.k > g.m*g.k+3*g.m*g.n
	}
	if g.b.cs != es || g.a.rs != es || g.a.cs == es || g.n < 5 {
		return false
	}
	if _, nr := tileSize[T](g.pt, g.n); g.a.cs >= page && nr*es < 128 || g.a.cs%(page/2) == 0 &&
		g.n > transposeCMaxCols {
		return false // the rows of A, read as strips, would compete for cache sets
	}
	// From memory, A is better read once and in its order.
	return g.m >= 4*g.n && g.k > 4*g.n && g.m*g.n*g.k >= transposeCMinMACs && g.m*g.k*es <= transposeCMaxBytesA
}

// tileSize returns the largest tile: rows, columns.
func (g *product[T]) tileSize() (mr, nr int) {
	if g.strip > 0 {
		return tileSize[T](g.pt, manyRows) // the width of the panels
	}
	return tileSize[T](g.pt, g.m)
}

// makePlan decides in which order to go through the operands, which operands to copy, and how to cut the
// product into tasks.
func (g *job[T]) makePlan() {
	g.blockK()
	g.packings()
	g.partition(g.taskSize())
	if g.packB == packShared && g.nmb == 1 && !g.transposedC {
		g.packB, g.kOuter = packLocal, false // no two tasks read the same columns of B
	}
	if g.packA == packLocal && g.nb == 1 && g.nnb > 1 {
		g.packA = packShared // packing locally would pack A once for every block of columns
	}
}

// blockK chooses the tile, the blocks of k and the order of the loops.
func (g *job[T]) blockK() {
	es := g.elemSize()
	g.mr, g.nr = g.tileSize()
	if g.a.cs == es && g.a.rs%page == 0 {
		g.mr = min(g.mr, pageRows)
	}
	g.blockKEvenly(maxKC / es)
	if g.transposedC { // the rows of A pass through the L1 cache once or twice, so it need not hold them
		g.blockKEvenly(2 * maxKC / es)
	}
	// The smaller operand should stay in the L2 cache while the larger one passes. A single
	// strip with little to compute goes through all tiles of A in few, long calls.
	g.stripsOuter = !g.transposedC && g.m <= g.n && g.m*g.kc*es <= blockB || g.nb == 1 && g.n <= g.nr && g.k <= 64
	if most := blockB / (g.n * es); g.a.cs != es && !g.stripsOuter && !g.transposedC && most < g.kc &&
		4*most >= 3*g.kc {
		// With somewhat shorter blocks of k, all columns of B fit the L2 cache. A, whose
		// rows must be packed, is then packed once.
		g.blockKEvenly(most)
	}
	g.prefetch = (g.m*g.k+g.k*g.n+g.m*g.n)*es > blockB
}

// work scales a number of multiply-adds to what they cost: with few rows or columns, reading the matrix takes
// longer than the arithmetic, and the multiply-adds count more.
func (g *product[T]) work(macs int) int {
	if few, es := min(g.m, g.n), g.elemSize(); few < es {
		return macs / max(few, 1) * es
	}
	return macs
}

// blockKEvenly cuts k into blocks of nearly equal length, at most the length most.
func (g *job[T]) blockKEvenly(most int) {
	blocks := max(1, (g.k+most-1)/most)
	g.kc = max(1, min(roundUp((g.k+blocks-1)/blocks, 4), most))
}

// packings decides which operands to copy.
func (g *job[T]) packings() {
	es := g.elemSize()
	if g.k == 0 {
		return // nothing will be read
	}
	tall := g.m > 3*g.mr
	switch {
	case g.strip > 0: // B comes in panels already
	case g.b.cs != es && g.n > 1,
		// every row of a strip would fall into the same sets
		tall && g.k >= 32 && g.n > g.nr && g.b.rs%(page/2) == 0,
		// every vector would straddle two cache lines
		g.m >= 8*g.mr && g.n*g.k*es > 64<<10 && (g.b.rs|int(uintptr(g.b.p)))%64 != 0,
		// more pages than the TLB knows
		g.m >= 1024 && g.n*g.k*es > 4<<20:
		g.packB = packShared
	}
	if g.packB == packShared && (g.stripsOuter || g.nb > 1 && !g.sameB() && g.m*g.n*g.k < 4*maxTask) {
		g.packB = packLocal // no other task needs the same columns, or the matrices of the batch are the tasks
	}
	if g.paysToPackA() {
		g.packA = packLocal
		if g.stripsOuter && g.nb == 1 {
			g.packA = packShared // every task needs all of A
		}
		g.stripsOuter = g.stripsOuter && g.nb == 1
	}
}

// paysToPackA reports whether copying A, or a tile of it, pays for the number of columns that are multiplied
// by the copy.
func (g *job[T]) paysToPackA() bool {
	es := g.elemSize()
	switch {
	case g.k <= 8 || g.m <= 4 || g.a.cs == es:
		return false
	case g.a.rs != es || !g.stripsOuter:
		return g.n >= g.nr
	}
	return g.n > 4*g.nr && g.k >= 64
}

// taskSize returns the rows and columns that a task should have, and a number of which the rows should be a
// multiple. It first decides whether a task goes through all of k.
func (g *job[T]) taskSize() (rows, cols, unit int) {
	es := g.elemSize()
	depth := max(g.k, 1)
	held := g.n
	if g.stripsOuter {
		held = g.m
	}
	if g.kc < g.k && !g.transposedC && (g.packB != packLocal || g.stripsOuter) && g.m > 2*g.mr && held*g.k*es > blockB {
		// All tasks work on one block of k at a time, so that one task after another finds
		// the block of the shared operand in the cache.
		g.kOuter = true
		depth = g.kc
	}
	// The area of a task in C: small problems are cut into about 32 tasks, large ones into
	// tasks of maxTask.
	budget := min(max(g.m*g.n/32*depth*min(g.nb, 32), minTask*minTask/g.work(minTask)), maxTask)
	area := max(budget/depth, g.mr*g.nr)
	// The block of B that fits the cache.
	cols, rows, unit = roundUp(g.n, g.nr), g.m, 1
	if cols*g.kc*es > blockB {
		cols = min(cols, max(blockL2/(g.kc*es)/g.nr, 1)*g.nr)
	}
	switch {
	case g.transposedC:
		// Whole vectors for the transposition of C, and few tasks beside each other: the
		// rows of A are read by one task only, which should use them for all columns.
		unit = max(lanes[T](g.pt), 8)
		rows = max(roundUp(area/cols, unit), 48)
		cols = g.narrower(rows, cols, g.nr, depth)
	case g.stripsOuter:
		cols = max(area/g.m/g.nr, 1) * g.nr
	case g.packB != packLocal:
		// Wide and low tasks: A is then read once, and B stays in the cache. All tasks but
		// the last have whole tiles.
		unit = g.mr
		rows = max(roundUp(area/cols, g.mr), 2*g.mr)
		cols = g.narrower(rows, cols, 2*g.nr, depth)
	}
	return rows, cols, unit
}

// narrower returns the columns of a task, halved down to least until there are enough tasks for the threads
// or the tasks get too small.
func (g *job[T]) narrower(rows, cols, least, depth int) int {
	for cols > least && g.nb*((g.m+rows-1)/rows)*((g.n+cols-1)/cols) < 16 && min(rows, g.m)*cols*depth >= 2*minTask {
		cols = roundUp(cols/2, g.nr)
	}
	return cols
}

// partition makes tasks of nearly equal size.
func (g *job[T]) partition(rows, cols, unit int) {
	g.nnb = (g.n + cols - 1) / cols
	g.nbl = roundUp((g.n+g.nnb-1)/g.nnb, g.nr)
	g.nnb = (g.n + g.nbl - 1) / g.nbl
	g.nmb = max(1, (g.m+rows/2)/max(rows, 1))
	g.mb = g.m
	if g.nmb > 1 {
		g.mb = max(((g.m+g.nmb-1)/g.nmb+unit/2)/unit, 1) * unit
	}
	g.nmb = (g.m + g.mb - 1) / g.mb
}

func roundUp(x, to int) int { return (x + to - 1) / to * to }
