package pool

import (
	"fmt"
	"math"
	"slices"

	"github.com/gotorch-dev/torch/internal/rng"
	"github.com/gotorch-dev/torch/ops/internal/op"
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

// fewTaps is the number of elements of a window up to which a regular adaptive pooling of planes is computed like an
// ordinary one, element by element of all windows at a time. Larger windows have rows that are worth a call each.
const fewTaps = 64

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
	r.sides = true
	return &r
}

func (w *window) adaptive() (z, y, x []bounds) {
	return adaptive(w.in[0], w.out[0]), adaptive(w.in[1], w.out[1]), adaptive(w.in[2], w.out[2])
}

// longRow is the length from which on a row is worth a call of a kernel.
const longRow = 16

// adaptiveAvg1 runs on planes: the rows of a window are added up for the whole width first, then its columns.
func (k *taps[E, S]) adaptiveAvg1(w *window, out, in []S) {
	isz, osz, wd := w.inSize(), w.outSize(), w.in[2]
	bz, by, bx := w.adaptive()
	w.runs(func(lo, hi int) {
		buf, back := borrow[E](wd + k.room(osz))
		defer back()
		room := cut(&buf, wd)
		for p := lo; p < hi; p++ {
			var row []E
			src, o := in[p*isz:][:isz], out[p*osz:][:osz]
			dst := k.place(o, buf)
			i := 0
			for _, z := range bz {
				for _, y := range by {
					if z.size*y.size == 1 && bx[0].size >= longRow {
						line := src[(z.lo*w.in[1]+y.lo)*wd:][:wd]
						for _, x := range bx {
							dst[i] = k.sum(line[x.lo:x.hi]) / E(x.size)
							i++
						}
						continue
					}
					if z.size*y.size == 1 {
						row = k.load(src[(z.lo*w.in[1]+y.lo)*wd:][:wd], room)
					} else {
						row = room
						clear(row)
						for a := z.lo; a < z.hi; a++ {
							k.add(y.size, wd, row, 0, src[(a*w.in[1]+y.lo)*wd:], wd)
						}
					}
					for _, x := range bx {
						var s E
						for _, v := range row[x.lo:x.hi] {
							s += v
						}
						dst[i] = s / E(z.size) / E(y.size) / E(x.size)
						i++
					}
				}
			}
			k.store(o, dst)
		}
	})
}

// adaptiveAvgRounded runs on planes of 16-bit floats and rounds every sum to them. The sums of neighbouring windows
// grow side by side: each step of one waits for the one before it.
func adaptiveAvgRounded(w *window, out, in []float32, add func(s float32, row []float32) float32) {
	isz, osz := w.inSize(), w.outSize()
	bz, by, bx := w.adaptive()
	w.each(func(p int) {
		src, dst := in[p*isz:][:isz], out[p*osz:][:osz]
		for _, z := range bz {
			for _, y := range by {
				sums := dst[:len(bx)]
				dst = dst[len(bx):]
				clear(sums)
				for a := z.lo; a < z.hi; a++ {
					for b := y.lo; b < y.hi; b++ {
						row := src[(a*w.in[1]+b)*w.in[2]:]
						for i, x := range bx {
							sums[i] = add(sums[i], row[x.lo:x.hi])
						}
					}
				}
				for i, x := range bx {
					sums[i] /= float32(z.size * y.size * x.size) // rounded where it is stored
				}
			}
		}
	})
}

// roundedSum adds a row to s and rounds every sum to a 16-bit type; nil for other types.
func roundedSum(dt tensor.DType) func(s float32, row []float32) float32 {
	switch dt {
	case tensor.Float16:
		return func(s float32, row []float32) float32 {
			for _, v := range row {
				s = rng.RoundFloat16(s + v)
			}
			return s
		}
	case tensor.BFloat16:
		return func(s float32, row []float32) float32 {
			for _, v := range row {
				s = rng.RoundBFloat16(s + v)
			}
			return s
		}
	}
	return nil
}

