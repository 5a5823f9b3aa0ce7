//go:build !(amd64 || arm64) || purego

package vec

func hasTranspose8() bool { return false }

func transpose8(dst *float32, ldd int, src *float32, lds, blocks int) { panic("vec: no assembly") }

func hasTranspose4() bool { return false }

func transpose4(dst *uint64, ldd int, src *uint64, lds, blocks int) { panic("vec: no assembly") }

func hasTransposeRow8() bool { return false }

func transposeRow8(dst *uint64, ldd int, src *uint64, lds, blocks int) { panic("vec: no assembly") }

func deinterleave8(even, odd, src *float32, n int) { panic("vec: no assembly") }

func interleave8(dst, even, odd *float32, n int) { panic("vec: no assembly") }

func deinterleave4(even, odd, src *float64, n int) { panic("vec: no assembly") }

func interleave4(dst, even, odd *float64, n int) { panic("vec: no assembly") }
