package torch_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/opstest"
	"github.com/gotorch-dev/torch/tensor"
)

// Every operator must answer nil and the zero Tensor in the place of each of its tensors with an *Error, or, where the
// argument is optional, may do without.
func TestOperatorsRefuseNilTensors(t *testing.T) {
	calls := 0
	for _, op := range tensor.Ops() {
		base := op
		for base.Base() != nil {
			base = base.Base()
		}
		params := op.Sch.Params
		fill := func() []tensor.Value {
			args := make([]tensor.Value, len(params))
			for i := range params {
				args[i] = plausible(&params[i])
			}
			return args
		}
		for i := range params {
			p := &params[i]
			if p.Kind != tensor.KTensor && p.Kind != tensor.KTensors {
				continue
			}
			bad := map[string]tensor.Value{"nil": {}, "zero": tensor.TensorValue(&torch.Tensor{})}
			if p.Kind == tensor.KTensors {
				bad["zero"] = tensor.TensorsValue([]*torch.Tensor{{}})
				bad["nil element"] = tensor.TensorsValue([]*torch.Tensor{nil})
				bad["no element"] = tensor.TensorsValue(nil)
			}
			for what, v := range bad {
				args := fill()
				args[i] = v
				calls++
				var err error
				text, panicked := opstest.Try(func() { _, err = op.Call(args...) })
				if text != "" {
					t.Errorf("%s: argument %s is %s: panics: %s", op.FullName(), p.Name, what, text)
					continue
				}
				if panicked != nil {
					err = panicked
				}
				must := what == "zero" || what == "nil" && !p.Optional || what == "nil element" && !p.ElemOpt
				if e := (*torch.Error)(nil); must && (!errors.As(err, &e) || !strings.Contains(e.Msg, "'"+p.Name+"'") &&
					!strings.Contains(e.Msg, "'out'")) {
					t.Errorf("%s: argument %s is %s: %v", op.FullName(), p.Name, what, err)
				}
			}
		}
	}
	if calls < 4000 {
		t.Errorf("only %d calls were made", calls)
	}
}

// plausible makes an argument that is at least of the right kind.
func plausible(p *tensor.Param) tensor.Value {
	if p.Default != nil {
		return *p.Default
	}
	switch p.Kind {
	case tensor.KTensor:
		return tensor.TensorValue(torch.Ones([]int{2, 2}))
	case tensor.KTensors:
		return tensor.TensorsValue([]*torch.Tensor{torch.Ones([]int{2, 2}), torch.Ones([]int{2, 2})})
	case tensor.KInt:
		return tensor.IntValue(1)
	case tensor.KFloat, tensor.KScalar:
		return tensor.FloatValue(0.5)
	case tensor.KBool:
		return tensor.BoolValue(false)
	case tensor.KInts:
		return tensor.IntsValue([]int{1, 1})
	case tensor.KFloats:
		return tensor.FloatsValue([]float64{1, 1})
	case tensor.KBools:
		return tensor.BoolsValue([]bool{true, true, true})
	case tensor.KStr:
		return tensor.StrValue("mean")
	}
	return tensor.Value{}
}

// Every method of Tensor must answer a nil receiver, a zero Tensor, and nil and zero Tensors among its arguments.
func TestTensorMethodsRefuseNilTensors(t *testing.T) {
	typ := reflect.TypeFor[*torch.Tensor]()
	tensors := map[string]func() *torch.Tensor{
		"nil":  func() *torch.Tensor { return nil },
		"zero": func() *torch.Tensor { return &torch.Tensor{} },
		"good": func() *torch.Tensor { return torch.Ones([]int{2, 2}) },
	}
	for i := range typ.NumMethod() {
		m := typ.Method(i)
		if m.Name == "Format" { // fmt calls it
			continue
		}
		for receiver, self := range tensors {
			for argument, arg := range tensors {
				if receiver == "good" && argument == "good" {
					continue
				}
				in := []reflect.Value{reflect.ValueOf(self())}
				n := m.Type.NumIn()
				if m.Type.IsVariadic() {
					n--
				}
				for j := 1; j < n; j++ {
					in = append(in, filled(m.Type.In(j), arg))
				}
				if text, _ := opstest.Try(func() { m.Func.Call(in) }); text != "" {
					t.Errorf("%s.%s(%s) panics: %s", receiver, m.Name, argument, text)
				}
				if m.Type.IsVariadic() { // once more with one value in the place of the variadic arguments
					in = append(in, filled(m.Type.In(n).Elem(), arg))
					if text, _ := opstest.Try(func() { m.Func.Call(in) }); text != "" {
						t.Errorf("%s.%s(…, %s) panics: %s", receiver, m.Name, argument, text)
					}
				}
			}
		}
	}
	for name, f := range tensors {
		if s := fmt.Sprintf("%v %d %s", f(), f(), f()); s == "" || strings.Contains(s, "PANIC") {
			t.Errorf("fmt prints the %s tensor as %q", name, s)
		}
	}
}

// filled makes an argument of a type, with the given tensor wherever it holds tensors.
func filled(t reflect.Type, tensor func() *torch.Tensor) reflect.Value {
	v := reflect.New(t).Elem()
	switch {
	case t == reflect.TypeFor[*torch.Tensor]():
		v.Set(reflect.ValueOf(tensor()))
	case t.Kind() == reflect.Slice:
		v.Set(reflect.Append(v, filled(t.Elem(), tensor)))
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			if t.Field(i).IsExported() && t.Field(i).Type == reflect.TypeFor[*torch.Tensor]() {
				v.Field(i).Set(reflect.ValueOf(tensor()))
			}
		}
	case t.Kind() == reflect.Interface && t.NumMethod() == 0:
		v.Set(reflect.ValueOf(tensor()))
	case t.Kind() == reflect.Func:
		v.Set(reflect.MakeFunc(t, func([]reflect.Value) []reflect.Value {
			out := make([]reflect.Value, t.NumOut())
			for i := range out {
				out[i] = reflect.Zero(t.Out(i))
			}
			return out
		}))
	}
	return v
}

func TestNilTensorsAreNamed(t *testing.T) {
	x := torch.Ones([]int{2})
	for want, f := range map[string]func(){
		"aten::add.Tensor: argument 'other' is nil": func() { x.Add(nil) },
		"[aten::norm":                               func() { x.Grad().Norm() },
		"Grad() is nil until Backward":              func() { x.Grad().Norm() },
		"argument 'other' is a zero torch.Tensor":   func() { x.Mul(&torch.Tensor{}) },
		"the tensor is nil, or a zero torch.Tensor": func() { _ = x.Grad().Shape() },
		"element 1 of argument 'tensors' is nil":    func() { torch.Cat([]*torch.Tensor{x, nil}) },
		"[Tensor.Item()]":                           func() { (&torch.Tensor{}).Item() },
	} {
		err := torch.Try(f)
		if !errors.Is(err, torch.ErrType) || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "nil_test.go:") {
			t.Errorf("%v, not %q", err, want)
		}
	}
}
