package jpeg

import (
	"encoding/binary"
	"fmt"
)

// lookBits is the length of the codes that one look in a table decodes; pairBits is that of a code together with the
// bits of the coefficient that follows it.
const (
	lookBits = 9
	pairBits = 10
)

// huffman is a table of codes (T.81, annex C).
type huffman struct {
	look    [1 << lookBits]uint16 // length << 8 | value; 0: the code is longer
	maxCode [18]int32             // largest code of each length, -1 where there is none
	offset  [17]int32             // index of the value of a code of each length, less the code
	values  []uint8
	// pairs are codes together with their coefficients: coefficient << 16 | run of zeros before it << 8 | bits of both;
	// 0: there are more bits, or the code stands for no coefficient.
	pairs [1 << pairBits]int32
}

// newHuffman makes a table from the numbers of codes of each length and their values.
func newHuffman(counts []uint8, values []uint8) (*huffman, error) {
	h := &huffman{values: values}
	code, k := int32(0), int32(0)
	for length := 1; length <= 16; length++ {
		n := int32(counts[length-1])
		if n > 0 && code+n > 1<<length {
			return nil, fmt.Errorf("%w: a table with too many codes of %d bits", ErrFormat, length)
		}
		h.offset[length], h.maxCode[length] = k-code, -1
		for range n {
			if length <= lookBits {
				from := code << (lookBits - length)
				for i := range int32(1) << (lookBits - length) {
					h.look[from+i] = uint16(length)<<8 | uint16(values[k])
				}
			}
			h.pair(code, length, values[k])
			code, k = code+1, k+1
		}
		if n > 0 {
			h.maxCode[length] = code - 1
		}
		code <<= 1
	}
	return h, nil
}

// pair fills the places of pairs that begin with a code of a run and of a coefficient of some bits.
func (h *huffman) pair(code int32, length int, value uint8) {
	run, size := int32(value>>4), int(value&15)
	left := pairBits - length - size
	if size == 0 || left < 0 {
		return
	}
	for v := range int32(1) << size {
		e := extend(v, size)<<16 | run<<8 | int32(length+size)
		places := h.pairs[(code<<size|v)<<left:][:1<<left]
		for i := range places {
			places[i] = e
		}
	}
}

// extend is the number that a value of n bits stands for (T.81, figure F.12).
func extend(v int32, n int) int32 {
	if n > 0 && v < 1<<(n-1) {
		v += -1<<n + 1
	}
	return v
}

// bits reads the bits of a scan.
type bits struct {
	data []byte
	at   int    // what follows in data
	acc  uint64 // the next n bits are its highest ones
	n    int
	end  int // bits of zero that were read past the end
}

// fill reads bytes until there are more than 55 bits. A byte 0xff is followed by 0, which is left out; anything else is
// a marker, at which the scan ends.
func (b *bits) fill() {
	if b.at+8 <= len(b.data) {
		v := binary.BigEndian.Uint64(b.data[b.at:])
		const ones, highs = 0x0101010101010101, 0x8080808080808080
		if (^v-ones)&v&highs == 0 { // none of the eight bytes is 0xff
			b.acc |= v >> b.n // the bits of a byte that does not fit as a whole are put there once more later
			b.at += (63 - b.n) >> 3
			b.n |= 56
			return
		}
	}
	b.fillSlowly()
}

func (b *bits) fillSlowly() {
	for b.n <= 56 {
		if b.at >= len(b.data) || b.data[b.at] == 0xff && (b.at+1 >= len(b.data) || b.data[b.at+1] != 0) {
			b.end += 8
			b.n += 8 // zeros, as libjpeg has it
			continue
		}
		v := b.data[b.at]
		if b.at++; v == 0xff {
			b.at++
		}
		b.acc |= uint64(v) << (56 - b.n)
		b.n += 8
	}
}

// beyond reports whether bits were used that the scan does not have.
func (b *bits) beyond() bool { return b.end > b.n }

// take reads n bits, at most 16.
func (b *bits) take(n int) int32 {
	if b.n < n {
		b.fill()
	}
	v := int32(b.acc >> (64 - n))
	b.acc <<= n
	b.n -= n
	return v
}

// signed reads a number of n bits (T.81, figure F.12).
func (b *bits) signed(n int) int32 {
	if n == 0 {
		return 0
	}
	return extend(b.take(n), n)
}

// symbol decodes a value; -1 for a code that there is not.
func (b *bits) symbol(h *huffman) int32 {
	if b.n < 16 {
		b.fill()
	}
	v, length := h.find(b.acc)
	b.acc <<= length & 63
	b.n -= int(length)
	return v
}

// find is the value of the code that is in the highest bits of acc, and the code's length; -1 for a code that there is
// not.
func (h *huffman) find(acc uint64) (value int32, length uint) {
	if e := h.look[acc>>(64-lookBits)]; e != 0 {
		return int32(e & 0xff), uint(e >> 8)
	}
	for length := lookBits + 1; length <= 16; length++ {
		code := int32(acc >> (64 - length))
		if code <= h.maxCode[length] {
			return int32(h.values[h.offset[length]+code]), uint(length)
		}
	}
	return -1, 0
}
