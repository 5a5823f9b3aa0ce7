package pool_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/gotorch-dev/torch/internal/fused"
	"github.com/gotorch-dev/torch/internal/opstest"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// A ReLU and the pooling behind it as one operator give the same bits as one after the other, and so do gradients and
// their gradients: planes with short and with long lines, channels-last memory, NaN, windows without a positive number,
// and windows that the kernel refuses.
func TestReLUMaxPool(t *testing.T) {
	type args struct{ k, stride, pad, dil []int }
	plain := args{[]int{2}, nil, []int{0}, []int{1}}
	over := args{[]int{3}, []int{2}, []int{1}, []int{1}}
	dilated := args{[]int{2}, []int{1}, []int{1}, []int{3}}
	for _, dt := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.Float16, tensor.BFloat16} {
		for _, sh := range [][]int{{2, 20, 9}, {3, 7}, {2, 20, 12, 13}, {3, 40, 70}, {2, 3, 8, 16}, {1, 17, 4, 5, 6}} {
			for _, a := range []args{plain, over, dilated} {
				for _, ceil := range []bool{false, true} {
					for _, last := range []bool{false, true} {
						nd := len(sh) - 2
						if sh[0] == 3 {
							nd = len(sh) - 1
						}
						f := tensor.ContiguousFormat
						if last {
							if f = map[int]tensor.MemoryFormat{4: tensor.ChannelsLast,
								5: tensor.ChannelsLast3d}[len(sh)]; f == tensor.ContiguousFormat {
								continue
							}
						}
						what := fmt.Sprintf("%v of %v, %v, ceil_mode %v, %v", dt, sh, a, ceil, f)
						in := opstest.Fill(tensor.Float32, 1, sh...).SubScalar(1.5)
						tensor.Data[float32](in)[5], tensor.Data[float32](in)[11] = float32(math.NaN()), 0
						in = tensor.DenseIn(in.To(dt), f, dt)
						run := func(separate bool) (r []*tensor.Tensor) {
							x := in.Clone().SetRequiresGrad(true)
							var y *tensor.Tensor
							if separate {
								y = op.Call1(fmt.Sprintf("aten::max_pool%dd", nd), x.ReLU(), a.k,
									append([]int{}, a.stride...), a.pad, a.dil, ceil)
							} else {
								y = fused.ReLUMaxPool(x, a.k, append([]int{}, a.stride...), a.pad, a.dil, ceil, nd,
									false)
							}
							g := opstest.Fill(tensor.Float32, 2, y.Shape()...).To(dt).SetRequiresGrad(true)
							y.Backward(tensor.BackwardOptions{Gradient: g, CreateGraph: true})
							gx := x.Grad()
							gx.Mul(gx).SumDim(nil).Backward()
							var none *tensor.Tensor
							tensor.NoGrad(func() {
								none = fused.ReLUMaxPool(in, a.k, append([]int{}, a.stride...), a.pad, a.dil, ceil, nd,
									false)
							})
							return []*tensor.Tensor{y, gx, g.Grad(), none}
						}
						got, want := run(false), run(true)
						for i, name := range []string{"result", "gradient", "gradient of the gradient",
							"result without gradients"} {
							g, w := tensor.Data[float64](tensor.Dense(got[i].To(tensor.Float64))),
								tensor.Data[float64](tensor.Dense(want[i].To(tensor.Float64)))
							for j := range w {
								if math.Float64bits(g[j]) != math.Float64bits(w[j]) &&
									!(math.IsNaN(g[j]) && math.IsNaN(w[j])) {
									t.Fatalf("%s: %s: element %d is %v, want %v", what, name, j, g[j], w[j])
								}
							}
							if got[i].SuggestFormat() != want[i].SuggestFormat() {
								t.Errorf("%s: %s: memory format %v, want %v", what, name, got[i].SuggestFormat(),
									want[i].SuggestFormat())
							}
						}
					}
				}
			}
		}
	}
}
