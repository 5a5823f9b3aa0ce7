package torch_test

import (
	"fmt"
	"slices"
	"strings"
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
		{"separated ones move to the front", []any{torch.List(0, 1), torch.Slice(1, nil), torch.List(3, 0)},
			[]int{2, 2}, 7},
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
	for _, bad := range [][]any{{5}, {0, 0, 0, 0}, {1.5}, {torch.Ellipsis, torch.Ellipsis}, {torch.List(9)},
		{torch.Slice(0, 1, -1)}} {
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

// TestIndexMessages compares what a wrong index or value is told with PyTorch's text; nothing is checked where nothing
// is picked.
func TestIndexMessages(t *testing.T) {
	x := torch.Zeros([]int{2, 3})
	for _, c := range []struct {
		parts []any
		value *torch.Tensor // nil: read
		want  string
	}{
		{[]any{torch.Ellipsis, 3}, nil, "index 3 is out of bounds for dimension 1 with size 3"},
		{[]any{nil, 0, 3}, nil, "index 3 is out of bounds for dimension 2 with size 3"},
		{[]any{torch.List(0, 2), torch.List(-4, 0)}, nil, "index -4 is out of bounds for dimension 1 with size 3"},
		{[]any{torch.Slice(), torch.List(3)}, nil, "index 3 is out of bounds for dimension 0 with size 3"},
		{[]any{torch.Slice(0, 0), torch.List(9)}, nil, ""},
		{[]any{torch.Slice(0, 1, 0)}, nil, "slice step cannot be zero"},
		{[]any{torch.Slice(0, 1, -1)}, nil, "step must be greater than zero"},
		{[]any{0, 0}, torch.Zeros([]int{3}),
			"expand(torch.FloatTensor{[3]}, size=[]): the number of sizes provided (0) must be greater or equal to " +
				"the number of dimensions in the tensor (1)"},
		{[]any{0}, torch.Zeros([]int{4}),
			"The expanded size of the tensor (3) must match the existing size (4) at non-singleton dimension 0.  " +
				"Target sizes: [3].  Tensor sizes: [4]"},
		{[]any{nil, 0}, torch.Zeros([]int{3, 4}),
			"The expanded size of the tensor (3) must match the existing size (4) at non-singleton dimension 1.  " +
				"Target sizes: [1, 3].  Tensor sizes: [3, 4]"},
		{[]any{torch.List(0)}, torch.Zeros([]int{1, 1, 4}),
			"shape mismatch: value tensor of shape [4] cannot be broadcast to indexing result of shape [1, 3]"},
		{[]any{0}, torch.Zeros([]int{1, 1, 3}), ""},
		{[]any{torch.List(0, 1), 0}, torch.Zeros([]int{1, 1, 2}), ""},
	} {
		err := torch.Try(func() {
			if c.value == nil {
				x.Index(c.parts...)
			} else {
				x.SetIndex(c.value, c.parts...)
			}
		})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v: %v, want %q", c.parts, err, c.want)
		}
	}
}
