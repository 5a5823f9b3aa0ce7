package pool

import (
	"fmt"
	"slices"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/tensor"
)

// adaptive is window i of out over size elements: [floor(i·size/out), ceil((i+1)·size/out)).
func adaptive(size, out int) []bounds {
	l := make([]bounds, out)
	for i := range l {
		lo := i * size / out
		hi := ((i+1)*size + out - 1) / out
		l[i] = bounds{lo, hi, hi - lo}
	}
	return l
}

// adaptiveWindow is the pooling of sh to the given output sizes.
func adaptiveWindow(sh []int, nd int, out []int) *window {
	w := &window{planes: 1, in: [3]int{1, 1, 1}, out: [3]int{1, 1, 1}, k: [3]int{1, 1, 1}}
	for _, s := range sh[:len(sh)-nd] {
		w.planes *= s
	}
	for j := range nd {
		i := 3 - nd + j
		w.in[i], w.out[i] = sh[len(sh)-nd+j], out[j]
		w.k[i] = (w.in[i] + max(1, w.out[i]) - 1) / max(1, w.out[i])
	}
	return w
}

// regular is an adaptive pooling whose windows are all of one size, side by side, as an ordinary one; else nil.
func (w *window) regular() *window {
	r := *w
	for i := range 3 {
		if w.out[i] == 0 || w.in[i]%w.out[i] != 0 {
			return nil
		}
		r.k[i], r.dil[i] = w.in[i]/w.out[i], 1
		r.stride[i] = r.k[i]
	}
	return &r
}

func (w *window) adaptive() (z, y, x []bounds) {
	return adaptive(w.in[0], w.out[0]), adaptive(w.in[1], w.out[1]), adaptive(w.in[2], w.out[2])
}

func adaptiveAvg[E float](w *window, out, in []E, round func(E) E) {
	isz, osz := w.inSize(), w.outSize()
	bz, by, bx := w.adaptive()
	w.each(func(p int) {
		src, dst := in[p*isz:][:isz], out[p*osz:][:osz]
		i := 0
		for _, z := range bz {
			for _, y := range by {
				for _, x := range bx {
					var s E
					for a := z.lo; a < z.hi; a++ {
						for b := y.lo; b < y.hi; b++ {
							row := src[(a*w.in[1]+b)*w.in[2]:][x.lo:x.hi]
							if round == nil {
								for _, v := range row {
									s += v
								}
								continue
							}
							for _, v := range row {
								s = round(s + v)
							}
						}
					}
					if round != nil {
						dst[i] = round(s / E(z.size*y.size*x.size))
						i++
						continue
					}
					dst[i] = s / E(z.size) / E(y.size) / E(x.size)
					i++
				}
			}
		}
	})
}

// rounding is the rounding to a 16-bit type, nil for others.
func rounding(dt tensor.DType) func(float32) float32 {
	switch dt {
	case tensor.Float16:
		return func(x float32) float32 { return vec.F16ToF32(vec.F32ToF16(x)) }
	case tensor.BFloat16:
		return func(x float32) float32 { return vec.BF16ToF32(vec.F32ToBF16(x)) }
	}
	return nil
}

func adaptiveAvgBackward[E float](w *window, gin, gout []E) {
	isz, osz := w.inSize(), w.outSize()
	bz, by, bx := w.adaptive()
	w.each(func(p int) {
		dst, src := gin[p*isz:][:isz], gout[p*osz:][:osz]
		clear(dst)
		i := 0
		for _, z := range bz {
			for _, y := range by {
				for _, x := range bx {
					v := src[i] / E(z.size) / E(y.size) / E(x.size)
					i++
					for a := z.lo; a < z.hi; a++ {
						for b := y.lo; b < y.hi; b++ {
							row := dst[(a*w.in[1]+b)*w.in[2]:][x.lo:x.hi]
							for j := range row {
								row[j] += v
							}
						}
					}
				}
			}
		}
	})
}

