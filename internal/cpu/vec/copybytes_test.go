package vec

import (
	"bytes"
	"testing"
)

func TestCopyBytes(t *testing.T) {
	for _, n := range []int{0, 1, copyPiece - 1, copyPiece, copyPiece + 1, 3*copyPiece + 5} {
		src, dst := make([]byte, n), make([]byte, n+1)
		for i := range src {
			src[i] = byte(i * 7 >> 3)
		}
		CopyBytes(dst[:n], src)
		if !bytes.Equal(dst[:n], src) || dst[n] != 0 {
			t.Errorf("%d bytes are not copied", n)
		}
	}
}
