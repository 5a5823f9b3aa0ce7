package graph

// maxInlined bounds the nodes of a function with the functions that it calls put into it, and maxInlineDepth how deep
// calls are followed. What lies beyond stays a call.
const (
	maxInlined     = 50_000
	maxInlineDepth = 60
)

// inlined is a copy of the function in which calls of known functions are replaced by their nodes: then the compiler
// sees where values that pass from one module to the next are read last, and a call costs nothing. Functions with
// mistakes, such as operators that do not exist, stay calls, since they are no mistake while they are not called.
func (f *Function) inlined() *Function {
	g := NewFunction(f.Name)
	g.Schema = f.Schema
	in := inliner{ok: map[*Function]bool{f: true}}
	m := map[*Value]*Value{}
	for _, p := range f.Body.Params {
		m[p] = g.Body.Param(p.Name, p.Type)
	}
	in.copy(g.Body, f.Body, m, "", []*Function{f})
	g.Body.Results = mapped(f.Body.Results, m)
	return g
}

type inliner struct {
	nodes int
	ok    map[*Function]bool // functions that verify
	calls bool               // calls stay
}

func mapped(l []*Value, m map[*Value]*Value) []*Value {
	out := make([]*Value, len(l))
	for i, v := range l {
		out[i] = m[v]
	}
	return out
}

// callee is the function that a node calls, where that is known before the program runs: a class of TorchScript has no
// subclasses, so that an object's static type tells its methods.
func callee(n *Node) *Function {
	switch n.Op {
	case CallFunction:
		return n.Func
	case CallMethod:
		if t := n.In[0].Type; t.Kind == ClassType && t.Class != nil {
			return t.Class.Methods[n.Attr]
		}
	}
	return nil
}

// takes reports whether the function may be put in the place of a call.
func (in *inliner) takes(f *Function, n *Node, active []*Function) bool {
	if len(active) > maxInlineDepth || in.nodes > maxInlined || len(n.In) != len(f.Body.Params) ||
		len(n.Out) > len(f.Body.Results) {
		return false
	}
	for _, a := range active {
		if a == f {
			return false
		}
	}
	ok, known := in.ok[f]
	if !known {
		ok = f.runnable() == nil
		in.ok[f] = ok
	}
	return ok
}

// copy appends the nodes of src to dst. m maps the values of src to those of dst; from names the function that src is a
// part of, for error texts; active are the functions whose calls led here.
func (in *inliner) copy(dst, src *Block, m map[*Value]*Value, from string, active []*Function) {
	for _, n := range src.Nodes {
		in.nodes++
		if f := callee(n); !in.calls && f != nil && in.takes(f, n, active) {
			inner := map[*Value]*Value{}
			for i, p := range f.Body.Params {
				inner[p] = m[n.In[i]]
			}
			in.copy(dst, f.Body, inner, f.Name, append(active, f))
			for i, v := range n.Out {
				m[v] = inner[f.Body.Results[i]]
			}
			continue
		}
		c := *n
		c.Block, c.In, c.Out, c.Blocks, c.from = dst, mapped(n.In, m), nil, nil, from
		for _, v := range n.Out {
			w := &Value{Name: v.Name, Type: v.Type, Info: v.Info, Node: &c}
			m[v] = w
			c.Out = append(c.Out, w)
		}
		for _, b := range n.Blocks {
			d := &Block{Owner: &c, Func: dst.Func}
			for _, p := range b.Params {
				m[p] = d.Param(p.Name, p.Type)
			}
			in.copy(d, b, m, from, active)
			d.Results = mapped(b.Results, m)
			c.Blocks = append(c.Blocks, d)
		}
		dst.Nodes = append(dst.Nodes, &c)
	}
}

// Copy is a copy of the function, whose nodes and values are its own, and whose calls stay calls.
func (f *Function) Copy() *Function {
	g := NewFunction(f.Name)
	g.Schema = f.Schema
	m := map[*Value]*Value{}
	for _, p := range f.Body.Params {
		m[p] = g.Body.Param(p.Name, p.Type)
		m[p].Info = p.Info
	}
	in := inliner{ok: map[*Function]bool{}, calls: true}
	in.copy(g.Body, f.Body, m, "", nil)
	g.Body.Results = mapped(f.Body.Results, m)
	return g
}
