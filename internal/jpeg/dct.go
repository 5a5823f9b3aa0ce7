package jpeg

import "encoding/binary"

// The integer transforms are those of Loeffler, Ligtenberg and Moschytz (Practical Fast 1-D DCT Algorithms with 11
// Multiplications, 1989), in fixed point with 13 bits for the constants and 2 more bits between the two passes, as
// libjpeg's "islow" has them.
const (
	constBits = 13
	passBits  = 2

	fix0298 = 2446
	fix0390 = 3196
	fix0541 = 4433
	fix0765 = 6270
	fix0899 = 7373
	fix1175 = 9633
	fix1501 = 12299
	fix1847 = 15137
	fix1961 = 16069
	fix2053 = 16819
	fix2562 = 20995
	fix3072 = 25172
)

// rotate is the odd half of both transforms.
func rotate(t0, t1, t2, t3 int32) (int32, int32, int32, int32) {
	z1, z2, z3, z4 := t0+t3, t1+t2, t0+t2, t1+t3
	z5 := (z3 + z4) * fix1175
	z1 *= -fix0899
	z2 *= -fix2562
	z3 = z3*-fix1961 + z5
	z4 = z4*-fix0390 + z5
	return t0*fix0298 + z1 + z3, t1*fix2053 + z2 + z4, t2*fix3072 + z2 + z3, t3*fix1501 + z1 + z4
}

// even is the even half of the inverse transform.
func even(a0, a2, a4, a6 int32) (t10, t11, t12, t13 int32) {
	z1 := (a2 + a6) * fix0541
	t2, t3 := z1-a6*fix1847, z1+a2*fix0765
	t0, t1 := (a0+a4)<<constBits, (a0-a4)<<constBits
	return t0 + t3, t1 + t2, t1 - t2, t0 - t3
}

// What the two passes of the inverse transform add before they drop bits. The second one also moves the samples from
// around 0 to around 128.
const (
	shift1 = constBits - passBits
	half1  = 1 << (shift1 - 1)
	shift2 = constBits + passBits + 3
	half2  = 1<<(shift2-1) + 128<<shift2
)

// fillBlock is inverse for a block that has nothing but its mean.
func fillBlock(dst []uint8, stride int, mean int16, q int32) {
	w := (int32(mean)*q<<constBits + half1) >> shift1
	v := clamp((w<<constBits + half2) >> shift2)
	all := uint64(v) * 0x0101010101010101
	for y := range 8 {
		binary.LittleEndian.PutUint64(dst[y*stride:], all)
	}
}

// inverse turns coefficients, multiplied by a table of quantisation, into samples at dst, whose rows are stride apart.
func inverse(c *block, q *quantTable, dst []uint8, stride int) {
	_ = dst[7*stride+7]
	if !inverseFast(c, q, dst, stride) {
		inverseSlow(c, q, dst, stride)
	}
}

// inverseSlow is inverse in plain Go.
func inverseSlow(c *block, q *quantTable, dst []uint8, stride int) {
	var w [blockSize]int32
	for x := range 8 {
		a0 := int32(c[x]) * q[x]
		if c[8+x]|c[16+x]|c[24+x]|c[32+x]|c[40+x]|c[48+x]|c[56+x] == 0 {
			v := (a0<<constBits + half1) >> shift1
			for y := range 8 {
				w[8*y+x] = v
			}
			continue
		}
		t10, t11, t12, t13 := even(a0, int32(c[16+x])*q[16+x], int32(c[32+x])*q[32+x],
			int32(c[48+x])*q[48+x])
		t0, t1, t2, t3 := rotate(int32(c[56+x])*q[56+x], int32(c[40+x])*q[40+x],
			int32(c[24+x])*q[24+x], int32(c[8+x])*q[8+x])
		w[x], w[56+x] = (t10+t3+half1)>>shift1, (t10-t3+half1)>>shift1
		w[8+x], w[48+x] = (t11+t2+half1)>>shift1, (t11-t2+half1)>>shift1
		w[16+x], w[40+x] = (t12+t1+half1)>>shift1, (t12-t1+half1)>>shift1
		w[24+x], w[32+x] = (t13+t0+half1)>>shift1, (t13-t0+half1)>>shift1
	}
	for y := range 8 {
		r := w[8*y:][:8:8]
		out := dst[y*stride:][:8:8]
		if r[1]|r[2]|r[3]|r[4]|r[5]|r[6]|r[7] == 0 {
			v := clamp((r[0]<<constBits + half2) >> shift2)
			for x := range out {
				out[x] = v
			}
			continue
		}
		t10, t11, t12, t13 := even(r[0], r[2], r[4], r[6])
		t0, t1, t2, t3 := rotate(r[7], r[5], r[3], r[1])
		out[0], out[7] = clamp((t10+t3+half2)>>shift2), clamp((t10-t3+half2)>>shift2)
		out[1], out[6] = clamp((t11+t2+half2)>>shift2), clamp((t11-t2+half2)>>shift2)
		out[2], out[5] = clamp((t12+t1+half2)>>shift2), clamp((t12-t1+half2)>>shift2)
		out[3], out[4] = clamp((t13+t0+half2)>>shift2), clamp((t13-t0+half2)>>shift2)
	}
}

// forward turns 8x8 samples into coefficients, eight times as large.
func forward(src []uint8, stride int) (d [blockSize]int32) {
	pass := func(at, step, keep, shift int32) {
		p := func(i int32) *int32 { return &d[at+i*step] }
		t0, t7 := *p(0)+*p(7), *p(0)-*p(7)
		t1, t6 := *p(1)+*p(6), *p(1)-*p(6)
		t2, t5 := *p(2)+*p(5), *p(2)-*p(5)
		t3, t4 := *p(3)+*p(4), *p(3)-*p(4)
		t10, t13, t11, t12 := t0+t3, t0-t3, t1+t2, t1-t2
		half := int32(1) << (shift - 1)
		if keep > 0 { // the first pass keeps bits, the second one drops them
			*p(0), *p(4) = (t10+t11)<<keep, (t10-t11)<<keep
		} else {
			const r = 1 << (passBits - 1)
			*p(0), *p(4) = (t10+t11+r)>>passBits, (t10-t11+r)>>passBits
		}
		z1 := (t12 + t13) * fix0541
		*p(2), *p(6) = (z1+t13*fix0765+half)>>shift, (z1-t12*fix1847+half)>>shift
		a, b, c, e := rotate(t4, t5, t6, t7)
		*p(7), *p(5), *p(3), *p(1) = (a+half)>>shift, (b+half)>>shift, (c+half)>>shift, (e+half)>>shift
	}
	for y := range 8 {
		for x, v := range src[y*stride:][:8] {
			d[8*y+x] = int32(v) - 128
		}
		pass(int32(8*y), 1, passBits, constBits-passBits)
	}
	for x := range int32(8) {
		pass(x, 8, 0, constBits+passBits)
	}
	return d
}
