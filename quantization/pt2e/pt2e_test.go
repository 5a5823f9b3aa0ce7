package pt2e_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/quantization/pt2e"
	"github.com/gotorch-dev/torch/tensor"
)

// residual is a network with what the rules are about: folded batch norms, an addition, a concatenation, pools.
type residual struct {
	nn.Base
	Conv1, Conv2, Conv3 *nn.Conv2d
	Norm1, Norm2        *nn.BatchNorm2d
	ReLU1, ReLU2        *nn.ReLU
	Pool                *nn.MaxPool2d
	Average             *nn.AdaptiveAvgPool2d
	Drop                *nn.Dropout
	FC                  *nn.Linear
}

func newResidual() *residual {
	torch.ManualSeed(0)
	m := nn.New(&residual{Conv1: nn.NewConv2d(3, 8, 3, nn.Conv2dOptions{Padding: []int{1}}),
		Norm1: nn.NewBatchNorm2d(8),
		Conv2: nn.NewConv2d(8, 8, 3, nn.Conv2dOptions{Padding: []int{1}, NoBias: true}), Norm2: nn.NewBatchNorm2d(8),
		Conv3: nn.NewConv2d(16, 4, 1), ReLU1: nn.NewReLU(), ReLU2: nn.NewReLU(),
		Pool: nn.NewMaxPool2d(2), Average: nn.NewAdaptiveAvgPool2d(1), Drop: nn.NewDropout(), FC: nn.NewLinear(4, 5)})
	m.Eval()
	return m
}

func (m *residual) Forward(x *torch.Tensor) *torch.Tensor {
	x = m.ReLU1.Forward(m.Norm1.Forward(m.Conv1.Forward(x)))
	y := m.ReLU2.Forward(m.Norm2.Forward(m.Conv2.Forward(x)).Add(x))
	z := m.Conv3.Forward(m.Pool.Forward(torch.Cat([]*torch.Tensor{x, y}, torch.CatOptions{Dim: 1})))
	return m.FC.Forward(m.Drop.Forward(m.Average.Forward(z).Flatten(torch.FlattenOptions{StartDim: 1})))
}

// quantized captures, prepares, runs and converts a network.
func quantized(t testing.TB, net nn.Layer, q pt2e.Quantizer, x *torch.Tensor) *pt2e.Model {
	t.Helper()
	m, err := pt2e.Capture(net, []any{x})
	if err != nil {
		t.Fatal(err)
	}
	if err := pt2e.PreparePT2E(m, q); err != nil {
		t.Fatal(err)
	}
	torch.NoGrad(func() { m.Forward(x) })
	if err := pt2e.ConvertPT2E(m); err != nil {
		t.Fatal(err)
	}
	return m
}

// count is how often a program calls an operator.
func count(m *pt2e.Model, op string) (n int) {
	for _, x := range m.Graph().Body.Nodes {
		if strings.TrimPrefix(x.Op, "quantized_decomposed::") == op {
			n++
		}
	}
	return n
}

