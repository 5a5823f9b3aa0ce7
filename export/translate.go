package export

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/dtype"
	"github.com/gotorch-dev/torch/tensor"
)

// NodeError says which node of a program could not be translated.
type NodeError struct {
	Node   string // its name
	Target string // what it calls: "torch.ops.aten.add.Tensor"
	Err    error
}

// Error names the node and what it calls.
func (e *NodeError) Error() string {
	return fmt.Sprintf("%s: node %q, %s: %s", modelEntry, e.Node, shorten(e.Target), e.Err)
}

// Unwrap returns the cause.
func (e *NodeError) Unwrap() error { return e.Err }

// modelEntry is what the entry with the program is called in errors.
const modelEntry = "model.json"

// scope are the values of a graph by name. A graph sees nothing of the graph around it; a region of torch.vmap sees the
// values before it.
type scope struct {
	values map[string]*graph.Value
	outer  *scope
}

func newScope(outer *scope) *scope { return &scope{values: map[string]*graph.Value{}, outer: outer} }

func (s *scope) set(name string, v *graph.Value) { s.values[name] = v }

// translator turns the graphs of model.json into blocks.
type translator struct {
	g     *graphJSON // that is translated
	depth int        // of graphs in graphs
}

// maxGraphs bounds how deep graphs lie in graphs.
const maxGraphs = 20

// graph translates the nodes of a graph, and returns the graph's results.
func (t *translator) graph(b *graph.Block, g *graphJSON, s *scope) ([]*graph.Value, error) {
	if t.depth++; t.depth > maxGraphs {
		return nil, fmt.Errorf("%w: graphs are nested more than %d deep", ErrFormat, maxGraphs)
	}
	outer := t.g
	t.g = g
	defer func() { t.depth--; t.g = outer }()
	if err := t.nodes(b, g.Nodes, s); err != nil {
		return nil, err
	}
	out := make([]*graph.Value, len(g.Outputs))
	for i := range g.Outputs {
		var err error
		if out[i], err = t.value(b, s, &g.Outputs[i], graph.Any); err != nil {
			return nil, fmt.Errorf("%s: output %d of a graph: %w", modelEntry, i, err)
		}
	}
	return out, nil
}

func (t *translator) nodes(b *graph.Block, nodes []json.RawMessage, s *scope) error {
	for i := 0; i < len(nodes); i++ {
		var n nodeJSON
		if err := json.Unmarshal(nodes[i], &n); err != nil {
			return fmt.Errorf("%w: %s: node %d: %w", ErrFormat, modelEntry, i, err)
		}
		name := n.Name
		if name == "" && len(n.Outputs) > 0 {
			var o nameJSON
			_ = n.Outputs[0].read(&o)
			name = o.Name
		}
		b.At(graph.Pos{File: name, Line: i})
		var err error
		if n.Target == vmapBegin {
			var used int
			used, err = t.vmap(b, nodes[i:], s)
			i += used
		} else {
			err = t.node(b, &n, s)
		}
		if err != nil {
			if errors.As(err, new(*NodeError)) { // of a node of an inner graph
				return err
			}
			return &NodeError{Node: name, Target: n.Target, Err: err}
		}
	}
	return nil
}

// node translates one node.
func (t *translator) node(b *graph.Block, n *nodeJSON, s *scope) error {
	if op, ok := numberOps[n.Target]; ok {
		return t.number(b, n, op, s)
	}
	if n.Target == vmapLoad {
		return nil
	}
	if hop, ok := strings.CutPrefix(n.Target, "torch.ops.higher_order."); ok {
		return t.higherOrder(b, hop, n, s)
	}
	op, err := operatorName(n.Target)
	if err != nil {
		return err
	}
	out, err := t.call(b, op, n.Inputs, len(n.Outputs), s)
	if err != nil {
		return err
	}
	return t.results(b, out.Out, n.Outputs, s)
}

// operatorName is the registry's name of torch.ops.NAMESPACE.NAME.OVERLOAD.
func operatorName(target string) (string, error) {
	p := strings.Split(target, ".")
	if len(p) != 5 || p[0] != "torch" || p[1] != "ops" {
		return "", fmt.Errorf("%w: %s is no operator", ErrUnsupported, shorten(target))
	}
	if p[4] == "default" {
		return p[2] + "::" + p[3], nil
	}
	return p[2] + "::" + p[3] + "." + p[4], nil
}

