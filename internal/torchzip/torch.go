package torchzip

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/bits"
	"strconv"

	"github.com/gotorch-dev/torch/internal/pickle"
)

// Value is a value of a file: those of package pickle, and *[TensorRef],
// *[StorageRef], [DType], [Device] and [Size].
type Value = pickle.Value

// DType is a torch.dtype, such as "float32".
type DType string

// Device is a torch.device. Index is -1 when the device has none.
type Device struct {
	Type  string
	Index int
}

// String returns the device as PyTorch prints it, "cuda:1".
func (d Device) String() string {
	if d.Index < 0 {
		return d.Type
	}
	return d.Type + ":" + strconv.Itoa(d.Index)
}

// Size is a torch.Size.
type Size []int

// StorageRef describes a storage: untyped memory that tensors are views of. Two
// tensors that share memory have the same *StorageRef.
type StorageRef struct {
	// Key names the storage inside its file. [Save] numbers storages anew.
	Key string
	// DType is the class that the file gives the storage, such as "FloatStorage";
	// "UntypedStorage" for the dtypes that are younger than those classes.
	DType string
	// NumElements counts elements of that class, bytes for UntypedStorage.
	NumElements int
	// Location is the device the storage was saved from; "" means "cpu".
	Location string
	// Data holds the bytes, little-endian, when they are in memory. Otherwise Source
	// has them.
	Data []byte
	// Source writes the bytes to w. It is how storages of a file, and storages that
	// live elsewhere, take part without a copy in memory.
	Source func(w io.Writer) error

	readInto func([]byte) error
	at       func() (int64, bool) // where in the file the bytes are; nil if nowhere
	root     *StorageRef          // of a window of another storage, which only old files have
	base     int                  // and its first element there
}

// ElementSize returns the bytes per element of the storage's class, 0 if unknown.
func (s *StorageRef) ElementSize() int { return storageClasses[s.DType].size }

// ElementType returns the dtype of the storage's class, bytes for UntypedStorage.
func (s *StorageRef) ElementType() DType { return storageClasses[s.DType].dtype }

// NumBytes returns the size of the storage in bytes.
func (s *StorageRef) NumBytes() int64 { return int64(s.NumElements) * int64(s.ElementSize()) }

// ReadInto copies the bytes of the storage to dst, which must be NumBytes long,
// and checks them against the checksum of the file.
func (s *StorageRef) ReadInto(dst []byte) error {
	if int64(len(dst)) != s.NumBytes() {
		return fmt.Errorf("torchzip: storage %q has %d bytes, got a buffer of %d", s.Key, s.NumBytes(), len(dst))
	}
	switch {
	case s.Data != nil || len(dst) == 0:
		if len(s.Data) != len(dst) {
			return fmt.Errorf("torchzip: storage %q holds %d bytes, expected %d", s.Key, len(s.Data), len(dst))
		}
		copy(dst, s.Data)
		return nil
	case s.readInto != nil:
		return s.readInto(dst)
	case s.Source != nil:
		w := &fixedWriter{buf: dst}
		if err := s.Source(w); err != nil {
			return err
		}
		if len(w.buf) > 0 {
			return fmt.Errorf("torchzip: source of storage %q is %d bytes short", s.Key, len(w.buf))
		}
		return nil
	}
	return fmt.Errorf("torchzip: storage %q has no data", s.Key)
}

// Offset returns where in the file the bytes of the storage begin, for callers that map the file. It is false where the
// file does not have the bytes as they are: compressed, in the byte order of another machine, or not at all.
func (s *StorageRef) Offset() (int64, bool) {
	if s.at == nil {
		return 0, false
	}
	return s.at()
}

// Bytes returns the bytes of the storage. It does not keep them: a storage that
// lives in a file is read again each time.
func (s *StorageRef) Bytes() ([]byte, error) {
	if s.Data != nil {
		return s.Data, nil
	}
	dst := make([]byte, s.NumBytes())
	return dst, s.ReadInto(dst)
}

func (s *StorageRef) writeTo(w io.Writer) error {
	switch {
	case s.Data != nil:
		_, err := w.Write(s.Data)
		return err
	case s.Source != nil:
		return s.Source(w)
	case s.NumBytes() == 0:
		return nil
	}
	return fmt.Errorf("storage has no data")
}

type fixedWriter struct{ buf []byte }

func (w *fixedWriter) Write(p []byte) (int, error) {
	if len(p) > len(w.buf) {
		return copy(w.buf, p), io.ErrShortWrite
	}
	w.buf = w.buf[copy(w.buf, p):]
	return len(p), nil
}

