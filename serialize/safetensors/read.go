package safetensors

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"os"
	"slices"

	"github.com/gotorch-dev/torch/internal/dtype"
	"github.com/gotorch-dev/torch/internal/mapfile"
	"github.com/gotorch-dev/torch/tensor"
)

var (
	// ErrFormat is wrapped by errors about the contents of a file.
	ErrFormat = errors.New("malformed safetensors file")
	// ErrDType is wrapped where a tensor has a dtype that the library has no operators for.
	ErrDType = errors.New("unsupported dtype")
)

func formatErr(format string, args ...any) error {
	return fmt.Errorf("safetensors: %w: %s", ErrFormat, fmt.Sprintf(format, args...))
}

// maxHeader is the format's own limit.
const maxHeader = 100_000_000

// dtypes has the dtypes of the format, by PyTorch's names, in the order in which a writer sorts them, with the bits of
// an element.
var dtypes = []struct {
	name, torch string
	bits        int
}{
	{"BOOL", "bool", 8}, {"F4", "float4_e2m1fn_x2", 4}, {"F6_E2M3", "", 6}, {"F6_E3M2", "", 6}, {"U8", "uint8", 8},
	{"I8", "int8", 8}, {"F8_E5M2", "float8_e5m2", 8}, {"F8_E4M3", "float8_e4m3fn", 8},
	{"F8_E8M0", "float8_e8m0fnu", 8}, {"F8_E4M3FNUZ", "float8_e4m3fnuz", 8}, {"F8_E5M2FNUZ", "float8_e5m2fnuz", 8},
	{"I16", "int16", 16}, {"U16", "uint16", 16},
	{"F16", "float16", 16}, {"BF16", "bfloat16", 16}, {"I32", "int32", 32}, {"U32", "uint32", 32},
	{"F32", "float32", 32}, {"C64", "complex64", 64}, {"F64", "float64", 64}, {"I64", "int64", 64},
	{"U64", "uint64", 64},
}

// Info describes a tensor of a file.
type Info struct {
	Name  string
	DType string // by PyTorch's name, "float32"; by the format's ("F6_E2M3") where PyTorch has no such dtype
	Shape []int
	// Offset is where in the file the tensor's bytes begin, Size how many there are.
	Offset, Size int64
}

// Options are the options of Open and Load.
type Options struct {
	// MMap maps the file into memory instead of reading it: opening it takes milliseconds, and pages are read when they
	// are used. Tensors can be written to; the file stays as it is. It must not be cut short meanwhile. Where the
	// system cannot do that, and for tensors that do not lie at a multiple of their elements' size, the file is read.
	MMap bool
}

// File is an open file.
type File struct {
	r      io.ReaderAt
	close  io.Closer
	mapped []byte
	infos  []Info // by offset
	index  map[string]int
	meta   map[string]string
}

// Open opens a file. Close it when its tensors are read.
func Open(path string, opts ...Options) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("safetensors: %w", err)
	}
	st, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("safetensors: %w", err)
	}
	out, err := NewFile(f, st.Size())
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	out.close = f
	if len(opts) > 0 && opts[0].MMap {
		if m, err := mapfile.Map(f, st.Size()); err == nil {
			out.mapped = m
		} // else tensors are read
	}
	return out, nil
}

// NewFile reads the header of a file of the given size. r must remain readable for as long as tensors are read.
func NewFile(r io.ReaderAt, size int64) (*File, error) {
	var head [8]byte
	if size < 8 {
		return nil, formatErr("%d bytes, shorter than the length of the header", size)
	}
	if _, err := r.ReadAt(head[:], 0); err != nil && err != io.EOF {
		return nil, fmt.Errorf("safetensors: %w", err)
	}
	n := binary.LittleEndian.Uint64(head[:])
	if n > maxHeader || n > uint64(size-8) {
		return nil, formatErr("header of %d bytes in a file of %d; at most %d are allowed", n, size, maxHeader)
	}
	text := make([]byte, n)
	if m, err := r.ReadAt(text, 8); m < len(text) {
		return nil, fmt.Errorf("safetensors: header: %w", err)
	}
	f := &File{r: r}
	if err := f.header(text, size); err != nil {
		return nil, err
	}
	return f, nil
}

