package resize

import (
	"fmt"
	"slices"

	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// This file defines grid sampling (Jaderberg et al., Spatial transformer networks, 2015): grid_sample and affine_grid.

// checkGrid refuses inputs and grids that do not fit: aten/src/ATen/native/GridSamplerUtils.h.
func checkGrid(c *Ctx, name string, x, grid *T, nd int) {
	sh, gs := x.Shape(), grid.Shape()
	if x.Device() != grid.Device() {
		c.Fail(tensor.ErrDevice, "%s: expected input and grid to be on same device, but input is on %s and grid is "+
			"on %s",
			name, x.Device(), grid.Device())
	}
	if len(sh) < 1 || len(gs) < 1 || sh[0] != gs[0] {
		c.Fail(tensor.ErrShape, "%s: expected grid and input to have same batch size, but got input with sizes %s and "+
			"grid with sizes %s", name, tensor.ShapeString(sh), tensor.ShapeString(gs))
	}
	if len(sh) < 3 || gs[len(gs)-1] != len(sh)-2 {
		c.Fail(tensor.ErrShape, "%s: expected grid to have size %d in last dimension, but got grid with sizes %s", name,
			len(sh)-2, tensor.ShapeString(gs))
	}
	if n := len(sh); n != nd+2 && (nd != 0 || n != 4 && n != 5) || len(gs) != n {
		want := fmt.Sprintf("%dD", nd+2)
		if nd == 0 {
			want = "4D or 5D"
		}
		c.Fail(tensor.ErrShape, "%s: expected %s input and grid with same number of dimensions, but got input with "+
			"sizes %s and grid with sizes %s", name, want, tensor.ShapeString(sh), tensor.ShapeString(gs))
	}
	for i, n := range sh[2:] {
		if n <= 0 {
			c.Fail(tensor.ErrShape, "%s: expected input to have non-empty spatial dimensions, but input has sizes %s "+
				"with dimension %d being empty", name, tensor.ShapeString(sh), i+2)
		}
	}
}

// checkSampling refuses what grid_sampler_2d and grid_sampler_3d do not take; the arguments begin at position at.
func checkSampling(c *Ctx, at, nd int) {
	x, grid := c.T(at), c.T(at+1)
	name := [...]string{2: "grid_sampler_2d", 3: "grid_sampler_3d"}[nd]
	if x.Device() == grid.Device() && x.DType() != grid.DType() {
		c.Fail(tensor.ErrDType, "expected scalar type %s but found %s", x.DType().ClassName(), grid.DType().ClassName())
	}
	if !x.DType().IsFloat() {
		c.FailDType(tensor.ErrNotImpl, name+"_cpu", x.DType())
	}
	if m := c.Int(at + 2); m < gridBilinear || m > gridBicubic {
		c.Fail(tensor.ErrValue, "%s: interpolation_mode must be 0 (bilinear), 1 (nearest) or 2 (bicubic), got %d", name,
			m)
	}
	if p := c.Int(at + 3); p < padZeros || p > padReflection {
		c.Fail(tensor.ErrValue, "%s: padding_mode must be 0 (zeros), 1 (border) or 2 (reflection), got %d", name, p)
	}
	checkGrid(c, name, x, grid, nd)
}

// filled calls f with the elements of o in type E, which are rounded to o's dtype afterwards.
func filled[E float](o *T, f func(o []E)) {
	if o.DType() == tensor.DTypeOf[E]() {
		f(tensor.Data[E](o))
		return
	}
	w := tensor.New(o.Shape(), tensor.DTypeOf[E]())
	f(tensor.Data[E](w))
	tensor.CopyRaw(o, w)
	tensor.ReleaseRaw(w)
}

func sampleForward[E float](c *Ctx, nd int) {
	if c.Out(0).Numel() > 0 {
		filled(c.Out(0), newSampling[E](c, 0, nd).forward)
	}
}

func sampleBackward[E float](c *Ctx, nd int) {
	s := newSampling[E](c, 1, nd)
	g := tensor.Data[E](tensor.DenseAs(c.T(0), tensor.DTypeOf[E]()))
	want := c.Bools(6)
	if o := c.Out(0); want[0] && o.Numel() > 0 {
		filled(o, func(d []E) {
			clear(d)
			s.scatter(d, g)
		})
	}
	if o := c.Out(1); want[1] && o.Numel() > 0 {
		filled(o, func(d []E) { s.slopes(d, g) })
	}
}

// registerGrid defines grid_sampler_2d or grid_sampler_3d and its gradient.
func registerGrid(nd int) {
	name := fmt.Sprintf("grid_sampler_%dd", nd)
	backward := "aten::" + name + "_backward"
	shape := "[N, C, H, W], grid [N, H', W', 2], result [N, C, H', W']"
	if nd == 3 {
		shape = "[N, C, D, H, W], grid [N, D', H', W', 3], result [N, C, D', H', W']"
	}
	tensor.Register(tensor.Def{
		Schema: name + "(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> Tensor",
		Doc: "reads input at the places that grid holds as coordinates between -1 and 1, the innermost dimension " +
			"first. Shapes: input " + shape + ". interpolation_mode: 0 bilinear, 1 nearest, 2 bicubic; " +
			"padding_mode: 0 zeros, 1 border, 2 reflection. 16-bit tensors are computed in float32." +
			site + "grid_sample.html",
		Out: true, Grad: fmt.Sprintf("GridSampler%dDBackward0", nd),
		Infer: func(c *Ctx) {
			checkSampling(c, 0, nd)
			x := c.T(0)
			c.Alloc(0, append([]int{x.Size(0), x.Size(1)}, c.T(1).Shape()[1:nd+1]...), x.DType())
		},
		CPU: func(c *Ctx) {
			if c.ArgDType(0) == tensor.Float64 {
				sampleForward[float64](c, nd)
			} else {
				sampleForward[float32](c, nd)
			}
		},
		Save: "input grid",
		VJP: func(c *Ctx, g *T) []*T {
			want := []bool{c.Needs(0), c.Needs(1)}
			r := op.Call(backward, g, c.T(0), c.T(1), c.Int(2), c.Int(3), c.Bool(4), want)
			for i := range want {
				if !want[i] {
					r[i] = nil
				}
			}
			return r
		},
	})
	tensor.Register(tensor.Def{
		Schema: name + "_backward(Tensor grad_output, Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners, bool[2] output_mask) -> (Tensor, Tensor)",
		Doc: "gives the gradients of " + name + "'s input and grid; output_mask says which are wanted, the others " +
			"come back empty.",
		Go: "-", Out: true,
		Infer: func(c *Ctx) {
			checkSampling(c, 1, nd)
			g, x, grid := c.T(0), c.T(1), c.T(2)
			sh := append([]int{x.Size(0), x.Size(1)}, grid.Shape()[1:nd+1]...)
			if !tensor.SameShape(g.Shape(), sh) || g.DType() != x.DType() {
				c.Fail(tensor.ErrShape, "%s_backward: expected grad_output of shape %s and dtype %s, got %s and %s",
					name,
					tensor.ShapeString(sh), x.DType(), tensor.ShapeString(g.Shape()), g.DType())
			}
			for i, want := range c.Bools(6) {
				if want {
					c.Alloc(i, c.Shape(1+i), x.DType())
				} else {
					c.Alloc(i, []int{0}, x.DType())
				}
			}
		},
		CPU: func(c *Ctx) {
			if c.ArgDType(1) == tensor.Float64 {
				sampleBackward[float64](c, nd)
			} else {
				sampleBackward[float32](c, nd)
			}
		},
		VJP: func(c *Ctx, _ *T) []*T { // nor does PyTorch have a second derivative
			c.Fail(tensor.ErrNotImpl, "derivative for aten::%s_backward is not implemented", name)
			return nil
		},
	})
}

// gridModes are the names that grid_sample takes, in the order of the codes.
var gridModes, gridPaddings = []string{"bilinear", "nearest", "bicubic"}, []string{"zeros", "border", "reflection"}

// gridSample is the body of torch.nn.functional.grid_sample.
func gridSample(c *Ctx) {
	mode, pad := slices.Index(gridModes, c.Str(2)), slices.Index(gridPaddings, c.Str(3))
	if mode < 0 {
		c.Fail(tensor.ErrValue, "nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', "+
			"but got: '%s'", c.Str(2))
	}
	if pad < 0 {
		c.Fail(tensor.ErrValue, "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or "+
			"'reflection', but got: '%s'", c.Str(3))
	}
	if !c.Has(4) {
		tensor.Warn("Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. " +
			"Please specify align_corners=True if the old behavior is desired. See the documentation of grid_sample " +
			"for details.")
	}
	c.Return(op.Call1("aten::grid_sampler", c.T(0), c.T(1), mode, pad, c.Bool(4)))
}

// checkAffine refuses sizes and theta that do not fit and returns the number of spatial dimensions.
func checkAffine(c *Ctx, name string, size []int) (nd int) {
	if n := len(size); n != 4 && n != 5 {
		c.Fail(tensor.ErrShape, "%s needs 4d (spatial) or 5d (volumetric) inputs.", name)
	}
	for _, n := range size {
		if n <= 0 {
			c.Fail(tensor.ErrShape, "Expected non-zero, positive output size. Got %s", tensor.ShapeString(size))
		}
	}
	return len(size) - 2
}

// baseCoordinates are the coordinates of n elements between -1 and 1: of the outermost centres when align, otherwise of
// the edges.
func baseCoordinates(n int, align bool) []float64 {
	out := make([]float64, n)
	if n <= 1 {
		return out
	}
	for i := range out {
		out[i] = 2*float64(i)/float64(n-1) - 1
		if !align {
			out[i] *= float64(n-1) / float64(n)
		}
	}
	return out
}

// affineGrid computes theta · (x, y, (z,) 1) for each element of an image or volume.
func affineGrid[E float](out, theta []E, size []int, align bool) {
	nd := len(size) - 2
	axes := make([][]float64, nd)
	places := 1
	for i := range nd {
		axes[i] = baseCoordinates(size[2+i], align)
		places *= size[2+i]
	}
	for i := range size[0] {
		t := theta[i*nd*(nd+1):][:nd*(nd+1)]
		for o := range places {
			var at [3]E // innermost first
			for d, rest := nd-1, o; d >= 0; d-- {
				at[nd-1-d] = E(axes[d][rest%size[2+d]])
				rest /= size[2+d]
			}
			row := out[(i*places+o)*nd:][:nd]
			for j := range row {
				var sum E
				for k := range nd {
					sum += t[j*(nd+1)+k] * at[k]
				}
				row[j] = sum + t[j*(nd+1)+nd]
			}
		}
	}
}

func registerAffine() {
	tensor.Register(tensor.Def{
		Schema: "affine_grid_generator(Tensor theta, SymInt[] size, bool align_corners) -> Tensor",
		Doc: "gives the grid for grid_sampler that an affine transform makes. Shapes: theta [N, 2, 3] for size (N, C, " +
			"H, W), result [N, H, W, 2]; theta [N, 3, 4] for size (N, C, D, H, W), result [N, D, H, W, 3]." + site +
			"affine_grid.html",
		Out: true,
		Infer: func(c *Ctx) {
			size := c.Ints(1)
			nd, theta := checkAffine(c, "AffineGridGenerator", size), c.T(0)
			if want := []int{size[0], nd, nd + 1}; !tensor.SameShape(theta.Shape(), want) {
				c.Fail(tensor.ErrShape, "Expected a batch of %dD affine matrices of shape %s for size %s. Got %s.", nd,
					tensor.ShapeString(want), tensor.ShapeString(size), tensor.ShapeString(theta.Shape()))
			}
			if !theta.DType().IsFloat() {
				c.FailDType(tensor.ErrNotImpl, "affine_grid_generator", theta.DType())
			}
			sh := append(append([]int{size[0]}, size[2:]...), nd)
			c.Alloc(0, sh, theta.DType())
		},
		CPU: func(c *Ctx) {
			if c.ArgDType(0) == tensor.Float64 {
				affineGrid(tensor.Data[float64](c.Out(0)), tensor.Data[float64](tensor.Dense(c.T(0))), c.Ints(1),
					c.Bool(2))
				return
			}
			theta := tensor.Data[float32](tensor.DenseAs(c.T(0), tensor.Float32))
			filled(c.Out(0), func(o []float32) { affineGrid(o, theta, c.Ints(1), c.Bool(2)) })
		},
		VJP: func(c *Ctx, g *T) []*T {
			return c.Grads1(op.Call1("aten::affine_grid_generator_backward", g, c.Ints(1), c.Bool(2)))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "affine_grid_generator_backward(Tensor grad, SymInt[] size, bool align_corners) -> Tensor",
		Doc:    "is the gradient of affine_grid_generator's theta.",
		Go:     "-",
		Body: func(c *Ctx) {
			g, size := c.T(0), c.Ints(1)
			nd := checkAffine(c, "AffineGridGenerator", size)
			places := 1
			for _, n := range size[2:] {
				places *= n
			}
			// the base coordinates are the grid of the identity; each stands in for a column of theta, and 1 for the
			// last
			identity := g.NewZeros([]int{1, nd, nd + 1})
			for i := range nd {
				identity.Select(1, i).Select(1, i).FillScalarInPlace(1)
			}
			one := append([]int{1}, size[1:]...)
			base := op.Call1("aten::affine_grid_generator", identity, one, c.Bool(2)).Reshape([]int{places, nd})
			rows := g.Reshape([]int{size[0], places, nd}).Transpose(1, 2)
			c.Return(op.Call1("aten::cat",
				[]*T{rows.MatMul(base), rows.SumDim([]int{2}, tensor.SumDimOptions{KeepDim: true})},
				-1))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "F::affine_grid(Tensor theta, int[] size, bool? align_corners=None) -> Tensor",
		Doc: "gives the grid for grid_sample that an affine transform makes. Shapes: theta [N, 2, 3] for size (N, C, " +
			"H, W), result [N, H, W, 2]; theta [N, 3, 4] for size (N, C, D, H, W), result [N, D, H, W, 3]. With " +
			"align_corners the coordinates -1 and 1 are the centres of the outermost elements, otherwise their edges." +
			site + "affine_grid.html",
		Body: func(c *Ctx) {
			theta, size := c.T(0), c.Ints(1)
			if !c.Has(2) {
				tensor.Warn("Default grid_sample and affine_grid behavior has changed to align_corners=False since " +
					"1.3.0. Please specify align_corners=True if the old behavior is desired. See the documentation of " +
					"grid_sample for details.")
			}
			if !theta.DType().IsFloat() {
				c.Fail(tensor.ErrDType, "Expected theta to have floating point type, but got %s", theta.DType())
			}
			if n := len(size); n != 4 && n != 5 {
				c.Fail(tensor.ErrNotImpl,
					"affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, "+
						"respectively. Got size %s.", tensor.ShapeString(size))
			}
			if slices.Min(size) <= 0 {
				c.Fail(tensor.ErrValue, "Expected non-zero, positive output size. Got %s", tensor.ShapeString(size))
			}
			if nd := len(size) - 2; theta.Dim() != 3 || theta.Size(-2) != nd || theta.Size(-1) != nd+1 {
				c.Fail(tensor.ErrShape, "Expected a batch of %dD affine matrices of shape Nx%dx%d for size %s. Got %s.",
					nd,
					nd, nd+1, tensor.ShapeString(size), tensor.ShapeString(theta.Shape()))
			}
			c.Return(op.Call1("aten::affine_grid_generator", theta, size, c.Bool(2)))
		},
	})
}

func init() {
	registerGrid(2)
	registerGrid(3)
	tensor.Register(tensor.Def{
		Schema: "grid_sampler(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> Tensor",
		Doc:    "is grid_sampler_2d of images and grid_sampler_3d of volumes." + site + "grid_sample.html",
		Body: func(c *Ctx) {
			x, grid := c.T(0), c.T(1)
			checkGrid(c, "grid_sampler", x, grid, 0)
			name := "aten::grid_sampler_2d"
			if x.Dim() == 5 {
				name = "aten::grid_sampler_3d"
			}
			c.Return(op.Call1(name, x, grid, c.Int(2), c.Int(3), c.Bool(4)))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "F::grid_sample(Tensor input, Tensor grid, str mode=\"bilinear\", str padding_mode=\"zeros\", bool? align_corners=None) -> Tensor",
		Doc: "reads input at the places that grid holds as coordinates between -1 and 1, the innermost dimension " +
			"first. Shapes: input [N, C, H, W], grid [N, H', W', 2], result [N, C, H', W'], or input [N, C, D, H, W], " +
			"grid [N, D', H', W', 3], result [N, C, D', H', W']. mode is bilinear, nearest or " +
			"bicubic, which mean trilinear and tricubic for volumes; padding_mode is zeros, border or reflection. " +
			"With align_corners the coordinates -1 " +
			"and 1 are the centres of the outermost elements, otherwise their edges." + site + "grid_sample.html",
		Body: gridSample,
	})
	registerAffine()
}
