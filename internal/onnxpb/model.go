package onnxpb

import (
	"fmt"
	"strconv"
	"strings"
)

// Model is a ModelProto: a graph with the versions of the operator sets that it uses, and functions of its own.
type Model struct {
	IRVersion       int64
	Producer        string
	ProducerVersion string
	Domain          string
	Version         int64
	Doc             string
	Graph           *Graph
	Opsets          []Opset
	Metadata        []Entry
	Functions       []*Function
	Training        bool // the model holds a training algorithm, which is not read
}

// Opset is the version of one domain's operators.
type Opset struct {
	Domain  string
	Version int64
}

// Entry is a key with its value.
type Entry struct{ Key, Value string }

// Graph is a GraphProto. Nodes are in an order in which each can run.
type Graph struct {
	Name         string
	Doc          string
	Nodes        []*Node
	Initializers []*Tensor
	Sparse       []*SparseTensor
	Inputs       []Info
	Outputs      []Info
	Values       []Info // types of values between
	Metadata     []Entry
}

// Node is one call of an operator or a function. An input that is left out has the name "".
type Node struct {
	Name, Op, Domain, Overload string
	Inputs, Outputs            []string
	Attrs                      []*Attr
}

// AttrType says which field of an attribute holds its value.
type AttrType int32

// The types of attributes.
const (
	AttrFloat    AttrType = 1
	AttrInt      AttrType = 2
	AttrString   AttrType = 3
	AttrTensor   AttrType = 4
	AttrGraph    AttrType = 5
	AttrFloats   AttrType = 6
	AttrInts     AttrType = 7
	AttrStrings  AttrType = 8
	AttrTensors  AttrType = 9
	AttrGraphs   AttrType = 10
	AttrSparse   AttrType = 11
	AttrSparses  AttrType = 12
	AttrProto    AttrType = 13
	AttrProtos   AttrType = 14
	attrTypeLast          = AttrProtos
)

// Attr is an AttributeProto. Ref, in a function, names the attribute of the call that gives the value.
type Attr struct {
	Name    string
	Ref     string
	Type    AttrType
	F       float32
	I       int64
	S       []byte
	T       *Tensor
	G       *Graph
	Floats  []float32
	Ints    []int64
	Strings [][]byte
	Tensors []*Tensor
	Graphs  []*Graph
	Sparse  *SparseTensor
	Proto   *Type
}

// Function is a FunctionProto: an operator that the model itself defines.
type Function struct {
	Name, Domain, Overload string
	Inputs, Outputs        []string
	Attrs                  []string // without defaults
	Defaults               []*Attr
	Nodes                  []*Node
	Opsets                 []Opset
	Values                 []Info
}

// Info is a ValueInfoProto: a name with a type.
type Info struct {
	Name string
	Type *Type
}

// String describes the value: "x: float[N, 3, 224, 224]".
func (v Info) String() string { return v.Name + ": " + v.Type.String() }

// String is the type: "float[N, 3]", "seq(float)".
func (t *Type) String() string {
	if t == nil {
		return "?"
	}
	switch t.Kind {
	case KindSequence:
		return "seq(" + t.Elem.String() + ")"
	case KindOptional:
		return "optional(" + t.Elem.String() + ")"
	case KindMap:
		return "map"
	case KindOpaque:
		return "opaque"
	}
	if !t.HasShape {
		return t.DataType.String()
	}
	return t.DataType.String() + "[" + strings.Join(t.Dims(), ", ") + "]"
}

// Dims are the sizes of a tensor's type as text: a number, a name, or "?".
func (t *Type) Dims() []string {
	dims := make([]string, len(t.Shape))
	for i, d := range t.Shape {
		switch {
		case d.Param != "":
			dims[i] = d.Param
		case d.Value < 0:
			dims[i] = "?"
		default:
			dims[i] = strconv.FormatInt(d.Value, 10)
		}
	}
	return dims
}

// Kind says what a value is.
type Kind int8

// The kinds of values.
const (
	KindNone Kind = iota
	KindTensor
	KindSequence
	KindOptional
	KindMap
	KindSparse
	KindOpaque
)

// Type is a TypeProto.
type Type struct {
	Kind     Kind
	DataType DataType // of a tensor's elements
	HasShape bool
	Shape    []Dim
	Elem     *Type // of a sequence or an optional
}

