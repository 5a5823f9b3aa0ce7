package graph

import (
	"fmt"
	"slices"

	"github.com/gotorch-dev/torch/tensor"
)

// Values at run time are those of the operator registry, tensor.Value: numbers, bools, None and tensors lie in them
// without an allocation. Lists, dictionaries, tuples and objects are of kind KAny and point to the types of this file.
// Like Python's, a list, a dictionary or an object that two variables hold is one.

// List is a list.
type List struct {
	Elem  *Type // of the elements, nil when unknown
	Items []tensor.Value
}

// Tuple is a tuple; Type has the names of a named one, and may be nil.
type Tuple struct {
	Type  *Type
	Items []tensor.Value
}

// Object is an instance of a class.
type Object struct {
	Class *Class
	Slots []tensor.Value // as Class.Attrs
}

// Enum is a member of an enumeration.
type Enum struct {
	Class *Class
	Name  string
	Value tensor.Value
}

// Future is the result of a forked call.
type Future struct {
	Value tensor.Value
}

// FuncValue is a function as a value, with the values that it has captured.
type FuncValue struct {
	Func     *Function
	Captured []tensor.Value
}

// Box makes a value of one of this file's types, or of a front end's own.
func Box(x any) tensor.Value { return tensor.AnyValue(x) }

// NewList makes a list of these values.
func NewList(elem *Type, items ...tensor.Value) tensor.Value {
	return Box(&List{Elem: elem, Items: items})
}

// NewTuple makes a tuple of these values.
func NewTuple(items ...tensor.Value) tensor.Value { return Box(&Tuple{Items: items}) }

// Attr is an attribute of a class.
type Attr struct {
	Name string
	Type *Type
	// Parameter and Buffer tell the tensors of modules apart.
	Parameter, Buffer bool
}

// Class is a class, a module's type, an interface or an enumeration.
type Class struct {
	Name    string // qualified: "__torch__.torchvision.models.resnet.ResNet"
	Module  bool
	Attrs   []Attr
	Methods map[string]*Function
	Order   []string                // of the methods' names, as they were added
	Consts  map[string]tensor.Value // class constants
	// Wants are the methods of an interface.
	Wants map[string]*Schema
	// Hooks are the methods that run before and after a module's forward, by name.
	Hooks struct{ Pre, Post []string }
	// Members are those of an enumeration, in order.
	Members []*Enum
	Type    *Type

	index map[string]int
}

// NewClass makes a class without attributes and methods; kind is ClassType, InterfaceType or EnumType.
func NewClass(name string, kind TypeKind) *Class {
	c := &Class{Name: name, Methods: map[string]*Function{}, Consts: map[string]tensor.Value{}, index: map[string]int{}}
	c.Type = &Type{Kind: kind, Class: c}
	return c
}

// AddAttr adds an attribute and returns its number; one of that name stays.
func (c *Class) AddAttr(a Attr) int {
	if i, ok := c.index[a.Name]; ok {
		return i
	}
	c.index[a.Name] = len(c.Attrs)
	c.Attrs = append(c.Attrs, a)
	return len(c.Attrs) - 1
}

// AttrIndex finds an attribute, -1 when there is none.
func (c *Class) AttrIndex(name string) int {
	if i, ok := c.index[name]; ok {
		return i
	}
	return -1
}

// AddMethod adds a method under its short name.
func (c *Class) AddMethod(name string, f *Function) {
	if c.Methods[name] == nil {
		c.Order = append(c.Order, name)
	}
	c.Methods[name] = f
}

// Implements reports that a class or an interface has the methods that an interface wants.
func (c *Class) Implements(i *Class) bool {
	for name := range i.Wants {
		if c.Methods[name] == nil && c.Wants[name] == nil {
			return false
		}
	}
	return true
}

// Member finds a member of an enumeration, nil when there is none.
func (c *Class) Member(name string) *Enum {
	for _, m := range c.Members {
		if m.Name == name {
			return m
		}
	}
	return nil
}

