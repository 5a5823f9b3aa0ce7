package nn

import (
	"github.com/gotorch-dev/torch"

	"fmt"
	"strings"

	"github.com/gotorch-dev/torch/nn/utils/rnn"
	"github.com/gotorch-dev/torch/tensor"
)

// RNNOptions are the options of the recurrent layers; the zero value is PyTorch's default.
type RNNOptions struct {
	NumLayers     tensor.Opt[int] // default 1
	ReLU          bool            // RNN only: ReLU instead of tanh
	NoBias        bool
	BatchFirst    bool    // inputs are (N, L, …) instead of (L, N, …)
	Dropout       float64 // between layers while training; default 0
	Bidirectional bool
	ProjSize      int // LSTM only: size that the hidden state is projected to; 0: none
	DType         tensor.DType
	Device        tensor.Device // where the parameters are made; the default device unless given
}

// RNNBase is what the recurrent layers share. Parameters are found by name: weight_ih_l0, weight_hh_l0, bias_ih_l0,
// bias_hh_l0, with LSTM's ProjSize weight_hr_l0, and the same with _reverse for the backward direction.
type RNNBase struct {
	Base
	InputSize, HiddenSize, NumLayers int
	Bias, BatchFirst, Bidirectional  bool
	ReLU                             bool
	Dropout                          tensor.Scalar
	ProjSize                         int
	cells                            []rnnWeights // layer by layer, forward then backward
	mode                             string
}

// rnnWeights are the parameters of one direction of one layer.
type rnnWeights struct {
	suffix               string
	ih, hh, bih, bhh, hr *Tensor
}

func gatesOf(mode string) int {
	switch mode {
	case "LSTM":
		return 4
	case "GRU":
		return 3
	}
	return 1
}

func (m *RNNBase) setup(mode string, in, hidden int, opts []RNNOptions) {
	o := first(opts)
	m.mode, m.InputSize, m.HiddenSize, m.NumLayers = mode, in, hidden, o.NumLayers.Or(1)
	m.Bias, m.BatchFirst, m.Bidirectional, m.ReLU, m.ProjSize = !o.NoBias, o.BatchFirst, o.Bidirectional, o.ReLU,
		o.ProjSize
	m.Dropout = o.Dropout
	if p := toFloat(m.Dropout); !(p >= 0 && p <= 1) {
		tensor.Fail(tensor.ErrValue, "dropout should be a number in range [0, 1] representing the probability of an "+
			"element being zeroed")
	}
	if p := toFloat(m.Dropout); p > 0 && m.NumLayers == 1 {
		tensor.Warn("dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects "+
			"num_layers greater than 1, but got dropout=%s and num_layers=1", pyNum(m.Dropout))
	}
	if hidden <= 0 {
		tensor.Fail(tensor.ErrValue, "hidden_size must be greater than zero")
	}
	if m.NumLayers <= 0 {
		tensor.Fail(tensor.ErrValue, "num_layers must be greater than zero")
	}
	if o.ProjSize < 0 || o.ProjSize >= hidden {
		tensor.Fail(tensor.ErrValue, "proj_size has to be smaller than hidden_size")
	}
	if o.ProjSize > 0 && mode != "LSTM" {
		tensor.Fail(tensor.ErrValue, "proj_size argument is only supported for LSTM, not RNN or GRU")
	}
	rows := gatesOf(mode) * hidden
	real := m.realHidden()
	for l := range m.NumLayers {
		size := in
		if l > 0 {
			size = real * m.directions()
		}
		for d := range m.directions() {
			w := rnnWeights{suffix: fmt.Sprintf("_l%d", l), ih: param(at{o.DType, o.Device}, rows, size),
				hh: param(at{o.DType, o.Device}, rows, real)}
			if d == 1 {
				w.suffix += "_reverse"
			}
			if m.Bias {
				w.bih, w.bhh = param(at{o.DType, o.Device}, rows), param(at{o.DType, o.Device}, rows)
			}
			if m.ProjSize > 0 {
				w.hr = param(at{o.DType, o.Device}, m.ProjSize, hidden)
			}
			m.cells = append(m.cells, w)
		}
	}
	m.ResetParameters()
}

func (m *RNNBase) directions() int {
	if m.Bidirectional {
		return 2
	}
	return 1
}

