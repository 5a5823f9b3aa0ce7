package index_test

import (
	"errors"
	"testing"

	_ "github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/second"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// Indices on the CPU may pick from a tensor on another device, but not the other way round.
func TestIndicesOnTheCPU(t *testing.T) {
	x := tensor.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 3, 2)
	far, ix := x.To(second.Device), tensor.FromSlice([]int64{2, 0})
	mask := tensor.FromSlice([]bool{true, false, true})
	for _, i := range []*tensor.Tensor{ix, ix.To(second.Device), mask, mask.To(second.Device)} {
		got := op.Call1("aten::index.Tensor", far, []*tensor.Tensor{i})
		if want := op.Call1("aten::index.Tensor", x, []*tensor.Tensor{i.CPU()}); got.Device() != second.Device ||
			!got.CPU().Equal(want) {
			t.Errorf("index %v on %s: got %v on %s", i.CPU(), i.Device(), got.CPU(), got.Device())
		}
		a, b := far.Clone(), x.Clone()
		op.Call1("aten::index_put_", a, []*tensor.Tensor{i}, tensor.FromSlice([]float32{9}).View([]int{}), false)
		op.Call1("aten::index_put_", b, []*tensor.Tensor{i.CPU()}, tensor.FromSlice([]float32{9}).View([]int{}), false)
		if !a.CPU().Equal(b) {
			t.Errorf("index_put_ %v on %s: got %v, want %v", i.CPU(), i.Device(), a.CPU(), b)
		}
	}
	for name, f := range map[string]func(){
		"indices elsewhere": func() { op.Call1("aten::index.Tensor", x, []*tensor.Tensor{ix.To(second.Device)}) },
		"values elsewhere": func() {
			op.Call1("aten::index_put", x, []*tensor.Tensor{ix}, far.Narrow(0, 0, 2),
				false)
		},
		"out of range": func() {
			if err := tensor.Try(func() {
				op.Call1("aten::index.Tensor", far,
					[]*tensor.Tensor{ix.AddScalar(7)})
			}); !errors.Is(err, tensor.ErrIndex) {
				t.Errorf("out of range: got %v", err)
			}
			tensor.Fail(tensor.ErrDevice, "")
		},
	} {
		if err := tensor.Try(f); !errors.Is(err, tensor.ErrDevice) {
			t.Errorf("%s: got %v, want an error about devices", name, err)
		}
	}
}
