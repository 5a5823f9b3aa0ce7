package graph

import "github.com/gotorch-dev/torch/tensor"

// This file has the operators on dictionaries. PyTorch has an overload for each type of keys.

func dict(a []tensor.Value, i int) *Dict {
	d, ok := a[i].X.(*Dict)
	if !ok {
		tensor.Fail(tensor.ErrType, "want a dictionary, not %s", describe(a[i]))
	}
	return d
}

func missingKey(k tensor.Value) {
	tensor.Fail(tensor.ErrIndex, "KeyError: %s", Text(k))
}

func pairs(d *Dict) tensor.Value {
	t := TupleOf(Any, Any)
	if d.Key != nil && d.Elem != nil {
		t = TupleOf(d.Key, d.Elem)
	}
	l := &List{Elem: t, Items: []tensor.Value{}}
	d.Each(func(k, v tensor.Value) { l.Items = append(l.Items, Box(&Tuple{Type: t, Items: []tensor.Value{k, v}})) })
	return Box(l)
}

func init() {
	none := tensor.Value{}
	for _, k := range []string{"str", "int", "bool", "float", "complex", "Tensor"} {
		d := "Dict(" + k + ", t)"
		set := func(a []tensor.Value) tensor.Value {
			dict(a, 0).Set(a[1], a[2])
			return none
		}
		Register("aten::_set_item."+k+"("+d+"(a!) l, "+k+"(b -> *) idx, t(c -> *) v) -> ()", set)
		Register("aten::__getitem__.Dict_"+k+"("+d+" self, "+k+" key) -> t(*)", func(a []tensor.Value) tensor.Value {
			v, ok := dict(a, 0).Get(a[1])
			if !ok {
				missingKey(a[1])
			}
			return v
		})
		Register("aten::__contains__."+k+"("+d+" dict, "+k+" key) -> bool", func(a []tensor.Value) tensor.Value {
			_, ok := dict(a, 0).Get(a[1])
			return tensor.BoolValue(ok)
		})
		Register("aten::get."+k+"("+d+" self, "+k+" key) -> t(*)?", func(a []tensor.Value) tensor.Value {
			v, _ := dict(a, 0).Get(a[1])
			return v
		})
		Register("aten::get.default_"+k+"("+d+" self, "+k+" key, t default_value) -> t(*)",
			func(a []tensor.Value) tensor.Value {
				if v, ok := dict(a, 0).Get(a[1]); ok {
					return v
				}
				return a[2]
			})
		Register("aten::setdefault."+k+"("+d+"(a!) self, "+k+"(b -> *) key, t(c -> *) default_value) -> t(*)",
			func(a []tensor.Value) tensor.Value {
				if v, ok := dict(a, 0).Get(a[1]); ok {
					return v
				}
				dict(a, 0).Set(a[1], a[2])
				return a[2]
			})
		Register("aten::Delete.Dict_"+k+"("+d+"(a!) self, "+k+" key) -> ()", func(a []tensor.Value) tensor.Value {
			if !dict(a, 0).Delete(a[1]) {
				missingKey(a[1])
			}
			return none
		})
		Register("aten::pop.Dict_"+k+"("+d+"(a!) self, "+k+" key) -> t(*)", func(a []tensor.Value) tensor.Value {
			v, ok := dict(a, 0).Get(a[1])
			if !ok {
				missingKey(a[1])
			}
			dict(a, 0).Delete(a[1])
			return v
		})
		Register("aten::pop.Dict_default_"+k+"("+d+"(a!) self, "+k+" key, t default_value) -> t(*)",
			func(a []tensor.Value) tensor.Value {
				v, ok := dict(a, 0).Get(a[1])
				if !ok {
					return a[2]
				}
				dict(a, 0).Delete(a[1])
				return v
			})
		Register("aten::popitem."+k+"("+d+"(a!) self) -> (("+k+", t))", func(a []tensor.Value) tensor.Value {
			d := dict(a, 0)
			if d.Len() == 0 {
				tensor.Fail(tensor.ErrIndex, "popitem(): dictionary is empty")
			}
			items, _ := ItemsOf(pairs(d)) // the first one goes, where Python takes the last
			kv, _ := ItemsOf(items[0])
			d.Delete(kv[0])
			return items[0]
		})
		Register("aten::len.Dict_"+k+"("+d+" self) -> int", func(a []tensor.Value) tensor.Value {
			return tensor.IntValue(dict(a, 0).Len())
		})
		Register("aten::keys."+k+"("+d+" self) -> "+k+"[](*)", func(a []tensor.Value) tensor.Value {
			d := dict(a, 0)
			l := &List{Elem: d.Key, Items: []tensor.Value{}}
			d.Each(func(k, _ tensor.Value) { l.Items = append(l.Items, k) })
			return Box(l)
		})
		Register("aten::values."+k+"("+d+" self) -> t[](*)", func(a []tensor.Value) tensor.Value {
			d := dict(a, 0)
			l := &List{Elem: d.Elem, Items: []tensor.Value{}}
			d.Each(func(_, v tensor.Value) { l.Items = append(l.Items, v) })
			return Box(l)
		})
		Register("aten::items."+k+"("+d+" self) -> (("+k+", t)[])", func(a []tensor.Value) tensor.Value {
			return pairs(dict(a, 0))
		})
		Register("aten::clear."+k+"("+d+"(a!) self) -> ()", func(a []tensor.Value) tensor.Value {
			dict(a, 0).Clear()
			return none
		})
		copied := func(a []tensor.Value) tensor.Value { return Box(dict(a, 0).Copy()) }
		Register("aten::copy.Dict_"+k+"("+d+"(a) self) -> "+d, copied)
		Register("aten::dict.Dict_"+k+"("+d+"(a) self) -> "+d, copied)
		Register("aten::update."+k+"("+d+"(a!) self, "+d+"(a!) to_add) -> ()", func(a []tensor.Value) tensor.Value {
			dict(a, 1).Each(dict(a, 0).Set)
			return none
		})
		Register("aten::dict."+k+"(("+k+", tVal)[] inputs) -> Dict("+k+", tVal)", func(a []tensor.Value) tensor.Value {
			d := NewDict(nil, nil)
			for _, p := range list(a, 0).Items {
				kv, _ := ItemsOf(p)
				if len(kv) != 2 {
					tensor.Fail(tensor.ErrValue, "dict() wants pairs")
				}
				d.Set(kv[0], kv[1])
			}
			return Box(d)
		})
	}
	Register("aten::dict() -> Dict(str, Tensor)",
		func([]tensor.Value) tensor.Value { return Box(NewDict(Str, Tensor)) })
}
