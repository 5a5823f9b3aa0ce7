package rnn

import (
	"github.com/gotorch-dev/torch/tensor"
)

var opBackward = tensor.Slot("gotorch::rnn_layer_backward")

// cell computes the next state from the input's part of the gates.
func cell(mode int, gi, h, c, whh, bhh, whr *T) (hn, cn *T) {
	gh := linear(h, whh, bhh)
	switch mode {
	case modeLSTM:
		g := gi.Add(gh).Chunk(4, tensor.ChunkOptions{Dim: -1})
		i, f, z, o := g[0].Sigmoid(), g[1].Sigmoid(), g[2].Tanh(), g[3].Sigmoid()
		cn = f.Mul(c).Add(i.Mul(z))
		hn = o.Mul(cn.Tanh())
		if whr != nil {
			hn = linear(hn, whr, nil)
		}
		return hn, cn
	case modeGRU:
		x, y := gi.Chunk(3, tensor.ChunkOptions{Dim: -1}), gh.Chunk(3, tensor.ChunkOptions{Dim: -1})
		r := x[0].Add(y[0]).Sigmoid()
		z := x[1].Add(y[1]).Sigmoid()
		n := x[2].Add(r.Mul(y[2])).Tanh()
		return h.Sub(n).Mul(z).Add(n), nil
	}
	sum := gi.Add(gh)
	if dt := gh.DType(); sum.DType() != dt { // PyTorch adds the input's part in place
		sum = sum.ToDType(dt)
	}
	if mode == modeReLU {
		return sum.ReLU(), nil
	}
	return sum.Tanh(), nil
}

// composed is the layer in public operators: what gradients of gradients are made of.
func composed(x, h, c, wih, whh, bih, bhh *T, mode int, reverse bool) (out, cn *T) {
	gates := linear(x, wih, bih)
	ys := make([]*T, x.Size(0))
	for s := range ys {
		t := s
		if reverse {
			t = len(ys) - 1 - s
		}
		h, c = cell(mode, gates.Select(0, t), h, c, whh, bhh, nil)
		ys[t] = h
	}
	return join(opStack, ys, 0), c
}

// run fills in what forward and backward share. The tensors are numbered as in rnn_layer, from at on.
func newLayer[E float](c *Ctx, at int, mode int, reverse bool) *layer[E] {
	dt := tensor.DTypeOf[E]()
	get := func(i int) []E {
		t := c.T(at + i)
		if t == nil {
			return nil
		}
		return tensor.Data[E](tensor.DenseAs(t, dt))
	}
	x := c.T(at)
	l := &layer[E]{mode: mode, gates: gates(mode), planes: planes(mode), reverse: reverse, L: x.Size(0), N: x.Size(1),
		I: x.Size(2), H: c.T(at + 1).Size(1)}
	l.width = width
	if l.single() {
		l.width = max(l.H, 1)
	}
	l.blocks = (l.H + l.width - 1) / l.width
	switch l := any(l).(type) {
	case *layer[float32]:
		l.k = &cells32
	case *layer[float64]:
		l.k = &cells64
	}
	l.x, l.h0, l.c0, l.wih, l.whh, l.bih, l.bhh = get(0), get(1), get(2), get(3), get(4), get(5), get(6)
	return l
}

// in calls f with the elements of o, or of a tensor of f's dtype that is then rounded to o.
func in[E float](o *T, f func(o []E)) {
	if o == nil || o.DType() == tensor.DTypeOf[E]() {
		var d []E
		if o != nil {
			d = tensor.Data[E](o)
		}
		f(d)
		return
	}
	w := tensor.New(o.Shape(), tensor.DTypeOf[E]())
	f(tensor.Data[E](w))
	tensor.CopyRaw(o, w)
	tensor.ReleaseRaw(w)
}

func opMath(dt tensor.DType) tensor.DType {
	if dt == tensor.Float64 {
		return dt
	}
	return tensor.Float32
}

