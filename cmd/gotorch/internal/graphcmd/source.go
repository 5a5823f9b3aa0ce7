package graphcmd

import (
	"fmt"
	"strings"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/onnxpb"
	"github.com/gotorch-dev/torch/jit"
	"github.com/gotorch-dev/torch/tensor"
)

// fromONNX draws the graph of a model. Weights and constants are lines in the boxes of the nodes that read them.
func fromONNX(m *onnxpb.Model) *drawing {
	d := &drawing{}
	g := m.Graph
	made, weights, shapes := map[string]int{}, map[string]string{}, map[string]string{}
	for _, l := range [][]onnxpb.Info{g.Inputs, g.Values, g.Outputs} {
		for _, v := range l {
			shapes[v.Name] = typeText(v.Type)
		}
	}
	for _, t := range g.Initializers {
		weights[t.Name] = dimsText(t.Dims)
	}
	for _, in := range g.Inputs {
		if _, weight := weights[in.Name]; !weight {
			made[in.Name] = d.box(in.Name, shapes[in.Name], "", kindPort)
		}
	}
	for _, n := range g.Nodes {
		if n.Op == "Constant" {
			weights[n.Outputs[0]] = ""
			continue
		}
		var sub []string
		for _, in := range n.Inputs {
			if w := weights[in]; w != "" {
				sub = append(sub, w)
			}
		}
		for _, a := range n.Attrs {
			if a.G != nil {
				sub = append(sub, fmt.Sprintf("%s: %d nodes", a.Name, len(a.G.Nodes)))
			}
		}
		scope := strings.Trim(n.Name, "/")
		if i := strings.LastIndexByte(scope, '/'); i >= 0 {
			scope = strings.ReplaceAll(scope[:i], "/", ".")
		} else {
			scope = ""
		}
		b := d.operator(n.Op, strings.Join(sub, "  "), scope)
		for _, in := range n.Inputs {
			if from, ok := made[in]; ok {
				d.edge(from, b, shapes[in])
			}
		}
		for _, a := range n.Attrs { // what graphs inside read
			if a.G == nil {
				continue
			}
			for _, c := range a.G.Nodes {
				for _, in := range c.Inputs {
					if from, ok := made[in]; ok {
						d.edge(from, b, shapes[in])
					}
				}
			}
		}
		for _, o := range n.Outputs {
			made[o] = b
		}
	}
	for _, o := range g.Outputs {
		b := d.box(o.Name, shapes[o.Name], "", kindPort)
		if from, ok := made[o.Name]; ok {
			d.edge(from, b, "")
		}
	}
	return d
}

func typeText(t *onnxpb.Type) string {
	if t == nil || !t.HasShape {
		return ""
	}
	return strings.Join(t.Dims(), "×")
}

func dimsText[T int | int64](dims []T) string {
	l := make([]string, len(dims))
	for i, n := range dims {
		l[i] = fmt.Sprint(n)
	}
	return strings.Join(l, "×")
}

// fromModel draws the program of a TorchScript module, with the methods of its submodules in the places where they are
// called.
func fromModel(m graph.Model) (*drawing, error) {
	s := &source{d: &drawing{}, path: map[*graph.Object]string{}}
	var f *graph.Function
	var args []known
	if j, ok := m.(*jit.Module); ok {
		f, args = j.Method("forward"), []known{{obj: j.Object()}}
	} else if p, ok := m.(interface{ Function() *graph.Function }); ok {
		f = p.Function()
	}
	if f == nil {
		return nil, fmt.Errorf("a %T has no program that can be drawn", m)
	}
	for _, p := range f.Body.Params[len(args):] {
		args = append(args, known{from: []int{s.d.box(p.Name, p.Type.String(), "", kindPort)}})
	}
	res := s.function(f, args, "", 0)
	out := s.d.box("output", "", "", kindPort)
	for _, r := range res {
		for _, from := range r.from {
			s.d.edge(from, out, r.shape)
		}
	}
	return s.d, nil
}

// source walks through a program.
type source struct {
	d    *drawing
	path map[*graph.Object]string
}

// known is what is known of a value: the boxes that it comes from, an object, or the shape of a weight.
type known struct {
	from   []int
	obj    *graph.Object
	weight string
	shape  string
}

const deepest = 100

func (s *source) function(f *graph.Function, args []known, scope string, depth int) []known {
	vals := map[*graph.Value]known{}
	for i, p := range f.Body.Params {
		if i < len(args) {
			vals[p] = args[i]
		}
	}
	s.block(f.Body, vals, scope, depth)
	var out []known
	for _, r := range f.Body.Results {
		out = append(out, vals[r])
	}
	return out
}

func (s *source) block(b *graph.Block, vals map[*graph.Value]known, scope string, depth int) {
	for _, n := range b.Nodes {
		var in []known
		for _, v := range n.In {
			in = append(in, vals[v])
		}
		switch n.Op {
		case graph.Constant:
			continue
		case graph.GetAttr:
			vals[n.Out[0]] = s.attribute(n, in[0])
			continue
		case graph.CallMethod:
			if o := in[0].obj; o != nil && o.Class.Methods[n.Attr] != nil && depth < deepest {
				for i, r := range s.function(o.Class.Methods[n.Attr], in, s.path[o], depth+1) {
					if i < len(n.Out) {
						vals[n.Out[i]] = r
					}
				}
				continue
			}
		case graph.CallFunction:
			if n.Func != nil && depth < deepest {
				for i, r := range s.function(n.Func, in, scope, depth+1) {
					if i < len(n.Out) {
						vals[n.Out[i]] = r
					}
				}
				continue
			}
		}
		var all known
		var weights []string
		for _, k := range in {
			all.from = append(all.from, k.from...)
			if k.weight != "" {
				weights = append(weights, k.weight)
			}
		}
		if n.Operator != nil && n.Operator.Op() != nil || n.Op == graph.If || n.Op == graph.Loop {
			name := n.Op[strings.LastIndexByte(n.Op, ':')+1:]
			name, _, _ = strings.Cut(name, ".")
			box := s.d.operator(strings.Trim(name, "_"), strings.Join(weights, "  "), scope)
			for _, k := range in {
				for _, from := range k.from {
					s.d.edge(from, box, k.shape)
				}
			}
			for _, c := range n.Blocks {
				inner := &source{d: &drawing{}, path: s.path}
				inner.block(c, map[*graph.Value]known{}, scope, depth+1)
				s.d.boxes[box].sub += fmt.Sprintf(" %d operators", inner.d.operators)
			}
			all = known{from: []int{box}}
		}
		for _, o := range n.Out {
			k := all
			if t := o.Type; len(k.from) > 0 && t.Kind == graph.TensorType {
				k.shape = infoText(o)
			}
			vals[o] = k
		}
	}
}

func (s *source) attribute(n *graph.Node, of known) known {
	if of.obj == nil {
		return known{}
	}
	v, _ := of.obj.Attr(n.Attr)
	if o, ok := v.X.(*graph.Object); ok {
		if s.path[o] == "" {
			s.path[o] = strings.TrimPrefix(s.path[of.obj]+"."+n.Attr, ".")
		}
		return known{obj: o}
	}
	if v.K == tensor.KTensor && v.T != nil {
		return known{weight: dimsText(v.T.Shape())}
	}
	return known{}
}

// infoText is the shape that a recording knows of a value.
func infoText(v *graph.Value) string {
	if v.Info == nil {
		return ""
	}
	return dimsText(v.Info.Shape)
}
