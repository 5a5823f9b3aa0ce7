package onnx

import (
	"fmt"
	"math"
	"strings"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/dtype"
	"github.com/gotorch-dev/torch/internal/onnxpb"
)

// translator turns the graph of a model into a program of package graph.
//
// Each node becomes calls of operators by the rule of its ONNX operator (rules.go). A node whose inputs are all
// constants is computed at once, so that rules meet as many constants as there are: shapes, axes, weights.
type translator struct {
	model     *onnxpb.Model
	functions map[string]*onnxpb.Function // by domain, name and overload
	external  func([]onnxpb.Entry) ([]byte, error)

	root  *graph.Block // where constants stand
	block *graph.Block // where nodes are added
	scope *scope
	depth int
	nodes int
}

const (
	// maxCalls bounds how deep graphs and functions lie in each other.
	maxCalls = 64
	// maxNodes bounds the nodes of a program once its functions stand where they are called.
	maxNodes = 1 << 20
	// maxFolded is how many elements the results of a node of constants may have beyond a multiple of its inputs'.
	maxFolded = 1 << 16
)

// failure is what a rule panics with; node turns it into a *NodeError.
type failure struct{ err error }

func fail(format string, args ...any) {
	panic(failure{fmt.Errorf(format, args...)})
}

// unsupported fails with ErrUnsupported.
func unsupported(format string, args ...any) {
	panic(failure{fmt.Errorf("%w: %s", ErrUnsupported, fmt.Sprintf(format, args...))})
}

// standardDomain maps the two names of ONNX's own domain to one.
func standardDomain(d string) string {
	if d == "ai.onnx" {
		return ""
	}
	return d
}

func functionKey(domain, name, overload string) string {
	return standardDomain(domain) + "\x00" + name + "\x00" + overload
}

func opsetMap(l []onnxpb.Opset) map[string]int {
	m := map[string]int{}
	for _, o := range l {
		if o.Version < 0 || o.Version > math.MaxInt16 {
			o.Version = math.MaxInt16
		}
		m[standardDomain(o.Domain)] = int(o.Version)
	}
	return m
}

// program translates the model's graph. The parameters of the function are the graph's inputs.
func (t *translator) program() (f *graph.Function, inputs, outputs []onnxpb.Info, err error) {
	g := t.model.Graph
	f = graph.NewFunction(g.Name)
	t.root, t.block = f.Body, f.Body
	t.scope = &scope{vals: map[string]*value{}, opsets: opsetMap(t.model.Opsets)}
	t.functions = map[string]*onnxpb.Function{}
	for _, fn := range t.model.Functions {
		t.functions[functionKey(fn.Domain, fn.Name, fn.Overload)] = fn
	}
	if err := t.initializers(g); err != nil {
		return nil, nil, nil, err
	}
	for _, in := range g.Inputs {
		if t.scope.vals[in.Name] != nil { // until IR version 4 initializers are listed among the inputs
			continue
		}
		if err := t.checkType(in.Type); err != nil {
			return nil, nil, nil, fmt.Errorf("input %q: %w", in.Name, err)
		}
		v := t.declared(in.Type)
		v.g = f.Body.Param(in.Name, typeOf(in.Type))
		t.scope.vals[in.Name] = v
		inputs = append(inputs, in)
	}
	if err := t.graphNodes(g); err != nil {
		return nil, nil, nil, err
	}
	var results []*graph.Value
	for _, out := range g.Outputs {
		v := t.scope.find(out.Name)
		if v == nil {
			return nil, nil, nil, fmt.Errorf("%w: output %q is computed by no node", onnxpb.ErrFormat, out.Name)
		}
		results = append(results, t.get(v))
	}
	f.Body.Return(results...)
	return f, inputs, g.Outputs, nil
}

// checkType refuses inputs that no tensor can hold.
func (t *translator) checkType(ty *onnxpb.Type) error {
	if ty == nil || ty.Kind == onnxpb.KindNone {
		return fmt.Errorf("%w: an input without a type", onnxpb.ErrFormat)
	}
	if ty.Kind == onnxpb.KindMap || ty.Kind == onnxpb.KindOpaque || ty.Kind == onnxpb.KindSparse {
		return fmt.Errorf("%w: an input that is no tensor, sequence or optional", ErrUnsupported)
	}
	if e := elemTypeOf(ty); onnxpb.DTypeOf(e) == dtype.Invalid && e != onnxpb.String {
		return fmt.Errorf("%w: elements of type %s", ErrUnsupported, e)
	}
	return nil
}

// declared is a value of a declared type.
func (t *translator) declared(ty *onnxpb.Type) *value {
	v := &value{kind: onnxpb.KindTensor, rank: -1}
	if ty == nil {
		return v
	}
	v.kind, v.elem = ty.Kind, elemTypeOf(ty)
	if ty.Kind == onnxpb.KindTensor && ty.HasShape {
		v.rank = len(ty.Shape)
	}
	return v
}

func (t *translator) initializers(g *onnxpb.Graph) error {
	for _, p := range g.Initializers {
		if p.Type == onnxpb.String {
			shape, x, err := p.DecodeStrings()
			if err != nil {
				return fmt.Errorf("initializer %q: %w", p.Name, err)
			}
			t.scope.vals[p.Name] = t.texts(&graph.Strings{Shape: shape, Data: x})
			continue
		}
		x, err := p.Decode(t.external)
		if err != nil {
			return fmt.Errorf("initializer %q: %w", p.Name, err)
		}
		t.scope.vals[p.Name] = constant(x, p.Type)
	}
	for _, p := range g.Sparse {
		x, err := p.Decode()
		if err != nil {
			return fmt.Errorf("initializer %q: %w", p.Values.Name, err)
		}
		t.scope.vals[p.Values.Name] = constant(x, p.Values.Type)
	}
	return nil
}

