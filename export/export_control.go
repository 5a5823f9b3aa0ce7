package export

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/tensor"
)

// This file writes the ifs and loops of a recording as torch.cond and torch.while_loop. Branches, conditions and bodies
// are graphs of their own, which see nothing from outside but their inputs: what they read of the graphs around them
// becomes an operand. Sizes that they read are asked for anew, of tensors among the operands.

// level is a graph that is written: the program's own, or a branch, a condition or a body of a loop.
type level struct {
	up       *level // nil for the program's own graph
	block    *graph.Block
	json     graphJSON
	values   map[*graph.Value]string
	lists    map[*graph.Value][]*graph.Value
	numbers  map[*graph.Value]expr         // sizes and what is computed from them, in terms of symbols
	truths   map[*graph.Value]*graph.Value // tensors by the bools that they were read as
	ints     map[string]string             // ints of this graph, by the symbol that each is
	operands []string                      // tensors of the graphs around it
}

func newLevel(up *level, b *graph.Block) *level {
	return &level{up: up, block: b, values: map[*graph.Value]string{}, lists: map[*graph.Value][]*graph.Value{},
		numbers: map[*graph.Value]expr{}, truths: map[*graph.Value]*graph.Value{}, ints: map[string]string{},
		json: graphJSON{Tensors: map[string]json.RawMessage{}, Ints: map[string]json.RawMessage{},
			Bools: map[string]json.RawMessage{}, Floats: map[string]json.RawMessage{},
			Objects: map[string]json.RawMessage{}, Nodes: []json.RawMessage{}, Inputs: []argument{},
			Outputs: []argument{}}}
}

// within writes a graph inside the present one.
func (w *exporter) within(b *graph.Block, f func() error) (*level, error) {
	l := newLevel(w.level, b)
	w.level = l
	err := f()
	w.level = l.up
	return l, err
}

// operand is a tensor of a graph around the present one, as an input of the present one.
func (w *exporter) operand(name string) string {
	if _, ok := w.json.Tensors[name]; !ok {
		w.json.Tensors[name] = w.up.json.Tensors[name]
		w.operands = append(w.operands, name)
	}
	return name
}

// numberOf finds the expression of a number, here or in a graph around this one.
func (w *exporter) numberOf(v *graph.Value) expr {
	for l := w.level; l != nil; l = l.up {
		if e := l.numbers[v]; e != nil {
			return e
		}
	}
	return nil
}

// numberArg is an int that is computed from sizes and from the numbers of iterations. A number of a graph around this
// one is computed anew.
func (w *exporter) numberArg(v *graph.Value) (argument, error) {
	if name, ok := w.values[v]; ok {
		return symbolArg(name), nil
	}
	e := w.numberOf(v)
	if e == nil {
		return argument{}, fmt.Errorf("%w: a number that is not computed from sizes", ErrUnsupported)
	}
	return w.computed(e)
}

func symbolArg(name string) argument { return arg("as_sym_int", map[string]string{"as_name": name}) }

// computed adds the nodes of an expression.
func (w *exporter) computed(e expr) (argument, error) {
	switch e := e.(type) {
	case literal:
		return arg("as_int", e.v), nil
	case name:
		if at, ok := w.ints[e.id]; ok {
			return symbolArg(at), nil
		}
		s := w.symbolOf(e.id)
		if s == nil || s.source == nil {
			return argument{}, fmt.Errorf("%w: a size %s", ErrUnsupported, e.id)
		}
		target, base := "torch.ops.aten.sym_size.int", "sym_size_int"
		in := []namedArgument{{"self", tensorArg(w.name(s.source)), positional},
			{"dim", arg("as_int", s.dim), positional}}
		if s.iteration {
			target, base, in = "torch.ops.aten.item.default", "item", in[:1]
		}
		at, err := w.intNode(e, target, base, in, nil)
		w.ints[e.id] = at
		return symbolArg(at), err
	case binary:
		l, err := w.computed(e.l)
		if err != nil {
			return l, err
		}
		r, err := w.computed(e.r)
		if err != nil {
			return r, err
		}
		base := pythonNames[e.op]
		at, err := w.intNode(e, "_operator."+base, base,
			[]namedArgument{{"", l, positional}, {"", r, positional}}, nil)
		return symbolArg(at), err
	}
	return argument{}, fmt.Errorf("%w: a size %s", ErrUnsupported, unparse(e))
}

