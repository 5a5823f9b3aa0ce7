package npy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"os"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

var (
	// ErrFormat is wrapped by errors about the contents of a file.
	ErrFormat = errors.New("malformed npy data")
	// ErrObject is wrapped when an array holds Python objects.
	ErrObject = errors.New("array of Python objects")
	// ErrDType is wrapped when the type of the elements is not one of the package's:
	// those that NumPy itself lacks.
	ErrDType = errors.New("unsupported dtype")
)

func formatErr(format string, args ...any) error {
	return fmt.Errorf("npy: %w: %s", ErrFormat, fmt.Sprintf(format, args...))
}

// Array is an array of NumPy.
type Array struct {
	// DType is the type of the elements by NumPy's name: bool, int8 to int64, uint8
	// to uint64, float16, float32, float64, complex64, complex128; besides, float128 and
	// complex256, fixed width text and bytes as "<U7" (4 bytes per character, UTF-32)
	// and "S7", raw bytes as "V7", dates and durations as "<M8[ns]" and "<m8[s]"; and
	// structured types as NumPy's header has them, "[('x', '<f4'), ('y', '>i8', (2,))]",
	// whose Data keeps the order of bytes that each field names.
	DType string
	// Shape is empty for an array of zero dimensions, which has one element.
	Shape []int
	// FortranOrder tells that the first index varies fastest, not the last.
	FortranOrder bool
	// Data holds the elements, little-endian whatever the order in the file.
	Data []byte
}

type kind struct {
	name string
	size int
	unit int // the size of the parts that a byte order applies to
}

var kinds = map[string]kind{
	"b1": {"bool", 1, 1},
	"i1": {"int8", 1, 1}, "i2": {"int16", 2, 2}, "i4": {"int32", 4, 4}, "i8": {"int64", 8, 8},
	"u1": {"uint8", 1, 1}, "u2": {"uint16", 2, 2}, "u4": {"uint32", 4, 4}, "u8": {"uint64", 8, 8},
	"f2": {"float16", 2, 2}, "f4": {"float32", 4, 4}, "f8": {"float64", 8, 8},
	"c8": {"complex64", 8, 4}, "c16": {"complex128", 16, 8},
	"f16": {"float128", 16, 16}, "c32": {"complex256", 32, 16}, // long double of x86 and its like
}

// codes leads from names to NumPy's type codes.
var codes = map[string]string{}

func init() {
	for code, k := range kinds {
		codes[k.name] = code
	}
}

// date is the code of dates and durations with their unit.
var date = regexp.MustCompile(`^[Mm]8(\[\d{0,9}[A-Za-z]{1,7}\])?$`)

// lookup finds a type by its code without byte order, "f4" or "U7".
func lookup(code string) (kind, bool) {
	if k, ok := kinds[code]; ok {
		return k, true
	}
	if strings.HasPrefix(code, "[") {
		k, err := parseStructured(code)
		return k, err == nil
	}
	if date.MatchString(code) {
		return kind{"<" + code, 8, 8}, true
	}
	if len(code) < 2 {
		return kind{}, false
	}
	n, err := strconv.Atoi(code[1:])
	if err != nil || n < 0 || n > 1<<28 || code[1:] != strconv.Itoa(n) {
		return kind{}, false
	}
	switch code[0] {
	case 'U':
		return kind{"<" + code, 4 * n, 4}, true
	case 'S', 'a':
		return kind{"S" + code[1:], n, 1}, true
	case 'V':
		return kind{code, n, 1}, true
	}
	return kind{}, false
}

// ElementSize returns the bytes per element of a dtype of [Array], or -1 if it
// is not one.
func ElementSize(dtype string) int {
	if code, ok := codes[dtype]; ok {
		return kinds[code].size
	}
	if k, ok := lookup(strings.TrimPrefix(dtype, "<")); ok && k.name == dtype {
		return k.size
	}
	return -1
}

// NumElements returns the product of the shape.
func (a *Array) NumElements() int {
	n := 1
	for _, d := range a.Shape {
		n *= d
	}
	return n
}

const magic = "\x93NUMPY"

// maxHeader is far above any honest header, which is about 100 bytes long.
const maxHeader = 1 << 20

// header is what precedes the data.
type header struct {
	kind    kind
	swap    bool
	fortran bool
	shape   []int
	bytes   int64
}

