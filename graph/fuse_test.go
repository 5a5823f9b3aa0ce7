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

// randn is a tensor that is the same in every run.
func randn(g *torch.Generator, shape ...int) *torch.Tensor {
	return torch.Randn(shape, torch.RandnOptions{Generator: g})
}

// TestFuse compares programs with their fused forms, and says which operators the fused ones call.
func TestFuse(t *testing.T) {
	gen := torch.NewGenerator().ManualSeed(1)
	w, b := randn(gen, 4, 3, 3, 3), randn(gen, 4)
	conv := func(blk *graph.Block, x *graph.Value) *graph.Value {
		return blk.Call1("aten::conv2d", x, w, b, []int{1, 1}, []int{1, 1}, []int{1, 1}, 1)
	}
	norm := func(blk *graph.Block, x *graph.Value) *graph.Value {
		s := []*torch.Tensor{randn(gen, 4), randn(gen, 4), randn(gen, 4), randn(gen, 4).Abs()}
		return blk.Call1("aten::batch_norm", x, s[0], s[1], s[2], s[3], false, 0.0, 1e-5, false)
	}
	m, v := randn(gen, 5, 6), randn(gen, 6)
	for _, c := range []struct {
		name  string
		shape []int
		build func(b *graph.Block, x *graph.Value) *graph.Value
		want  string // the operators that are left
	}{
		{"conv", []int{2, 3, 5, 5}, conv, "gotorch::conv_fused aten::contiguous"},
		{"conv, norm, relu", []int{2, 3, 5, 5}, func(b *graph.Block, x *graph.Value) *graph.Value {
			return b.Call1("aten::relu", norm(b, conv(b, x)))
		}, "gotorch::conv_fused aten::contiguous"},
		{"shortcut and limits", []int{2, 3, 5, 5}, func(b *graph.Block, x *graph.Value) *graph.Value {
			y := b.Call1("aten::sum.dim_IntList", x, []int{1}, true)
			return b.Call1("aten::clamp", b.Call1("aten::add.Tensor", conv(b, x), y), -0.5, 0.5) // it broadcasts
		}, "aten::sum.dim_IntList gotorch::conv_fused aten::contiguous"},
		{"two readers", []int{2, 3, 5, 5}, func(b *graph.Block, x *graph.Value) *graph.Value {
			y := conv(b, x)
			return b.Call1("aten::mul.Tensor", b.Call1("aten::relu", y), y)
		}, "gotorch::conv_fused aten::relu aten::mul.Tensor aten::contiguous"},
		{"training norm", []int{2, 3, 5, 5}, func(blk *graph.Block, x *graph.Value) *graph.Value {
			return blk.Call1("aten::batch_norm", conv(blk, x), nil, nil, b, b.Abs(), true, 0.0, 1e-5, false)
		}, "gotorch::conv_fused aten::batch_norm aten::contiguous"},
		{"linear", []int{2, 6}, func(b *graph.Block, x *graph.Value) *graph.Value {
			return b.Call1("aten::gelu", b.Call1("aten::linear", x, m, nil), "tanh")
		}, "gotorch::linear_packed"},
		{"product and bias", []int{2, 7, 5}, func(b *graph.Block, x *graph.Value) *graph.Value {
			return b.Call1("aten::relu", b.Call1("aten::add.Tensor", v, b.Call1("aten::matmul", x, m)))
		}, "gotorch::linear_packed"},
		{"in a branch", []int{2, 6}, func(b *graph.Block, x *graph.Value) *graph.Value {
			return b.If(b.Call1("aten::gt.int", b.Call1("aten::dim", x), 1), func(b *graph.Block) []*graph.Value {
				return []*graph.Value{b.Call1("aten::relu", b.Call1("aten::linear", x, m, nil))}
			}, func(b *graph.Block) []*graph.Value { return []*graph.Value{x} }).Out[0]
		}, "aten::dim aten::gt.int prim::If gotorch::linear_packed"},
		{"constant branch", []int{2, 6}, func(b *graph.Block, x *graph.Value) *graph.Value {
			return b.If(b.Call1("aten::eq.int", b.Const(2), 2), func(b *graph.Block) []*graph.Value {
				return []*graph.Value{b.Call1("aten::linear", x, b.Call1("aten::t", b.Call1("aten::t", m)))}
			}, func(b *graph.Block) []*graph.Value { return []*graph.Value{x} }).Out[0]
		}, "gotorch::linear_packed"},
		{"a list that grows", []int{2, 6}, func(b *graph.Block, x *graph.Value) *graph.Value {
			l := b.List(graph.Int)
			b.Call("aten::append.t", l, 3)
			return b.Call1("aten::add.Scalar", x, b.Call1("aten::len.t", l))
		}, "prim::ListConstruct aten::append.t aten::len.t aten::add.Scalar"},
		{"shortcut in place", []int{2, 3, 5, 5}, func(b *graph.Block, x *graph.Value) *graph.Value {
			y := b.Call1("aten::relu_", conv(b, x))
			z := b.Call1("aten::add_.Tensor", conv(b, x), y)
			return b.Call1("aten::relu_", z)
		}, "gotorch::conv_fused gotorch::conv_fused aten::contiguous"},
		{"the other is changed", []int{2, 3, 5, 5}, func(b *graph.Block, x *graph.Value) *graph.Value {
			y := b.Call1("aten::neg", conv(b, x))
			z := b.Call1("aten::add_.Tensor", y, conv(b, x))
			return b.Call1("aten::mul.Tensor", y, z)
		}, "gotorch::conv_fused aten::neg gotorch::conv_fused aten::add_.Tensor aten::mul.Tensor aten::contiguous"},
		{"input changed in between", []int{2, 3, 5, 5}, func(b *graph.Block, x *graph.Value) *graph.Value {
			x = b.Call1("aten::neg", x)
			y := conv(b, x)
			b.Call("aten::mul_.Scalar", b.Call1("aten::select.int", x, 0, 0), 2.0)
			return b.Call1("aten::sub.Tensor", b.Call1("aten::relu", y), conv(b, x))
		}, "aten::neg gotorch::conv_fused aten::select.int aten::mul_.Scalar aten::relu gotorch::conv_fused " +
			"aten::sub.Tensor aten::contiguous"},
		{"weight changed", []int{2, 6}, func(b *graph.Block, x *graph.Value) *graph.Value {
			c := b.Const(m)
			b.Call("aten::mul_.Scalar", c, 1.0)
			return b.Call1("aten::linear", x, c, nil)
		}, "aten::mul_.Scalar aten::linear"},
		{"named padding", []int{2, 3, 5, 5}, func(b *graph.Block, x *graph.Value) *graph.Value {
			y := b.Call1("aten::conv2d.padding", x, w, nil, []int{1, 1}, "same", []int{1, 1}, 1)
			return b.Call1("aten::conv2d.padding", y, randn(gen, 2, 4, 2, 3), nil, []int{1, 1}, "same", []int{1, 2}, 1)
		}, "gotorch::conv_fused aten::constant_pad_nd gotorch::conv_fused aten::contiguous"},
		{"depthwise", []int{2, 3, 5, 5}, func(b *graph.Block, x *graph.Value) *graph.Value {
			y := b.Call1("aten::relu6", conv(b, x))
			y = b.Call1("aten::convolution", y, randn(gen, 4, 1, 3, 3), nil, []int{1, 1}, []int{1, 1}, []int{1, 1},
				false, []int{0, 0}, 4)
			y = b.Call1("aten::conv2d", b.Call1("aten::relu6", y), randn(gen, 3, 4, 1, 1), nil, []int{1, 1},
				[]int{0, 0}, []int{1, 1}, 1)
			return b.Call1("aten::add.Tensor", x, y)
		}, "gotorch::conv_depthwise_fused aten::contiguous"},
		{"pool", []int{2, 3, 6, 6}, func(b *graph.Block, x *graph.Value) *graph.Value {
			y := b.Call1("aten::max_pool2d", conv(b, x), []int{2, 2}, []int{}, []int{0, 0}, []int{1, 1}, false)
			return b.Call1("aten::view", b.Call1("aten::relu", y), []int{2, -1})
		}, "gotorch::conv_pool_fused aten::reshape aten::contiguous"},
		{"joined", []int{2, 3, 6, 6}, func(b *graph.Block, x *graph.Value) *graph.Value {
			y := b.Call1("aten::conv2d", x, randn(gen, 5, 3, 1, 1), randn(gen, 5), []int{1}, []int{0}, []int{1}, 1)
			l := b.List(graph.Tensor, b.Call1("aten::relu", y), b.Call1("aten::relu", conv(b, x)))
			return b.Call1("aten::cat", l, 1)
		}, "prim::ListConstruct prim::ListConstruct prim::ListConstruct gotorch::conv_cat aten::contiguous"},
		{"joined and read", []int{2, 3, 5, 5}, func(b *graph.Block, x *graph.Value) *graph.Value {
			y := conv(b, x)
			z := b.Call1("aten::cat", b.List(graph.Tensor, y, b.Call1("aten::relu", conv(b, b.Call1("aten::neg", x)))), 1)
			return b.Call1("aten::add.Tensor", z, b.Call1("aten::sum.dim_IntList", y, []int{1}, true))
		}, "gotorch::conv_fused aten::neg gotorch::conv_fused prim::ListConstruct aten::cat aten::sum.dim_IntList " +
			"aten::add.Tensor aten::contiguous"},
		{"joined along the batch", []int{2, 3, 5, 5}, func(b *graph.Block, x *graph.Value) *graph.Value {
			return b.Call1("aten::cat", b.List(graph.Tensor, conv(b, x), conv(b, b.Call1("aten::neg", x))), 0)
		}, "gotorch::conv_fused aten::neg gotorch::conv_fused prim::ListConstruct aten::cat aten::contiguous"},
		{"joined with different limits", []int{2, 3, 5, 5}, func(b *graph.Block, x *graph.Value) *graph.Value {
			return b.Call1("aten::cat", b.List(graph.Tensor, conv(b, x), b.Call1("aten::relu", conv(b, b.Call1("aten::neg",
				x)))), 1)
		}, "gotorch::conv_fused aten::neg gotorch::conv_fused prim::ListConstruct aten::cat aten::contiguous"},
		{"joined and written", []int{2, 3, 5, 5}, func(b *graph.Block, x *graph.Value) *graph.Value {
			l := b.List(graph.Tensor, conv(b, x), conv(b, b.Call1("aten::neg", x)))
			return b.Call1("aten::mul_.Scalar", b.Call1("aten::cat", l, 1), 2.0)
		}, "gotorch::conv_fused aten::neg gotorch::conv_fused prim::ListConstruct aten::cat aten::mul_.Scalar " +
			"aten::contiguous"},
		{"strides read", []int{2, 3, 6, 6}, func(b *graph.Block, x *graph.Value) *graph.Value {
			return b.Call1("aten::as_strided", conv(b, x), []int{3, 4}, []int{5, 2}, 1)
		}, "gotorch::conv_fused aten::contiguous aten::as_strided aten::contiguous"},
		{"dimensions are asked for", []int{2, 3, 5, 5}, func(b *graph.Block, x *graph.Value) *graph.Value {
			check := func(x *graph.Value) {
				b.If(b.Call1("aten::ne.int", b.Call1("aten::dim", x), 4), func(b *graph.Block) []*graph.Value {
					b.Raise("builtins.ValueError", b.Const("expected 4D input"))
					return nil
				}, func(b *graph.Block) []*graph.Value { return nil })
			}
			y := b.Call1("aten::conv2d", x, w, nil, []int{1, 1}, []int{1, 1})
			check(y)
			y = norm(b, y)
			check(y)
			return b.Call1("aten::hardtanh_", y)
		}, "aten::dim aten::ne.int prim::If prim::RaiseException prim::If prim::RaiseException gotorch::conv_fused " +
			"aten::contiguous"},
		{"twice the same", []int{2, 6}, func(b *graph.Block, x *graph.Value) *graph.Value {
			y := b.Call1("aten::mul.Tensor", b.Call1("aten::sin", x), b.Call1("aten::sin", x))
			return b.Call1("aten::add.Tensor", b.Call1("aten::sum", y), b.Call1("aten::sum", b.Call1("aten::exp_", y)))
		}, "aten::sin aten::mul.Tensor aten::sum aten::exp_ aten::sum aten::add.Tensor"},
		{"random numbers", []int{2, 6}, func(b *graph.Block, x *graph.Value) *graph.Value {
			y := b.Call1("aten::dropout", x, 0.0, true)
			y = b.Call1("aten::add.Tensor", y, b.Call1("aten::dropout", x, 0.0, true))
			z := b.Call1("aten::sub.Tensor", b.Call1("aten::rand_like", x), b.Call1("aten::rand_like", x))
			return b.Call1("aten::add.Tensor", y, b.Call1("aten::mul.Scalar", z, 0.0))
		}, "aten::dropout aten::dropout aten::add.Tensor aten::rand_like aten::rand_like aten::sub.Tensor " +
			"aten::mul.Scalar aten::add.Tensor"},
		{"erf GELU", []int{2, 6}, func(b *graph.Block, x *graph.Value) *graph.Value {
			x = b.Call1("aten::linear", x, m, nil)
			e := b.Call1("aten::erf", b.Call1("aten::div.Tensor", x, torch.Full(nil, math.Sqrt2)))
			y := b.Call1("aten::mul.Tensor", x, b.Call1("aten::add.Tensor", e, torch.Full(nil, 1.0)))
			return b.Call1("aten::mul.Tensor", y, torch.Full(nil, 0.5))
		}, "gotorch::linear_packed"},
		{"tanh GELU", []int{2, 6}, func(b *graph.Block, x *graph.Value) *graph.Value {
			c := b.Call1("aten::mul.Scalar", b.Call1("aten::pow.Tensor_Scalar", x, 3), 0.044715)
			e := b.Call1("aten::mul.Scalar", b.Call1("aten::add.Tensor", x, c), math.Sqrt(2/math.Pi))
			y := b.Call1("aten::add.Scalar", b.Call1("aten::tanh", e), 1)
			return b.Call1("aten::mul.Tensor", b.Call1("aten::mul.Scalar", x, 0.5), y)
		}, "aten::gelu"},
		{"SiLU and hardswish", []int{2, 3, 5, 5}, func(b *graph.Block, x *graph.Value) *graph.Value {
			y := conv(b, x)
			y = b.Call1("aten::mul.Tensor", b.Call1("aten::sigmoid", y), y)
			y = b.Call1("aten::conv2d", y, randn(gen, 3, 4, 1, 1), nil, []int{1, 1}, []int{0, 0}, []int{1, 1}, 1)
			return b.Call1("aten::mul.Tensor", y, b.Call1("aten::hardsigmoid", y))
		}, "gotorch::conv_fused gotorch::conv_fused aten::contiguous"},
		{"a sigmoid that is read twice", []int{2, 3, 5, 5}, func(b *graph.Block, x *graph.Value) *graph.Value {
			s := b.Call1("aten::sigmoid", x)
			return b.Call1("aten::sub.Tensor", b.Call1("aten::mul.Tensor", x, s), s)
		}, "aten::sigmoid aten::mul.Tensor aten::sub.Tensor"},
		{"residual and SiLU in place", []int{2, 3, 5, 5}, func(b *graph.Block, x *graph.Value) *graph.Value {
			y := b.Call1("aten::add.Tensor", conv(b, x), b.Call1("aten::silu_", conv(b, x)))
			return b.Call1("aten::silu_", y)
		}, "gotorch::conv_fused gotorch::conv_fused aten::contiguous"},
		{"depthwise with SiLU", []int{2, 3, 5, 5}, func(b *graph.Block, x *graph.Value) *graph.Value {
			y := b.Call1("aten::silu", conv(b, x))
			y = b.Call1("aten::conv2d", y, randn(gen, 4, 1, 3, 3), nil, []int{1, 1}, []int{1, 1}, []int{1, 1}, 4)
			return b.Call1("aten::silu", y)
		}, "gotorch::conv_depthwise_fused aten::contiguous"},
		{"squeeze and excitation", []int{2, 3, 5, 5}, func(b *graph.Block, x *graph.Value) *graph.Value {
			layer := func(x *graph.Value, from, to int) *graph.Value {
				return b.Call1("aten::conv2d", x, randn(gen, to, from, 1, 1), randn(gen, to), []int{1, 1}, []int{0, 0},
					[]int{1, 1}, 1)
			}
			y := b.Call1("aten::silu", conv(b, x))
			s := layer(b.Call1("aten::relu", layer(b.Call1("aten::adaptive_avg_pool2d", y, []int{1, 1}), 4, 2)), 2, 4)
			y = b.Call1("aten::mul.Tensor", b.Call1("aten::sigmoid", s), y)
			s = layer(b.Call1("aten::silu", layer(b.Call1("aten::mean.dim", y, []int{2, 3}, true), 4, 2)), 2, 4)
			return b.Call1("aten::mul.Tensor", y, b.Call1("aten::hardsigmoid", s))
		}, "gotorch::conv_fused gotorch::squeeze_excite gotorch::squeeze_excite aten::contiguous"},
		{"a gate of another image", []int{2, 4, 5, 5}, func(b *graph.Block, x *graph.Value) *graph.Value {
			y := b.Call1("aten::adaptive_avg_pool2d", b.Call1("aten::neg", x), []int{1, 1})
			for range 2 {
				y = b.Call1("aten::conv2d", y, randn(gen, 4, 4, 1, 1), nil, []int{1, 1}, []int{0, 0}, []int{1, 1}, 1)
				y = b.Call1("aten::sigmoid", y)
			}
			return b.Call1("aten::mul.Tensor", x, y)
		}, "aten::neg aten::adaptive_avg_pool2d gotorch::conv_fused gotorch::conv_fused aten::mul.Tensor " +
			"aten::contiguous"},
		{"no GELU", []int{2, 6}, func(b *graph.Block, x *graph.Value) *graph.Value {
			e := b.Call1("aten::erf", b.Call1("aten::div.Scalar", x, 1.5))
			y := b.Call1("aten::div.Tensor", b.Call1("aten::add.Scalar", e, 1), x)
			return b.Call1("aten::mul.Scalar", y, 0.5)
		}, "aten::div.Scalar aten::erf aten::add.Scalar aten::div.Tensor aten::mul.Scalar"},
		{"layer normalisation", []int{2, 6}, func(b *graph.Block, x *graph.Value) *graph.Value {
			d := b.Call1("aten::sub.Tensor", x, b.Call1("aten::mean.dim", x, []int{-1}, true))
			s := b.Call1("aten::mean.dim", b.Call1("aten::pow.Tensor_Scalar", d, 2), []int{-1}, true)
			y := b.Call1("aten::div.Tensor", d, b.Call1("aten::sqrt", b.Call1("aten::add.Scalar", s, 1e-5)))
			return b.Call1("aten::add.Tensor", b.Call1("aten::mul.Tensor", y, v), v)
		}, "aten::layer_norm"},
		{"attention", []int{4, 6, 8}, func(b *graph.Block, x *graph.Value) *graph.Value {
			heads := func(s float64, to ...int) *graph.Value {
				y := b.Call1("aten::reshape", b.Call1("aten::mul.Scalar", x, s), []int{4, 6, 2, 4})
				return b.Call1("aten::permute", y, to)
			}
			s := b.Call1("aten::matmul", b.Call1("aten::div.Scalar", heads(1, 0, 2, 1, 3), 2.0), heads(2, 0, 2, 3, 1))
			s = b.Call1("aten::add.Tensor", s, torch.Full([]int{6, 6}, -20.0).Triu(tensor.TriuOptions{Diagonal: 1}))
			return b.Call1("aten::matmul", b.Call1("aten::softmax.int", s, -1), heads(3, 0, 2, 1, 3))
		}, "aten::mul.Scalar aten::reshape aten::permute aten::mul.Scalar aten::reshape aten::permute " +
			"aten::mul.Scalar aten::reshape aten::permute aten::scaled_dot_product_attention"},
		{"written", []int{2, 6}, func(b *graph.Block, x *graph.Value) *graph.Value {
			return b.Call1("aten::relu_", b.Call1("aten::linear", x, m, nil))
		}, "gotorch::linear_packed"},
	} {
		x := randn(gen, c.shape...)
		f := graph.NewFunction(c.name)
		state := gen.State()
		f.Body.Return(c.build(f.Body, f.Body.Param("x", graph.Tensor)))
		if err := gen.SetState(state); err != nil {
			t.Fatal(err)
		}
		g := graph.NewFunction(c.name)
		g.Body.Return(c.build(g.Body, g.Body.Param("x", graph.Tensor)))
		g.Fuse()
		var ops []string
		var list func(b *graph.Block)
		list = func(b *graph.Block) {
			for _, n := range b.Nodes {
				if n.Op != graph.Constant {
					ops = append(ops, n.Op)
				}
				for _, d := range n.Blocks {
					list(d)
				}
			}
		}
		list(g.Body)
		if got := strings.Join(ops, " "); got != c.want {
			t.Errorf("%s: calls %s, want %s", c.name, got, c.want)
		}
		want, err := f.Run(context.Background(), tensor.TensorValue(x))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		got, err := g.Run(context.Background(), tensor.TensorValue(x))
		if err != nil {
			t.Errorf("%s, fused: %v", c.name, err)
			continue
		}
		if !got[0].T.AllClose(want[0].T, tensor.AllCloseOptions{Atol: torch.Some(1e-5)}) {
			t.Errorf("%s: fused gives\n%v, want\n%v", c.name, got[0].T, want[0].T)
		}
	}
}

