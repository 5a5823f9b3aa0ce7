package pt2e

import (
	"fmt"
	"slices"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/quantization"
	"github.com/gotorch-dev/torch/tensor"
)

// The operators that stand in the places of observers.
const (
	quantizeTensor    = "quantized_decomposed::quantize_per_tensor"
	dequantizeTensor  = "quantized_decomposed::dequantize_per_tensor"
	quantizeChannel   = "quantized_decomposed::quantize_per_channel"
	dequantizeChannel = "quantized_decomposed::dequantize_per_channel"
	chooseTensor      = "quantized_decomposed::choose_qparams.tensor"
	chooseSymmetric   = "quantized_decomposed::choose_qparams_symmetric.tensor"
)

// ConvertPT2E puts operators that quantize and dequantize in the places of the observers of a prepared model, with the
// scales and zero points that these have chosen, and quantizes the weights. A model that was not prepared is an error
// with ErrValue.
// https://docs.pytorch.org/ao/stable/api_reference/generated/torchao.quantization.pt2e.quantize_pt2e.convert_pt2e.html
func ConvertPT2E(m *Model) error {
	if !m.prepared {
		return &tensor.Error{Op: "ConvertPT2E", Msg: "the model has not been prepared", Err: tensor.ErrValue}
	}
	err := tensor.Try(func() { tensor.NoGrad(m.convert) })
	if err != nil {
		return err
	}
	m.observers, m.byNode, m.notes, m.trained = nil, nil, nil, nil
	return m.changed()
}

func (m *Model) convert() {
	m.foldTrained()
	c := &converter{m: m}
	for _, n := range slices.Clone(m.fn.Body.Nodes) {
		if n.Op != observeOp {
			continue
		}
		m.replaceUses(n.Out[0], c.replace(n.In[0], m.byNode[n]), nil)
		at := slices.Index(m.fn.Body.Nodes, n)
		m.fn.Body.Nodes = slices.Delete(m.fn.Body.Nodes, at, at+1)
	}
	m.duplicate()
	m.sweep()
}

// converter replaces observers.
type converter struct {
	m      *Model
	scales int
	frozen int
}

// buffer makes a constant with a name.
func (c *converter) buffer(b *graph.Block, name string, t *Tensor) *graph.Value {
	v := b.Const(t)
	v.Node.Attr = name
	return v
}

// replace quantizes and dequantizes a value as its observer says.
func (c *converter) replace(v *graph.Value, obs quantization.Observer) *graph.Value {
	set := obs.Settings()
	lo, hi := obs.Limits()
	dt := set.DType
	if set.IsDynamic {
		return c.m.after(v, func(b *graph.Block) *graph.Value {
			choose := chooseTensor
			if set.QScheme.IsSymmetric() {
				choose = chooseSymmetric
			}
			p := b.Call(choose, v, lo, hi, set.Eps.Or(1.0/(1<<23)), dt)
			q := b.Call1(quantizeTensor+".tensor", v, p.Out[0], p.Out[1], lo, hi, dt)
			return b.Call1(dequantizeTensor+".tensor", q, p.Out[0], p.Out[1], lo, hi, dt)
		})
	}
	scale, zero := obs.CalculateQParams()
	if !set.QScheme.IsPerChannel() {
		s, z := scale.Item(), int(zero.Item())
		return c.m.after(v, func(b *graph.Block) *graph.Value {
			q := c.quantized(b, v, quantizeTensor, v, s, z, lo, hi, dt)
			return b.Call1(dequantizeTensor, q, s, z, lo, hi, dt)
		})
	}
	scale, zero = scale.Detach(), zero.Detach()
	return c.m.after(v, func(b *graph.Block) *graph.Value {
		s := c.buffer(b, fmt.Sprintf("_scale_%d", c.scales), scale)
		z := c.buffer(b, fmt.Sprintf("_zero_point_%d", c.scales), zero)
		c.scales++
		q := c.quantized(b, v, quantizeChannel, v, s, z, set.ChAxis, lo, hi, dt)
		return b.Call1(dequantizeChannel, q, s, z, set.ChAxis, lo, hi, dt)
	})
}

// quantized calls an operator that quantizes; of a weight it makes the constant that the call gives.
func (c *converter) quantized(b *graph.Block, v *graph.Value, op string, args ...any) *graph.Value {
	w := constant(v)
	if w == nil {
		return b.Call1(op, args...)
	}
	vals := make([]tensor.Value, len(args))
	for i, a := range args {
		if x, ok := a.(*graph.Value); ok {
			vals[i] = x.Node.Const
		} else {
			vals[i] = tensor.Box(a)
		}
	}
	r, err := graph.Lookup(op).Call(vals...)
	if err != nil {
		panic(err)
	}
	q := c.buffer(b, fmt.Sprintf("_frozen_param%d", c.frozen), r[0].T)
	c.frozen++
	return q
}

// duplicate gives each node with an annotation, of several that read dequantized numbers, an operator of its own, so
// that the two can be fused.
func (m *Model) duplicate() {
	for _, n := range slices.Clone(m.fn.Body.Nodes) {
		if n.Op != dequantizeTensor && n.Op != dequantizeChannel {
			continue
		}
		if m.readers(n.Out[0]) < 2 {
			continue
		}
		for _, u := range m.users(n.Out[0]) {
			if !m.notes[u].valid() {
				continue
			}
			c := *n
			c.Out = []*graph.Value{{Type: graph.Tensor, Node: &c, Info: n.Out[0].Info}}
			c.In = slices.Clone(n.In)
			at := slices.Index(m.fn.Body.Nodes, n)
			m.fn.Body.Nodes = slices.Insert(m.fn.Body.Nodes, at+1, &c)
			replaceIn(u, n.Out[0], c.Out[0])
		}
	}
}

// replaceIn lets a node, and the lists that it reads, read another value.
func replaceIn(n *graph.Node, v, with *graph.Value) {
	for i, x := range n.In {
		if x == v {
			n.In[i] = with
		} else if x.Node != nil && x.Node.Op == graph.ListConstruct {
			replaceIn(x.Node, v, with)
		}
	}
}
