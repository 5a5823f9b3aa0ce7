package pt2e

import (
	"fmt"
	"slices"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/nn/utils"
	"github.com/gotorch-dev/torch/quantization"
	"github.com/gotorch-dev/torch/tensor"
)

// PreparePT2E folds batch norms into the convolutions and linear layers before them and puts observers where the
// quantizer says. Then the model runs on a few batches of typical data, and ConvertPT2E follows. A model that was
// prepared before is an error with ErrValue.
// https://docs.pytorch.org/ao/stable/api_reference/generated/torchao.quantization.pt2e.quantize_pt2e.prepare_pt2e.html
func PreparePT2E(m *Model, q Quantizer) error {
	if err := m.notYet("PreparePT2E"); err != nil {
		return err
	}
	if err := tensor.Try(func() { tensor.NoGrad(m.foldNorms) }); err != nil {
		return err
	}
	q.annotate(m, m.notes)
	m.observe(m.notes)
	return m.changed()
}

// notYet marks a model as prepared, and refuses one that is.
func (m *Model) notYet(op string) error {
	if m.prepared {
		return &tensor.Error{Op: op, Msg: "the model has been prepared already", Err: tensor.ErrValue}
	}
	m.prepared = true
	m.notes, m.byNode = notes{}, map[*graph.Node]quantization.Observer{}
	return nil
}

// foldNorms folds each batch norm in evaluation mode into the convolution, or linear layer of a matrix, before it.
func (m *Model) foldNorms() {
	folded := map[*graph.Node]bool{} // weights: one that two layers share is folded once
	for _, n := range slices.Clone(m.fn.Body.Nodes) {
		if n.Op != "aten::batch_norm" || len(n.In) < 8 || n.In[0].Node == nil {
			continue
		}
		layer := n.In[0].Node
		conv := isConv(layer) || isConvTranspose(layer)
		if !conv && !named(layer, "aten::linear") || m.readers(n.In[0]) != 1 || len(layer.In) < 3 {
			continue
		}
		if !conv && (layer.In[0].Info == nil || len(layer.In[0].Info.Shape) != 2) {
			continue // a batch norm works along dimension 1, a linear layer along the last one
		}
		w, b := constant(layer.In[1]), constant(layer.In[2])
		scale, shift, mean, variance := constant(n.In[1]), constant(n.In[2]), constant(n.In[3]), constant(n.In[4])
		if w == nil || mean == nil || variance == nil || n.In[5].Node == nil || n.In[5].Node.Const.N != 0 ||
			n.In[7].Node == nil || b == nil && !isNone(layer.In[2]) {
			continue
		}
		eps := n.In[7].Node.Const.Num().F
		var nw, nb *Tensor
		if conv {
			nw, nb = utils.FuseConvBNWeights(w, b, mean, variance, eps, scale, shift, isConvTranspose(layer))
		} else {
			nw, nb = utils.FuseLinearBNWeights(w, b, mean, variance, eps, scale, shift)
		}
		weight := layer.In[1].Node
		if !folded[weight] {
			folded[weight] = true
			weight.Const = tensor.TensorValue(nw)
		}
		if b != nil {
			layer.In[2].Node.Const = tensor.TensorValue(nb)
		} else {
			name := weight.Attr + "_bias"
			m.params[name] = true
			layer.In[2] = m.after(layer.In[1], func(blk *graph.Block) *graph.Value {
				v := blk.Const(nb)
				v.Node.Attr = name
				return v
			})
		}
		m.replaceUses(n.Out[0], n.In[0], nil)
	}
	m.sweep()
}

// constant is the tensor of a constant, nil for another value.
func constant(v *graph.Value) *Tensor {
	if v.Node == nil || v.Node.Op != graph.Constant || v.Node.Const.K != tensor.KTensor {
		return nil
	}
	return v.Node.Const.T
}

func isNone(v *graph.Value) bool {
	return v.Node != nil && v.Node.Op == graph.Constant && v.Node.Const.K == tensor.KNone
}

// observe puts observers into the graph.
func (m *Model) observe(n notes) {
	g := groupsOf(m, n)
	for _, node := range slices.Clone(m.fn.Body.Nodes) {
		a := n[node]
		if a == nil {
			continue
		}
		for i, v := range node.In {
			if v.Node != nil && v.Node.Op == graph.ListConstruct {
				for j, e := range v.Node.In {
					v.Node.In[j] = m.observedInput(g, node, e)
				}
			} else if v.Type.Kind == graph.TensorType {
				node.In[i] = m.observedInput(g, node, v)
			}
		}
		if len(node.Out) != 1 || node.Out[0].Type.Kind != graph.TensorType {
			continue
		}
		if obs := g.observers[place{value: node.Out[0]}]; obs != nil {
			v := node.Out[0]
			o := m.insert(v, obs)
			m.replaceUses(v, o, o.Node)
		}
	}
}

