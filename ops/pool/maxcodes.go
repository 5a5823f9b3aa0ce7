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
	if x.DType() != tensor.Float32 || x.Dim() != nd+1 && x.Dim() != nd+2 || x.Numel() == 0 {
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

// indices turns numbers of taps, at position at of results in memory with c channels (0: planes), into positions in the input's plane.
func (w *window) indices(dst []int64, c, at int, code func(i int) int) {
	c = max(1, c)
	osz := w.outSize()
	for i := range dst {
		o, t := (at+i)/c%osz, code(i)
		z, y, x := o/(w.out[1]*w.out[2]), o/w.out[2]%w.out[1], o%w.out[2]
		iz := z*w.stride[0] - w.pad[0] + t/(w.k[1]*w.k[2])*w.dil[0]
		iy := y*w.stride[1] - w.pad[1] + t/w.k[2]%w.k[1]*w.dil[1]
		ix := x*w.stride[2] - w.pad[2] + t%w.k[2]*w.dil[2]
		dst[i] = int64((iz*w.in[1]+iy)*w.in[2] + ix)
	}
}

// codeIndices are the positions that codes stand for.
func codeIndices(w *window, codes *T) *T {
	t := tensor.New(codes.Shape(), tensor.Int64)
	code, ix := tensor.Data[uint8](codes.Dense()), tensor.Data[int64](t)
	par.For(len(ix), block, func(lo, hi int) {
		w.indices(ix[lo:hi], 0, lo, func(i int) int { return int(code[lo+i]) })
	})
	return t
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
			c.AllocStrided(0, out, st, tensor.Float32)
			if c.Wants() {
				c.AllocStrided(1, out, st, tensor.Uint8)
			} else {
				c.Alloc(1, []int{0}, tensor.Uint8)
			}
		},
		CPU: func(c *Ctx) {
			x := c.T(0)
			w := window(c, x.Shape(), 1)
			ch, f := channels(x, c.Int(6))
			var note func(at int, code []float32)
			if t := c.Out(1); t.Numel() > 0 {
				if !t.IsContiguousFormat(f) { // shapes that are both
					f, ch = formatOf(t, c.Int(6)), 0
					if f != tensor.ContiguousFormat {
						ch = t.Size(1)
					}
				}
				code := tensor.Memory[uint8](t)
				note = func(at int, x []float32) { vec.F32ToU8s(code[at:at+len(x)], x) }
			}
			tensor.IntoFormat(c.Out(0), f, func(d []float32) { maxTaps(w, ch, d, formatted[float32](x, f), note) })
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
			grad, code := formatted[float32](g, f), formatted[uint8](codes, f)
			tensor.IntoFormat(c.Out(0), f, func(d []float32) {
				w.spread(ch, d, func(d []float32, from int) kernel {
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
