package nn

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/gotorch-dev/torch/tensor"
)

// Custom is implemented by modules whose parameters, buffers or children are not plain fields: containers, recurrent
// layers. A struct that embeds such a module has what it walks, and its own further fields.
type Custom interface {
	// WalkOwn calls the functions for the module's own parameters, buffers and children, in the order of the state
	// dict.
	WalkOwn(param func(name string, t *Tensor), buffer func(name string, t *Tensor, persistent bool),
		child func(name string, m Module))
}

// visitor is what a walk calls, as in Custom.
type visitor struct {
	param  func(name string, t *Tensor)
	buffer func(name string, t *Tensor, persistent bool)
	child  func(name string, m Module)
	eval   bool // the mode of the module, which lists and structs in it share
	// unfinished skips embedded modules with a WalkOwn, which may not be ready before New has returned.
	unfinished bool
	// search is how far what is not walked is searched for parameters and modules.
	search search
}

// walkOwn visits what belongs to m itself, in order, and panics with ErrType where something could be left out: a
// private field that holds a module, two fields of one name, a map whose keys are no names (see plan). A nil child is
// not visited.
func walkOwn(m Module, param func(string, *Tensor), buffer func(string, *Tensor, bool), visit func(string, Module)) {
	b := baseOf(m)
	child := func(n string, c Module) { visit(n, StandIn(c)) }
	walkFields(m, param, buffer, child)
	if e := b.extra; e != nil {
		e.walk(param, buffer, child)
	}
}

// walkFields is walkOwn without what was registered beside the fields.
func walkFields(m Module, param func(string, *Tensor), buffer func(string, *Tensor, bool),
	child func(string, Module)) {
	v := reflect.ValueOf(m)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		if c, ok := m.(Custom); ok {
			c.WalkOwn(param, buffer, child)
		}
		return
	}
	v = v.Elem()
	p := planOf(v.Type())
	p.check()
	if p.custom {
		m.(Custom).WalkOwn(param, buffer, child)
		return
	}
	p.walk(v, &visitor{param: param, buffer: buffer, child: child, eval: m.moduleBase().eval})
}

// walk visits the fields of a struct.
func (p *plan) walk(v reflect.Value, to *visitor) {
	for i := range p.fields {
		f := &p.fields[i]
		x, ok := fieldAt(v, f.index)
		if !ok {
			continue
		}
		switch {
		case f.inherited:
			if !to.unfinished {
				inherit(x, to)
			}
		case f.private:
			probe(f, x, false, to.search)
		default:
			f.visit(f.name, f.shape, x, to)
		}
	}
}

// fieldAt is a field through embedded structs; ok is false behind a nil pointer.
func fieldAt(v reflect.Value, index []int) (x reflect.Value, ok bool) {
	v = v.Field(index[0])
	for _, i := range index[1:] {
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return v, false
			}
			v = v.Elem()
		}
		v = v.Field(i)
	}
	return v, true
}

// inherit visits what an embedded Custom walks.
func inherit(x reflect.Value, to *visitor) {
	if x.Kind() != reflect.Pointer {
		x = x.Addr()
	}
	if !x.IsNil() {
		// not Interface, which refuses embedded structs of private types
		c := reflect.NewAt(x.Type().Elem(), x.UnsafePointer()).Interface().(Custom)
		c.WalkOwn(to.param, to.buffer, to.child)
	}
}

// visit visits a value of a shape under a name.
func (f *field) visit(name string, s *shape, x reflect.Value, to *visitor) {
	switch s.kind {
	case tensorShape:
		f.tensor(name, x.Interface().(*Tensor), to)
	case moduleShape:
		if !isNil(x) {
			to.child(name, x.Interface().(Module))
		}
	case valueShape:
		to.child(name, x.Addr().Interface().(Module))
	case dynamicShape:
		if x.IsNil() {
			return
		}
		x = x.Elem()
		if k := x.Kind(); k <= reflect.Complex128 || k == reflect.String || isNil(x) {
			return
		}
		d := dynamicOf(x.Type())
		if d.why != "" {
			tensor.Fail(tensor.ErrType, "nn: %s holds a %s, which %s", f.path, x.Type(), d.why)
		}
		if d.shape != nil {
			f.visit(name, d.shape, x, to)
		}
	case looseShape:
		probe(f, x, true, to.search)
	case groupShape:
		g := &view{f: f, shape: s, v: x}
		g.self, g.eval = g, to.eval
		if g.holdsAny() {
			to.child(name, g)
		}
	default:
		f.container(name, s, x, to)
	}
}

