package vec

import "unsafe"

// MulC64 sets dst[i] = a[i] * b[i]: two products and a sum for each part, each of them rounded, on every path.
func MulC64(dst, a, b []complex64) {
	n := len(dst)
	a, b = a[:n], b[:n]
	i := 0
	for full := n &^ 3; i < full && hasBytes(); {
		m := min(full-i, chunk)
		mulC64(&dst[i], &a[i], &b[i], m/4)
		i += m
		yield(i, n)
	}
	mulParts[float32](unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(a)),
		unsafe.Pointer(unsafe.SliceData(b)), i, n)
}

// MulC128 is MulC64 for complex128.
func MulC128(dst, a, b []complex128) {
	n := len(dst)
	a, b = a[:n], b[:n]
	i := 0
	for full := n &^ 1; i < full && hasBytes(); {
		m := min(full-i, chunk)
		mulC128(&dst[i], &a[i], &b[i], m/2)
		i += m
		yield(i, n)
	}
	mulParts[float64](unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(a)),
		unsafe.Pointer(unsafe.SliceData(b)), i, n)
}

// mulParts multiplies elements i to n. The language would widen the products of complex64; the conversions keep it from
// fusing products and sums.
func mulParts[E float32 | float64](dst, a, b unsafe.Pointer, i, n int) {
	d, s, t := unsafe.Slice((*[2]E)(dst), n), unsafe.Slice((*[2]E)(a), n), unsafe.Slice((*[2]E)(b), n)
	for ; i < n; i++ {
		x, y := s[i], t[i]
		d[i] = [2]E{E(x[0]*y[0]) - E(x[1]*y[1]), E(x[0]*y[1]) + E(x[1]*y[0])}
	}
}
