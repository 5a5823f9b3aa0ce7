package conv

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
)

// args is what a micro-kernel reads. The assembly knows the layout of this struct: a test compares the
// offsets.
//
// The kernel computes, for each row r and column c of a tile, with k steps per segment:
//
//	C[r, c] = sum over segments s, steps i:  A[r*rs + s.offset + i]·B[(s.tap*tapStep) + i, c]
//
// and finishes C as the flags say. Rows come in two groups, each with a pointer of its own.
type args struct {
	a0, a1 unsafe.Pointer // first row of A in each group of rows
	b      unsafe.Pointer // packed panel
	c0, c1 unsafe.Pointer // first row of C in each group of rows
	r0, r1 unsafe.Pointer // first row of the residual in each group of rows
	bias   unsafe.Pointer // one value per column

	// list of segments: pairs of an offset from a0 and a1 in bytes, and a place in B, in units of tapStep or, for
	// depthwise kernels, in bytes
	seg, segEnd unsafe.Pointer

	rs, cs   int // bytes between rows (forward) and steps (gradient) of A
	ldc, ldr int // bytes between rows of C and of the residual
	k        int // steps per segment
	variant  int // vectors*16 + rows
	mask     uint64
	mask0    unsafe.Pointer
	mask1    unsafe.Pointer
	flags    int
	lo, hi   uint64 // bits of the clamp's bounds

	blockEnd int // depthwise: bytes of a position's channels

	prefetch     uintptr // address to prefetch next; it moves on by prefetchStep
	prefetchStep int     // bytes per four steps of k, see prefetcher

	lines        int // depthwise: lines of the tile
	stepA, stepC int // bytes between lines of A, and of C and the residual
	linesLeft    int // scratch of the kernel
	tapStep      int // bytes between taps of the weights

	tiles        int // number of tiles of a call, one after the other
	tileA, tileC int // bytes between tiles in A, and in C and the residual

	index, indexEnd unsafe.Pointer // grouped: which channels the lanes take, a vector of indices for each step
	vectorStep      int            // grouped: bytes between vectors of channels

	rows, cols, width int // for the Go kernel: rows, columns in use, columns of the panel

	tile *[48]uint64 //nolint:unused // NEON: buffer for a tile of which not all columns are stored
}

const (
	flagLoadC    = 1 // add to C
	flagBias     = 2
	flagResidual = 4
	flagClamp    = 8
	flagMasked   = 16 // AVX2 and NEON: not all columns are in use
	flagFirst    = 32 // sliding window of three taps: the first position is outside the image
	flagLast     = 64 // sliding window of three taps: the last position is outside the image

	flagUpper = 256 // the clamp has an upper bound

	flagRoundBF16 = 512 // the result is rounded to bfloat16

	flagNonTemporal = 128 // AVX-512: the result is written by non-temporal stores
)

// path is a family of kernels.
type path uint8

const (
	pathGeneric path = iota
	pathAVX2
	pathAVX512
	pathNEON
	pathBF16 // AVX-512 with elements that are pairs of bfloat16: see bfloat16.go
)

// Float is the set of element types.
type Float interface{ float32 | float64 }