// Read reads one array. It consumes exactly the array's bytes, so that arrays
// can follow one another in a stream.
func Read(r io.Reader) (*Array, error) {
	h, err := readHeader(r)
	if err != nil {
		return nil, err
	}
	data, err := readN(r, h.bytes)
	if err != nil {
		return nil, formatErr("data of %d bytes: %v", h.bytes, err)
	}
	if h.swap {
		swapBytes(data, h.kind.unit)
	}
	return &Array{DType: h.kind.name, Shape: h.shape, FortranOrder: h.fortran, Data: data}, nil
}

// swapBytes turns around the bytes of each unit.
func swapBytes(b []byte, unit int) {
	for ; len(b) >= unit; b = b[unit:] {
		for i, j := 0, unit-1; i < j; i, j = i+1, j-1 {
			b[i], b[j] = b[j], b[i]
		}
	}
}

// readN reads n bytes. Beyond a first megabyte it allocates only as data arrives.
func readN(r io.Reader, n int64) ([]byte, error) {
	const first = 1 << 20
	buf := make([]byte, min(n, first))
	if _, err := io.ReadFull(r, buf); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	for int64(len(buf)) < n {
		have := len(buf)
		grown := make([]byte, min(n, 4*int64(have)))
		copy(grown, buf)
		if _, err := io.ReadFull(r, grown[have:]); err != nil {
			return nil, io.ErrUnexpectedEOF
		}
		buf = grown
	}
	return buf, nil
}

func readHeader(r io.Reader) (*header, error) {
	var pre [8]byte
	if _, err := io.ReadFull(r, pre[:]); err != nil {
		return nil, formatErr("no magic string: %v", err)
	}
	if string(pre[:6]) != magic {
		return nil, formatErr("starts with %q, not with the magic string", pre[:6])
	}
	var size int
	switch pre[6] {
	case 1:
		var b [2]byte
		if _, err := io.ReadFull(r, b[:]); err != nil {
			return nil, formatErr("header: %v", err)
		}
		size = int(binary.LittleEndian.Uint16(b[:]))
	case 2, 3:
		var b [4]byte
		if _, err := io.ReadFull(r, b[:]); err != nil {
			return nil, formatErr("header: %v", err)
		}
		n := binary.LittleEndian.Uint32(b[:])
		if n > maxHeader {
			return nil, formatErr("header of %d bytes, expected at most %d", n, maxHeader)
		}
		size = int(n)
	default:
		return nil, formatErr("format version %d.%d, expected 1 to 3", pre[6], pre[7])
	}
	text, err := readN(r, int64(size))
	if err != nil {
		return nil, formatErr("header: %v", err)
	}
	if pre[6] == 3 && !utf8.Valid(text) {
		return nil, formatErr("header is not UTF-8")
	}
	return parseHeader(string(text))
}

func parseHeader(text string) (*header, error) {
	p := &parser{text: text}
	v, parseErr := p.all()
	if parseErr != nil {
		return nil, formatErr("header, at byte %d: %v", p.at, parseErr)
	}
	d, ok := v.(map[string]any)
	if !ok || len(d) != 3 {
		return nil, formatErr("header is not a dict of descr, fortran_order and shape")
	}
	h := &header{}
	if h.fortran, ok = d["fortran_order"].(bool); !ok {
		return nil, formatErr("fortran_order is %v", d["fortran_order"])
	}
	shape, ok := d["shape"].([]any)
	if !ok || len(shape) > 64 {
		return nil, formatErr("shape is %v", d["shape"])
	}
	h.shape = make([]int, len(shape))
	total, empty := uint64(1), false
	for i, s := range shape {
		n, ok := s.(int64)
		if !ok || n < 0 || n > math.MaxInt {
			return nil, formatErr("shape has the dimension %v", s)
		}
		h.shape[i] = int(n)
		if n == 0 {
			empty = true
			continue
		}
		hi, lo := bits.Mul64(total, uint64(n))
		if hi != 0 || lo > math.MaxInt64 {
			return nil, formatErr("shape %v is too large", shape)
		}
		total = lo
	}
	var err error
	switch descr := d["descr"].(type) {
	case string:
		h.kind, h.swap, err = parseDescr(descr)
	case []any:
		h.kind, err = structured(descr, 0)
	default:
		err = fmt.Errorf("npy: %w %v", ErrDType, descr)
	}
	if err != nil {
		return nil, err
	}
	if empty {
		total = 0
	}
	hi, lo := bits.Mul64(total, uint64(h.kind.size))
	if hi != 0 || lo > math.MaxInt {
		return nil, formatErr("shape %v is too large", shape)
	}
	h.bytes = int64(lo)
	return h, nil
}

