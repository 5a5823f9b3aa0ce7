package jit_test

import (
	"bytes"
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	torch "github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/internal/conformance/modcheck"
	"github.com/gotorch-dev/torch/internal/conformance/tscheck"
	sharedata "github.com/gotorch-dev/torch/internal/shared"
	"github.com/gotorch-dev/torch/jit"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/models"
)

// again is a module saved and loaded.
func again(m *jit.Module) (*jit.Module, error) {
	var buf bytes.Buffer
	extra := maps.Clone(m.Metadata())
	delete(extra, "format")
	delete(extra, "version")
	if err := m.SaveTo(&buf, jit.SaveOptions{Extra: extra}); err != nil {
		return nil, err
	}
	return jit.Load(bytes.NewReader(buf.Bytes()), int64(buf.Len()))
}

// changedBySaving are calls and archives that cannot be the same again, with the reason.
var changedBySaving = map[string]string{
	"getstate_setstate/0": "what __getstate__ and __setstate__ do with the state is another state; PyTorch's is as well",
}

// TestRoundTripArchives saves archives of PyTorch's and loads them again: every call of the recorded data must end as
// with the archive itself.
func TestRoundTripArchives(t *testing.T) {
	dir := sharedata.Path(t, "golden/graphs/torchscript")
	failed := func(through func(*jit.Module) (*jit.Module, error)) (bad map[string]string, passed int) {
		bad = map[string]string{}
		res, err := tscheck.Run(dir, tscheck.Options{Through: through})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range res {
			passed += r.Passed
			for _, c := range r.Cases {
				if c.Status != golden.Pass {
					bad[r.Name+"/"+c.ID] = c.Why
				}
			}
		}
		return bad, passed
	}
	before := tensor.SetWarnings(func(tensor.Warning) {})
	defer func() { tensor.SetWarnings(before) }()
	known, _ := failed(nil)
	got, passed := failed(again)
	if passed < 400 {
		t.Errorf("only %d calls passed", passed)
	}
	for name, why := range got {
		if _, ok := known[name]; !ok && changedBySaving[name] == "" {
			t.Errorf("%s: %s", name, why)
		}
	}
}

// TestRoundTripModules traces the modules of the recorded data, saves and loads them, and compares results.
func TestRoundTripModules(t *testing.T) {
	before := tensor.SetWarnings(func(tensor.Warning) {})
	defer func() { tensor.SetWarnings(before) }()
	cases := 0
	seen := map[string]int{}
	err := modcheck.Each(sharedata.Path(t, "golden/modules"), nil,
		func(name string, m nn.Module, run func(func(modcheck.Bind))) {
			class := nn.ClassName(m)
			if seen[class]++; seen[class] > 3 {
				return
			}
			nn.Eval(m)
			run(func(bind modcheck.Bind) {
				var in []*tensor.Tensor
				var want []*tensor.Tensor
				if tensor.Try(func() {
					want = bind(func(a *tensor.Tensor) *tensor.Tensor {
						in = append(in, a)
						return a.Detach().Clone()
					})()
				}) != nil || len(in) == 0 {
					return // a case that only training has
				}
				fn := func(l []*tensor.Tensor) []*tensor.Tensor {
					var out []*tensor.Tensor
					for _, y := range bind(func(a *tensor.Tensor) *tensor.Tensor { return l[slices.Index(in, a)] })() {
						if y != nil {
							out = append(out, y)
						}
					}
					return out
				}
				traced, err := jit.Trace(fn, in, jit.TraceOptions{Module: m, NoCheck: true})
				if err != nil {
					t.Errorf("%s: %v", name, err)
					return
				}
				back, err := again(traced)
				if err != nil {
					t.Errorf("%s: %v\n%s", name, err, traced.Code())
					return
				}
				cases++
				v, err := back.Call(context.Background(), "forward", []tensor.Value{tensor.TensorsValue(in)}, nil)
				if err != nil {
					t.Errorf("%s: %v\n%s", name, err, back.Code())
					return
				}
				got := jit.Tensors(v)
				k := 0
				for _, w := range want {
					if w == nil {
						continue
					}
					if k >= len(got) || !torch.AllClose(got[k], w, torch.AllCloseOptions{Rtol: tensor.Some(1e-5),
						Atol: tensor.Some(1e-5), EqualNaN: true}) {
						t.Errorf("%s: result %d differs\n%s", name, k, back.Code())
						return
					}
					k++
				}
			})
		})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d cases of %d classes", cases, len(seen))
	if cases < 150 {
		t.Errorf("only %d cases were traced", cases)
	}
}

