// Package vision holds the operators of PyTorch's torchvision: suppression of overlapping boxes, features of regions
// (RoIs) and deformable convolution. Their names are torchvision::…, their typed functions are in vision/ops.
package vision

import (
	"github.com/gotorch-dev/torch/tensor"
)

type (
	// Ctx is a call.
	Ctx = tensor.Ctx
	// T is a tensor.
	T = tensor.Tensor
)

// float are the types that the kernels compute in; 16-bit tensors are widened to float32 and rounded once.
type float interface{ float32 | float64 }

// inFloat runs the version of a kernel for the dtype of the call.
func inFloat(dt tensor.DType, f32, f64 func()) {
	if dt == tensor.Float64 {
		f64()
	} else {
		f32()
	}
}

// dense is the elements of t in order.
func dense[E float](t *T) []E { return tensor.Data[E](tensor.DenseAs(t, tensor.DTypeOf[E]())) }

// into lets f write the elements of out in order.
func into[E float](out *T, f func(d []E)) { tensor.IntoFormat(out, tensor.ContiguousFormat, f) }

// needFloat refuses other dtypes than floating-point ones.
func needFloat(c *Ctx, arg int) {
	if dt := c.ArgDType(arg); !dt.IsFloat() {
		c.FailDType(tensor.ErrNotImpl, c.Op().Sch.Name, dt)
	}
}

// call calls an operator.
func call(o *tensor.Op, args ...any) []*T {
	c := tensor.NewCall(o, len(o.Sch.Params))
	for i, a := range args {
		if t, ok := a.(*T); !ok || t != nil {
			*c.Arg(i) = tensor.Box(a)
		}
	}
	return c.DoN()
}
