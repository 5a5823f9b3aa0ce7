package onnx

import (
	"slices"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/onnxpb"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	define("", map[string]rule{
		"If":          ifNode,
		"Loop":        loop,
		"Scan":        scan,
		"SequenceMap": sequenceMap,
	})

	// results of iterations as one tensor; without any, an empty one of the sizes that the body says its results have
	helper("scan_results(Tensor[] items, int axis, bool reverse, ScalarType? dtype, int[] sizes) -> Tensor",
		func(a args) any {
			items, axis := a.Ts(0), a.int(1)
			if len(items) == 0 {
				sizes := a.ints(4)
				if axis += map[bool]int{true: len(sizes) + 1}[axis < 0]; axis < 0 || axis > len(sizes) {
					axis = 0
				}
				return call("aten::zeros", slices.Insert(slices.Clone(sizes), axis, 0), a.dtype(3))
			}
			if a.bool(2) {
				items = slices.Clone(items)
				slices.Reverse(items)
			}
			return call("aten::stack", items, axis)
		})
	helper("scan_slice(Tensor x, int axis, int i, bool reverse) -> Tensor", func(a args) any {
		x, i := a.T(0), a.int(2)
		axis := dim("Scan", a.int(1), x.Dim())
		if a.bool(3) {
			i = x.Size(axis) - 1 - i
		}
		return x.Select(axis, i)
	})
	helper("scan_length(Tensor x, int axis) -> int", func(a args) any {
		return a.T(0).Size(dim("Scan", a.int(1), a.T(0).Dim()))
	})
	// A list that grows in a loop. The list of one iteration is not used again after the next has begun, so that the
	// new list may take over its memory.
	helper("append(Tensor[] list, Tensor x) -> Tensor[]", func(a args) any {
		items, _ := graph.ItemsOf(a[0])
		return graph.NewList(graph.Tensor, append(items, a[1])...)
	})
	helper("reverse_rows(Tensor x, Tensor lengths) -> Tensor", func(a args) any {
		return reversed(a.T(0), hostInts(a.T(1)), 0, 1)
	})
}

// condition is a value as a condition of the program.
func (n *node) condition(v *value) *graph.Value {
	if v.konst != nil && v.konst.Numel() == 1 {
		return n.root.Const(v.konst.Num().I != 0)
	}
	return n.call("onnx::bool", v)
}

// ifNode translates a branch. A constant condition leaves one branch only.
func ifNode(n *node) []*value {
	then, otherwise := n.graphAttr("then_branch"), n.graphAttr("else_branch")
	if k := n.T(0).konst; k != nil && k.Numel() == 1 {
		g := otherwise
		if k.Num().I != 0 {
			g = then
		}
		return n.subgraph(g, n.block, nil)
	}
	var vals [2][]*value
	branch := func(i int, g *onnxpb.Graph) func(b *graph.Block) []*graph.Value {
		return func(b *graph.Block) []*graph.Value {
			vals[i] = n.subgraph(g, b, nil)
			return n.places(vals[i])
		}
	}
	node := n.block.If(n.condition(n.T(0)), branch(0, then), branch(1, otherwise))
	if len(vals[0]) != len(vals[1]) {
		fail("%w: its branches have %d and %d outputs", onnxpb.ErrFormat, len(vals[0]), len(vals[1]))
	}
	outs := make([]*value, len(vals[0]))
	for i, v := range vals[0] {
		w := vals[1][i]
		outs[i] = &value{g: node.Out[i], kind: v.kind, elem: v.elem, rank: v.rank}
		if v.rank != w.rank {
			outs[i].rank = -1
		}
		if v.kind != w.kind {
			outs[i].kind = onnxpb.KindOptional
		}
	}
	return outs
}

// places are the values of the program.
func (n *node) places(vs []*value) []*graph.Value {
	out := make([]*graph.Value, len(vs))
	for i, v := range vs {
		out[i] = n.get(v)
	}
	return out
}

