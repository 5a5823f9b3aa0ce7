//go:build !purego

package vec

import (
	"math"

	"github.com/gotorch-dev/torch/internal/cpu"
)

// fetchFrom is the number of elements of a call from which kernels fetch lines ahead: about half a chunk, and more than
// the runs of 8 KB that walks gather, behind which there may be nothing. Zen 5 does better by itself: there fetches
// cost 2 to 25 % of the time of arrays in its second and third cache, and gain nothing beyond.
//
//nolint:unused // assembly reads it
var fetchFrom = func() int {
	const zen5 = 0x1a
	if cpu.AMDFamily() >= zen5 {
		return math.MaxInt
	}
	return chunk/2 + 64
}()
