//go:build !amd64 || purego

package vec

import "math"

// fma64 is x*y + z, rounded once.
func fma64(x, y, z float64) float64 { return math.FMA(x, y, z) }