// genericTile is the portable micro-kernel. rs and cs are bytes between rows and between steps of A (either
// may be the element size), bs bytes between steps of B.
func genericTile[T Float](p *args, rs, cs, bs int) {
	first := (p.rows + 1) / 2
	var sum [2][32]T
	for r := 0; r < p.rows; r += 2 {
		n := min(2, p.rows-r)
		var a [2]unsafe.Pointer
		var c, res [2]unsafe.Pointer
		for i := range n {
			q, from := r+i, [3]unsafe.Pointer{p.a0, p.c0, p.r0}
			if q >= first {
				q, from = q-first, [3]unsafe.Pointer{p.a1, p.c1, p.r1}
			}
			a[i], c[i] = unsafe.Add(from[0], q*rs), unsafe.Add(from[1], q*p.ldc)
			if p.flags&flagResidual != 0 {
				res[i] = unsafe.Add(from[2], q*p.ldr)
			}
		}
		if n == 1 {
			a[1] = a[0]
		}
		sum = [2][32]T{}
		for _, s := range segments(p) {
			a0, a1, b := unsafe.Add(a[0], s[0]), unsafe.Add(a[1], s[0]), unsafe.Add(p.b, s[1]*p.tapStep)
			for k := range p.k {
				x0, x1 := *(*T)(unsafe.Add(a0, k*cs)), *(*T)(unsafe.Add(a1, k*cs))
				row := unsafe.Slice((*T)(b), p.width)
				s0, s1 := sum[0][:len(row)], sum[1][:len(row)]
				// The conversions forbid the compiler to fuse the operations
				// on some architectures: all machines round alike.
				for j, w := range row {
					s0[j] += T(x0 * w)
					s1[j] += T(x1 * w)
				}
				b = unsafe.Add(b, bs)
			}
		}
		for i := range n {
			finishRow(p, c[i], res[i], sum[i][:p.cols])
		}
	}
}

// segments are the segments of p: pairs of offsets.
func segments(p *args) [][2]int {
	return unsafe.Slice((*[2]int)(p.seg), (uintptr(p.segEnd)-uintptr(p.seg))/16)
}

// finishRow stores a row of sums after what the flags ask for.
func finishRow[T Float](p *args, c, res unsafe.Pointer, sum []T) {
	var z T
	es := int(unsafe.Sizeof(z))
	dst := unsafe.Slice((*T)(c), len(sum))
	for j, v := range sum {
		if p.flags&flagLoadC != 0 {
			v += dst[j]
		}
		if p.flags&flagBias != 0 {
			v += *(*T)(unsafe.Add(p.bias, j*es))
		}
		if p.flags&flagResidual != 0 {
			v += *(*T)(unsafe.Add(res, j*es))
		}
		if p.flags&flagClamp != 0 {
			v = clampTo(v, fromBits[T](p.lo), fromBits[T](p.hi))
		}
		dst[j] = v
	}
}

// kernels are the kernels of a path for one element type; nil where the path has none.
type kernels struct {
	conv, grad               func(*args) // direct convolution: forward, and gradient of the weights
	depthwise, depthwiseGrad func(*args) // depthwise convolution
	grouped, groupedGrad     func(*args) // groups of a few channels, several groups in a vector
	// depthwise with a sliding window of three, five and seven taps, by stride
	sliding [3][2]func(*args)

	scatter            func(dst unsafe.Pointer, off *int, src unsafe.Pointer, lds, rows, cols int) // see scatter16
	scatterFar         func(dst unsafe.Pointer, off *int, src unsafe.Pointer, lds, rows, cols int)
	scatterNonTemporal func(dst unsafe.Pointer, off *int, src unsafe.Pointer, lds, rows, cols int)
	copy               func(dst unsafe.Pointer, ldd int, src unsafe.Pointer, lds, rows, cols int) // see copyRows
	winograd           [3]func(*winogradArgs)                                                     // by winKind
}

var portable = [2]kernels{portableKernels[float32](), portableKernels[float64]()}

func portableKernels[T Float]() kernels {
	var z T
	es := int(unsafe.Sizeof(z))
	return kernels{
		conv:      func(p *args) { eachTile(p, func() { genericTile[T](p, p.rs, es, p.width*es) }) },
		grad:      func(p *args) { eachTile(p, func() { genericTile[T](p, es, p.cs, p.tapStep) }) },
		depthwise: genericDepthwise[T], depthwiseGrad: genericDepthwiseGrad[T],
	}
}

// kernelsOf returns the kernels of a path.
func kernelsOf[T Float](pt path) *kernels {
	var z T
	i := unsafe.Sizeof(z)/4 - 1
	if pt == pathGeneric {
		return &portable[i]
	}
	return &assembly[pt][i]
}

// tile runs a micro-kernel on the given rows of each tile. Like depthwiseTile and slidingTile it must stay a
// real call: the stack check of its prologue is where the scheduler can stop a goroutine that otherwise stays
// in assembly.
//
//go:noinline
func tile(kernel func(*args), p *args, rows int) {
	v := p.variant
	p.rows, p.variant = rows, v+rows
	kernel(p)
	p.variant = v
}

