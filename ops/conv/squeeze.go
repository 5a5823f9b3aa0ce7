package conv

import (
	cpuconv "github.com/gotorch-dev/torch/internal/cpu/conv"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	tensor.Register(tensor.Def{
		Schema: "gotorch::squeeze_excite(Tensor input, Tensor weight1, Tensor? bias1, Tensor weight2, Tensor? bias2, " +
			"str activation, str gate) -> Tensor",
		Doc: "multiplies each channel of images [N, C, H, W] by gate(activation(mean·weight1ᵀ + bias1)·weight2 + " +
			"bias2) of the means of the channels, with weight1 and weight2 [hidden, C], for inference: the layers in " +
			"the middle of the blocks of MobileNetV3 and EfficientNet.",
		Go: "-",
		Fuses: func(c *Ctx) bool {
			x := c.T(0)
			return x.DType() == tensor.Float32 && x.IsContiguousFormat(tensor.ChannelsLast) && x.Numel() > 0
		},
		Infer: func(c *Ctx) {
			x := c.T(0)
			checkSqueeze(c)
			c.AllocStrided(0, x.Shape(), x.Strides(), x.DType())
		},
		CPU: func(c *Ctx) {
			x, w := c.T(0), c.T(1)
			s := cpuconv.Squeeze{N: x.Size(0), Channels: x.Size(1), Positions: x.Size(2) * x.Size(3), Hidden: w.Size(0),
				W1: dense[float32](w), B1: dense[float32](c.T(2)), W2: dense[float32](c.T(3)),
				B2: dense[float32](c.T(4)), Act: op.Activations[c.Str(5)], Gate: op.Activations[c.Str(6)]}
			s.Run(denseLast(c.Out(0)), denseLast(x))
		},
		Body: func(c *Ctx) {
			checkSqueeze(c)
			x := c.T(0)
			y := call(opMean, x, []int{2, 3}, false)[0]
			y = op.Activate(c, 5, call(opLinear, y, c.T(1), c.T(2))[0])
			y = op.Activate(c, 6, call(opLinear, y, c.T(3).Transpose(0, 1), c.T(4))[0])
			c.Return(x.Mul(y.Unsqueeze(2).Unsqueeze(3)))
		},
	})
}

var opMean, opLinear = tensor.Slot("aten::mean.dim"), tensor.Slot("aten::linear")

// denseLast is the memory of a channels-last tensor of float32.
func denseLast(t *T) []float32 {
	d, _ := denseLayout[float32](t)
	return d
}

// checkSqueeze refuses arguments that do not fit each other.
func checkSqueeze(c *Ctx) {
	x, w := c.T(0), c.T(1)
	op.CheckActivation(c, 5)
	op.CheckActivation(c, 6)
	if x.Dim() != 4 || w.Dim() != 2 || w.Size(1) != x.Size(1) || w.DType() != x.DType() {
		c.Fail(tensor.ErrShape, "expected images [N, C, H, W] and a weight [hidden, C] of one dtype, got %s of %s "+
			"and %s "+
			"of %s", tensor.ShapeString(x.Shape()), x.DType(), tensor.ShapeString(w.Shape()), w.DType())
	}
	for _, i := range []int{2, 3, 4} {
		t, want := c.T(i), []int{w.Size(1)}
		switch i {
		case 2:
			want = []int{w.Size(0)}
		case 3:
			want = w.Shape()
		}
		if (t != nil || i == 3) && (!tensor.SameShape(t.Shape(), want) || t.DType() != x.DType()) {
			c.Fail(tensor.ErrShape, "%s: expected %s of %s, got %s of %s", c.Op().Sch.Params[i].Name,
				tensor.ShapeString(want), x.DType(), tensor.ShapeString(t.Shape()), t.DType())
		}
	}
}
