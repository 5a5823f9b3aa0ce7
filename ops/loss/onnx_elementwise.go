package loss

import (
	"math"

	ox "github.com/gotorch-dev/torch/internal/onnxform"
	"github.com/gotorch-dev/torch/tensor"
)

// Losses of which ONNX has no operator are written out, from the formulas of this folder.

// form writes one loss: arithmetic of values of one dtype, for which plain numbers may stand.
type form struct {
	c  *ox.Call
	dt tensor.DType
}

func (f form) arg(i int) *ox.Value { return f.c.Cast(f.c.T(i), f.dt) }

func (f form) of(x any) *ox.Value {
	if v, ok := x.(*ox.Value); ok {
		return v
	}
	return f.c.Scalar(x.(float64), f.dt)
}

func (f form) bin(op string, a, b any) *ox.Value { return f.c.Node(op, nil, f.of(a), f.of(b)) }
func (f form) add(a, b any) *ox.Value            { return f.bin("Add", a, b) }
func (f form) sub(a, b any) *ox.Value            { return f.bin("Sub", a, b) }
func (f form) mul(a, b any) *ox.Value            { return f.bin("Mul", a, b) }
func (f form) max(a, b any) *ox.Value            { return f.bin("Max", a, b) }
func (f form) one(op string, a any) *ox.Value    { return f.c.Node(op, nil, f.of(a)) }

// where chooses by a comparison: Equal, Less, Greater, …
func (f form) where(compare string, a, b, then, otherwise any) *ox.Value {
	is := f.bin(compare, a, b).Typed(tensor.Bool)
	return f.c.Node("Where", nil, is, f.of(then), f.of(otherwise)).Typed(f.dt)
}

// softplus is log(1 + exp(x)).
func (f form) softplus(x any) *ox.Value { return f.one("Softplus", x) }

// distance is the norm of x - y along the last dimension, as pairwise_distance takes it.
func (f form) distance(x, y *ox.Value, p, eps float64) *ox.Value {
	d := f.add(f.sub(x, y), eps)
	last := []int{f.c.Rank(x) - 1}
	switch p {
	case 1:
		return f.c.Reduce("ReduceL1", d, last, false)
	case 2:
		return f.c.Reduce("ReduceL2", d, last, false)
	}
	if p <= 0 || math.IsInf(p, 0) {
		f.c.Fail("a distance of the norm %v", p)
	}
	return f.bin("Pow", f.c.Reduce("ReduceSum", f.bin("Pow", f.one("Abs", d), p), last, false), 1/p)
}

func init() {
	// define adds the form of a loss whose argument how is the reduction.
	define := func(op string, how int, write func(f form) *ox.Value) {
		ox.Register(ox.One(func(c *ox.Call) *ox.Value {
			return reducedForm(c, write(form{c, c.OutType(0)}), how)
		}), op)
	}
	define("aten::smooth_l1_loss", 2, func(f form) *ox.Value {
		d, beta := f.one("Abs", f.sub(f.arg(0), f.arg(1))), f.c.Float(3)
		if beta == 0 {
			return d
		}
		return f.where("Less", d, beta, f.mul(f.mul(d, d), 0.5/beta), f.sub(d, 0.5*beta))
	})
	define("aten::huber_loss", 2, func(f form) *ox.Value {
		d, delta := f.one("Abs", f.sub(f.arg(0), f.arg(1))), f.c.Float(3)
		return f.where("Greater", d, delta, f.mul(f.sub(d, 0.5*delta), delta), f.mul(f.mul(d, d), 0.5))
	})
	define("aten::kl_div", 2, func(f form) *ox.Value {
		x, t := f.arg(0), f.arg(1)
		if f.c.Bool(3) {
			return f.mul(f.one("Exp", t), f.sub(t, x))
		}
		entropy := f.where("Equal", t, 0.0, 0.0, f.mul(t, f.one("Log", t)))
		return f.sub(entropy, f.mul(t, x))
	})
	define("aten::hinge_embedding_loss", 3, func(f form) *ox.Value {
		x, t := f.arg(0), f.arg(1)
		apart := f.where("Equal", t, 1.0, 0.0, f.max(f.sub(f.c.Float(2), x), 0.0))
		return f.add(apart, f.where("Equal", t, -1.0, 0.0, x))
	})
	define("aten::poisson_nll_loss", 5, func(f form) *ox.Value {
		x, t := f.arg(0), f.arg(1)
		var y *ox.Value
		if f.c.Bool(2) {
			y = f.sub(f.one("Exp", x), f.mul(t, x))
		} else {
			y = f.sub(x, f.mul(t, f.one("Log", f.add(x, f.c.Float(4)))))
		}
		if !f.c.Bool(3) {
			return y
		}
		stirling := f.add(f.sub(f.mul(t, f.one("Log", t)), t), f.mul(f.one("Log", f.mul(t, 2*math.Pi)), 0.5))
		return f.add(y, f.where("Greater", t, 1.0, stirling, 0.0))
	})
	define("aten::binary_cross_entropy", 3, func(f form) *ox.Value {
		x, t := f.arg(0), f.arg(1)
		logOf := func(p any) *ox.Value { return f.max(f.one("Log", p), -100.0) }
		y := f.sub(f.mul(f.sub(t, 1.0), logOf(f.sub(1.0, x))), f.mul(t, logOf(x)))
		if f.c.Has(2) {
			y = f.mul(y, f.arg(2))
		}
		return y
	})
	define("aten::binary_cross_entropy_with_logits", 4, func(f form) *ox.Value {
		x, t := f.arg(0), f.arg(1)
		y := f.softplus(f.one("Neg", x))
		if f.c.Has(3) {
			y = f.mul(y, f.add(f.mul(f.sub(f.arg(3), 1.0), t), 1.0))
		}
		if y = f.add(f.mul(f.sub(1.0, t), x), y); f.c.Has(2) {
			y = f.mul(y, f.arg(2))
		}
		return y
	})
	define("aten::soft_margin_loss", 2, func(f form) *ox.Value {
		return f.softplus(f.one("Neg", f.mul(f.arg(1), f.arg(0))))
	})
	define("aten::margin_ranking_loss", 4, func(f form) *ox.Value {
		return f.max(f.sub(f.c.Float(3), f.mul(f.arg(2), f.sub(f.arg(0), f.arg(1)))), 0.0)
	})
	define("aten::cosine_embedding_loss", 4, func(f form) *ox.Value {
		a, b, t := f.arg(0), f.arg(1), f.arg(2)
		dot := func(x, y *ox.Value) *ox.Value {
			return f.c.Reduce("ReduceSum", f.mul(x, y), []int{f.c.Rank(t)}, false)
		}
		const eps = 1e-12
		cos := f.bin("Div", dot(a, b), f.one("Sqrt", f.mul(f.add(dot(a, a), eps), f.add(dot(b, b), eps))))
		alike := f.where("Equal", t, 1.0, f.sub(1.0, cos), 0.0)
		return f.add(alike, f.where("Equal", t, -1.0, f.max(f.sub(cos, f.c.Float(3)), 0.0), 0.0))
	})
	define("aten::triplet_margin_loss", 7, func(f form) *ox.Value {
		a, pos, neg := f.arg(0), f.arg(1), f.arg(2)
		p, eps := f.c.Float(4), f.c.Float(5)
		far := f.distance(a, neg, p, eps)
		if f.c.Bool(6) {
			far = f.bin("Min", far, f.distance(pos, neg, p, eps))
		}
		return f.max(f.sub(f.add(f.distance(a, pos, p, eps), f.c.Float(3)), far), 0.0)
	})
}
