package conv

import (
	"math"

	cpuconv "github.com/gotorch-dev/torch/internal/cpu/conv"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	tensor.Register(tensor.Def{
		Schema: "torch::conv_fused(Tensor input, Tensor weight, Tensor? bias, Tensor? residual, int[] stride, int[] padding, int[] dilation, int groups, float min, float max) -> Tensor",
		Doc: "is clamp(convolution(input, weight, bias) + residual, min, max) in one pass over the result, for inference: " +
			"min 0 is a ReLU, max 6 with it a ReLU6, infinities leave the values alone.",
		Go:     "-",
		NoGrad: "for inference; the convolution, the addition and the activation have gradients of their own",
		Infer: func(c *Ctx) {
			in, w := c.T(0), c.T(1)
			checkTypes(c, in, w, c.T(2))
			sh := outputShape(c, in.Shape(), w.Shape(), c.T(2), fusedArgs(c))
			if r := c.T(3); r != nil && !tensor.SameShape(r.Shape(), sh) {
				c.Fail(tensor.ErrShape, "the residual has shape %s, expected the result's %s", tensor.ShapeString(r.Shape()), tensor.ShapeString(sh))
			}
			if dt := in.DType().Compute(); dt != tensor.Float32 && dt != tensor.Float64 {
				c.Fail(tensor.ErrDType, "expected a floating-point type, got %s", in.DType())
			}
			c.AllocStrided(0, sh, tensor.FormatStrides(sh, formatFor(in, w)), in.DType())
		},
		CPU: func(c *Ctx) {
			if c.Out(0).Numel() == 0 {
				return
			}
			if c.Out(0).DType().Compute() == tensor.Float64 {
				runFused[float64](c)
			} else {
				runFused[float32](c)
			}
		},
	})
}

func fusedArgs(c *Ctx) arguments {
	nd := c.T(1).Dim() - 2
	return arguments{stride: list(c, "stride", c.Ints(4), nd), pad: list(c, "padding", c.Ints(5), nd), dil: list(c, "dilation", c.Ints(6), nd), outPad: make([]int, nd), groups: c.Int(7)}
}

func runFused[E float32 | float64](c *Ctx) {
	runFloat(c.Out(0), c.T(0), c.T(1), c.T(2), c.T(3), epilogue[E](c.Float(8), c.Float(9), c.T(1)), fusedArgs(c))
}

// epilogue clamps, and keeps the packed weight.
func epilogue[E float32 | float64](lo, hi float64, w *T) cpuconv.Epilogue[E] {
	return cpuconv.Epilogue[E]{Clamp: !math.IsInf(lo, -1) || !math.IsInf(hi, 1), Lo: E(lo), Hi: E(hi), Packed: packedFor(w)}
}

// Fused calls torch::conv_fused.
func Fused(in, w, bias, residual *T, stride, pad, dil []int, groups int, lo, hi float64) *T {
	c := tensor.NewCall(opFused, 10)
	*c.Arg(0), *c.Arg(1) = tensor.TensorValue(in), tensor.TensorValue(w)
	if bias != nil {
		*c.Arg(2) = tensor.TensorValue(bias)
	}
	if residual != nil {
		*c.Arg(3) = tensor.TensorValue(residual)
	}
	*c.Arg(4), *c.Arg(5), *c.Arg(6) = tensor.OptIntsValue(stride), tensor.OptIntsValue(pad), tensor.OptIntsValue(dil)
	*c.Arg(7), *c.Arg(8), *c.Arg(9) = tensor.IntValue(groups), tensor.Box(lo), tensor.Box(hi)
	return c.Do1()
}

var opFused = tensor.Slot("torch::conv_fused")
