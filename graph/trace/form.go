package trace

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/tensor"
)

// FormKind is what a Form is.
type FormKind uint8

// The kinds of forms.
const (
	Leaf  FormKind = iota // a tensor, or a Container
	None                  // a nil tensor, or another value without tensors, which stays what it was in the recording
	List                  // a slice or an array
	Tuple                 // several results, or a struct
	Dict                  // a map with string keys
)

// Form says how the tensors of a function's arguments or results lie in slices, maps and structs. The leaves are
// numbered from left to right.
type Form struct {
	Kind  FormKind
	Leaf  int         // number of a Leaf
	Held  *graph.Type // of a Leaf that is a Container; a tensor without meaning stands for it among the tensors
	Names []string    // fields of a struct, keys of a map in sorted order
	Elems []*Form
}

// Type is the type of such values in a program.
func (f *Form) Type() *graph.Type {
	switch f.Kind {
	case Leaf:
		if f.Held != nil {
			return f.Held
		}
		return graph.Tensor
	case None:
		return graph.None
	}
	var elems []*graph.Type
	for _, e := range f.Elems {
		elems = append(elems, e.Type())
	}
	switch {
	case f.Kind == Tuple:
		return graph.TupleOf(elems...)
	case len(elems) == 0:
		elems = append(elems, graph.Tensor)
	}
	t := elems[0]
	for _, u := range elems[1:] {
		t = graph.Unify(t, u)
	}
	if f.Kind == Dict {
		return graph.DictOf(graph.Str, t)
	}
	return graph.ListOf(t)
}

// Leaves is the number of tensors.
func (f *Form) Leaves() int {
	if f.Kind == Leaf {
		return 1
	}
	n := 0
	for _, e := range f.Elems {
		n += e.Leaves()
	}
	return n
}

var tensorType, heldType = reflect.TypeFor[*tensor.Tensor](), reflect.TypeFor[Held]()

// maxFormDepth bounds values that hold themselves.
const maxFormDepth = 64

// flatten is the form of a Go value. It appends the value's tensors to leaves.
func flatten(v reflect.Value, leaves *[]*tensor.Tensor, depth int) *Form {
	if depth > maxFormDepth {
		tensor.Fail(tensor.ErrType, "Trace: a value of type %s is nested more than %d deep", v.Type(), maxFormDepth)
	}
	if !v.IsValid() {
		return &Form{Kind: None}
	}
	if v.Type() == tensorType {
		t := v.Interface().(*tensor.Tensor)
		if t == nil {
			return &Form{Kind: None}
		}
		*leaves = append(*leaves, t)
		return &Form{Kind: Leaf, Leaf: len(*leaves) - 1}
	}
	if v.Type().Implements(heldType) && !(v.Kind() == reflect.Pointer && v.IsNil()) {
		c := v.Interface().(Held).Container()
		if c.key == nil {
			tensor.Fail(tensor.ErrType, "Trace: a %s can only be a result of a TorchScript program that has made it",
				v.Type())
		}
		*leaves = append(*leaves, c.key)
		return &Form{Kind: Leaf, Leaf: len(*leaves) - 1, Held: c.typ}
	}
	f := &Form{}
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() || v.Kind() == reflect.Pointer && v.Elem().Kind() != reflect.Struct {
			return &Form{Kind: None}
		}
		return flatten(v.Elem(), leaves, depth+1)
	case reflect.Slice, reflect.Array:
		if !holds(v.Type().Elem(), 0) {
			return &Form{Kind: None}
		}
		f.Kind = List
		for i := range v.Len() {
			f.Elems = append(f.Elems, flatten(v.Index(i), leaves, depth+1))
		}
	case reflect.Map:
		if v.Type().Key().Kind() != reflect.String || !holds(v.Type().Elem(), 0) {
			return &Form{Kind: None}
		}
		f.Kind = Dict
		for _, k := range sortedKeys(v) {
			f.Names = append(f.Names, k.String())
			f.Elems = append(f.Elems, flatten(v.MapIndex(k), leaves, depth+1))
		}
	case reflect.Struct:
		f.Kind = Tuple
		for i := range v.NumField() {
			if t := v.Type().Field(i); t.IsExported() && holds(t.Type, 0) {
				if e := flatten(v.Field(i), leaves, depth+1); e.Kind != None {
					f.Names = append(f.Names, t.Name)
					f.Elems = append(f.Elems, e)
				}
			}
		}
		if len(f.Elems) == 0 {
			return &Form{Kind: None}
		}
	default:
		return &Form{Kind: None}
	}
	return f
}

func sortedKeys(v reflect.Value) []reflect.Value {
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int {
		switch {
		case a.String() < b.String():
			return -1
		case a.String() > b.String():
			return 1
		}
		return 0
	})
	return keys
}

// holds reports that values of a type can hold tensors.
func holds(t reflect.Type, depth int) bool {
	if t == tensorType || t.Implements(heldType) {
		return true
	}
	if depth > 8 {
		return false
	}
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Pointer:
		return t.Elem().Kind() == reflect.Struct && holds(t.Elem(), depth+1)
	case reflect.Slice, reflect.Array, reflect.Map:
		return holds(t.Elem(), depth+1)
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() && holds(f.Type, depth+1) {
				return true
			}
		}
	}
	return false
}