// TensorRef describes a tensor as a view of a storage.
type TensorRef struct {
	Storage *StorageRef
	// DType is the dtype of the elements, such as "float32". [Save] may find it
	// empty, in which case the class of the storage tells.
	DType DType
	// Offset is the first element, Shape and Stride count elements.
	Offset        int
	Shape, Stride []int
	RequiresGrad  bool
	// BackwardHooks is an empty OrderedDict in all files that PyTorch writes; nil
	// stands for that.
	BackwardHooks Value
	// Metadata holds the conjugate and negative bits and the like, nil if absent.
	Metadata Value
	// Parameter is true for an nn.Parameter. Its data is then a tensor of its own in
	// the file, for which the other fields stand.
	Parameter bool
	// State holds the attributes that a program added to the tensor, nil if none.
	State Value
	// Quantizer describes how the elements of a quantized tensor stand for numbers: ("torch.per_tensor_affine", scale,
	// zero point), or ("torch.per_channel_affine" or "torch.per_channel_affine_float_qparams", scales, zero points,
	// axis) with tensors. The first item is a *pickle.Global. nil for other tensors.
	Quantizer pickle.Tuple
}

// NumElements returns the product of the shape.
func (t *TensorRef) NumElements() int {
	n := 1
	for _, s := range t.Shape {
		n *= s
	}
	return n
}

// PickleBuild takes the attributes of a tensor that was subclassed or extended.
func (t *TensorRef) PickleBuild(state Value) error {
	t.State = state
	return nil
}

// class tells the dtype of a storage class and the size of its elements.
type class struct {
	dtype DType
	size  int
}

var storageClasses = map[string]class{
	"DoubleStorage":        {"float64", 8},
	"FloatStorage":         {"float32", 4},
	"HalfStorage":          {"float16", 2},
	"BFloat16Storage":      {"bfloat16", 2},
	"LongStorage":          {"int64", 8},
	"IntStorage":           {"int32", 4},
	"ShortStorage":         {"int16", 2},
	"CharStorage":          {"int8", 1},
	"ByteStorage":          {"uint8", 1},
	"BoolStorage":          {"bool", 1},
	"ComplexDoubleStorage": {"complex128", 16},
	"ComplexFloatStorage":  {"complex64", 8},
	"QUInt8Storage":        {"quint8", 1},
	"QInt8Storage":         {"qint8", 1},
	"QInt32Storage":        {"qint32", 4},
	"QUInt4x2Storage":      {"quint4x2", 1},
	"QUInt2x4Storage":      {"quint2x4", 1},
	"UntypedStorage":       {"uint8", 1},
}

// dtypeSizes has every dtype, with the bytes per element.
var dtypeSizes = map[DType]int{
	"uint16": 2, "uint32": 4, "uint64": 8, "complex32": 4,
	"float8_e4m3fn": 1, "float8_e4m3fnuz": 1, "float8_e5m2": 1, "float8_e5m2fnuz": 1, "float8_e8m0fnu": 1,
	"int1": 1, "int2": 1, "int3": 1, "int4": 1, "int5": 1, "int6": 1, "int7": 1,
	"uint1": 1, "uint2": 1, "uint3": 1, "uint4": 1, "uint5": 1, "uint6": 1, "uint7": 1, "bcomplex32": 4,
	"float4_e2m1fn_x2": 1, "bits8": 1, "bits16": 2, "bits1x8": 1, "bits2x4": 1, "bits4x2": 1,
}

// storageClass gives the class of the dtypes that have one.
var storageClass = map[DType]string{}

func init() {
	for name, c := range storageClasses {
		dtypeSizes[c.dtype] = c.size
		if name != "UntypedStorage" {
			storageClass[c.dtype] = name
		}
	}
}

// ElementSize returns the bytes per element of a dtype, 0 if it is unknown.
func (d DType) ElementSize() int { return dtypeSizes[d] }

// StorageClass returns the class under which a storage of the dtype is saved.
func (d DType) StorageClass() string {
	if c, ok := storageClass[d]; ok {
		return c
	}
	return "UntypedStorage"
}

