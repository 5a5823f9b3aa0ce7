package vec

import (
	"math"
	"sync"
	"unsafe"
)

// exactQuotient is the bound of quotients up to which the kernels' remainders are exact.
const exactQuotient = 1 << 51

// remainderRuns lend the memory of blocks: short runs would spend more time on clearing their own.
var remainderRuns = sync.Pool{New: func() any { return new([512]float64) }}

// remainders cuts a run into blocks, computes the remainders with the sign of a into a buffer, and hands each block and
// its remainders to finish. Elements whose quotient is too large for the kernel, or is not finite, are computed one by
// one.
func remainders[E float32 | float64](dst, a, b []E, kernel func(m, a, b []E) float64, finish func(dst, a, b, m []E)) {
	a, b = a[:len(dst)], b[:len(dst)]
	mem := remainderRuns.Get().(*[512]float64)
	defer remainderRuns.Put(mem)
	buf := unsafe.Slice((*E)(unsafe.Pointer(mem)), len(mem))
	for len(dst) > 0 {
		n := min(len(dst), len(buf))
		m := buf[:n]
		if most := kernel(m, a[:n], b[:n]); !(most < exactQuotient) {
			for i := range m {
				if q := math.Abs(float64(a[i]) / float64(b[i])); !(q < exactQuotient) {
					m[i] = E(math.Mod(float64(a[i]), float64(b[i])))
				}
			}
		}
		finish(dst[:n], a[:n], b[:n], m)
		dst, a, b = dst[n:], a[n:], b[n:]
	}
}

func fmod32(m, a, b []float32) float64 { return fmodBlockF32(m, a, b) }

func copyRemainders[E float32 | float64](dst, _, _, m []E) { copy(dst, m) }

// FmodF32 sets dst[i] = the remainder of a[i]/b[i] with the sign of a[i].
func FmodF32(dst, a, b []float32) { remainders(dst, a, b, fmod32, copyRemainders[float32]) }

// FmodF64 is FmodF32 for float64.
func FmodF64(dst, a, b []float64) { remainders(dst, a, b, fmodBlockF64, copyRemainders[float64]) }

// RemainderF32 sets dst[i] = the remainder of a[i]/b[i] with the sign of b[i].
func RemainderF32(dst, a, b []float32) { remainders(dst, a, b, fmod32, remainderFromF32) }

// RemainderF64 is RemainderF32 for float64.
func RemainderF64(dst, a, b []float64) { remainders(dst, a, b, fmodBlockF64, remainderFromF64) }

// FloorDivF32 sets dst[i] = a[i]/b[i] rounded down, without the error that rounding the quotient itself first would
// bring.
func FloorDivF32(dst, a, b []float32) { remainders(dst, a, b, fmod32, floorDivFromF32) }

// FloorDivF64 is FloorDivF32 for float64.
func FloorDivF64(dst, a, b []float64) { remainders(dst, a, b, fmodBlockF64, floorDivFromF64) }
