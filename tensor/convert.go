package tensor

import "math"

// Methods that convert. They are written by hand because the functions of the same names would hide the dtype constants
// of package torch.

var (
	slotFloat, slotDouble, slotHalf, slotBFloat16 = slot("Tensor::float"), slot("Tensor::double"), slot("Tensor::half"),
		slot("Tensor::bfloat16")
	slotInt, slotLong, slotShort, slotChar = slot("Tensor::int"), slot("Tensor::long"), slot("Tensor::short"),
		slot("Tensor::char")
	slotByte, slotBool, slotCFloat, slotCDouble = slot("Tensor::byte"), slot("Tensor::bool"), slot("Tensor::cfloat"),
		slot("Tensor::cdouble")
	slotCHalf    = slot("aten::chalf")
	slotToLayout = slot("aten::to.dtype_layout")
)

func (t *Tensor) convertWith(op *Op) *Tensor {
	c := NewCall(op, 2)
	*c.Arg(0) = TensorValue(t)
	return c.Do1()
}

// Float converts to float32; the tensor itself is returned when it has that type already, as by all these methods.
func (t *Tensor) Float() *Tensor { return t.convertWith(slotFloat) }

// Double converts to float64.
func (t *Tensor) Double() *Tensor { return t.convertWith(slotDouble) }

// Half converts to float16.
func (t *Tensor) Half() *Tensor { return t.convertWith(slotHalf) }

// BFloat16 converts to bfloat16.
func (t *Tensor) BFloat16() *Tensor { return t.convertWith(slotBFloat16) }

// Int converts to int32, cutting off fractions.
func (t *Tensor) Int() *Tensor { return t.convertWith(slotInt) }

// Long converts to int64, cutting off fractions.
func (t *Tensor) Long() *Tensor { return t.convertWith(slotLong) }

// Short converts to int16, cutting off fractions.
func (t *Tensor) Short() *Tensor { return t.convertWith(slotShort) }

// Char converts to int8, cutting off fractions.
func (t *Tensor) Char() *Tensor { return t.convertWith(slotChar) }

// Byte converts to uint8, cutting off fractions; numbers beyond its range wrap.
func (t *Tensor) Byte() *Tensor { return t.convertWith(slotByte) }

// Bool converts to bool: true where an element is not zero.
func (t *Tensor) Bool() *Tensor { return t.convertWith(slotBool) }

// CHalf converts to complex32.
func (t *Tensor) CHalf() *Tensor { return t.convertWith(slotCHalf) }

// CFloat converts to complex64.
func (t *Tensor) CFloat() *Tensor { return t.convertWith(slotCFloat) }

// CDouble converts to complex128.
func (t *Tensor) CDouble() *Tensor { return t.convertWith(slotCDouble) }

// CPU copies the tensor to the CPU; a tensor that is there is returned itself.
func (t *Tensor) CPU() *Tensor { return t.To(Device{}) }

// CUDA copies the tensor to a CUDA device, the first one unless index names another; a tensor that is there is returned
// itself. It panics with ErrDevice where the program has no such device, as do the methods for other kinds of device.
// https://pytorch.org/docs/stable/generated/torch.Tensor.cuda.html
func (t *Tensor) CUDA(index ...int) *Tensor { return t.toDevice(CUDADevice, "cuda", index) }

// IPU copies the tensor to an IPU, see [Tensor.CUDA].
// https://docs.pytorch.org/docs/stable/generated/torch.Tensor.ipu.html
func (t *Tensor) IPU(index ...int) *Tensor { return t.toDevice(IPUDevice, "ipu", index) }

// MTIA copies the tensor to an accelerator of that name, see [Tensor.CUDA].
// https://docs.pytorch.org/docs/stable/generated/torch.Tensor.mtia.html
func (t *Tensor) MTIA(index ...int) *Tensor { return t.toDevice(MTIADevice, "mtia", index) }

// XPU copies the tensor to a GPU of Intel's, see [Tensor.CUDA].
// https://docs.pytorch.org/docs/stable/generated/torch.Tensor.xpu.html
func (t *Tensor) XPU(index ...int) *Tensor { return t.toDevice(XPUDevice, "xpu", index) }

func (t *Tensor) toDevice(kind DeviceType, name string, index []int) *Tensor {
	d := Device{Type: kind}
	if len(index) > 0 {
		if index[0] < 0 || index[0] > math.MaxInt8 {
			Fail(ErrDevice, "Tensor.%s: Device index must be between 0 and %d, got %d", name, math.MaxInt8, index[0])
		}
		d.Index = int8(index[0])
	}
	return t.To(d)
}

// To converts to what the arguments name: a DType, a Device, a MemoryFormat, or another *Tensor, whose dtype and device
// are taken. The tensor itself is returned when there is nothing to do. It panics with ErrType on any other argument.
// https://pytorch.org/docs/stable/generated/torch.Tensor.to.html
func (t *Tensor) To(args ...any) *Tensor {
	c := NewCall(slotToLayout, 8)
	*c.Arg(0) = TensorValue(t)
	*c.Arg(5), *c.Arg(6) = BoolValue(false), BoolValue(false)
	for _, a := range args {
		switch x := a.(type) {
		case DType:
			*c.Arg(1) = DTypeValue(x)
		case Device:
			*c.Arg(3) = DeviceValue(x)
		case MemoryFormat:
			*c.Arg(7) = FormatValue(x)
		case *Tensor:
			x.mustHaveMemory("Tensor.To")
			*c.Arg(1), *c.Arg(3) = DTypeValue(x.dt), DeviceValue(x.dev)
		default:
			c.free()
			Fail(ErrType, "To: want a DType, Device, MemoryFormat or *Tensor, got %T", a)
		}
	}
	return c.Do1()
}

// Item is the only element of the tensor as a float64 (integers and bools are converted; of a complex number the real
// part). Use Num for the number with its kind. It panics with ErrShape unless there is exactly one element.
func (t *Tensor) Item() float64 {
	t.mustHaveMemory("Tensor.Item")
	return t.Num().F
}

// Type is the old name of the tensor's class, "torch.FloatTensor", which carries its dtype.
// https://pytorch.org/docs/stable/generated/torch.Tensor.type.html
func (t *Tensor) Type() string {
	t.mustHaveMemory("Tensor.Type")
	return "torch." + t.dt.ClassName() + "Tensor"
}
