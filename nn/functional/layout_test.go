package functional_test

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	F "github.com/gotorch-dev/torch/nn/functional"
)

func ints(t *testing.T, s string) []int {
	var l []int
	for f := range strings.SplitSeq(s, ",") {
		n, err := strconv.Atoi(f)
		if err != nil {
			t.Fatal(err)
		}
		l = append(l, n)
	}
	return l
}

// strided is a tensor of ones with the given strides.
func strided(shape, stride []int) *torch.Tensor {
	n := 1
	for i := range shape {
		n += (shape[i] - 1) * stride[i]
	}
	return torch.AsStrided(torch.Ones([]int{n}), shape, stride)
}

// layouts are the operators of testdata/strides.txt.
var layouts = map[string]func(x *torch.Tensor) *torch.Tensor{
	"relu":       func(x *torch.Tensor) *torch.Tensor { return F.ReLU(x) },
	"exp":        func(x *torch.Tensor) *torch.Tensor { return x.Exp() },
	"mul_scalar": func(x *torch.Tensor) *torch.Tensor { return x.MulScalar(2.0) },
	"clamp":      func(x *torch.Tensor) *torch.Tensor { return x.ClampScalar(torch.ClampScalarOptions{Min: 0, Max: 6}) },
	"gt_scalar":  func(x *torch.Tensor) *torch.Tensor { return x.GtScalar(0) },
	"add_self":   func(x *torch.Tensor) *torch.Tensor { return x.Add(x) },
	"add_contig": func(x *torch.Tensor) *torch.Tensor { return x.Add(torch.Ones(x.Shape())) },
	"contig_add": func(x *torch.Tensor) *torch.Tensor { return torch.Ones(x.Shape()).Add(x) },
	"add_cl":     func(x *torch.Tensor) *torch.Tensor { return x.Add(channelsLast(x.Shape())) },
	"cl_add":     func(x *torch.Tensor) *torch.Tensor { return channelsLast(x.Shape()).Add(x) },
	"mul_channel": func(x *torch.Tensor) *torch.Tensor {
		return x.Mul(torch.Ones([]int{1, x.Size(1), 1, 1}))
	},
	"channel_mul": func(x *torch.Tensor) *torch.Tensor {
		return torch.Ones([]int{1, x.Size(1), 1, 1}).Mul(x)
	},
	"add_row":      func(x *torch.Tensor) *torch.Tensor { return x.Add(torch.Ones([]int{x.Size(3)})) },
	"where":        func(x *torch.Tensor) *torch.Tensor { return torch.Where(x.GtScalar(0), x, torch.ZerosLike(x)) },
	"where_scalar": func(x *torch.Tensor) *torch.Tensor { return torch.WhereScalar(x.GtScalar(0), x, 0.0) },
	"batch_norm_train": func(x *torch.Tensor) *torch.Tensor {
		return F.BatchNorm(x, nil, nil, F.BatchNormOptions{Training: true})
	},
	"batch_norm_eval": func(x *torch.Tensor) *torch.Tensor {
		return F.BatchNorm(x, torch.Zeros([]int{x.Size(1)}), torch.Ones([]int{x.Size(1)}))
	},
	"batch_norm_affine": func(x *torch.Tensor) *torch.Tensor {
		c := []int{x.Size(1)}
		return F.BatchNorm(x, torch.Zeros(c), torch.Ones(c),
			F.BatchNormOptions{Weight: torch.Ones(c), Bias: torch.Ones(c)})
	},
	"group_norm":    func(x *torch.Tensor) *torch.Tensor { return F.GroupNorm(x, 1) },
	"instance_norm": func(x *torch.Tensor) *torch.Tensor { return F.InstanceNorm(x) },
	"max_pool2d":    maxPool,
	"max_pool2d_indices": func(x *torch.Tensor) *torch.Tensor {
		_, i := F.MaxPool2dWithIndices(x, []int{3, 3},
			F.MaxPool2dWithIndicesOptions{Stride: []int{2, 2}, Padding: []int{1, 1}})
		return i
	},
	"avg_pool2d":            avgPool,
	"adaptive_avg_pool2d_1": func(x *torch.Tensor) *torch.Tensor { return F.AdaptiveAvgPool2d(x, []int{1, 1}) },
	"adaptive_avg_pool2d_2": func(x *torch.Tensor) *torch.Tensor { return F.AdaptiveAvgPool2d(x, []int{2, 2}) },
	"adaptive_max_pool2d_2": func(x *torch.Tensor) *torch.Tensor { return F.AdaptiveMaxPool2d(x, []int{2, 2}) },
	"nearest":               interpolate("nearest"),
	"bilinear":              interpolate("bilinear"),
	"bicubic":               interpolate("bicubic"),
	"dropout":               func(x *torch.Tensor) *torch.Tensor { return F.Dropout(x) },
	"dropout2d":             func(x *torch.Tensor) *torch.Tensor { return F.Dropout2d(x) },
	"cat": func(x *torch.Tensor) *torch.Tensor {
		return torch.Cat([]*torch.Tensor{x, x},
			torch.CatOptions{Dim: 1})
	},
	"cat_contig": func(x *torch.Tensor) *torch.Tensor {
		return torch.Cat([]*torch.Tensor{x, torch.Ones(x.Shape())}, torch.CatOptions{Dim: 1})
	},
	"pad": func(x *torch.Tensor) *torch.Tensor { return F.Pad(x, []int{1, 1, 1, 1}) },
	"pad_reflect": func(x *torch.Tensor) *torch.Tensor {
		return F.Pad(x, []int{1, 0, 1, 0},
			F.PadOptions{Mode: "reflect"})
	},
	"softmax":    func(x *torch.Tensor) *torch.Tensor { return F.Softmax(x, F.SoftmaxOptions{Dim: torch.Some(1)}) },
	"clone":      func(x *torch.Tensor) *torch.Tensor { return x.Clone() },
	"zeros_like": func(x *torch.Tensor) *torch.Tensor { return torch.ZerosLike(x) },
	"double":     (*torch.Tensor).Double,
	"sum1": func(x *torch.Tensor) *torch.Tensor {
		return x.SumDim([]int{1},
			torch.SumDimOptions{KeepDim: true})
	},
	"mean_hw": func(x *torch.Tensor) *torch.Tensor {
		return x.MeanDim([]int{2, 3}, torch.MeanDimOptions{KeepDim: true})
	},

	"max_pool2d_backward": backward(maxPool),
	"avg_pool2d_backward": backward(avgPool),
	"relu_backward":       backward(func(x *torch.Tensor) *torch.Tensor { return F.ReLU(x) }),
	"interp_backward":     backward(interpolate("nearest")),
	"batch_norm_backward": backward(func(x *torch.Tensor) *torch.Tensor {
		return F.BatchNorm(x, nil, nil, F.BatchNormOptions{Training: true})
	}),
}

