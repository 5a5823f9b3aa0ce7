package graph

import (
	"slices"
	"sort"

	"github.com/gotorch-dev/torch/tensor"
)

// This file has the operators on lists and tuples.

// list is argument i, which must be a list.
func list(a []tensor.Value, i int) *List {
	l, ok := a[i].X.(*List)
	if !ok {
		tensor.Fail(tensor.ErrType, "want a list, not %s", describe(a[i]))
	}
	return l
}

// position turns an index as Python counts it into one of a slice; it fails when there is no such element.
func position(i int64, n int) int {
	k := i
	if k < 0 {
		k += int64(n)
	}
	if k < 0 || k >= int64(n) {
		tensor.Fail(tensor.ErrIndex, "list index out of range")
	}
	return int(k)
}

// sliced calls f with the positions of a slice of n elements, as Python counts them.
func sliced(start, end tensor.Value, step int64, n int, f func(i int)) {
	if step == 0 {
		tensor.Fail(tensor.ErrValue, "slice step cannot be zero")
	}
	low, high := int64(0), int64(n) // where start and end are cut
	if step < 0 {
		low, high = -1, int64(n)-1
	}
	at := func(v tensor.Value, def int64) int64 {
		if v.K == tensor.KNone {
			return def
		}
		k := v.N
		if k < 0 {
			k += int64(n)
		}
		return min(max(k, low), high)
	}
	from, to := at(start, low), at(end, high)
	if step < 0 {
		from, to = at(start, high), at(end, low)
		for i := from; i > to; i += step {
			f(int(i))
			if i-to <= -step {
				return
			}
		}
		return
	}
	for i := from; i < to; i += step {
		f(int(i))
		if to-i <= step {
			return
		}
	}
}

func compare(a, b tensor.Value) int {
	switch {
	case a.K == tensor.KStr:
		x, y := text(a), text(b)
		if x < y {
			return -1
		}
		return map[bool]int{true: 1}[x > y]
	case a.K == tensor.KInt && b.K == tensor.KInt:
		if a.N < b.N {
			return -1
		}
		return map[bool]int{true: 1}[a.N > b.N]
	}
	if x, ok := ItemsOf(a); ok {
		y, _ := ItemsOf(b)
		for i := range min(len(x), len(y)) {
			if c := compare(x[i], y[i]); c != 0 {
				return c
			}
		}
		return len(x) - len(y)
	}
	if a.K == tensor.KTensor {
		a, b = a.T.Num().Value(), b.T.Num().Value()
	}
	x, y := float(&a), float(&b)
	if x < y {
		return -1
	}
	return map[bool]int{true: 1}[x > y]
}

func sortItems(items []tensor.Value, reverse bool) {
	sort.SliceStable(items, func(i, j int) bool {
		if reverse {
			return compare(items[i], items[j]) > 0
		}
		return compare(items[i], items[j]) < 0
	})
}

// sortObjects sorts objects by their class's order; ok is false for a list of anything else.
func (x *exec) sortObjects(items []tensor.Value, reverse bool) (ok bool) {
	for _, v := range items {
		if _, ok := v.X.(*Object); !ok {
			return false
		}
	}
	sort.SliceStable(items, func(i, j int) bool {
		if reverse {
			i, j = j, i
		}
		return x.less(items[i].X.(*Object), items[j].X.(*Object))
	})
	return true
}

func find(items []tensor.Value, v tensor.Value) int {
	return slices.IndexFunc(items, func(e tensor.Value) bool { return Equal(e, v) })
}

// mostItems bounds the lists of programs: a loop that doubles a list would soon fill any memory.
const mostItems = 1 << 24

// grow refuses a list of n elements that is too long.
func grow(n int) {
	if n > mostItems {
		tensor.Fail(tensor.ErrMemory, "a list of %d elements is too long; %d are allowed", n, mostItems)
	}
}

