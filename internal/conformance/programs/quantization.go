package programs

import (
	"github.com/gotorch-dev/torch/internal/pylite"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/quantization"
	"github.com/gotorch-dev/torch/tensor"
)

// moduleClass is torch.nn.Module, the base of a program's classes of modules.
var moduleClass = attrs{"__name__": "Module"}

// Object is a module of a class that a program defines: its children are the attributes that are modules, and Forward
// calls the program's forward.
type Object struct {
	nn.Base
	obj *pylite.Object
	in  *pylite.Interp
}

// ClassName is the name of the program's class.
func (m *Object) ClassName() string { return m.obj.Class.Name }

// Forward calls the program's forward.
func (m *Object) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Run(m, x, func(x *tensor.Tensor) *tensor.Tensor {
		f, _ := m.obj.Class.Lookup("forward")
		return asTensor(m.in.Call(f, []any{m.obj, x}, nil))
	})
}

// New makes the module of an object whose class is one of modules.
func (h *Host) New(o *pylite.Object) any {
	if b, ok := o.Class.Host().(attrs); !ok || b["__name__"] != "Module" {
		return nil
	}
	return nn.New(&Object{obj: o, in: h.In})
}

// ModuleOf is the module of a value of a program, nil where it is none.
func ModuleOf(v any) nn.Module {
	switch x := v.(type) {
	case nn.Module:
		return x
	case *pylite.Object:
		if m, ok := x.Data.(*Object); ok {
			return m
		}
	}
	return nil
}

// setChild notes a module that becomes an attribute of a program's module.
func setChild(o *pylite.Object, name string, v any) {
	m, ok := o.Data.(*Object)
	child := ModuleOf(v)
	if ok && child != nil {
		nn.RegisterModule(m, name, child)
	}
}

// quantizing is a class of torch.ao.
func quantizing(name string) (any, bool) {
	make, ok := map[string]func() nn.Module{
		"QuantStub":       func() nn.Module { return quantization.NewQuantStub() },
		"DeQuantStub":     func() nn.Module { return quantization.NewDeQuantStub() },
		"FloatFunctional": func() nn.Module { return quantization.NewFloatFunctional() },
	}[name]
	return builtin(func([]any) any { return make() }), ok
}

// functionalAttr is a method of a FloatFunctional.
func functionalAttr(m *quantization.FloatFunctional, name string) (any, bool) {
	two, ok := map[string]func(a, b *tensor.Tensor) *tensor.Tensor{"add": m.Add, "add_relu": m.AddReLU, "mul": m.Mul,
		"matmul": m.MatMul}[name]
	if ok {
		return builtin(func(args []any) any { return two(asTensor(args[0]), asTensor(args[1])) }), true
	}
	switch name {
	case "cat":
		return pylite.Builtin(func(args []any, kw map[string]any) any {
			dim, _ := kw["dim"].(int)
			if len(args) > 1 {
				dim, _ = args[1].(int)
			}
			return m.Cat(tensorsOf(args[0]), dim)
		}), true
	case "add_scalar", "mul_scalar":
		f := m.AddScalar
		if name == "mul_scalar" {
			f = m.MulScalar
		}
		return builtin(func(args []any) any {
			switch n := args[1].(type) {
			case int:
				return f(asTensor(args[0]), float64(n))
			case float64:
				return f(asTensor(args[0]), n)
			}
			pylite.Throw("TypeError", "must be a number")
			return nil
		}), true
	}
	return nil, false
}

// scheme is a name of the module torch that stands for a quantization scheme.
func scheme(name string) (any, bool) {
	q, ok := tensor.ParseQScheme(name)
	return q, ok
}

// setBackend sets an attribute of a module of torch.backends.
func setBackend(module, name string, v any) bool {
	if module != "torch.backends.quantized" || name != "engine" {
		return false
	}
	e, err := quantization.ParseEngine(pylite.Str(v))
	if err != nil {
		pylite.Throw("RuntimeError", "%s", err)
	}
	quantization.SetEngine(e)
	return true
}