// number translates a function of Python's on numbers.
func (t *translator) number(b *graph.Block, n *nodeJSON, op string, s *scope) error {
	var in []any
	for i := range n.Inputs {
		v, err := t.value(b, s, &n.Inputs[i].Arg, graph.Any)
		if err != nil {
			return err
		}
		in = append(in, v)
	}
	return t.results(b, b.Call(op, in...).Out, n.Outputs, s)
}

// call translates the call of an operator. An operator that does not exist is an error of the program's verification;
// it gets as many results as the file names.
func (t *translator) call(b *graph.Block, op string, inputs []namedArgument, results int, s *scope) (*graph.Node,
	error) {
	o := graph.Lookup(op)
	var in []any
	if o == nil {
		for i := range inputs {
			v, err := t.value(b, s, &inputs[i].Arg, graph.Any)
			if err != nil {
				return nil, err
			}
			in = append(in, v)
		}
		n := b.Call(op, in...)
		for len(n.Out) < results {
			n.Out = append(n.Out, &graph.Value{Type: graph.Any, Node: n})
		}
		return n, nil
	}
	given := make([]*graph.Value, len(o.Params))
	last := -1
	for i := range inputs {
		a := &inputs[i]
		k := o.Index(a.Name)
		if k < 0 && a.Kind == positional && i < len(o.Params) {
			k = i
		}
		if k < 0 {
			return nil, fmt.Errorf("%w: %s has no argument '%s'", ErrFormat, op, a.Name)
		}
		if given[k] != nil {
			return nil, fmt.Errorf("%w: %s gets argument '%s' twice", ErrFormat, op, a.Name)
		}
		v, err := t.value(b, s, &a.Arg, o.Params[k].Type)
		if err != nil {
			return nil, fmt.Errorf("argument '%s': %w", a.Name, err)
		}
		given[k] = v
		last = max(last, k)
	}
	for k := 0; k <= last; k++ {
		v := given[k]
		if p := &o.Params[k]; v == nil {
			if p.Default == nil {
				return nil, fmt.Errorf("%w: %s: missing argument '%s'", ErrFormat, op, p.Name)
			}
			v = b.ConstOf(*p.Default, p.Type)
		}
		in = append(in, v)
	}
	return b.Call(op, in...), nil
}

// results gives the results of a node their names.
func (t *translator) results(b *graph.Block, vals []*graph.Value, outs []argument, s *scope) error {
	if len(outs) > len(vals) && !(len(outs) == 1 && outs[0].key == "as_none") {
		return fmt.Errorf("%w: %d results, but it has %d", ErrFormat, len(outs), len(vals))
	}
	for i := range outs {
		a := &outs[i]
		define := func(name string, v *graph.Value, typ *graph.Type) {
			if v.Name == "" {
				v.Name = name
			}
			if typ != nil && v.Node != nil {
				v.Type = typ
			}
			s.set(name, v)
		}
		switch a.key {
		case "as_none":
		case "as_tensor", "as_custom_obj":
			var n nameJSON
			if err := a.read(&n); err != nil {
				return fmt.Errorf("%w: %w", ErrFormat, err)
			}
			define(n.Name, vals[i], nil)
		case "as_tensors":
			var names []nameJSON
			if err := a.read(&names); err != nil {
				return fmt.Errorf("%w: %w", ErrFormat, err)
			}
			types := make([]*graph.Type, len(names))
			for j := range types {
				types[j] = graph.Tensor
			}
			for j, v := range b.Unpack(vals[i], types...) {
				define(names[j].Name, v, nil)
			}
		case "as_optional_tensor":
			var o argument
			if err := a.read(&o); err != nil {
				return fmt.Errorf("%w: %w", ErrFormat, err)
			}
			if o.key == "as_tensor" {
				var n nameJSON
				if err := o.read(&n); err != nil {
					return fmt.Errorf("%w: %w", ErrFormat, err)
				}
				define(n.Name, vals[i], nil)
			}
		case "as_sym_int", "as_sym_float", "as_sym_bool":
			var n struct {
				Name string `json:"as_name"`
			}
			if err := a.read(&n); err != nil {
				return fmt.Errorf("%w: %w", ErrFormat, err)
			}
			define(n.Name, vals[i], map[string]*graph.Type{"as_sym_int": graph.Int, "as_sym_float": graph.Float,
				"as_sym_bool": graph.Bool}[a.key])
		case "as_sym_ints":
			var names []struct {
				Name string `json:"as_name"`
			}
			if err := a.read(&names); err != nil {
				return fmt.Errorf("%w: %w", ErrFormat, err)
			}
			types := make([]*graph.Type, len(names))
			for j := range types {
				types[j] = graph.Int
			}
			for j, v := range b.Unpack(vals[i], types...) {
				define(names[j].Name, v, nil)
			}
		default:
			return fmt.Errorf("%w: a result of kind %s", ErrUnsupported, shorten(a.key))
		}
	}
	return nil
}