// NewObject makes an instance whose attributes are None.
func NewObject(c *Class) *Object { return &Object{Class: c, Slots: make([]tensor.Value, len(c.Attrs))} }

// Attr is the value of an attribute; ok is false when there is none of that name.
func (o *Object) Attr(name string) (v tensor.Value, ok bool) {
	i := o.Class.AttrIndex(name)
	if i < 0 || i >= len(o.Slots) {
		return tensor.Value{}, false
	}
	return o.Slots[i], true
}

// SetAttr changes an attribute. It reports whether there is one of that name.
func (o *Object) SetAttr(name string, v tensor.Value) bool {
	i := o.Class.AttrIndex(name)
	if i < 0 || i >= len(o.Slots) {
		return false
	}
	o.Slots[i] = v
	return true
}

// Dict is a dictionary that keeps the order of insertion. Keys are numbers, strings, and tensors by identity.
type Dict struct {
	Key, Elem *Type
	keys      []tensor.Value
	vals      []tensor.Value
	live      int
	gone      []bool
	index     map[any]int
}

// NewDict makes an empty dictionary; the types may be nil.
func NewDict(key, elem *Type) *Dict { return &Dict{Key: key, Elem: elem, index: map[any]int{}} }

// hash is what equal keys have in common.
func hash(k tensor.Value) any {
	switch k.K {
	case tensor.KInt, tensor.KBool:
		return k.N
	case tensor.KFloat:
		if f := k.Float(); f == float64(int64(f)) {
			return int64(f)
		}
		return k.Float()
	case tensor.KStr, tensor.KComplex, tensor.KDevice:
		return k.X
	case tensor.KTensor:
		return k.T
	case tensor.KAny:
		switch x := k.X.(type) {
		case *Enum:
			return x.Class.Name + "." + x.Name
		case *Object, *List, *Tuple, *Dict:
			return x
		}
	}
	tensor.Fail(tensor.ErrType, "%s cannot be the key of a dictionary", k)
	return nil
}

// Len is the number of entries.
func (d *Dict) Len() int { return d.live }

// Get finds a value.
func (d *Dict) Get(k tensor.Value) (v tensor.Value, ok bool) {
	i, ok := d.index[hash(k)]
	if !ok {
		return tensor.Value{}, false
	}
	return d.vals[i], true
}

// Set adds or changes an entry.
func (d *Dict) Set(k, v tensor.Value) {
	h := hash(k)
	if i, ok := d.index[h]; ok {
		d.vals[i] = v
		return
	}
	d.index[h] = len(d.keys)
	d.keys, d.vals, d.gone = append(d.keys, k), append(d.vals, v), append(d.gone, false)
	d.live++
}

// Delete removes an entry and reports whether there was one.
func (d *Dict) Delete(k tensor.Value) bool {
	h := hash(k)
	i, ok := d.index[h]
	if !ok {
		return false
	}
	delete(d.index, h)
	d.keys[i], d.vals[i], d.gone[i] = tensor.Value{}, tensor.Value{}, true
	if d.live--; d.live < len(d.keys)/2 {
		d.compact()
	}
	return true
}

func (d *Dict) compact() {
	n := 0
	for i := range d.keys {
		if !d.gone[i] {
			d.keys[n], d.vals[n], d.gone[n] = d.keys[i], d.vals[i], false
			d.index[hash(d.keys[n])] = n
			n++
		}
	}
	clear(d.keys[n:])
	clear(d.vals[n:])
	d.keys, d.vals, d.gone = d.keys[:n], d.vals[:n], d.gone[:n]
}

// Each calls f with the entries in order.
func (d *Dict) Each(f func(k, v tensor.Value)) {
	for i := range d.keys {
		if !d.gone[i] {
			f(d.keys[i], d.vals[i])
		}
	}
}

// Clear removes all entries.
func (d *Dict) Clear() { *d = *NewDict(d.Key, d.Elem) }

// Copy is a dictionary with the same entries.
func (d *Dict) Copy() *Dict {
	c := NewDict(d.Key, d.Elem)
	d.Each(c.Set)
	return c
}