func adaptiveMax[E float](w *window, out []E, index []int64, in []E) {
	isz, osz := w.inSize(), w.outSize()
	bz, by, bx := w.adaptive()
	w.each(func(p int) {
		src, dst, ix := in[p*isz:][:isz], out[p*osz:][:osz], index[p*osz:][:osz]
		i := 0
		for _, z := range bz {
			for _, y := range by {
				for _, x := range bx {
					best := lowest[E]()
					at := (z.lo*w.in[1]+y.lo)*w.in[2] + x.lo
					for a := z.lo; a < z.hi; a++ {
						for b := y.lo; b < y.hi; b++ {
							row := (a*w.in[1] + b) * w.in[2]
							for c := x.lo; c < x.hi; c++ {
								if v := src[row+c]; v > best || v != v {
									best, at = v, row+c
								}
							}
						}
					}
					dst[i], ix[i] = best, int64(at)
					i++
				}
			}
		}
	})
}

// adaptiveCheck refuses inputs and sizes that adaptive poolings do not take and gives the shape of the result.
func adaptiveCheck(c *Ctx, nd int, avg bool) []int {
	sh, out := c.Shape(0), c.Ints(1)
	name := c.Op().Sch.Name
	if len(out) != nd {
		if nd == 1 {
			c.Fail(tensor.ErrShape, "%s() argument 'output_size' should contain one int (got %d)", name, len(out))
		}
		if avg {
			c.Fail(tensor.ErrShape, "%s: output_size must be %d", name, nd)
		}
		c.Fail(tensor.ErrShape, "%s(): internal error: output_size.size() must be %d, got %d", name, nd, len(out))
	}
	for _, o := range out {
		if o < 0 && avg {
			c.Fail(tensor.ErrValue, "%s: elements of output_size must be greater than or equal to 0 but received %s", name, tensor.ShapeString(out))
		}
		if o < 0 {
			c.Fail(tensor.ErrValue, "Trying to create tensor with negative dimension %d: %s", o, tensor.ShapeString(append(slices.Clone(sh[:max(0, len(sh)-nd)]), out...)))
		}
	}
	if len(sh) != nd+1 && len(sh) != nd+2 {
		c.Fail(tensor.ErrShape, "%s(): Expected %dD or %dD tensor, but got %s", name, nd+1, nd+2, tensor.ShapeString(sh))
	}
	for i := len(sh) - nd; i < len(sh); i++ {
		if sh[i] == 0 {
			c.Fail(tensor.ErrShape, "%s(): Expected input to have non-zero size for non-batch dimensions, but input has sizes %s with dimension %d being empty", name, tensor.ShapeString(sh), i)
		}
	}
	if dt := c.ArgDType(0); !dt.IsFloat() {
		c.Fail(tensor.ErrNotImpl, "\"%s\" not implemented for '%s'", name, dt.ClassName())
	}
	return append(slices.Clone(sh[:len(sh)-nd]), out...)
}

// adaptiveAvgRun is the mean over every window in the compute type E, in the memory format of the input.
func adaptiveAvgRun[E float](w *window, out, in *T, nd int) {
	ch, f := channels(in, nd)
	src := formatted[E](in, f)
	tensor.IntoFormat(out, f, func(d []E) {
		switch {
		case w.outSize() == 1:
			globalAvg(w.planes, w.inSize(), ch, d, src)
		case ch > 0:
			adaptiveAvgLast(w, ch, d, src)
		default:
			adaptiveAvg(w, d, src, nil)
		}
	})
}

func adaptiveAvgBackwardRun[E float](w *window, out, g *T, nd int) {
	ch, f := channels(out, nd)
	src := formatted[E](g, f)
	tensor.IntoFormat(out, f, func(d []E) {
		switch {
		case w.outSize() == 1:
			globalAvgBackward(w.planes, w.inSize(), ch, d, src)
		case ch > 0:
			adaptiveAvgBackwardLast(w, ch, d, src)
		default:
			adaptiveAvgBackward(w, d, src)
		}
	})
}

