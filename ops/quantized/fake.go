package quantized

import (
	"math"

	"github.com/gotorch-dev/torch/internal/cpu/quant"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

const fakeDoc = "rounds each element to a number that an integer from quant_min to quant_max stands for: " +
	"(q - zero_point) * scale. The gradient passes where the element was inside these limits (straight-through " +
	"estimator, Bengio et al. 2013).\n" +
	"https://pytorch.org/docs/stable/generated/torch.fake_quantize_per_tensor_affine.html"

// checkRange refuses limits and a zero point that do not fit.
func checkRange(c *Ctx, lo, hi int, zero float64) {
	if lo > hi {
		c.Fail(tensor.ErrValue, "`quant_min` should be less than or         equal to `quant_max`.")
	}
	if !(zero >= float64(lo) && zero <= float64(hi)) {
		c.Fail(tensor.ErrValue, "`zero_point` must be between `quant_min` and `quant_max`.")
	}
}

// fakeType is the type that a kernel computes in.
func fakeType(dt tensor.DType) tensor.DType {
	if dt == tensor.Float64 {
		return dt
	}
	return tensor.Float32
}

// inferFake allocates the rounded tensor and the mask.
func inferFake(c *Ctx) {
	x := c.T(0)
	if !x.DType().IsFloat() {
		c.Fail(tensor.ErrDType, "%s: expected a floating-point tensor, got %s", c.Op().FullName(), x.DType())
	}
	c.Alloc(0, x.Shape(), x.DType())
	c.Alloc(1, x.Shape(), tensor.Bool)
}

// ownResult is result i, where it has the dtype and can be written in order, or else a new tensor of its shape.
func ownResult(c *Ctx, i int, dt tensor.DType) *T {
	o := c.Out(i)
	if o.DType() == dt && o.IsContiguous() {
		return o
	}
	return tensor.New(o.Shape(), dt)
}

// runFake rounds the elements of the spans of a channel each into result 0, and sets result 1, if there is one, to the
// mask.
func runFake(c *Ctx, x *T, axis int, of func(channel int) *quant.Fake) {
	dt := fakeType(x.DType())
	y, src := ownResult(c, 0, dt), tensor.DenseAs(x, dt)
	var m *T
	if len(c.Op().Sch.Results) > 1 {
		m = ownResult(c, 1, tensor.Bool)
	}
	run := func(f *quant.Fake, lo, hi int) {
		var mask []bool
		if m != nil {
			mask = tensor.Data[bool](m)[lo:hi]
		}
		if dt == tensor.Float64 {
			quant.FakeQuantize(f, tensor.Data[float64](y)[lo:hi], tensor.Data[float64](src)[lo:hi], mask)
		} else {
			quant.FakeQuantize(f, tensor.Data[float32](y)[lo:hi], tensor.Data[float32](src)[lo:hi], mask)
		}
	}
	if axis < 0 {
		f := of(0)
		par.For(x.Numel(), 1<<15, func(lo, hi int) { run(f, lo, hi) })
	} else {
		spans(x.Shape(), axis, func(ch, lo, hi int) { run(of(ch), lo, hi) })
	}
	if y != c.Out(0) {
		tensor.CopyRaw(c.Out(0), y)
	}
	if m != nil && m != c.Out(1) {
		tensor.CopyRaw(c.Out(1), m)
	}
}

// spansOf is spans, or all elements at once where axis is -1.
func spansOf(shape []int, axis int, f func(channel, from, to int)) {
	if axis < 0 {
		f(0, 0, tensor.Size(shape).Numel())
		return
	}
	spans(shape, axis, f)
}

// A piece is some elements of one channel, and their part of the gradients of its scale and zero point.
type piece struct {
	channel, from, to int
	scale, zero       float64
}

// A task that computes gradients has pieceSize elements; pieces of fewer than leastPiece are not worth a place in a
// list.
const pieceSize, leastPiece = 1 << 14, 64

// gradientPieces runs the computation of gradients on the pieces of spansOf, which have at most pieceSize elements, and
// gives them in order: their sum does not depend on the number of threads.
func gradientPieces(shape []int, axis int, run func(channel, from, to int) (scale, zero float64)) []piece {
	var l []piece
	spansOf(shape, axis, func(ch, from, to int) {
		for ; from < to; from += pieceSize {
			l = append(l, piece{channel: ch, from: from, to: min(to, from+pieceSize)})
		}
	})
	grain := max(1, pieceSize*len(l)/max(1, tensor.Size(shape).Numel()))
	par.For(len(l), grain, func(lo, hi int) {
		for i := range l[lo:hi] {
			p := &l[lo+i]
			p.scale, p.zero = run(p.channel, p.from, p.to)
		}
	})
	return l
}

// channelQParams checks scale and zero point for each index of an axis, and gives what rounds there.
func channelQParams(c *Ctx, x, scale, zero *T, axis, lo, hi int, whole bool) (int, func(ch int) *quant.Fake) {
	axis = op.Wrap(c, axis, x.Dim())
	switch {
	case x.Dim() == 0:
		c.Fail(tensor.ErrShape, "`axis` must be between 0 and number of dimensions of input")
	case scale.Dim() != 1 || zero.Dim() != 1:
		c.Fail(tensor.ErrShape, "scale should be a 1-D tensor")
	case scale.Numel() != zero.Numel():
		c.Fail(tensor.ErrShape, "scale and zero-point need to have the same dimensions")
	case scale.Numel() != x.Size(axis):
		c.Fail(tensor.ErrShape, "dimensions of scale and zero-point are not consistent with input tensor")
	}
	s := tensor.Data[float32](tensor.DenseAs(scale.Detach(), tensor.Float32))
	z := tensor.Data[float64](tensor.DenseAs(zero.Detach(), tensor.Float64))
	if whole { // a trained zero point is rounded and limited
		for i := range z {
			z[i] = wholeZero(z[i], lo, hi)
		}
	}
	for _, v := range z {
		checkRange(c, lo, hi, v)
	}
	rounds := make([]quant.Fake, len(s))
	for ch := range rounds {
		rounds[ch] = quant.Fake{Scale: s[ch], Zero: z[ch], Min: lo, Max: hi}
	}
	return axis, func(ch int) *quant.Fake { return &rounds[ch] }
}

func wholeZero(z float64, lo, hi int) float64 {
	z = math.RoundToEven(z)
	return min(max(z, float64(lo)), float64(hi))
}

// tensorQParams is what rounds with the scale and zero point in two tensors of one element.
func tensorQParams(c *Ctx, scale, zero *T, lo, hi int, whole bool) *quant.Fake {
	f := &quant.Fake{Scale: float32(scale.Num().F), Zero: zero.Num().F, Min: lo, Max: hi}
	if whole {
		f.Zero = wholeZero(f.Zero, lo, hi)
	}
	checkRange(c, lo, hi, f.Zero)
	return f
}

func init() {
	maskGrad := func(c *Ctx, g *T) []*T { return []*T{g.Mul(c.Out(1))} }
	first := func(name string) func(c *Ctx) {
		return func(c *Ctx) {
			args := make([]any, len(c.Op().Sch.Params))
			for i := range args {
				args[i] = c.Value(i)
			}
			c.Return(op.Call("aten::"+name, args...)[0])
		}
	}
	tensor.Register(tensor.Def{
		Schema: "fake_quantize_per_tensor_affine(Tensor self, float scale, int zero_point, int quant_min, int quant_max) -> " +
			"Tensor",
		Doc: fakeDoc, Body: first("fake_quantize_per_tensor_affine_cachemask"),
	})
	tensor.Register(tensor.Def{
		Schema: "fake_quantize_per_tensor_affine_cachemask(Tensor self, float scale, int zero_point, int quant_min, " +
			"int quant_max) -> (Tensor output, Tensor mask)",
		Doc: fakeDoc, Go: "-", Save: "mask", VJP: maskGrad, Grad: "FakeQuantizePerTensorAffineCachemaskBackward0",
		Infer: func(c *Ctx) {
			checkRange(c, c.Int(3), c.Int(4), float64(c.Int(2)))
			inferFake(c)
		},
		CPU: func(c *Ctx) {
			f := &quant.Fake{Scale: float32(c.Float(1)), Zero: float64(c.Int(2)), Min: c.Int(3), Max: c.Int(4)}
			runFake(c, c.T(0), -1, func(int) *quant.Fake { return f })
		},
	})
	tensor.Register(tensor.Def{
		Schema: "fake_quantize_per_tensor_affine.tensor_qparams(Tensor self, Tensor scale, Tensor zero_point, " +
			"int quant_min, int quant_max) -> Tensor",
		Doc: fakeDoc, Go: "-", Body: func(c *Ctx) {
			c.Return(op.Call("aten::_fake_quantize_per_tensor_affine_cachemask_tensor_qparams", c.T(0), c.T(1), c.T(2),
				op.Full(c.T(0), []int{1}, 1, tensor.Int64), c.Int(3), c.Int(4))[0])
		},
	})
	tensor.Register(tensor.Def{
		Schema: "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams(Tensor self, Tensor scale, Tensor zero_point, " +
			"Tensor fake_quant_enabled, int quant_min, int quant_max) -> (Tensor output, Tensor mask)",
		Doc: fakeDoc + " Where fake_quant_enabled is 0 nothing is rounded.", Go: "-", Save: "mask",
		Grad:  "FakeQuantizePerTensorAffineCachemaskTensorQparamsBackward0",
		VJP:   func(c *Ctx, g *T) []*T { return []*T{g.Mul(c.Out(1)), nil, nil, nil} },
		Infer: inferFake,
		CPU: func(c *Ctx) {
			if c.T(3).Num().F == 0 {
				tensor.CopyRaw(c.Out(0), c.T(0))
				setAll(c.Out(1), 1)
				return
			}
			f := tensorQParams(c, c.T(1), c.T(2), c.Int(4), c.Int(5), false)
			runFake(c, c.T(0), -1, func(int) *quant.Fake { return f })
		},
	})
	tensor.Register(tensor.Def{
		Schema: "fake_quantize_per_channel_affine(Tensor self, Tensor scale, Tensor zero_point, int axis, int quant_min, " +
			"int quant_max) -> Tensor",
		Doc:  fakeDoc + " Scale and zero point have an entry for each index of dimension axis.",
		Body: first("fake_quantize_per_channel_affine_cachemask"),
	})
	tensor.Register(tensor.Def{
		Schema: "fake_quantize_per_channel_affine_cachemask(Tensor self, Tensor scale, Tensor zero_point, int axis, " +
			"int quant_min, int quant_max) -> (Tensor output, Tensor mask)",
		Doc: fakeDoc, Go: "-", Save: "mask", Infer: inferFake, Grad: "FakeQuantizePerChannelAffineCachemaskBackward0",
		Constant: "scale zero_point",
		VJP:      func(c *Ctx, g *T) []*T { return []*T{g.Mul(c.Out(1)), nil, nil} },
		CPU: func(c *Ctx) {
			axis, of := channelQParams(c, c.T(0), c.T(1), c.T(2), c.Int(3), c.Int(4), c.Int(5), false)
			runFake(c, c.T(0), axis, of)
		},
	})
	for _, n := range []string{"fake_quantize_per_tensor_affine_cachemask_backward",
		"fake_quantize_per_channel_affine_cachemask_backward"} {
		tensor.Register(tensor.Def{
			Schema: n + "(Tensor grad, Tensor mask) -> Tensor", Go: "-", Doc: "is the gradient where the mask is set.",
			Body: func(c *Ctx) { c.Return(c.T(0).Mul(c.T(1))) },
		})
	}
	defineLearnable()
	defineFused()
}

// defineLearnable defines fake quantization whose scale and zero point are trained.
func defineLearnable() {
	for _, f := range []struct {
		kind, args string
		axis       int // argument of the axis, or 0
	}{{"tensor", "", 0}, {"channel", "int axis, ", 3}} {
		name := "_fake_quantize_learnable_per_" + f.kind + "_affine"
		at := 3
		if f.axis > 0 {
			at = 4
		}
		of := func(c *Ctx, shift int) (int, func(ch int) *quant.Fake) {
			x, s, z := c.T(shift), c.T(1+shift), c.T(2+shift)
			lo, hi := c.Int(at+shift), c.Int(at+1+shift)
			if lo > hi {
				c.Fail(tensor.ErrValue, "`quant_min` should be less than or         equal to `quant_max`.")
			}
			if f.axis > 0 {
				return channelQParams(c, x, s, z, c.Int(3+shift), lo, hi, true)
			}
			q := tensorQParams(c, s, z, lo, hi, true)
			if shift > 0 { // PyTorch's gradient cuts off after adding a half, where the forward pass rounds
				q.Zero = math.Trunc(min(max(z.Num().F+0.5, float64(lo)), float64(hi)))
			}
			return -1, func(int) *quant.Fake { return q }
		}
		tensor.Register(tensor.Def{
			Schema: name + "(Tensor self, Tensor scale, Tensor zero_point, " + f.args +
				"int quant_min, int quant_max, float grad_factor=1.) -> Tensor",
			Doc: fakeDoc + " Scale and zero point have gradients, multiplied by grad_factor.", Go: "-",
			Save: "self scale zero_point",
			Grad: map[string]string{"tensor": "FakeQuantizeLearnablePerTensorAffineBackward0",
				"channel": "FakeQuantizeLearnablePerChannelAffineBackward0"}[f.kind],
			Infer: func(c *Ctx) {
				if !c.T(0).DType().IsFloat() {
					c.Fail(tensor.ErrDType, "%s: expected a floating-point tensor, got %s", c.Op().FullName(),
						c.T(0).DType())
				}
				c.Alloc(0, c.T(0).Shape(), c.T(0).DType())
			},
			CPU: func(c *Ctx) {
				axis, q := of(c, 0)
				runFake(c, c.T(0), axis, q)
			},
			VJP: func(c *Ctx, g *T) []*T {
				args := []any{g, c.T(0), c.T(1), c.T(2)}
				for i := 3; i < len(c.Op().Sch.Params); i++ {
					args = append(args, c.Value(i))
				}
				return op.Call("aten::"+name+"_backward", args...)
			},
		})
		tensor.Register(tensor.Def{
			Schema: name + "_backward(Tensor grad, Tensor self, Tensor scale, Tensor zero_point, " + f.args +
				"int quant_min, int quant_max, float grad_factor=1.) -> (Tensor, Tensor, Tensor)",
			Doc: "is the gradients of " + name + ".", Go: "-", NoGrad: "a gradient of a step function",
			Infer: func(c *Ctx) {
				c.WantShape(0, c.Shape(1)...)
				for i := range 3 {
					c.Alloc(i, c.Shape(i+1), c.ArgDType(i+1))
				}
			},
			CPU: func(c *Ctx) {
				axis, q := of(c, 1)
				x := c.T(1)
				dt := fakeType(x.DType())
				d, g, src := ownResult(c, 0, dt), tensor.DenseAs(c.T(0), dt), tensor.DenseAs(x, dt)
				ds, dz := make([]float64, c.T(2).Numel()), make([]float64, c.T(3).Numel())
				factor := c.Float(at + 3)
				run := func(ch, lo, hi int) (s, z float64) {
					if dt == tensor.Float64 {
						return quant.FakeGradients(q(ch), tensor.Data[float64](d)[lo:hi],
							tensor.Data[float64](g)[lo:hi], tensor.Data[float64](src)[lo:hi], factor)
					}
					return quant.FakeGradients(q(ch), tensor.Data[float32](d)[lo:hi],
						tensor.Data[float32](g)[lo:hi], tensor.Data[float32](src)[lo:hi], factor)
				}
				if axis >= 0 && tensor.Size(x.Shape()[axis+1:]).Numel() < leastPiece {
					spans(x.Shape(), axis, func(ch, lo, hi int) {
						s, z := run(ch, lo, hi)
						ds[ch] += s
						dz[ch] += z
					})
				} else {
					for _, p := range gradientPieces(x.Shape(), axis, run) {
						ds[p.channel] += p.scale
						dz[p.channel] += p.zero
					}
				}
				if d != c.Out(0) {
					tensor.CopyRaw(c.Out(0), d)
				}
				tensor.CopyRaw(c.Out(1), tensor.FromSlice(ds, c.T(2).Shape()...))
				tensor.CopyRaw(c.Out(2), tensor.FromSlice(dz, c.T(3).Shape()...))
			},
		})
	}
}

const fusedArgs = "Tensor self, Tensor observer_on, Tensor fake_quant_on, Tensor(a!) running_min, Tensor(b!) " +
	"running_max, " +
	"Tensor(c!) scale, Tensor(d!) zero_point, float averaging_const, int quant_min, int quant_max, int ch_axis, " +
	"bool per_row_fake_quant=False, bool symmetric_quant=False"

// defineFused defines the observer and the fake quantization of quantization-aware training in one operator.
func defineFused() {
	const doc = "follows the range of the elements by a moving average, chooses scale and zero point, and rounds: the " +
		"observer and the fake quantization of quantization-aware training in one operator.\n" +
		"https://pytorch.org/docs/stable/generated/torch.ao.quantization.fake_quantize.FusedMovingAvgObsFakeQuantize.html"
	tensor.Register(tensor.Def{
		Schema: "fused_moving_avg_obs_fake_quant(" + fusedArgs + ") -> Tensor", Doc: doc, Go: "-",
		Body: func(c *Ctx) {
			args := make([]any, len(c.Op().Sch.Params))
			for i := range args {
				args[i] = c.Value(i)
			}
			c.Return(op.Call("aten::_fused_moving_avg_obs_fq_helper", args...)[0])
		},
	})
	tensor.Register(tensor.Def{
		Schema: "_fused_moving_avg_obs_fq_helper(" + fusedArgs + ") -> (Tensor output, Tensor mask)", Doc: doc, Go: "-",
		Save: "mask", Infer: inferFake, Grad: "FusedMovingAvgObsFqHelperBackward0",
		VJP: func(c *Ctx, g *T) []*T { return []*T{g.Mul(c.Out(1)), nil, nil, nil, nil, nil, nil} },
		CPU: fusedObserver,
	})
}

func fusedObserver(c *Ctx) {
	x, lo, hi, perRow := c.T(0), c.Int(8), c.Int(9), c.Bool(11)
	axis, n := -1, 1
	if perRow {
		if x.Dim() == 0 {
			c.Fail(tensor.ErrShape, "Error in fused_moving_avg_obs_fake_quant_cpu: ch_axis must be < self.dim()")
		}
		axis = op.Wrap(c, c.Int(10), x.Dim())
		n = x.Size(axis)
	}
	if c.T(1).Num().F != 0 && x.Numel() > 0 {
		for i := 3; i < 7; i++ { // the tensors may be empty at first
			if t := c.T(i); t.Numel() != n {
				tensor.ResizeRaw(t, []int{n})
				fill := math.Inf(1)
				switch i {
				case 4:
					fill = math.Inf(-1)
				case 5:
					fill = 1
				case 6:
					fill = 0
				}
				tensor.CopyRaw(t, tensor.FromSlice([]float64{fill}))
			}
		}
		observe(c, x, axis, n, lo, hi)
	}
	if c.T(2).Num().F == 0 {
		tensor.CopyRaw(c.Out(0), x)
		setAll(c.Out(1), 1)
		return
	}
	if perRow {
		axis, of := channelQParams(c, x, c.T(5), c.T(6), axis, lo, hi, false)
		runFake(c, x, axis, of)
		return
	}
	f := tensorQParams(c, c.T(5), c.T(6), lo, hi, false)
	runFake(c, x, -1, func(int) *quant.Fake { return f })
}

// observe moves the averages of least and largest element, and chooses scale and zero point by them.
func observe(c *Ctx, x *T, axis, n, qmin, qmax int) {
	src := tensor.Data[float32](tensor.DenseAs(x.Detach(), tensor.Float32))
	least, most := make([]float32, n), make([]float32, n)
	for i := range least {
		least[i], most[i] = float32(math.Inf(1)), float32(math.Inf(-1))
	}
	spansOf(x.Shape(), axis, func(ch, lo, hi int) {
		for _, v := range src[lo:hi] {
			least[ch], most[ch] = min(least[ch], v), max(most[ch], v)
		}
	})
	k := float32(c.Float(7))
	old := [2][]float32{tensor.Data[float32](tensor.DenseAs(c.T(3).Detach(), tensor.Float32)),
		tensor.Data[float32](tensor.DenseAs(c.T(4).Detach(), tensor.Float32))}
	scales, zeros := make([]float64, n), make([]int64, n)
	for i := range n {
		for j, now := range [2][]float32{least, most} {
			if was := old[j][i]; !math.IsInf(float64(was), 0) {
				now[i] = was + k*(now[i]-was)
			}
		}
		s, z := quant.Params(least[i], most[i], qmin, qmax, c.Bool(12), false)
		scales[i], zeros[i] = s, int64(z)
	}
	for i, t := range []*T{tensor.FromSlice(least), tensor.FromSlice(most), tensor.FromSlice(scales),
		tensor.FromSlice(zeros)} {
		to := c.T(3 + i)
		tensor.CopyRaw(to, t.View(to.Shape()))
		tensor.Bump(to)
	}
}
