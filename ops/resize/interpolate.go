package resize

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gotorch-dev/torch/tensor"
)

// adaptive are the operators that the mode "area" calls, by the number of dimensions.
var adaptive = []*tensor.Op{nil, tensor.Slot("aten::adaptive_avg_pool1d"), tensor.Slot("aten::adaptive_avg_pool2d"),
	tensor.Slot("aten::adaptive_avg_pool3d")}

// invoke runs an operator with all its arguments.
func invoke(op *tensor.Op, args ...any) *T {
	c := tensor.NewCall(op, len(op.Sch.Params))
	for i := range args {
		if t, ok := args[i].(*T); ok {
			*c.Arg(i) = tensor.TensorValue(t)
		} else {
			*c.Arg(i) = tensor.Box(args[i])
		}
	}
	return c.Do1()
}

func hw(sh []int) string {
	names := [][]string{{}, {"W"}, {"H", "W"}, {"D", "H", "W"}}[len(sh)]
	var l []string
	for i, s := range sh {
		l = append(l, fmt.Sprintf("%s: %d", names[i], s))
	}
	return strings.Join(l, ", ")
}

const site = "\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional."

// upsampling is one of the ATen operators: a mode and a number of dimensions.
type upsampling struct {
	name, mode    string
	nd            int
	align, smooth bool // there is an argument align_corners; shrinking looks at every element of the input
	grad          string

	forward, backward, vec *tensor.Op
}

var upsamplings = []*upsampling{
	{name: "upsample_nearest1d", mode: "nearest", nd: 1, grad: "UpsampleNearest1D"},
	{name: "upsample_nearest2d", mode: "nearest", nd: 2, grad: "UpsampleNearest2D"},
	{name: "upsample_nearest3d", mode: "nearest", nd: 3, grad: "UpsampleNearest3D"},
	{name: "_upsample_nearest_exact1d", mode: "nearest-exact", nd: 1, grad: "UpsampleNearestExact1D"},
	{name: "_upsample_nearest_exact2d", mode: "nearest-exact", nd: 2, grad: "UpsampleNearestExact2D"},
	{name: "_upsample_nearest_exact3d", mode: "nearest-exact", nd: 3, grad: "UpsampleNearestExact3D"},
	{name: "upsample_linear1d", mode: "linear", nd: 1, align: true, grad: "UpsampleLinear1D"},
	{name: "upsample_bilinear2d", mode: "linear", nd: 2, align: true, grad: "UpsampleBilinear2D"},
	{name: "upsample_trilinear3d", mode: "linear", nd: 3, align: true, grad: "UpsampleTrilinear3D"},
	{name: "upsample_bicubic2d", mode: "cubic", nd: 2, align: true, grad: "UpsampleBicubic2D"},
	{name: "_upsample_bilinear2d_aa", mode: "linear", nd: 2, align: true, smooth: true, grad: "UpsampleBilinear2DAa"},
	{name: "_upsample_bicubic2d_aa", mode: "cubic", nd: 2, align: true, smooth: true, grad: "UpsampleBicubic2DAa"},
	{name: "_upsample_lanczos2d_aa", mode: "lanczos", nd: 2, align: true, smooth: true, grad: "UpsampleLanczos2DAa"},
}

// settings are the arguments align_corners and scales, which begin at position at; a scale of 0 means none given.
func (u *upsampling) settings(c *Ctx, at int) (align bool, scales []float64) {
	if u.align {
		align = c.Bool(at)
		at++
	}
	scales = make([]float64, u.nd)
	for i := range scales {
		if c.Has(at + i) {
			scales[i] = c.Float(at + i)
		}
	}
	return align, scales
}

// boxed are the arguments after the sizes for a call: those from position at on as they came.
func (u *upsampling) boxed(c *Ctx, at int) []any {
	var l []any
	for i := at; i < c.NumArgs(); i++ {
		l = append(l, c.Value(i))
	}
	return l
}

