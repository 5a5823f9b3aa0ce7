package vec

import "unsafe"

// Deinterleave sends the elements of src to even and odd in turn; even must have room for (len(src)+1)/2, odd for
// len(src)/2.
func Deinterleave[E float32 | float64](even, odd, src []E) {
	n := len(src) / 2
	even, odd = even[:len(src)-n], odd[:n]
	wide := unsafe.Sizeof(E(0)) == 8
	group := 8
	if wide {
		group = 4
	}
	i := 0
	for full := n &^ (group - 1); i < full && hasTranspose8(); {
		m := min(full-i, chunk)
		e, o, s := unsafe.Pointer(&even[i]), unsafe.Pointer(&odd[i]), unsafe.Pointer(&src[2*i])
		if wide {
			deinterleave4((*float64)(e), (*float64)(o), (*float64)(s), m/group)
		} else {
			deinterleave8((*float32)(e), (*float32)(o), (*float32)(s), m/group)
		}
		i += m
		yield(i, n)
	}
	for ; i < n; i++ {
		even[i], odd[i] = src[2*i], src[2*i+1]
	}
	if len(even) > n {
		even[n] = src[2*n]
	}
}

// Interleave takes the elements of dst from even and odd in turn.
func Interleave[E float32 | float64](dst, even, odd []E) {
	n := len(dst) / 2
	even, odd = even[:len(dst)-n], odd[:n]
	wide := unsafe.Sizeof(E(0)) == 8
	group := 8
	if wide {
		group = 4
	}
	i := 0
	for full := n &^ (group - 1); i < full && hasTranspose8(); {
		m := min(full-i, chunk)
		d, e, o := unsafe.Pointer(&dst[2*i]), unsafe.Pointer(&even[i]), unsafe.Pointer(&odd[i])
		if wide {
			interleave4((*float64)(d), (*float64)(e), (*float64)(o), m/group)
		} else {
			interleave8((*float32)(d), (*float32)(e), (*float32)(o), m/group)
		}
		i += m
		yield(i, n)
	}
	for ; i < n; i++ {
		dst[2*i], dst[2*i+1] = even[i], odd[i]
	}
	if len(even) > n {
		dst[2*n] = even[n]
	}
}
