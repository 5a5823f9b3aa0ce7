package tensor

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/dtype"
	"github.com/gotorch-dev/torch/internal/mem"
)

// DType is the element type of a tensor.
type DType = dtype.DType

// The element types. DType's zero value means "not given".
const (
	Bool       = dtype.Bool
	Uint8      = dtype.Uint8
	Int8       = dtype.Int8
	Int16      = dtype.Int16
	Int32      = dtype.Int32
	Int64      = dtype.Int64
	Float16    = dtype.Float16
	BFloat16   = dtype.BFloat16
	Float32    = dtype.Float32
	Float64    = dtype.Float64
	Complex64  = dtype.Complex64
	Complex128 = dtype.Complex128
)

// Element types of quantized tensors (see NewQuantized): integers that stand for numbers by a scale and a zero point.
// Two elements of QUInt4x2 and four of QUInt2x4 share a byte.
const (
	QUInt8   = dtype.QUInt8
	QInt8    = dtype.QInt8
	QInt32   = dtype.QInt32
	QUInt4x2 = dtype.QUInt4x2
	QUInt2x4 = dtype.QUInt2x4
)

// Element types that are made for storage: operators that copy elements take them, few compute with them (see
// Def.Storage).
const (
	Uint16         = dtype.Uint16
	Uint32         = dtype.Uint32
	Uint64         = dtype.Uint64
	Complex32      = dtype.Complex32
	BComplex32     = dtype.BComplex32 // of bfloat16 parts; without operators in PyTorch, too
	Float8E4M3FN   = dtype.Float8E4M3FN
	Float8E5M2     = dtype.Float8E5M2
	Float8E4M3FNUZ = dtype.Float8E4M3FNUZ
	Float8E5M2FNUZ = dtype.Float8E5M2FNUZ
	Float8E8M0FNU  = dtype.Float8E8M0FNU
)

// Element types that have no operators, in PyTorch either: integers of 1 to 7 bits, each in a byte of its own (Bit is
// PyTorch's other name of Uint1), bits that mean what a program makes of them, and two 4-bit floats in a byte. Tensors
// of these types are made uninitialised, filled with 0 or from other tensors by View, copied, saved, loaded and
// printed, as the numbers in their bytes; PyTorch does not copy and print the integers.
const (
	Int1           = dtype.Int1
	Int2           = dtype.Int2
	Int3           = dtype.Int3
	Int4           = dtype.Int4
	Int5           = dtype.Int5
	Int6           = dtype.Int6
	Int7           = dtype.Int7
	Uint1          = dtype.Uint1
	Uint2          = dtype.Uint2
	Uint3          = dtype.Uint3
	Uint4          = dtype.Uint4
	Uint5          = dtype.Uint5
	Uint6          = dtype.Uint6
	Uint7          = dtype.Uint7
	Bit            = dtype.Uint1
	Bits1x8        = dtype.Bits1x8
	Bits2x4        = dtype.Bits2x4
	Bits4x2        = dtype.Bits4x2
	Bits8          = dtype.Bits8
	Bits16         = dtype.Bits16
	Float4E2M1FNx2 = dtype.Float4E2M1FNx2
)

// DeviceType names a kind of device.
type DeviceType uint8

// The kinds of device that PyTorch's programs name; RegisterBackend adds others. A backend for CUDA comes in by blank
// import.
const (
	CPUDevice DeviceType = iota
	CUDADevice
	MetaDevice
	IPUDevice
	MTIADevice
	XLADevice
	XPUDevice
)

// Device is where a tensor's memory lies. The zero value is the CPU.
type Device struct {
	Type  DeviceType
	Index int8
}

// String prints "cpu", "meta" or "cuda:0".
func (d Device) String() string {
	if d.Type == CPUDevice || d.Type == MetaDevice {
		return d.Type.String()
	}
	return fmt.Sprintf("%s:%d", d.Type, d.Index)
}

// MemoryFormat is a hint for the order of a new tensor's dimensions in memory. The zero value means "not given".
type MemoryFormat uint8

