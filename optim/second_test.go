package optim_test

import (
	"bytes"
	"fmt"
	"math"
	"testing"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/second"
	"github.com/gotorch-dev/torch/optim"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/tensor"
)

// made is an optimizer with the parameters of a test.
type made struct {
	opt    optim.Optimizer
	params []*tensor.Tensor
}

// everyOptimizer are the optimizers with settings that take another way through a step, each for two groups of
// parameters.
var everyOptimizer = []struct {
	name string
	make func(groups []optim.Group) optim.Optimizer
}{
	{"SGD", func(g []optim.Group) optim.Optimizer { return optim.NewSGDGroups(g, 0.1) }},
	{"SGD decay, maximize", func(g []optim.Group) optim.Optimizer {
		return optim.NewSGDGroups(g, 0.1, optim.SGDOptions{WeightDecay: 0.1, Maximize: true})
	}},
	{"SGD momentum", func(g []optim.Group) optim.Optimizer {
		return optim.NewSGDGroups(g, 0.1, optim.SGDOptions{Momentum: 0.9, Dampening: 0.3, WeightDecay: 0.1})
	}},
	{"SGD Nesterov, maximize", func(g []optim.Group) optim.Optimizer {
		return optim.NewSGDGroups(g, 0.1, optim.SGDOptions{Momentum: 0.9, Nesterov: true, Maximize: true})
	}},
	{"Adam", func(g []optim.Group) optim.Optimizer { return optim.NewAdamGroups(g, 0.01) }},
	{"Adam decay, AMSGrad, maximize", func(g []optim.Group) optim.Optimizer {
		return optim.NewAdamGroups(g, 0.01, optim.AdamOptions{WeightDecay: 0.1, AMSGrad: true, Maximize: true})
	}},
	{"AdamW", func(g []optim.Group) optim.Optimizer { return optim.NewAdamWGroups(g, 0.01) }},
	{"AdamW AMSGrad", func(g []optim.Group) optim.Optimizer {
		return optim.NewAdamWGroups(g, 0.01, optim.AdamWOptions{AMSGrad: true, WeightDecay: tensor.Some(0.3)})
	}},
}

// setUp makes parameters of several dtypes and layouts on a device, and an optimizer of two groups of them.
func setUp(k int, d tensor.Device) made {
	var m made
	for i, dt := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.BFloat16, tensor.Float32,
		tensor.Complex64} {
		v := make([]float64, 35)
		for j := range v {
			v[j] = math.Sin(float64(j + i))
		}
		p := tensor.FromSlice(v, 7, 5).To(dt)
		if i == 3 {
			p = p.T() // not contiguous
		}
		m.params = append(m.params, p.To(d).Detach().SetRequiresGrad(true))
	}
	m.opt = everyOptimizer[k].make([]optim.Group{{Params: m.params[:2]},
		{Params: m.params[2:], LR: tensor.Some(0.02), WeightDecay: tensor.Some(0.0)}})
	return m
}

// step takes a step with gradients that depend on its number. In the first one a parameter has none.
func (m made) step(n int) {
	m.opt.ZeroGrad()
	for i, p := range m.params {
		if i == 1 && n == 0 {
			continue
		}
		v := make([]float64, p.Numel())
		for j := range v {
			v[j] = math.Cos(float64(j*(n+1) + i))
		}
		p.SetGrad(tensor.FromSlice(v, p.Shape()...).To(p.DType()).To(p.Device()))
	}
	m.opt.Step()
}

func bits(t *tensor.Tensor) []byte {
	t = tensor.Dense(t.Detach().CPU())
	return bytes.Clone(unsafe.Slice((*byte)(tensor.Ptr(t)), t.Numel()*t.ElementSize()))
}

func (m made) same(t *testing.T, what string, want made) {
	t.Helper()
	for i, p := range m.params {
		q := want.params[i]
		if !bytes.Equal(bits(p), bits(q)) {
			t.Fatalf("%s: parameter %d is %v, want %v", what, i, p.CPU(), q.CPU())
		}
		s, u := m.opt.State(p), want.opt.State(q)
		if fmt.Sprint(s.Keys()) != fmt.Sprint(u.Keys()) {
			t.Fatalf("%s: the state of parameter %d has %v, want %v", what, i, s.Keys(), u.Keys())
		}
		for _, k := range s.Keys() {
			x, y := s.Tensor(k), u.Tensor(k)
			if !bytes.Equal(bits(x), bits(y)) {
				t.Fatalf("%s: %s of parameter %d is %v, want %v", what, k, i, x.CPU(), y.CPU())
			}
			if d := p.Device(); k != "step" && x.Device() != d || k == "step" && x.Device() != (tensor.Device{}) {
				t.Fatalf("%s: %s of parameter %d is on %s", what, k, i, x.Device())
			}
		}
	}
}