// depthwiseTile computes the given rows of a depthwise convolution, or, with grad, of the gradient of its
// weights.
//
//go:noinline
func depthwiseTile[T Float](pt path, p *args, rows int, grad bool) {
	p.rows, p.variant = rows, rows
	switch k := kernelsOf[T](pt); {
	case p.index != nil && grad:
		k.groupedGrad(p)
	case p.index != nil:
		k.grouped(p)
	case grad:
		k.depthwiseGrad(p)
	default:
		k.depthwise(p)
	}
}

// hasGroupedKernel reports whether there are kernels for groups of n channels, in an image of the given
// number of channels. Groups must not cross vectors. Without masks (AVX2) all vectors must be full.
func hasGroupedKernel[T Float](pt path, n, channels int) bool {
	l := lanes[T](pt)
	if kernelsOf[T](pt).grouped == nil || n < 2 || n > l/2 {
		return false
	}
	return pt == pathAVX512 || l%n == 0 && channels%l == 0
}

// slidingMaxPositions is the most positions of a tile of slidingTile for the given number of taps and the
// stride, 0 where there is no kernel.
func slidingMaxPositions[T Float](pt path, taps, stride int) int {
	if i := (taps - 3) / 2; taps < 3 || taps%2 == 0 || taps > 7 || stride > 2 ||
		kernelsOf[T](pt).sliding[i][stride-1] == nil {
		return 0
	}
	most, apart := 14, 9
	if pt == pathAVX2 {
		most, apart = 15-taps, 15-taps
	}
	if stride == 1 {
		return most
	}
	return min(apart, (21-taps)/2+1)
}

// slidingTile computes the given positions of a depthwise convolution with a sliding window of the given
// number of taps.
//
//go:noinline
func slidingTile[T Float](pt path, p *args, taps, stride, rows int) {
	p.variant = rows
	kernelsOf[T](pt).sliding[(taps-3)/2][stride-1](p)
}

// hasScatter reports whether the path has scatter16.
func hasScatter[T Float](pt path) bool { return kernelsOf[T](pt).scatter != nil }

// scatter16 transposes: dst[off[j] + i] = src[i*lds + j] for i < rows, at most 16, and j < cols; lds and off
// count bytes. The rows become adjacent elements, and each column goes to an offset of its own:
//
//	src                        dst
//	row 0: a0 a1 a2 …          at off[0]: a0 b0 c0 …
//	row 1: b0 b1 b2 …          at off[1]: a1 b1 c1 …
//	row 2: c0 c1 c2 …          at off[2]: a2 b2 c2 …
//
//go:noinline
func scatter16(dst unsafe.Pointer, off []int, src unsafe.Pointer, lds, rows, cols int) {
	_ = off[cols-1]
	kernelsOf[float32](currentPath()).scatter(dst, &off[0], src, lds, rows, cols)
}

// scatterFar is scatter16 into memory that is not in a cache. With past, it writes 16 rows into whole cache
// lines by non-temporal stores.
//
//go:noinline
func scatterFar(dst unsafe.Pointer, off []int, src unsafe.Pointer, lds, rows, cols int, past bool) {
	_ = off[cols-1]
	k := kernelsOf[float32](currentPath())
	if past {
		k.scatterNonTemporal(dst, &off[0], src, lds, rows, cols)
	} else {
		k.scatterFar(dst, &off[0], src, lds, rows, cols)
	}
}

// scatter is scatter16 for any number of rows; lds counts elements.
func scatter[T Float](dst []T, off []int, src []T, lds, rows, cols int) {
	var z T
	es := int(unsafe.Sizeof(z))
	_ = src[(rows-1)*lds+cols-1]
	step := 16
	if lds*es%4096 == 0 && currentPath() == pathAVX2 {
		step = 8 // the rows share one set of the L1 cache, and each line is visited four times
	}
	for i := 0; i < rows; i += step {
		scatter16(unsafe.Pointer(&dst[i]), off, unsafe.Pointer(&src[i*lds]), lds*es, min(step, rows-i), cols)
	}
}

