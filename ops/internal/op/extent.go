package op

import (
	"slices"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
)

// Extent is the smallest and the largest of some integers, 0 where there are none.
func Extent[E vec.Integer](s []E) (least, most E) {
	if len(s) == 0 {
		return 0, 0
	}
	const block = 1 << 16
	blocks := (len(s) + block - 1) / block
	ends := make([]E, 2*blocks)
	lows, highs := ends[:blocks], ends[blocks:]
	par.For(blocks, 1, func(lo, hi int) {
		for b := lo; b < hi; b++ {
			part := s[b*block : min(len(s), (b+1)*block)]
			vec.MinRowsInt(lows[b:b+1], part, 1, len(part), 0)
			vec.MaxRowsInt(highs[b:b+1], part, 1, len(part), 0)
		}
	})
	return slices.Min(lows), slices.Max(highs)
}
