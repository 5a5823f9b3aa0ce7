package optim_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch/optim"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/tensor"
)

// makers are the optimizers with settings that use all of their state.
var makers = []struct {
	name string
	make func(p ...*tensor.Tensor) optim.Optimizer
}{
	{"SGD", func(p ...*tensor.Tensor) optim.Optimizer {
		return optim.NewSGD(p, 0.05, optim.SGDOptions{Momentum: 0.9, WeightDecay: 0.01})
	}},
	{"Adam", func(p ...*tensor.Tensor) optim.Optimizer {
		return optim.NewAdam(p, 0.05, optim.AdamOptions{AMSGrad: true})
	}},
	{"AdamW", func(p ...*tensor.Tensor) optim.Optimizer { return optim.NewAdamW(p, 0.05) }},
	{"Adagrad", func(p ...*tensor.Tensor) optim.Optimizer {
		return optim.NewAdagrad(p, 0.3, optim.AdagradOptions{LRDecay: 0.01, InitialAccumulatorValue: 0.1})
	}},
	{"Adadelta", func(p ...*tensor.Tensor) optim.Optimizer {
		return optim.NewAdadelta(p, 1, optim.AdadeltaOptions{Eps: tensor.Some(1e-2)})
	}},
	{"Adamax", func(p ...*tensor.Tensor) optim.Optimizer { return optim.NewAdamax(p, 0.05) }},
	{"NAdam", func(p ...*tensor.Tensor) optim.Optimizer {
		return optim.NewNAdam(p, 0.05, optim.NAdamOptions{WeightDecay: 0.01, DecoupledWeightDecay: true})
	}},
	{"RAdam", func(p ...*tensor.Tensor) optim.Optimizer { return optim.NewRAdam(p, 0.05) }},
	{"RMSprop", func(p ...*tensor.Tensor) optim.Optimizer {
		return optim.NewRMSprop(p, 0.02, optim.RMSpropOptions{Momentum: 0.5, Centered: true})
	}},
	{"Rprop", func(p ...*tensor.Tensor) optim.Optimizer { return optim.NewRprop(p, 0.05) }},
	{"ASGD", func(p ...*tensor.Tensor) optim.Optimizer {
		return optim.NewASGD(p, 0.05, optim.ASGDOptions{T0: tensor.Some(3.0)})
	}},
	{"Adafactor", func(p ...*tensor.Tensor) optim.Optimizer { return optim.NewAdafactor(p, 0.05) }},
	{"Muon", func(p ...*tensor.Tensor) optim.Optimizer { return optim.NewMuon(p, 0.05) }},
}

// matrix is a parameter of n elements that depend on the seed.
func matrix(rows, cols int, seed float64) *tensor.Tensor {
	d := make([]float64, rows*cols)
	for i := range d {
		d[i] = 2 * math.Sin(float64(i)*1.7+seed)
	}
	return tensor.FromSlice(d, rows, cols).SetRequiresGrad(true)
}

// descend takes steps towards the minimum of the sum of squares and returns the last value.
func descend(o optim.Optimizer, steps int, p ...*tensor.Tensor) (f float64) {
	for range steps {
		f = o.StepClosure(func() *tensor.Tensor {
			o.ZeroGrad()
			var sum *tensor.Tensor
			for _, x := range p {
				if x.IsComplex() {
					x = x.ViewAsReal()
				}
				if s := x.Double().Square().Sum(); sum == nil {
					sum = s
				} else {
					sum = sum.Add(s)
				}
			}
			sum.Backward()
			return sum
		}).Item()
	}
	return f
}

func TestOptimizersDescend(t *testing.T) {
	for _, m := range makers {
		for _, dt := range []tensor.DType{tensor.Float64, tensor.Float32, tensor.BFloat16} {
			p, q := matrix(5, 300, 0), matrix(2, 3, 1) // more than a block of the kernels, and less
			p, q = p.Detach().To(dt).SetRequiresGrad(true), q.Detach().To(dt).SetRequiresGrad(true)
			o := m.make(p, q)
			before := descend(o, 1, p, q)
			if after := descend(o, 30, p, q); !(after < before*0.9) {
				t.Errorf("%s, %s: the function goes from %g to %g", m.name, dt, before, after)
			}
		}
	}
}

