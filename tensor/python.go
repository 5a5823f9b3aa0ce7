package tensor

import (
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync/atomic"
)

// This file has the properties and methods of Python's torch.Tensor that are no operators.

// NElement is another name of [Tensor.Numel].
func (t *Tensor) NElement() int { return t.Numel() }

// NDimension is another name of [Tensor.Dim].
func (t *Tensor) NDimension() int { return t.Dim() }

// ItemSize is another name of [Tensor.ElementSize].
func (t *Tensor) ItemSize() int { return t.ElementSize() }

// NBytes is the number of bytes of the tensor's elements.
// https://pytorch.org/docs/stable/generated/torch.Tensor.nbytes.html
func (t *Tensor) NBytes() int { return t.Numel() * t.ElementSize() }

// IsCPU reports that the tensor is in the CPU's memory.
func (t *Tensor) IsCPU() bool { return t.Device().Type == CPUDevice }

// IsCUDA reports that the tensor is in the memory of a CUDA device.
func (t *Tensor) IsCUDA() bool { return t.Device().Type == CUDADevice }

// IsMeta reports that the tensor has a shape and a dtype, but no elements.
func (t *Tensor) IsMeta() bool { return t.Device().Type == MetaDevice }

// IsXPU reports that the tensor is on a GPU of Intel's.
func (t *Tensor) IsXPU() bool { return t.Device().Type == XPUDevice }

// IsXLA reports that the tensor is on a device of XLA's.
func (t *Tensor) IsXLA() bool { return t.Device().Type == XLADevice }

// IsIPU reports that the tensor is on an IPU.
func (t *Tensor) IsIPU() bool { return t.Device().Type == IPUDevice }

// IsMTIA reports that the tensor is on an accelerator of that name.
func (t *Tensor) IsMTIA() bool { return t.Device().Type == MTIADevice }

// What programs ask about devices, layouts and memory that are not here: the answer is no. Memory is shared by all
// goroutines as it is; Python's IsShared asks about other processes.

// IsMPS reports that the tensor is on a GPU of Apple's.
func (t *Tensor) IsMPS() bool { return false }

// IsMAIA reports that the tensor is on an accelerator of that name.
func (t *Tensor) IsMAIA() bool { return false }

// IsVulkan reports that the tensor is in a buffer of Vulkan's.
func (t *Tensor) IsVulkan() bool { return false }

// IsMKLDNN reports that the tensor has oneDNN's own layout.
func (t *Tensor) IsMKLDNN() bool { return false }

// IsNested reports a nested tensor, whose rows differ in length.
func (t *Tensor) IsNested() bool { return false }

// IsPinned reports that the tensor is in memory that a GPU may read at any time.
func (t *Tensor) IsPinned() bool { return false }

// IsShared reports that other processes share the tensor's memory.
func (t *Tensor) IsShared() bool { return false }

// IsDistributed is false in PyTorch, too.
func (t *Tensor) IsDistributed() bool { return false }

// StorageType is the name of the old class of the tensor's memory, "torch.FloatStorage", which carries its dtype.
// https://docs.pytorch.org/docs/stable/generated/torch.Tensor.storage_type.html
func (t *Tensor) StorageType() string {
	t.mustHaveMemory("Tensor.StorageType")
	return "torch." + t.dt.ClassName() + "Storage"
}

// UntypedStorage is [Tensor.Storage]: a storage here has no dtype.
// https://docs.pytorch.org/docs/stable/generated/torch.Tensor.untyped_storage.html
func (t *Tensor) UntypedStorage() *Storage { return t.Storage() }

// ConstDataPtr is [Tensor.DataPtr], which does not let the caller write.
// https://docs.pytorch.org/docs/stable/generated/torch.Tensor.const_data_ptr.html
func (t *Tensor) ConstDataPtr() uintptr { return t.DataPtr() }

// Data is a view of the same memory that is not connected to the tape, like that of Detach, but with a version of its
// own: the engine does not notice what is written to it, and computes wrong gradients from it. Detach is the safe one.
// https://docs.pytorch.org/docs/stable/generated/torch.Tensor.data.html
func (t *Tensor) Data() *Tensor {
	d := t.Detach()
	d.ver = new(atomic.Uint32)
	return d
}

