package filecmd

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/gotorch-dev/torch/export"
	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/onnxpb"
	"github.com/gotorch-dev/torch/jit"
)

// program is what a report says of a file that holds a program.
type program struct {
	Inputs    []string       `json:"inputs"`
	Outputs   []string       `json:"outputs"`
	Guards    []string       `json:"guards,omitempty"`
	Operators map[string]int `json:"operators"` // how often each is called
	Functions []string       `json:"functions,omitempty"`
}

// describeProgram describes a model that is a function of package graph.
func describeProgram(m graph.Model, f *graph.Function) *program {
	p := &program{Inputs: []string{}, Outputs: []string{}, Operators: map[string]int{}}
	for _, x := range m.Inputs() {
		p.Inputs = append(p.Inputs, x.String())
	}
	for _, x := range m.Outputs() {
		p.Outputs = append(p.Outputs, x.String())
	}
	left := mostCounted
	countCalls(f.Body, p.Operators, &left, 0)
	return p
}

func (p *program) print(w io.Writer) {
	for _, s := range p.Inputs {
		fmt.Fprintln(w, "input ", s)
	}
	for _, s := range p.Outputs {
		fmt.Fprintln(w, "output", s)
	}
	for _, s := range p.Guards {
		fmt.Fprintln(w, "guard ", s)
	}
	var ops []string
	for _, op := range slices.Sorted(maps.Keys(p.Operators)) {
		ops = append(ops, fmt.Sprintf("%s ×%d", op, p.Operators[op]))
	}
	fmt.Fprintln(w, "calls ", strings.Join(ops, ", "))
	if len(p.Functions) > 0 {
		fmt.Fprintln(w, "functions", strings.Join(p.Functions, ", "))
	}
}

// exported describes an archive of torch.export.
func (r *report) exported(path string) error {
	p, err := export.LoadFile(path)
	if err != nil {
		return err
	}
	for k, v := range p.Metadata() {
		r.Producer[k] = v
	}
	for _, x := range append(p.StateDict(), p.Constants()...) {
		r.value([]string{x.Name}, x.Tensor)
	}
	r.Program = describeProgram(p, p.Function())
	r.Program.Guards = p.Guards()
	return nil
}

// onnx describes an ONNX model. Its weights are its entries.
func (r *report) onnx(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	m, err := onnxpb.ReadModel(b)
	if err != nil {
		return err
	}
	set := func(key, value string) {
		if value != "" {
			r.Producer[key] = short(value)
		}
	}
	set("producer", strings.TrimSpace(m.Producer+" "+m.ProducerVersion))
	set("ir_version", fmt.Sprint(m.IRVersion))
	for _, o := range m.Opsets {
		set("opset "+strings.TrimSpace("ai.onnx "+o.Domain), fmt.Sprint(o.Version))
		if o.Domain != "" {
			delete(r.Producer, "opset ai.onnx "+o.Domain)
			set("opset "+o.Domain, fmt.Sprint(o.Version))
		}
	}
	set("doc", m.Doc)
	for _, e := range m.Metadata {
		set(e.Key, e.Value)
	}
	p := &program{Operators: map[string]int{}}
	weights := map[string]bool{}
	outside := 0
	for _, t := range m.Graph.Initializers {
		weights[t.Name] = true
		shape := make([]int, len(t.Dims))
		n := int64(1)
		for i, d := range t.Dims {
			shape[i] = int(d)
			n *= max(d, 0)
		}
		if t.IsExtern {
			outside++
		}
		r.plain(t.Name, t.Type.String(), shape, n*int64(t.Type.Bits())/8, t.Raw)
	}
	if outside > 0 {
		r.Unusual = append(r.Unusual, plural(outside, "tensor")+" in another file")
	}
	for _, v := range m.Graph.Inputs {
		if !weights[v.Name] {
			p.Inputs = append(p.Inputs, v.String())
		}
	}
	for _, v := range m.Graph.Outputs {
		p.Outputs = append(p.Outputs, v.String())
	}
	countNodes(m.Graph.Nodes, p.Operators)
	for _, f := range m.Functions {
		p.Functions = append(p.Functions, f.Name)
	}
	r.Program = p
	return nil
}

func countNodes(nodes []*onnxpb.Node, to map[string]int) {
	for _, n := range nodes {
		name := n.Op
		if n.Domain != "" && n.Domain != "ai.onnx" {
			name = n.Domain + "::" + name
		}
		to[name]++
		for _, a := range n.Attrs {
			if a.G != nil {
				countNodes(a.G.Nodes, to)
			}
		}
	}
}

// script describes the forward of a TorchScript module. A program that does not load has none; its weights are
// described all the same.
func (r *report) script(path string) {
	m, err := jit.LoadFile(path)
	if err != nil {
		r.Unusual = append(r.Unusual, "the program does not load: "+short(err.Error()))
		return
	}
	f := m.Method("forward")
	if f == nil {
		return
	}
	r.Program = describeProgram(m, f)
}

// mostCounted bounds the nodes that are looked at, since functions that call each other may be long.
const mostCounted = 1_000_000

// countCalls counts the operators of a block and of the functions that it calls.
func countCalls(b *graph.Block, to map[string]int, left *int, depth int) {
	for _, n := range b.Nodes {
		if *left--; *left < 0 || depth > 100 {
			return
		}
		f := n.Func
		if n.Op == graph.CallMethod {
			if c := n.In[0].Type.Class; c != nil {
				f = c.Methods[n.Attr]
			}
		}
		switch {
		case f != nil:
			countCalls(f.Body, to, left, depth+1)
		case n.Operator != nil && n.Operator.Op() != nil || n.Op == graph.If || n.Op == graph.Loop:
			to[n.Op]++
		}
		for _, c := range n.Blocks {
			countCalls(c, to, left, depth+1)
		}
	}
}
