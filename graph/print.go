package graph

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gotorch-dev/torch/internal/pyfmt"
	"github.com/gotorch-dev/torch/tensor"
)

// String prints the function in the notation of PyTorch's IR:
//
//	graph(%x : Tensor):
//	  %1 : int = prim::Constant[value=1]()
//	  %2 : Tensor = aten::add(%x, %x, %1)
//	  return (%2)
func (f *Function) String() string {
	p := printer{names: map[*Value]string{}, used: map[string]bool{}}
	p.number(f.Body)
	p.b.WriteString("graph(")
	p.params(f.Body.Params, ",\n      ")
	p.b.WriteString("):\n")
	p.nodes(f.Body, 1)
	p.b.WriteString("  return (")
	p.args(f.Body.Results)
	p.b.WriteString(")\n")
	return p.b.String()
}

type printer struct {
	b     strings.Builder
	names map[*Value]string
	used  map[string]bool
	next  int
}

// number gives every value a name of its own: the value's, with a number behind it if that is taken.
func (p *printer) number(b *Block) {
	for _, v := range b.Params {
		p.name(v)
	}
	for _, n := range b.Nodes {
		for _, v := range n.Out {
			p.name(v)
		}
		for _, c := range n.Blocks {
			p.number(c)
		}
	}
}

func (p *printer) name(v *Value) {
	name := v.Name
	for k := 1; name == "" || p.used[name]; k++ {
		if v.Name == "" {
			name = strconv.Itoa(p.next)
			p.next++
		} else {
			name = v.Name + "." + strconv.Itoa(k)
		}
	}
	p.used[name] = true
	p.names[v] = name
}

func (p *printer) params(l []*Value, sep string) {
	for i, v := range l {
		if i > 0 {
			p.b.WriteString(sep)
		}
		p.b.WriteString("%" + p.names[v] + " : " + v.Type.String())
	}
}

func (p *printer) args(l []*Value) {
	for i, v := range l {
		if i > 0 {
			p.b.WriteString(", ")
		}
		p.b.WriteString("%" + p.names[v])
	}
}

func (p *printer) nodes(b *Block, depth int) {
	indent := strings.Repeat("  ", depth)
	for _, n := range b.Nodes {
		p.b.WriteString(indent)
		if len(n.Out) > 0 {
			p.params(n.Out, ", ")
			p.b.WriteString(" = ")
		}
		op := n.Op
		if n.Operator != nil {
			op = n.Operator.Name
		}
		p.b.WriteString(op)
		switch n.Op {
		case Constant:
			if n.Const.K != tensor.KNone {
				p.b.WriteString("[value=" + constText(n.Const) + "]")
			}
		case GetAttr, SetAttr, CallMethod:
			p.b.WriteString("[name=\"" + n.Attr + "\"]")
		case CallFunction, Fork, Closure:
			if n.Func != nil {
				p.b.WriteString("[name=\"" + n.Func.Name + "\"]")
			}
		case IsInstance:
			var types []string
			for _, t := range n.Types {
				types = append(types, t.String())
			}
			p.b.WriteString("[types=[" + strings.Join(types, ", ") + "]]")
		case TupleIndex:
			p.b.WriteString("[index=" + strconv.Itoa(n.Index) + "]")
		}
		p.b.WriteString("(")
		p.args(n.In)
		p.b.WriteString(")")
		if pos := n.Pos.String(); pos != "" {
			p.b.WriteString(" # " + pos)
		}
		p.b.WriteString("\n")
		for i, c := range n.Blocks {
			fmt.Fprintf(&p.b, "%s  block%d(", indent, i)
			p.params(c.Params, ", ")
			p.b.WriteString("):\n")
			p.nodes(c, depth+2)
			p.b.WriteString(indent + "    -> (")
			p.args(c.Results)
			p.b.WriteString(")\n")
		}
	}
}

// constText prints a constant as PyTorch does.
func constText(v tensor.Value) string {
	switch v.K {
	case tensor.KTensor:
		if v.T.Numel() == 1 && v.T.Dim() == 0 && v.T.Device().Type == tensor.CPUDevice {
			return "{" + v.T.Num().Value().String() + "}"
		}
		return "<Tensor>"
	case tensor.KStr:
		return strconv.Quote(v.X.(string))
	case tensor.KFloat:
		return pyfmt.Float(v.Float())
	case tensor.KBool:
		return strconv.FormatInt(v.N, 10)
	case tensor.KDevice:
		return "\"" + fmt.Sprint(v.X) + "\""
	}
	if items, ok := ItemsOf(v); ok {
		var parts []string
		for _, e := range items {
			parts = append(parts, constText(e))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return v.String()
}
