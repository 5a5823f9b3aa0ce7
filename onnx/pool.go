package onnx

import (
	"math"
	"slices"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/onnxpb"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	define("", map[string]rule{
		"AveragePool":       averagePool,
		"GlobalAveragePool": globalPool("mean"),
		"GlobalLpPool":      globalPool("lp"),
		"GlobalMaxPool":     globalPool("max"),
		"LpPool":            func(n *node) []*value { return one(n.pool("lp", float64(n.int("p", 2)), false)) },
		"MaxPool":           maxPool,
		"MaxUnpool":         maxUnpool,
	})

	helper("pool(Tensor x, str kind, float p, bool include, int[] kernel, int[] strides, int[] pads, int[] dilations, "+
		"bool ceil, str auto, bool columns) -> (Tensor, Tensor)", func(a args) any {
		w := poolWindows{kind: a.str(1), p: a.float(2), include: a.bool(3), kernel: a.ints(4), strides: a.ints(5),
			pads: a.ints(6), dilations: a.ints(7), ceil: a.bool(8), columns: a.bool(10)}
		y, at := w.run(a.T(0), a.str(9))
		return []any{y, at}
	})
	helper("global_pool(Tensor x, str kind, float p) -> Tensor", func(a args) any {
		x := a.T(0)
		if x.Dim() < 3 {
			wrong("GlobalPool", "a tensor with %d dimensions, want at least 3", x.Dim())
		}
		axes := axesOr("", nil, x.Dim())[2:]
		switch a.str(1) {
		case "mean":
			return call("aten::mean.dim", x, axes, true)
		case "max":
			return call("aten::amax", x, axes, true)
		}
		p := a.float(2)
		return call("aten::linalg_vector_norm", x, p, axes, true)
	})
	helper("unpool(Tensor x, Tensor index, int[] kernel, int[] strides, int[] pads, int[]? size) -> Tensor",
		func(a args) any {
			x, kernel, strides, pads, want := a.T(0), a.ints(2), a.ints(3), a.ints(4), a.ints(5)
			k := len(kernel)
			if x.Dim() != k+2 {
				wrong("MaxUnpool", "a tensor of shape %v with a kernel %v", x.Shape(), kernel)
			}
			shape := slices.Clone(x.Shape())
			for i := range k {
				shape[i+2] = (shape[i+2]-1)*strides[i] + kernel[i] - pads[i] - pads[i+k]
			}
			checkSizes("MaxUnpool", shape)
			y := x.NewZeros([]int{product(shape)}).Scatter(0, a.T(1).Reshape([]int{-1}), x.Reshape([]int{-1}))
			y = y.Reshape(shape)
			if want != nil { // positions count in the smaller image
				if len(want) != k+2 {
					wrong("MaxUnpool", "output_shape %v", want)
				}
				more := make([]int, 2*k)
				for i := range k {
					more[i+k] = want[i+2] - shape[i+2]
				}
				y = padSpatial(y, more, 0)
			}
			return y
		})
}

// poolWindows computes pools in the forms that PyTorch has not: padding that differs at the two ends, dilated averages,
// p-norms, positions counted over the whole tensor. It goes over the places of the kernel, of which each gives a
// strided view of the input.
type poolWindows struct {
	kind                             string // max, mean, lp
	p                                float64
	include                          bool // count padding in means
	kernel, strides, pads, dilations []int
	ceil                             bool
	columns                          bool // positions in column-major order
}

func (w *poolWindows) run(x *T, auto string) (y, at *T) {
	k := len(w.kernel)
	if x.Dim() != k+2 {
		wrong("Pool", "a tensor of shape %v with a kernel %v", x.Shape(), w.kernel)
	}
	sizes := x.Shape()[2:]
	pads := w.pads
	if auto == "SAME_UPPER" || auto == "SAME_LOWER" {
		pads = samePads(sizes, w.kernel, w.strides, w.dilations, auto == "SAME_UPPER")
	}
	out, extra := make([]int, k), make([]int, 2*k)
	for i := range k {
		reach := (w.kernel[i]-1)*w.dilations[i] + 1
		room := sizes[i] + pads[i] + pads[i+k] - reach
		if room < 0 {
			wrong("Pool", "a kernel that reaches over %d of %d elements", reach, sizes[i]+pads[i]+pads[i+k])
		}
		out[i] = room/w.strides[i] + 1
		if w.ceil && room%w.strides[i] != 0 && out[i]*w.strides[i] < sizes[i]+pads[i] {
			out[i]++ // the last window begins in the input or the padding before it
		}
		extra[i] = pads[i]
		extra[i+k] = max(0, (out[i]-1)*w.strides[i]+reach-sizes[i]-pads[i])
	}
	var fill tensor.Scalar = 0.0
	if w.kind == "max" {
		fill = neutral(x.DType(), "Max")
	}
	if w.kind == "lp" {
		x = x.Abs().PowScalar(w.p)
	}
	padded := padSpatial(x, extra, fill)
	places := product(w.kernel)
	view := func(t *T, place int) *T {
		for i := k - 1; i >= 0; i-- {
			from := place % w.kernel[i] * w.dilations[i]
			place /= w.kernel[i]
			t = call("aten::slice.Tensor", t, i+2, from, from+(out[i]-1)*w.strides[i]+1, w.strides[i])
		}
		return t
	}
	switch w.kind {
	case "max":
		index := w.positions(x.Shape(), extra)
		for p := range places {
			v, i := view(padded, p), view(index, p).ExpandAs(view(padded, p))
			if y == nil {
				y, at = v, i
				continue
			}
			more := v.Gt(y).LogicalOr(at.LtScalar(0).LogicalAnd(i.GeScalar(0)).LogicalAnd(v.Ge(y)))
			y, at = v.Where(more, y), i.Where(more, at)
		}
		return y.Contiguous(), at.Contiguous()
	case "lp":
		for p := range places {
			if v := view(padded, p); y == nil {
				y = v
			} else {
				y = y.Add(v)
			}
		}
		return y.PowScalar(1 / w.p), x
	}
	count := call("aten::ones", append([]int{1, 1}, sizes...), x.DType())
	if w.include { // padding counts, what the last windows reach beyond it does not
		count = padSpatial(count, pads, 1.0)
		more := make([]int, 2*k)
		for i := range k {
			more[i+k] = max(0, extra[i+k]-pads[i+k])
		}
		count = padSpatial(count, more, 0.0)
	} else {
		count = padSpatial(count, extra, 0.0)
	}
	var n *T
	for p := range places {
		v, c := view(padded, p), view(count, p)
		if y == nil {
			y, n = v, c
		} else {
			y, n = y.Add(v), n.Add(c)
		}
	}
	return y.Div(n), x
}

