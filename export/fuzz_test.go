package export_test

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	torch "github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/export"
	"github.com/gotorch-dev/torch/internal/torchzip"
	"github.com/gotorch-dev/torch/jit"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// seeds are small programs: a layer with a batch that varies, one with batch norm, and one with a branch and loops.
func seeds(f testing.TB) [][]byte {
	f.Helper()
	var out [][]byte
	control := func(x *tensor.Tensor) *tensor.Tensor {
		y := jit.If(x.Sum().GtScalar(0), func() list { return list{x.Neg()} }, func() list { return list{x} })
		y = jit.For(2, y, func(i int, c list) list { return list{c[0].Add(x.Select(0, i))} })
		return jit.While(func(c list) *tensor.Tensor { return c[0].Sum().LtScalar(9) }, y,
			func(c list) list { return list{c[0].AddScalar(1)} })[0]
	}
	for _, m := range []any{nn.NewLinear(2, 2), nn.NewSequential(nn.NewBatchNorm1d(2), nn.NewReLU()), control} {
		p, err := export.Export(m, []any{torch.Zeros([]int{2, 2})}, export.Options{
			Dynamic: map[string]map[int]string{"x": {0: "n"}}, Ranges: map[string]export.Range{"n": {Max: 9}}})
		if err != nil {
			f.Fatal(err)
		}
		var b bytes.Buffer
		if err := p.SaveTo(&b); err != nil {
			f.Fatal(err)
		}
		out = append(out, b.Bytes())
	}
	return out
}

// use calls a program that has loaded, within limits.
func use(p *export.Program) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	in := map[string]*tensor.Tensor{}
	for _, port := range p.Inputs() {
		shape := make([]int, len(port.Shape))
		n := 1
		for i, d := range port.Shape {
			if shape[i] = min(d.Size, 3); d.Name != "" {
				shape[i] = 2
			}
			n *= shape[i]
		}
		if port.DType == 0 || n > 1000 || n < 0 {
			continue
		}
		in[port.Name] = torch.Zeros(shape, torch.ZerosOptions{DType: port.DType})
	}
	_, _ = p.Run(ctx, in)
	_ = p.String()
}

// FuzzLoad loads damaged archives: an error or a program, and no panic.
func FuzzLoad(f *testing.F) {
	old, err := os.ReadFile("testdata/old_layout.pt2")
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range append(seeds(f), old) {
		f.Add(s)
	}
	f.Fuzz(func(_ *testing.T, b []byte) {
		p, err := export.Load(bytes.NewReader(b), int64(len(b)), export.LoadOptions{MaxSteps: 1000})
		if err == nil {
			use(p)
		}
	})
}

// FuzzModel loads archives with another model.json.
func FuzzModel(f *testing.F) {
	read := func(b []byte, entry string) []byte {
		zr, err := torchzip.NewReader(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			f.Fatal(err)
		}
		data, err := zr.ReadAll(entry)
		if err != nil {
			f.Fatal(err)
		}
		return data
	}
	all := seeds(f)
	for _, s := range all {
		f.Add(read(s, "models/model.json"))
	}
	config, weight := read(all[0], "data/weights/model_weights_config.json"), read(all[0], "data/weights/weight_0")
	f.Fuzz(func(t *testing.T, model []byte) {
		var b bytes.Buffer
		zw, err := torchzip.NewWriter(&b, "m")
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range []struct {
			name string
			data []byte
		}{{"data/weights/weight_0", weight}, {"data/weights/weight_1", weight},
			{"data/weights/model_weights_config.json", config}, {"models/model.json", model}} {
			if err := zw.Record(r.name, r.data); err != nil {
				t.Fatal(err)
			}
		}
		if err := zw.Close(); err != nil {
			t.Fatal(err)
		}
		p, err := export.Load(bytes.NewReader(b.Bytes()), int64(b.Len()), export.LoadOptions{MaxSteps: 1000})
		if err == nil {
			use(p)
		} else if strings.Contains(err.Error(), "panic") {
			t.Error(err)
		}
	})
}
