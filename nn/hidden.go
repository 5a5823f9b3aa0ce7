package nn

import (
	"container/list"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gotorch-dev/torch/tensor"
)

// This file looks for parameters and modules where the walk does not go, so that none is left out in silence.

// search says how far values that are not walked are searched.
type search struct {
	off      bool               // not at all
	maps     bool               // also maps and lists, which must not be read while somebody writes to them
	thorough bool               // also what somebody may write to later, as in New, before anybody does
	known    func(*Tensor) bool // of a thorough search: whether the walk finds this parameter
}

// probe refuses a parameter or a module in what is not walked: a private field, or a value that loose shapes stand for.
// Tensors that are no parameters may be there, as in Python. Pointers to other structs are looked into once, for
// parameters among their fields: they may refer to anything, an optimizer for example, whose parameters the walk may
// well have found elsewhere.
func probe(f *field, x reflect.Value, loose bool, s search) {
	if s.off || f.early && !s.thorough {
		return
	}
	s.maps = s.thorough || loose
	what := s.hidden(x, 1)
	switch {
	case what == "":
	case loose:
		tensor.Fail(tensor.ErrType, "nn: %s (%s) holds %s where the walk does not reach it: hold it by value, in "+
			"a list or in a map with string keys, make it a module by embedding nn.Base, or leave the field out on "+
			"purpose with the tag `torch:\"-\"`", f.path, x.Type(), what)
	default:
		name := f.path[strings.LastIndexByte(f.path, '.')+1:]
		tensor.Fail(tensor.ErrType, "nn: %s (%s) is a private field that holds %s, which would be neither trained nor "+
			"saved: %s", f.path, x.Type(), what, wayOut(name))
	}
}

// hidden says what a value hides, "" for nothing. It follows pointers to structs the given number of times, and looks
// behind them at fields that are tensors only, unless the search is thorough.
func (s search) hidden(x reflect.Value, pointers int) string {
	t := x.Type()
	if t == tensorType {
		if p := (*Tensor)(x.UnsafePointer()); p != nil && p.IsParameter() {
			return "a parameter"
		}
		return ""
	}
	if !mayHide(t) {
		return ""
	}
	switch t.Kind() {
	case reflect.Interface:
		if x.IsNil() {
			return ""
		}
		x = x.Elem()
		if modules, _ := holdsCached(x.Type()); modules {
			return "a module (" + x.Type().String() + ")"
		}
		return s.hidden(x, pointers)
	case reflect.Pointer:
		if pointers == 0 || x.IsNil() {
			return ""
		}
		return s.behind(x.Elem(), pointers-1)
	case reflect.Map:
		if !s.maps {
			return ""
		}
	case reflect.Struct:
		if isContainer(t) {
			return s.among(x, pointers)
		}
	}
	return inside(x, func(y reflect.Value) string { return s.hidden(y, pointers) })
}

// inside is the first answer of ask about an element of a list or a map, or a field of a struct that no tag leaves out;
// "" where there is none.
func inside(x reflect.Value, ask func(reflect.Value) string) string {
	switch x.Kind() {
	case reflect.Slice, reflect.Array:
		for i := range x.Len() {
			if what := ask(x.Index(i)); what != "" {
				return what
			}
		}
	case reflect.Map:
		for it := x.MapRange(); it.Next(); {
			if what := ask(it.Value()); what != "" {
				return what
			}
		}
	case reflect.Struct:
		for i := range x.NumField() {
			if x.Type().Field(i).Tag.Get("torch") == "-" {
				continue
			}
			if what := ask(x.Field(i)); what != "" {
				return what
			}
		}
	}
	return ""
}

// behind is hidden for what a pointer leads to.
func (s search) behind(x reflect.Value, pointers int) string {
	t := x.Type()
	if t.Kind() != reflect.Struct {
		return s.hidden(x, pointers)
	}
	if isContainer(t) {
		return s.among(x, pointers)
	}
	return inside(x, func(y reflect.Value) string {
		if y.Type() == tensorType {
			return s.hidden(y, 0)
		}
		if modules, tensors := holdsCached(y.Type()); tensors && !modules && s.thorough {
			return s.unknown(y, maxPointers)
		}
		return ""
	})
}

// maxPointers bounds how many pointers a thorough search follows one after the other.
const maxPointers = 4

