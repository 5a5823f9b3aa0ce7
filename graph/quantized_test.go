package graph_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/tensor"
)

// pairs builds programs with quantizations and dequantizations.
type pairs struct {
	*graph.Block
	dtype      tensor.DType
	least, top int
}

func (p pairs) quantize(x *graph.Value, scale float64, zero int) *graph.Value {
	return p.Call1("quantized_decomposed::quantize_per_tensor", x, scale, zero, p.least, p.top, p.dtype)
}

func (p pairs) dequantize(x *graph.Value, scale float64, zero int) *graph.Value {
	return p.Call1("quantized_decomposed::dequantize_per_tensor", x, scale, zero, p.least, p.top, p.dtype)
}

// both quantizes and dequantizes.
func (p pairs) both(x *graph.Value, scale float64, zero int) *graph.Value {
	return p.dequantize(p.quantize(x, scale, zero), scale, zero)
}

// weight is a constant of bytes, dequantized by channels of an axis, or with axis -1 as a whole.
func (p pairs) weight(g *torch.Generator, axis int, shape ...int) *graph.Value {
	w := torch.Rand(shape, torch.RandOptions{Generator: g}).MulScalar(254).SubScalar(127).To(tensor.Int8)
	if axis < 0 {
		return p.Call1("quantized_decomposed::dequantize_per_tensor", w, 0.01, 0, -127, 127, tensor.Int8)
	}
	n := shape[axis]
	scales := torch.Rand([]int{n}, torch.RandOptions{Generator: g}).MulScalar(0.01).AddScalar(0.005)
	return p.Call1("quantized_decomposed::dequantize_per_channel", w, scales, torch.Zeros([]int{n}).To(tensor.Int64),
		axis, -127, 127, tensor.Int8)
}

