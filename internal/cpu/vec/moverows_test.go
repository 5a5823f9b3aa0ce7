package vec

import (
	"bytes"
	"testing"
	"unsafe"
)

// TestMoveRows copies rows of every length, near and far apart, forwards and backwards, on every path and looks at what
// lies around them.
func TestMoveRows(t *testing.T) {
	eachPath(t, func(t *testing.T) {
		for n := 1; n < 140; n++ {
			for _, gap := range []int{0, 1, 37} {
				const rows = 5
				src, dst, want := make([]byte, rows*(n+gap)+1), make([]byte, rows*(n+2*gap)+1),
					make([]byte, rows*(n+2*gap)+1)
				for i := range src {
					src[i] = byte(i*7 + 1)
				}
				for r := range rows { // src from its last row on
					copy(want[1+r*(n+2*gap):][:n], src[1+(rows-1-r)*(n+gap):])
				}
				moved := MoveRows(unsafe.Pointer(&dst[1]), n+2*gap, unsafe.Pointer(&src[1+(rows-1)*(n+gap)]),
					-(n + gap), rows, n)
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

// TestSpreadRows writes elements of every size over rows of every length, from a column with gaps, and looks at what
// lies around them.
func TestSpreadRows(t *testing.T) {
	const rows, gap = 5, 3
	eachPath(t, func(t *testing.T) {
		for _, size := range []int{1, 2, 4, 8} {
			lds := size + gap
			src := make([]byte, rows*lds)
			for i := range src {
				src[i] = byte(i*7 + 1)
			}
			for n := size; n <= 150*size; n += size {
				dst := bytes.Repeat([]byte{0xee}, 1+rows*n+16)
				if !SpreadRows(unsafe.Pointer(&dst[1]), unsafe.Pointer(&src[(rows-1)*lds]), -lds, rows, n, size) {
					return
				}
				want := bytes.Repeat([]byte{0xee}, len(dst))
				for r := range rows {
					for i := range n {
						want[1+r*n+i] = src[(rows-1-r)*lds+i%size]
					}
				}
				behind := 1 + rows*n
				if n < 8 { // it may write eight bytes
					behind += 8 - n
				}
				if !bytes.Equal(dst[:1+rows*n], want[:1+rows*n]) || !bytes.Equal(dst[behind:], want[behind:]) {
					t.Fatalf("rows of %d bytes of elements of %d: %x, want %x", n, size, dst, want)
				}
			}
		}
	})
}