// TestRunKeepsWhatAnOperatorReturns: dropout returns its argument where it does nothing, although its schema says that
// the result is new, and that memory must not be freed after the call.
func TestRunKeepsWhatAnOperatorReturns(t *testing.T) {
	f := graph.NewFunction("f")
	x := f.Body.Param("x", graph.Tensor)
	f.Body.Return(f.Body.Call1("aten::dropout", f.Body.Call1("aten::exp", x), 0.5, false))
	in := torch.Zeros([]int{400, 400})
	tensor.NoGrad(func() {
		out, err := f.Run(context.Background(), tensor.TensorValue(in))
		if err != nil {
			t.Fatal(err)
		}
		if !out[0].T.Equal(torch.Ones([]int{400, 400})) {
			t.Error("the result is not exp(0)")
		}
	})
}

// TestFuseWinograd: a convolution that Winograd's algorithm may compute leaves the pooling behind it alone.
func TestFuseWinograd(t *testing.T) {
	gen := torch.NewGenerator().ManualSeed(1)
	w := randn(gen, 32, 16, 3, 3)
	x := randn(gen, 2, 16, 20, 24)
	build := func(o *graph.FuseOptions) (*torch.Tensor, bool) {
		f := graph.NewFunction("f")
		b := f.Body
		y := b.Call1("aten::conv2d", b.Param("x", graph.Tensor), w, nil, []int{1, 1}, []int{1, 1}, []int{1, 1}, 1)
		b.Return(b.Call1("aten::max_pool2d", b.Call1("aten::relu", y), []int{2, 2}, []int{2, 2}, []int{0, 0}, []int{1, 1},
			false))
		if o != nil {
			f.FuseWith(*o)
		}
		out, err := f.Run(context.Background(), tensor.TensorValue(x))
		if err != nil {
			t.Fatal(err)
		}
		return out[0].T, strings.Contains(f.String(), "gotorch::conv_pool_fused")
	}
	want, _ := build(nil)
	for _, on := range []bool{false, true} {
		got, pools := build(&graph.FuseOptions{Winograd: on})
		if pools == on {
			t.Errorf("Winograd %v: with the pooling: %v", on, pools)
		}
		if d := got.Sub(want).Abs().Max().Item(); d > 1e-5*want.Abs().Max().Item() {
			t.Errorf("Winograd %v: the result is %g from that of the operators", on, d)
		}
	}
}