// check refuses sizes and dtypes that the operator does not take.
func (u *upsampling) check(c *Ctx, sh, out []int, dt tensor.DType) {
	if len(out) != u.nd {
		c.Fail(tensor.ErrShape, "It is expected output_size equals to %d, but got size %d", u.nd, len(out))
	}
	if len(sh) != u.nd+2 {
		c.Fail(tensor.ErrShape, "It is expected input_size equals to %d, but got size %d", u.nd+2, len(sh))
	}
	for i := range out {
		if sh[2+i] <= 0 || out[i] <= 0 {
			c.Fail(tensor.ErrShape, "Input and output sizes should be greater than 0, but got input (%s) output (%s)",
				hw(sh[2:]), hw(out))
		}
	}
	if sh[1] == 0 {
		c.Fail(tensor.ErrShape, "Non-empty %dD data tensor expected but got a tensor with sizes %s", len(sh),
			tensor.ShapeString(sh))
	}
	if !dt.IsFloat() && (dt != tensor.Uint8 || u.nd != 2 && !strings.HasPrefix(u.mode, "nearest")) {
		c.FailDType(tensor.ErrNotImpl, "upsample_"+u.mode, dt)
	}
}

// register defines the operator with sizes and factors as arguments of their own, its gradient, and the overload vec,
// whose sizes follow from a list of factors if they are not given.
func (u *upsampling) register() {
	align, last := "", 2
	if u.align {
		align, last = ", bool align_corners", 3
	}
	factors := []string{"", ", float? scales=None", ", float? scales_h=None, float? scales_w=None",
		", float? scales_d=None, float? scales_h=None, float? scales_w=None"}[u.nd]
	u.forward, u.backward = tensor.Slot("aten::"+u.name), tensor.Slot("aten::"+u.name+"_backward")
	tensor.Register(tensor.Def{
		Schema: fmt.Sprintf("%s(Tensor self, SymInt[%d] output_size%s%s) -> Tensor", u.name, u.nd, align, factors),
		Go:     "-", Out: true, Grad: u.grad + "Backward0",
		Infer: func(c *Ctx) {
			x, out := c.T(0), c.Ints(1)
			u.check(c, x.Shape(), out, x.DType())
			sh := append([]int{x.Size(0), x.Size(1)}, out...)
			c.AllocStrided(0, sh, tensor.FormatStrides(sh, x.SuggestFormat()), x.DType())
		},
		CPU: func(c *Ctx) {
			x, out := c.T(0), c.Out(0)
			if out.Numel() > 0 {
				align, scales := u.settings(c, 2)
				run(out, x, x.Shape()[2:], c.Ints(1), u.mode, align, scales, u.smooth, false)
			}
		},
		VJP: func(c *Ctx, g *T) []*T {
			return c.Grads1(invoke(u.backward,
				append([]any{g, c.Ints(1), slices.Clone(c.Shape(0))}, u.boxed(c, 2)...)...))
		},
	})
	tensor.Register(tensor.Def{
		Schema: fmt.Sprintf("%s_backward(Tensor grad_output, SymInt[%d] output_size, SymInt[%d] input_size%s%s) -> Tensor", u.name, u.nd, u.nd+2, align, factors),
		Doc:    "is the gradient of " + u.name + "'s input.",
		Go:     "-", Grad: u.grad + "BackwardBackward0",
		Infer: func(c *Ctx) {
			g, sh := c.T(0), c.Ints(2)
			if dt := g.DType(); !dt.IsFloat() {
				c.FailDType(tensor.ErrNotImpl, u.name+"_backward", dt)
			}
			if len(sh) != u.nd+2 {
				c.Fail(tensor.ErrShape, "It is expected input_size equals to %d, but got size %d", u.nd+2, len(sh))
			}
			u.check(c, sh, c.Ints(1), g.DType())
			if want := append([]int{sh[0], sh[1]}, c.Ints(1)...); !tensor.SameShape(g.Shape(), want) {
				c.Fail(tensor.ErrShape, "Expected grad_output to have the same shape as output; output.shape = %s "+
					"but got grad_output.shape = %s", tensor.ShapeString(want), tensor.ShapeString(g.Shape()))
			}
			c.AllocStrided(0, sh, tensor.FormatStrides(sh, g.SuggestFormat()), g.DType())
		},
		CPU: func(c *Ctx) {
			g, out := c.T(0), c.Out(0)
			if out.Numel() > 0 {
				align, scales := u.settings(c, 3)
				run(out, g, c.Ints(2)[2:], c.Ints(1), u.mode, align, scales, u.smooth, true)
			}
		},
		VJP: func(c *Ctx, g *T) []*T {
			return c.Grads1(invoke(u.forward, append([]any{g, c.Ints(1)}, u.boxed(c, 3)...)...))
		},
	})
	u.vec = tensor.Slot("aten::" + u.name + ".vec")
	tensor.Register(tensor.Def{
		Schema: fmt.Sprintf("%s.vec(Tensor input, SymInt[]? output_size%s, float[]? scale_factors) -> Tensor", u.name,
			align),
		Go: "-",
		Body: func(c *Ctx) {
			x, size := c.T(0), c.Ints(1)
			if c.Has(1) == c.Has(last) {
				c.Fail(tensor.ErrValue, "Must specify exactly one of output_size and scale_factors")
			}
			if x.Dim() != u.nd+2 {
				c.Fail(tensor.ErrShape, "It is expected input_size equals to %d, but got size %d", u.nd+2, x.Dim())
			}
			args := make([]any, last, last+u.nd)
			if u.align {
				args[2] = c.Value(2)
			}
			if c.Has(last) {
				s := c.Floats(last)
				if len(s) != u.nd {
					c.Fail(tensor.ErrShape, "It is expected scale_factors equals to %d, but got size %d", u.nd, len(s))
				}
				size = scaled(x.Shape()[2:], s)
				for _, f := range s {
					args = append(args, f)
				}
			} else {
				args = args[:last+u.nd] // no factors
			}
			args[0], args[1] = x, size
			c.Return(invoke(u.forward, args...))
		},
	})
}