// parseDescr finds a type by NumPy's code with a byte order, and whether its bytes have to be turned around.
func parseDescr(descr string) (k kind, swap bool, err error) {
	if strings.Contains(descr, "O") {
		return k, false, fmt.Errorf("npy: %w: dtype %q", ErrObject, cut(descr))
	}
	code, order := descr, byte('|')
	if len(descr) > 0 && strings.IndexByte("<>=|", descr[0]) >= 0 {
		order, code = descr[0], descr[1:]
	}
	k, ok := lookup(code)
	if !ok {
		return k, false, fmt.Errorf("npy: %w %q", ErrDType, cut(descr))
	}
	return k, order == '>' && k.unit > 1, nil
}

func cut(s string) string {
	if len(s) > 100 {
		return s[:100] + "..."
	}
	return s
}

// descr returns the type code with byte order that NumPy writes for a dtype.
func descr(dtype string) (string, error) {
	if code, ok := codes[dtype]; ok {
		if kinds[code].size == 1 {
			return "|" + code, nil
		}
		return "<" + code, nil
	}
	k, ok := lookup(strings.TrimPrefix(dtype, "<"))
	if !ok || k.name != dtype {
		return "", fmt.Errorf("npy: %w %q", ErrDType, dtype)
	}
	if k.unit == 1 && dtype[0] != '[' {
		return "|" + dtype, nil
	}
	return dtype, nil
}

// encodeHeader returns what precedes the data, as numpy.save writes it.
func encodeHeader(a *Array) ([]byte, error) {
	code, err := descr(a.DType)
	if err != nil {
		return nil, err
	}
	if code[0] != '[' {
		code = "'" + code + "'"
	}
	want := uint64(ElementSize(a.DType))
	for _, n := range a.Shape {
		if n < 0 {
			return nil, fmt.Errorf("npy: write: shape %v is negative", a.Shape)
		}
		hi, lo := bits.Mul64(want, uint64(n))
		if hi != 0 {
			return nil, fmt.Errorf("npy: write: shape %v is too large", a.Shape)
		}
		want = lo
	}
	if want != uint64(len(a.Data)) {
		return nil, fmt.Errorf("npy: write: shape %v of %s needs %d bytes, got %d", a.Shape, a.DType, want, len(a.Data))
	}
	var sb strings.Builder
	order := "False"
	if a.FortranOrder {
		order = "True"
	}
	fmt.Fprintf(&sb, "{'descr': %s, 'fortran_order': %s, 'shape': (", code, order)
	for i, n := range a.Shape {
		if i > 0 {
			sb.WriteString(", ")
		}
		sb.WriteString(strconv.Itoa(n))
	}
	if len(a.Shape) == 1 {
		sb.WriteByte(',')
	}
	sb.WriteString("), }")
	// NumPy leaves room for the axis that an appending writer would grow, then
	// pads so that the data starts at a multiple of 64.
	if n := len(a.Shape); n > 0 {
		axis := a.Shape[0]
		if a.FortranOrder {
			axis = a.Shape[n-1]
		}
		sb.WriteString(strings.Repeat(" ", max(0, 21-len(strconv.Itoa(axis)))))
	}
	version, lenBytes := byte(1), 2
	total := func() int { return (8 + lenBytes + sb.Len() + 1 + 63) / 64 * 64 }
	if total()-10 > math.MaxUint16 {
		version, lenBytes = 2, 4
	}
	size := total()
	sb.WriteString(strings.Repeat(" ", size-8-lenBytes-sb.Len()-1))
	sb.WriteByte('\n')
	out := append([]byte(magic), version, 0)
	if lenBytes == 2 {
		out = binary.LittleEndian.AppendUint16(out, uint16(sb.Len()))
	} else {
		out = binary.LittleEndian.AppendUint32(out, uint32(sb.Len()))
	}
	return append(out, sb.String()...), nil
}

// Write writes one array, with the bytes that numpy.save writes for it. It fails
// if the data does not fit the shape.
func Write(w io.Writer, a *Array) error {
	h, err := encodeHeader(a)
	if err != nil {
		return err
	}
	if _, err := w.Write(h); err != nil {
		return fmt.Errorf("npy: write: %w", err)
	}
	if _, err := w.Write(a.Data); err != nil {
		return fmt.Errorf("npy: write: %w", err)
	}
	return nil
}

// ReadFile reads a .npy file.
func ReadFile(path string) (*Array, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("npy: %w", err)
	}
	defer f.Close()
	a, err := Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return a, nil
}

