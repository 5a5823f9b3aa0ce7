package npy_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/serialize/npy"
)

// TestTensor turns arrays into tensors and back.
func TestTensor(t *testing.T) {
	for _, dt := range []torch.DType{torch.Bool, torch.Uint8, torch.Int8, torch.Int16, torch.Int32, torch.Int64,
		torch.Float16, torch.Float32, torch.Float64, torch.Complex64, torch.Complex128} {
		x := torch.Arange(6).Reshape([]int{2, 3}).To(dt)
		for _, y := range []*torch.Tensor{x, x.Transpose(0, 1), x.Select(0, 1), x.Narrow(0, 0, 0), x.Select(0, 0).Select(0, 1)} {
			a, err := npy.FromTensor(y)
			if err != nil {
				t.Fatal(err)
			}
			var buf bytes.Buffer
			if err := npy.Write(&buf, a); err != nil {
				t.Fatal(err)
			}
			if a, err = npy.Read(&buf); err != nil {
				t.Fatal(err)
			}
			back, err := a.Tensor()
			if err != nil || back.DType() != dt || !slices.Equal(back.Shape(), y.Shape()) || !back.Equal(y) {
				t.Errorf("%v: %v, was %v (%v)", dt, back, y, err)
			}
		}
	}
	// In Fortran order, and with the bytes of another machine.
	a, err := npy.New(">i2", []int{2, 3}, true, []byte{0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6})
	if err != nil {
		t.Fatal(err)
	}
	x, err := a.Tensor()
	if err != nil || fmt.Sprint(torch.Data[int16](x)) != "[1 3 5 2 4 6]" {
		t.Errorf("%v, %v", x, err)
	}
	if _, err := npy.FromTensor(torch.Ones([]int{1}).To(torch.BFloat16)); !errors.Is(err, npy.ErrDType) {
		t.Errorf("bfloat16: %v", err)
	}
	for _, c := range []struct {
		descr string
		shape []int
		data  int
		says  string
	}{
		{"O", []int{1}, 8, "Python objects"}, {"<f3", []int{1}, 3, "unsupported"}, {"<f4", []int{2}, 4, "needs 8 bytes"},
		{"<f4", []int{-1}, 4, "negative"}, {"<f4", []int{1 << 62, 1 << 62}, 4, "too large"},
		{strings.Repeat("x", 5000), nil, 0, "unsupported"},
	} {
		if _, err := npy.New(c.descr, c.shape, false, make([]byte, c.data)); err == nil ||
			!strings.Contains(err.Error(), c.says) || len(err.Error()) > 1000 {
			t.Errorf("%.20s %v: got %v, want %s", c.descr, c.shape, err, c.says)
		}
	}
	if _, err := (&npy.Array{DType: "<U2", Shape: []int{1}, Data: make([]byte, 8)}).Tensor(); !errors.Is(err, npy.ErrDType) {
		t.Errorf("text: %v", err)
	}
	if _, err := (&npy.Array{DType: "float32", Shape: []int{1 << 60}}).Tensor(); !errors.Is(err, npy.ErrFormat) {
		t.Errorf("an array without its data: %v", err)
	}
}
