package graph

import "github.com/gotorch-dev/torch/tensor"

// names are operators of TorchScript that are an operator of the registry by another name: they take its arguments, and
// perhaps more behind them that change nothing here.
var names = []struct{ schema, op string }{
	{"aten::mT.a(Tensor(a) self) -> Tensor(a)", "aten::mT"},
	{"aten::mH.a(Tensor(a) self) -> Tensor(a)", "aten::mH"},
	{"aten::matrix_H.a(Tensor(a) self) -> Tensor(a)", "aten::matrix_H"},
	{"aten::numpy_T.a(Tensor(a) self) -> Tensor(a)", "aten::numpy_T"},
	{"aten::copy_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", "aten::copy_"},
	{"aten::copy_.int(Tensor(a!) self, int other) -> Tensor(a!)", "aten::fill_.Scalar"},
	{"aten::copy_.float(Tensor(a!) self, float other) -> Tensor(a!)", "aten::fill_.Scalar"},
	{"aten::dequantize.tensor(Tensor qtensor) -> Tensor", "aten::dequantize.self"},
	{"aten::split(Tensor(a -> *) self, int[] split_sizes, int dim=0) -> Tensor(a)[]", "aten::split_with_sizes"},
	{"aten::index.Tensor_hacked_twin(Tensor self, Tensor[] indices) -> Tensor", "aten::index.Tensor"},
	{"aten::index_put.hacked_twin(Tensor self, Tensor[] indices, Tensor values, bool accumulate=False) -> Tensor",
		"aten::index_put"},
	{"aten::index_put_.hacked_twin(Tensor(a!) self, Tensor[] indices, Tensor values, bool accumulate=False) -> " +
		"Tensor(a!)", "aten::index_put_"},
	{"aten::_unsafe_index.Tensor_hacked_twin(Tensor self, Tensor[] indices) -> Tensor", "aten::index.Tensor"},
	{"aten::_unsafe_index_put.hacked_twin(Tensor self, Tensor[] indices, Tensor values, bool accumulate=False) -> " +
		"Tensor", "aten::index_put"},
	{"aten::_index_put_impl_(Tensor(a!) self, Tensor?[] indices, Tensor values, bool accumulate=False, " +
		"bool unsafe=False) -> Tensor(a!)", "aten::index_put_"},
	{"aten::_index_put_impl_.hacked_twin(Tensor(a!) self, Tensor[] indices, Tensor values, bool accumulate=False, " +
		"bool unsafe=False) -> Tensor(a!)", "aten::index_put_"},
	{"aten::_index_put_impl(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False, " +
		"bool unsafe=False) -> Tensor", "aten::index_put"},
	{"prim::data(Tensor(a) a) -> Tensor(a)", "aten::detach"},
	{"prim::abs(Tensor x) -> Tensor", "aten::abs"},
}

func init() {
	for _, n := range names {
		register(n.schema, n.op, func(a []tensor.Value) tensor.Value { return callNamed(n.op, a) })
	}
}

// callNamed calls an operator of the registry with the arguments of one that is the same by another name.
func callNamed(name string, a []tensor.Value) tensor.Value {
	op := tensor.LookupOp(name)
	if op == nil {
		tensor.Fail(tensor.ErrNotFound, "no operator %s is registered", name)
	}
	args := append([]tensor.Value(nil), a[:min(len(a), len(op.Sch.Params))]...)
	for i := range args {
		if items, ok := ItemsOf(args[i]); ok {
			args[i] = convertItems(items, op.Sch.Params[i].Kind)
		}
	}
	v, err := tensor.CallOp(name, args...)
	if err != nil {
		panic(err)
	}
	if len(v) == 1 {
		return Normal(v[0])
	}
	for i := range v {
		v[i] = Normal(v[i])
	}
	return NewTuple(v...)
}

// Same is the operator of the registry that a helper is by another name, and o itself for all others. It may take fewer
// arguments, the first ones.
func (o *Operator) Same() *Operator {
	if o.same != "" {
		if s := Lookup(o.same); s != nil {
			return s
		}
	}
	return o
}
