package jit

import (
	"context"
	"fmt"
	"strings"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/pickle"
	"github.com/gotorch-dev/torch/internal/torchzip"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/tensor"
)

// Opaque is a value that only operators which do not exist here look into: an object of a class that a C++ library
// registers and that is not known here.
type Opaque struct {
	Class string
	State any
}

// unpickler turns the values of a pickle into those of programs. Containers and objects that occur twice stay one.
type unpickler struct {
	u       *unit
	tensors *serialize.Tensors
	lists   map[*pickle.List]*graph.List
	dicts   map[*pickle.Dict]*graph.Dict
	objects map[*pickle.Object]tensor.Value
	depth   int
	states  []state // objects whose __setstate__ is to be run, inner ones first
	lite    bool    // classes may be there without code
}

// state is what an object's __setstate__ gets.
type state struct {
	obj   *graph.Object
	value tensor.Value
}

func newUnpickler(u *unit, opts serialize.LoadOptions) *unpickler {
	return &unpickler{u: u, tensors: serialize.NewTensors(opts), lists: map[*pickle.List]*graph.List{},
		dicts: map[*pickle.Dict]*graph.Dict{}, objects: map[*pickle.Object]tensor.Value{}}
}

// maxPickleDepth bounds the nesting of what a pickle holds.
const maxPickleDepth = 500

// value converts a value; want is the type that is known for it, nil otherwise.
func (p *unpickler) value(v pickle.Value, want *graph.Type) (tensor.Value, error) {
	if p.depth++; p.depth > maxPickleDepth {
		return tensor.Value{}, fmt.Errorf("values are nested more than %d deep", maxPickleDepth)
	}
	defer func() { p.depth-- }()
	for want != nil && want.Kind == graph.OptionalType {
		want = want.Elems[0]
	}
	switch x := v.(type) {
	case nil:
		return tensor.Value{}, nil
	case bool:
		return tensor.BoolValue(x), nil
	case int64:
		return tensor.Value{K: tensor.KInt, N: x}, nil
	case float64:
		return tensor.FloatValue(x), nil
	case complex128:
		return tensor.ComplexValue(x), nil
	case string:
		return tensor.StrValue(x), nil
	case []byte:
		return tensor.StrValue(string(x)), nil
	case *torchzip.TensorRef:
		t, err := p.tensors.Tensor(x)
		return tensor.TensorValue(t), err
	case torchzip.Device:
		d, err := tensor.DeviceNamed(x.String())
		return tensor.DeviceValue(d), err
	case *pickle.List:
		return p.list(x, want)
	case pickle.Tuple:
		return p.tuple(x, want)
	case *pickle.Dict:
		return p.dict(x, want)
	case *pickle.Object:
		return p.object(x)
	case *pickle.Global:
		return graph.Box(&Opaque{Class: x.String()}), nil
	}
	return tensor.Value{}, fmt.Errorf("a value of type %T is not part of TorchScript", v)
}

func (p *unpickler) list(x *pickle.List, want *graph.Type) (tensor.Value, error) {
	if l := p.lists[x]; l != nil {
		return graph.Box(l), nil
	}
	l := &graph.List{Items: make([]tensor.Value, len(x.Items))}
	if want != nil && want.Kind == graph.ListType {
		l.Elem = want.Elems[0]
	}
	p.lists[x] = l
	for i, e := range x.Items {
		var err error
		if l.Items[i], err = p.value(e, l.Elem); err != nil {
			return tensor.Value{}, err
		}
	}
	return graph.Box(l), nil
}

func (p *unpickler) tuple(x pickle.Tuple, want *graph.Type) (tensor.Value, error) {
	t := &graph.Tuple{Items: make([]tensor.Value, len(x))}
	if want != nil && want.Kind == graph.TupleType {
		t.Type = want
	}
	for i, e := range x {
		var elem *graph.Type
		if t.Type != nil && i < len(t.Type.Elems) {
			elem = t.Type.Elems[i]
		}
		var err error
		if t.Items[i], err = p.value(e, elem); err != nil {
			return tensor.Value{}, err
		}
	}
	return graph.Box(t), nil
}

func (p *unpickler) dict(x *pickle.Dict, want *graph.Type) (tensor.Value, error) {
	if d := p.dicts[x]; d != nil {
		return graph.Box(d), nil
	}
	d := graph.NewDict(nil, nil)
	if want != nil && want.Kind == graph.DictType {
		d.Key, d.Elem = want.Elems[0], want.Elems[1]
	}
	p.dicts[x] = d
	for _, e := range x.Entries() {
		k, err := p.value(e.Key, d.Key)
		if err != nil {
			return tensor.Value{}, err
		}
		v, err := p.value(e.Value, d.Elem)
		if err != nil {
			return tensor.Value{}, err
		}
		if err := tensor.Try(func() { d.Set(k, v) }); err != nil {
			return tensor.Value{}, err
		}
	}
	return graph.Box(d), nil
}

