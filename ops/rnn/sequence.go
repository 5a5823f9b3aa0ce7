package rnn

import (
	"github.com/gotorch-dev/torch/internal/samples"
	"github.com/gotorch-dev/torch/tensor"
)

// This file holds PyTorch's recurrent operators: whole networks of several layers and both directions, and single
// cells.

var (
	opLayer   = tensor.Slot("gotorch::rnn_layer")
	opLSTM    = tensor.Slot("aten::mkldnn_rnn_layer")
	opLinear  = tensor.Slot("aten::linear")
	opCat     = tensor.Slot("aten::cat")
	opStack   = tensor.Slot("aten::stack")
	opDropout = tensor.Slot("aten::dropout")
)

func linear(x, w, b *T) *T {
	c := tensor.NewCall(opLinear, 3)
	*c.Arg(0), *c.Arg(1), *c.Arg(2) = tensor.TensorValue(x), tensor.TensorValue(w), tensor.TensorValue(b)
	return c.Do1()
}

func join(op *tensor.Op, xs []*T, dim int) *T {
	c := tensor.NewCall(op, 2)
	*c.Arg(0), *c.Arg(1) = tensor.TensorsValue(xs), tensor.IntValue(dim)
	return c.Do1()
}

func dropout(x *T, p float64) *T {
	c := tensor.NewCall(opDropout, 3)
	*c.Arg(0), *c.Arg(1), *c.Arg(2) = tensor.TensorValue(x), tensor.FloatValue(p), tensor.BoolValue(true)
	return c.Do1()
}

// cellWeights are the parameters of one direction of one layer.
type cellWeights struct{ ih, hh, bih, bhh, hr *T }

// network is a call of one of the operators.
type network struct {
	mode       int
	cells      []cellWeights // layer by layer, forward then backward
	directions int
	dropout    float64 // between layers, 0 outside of training
	steps      []int   // of a packed sequence: the number of sequences that reach each step
}

// readNetwork reads what stands behind the states: params, has_biases, num_layers, dropout, train, bidirectional.
func readNetwork(c *Ctx, mode, i int) *network {
	dropout := c.Float(i + 3)
	if !c.Bool(i + 4) {
		dropout = 0
	}
	return newNetwork(c, mode, c.Tensors(i), c.Bool(i+1), c.Int(i+2), dropout, c.Bool(i+5))
}

func newNetwork(c *Ctx, mode int, params []*T, biases bool, layers int, dropout float64, bidirectional bool) *network {
	n := &network{mode: mode, directions: 1, dropout: dropout}
	if bidirectional {
		n.directions = 2
	}
	cells := layers * n.directions
	each := 2
	if biases {
		each = 4
	}
	projected := mode == modeLSTM && len(params) == cells*(each+1)
	if projected {
		each++
	}
	if cells <= 0 || len(params) != cells*each {
		c.Fail(tensor.ErrShape, "expected %d parameters for each direction of %d layers, got %d in all", each, layers,
			len(params))
	}
	for p := params; len(p) > 0; p = p[each:] {
		w := cellWeights{ih: p[0], hh: p[1]}
		if biases {
			w.bih, w.bhh = p[2], p[3]
		}
		if projected {
			w.hr = p[each-1]
		}
		n.cells = append(n.cells, w)
	}
	return n
}

// rows splits the first dimension.
func rows(x *T) []*T {
	out := make([]*T, x.Size(0))
	for i := range out {
		out[i] = x.Select(0, i)
	}
	return out
}

