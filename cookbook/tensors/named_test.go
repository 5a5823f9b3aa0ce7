package tensors

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gotorch-dev/torch"
)

// Dimensions with names: operators keep them, and dimensions are addressed by them.
func Example_names() {
	images := torch.Ones([]int{2, 3, 4, 5}).Rename("N", "C", "H", "W")
	fmt.Println(images.MulScalar(2).Names())
	sum := images.SumDim(images.DimsOf("C"))
	fmt.Println(sum.Shape(), sum.Names())
	fmt.Println(images.Select(images.DimOf("C"), 0).Names())
	// Output:
	// [N C H W]
	// [2 4 5] [N H W]
	// [N H W]
}

// Names of the four dimensions of a batch of images are kept through operators on each element, and two tensors whose
// names differ are not added up.
func TestNamesAreKept(t *testing.T) {
	images := torch.Randn([]int{32, 3, 56, 56}).Rename("N", "C", "H", "W")
	want := []string{"N", "C", "H", "W"}
	for _, y := range []*torch.Tensor{images.Abs(), images.Add(images), images.MulScalar(2), images.ReLU()} {
		if !slices.Equal(y.Names(), want) {
			t.Errorf("names are %v, want %v", y.Names(), want)
		}
	}
	fails(t, "Error when attempting to broadcast dims", func() {
		images.Add(images.Rename("N", "C", "W", "H"))
	})
}

// Sums and selections by name, and a name that no dimension has.
func TestReduceAndSelectByName(t *testing.T) {
	images := torch.Randn([]int{32, 3, 56, 56}).Rename("N", "C", "H", "W")
	sum, red := images.SumDim(images.DimsOf("C")), images.Select(images.DimOf("C"), 0)
	for _, y := range []*torch.Tensor{sum, red} {
		shaped(t, y, 32, 56, 56)
		if !slices.Equal(y.Names(), []string{"N", "H", "W"}) {
			t.Errorf("names are %v", y.Names())
		}
	}
	if !red.RenameNone().Equal(images.RenameNone().Select(1, 0)) {
		t.Error("Select took another channel")
	}
	fails(t, "Name 'D' not found", func() { images.DimOf("D") })
}

// AlignTo orders dimensions by their names; the result is a view.
func TestAlignTo(t *testing.T) {
	x := torch.Rand([]int{3, 4, 1, 2}).Rename("C", "N", "H", "W")
	y := x.AlignTo("N", "C", "H", "W")
	shaped(t, y, 4, 3, 1, 2)
	if !sameMemory(x, y) || !y.RenameNone().Equal(x.RenameNone().Permute([]int{1, 0, 2, 3})) {
		t.Errorf("AlignTo gave %v of %v", y, x)
	}
	torch.NoGrad(func() { y.FillScalarInPlace(7) })
	if v := x.RenameNone().Min().Item(); v != 7 {
		t.Errorf("a change of the view leaves %v in the tensor", v)
	}
}