func (t *translator) graphNodes(g *onnxpb.Graph) error {
	for _, n := range ordered(g.Nodes) {
		if err := t.node(n); err != nil {
			return err
		}
	}
	return nil
}

// node translates one node and enters its results into the scope.
func (t *translator) node(p *onnxpb.Node) (err error) {
	domain := standardDomain(p.Domain)
	n := &node{translator: t, pb: p, domain: domain, opset: t.scope.opsets[domain]}
	defer func() {
		if err == nil {
			return
		}
		if _, ok := err.(*NodeError); ok {
			return // of a node inside
		}
		op := p.Op
		if domain != "" {
			op = domain + "::" + op
		}
		e := &NodeError{Name: p.Name, Op: op, Opset: n.opset, Err: err}
		if len(p.Outputs) > 0 {
			e.Output = p.Outputs[0]
		}
		err = e
	}()
	if t.nodes++; t.nodes > maxNodes {
		return fmt.Errorf("%w: more than %d nodes once functions stand where they are called", ErrUnsupported, maxNodes)
	}
	if err := n.resolve(); err != nil {
		return err
	}
	outs, err := n.translate()
	if err != nil {
		return err
	}
	for i, name := range p.Outputs {
		if name == "" {
			continue
		}
		if i >= len(outs) || outs[i] == nil {
			return fmt.Errorf("%w: output %d", ErrUnsupported, i)
		}
		v := *outs[i]
		if v.g != nil && v.g.Name == "" && v.g.Node != nil {
			v.g.Name = printable(name)
		}
		t.scope.vals[name] = &v
	}
	return nil
}

// printable is a name that may stand in the printed form of a program.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r == '%' || r == ',' || r == '(' || r == ')' || r == ':' || r > '~' {
			return '_'
		}
		return r
	}, s)
}

// get is the place of a value in the program.
func (t *translator) get(v *value) *graph.Value {
	if v == nil {
		return t.root.Const(nil)
	}
	if v.g == nil && v.made != nil {
		v.g = v.made()
	}
	if v.g == nil {
		v.g = t.root.Const(v.konst)
	}
	return v.g
}

// inner runs f with another block for new nodes and a scope inside the present one, or, for a function, the scope s.
func (t *translator) inner(b *graph.Block, s *scope, f func() error) error {
	if t.depth++; t.depth > maxCalls {
		return fmt.Errorf("%w: graphs and functions lie more than %d deep in each other", ErrUnsupported, maxCalls)
	}
	block, outer := t.block, t.scope
	t.block = b
	if s == nil {
		s = &scope{parent: outer, vals: map[string]*value{}, opsets: outer.opsets, attrs: outer.attrs}
	}
	t.scope = s
	defer func() { t.block, t.scope, t.depth = block, outer, t.depth-1 }()
	return f()
}

// function translates the call of a function that the model defines: the function's nodes, at this place.
func (n *node) function(f *onnxpb.Function) ([]*value, error) {
	if len(n.in) > len(f.Inputs) {
		return nil, fmt.Errorf("%w: function %s takes %d inputs, got %d", onnxpb.ErrFormat, f.Name, len(f.Inputs),
			len(n.in))
	}
	s := &scope{vals: map[string]*value{}, attrs: map[string]*onnxpb.Attr{}, opsets: opsetMap(f.Opsets)}
	for d, v := range n.scope.opsets {
		if _, ok := s.opsets[d]; !ok {
			s.opsets[d] = v
		}
	}
	for i, name := range f.Inputs {
		if i < len(n.in) && n.in[i] != nil {
			s.vals[name] = n.in[i]
		}
	}
	for _, a := range f.Defaults {
		s.attrs[a.Name] = a
	}
	for name, a := range n.attrs {
		s.attrs[name] = a
	}
	outs := make([]*value, len(f.Outputs))
	err := n.inner(n.block, s, func() error {
		for _, p := range ordered(f.Nodes) {
			if err := n.translator.node(p); err != nil {
				return fmt.Errorf("function %s: %w", f.Name, err)
			}
		}
		for i, name := range f.Outputs {
			outs[i] = n.scope.find(name)
		}
		return nil
	})
	return outs, err
}

// subgraph translates a graph inside block b. bind gives values to the graph's inputs. The results are in the order of
// the graph's outputs.
func (n *node) subgraph(g *onnxpb.Graph, b *graph.Block, inputs []*value) []*value {
	if len(inputs) > len(g.Inputs) {
		fail("%w: its graph %q takes %d inputs, wants %d", onnxpb.ErrFormat, g.Name, len(g.Inputs), len(inputs))
	}
	outs := make([]*value, len(g.Outputs))
	err := n.inner(b, nil, func() error {
		if err := n.initializers(g); err != nil {
			return err
		}
		for i, v := range inputs {
			in := g.Inputs[i]
			if in.Type != nil && v.elem == 0 {
				v.elem = elemTypeOf(in.Type)
			}
			n.scope.vals[in.Name] = v
		}
		if err := n.graphNodes(g); err != nil {
			return err
		}
		for i, out := range g.Outputs {
			if outs[i] = n.scope.find(out.Name); outs[i] == nil {
				return fmt.Errorf("%w: output %q is computed by no node", onnxpb.ErrFormat, out.Name)
			}
		}
		return nil
	})
	if err != nil {
		panic(failure{err})
	}
	return outs
}