// The memory formats of PyTorch.
const (
	NoFormat MemoryFormat = iota
	ContiguousFormat
	PreserveFormat
	ChannelsLast
	ChannelsLast3d
)

type flags uint16

const (
	flagRequiresGrad flags = 1 << iota // set by the user on a leaf
	flagWrapped                        // made from a Go number: takes part in promotion as a scalar
	flagParam                          // an nn.Parameter
	flagRetainGrad
	flagKeep       // not freed by Tidy
	flagConj       // a view whose elements are the conjugates of those in memory (see bits.go)
	flagNeg        // a view whose elements are those in memory with the other sign
	flagOneOfMany  // a view from an operator with several, such as split
	flagNoGradView // a view taken while nothing was recorded
	flagSparse     // see sparse.go
	flagNamed      // see names.go
	flagQuantized  // see quantized.go

	flagRare = flagSparse | flagNamed | flagQuantized // what calls look for
)

// Tensor is a strided view of a Storage. Its methods panic with *Error on bad arguments.
type Tensor struct {
	st     *Storage
	ver    *atomic.Uint32 // shared with all views, bumped by in-place operators
	shape  []int
	stride []int // in elements
	off    int   // in elements
	numel  int
	dt     DType
	dev    Device
	flags  flags
	outNr  int32
	attr   uint32  // of a view: version of the memory that node belongs to
	node   *Node   // what computed this tensor; nil for leaves (read it with gradNode)
	base   *Tensor // the tensor this is a view of
	ag     *agMeta
	dims   [8]int // shape and stride of tensors of up to four dimensions
}

// agMeta holds what few tensors have.
type agMeta struct {
	grad    *Tensor
	hooks   []*hook              // of a leaf; those of other tensors are on their node
	acc     atomic.Pointer[Node] // the leaf's gradient accumulator
	postAcc []func(*Tensor)
	mu      sync.Mutex // guards grad while gradients are accumulated
	batch   *batch     // of a tensor inside a function that Vmap maps
	spent   bool       // of a leaf: the function that a transform made it for has run
	sparse  *sparse    // of a sparse tensor
	quant   *Quantizer // of a quantized tensor
	names   []string   // of the dimensions, where one has a name
}

func (t *Tensor) meta() *agMeta {
	if t.ag == nil {
		t.ag = &agMeta{}
	}
	return t.ag
}

func (t *Tensor) setDims(shape, stride []int) {
	n := len(shape)
	if n <= 4 {
		t.shape, t.stride = t.dims[:n:n], t.dims[4:4+n:4+n]
	} else {
		b := make([]int, 2*n)
		t.shape, t.stride = b[:n:n], b[n:]
	}
	copy(t.shape, shape)
	if stride != nil {
		copy(t.stride, stride)
	} else {
		s := 1
		for i := n - 1; i >= 0; i-- {
			t.stride[i] = s
			s *= max(1, shape[i])
		}
	}
	t.numel = numel(shape)
}

// small joins a tensor, its storage and a few elements in one allocation. It does not hold results that are recorded: a
// detached tensor with the same storage would keep their node, and with it the whole tape. See split.
type small struct {
	t Tensor
	s Storage
	b [4]uint64
}

// tinySize is the number of bytes that such a storage has.
const tinySize = 32

// newSmall returns a small with a storage of n bytes, made in mode m.
func newSmall(n int, dt DType, m *mode) *small {
	var x *small
	if m != nil && m.scope != nil && len(m.scope.spare) > 0 {
		l := m.scope.spare
		x = l[len(l)-1]
		m.scope.spare = l[:len(l)-1]
		*x = small{}
	} else {
		x = &small{}
	}
	x.s.p, x.s.n = unsafe.Pointer(&x.b), n
	if mem.Guarded {
		x.s.p = mem.Alloc(n)
	}
	x.t.st, x.t.ver, x.t.dt = &x.s, &x.s.version, dt
	if m != nil {
		x.s.enter(m)
	}
	return x
}

// joined reports that the tensor and its storage are parts of one allocation.
func (t *Tensor) joined() bool {
	return uintptr(unsafe.Pointer(t.st))-uintptr(unsafe.Pointer(t)) == unsafe.Offsetof(small{}.s)
}