// checkLayer refuses tensors of a layer, which begin with argument i, that do not fit together. It returns the size of
// the states.
func checkLayer(c *Ctx, i, mode int) (H int) {
	if mode < 0 || mode > modeGRU {
		c.Fail(tensor.ErrValue, "there is no mode %d", mode)
	}
	x, h, cx, wih, whh := c.T(i), c.T(i+1), c.T(i+2), c.T(i+3), c.T(i+4)
	g := gates(mode)
	if x.Dim() != 3 || h.Dim() != 2 || wih.Dim() != 2 || whh.Dim() != 2 || (cx == nil) == (mode == modeLSTM) {
		c.Fail(tensor.ErrShape, "expected an input (L, N, I), states (N, H) and weights (gates·H, …)")
	}
	H = h.Size(1)
	for _, b := range []*T{c.T(i + 5), c.T(i + 6)} {
		if b != nil && (b.Dim() != 1 || b.Size(0) != g*H) || (b == nil) != (c.T(i+5) == nil) {
			c.Fail(tensor.ErrShape, "expected two biases of size [%d], or none", g*H)
		}
	}
	if x.Size(0) == 0 || h.Size(0) != x.Size(1) || !tensor.SameShape(wih.Shape(), []int{g * H, x.Size(2)}) ||
		!tensor.SameShape(whh.Shape(), []int{g * H, H}) || cx != nil && !tensor.SameShape(cx.Shape(), h.Shape()) {
		c.Fail(tensor.ErrShape, "input, states and weights do not fit")
	}
	for k := range 7 {
		if t := c.T(i + k); t != nil && (!t.DType().IsFloat() || t.DType() != x.DType()) {
			c.Fail(tensor.ErrDType, "Input and parameter tensors are not the same dtype, found input tensor with %s "+
				"and parameter tensor with %s", x.DType().ClassName(), t.DType().ClassName())
		}
	}
	return H
}

func infer(c *Ctx) {
	x, h, mode := c.T(0), c.T(1), c.Int(7)
	H := checkLayer(c, 0, mode)
	c.Alloc(0, []int{x.Size(0), x.Size(1), H}, x.DType())
	last := []int{0}
	if mode == modeLSTM {
		last = h.Shape()
	}
	c.Alloc(1, last, x.DType())
	steps := 1
	if c.Wants() {
		steps = x.Size(0)
	}
	if mode < modeLSTM {
		steps = 1 // the output is all that is needed
	}
	c.Alloc(2, []int{steps, planes(mode), h.Numel()}, opMath(x.DType()))
}

func run[E float](c *Ctx) {
	l := newLayer[E](c, 0, c.Int(7), c.Bool(8))
	defer l.free()
	ws := c.Out(2)
	l.ws = tensor.Data[E](ws)
	if ws.Size(0) > 1 {
		l.wsStep = ws.Numel() / ws.Size(0)
	}
	if l.N*l.H == 0 {
		return
	}
	in(c.Out(0), func(out []E) {
		in(c.Out(1), func(cn []E) {
			l.out = out
			l.forward(cn)
		})
	})
}

func runBackward[E float](c *Ctx) {
	l := newLayer[E](c, 2, c.Int(11), c.Bool(12))
	defer l.free()
	dt := tensor.DTypeOf[E]()
	l.out = tensor.Data[E](tensor.DenseAs(c.T(9), dt))
	ws := c.T(10)
	l.ws = tensor.Data[E](ws)
	if ws.Size(0) > 1 {
		l.wsStep = ws.Numel() / ws.Size(0)
	}
	gout := tensor.Data[E](tensor.DenseAs(c.T(0), dt))
	var gc []E
	if c.T(1) != nil {
		gc = tensor.Data[E](tensor.DenseAs(c.T(1), dt))
	}
	var o [7]*T
	for i, want := range c.Bools(13) {
		if want {
			o[i] = c.Out(i)
		}
	}
	if l.N*l.H == 0 {
		for _, t := range o {
			if t != nil {
				tensor.ZeroRaw(t)
			}
		}
		return
	}
	var r gradients[E]
	in(o[0], func(d []E) {
		r.x = d
		in(o[1], func(d []E) {
			r.h0 = d
			in(o[2], func(d []E) {
				r.c0 = d
				in(o[3], func(d []E) {
					r.wih = d
					in(o[4], func(d []E) {
						r.whh = d
						in(o[5], func(d []E) {
							r.bih = d
							in(o[6], func(d []E) {
								r.bhh = d
								l.backward(gout, gc, r)
							})
						})
					})
				})
			})
		})
	})
}