// TestSecondDevice takes the same steps on a device whose memory Go code cannot reach: parameters and state have the
// CPU's bits, also after a state went through a file from one device to the other.
func TestSecondDevice(t *testing.T) {
	for k, c := range everyOptimizer {
		on, cpu := setUp(k, second.Device), setUp(k, tensor.Device{})
		for n := range 3 {
			on.step(n)
			cpu.step(n)
		}
		on.same(t, c.name, cpu)
		for _, d := range []tensor.Device{{}, second.Device} {
			from := cpu
			if d.Type == tensor.CPUDevice {
				from = on
			}
			var buf bytes.Buffer
			if err := serialize.Save(&buf, hostCopies(from.opt.StateDict())); err != nil {
				t.Fatal(c.name, err)
			}
			v, err := serialize.LoadBytes(buf.Bytes())
			if err != nil {
				t.Fatal(c.name, err)
			}
			for _, dict := range []*serialize.Dict{v.(*serialize.Dict), from.opt.StateDict()} {
				to := setUp(k, d)
				for i, p := range to.params {
					tensor.CopyRaw(p, from.params[i].Detach().To(d))
				}
				if err := to.opt.LoadStateDict(dict); err != nil {
					t.Fatal(c.name, err)
				}
				to.same(t, c.name+", loaded to "+d.String(), from)
				to.step(3)
				more := setUp(k, tensor.Device{})
				for n := range 4 {
					more.step(n)
				}
				to.same(t, c.name+", gone on on "+d.String(), more)
			}
		}
	}
}

// hostCopies is a state dict with all tensors on the CPU.
func hostCopies(d *serialize.Dict) *serialize.Dict {
	out := serialize.NewDict()
	for k, v := range d.All() {
		switch x := v.(type) {
		case *tensor.Tensor:
			v = x.CPU()
		case *serialize.Dict:
			v = hostCopies(x)
		}
		out.Set(k, v)
	}
	return out
}

// Parameters of one group may lie on several devices: each gets its step where it is.
func TestMixedDevices(t *testing.T) {
	a, b := param(1, 2), param(3).Detach().To(second.Device).SetRequiresGrad(true)
	opt := optim.NewAdam([]*tensor.Tensor{a, b}, 0.1)
	grad(a, 1, 1)
	b.SetGrad(tensor.FromSlice([]float64{1}).To(second.Device))
	opt.Step()
	near(t, "a", values(a), []float64{0.9, 1.9})
	near(t, "b", values(b.CPU()), []float64{2.9})
	opt.ZeroGrad(optim.KeepZeros)
	near(t, "gradient", values(b.Grad().CPU()), []float64{0})
}

// A group that is told to keep step counters beside the parameters does.
func TestCounterDevice(t *testing.T) {
	p := param(1).Detach().To(second.Device).SetRequiresGrad(true)
	opt := optim.NewAdam([]*tensor.Tensor{p}, 0.1)
	opt.ParamGroups()[0].Set("fused", true)
	p.SetGrad(tensor.FromSlice([]float64{1}).To(second.Device))
	opt.Step()
	near(t, "p", values(p.CPU()), []float64{0.9})
	if d := opt.State(p).Tensor("step").Device(); d != second.Device {
		t.Errorf("the counter is on %s", d)
	}
	q := param(1).Detach().To(second.Device).SetRequiresGrad(true)
	again := optim.NewAdam([]*tensor.Tensor{q}, 0.1)
	if err := again.LoadStateDict(opt.StateDict()); err != nil {
		t.Fatal(err)
	}
	if s := again.State(q).Tensor("step"); s.Device() != second.Device || s.Item() != 1 {
		t.Errorf("the loaded counter is %v on %s", s.CPU(), s.Device())
	}
}
