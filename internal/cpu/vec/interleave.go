package vec

// DeinterleaveF32 sends the elements of src to even and odd in turn; even must have room for (len(src)+1)/2, odd for len(src)/2.
func DeinterleaveF32(even, odd, src []float32) {
	n := len(src) / 2
	even, odd = even[:len(src)-n], odd[:n]
	i := 0
	for full := n &^ 7; i < full && hasTranspose8(); {
		m := min(full-i, chunk)
		deinterleave8(&even[i], &odd[i], &src[2*i], m/8)
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

// InterleaveF32 takes the elements of dst from even and odd in turn.
func InterleaveF32(dst, even, odd []float32) {
	n := len(dst) / 2
	even, odd = even[:len(dst)-n], odd[:n]
	i := 0
	for full := n &^ 7; i < full && hasTranspose8(); {
		m := min(full-i, chunk)
		interleave8(&dst[2*i], &even[i], &odd[i], m/8)
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
