package jpeg

import (
	"encoding/binary"
	"fmt"
)

// lookBits is the length of the codes that one look in a table decodes.
const lookBits = 9

// huffman is a table of codes (T.81, annex C).
type huffman struct {
	look    [1 << lookBits]uint16 // length << 8 | value; 0: the code is longer
	maxCode [18]int32             // largest code of each length, -1 where there is none
	offset  [17]int32             // index of the value of a code of each length, less the code
	values  []uint8
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
			code, k = code+1, k+1
		}
		if n > 0 {
			h.maxCode[length] = code - 1
		}
		code <<= 1
	}
	return h, nil
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
	v := b.take(n)
	if v < 1<<(n-1) {
		v += -1<<n + 1
	}
	return v
}

// symbol decodes a value; -1 for a code that there is not.
func (b *bits) symbol(h *huffman) int32 {
	if b.n < 16 {
		b.fill()
	}
	if e := h.look[b.acc>>(64-lookBits)]; e != 0 {
		b.acc <<= e >> 8
		b.n -= int(e >> 8)
		return int32(e & 0xff)
	}
	for length := lookBits + 1; length <= 16; length++ {
		code := int32(b.acc >> (64 - length))
		if code <= h.maxCode[length] {
			b.acc <<= length
			b.n -= length
			return int32(h.values[h.offset[length]+code])
		}
	}
	return -1
}
