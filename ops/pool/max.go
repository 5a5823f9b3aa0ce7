package pool

import (
	"math"

	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/ops/internal/half"
	"github.com/gotorch-dev/torch/tensor"
)

// lowest is what every element beats.
func lowest[E number]() E {
	var z E
	switch p := any(&z).(type) {
	case *float32:
		*p = float32(math.Inf(-1))
	case *float64:
		*p = math.Inf(-1)
	case *int64:
		*p = math.MinInt64
	case *int32:
		*p = math.MinInt32
	case *int16:
		*p = math.MinInt16
	case *int8:
		*p = math.MinInt8
	}
	return z
}

// span is the part of a window inside the input: n taps from first, dil apart.
func span(o, stride, pad, dil, k, size int) (first, end int) {
	first = o*stride - pad
	end = min(first+(k-1)*dil+1, size)
	for first < 0 {
		first += dil
	}
	return
}

func maxForward[E number](w *window, out []E, index []int64, in []E) {
	isz, osz := w.inSize(), w.outSize()
	w.each(func(p int) {
		src, dst, ix := in[p*isz:][:isz], out[p*osz:][:osz], index[p*osz:][:osz]
		i := 0
		for z := range w.out[0] {
			z0, z1 := span(z, w.stride[0], w.pad[0], w.dil[0], w.k[0], w.in[0])
			for y := range w.out[1] {
				y0, y1 := span(y, w.stride[1], w.pad[1], w.dil[1], w.k[1], w.in[1])
				for x := range w.out[2] {
					x0, x1 := span(x, w.stride[2], w.pad[2], w.dil[2], w.k[2], w.in[2])
					best := lowest[E]()
					at := (z0*w.in[1]+y0)*w.in[2] + x0
					for a := z0; a < z1; a += w.dil[0] {
						for b := y0; b < y1; b += w.dil[1] {
							row := (a*w.in[1] + b) * w.in[2]
							for c := x0; c < x1; c += w.dil[2] {
								if v := src[row+c]; v > best || v != v { // NaN wins, the last one
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

// maxIndices computes the maximum of every window and its position in the input's plane.
func (k *taps[E, S]) maxIndices(w *window, out, index, in *T, nd int) {
	if w.taps() > 256 { // more than codes can tell apart
		tensor.IntoFormat(index, tensor.ContiguousFormat,
			func(ix []int64) { into(out, func(d []E) { maxForward(w, d, ix, dense[E](in)) }) })
		return
	}
	ch, f := channels(in, nd)
	k.into(out, f, func(d []S) {
		tensor.IntoFormat(index, f, func(ix []int64) {
			k.maxTaps(w, ch, d, k.dense(in, f),
				func(at int, code []uint8) { tapIndices(w, ix[at:at+len(code)], ch, at, code) })
		})
	})
}

// scatter adds g[i] to d[index[i]] in every plane. The position of a window whose taps all lie in the padding is
// outside of it.
func scatter[E number](planes, isz, osz int, d, g []E, index []int64) {
	w := &window{planes: planes, in: [3]int{1, 1, isz}, out: [3]int{1, 1, osz}, k: [3]int{1, 1, 1}}
	w.each(func(p int) {
		dst := d[p*isz:][:isz]
		clear(dst)
		ix := index[p*osz:][:osz]
		for i, v := range g[p*osz:][:osz] {
			if at := ix[i]; uint64(at) < uint64(len(dst)) {
				dst[at] += v
			}
		}
	})
}

// pick sets d[i] to g[index[i]] in every plane: the reverse of scatter.
func pick[E number](planes, isz, osz int, d, g []E, index []int64) {
	w := &window{planes: planes, in: [3]int{1, 1, isz}, out: [3]int{1, 1, osz}, k: [3]int{1, 1, 1}}
	w.each(func(p int) {
		src := g[p*isz:][:isz]
		ix := index[p*osz:][:osz]
		dst := d[p*osz:][:osz]
		for i := range dst {
			if at := ix[i]; uint64(at) < uint64(len(src)) {
				dst[i] = src[at]
			} else { // a window in the padding
				dst[i] = 0
			}
		}
	})
}

// checkPlanes refuses shapes that do not agree in the dimensions before the last nd.
func checkPlanes(c *Ctx, a, b []int, nd int) {
	if n := len(a); nd < 1 || n < nd || len(b) != n || !tensor.SameShape(a[:n-nd], b[:n-nd]) {
		c.Fail(tensor.ErrShape, "expected shapes that differ in the last %d dimensions only, got %s and %s", nd,
			tensor.ShapeString(a), tensor.ShapeString(b))
	}
}

// gather runs pick on the planes of t.
func gather(c *Ctx, out, t, index *T, nd int) {
	planes, isz := spatial(t.Shape(), nd)
	_, osz := spatial(out.Shape(), nd)
	ix := tensor.Data[int64](tensor.Dense(index))
	onType(c, t.DType(),
		func() { into(out, func(d []float32) { pick(planes, isz, osz, d, dense[float32](t), ix) }) },
		func() { into(out, func(d []float64) { pick(planes, isz, osz, d, dense[float64](t), ix) }) },
		func() { into(out, func(d []int64) { pick(planes, isz, osz, d, dense[int64](t), ix) }) },
		func() { into(out, func(d []int32) { pick(planes, isz, osz, d, dense[int32](t), ix) }) },
		func() { into(out, func(d []int16) { pick(planes, isz, osz, d, dense[int16](t), ix) }) },
		func() { into(out, func(d []int8) { pick(planes, isz, osz, d, dense[int8](t), ix) }) },
		func() { into(out, func(d []uint8) { pick(planes, isz, osz, d, dense[uint8](t), ix) }) })
}

// spatial is the number of elements of the last nd dimensions, planes that of the others.
func spatial(sh []int, nd int) (planes, size int) {
	planes, size = 1, 1
	for i, s := range sh {
		if i < len(sh)-nd {
			planes *= s
		} else {
			size *= s
		}
	}
	return
}

// scatterRun is the backward pass of the poolings that return indices.
func scatterRun(c *Ctx, out, g, index *T, nd int) {
	onType(c, out.DType(), func() { scatterInto[float32](out, g, index, nd) },
		func() { scatterInto[float64](out, g, index, nd) },
		func() { scatterInto[int64](out, g, index, nd) }, func() { scatterInto[int32](out, g, index, nd) },
		func() { scatterInto[int16](out, g, index, nd) },
		func() { scatterInto[int8](out, g, index, nd) }, func() { scatterInto[uint8](out, g, index, nd) })
}

func scatterInto[E number](out, g, index *T, nd int) {
	planes, isz := spatial(out.Shape(), nd)
	_, osz := spatial(g.Shape(), nd)
	dt := tensor.DTypeOf[E]()
	if ch, f := channels(out, nd); ch > 0 {
		scatterLast(planes/ch, isz, osz, ch, out, tensor.Memory[E](tensor.DenseIn(g, f, dt)),
			tensor.Memory[int64](tensor.DenseIn(index, f, tensor.Int64)))
		return
	}
	into(out, func(d []E) { scatter(planes, isz, osz, d, dense[E](g), tensor.Data[int64](tensor.Dense(index))) })
}

// scatterLast is scatter for channels-last memory; elements of 16 bits are added up in float32, an image at a time.
func scatterLast[E number](images, isz, osz, ch int, out *T, g []E, index []int64) {
	size := isz * ch
	par.For(images, max(1, block/max(1, size, osz*ch)), func(lo, hi int) {
		var buf []float32
		var dst []E
		if out.DType().IsReduced() {
			b := half.Borrow[float32](size)
			defer half.Return(b)
			buf = *b
			dst = any(buf).([]E)
		}
		for n := lo; n < hi; n++ {
			if buf == nil {
				dst = tensor.Memory[E](out)[n*size:][:size]
			}
			clear(dst)
			for o := n * osz * ch; o < (n+1)*osz*ch; o += ch {
				ix := index[o:][:ch]
				for c, v := range g[o:][:ch] {
					if at := ix[c]; uint64(at) < uint64(isz) {
						dst[int(at)*ch+c] += v
					}
				}
			}
			if buf != nil {
				half.Store(out, n*size, buf)
			}
		}
	})
}

// maxWindow reads the arguments kernel_size, stride, padding, dilation, ceil_mode from position i on.
func maxWindow(c *Ctx, sh []int, nd, i int) *window {
	k := list(c, "kernel_size", c.Ints(i), nil, nd)
	return makeWindow(c, sh, nd, k, list(c, "stride", c.Ints(i+1), k, nd), list(c, "padding", c.Ints(i+2), nil, nd),
		list(c, "dilation", c.Ints(i+3), nil, nd), c.Bool(i+4))
}

// maxDef is max_poolNd_with_indices.
func maxDef(schema string, nd int, grad string, body func(c *Ctx)) tensor.Def {
	d := tensor.Def{
		Schema: schema,
		Doc: "is the maximum of each window and its position in the input's plane; NaN counts as the maximum. " +
			"Padding never wins." + site + "max_pool2d.html",
		Go: "-", Grad: grad, Body: body,
		Infer: func(c *Ctx) {
			w := checkMax(c, nd)
			out := resultShape(c.Shape(0), nd, w)
			allocLike(c, nd, 0, out, c.T(0), c.ArgDType(0))
			allocLike(c, nd, 1, out, c.T(0), tensor.Int64)
		},
		CPU: func(c *Ctx) {
			in, out := c.T(0), c.Out(0)
			w := maxWindow(c, in.Shape(), nd, 1)
			if out.Numel() == 0 {
				return
			}
			if in.DType().IsFloat() {
				poolerFor(c, in.DType()).maxIndices(w, out, c.Out(1), in, nd)
				return
			}
			index := c.Out(1)
			if !index.IsContiguous() {
				index = tensor.New(index.Shape(), tensor.Int64)
				defer func() { tensor.CopyRaw(c.Out(1), index) }()
			}
			ix := tensor.Data[int64](index)
			onType(c, in.DType(),
				nil, nil,
				func() { into(out, func(d []int64) { maxForward(w, d, ix, dense[int64](in)) }) },
				func() { into(out, func(d []int32) { maxForward(w, d, ix, dense[int32](in)) }) },
				func() { into(out, func(d []int16) { maxForward(w, d, ix, dense[int16](in)) }) },
				func() { into(out, func(d []int8) { maxForward(w, d, ix, dense[int8](in)) }) },
				func() { into(out, func(d []uint8) { maxForward(w, d, ix, dense[uint8](in)) }) })
		},
	}
	if body != nil { // PyTorch has no operator for this gradient
		d.Save = "result1"
		d.VJP = func(c *Ctx, g *T) []*T { return c.Grads1(call(opScatter, g, c.Out(1), c.Shape(0), nd)[0]) }
		return d
	}
	d.Save = "self result1"
	d.VJP = func(c *Ctx, g *T) []*T {
		return c.Grads1(call(opsMaxBackward[nd], g, c.T(0), c.Ints(1), c.Ints(2), c.Ints(3), c.Ints(4), c.Bool(5),
			c.Out(1))[0])
	}
	return d
}

func last3(v []int, def int) [3]int {
	a := [3]int{def, def, def}
	copy(a[3-len(v):], v)
	return a
}

// checkMax refuses arguments of max_poolNd_with_indices that make no sense.
func checkMax(c *Ctx, nd int) *window {
	sh := c.Shape(0)
	k := list(c, "kernel_size", c.Ints(1), nil, nd)
	st := list(c, "stride", c.Ints(2), k, nd)
	checkWindow(c, sh, nd, &window{k: last3(k, 1), stride: last3(st, 1),
		pad: last3(list(c, "padding", c.Ints(3), nil, nd), 0),
		dil: last3(list(c, "dilation", c.Ints(4), nil, nd), 1)})
	checkInput(c, sh, nd)
	w := maxWindow(c, sh, nd, 1)
	checkOutput(c, sh, nd, w)
	return w
}

// maxLineBody is max_pool1d_with_indices as PyTorch computes it: max_pool2d_with_indices of planes of one line.
func maxLineBody(c *Ctx) {
	checkMax(c, 1)
	r := call(opsMaxIndices[2], line(c), inLine(c, 1, 1), inLine(c, 2, 1), inLine(c, 3, 0), inLine(c, 4, 1), c.Bool(5))
	c.Return(r[0].SqueezeDim(-2), r[1].SqueezeDim(-2))
}

func init() {
	defs := []tensor.Def{
		maxDef("max_pool1d_with_indices(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], int[1] dilation=[1], bool ceil_mode=False) -> (Tensor, Tensor)", 1, "SqueezeBackward1", maxLineBody),
		maxDef("max_pool2d_with_indices(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)", 2, "MaxPool2DWithIndicesBackward0", nil),
		maxDef("max_pool3d_with_indices(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, int[3] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)", 3, "MaxPool3DWithIndicesBackward0", nil),
		indicesBackwardDef("max_pool2d_with_indices_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, int[2] padding, int[2] dilation, bool ceil_mode, Tensor indices) -> Tensor", 2, 7),
		indicesBackwardDef("max_pool3d_with_indices_backward(Tensor grad_output, Tensor self, int[3] kernel_size, int[3] stride, int[3] padding, int[3] dilation, bool ceil_mode, Tensor indices) -> Tensor", 3, 7),
		maxOnlyDef("max_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], int[1] dilation=[1], bool ceil_mode=False) -> Tensor", 1, "SqueezeBackward1"),
		maxOnlyDef("max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, bool ceil_mode=False) -> Tensor", 2, "MaxPool2DWithIndicesBackward0"),
		maxOnlyDef("max_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, int[3] dilation=1, bool ceil_mode=False) -> Tensor", 3, "MaxPool3DWithIndicesBackward0"),
		{Schema: "F::max_pool1d(Tensor input, int[1] kernel_size, int[1]? stride=None, int[1] padding=0, int[1] dilation=1, bool ceil_mode=False, bool return_indices=False) -> Tensor", Doc: "is the largest element of each window, or NaN where there is one; padding never wins. Shapes: " +
			"input [n, c, L] or [c, L]; each spatial size becomes (size + 2·padding - dilation·(k-1) - " +
			"1)/stride + 1, rounded down, or up with ceil_mode. The stride is kernel_size if it is not " +
			"given." +
			"\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.max_pool1d.html",
			Body: maxBody(1)},
		{Schema: "F::max_pool2d(Tensor input, int[2] kernel_size, int[2]? stride=None, int[2] padding=0, int[2] dilation=1, bool ceil_mode=False, bool return_indices=False) -> Tensor", Doc: "is the largest element of each window, or NaN where there is one; padding never wins. Shapes: " +
			"input [n, c, H, W] or [c, H, W]; each spatial size becomes (size + 2·padding - dilation·(k-1) - " +
			"1)/stride + 1, rounded down, or up with ceil_mode. The stride is kernel_size if it is not " +
			"given." +
			"\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.max_pool2d.html",
			Body: maxBody(2)},
		{Schema: "F::max_pool3d(Tensor input, int[3] kernel_size, int[3]? stride=None, int[3] padding=0, int[3] dilation=1, bool ceil_mode=False, bool return_indices=False) -> Tensor", Doc: "is the largest element of each window, or NaN where there is one; padding never wins. Shapes: " +
			"input [n, c, D, H, W] or [c, D, H, W]; each spatial size becomes (size + 2·padding - " +
			"dilation·(k-1) - 1)/stride + 1, rounded down, or up with ceil_mode. The stride is kernel_size " +
			"if it is not given." +
			"\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.max_pool3d.html",
			Body: maxBody(3)},
		{Schema: "F::max_pool1d_with_indices(Tensor input, int[1] kernel_size, int[1]? stride=None, int[1] padding=0, int[1] dilation=1, bool ceil_mode=False, bool return_indices=False) -> (Tensor, Tensor)", Doc: "is the largest element of each window, or NaN where there is one, and its position in the " +
			"flattened spatial dimensions of the input. Shapes: input [n, c, L] or [c, L]; each spatial size " +
			"becomes (size + 2·padding - dilation·(k-1) - 1)/stride + 1, rounded down, or up with ceil_mode. " +
			"The stride is kernel_size if it is not given." +
			"\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.max_pool1d.html",
			Body: indexBody(1)},
		{Schema: "F::max_pool2d_with_indices(Tensor input, int[2] kernel_size, int[2]? stride=None, int[2] padding=0, int[2] dilation=1, bool ceil_mode=False, bool return_indices=False) -> (Tensor, Tensor)", Doc: "is the largest element of each window, or NaN where there is one, and its position in the " +
			"flattened spatial dimensions of the input. Shapes: input [n, c, H, W] or [c, H, W]; each " +
			"spatial size becomes (size + 2·padding - dilation·(k-1) - 1)/stride + 1, rounded down, or up " +
			"with ceil_mode. The stride is kernel_size if it is not given." +
			"\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.max_pool2d.html",
			Body: indexBody(2)},
		{Schema: "F::max_pool3d_with_indices(Tensor input, int[3] kernel_size, int[3]? stride=None, int[3] padding=0, int[3] dilation=1, bool ceil_mode=False, bool return_indices=False) -> (Tensor, Tensor)", Doc: "is the largest element of each window, or NaN where there is one, and its position in the " +
			"flattened spatial dimensions of the input. Shapes: input [n, c, D, H, W] or [c, D, H, W]; each " +
			"spatial size becomes (size + 2·padding - dilation·(k-1) - 1)/stride + 1, rounded down, or up " +
			"with ceil_mode. The stride is kernel_size if it is not given." +
			"\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.max_pool3d.html",
			Body: indexBody(3)},
		{
			Schema: "gotorch::pool_gather(Tensor self, Tensor indices, int nd) -> Tensor",
			Doc:    "reads, in each plane of the last nd dimensions, the elements that indices names.",
			Go:     "-",
			Infer: func(c *Ctx) {
				checkPlanes(c, c.Shape(0), c.Shape(1), c.Int(2))
				c.Alloc(0, c.Shape(1), c.ArgDType(0))
			},
			CPU:  func(c *Ctx) { gather(c, c.Out(0), c.T(0), c.T(1), c.Int(2)) },
			Save: "indices",
			VJP: func(c *Ctx, g *T) []*T {
				return []*T{call(opScatter, g, c.T(1), c.Shape(0), c.Int(2))[0], nil}
			},
		},
		{
			Schema: "gotorch::pool_scatter_add(Tensor self, Tensor indices, int[] size, int nd) -> Tensor",
			Doc: "adds, in each plane of the last nd dimensions, the elements of self to zeros of the given size, " +
				"at indices.",
			Go: "-",
			Infer: func(c *Ctx) {
				checkPlanes(c, c.Ints(2), c.Shape(1), c.Int(3))
				if !tensor.SameShape(c.Shape(0), c.Shape(1)) {
					c.Fail(tensor.ErrShape, "expected self and indices of one shape, got %s and %s",
						tensor.ShapeString(c.Shape(0)), tensor.ShapeString(c.Shape(1)))
				}
				allocLike(c, c.Int(3), 0, c.Ints(2), c.T(1), c.ArgDType(0))
			},
			CPU:  func(c *Ctx) { scatterRun(c, c.Out(0), c.T(0), c.T(1), c.Int(3)) },
			Save: "indices",
			VJP:  func(c *Ctx, g *T) []*T { return []*T{call(opGather, g, c.T(1), c.Int(3))[0], nil} },
		},
	}
	for _, d := range defs {
		tensor.Register(d)
	}
}

const maxDoc = "is the maximum of each window of an input [n, c, ...] or [c, ...]; the stride defaults to the " +
	"kernel's size." + site + "max_pool2d.html"

var (
	opsMax         = slots("aten::max_pool%dd")
	opsMaxIndices  = slots("aten::max_pool%dd_with_indices")
	opsMaxBackward = slots("aten::max_pool%dd_with_indices_backward")
	opGather       = tensor.Slot("gotorch::pool_gather")
	opScatter      = tensor.Slot("gotorch::pool_scatter_add")
)

// windowed calls an operator with the arguments of a maximum pooling.
func windowed(c *Ctx, op *tensor.Op) []*T {
	return call(op, c.T(0), c.Ints(1), append([]int{}, c.Ints(2)...), c.Ints(3), c.Ints(4), c.Bool(5))
}

// maxBody is F.max_poolNd.
func maxBody(nd int) func(c *Ctx) {
	return func(c *Ctx) {
		if c.Bool(6) {
			c.Return(windowed(c, opsMaxIndices[nd])...)
			return
		}
		c.Return(windowed(c, opsMax[nd])[0])
	}
}

func indexBody(nd int) func(c *Ctx) {
	return func(c *Ctx) { c.Return(windowed(c, opsMaxIndices[nd])...) }
}
