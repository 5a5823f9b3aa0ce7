package quantized

import (
	"github.com/gotorch-dev/torch/internal/cpu/quant"
	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

const cellClass = "__torch__.torch.classes.rnn.CellParamsBase"

// Cell is the parameters of one layer and direction of a recurrent network, PyTorch's CellParamsBase.
type Cell struct {
	Input, Hidden *Linear
	BiasIH        *T // kept for files; the packed parameters have their own
	BiasHH        *T
	ReduceRange   bool
	Half          bool // weights of float16
	legacy        bool // of the operators in legacy.go
}

// NewCell joins packed parameters of a recurrent layer. reduceRange has the inputs quantized to seven bits.
func NewCell(input, hidden *Linear, biasIH, biasHH *T, reduceRange bool) *Cell {
	return &Cell{Input: input, Hidden: hidden, BiasIH: biasIH, BiasHH: biasHH, ReduceRange: reduceRange,
		Half: input.packed == nil}
}

func (p *Cell) apply(c *Ctx, l *Linear, x *T) *T {
	if p.legacy {
		return legacyDynamic(c, l, x)
	}
	if p.Half {
		return linearHalf(c, l, x, false)
	}
	return linearDynamic(c, l, x, p.ReduceRange, false)
}

// lstm is a step: gates are what the input contributes.
func (p *Cell) lstm(c *Ctx, gates, h, cell *T) (hy, cy *T) {
	g := p.apply(c, p.Hidden, h).Add(gates).Chunk(4, tensor.ChunkOptions{Dim: 1})
	if len(g) != 4 {
		c.Fail(tensor.ErrShape, "%s: the weights are not those of an LSTM", c.Op().FullName())
	}
	cy = g[1].Sigmoid().Mul(cell).Add(g[0].Sigmoid().Mul(g[2].Tanh()))
	return g[3].Sigmoid().Mul(cy.Tanh()), cy
}

// gru is a step: gates are what the input contributes.
func (p *Cell) gru(c *Ctx, gates, h *T) *T {
	x := gates.Chunk(3, tensor.ChunkOptions{Dim: 1})
	y := p.apply(c, p.Hidden, h).Chunk(3, tensor.ChunkOptions{Dim: 1})
	if len(x) != 3 || len(y) != 3 {
		c.Fail(tensor.ErrShape, "%s: the weights are not those of a GRU", c.Op().FullName())
	}
	reset, update := y[0].Add(x[0]).Sigmoid(), y[1].Add(x[1]).Sigmoid()
	n := x[2].Add(y[2].Mul(reset)).Tanh()
	return h.Sub(n).Mul(update).Add(n)
}

// cells reads a list of parameters.
func cells(c *Ctx, i, want int) []*Cell {
	var l []*Cell
	switch x := c.Any(i).(type) {
	case []*Cell:
		l = x
	case []any:
		for _, e := range x {
			if p, ok := e.(*Cell); ok {
				l = append(l, p)
			}
		}
	}
	if len(l) != want || want == 0 {
		c.Fail(tensor.ErrType, "%s: %d parameters of cells are wanted, got %d", c.Op().FullName(), want, len(l))
	}
	return l
}

// network runs all layers and directions over x [time, batch, features]; states are [layers*directions, batch,
// hidden], cell states nil for a GRU.
func network(c *Ctx, x *T, h, cell *T, params []*Cell, bidirectional bool) (y, hn, cn *T) {
	dirs := op.Pick(bidirectional, 2, 1)
	if x.Dim() != 3 || h.Dim() != 3 || h.Size(0) != len(params) || cell != nil && !tensor.SameShape(cell.Shape(),
		h.Shape()) || h.Size(1) != x.Size(1) || x.Size(0) == 0 {
		c.Fail(tensor.ErrShape, "%s: an input of shape %s does not fit states of shape %s", c.Op().FullName(),
			tensor.ShapeString(x.Shape()), tensor.ShapeString(h.Shape()))
	}
	var hs, cs []*T
	for layer := range len(params) / dirs {
		outs := make([]*T, dirs)
		for d := range dirs {
			k := layer*dirs + d
			var mem *T
			if cell != nil {
				mem = cell.Select(0, k)
			}
			var state *T
			outs[d], state, mem = params[k].sequence(c, x, h.Select(0, k), mem, d == 1)
			hs = append(hs, state)
			if cell != nil {
				cs = append(cs, mem)
			}
		}
		if x = outs[0]; dirs == 2 {
			x = call1("aten::cat", outs, 2)
		}
	}
	hn = call1("aten::stack", hs, 0)
	if cell != nil {
		cn = call1("aten::stack", cs, 0)
	}
	return x, hn, cn
}

// sequence runs one layer and direction: y are the states after each step, in the order of x.
func (p *Cell) sequence(c *Ctx, x, h, mem *T, backwards bool) (y, hy, cy *T) {
	gates := p.apply(c, p.Input, x)
	if !p.Half && x.DType() == tensor.Float32 && h.DType() == tensor.Float32 && (mem == nil ||
		mem.DType() == tensor.Float32) {
		return p.fused(c, gates, h, mem, backwards)
	}
	steps := make([]*T, x.Size(0))
	for i := range steps {
		t := i
		if backwards {
			t = len(steps) - 1 - i
		}
		if mem != nil {
			h, mem = p.lstm(c, gates.Select(0, t), h, mem)
		} else {
			h = p.gru(c, gates.Select(0, t), h)
		}
		steps[t] = h
	}
	return call1("aten::stack", steps, 0), h, mem
}

// fused is sequence on memory: in each step the state is quantized by its range and multiplied with the hidden weights,
// and one kernel makes the next state of the gates.
func (p *Cell) fused(c *Ctx, gates, h, mem *T, backwards bool) (y, hy, cy *T) {
	w, steps, batch, n := p.Hidden.packed, gates.Size(0), h.Size(0), h.Size(1)
	parts := op.Pick(mem != nil, 4, 3)
	if w.Length != n || w.N != parts*n || gates.Size(2) != w.N {
		c.Fail(tensor.ErrShape, "%s: the weights are not those of a cell with states of %d numbers", c.Op().FullName(),
			n)
	}
	y = tensor.New([]int{steps, batch, n}, tensor.Float32)
	hy, cy = copyAs(h, tensor.Float32), nil
	state, out := tensor.Memory[float32](hy), tensor.Memory[float32](y)
	var cells []float32
	if mem != nil {
		cy = copyAs(mem, tensor.Float32)
		cells = tensor.Memory[float32](cy)
	}
	if len(out) == 0 {
		return y, hy, cy
	}
	in := tensor.Memory[float32](tensor.Dense(gates))
	q, sums := make([]uint8, batch*n), make([]float32, batch*w.N)
	reduce := p.ReduceRange && p.Hidden.Engine != quant.QNNPACK
	r := &quant.Result{Floats: sums}
	var x, next []float32 // the input's part of the gates of a step, and the states after it
	// states makes the next states of some rows of the batch.
	states := func(lo, hi int) {
		if mem != nil {
			s, c := sums[lo*w.N:hi*w.N], cells[lo*n:hi*n]
			vec.AddF32(s, s, x[lo*w.N:hi*w.N])
			vec.LSTMCellRowsF32(hi-lo, n, next[lo*n:hi*n], n, c, n, s, w.N, s[n:], w.N, s[2*n:], w.N, s[3*n:], w.N, c, n)
		} else {
			for b := lo; b < hi; b++ {
				s, g := sums[b*w.N:][:w.N], x[b*w.N:][:w.N]
				vec.AddF32(s[:2*n], s[:2*n], g[:2*n])
				vec.GRUCellF32(next[b*n:][:n], s[:n], s[n:2*n], g[2*n:], s[2*n:], state[b*n:][:n])
			}
		}
		copy(state[lo*n:hi*n], next[lo*n:hi*n])
	}
	const gatesOfPart = 8192
	for i := range steps {
		t := i
		if backwards {
			t = steps - 1 - i
		}
		lo, hi := quant.Range(state)
		scale, zero := quant.Params(lo, hi, 0, 255, false, reduce)
		quant.Quantize(q, state, float32(scale), zero)
		quant.Multiply(w, quant.InputOf(q, float32(scale), zero), batch, r)
		x, next = in[t*batch*w.N:][:batch*w.N], out[t*batch*n:][:batch*n]
		par.For(batch, 1+gatesOfPart/w.N, states)
	}
	return y, hy, cy
}

func init() {
	define("quantized::make_quantized_cell_params_dynamic("+linearClass+" w_ih, "+linearClass+" w_hh, Tensor bias_ih, "+
		"Tensor bias_hh, bool reduce_range=False) -> "+cellClass, "joins the parameters of a recurrent layer.",
		func(c *Ctx) {
			c.ReturnValue(tensor.AnyValue(NewCell(argument[Linear](c, 0), argument[Linear](c, 1), c.T(2), c.T(3),
				c.Bool(4))))
		})
	define("quantized::make_quantized_cell_params_fp16("+linearClass+" w_ih, "+linearClass+" w_hh) -> "+cellClass,
		"joins the parameters of a recurrent layer with weights of float16.", func(c *Ctx) {
			c.ReturnValue(tensor.AnyValue(NewCell(argument[Linear](c, 0), argument[Linear](c, 1), nil, nil, false)))
		})
	aten := func(schema, doc string, kernel func(c *Ctx)) {
		tensor.Register(tensor.Def{Schema: schema, Doc: doc, Go: "-", NoGrad: noGrad, DataDependent: true, CPU: kernel,
			Storage: tensor.TakesQuantized})
	}
	run := func(c *Ctx, h, cell *T) {
		x, first := c.T(0), c.Bool(8)
		if x.Dim() != 3 {
			c.Fail(tensor.ErrShape, "%s: expected an input of 3 dimensions, got %d", c.Op().FullName(), x.Dim())
		}
		n := c.Int(4)
		if n < 1 || n > 1<<16 {
			c.Fail(tensor.ErrValue, "%s: num_layers is %d", c.Op().FullName(), n)
		}
		params := cells(c, 2, n*op.Pick(c.Bool(7), 2, 1))
		if first {
			x = x.Transpose(0, 1)
		}
		y, hn, cn := network(c, x, h, cell, params, c.Bool(7))
		if first {
			y = y.Transpose(0, 1)
		}
		c.SetOut(0, y)
		c.SetOut(1, hn)
		if cell != nil {
			c.SetOut(2, cn)
		}
	}
	aten("quantized_lstm.input(Tensor input, Tensor[] hx, "+cellClass+"[] params, bool has_biases, int num_layers, "+
		"float dropout, bool train, bool bidirectional, bool batch_first, *, ScalarType? dtype=None, "+
		"bool use_dynamic=False) -> (Tensor, Tensor, Tensor)", "is an LSTM whose weights are quantized.", func(c *Ctx) {
		hx := c.Tensors(1)
		if len(hx) != 2 {
			c.Fail(tensor.ErrShape, "lstm expects two hidden states")
		}
		run(c, hx[0], hx[1])
	})
	aten("quantized_gru.input(Tensor input, Tensor hx, "+cellClass+"[] params, bool has_biases, int num_layers, "+
		"float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)",
		"is a GRU whose weights are quantized.", func(c *Ctx) { run(c, c.T(1), nil) })
	cell := func(name, states, results string, kernel func(c *Ctx, p *Cell)) {
		define("quantized::quantized_"+name+"_cell_dynamic(Tensor input, "+states+" hx, "+linearClass+" w_ih, "+linearClass+
			" w_hh, Tensor b_ih, Tensor b_hh) -> "+results, "is one step of a recurrent layer.", func(c *Ctx) {
			kernel(c, NewCell(argument[Linear](c, 2), argument[Linear](c, 3), c.T(4), c.T(5), true))
		})
	}
	cell("gru", "Tensor", "Tensor", func(c *Ctx, p *Cell) {
		c.SetOut(0, p.gru(c, p.apply(c, p.Input, c.T(0)), c.T(1)))
	})
	for _, f := range []string{"relu", "tanh"} {
		cell("rnn_"+f, "Tensor", "Tensor", func(c *Ctx, p *Cell) {
			c.SetOut(0, call1("aten::"+f, p.apply(c, p.Hidden, c.T(1)).Add(p.apply(c, p.Input, c.T(0)))))
		})
	}
	define("quantized::quantized_lstm_cell_dynamic(Tensor input, Tensor[] hx, "+linearClass+" w_ih, "+linearClass+" w_hh, "+
		"Tensor bias_ih, Tensor bias_hh) -> (Tensor, Tensor)", "is one step of an LSTM.", func(c *Ctx) {
		p := NewCell(argument[Linear](c, 2), argument[Linear](c, 3), c.T(4), c.T(5), true)
		hx := c.Tensors(1)
		if len(hx) != 2 {
			c.Fail(tensor.ErrShape, "lstm_cell expects two hidden states")
		}
		h, cy := p.lstm(c, p.apply(c, p.Input, c.T(0)), hx[0], hx[1])
		c.SetOut(0, h)
		c.SetOut(1, cy)
	})
}
