package programs

import (
	"github.com/gotorch-dev/torch/internal/conformance/opcheck"
	"github.com/gotorch-dev/torch/internal/pylite"
	"github.com/gotorch-dev/torch/tensor"
)

// conversions are methods of tensors that convert the elements.
var conversions = map[string]tensor.DType{"float": tensor.Float32, "double": tensor.Float64, "half": tensor.Float16,
	"bfloat16": tensor.BFloat16, "long": tensor.Int64, "int": tensor.Int32, "bool": tensor.Bool}

// tensorAttr is an attribute or a method of a tensor.
func (h *Host) tensorAttr(t *tensor.Tensor, name string) any {
	switch name {
	case "shape":
		return ToPython(t.Shape())
	case "ndim":
		return t.Dim()
	case "dtype":
		return t.DType()
	case "layout":
		return t.Layout()
	case "device":
		return t.Device()
	case "grad":
		if g := t.Grad(); g != nil {
			return g
		}
		return nil
	case "grad_fn":
		if n := t.GradFn(); n != nil {
			return n
		}
		return nil
	case "requires_grad":
		return t.RequiresGrad()
	case "is_leaf":
		return t.IsLeaf()
	case "data":
		return t.Detach()
	case "_version":
		return t.Version()
	case "T", "mT", "H", "mH", "real", "imag":
		return h.call(opcheck.Names("torch.Tensor."+name), []any{t}, nil)
	case "backward":
		return pylite.Builtin(func(args []any, kw map[string]any) any {
			o := tensor.BackwardOptions{Gradient: asTensor(kw["gradient"]), RetainGraph: kw["retain_graph"] == true,
				CreateGraph: kw["create_graph"] == true, Inputs: tensorsOf(kw["inputs"])}
			if len(args) > 0 {
				o.Gradient = asTensor(args[0])
			}
			t.Backward(o)
			return nil
		})
	case "requires_grad_":
		return builtin(func(args []any) any {
			t.SetRequiresGrad(len(args) == 0 || args[0] == true)
			return t
		})
	case "qscheme":
		return builtin(func([]any) any { return t.QScheme() })
	case "element_size":
		return builtin(func([]any) any { return t.ElementSize() })
	case "detach":
		return builtin(func([]any) any { return t.Detach() })
	case "item", "__float__", "__int__":
		return builtin(func([]any) any { return number(t) })
	case "tolist":
		return builtin(func([]any) any { return toList(t) })
	case "size":
		return builtin(func(args []any) any {
			if len(args) == 0 {
				return ToPython(t.Shape())
			}
			return t.Size(args[0].(int))
		})
	case "dim":
		return builtin(func([]any) any { return t.Dim() })
	case "numel":
		return builtin(func([]any) any { return t.Numel() })
	case "cpu":
		return builtin(func([]any) any { return t.CPU() })
	case "view", "reshape", "expand", "repeat", "permute":
		return pylite.Builtin(func(args []any, kw map[string]any) any {
			return h.call(opcheck.Names("torch.Tensor."+name), append([]any{t}, sizes(args)...), kw)
		})
	case "register_hook":
		return builtin(func(args []any) any {
			hook := t.RegisterHook(func(g *tensor.Tensor) *tensor.Tensor {
				return asTensor(h.In.Call(args[0], []any{g},
					nil))
			})
			return attrs{"remove": builtin(func([]any) any { hook.Remove(); return nil })}
		})
	case "to":
		return pylite.Builtin(func(args []any, kw map[string]any) any {
			var list []any
			for _, a := range args {
				list = append(list, h.device(a))
			}
			if d, ok := kw["dtype"]; ok {
				list = append(list, d)
			}
			return t.To(list...)
		})
	}
	if dt, ok := conversions[name]; ok {
		return builtin(func([]any) any { return t.ToDType(dt) })
	}
	names := opcheck.Names("torch.Tensor." + name)
	if !opcheck.Exists(names) {
		pylite.Throw("AttributeError", "'Tensor' object has no attribute '%s'", name)
	}
	return pylite.Builtin(func(args []any,
		kw map[string]any) any {
		return h.call(names, append([]any{t}, args...), kw)
	})
}

// number is the element of a tensor as Python has it.
func number(t *tensor.Tensor) any {
	n := t.Num()
	switch n.K {
	case tensor.KInt:
		return int(n.I)
	case tensor.KBool:
		return n.I != 0
	}
	return n.F
}

func toList(t *tensor.Tensor) any {
	if t.Dim() == 0 {
		return number(t)
	}
	l := &pylite.List{}
	for i := range t.Size(0) {
		l.Elts = append(l.Elts, toList(t.Select(0, i)))
	}
	return l
}
