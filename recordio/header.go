package recordio

import (
	"encoding/binary"
	"fmt"
	"math"
)

// HeaderSize is the length of an encoded [IRHeader] without its label array
// (the Python struct IfQQ).
const HeaderSize = 24

// IRHeader is what MXNet stores before the picture in an image record.
//
// MXNet's label is a number or an array, and Flag tells them apart: 0 for the
// number, the array's length otherwise. Here the number is Label and the array
// is Labels; a Labels that is not nil wins. Flag is set by [Unpack] and ignored
// by [Pack], because MXNet overwrites it in the same way.
type IRHeader struct {
	Flag   uint32
	Label  float32
	Labels []float32
	ID     uint64
	ID2    uint64 // higher bits of the id, usually 0
}

// LabelValues returns the labels whichever field holds them: Labels if set, a
// slice of the one Label otherwise.
func (h IRHeader) LabelValues() []float32 {
	if h.Labels != nil {
		return h.Labels
	}
	return []float32{h.Label}
}

// Pack puts header and payload together into the bytes of one record, identical
// to mxnet.recordio.pack.
func Pack(h IRHeader, payload []byte) []byte {
	b := make([]byte, 0, HeaderSize+4*len(h.Labels)+len(payload))
	label := h.Label
	if h.Labels != nil {
		label = 0
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(len(h.Labels)))
	b = binary.LittleEndian.AppendUint32(b, math.Float32bits(label))
	b = binary.LittleEndian.AppendUint64(b, h.ID)
	b = binary.LittleEndian.AppendUint64(b, h.ID2)
	for _, v := range h.Labels {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return append(b, payload...)
}

// Unpack takes a record apart. The payload is a part of record, not a copy. A
// record shorter than its header and label array is an error.
func Unpack(record []byte) (IRHeader, []byte, error) {
	if len(record) < HeaderSize {
		return IRHeader{}, nil, fmt.Errorf("recordio: unpack: record of %d bytes, an image header needs %d",
			len(record), HeaderSize)
	}
	h := IRHeader{
		Flag:  binary.LittleEndian.Uint32(record),
		Label: math.Float32frombits(binary.LittleEndian.Uint32(record[4:])),
		ID:    binary.LittleEndian.Uint64(record[8:]),
		ID2:   binary.LittleEndian.Uint64(record[16:]),
	}
	rest := record[HeaderSize:]
	if h.Flag > 0 {
		// Compare in 64 bits: 4*Flag does not fit 32.
		if need := 4 * uint64(h.Flag); need > uint64(len(rest)) {
			return IRHeader{}, nil, fmt.Errorf("recordio: unpack: label array of %d values needs %d bytes, only %d left", h.Flag, need, len(rest))
		}
		h.Labels = make([]float32, h.Flag)
		for i := range h.Labels {
			h.Labels[i] = math.Float32frombits(binary.LittleEndian.Uint32(rest[4*i:]))
		}
		rest = rest[4*len(h.Labels):]
	}
	return h, rest, nil
}
