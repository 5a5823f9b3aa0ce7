package serialize

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"strings"
	"unicode/utf8"

	"github.com/gotorch-dev/torch/internal/pickle"
	"github.com/gotorch-dev/torch/serialize/npy"
	"github.com/gotorch-dev/torch/tensor"
)

// numpy decodes arrays and numbers of NumPy, which pickles describe as calls of its functions. Those of types that
// package npy does not know, objects and dates among them, are left to be described.
func (d *decoder) numpy(x *pickle.Object) (v any, ok bool, err error) {
	g := x.Global()
	if g == nil || !strings.HasPrefix(g.Module, "numpy") {
		return nil, false, nil
	}
	if a := d.arrays[x]; a != nil {
		return a, true, nil
	}
	var a *npy.Array
	switch {
	case g.Name == "_reconstruct" && strings.HasSuffix(g.Module, "core.multiarray"):
		st, _ := x.State.(pickle.Tuple) // version, shape, dtype, Fortran order, bytes
		if len(st) == 5 {
			fortran, _ := st[3].(bool)
			a = numpyArray(st[2], st[1], fortran, st[4])
		}
	case g.Name == "_frombuffer" && strings.HasSuffix(g.Module, "core.numeric"): // protocol 5
		if len(x.Args) == 4 {
			a = numpyArray(x.Args[1], x.Args[2], x.Args[3] == "F", x.Args[0])
		}
	case g.Name == "scalar" && strings.HasSuffix(g.Module, "core.multiarray"):
		if len(x.Args) == 2 {
			if a := numpyArray(x.Args[0], pickle.Tuple{}, false, x.Args[1]); a != nil {
				n, ok := numpyNumber(a)
				return n, ok, nil
			}
		}
	}
	if a == nil {
		return nil, false, nil
	}
	d.arrays[x] = a
	return a, true, nil
}

// numpyArray is nil where the parts do not make an array of package npy.
func numpyArray(dtype, shape pickle.Value, fortran bool, data pickle.Value) *npy.Array {
	descr := numpyDescr(dtype)
	dims, ok := shape.(pickle.Tuple)
	if descr == "" || !ok || len(dims) > 64 {
		return nil
	}
	sizes := make([]int, len(dims))
	for i, v := range dims {
		n, ok := v.(int64)
		if !ok || n < 0 || n > math.MaxInt {
			return nil
		}
		sizes[i] = int(n)
	}
	var b []byte
	switch x := data.(type) {
	case []byte:
		b = x
	case pickle.ByteArray:
		b = x
	case string: // the bytes of Python 2
		b = []byte(x)
	default:
		return nil
	}
	a, err := npy.New(descr, sizes, fortran, b)
	if err != nil {
		return nil
	}
	return a
}

// numpyDescr is the code with byte order of a pickled numpy.dtype, such as "<f4"; "" if it is none.
func numpyDescr(v pickle.Value) string {
	o, ok := v.(*pickle.Object)
	if !ok || !o.Global().Is("numpy", "dtype") || len(o.Args) == 0 {
		return ""
	}
	text := func(v pickle.Value) string {
		switch s := v.(type) {
		case string:
			return s
		case []byte:
			return string(s)
		}
		return ""
	}
	code := text(o.Args[0])
	order := "|"
	if st, ok := o.State.(pickle.Tuple); ok && len(st) > 1 {
		order = text(st[1])
	}
	if len(order) != 1 || code == "" {
		return ""
	}
	return order + code
}

// numpyNumber is the one element of an array as a Go value.
func numpyNumber(a *npy.Array) (any, bool) {
	if t, err := a.Tensor(); err == nil && t.Numel() == 1 {
		x := t.Num()
		switch dt := t.DType(); {
		case dt == tensor.Bool:
			return a.Data[0] != 0, true
		case dt.IsComplex():
			return x.C, true
		case dt.IsFloat():
			return x.F, true
		case a.DType != "uint64":
			return int(x.I), true
		}
	}
	switch le := binary.LittleEndian; {
	case a.DType == "uint16":
		return int(le.Uint16(a.Data)), true
	case a.DType == "uint32":
		return int(le.Uint32(a.Data)), true
	case a.DType == "uint64":
		if n := le.Uint64(a.Data); n > math.MaxInt64 {
			return new(big.Int).SetUint64(n), true
		}
		return int(le.Uint64(a.Data)), true
	case strings.HasPrefix(a.DType, "S"):
		return a.Data, true
	case strings.HasPrefix(a.DType, "<U"):
		var b []byte
		for p := a.Data; len(p) >= 4; p = p[4:] {
			if r := rune(le.Uint32(p)); r != 0 {
				b = utf8.AppendRune(b, r)
			}
		}
		return string(b), true
	}
	return nil, false
}

// array encodes an array as NumPy 2 pickles it.
func (e *encoder) array(a *npy.Array) (pickle.Value, error) {
	descr, err := a.Descr()
	if err != nil {
		return nil, e.path.errorf("%w", err)
	}
	if n := npy.ElementSize(a.DType) * a.NumElements(); n != len(a.Data) || strings.ContainsAny(descr, "USV") {
		return nil, e.path.errorf("cannot save an array of dtype %s and shape %v with %d bytes", a.DType, a.Shape,
			len(a.Data))
	}
	shape := make(pickle.Tuple, len(a.Shape))
	for i, n := range a.Shape {
		shape[i] = int64(n)
	}
	none := pickle.Tuple{int64(3), descr[:1], nil, nil, nil, int64(-1), int64(-1), int64(0)}
	dt := &pickle.Object{Class: &pickle.Global{Module: "numpy", Name: "dtype"},
		Args: pickle.Tuple{descr[1:], false, true}, State: none, HasState: true}
	return &pickle.Object{Class: &pickle.Global{Module: "numpy._core.multiarray", Name: "_reconstruct"},
		Args:  pickle.Tuple{&pickle.Global{Module: "numpy", Name: "ndarray"}, pickle.Tuple{int64(0)}, []byte("b")},
		State: pickle.Tuple{int64(1), shape, dt, a.FortranOrder, a.Data}, HasState: true}, nil
}

// describeArray says what an array of NumPy is, without its elements.
func describeArray(a *npy.Array) string {
	return fmt.Sprintf("array(..., shape=%s, dtype=%s)", tensor.ShapeString(a.Shape), a.DType)
}
