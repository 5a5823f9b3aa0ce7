package basics_test

import (
	"fmt"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
)

// Type, size and number of dimensions.
func Example_attributes() {
	x := torch.Randn([]int{3, 4, 5})
	fmt.Println(x.Type())
	fmt.Println(torch.Size(x.Shape()))
	fmt.Println(x.Dim())
	// Output:
	// torch.FloatTensor
	// torch.Size([3, 4, 5])
	// 3
}

func Example_device() {
	x := torch.Ones([]int{3, 4})
	fmt.Println(x.Shape(), x.DType(), x.Device())
	fmt.Printf("%#v\n", torch.CPU)
	// Output:
	// [3 4] torch.float32 cpu
	// device(type='cpu')
}

// The old names of tensor types, one per dtype.
func TestTypeNames(t *testing.T) {
	for dt, want := range map[torch.DType]string{
		torch.Float32: "torch.FloatTensor", torch.Float64: "torch.DoubleTensor", torch.Float16: "torch.HalfTensor",
		torch.BFloat16: "torch.BFloat16Tensor", torch.Int64: "torch.LongTensor", torch.Int8: "torch.CharTensor",
		torch.Uint8: "torch.ByteTensor", torch.Bool: "torch.BoolTensor",
	} {
		if got := torch.Zeros([]int{1}, torch.ZerosOptions{DType: dt}).Type(); got != want {
			t.Errorf("%s is %s, want %s", dt, got, want)
		}
	}
}

func TestSizes(t *testing.T) {
	x := torch.Arange(6.0).View([]int{2, 3})
	shaped(t, x, 2, 3)
	if x.Dim() != 2 || x.Size(0) != 2 || x.Size(-1) != 3 || x.Numel() != 6 || x.Stride(0) != 3 || x.Stride(1) != 1 {
		t.Errorf("dim %d, numel %d, strides %v", x.Dim(), x.Numel(), x.Strides())
	}
	if n := x.Storage().NumBytes(); n != 24 { // x.untyped_storage().nbytes()
		t.Errorf("%d bytes", n)
	}
	if p := x.DataPtr(); p == 0 || p != x.T().DataPtr() { // x.data_ptr(): a view starts where its base starts
		t.Error("a view from offset 0 has another address")
	}
}

// One number out of a tensor.
func TestItem(t *testing.T) {
	x := torch.FromSlice([]int64{1, 2, 3, 4}, 2, 2)
	if v := x.Index(0, 0).Item(); v != 1 {
		t.Errorf("item %v", v)
	}
	fails(t, "a Tensor with 4 elements cannot be converted to Scalar", func() { x.Item() })
}

// requires_grad is an attribute in Python; here it is a pair of methods.
func TestRequiresGrad(t *testing.T) {
	x := torch.Ones([]int{2})
	if x.RequiresGrad() {
		t.Error("a new tensor requires grad")
	}
	if !x.SetRequiresGrad(true).RequiresGrad() {
		t.Error("still does not require grad")
	}
}

// The tensor of package torch and the one of package tensor are the same type.
func TestOneTensorType(t *testing.T) {
	var x *tensor.Tensor = torch.Ones([]int{1})
	near(t, x, 1)
}
