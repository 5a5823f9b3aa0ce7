package resize

import (
	"slices"

	ox "github.com/gotorch-dev/torch/internal/onnxform"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	for _, u := range []struct {
		name, mode, rounding string
		dims                 int
		align, antialias     bool
	}{
		{"upsample_nearest1d", "nearest", "floor", 1, false, false},
		{"upsample_nearest2d", "nearest", "floor", 2, false, false},
		{"upsample_nearest3d", "nearest", "floor", 3, false, false},
		{"_upsample_nearest_exact1d", "nearest", "round_prefer_ceil", 1, false, false},
		{"_upsample_nearest_exact2d", "nearest", "round_prefer_ceil", 2, false, false},
		{"_upsample_nearest_exact3d", "nearest", "round_prefer_ceil", 3, false, false},
		{"upsample_linear1d", "linear", "", 1, true, false},
		{"upsample_bilinear2d", "linear", "", 2, true, false},
		{"upsample_trilinear3d", "linear", "", 3, true, false},
		{"upsample_bicubic2d", "cubic", "", 2, true, false},
		{"_upsample_bilinear2d_aa", "linear", "", 2, true, true},
		{"_upsample_bicubic2d_aa", "cubic", "", 2, true, true},
	} {
		write := func(c *ox.Call, size bool, factors []float64) *ox.Value {
			a := ox.A{"mode": u.mode, "coordinate_transformation_mode": "half_pixel"}
			if u.mode == "nearest" {
				a["nearest_mode"] = u.rounding
				if u.rounding == "floor" {
					a["coordinate_transformation_mode"] = "asymmetric"
				}
			} else {
				a["coordinate_transformation_mode"] = "pytorch_half_pixel"
				if u.align && c.Bool(2) {
					a["coordinate_transformation_mode"] = "align_corners"
				}
			}
			if u.mode == "cubic" {
				a["cubic_coeff_a"] = -0.75
			}
			if u.antialias {
				if c.Opset < 18 {
					c.Fail("antialiasing exists from opset 18 on")
				}
				a["antialias"], a["cubic_coeff_a"] = 1, -0.5
				if u.mode == "linear" {
					delete(a, "cubic_coeff_a")
				}
				if a["coordinate_transformation_mode"] == "pytorch_half_pixel" {
					a["coordinate_transformation_mode"] = "half_pixel"
				}
			}
			x := c.T(0)
			if size {
				front := c.Node("Slice", nil, c.ShapeOf(x), c.I64(0), c.I64(2)).Typed(tensor.Int64)
				if x.Known && !slices.Contains(x.Shape[:2], -1) {
					front = c.I64(x.Shape[:2]...)
				}
				sizes := c.Concat(0, front, c.IntsValue(1)).Typed(tensor.Int64)
				return c.Node("Resize", a, x, nil, nil, sizes)
			}
			return c.Node("Resize", a, x, nil, c.Const(tensor.FromSlice(append([]float64{1, 1}, factors...)).Float()))
		}
		last := 2 // the argument in front of the scales
		if u.align {
			last = 3
		}
		ox.Register(ox.One(func(c *ox.Call) *ox.Value { // self, output_size, (align_corners,) scales…
			// The scales that the caller gave decide where the samples lie, but for corners.
			factors := make([]float64, u.dims)
			for i := range factors {
				if !c.Has(last+i) || c.Dynamic(last+i) {
					return write(c, true, nil)
				}
				factors[i] = c.Float(last + i)
			}
			return write(c, !scalesFit(c, factors), factors)
		}), "aten::"+u.name)
		ox.Register(ox.One(func(c *ox.Call) *ox.Value { // input, output_size, (align_corners,) scale_factors
			if c.Has(1) {
				return write(c, true, nil)
			}
			return write(c, false, c.Floats(last))
		}), "aten::"+u.name+".vec")
	}
	ox.Register(ox.One(func(c *ox.Call) *ox.Value { // input, grid, interpolation_mode, padding_mode, align_corners
		if c.Opset < 16 {
			c.Fail("GridSample exists from opset 16 on")
		}
		x := c.T(0)
		if c.Rank(x) != 4 && c.Opset < 20 {
			c.Fail("GridSample of %d dimensions exists from opset 20 on", c.Rank(x))
		}
		modes := [...]string{"bilinear", "nearest", "bicubic"}
		if c.Opset >= 20 {
			modes = [...]string{"linear", "nearest", "cubic"}
		}
		return c.Node("GridSample", ox.A{"mode": modes[c.Int(2)], "align_corners": c.Bool(4),
			"padding_mode": [...]string{"zeros", "border", "reflection"}[c.Int(3)]}, x, c.T(1))
	}), "aten::grid_sampler", "aten::grid_sampler_2d", "aten::grid_sampler_3d")
	ox.Register(ox.One(func(c *ox.Call) *ox.Value { // self, upscale_factor
		return shuffled(c, c.Int(1), func(b, h, w any, ch, r int) (inner, outer []any, perm []int) {
			return []any{b, ch / (r * r), r, r, h, w}, []any{b, ch / (r * r), times(c, h, r), times(c, w, r)},
				[]int{0, 1, 4, 2, 5, 3}
		})
	}), "aten::pixel_shuffle")
	ox.Register(ox.One(func(c *ox.Call) *ox.Value {
		return shuffled(c, c.Int(1), func(b, h, w any, ch, r int) (inner, outer []any, perm []int) {
			hh, ok := h.(int)
			ww, ok2 := w.(int)
			if !ok || !ok2 {
				c.Fail("pixel_unshuffle of dynamic sizes")
			}
			return []any{b, ch, hh / r, r, ww / r, r}, []any{b, ch * r * r, hh / r, ww / r}, []int{0, 1, 3, 5, 2, 4}
		})
	}), "aten::pixel_unshuffle")
	ox.Register(ox.One(func(c *ox.Call) *ox.Value { // self, groups
		x := c.T(0)
		g := c.Int(1)
		sizes := c.Sizes(x)
		ch, ok := sizes[1].(int)
		if !ok {
			c.Fail("the number of channels is not known")
		}
		perm := []int{0, 2, 1}
		for i := 2; i < c.Rank(x); i++ {
			perm = append(perm, i+1)
		}
		y := c.ReshapeTo(x, c.Vector(append([]any{sizes[0], g, ch / g}, sizes[2:]...)...)).Typed(x.DType)
		return c.ReshapeTo(c.Transpose(y, perm...).Typed(x.DType), c.Vector(sizes...))
	}), "aten::channel_shuffle", "aten::native_channel_shuffle")
}

