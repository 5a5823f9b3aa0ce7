package jit_test

import (
	"sync"
	"testing"

	torch "github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/jit"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// serve calls a module without gradients, which prepares it for inference in the second call.
func serve(m *jit.Module, x *torch.Tensor) (y *torch.Tensor, err error) {
	tensor.NoGrad(func() { y, err = m.Forward(x) })
	return y, err
}

// A module without gradients gives what it gives with them, however often it is called and whatever is changed in
// between.
func TestServing(t *testing.T) {
	torch.ManualSeed(3)
	block := func(in, out int) *nn.Sequential {
		return nn.NewSequential(nn.NewConv2d(in, out, 3, nn.Conv2dOptions{Padding: nn.Size{1}}), nn.NewBatchNorm2d(out),
			nn.NewReLU(nn.InplaceOptions{Inplace: true}))
	}
	net := nn.NewSequential(block(3, 8), nn.NewMaxPool2d(2), block(8, 6), nn.NewAdaptiveAvgPool2d(2), nn.NewFlatten(),
		nn.NewLinear(24, 10), nn.NewGELU(), nn.NewDropout(), nn.NewLinear(10, 4))
	nn.Eval(net)
	m, err := jit.Trace(net, torch.Randn([]int{2, 3, 12, 12}), jit.TraceOptions{NoCheck: true})
	if err != nil {
		t.Fatal(err)
	}
	same := func(name string) {
		t.Helper()
		for call := range 4 {
			x := torch.Randn([]int{1 + call, 3, 12, 12})
			if call == 3 {
				x = x.To(torch.ChannelsLast)
			}
			want, err := m.Forward(x)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			got, err := serve(m, x)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if got.RequiresGrad() || !got.AllClose(want.Detach(), tensor.AllCloseOptions{Atol: torch.Some(1e-5)}) {
				t.Errorf("%s, call %d: got %v, want %v", name, call, got, want)
			}
		}
	}
	same("at first")
	tensor.NoGrad(func() {
		for _, p := range m.NamedParameters() {
			p.Tensor.MulScalarInPlace(0.9)
		}
	})
	same("parameters changed in place")
	for _, b := range m.NamedBuffers() {
		if b.Tensor.DType().IsFloat() {
			b.Tensor.AddScalarInPlace(0.5)
		}
	}
	same("buffers changed in place")
	x := torch.Randn([]int{3, 3, 12, 12})
	want, err := m.Forward(x)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 5 {
				got, err := serve(m, x)
				if err != nil || !got.AllClose(want.Detach(), tensor.AllCloseOptions{Atol: torch.Some(1e-5)}) {
					t.Errorf("got %v, %v", got, err)
				}
			}
		}()
	}
	wg.Wait()
	bad := torch.Randn([]int{1, 4, 12, 12})
	var texts []string
	for _, mode := range []func(func()){tensor.EnableGrad, tensor.NoGrad} {
		mode(func() { _, err = m.Forward(bad) })
		if err == nil {
			t.Fatal("an image with 4 channels is no error")
		}
		texts = append(texts, err.Error())
	}
	if texts[0] != texts[1] {
		t.Errorf("an error is %s, want %s", texts[1], texts[0])
	}
}

// What a module does to its arguments and attributes it does without gradients, too.
func TestServingKeepsEffects(t *testing.T) {
	m := load(t, module+`  def forward(self: __torch__.M, x: Tensor) -> Tensor:
    y = torch.add_(x, 1.)
    l = annotate(List[int], [])
    for i in range(torch.size(x, 0)):
      _0 = torch.append(l, i)
    if self.training:
      z = torch.mul(y, torch.len(l))
    else:
      z = torch.neg(y)
    return z
`)
	for call := range 4 {
		x := torch.Ones([]int{3})
		y, err := serve(m, x)
		if err != nil {
			t.Fatal(err)
		}
		want := 6.0
		if call == 3 {
			want = -2
		}
		if !y.Equal(torch.Full([]int{3}, want)) || !x.Equal(torch.Full([]int{3}, 2.0)) {
			t.Errorf("call %d: got %v, and %v in the argument", call, y, x)
		}
		if call == 2 {
			m.Eval()
		}
	}
}
