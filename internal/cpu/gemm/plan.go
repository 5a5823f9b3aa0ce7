package gemm

import "github.com/gotorch-dev/torch/internal/cpu"

// packing says when an operand is copied into panels.
type packing uint8

const (
	packNever  packing = iota
	packLocal          // each task copies what it needs, as it needs it
	packShared         // once for all tasks, before they start
)

// plan is how a product is cut. It follows from the problem and the kernels,
// never from the number of threads.
type plan struct {
	mr, nr       int // largest tile
	kc           int // block of k
	mb, nbl      int // rows and columns of a task
	nmb, nnb     int // how many tasks each way
	packA, packB packing
	transposedC  bool // Cᵀ is computed, into scratch, and stored transposed
	stripsOuter  bool // strip after strip of B with all tiles of A, not the other way round
	prefetch     bool // the matrices do not fit the L2 cache together: fetch ahead
	kOuter       bool // blocks of k one after the other, each with its own tasks
}

const (
	// blockB bounds a task's block of B, in bytes: it stays in an L2 cache of 1 MB
	// while tile after tile passes.
	blockB = 448 << 10

	// Bounds of a task, in multiply-adds. The lower one is a few
	// microseconds, below which handing over costs more than it saves; the
	// upper one keeps a task near 100 µs on slow cores.
	minTask = 1 << 18
	maxTask = 1 << 23

	// packTask is the elements that one packing task copies.
	packTask = 1 << 14

	// panelBytes bounds the copy of B.
	panelBytes = 16 << 20

	// callMACs bounds one call of a kernel, some 15 µs.
	callMACs = 1 << 20

	page = 4096

	// panelGap is the steps between the panels of B, which are left free: panels
	// a power of two apart would compete for the same cache sets, as a row of B
	// is copied to all of them.
	panelGap = 1

	// pageRows bounds a tile's rows when those of A lie a multiple of a page
	// apart, and so in the same set of the L1 cache, which has 12 ways or 8.
	// Lower tiles cost less than a copy of A.
	pageRows = 8

	// A product with a transposed A is worth turning from turnMACs on, and up to
	// turnFew columns where the rows that A has in memory compete for the same
	// cache sets: with more of them they would have to be packed after all.
	transposeCMinMACs = 1 << 16
	transposeCMaxCols = 64

	// transposeCMaxBytesA bounds such an A: larger ones come from memory.
	transposeCMaxBytesA = 18 << 20
)

// maxKC bounds a block of k, in bytes: a tile's rows of A then stay in the L1
// cache while the strips of B pass. They may take 7/8 of 32 KB, and of what a
// larger cache has more somewhat less, as more of B is on its way.
var maxKC = 2048 + (cpu.L1-32<<10)*3/64

// blockL2 bounds, in bytes, a task's block of B that does not hold all columns. In a small L2 cache more would not stay: pages lie
// anywhere, so that some sets would get too much.
var blockL2 = min(blockB, cpu.L2/16*9)

