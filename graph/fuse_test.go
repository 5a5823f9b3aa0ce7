package graph_test

import (
	"context"
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
