package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/shared"
	"github.com/gotorch-dev/torch/jit"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/onnx"
	"github.com/gotorch-dev/torch/quantization/pt2e"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/models"
)

// exportedModel is a network that onnx.Export writes, with the shape of its input but for the batch.
type exportedModel struct {
	name  string
	shape []int
	time  bool // the batch is the second size
	make  func() nn.Module
}

var exportedModels = []exportedModel{
	{name: "resnet18", shape: []int{3, 224, 224}, make: named("resnet18")},
	{name: "resnet50", shape: []int{3, 224, 224}, make: named("resnet50")},
	{name: "mobilenet_v2", shape: []int{3, 224, 224}, make: named("mobilenet_v2")},
	{name: "mobilenet_v3_large", shape: []int{3, 224, 224}, make: named("mobilenet_v3_large")},
	{name: "squeezenet1_1", shape: []int{3, 224, 224}, make: named("squeezenet1_1")},
	{name: "efficientnet_b0", shape: []int{3, 224, 224}, make: named("efficientnet_b0")},
	{name: "vit-tiny", shape: []int{3, 224, 224}, make: func() nn.Module {
		const d = 192
		o := nn.TransformerLayerOptions{DimFeedforward: tensor.Some(4 * d), BatchFirst: true, NormFirst: true,
			Activation: nn.ActivationGELU}
		return nn.New(&vitTiny{Patches: nn.NewConv2d(3, d, 16, nn.Conv2dOptions{Stride: nn.Size{16}}),
			Place:   torch.Randn([]int{1, 196, d}),
			Encoder: nn.NewTransformerEncoder(nn.NewTransformerEncoderLayer(d, 3, o), 12, nn.NewLayerNorm(d)),
			Head:    nn.NewLinear(d, 1000)})
	}},
	{name: "encoder 12x384, 128 tokens", shape: []int{128, 384}, make: func() nn.Module {
		o := nn.TransformerLayerOptions{DimFeedforward: tensor.Some(1536), BatchFirst: true,
			Activation: nn.ActivationGELU}
		return nn.NewTransformerEncoder(nn.NewTransformerEncoderLayer(384, 6, o), 12, nil)
	}},
	{name: "GRU 128, 100 steps", shape: []int{100, 64}, time: true,
		make: func() nn.Module { return nn.NewGRU(64, 128) }},
	{name: "MLP 784-256-128-10", shape: []int{784}, make: func() nn.Module {
		return nn.NewSequential(nn.NewLinear(784, 256), nn.NewReLU(), nn.NewLinear(256, 128), nn.NewReLU(),
			nn.NewLinear(128, 10))
	}},
}

// vitTiny is a vision transformer of the size "tiny" that answers from the mean of its patches.
type vitTiny struct {
	nn.Base
	Patches *nn.Conv2d
	Place   *torch.Tensor
	Encoder *nn.TransformerEncoder
	Head    *nn.Linear
}

// Forward takes images of shape [N, 3, 224, 224].
func (m *vitTiny) Forward(x *torch.Tensor) *torch.Tensor {
	x = m.Patches.Forward(x).Flatten(tensor.FlattenOptions{StartDim: 2}).Transpose(1, 2)
	return m.Head.Forward(m.Encoder.Forward(x.Add(m.Place)).MeanDim([]int{1}))
}

func named(name string) func() nn.Module {
	return func() nn.Module {
		m, err := models.GetModel(name)
		check(err)
		return m
	}
}

// input is a batch for the network.
func (e *exportedModel) input(batch int) *torch.Tensor {
	if e.time {
		return randn(e.shape[0], batch, e.shape[1])
	}
	return randn(append([]int{batch}, e.shape...)...)
}

// modelFolder is where the rows of this file write their models, which is made when the first one is written.
var modelFolder = sync.OnceValue(func() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("gotorch-bench-onnx-%d", os.Getpid()))
})

func makeModelFolder() { check(os.MkdirAll(modelFolder(), 0o700)) }

// dropModels removes the models that were written.
func dropModels() { _ = os.RemoveAll(modelFolder()) }

// write writes the network for a batch as an ONNX file and as TorchScript.
func (e *exportedModel) write(path string, batch int) {
	if _, err := os.Stat(path + ".onnx"); err == nil {
		return
	}
	makeModelFolder()
	m := e.make()
	nn.Eval(m)
	x := e.input(batch)
	check(onnx.Export(path+".onnx", m, []*torch.Tensor{x}, onnx.ExportOptions{InputNames: []string{"x"}}))
	s, err := jit.Trace(m, x, jit.TraceOptions{NoCheck: true})
	check(err)
	check(s.Save(path + ".pt"))
}