// isNil reports a nil pointer, also one in an interface.
func isNil(x reflect.Value) bool {
	if x.Kind() == reflect.Interface {
		if x.IsNil() {
			return true
		}
		x = x.Elem()
	}
	return x.Kind() == reflect.Pointer && x.IsNil()
}

// tensor visits a tensor, unless it is neither a parameter nor a buffer.
func (f *field) tensor(name string, t *Tensor, to *visitor) {
	switch {
	case t == nil:
	case f.buffer:
		to.buffer(name, t, f.persistent)
	case t.IsParameter():
		to.param(name, t)
	}
}

// container visits a list or a dict: of tensors as entries of the module itself, "name.0"; of anything else as the
// ModuleList or ModuleDict that it is in Python.
func (f *field) container(name string, s *shape, x reflect.Value, to *visitor) {
	if x.Len() == 0 {
		return
	}
	leaf := s
	for leaf.kind == listShape || leaf.kind == dictShape {
		leaf = leaf.elem
	}
	if leaf.kind == tensorShape {
		f.elements(s, x, func(n string, e reflect.Value) { f.visit(name+"."+n, s.elem, e, to) })
		return
	}
	c := &view{f: f, shape: s, v: x}
	c.self, c.eval = c, to.eval
	if s.elem.kind == valueShape || c.holdsAny() {
		to.child(name, c)
	}
}

// elements lists the entries of a list by their numbers, and those of a map by their keys, which are sorted.
func (f *field) elements(s *shape, x reflect.Value, visit func(name string, e reflect.Value)) {
	if s.kind == listShape {
		for i := range x.Len() {
			visit(strconv.Itoa(i), x.Index(i))
		}
		return
	}
	keys := x.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	for _, k := range keys {
		n := k.String()
		switch {
		case n == "":
			tensor.Fail(tensor.ErrValue, "nn: a key of the map %s is \"\": module name can't be empty string \"\"",
				f.path)
		case strings.Contains(n, "."):
			tensor.Fail(tensor.ErrValue, "nn: a key of the map %s: module name can't contain \".\", got: %s", f.path, n)
		}
		visit(n, x.MapIndex(k))
	}
}

// dynamic is how a type that an interface holds is walked.
type dynamic struct {
	shape *shape
	why   string
}

var dynamicCache sync.Map // reflect.Type → *dynamic

func dynamicOf(t reflect.Type) *dynamic {
	if v, ok := dynamicCache.Load(t); ok {
		return v.(*dynamic)
	}
	b := planner{busy: map[reflect.Type]bool{}}
	d := &dynamic{}
	d.shape, d.why = b.shapeOf(t, false)
	dynamicCache.Store(t, d)
	return d
}

// view shows a slice, an array, a map or a plain struct in a module as the module that it is in Python. It is made anew
// in each walk.
type view struct {
	Base
	f     *field
	shape *shape
	v     reflect.Value
}

// ClassName is the name in print.
func (c *view) ClassName() string {
	switch c.shape.kind {
	case listShape:
		return "ModuleList"
	case dictShape:
		return "ModuleDict"
	}
	n, _, _ := strings.Cut(c.shape.typ.Name(), "[")
	return n
}

// WalkOwn visits what the value holds.
func (c *view) WalkOwn(param func(string, *Tensor), buffer func(string, *Tensor, bool), child func(string, Module)) {
	c.visit(&visitor{param: param, buffer: buffer, child: child, eval: c.eval})
}

func (c *view) visit(to *visitor) {
	if c.shape.kind == groupShape {
		c.shape.plan.walk(c.v, to)
		return
	}
	c.f.elements(c.shape, c.v, func(n string, e reflect.Value) { c.f.visit(n, c.shape.elem, e, to) })
}

// holdsAny reports that there is something to visit.
func (c *view) holdsAny() bool {
	if c.shape.kind == listShape && c.shape.elem.kind == moduleShape {
		for i := range c.v.Len() {
			if !isNil(c.v.Index(i)) {
				return true
			}
		}
		return false
	}
	found := false
	c.WalkOwn(func(string, *Tensor) { found = true }, func(string, *Tensor, bool) { found = true },
		func(string, Module) { found = true })
	return found
}

// Repr prints a list with equal neighbours joined, and others as modules are printed.
func (c *view) Repr() string {
	if c.shape.kind != listShape {
		return repr(c)
	}
	var mods []Module
	for _, m := range NamedChildren(c) {
		mods = append(mods, m)
	}
	return listRepr("ModuleList", mods)
}
