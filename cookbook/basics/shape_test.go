package basics_test

import (
	"slices"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
)

// A view shares memory, reshape copies where it must, permute only changes strides.
func TestViewReshapePermute(t *testing.T) {
	x := torch.Arange(6.0).View([]int{2, 3})
	p := x.Permute([]int{1, 0})
	if !slices.Equal(p.Strides(), []int{1, 3}) {
		t.Errorf("strides %v", p.Strides())
	}
	x.View([]int{6}).SetIndex(100, 0)
	near(t, x.Index(0, 0), 100)
	if r := x.T().Reshape([]int{6}); r.DataPtr() == x.DataPtr() {
		t.Error("reshape of a transposed tensor did not copy")
	}
	fails(t, "view size is not compatible with input tensor's size and stride", func() { x.T().View([]int{6}) })
}

func TestCloneAndDetach(t *testing.T) {
	x := torch.Ones([]int{2}).SetRequiresGrad(true)
	c, d, both := x.Clone(), x.Detach(), x.Detach().Clone()
	if c.DataPtr() == x.DataPtr() || !c.RequiresGrad() {
		t.Error("clone: want new memory that requires grad")
	}
	if d.DataPtr() != x.DataPtr() || d.RequiresGrad() {
		t.Error("detach: want the same memory without grad")
	}
	if both.DataPtr() == x.DataPtr() || both.RequiresGrad() {
		t.Error("detach().clone(): want new memory without grad")
	}
	d.SetIndex(5, 0)
	near(t, c, 1, 1) // the clone keeps the old value
	near(t, x, 5, 1)
}

func TestContiguous(t *testing.T) {
	x := torch.Arange(6.0).View([]int{2, 3})
	if x.T().IsContiguous() {
		t.Error("a transposed matrix is contiguous")
	}
	if x.Contiguous() != x {
		t.Error("contiguous of a contiguous tensor is another tensor")
	}
}

// memory_format is an argument, not an attribute.
func TestChannelsLast(t *testing.T) {
	x := torch.Empty([]int{2, 3, 4, 5}).To(torch.ChannelsLast)
	if !slices.Equal(x.Strides(), []int{60, 1, 15, 3}) {
		t.Errorf("strides %v", x.Strides())
	}
	if x.IsContiguous() || !x.IsContiguousFormat(torch.ChannelsLast) {
		t.Error("want channels-last and nothing else")
	}
}

func TestResize(t *testing.T) {
	x := torch.Arange(6.0).View([]int{2, 3})
	shaped(t, x.ResizeInPlace([]int{3, 2}), 3, 2)
	near(t, x, 0, 1, 2, 3, 4, 5)
}

func TestFlatten(t *testing.T) {
	x := torch.Zeros([]int{2, 3, 4})
	shaped(t, torch.Flatten(x), 24)
	shaped(t, torch.Flatten(x, tensor.FlattenOptions{StartDim: 1}), 2, 12)
	shaped(t, torch.Flatten(x, tensor.FlattenOptions{EndDim: torch.Some(1)}), 6, 4)
	shaped(t, torch.Flatten(torch.Zeros([]int{})), 1)
}