// scalesFit reports that the sizes which ONNX computes from scales are PyTorch's.
func scalesFit(c *ox.Call, factors []float64) bool {
	x, out := c.T(0), c.OutShape(0)
	if out == nil || !x.Known {
		return false
	}
	for i, f := range factors {
		in, want := x.Shape[i+2], out[i+2]
		if in >= 0 && want >= 0 && int(float64(in)*float64(float32(f))) != want {
			return false
		}
	}
	return true
}

func times(c *ox.Call, e any, n int) any {
	if k, ok := e.(int); ok {
		return k * n
	}
	return c.Node("Mul", nil, c.Int0(e), c.Int0(n)).Typed(tensor.Int64).Shaped()
}

// shuffled splits the channels and the places of an image, permutes the parts and joins them.
func shuffled(c *ox.Call, r int, f func(b, h, w any, ch, r int) (inner, outer []any, perm []int)) *ox.Value {
	x := c.T(0)
	if c.Rank(x) != 4 {
		c.Fail("an image of %d dimensions", c.Rank(x))
	}
	s := c.Sizes(x)
	ch, ok := s[1].(int)
	if !ok {
		c.Fail("the number of channels is not known")
	}
	inner, outer, perm := f(s[0], s[2], s[3], ch, r)
	y := c.ReshapeTo(x, c.Vector(inner...)).Typed(x.DType)
	return c.ReshapeTo(c.Transpose(y, perm...).Typed(x.DType), c.Vector(outer...))
}
