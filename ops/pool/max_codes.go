package pool

import (
	"math"

	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/tensor"
)

// Maximum pooling without indices remembers for its gradient only which tap of each window won, a byte per result
// instead of eight, and nothing at all when no gradient is wanted.

var (
	opCodesBackward = tensor.Slot("gotorch::max_pool_codes_backward")
	opCodesGather   = tensor.Slot("gotorch::max_pool_codes_gather")
)

// codable reports that a maximum pooling of x can do with codes; anything odd is left to the operator that returns
// indices.
func codable(x *T, nd int, args ...[]int) bool {
	if dt := x.DType(); dt != tensor.Float64 && dt.Compute() != tensor.Float32 || x.Dim() != nd+1 && x.Dim() != nd+2 ||
		x.Numel() == 0 {
		return false
	}
	for i, l := range args {
		if len(l) != nd && len(l) != 1 && !(i == 1 && len(l) == 0) {
			return false
		}
		for _, v := range l {
			if v < 1 && i != 2 || v < 0 || v > 1<<20 {
				return false
			}
		}
	}
	taps, k, p, d := 1, args[0], args[2], args[3]
	for i := range nd {
		taps *= k[i%len(k)]
		if s := x.Size(x.Dim() - nd + i); 2*p[i%len(p)] > (k[i%len(k)]-1)*d[i%len(d)]+1 ||
			s+2*p[i%len(p)] < (k[i%len(k)]-1)*d[i%len(d)]+1 {
			return false
		}
	}
	return taps <= 256
}

// noTap is the code of a window behind which a ReLU leaves nothing: no gradient comes back to it.
const noTap = 255

// offsets are the distances of a window's taps from its first one in the input's plane. That of noTap, unless the
// window has so many taps, is outside of every plane.
func (w *window) offsets() []int {
	l := make([]int, 0, noTap+1)
	for a := range w.k[0] {
		for b := range w.k[1] {
			for c := range w.k[2] {
				l = append(l, (a*w.dil[0]*w.in[1]+b*w.dil[1])*w.in[2]+c*w.dil[2])
			}
		}
	}
	for len(l) <= noTap {
		l = append(l, math.MinInt/2)
	}
	return l
}

// walk calls f for the results from position at on in memory with c channels (0: planes): for n of them at once,
// those of a pixel, which belong to image p (c > 0) or plane p; base is where their window begins in the input's
// plane. There are count of them.
func (w *window) walk(c, at, count int, f func(i, n, ch, p, base int)) {
	c = max(1, c)
	ch, o := at%c, at/c
	x, y, z := o%w.out[2], o/w.out[2]%w.out[1], o/(w.out[1]*w.out[2])%w.out[0]
	p := o / w.outSize()
	for i := 0; i < count; {
		n := min(c-ch, count-i)
		f(i, n, ch, p, ((z*w.stride[0]-w.pad[0])*w.in[1]+y*w.stride[1]-w.pad[1])*w.in[2]+x*w.stride[2]-w.pad[2])
		i, ch = i+n, 0
		if x++; x == w.out[2] {
			x = 0
			if y++; y == w.out[1] {
				y = 0
				if z++; z == w.out[0] {
					z = 0
					p++
				}
			}
		}
	}
}

// tapIndices turns numbers of taps, at position at of results in memory with c channels (0: planes), into positions
// in the input's plane.
func tapIndices(w *window, dst []int64, c, at int, code []uint8) {
	off := w.offsets()
	w.walk(c, at, len(dst), func(i, n, _, _, base int) {
		d := dst[i : i+n]
		for j, t := range code[i : i+n] {
			d[j] = int64(base + off[int(t)])
		}
	})
}

// codeIndices are the positions that codes stand for.
func codeIndices(w *window, codes *T) *T {
	t := tensor.New(codes.Shape(), tensor.Int64)
	code, ix := tensor.Data[uint8](tensor.Dense(codes)), tensor.Data[int64](t)
	par.For(len(ix), block, func(lo, hi int) { tapIndices(w, ix[lo:hi], 0, lo, code[lo:hi]) })
	return t
}

// maxCodes computes the maximum of every window and, unless codes is nil, the number of the tap that it comes from.
func (k *taps[E, S]) maxCodes(w *window, out, codes, x *T, nd int) {
	ch, f := channels(x, nd)
	var note func(at int, code []uint8)
	if codes != nil {
		if !codes.IsContiguousFormat(f) { // shapes that are both
			f, ch = formatOf(codes, nd), 0
			if f != tensor.ContiguousFormat {
				ch = codes.Size(1)
			}
		}
		code := tensor.Memory[uint8](codes)
		note = func(at int, x []uint8) { copy(code[at:], x) }
	}
	k.into(out, f, func(d []S) { k.maxTaps(w, ch, d, k.dense(x, f), note) })
}

// codesBackward adds each gradient to the element that its code names: what maxTaps noted, backwards.
func (k *taps[E, S]) codesBackward(w *window, out, g, codes *T, nd int) {
	ch, f := channels(codes, nd)
	code := tensor.Memory[uint8](tensor.DenseIn(codes, f, tensor.Uint8))
	grad := k.dense(g, f)
	k.into(out, f, func(d []S) {
		switch {
		case ch > 0:
			k.maxBackwardLast(backward(w, ch), d, grad, code)
			return
		case k.slim(w):
			k.maxBackwardSlim(w, d, grad, code)
			return
		}
		k.spread(w, d, func(d []E, from int) kernel {
			return func(rows, cols, o, ldo, i, ldi, tap int) {
				k.grad(rows, cols, d[i:], ldi, grad[from+o:], ldo, code[from+o:], ldo, E(tap))
			}
		})
	})
}

