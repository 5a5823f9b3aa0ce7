package matmul_test

import (
	"slices"
	"testing"

	"github.com/gotorch-dev/torch"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

// The sum is the one of the product that ScaledMM gives, in place and not.
func TestScaledAddMM(t *testing.T) {
	a, b := eighths(3, 16, 5), eighths(2, 16, 7).T()
	rows, columns := torch.FromSlice([]float32{1, 2, 4}, 3, 1), torch.FromSlice([]float32{1, 0.25}, 1, 2)
	x := torch.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 3, 2)
	product := F.ScaledMM(a, b, rows, F.ScalingRowWise, columns, F.ScalingRowWise,
		F.ScaledMMOptions{OutputDType: torch.Float32})
	want := x.MulScalar(0.5).Add(product.MulScalar(2))
	for _, dt := range []torch.DType{torch.Float32, torch.BFloat16, torch.Float16} {
		y := x.To(dt).Clone()
		got := F.ScaledAddMM(y, a, b, rows, F.ScalingRowWise, columns, F.ScalingRowWise,
			F.ScaledAddMMOptions{Beta: 0.5, Alpha: 2})
		if got.DType() != dt || !got.Equal(want.To(dt)) {
			t.Errorf("%s: %v, want %v", dt, got, want)
		}
		again := F.ScaledAddMMInPlace(y, a, b, rows, F.ScalingRowWise, columns, F.ScalingRowWise,
			F.ScaledAddMMInPlaceOptions{Beta: 0.5, Alpha: 2})
		if again != y || !y.Equal(got) {
			t.Errorf("in place, %s: %v, want %v", dt, y, got)
		}
	}
	for name, f := range map[string]func(){
		"int64": func() { F.ScaledAddMM(x.Long(), a, b, rows, 1, columns, 1) },
		"shape": func() { F.ScaledAddMM(x.T(), a, b, rows, 1, columns, 1) },
		"swizzle": func() {
			F.ScaledAddMM(x, a, b, rows, 1, columns, 1, F.ScaledAddMMOptions{SwizzleA: F.Swizzle32x4x4})
		},
	} {
		if err := tensor.Try(f); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// Each group is the product of its matrices, times its scales.
func TestScaledGroupedMM(t *testing.T) {
	a, b := eighths(4, 16, 5), torch.Stack([]*tensor.Tensor{eighths(2, 16, 7).T().Float(),
		eighths(2, 16, 3).T().Float()}).To(tensor.Float8E4M3FN)
	sa, sb := torch.FromSlice([]float32{1, 2, 4, 8}), torch.FromSlice([]float32{1, 0.5, 0.25, 2}, 2, 2)
	offs := torch.FromSlice([]int32{1, 4})
	o := F.ScaledGroupedMMOptions{Offs: offs, OutputDType: torch.Float32}
	part := func(x *tensor.Tensor, i, n int) *tensor.Tensor { return x.Narrow(0, i, n) }
	product := func(a, b, sa, sb *tensor.Tensor) *tensor.Tensor {
		return F.ScaledMM(a, b, sa.Reshape([]int{-1, 1}).Contiguous(), F.ScalingRowWise,
			sb.Reshape([]int{1, -1}).Contiguous(), F.ScalingRowWise, F.ScaledMMOptions{OutputDType: torch.Float32})
	}
	got := F.ScaledGroupedMM(a, b, sa, F.ScalingRowWise, sb, F.ScalingRowWise, o)
	want := torch.Cat([]*tensor.Tensor{product(part(a, 0, 1), b.Select(0, 0), part(sa, 0, 1), sb.Select(0, 0)),
		product(part(a, 1, 3), b.Select(0, 1), part(sa, 1, 3), sb.Select(0, 1))})
	if !got.Equal(want) {
		t.Errorf("rows in groups: %v, want %v", got, want)
	}
	// the inner dimension in groups
	x, y := eighths(3, 4, 5), eighths(2, 4, 7).T()
	s, r := torch.FromSlice([]float32{1, 2, 4, 0.5, 1, 8}), torch.FromSlice([]float32{1, 2, 3, 4})
	got = F.ScaledGroupedMM(x, y, s, F.ScalingRowWise, r, F.ScalingRowWise, o)
	want = torch.Stack([]*tensor.Tensor{
		product(x.Narrow(1, 0, 1), part(y, 0, 1), part(s, 0, 3), part(r, 0, 2)),
		product(x.Narrow(1, 1, 3), part(y, 1, 3), part(s, 3, 3), part(r, 2, 2))})
	if !got.Equal(want) {
		t.Errorf("columns in groups: %v, want %v", got, want)
	}
	if dt := F.ScaledGroupedMM(a, b, sa, 1, sb, 1, F.ScaledGroupedMMOptions{Offs: offs}).DType(); dt != torch.BFloat16 {
		t.Errorf("the result has %s", dt)
	}
	for name, f := range map[string]func(){
		"float32": func() { F.ScaledGroupedMM(a.Float(), b, sa, 1, sb, 1, o) },
		"whole":   func() { F.ScaledGroupedMM(a, b, sa, 0, sb, 0, o) },
		"scales":  func() { F.ScaledGroupedMM(a, b, sb, 1, sa, 1, o) },
		"no offs": func() { F.ScaledGroupedMM(a, b, sa, 1, sb, 1) },
	} {
		if err := tensor.Try(f); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if !slices.Equal(got.Shape(), []int{2, 3, 2}) {
		t.Errorf("shape %v", got.Shape())
	}
}