// lookup finds a value by name.
func (s *scope) lookup(name string) (*graph.Value, error) {
	for in := s; in != nil; in = in.outer {
		if v := in.values[name]; v != nil {
			return v, nil
		}
	}
	return nil, fmt.Errorf("%w: value %s is not defined at this place", ErrFormat, shorten(name))
}

// value translates an argument; typ is what the operator's schema wants.
func (t *translator) value(b *graph.Block, s *scope, a *argument, typ *graph.Type) (*graph.Value, error) {
	if typ.Kind == graph.OptionalType {
		typ = typ.Elems[0]
	}
	c, named, err := a.constant()
	if err != nil {
		return nil, err
	}
	if named == nil && a.key != "as_graph" {
		if l, ok := c.X.(*graph.List); ok && len(l.Items) == 0 && typ.Kind == graph.ListType {
			return b.ConstOf(c, typ), nil
		}
		return b.ConstOf(c, graph.TypeOf(c)), nil
	}
	switch a.key {
	case "as_tensor", "as_sym_int", "as_sym_float", "as_sym_bool", "as_custom_obj", "as_optional_tensor":
		return s.lookup(named[0].name)
	case "as_tensors", "as_optional_tensors", "as_sym_ints", "as_sym_floats", "as_sym_bools":
		items := make([]*graph.Value, len(named))
		for i, n := range named {
			if n.name == "" {
				items[i] = b.ConstOf(n.value, graph.TypeOf(n.value))
			} else if items[i], err = s.lookup(n.name); err != nil {
				return nil, err
			}
		}
		return b.List(elementTypes[a.key], items...), nil
	}
	return nil, fmt.Errorf("%w: an argument of kind %s", ErrUnsupported, shorten(a.key))
}

var elementTypes = map[string]*graph.Type{"as_tensors": graph.Tensor,
	"as_optional_tensors": graph.OptionalOf(graph.Tensor), "as_sym_ints": graph.Int, "as_sym_floats": graph.Float,
	"as_sym_bools": graph.Bool}

// reference is a value by name, or a constant.
type reference struct {
	name  string
	value tensor.Value
}