// adaptiveAvgBackward1 runs on planes: one row takes what a row of windows hands on and goes to all rows that these
// cover.
func (k *taps[E, S]) adaptiveAvgBackward1(w *window, gin, gout []S) {
	add := poolerOf[E]().add
	isz, osz, wd := w.inSize(), w.outSize(), w.in[2]
	bz, by, bx := w.adaptive()
	w.runs(func(lo, hi int) {
		buf, back := borrow[E](wd + k.room(isz+osz))
		defer back()
		row, room := cut(&buf, wd), cut(&buf, k.room(osz))
		for p := lo; p < hi; p++ {
			src := k.load(gout[p*osz:][:osz], room)
			d := gin[p*isz:][:isz]
			dst := k.place(d, buf)
			clear(dst)
			if isz == wd { // it is the only row, to which all windows add
				row = dst
			}
			i := 0
			for _, z := range bz {
				for _, y := range by {
					if isz > wd {
						clear(row)
					}
					for _, x := range bx {
						v := src[i]
						if isz > wd { // else these windows are one wide
							v = v / E(z.size) / E(y.size)
						}
						v /= E(x.size)
						i++
						for j := x.lo; j < x.hi; j++ {
							row[j] += v
						}
					}
					for a := z.lo; a < z.hi && isz > wd; a++ {
						add(y.size, wd, dst[(a*w.in[1]+y.lo)*wd:], wd, row, 0)
					}
				}
			}
			k.store(d, dst)
		}
	})
}

// binMax is the maximum, and its position in the plane, of the windows that bz, by and bx name, for one plane of w.
// The rows of a window meet for the whole width first: best and at, each a row, hold what is largest in a column and
// in which of the rows.
func (k *taps[E, S]) binMax(w *window, bz, by, bx []bounds, dst []E, index []int64, src []S, best, at []E) {
	wd := w.in[2]
	low := lowest[E]()
	i := 0
	for _, z := range bz {
		for _, y := range by {
			if z.hi-z.lo == 1 && y.hi-y.lo == 1 { // a single row
				line := (z.lo*w.in[1] + y.lo) * wd
				row := k.load(src[line:][:wd], best)
				for _, x := range bx {
					c := x.lo + k.first(row[x.lo:x.hi])
					dst[i], index[i] = row[c], int64(line+c)
					i++
				}
				continue
			}
			k.fill(best, low)
			clear(at)
			row := 0
			for a := z.lo; a < z.hi; a++ {
				for b := y.lo; b < y.hi; b++ {
					k.maxAt(1, wd, best, 0, at, 0, src[(a*w.in[1]+b)*wd:], 0, E(row))
					row++
				}
			}
			for _, x := range bx {
				// In the order of the rows the first of equals wins, and the last NaN.
				v, r, c := low, E(0), x.lo
				for j := x.lo; j < x.hi; j++ {
					if e, f := best[j], at[j]; e > v || e == v && f < r || e != e && (v == v || f >= r) {
						v, r, c = e, f, j
					}
				}
				dst[i] = v
				a, b := int(r)/(y.hi-y.lo), int(r)%(y.hi-y.lo)
				index[i] = int64(((z.lo+a)*w.in[1]+y.lo+b)*wd + c)
				i++
			}
		}
	}
}

// first is where the maximum of a is, the first of equal ones, or the last NaN.
func (k *taps[E, S]) first(a []E) int {
	if len(a) < 8 {
		c := 0
		for i, e := range a {
			if e > a[c] || e != e {
				c = i
			}
		}
		return c
	}
	m := k.most(a)
	if m != m {
		c := len(a) - 1
		for a[c] == a[c] {
			c--
		}
		return c
	}
	c := 0
	for a[c] != m {
		c++
	}
	return c
}

