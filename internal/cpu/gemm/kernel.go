package gemm

import "unsafe"

// args is what a micro-kernel reads. The assembly knows the layout of this struct: a test compares the
// offsets.
//
// The kernel computes a tile of C, rows by columns, as a sum of outer products along k:
//
//	for each step of k:  C[i, j] += A[i, k]·B[k, j]   (A broadcast, B and C in vectors of columns)
type args struct {
	a, b, c  unsafe.Pointer // first elements of the operands
	rsA, csA int            // strides of A in bytes
	ldb, ldc int            // row strides of B and C in bytes; columns are adjacent
	k        int
	variant  int            // shape*16 + rows
	mask     uint64         // AVX-512: one bit per column
	lastMask unsafe.Pointer // AVX2: mask of the last vector's columns
	alpha    uint64         // alpha and beta as bits of the element type
	beta     uint64
	biasCol  unsafe.Pointer // one value per column, for the first column
	biasRow  unsafe.Pointer // one value per row, for the first row
	flags    int

	// The kernel computes count tiles. From one tile to the next the pointers move by these
	// steps; afterwards they point to the last tile.
	count                 int
	stepA, stepB, stepC   int
	stepCol, stepRow      int
	pf                    uintptr // AVX-512, AVX2: the next address to prefetch, see prefetchLoop of the generator
	pfStep, pfRun, pfJump int
	rest                  int            // scratch of the assembly: steps of k after the present run
	pfLast                int            // bytes from the last tile of C to the tile that the next call computes
	pfC                   int            // scratch of the assembly: next row of the next tile of C
	nearB                 int            // bytes from a row of B to the row that is fetched with it into the L1 cache
	packDst               unsafe.Pointer // with flagFusedPack: where the next row is copied to
	pfLeft                int            // with flagStreamB: steps of k until the next jump
	// bytes that pf moves by after the first and third, and after the second prefetch of four
	pfSide, pfBack int

	// With flagFusedPack, see fusedpack.go: the next row of B to copy and the bytes to the row
	// after it; the bytes from a row to the row that is prefetched with it, and the steps of k
	// for which this distance holds; then the next distance and its steps.
	packSrc                uintptr
	packStep               int
	packPrefetch, packLeft int
	thenPrefetch, thenLeft int

	rows, cols int // for the Go kernel; assembly has variant and mask
}

const (
	flagLoadC     = 1 // beta is not zero: C is read
	flagBiasCol   = 2
	flagBiasRow   = 4
	flagReLU      = 8
	flagAlpha     = 16 // alpha is not one
	flagStreamB   = 32 // B is read in the order of memory: the next slab is fetched in that order, see skinny.go
	flagFusedPack = 64 // the next strip of B is packed meanwhile, see fusedpack.go
)

// path is a family of kernels.
type path uint8

const (
	pathGeneric path = iota
	pathAVX2
	pathAVX512
	pathNEON
)

// element is the set of element types of the kernels; on AVX-512 all of them have assembly. Integers wrap
// around and have no activation.
type element interface {
	float32 | float64 | int32 | int64
}

// isInteger reports whether T is an integer type; the compiler evaluates it for each type.
func isInteger[T element]() bool {
	one := T(1)
	return one/2 == 0
}

// pathOf returns the path for an element type. AVX2 cannot multiply 64-bit integers, which take the portable
// path there.
func pathOf[T element]() path {
	var z T
	pt := currentPath()
	if !isInteger[T]() || pt == pathAVX512 || pt == pathAVX2 && unsafe.Sizeof(z) == 4 {
		return pt
	}
	return pathGeneric
}

// genericTile is the portable micro-kernel. Like the assembly it adds the products in the order of k, so a
// result does not depend on how the matrix was cut.
func genericTile[T element](p *args) {
	for ; ; p.count-- {
		genericOnce[T](p)
		if !p.next() {
			return
		}
	}
}

// next moves the pointers to the next tile, if there is one.
func (p *args) next() bool {
	if p.count <= 1 {
		return false
	}
	p.a, p.b, p.c = unsafe.Add(p.a, p.stepA), unsafe.Add(p.b, p.stepB), unsafe.Add(p.c, p.stepC)
	p.biasCol, p.biasRow = unsafe.Add(p.biasCol, p.stepCol), unsafe.Add(p.biasRow, p.stepRow)
	return true
}

func genericOnce[T element](p *args) {
	for i := 0; i < p.rows; i += 2 {
		for j := 0; j < p.cols; j += 4 {
			if j+4 <= p.cols {
				if i+2 <= p.rows {
					generic2x4[T](p, i, j)
				} else {
					generic1x4[T](p, i, j)
				}
				continue
			}
			for ii := i; ii < min(i+2, p.rows); ii++ {
				for jj := j; jj < min(j+4, p.cols); jj++ {
					generic1x1[T](p, ii, jj)
				}
			}
		}
	}
}

