package trace

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gotorch-dev/torch/graph"
)

// Node is a value of a program with the name that torchvision.models.feature_extraction gives it.
type Node struct {
	Name  string
	Value *graph.Value // a tensor
}

// Nodes are the tensors that a program computes, named as torchvision's get_graph_node_names names them: the inputs by
// their names, the result of a layer of torch.nn or torchvision.ops by the layer's path ("layer1.0.conv1"), that of
// another operator by its name below the module that calls it ("layer1.0.add", "flatten"), an attribute that such an
// operator reads by its path with underscores. What occurs again below one module gets "_1", "_2", …. Nodes of
// torchvision's that are no tensors, such as sizes and assertions, are not there.
func (p *Program) Nodes() []Node {
	var out []Node
	had := map[string]int{}
	add := func(v *graph.Value, name string) {
		k := had[name]
		had[name]++
		if k > 0 {
			name = fmt.Sprintf("%s_%d", name, k)
		}
		out = append(out, Node{name, v})
	}
	params := p.Func.Body.Params
	if p.Self != nil {
		params = params[1:]
	}
	for _, v := range params {
		add(v, v.Name)
	}
	ends := map[*graph.Node][]call{}
	for _, c := range p.calls {
		if leafOf(c.scope) == c.scope {
			ends[c.after] = append(ends[c.after], c)
		}
	}
	end := func(n *graph.Node) {
		for _, c := range ends[n] {
			if c.result != nil {
				add(c.result, c.scope.Path)
			}
		}
	}
	end(nil)
	for _, n := range p.Func.Body.Nodes {
		if leafOf(n.Scope) != nil {
			end(n)
			continue
		}
		prefix := ""
		if n.Scope != nil && n.Scope.Path != "" {
			prefix = n.Scope.Path + "."
		}
		switch {
		case n.Op == graph.GetAttr && n.Out[0].Type.Kind == graph.TensorType:
			add(n.Out[0], prefix+strings.ReplaceAll(n.Attr, ".", "_"))
		case n.Op == graph.ListUnpack:
			for _, v := range n.Out {
				add(v, prefix+"getitem")
			}
		case n.Operator != nil && len(n.Out) > 0 && n.Out[0].Type.Kind == graph.TensorType:
			_, name, _ := strings.Cut(n.Operator.Name, "::")
			if strings.HasSuffix(name, "_") && !strings.HasSuffix(name, "__") {
				name = name[:len(name)-1]
			}
			add(n.Out[0], prefix+name)
		}
		end(n)
	}
	return out
}

// leafOf is the scope of the layer that a node is part of, whose inside has no names; nil for none.
func leafOf(s *graph.Scope) *graph.Scope {
	var leaf *graph.Scope
	for ; s != nil && s.Parent != nil; s = s.Parent {
		if strings.HasPrefix(s.Class, "torch.nn.") && !strings.HasPrefix(s.Class, "torch.nn.modules.container.") ||
			strings.HasPrefix(s.Class, "torchvision.ops.") {
			leaf = s
		}
	}
	return leaf
}

// Extract is a copy of the function that returns these values of it instead of its results, without the nodes that they
// do not need. Operators that write to their arguments stay if they run before the last of the values is there.
func (p *Program) Extract(values ...*graph.Value) *graph.Function {
	f := p.Func.Copy()
	same := map[*graph.Value]*graph.Value{}
	for i, v := range p.Func.Body.Params {
		same[v] = f.Body.Params[i]
	}
	for i, n := range p.Func.Body.Nodes {
		for k, v := range n.Out {
			same[v] = f.Body.Nodes[i].Out[k]
		}
	}
	f.Body.Results = nil
	end := 0
	needed := map[*graph.Value]bool{}
	for _, v := range values {
		w := same[v]
		f.Body.Results = append(f.Body.Results, w)
		needed[w] = true
		if w.Node != nil {
			end = max(end, slices.Index(f.Body.Nodes, w.Node)+1)
		}
	}
	var kept []*graph.Node
	for _, n := range slices.Backward(f.Body.Nodes[:end]) {
		keep := len(n.Out) == 0 || len(n.Blocks) > 0 || n.Op == graph.CallMethod ||
			n.Operator != nil && slices.ContainsFunc(n.Operator.Params,
				func(q graph.Param) bool { return q.Writes() }) ||
			slices.ContainsFunc(n.Out, func(v *graph.Value) bool { return needed[v] })
		if !keep {
			continue
		}
		kept = append(kept, n)
		need(n, needed)
	}
	slices.Reverse(kept)
	f.Body.Nodes = kept
	return f
}

// need notes what a node reads.
func need(n *graph.Node, needed map[*graph.Value]bool) {
	for _, v := range n.In {
		needed[v] = true
	}
	for _, b := range n.Blocks {
		for _, v := range b.Results {
			needed[v] = true
		}
		for _, c := range b.Nodes {
			need(c, needed)
		}
	}
}
