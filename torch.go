// Package torch is the front door: tensors and their creation, operators as functions, modes, random seeds, saving and
// loading.
//
// Memory: tensors are found and freed by the garbage collector; inside [Tidy] they are freed at its end. Memory that
// was freed is kept to be used again, goes back to the system after a quiet second or with [EmptyCache], and is counted
// by [MemoryStats]. An allocation beyond [SetMemoryLimit], by default what the machine or its container has, panics
// with an *Error of cause [ErrMemory], which [Try] returns: the process goes on.
//
// Mistakes in a tensor expression (shapes that do not fit, a nil tensor, a misspelt mode) panic with an *[Error], which
// [Try] turns into an ordinary error. It names the operator with its arguments, the layer, and the user's line.
//
// # Several goroutines
//
// Tensors may be read by any number of goroutines: operators, of which several may run at once, never write to their
// inputs, except for those that say so by their name (AddInPlace), for results given by Out, and for SetIndex. Who
// writes to a tensor, or to one that shares its memory, must be alone with it. Modes (NoGrad, InferenceMode, Tidy)
// belong to the goroutine that sets them. The default generator of random numbers may be used by many goroutines; which
// of them gets which numbers is then left to chance, and a Generator of its own for each makes it certain. What holds
// for models is said in package nn, for optimizers in package optim, for backward passes in package autograd.
//
//go:generate go run ./internal/gen
package torch

import (
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/internal/rng"
	_ "github.com/gotorch-dev/torch/ops/all" // links the operators
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/tensor"
)

// The types that every program meets.
type (
	// Tensor is a strided array with a dtype, a device and a place on the tape.
	Tensor = tensor.Tensor
	// DType is the element type of a tensor.
	DType = tensor.DType
	// Device is where a tensor's memory lies.
	Device = tensor.Device
	// MemoryFormat is a hint for the order of dimensions in memory.
	MemoryFormat = tensor.MemoryFormat
	// Generator draws random numbers.
	Generator = tensor.Generator
	// StateDict is an ordered dictionary of tensors.
	StateDict = tensor.StateDict
	// Error is what a mistake in a tensor expression panics with.
	Error = tensor.Error
	// Scalar is a Go number or bool.
	Scalar = tensor.Scalar
	// BackwardOptions are the options of Tensor.Backward.
	BackwardOptions = tensor.BackwardOptions
	// GradOptions are the options of Grad.
	GradOptions = tensor.GradOptions
	// PrintOptions say how tensors print.
	PrintOptions = tensor.PrintOptions
	// Size is a shape that prints as Python's torch.Size.
	Size = tensor.Size
	// Warning is advice about a call that did its work all the same: see SetWarnings.
	Warning = tensor.Warning
	// OutOptions names a tensor to write a result to.
	OutOptions = tensor.OutOptions
)

// The element types.
const (
	Bool       = tensor.Bool
	Uint8      = tensor.Uint8
	Int8       = tensor.Int8
	Int16      = tensor.Int16
	Int32      = tensor.Int32
	Int64      = tensor.Int64
	Float16    = tensor.Float16
	BFloat16   = tensor.BFloat16
	Float32    = tensor.Float32
	Float64    = tensor.Float64
	Complex64  = tensor.Complex64
	Complex128 = tensor.Complex128
)

// Element types that are made for storage: they are created, converted, copied, printed, saved and loaded, and refused
// by most operators that compute, as in PyTorch.
const (
	Uint16         = tensor.Uint16
	Uint32         = tensor.Uint32
	Uint64         = tensor.Uint64
	Complex32      = tensor.Complex32
	BComplex32     = tensor.BComplex32 // of bfloat16 parts; without operators in PyTorch, too
	Float8E4M3FN   = tensor.Float8E4M3FN
	Float8E5M2     = tensor.Float8E5M2
	Float8E4M3FNUZ = tensor.Float8E4M3FNUZ
	Float8E5M2FNUZ = tensor.Float8E5M2FNUZ
	Float8E8M0FNU  = tensor.Float8E8M0FNU
)