// copyRows copies rows of n elements; ldd and lds are the distances between rows in elements.
//
//go:noinline
func copyRows[T Float](dst []T, ldd int, src []T, lds, n, rows int) {
	if rows == 0 || n == 0 {
		return
	}
	var z T
	es := int(unsafe.Sizeof(z))
	_, _ = dst[(rows-1)*ldd+n-1], src[(rows-1)*lds+n-1]
	to, from := unsafe.Pointer(&dst[0]), unsafe.Pointer(&src[0])
	if move := kernelsOf[T](currentPath()).copy; move != nil {
		move(to, ldd*es, from, lds*es, rows, n*es/4)
		return
	}
	if vec.MoveRows(to, ldd*es, from, lds*es, rows, n*es) {
		return
	}
	for i := range rows {
		copy(dst[i*ldd:][:n], src[i*lds:][:n])
	}
}

// runWinogradTransform runs one of Winograd's transforms.
//
//go:noinline
func runWinogradTransform(pt path, kind winogradTransform, a *winogradArgs) {
	kernelsOf[float32](pt).winograd[kind](a)
}

// eachTile calls f for one tile after the other, for kernels that compute a single tile.
func eachTile(p *args, f func()) {
	for n := p.tiles; ; {
		f()
		if n--; n <= 0 {
			return
		}
		next := func(by int, at0, at1 *unsafe.Pointer) {
			*at0 = unsafe.Add(*at0, by)
			if p.rows > 1 {
				*at1 = unsafe.Add(*at1, by)
			}
		}
		next(p.tileA, &p.a0, &p.a1)
		next(p.tileC, &p.c0, &p.c1)
		if p.flags&flagResidual != 0 {
			next(p.tileC, &p.r0, &p.r1)
		}
	}
}

// bits and fromBits carry a scalar of either type through args.
func bits[T Float](x T) uint64 {
	var u uint64
	*(*T)(unsafe.Pointer(&u)) = x
	return u
}

func fromBits[T Float](u uint64) T { return *(*T)(unsafe.Pointer(&u)) }

// setColumns prepares p for a panel of the given width, of which cols columns are stored.
func setColumns[T Float](pt path, p *args, width, cols int) {
	p.width, p.cols = width, cols
	p.flags &^= flagMasked
	p.mask = 1<<uint(cols) - 1
	l := lanes[T](pt)
	p.variant = (width + l - 1) / l * 16
	if cols < width && (pt == pathAVX2 || pt == pathNEON) {
		p.flags |= flagMasked
	}
	if pt == pathAVX2 && cols < width {
		p.mask0, p.mask1 = laneMask[T](cols), laneMask[T](cols-l)
	}
}

// tileSize returns the most rows of a tile and the lanes of half its width.
func tileSize[T Float](pt path) (rows, l int) {
	l = lanes[T](pt)
	if pt == pathAVX512 || pt == pathBF16 {
		return 14, l
	}
	return 6, l
}

// lanes returns the elements of half a panel: of a vector, or of 32 bytes in plain Go and in two registers of
// NEON.
func lanes[T Float](pt path) int {
	var z T
	if pt == pathAVX512 || pt == pathBF16 {
		return 64 / int(unsafe.Sizeof(z))
	}
	return 32 / int(unsafe.Sizeof(z))
}

// The windows into these tables that start n before the zeros select the first
// n lanes.
var (
	masks32 = [16]int32{-1, -1, -1, -1, -1, -1, -1, -1}
	masks64 = [8]int64{-1, -1, -1, -1}
)

// laneMask returns AVX2's mask of the first n lanes, n from 0 to the number of lanes.
func laneMask[T Float](n int) unsafe.Pointer {
	var z T
	if unsafe.Sizeof(z) == 4 {
		return unsafe.Pointer(&masks32[8-max(0, min(n, 8))])
	}
	return unsafe.Pointer(&masks64[4-max(0, min(n, 4))])
}
