package pt2e

import (
	"context"
	"fmt"
	"slices"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/graph/trace"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/quantization"
	"github.com/gotorch-dev/torch/tensor"
)

// Tensor is a tensor.
type Tensor = tensor.Tensor

// Model is a network of operators. Its parameters and buffers have the names of the network that was recorded.
type Model struct {
	nn.Base
	fn        *graph.Function // its parameters are the inputs; tensors are constants with names
	params    map[string]bool // names of the constants that are parameters
	observers []observed
	byNode    map[*graph.Node]quantization.Observer // of the nodes that observe
	notes     notes
	prepared  bool
	trained   []*trainedNorm // the batch norms that PrepareQATPT2E took into convolutions
}

// observed is an observer and the name of the module that PyTorch makes of it.
type observed struct {
	name string
	obs  quantization.Observer
}

// Capture records a module, or a function of tensors, on example inputs, as export.Export does, in the mode that the
// module is in: set it to evaluation mode first, or for PrepareQATPT2E to training mode. The module stays as it is, and
// the model has its parameters and buffers. A network with control flow is an error with ErrNotImpl.
func Capture(module any, inputs []any, opts ...trace.Options) (*Model, error) {
	var o trace.Options
	if len(opts) > 0 {
		o = opts[0]
	}
	o.Unchanged = true
	p, err := trace.Record(module, inputs, o)
	if err != nil {
		return nil, err
	}
	m := &Model{params: map[string]bool{}}
	if p.Self != nil {
		for _, a := range p.Self.Class.Attrs {
			m.params[a.Name] = a.Parameter
		}
	}
	m.fn = p.Freeze()
	for _, n := range m.fn.Body.Nodes {
		if len(n.Blocks) > 0 || n.Op == graph.CallMethod || n.Op == graph.CallFunction {
			return nil, &tensor.Error{Op: "Capture", Err: tensor.ErrNotImpl,
				Msg: fmt.Sprintf("a network with control flow (%s) cannot be quantized", n.Op)}
		}
	}
	m.unify()
	m.convolutions()
	nn.New(m)
	if p.Module != nil {
		nn.SetMode(m, nn.IsTraining(p.Module))
	}
	return m, nil
}

// ModeChanged switches the dropout and the batch norms of the network to training or evaluation, which is PyTorch's
// move_exported_model_to_train and move_exported_model_to_eval: m.Train() and m.Eval() call it. Other operators stay as
// they were recorded. Unlike in PyTorch, eps and momentum of batch norms stay as well.
func (m *Model) ModeChanged(training bool) {
	edited := false
	for _, n := range slices.Clone(m.fn.Body.Nodes) {
		at := 0
		switch {
		case named(n, "aten::batch_norm") && !isNone(n.In[3]):
			at = 5
		case named(n, dropouts...):
			at = 2
		default:
			continue
		}
		if s := n.In[at].Node; s != nil && s.Op == graph.Constant && (s.Const.N != 0) != training {
			n.In[at] = m.before(n, func(b *graph.Block) *graph.Value { return b.Const(training) })
			edited = true
		}
	}
	if !edited {
		return
	}
	if err := m.changed(); err != nil {
		panic(asError(err))
	}
}

var dropouts = []string{"aten::dropout", "aten::dropout_", "aten::feature_dropout", "aten::feature_dropout_",
	"aten::alpha_dropout", "aten::alpha_dropout_", "aten::feature_alpha_dropout", "aten::feature_alpha_dropout_"}

// convolutions writes the general operator, which torch.jit.trace records, as the particular ones, of which the rules
// of quantizers speak.
func (m *Model) convolutions() {
	for _, n := range m.fn.Body.Nodes {
		if n.Op != "aten::_convolution" || len(n.In) < 9 || n.In[1].Node == nil || constant(n.In[1]) == nil ||
			n.In[6].Node == nil || n.In[6].Node.Op != graph.Constant || n.In[6].Node.Const.N != 0 {
			continue
		}
		dims := constant(n.In[1]).Dim() - 2
		op := graph.Lookup(fmt.Sprintf("aten::conv%dd", dims))
		if op == nil {
			continue
		}
		n.Op, n.Operator = op.FullName(), op
		n.In = []*graph.Value{n.In[0], n.In[1], n.In[2], n.In[3], n.In[4], n.In[5], n.In[8]}
	}
}

// unify gives each tensor of the network one constant at the beginning.
func (m *Model) unify() {
	b := m.fn.Body
	first := map[*Tensor]*graph.Value{}
	same := map[*graph.Value]*graph.Value{}
	var tensors, rest []*graph.Node
	for _, n := range b.Nodes {
		if n.Op != graph.Constant || n.Const.K != tensor.KTensor {
			rest = append(rest, n)
			continue
		}
		if v := first[n.Const.T]; v != nil {
			same[n.Out[0]] = v
			continue
		}
		first[n.Const.T] = n.Out[0]
		tensors = append(tensors, n)
	}
	for i, n := range tensors {
		if n.Attr == "" {
			n.Attr = fmt.Sprintf("lifted_tensor_%d", i)
		}
	}
	b.Nodes = append(tensors, rest...)
	for _, n := range b.Nodes {
		for i, v := range n.In {
			if w := same[v]; w != nil {
				n.In[i] = w
			}
		}
	}
	for i, v := range b.Results {
		if w := same[v]; w != nil {
			b.Results[i] = w
		}
	}
}

