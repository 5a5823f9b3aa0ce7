package onnx

import (
	"strings"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/onnxpb"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	define("", map[string]rule{"GRU": recurrent("GRU"), "LSTM": recurrent("LSTM"), "RNN": recurrent("RNN")})

	helper("rnn_gates(Tensor w, int direction, int[] order) -> Tensor", func(a args) any {
		return gates(a.T(0), a.int(1), a.ints(2))
	})
	helper("rnn_bias(Tensor b, int direction, int part, int[] order) -> Tensor", func(a args) any {
		return gateBias(a.T(0), a.int(1), a.int(2), a.ints(3))
	})
	helper("rnn_zeros(Tensor x, int directions, int hidden) -> Tensor", func(a args) any {
		return a.T(0).NewZeros([]int{a.int(1), a.T(0).Size(1), a.int(2)})
	})
	helper("rnn(Tensor x, Tensor w, Tensor r, Tensor? b, Tensor? lengths, Tensor? h, Tensor? c, Tensor? p, str kind, "+
		"str direction, int hidden, float? clip, str activations, float[] alpha, float[] beta, bool linear, "+
		"bool coupled) -> (Tensor, Tensor, Tensor)", func(a args) any {
		l := rnnLoop{w: a.T(1), r: a.T(2), b: a.T(3), p: a.T(7), kind: a.str(8), hidden: a.int(10), linear: a.bool(15),
			coupled: a.bool(16)}
		if a.has(11) {
			clip := a.float(11)
			l.clip = &clip
		}
		return l.run(a.T(0), a.T(4), a.T(5), a.T(6), a.str(9), strings.Split(a.str(12), ","), a.floats(13),
			a.floats(14))
	})
}

// gateOrder says which gate of ONNX's order each of PyTorch's is.
var gateOrder = map[string][]int{
	"GRU":  {1, 0, 2},    // z r h → r z n
	"LSTM": {0, 2, 3, 1}, // i o f c → i f g o
	"RNN":  {0},
}

// gates is the weight of one direction with the gates in PyTorch's order.
func gates(w *T, direction int, order []int) *T {
	w = w.Select(0, direction)
	if w.Size(0)%len(order) != 0 {
		wrong("RNN", "a weight of shape %v for %d gates", w.Shape(), len(order))
	}
	hidden := w.Size(0) / len(order)
	shape := w.Shape()
	return w.Reshape([]int{len(order), hidden, w.Size(1)}).IndexSelect(0, vector(order)).Reshape(shape)
}

// gateBias is the bias of one direction, for the input (part 0) or for the state (part 1), in PyTorch's order.
func gateBias(b *T, direction, part int, order []int) *T {
	b = b.Select(0, direction)
	if b.Size(0)%(2*len(order)) != 0 {
		wrong("RNN", "a bias of shape %v for %d gates", b.Shape(), len(order))
	}
	b = b.Reshape([]int{2, len(order), b.Size(0) / 2 / len(order)}).Select(0, part)
	return b.IndexSelect(0, vector(order)).Reshape([]int{-1})
}

