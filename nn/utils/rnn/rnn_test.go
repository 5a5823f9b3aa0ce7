package rnn_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/nn/utils/rnn"
	"github.com/gotorch-dev/torch/tensor"
)

// The example of PyTorch's documentation.
func ExamplePackPaddedSequence() {
	seq := tensor.FromSlice([]float32{1, 2, 0, 3, 0, 0, 4, 5, 6}, 3, 3)
	lengths := tensor.FromSlice([]int64{2, 1, 3})
	packed := rnn.PackPaddedSequence(seq, lengths, rnn.PackOptions{BatchFirst: true, NoEnforceSorted: true})
	fmt.Println(packed.Data, packed.BatchSizes)
	fmt.Println(packed.SortedIndices, packed.UnsortedIndices)
	padded, lengths := rnn.PadPackedSequence(packed, rnn.PadPackedOptions{BatchFirst: true})
	fmt.Println(padded)
	fmt.Println(lengths)
	// Output:
	// tensor([4., 1., 3., 5., 2., 6.]) tensor([3, 2, 1])
	// tensor([2, 0, 1]) tensor([1, 2, 0])
	// tensor([[1., 2., 0.],
	//         [3., 0., 0.],
	//         [4., 5., 6.]])
	// tensor([2, 1, 3])
}

func ExamplePadSequence() {
	a, b := torch.Ones([]int{3}), torch.Ones([]int{1})
	fmt.Println(rnn.PadSequence([]*torch.Tensor{a, b}, rnn.PadOptions{BatchFirst: true, PaddingValue: -1}))
	fmt.Println(rnn.PadSequence([]*torch.Tensor{a, b}, rnn.PadOptions{BatchFirst: true, PadLeft: true}))
	// Output:
	// tensor([[ 1.,  1.,  1.],
	//         [ 1., -1., -1.]])
	// tensor([[1., 1., 1.],
	//         [0., 0., 1.]])
}

// recurrent is what the layers have in common here.
type recurrent struct {
	name   string
	module nn.Module
	packed func(x rnn.PackedSequence, state []*torch.Tensor) (rnn.PackedSequence, []*torch.Tensor)
	plain  func(x *torch.Tensor, state []*torch.Tensor) (*torch.Tensor, []*torch.Tensor)
	states []int // sizes of the states
}

func layers() (out []recurrent) {
	o := nn.RNNOptions{NumLayers: tensor.Some(2), Bidirectional: true, DType: tensor.Float64}
	for _, proj := range []int{0, 3} {
		o := o
		o.ProjSize = proj
		m := nn.NewLSTM(4, 5, o)
		h := 5
		if proj > 0 {
			h = proj
		}
		out = append(out, recurrent{fmt.Sprint("LSTM ", proj), m,
			func(x rnn.PackedSequence, s []*torch.Tensor) (rnn.PackedSequence, []*torch.Tensor) {
				y, h, c := m.ForwardPacked(x, s...)
				return y, []*torch.Tensor{h, c}
			}, func(x *torch.Tensor, s []*torch.Tensor) (*torch.Tensor, []*torch.Tensor) {
				y, h, c := m.Forward(x, s...)
				return y, []*torch.Tensor{h, c}
			}, []int{h, 5}})
	}
	g := nn.NewGRU(4, 5, o)
	out = append(out, recurrent{"GRU", g,
		func(x rnn.PackedSequence, s []*torch.Tensor) (rnn.PackedSequence, []*torch.Tensor) {
			y, h := g.ForwardPacked(x, s...)
			return y, []*torch.Tensor{h}
		}, func(x *torch.Tensor, s []*torch.Tensor) (*torch.Tensor, []*torch.Tensor) {
			y, h := g.Forward(x, s...)
			return y, []*torch.Tensor{h}
		}, []int{5}})
	for _, relu := range []bool{false, true} {
		o := o
		o.ReLU = relu
		r := nn.NewRNN(4, 5, o)
		out = append(out, recurrent{fmt.Sprint("RNN ", relu), r,
			func(x rnn.PackedSequence, s []*torch.Tensor) (rnn.PackedSequence, []*torch.Tensor) {
				y, h := r.ForwardPacked(x, s...)
				return y, []*torch.Tensor{h}
			}, func(x *torch.Tensor, s []*torch.Tensor) (*torch.Tensor, []*torch.Tensor) {
				y, h := r.Forward(x, s...)
				return y, []*torch.Tensor{h}
			}, []int{5}})
	}
	return out
}

func near(a, b *torch.Tensor) bool {
	return tensor.SameShape(a.Shape(), b.Shape()) && a.AllClose(b, tensor.AllCloseOptions{Rtol: tensor.Some(1e-9),
		Atol: tensor.Some(1e-11)})
}

