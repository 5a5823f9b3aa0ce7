package gemm

import "time"

// Peak measures the float32 rate of independent fused multiply-adds on one
// thread, in GF/s: the bound that no product on this path can pass. It takes
// about d and returns 0 where there is no assembly.
func Peak(d time.Duration) float64 {
	pt := currentPath()
	if pt == pathGeneric {
		return 0
	}
	best := 0.0
	for end := time.Now().Add(d); ; {
		start := time.Now()
		flops := peakLoop(pt, 2000) // some 15 µs
		el := time.Since(start)
		best = max(best, flops/float64(el.Nanoseconds()))
		if time.Now().After(end) {
			return best
		}
	}
}
