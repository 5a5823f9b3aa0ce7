package nn

import (
	"reflect"
	"slices"
	"strings"

	"github.com/gotorch-dev/torch/tensor"
)

// This file lets parameters, buffers and children be added to a module that its type has no field for, and lets a
// tensor of a module be computed from others before each Forward. Weight normalisation, pruning and parametrizations
// stand on that.

// extra is what a module has beside its fields, in order of registration.
type extra struct {
	params   []namedTensor
	buffers  []namedTensor
	children namedList
	computed []computed
	held     bool   // computed tensors stay as they are
	prefix   string // of the class name: "Parametrized"
	load     []*func(m Module, sd *tensor.StateDict, prefix string)
	notes    map[any]any
}

type namedTensor struct {
	name      string
	t         *Tensor
	transient bool // a buffer that is not saved
}

// computed is a tensor of a module that a function gives before each Forward.
type computed struct {
	name string
	f    func(m Module) *Tensor
}

// extraOf is what was registered beside the fields; it makes room for it.
func extraOf(b *Base) *extra {
	if b.extra == nil {
		b.extra = &extra{}
	}
	return b.extra
}

// wholeOf is the module that b belongs to, as far as it is known, otherwise m.
func wholeOf(b *Base, m Module) Module {
	if b.self != nil {
		return b.self
	}
	return m
}

func (e *extra) walk(param func(string, *Tensor), buffer func(string, *Tensor, bool), child func(string, Module)) {
	for _, p := range e.params {
		param(p.name, p.t)
	}
	for _, p := range e.buffers {
		buffer(p.name, p.t, !p.transient)
	}
	e.children.WalkOwn(param, buffer, child)
}

// put replaces the entry of a name, or adds one.
func put(list *[]namedTensor, n namedTensor) {
	if i := slices.IndexFunc(*list, func(x namedTensor) bool { return x.name == n.name }); i >= 0 {
		(*list)[i] = n
		return
	}
	*list = append(*list, n)
}

// take removes the entry of a name and returns its tensor, nil if there is none.
func take(list *[]namedTensor, name string) *Tensor {
	i := slices.IndexFunc(*list, func(x namedTensor) bool { return x.name == name })
	if i < 0 {
		return nil
	}
	t := (*list)[i].t
	*list = slices.Delete(*list, i, i+1)
	return t
}

func checkName(kind, name string) {
	switch {
	case name == "":
		tensor.Fail(tensor.ErrValue, "%s name can't be empty string \"\"", kind)
	case strings.Contains(name, "."):
		tensor.Fail(tensor.ErrValue, "%s name can't contain \".\"", kind)
	}
}

// RegisterParameter gives a module a parameter that its type has no field for; it follows the others in the state dict.
// One of that name that was registered before is replaced.
func RegisterParameter(m Module, name string, t *Tensor) {
	checkName("parameter", name)
	if TensorField(m, name) != nil {
		tensor.Fail(tensor.ErrValue, "attribute '%s' already exists", name)
	}
	if !t.IsParameter() {
		t = NewParameter(t)
	}
	put(&extraOf(m.moduleBase()).params, namedTensor{name: name, t: t})
}

// RegisterBuffer gives a module a buffer that its type has no field for. One that is not persistent is not saved.
func RegisterBuffer(m Module, name string, t *Tensor, persistent bool) {
	checkName("buffer", name)
	if TensorField(m, name) != nil {
		tensor.Fail(tensor.ErrValue, "attribute '%s' already exists", name)
	}
	put(&extraOf(m.moduleBase()).buffers, namedTensor{name, t, !persistent})
}

// RegisterModule gives a module a child that its type has no field for.
func RegisterModule(m Module, name string, child Module) {
	extraOf(m.moduleBase()).children.add(name, child)
}

// Registered is the parameter or buffer that was registered under a name, nil if there is none.
func Registered(m Module, name string) *Tensor {
	e := m.moduleBase().extra
	if e == nil {
		return nil
	}
	for _, list := range [][]namedTensor{e.params, e.buffers} {
		for _, p := range list {
			if p.name == name {
				return p.t
			}
		}
	}
	return nil
}

// RegisteredModule is the child that was registered under a name, nil if there is none.
func RegisteredModule(m Module, name string) Module {
	if e := m.moduleBase().extra; e != nil {
		return e.children.get(name)
	}
	return nil
}

// Unregister removes the parameter, buffer or child that was registered under a name, and returns the tensor, if it was
// one.
func Unregister(m Module, name string) *Tensor {
	e := m.moduleBase().extra
	if e == nil {
		return nil
	}
	if t := take(&e.params, name); t != nil {
		return t
	}
	if t := take(&e.buffers, name); t != nil {
		return t
	}
	if i := slices.Index(e.children.names, name); i >= 0 {
		e.children.names, e.children.mods = slices.Delete(e.children.names, i, i+1),
			slices.Delete(e.children.mods, i, i+1)
	}
	return nil
}

