package torch_test

import (
	"fmt"
	"testing"

	"github.com/gotorch-dev/torch"
)

// TestManyDimensions computes with tensors of 12 dimensions, none of which lies in memory as its neighbour does, and
// compares with the same tensors in contiguous memory: walks over memory must not stop at the number of dimensions
// that they have room for on the stack.
func TestManyDimensions(t *testing.T) {
	shape, perm, back := make([]int, 12), make([]int, 12), make([]int, 12)
	for i := range perm {
		shape[i], perm[i] = 2, i*5%12
	}
	for i, p := range perm {
		back[p] = i
	}
	ops := map[string]func(x *torch.Tensor) *torch.Tensor{
		"clone":  func(x *torch.Tensor) *torch.Tensor { return x.Contiguous() },
		"exp":    func(x *torch.Tensor) *torch.Tensor { return x.Double().Exp() },
		"add":    func(x *torch.Tensor) *torch.Tensor { return x.Add(x.Permute(back)) },
		"where":  func(x *torch.Tensor) *torch.Tensor { return x.Where(x.GtScalar(9), x.Permute(back)) },
		"double": func(x *torch.Tensor) *torch.Tensor { return x.Double() },
		"int":    func(x *torch.Tensor) *torch.Tensor { return x.Int() },
		"sum":    func(x *torch.Tensor) *torch.Tensor { return x.Double().SumDim([]int{1, 4, 7, 10}) },
		"amax":   func(x *torch.Tensor) *torch.Tensor { return x.Amax(torch.AmaxOptions{Dim: []int{0, 5, 11}}) },
		"cumsum": func(x *torch.Tensor) *torch.Tensor { return x.Double().CumSum(3) },
		"cat": func(x *torch.Tensor) *torch.Tensor {
			return torch.Cat([]*torch.Tensor{x, x.Permute(back)}, torch.CatOptions{Dim: 6})
		},
		"flip":    func(x *torch.Tensor) *torch.Tensor { return x.Flip([]int{2, 9}) },
		"softmax": func(x *torch.Tensor) *torch.Tensor { return x.Double().Softmax(4) },
		"sort": func(x *torch.Tensor) *torch.Tensor {
			v, _ := x.Sort(torch.SortOptions{Dim: torch.Some(5)})
			return v
		},
		"index": func(x *torch.Tensor) *torch.Tensor { return x.IndexSelect(8, torch.TensorOf[int64](1, 0, 1)) },
		"fill":  func(x *torch.Tensor) *torch.Tensor { return x.Clone().FillScalarInPlace(3) },
	}
	for _, dt := range []torch.DType{torch.Float32, torch.Float64, torch.Float16, torch.Int64, torch.Uint8} {
		x := torch.Arange(4096).FmodScalar(251).ToDType(dt).Reshape(shape).Permute(perm)
		for name, f := range ops {
			t.Run(fmt.Sprintf("%s/%s", name, dt.Name()), func(t *testing.T) {
				if got, want := f(x), f(x.Contiguous()); !torch.Equal(got, want) {
					t.Errorf("of a permuted tensor of 12 dimensions differs from the result of its copy")
				}
			})
		}
		if got, want := x.Contiguous().Reshape([]int{-1}), x.Flatten(); !torch.Equal(got, want) {
			t.Errorf("%s: Contiguous and Flatten differ", dt)
		}
	}
	// The copy itself, element by element.
	x := torch.Arange(4096).Reshape(shape).Permute(perm)
	y := x.Contiguous().Reshape([]int{-1})
	for i := range 4096 {
		at := 0
		for d := range shape {
			at += i >> (11 - d) & 1 * x.Stride(d)
		}
		if got := int(y.Select(0, i).Item()); got != at {
			t.Fatalf("element %d of the copy is %d, want %d", i, got, at)
		}
	}
}
