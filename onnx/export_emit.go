package onnx

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/onnxform"
	"github.com/gotorch-dev/torch/internal/onnxpb"
	"github.com/gotorch-dev/torch/tensor"
)

// Emit adds a node to the present graph.
func (x *exporter) Emit(domain, op string, attrs onnxform.A, n int, ins []*onnxform.Value) []*onnxform.Value {
	if x.steps++; x.steps > maxNodes {
		stop("the file would have more than %d nodes", maxNodes)
	}
	name := x.unique("/" + strings.Join(append(slices.Clone(x.scope), op), "/"))
	p := &onnxpb.Node{Op: op, Domain: domain, Name: name}
	for _, v := range ins {
		if v == nil {
			p.Inputs = append(p.Inputs, "")
			continue
		}
		p.Inputs = append(p.Inputs, x.name(v))
	}
	for _, k := range slices.Sorted(maps.Keys(attrs)) {
		if a := attribute(k, attrs[k]); a != nil {
			p.Attrs = append(p.Attrs, a)
		}
	}
	out := make([]*onnxform.Value, n)
	for i := range out {
		out[i] = &onnxform.Value{Name: x.unique(fmt.Sprintf("%s_output_%d", name, i))}
		p.Outputs = append(p.Outputs, out[i].Name)
	}
	if domain != "" {
		x.domains[domain] = true
	}
	x.block.nodes = append(x.block.nodes, p)
	x.nodeScope[p] = strings.Join(x.scope, ".")
	return out
}

// attribute makes an attribute; nil for one without a value.
func attribute(name string, v any) *onnxpb.Attr {
	a := &onnxpb.Attr{Name: name}
	switch v := v.(type) {
	case nil:
		return nil
	case int:
		a.Type, a.I = onnxpb.AttrInt, int64(v)
	case bool:
		if a.Type = onnxpb.AttrInt; v {
			a.I = 1
		}
	case float64:
		a.Type, a.F = onnxpb.AttrFloat, float32(v)
	case string:
		a.Type, a.S = onnxpb.AttrString, []byte(v)
	case tensor.DType:
		a.Type, a.I = onnxpb.AttrInt, int64(onnxpb.ElemOf(v))
	case []int:
		a.Type = onnxpb.AttrInts
		for _, n := range v {
			a.Ints = append(a.Ints, int64(n))
		}
	case []float64:
		a.Type = onnxpb.AttrFloats
		for _, f := range v {
			a.Floats = append(a.Floats, float32(f))
		}
	case []string:
		a.Type = onnxpb.AttrStrings
		for _, s := range v {
			a.Strings = append(a.Strings, []byte(s))
		}
	case *tensor.Tensor:
		a.Type, a.T = onnxpb.AttrTensor, protoTensor("", v)
	case *onnxpb.Graph:
		a.Type, a.G = onnxpb.AttrGraph, v
	default:
		stop("attribute %s is a %T, which ONNX does not have", name, v)
	}
	return a
}

// name is the name of a value in the file. A constant that is used for the first time becomes an initializer.
func (x *exporter) name(v *onnxform.Value) string {
	if v.Name != "" {
		return v.Name
	}
	if v.Const == nil {
		stop("a value of the file has no name")
	}
	if key, ok := x.p.state[v.Const]; ok && v.Param {
		v.Name = x.unique(key)
		x.initializer(v)
		return v.Name
	}
	if v.Const.Numel() <= 64 {
		p := protoTensor("", v.Const)
		key := fmt.Sprintf("%d %v %x", p.Type, p.Dims, p.Raw)
		if name, ok := x.small[key]; ok {
			v.Name = name
			return name
		}
		v.Name = x.unique("const")
		x.small[key] = v.Name
	} else {
		v.Name = x.unique("const")
	}
	x.initializer(v)
	return v.Name
}

func (x *exporter) initializer(v *onnxform.Value) {
	x.inits[v.Name] = protoTensor(v.Name, v.Const)
	x.order = append(x.order, v.Name)
}

// protoTensor is a tensor as a file holds it.
func protoTensor(name string, t *tensor.Tensor) *onnxpb.Tensor {
	e := onnxpb.ElemOf(t.DType())
	if e == onnxpb.Undefined {
		stop("a tensor of dtype %s cannot stand in an ONNX file", t.DType().Name())
	}
	p := &onnxpb.Tensor{Name: name, Type: e, HasRaw: true}
	for _, n := range t.Shape() {
		p.Dims = append(p.Dims, int64(n))
	}
	t = tensor.HostCopy(t.Detach()).Contiguous()
	if t.Numel() > 0 {
		p.Raw = unsafe.Slice((*byte)(tensor.Ptr(t)), t.NBytes())
	}
	p.Keep = t
	return p
}

// prune drops nodes and initializers that nothing reads.
func (x *exporter) prune(m *onnxpb.Model) {
	used := map[string]bool{}
	for _, o := range m.Graph.Outputs {
		used[o.Name] = true
	}
	m.Graph.Nodes = live(m.Graph.Nodes, used)
	x.direct(m)
	for _, name := range x.order {
		if used[name] {
			m.Graph.Initializers = append(m.Graph.Initializers, x.inits[name])
		}
	}
}

// live keeps the nodes whose results are read, and notes what these read.
func live(nodes []*onnxpb.Node, used map[string]bool) []*onnxpb.Node {
	var kept []*onnxpb.Node
	for _, n := range slices.Backward(nodes) {
		if !slices.ContainsFunc(n.Outputs, func(o string) bool { return used[o] }) {
			continue
		}
		for _, in := range n.Inputs {
			used[in] = true
		}
		for _, a := range n.Attrs {
			if a.G != nil {
				for _, o := range a.G.Outputs {
					used[o.Name] = true
				}
				a.G.Nodes = live(a.G.Nodes, used)
			}
		}
		kept = append(kept, n)
	}
	slices.Reverse(kept)
	return kept
}

// direct lets a node write an output of the graph itself, where an Identity node gives the output its name and nothing
// but the graph is in between.
func (x *exporter) direct(m *onnxpb.Model) {
	made := map[string]*onnxpb.Node{}
	outs := map[string]bool{}
	for _, o := range m.Graph.Outputs {
		outs[o.Name] = true
	}
	for _, n := range m.Graph.Nodes {
		for _, o := range n.Outputs {
			made[o] = n
		}
	}
	rename := map[string]string{}
	m.Graph.Nodes = slices.DeleteFunc(m.Graph.Nodes, func(n *onnxpb.Node) bool {
		if n.Op != "Identity" || !outs[n.Outputs[0]] {
			return false
		}
		from := n.Inputs[0]
		if made[from] == nil || outs[from] || rename[from] != "" {
			return false
		}
		rename[from] = n.Outputs[0]
		return true
	})
	renameAll(m.Graph.Nodes, rename)
}

func renameAll(nodes []*onnxpb.Node, rename map[string]string) {
	for _, n := range nodes {
		for _, l := range [][]string{n.Inputs, n.Outputs} {
			for i, s := range l {
				if to, ok := rename[s]; ok {
					l[i] = to
				}
			}
		}
		for _, a := range n.Attrs {
			if a.G != nil {
				renameAll(a.G.Nodes, rename)
				for i, o := range a.G.Outputs {
					if to, ok := rename[o.Name]; ok {
						a.G.Outputs[i].Name = to
					}
				}
			}
		}
	}
}
