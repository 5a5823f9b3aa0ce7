package quantization_test

import (
	"fmt"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/quantization"
)

// mlp is a model with marks where it becomes quantized.
type mlp struct {
	nn.Base
	Quant   *quantization.QuantStub   `torch:"quant"`
	FC1     *nn.Linear                `torch:"fc1"`
	ReLU    *nn.ReLU                  `torch:"relu"`
	FC2     *nn.Linear                `torch:"fc2"`
	DeQuant *quantization.DeQuantStub `torch:"dequant"`
}

func newMLP() *mlp {
	return nn.New(&mlp{Quant: quantization.NewQuantStub(), FC1: nn.NewLinear(4, 8), ReLU: nn.NewReLU(),
		FC2: nn.NewLinear(8, 2), DeQuant: quantization.NewDeQuantStub()})
}

func (m *mlp) Forward(x *torch.Tensor) *torch.Tensor {
	return m.DeQuant.Forward(m.FC2.Forward(m.ReLU.Forward(m.FC1.Forward(m.Quant.Forward(x)))))
}

func Example() {
	torch.ManualSeed(0)
	m := newMLP()
	m.Eval()
	x := torch.Rand([]int{16, 4})
	want := m.Forward(x)
	if err := quantization.FuseModules(m, []string{"fc1", "relu"}); err != nil {
		panic(err)
	}
	quantization.Prepare(m)
	torch.NoGrad(func() { m.Forward(x) }) // typical data
	quantization.Convert(m)
	got := m.Forward(x)
	fmt.Println(nn.ClassName(nn.StandIn(m.FC1)), nn.ClassName(nn.StandIn(m.ReLU)))
	fmt.Println(got.Sub(want).Abs().Max().Item() < 0.05)
	// Output:
	// QuantizedLinearReLU Identity
	// true
}

func ExampleQuantizeDynamic() {
	torch.ManualSeed(0)
	m := nn.NewSequential(nn.NewLinear(4, 8), nn.NewTanh(), nn.NewLinear(8, 2))
	m.Eval()
	if _, err := quantization.QuantizeDynamic(m); err != nil {
		panic(err)
	}
	fmt.Println(m)
	// Output:
	// Sequential(
	//   (0): DynamicQuantizedLinear(in_features=4, out_features=8, dtype=torch.qint8, qscheme=torch.per_tensor_affine)
	//   (1): Tanh()
	//   (2): DynamicQuantizedLinear(in_features=8, out_features=2, dtype=torch.qint8, qscheme=torch.per_tensor_affine)
	// )
}
