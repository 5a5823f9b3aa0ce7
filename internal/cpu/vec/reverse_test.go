package vec

import (
	"testing"
	"unsafe"
)

// TestReverseRows reverses rows of all lengths and element sizes between guards.
func TestReverseRows(t *testing.T) {
	eachPath(t, func(t *testing.T) {
		for _, size := range []int{1, 2, 4, 8, 16} {
			lengths := []int{reverseBytes/size - 1, 2*reverseBytes/size + 1, 3*reverseBytes/size + 5}
			for n := 1; n <= 70; n++ {
				lengths = append(lengths, n)
			}
			for _, n := range lengths {
				for _, rows := range []int{1, 2, 5} {
					const guard = 3
					lds, ldd := (n+1)*size, (n+2)*size
					src, dst := make([]byte, guard+rows*lds), make([]byte, 2*guard+rows*ldd)
					for i := range src {
						src[i] = byte(i*7 + i>>8)
					}
					for i := range dst {
						dst[i] = 0xee
					}
					ReverseRows(unsafe.Pointer(&dst[guard]), ldd, unsafe.Pointer(&src[guard]), lds, rows, n, size)
					for r := range rows {
						row := dst[guard+r*ldd:][:n*size]
						for i := range row {
							if want := src[guard+r*lds+(n-1-i/size)*size+i%size]; row[i] != want {
								t.Fatalf("%d elements of %d bytes, row %d, byte %d: got %x, want %x", n, size, r, i,
									row[i], want)
							}
							row[i] = 0xee
						}
					}
					for i, x := range dst {
						if x != 0xee {
							t.Fatalf("%d elements of %d bytes: byte %d is written", n, size, i)
						}
					}
				}
			}
		}
	})
}
