package jit

import (
	"cmp"
	"maps"
	"reflect"
	"slices"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/graph/trace"
	"github.com/gotorch-dev/torch/tensor"
)

// List is a list that becomes one of the program that Trace or Script records: a List[T] of TorchScript. Elsewhere it
// is an ordinary list. Elements are numbers, strings, bools, tensors, Lists and Dicts. It may be a result of the
// program; a Go slice is a list of the length that it had in the recording, a List may grow in a loop.
//
// Numbers and strings that Go code takes from a List are those of the example; tensors are the program's.
type List[T any] struct {
	c     *trace.Container
	items []T
}

// Dict is a dictionary that becomes one of the program that Trace or Script records: a Dict[K, V] of TorchScript.
// Elsewhere it is an ordinary map that keeps the order of its keys. Its values are as the elements of a List, its keys
// are strings, numbers or bools.
type Dict[K cmp.Ordered, V any] struct {
	c     *trace.Container
	keys  []K
	items map[K]V
}

// NewList makes an empty list, with a name in the program that is recorded. It is torch.jit.annotate(List[T], []): the
// type parameter is the annotation.
// https://pytorch.org/docs/stable/generated/torch.jit.annotate.html
func NewList[T any](name string) *List[T] {
	l := &List[T]{}
	l.c = trace.NewContainer(name, graph.ListOf(typeOf(reflect.TypeFor[T]())), func() func() {
		was := slices.Clone(l.items)
		return func() { l.items = was }
	})
	return l
}

// NewDict makes an empty dictionary, with a name in the program that is recorded. It is torch.jit.annotate(Dict[K, V],
// {}): the type parameters are the annotation.
// https://pytorch.org/docs/stable/generated/torch.jit.annotate.html
func NewDict[K cmp.Ordered, V any](name string) *Dict[K, V] {
	d := &Dict[K, V]{items: map[K]V{}}
	key := typeOf(reflect.TypeFor[K]())
	d.c = trace.NewContainer(name, graph.DictOf(key, typeOf(reflect.TypeFor[V]())), func() func() {
		keys, items := slices.Clone(d.keys), maps.Clone(d.items)
		return func() { d.keys, d.items = keys, items }
	})
	return d
}

// typeOf is the type that Go values have in a program.
func typeOf(t reflect.Type) *graph.Type {
	if t == reflect.TypeFor[*tensor.Tensor]() {
		return graph.Tensor
	}
	switch t.Kind() {
	case reflect.Bool:
		return graph.Bool
	case reflect.Int, reflect.Int64:
		return graph.Int
	case reflect.Float64:
		return graph.Float
	case reflect.String:
		return graph.Str
	}
	if h, ok := reflect.New(t).Elem().Interface().(interface{ listType() *graph.Type }); ok {
		return h.listType()
	}
	tensor.Fail(tensor.ErrType, "a list or dictionary of a program cannot hold %s: want string, int, int64, float64, "+
		"bool, *torch.Tensor, *jit.List or *jit.Dict", t)
	return nil
}

func (*List[T]) listType() *graph.Type { return graph.ListOf(typeOf(reflect.TypeFor[T]())) }

func (*Dict[K, V]) listType() *graph.Type {
	return graph.DictOf(typeOf(reflect.TypeFor[K]()), typeOf(reflect.TypeFor[V]()))
}

// Container makes the list a trace.Held.
func (l *List[T]) Container() *trace.Container { return l.c }

// Container makes the dictionary a trace.Held.
func (d *Dict[K, V]) Container() *trace.Container { return d.c }

// Append puts x behind the last element.
func (l *List[T]) Append(x T) {
	l.c.Record("aten::append.t", []*graph.Type{l.c.Type()}, plain(x))
	l.items = append(l.items, x)
}

// At is element i; a negative i counts from the end. An index that there is not panics with ErrIndex.
func (l *List[T]) At(i int) T { return element(l.c, l.items[l.index(i)], "aten::__getitem__.t", i) }

// Set makes x element i; a negative i counts from the end.
func (l *List[T]) Set(i int, x T) {
	at := l.index(i)
	l.c.Record("aten::_set_item.t", []*graph.Type{l.c.Type()}, i, plain(x))
	l.items[at] = x
}

func (l *List[T]) index(i int) int {
	at := i
	if at < 0 {
		at += len(l.items)
	}
	if at < 0 || at >= len(l.items) {
		tensor.Fail(tensor.ErrIndex, "list index %d is out of range for %d elements", i, len(l.items))
	}
	return at
}

// Len is the number of elements.
func (l *List[T]) Len() int { return len(l.items) }

// Set makes x the value of the key k.
func (d *Dict[K, V]) Set(k K, x V) {
	d.c.Record("aten::_set_item."+d.kind(), nil, plain(k), plain(x))
	if _, had := d.items[k]; !had {
		d.keys = append(d.keys, k)
	}
	d.items[k] = x
}

// Get is the value of the key k, false without such a key.
func (d *Dict[K, V]) Get(k K) (V, bool) {
	x, ok := d.items[k]
	if !ok {
		return x, false
	}
	return element(d.c, x, "aten::__getitem__.Dict_"+d.kind(), plain(k)), true
}

// Keys are the keys in the order in which they came.
func (d *Dict[K, V]) Keys() []K { return slices.Clone(d.keys) }

// Len is the number of keys.
func (d *Dict[K, V]) Len() int { return len(d.items) }

// kind is the name of the type of the keys in the names of operators.
func (d *Dict[K, V]) kind() string { return d.c.Type().Elems[0].String() }

// Stack is torch.stack of the elements of a list.
func Stack(l *List[*tensor.Tensor], dim int) *tensor.Tensor {
	return joined(l, "aten::stack", dim)
}

// Cat is torch.cat of the elements of a list.
func Cat(l *List[*tensor.Tensor], dim int) *tensor.Tensor {
	return joined(l, "aten::cat", dim)
}

func joined(l *List[*tensor.Tensor], op string, dim int) (y *tensor.Tensor) {
	tensor.InsteadOfLayers(tensor.RankTrace, nil, func() {
		v, err := tensor.CallOp(op, tensor.TensorsValue(l.items), tensor.IntValue(dim))
		if err != nil {
			panic(err)
		}
		y = v[0].T
	})
	return l.c.Tensor(y, op, dim)
}

// element is an element x of a container, which the operator takes from it: for a tensor another value of the program.
func element[T any](c *trace.Container, x T, op string, args ...any) T {
	if t, ok := any(x).(*tensor.Tensor); ok {
		return any(c.Tensor(t, op, args...)).(T)
	}
	return x
}

// plain is a number, a bool or a string as such, and another value as it is.
func plain(x any) any {
	switch v := reflect.ValueOf(x); v.Kind() {
	case reflect.Int, reflect.Int64:
		return int(v.Int())
	case reflect.Float64:
		return v.Float()
	case reflect.Bool:
		return v.Bool()
	case reflect.String:
		return v.String()
	}
	return x
}
