package graph_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/fstest"

	torch "github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/export"
	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/jit"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/onnx"
	"github.com/gotorch-dev/torch/tensor"
)

// format is one kind of program file: its writer and its readers.
type format struct {
	name  string
	write func(b *bytes.Buffer, m nn.Module, x *torch.Tensor) error
	read  map[string]func(dir string, b []byte) (graph.Model, error)
}

const file = "program.bin"

// model hides the type of a loader's result.
func model[M graph.Model](m M, err error) (graph.Model, error) { return m, err }

var batch = map[string]map[int]string{"x": {0: "n"}}

var formats = []format{
	{"TorchScript", func(b *bytes.Buffer, m nn.Module, x *torch.Tensor) error {
		p, err := jit.Trace(m, x)
		if err != nil {
			return err
		}
		return p.SaveTo(b)
	}, map[string]func(dir string, b []byte) (graph.Model, error){
		"path": func(dir string, _ []byte) (graph.Model, error) { return model(jit.LoadFile(filepath.Join(dir, file))) },
		"reader": func(_ string, b []byte) (graph.Model, error) {
			return model(jit.Load(bytes.NewReader(b), int64(len(b))))
		},
		"fs": func(_ string, b []byte) (graph.Model, error) {
			return model(jit.LoadFS(fstest.MapFS{"a/" + file: {Data: b}}, "a/"+file))
		},
	}},
	{"torch.export", func(b *bytes.Buffer, m nn.Module, x *torch.Tensor) error {
		p, err := export.Export(m, []any{x}, export.Options{Dynamic: batch})
		if err != nil {
			return err
		}
		return p.SaveTo(b)
	}, map[string]func(dir string, b []byte) (graph.Model, error){
		"path": func(dir string, _ []byte) (graph.Model, error) {
			return model(export.LoadFile(filepath.Join(dir, file)))
		},
		"reader": func(_ string, b []byte) (graph.Model, error) {
			return model(export.Load(bytes.NewReader(b), int64(len(b))))
		},
		"fs": func(_ string, b []byte) (graph.Model, error) {
			return model(export.LoadFS(fstest.MapFS{"a/" + file: {Data: b}}, "a/"+file))
		},
	}},
	{"ONNX", func(b *bytes.Buffer, m nn.Module, x *torch.Tensor) error {
		return onnx.ExportTo(b, m, []*torch.Tensor{x}, onnx.ExportOptions{InputNames: []string{"x"}, Dynamic: batch})
	}, map[string]func(dir string, b []byte) (graph.Model, error){
		"path": func(dir string, _ []byte) (graph.Model, error) { return model(onnx.Open(filepath.Join(dir, file))) },
		"reader": func(_ string, b []byte) (graph.Model, error) {
			return model(onnx.Read(bytes.NewReader(b), int64(len(b))))
		},
		"fs": func(_ string, b []byte) (graph.Model, error) {
			return model(onnx.OpenFS(fstest.MapFS{"a/" + file: {Data: b}}, "a/"+file))
		},
	}},
}

// each loads the program of a module from all sources in all formats.
func each(t *testing.T, m nn.Module, x *torch.Tensor, f func(t *testing.T, p graph.Model)) {
	for _, fm := range formats {
		var b bytes.Buffer
		if err := fm.write(&b, m, x); err != nil {
			t.Fatal(fm.name, err)
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, file), b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		for from, read := range fm.read {
			t.Run(fm.name+" from "+from, func(t *testing.T) {
				p, err := read(dir, b.Bytes())
				if err != nil {
					t.Fatal(err)
				}
				f(t, p)
			})
		}
	}
}

func one(ctx context.Context, p graph.Model, x *torch.Tensor) (*torch.Tensor, error) {
	out, err := p.Run(ctx, map[string]*torch.Tensor{p.Inputs()[0].Name: x})
	if err != nil {
		return nil, err
	}
	return out[p.Outputs()[0].Name], nil
}

// Whatever Run is given, there is a result or an error that errors.Is and errors.As know, also while and after Close.
func TestModelInputs(t *testing.T) {
	m := nn.NewSequential(nn.NewLinear(3, 4), nn.NewReLU())
	x := torch.Rand([]int{2, 3})
	each(t, m, x, func(t *testing.T, p graph.Model) {
		ctx := context.Background()
		name := p.Inputs()[0].Name
		for _, c := range []struct {
			name string
			in   map[string]*torch.Tensor
		}{
			{"nothing", nil},
			{"nil", map[string]*torch.Tensor{name: nil}},
			{"another name", map[string]*torch.Tensor{"no such": x}},
			{"one more", map[string]*torch.Tensor{name: x, "more": x}},
			{"another dtype", map[string]*torch.Tensor{name: x.ToDType(torch.Float64)}},
			{"integers", map[string]*torch.Tensor{name: x.ToDType(torch.Int64)}},
			{"a number", map[string]*torch.Tensor{name: torch.Ones([]int{})}},
			{"another size", map[string]*torch.Tensor{name: torch.Rand([]int{2, 5})}},
			{"a row of no elements", map[string]*torch.Tensor{name: torch.Rand([]int{2, 0})}},
		} {
			var te *tensor.Error
			if out, err := p.Run(ctx, c.in); !errors.As(err, &te) {
				t.Errorf("%s: got %v, %v, want a *tensor.Error", c.name, out, err)
			}
		}
		y, err := one(ctx, p, torch.Full([]int{2, 3}, math.NaN()))
		if err != nil || !torch.Data[bool](y.IsNaN().All())[0] {
			t.Errorf("of NaN: %v, %v", y, err)
		}
		if y, err := one(ctx, p, torch.Rand([]int{0, 3})); err == nil && (y.Size(0) != 0 || y.Size(1) != 4) {
			t.Errorf("of no rows: %v", y)
		}
		stopped, stop := context.WithCancel(ctx)
		stop()
		if _, err := one(stopped, p, x); !errors.Is(err, context.Canceled) {
			t.Errorf("with a context that is done: %v", err)
		}
		want := m.Forward(x)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 20 {
					if y, err := one(ctx, p, x); err == nil && !torch.AllClose(y, want) {
						t.Errorf("got %v, want %v", y, want)
					}
				}
			})
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		wg.Wait()
		if y, err := one(ctx, p, x); err == nil && !torch.AllClose(y, want) {
			t.Errorf("after Close: got %v, want %v", y, want)
		}
	})
}

// Requests leave no memory behind: what many of them have in use together is what a few have.
func TestModelMemory(t *testing.T) {
	m := nn.NewSequential(nn.NewConv2d(3, 8, 3), nn.NewReLU(), nn.NewFlatten(), nn.NewLinear(8*14*14, 32))
	x := torch.Rand([]int{4, 3, 16, 16})
	each(t, m, x, func(t *testing.T, p graph.Model) {
		request := func(n int) int {
			for range n {
				torch.Tidy(func() {
					if _, err := one(context.Background(), p, x); err != nil {
						t.Fatal(err)
					}
				})
			}
			return torch.MemoryStats().Allocated
		}
		few := request(3)
		torch.ResetPeakMemoryStats()
		many := request(100)
		if peak := torch.MemoryStats().Peak; many > few+1<<12 || peak > few+1<<20 {
			t.Errorf("%d bytes in use after 3 requests, %d after 100 more, %d at most", few, many, peak)
		}
	})
}
