package graph

import (
	"hash/fnv"
	"math"

	"github.com/gotorch-dev/torch/internal/rng"
	"github.com/gotorch-dev/torch/tensor"
)

// This file has operators of TorchScript that give facts about tensors and dtypes, and forms of other operators.

func registerMoreFacts() {
	fact := func(name, result string, f func(t *tensor.Tensor) tensor.Value) {
		Register("aten::"+name+"(Tensor self) -> "+result,
			func(a []tensor.Value) tensor.Value { return f(argTensor(a, 0)) })
	}
	fact("element_size", "int", func(t *tensor.Tensor) tensor.Value { return tensor.IntValue(t.DType().Size()) })
	fact("is_leaf", "bool", func(t *tensor.Tensor) tensor.Value { return tensor.BoolValue(t.IsLeaf()) })
	fact("retains_grad", "bool", func(t *tensor.Tensor) tensor.Value { return tensor.BoolValue(t.RetainsGrad()) })
	fact("output_nr", "int", func(t *tensor.Tensor) tensor.Value { return tensor.IntValue(t.OutputNr()) })
	fact("get_device", "int", func(t *tensor.Tensor) tensor.Value {
		if d := t.Device(); d.Type != tensor.CPUDevice {
			return tensor.IntValue(int(d.Index))
		}
		return tensor.IntValue(-1)
	})
	fact("is_distributed", "bool", func(*tensor.Tensor) tensor.Value { return tensor.BoolValue(false) })
	fact("data", "Tensor", func(t *tensor.Tensor) tensor.Value { return tensor.TensorValue(t.Detach()) })
	fact("_shape_as_tensor", "Tensor", func(t *tensor.Tensor) tensor.Value {
		return tensor.TensorValue(tensor.FromSlice(int64s(t.Shape()), t.Dim()))
	})
	Register("aten::_dim_arange(Tensor like, int dim) -> Tensor", func(a []tensor.Value) tensor.Value {
		n := make([]int64, argTensor(a, 0).Size(int(a[1].N)))
		for i := range n {
			n[i] = int64(i)
		}
		return tensor.TensorValue(tensor.FromSlice(n, len(n)))
	})
	Register("aten::_tensor_to_list(Tensor self) -> int[]", func(a []tensor.Value) tensor.Value {
		l := &List{Elem: Int}
		for _, n := range tensor.Data[int64](argTensor(a, 0).To(tensor.Int64).Contiguous()) {
			l.Items = append(l.Items, intOf(n))
		}
		return Box(l)
	})
	Register("aten::is_pinned(Tensor self, Device? device=None) -> bool",
		func([]tensor.Value) tensor.Value { return tensor.BoolValue(false) })
	Register("aten::is_set_to(Tensor self, Tensor tensor) -> bool", func(a []tensor.Value) tensor.Value {
		x, y := argTensor(a, 0), argTensor(a, 1)
		return tensor.BoolValue(x.Storage() == y.Storage() && x.StorageOffset() == y.StorageOffset() &&
			tensor.SameShape(x.Shape(), y.Shape()) && tensor.SameShape(x.Strides(), y.Strides()))
	})
	Register("aten::retain_grad(Tensor(a!) self) -> ()", func(a []tensor.Value) tensor.Value {
		argTensor(a, 0).RetainGrad()
		return tensor.Value{}
	})
	Register("aten::manual_seed(int seed) -> ()", func(a []tensor.Value) tensor.Value {
		rng.Default.ManualSeed(a[0].N)
		return tensor.Value{}
	})
	Register("aten::hash.generic(t value) -> int", func(a []tensor.Value) tensor.Value { return intOf(hashOf(a[0])) })
	dtypeOf := func(v tensor.Value) tensor.DType {
		if v.K == tensor.KTensor {
			return v.T.DType()
		}
		return v.Num().DType()
	}
	dtypes := func(schema string, f func(a []tensor.Value) tensor.DType) {
		Register(schema, func(a []tensor.Value) tensor.Value { return tensor.IntValue(DTypeNumber(f(a))) })
	}
	dtypes("aten::promote_types(ScalarType type1, ScalarType type2) -> ScalarType",
		func(a []tensor.Value) tensor.DType {
			return tensor.PromoteTypes(dtypeArg(a[0], tensor.Float32), dtypeArg(a[1], tensor.Float32))
		})
	for form, params := range map[string]string{"Tensor": "Tensor tensor, Tensor other",
		"Scalar": "Tensor tensor, Scalar " +
			"other", "Scalar_Tensor": "Scalar scalar, Tensor tensor",
		"Scalar_Scalar": "Scalar scalar1, Scalar scalar2"} {
		dtypes("aten::result_type."+form+"("+params+") -> ScalarType", func(a []tensor.Value) tensor.DType {
			x, y := a[0], a[1]
			if x.K == tensor.KTensor && y.K == tensor.KTensor {
				return tensor.ResultType(x.T, y.T)
			}
			if x.K != tensor.KTensor {
				x, y = y, x
			}
			if x.K != tensor.KTensor {
				return tensor.PromoteTypes(dtypeOf(x), dtypeOf(y))
			}
			var p tensor.Promoter
			p.Add(x.T)
			p.AddNum(y.Num())
			return p.Result()
		})
	}
	Register("aten::can_cast(ScalarType from_, ScalarType to) -> bool", func(a []tensor.Value) tensor.Value {
		return tensor.BoolValue(tensor.CanCast(dtypeArg(a[0], tensor.Float32), dtypeArg(a[1], tensor.Float32)))
	})
}

