package pt2e_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/optim"
	"github.com/gotorch-dev/torch/quantization/pt2e"
	"github.com/gotorch-dev/torch/tensor"
)

// prepared captures a network in training mode and prepares it for quantization-aware training.
func prepared(t testing.TB, net nn.Layer, q pt2e.Quantizer, x *torch.Tensor) *pt2e.Model {
	t.Helper()
	nn.Train(net, true)
	m, err := pt2e.Capture(net, []any{x})
	if err != nil {
		t.Fatal(err)
	}
	if err := pt2e.PrepareQATPT2E(m, q); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestQAT trains a network with fake quantization and converts it: the loss falls, weights get gradients, batch norms
// are folded, and the result is near that of the trained program.
func TestQAT(t *testing.T) {
	x := torch.Randn([]int{8, 3, 8, 8})
	target := torch.Randn([]int{8, 5})
	for _, c := range []struct {
		name                 string
		q                    pt2e.Quantizer
		quantize, dequantize int // of activations, and with one scale of weights
		channel              int
	}{
		{"x86", pt2e.NewX86InductorQuantizer().SetGlobal(pt2e.X86InductorConfig(pt2e.X86InductorOptions{IsQAT: true})),
			8, 10, 4},
		{"xnnpack", pt2e.NewXNNPACKQuantizer().SetGlobal(pt2e.SymmetricConfig(pt2e.SymmetricOptions{IsQAT: true})),
			10, 16, 0},
		{"xnnpack, per channel", pt2e.NewXNNPACKQuantizer().SetGlobal(pt2e.SymmetricConfig(pt2e.SymmetricOptions{
			IsQAT: true, IsPerChannel: true})), 10, 12, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			net := newResidual()
			net.Drop = nn.NewDropout(nn.DropoutOptions{P: tensor.Some(0.0)})
			m := prepared(t, net, c.q, x)
			if n := net.Norm1.NumBatchesTracked.Item(); n != 0 {
				t.Errorf("recording counted %v batches", n)
			}
			if got := len(nn.Parameters(m)); got != len(nn.Parameters(net)) {
				t.Errorf("%d parameters, the network has %d", got, len(nn.Parameters(net)))
			}
			opt := optim.NewSGD(nn.Parameters(m), 0.05)
			var first, last float64
			for i := range 6 {
				opt.ZeroGrad()
				d := m.Forward(x).Sub(target)
				loss := d.Mul(d).Mean()
				loss.Backward()
				if net.Conv1.Weight.Grad() == nil || net.Norm2.Weight.Grad() == nil {
					t.Fatal("a parameter has no gradient")
				}
				opt.Step()
				if last = loss.Item(); i == 0 {
					first = last
				}
			}
			if !(last < first) {
				t.Errorf("the loss went from %v to %v", first, last)
			}
			if n := net.Norm1.NumBatchesTracked.Item(); n != 6 {
				t.Errorf("training counted %v batches", n)
			}
			m.Eval()
			var want, got *torch.Tensor
			torch.NoGrad(func() { want = m.Forward(x) })
			if err := pt2e.ConvertPT2E(m); err != nil {
				t.Fatal(err)
			}
			torch.NoGrad(func() { got = m.Forward(x) })
			if far := got.Sub(want).Abs().Max().Item() / want.Abs().Max().Item(); !(far < 0.05) {
				t.Errorf("conversion changed the result by %v of its size", far)
			}
			for op, n := range map[string]int{"aten::batch_norm": 0, "aten::div.Tensor": 0, "aten::add_.Tensor": 0,
				"quantize_per_tensor": c.quantize, "dequantize_per_tensor": c.dequantize,
				"dequantize_per_channel": c.channel} {
				if got := count(m, op); got != n {
					t.Errorf("%d calls of %s, want %d", got, op, n)
				}
			}
		})
	}
}

// TestModes switches dropout and batch norm of a recorded network.
func TestModes(t *testing.T) {
	x := torch.Randn([]int{4, 3, 8, 8})
	net := newResidual()
	m, err := pt2e.Capture(net, []any{x})
	if err != nil {
		t.Fatal(err)
	}
	flags := func() (out []bool) {
		for _, n := range m.Graph().Body.Nodes {
			switch n.Op {
			case "aten::batch_norm":
				out = append(out, n.In[5].Node.Const.N != 0)
			case "aten::dropout":
				out = append(out, n.In[2].Node.Const.N != 0)
			}
		}
		return out
	}
	for _, training := range []bool{false, true, true, false} {
		if m.Train(training); !slices.Equal(flags(), []bool{training, training, training}) {
			t.Errorf("training %v: the flags are %v", training, flags())
		}
	}
	if got, want := m.Forward(x), net.Forward(x); !torch.Equal(got, want) {
		t.Error("the network computes something else after the switches")
	}
}

// TestQATOrder prepares twice, in both ways.
func TestQATOrder(t *testing.T) {
	x := torch.Randn([]int{2, 3, 8, 8})
	q := pt2e.NewX86InductorQuantizer().SetGlobal(pt2e.X86InductorConfig(pt2e.X86InductorOptions{IsQAT: true}))
	m := prepared(t, newResidual(), q, x)
	if err := pt2e.PrepareQATPT2E(m, q); !errors.Is(err, tensor.ErrValue) {
		t.Errorf("prepare twice: %v", err)
	}
	if err := pt2e.PreparePT2E(m, q); !errors.Is(err, tensor.ErrValue) {
		t.Errorf("prepare in another way: %v", err)
	}
}

func ExamplePrepareQATPT2E() {
	torch.ManualSeed(0)
	net := nn.NewSequential(nn.NewConv2d(1, 4, 3), nn.NewBatchNorm2d(4), nn.NewReLU(), nn.NewFlatten(),
		nn.NewLinear(4*4*4, 2))
	x, y := torch.Rand([]int{16, 1, 6, 6}), torch.Rand([]int{16, 2})
	m, err := pt2e.Capture(net, []any{x}) // in training mode
	if err != nil {
		panic(err)
	}
	q := pt2e.NewX86InductorQuantizer().SetGlobal(pt2e.X86InductorConfig(pt2e.X86InductorOptions{IsQAT: true}))
	if err := pt2e.PrepareQATPT2E(m, q); err != nil {
		panic(err)
	}
	opt := optim.NewSGD(m.Parameters(), 0.01)
	for range 3 {
		opt.ZeroGrad()
		d := m.Forward(x).Sub(y)
		d.Mul(d).Mean().Backward()
		opt.Step()
	}
	m.Eval()
	if err := pt2e.ConvertPT2E(m); err != nil {
		panic(err)
	}
	fmt.Println(m.Forward(x).Shape())
	// Output: [16 2]
}