// TestLayers compares packed sequences with the same sequences one by one: outputs, last states and gradients.
func TestLayers(t *testing.T) {
	torch.ManualSeed(3)
	for _, l := range layers() {
		for _, lengths := range [][]int{{3, 6, 1, 3}, {2, 2, 2}, {4}} {
			var seqs []*torch.Tensor
			for _, n := range lengths {
				seqs = append(seqs, torch.Randn([]int{n, 4}, torch.RandnOptions{DType: tensor.Float64}).SetRequiresGrad(true))
			}
			var state []*torch.Tensor
			for _, size := range l.states {
				state = append(state, torch.Randn([]int{4, len(seqs), size},
					torch.RandnOptions{DType: tensor.Float64}).SetRequiresGrad(true))
			}
			weigh := func(x *torch.Tensor) *torch.Tensor {
				return x.Mul(torch.Arange(x.Numel()).Reshape(x.Shape()).Cos()).Sum()
			}
			grads := func(loss *torch.Tensor) []*torch.Tensor {
				in := append(append(append([]*torch.Tensor{}, seqs...), state...), nn.Parameters(l.module)...)
				return tensor.Grad([]*torch.Tensor{loss}, in)
			}
			packed, last := l.packed(rnn.PackSequence(seqs, rnn.PackOptions{NoEnforceSorted: true}), state)
			outs := rnn.UnpackSequence(packed)
			loss := torch.Zeros(nil, torch.ZerosOptions{DType: tensor.Float64})
			for i := range outs {
				loss = loss.Add(weigh(outs[i]))
			}
			for _, s := range last {
				loss = loss.Add(weigh(s))
			}
			got := grads(loss)

			loss = torch.Zeros(nil, torch.ZerosOptions{DType: tensor.Float64})
			ends := make([][]*torch.Tensor, len(last))
			for i, s := range seqs {
				var from []*torch.Tensor
				for _, x := range state {
					from = append(from, x.Narrow(1, i, 1))
				}
				y, h := l.plain(s.Unsqueeze(1), from)
				y = y.SqueezeDim(1)
				if !near(outs[i], y) {
					t.Errorf("%s %v: output %d differs", l.name, lengths, i)
				}
				loss = loss.Add(weigh(y))
				for k := range h {
					ends[k] = append(ends[k], h[k])
				}
			}
			for k := range last {
				want := torch.Cat(ends[k], torch.CatOptions{Dim: 1})
				if !near(last[k], want) {
					t.Errorf("%s %v: state %d differs", l.name, lengths, k)
				}
				loss = loss.Add(weigh(want))
			}
			for i, want := range grads(loss) {
				if !near(got[i], want) {
					t.Errorf("%s %v: gradient %d differs", l.name, lengths, i)
				}
			}
		}
	}
}

func TestHooks(t *testing.T) {
	m := nn.NewGRU(2, 3)
	seen := 0
	m.RegisterForwardHook(func(_ nn.Module, in []*torch.Tensor, out *torch.Tensor) *torch.Tensor {
		seen++
		return out.MulScalar(2)
	})
	p := rnn.PackSequence([]*torch.Tensor{torch.Ones([]int{3, 2}), torch.Ones([]int{2, 2})})
	y, h := m.ForwardPacked(p)
	if seen != 1 || math.Abs(y.Data.Select(0, 4).Sum().Item()-2*h.Select(1, 0).Sum().Item()) > 1e-5 {
		t.Error("the hook did not replace the output")
	}
}

func TestRefused(t *testing.T) {
	x := torch.Ones([]int{3, 2, 1})
	ints := func(n ...int64) *torch.Tensor { return tensor.FromSlice(n) }
	for name, f := range map[string]func(){
		"unsorted":    func() { rnn.PackPaddedSequence(x, ints(1, 3)) },
		"zero":        func() { rnn.PackPaddedSequence(x, ints(1, 0)) },
		"too long":    func() { rnn.PackPaddedSequence(x, ints(4, 1)) },
		"count":       func() { rnn.PackPaddedSequence(x, ints(3)) },
		"dimensions":  func() { rnn.PackPaddedSequence(torch.Ones([]int{3}), ints(3)) },
		"lengths":     func() { rnn.PackPaddedSequence(x, torch.Ones([]int{1, 2})) },
		"empty":       func() { rnn.PackPaddedSequence(torch.Ones([]int{3, 0, 1}), torch.Ones([]int{0})) },
		"no sequence": func() { rnn.PadSequence(nil) },
		"0-d":         func() { rnn.PackSequence([]*torch.Tensor{torch.Ones(nil)}) },
		"shapes":      func() { rnn.PadSequence([]*torch.Tensor{torch.Ones([]int{2, 3}), torch.Ones([]int{2, 4})}) },
		"total": func() {
			rnn.PadPackedSequence(rnn.PackPaddedSequence(x, ints(3, 1)), rnn.PadPackedOptions{TotalLength: 2})
		},
		"huge": func() {
			rnn.PadPackedSequence(rnn.PackPaddedSequence(x, ints(3, 1)), rnn.PadPackedOptions{TotalLength: 1 << 62})
		},
		"growing": func() { rnn.PadPackedSequence(rnn.PackedSequence{Data: x, BatchSizes: ints(1, 2)}) },
		"no steps": func() {
			rnn.PadPackedSequence(rnn.PackedSequence{Data: x, BatchSizes: torch.Ones([]int{0}).To(tensor.Int64)})
		},
		"rows": func() { rnn.PadPackedSequence(rnn.PackedSequence{Data: x, BatchSizes: ints(2)}) },
		"layer": func() {
			nn.NewGRU(1, 1).ForwardPacked(rnn.PackedSequence{Data: x.Reshape([]int{6, 1}), BatchSizes: ints(2, 1)})
		},
		"features": func() { nn.NewGRU(2, 1).ForwardPacked(rnn.PackPaddedSequence(x, ints(3, 1))) },
		"unpad":    func() { rnn.UnpadSequence(x, ints(1), false) },
	} {
		var e *tensor.Error
		if err := torch.Try(f); !errors.As(err, &e) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
