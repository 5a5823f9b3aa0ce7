package autograd_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/autograd"
	"github.com/gotorch-dev/torch/internal/second"
	"github.com/gotorch-dev/torch/tensor"
)

// halves has two results, of which a caller may leave one out.
type halves struct{}

func (halves) Forward(ctx *autograd.Context, in ...*T) []*T {
	ctx.SaveForBackward(in[0])
	return []*T{in[0].Exp(), in[0].Mul(in[0])}
}

func (halves) Backward(ctx *autograd.Context, g ...*T) []*T {
	x := ctx.SavedTensors()[0]
	return []*T{g[0].Mul(x.Exp()).Add(g[1].Mul(x).MulScalar(2))}
}

// TestSecondDevice runs everything of the package on a device whose memory Go code cannot reach, and wants the bits of
// the CPU.
func TestSecondDevice(t *testing.T) {
	for _, c := range []struct {
		name string
		f    func(x *T) []*T
	}{
		{"Function", func(x *T) []*T {
			y := autograd.Apply(halves{}, x)
			return autograd.Grad([]*T{y[0].Sum()}, []*T{x})
		}},
		{"Jacobian", func(x *T) []*T {
			j := autograd.Jacobian(func(in []*T) []*T { return []*T{in[0].Exp().Mul(in[0])} }, []*T{x})
			return j[0]
		}},
		{"Jacobian of nothing", func(x *T) []*T {
			j := autograd.Jacobian(func(in []*T) []*T { return []*T{in[0].Narrow(0, 0, 0)} }, []*T{x})
			return j[0]
		}},
		{"Hessian", func(x *T) []*T {
			h := autograd.Hessian(func(in []*T) []*T { return []*T{in[0].Exp().Mul(in[0]).Sum()} }, []*T{x})
			return h[0]
		}},
		{"VJP, JVP, HVP", func(x *T) []*T {
			f := func(in []*T) []*T { return []*T{in[0].Exp().Mul(in[0])} }
			_, v := autograd.VJP(f, []*T{x}, []*T{x.Detach()})
			_, j := autograd.JVP(f, []*T{x}, []*T{x.Detach()})
			_, h := autograd.HVP(func(in []*T) []*T { return []*T{f(in)[0].Sum()} }, []*T{x}, []*T{x.Detach()})
			return slices.Concat(v, j, h)
		}},
		{"Checkpoint", func(x *T) []*T {
			y := autograd.Checkpoint1(func(x *T) *T { return x.Exp().Mul(x).Tanh() }, x)
			return append(autograd.Grad([]*T{y.Sum()}, []*T{x}), y.Detach())
		}},
	} {
		want, got := c.f(leaf(0.5, -1, 2)), c.f(leaf(0.5, -1, 2).Detach().To(second.Device).SetRequiresGrad(true))
		for i, w := range want {
			g := got[i]
			if g.Device() != second.Device {
				t.Errorf("%s: result %d is on %s", c.name, i, g.Device())
			}
			if !bytes.Equal(bits(g), bits(w)) {
				t.Errorf("%s: result %d is %v, want %v", c.name, i, g.CPU(), w)
			}
		}
	}
	x := leaf(0.5, -1, 2).Detach().To(second.Device).SetRequiresGrad(true)
	if err := autograd.Gradcheck(func(in []*T) []*T { return []*T{in[0].Exp().Mul(in[0])} }, []*T{x}); err != nil {
		t.Error(err)
	}
	if err := autograd.Gradgradcheck(func(in []*T) []*T { return []*T{in[0].Exp().Mul(in[0])} }, []*T{x},
		nil); err != nil {
		t.Error(err)
	}
	err := torch.Try(func() {
		autograd.DetectAnomaly(func() {
			autograd.Backward([]*T{x.SubScalar(3).Sqrt().Sum()}, nil)
		})
	})
	if err == nil {
		t.Error("anomaly mode has not noticed NaN")
	}
}

func bits(t *T) []byte {
	h := tensor.Dense(t.Detach().CPU())
	var out []byte
	for i := range h.Numel() {
		v := h.View([]int{-1}).Select(0, i).Item()
		out = append(out, []byte(torch.FromSlice([]float64{v}).String())...)
	}
	return out
}
