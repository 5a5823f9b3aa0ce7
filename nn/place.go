package nn

import (
	"fmt"
	"reflect"
	"sync"
	"weak"

	"github.com/gotorch-dev/torch/tensor"
)

// This file finds the path of a module in its model, "features.3", for error texts. A module does not know its parent:
// what holds it may let go of it, and must not live on because of it. Therefore it has a weak pointer, written when New
// or a walk comes by.

// place is where a module was seen last. Modules are copied as values, so that it holds no atomic: the few places share
// a lock.
type place struct {
	parent weak.Pointer[Base]
	name   string // below parent
}

var placeLock sync.RWMutex

// known reports that a module has been given a place.
func (p *place) known() bool {
	placeLock.RLock()
	defer placeLock.RUnlock()
	return p.name != ""
}

func (p *place) set(parent *Base, name string) {
	q := place{weak.Make(parent), name}
	placeLock.Lock()
	*p = q
	placeLock.Unlock()
}

// owner is the module that the names of children are relative to: their parent, or, for what lies in a list or a map,
// the module with the field.
type owner struct {
	b      *Base
	prefix string
}

// child tells a child where it is, unless it knows, and is the owner of the child's own children.
func (o owner) child(name string, m Module) owner {
	name = join(o.prefix, name)
	if _, ok := m.(*view); ok {
		return owner{o.b, name}
	}
	b := m.moduleBase()
	if !b.place.known() {
		b.place.set(o.b, name)
	}
	return owner{b: b}
}

// settle tells a new module's children where they are, and a child that is a copy of another module who it is. It is
// the first walk, and refuses what cannot be walked.
func settle(m Module) {
	v := reflect.ValueOf(m)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		return
	}
	v = v.Elem()
	p := planOf(v.Type())
	p.check()
	if !p.custom {
		p.walk(v, settler(m.moduleBase(), "", search{thorough: true, known: knownTo(m)}))
	}
}

// settler is the visitor of settle for what lies below prefix in the module b.
func settler(b *Base, prefix string, s search) *visitor {
	return &visitor{param: none, buffer: noBuf, unfinished: true, search: s, child: func(n string, c Module) {
		n = join(prefix, n)
		if w, ok := c.(*view); ok {
			w.visit(settler(b, n, s))
			return
		}
		child := c.moduleBase()
		child.place.set(b, n)
		if child.self != nil && child.self != c {
			child.self = c
		}
	}}
}

// pathOf is the name of the module with Base b in the outermost module that is known to hold it, and that module.
func pathOf(b *Base) (name string, root *Base) {
	root = b
	placeLock.RLock()
	defer placeLock.RUnlock()
	for range maxDepth {
		p := root.place.parent.Value()
		if p == nil || root.place.name == "" {
			break
		}
		if name != "" {
			name = "." + name
		}
		name, root = root.place.name+name, p
	}
	return name, root
}

// describe names a module for error texts: "features.3 (Conv2d) of VGG", or its class if nothing holds it.
func describe(m Module) string {
	name, root := pathOf(m.moduleBase())
	if name == "" {
		return className(m)
	}
	text := fmt.Sprintf("%s (%s)", name, className(m))
	if root.self != nil {
		text += " of " + className(root.self)
	}
	return text
}

// PathOf is the name of m in the module at the top of those that hold it, as NamedModules gives it ("layer1.0.conv1"),
// and the name of its type in PyTorch. The path is empty for a module that no other one holds.
func PathOf(m Module) (path, class string) {
	path, _ = pathOf(baseOf(m))
	return path, className(m)
}

// blame is deferred where the Forward of m is called. It tells the error of a panic, unless an inner module has done
// so, that it came from m. The panic goes on as it was: the stack below this function is still the stack of its cause.
func blame(m Module) {
	if r := recover(); r != nil {
		if e, ok := r.(*tensor.Error); ok && e.Module == "" {
			e.Module = describe(m)
		}
		panic(r)
	}
}

// blameFirst is blame for the first of the layers that a chain has yet to run. r is what recover has returned.
func blameFirst(r any, ms []Module) {
	if r == nil {
		return
	}
	if e, ok := r.(*tensor.Error); ok && e.Module == "" && len(ms) > 0 {
		e.Module = describe(ms[0])
	}
	panic(r)
}

// maxDepth bounds the path of a module, which could be inside itself.
const maxDepth = 64

// refuseLoops panics when a module is inside itself.
func refuseLoops(m Module) { apply(m, func(Module) {}, nil) }

// trail is the way from the module that a walk began with to one below it.
type trail struct {
	m  Module
	up *trail
}

// enter is the trail with one more module. A module that is inside itself has neither a state dict nor an end.
func (t *trail) enter(m Module) *trail {
	for u := t; u != nil; u = u.up {
		if u.m.moduleBase() == m.moduleBase() {
			tensor.Fail(tensor.ErrValue,
				"nn: a %s is inside itself: leave the field that refers back to it out with the "+
					"tag `torch:\"-\"`", className(m))
		}
	}
	return &trail{m, t}
}
