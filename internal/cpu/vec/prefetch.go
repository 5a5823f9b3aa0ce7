package vec

import "unsafe"

// PrefetchRow has the memory of a row fetched while another row is worked on. It is a hint: long kernels do so by themselves, but the
// processor does not look beyond the row that a short one works on. Rows beyond what the first-level cache holds are left alone.
func PrefetchRow[E float32 | float64](row []E) {
	if n := len(row) * int(unsafe.Sizeof(E(0))); n > 0 && n <= 16<<10 {
		prefetchLines(unsafe.Pointer(&row[0]), (n+63)/64)
	}
}

// PrefetchBytes is [PrefetchRow] for memory of any type.
func PrefetchBytes(row []byte) {
	if n := len(row); n > 0 && n <= 16<<10 {
		prefetchLines(unsafe.Pointer(&row[0]), (n+63)/64)
	}
}