// split returns a new tensor that is to be recorded with a header of its own, when it shares one with its storage.
func (t *Tensor) split() *Tensor {
	if !t.joined() {
		return t
	}
	h := &Tensor{}
	*h = *t
	h.setDims(t.shape, t.stride)
	return h
}

// New returns a contiguous tensor on the CPU whose elements are not initialised.
func New(shape []int, dt DType) *Tensor { return NewStrided(shape, nil, dt) }

// NewStrided returns an uninitialised tensor with the given strides in elements (nil: contiguous). Where memory does
// not suffice it panics with ErrMemory.
func NewStrided(shape, stride []int, dt DType) *Tensor { return newStrided(nil, shape, stride, dt) }

// newStrided is NewStrided for a call, which errors name, or nil.
func newStrided(c *Ctx, shape, stride []int, dt DType) *Tensor {
	n := storageSize(shape, stride, dt)
	if n <= tinySize {
		t := &newSmall(n, dt, currentMode()).t
		t.setDims(shape, stride)
		return t
	}
	p, err := mem.TryAlloc(n)
	if err != nil {
		c.exhausted(err, shape, dt)
	}
	t := newJoined(p, n, dt)
	t.setDims(shape, stride)
	return t
}

// storageSize checks sizes and is the number of bytes that a new tensor's storage has.
func storageSize(shape, stride []int, dt DType) int {
	refuseQuantizedType(dt)
	n, size, ok := 1, dt.Size(), true
	if size == 0 {
		Fail(ErrDType, "a tensor of no dtype (%s)", dt)
	}
	for i, s := range shape {
		if s < 0 {
			Fail(ErrShape, "Trying to create tensor with negative dimension %d: %s", s, ShapeString(shape))
		}
		if s == 0 {
			n = 0
		}
		if (s|n)>>23 != 0 && s > 0 && n > math.MaxInt/s { // a division only where it could matter
			if slices.Contains(shape[i:], 0) {
				n = 0
			}
			ok = n == 0
			break
		}
		n *= s
	}
	if ok && stride != nil && n > 0 {
		n = 1
		for i, s := range shape {
			if s > 1 && stride[i] > 0 && s-1 > (math.MaxInt-n)/stride[i] {
				ok = false
				break
			}
			n += (s - 1) * stride[i]
		}
	}
	if !ok || n > math.MaxInt/size {
		Fail(ErrShape, "Storage size calculation overflowed with sizes=%s", ShapeString(shape))
	}
	return n * size
}

// newJoined returns a tensor without dimensions and its storage, of n bytes at p, in one piece, as in small; the
// elements lie elsewhere.
func newJoined(p unsafe.Pointer, n int, dt DType) *Tensor {
	x := &struct {
		t Tensor
		s Storage
	}{}
	x.s.p, x.s.n = p, n
	x.s.entered()
	x.t.st, x.t.ver, x.t.dt = &x.s, &x.s.version, dt
	return &x.t
}

// storageLen is the number of elements that a view from offset 0 reaches.
func storageLen(shape, stride []int) int {
	n := 1
	for i, s := range shape {
		if s == 0 {
			return 0
		}
		n += (s - 1) * stride[i]
	}
	return n
}

// Alias returns a new tensor over the same storage with another shape, strides (in elements, nil: contiguous) and
// offset (in elements of the storage). It is a view of t: in-place changes to one are changes to the other.
func Alias(t *Tensor, shape, stride []int, offset int) *Tensor {
	v := &Tensor{st: t.st, ver: t.ver, off: offset, dt: t.dt, dev: t.dev, flags: t.flags & lazyBits}
	v.setDims(shape, stride)
	v.base = t
	if t.base != nil {
		v.base = t.base
	}
	v.attr = t.ver.Load()
	if t.flags&flagQuantized != 0 {
		v.quantizeAs(t)
	}
	return v
}

