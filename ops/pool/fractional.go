package pool

import (
	"fmt"
	"slices"

	"github.com/gotorch-dev/torch/ops/internal/half"
	"github.com/gotorch-dev/torch/tensor"
)

// starts are where the windows of one dimension begin, for a random sample in [0, 1): pseudo-random steps whose mean
// is the ratio of the sizes; the last window ends with the input. The arithmetic is in the input's type, as in
// PyTorch, so that the same sample gives the same windows.
// round rounds each step to that type, where it has 16 bits; nil is for the others.
func starts[E float32 | float64](dst []int, sample E, in, k int, round func(E) E) {
	if round == nil {
		round = func(x E) E { return x }
	}
	n := len(dst)
	if n > 1 {
		alpha := round(round(E(in-k)) / round(E(n-1)))
		off := int(round(sample * alpha))
		for i := range n - 1 {
			// a sample outside [0, 1) must not lead out of the input
			dst[i] = min(max(int(round(round(round(E(i))+sample)*alpha))-off, 0), in-k)
		}
	}
	if n > 0 {
		dst[n-1] = in - k
	}
}

// rounding is the rounding to a type of 16 bits, nil for the others.
func rounding(dt tensor.DType) func(float32) float32 {
	if !dt.IsReduced() {
		return nil
	}
	return func(x float32) float32 { return float32(half.Round(float64(x), dt)) }
}

func fractionalForward[E float](w *window, nd int, out []E, index []int64, in, samples []E,
	round func(E) E) {
	k := poolerOf[E]()
	isz, osz, wd := w.inSize(), w.outSize(), w.in[2]
	w.each(func(p int) {
		buf, back := borrow[E](2 * wd)
		defer back()
		var b [3][]bounds
		at := make([]int, max(w.out[0], w.out[1], w.out[2]))
		for i := range b {
			s := at[:w.out[i]]
			clear(s)
			if j := i - (3 - nd); j >= 0 {
				if nd == 2 {
					j = 1 - j // the samples of two dimensions are for width, height; those of three in order
				}
				starts(s, samples[p*nd+j], w.in[i], w.k[i], round)
			}
			for _, lo := range s {
				b[i] = append(b[i], bounds{lo, lo + w.k[i], w.k[i]})
			}
		}
		k.binMax(w, b[0], b[1], b[2], out[p*osz:][:osz], index[p*osz:][:osz], in[p*isz:][:isz], buf[:wd], buf[wd:])
	})
}

// fractionalWindow reads and checks self, kernel_size, output_size and random_samples.
func fractionalWindow(c *Ctx, nd int) *window {
	name := c.Op().Sch.Name
	sh, r := c.Shape(0), c.T(3)
	if len(sh) != nd+1 && len(sh) != nd+2 {
		c.Fail(tensor.ErrShape, "%s(): Expected %dD or %dD tensor, but got: %s", name, nd+1, nd+2,
			tensor.ShapeString(sh))
	}
	for _, s := range sh[len(sh)-nd-1:] {
		if s == 0 {
			c.Fail(tensor.ErrShape, "%s(): Expected input to have non-zero size for non-batch dimensions, but got %s",
				name, tensor.ShapeString(sh))
		}
	}
	ints := func(what string, v []int) []int {
		if len(v) != 1 && len(v) != nd {
			c.Fail(tensor.ErrShape, "%s: %s must either be a single int or tuple of Ints", name, what)
		}
		if len(v) == 1 {
			v = slices.Repeat(v, nd)
		}
		return v
	}
	k, out := ints("kernel_size", c.Ints(1)), ints("output_size", c.Ints(2))
	w := &window{planes: 1, in: [3]int{1, 1, 1}, out: last3(out, 1), k: last3(k, 1), stride: [3]int{1, 1, 1},
		dil: [3]int{1, 1, 1}}
	for _, s := range sh[:len(sh)-nd] {
		w.planes *= s
	}
	w.in = last3(sh[len(sh)-nd:], 1)
	names := [3]string{"time", "height", "width"}
	for i := 3 - nd; i < 3; i++ {
		switch {
		case w.k[i] <= 0:
			c.Fail(tensor.ErrValue, "kernel_size should be greater than zero, but got %d", w.k[i])
		case w.out[i] <= 0:
			c.Fail(tensor.ErrValue, "output_size should be greater than zero, but got %d", w.out[i])
		case w.k[i] > w.in[i] || w.out[i] > w.in[i]-w.k[i]+3-nd: // of volumes PyTorch wants one more place than windows
			c.Fail(tensor.ErrShape, "%s(): pool %s %d too large relative to input %s %d", name, names[i], w.k[i],
				names[i], w.in[i])
		}
	}
	n := 1
	if len(sh) == nd+2 {
		n = sh[0]
	}
	switch {
	case r.DType() != c.ArgDType(0):
		c.Fail(tensor.ErrDType, "Expect _random_samples to have the same dtype as input")
	case r.Dim() != 3:
		c.Fail(tensor.ErrShape, "Expect _random_samples to have 3 dimensions, got %d", r.Dim())
	case r.Size(0) < n:
		c.Fail(tensor.ErrShape, "Expect _random_samples.size(0) no less then input batch size.")
	case r.Size(1) != sh[len(sh)-nd-1]:
		c.Fail(tensor.ErrShape, "Expect _random_samples.size(1) equals to input channel size.")
	case r.Size(2) != nd:
		c.Fail(tensor.ErrShape, "Expect _random_samples.size(2) equals to %d got %d.", nd, r.Size(2))
	}
	return w
}