// adaptiveMax1 runs on planes.
func (k *taps[E, S]) adaptiveMax1(w *window, out []S, index []int64, in []S) {
	isz, osz, wd := w.inSize(), w.outSize(), w.in[2]
	bz, by, bx := w.adaptive()
	w.each(func(p int) {
		buf, back := borrow[E](2*wd + k.room(osz))
		defer back()
		best, at := cut(&buf, wd), cut(&buf, wd)
		o := out[p*osz:][:osz]
		dst := k.place(o, buf)
		k.binMax(w, bz, by, bx, dst, index[p*osz:][:osz], in[p*isz:][:isz], best, at)
		k.store(o, dst)
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
			c.Fail(tensor.ErrValue, "%s: elements of output_size must be greater than or equal to 0 but received %s",
				name, tensor.ShapeString(out))
		}
		if o < 0 {
			c.Fail(tensor.ErrValue, "Trying to create tensor with negative dimension %d: %s", o,
				tensor.ShapeString(append(slices.Clone(sh[:max(0, len(sh)-nd)]), out...)))
		}
	}
	if len(sh) != nd+1 && len(sh) != nd+2 {
		c.Fail(tensor.ErrShape, "%s(): Expected %dD or %dD tensor, but got %s", name, nd+1, nd+2,
			tensor.ShapeString(sh))
	}
	// What PyTorch calls the dimensions that are not the batch's begins at the channels for all but means over planes;
	// a mean that is one number for each channel is PyTorch's mean, which is NaN for no elements.
	from := 1
	if avg && nd < 3 || len(sh) == nd+1 {
		from = len(sh) - nd
	}
	if avg && !slices.ContainsFunc(out, func(n int) bool { return n != 1 }) {
		from = len(sh)
	}
	for i := from; i < len(sh); i++ {
		if sh[i] == 0 {
			c.Fail(tensor.ErrShape, "%s(): Expected input to have non-zero size for non-batch dimensions, but input "+
				"has sizes %s with dimension %d being empty", name, tensor.ShapeString(sh), i)
		}
	}
	if dt := c.ArgDType(0); !dt.IsFloat() {
		c.FailDType(tensor.ErrNotImpl, name, dt)
	}
	return append(slices.Clone(sh[:len(sh)-nd]), out...)
}

// adaptiveAvg is the mean over every window, in the memory format of the input.
func (k *taps[E, S]) adaptiveAvg(w *window, out, in *T, nd int) {
	ch, f := channels(in, nd)
	src := k.dense(in, f)
	k.into(out, f, func(d []S) {
		switch r := w.regular(); {
		case w.outSize() == 1:
			k.globalAvg(w.planes, w.inSize(), ch, d, src)
		case r != nil && (ch > 0 || r.taps() <= fewTaps):
			k.avgTaps(r, ch, d, src)
		case ch > 0:
			k.adaptiveAvgLast(w, ch, d, src)
		default:
			k.adaptiveAvg1(w, d, src)
		}
	})
}

func (k *taps[E, S]) adaptiveAvgBackward(w *window, out, g *T, nd int) {
	ch, f := channels(out, nd)
	src := k.dense(g, f)
	k.into(out, f, func(d []S) {
		switch r := w.regular(); {
		case w.outSize() == 1:
			k.globalAvgBackward(w.planes, w.inSize(), ch, d, src)
		case r != nil && ch == 0 && r.taps() <= fewTaps:
			k.avgTapsBackward(r, ch, d, src)
		case ch > 0:
			k.adaptiveAvgBackwardLast(w, ch, d, src)
		default:
			k.adaptiveAvgBackward1(w, d, src)
		}
	})
}

func (k *taps[E, S]) adaptiveMax(w *window, out, index, in *T, nd int) {
	ch, f := channels(in, nd)
	src := k.dense(in, f)
	k.into(out, f, func(d []S) {
		tensor.IntoFormat(index, f, func(ix []int64) {
			switch r := w.regular(); {
			case ch > 0 && r != nil && r.taps() <= 256:
				k.maxTaps(r, ch, d, src,
					func(at int, code []uint8) { tapIndices(r, ix[at:at+len(code)], ch, at, code) })
			case ch > 0:
				k.adaptiveMaxLast(w, ch, d, ix, src)
			default:
				k.adaptiveMax1(w, d, ix, src)
			}
		})
	})
}