// tensorFielder is implemented by modules whose tensors are not plain fields.
type tensorFielder interface{ tensorField(name string) **Tensor }

// TensorField is where a module keeps the parameter or buffer that the state dict calls name, nil if it has none of
// that name. Tensors of children do not count.
func TensorField(m Module, name string) **Tensor {
	if f, ok := m.(tensorFielder); ok {
		return f.tensorField(name)
	}
	v := reflect.ValueOf(m)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		return nil
	}
	v = v.Elem()
	p := planOf(v.Type())
	for i := range p.fields {
		f := &p.fields[i]
		if f.private || f.inherited || f.name != name || f.shape == nil || f.shape.kind != tensorShape {
			continue
		}
		if x, ok := fieldAt(v, f.index); ok {
			return x.Addr().Interface().(**Tensor)
		}
	}
	return nil
}

// Compute has f compute the tensor that the state dict calls name before each Forward of the module, and at once. The
// tensor is then no parameter any more: what f computes it from is to be registered. f must reach all that it needs
// through its argument, since a copy of the module keeps f. It panics when the module has no such tensor. A program
// that reads the field itself, between an optimizer's step and the next Forward, calls Refresh first.
func Compute(m Module, name string, f func(m Module) *Tensor) {
	b := m.moduleBase()
	at := TensorField(wholeOf(b, m), name)
	if at == nil {
		tensor.Fail(tensor.ErrValue, "%s object has no parameter or buffer '%s'", className(m), name)
	}
	e := extraOf(b)
	hooksOf(b) // Forward looks here
	if i := slices.IndexFunc(e.computed, func(c computed) bool { return c.name == name }); i >= 0 {
		e.computed[i].f = f
	} else {
		e.computed = append(e.computed, computed{name, f})
	}
	*at = f(wholeOf(b, m))
}

// Computed reports that a tensor is computed before each Forward.
func Computed(m Module, name string) bool {
	e := m.moduleBase().extra
	return e != nil && slices.ContainsFunc(e.computed, func(c computed) bool { return c.name == name })
}

// ComputedNames are the names of a module's own tensors that are computed before each Forward.
func ComputedNames(m Module) (names []string) {
	if e := m.moduleBase().extra; e != nil {
		for _, c := range e.computed {
			names = append(names, c.name)
		}
	}
	return names
}

// StopComputing ends what Compute began, and puts t in the tensor's place.
func StopComputing(m Module, name string, t *Tensor) {
	b := m.moduleBase()
	if e := b.extra; e != nil {
		e.computed = slices.DeleteFunc(e.computed, func(c computed) bool { return c.name == name })
	}
	if at := TensorField(wholeOf(b, m), name); at != nil {
		*at = t
	}
}

// Refresh computes the tensors of m and its children that are computed before each Forward.
func Refresh(m Module) {
	for c := range Modules(m) {
		refresh(c)
	}
}

// refresh is Refresh for m alone.
func refresh(m Module) {
	b := m.moduleBase()
	if b.extra == nil || b.extra.held {
		return
	}
	m = wholeOf(b, m)
	for i := range b.extra.computed {
		c := &b.extra.computed[i]
		*TensorField(m, c.name) = c.f(m)
	}
}

// HoldComputed runs f while the computed tensors of m and its children, once refreshed, stay as they are: for several
// calls of Forward with the same parameters. All gradients of f then go through the one computation.
func HoldComputed(m Module, f func()) {
	Refresh(m)
	var held []*extra
	for c := range Modules(m) {
		if e := c.moduleBase().extra; e != nil && len(e.computed) > 0 && !e.held {
			e.held = true
			held = append(held, e)
		}
	}
	defer func() {
		for _, e := range held {
			e.held = false
		}
	}()
	f()
}

// SetNote keeps a value with a module for a package, whose own type the key is of; nil removes it.
func SetNote(m Module, key, value any) {
	e := extraOf(m.moduleBase())
	if e.notes == nil {
		e.notes = map[any]any{}
	}
	if e.notes[key] = value; value == nil {
		delete(e.notes, key)
	}
}

// Note is the value that SetNote has kept, nil if there is none.
func Note(m Module, key any) any {
	if e := m.moduleBase().extra; e != nil {
		return e.notes[key]
	}
	return nil
}

// UnregisterModule takes away a child that RegisterModule has given a module.
func UnregisterModule(m Module, name string) {
	if e := m.moduleBase().extra; e != nil {
		e.children.remove(name)
	}
}

// SetClassPrefix puts a text before the class name in print, as Python's parametrizations do.
func SetClassPrefix(m Module, prefix string) { extraOf(m.moduleBase()).prefix = prefix }

// IsTransposedConv reports a transposed convolution, whose weight has the outputs in its second dimension.
func IsTransposedConv(m Module) bool {
	switch m.(type) {
	case *ConvTranspose1d, *ConvTranspose2d, *ConvTranspose3d:
		return true
	}
	return false
}
