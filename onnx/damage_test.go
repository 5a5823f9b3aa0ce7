package onnx_test

import (
	"bytes"
	"testing"

	torch "github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/damage"
	"github.com/gotorch-dev/torch/jit"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/onnx"
)

// Damaged models give an error or a result, without a panic and without more memory than is allowed.
func TestDamagedModels(t *testing.T) {
	defer torch.SetMemoryLimit(torch.SetMemoryLimit(256 << 20))
	loop := func(x *torch.Tensor) *torch.Tensor {
		return jit.While(func(c []*torch.Tensor) *torch.Tensor { return c[0].Sum().LtScalar(9) }, []*torch.Tensor{x},
			func(c []*torch.Tensor) []*torch.Tensor { return []*torch.Tensor{c[0].AddScalar(1)} })[0]
	}
	conv := nn.NewSequential(nn.NewConv2d(1, 2, 3), nn.NewReLU(), nn.NewMaxPool2d(2), nn.NewFlatten(), nn.NewLinear(8, 2))
	for name, c := range map[string]struct {
		module any
		shape  []int
	}{"loop": {loop, []int{2}}, "conv": {conv, []int{1, 1, 6, 6}}, "lstm": {nn.NewLSTM(2, 2), []int{3, 1, 2}}} {
		var b bytes.Buffer
		if err := onnx.ExportTo(&b, c.module, []*torch.Tensor{torch.Ones(c.shape)}); err != nil {
			t.Fatal(err)
		}
		s := damage.New(uint64(len(name)))
		for range 300 {
			damaged, what := s.Bytes(b.Bytes())
			func() {
				defer func() {
					if r := recover(); r != nil {
						t.Errorf("%s with %s: panic %v", name, what, r)
					}
				}()
				exercise(damaged)
			}()
		}
	}
}