// observedInput is the value that a node reads instead of v: behind an observer where it is to be observed.
func (m *Model) observedInput(g *groups, node *graph.Node, v *graph.Value) *graph.Value {
	original := v
	for g.of[original] != nil {
		original = original.Node.In[0]
	}
	obs := g.observers[place{original, node}]
	if obs == nil || g.observers[place{value: original}] == obs {
		return v
	}
	for _, u := range m.users(v) {
		if len(u.Out) == 1 && g.of[u.Out[0]] == obs {
			return u.Out[0]
		}
	}
	o := m.insert(v, obs)
	g.of[o] = obs
	return o
}

// observeOp is the name of the nodes that observe.
const observeOp = "pt2e::observe"

// insert puts an observer behind a value.
func (m *Model) insert(v *graph.Value, obs quantization.Observer) *graph.Value {
	known := slices.ContainsFunc(m.observers, func(o observed) bool { return o.obs == obs })
	if !known {
		m.observers = append(m.observers, observed{fmt.Sprintf("activation_post_process_%d", len(m.observers)), obs})
	}
	op := graph.NewHelper(observeOp+"(Tensor(a) x) -> Tensor(a)", func(args []tensor.Value) tensor.Value {
		return tensor.TensorValue(obs.Forward(args[0].T))
	})
	return m.after(v, func(b *graph.Block) *graph.Value {
		n := b.Add(&graph.Node{Op: observeOp, Operator: op, In: []*graph.Value{v}}, graph.Tensor)
		n.Out[0].Info = v.Info
		m.byNode[n] = obs
		return n.Out[0]
	})
}

// groups are the places of a model that share observers.
type groups struct {
	order     []place
	rules     map[place]rule
	parent    map[place]place
	observers map[place]quantization.Observer
	of        map[*graph.Value]quantization.Observer // results of observers that were put before inputs
}

// groupsOf joins the places that share an observer (union-find): the places that a rule names, and the places where one
// tensor is made and read, if their specifications are equal.
func groupsOf(m *Model, n notes) *groups {
	g := &groups{rules: map[place]rule{}, parent: map[place]place{}, observers: map[place]quantization.Observer{},
		of: map[*graph.Value]quantization.Observer{}}
	add := func(p place, r rule) {
		if _, had := g.rules[p]; !had {
			g.order = append(g.order, p)
		}
		g.rules[p], g.parent[p] = r, p
	}
	for _, node := range m.fn.Body.Nodes {
		a := n[node]
		if a == nil {
			continue
		}
		for _, in := range a.inputs {
			add(place{in.value, node}, in.rule)
		}
		if a.output != nil && len(node.Out) == 1 {
			add(place{value: node.Out[0]}, *a.output)
		}
	}
	for _, p := range g.order {
		r := g.rules[p]
		if p.user != nil {
			spec := g.spec(r, 0)
			for _, u := range m.users(p.value) {
				if u != p.user {
					g.join(place{p.value, u}, p, spec)
				}
			}
			g.join(place{value: p.value}, p, spec)
		}
		if r.share != nil {
			if _, known := g.rules[*r.share]; known {
				g.union(*r.share, p)
			}
		}
	}
	made := map[place]quantization.Observer{}
	for _, p := range g.order {
		root := g.root(p)
		if _, had := made[root]; !had {
			made[root] = g.make(g.rules[p])
		}
		g.observers[p] = made[root]
	}
	return g
}

func (g *groups) root(p place) place {
	for g.parent[p] != p {
		p = g.parent[p]
	}
	return p
}

// spec is the specification that a rule leads to, over the places that it shares with.
func (g *groups) spec(r rule, depth int) *QuantizationSpec {
	if r.share == nil || depth > len(g.order) {
		return r.spec
	}
	if _, known := g.rules[*r.share]; !known {
		return nil
	}
	return g.spec(g.rules[g.root(*r.share)], depth+1)
}

// join lets a place share the observer of another place of the same tensor where their specifications are alike.
func (g *groups) join(with, p place, spec *QuantizationSpec) {
	if r, known := g.rules[with]; known && g.spec(r, 0).alike(spec) {
		g.union(with, p)
	}
}

// union puts the group of child below that of parent, or the other way round where the root of parent shares with that
// of child.
func (g *groups) union(parent, child place) {
	up, down := g.root(parent), g.root(child)
	if s := g.rules[up].share; s != nil && *s == down {
		g.parent[up] = down
	} else {
		g.parent[down] = up
	}
}

// make makes the observer for a rule; nil where the tensor stays as it is.
func (g *groups) make(r rule) quantization.Observer {
	if r.share != nil {
		return g.observers[*r.share]
	}
	if r.spec == nil {
		return nil
	}
	return r.spec.observer()
}
