package vision

import (
	"math"

	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/tensor"
)

// deform is the geometry of a deformable convolution: input [n, c, h, w], windows of kh x kw, results of oh x ow. Each
// of og groups of channels has offsets of its own.
type deform struct {
	n, c, h, w     int
	kh, kw, oh, ow int
	stride, pad    [2]int
	dilation       [2]int
	og             int
	masked         bool
}

// readDeform reads the geometry from shapes; the arguments from at on are stride, pad and dilation in both dimensions.
func readDeform(c *Ctx, input, offset, mask []int, kh, kw, at, og int, masked bool) *deform {
	name := c.Op().Sch.Name
	if len(input) != 4 || len(offset) != 4 {
		c.Fail(tensor.ErrShape, "%s: input and offset should be tensors of 4 dimensions, got %s and %s", name,
			tensor.ShapeString(input), tensor.ShapeString(offset))
	}
	d := &deform{n: input[0], c: input[1], h: input[2], w: input[3], kh: kh, kw: kw, og: og, masked: masked,
		stride: [2]int{c.Int(at), c.Int(at + 1)}, pad: [2]int{c.Int(at + 2), c.Int(at + 3)},
		dilation: [2]int{c.Int(at + 4), c.Int(at + 5)}}
	if kh <= 0 || kw <= 0 {
		c.Fail(tensor.ErrShape, "%s: weight has a window of %d x %d", name, kh, kw)
	}
	for i := range 2 {
		if d.stride[i] <= 0 || d.dilation[i] <= 0 || d.pad[i] < 0 {
			c.Fail(tensor.ErrValue, "%s: stride %v and dilation %v must be positive, padding %v not negative", name,
				d.stride, d.dilation, d.pad)
		}
	}
	if og <= 0 || d.c%og != 0 {
		c.Fail(tensor.ErrShape, "%s: %d channels are no multiple of %d offset groups", name, d.c, og)
	}
	size := func(n, k, i int) int { return (n+2*d.pad[i]-(d.dilation[i]*(k-1)+1))/d.stride[i] + 1 }
	d.oh, d.ow = size(d.h, kh, 0), size(d.w, kw, 1)
	if d.oh <= 0 || d.ow <= 0 {
		c.Fail(tensor.ErrShape, "Calculated output size too small - out_h: %d out_w: %d", d.oh, d.ow)
	}
	if want := []int{d.n, 2 * og * kh * kw, d.oh, d.ow}; !tensor.SameShape(offset, want) {
		c.Fail(tensor.ErrShape, "offset.shape is not valid: got: %s expected: %s", tensor.ShapeString(offset),
			tensor.ShapeString(want))
	}
	if want := []int{d.n, og * kh * kw, d.oh, d.ow}; masked && !tensor.SameShape(mask, want) {
		c.Fail(tensor.ErrShape, "mask.shape is not valid: got: %s expected: %s", tensor.ShapeString(mask),
			tensor.ShapeString(want))
	}
	return d
}

// sample is where one element of a window is read.
type sample[E float] struct {
	at     [4]int // in the plane, -1 outside
	w      [4]E
	dy, dx [4]E // derivatives of the weights
	mask   E
	read   bool
}

// place finds where window element t of offset group g is read for output (y, x) of image i.
func (d *deform) place(s *sample[float64], y, x float64) {
	*s = sample[float64]{mask: s.mask}
	if !(y > -1 && y < float64(d.h) && x > -1 && x < float64(d.w)) {
		return
	}
	s.read = true
	y0, x0 := int(math.Floor(y)), int(math.Floor(x))
	ly, lx := y-float64(y0), x-float64(x0)
	for k := range 4 {
		yy, xx := y0+k/2, x0+k%2
		wy, wx, sy, sx := 1-ly, 1-lx, -1.0, -1.0
		if k/2 == 1 {
			wy, sy = ly, 1
		}
		if k%2 == 1 {
			wx, sx = lx, 1
		}
		s.at[k] = -1
		if yy >= 0 && yy < d.h && xx >= 0 && xx < d.w {
			s.at[k], s.w[k], s.dy[k], s.dx[k] = yy*d.w+xx, wy*wx, sy*wx, wy*sx
		}
	}
}

// walk calls f for each output position p and window element t of image i and offset group g.
func walk[E float](d *deform, i, g int, offset, mask []E, f func(t, p int, s *sample[float64])) {
	places, window := d.oh*d.ow, d.kh*d.kw
	var s sample[float64]
	for t := range window {
		oy := offset[((i*d.og+g)*2*window+2*t)*places:][:places]
		ox := offset[((i*d.og+g)*2*window+2*t+1)*places:][:places]
		for p := range places {
			y := E(p/d.ow*d.stride[0]-d.pad[0]+t/d.kw*d.dilation[0]) + oy[p]
			x := E(p%d.ow*d.stride[1]-d.pad[1]+t%d.kw*d.dilation[1]) + ox[p]
			s.mask = 1
			if d.masked {
				s.mask = float64(mask[((i*d.og+g)*window+t)*places+p])
			}
			d.place(&s, float64(y), float64(x))
			f(t, p, &s)
		}
	}
}

