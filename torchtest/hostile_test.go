package torchtest_test

import (
	"errors"
	"math"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
)

// hostile are calls with which random ones once ended in something else than a result or a *tensor.Error.
var hostile = []struct {
	op   string
	args []any
	ok   bool // there are results
}{
	{op: "aten::huber_loss", args: []any{shaped(tensor.Float32, 7), shaped(tensor.Complex128, 7)}},
	{op: "aten::huber_loss", args: []any{shaped(tensor.Float32, 7), shaped(tensor.Float64, 7)}, ok: true},
	{op: "aten::embedding_backward", args: []any{shaped(tensor.Float32), shaped(tensor.Int64, 3), 3, -1, false, true}},
	{op: "aten::embedding_sparse_backward", args: []any{shaped(tensor.Float32), shaped(tensor.Int64, 1), 3, -1, false}},
	{op: "aten::masked_select", args: []any{math.Inf(-1), shaped(tensor.Bool, 3, 4)}, ok: true},
	{op: "gotorch::_unscale_", args: []any{shaped(tensor.Float32, 0, 4), shaped(tensor.Float32, 0, 4),
		shaped(tensor.Float32, 0, 4)}},
	{op: "gotorch::cosine_similarity_backward", args: []any{-0.75, shaped(tensor.Float32, 1), shaped(tensor.Float32, 1),
		0.75, []bool{true, false}}, ok: true},
	{op: "gotorch::linear_backward", args: []any{shaped(tensor.Float32, 3, 5), shaped(tensor.Float32, 3, 4),
		shaped(tensor.Float32, 5, 4), false, true, true}, ok: true},
	{op: "gotorch::order_statistic_indices",
		args: []any{shaped(tensor.Float32, 3, 4), shaped(tensor.Int64, 3, 1).AddScalar(4)}},
	{op: "gotorch::order_statistic_indices", args: []any{shaped(tensor.Float32, 3, 4), shaped(tensor.Int64, 2, 1)}},
	{op: "gotorch::order_statistic_indices", args: []any{shaped(tensor.Float32, 3, 4), shaped(tensor.Int64, 3, 1)},
		ok: true},
	{op: "aten::_euclidean_dist", args: []any{shaped(f32, 1, 5, 0), shaped(f32, 1, 5, 0)}, ok: true},
	{op: "aten::_native_multi_head_attention", args: []any{shaped(f32, 2, 3, 4), shaped(f32, 2, 3, 4),
		shaped(f32, 2, 3, 4), 4, 2, shaped(f32, 12, 4), shaped(f32, 1), shaped(f32, 4, 4), shaped(f32, 4)}},
	{op: "aten::_trilinear", args: []any{shaped(f32), shaped(f32), shaped(f32), []int{}, []int{}, []int{}, []int{-1}}},
	{op: "aten::_trilinear", args: []any{shaped(f32, 2), shaped(f32), shaped(f32), []int{}, []int{}, []int{},
		[]int{-1}}},
	{op: "aten::index.Tensor", args: []any{negated(shaped(f32, 4, 2).Transpose(0, 1)), []*tensor.Tensor{nil}},
		ok: true},
	{op: "aten::index_add", args: []any{shaped(f32, 3, 4), 0, shaped(tensor.Int64, 3), shaped(f32, 3, 4), 1i}},
	{op: "aten::median", args: []any{2.0}, ok: true},
	{op: "aten::rnn_tanh.input", args: []any{shaped(f32, 0, 1), shaped(f32, 0, 1), []*tensor.Tensor{shaped(f32, 0, 1),
		shaped(f32, 0, 1)}, false, 1, 0.0, false, false, true}},
	{op: "gotorch::conv_tail_backward", args: []any{shaped(tensor.Bool, 2, 5, 2), shaped(tensor.Uint64, 2, 2),
		shaped(f32, 2),
		shaped(f32, 2), nil, []int{}, []int{4, 2}, []int{2}, 1, []int{-3}, []bool{true, true, false}}},
	{op: "gotorch::cosine_similarity_backward", args: []any{shaped(f32, 0), shaped(f32, 0, 0), shaped(f32, 0, 0), 1.0,
		[]bool{false, true}}},
	{op: "aten::histogram.bins_tensor", args: []any{shaped(f32, 4), 3}},
	{op: "aten::add.out", args: []any{shaped(f32, 3, 4), sharedOut, 1, sharedOut}},
	{op: "aten::gt.Scalar_out", args: []any{shaped(f32, 3).SetRequiresGrad(true), 0, shaped(tensor.Bool, 3)}, ok: true},
	{op: "aten::sum.out", args: []any{shaped(f32, 3), nil, shaped(tensor.Float64)}},
	{op: "aten::all.all_out", args: []any{shaped(f32, 3), shaped(tensor.Uint8)}, ok: true},
	{op: "aten::all.all_out", args: []any{shaped(f32, 3), shaped(tensor.Int8)}},
}

const f32 = tensor.Float32

var sharedOut = shaped(f32, 4)

func negated(x *tensor.Tensor) *tensor.Tensor {
	r, err := tensor.CallOp("aten::_neg_view", tensor.TensorValue(x))
	if err != nil {
		panic(err)
	}
	return r[0].T
}

func shaped(dt tensor.DType, shape ...int) *tensor.Tensor {
	return torch.Zeros(shape, torch.ZerosOptions{DType: dt})
}

func TestHostileCalls(t *testing.T) {
	for _, h := range hostile {
		args := make([]tensor.Value, len(h.args))
		for i, a := range h.args {
			args[i] = valueOf(a)
		}
		var err error
		if bad := attempt(func() { _, err = tensor.CallOp(h.op, args...) }); bad != nil {
			t.Errorf("%s: %s", h.op, bad.text)
			continue
		}
		if e := (*tensor.Error)(nil); err != nil && !errors.As(err, &e) || (err == nil) != h.ok {
			t.Errorf("%s: got error %v, want results: %v", h.op, err, h.ok)
		}
	}
}

func valueOf(x any) tensor.Value {
	switch x := x.(type) {
	case *tensor.Tensor:
		return tensor.TensorValue(x)
	case []*tensor.Tensor:
		return tensor.TensorsValue(x)
	case int:
		return tensor.IntValue(x)
	case []int:
		return tensor.IntsValue(x)
	case float64:
		return tensor.FloatValue(x)
	case bool:
		return tensor.BoolValue(x)
	case []bool:
		return tensor.BoolsValue(x)
	case complex128:
		return tensor.ComplexValue(x)
	case string:
		return tensor.StrValue(x)
	case tensor.DType:
		return tensor.DTypeValue(x)
	case nil:
		return tensor.Value{}
	}
	panic("unknown kind of argument")
}
