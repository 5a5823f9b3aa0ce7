package jpeg

import (
	"encoding/binary"
	"fmt"
	mathbits "math/bits"
)

// The tables of quantisation that T.81 gives as examples (K.1), in zigzag's natural order.
var (
	lumaQuant = [blockSize]int{16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55, 14, 13, 16, 24, 40, 57,
		69,
		56, 14, 17, 22, 29, 51, 87, 80, 62, 18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92, 49, 64,
		78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99}
	chromaQuant = [blockSize]int{17, 18, 24, 47, 99, 99, 99, 99, 18, 21, 26, 66, 99, 99, 99, 99, 24, 26, 56, 99, 99, 99,
		99, 99, 47, 66, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
		99,
		99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99}
)

// codes are the codes that T.81 gives as examples (K.3): for luma and chroma, means and others.
type codes struct {
	counts [16]uint8
	values []uint8
	code   [256]uint16
	size   [256]uint8
}

func newCodes(counts [16]uint8, values []uint8) *codes {
	c := &codes{counts: counts, values: values}
	code, k := uint16(0), 0
	for length := range counts {
		for range counts[length] {
			c.code[values[k]], c.size[values[k]] = code, uint8(length+1)
			code, k = code+1, k+1
		}
		code <<= 1
	}
	return c
}

// order lists bytes as pairs of hexadecimal digits.
func order(s string) (out []uint8) {
	for i := 0; i+1 < len(s); i += 2 {
		var v uint8
		for _, c := range []byte(s[i : i+2]) {
			v = v<<4 | (c&15 + 9*(c>>6))
		}
		out = append(out, v)
	}
	return out
}

// standard are the tables of luma and chroma, for means and for the other coefficients.
var standard = [2][2]*codes{
	{newCodes([16]uint8{0, 1, 5, 1, 1, 1, 1, 1, 1}, order("000102030405060708090a0b")),
		newCodes([16]uint8{0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 0x7d}, order(
			"01020300041105122131410613516107227114328191a1082342b1c11552d1f02433627282090a161718191a25262728292a3435363738"+
				"393a434445464748494a535455565758595a636465666768696a737475767778797a838485868788898a92939495969798999aa2a3a4"+
				"a5a6a7a8a9aab2b3b4b5b6b7b8b9bac2c3c4c5c6c7c8c9cad2d3d4d5d6d7d8d9dae1e2e3e4e5e6e7e8e9eaf1f2f3f4f5f6f7f8f9fa"))},
	{newCodes([16]uint8{0, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1}, order("000102030405060708090a0b")),
		newCodes([16]uint8{0, 2, 1, 2, 4, 4, 3, 4, 7, 5, 4, 4, 0, 1, 2, 0x77}, order(
			"000102031104052131061241510761711322328108144291a1b1c109233352f0156272d10a162434e125f11718191a262728292a3536"+
				"3738393a434445464748494a535455565758595a636465666768696a737475767778797a82838485868788898a92939495969798999a"+
				"a2a3a4a5a6a7a8a9aab2b3b4b5b6b7b8b9bac2c3c4c5c6c7c8c9cad2d3d4d5d6d7d8d9dae2e3e4e5e6e7e8e9eaf2f3f4f5f6f7f8f9fa"))},
}

// tableFor is a table for a quality from 1 to 100.
func tableFor(base *[blockSize]int, quality int) (q [blockSize]int32) {
	scale := 200 - 2*quality
	if quality < 50 {
		scale = 5000 / quality
	}
	for i, v := range base {
		q[i] = int32(min(max((v*scale+50)/100, 1), 255))
	}
	return q
}

// plane is a component that is written: samples of whole blocks.
type plane struct {
	pix          []uint8
	across, down int // blocks
	inX, inY     int // blocks that hold a part of the image
	h            int // factor of sampling, in both directions
	quant        *[blockSize]int32
	tables       *[2]*codes
	last         int32
}

// quantised are the coefficients of block i.
func (p *plane) quantised(i int) (b block) {
	stride := 8 * p.across
	d := forward(p.pix[(i/p.across)*8*stride+(i%p.across)*8:], stride)
	for k, v := range d {
		q := 8 * p.quant[k]
		if v < 0 {
			b[k] = int16(-((-v + q/2) / q))
		} else {
			b[k] = int16((v + q/2) / q)
		}
	}
	return b
}