// findClass resolves the functions that rebuild tensors and small torch objects.
func findClass(module, name string) (pickle.Func, error) {
	switch module {
	case "torch._utils":
		switch name {
		case "_rebuild_tensor":
			return rebuildTensor, nil
		case "_rebuild_tensor_v2":
			return rebuildTensorV2, nil
		case "_rebuild_tensor_v3":
			return rebuildTensorV3, nil
		case "_rebuild_qtensor":
			return rebuildQuantized, nil
		case "_rebuild_meta_tensor_no_storage":
			return rebuildMetaTensor, nil
		case "_rebuild_parameter":
			return rebuildParameter, nil
		case "_rebuild_parameter_with_state":
			return rebuildParameterWithState, nil
		}
	case "torch.nn.parameter", "torch.autograd.variable": // before PyTorch 0.4
		if name == "Parameter" || name == "Variable" {
			return makeParameter(module, name), nil
		}
	case "torch.storage":
		if name == "_load_from_bytes" {
			return loadFromBytes, nil
		}
	case "torch._tensor":
		if name == "_rebuild_from_type_v2" {
			return rebuildFromType, nil
		}
	case "torch":
		switch name {
		case "Size":
			return func(args pickle.Tuple) (Value, error) {
				if len(args) != 1 {
					return nil, fmt.Errorf("takes 1 argument, got %d", len(args))
				}
				dims, err := ints(args[0])
				return Size(dims), err
			}, nil
		case "device":
			return makeDevice, nil
		}
	}
	return nil, nil
}

func makeDevice(args pickle.Tuple) (Value, error) {
	d := Device{Index: -1}
	if len(args) < 1 || len(args) > 2 {
		return nil, fmt.Errorf("takes 1 or 2 arguments, got %d", len(args))
	}
	var ok bool
	if d.Type, ok = args[0].(string); !ok {
		return nil, fmt.Errorf("device type is %s", pickle.Repr(args[0]))
	}
	if len(args) == 2 && args[1] != nil {
		n, err := toInt(args[1])
		if err != nil {
			return nil, err
		}
		d.Index = n
	}
	return d, nil
}

func toInt(v Value) (int, error) {
	n, ok := v.(int64)
	if !ok || n < 0 || n > math.MaxInt {
		return 0, fmt.Errorf("expected a non-negative int, got %s", pickle.Repr(v))
	}
	return int(n), nil
}

func ints(v Value) ([]int, error) {
	switch s := v.(type) {
	case Size:
		return s, nil
	case *pickle.List:
		v = pickle.Tuple(s.Items)
	}
	t, ok := v.(pickle.Tuple)
	if !ok {
		return nil, fmt.Errorf("expected a tuple of ints, got %s", pickle.Repr(v))
	}
	if len(t) > maxDims { // one tuple can be the argument of very many calls
		return nil, fmt.Errorf("%d ints, expected at most %d", len(t), maxDims)
	}
	out := make([]int, len(t))
	for i, d := range t {
		n, err := toInt(d)
		if err != nil {
			return nil, err
		}
		out[i] = n
	}
	return out, nil
}

// maxDims is PyTorch's own limit.
const maxDims = 64

// newTensor makes a tensor from the arguments that all versions share and checks
// that it lies within its storage.
func newTensor(args pickle.Tuple, least, most int) (*TensorRef, error) {
	if len(args) < least || len(args) > most {
		return nil, fmt.Errorf("takes %d to %d arguments, got %d", least, most, len(args))
	}
	t := &TensorRef{}
	var err error
	s, ok := args[0].(*StorageRef)
	if !ok {
		return nil, fmt.Errorf("expected a storage, got %s", pickle.Repr(args[0]))
	}
	base := 0
	if s.root != nil { // tensors of a window share memory with those of the whole
		s, base = s.root, s.base
	}
	t.Storage = s
	t.DType = storageClasses[t.Storage.DType].dtype
	if t.Offset, err = toInt(args[1]); err != nil {
		return nil, fmt.Errorf("offset: %w", err)
	}
	if t.Offset > math.MaxInt-base {
		return nil, fmt.Errorf("offset %d overflows", t.Offset)
	}
	t.Offset += base
	if t.Shape, err = ints(args[2]); err != nil {
		return nil, fmt.Errorf("shape: %w", err)
	}
	if t.Stride, err = ints(args[3]); err != nil {
		return nil, fmt.Errorf("stride: %w", err)
	}
	if len(args) > 4 {
		if t.RequiresGrad, ok = args[4].(bool); !ok {
			return nil, fmt.Errorf("requires_grad is %s", pickle.Repr(args[4]))
		}
	}
	if len(args) > 5 {
		t.BackwardHooks = args[5]
	}
	return t, nil
}

// packed is how many elements of a dtype one of its units in memory holds.
func packed(d DType) int {
	switch d {
	case "quint4x2":
		return 2
	case "quint2x4":
		return 4
	}
	return 1
}

