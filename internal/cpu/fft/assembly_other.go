//go:build !amd64 || purego

package fft

// There is no assembly for this platform.

func (st *step[E]) assembly(y, x planes[E], s int) bool { return false }

func multiplyAssembly[E Float](xr, xi, wr, wi []E) bool { return false }

func halvesAssembly[E Float](fold bool, a, b, w, c, d planes[E], n int) int { return 0 }

func halvesRows[E Float](fold bool, y, x, w, tmp planes[E], h, s int) bool { return false }
