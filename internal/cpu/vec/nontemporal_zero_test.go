package vec

import "testing"

// TestZero checks pieces of any length and alignment, in small blocks and in large ones, and that nothing around them
// is touched.
func TestZero(t *testing.T) {
	buf := make([]float32, 1<<19)
	for _, size := range []int{0, streamFrom} {
		for _, n := range []int{0, 1, 15, 16, 63, 64, 65, 79, 80, 1000, 1024, 70_000, 300_000} {
			for off := range 17 {
				for i := range buf[:n+off+64] {
					buf[i] = 1
				}
				Zero(buf[off:off+n], size)
				ZeroDone()
				for i, v := range buf[:n+off+64] {
					if want := float32(1); v != want && (i < off || i >= off+n) || v != 0 && i >= off && i < off+n {
						t.Fatalf("size %d, %d elements from %d: element %d is %v", size, n, off, i, v)
					}
				}
			}
		}
	}
}

// TestCopyPiece does the same for copies.
func TestCopyPiece(t *testing.T) {
	src := make([]float32, 80_000)
	for i := range src {
		src[i] = float32(i + 2)
	}
	buf := make([]float32, len(src)+128)
	for _, size := range []int{0, streamFrom} {
		for _, n := range []int{0, 1, 15, 16, 17, 63, 64, 65, 128, 1000, 1024, 65_536, 70_000} {
			for off := range 33 {
				for i := range buf[:n+off+64] {
					buf[i] = 1
				}
				CopyPiece(buf[off:off+n], src[off:], size)
				ZeroDone()
				for i, v := range buf[:n+off+64] {
					want := float32(1)
					if i >= off && i < off+n {
						want = src[i]
					}
					if v != want {
						t.Fatalf("size %d, %d elements from %d: element %d is %v, want %v", size, n, off, i, v, want)
					}
				}
			}
		}
	}
}