// check reports whether the view lies within its storage.
func (t *TensorRef) check() error {
	if t.Storage == nil {
		return fmt.Errorf("tensor without a storage")
	}
	size := t.DType.ElementSize()
	if size == 0 {
		return fmt.Errorf("unknown dtype %q", cut(string(t.DType)))
	}
	if len(t.Shape) != len(t.Stride) || len(t.Shape) > maxDims {
		return fmt.Errorf("shape has %d and stride %d dimensions, of at most %d", len(t.Shape), len(t.Stride), maxDims)
	}
	if t.Offset < 0 {
		return fmt.Errorf("offset %d is negative", t.Offset)
	}
	have := uint64(t.Storage.NumBytes()) / uint64(size) * uint64(packed(t.DType))
	last, over, empty, numel := uint64(t.Offset), uint64(0), false, uint64(1)
	for i, n := range t.Shape {
		if n < 0 || t.Stride[i] < 0 {
			return fmt.Errorf("shape %v with stride %v is negative", t.Shape, t.Stride)
		}
		if n == 0 {
			empty = true
			continue
		}
		hi, lo := bits.Mul64(uint64(n-1), uint64(t.Stride[i]))
		var carry uint64
		last, carry = bits.Add64(last, lo, 0)
		over |= hi | carry
		hi, numel = bits.Mul64(numel, uint64(n))
		over |= hi | numel>>62 // an expanded view can be larger than its storage, not than memory
	}
	if over != 0 || !empty && last >= have {
		return fmt.Errorf("shape %v, stride %v and offset %d reach past the %d elements of storage %q",
			t.Shape, t.Stride, t.Offset, have, t.Storage.Key)
	}
	return nil
}

func rebuildTensor(args pickle.Tuple) (Value, error) {
	t, err := newTensor(args, 4, 4)
	if err != nil {
		return nil, err
	}
	return t, t.check()
}

func rebuildTensorV2(args pickle.Tuple) (Value, error) {
	t, err := newTensor(args, 6, 7)
	if err != nil {
		return nil, err
	}
	if len(args) > 6 {
		t.Metadata = args[6]
	}
	return t, t.check()
}

func rebuildTensorV3(args pickle.Tuple) (Value, error) {
	t, err := newTensor(args, 7, 8)
	if err != nil {
		return nil, err
	}
	g, _ := args[6].(*pickle.Global)
	if g == nil || g.Module != "torch" {
		return nil, fmt.Errorf("expected a dtype, got %s", pickle.Repr(args[6]))
	}
	t.DType = DType(g.Name)
	if len(args) > 7 {
		t.Metadata = args[7]
	}
	return t, t.check()
}

// rebuildQuantized makes a quantized tensor from storage, offset, shape, stride, quantizer, requires_grad and hooks.
func rebuildQuantized(args pickle.Tuple) (Value, error) {
	if len(args) != 7 {
		return nil, fmt.Errorf("takes 7 arguments, got %d", len(args))
	}
	q, ok := args[4].(pickle.Tuple)
	if !ok || len(q) < 3 || len(q) > 4 {
		return nil, fmt.Errorf("quantizer is %s", pickle.Repr(args[4]))
	}
	if g, _ := q[0].(*pickle.Global); g == nil || g.Module != "torch" {
		return nil, fmt.Errorf("quantizer is %s", pickle.Repr(args[4]))
	}
	t, err := newTensor(pickle.Tuple{args[0], args[1], args[2], args[3], args[5], args[6]}, 6, 6)
	if err != nil {
		return nil, err
	}
	t.Quantizer = q
	return t, t.check()
}

// makeParameter makes what PyTorch before 0.4 called with the tensor's data, and with requires_grad or without.
func makeParameter(module, name string) pickle.Func {
	return func(args pickle.Tuple) (Value, error) {
		plain := &pickle.Object{Class: &pickle.Global{Module: module, Name: name}, Args: args, New: true}
		if len(args) == 0 {
			return plain, nil
		}
		data, ok := args[0].(*TensorRef)
		if !ok {
			return plain, nil
		}
		t := *data
		t.Parameter = name == "Parameter"
		t.RequiresGrad = t.Parameter
		if len(args) > 1 {
			if grad, ok := args[1].(bool); ok {
				t.RequiresGrad = grad
			}
		}
		return &t, nil
	}
}

