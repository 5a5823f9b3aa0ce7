package onnxpb

import (
	"io"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// message is a message that is written.
type message []byte

func (m *message) number(num protowire.Number, n int64) {
	if n != 0 {
		*m = protowire.AppendVarint(protowire.AppendTag(*m, num, protowire.VarintType), uint64(n))
	}
}

func (m *message) bytes(num protowire.Number, b []byte) {
	*m = protowire.AppendBytes(protowire.AppendTag(*m, num, protowire.BytesType), b)
}

func (m *message) text(num protowire.Number, s string) {
	if s != "" {
		m.bytes(num, []byte(s))
	}
}

// texts writes all of a list, empty ones too: an input that is left out is the empty text.
func (m *message) texts(num protowire.Number, l []string) {
	for _, s := range l {
		m.bytes(num, []byte(s))
	}
}

func (m *message) numbers(num protowire.Number, l []int64) {
	if len(l) == 0 {
		return
	}
	var b []byte
	for _, n := range l {
		b = protowire.AppendVarint(b, uint64(n))
	}
	m.bytes(num, b)
}

func (m *message) floats(num protowire.Number, l []float32) {
	if len(l) == 0 {
		return
	}
	var b []byte
	for _, f := range l {
		b = protowire.AppendFixed32(b, math.Float32bits(f))
	}
	m.bytes(num, b)
}

func (m *message) entries(num protowire.Number, l []Entry) {
	for _, e := range l {
		var b message
		b.text(1, e.Key)
		b.text(2, e.Value)
		m.bytes(num, b)
	}
}

func (m *message) opsets(num protowire.Number, l []Opset) {
	for _, o := range l {
		var b message
		b.text(1, o.Domain)
		b.number(2, o.Version)
		m.bytes(num, b)
	}
}

// Write writes the whole ModelProto. The graph, which holds the weights, is last, so that no copy of them is made.
func (m *Model) Write(w io.Writer) error {
	outside, rest := *m, message(nil)
	outside.Graph = nil
	var weights [][]byte // a tensor's fields up to its elements, and the elements
	size := 0
	if m.Graph != nil {
		g := *m.Graph
		g.Initializers = nil
		rest = g.bytes()
		size = len(rest)
		for _, t := range m.Graph.Initializers {
			head := *t
			head.Raw, head.HasRaw = nil, false
			fields := message(head.Bytes())
			n := len(fields)
			if t.HasRaw {
				fields = protowire.AppendVarint(protowire.AppendTag(fields, 9, protowire.BytesType), uint64(len(t.Raw)))
				n = len(fields) + len(t.Raw)
			}
			start := protowire.AppendVarint(protowire.AppendTag(nil, 5, protowire.BytesType), uint64(n))
			weights = append(weights, append(start, fields...), t.Raw)
			size += len(start) + n
		}
	}
	parts := [][]byte{outside.Bytes()}
	if m.Graph != nil {
		head := protowire.AppendVarint(protowire.AppendTag(nil, 7, protowire.BytesType), uint64(size))
		parts = append(append(parts, head, rest), weights...)
	}
	for _, p := range parts {
		if _, err := w.Write(p); err != nil {
			return err
		}
	}
	return nil
}

// Bytes is the whole ModelProto.
func (m *Model) Bytes() []byte {
	var b message
	b.number(1, m.IRVersion)
	b.text(2, m.Producer)
	b.text(3, m.ProducerVersion)
	b.text(4, m.Domain)
	b.number(5, m.Version)
	b.text(6, m.Doc)
	if m.Graph != nil {
		b.bytes(7, m.Graph.bytes())
	}
	b.opsets(8, m.Opsets)
	b.entries(14, m.Metadata)
	for _, f := range m.Functions {
		b.bytes(25, f.bytes())
	}
	return b
}

func (g *Graph) bytes() []byte {
	var b message
	for _, n := range g.Nodes {
		b.bytes(1, n.bytes())
	}
	b.text(2, g.Name)
	for _, t := range g.Initializers {
		b.bytes(5, t.Bytes())
	}
	b.text(10, g.Doc)
	for i, l := range [][]Info{g.Inputs, g.Outputs, g.Values} {
		for _, v := range l {
			b.bytes(protowire.Number(11+i), v.bytes())
		}
	}
	for _, t := range g.Sparse {
		b.bytes(15, t.bytes())
	}
	b.entries(16, g.Metadata)
	return b
}

func (n *Node) bytes() []byte {
	var b message
	b.texts(1, n.Inputs)
	b.texts(2, n.Outputs)
	b.text(3, n.Name)
	b.text(4, n.Op)
	for _, a := range n.Attrs {
		b.bytes(5, a.bytes())
	}
	b.text(7, n.Domain)
	b.text(8, n.Overload)
	return b
}

func (a *Attr) bytes() []byte {
	var b message
	b.text(1, a.Name)
	switch a.Type {
	case AttrFloat:
		b = protowire.AppendFixed32(protowire.AppendTag(b, 2, protowire.Fixed32Type), math.Float32bits(a.F))
	case AttrInt:
		b = protowire.AppendVarint(protowire.AppendTag(b, 3, protowire.VarintType), uint64(a.I))
	case AttrString:
		b.bytes(4, a.S)
	case AttrTensor:
		if a.T != nil {
			b.bytes(5, a.T.Bytes())
		}
	case AttrGraph:
		if a.G != nil {
			b.bytes(6, a.G.bytes())
		}
	}
	b.floats(7, a.Floats)
	b.numbers(8, a.Ints)
	for _, s := range a.Strings {
		b.bytes(9, s)
	}
	for _, t := range a.Tensors {
		b.bytes(10, t.Bytes())
	}
	for _, g := range a.Graphs {
		b.bytes(11, g.bytes())
	}
	if a.Proto != nil {
		b.bytes(14, a.Proto.bytes())
	}
	b.number(20, int64(a.Type))
	b.text(21, a.Ref)
	if a.Sparse != nil {
		b.bytes(22, a.Sparse.bytes())
	}
	return b
}

func (f *Function) bytes() []byte {
	var b message
	b.text(1, f.Name)
	b.texts(4, f.Inputs)
	b.texts(5, f.Outputs)
	b.texts(6, f.Attrs)
	for _, n := range f.Nodes {
		b.bytes(7, n.bytes())
	}
	b.opsets(9, f.Opsets)
	b.text(10, f.Domain)
	for _, a := range f.Defaults {
		b.bytes(11, a.bytes())
	}
	for _, v := range f.Values {
		b.bytes(12, v.bytes())
	}
	b.text(13, f.Overload)
	return b
}

func (v *Info) bytes() []byte {
	var b message
	b.text(1, v.Name)
	if v.Type != nil {
		b.bytes(2, v.Type.bytes())
	}
	return b
}

func (t *Type) bytes() []byte {
	var b, in message
	num := map[Kind]protowire.Number{KindTensor: 1, KindSequence: 4, KindMap: 5, KindOpaque: 7, KindSparse: 8,
		KindOptional: 9}[t.Kind]
	if num == 0 {
		return nil
	}
	if t.Kind == KindTensor || t.Kind == KindSparse {
		in.number(1, int64(t.DataType))
		if t.HasShape {
			var shape message
			for _, d := range t.Shape {
				var dim message
				if d.Param != "" {
					dim.text(2, d.Param)
				} else if d.Value >= 0 {
					dim = protowire.AppendVarint(protowire.AppendTag(dim, 1, protowire.VarintType), uint64(d.Value))
				}
				shape.bytes(1, dim)
			}
			in.bytes(2, shape)
		}
	} else if t.Elem != nil {
		in.bytes(1, t.Elem.bytes())
	}
	b.bytes(num, in)
	return b
}

// Bytes is the whole TensorProto.
func (t *Tensor) Bytes() []byte {
	var b message
	b.numbers(1, t.Dims)
	b.number(2, int64(t.Type))
	b.floats(4, t.Floats)
	b.numbers(5, t.Ints32)
	for _, s := range t.Strings {
		b.bytes(6, s)
	}
	b.numbers(7, t.Ints64)
	b.text(8, t.Name)
	if t.HasRaw {
		b.bytes(9, t.Raw)
	}
	if len(t.Doubles) > 0 {
		var l []byte
		for _, f := range t.Doubles {
			l = protowire.AppendFixed64(l, math.Float64bits(f))
		}
		b.bytes(10, l)
	}
	b.numbers(11, t.Uints64)
	b.entries(13, t.External)
	if t.IsExtern {
		b.number(14, 1)
	}
	return b
}

func (t *SparseTensor) bytes() []byte {
	var b message
	if t.Values != nil {
		b.bytes(1, t.Values.Bytes())
	}
	if t.Indices != nil {
		b.bytes(2, t.Indices.Bytes())
	}
	b.numbers(3, t.Dims)
	return b
}