// recurrent translates LSTM, GRU and RNN to PyTorch's operators where these compute the same, and to a loop over the
// steps otherwise.
func recurrent(kind string) rule {
	return func(n *node) []*value {
		x, w, r := n.T(0), n.T(1), n.T(2)
		b, lengths, h := n.opt(3), n.opt(4), n.opt(5)
		var c, p *value
		if kind == "LSTM" {
			c, p = n.opt(6), n.opt(7)
		}
		direction, directions := n.direction()
		hidden := n.int("hidden_size", 0)
		if hidden <= 0 && r.konst != nil && r.konst.Dim() == 3 {
			hidden = r.konst.Size(2)
		}
		batchFirst := n.int("layout", 0) != 0
		def := map[string][]string{"GRU": {"Sigmoid", "Tanh"}, "LSTM": {"Sigmoid", "Tanh", "Tanh"},
			"RNN": {"Tanh"}}[kind]
		acts := n.activations(directions, def)
		plain := lengths == nil && p == nil && n.attrs["clip"] == nil && n.int("input_forget", 0) == 0 && hidden > 0 &&
			(kind != "GRU" || n.int("linear_before_reset", 0) != 0)
		for i, f := range acts {
			want := def[i%len(def)]
			relu := kind == "RNN" && strings.EqualFold(f, "Relu") && strings.EqualFold(acts[0], "Relu")
			plain = plain && (strings.EqualFold(f, want) && strings.EqualFold(acts[0], def[0]) || relu)
		}
		if batchFirst {
			swap := func(v *value, d0, d1 int) *value {
				if v == nil {
					return nil
				}
				return &value{g: n.call("aten::transpose.int", v, d0, d1), kind: v.kind, elem: v.elem, rank: v.rank}
			}
			x, h, c = swap(x, 0, 1), swap(h, 0, 1), swap(c, 0, 1)
		}
		var out []*graph.Value
		if plain {
			out = n.torchRNN(kind, x, w, r, b, h, c, direction, directions, hidden, acts[0])
		} else {
			out = n.calls("onnx::rnn", x, w, r, b, lengths, h, c, p, kind, direction, hidden, n.clip(),
				strings.Join(acts, ","),
				nonNil(n.floats("activation_alpha")), nonNil(n.floats("activation_beta")),
				n.int("linear_before_reset", 0) != 0, n.int("input_forget", 0) != 0)
		}
		outs := []*value{n.like(nil), n.like(nil)}
		outs[0].rank, outs[1].rank = 4, 3
		outs[0].g, outs[1].g = out[0], out[1]
		if kind == "LSTM" {
			outs = append(outs, n.like(out[2]))
			outs[2].rank = 3
		}
		if batchFirst {
			outs[0].g = n.call("aten::permute", outs[0].g, []int{2, 0, 1, 3})
			for _, v := range outs[1:] {
				v.g = n.call("aten::transpose.int", v.g, 0, 1)
			}
		}
		return outs
	}
}

// direction is the attribute, and the number of directions.
func (n *node) direction() (string, int) {
	switch d := n.str("direction", "forward"); d {
	case "bidirectional":
		return d, 2
	case "forward", "reverse":
		return d, 1
	default:
		fail("%w: direction %q", onnxpb.ErrFormat, d)
		return "", 0
	}
}

// activations are the functions of all directions; def are the functions of one direction.
func (n *node) activations(directions int, def []string) []string {
	acts := n.strings("activations")
	if acts == nil {
		for range directions {
			acts = append(acts, def...)
		}
	}
	if len(acts) != len(def)*directions {
		fail("%w: %d activations, want %d", onnxpb.ErrFormat, len(acts), len(def)*directions)
	}
	return acts
}

// clip is the attribute, nil without.
func (n *node) clip() any {
	if a := n.attr("clip", onnxpb.AttrFloat); a != nil {
		return float64(a.F)
	}
	return nil
}

func nonNil(l []float64) []float64 {
	if l == nil {
		return []float64{}
	}
	return l
}

// torchRNN adds a call of PyTorch's operator. The results are in ONNX's order of dimensions.
func (n *node) torchRNN(kind string, x, w, r, b, h, c *value, direction string, directions, hidden int,
	act string) []*graph.Value {
	order := gateOrder[kind]
	var params []*value
	for d := range directions {
		for _, v := range []*value{w, r} {
			if v.konst != nil && v.konst.Dim() == 3 && v.konst.Size(0) == directions {
				params = append(params, constant(gates(v.konst, d, order), v.elem))
			} else {
				params = append(params, n.tensor(n.call("onnx::rnn_gates", v, d, order), v.elem))
			}
		}
		for part := range 2 {
			switch {
			case b == nil:
			case b.konst != nil && b.konst.Dim() == 2 && b.konst.Size(0) == directions:
				params = append(params, constant(gateBias(b.konst, d, part, order), b.elem))
			default:
				params = append(params, n.tensor(n.call("onnx::rnn_bias", b, d, part, order), b.elem))
			}
		}
	}
	zeros := func(v *value) *value {
		if v != nil {
			return v
		}
		return n.tensor(n.call("onnx::rnn_zeros", x, directions, hidden), x.elem)
	}
	in := any(x)
	if direction == "reverse" {
		in = n.call("aten::flip", x, []int{0})
	}
	op, state := "aten::lstm.input", any(nil)
	switch {
	case kind == "LSTM":
		state = []*value{zeros(h), zeros(c)}
	case kind == "GRU":
		op, state = "aten::gru.input", zeros(h)
	case strings.EqualFold(act, "Relu"):
		op, state = "aten::rnn_relu.input", zeros(h)
	default:
		op, state = "aten::rnn_tanh.input", zeros(h)
	}
	out := n.calls(op, in, state, params, b != nil, 1, 0.0, false, directions == 2, false)
	out = append([]*graph.Value(nil), out...)
	y := out[0]
	if direction == "reverse" {
		y = n.call("aten::flip", y, []int{0})
	}
	if directions == 1 {
		out[0] = n.call("aten::unsqueeze", y, 1)
	} else {
		y = n.call("aten::unflatten.int", y, 2, []int{directions, hidden})
		out[0] = n.call("aten::permute", y, []int{0, 2, 1, 3})
	}
	return out
}