// loop translates Loop: the body takes the number of the iteration, the condition and the carried values, and gives
// the condition, the carried values and results of this iteration, which are put together to tensors afterwards.
func loop(n *node) []*value {
	body := n.graphAttr("body")
	carried := len(n.in) - 2
	if carried < 0 {
		carried = 0
	}
	results := len(body.Outputs) - 1 - carried
	if results < 0 || len(body.Inputs) != carried+2 {
		fail("%w: its body has %d inputs and %d outputs for %d carried values", onnxpb.ErrFormat, len(body.Inputs),
			len(body.Outputs), carried)
	}
	var most, cond *graph.Value
	if n.has(0) {
		if l, ok := n.known(0); ok && len(l) == 1 {
			most = n.root.Const(l[0])
		} else {
			most = n.call("onnx::int", n.T(0))
		}
	}
	if n.has(1) {
		cond = n.condition(n.T(1))
	}
	var start []*graph.Value
	for i := range carried {
		start = append(start, n.get(n.T(i+2)))
	}
	for range results {
		start = append(start, n.block.List(graph.Tensor))
	}
	var last []*value
	node := n.block.Loop(most, cond, start, func(b *graph.Block, i *graph.Value, params []*graph.Value) (*graph.Value,
		[]*graph.Value) {
		count := &value{g: b.Call1("onnx::index", i), kind: onnxpb.KindTensor, elem: onnxpb.Int64, rank: 0}
		ins := []*value{count, constant(tensor.FromSlice([]bool{true}).Reshape([]int{}), onnxpb.Bool)}
		for j := range carried {
			v := n.T(j + 2)
			rank := -1 // which may change from iteration to iteration
			ins = append(ins, &value{g: params[j], kind: v.kind, elem: v.elem, rank: rank})
		}
		last = n.subgraph(body, b, ins)
		next := n.places(last[1 : 1+carried])
		for j := range results {
			next = append(next, b.Call1("onnx::append", params[carried+j], n.get(last[1+carried+j])))
		}
		var going *graph.Value
		if k := last[0].konst; k != nil && k.Numel() == 1 {
			going = b.Const(k.Num().I != 0)
		} else {
			going = b.Call1("onnx::bool", n.get(last[0]))
		}
		return going, next
	})
	outs := make([]*value, carried+results)
	for i := range carried {
		v := last[i+1]
		outs[i] = &value{g: node.Out[i], kind: v.kind, elem: v.elem, rank: -1}
		if k := n.T(i + 2).kind; k != v.kind {
			outs[i].kind = k
		}
	}
	for i := range results {
		elem := last[1+carried+i].elem
		outs[carried+i] = n.tensor(n.call("onnx::scan_results", node.Out[carried+i], 0, false, n.dtypeOr(elem),
			sizesOf(body.Outputs[1+carried+i])), elem)
	}
	return outs
}

// sizesOf are the sizes that a type declares, 0 for one that it leaves open.
func sizesOf(p onnxpb.Info) []int {
	sizes := []int{}
	if p.Type == nil {
		return []int{}
	}
	for _, d := range p.Type.Shape {
		n := 0
		if d.Value > 0 && d.Value <= maxList {
			n = int(d.Value)
		}
		sizes = append(sizes, n)
	}
	return sizes
}

// dtypeOr is the dtype of an element type, float32 where that is unknown.
func (n *node) dtypeOr(e onnxpb.DataType) tensor.DType {
	if e == 0 {
		return tensor.Float32
	}
	return n.dtype(e)
}

// scan translates Scan: since version 9 a loop over slices of the last inputs, in version 8 such a loop for each
// element of a batch.
func scan(n *node) []*value {
	ins := n.in
	if n.opset < 9 {
		if n.has(0) {
			unsupported("Scan with lengths of sequences")
		}
		ins = ins[1:]
	}
	s := scanner{node: n, body: n.graphAttr("body"), inputs: n.int("num_scan_inputs", 0)}
	s.states = len(ins) - s.inputs
	s.results = len(s.body.Outputs) - s.states
	if s.inputs < 1 || s.states < 0 || s.results < 0 || len(s.body.Inputs) != len(ins) {
		fail("%w: its body has %d inputs and %d outputs for %d states and %d sequences", onnxpb.ErrFormat,
			len(s.body.Inputs), len(s.body.Outputs), s.states, s.inputs)
	}
	for i := range ins {
		if ins[i] == nil {
			fail("%w: input %d is missing", onnxpb.ErrFormat, i)
		}
	}
	if n.opset >= 9 {
		s.axes, s.reverse = n.intsOr("scan_input_axes", s.inputs, 0), n.intsOr("scan_input_directions", s.inputs, 0)
		s.outAxes = n.intsOr("scan_output_axes", s.results, 0)
		s.outReverse = n.intsOr("scan_output_directions", s.results, 0)
		return s.loop(ins)
	}
	s.axes, s.reverse = make([]int, s.inputs), n.intsOr("directions", s.inputs, 0)
	s.outAxes, s.outReverse = make([]int, s.results), make([]int, s.results)
	var start []*graph.Value
	for range s.body.Outputs {
		start = append(start, n.block.List(graph.Tensor))
	}
	var last []*value
	most := n.call("onnx::scan_length", ins[0], 0)
	outer := n.block
	loop := outer.Loop(most, nil, start, func(b *graph.Block, i *graph.Value, lists []*graph.Value) (*graph.Value,
		[]*graph.Value) {
		n.block = b
		defer func() { n.block = outer }()
		rows := make([]*value, len(ins))
		for j, v := range ins {
			rows[j] = n.tensor(n.call("onnx::scan_slice", v, 0, i, false), v.elem)
		}
		last = s.loop(rows)
		var next []*graph.Value
		for j, v := range last {
			next = append(next, n.call("onnx::append", lists[j], v))
		}
		return nil, next
	})
	outs := make([]*value, len(last))
	for i, v := range last {
		outs[i] = n.tensor(n.call("onnx::scan_results", loop.Out[i], 0, false, n.dtypeOr(v.elem), []int{}), v.elem)
	}
	return outs
}

