package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/nn/utils"
	"github.com/gotorch-dev/torch/onnx"
	"github.com/gotorch-dev/torch/quantization"
)

// This file measures networks whose weights and activations are bytes: quantized statically, with observers that have
// seen random input, or dynamically. Peers are PyTorch with its x86 engine and ONNX Runtime with a quantized model.
// Each row stands beside one of the same network in float32.

// quantRow is a network in bytes and in float32.
type quantRow struct {
	name  string
	shape []int
	// float makes the network; fuse are the layers to be joined before it is quantized, nil for
	// dynamic quantization.
	float func() (m nn.Layer, fuse [][]string)
	form  string // static or dynamic
	peer  string
	args  arg
}

func quantizedRows(c *config) []row {
	var list []quantRow
	side := c.size(224, 32)
	for _, batch := range []int{1, 16} {
		shape := []int{c.size(batch, 1), 3, side, side}
		list = append(list,
			quantRow{fmt.Sprintf("resnet18, batch %d", batch), shape, quantResNet18, "static", "quantized_images",
				arg{"model": "resnet18", "shape": shape}},
			quantRow{fmt.Sprintf("mobilenet_v2, batch %d", batch), shape, quantMobileNetV2, "static",
				"quantized_images",
				arg{"model": "mobilenet_v2", "shape": shape}})
	}
	for _, batch := range []int{1, 128} {
		shape := []int{batch, 784}
		list = append(list, quantRow{fmt.Sprintf("MLP 784-512-256-10, batch %d", batch), shape, quantMLP,
			"static", "quantized_mlp", arg{"shape": shape}})
	}
	for _, batch := range []int{1, 32} {
		shape := []int{c.size(64, 3), batch, 128}
		list = append(list, quantRow{fmt.Sprintf("LSTM 128→256, seq 64, batch %d, dynamic", batch), shape,
			func() (nn.Layer, [][]string) { return nn.New(&lstmNet{LSTM: nn.NewLSTM(128, 256)}), nil }, "dynamic",
			"quantized_lstm",
			arg{"size": 128, "hidden": 256, "shape": shape}})
	}
	d, ff := c.size(512, 32), c.size(2048, 64)
	for _, batch := range []int{1, 8} {
		shape := []int{batch, c.size(128, 4), d}
		list = append(list, quantRow{fmt.Sprintf("TransformerEncoderLayer 512/8/2048 on %dx128, dynamic", batch), shape,
			func() (nn.Layer, [][]string) {
				return nn.New(&encoderNet{Layer: nn.NewTransformerEncoderLayer(d, 8, nn.TransformerLayerOptions{
					DimFeedforward: torch.Some(ff), BatchFirst: true})}), nil
			}, "dynamic", "quantized_encoder", arg{"d": d, "heads": 8, "ff": ff, "shape": shape}})
	}
	var rows []row
	for i, q := range list {
		path := filepath.Join(modelFolder(), fmt.Sprintf("quantized%d.onnx", i))
		args := func(form string) arg {
			a := maps.Clone(q.args)
			a["path"], a["form"] = path, form
			return a
		}
		rows = append(rows, row{name: q.name + ", int8", peer: q.peer, args: args(q.form),
			prepare: func() work { return q.bytes(path) }},
			row{name: q.name + ", float32", peer: q.peer, args: args("float32"),
				prepare: func() work { return q.floats(path) }})
	}
	return rows
}

// encoderNet and lstmNet are layers of one input and one output.
type encoderNet struct {
	nn.Base
	Layer *nn.TransformerEncoderLayer
}

type lstmNet struct {
	nn.Base
	LSTM *nn.LSTM
}

// Forward is without masks.
func (m *encoderNet) Forward(x *torch.Tensor) *torch.Tensor { return m.Layer.Forward(x) }

// Forward begins with states of zeros.
func (m *lstmNet) Forward(x *torch.Tensor) *torch.Tensor {
	y, _, _ := m.LSTM.Forward(x)
	return y
}

func (q *quantRow) steps(m interface {
	Forward(x *torch.Tensor) *torch.Tensor
}) work {
	x := torch.Randn(q.shape)
	return work{step: func() { torch.Tidy(func() { m.Forward(x) }) }}
}

// floats prepares the network as ONNX Runtime prepares its models.
func (q *quantRow) floats(path string) work {
	m, _ := q.float()
	nn.Eval(m)
	writeModel(path, m, torch.Randn(q.shape))
	return q.steps(utils.OptimizeForInference(m))
}

// bytes quantizes the network. The float32 network goes to a file, which ONNX Runtime's side quantizes by itself.
func (q *quantRow) bytes(path string) work {
	m, fuse := q.float()
	nn.Eval(m)
	x := torch.Randn(q.shape)
	if fuse == nil {
		writeModel(path, m, x)
		r, err := quantization.QuantizeDynamic(m)
		check(err)
		return q.steps(r.(nn.Layer))
	}
	check(quantization.FuseModules(m, fuse...))
	writeModel(path, m, x)
	quantization.Prepare(m)
	torch.NoGrad(func() { m.Forward(x) })
	quantization.Convert(m)
	return q.steps(m)
}

func writeModel(path string, m nn.Module, x *torch.Tensor) {
	if _, err := os.Stat(path); err == nil {
		return
	}
	makeModelFolder()
	check(onnx.Export(path, m, []*torch.Tensor{x}, onnx.ExportOptions{InputNames: []string{"x"}}))
}