// at returns the element of row-major storage at a byte offset.
func at[T any](p unsafe.Pointer, off int) *T { return (*T)(unsafe.Add(p, off)) }

func generic2x4[T element](p *args, i, j int) {
	var z T
	es := int(unsafe.Sizeof(z))
	var s00, s01, s02, s03, s10, s11, s12, s13 T
	offA, offB := i*p.rsA, j*es
	for range p.k {
		a0, a1 := *at[T](p.a, offA), *at[T](p.a, offA+p.rsA)
		b := at[[4]T](p.b, offB)
		s00 += T(a0 * b[0])
		s01 += T(a0 * b[1])
		s02 += T(a0 * b[2])
		s03 += T(a0 * b[3])
		s10 += T(a1 * b[0])
		s11 += T(a1 * b[1])
		s12 += T(a1 * b[2])
		s13 += T(a1 * b[3])
		offA += p.csA
		offB += p.ldb
	}
	genericStore(p, i, j, s00)
	genericStore(p, i, j+1, s01)
	genericStore(p, i, j+2, s02)
	genericStore(p, i, j+3, s03)
	genericStore(p, i+1, j, s10)
	genericStore(p, i+1, j+1, s11)
	genericStore(p, i+1, j+2, s12)
	genericStore(p, i+1, j+3, s13)
}

func generic1x4[T element](p *args, i, j int) {
	var z T
	es := int(unsafe.Sizeof(z))
	var s0, s1, s2, s3 T
	offA, offB := i*p.rsA, j*es
	for range p.k {
		a := *at[T](p.a, offA)
		b := at[[4]T](p.b, offB)
		s0 += T(a * b[0])
		s1 += T(a * b[1])
		s2 += T(a * b[2])
		s3 += T(a * b[3])
		offA += p.csA
		offB += p.ldb
	}
	genericStore(p, i, j, s0)
	genericStore(p, i, j+1, s1)
	genericStore(p, i, j+2, s2)
	genericStore(p, i, j+3, s3)
}

// genericDots computes out[x*4+j] = a·b[x*4+j] for groups x of four rows of b, which lie rsB bytes apart.
func genericDots[T element](out *[dotSums]T, a, b unsafe.Pointer, rsB, k, groups int) {
	es := size[T]()
	for x := range groups {
		b1 := unsafe.Add(b, rsB)
		b2 := unsafe.Add(b1, rsB)
		b3 := unsafe.Add(b2, rsB)
		var s0, s1, s2, s3 T
		off := 0
		for range k {
			v := *at[T](a, off)
			s0 += T(v * *at[T](b, off))
			s1 += T(v * *at[T](b1, off))
			s2 += T(v * *at[T](b2, off))
			s3 += T(v * *at[T](b3, off))
			off += es
		}
		*(*[4]T)(out[x*4:]) = [4]T{s0, s1, s2, s3}
		b = unsafe.Add(b, 4*rsB)
	}
}

// The conversions T(a*b) here and in the functions above forbid the compiler to fuse the multiplication with
// the addition, which it may do on some architectures: so all generic variants round alike.
func generic1x1[T element](p *args, i, j int) {
	var z, s T
	es := int(unsafe.Sizeof(z))
	offA, offB := i*p.rsA, j*es
	for range p.k {
		s += T(*at[T](p.a, offA) * *at[T](p.b, offB))
		offA += p.csA
		offB += p.ldb
	}
	genericStore(p, i, j, s)
}

// genericStore applies alpha, beta, biases and ReLU to one sum and stores it.
func genericStore[T element](p *args, i, j int, s T) {
	var z T
	es := int(unsafe.Sizeof(z))
	if p.flags&flagAlpha != 0 {
		s *= fromBits[T](p.alpha)
	}
	c := at[T](p.c, i*p.ldc+j*es)
	if p.flags&flagLoadC != 0 {
		s += T(fromBits[T](p.beta) * *c)
	}
	if p.flags&flagBiasCol != 0 {
		s += *at[T](p.biasCol, j*es)
	}
	if p.flags&flagBiasRow != 0 {
		s += *at[T](p.biasRow, i*es)
	}
	if p.flags&flagReLU != 0 && s < 0 { // NaN stays NaN
		s = 0
	}
	*c = s
}

// bits and fromBits carry a scalar of either type through args.
func bits[T element](x T) uint64 {
	var u uint64
	*(*T)(unsafe.Pointer(&u)) = x
	return u
}

func fromBits[T element](u uint64) T { return *(*T)(unsafe.Pointer(&u)) }