// Dim is one size of a shape: a number, a name, or, with Value -1 and no name, anything.
type Dim struct {
	Value int64
	Param string
}

// ReadModel reads a whole ModelProto.
func ReadModel(b []byte) (*Model, error) {
	m := new(Model)
	err := each("model", b, func(x field) (err error) {
		switch x.num {
		case 1:
			m.IRVersion = int64(x.n)
		case 2:
			m.Producer = string(x.data)
		case 3:
			m.ProducerVersion = string(x.data)
		case 4:
			m.Domain = string(x.data)
		case 5:
			m.Version = int64(x.n)
		case 6:
			m.Doc = string(x.data)
		case 7:
			m.Graph, err = readGraph(x.data, 0)
		case 8:
			var o Opset
			o, err = readOpset(x.data)
			m.Opsets = append(m.Opsets, o)
		case 14:
			m.Metadata, err = readEntry(m.Metadata, x.data)
		case 20:
			m.Training = true
		case 25:
			var f *Function
			f, err = readFunction(x.data)
			m.Functions = append(m.Functions, f)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if m.Graph == nil {
		return nil, fmt.Errorf("%w: the model has no graph", ErrFormat)
	}
	return m, nil
}

func readOpset(b []byte) (o Opset, err error) {
	err = each("opset", b, func(x field) error {
		switch x.num {
		case 1:
			o.Domain = string(x.data)
		case 2:
			o.Version = int64(x.n)
		}
		return nil
	})
	return o, err
}

func readEntry(to []Entry, b []byte) ([]Entry, error) {
	var e Entry
	err := each("entry", b, func(x field) error {
		switch x.num {
		case 1:
			e.Key = string(x.data)
		case 2:
			e.Value = string(x.data)
		}
		return nil
	})
	return append(to, e), err
}

func readGraph(b []byte, depth int) (*Graph, error) {
	depth, err := deeper("graph", depth)
	if err != nil {
		return nil, err
	}
	g := new(Graph)
	return g, each("graph", b, func(x field) (err error) {
		switch x.num {
		case 1:
			var n *Node
			n, err = readNode(x.data, depth)
			g.Nodes = append(g.Nodes, n)
		case 2:
			g.Name = string(x.data)
		case 5:
			var t *Tensor
			t, err = ReadTensor(x.data)
			g.Initializers = append(g.Initializers, t)
		case 10:
			g.Doc = string(x.data)
		case 11:
			g.Inputs, err = readInfo(g.Inputs, x.data)
		case 12:
			g.Outputs, err = readInfo(g.Outputs, x.data)
		case 13:
			g.Values, err = readInfo(g.Values, x.data)
		case 15:
			var t *SparseTensor
			t, err = readSparse(x.data)
			g.Sparse = append(g.Sparse, t)
		case 16:
			g.Metadata, err = readEntry(g.Metadata, x.data)
		}
		return err
	})
}

func readNode(b []byte, depth int) (*Node, error) {
	n := new(Node)
	return n, each("node", b, func(x field) (err error) {
		switch x.num {
		case 1:
			n.Inputs = append(n.Inputs, string(x.data))
		case 2:
			n.Outputs = append(n.Outputs, string(x.data))
		case 3:
			n.Name = string(x.data)
		case 4:
			n.Op = string(x.data)
		case 5:
			var a *Attr
			a, err = readAttr(x.data, depth)
			n.Attrs = append(n.Attrs, a)
		case 7:
			n.Domain = string(x.data)
		case 8:
			n.Overload = string(x.data)
		}
		return err
	})
}

func readAttr(b []byte, depth int) (*Attr, error) {
	a := new(Attr)
	seen := AttrType(0) // files of the first versions of the format leave the type out
	err := each("attribute", b, func(x field) (err error) {
		switch x.num {
		case 1:
			a.Name = string(x.data)
		case 2:
			a.F, seen = float32frombits(x.n), AttrFloat
		case 3:
			a.I, seen = int64(x.n), AttrInt
		case 4:
			a.S, seen = x.data, AttrString
		case 5:
			a.T, err = ReadTensor(x.data)
			seen = AttrTensor
		case 6:
			a.G, err = readGraph(x.data, depth)
			seen = AttrGraph
		case 7:
			a.Floats, err = x.floats(a.Floats)
			seen = AttrFloats
		case 8:
			a.Ints, err = x.ints(a.Ints)
			seen = AttrInts
		case 9:
			a.Strings = append(a.Strings, x.data)
			seen = AttrStrings
		case 10:
			var t *Tensor
			t, err = ReadTensor(x.data)
			a.Tensors = append(a.Tensors, t)
			seen = AttrTensors
		case 11:
			var g *Graph
			g, err = readGraph(x.data, depth)
			a.Graphs = append(a.Graphs, g)
			seen = AttrGraphs
		case 14:
			a.Proto, err = readType(x.data, depth)
			seen = AttrProto
		case 20:
			a.Type = AttrType(x.n)
		case 21:
			a.Ref = string(x.data)
		case 22:
			a.Sparse, err = readSparse(x.data)
			seen = AttrSparse
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if a.Type == 0 {
		a.Type = seen
	}
	if a.Type < 0 || a.Type > attrTypeLast {
		return nil, fmt.Errorf("%w: attribute %q has the unknown type %d", ErrFormat, a.Name, a.Type)
	}
	missing := a.Ref == "" && (a.Type == AttrTensor && a.T == nil || a.Type == AttrGraph && a.G == nil ||
		a.Type == AttrSparse && a.Sparse == nil || a.Type == AttrProto && a.Proto == nil)
	if missing {
		return nil, fmt.Errorf("%w: attribute %q has no value", ErrFormat, a.Name)
	}
	return a, nil
}

func readFunction(b []byte) (*Function, error) {
	f := new(Function)
	return f, each("function", b, func(x field) (err error) {
		switch x.num {
		case 1:
			f.Name = string(x.data)
		case 4:
			f.Inputs = append(f.Inputs, string(x.data))
		case 5:
			f.Outputs = append(f.Outputs, string(x.data))
		case 6:
			f.Attrs = append(f.Attrs, string(x.data))
		case 7:
			var n *Node
			n, err = readNode(x.data, 0)
			f.Nodes = append(f.Nodes, n)
		case 9:
			var o Opset
			o, err = readOpset(x.data)
			f.Opsets = append(f.Opsets, o)
		case 10:
			f.Domain = string(x.data)
		case 11:
			var a *Attr
			a, err = readAttr(x.data, 0)
			f.Defaults = append(f.Defaults, a)
		case 12:
			f.Values, err = readInfo(f.Values, x.data)
		case 13:
			f.Overload = string(x.data)
		}
		return err
	})
}

func readInfo(to []Info, b []byte) ([]Info, error) {
	var v Info
	err := each("value", b, func(x field) (err error) {
		switch x.num {
		case 1:
			v.Name = string(x.data)
		case 2:
			v.Type, err = readType(x.data, 0)
		}
		return err
	})
	return append(to, v), err
}

func readType(b []byte, depth int) (*Type, error) {
	depth, err := deeper("type", depth)
	if err != nil {
		return nil, err
	}
	t := new(Type)
	return t, each("type", b, func(x field) error {
		switch x.num {
		case 1, 8:
			t.Kind = KindTensor
			if x.num == 8 {
				t.Kind = KindSparse
			}
			return readTensorType(t, x.data)
		case 4, 9:
			t.Kind = KindSequence
			if x.num == 9 {
				t.Kind = KindOptional
			}
			return each("type", x.data, func(y field) (err error) {
				if y.num == 1 {
					t.Elem, err = readType(y.data, depth)
				}
				return err
			})
		case 5:
			t.Kind = KindMap
		case 7:
			t.Kind = KindOpaque
		}
		return nil
	})
}

func readTensorType(t *Type, b []byte) error {
	return each("tensor type", b, func(x field) error {
		switch x.num {
		case 1:
			t.DataType = DataType(x.n)
		case 2:
			t.HasShape = true
			return each("shape", x.data, func(y field) error {
				if y.num != 1 {
					return nil
				}
				d := Dim{Value: -1}
				err := each("dimension", y.data, func(z field) error {
					switch z.num {
					case 1:
						d.Value = int64(z.n)
					case 2:
						d.Param = string(z.data)
					}
					return nil
				})
				t.Shape = append(t.Shape, d)
				return err
			})
		}
		return nil
	})
}