// PinMemory would copy the tensor into memory that a GPU may read at any time. It panics with ErrDevice, as PyTorch's
// does on a machine without GPU: no backend here has such memory.
// https://docs.pytorch.org/docs/stable/generated/torch.Tensor.pin_memory.html
func (t *Tensor) PinMemory() *Tensor {
	t.mustHaveMemory("Tensor.PinMemory")
	Fail(ErrDevice, "pin_memory: there is no device in this program that has pinned memory (linked are %s)",
		strings.Join(BackendNames(), ", "))
	return nil
}

// New is a tensor of these sizes, not set to anything, with the dtype and on the device of t.
//
// Deprecated: PyTorch advises against it; [Tensor.NewEmpty] is the same.
func (t *Tensor) New(size ...int) *Tensor { return t.NewEmpty(size) }

// Resize is the tensor with another shape of as many elements, as Reshape gives it. It panics with ErrShape for another
// number of elements.
//
// Deprecated: PyTorch advises against it; [Tensor.Reshape] is the same.
func (t *Tensor) Resize(size ...int) *Tensor {
	t.mustHaveMemory("Tensor.Resize")
	n := 1
	for _, s := range size {
		n *= s
	}
	if n != t.Numel() {
		Fail(ErrShape, "requested resize to %s (%d elements in total), but the given tensor has a size of %s (%d "+
			"elements). autograd's resize can only change the shape of a given tensor, while preserving the number of "+
			"elements.", by(size), n, by(t.Shape()), t.Numel())
	}
	return t.Reshape(size)
}

// ResizeAs is [Tensor.Resize] to the shape of another tensor.
//
// Deprecated: PyTorch advises against it; [Tensor.ReshapeAs] is the same.
func (t *Tensor) ResizeAs(other *Tensor) *Tensor { return t.Resize(other.Shape()...) }

// by prints sizes as "3x4".
func by(sizes []int) string {
	s := make([]string, len(sizes))
	for i, n := range sizes {
		s[i] = strconv.Itoa(n)
	}
	return strings.Join(s, "x")
}

// GetDevice is the number of the tensor's device, -1 for the CPU.
// https://pytorch.org/docs/stable/generated/torch.Tensor.get_device.html
func (t *Tensor) GetDevice() int {
	d := t.Device()
	if d.Type == CPUDevice {
		return -1
	}
	return int(d.Index)
}

// IsSetTo reports that both tensors show the same elements of the same storage: same offset, shape and strides.
// https://pytorch.org/docs/stable/generated/torch.Tensor.is_set_to.html
func (t *Tensor) IsSetTo(other *Tensor) bool {
	return t.Storage() == other.Storage() && t.StorageOffset() == other.StorageOffset() &&
		SameShape(t.Shape(), other.Shape()) && SameShape(t.Strides(), other.Strides())
}

// DimOrder lists the dimensions from the one with the largest step in memory to the one with the smallest; those with
// equal steps keep their order.
// https://pytorch.org/docs/stable/generated/torch.Tensor.dim_order.html
func (t *Tensor) DimOrder() []int {
	order := make([]int, t.Dim())
	for i := range order {
		order[i] = i
	}
	st := t.Strides()
	sort.SliceStable(order, func(i, j int) bool { return st[order[i]] > st[order[j]] })
	return order
}

// RequiresGradInPlace is [Tensor.SetRequiresGrad] under PyTorch's name, requires_grad_; without an argument it is true.
func (t *Tensor) RequiresGradInPlace(requiresGrad ...bool) *Tensor {
	return t.SetRequiresGrad(len(requiresGrad) == 0 || requiresGrad[0])
}

