package torchtest

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"sort"
	"strings"

	"github.com/gotorch-dev/torch/internal/pyfmt"
	"github.com/gotorch-dev/torch/tensor"
)

// CloseOptions are the options of [AssertClose]. RTol and ATol are given together or not at all; without them they
// follow from the dtype.
type CloseOptions struct {
	RTol, ATol    tensor.Opt[float64]
	EqualNaN      bool   // NaN equals NaN
	NoCheckDevice bool   // tensors may lie on different devices
	NoCheckDType  bool   // dtypes may differ: both are promoted before they are compared
	CheckStride   bool   // strides must be equal, too
	Msg           string // text of the error, in place of the one that tells the difference
}

// MismatchError is the error of values that are not close, Python's AssertionError.
type MismatchError struct{ Msg string }

// Error is PyTorch's text.
func (e *MismatchError) Error() string { return e.Msg }

// AssertClose compares two values as torch.testing.assert_close does and returns nil when they are close: where
// |actual - expected| <= ATol + RTol*|expected| holds for all elements, or they are equal. Values are tensors, numbers,
// bools, nil, and slices and maps of such values. The error is a [*MismatchError] with PyTorch's text, or another error
// for values that cannot be compared.
//
//	if err := torchtest.AssertClose(got, want); err != nil {
//		t.Error(err)
//	}
//
// Unlike Python's function it takes a number and a 0-d tensor for different kinds of values, and all integer types of
// Go for one.
//
// https://docs.pytorch.org/docs/stable/testing.html#torch.testing.assert_close
func AssertClose(actual, expected any, opts ...CloseOptions) error {
	var o CloseOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	_, r := o.RTol.Get()
	_, a := o.ATol.Get()
	if r != a {
		given := "atol"
		if a {
			given = "rtol"
		}
		return fmt.Errorf("both 'rtol' and 'atol' must be either specified or omitted, but got no %s", given)
	}
	var err error
	if e := tensor.Try(func() { err = o.compare(actual, expected, "") }); e != nil {
		return e
	}
	if _, ok := err.(*MismatchError); ok && o.Msg != "" {
		return &MismatchError{o.Msg}
	}
	return err
}

// tolerances are those of torch.testing: for each dtype, relative and absolute; none for integers.
func tolerances(dt tensor.DType) (rtol, atol float64) {
	switch dt {
	case tensor.Float16:
		return 1e-3, 1e-5
	case tensor.BFloat16:
		return 1.6e-2, 1e-5
	case tensor.Float32, tensor.Complex64:
		return 1.3e-6, 1e-5
	case tensor.Float64, tensor.Complex128:
		return 1e-7, 1e-7
	}
	return 0, 0
}

func (o *CloseOptions) limits(a, b tensor.DType) (rtol, atol float64) {
	ra, aa := tolerances(a)
	rb, ab := tolerances(b)
	return o.RTol.Or(max(ra, rb)), o.ATol.Or(max(aa, ab))
}

// compare compares two values; at is where they stand in containers.
func (o *CloseOptions) compare(a, b any, at string) error {
	x, xok := a.(*tensor.Tensor)
	y, yok := b.(*tensor.Tensor)
	switch {
	case isNil(a) && isNil(b):
		return nil
	case isNil(a) || isNil(b):
		return mismatch(at, "None mismatch: %s is not None", pythonText(pick(isNil(a), b, a)))
	case xok && yok:
		return o.tensors(x, y, at)
	case xok || yok:
		return incomparable(a, b)
	}
	va, vb := reflect.ValueOf(a), reflect.ValueOf(b)
	switch {
	case va.Kind() == reflect.Bool && vb.Kind() == reflect.Bool:
		if va.Bool() != vb.Bool() {
			return mismatch(at, "Booleans mismatch: %s is not %s", pyfmt.Repr(va.Bool()), pyfmt.Repr(vb.Bool()))
		}
		return nil
	case isSequence(va) && isSequence(vb):
		if va.Len() != vb.Len() {
			return mismatch(at, "The length of the sequences mismatch: %d != %d", va.Len(), vb.Len())
		}
		for i := range va.Len() {
			if err := o.compare(va.Index(i).Interface(), vb.Index(i).Interface(),
				at+fmt.Sprintf("[%d]", i)); err != nil {
				return err
			}
		}
		return nil
	case va.Kind() == reflect.Map && vb.Kind() == reflect.Map && va.Type().Key() == vb.Type().Key():
		return o.maps(va, vb, at)
	}
	na, ka := number(va)
	nb, kb := number(vb)
	if na == nil || nb == nil {
		return incomparable(a, b)
	}
	if ka != kb && !o.NoCheckDType {
		return mismatch(at, "The (d)types do not match: <class '%s'> != <class '%s'>.", ka, kb)
	}
	rtol, atol := o.limits(na.DType(), nb.DType())
	return o.scalars(na, nb, rtol, atol, at)
}