func init() {
	for _, u := range upsamplings {
		u.register()
	}
	tensor.Register(tensor.Def{
		Schema: "F::interpolate(Tensor input, int[]? size=None, float[]? scale_factor=None, str mode=\"nearest\", bool? align_corners=None, bool? recompute_scale_factor=None, bool antialias=False) -> Tensor",
		Doc: "resizes an image or volume to size, or by scale_factor: one number for all spatial dimensions, " +
			"or one each. Shapes: input [n, c, L], [n, c, H, W] or [n, c, D, H, W]. The modes are nearest, " +
			"nearest-exact (the nearest after rounding, as other libraries have it), linear (3-d), bilinear, " +
			"bicubic, lanczos (4-d), trilinear (5-d) and area, the mean of what each element covers. With " +
			"align_corners the outermost elements of input and result lie at the same places, otherwise the " +
			"edges of the outermost elements. antialias has shrinking take all elements into account, as " +
			"Pillow does." +
			"\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.interpolate.html",
		Body: func(c *Ctx) { c.Return(interpolate(c, c.Str(3), c.Value(4), c.Bool(5), c.Bool(6))) },
	})
	tensor.Register(tensor.Def{
		Schema: "F::interpolate.any(Tensor input, Any size=None, Any scale_factor=None, str mode=\"nearest\", bool? align_corners=None, bool? recompute_scale_factor=None, bool antialias=False) -> Tensor",
		Go:     "-",
		Body:   func(c *Ctx) { c.Return(interpolate(c, c.Str(3), c.Value(4), c.Bool(5), c.Bool(6))) },
	})
	tensor.Register(tensor.Def{
		Schema: "F::upsample(Tensor input, Any size=None, Any scale_factor=None, str mode=\"nearest\", bool? align_corners=None) -> Tensor",
		Go:     "-",
		Body: func(c *Ctx) {
			oldUpsample(c)
			c.Return(interpolate(c, c.Str(3), c.Value(4), false, false))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "F::upsample_nearest(Tensor input, Any size=None, Any scale_factor=None) -> Tensor",
		Go:     "-",
		Body: func(c *Ctx) {
			oldUpsample(c)
			c.Return(interpolate(c, "nearest", tensor.Value{}, false, false))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "F::upsample_bilinear(Tensor input, Any size=None, Any scale_factor=None) -> Tensor",
		Go:     "-",
		Body: func(c *Ctx) {
			oldUpsample(c)
			c.Return(interpolate(c, "bilinear", tensor.BoolValue(true), false, false))
		},
	})
}

// oldUpsample warns of the names that interpolate had once.
func oldUpsample(c *Ctx) {
	tensor.Warn("`nn.functional.%s` is deprecated. Use `nn.functional.interpolate` instead.", c.Op().Sch.Name)
}

// scaled are the sizes that factors give.
func scaled(sh []int, s []float64) []int {
	out := make([]int, len(sh))
	for i := range sh {
		out[i] = int(math.Floor(float64(sh[i]) * s[i]))
	}
	return out
}

// interpolate is torch.nn.functional.interpolate: arguments 1 and 2 are the size and the factors.
func interpolate(c *Ctx, mode string, align tensor.Value, recompute, antialias bool) *T {
	x := c.T(0)
	const known = "nearest | linear | bilinear | bicubic | trilinear | lanczos | area | nearest-exact"
	kind, want := "", 0
	switch mode {
	case "nearest", "nearest-exact", "area":
		kind = mode
		if align.K != tensor.KNone {
			c.Fail(tensor.ErrValue, "align_corners option can only be set with the interpolating modes: linear | "+
				"bilinear | bicubic | trilinear")
		}
	case "linear":
		kind, want = "linear", 3
	case "bilinear":
		kind, want = "linear", 4
	case "trilinear":
		kind, want = "linear", 5
	case "bicubic":
		kind, want = "cubic", 4
	case "lanczos":
		kind, want = "lanczos", 4
	}
	nd := x.Dim() - 2
	var size []int
	var factors []float64
	if v := c.Value(1); v.K != tensor.KNone {
		if v.K == tensor.KInt {
			size = []int{int(v.N)}
		} else {
			size = slices.Clone(c.Ints(1))
		}
		if c.Has(2) {
			c.Fail(tensor.ErrValue, "only one of size or scale_factor should be defined")
		}
		if len(size) == 1 && v.K == tensor.KInt || len(size) == 1 && nd > 1 {
			size = slices.Repeat(size[:1], max(nd, 1))
		}
		if len(size) != nd && nd > 0 {
			c.Fail(tensor.ErrShape, "Input and output must have the same number of spatial dimensions, but got input "+
				"with spatial dimensions of %s and output size of %s. Please provide input tensor in (N, C, d1, d2, "+
				"...,dK) format and output size in (o1, o2, ...,oK) format.", tensor.ShapeString(x.Shape()[2:]),
				tensor.ShapeString(size))
		}
	} else if v := c.Value(2); v.K != tensor.KNone {
		switch v.K {
		case tensor.KInt, tensor.KFloat:
			factors = []float64{c.Float(2)}
		default:
			factors = slices.Clone(c.Floats(2))
		}
		if len(factors) == 1 {
			factors = slices.Repeat(factors, max(nd, 1))
		}
		if len(factors) != nd && nd > 0 {
			c.Fail(tensor.ErrShape, "Input and scale_factor must have the same number of spatial dimensions, but got "+
				"input with spatial dimensions of %s and scale_factor of shape %v. Please provide input tensor in "+
				"(N, C, d1, d2, ...,dK) format and scale_factor in (s1, s2, ...,sK) format.",
				tensor.ShapeString(x.Shape()[2:]), factors)
		}
	} else {
		c.Fail(tensor.ErrValue, "either size or scale_factor should be defined")
	}
	if recompute && size != nil {
		c.Fail(tensor.ErrValue, "recompute_scale_factor is not meaningful with an explicit size.")
	}
	if kind == "" || nd < 1 || nd > 3 {
		c.Fail(tensor.ErrNotImpl, "Input Error: Only 3D, 4D and 5D input Tensors supported (got %dD) for the modes: "+
			"%s (got %s)", x.Dim(), known, mode)
	}
	if antialias && !(x.Dim() == 4 && (mode == "bilinear" || mode == "bicubic" || mode == "lanczos")) {
		c.Fail(tensor.ErrValue, "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and "+
			"requires a 4-D tensor as input")
	}
	if mode == "lanczos" && !antialias {
		c.FailHint(tensor.ErrValue, "in Go: InterpolateOptions{Antialias: true}", "lanczos mode requires antialias=True")
	}
	if want != 0 && x.Dim() != want {
		c.Fail(tensor.ErrNotImpl, "Got %dD input, but %s mode needs %dD input", x.Dim(), mode, want)
	}
	if mode == "area" || recompute {
		if size == nil {
			size, factors = scaled(x.Shape()[2:], factors), nil
		}
		if mode == "area" {
			return invoke(adaptive[nd], x, size)
		}
	}
	i := slices.IndexFunc(upsamplings, func(u *upsampling) bool {
		return u.mode == kind && u.nd == nd &&
			u.smooth == antialias
	})
	u, args := upsamplings[i], []any{x, tensor.OptIntsValue(size)}
	if u.align {
		args = append(args, align.N != 0)
	}
	if factors == nil {
		return invoke(u.vec, append(args, nil)...)
	}
	return invoke(u.vec, append(args, factors)...)
}
