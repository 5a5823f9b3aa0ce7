package conv_test

import (
	"math"
	"testing"

	"github.com/gotorch-dev/torch/internal/opstest"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// call1 calls an operator that must not fail.
func call1(t *testing.T, name string, args ...any) *tensor.Tensor {
	t.Helper()
	boxed := make([]tensor.Value, len(args))
	for i, a := range args {
		if x, ok := a.(*tensor.Tensor); !ok || x != nil {
			boxed[i] = tensor.Box(a)
		}
	}
	y, err := tensor.CallOp(name, boxed...)
	if err != nil {
		t.Fatal(err)
	}
	return y[0].T
}

// applied is a function that fused operators know, by the operator of its own.
func applied(t *testing.T, name string, x *tensor.Tensor) *tensor.Tensor {
	switch name {
	case "none":
		return x
	case "gelu_tanh":
		return call1(t, "aten::gelu", x, "tanh")
	}
	return call1(t, "aten::"+name, x)
}

func close(t *testing.T, name string, got, want *tensor.Tensor) {
	t.Helper()
	if !tensor.SameShape(got.Shape(), want.Shape()) {
		t.Fatalf("%s: shape %v, want %v", name, got.Shape(), want.Shape())
	}
	a, b := tensor.Data[float32](tensor.Dense(got)), tensor.Data[float32](tensor.Dense(want))
	for i, v := range b {
		if d := math.Abs(float64(a[i] - v)); !(d <= 2e-5*(1+math.Abs(float64(v)))) {
			t.Fatalf("%s: element %d is %v, want %v", name, i, a[i], v)
		}
	}
}

// Every algorithm applies an activation once to each element of the result: what the convolution without it gives, and
// then the operator.
func TestActivations(t *testing.T) {
	one, none := []int{1, 1}, []int{0, 0}
	for _, c := range []struct {
		name             string
		x, w             []int
		stride, pad      []int
		groups           int
		residual, planar bool
	}{
		{name: "direct", x: []int{2, 6, 9, 8}, w: []int{40, 6, 3, 3}, stride: []int{2, 1}, pad: one, groups: 1},
		{name: "direct, many tasks", x: []int{1, 24, 40, 40}, w: []int{48, 24, 3, 3}, stride: one, pad: one, groups: 1},
		{name: "direct, planar", x: []int{2, 6, 9, 8}, w: []int{40, 6, 3, 3}, stride: one, pad: one, groups: 1,
			planar: true},
		{name: "direct, residual", x: []int{2, 6, 9, 8}, w: []int{40, 6, 3, 3}, stride: one, pad: one, groups: 1,
			residual: true},
		{name: "one tap", x: []int{2, 70, 14, 14}, w: []int{130, 70, 1, 1}, stride: one, pad: none, groups: 1},
		{name: "one tap, planar", x: []int{2, 7, 14, 14}, w: []int{13, 7, 1, 1}, stride: one, pad: none, groups: 1,
			planar: true},
		{name: "one position", x: []int{2, 70, 1, 1}, w: []int{13, 70, 1, 1}, stride: one, pad: none, groups: 1},
		{name: "one output", x: []int{2, 70, 5, 5}, w: []int{1, 70, 1, 1}, stride: one, pad: none, groups: 1},
		{name: "windows", x: []int{2, 3, 16, 16}, w: []int{12, 3, 8, 8}, stride: []int{8, 8}, pad: none, groups: 1},
		{name: "few outputs", x: []int{1, 64, 40, 40}, w: []int{2, 64, 3, 3}, stride: one, pad: one, groups: 1},
		{name: "groups", x: []int{2, 32, 9, 8}, w: []int{64, 8, 3, 3}, stride: one, pad: one, groups: 4},
		{name: "groups of four", x: []int{2, 32, 9, 8}, w: []int{32, 4, 3, 3}, stride: one, pad: one, groups: 8},
		{name: "depthwise", x: []int{2, 48, 30, 30}, w: []int{48, 1, 5, 5}, stride: one, pad: []int{2, 2}, groups: 48},
		{name: "depthwise, odd channels", x: []int{2, 150, 14, 14}, w: []int{150, 1, 3, 3}, stride: one, pad: one,
			groups: 150},
		{name: "depthwise, bands", x: []int{2, 96, 30, 30}, w: []int{96, 1, 7, 7}, stride: one, pad: []int{3, 3},
			groups: 96},
		{name: "depthwise, stride", x: []int{2, 96, 30, 30}, w: []int{96, 1, 3, 3}, stride: []int{2, 2}, pad: one,
			groups: 96},
		{name: "depthwise, few channels", x: []int{2, 3, 30, 30}, w: []int{3, 1, 3, 3}, stride: one, pad: one,
			groups: 3},
		{name: "depthwise, planar", x: []int{2, 48, 30, 30}, w: []int{48, 1, 3, 3}, stride: one, pad: one, groups: 48,
			planar: true},
	} {
		x, w := opstest.Fill(tensor.Float32, 1, c.x...), opstest.Fill(tensor.Float32, 2, c.w...)
		b := opstest.Fill(tensor.Float32, 3, c.w[0])
		if !c.planar {
			x, w = tensor.DenseIn(x, tensor.ChannelsLast, x.DType()), tensor.DenseIn(w, tensor.ChannelsLast, w.DType())
		}
		args := []any{x, w, b, (*tensor.Tensor)(nil), c.stride, c.pad, one, c.groups, -0.9, 3.5}
		plain := call1(t, "gotorch::conv_fused", args...)
		if c.residual {
			r := opstest.Fill(tensor.Float32, 4, plain.Shape()...)
			args[3] = tensor.DenseIn(r, tensor.ChannelsLast, r.DType())
			plain = call1(t, "gotorch::conv_fused", args...)
		}
		for act := range op.Activations {
			for range 2 { // the second call has a plan
				close(t, c.name+", "+act, call1(t, "gotorch::conv_fused", append(args, act)...), applied(t, act, plain))
			}
		}
	}
	x := opstest.Fill(tensor.Float32, 1, 1, 3, 3, 3)
	if _, err := tensor.CallOp("gotorch::conv_fused", tensor.Box(x), tensor.Box(x), tensor.Value{}, tensor.Value{},
		tensor.Box(one), tensor.Box(none), tensor.Box(one), tensor.Box(1), tensor.Box(0.0), tensor.Box(1.0),
		tensor.Box("cosine")); err == nil {
		t.Error("an unknown activation: expected an error")
	}
}

// The three layers of a chain apply their activations as the single convolutions do.
func TestChainActivations(t *testing.T) {
	one, none := []int{1, 1}, []int{0, 0}
	inf := math.Inf(1)
	var absent *tensor.Tensor
	for _, c := range []struct {
		channels, size, taps, pad, stride int
	}{{48, 30, 3, 1, 1}, {48, 30, 5, 2, 2}, {40, 9, 3, 1, 1}, {480, 14, 3, 1, 1}} {
		last := func(seed int, shape ...int) *tensor.Tensor {
			x := opstest.Fill(tensor.Float32, seed, shape...)
			return tensor.DenseIn(x, tensor.ChannelsLast, x.DType())
		}
		x, w := last(1, 2, 24, c.size, c.size), last(2, c.channels, 24, 1, 1)
		w2, w3 := last(3, c.channels, 1, c.taps, c.taps), last(4, 20, c.channels, 1, 1)
		stride, pad := []int{c.stride, c.stride}, []int{c.pad, c.pad}
		y := call1(t, "gotorch::conv_fused", x, w, absent, absent, one, none, one, 1, -inf, inf, "silu")
		y = call1(t, "gotorch::conv_fused", y, w2, absent, absent, stride, pad, one, c.channels, -inf, inf, "hardswish")
		two := []any{x, w, absent, one, none, one, -inf, inf, w2, absent, stride, pad, one, -inf, inf}
		three := append(append([]any(nil), two...), w3, absent, absent, -inf, inf, "silu", "hardswish", "sigmoid")
		two = append(two, absent, absent, absent, -inf, inf, "silu", "hardswish")
		for range 2 {
			close(t, "two layers", call1(t, "gotorch::conv_depthwise_fused", two...), y)
			close(t, "three layers", call1(t, "gotorch::conv_depthwise_fused", three...),
				call1(t, "gotorch::conv_fused", y, w3, absent, absent, one, none, one, 1, -inf, inf, "sigmoid"))
		}
	}
}

// The gate of channels gives what its body gives, for images of one and of several blocks.
func TestSqueezeExcite(t *testing.T) {
	for _, shape := range [][]int{{1, 6, 1, 1}, {2, 16, 7, 5}, {1, 96, 56, 56}, {3, 480, 14, 14}} {
		c := shape[1]
		x := opstest.Fill(tensor.Float32, 1, shape...)
		w1, w2 := opstest.Fill(tensor.Float32, 2, 4, c), opstest.Fill(tensor.Float32, 3, 4, c)
		b1, b2 := opstest.Fill(tensor.Float32, 4, 4), opstest.Fill(tensor.Float32, 5, c)
		mean := call1(t, "aten::mean.dim", x, []int{2, 3}, false)
		y := call1(t, "aten::silu", call1(t, "aten::linear", mean, w1, b1))
		y = call1(t, "aten::sigmoid", call1(t, "aten::addmm", b2, y, w2))
		want := x.Mul(y.Unsqueeze(2).Unsqueeze(3))
		for _, x := range []*tensor.Tensor{x, tensor.DenseIn(x, tensor.ChannelsLast, x.DType())} {
			close(t, "squeeze_excite", call1(t, "gotorch::squeeze_excite", x, w1, b1, w2, b2, "silu", "sigmoid"), want)
		}
	}
	x := opstest.Fill(tensor.Float32, 1, 2, 6, 3, 3)
	w := opstest.Fill(tensor.Float32, 1, 4, 5)
	if _, err := tensor.CallOp("gotorch::squeeze_excite", tensor.Box(x), tensor.Box(w), tensor.Value{}, tensor.Box(w),
		tensor.Value{}, tensor.Box("relu"), tensor.Box("sigmoid")); err == nil {
		t.Error("a weight for another number of channels: expected an error")
	}
}
