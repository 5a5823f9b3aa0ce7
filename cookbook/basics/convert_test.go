package basics_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
)

// long() cuts off towards zero.
func Example_convert() {
	x := torch.TensorOf[float32](1.9, -1.9)
	fmt.Println(x.Long())
	fmt.Println(x.Long().CPU().Float())
	// Output:
	// tensor([ 1, -1])
	// tensor([ 1., -1.])
}

// To converts or moves, and does nothing when there is nothing to do.
func TestTo(t *testing.T) {
	x := torch.Ones([]int{2})
	if x.To(torch.CPU) != x || x.To(torch.Float32) != x {
		t.Error("to() copied without need")
	}
	if x.ToDType(torch.Float32, tensor.ToDTypeOptions{Copy: true}) == x {
		t.Error("copy=True did not copy")
	}
	if h := x.To(torch.CPU, torch.Float16); h.DType() != torch.Float16 {
		t.Errorf("to('cpu', float16) is %s", h.DType())
	}
}

// A slice of float64, or of any other type, becomes float32.
func TestSliceToFloat(t *testing.T) {
	x := torch.FromSlice([]float64{1, 2, 3}).Float()
	if x.DType() != torch.Float32 {
		t.Errorf("dtype %s", x.DType())
	}
	near(t, x, 1, 2, 3)
}

// NumPy arrays with negative strides have to be copied first. A Go slice has none: turn it round, then make the tensor.
func TestReversedSlice(t *testing.T) {
	s := []float32{0, 1, 2, 3}
	slices.Reverse(s)
	near(t, torch.FromSlice(s), 3, 2, 1, 0)
}

// int8 has a Go slice like every other type, and bfloat16 has one of its bits; NumPy has no bfloat16.
func TestEveryDTypeHasASlice(t *testing.T) {
	x := torch.TensorOf[float32](-1, 2)
	if s := torch.Data[int8](x.Char()); !slices.Equal(s, []int8{-1, 2}) {
		t.Errorf("int8 %v", s)
	}
	if s := torch.Data[uint8](x.Abs().Byte()); !slices.Equal(s, []uint8{1, 2}) {
		t.Errorf("uint8 %v", s)
	}
	if a, b := x.Char().Type(), x.Byte().Type(); a != "torch.CharTensor" || b != "torch.ByteTensor" {
		t.Errorf("types %s, %s", a, b)
	}
	fails(t, "the tensor's dtype is torch.bfloat16", func() { torch.Data[float32](x.BFloat16()) })
}

// An image tensor of C×H×W in [0, 1] as bytes of H×W×C.
func TestImageBytes(t *testing.T) {
	torch.ManualSeed(0)
	img := torch.Rand([]int{3, 4, 5})
	px := img.MulScalar(255).ClampScalar(tensor.ClampScalarOptions{Min: 0, Max: 255}).Byte().Permute([]int{1, 2, 0})
	shaped(t, px, 4, 5, 3)
	if px.DType() != torch.Uint8 {
		t.Errorf("dtype %s", px.DType())
	}
	near(t, px.Index(0, 0, 0), 126) // 0.4963 * 255, cut off
}

// Numbers outside 0..255 wrap, so clamp first. The way through int32 says so on every machine.
func TestBytesWrap(t *testing.T) {
	x := torch.TensorOf[float32](-1, 0.5, 255.9, 256, 300)
	near(t, x.Int().Byte(), 255, 0, 255, 0, 44)
	near(t, torch.TensorOf[float32](-0.1, 0.5,
		1.2).MulScalar(255).ClampScalar(tensor.ClampScalarOptions{Min: 0, Max: 255}).Byte(),
		0, 127, 255)
}