func fractionalDef(schema string, nd int) tensor.Def {
	return tensor.Def{
		Schema: schema,
		Doc: "is the maximum of windows placed by random_samples [n, c, dimensions], and its position in the " +
			"input's plane.",
		Go: "-", Grad: fmt.Sprintf("FractionalMaxPool%dDBackward0", nd),
		Infer: func(c *Ctx) {
			w := fractionalWindow(c, nd)
			if dt := c.ArgDType(0); !dt.IsFloat() {
				c.FailDType(tensor.ErrNotImpl, c.Op().Sch.Name+"_out_frame", dt)
			}
			sh := resultShape(c.Shape(0), nd, w)
			c.Alloc(0, sh, c.ArgDType(0))
			c.Alloc(1, sh, tensor.Int64)
		},
		CPU: func(c *Ctx) {
			in, out, r := c.T(0), c.Out(0), c.T(3)
			w := fractionalWindow(c, nd)
			ix := tensor.Data[int64](c.Out(1))
			if in.DType() == tensor.Float64 {
				into(out, func(d []float64) {
					fractionalForward(w, nd, d, ix, dense[float64](in), dense[float64](r), nil)
				})
				return
			}
			into(out, func(d []float32) {
				fractionalForward(w, nd, d, ix, dense[float32](in), dense[float32](r), rounding(in.DType()))
			})
		},
		Save: "result1",
		VJP: func(c *Ctx, g *T) []*T {
			return []*T{call(opScatter, g, c.Out(1), c.Shape(0), nd)[0], nil}
		},
	}
}

var opRand = tensor.Slot("aten::rand")

// fractionalBoth is torch.nn.functional.fractional_max_poolNd_with_indices.
func fractionalBoth(c *Ctx, nd int, op *tensor.Op) []*T {
	x, size := c.T(0), c.Ints(2)
	name := []string{2: "fractional_max_pool2d", 3: "fractional_max_pool3d"}[nd]
	sh := x.Shape()
	if !c.Has(2) {
		if !c.Has(3) {
			c.Fail(tensor.ErrValue, "%s requires specifying either an output_size or an output_ratio", name)
		}
		ratio := c.Floats(3)
		if ratio == nil { // one number for all
			ratio = []float64{c.Float(3)}
		}
		if len(ratio) == 1 {
			ratio = slices.Repeat(ratio, nd)
		}
		if len(ratio) != nd || len(sh) < nd {
			c.Fail(tensor.ErrValue, "%s: output_ratio must be one number or %d, for an input of at least %d dimensions",
				name, nd, nd)
		}
		size = make([]int, nd)
		for i := range size {
			size[i] = int(float64(sh[len(sh)-nd+i]) * ratio[i])
		}
	}
	r := c.T(5)
	if r == nil {
		if len(sh) < nd+1 {
			c.Fail(tensor.ErrShape, "%s(): Expected %dD or %dD tensor, but got: %s", name, nd+1, nd+2,
				tensor.ShapeString(sh))
		}
		n := 1
		if len(sh) != nd+1 {
			n = sh[0]
		}
		// in the input's type, so that a seed gives PyTorch's windows
		r = call(opRand, []int{n, sh[len(sh)-nd-1], nd}, x.DType(), nil, x.Device())[0]
	}
	return call(op, x, c.Ints(1), size, r)
}