// columns reads the windows: out is [n, c·kh·kw, oh·ow].
func columns[E float](d *deform, input, offset, mask, out []E) {
	places, window, per, plane := d.oh*d.ow, d.kh*d.kw, d.c/d.og, d.h*d.w
	par.For(d.n*d.og, 1, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			i, g := k/d.og, k%d.og
			walk(d, i, g, offset, mask, func(t, p int, s *sample[float64]) {
				for ch := g * per; ch < (g+1)*per; ch++ {
					in, v := input[(i*d.c+ch)*plane:][:plane], 0.0
					if s.read {
						for j, at := range s.at {
							if at >= 0 {
								v += s.w[j] * float64(in[at])
							}
						}
					}
					out[((i*d.c+ch)*window+t)*places+p] = E(v * s.mask)
				}
			})
		}
	})
}

// columnsBackward computes the gradients of input, offset and mask.
func columnsBackward[E float](d *deform, grad, input, offset, mask, gradInput, gradOffset, gradMask []E) {
	places, window, per, plane := d.oh*d.ow, d.kh*d.kw, d.c/d.og, d.h*d.w
	clear(gradInput)
	par.For(d.n*d.og, 1, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			i, g := k/d.og, k%d.og
			walk(d, i, g, offset, mask, func(t, p int, s *sample[float64]) {
				var dy, dx, dm float64
				for ch := g * per; ch < (g+1)*per && s.read; ch++ {
					in, gin := input[(i*d.c+ch)*plane:][:plane], gradInput[(i*d.c+ch)*plane:][:plane]
					v := float64(grad[((i*d.c+ch)*window+t)*places+p])
					for j, at := range s.at {
						if at < 0 {
							continue
						}
						e := float64(in[at])
						gin[at] += E(v * s.mask * s.w[j])
						dy += v * s.mask * s.dy[j] * e
						dx += v * s.mask * s.dx[j] * e
						dm += v * s.w[j] * e
					}
				}
				gradOffset[((i*d.og+g)*2*window+2*t)*places+p] = E(dy)
				gradOffset[((i*d.og+g)*2*window+2*t+1)*places+p] = E(dx)
				if d.masked {
					gradMask[((i*d.og+g)*window+t)*places+p] = E(dm)
				}
			})
		}
	})
}

// maskShape is the shape of argument i, which may be None.
func maskShape(c *Ctx, i int) []int {
	if !c.Has(i) {
		return nil
	}
	return c.Shape(i)
}

// maskOf is the elements of argument i, which may be None.
func maskOf[E float](c *Ctx, i int) []E {
	if !c.Has(i) {
		return nil
	}
	return dense[E](c.T(i))
}

var (
	opColumns         = tensor.Slot("gotorch::deform_columns")
	opColumnsBackward = tensor.Slot("gotorch::deform_columns_backward")
)

// readColumns reads the arguments of deform_columns from at on: input, offset, mask, kernel_h, kernel_w, stride_h, …
func readColumns(c *Ctx, at int) *deform {
	needFloat(c, at)
	return readDeform(c, c.Shape(at), c.Shape(at+1), maskShape(c, at+2), c.Int(at+3), c.Int(at+4), at+5, c.Int(at+11),
		c.Has(at+2))
}

func (d *deform) columnShape() []int { return []int{d.n, d.c * d.kh * d.kw, d.oh * d.ow} }

func runColumns[E float](c *Ctx, d *deform) {
	into(c.Out(0), func(out []E) {
		columns(d, dense[E](c.T(0)), dense[E](c.T(1)), maskOf[E](c, 2), out)
	})
}

func runColumnsBackward[E float](c *Ctx, d *deform) {
	into(c.Out(0), func(gi []E) {
		into(c.Out(1), func(goff []E) {
			into(c.Out(2), func(gm []E) {
				columnsBackward(d, dense[E](c.T(0)), dense[E](c.T(1)), dense[E](c.T(2)), maskOf[E](c, 3), gi, goff, gm)
			})
		})
	})
}

func columnArgs(c *Ctx, from int) []any {
	var out []any
	for i := from; i < from+9; i++ {
		out = append(out, c.Int(i))
	}
	return out
}

