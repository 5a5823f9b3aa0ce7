package pool

import (
	"slices"
	"testing"

	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// TestScatterLast compares gradients of poolings with indices in channels-last memory with those in the ordinary one,
// where windows overlap.
func TestScatterLast(t *testing.T) {
	for _, dt := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.BFloat16} {
		sh := []int{3, 5, 7, 6}
		x, n := tensor.New(sh, tensor.Float32), 0
		d := op.Raw[float32](x)
		for i := range d {
			n = n*1103515245 + 12345
			d[i] = float32(n >> 16 & 15)
		}
		x = tensor.DenseAs(x, dt)
		k := []int{3, 3}
		var want *T
		for _, f := range []tensor.MemoryFormat{tensor.ContiguousFormat, tensor.ChannelsLast} {
			in := tensor.DenseIn(x, f, dt)
			r := op.Call("aten::max_pool2d_with_indices", in, k, []int{1, 2}, []int{1, 1}, []int{1, 1}, false)
			g := op.Call1("aten::max_pool2d_with_indices_backward", tensor.DenseIn(r[0], f, dt), in, k, []int{1, 2},
				[]int{1, 1}, []int{1, 1}, false, r[1])
			if !g.IsContiguousFormat(f) {
				t.Fatalf("%v: gradient has strides %v", dt, g.Strides())
			}
			if g = tensor.DenseIn(g, tensor.ContiguousFormat, tensor.Float32); want == nil {
				want = g
			} else if a, b := op.Raw[float32](g), op.Raw[float32](want); !slices.Equal(a, b) {
				t.Fatalf("%v: %v, want %v", dt, a, b)
			}
		}
	}
}
