package foreach

import (
	"math"
	"sync/atomic"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/internal/samples"
	"github.com/gotorch-dev/torch/tensor"
)

// The two operators that a gradient scaler stands on.
func init() {
	tensor.Register(tensor.Def{
		Schema: "_amp_foreach_non_finite_check_and_unscale_(Tensor(a!)[] self, Tensor(b!) found_inf, " +
			"Tensor inv_scale) -> ()",
		Doc: "multiplies the tensors of a list by inv_scale, and sets found_inf to 1 when an element is infinite or " +
			"NaN. found_inf and inv_scale are float32 tensors of one element.",
		Go:   "-",
		Body: unscale,
	})
	tensor.Register(tensor.Def{
		Schema: "_amp_update_scale_(Tensor(a!) self, Tensor(b!) growth_tracker, Tensor found_inf, " +
			"float scale_growth_factor, float scale_backoff_factor, int growth_interval) -> Tensor(a!)",
		Doc: "multiplies a scale (float32) by the backoff factor when found_inf is not 0, and by the growth factor " +
			"when growth_interval calls have found none; growth_tracker (int32) counts these. A scale that would be " +
			"infinite stays as it is.",
		Go:            "-",
		Infer:         checkUpdate,
		CPU:           updateScale,
		NoGrad:        "the scale of a gradient scaler has no gradient",
		DataDependent: true,
	})
	tensor.Register(tensor.Def{
		Schema: "gotorch::_unscale_(Tensor(a!) self, Tensor(b!) found_inf, Tensor inv_scale) -> ()",
		Doc:    "is _amp_foreach_non_finite_check_and_unscale_ of one contiguous tensor.",
		Go:     "-",
		Infer:  func(*Ctx) {},
		Fuses:  isUnscale,
		CPU:    unscaleKernel,
		Body:   unscaleOne,
		NoGrad: "gradients are unscaled without recording",
	})
}

var (
	opUnscale  = tensor.Slot("gotorch::_unscale_")
	opMul      = tensor.Slot("aten::mul_.Tensor")
	opIsFinite = tensor.Slot("aten::isfinite")
	opAll      = tensor.Slot("aten::all")
	opNot      = tensor.Slot("aten::logical_not")
	opMaximum  = tensor.Slot("aten::maximum")
	opCopy     = tensor.Slot("aten::copy_")
)

func isScaleNumber(t *T) bool { return t.DType() == tensor.Float32 && t.Numel() == 1 }

func unscale(c *Ctx) {
	found, inv := c.T(1), c.T(2)
	if !isScaleNumber(found) {
		c.Fail(tensor.ErrDType, "found_inf must be a float tensor of one element.")
	}
	if !isScaleNumber(inv) {
		c.Fail(tensor.ErrDType, "inv_scale must be a float tensor of one element.")
	}
	tensor.NoGrad(func() {
		for _, t := range c.Tensors(0) {
			if t == nil {
				continue
			}
			if !t.DType().IsFloat() && !t.DType().IsComplex() {
				c.Fail(tensor.ErrDType, "_amp_foreach_non_finite_check_and_unscale_: tensors of integers have no scale")
			}
			k := tensor.NewCall(opUnscale, 3)
			*k.Arg(0), *k.Arg(1), *k.Arg(2) = tensor.TensorValue(t), tensor.TensorValue(found), tensor.TensorValue(inv)
			k.Do0()
		}
	})
}

func call1(op *tensor.Op, args ...*T) *T {
	k := tensor.NewCall(op, len(op.Sch.Params))
	for i, p := range op.Sch.Params {
		if i < len(args) {
			*k.Arg(i) = tensor.TensorValue(args[i])
		} else if p.Default != nil {
			*k.Arg(i) = *p.Default
		}
	}
	return k.Do1()
}

func unscaleOne(c *Ctx) {
	t, found, inv := c.T(0), c.T(1), c.T(2)
	bad := call1(opNot, call1(opAll, call1(opIsFinite, t)))
	call1(opCopy, found, call1(opMaximum, found, bad.ToDType(tensor.Float32).View(found.Shape())))
	call1(opMul, t, inv.View([]int{}))
}

func isUnscale(c *Ctx) bool {
	t := c.T(0)
	return t.IsContiguous() && plain(t) && plain(c.T(1)) && plain(c.T(2)) && c.T(1).Numel() == 1 && c.T(2).Numel() == 1
}

// unscaleKernel multiplies and looks for exponents of all ones in one pass over float32 numbers.
func unscaleKernel(c *Ctx) {
	t, found, inv := c.T(0), c.T(1), c.T(2)
	x, by := tensor.Data[float32](t), tensor.Data[float32](inv)[0]
	var bad atomic.Bool
	par.For(len(x), grain, func(lo, hi int) {
		part := x[lo:hi]
		const exponent = 0x7f800000
		infinite := false
		for _, v := range part {
			infinite = infinite || math.Float32bits(v)&exponent == exponent
		}
		if infinite {
			bad.Store(true)
		}
		vec.MulScalarF32(part, part, by)
	})
	tensor.Bump(t)
	if bad.Load() {
		*(*float32)(tensor.Ptr(found)) = 1
		tensor.Bump(found)
	}
}

func checkUpdate(c *Ctx) {
	for _, x := range []struct {
		i    int
		name string
		dt   tensor.DType
	}{{0, "current_scale", tensor.Float32}, {1, "growth_tracker", tensor.Int32}, {2, "found_inf", tensor.Float32}} {
		t := c.T(x.i)
		if t.Numel() != 1 {
			c.Fail(tensor.ErrShape, "%s must be a 1-element tensor.", x.name)
		}
		if t.DType() != x.dt {
			c.Fail(tensor.ErrDType, "%s must be a tensor of %s, not %s.", x.name, x.dt.Name(), t.DType().Name())
		}
	}
}

func updateScale(c *Ctx) {
	scale, tracker := (*float32)(tensor.Ptr(c.T(0))), (*int32)(tensor.Ptr(c.T(1)))
	found := *(*float32)(tensor.Ptr(c.T(2)))
	if found != 0 {
		*scale = float32(float64(*scale) * c.Float(4))
		*tracker = 0
	} else if *tracker++; int(*tracker) == c.Int(5) {
		if grown := float32(float64(*scale) * c.Float(3)); !math.IsInf(float64(grown), 0) {
			*scale = grown
		}
		*tracker = 0
	}
	tensor.Bump(c.T(0))
	tensor.Bump(c.T(1))
	c.Return(c.T(0))
}

func init() {
	samples.None("scale and flags must be float32 numbers, which the sweep over dtypes would change; the family's tests "+
		"compare it with its composition", "aten::_amp_foreach_non_finite_check_and_unscale_ aten::_amp_update_scale_ "+
		"gotorch::_unscale_")
}