// A saved and loaded optimizer goes on as if nothing had happened.
func TestOptimizersGoOn(t *testing.T) {
	makers := append(makers, struct {
		name string
		make func(p ...*tensor.Tensor) optim.Optimizer
	}{"LBFGS", func(p ...*tensor.Tensor) optim.Optimizer {
		return optim.NewLBFGS(p, 0.5, optim.LBFGSOptions{MaxIter: tensor.Some(3), LineSearchFn: "strong_wolfe"})
	}})
	for _, m := range makers {
		p := matrix(3, 4, 0)
		o := m.make(p)
		descend(o, 4, p)
		var file bytes.Buffer
		if err := serialize.Save(&file, o.StateDict()); err != nil {
			t.Fatalf("%s: %v", m.name, err)
		}
		at := p.Detach().Clone().SetRequiresGrad(true)
		want := descend(o, 4, p)
		v, err := serialize.Load(bytes.NewReader(file.Bytes()), int64(file.Len()))
		if err != nil {
			t.Fatalf("%s: %v", m.name, err)
		}
		next := m.make(at)
		if err := next.LoadStateDict(v.(*serialize.Dict)); err != nil {
			t.Fatalf("%s: %v", m.name, err)
		}
		if got := descend(next, 4, at); got != want || !at.Equal(p) {
			t.Errorf("%s: %v after loading, want %v", m.name, got, want)
		}
	}
}

// A complex parameter is its real and imaginary parts.
func TestOptimizersOfComplexNumbers(t *testing.T) {
	for _, m := range makers {
		if m.name == "Adafactor" || m.name == "Muon" {
			z := tensor.FromSlice([]complex128{1, 2i}, 1, 2).SetRequiresGrad(true)
			err := tensor.Try(func() { descend(m.make(z), 1, z) })
			if err == nil || !strings.Contains(err.Error(), m.name+" does not support complex parameters") {
				t.Errorf("%s: %v", m.name, err)
			}
			continue
		}
		if m.name == "Adam" { // AMSGrad compares parts
			continue
		}
		r := matrix(4, 2, 0)
		z := r.Detach().Clone().ViewAsComplex().SetRequiresGrad(true)
		descend(m.make(r), 5, r)
		descend(m.make(z), 5, z)
		if !z.Detach().ViewAsReal().AllClose(r.Detach()) {
			t.Errorf("%s: %v, want %v", m.name, z.Detach().ViewAsReal(), r)
		}
	}
}

func TestLBFGSMinimizesRosenbrock(t *testing.T) {
	p := param(-1.2, 1)
	o := optim.NewLBFGS([]*tensor.Tensor{p}, 1, optim.LBFGSOptions{LineSearchFn: "strong_wolfe"})
	for range 10 {
		o.StepClosure(func() *tensor.Tensor {
			o.ZeroGrad()
			x, y := p.Select(0, 0), p.Select(0, 1)
			f := y.Sub(x.Square()).Square().MulScalar(100).Add(x.RsubScalar(1).Square())
			f.Backward()
			return f
		})
	}
	near(t, "minimum", values(p), []float64{0.9999814210791366, 0.9999619651810989}) // where PyTorch stops, too
	if err := tensor.Try(o.Step); err == nil || !strings.Contains(err.Error(), "Call StepClosure") {
		t.Errorf("Step: %v", err)
	}
	if err := tensor.Try(func() { o.AddParamGroup(optim.Group{Params: []*tensor.Tensor{param(1)}}) }); err == nil {
		t.Error("a second group was taken")
	}
}