// plainNode adds a node with one result, a tensor that is described by like.
func (w *exporter) plainNode(op string, like json.RawMessage, in ...namedArgument) (string, error) {
	base, _, _ := strings.Cut(op, ".")
	name := w.unique(base)
	w.json.Tensors[name] = like
	return name, w.add(&nodeJSON{Target: "torch.ops.aten." + op, Name: name, Inputs: in,
		Outputs: []argument{tensorArg(name)}, Metadata: map[string]string{}})
}

// scalarMeta describes a tensor of one element without dimensions.
func scalarMeta(d *tensor.DType) json.RawMessage {
	b, _ := json.Marshal(&tensorMetaJSON{DType: dtypeNumber(*d), Sizes: []sizeJSON{}, Strides: []sizeJSON{},
		Device: deviceJSON{Type: "cpu"}, Offset: sizeOfInt(0), Layout: stridedLayout}) // numbers cannot fail
	return b
}

// filled adds a tensor of one element that is a number or a bool.
func (w *exporter) filled(d tensor.DType, v argument) (string, error) {
	return w.plainNode("full.default", scalarMeta(&d), namedArgument{"size", arg("as_ints", []int{}), positional},
		namedArgument{"fill_value", v, positional},
		namedArgument{"dtype", arg("as_scalar_type", dtypeNumber(d)), keywordArg})
}

// predicate is a bool as a tensor of bools without dimensions, which torch.while_loop wants.
func (w *exporter) predicate(v *graph.Value) (string, error) {
	if c, ok := w.constOf(v); ok && c.K == tensor.KBool {
		return w.filled(tensor.Bool, arg("as_bool", c.N != 0))
	}
	var t *graph.Value
	for l := w.level; l != nil && t == nil; l = l.up {
		t = l.truths[v]
	}
	if t == nil || t.Info == nil {
		return "", fmt.Errorf("%w: a condition that no tensor is", ErrUnsupported)
	}
	name := w.name(t)
	d := tensor.Bool
	var err error
	if t.Info.DType != d {
		var meta tensorMetaJSON
		if err := json.Unmarshal(w.json.Tensors[name], &meta); err != nil {
			return "", err
		}
		meta.DType, meta.Grad = dtypeNumber(d), false
		b, _ := json.Marshal(&meta) // as it was read
		if name, err = w.plainNode("ne.Scalar", b, namedArgument{"self", tensorArg(name), positional},
			namedArgument{"other", arg("as_int", 0), positional}); err != nil {
			return "", err
		}
	}
	if len(t.Info.Shape) > 0 {
		name, err = w.plainNode("reshape.default", scalarMeta(&d), namedArgument{"self", tensorArg(name), positional},
			namedArgument{"shape", arg("as_ints", []int{}), positional})
	}
	return name, err
}

// owner is the value whose memory a value is in: the base of views. It is a parameter of the block, or a value from
// outside of it, where the block does not own the memory.
func (w *exporter) owner(v *graph.Value) *graph.Value {
	for n := v.Node; n != nil && n.Block == w.block && n.Operator != nil && n.Operator.Op() != nil &&
		len(n.In) > 0; n = v.Node {
		if r := n.Operator.Op().Sch.Results; len(r) == 0 || r[0].Alias == "" {
			break
		}
		v = n.In[0]
	}
	return v
}

// owns reports that the memory of a value was made in the graph that is written.
func (w *exporter) owns(v *graph.Value) bool {
	n := w.owner(v).Node
	return n != nil && n.Block == w.block && n.Op != graph.GetAttr && n.Op != graph.Constant
}

// give makes a value a result of an inner graph, which must not share memory with its inputs and other results.
func (w *exporter) give(v *graph.Value) error {
	name := w.name(v)
	shared := !w.owns(v)
	for _, a := range w.json.Outputs {
		shared = shared || string(a.raw) == string(tensorArg(name).raw)
	}
	name, err := w.apart(name, v, shared)
	w.json.Outputs = append(w.json.Outputs, tensorArg(name))
	return err
}

// apart copies a tensor that others share the memory of, and one that is not contiguous: all results of branches, and
// all that a loop carries, have the same strides.
func (w *exporter) apart(name string, v *graph.Value, shared bool) (string, error) {
	if v.Info == nil || !shared && contiguous(v.Info) {
		return name, nil
	}
	copied, err := w.plainNode("clone.default", nil, namedArgument{"self", tensorArg(name), positional},
		namedArgument{"memory_format", arg("as_memory_format", 1), keywordArg})
	if err != nil {
		return "", err
	}
	return copied, w.tensor(copied, packed(v))
}

func contiguous(info *graph.Info) bool {
	return slices.Equal(info.Strides, tensor.FormatStrides(info.Shape, tensor.ContiguousFormat))
}

