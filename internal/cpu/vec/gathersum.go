package vec

import "fmt"

// GatherSumF32 adds rows of a table to dst: dst[j] += scale[i]*table[rows[i]*d+j] for each i in order, with d the
// length of dst. Without scale the rows are added as they are; with it each product and sum is rounded once.
//
// One call for many rows lets the processor fetch the next rows while it adds: tables are larger than caches.
func GatherSumF32(dst, table []float32, rows []int64, scale []float32) {
	d := len(dst)
	if d == 0 {
		return
	}
	n := int64(len(table) / d)
	for _, r := range rows {
		if uint64(r) >= uint64(n) {
			panic(fmt.Sprintf("vec.GatherSum: row %d of a table of %d rows", r, n))
		}
	}
	if scale != nil {
		scale = scale[:len(rows)]
	}
	const piece = 256 // rows of a call: tens of microseconds, even from memory
	for len(rows) > 0 {
		k := min(len(rows), piece)
		var s []float32
		if scale != nil {
			s, scale = scale[:k], scale[k:]
		}
		j := gatherSumFast(dst, table, rows[:k], s)
		if j < d {
			gatherSumSlow(dst, table, rows[:k], s, j)
		}
		preemptible(0)
		rows = rows[k:]
	}
}

// gatherSumSlow does the columns from j on.
func gatherSumSlow(dst, table []float32, rows []int64, scale []float32, j int) {
	for i, r := range rows {
		src := table[int(r)*len(dst)+j:][:len(dst)-j]
		if scale == nil {
			AddF32(dst[j:], dst[j:], src)
		} else {
			AddScaledF32(dst[j:], dst[j:], src, scale[i])
		}
	}
}