// adaptiveAvgDef is an average over adaptive windows with a kernel and a gradient rule of its own; body, if any, says
// it in PyTorch's steps.
func adaptiveAvgDef(schema string, nd int, grad string, body func(c *Ctx)) tensor.Def {
	backward := opsAdaptiveAvgBackward[nd]
	return tensor.Def{
		Schema: schema, Doc: adaptiveAvgDoc, Go: "-", Body: body,
		GradOf: func(args []tensor.Value) string { // PyTorch computes one window as a mean
			if body != nil && !slices.ContainsFunc(args[1].Ints(), func(n int) bool { return n != 1 }) {
				return "MeanBackward1"
			}
			return grad
		},
		Infer: func(c *Ctx) { allocLike(c, nd, 0, adaptiveCheck(c, nd, true), c.T(0), c.ArgDType(0)) },
		CPU: func(c *Ctx) {
			in, out := c.T(0), c.Out(0)
			switch {
			case out.Numel() == 0:
				return
			case in.Numel() == 0: // the mean of no elements
				tensor.CopyRaw(out, tensor.Alias(tensor.FromSlice([]float64{math.NaN()}), out.Shape(),
					make([]int, out.Dim()), 0))
				return
			}
			w := adaptiveWindow(in.Shape(), nd, c.Ints(1))
			// PyTorch sums volumes in 16 bits
			if add := roundedSum(in.DType()); nd == 3 && add != nil && w.outSize() > 1 {
				into(out, func(d []float32) { adaptiveAvgRounded(w, d, dense[float32](in), add) })
				return
			}
			poolerFor(c, in.DType()).adaptiveAvg(w, out, in, nd)
		},
		VJP: func(c *Ctx, g *T) []*T { return c.Grads1(call(backward, g, c.Shape(0))[0]) },
	}
}

// adaptiveAvgBackwardDef is the gradient of the input. Argument 1 is the input, as in PyTorch, or its shape: gradient
// rules call the operators of the namespace gotorch, which do not keep the input's memory alive.
func adaptiveAvgBackwardDef(schema string, nd int, forward *tensor.Op) tensor.Def {
	return tensor.Def{
		Schema: schema, Doc: "shares each gradient among the elements of its window.", Go: "-",
		Infer: func(c *Ctx) {
			g, sh := c.Shape(0), shapeArg(c, 1)
			if len(g) != len(sh) || len(sh) != nd+1 && len(sh) != nd+2 {
				c.Fail(tensor.ErrShape, "%s(): expected a grad_output of as many dimensions as the input %s, got %s",
					c.Op().Sch.Name, tensor.ShapeString(sh), tensor.ShapeString(g))
			}
			c.WantShape(0, slices.Concat(sh[:len(sh)-nd], g[len(g)-nd:])...)
			allocLike(c, nd, 0, sh, c.T(0), c.ArgDType(0))
		},
		CPU: func(c *Ctx) {
			g, out := c.T(0), c.Out(0)
			if out.Numel() == 0 {
				return
			}
			if g.Numel() == 0 {
				tensor.ZeroRaw(out)
				return
			}
			gs := g.Shape()
			w := adaptiveWindow(out.Shape(), nd, gs[len(gs)-nd:])
			poolerFor(c, g.DType()).adaptiveAvgBackward(w, out, g, nd)
		},
		VJP: func(c *Ctx, g *T) []*T {
			gs := c.Shape(0)
			return onlyFirst(c, call(forward, g, slices.Clone(gs[len(gs)-nd:]))[0])
		},
	}
}

// shapeArg is argument i, a shape or the tensor that has it.
func shapeArg(c *Ctx, i int) []int {
	if c.Op().Sch.Params[i].Kind == tensor.KTensor {
		return c.Shape(i)
	}
	return c.Ints(i)
}