func adaptiveMaxRun[E float](w *window, out, index, in *T, nd int) {
	ch, f := channels(in, nd)
	src := formatted[E](in, f)
	tensor.IntoFormat(out, f, func(d []E) {
		tensor.IntoFormat(index, f, func(ix []int64) {
			switch r := w.regular(); {
			case ch > 0 && r != nil:
				maxTaps(r, ch, d, src, func(at int, code []E) { tapIndices(r, ix[at:at+len(code)], ch, at, code) })
			case ch > 0:
				adaptiveMaxLast(w, ch, d, ix, src)
			default:
				adaptiveMax(w, d, ix, src)
			}
		})
	})
}

func adaptiveAvgDef(schema string, nd int, backward *tensor.Op) tensor.Def {
	return tensor.Def{
		Schema: schema, Doc: adaptiveAvgDoc, Go: "-",
		Infer: func(c *Ctx) { allocLike(c, nd, 0, adaptiveCheck(c, nd, true), c.T(0), c.ArgDType(0)) },
		CPU: func(c *Ctx) {
			in, out := c.T(0), c.Out(0)
			if out.Numel() == 0 {
				return
			}
			w := adaptiveWindow(in.Shape(), nd, c.Ints(1))
			if in.DType() == tensor.Float64 {
				adaptiveAvgRun[float64](w, out, in, nd)
			} else if round := rounding(in.DType()); nd == 3 && round != nil && w.outSize() > 1 { // PyTorch sums volumes in 16 bits
				into(out, func(d []float32) { adaptiveAvg(w, d, dense[float32](in), round) })
			} else {
				adaptiveAvgRun[float32](w, out, in, nd)
			}
		},
		VJP: func(c *Ctx, g *T) []*T { return []*T{call(backward, g, c.Shape(0))[0]} },
	}
}

func adaptiveAvgBackwardDef(schema string, nd int, forward *tensor.Op) tensor.Def {
	return tensor.Def{
		Schema: schema, Doc: "shares each gradient among the elements of its window.", Go: "-",
		Infer: func(c *Ctx) { allocLike(c, nd, 0, c.Ints(1), c.T(0), c.ArgDType(0)) },
		CPU: func(c *Ctx) {
			g, out := c.T(0), c.Out(0)
			if out.Numel() == 0 {
				return
			}
			gs := g.Shape()
			w := adaptiveWindow(out.Shape(), nd, gs[len(gs)-nd:])
			if g.DType() == tensor.Float64 {
				adaptiveAvgBackwardRun[float64](w, out, g, nd)
			} else {
				adaptiveAvgBackwardRun[float32](w, out, g, nd)
			}
		},
		VJP: func(c *Ctx, g *T) []*T {
			gs := c.Shape(0)
			return []*T{call(forward, g, slices.Clone(gs[len(gs)-nd:]))[0]}
		},
	}
}

func adaptiveMaxDef(schema string, nd int) tensor.Def {
	return tensor.Def{
		Schema: schema, Doc: adaptiveMaxDoc, Go: "-",
		Infer: func(c *Ctx) {
			sh := adaptiveCheck(c, nd, false)
			allocLike(c, nd, 0, sh, c.T(0), c.ArgDType(0))
			allocLike(c, nd, 1, sh, c.T(0), tensor.Int64)
		},
		CPU: func(c *Ctx) {
			in, out := c.T(0), c.Out(0)
			if out.Numel() == 0 {
				return
			}
			w := adaptiveWindow(in.Shape(), nd, c.Ints(1))
			if in.DType() == tensor.Float64 {
				adaptiveMaxRun[float64](w, out, c.Out(1), in, nd)
			} else {
				adaptiveMaxRun[float32](w, out, c.Out(1), in, nd)
			}
		},
		Save: "result1",
		VJP: func(c *Ctx, g *T) []*T {
			return []*T{call(opPlace, g, c.Out(1), c.Shape(0), nd)[0]}
		},
	}
}