// positions numbers the elements of a tensor, -1 in the padding.
func (w *poolWindows) positions(shape, pads []int) *T {
	x := call("aten::arange", product(shape))
	if w.columns { // the first spatial dimension counts fastest
		k := len(shape) - 2
		turned := slices.Clone(shape)
		slices.Reverse(turned[2:])
		perm := []int{0, 1}
		for i := range k {
			perm = append(perm, len(shape)-1-i)
		}
		x = x.Reshape(turned).Permute(perm)
	} else {
		x = x.Reshape(shape)
	}
	return padSpatial(x, pads, -1)
}

// pool is a pool in its general form.
func (n *node) pool(kind string, p float64, include bool) *value { return n.pools(kind, p, include)[0] }

func (n *node) pools(kind string, p float64, include bool) []*value {
	kernel := n.ints("kernel_shape")
	if len(kernel) == 0 {
		fail("%w: attribute \"kernel_shape\" is missing", onnxpb.ErrFormat)
	}
	w := n.windows(kernel)
	out := n.calls("onnx::pool", n.T(0), kind, p, include, w.kernel, w.strides, w.pads, w.dilations,
		n.bool("ceil_mode", false), w.auto, n.int("storage_order", 0) != 0)
	at := n.tensor(out[1], onnxpb.Int64)
	return []*value{n.same(out[0]), at}
}

// fits reports that PyTorch's pools take the padding: the same at both ends, and no more than half of the kernel.
func (w *windows) fits() bool {
	if w.k > 3 || !w.symmetric() {
		return false
	}
	for i := range w.k {
		if 2*w.pads[i] > w.kernel[i] {
			return false
		}
	}
	return true
}

func maxPool(n *node) []*value {
	kernel := n.ints("kernel_shape")
	if len(kernel) == 0 {
		fail("%w: attribute \"kernel_shape\" is missing", onnxpb.ErrFormat)
	}
	w := n.windows(kernel)
	ceil := n.bool("ceil_mode", false)
	if n.wants(1) || w.k > 3 || isInteger(n.T(0).elem) {
		return n.pools("max", 0, false)
	}
	x, pads := any(n.T(0)), []int(nil)
	if w.fits() {
		pads = w.pads[:w.k]
	} else {
		if ceil {
			return n.pools("max", 0, false)
		}
		sym := w
		if sym.symmetric() { // too much for PyTorch, so it is added before
			sym.pads = slices.Clone(w.pads)
			var torch []int
			for i := w.k - 1; i >= 0; i-- {
				torch = append(torch, w.pads[i], w.pads[i+w.k])
			}
			x, pads = n.call("aten::constant_pad_nd", x, torch, math.Inf(-1)), make([]int, w.k)
		} else {
			x, pads = n.padded(x, &w, math.Inf(-1))
		}
	}
	op := [...]string{"aten::max_pool1d", "aten::max_pool2d", "aten::max_pool3d"}[w.k-1]
	return one(n.same(n.call(op, x, w.kernel, w.strides, pads, w.dilations, ceil)))
}

func averagePool(n *node) []*value {
	kernel := n.ints("kernel_shape")
	if len(kernel) == 0 {
		fail("%w: attribute \"kernel_shape\" is missing", onnxpb.ErrFormat)
	}
	w := n.windows(kernel)
	include := n.bool("count_include_pad", false)
	if !w.fits() || slices.ContainsFunc(w.dilations, func(d int) bool { return d != 1 }) {
		return one(n.pool("mean", 0, include))
	}
	op := [...]string{"aten::avg_pool1d", "aten::avg_pool2d", "aten::avg_pool3d"}[w.k-1]
	return one(n.same(n.call(op, n.T(0), w.kernel, w.strides, w.pads[:w.k], n.bool("ceil_mode", false), include)))
}

func globalPool(kind string) rule {
	return func(n *node) []*value {
		x := n.T(0)
		var g *graph.Value
		switch {
		case kind == "mean" && x.rank == 4:
			g = n.call("aten::adaptive_avg_pool2d", x, []int{1, 1})
		default:
			g = n.call("onnx::global_pool", x, kind, float64(n.int("p", 2)))
		}
		return one(n.same(g))
	}
}

// maxUnpool puts elements at the positions that MaxPool has told.
func maxUnpool(n *node) []*value {
	kernel := n.ints("kernel_shape")
	if len(kernel) == 0 {
		fail("%w: attribute \"kernel_shape\" is missing", onnxpb.ErrFormat)
	}
	w := n.windows(kernel)
	return one(n.same(n.call("onnx::unpool", n.T(0), n.T(1), w.kernel, w.strides, w.pads, n.intList(2))))
}
