package export

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/pyfmt"
	"github.com/gotorch-dev/torch/tensor"
)

// spec is the structure of the arguments or of the results: PyTorch's TreeSpec. A leaf has no Type.
type spec struct {
	Type     *string `json:"type"`
	Context  *string `json:"context"` // JSON again
	Children []spec  `json:"children_spec"`

	keys   []string // of a dictionary, in order; the fields of a named tuple or a data class
	absent []string // fields of a data class that are None
}

// The types of specs that have a meaning here. All others are classes that were registered with PyTorch.
const (
	tupleType   = "builtins.tuple"
	listType    = "builtins.list"
	dictType    = "builtins.dict"
	orderedType = "collections.OrderedDict"
	defaultType = "collections.defaultdict"
	namedType   = "collections.namedtuple"
	returnTypes = "torch.return_types."
)

const maxTree = 200

// parseSpec reads in_spec or out_spec: the JSON of [1, spec]. fields has those of named tuples by their registered
// names.
func parseSpec(text string, fields map[string][]string) (*spec, error) {
	var parts []json.RawMessage
	if err := json.Unmarshal([]byte(text), &parts); err != nil {
		return nil, err
	}
	if len(parts) != 2 {
		return nil, fmt.Errorf("a tree of %d parts, want a version and a spec", len(parts))
	}
	if string(parts[0]) != "1" {
		return nil, fmt.Errorf("version %.20s of the tree, want 1", parts[0])
	}
	var s spec
	if err := json.Unmarshal(parts[1], &s); err != nil {
		return nil, err
	}
	return &s, s.resolve(fields, 0)
}

func (s *spec) resolve(fields map[string][]string, depth int) error {
	if depth > maxTree {
		return fmt.Errorf("a tree of more than %d levels", maxTree)
	}
	if s.Type == nil {
		if len(s.Children) > 0 {
			return fmt.Errorf("a leaf of a tree has children")
		}
		return nil
	}
	for i := range s.Children {
		if err := s.Children[i].resolve(fields, depth+1); err != nil {
			return err
		}
	}
	context := ""
	if s.Context != nil {
		context = *s.Context
	}
	switch typ := *s.Type; {
	case typ == tupleType || typ == listType:
		return nil
	case typ == dictType || typ == orderedType:
		if err := json.Unmarshal([]byte(context), &s.keys); err != nil {
			var any []any // keys that are no strings
			if json.Unmarshal([]byte(context), &any) != nil {
				return fmt.Errorf("the keys of a dictionary: %w", err)
			}
			s.keys = nil
			for _, k := range any {
				s.keys = append(s.keys, pyfmt.Repr(k))
			}
		}
	case typ == defaultType:
		var parts struct {
			Keys []string `json:"dict_context"`
		}
		if err := json.Unmarshal([]byte(context), &parts); err != nil {
			return fmt.Errorf("the keys of a dictionary: %w", err)
		}
		s.keys = parts.Keys
	case typ == namedType:
		if s.keys = fields[context]; s.keys == nil {
			s.keys = fields[strings.Trim(context, `"`)]
		}
	case strings.HasPrefix(typ, returnTypes):
		if o := graph.Overloads("aten::" + strings.TrimPrefix(typ, returnTypes)); len(o) > 0 {
			for _, r := range o[0].Results {
				s.keys = append(s.keys, r.Name)
			}
		}
		if len(s.keys) != len(s.Children) || slices.Contains(s.keys, "") {
			s.keys = nil
			return nil
		}
	default:
		var parts [2][]string // of a data class: its fields, and those that are None
		if json.Unmarshal([]byte(context), &parts) == nil && len(parts[0]) == len(s.Children) {
			s.keys, s.absent = parts[0], parts[1]
			break
		}
		for i := range s.Children {
			s.keys = append(s.keys, strconv.Itoa(i))
		}
	}
	if len(s.keys) != len(s.Children) {
		return fmt.Errorf("%s with %d names for %d values", *s.Type, len(s.keys), len(s.Children))
	}
	return nil
}

func (s *spec) is(types ...string) bool { return s.Type != nil && slices.Contains(types, *s.Type) }

func (s *spec) isDict() bool { return s.is(dictType, orderedType, defaultType) }

// isObject reports a class of the author's.
func (s *spec) isObject() bool {
	return s.Type != nil && !s.isDict() && !s.is(tupleType, listType, namedType) &&
		!strings.HasPrefix(*s.Type, returnTypes)
}

// leaves counts the leaves.
func (s *spec) leaves() int {
	if s.Type == nil {
		return 1
	}
	n := 0
	for i := range s.Children {
		n += s.Children[i].leaves()
	}
	return n
}

// step is the text of the way to child i, as PyTorch's keystr writes it.
func (s *spec) step(i int) string {
	switch {
	case s.isDict():
		return "[" + pyfmt.Repr(s.keys[i]) + "]"
	case s.is(tupleType, listType) || s.keys == nil:
		return "[" + strconv.Itoa(i) + "]"
	}
	return "." + s.keys[i]
}

// flatten lists the leaves of a value that has the structure of the spec; ok is false when it has another one.
func (s *spec) flatten(v tensor.Value, out []tensor.Value) (leaves []tensor.Value, ok bool) {
	if s.Type == nil {
		if structure(v) != nil {
			return out, false
		}
		return append(out, v), true
	}
	children, ok := s.children(v)
	if !ok {
		return out, false
	}
	for i := range s.Children {
		if out, ok = s.Children[i].flatten(children[i], out); !ok {
			return out, false
		}
	}
	return out, true
}