const (
	adaptiveAvgDoc = "is the mean over windows that divide an input [n, c, ...] or [c, ...] into output_size parts." + site + "adaptive_avg_pool2d.html"
	adaptiveMaxDoc = "is the maximum over windows that divide an input [n, c, ...] or [c, ...] into output_size parts, and its position in the input's plane." + site + "adaptive_max_pool2d.html"
)

// sizes are the output sizes of a functional form, where a single number counts for all and None keeps the input's.
func sizes(c *Ctx, nd int) []int {
	sh := c.Shape(0)
	var out []int
	switch v := c.Value(1); v.K {
	case tensor.KInt:
		out = slices.Repeat([]int{int(v.N)}, nd)
	case tensor.KInts:
		out = slices.Clone(v.Ints())
	case tensor.KAny, tensor.KTensors: // a list with Nones; one of Nones alone looks like missing tensors
		l, _ := v.X.([]tensor.Value)
		if ts, ok := v.X.([]*T); ok {
			l = make([]tensor.Value, len(ts))
		}
		if nd > 1 && len(sh) < nd+1 {
			c.Fail(tensor.ErrShape, "Input dimension should be at least %d", nd+1)
		}
		for i, e := range l {
			if e.K == tensor.KNone && i < nd {
				out = append(out, sh[len(sh)-nd+i])
			} else {
				out = append(out, int(e.N))
			}
		}
	default:
		c.Fail(tensor.ErrType, "%s(): argument 'output_size' must be an int or a list of ints, got %v", c.Op().Sch.Name, v)
	}
	if nd > 1 && len(sh) < nd+1 {
		c.Fail(tensor.ErrShape, "Input dimension should be at least %d", nd+1)
	}
	if nd == 1 && len(out) != 1 {
		c.Fail(tensor.ErrShape, "%s() argument 'output_size' should contain one int (got %d)", c.Op().Sch.Name, len(out))
	}
	return out
}