// WriteFile writes a .npy file. It appears under its name when it is complete.
func WriteFile(path string, a *Array) error {
	return writeFile(path, func(w io.Writer) error { return Write(w, a) })
}

// RowMajor returns the array with the last index varying fastest: itself, or a
// copy if it is in Fortran order.
func (a *Array) RowMajor() *Array {
	if !a.FortranOrder {
		return a
	}
	out := &Array{DType: a.DType, Shape: a.Shape, Data: make([]byte, len(a.Data))}
	size, n := ElementSize(a.DType), len(a.Shape)
	if n < 2 || size <= 0 || len(a.Data) == 0 {
		copy(out.Data, a.Data)
		return out
	}
	stride := make([]int, n) // of each index in the source, in bytes
	step := size
	for i, d := range a.Shape {
		stride[i] = step
		step *= d
	}
	index := make([]int, n)
	src := 0
	for dst := 0; dst < len(out.Data); dst += size {
		copy(out.Data[dst:dst+size], a.Data[src:src+size])
		for i := n - 1; i >= 0; i-- {
			index[i]++
			src += stride[i]
			if index[i] < a.Shape[i] {
				break
			}
			src -= stride[i] * a.Shape[i]
			index[i] = 0
		}
	}
	return out
}

// parser reads the subset of Python's literals that headers consist of: dicts
// with text keys, lists, tuples, text, integers, True, False and None.
type parser struct {
	text  string
	at    int
	depth int
}

func (p *parser) space() {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
}

// next skips blanks and reports whether c follows, which it consumes.
func (p *parser) next(c byte) bool {
	p.space()
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

func (p *parser) all() (any, error) {
	v, err := p.value()
	if err != nil {
		return nil, err
	}
	p.space()
	if p.at != len(p.text) {
		return nil, errors.New("text after the value")
	}
	return v, nil
}

func (p *parser) value() (any, error) {
	if p.depth++; p.depth > 32 {
		return nil, errors.New("nested too deep")
	}
	defer func() { p.depth-- }()
	p.space()
	if p.at == len(p.text) {
		return nil, errors.New("unexpected end")
	}
	switch c := p.text[p.at]; {
	case c == '{':
		p.at++
		return p.dict()
	case c == '(':
		p.at++
		return p.items(')')
	case c == '[':
		p.at++
		return p.items(']')
	case c == '\'' || c == '"':
		p.at++
		end := strings.IndexByte(p.text[p.at:], c)
		if end < 0 {
			return nil, errors.New("text without an end")
		}
		s := p.text[p.at : p.at+end]
		if strings.ContainsAny(s, "\\\n") {
			return nil, errors.New("escape in text")
		}
		p.at += end + 1
		return s, nil
	case c == '-' || c >= '0' && c <= '9':
		start := p.at
		for p.at++; p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9'; p.at++ {
		}
		n, err := strconv.ParseInt(p.text[start:p.at], 10, 64)
		if err != nil {
			return nil, errors.New("bad integer")
		}
		if p.at < len(p.text) && p.text[p.at] == 'L' { // a long of Python 2
			p.at++
		}
		return n, nil
	}
	for word, v := range map[string]any{"True": true, "False": false, "None": nil} {
		if strings.HasPrefix(p.text[p.at:], word) {
			p.at += len(word)
			return v, nil
		}
	}
	return nil, errors.New("unknown token")
}

// items reads up to the closing bracket. One value in parentheses without a
// comma is that value, not a tuple.
func (p *parser) items(end byte) (any, error) {
	out := []any{}
	for {
		if p.next(end) {
			return out, nil
		}
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		if p.next(',') {
			out = append(out, v)
			continue
		}
		if !p.next(end) {
			return nil, fmt.Errorf("expected , or %c", end)
		}
		if end == ')' && len(out) == 0 {
			return v, nil
		}
		return append(out, v), nil
	}
}

func (p *parser) dict() (any, error) {
	out := map[string]any{}
	for {
		if p.next('}') {
			return out, nil
		}
		k, err := p.value()
		if err != nil {
			return nil, err
		}
		key, ok := k.(string)
		if _, dup := out[key]; !ok || dup {
			return nil, errors.New("bad or repeated key")
		}
		if !p.next(':') {
			return nil, errors.New("expected :")
		}
		if out[key], err = p.value(); err != nil {
			return nil, err
		}
		if !p.next(',') {
			if !p.next('}') {
				return nil, errors.New("expected , or }")
			}
			return out, nil
		}
	}
}
