package reduce

import (
	"math"

	ox "github.com/gotorch-dev/torch/internal/onnxform"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	one := func(f func(c *ox.Call) *ox.Value, ops ...string) { ox.Register(ox.One(f), ops...) }
	in := func(c *ox.Call) *ox.Value { return c.Cast(c.T(0), c.OutType(0)) }
	for name, op := range map[string]string{"sum": "ReduceSum", "mean": "ReduceMean", "prod": "ReduceProd"} {
		one(func(c *ox.Call) *ox.Value { return c.Reduce(op, in(c), nil, false) }, "aten::"+name)
		dim := "dim"
		switch name {
		case "sum":
			dim = "dim_IntList"
		case "prod":
			dim = "dim_int"
		}
		one(func(c *ox.Call) *ox.Value { return c.Reduce(op, in(c), c.Ints(1), c.Bool(2)) }, "aten::"+name+"."+dim)
	}
	for name, op := range map[string]string{"amax": "ReduceMax", "amin": "ReduceMin"} {
		one(func(c *ox.Call) *ox.Value { return c.Reduce(op, numeric(c, 0), c.Ints(1), c.Bool(2)) }, "aten::"+name)
	}
	for name, op := range map[string]string{"max": "Max", "min": "Min"} {
		one(func(c *ox.Call) *ox.Value { return c.Reduce("Reduce"+op, numeric(c, 0), nil, false) }, "aten::"+name)
		ox.Register(func(c *ox.Call) []*ox.Value {
			x := numeric(c, 0)
			i := c.Node("Arg"+op, ox.A{"axis": c.Int(1), "keepdims": c.Bool(2)}, x).Typed(tensor.Int64)
			return []*ox.Value{c.Reduce("Reduce"+op, x, []int{c.Int(1)}, c.Bool(2)), i}
		}, "aten::"+name+".dim")
		one(func(c *ox.Call) *ox.Value { // self, dim, keepdim
			x := numeric(c, 0)
			if !c.Has(1) {
				x = c.Reshape(x, -1)
				return c.Node("Arg"+op, ox.A{"axis": 0, "keepdims": 0}, x).Typed(tensor.Int64)
			}
			return c.Node("Arg"+op, ox.A{"axis": c.Int(1), "keepdims": c.Bool(2)}, x).Typed(tensor.Int64)
		}, "aten::arg"+name)
	}
	for name, op := range map[string]string{"any": "ReduceMax", "all": "ReduceMin"} {
		f := func(c *ox.Call) *ox.Value {
			x := c.Cast(c.Cast(c.T(0), tensor.Bool), tensor.Int32)
			return c.Cast(c.Reduce(op, x, c.Ints(1), c.Bool(2)), tensor.Bool)
		}
		one(f, "aten::"+name, "aten::"+name+".dim", "aten::"+name+".dims")
	}
	one(func(c *ox.Call) *ox.Value { return c.Reduce("ReduceLogSumExp", in(c), c.Ints(1), c.Bool(2)) },
		"aten::logsumexp")
	exportMoments(one)
	exportNorms(one)
	one(func(c *ox.Call) *ox.Value { // x1, x2, p, eps, keepdim
		d := c.Node("Add", nil, c.Node("Sub", nil, c.T(0), c.T(1)), c.Num(3, c.OutType(0)))
		return norm(c, d, c.Float(2), []int{-1}, c.Bool(4))
	}, "aten::pairwise_distance")
	one(func(c *ox.Call) *ox.Value { // x1, x2, dim, eps: each norm is at least eps
		dim := []int{c.Int(2)}
		dot := c.Reduce("ReduceSum", c.Node("Mul", nil, c.T(0), c.T(1)), dim, false)
		length := func(i int) *ox.Value {
			return c.Node("Max", nil, c.Reduce("ReduceL2", c.T(i), dim, false), c.Num(3, c.OutType(0)))
		}
		return c.Node("Div", nil, dot, c.Node("Mul", nil, length(0), length(1)))
	}, "aten::cosine_similarity")
	one(func(c *ox.Call) *ox.Value { // the distances of all pairs of rows
		a, b := c.Unsqueeze(c.T(0), -2), c.Unsqueeze(c.T(1), -3)
		return norm(c, c.Node("Sub", nil, a, b), c.Float(2), []int{-1}, false)
	}, "aten::cdist")
}

// numeric is an argument in a dtype that ONNX's ReduceMax and ArgMax take.
func numeric(c *ox.Call, i int) *ox.Value {
	x := c.T(i)
	if x.DType == tensor.Bool {
		return c.Cast(x, tensor.Int32)
	}
	return x
}

