package torch_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
)

// Names of Python's torch and torch.Tensor that are old, or belong to devices and layouts that are not here: what they
// give and what they say is PyTorch 2.15's.
func TestOldNames(t *testing.T) {
	x := torch.Eye(3)
	for name, c := range map[string]struct {
		f    func()
		want string
	}{
		"cholesky":    {func() { x.Cholesky() }, "L = torch.linalg.cholesky(A)"},
		"qr":          {func() { torch.QR(x) }, "Q, R = torch.linalg.qr(A, mode='reduced')"},
		"eig":         {func() { x.Eig() }, "L_complex = torch.linalg.eigvals(A)"},
		"symeig":      {func() { torch.Symeig(x) }, "L, V = torch.linalg.eigh(A, UPLO='U' if upper else 'L')"},
		"solve":       {func() { x.Solve(x) }, "X = torch.linalg.solve(A, B)"},
		"lstsq":       {func() { torch.Lstsq(x, x) }, "consider using `torch.linalg.qr`"},
		"matrix_rank": {func() { torch.MatrixRank(x) }, "use the `torch.linalg.matrix_rank` function instead"},
		"ccol": {func() { x.CcolIndices() },
			"ccol_indices expected sparse column compressed tensor layout but got Strided"},
		"ccol of COO": {func() { x.ToSparse().CcolIndices() }, "but got Sparse"},
		"ccol of CSR": {func() { x.ToSparseCSR().CcolIndices() }, "but got SparseCsr"},
		"ipu":         {func() { x.IPU() }, "ipu:0 is not available"},
		"mtia":        {func() { x.MTIA() }, "mtia:0 is not available"},
		"xpu":         {func() { x.XPU(1) }, "xpu:1 is not available"},
		"xpu:-1":      {func() { x.XPU(-1) }, "Device index must be between 0 and 127, got -1"},
		"pin_memory":  {func() { x.PinMemory() }, "no device in this program that has pinned memory"},
		"resize": {func() { x.Resize(2) },
			"requested resize to 2 (2 elements in total), but the given tensor has a size of 3x3 (9"},
		"no class": {func() { torch.SetDefaultTensorType("foo") }, "only floating-point types are supported"},
		"integers": {func() { torch.SetDefaultTensorType("torch.LongTensor") },
			"only floating-point types are supported"},
		"no device": {func() { torch.SetDefaultTensorType("torch.xpu.FloatTensor") }, "xpu"},
	} {
		if err := tensor.Try(c.f); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if y := x.Resize(9); !slices.Equal(y.Shape(), []int{9}) || y.Storage() != x.UntypedStorage() {
		t.Errorf("resize gives %v", y)
	}
	if y := x.ResizeAs(torch.Zeros([]int{1, 9})); !slices.Equal(y.Shape(), []int{1, 9}) {
		t.Errorf("resize_as gives %v", y)
	}
	if s := x.Double().StorageType(); s != "torch.DoubleStorage" {
		t.Errorf("storage_type is %s", s)
	}
	if y := x.Double().New(2, 3); !slices.Equal(y.Shape(), []int{2, 3}) || y.DType() != torch.Float64 {
		t.Errorf("new gives %s %v", y.DType(), y.Shape())
	}
	if x.ConstDataPtr() != x.DataPtr() || x.IsXPU() || torch.IsVulkanAvailable() {
		t.Error("const_data_ptr, is_xpu or is_vulkan_available")
	}
	if y := torch.BoolTensor([]bool{true, false}); y.DType() != torch.Bool || y.String() != "tensor([ True, False])" {
		t.Errorf("BoolTensor gives %v", y)
	}
	torch.SetDefaultTensorType("torch.DoubleTensor")
	dt := torch.Ones([]int{1}).DType()
	torch.SetDefaultTensorType("torch.FloatTensor")
	if dt != torch.Float64 || torch.Ones([]int{1}).DType() != torch.Float32 {
		t.Errorf("the type of new tensors is %s", dt)
	}
}

// What is written to data escapes the engine, what is written to a detached tensor does not.
func TestDataHasAVersionOfItsOwn(t *testing.T) {
	x := torch.FromSlice([]float32{2, 3}).SetRequiresGrad(true)
	y := x.Mul(x)
	x.Data().MulScalarInPlace(2)
	y.Sum().Backward()
	if g := torch.Data[float32](x.Grad()); !slices.Equal(g, []float32{8, 12}) {
		t.Errorf("the gradient is %v", g)
	}
	y = x.Mul(x)
	x.Detach().MulScalarInPlace(2)
	if err := tensor.Try(func() { y.Sum().Backward() }); err == nil {
		t.Error("the engine has not noticed a change")
	}
}
