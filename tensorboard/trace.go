package tensorboard

import (
	"fmt"
	"strings"

	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// TraceGraph runs a model once, without gradients, and returns its graph for AddGraph: the primitive operators that it
// called as nodes with their output shapes, inside the modules that called them, the parameters and the input.
// Operators of modules whose Forward does not run their hooks (see nn.Base.Run) belong to the module around them. The
// model stays in the mode that it is in.
func TraceGraph(m nn.Layer, input *tensor.Tensor) (g *Graph, err error) {
	t := &tracer{root: nn.ClassName(m), names: map[*tensor.Tensor]string{}, count: map[string]int{}}
	const inputName = "input/input"
	t.names[input] = inputName
	t.g.Nodes = append(t.g.Nodes, GraphNode{Name: inputName, Op: "IO Node", OutputShapes: shapes(input)})
	refs := map[string]ModuleRef{}
	var handles []nn.Handle
	defer func() {
		for _, h := range handles {
			h.Remove()
		}
	}()
	for name, c := range nn.NamedModules(m) {
		ref := ModuleRef{Class: nn.ClassName(c), Field: name[strings.LastIndexByte(name, '.')+1:]}
		refs[name] = ref
		path := pathOf(name, refs)
		for pname, p := range nn.OwnNamedParameters(c) {
			full := ScopedName(t.root, path, pname)
			t.names[p] = full
			t.g.Nodes = append(t.g.Nodes, GraphNode{Name: full, Op: "prim::GetAttr", OutputShapes: shapes(p)})
		}
		handles = append(handles,
			nn.RegisterForwardPreHook(c, func(nn.Module, []*tensor.Tensor) []*tensor.Tensor {
				t.stack = append(t.stack, path)
				return nil
			}),
			nn.RegisterForwardHook(c, func(nn.Module, []*tensor.Tensor, *tensor.Tensor) *tensor.Tensor {
				t.stack = t.stack[:len(t.stack)-1]
				return nil
			}))
	}
	err = tensor.Try(func() {
		tensor.NoGrad(func() { tensor.WithLayer(t, func() { t.result = m.Forward(input) }) })
	})
	if err != nil {
		return nil, err
	}
	if from, ok := t.names[t.result]; ok {
		t.g.Nodes = append(t.g.Nodes, GraphNode{Name: "output/output.1", Op: "IO Node", Inputs: []string{from},
			OutputShapes: shapes(t.result)})
	}
	return &t.g, nil
}

// tracer records the operator calls of one forward pass.
type tracer struct {
	g      Graph
	root   string
	stack  [][]ModuleRef
	names  map[*tensor.Tensor]string
	count  map[string]int
	result *tensor.Tensor
}

// Rank is that of a tracer.
func (t *tracer) Rank() tensor.Rank { return tensor.RankTrace }

// Sees has composed operators shown by those inside them.
func (t *tracer) Sees(op *tensor.Op) tensor.Sight {
	if op.Body != nil {
		return tensor.Inside
	}
	return tensor.Whole
}

// Call records one call.
func (t *tracer) Call(c *tensor.Ctx, next func()) {
	op := c.Op()
	var inputs []string
	for i := range c.NumArgs() {
		v := c.Value(i)
		ts := []*tensor.Tensor{v.T}
		if v.K == tensor.KTensors {
			ts, _ = v.X.([]*tensor.Tensor)
		}
		for _, x := range ts {
			if n, ok := t.names[x]; ok && x != nil {
				inputs = append(inputs, n)
			}
		}
	}
	next()
	var path []ModuleRef
	if len(t.stack) > 0 {
		path = t.stack[len(t.stack)-1]
	}
	kind := strings.TrimPrefix(op.FullName(), "aten::")
	kind, _, _ = strings.Cut(kind, ".")
	base := ScopedName(t.root, path, kind)
	t.count[base]++
	name := base
	if n := t.count[base]; n > 1 {
		name = fmt.Sprintf("%s.%d", base, n)
	}
	node := GraphNode{Name: name, Op: "aten::" + kind, Inputs: inputs}
	for i := range c.NumOut() {
		out := c.Out(i)
		t.names[out] = name
		node.OutputShapes = append(node.OutputShapes, shapes(out)...)
	}
	t.g.Nodes = append(t.g.Nodes, node)
}

// pathOf lists the modules from the root's child down to the named one.
func pathOf(name string, refs map[string]ModuleRef) []ModuleRef {
	var path []ModuleRef
	for i := range name {
		if name[i] == '.' {
			path = append(path, refs[name[:i]])
		}
	}
	if name != "" {
		path = append(path, refs[name])
	}
	return path
}

func shapes(t *tensor.Tensor) [][]int64 {
	out := make([]int64, t.Dim())
	for i, n := range t.Shape() {
		out[i] = int64(n)
	}
	return [][]int64{out}
}
