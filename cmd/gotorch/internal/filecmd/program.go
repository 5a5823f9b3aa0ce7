package filecmd

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/gotorch-dev/torch/export"
	"github.com/gotorch-dev/torch/graph"
)

// program is what a report says of a file that holds a program.
type program struct {
	Inputs    []string       `json:"inputs"`
	Outputs   []string       `json:"outputs"`
	Guards    []string       `json:"guards,omitempty"`
	Operators map[string]int `json:"operators"` // how often each is called
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
	var count func(b *graph.Block)
	count = func(b *graph.Block) {
		for _, n := range b.Nodes {
			if n.Operator != nil && n.Operator.Op() != nil {
				p.Operators[n.Op]++
			}
			if n.Func != nil {
				count(n.Func.Body)
			}
			for _, c := range n.Blocks {
				count(c)
			}
		}
	}
	count(f.Body)
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
