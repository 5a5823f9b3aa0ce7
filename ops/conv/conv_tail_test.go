package conv_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/gotorch-dev/torch/internal/opstest"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

// convTail calls gotorch::conv_tail with a bias.
func convTail(x, w, b *tensor.Tensor, stride, groups int, relu bool, window ...int) (*tensor.Tensor, error) {
	var args []tensor.Value
	for _, a := range []any{x, w, b, []int{stride, stride}, []int{1, 1}, []int{1, 1}, groups, relu,
		append([]int{}, window...)} {
		args = append(args, tensor.Box(a))
	}
	y, err := tensor.CallOp("gotorch::conv_tail", args...)
	if err != nil {
		return nil, err
	}
	return y[0].T, nil
}

// A convolution with its tail gives what the parts give, and so do the gradients, whichever of them are wanted, and
// their gradients.
func TestTail(t *testing.T) {
	last := func(t *tensor.Tensor) *tensor.Tensor {
		return tensor.DenseIn(t, tensor.ChannelsLast, t.DType())
	}
	same := func(x *tensor.Tensor) *tensor.Tensor { return x }
	for _, c := range []struct {
		name           string
		dt             tensor.DType
		stride, groups int
		relu           bool
		window         []int
		layout         func(*tensor.Tensor) *tensor.Tensor
	}{
		{"ReLU", tensor.Float32, 1, 1, true, nil, last},
		{"ReLU, planar", tensor.Float32, 1, 1, true, nil, same},
		{"ReLU, groups", tensor.Float32, 2, 2, true, nil, last},
		{"nothing", tensor.Float32, 1, 1, false, nil, last},
		{"pooling", tensor.Float32, 1, 1, false, []int{2, 2}, last},
		{"ReLU and pooling", tensor.Float32, 2, 1, true, []int{2, 3}, last},
		{"ReLU and pooling, planar", tensor.Float32, 1, 1, true, []int{3, 2}, same},
		{"ReLU and pooling, float64", tensor.Float64, 1, 1, true, []int{2, 2}, last},
		{"ReLU and pooling, bfloat16", tensor.BFloat16, 1, 1, true, []int{2, 2}, last},
	} {
		for mask := range 8 {
			for _, twice := range []bool{false, true} {
				name := fmt.Sprintf("%s, gradients of %03b, twice %v", c.name, mask, twice)
				eps := map[tensor.DType]float64{tensor.Float32: 1e-4, tensor.Float64: 1e-12, tensor.BFloat16: 0.1}[c.dt]
				var y, wants [2]*tensor.Tensor
				var grads [2][]*tensor.Tensor
				for i := range 2 {
					x := c.layout(opstest.Fill(tensor.Float32, 1, 2, 6, 9, 8).To(c.dt)).SetRequiresGrad(mask&1 > 0)
					w := c.layout(opstest.Fill(tensor.Float32, 2, 10, 6/c.groups, 3,
						3).To(c.dt)).SetRequiresGrad(mask&2 > 0)
					// Some windows have no positive number.
					b := opstest.Fill(tensor.Float32, 3, 10).SubScalar(15).To(c.dt).SetRequiresGrad(mask&4 > 0)
					if i == 0 {
						var err error
						if y[i], err = convTail(x, w, b, c.stride, c.groups, c.relu, c.window...); err != nil {
							t.Fatalf("%s: %v", name, err)
						}
					} else {
						y[i] = F.Conv2d(x, w,
							F.Conv2dOptions{Bias: b, Stride: []int{c.stride, c.stride}, Padding: []int{1, 1},
								Groups: tensor.Some(c.groups)})
						if c.relu {
							y[i] = y[i].ReLU()
						}
						if c.window != nil {
							y[i] = F.MaxPool2d(y[i], c.window)
						}
					}
					if mask == 0 {
						continue
					}
					g := opstest.Fill(tensor.Float32, 4, y[i].Shape()...).To(c.dt)
					y[i].Backward(tensor.BackwardOptions{Gradient: g, CreateGraph: twice})
					for _, p := range []*tensor.Tensor{x, w, b} {
						if p.Grad() != nil {
							grads[i] = append(grads[i], p.Grad())
						}
					}
					if twice && mask&3 == 3 {
						gx := x.Grad()
						x.SetGrad(nil)
						w.SetGrad(nil)
						gx.Mul(gx).SumDim(nil).Backward()
						wants[i] = w.Grad()
					}
				}
				if c.relu && c.window != nil && y[1].EqScalar(0).SumDim(nil).Item() == 0 {
					t.Errorf("%s: every window has a positive number", name)
				}
				near(t, name, y[0], y[1], eps)
				if y[0].SuggestFormat() != y[1].SuggestFormat() {
					t.Errorf("%s: memory format %v, want %v", name, y[0].SuggestFormat(), y[1].SuggestFormat())
				}
				if len(grads[0]) != len(grads[1]) {
					t.Fatalf("%s: %d gradients, want %d", name, len(grads[0]), len(grads[1]))
				}
				for i, g := range grads[0] {
					near(t, fmt.Sprintf("%s: gradient %d", name, i), g, grads[1][i], eps*10)
				}
				if wants[1] != nil {
					near(t, name+": gradient of the gradient", wants[0], wants[1], eps*1000)
				}
			}
		}
	}
	x, w, b := opstest.Fill(tensor.Float32, 1, 2, 6, 9, 8), opstest.Fill(tensor.Float32, 2, 10, 6, 3, 3),
		opstest.Fill(tensor.Float32, 3, 10)
	for _, c := range []struct {
		window []int
		want   error // that of aten::max_pool2d
	}{{[]int{10, 1}, tensor.ErrShape}, {[]int{2, 2, 2}, tensor.ErrShape}, {[]int{0, 1}, tensor.ErrValue}} {
		if _, err := convTail(x, w, b, 1, 1, true, c.window...); !errors.Is(err, c.want) {
			t.Errorf("a window %v: got %v, want an error %v", c.window, err, c.want)
		}
	}
}

func near(t *testing.T, what string, got, want *tensor.Tensor, eps float64) {
	t.Helper()
	g, w := tensor.Data[float64](tensor.Dense(got.To(tensor.Float64))),
		tensor.Data[float64](tensor.Dense(want.To(tensor.Float64)))
	if len(g) != len(w) {
		t.Fatalf("%s: shape %v, want %v", what, got.Shape(), want.Shape())
	}
	for i, v := range w {
		if !(math.Abs(g[i]-v) <= eps*(1+math.Abs(v))) {
			t.Fatalf("%s: element %d is %v, want %v", what, i, g[i], v)
		}
	}
}
