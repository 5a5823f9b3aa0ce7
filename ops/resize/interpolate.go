package resize

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gotorch-dev/torch/tensor"
)

var (
	opResize     = tensor.Slot("aten::_resize_planes")
	opResizeBack = tensor.Slot("aten::_resize_planes_backward")
	adaptive     = []*tensor.Op{nil, tensor.Slot("aten::adaptive_avg_pool1d"), tensor.Slot("aten::adaptive_avg_pool2d"), tensor.Slot("aten::adaptive_avg_pool3d")}
)

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

func init() {
	tensor.Register(tensor.Def{
		Schema: "_resize_planes(Tensor self, int[] output_size, str mode, bool align_corners, float[] scales, bool antialias) -> Tensor",
		Doc:    "resizes the dimensions after the first two; a scale of 0 means none given.",
		Go:     "-",
		Infer: func(c *Ctx) {
			x, out, mode := c.T(0), c.Ints(1), c.Str(2)
			sh := x.Shape()
			name := "upsample_" + mode
			if len(sh) != len(out)+2 {
				c.Fail(tensor.ErrShape, "It is expected input_size equals to %d, but got size %d", len(out)+2, len(sh))
			}
			for i := range out {
				if sh[2+i] <= 0 || out[i] <= 0 {
					c.Fail(tensor.ErrShape, "Input and output sizes should be greater than 0, but got input (%s) output (%s)", hw(sh[2:]), hw(out))
				}
			}
			if sh[1] == 0 {
				c.Fail(tensor.ErrShape, "Non-empty %dD data tensor expected but got a tensor with sizes %s", len(sh), tensor.ShapeString(sh))
			}
			ok := x.DType().IsFloat() || x.DType() == tensor.Uint8 && (len(out) == 2 || strings.HasPrefix(mode, "nearest"))
			if !ok {
				c.Fail(tensor.ErrNotImpl, "\"%s\" not implemented for '%s'", name, x.DType().ClassName())
			}
			sh = append([]int{sh[0], sh[1]}, out...)
			c.AllocStrided(0, sh, tensor.FormatStrides(sh, x.SuggestFormat()), x.DType())
		},
		CPU: func(c *Ctx) {
			x, out := c.T(0), c.Out(0)
			if out.Numel() == 0 {
				return
			}
			run(out, x, x.Shape()[2:], c.Ints(1), c.Str(2), c.Bool(3), c.Floats(4), c.Bool(5), false)
		},
		VJP: func(c *Ctx, g *T) []*T {
			return []*T{invoke(opResizeBack, g, slices.Clone(c.Shape(0)[2:]), c.Str(2), c.Bool(3), c.Floats(4), c.Bool(5))}
		},
		Grad: "UpsampleBackward0",
	})
	tensor.Register(tensor.Def{
		Schema: "_resize_planes_backward(Tensor grad_output, int[] input_size, str mode, bool align_corners, float[] scales, bool antialias) -> Tensor",
		Doc:    "is the gradient of _resize_planes.",
		Go:     "-",
		Infer: func(c *Ctx) {
			if dt := c.T(0).DType(); !dt.IsFloat() {
				c.Fail(tensor.ErrNotImpl, "the gradient of interpolation is not implemented for '%s'", dt.ClassName())
			}
			sh := append(slices.Clone(c.Shape(0)[:2]), c.Ints(1)...)
			c.AllocStrided(0, sh, tensor.FormatStrides(sh, c.T(0).SuggestFormat()), c.ArgDType(0))
		},
		CPU: func(c *Ctx) {
			g, out := c.T(0), c.Out(0)
			if out.Numel() == 0 {
				return
			}
			run(out, g, c.Ints(1), g.Shape()[2:], c.Str(2), c.Bool(3), c.Floats(4), c.Bool(5), true)
		},
		VJP: func(c *Ctx, g *T) []*T {
			return []*T{invoke(opResize, g, slices.Clone(c.Shape(0)[2:]), c.Str(2), c.Bool(3), c.Floats(4), c.Bool(5))}
		},
	})
	// The ATen forms: sizes and factors as separate arguments, or as lists of which one is given.
	for _, v := range []struct {
		name, mode    string
		nd            int
		align, smooth bool
	}{
		{"upsample_nearest1d", "nearest", 1, false, false}, {"upsample_nearest2d", "nearest", 2, false, false}, {"upsample_nearest3d", "nearest", 3, false, false},
		{"_upsample_nearest_exact1d", "nearest-exact", 1, false, false}, {"_upsample_nearest_exact2d", "nearest-exact", 2, false, false}, {"_upsample_nearest_exact3d", "nearest-exact", 3, false, false},
		{"upsample_linear1d", "linear", 1, true, false}, {"upsample_bilinear2d", "linear", 2, true, false}, {"upsample_trilinear3d", "linear", 3, true, false},
		{"upsample_bicubic2d", "cubic", 2, true, false},
		{"_upsample_bilinear2d_aa", "linear", 2, true, true}, {"_upsample_bicubic2d_aa", "cubic", 2, true, true}, {"_upsample_lanczos2d_aa", "lanczos", 2, true, true},
	} {
		align, at := "", 2
		if v.align {
			align, at = ", bool align_corners", 3
		}
		factors := []string{"", ", float? scales=None", ", float? scales_h=None, float? scales_w=None", ", float? scales_d=None, float? scales_h=None, float? scales_w=None"}[v.nd]
		aligned := func(c *Ctx) bool { return v.align && c.Bool(2) }
		tensor.Register(tensor.Def{
			Schema: fmt.Sprintf("%s(Tensor self, SymInt[%d] output_size%s%s) -> Tensor", v.name, v.nd, align, factors),
			Go:     "-", Out: true,
			Body: func(c *Ctx) {
				s := make([]float64, v.nd)
				for i := range s {
					if c.Has(at + i) {
						s[i] = c.Float(at + i)
					}
				}
				if len(c.Ints(1)) != v.nd {
					c.Fail(tensor.ErrShape, "It is expected output_size equals to %d, but got size %d", v.nd, len(c.Ints(1)))
				}
				c.Return(invoke(opResize, c.T(0), c.Ints(1), v.mode, aligned(c), s, v.smooth))
			},
		})
		tensor.Register(tensor.Def{
			Schema: fmt.Sprintf("%s.vec(Tensor input, SymInt[]? output_size%s, float[]? scale_factors) -> Tensor", v.name, align),
			Go:     "-",
			Body: func(c *Ctx) {
				x := c.T(0)
				size, s := c.Ints(1), make([]float64, v.nd)
				if c.Has(at) {
					copy(s, c.Floats(at))
				}
				if !c.Has(1) {
					size = scaled(x.Shape()[2:], s)
				}
				c.Return(invoke(opResize, x, size, v.mode, aligned(c), s, v.smooth))
			},
		})
	}
	doc := "resizes the dimensions after the first two of an input [n, c, ...], to size or by scale_factor (one value for all dimensions, or one each). Modes: nearest, nearest-exact, linear (3-d), bilinear, bicubic, lanczos (4-d), trilinear (5-d), area." + site + "interpolate.html"
	tensor.Register(tensor.Def{
		Schema: "F::interpolate(Tensor input, int[]? size=None, float[]? scale_factor=None, str mode=\"nearest\", bool? align_corners=None, bool? recompute_scale_factor=None, bool antialias=False) -> Tensor",
		Doc:    doc,
		Body:   func(c *Ctx) { c.Return(interpolate(c, c.Str(3), c.Value(4), c.Bool(5), c.Bool(6))) },
	})
	tensor.Register(tensor.Def{
		Schema: "F::interpolate.any(Tensor input, Any size=None, Any scale_factor=None, str mode=\"nearest\", bool? align_corners=None, bool? recompute_scale_factor=None, bool antialias=False) -> Tensor",
		Go:     "-",
		Body:   func(c *Ctx) { c.Return(interpolate(c, c.Str(3), c.Value(4), c.Bool(5), c.Bool(6))) },
	})
	tensor.Register(tensor.Def{
		Schema: "F::upsample(Tensor input, Any size=None, Any scale_factor=None, str mode=\"nearest\", bool? align_corners=None) -> Tensor",
		Go:     "-",
		Body:   func(c *Ctx) { c.Return(interpolate(c, c.Str(3), c.Value(4), false, false)) },
	})
	tensor.Register(tensor.Def{
		Schema: "F::upsample_nearest(Tensor input, Any size=None, Any scale_factor=None) -> Tensor",
		Go:     "-",
		Body:   func(c *Ctx) { c.Return(interpolate(c, "nearest", tensor.Value{}, false, false)) },
	})
	tensor.Register(tensor.Def{
		Schema: "F::upsample_bilinear(Tensor input, Any size=None, Any scale_factor=None) -> Tensor",
		Go:     "-",
		Body:   func(c *Ctx) { c.Return(interpolate(c, "bilinear", tensor.BoolValue(true), false, false)) },
	})
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
			c.Fail(tensor.ErrValue, "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear")
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
			c.Fail(tensor.ErrShape, "Input and output must have the same number of spatial dimensions, but got input with spatial dimensions of %s and output size of %s. Please provide input tensor in (N, C, d1, d2, ...,dK) format and output size in (o1, o2, ...,oK) format.", tensor.ShapeString(x.Shape()[2:]), tensor.ShapeString(size))
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
			c.Fail(tensor.ErrShape, "Input and scale_factor must have the same number of spatial dimensions, but got input with spatial dimensions of %s and scale_factor of shape %v. Please provide input tensor in (N, C, d1, d2, ...,dK) format and scale_factor in (s1, s2, ...,sK) format.", tensor.ShapeString(x.Shape()[2:]), factors)
		}
	} else {
		c.Fail(tensor.ErrValue, "either size or scale_factor should be defined")
	}
	if recompute && size != nil {
		c.Fail(tensor.ErrValue, "recompute_scale_factor is not meaningful with an explicit size.")
	}
	if kind == "" || nd < 1 || nd > 3 {
		c.Fail(tensor.ErrNotImpl, "Input Error: Only 3D, 4D and 5D input Tensors supported (got %dD) for the modes: %s (got %s)", x.Dim(), known, mode)
	}
	if antialias && !(x.Dim() == 4 && (mode == "bilinear" || mode == "bicubic" || mode == "lanczos")) {
		c.Fail(tensor.ErrValue, "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D tensor as input")
	}
	if mode == "lanczos" && !antialias {
		c.Fail(tensor.ErrValue, "lanczos mode requires antialias=True")
	}
	if want != 0 && x.Dim() != want {
		c.Fail(tensor.ErrNotImpl, "Got %dD input, but %s mode needs %dD input", x.Dim(), mode, want)
	}
	scales := make([]float64, nd)
	if size == nil {
		size = scaled(x.Shape()[2:], factors)
		if !recompute {
			copy(scales, factors)
		}
	}
	if mode == "area" {
		return invoke(adaptive[nd], x, size)
	}
	return invoke(opResize, x, size, kind, align.N != 0, scales, antialias)
}
