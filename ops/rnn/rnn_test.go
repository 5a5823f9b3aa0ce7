package rnn_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/gotorch-dev/torch/internal/cpu"
	"github.com/gotorch-dev/torch/internal/opstest"
	"github.com/gotorch-dev/torch/nn"
	_ "github.com/gotorch-dev/torch/ops/all"
	"github.com/gotorch-dev/torch/ops/rnn"
	"github.com/gotorch-dev/torch/tensor"
)

type T = tensor.Tensor

var gates = []int{1, 1, 4, 3}

// inputs are the tensors of a layer, nil where it has none.
func inputs(dt tensor.DType, mode, L, N, I, H int, bias bool) []*T {
	G := gates[mode]
	x := []*T{opstest.Fill(dt, 1, L, N, I), opstest.Fill(dt, 2, N, H), nil, opstest.Fill(dt, 3, G*H, I),
		opstest.Fill(dt, 4, G*H, H).MulScalar(1 / math.Sqrt(float64(H*H))), nil, nil}
	if mode == 2 {
		x[2] = opstest.Fill(dt, 5, N, H)
	}
	if bias {
		x[5], x[6] = opstest.Fill(dt, 6, G*H), opstest.Fill(dt, 7, G*H)
	}
	for i := range x {
		if x[i] != nil {
			x[i] = x[i].Detach().SetRequiresGrad(true)
		}
	}
	return x
}

func call(full string, args ...any) []tensor.Value {
	vals := make([]tensor.Value, len(args))
	for i, a := range args {
		if t, ok := a.(*T); ok && t == nil {
			continue
		}
		vals[i] = tensor.Box(a)
	}
	res, err := tensor.CallOp(full, vals...)
	if err != nil {
		panic(err)
	}
	return res
}

// layer runs the operator; the result joins the outputs and the last cell state.
func layer(x []*T, mode int, reverse bool) *T {
	r := call("gotorch::rnn_layer", x[0], x[1], x[2], x[3], x[4], x[5], x[6], mode, reverse)
	if mode != 2 {
		return r[0].T
	}
	return call("aten::cat", []*T{r[0].T, r[1].T.Unsqueeze(0)}, 0)[0].T
}

// plain is the same step by step.
func plain(x []*T, mode int, reverse bool) *T {
	h, c := x[1], x[2]
	ys := make([]*T, x[0].Size(0))
	for s := range ys {
		t := s
		if reverse {
			t = len(ys) - 1 - s
		}
		name, state := []string{"rnn_tanh", "rnn_relu", "lstm", "gru"}[mode], any(h)
		if mode == 2 {
			state = []*T{h, c}
		}
		r := call("aten::"+name+"_cell", x[0].Select(0, t), state, x[3], x[4], x[5], x[6])
		h = r[0].T
		if mode == 2 {
			c = r[1].T
		}
		ys[t] = h
	}
	if mode == 2 {
		ys = append(ys, c)
	}
	return call("aten::stack", ys, 0)[0].T
}

func near(t *testing.T, what string, got, want *T, tol float64) {
	t.Helper()
	g, w := tensor.Data[float64](tensor.DenseAs(got.Detach(), tensor.Float64)),
		tensor.Data[float64](tensor.DenseAs(want.Detach(), tensor.Float64))
	if len(g) != len(w) {
		t.Fatalf("%s: got %d elements, want %d", what, len(g), len(w))
	}
	for i := range g {
		if !(math.Abs(g[i]-w[i]) <= tol*(1+math.Abs(w[i]))) {
			t.Fatalf("%s: element %d is %g, want %g", what, i, g[i], w[i])
		}
	}
}

// TestLayer compares the operator with its steps in float64, values and gradients, for sizes around those of its
// blocks.
func TestLayer(t *testing.T) {
	for _, level := range cpu.Levels() {
		t.Run(level.Name, func(t *testing.T) {
			defer cpu.Set(level.Features)()
			for mode := range gates {
				for _, z := range [][4]int{{1, 1, 1, 1}, {4, 3, 5, 7}, {3, 9, 2, 64}, {2, 8, 66, 70}, {5, 12, 3, 130},
					{6, 2, 70, 65}, {130, 2, 3, 5}, {5, 520, 2, 70},
					{5, 1, 3, 7}, {4, 1, 5, 70}, {12, 1, 6, 65}, {9, 1, 3, 260}} {
					for _, reverse := range []bool{false, true} {
						check(t, mode, z, reverse, z[0] != 4)
					}
				}
			}
		})
	}
}