func init() {
	var avg, back, mx [4]*tensor.Op
	for nd := 1; nd <= 3; nd++ {
		avg[nd] = tensor.Slot(fmt.Sprintf("aten::adaptive_avg_pool%dd", nd))
		back[nd] = tensor.Slot(fmt.Sprintf("aten::_adaptive_avg_pool%dd_grad", nd))
		mx[nd] = tensor.Slot(fmt.Sprintf("aten::adaptive_max_pool%dd", nd))
	}
	avgBody := func(nd int) func(c *Ctx) {
		return func(c *Ctx) { c.Return(call(avg[nd], c.T(0), sizes(c, nd))[0]) }
	}
	maxBody := func(nd int) func(c *Ctx) {
		return func(c *Ctx) {
			r := call(mx[nd], c.T(0), sizes(c, nd))
			if c.Bool(2) {
				c.Return(r...)
				return
			}
			c.Return(r[0])
		}
	}
	bothBody := func(nd int) func(c *Ctx) {
		return func(c *Ctx) { c.Return(call(mx[nd], c.T(0), sizes(c, nd))...) }
	}
	for _, d := range []tensor.Def{
		adaptiveAvgDef("adaptive_avg_pool1d(Tensor self, int[1] output_size) -> Tensor", 1, back[1]),
		adaptiveAvgDef("adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor", 2, back[2]),
		adaptiveAvgDef("adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor", 3, back[3]),
		adaptiveAvgBackwardDef("_adaptive_avg_pool1d_grad(Tensor grad_output, int[] size) -> Tensor", 1, avg[1]),
		adaptiveAvgBackwardDef("_adaptive_avg_pool2d_grad(Tensor grad_output, int[] size) -> Tensor", 2, avg[2]),
		adaptiveAvgBackwardDef("_adaptive_avg_pool3d_grad(Tensor grad_output, int[] size) -> Tensor", 3, avg[3]),
		{Schema: "_adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor", Go: "-", Body: func(c *Ctx) { c.Return(call(avg[2], c.T(0), c.Ints(1))[0]) }},
		{Schema: "_adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor", Go: "-", Body: func(c *Ctx) { c.Return(call(avg[3], c.T(0), c.Ints(1))[0]) }},
		adaptiveMaxDef("adaptive_max_pool1d(Tensor self, int[1] output_size) -> (Tensor, Tensor)", 1),
		adaptiveMaxDef("adaptive_max_pool2d(Tensor self, int[2] output_size) -> (Tensor, Tensor)", 2),
		adaptiveMaxDef("adaptive_max_pool3d(Tensor self, int[3] output_size) -> (Tensor, Tensor)", 3),
		{Schema: "F::adaptive_avg_pool1d(Tensor input, int[1] output_size) -> Tensor", Doc: adaptiveAvgDoc, Body: avgBody(1)},
		{Schema: "F::adaptive_avg_pool1d.any(Tensor input, Any output_size) -> Tensor", Go: "-", Body: avgBody(1)},
		{Schema: "F::adaptive_avg_pool2d(Tensor input, int[2] output_size) -> Tensor", Doc: adaptiveAvgDoc, Body: avgBody(2)},
		{Schema: "F::adaptive_avg_pool2d.any(Tensor input, Any output_size) -> Tensor", Go: "-", Body: avgBody(2)},
		{Schema: "F::adaptive_avg_pool3d(Tensor input, int[3] output_size) -> Tensor", Doc: adaptiveAvgDoc, Body: avgBody(3)},
		{Schema: "F::adaptive_avg_pool3d.any(Tensor input, Any output_size) -> Tensor", Go: "-", Body: avgBody(3)},
		{Schema: "F::adaptive_max_pool1d(Tensor input, int[1] output_size, bool return_indices=False) -> Tensor", Doc: adaptiveMaxDoc, Body: maxBody(1)},
		{Schema: "F::adaptive_max_pool1d.any(Tensor input, Any output_size, bool return_indices=False) -> Tensor", Go: "-", Body: maxBody(1)},
		{Schema: "F::adaptive_max_pool2d(Tensor input, int[2] output_size, bool return_indices=False) -> Tensor", Doc: adaptiveMaxDoc, Body: maxBody(2)},
		{Schema: "F::adaptive_max_pool2d.any(Tensor input, Any output_size, bool return_indices=False) -> Tensor", Go: "-", Body: maxBody(2)},
		{Schema: "F::adaptive_max_pool3d(Tensor input, int[3] output_size, bool return_indices=False) -> Tensor", Doc: adaptiveMaxDoc, Body: maxBody(3)},
		{Schema: "F::adaptive_max_pool3d.any(Tensor input, Any output_size, bool return_indices=False) -> Tensor", Go: "-", Body: maxBody(3)},
		{Schema: "F::adaptive_max_pool1d_with_indices(Tensor input, int[1] output_size, bool return_indices=False) -> (Tensor, Tensor)", Doc: adaptiveMaxDoc, Body: bothBody(1)},
		{Schema: "F::adaptive_max_pool1d_with_indices.any(Tensor input, Any output_size, bool return_indices=False) -> (Tensor, Tensor)", Go: "-", Body: bothBody(1)},
		{Schema: "F::adaptive_max_pool2d_with_indices(Tensor input, int[2] output_size, bool return_indices=False) -> (Tensor, Tensor)", Doc: adaptiveMaxDoc, Body: bothBody(2)},
		{Schema: "F::adaptive_max_pool2d_with_indices.any(Tensor input, Any output_size, bool return_indices=False) -> (Tensor, Tensor)", Go: "-", Body: bothBody(2)},
		{Schema: "F::adaptive_max_pool3d_with_indices(Tensor input, int[3] output_size, bool return_indices=False) -> (Tensor, Tensor)", Doc: adaptiveMaxDoc, Body: bothBody(3)},
		{Schema: "F::adaptive_max_pool3d_with_indices.any(Tensor input, Any output_size, bool return_indices=False) -> (Tensor, Tensor)", Go: "-", Body: bothBody(3)},
	} {
		tensor.Register(d)
	}
}
