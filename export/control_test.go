package export_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	torch "github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/export"
	"github.com/gotorch-dev/torch/jit"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

type list = []*tensor.Tensor

// router sends its input through one of two layers, or through a loop.
type router struct {
	nn.Base
	A, B  *nn.Linear
	Scale *tensor.Tensor `torch:"scale,buffer"`
}

func (r *router) Forward(x *tensor.Tensor) *tensor.Tensor {
	y := jit.If(x.Sum().GtScalar(0), func() list { return list{r.A.Forward(x).ReLU()} },
		func() list { return list{r.B.Forward(x).Mul(r.Scale)} })[0]
	return jit.While(func(c list) *tensor.Tensor { return c[0].Abs().Sum().LtScalar(500) }, list{y},
		func(c list) list { return list{r.A.Forward(c[0]).MulScalar(2).Add(x)} })[0]
}

// controlTrips are programs with the control flow of package jit.
var controlTrips = []roundTrip{
	{name: "if and while in a module", make: func() any {
		return nn.New(&router{A: nn.NewLinear(4, 4), B: nn.NewLinear(4, 4), Scale: rand(4)})
	}, inputs: []any{rand(3, 4)}, dynamic: map[string]map[int]string{"x": {0: "n"}},
		others: []any{rand(5, 4).SubScalar(2)}},
	{name: "if of numbers", make: func() any {
		return func(x *tensor.Tensor) []*tensor.Tensor { // the condition is no bool and has a dimension
			return jit.If(x.Narrow(0, 0, 1), func() list { return list{x, x.T(), x.SumDim([]int{1})} },
				func() list { y := x.AddScalar(1); return list{y, y, x.Select(1, 0)} })
		}
	}, inputs: []any{torch.Eye(3).SubScalar(1).Narrow(1, 0, 1)}},
	{name: "for", make: func() any {
		return func(x *tensor.Tensor) *tensor.Tensor {
			return jit.For(3, list{x}, func(i int, c list) list {
				return list{c[0].MulScalar(2).Add(x.Select(0, i)).AddScalar(float64(0))}
			})[0]
		}
	}, inputs: []any{rand(3, 4)}},
	{name: "for over a size, nested", make: func() any {
		return func(x *tensor.Tensor) (*tensor.Tensor, *tensor.Tensor) {
			n := x.Size(0)
			out := jit.For(n, list{torch.Zeros([]int{4}), x}, func(i int, c list) list {
				row := c[1].Select(0, i)
				s := jit.For(n, list{c[0]}, func(j int, d list) list {
					return list{d[0].Add(x.Select(0, j).Mul(row))}
				})[0]
				y := jit.If(row.Sum().GtScalar(2), func() list { return list{s.Add(row).Mul(x.Select(0, i))} },
					func() list { return list{s} })[0]
				return list{y, c[1]}
			})
			return out[0], out[1]
		}
	}, inputs: []any{rand(3, 4)}, dynamic: map[string]map[int]string{"x": {0: "n"}}, others: []any{rand(6, 4)}},
	{name: "sizes in branches", make: func() any {
		return func(x *tensor.Tensor) *tensor.Tensor {
			n := x.Size(0)
			return jit.If(x.Sum().GtScalar(1), func() list {
				return list{x.Reshape([]int{n * 2, 2}).Narrow(0, n, n).Add(torch.Ones([]int{n, 2}))}
			}, func() list { return list{x.Narrow(1, 0, 2).MulScalar(3)} })[0]
		}
	}, inputs: []any{rand(3, 4)}, dynamic: map[string]map[int]string{"x": {0: "n"}}, others: []any{rand(5, 4)}},
}

// Branches that PyTorch's operators do not allow are refused with the operator and the reason.
func TestControlRefusals(t *testing.T) {
	x := rand(2, 2)
	_, err := export.Export(func(x *tensor.Tensor) *tensor.Tensor {
		y := x.Clone()
		return jit.If(x.Sum().GtScalar(0), func() list { return list{y.AddInPlace(x)} },
			func() list { return list{y} })[0]
	}, []any{x})
	if !errors.Is(err, export.ErrUnsupported) || !strings.Contains(err.Error(), "aten::add_.Tensor") ||
		!strings.Contains(err.Error(), "from outside") {
		t.Errorf("a write to a tensor from outside: %v", err)
	}
}

// The branch that the example does not take runs, too, and a loop runs as often as the data says.
func TestControlFollowsData(t *testing.T) {
	p, err := export.Export(func(x *tensor.Tensor) *tensor.Tensor {
		y := jit.If(x.Sum().GtScalar(0), func() list { return list{x.AddScalar(1)} },
			func() list { return list{x.MulScalar(-1)} })[0]
		return jit.While(func(c list) *tensor.Tensor { return c[0].LtScalar(100) }, list{y},
			func(c list) list { return list{c[0].MulScalar(2)} })[0]
	}, []any{torch.TensorOf[float32](1).Squeeze()})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ x, want float64 }{{1, 128}, {-3, 192}, {500, 501}, {99, 100}} {
		v, err := p.Call(context.Background(), []tensor.Value{tensor.TensorValue(torch.TensorOf(float32(c.x)).Squeeze())},
			nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []*tensor.Tensor
		tensors(v, &got)
		if y := got[0].Item(); y != c.want {
			t.Errorf("of %v: %v, want %v", c.x, y, c.want)
		}
	}
}
