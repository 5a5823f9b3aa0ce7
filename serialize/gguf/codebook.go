package gguf

import (
	_ "embed"
	"encoding/binary"
	"math/bits"
	"sync"
)

// The types IQ1 to IQ3 hold places in codebooks: 8 or 4 numbers for each. The codebooks are part of the format; they were
// chosen by an optimisation that cannot be repeated here. codebooks.bin has their numbers as places in a list of a few
// values, in 2 bits for each number of IQ1 and IQ2 and in 4 for each of IQ3. testdata/make.py writes that file.
//
//go:embed codebooks.bin
var codebooks []byte

// codebook expands n entries of dim numbers at an offset in codebooks, each given by so many bits as a place in values.
func codebook(offset, n, dim, width int, values ...float32) func() []float32 {
	return sync.OnceValue(func() []float32 {
		out, per := make([]float32, n*dim), 8/width
		for i := range out {
			out[i] = values[codebooks[offset+i/per]>>(i%per*width)&(1<<width-1)]
		}
		return out
	})
}

var (
	bookIQ2XXS = codebook(0, 256, 8, 2, 8, 25, 43)
	bookIQ2XS  = codebook(512, 512, 8, 2, 8, 25, 43)
	bookIQ2S   = codebook(1536, 1024, 8, 2, 8, 25, 43)
	bookIQ3XXS = codebook(3584, 256, 4, 4, 4, 12, 20, 28, 36, 44, 52, 62)
	bookIQ3S   = codebook(4096, 512, 4, 4, 1, 3, 5, 7, 9, 11, 13, 15)
	bookIQ1    = codebook(5120, 2048, 8, 2, -1, 0, 1)
)

// signsOf makes the signs of eight numbers of seven bits: the number of minus signs is even.
func signsOf(seven uint32) byte {
	s := byte(seven & 127)
	return s | byte(bits.OnesCount8(s)&1)<<7
}

// signed sets y to entry q of a book, times scale, with minus where a bit of signs is set.
func signed(y, book []float32, q int, scale float32, signs byte) {
	for i := range y {
		v := scale * book[q*len(y)+i]
		if signs>>i&1 != 0 {
			v = -v
		}
		y[i] = v
	}
}

// iq2xxs has for 32 numbers four places of a byte, and in a word four times seven signs and a scale of four bits.
func iq2xxs(y []float32, b []byte) {
	d, book := half(b), bookIQ2XXS()
	for g := range 8 {
		q := b[2+8*g:]
		word := binary.LittleEndian.Uint32(q[4:])
		scale := d * (0.5 + float32(word>>28)) * 0.25
		for k := range 4 {
			signed(y[32*g+8*k:][:8], book, int(q[k]), scale, signsOf(word>>(7*k)))
		}
	}
}

// nibble is the i-th half of a byte, the low one first.
func nibble(b []byte, i int) float32 { return float32(b[i/2] >> (i % 2 * 4) & 15) }

// iq2xs has for 8 numbers nine bits of a place and seven signs, and for 16 a scale of four bits.
func iq2xs(y []float32, b []byte) {
	d, book := half(b), bookIQ2XS()
	for k := range 32 {
		q := uint32(binary.LittleEndian.Uint16(b[2+2*k:]))
		signed(y[8*k:][:8], book, int(q&511), d*(0.5+nibble(b[66:], k/2))*0.25, signsOf(q>>9))
	}
}

// iq2s has places of ten bits, of which two lie apart, and eight signs.
func iq2s(y []float32, b []byte) {
	d, book := half(b), bookIQ2S()
	for k := range 32 {
		q := int(b[2+k]) | int(b[66+k/4]>>(k%4*2)&3)<<8
		signed(y[8*k:][:8], book, q, d*(0.5+nibble(b[74:], k/2))*0.25, b[34+k])
	}
}

// iq3xxs has for 32 numbers eight places of four numbers, and the word of iq2xxs behind all places.
func iq3xxs(y []float32, b []byte) {
	d, book := half(b), bookIQ3XXS()
	for g := range 8 {
		word := binary.LittleEndian.Uint32(b[66+4*g:])
		scale := d * (0.5 + float32(word>>28)) * 0.5
		for k := range 8 {
			signed(y[32*g+4*k:][:4], book, int(b[2+8*g+k]), scale, signsOf(word>>(k/2*7))>>(k%2*4))
		}
	}
}

// iq3s has places of nine bits, of which one lies apart, and eight signs.
func iq3s(y []float32, b []byte) {
	d, book := half(b), bookIQ3S()
	for k := range 64 {
		q := int(b[2+k]) | int(b[66+k/8]>>(k%8)&1)<<8
		signed(y[4*k:][:4], book, q, d*(1+2*nibble(b[106:], k/8)), b[74+k/2]>>(k%2*4))
	}
}

// shifted sets eight numbers to an entry of the book of IQ1, an eighth higher or, where minus is set, lower.
func shifted(y, book []float32, q int, scale float32, minus bool) {
	delta := float32(0.125)
	if minus {
		delta = -delta
	}
	for i := range 8 {
		y[i] = scale * (book[8*q+i] + delta)
	}
}

// iq1s has for 32 numbers four places of a byte, and in a word their four times three higher bits, a scale and the sign
// of the shift.
func iq1s(y []float32, b []byte) {
	d, book := half(b), bookIQ1()
	for g := range 8 {
		word := binary.LittleEndian.Uint16(b[34+2*g:])
		scale := d * float32(2*(word>>12&7)+1)
		for k := range 4 {
			shifted(y[32*g+8*k:], book, int(b[2+4*g+k])|int(word>>(3*k)&7)<<8, scale, word>>15 != 0)
		}
	}
}

// iq1m has for 8 numbers a place of eleven bits and the sign of the shift, and for 16 a scale of three bits; the four
// words of the scales have four bits each of the scale of the block.
func iq1m(y []float32, b []byte) {
	var words [4]uint16
	var d [2]byte
	for i := range words {
		words[i] = binary.LittleEndian.Uint16(b[48+2*i:])
		d[i/2] |= byte(words[i]>>12) << (i % 2 * 4)
	}
	scale, book := half(d[:]), bookIQ1()
	for k := range 32 {
		high := b[32+k/2] >> (k % 2 * 4) & 15
		s := words[k/8] >> (k / 2 % 4 * 3) & 7
		shifted(y[8*k:], book, int(b[k])|int(high&7)<<8, scale*float32(2*s+1), high&8 != 0)
	}
}