// run computes all layers of x (L, N, I), or (elements, I) when packed, from the states h0 and c0 (layers·directions,
// N, H).
func (n *network) run(x, h0, c0 *T) (out, hn, cn *T) {
	for _, s := range []*T{h0, c0} {
		if s != nil && (s.Dim() == 0 || s.Size(0) != len(n.cells)) {
			tensor.Fail(tensor.ErrShape, "expected states of shape [%d, batch, hidden_size], got %s", len(n.cells),
				tensor.ShapeString(s.Shape()))
		}
	}
	hs := rows(h0)
	var cs, lastH, lastC []*T
	if c0 != nil {
		cs = rows(c0)
	}
	for k := 0; k < len(n.cells); k += n.directions {
		var outs []*T
		for d := range n.directions {
			w, h := &n.cells[k+d], hs[k+d]
			var c, y *T
			if cs != nil {
				c = cs[k+d]
			}
			switch {
			case n.steps != nil:
				y, h, c = n.packed(w, x, h, c, d == 1)
			default:
				y, h, c = n.one(w, x, h, c, d == 1)
			}
			outs, lastH = append(outs, y), append(lastH, h)
			if c != nil {
				lastC = append(lastC, c)
			}
		}
		x = outs[0]
		if len(outs) == 2 {
			x = join(opCat, outs, -1)
		}
		if n.dropout > 0 && k+n.directions < len(n.cells) {
			x = dropout(x, n.dropout)
		}
	}
	if lastC != nil {
		cn = join(opStack, lastC, 0)
	}
	return x, join(opStack, lastH, 0), cn
}

// layer is one direction of one layer as a single operator.
func (n *network) layer(w *cellWeights, x, h, cx *T, backward bool) (y, hn, cn *T) {
	c := tensor.NewCall(opLayer, 9)
	for i, t := range []*T{x, h, cx, w.ih, w.hh, w.bih, w.bhh} {
		*c.Arg(i) = tensor.TensorValue(t)
	}
	*c.Arg(7), *c.Arg(8) = tensor.IntValue(n.mode), tensor.BoolValue(backward)
	y, cn, _ = c.Do3()
	if cx == nil {
		cn = nil
	}
	last := y.Size(0) - 1
	if backward {
		last = 0
	}
	return y, y.Select(0, last), cn
}

// projected is layer step by step, for hidden states that are projected.
func (n *network) projected(w *cellWeights, gates, h, c *T, backward bool) (y, hn, cn *T) {
	g := rows(gates)
	ys := make([]*T, len(g))
	for i := range g {
		t := i
		if backward {
			t = len(g) - 1 - i
		}
		h, c = cell(n.mode, g[t], h, c, w.hh, w.bhh, w.hr)
		ys[t] = h
	}
	return join(opStack, ys, 0), h, c
}

// one is one direction of one layer over sequences of one length.
func (n *network) one(w *cellWeights, x, h, c *T, backward bool) (y, hn, cn *T) {
	if w.hr != nil {
		return n.projected(w, linear(x, w.ih, w.bih), h, c, backward)
	}
	if n.mode == modeLSTM && n.steps == nil && ownOperator(x) {
		return n.lstm(w, x, h, c, backward)
	}
	return n.layer(w, x, h, c, backward)
}

// ownOperator reports that autocast meets a layer of an LSTM over x as one operator, that of PyTorch's kernel library
// for CPUs, and takes it whole. Elsewhere layer computes the same without one more call.
func ownOperator(x *T) bool {
	if x.Device().Type != tensor.CPUDevice || x.Dim() != 3 || x.Numel() == 0 ||
		!tensor.IsAutocastEnabled(tensor.CPUDevice) {
		return false
	}
	dt := x.DType()
	return dt == tensor.Float32 || dt == tensor.BFloat16 || dt == tensor.Float16 && !tensor.IsGradEnabled()
}

// lstm is layer by that operator.
func (n *network) lstm(w *cellWeights, x, h, cx *T, backward bool) (y, hn, cn *T) {
	bih, bhh := w.bih, w.bhh
	if bih == nil {
		bih = w.ih.NewZeros([]int{w.ih.Size(0)})
		bhh = bih
	}
	c := tensor.NewCall(opLSTM, 16)
	for i, t := range []*T{x, w.ih, w.hh, bih, bhh, h, cx} {
		*c.Arg(i) = tensor.TensorValue(t)
	}
	*c.Arg(7), *c.Arg(8) = tensor.BoolValue(backward), tensor.Box([]int(nil))
	for i, v := range []int{vendorLSTM, h.Size(-1), len(n.cells) / n.directions} {
		*c.Arg(9 + i) = tensor.IntValue(v)
	}
	for i, v := range []bool{w.bih != nil, n.directions == 2, false, tensor.IsGradEnabled()} {
		*c.Arg(12 + i) = tensor.BoolValue(v)
	}
	out := c.DoN()
	return out[0], out[1], out[2]
}

