package tensorboard

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// GraphNode is a node of a [Graph]. Slashes in a name nest it in modules:
// "Net/Linear[fc]/weight" stands in fc, which stands in Net.
type GraphNode struct {
	Name   string
	Op     string   // "aten::linear", "IO Node", …
	Inputs []string // names of nodes
	Device string
	// Attrs are texts shown with the node. PyTorch writes a single one, "attr".
	Attrs map[string]string
	// OutputShapes has one shape per output; a nil shape is unknown.
	OutputShapes [][]int64
}

// Graph is a network for the graph page: whatever traces a model makes one.
type Graph struct {
	Nodes []GraphNode
	// Device names the device in the run's statistics; "" is "/device:CPU:0".
	Device string
}

// graphProducer is the version that PyTorch claims its graphs have.
const graphProducer = 22

// AddGraph writes a graph, with the (empty) statistics of one run as PyTorch
// does. It fails for a node without a name and for two nodes of one name.
func (w *SummaryWriter) AddGraph(g *Graph, options ...EventOptions) error {
	b, err := g.marshal()
	if err != nil {
		return err
	}
	wall := opt(options).WallTime
	if err := w.AddEvent(&Event{WallTime: wall, What: EventGraphDef, GraphDef: b}); err != nil {
		return err
	}
	device := g.Device
	if device == "" {
		device = "/device:CPU:0"
	}
	// RunMetadata.step_stats.dev_stats.device
	stats := putMsg(nil, 1, putMsg(nil, 1, putStr(nil, 1, device)))
	return w.AddEvent(&Event{WallTime: wall, What: EventTaggedRunMetadata,
		TaggedRunMetadata: &TaggedRunMetadata{Tag: "step1", RunMetadata: stats}})
}

func (g *Graph) marshal() ([]byte, error) {
	if g == nil {
		return nil, fmt.Errorf("tensorboard: AddGraph: no graph")
	}
	var b []byte
	seen := map[string]bool{}
	for i, n := range g.Nodes {
		if n.Name == "" || seen[n.Name] {
			return nil, fmt.Errorf("tensorboard: AddGraph: node %d: name %q is empty or taken", i, n.Name)
		}
		seen[n.Name] = true
		p := putStr(putStr(nil, 1, n.Name), 2, n.Op)
		for _, in := range n.Inputs {
			p = putMsg(p, 3, []byte(in))
		}
		p = putStr(p, 4, n.Device)
		attrs := map[string][]byte{}
		for k, v := range n.Attrs {
			attrs[k] = putMsg(nil, 2, []byte(v))
		}
		known := false
		var list []byte
		for _, s := range n.OutputShapes {
			if s == nil {
				list = putMsg(list, 7, putBool(nil, 3, true))
				continue
			}
			known = true
			shape := &TensorShape{}
			for _, d := range s {
				shape.Dims = append(shape.Dims, Dim{Size: d})
			}
			list = putMsg(list, 7, shape.append(nil))
		}
		if known {
			attrs["_output_shapes"] = putMsg(nil, 1, list)
		}
		for _, k := range slices.Sorted(maps.Keys(attrs)) {
			p = putMsg(p, 5, putMsg(putStr(nil, 1, k), 2, attrs[k]))
		}
		b = putMsg(b, 1, p)
	}
	return putMsg(b, 4, putInt(nil, 1, graphProducer)), nil
}

// ParseGraph decodes a serialized GraphDef. Attributes that are no text appear
// in a readable form; functions and debug information are left out.
func ParseGraph(b []byte) (*Graph, error) {
	g := &Graph{}
	err := fields(b, func(num protowire.Number, typ protowire.Type, _ uint64, s []byte) error {
		if num != 1 || typ != wLen {
			return nil
		}
		g.Nodes = append(g.Nodes, GraphNode{})
		return g.Nodes[len(g.Nodes)-1].parse(s)
	})
	if err != nil {
		return nil, err
	}
	return g, nil
}

func (n *GraphNode) parse(b []byte) error {
	return fields(b, func(num protowire.Number, typ protowire.Type, _ uint64, s []byte) error {
		if typ != wLen {
			return nil
		}
		switch num {
		case 1:
			n.Name = string(s)
		case 2:
			n.Op = string(s)
		case 3:
			n.Inputs = append(n.Inputs, string(s))
		case 4:
			n.Device = string(s)
		case 5:
			var key string
			var val []byte
			err := fields(s, func(num protowire.Number, typ protowire.Type, _ uint64, s []byte) error {
				switch {
				case num == 1 && typ == wLen:
					key = string(s)
				case num == 2 && typ == wLen:
					val = s
				}
				return nil
			})
			if err != nil {
				return err
			}
			if key == "_output_shapes" {
				return n.parseShapes(val)
			}
			text, err := attrText(val)
			if n.Attrs == nil {
				n.Attrs = map[string]string{}
			}
			n.Attrs[key] = text
			return err
		}
		return nil
	})
}

func (n *GraphNode) parseShapes(b []byte) error {
	return fields(b, func(num protowire.Number, typ protowire.Type, _ uint64, s []byte) error {
		if num != 1 || typ != wLen { // list
			return nil
		}
		return fields(s, func(num protowire.Number, typ protowire.Type, _ uint64, s []byte) error {
			if num != 7 || typ != wLen { // shape
				return nil
			}
			var t TensorShape
			if err := t.parse(s); err != nil {
				return err
			}
			var shape []int64
			if !t.UnknownRank {
				shape = []int64{}
				for _, d := range t.Dims {
					shape = append(shape, d.Size)
				}
			}
			n.OutputShapes = append(n.OutputShapes, shape)
			return nil
		})
	})
}

// attrText makes an AttrValue readable.
func attrText(b []byte) (text string, err error) {
	err = fields(b, func(num protowire.Number, typ protowire.Type, v uint64, s []byte) error {
		switch {
		case num == 2 && typ == wLen:
			text = string(s)
		case num == 3 && typ == wVar:
			text = fmt.Sprint(int64(v))
		case num == 4 && typ == wI32:
			text = fmt.Sprint(math.Float32frombits(uint32(v)))
		case num == 5 && typ == wVar:
			text = fmt.Sprint(v != 0)
		case num == 6 && typ == wVar:
			text = DataType(v).String()
		case num == 7 && typ == wLen:
			var t TensorShape
			if err := t.parse(s); err != nil {
				return err
			}
			text = t.String()
		case typ == wLen:
			text = fmt.Sprintf("(%d bytes)", len(s))
		}
		return nil
	})
	return
}

// String writes the shape as "[2 3]", or "?" if its rank is unknown.
func (m *TensorShape) String() string {
	if m.UnknownRank {
		return "?"
	}
	var s []int64
	for _, d := range m.Dims {
		s = append(s, d.Size)
	}
	return fmt.Sprint(s)
}

// ModuleRef names a module in its parent: its class and the field it stands in.
type ModuleRef struct{ Class, Field string }

// ScopedName builds a node's name as PyTorch does: the root module's class, each
// module on the path as Class[field], and the value's own name, such as
// "Net/Sequential[features]/Conv2d[0]/weight".
func ScopedName(root string, path []ModuleRef, value string) string {
	var b strings.Builder
	b.WriteString(root)
	for _, m := range path {
		b.WriteString("/" + m.Class + "[" + m.Field + "]")
	}
	return b.String() + "/" + value
}
