package nninit_test

import (
	"errors"
	"math"
	"testing"

	"github.com/gotorch-dev/torch"
	nninit "github.com/gotorch-dev/torch/nn/init"
)

// Bad arguments are answered with an error of the call's.
func TestRefused(t *testing.T) {
	x := torch.Ones([]int{2, 3})
	for name, f := range map[string]func(){
		"sparsity NaN":      func() { nninit.Sparse(x, math.NaN()) },
		"sparsity negative": func() { nninit.Sparse(x, -0.5) },
		"sparsity above 1":  func() { nninit.Sparse(x, 1.5) },
		"zero tensor":       func() { nninit.TruncNormal(new(torch.Tensor)) },
		"no tensor":         func() { nninit.TruncNormal(nil) },
	} {
		var e *torch.Error
		if err := torch.Try(f); !errors.As(err, &e) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestInPlaceNames draws by both names from the same seed.
func TestInPlaceNames(t *testing.T) {
	for name, f := range map[string][2]func(x *torch.Tensor) *torch.Tensor{
		"uniform": {func(x *torch.Tensor) *torch.Tensor { return nninit.Uniform(x, 1, 2) },
			func(x *torch.Tensor) *torch.Tensor { return nninit.UniformInPlace(x, 1, 2) }},
		"normal": {func(x *torch.Tensor) *torch.Tensor { return nninit.Normal(x, 1, 2) },
			func(x *torch.Tensor) *torch.Tensor { return nninit.NormalInPlace(x, 1, 2) }},
		"constant": {func(x *torch.Tensor) *torch.Tensor { return nninit.Constant(x, 3) },
			func(x *torch.Tensor) *torch.Tensor { return nninit.ConstantInPlace(x, 3) }},
		"sparse": {func(x *torch.Tensor) *torch.Tensor { return nninit.Sparse(x, 0.5) },
			func(x *torch.Tensor) *torch.Tensor { return nninit.SparseInPlace(x, 0.5) }},
		"ones": {nninit.Ones, nninit.OnesInPlace}, "zeros": {nninit.Zeros, nninit.ZerosInPlace},
		"eye": {nninit.Eye, nninit.EyeInPlace},
		"trunc_normal": {func(x *torch.Tensor) *torch.Tensor { return nninit.TruncNormal(x) },
			func(x *torch.Tensor) *torch.Tensor { return nninit.TruncNormalInPlace(x) }},
		"xavier_uniform": {func(x *torch.Tensor) *torch.Tensor { return nninit.XavierUniform(x) },
			func(x *torch.Tensor) *torch.Tensor { return nninit.XavierUniformInPlace(x) }},
		"xavier_normal": {func(x *torch.Tensor) *torch.Tensor { return nninit.XavierNormal(x) },
			func(x *torch.Tensor) *torch.Tensor { return nninit.XavierNormalInPlace(x) }},
		"kaiming_uniform": {func(x *torch.Tensor) *torch.Tensor { return nninit.KaimingUniform(x) },
			func(x *torch.Tensor) *torch.Tensor { return nninit.KaimingUniformInPlace(x) }},
		"kaiming_normal": {func(x *torch.Tensor) *torch.Tensor { return nninit.KaimingNormal(x) },
			func(x *torch.Tensor) *torch.Tensor { return nninit.KaimingNormalInPlace(x) }},
		"orthogonal": {func(x *torch.Tensor) *torch.Tensor { return nninit.Orthogonal(x) },
			func(x *torch.Tensor) *torch.Tensor { return nninit.OrthogonalInPlace(x) }},
		"dirac": {func(x *torch.Tensor) *torch.Tensor { return nninit.Dirac(x.Unsqueeze(2)) },
			func(x *torch.Tensor) *torch.Tensor { return nninit.DiracInPlace(x.Unsqueeze(2)) }},
	} {
		torch.ManualSeed(1)
		want := f[0](torch.Full([]int{3, 3}, 7.0))
		torch.ManualSeed(1)
		if got := f[1](torch.Full([]int{3, 3}, 7.0)); !got.Equal(want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
