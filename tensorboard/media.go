package tensorboard

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/color/palette"
	"image/draw"
	"image/gif"
	"math"
	"math/bits"
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
		return nil, fmt.Errorf("tensorboard: AddVideo: shape %v at %v frames per second, want (N, T, C, H, W) with 1 or 3 channels", s, fps)
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

// quantize keeps the colours of a frame that has at most 256 of them; others are
// dithered to a fixed palette.
func quantize(m *image.RGBA) *image.Paletted {
	index := map[color.RGBA]uint8{}
	var pal color.Palette
	out := image.NewPaletted(m.Bounds(), nil)
	for i := range out.Pix {
		p := m.Pix[i*4:]
		c := color.RGBA{p[0], p[1], p[2], p[3]}
		k, ok := index[c]
		if !ok {
			if len(pal) == 256 {
				out = image.NewPaletted(m.Bounds(), palette.Plan9)
				draw.FloydSteinberg.Draw(out, m.Bounds(), m, image.Point{})
				return out
			}
			k = uint8(len(pal))
			index[c] = k
			pal = append(pal, c)
		}
		out.Pix[i] = k
	}
	out.Palette = pal
	return out
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
		if a.Kind() == Float32 {
			s = float64(float32(v) * 32767)
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
	return &Audio{SampleRate: float32(rate), NumChannels: 1, LengthFrames: int64(n), Encoded: b, ContentType: "audio/wav"}, nil
}