// maxOnlyDef is max_poolNd: its body is the operator that returns indices, its kernel keeps numbers of taps instead.
func maxOnlyDef(schema string, nd int, grad string) tensor.Def {
	return tensor.Def{
		Schema: schema, Doc: maxDoc, Go: "-", Grad: grad,
		Body: func(c *Ctx) {
			if dt := c.ArgDType(0); nd == 1 && !dt.IsFloat() {
				c.FailDType(tensor.ErrNotImpl, "max_pool1d_impl", dt)
			}
			c.Return(windowed(c, opsMaxIndices[nd])[0])
		},
		Fuses: func(c *Ctx) bool { return codable(c.T(0), nd, c.Ints(1), c.Ints(2), c.Ints(3), c.Ints(4)) },
		Infer: func(c *Ctx) { inferMax(c, nd) },
		CPU:   func(c *Ctx) { runMax(c, nd, false) },
		VJP:   func(c *Ctx, g *T) []*T { return maxRule(c, g, nd) },
	}
}

// inferMax allocates the result of a maximum pooling.
func inferMax(c *Ctx, nd int) {
	x := c.T(0)
	w := maxWindow(c, x.Shape(), nd, 1)
	checkOutput(c, c.Shape(0), nd, w)
	allocLike(c, nd, 0, resultShape(x.Shape(), nd, w), x, x.DType())
}

// runMax computes a maximum pooling, of a ReLU's result if relu is set.
func runMax(c *Ctx, nd int, relu bool) {
	x, out := c.T(0), c.Out(0)
	var codes *T
	if c.Wants() {
		codes = tensor.NewStrided(out.Shape(), tensor.FormatStrides(out.Shape(), formatOf(x, nd)), tensor.Uint8)
		c.Keep(codes)
	}
	w := maxWindow(c, x.Shape(), nd, 1)
	w.relu = relu
	poolerFor(c, x.DType()).maxCodes(w, out, codes, x, nd)
}

// maxRule is the gradient of a maximum pooling that has kept numbers of taps.
func maxRule(c *Ctx, g *T, nd int) []*T {
	return c.Grads1(call(opCodesBackward, g, c.Kept().(*T), c.Shape(0), c.Ints(1), c.Ints(2), c.Ints(3), c.Ints(4),
		c.Bool(5), nd)[0])
}

func init() {
	window := func(c *Ctx, sh []int) *window { return maxWindow(c, sh, c.Int(8), 3) }
	tensor.Register(tensor.Def{
		Schema: "gotorch::max_pool_codes_backward(Tensor grad, Tensor codes, int[] size, int[] kernel_size, int[] stride, int[] padding, int[] dilation, bool ceil_mode, int nd) -> Tensor",
		Doc: "adds each gradient to the element of the input, of the given size, that the tap's number in codes " +
			"names.",
		Go: "-",
		Infer: func(c *Ctx) {
			wantCodes(c)
			c.WantShape(0, c.Shape(1)...)
			c.AllocStrided(0, c.Ints(2), tensor.FormatStrides(c.Ints(2), formatOf(c.T(1), c.Int(8))), c.ArgDType(0))
		},
		CPU: func(c *Ctx) {
			poolerFor(c, c.ArgDType(0)).codesBackward(window(c, c.Ints(2)), c.Out(0), c.T(0), c.T(1), c.Int(8))
		},
		Save: "codes",
		VJP: func(c *Ctx, g *T) []*T {
			return c.Grads2(call(opCodesGather, g, c.T(1), c.Ints(2), c.Ints(3), c.Ints(4), c.Ints(5), c.Ints(6),
				c.Bool(7), c.Int(8))[0], nil)
		},
	})
	tensor.Register(tensor.Def{
		Schema: "gotorch::max_pool_codes_gather(Tensor self, Tensor codes, int[] size, int[] kernel_size, int[] stride, int[] padding, int[] dilation, bool ceil_mode, int nd) -> Tensor",
		Doc:    "reads the elements of self, of the given size, that the taps' numbers in codes name.",
		Go:     "-",
		Infer: func(c *Ctx) {
			wantCodes(c)
			c.WantShape(0, c.Ints(2)...)
			c.Alloc(0, c.Shape(1), c.ArgDType(0))
		},
		CPU: func(c *Ctx) {
			gather(c, c.Out(0), c.T(0), codeIndices(window(c, c.Ints(2)), c.T(1)), c.Int(8))
		},
		Save: "codes",
		VJP: func(c *Ctx, g *T) []*T {
			return c.Grads2(call(opCodesBackward, g, c.T(1), c.Ints(2), c.Ints(3), c.Ints(4), c.Ints(5), c.Ints(6),
				c.Bool(7), c.Int(8))[0], nil)
		},
	})
}

// wantCodes checks the arguments that the operators on numbers of taps have in common.
func wantCodes(c *Ctx) {
	c.WantDType(1, tensor.Uint8)
	nd := c.Int(8)
	if sh := c.Ints(2); nd < 1 || nd > 3 || len(sh) != nd+1 && len(sh) != nd+2 {
		c.Fail(tensor.ErrShape, "%s(): %s is no size for %d dimensions", c.Op().Sch.Name, tensor.ShapeString(sh), nd)
	}
	w := maxWindow(c, c.Ints(2), nd, 3)
	c.WantNumel(1, w.planes*w.outSize())
}
