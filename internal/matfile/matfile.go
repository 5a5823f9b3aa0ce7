// Package matfile reads the numeric arrays of MATLAB's files of level 5, which some data sets come in: SVHN and the
// Oxford flowers. Structures, cells, objects, texts, sparse and complex arrays are left out.
//
// The format is MathWorks' "MAT-File Format": a header of 128 bytes and elements, each of which has a type, a size and
// data that are padded to 8 bytes; an element may hold others that zlib has compressed.
package matfile

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
)

// ErrFormat is wrapped by all errors about the contents of a file.
var ErrFormat = errors.New("malformed MATLAB file")

func bad(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrFormat, fmt.Sprintf(format, args...))
}

// Array is a numeric array; the first index varies fastest.
type Array struct {
	Dims []int
	// Bytes are the elements where they are stored as bytes, else nil.
	Bytes []uint8
	// Numbers are the elements where they are stored as anything else, else nil.
	Numbers []float64
}

// Len is the number of elements.
func (a *Array) Len() int { return max(len(a.Bytes), len(a.Numbers)) }

// At is element i.
func (a *Array) At(i int) float64 {
	if a.Bytes != nil {
		return float64(a.Bytes[i])
	}
	return a.Numbers[i]
}

// Types of elements.
const (
	typeInt8       = 1
	typeUint8      = 2
	typeInt32      = 5
	typeUint32     = 6
	typeMatrix     = 14
	typeCompressed = 15
)

// sizes are the bytes of a number by the type of its element: int8, uint8, int16, uint16, int32, uint32, float32,
// float64, int64, uint64.
var sizes = map[uint32]int{1: 1, 2: 1, 3: 2, 4: 2, 5: 4, 6: 4, 7: 4, 9: 8, 12: 8, 13: 8}

// maxRatio is how much larger than the file its contents can be: the best that Deflate does.
const maxRatio = 1040

// ReadFile reads the numeric arrays of a file by their names.
func ReadFile(path string) (map[string]*Array, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	arrays, err := Read(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return arrays, nil
}

// Read reads the numeric arrays of a file's bytes by their names.
func Read(data []byte) (map[string]*Array, error) {
	const header = 128
	if len(data) < header {
		return nil, bad("%d bytes, the header alone has %d", len(data), header)
	}
	r := reader{out: map[string]*Array{}, left: maxRatio * len(data)}
	switch string(data[126:128]) {
	case "IM":
		r.order = binary.LittleEndian
	case "MI":
		r.order = binary.BigEndian
	default:
		return nil, bad("no mark of the order of bytes; only files of level 5 are read")
	}
	return r.out, r.elements(data[header:], true)
}

type reader struct {
	order binary.ByteOrder
	out   map[string]*Array
	left  int // bytes that may still be inflated
}

// element cuts the next element off.
func (r *reader) element(b []byte) (kind uint32, data, rest []byte, err error) {
	if len(b) < 8 {
		return 0, nil, nil, bad("it ends within the head of an element")
	}
	kind = r.order.Uint32(b)
	if size := kind >> 16; size != 0 { // small data stand in the head itself
		if size > 4 {
			return 0, nil, nil, bad("a small element of %d bytes", size)
		}
		return kind & 0xffff, b[4 : 4+size], b[8:], nil
	}
	size := r.order.Uint32(b[4:])
	b = b[8:]
	if uint64(size) > uint64(len(b)) {
		return 0, nil, nil, bad("an element of %d bytes, %d are left", size, len(b))
	}
	padded := int(size)
	if kind != typeCompressed {
		padded = min((padded+7)&^7, len(b))
	}
	return kind, b[:size], b[padded:], nil
}

// elements reads elements one behind the other.
func (r *reader) elements(b []byte, packed bool) error {
	for len(b) > 0 {
		kind, data, rest, err := r.element(b)
		if err != nil {
			return err
		}
		switch {
		case kind == typeMatrix:
			err = r.matrix(data)
		case kind == typeCompressed && packed:
			err = r.inflate(data)
		}
		if err != nil {
			return err
		}
		b = rest
	}
	return nil
}

func (r *reader) inflate(data []byte) error {
	z, err := zlib.NewReader(bytes.NewReader(data))
	if err != nil {
		return bad("zlib: %v", err)
	}
	b, err := io.ReadAll(io.LimitReader(z, int64(r.left)+1))
	if err != nil {
		return bad("zlib: %v", err)
	}
	if r.left -= len(b); r.left < 0 {
		return bad("it unpacks to too much")
	}
	return r.elements(b, false)
}

// matrix reads an array: its flags, sizes, name and numbers. Classes that are not numeric are left out.
func (r *reader) matrix(b []byte) error {
	const firstNumeric, lastNumeric, complexFlag = 6, 15, 0x800
	kind, flags, b, err := r.element(b)
	if err != nil {
		return err
	}
	if kind != typeUint32 || len(flags) < 8 {
		return bad("an array without flags")
	}
	f := r.order.Uint32(flags)
	if class := f & 0xff; class < firstNumeric || class > lastNumeric || f&complexFlag != 0 {
		return nil
	}
	kind, dims, b, err := r.element(b)
	if err != nil {
		return err
	}
	if kind != typeInt32 || len(dims)%4 != 0 || len(dims) > 4*64 {
		return bad("an array without sizes")
	}
	a, n := &Array{}, 1
	for ; len(dims) > 0; dims = dims[4:] {
		d := int(int32(r.order.Uint32(dims)))
		if d < 0 || d > 0 && n > math.MaxInt32/d {
			return bad("sizes out of range")
		}
		a.Dims, n = append(a.Dims, d), n*d
	}
	_, name, b, err := r.element(b)
	if err != nil {
		return err
	}
	kind, data, _, err := r.element(b)
	if err != nil {
		return err
	}
	if size := sizes[kind]; size == 0 || len(data) != n*size {
		return bad("array %.64q has sizes %v and %d bytes of type %d", name, a.Dims, len(data), kind)
	}
	if kind == typeUint8 {
		a.Bytes = bytes.Clone(data)
	} else {
		a.Numbers = r.numbers(kind, data)
	}
	r.out[string(name)] = a
	return nil
}

func (r *reader) numbers(kind uint32, b []byte) []float64 {
	size := sizes[kind]
	out := make([]float64, len(b)/size)
	for i := range out {
		e := b[i*size:]
		switch kind {
		case typeInt8:
			out[i] = float64(int8(e[0]))
		case 3:
			out[i] = float64(int16(r.order.Uint16(e)))
		case 4:
			out[i] = float64(r.order.Uint16(e))
		case typeInt32:
			out[i] = float64(int32(r.order.Uint32(e)))
		case typeUint32:
			out[i] = float64(r.order.Uint32(e))
		case 7:
			out[i] = float64(math.Float32frombits(r.order.Uint32(e)))
		case 9:
			out[i] = math.Float64frombits(r.order.Uint64(e))
		case 12:
			out[i] = float64(int64(r.order.Uint64(e)))
		case 13:
			out[i] = float64(r.order.Uint64(e))
		}
	}
	return out
}
