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
