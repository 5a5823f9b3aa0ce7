package pt2e

import (
	"slices"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/quantization"
	"github.com/gotorch-dev/torch/tensor"
)

// QuantizationSpec says how a tensor is quantized: integers of a plain type (Uint8, Int8, …) and what observes it.
type QuantizationSpec struct {
	DType              tensor.DType
	QuantMin, QuantMax int
	QScheme            tensor.QScheme
	ChAxis             int
	IsDynamic          bool // scale and zero point are chosen in each run
	// Observer makes what observes the tensor, or its fake quantization, with the options of the specification.
	Observer func(o quantization.ObserverOptions) quantization.Observer
	// Eps is the least scale; 0 for 2^-23.
	Eps float64
}

func (s *QuantizationSpec) observer() quantization.Observer {
	o := quantization.ObserverOptions{DType: s.DType, QScheme: s.QScheme, ChAxis: s.ChAxis, IsDynamic: s.IsDynamic,
		QuantMin: tensor.Some(s.QuantMin), QuantMax: tensor.Some(s.QuantMax)}
	if s.Eps > 0 {
		o.Eps = tensor.Some(s.Eps)
	}
	return s.Observer(o)
}

// alike reports specifications whose tensors can share an observer.
func (s *QuantizationSpec) alike(t *QuantizationSpec) bool {
	return s != nil && t != nil && s.DType == t.DType && s.QuantMin == t.QuantMin && s.QuantMax == t.QuantMax &&
		s.QScheme == t.QScheme && s.ChAxis == t.ChAxis && s.IsDynamic == t.IsDynamic
}

// QuantizationConfig are the specifications for the layers of a quantizer; a nil leaves a tensor as it is.
type QuantizationConfig struct {
	InputActivation, OutputActivation, Weight *QuantizationSpec
	// IsQAT says that the specifications make fake quantization, for PrepareQATPT2E.
	IsQAT bool
}

// place is where a tensor is quantized: where a node reads it, or with a nil user where it is made.
type place struct {
	value *graph.Value
	user  *graph.Node
}

// rule is a specification, or the place with whose tensor an observer is shared. Both nil leaves the tensor as it is.
type rule struct {
	spec  *QuantizationSpec
	share *place
}

func shared(value *graph.Value, user *graph.Node) rule { return rule{share: &place{value, user}} }

// annotation is what a quantizer says of a node.
type annotation struct {
	inputs  []input
	output  *rule
	pattern bool // the node's result is that of a quantized pattern
}

// input is the rule for a tensor that a node reads.
type input struct {
	value *graph.Value
	rule  rule
}

// in adds the rule for an input, or replaces it.
func (a *annotation) in(v *graph.Value, r rule) {
	for i := range a.inputs {
		if a.inputs[i].value == v {
			a.inputs[i].rule = r
			return
		}
	}
	a.inputs = append(a.inputs, input{v, r})
}

func (a *annotation) valid() bool { return a != nil && (len(a.inputs) > 0 || a.output != nil) }

// notes are the annotations of a model.
type notes map[*graph.Node]*annotation

func (n notes) any(nodes ...*graph.Node) bool {
	return slices.ContainsFunc(nodes, func(x *graph.Node) bool { return n[x] != nil })
}

// mark annotates nodes without rules.
func (n notes) mark(nodes ...*graph.Node) {
	for _, x := range nodes {
		if x != nil && n[x] == nil {
			n[x] = &annotation{}
		}
	}
}

// Quantizer says which tensors of a model are quantized and how.
type Quantizer interface {
	annotate(m *Model, n notes)
}

// tensorsOf are the tensors that a node reads, those of lists among them, in order.
func tensorsOf(n *graph.Node) []*graph.Value {
	var out []*graph.Value
	for _, v := range n.In {
		if v.Node != nil && v.Node.Op == graph.ListConstruct {
			out = append(out, tensorsOf(v.Node)...)
		} else if v.Type.Kind == graph.TensorType {
			out = append(out, v)
		}
	}
	return out
}

// arg is an argument of a node that is a tensor, nil for another.
func arg(n *graph.Node, i int) *graph.Value {
	if i >= len(n.In) || n.In[i].Type.Kind != graph.TensorType {
		return nil
	}
	return n.In[i]
}

// named reports a node that calls one of these operators.
func named(n *graph.Node, ops ...string) bool { return n != nil && slices.Contains(ops, n.Op) }

// within reports whether a node was recorded in a call of the module with this path, or of one below it.
func within(n *graph.Node, path string) bool {
	for s := n.Scope; s != nil; s = s.Parent {
		if s.Path == path {
			return true
		}
	}
	return false
}

// ofClass reports whether a node was recorded in a call of a module of this class: "torch.nn.modules.linear.Linear",
// or by its last part alone.
func ofClass(n *graph.Node, class string) bool {
	for s := n.Scope; s != nil; s = s.Parent {
		if s.Class == class || len(s.Class) > len(class) && s.Class[len(s.Class)-len(class)-1:] == "."+class {
			return true
		}
	}
	return false
}