// Element types that have no operators, in PyTorch either, see package tensor.
const (
	Int1           = tensor.Int1
	Int2           = tensor.Int2
	Int3           = tensor.Int3
	Int4           = tensor.Int4
	Int5           = tensor.Int5
	Int6           = tensor.Int6
	Int7           = tensor.Int7
	Uint1          = tensor.Uint1
	Uint2          = tensor.Uint2
	Uint3          = tensor.Uint3
	Uint4          = tensor.Uint4
	Uint5          = tensor.Uint5
	Uint6          = tensor.Uint6
	Uint7          = tensor.Uint7
	Bit            = tensor.Uint1
	Bits1x8        = tensor.Bits1x8
	Bits2x4        = tensor.Bits2x4
	Bits4x2        = tensor.Bits4x2
	Bits8          = tensor.Bits8
	Bits16         = tensor.Bits16
	Float4E2M1FNx2 = tensor.Float4E2M1FNx2
)

// Element types of quantized tensors: integers that stand for numbers by a scale and a zero point. QuantizePerTensor
// and QuantizePerChannel make such tensors.
const (
	QUInt8   = tensor.QUInt8
	QInt8    = tensor.QInt8
	QInt32   = tensor.QInt32
	QUInt4x2 = tensor.QUInt4x2
	QUInt2x4 = tensor.QUInt2x4
)

// The memory formats.
const (
	ContiguousFormat = tensor.ContiguousFormat
	PreserveFormat   = tensor.PreserveFormat
	ChannelsLast     = tensor.ChannelsLast
	ChannelsLast3d   = tensor.ChannelsLast3d
)

// The devices that are always there.
var (
	CPU = tensor.Device{}
	// Meta is a device without memory: its tensors have a shape, strides and a dtype.
	// https://pytorch.org/docs/stable/meta.html
	Meta = tensor.Device{Type: tensor.MetaDevice}
)

// ParseDevice reads the name of a device: "cpu", "meta", "cuda", "cuda:1". It is an error when the device is not there.
func ParseDevice(name string) (Device, error) { return tensor.ParseDevice(name) }

// WithDevice runs f with another device for new tensors where none is given, as Python's "with torch.device(d):" does.
func WithDevice(d Device, f func()) { tensor.WithDevice(d, f) }

// DefaultDevice is the device of new tensors where none is given.
func DefaultDevice() Device { return tensor.DefaultDevice() }

// The causes that errors.Is can tell apart.
var (
	ErrShape    = tensor.ErrShape
	ErrDType    = tensor.ErrDType
	ErrIndex    = tensor.ErrIndex
	ErrValue    = tensor.ErrValue
	ErrType     = tensor.ErrType
	ErrAutograd = tensor.ErrAutograd
	ErrReleased = tensor.ErrReleased
	ErrNotFound = tensor.ErrNotFound
	ErrDevice   = tensor.ErrDevice
	ErrMemory   = tensor.ErrMemory
	ErrLinAlg   = tensor.ErrLinAlg
)

// Some is a given optional value in an options struct.
func Some[T any](v T) tensor.Opt[T] { return tensor.Some(v) }

// FromSlice copies a Go slice into a new tensor of the given shape, on the default device; without a shape the result
// is 1-d.
func FromSlice[T tensor.Element](data []T, shape ...int) *Tensor {
	t := tensor.FromSlice(data, shape...)
	if d := tensor.DefaultDevice(); d != CPU {
		return t.To(d)
	}
	return t
}

// Data is the memory of a contiguous tensor as a Go slice that shares it.
func Data[T tensor.Element](t *Tensor) []T { return tensor.SharedData[T](t) }

// Try calls f and returns the *Error that it panics with, if any.
func Try(f func()) error { return tensor.Try(f) }

// SetWarnings sends warnings to handler instead of standard error, and returns the handler before; nil stands for
// standard error. Each line of the program is told the same thing once.
//
//	torch.SetWarnings(func(torch.Warning) {}) // silence
func SetWarnings(handler func(Warning)) (before func(Warning)) { return tensor.SetWarnings(handler) }

