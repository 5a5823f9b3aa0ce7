package resize

import (
	"slices"

	"github.com/gotorch-dev/torch/tensor"
)

func pixelShuffle(c *Ctx) {
	x, r := c.T(0), c.Int(1)
	nd := x.Dim()
	if nd < 3 {
		c.Fail(tensor.ErrShape, "pixel_shuffle expects input to have at least 3 dimensions, but got input with %d dimension(s)", nd)
	}
	if r <= 0 {
		c.Fail(tensor.ErrValue, "pixel_shuffle expects a positive upscale_factor, but got %d", r)
	}
	ch, h, w := x.Size(-3), x.Size(-2), x.Size(-1)
	if ch%(r*r) != 0 {
		c.Fail(tensor.ErrShape, "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but input.size(-3)=%d is not divisible by %d", ch, r*r)
	}
	lead := x.Shape()[:nd-3]
	y := x.Reshape(append(slices.Clone(lead), ch/(r*r), r, r, h, w))
	n := len(lead)
	perm := append(count(n), n, n+3, n+1, n+4, n+2)
	c.Return(apart(x, y.Permute(perm).Reshape(append(slices.Clone(lead), ch/(r*r), h*r, w*r))))
}

func pixelUnshuffle(c *Ctx) {
	x, r := c.T(0), c.Int(1)
	nd := x.Dim()
	if nd < 3 {
		c.Fail(tensor.ErrShape, "pixel_unshuffle expects input to have at least 3 dimensions, but got input with %d dimension(s)", nd)
	}
	if r <= 0 {
		c.Fail(tensor.ErrValue, "pixel_unshuffle expects a positive downscale_factor, but got %d", r)
	}
	ch, h, w := x.Size(-3), x.Size(-2), x.Size(-1)
	if h%r != 0 {
		c.Fail(tensor.ErrShape, "pixel_unshuffle expects height to be divisible by downscale_factor, but input.size(-2)=%d is not divisible by %d", h, r)
	}
	if w%r != 0 {
		c.Fail(tensor.ErrShape, "pixel_unshuffle expects width to be divisible by downscale_factor, but input.size(-1)=%d is not divisible by %d", w, r)
	}
	lead := x.Shape()[:nd-3]
	y := x.Reshape(append(slices.Clone(lead), ch, h/r, r, w/r, r))
	n := len(lead)
	perm := append(count(n), n, n+2, n+4, n+1, n+3)
	c.Return(apart(x, y.Permute(perm).Reshape(append(slices.Clone(lead), ch*r*r, h/r, w/r))))
}

func channelShuffle(c *Ctx) {
	x, g := c.T(0), c.Int(1)
	if x.Dim() <= 2 {
		c.Fail(tensor.ErrShape, "channel_shuffle expects input with > 2 dims, but got input with sizes %s", tensor.ShapeString(x.Shape()))
	}
	if g <= 0 {
		c.Fail(tensor.ErrValue, "Number of groups to divide channels in must be positive. Value of groups:%d", g)
	}
	ch := x.Size(1)
	if ch%g != 0 {
		c.Fail(tensor.ErrShape, "Number of channels must be divisible by groups. Got %d channels and %d groups.", ch, g)
	}
	sh := x.Shape()
	rest := 1
	for _, s := range sh[2:] {
		rest *= s
	}
	c.Return(apart(x, x.Reshape([]int{sh[0], g, ch / g, rest}).Permute([]int{0, 2, 1, 3}).Reshape(sh)))
}

// apart is y in memory of its own and in the memory format of x, which y may be a view of where nothing had to be moved.
func apart(x, y *T) *T {
	if y.Storage() == x.Storage() {
		return y.Clone(tensor.CloneOptions{MemoryFormat: x.SuggestFormat()})
	}
	return y
}

// count is 0, 1, …, n-1.
func count(n int) []int {
	l := make([]int, n)
	for i := range l {
		l[i] = i
	}
	return l
}

func init() {
	const (
		ps = "turns [*, c*r*r, h, w] into [*, c, h*r, w*r]: each group of r*r channels becomes a block of pixels." + site + "pixel_shuffle.html"
		pu = "turns [*, c, h*r, w*r] into [*, c*r*r, h, w]: the reverse of pixel_shuffle." + site + "pixel_unshuffle.html"
		cs = "interleaves groups of channels: channel i of group g becomes channel i*groups + g." + site + "channel_shuffle.html"
	)
	for _, d := range []tensor.Def{
		{Schema: "pixel_shuffle(Tensor self, int upscale_factor) -> Tensor", Doc: ps, Out: true, Body: pixelShuffle},
		{Schema: "pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor", Doc: pu, Out: true, Body: pixelUnshuffle},
		{Schema: "channel_shuffle(Tensor self, SymInt groups) -> Tensor", Doc: cs, Aliases: []string{"native_channel_shuffle"}, Body: channelShuffle},
		{Schema: "F::pixel_shuffle(Tensor input, int upscale_factor) -> Tensor", Doc: ps, Body: pixelShuffle},
		{Schema: "F::pixel_unshuffle(Tensor input, int downscale_factor) -> Tensor", Doc: pu, Body: pixelUnshuffle},
		{Schema: "F::channel_shuffle(Tensor input, int groups) -> Tensor", Doc: cs, Body: channelShuffle},
	} {
		tensor.Register(d)
	}
}