// WithDType reinterprets the alias's element type; only for building views such as view_as_real.
func WithDType(t *Tensor, dt DType) *Tensor {
	if t.dt.IsQuantized() || dt.IsQuantized() {
		Fail(ErrDType, "the elements of a quantized tensor cannot be seen as another type: %s as %s", t.dt, dt)
	}
	t.dt = dt
	return t
}

// FromStorage makes a tensor over existing memory, as loading files does.
func FromStorage(s *Storage, dt DType, shape, stride []int, offset int) *Tensor {
	refuseQuantizedType(dt)
	t := &Tensor{st: s, ver: &s.version, off: offset, dt: dt, dev: s.Device()}
	t.setDims(shape, stride)
	end := 0
	if t.numel > 0 {
		end = offset + storageLen(t.shape, t.stride)
	}
	if offset < 0 || end*dt.Size() > s.n {
		Fail(ErrShape, "setStorage: sizes %s, strides %s, storage offset %d, and itemsize %d requiring a storage "+
			"size of %d are out of bounds for storage of size %d",
			ShapeString(t.shape), ShapeString(t.stride), offset, dt.Size(), end*dt.Size(), s.n)
	}
	return t
}

// NewStorage returns a storage of n bytes that are not cleared.
func NewStorage(n int) *Storage { return newStorage(n) }

// Shape is the size of each dimension. The slice must not be changed.
func (t *Tensor) Shape() []int {
	if t == nil {
		panic(noTensor("Tensor.Shape"))
	}
	return t.shape
}

// Strides are the distances between neighbours along each dimension, in elements. The slice must not be changed.
func (t *Tensor) Strides() []int {
	if t == nil {
		panic(noTensor("Tensor.Strides"))
	}
	return t.stride
}

// StorageOffset is the position of the first element in the storage, in elements.
func (t *Tensor) StorageOffset() int {
	if t == nil {
		panic(noTensor("Tensor.StorageOffset"))
	}
	return t.off
}

// Dim is the number of dimensions.
func (t *Tensor) Dim() int {
	if t == nil {
		panic(noTensor("Tensor.Dim"))
	}
	return len(t.shape)
}

// NDim is the number of dimensions.
func (t *Tensor) NDim() int {
	if t == nil {
		panic(noTensor("Tensor.NDim"))
	}
	return len(t.shape)
}

// Size is the length of one dimension; negative dims count from the end.
func (t *Tensor) Size(dim int) int {
	i := t.dimension(dim)
	return t.shape[i]
}

// dimension wraps a dimension that must be there, for Size and Stride.
func (t *Tensor) dimension(dim int) int {
	if t == nil {
		panic(noTensor("Tensor.Size"))
	}
	if len(t.shape) == 0 {
		Fail(ErrIndex, "Dimension specified as %d but tensor has no dimensions", dim)
	}
	return WrapDim(dim, len(t.shape))
}

// Stride is the stride of one dimension in elements; negative dims count from the end.
func (t *Tensor) Stride(dim int) int {
	i := t.dimension(dim)
	return t.stride[i]
}

// Numel is the number of elements.
func (t *Tensor) Numel() int {
	if t == nil {
		panic(noTensor("Tensor.Numel"))
	}
	return t.numel
}

// DType is the element type.
func (t *Tensor) DType() DType {
	if t == nil {
		panic(noTensor("Tensor.DType"))
	}
	return t.dt
}

// Device is where the memory lies.
func (t *Tensor) Device() Device {
	if t == nil {
		panic(noTensor("Tensor.Device"))
	}
	return t.dev
}

// ElementSize is the number of bytes of one element.
func (t *Tensor) ElementSize() int {
	if t == nil {
		panic(noTensor("Tensor.ElementSize"))
	}
	return t.dt.Size()
}

// Storage is the memory that the tensor views.
func (t *Tensor) Storage() *Storage {
	if t == nil {
		panic(noTensor("Tensor.Storage"))
	}
	return t.st
}

// Version counts the in-place changes of the tensor and all its views.
func (t *Tensor) Version() int {
	t.mustHaveMemory("Tensor.Version")
	return int(t.ver.Load())
}

