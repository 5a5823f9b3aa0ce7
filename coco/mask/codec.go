package mask

import (
	"fmt"
	"math"
)

// The compressed text stores, for the first three runs, their lengths and for
// every later run the difference to the run before the previous one (runs of
// neighbouring columns resemble each other). Each signed number is cut into
// groups of five bits, lowest first; a character is 48 + the group, + 32 while
// more groups follow, and bit 4 of the last group is the sign.

// CountsString returns the compressed text of r's runs, the "counts" of a COCO
// file. Byte for byte as pycocotools writes it.
func (r RLE) CountsString() string {
	// Most runs take one or two characters.
	out := make([]byte, 0, 2*len(r.Counts)+8)
	for i, c := range r.Counts {
		x := int64(c)
		if i > 2 {
			x -= int64(r.Counts[i-2])
		}
		for {
			g := byte(x & 0x1f)
			x >>= 5
			// Finished when what is left is only the sign that g's bit 4 shows.
			if (g&0x10 == 0 && x == 0) || (g&0x10 != 0 && x == -1) {
				out = append(out, g+48)
				break
			}
			out = append(out, (g|0x20)+48)
		}
	}
	return string(out)
}

// Parse reads the compressed text of a mask of h rows and w columns. It fails
// on characters and numbers that no encoder writes, and where the runs do not
// cover h×w pixels. It allocates in proportion to the text, not to h×w.
func Parse(h, w int, counts string) (RLE, error) {
	if err := checkSize("Parse", h, w); err != nil {
		return RLE{}, err
	}
	want := int64(h) * int64(w)
	// The number of runs is the number of last groups.
	n := 0
	for i := 0; i < len(counts); i++ {
		c := counts[i] - 48
		if c > 63 {
			return RLE{}, fmt.Errorf("mask: Parse: counts: character %q at %d is not part of the encoding", counts[i],
				i)
		}
		if c&0x20 == 0 {
			n++
		}
	}
	out := make([]uint32, 0, n)
	total := int64(0)
	for p := 0; p < len(counts); {
		start := p
		x, shift := int64(0), 0
		for {
			if p == len(counts) {
				return RLE{}, fmt.Errorf("mask: Parse: counts ends inside a number")
			}
			c := int64(counts[p] - 48)
			// 7 groups hold 35 bits: more than any run needs.
			if shift > 30 {
				return RLE{}, fmt.Errorf("mask: Parse: counts: the number at %d is too long", start)
			}
			x |= (c & 0x1f) << shift
			shift += 5
			p++
			if c&0x20 == 0 {
				if c&0x10 != 0 {
					x |= -1 << shift
				}
				break
			}
		}
		if len(out) > 2 {
			x += int64(out[len(out)-2])
		}
		if x < 0 || x > math.MaxUint32 {
			return RLE{}, fmt.Errorf("mask: Parse: counts: run %d has the length %d", len(out), x)
		}
		total += x
		if total > want {
			return RLE{}, fmt.Errorf("mask: Parse: counts: the runs cover more than the %d pixels of a %d x %d mask",
				want, h, w)
		}
		out = append(out, uint32(x))
	}
	if total != want {
		return RLE{}, fmt.Errorf("mask: Parse: counts: the runs cover %d pixels, a %d x %d mask has %d", total, h, w,
			want)
	}
	return RLE{H: h, W: w, Counts: out}, nil
}

// FromCounts makes an RLE of uncompressed run lengths, the list form of
// "counts" in COCO files. It fails where they are negative or do not cover
// h×w pixels.
func FromCounts(h, w int, counts []int) (RLE, error) {
	if err := checkSize("FromCounts", h, w); err != nil {
		return RLE{}, err
	}
	r := RLE{H: h, W: w, Counts: make([]uint32, len(counts))}
	for i, c := range counts {
		if c < 0 || c > MaxPixels {
			return RLE{}, fmt.Errorf("mask: FromCounts: run %d has the length %d", i, c)
		}
		r.Counts[i] = uint32(c)
	}
	if err := r.Validate(); err != nil {
		return RLE{}, err
	}
	return r, nil
}