// onnxRows run networks from files: ours that onnx.Open has loaded, with Winograd's algorithm where it pays, ONNX
// Runtime with the same file, PyTorch with the same network as TorchScript; then what it takes to load a file, and the
// memory of a process that serves it.
func onnxRows(c *config) []row {
	var rows []row
	for i := range exportedModels {
		e := &exportedModels[i]
		if c.tiny && i < len(exportedModels)-2 {
			continue
		}
		for _, batch := range []int{1, 16} {
			batch := c.size(batch, 1)
			path := filepath.Join(modelFolder(), fmt.Sprintf("model%d-%d", i, batch))
			rows = append(rows, row{
				name: fmt.Sprintf("%s, batch %d", e.name, batch), peer: "model_file",
				args: arg{"path": path, "shape": e.input(batch).Shape()},
				prepare: func() work {
					e.write(path, batch)
					return served(path+".onnx", map[string]*torch.Tensor{"x": e.input(batch)})
				}})
			if c.tiny {
				break
			}
		}
	}
	rows = append(rows, vadRows()...)
	rows = append(rows, qdqRows(c)...)
	large := 1 // resnet50: 100 MB
	if c.tiny {
		large = len(exportedModels) - 1
	}
	e := &exportedModels[large]
	path := filepath.Join(modelFolder(), fmt.Sprintf("model%d-1", large))
	rows = append(rows, row{name: "load " + e.name + " from ONNX", peer: "model_load", args: arg{"path": path},
		prepare: func() work {
			e.write(path, 1)
			return work{step: func() {
				m, err := onnx.Open(path + ".onnx")
				check(err)
				check(m.Close())
			}}
		}})
	rows = append(rows, row{name: "memory of a process with " + e.name + " from ONNX", unit: bytesUsed,
		ours: func(ctx context.Context) (float64, error) {
			e.write(path, 1)
			cmd, err := oneself(ctx, "onnx "+path, torch.NumThreads())
			if err != nil {
				return 0, err
			}
			return pick(true)(firstLine(cmd))
		},
		theirs: func(ctx context.Context, exe string, threads int) (float64, error) {
			return pick(true)(firstLine(python(ctx, exe, "onnx", strconv.Itoa(threads), path)))
		}})
	return rows
}

// vadRows run silero-vad, which finds speech in a stream of audio, on one chunk, where the folder of reference data has
// the model's file.
func vadRows() []row {
	path, err := shared.Locate("testdata/onnx/silero-vad/silero_vad/data/silero_vad.onnx")
	if check(err); path == "" {
		return nil
	}
	return []row{{name: "silero-vad, chunk of 512 samples", peer: "model_inputs",
		args: arg{"path": path, "floats": map[string][]int{"input": {1, 512}, "state": {2, 1, 128}},
			"ints": map[string]int{"sr": 16000}},
		prepare: func() work {
			return served(path, map[string]*torch.Tensor{"input": randn(1, 512), "state": randn(2, 1, 128),
				"sr": torch.TensorOf[int64](16000).Reshape(nil)})
		}}}
}

// qdqRows run networks whose files quantize and dequantize around each operator, beside the float32 networks above.
func qdqRows(c *config) (rows []row) {
	for _, e := range exportedModels {
		if e.name != "resnet18" && e.name != "mobilenet_v2" || c.tiny {
			continue
		}
		for _, batch := range []int{1, 16} {
			path := filepath.Join(modelFolder(), fmt.Sprintf("qdq-%s-%d.onnx", e.name, batch))
			rows = append(rows, row{name: fmt.Sprintf("%s in QDQ, batch %d", e.name, batch), peer: "model_inputs",
				args: arg{"path": path, "floats": map[string][]int{"x": e.input(batch).Shape()},
					"ints": map[string]int{}},
				prepare: func() work {
					x := e.input(batch)
					e.writeQDQ(path, x)
					return served(path, map[string]*torch.Tensor{"x": x})
				}})
		}
	}
	return rows
}

// writeQDQ writes the network with int8 weights and activations.
func (e *exportedModel) writeQDQ(path string, x *torch.Tensor) {
	if _, err := os.Stat(path); err == nil {
		return
	}
	makeModelFolder()
	m := e.make()
	nn.Eval(m)
	q, err := pt2e.Capture(m, []any{x})
	check(err)
	check(pt2e.PreparePT2E(q, pt2e.NewXNNPACKQuantizer().SetGlobal(pt2e.SymmetricConfig(pt2e.SymmetricOptions{
		IsPerChannel: true}))))
	torch.NoGrad(func() { q.Forward(x) })
	check(pt2e.ConvertPT2E(q))
	nn.Eval(q)
	check(onnx.Export(path, q, []*torch.Tensor{x}, onnx.ExportOptions{InputNames: []string{"x"}}))
}

// served is a model that answers requests.
func served(path string, inputs map[string]*torch.Tensor) work {
	m, err := onnx.Open(path, onnx.LoadOptions{Winograd: true})
	check(err)
	ctx := context.Background()
	return work{
		step: func() {
			torch.Tidy(func() {
				_, err := m.Run(ctx, inputs)
				check(err)
			})
		},
		close: func() { check(m.Close()) },
	}
}

// serveOnce is a process that loads a model, answers ten requests, and tells its resident memory.
func serveOnce(path string) {
	m, err := onnx.Open(path + ".onnx")
	check(err)
	inputs := map[string]*torch.Tensor{}
	for _, p := range m.Inputs() {
		shape := make([]int, len(p.Shape))
		for i, d := range p.Shape {
			shape[i] = max(d.Size, 1)
		}
		inputs[p.Name] = torch.Rand(shape)
	}
	for range 10 {
		torch.Tidy(func() {
			_, err := m.Run(context.Background(), inputs)
			check(err)
		})
	}
	fmt.Println(memoryOf("VmHWM"))
}