// scanner is a Scan while it is translated: states that are carried along, sequences that are gone through, and results
// of each step, which are put together.
type scanner struct {
	*node
	body                               *onnxpb.Graph
	states, inputs, results            int
	axes, reverse, outAxes, outReverse []int
}

// loop adds the loop for these inputs.
func (s *scanner) loop(from []*value) []*value {
	n := s.node
	most := n.call("onnx::scan_length", from[s.states], s.axes[0])
	var start []*graph.Value
	for _, v := range from[:s.states] {
		start = append(start, n.get(v))
	}
	for range s.results {
		start = append(start, n.block.List(graph.Tensor))
	}
	var last []*value
	loop := n.block.Loop(most, nil, start, func(b *graph.Block, i *graph.Value, params []*graph.Value) (*graph.Value,
		[]*graph.Value) {
		var ins []*value
		for j, v := range from[:s.states] {
			ins = append(ins, &value{g: params[j], kind: v.kind, elem: v.elem, rank: v.rank})
		}
		for j, v := range from[s.states:] {
			g := b.Call1("onnx::scan_slice", n.get(v), s.axes[j], i, s.reverse[j] != 0)
			ins = append(ins, &value{g: g, kind: v.kind, elem: v.elem, rank: max(v.rank-1, -1)})
		}
		last = n.subgraph(s.body, b, ins)
		next := n.places(last[:s.states])
		for j := range s.results {
			next = append(next, b.Call1("onnx::append", params[s.states+j], n.get(last[s.states+j])))
		}
		return nil, next
	})
	outs := make([]*value, s.states+s.results)
	for i, v := range from[:s.states] {
		outs[i] = &value{g: loop.Out[i], kind: last[i].kind, elem: last[i].elem, rank: v.rank}
	}
	for i := range s.results {
		elem := last[s.states+i].elem
		g := n.call("onnx::scan_results", loop.Out[s.states+i], s.outAxes[i], s.outReverse[i] != 0, n.dtypeOr(elem),
			sizesOf(s.body.Outputs[s.states+i]))
		outs[s.states+i] = n.tensor(g, elem)
	}
	return outs
}

// sequenceMap applies a graph to the elements of sequences that have the same length; tensors among the inputs are
// given to each of the calls.
func sequenceMap(n *node) []*value {
	body := n.graphAttr("body")
	if len(body.Inputs) != len(n.in) {
		fail("%w: its body has %d inputs, the node %d", onnxpb.ErrFormat, len(body.Inputs), len(n.in))
	}
	most := n.call("onnx::sequence_length", n.T(0))
	var start []*graph.Value
	for range body.Outputs {
		start = append(start, n.block.List(graph.Tensor))
	}
	var last []*value
	node := n.block.Loop(n.call("onnx::int", most), nil, start, func(b *graph.Block, i *graph.Value,
		params []*graph.Value) (*graph.Value, []*graph.Value) {
		var ins []*value
		for j := range n.in {
			v := n.T(j)
			if v.kind != onnxpb.KindSequence {
				ins = append(ins, v)
				continue
			}
			g := b.Call1("onnx::sequence_at", n.get(v), b.Call1("onnx::index", i))
			ins = append(ins, &value{g: g, kind: onnxpb.KindTensor, elem: v.elem, rank: -1})
		}
		last = n.subgraph(body, b, ins)
		var next []*graph.Value
		for j := range body.Outputs {
			next = append(next, b.Call1("onnx::append", params[j], n.get(last[j])))
		}
		return nil, next
	})
	var outs []*value
	for i := range body.Outputs {
		outs = append(outs, n.sequence(node.Out[i], last[i].elem))
	}
	return outs
}