// quantNet is a network between the marks where numbers become bytes and floats again.
type quantNet struct {
	nn.Base
	Quant   *quantization.QuantStub
	Body    *nn.Sequential
	DeQuant *quantization.DeQuantStub
}

func newQuantNet(body ...nn.Layer) *quantNet {
	return nn.New(&quantNet{Quant: quantization.NewQuantStub(), Body: nn.NewSequential(body...),
		DeQuant: quantization.NewDeQuantStub()})
}

// Forward applies the network.
func (m *quantNet) Forward(x *torch.Tensor) *torch.Tensor {
	return m.DeQuant.Forward(m.Body.Forward(m.Quant.Forward(x)))
}

// fusions lists the chains of layers in sequences that can be fused: a convolution or linear layer and what follows.
func fusions(m nn.Module) (out [][]string) {
	for name, s := range nn.NamedModules(m) {
		if _, ok := s.(*nn.Sequential); !ok {
			continue
		}
		var list []string
		end := func() {
			if len(list) > 1 {
				out = append(out, list)
			}
			list = nil
		}
		for child, l := range nn.NamedChildren(s) {
			switch l.(type) {
			case *nn.Conv2d, *nn.Linear:
				end()
				list = []string{name + "." + child}
			case *nn.BatchNorm2d, *nn.ReLU:
				if list != nil {
					list = append(list, name+"."+child)
				}
			default:
				end()
			}
		}
		end()
	}
	return out
}

// withShortcut adds what goes around a block to its result.
type withShortcut struct {
	nn.Base
	Inner *nn.Sequential
	Down  *nn.Sequential // nil where the shapes agree
	Add   *quantization.FloatFunctional
	relu  bool
}

// Forward applies the block.
func (b *withShortcut) Forward(x *torch.Tensor) *torch.Tensor {
	y := b.Inner.Forward(x)
	if b.Down != nil {
		x = b.Down.Forward(x)
	}
	if b.relu {
		return b.Add.AddReLU(y, x)
	}
	return b.Add.Add(x, y)
}

// quantConv is a convolution without bias that keeps the size but for its stride, and its batch norm.
func quantConv(in, out, kernel, stride, groups int) []nn.Layer {
	return []nn.Layer{nn.NewConv2d(in, out, kernel, nn.Conv2dOptions{Stride: nn.Size{stride},
		Padding: nn.Size{kernel / 2}, Groups: torch.Some(groups), NoBias: true}), nn.NewBatchNorm2d(out)}
}

func quantResNet18() (nn.Layer, [][]string) {
	layers := append(quantConv(3, 64, 7, 2, 1), nn.NewReLU(), nn.NewMaxPool2d(3, nn.MaxPool2dOptions{Stride: nn.Size{2},
		Padding: nn.Size{1}}))
	in := 64
	for i, out := range []int{64, 64, 128, 128, 256, 256, 512, 512} {
		stride := 1
		if i > 0 && i%2 == 0 {
			stride = 2
		}
		inner := append(append(quantConv(in, out, 3, stride, 1), nn.NewReLU()), quantConv(out, out, 3, 1, 1)...)
		b := &withShortcut{Inner: nn.NewSequential(inner...), Add: quantization.NewFloatFunctional(), relu: true}
		if stride > 1 {
			b.Down = nn.NewSequential(quantConv(in, out, 1, stride, 1)...)
		}
		layers, in = append(layers, nn.New(b)), out
	}
	m := newQuantNet(append(layers, nn.NewAdaptiveAvgPool2d(1), nn.NewFlatten(), nn.NewLinear(512, 1000))...)
	return m, fusions(m)
}

func quantMobileNetV2() (nn.Layer, [][]string) {
	layers, in := append(quantConv(3, 32, 3, 2, 1), nn.NewReLU()), 32
	for _, s := range [][4]int{{1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 3, 2}, {6, 64, 4, 2}, {6, 96, 3, 1},
		{6, 160, 3, 2},
		{6, 320, 1, 1}} {
		for i := range s[2] {
			out, mid, stride := s[1], in*s[0], 1
			if i == 0 {
				stride = s[3]
			}
			var inner []nn.Layer
			if mid != in {
				inner = append(quantConv(in, mid, 1, 1, 1), nn.NewReLU())
			}
			inner = append(append(inner, append(quantConv(mid, mid, 3, stride, mid), nn.NewReLU())...),
				quantConv(mid, out, 1, 1, 1)...)
			if stride == 1 && in == out {
				layers = append(layers, nn.New(&withShortcut{Inner: nn.NewSequential(inner...),
					Add: quantization.NewFloatFunctional()}))
			} else {
				layers = append(layers, nn.NewSequential(inner...))
			}
			in = out
		}
	}
	layers = append(layers, append(quantConv(in, 1280, 1, 1, 1), nn.NewReLU())...)
	m := newQuantNet(append(layers, nn.NewAdaptiveAvgPool2d(1), nn.NewFlatten(), nn.NewLinear(1280, 1000))...)
	return m, fusions(m)
}

func quantMLP() (nn.Layer, [][]string) {
	m := newQuantNet(nn.NewLinear(784, 512), nn.NewReLU(), nn.NewLinear(512, 256), nn.NewReLU(), nn.NewLinear(256, 10))
	return m, fusions(m)
}