// rnnLoop computes recurrent layers step by step, in every form that ONNX has.
type rnnLoop struct {
	w, r, b, p *T
	kind       string
	hidden     int
	clip       *float64
	linear     bool // the reset gate of a GRU acts after the product with the state
	coupled    bool // the forget gate of an LSTM is 1 - the input gate

	quantized *quantizedGates // nil without
}

func (l *rnnLoop) run(x, lengths, h, c *T, direction string, acts []string, alpha, beta []float64) []any {
	if x.Dim() != 3 || l.w.Dim() != 3 || l.r.Dim() != 3 {
		wrong(l.kind, "input of shape %v, weights of shape %v and %v", x.Shape(), l.w.Shape(), l.r.Shape())
	}
	steps, batch := x.Size(0), x.Size(1)
	directions := l.w.Size(0)
	if want := map[bool]int{true: 2, false: 1}[direction == "bidirectional"]; directions != want {
		wrong(l.kind, "weights for %d directions, want %d", directions, want)
	}
	if l.hidden <= 0 {
		l.hidden = l.r.Size(2)
	}
	var size []int
	if lengths != nil {
		if size = hostInts(lengths); len(size) != batch {
			wrong(l.kind, "%d lengths for a batch of %d", len(size), batch)
		}
	}
	per := len(acts) / directions
	var ys, hs, cs []*T
	for d := range directions {
		fs := make([]func(*T) *T, per)
		for i := range fs {
			fs[i] = activation(acts[d*per+i], &alpha, &beta)
		}
		in := x
		back := direction == "reverse" || d == 1
		if back {
			in = l.turn(in, size)
		}
		gx := l.ofInput(d, in)
		zero := x.NewZeros([]int{batch, l.hidden})
		hd, cd := zero, zero
		if h != nil {
			hd = h.Select(0, d)
		}
		if c != nil {
			cd = c.Select(0, d)
		}
		var out []*T
		for t := range steps {
			nh, nc := l.step(d, gx.Select(0, t), hd, cd, fs)
			if size != nil { // elements whose sequence has ended keep their state
				run := make([]bool, batch)
				for i, n := range size {
					run[i] = t < n
				}
				on := tensor.FromSlice(run, batch, 1)
				hd, cd = nh.Where(on, hd), nc.Where(on, cd)
				nh = nh.Where(on, zero)
			} else {
				hd, cd = nh, nc
			}
			out = append(out, nh)
		}
		y := x.NewZeros([]int{0, batch, l.hidden})
		if len(out) > 0 {
			y = call("aten::stack", out, 0)
		}
		if back {
			y = l.turn(y, size)
		}
		ys, hs, cs = append(ys, y), append(hs, hd), append(cs, cd)
	}
	return []any{call("aten::stack", ys, 1), call("aten::stack", hs, 0), call("aten::stack", cs, 0)}
}

// turn runs sequences backwards, each within its length.
func (l *rnnLoop) turn(x *T, size []int) *T {
	if size == nil {
		return x.Flip([]int{0})
	}
	return reversed(x, size, 0, 1)
}

// ofInput is the product of the input and its weight, for all steps.
func (l *rnnLoop) ofInput(d int, x *T) *T {
	if l.quantized != nil {
		return l.quantized.multiply(x, l.w, l.quantized.wScale, l.quantized.wZero, d)
	}
	return x.MatMul(l.w.Select(0, d).Transpose(0, 1))
}

// ofState is the product of the state and its weight.
func (l *rnnLoop) ofState(d int, h *T) *T {
	if l.quantized != nil {
		return l.quantized.multiply(h, l.r, l.quantized.rScale, l.quantized.rZero, d)
	}
	return h.MatMul(l.r.Select(0, d).Transpose(0, 1))
}

