package conv

import (
	"slices"

	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/tensor"
)

// windowArgs are kernel_size, dilation, padding and stride, checked.
func windowArgs(c *Ctx, i int) (k, dil, pad, stride []int) {
	k, dil, pad, stride = list(c, "kernel_size", c.Ints(i), 2), list(c, "dilation", c.Ints(i+1), 2),
		list(c, "padding", c.Ints(i+2), 2), list(c, "stride", c.Ints(i+3), 2)
	for _, v := range []struct {
		what, name string
		l          []int
	}{{"kernel size", "kernel", k}, {"dilation", "dilation", dil}, {"stride", "stride", stride}} {
		if v.l[0] <= 0 || v.l[1] <= 0 {
			c.Fail(tensor.ErrValue, "%s should be greater than zero, but got %s_height: %d %s_width: %d", v.what,
				v.name, v.l[0], v.name, v.l[1])
		}
	}
	if pad[0] < 0 || pad[1] < 0 {
		c.Fail(tensor.ErrValue, "padding should be non-negative, but got pad_height: %d pad_width: %d", pad[0], pad[1])
	}
	return
}

// slide is the geometry of windows over an image of ch channels and size h, w; groups does not matter.
func slide(n, ch, h, w int, k, dil, pad, stride []int) *geometry {
	g := &geometry{n: n, cin: ch, groups: 1, in: [3]int{1, h, w}, k: [3]int{1, k[0], k[1]},
		dil: [3]int{1, dil[0], dil[1]}, pad: [3]int{0, pad[0], pad[1]}, stride: [3]int{1, stride[0], stride[1]}}
	g.out = [3]int{1, floorDiv(h+2*pad[0]-dil[0]*(k[0]-1)-1, stride[0]) + 1,
		floorDiv(w+2*pad[1]-dil[1]*(k[1]-1)-1, stride[1]) + 1}
	return g
}

