package fft

func (st *step[E]) assembly(y, x planes[E], s int) bool { return false }

func multiplyAssembly[E Float](xr, xi, wr, wi []E) bool { return false }
