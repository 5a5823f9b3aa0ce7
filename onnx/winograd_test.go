package onnx_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/export"
	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/jit"
	"github.com/gotorch-dev/torch/nn"
	nnutils "github.com/gotorch-dev/torch/nn/utils"
	"github.com/gotorch-dev/torch/onnx"
)

// TestWinograd prepares one network in each way that has the option Winograd: the results are others than without it, by
// rounding, and for two sizes of batches in turns they stay the same.
func TestWinograd(t *testing.T) {
	g := torch.NewGenerator().ManualSeed(1)
	net := nn.NewSequential(nn.NewConv2d(32, 64, 3, nn.Conv2dOptions{Padding: nn.Size{1}}), nn.NewBatchNorm2d(64),
		nn.NewReLU(), nn.NewConv2d(64, 32, 3, nn.Conv2dOptions{Padding: nn.Size{1}}), nn.NewSiLU())
	torch.NoGrad(func() {
		for _, p := range nn.Parameters(net) {
			p.CopyInPlace(torch.Randn(p.Shape(), torch.RandnOptions{Generator: g}).MulScalar(0.1))
		}
	})
	nn.Eval(net)
	big := torch.Randn([]int{4, 32, 24, 20}, torch.RandnOptions{Generator: g})
	small := big.Narrow(0, 0, 1).Clone()
	var want [2]*torch.Tensor
	torch.NoGrad(func() {
		want = [2]*torch.Tensor{net.Forward(big), net.Forward(small)}
		old := torch.SetWinograd(true)
		same := torch.Equal(net.Forward(big), want[0])
		torch.SetWinograd(old)
		if same {
			t.Skip("there are no kernels for Winograd's algorithm")
		}
	})

	dir := t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	o := onnx.ExportOptions{InputNames: []string{"x"}, Dynamic: map[string]map[int]string{"x": {0: "n"}}}
	must(onnx.Export(filepath.Join(dir, "m.onnx"), net, []*torch.Tensor{big}, o))
	traced, err := jit.Trace(net, big, jit.TraceOptions{NoCheck: true})
	must(err)
	must(traced.Save(filepath.Join(dir, "m.pt")))
	p, err := export.Export(net, []any{big}, export.Options{Names: []string{"x"},
		Dynamic: map[string]map[int]string{"x": {0: "n"}}})
	must(err)
	must(p.Save(filepath.Join(dir, "m.pt2")))

	served := func(m graph.Model, err error) func(x *torch.Tensor) *torch.Tensor {
		must(err)
		return func(x *torch.Tensor) (y *torch.Tensor) {
			out, err := m.Run(context.Background(), map[string]*torch.Tensor{m.Inputs()[0].Name: x})
			must(err)
			for _, y = range out {
			}
			return y
		}
	}
	for _, c := range []struct {
		name string
		make func(winograd bool) func(x *torch.Tensor) *torch.Tensor
	}{
		{"onnx", func(on bool) func(x *torch.Tensor) *torch.Tensor {
			return served(onnx.Open(filepath.Join(dir, "m.onnx"), onnx.LoadOptions{Winograd: on}))
		}},
		{"jit", func(on bool) func(x *torch.Tensor) *torch.Tensor {
			return served(jit.LoadFile(filepath.Join(dir, "m.pt"), jit.LoadOptions{Winograd: on}))
		}},
		{"export", func(on bool) func(x *torch.Tensor) *torch.Tensor {
			return served(export.LoadFile(filepath.Join(dir, "m.pt2"), export.LoadOptions{Winograd: on}))
		}},
		{"OptimizeForInference", func(on bool) func(x *torch.Tensor) *torch.Tensor {
			return nnutils.OptimizeForInference(net, nnutils.InferenceOptions{Winograd: on}).Forward
		}},
	} {
		torch.NoGrad(func() {
			plain, fast := c.make(false), c.make(true)
			var first [2]*torch.Tensor
			for round := range 4 {
				for i, x := range []*torch.Tensor{big, small} {
					y := fast(x)
					if round < 2 { // some prepare a program at the second call
						first[i] = y
					} else if !torch.Equal(y, first[i]) {
						t.Errorf("%s: round %d gives other results", c.name, round)
					}
					if d := y.Sub(want[i]).Abs().Max().Item(); d > 4e-6*want[i].Abs().Max().Item() {
						t.Errorf("%s, round %d: the results are %g from those of the layers", c.name, round, d)
					}
				}
			}
			plain(big)
			if torch.Equal(first[0], plain(big)) {
				t.Errorf("%s: the option makes no difference", c.name)
			}
		})
	}
}
