package torch

import (
	"fmt"
	"math"
	"os"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/dtype"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/internal/rng"
	"github.com/gotorch-dev/torch/tensor"
)

// The constants of Python's torch.
var (
	Inf = math.Inf(1)
	NaN = math.NaN()
)

// Pi and E are π and e.
const (
	Pi = math.Pi
	E  = math.E
)

// GetDefaultDType is [DefaultDType] under PyTorch's name.
func GetDefaultDType() DType { return tensor.DefaultDType() }

// SetDefaultTensorType changes the type and the device of new tensors by the name of an old class, "torch.DoubleTensor"
// or "torch.cuda.HalfTensor". It panics with ErrDType unless the name is that of a class of floating-point tensors.
//
// Deprecated: PyTorch advises against it; [SetDefaultDType] and [SetDefaultDevice] set one each.
func SetDefaultTensorType(name string) {
	class, ok := strings.CutPrefix(name, "torch.")
	kind, rest, onDevice := strings.Cut(class, ".")
	d := Device{}
	if onDevice {
		var err error
		if d, err = tensor.ParseDevice(kind); err != nil {
			tensor.Fail(tensor.ErrDevice, "set_default_tensor_type: %s: %v", name, err)
		}
		class = rest
	}
	for _, dt := range dtype.All {
		if ok && dt.ClassName()+"Tensor" == class {
			tensor.SetDefaultDType(dt)
			tensor.SetDefaultDevice(d)
			return
		}
	}
	tensor.Fail(tensor.ErrDType, "invalid type object %q: only floating-point types are supported as the default type",
		name)
}

// BoolTensor copies bools into a tensor, as [FromSlice] does; it is the name of an old class in Python.
func BoolTensor(values []bool, shape ...int) *Tensor { return FromSlice(values, shape...) }

// UntypedStorage is the memory of tensors, [tensor.Storage].
type UntypedStorage = tensor.Storage

// IsVulkanAvailable reports that this program computes on devices by Vulkan: never, as in PyTorch's own builds.
func IsVulkanAvailable() bool { return false }

// GetDefaultDevice is [DefaultDevice] under PyTorch's name.
func GetDefaultDevice() Device { return tensor.DefaultDevice() }

// SetDefaultDevice changes, for the whole program, the device of new tensors where none is given; [WithDevice] still
// counts inside its function.
// https://pytorch.org/docs/stable/generated/torch.set_default_device.html
func SetDefaultDevice(d Device) { tensor.SetDefaultDevice(d) }

// GetNumThreads is [NumThreads] under PyTorch's name.
func GetNumThreads() int { return par.NumThreads() }

// GetDevice is the number of the tensor's device, -1 for the CPU.
func GetDevice(t *Tensor) int { return t.GetDevice() }

// Seed seeds the default generator with a number from the operating system, and returns it.
// https://pytorch.org/docs/stable/generated/torch.seed.html
func Seed() uint64 { return rng.Default.Seed() }

// GetRNGState is [RNGState] under PyTorch's name.
func GetRNGState() []byte { return rng.Default.State() }

// ForkRNG calls f and then puts the default generator back into its state, so that the random numbers drawn in f change
// none of the others.
// https://pytorch.org/docs/stable/random.html#torch.random.fork_rng
func ForkRNG(f func()) {
	state := rng.Default.State()
	defer func() {
		if err := rng.Default.SetState(state); err != nil {
			panic(err) // its own state fits
		}
	}()
	f()
}

// IsTensor reports a value that is a tensor.
func IsTensor(v any) bool {
	t, ok := v.(*Tensor)
	return ok && t != nil
}

// IsStorage reports a value that is the memory of tensors.
func IsStorage(v any) bool {
	s, ok := v.(*tensor.Storage)
	return ok && s != nil
}

