package filecheck

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/serialize/npy"
	"github.com/gotorch-dev/torch/tensor"
)

// hasObjects reports descriptions of objects or classes in a value.
func hasObjects(v any) bool {
	found := false
	walk(v, map[any]bool{}, func(v any) {
		switch v.(type) {
		case *serialize.Object, serialize.Global:
			found = true
		}
	})
	return found
}

// walk calls f for each value in v once.
func walk(v any, seen map[any]bool, f func(any)) {
	f(v)
	id := func(p any, n int) bool {
		key := [2]any{p, n}
		if seen[key] {
			return true
		}
		seen[key] = true
		return false
	}
	switch x := v.(type) {
	case []any:
		if len(x) > 0 && !id(&x[0], len(x)) {
			for _, e := range x {
				walk(e, seen, f)
			}
		}
	case serialize.Tuple:
		if len(x) > 0 && !id(&x[0], len(x)) {
			for _, e := range x {
				walk(e, seen, f)
			}
		}
	case *serialize.Dict:
		if !id(x, 0) {
			for k, e := range x.All() {
				walk(k, seen, f)
				walk(e, seen, f)
			}
		}
	}
}

// same says what differs between two values, of which the second was made from the first.
func same(a, b any) error {
	c := comparer{seen: map[[2]any]bool{}}
	return c.value("v", a, b)
}

type comparer struct{ seen map[[2]any]bool }

func (c *comparer) once(a, b any) bool {
	k := [2]any{a, b}
	if c.seen[k] {
		return false
	}
	c.seen[k] = true
	return true
}

func (c *comparer) items(at string, a, b []any) error {
	if len(a) != len(b) {
		return fmt.Errorf("%s: %d items, then %d", at, len(a), len(b))
	}
	if len(a) == 0 || !c.once(&a[0], &b[0]) {
		return nil
	}
	for i := range a {
		if err := c.value(fmt.Sprintf("%s[%d]", at, i), a[i], b[i]); err != nil {
			return err
		}
	}
	return nil
}

func (c *comparer) value(at string, a, b any) error {
	if reflect.TypeOf(a) != reflect.TypeOf(b) {
		return fmt.Errorf("%s: %T, then %T", at, a, b)
	}
	var ok bool
	switch x := a.(type) {
	case []any:
		return c.items(at, x, b.([]any))
	case serialize.Tuple:
		return c.items(at, x, b.(serialize.Tuple))
	case *serialize.Dict:
		y := b.(*serialize.Dict)
		if x.Len() != y.Len() {
			return fmt.Errorf("%s: %d entries, then %d", at, x.Len(), y.Len())
		}
		if !c.once(x, y) {
			return nil
		}
		for k, v := range x.All() {
			if err := c.value(fmt.Sprintf("%s[%v]", at, serialize.Repr(k)), v, y.Get(k)); err != nil {
				return err
			}
		}
		return nil
	case *serialize.Object:
		y := b.(*serialize.Object)
		if !c.once(x, y) {
			return nil
		}
		if x.Class != y.Class {
			return fmt.Errorf("%s: class %s, then %s", at, x.Class, y.Class)
		}
		if err := c.value(at+" arguments", x.Args, y.Args); err != nil {
			return err
		}
		return c.value(at+" state", x.State, y.State)
	case *tensor.Tensor:
		y := b.(*tensor.Tensor)
		ok = x.DType() == y.DType() && slices.Equal(x.Shape(), y.Shape()) && x.RequiresGrad() == y.RequiresGrad() &&
			bytes.Equal(elements(x), elements(y))
	case *serialize.Opaque:
		y := b.(*serialize.Opaque)
		n := min(x.Storage.NumBytes(), y.Storage.NumBytes())
		ok = x.String() == y.String() && bytes.Equal(x.Storage.Bytes()[:n], y.Storage.Bytes()[:n])
	case float64:
		ok = math.Float64bits(x) == math.Float64bits(b.(float64))
	case complex128:
		y := b.(complex128)
		ok = math.Float64bits(real(x)) == math.Float64bits(real(y)) &&
			math.Float64bits(imag(x)) == math.Float64bits(imag(y))
	case *serialize.Set:
		ok = fmt.Sprint(x.Items()) == fmt.Sprint(b.(*serialize.Set).Items())
	case *npy.Array:
		y := b.(*npy.Array)
		ok = x.DType == y.DType && slices.Equal(x.Shape, y.Shape) && x.FortranOrder == y.FortranOrder &&
			bytes.Equal(x.Data, y.Data)
	default:
		ok = reflect.DeepEqual(a, b)
	}
	if !ok {
		return fmt.Errorf("%s differs: %.200s, then %.200s", at, serialize.Repr(a), serialize.Repr(b))
	}
	return nil
}

// elements are the bytes of a tensor in row-major order.
func elements(t *tensor.Tensor) []byte {
	if t.Numel() == 0 || t.Device().Type == tensor.MetaDevice {
		return nil
	}
	d := tensor.Dense(tensor.HostCopy(tensor.Resolved(t.Detach())))
	from := d.StorageOffset() * d.ElementSize()
	return d.Storage().Bytes()[from : from+d.Numel()*d.ElementSize()]
}
