//go:build !amd64 || purego

package vec

func hasResample() bool { return false }

func resampleRows(dst, src *uint8, stride int, weights *int32, taps, n int) {
	panic("vec: no assembly")
}

func resampleAcross(dst, src *uint8, bands int, first, wide *int32, pairs, n int) {
	panic("vec: no assembly")
}
