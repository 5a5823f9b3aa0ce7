package rnn

import (
	"slices"

	ox "github.com/gotorch-dev/torch/internal/onnxform"
	"github.com/gotorch-dev/torch/tensor"
)

// rnnKind is a kind of recurrent layer. gates is the order in which ONNX has PyTorch's gates.
type rnnKind struct {
	op         string
	gates      []int
	activation string
	states     int
}

func init() {
	for name, k := range map[string]rnnKind{
		"lstm":     {op: "LSTM", gates: []int{0, 3, 1, 2}, states: 2}, // i f g o; in ONNX i o f c
		"gru":      {op: "GRU", gates: []int{1, 0, 2}, states: 1},     // r z n, in ONNX z r h
		"rnn_tanh": {op: "RNN", gates: []int{0}, activation: "Tanh", states: 1},
		"rnn_relu": {op: "RNN", gates: []int{0}, activation: "Relu", states: 1},
	} {
		ox.Register(func(c *ox.Call) []*ox.Value { return exportRecurrent(c, k) }, "aten::"+name+".input")
		// The cells, of input, hx, w_ih, w_hh, b_ih, b_hh.
		ox.Register(func(c *ox.Call) []*ox.Value { return exportCell(c, name) }, "aten::"+name+"_cell")
	}
}

// onnxGates puts the gates of a weight or a bias into ONNX's order and adds a dimension for directions.
func onnxGates(c *ox.Call, w *ox.Value, k rnnKind) *ox.Value {
	n, ok := c.SizeOf(w, 0).(int)
	if !ok {
		c.Fail("the size of a weight is not known")
	}
	if len(k.gates) == 1 {
		return c.Unsqueeze(w, 0)
	}
	if w.Const != nil { // computed now: a weight that no other layer reads
		size := n / len(k.gates)
		ordered := make([]*tensor.Tensor, len(k.gates))
		for i, g := range k.gates {
			ordered[i] = w.Const.Detach().Narrow(0, g*size, size)
		}
		return c.Const(join(opCat, ordered, 0).Unsqueeze(0))
	}
	sizes := make([]int, len(k.gates))
	for i := range sizes {
		sizes[i] = n / len(k.gates)
	}
	parts := c.Split(w, 0, sizes...)
	ordered := make([]*ox.Value, len(parts))
	for i, g := range k.gates {
		ordered[i] = parts[g]
	}
	return c.Unsqueeze(c.Concat(0, ordered...).Typed(w.DType), 0)
}

// exportRecurrent takes input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first. Each
// layer is one node.
func exportRecurrent(c *ox.Call, k rnnKind) []*ox.Value {
	x := c.T(0)
	states := c.Ts(1)
	params := c.Ts(2)
	biases, layers, bi, batchFirst := c.Bool(3), c.Int(4), c.Bool(7), c.Bool(8)
	batched := c.Rank(x) == 3
	if !batched {
		x = c.Unsqueeze(x, 1)
		for i, s := range states {
			states[i] = c.Unsqueeze(s, 1)
		}
	} else if batchFirst {
		x = c.Transpose(x, 1, 0, 2)
	}
	dirs := 1
	direction := "forward"
	if bi {
		dirs, direction = 2, "bidirectional"
	}
	per := 2
	if biases {
		per = 4
	}
	projected := k.states == 2 && len(params) == layers*dirs*(per+1)
	if projected {
		per++
	}
	if len(params) != layers*dirs*per {
		c.Fail("%d parameters for %d layers", len(params), layers)
	}
	dt := x.DType
	finals := make([][]*ox.Value, k.states)
	for l := range layers {
		var w, r, b []*ox.Value
		var project projection
		for d := range dirs {
			p := params[(l*dirs+d)*per:]
			w, r = append(w, onnxGates(c, p[0], k)), append(r, onnxGates(c, p[1], k))
			if projected {
				r[d] = c.Node("MatMul", nil, r[d], project.add(c, p[per-1])).Typed(dt)
			}
			if biases {
				b = append(b, joinValues(c, 1, onnxGates(c, p[2], k), onnxGates(c, p[3], k)))
			}
		}
		hidden, ok := c.SizeOf(params[l*dirs*per+1], 1).(int)
		if projected {
			hidden, ok = c.SizeOf(params[(l*dirs+1)*per-1], 1).(int)
		}
		if !ok {
			c.Fail("the hidden size is not known")
		}
		ins := []*ox.Value{x, joinValues(c, 0, w...), joinValues(c, 0, r...), nil, nil}
		if biases {
			ins[3] = joinValues(c, 0, b...)
		}
		for _, s := range states {
			ins = append(ins, c.Slice(s, 0, l*dirs, (l+1)*dirs, 1).Typed(dt))
		}
		if projected {
			ins[5] = project.before(c, ins[5])
		}
		a := ox.A{"hidden_size": hidden, "direction": direction}
		if k.op == "GRU" {
			a["linear_before_reset"] = 1
		}
		if k.activation == "Relu" {
			a["activations"] = []string{"Relu", "Relu"}[:dirs]
		}
		out := c.Nodes(1+k.states, k.op, a, ins...)
		if projected {
			out[0], out[1] = project.after(c, out[0].Typed(dt)), project.after(c, out[1].Typed(dt))
			hidden = project.size
		}
		// The result is [time, direction, batch, hidden].
		y := out[0].Typed(dt).Shaped(-1, dirs, -1, hidden)
		if dirs == 1 {
			x = c.Squeeze(y, 1).Typed(dt)
		} else {
			x = c.Reshape(c.Transpose(y, 0, 2, 1, 3).Typed(dt), 0, 0, dirs*hidden).Typed(dt)
		}
		x.Shaped(-1, -1, dirs*hidden)
		for i := range finals {
			finals[i] = append(finals[i], out[1+i].Typed(dt))
		}
		if c.Bool(6) && c.Float(5) > 0 && l+1 < layers {
			x = c.Node("Dropout", nil, x, c.Scalar(c.Float(5), tensor.Float32), c.Scalar(1, tensor.Bool)).Typed(dt).
				Shaped(-1, -1, dirs*hidden)
		}
	}
	y := x
	if !batched {
		y = c.Squeeze(y, 1).Typed(dt)
	} else if batchFirst {
		y = c.Transpose(y, 1, 0, 2).Typed(dt)
	}
	res := []*ox.Value{y}
	for _, f := range finals {
		v := joinValues(c, 0, f...).Typed(dt)
		if !batched {
			v = c.Node("Squeeze", nil, v, c.I64(1)).Typed(dt)
		}
		res = append(res, v)
	}
	return res
}

