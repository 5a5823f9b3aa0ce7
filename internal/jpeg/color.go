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
	done := rgbFast(out, ys, cbs, crs)
	for x := done; x < len(ys); x++ {
		y, cb, cr := int32(ys[x]), cbs[x], crs[x]
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
	c    *component
	h, v int // factors
	out  []uint8
	sums []int16 // of two rows, with one more on both sides
}

func newUpsampler(c *component, maxH, maxV int) upsampler {
	u := upsampler{c: c, h: maxH / c.h, v: maxV / c.v}
	if u.h > 1 || u.v > 1 {
		u.out = make([]uint8, c.stride()*u.h)
		u.sums = make([]int16, c.width+2)
	}
	return u
}

// at is a row of samples; beyond the image it is the last one.
func (u *upsampler) at(y int) []uint8 {
	return u.c.plane[min(max(y, 0), u.c.height-1)*u.c.stride():][:u.c.stride()]
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
		for x, v := range in[:w] {
			u.sums[1+x] = int16(v)
		}
		u.spread(1, 2, 2)
		return u.out
	case u.h == 1 && u.v == 2:
		near := u.at(other)
		bias := int32(1 + y%2)
		for x := range w {
			u.out[x] = uint8((3*int32(in[x]) + int32(near[x]) + bias) >> 2)
		}
		return u.out
	case u.h == 2 && u.v == 2 && wide:
		weighRows(u.sums[1:], in[:w], u.at(other)[:w])
		u.spread(8, 7, 4)
		return u.out
	}
	for x := range u.out {
		u.out[x] = in[x/u.h]
	}
	return u.out
}

// spread filters the sums to a row of twice the width: each gives two samples, in which it weighs 3 and its left or
// right neighbour 1, plus left or right, without the last bits. At both ends the sum is its own neighbour.
func (u *upsampler) spread(left, right int16, bits uint) {
	w := u.c.width
	s := u.sums[:w+2]
	s[0], s[w+1] = s[1], s[w]
	for x := spreadFast(u.out, u.sums, w, left, right, bits); x < w; x++ {
		v := 3 * s[x+1]
		u.out[2*x], u.out[2*x+1] = uint8((v+s[x]+left)>>bits), uint8((v+s[x+2]+right)>>bits)
	}
}

// weighRows sets sums[x] to 3·near[x] + far[x].
func weighRows(sums []int16, near, far []uint8) {
	far = far[:len(near)]
	for x := weighFast(sums, near, far); x < len(near); x++ {
		sums[x] = 3*int16(near[x]) + int16(far[x])
	}
}