// children are the parts of a value in the order of the spec.
func (s *spec) children(v tensor.Value) ([]tensor.Value, bool) {
	switch x := v.X.(type) {
	case *graph.Dict:
		if !s.isDict() || x.Len() != len(s.keys) {
			return nil, false
		}
		out := make([]tensor.Value, len(s.keys))
		for i, k := range s.keys {
			e, ok := x.Get(tensor.StrValue(k))
			if !ok {
				return nil, false
			}
			out[i] = e
		}
		return out, true
	case *graph.Object:
		if !s.isObject() || !fieldsFit(x, s) {
			return nil, false
		}
		out := make([]tensor.Value, len(s.keys))
		for i, k := range s.keys {
			out[i], _ = x.Attr(k)
		}
		return out, true
	case *graph.Tuple:
		named := x.Type != nil && len(x.Type.Fields) > 0
		if named != (s.is(namedType) || s.keys != nil && !s.isDict() && !s.isObject()) || named &&
			!slices.Equal(x.Type.Fields, s.keys) || !named && !s.is(tupleType) {
			return nil, false
		}
		return x.Items, len(x.Items) == len(s.Children)
	}
	items, ok := graph.ItemsOf(v)
	return items, ok && s.is(listType) && len(items) == len(s.Children)
}

// fieldsFit reports that an object has exactly the fields of a data class, and None in those that have to be.
func fieldsFit(o *graph.Object, s *spec) bool {
	if len(o.Class.Attrs) != len(s.keys)+len(s.absent) {
		return false
	}
	for _, k := range s.keys {
		if v, ok := o.Attr(k); !ok || v.K == tensor.KNone && s.absent != nil {
			return false
		}
	}
	for _, k := range s.absent {
		if v, ok := o.Attr(k); !ok || v.K != tensor.KNone {
			return false
		}
	}
	return true
}

// unflatten makes a value of the spec's structure from its leaves, and returns the leaves that are left.
func (s *spec) unflatten(leaves []tensor.Value) (v tensor.Value, rest []tensor.Value) {
	if s.Type == nil {
		if len(leaves) == 0 {
			return tensor.Value{}, nil
		}
		return leaves[0], leaves[1:]
	}
	items := make([]tensor.Value, len(s.Children))
	for i := range s.Children {
		items[i], leaves = s.Children[i].unflatten(leaves)
	}
	switch {
	case s.is(listType):
		return graph.NewList(nil, items...), leaves
	case s.isDict():
		d := graph.NewDict(graph.Str, nil)
		for i, k := range s.keys {
			d.Set(tensor.StrValue(k), items[i])
		}
		return graph.Box(d), leaves
	case s.isObject():
		c := graph.NewClass(*s.Type, graph.ClassType)
		for _, k := range s.keys {
			c.AddAttr(graph.Attr{Name: k, Type: graph.Any})
		}
		for _, k := range s.absent {
			c.AddAttr(graph.Attr{Name: k, Type: graph.None})
		}
		o := graph.NewObject(c)
		copy(o.Slots, items)
		return graph.Box(o), leaves
	}
	t := &graph.Tuple{Items: items}
	if s.keys != nil {
		t.Type = &graph.Type{Kind: graph.TupleType, Name: *s.Type, Fields: s.keys}
		if s.is(namedType) && s.Context != nil {
			t.Type.Name = strings.Trim(*s.Context, `"`)
		}
		for range items {
			t.Type.Elems = append(t.Type.Elems, graph.Any)
		}
	}
	return graph.Box(t), leaves
}

// String writes the spec as PyTorch's TreeSpec prints itself.
func (s *spec) String() string { return s.text(0) }

func (s *spec) text(indent int) string {
	if s.Type == nil {
		return "*"
	}
	context := "None"
	if s.isDict() {
		parts := make([]string, len(s.keys))
		for i, k := range s.keys {
			parts[i] = pyfmt.Repr(k)
		}
		context = "[" + strings.Join(parts, ", ") + "]"
	} else if s.Context != nil && *s.Context != "null" {
		context = *s.Context
	}
	var b strings.Builder
	b.WriteString("TreeSpec(" + (*s.Type)[strings.LastIndexByte(*s.Type, '.')+1:] + ", " + context + ", [")
	for i := range s.Children {
		if i > 0 {
			b.WriteString(",\n" + strings.Repeat(" ", indent+2))
		}
		b.WriteString(s.Children[i].text(indent + 2))
	}
	b.WriteString("])")
	return b.String()
}

// structure is the spec of a value, nil for a leaf.
func structure(v tensor.Value) *spec {
	var s spec
	typ, null := "", "null"
	var items []tensor.Value
	switch x := v.X.(type) {
	case *graph.Dict:
		typ = dictType
		x.Each(func(k, e tensor.Value) {
			key, ok := k.X.(string)
			if !ok {
				key = graph.Text(k)
			}
			s.keys = append(s.keys, key)
			items = append(items, e)
		})
	case *graph.Object:
		typ, items = x.Class.Name, x.Slots
	case *graph.Tuple:
		typ, items = tupleType, x.Items
		if x.Type != nil && len(x.Type.Fields) > 0 {
			typ = namedType
			null = x.Type.Name
		}
	default:
		var ok bool
		if items, ok = graph.ItemsOf(v); !ok {
			return nil
		}
		typ = listType
	}
	s.Type, s.Context = &typ, &null
	for _, e := range items {
		c := structure(e)
		if c == nil {
			c = &spec{}
		}
		s.Children = append(s.Children, *c)
	}
	return &s
}
