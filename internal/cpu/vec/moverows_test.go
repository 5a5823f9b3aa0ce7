package vec

import (
	"bytes"
	"testing"
	"unsafe"
)

// TestMoveRows copies rows of every length, near and far apart, forwards and backwards, on every path and looks at what lies around them.
func TestMoveRows(t *testing.T) {
	eachPath(t, func(t *testing.T) {
		for n := 1; n < 140; n++ {
			for _, gap := range []int{0, 1, 37} {
				const rows = 5
				src, dst, want := make([]byte, rows*(n+gap)+1), make([]byte, rows*(n+2*gap)+1), make([]byte, rows*(n+2*gap)+1)
				for i := range src {
					src[i] = byte(i*7 + 1)
				}
				for r := range rows { // src from its last row on
					copy(want[1+r*(n+2*gap):][:n], src[1+(rows-1-r)*(n+gap):])
				}
				moved := MoveRows(unsafe.Pointer(&dst[1]), n+2*gap, unsafe.Pointer(&src[1+(rows-1)*(n+gap)]), -(n + gap), rows, n)
				if moved != movesRows(n) {
					t.Fatalf("rows of %d bytes: moved is %v", n, moved)
				}
				if moved && !bytes.Equal(dst, want) {
					t.Fatalf("rows of %d bytes, %d apart: %v, want %v", n, n+gap, dst, want)
				}
			}
			table, index := make([]byte, 9*n), []int64{8, 0, 3, 3, 7}
			for i := range table {
				table[i] = byte(i*11 + 5)
			}
			dst, want := make([]byte, len(index)*n+1), make([]byte, len(index)*n+1)
			for j, i := range index {
				copy(want[j*n:][:n], table[int(i)*n:])
			}
			if TakeRows(dst, table, index, n); !bytes.Equal(dst, want) {
				t.Fatalf("picked rows of %d bytes: %v, want %v", n, dst, want)
			}
		}
	})
}