// TestQuantized compares programs in pairs of dequantizations and quantizations with those that compute with bytes in
// their place: the bytes differ by one at most.
func TestQuantized(t *testing.T) {
	gen := torch.NewGenerator().ManualSeed(3)
	one, none, pad := []int{1, 1}, []int{0, 0}, []int{1, 1}
	for _, c := range []struct {
		name  string
		shape []int
		build func(p pairs, x *graph.Value) *graph.Value // x is dequantized; the result is quantized
		want  string                                     // the operators on the way from bytes to bytes
	}{
		{"convolution", []int{2, 8, 9, 7}, func(p pairs, x *graph.Value) *graph.Value {
			return p.quantize(p.Call1("aten::conv2d", x, p.weight(gen, 0, 12, 8, 3, 3), randn(gen, 12), []int{2, 1},
				pad, one, 1),
				0.08, 3)
		}, "gotorch::bytes_conv"},
		{"convolution, one scale, no bias, ReLU", []int{2, 8, 9, 7}, func(p pairs, x *graph.Value) *graph.Value {
			y := p.Call1("aten::conv2d", x, p.weight(gen, -1, 12, 4, 1, 1), nil, one, none, one, 2)
			return p.quantize(p.Call1("aten::relu", y), 0.05, 0)
		}, "gotorch::bytes_conv"},
		{"depthwise, limits", []int{1, 16, 9, 7}, func(p pairs, x *graph.Value) *graph.Value {
			y := p.Call1("aten::conv2d", x, p.weight(gen, 0, 16, 1, 3, 3), randn(gen, 16), one, pad, one, 16)
			return p.quantize(p.Call1("aten::hardtanh", y, -0.5, 1.5), 0.02, 5)
		}, "gotorch::bytes_conv"},
		{"one dimension", []int{2, 8, 9}, func(p pairs, x *graph.Value) *graph.Value {
			return p.quantize(p.Call1("aten::conv1d", x, p.weight(gen, 0, 12, 8, 3), nil, []int{1}, []int{1}, []int{1},
				1), 0.05, 0)
		}, "gotorch::bytes_conv"},
		{"linear and ReLU", []int{3, 5, 24}, func(p pairs, x *graph.Value) *graph.Value {
			y := p.Call1("aten::linear", x, p.weight(gen, 0, 10, 24), randn(gen, 10))
			return p.quantize(p.Call1("aten::relu", y), 0.05, 2)
		}, "gotorch::bytes_linear"},
		{"product and sum", []int{3, 24}, func(p pairs, x *graph.Value) *graph.Value {
			y := p.Call1("aten::matmul", x, p.weight(gen, 1, 24, 10))
			return p.quantize(p.Call1("aten::add.Tensor", y, randn(gen, 10)), 0.05, 1)
		}, "gotorch::bytes_linear"},
		{"result in floats", []int{3, 24}, func(p pairs, x *graph.Value) *graph.Value {
			y := p.Call1("aten::relu", p.Call1("aten::linear", x, p.weight(gen, 0, 10, 24), nil))
			return p.quantize(p.Call1("aten::mul.Tensor", y, y), 0.05, 1)
		}, "gotorch::bytes_linear aten::mul.Tensor quantized_decomposed::quantize_per_tensor"},
		{"weights by the wrong axis", []int{3, 24}, func(p pairs, x *graph.Value) *graph.Value {
			return p.quantize(p.Call1("aten::linear", x, p.weight(gen, 1, 10, 24), nil), 0.05, 1)
		}, "quantized_decomposed::dequantize_per_tensor gotorch::linear_packed " +
			"quantized_decomposed::quantize_per_tensor"},
		{"sum and ReLU", []int{2, 3, 4}, func(p pairs, x *graph.Value) *graph.Value {
			y := p.both(p.Call1("aten::neg", x), 0.03, 2)
			return p.quantize(p.Call1("aten::relu", p.Call1("aten::add.Tensor", x, y)), 0.02, 4)
		}, "gotorch::bytes_map gotorch::bytes_add"},
		{"product", []int{2, 3, 4}, func(p pairs, x *graph.Value) *graph.Value {
			return p.quantize(p.Call1("aten::mul.Tensor", x, p.both(p.Call1("aten::sigmoid", x), 1.0/256, 0)), 0.02, 4)
		}, "gotorch::bytes_map gotorch::bytes_mul"},
		{"a sum that broadcasts", []int{2, 3, 4}, func(p pairs, x *graph.Value) *graph.Value {
			y := p.both(p.Call1("aten::mean.dim", x, []int{0}, true), 0.02, 1)
			return p.quantize(p.Call1("aten::add.Tensor", x, y), 0.03, 1)
		}, "quantized_decomposed::dequantize_per_tensor aten::mean.dim quantized_decomposed::quantize_per_tensor " +
			"gotorch::bytes_add"},
		{"functions", []int{2, 3, 4}, func(p pairs, x *graph.Value) *graph.Value {
			y := p.both(p.Call1("aten::hardswish", x), 0.02, 5)
			return p.quantize(p.Call1("aten::leaky_relu", y, 0.2), 0.03, 1)
		}, "gotorch::bytes_map gotorch::bytes_map"},
		{"pooling", []int{2, 3, 6, 6}, func(p pairs, x *graph.Value) *graph.Value {
			y := p.both(p.Call1("aten::max_pool2d", x, []int{3, 3}, []int{2, 2}, pad, one, false), 0.05, 3)
			return p.quantize(p.Call1("aten::leaky_relu", y, 0.1), 0.06, 0)
		}, "gotorch::bytes_max_pool2d aten::alias gotorch::bytes_map"},
		{"pooling to another scale", []int{2, 3, 6, 6}, func(p pairs, x *graph.Value) *graph.Value {
			return p.quantize(p.Call1("aten::max_pool2d", x, []int{2, 2}, []int{2, 2}, none, one, false), 0.06, 3)
		}, "gotorch::bytes_max_pool2d gotorch::bytes_map"},
		{"pooling in one dimension", []int{2, 3, 9}, func(p pairs, x *graph.Value) *graph.Value {
			y := p.Call1("aten::max_pool1d", x, []int{3}, []int{2}, []int{1}, []int{1}, false)
			return p.quantize(p.Call1("aten::leaky_relu", y, 0.1), 0.06, 3)
		}, "aten::max_pool1d_with_indices gotorch::bytes_map"},
		{"a sum that is pooled", []int{2, 3, 6, 6}, func(p pairs, x *graph.Value) *graph.Value {
			y := p.both(p.Call1("aten::sigmoid", x), 1.0/256, 0)
			z := p.Call1("aten::max_pool2d", p.Call1("aten::relu", p.Call1("aten::add.Tensor", x, y)), []int{2, 2},
				[]int{2, 2}, none, one, false)
			z = p.both(p.Call1("aten::flatten.using_ints", z, 1, -1), 0.06, 4)
			return p.quantize(p.Call1("aten::leaky_relu", z, 0.1), 0.07, 0)
		}, "gotorch::bytes_map gotorch::bytes_add gotorch::bytes_max_pool2d aten::flatten.using_ints gotorch::bytes_map"},
		{"average pooling", []int{2, 3, 6, 6}, func(p pairs, x *graph.Value) *graph.Value {
			y := p.both(p.Call1("aten::avg_pool2d", x, []int{3, 2}, []int{2, 2}, pad, false, false, nil), 0.05, 1)
			return p.quantize(p.Call1("aten::adaptive_avg_pool2d", y, one), 0.03, 3)
		}, "gotorch::bytes_avg_pool2d gotorch::bytes_avg_pool2d"},
		{"means of images", []int{2, 3, 6, 6}, func(p pairs, x *graph.Value) *graph.Value {
			return p.quantize(p.Call1("aten::mean.dim", x, []int{-1, -2}, false, nil), 0.03, 3)
		}, "gotorch::bytes_avg_pool2d aten::squeeze.dims"},
		{"averages with another divisor", []int{2, 3, 6, 6}, func(p pairs, x *graph.Value) *graph.Value {
			return p.quantize(p.Call1("aten::avg_pool2d", x, []int{3, 2}, []int{2, 2}, pad, false, true, 5), 0.02, 1)
		}, "quantized_decomposed::dequantize_per_tensor aten::avg_pool2d quantized_decomposed::quantize_per_tensor"},
		{"moves", []int{2, 3, 4}, func(p pairs, x *graph.Value) *graph.Value {
			y := p.both(p.Call1("aten::transpose.int", x, 1, 2), 0.05, 3)
			return p.quantize(p.Call1("aten::reshape", y, []int{2, -1}), 0.05, 3)
		}, "aten::transpose.int aten::alias aten::reshape gotorch::bytes_map"},
		{"elements by their places", []int{2, 4, 4, 4}, func(p pairs, x *graph.Value) *graph.Value {
			y := p.both(p.Call1("aten::index_select", x, 1, torch.FromSlice([]int64{3, 0, 3, 1})), 0.05, 3)
			y = p.both(p.Call1("aten::flip", p.Call1("aten::roll", y, []int{1}, []int{2}), []int{3}), 0.05, 3)
			y = p.both(p.Call1("aten::pixel_unshuffle", p.Call1("aten::pixel_shuffle", y, 2), 2), 0.05, 3)
			y = p.both(p.Call1("aten::tile", p.Call1("aten::repeat", y, []int{1, 2, 1, 1}), []int{2}), 0.05, 3)
			return p.quantize(p.Call1("aten::channel_shuffle", y, 2), 0.06, 3)
		}, "aten::index_select aten::alias aten::roll aten::alias aten::flip aten::pixel_shuffle aten::alias " +
			"aten::pixel_unshuffle aten::repeat aten::alias aten::tile aten::channel_shuffle gotorch::bytes_map"},
		{"padding", []int{2, 3, 4}, func(p pairs, x *graph.Value) *graph.Value {
			y := p.both(p.Call1("aten::constant_pad_nd", x, []int{1, 2}, 0), 0.05, 3)
			return p.quantize(p.Call1("aten::constant_pad_nd", y, []int{0, 0, 1, 0}), 0.06, 3)
		}, "aten::constant_pad_nd aten::alias aten::constant_pad_nd gotorch::bytes_map"},
		{"padding by what no byte stands for", []int{2, 3, 4}, func(p pairs, x *graph.Value) *graph.Value {
			return p.quantize(p.Call1("aten::constant_pad_nd", x, []int{1, 2}, 0.07), 0.05, 3)
		}, "quantized_decomposed::dequantize_per_tensor aten::constant_pad_nd quantized_decomposed::quantize_per_tensor"},
		{"parts", []int{2, 6, 4}, func(p pairs, x *graph.Value) *graph.Value {
			a := p.Unpack(p.Call1("aten::split_with_sizes", x, []int{2, 4}, 1), graph.Tensor, graph.Tensor)
			b := p.Unpack(p.Call1("aten::chunk", p.both(a[1], 0.05, 3), 2, 1), graph.Tensor, graph.Tensor)
			return p.quantize(p.Call1("aten::cat", p.List(graph.Tensor, b[0], a[0]), 2), 0.05, 3)
		}, "aten::split_with_sizes prim::ListUnpack aten::alias aten::chunk prim::ListUnpack prim::ListConstruct aten::cat"},
		{"parts that are read twice", []int{2, 6, 4}, func(p pairs, x *graph.Value) *graph.Value {
			a := p.Unpack(p.Call1("aten::split.Tensor", x, 3, 1), graph.Tensor, graph.Tensor)
			return p.quantize(p.Call1("aten::cat", p.List(graph.Tensor, a[0], a[0], a[1]), 2), 0.05, 3)
		}, "quantized_decomposed::dequantize_per_tensor aten::split.Tensor prim::ListUnpack prim::ListConstruct aten::cat " +
			"quantized_decomposed::quantize_per_tensor"},
		{"a number that is changed in place", []int{2, 3, 4}, func(p pairs, x *graph.Value) *graph.Value {
			y := p.both(p.Call1("aten::neg", x), 0.03, 2)
			p.Call("aten::mul_.Scalar", p.Call1("aten::select.int", y, 0, 0), 0.5)
			return p.quantize(p.Call1("aten::relu_", p.Call1("aten::add.Tensor", x, y)), 0.02, 4)
		}, "quantized_decomposed::dequantize_per_tensor gotorch::bytes_map quantized_decomposed::dequantize_per_tensor " +
			"aten::select.int aten::mul_.Scalar aten::add.Tensor aten::relu_ quantized_decomposed::quantize_per_tensor"},
		{"concatenation", []int{2, 3, 4}, func(p pairs, x *graph.Value) *graph.Value {
			y := p.both(p.Call1("aten::tanh", x), 0.01, 0)
			return p.quantize(p.Call1("aten::cat", p.List(graph.Tensor, x, y, x), 1), 0.05, 3)
		}, "gotorch::bytes_map gotorch::bytes_map prim::ListConstruct aten::cat"},
	} {
		for _, dtype := range []tensor.DType{tensor.Uint8, tensor.Int8} {
			build := func() *graph.Function {
				f := graph.NewFunction(c.name)
				p := pairs{Block: f.Body, dtype: dtype, top: 255}
				if dtype == tensor.Int8 {
					p.least, p.top = -128, 127
				}
				x := f.Body.Param("x", graph.Tensor)
				f.Body.Return(c.build(p, p.dequantize(x, 0.05, 3)))
				return f
			}
			state := gen.State()
			f := build()
			if err := gen.SetState(state); err != nil {
				t.Fatal(err)
			}
			g := build()
			g.Fuse()
			if err := g.Verify(); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			var ops []string
			for _, n := range g.Body.Nodes {
				if n.Op != graph.Constant {
					ops = append(ops, n.Op)
				}
			}
			if got := strings.Join(ops, " "); got != c.want {
				t.Errorf("%s: calls %s, want %s", c.name, got, c.want)
			}
			x := torch.Rand(c.shape, torch.RandOptions{Generator: gen}).MulScalar(256)
			if dtype == tensor.Int8 {
				x = x.SubScalar(128)
			}
			x = x.To(dtype)
			for _, x := range []*torch.Tensor{x, channelsLast(x)} {
				tensor.NoGrad(func() {
					want, err := f.Run(context.Background(), tensor.TensorValue(x))
					if err != nil {
						t.Fatalf("%s: %v", c.name, err)
					}
					got, err := g.Run(context.Background(), tensor.TensorValue(x))
					if err != nil {
						t.Fatalf("%s, on bytes: %v", c.name, err)
					}
					if got[0].T.DType() != dtype {
						t.Errorf("%s: a result of %s, want %s", c.name, got[0].T.DType(), dtype)
					}
					d := got[0].T.Double().Sub(want[0].T.Double()).Abs().Max().Item()
					if !(d <= 1) {
						t.Errorf("%s, %s: bytes differ by %g", c.name, dtype, d)
					}
					if v := want[0].T.Double(); v.Max().Item()-v.Min().Item() < 8 {
						t.Errorf("%s: the bytes are nearly alike, which tests little", c.name)
					}
				})
			}
		}
	}
}