// realHidden is the size of the hidden state that is handed on.
func (m *RNNBase) realHidden() int {
	if m.ProjSize > 0 {
		return m.ProjSize
	}
	return m.HiddenSize
}

// ResetParameters draws the parameters anew, uniformly from ±1/sqrt(hidden).
func (m *RNNBase) ResetParameters() {
	for _, t := range m.params() {
		uniformFan(t, m.HiddenSize)
	}
}

// WalkOwn visits the parameters in PyTorch's order.
func (m *RNNBase) WalkOwn(param func(string, *Tensor), _ func(string, *Tensor, bool), _ func(string, Module)) {
	m.fields(func(name string, at **Tensor) {
		if (*at).IsParameter() { // not one that is computed
			param(name, *at)
		}
	})
}

// fields visits where the tensors are kept, in the order in which the operators take them.
func (m *RNNBase) fields(visit func(name string, at **Tensor)) {
	for i := range m.cells {
		w := &m.cells[i]
		visit("weight_ih"+w.suffix, &w.ih)
		visit("weight_hh"+w.suffix, &w.hh)
		if w.bih != nil {
			visit("bias_ih"+w.suffix, &w.bih)
			visit("bias_hh"+w.suffix, &w.bhh)
		}
		if w.hr != nil {
			visit("weight_hr"+w.suffix, &w.hr)
		}
	}
}

func (m *RNNBase) tensorField(name string) (found **Tensor) {
	m.fields(func(n string, at **Tensor) {
		if n == name {
			found = at
		}
	})
	return found
}

// ExtraRepr prints the settings.
func (m *RNNBase) ExtraRepr() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d, %d", m.InputSize, m.HiddenSize)
	if m.ProjSize != 0 {
		fmt.Fprintf(&b, ", proj_size=%d", m.ProjSize)
	}
	if m.NumLayers != 1 {
		fmt.Fprintf(&b, ", num_layers=%d", m.NumLayers)
	}
	if !m.Bias {
		b.WriteString(", bias=False")
	}
	if m.BatchFirst {
		b.WriteString(", batch_first=True")
	}
	if toFloat(m.Dropout) != 0 {
		b.WriteString(", dropout=" + pyNum(m.Dropout))
	}
	if m.Bidirectional {
		b.WriteString(", bidirectional=True")
	}
	return b.String()
}

// params lists the parameters in the order in which the operators take them.
func (m *RNNBase) params() []*Tensor {
	list := make([]*Tensor, 0, 4*len(m.cells))
	m.fields(func(_ string, at **Tensor) { list = append(list, *at) })
	return list
}

// run calls the operator of the network: all layers, both directions.
func (m *RNNBase) run(x, h0, c0 *Tensor) (out, hn, cn *Tensor) {
	params, dropout := m.params(), toFloat(m.Dropout)
	switch {
	case m.mode == "LSTM":
		return torch.LSTM(x, []*Tensor{h0, c0}, params, m.Bias, m.NumLayers, dropout, m.Training(), m.Bidirectional,
			m.BatchFirst)
	case m.mode == "GRU":
		out, hn = torch.GRU(x, h0, params, m.Bias, m.NumLayers, dropout, m.Training(), m.Bidirectional, m.BatchFirst)
	case m.ReLU:
		out, hn = torch.RNNReLU(x, h0, params, m.Bias, m.NumLayers, dropout, m.Training(), m.Bidirectional,
			m.BatchFirst)
	default:
		out, hn = torch.RNNTanh(x, h0, params, m.Bias, m.NumLayers, dropout, m.Training(), m.Bidirectional,
			m.BatchFirst)
	}
	return out, hn, nil
}

