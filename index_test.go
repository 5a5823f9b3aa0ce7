package torch_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gotorch-dev/torch"
)

func ExampleSlice() {
	x := torch.Arange(12).View([]int{3, 4})
	fmt.Println(torch.Data[int64](x.Index(1)))
	fmt.Println(torch.Data[int64](x.Index(torch.Slice(), torch.Slice(nil, nil, 2)).Contiguous()))
	fmt.Println(torch.Data[int64](x.Index(torch.List(0, 2), torch.List(3, -4))))
	fmt.Println(x.Index(torch.NewAxis, torch.Ellipsis, 0).Shape())
	// Output:
	// [4 5 6 7]
	// [0 2 4 6 8 10]
	// [3 8]
	// [1 3]
}

// TestIndex checks PyTorch's rules for the place of advanced indices, masks, and assignment.
func TestIndex(t *testing.T) {
	x := torch.Arange(24).View([]int{2, 3, 4})
	cases := []struct {
		name  string
		parts []any
		shape []int
		first int64
	}{
		{"adjacent lists stay", []any{torch.Slice(), torch.List(0, 2), torch.List(1, 3)}, []int{2, 2}, 1},
		{"separated ones move to the front", []any{torch.List(0, 1), torch.Slice(1, nil), torch.List(3, 0)}, []int{2, 2}, 7},
		{"an int between counts as basic", []any{1, torch.Slice(), torch.List(2)}, []int{3, 1}, 14},
		{"ellipsis", []any{torch.Ellipsis, -1}, []int{2, 3}, 3},
		{"new axis", []any{torch.Slice(), nil, 2}, []int{2, 1, 4}, 8},
		{"mask over two dimensions", []any{x.Select(2, 0).Bool()}, []int{5, 4}, 4},
		{"true adds a dimension", []any{true}, []int{1, 2, 3, 4}, 0},
		{"negative bounds clamp", []any{torch.Slice(-9, 1)}, []int{1, 3, 4}, 0},
	}
	for _, c := range cases {
		r := x.Index(c.parts...)
		if !slices.Equal(r.Shape(), c.shape) {
			t.Errorf("%s: shape %v, want %v", c.name, r.Shape(), c.shape)
			continue
		}
		if got := torch.Data[int64](r.Contiguous())[0]; got != c.first {
			t.Errorf("%s: first element %d, want %d", c.name, got, c.first)
		}
	}
	y := torch.Zeros([]int{2, 3})
	y.SetIndex(5, 0, torch.Slice(1, nil))
	y.SetIndex(torch.TensorOf[float32](1, 2), 1, torch.List(2, 0))
	if got, want := torch.Data[float32](y), []float32{0, 5, 5, 2, 0, 1}; !slices.Equal(got, want) {
		t.Errorf("SetIndex: %v, want %v", got, want)
	}
	for _, bad := range [][]any{{5}, {0, 0, 0, 0}, {1.5}, {torch.Ellipsis, torch.Ellipsis}, {torch.List(9)}, {torch.Slice(0, 1, -1)}} {
		if torch.Try(func() { x.Index(bad...) }) == nil {
			t.Errorf("Index(%v) did not fail", bad)
		}
	}
}

// TestIndexGradient: what is picked twice gets both gradients; in-place assignment cuts its places off.
func TestIndexGradient(t *testing.T) {
	x := torch.FromSlice([]float32{1, 2, 3}).SetRequiresGrad(true)
	x.Index(torch.List(0, 2, 0)).Sum().Backward()
	if got, want := torch.Data[float32](x.Grad()), []float32{2, 0, 1}; !slices.Equal(got, want) {
		t.Errorf("gradient %v, want %v", got, want)
	}
	z := torch.FromSlice([]float32{1, 2, 3}).SetRequiresGrad(true)
	y := z.MulScalar(2)
	y.SetIndex(0, torch.Slice(1, 2))
	y.Sum().Backward()
	if got, want := torch.Data[float32](z.Grad()), []float32{2, 0, 2}; !slices.Equal(got, want) {
		t.Errorf("gradient %v, want %v", got, want)
	}
}
