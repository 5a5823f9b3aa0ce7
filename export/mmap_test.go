package export_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	torch "github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/export"
	"github.com/gotorch-dev/torch/jit"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// TestMMap loads programs whose weights stay in their files: results are the same, and a weight that is written to
// leaves the file as it is.
func TestMMap(t *testing.T) {
	net := nn.NewSequential(nn.NewLinear(6, 5), nn.NewReLU(), nn.NewLinear(5, 2))
	x := rand(3, 6)
	want := net.Forward(x)
	dir := t.TempDir()
	pt2, pt := filepath.Join(dir, "m.pt2"), filepath.Join(dir, "m.pt")
	p, err := export.Export(net, []any{x})
	if err == nil {
		err = p.Save(pt2)
	}
	if err != nil {
		t.Fatal(err)
	}
	m, err := jit.Trace(net, x)
	if err == nil {
		err = m.Save(pt)
	}
	if err != nil {
		t.Fatal(err)
	}
	check := func(file string, run func() (*tensor.Tensor, error), weight func() *tensor.Tensor) {
		before, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		y, err := run()
		if err != nil {
			t.Fatal(err)
		}
		if !torch.AllClose(y, want) {
			t.Errorf("%s: got %v, want %v", filepath.Base(file), y, want)
		}
		tensor.NoGrad(func() { weight().AddScalarInPlace(1) })
		if z, err := run(); err != nil || torch.AllClose(z, want) {
			t.Errorf("%s: a changed weight changes nothing: %v", filepath.Base(file), err)
		}
		if after, err := os.ReadFile(file); err != nil || !bytes.Equal(before, after) {
			t.Errorf("%s: the file has changed: %v", filepath.Base(file), err)
		}
	}
	q, err := export.LoadFile(pt2, export.LoadOptions{MMap: true})
	if err != nil {
		t.Fatal(err)
	}
	check(pt2, func() (*tensor.Tensor, error) {
		v, err := q.Call(context.Background(), []tensor.Value{tensor.TensorValue(x)}, nil)
		return v.T, err
	}, func() *tensor.Tensor { return q.StateDict()[0].Tensor })
	s, err := jit.LoadFile(pt, jit.LoadOptions{MMap: true})
	if err != nil {
		t.Fatal(err)
	}
	check(pt, func() (*tensor.Tensor, error) { return s.Forward(x) },
		func() *tensor.Tensor { return s.StateDict()[0].Tensor })
}
