package rnn

import "github.com/gotorch-dev/torch/tensor"

// Recurrent networks under the names of libraries.
func init() {
	for _, d := range []tensor.Def{
		{
			Schema: "miopen_rnn(Tensor input, Tensor[] weight, int weight_stride0, Tensor hx, Tensor? cx, int mode, int hidden_size, int num_layers, bool batch_first, float dropout, bool train, bool bidirectional, int[] batch_sizes, Tensor? dropout_state) -> (Tensor, Tensor, Tensor, Tensor, Tensor)",
			Doc: "runs a recurrent network of mode 0 (ReLU), 1 (tanh), 2 (LSTM) or 3 (GRU) under the name of a library " +
				"for GPUs: input [T, n, in], [n, T, in] with batch_first or, with batch_sizes, packed [elements, in], " +
				"states [layers * directions, n, hidden]. weight holds weight_stride0 tensors (4, or 2 without biases) " +
				"for each direction of each layer. The results are the output, the last states (that of the cells is " +
				"empty but for LSTM), and two empty ones, what the library keeps. dropout_state is not read. PyTorch " +
				"refuses it without the library; here programs that were made on a GPU run.",
			Body: vendorNetwork,
		},
		{
			Schema: "mkldnn_rnn_layer(Tensor input, Tensor weight0, Tensor weight1, Tensor weight2, Tensor weight3, Tensor hx_, Tensor cx_, bool reverse, int[] batch_sizes, int mode, int hidden_size, int num_layers, bool has_biases, bool bidirectional, bool batch_first, bool train) -> (Tensor, Tensor, Tensor, Tensor)",
			Doc: "is one direction of one layer of an LSTM (mode 2, as in PyTorch) under the name of PyTorch's kernel " +
				"library for CPUs: input [T, n, in], weights [4 hidden, in], [4 hidden, hidden] and biases [4 hidden], " +
				"states [n, hidden]. The results are the output [T, n, hidden], both last states, and an empty one, " +
				"what the library keeps. num_layers, bidirectional, batch_first and train change nothing.",
			Body: vendorLayer,
		},
	} {
		tensor.Register(d)
	}
}

// vendorLSTM is an LSTM's place among vendorModes.
const vendorLSTM = 2

// vendorModes are the kinds of network by their numbers in cuDNN and MIOpen.
var vendorModes = []int{modeReLU, modeTanh, modeLSTM, modeGRU}

func vendorNetwork(c *Ctx) {
	each := c.Int(2)
	if m := c.Int(5); m < 0 || m >= len(vendorModes) {
		c.Fail(tensor.ErrValue, "unrecognized RNN mode %d", m)
	}
	mode := vendorModes[c.Int(5)]
	switch {
	case each != 2 && each != 4:
		c.Fail(tensor.ErrValue, "expected 2 or 4 weights for each direction of a layer, got weight_stride0=%d", each)
	case mode == modeLSTM && c.T(4) == nil:
		c.Fail(tensor.ErrValue, "cx is None, but an LSTM needs the state of its cells")
	case mode != modeLSTM && c.T(4) != nil:
		c.Fail(tensor.ErrValue, "cx is given, but only an LSTM has a state of its cells")
	}
	dropout := c.Float(9)
	if !c.Bool(10) {
		dropout = 0
	}
	n := newNetwork(c, mode, c.Tensors(1), each == 4, c.Int(7), dropout, c.Bool(11))
	x := c.T(0)
	var out, hn, cn *T
	if sizes := c.Ints(12); len(sizes) > 0 {
		out, hn, cn = n.overPacked(c, checkBatchSizes(c, sizes), x, c.T(3), c.T(4))
	} else {
		out, hn, cn = n.overSequences(x, c.T(3), c.T(4), c.Bool(8))
	}
	if cn == nil {
		cn = x.NewEmpty([]int{0})
	}
	c.Return(out, hn, cn, x.NewEmpty([]int{0}, tensor.NewEmptyOptions{DType: tensor.Uint8}), x.NewEmpty([]int{0}))
}

func vendorLayer(c *Ctx) {
	x := c.T(0)
	if mode := c.Int(9); mode != vendorLSTM {
		c.Fail(tensor.ErrNotImpl, "expected mode 2, an LSTM, got %d", mode)
	}
	if x.Dim() != 3 || x.Size(0) == 0 || c.T(5).Dim() != 2 || c.T(6).Dim() != 2 {
		c.Fail(tensor.ErrShape, "expected an input [T, n, in] and states [n, hidden], got %s, %s and %s",
			tensor.ShapeString(x.Shape()), tensor.ShapeString(c.T(5).Shape()), tensor.ShapeString(c.T(6).Shape()))
	}
	if h := c.Int(10); c.T(5).Size(1) != h || c.T(6).Size(1) != h {
		c.Fail(tensor.ErrShape, "expected states [n, %d] for hidden_size=%d, got %s and %s", h, h,
			tensor.ShapeString(c.T(5).Shape()), tensor.ShapeString(c.T(6).Shape()))
	}
	w := &cellWeights{ih: c.T(1), hh: c.T(2)}
	if c.Bool(12) {
		w.bih, w.bhh = c.T(3), c.T(4)
	}
	n := &network{mode: modeLSTM}
	out, hn, cn := n.layer(w, x, c.T(5), c.T(6), c.Bool(7))
	c.Return(out, hn, cn, x.NewEmpty([]int{0}, tensor.NewEmptyOptions{DType: tensor.Uint8}))
}
