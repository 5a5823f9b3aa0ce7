package pointwise

import (
	"sync"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
)

// This file puts the simple operators of integers and of complex numbers on the kernels of two operands: bits do not
// care how wide an element is, and a constant operand is a run that is read again and again.

// run4K is a constant run of 4 KB, which stays in the nearest cache.
type run4K [512]uint64

var zeroRun, onesRun run4K

// runs lends runs to kernels that need a place for what comes between: their own would be new memory at every call.
var runs = sync.Pool{New: func() any { return new(run4K) }}

func init() {
	for i := range onesRun {
		onesRun[i] = ^uint64(0)
	}
}

func elements[E realNumber](r *run4K) []E {
	return slice[E](unsafe.Pointer(r), int(unsafe.Sizeof(*r)/unsafe.Sizeof(E(0))))
}

// against runs a kernel on a and a constant.
func against[D, E integer](d []D, a, run []E, k func(d []D, a, b []E)) {
	for len(d) > 0 {
		n := min(len(d), len(run))
		k(d[:n], a[:n], run[:n])
		d, a = d[n:], a[n:]
	}
}

func bytesOf[E integer](s []E) []uint8 {
	return slice[uint8](unsafe.Pointer(unsafe.SliceData(s)), len(s)*int(unsafe.Sizeof(E(0))))
}

func andI[E integer](d, a, b []E) { vec.AndU8(bytesOf(d), bytesOf(a[:len(d)]), bytesOf(b[:len(d)])) }

func orI[E integer](d, a, b []E) { vec.OrU8(bytesOf(d), bytesOf(a[:len(d)]), bytesOf(b[:len(d)])) }

func xorI[E integer](d, a, b []E) { vec.XorU8(bytesOf(d), bytesOf(a[:len(d)]), bytesOf(b[:len(d)])) }

func bitNotK[E integer](d, a []E) {
	against(bytesOf(d), bytesOf(a[:len(d)]), elements[uint8](&onesRun), vec.XorU8)
}

func negI[E integer](d, a []E) {
	against(d, a, elements[E](&zeroRun), func(d, a, zero []E) { vec.SubInt(d, zero, a) })
}

func reluI[E integer](d, a []E) {
	_, most := limits[E]()
	vec.ClampInt(d, a, 0, most)
}

func logicalNotI[E integer](d []uint8, a []E) { against(d, a, elements[E](&zeroRun), vec.EqInt[E]) }

// clampI limits to bounds, of which nil ones do not count.
func clampI[E integer](lo, hi *E) func(d, x []E) {
	least, most := limits[E]()
	if lo != nil {
		least = *lo
	}
	if hi != nil {
		most = *hi
	}
	return func(d, x []E) { vec.ClampInt(d, x, least, most) }
}

// limits are the smallest and the largest number of a type.
func limits[E integer]() (lo, hi E) {
	if E(0)-1 > 0 {
		return 0, E(0) - 1
	}
	lo = E(1) << (8*unsafe.Sizeof(lo) - 1)
	return lo, lo - 1
}

// Complex sums are those of their parts as long as b is finite; see axpyK.

var (
	addC64, addC128 = partwise[float32, complex64](vec.AddF32, vec.SumAbsF32, 1),
		partwise[float64, complex128](vec.AddF64, vec.SumAbsF64, 1)
	subC64, subC128 = partwise[float32, complex64](vec.SubF32, vec.SumAbsF32, -1),
		partwise[float64, complex128](vec.SubF64, vec.SumAbsF64, -1)
)

func partwise[E float, C complex64 | complex128](k func(d, a, b []E), sumAbs func(a []E) E, alpha C) func(d, a, b []C) {
	whole := axpyK(alpha)
	return func(d, a, b []C) {
		const block = 1024
		for lo := 0; lo < len(d); lo += block {
			hi := min(lo+block, len(d))
			if y := pairs[E](b, lo, hi); sumAbs(y)*0 == 0 {
				k(pairs[E](d, lo, hi), pairs[E](a, lo, hi), y)
			} else {
				whole(d[lo:hi], a[lo:hi], b[lo:hi])
			}
		}
	}
}
