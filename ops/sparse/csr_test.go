package sparse_test

import (
	"errors"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
)

// TestCompressedRows makes a matrix in compressed rows of a dense one, looks at it and multiplies with it.
func TestCompressedRows(t *testing.T) {
	d := torch.TensorOf[float32](0, 1, 2, 0, 0, 0, 4, 0, 3).Reshape([]int{3, 3})
	x := d.ToSparseCSR()
	for _, same := range []struct {
		what      string
		got, want *torch.Tensor
	}{
		{"crow_indices", x.CrowIndices(), torch.TensorOf[int64](0, 2, 2, 4)},
		{"col_indices", x.ColIndices(), torch.TensorOf[int64](1, 2, 0, 2)},
		{"values", x.Values(), torch.TensorOf[float32](1, 2, 4, 3)},
		{"to_dense", x.ToDense(), d},
		{"of coordinates", d.ToSparse().ToSparseCSR().ToDense(), d},
		{"itself", x.ToSparseCSR().ToDense(), d},
		{"mm", x.MM(d), d.MM(d)},
		{"matmul", x.MatMul(d), d.MatMul(d)},
		{"a vector", x.MatMul(d.Select(1, 2)), d.MatMul(d.Select(1, 2))},
		{"no elements", torch.Zeros([]int{2, 3}).ToSparseCSR().MatMul(d), torch.Zeros([]int{2, 3})},
		{"given", torch.SparseCSRTensor(x.CrowIndices(), x.ColIndices(), x.Values(), []int{3, 3}).ToDense(), d},
	} {
		if !torch.Equal(same.got, same.want) {
			t.Errorf("%s: %v, want %v", same.what, same.got, same.want)
		}
	}
	if x.Layout() != tensor.SparseCSR || !x.IsSparseCSR() || x.IsSparse() || x.NNZ() != 4 || x.Size(0) != 3 {
		t.Errorf("layout %s, %d elements", x.Layout(), x.NNZ())
	}
	want := "tensor(crow_indices=tensor([0, 2, 2, 4]),\n       col_indices=tensor([1, 2, 0, 2]),\n" +
		"       values=tensor([1., 2., 4., 3.]), size=(3, 3), nnz=4,\n       layout=torch.sparse_csr)"
	if got := x.String(); got != want {
		t.Errorf("prints %s, want %s", got, want)
	}
}

// TestCompressedRowsRefuse: what is no matrix in compressed rows, and what operators do not know.
func TestCompressedRowsRefuse(t *testing.T) {
	i := func(v ...int64) *torch.Tensor { return torch.TensorOf(v...) }
	v := torch.TensorOf[float32](1, 2)
	x := torch.Eye(2).ToSparseCSR()
	for name, f := range map[string]func(){
		"few starts":     func() { torch.SparseCSRTensor(i(0, 2), i(0, 1), v, []int{2, 2}) },
		"first start":    func() { torch.SparseCSRTensor(i(1, 1, 2), i(0, 1), v, []int{2, 2}) },
		"last start":     func() { torch.SparseCSRTensor(i(0, 1, 3), i(0, 1), v, []int{2, 2}) },
		"falling starts": func() { torch.SparseCSRTensor(i(0, 3, 2), i(0, 1), v, []int{2, 2}) },
		"column":         func() { torch.SparseCSRTensor(i(0, 1, 2), i(0, 2), v, []int{2, 2}) },
		"negative":       func() { torch.SparseCSRTensor(i(0, 1, 2), i(0, -1), v, []int{2, 2}) },
		"equal columns":  func() { torch.SparseCSRTensor(i(0, 2, 2), i(1, 1), v, []int{2, 2}) },
		"lengths":        func() { torch.SparseCSRTensor(i(0, 1, 1), i(0), v, []int{2, 2}) },
		"size":           func() { torch.SparseCSRTensor(i(0, 1, 2), i(0, 1), v, []int{-1, 2}) },
		"huge":           func() { torch.SparseCSRTensor(i(0, 1, 2), i(0, 1), v, []int{1 << 40, 1 << 40}) },
		"dimensions":     func() { torch.Zeros([]int{2}).ToSparseCSR() },
		"dense":          func() { v.CrowIndices() },
		"coordinates":    func() { torch.Eye(2).ToSparse().CrowIndices() },
		"add":            func() { x.Add(x) },
		"cat":            func() { torch.Cat([]*torch.Tensor{x, x}) },
		"in place":       func() { x.MulScalarInPlace(2) },
		"coalesce":       func() { x.Coalesce() },
		"shapes":         func() { x.MM(torch.Ones([]int{3, 2})) },
		"two of them":    func() { x.MM(x) },
		"dtypes":         func() { x.MM(torch.Eye(2).Double()) },
		"gradient":       func() { x.MM(torch.Ones([]int{2, 2}).SetRequiresGrad(true)) },
		"elements":       func() { x.Item() },
		"sum":            func() { x.Sum() },
		"clone":          func() { x.Clone() },
	} {
		var e *tensor.Error
		if err := tensor.Try(f); !errors.As(err, &e) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