// packed is a value like v that is contiguous.
func packed(v *graph.Value) *graph.Value {
	info := *v.Info
	info.Strides = tensor.FormatStrides(info.Shape, tensor.ContiguousFormat)
	return &graph.Value{Type: v.Type, Info: &info}
}

// shared gives inner graphs the same operands.
func (w *exporter) shared(graphs ...*level) []nameJSON {
	out := []nameJSON{}
	seen := map[string]bool{}
	for _, g := range graphs {
		for _, name := range g.operands {
			if !seen[name] {
				seen[name] = true
				out = append(out, nameJSON{name})
			}
		}
	}
	for _, g := range graphs {
		for _, o := range out {
			g.json.Inputs = append(g.json.Inputs, tensorArg(o.Name))
			g.json.Tensors[o.Name] = w.json.Tensors[o.Name]
		}
	}
	return out
}

func (w *exporter) graphArg(base string, l *level) namedArgument {
	return namedArgument{"", arg("as_graph", map[string]any{"name": w.unique(base), "graph": l.json}), positional}
}

// ifNode writes an if as torch.cond(predicate, true graph, false graph, operands).
func (w *exporter) ifNode(n *graph.Node) error {
	pred, err := w.predicate(n.In[0])
	if err != nil {
		return err
	}
	var graphs [2]*level
	for i, b := range n.Blocks {
		graphs[i], err = w.within(b, func() error {
			if err := w.nodes(); err != nil {
				return err
			}
			for _, v := range b.Results {
				if err := w.give(v); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	operands := w.shared(graphs[:]...)
	return w.control(n, "cond", n.Out, nil, []namedArgument{{"", tensorArg(pred), positional},
		w.graphArg("true_graph_0", graphs[0]), w.graphArg("false_graph_0", graphs[1]),
		{"", arg("as_tensors", operands), positional}})
}

// control adds a node of a higher-order operator. Its results are those of further, and then outs.
func (w *exporter) control(n *graph.Node, hop string, outs []*graph.Value, further []json.RawMessage,
	in []namedArgument) error {
	node := nodeJSON{Target: "torch.ops.higher_order." + hop, Name: w.unique(hop), Inputs: in, Outputs: []argument{},
		Metadata: scopeText(n.Scope), HOP: ptr(false)}
	for _, meta := range further {
		name := w.unique("getitem")
		w.json.Tensors[name] = meta
		node.Outputs = append(node.Outputs, tensorArg(name))
	}
	for _, v := range outs {
		name := w.unique("getitem")
		w.values[v] = name
		if v.Info == nil {
			return fmt.Errorf("%w: nothing is known of a result", ErrUnsupported)
		}
		if err := w.tensor(name, packed(v)); err != nil {
			return err
		}
		node.Outputs = append(node.Outputs, tensorArg(name))
	}
	return w.add(&node)
}

// loop is what a loop carries as torch.while_loop sees it: the number of the iteration and the condition are tensors,
// where the loop has them.
type loop struct {
	counted, tested bool
	inputs          []string // names in the graphs of condition and body, of what is carried
	metas           []json.RawMessage
}

// loopNode writes a loop as torch.while_loop(condition graph, body graph, carried, operands).
func (w *exporter) loopNode(n *graph.Node) error {
	b := n.Blocks[0]
	var k loop
	limit, known := w.constOf(n.In[0])
	k.counted = !known || limit.N != math.MaxInt64 || uses(b, b.Params[0])
	again, always := w.constOf(b.Results[0])
	first, entered := w.constOf(n.In[1])
	k.tested = !always || again.N == 0 || !entered || first.N == 0
	var carried []nameJSON // names in the present graph
	carry := func(name string, err error) error {
		carried = append(carried, nameJSON{name})
		k.metas = append(k.metas, w.json.Tensors[name])
		k.inputs = append(k.inputs, w.unique("arg"))
		return err
	}
	if k.counted {
		if err := carry(w.filled(tensor.Int64, arg("as_int", 0))); err != nil {
			return err
		}
	}
	if k.tested {
		if err := carry(w.predicate(n.In[1])); err != nil {
			return err
		}
	}
	own := len(carried)
	for _, v := range n.In[2:] {
		name := w.name(v)
		if v.Info == nil {
			return fmt.Errorf("%w: nothing is known of tensor %s, which a loop carries", ErrUnsupported, name)
		}
		meta := w.unique("arg")
		if err := w.tensor(meta, packed(v)); err != nil {
			return err
		}
		carried = append(carried, nameJSON{name})
		k.inputs, k.metas = append(k.inputs, meta), append(k.metas, w.json.Tensors[meta])
		delete(w.json.Tensors, meta)
	}
	body, err := w.within(b, func() error { return w.loopBody(n, &k) })
	if err != nil {
		return err
	}
	cond, err := w.within(b, func() error { return w.loopCondition(n, &k) })
	if err != nil {
		return err
	}
	operands := w.shared(cond, body)
	for i, v := range n.In[2:] {
		at := carried[own+i]
		shared := w.owner(v) != v || !w.owns(v) || slices.Contains(operands, at) ||
			slices.Contains(carried[:own+i], at)
		if carried[own+i].Name, err = w.apart(at.Name, v, shared); err != nil {
			return err
		}
	}
	return w.control(n, "while_loop", n.Out, k.metas[:own], []namedArgument{
		w.graphArg("while_loop_cond_graph_0", cond), w.graphArg("while_loop_body_graph_0", body),
		{"", arg("as_tensors", carried), positional}, {"", arg("as_tensors", operands), positional}})
}

// uses reports that a block or one inside it reads a value.
func uses(b *graph.Block, v *graph.Value) bool {
	for _, n := range b.Nodes {
		for _, in := range n.In {
			if in == v {
				return true
			}
		}
		for _, c := range n.Blocks {
			if uses(c, v) {
				return true
			}
		}
	}
	return false
}

// takes declares what is carried as inputs of the present graph.
func (w *exporter) takes(k *loop) {
	for i, name := range k.inputs {
		w.json.Inputs = append(w.json.Inputs, tensorArg(name))
		w.json.Tensors[name] = k.metas[i]
	}
}

func (w *exporter) loopBody(n *graph.Node, k *loop) error {
	b := n.Blocks[0]
	w.takes(k)
	i := 0
	if k.counted {
		at := &graph.Value{Type: graph.Tensor}
		w.values[at] = k.inputs[0]
		symbol := fmt.Sprintf("u%d", len(w.iterations))
		w.iterations = append(w.iterations, &dynamicSize{symbol: symbol, source: at, iteration: true})
		w.numbers[b.Params[0]] = name{symbol}
		i++
	}
	if k.tested {
		i++
	}
	for j, p := range b.Params[1:] {
		w.values[p] = k.inputs[i+j]
	}
	if err := w.nodes(); err != nil {
		return err
	}
	if k.counted {
		next, err := w.plainNode("add.Tensor", k.metas[0], namedArgument{"self", tensorArg(k.inputs[0]), positional},
			namedArgument{"other", arg("as_int", 1), positional})
		if err != nil {
			return err
		}
		w.json.Outputs = append(w.json.Outputs, tensorArg(next))
	}
	if k.tested {
		next, err := w.predicate(b.Results[0])
		if err != nil {
			return err
		}
		w.json.Outputs = append(w.json.Outputs, tensorArg(next))
	}
	for _, v := range b.Results[1:] {
		if err := w.give(v); err != nil {
			return err
		}
	}
	return nil
}

// loopCondition writes the condition: the iteration is below the limit, and the carried condition holds.
func (w *exporter) loopCondition(n *graph.Node, k *loop) error {
	w.takes(k)
	w.json.Single = true
	truth := scalarMeta(ptr(tensor.Bool))
	var parts []string
	if k.counted {
		var limit argument
		var err error
		if c, ok := w.constOf(n.In[0]); ok {
			limit = arg("as_int", c.N)
		} else if limit, err = w.numberArg(n.In[0]); err != nil {
			return err
		}
		below, err := w.plainNode("lt.Scalar", truth, namedArgument{"self", tensorArg(k.inputs[0]), positional},
			namedArgument{"other", limit, positional})
		if err != nil {
			return err
		}
		parts = append(parts, below)
	}
	if k.tested {
		parts = append(parts, k.inputs[len(parts)])
	}
	var out string
	var err error
	switch {
	case len(parts) == 2:
		out, err = w.plainNode("logical_and.default", truth, namedArgument{"self", tensorArg(parts[0]), positional},
			namedArgument{"other", tensorArg(parts[1]), positional})
	case k.tested: // a result must not be an input
		out, err = w.plainNode("clone.default", truth, namedArgument{"self", tensorArg(parts[0]), positional})
	case k.counted:
		out = parts[0]
	default:
		err = fmt.Errorf("%w: a loop without an end", ErrUnsupported)
	}
	w.json.Outputs = append(w.json.Outputs, tensorArg(out))
	return err
}
