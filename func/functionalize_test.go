package functorch_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	functorch "github.com/gotorch-dev/torch/func"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/torchtest"
)

// called is a layer that notes the operators.
type called struct {
	names  []string
	writes bool // one of them writes a tensor
}

func (*called) Rank() tensor.Rank { return tensor.RankTrace }

func (c *called) Call(x *tensor.Ctx, next func()) {
	c.names = append(c.names, strings.TrimPrefix(x.Op().FullName(), "aten::"))
	c.writes = c.writes || slices.ContainsFunc(x.Op().Sch.Params, func(p tensor.Param) bool { return p.Writes })
	next()
}

// mutating are functions that change tensors in place.
var mutating = map[string]func(x *T) *T{
	"twice": func(x *T) *T {
		y := x.Add(x)
		y.MulInPlace(y)
		y.AddScalarInPlace(3)
		return y
	},
	"row": func(x *T) *T {
		y := x.Sin()
		y.Select(0, 1).AddScalarInPlace(5)
		return y.MulScalar(2)
	},
	"view of a view": func(x *T) *T {
		y := x.MulScalar(1)
		z := y.View([]int{-1}).Narrow(0, 2, 6)
		z.MulInPlace(z)
		return y.Sum().Add(z.Sum())
	},
	"base": func(x *T) *T {
		y := x.Clone()
		row, flat := y.Select(0, 0), y.View([]int{12})
		y.AddScalarInPlace(1)
		return torch.Cat([]*T{row, flat})
	},
	"sibling views": func(x *T) *T {
		y := x.Clone()
		a, b := y.T(), y.Diagonal()
		b.FillScalarInPlace(7)
		a.Select(0, 0).MulScalarInPlace(2)
		return torch.Cat([]*T{a.Reshape([]int{-1}), b})
	},
	"parts": func(x *T) *T {
		y := x.Exp()
		l := y.Split(3, torch.SplitOptions{Dim: 1})
		l[1].ZeroInPlace()
		y.Unbind()[2].SubScalarInPlace(1)
		return torch.Cat([]*T{y, l[0], l[1]}, torch.CatOptions{Dim: 1})
	},
	"permuted": func(x *T) *T {
		y := x.Clone().View([]int{3, 2, 2})
		y.Permute([]int{2, 0, 1}).Select(0, 1).AddScalarInPlace(4)
		return y
	},
	"view in place": func(x *T) *T {
		y := x.MulScalar(2)
		z := y.Select(1, 1)
		y.TInPlace()
		y.Select(0, 1).AddScalarInPlace(10)
		return torch.Cat([]*T{y.Reshape([]int{-1}), z})
	},
	"copied": func(x *T) *T {
		y := x.ZerosLike()
		y.Narrow(1, 1, 2).CopyInPlace(x.Narrow(1, 0, 2))
		return y
	},
	"indexed": func(x *T) *T {
		y := x.Clone()
		y.IndexFillScalarInPlace(0, torch.FromSlice([]int64{0, 2}), 1.5)
		y.MaskedFillScalarInPlace(y.GtScalar(1), 0)
		return y
	},
	"out": func(x *T) *T {
		y := x.NewZeros([]int{3, 4})
		x.Add(x, torch.AddOptions{Out: y})
		return y.AddScalar(1)
	},
	"unfolded": func(x *T) *T {
		y := x.Clone()
		y.Unfold(1, 2, 2).MulScalarInPlace(3)
		return y
	},
}

func TestFunctionalizeKeepsResults(t *testing.T) {
	x := torch.Arange(12, torch.ArangeOptions{DType: torch.Float32}).DivScalar(7).View([]int{3, 4})
	for name, f := range mutating {
		want := f(x.Clone())
		for _, remove := range []string{"mutations", "mutations_and_views"} {
			opts := functorch.FunctionalizeOptions{Remove: remove}
			g := functorch.Functionalize(functorch.One(f), opts)
			c := &called{}
			var got *T
			if err := tensor.Try(func() { tensor.WithLayer(c, func() { got = g([]*T{x})[0] }) }); err != nil {
				t.Errorf("%s, %s: %v", name, remove, err)
				continue
			}
			if err := torchtest.AssertClose(got, want); err != nil {
				t.Errorf("%s, %s: %v", name, remove, err)
			}
			if c.writes && name != "unfolded" {
				t.Errorf("%s, %s: writes in %v", name, remove, c.names)
			}
			if name == "out" || name == "parts" { // the other transforms refuse to write there
				continue
			}
			one := func(x *T) *T { return f(x).Sum() }
			wantGrad := functorch.Grad(functorch.One(one))([]*T{x})[0]
			for kind, h := range map[string]functorch.Func{
				"of a gradient": functorch.Functionalize(functorch.Grad(functorch.One(one)), opts),
				"gradient of":   functorch.Grad(functorch.Functionalize(functorch.One(one), opts)),
			} {
				if err := tensor.Try(func() { got = h([]*T{x})[0] }); err != nil {
					t.Errorf("%s, %s, %s: %v", name, remove, kind, err)
				} else if err := torchtest.AssertClose(got, wantGrad); err != nil {
					t.Errorf("%s, %s, %s: %v", name, remove, kind, err)
				}
			}
			batch := torch.Stack([]*T{x, x.AddScalar(1)})
			wantMap := torch.Stack([]*T{f(x.Clone()), f(x.AddScalar(1))})
			for kind, h := range map[string]functorch.Func{
				"of a map": functorch.Functionalize(functorch.Vmap(functorch.One(f)), opts),
				"map of":   functorch.Vmap(functorch.Functionalize(functorch.One(f), opts)),
			} {
				if name == "view in place" && kind == "of a map" { // see Functionalize
					continue
				}
				if err := tensor.Try(func() { got = h([]*T{batch})[0] }); err != nil {
					t.Errorf("%s, %s, %s: %v", name, remove, kind, err)
				} else if err := torchtest.AssertClose(got, wantMap); err != nil {
					t.Errorf("%s, %s, %s: %v", name, remove, kind, err)
				}
			}
		}
	}
}

// An argument that the function changes is changed once, at the end.
func TestFunctionalizeChangesArguments(t *testing.T) {
	x := torch.Zeros([]int{2, 2})
	view := x.Select(0, 0)
	c := &called{}
	var y *T
	tensor.WithLayer(c, func() {
		y = functorch.Functionalize(functorch.One(func(x *T) *T {
			x.Select(0, 0).AddScalarInPlace(1)
			x.MulScalarInPlace(3)
			if n := x.Sum().Num().F; n != 6 {
				t.Errorf("inside, the sum is %v", n)
			}
			return x
		}))([]*T{x})[0]
	})
	if y != x || x.Sum().Num().F != 6 || view.Sum().Num().F != 6 {
		t.Errorf("x is %v, y is %v", x, y)
	}
	if n := strings.Count(strings.Join(c.names, " "), "copy_"); n != 1 || c.names[len(c.names)-1] != "copy_" {
		t.Errorf("called %v", c.names)
	}
}

func ExampleFunctionalize() {
	f := func(x *torch.Tensor) *torch.Tensor {
		y := x.MulScalar(2)
		y.Select(0, 0).AddScalarInPlace(1)
		return y
	}
	c := &called{}
	tensor.WithLayer(c, func() {
		functorch.Functionalize(functorch.One(f))([]*torch.Tensor{torch.Ones([]int{2, 2})})
	})
	fmt.Println(c.names[1:])
	// Output: [mul.Scalar select.int add.Scalar select_scatter select.int]
}
