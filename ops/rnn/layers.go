package rnn

import (
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// This file declares PyTorch's recurrent layers, of which a call computes all layers and directions of a network, and its cells, of which a
// call computes one step. The layers are composed of gotorch::rnn_layer, one direction of one layer, which is a fused operator.

// stacked are the arguments of a network: the layers' parameters, one direction after the other, and the states (layers·directions, N, H).
type stacked struct {
	params                   []*T
	biases                   bool
	layers, directions, mode int
	dropout                  float64
	train                    bool
}

// run computes all layers for the input x (L, N, I) and the initial states.
func (n *stacked) run(c *Ctx, x *T, h0, c0 []*T) (out, hn, cn *T) {
	per := 2 // parameters of a direction: weight_ih, weight_hh, bias_ih, bias_hh, and an LSTM's weight_hr
	if n.biases {
		per = 4
	}
	if len(n.params) == n.layers*n.directions*(per+1) {
		per++
	}
	if len(n.params) != n.layers*n.directions*per || len(h0) != n.layers*n.directions || c0 != nil && len(c0) != len(h0) {
		c.Fail(tensor.ErrShape, "%d layers of %d directions do not fit %d parameters and states of %d", n.layers, n.directions, len(n.params), len(h0))
	}
	projected := per%2 == 1
	var lastH, lastC []*T
	for l := range n.layers {
		outs := make([]*T, n.directions)
		for d := range outs {
			k := l*n.directions + d
			w := n.params[k*per:][:per]
			var bih, bhh, cx, h, cn *T
			if n.biases {
				bih, bhh = w[2], w[3]
			}
			if c0 != nil {
				cx = c0[k]
			}
			reverse := d == 1
			if projected {
				outs[d], h, cn = steps(x, h0[k], cx, w[0], w[1], bih, bhh, w[per-1], n.mode, reverse)
			} else {
				r := op.Call("gotorch::rnn_layer", x, h0[k], cx, w[0], w[1], bih, bhh, n.mode, reverse)
				outs[d], cn = r[0], r[1]
				last := r[0].Size(0) - 1
				if reverse {
					last = 0
				}
				h = r[0].Select(0, last)
			}
			lastH, lastC = append(lastH, h), append(lastC, cn)
		}
		x = outs[0]
		if n.directions == 2 {
			x = op.Call1("aten::cat", outs, -1)
		}
		if n.dropout > 0 && n.train && l < n.layers-1 {
			x = op.Call1("aten::dropout", x, n.dropout, true)
		}
	}
	hn = op.Call1("aten::stack", lastH, 0)
	if c0 != nil {
		cn = op.Call1("aten::stack", lastC, 0)
	}
	return x, hn, cn
}

// network is the body of a layer's operator; its arguments are input, hx, params, has_biases, num_layers, dropout, train, bidirectional and
// batch_first.
func network(mode int) func(c *Ctx) {
	return func(c *Ctx) {
		n := &stacked{params: c.Tensors(2), biases: c.Bool(3), layers: c.Int(4), directions: 1, mode: mode, dropout: c.Float(5), train: c.Bool(6)}
		if c.Bool(7) {
			n.directions = 2
		}
		x, batchFirst := c.T(0), c.Bool(8)
		if x.Dim() != 3 {
			c.Fail(tensor.ErrShape, "expected an input of 3 dimensions, got shape %s", tensor.ShapeString(x.Shape()))
		}
		if batchFirst {
			x = x.Transpose(0, 1)
		}
		var h0, c0 []*T
		if mode == modeLSTM {
			hx := c.Tensors(1)
			if len(hx) != 2 {
				c.Fail(tensor.ErrValue, "lstm expects two hidden states")
			}
			h0, c0 = hx[0].Unbind(), hx[1].Unbind()
		} else {
			h0 = c.T(1).Unbind()
		}
		out, hn, cn := n.run(c, x, h0, c0)
		if batchFirst {
			out = out.Transpose(0, 1)
		}
		if mode == modeLSTM {
			c.Return(out, hn, cn)
			return
		}
		c.Return(out, hn)
	}
}

func init() {
	const rest = "Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor"
	const what = " over the sequences input (L, N, I), or (N, L, I) with batch_first, from the states hx (layers·directions, N, H). It returns the last layer's outputs (L, N, directions·H) and the last states.\n" +
		"https://pytorch.org/docs/stable/generated/torch.nn."
	tensor.Register(tensor.Def{
		Schema: "lstm.input(Tensor input, Tensor[] hx, " + rest + ", Tensor)", Go: "-",
		Doc:  "is a network of long short-term memory cells" + what + "LSTM.html",
		Body: network(modeLSTM),
	})
	for _, d := range []struct {
		name, doc string
		mode      int
	}{{"gru", "is a network of gated recurrent units" + what + "GRU.html", modeGRU}, {"rnn_tanh", "is a recurrent network with tanh" + what + "RNN.html", modeTanh}, {"rnn_relu", "is a recurrent network with ReLU" + what + "RNN.html", modeReLU}} {
		tensor.Register(tensor.Def{Schema: d.name + ".input(Tensor input, Tensor hx, " + rest + ")", Doc: d.doc, Go: "-", Body: network(d.mode)})
		tensor.Register(tensor.Def{
			Schema: d.name + "_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor", Go: "-",
			Doc: "is one step of a recurrent network: the next state (N, H) from an input (N, I) and a state (N, H).",
			Body: func(c *Ctx) {
				hn, _ := cell(d.mode, op.Call1("aten::linear", c.T(0), c.T(2), c.T(4)), c.T(1), nil, c.T(3), c.T(5), nil)
				c.Return(hn)
			},
		})
	}
	tensor.Register(tensor.Def{
		Schema: "lstm_cell(Tensor input, Tensor[] hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> (Tensor, Tensor)", Go: "-",
		Doc: "is one step of a network of long short-term memory cells: the next hidden and cell states (N, H) from an input (N, I) and those states.",
		Body: func(c *Ctx) {
			hx := c.Tensors(1)
			if len(hx) != 2 {
				c.Fail(tensor.ErrValue, "lstm_cell expects two hidden states")
			}
			hn, cn := cell(modeLSTM, op.Call1("aten::linear", c.T(0), c.T(2), c.T(4)), hx[0], hx[1], c.T(3), c.T(5), nil)
			c.Return(hn, cn)
		},
	})
}