// packed runs over sequences that are sorted by length, longest first. Steps that the same number of sequences reach
// are one call of the layer.
func (n *network) packed(w *cellWeights, x, h, c *T, backward bool) (y, hn, cn *T) {
	part := func(x *T, from, n int) *T { return x.Narrow(0, from, n) }
	type stretch struct{ from, steps, size int } // from is the first row
	var runs []stretch
	row := 0
	for _, size := range n.steps {
		if k := len(runs) - 1; k >= 0 && runs[k].size == size {
			runs[k].steps++
		} else {
			runs = append(runs, stretch{row, 1, size})
		}
		row += size
	}
	ys := make([]*T, len(runs))
	var doneH, doneC []*T // states of sequences that have ended
	h0, c0 := h, c
	if backward {
		h = part(h0, 0, runs[len(runs)-1].size)
		if c0 != nil {
			c = part(c0, 0, runs[len(runs)-1].size)
		}
	}
	for i := range runs {
		at := i
		if backward {
			at = len(runs) - 1 - i
		}
		r := runs[at]
		switch cur := h.Size(0); {
		case r.size < cur: // the shorter sequences end here
			doneH = append(doneH, part(h, r.size, cur-r.size))
			h = part(h, 0, r.size)
			if c != nil {
				doneC = append(doneC, part(c, r.size, cur-r.size))
				c = part(c, 0, r.size)
			}
		case r.size > cur: // backwards they begin here
			h = join(opCat, []*T{h, part(h0, cur, r.size-cur)}, 0)
			if c != nil {
				c = join(opCat, []*T{c, part(c0, cur, r.size-cur)}, 0)
			}
		}
		var y *T
		y, h, c = n.one(w, part(x, r.from, r.steps*r.size).Reshape([]int{r.steps, r.size, x.Size(1)}), h, c, backward)
		ys[at] = y.Reshape([]int{r.steps * r.size, y.Size(2)})
	}
	all := func(last *T, done []*T) *T {
		if len(done) == 0 {
			return last
		}
		list := []*T{last}
		for i := len(done) - 1; i >= 0; i-- {
			list = append(list, done[i])
		}
		return join(opCat, list, 0)
	}
	hn = all(h, doneH)
	if c != nil {
		cn = all(c, doneC)
	}
	return join(opCat, ys, 0), hn, cn
}

// states are the states in argument i: the one of a simple network, or those of an LSTM.
func states(c *Ctx, mode, i int) (h, cx *T) {
	if mode != modeLSTM {
		return c.T(i), nil
	}
	hx := c.Tensors(i)
	if len(hx) != 2 {
		c.Fail(tensor.ErrShape, "lstm expects two hidden states")
	}
	return hx[0], hx[1]
}

// inputBody is the body of an operator on sequences (L, N, I), or (N, L, I) with batch_first.
func inputBody(mode int) func(c *Ctx) {
	return func(c *Ctx) {
		h, cx := states(c, mode, 1)
		out, hn, cn := readNetwork(c, mode, 2).overSequences(c.T(0), h, cx, c.Bool(8))
		give(c, mode, out, hn, cn)
	}
}

// dataBody is the body of an operator on packed sequences. The numbers of sequences are read: they say how often the
// cells run.
func dataBody(mode int) func(c *Ctx) {
	return func(c *Ctx) {
		h, cx := states(c, mode, 2)
		out, hn, cn := readNetwork(c, mode, 3).overPacked(c, batchSizes(c, 1), c.T(0), h, cx)
		give(c, mode, out, hn, cn)
	}
}