// header takes the header apart and checks that the tensors fill the rest of the file without gaps.
func (f *File) header(text []byte, size int64) error {
	entries, meta, err := parseHeader(text)
	if err != nil {
		return err
	}
	f.meta = meta
	start := 8 + int64(len(text))
	slices.SortStableFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	at := uint64(0)
	f.index = make(map[string]int, len(entries))
	f.infos = make([]Info, 0, len(entries))
	for _, e := range entries {
		if e.from != at || e.to < e.from {
			return formatErr("tensor %q has bytes %d to %d, expected it to begin at %d", cut(e.name), e.from, e.to, at)
		}
		at = e.to
		dt, width := e.dtype, -1
		for _, d := range dtypes {
			if d.name == e.dtype {
				if width = d.bits; d.torch != "" {
					dt = d.torch
				}
			}
		}
		if width < 0 {
			return formatErr("tensor %q has the unknown dtype %q", cut(e.name), cut(e.dtype))
		}
		need := uint64(width)
		for _, n := range e.shape {
			hi, lo := bits.Mul64(need, uint64(n))
			if hi != 0 || lo>>62 != 0 {
				return formatErr("tensor %q: shape %v is too large", cut(e.name), e.shape)
			}
			need = lo
		}
		if need%8 != 0 || need/8 != e.to-e.from {
			return formatErr("tensor %q: shape %v of %s needs %d bits, it has %d bytes", cut(e.name), e.shape, e.dtype,
				need, e.to-e.from)
		}
		if at > uint64(size-start) {
			return formatErr("tensor %q ends at byte %d of the data, of which there are %d", cut(e.name), at,
				size-start)
		}
		if _, dup := f.index[e.name]; dup {
			return formatErr("tensor %q is there twice", cut(e.name))
		}
		f.index[e.name] = len(f.infos)
		f.infos = append(f.infos, Info{Name: e.name, DType: dt, Shape: e.shape, Offset: start + int64(e.from),
			Size: int64(e.to - e.from)})
	}
	if at != uint64(size-start) {
		return formatErr("%d bytes behind the last tensor", uint64(size-start)-at)
	}
	return nil
}

// Close closes the file that Open opened. Tensors that were read or mapped stay usable.
func (f *File) Close() error {
	if f.close == nil {
		return nil
	}
	return f.close.Close()
}

// Tensors describes the tensors in the order of their bytes.
func (f *File) Tensors() []Info { return slices.Clone(f.infos) }

// Metadata is what the writer noted beside the tensors, such as {"format": "pt"}; nil if nothing.
func (f *File) Metadata() map[string]string { return f.meta }

// Bytes reads the bytes of a tensor, little-endian.
func (f *File) Bytes(name string) ([]byte, error) {
	i, ok := f.index[name]
	if !ok {
		return nil, fmt.Errorf("safetensors: no tensor %q", cut(name))
	}
	b := make([]byte, f.infos[i].Size)
	return b, f.read(b, &f.infos[i])
}

func (f *File) read(b []byte, info *Info) error {
	if n, err := f.r.ReadAt(b, info.Offset); n < len(b) {
		return fmt.Errorf("safetensors: tensor %q: %w", cut(info.Name), err)
	}
	return nil
}

// Tensor reads a tensor. An error says that the library has no operators for its dtype ([ErrDType]); Bytes has it then.
func (f *File) Tensor(name string) (t *tensor.Tensor, err error) {
	i, ok := f.index[name]
	if !ok {
		return nil, fmt.Errorf("safetensors: no tensor %q", cut(name))
	}
	info := &f.infos[i]
	dt := dtype.Parse(info.DType)
	if dt == 0 {
		return nil, fmt.Errorf("safetensors: tensor %q: %w %s", cut(name), ErrDType, info.DType)
	}
	if f.mapped != nil && info.Size > 0 && info.Offset%int64(dt.Size()) == 0 {
		end := info.Offset + info.Size
		err = tensor.Try(func() {
			t = tensor.FromStorage(tensor.LentStorage(f.mapped[info.Offset:end:end]), dt, info.Shape, nil, 0)
		})
		return t, err
	}
	var st *tensor.Storage
	if err = tensor.Try(func() {
		st = tensor.NewStorage(int(info.Size))
		t = tensor.FromStorage(st, dt, info.Shape, nil, 0)
	}); err != nil || info.Size == 0 {
		return t, err
	}
	all := tensor.FromStorage(st, tensor.Uint8, []int{int(info.Size)}, []int{1}, 0)
	return t, f.read(tensor.Data[uint8](all), info)
}

// StateDict reads all tensors, in the order of the file.
func (f *File) StateDict() (*tensor.StateDict, error) {
	sd := &tensor.StateDict{}
	for _, info := range f.infos {
		t, err := f.Tensor(info.Name)
		if err != nil {
			return nil, err
		}
		sd.Set(info.Name, t)
	}
	return sd, nil
}

// Load reads the tensors of a file.
func Load(path string, opts ...Options) (*tensor.StateDict, error) {
	f, err := Open(path, opts...)
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

func cut(s string) string {
	if len(s) > 100 {
		return s[:100] + "..."
	}
	return s
}
