package gguf

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"os"
	"slices"

	"github.com/gotorch-dev/torch/internal/dtype"
	"github.com/gotorch-dev/torch/tensor"
)

var (
	// ErrFormat is wrapped by errors about the contents of a file.
	ErrFormat = errors.New("malformed GGUF file")
	// ErrType is wrapped where a tensor has a type that cannot be read.
	ErrType = errors.New("unsupported type of tensor")
)

func formatErr(format string, args ...any) error {
	return fmt.Errorf("gguf: %w: %s", ErrFormat, fmt.Sprintf(format, args...))
}

// KV is an entry of the metadata. Value is a uint8, int8, uint16, int16, uint32, int32, uint64, int64, float32,
// float64, bool or string, a slice of one of them, or a []any of such slices.
type KV struct {
	Key   string
	Value any
}

// Info describes a tensor of a file.
type Info struct {
	Name string
	// Type is ggml's name of the type, such as "F32", "Q4_0" or "Q6_K".
	Type  string
	Shape []int
	// Offset is where in the file the tensor's bytes begin, Size how many there are.
	Offset, Size int64

	format *format
}

// File is an open file.
type File struct {
	r       io.ReaderAt
	close   io.Closer
	version uint32
	kvs     []KV
	infos   []Info
	index   map[string]int
}

// Open opens a file. Close it when its tensors are read.
func Open(path string) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("gguf: %w", err)
	}
	st, err := f.Stat()
	if err == nil {
		var out *File
		if out, err = NewFile(f, st.Size()); err == nil {
			out.close = f
			return out, nil
		}
	}
	_ = f.Close()
	return nil, fmt.Errorf("%s: %w", path, err)
}

// Close closes the file that Open opened.
func (f *File) Close() error {
	if f.close == nil {
		return nil
	}
	return f.close.Close()
}

// Version is the version of the format, 2 or 3.
func (f *File) Version() int { return int(f.version) }

// Metadata lists the entries of the metadata in their order.
func (f *File) Metadata() []KV { return slices.Clone(f.kvs) }

// Get finds an entry of the metadata, nil if there is none.
func (f *File) Get(key string) any {
	for _, kv := range f.kvs {
		if kv.Key == key {
			return kv.Value
		}
	}
	return nil
}

// Tensors describes the tensors in the order of the file.
func (f *File) Tensors() []Info { return slices.Clone(f.infos) }

// NewFile reads metadata and descriptions of a file of the given size. r must remain readable for as long as tensors
// are read.
func NewFile(r io.ReaderAt, size int64) (*File, error) {
	c := &cursor{r: bufio.NewReaderSize(io.NewSectionReader(r, 0, size), 1<<16), left: size}
	if magic := c.bytes(4); c.err != nil || string(magic) != "GGUF" {
		return nil, formatErr("starts with %q", magic)
	}
	f := &File{r: r, version: c.u32()}
	if c.err == nil && f.version != 2 && f.version != 3 {
		return nil, formatErr("version %d, expected 2 or 3 in little-endian order", f.version)
	}
	tensors, kvs := c.u64(), c.u64()
	if c.err == nil && (tensors > uint64(c.left)/24 || kvs > uint64(c.left)/13) {
		return nil, formatErr("%d tensors and %d entries in %d bytes", tensors, kvs, c.left)
	}
	keys := map[string]bool{}
	for i := uint64(0); i < kvs && c.err == nil; i++ {
		kv := KV{Key: c.text()}
		kv.Value = c.value(c.u32(), 0)
		if keys[kv.Key] {
			c.fail("the key %q is there twice", cut(kv.Key))
		}
		keys[kv.Key] = true
		f.kvs = append(f.kvs, kv)
	}
	f.index = map[string]int{}
	for i := uint64(0); i < tensors && c.err == nil; i++ {
		info := c.info()
		if _, dup := f.index[info.Name]; dup {
			c.fail("the tensor %q is there twice", cut(info.Name))
		}
		f.index[info.Name] = len(f.infos)
		f.infos = append(f.infos, info)
	}
	if c.err != nil {
		return nil, c.err
	}
	align := int64(32)
	switch a := f.Get("general.alignment").(type) {
	case nil:
	case uint32:
		align = int64(a)
	default:
		align = 0
	}
	if align < 1 || align > 1<<20 {
		return nil, formatErr("general.alignment is %v", f.Get("general.alignment"))
	}
	start := (size - c.left + align - 1) / align * align
	return f, f.place(start, size)
}

