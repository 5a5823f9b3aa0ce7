package autograd_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/autograd"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// scorer is a layer that computes a function of its input, which may go wrong.
type scorer struct {
	nn.Base
	F func(x *torch.Tensor) *torch.Tensor
}

func newScorer(f func(x *torch.Tensor) *torch.Tensor) *scorer { return nn.New(&scorer{F: f}) }

func (s *scorer) Forward(x *torch.Tensor) *torch.Tensor { return s.Run(s, x, s.F) }

func TestDetectNaN(t *testing.T) {
	x := torch.FromSlice([]float32{0, 1, 4}, 1, 3)
	for _, c := range []struct {
		name string
		f    func(x *torch.Tensor) *torch.Tensor
		in   *torch.Tensor
		want *autograd.NaN
	}{
		{"fine", func(x *torch.Tensor) *torch.Tensor { return x.MulScalar(2) }, x, nil},
		{"log", func(x *torch.Tensor) *torch.Tensor { return x.Log() }, x,
			&autograd.NaN{Path: "1", Class: "scorer", Op: "aten::log", Infinity: true}},
		{"in place", func(x *torch.Tensor) *torch.Tensor { return x.Clone().SubScalarInPlace(1).SqrtInPlace() }, x,
			&autograd.NaN{Path: "1", Class: "scorer", Op: "aten::sqrt_"}},
		{"backward", func(x *torch.Tensor) *torch.Tensor { return x.Sqrt() }, x,
			&autograd.NaN{Path: "1", Class: "scorer", Op: "SqrtBackward0", Backward: true, Infinity: true}},
		{"a mask", func(x *torch.Tensor) *torch.Tensor {
			return x.MaskedFillScalar(x.GtScalar(2), math.Inf(-1)).Softmax(-1)
		}, x, nil},
		{"given", func(x *torch.Tensor) *torch.Tensor { return x }, torch.FromSlice([]float32{float32(math.NaN())}, 1, 1),
			&autograd.NaN{Path: "0", Class: "scorer", Op: "aten::add.Scalar", Given: true}},
	} {
		net := nn.NewSequential(newScorer(func(x *torch.Tensor) *torch.Tensor { return x.AddScalar(0) }), newScorer(c.f))
		in := c.in.Clone().SetRequiresGrad(true)
		got := autograd.DetectNaN(net, func() {
			net.Forward(in).Mul(torch.Ones([]int{1})).Sum().Backward()
		})
		switch {
		case (got == nil) != (c.want == nil):
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		case got != nil && (got.Path != c.want.Path || got.Class != c.want.Class || got.Backward != c.want.Backward ||
			got.Infinity != c.want.Infinity || got.Given != c.want.Given || got.Op != c.want.Op):
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestSaveOnDisk(t *testing.T) {
	torch.ManualSeed(1)
	w := torch.Randn([]int{64, 64}).SetRequiresGrad(true)
	x := torch.Randn([]int{64, 64})
	loss := func() *torch.Tensor { return x.MatMul(w).Tanh().MatMul(w).Sin().Sum() }
	loss().Backward()
	want := w.Grad().Clone()
	for name, run := range map[string]func(f func()) (end func() error){
		"disk": func(f func()) func() error { return autograd.SaveOnDisk(t.TempDir(), f) },
		"cpu": func(f func()) func() error {
			autograd.SaveOnCPU(f)
			return func() error { return nil }
		},
	} {
		w.SetGrad(nil)
		var y *torch.Tensor
		end := run(func() { y = loss() })
		y.Backward()
		if !w.Grad().Equal(want) {
			t.Errorf("%s: the gradient differs", name)
		}
		if err := end(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	// without its files, a backward pass is an error
	var y *torch.Tensor
	end := autograd.SaveOnDisk(t.TempDir(), func() { y = loss() })
	if err := end(); err != nil {
		t.Fatal(err)
	}
	if err := tensor.Try(func() { y.Backward() }); err == nil {
		t.Error("files that are gone are no error")
	}
	if err := tensor.Try(func() { autograd.SaveOnDisk(t.TempDir()+"/none", func() {}) }); err == nil {
		t.Error("a folder that is not there is no error")
	}
}

// A NaN in the middle of a network is traced back to the module that made it.
func ExampleDetectNaN() {
	net := nn.NewSequential(nn.NewLinear(2, 2), newScorer(func(x *torch.Tensor) *torch.Tensor {
		return x.Sub(x).Log() // log(0)
	}), nn.NewLinear(2, 1))
	found := autograd.DetectNaN(net, func() { net.Forward(torch.Ones([]int{1, 2})) })
	fmt.Println(found)
	// Output: an infinity was made by aten::log in module 1 (scorer), forward pass
}
