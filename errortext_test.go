package torch_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

// PyTorch's sentence comes first, then what to do about it in Go.
func TestErrorsTellWhatToDo(t *testing.T) {
	ones := torch.Ones([]int{5, 2})
	for _, e := range []struct {
		want  string
		cause error
		f     func()
	}{
		{"index out of range in self (index 9 at position [1, 0], where there are 5 rows: 0 to 4) [aten::embedding(",
			torch.ErrIndex, func() { F.Embedding(torch.FromSlice([]int64{1, 2, 9, 3}, 2, 2), ones) }},
		{"index out of range in self (index -1 at position [1], where there are 5 rows: 0 to 4)",
			torch.ErrIndex, func() { ones.IndexSelect(0, torch.FromSlice([]int64{1, -1})) }},
		{"\"softmax_lastdim_kernel_impl\" not implemented for 'Long' (convert the tensor with Float())",
			tensor.ErrNotImpl, func() { torch.Softmax(torch.FromSlice([]int64{1, 2}), 0) }},
		{"avg is not a valid value for reduction (it is one of \"none\", \"mean\" and \"sum\")",
			torch.ErrValue, func() {
				none := tensor.Value{}
				if _, err := tensor.CallOp("F::mse_loss", tensor.TensorValue(ones), tensor.TensorValue(ones), none,
					none,
					tensor.StrValue("avg")); err != nil {
					panic(err)
				}
			}},
		{"Unrecognised padding mode mirror (the modes are \"constant\", \"reflect\", \"replicate\" and \"circular\")",
			tensor.ErrNotImpl, func() { F.Pad(ones, []int{1, 1}, F.PadOptions{Mode: "mirror"}) }},
		{"(in Go: BackwardOptions{RetainGraph: true})", torch.ErrAutograd, func() {
			x := torch.Ones([]int{2}).SetRequiresGrad(true)
			y := x.Mul(x).Sum()
			y.Backward()
			y.Backward()
		}},
		{"\"adaptive_avg_pool2d\" not implemented for 'Long' (convert the tensor with Float())", tensor.ErrNotImpl,
			func() {
				F.AdaptiveAvgPool2d(torch.Ones([]int{1, 4, 4}).Long(), []int{2, 2})
			}},
		{"\"kthvalue_cpu\" not implemented for 'ComplexFloat' (take Real(), Imag() or Abs() of the tensor)",
			tensor.ErrNotImpl, func() { ones.CFloat().Kthvalue(1) }},
		{"\"logcumsumexp_out_cpu\" not implemented for 'Int' (convert the tensor with Float())", tensor.ErrNotImpl,
			func() { ones.Int().LogCumSumExp(0) }},
		{"\"dot\" not implemented for 'Bool' (convert the tensor with Float())", torch.ErrDType, func() {
			b := torch.Ones([]int{2}).Bool()
			b.Dot(b)
		}},
		{"set when is_causal=True (in Go: set AttnMask or IsCausal, not both)", torch.ErrValue, func() {
			F.ScaledDotProductAttention(ones, ones, ones,
				F.ScaledDotProductAttentionOptions{AttnMask: torch.Ones([]int{5, 5}), IsCausal: true})
		}},
		{"(in Go: autograd.SetDetectAnomaly(true, autograd.AnomalyOptions{NoCheckNaN: true}))", torch.ErrAutograd,
			func() {
				x := torch.Ones([]int{2}).SetRequiresGrad(true)
				y := x.Exp()
				z := y.Sum()
				y.AddScalarInPlace(1)
				z.Add(y.Sum()).Backward()
			}},
		{"Use .reshape(...) instead. (in Go: Reshape)", torch.ErrShape, func() { ones.T().View([]int{10}) }},
	} {
		err := torch.Try(e.f)
		if !errors.Is(err, e.cause) || !strings.Contains(err.Error(), e.want) ||
			!strings.Contains(err.Error(), "errortext_test.go:") {
			t.Errorf("%v does not say %q", err, e.want)
		}
	}
}