// onlyFirst is what a gradient rule returns when only the first tensor argument has a gradient.
func onlyFirst(c *Ctx, g *T) []*T {
	l := []*T{g}
	for _, p := range c.Op().Sch.Params[1:] {
		if p.Kind == tensor.KTensor {
			l = append(l, nil)
		}
	}
	return l
}

func adaptiveMaxDef(schema string, nd int, grad string, body func(c *Ctx)) tensor.Def {
	return tensor.Def{
		Schema: schema, Doc: adaptiveMaxDoc, Go: "-", Grad: grad, Body: body,
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
			poolerFor(c, in.DType()).adaptiveMax(w, out, c.Out(1), in, nd)
		},
		Save: "result1",
		VJP: func(c *Ctx, g *T) []*T {
			return c.Grads1(call(opScatter, g, c.Out(1), c.Shape(0), nd)[0])
		},
	}
}

// indicesBackwardDef is the gradient of the input of a maximum pooling that returned indices, argument i; argument 1
// is the input, of which only the shape is read.
func indicesBackwardDef(schema string, nd, i int) tensor.Def {
	return tensor.Def{
		Schema: schema,
		Doc:    "adds each gradient to the element that indices names.",
		Go:     "-",
		Infer: func(c *Ctx) {
			if g := c.Shape(0); !tensor.SameShape(g, c.Shape(i)) || len(g) < nd {
				c.Fail(tensor.ErrShape, "%s(): expected grad_output of the indices' shape %s, got %s", c.Op().Sch.Name,
					tensor.ShapeString(c.Shape(i)), tensor.ShapeString(g))
			} else if x := c.Shape(1); len(x) != len(g) || len(x) < nd || !slices.Equal(x[:len(x)-nd], g[:len(g)-nd]) {
				c.Fail(tensor.ErrShape, "%s(): grad_output of shape %s does not fit an input of shape %s", c.Op().Sch.Name,
					tensor.ShapeString(g), tensor.ShapeString(x))
			}
			c.WantDType(i, tensor.Int64)
			allocLike(c, nd, 0, c.Shape(1), c.T(1), c.ArgDType(0))
		},
		CPU:  func(c *Ctx) { scatterRun(c, c.Out(0), c.T(0), c.T(i), nd) },
		Save: "indices",
		VJP: func(c *Ctx, g *T) []*T {
			r := onlyFirst(c, call(opGather, g, c.T(i), nd)[0])
			if c.Needs(1) { // self gives the shape alone, but PyTorch's gradient is zero, not none
				r[1] = op.Zeros(g, c.Shape(1), g.DType())
			}
			return r
		},
	}
}

const (
	adaptiveAvgDoc = "is the mean over windows that divide an input [n, c, ...] or [c, ...] into output_size parts." +
		site + "adaptive_avg_pool2d.html"
	adaptiveMaxDoc = "is the maximum over windows that divide an input [n, c, ...] or [c, ...] into output_size " +
		"parts, and its position in the input's plane." + site + "adaptive_max_pool2d.html"
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
		if len(sh) < nd || nd > 1 && len(sh) < nd+1 {
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
		c.Fail(tensor.ErrType, "%s(): argument 'output_size' must be an int or a list of ints, got %v", c.Op().Sch.Name,
			v)
	}
	if nd > 1 && len(sh) < nd+1 {
		c.Fail(tensor.ErrShape, "Input dimension should be at least %d", nd+1)
	}
	if nd == 1 && len(out) != 1 {
		c.Fail(tensor.ErrShape, "%s() argument 'output_size' should contain one int (got %d)", c.Op().Sch.Name,
			len(out))
	}
	return out
}

// slots are the operators of a name for one, two and three dimensions, at these indices.
func slots(name string) [4]*tensor.Op {
	var l [4]*tensor.Op
	for nd := 1; nd <= 3; nd++ {
		l[nd] = tensor.Slot(fmt.Sprintf(name, nd))
	}
	return l
}