func repeated(l *List, n int64) tensor.Value {
	out := &List{Elem: l.Elem}
	if n < 0 && len(l.Items) > 0 { // the text of C++'s exception, as in PyTorch
		tensor.Fail(tensor.ErrValue, "vector::reserve")
	}
	if n > 0 && len(l.Items) > 0 {
		if n > mostItems/int64(len(l.Items)) {
			tensor.Fail(tensor.ErrMemory, "a list of %d times %d elements is too long", n, len(l.Items))
		}
		for range n {
			out.Items = append(out.Items, l.Items...)
		}
	}
	return Box(out)
}

func init() {
	none := tensor.Value{}
	length := func(a []tensor.Value) tensor.Value { return tensor.IntValue(len(list(a, 0).Items)) }
	Register("aten::len.t(t[] a) -> int", func(a []tensor.Value) tensor.Value {
		if items, ok := ItemsOf(a[0]); ok {
			return tensor.IntValue(len(items))
		}
		return length(a)
	})
	Register("aten::__getitem__.t(t[](a) list, int idx) -> t(*)", func(a []tensor.Value) tensor.Value {
		l := list(a, 0)
		return l.Items[position(a[1].N, len(l.Items))]
	})
	Register("aten::select.t(t[](a) list, int idx) -> t(*)", helpers.byFull["aten::__getitem__.t"].fn)
	Register("aten::_set_item.t(t[](a!) l, int idx, t(b -> *) el) -> t[](a!)", func(a []tensor.Value) tensor.Value {
		l := list(a, 0)
		l.Items[position(a[1].N, len(l.Items))] = a[2]
		return a[0]
	})
	Register("aten::append.t(t[](a!) self, t(c -> *) el) -> t[](a!)", func(a []tensor.Value) tensor.Value {
		l := list(a, 0)
		l.Items = append(l.Items, a[1])
		return a[0]
	})
	Register("aten::extend.t(t[](a!) self, t[] other) -> ()", func(a []tensor.Value) tensor.Value {
		l, more := list(a, 0), list(a, 1).Items
		grow(len(l.Items) + len(more))
		l.Items = append(l.Items, more...)
		return none
	})
	Register("aten::insert.t(t[](a!) self, int idx, t(b -> *) el) -> ()", func(a []tensor.Value) tensor.Value {
		l := list(a, 0)
		i := a[1].N
		if i < 0 {
			i += int64(len(l.Items))
		}
		l.Items = slices.Insert(l.Items, int(min(max(i, 0), int64(len(l.Items)))), a[2])
		return none
	})
	Register("aten::pop.t(t[](a!) self, int idx=-1) -> t(*)", func(a []tensor.Value) tensor.Value {
		l := list(a, 0)
		if len(l.Items) == 0 {
			tensor.Fail(tensor.ErrIndex, "pop from empty list")
		}
		i := position(a[1].N, len(l.Items))
		v := l.Items[i]
		l.Items = slices.Delete(l.Items, i, i+1)
		return v
	})
	Register("aten::Delete.t(t[](a!) self, int idx) -> ()", func(a []tensor.Value) tensor.Value {
		l := list(a, 0)
		i := position(a[1].N, len(l.Items))
		l.Items = slices.Delete(l.Items, i, i+1)
		return none
	})
	Register("aten::clear.t(t[](a!) self) -> ()", func(a []tensor.Value) tensor.Value {
		list(a, 0).Items = nil
		return none
	})
	Register("aten::reverse.t(t[](a!) self) -> ()", func(a []tensor.Value) tensor.Value {
		slices.Reverse(list(a, 0).Items)
		return none
	})
	copied := func(a []tensor.Value) tensor.Value {
		l := list(a, 0)
		return Box(&List{Elem: l.Elem, Items: slices.Clone(l.Items)})
	}
	Register("aten::copy.t(t[](a) self) -> t[]", copied)
	Register("aten::list.t(t[] l) -> t[]", copied)
	Register("aten::add.t(t[] a, t[] b) -> t[]", func(a []tensor.Value) tensor.Value {
		grow(len(list(a, 0).Items) + len(list(a, 1).Items))
		return Box(&List{Elem: list(a, 0).Elem, Items: slices.Concat(list(a, 0).Items, list(a, 1).Items)})
	})
	Register("aten::add_.t(t[](a!) self, t[] b) -> t[]", func(a []tensor.Value) tensor.Value {
		l, more := list(a, 0), list(a, 1).Items
		grow(len(l.Items) + len(more))
		l.Items = append(l.Items, more...)
		return a[0]
	})
	Register("aten::mul.left_t(t[] l, int n) -> t[]", func(a []tensor.Value) tensor.Value {
		return repeated(list(a, 0), a[1].N)
	})
	Register("aten::mul.right_(int n, t[] l) -> t[]", func(a []tensor.Value) tensor.Value {
		return repeated(list(a, 1), a[0].N)
	})
	Register("aten::mul_.t(t[](a!) l, int n) -> t[](a!)", func(a []tensor.Value) tensor.Value {
		l := list(a, 0)
		l.Items = list([]tensor.Value{repeated(l, a[1].N)}, 0).Items
		return a[0]
	})
	Register("aten::slice.t(t[] l, int? start=None, int? end=None, int step=1) -> t[]",
		func(a []tensor.Value) tensor.Value {
			l := list(a, 0)
			out := &List{Elem: l.Elem, Items: []tensor.Value{}}
			sliced(a[1], a[2], a[3].N, len(l.Items), func(i int) { out.Items = append(out.Items, l.Items[i]) })
			return Box(out)
		})
	for _, t := range []string{"int", "float", "bool", "str", "Tensor"} {
		Register("aten::remove."+t+"("+t+"[](a!) self, "+t+" el) -> ()", func(a []tensor.Value) tensor.Value {
			l := list(a, 0)
			i := find(l.Items, a[1])
			if i < 0 {
				tensor.Fail(tensor.ErrValue, "list.remove(x): x not in list")
			}
			l.Items = slices.Delete(l.Items, i, i+1)
			return none
		})
		Register("aten::index.list_"+t+"("+t+"[] self, "+t+" el) -> int", func(a []tensor.Value) tensor.Value {
			i := find(list(a, 0).Items, a[1])
			if i < 0 {
				el := Text(a[1])
				if a[1].K == tensor.KFloat {
					el = CGeneral(a[1].Float(), 6) // a C++ stream, with its own precision
				}
				tensor.Fail(tensor.ErrValue, "'%s' is not in list", el)
			}
			return tensor.IntValue(i)
		})
		Register("aten::count."+t+"("+t+"[] self, "+t+" el) -> int", func(a []tensor.Value) tensor.Value {
			n := 0
			for _, e := range list(a, 0).Items {
				if Equal(e, a[1]) {
					n++
				}
			}
			return tensor.IntValue(n)
		})
		Register("aten::sort."+t+"("+t+"[](a!) self, bool reverse=False) -> ()", func(a []tensor.Value) tensor.Value {
			sortItems(list(a, 0).Items, truth(&a[1]))
			return none
		})
		Register("aten::sorted."+t+"("+t+"[](a) input) -> "+t+"[]", func(a []tensor.Value) tensor.Value {
			v := copied(a)
			sortItems(list([]tensor.Value{v}, 0).Items, false)
			return v
		})
		if t == "Tensor" {
			continue
		}
		if t != "bool" {
			Register("aten::__contains__."+t+"_list("+t+"[] l, "+t+" item) -> bool",
				func(a []tensor.Value) tensor.Value {
					return tensor.BoolValue(find(list(a, 0).Items, a[1]) >= 0)
				})
		}
		Register("aten::any."+t+"("+t+"[] self) -> bool", func(a []tensor.Value) tensor.Value {
			return tensor.BoolValue(slices.ContainsFunc(list(a, 0).Items, holds))
		})
		if t == "str" {
			continue
		}
		Register("aten::all."+t+"("+t+"[] self) -> bool", func(a []tensor.Value) tensor.Value {
			return tensor.BoolValue(!slices.ContainsFunc(list(a, 0).Items,
				func(v tensor.Value) bool { return !holds(v) }))
		})
		registerListNumbers(t)
	}
	sortAny := func(a []tensor.Value) tensor.Value {
		sortItems(list(a, 0).Items, truth(&a[1]))
		return none
	}
	sortedAny := func(a []tensor.Value) tensor.Value {
		v := copied(a)
		sortItems(list([]tensor.Value{v}, 0).Items, false)
		return v
	}
	Register("aten::sort.any(t[](a!) self, bool reverse=False) -> ()", sortAny)
	Register("aten::sorted.any(t[](a) self) -> t[]", sortedAny)
	helpers.byFull["aten::sort.any"].calls = func(x *exec, a []tensor.Value) tensor.Value {
		if l := list(a, 0); !x.sortObjects(l.Items, truth(&a[1])) {
			return sortAny(a)
		}
		return none
	}
	helpers.byFull["aten::sorted.any"].calls = func(x *exec, a []tensor.Value) tensor.Value {
		v := copied(a)
		if l := list([]tensor.Value{v}, 0); !x.sortObjects(l.Items, false) {
			return sortedAny(a)
		}
		return v
	}
	Register("gotorch::tuple_index(Any tup, int i) -> Any", func(a []tensor.Value) tensor.Value {
		items, ok := ItemsOf(a[0])
		if !ok {
			tensor.Fail(tensor.ErrType, "want a tuple, not %s", describe(a[0]))
		}
		return items[position(a[1].N, len(items))]
	})
	Register("prim::rangelist(int n) -> int[]", func(a []tensor.Value) tensor.Value {
		if a[0].N > mostItems {
			tensor.Fail(tensor.ErrMemory, "a list of %d elements is too long", a[0].N)
		}
		l := &List{Elem: Int}
		for i := range a[0].N {
			l.Items = append(l.Items, intOf(i))
		}
		return Box(l)
	})
	Register("aten::Size(int[] sizes) -> int[]", copied)
}