// TestRules quantizes the network by each quantizer: the numbers of operators are PyTorch's, and the result is near
// that of the network, which itself stays as it was.
func TestRules(t *testing.T) {
	x := torch.Randn([]int{2, 3, 8, 8})
	for _, c := range []struct {
		name                                                        string
		q                                                           pt2e.Quantizer
		quantize, dequantize, channel, choose, quantizeT, normsLeft int
	}{
		{"x86", pt2e.NewX86InductorQuantizer().SetGlobal(pt2e.X86InductorConfig()), 8, 10, 4, 0, 0, 0},
		{"x86 dynamic", pt2e.NewX86InductorQuantizer().SetGlobal(pt2e.X86InductorConfig(
			pt2e.X86InductorOptions{IsDynamic: true})), 0, 0, 4, 8, 8, 0},
		{"xnnpack", pt2e.NewXNNPACKQuantizer().SetGlobal(pt2e.SymmetricConfig()), 10, 16, 0, 0, 0, 0},
		{"xnnpack dynamic", pt2e.NewXNNPACKQuantizer().SetGlobal(pt2e.SymmetricConfig(pt2e.SymmetricOptions{
			IsDynamic: true, IsPerChannel: true})), 0, 0, 1, 1, 1, 0},
		{"one layer", pt2e.NewX86InductorQuantizer().SetModuleName("fc", pt2e.X86InductorConfig()), 1, 1, 1, 0, 0, 0},
		{"but one layer", pt2e.NewX86InductorQuantizer().SetModuleName("fc", nil).SetGlobal(pt2e.X86InductorConfig()),
			7, 9, 3, 0, 0, 0},
		{"one operator", pt2e.NewX86InductorQuantizer().SetOperator("aten::linear", pt2e.X86InductorConfig()), 1, 1, 1,
			0, 0, 0},
		{"one class", pt2e.NewXNNPACKQuantizer().SetModuleType("Linear", pt2e.SymmetricConfig()), 2, 3, 0, 0, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			net := newResidual()
			var want *torch.Tensor
			torch.NoGrad(func() { want = net.Forward(x) })
			m := quantized(t, net, c.q, x)
			for op, n := range map[string]int{"quantize_per_tensor": c.quantize, "dequantize_per_tensor": c.dequantize,
				"dequantize_per_channel": c.channel, "choose_qparams.tensor": c.choose,
				"quantize_per_tensor.tensor": c.quantizeT, "aten::batch_norm": c.normsLeft} {
				if got := count(m, op); got != n {
					t.Errorf("%d calls of %s, want %d", got, op, n)
				}
			}
			var got *torch.Tensor
			torch.NoGrad(func() { got = m.Forward(x) })
			if far := got.Sub(want).Abs().Max().Item(); far > 0.02 {
				t.Errorf("the result is off by %v", far)
			}
			if !torch.Equal(net.Forward(x), want) {
				t.Error("the network has changed")
			}
		})
	}
}

// TestResultIsRead: the network's result is a reader as well, so that a flattening at the end stays as it is.
func TestResultIsRead(t *testing.T) {
	x := torch.Randn([]int{2, 3, 8, 8})
	net := nn.NewSequential(nn.NewConv2d(3, 4, 3), nn.NewReLU(), nn.NewAdaptiveAvgPool2d(1), nn.NewFlatten())
	net.Eval()
	m := quantized(t, net, pt2e.NewX86InductorQuantizer().SetGlobal(pt2e.X86InductorConfig()), x)
	if got := count(m, "quantize_per_tensor"); got != 3 { // input, before the pool, behind it
		t.Errorf("%d calls of quantize_per_tensor, want 3", got)
	}
}

// TestStateDict lists the tensors of a model at each stage.
func TestStateDict(t *testing.T) {
	x := torch.Randn([]int{2, 3, 8, 8})
	m, err := pt2e.Capture(newResidual(), []any{x})
	if err != nil {
		t.Fatal(err)
	}
	names := func() (out []string) {
		for k := range nn.StateDict(m).All() {
			out = append(out, k)
		}
		return out
	}
	if !slices.Contains(names(), "norm1.running_mean") {
		t.Errorf("captured: %v", names())
	}
	if err := pt2e.PreparePT2E(m, pt2e.NewX86InductorQuantizer().SetGlobal(pt2e.X86InductorConfig())); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"conv2.weight", "conv2.weight_bias", "activation_post_process_0.eps"} {
		if !slices.Contains(names(), want) {
			t.Errorf("prepared: no %s in %v", want, names())
		}
	}
	m.Forward(x)
	if err := pt2e.ConvertPT2E(m); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"_frozen_param0", "_scale_0", "_zero_point_3", "conv2.weight_bias"} {
		if !slices.Contains(names(), want) {
			t.Errorf("converted: no %s in %v", want, names())
		}
	}
}