// ToList holds the elements in nested slices of type []any, those of the last dimension as Go numbers: bool, int64,
// float64 or complex128. A tensor without dimensions gives the number itself.
// https://pytorch.org/docs/stable/generated/torch.Tensor.tolist.html
func (t *Tensor) ToList() any {
	t.mustHaveMemory("Tensor.ToList")
	x := t.Detach().CPU()
	var at func(i int) any
	switch dt := x.DType(); {
	case dt == Bool:
		d := Data[bool](Dense(x))
		at = func(i int) any { return d[i] }
	case dt.IsInt():
		d := Data[int64](DenseAs(x, Int64))
		at = func(i int) any { return d[i] }
	case dt.IsComplex():
		d := Data[complex128](DenseAs(x, Complex128))
		at = func(i int) any { return d[i] }
	default:
		d := Data[float64](DenseAs(x, Float64))
		at = func(i int) any { return d[i] }
	}
	next := 0
	var list func(shape []int) any
	list = func(shape []int) any {
		if len(shape) == 0 {
			next++
			return at(next - 1)
		}
		l := make([]any, shape[0])
		for i := range l {
			l[i] = list(shape[1:])
		}
		return l
	}
	return list(x.Shape())
}

// NewTensor copies a Go slice into a tensor with the dtype and on the device of t; without a shape the result is 1-d.
// The slice is one of those that FromSlice takes, with elements of type bool, int, int64, float32, float64 or
// complex128; another one is an error.
// https://pytorch.org/docs/stable/generated/torch.Tensor.new_tensor.html
func (t *Tensor) NewTensor(data any, shape ...int) *Tensor {
	t.mustHaveMemory("Tensor.NewTensor")
	var x *Tensor
	switch d := data.(type) {
	case []bool:
		x = FromSlice(d, shape...)
	case []int:
		x = FromSlice(d, shape...)
	case []int64:
		x = FromSlice(d, shape...)
	case []float32:
		x = FromSlice(d, shape...)
	case []float64:
		x = FromSlice(d, shape...)
	case []complex128:
		x = FromSlice(d, shape...)
	default:
		Fail(ErrType, "NewTensor: want a slice of bool, int, int64, float32, float64 or complex128, got %T", data)
	}
	return x.To(t.DType()).To(t.Device())
}

// ApplyInPlace replaces every element x of a tensor in the CPU's memory by f(x). It is slow, since f is called for each
// element, and records nothing: a tensor that requires a gradient is an error.
// https://pytorch.org/docs/stable/generated/torch.Tensor.apply_.html
func (t *Tensor) ApplyInPlace(f func(x float64) float64) *Tensor {
	return t.mapElements("apply_", nil, func(x []float64) float64 { return f(x[0]) })
}

// MapInPlace replaces every element x by f(x, y), where y is the element of other, broadcast to the shape of t. What
// holds for ApplyInPlace holds here.
// https://pytorch.org/docs/stable/generated/torch.Tensor.map_.html
func (t *Tensor) MapInPlace(other *Tensor, f func(x, y float64) float64) *Tensor {
	return t.mapElements("map_", []*Tensor{other}, func(x []float64) float64 { return f(x[0], x[1]) })
}

// Map2InPlace is MapInPlace with two more tensors.
func (t *Tensor) Map2InPlace(x, y *Tensor, f func(a, x, y float64) float64) *Tensor {
	return t.mapElements("map2_", []*Tensor{x, y}, func(v []float64) float64 { return f(v[0], v[1], v[2]) })
}

func (t *Tensor) mapElements(name string, others []*Tensor, f func(x []float64) float64) *Tensor {
	t.mustHaveMemory("Tensor." + name)
	list := append([]*Tensor{t}, others...)
	values := make([][]float64, len(list))
	for i, x := range list {
		x.mustHaveMemory("Tensor." + name)
		if x.RequiresGrad() {
			Fail(ErrAutograd, "Can't call %s() on Variable that requires grad. Use var.detach().%s() instead.", name, name)
		}
		if !x.IsCPU() {
			Fail(ErrDevice, "%s is only implemented on CPU tensors", name)
		}
		if x.IsComplex() {
			Fail(ErrDType, "%s is not implemented for %s", name, x.DType())
		}
		if x != t && x.DType() != t.DType() {
			Fail(ErrDType, "%s: expected tensors of dtype %s, got %s", name, t.DType(), x.DType())
		}
		if i > 0 {
			x = x.Expand(t.Shape())
		}
		values[i] = Data[float64](DenseAs(x, Float64))
	}
	result := slices.Clone(values[0])
	args := make([]float64, len(list))
	for k := range result {
		for i := range args {
			args[i] = values[i][k]
		}
		result[k] = f(args)
	}
	NoGrad(func() { t.CopyInPlace(FromSlice(result, t.Shape()...)) })
	return t
}