// changed makes the function one that has not run yet, after its nodes were changed.
func (m *Model) changed() error {
	f := graph.NewFunction(m.fn.Name)
	f.Schema, f.Body = m.fn.Schema, m.fn.Body
	f.Body.Func = f
	m.fn = f
	return f.Verify()
}

// ClassName is "GraphModule".
func (m *Model) ClassName() string { return "GraphModule" }

// WalkOwn visits the tensors under the names that they had in the network, and the observers.
func (m *Model) WalkOwn(param func(string, *Tensor), buf func(string, *Tensor, bool), child func(string, nn.Module)) {
	for _, n := range m.fn.Body.Nodes {
		if n.Op != graph.Constant || n.Const.K != tensor.KTensor {
			continue
		}
		if m.params[n.Attr] {
			param(n.Attr, n.Const.T)
		} else {
			buf(n.Attr, n.Const.T, true)
		}
	}
	for _, o := range m.observers {
		child(o.name, o.obs)
	}
}

// Forward runs the network on one input. It panics with what the operators panic with.
func (m *Model) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor { return m.ForwardAll([]*Tensor{x})[0] })
}

// ForwardAll runs the network on its inputs in order and gives its results in order.
func (m *Model) ForwardAll(in []*Tensor) []*Tensor {
	if len(in) != len(m.fn.Body.Params) {
		tensor.Fail(tensor.ErrType, "the network takes %d tensors, got %d", len(m.fn.Body.Params), len(in))
	}
	args := make([]tensor.Value, len(in))
	for i, x := range in {
		args[i] = tensor.TensorValue(x)
	}
	res, err := m.fn.Run(context.Background(), args...)
	if err != nil {
		panic(asError(err))
	}
	out := make([]*Tensor, len(res))
	for i, v := range res {
		out[i] = v.T
	}
	return out
}

// asError is an error of a run as operators report it.
func asError(err error) *tensor.Error {
	if e, ok := err.(*tensor.Error); ok {
		return e
	}
	return &tensor.Error{Op: "Forward", Msg: err.Error(), Err: err}
}

// Graph is the program, for looking at it.
func (m *Model) Graph() *graph.Function { return m.fn }

// The editing of the graph.

// users are the nodes that read a value, in order; a list of values is read by the nodes that read the list.
func (m *Model) users(v *graph.Value) []*graph.Node {
	var out []*graph.Node
	for _, n := range m.fn.Body.Nodes {
		if !slices.Contains(n.In, v) {
			continue
		}
		if n.Op == graph.ListConstruct {
			for _, u := range m.users(n.Out[0]) {
				if !slices.Contains(out, u) {
					out = append(out, u)
				}
			}
		} else if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// readers is the number of readers of a value: nodes, and the network's results as one.
func (m *Model) readers(v *graph.Value) int {
	n := len(m.users(v))
	if slices.Contains(m.fn.Body.Results, v) {
		n++
	}
	return n
}

// after splices nodes that fill makes behind the node that defines v, or at the beginning for an input of the network.
func (m *Model) after(v *graph.Value, fill func(b *graph.Block) *graph.Value) *graph.Value {
	at := 0
	if v.Node != nil {
		at = slices.Index(m.fn.Body.Nodes, v.Node) + 1
	}
	return m.splice(at, v.Node, fill)
}

// before splices nodes that fill makes before a node.
func (m *Model) before(n *graph.Node, fill func(b *graph.Block) *graph.Value) *graph.Value {
	return m.splice(slices.Index(m.fn.Body.Nodes, n), n, fill)
}

// splice puts nodes that fill makes at an index; they belong to the module and the line of the node like.
func (m *Model) splice(at int, like *graph.Node, fill func(b *graph.Block) *graph.Value) *graph.Value {
	b := m.fn.Body
	scratch := &graph.Block{Func: b.Func}
	out := fill(scratch)
	for _, n := range scratch.Nodes {
		n.Block = b
		if like != nil {
			n.Pos, n.Scope = like.Pos, like.Scope
		}
	}
	b.Nodes = slices.Insert(b.Nodes, at, scratch.Nodes...)
	return out
}

// replaceUses lets all nodes and the results read another value, but for the node except.
func (m *Model) replaceUses(v, with *graph.Value, except *graph.Node) {
	for _, n := range m.fn.Body.Nodes {
		if n == except {
			continue
		}
		for i, x := range n.In {
			if x == v {
				n.In[i] = with
			}
		}
	}
	for i, x := range m.fn.Body.Results {
		if x == v {
			m.fn.Body.Results[i] = with
		}
	}
}

// sweep drops constants, lists and observers' leftovers that nothing reads.
func (m *Model) sweep() {
	b := m.fn.Body
	for {
		used := map[*graph.Value]bool{}
		for _, n := range b.Nodes {
			for _, v := range n.In {
				used[v] = true
			}
		}
		for _, v := range b.Results {
			used[v] = true
		}
		before := len(b.Nodes)
		b.Nodes = slices.DeleteFunc(b.Nodes, func(n *graph.Node) bool {
			return (n.Op == graph.Constant || n.Op == graph.ListConstruct || n.Operator != nil && pure(n.Operator)) &&
				!slices.ContainsFunc(n.Out, func(v *graph.Value) bool { return used[v] })
		})
		if len(b.Nodes) == before {
			return
		}
	}
}

// pure reports an operator without effects that the pass itself leaves without readers.
func pure(o *graph.Operator) bool {
	return slices.Contains(withoutReaders, o.FullName())
}

var withoutReaders = append([]string{"aten::batch_norm", dequantizeTensor, dequantizeChannel}, trainedOps...)
