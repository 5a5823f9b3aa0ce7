package graph

import (
	"slices"

	"github.com/gotorch-dev/torch/tensor"
)

// This file has the operators that make tensors of Python's values, and those that tell what a tensor is.

// argTensor is argument i, which must be a tensor.
func argTensor(a []tensor.Value, i int) *tensor.Tensor {
	if a[i].K != tensor.KTensor || a[i].T == nil {
		tensor.Fail(tensor.ErrType, "want a Tensor, not %s", describe(a[i]))
	}
	return a[i].T
}

// dtypeArg is a dtype argument, def for None.
func dtypeArg(v tensor.Value, def tensor.DType) tensor.DType {
	switch v.K {
	case tensor.KInt:
		d, err := DTypeOf(int(v.N))
		if err != nil {
			panic(err)
		}
		return d
	case tensor.KDType:
		return tensor.DType(v.N)
	}
	return def
}

func deviceArg(v tensor.Value) tensor.Device {
	switch x := v.X.(type) {
	case tensor.Device:
		return x
	case string:
		d, err := tensor.DeviceNamed(x)
		if err != nil {
			panic(err)
		}
		return d
	}
	return (tensor.Device{})
}

// flatten gathers the numbers of nested lists, with their shape.
func flatten(v tensor.Value, depth int, shape *[]int, out *[]tensor.Value) {
	items, ok := ItemsOf(v)
	if !ok {
		if len(*shape) != depth {
			tensor.Fail(tensor.ErrShape, "expected sequence of equal length at dim %d", depth)
		}
		if v.K == tensor.KTensor {
			v = v.T.Num().Value()
		}
		*out = append(*out, v)
		return
	}
	if depth > maxNesting {
		tensor.Fail(tensor.ErrValue, "too many dimensions")
	}
	if len(*shape) == depth {
		if len(*out) > 0 {
			tensor.Fail(tensor.ErrShape, "expected sequence of equal length at dim %d", depth)
		}
		*shape = append(*shape, len(items))
	} else if (*shape)[depth] != len(items) {
		tensor.Fail(tensor.ErrShape, "expected sequence of length %d at dim %d (got %d)", (*shape)[depth], depth,
			len(items))
	}
	for _, e := range items {
		flatten(e, depth+1, shape, out)
	}
}

// innermost is the type of the elements of nested lists, nil when unknown.
func innermost(v tensor.Value) *Type {
	l, ok := v.X.(*List)
	if !ok || l.Elem == nil {
		return nil
	}
	t := l.Elem
	for t.Kind == ListType {
		t = t.Elems[0]
	}
	return t
}

// makeTensor is torch.tensor of a number or of nested lists.
func makeTensor(v tensor.Value, dtype, device tensor.Value, grad bool) *tensor.Tensor {
	var shape []int
	var nums []tensor.Value
	flatten(v, 0, &shape, &nums)
	def := tensor.DefaultDType()
	if len(nums) > 0 {
		def = nums[0].Num().DType()
		for _, n := range nums {
			def = tensor.PromoteTypes(def, n.Num().DType())
		}
	} else if elem := innermost(v); elem != nil {
		switch elem.Kind {
		case IntType:
			def = tensor.Int64
		case BoolType:
			def = tensor.Bool
		}
	}
	var t *tensor.Tensor
	dt := dtypeArg(dtype, def)
	switch {
	case def.IsComplex():
		data := make([]complex128, len(nums))
		for i, n := range nums {
			data[i] = n.Num().C
		}
		t = tensor.FromSlice(data, len(data))
	case def.IsFloat():
		data := make([]float64, len(nums))
		for i, n := range nums {
			data[i] = n.Num().F
		}
		t = tensor.FromSlice(data, len(data))
	default:
		data := make([]int64, len(nums))
		for i, n := range nums {
			data[i] = n.Num().I
		}
		t = tensor.FromSlice(data, len(data))
	}
	t = t.Reshape(shape).To(def).To(dt) // TorchScript rounds to the default dtype first, as Python does not
	if d := deviceArg(device); d != (tensor.Device{}) {
		t = t.To(d)
	}
	if grad {
		t.SetRequiresGrad(true)
	}
	return t
}

// toList makes nested lists of a tensor.
func toList(t *tensor.Tensor) tensor.Value {
	if t.Dim() == 0 {
		return t.Num().Value()
	}
	l := &List{Items: make([]tensor.Value, 0, t.Size(0))}
	for i := range t.Size(0) {
		l.Items = append(l.Items, toList(t.Select(0, i)))
	}
	return Box(l)
}