// AsTensor returns a tensor as it is, and copies a Go number or slice of numbers into a new one, as FromSlice does.
// With an option the result is converted. Other types are an error. Unlike Python's, slices are copied; nothing shares
// memory with a Go slice.
// https://pytorch.org/docs/stable/generated/torch.as_tensor.html
func AsTensor(v any, opts ...AsTensorOptions) *Tensor {
	var t *Tensor
	switch x := v.(type) {
	case *Tensor:
		t = x
	case []bool:
		t = FromSlice(x)
	case []uint8:
		t = FromSlice(x)
	case []int8:
		t = FromSlice(x)
	case []int16:
		t = FromSlice(x)
	case []int32:
		t = FromSlice(x)
	case []int64:
		t = FromSlice(x)
	case []int:
		t = FromSlice(x)
	case []float32:
		t = FromSlice(x)
	case []float64:
		t = FromSlice(x)
	case []complex64:
		t = FromSlice(x)
	case []complex128:
		t = FromSlice(x)
	case bool, int, int64, int32, uint8, float32, float64, complex64, complex128:
		t = ScalarTensor(x)
		if _, ok := x.(bool); ok {
			t = t.To(Bool)
		} else if n := tensor.ScalarValue(x).Num(); n.IsInt() {
			t = t.To(Int64)
		}
	default:
		tensor.Fail(tensor.ErrType, "AsTensor: want a *Tensor, a number or a slice of numbers, got %T", v)
	}
	if len(opts) > 0 {
		if dt := opts[0].DType; dt != 0 {
			t = t.To(dt)
		}
		if d := opts[0].Device; d != (Device{}) {
			t = t.To(d)
		}
	}
	return t
}

// AsTensorOptions are the options of AsTensor and AsArray.
type AsTensorOptions struct {
	DType  DType  // default: that of the value
	Device Device // default: that of the value
}

// AsArray is another name of AsTensor.
// https://pytorch.org/docs/stable/generated/torch.asarray.html
func AsArray(v any, opts ...AsTensorOptions) *Tensor { return AsTensor(v, opts...) }

// FromBufferOptions are the options of FromBuffer.
type FromBufferOptions struct {
	Count  int // elements, default: as many as there are
	Offset int // bytes to skip
}

// FromBuffer copies elements of a dtype from bytes in the machine's byte order into a 1-d tensor. Unlike Python's, the
// tensor has memory of its own.
// https://pytorch.org/docs/stable/generated/torch.frombuffer.html
func FromBuffer(buffer []byte, dt DType, opts ...FromBufferOptions) (*Tensor, error) {
	var o FromBufferOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	if !dt.Valid() {
		return nil, &Error{Op: "FromBuffer", Msg: "FromBuffer: want a dtype", Err: ErrDType}
	}
	size := dt.Size()
	if o.Offset < 0 || o.Offset > len(buffer) || o.Count < 0 || o.Count > (len(buffer)-o.Offset)/size {
		return nil, &Error{Op: "FromBuffer", Err: ErrValue,
			Msg: fmt.Sprintf("FromBuffer: %d elements of %s at offset %d do "+
				"not lie in a buffer of %d bytes", o.Count, dt, o.Offset, len(buffer))}
	}
	if o.Count == 0 {
		if (len(buffer)-o.Offset)%size != 0 {
			return nil, &Error{Op: "FromBuffer", Err: ErrValue,
				Msg: fmt.Sprintf("FromBuffer: the %d bytes after offset %d are "+
					"no multiple of the %d bytes of an element of %s", len(buffer)-o.Offset, o.Offset, size, dt)}
		}
		o.Count = (len(buffer) - o.Offset) / size
	}
	t := tensor.New([]int{o.Count}, dt)
	if o.Count > 0 {
		copy(unsafe.Slice((*byte)(tensor.Ptr(t)), o.Count*size), buffer[o.Offset:])
	}
	if dt == Bool { // any number but 0 is true
		for i, b := range unsafe.Slice((*byte)(tensor.Ptr(t)), o.Count) {
			if b > 1 {
				unsafe.Slice((*byte)(tensor.Ptr(t)), o.Count)[i] = 1
			}
		}
	}
	return t, nil
}

// FromFile reads size elements of a dtype from the beginning of a file, in the machine's byte order, into a 1-d tensor.
// Unlike Python's, the file is copied and never mapped, as with shared=False.
// https://pytorch.org/docs/stable/generated/torch.from_file.html
func FromFile(path string, size int, dt DType) (*Tensor, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !dt.Valid() || size < 0 || info.Mode().IsRegular() && int64(size) > info.Size()/int64(dt.Size()) {
		return nil, &Error{Op: "FromFile", Err: ErrValue,
			Msg: fmt.Sprintf("FromFile: %s of %d bytes does not hold %d elements "+
				"of %s", path, info.Size(), size, dt)}
	}
	t := tensor.New([]int{size}, dt)
	if size == 0 {
		return t, nil
	}
	b := unsafe.Slice((*byte)(tensor.Ptr(t)), size*dt.Size())
	for n := 0; n < len(b); {
		k, err := f.ReadAt(b[n:], int64(n))
		if n += k; err != nil && n < len(b) {
			return nil, err
		}
	}
	return t, nil
}