func init() {
	two, three := tensor.Slot("aten::fractional_max_pool2d"), tensor.Slot("aten::fractional_max_pool3d")
	for _, d := range []tensor.Def{
		fractionalDef("fractional_max_pool2d(Tensor self, int[2] kernel_size, int[2] output_size, Tensor random_samples) -> (Tensor, Tensor)", 2),
		fractionalDef("fractional_max_pool3d(Tensor self, int[3] kernel_size, int[3] output_size, Tensor random_samples) -> (Tensor, Tensor)", 3),
		indicesBackwardDef("fractional_max_pool2d_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] output_size, Tensor indices) -> Tensor", 2, 4),
		indicesBackwardDef("fractional_max_pool3d_backward(Tensor grad_output, Tensor self, int[3] kernel_size, int[3] output_size, Tensor indices) -> Tensor", 3, 4),
		{Schema: "F::fractional_max_pool2d(Tensor input, int[2] kernel_size, int[2]? output_size=None, float[]? output_ratio=None, bool return_indices=False, Tensor? _random_samples=None) -> Tensor",
			Doc: "is the maximum of windows of kernel_size whose places are random (Graham 2014, " +
				"https://arxiv.org/abs/1412.6071). Shapes: input [n, c, H, W] or [c, H, W]; the spatial sizes " +
				"become output_size, or output_ratio times what they are: one of the two must be given. The " +
				"places come from _random_samples [n, c, 2], numbers in [0, 1), drawn from the default generator " +
				"if they are not given." +
				"\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.fractional_max_pool2d.html",
			Body: fractionalBody(2, two)},
		{Schema: "F::fractional_max_pool3d(Tensor input, int[3] kernel_size, int[3]? output_size=None, float[]? output_ratio=None, bool return_indices=False, Tensor? _random_samples=None) -> Tensor",
			Doc: "is the maximum of windows of kernel_size whose places are random (Graham 2014, " +
				"https://arxiv.org/abs/1412.6071). Shapes: input [n, c, D, H, W] or [c, D, H, W]; the spatial " +
				"sizes become output_size, or output_ratio times what they are: one of the two must be given. " +
				"The places come from _random_samples [n, c, 3], numbers in [0, 1), drawn from the default " +
				"generator if they are not given." +
				"\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.fractional_max_pool3d.html",
			Body: fractionalBody(3, three)},
		{Schema: "F::fractional_max_pool2d_with_indices(Tensor input, int[2] kernel_size, int[2]? output_size=None, float[]? output_ratio=None, bool return_indices=False, Tensor? _random_samples=None) -> (Tensor, Tensor)",
			Doc: "is the maximum, and its position in the flattened spatial dimensions of the input, of windows " +
				"of kernel_size whose places are random (Graham 2014, https://arxiv.org/abs/1412.6071). Shapes: " +
				"input [n, c, H, W] or [c, H, W]; the spatial sizes become output_size, or output_ratio times " +
				"what they are: one of the two must be given. The places come from _random_samples [n, c, 2], " +
				"numbers in [0, 1), drawn from the default generator if they are not given." +
				"\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.fractional_max_pool2d.html",
			Body: func(c *Ctx) { c.Return(fractionalBoth(c, 2, two)...) }},
		{Schema: "F::fractional_max_pool3d_with_indices(Tensor input, int[3] kernel_size, int[3]? output_size=None, float[]? output_ratio=None, bool return_indices=False, Tensor? _random_samples=None) -> (Tensor, Tensor)",
			Doc: "is the maximum, and its position in the flattened spatial dimensions of the input, of windows " +
				"of kernel_size whose places are random (Graham 2014, https://arxiv.org/abs/1412.6071). Shapes: " +
				"input [n, c, D, H, W] or [c, D, H, W]; the spatial sizes become output_size, or output_ratio " +
				"times what they are: one of the two must be given. The places come from _random_samples [n, c, " +
				"3], numbers in [0, 1), drawn from the default generator if they are not given." +
				"\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.fractional_max_pool3d.html",
			Body: func(c *Ctx) { c.Return(fractionalBoth(c, 3, three)...) }},
	} {
		tensor.Register(d)
	}
}

// fractionalBody returns the maxima, with return_indices the positions too.
func fractionalBody(nd int, op *tensor.Op) func(c *Ctx) {
	return func(c *Ctx) {
		r := fractionalBoth(c, nd, op)
		if c.Bool(4) {
			c.Return(r...)
			return
		}
		c.Return(r[0])
	}
}
