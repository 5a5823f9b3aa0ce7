package op_test

import (
	"slices"
	"testing"

	_ "github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/second"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

func TestHelpersStayOnTheDevice(t *testing.T) {
	cpu := tensor.FromSlice([]float32{1, 2, 3, 4})
	for _, d := range []tensor.Device{{}, second.Device} {
		x := cpu.To(d)
		mask := x.GtScalar(2)
		for name, c := range map[string]struct {
			got  *tensor.Tensor
			want []float32
		}{
			"Zeros":     {op.Zeros(x, []int{2}, tensor.Float32), []float32{0, 0}},
			"Full":      {op.Full(x, []int{2}, 7, tensor.Float32), []float32{7, 7}},
			"Numbers":   {op.Numbers(x, []int64{3, 1}).ToDType(tensor.Float32), []float32{3, 1}},
			"Where":     {op.Where(mask, x), []float32{0, 0, 3, 4}},
			"ZeroWhere": {op.ZeroWhere(x, mask), []float32{1, 2, 0, 0}},
			"Evenly":    {op.Evenly(x.SumDim([]int{0}), mask), []float32{0, 0, 5, 5}},
		} {
			if c.got.Device() != d {
				t.Errorf("%s is on %s, want %s", name, c.got.Device(), d)
			} else if got := tensor.Data[float32](c.got.CPU()); !slices.Equal(got, c.want) {
				t.Errorf("%s on %s: got %v, want %v", name, d, got, c.want)
			}
		}
	}
}
