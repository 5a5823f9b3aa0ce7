package shape

import "math"

// saturated is a + b, or the largest or smallest int where that overflows.
func saturated(a, b int) int {
	switch {
	case b > 0 && a > math.MaxInt-b:
		return math.MaxInt
	case b < 0 && a < math.MinInt-b:
		return math.MinInt
	}
	return a + b
}

// triangleColumns are the columns [lo, hi) of a row of the lower or upper triangle of a matrix with k columns.
func triangleColumns(row, k, off int, upper bool) (lo, hi int) {
	if upper {
		return max(0, saturated(row, off)), k
	}
	return 0, min(k, saturated(saturated(row, off), 1))
}

// triangleRows are the rows [first, end) with elements in the triangle of a matrix of r rows and k columns.
func triangleRows(r, k, off int, upper bool) (first, end int) {
	switch {
	case k == 0:
		return 0, 0
	case off == math.MinInt:
		off++
	}
	if upper {
		return 0, min(r, max(0, saturated(k, -off)))
	}
	return max(0, -off), r
}

// triangleSize is the number of elements of the triangle, or the largest int where there are more.
func triangleSize(r, k, off int, upper bool) int {
	first, end := triangleRows(r, k, off, upper)
	if first >= end {
		return 0
	}
	// Along the rows, the numbers of columns rise or fall by one until they stay at k or, in the upper triangle, begin
	// at k.
	size := func(row int) int {
		lo, hi := triangleColumns(row, k, off, upper)
		return hi - lo
	}
	few, slope := size(first), end-first // slope is the number of rows that are not full, or of all
	if upper {
		few = size(end - 1)
		slope = min(slope, k-few+1)
	} else {
		slope = min(slope, k-few)
	}
	full := end - first - slope
	// few + (few+1) + … over the rows of the slope
	total := float64(slope)*float64(few) + float64(slope)*float64(slope-1)/2 + float64(full)*float64(k)
	if total >= math.MaxInt {
		return math.MaxInt
	}
	half := slope * (slope - 1) / 2
	if slope > math.MaxInt32 {
		half = slope / 2 * (slope - 1)
		if slope%2 == 1 {
			half = (slope - 1) / 2 * slope
		}
	}
	return slope*few + half + full*k
}