func floorDiv(a, b int) int {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

// unfoldRun writes the columns of every image.
func unfoldRun[E number](g *geometry, out, in []E) {
	rows := g.taps()
	l := g.outSize()
	par.For(g.n*g.cin, max(1, 32*1024/max(1, rows*l)), func(lo, hi int) {
		for p := lo; p < hi; p++ {
			columns(g, out[p*rows*l:][:rows*l], in[p*g.inSize():][:g.inSize()], 1, 0, l)
		}
	})
}

// foldRun adds the columns up to images.
func foldRun[E number](g *geometry, out, in []E) {
	l := g.outSize()
	par.For(g.n*g.cin, max(1, 32*1024/max(1, g.taps()*l)), func(lo, hi int) {
		for p := lo; p < hi; p++ {
			plane := out[p*g.inSize():][:g.inSize()]
			clear(plane)
			r := p * g.taps()
			for kh := range g.k[1] {
				for kw := range g.k[2] {
					scatterRow(g, plane, in[r*l:][:l], 0, kh, kw)
					r++
				}
			}
		}
	})
}

// slideAll runs unfold or fold for the result's dtype.
func slideAll(out, in *T, g *geometry, fold bool) {
	dt := out.DType().Compute()
	if dt == tensor.Bool {
		dt = tensor.Uint8
	}
	onType(dt, func() { slideRun[float32](out, in, g, fold) }, func() { slideRun[float64](out, in, g, fold) },
		func() { slideRun[complex64](out, in, g, fold) }, func() { slideRun[complex128](out, in, g, fold) },
		func() { slideRun[int64](out, in, g, fold) }, func() { slideRun[int32](out, in, g, fold) },
		func() { slideRun[int16](out, in, g, fold) },
		func() { slideRun[int8](out, in, g, fold) }, func() { slideRun[uint8](out, in, g, fold) })
}

func slideRun[E number](out, in *T, g *geometry, fold bool) {
	into(out, func(d []E) {
		if fold {
			foldRun(g, d, dense[E](in))
		} else {
			unfoldRun(g, d, dense[E](in))
		}
	})
}

// images sees [c, h, w] or [n, c, h, w] as n, c, h, w.
func images(sh []int) (n, ch, h, w int) {
	n = 1
	if len(sh) == 4 {
		n = sh[0]
	}
	s := sh[len(sh)-3:]
	return n, s[0], s[1], s[2]
}

func init() {
	im2col, col2im := tensor.Slot("aten::im2col"), tensor.Slot("aten::col2im")
	unfoldDoc := "copies every window of an image [n, c, h, w] or [c, h, w] to a column: [n, c*kh*kw, windows]." +
		site + "unfold.html"
	foldDoc := "adds the windows in the columns [n, c*kh*kw, windows] up to images [n, c, h, w]: the transpose of " +
		"unfold." + site + "fold.html"
	tensor.Register(tensor.Def{
		Schema: "im2col(Tensor self, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> Tensor",
		Doc:    unfoldDoc, Go: "-", Out: true, Grad: "Im2ColBackward0",
		Infer: func(c *Ctx) {
			sh := c.Shape(0)
			k, dil, pad, stride := windowArgs(c, 1)
			ok := len(sh) == 3 || len(sh) == 4
			for i := max(0, len(sh)-3); ok && i < len(sh); i++ {
				ok = sh[i] != 0
			}
			if !ok {
				c.Fail(tensor.ErrShape, "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other "+
					"non-zero dimensions for input, but got: %s", tensor.ShapeString(sh))
			}
			n, ch, h, w := images(sh)
			g := slide(n, ch, h, w, k, dil, pad, stride)
			if g.out[1] < 1 || g.out[2] < 1 {
				c.Fail(tensor.ErrShape, "Given input with spatial size (%d, %d), kernel_size=(%d, %d), dilation=(%d, "+
					"%d), padding=(%d, %d), calculated shape of the array of sliding blocks as (%d, %d), but its "+
					"components must be at least one.",
					h, w, k[0], k[1], dil[0], dil[1], pad[0], pad[1], g.out[1], g.out[2])
			}
			out := []int{ch * k[0] * k[1], g.outSize()}
			if len(sh) == 4 {
				out = append([]int{n}, out...)
			}
			c.Alloc(0, out, c.ArgDType(0))
		},
		CPU: func(c *Ctx) {
			k, dil, pad, stride := windowArgs(c, 1)
			n, ch, h, w := images(c.Shape(0))
			slideAll(c.Out(0), c.T(0), slide(n, ch, h, w, k, dil, pad, stride), false)
		},
		VJP: func(c *Ctx, g *T) []*T {
			sh := c.Shape(0)
			return []*T{call(col2im, g, slices.Clone(sh[len(sh)-2:]), c.Ints(1), c.Ints(2), c.Ints(3), c.Ints(4))[0]}
		},
	})
	tensor.Register(tensor.Def{
		Schema: "col2im(Tensor self, SymInt[2] output_size, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> Tensor",
		Doc:    foldDoc, Go: "-", Out: true, Grad: "Col2ImBackward0",
		Infer: func(c *Ctx) {
			sh := c.Shape(0)
			size := list(c, "output_size", c.Ints(1), 2)
			k, dil, pad, stride := windowArgs(c, 2)
			if len(sh) != 2 && len(sh) != 3 || sh[len(sh)-1] == 0 || sh[len(sh)-2] == 0 {
				c.Fail(tensor.ErrShape, "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size "+
					"and non-zero dimensions for input, but got: %s", tensor.ShapeString(sh))
			}
			rows, l := sh[len(sh)-2], sh[len(sh)-1]
			if k[0] > rows || k[1] > rows || rows%(k[0]*k[1]) != 0 {
				c.Fail(tensor.ErrShape, "Expected size of input's dimension 1 to be divisible by the product of "+
					"kernel_size, but got input.size(1)=%d and kernel_size=(%d, %d).", rows, k[0], k[1])
			}
			ch := rows / (k[0] * k[1])
			g := slide(1, ch, size[0], size[1], k, dil, pad, stride)
			if g.out[1] < 1 || g.out[2] < 1 || g.outSize() != l {
				c.Fail(tensor.ErrShape, "Given output_size=(%d, %d), kernel_size=(%d, %d), dilation=(%d, %d), "+
					"padding=(%d, %d), stride=(%d, %d), expected size of input's dimension 2 to match the calculated "+
					"number of sliding blocks %d * %d = %d, but got input.size(2)=%d.",
					size[0], size[1], k[0], k[1], dil[0], dil[1], pad[0], pad[1], stride[0], stride[1], g.out[1],
					g.out[2], g.outSize(), l)
			}
			c.Alloc(0, append(slices.Clone(sh[:len(sh)-2]), ch, size[0], size[1]), c.ArgDType(0))
		},
		CPU: func(c *Ctx) {
			k, dil, pad, stride := windowArgs(c, 2)
			n, ch, h, w := images(c.Out(0).Shape())
			slideAll(c.Out(0), c.T(0), slide(n, ch, h, w, k, dil, pad, stride), true)
		},
		VJP: func(c *Ctx, g *T) []*T {
			return []*T{call(im2col, g, c.Ints(2), c.Ints(3), c.Ints(4), c.Ints(5))[0]}
		},
	})
	tensor.Register(tensor.Def{
		Schema: "F::unfold(Tensor input, int[2] kernel_size, int[2] dilation=1, int[2] padding=0, int[2] stride=1) -> Tensor",
		Doc: "copies every window of an image to a column. Shapes: input [n, c, H, W] or [c, H, W]; result " +
			"[n, c·kh·kw, windows], the windows row by row. Each spatial size has (size + 2·padding - " +
			"dilation·(k-1) - 1)/stride + 1 windows." +
			"\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.unfold.html",
		Body: func(c *Ctx) {
			c.Return(call(im2col, c.T(0), c.Ints(1), c.Ints(2), c.Ints(3), c.Ints(4))[0])
		},
	})
	tensor.Register(tensor.Def{
		Schema: "F::fold(Tensor input, int[2] output_size, int[2] kernel_size, int[2] dilation=1, int[2] padding=0, int[2] stride=1) -> Tensor",
		Doc: "adds the windows in columns up to images; it is the transpose of Unfold. Shapes: input [n, " +
			"c·kh·kw, windows] or [c·kh·kw, windows]; result [n, c, output_size]." +
			"\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.fold.html",
		Body: func(c *Ctx) {
			c.Return(call(col2im, c.T(0), c.Ints(1), c.Ints(2), c.Ints(3), c.Ints(4), c.Ints(5))[0])
		},
	})
}