// checkToList compares a tensor with the type around its tolist(): the name of the elements' type, or its number in
// bytecode.
func checkToList(x *tensor.Tensor, dims int64, elem tensor.Value) {
	if int64(x.Dim()) != dims {
		tensor.Fail(tensor.ErrShape,
			"Output annotation list dimension and runtime tensor dimension must match for tolist()")
	}
	dt := x.DType()
	names := []struct {
		name, written string
		fits          bool
	}{{"int", "Long", dt == tensor.Int64 || dt == tensor.Int32}, {"float", "Float", dt.IsFloat()},
		{"bool", "Bool", dt == tensor.Bool}, {"complex", "ComplexDouble", dt.IsComplex()}}
	for i, n := range names {
		if (elem.K == tensor.KInt && elem.N == int64(i) || elem.X == n.name) && !n.fits {
			tensor.Fail(tensor.ErrType, "Output annotation element type and runtime tensor element type must match "+
				"for tolist(): %s vs %s", n.written, typeNames[dt])
		}
	}
}

func registerMaking() {
	const rest = ", *, ScalarType? dtype=None, Device? device=None, bool requires_grad=False) -> Tensor"
	make4 := func(a []tensor.Value) tensor.Value {
		return tensor.TensorValue(makeTensor(a[0], a[1], a[2], truth(&a[3])))
	}
	for _, t := range []string{"float", "int", "bool", "complex"} {
		Register("aten::tensor."+t+"("+t+" t"+rest, make4)
	}
	Register("aten::tensor(t[] data"+rest, make4)
	Register("aten::as_tensor(Tensor(a) data, *, ScalarType? dtype=None, Device? device=None) -> Tensor(b|a)",
		func(a []tensor.Value) tensor.Value {
			t := argTensor(a, 0)
			return tensor.TensorValue(t.To(dtypeArg(a[1], t.DType())))
		})
	Register("aten::as_tensor.list(t[] data, *, ScalarType? dtype=None, Device? device=None) -> Tensor",
		func(a []tensor.Value) tensor.Value { return tensor.TensorValue(makeTensor(a[0], a[1], a[2], false)) })
	for _, t := range []string{"float", "int", "bool", "complex"} {
		Register("aten::as_tensor."+t+"("+t+" t, *, ScalarType? dtype=None, Device? device=None) -> Tensor",
			func(a []tensor.Value) tensor.Value { return tensor.TensorValue(makeTensor(a[0], a[1], a[2], false)) })
	}
	toTensor := func(a []tensor.Value) tensor.Value {
		return tensor.TensorValue(makeTensor(a[0], tensor.Value{}, tensor.Value{}, false))
	}
	Register("aten::_list_to_tensor(int[] self) -> Tensor", toTensor)
	Register("prim::NumToTensor.Scalar(Scalar a) -> Tensor", func(a []tensor.Value) tensor.Value {
		if a[0].K == tensor.KTensor {
			return a[0]
		}
		return toTensor(a)
	})
	Register("prim::NumToTensor.bool(bool a) -> Tensor", toTensor)
	Register("gotorch::tolist(Tensor x, int dims, Any elem) -> Any", func(a []tensor.Value) tensor.Value {
		x := argTensor(a, 0)
		checkToList(x, a[1].N, a[2])
		return toList(x)
	})
	Register("aten::len.Tensor(Tensor t) -> int", func(a []tensor.Value) tensor.Value {
		t := argTensor(a, 0)
		if t.Dim() == 0 {
			tensor.Fail(tensor.ErrType, "len() of a 0-d tensor")
		}
		return tensor.IntValue(t.Size(0))
	})
	Register("aten::device(str a) -> Device", func(a []tensor.Value) tensor.Value {
		return tensor.DeviceValue(deviceArg(a[0]))
	})
	Register("aten::device.with_index(str type, int index) -> Device", func(a []tensor.Value) tensor.Value {
		d := deviceArg(a[0])
		d.Index = int8(a[1].N)
		return tensor.DeviceValue(d)
	})
	broadcast := func(a []tensor.Value) tensor.Value {
		x, y := ints(a[0]), ints(a[1])
		out := make([]int, max(len(x), len(y)))
		for i := 1; i <= len(out); i++ {
			m, n := 1, 1
			if i <= len(x) {
				m = x[len(x)-i]
			}
			if i <= len(y) {
				n = y[len(y)-i]
			}
			if m != n && m != 1 && n != 1 {
				tensor.Fail(tensor.ErrShape, "The size of tensor a (%d) must match the size of tensor b (%d) at "+
					"non-singleton dimension %d", m, n, len(out)-i)
			}
			if out[len(out)-i] = m; m == 1 {
				out[len(out)-i] = n
			}
		}
		return Normal(tensor.IntsValue(out))
	}
	Register("aten::_infer_size(int[] a, int[] b) -> int[]", broadcast)
	Register("aten::broadcast_shapes(int[] a, int[] b) -> int[]", broadcast)
}

