package tensorboard

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"math"
	"math/bits"
	"slices"
)

// makeVideo encodes an array of shape (N, T, C, H, W) as an animated GIF. The N
// videos play side by side in a grid; N is filled up to a power of two.
func makeVideo(a Array, fps float64) (*Image, error) {
	if err := check("AddVideo", a, 5); err != nil {
		return nil, err
	}
	if fps == 0 {
		fps = 4
	}
	s := a.Shape()
	n, t, c, h, w := s[0], s[1], s[2], s[3], s[4]
	if n*t*h*w == 0 || c != 1 && c != 3 || !(fps > 0) {
		return nil, fmt.Errorf("tensorboard: AddVideo: shape %v at %v frames per second, want (N, T, C, H, W) with 1 "+
			"or 3 channels", s, fps)
	}
	rows := 1 << ((bits.Len(uint(n)) - 1) / 2)
	padded := 1 << bits.Len(uint(n-1))
	cols := padded / rows
	if rows*h > maxPixels/(cols*w) {
		return nil, fmt.Errorf("tensorboard: AddVideo: shape %v is too large", s)
	}
	data, kind := a.Float64s(), a.Kind()
	at := func(v float64) uint8 {
		if kind == Uint8 {
			// Python's writer divides by 255 and multiplies again; truncation
			// then lowers some values by one.
			return uint8(float32(v) / 255 * 255)
		}
		return toByte(kind, v)
	}
	g := &gif.GIF{}
	delay := int(math.Round(100 / fps))
	for f := range t {
		m := image.NewRGBA(image.Rect(0, 0, cols*w, rows*h))
		draw.Draw(m, m.Bounds(), image.Black, image.Point{}, draw.Src)
		for i := range n {
			plane := func(k int) []float64 { return data[((i*t+f)*c+min(k, c-1))*h*w:][:h*w] }
			r, gr, b := plane(0), plane(1), plane(2)
			for y := range h {
				for x := range w {
					j := y*w + x
					m.SetRGBA(i%cols*w+x, i/cols*h+y, color.RGBA{at(r[j]), at(gr[j]), at(b[j]), 255})
				}
			}
		}
		g.Image = append(g.Image, quantize(m))
		g.Delay = append(g.Delay, delay)
	}
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, g); err != nil {
		return nil, fmt.Errorf("tensorboard: AddVideo: %w", err)
	}
	return &Image{Height: int32(rows * h), Width: int32(cols * w), Colorspace: int32(c), Encoded: b.Bytes()}, nil
}

// quantize reduces a frame to at most 256 colours: its own if they are no more,
// else the means of the boxes of a median cut (Heckbert, "Color image
// quantization for frame buffer display", 1982).
func quantize(m *image.RGBA) *image.Paletted {
	counts := map[[3]uint8]int{}
	for i := 0; i < len(m.Pix); i += 4 {
		counts[[3]uint8(m.Pix[i:i+3])]++
	}
	colors := make([]colorCount, 0, len(counts))
	for c, n := range counts {
		colors = append(colors, colorCount{c, n})
	}
	// Maps have no order; equal frames shall give equal files.
	slices.SortFunc(colors, func(a, b colorCount) int { return slices.Compare(a.c[:], b.c[:]) })
	boxes := []colorBox{newColorBox(colors)}
	for len(boxes) < 256 {
		best := 0
		for i, b := range boxes {
			if b.weight > boxes[best].weight {
				best = i
			}
		}
		b := boxes[best]
		if b.weight == 0 { // one colour in each
			break
		}
		slices.SortFunc(b.colors, func(x, y colorCount) int { return cmp.Compare(x.c[b.axis], y.c[b.axis]) })
		half, k := 0, 0
		for k < len(b.colors)-1 && (k == 0 || 2*(half+b.colors[k].n) <= b.total) {
			half += b.colors[k].n
			k++
		}
		boxes[best] = newColorBox(b.colors[:k])
		boxes = append(boxes, newColorBox(b.colors[k:]))
	}
	out := image.NewPaletted(m.Bounds(), nil)
	index := make(map[[3]uint8]uint8, len(colors))
	for i, b := range boxes {
		var sum [3]int
		for _, c := range b.colors {
			index[c.c] = uint8(i)
			for k := range sum {
				sum[k] += c.n * int(c.c[k])
			}
		}
		mean := func(k int) uint8 { return uint8((sum[k] + b.total/2) / b.total) }
		out.Palette = append(out.Palette, color.RGBA{mean(0), mean(1), mean(2), 255})
	}
	for i := range out.Pix {
		out.Pix[i] = index[[3]uint8(m.Pix[4*i:4*i+3])]
	}
	return out
}

type colorCount struct {
	c [3]uint8
	n int
}

// colorBox is a set of colours, to be cut along its longest axis.
type colorBox struct {
	colors       []colorCount
	total        int // pixels
	axis, weight int // weight: which box to cut next; 0: it cannot be cut
}

func newColorBox(colors []colorCount) colorBox {
	b := colorBox{colors: colors}
	lo, hi := [3]uint8{255, 255, 255}, [3]uint8{}
	for _, c := range colors {
		b.total += c.n
		for k, v := range c.c {
			lo[k], hi[k] = min(lo[k], v), max(hi[k], v)
		}
	}
	side := 0
	for k := range lo {
		if s := int(hi[k]) - int(lo[k]); s > side {
			side, b.axis = s, k
		}
	}
	b.weight = side * side * b.total
	return b
}

// makeAudio encodes a vector of samples in -1…1 as a WAV of 16 bits; louder
// samples are clipped.
func makeAudio(a Array, rate int) (*Audio, error) {
	if err := check("AddAudio", a, -1); err != nil {
		return nil, err
	}
	if rate == 0 {
		rate = 44100
	}
	n, long := 1, 0
	for _, d := range a.Shape() {
		if d != 1 {
			n, long = d, long+1
		}
	}
	if long > 1 || n == 0 || rate < 0 {
		return nil, fmt.Errorf("tensorboard: AddAudio: shape %v at %d Hz, want a vector of samples", a.Shape(), rate)
	}
	pcm := make([]byte, 0, 2*n)
	for _, v := range a.Float64s() {
		v = min(max(v, -1), 1)
		// The product is taken in the precision of the samples.
		s := v * 32767
		switch a.Kind() {
		case Float32:
			s = float64(float32(v) * 32767)
		case Float16, BFloat16: // whose nearest number to 32767 is 32768
			s = min(v*32768, 32767)
		}
		if s != s {
			s = 0
		}
		pcm = binary.LittleEndian.AppendUint16(pcm, uint16(int16(s)))
	}
	le := binary.LittleEndian
	b := append([]byte{}, "RIFF"...)
	b = le.AppendUint32(b, uint32(36+len(pcm)))
	b = append(b, "WAVEfmt "...)
	b = le.AppendUint32(b, 16)
	b = le.AppendUint16(b, 1) // PCM
	b = le.AppendUint16(b, 1) // one channel
	b = le.AppendUint32(b, uint32(rate))
	b = le.AppendUint32(b, uint32(2*rate))
	b = le.AppendUint16(b, 2)
	b = le.AppendUint16(b, 16)
	b = append(b, "data"...)
	b = le.AppendUint32(b, uint32(len(pcm)))
	b = append(b, pcm...)
	return &Audio{SampleRate: float32(rate), NumChannels: 1, LengthFrames: int64(n), Encoded: b,
		ContentType: "audio/wav"}, nil
}