// place checks that the tensors lie in the file and do not overlap, so that no file makes a program read its bytes more
// than once.
func (f *File) place(start, size int64) error {
	order := make([]*Info, len(f.infos))
	for i := range f.infos {
		x := &f.infos[i]
		if x.Offset > size-start || x.Size > size-start-x.Offset {
			return formatErr("tensor %q has %d bytes at %d of the data, which has %d", cut(x.Name), x.Size, x.Offset,
				max(0, size-start))
		}
		x.Offset += start
		order[i] = x
	}
	slices.SortFunc(order, func(a, b *Info) int { return cmp.Compare(a.Offset, b.Offset) })
	for i := 1; i < len(order); i++ {
		if a, b := order[i-1], order[i]; b.Size > 0 && a.Offset+a.Size > b.Offset {
			return formatErr("the tensors %q and %q overlap", cut(a.Name), cut(b.Name))
		}
	}
	return nil
}

// Bytes reads the bytes of a tensor as they are in the file.
func (f *File) Bytes(name string) ([]byte, error) {
	i, ok := f.index[name]
	if !ok {
		return nil, fmt.Errorf("gguf: no tensor %q", cut(name))
	}
	x := &f.infos[i]
	b := make([]byte, x.Size)
	if n, err := f.r.ReadAt(b, x.Offset); n < len(b) {
		return nil, fmt.Errorf("gguf: tensor %q: %w", cut(name), err)
	}
	return b, nil
}

// Tensor reads a tensor: of the types F16, F32, F64, BF16 and I8 to I64 with that dtype, of the quantized types as
// float32. An error says that the type cannot be read ([ErrType]).
func (f *File) Tensor(name string) (t *tensor.Tensor, err error) {
	i, ok := f.index[name]
	if !ok {
		return nil, fmt.Errorf("gguf: no tensor %q", cut(name))
	}
	x := &f.infos[i]
	dt := tensor.Float32
	if x.format.dtype != "" {
		dt = dtype.Parse(x.format.dtype)
	} else if x.format.decode == nil {
		return nil, fmt.Errorf("gguf: tensor %q: %w: %s", cut(name), ErrType, x.Type)
	}
	b, err := f.Bytes(name)
	if err != nil {
		return nil, err
	}
	err = tensor.Try(func() { t = tensor.NewOn(tensor.Device{}, x.Shape, nil, dt) })
	if err != nil || t.Numel() == 0 {
		return t, err
	}
	if x.format.dtype != "" {
		copy(t.Storage().Bytes(), b)
		return t, nil
	}
	out := tensor.Data[float32](t)
	for n := x.format.block; len(out) > 0; out, b = out[n:], b[x.format.bytes:] {
		x.format.decode(out[:n], b[:x.format.bytes])
	}
	return t, nil
}

// StateDict reads all tensors.
func (f *File) StateDict() (*tensor.StateDict, error) {
	sd := &tensor.StateDict{}
	for _, x := range f.infos {
		t, err := f.Tensor(x.Name)
		if err != nil {
			return nil, err
		}
		sd.Set(x.Name, t)
	}
	return sd, nil
}

// Load reads the tensors of a file. Quantized ones take eight times their size, or a little less.
func Load(path string) (*tensor.StateDict, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	sd, err := f.StateDict()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return sd, nil
}

// cursor reads the beginning of a file and keeps the first error.
type cursor struct {
	r    *bufio.Reader
	left int64
	err  error
}

func (c *cursor) fail(format string, args ...any) {
	if c.err == nil {
		c.err = formatErr(format, args...)
	}
}

