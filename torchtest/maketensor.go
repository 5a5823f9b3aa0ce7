package torchtest

import (
	"math"

	"github.com/gotorch-dev/torch/tensor"
)

// MakeOptions are the options of [MakeTensor].
type MakeOptions struct {
	Device        tensor.Device
	Low, High     tensor.Opt[float64] // by default -9 and 9 (10 for integers; 0 for uint8; 0 and 2 for bool)
	RequiresGrad  bool
	Noncontiguous bool // every second element of a tensor twice as wide
	ExcludeZero   bool // zeros become the smallest positive normal number, or one
	MemoryFormat  tensor.MemoryFormat
}

// MakeTensor makes a tensor of random numbers, evenly distributed in [Low, High), from the default generator, as
// torch.testing.make_tensor does.
//
// https://docs.pytorch.org/docs/stable/testing.html#torch.testing.make_tensor
func MakeTensor(shape []int, dt tensor.DType, opts ...MakeOptions) *tensor.Tensor {
	var o MakeOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	if o.Noncontiguous && o.MemoryFormat != tensor.NoFormat {
		tensor.Fail(tensor.ErrValue, "the options Noncontiguous and MemoryFormat of MakeTensor exclude each other")
	}
	if o.RequiresGrad && !dt.IsDifferentiable() {
		tensor.Fail(tensor.ErrValue, "`requires_grad=True` is not supported for boolean and integral dtypes, but got "+
			"dtype=%s",
			dt)
	}
	apart := o.Noncontiguous && tensor.Size(shape).Numel() > 1 && len(shape) > 0
	if apart {
		shape = append([]int(nil), shape...)
		shape[len(shape)-1] *= 2
	}
	low, high := o.interval(dt)
	call := func(name string, args ...tensor.Value) *tensor.Tensor {
		r, err := tensor.CallOp(name, args...)
		if err != nil {
			panic(err)
		}
		return r[0].T
	}
	empty := call("aten::empty.memory_format", tensor.IntsValue(shape), tensor.DTypeValue(dt), tensor.Value{},
		tensor.DeviceValue(o.Device))
	var t *tensor.Tensor
	if dt.IsIntOrBool() {
		t = call("aten::random_.from", tensor.TensorValue(empty), tensor.IntValue(int(low)), tensor.IntValue(int(high)))
	} else {
		flat := empty
		if dt.IsComplex() {
			flat = call("aten::view_as_real", tensor.TensorValue(empty))
		}
		call("aten::uniform_", tensor.TensorValue(flat), tensor.FloatValue(low), tensor.FloatValue(high))
		t = empty
	}
	if apart {
		t = call("aten::slice.Tensor", tensor.TensorValue(t), tensor.IntValue(-1), tensor.IntValue(1), tensor.Value{},
			tensor.IntValue(2))
	} else if o.MemoryFormat != tensor.NoFormat {
		t = t.Contiguous(tensor.ContiguousOptions{MemoryFormat: o.MemoryFormat})
	}
	if o.ExcludeZero {
		least := tensor.IntValue(1)
		if dt.IsFloat() {
			least = tensor.FloatValue(tensor.FInfo(dt).Tiny)
		} else if dt.IsComplex() {
			tiny := tensor.FInfo(dt.Real()).Tiny
			least = tensor.ComplexValue(complex(tiny, tiny))
		}
		zero := call("aten::eq.Scalar", tensor.TensorValue(t), tensor.IntValue(0))
		call("aten::masked_fill_.Scalar", tensor.TensorValue(t), tensor.TensorValue(zero), least)
	}
	t.SetRequiresGrad(o.RequiresGrad)
	return t
}

// interval is [Low, High) within what the dtype can hold.
func (o *MakeOptions) interval(dt tensor.DType) (low, high float64) {
	var least, beyond float64 // of the dtype
	defaultLow, defaultHigh := -9.0, 9.0
	switch {
	case dt == tensor.Bool:
		least, beyond, defaultLow, defaultHigh = 0, 2, 0, 2
	case dt.IsInt():
		i := tensor.IInfo(dt)
		least, beyond, defaultHigh = float64(i.Min), float64(i.Max)+1, 10
		if dt == tensor.Int64 {
			beyond = math.Nextafter(1<<63, 0)
		}
		if i.Min == 0 {
			defaultLow = 0
		}
	default:
		f := tensor.FInfo(dt.Real())
		least, beyond = f.Min, f.Max
	}
	low, high = o.Low.Or(defaultLow), o.High.Or(defaultHigh)
	switch {
	case math.IsNaN(low) || math.IsNaN(high):
		tensor.Fail(tensor.ErrValue, "`low` and `high` cannot be NaN, but got low=%v and high=%v", low, high)
	case low == high && dt.IsDifferentiable():
	case low >= high:
		tensor.Fail(tensor.ErrValue, "`low` must be less than `high`, but got %v >= %v", low, high)
	case high < least || low >= beyond:
		tensor.Fail(tensor.ErrValue, "The value interval specified by `low` and `high` is [%v, %v), but %s only "+
			"supports "+
			"[%v, %v)", low, high, dt, least, beyond)
	}
	low, high = min(max(low, least), beyond), min(max(high, least), beyond)
	if dt.IsIntOrBool() {
		return math.Ceil(low), math.Ceil(high)
	}
	return low, high
}
