package vec

import "unsafe"

// PrefetchRow prefetches a row while another row is worked on. It is a hint. Long kernels prefetch by
// themselves, but while a short kernel works on a row, the processor does not look beyond that row. Rows
// larger than the first-level cache are not prefetched.
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
