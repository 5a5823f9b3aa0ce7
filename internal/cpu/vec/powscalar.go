package vec

// powRun is the elements of the runs that hold an exponent.
const powRun = 256

// PowScalarF32 sets dst[i] = a[i]^s, as PowF32 does.
func PowScalarF32(dst, a []float32, s float32) {
	var run [powRun]float32
	FillF32(run[:min(powRun, len(dst))], s)
	for len(dst) > 0 {
		n := min(len(dst), powRun)
		PowF32(dst[:n], a[:n], run[:n])
		dst, a = dst[n:], a[n:]
	}
}

// PowScalarF64 sets dst[i] = a[i]^s, as PowF64 does.
func PowScalarF64(dst, a []float64, s float64) {
	var run [powRun]float64
	FillF64(run[:min(powRun, len(dst))], s)
	for len(dst) > 0 {
		n := min(len(dst), powRun)
		PowF64(dst[:n], a[:n], run[:n])
		dst, a = dst[n:], a[n:]
	}
}
