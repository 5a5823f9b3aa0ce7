package vec

// Number is any type whose values Convert can take.
type Number interface {
	~int8 | ~uint8 | ~int16 | ~uint16 | ~int32 | ~int64 | ~float32 | ~float64
}

// Convert sets dst[i] to a[i] by Go's conversion, for the pairs of types that
// have no kernel of their own. What does not fit an integer type is cut to its
// low bits; a float that does not fit gives an unspecified value.
func Convert[D, S Number](dst []D, a []S) {
	a = a[:len(dst)]
	for i, x := range a {
		dst[i] = D(x)
	}
}

// LogicalNotU8 sets dst[i] = 1 where a[i] is 0, else 0.
func LogicalNotU8(dst, a []uint8) {
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = b2u8(a[i] == 0)
	}
}