// TestOrder calls the steps in a wrong order.
func TestOrder(t *testing.T) {
	x := torch.Randn([]int{2, 3, 8, 8})
	m, err := pt2e.Capture(newResidual(), []any{x})
	if err != nil {
		t.Fatal(err)
	}
	if err := pt2e.ConvertPT2E(m); !errors.Is(err, tensor.ErrValue) {
		t.Errorf("convert before prepare: %v", err)
	}
	q := pt2e.NewXNNPACKQuantizer().SetGlobal(pt2e.SymmetricConfig())
	if err := pt2e.PreparePT2E(m, q); err != nil {
		t.Fatal(err)
	}
	if err := pt2e.PreparePT2E(m, q); !errors.Is(err, tensor.ErrValue) {
		t.Errorf("prepare twice: %v", err)
	}
	if _, err := pt2e.Capture(newResidual(), []any{x, x}); err == nil {
		t.Error("no error for an argument too many")
	}
}

func Example() {
	torch.ManualSeed(0)
	net := nn.NewSequential(nn.NewConv2d(3, 8, 3), nn.NewReLU(), nn.NewFlatten(), nn.NewLinear(8*6*6, 4))
	net.Eval()
	x := torch.Rand([]int{16, 3, 8, 8})
	want := net.Forward(x)
	m, err := pt2e.Capture(net, []any{x})
	if err != nil {
		panic(err)
	}
	q := pt2e.NewX86InductorQuantizer().SetGlobal(pt2e.X86InductorConfig())
	if err := pt2e.PreparePT2E(m, q); err != nil {
		panic(err)
	}
	torch.NoGrad(func() { m.Forward(x) }) // typical data
	if err := pt2e.ConvertPT2E(m); err != nil {
		panic(err)
	}
	fmt.Println(m.Forward(x).Sub(want).Abs().Max().Item() < 0.01)
	// Output: true
}

// TestComputesWithBytes: a quantized network that is prepared for inference computes with bytes between the
// quantizations, and gives what it gave before but for the rounding of single bytes.
func TestComputesWithBytes(t *testing.T) {
	x := torch.Randn([]int{2, 3, 8, 8})
	for name, c := range map[string]struct {
		q    func() pt2e.Quantizer
		left map[string]int // operators in floats, and quantizations at the ends and around them
	}{
		"x86": {func() pt2e.Quantizer { return pt2e.NewX86InductorQuantizer().SetGlobal(pt2e.X86InductorConfig()) },
			map[string]int{"quantize_per_tensor": 2, "dequantize_per_tensor": 1, "aten::add.Tensor": 1,
				"gotorch::bytes_conv": 3, "gotorch::bytes_linear": 1, "gotorch::bytes_max_pool2d": 1,
				"gotorch::bytes_avg_pool2d": 1}},
		"xnnpack": {func() pt2e.Quantizer { return pt2e.NewXNNPACKQuantizer().SetGlobal(pt2e.SymmetricConfig()) },
			map[string]int{"quantize_per_tensor": 1, "dequantize_per_tensor": 1, "aten::add.Tensor": 0,
				"gotorch::bytes_conv": 3, "gotorch::bytes_linear": 1, "gotorch::bytes_add": 1,
				"gotorch::bytes_max_pool2d": 1, "gotorch::bytes_avg_pool2d": 1}},
	} {
		plain, fused := quantized(t, newResidual(), c.q(), x), quantized(t, newResidual(), c.q(), x)
		fused.Graph().Fuse()
		for op, n := range c.left {
			if got := count(fused, op); got != n {
				t.Errorf("%s: %d calls of %s, want %d:\n%s", name, got, op, n, fused.Graph())
			}
		}
		torch.NoGrad(func() {
			want := plain.Forward(x)
			if d := fused.Forward(x).Sub(want).Abs().Max().Item() / want.Abs().Max().Item(); !(d < 0.02) {
				t.Errorf("%s: the results differ by %g", name, d)
			}
		})
	}
}
