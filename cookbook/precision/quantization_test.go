package precision

import (
	"fmt"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/quantization"
	"github.com/gotorch-dev/torch/quantization/pt2e"
)

// Static quantization: the model marks where it becomes quantized, layers are joined, observers see typical data, and
// Convert exchanges the layers for layers of bytes. Numbers and text are PyTorch's under the engine x86.
func Example_staticQuantization() {
	torch.ManualSeed(0)
	m := nn.NewSequential(quantization.NewQuantStub(), nn.NewConv2d(3, 8, 3), nn.NewReLU(), nn.NewMaxPool2d(2),
		nn.NewFlatten(), nn.NewLinear(72, 4), quantization.NewDeQuantStub())
	m.Eval()
	x := torch.Rand([]int{16, 3, 8, 8})
	if err := quantization.FuseModules(m, []string{"1", "2"}); err != nil {
		panic(err)
	}
	quantization.Prepare(m)
	torch.NoGrad(func() { m.Forward(x) })
	quantization.Convert(m)
	fmt.Println(m.Forward(x.Narrow(0, 0, 2)))
	for name, layer := range nn.NamedChildren(m) {
		fmt.Println(name, nn.ClassName(layer))
	}
	// Output:
	// tensor([[-0.1552, -0.0149, -0.1015,  0.0090],
	//         [-0.1702, -0.0030, -0.0209, -0.0239]])
	// 0 Quantize
	// 1 QuantizedConvReLU2d
	// 2 Identity
	// 3 MaxPool2d
	// 4 Flatten
	// 5 QuantizedLinear
	// 6 DeQuantize
}

// Dynamic quantization needs no data: weights of linear and recurrent layers become bytes, inputs are rounded by their
// range as they come.
func Example_dynamicQuantization() {
	torch.ManualSeed(0)
	m := nn.NewSequential(nn.NewLinear(8, 16), nn.NewReLU(), nn.NewLinear(16, 2))
	x := torch.Rand([]int{2, 8})
	if _, err := quantization.QuantizeDynamic(m); err != nil {
		panic(err)
	}
	fmt.Println(m.Forward(x))
	fmt.Println(m)
	// Output:
	// tensor([[-0.1205, -0.2877],
	//         [-0.1328, -0.3190]])
	// Sequential(
	//   (0): DynamicQuantizedLinear(in_features=8, out_features=16, dtype=torch.qint8, qscheme=torch.per_tensor_affine)
	//   (1): ReLU()
	//   (2): DynamicQuantizedLinear(in_features=16, out_features=2, dtype=torch.qint8, qscheme=torch.per_tensor_affine)
	// )
}

// Quantization-aware training: weights and activations are rounded while the model trains, so that it learns to live
// with it.
func Example_quantizationAwareTraining() {
	torch.ManualSeed(0)
	m := nn.NewSequential(quantization.NewQuantStub(), nn.NewLinear(8, 16), nn.NewReLU(), nn.NewLinear(16, 2),
		quantization.NewDeQuantStub())
	if err := quantization.FuseModulesQAT(m, []string{"1", "2"}); err != nil {
		panic(err)
	}
	quantization.PrepareQAT(m)
	x, first := torch.Rand([]int{32, 8}), 0.0
	target := x.Narrow(1, 0, 2)
	for i := range 300 {
		diff := m.Forward(x).Sub(target)
		loss := diff.Mul(diff).Mean()
		if i == 0 {
			first = loss.Item()
		}
		m.ZeroGrad()
		loss.Backward()
		torch.NoGrad(func() {
			for _, p := range m.Parameters() {
				p.SubInPlace(p.Grad().MulScalar(0.5))
			}
		})
	}
	m.Eval()
	quantization.Convert(m)
	diff := m.Forward(x).Sub(target)
	fmt.Println("a fifth of the first loss, or less:", diff.Mul(diff).Mean().Item() < first/5)
	// Output: a fifth of the first loss, or less: true
}

// A network without marks is quantized from a recording of its operators. The result is a layer that export.Export and
// onnx.Export write.
func Example_quantizeRecordedNetwork() {
	torch.ManualSeed(0)
	net := nn.NewSequential(nn.NewConv2d(3, 8, 3), nn.NewBatchNorm2d(8), nn.NewReLU(), nn.NewFlatten(),
		nn.NewLinear(288, 4))
	net.Eval()
	x := torch.Rand([]int{16, 3, 8, 8})
	m, err := pt2e.Capture(net, []any{x})
	if err != nil {
		panic(err)
	}
	if err := pt2e.PreparePT2E(m, pt2e.NewX86InductorQuantizer().SetGlobal(pt2e.X86InductorConfig())); err != nil {
		panic(err)
	}
	torch.NoGrad(func() { m.Forward(x) })
	if err := pt2e.ConvertPT2E(m); err != nil {
		panic(err)
	}
	for _, n := range m.Graph().Body.Nodes {
		if n.Operator != nil {
			fmt.Println(n.Op)
		}
	}
	// Output:
	// quantized_decomposed::quantize_per_tensor
	// quantized_decomposed::dequantize_per_tensor
	// quantized_decomposed::dequantize_per_channel
	// quantized_decomposed::dequantize_per_channel
	// aten::conv2d
	// aten::relu
	// quantized_decomposed::quantize_per_tensor
	// quantized_decomposed::dequantize_per_tensor
	// aten::flatten.using_ints
	// quantized_decomposed::quantize_per_tensor
	// quantized_decomposed::dequantize_per_tensor
	// aten::linear
}