// NoGrad runs f without recording gradients on this goroutine.
func NoGrad(f func()) { tensor.NoGrad(f) }

// EnableGrad runs f with recording switched on again inside NoGrad.
func EnableGrad(f func()) { tensor.EnableGrad(f) }

// SetGradEnabled runs f with recording on or off.
func SetGradEnabled(on bool, f func()) { tensor.SetGradEnabled(on, f) }

// InferenceMode runs f without recording gradients.
func InferenceMode(f func()) { tensor.InferenceMode(f) }

// IsGradEnabled reports whether operators record gradients on this goroutine.
func IsGradEnabled() bool { return tensor.IsGradEnabled() }

// Grad returns the gradients of the sum of outputs with respect to inputs.
func Grad(outputs, inputs []*Tensor, opts ...GradOptions) []*Tensor {
	return tensor.Grad(outputs, inputs, opts...)
}

// ManualSeed seeds the default generator and returns it.
func ManualSeed(seed int64) *Generator { return rng.Default.ManualSeed(seed) }

// DefaultGenerator is the generator that is used where none is given.
func DefaultGenerator() *Generator { return rng.Default }

// NewGenerator returns a generator with PyTorch's initial seed.
func NewGenerator() *Generator { return rng.New() }

// InitialSeed is the seed of the default generator.
func InitialSeed() uint64 { return rng.Default.InitialSeed() }

// RNGState is the state of the default generator (5056 bytes, as PyTorch's get_rng_state).
func RNGState() []byte { return rng.Default.State() }

// SetRNGState restores a state of the default generator.
func SetRNGState(state []byte) error { return rng.Default.SetState(state) }

// NumThreads is the number of threads that operators use.
func NumThreads() int { return par.NumThreads() }

// SetNumThreads sets the number of threads that operators use; results do not depend on it.
func SetNumThreads(n int) { par.SetNumThreads(n) }

// DefaultDType is the type of tensors made from Go floats.
func DefaultDType() DType { return tensor.DefaultDType() }

// SetDefaultDType changes the type of tensors made from Go floats.
func SetDefaultDType(dt DType) { tensor.SetDefaultDType(dt) }

// PromoteTypes is the smallest type that both can be converted to.
func PromoteTypes(a, b DType) DType { return tensor.PromoteTypes(a, b) }

// CanCast reports whether PyTorch's casting rules allow from to become to.
func CanCast(from, to DType) bool { return tensor.CanCast(from, to) }

// FInfo describes a floating-point dtype, IInfo an integer one; https://docs.pytorch.org/docs/stable/type_info.html.
func FInfo(dt DType) tensor.FloatInfo { return tensor.FInfo(dt) }

// IInfo describes an integer dtype; see [FInfo].
func IInfo(dt DType) tensor.IntInfo { return tensor.IInfo(dt) }

// ResultType is the type that an operator on the two tensors would have.
func ResultType(a, b *Tensor) DType { return tensor.ResultType(a, b) }

// The profiles of SetPrintOptions.
const (
	DefaultProfile = tensor.DefaultProfile
	ShortProfile   = tensor.ShortProfile
	FullProfile    = tensor.FullProfile
)

// SetPrintOptions changes how tensors print, for the whole program, and returns what held before.
func SetPrintOptions(o PrintOptions) (old PrintOptions) { return tensor.SetPrintOptions(o) }

// Save writes a tensor, a state dict, or a value made of them to a file that Python's torch.load opens.
func Save(path string, v any) error { return serialize.SaveFile(path, v) }

// Load reads a file that torch.save wrote: a *Tensor, a *serialize.Dict, a list, …
func Load(path string, opts ...serialize.LoadOptions) (any, error) {
	return serialize.LoadFile(path, opts...)
}

// LoadStateDict reads a file that holds a state dict.
func LoadStateDict(path string, opts ...serialize.LoadOptions) (*StateDict, error) {
	return serialize.LoadStateDict(path, opts...)
}

// NumOperators is the number of registered operators, in-place, out and number forms included.
func NumOperators() int { return len(tensor.Ops()) }