// forward checks shapes, adds what is missing and runs the layers.
func (m *RNNBase) forward(x *Tensor, h0, c0 *Tensor) (out, hn, cn *Tensor) {
	if x.Dim() != 2 && x.Dim() != 3 {
		tensor.Fail(tensor.ErrShape, "%s: Expected input to be 2D or 3D, got %dD instead", m.mode, x.Dim())
	}
	unbatched := x.Dim() == 2
	batch := 1 // dimension of the batch
	if m.BatchFirst {
		batch = 0
	}
	if unbatched {
		x = x.Unsqueeze(batch)
		for _, p := range []**Tensor{&h0, &c0} {
			if *p != nil {
				if (*p).Dim() != 2 {
					tensor.Fail(tensor.ErrShape, "For unbatched 2-D input, hx should also be 2-D but got %d-D tensor",
						(*p).Dim())
				}
				*p = (*p).Unsqueeze(1)
			}
		}
	}
	if x.Size(2) != m.InputSize {
		tensor.Fail(tensor.ErrShape, "input.size(-1) must be equal to input_size. Expected %d, got %d", m.InputSize,
			x.Size(2))
	}
	if x.Size(1-batch) == 0 {
		tensor.Fail(tensor.ErrShape, "Expected sequence length to be larger than 0 in RNN")
	}
	h0, c0 = m.start(x, x.Size(batch), h0, c0)
	out, hn, cn = m.run(x, h0, c0)
	if unbatched {
		out, hn = out.SqueezeDim(batch), hn.SqueezeDim(1)
		if cn != nil {
			cn = cn.SqueezeDim(1)
		}
	}
	return out, hn, cn
}

// hooked is forward, or forwardPacked where x is the data of packed sequences, with the module's hooks around it.
func (m *RNNBase) hooked(x, h0, c0 *Tensor, packed *rnn.PackedSequence) (out, hn, cn *Tensor) {
	forward := m.forward
	if packed != nil {
		forward = func(x, h0, c0 *Tensor) (out, hn, cn *Tensor) { return m.forwardPacked(packed.With(x), h0, c0) }
	}
	if m.unseen() {
		return forward(x, h0, c0)
	}
	r := runAll(m.self, []*Tensor{x, h0, c0}, func(in []*Tensor) []*Tensor {
		out, hn, cn := forward(in[0], in[1], in[2])
		if cn == nil {
			return []*Tensor{out, hn}
		}
		return []*Tensor{out, hn, cn}
	})
	if len(r) == 2 {
		return r[0], r[1], nil
	}
	return r[0], r[1], r[2]
}

// zerosLike is a tensor of zeros of x's dtype, on its device.
func zerosLike(x *Tensor, shape []int) *Tensor {
	return torch.Zeros(shape, torch.ZerosOptions{DType: x.DType(), Device: x.Device()})
}

// start checks the initial states, or makes zeros.
func (m *RNNBase) start(x *Tensor, n int, h0, c0 *Tensor) (h, c *Tensor) {
	layers := m.NumLayers * m.directions()
	check := func(t *Tensor, size int, what string) *Tensor {
		want := []int{layers, n, size}
		if t == nil {
			return zerosLike(x, want)
		}
		if !tensor.SameShape(t.Shape(), want) {
			tensor.Fail(tensor.ErrShape, "Expected %s size (%d, %d, %d), got %s", what, layers, n, size,
				tensor.ShapeString(t.Shape()))
		}
		return t
	}
	what := "hidden"
	if m.mode == "LSTM" {
		what = "hidden[0]"
	}
	h = check(h0, m.realHidden(), what)
	if m.mode == "LSTM" {
		c = check(c0, m.HiddenSize, "hidden[1]")
	}
	return h, c
}

// RNN is a simple recurrent network (Elman 1990): h = tanh(W_ih·x + b_ih + W_hh·h + b_hh).
// https://pytorch.org/docs/stable/generated/torch.nn.RNN.html
type RNN struct{ RNNBase }

// NewRNN makes an RNN.
func NewRNN(inputSize, hiddenSize int, opts ...RNNOptions) *RNN {
	m := &RNN{}
	m.setup("RNN", inputSize, hiddenSize, opts)
	return New(m)
}

// Forward runs over the sequences x (L, N, in), (N, L, in) when BatchFirst, or (L, in), from the state h0
// (layers·directions, N, hidden), zeros when it is not given. It returns the last layer's outputs and the last states
// of all layers.
func (m *RNN) Forward(x *Tensor, h0 ...*Tensor) (out, hn *Tensor) {
	out, hn, _ = m.hooked(x, first(h0), nil, nil)
	return out, hn
}

// GRU is a network of gated recurrent units (Cho et al. 2014).
// https://pytorch.org/docs/stable/generated/torch.nn.GRU.html
type GRU struct{ RNNBase }

