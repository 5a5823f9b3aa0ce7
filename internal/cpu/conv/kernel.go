package conv

import "unsafe"

// args is what a micro-kernel reads. The assembly knows its layout: a test
// compares the offsets.
type args struct {
	a0, a1 unsafe.Pointer // A's first row of each group
	b      unsafe.Pointer // packed panel
	c0, c1 unsafe.Pointer // C's first row of each group
	r0, r1 unsafe.Pointer // what is added to it
	bias   unsafe.Pointer // one value per column

	seg, segEnd unsafe.Pointer // of the segments: pairs of the bytes from a0 and a1, and their place in B in units of tapStep, or bytes in depthwise kernels

	rs, cs   int // bytes between rows (forward) and steps (gradient) of A
	ldc, ldr int // bytes between rows of C and of what is added
	k        int // steps per segment
	variant  int // vectors*16 + rows
	mask     uint64
	mask0    unsafe.Pointer
	mask1    unsafe.Pointer
	flags    int
	lo, hi   uint64 // bits of the clamp's bounds

	blockEnd int // depthwise: bytes of a position's channels

	ahead     uintptr // what to fetch while computing; it moves on by the step
	aheadStep int     // bytes per four steps, see ahead

	lines        int // depthwise: lines of the tile
	stepA, stepC int // bytes between lines of A, and of C and what is added
	linesLeft    int // the kernel's own
	tapStep      int // bytes between taps of the weights

	tiles        int // of a call, one after the other
	tileA, tileC int // bytes between them in A, and in C and what is added

	index, indexEnd unsafe.Pointer // mixed: which channels the lanes take, a vector for each step
	vectorStep      int            // mixed: bytes between vectors of channels

	rows, cols, width int // for the Go kernel: columns in use and of the panel

	tile *[48]uint64 //nolint:unused // NEON: where a tile is finished that is not stored whole
}

const (
	flagLoadC  = 1 // add to C
	flagBias   = 2
	flagRes    = 4
	flagClamp  = 8
	flagMasked = 16 // AVX2 and NEON: not all columns are in use
	flagFirst  = 32 // three taps: the first position is outside the image
	flagLast   = 64 // and the last
)

// path is a family of kernels.
type path uint8

const (
	pathGeneric path = iota
	pathAVX2
	pathAVX512
	pathNEON
)

// Float is the set of element types.
type Float interface{ float32 | float64 }

// genericTile is the portable micro-kernel: rs and cs are bytes, and either may
// be the element size.
func genericTile[T Float](p *args, rs, cs int) {
	var z T
	es := int(unsafe.Sizeof(z))
	first := (p.rows + 1) / 2
	var sum [2][32]T
	for r := 0; r < p.rows; r += 2 {
		n := min(2, p.rows-r)
		var a [2]unsafe.Pointer
		var c, res [2]unsafe.Pointer
		for i := range n {
			q := r + i
			if q < first {
				a[i], c[i], res[i] = unsafe.Add(p.a0, q*rs), unsafe.Add(p.c0, q*p.ldc), unsafe.Add(p.r0, q*p.ldr)
			} else {
				q -= first
				a[i], c[i], res[i] = unsafe.Add(p.a1, q*rs), unsafe.Add(p.c1, q*p.ldc), unsafe.Add(p.r1, q*p.ldr)
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
				b = unsafe.Add(b, p.width*es)
			}
		}
		for i := range n {
			finishRow(p, c[i], res[i], sum[i][:p.cols])
		}
	}
}

// segments are the pairs of offsets at p.seg.
func segments(p *args) [][2]int {
	return unsafe.Slice((*[2]int)(p.seg), (uintptr(p.segEnd)-uintptr(p.seg))/16)
}

// finishRow stores a row of sums with what the flags ask for.
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
		if p.flags&flagRes != 0 {
			v += *(*T)(unsafe.Add(res, j*es))
		}
		if p.flags&flagClamp != 0 {
			v = clampTo(v, fromBits[T](p.lo), fromBits[T](p.hi))
		}
		dst[j] = v
	}
}

// convTile runs the forward micro-kernel on the given rows. It and its
// neighbours must stay real calls: their stack check is where the scheduler can
// stop a goroutine that otherwise lives in assembly.
//
//go:noinline
func convTile[T Float](pt path, p *args, rows int) {
	if pt == pathGeneric {
		var z T
		p.rows = rows
		eachTile(p, rows, func() { genericTile[T](p, p.rs, int(unsafe.Sizeof(z))) })
		return
	}
	asmTile[T](pt, p, rows, false)
}

// gradTile runs the gradient micro-kernel on the given rows.
//
//go:noinline
func gradTile[T Float](pt path, p *args, rows int) {
	if pt == pathGeneric {
		var z T
		p.rows = rows
		eachTile(p, rows, func() { genericTile[T](p, int(unsafe.Sizeof(z)), p.cs) })
		return
	}
	asmTile[T](pt, p, rows, true)
}

// depthTile computes the given rows of a depthwise convolution, or of the gradient of its weights.
//
//go:noinline
func depthTile[T Float](pt path, p *args, rows int, grad bool) {
	switch {
	case p.index != nil:
		p.variant = rows
		mixTile(pt, p, grad)
	case pt != pathGeneric:
		p.variant = rows
		asmDepth[T](pt, p, grad)
	case grad:
		p.rows = rows
		genericDepthGrad[T](p)
	default:
		p.rows = rows
		genericDepth[T](p)
	}
}

// eachTile calls f for one tile after the other, for kernels that know one.
func eachTile(p *args, rows int, f func()) {
	for n := p.tiles; ; {
		f()
		if n--; n <= 0 {
			return
		}
		next := func(by int, at0, at1 *unsafe.Pointer) {
			*at0 = unsafe.Add(*at0, by)
			if rows > 1 {
				*at1 = unsafe.Add(*at1, by)
			}
		}
		next(p.tileA, &p.a0, &p.a1)
		next(p.tileC, &p.c0, &p.c1)
		if p.flags&flagRes != 0 {
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

// setColumns prepares p for a panel of the given width, of which cols columns
// are stored.
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

// tile gives the most rows of a tile and the lanes of half its width.
func tileSize[T Float](pt path) (rows, l int) {
	l = lanes[T](pt)
	if pt == pathAVX512 {
		return 14, l
	}
	return 6, l
}