// TestFreeze: attributes are constants until they are changed.
func TestFreeze(t *testing.T) {
	inner, outer := graph.NewClass("Inner", graph.ClassType), graph.NewClass("Outer", graph.ClassType)
	inner.AddAttr(graph.Attr{Name: "weight", Type: graph.Tensor, Parameter: true})
	outer.AddAttr(graph.Attr{Name: "training", Type: graph.Bool})
	outer.AddAttr(graph.Attr{Name: "calls", Type: graph.Int})
	outer.AddAttr(graph.Attr{Name: "inner", Type: inner.Type})
	method := func(counts bool) *graph.Function {
		f := graph.NewFunction("forward")
		b := f.Body
		self, x := b.Param("self", outer.Type), b.Param("x", graph.Tensor)
		call := graph.NewFunction("inner")
		s, y := call.Body.Param("self", inner.Type), call.Body.Param("x", graph.Tensor)
		call.Body.Return(call.Body.Call1("aten::linear", y, call.Body.GetAttr(s, "weight"), nil))
		y = b.Invoke(call, b.GetAttr(self, "inner"), x).Out[0]
		y = b.If(b.GetAttr(self, "training"), func(b *graph.Block) []*graph.Value {
			if counts {
				b.SetAttr(self, "calls", b.Call1("aten::add.int", b.GetAttr(self, "calls"), 1))
			}
			return []*graph.Value{b.Call1("aten::neg", y)}
		}, func(b *graph.Block) []*graph.Value { return []*graph.Value{b.Call1("aten::relu", y)} }).Out[0]
		b.Return(y)
		return f
	}
	gen := torch.NewGenerator().ManualSeed(2)
	for _, counts := range []bool{false, true} {
		in := graph.NewObject(inner)
		in.SetAttr("weight", tensor.TensorValue(randn(gen, 5, 6)))
		o := graph.NewObject(outer)
		o.SetAttr("training", tensor.BoolValue(false))
		o.SetAttr("calls", tensor.IntValue(0))
		o.SetAttr("inner", graph.Box(in))
		f := method(counts)
		z := graph.Freeze(f, o)
		for i, change := range []func(){
			func() {},
			func() {
				w, _ := in.Attr("weight")
				w.T.MulScalarInPlace(2)
			},
			func() { in.SetAttr("weight", tensor.TensorValue(randn(gen, 3, 6))) },
			func() { o.SetAttr("training", tensor.BoolValue(true)) },
			func() {
				other := graph.NewObject(inner)
				other.SetAttr("weight", tensor.TensorValue(randn(gen, 4, 6)))
				o.SetAttr("inner", graph.Box(other))
			},
		} {
			change()
			if z.Stale() != (i > 0) {
				t.Errorf("change %d: stale is %v", i, z.Stale())
			}
			z = graph.Freeze(f, o)
			x := tensor.TensorValue(randn(gen, 2, 6))
			for range 2 {
				want, err := f.Run(context.Background(), graph.Box(o), x)
				if err != nil {
					t.Fatal(err)
				}
				got, err := z.Run(context.Background(), graph.Options{}, graph.Box(o), x)
				if err != nil {
					t.Fatal(err)
				}
				if !got[0].T.AllClose(want[0].T, tensor.AllCloseOptions{Atol: torch.Some(1e-5)}) {
					t.Errorf("change %d: got %v, want %v", i, got[0].T, want[0].T)
				}
			}
		}
		calls, _ := o.Attr("calls")
		if want := map[bool]int64{true: 8}[counts]; calls.N != want {
			t.Errorf("%d calls were counted, want %d", calls.N, want)
		}
		if _, err := z.Run(context.Background(), graph.Options{}, graph.Box(o), tensor.IntValue(1)); err == nil ||
			!strings.Contains(err.Error(), "aten::linear") {
			t.Errorf("an error does not name the program's operator: %v", err)
		}
	}
}
