package pylite

func (in *Interp) position(i, n int) int {
	if i < 0 {
		i += n
	}
	if i < 0 || i >= n {
		Throw("IndexError", "list index out of range")
	}
	return i
}

func (in *Interp) index(v, i any) any {
	var list []any
	switch x := v.(type) {
	case *Dict:
		e, ok := x.Get(i)
		if !ok {
			Throw("KeyError", "%s", Repr(i))
		}
		return e
	case Tuple:
		list = x
	case *List:
		list = x.Elts
	case string:
		list = in.Iter(x)
	default:
		if o, ok := v.(*Object); ok {
			if m, ok := o.Class.Lookup("__getitem__"); ok {
				return in.Call(m, []any{o, i}, nil)
			}
		}
		if e, ok := in.Host.Index(v, i); ok {
			return e
		}
		Throw("TypeError", "'%s' object is not subscriptable", in.typeName(v))
	}
	if n, ok := number(i).(int); ok {
		return list[in.position(n, len(list))]
	}
	s, ok := i.(Slice)
	if !ok {
		Throw("TypeError", "list indices must be integers or slices, not %s", in.typeName(i))
	}
	var out []any
	for _, j := range s.Indices(len(list)) {
		out = append(out, list[j])
	}
	switch v.(type) {
	case Tuple:
		return Tuple(out)
	case string:
		b := ""
		for _, c := range out {
			b += c.(string)
		}
		return b
	}
	return &List{out}
}

// Indices lists the positions that a slice takes of n elements.
func (s Slice) Indices(n int) []int {
	step := 1
	if v, ok := s.Step.(int); ok {
		step = v
	}
	if step == 0 {
		Throw("ValueError", "slice step cannot be zero")
	}
	lo, hi := 0, n
	if step < 0 {
		lo, hi = n-1, -1
	}
	bound := func(v any, def int) int {
		i, ok := v.(int)
		if !ok {
			return def
		}
		if i < 0 {
			i += n
		}
		if step > 0 {
			return min(max(i, 0), n)
		}
		return min(max(i, -1), n-1)
	}
	lo, hi = bound(s.Lo, lo), bound(s.Hi, hi)
	var out []int
	for i := lo; step > 0 && i < hi || step < 0 && i > hi; i += step {
		out = append(out, i)
	}
	return out
}

func (in *Interp) setIndex(v, i, x any) {
	switch c := v.(type) {
	case *Dict:
		c.Set(i, x)
		return
	case *List:
		if n, ok := number(i).(int); ok {
			c.Elts[in.position(n, len(c.Elts))] = x
			return
		}
	case *Object:
		if m, ok := c.Class.Lookup("__setitem__"); ok {
			in.Call(m, []any{c, i, x}, nil)
			return
		}
	}
	if !in.Host.SetIndex(v, i, x) {
		Throw("TypeError", "'%s' object does not support item assignment", in.typeName(v))
	}
}