// networks are whole models with the size of their images.
var networks = []struct {
	name string
	size int
}{
	{"resnet18", 64}, {"mobilenet_v2", 64}, {"mobilenet_v3_small", 64}, {"squeezenet1_1", 64}, {"efficientnet_b0", 64},
	{"shufflenet_v2_x0_5", 64}, {"densenet121", 64}, {"mnasnet0_5", 64}, {"regnet_y_400mf", 64}, {"convnext_tiny", 64},
	{"swin_t", 64}, {"googlenet", 96}, {"alexnet", 96},
}

// python is a Python that has torch, "" without.
func python() string {
	p := os.Getenv("GOTORCH_PYTHON")
	if p == "" {
		p = "python3"
	}
	if exec.Command(p, "-c", "import torch").Run() != nil {
		return ""
	}
	return p
}

// TestRoundTripNetworks traces networks for images, saves and loads them; where there is a Python with torch
// (GOTORCH_PYTHON names it), it loads, runs and differentiates the same files.
func TestRoundTripNetworks(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	dir := t.TempDir()
	before := tensor.SetWarnings(func(tensor.Warning) {})
	defer func() { tensor.SetWarnings(before) }()
	var script strings.Builder
	script.WriteString("import torch\n")
	p := python()
	tried := networks
	if p == "" { // the small ones
		tried = networks[:5]
	}
	for _, n := range tried {
		m, err := models.GetModel(n.name)
		if err != nil {
			t.Fatal(err)
		}
		nn.Eval(m)
		x := torch.Rand([]int{2, 3, n.size, n.size})
		var traced *jit.Module
		tensor.NoGrad(func() { traced, err = jit.Trace(m, x) })
		if err != nil {
			t.Errorf("%s: %v", n.name, err)
			continue
		}
		path := filepath.Join(dir, n.name+".pt")
		if err := traced.Save(path); err != nil {
			t.Errorf("%s: %v", n.name, err)
			continue
		}
		back, err := jit.LoadFile(path)
		if err != nil {
			t.Errorf("%s: %v", n.name, err)
			continue
		}
		tensor.NoGrad(func() {
			want := m.(nn.Layer).Forward(x)
			got, err := back.Forward(x)
			if err != nil {
				t.Errorf("%s: %v", n.name, err)
				return
			}
			if !torch.AllClose(got, want, torch.AllCloseOptions{Rtol: tensor.Some(1e-5), Atol: tensor.Some(1e-5)}) {
				t.Errorf("%s: results differ", n.name)
			}
			for file, y := range map[string]*tensor.Tensor{"in": x, "out": want} {
				if err := serialize.SaveFile(filepath.Join(dir, n.name+"."+file), y); err != nil {
					t.Fatal(err)
				}
			}
		})
		if len(back.StateDict()) != nn.StateDict(m).Len() {
			t.Errorf("%s: %d entries of the state dict, want %d", n.name, len(back.StateDict()), nn.StateDict(m).Len())
		}
		script.WriteString("m = torch.jit.load('" + n.name + ".pt')\n" +
			"x, want = [torch.load('" + n.name + ".' + s) for s in ('in', 'out')]\n" +
			"y = m(x)\ntorch.testing.assert_close(y, want, rtol=1e-4, atol=1e-4)\ny.sum().backward()\n" +
			"assert sum(p.grad is not None for p in m.parameters()) > 0.7 * len(list(m.parameters()))\nprint('" +
			n.name + " ok')\n")
	}
	if p == "" {
		t.Log("no Python with torch: GOTORCH_PYTHON names one")
		return
	}
	c := exec.Command(p, "-W", "ignore", "-c", script.String())
	c.Dir = dir
	out, err := c.CombinedOutput()
	if err != nil || strings.Count(string(out), " ok") != len(tried) {
		t.Errorf("Python: %v\n%s", err, out)
	}
}