// vjp is the gradient; where it is recorded itself, it is that of the composed form.
func vjp(c *Ctx, g *T) []*T {
	r := make([]*T, 7)
	want := make([]bool, 7)
	for i := range want {
		want[i] = c.Has(i) && c.Needs(i)
	}
	gc := c.G(1)
	if tensor.IsGradEnabled() {
		var x [7]*T
		var from []*T
		for i := range x {
			if c.T(i) != nil {
				x[i] = c.T(i).AliasView() // one tensor may be several arguments
			}
			if want[i] = want[i] && x[i].RequiresGrad(); want[i] {
				from = append(from, x[i])
			}
		}
		out, cn := composed(x[0], x[1], x[2], x[3], x[4], x[5], x[6], c.Int(7), c.Bool(8))
		outs, gs := []*T{out}, []*T{g}
		if gc != nil && cn != nil {
			outs, gs = append(outs, cn), append(gs, gc)
		}
		gs = tensor.Grad(outs, from, tensor.GradOptions{GradOutputs: gs, CreateGraph: true, AllowUnused: true})
		for i := range x {
			if want[i] {
				r[i], gs = gs[0], gs[1:]
			}
		}
		return r
	}
	if c.Int(7) != modeLSTM {
		gc = nil
	}
	b := tensor.NewCall(opBackward, 14)
	*b.Arg(0), *b.Arg(1) = tensor.TensorValue(g), tensor.TensorValue(gc)
	for i := range 7 {
		*b.Arg(2 + i) = tensor.TensorValue(c.T(i))
	}
	*b.Arg(9), *b.Arg(10) = tensor.TensorValue(c.Out(0)), tensor.TensorValue(c.Out(2))
	*b.Arg(11), *b.Arg(12), *b.Arg(13) = tensor.IntValue(c.Int(7)), tensor.BoolValue(c.Bool(8)), tensor.Box(want)
	for i, t := range b.DoN() {
		if want[i] {
			r[i] = t
		}
	}
	return r
}

func init() {
	tensor.Register(tensor.Def{
		Schema: "gotorch::rnn_layer(Tensor input, Tensor hx, Tensor? cx, Tensor weight_ih, Tensor weight_hh, Tensor? bias_ih, Tensor? bias_hh, int mode, bool reverse) -> (Tensor output, Tensor cy, Tensor workspace)",
		Doc: "is one direction of one recurrent layer over the sequences (L, N, I); mode 0 with tanh, 1 with " +
			"ReLU, 2 LSTM, 3 GRU. It returns the outputs (L, N, H), an LSTM's last cell state and what the gradient " +
			"needs.",
		Go:    "-",
		Infer: infer,
		CPU: func(c *Ctx) {
			if opMath(c.ArgDType(0)) == tensor.Float64 {
				run[float64](c)
			} else {
				run[float32](c)
			}
		},
		Body: func(c *Ctx) {
			out, cn := composed(c.T(0), c.T(1), c.T(2), c.T(3), c.T(4), c.T(5), c.T(6), c.Int(7), c.Bool(8))
			none := out.NewEmpty([]int{0})
			if cn == nil {
				cn = none
			}
			c.Return(out, cn, none)
		},
		Save: "input hx cx weight_ih weight_hh bias_ih bias_hh output workspace",
		VJP:  vjp,
	})
	tensor.Register(tensor.Def{
		Schema: "gotorch::rnn_layer_backward(Tensor grad_output, Tensor? grad_cy, Tensor input, Tensor hx, Tensor? cx, Tensor weight_ih, Tensor weight_hh, Tensor? bias_ih, Tensor? bias_hh, Tensor output, Tensor workspace, int mode, bool reverse, bool[7] output_mask) -> (Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor)",
		Doc: "are the gradients of rnn_layer's tensors; output_mask says which are wanted, the others come back " +
			"empty.",
		Go: "-", NoGrad: "the gradient of a gradient goes through the composed form",
		Infer: func(c *Ctx) {
			mode := c.Int(11)
			H, steps := checkLayer(c, 2, mode), c.Shape(2)[0]
			c.WantLength(13, 7)
			c.WantShape(0, steps, c.Shape(2)[1], H)
			c.WantShape(1, c.Shape(3)...)
			c.WantShape(9, steps, c.Shape(2)[1], H)
			if mode < modeLSTM {
				steps = 1
			}
			c.WantShape(10, steps, planes(mode), tensor.Size(c.Shape(3)).Numel())
			c.WantDType(10, opMath(c.ArgDType(2)))
			for i, want := range c.Bools(13) {
				sh := []int{0}
				if want {
					sh = c.Shape(2 + i)
				}
				c.Alloc(i, sh, c.ArgDType(2))
			}
		},
		CPU: func(c *Ctx) {
			if opMath(c.ArgDType(2)) == tensor.Float64 {
				runBackward[float64](c)
			} else {
				runBackward[float32](c)
			}
		},
	})
}
