package conv

import (
	"math"
	"slices"

	cpuconv "github.com/gotorch-dev/torch/internal/cpu/conv"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	tensor.Register(tensor.Def{
		Schema: "gotorch::conv_fused(Tensor input, Tensor weight, Tensor? bias, Tensor? residual, int[] stride, int[] padding, int[] dilation, int groups, float min, float max, " +
			"str activation=\"none\", bool winograd=False) -> Tensor",
		Doc: "is activation(clamp(conv(input, weight, bias) + residual, min, max)), for inference in one pass over " +
			"the result: min 0 is a ReLU, max 6 with it a ReLU6, infinities leave the values alone. winograd allows " +
			"Winograd's algorithm, as torch.SetWinograd does.",
		Go: "-",
		Fuses: func(c *Ctx) bool {
			sh, ok := fits(c.T(0), c.T(1), c.T(2), fusedArgs(c))
			r, dt := c.T(3), c.ArgDType(0)
			if c.Str(10) != "none" && dt != tensor.Float32 && dt != tensor.Float64 {
				return false // the result is rounded in front of the activation
			}
			return ok && (r == nil || r.DType() == dt && tensor.SameShape(r.Shape(), sh))
		},
		Infer: func(c *Ctx) {
			in, w := c.T(0), c.T(1)
			op.CheckActivation(c, 10)
			sh := outputShape(c, in.Shape(), w.Shape(), c.T(2), fusedArgs(c))
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
		Body: func(c *Ctx) {
			y := convNd(c.T(0), c.T(1), c.T(2), fusedArgs(c))
			if r := c.T(3); r != nil {
				y = y.Add(r)
			}
			c.Return(op.Activate(c, 10, limited(y, c.Float(8), c.Float(9))))
		},
	})
}

// fits reports that the kernels of the fused convolutions take these arguments, and gives the shape of the
// convolution's result: a batch of floating-point numbers and sizes that the convolution accepts. It refuses nothing
// itself: where it says no, the body runs, and the public operators give the error.
func fits(in, w, bias *T, a arguments) (shape []int, ok bool) {
	if dt := in.DType().Compute(); in.DType() != w.DType() || dt != tensor.Float32 && dt != tensor.Float64 {
		return nil, false
	}
	return fitsBehind(in.Shape(), w, bias, a)
}

// fitsBehind is fits for an input of the weight's dtype of which only the shape is known.
func fitsBehind(s []int, w, bias *T, a arguments) (shape []int, ok bool) {
	nd, k := w.Dim()-2, w.Shape()
	if nd < 1 || nd > 3 || len(s) != nd+2 || len(a.stride) != nd || len(a.pad) != nd || len(a.dil) != nd {
		return nil, false
	}
	if a.groups < 1 || k[0] < 1 || k[0]%a.groups != 0 || s[1] < 1 || s[1] != k[1]*a.groups {
		return nil, false
	}
	if bias != nil && (bias.DType() != w.DType() || bias.Dim() != 1 || bias.Size(0) != k[0]) {
		return nil, false
	}
	shape = append(make([]int, 0, nd+2), s[0], k[0])
	for i := range nd {
		if a.stride[i] < 1 || a.pad[i] < 0 || a.dil[i] < 1 || k[2+i] < 1 {
			return nil, false
		}
		room := s[2+i] + 2*a.pad[i] - a.dil[i]*(k[2+i]-1) - 1
		if room < 0 {
			return nil, false
		}
		shape = append(shape, room/a.stride[i]+1)
	}
	return shape, true
}

// spread repeats a single value to n entries; lists of other lengths are left to the operators that refuse them.
func spread(v []int, n int) []int {
	if len(v) == 1 && n > 1 {
		return slices.Repeat(v, n)
	}
	return v
}

// fusedArguments reads stride, padding, dilation from position i on.
func fusedArguments(c *Ctx, i, nd, groups int) arguments {
	return arguments{
		stride: spread(c.Ints(i), nd), pad: spread(c.Ints(i+1), nd), dil: spread(c.Ints(i+2), nd),
		outPad: make([]int, max(nd, 0)), groups: groups,
	}
}

var (
	opConvs = [4]*tensor.Op{nil, tensor.Slot("aten::conv1d"), tensor.Slot("aten::conv2d"),
		tensor.Slot("aten::conv3d")}
	opMaxPools = [4]*tensor.Op{nil, tensor.Slot("aten::max_pool1d"), tensor.Slot("aten::max_pool2d"),
		tensor.Slot("aten::max_pool3d")}
)

// convNd calls aten::conv1d, conv2d or conv3d, as the number of dimensions of the weight says.
func convNd(in, w, bias *T, a arguments) *T {
	return call(opConvs[min(max(w.Dim()-2, 1), 3)], in, w, bias, a.stride, a.pad, a.dil, a.groups)[0]
}

// limited applies the activation that limits values to [lo, hi], as the operator that a layer with these limits
// calls; infinite limits are none.
func limited(y *T, lo, hi float64) *T {
	below, above := !math.IsInf(lo, -1), !math.IsInf(hi, 1)
	switch {
	case lo == 0 && !above:
		return y.ReLU()
	case lo == 0 && hi == 6:
		return y.ReLU6()
	case below && above:
		return y.HardTanh(tensor.HardTanhOptions{MinVal: lo, MaxVal: hi})
	case below:
		return y.ClampScalar(tensor.ClampScalarOptions{Min: lo})
	case above:
		return y.ClampScalar(tensor.ClampScalarOptions{Max: hi})
	}
	return y
}

func fusedArgs(c *Ctx) arguments { return fusedArguments(c, 4, c.T(1).Dim()-2, c.Int(7)) }

func runFused[E float32 | float64](c *Ctx) {
	ep := epilogue[E](c.Float(8), c.Float(9), c.T(1))
	ep.Act, ep.Winograd = op.Activations[c.Str(10)], c.Bool(11)
	runFloat(c.Out(0), c.T(0), c.T(1), c.T(2), c.T(3), ep, fusedArgs(c))
}

// epilogue clamps, and keeps the packed weight.
func epilogue[E float32 | float64](lo, hi float64, w *T) cpuconv.Epilogue[E] {
	return cpuconv.Epilogue[E]{Clamp: !math.IsInf(lo, -1) || !math.IsInf(hi, 1), Lo: E(lo), Hi: E(hi),
		Packed: packedFor(w)}
}

// Fused calls gotorch::conv_fused.
func Fused(in, w, bias, residual *T, stride, pad, dil []int, groups int, lo, hi float64) *T {
	c := tensor.NewCall(opFused, 12)
	*c.Arg(0), *c.Arg(1) = tensor.TensorValue(in), tensor.TensorValue(w)
	if bias != nil {
		*c.Arg(2) = tensor.TensorValue(bias)
	}
	if residual != nil {
		*c.Arg(3) = tensor.TensorValue(residual)
	}
	*c.Arg(4), *c.Arg(5), *c.Arg(6) = tensor.OptIntsValue(stride), tensor.OptIntsValue(pad), tensor.OptIntsValue(dil)
	*c.Arg(7), *c.Arg(8), *c.Arg(9) = tensor.IntValue(groups), tensor.Box(lo), tensor.Box(hi)
	*c.Arg(10), *c.Arg(11) = tensor.Box("none"), tensor.Box(false)
	return c.Do1()
}

var opFused = tensor.Slot("gotorch::conv_fused")