// exportMoments writes variances: the sum of squares of deviations over n - correction.
func exportMoments(one func(f func(c *ox.Call) *ox.Value, ops ...string)) {
	variance := func(c *ox.Call, dims []int, correction float64, keep bool) *ox.Value {
		x := c.T(0)
		rank := c.Rank(x)
		if len(dims) == 0 {
			for i := range rank {
				dims = append(dims, i)
			}
		}
		d := c.Node("Sub", nil, x, c.Reduce("ReduceMean", x, dims, true))
		square := c.Node("Mul", nil, d, d)
		if correction == 0 {
			return c.Reduce("ReduceMean", square, dims, keep)
		}
		n := c.Scalar(1, x.DType)
		for _, i := range dims {
			n = times(c, n, c.Cast(c.Int0(c.SizeOf(x, i)), x.DType))
		}
		if n.Folds() {
			n = c.Scalar(n.Const.Item()-correction, x.DType)
		} else {
			n = c.Node("Sub", nil, n, c.Scalar(correction, x.DType))
		}
		return c.Node("Div", nil, c.Reduce("ReduceSum", square, dims, keep), n)
	}
	unbiased := func(c *ox.Call, i int) float64 {
		if c.Bool(i) {
			return 1
		}
		return 0
	}
	forms := map[string]func(c *ox.Call) *ox.Value{
		"":     func(c *ox.Call) *ox.Value { return variance(c, nil, unbiased(c, 1), false) },
		".dim": func(c *ox.Call) *ox.Value { return variance(c, c.Ints(1), unbiased(c, 2), c.Bool(3)) },
		".correction": func(c *ox.Call) *ox.Value {
			correction := 1.0
			if c.Has(2) {
				correction = c.Float(2)
			}
			return variance(c, c.Ints(1), correction, c.Bool(3))
		},
	}
	for overload, f := range forms {
		one(f, "aten::var"+overload)
		one(func(c *ox.Call) *ox.Value { return c.Node("Sqrt", nil, f(c)) }, "aten::std"+overload)
		mean := func(c *ox.Call) *ox.Value {
			keep := overload != "" && c.Bool(3)
			var dims []int
			if overload != "" {
				dims = c.Ints(1)
			}
			return c.Reduce("ReduceMean", c.T(0), dims, keep)
		}
		ox.Register(func(c *ox.Call) []*ox.Value { return []*ox.Value{f(c), mean(c)} }, "aten::var_mean"+overload)
		ox.Register(func(c *ox.Call) []*ox.Value {
			return []*ox.Value{c.Node("Sqrt", nil, f(c)), mean(c)}
		}, "aten::std_mean"+overload)
	}
}

func times(c *ox.Call, a, b *ox.Value) *ox.Value {
	if a.Folds() && b.Folds() {
		return c.Scalar(a.Const.Item()*b.Const.Item(), a.DType)
	}
	return c.Node("Mul", nil, a, b)
}

// norm is the p-norm over some dimensions.
func norm(c *ox.Call, x *ox.Value, p float64, dims []int, keep bool) *ox.Value {
	switch {
	case p == 1:
		return c.Reduce("ReduceL1", x, dims, keep)
	case p == 2:
		return c.Reduce("ReduceL2", x, dims, keep)
	case math.IsInf(p, 1):
		return c.Reduce("ReduceMax", c.Node("Abs", nil, x), dims, keep)
	case math.IsInf(p, -1):
		return c.Reduce("ReduceMin", c.Node("Abs", nil, x), dims, keep)
	case p == 0:
		other := c.Cast(c.Node("Not", nil, c.Node("Equal", nil, x, c.Scalar(0, x.DType)).Typed(tensor.Bool)), x.DType)
		return c.Reduce("ReduceSum", other, dims, keep)
	}
	s := c.Reduce("ReduceSum", c.Node("Pow", nil, c.Node("Abs", nil, x), c.Scalar(p, x.DType)), dims, keep)
	return c.Node("Pow", nil, s, c.Scalar(1/p, x.DType))
}

func exportNorms(one func(f func(c *ox.Call) *ox.Value, ops ...string)) {
	p := func(c *ox.Call) float64 {
		if !c.Has(1) {
			return 2
		}
		return c.Float(1)
	}
	one(func(c *ox.Call) *ox.Value { return norm(c, c.T(0), p(c), nil, false) }, "aten::norm.Scalar")
	one(func(c *ox.Call) *ox.Value {
		return norm(c, c.Cast(c.T(0), c.OutType(0)), p(c), c.Ints(2), c.Bool(3))
	}, "aten::norm.ScalarOpt_dim", "aten::norm.ScalarOpt_dim_dtype", "aten::linalg_vector_norm")
}