// NewGRU makes a GRU.
func NewGRU(inputSize, hiddenSize int, opts ...RNNOptions) *GRU {
	m := &GRU{}
	m.setup("GRU", inputSize, hiddenSize, opts)
	return New(m)
}

// Forward is RNN's.
func (m *GRU) Forward(x *Tensor, h0 ...*Tensor) (out, hn *Tensor) {
	out, hn, _ = m.hooked(x, first(h0), nil, nil)
	return out, hn
}

// LSTM is a network of long short-term memory cells (Hochreiter and Schmidhuber 1997).
// https://pytorch.org/docs/stable/generated/torch.nn.LSTM.html
type LSTM struct{ RNNBase }

// NewLSTM makes an LSTM.
func NewLSTM(inputSize, hiddenSize int, opts ...RNNOptions) *LSTM {
	m := &LSTM{}
	m.setup("LSTM", inputSize, hiddenSize, opts)
	return New(m)
}

// Forward is RNN's, with the states h0 (layers·directions, N, hidden or ProjSize) and c0 (layers·directions, N,
// hidden): give both or none.
func (m *LSTM) Forward(x *Tensor, state ...*Tensor) (out, hn, cn *Tensor) {
	h0, c0 := pair(state)
	return m.hooked(x, h0, c0, nil)
}

func pair(state []*Tensor) (h, c *Tensor) {
	switch len(state) {
	case 0:
		return nil, nil
	case 2:
		return state[0], state[1]
	}
	tensor.Fail(tensor.ErrType, "LSTM: give h and c, or none, not %d states", len(state))
	return nil, nil
}

// RNNCellOptions are the options of the recurrent cells; the zero value is PyTorch's default.
type RNNCellOptions struct {
	NoBias bool
	ReLU   bool // RNNCell only: ReLU instead of tanh
	DType  tensor.DType
	Device tensor.Device // where the parameters are made; the default device unless given
}

// RNNCellBase is what the recurrent cells share.
type RNNCellBase struct {
	Base
	InputSize, HiddenSize int
	ReLU                  bool
	WeightIH              *Tensor // (gates·hidden, in)
	WeightHH              *Tensor // (gates·hidden, hidden)
	BiasIH, BiasHH        *Tensor // (gates·hidden), nil without
	mode                  string
}

func (m *RNNCellBase) setup(mode string, in, hidden int, opts []RNNCellOptions) {
	o := first(opts)
	m.mode, m.InputSize, m.HiddenSize, m.ReLU = mode, in, hidden, o.ReLU
	rows := gatesOf(mode) * hidden
	m.WeightIH, m.WeightHH = param(at{o.DType, o.Device}, rows, in), param(at{o.DType, o.Device}, rows, hidden)
	if !o.NoBias {
		m.BiasIH, m.BiasHH = param(at{o.DType, o.Device}, rows), param(at{o.DType, o.Device}, rows)
	}
	m.ResetParameters()
}

// ResetParameters draws the parameters anew, uniformly from ±1/sqrt(hidden).
func (m *RNNCellBase) ResetParameters() {
	for _, p := range []*Tensor{m.WeightIH, m.WeightHH, m.BiasIH, m.BiasHH} {
		if p != nil {
			uniformFan(p, m.HiddenSize)
		}
	}
}

// ExtraRepr prints the settings.
func (m *RNNCellBase) ExtraRepr() string {
	s := fmt.Sprintf("%d, %d", m.InputSize, m.HiddenSize)
	if m.BiasIH == nil {
		s += ", bias=False"
	}
	if m.ReLU {
		s += ", nonlinearity=relu"
	}
	return s
}