var (
	opsAdaptiveAvg = slots("aten::adaptive_avg_pool%dd")
	// those with a kernel; there is none for one dimension
	opsAdaptiveAvgLeaf     = slots("aten::_adaptive_avg_pool%dd")
	opsAdaptiveAvgBackward = slots("gotorch::adaptive_avg_pool%dd_backward")
	opsAdaptiveMax         = slots("aten::adaptive_max_pool%dd")
)

// adaptiveAvgBody is what PyTorch does: the mean of whole planes, which keeps the memory format, or the operator for
// windows.
func adaptiveAvgBody(nd int) func(c *Ctx) {
	return func(c *Ctx) {
		x, out := c.T(0), c.Ints(1)
		if len(out) != nd || slices.ContainsFunc(out, func(n int) bool { return n != 1 }) || x.Dim() < nd+1 ||
			x.Numel() == 0 {
			c.Return(call(opsAdaptiveAvgLeaf[nd], x, out)[0])
			return
		}
		dims := []int{-1, -2, -3}[:nd]
		y := x.MeanDim(dims, tensor.MeanDimOptions{KeepDim: true})
		if f := formatOf(x, nd); f != tensor.ContiguousFormat {
			y = y.AsStridedInPlace(y.Shape(), tensor.FormatStrides(y.Shape(), f))
		}
		c.Return(y)
	}
}

// line gives a plane of one line to an operator of two dimensions. It leaves inputs of other ranks to that operator's
// errors.
func line(c *Ctx) *T {
	x := c.T(0)
	if x.Dim() != 2 && x.Dim() != 3 {
		c.Fail(tensor.ErrShape, "%s(): Expected 2D or 3D tensor, but got %s", c.Op().Sch.Name,
			tensor.ShapeString(x.Shape()))
	}
	return x.Unsqueeze(-2)
}

func adaptiveAvgLineBody(c *Ctx) {
	checkLineSize(c)
	c.Return(call(opsAdaptiveAvg[2], line(c), append([]int{1}, c.Ints(1)...))[0].SqueezeDim(-2))
}

func adaptiveMaxLineBody(c *Ctx) {
	checkLineSize(c)
	r := call(opsAdaptiveMax[2], line(c), append([]int{1}, c.Ints(1)...))
	c.Return(r[0].SqueezeDim(-2), r[1].SqueezeDim(-2))
}

// checkLineSize refuses an output_size of several numbers.
func checkLineSize(c *Ctx) {
	if n := len(c.Ints(1)); n != 1 {
		c.Fail(tensor.ErrShape, "%s() argument 'output_size' should contain one int (got %d)", c.Op().Sch.Name, n)
	}
}