// overPacked runs over a packed sequence of which these numbers of sequences reach each step.
func (n *network) overPacked(c *Ctx, steps []int, x, h0, c0 *T) (out, hn, cn *T) {
	n.steps = steps
	rows := 0
	for _, size := range steps {
		rows += size
	}
	if x.Dim() != 2 || x.Size(0) != rows || h0.Dim() != 3 || h0.Size(1) != steps[0] ||
		c0 != nil && (c0.Dim() != 3 || c0.Size(1) != steps[0]) {
		c.Fail(tensor.ErrShape, "expected %d rows of data and states of %d sequences, got data %s and states %s", rows,
			steps[0], tensor.ShapeString(x.Shape()), tensor.ShapeString(h0.Shape()))
	}
	return n.run(x, h0, c0)
}

// overSequences runs over sequences of one length (L, N, I), or (N, L, I) with batchFirst.
func (n *network) overSequences(x, h0, c0 *T, batchFirst bool) (out, hn, cn *T) {
	if batchFirst {
		x = x.Transpose(0, 1)
	}
	out, hn, cn = n.run(x, h0, c0)
	if batchFirst {
		out = out.Transpose(0, 1)
	}
	return out, hn, cn
}

// cellBody is the body of a single cell's operator.
func cellBody(mode int) func(c *Ctx) {
	return func(c *Ctx) {
		h, cx := states(c, mode, 1)
		for i, in := range []*T{c.T(0), h} {
			w, rows := c.T(2+i), gates(mode)*h.Size(-1)
			if w.Dim() != 2 || w.Size(0) != rows || w.Size(1) != in.Size(-1) {
				c.Fail(tensor.ErrShape, "expected weights of %d rows and %d columns for a state of %d features, got %s",
					rows, in.Size(-1), h.Size(-1), tensor.ShapeString(w.Shape()))
			}
		}
		hn, cn := cell(mode, linear(c.T(0), c.T(2), c.T(4)), h, cx, c.T(3), c.T(5), nil)
		if mode == modeLSTM {
			c.Return(hn, cn)
			return
		}
		c.Return(hn)
	}
}

func give(c *Ctx, mode int, out, hn, cn *T) {
	if mode == modeLSTM {
		c.Return(out, hn, cn)
		return
	}
	c.Return(out, hn)
}

