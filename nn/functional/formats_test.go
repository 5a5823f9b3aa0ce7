package functional_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/cpu"
	"github.com/gotorch-dev/torch/internal/par"
	F "github.com/gotorch-dev/torch/nn/functional"
)

// spatialCases are operators with kernels of their own for each memory format.
func spatialCases() map[string]func(x *torch.Tensor) *torch.Tensor {
	cases := map[string]func(x *torch.Tensor) *torch.Tensor{
		"global average": func(x *torch.Tensor) *torch.Tensor { return F.AdaptiveAvgPool2d(x, []int{1, 1}) },
		"batch_norm": func(x *torch.Tensor) *torch.Tensor {
			c := x.Size(1)
			w := torch.Arange(c).To(x.DType()).MulScalar(0.3).AddScalar(0.5)
			return F.BatchNorm(x, nil, nil, F.BatchNormOptions{Weight: w, Bias: w, Training: true})
		},
		"batch_norm eval": func(x *torch.Tensor) *torch.Tensor {
			w := torch.Arange(x.Size(1)).To(x.DType()).MulScalar(0.3).AddScalar(0.5)
			return F.BatchNorm(x, w, w, F.BatchNormOptions{Weight: w, Bias: w})
		},
		"group_norm": func(x *torch.Tensor) *torch.Tensor {
			w := torch.Arange(x.Size(1)).To(x.DType()).MulScalar(0.3).AddScalar(0.5)
			return F.GroupNorm(x, x.Size(1), F.GroupNormOptions{Weight: w, Bias: w})
		},
		"bilinear": interpolate("bilinear"),
		"nearest":  interpolate("nearest"),
	}
	for _, k := range []int{2, 3} {
		for s := 1; s <= 3; s++ {
			for _, p := range []int{0, 1} {
				for _, ceil := range []bool{false, true} {
					cases[fmt.Sprintf("max_pool2d k%d s%d p%d %v", k, s, p,
						ceil)] = func(x *torch.Tensor) *torch.Tensor {
						return F.MaxPool2d(x, []int{k, k},
							F.MaxPool2dOptions{Stride: []int{s, s}, Padding: []int{p, p}, CeilMode: ceil})
					}
					cases[fmt.Sprintf("avg_pool2d k%d s%d p%d %v", k, s, p,
						ceil)] = func(x *torch.Tensor) *torch.Tensor {
						return F.AvgPool2d(x, []int{k, k},
							F.AvgPool2dOptions{Stride: []int{s, s}, Padding: []int{p, p}, CeilMode: ceil,
								NoCountIncludePad: s == 2})
					}
				}
			}
		}
	}
	cases["max_pool2d dilated"] = func(x *torch.Tensor) *torch.Tensor {
		return F.MaxPool2d(x, []int{2, 3},
			F.MaxPool2dOptions{Stride: []int{2, 1}, Padding: []int{1, 1}, Dilation: []int{2, 2}})
	}
	cases["max_pool2d indices"] = func(x *torch.Tensor) *torch.Tensor {
		v, i := F.MaxPool2dWithIndices(x, []int{3, 3},
			F.MaxPool2dWithIndicesOptions{Stride: []int{2, 2}, Padding: []int{1, 1}})
		return v.Add(i.To(x.DType()).MulScalar(1e-3))
	}
	return cases
}

// gradient of f for an uneven gradient of its result.
func run(f func(x *torch.Tensor) *torch.Tensor, x *torch.Tensor) (y, g *torch.Tensor) {
	x = x.Detach().SetRequiresGrad(true)
	y = f(x)
	w := torch.Arange(y.Numel()).To(x.DType()).Reshape(y.Shape()).Sin()
	return y.Detach(), torch.Grad([]*torch.Tensor{y}, []*torch.Tensor{x},
		torch.GradOptions{GradOutputs: []*torch.Tensor{w}})[0]
}

func maxDiff(a, b *torch.Tensor) float64 {
	return a.Double().Sub(b.Double()).Abs().Max().Item()
}

// TestFormats compares float32 results and gradients in both memory formats, on every kernel path and for several
// numbers of threads, with float64 ones. Half of the elements are zero, so that maxima are tied; the results must have
// the same bits for all threads.
func TestFormats(t *testing.T) {
	oldThreads := par.NumThreads()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	defer par.SetNumThreads(oldThreads)
	for _, shape := range [][]int{{2, 5, 8, 10}, {3, 33, 7, 9}, {1, 64, 14, 14}, {2, 3, 19, 37}, {2, 130, 4, 4}} {
		torch.ManualSeed(1)
		x := F.ReLU(torch.Randn(shape))
		for name, f := range spatialCases() {
			wy, wg := run(f, x.Double())
			for _, last := range []bool{false, true} {
				in := x
				if last {
					in = x.To(torch.ChannelsLast)
				}
				var y1, g1 *torch.Tensor
				for _, l := range cpu.Levels() {
					restore := cpu.Set(l.Features)
					for _, threads := range []int{1, 2, 3, 8} {
						par.SetNumThreads(threads)
						y, g := run(f, in)
						tol := 2e-6 * (1 + wy.Abs().Max().Item())
						if d := maxDiff(y, wy); !(d <= tol) {
							t.Fatalf("%s of %v, channels last %v, %s: result differs by %g", name, shape, last, l.Name,
								d)
						}
						if d := maxDiff(g, wg); !(d <= 1e-5*(1+wg.Abs().Max().Item())) {
							t.Fatalf("%s of %v, channels last %v, %s: gradient differs by %g", name, shape, last,
								l.Name, d)
						}
						if threads == 1 {
							y1, g1 = y, g
						} else if !torch.Equal(y, y1) || !torch.Equal(g, g1) {
							t.Fatalf("%s of %v, channels last %v, %s: other bits with %d threads", name, shape, last,
								l.Name, threads)
						}
					}
					restore()
				}
			}
		}
	}
}

// TestFormats3d pools volumes in channels-last memory, and pictures and volumes without a batch whose strides look like
// it.
func TestFormats3d(t *testing.T) {
	torch.ManualSeed(3)
	pool3 := map[string]func(x *torch.Tensor) *torch.Tensor{
		"max_pool3d": func(x *torch.Tensor) *torch.Tensor {
			return F.MaxPool3d(x, []int{3, 2, 3}, F.MaxPool3dOptions{Stride: []int{2, 1, 2}, Padding: []int{1, 1, 1}})
		},
		"avg_pool3d": func(x *torch.Tensor) *torch.Tensor {
			return F.AvgPool3d(x, []int{3, 2, 3}, F.AvgPool3dOptions{Stride: []int{2, 1, 2}, Padding: []int{1, 1, 1}})
		},
		"adaptive_avg_pool3d": func(x *torch.Tensor) *torch.Tensor { return F.AdaptiveAvgPool3d(x, []int{1, 1, 1}) },
	}
	x := F.ReLU(torch.Randn([]int{2, 5, 6, 7, 9}))
	flat := F.ReLU(torch.Randn([]int{4, 6, 7, 9}))
	for name, f := range pool3 {
		for what, in := range map[string][2]*torch.Tensor{
			"volumes": {x, x.To(torch.ChannelsLast3d)}, "one volume": {flat, flat.To(torch.ChannelsLast)},
		} {
			wy, wg := run(f, in[0].Double())
			for i, v := range in {
				y, g := run(f, v)
				if a, b := maxDiff(y, wy), maxDiff(g, wg); !(a <= 1e-5 && b <= 1e-5) {
					t.Errorf("%s of %s, layout %d: differs by %g, gradient %g", name, what, i, a, b)
				}
			}
		}
	}
}
