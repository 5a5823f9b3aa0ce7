package conv

import (
	"testing"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu"
)

// The kernels that transpose planar images move all sizes, write nothing else, and no element beside the rows reaches a
// result.
func TestScatter(t *testing.T) {
	for _, l := range cpu.Levels() {
		t.Run(l.Name, func(t *testing.T) {
			defer cpu.Set(l.Features)()
			if !hasScatter[float32](currentPath()) {
				t.Skip("no kernels")
			}
			for rows := 1; rows <= 16; rows++ {
				for cols := 1; cols <= 37; cols++ {
					testScatter(t, rows, cols, func(dst unsafe.Pointer, off []int, src unsafe.Pointer, lds int) {
						scatter16(dst, off, src, lds, rows, cols)
					})
					testScatter(t, rows, cols, func(dst unsafe.Pointer, off []int, src unsafe.Pointer, lds int) {
						scatterFar(dst, off, src, lds, rows, cols, false)
					})
					if rows == 16 { // whole lines
						testScatter(t, rows, cols, func(dst unsafe.Pointer, off []int, src unsafe.Pointer, lds int) {
							scatterFar(dst, off, src, lds, rows, cols, true)
						})
					}
				}
			}
		})
	}
}

// testScatter turns rows of a guarded matrix into columns that begin on cache lines, 32 elements apart and in reverse
// order.
func testScatter(t *testing.T, rows, cols int, turn func(dst unsafe.Pointer, off []int, src unsafe.Pointer, lds int)) {
	t.Helper()
	const apart = 32
	lds := cols + 3
	_, src := guarded[float32]((rows-1)*lds + cols)
	for i := range src {
		src[i] = float32(i)
	}
	whole, dst := guarded[float32](cols*apart + 16)
	first := 0
	for uintptr(unsafe.Pointer(&dst[first]))%64 != 0 {
		first++
	}
	off := make([]int, cols)
	for j := range off {
		off[j] = (cols - 1 - j) * apart * 4
	}
	turn(unsafe.Pointer(&dst[first]), off, unsafe.Pointer(&src[0]), lds*4)
	checkGuards(t, whole, dst)
	for at, got := range dst {
		j, i := cols-1-(at-first)/apart, (at-first)%apart
		if at < first || j < 0 || i >= rows {
			if got == got {
				t.Fatalf("%d rows, %d columns: wrote between results at %d", rows, cols, at)
			}
			continue
		}
		if want := float32(i*lds + j); got != want {
			t.Fatalf("%d rows, %d columns: row %d of column %d is %v, expected %v", rows, cols, i, j, got, want)
		}
	}
}
