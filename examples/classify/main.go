// Command classify runs an image classifier that someone else has trained and exported, on a picture.
//
//	go run ./examples/classify model.onnx cat.jpg     # or model.pt (TorchScript), model.pt2 (torch.export)
//
// It prints the five likeliest classes by number. The picture is prepared as those of ImageNet are.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/export"
	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/jit"
	"github.com/gotorch-dev/torch/onnx"
	imageio "github.com/gotorch-dev/torch/vision/io"
	"github.com/gotorch-dev/torch/vision/transforms"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: classify MODEL PICTURE")
	}
	if err := classify(os.Stdout, os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

func classify(w io.Writer, modelPath, picturePath string) error {
	m, err := open(modelPath)
	if err != nil {
		return err
	}
	defer func() { _ = m.Close() }()
	picture, err := imageio.Open(picturePath)
	if err != nil {
		return err
	}
	x := prepare.Apply(picture.Convert("RGB"))[0].(*torch.Tensor).Unsqueeze(0) // 1, 3, 224, 224
	input, output := m.Inputs()[0].Name, m.Outputs()[0].Name
	out, err := m.Run(context.Background(), map[string]*torch.Tensor{input: x}) // any number of goroutines may
	if err != nil {
		return err
	}
	scores := out[output]
	p, class := scores.Select(0, 0).Softmax(-1).TopK(min(5, scores.Size(1)))
	for i := range p.Size(0) {
		fmt.Fprintf(w, "class %d: %.1f %%\n", torch.Data[int64](class)[i], 100*torch.Data[float32](p)[i])
	}
	return nil
}

var prepare = transforms.NewCompose(transforms.NewResize([]int{256}), transforms.NewCenterCrop([]int{224}),
	transforms.NewToTensor(), transforms.NewNormalize([]float64{0.485, 0.456, 0.406}, []float64{0.229, 0.224, 0.225}))

// open opens a program of any format; all of them are a graph.Model.
func open(path string) (graph.Model, error) {
	switch filepath.Ext(path) {
	case ".onnx":
		return onnx.Open(path)
	case ".pt2":
		return export.LoadFile(path)
	default:
		return jit.LoadFile(path)
	}
}
