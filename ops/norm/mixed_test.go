package norm_test

import (
	"fmt"
	"testing"

	"github.com/gotorch-dev/torch/internal/opstest"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

// Some groups of an image may lie far from zero, of which the mean is taken away before scaling, and others near it.
func TestGroupNormFarAndNear(t *testing.T) {
	for far := range 3 { // which of the groups
		for _, size := range []int{3, 40} {
			x := opstest.Fill(tensor.Float32, 1, 2, 6, size, size)
			x.Narrow(1, 2*far, 2).AddInPlace(tensor.FromSlice([]float32{50}, 1))
			want := F.GroupNorm(x.ToDType(tensor.Float64), 3).ToDType(tensor.Float32)
			for _, f := range []tensor.MemoryFormat{tensor.ContiguousFormat, tensor.ChannelsLast} {
				got := F.GroupNorm(x.Contiguous(tensor.ContiguousOptions{MemoryFormat: f}), 3)
				name := fmt.Sprintf("group %d far, %v, size %d", far, f, size)
				if d := got.Sub(want).Abs().Max().Num().F; !(d < 1e-4) {
					t.Errorf("%s: off by %g", name, d)
				}
			}
		}
	}
}
