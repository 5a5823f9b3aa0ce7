package onnx

import (
	"math"

	"github.com/gotorch-dev/torch/internal/onnxpb"
)

// The optimizers of the domain ai.onnx.preview.training: a step for any number of tensors at once.
func init() {
	define("ai.onnx.preview.training", map[string]rule{
		"Adagrad":  optimizer("adagrad", 3),
		"Adam":     optimizer("adam", 4),
		"Momentum": optimizer("momentum", 3),
	})

	helper("adagrad(Tensor rate, Tensor step, Tensor x, Tensor g, Tensor h, float decay, float eps, float norm)"+
		" -> (Tensor, Tensor)", func(a args) any {
		x := a.T(2)
		r := a.T(0).Num().F / (1 + a.T(1).Num().F*a.float(5))
		g := x.MulScalar(a.float(7)).Add(a.T(3))
		h := a.T(4).Add(g.Mul(g))
		return []any{x.Sub(g.MulScalar(r).Div(h.Sqrt().AddScalar(a.float(6)))), h}
	})
	helper("adam(Tensor rate, Tensor step, Tensor x, Tensor g, Tensor v, Tensor h, float alpha, float beta, "+
		"float eps, float norm, float post) -> (Tensor, Tensor, Tensor)", func(a args) any {
		x, t, alpha, beta := a.T(2), a.T(1).Num().F, a.float(6), a.float(7)
		g := x.MulScalar(a.float(9)).Add(a.T(3))
		v := a.T(4).MulScalar(alpha).Add(g.MulScalar(1 - alpha))
		h := a.T(5).MulScalar(beta).Add(g.Mul(g).MulScalar(1 - beta))
		r := a.T(0).Num().F
		if t > 0 {
			r *= math.Sqrt(1-math.Pow(beta, t)) / (1 - math.Pow(alpha, t))
		}
		x = x.Sub(v.MulScalar(r).Div(h.Sqrt().AddScalar(a.float(8))))
		return []any{x.MulScalar(1 - a.float(10)), v, h}
	})
	helper("momentum(Tensor rate, Tensor step, Tensor x, Tensor g, Tensor v, float alpha, float beta, float norm, "+
		"bool nesterov) -> (Tensor, Tensor)", func(a args) any {
		x, r, alpha, beta := a.T(2), a.T(0).Num().F, a.float(5), a.float(6)
		if a.T(1).Num().F <= 0 {
			beta = 1
		}
		g := x.MulScalar(a.float(7)).Add(a.T(3))
		v := a.T(4).MulScalar(alpha).Add(g.MulScalar(beta))
		if a.bool(8) {
			return []any{x.Sub(g.Add(v.MulScalar(alpha)).MulScalar(r)), v}
		}
		return []any{x.Sub(v.MulScalar(r)), v}
	})
}

// optimizer translates a step: inputs are the rate, the number of steps, and groups of as many tensors each: those that
// are trained, their gradients, and the optimizer's state. Outputs are the new tensors and state.
func optimizer(name string, groups int) rule {
	return func(n *node) []*value {
		k := (len(n.in) - 2) / groups
		if k < 1 || len(n.in) != 2+groups*k {
			fail("%w: %d inputs", onnxpb.ErrFormat, len(n.in))
		}
		outs := make([]*value, k*(groups-1))
		for i := range k {
			call := []any{n.T(0), n.T(1)}
			for g := range groups {
				call = append(call, n.T(2+g*k+i))
			}
			norm := n.float("norm_coefficient", 0)
			switch name {
			case "adagrad":
				call = append(call, n.float("decay_factor", 0), n.float("epsilon", 1e-6), norm)
			case "adam":
				call = append(call, n.float("alpha", 0.9), n.float("beta", 0.999), n.float("epsilon", 1e-6), norm,
					n.float("norm_coefficient_post", 0))
			default:
				call = append(call, n.float("alpha", 0), n.float("beta", 0), norm,
					n.str("mode", "standard") == "nesterov")
			}
			for j, g := range n.calls("onnx::"+name, call...) {
				outs[j*k+i] = n.tensor(g, n.T(2+i).elem)
			}
		}
		return outs
	}
}