// ints reads a list of ints.
func ints(v tensor.Value) []int {
	items, _ := ItemsOf(v)
	out := make([]int, len(items))
	for i := range items {
		out[i] = asInt(&items[i])
	}
	return out
}

func registerFacts() {
	fact := func(name, result string, f func(t *tensor.Tensor) tensor.Value) {
		Register("prim::"+name+"(Tensor a) -> "+result,
			func(a []tensor.Value) tensor.Value { return f(argTensor(a, 0)) })
	}
	fact("dtype", "int", func(t *tensor.Tensor) tensor.Value { return tensor.IntValue(DTypeNumber(t.DType())) })
	fact("device", "Device", func(t *tensor.Tensor) tensor.Value { return tensor.DeviceValue(t.Device()) })
	fact("layout", "Layout", func(*tensor.Tensor) tensor.Value { return tensor.IntValue(0) })
	fact("requires_grad", "bool", func(t *tensor.Tensor) tensor.Value { return tensor.BoolValue(t.RequiresGrad()) })
	fact("itemsize", "int", func(t *tensor.Tensor) tensor.Value { return tensor.IntValue(t.DType().Size()) })
	fact("nbytes", "int", func(t *tensor.Tensor) tensor.Value { return tensor.IntValue(t.DType().Size() * t.Numel()) })
	fact("name", "str?", func(*tensor.Tensor) tensor.Value { return tensor.Value{} })
	fact("grad", "Tensor(*)", func(t *tensor.Tensor) tensor.Value { return tensor.TensorValue(t.Grad()) })
	fact("is_cpu", "bool", func(t *tensor.Tensor) tensor.Value {
		return tensor.BoolValue(t.Device().Type == tensor.CPUDevice)
	})
	fact("is_meta", "bool", func(t *tensor.Tensor) tensor.Value {
		return tensor.BoolValue(t.Device().Type == tensor.MetaDevice)
	})
	for _, name := range []string{"is_cuda", "is_sparse", "is_sparse_csr", "is_mkldnn", "is_quantized", "is_vulkan",
		"is_xla", "is_xpu", "is_ipu", "is_mps", "is_nested", "is_mtia", "is_maia"} {
		fact(name, "bool", func(t *tensor.Tensor) tensor.Value { return tensor.BoolValue(false) })
	}
	Register("aten::detach_(Tensor(a!) self) -> Tensor(a!)", func(a []tensor.Value) tensor.Value {
		return tensor.TensorValue(argTensor(a, 0).DetachInPlace())
	})
	Register("prim::type(Device self) -> str", func(a []tensor.Value) tensor.Value {
		return tensor.StrValue(deviceArg(a[0]).Type.String())
	})
	Register("prim::index(Device self) -> int?", func(a []tensor.Value) tensor.Value {
		if d := deviceArg(a[0]); d.Type != tensor.CPUDevice {
			return tensor.IntValue(int(d.Index))
		}
		return tensor.Value{}
	})
	Register("prim::EnumName(AnyEnumType enum) -> str", func(a []tensor.Value) tensor.Value {
		return tensor.StrValue(enum(a[0]).Name)
	})
	value := func(a []tensor.Value) tensor.Value { return enum(a[0]).Value }
	Register("prim::EnumValue.int(AnyEnumType enum) -> int", value)
	Register("prim::EnumValue.float(AnyEnumType enum) -> float", value)
	Register("prim::EnumValue.str(AnyEnumType enum) -> str", value)
	constant := func(schema string, v bool) {
		Register(schema, func([]tensor.Value) tensor.Value { return tensor.BoolValue(v) })
	}
	constant("aten::is_scripting() -> bool", true)
	constant("aten::_is_tracing() -> bool", false)
	constant("aten::_get_tracing_state() -> bool", false)
	constant("aten::has_torch_function(...) -> bool", false)
	constant("aten::is_autocast_enabled() -> bool", false)
	constant("aten::is_autocast_cpu_enabled() -> bool", false)
	Register("aten::_unwrap_optional(t(a)? optional) -> t(a)", func(a []tensor.Value) tensor.Value {
		if a[0].K == tensor.KNone {
			tensor.Fail(tensor.ErrValue, "Unwrapping null optional")
		}
		return a[0]
	})
}

func enum(v tensor.Value) *Enum {
	e, ok := v.X.(*Enum)
	if !ok {
		tensor.Fail(tensor.ErrType, "want a member of an enumeration, not %s", describe(v))
	}
	return e
}

