package onnx

import (
	"math"

	"github.com/gotorch-dev/torch/internal/onnxpb"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	m := map[string]rule{"ArgMax": argExtremum("aten::argmax"), "ArgMin": argExtremum("aten::argmin")}
	for _, k := range []string{"L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare"} {
		m["Reduce"+k] = reduce(k)
	}
	define("", m)

	helper("reduce(Tensor x, int[]? axes, bool keepdims, bool noop, str kind) -> Tensor", func(a args) any {
		x, axes := a.T(0), a.ints(1)
		var all []int
		if len(axes) == 0 {
			if all = axesOr("Reduce", nil, x.Dim()); a.bool(3) {
				all = nil
			}
		} else {
			all = axesOr("Reduce", axes, x.Dim())
		}
		return reduceTensor(x, all, a.bool(2), a.str(4))
	})
	helper("arg_last(Tensor x, int axis, bool keepdims, str op) -> Tensor", func(a args) any {
		x := a.T(0)
		axis := dim("ArgMax", a.int(1), x.Dim())
		i := call(a.str(3), x.Flip([]int{axis}), axis, a.bool(2))
		return i.Neg().AddScalar(x.Size(axis) - 1)
	})
}

// reduceTensor reduces over axes; none leaves the shape as it is. Integers keep their dtype.
func reduceTensor(x *T, axes []int, keep bool, kind string) *T {
	dt := x.DType()
	sum := func(x *T) *T {
		if len(axes) == 0 {
			return x
		}
		return call("aten::sum.dim_IntList", x, axes, keep, x.DType())
	}
	float := func(x *T) *T {
		if dt.IsInt() {
			return x.ToDType(tensor.Float64)
		}
		return x
	}
	switch kind {
	case "Sum":
		return sum(x)
	case "SumSquare":
		return sum(x.Mul(x))
	case "L1":
		return sum(x.Abs())
	case "L2":
		return sum(float(x).Mul(float(x))).Sqrt().ToDType(dt)
	case "LogSum":
		return sum(float(x)).Log().ToDType(dt)
	case "LogSumExp":
		if len(axes) == 0 {
			return x
		}
		return call("aten::logsumexp", float(x), axes, keep).ToDType(dt)
	case "Mean":
		if len(axes) == 0 {
			return x
		}
		return call("aten::mean.dim", float(x), axes, keep).ToDType(dt)
	case "Prod":
		for i := len(axes) - 1; i >= 0; i-- {
			x = call("aten::prod.dim_int", x, axes[i], true, dt)
		}
		if !keep && len(axes) > 0 {
			x = x.SqueezeDims(axes)
		}
		return x
	}
	if len(axes) == 0 {
		return x
	}
	empty := false
	for _, d := range axes {
		empty = empty || x.Size(d) == 0
	}
	if empty { // the limit of an empty set
		y := call("aten::sum.dim_IntList", x.ToDType(tensor.Float32), axes, keep)
		return y.FullLike(neutral(dt, kind), tensor.FullLikeOptions{DType: dt})
	}
	if kind == "Max" {
		return call("aten::amax", x, axes, keep)
	}
	return call("aten::amin", x, axes, keep)
}

// neutral is the maximum or minimum of no elements.
func neutral(dt tensor.DType, kind string) tensor.Scalar {
	switch {
	case dt == tensor.Bool:
		return kind == "Min"
	case dt.IsInt() && kind == "Max":
		return int(tensor.IInfo(dt).Min)
	case dt.IsInt():
		return int(tensor.IInfo(dt).Max)
	case kind == "Max":
		return math.Inf(-1)
	}
	return math.Inf(1)
}

// reduce takes its axes from an attribute until version 17 (ReduceSum: 12), from an input afterwards.
func reduce(kind string) rule {
	since := 18
	if kind == "Sum" {
		since = 13
	}
	return func(n *node) []*value {
		x, axes := n.T(0), n.axes(1, since)
		keep := n.bool("keepdims", true)
		v := n.like(nil)
		if keep {
			v.rank = x.rank
		}
		if l, ok := axes.([]int); ok && len(l) > 0 && (kind == "Sum" || kind == "Mean") && !isInteger(x.elem) &&
			x.elem != 0 {
			if !keep && x.rank >= 0 {
				v.rank = x.rank - len(l)
			}
			v.g = n.call(map[string]string{"Sum": "aten::sum.dim_IntList", "Mean": "aten::mean.dim"}[kind], x, l, keep)
			return one(v)
		}
		v.g = n.call("onnx::reduce", x, axes, keep, n.bool("noop_with_empty_axes", false), kind)
		return one(v)
	}
}

func argExtremum(op string) rule {
	return func(n *node) []*value {
		x, axis, keep := n.T(0), n.int("axis", 0), n.bool("keepdims", true)
		v := n.tensor(nil, onnxpb.Int64)
		if keep {
			v.rank = x.rank
		}
		if n.bool("select_last_index", false) {
			v.g = n.call("onnx::arg_last", x, axis, keep, op)
		} else {
			v.g = n.call(op, x, axis, keep)
		}
		return one(v)
	}
}