// unknown finds a parameter that is not among those that the walk has found: not those of an optimizer.
func (s search) unknown(x reflect.Value, pointers int) string {
	t := x.Type()
	if t == tensorType {
		if p := (*Tensor)(x.UnsafePointer()); p != nil && p.IsParameter() && !s.known(p) {
			return "a parameter"
		}
		return ""
	}
	if modules, tensors := holdsCached(t); modules || !tensors {
		return ""
	}
	if t.Kind() == reflect.Pointer {
		if pointers == 0 || x.IsNil() {
			return ""
		}
		return s.unknown(x.Elem(), pointers-1)
	}
	return inside(x, func(y reflect.Value) string { return s.unknown(y, pointers) })
}

// among is hidden for what a container of the standard library holds.
func (s search) among(x reflect.Value, pointers int) (what string) {
	if !x.CanAddr() {
		return ""
	}
	look := func(v any) bool {
		if v != nil {
			what = s.hidden(reflect.ValueOf(&v).Elem(), pointers)
		}
		return what == ""
	}
	switch c := reflect.NewAt(x.Type(), x.Addr().UnsafePointer()).Interface().(type) {
	case *sync.Map:
		c.Range(func(_, v any) bool { return look(v) })
	case *atomic.Value:
		look(c.Load())
	case *list.List:
		for e := c.Front(); s.maps && e != nil && look(e.Value); e = e.Next() {
		}
	}
	return what
}

// mayHide reports that values of a type could hold parameters or modules, as far as hidden looks.
func mayHide(t reflect.Type) bool {
	if v, ok := hideCache.Load(t); ok {
		return v.(bool)
	}
	modules, tensors := holds(t, map[reflect.Type]bool{})
	may := modules || tensors || reachesInterface(t, map[reflect.Type]bool{})
	hideCache.Store(t, may)
	return may
}

var hideCache sync.Map // reflect.Type → bool

// reachesInterface reports that a type has interfaces in it, whose values its type does not tell. Pointers are
// followed to containers, not to structs, which may lead anywhere.
func reachesInterface(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Slice, reflect.Array, reflect.Map:
		return reachesInterface(t.Elem(), seen)
	case reflect.Pointer:
		e := t.Elem()
		return isContainer(e) || e.Kind() != reflect.Struct && reachesInterface(e, seen)
	case reflect.Struct:
		if isContainer(t) {
			return true
		}
		for i := range t.NumField() {
			if f := t.Field(i); f.Tag.Get("torch") != "-" && reachesInterface(f.Type, seen) {
				return true
			}
		}
	}
	return false
}

// isContainer reports the types that among knows.
func isContainer(t reflect.Type) bool {
	return t == reflect.TypeFor[sync.Map]() || t == reflect.TypeFor[atomic.Value]() || t == reflect.TypeFor[list.List]()
}

var holdsCache sync.Map // reflect.Type → [2]bool

// holdsCached is holds, remembered.
func holdsCached(t reflect.Type) (modules, tensors bool) {
	if v, ok := holdsCache.Load(t); ok {
		r := v.([2]bool)
		return r[0], r[1]
	}
	modules, tensors = holds(t, map[reflect.Type]bool{})
	holdsCache.Store(t, [2]bool{modules, tensors})
	return modules, tensors
}

// knownTo tells which parameters the walk of m finds. It walks m when it is asked first.
func knownTo(m Module) func(*Tensor) bool {
	var found map[*Tensor]bool
	return func(t *Tensor) bool {
		if found == nil {
			found = map[*Tensor]bool{}
			findParameters(m, found, map[*Base]bool{})
		}
		return found[t]
	}
}

// findParameters adds the parameters of a module and its children, and looks for nothing hidden meanwhile.
func findParameters(m Module, found map[*Tensor]bool, seen map[*Base]bool) {
	b := m.moduleBase()
	if seen[b] {
		return
	}
	seen[b] = true
	to := &visitor{param: func(_ string, t *Tensor) { found[t] = true }, buffer: noBuf, unfinished: len(seen) == 1,
		search: search{off: true}}
	to.child = func(_ string, c Module) {
		if w, ok := c.(*view); ok {
			w.visit(to)
			return
		}
		findParameters(c, found, seen)
	}
	v := reflect.ValueOf(m)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		if c, ok := m.(Custom); ok {
			c.WalkOwn(to.param, to.buffer, to.child)
		}
	} else if p := planOf(v.Elem().Type()); p.custom {
		m.(Custom).WalkOwn(to.param, to.buffer, to.child)
	} else if p.refuse == "" {
		p.walk(v.Elem(), to)
	}
	if b.extra != nil {
		b.extra.walk(to.param, to.buffer, to.child)
	}
}