// planesOf converts an image to the planes of a JPEG, chroma of half the width and height.
func planesOf(im *Image, quality int) []*plane {
	luma, chroma := tableFor(&lumaQuant, quality), tableFor(&chromaQuant, quality)
	if im.Bands == 1 {
		p := newPlane(ceilDiv(im.Width, 8), ceilDiv(im.Height, 8), 1, &luma, 0)
		p.each(im, func(x, y int) uint8 { return im.Pix[y*im.Width+x] })
		return []*plane{p}
	}
	ux, uy := ceilDiv(im.Width, 16), ceilDiv(im.Height, 16)
	y := newPlane(2*ux, 2*uy, 2, &luma, 0)
	full := [2]*plane{newPlane(2*ux, 2*uy, 2, &chroma, 1), newPlane(2*ux, 2*uy, 2, &chroma, 1)}
	for py := range im.Height {
		row := im.Pix[3*py*im.Width:]
		at := py * 8 * y.across
		for px := range im.Width {
			p := row[3*px:][:3:3]
			y.pix[at+px], full[0].pix[at+px], full[1].pix[at+px] = yccOf(p[0], p[1], p[2])
		}
	}
	out := []*plane{y}
	y.extend(im.Width, im.Height)
	for _, f := range full {
		f.extend(im.Width, im.Height)
		half := newPlane(ux, uy, 1, &chroma, 1)
		w, stride, rows := 8*ux, 16*ux, ceilDiv(im.Height, 2)
		for py := range rows {
			a, b := f.pix[2*py*stride:][:stride], f.pix[(2*py+1)*stride:][:stride]
			for px := range w {
				bias := uint16(1 + px%2) // rounds up and down in turns
				half.pix[py*w+px] = uint8((uint16(a[2*px]) + uint16(a[2*px+1]) + uint16(b[2*px]) + uint16(b[2*px+1]) +
					bias) >> 2)
			}
		}
		half.extend(w, rows) // below the image the last row is repeated in the smaller size, as libjpeg does it
		out = append(out, half)
	}
	return out
}

func newPlane(across, down, h int, quant *[blockSize]int32, tables int) *plane {
	return &plane{pix: make([]uint8, across*down*blockSize), across: across, down: down, h: h, quant: quant,
		tables: &standard[tables]}
}

// each sets the samples of the image and fills up the blocks.
func (p *plane) each(im *Image, at func(x, y int) uint8) {
	for y := range im.Height {
		for x := range im.Width {
			p.pix[y*8*p.across+x] = at(x, y)
		}
	}
	p.extend(im.Width, im.Height)
}

// extend repeats the last samples of width x height to fill up the blocks.
func (p *plane) extend(width, height int) {
	p.inX, p.inY = ceilDiv(width, 8), ceilDiv(height, 8)
	stride := 8 * p.across
	for y := range height {
		row := p.pix[y*stride:][:stride]
		for x := width; x < stride; x++ {
			row[x] = row[width-1]
		}
	}
	for y := height; y < 8*p.down; y++ {
		copy(p.pix[y*stride:][:stride], p.pix[(height-1)*stride:])
	}
}

// check refuses what cannot be written.
func check(im *Image, quality int) error {
	if quality < 1 || quality > 100 {
		return fmt.Errorf("jpeg: image quality should be a positive number between 1 and 100, got %d", quality)
	}
	if im.Bands != 1 && im.Bands != 3 || im.Width < 1 || im.Height < 1 || im.Width > 65500 || im.Height > 65500 ||
		len(im.Pix) != im.Bands*im.Width*im.Height {
		return fmt.Errorf("jpeg: an image of %d x %d pixels with %d bands and %d bytes cannot be written", im.Width,
			im.Height, im.Bands, len(im.Pix))
	}
	return nil
}

