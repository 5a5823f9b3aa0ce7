package jpeg

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// component is a plane of samples, of which chroma may have fewer.
type component struct {
	id     uint8
	h, v   int // factors of sampling
	table  uint8
	width  int // samples of the image, without those that fill up blocks
	height int
	across int // blocks of a row, with those that fill up the last unit
	down   int
	quant  *quantTable // the one that the first scan of the component finds
	coeffs []block     // of a progressive image
	plane  []uint8     // samples, rows of stride
}

func (c *component) stride() int { return 8 * c.across }

// samples computes the samples of the block in column x and row y of blocks; flat: all coefficients but the mean are
// zero.
func (c *component) samples(b *block, x, y int, flat bool) {
	dst := c.plane[y*8*c.stride()+8*x:]
	if flat {
		fillBlock(dst, c.stride(), b[0], c.quant[0])
	} else {
		inverse(b, c.quant, dst, c.stride())
	}
}

// quantTable is a table of quantisation in the order of rows.
type quantTable [blockSize]int32

type decoder struct {
	size          int    // of the file
	data          []byte // what follows
	width, height int
	progressive   bool
	comps         []component
	maxH, maxV    int
	quant         [4]*quantTable
	dc, ac        [4]*huffman
	restart       int // units between restart markers; 0: none
	jfif          bool
	adobe         int // its transform, -1 where there is no mark
	scans         int
}

func bad(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrFormat, fmt.Sprintf(format, args...))
}

// maxScans bounds the passes over an image that a small file can ask for; ten are usual.
const maxScans = 200

// maxRatio is the largest number of pixels for a byte of a file that has many: some bits for a block of 16x16.
const maxRatio = 8300

// Decode reads an image. One that claims to have many more pixels than its bytes can hold is refused; beyond that the
// caller bounds the size, which image.DecodeConfig tells.
func Decode(data []byte) (*Image, error) {
	d := &decoder{size: len(data), adobe: -1}
	if len(data) < 2 || data[0] != 0xff || data[1] != markSOI {
		return nil, bad("it does not begin with the mark of an image")
	}
	d.data = data[2:]
	for {
		mark, body, err := d.segment()
		if err != nil {
			return nil, err
		}
		switch {
		case mark == markEOI:
			if d.scans == 0 {
				return nil, bad("it has no scan")
			}
			return d.image()
		case mark == markSOF0 || mark == markSOF1 || mark == markSOF2:
			d.progressive = mark == markSOF2
			err = d.frame(body)
		case mark >= 0xc3 && mark <= 0xcf && mark != markDHT && mark != 0xc8 && mark != 0xcc:
			err = fmt.Errorf("jpeg: %w: frame of type %#x", ErrUnsupported, mark)
		case mark == markDHT:
			err = d.huffmanTables(body)
		case mark == markDQT:
			err = d.quantTables(body)
		case mark == markDRI:
			if len(body) < 2 {
				return nil, bad("a short interval of restarts")
			}
			d.restart = int(binary.BigEndian.Uint16(body))
		case mark == markAPP0 && bytes.HasPrefix(body, []byte("JFIF\x00")):
			d.jfif = true
		case mark == markAPP14 && bytes.HasPrefix(body, []byte("Adobe")) && len(body) >= 12:
			d.adobe = int(body[11])
		case mark == markSOS:
			err = d.scan(body)
		}
		if err != nil {
			return nil, err
		}
	}
}

// segment finds the next marker and what belongs to it.
func (d *decoder) segment() (mark uint8, body []byte, err error) {
	i := bytes.IndexByte(d.data, 0xff) // bytes before it are no error to libjpeg
	if i < 0 {
		return 0, nil, bad("it ends without a mark")
	}
	b := d.data[i:]
	for len(b) > 0 && b[0] == 0xff {
		b = b[1:]
	}
	if len(b) == 0 {
		return 0, nil, bad("it ends within a mark")
	}
	mark, b = b[0], b[1:]
	if mark == 0 || mark == 1 || mark >= markRST0 && mark <= markEOI {
		d.data = b
		return mark, nil, nil
	}
	if len(b) < 2 {
		return 0, nil, bad("it ends within a segment")
	}
	n := int(binary.BigEndian.Uint16(b))
	if n < 2 || n > len(b) {
		return 0, nil, bad("a segment of %d bytes, %d are left", n, len(b))
	}
	d.data = b[n:]
	return mark, b[2:n], nil
}