func channelsLast(x *torch.Tensor) *torch.Tensor {
	if x.Dim() != 4 {
		return x
	}
	return x.To(tensor.ChannelsLast)
}

// TestQuantizedKeepsPrograms: pairs whose numbers are unusual stay as they are.
func TestQuantizedKeepsPrograms(t *testing.T) {
	for _, c := range []struct {
		name        string
		scale       float64
		dynamic     bool
		least, most int
	}{{"a scale of zero", 0, false, 0, 255}, {"an infinite scale", math.Inf(1), false, 0, 255},
		{"a scale that the program computes", 0.1, true, 0, 255}} {
		f := graph.NewFunction(c.name)
		b := f.Body
		x := b.Param("x", graph.Tensor)
		scale := any(c.scale)
		if c.dynamic {
			scale = b.Call1("aten::mul.float", b.Param("scale", graph.Float), 2.0)
		}
		y := b.Call1("quantized_decomposed::dequantize_per_tensor", x, scale, 0, 0, 255, tensor.Uint8)
		y = b.Call1("quantized_decomposed::quantize_per_tensor", b.Call1("aten::tanh", y), 0.1, 0, 0, 255, tensor.Uint8)
		b.Return(y)
		f.Fuse()
		if text := f.String(); strings.Contains(text, "bytes_map") || !strings.Contains(text, "aten::tanh") {
			t.Errorf("%s: %s", c.name, text)
		}
	}
}