// Encode writes an image with a quality from 1 to 100, chroma at half the width and height, the bytes of libjpeg.
func Encode(im *Image, quality int) ([]byte, error) {
	if err := check(im, quality); err != nil {
		return nil, err
	}
	planes := planesOf(im, quality)
	e := &encoder{out: []byte{0xff, markSOI}}
	e.segment(markAPP0, []byte("JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00"))
	kinds := min(len(planes), 2)
	for i := range kinds {
		t := []byte{byte(i)}
		for _, at := range zigzag {
			t = append(t, byte(planes[i].quant[at]))
		}
		e.segment(markDQT, t)
	}
	frame := binary.BigEndian.AppendUint16([]byte{8}, uint16(im.Height))
	frame = append(binary.BigEndian.AppendUint16(frame, uint16(im.Width)), byte(len(planes)))
	scan := []byte{byte(len(planes))}
	for i, p := range planes {
		table := byte(min(i, 1))
		frame = append(frame, byte(i+1), byte(p.h<<4|p.h), table)
		scan = append(scan, byte(i+1), table<<4|table)
	}
	e.segment(markSOF0, frame)
	for i := range kinds {
		for class, c := range standard[i] {
			e.segment(markDHT, append(append([]byte{byte(class<<4 | i)}, c.counts[:]...), c.values...))
		}
	}
	e.segment(markSOS, append(scan, 0, blockSize-1, 0))
	unit := planes[0].h // blocks of luma in a unit, in each direction
	across, down := planes[0].across/unit, planes[0].down/unit
	for u := range across * down {
		for _, p := range planes {
			for y := range p.h {
				for x := range p.h {
					e.block(p, (u/across*p.h+y)*p.across+u%across*p.h+x)
				}
			}
		}
	}
	if e.n > 0 {
		e.put(0x7f, 7) // the last byte is filled up with ones
	}
	return append(e.out, 0xff, markEOI), nil
}

// Recode gives the pixels that an image has after it was written with a quality and read again. Codes, which lose
// nothing, are left out.
func Recode(im *Image, quality int) (*Image, error) {
	if err := check(im, quality); err != nil {
		return nil, err
	}
	d := &decoder{width: im.Width, height: im.Height, jfif: true, adobe: -1, maxH: 1, maxV: 1}
	planes := planesOf(im, quality)
	for i, p := range planes {
		c := component{h: p.h, v: p.h, table: uint8(min(i, 1)), across: p.across, down: p.down}
		d.maxH, d.maxV = max(d.maxH, p.h), max(d.maxV, p.h)
		c.quant = (*quantTable)(p.quant)
		c.plane = make([]uint8, 64*p.across*p.down)
		for k := range p.across * p.down {
			b := p.quantised(k)
			c.samples(&b, k%p.across, k/p.across, false)
		}
		d.comps = append(d.comps, c)
	}
	for i := range d.comps {
		c := &d.comps[i]
		c.width, c.height = ceilDiv(d.width*c.h, d.maxH), ceilDiv(d.height*c.v, d.maxV)
	}
	return d.image()
}

type encoder struct {
	out []byte
	acc uint32 // the last n bits of it are to be written
	n   int
}

func (e *encoder) segment(mark byte, body []byte) {
	e.out = append(e.out, 0xff, mark)
	e.out = append(binary.BigEndian.AppendUint16(e.out, uint16(len(body)+2)), body...)
}

// put writes the last n bits of v, at most 16.
func (e *encoder) put(v uint32, n int) {
	e.acc = e.acc<<n | v&(1<<n-1)
	for e.n += n; e.n >= 8; e.n -= 8 {
		b := byte(e.acc >> (e.n - 8))
		e.out = append(e.out, b)
		if b == 0xff {
			e.out = append(e.out, 0)
		}
	}
}

// number writes a number behind the code that gives its size, with a run of zeros before it.
func (e *encoder) number(c *codes, run int, v int32) {
	size := mathbits.Len32(uint32(max(v, -v)))
	s := run<<4 | size
	e.put(uint32(c.code[s]), int(c.size[s]))
	if v < 0 {
		v--
	}
	if size > 0 {
		e.put(uint32(v), size)
	}
}

// block writes block i. One that lies outside of the image, to fill up a unit, has the mean of the block before.
func (e *encoder) block(p *plane, i int) {
	var b block
	if i%p.across < p.inX && i/p.across < p.inY {
		b = p.quantised(i)
	} else {
		b[0] = int16(p.last)
	}
	mean := int32(b[0])
	e.number(p.tables[0], 0, mean-p.last)
	p.last = mean
	run, ac := 0, p.tables[1]
	for _, at := range zigzag[1:] {
		v := int32(b[at])
		if v == 0 {
			run++
			continue
		}
		for ; run > 15; run -= 16 {
			e.put(uint32(ac.code[0xf0]), int(ac.size[0xf0]))
		}
		e.number(ac, run, v)
		run = 0
	}
	if run > 0 {
		e.put(uint32(ac.code[0]), int(ac.size[0]))
	}
}
