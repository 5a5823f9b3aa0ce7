package pool

import (
	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/tensor"
)

// Maximum pooling without indices remembers for its gradient only which tap of each window won, a byte per result, and nothing at all
// when no gradient is wanted.

var (
	opCodes         = tensor.Slot("aten::_max_pool_codes")
	opCodesBackward = tensor.Slot("aten::_max_pool_codes_backward")
)

// codable reports that a maximum pooling of x can do with codes; anything odd is left to the operator that returns indices.
func codable(x *T, nd int, args ...[]int) bool {
	if dt := x.DType(); dt != tensor.Float64 && dt.Compute() != tensor.Float32 || x.Dim() != nd+1 && x.Dim() != nd+2 || x.Numel() == 0 {
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
		if s := x.Size(x.Dim() - nd + i); 2*p[i%len(p)] > (k[i%len(k)]-1)*d[i%len(d)]+1 || s+2*p[i%len(p)] < (k[i%len(k)]-1)*d[i%len(d)]+1 {
			return false
		}
	}
	return taps <= 256
}

// offsets are the distances of a window's taps from its first one in the input's plane.
func (w *window) offsets() []int {
	l := make([]int, 0, w.k[0]*w.k[1]*w.k[2])
	for a := range w.k[0] {
		for b := range w.k[1] {
			for c := range w.k[2] {
				l = append(l, (a*w.dil[0]*w.in[1]+b*w.dil[1])*w.in[2]+c*w.dil[2])
			}
		}
	}
	return l
}

// walk calls f for the results from position at on in memory with c channels (0: planes): for n of them at once, those of a pixel, which
// belong to image p (c > 0) or plane p; base is where their window begins in the input's plane. There are count of them.
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

// tapIndices turns numbers of taps, at position at of results in memory with c channels (0: planes), into positions in the input's plane.
func tapIndices[E uint8 | float](w *window, dst []int64, c, at int, code []E) {
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
	code, ix := tensor.Data[uint8](codes.Dense()), tensor.Data[int64](t)
	par.For(len(ix), block, func(lo, hi int) { tapIndices(w, ix[lo:hi], 0, lo, code[lo:hi]) })
	return t
}

// scatterCodes adds each gradient to the element that its code names, in the order of the results: what maxTaps noted, backwards.
func scatterCodes[E float](w *window, c int, d, g []E, code []uint8) {
	off := w.offsets()
	if c == 0 {
		isz, osz := w.inSize(), w.outSize()
		par.For(w.planes, max(1, 2*block/(isz+osz)), func(lo, hi int) {
			clear(d[lo*isz : hi*isz])
			w.walk(0, lo*osz, (hi-lo)*osz, func(i, _, _, p, base int) {
				i += lo * osz
				d[p*isz+base+off[code[i]]] += g[i]
			})
		})
		return
	}
	// Images and runs of channels make up the tasks.
	const run = 64
	isz, osz := w.inSize()*c, w.outSize()*c
	for i := range off {
		off[i] *= c
	}
	per := (c + run - 1) / run
	clear(d)
	par.For(w.planes/c*per, max(1, 2*block/(w.inSize()*min(c, run))), func(lo, hi int) {
		for u := lo; u < hi; u++ {
			n, c0 := u/per, u%per*run
			k := min(run, c-c0)
			w.walk(0, 0, w.outSize(), func(o, _, _, _, base int) {
				i := n*osz + o*c + c0
				to := d[n*isz:][:isz]
				gs, cs := g[i:i+k], code[i:i+k]
				at := base*c + c0
				for j, v := range gs {
					to[at+j+off[cs[j]]] += v
				}
			})
		}
	})
}