// step computes the state after one step in one direction; gx is the product of the input.
func (l *rnnLoop) step(d int, gx, h, c *T, f []func(*T) *T) (nh, nc *T) {
	clipped := func(t *T) *T {
		if l.clip == nil {
			return t
		}
		return t.ClampScalar(tensor.ClampScalarOptions{Min: -*l.clip, Max: *l.clip})
	}
	n := l.hidden
	gh := l.ofState(d, h)
	if l.b != nil {
		b := l.b.Select(0, d)
		k := b.Numel() / 2
		gx, gh = gx.Add(b.Narrow(0, 0, k)), gh.Add(b.Narrow(0, k, k))
	}
	part := func(t *T, i int) *T { return t.Narrow(1, i*n, n) }
	peep := func(i int) *T {
		if l.p == nil {
			return nil
		}
		return l.p.Select(0, d).Narrow(0, i*n, n)
	}
	plus := func(t *T, p, c *T) *T {
		if p == nil {
			return t
		}
		return t.Add(p.Mul(c))
	}
	switch l.kind {
	case "RNN":
		return f[0](clipped(gx.Add(gh))), c
	case "GRU":
		z := f[0](clipped(part(gx, 0).Add(part(gh, 0))))
		reset := f[0](clipped(part(gx, 1).Add(part(gh, 1))))
		var cand *T
		if l.linear {
			cand = part(gx, 2).Add(reset.Mul(part(gh, 2)))
		} else {
			cand = part(gx, 2).Add(reset.Mul(h).MatMul(l.r.Select(0, d).Narrow(0, 2*n, n).Transpose(0, 1)))
			if l.b != nil {
				b := l.b.Select(0, d)
				cand = cand.Add(b.Narrow(0, b.Numel()/2+2*n, n))
			}
		}
		cand = f[1](clipped(cand))
		return cand.Add(z.Mul(h.Sub(cand))), c
	}
	g := gx.Add(gh) // i o f c
	i := f[0](clipped(plus(part(g, 0), peep(0), c)))
	forget := i.Neg().AddScalar(1)
	if !l.coupled {
		forget = f[0](clipped(plus(part(g, 2), peep(2), c)))
	}
	nc = forget.Mul(c).Add(i.Mul(f[1](clipped(part(g, 3)))))
	o := f[0](clipped(plus(part(g, 1), peep(1), nc)))
	return o.Mul(f[2](nc)), nc
}

// activation is an activation function of recurrent layers; it takes its numbers from the front of the lists.
func activation(name string, alpha, beta *[]float64) func(*T) *T {
	next := func(l *[]float64, def float64) float64 {
		if len(*l) == 0 {
			return def
		}
		x := (*l)[0]
		*l = (*l)[1:]
		return x
	}
	switch strings.ToLower(name) {
	case "sigmoid":
		return func(x *T) *T { return x.Sigmoid() }
	case "tanh":
		return func(x *T) *T { return x.Tanh() }
	case "relu":
		return func(x *T) *T { return x.ReLU() }
	case "softsign":
		return func(x *T) *T { return x.Div(x.Abs().AddScalar(1)) }
	case "softplus":
		return func(x *T) *T { return x.Softplus() }
	case "affine":
		a, b := next(alpha, 1), next(beta, 0)
		return func(x *T) *T { return x.MulScalar(a).AddScalar(b) }
	case "leakyrelu":
		a := next(alpha, 0.01)
		return func(x *T) *T { return call("aten::leaky_relu", x, a) }
	case "thresholdedrelu":
		a := next(alpha, 1)
		return func(x *T) *T { return x.Threshold(a, 0) }
	case "scaledtanh":
		a, b := next(alpha, 1), next(beta, 1)
		return func(x *T) *T { return x.MulScalar(b).Tanh().MulScalar(a) }
	case "hardsigmoid":
		a, b := next(alpha, 0.2), next(beta, 0.5)
		return func(x *T) *T {
			return x.MulScalar(a).AddScalar(b).ClampScalar(tensor.ClampScalarOptions{Min: 0, Max: 1})
		}
	case "elu":
		a := next(alpha, 1)
		return func(x *T) *T { return call("aten::elu", x, a) }
	}
	tensor.Fail(tensor.ErrValue, "activation function %q of a recurrent layer", name)
	return nil
}
