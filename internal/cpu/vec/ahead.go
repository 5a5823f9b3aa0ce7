package vec

import "unsafe"

// Ahead has the memory of a row fetched while another row is worked on. It is a hint: long kernels do so by themselves, but the
// processor does not look beyond the row that a short one works on. Rows beyond what the first-level cache holds are left alone.
func Ahead[E float32 | float64](row []E) {
	if n := len(row) * int(unsafe.Sizeof(E(0))); n > 0 && n <= 16<<10 {
		ahead(unsafe.Pointer(&row[0]), (n+63)/64)
	}
}

// AheadBytes is [Ahead] for memory of any type.
func AheadBytes(row []byte) {
	if n := len(row); n > 0 && n <= 16<<10 {
		ahead(unsafe.Pointer(&row[0]), (n+63)/64)
	}
}