func int64s(l []int) []int64 {
	out := make([]int64, len(l))
	for i, n := range l {
		out[i] = int64(n)
	}
	return out
}

// hashOf is a hash: equal values have equal ones. Whole numbers are their own, as in PyTorch.
func hashOf(v tensor.Value) int64 {
	switch v.K {
	case tensor.KInt, tensor.KBool:
		return v.N
	case tensor.KFloat:
		if v.Float() == 0 {
			return 0
		}
		return int64(math.Float64bits(v.Float()) * 0x9e3779b97f4a7c15)
	case tensor.KStr:
		h := fnv.New64a()
		_, _ = h.Write([]byte(text(v))) // it never fails
		return int64(h.Sum64())
	case tensor.KNone:
		return 0
	}
	if t, ok := v.X.(*Tuple); ok {
		h := int64(len(t.Items))
		for _, e := range t.Items {
			h = h*1000003 ^ hashOf(e)
		}
		return h
	}
	tensor.Fail(tensor.ErrType, "Can't hash %s", describe(v))
	return 0
}

// registerForms adds operators that are others with some arguments of their own.
func registerForms() {
	for name, dt := range map[string]tensor.DType{"Byte": tensor.Uint8, "Char": tensor.Int8, "Double": tensor.Float64,
		"Float": tensor.Float32, "Half": tensor.Float16, "Int": tensor.Int32, "Long": tensor.Int64,
		"Short": tensor.Int16} {
		Register("aten::_cast_"+name+"(Tensor self, bool non_blocking=False) -> Tensor",
			func(a []tensor.Value) tensor.Value { return tensor.TensorValue(argTensor(a, 0).To(dt)) })
	}
	for _, o := range []struct{ name, params string }{{"fill_", ", float val"}, {"zero_", ""},
		{"normal_", ", float mean, float std, Generator? generator=None"},
		{"uniform_", ", float a, float b, Generator? generator=None"}} {
		op := "aten::" + o.name
		if o.name == "fill_" {
			op += ".Scalar"
		}
		Register("aten::_no_grad_"+o.name+"(Tensor(a!) tensor"+o.params+") -> Tensor(a!)",
			func(a []tensor.Value) (v tensor.Value) {
				tensor.NoGrad(func() { v = callNamed(op, a) })
				return v
			})
	}
	parts := func(v tensor.Value) float64 {
		if v.K == tensor.KTensor {
			return v.T.Num().F
		}
		return float(&v)
	}
	for _, p := range []string{"Tensor_Tensor(Tensor a, Tensor b", "Tensor_bool(Tensor x, bool y",
		"Tensor_float(Tensor x, float y", "Tensor_int(Tensor x, int y", "bool_Tensor(bool x, Tensor y",
		"float_Tensor(float x, Tensor y", "int_Tensor(int x, Tensor y"} {
		Register("aten::Complex."+p+") -> complex", func(a []tensor.Value) tensor.Value {
			return tensor.ComplexValue(complex(parts(a[0]), parts(a[1])))
		})
	}
	Register("aten::len.any(Any[] a) -> int", func(a []tensor.Value) tensor.Value {
		items, _ := ItemsOf(a[0])
		return tensor.IntValue(len(items))
	})
	Register("aten::sum.complex(complex[] self) -> complex", func(a []tensor.Value) tensor.Value {
		var s complex128
		for _, v := range list(a, 0).Items {
			s += v.Num().C
		}
		return tensor.ComplexValue(s)
	})
}

func init() {
	registerMoreFacts()
	registerForms()
}