// bytes reads n bytes. What is longer than the file is refused before memory is taken.
func (c *cursor) bytes(n uint64) []byte {
	if c.err != nil || n > uint64(c.left) {
		c.fail("ends early: %d bytes wanted, %d left", n, c.left)
		return nil
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(c.r, b); err != nil {
		c.fail("%v", err)
		return nil
	}
	c.left -= int64(n)
	return b
}

// number reads n <= 8 bytes, little-endian.
func (c *cursor) number(n int) (v uint64) {
	if c.err != nil || int64(n) > c.left {
		c.fail("ends early: %d bytes wanted, %d left", n, c.left)
		return 0
	}
	for i := range n {
		b, err := c.r.ReadByte()
		if err != nil {
			c.fail("%v", err)
			return 0
		}
		v |= uint64(b) << (8 * i)
	}
	c.left -= int64(n)
	return v
}

func (c *cursor) u32() uint32  { return uint32(c.number(4)) }
func (c *cursor) u64() uint64  { return c.number(8) }
func (c *cursor) text() string { return string(c.bytes(c.u64())) }

// kinds are the types of values with their sizes; text and arrays have none.
var kinds = [...]int{0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 8: 0, 9: 0, 10: 8, 11: 8, 12: 8}

func (c *cursor) value(kind uint32, depth int) any {
	if kind >= uint32(len(kinds)) {
		c.fail("type %d of a value", kind)
		return nil
	}
	switch kind {
	case 0:
		return uint8(c.number(1))
	case 1:
		return int8(c.number(1))
	case 2:
		return uint16(c.number(2))
	case 3:
		return int16(c.number(2))
	case 4:
		return c.u32()
	case 5:
		return int32(c.u32())
	case 6:
		return math.Float32frombits(c.u32())
	case 7:
		return c.number(1) != 0
	case 8:
		return c.text()
	case 10:
		return c.u64()
	case 11:
		return int64(c.u64())
	case 12:
		return math.Float64frombits(c.u64())
	}
	inner, n := c.u32(), c.u64()
	if inner >= uint32(len(kinds)) || depth > 8 {
		c.fail("array of type %d at depth %d", inner, depth)
		return nil
	}
	least := map[bool]int{true: 8, false: kinds[inner]}[inner == 8]
	if inner == 9 {
		least = 12
	}
	if n > uint64(c.left)/uint64(least) {
		c.fail("array of %d values, %d bytes are left", n, c.left)
	}
	if c.err != nil {
		return nil
	}
	switch inner {
	case 8:
		out := make([]string, n)
		for i := range out {
			if out[i] = c.text(); c.err != nil {
				return nil
			}
		}
		return out
	case 9:
		out := make([]any, 0, min(n, 1024))
		for ; n > 0 && c.err == nil; n-- {
			out = append(out, c.value(9, depth+1))
		}
		return out
	}
	return numbers(inner, int(n), c.bytes(n*uint64(kinds[inner])))
}

// numbers reads an array of numbers; nil where the bytes are not there.
func numbers(kind uint32, n int, b []byte) any {
	if len(b) != n*kinds[kind] {
		return nil
	}
	switch kind {
	case 0:
		return b
	case 1:
		return read[int8](n, b)
	case 2:
		return read[uint16](n, b)
	case 3:
		return read[int16](n, b)
	case 4:
		return read[uint32](n, b)
	case 5:
		return read[int32](n, b)
	case 6:
		return read[float32](n, b)
	case 7:
		out := make([]bool, n)
		for i := range out {
			out[i] = b[i] != 0
		}
		return out
	case 10:
		return read[uint64](n, b)
	case 11:
		return read[int64](n, b)
	}
	return read[float64](n, b)
}

func read[T any](n int, b []byte) []T {
	out := make([]T, n)
	_, _ = binary.Decode(b, binary.LittleEndian, out) // the length was checked
	return out
}

func (c *cursor) info() Info {
	x := Info{Name: c.text()}
	dims := c.u32()
	if dims > 64 {
		c.fail("tensor %q of %d dimensions", cut(x.Name), dims)
		return x
	}
	x.Shape = make([]int, dims)
	numel := uint64(1)
	for i := range x.Shape {
		n := c.u64()
		hi, lo := bits.Mul64(numel, n)
		if n > math.MaxInt64 || hi != 0 || lo>>58 != 0 {
			c.fail("tensor %q is too large", cut(x.Name))
			return x
		}
		numel, x.Shape[len(x.Shape)-1-i] = lo, int(n)
	}
	kind := c.u32()
	off := c.u64()
	if off > math.MaxInt64/2 {
		c.fail("tensor %q begins at %d", cut(x.Name), off)
	}
	x.Offset = int64(off)
	x.format = formats[kind]
	if x.format == nil {
		c.fail("tensor %q has the unknown type %d", cut(x.Name), kind)
		return x
	}
	x.Type = x.format.name
	row := 1
	if dims > 0 {
		row = x.Shape[dims-1]
	}
	if row%x.format.block != 0 {
		c.fail("tensor %q: rows of %d elements are no whole blocks of %s (%d)", cut(x.Name), row, x.Type,
			x.format.block)
		return x
	}
	x.Size = int64(numel) / int64(x.format.block) * int64(x.format.bytes)
	return x
}

func cut(s string) string {
	if len(s) > 100 {
		return s[:100] + "..."
	}
	return s
}