// What the program has chosen, for those who ask.
var (
	determinism   atomic.Int32 // 0 off, 1 warn, 2 on
	matmulQuality atomic.Int32 // index in precisions
)

// UseDeterministicAlgorithms says that the program wants the same results from the same inputs. Every operator here is
// deterministic in any case, for any number of threads, so that nothing changes but what
// AreDeterministicAlgorithmsEnabled says.
// https://pytorch.org/docs/stable/generated/torch.use_deterministic_algorithms.html
func UseDeterministicAlgorithms(mode bool, warnOnly ...bool) {
	n := int32(0)
	if mode {
		n = 2
		if len(warnOnly) > 0 && warnOnly[0] {
			n = 1
		}
	}
	determinism.Store(n)
}

// AreDeterministicAlgorithmsEnabled reports what UseDeterministicAlgorithms has set.
func AreDeterministicAlgorithmsEnabled() bool { return determinism.Load() > 0 }

// IsDeterministicAlgorithmsWarnOnlyEnabled reports warnOnly of UseDeterministicAlgorithms.
func IsDeterministicAlgorithmsWarnOnlyEnabled() bool { return determinism.Load() == 1 }

// GetDeterministicDebugMode is 0, "default"; 1, "warn"; or 2, "error".
func GetDeterministicDebugMode() int { return int(determinism.Load()) }

// SetDeterministicDebugMode is UseDeterministicAlgorithms by a number, see GetDeterministicDebugMode.
func SetDeterministicDebugMode(mode int) {
	if mode < 0 || mode > 2 {
		tensor.Fail(tensor.ErrValue, "invalid value of debug_mode, expected 0, 1, or 2, but got %d", mode)
	}
	determinism.Store(int32(mode))
}

var precisions = []string{"highest", "high", "medium"}

// SetFloat32MatmulPrecision allows products of float32 matrices to be computed less exactly: "highest", "high" or
// "medium". Here they are always computed in float32, as with "highest".
// https://pytorch.org/docs/stable/generated/torch.set_float32_matmul_precision.html
func SetFloat32MatmulPrecision(precision string) {
	for i, p := range precisions {
		if p == precision {
			matmulQuality.Store(int32(i))
			return
		}
	}
	tensor.Fail(tensor.ErrValue, "set_float32_matmul_precision: expected \"highest\", \"high\" or \"medium\", got %q",
		precision)
}

// GetFloat32MatmulPrecision is what SetFloat32MatmulPrecision has set.
func GetFloat32MatmulPrecision() string { return precisions[matmulQuality.Load()] }

// SetFlushDenormal would have denormal numbers computed as 0. It returns false: Go programs cannot choose that.
// https://pytorch.org/docs/stable/generated/torch.set_flush_denormal.html
func SetFlushDenormal(bool) bool { return false }

// SetWarnAlways has every warning given as often as it occurs, instead of once for each line of the program.
// https://pytorch.org/docs/stable/generated/torch.set_warn_always.html
func SetWarnAlways(on bool) { tensor.SetWarnAlways(on) }

// IsWarnAlwaysEnabled reports what SetWarnAlways has set.
func IsWarnAlwaysEnabled() bool { return tensor.IsWarnAlways() }

var interopThreads atomic.Int32 // 0: as many as GetNumThreads

// SetNumInteropThreads says how many threads are to run operators beside each other, in programs that start some with
// fork. Goroutines do that here, without a pool of their own, so that nothing changes but what GetNumInteropThreads
// says.
// https://pytorch.org/docs/stable/generated/torch.set_num_interop_threads.html
func SetNumInteropThreads(n int) {
	if n < 1 || n > math.MaxInt32 {
		tensor.Fail(tensor.ErrValue, "Expected positive number of threads, got %d", n)
	}
	interopThreads.Store(int32(n))
}

// GetNumInteropThreads is what SetNumInteropThreads has set, at first [GetNumThreads].
func GetNumInteropThreads() int {
	if n := interopThreads.Load(); n > 0 {
		return int(n)
	}
	return GetNumThreads()
}
