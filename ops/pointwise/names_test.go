package pointwise_test

import (
	"testing"

	"github.com/gotorch-dev/torch/internal/opstest"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

// TestSeen compares what a tracer sees of the activation functions with the operators that PyTorch 2.15 lists for its
// own (make_fx with pre_dispatch).
func TestSeen(t *testing.T) {
	x, w := opstest.Fill(tensor.Float32, 1, 3, 4), opstest.Fill(tensor.Float32, 2, 4)
	for _, c := range []struct {
		name string
		f    func()
		want string
	}{
		{"relu", func() { F.ReLU(x) }, "relu"},
		{"relu in place", func() { F.ReLU(x.Clone(), F.ReLUOptions{Inplace: true}) }, "clone relu_"},
		{"relu_", func() { F.ReLUInPlace(x.Clone()) }, "clone relu_"},
		{"relu6", func() { F.ReLU6(x) }, "relu6"},
		{"relu6 in place", func() { F.ReLU6(x.Clone(), F.ReLU6Options{Inplace: true}) }, "clone relu6_"},
		{"hardtanh", func() { F.HardTanh(x) }, "hardtanh"},
		{"hardtanh in place", func() { F.HardTanh(x.Clone(), F.HardTanhOptions{Inplace: true}) }, "clone hardtanh_"},
		{"hardtanh_", func() { F.HardTanhInPlace(x.Clone()) }, "clone hardtanh_"},
		{"elu", func() { F.ELU(x) }, "elu"},
		{"elu in place", func() { F.ELU(x.Clone(), F.ELUOptions{Inplace: true}) }, "clone elu_"},
		{"elu_", func() { F.ELUInPlace(x.Clone()) }, "clone elu_"},
		{"selu", func() { F.SELU(x) }, "selu"},
		{"selu in place", func() { F.SELU(x.Clone(), F.SELUOptions{Inplace: true}) }, "clone selu_"},
		{"selu_", func() { F.SELUInPlace(x.Clone()) }, "clone selu_"},
		{"celu", func() { F.CELU(x) }, "celu"},
		{"celu in place", func() { F.CELU(x.Clone(), F.CELUOptions{Inplace: true}) }, "clone celu_"},
		{"celu_", func() { F.CELUInPlace(x.Clone()) }, "clone celu_"},
		{"leaky_relu", func() { F.LeakyReLU(x) }, "leaky_relu"},
		{"leaky_relu in place", func() { F.LeakyReLU(x.Clone(), F.LeakyReLUOptions{Inplace: true}) },
			"clone leaky_relu_"},
		{"leaky_relu_", func() { F.LeakyReLUInPlace(x.Clone()) }, "clone leaky_relu_"},
		{"prelu", func() { F.PReLU(x, w) }, "prelu"},
		{"rrelu", func() { F.RReLU(x) }, "rrelu"},
		{"rrelu in training", func() { F.RReLU(x, F.RReLUOptions{Training: true}) }, "rrelu"},
		{"rrelu in place", func() { F.RReLU(x.Clone(), F.RReLUOptions{Training: true, Inplace: true}) },
			"clone rrelu_"},
		{"rrelu_", func() { F.RReLUInPlace(x.Clone()) }, "clone rrelu_"},
		{"gelu", func() { F.GELU(x) }, "gelu"},
		{"glu", func() { F.GLU(x) }, "glu"},
		{"logsigmoid", func() { F.LogSigmoid(x) }, "log_sigmoid"},
		{"softplus", func() { F.Softplus(x) }, "softplus"},
		{"softshrink", func() { F.Softshrink(x) }, "softshrink"},
		{"hardshrink", func() { F.Hardshrink(x) }, "hardshrink"},
		{"hardsigmoid", func() { F.HardSigmoid(x) }, "hardsigmoid"},
		{"hardsigmoid in place", func() { F.HardSigmoid(x.Clone(), F.HardSigmoidOptions{Inplace: true}) },
			"clone hardsigmoid_"},
		{"hardswish", func() { F.HardSwish(x) }, "hardswish"},
		{"hardswish in place", func() { F.HardSwish(x.Clone(), F.HardSwishOptions{Inplace: true}) },
			"clone hardswish_"},
		{"silu", func() { F.SiLU(x) }, "silu"},
		{"silu in place", func() { F.SiLU(x.Clone(), F.SiLUOptions{Inplace: true}) }, "clone silu_"},
		{"mish", func() { F.Mish(x) }, "mish"},
		{"mish in place", func() { F.Mish(x.Clone(), F.MishOptions{Inplace: true}) }, "clone mish_"},
		{"tanhshrink", func() { F.Tanhshrink(x) }, "tanh sub.Tensor"},
		{"softsign", func() { F.Softsign(x) }, "abs add.Tensor div.Tensor"},
		{"threshold", func() { F.Threshold(x, 0.1, 2) }, "threshold"},
		{"threshold in place", func() { F.Threshold(x.Clone(), 0.1, 2, F.ThresholdOptions{Inplace: true}) },
			"clone threshold_"},
		{"threshold_", func() { F.ThresholdInPlace(x.Clone(), 0.1, 2) }, "clone threshold_"},
		{"sigmoid", func() { F.Sigmoid(x) }, "sigmoid"},
		{"tanh", func() { F.Tanh(x) }, "tanh"},
	} {
		opstest.Seen(t, c.name, c.f, c.want)
	}
}