// TestParts is TestLayer where the gradients of weights come in several parts.
func TestParts(t *testing.T) {
	for _, least := range []int{1, 5, 12} {
		restore := rnn.SetBackward(least, 1)
		for mode := range gates {
			for _, z := range [][4]int{{1, 3, 2, 2}, {2, 1, 3, 1}, {3, 2, 1, 66}, {4, 3, 5, 7}, {11, 2, 66, 5},
				{13, 1, 3, 4}, {70, 3, 2, 3}} {
				for _, reverse := range []bool{false, true} {
					check(t, mode, z, reverse, z[0] != 4)
				}
			}
		}
		restore()
	}
}

func check(t *testing.T, mode int, z [4]int, reverse, bias bool) {
	name := fmt.Sprintf("mode %d, %v, reverse %v", mode, z, reverse)
	ref := inputs(tensor.Float64, mode, z[0], z[1], z[2], z[3], bias)
	want := plain(ref, mode, reverse)
	g := opstest.Fill(tensor.Float64, 9, want.Shape()...)
	want.Backward(tensor.BackwardOptions{Gradient: g})
	for _, c := range []struct {
		dt  tensor.DType
		tol float64
	}{{tensor.Float64, 1e-11}, {tensor.Float32, 1e-4}} {
		x := inputs(c.dt, mode, z[0], z[1], z[2], z[3], bias)
		out := layer(x, mode, reverse)
		tensor.NoGrad(func() { near(t, name+", no gradient", layer(x, mode, reverse), out, 0) })
		out.Backward(tensor.BackwardOptions{Gradient: g.ToDType(c.dt)})
		near(t, name, out, want, c.tol)
		for i := range x {
			if x[i] != nil {
				near(t, fmt.Sprint(name, ", gradient ", i), x[i].Grad(), ref[i].Grad(), c.tol)
			}
		}
	}
}

func TestGradients(t *testing.T) {
	for mode := range gates {
		x := inputs(tensor.Float64, mode, 2, 2, 2, 3, true)
		all := []*T{x[0], x[1], x[3], x[4], x[5], x[6]}
		if mode == 2 {
			all = append(all, x[2])
		}
		opstest.GradCheck(t, fmt.Sprint("mode ", mode), func(y []*T) *T {
			z := []*T{y[0], y[1], nil, y[2], y[3], y[4], y[5]}
			if mode == 2 {
				z[2] = y[6]
			}
			return layer(z, mode, mode%2 == 1)
		}, all...)
	}
}

func TestThreads(t *testing.T) {
	defer rnn.SetBackward(64, 1)()
	for mode := range gates {
		opstest.SameBits(t, fmt.Sprint("mode ", mode), func() []*T {
			x := inputs(tensor.Float32, mode, 4, 33, 40, 200, true)
			y := layer(x, mode, false)
			y.Mul(y).Sum().Backward()
			return []*T{y.Detach(), x[0].Grad(), x[1].Grad(), x[3].Grad(), x[4].Grad(), x[5].Grad(), x[6].Grad()}
		})
	}
}

func TestRefusals(t *testing.T) {
	x := inputs(tensor.Float32, 2, 2, 2, 2, 3, true)
	x[3] = x[4]
	defer func() {
		if _, ok := recover().(*tensor.Error); !ok {
			t.Error("weights that do not fit are accepted")
		}
	}()
	layer(x, 2, false)
}

// The layers of package nn are made of this operator.
func Example() {
	m := nn.NewGRU(4, 8, nn.RNNOptions{Bidirectional: true})
	out, hn := m.Forward(opstest.Fill(tensor.Float32, 1, 5, 2, 4))
	fmt.Println(out.Shape(), hn.Shape())
	// Output: [5 2 16] [2 2 8]
}
