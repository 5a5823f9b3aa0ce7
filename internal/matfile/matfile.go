// Package matfile reads the arrays of MATLAB's files of level 5, which some data sets come in: numeric and sparse arrays,
// texts, cells and structures. Objects, functions and complex arrays are left out.
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
	"unicode/utf16"
)

// ErrFormat is wrapped by all errors about the contents of a file.
var ErrFormat = errors.New("malformed MATLAB file")

func bad(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrFormat, fmt.Sprintf(format, args...))
}

// Array is an array of any class; the first index varies fastest. Exactly one of Bytes, Numbers, Text, Cells, Fields and
// Sparse belongs to an array that is not empty.
type Array struct {
	Dims []int
	// Bytes are the elements where they are stored as bytes, else nil.
	Bytes []uint8
	// Numbers are the elements where they are stored as anything else, else nil.
	Numbers []float64
	// Text is an array of characters. Those of several rows stand column by column.
	Text string
	// Cells are the elements of a cell array.
	Cells []*Array
	// Fields are, by name, the fields of the elements of an array of structures.
	Fields map[string][]*Array
	// Sparse is an array of two dimensions of which most elements are zero.
	Sparse *Sparse

	n int
}

// Sparse has the elements that are not zero column by column: those of column j are Rows[Start[j]:Start[j+1]], with the
// numbers of the same places.
type Sparse struct {
	Rows, Start []int32
	Numbers     []float64
}

// Len is the number of elements.
func (a *Array) Len() int { return a.n }

// At is element i of a numeric array, NaN in an array of another class.
func (a *Array) At(i int) float64 {
	switch {
	case a.Bytes != nil:
		return float64(a.Bytes[i])
	case a.Numbers != nil:
		return a.Numbers[i]
	}
	return math.NaN()
}

// Types of elements.
const (
	typeInt8       = 1
	typeUint8      = 2
	typeUint16     = 4
	typeInt32      = 5
	typeUint32     = 6
	typeMatrix     = 14
	typeCompressed = 15
	typeUTF8       = 16
	typeUTF16      = 17
)

// Classes of arrays; those from classNumeric to classLast are numeric.
const (
	classCell    = 1
	classStruct  = 2
	classChar    = 4
	classSparse  = 5
	classNumeric = 6
	classLast    = 15
)

// maxDepth bounds cells in cells.
const maxDepth = 32

// sizes are the bytes of a number by the type of its element: int8, uint8, int16, uint16, int32, uint32, float32,
// float64, int64, uint64.
var sizes = map[uint32]int{1: 1, 2: 1, 3: 2, 4: 2, 5: 4, 6: 4, 7: 4, 9: 8, 12: 8, 13: 8}

// maxRatio is how much larger than the file its contents can be: the best that Deflate does.
const maxRatio = 1040

// ReadFile reads the arrays of a file by their names.
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

// Read reads the arrays of a file's bytes by their names.
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
			var name string
			var a *Array
			if name, a, err = r.matrix(data, 0); err == nil && a != nil {
				r.out[name] = a
			}
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

// matrix reads an array: its flags, sizes, name and contents. One of a class that is left out is nil.
func (r *reader) matrix(b []byte, depth int) (string, *Array, error) {
	const complexFlag = 0x800
	if len(b) == 0 { // an empty cell
		return "", &Array{Dims: []int{0, 0}}, nil
	}
	kind, flags, b, err := r.element(b)
	if err != nil {
		return "", nil, err
	}
	if kind != typeUint32 || len(flags) < 8 {
		return "", nil, bad("an array without flags")
	}
	f := r.order.Uint32(flags)
	kind, dims, b, err := r.element(b)
	if err != nil {
		return "", nil, err
	}
	if kind != typeInt32 || len(dims)%4 != 0 || len(dims) > 4*64 {
		return "", nil, bad("an array without sizes")
	}
	a := &Array{n: 1}
	for ; len(dims) > 0; dims = dims[4:] {
		d := int(int32(r.order.Uint32(dims)))
		if d < 0 || d > 0 && a.n > math.MaxInt32/d {
			return "", nil, bad("sizes out of range")
		}
		a.Dims, a.n = append(a.Dims, d), a.n*d
	}
	_, name, b, err := r.element(b)
	if err != nil {
		return "", nil, err
	}
	class := f & 0xff
	switch {
	case depth > maxDepth:
		err = bad("cells in cells, %d times", depth)
	case f&complexFlag != 0:
		a = nil
	case class == classCell:
		a.Cells, err = r.cells(b, a.n, depth)
	case class == classStruct:
		err = r.fields(a, b, depth)
	case class == classChar:
		err = r.text(a, b)
	case class == classSparse:
		err = r.sparse(a, b)
	case class >= classNumeric && class <= classLast:
		err = r.numeric(a, name, b)
	default:
		a = nil
	}
	return string(name), a, err
}

