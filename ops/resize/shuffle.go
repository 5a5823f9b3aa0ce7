package resize

import (
	"math"
	"slices"

	"github.com/gotorch-dev/torch/tensor"
)

// split sees dimension d as several of the given sizes, whose product is its size.
func split(t *T, d int, sizes ...int) *T {
	sh, st := slices.Clone(t.Shape()), slices.Clone(t.Strides())
	steps := make([]int, len(sizes))
	step := st[d]
	for i := len(sizes) - 1; i >= 0; i-- {
		steps[i] = step
		step *= sizes[i]
	}
	return tensor.Alias(t, slices.Replace(sh, d, d+1, sizes...), slices.Replace(st, d, d+1, steps...),
		t.StorageOffset())
}

// ordered sees the last len(order) dimensions in another order.
func ordered(t *T, order ...int) *T {
	sh, st := slices.Clone(t.Shape()), slices.Clone(t.Strides())
	n := t.Dim() - len(order)
	for i, d := range order {
		sh[n+i], st[n+i] = t.Shape()[n+d], t.Strides()[n+d]
	}
	return tensor.Alias(t, sh, st, t.StorageOffset())
}

// moves completes an operator that moves elements: shape gives the result's shape and refuses arguments; views gives
// views of the input and of the result, of one shape, between which the kernel copies.
func moves(d tensor.Def, shape func(c *Ctx) []int, views func(c *Ctx, in, out *T) (from, to *T)) tensor.Def {
	d.Infer = func(c *Ctx) {
		sh := shape(c)
		c.AllocStrided(0, sh, tensor.FormatStrides(sh, c.T(0).SuggestFormat()), c.ArgDType(0))
	}
	d.CPU = func(c *Ctx) {
		if c.Out(0).Numel() > 0 {
			from, to := views(c, c.T(0), c.Out(0))
			tensor.CopyRaw(to, from)
		}
	}
	return d
}

// blocks checks the arguments of pixel_shuffle and pixel_unshuffle: their name and that of the factor, which is
// returned.
func blocks(c *Ctx, name, factor string) (r int) {
	x, r := c.T(0), c.Int(1)
	if x.Dim() < 3 {
		c.Fail(tensor.ErrShape, "%s expects input to have at least 3 dimensions, but got input with %d dimension(s)",
			name, x.Dim())
	}
	if r <= 0 {
		c.Fail(tensor.ErrValue, "%s expects a positive %s, but got %d", name, factor, r)
	}
	return r
}

// ofBlocks sees [*, c*r*r, h, w] as [*, c, r, r, h, w], and then the parts of each dimension of the enlarged image side
// by side.
func ofBlocks(t *T, r int) *T {
	d := t.Dim() - 3
	return ordered(split(t, d, t.Size(d)/(r*r), r, r), 0, 3, 1, 4, 2)
}

// ofPixels sees [*, c, h*r, w*r] as [*, c, h, r, w, r].
func ofPixels(t *T, r int) *T {
	d := t.Dim() - 3
	return split(split(t, d+2, t.Size(d+2)/r, r), d+1, t.Size(d+1)/r, r)
}

