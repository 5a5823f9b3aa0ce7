package nn

import (
	"reflect"
	"unsafe"

	"github.com/gotorch-dev/torch/tensor"
)

// DeepCopy copies a module with all that belongs to it, as Python's copy.deepcopy does: parameters, buffers and other
// tensors, children, lists, maps, hooks and settings. What occurs several times in the module is copied once, so that
// tied weights stay tied. Copied parameters have no gradients. Functions, and what a module points to that holds
// neither tensors nor modules, such as a random number generator, are shared. A tensor that was computed with gradients
// is copied as a constant, where Python refuses it.
//
// An optimizer knows the parameters of the original: the copy needs its own.
func DeepCopy[M Module](m M) M {
	baseOf(m)
	c := copier{tensors: map[*Tensor]*Tensor{}, pointers: map[pointerTo]reflect.Value{}}
	out := c.pointer(reflect.ValueOf(m)).Interface().(M)
	if out.moduleBase().self != nil {
		settle(out)
	}
	return out
}

// pointerTo is an object: a struct and its first field have one address and two types.
type pointerTo struct {
	p unsafe.Pointer
	t reflect.Type
}

// copier remembers what it has copied.
type copier struct {
	tensors  map[*Tensor]*Tensor
	pointers map[pointerTo]reflect.Value
}

// settable is a value that may be written, also where it is a private field.
func settable(v reflect.Value) reflect.Value {
	return reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Elem()
}

// pointer copies what p points to.
func (c *copier) pointer(p reflect.Value) reflect.Value {
	key := pointerTo{p.UnsafePointer(), p.Type().Elem()}
	if q, ok := c.pointers[key]; ok {
		return q
	}
	q := reflect.New(p.Type().Elem())
	c.pointers[key] = q
	q.Elem().Set(p.Elem())
	c.deepen(q.Elem(), p.Elem())
	return q
}

// deepen turns a shallow copy of src in dst into a deep one. Both are addressable and may be written.
func (c *copier) deepen(dst, src reflect.Value) {
	t := dst.Type()
	switch {
	case t == tensorType:
		dst.Set(reflect.ValueOf(c.tensor(src.Interface().(*Tensor))))
		return
	case t == baseType:
		c.base(dst.Addr().Interface().(*Base), src.Addr().Interface().(*Base))
		return
	}
	switch t.Kind() {
	case reflect.Pointer:
		if modules, tensors := holdsCached(t.Elem()); !src.IsNil() && (modules || tensors) {
			dst.Set(c.pointer(src))
		}
	case reflect.Interface:
		if !src.IsNil() {
			dst.Set(c.value(src.Elem()))
		}
	case reflect.Struct:
		// what points to the original points to the copy
		c.pointers[pointerTo{src.Addr().UnsafePointer(), t}] = dst.Addr()
		for i := range t.NumField() {
			c.deepen(settable(dst.Field(i)), settable(src.Field(i)))
		}
	case reflect.Array:
		for i := range src.Len() {
			c.deepen(dst.Index(i), src.Index(i))
		}
	case reflect.Slice:
		if !src.IsNil() {
			s := reflect.MakeSlice(t, src.Len(), src.Len())
			reflect.Copy(s, src)
			for i := range src.Len() {
				c.deepen(s.Index(i), src.Index(i))
			}
			dst.Set(s)
		}
	case reflect.Map:
		if !src.IsNil() {
			m := reflect.MakeMapWithSize(t, src.Len())
			for it := src.MapRange(); it.Next(); {
				m.SetMapIndex(it.Key(), c.value(it.Value()))
			}
			dst.Set(m)
		}
	}
}

// value copies a value that has no address.
func (c *copier) value(v reflect.Value) reflect.Value {
	src, dst := reflect.New(v.Type()).Elem(), reflect.New(v.Type()).Elem()
	src.Set(v)
	dst.Set(v)
	c.deepen(dst, src)
	return dst
}

// tensor copies a tensor.
func (c *copier) tensor(t *Tensor) *Tensor {
	if t == nil {
		return nil
	}
	d, ok := c.tensors[t]
	if !ok {
		tensor.NoGrad(func() { d = t.Detach().Clone() })
		if t.IsParameter() {
			d.SetParameter()
		}
		if t.GradFn() == nil {
			d.SetRequiresGrad(t.RequiresGrad())
		}
		c.tensors[t] = d
	}
	return d
}

// base copies what all modules have. The hooks get the module that they are called for as an argument.
func (c *copier) base(dst, src *Base) {
	*dst = Base{eval: src.eval, extra: src.extra}
	c.deepen(reflect.ValueOf(&dst.extra).Elem(), reflect.ValueOf(&src.extra).Elem())
	if src.self != nil {
		dst.self = c.pointer(reflect.ValueOf(src.self)).Interface().(Module)
	}
	if h := src.hooks; h != nil {
		dst.hooks = &hooks{pre: append(h.pre[:0:0], h.pre...), post: append(h.post[:0:0], h.post...),
			back: append(h.back[:0:0], h.back...), backPre: append(h.backPre[:0:0], h.backPre...),
			around: append(h.around[:0:0], h.around...)}
		if h.standIn != nil {
			dst.hooks.standIn = c.pointer(reflect.ValueOf(h.standIn)).Interface().(Module)
		}
	}
}