// frame reads the sizes of the image and of its components (T.81, B.2.2).
func (d *decoder) frame(b []byte) error {
	if d.comps != nil {
		return bad("it has two frames")
	}
	if len(b) < 6 || len(b) < 6+3*int(b[5]) {
		return bad("a short frame")
	}
	if b[0] != 8 {
		return fmt.Errorf("jpeg: %w: samples of %d bits", ErrUnsupported, b[0])
	}
	d.height, d.width = int(binary.BigEndian.Uint16(b[1:])), int(binary.BigEndian.Uint16(b[3:]))
	if d.width == 0 || d.height == 0 {
		return bad("an image of %d x %d pixels", d.width, d.height)
	}
	if d.width*d.height > max(1<<22, maxRatio*d.size) {
		return bad("%d bytes claim to be an image of %d x %d pixels", d.size, d.width, d.height)
	}
	n := int(b[5])
	if n != 1 && n != 3 {
		return fmt.Errorf("jpeg: %w: %d components", ErrUnsupported, n)
	}
	comps := make([]component, n)
	for i := range comps {
		c, f := &comps[i], b[6+3*i:]
		c.id, c.h, c.v, c.table = f[0], int(f[1]>>4), int(f[1]&15), f[2]
		if c.h < 1 || c.h > 4 || c.v < 1 || c.v > 4 || c.table > 3 {
			return bad("component %d has sampling %d x %d and table %d", i, c.h, c.v, c.table)
		}
		d.maxH, d.maxV = max(d.maxH, c.h), max(d.maxV, c.v)
	}
	for i := range comps {
		c := &comps[i]
		if d.maxH%c.h != 0 || d.maxV%c.v != 0 {
			return fmt.Errorf("jpeg: %w: sampling of %d x %d of %d x %d", ErrUnsupported, c.h, c.v, d.maxH, d.maxV)
		}
		c.width, c.height = ceilDiv(d.width*c.h, d.maxH), ceilDiv(d.height*c.v, d.maxV)
		c.across, c.down = ceilDiv(d.width, 8*d.maxH)*c.h, ceilDiv(d.height, 8*d.maxV)*c.v
		if d.progressive {
			c.coeffs = make([]block, c.across*c.down)
		} else {
			c.plane = make([]uint8, 64*c.across*c.down)
		}
	}
	d.comps = comps
	return nil
}

func (d *decoder) quantTables(b []byte) error {
	for len(b) > 0 {
		id, wide := b[0]&15, b[0]>>4
		size := blockSize << wide
		if id > 3 || wide > 1 || len(b) < 1+size {
			return bad("a table of quantisation with number %d and %d bytes", id, len(b)-1)
		}
		t := &quantTable{}
		for i, at := range zigzag {
			if wide == 1 {
				t[at] = int32(binary.BigEndian.Uint16(b[1+2*i:]))
			} else {
				t[at] = int32(b[1+i])
			}
		}
		d.quant[id], b = t, b[1+size:]
	}
	return nil
}

func (d *decoder) huffmanTables(b []byte) error {
	for len(b) > 0 {
		if len(b) < 17 {
			return bad("a short table of codes")
		}
		n := 0
		for _, c := range b[1:17] {
			n += int(c)
		}
		id, class := b[0]&15, b[0]>>4
		if n > 256 || len(b) < 17+n || id > 3 || class > 1 {
			return bad("table %d of class %d with %d codes", id, class, n)
		}
		h, err := newHuffman(b[1:17], b[17:17+n])
		if err != nil {
			return err
		}
		if class == 0 {
			d.dc[id] = h
		} else {
			d.ac[id] = h
		}
		b = b[17+n:]
	}
	return nil
}

// image computes the pixels.
func (d *decoder) image() (*Image, error) {
	for i := range d.comps {
		c := &d.comps[i]
		switch {
		case c.quant == nil: // no scan has it: grey
			c.plane = bytes.Repeat([]byte{128}, 64*c.across*c.down)
		case c.coeffs != nil:
			c.plane = make([]uint8, 64*c.across*c.down)
			for k := range c.coeffs {
				c.samples(&c.coeffs[k], k%c.across, k/c.across, false)
			}
			c.coeffs = nil
		}
	}
	im := &Image{Width: d.width, Height: d.height, Bands: len(d.comps)}
	if im.Bands == 1 {
		im.Pix = make([]uint8, d.width*d.height)
		for y := range d.height {
			copy(im.Pix[y*d.width:][:d.width], d.comps[0].plane[y*d.comps[0].stride():])
		}
		return im, nil
	}
	im.Pix = make([]uint8, 3*d.width*d.height)
	ups := make([]upsampler, 3)
	for i := range ups {
		ups[i] = newUpsampler(&d.comps[i], d.maxH, d.maxV)
	}
	convert := d.isYCC()
	for y := range d.height {
		a, b, c := ups[0].row(y), ups[1].row(y), ups[2].row(y)
		out := im.Pix[3*y*d.width:][:3*d.width]
		if convert {
			rgbRow(out, a[:d.width], b[:d.width], c[:d.width])
			continue
		}
		for x := range d.width {
			out[3*x], out[3*x+1], out[3*x+2] = a[x], b[x], c[x]
		}
	}
	return im, nil
}

// isYCC reports whether three components are luma and chroma, by libjpeg's rules.
func (d *decoder) isYCC() bool {
	switch {
	case d.jfif:
		return true
	case d.adobe >= 0:
		return d.adobe != 0
	}
	return d.comps[0].id != 'R' || d.comps[1].id != 'G' || d.comps[2].id != 'B'
}
