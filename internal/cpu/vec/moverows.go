package vec

import "unsafe"

// This file holds copies of many short rows, for which a call for each would cost more than its bytes.

// moveMost is how long rows may be: longer ones are copied by the runtime.
const moveMost = 2048

// MoveRows copies rows of n bytes, ldd bytes apart in dst and lds in src, which do not overlap. It reports false, and
// does nothing, where that is not faster than a copy for each.
func MoveRows(dst unsafe.Pointer, ldd int, src unsafe.Pointer, lds, rows, n int) bool {
	if !movesRows(n) || rows <= 0 {
		return false
	}
	per := 4 * chunk / n
	for r := 0; r < rows; r += per {
		moveRows(unsafe.Add(dst, r*ldd), unsafe.Add(src, r*lds), ldd, lds, min(per, rows-r), n)
		yield(r+per, rows)
	}
	return true
}

// SpreadRows writes each of some elements of 1, 2, 4 or 8 bytes, which lie lds bytes apart, over a row of n bytes of
// dst, one row behind the other. It may write up to seven bytes behind the last row, if it is shorter than eight. It
// reports false, and does nothing, where it has no assembly.
func SpreadRows(dst, src unsafe.Pointer, lds, rows, n, size int) bool {
	if !spreads() || size > 8 || n > moveMost || rows <= 0 {
		return false
	}
	per := 4 * chunk / n
	for r := 0; r < rows; r += per {
		spreadRows(unsafe.Add(dst, r*n), unsafe.Add(src, r*lds), lds, min(per, rows-r), n, size)
		yield(r+per, rows)
	}
	return true
}

// TakeRows copies rows of n bytes of a table, those that index names, to dst, side by side. The indices are in range.
func TakeRows(dst, table []byte, index []int64, n int) {
	if !movesRows(n) {
		for j, i := range index {
			copy(dst[j*n:][:n], table[int(i)*n:])
		}
		return
	}
	_ = dst[:len(index)*n]
	per := 4 * chunk / n
	for r := 0; r < len(index); r += per {
		takeRows(unsafe.Pointer(&dst[r*n]), unsafe.Pointer(&table[0]), &index[r], min(per, len(index)-r), n)
		yield(r+per, len(index))
	}
}