func channelsLast(shape []int) *torch.Tensor {
	return torch.Ones(shape).To(torch.ChannelsLast)
}

func maxPool(x *torch.Tensor) *torch.Tensor {
	return F.MaxPool2d(x, []int{3, 3}, F.MaxPool2dOptions{Stride: []int{2, 2}, Padding: []int{1, 1}})
}

func avgPool(x *torch.Tensor) *torch.Tensor {
	return F.AvgPool2d(x, []int{3, 3}, F.AvgPool2dOptions{Stride: []int{2, 2}, Padding: []int{1, 1}})
}

func interpolate(mode string) func(x *torch.Tensor) *torch.Tensor {
	return func(x *torch.Tensor) *torch.Tensor {
		return F.Interpolate(x, F.InterpolateOptions{ScaleFactor: []float64{2, 2}, Mode: mode})
	}
}

// backward is the gradient of f for a gradient of f's own layout.
func backward(f func(x *torch.Tensor) *torch.Tensor) func(x *torch.Tensor) *torch.Tensor {
	return func(x *torch.Tensor) *torch.Tensor {
		x = x.Detach().SetRequiresGrad(true)
		y := f(x)
		return torch.Grad([]*torch.Tensor{y}, []*torch.Tensor{x},
			torch.GradOptions{GradOutputs: []*torch.Tensor{torch.OnesLike(y.Detach())}})[0]
	}
}

// TestStrides compares the memory layout of results with PyTorch's. Each line of the table is the shape and strides of
// an input, then strides of results with the operators that give them.
func TestStrides(t *testing.T) {
	f, err := os.Open("testdata/strides.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	bad := map[string]int{}
	for s := bufio.NewScanner(f); s.Scan(); {
		fields := strings.Fields(s.Text())
		shape, stride := ints(t, fields[0]), ints(t, fields[1])
		for _, g := range fields[2:] {
			want, ops, _ := strings.Cut(g, ":")
			for op := range strings.SplitSeq(ops, ",") {
				fn := layouts[op]
				if fn == nil {
					t.Fatalf("no operator %s", op)
				}
				got := strings.ReplaceAll(strings.Trim(fmt.Sprint(fn(strided(shape, stride)).Strides()), "[]"), " ",
					",")
				if got != want {
					if bad[op]++; bad[op] <= 3 {
						t.Errorf("%s of shape %v strides %v: got %s, want %s", op, shape, stride, got, want)
					}
				}
			}
		}
	}
	if len(bad) > 0 {
		t.Log(bad)
	}
}
