package rngcheck

import (
	"strings"

	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/tensor"
)

// ofLayer runs a program with an input that it makes itself: "x=arange(1.,61.)/7-3; dropout(x,.3), grad of its sum",
// "…; dropout(x,.3,inplace) then dropout(x,.3)". ok is false for others.
func ofLayer(text string) (out tensors, ok bool) {
	head, body, ok := strings.Cut(text, "; ")
	if !ok || !strings.HasPrefix(head, "x=arange(") {
		return nil, false
	}
	body, grad := strings.CutSuffix(body, ", grad of its sum")
	for _, what := range strings.Split(body, " then ") {
		c, rest, ok := readCall(what)
		if !ok || rest != "" {
			return nil, false
		}
		x := ramp(strings.TrimPrefix(head, "x="))
		if grad {
			x.SetRequiresGrad(true)
		}
		y := applied(c, x)
		out = append(out, y)
		if grad {
			if !y.RequiresGrad() {
				panic(golden.Skip("the operator has no gradient yet"))
			}
			op("sum", nil, y).Backward()
			out = append(out, x.Grad())
		}
	}
	return out, true
}

// applied is a function of x, which may be of another function of x.
func applied(c call, x *tensor.Tensor) *tensor.Tensor {
	in := x
	if inner, _, ok := readCall(c.arg(0)); ok {
		in = op(inner.name, nil, x)
	}
	name, args, kwargs := c.name, []any{in}, map[string]any{}
	switch name {
	case "_standard_gamma", "bernoulli", "poisson":
	default:
		name = "nn.functional." + name
	}
	for _, a := range c.args[1:] {
		if a == "inplace" || a == "training" {
			kwargs[a] = true
		} else {
			args = append(args, number(a))
		}
	}
	for k, v := range c.kw {
		kwargs[k] = number(v)
	}
	return op(name, kwargs, args...)
}

// ramp is "arange(1.,61.)/7-3", each step in float32.
func ramp(text string) *tensor.Tensor {
	c, rest, _ := readCall(text)
	l := []float32{}
	div, off := float32(1), float32(0)
	if d, ok := strings.CutPrefix(rest, "/"); ok {
		d, o, _ := strings.Cut(d, "-")
		div, off = float32(number(d)), float32(number("0"+o))
	}
	for v := number(c.arg(0)); v < number(c.arg(1)); v++ {
		q := float32(v) / div
		l = append(l, q-off)
	}
	return tensor.FromSlice(l)
}