// constant reads an argument that is no graph: a constant, or the names of values.
func (a *argument) constant() (v tensor.Value, named []reference, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%w: %w", ErrFormat, err)
		}
	}()
	switch a.key {
	case "as_none":
	case "as_int":
		var n int64
		err = a.read(&n)
		v = intValue(n)
	case "as_float":
		var f number
		err = a.read(&f)
		v = tensor.FloatValue(float64(f))
	case "as_bool":
		var x bool
		err = a.read(&x)
		v = tensor.BoolValue(x)
	case "as_string", "as_operator":
		var x string
		err = a.read(&x)
		v = tensor.StrValue(x)
	case "as_complex":
		var c struct {
			Real, Imag number
		}
		err = a.read(&c)
		v = tensor.ComplexValue(complex(float64(c.Real), float64(c.Imag)))
	case "as_ints":
		var l []int64
		err = a.read(&l)
		items := make([]tensor.Value, len(l))
		for i, n := range l {
			items[i] = intValue(n)
		}
		v = graph.NewList(graph.Int, items...)
	case "as_floats":
		var l []number
		err = a.read(&l)
		items := make([]tensor.Value, len(l))
		for i, f := range l {
			items[i] = tensor.FloatValue(float64(f))
		}
		v = graph.NewList(graph.Float, items...)
	case "as_bools":
		var l []bool
		err = a.read(&l)
		items := make([]tensor.Value, len(l))
		for i, x := range l {
			items[i] = tensor.BoolValue(x)
		}
		v = graph.NewList(graph.Bool, items...)
	case "as_strings":
		var l []string
		err = a.read(&l)
		items := make([]tensor.Value, len(l))
		for i, x := range l {
			items[i] = tensor.StrValue(x)
		}
		v = graph.NewList(graph.Str, items...)
	case "as_scalar_type":
		var n int
		if err = a.read(&n); err == nil {
			var d tensor.DType
			d, err = dtypeOf(n)
			v = tensor.IntValue(graph.DTypeNumber(d))
		}
	case "as_layout":
		var n int
		if err = a.read(&n); err == nil && n != stridedLayout {
			err = fmt.Errorf("layout %d: only strided tensors can be here", n)
		}
		v = tensor.IntValue(0)
	case "as_memory_format":
		var n int
		if err = a.read(&n); err == nil && (n < 1 || n > len(memoryFormats)) {
			err = fmt.Errorf("memory format %d", n)
		} else if err == nil {
			v = tensor.IntValue(memoryFormats[n-1])
		}
	case "as_device":
		var d deviceJSON
		err = a.read(&d)
		v = tensor.DeviceValue(tensor.Device{}) // wherever a program was exported, it runs on the CPU
		if d.Type == "meta" {
			v = tensor.DeviceValue(tensor.Device{Type: tensor.MetaDevice})
		}
	case "as_tensor", "as_custom_obj":
		var n nameJSON
		err = a.read(&n)
		named = []reference{{name: n.Name}}
	case "as_sym_int", "as_sym_float", "as_sym_bool":
		var m argument
		if err = a.read(&m); err != nil {
			break
		}
		if m.key != "as_name" {
			return m.constant()
		}
		var n string
		err = m.read(&n)
		named = []reference{{name: n}}
	case "as_optional_tensor":
		var m argument
		if err = a.read(&m); err == nil {
			return m.constant()
		}
	case "as_tensors":
		var l []nameJSON
		err = a.read(&l)
		named = make([]reference, len(l))
		for i, n := range l {
			named[i].name = n.Name
		}
	case "as_sym_ints", "as_sym_floats", "as_sym_bools", "as_optional_tensors":
		named, err = a.references()
	case "as_graph":
	default:
		err = fmt.Errorf("an argument of kind %s", shorten(a.key))
	}
	return v, named, err
}

// references reads a list in which names and constants stand.
func (a *argument) references() ([]reference, error) {
	var l []argument
	if err := a.read(&l); err != nil {
		return nil, err
	}
	out := make([]reference, len(l))
	for i := range l {
		m := &l[i]
		switch m.key {
		case "as_name":
			if err := m.read(&out[i].name); err != nil {
				return nil, err
			}
		case "as_tensor", "as_int", "as_float", "as_bool", "as_none":
			v, named, err := m.constant()
			if err != nil {
				return nil, err
			}
			if out[i].value = v; len(named) == 1 {
				out[i].name = named[0].name
			}
		default:
			return nil, fmt.Errorf("%s of %s", shorten(m.key), a.key)
		}
		if m.key == "as_name" && out[i].name == "" {
			return nil, fmt.Errorf("%s: an empty name", a.key)
		}
	}
	return out, nil
}

const stridedLayout = 7

// memoryFormats are the numbers of package graph (PyTorch's MemoryFormat) by those of archives, from 1.
var memoryFormats = [...]int{0, 2, 3, 1}

// dtypes are the types by their numbers in archives.
var dtypes = map[int]string{1: "uint8", 2: "int8", 3: "int16", 4: "int32", 5: "int64", 6: "float16", 7: "float32",
	8: "float64", 9: "complex32", 10: "complex64", 11: "complex128", 12: "bool", 13: "bfloat16", 28: "uint16",
	29: "float8_e4m3fn", 30: "float8_e5m2", 31: "float8_e4m3fnuz", 32: "float8_e5m2fnuz", 33: "float8_e8m0fnu",
	34: "uint32", 35: "uint64"}

func dtypeOf(n int) (tensor.DType, error) {
	if d := dtype.Parse(dtypes[n]); d != 0 {
		return d, nil
	}
	return 0, fmt.Errorf("there is no dtype with number %d", n)
}

// dtypeNumber is the number of a dtype in archives, 0 for a dtype without one.
func dtypeNumber(d tensor.DType) int {
	for n, name := range dtypes {
		if dtype.Parse(name) == d {
			return n
		}
	}
	return 0
}