func init() {
	const (
		ps = "turns [*, c*r*r, h, w] into [*, c, h*r, w*r]: each group of r*r channels becomes a block of pixels." +
			site + "pixel_shuffle.html"
		pu = "turns [*, c, h*r, w*r] into [*, c*r*r, h, w]: the reverse of pixel_shuffle." + site +
			"pixel_unshuffle.html"
		cs = "interleaves groups of channels: channel i of group g becomes channel i*groups + g." + site +
			"channel_shuffle.html"
	)
	enlarge, reduce, interleave := tensor.Slot("aten::pixel_shuffle"), tensor.Slot("aten::pixel_unshuffle"),
		tensor.Slot("aten::channel_shuffle")
	calls := func(op *tensor.Op) func(c *Ctx) { return func(c *Ctx) { c.Return(invoke(op, c.T(0), c.Int(1))) } }
	for _, d := range []tensor.Def{
		moves(tensor.Def{
			Schema: "pixel_shuffle(Tensor self, int upscale_factor) -> Tensor", Doc: ps, Out: true,
			Grad: "PixelShuffleBackward0",
			VJP:  func(c *Ctx, g *T) []*T { return c.Grads1(invoke(reduce, g, c.Int(1))) },
		}, func(c *Ctx) []int {
			r := blocks(c, "pixel_shuffle", "upscale_factor")
			sh := slices.Clone(c.Shape(0))
			s := sh[len(sh)-3:]
			if r > s[0] && s[0] > 0 || r > math.MaxInt32 || s[0]%(r*r) != 0 {
				c.Fail(tensor.ErrShape, "pixel_shuffle expects its input's 'channel' dimension to be divisible by "+
					"the square of upscale_factor, but input.size(-3)=%d is not divisible by the square of %d", s[0], r)
			}
			s[0], s[1], s[2] = s[0]/(r*r), s[1]*r, s[2]*r
			return sh
		}, func(c *Ctx, in, out *T) (from, to *T) { return ofBlocks(in, c.Int(1)), ofPixels(out, c.Int(1)) }),
		moves(tensor.Def{
			Schema: "pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor", Doc: pu, Out: true,
			Grad: "PixelUnshuffleBackward0",
			VJP:  func(c *Ctx, g *T) []*T { return c.Grads1(invoke(enlarge, g, c.Int(1))) },
		}, func(c *Ctx) []int {
			r := blocks(c, "pixel_unshuffle", "downscale_factor")
			sh := slices.Clone(c.Shape(0))
			s := sh[len(sh)-3:]
			for i, name := range []string{"height", "width"} {
				if n := s[1+i]; n%r != 0 {
					c.Fail(tensor.ErrShape,
						"pixel_unshuffle expects %s to be divisible by downscale_factor, but input.size(%d)=%d is "+
							"not divisible by %d", name, i-2, n, r)
				}
			}
			s[0], s[1], s[2] = s[0]*r*r, s[1]/r, s[2]/r
			return sh
		}, func(c *Ctx, in, out *T) (from, to *T) { return ofPixels(in, c.Int(1)), ofBlocks(out, c.Int(1)) }),
		moves(tensor.Def{
			Schema: "channel_shuffle(Tensor self, SymInt groups) -> Tensor", Doc: cs,
			Aliases: []string{"native_channel_shuffle"}, Grad: "ChannelShuffleBackward0",
			VJP: func(c *Ctx, g *T) []*T { // with the two factors of the number of channels exchanged
				return c.Grads1(invoke(interleave, g, max(1, g.Size(1)/c.Int(1))))
			},
		}, func(c *Ctx) []int {
			sh, g := c.Shape(0), c.Int(1)
			if len(sh) <= 2 {
				c.Fail(tensor.ErrShape, "channel_shuffle expects input with > 2 dims, but got input with sizes %s",
					tensor.ShapeString(sh))
			}
			if g <= 0 {
				c.Fail(tensor.ErrValue, "Number of groups to divide channels in must be positive. Value of groups:%d",
					g)
			}
			if sh[1]%g != 0 {
				c.Fail(tensor.ErrShape, "Number of channels must be divisible by groups. Got %d channels and %d groups.", sh[1], g)
			}
			return sh
		}, func(c *Ctx, in, out *T) (from, to *T) {
			g, n := c.Int(1), in.Size(1)/c.Int(1)
			order := make([]int, in.Dim()+1)
			for i := range order {
				order[i] = i
			}
			order[1], order[2] = 2, 1
			return ordered(split(in, 1, g, n), order...), split(out, 1, n, g)
		}),
		{Schema: "F::pixel_shuffle(Tensor input, int upscale_factor) -> Tensor",
			Doc: "turns channels into pixels: out[…, c, h·r + i, w·r + j] = input[…, (c·r + i)·r + j, h, w] for r " +
				"= upscale_factor. Shapes: input [*, c·r·r, H, W], result [*, c, H·r, W·r]." +
				"\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.pixel_shuffle.html",
			Body: calls(enlarge)},
		{Schema: "F::pixel_unshuffle(Tensor input, int downscale_factor) -> Tensor",
			Doc: "turns pixels into channels, the reverse of PixelShuffle. Shapes, for r = downscale_factor: " +
				"input [*, c, H·r, W·r], result [*, c·r·r, H, W]." +
				"\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.pixel_unshuffle.html",
			Body: calls(reduce)},
		{Schema: "F::channel_shuffle(Tensor input, int groups) -> Tensor",
			Doc: "interleaves groups of channels: with c channels, channel i of group g becomes channel i·groups " +
				"+ g. Shapes: input and result [n, c, *]." +
				"\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.channel_shuffle.html",
			Body: calls(interleave)},
	} {
		tensor.Register(d)
	}
}