// rebuild is a copy of a Go value of the form with other tensors in it.
func (f *Form) rebuild(v reflect.Value, leaves []*tensor.Tensor) reflect.Value {
	if f.Kind == None {
		return v
	}
	if f.Kind == Leaf {
		return reflect.ValueOf(leaves[f.Leaf])
	}
	switch v.Kind() {
	case reflect.Interface:
		w := reflect.New(v.Type()).Elem()
		w.Set(f.rebuild(v.Elem(), leaves))
		return w
	case reflect.Pointer:
		w := reflect.New(v.Type().Elem())
		w.Elem().Set(f.rebuild(v.Elem(), leaves))
		return w
	case reflect.Slice:
		w := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i, e := range f.Elems {
			w.Index(i).Set(e.rebuild(v.Index(i), leaves))
		}
		return w
	case reflect.Array:
		w := reflect.New(v.Type()).Elem()
		for i, e := range f.Elems {
			w.Index(i).Set(e.rebuild(v.Index(i), leaves))
		}
		return w
	case reflect.Map:
		w := reflect.MakeMap(v.Type())
		for i, e := range f.Elems {
			k := reflect.ValueOf(f.Names[i]).Convert(v.Type().Key())
			w.SetMapIndex(k, e.rebuild(v.MapIndex(k), leaves))
		}
		return w
	}
	w := reflect.New(v.Type()).Elem()
	w.Set(v)
	for i, e := range f.Elems {
		w.FieldByName(f.Names[i]).Set(e.rebuild(v.FieldByName(f.Names[i]), leaves))
	}
	return w
}

// names are the names of the leaves of a value with a name.
func (f *Form) names(name string) []string {
	if f.Kind == Leaf {
		return []string{name}
	}
	var out []string
	for i, e := range f.Elems {
		part := strconv.Itoa(i)
		if f.Names != nil {
			part = f.Names[i]
		}
		out = append(out, e.names(name+"."+part)...)
	}
	return out
}

// target is what is recorded: a module with a Forward method, or a function.
type target struct {
	call   reflect.Value
	in     []reflect.Value // the arguments, as they were given
	forms  []*Form         // of the arguments
	leaves []*tensor.Tensor
}

// bind finds the function and checks that it takes the inputs.
func bind(fn any, inputs []any) *target {
	t := &target{call: reflect.ValueOf(fn)}
	if !t.call.IsValid() {
		tensor.Fail(tensor.ErrType, "Trace: nil is neither a function nor a module")
	}
	if t.call.Kind() != reflect.Func {
		m := t.call.MethodByName("Forward")
		if !m.IsValid() {
			tensor.Fail(tensor.ErrType, "Trace: %T is neither a function nor a module with a Forward method", fn)
		}
		t.call = m
	}
	typ := t.call.Type()
	fixed := typ.NumIn()
	if typ.IsVariadic() {
		fixed--
	}
	if len(inputs) == 0 && fixed > 0 {
		tensor.Fail(tensor.ErrType, "Trace: %s takes %d arguments, and no example inputs were given. The program is "+
			"recorded by a call with them, since there is no source to compile as Python's torch.jit.script does; "+
			"give inputs of usual shapes, such as torch.Zeros([]int{2, 3, 224, 224})", typ, fixed)
	}
	if len(inputs) < fixed || len(inputs) > fixed && !typ.IsVariadic() {
		tensor.Fail(tensor.ErrType, "Trace: %s takes %d arguments, got %d", typ, fixed, len(inputs))
	}
	for i, x := range inputs {
		want := typ.In(min(i, typ.NumIn()-1))
		if i >= fixed {
			want = want.Elem()
		}
		v := reflect.ValueOf(x)
		switch {
		case !v.IsValid():
			v = reflect.Zero(want)
		case !v.Type().AssignableTo(want):
			tensor.Fail(tensor.ErrType, "Trace: argument %d of %s is a %s, got %s", i, typ, want, v.Type())
		}
		t.in = append(t.in, v)
		t.forms = append(t.forms, flatten(v, &t.leaves, 0))
	}
	return t
}

// run calls the function with these tensors in the places of the leaves. The form of its results is a tuple if there
// are several.
func (t *target) run(leaves []*tensor.Tensor) (form *Form, out []*tensor.Tensor) {
	in := make([]reflect.Value, len(t.in))
	for i, v := range t.in {
		in[i] = t.forms[i].rebuild(v, leaves)
	}
	form = &Form{Kind: Tuple}
	for _, r := range t.call.Call(in) {
		if err, ok := r.Interface().(error); ok && err != nil {
			panic(&tensor.Error{Op: "Trace", Msg: err.Error(), Err: err})
		}
		if r.Type() == reflect.TypeFor[error]() {
			continue
		}
		form.Elems = append(form.Elems, flatten(r, &out, 0))
	}
	if len(form.Elems) == 1 {
		form = form.Elems[0]
	}
	if len(out) == 0 {
		tensor.Fail(tensor.ErrType, "Trace: %s returns no tensors", t.call.Type())
	}
	return form, out
}

func defaultName(i int) string {
	if i == 0 {
		return "x"
	}
	return fmt.Sprintf("x%d", i)
}
