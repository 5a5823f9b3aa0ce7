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
				if _, err := tensor.CallOp("F::mse_loss", tensor.TensorValue(ones), tensor.TensorValue(ones), none, none,
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
		{"\"adaptive_avg_pool2d\" not implemented for 'Long' (convert the tensor with Float())", tensor.ErrNotImpl, func() {
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
		{"(in Go: autograd.SetDetectAnomaly(true, autograd.AnomalyOptions{NoCheckNaN: true}))", torch.ErrAutograd, func() {
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
