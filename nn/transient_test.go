package nn_test

import (
	"fmt"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// keeper keeps what passes through it.
type keeper struct {
	nn.Base
	in, out *torch.Tensor `torch:"-"`
}

func (k *keeper) Forward(x *torch.Tensor) *torch.Tensor {
	k.in, k.out = x, x.MulScalar(2)
	return k.out
}

// keepingTanh embeds a layer of the package and keeps its input all the same.
type keepingTanh struct {
	*nn.Tanh
	in *torch.Tensor
}

func (k *keepingTanh) Forward(x *torch.Tensor) *torch.Tensor {
	k.in = x
	return k.Tanh.Forward(x)
}

// block is a Transient of the program's own.
type block struct {
	nn.Base
	A, B *nn.Tanh
}

func (b *block) Forward(x *torch.Tensor) *torch.Tensor {
	y := nn.Chain(x, b.A, b.B)
	z := x.Add(y)
	if nn.IsTransient(b.A, b.B) {
		tensor.ReleaseConsumed(y, x, z)
	}
	return z
}

func (b *block) Transient() nn.Module {
	if !nn.IsTransient(b.A, b.B) {
		return nil
	}
	return b
}

// keepingBlock embeds it.
type keepingBlock struct {
	*block
	in *torch.Tensor
}

func (k *keepingBlock) Forward(x *torch.Tensor) *torch.Tensor {
	k.in = x
	return k.block.Forward(x)
}

type watching struct{ seen []*torch.Tensor }

func (w *watching) Rank() tensor.Rank { return tensor.RankWatch }
func (w *watching) Call(c *tensor.Ctx, next func()) {
	next()
	for i := range c.NumOut() {
		w.seen = append(w.seen, c.Out(i))
	}
}

// Where no gradients are recorded, a chain frees what its layers have consumed. What the program can still see is never
// freed: freed memory is gone, so that using it is an error and not a wrong number.
func TestChainFreesWhatIsConsumed(t *testing.T) {
	modes := map[string]func(func()){"InferenceMode": tensor.InferenceMode, "NoGrad": tensor.NoGrad}
	newBlock := func() *block { return nn.New(&block{A: nn.NewTanh(), B: nn.NewTanh()}) }
	for mode, in := range modes {
		x := torch.Randn([]int{64, 64})
		before := x.Clone()
		hooked := nn.NewTanh()
		var seen []*torch.Tensor
		hooked.RegisterForwardHook(func(_ nn.Module, in []*torch.Tensor, out *torch.Tensor) *torch.Tensor {
			seen = append(append(seen, in...), out)
			return nil
		})
		hookedBlock := newBlock()
		hookedBlock.A.RegisterForwardPreHook(func(_ nn.Module, in []*torch.Tensor) []*torch.Tensor {
			seen = append(seen, in...)
			return nil
		})
		k, kt := nn.New(&keeper{}), &keepingTanh{Tanh: nn.NewTanh()}
		kb := &keepingBlock{block: newBlock()}
		for name, c := range map[string]struct {
			m    nn.Layer
			kept func() []*torch.Tensor
		}{
			"nothing":  {nn.NewSequential(), nil},
			"identity": {nn.NewSequential(nn.NewIdentity(), nn.NewTanh(), nn.NewTanh()), nil},
			"view": {nn.NewSequential(nn.NewFlatten(), nn.NewTanh(), nn.NewUnflatten(1, []int{8, 8}),
				nn.NewTanh()), nil},
			"dropout": {nn.NewSequential(nn.NewDropout(), nn.NewFlatten(), nn.NewDropout(), nn.NewTanh()), nil},
			"in place": {nn.NewSequential(nn.NewTanh(), nn.NewReLU(nn.InplaceOptions{Inplace: true}),
				nn.NewTanh()), nil},
			"view at the end": {nn.NewSequential(nn.NewTanh(), nn.NewFlatten(), nn.NewDropout()), nil},
			"nested": {nn.NewSequential(nn.NewSequential(nn.NewTanh(), nn.NewFlatten()), nn.NewSequential(),
				nn.NewSequential(nn.NewTanh())), nil},
			"layer norm": {nn.NewSequential(nn.NewLayerNorm(nn.Size{64}), nn.NewLinear(64, 9), nn.NewReLU(),
				nn.NewGELU()), nil},
			"user's layer": {nn.NewSequential(nn.NewTanh(), k, nn.NewTanh()),
				func() []*torch.Tensor { return []*torch.Tensor{k.in, k.out} }},
			"user's layer in a view": {nn.NewSequential(nn.NewTanh(), k, nn.NewFlatten(), nn.NewTanh()),
				func() []*torch.Tensor { return []*torch.Tensor{k.in, k.out} }},
			"embedded layer": {nn.NewSequential(nn.NewTanh(), kt, nn.NewTanh()),
				func() []*torch.Tensor { return []*torch.Tensor{kt.in} }},
			"hook": {nn.NewSequential(nn.NewTanh(), hooked, nn.NewTanh()),
				func() []*torch.Tensor { return seen }},
			"hook in a Sequential": {nn.NewSequential(nn.NewTanh(), nn.NewSequential(nn.NewFlatten(), hooked),
				nn.NewTanh()),
				func() []*torch.Tensor { return seen }},
			"block": {nn.NewSequential(newBlock(), nn.NewTanh(), newBlock(), nn.NewTanh()), nil},
			"block's hooks": {nn.NewSequential(nn.NewTanh(), hookedBlock, nn.NewTanh()),
				func() []*torch.Tensor { return seen }},
			"embedded block": {nn.NewSequential(nn.NewTanh(), kb, nn.NewTanh()),
				func() []*torch.Tensor { return []*torch.Tensor{kb.in} }},
		} {
			nn.Eval(c.m)
			want := c.m.Forward(x).Detach().Clone()
			seen = nil
			in(func() {
				for range 2 {
					y := c.m.Forward(x)
					if !torch.AllClose(y, want) {
						t.Errorf("%s, %s: result differs", mode, name)
					}
				}
				w := &watching{}
				tensor.WithLayer(w, func() { c.m.Forward(x) })
				for i, v := range w.seen {
					if v.IsReleased() {
						t.Errorf("%s, %s: result %d that a layer has seen was freed", mode, name, i)
					}
				}
			})
			if c.kept != nil {
				if len(c.kept()) == 0 {
					t.Errorf("%s, %s: nothing was seen", mode, name)
				}
				for i, v := range c.kept() {
					if v.IsReleased() {
						t.Errorf("%s, %s: value %d that the program sees was freed", mode, name, i)
					}
				}
			}
			if x.IsReleased() || !torch.Equal(x, before) {
				t.Fatalf("%s, %s: the input was freed or changed", mode, name)
			}
		}
	}
}

// The peak of a long chain is that of two values, and of a residual block three, inside Tidy and outside.
func TestChainPeak(t *testing.T) {
	const size = 1 << 20
	tanh := func(n int) *nn.Sequential {
		s := nn.NewSequential()
		for range n {
			s.Append(nn.NewTanh())
		}
		return s
	}
	blocks := nn.NewSequential(nn.NewTanh())
	for range 6 {
		blocks.Append(nn.New(&block{A: nn.NewTanh(), B: nn.NewTanh()}))
	}
	for name, c := range map[string]struct {
		m      nn.Layer
		values int
	}{
		"chain": {tanh(12), 2}, "nested": {nn.NewSequential(tanh(6), tanh(6)), 2},
		"blocks": {blocks, 4}, // block's input, the value inside, the chain's result, the sum
	} {
		for _, tidy := range []bool{false, true} {
			x := torch.Randn([]int{size / 4})
			tensor.NoGrad(func() {
				torch.EmptyCache()
				torch.ResetPeakMemoryStats()
				start := torch.MemoryStats().Allocated
				if tidy {
					torch.Tidy(func() { c.m.Forward(x) })
				} else {
					c.m.Forward(x)
				}
				if got := float64(torch.MemoryStats().Peak-start) / size; got > float64(c.values)+0.5 {
					t.Errorf("%s, Tidy %v: the peak is %s values, want %d", name, tidy, fmt.Sprintf("%.1f", got),
						c.values)
				}
			})
		}
	}
}
