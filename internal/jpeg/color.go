package jpeg

// fix is a number in fixed point of 16 bits.
func fix(x float64) int32 { return int32(x*65536 + 0.5) }

const oneHalf = 1 << 15

// chroma are what the chroma samples add to the colours (JFIF 1.02).
var chroma = func() (t struct{ crR, cbB, crG, cbG [256]int32 }) {
	for i := range int32(256) {
		x := i - 128
		t.crR[i] = (fix(1.402)*x + oneHalf) >> 16
		t.cbB[i] = (fix(1.772)*x + oneHalf) >> 16
		t.crG[i] = -fix(0.71414) * x
		t.cbG[i] = -fix(0.34414)*x + oneHalf
	}
	return t
}()

// rgbRow converts a row of pixels.
func rgbRow(out, ys, cbs, crs []uint8) {
	cbs, crs = cbs[:len(ys)], crs[:len(ys)]
	for x, v := range ys {
		y, cb, cr := int32(v), cbs[x], crs[x]
		o := out[3*x:][:3:3]
		o[0] = clamp(y + chroma.crR[cr])
		o[1] = clamp(y + (chroma.cbG[cb]+chroma.crG[cr])>>16)
		o[2] = clamp(y + chroma.cbB[cb])
	}
}

// yccOf converts a pixel to luma and chroma.
func yccOf(r, g, b uint8) (y, cb, cr uint8) {
	R, G, B := int32(r), int32(g), int32(b)
	const middle = 128<<16 + oneHalf - 1
	return uint8((fix(0.299)*R + fix(0.587)*G + fix(0.114)*B + oneHalf) >> 16),
		uint8((-fix(0.16874)*R - fix(0.33126)*G + oneHalf*B + middle) >> 16),
		uint8((oneHalf*R - fix(0.41869)*G - fix(0.08131)*B + middle) >> 16)
}

// upsampler gives the rows of a plane in the size of the image. Planes of half the width or height are filtered by
// triangles, 3/4 of the nearer and 1/4 of the further sample, as libjpeg does it; others are repeated.
type upsampler struct {
	c      *component
	plane  []uint8
	stride int
	h, v   int // factors
	out    []uint8
	sums   []int32 // of two rows
}

func newUpsampler(c *component, plane []uint8, maxH, maxV int) upsampler {
	u := upsampler{c: c, plane: plane, stride: 8 * c.across, h: maxH / c.h, v: maxV / c.v}
	u.out = make([]uint8, u.stride*u.h)
	u.sums = make([]int32, c.width)
	return u
}

// at is a row of samples; beyond the image it is the last one.
func (u *upsampler) at(y int) []uint8 {
	return u.plane[min(max(y, 0), u.c.height-1)*u.stride:][:u.stride]
}

// row is row y of the image.
func (u *upsampler) row(y int) []uint8 {
	in, w := u.at(y/u.v), u.c.width
	wide := w > 2 // narrower planes are repeated
	other := y/u.v - 1
	if y%2 == 1 {
		other = y/u.v + 1
	}
	switch {
	case u.h == 1 && u.v == 1:
		return in
	case u.h == 2 && u.v == 1 && wide:
		out := u.out
		out[0], out[1] = in[0], uint8((3*int32(in[0])+int32(in[1])+2)>>2)
		for x := 1; x < w-1; x++ {
			v := 3 * int32(in[x])
			out[2*x], out[2*x+1] = uint8((v+int32(in[x-1])+1)>>2), uint8((v+int32(in[x+1])+2)>>2)
		}
		out[2*w-2], out[2*w-1] = uint8((3*int32(in[w-1])+int32(in[w-2])+1)>>2), in[w-1]
		return out
	case u.h == 1 && u.v == 2:
		near := u.at(other)
		bias := int32(1 + y%2)
		for x := range w {
			u.out[x] = uint8((3*int32(in[x]) + int32(near[x]) + bias) >> 2)
		}
		return u.out
	case u.h == 2 && u.v == 2 && wide:
		near, s, out := u.at(other), u.sums, u.out
		for x := range s {
			s[x] = 3*int32(in[x]) + int32(near[x])
		}
		out[0], out[1] = uint8((4*s[0]+8)>>4), uint8((3*s[0]+s[1]+7)>>4)
		for x := 1; x < w-1; x++ {
			v := 3 * s[x]
			out[2*x], out[2*x+1] = uint8((v+s[x-1]+8)>>4), uint8((v+s[x+1]+7)>>4)
		}
		out[2*w-2], out[2*w-1] = uint8((3*s[w-1]+s[w-2]+8)>>4), uint8((4*s[w-1]+7)>>4)
		return out
	}
	for x := range u.out {
		u.out[x] = in[x/u.h]
	}
	return u.out
}