// ItemsOf are the elements of a list or a tuple, whatever its representation; ok is false for other values.
func ItemsOf(v tensor.Value) (items []tensor.Value, ok bool) {
	switch x := v.X.(type) {
	case *List:
		return x.Items, true
	case *Tuple:
		return x.Items, true
	case []*tensor.Tensor:
		for _, t := range x {
			items = append(items, tensor.TensorValue(t))
		}
		return items, true
	case []int:
		for _, n := range x {
			if v.K == tensor.KBools {
				items = append(items, tensor.BoolValue(n != 0))
			} else {
				items = append(items, tensor.IntValue(n))
			}
		}
		return items, true
	case []float64:
		for _, f := range x {
			items = append(items, tensor.FloatValue(f))
		}
		return items, true
	}
	return nil, false
}

// Normal gives a value of the registry the form that it has in a program: its lists become a *List.
func Normal(v tensor.Value) tensor.Value {
	switch v.K {
	case tensor.KTensors, tensor.KInts, tensor.KFloats, tensor.KBools, tensor.KScalars:
		if items, ok := ItemsOf(v); ok {
			return NewList(typeOfKind(v.K, false).Elems[0], items...)
		}
	case tensor.KDType:
		return tensor.IntValue(DTypeNumber(tensor.DType(v.N)))
	case tensor.KFormat:
		return tensor.IntValue(slices.Index(formats[:], tensor.MemoryFormat(v.N)))
	}
	return v
}

// dtypes are the numbers of PyTorch's enumeration ScalarType.
var dtypes = [...]tensor.DType{0: tensor.Uint8, 1: tensor.Int8, 2: tensor.Int16, 3: tensor.Int32, 4: tensor.Int64,
	5: tensor.Float16, 6: tensor.Float32, 7: tensor.Float64, 8: tensor.Complex32, 9: tensor.Complex64,
	10: tensor.Complex128, 11: tensor.Bool, 12: tensor.QInt8, 13: tensor.QUInt8, 14: tensor.QInt32, 15: tensor.BFloat16,
	16: tensor.QUInt4x2, 17: tensor.QUInt2x4, 18: tensor.Bits1x8, 19: tensor.Bits2x4, 20: tensor.Bits4x2,
	21: tensor.Bits8, 22: tensor.Bits16, 23: tensor.Float8E5M2, 24: tensor.Float8E4M3FN,
	25: tensor.Float8E5M2FNUZ, 26: tensor.Float8E4M3FNUZ, 27: tensor.Uint16, 28: tensor.Uint32, 29: tensor.Uint64,
	30: tensor.Uint1, 31: tensor.Uint2, 32: tensor.Uint3, 33: tensor.Uint4, 34: tensor.Uint5, 35: tensor.Uint6,
	36: tensor.Uint7, 37: tensor.Int1, 38: tensor.Int2, 39: tensor.Int3, 40: tensor.Int4, 41: tensor.Int5,
	42: tensor.Int6, 43: tensor.Int7, 44: tensor.Float8E8M0FNU, 45: tensor.Float4E2M1FNx2, 46: tensor.BComplex32}

// formats are the numbers of PyTorch's enumeration MemoryFormat.
var formats = [...]tensor.MemoryFormat{tensor.ContiguousFormat, tensor.PreserveFormat, tensor.ChannelsLast,
	tensor.ChannelsLast3d}

// DTypeOf is the dtype with a number of PyTorch's enumeration ScalarType.
func DTypeOf(n int) (tensor.DType, error) {
	if n < 0 || n >= len(dtypes) || dtypes[n] == 0 {
		return 0, &tensor.Error{Msg: fmt.Sprintf("the dtype with number %d in PyTorch's ScalarType does not exist here",
			n),
			Err: tensor.ErrDType}
	}
	return dtypes[n], nil
}

// DTypeNumber is the number of a dtype in PyTorch's enumeration ScalarType, -1 for a dtype without one.
func DTypeNumber(d tensor.DType) int {
	if d == 0 {
		return -1
	}
	return slices.Index(dtypes[:], d)
}
