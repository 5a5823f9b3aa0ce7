package functorch_test

import (
	"testing"

	"github.com/gotorch-dev/torch"
	functorch "github.com/gotorch-dev/torch/func"
)

type T = torch.Tensor

func TestVmapBasics(t *testing.T) {
	x := torch.Randn([]int{4, 3})
	w := torch.Randn([]int{3, 5})
	f := functorch.Two(func(x, w *T) *T { return x.MatMul(w).Tanh().Sum() })
	o := functorch.VmapOptions{InDims: []int{0, functorch.None}}
	y := functorch.Vmap(f, o)([]*T{x, w})[0]
	if want := x.MatMul(w).Tanh().SumDim([]int{1}); !y.AllClose(want) {
		t.Errorf("got %v, want %v", y, want)
	}
	per := functorch.Vmap(functorch.Grad(f, functorch.GradOptions{Argnums: []int{0, 1}}), o)([]*T{x, w})
	for i := range 4 {
		g := functorch.Grad(f, functorch.GradOptions{Argnums: []int{0, 1}})([]*T{x.Select(0, i), w})
		for k := range g {
			if !g[k].AllClose(per[k].Select(0, i)) {
				t.Errorf("example %d, gradient %d: %v, want %v", i, k, per[k].Select(0, i), g[k])
			}
		}
	}
	h := functorch.Hessian(functorch.One(func(x *T) *T { return x.Sin().Mul(x).Sum() }))([]*T{x.Select(0, 0)})[0]
	v := x.Select(0, 0)
	if want := v.Cos().MulScalar(2).Sub(v.Sin().Mul(v)).Diag(); !h.AllClose(want) {
		t.Errorf("hessian %v, want %v", h, want)
	}
	j := functorch.Vmap(functorch.Jacrev(functorch.One(func(x *T) *T { return x.MatMul(w).Tanh() })))([]*T{x})[0]
	k := functorch.Vmap(functorch.Jacfwd(functorch.One(func(x *T) *T { return x.MatMul(w).Tanh() })))([]*T{x})[0]
	if !j.AllClose(k) || j.Dim() != 3 {
		t.Errorf("%v\n%v", j, k)
	}
}

func TestDebugUnwrap(t *testing.T) {
	x := torch.Randn([]int{4, 3, 2})
	var one, all *T
	inner := functorch.Vmap(functorch.One(func(row *T) *T {
		one, all = functorch.DebugUnwrap(row, false), functorch.DebugUnwrap(row)
		return row.MulScalar(2)
	}))
	functorch.Vmap(func(in []*T) []*T { return inner(in) })([]*T{x})
	if one == nil || !one.IsBatched() || one.Dim() != 2 {
		t.Errorf("one level: %v", one.Shape())
	}
	if !all.Equal(x) || functorch.DebugUnwrap(x) != x {
		t.Errorf("all levels: %v, want %v", all, x)
	}
}

func TestRearrange(t *testing.T) {
	x := torch.Arange(6).Reshape([]int{2, 3})
	if y := functorch.Rearrange(x, "a b -> (b a)"); !y.Equal(x.T().Reshape([]int{6})) {
		t.Errorf("got %v", y)
	}
}
