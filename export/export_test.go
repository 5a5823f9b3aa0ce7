package export_test

import (
	"bytes"
	"context"
	"testing"

	torch "github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/export"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/models"
)

func rand(shape ...int) *tensor.Tensor { return torch.Rand(shape) }

// roundTrips are modules that are exported, saved, loaded and compared with what the module computes.
var roundTrips = []struct {
	name    string
	module  func() nn.Module
	inputs  []any
	dynamic map[string]map[int]string
	others  []*tensor.Tensor // further inputs, of other sizes where there are dynamic ones
	train   bool
}{
	{name: "mlp", module: func() nn.Module {
		return nn.NewSequential(nn.NewFlatten(), nn.NewLinear(12, 8), nn.NewReLU(), nn.NewLinear(8, 3))
	}, inputs: []any{rand(2, 3, 4)}, dynamic: map[string]map[int]string{"x": {0: "batch"}},
		others: []*tensor.Tensor{rand(5, 3, 4)}},
	{name: "resnet18", module: func() nn.Module { return models.NewResNet18() }, inputs: []any{rand(2, 3, 64, 64)},
		dynamic: map[string]map[int]string{"x": {0: "batch"}}, others: []*tensor.Tensor{rand(3, 3, 64, 64)}},
}

func call(t *testing.T, m nn.Module, inputs []*tensor.Tensor) *tensor.Tensor {
	t.Helper()
	f, ok := m.(interface {
		Forward(*tensor.Tensor) *tensor.Tensor
	})
	if !ok {
		t.Fatalf("%T has no plain Forward", m)
	}
	return f.Forward(inputs[0])
}

func TestRoundTrip(t *testing.T) {
	for _, c := range roundTrips {
		t.Run(c.name, func(t *testing.T) {
			torch.ManualSeed(1)
			m := c.module()
			if !c.train {
				nn.Eval(m)
			}
			p, err := export.Export(m, c.inputs, export.Options{Dynamic: c.dynamic})
			if err != nil {
				t.Fatal(err)
			}
			var file bytes.Buffer
			if err := p.Save(&file); err != nil {
				t.Fatal(err)
			}
			q, err := export.Load(bytes.NewReader(file.Bytes()), int64(file.Len()))
			if err != nil {
				t.Fatal(err)
			}
			args := make([]tensor.Value, len(c.others))
			for i, x := range c.others {
				args[i] = tensor.TensorValue(x)
			}
			tensor.NoGrad(func() {
				want := call(t, m, c.others)
				got, err := q.Call(context.Background(), args, nil)
				if err != nil {
					t.Fatal(err)
				}
				if !torch.AllClose(got.T, want) {
					t.Errorf("got %v, want %v", got.T, want)
				}
			})
		})
	}
}
