package matmul_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
)

func TestIntMM(t *testing.T) {
	for _, dt := range []tensor.DType{tensor.Int8, tensor.Uint8} {
		for _, d := range [][3]int{{1, 1, 1}, {17, 33, 65}, {0, 4, 3}, {3, 0, 2}} {
			for layout := range 4 {
				m, k, n := d[0], d[1], d[2]
				a, b := torch.Randint(256, []int{m, k}).AddScalar(-128).To(tensor.Int8).To(dt),
					torch.Randint(256, []int{k, n}).AddScalar(-128).To(tensor.Int8)
				if layout&1 != 0 {
					a = a.T().Contiguous().T()
				}
				if layout&2 != 0 {
					b = b.T().Contiguous().T()
				}
				got, want := a.IntMM(b), a.To(tensor.Int32).MM(b.To(tensor.Int32))
				if got.DType() != tensor.Int32 || !got.Equal(want) {
					t.Errorf("%v %v layout %d: got %v, expected %v", dt, d, layout, got, want)
				}
			}
		}
	}
	// Every product is 32640, more than what instructions for int16 can add.
	a, b := torch.Full([]int{3, 64}, 255).To(tensor.Uint8), torch.Full([]int{64, 2}, -128).To(tensor.Int8)
	if got := a.IntMM(b); !got.Equal(torch.Full([]int{3, 2}, -255*128*64).To(tensor.Int32)) {
		t.Errorf("extremes: got %v", got)
	}
}

func TestIntMMErrors(t *testing.T) {
	z := func(dt tensor.DType, sh ...int) *T { return torch.Zeros(sh).To(dt) }
	const i8, i16, i32, i64, u8, f32 = tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64, tensor.Uint8,
		tensor.Float32
	for i, c := range []struct {
		a, b, out *T
		want      string
	}{
		{z(i8), z(i8, 5, 6), nil, "Dimension specified as 0 but tensor has no dimensions"},
		{z(i8, 3, 4), z(i8, 4), nil, "Dimension out of range (expected to be in range of [-1, 0], but got 1)"},
		{z(i8, 3), z(i8, 5, 6), nil, "_int_mm: self must be a matrix, got 1-D tensor"},
		{z(i8, 3, 4), z(i8, 4, 6, 1), nil, "_int_mm: mat2 must be a matrix, got 3-D tensor"},
		{z(f32, 3, 4), z(i8, 5, 6), nil, "_int_mm: mat1 and mat2 shapes cannot be multiplied (3x4 and 5x6)"},
		{z(i64, 3, 4), z(i8, 4, 6), nil, "int_mm_out_cpu: Expected self dtype to be int8 or uint8 but got long int"},
		{z(i16, 3, 4), z(i8, 4, 6), z(i32, 1),
			"int_mm_out_cpu: Expected self dtype to be int8 or uint8 but got short int"},
		{z(i8, 3, 4), z(u8, 4, 6), nil, "int_mm_out_cpu: Expected mat2 dtype to be of type int8 but got unsigned char"},
		{z(i8, 3, 4), z(i8, 4, 6), z(i64, 2, 6),
			"int_mm_out_cpu: Expected result dtype to be of type kInt but got long int"},
		{z(i8, 3, 4), z(i8, 4, 6), z(i32, 0), "int_mm_out_cpu: Expected result.size(0) to be 3 but got 0"},
		{z(i8, 3, 4), z(i8, 4, 6), z(i32, 3, 7, 1), "int_mm_out_cpu: Expected result.size(1) to be 6 but got 7"},
		{z(i8, 3, 4), z(i8, 4, 6), z(i32, 3, 6, 1), "int_mm_out_cpu: Expected result to be of dimension 2 but got 3"},
		{z(i8, 3, 4), z(i8, 4, 6), z(i32, 6, 3).T(), "int_mm_out_cpu: Expected result to be contiguous."},
	} {
		err := torch.Try(func() {
			if c.out == nil {
				c.a.IntMM(c.b)
			} else {
				c.a.IntMM(c.b, tensor.OutOptions{Out: c.out})
			}
		})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("case %d: got %v, expected %q", i, err, c.want)
		}
	}
}

func Example_intMM() {
	a, b := torch.Full([]int{1, 4}, 100).To(tensor.Int8), torch.Full([]int{4, 1}, 100).To(tensor.Int8)
	fmt.Println(a.IntMM(b), a.MM(b).Item())
	// Output: tensor([[40000]], dtype=torch.int32) 64
}