func pick(first bool, a, b any) any {
	if first {
		return a
	}
	return b
}

func isNil(x any) bool {
	t, ok := x.(*tensor.Tensor)
	return x == nil || ok && t == nil
}

func isSequence(v reflect.Value) bool { return v.Kind() == reflect.Slice || v.Kind() == reflect.Array }

// number is a Go number as a 0-d tensor of Python's type for it, with that type's name; nil for other values.
func number(v reflect.Value) (t *tensor.Tensor, kind string) {
	switch {
	case v.CanInt():
		return tensor.FromSlice([]int64{v.Int()}, []int{}...), "int"
	case v.CanUint() && v.Uint() <= math.MaxInt64:
		return tensor.FromSlice([]int64{int64(v.Uint())}, []int{}...), "int"
	case v.CanFloat():
		return tensor.FromSlice([]float64{v.Float()}, []int{}...), "float"
	case v.CanComplex():
		return tensor.FromSlice([]complex128{v.Complex()}, []int{}...), "complex"
	}
	return nil, ""
}

func (o *CloseOptions) maps(a, b reflect.Value, at string) error {
	lacking := func(x, y reflect.Value) (l []string, keys []reflect.Value) {
		for _, k := range x.MapKeys() {
			if !y.MapIndex(k).IsValid() {
				l = append(l, pyfmt.Repr(k.Interface()))
			}
			keys = append(keys, k)
		}
		sort.Strings(l)
		return l, keys
	}
	extra, keys := lacking(a, b)
	missing, _ := lacking(b, a)
	if len(extra)+len(missing) > 0 {
		text := "The keys of the mappings do not match:"
		if len(missing) > 0 {
			text += "\nMissing keys in the actual mapping: [" + strings.Join(missing, ", ") + "]"
		}
		if len(extra) > 0 {
			text += "\nAdditional keys in the actual mapping: [" + strings.Join(extra, ", ") + "]"
		}
		return mismatch(at, "%s", text)
	}
	slices.SortFunc(keys, func(x, y reflect.Value) int { return strings.Compare(fmt.Sprint(x), fmt.Sprint(y)) })
	for _, k := range keys {
		err := o.compare(a.MapIndex(k).Interface(), b.MapIndex(k).Interface(), at+"["+pyfmt.Repr(k.Interface())+"]")
		if err != nil {
			return err
		}
	}
	return nil
}

func mismatch(at, format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	if at != "" {
		text += "\n\nThe failure occurred for item " + at
	}
	return &MismatchError{text}
}

func incomparable(a, b any) error {
	return fmt.Errorf("no comparison pair was able to handle inputs of type %T and %T", a, b)
}

func pythonText(x any) string {
	if t, ok := x.(*tensor.Tensor); ok {
		return fmt.Sprint(t)
	}
	return pyfmt.Repr(x)
}

func (o *CloseOptions) tensors(a, b *tensor.Tensor, at string) error {
	attribute := func(name string, x, y any) error {
		return mismatch(at, "The values for attribute '%s' do not match: %v != %v.", name, x, y)
	}
	size := func(t *tensor.Tensor) string { return "torch.Size(" + tensor.ShapeString(t.Shape()) + ")" }
	switch {
	case !tensor.SameShape(a.Shape(), b.Shape()):
		return attribute("shape", size(a), size(b))
	case a.Device() != b.Device() && !o.NoCheckDevice:
		return attribute("device", a.Device(), b.Device())
	case a.DType() != b.DType() && !o.NoCheckDType:
		return attribute("dtype", a.DType(), b.DType())
	case o.CheckStride && !slices.Equal(a.Strides(), b.Strides()):
		return attribute("stride()", tuple(a.Strides()), tuple(b.Strides()))
	}
	rtol, atol := o.limits(a.DType(), b.DType())
	a, b = a.Detach(), b.Detach().To(a.Device())
	if dt := tensor.PromoteTypes(a.DType(), b.DType()); a.DType() != b.DType() {
		a, b = a.To(dt), b.To(dt)
	}
	if a.Dim() == 0 {
		return o.scalars(a, b, rtol, atol, at)
	}
	d := differencesOf(a, b, rtol, atol, o.EqualNaN)
	if d.bad == 0 {
		return nil
	}
	text := fmt.Sprintf("Tensor-likes are not %s!\n\nMismatched elements: %d / %d (%.1f%%)\n", closeOrEqual(rtol, atol),
		d.bad,
		a.Numel(), 100*float64(d.bad)/float64(a.Numel()))
	text += fmt.Sprintf("Greatest absolute difference: %s at index %s%s\n", pyfmt.Repr(d.absolute),
		place(a, d.absoluteAt),
		allowed(rtol, atol, atol))
	text += fmt.Sprintf("Greatest relative difference: %s at index %s%s", pyfmt.Repr(d.relative),
		place(a, d.relativeAt),
		allowed(rtol, atol, rtol))
	return mismatch(at, "%s", text)
}

