package vec

import "math"

// The largest arguments for which the kernels' range reduction keeps all digits.
const (
	trigMax32 = 65536
	trigMax64 = 1 << 20
)

// trig runs a kernel on the blocks without large arguments. Where there are some it takes the elements one by one: the
// plain form of the kernel for those that it can do, because the result of an element must not depend on its
// neighbours, and slow for the others.
func trig[E float32 | float64](dst, a []E, most E, kernel, generic func(dst, a []E), slow func(float64) float64) {
	a = a[:len(dst)]
	for len(dst) > 0 {
		n := min(len(dst), chunk)
		if trigSmall(a[:n], most) {
			kernel(dst[:n], a[:n])
		} else {
			for i, x := range a[:n] {
				if x >= -most && x <= most {
					generic(dst[i:i+1], a[i:i+1])
				} else {
					dst[i] = E(slow(float64(x)))
				}
			}
		}
		dst, a = dst[n:], a[n:]
	}
}

// SinF32 sets dst[i] = sin(a[i]).
func SinF32(dst, a []float32) { trig(dst, a, trigMax32, sinF32, sinF32Generic, math.Sin) }

// CosF32 sets dst[i] = cos(a[i]).
func CosF32(dst, a []float32) { trig(dst, a, trigMax32, cosF32, cosF32Generic, math.Cos) }

// TanF32 sets dst[i] = tan(a[i]).
func TanF32(dst, a []float32) { trig(dst, a, trigMax32, tanF32, tanF32Generic, math.Tan) }

// SinF64 sets dst[i] = sin(a[i]).
func SinF64(dst, a []float64) { trig(dst, a, trigMax64, sinF64, sinF64Generic, math.Sin) }

// CosF64 sets dst[i] = cos(a[i]).
func CosF64(dst, a []float64) { trig(dst, a, trigMax64, cosF64, cosF64Generic, math.Cos) }

// TanF64 sets dst[i] = tan(a[i]).
func TanF64(dst, a []float64) { trig(dst, a, trigMax64, tanF64, tanF64Generic, math.Tan) }

// trigSmall reports that the kernels can take all of a. A NaN hides large values from the maximum, so it counts as
// large.
func trigSmall[E float32 | float64](a []E, most E) bool {
	switch a := any(a).(type) {
	case []float32:
		return maxBlockF32(a) <= float32(most) && minBlockF32(a) >= -float32(most)
	case []float64:
		return maxBlockF64(a) <= float64(most) && minBlockF64(a) >= -float64(most)
	}
	return false
}