// IsComplex reports a complex element type.
func (t *Tensor) IsComplex() bool {
	if t == nil {
		panic(noTensor("Tensor.IsComplex"))
	}
	return t.dt.IsComplex()
}

// IsFloatingPoint reports a real floating-point element type.
func (t *Tensor) IsFloatingPoint() bool {
	if t == nil {
		panic(noTensor("Tensor.IsFloatingPoint"))
	}
	return t.dt.IsFloat()
}

// IsParameter reports that the tensor was made by nn.NewParameter.
func (t *Tensor) IsParameter() bool {
	if t == nil {
		panic(noTensor("Tensor.IsParameter"))
	}
	return t.flags&flagParam != 0
}

// SetParameter marks the tensor as a parameter, which modules and optimizers look for.
func (t *Tensor) SetParameter() *Tensor {
	t.mustHaveMemory("Tensor.SetParameter")
	t.flags |= flagParam
	return t.Keep()
}

// IsWrappedNumber reports a 0-d tensor made from a Go number, which counts as a scalar in type promotion.
func (t *Tensor) IsWrappedNumber() bool {
	if t == nil {
		panic(noTensor("Tensor.IsWrappedNumber"))
	}
	return t.flags&flagWrapped != 0
}

// SetWrappedNumber marks a 0-d tensor as a number.
func (t *Tensor) SetWrappedNumber() *Tensor {
	if t == nil {
		panic(noTensor("Tensor.SetWrappedNumber"))
	}
	t.flags |= flagWrapped
	return t
}

// Ptr is the address of the first element. That of no elements is the storage's: an offset might lead to the memory
// behind it, which the collector would take for alive.
func Ptr(t *Tensor) unsafe.Pointer {
	if t.st.bits.Load()&(stReleased|stForeign|stTraced) != 0 {
		t.st.access()
	}
	if t.numel == 0 {
		return t.st.p
	}
	return unsafe.Add(t.st.p, t.off*t.dt.Size())
}

// IsContiguous reports that the elements lie row by row without gaps.
func (t *Tensor) IsContiguous() bool {
	if t == nil {
		panic(noTensor("Tensor.IsContiguous"))
	}
	s := 1
	for i := len(t.shape) - 1; i >= 0; i-- {
		if t.shape[i] == 1 {
			continue
		}
		if t.stride[i] != s {
			return t.numel == 0
		}
		s *= t.shape[i]
	}
	return true
}

// IsContiguousFormat is IsContiguous for a memory format: ChannelsLast wants 4 dimensions laid out N, H, W, C.
func (t *Tensor) IsContiguousFormat(f MemoryFormat) bool {
	if t == nil {
		panic(noTensor("Tensor.IsContiguousFormat"))
	}
	switch f {
	case ChannelsLast, ChannelsLast3d:
		want := FormatStrides(t.shape, f)
		if want == nil {
			return false
		}
		for i, s := range t.shape {
			if s != 1 && t.stride[i] != want[i] {
				return false
			}
		}
		return true
	}
	return t.IsContiguous()
}

// FormatStrides gives the strides of a dense tensor in a memory format, nil when the format does not fit the number of
// dimensions.
func FormatStrides(shape []int, f MemoryFormat) []int {
	n := len(shape)
	out := make([]int, n)
	order := make([]int, 0, n)
	switch {
	case f == ChannelsLast && n == 4, f == ChannelsLast3d && n == 5:
		order = append(order, 1)
		for d := n - 1; d >= 2; d-- {
			order = append(order, d)
		}
		order = append(order, 0)
	case f == ChannelsLast || f == ChannelsLast3d:
		return nil
	default:
		for d := n - 1; d >= 0; d-- {
			order = append(order, d)
		}
	}
	s := 1
	for _, d := range order {
		out[d] = s
		s *= max(1, shape[d])
	}
	return out
}