func TestOptimizerSettings(t *testing.T) {
	p := []*tensor.Tensor{matrix(1, 2, 0)}
	nan := math.NaN()
	for _, c := range []struct {
		want string
		f    func()
	}{
		{"Invalid learning rate: -1", func() { optim.NewRMSprop(p, -1) }},
		{"Invalid learning rate: NaN", func() { optim.NewAdagrad(p, nan) }},
		{"Invalid alpha value: -0.5", func() {
			optim.NewRMSprop(p, 1,
				optim.RMSpropOptions{Alpha: tensor.Some(-0.5)})
		}},
		{"Invalid rho value: 1.5", func() { optim.NewAdadelta(p, 1, optim.AdadeltaOptions{Rho: tensor.Some(1.5)}) }},
		{"Invalid lr_decay value: -1", func() { optim.NewAdagrad(p, 1, optim.AdagradOptions{LRDecay: -1}) }},
		{"Invalid beta parameter at index 1: 1.0",
			func() { optim.NewRAdam(p, 1, optim.RAdamOptions{Betas: tensor.Some([2]float64{0, 1})}) }},
		{"Invalid momentum_decay value: -1",
			func() { optim.NewNAdam(p, 1, optim.NAdamOptions{MomentumDecay: tensor.Some(-1.0)}) }},
		{"Invalid eta values: 1, 2", func() {
			optim.NewRprop(p, 1,
				optim.RpropOptions{Etas: tensor.Some([2]float64{1, 2})})
		}},
		{"Invalid lambd value: -1", func() { optim.NewASGD(p, 1, optim.ASGDOptions{Lambd: tensor.Some(-1.0)}) }},
		{"beta2_decay should be <= 0 but is: 1",
			func() { optim.NewAdafactor(p, 1, optim.AdafactorOptions{Beta2Decay: tensor.Some(1.0)}) }},
		{"Clipping threshold d should be >= 1 but is: 0",
			func() { optim.NewAdafactor(p, 1, optim.AdafactorOptions{D: tensor.Some(0.0)}) }},
		{"Muon only supports 2D parameters", func() { optim.NewMuon([]*tensor.Tensor{param(1)}, 1) }},
		{"adam is not supported", func() { optim.NewMuon(p, 1, optim.MuonOptions{AdjustLRFn: "adam"}) }},
		{"only 'strong_wolfe' is supported",
			func() { optim.NewLBFGS(p, 1, optim.LBFGSOptions{LineSearchFn: "armijo"}) }},
		{`RMSprop has no setting "rho"`, func() {
			optim.NewRMSpropGroups([]optim.Group{{Params: p, Settings: map[string]any{"rho": 0.5}}}, 1)
		}},
	} {
		err := tensor.Try(c.f)
		var e *tensor.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
	o := optim.NewRMSpropGroups([]optim.Group{{Params: p, Settings: map[string]any{"alpha": 0.5}}}, 1)
	if a := o.ParamGroups()[0].Float("alpha"); a != 0.5 {
		t.Errorf("the group's alpha is %g", a)
	}
}

func TestStateHooks(t *testing.T) {
	p := param(1)
	o := optim.NewAdam([]*tensor.Tensor{p}, 0.1)
	var got []string
	note := func(s string) { got = append(got, s) }
	remove := []func(){
		optim.RegisterOptimizerStepPreHook(func(optim.Optimizer) { note("all before") }),
		optim.RegisterOptimizerStepPostHook(func(optim.Optimizer) { note("all after") }),
		o.RegisterStepPreHook(func(optim.Optimizer) { note("before") }),
		o.RegisterStepPostHook(func(optim.Optimizer) { note("after") }),
		o.RegisterStateDictPreHook(func(optim.Optimizer) { note("saves") }),
		o.RegisterStateDictPostHook(func(_ optim.Optimizer, d *serialize.Dict) { note("saved"); d.Set("more", 1) }),
		o.RegisterLoadStateDictPreHook(func(_ optim.Optimizer, d *serialize.Dict) {
			note("loads")
			d.Set("param_groups", d.Get("groups"))
		}),
		o.RegisterLoadStateDictPostHook(func(optim.Optimizer) { note("loaded") }),
	}
	grad(p, 1)
	o.Step()
	d := o.StateDict()
	file := serialize.NewDict("state", d.Get("state"), "groups", d.Get("param_groups"))
	if err := o.LoadStateDict(file); err != nil {
		t.Fatal(err)
	}
	want := "[all before before after all after saves saved loads loaded]"
	if fmt.Sprint(got) != want || d.Get("more") != 1 || file.Get("param_groups") != nil {
		t.Errorf("got %v and %v, want %s", got, d, want)
	}
	for _, f := range remove {
		f()
	}
	got = nil
	o.Step()
	o.StateDict()
	if len(got) > 0 {
		t.Errorf("removed hooks were called: %v", got)
	}
}

// ExampleNewLBFGS fits a line to three points in one step.
func ExampleNewLBFGS() {
	x := tensor.FromSlice([]float64{0, 1, 2})
	y := tensor.FromSlice([]float64{1, 3, 5})
	w := tensor.FromSlice([]float64{0, 0}).SetRequiresGrad(true)
	opt := optim.NewLBFGS([]*tensor.Tensor{w}, 1, optim.LBFGSOptions{LineSearchFn: "strong_wolfe"})
	opt.StepClosure(func() *tensor.Tensor {
		opt.ZeroGrad()
		loss := x.Mul(w.Select(0, 0)).Add(w.Select(0, 1)).Sub(y).Square().Sum()
		loss.Backward()
		return loss
	})
	fmt.Printf("%.3f\n", values(w))
	// Output: [2.000 1.000]
}

// A file may hold what constructors refuse: PyTorch checks the settings of a new optimizer alone.
func TestLoadOfNegativeLearningRate(t *testing.T) {
	p := param(1, 1)
	o := optim.NewSGD([]*tensor.Tensor{p}, 0.5)
	d := o.StateDict()
	d.Get("param_groups").([]any)[0].(*serialize.Dict).Set("lr", -1.0)
	if err := o.LoadStateDict(d); err != nil {
		t.Fatal(err)
	}
	p.Sum().Backward()
	o.Step()
	if want := param(2, 2); !p.Equal(want) {
		t.Errorf("got %v, want %v", p, want)
	}
}