func init() {
	avg, mx := opsAdaptiveAvg, opsAdaptiveMax
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
		adaptiveAvgDef("adaptive_avg_pool1d(Tensor self, int[1] output_size) -> Tensor", 1, "SqueezeBackward1",
			adaptiveAvgLineBody),
		adaptiveAvgDef("adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor", 2,
			"AdaptiveAvgPool2DBackward0", adaptiveAvgBody(2)),
		adaptiveAvgDef("adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor", 3,
			"AdaptiveAvgPool3DBackward0", adaptiveAvgBody(3)),
		adaptiveAvgDef("_adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor", 2,
			"AdaptiveAvgPool2DBackward0", nil),
		adaptiveAvgDef("_adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor", 3,
			"AdaptiveAvgPool3DBackward0", nil),
		adaptiveAvgBackwardDef("_adaptive_avg_pool2d_backward(Tensor grad_output, Tensor self) -> Tensor", 2,
			opsAdaptiveAvgLeaf[2]),
		adaptiveAvgBackwardDef("_adaptive_avg_pool3d_backward(Tensor grad_output, Tensor self) -> Tensor", 3,
			opsAdaptiveAvgLeaf[3]),
		adaptiveAvgBackwardDef("gotorch::adaptive_avg_pool1d_backward(Tensor grad_output, int[] size) -> Tensor", 1,
			avg[1]),
		adaptiveAvgBackwardDef("gotorch::adaptive_avg_pool2d_backward(Tensor grad_output, int[] size) -> Tensor", 2,
			opsAdaptiveAvgLeaf[2]),
		adaptiveAvgBackwardDef("gotorch::adaptive_avg_pool3d_backward(Tensor grad_output, int[] size) -> Tensor", 3,
			opsAdaptiveAvgLeaf[3]),
		adaptiveMaxDef("adaptive_max_pool1d(Tensor self, int[1] output_size) -> (Tensor, Tensor)", 1,
			"SqueezeBackward1", adaptiveMaxLineBody),
		adaptiveMaxDef("adaptive_max_pool2d(Tensor self, int[2] output_size) -> (Tensor, Tensor)", 2,
			"AdaptiveMaxPool2DBackward0", nil),
		adaptiveMaxDef("adaptive_max_pool3d(Tensor self, int[3] output_size) -> (Tensor, Tensor)", 3,
			"AdaptiveMaxPool3DBackward0", nil),
		indicesBackwardDef("adaptive_max_pool2d_backward(Tensor grad_output, Tensor self, Tensor indices) -> Tensor", 2,
			2),
		indicesBackwardDef("adaptive_max_pool3d_backward(Tensor grad_output, Tensor self, Tensor indices) -> Tensor", 3,
			2),
		{Schema: "F::adaptive_avg_pool1d(Tensor input, int[1] output_size) -> Tensor",
			Doc: "is the mean of windows that are placed so that output_size of them cover the input. Window i of " +
				"m over a size begins at floor(i·size/m) and ends before ceil((i+1)·size/m). Shapes: input [n, " +
				"c, L] or [c, L]; the spatial sizes become output_size." +
				"\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.adaptive_avg_pool1d.html",
			Body: avgBody(1)},
		{Schema: "F::adaptive_avg_pool1d.any(Tensor input, Any output_size) -> Tensor", Go: "-", Body: avgBody(1)},
		{Schema: "F::adaptive_avg_pool2d(Tensor input, int[2] output_size) -> Tensor",
			Doc: "is the mean of windows that are placed so that output_size of them cover the input. Window i of " +
				"m over a size begins at floor(i·size/m) and ends before ceil((i+1)·size/m). Shapes: input [n, " +
				"c, H, W] or [c, H, W]; the spatial sizes become output_size." +
				"\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.adaptive_avg_pool2d.html",
			Body: avgBody(2)},
		{Schema: "F::adaptive_avg_pool2d.any(Tensor input, Any output_size) -> Tensor", Go: "-", Body: avgBody(2)},
		{Schema: "F::adaptive_avg_pool3d(Tensor input, int[3] output_size) -> Tensor",
			Doc: "is the mean of windows that are placed so that output_size of them cover the input. Window i of " +
				"m over a size begins at floor(i·size/m) and ends before ceil((i+1)·size/m). Shapes: input [n, " +
				"c, D, H, W] or [c, D, H, W]; the spatial sizes become output_size." +
				"\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.adaptive_avg_pool3d.html",
			Body: avgBody(3)},
		{Schema: "F::adaptive_avg_pool3d.any(Tensor input, Any output_size) -> Tensor", Go: "-", Body: avgBody(3)},
		{Schema: "F::adaptive_max_pool1d(Tensor input, int[1] output_size, bool return_indices=False) -> Tensor",
			Doc: "is the maximum of windows that are placed so that output_size of them cover the input. Window i " +
				"of m over a size begins at floor(i·size/m) and ends before ceil((i+1)·size/m). Shapes: input " +
				"[n, c, L] or [c, L]; the spatial sizes become output_size." +
				"\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.adaptive_max_pool1d.html",
			Body: maxBody(1)},
		{Schema: "F::adaptive_max_pool1d.any(Tensor input, Any output_size, bool return_indices=False) -> Tensor",
			Go: "-", Body: maxBody(1)},
		{Schema: "F::adaptive_max_pool2d(Tensor input, int[2] output_size, bool return_indices=False) -> Tensor",
			Doc: "is the maximum of windows that are placed so that output_size of them cover the input. Window i " +
				"of m over a size begins at floor(i·size/m) and ends before ceil((i+1)·size/m). Shapes: input " +
				"[n, c, H, W] or [c, H, W]; the spatial sizes become output_size." +
				"\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.adaptive_max_pool2d.html",
			Body: maxBody(2)},
		{Schema: "F::adaptive_max_pool2d.any(Tensor input, Any output_size, bool return_indices=False) -> Tensor",
			Go: "-", Body: maxBody(2)},
		{Schema: "F::adaptive_max_pool3d(Tensor input, int[3] output_size, bool return_indices=False) -> Tensor",
			Doc: "is the maximum of windows that are placed so that output_size of them cover the input. Window i " +
				"of m over a size begins at floor(i·size/m) and ends before ceil((i+1)·size/m). Shapes: input " +
				"[n, c, D, H, W] or [c, D, H, W]; the spatial sizes become output_size." +
				"\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.adaptive_max_pool3d.html",
			Body: maxBody(3)},
		{Schema: "F::adaptive_max_pool3d.any(Tensor input, Any output_size, bool return_indices=False) -> Tensor",
			Go: "-", Body: maxBody(3)},
		{Schema: "F::adaptive_max_pool1d_with_indices(Tensor input, int[1] output_size, bool return_indices=False) -> (Tensor, Tensor)", Doc: "is AdaptiveMaxPool1d, and the position of each maximum in the flattened spatial dimensions of " +
			"the input. Window i of m over a size begins at floor(i·size/m) and ends before " +
			"ceil((i+1)·size/m). Shapes: input [n, c, L] or [c, L]; the spatial sizes become output_size." +
			"\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.adaptive_max_pool1d.html",
			Body: bothBody(1)},
		{Schema: "F::adaptive_max_pool1d_with_indices.any(Tensor input, Any output_size, bool return_indices=False) -> (Tensor, Tensor)", Go: "-", Body: bothBody(1)},
		{Schema: "F::adaptive_max_pool2d_with_indices(Tensor input, int[2] output_size, bool return_indices=False) -> (Tensor, Tensor)", Doc: "is AdaptiveMaxPool2d, and the position of each maximum in the flattened spatial dimensions of " +
			"the input. Window i of m over a size begins at floor(i·size/m) and ends before " +
			"ceil((i+1)·size/m). Shapes: input [n, c, H, W] or [c, H, W]; the spatial sizes become " +
			"output_size." +
			"\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.adaptive_max_pool2d.html",
			Body: bothBody(2)},
		{Schema: "F::adaptive_max_pool2d_with_indices.any(Tensor input, Any output_size, bool return_indices=False) -> (Tensor, Tensor)", Go: "-", Body: bothBody(2)},
		{Schema: "F::adaptive_max_pool3d_with_indices(Tensor input, int[3] output_size, bool return_indices=False) -> (Tensor, Tensor)", Doc: "is AdaptiveMaxPool3d, and the position of each maximum in the flattened spatial dimensions of " +
			"the input. Window i of m over a size begins at floor(i·size/m) and ends before " +
			"ceil((i+1)·size/m). Shapes: input [n, c, D, H, W] or [c, D, H, W]; the spatial sizes become " +
			"output_size." +
			"\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.adaptive_max_pool3d.html",
			Body: bothBody(3)},
		{Schema: "F::adaptive_max_pool3d_with_indices.any(Tensor input, Any output_size, bool return_indices=False) -> (Tensor, Tensor)", Go: "-", Body: bothBody(3)},
	} {
		tensor.Register(d)
	}
}