// IsDense reports that the elements fill a block of memory without gaps or overlap, in whatever order of dimensions.
func (t *Tensor) IsDense() bool {
	if t == nil {
		panic(noTensor("Tensor.IsDense"))
	}
	if t.IsContiguous() {
		return true
	}
	var buf [16]int
	perm := buf[:0]
	for d, s := range t.shape {
		if s == 1 {
			continue
		}
		perm = append(perm, d)
		for j := len(perm) - 1; j > 0 && t.stride[perm[j]] < t.stride[perm[j-1]]; j-- {
			perm[j], perm[j-1] = perm[j-1], perm[j]
		}
	}
	want := 1
	for _, d := range perm {
		if t.stride[d] != want {
			return false
		}
		want *= t.shape[d]
	}
	return true
}

// Element is a Go type that holds tensor elements. Float16 and BFloat16 hold the bits of 16-bit floats.
type Element interface {
	bool | uint8 | int8 | int16 | int32 | int64 | int | uint16 | uint32 | uint64 | float32 | float64 | complex64 |
		complex128 | dtype.Float16Bits | dtype.BFloat16Bits
}

// DTypeOf is the element type that a Go type stands for; int is Int64.
func DTypeOf[T Element]() DType {
	var z T
	switch any(z).(type) {
	case bool:
		return Bool
	case uint8:
		return Uint8
	case int8:
		return Int8
	case int16:
		return Int16
	case int32:
		return Int32
	case int64, int:
		return Int64
	case uint16:
		return Uint16
	case uint32:
		return Uint32
	case uint64:
		return Uint64
	case float32:
		return Float32
	case float64:
		return Float64
	case complex64:
		return Complex64
	case complex128:
		return Complex128
	case dtype.Float16Bits:
		return Float16
	}
	return BFloat16
}

// Data is the memory of a contiguous tensor as a Go slice that shares it. It panics when the tensor is not contiguous
// or T is not its element type. The slice keeps the memory alive, but Tidy may free it and have it used again: kernels
// let go of it before the call ends, everybody else uses SharedData.
func Data[T Element](t *Tensor) []T {
	t.mustHaveMemory("torch.Data")
	if DTypeOf[T]() != t.dt {
		if t.dt.IsQuantized() {
			refuseQuantizedRead("Data")
		}
		Fail(ErrDType, "Data: the tensor's dtype is %s, the slice's is %s", t.dt, DTypeOf[T]())
	}
	if !t.IsContiguous() {
		Fail(ErrShape, "Data: the tensor (shape %s, strides %s) is not contiguous: call Contiguous first",
			ShapeString(t.shape), ShapeString(t.stride))
	}
	t.refuseLazy("Data")
	if t.numel == 0 {
		return []T{}
	}
	return unsafe.Slice((*T)(Ptr(t)), t.numel)
}

// SharedData is Data for a slice that may be used after the tensor was freed by Tidy: the memory is then left alone
// until the slice is unreachable as well. torch.Data is this function.
func SharedData[T Element](t *Tensor) []T {
	t.mustHaveMemory("torch.Data")
	t.st.show()
	return Data[T](t)
}

// FromSlice copies a Go slice into a new tensor. Without a shape the result is 1-d.
func FromSlice[T Element](data []T, shape ...int) *Tensor {
	if shape == nil {
		shape = []int{len(data)}
	}
	if numel(shape) != len(data) {
		Fail(ErrShape, "FromSlice: shape %s needs %d elements, the slice has %d", ShapeString(shape), numel(shape),
			len(data))
	}
	t := New(shape, DTypeOf[T]())
	if len(data) > 0 {
		copy(unsafe.Slice((*T)(Ptr(t)), len(data)), data)
	}
	return t
}

// ShapeString prints sizes as PyTorch's messages do: "[2, 3]".
func ShapeString(s []int) string {
	var b strings.Builder
	b.WriteByte('[')
	for i, x := range s {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprint(&b, x)
	}
	b.WriteByte(']')
	return b.String()
}

// DataPtr is the address of the first element, 0 where there is no memory. It tells whether two tensors begin at the
// same place.
// https://pytorch.org/docs/stable/generated/torch.Tensor.data_ptr.html
func (t *Tensor) DataPtr() uintptr {
	t.mustHaveMemory("Tensor.DataPtr")
	return uintptr(Ptr(t))
}
