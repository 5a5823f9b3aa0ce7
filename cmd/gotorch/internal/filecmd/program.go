package filecmd

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/onnxpb"
	"github.com/gotorch-dev/torch/jit"
)

// program is what a model computes: what it takes and gives, and how often it calls which operator.
type program struct {
	Inputs    []string       `json:"inputs"`
	Outputs   []string       `json:"outputs"`
	Operators map[string]int `json:"operators"`
	Functions []string       `json:"functions,omitempty"`
}

func (p *program) print(w io.Writer) {
	for _, in := range p.Inputs {
		fmt.Fprintln(w, "input: ", in)
	}
	for _, out := range p.Outputs {
		fmt.Fprintln(w, "output:", out)
	}
	names := slices.SortedFunc(maps.Keys(p.Operators), func(a, b string) int {
		if n := p.Operators[b] - p.Operators[a]; n != 0 {
			return n
		}
		return strings.Compare(a, b)
	})
	total := 0
	for i, name := range names {
		names[i] = fmt.Sprintf("%s %d", name, p.Operators[name])
		total += p.Operators[name]
	}
	fmt.Fprintf(w, "%s: %s\n", plural(total, "operator"), strings.Join(names, ", "))
	if len(p.Functions) > 0 {
		fmt.Fprintln(w, "functions:", strings.Join(p.Functions, ", "))
	}
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
	p := &program{Operators: map[string]int{}}
	for _, in := range m.Inputs() {
		p.Inputs = append(p.Inputs, in.String())
	}
	for _, out := range m.Outputs() {
		p.Outputs = append(p.Outputs, out.String())
	}
	left := 1_000_000
	countCalls(f.Body, p.Operators, &left, 0)
	r.Program = p
}

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