func (r *reader) numeric(a *Array, name, b []byte) error {
	kind, data, _, err := r.element(b)
	if err != nil {
		return err
	}
	if size := sizes[kind]; size == 0 || len(data) != a.n*size {
		return bad("array %.64q has sizes %v and %d bytes of type %d", name, a.Dims, len(data), kind)
	}
	if kind == typeUint8 {
		a.Bytes = bytes.Clone(data)
	} else {
		a.Numbers = r.numbers(kind, data)
	}
	return nil
}

// cells reads n arrays one behind the other, of which each takes eight bytes at least.
func (r *reader) cells(b []byte, n, depth int) ([]*Array, error) {
	if n > len(b)/8 {
		return nil, bad("%d cells in %d bytes", n, len(b))
	}
	out := make([]*Array, n)
	for i := range out {
		kind, data, rest, err := r.element(b)
		if err != nil {
			return nil, err
		}
		if kind != typeMatrix {
			return nil, bad("an element of type %d in the place of an array", kind)
		}
		if _, out[i], err = r.matrix(data, depth+1); err != nil {
			return nil, err
		}
		b = rest
	}
	return out, nil
}

// fields reads the names of the fields, which have equal room, and the fields, element by element.
func (r *reader) fields(a *Array, b []byte, depth int) error {
	kind, size, b, err := r.element(b)
	if err != nil {
		return err
	}
	if kind != typeInt32 || len(size) != 4 {
		return bad("structures without the length of names")
	}
	room := int(int32(r.order.Uint32(size)))
	_, names, b, err := r.element(b)
	if err != nil {
		return err
	}
	if room <= 0 || len(names)%room != 0 {
		return bad("names of fields of %d bytes in %d", room, len(names))
	}
	count := len(names) / room
	if count > 0 && a.n > math.MaxInt32/count {
		return bad("sizes out of range")
	}
	all, err := r.cells(b, a.n*count, depth)
	if err != nil {
		return err
	}
	a.Fields = map[string][]*Array{}
	for k := range count {
		name, _, _ := bytes.Cut(names[k*room:][:room], []byte{0})
		values := make([]*Array, a.n)
		for i := range values {
			values[i] = all[i*count+k]
		}
		a.Fields[string(name)] = values
	}
	return nil
}

// text reads characters, in UTF-16, UTF-8 or bytes.
func (r *reader) text(a *Array, b []byte) error {
	kind, data, _, err := r.element(b)
	if err != nil {
		return err
	}
	switch kind {
	case typeUint16, typeUTF16:
		units := make([]uint16, len(data)/2)
		for i := range units {
			units[i] = r.order.Uint16(data[2*i:])
		}
		a.Text = string(utf16.Decode(units))
	case typeInt8, typeUint8, typeUTF8:
		a.Text = string(data)
	default:
		return bad("characters of type %d", kind)
	}
	return nil
}

// sparse reads the rows, where the columns begin, and the numbers.
func (r *reader) sparse(a *Array, b []byte) error {
	var parts [2][]int32
	for i := range parts {
		kind, data, rest, err := r.element(b)
		if err != nil {
			return err
		}
		if kind != typeInt32 || len(data)%4 != 0 {
			return bad("a sparse array without rows and columns")
		}
		parts[i] = make([]int32, len(data)/4)
		for k := range parts[i] {
			parts[i][k] = int32(r.order.Uint32(data[4*k:]))
		}
		b = rest
	}
	kind, data, _, err := r.element(b)
	if err != nil {
		return err
	}
	if sizes[kind] == 0 {
		return bad("numbers of type %d", kind)
	}
	s := &Sparse{parts[0], parts[1], r.numbers(kind, data)}
	if len(a.Dims) != 2 || len(s.Start) != a.Dims[1]+1 {
		return bad("a sparse array of sizes %v with %d columns", a.Dims, len(s.Start)-1)
	}
	last := int32(0)
	for _, at := range s.Start {
		if at < last || int(at) > min(len(s.Rows), len(s.Numbers)) {
			return bad("columns of a sparse array that begin at %d of %d", at, len(s.Rows))
		}
		last = at
	}
	for _, row := range s.Rows[:last] {
		if row < 0 || int(row) >= a.Dims[0] {
			return bad("row %d of %d in a sparse array", row, a.Dims[0])
		}
	}
	a.Sparse = s
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
		case typeUint16:
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