func (o *CloseOptions) scalars(a, b *tensor.Tensor, rtol, atol float64, at string) error {
	d := differencesOf(a, b, rtol, atol, o.EqualNaN)
	if d.bad == 0 {
		return nil
	}
	return mismatch(at, "Scalars are not %s!\n\nExpected %s but got %s.\nAbsolute difference: %s%s\nRelative "+
		"difference: %s%s",
		closeOrEqual(rtol, atol), pyfmt.Repr(plain(b)), pyfmt.Repr(plain(a)), pyfmt.Repr(d.absolute),
		allowed(rtol, atol, atol),
		pyfmt.Repr(d.relative), allowed(rtol, atol, rtol))
}

func closeOrEqual(rtol, atol float64) string {
	if rtol == 0 && atol == 0 {
		return "equal"
	}
	return "close"
}

func allowed(rtol, atol, limit float64) string {
	if rtol == 0 && atol == 0 {
		return ""
	}
	return " (up to " + pyfmt.Repr(limit) + " allowed)"
}

// place is the index of an element as Python prints a tuple.
func place(t *tensor.Tensor, at int) string {
	ix := make([]int, t.Dim())
	for i := t.Dim() - 1; i >= 0; i-- {
		ix[i], at = at%t.Size(i), at/t.Size(i)
	}
	return tuple(ix)
}

func tuple(l []int) string {
	s := strings.Trim(tensor.ShapeString(l), "[]")
	if len(l) == 1 {
		s += ","
	}
	return "(" + s + ")"
}

// plain is the only element as a Go number.
func plain(t *tensor.Tensor) any {
	switch n := t.Num(); n.K {
	case tensor.KBool:
		return n.I != 0
	case tensor.KInt:
		return n.I
	case tensor.KFloat:
		return n.F
	default:
		return n.C
	}
}

// differences are what two tensors differ by.
type differences struct {
	bad                    int // elements that are not close
	absolute, relative     any // the greatest, numbers of the dtype that PyTorch computes them in
	absoluteAt, relativeAt int
}

// differencesOf compares two tensors of one shape and one dtype.
func differencesOf(a, b *tensor.Tensor, rtol, atol float64, equalNaN bool) (d differences) {
	call := func(name string, args ...tensor.Value) *tensor.Tensor {
		r, err := tensor.CallOp(name, args...)
		if err != nil {
			panic(err)
		}
		return r[0].T
	}
	if a.DType() == tensor.Bool { // bools have no difference
		a, b = a.To(tensor.Int64), b.To(tensor.Int64)
	}
	tv := tensor.TensorValue
	near := call("aten::isclose", tv(a), tv(b), tensor.FloatValue(rtol), tensor.FloatValue(atol),
		tensor.BoolValue(equalNaN))
	d.bad = a.Numel() - int(call("aten::sum", tv(near)).Num().I)
	if d.bad == 0 {
		return d
	}
	if a.DType().IsInt() {
		a, b = a.To(tensor.Int64), b.To(tensor.Int64)
	}
	greatest := func(x *tensor.Tensor) (any, int) {
		x = call("aten::masked_fill.Scalar", tv(x), tv(near), tensor.IntValue(0)).Reshape([]int{-1})
		at := int(call("aten::argmax", tv(x)).Num().I)
		return plain(x.Select(0, at)), at
	}
	diff := a.Sub(b).Abs()
	d.absolute, d.absoluteAt = greatest(diff)
	d.relative, d.relativeAt = greatest(diff.Div(b.Abs()))
	return d
}