// holds is Python's truth of a number or a string.
func holds(v tensor.Value) bool {
	switch v.K {
	case tensor.KStr:
		return text(v) != ""
	case tensor.KFloat:
		return v.Float() != 0
	}
	return v.N != 0
}

func registerListNumbers(t string) {
	pick := func(name string, better func(c int) bool) {
		Register("prim::"+name+".self_"+t+"("+t+"[] self) -> "+t, func(a []tensor.Value) tensor.Value {
			items := list(a, 0).Items
			if len(items) == 0 {
				tensor.Fail(tensor.ErrValue, "%s() arg is an empty sequence", name)
			}
			best := items[0]
			for _, v := range items[1:] {
				if better(compare(v, best)) {
					best = v
				}
			}
			return best
		})
		Register("prim::"+name+"."+t+"_list("+t+"[] l, "+t+"[] r) -> "+t+"[]", func(a []tensor.Value) tensor.Value {
			if better(compare(a[1], a[0])) {
				return a[1]
			}
			return a[0]
		})
	}
	pick("min", func(c int) bool { return c < 0 })
	pick("max", func(c int) bool { return c > 0 })
	result := t
	if t == "bool" {
		result = "int"
	}
	Register("aten::sum."+t+"("+t+"[] self) -> "+result, func(a []tensor.Value) tensor.Value {
		var n int64
		var f float64
		for _, v := range list(a, 0).Items {
			n = int64(int32(n + v.N)) // PyTorch adds up in 32 bits
			f += float(&v)
		}
		if t == "float" {
			return tensor.FloatValue(f)
		}
		return intOf(n)
	})
}