func (m *RNNCellBase) forward(x, h, c *Tensor) (hn, cn *Tensor) {
	if x.Dim() != 1 && x.Dim() != 2 {
		tensor.Fail(tensor.ErrShape, "%sCell: Expected input to be 1D or 2D, got %dD instead", m.mode, x.Dim())
	}
	for _, s := range []*Tensor{h, c} {
		if s != nil && s.Dim() != x.Dim() {
			tensor.Fail(tensor.ErrShape, "%sCell: Expected hidden to be %dD, got %dD instead", m.mode, x.Dim(), s.Dim())
		}
	}
	if x.Dim() == 1 { // a batch of one
		rows := []*Tensor{x, h, c}
		for i, t := range rows {
			if t != nil {
				rows[i] = t.Unsqueeze(0)
			}
		}
		hn, cn = m.forward(rows[0], rows[1], rows[2])
		hn = hn.SqueezeDim(0)
		if cn != nil {
			cn = cn.SqueezeDim(0)
		}
		return hn, cn
	}
	shape := []int{x.Size(0), m.HiddenSize}
	if h == nil {
		h = zerosLike(x, shape)
	}
	if c == nil && m.mode == "LSTM" {
		c = zerosLike(x, shape)
	}
	switch {
	case m.mode == "LSTM":
		return torch.LSTMCell(x, []*Tensor{h, c}, m.WeightIH, m.WeightHH,
			torch.LSTMCellOptions{BIh: m.BiasIH, BHh: m.BiasHH})
	case m.mode == "GRU":
		return torch.GRUCell(x, h, m.WeightIH, m.WeightHH, torch.GRUCellOptions{BIh: m.BiasIH, BHh: m.BiasHH}), nil
	case m.ReLU:
		return torch.RNNReLUCell(x, h, m.WeightIH, m.WeightHH, torch.RNNReLUCellOptions{BIh: m.BiasIH, BHh: m.BiasHH}),
			nil
	}
	return torch.RNNTanhCell(x, h, m.WeightIH, m.WeightHH, torch.RNNTanhCellOptions{BIh: m.BiasIH, BHh: m.BiasHH}), nil
}

// hooked is forward with the module's hooks around it.
func (m *RNNCellBase) hooked(x, h, c *Tensor) (hn, cn *Tensor) {
	if m.unseen() {
		return m.forward(x, h, c)
	}
	r := runAll(m.self, []*Tensor{x, h, c}, func(in []*Tensor) []*Tensor {
		hn, cn := m.forward(in[0], in[1], in[2])
		if cn == nil {
			return []*Tensor{hn}
		}
		return []*Tensor{hn, cn}
	})
	if len(r) == 1 {
		return r[0], nil
	}
	return r[0], r[1]
}

// RNNCell is one step of an RNN.
// https://pytorch.org/docs/stable/generated/torch.nn.RNNCell.html
type RNNCell struct{ RNNCellBase }

// NewRNNCell makes an RNNCell.
func NewRNNCell(inputSize, hiddenSize int, opts ...RNNCellOptions) *RNNCell {
	m := &RNNCell{}
	m.setup("RNN", inputSize, hiddenSize, opts)
	return New(m)
}

// Forward gives the next state for the input x (N, in) or (in) and the state h, zeros when it is not given.
func (m *RNNCell) Forward(x *Tensor, h ...*Tensor) *Tensor {
	hn, _ := m.hooked(x, first(h), nil)
	return hn
}

// GRUCell is one step of a GRU.
// https://pytorch.org/docs/stable/generated/torch.nn.GRUCell.html
type GRUCell struct{ RNNCellBase }

// NewGRUCell makes a GRUCell.
func NewGRUCell(inputSize, hiddenSize int, opts ...RNNCellOptions) *GRUCell {
	m := &GRUCell{}
	m.setup("GRU", inputSize, hiddenSize, opts)
	return New(m)
}

// Forward gives the next state for the input x (N, in) or (in) and the state h, zeros when it is not given.
func (m *GRUCell) Forward(x *Tensor, h ...*Tensor) *Tensor {
	hn, _ := m.hooked(x, first(h), nil)
	return hn
}

// LSTMCell is one step of an LSTM.
// https://pytorch.org/docs/stable/generated/torch.nn.LSTMCell.html
type LSTMCell struct{ RNNCellBase }

// NewLSTMCell makes an LSTMCell.
func NewLSTMCell(inputSize, hiddenSize int, opts ...RNNCellOptions) *LSTMCell {
	m := &LSTMCell{}
	m.setup("LSTM", inputSize, hiddenSize, opts)
	return New(m)
}

// Forward gives the next states for the input x (N, in) or (in) and the states h and c, zeros when they are not given.
func (m *LSTMCell) Forward(x *Tensor, state ...*Tensor) (hn, cn *Tensor) {
	h, c := pair(state)
	return m.hooked(x, h, c)
}
