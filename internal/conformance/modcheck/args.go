package modcheck

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// args are a constructor's arguments under their Python names.
type args struct {
	cls  string
	vals map[string]any
	used map[string]bool
}

// argError is an argument that cannot be passed on.
type argError string

func (e argError) Error() string { return string(e) }

func (a *args) fail(format string, v ...any) {
	panic(argError(a.cls + ": " + fmt.Sprintf(format, v...)))
}

// bind gives positional arguments their names.
func bind(m golden.Module, names []string) *args {
	a := &args{cls: m.Cls, vals: map[string]any{}, used: map[string]bool{}}
	if len(names) == 1 && names[0] == "*" { // takes any arguments, and looks at none
		return a
	}
	for i, v := range m.Args {
		if i >= len(names) {
			a.fail("takes %d positional arguments, got %d", len(names), len(m.Args))
		}
		a.vals[names[i]] = v
	}
	for k, v := range m.Kwargs {
		a.vals[k] = v
	}
	return a
}

// Python's arguments that change nothing here.
var ignored = map[string]bool{"device": true, "size_average": true, "reduce": true, "enable_nested_tensor": true,
	"mask_check": true, "process_group": true}

// done refuses arguments that nobody read.
func (a *args) done() {
	for k, v := range a.vals {
		if !a.used[k] && !ignored[k] && v != nil {
			a.fail("argument %s is not known", k)
		}
	}
}

func (a *args) get(name string) any {
	a.used[name] = true
	return a.vals[name]
}

func (a *args) Int(name string) int {
	n, ok := a.get(name).(int)
	if !ok {
		a.fail("%s is %v, want an int", name, a.vals[name])
	}
	return n
}

func (a *args) Ints(name string) []int {
	s := a.Size(name)
	return []int(s)
}

func (a *args) Scalar(name string) tensor.Scalar { return a.get(name) }

func (a *args) Size(name string) nn.Size {
	s, ok := toSize(a.get(name))
	if !ok {
		a.fail("%s is %v, want a size", name, a.vals[name])
	}
	return s
}

// IsTorchSize reports an argument that is a torch.Size.
func (a *args) IsTorchSize(name string) bool {
	_, ok := a.get(name).(golden.Size)
	return ok
}

func (a *args) Layer(name string) nn.Layer {
	l, _ := a.get(name).(nn.Layer)
	return l
}

func seq(v any) ([]any, bool) {
	switch x := v.(type) {
	case golden.List:
		return x, true
	case golden.Tuple:
		return x, true
	case golden.Size:
		return x, true
	}
	return nil, false
}

func toSize(v any) (nn.Size, bool) {
	switch x := v.(type) {
	case nil:
		return nil, true
	case int:
		return nn.Size{x}, true
	case string:
		switch x {
		case "same":
			return nn.PaddingSame, true
		case "valid":
			return nn.PaddingValid, true
		}
	}
	l, ok := seq(v)
	if !ok {
		return nil, false
	}
	out := nn.Size{}
	for _, e := range l {
		switch n := e.(type) {
		case int:
			out = append(out, n)
		case nil:
			out = append(out, nn.SameSize)
		default:
			return nil, false
		}
	}
	return out, true
}

func toFloat(v any) (float64, bool) {
	switch x := v.(type) {
	case float64:
		return x, true
	case int:
		return float64(x), true
	}
	return 0, false
}

func plainName(s string) string { return strings.ToLower(strings.ReplaceAll(s, "_", "")) }

// opts fills an options struct: each field takes the argument of its name; NoX takes X inverted.
func opts[T any](a *args) T {
	var o T
	fill(a, reflect.ValueOf(&o).Elem())
	return o
}

func fill(a *args, v reflect.Value) {
	t := v.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			fill(a, v.Field(i))
			continue
		}
		for name, x := range a.vals {
			if ignored[name] { // the case says where it runs
				continue
			}
			p := plainName(name)
			switch plain := plainName(f.Name); {
			case f.Name == "ReLU" && name == "nonlinearity":
				v.Field(i).SetBool(x == "relu")
			case f.Name == "CumulativeMean" && name == "momentum":
				v.Field(i).SetBool(x == nil)
			case p == plain && x != nil:
				set(a, name, v.Field(i), x)
			case "no"+p == plain && f.Type.Kind() == reflect.Bool:
				b, ok := x.(bool)
				if !ok {
					a.fail("%s is %v, want a bool", name, x)
				}
				v.Field(i).SetBool(!b)
			default:
				continue
			}
			a.used[name] = true
		}
	}
}

func set(a *args, name string, f reflect.Value, x any) {
	ok := true
	switch p := f.Addr().Interface().(type) {
	case *tensor.Opt[int]:
		var n int
		n, ok = x.(int)
		*p = tensor.Some(n)
	case *tensor.Opt[float64]:
		var n float64
		n, ok = toFloat(x)
		*p = tensor.Some(n)
	case *tensor.Opt[bool]:
		var b bool
		b, ok = x.(bool)
		*p = tensor.Some(b)
	case *tensor.Scalar:
		*p = x
	case **tensor.Tensor:
		*p, ok = x.(*tensor.Tensor)
	case *tensor.Device:
		if s, isText := x.(string); isText && s == "cpu" {
			x = golden.Device
		}
		*p, ok = x.(tensor.Device)
	case *tensor.DType:
		*p, ok = x.(tensor.DType)
	case *nn.Size:
		*p, ok = toSize(x)
	case *int:
		*p, ok = x.(int)
	case *float64:
		*p, ok = toFloat(x)
	case *bool:
		*p, ok = x.(bool)
	case *[]float64:
		if n, one := toFloat(x); one {
			*p = []float64{n}
			break
		}
		var l []any
		l, ok = seq(x)
		for _, e := range l {
			n, _ := toFloat(e)
			*p = append(*p, n)
		}
	case **nn.LinearCrossEntropyOptions:
		o, isObj := x.(golden.Object)
		ok = isObj
		b := &args{cls: o.Cls, vals: o.Fields, used: map[string]bool{}}
		v := opts[nn.LinearCrossEntropyOptions](b)
		*p = &v
	case *string:
		*p, ok = x.(string)
	case *nn.Activation:
		switch fmt.Sprint(x) {
		case "torch.nn.functional.relu", "relu":
			*p = nn.ActivationReLU
		case "torch.nn.functional.gelu", "gelu":
			*p = nn.ActivationGELU
		default:
			ok = false
		}
	default: // an enumeration: find the value that prints like the text
		text, isText := x.(string)
		ok = isText && f.Kind() == reflect.Uint8 && setEnum(f, text)
	}
	if !ok {
		a.fail("%s: cannot use %v as %s", name, x, f.Type())
	}
}

func setEnum(f reflect.Value, text string) (ok bool) {
	defer func() { // some String panic beyond the last value
		if recover() != nil {
			ok = false
		}
	}()
	for i := range uint64(1 << 8) {
		f.SetUint(i)
		if f.Addr().MethodByName("String").Call(nil)[0].String() == text {
			return true
		}
	}
	return false
}
