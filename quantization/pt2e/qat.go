package pt2e

import (
	"slices"
	"strings"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/nn/utils"
)

// PrepareQATPT2E prepares a model for quantization-aware training: fake quantization stands where the quantizer says,
// whose configuration is one with IsQAT, and the weights of convolutions with a batch norm behind them are rounded as
// they will be after the batch norm is folded (Jacob et al. 2018). Capture the network in training mode. Then the model
// is trained; Eval and ConvertPT2E follow. A model that was prepared before is an error with ErrValue.
//
// What differs from PyTorch: a batch norm keeps its eps and its momentum, which torchao replaces with 1e-5 and 0.1; and
// ConvertPT2E also folds the batch norms behind convolutions that are not quantized, which torchao leaves in pieces.
// https://docs.pytorch.org/ao/stable/api_reference/generated/torchao.quantization.pt2e.quantize_pt2e.prepare_qat_pt2e.html
func PrepareQATPT2E(m *Model, q Quantizer) error {
	if err := m.notYet("PrepareQATPT2E"); err != nil {
		return err
	}
	q.annotate(m, m.notes)
	m.trainNorms()
	m.observe(m.notes)
	return m.changed()
}

// trainedNorm is a convolution whose batch norm takes part in the rounding of its weights.
type trainedNorm struct {
	conv, norm *graph.Node
	// weight, bias (nil for none) are the convolution's own; scaled is the weight that it reads in training.
	weight, bias, scaled *graph.Value
}

// trainedOps are the operators that trainNorms puts into the graph.
var trainedOps = []string{"aten::add.Scalar", "aten::add.Tensor", "aten::sqrt", "aten::div.Tensor", "aten::reshape",
	"aten::mul.Tensor", "aten::zeros_like"}

// normOf is the convolution whose result a batch norm with running statistics reads, and nothing else; nil for other
// nodes.
func (m *Model) normOf(n *graph.Node) *graph.Node {
	if n.Op != "aten::batch_norm" || len(n.In) < 9 || n.In[0].Node == nil || m.readers(n.In[0]) != 1 {
		return nil
	}
	conv := n.In[0].Node
	if !isConv(conv) && !isConvTranspose(conv) || len(conv.In) < 3 || constant(conv.In[1]) == nil ||
		constant(conv.In[2]) == nil && !isNone(conv.In[2]) {
		return nil
	}
	for _, v := range n.In[1:5] {
		if constant(v) == nil {
			return nil
		}
	}
	return conv
}

// trainNorms multiplies the weights of a convolution by the factor of the batch norm behind it, and divides the result
// by that factor, so that the weights are rounded as folded ones:
//
//	scale = norm.weight / sqrt(norm.running_var + eps)
//	y     = conv(x, weight * scale) / scale + bias
func (m *Model) trainNorms() {
	for _, n := range slices.Clone(m.fn.Body.Nodes) {
		conv := m.normOf(n)
		if conv == nil {
			continue
		}
		t := &trainedNorm{conv: conv, norm: n, weight: conv.In[1]}
		if constant(conv.In[2]) != nil {
			t.bias = conv.In[2]
		}
		var scale *graph.Value
		rank := constant(t.weight).Dim()
		along := func(axis int) []int {
			shape := slices.Repeat([]int{1}, rank)
			shape[axis] = -1
			return shape
		}
		axis := 0
		if isConvTranspose(conv) {
			axis = 1
		}
		t.scaled = m.before(conv, func(b *graph.Block) *graph.Value {
			std := b.Call1("aten::sqrt", b.Call1("aten::add.Scalar", n.In[4], n.In[7].Node.Const.Num().F, 1))
			scale = b.Call1("aten::div.Tensor", n.In[1], std)
			return b.Call1("aten::mul.Tensor", t.weight, b.Call1("aten::reshape", scale, along(axis)))
		})
		t.scaled.Info = t.weight.Info
		if t.bias != nil {
			conv.In[2] = m.before(conv, func(b *graph.Block) *graph.Value {
				return b.Call1("aten::zeros_like", t.bias, nil, nil, nil, nil, nil)
			})
		}
		conv.In[1] = t.scaled
		if a := m.notes[conv]; a != nil {
			for i := range a.inputs {
				if a.inputs[i].value == t.weight {
					a.inputs[i].value = t.scaled
				}
			}
		}
		n.In[0] = m.after(conv.Out[0], func(b *graph.Block) *graph.Value {
			y := b.Call1("aten::div.Tensor", conv.Out[0], b.Call1("aten::reshape", scale, along(1)))
			if t.bias != nil {
				y = b.Call1("aten::add.Tensor", y, b.Call1("aten::reshape", t.bias, along(1)), 1)
			}
			return y
		})
		n.In[5] = m.before(n, func(b *graph.Block) *graph.Value { return b.Const(true) })
		m.trained = append(m.trained, t)
	}
}

// foldTrained folds the batch norms that took part in training into the convolutions before them.
func (m *Model) foldTrained() {
	for _, t := range m.trained {
		n := t.norm
		var b *Tensor
		name := t.weight.Node.Attr + "_bias"
		if t.bias != nil {
			b, name = constant(t.bias), t.bias.Node.Attr
		}
		w, b := utils.FuseConvBNWeights(constant(t.weight), b, constant(n.In[3]), constant(n.In[4]),
			n.In[7].Node.Const.Num().F, constant(n.In[1]), constant(n.In[2]), isConvTranspose(t.conv))
		named := func(t *Tensor, name string) func(b *graph.Block) *graph.Value {
			return func(b *graph.Block) *graph.Value {
				v := b.Const(t)
				v.Node.Attr = name
				return v
			}
		}
		m.params[name] = true
		m.replaceUses(t.scaled, m.before(t.scaled.Node, named(w, t.weight.Node.Attr)), nil)
		t.conv.In[2] = m.before(t.conv, named(b, name))
		m.replaceUses(n.Out[0], t.conv.Out[0], nil)
		// the number of batches is counted no more
		counter := strings.TrimSuffix(n.In[3].Node.Attr, "running_mean") + "num_batches_tracked"
		m.fn.Body.Nodes = slices.DeleteFunc(m.fn.Body.Nodes, func(x *graph.Node) bool {
			c := x.In
			return strings.HasPrefix(x.Op, "aten::add_") && len(c) > 0 && constant(c[0]) != nil && c[0].Node.Attr == counter
		})
	}
	if len(m.trained) > 0 {
		m.sweep()
	}
}
