package vec

import "unsafe"

// SumInt returns the sum of integers, modulo 2^64.
func SumInt[E Integer](a []E) int64 {
	sum := int64(0)
	for len(a) >= 64 {
		n := min(len(a), chunk) &^ 63
		s, ok := sumLanes(laneKind[E](), unsafe.Pointer(&a[0]), n)
		if !ok {
			break
		}
		sum, a = sum+s, a[n:]
		yield(0, len(a))
	}
	var s, t, u, v int64 // four chains of additions
	for ; len(a) >= 4; a = a[4:] {
		s, t, u, v = s+int64(a[0]), t+int64(a[1]), u+int64(a[2]), v+int64(a[3])
	}
	for _, x := range a {
		sum += int64(x)
	}
	return sum + (s + t) + (u + v)
}

// CountNonzeroU8 returns the number of bytes of a that are not 0.
func CountNonzeroU8(a []uint8) int {
	n := 0
	for len(a) >= 64 {
		k := min(len(a), chunk) &^ 63
		c, ok := countLanes(unsafe.Pointer(&a[0]), k)
		if !ok {
			break
		}
		n, a = n+c, a[k:]
		yield(0, len(a))
	}
	for ; len(a) >= 8; a = a[8:] {
		n += int(nonzero(word(a)) * ones >> 56) // the product adds up the bytes
	}
	for _, x := range a {
		n += int(b2u8(x != 0))
	}
	return n
}