func (p *unpickler) object(x *pickle.Object) (tensor.Value, error) {
	if v, ok := p.objects[x]; ok {
		return v, nil
	}
	g := x.Global()
	if g == nil {
		return tensor.Value{}, fmt.Errorf("an object of no class")
	}
	if g.Module == "torch.jit._pickle" {
		return p.tagged(g.Name, x.Args)
	}
	qualified := g.Module + "." + g.Name
	t, err := p.u.typeNamed(qualified)
	if err != nil {
		return tensor.Value{}, err
	}
	switch {
	case t == nil && p.lite && strings.HasPrefix(qualified, "__torch__."):
		return p.instance(x, p.dynamicClass(qualified))
	case t == nil && strings.HasPrefix(qualified, "__torch__."):
		return tensor.Value{}, fmt.Errorf("the archive has no class %s", qualified)
	case t == nil || t.Kind == graph.OpaqueType:
		v, err := p.registered(qualified, x)
		if err == nil {
			p.objects[x] = v
		}
		return v, err
	case t.Kind == graph.TupleType:
		return p.tuple(x.Args, t)
	case t.Kind == graph.EnumType:
		if len(x.Args) != 1 {
			return tensor.Value{}, fmt.Errorf("%s with %d arguments", qualified, len(x.Args))
		}
		v, err := p.value(x.Args[0], nil)
		if err != nil {
			return tensor.Value{}, err
		}
		for _, m := range t.Class.Members {
			if graph.Equal(m.Value, v) {
				return graph.Box(m), nil
			}
		}
		return tensor.Value{}, fmt.Errorf("%s has no member with the value %s", qualified, v)
	case t.Kind != graph.ClassType:
		return tensor.Value{}, fmt.Errorf("%s is no class with objects", qualified)
	}
	return p.instance(x, t.Class)
}

// instance makes an object of a class and gives it its attributes.
func (p *unpickler) instance(x *pickle.Object, c *graph.Class) (tensor.Value, error) {
	o := graph.NewObject(c)
	v := graph.Box(o)
	p.objects[x] = v
	if !x.HasState {
		return v, nil
	}
	if m := c.Methods["__setstate__"]; m != nil {
		var want *graph.Type
		if len(m.Schema.Params) > 1 {
			want = m.Schema.Params[1].Type
		}
		s, err := p.value(x.State, want)
		if err != nil {
			return v, err
		}
		p.states = append(p.states, state{o, s})
		return v, nil
	}
	d, ok := x.State.(*pickle.Dict)
	if !ok {
		return v, fmt.Errorf("the state of an object of %s is no dictionary", c.Name)
	}
	for _, e := range d.Entries() {
		name, ok := e.Key.(string)
		if !ok {
			return v, fmt.Errorf("an attribute of %s has no name", c.Name)
		}
		i := c.AttrIndex(name)
		if i < 0 && p.lite && len(c.Attrs) <= len(o.Slots) && p.u.declared[c.Name] == nil {
			a, err := p.value(e.Value, nil)
			if err != nil {
				return v, fmt.Errorf("%s.%s: %w", c.Name, name, err)
			}
			c.AddAttr(graph.Attr{Name: name, Type: graph.Any, Parameter: a.K == tensor.KTensor && a.T.RequiresGrad(),
				Buffer: a.K == tensor.KTensor && !a.T.RequiresGrad()})
			o.Slots = append(o.Slots, a)
			continue
		}
		if i < 0 { // older archives keep the attributes of nn.Module that no program reads
			continue
		}
		a, err := p.value(e.Value, c.Attrs[i].Type)
		if err != nil {
			return v, fmt.Errorf("%s.%s: %w", c.Name, name, err)
		}
		if !fits(a, c.Attrs[i].Type) {
			return v, fmt.Errorf("%s.%s is %s, the class says %s", c.Name, name, graph.TypeOf(a), c.Attrs[i].Type)
		}
		if a.K == tensor.KTensor && c.Attrs[i].Parameter {
			a.T.SetParameter()
		}
		o.Slots[i] = a
	}
	return v, nil
}

// fits compares an attribute's value with its type, as far as kinds go; None stands for a module that is missing.
func fits(v tensor.Value, t *graph.Type) bool {
	if v.K == tensor.KNone {
		return true
	}
	switch t.Kind {
	case graph.TensorType:
		return v.K == tensor.KTensor
	case graph.IntType, graph.BoolType:
		return v.K == tensor.KInt || v.K == tensor.KBool
	case graph.FloatType:
		return v.K == tensor.KFloat || v.K == tensor.KInt
	case graph.StrType:
		return v.K == tensor.KStr
	case graph.ListType:
		_, ok := v.X.(*graph.List)
		return ok
	case graph.DictType:
		_, ok := v.X.(*graph.Dict)
		return ok
	case graph.TupleType:
		_, ok := v.X.(*graph.Tuple)
		return ok
	case graph.ClassType:
		o, ok := v.X.(*graph.Object)
		return ok && (o.Class == t.Class || o.Class.Name == t.Class.Name)
	}
	return true
}

// tagged are the functions of torch.jit._pickle, which say what a plain container is.
func (p *unpickler) tagged(name string, args pickle.Tuple) (tensor.Value, error) {
	if len(args) == 0 {
		return tensor.Value{}, fmt.Errorf("%s without arguments", name)
	}
	var t *graph.Type
	switch name {
	case "restore_type_tag":
		s, ok := "", false
		if len(args) == 2 {
			s, ok = args[1].(string)
		}
		if !ok {
			return tensor.Value{}, fmt.Errorf("restore_type_tag wants a value and a type")
		}
		var err error
		if t, err = p.u.parseType(s); err != nil {
			return tensor.Value{}, err
		}
	case "build_intlist":
		t = graph.ListOf(graph.Int)
	case "build_doublelist":
		t = graph.ListOf(graph.Float)
	case "build_boollist":
		t = graph.ListOf(graph.Bool)
	case "build_tensorlist":
		t = graph.ListOf(graph.Tensor)
	default:
		return tensor.Value{}, fmt.Errorf("unknown tag %s", name)
	}
	return p.value(args[0], t)
}

// setStates runs the __setstate__ methods of objects that have one.
func (p *unpickler) setStates() error {
	for _, s := range p.states {
		m := s.obj.Class.Methods["__setstate__"]
		if _, err := m.RunWith(context.Background(), graph.Options{MaxSteps: 1 << 24}, graph.Box(s.obj),
			s.value); err != nil {
			return fmt.Errorf("%s.__setstate__: %w", s.obj.Class.Name, err)
		}
	}
	return nil
}
