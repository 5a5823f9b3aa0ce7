package shape_test

import (
	"errors"
	"strings"
	"testing"

	_ "github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/second"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

var meta = tensor.Device{Type: tensor.MetaDevice}

func TestCopiesBetweenDevices(t *testing.T) {
	x := tensor.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	other := tensor.Device{Type: second.Device.Type, Index: 1}
	for name, move := range map[string]func(t *tensor.Tensor, d tensor.Device) *tensor.Tensor{
		"To": func(t *tensor.Tensor, d tensor.Device) *tensor.Tensor { return t.To(d) },
		"to.device": func(t *tensor.Tensor, d tensor.Device) *tensor.Tensor {
			return op.Call1("aten::to.device", t, d, t.DType())
		},
		"to.other": func(t *tensor.Tensor, d tensor.Device) *tensor.Tensor {
			return op.Call1("aten::to.other", t, op.Call1("aten::zeros", []int{1}, t.DType(), nil, d))
		},
		"type_as": func(t *tensor.Tensor, d tensor.Device) *tensor.Tensor {
			return op.Call1("aten::type_as", t, op.Call1("aten::zeros", []int{1}, t.DType(), nil, d))
		},
		"copy_": func(t *tensor.Tensor, d tensor.Device) *tensor.Tensor {
			return op.Call1("aten::empty_like", t, nil, nil, d).CopyInPlace(t)
		},
	} {
		at := x
		for _, d := range []tensor.Device{second.Device, other, {}, second.Device, {}} {
			if at = move(at, d); at.Device() != d {
				t.Fatalf("%s: got %s, want %s", name, at.Device(), d)
			}
		}
		if !at.Equal(x) {
			t.Errorf("%s: got %v back", name, at)
		}
		if m := move(x, meta); m.Device() != meta || !tensor.SameShape(m.Shape(), x.Shape()) {
			t.Errorf("%s to meta: got %v on %s", name, m.Shape(), m.Device())
		}
		for _, d := range []tensor.Device{{}, second.Device} {
			err := tensor.Try(func() { move(x.To(meta), d) })
			if !errors.Is(err, tensor.ErrDevice) ||
				!strings.Contains(err.Error(), "Cannot copy out of meta tensor; no data!") {
				t.Errorf("%s from meta to %s: got %v", name, d, err)
			}
		}
	}
	// strides, dtypes and broadcasting across devices
	wide := tensor.New([]int{3, 2}, tensor.Int64).To(second.Device).Transpose(0, 1)
	wide.CopyInPlace(x.Select(0, 1))
	if want := tensor.FromSlice([]int64{4, 5, 6, 4, 5, 6}, 2, 3); !wide.CPU().Equal(want) {
		t.Errorf("got %v, want %v", wide.CPU(), want)
	}
	// a gradient goes back to where it came from
	leaf := x.Clone().SetRequiresGrad(true)
	leaf.To(second.Device).MulScalar(3).Sum().Backward()
	if g := leaf.Grad(); g.Device() != (tensor.Device{}) || !g.Equal(x.OnesLike().MulScalar(3)) {
		t.Errorf("got gradient %v on %s", g, g.Device())
	}
}

func TestCreationOnDevices(t *testing.T) {
	x := tensor.FromSlice([]float32{1, 2, 3, 4})
	for _, d := range []tensor.Device{second.Device, meta} {
		far := x.To(d)
		for name, c := range map[string]*tensor.Tensor{
			"zeros":      op.Call1("aten::zeros", []int{2}, nil, nil, d),
			"arange":     op.Call1("aten::arange", 5, nil, nil, d),
			"linspace":   op.Call1("aten::linspace", 0, 1, 5, nil, nil, d),
			"eye":        op.Call1("aten::eye", 3, nil, nil, d),
			"full":       op.Call1("aten::full", []int{2}, 7, nil, nil, d),
			"ones_like":  op.Call1("aten::ones_like", x, nil, nil, d),
			"new_full":   far.NewFull([]int{2}, 7),
			"zeros_like": far.ZerosLike(),
			"empty_like": far.EmptyLike(),
			"new_empty":  far.NewEmpty([]int{3}),
		} {
			if c.Device() != d {
				t.Errorf("%s on %s: got %s", name, d, c.Device())
			}
		}
	}
	if got := op.Call1("aten::arange", 4, nil, nil,
		second.Device).CPU(); !got.Equal(tensor.FromSlice([]int64{0, 1, 2, 3})) {
		t.Errorf("arange: got %v", got)
	}
}

func TestDeviceErrors(t *testing.T) {
	x := tensor.FromSlice([]float32{1, 2, 3, 4})
	far := x.To(second.Device)
	for name, c := range map[string]struct {
		call func()
		want []string
	}{
		"mixture": {func() { x.Add(far) },
			[]string{"Expected all tensors to be on the same device", "cpu", "second:0"}},
		"list": {func() { op.Call1("aten::cat", []*tensor.Tensor{x, far}, 0) },
			[]string{"Expected all tensors to be on the same device"}},
		"missing": {func() { x.To(tensor.Device{Type: tensor.CUDADevice}) },
			[]string{"cuda", "linked are cpu, meta, second"}},
		"missing zeros": {func() { op.Call1("aten::zeros", []int{2}, nil, nil, "cuda") },
			[]string{"cuda", "linked are cpu, meta, second"}},
		"no such number": {func() { x.To(tensor.Device{Type: second.Device.Type, Index: 5}) },
			[]string{"second:5", "2 devices"}},
		"set_": {func() { op.Call1("aten::set_.source_Tensor", x.Clone(), far) },
			[]string{"Attempted to set the storage of a tensor on device \"cpu\""}},
	} {
		err := tensor.Try(c.call)
		if !errors.Is(err, tensor.ErrDevice) {
			t.Errorf("%s: got %v, want an error about devices", name, err)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: got %v, want %q in it", name, err, w)
			}
		}
	}
}