func init() {
	const site = "\nhttps://pytorch.org/docs/stable/generated/"
	for _, d := range []tensor.Def{
		{
			Schema: "lstm.input(Tensor input, Tensor[] hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor, Tensor)",
			Doc: "is a long short-term memory network (Hochreiter and Schmidhuber, Long short-term memory, 1997): " +
				"the outputs of its last layer and the last states. params are, for each direction of each layer, " +
				"the weights and, with " +
				"has_biases, the biases." + site + "torch.nn.LSTM.html",
			Go: "LSTM", Body: inputBody(modeLSTM),
		},
		{
			Schema: "lstm.data(Tensor data, Tensor batch_sizes, Tensor[] hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional) -> (Tensor, Tensor, Tensor)",
			Doc: "is the same for a packed sequence: the elements of all sequences step by step, and how many " +
				"sequences reach each step." + site + "torch.nn.LSTM.html",
			Go: "LSTMData", Body: dataBody(modeLSTM),
		},
		{
			Schema: "gru.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)",
			Doc: "is a network of gated recurrent units (Cho et al., Learning phrase representations using RNN " +
				"encoder-decoder, 2014): the outputs of its last layer and the last states. params are, for each " +
				"direction of each layer, the weights and, with " +
				"has_biases, the biases." + site + "torch.nn.GRU.html",
			Go: "GRU", Body: inputBody(modeGRU),
		},
		{
			Schema: "gru.data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional) -> (Tensor, Tensor)",
			Doc: "is the same for a packed sequence: the elements of all sequences step by step, and how many " +
				"sequences reach each step." + site + "torch.nn.GRU.html",
			Go: "GRUData", Body: dataBody(modeGRU),
		},
		{
			Schema: "rnn_tanh.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)",
			Doc: "is a simple recurrent network (Elman, Finding structure in time, 1990) with tanh: the outputs of " +
				"its last layer and the last states. params are, for each direction of each layer, the weights and, " +
				"with " +
				"has_biases, the biases." + site + "torch.nn.RNN.html",
			Go: "RNNTanh", Body: inputBody(modeTanh),
		},
		{
			Schema: "rnn_tanh.data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional) -> (Tensor, Tensor)",
			Doc: "is the same for a packed sequence: the elements of all sequences step by step, and how many " +
				"sequences reach each step." + site + "torch.nn.RNN.html",
			Go: "RNNTanhData", Body: dataBody(modeTanh),
		},
		{
			Schema: "rnn_relu.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)",
			Doc: "is a simple recurrent network with ReLU: the outputs of its last layer and the last states. params " +
				"are, for each direction of each layer, the weights and, with " +
				"has_biases, the biases." + site + "torch.nn.RNN.html",
			Go: "RNNReLU", Body: inputBody(modeReLU),
		},
		{
			Schema: "rnn_relu.data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional) -> (Tensor, Tensor)",
			Doc: "is the same for a packed sequence: the elements of all sequences step by step, and how many " +
				"sequences reach each step." + site + "torch.nn.RNN.html",
			Go: "RNNReLUData", Body: dataBody(modeReLU),
		},
		{
			Schema: "lstm_cell(Tensor input, Tensor[] hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> (Tensor, Tensor)",
			Doc: "is one step of a long short-term memory network: the new hidden state and cell state." + site +
				"torch.nn.LSTMCell.html",
			Body: cellBody(modeLSTM),
		},
		{
			Schema: "gru_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor",
			Doc: "is one step of a network of gated recurrent units: the new state." + site +
				"torch.nn.GRUCell.html",
			Body: cellBody(modeGRU),
		},
		{
			Schema: "rnn_tanh_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor",
			Doc: "is one step of a simple recurrent network with tanh: the new state." + site +
				"torch.nn.RNNCell.html",
			Body: cellBody(modeTanh),
		},
		{
			Schema: "rnn_relu_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor",
			Doc: "is one step of a simple recurrent network with ReLU: the new state." + site +
				"torch.nn.RNNCell.html",
			Body: cellBody(modeReLU),
		},
	} {
		tensor.Register(d)
	}
	samples.None("the cells' samples and the modules of package nn test the recurrent networks",
		"lstm.input lstm.data gru.input gru.data "+
			"rnn_tanh.input rnn_tanh.data rnn_relu.input rnn_relu.data")
	samples.Table(
		"gru_cell :: 2x3 2x4 12x3 12x4 12 12 ; 2x3 2x4 12x3 12x4 ; 3 4 12x3 12x4 12 12",
		"rnn_tanh_cell rnn_relu_cell :: 2x3 2x4 4x3 4x4 4 4 ; 2x3 2x4 4x3 4x4 ; 3 4 4x3 4x4 4 4",
		"mkldnn_rnn_layer :: 4x2x3 16x3 16x4 16 16 2x4 2x4 false [] 2 4 1 true false false false ; 4x2x3 16x3 16x4 16 "+
			"16 2x4 2x4 true [] 2 4 1 true false false false",
		"miopen_rnn :: 4x2x3 [16x3,16x4,16,16] 4 1x2x4 1x2x4 2 4 1 false 0.0 false false [] None ; 2x4x3 "+
			"[12x3,12x4,12x3,12x4] 2 2x2x4 None 3 4 1 true 0.0 false true [] None ; 5x3 [4x3,4x4,4,4] 4 1x3x4 None 1 4 "+
			"1 false 0.0 false false [3,2] None",
		"lstm_cell :: 2x3 [2x4,2x4] 16x3 16x4 16 16 ; 2x3 [2x4,2x4] 16x3 16x4 ; 3 [4,4] 16x3 16x4 16 16",
	)
}
