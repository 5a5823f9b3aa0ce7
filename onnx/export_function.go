package onnx

import (
	"fmt"
	"slices"

	"github.com/gotorch-dev/torch/internal/onnxpb"
)

// functionDomain is the domain of the functions that modules become.
const functionDomain = "gotorch.modules"

// functionsOf makes functions of the nodes that belong to one submodule and stand side by side: two or more nodes
// become the call of a function with the name of the module's class. Modules of one class that are written alike share
// a function; their parameters are arguments of it.
func (x *exporter) functionsOf(m *onnxpb.Model) {
	g := m.Graph
	readers := map[string]int{} // how many nodes, and outputs of the graph, read a name
	count := func(nodes []*onnxpb.Node, d int) {
		reads(nodes, func(name string) { readers[name] += d })
	}
	count(g.Nodes, 1)
	for _, o := range g.Outputs {
		readers[o.Name]++
	}
	var out []*onnxpb.Node
	for i := 0; i < len(g.Nodes); {
		path := x.nodeScope[g.Nodes[i]]
		j := i
		for j < len(g.Nodes) && x.nodeScope[g.Nodes[j]] == path && !hasGraph(g.Nodes[j]) {
			j++
		}
		if path == "" || j-i < 2 {
			out = append(out, g.Nodes[i])
			i++
			continue
		}
		group := g.Nodes[i:j]
		count(group, -1)
		out = append(out, x.functionCall(path, group, func(name string) bool { return readers[name] > 0 }))
		count(group, 1)
		i = j
	}
	g.Nodes = out
	if len(x.functions) > 0 {
		m.Functions = x.functions
		m.IRVersion = max(m.IRVersion, 8) // the first with functions
		m.Opsets = append(m.Opsets, onnxpb.Opset{Domain: functionDomain, Version: 1})
	}
}

func hasGraph(n *onnxpb.Node) bool {
	return slices.ContainsFunc(n.Attrs, func(a *onnxpb.Attr) bool { return a.G != nil })
}

// reads calls f with the names that nodes read, those in graphs inside included.
func reads(nodes []*onnxpb.Node, f func(name string)) {
	for _, n := range nodes {
		for _, in := range n.Inputs {
			if in != "" {
				f(in)
			}
		}
		for _, a := range n.Attrs {
			if a.G != nil {
				reads(a.G.Nodes, f)
				for _, o := range a.G.Outputs {
					f(o.Name)
				}
			}
		}
	}
}

// functionCall is the node that calls a function in the place of nodes. outside reports a name that others read.
func (x *exporter) functionCall(path string, nodes []*onnxpb.Node, outside func(string) bool) *onnxpb.Node {
	f := &onnxpb.Function{Domain: functionDomain, Opsets: []onnxpb.Opset{{Version: int64(x.opt.Opset)}}}
	call := &onnxpb.Node{Domain: functionDomain, Name: "/" + path}
	local := map[string]string{"": ""}
	for k, n := range nodes {
		c := &onnxpb.Node{Op: n.Op, Domain: n.Domain, Name: fmt.Sprintf("%s_%d", n.Op, k), Attrs: n.Attrs}
		for _, in := range n.Inputs {
			if _, ok := local[in]; !ok {
				local[in] = fmt.Sprintf("x%d", len(f.Inputs))
				f.Inputs, call.Inputs = append(f.Inputs, local[in]), append(call.Inputs, in)
			}
			c.Inputs = append(c.Inputs, local[in])
		}
		for _, o := range n.Outputs {
			if o != "" {
				local[o] = fmt.Sprintf("v%d", len(local))
			}
			if o != "" && outside(o) {
				f.Outputs, call.Outputs = append(f.Outputs, local[o]), append(call.Outputs, o)
			}
			c.Outputs = append(c.Outputs, local[o])
		}
		f.Nodes = append(f.Nodes, c)
	}
	class := x.classes[path]
	if class == "" {
		class = "Module"
	}
	alike := onnxpb.Model{Graph: &onnxpb.Graph{}, Functions: []*onnxpb.Function{f}}
	key := class + string(alike.Bytes())
	if had := x.fnByBytes[key]; had != nil {
		call.Op = had.Name
		return call
	}
	x.fnByBytes[key] = f
	f.Name = class
	for k := 1; slices.ContainsFunc(x.functions, func(g *onnxpb.Function) bool { return g.Name == f.Name }); k++ {
		f.Name = fmt.Sprintf("%s_%d", class, k)
	}
	call.Op = f.Name
	x.functions = append(x.functions, f)
	return call
}