// maxCodes is the forward pass of _max_pool_codes in the compute type E.
func maxCodes[E float](c *Ctx, w *window, note func(dst []uint8, x []E)) {
	x, nd := c.T(0), c.Int(6)
	ch, f := channels(x, nd)
	var codes func(at int, code []E)
	if t := c.Out(1); t.Numel() > 0 {
		if !t.IsContiguousFormat(f) { // shapes that are both
			f, ch = formatOf(t, nd), 0
			if f != tensor.ContiguousFormat {
				ch = t.Size(1)
			}
		}
		code := tensor.Memory[uint8](t)
		codes = func(at int, x []E) { note(code[at:at+len(x)], x) }
	}
	tensor.IntoFormat(c.Out(0), f, func(d []E) { maxTaps(w, ch, d, formatted[E](x, f), codes) })
}

func init() {
	window := func(c *Ctx, sh []int, i int) *window { return maxWindow(c, sh, c.Int(i+5), i) }
	tensor.Register(tensor.Def{
		Schema: "_max_pool_codes(Tensor self, int[] kernel_size, int[] stride, int[] padding, int[] dilation, bool ceil_mode, int nd) -> (Tensor, Tensor)",
		Doc:    "is the maximum of each window and the number of the tap that it comes from; the numbers are left out when no gradient is wanted.",
		Go:     "-",
		Infer: func(c *Ctx) {
			x := c.T(0)
			w := window(c, x.Shape(), 1)
			checkOutput(c, c.Int(6), w)
			out := resultShape(x.Shape(), c.Int(6), w)
			st := tensor.FormatStrides(out, formatOf(x, c.Int(6)))
			c.AllocStrided(0, out, st, x.DType())
			if c.Wants() {
				c.AllocStrided(1, out, st, tensor.Uint8)
			} else {
				c.Alloc(1, []int{0}, tensor.Uint8)
			}
		},
		CPU: func(c *Ctx) {
			w := window(c, c.Shape(0), 1)
			if c.T(0).DType() == tensor.Float64 {
				maxCodes(c, w, func(dst []uint8, x []float64) {
					for i, v := range x {
						dst[i] = uint8(int(v))
					}
				})
				return
			}
			maxCodes(c, w, vec.F32ToU8s)
		},
		Save: "result1",
		VJP: func(c *Ctx, g *T) []*T {
			return []*T{call(opCodesBackward, g, c.Out(1), c.Shape(0), c.Ints(1), c.Ints(2), c.Ints(3), c.Ints(4), c.Bool(5), c.Int(6))[0]}
		},
	})
	tensor.Register(tensor.Def{
		Schema: "_max_pool_codes_backward(Tensor grad, Tensor codes, int[] size, int[] kernel_size, int[] stride, int[] padding, int[] dilation, bool ceil_mode, int nd) -> Tensor",
		Doc:    "adds each gradient to the element that its code names.",
		Go:     "-",
		Infer: func(c *Ctx) {
			c.AllocStrided(0, c.Ints(2), tensor.FormatStrides(c.Ints(2), formatOf(c.T(1), c.Int(8))), c.ArgDType(0))
		},
		CPU: func(c *Ctx) {
			g, codes := c.T(0), c.T(1)
			w := window(c, c.Ints(2), 3)
			ch, f := channels(codes, c.Int(8))
			code := formatted[uint8](codes, f)
			if g.DType() == tensor.Float64 {
				tensor.IntoFormat(c.Out(0), f, func(d []float64) { scatterCodes(w, ch, d, formatted[float64](g, f), code) })
				return
			}
			grad := formatted[float32](g, f)
			if ch > 0 {
				tensor.IntoFormat(c.Out(0), f, func(d []float32) { scatterCodes(w, ch, d, grad, code) })
				return
			}
			tensor.IntoFormat(c.Out(0), f, func(d []float32) {
				spread(w, ch, d, func(d []float32, from int) kernel {
					return func(rows, cols, o, ldo, i, ldi, tap int) {
						vec.MaxTapGradRowsF32(rows, cols, d[i:], ldi, grad[from+o:], ldo, code[from+o:], ldo, float32(tap))
					}
				})
			})
		},
		Save: "codes",
		VJP: func(c *Ctx, g *T) []*T {
			ix := codeIndices(window(c, c.Ints(2), 3), c.T(1))
			return []*T{call(opPick, g, ix, c.Int(8))[0], nil}
		},
	})
}