// Types that PyTorch does not convert, arguments without a gradient, and limits, with PyTorch's sentences.
func TestRefusalsOfPyTorch(t *testing.T) {
	f32, f64 := torch.Rand([]int{2, 2}), torch.Rand([]int{2, 2}).Double()
	labels, learned := torch.TensorOf[int64](0, 1), torch.Ones([]int{2}).SetRequiresGrad(true)
	call := func(name string, args ...any) func() {
		return func() {
			boxed := make([]tensor.Value, len(args))
			for i, a := range args {
				boxed[i] = tensor.Box(a)
			}
			if _, err := tensor.CallOp(name, boxed...); err != nil {
				panic(err)
			}
		}
	}
	for _, e := range []struct {
		f    func()
		want string // "" for a call that works
	}{
		{call("aten::einsum", "ij,jk->ik", []*torch.Tensor{f32, f64}),
			"expected scalar type Float but found Double"},
		{call("aten::einsum", "ij,ij->", []*torch.Tensor{f64, f32}),
			"expected scalar type Double but found Float"},
		{call("aten::einsum", "ij,ij->ij", []*torch.Tensor{f32, f64}), ""},
		{call("aten::einsum", "ij,k->ij", []*torch.Tensor{f32, f64.Select(0, 0)}), ""},
		{func() { F.CosineSimilarity(f32, f32, F.CosineSimilarityOptions{Eps: torch.Some(-1.0)}) },
			"eps must be non-negative, got: -1"},
		{call("aten::cosine_similarity", f32, f32, 0, -1.0), "eps must be non-negative, got: -1"},
		{call("aten::float_power_.Scalar", f32, 2),
			"the base given to float_power_ has dtype Float but the operation's result requires dtype Double"},
		{call("aten::float_power_.Tensor", f32.Int(), f32),
			"the base given to float_power_ has dtype Int but the operation's result requires dtype Double"},
		{call("aten::float_power_.Scalar", f64.Clone(), 2), ""},
		{call("aten::cumsum_", f32.Clone(), 0, torch.Float64),
			"Bad in-place call: input tensor dtype float and output tensor dtype double should match"},
		{call("aten::cumprod_", f32.Int(), 0, torch.Int64),
			"Bad in-place call: input tensor dtype int and output tensor dtype long int should match"},
		{call("aten::cumsum_", f32.Bool(), 0), "\"cumsum_out_cpu\" not implemented for 'Bool'"},
		{call("aten::cumsum_", f32.Int(), 0), ""},
		{call("aten::cumsum.out", f32, 0, torch.Float64, f32.Clone()),
			"Expected out tensor to have dtype double, but got float instead"},
		{call("aten::cumsum.out", f32, 0, nil, f32.Int()), ""},
		{call("aten::multilabel_margin_loss", f32, torch.TensorOf[int64](0, -1, 0, 2).View([]int{2, 2}), 1),
			"argument #2 'target' is out of range"},
		{call("aten::multilabel_margin_loss", f32, torch.TensorOf[int64](0, 1, -1, 2).View([]int{2, 2}), 1),
			"argument #2 'target' is out of range"},
		{call("aten::multilabel_margin_loss_backward", f32.Sum(), f32, labels.Expand([]int{2, 2}).MulScalar(7), 1, f32),
			"argument #3 'target' is out of range"},
		{call("aten::multilabel_margin_loss", f32, torch.TensorOf[int64](0, 1, -1, 1).View([]int{2, 2}), 1), ""},
		{call("aten::batch_norm", f32, nil, nil, f32.Select(0, 0), nil, true, 0.1, 1e-5, false),
			"running_mean and running_var must either both be None or neither be None"},
		{call("aten::batch_norm", f32, nil, nil, nil, f32.Select(0, 0), true, 0.1, 1e-5, false),
			"running_mean and running_var must either both be None or neither be None"},
		{call("aten::batch_norm", f32, nil, nil, nil, nil, true, 0.1, 1e-5, false), ""},
		{call("aten::linalg_vander", torch.Ones([]int{1})), "N must be greater than 1."},
		{call("aten::linalg_vander", torch.Ones([]int{1}), 2), ""},
		{call("aten::nll_loss_nd", f32, labels, learned),
			"The function 'nll_loss_forward' is not differentiable with respect to argument 'weight'"},
		{call("aten::cross_entropy_loss", f32, labels, learned),
			"The function 'nll_loss_forward' is not differentiable with respect to argument 'weight'"},
		{call("aten::multi_margin_loss", f32, labels, 1, 1, learned),
			"The function 'multi_margin_loss' is not differentiable with respect to argument 'weight'"},
		{call("aten::native_batch_norm", f32, nil, nil, learned, torch.Ones([]int{2}), false, 0.1, 1e-5),
			"The function 'native_batch_norm' is not differentiable with respect to argument 'running_mean'"},
		{func() { torch.NoGrad(call("aten::nll_loss_nd", f32, labels, learned)) }, ""},
		{call("aten::embedding_bag", f32, labels, torch.TensorOf[float32](0)),
			"scalar types: Long, Int; but got torch.FloatTensor instead"},
	} {
		err := torch.Try(e.f)
		if (err == nil) != (e.want == "") || err != nil && !strings.Contains(err.Error(), e.want) {
			t.Errorf("got %v, want %q", err, e.want)
		}
	}
	r, err := tensor.CallOp("aten::embedding_bag", tensor.TensorValue(f32), tensor.TensorValue(labels.Int()),
		tensor.TensorValue(torch.TensorOf[int32](0)), tensor.Box(false), tensor.Box(2))
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range r[1:] {
		if v.T.DType() != torch.Int32 {
			t.Errorf("result %d of embedding_bag of int32 indices is %s", i+1, v.T.DType())
		}
	}
}