func registerCasts() {
	to := func(a []tensor.Value, dtype, device tensor.Value, copied bool) tensor.Value {
		t := argTensor(a, 0)
		out := t
		if device.K != tensor.KNone {
			out = out.To(deviceArg(device))
		}
		if out = out.To(dtypeArg(dtype, t.DType())); copied && out.Storage() == t.Storage() {
			out = out.Clone()
		}
		return tensor.TensorValue(out)
	}
	Register("aten::to.prim_Device(Tensor(a) self, Device? device, int? dtype=None, bool non_blocking=False, "+
		"bool copy=False) -> Tensor(b|a)", func(a []tensor.Value) tensor.Value {
		return to(a, a[2], a[1], truth(&a[4]))
	})
	Register("aten::to.prim_dtype(Tensor(a) self, int? dtype=None, bool non_blocking=False, bool copy=False) "+
		"-> Tensor(b|a)",
		func(a []tensor.Value) tensor.Value { return to(a, a[1], tensor.Value{}, truth(&a[3])) })
	Register("aten::to.prim_other(Tensor(a) self, bool non_blocking=False, bool copy=False) -> Tensor(b|a)",
		func(a []tensor.Value) tensor.Value { return to(a, tensor.Value{}, tensor.Value{}, truth(&a[2])) })
	Register("aten::cpu(Tensor(a) self) -> Tensor(b|a)", func(a []tensor.Value) tensor.Value {
		return to(a, tensor.Value{}, tensor.DeviceValue(tensor.Device{}), false)
	})
	tensors := func(v tensor.Value) []*tensor.Tensor {
		items, _ := ItemsOf(v)
		out := make([]*tensor.Tensor, len(items))
		for i, e := range items {
			out[i] = asTensor(e)
		}
		return out
	}
	one := func(v []tensor.Value, err error) tensor.Value {
		if err != nil {
			panic(err)
		}
		return Normal(v[0])
	}
	Register("prim::VarConcat(...) -> Tensor", func(a []tensor.Value) tensor.Value {
		n := len(a) - 1
		return one(tensor.CallOp("aten::cat", tensor.TensorsValue(tensors(NewList(nil, slices.Clone(a[:n])...))), a[n]))
	})
	Register("prim::VarStack(...) -> Tensor", func(a []tensor.Value) tensor.Value {
		n := len(a) - 1
		return one(tensor.CallOp("aten::stack", tensor.TensorsValue(tensors(NewList(nil, slices.Clone(a[:n])...))),
			a[n]))
	})
}

func registerGradients() {
	Register("aten::requires_grad_(Tensor(a!) self, bool requires_grad=True) -> Tensor(a!)",
		func(a []tensor.Value) tensor.Value {
			return tensor.TensorValue(argTensor(a, 0).SetRequiresGrad(truth(&a[1])))
		})
	tensors := func(v tensor.Value) []*tensor.Tensor {
		items, ok := ItemsOf(v)
		if !ok {
			return nil
		}
		out := make([]*tensor.Tensor, len(items))
		for i, e := range items {
			out[i] = asTensor(e)
		}
		return out
	}
	Register("aten::grad(Tensor[] outputs, Tensor[] inputs, Tensor?[]? grad_outputs=None, bool? retain_graph=None, "+
		"bool create_graph=False, bool allow_unused=False) -> Tensor?[]", func(a []tensor.Value) tensor.Value {
		create := truth(&a[4])
		o := tensor.GradOptions{GradOutputs: tensors(a[2]), CreateGraph: create, AllowUnused: truth(&a[5]),
			RetainGraph: a[3].K == tensor.KBool && a[3].N != 0 || a[3].K == tensor.KNone && create}
		l := &List{Elem: OptionalOf(Tensor)}
		for _, g := range tensor.Grad(tensors(a[0]), tensors(a[1]), o) {
			l.Items = append(l.Items, tensor.TensorValue(g))
		}
		return Box(l)
	})
	Register("aten::backward(Tensor self, Tensor? gradient=None, bool? retain_graph=None, bool create_graph=False) -> ()",
		func(a []tensor.Value) tensor.Value {
			create := truth(&a[3])
			tensor.BackwardAll([]*tensor.Tensor{argTensor(a, 0)}, []*tensor.Tensor{asTensor(a[1])},
				tensor.BackwardOptions{
					CreateGraph: create, RetainGraph: a[2].K == tensor.KBool && a[2].N != 0 || a[2].K == tensor.KNone &&
						create})
			return tensor.Value{}
		})
}

func init() {
	registerGradients()
	registerMaking()
	registerFacts()
	registerCasts()
}