func deformBody(c *Ctx) {
	w, x := c.Shape(1), c.Shape(0)
	groups, mask := c.Int(11), (*T)(nil)
	if c.Bool(13) {
		mask = c.T(3)
	}
	switch {
	case len(w) != 4 || len(x) != 4:
		c.Fail(tensor.ErrShape, "deform_conv2d: input and weight should be tensors of 4 dimensions, got %s and %s",
			tensor.ShapeString(x), tensor.ShapeString(w))
	case groups <= 0 || w[1]*groups != x[1] || w[0]%groups != 0:
		c.Fail(tensor.ErrShape, "deform_conv2d: weight %s does not fit %d channels in %d groups", tensor.ShapeString(w),
			x[1], groups)
	case c.ArgDType(0) != c.ArgDType(1) || c.ArgDType(0) != c.ArgDType(2):
		c.Fail(tensor.ErrDType, "deform_conv2d: input, weight and offset should have the same type, got %s, %s and %s",
			c.ArgDType(0), c.ArgDType(1), c.ArgDType(2))
	case len(c.Shape(4)) != 1 || c.Shape(4)[0] != w[0]:
		c.Fail(tensor.ErrShape, "invalid bias shape: got: %s expected: (%d)", tensor.ShapeString(c.Shape(4)), w[0])
	}
	args := append([]any{c.T(0), c.T(2), mask, w[2], w[3]}, columnArgs(c, 5)[:6]...)
	cols := call(opColumns, append(args, c.Int(12))...)[0]
	n, places := cols.Size(0), cols.Size(2)
	size := func(n, k, i int) int { return (n+2*c.Int(7+i)-(c.Int(9+i)*(k-1)+1))/c.Int(5+i) + 1 }
	cols = cols.Reshape([]int{n, groups, w[1] * w[2] * w[3], places})
	weight := c.T(1).Reshape([]int{1, groups, w[0] / groups, w[1] * w[2] * w[3]})
	y := weight.MatMul(cols).Reshape([]int{n, w[0], size(x[2], w[2], 0), size(x[3], w[3], 1)})
	c.Return(y.Add(c.T(4).Reshape([]int{1, -1, 1, 1})))
}

func init() {
	for _, d := range []tensor.Def{
		{Schema: "torchvision::deform_conv2d(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, SymInt stride_h, SymInt stride_w, SymInt pad_h, SymInt pad_w, SymInt dilation_h, SymInt dilation_w, SymInt groups, SymInt offset_groups, bool use_mask) -> Tensor",
			Doc: "is a convolution whose windows' elements are read at places that offset [n, 2·offset_groups·kh·kw, " +
				"oh, " +
				"ow] moves (y before x) and, with use_mask, weighs by mask [n, offset_groups·kh·kw, oh, ow] (Dai et " +
				"al., " +
				"Deformable Convolutional Networks, 2017; Zhu et al., Deformable ConvNets v2, 2018).",
			Go: "-", Body: deformBody},
		{Schema: "gotorch::deform_columns(Tensor input, Tensor offset, Tensor? mask, int kernel_h, int kernel_w, int stride_h, int stride_w, int pad_h, int pad_w, int dilation_h, int dilation_w, int offset_groups) -> Tensor",
			Doc: "reads the windows of a deformable convolution: [n, c·kh·kw, oh·ow].", Go: "-",
			Infer: func(c *Ctx) { c.Alloc(0, readColumns(c, 0).columnShape(), c.ArgDType(0)) },
			CPU: func(c *Ctx) {
				d := readColumns(c, 0)
				inFloat(c.ArgDType(0), func() { runColumns[float32](c, d) }, func() { runColumns[float64](c, d) })
			},
			Save: "input offset mask",
			VJP: func(c *Ctx, g *T) []*T {
				mask := (*T)(nil)
				if c.Has(2) {
					mask = c.T(2)
				}
				args := append([]any{g, c.T(0), c.T(1), mask}, columnArgs(c, 3)...)
				out := call(opColumnsBackward, args...)
				if mask == nil {
					out[2] = nil
				}
				return out
			}},
		{Schema: "gotorch::deform_columns_backward(Tensor grad, Tensor input, Tensor offset, Tensor? mask, int kernel_h, int kernel_w, int stride_h, int stride_w, int pad_h, int pad_w, int dilation_h, int dilation_w, int offset_groups) -> (Tensor, Tensor, Tensor)",
			Doc: "are the gradients of deform_columns with respect to input, offset and mask (empty without a mask).",
			Go:  "-", NoGrad: "double backward is not supported",
			Infer: func(c *Ctx) {
				d := readColumns(c, 1)
				if !tensor.SameShape(c.Shape(0), d.columnShape()) {
					c.Fail(tensor.ErrShape, "deform_columns_backward: grad has shape %s, want %s",
						tensor.ShapeString(c.Shape(0)), tensor.ShapeString(d.columnShape()))
				}
				c.Alloc(0, c.Shape(1), c.ArgDType(1))
				c.Alloc(1, c.Shape(2), c.ArgDType(1))
				mask := maskShape(c, 3)
				if mask == nil {
					mask = []int{0}
				}
				c.Alloc(2, mask, c.ArgDType(1))
			},
			CPU: func(c *Ctx) {
				d := readColumns(c, 1)
				inFloat(c.ArgDType(1), func() { runColumnsBackward[float32](c, d) },
					func() { runColumnsBackward[float64](c, d) })
			}},
	} {
		tensor.Register(d)
	}
}