// loadFromBytes reads a storage that pickle.dump wrote, without torch.save: its bytes are a file of torch.save of their
// own. A file within such a file is refused, so that nothing recurses as deep as the file says.
func loadFromBytes(args pickle.Tuple) (Value, error) {
	if len(args) != 1 {
		return nil, fmt.Errorf("takes 1 argument, got %d", len(args))
	}
	b, ok := args[0].([]byte)
	if !ok {
		return nil, fmt.Errorf("expected bytes, got %s", pickle.Repr(args[0]))
	}
	v, err := LoadWith(bytes.NewReader(b), int64(len(b)), LoadOptions{inner: true})
	if err != nil {
		return nil, err
	}
	if s, ok := v.(*StorageRef); ok {
		s.at = nil // an offset within the bytes, not within the file
		return s, nil
	}
	return nil, fmt.Errorf("expected a storage, got %s", pickle.Repr(v))
}

// rebuildMetaTensor makes a tensor of the meta device, which has no data, from its dtype, shape, stride and
// requires_grad. Its storage is as large as the view needs.
func rebuildMetaTensor(args pickle.Tuple) (Value, error) {
	if len(args) != 4 {
		return nil, fmt.Errorf("takes 4 arguments, got %d", len(args))
	}
	dt, ok1 := args[0].(*pickle.Global)
	grad, ok2 := args[3].(bool)
	if !ok1 || !ok2 || dt.Module != "torch" {
		return nil, fmt.Errorf("expected a dtype and a bool, got %s and %s", pickle.Repr(args[0]), pickle.Repr(args[3]))
	}
	shape, err := ints(args[1])
	if err != nil {
		return nil, fmt.Errorf("shape: %w", err)
	}
	stride, err := ints(args[2])
	if err != nil {
		return nil, fmt.Errorf("stride: %w", err)
	}
	t := &TensorRef{DType: DType(dt.Name), Shape: shape, Stride: stride, RequiresGrad: grad,
		Storage: &StorageRef{DType: "UntypedStorage", Location: "meta", NumElements: math.MaxInt}}
	if err := t.check(); err != nil { // nothing overflows from here on
		return nil, err
	}
	last := 1
	for i, n := range shape {
		if n == 0 {
			last = 0
			break
		}
		last += (n - 1) * stride[i]
	}
	t.Storage.NumElements = last * t.DType.ElementSize()
	return t, nil
}

func rebuildParameter(args pickle.Tuple) (Value, error) {
	if len(args) != 3 {
		return nil, fmt.Errorf("takes 3 arguments, got %d", len(args))
	}
	data, ok := args[0].(*TensorRef)
	if !ok { // a parameter of another layout: leave the description
		return &pickle.Object{Class: &pickle.Global{Module: "torch._utils", Name: "_rebuild_parameter"}, Args: args},
			nil
	}
	p := *data
	p.Parameter = true
	p.BackwardHooks = args[2]
	if p.RequiresGrad, ok = args[1].(bool); !ok {
		return nil, fmt.Errorf("requires_grad is %s", pickle.Repr(args[1]))
	}
	return &p, nil
}

func rebuildParameterWithState(args pickle.Tuple) (Value, error) {
	if len(args) != 4 {
		return nil, fmt.Errorf("takes 4 arguments, got %d", len(args))
	}
	v, err := rebuildParameter(args[:3])
	if t, ok := v.(*TensorRef); ok {
		t.State = args[3]
	}
	return v, err
}

// rebuildFromType undoes torch._tensor._rebuild_from_type_v2(function, type, args,
// state), which wraps the rebuilding of a tensor with attributes of its own. One of a
// class of its own, such as torchvision's tv_tensors, becomes a plain tensor without
// them.
func rebuildFromType(args pickle.Tuple) (Value, error) {
	if len(args) != 4 {
		return nil, fmt.Errorf("takes 4 arguments, got %d", len(args))
	}
	fn, _ := args[0].(*pickle.Global)
	typ, _ := args[1].(*pickle.Global)
	in, ok := args[2].(pickle.Tuple)
	if ok && fn != nil && typ != nil {
		f, err := findClass(fn.Module, fn.Name)
		if err != nil {
			return nil, err
		}
		// Only one level: a chain of wrappers would recurse as deep as the file says.
		if f != nil && fn.Name != "_rebuild_from_type_v2" {
			v, err := f(in)
			if err != nil {
				return nil, err
			}
			if t, ok := v.(*TensorRef); ok {
				if typ.Is("torch", "Tensor") || typ.Is("torch.nn.parameter", "Parameter") {
					t.State = args[3]
				}
				return t, nil
			}
		}
	}
	return &pickle.Object{Class: &pickle.Global{Module: "torch._tensor", Name: "_rebuild_from_type_v2"}, Args: args},
		nil
}