// projection writes LSTM layers with a projection (proj_size), which ONNX's LSTM has none of, as layers without: what
// such a layer calls its hidden state is m = o * tanh(c) before the projection P. The gates of the next step see
// R(Pm) = (RP)m, so that RP takes the place of R, and the results are Pm. Of an initial state h an m with Pm = h is
// needed: P'(PP')⁻¹h, which exists where the rows of P are independent.
type projection struct {
	forward, inverse []*tensor.Tensor // P' and (PP')⁻¹P of each direction
	size             int              // of what P gives
}

// add takes the P of another direction, and returns it.
func (p *projection) add(c *ox.Call, w *ox.Value) *ox.Value {
	if w.Const == nil {
		c.Fail("an LSTM with a projection that is not a weight")
	}
	m := w.Const.Detach().Double()
	t := m.Transpose(0, 1)
	inv, err := tensor.CallOp("aten::linalg_inv", tensor.TensorValue(m.MatMul(t)))
	if err != nil { // singular
		c.Fail("an LSTM with a projection whose rows depend on each other: %v", err)
	}
	p.size = m.Size(0)
	p.forward = append(p.forward, t.ToDType(w.DType).Contiguous())
	p.inverse = append(p.inverse, inv[0].T.MatMul(m).ToDType(w.DType).Contiguous())
	return w
}

// perDirection multiplies values of the shape [..., direction, batch, size] by the matrix of each direction.
func perDirection(c *ox.Call, v *ox.Value, ms []*tensor.Tensor) *ox.Value {
	for i, m := range ms {
		ms[i] = m.Unsqueeze(0)
	}
	return c.Node("MatMul", nil, v, c.Const(join(opCat, ms, 0))).Typed(v.DType)
}

func (p *projection) before(c *ox.Call, h *ox.Value) *ox.Value {
	return perDirection(c, h, slices.Clone(p.inverse))
}

func (p *projection) after(c *ox.Call, m *ox.Value) *ox.Value {
	return perDirection(c, m, slices.Clone(p.forward))
}

// joinValues concatenates values; constants are joined now.
func joinValues(c *ox.Call, axis int, vs ...*ox.Value) *ox.Value {
	if len(vs) == 1 {
		return vs[0]
	}
	var consts []*tensor.Tensor
	for _, v := range vs {
		if !v.Folds() {
			return c.Concat(axis, vs...)
		}
		consts = append(consts, v.Const)
	}
	return c.Const(join(opCat, consts, axis))
}

// exportCell writes one step by its formula, as PyTorch documents it.
func exportCell(c *ox.Call, name string) []*ox.Value {
	x := c.T(0)
	states := c.Ts(1)
	linear := func(v *ox.Value, w, b int) *ox.Value {
		if c.Rank(v) == 2 {
			return c.Node("Gemm", ox.A{"transB": 1}, v, c.T(w), c.T(b))
		}
		y := c.Node("MatMul", nil, v, c.Transpose(c.T(w), 1, 0))
		if c.Has(b) {
			y = c.Node("Add", nil, y, c.T(b))
		}
		return y
	}
	h := states[0]
	a, b := linear(x, 2, 4), linear(h, 3, 5)
	n := 1
	if name == "lstm" {
		n = 4
	} else if name == "gru" {
		n = 3
	}
	hidden, ok := c.SizeOf(c.T(3), 1).(int)
	if !ok {
		c.Fail("the hidden size is not known")
	}
	sizes := make([]int, n)
	for i := range sizes {
		sizes[i] = hidden
	}
	op := func(op string, v ...*ox.Value) *ox.Value { return c.Node(op, nil, v...).Typed(x.DType) }
	switch name {
	case "rnn_tanh":
		return []*ox.Value{op("Tanh", op("Add", a, b))}
	case "rnn_relu":
		return []*ox.Value{op("Relu", op("Add", a, b))}
	case "gru":
		p, q := c.Split(a, -1, sizes...), c.Split(b, -1, sizes...)
		r, z := op("Sigmoid", op("Add", p[0], q[0])), op("Sigmoid", op("Add", p[1], q[1]))
		m := op("Tanh", op("Add", p[2], op("Mul", r, q[2])))
		return []*ox.Value{op("Add", m, op("Mul", z, op("Sub", h, m)))}
	}
	g := c.Split(op("Add", a, b), -1, sizes...)
	cell := op("Add", op("Mul", op("Sigmoid", g[1]), states[1]), op("Mul", op("Sigmoid", g[0]), op("Tanh", g[2])))
	return []*ox.Value{op("Mul", op("Sigmoid", g[3]), op("Tanh", cell)), cell}
}