// paysToTransposeC reports whether to compute Cᵀ = Bᵀ·Aᵀ into scratch, because less is then
// moved: of a large transposed B (a linear layer) the few rows of A are packed
// instead, and of a transposed A with many rows (the gradient of its weights)
// the few columns of B; the large operand is read in place.
func (g *product[T]) paysToTransposeC() bool {
	es := g.elemSize()
	if g.nb > 1 || lanes[T](g.pt) == 0 || g.k < 32 || g.strip > 0 {
		return false
	}
	if g.b.rs == es && g.b.cs != es {
		// In elements moved; those of C are both written and read.
		return g.m >= 5 && g.n*g.k > g.m*g.k+3*g.m*g.n
	}
	if g.b.cs != es || g.a.rs != es || g.a.cs == es || g.n < 5 {
		return false
	}
	if _, nr := tileSize[T](g.pt, g.n); g.a.cs >= page && nr*es < 128 || g.a.cs%(page/2) == 0 && g.n > transposeCMaxCols {
		return false // strips of A would do badly
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

// makePlan decides in which order to go through the operands, which of them to
// copy, and how to cut what remains into tasks.
func (g *job[T]) makePlan() {
	g.blockK()
	g.packings()
	g.partition(g.taskSize())
	if g.packB == packShared && g.nmb == 1 && !g.transposedC {
		g.packB, g.kOuter = packLocal, false // nobody shares
	}
	if g.packA == packLocal && g.nb == 1 && g.nnb > 1 {
		g.packA = packShared // once, and not for every block of columns
	}
}

// blockK chooses the tile, the blocks of k and the direction.
func (g *job[T]) blockK() {
	es := g.elemSize()
	g.mr, g.nr = g.tileSize()
	if g.a.cs == es && g.a.rs%page == 0 {
		g.mr = min(g.mr, pageRows)
	}
	g.blockKEvenly(maxKC / es)
	if g.transposedC { // A's rows pass through the L1 cache once or twice: it need not hold them
		g.blockKEvenly(2 * maxKC / es)
	}
	// The smaller operand should stay in the L2 cache while the larger passes.
	// A single strip with little to compute goes down A in long calls.
	g.stripsOuter = !g.transposedC && g.m <= g.n && g.m*g.kc*es <= blockB || g.nb == 1 && g.n <= g.nr && g.k <= 64
	if most := blockB / (g.n * es); g.a.cs != es && !g.stripsOuter && !g.transposedC && most < g.kc && 4*most >= 3*g.kc {
		// With somewhat shorter blocks of k, all columns of B fit: A, whose rows
		// must be gathered, is then copied once.
		g.blockKEvenly(most)
	}
	g.prefetch = (g.m*g.k+g.k*g.n+g.m*g.n)*es > blockB
}

// work is what so many multiply-adds cost, in those of products with more rows or
// columns: with few of them reading the matrix takes longer than the arithmetic.
func (g *product[T]) work(macs int) int {
	if few, es := min(g.m, g.n), g.elemSize(); few < es {
		return macs / max(few, 1) * es
	}
	return macs
}

// blockKEvenly cuts k into blocks of nearly equal length, at most most.
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
	case g.strip > 0: // it is packed
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
		g.packB = packLocal // nobody else needs the same columns, or matrices are the tasks
	}
	if g.paysToPackA() {
		g.packA = packLocal
		if g.stripsOuter && g.nb == 1 {
			g.packA = packShared // every task needs all of A
		}
		g.stripsOuter = g.stripsOuter && g.nb == 1
	}
}

// paysToPackA reports whether copying A, or a tile of it, pays for the columns that
// are multiplied by it.
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

// taskSize returns the rows and columns that a task should have, and what the
// rows should be a multiple of, once it is known whether tasks go through all of
// k.
func (g *job[T]) taskSize() (rows, cols, unit int) {
	es := g.elemSize()
	depth := max(g.k, 1)
	held := g.n
	if g.stripsOuter {
		held = g.m
	}
	if g.kc < g.k && !g.transposedC && (g.packB != packLocal || g.stripsOuter) && g.m > 2*g.mr && held*g.k*es > blockB {
		// All tasks work on one block of k at a time: then a block is reused
		// from cache by one task after another.
		g.kOuter = true
		depth = g.kc
	}
	// A task's area: small problems are cut in about 32, large ones at the
	// upper bound.
	budget := min(max(g.m*g.n/32*depth*min(g.nb, 32), minTask*minTask/g.work(minTask)), maxTask)
	area := max(budget/depth, g.mr*g.nr)
	// The block of B that fits the cache.
	cols, rows, unit = roundUp(g.n, g.nr), g.m, 1
	if cols*g.kc*es > blockB {
		cols = min(cols, max(blockL2/(g.kc*es)/g.nr, 1)*g.nr)
	}
	switch {
	case g.transposedC:
		// Whole vectors when turning, and few strips: A's rows, which nothing
		// else will read, should meet all of them at once.
		unit = max(lanes[T](g.pt), 8)
		rows = max(roundUp(area/cols, unit), 48)
		cols = g.narrower(rows, cols, g.nr, depth)
	case g.stripsOuter:
		cols = max(area/g.m/g.nr, 1) * g.nr
	case g.packB != packLocal:
		// Wide and low: A is then read once, and B stays in cache. Whole tiles,
		// but for the last task.
		unit = g.mr
		rows = max(roundUp(area/cols, g.mr), 2*g.mr)
		cols = g.narrower(rows, cols, 2*g.nr, depth)
	}
	return rows, cols, unit
}

// narrower returns the columns of a task, halved down to least until there are
// enough tasks to share out or they get small.
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
