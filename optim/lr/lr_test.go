package lr_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch/optim"
	"github.com/gotorch-dev/torch/optim/lr"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/tensor"
)

func sgd(rate float64) *optim.SGD {
	return optim.NewSGD([]*tensor.Tensor{tensor.FromSlice([]float32{0})}, rate)
}

func Example() {
	opt := sgd(0.1)
	sched := lr.NewStepLR(opt, 3, lr.Options{Gamma: tensor.Some(0.1)})
	for range 5 {
		fmt.Printf("%.3f ", sched.LastLR()[0])
		opt.Step()
		sched.Step()
	}
	// Output: 0.100 0.100 0.100 0.010 0.010
}

func ExampleNewSequentialLR() {
	opt := sgd(1)
	sched := lr.NewSequentialLR(opt, []lr.Scheduler{
		lr.NewLinearLR(opt, lr.LinearOptions{StartFactor: tensor.Some(0.25), TotalIters: tensor.Some(3)}), // warm-up
		lr.NewCosineAnnealingLR(opt, 4),
	}, []int{3})
	for range 8 {
		fmt.Printf("%.3f ", sched.LastLR()[0])
		opt.Step()
		sched.Step()
	}
	// Output: 0.250 0.500 0.750 1.000 0.854 0.500 0.146 0.000
}

func TestWarnsOfWrongOrder(t *testing.T) {
	var got []string
	before := tensor.SetWarnings(func(w tensor.Warning) { got = append(got, w.Text) })
	defer func() { tensor.SetWarnings(before) }()
	opt := sgd(1)
	s := lr.NewExponentialLR(opt, 0.5)
	s.Step()
	if len(got) != 1 || !strings.Contains(got[0], "before `optimizer.step()`") {
		t.Errorf("warnings: %q", got)
	}
	opt = sgd(1)
	s = lr.NewExponentialLR(opt, 0.5)
	opt.Step()
	s.Step()
	if len(got) != 1 {
		t.Errorf("warnings: %q", got)
	}
}

func TestErrors(t *testing.T) {
	plain := sgd(1)
	for _, c := range []struct {
		want string
		f    func()
	}{
		{"param 'initial_lr' is not specified in param_groups[0]",
			func() { lr.NewStepLR(sgd(1), 3, lr.Options{LastEpoch: tensor.Some(4)}) }},
		{"Factor should be < 1.0.", func() {
			lr.NewReduceLROnPlateau(plain,
				lr.PlateauOptions{Factor: tensor.Some(1.0)})
		}},
		{"Expected 1 lr_lambdas, but got 2", func() {
			f := func(int) float64 { return 1 }
			lr.NewLambdaLR(plain, f, f)
		}},
		{"You must define either total_steps", func() { lr.NewOneCycleLR(plain, 1, 0) }},
		{"max_lr must have the same length",
			func() { lr.NewOneCycleLR(plain, 1, 5, lr.OneCycleOptions{MaxLRs: []float64{1, 2}}) }},
		{"Tried to step 3 times", func() {
			s := lr.NewOneCycleLR(plain, 1, 2)
			for range 3 {
				plain.Step()
				s.Step()
			}
		}},
		{"expects all schedulers to belong to the same optimizer",
			func() { lr.NewChainedScheduler(lr.NewStepLR(plain, 1), lr.NewStepLR(sgd(1), 1)) }},
		{"one more than the number of milestone points",
			func() { lr.NewSequentialLR(plain, []lr.Scheduler{lr.NewStepLR(plain, 1)}, []int{1}) }},
	} {
		if err := tensor.Try(c.f); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

func TestResume(t *testing.T) {
	opt := sgd(1)
	opt.ParamGroups()[0].Set("initial_lr", 1.0)
	s := lr.NewMultiStepLR(opt, []int{2, 5}, lr.Options{Gamma: tensor.Some(0.5), LastEpoch: tensor.Some(1)})
	if got := s.LastLR()[0]; got != 0.5 || s.LastEpoch() != 2 {
		t.Errorf("rate %v at epoch %d", got, s.LastEpoch())
	}
}

func TestLoadBadState(t *testing.T) {
	s := lr.NewOneCycleLR(sgd(1), 1, 10)
	for _, d := range []*serialize.Dict{
		serialize.NewDict("last_epoch", "x"), serialize.NewDict("last_epoch", 1.5), serialize.NewDict("_last_lr", 3),
		serialize.NewDict("_last_lr", []any{"x"}),
		serialize.NewDict("_schedule_phases", []any{}),
		serialize.NewDict("_schedule_phases", []any{serialize.NewDict()}),
		serialize.NewDict("_anneal_func_type", "x"), serialize.NewDict("cycle_momentum", 2),
	} {
		if err := s.LoadStateDict(d); err == nil {
			t.Errorf("loading %v succeeded", d)
		}
	}
}

// An explicit zero is a zero and not the default.
func TestExplicitZero(t *testing.T) {
	zero, none := tensor.Some(0.0), tensor.Some(0)
	rates := func(opt *optim.SGD, s lr.Scheduler, n int) string {
		out := fmt.Sprint(opt.ParamGroups()[0].LR())
		for range n {
			opt.Step()
			s.Step()
			out += fmt.Sprintf(" %.3g", opt.ParamGroups()[0].LR())
		}
		return out
	}
	for _, c := range []struct {
		name string
		make func(opt *optim.SGD) lr.Scheduler
		want string
	}{
		{"StepLR, gamma", func(o *optim.SGD) lr.Scheduler { return lr.NewStepLR(o, 2, lr.Options{Gamma: zero}) },
			"1 1 0 0"},
		{"MultiStepLR, gamma", func(o *optim.SGD) lr.Scheduler {
			return lr.NewMultiStepLR(o, []int{1},
				lr.Options{Gamma: zero})
		}, "1 0 0 0"},
		{"ConstantLR, factor", func(o *optim.SGD) lr.Scheduler {
			return lr.NewConstantLR(o,
				lr.FactorOptions{Factor: zero})
		}, "0 0 0 0"},
		{"LinearLR, end", func(o *optim.SGD) lr.Scheduler {
			return lr.NewLinearLR(o, lr.LinearOptions{StartFactor: tensor.Some(1.0), EndFactor: zero,
				TotalIters: tensor.Some(2)})
		}, "1 0.5 0 0"},
		{"PolynomialLR, power", func(o *optim.SGD) lr.Scheduler {
			return lr.NewPolynomialLR(o, lr.PolynomialOptions{TotalIters: tensor.Some(2), Power: zero})
		}, "1 1 1 1"},
		{"PolynomialLR, iterations", func(o *optim.SGD) lr.Scheduler {
			return lr.NewPolynomialLR(o, lr.PolynomialOptions{TotalIters: none})
		}, "1 1 1 1"},
	} {
		opt := sgd(1)
		s := c.make(opt)
		if got := rates(opt, s, 3); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	plain := sgd(1)
	for want, f := range map[string]func(){
		"T_mult":         func() { lr.NewCosineAnnealingWarmRestarts(plain, 3, lr.RestartOptions{TMult: none}) },
		"greater than 0": func() { lr.NewLinearLR(plain, lr.LinearOptions{StartFactor: zero}) },
		"cannot be restored": func() {
			s := lr.NewConstantLR(plain, lr.FactorOptions{Factor: zero, TotalIters: tensor.Some(1)})
			plain.Step()
			s.Step()
		},
		"step_size_up": func() {
			lr.NewCyclicLR(plain, 0.1, 1, lr.CyclicOptions{StepSizeUp: none, NoCycleMomentum: true})
		},
		"div_factor": func() {
			lr.NewOneCycleLR(plain, 1, 5,
				lr.OneCycleOptions{DivFactor: zero, NoCycleMomentum: true})
		},
	} {
		if err := tensor.Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	s := lr.NewReduceLROnPlateau(plain, lr.PlateauOptions{Factor: zero, Patience: none, Threshold: zero, Eps: zero})
	plain.ParamGroups()[0].SetLR(1)
	s.Step(1)
	s.Step(1)
	if r := plain.ParamGroups()[0].LR(); r != 0 {
		t.Errorf("the rate on the plateau is %v", r)
	}
}

// The rates are those of torch.optim.swa_utils.SWALR.
func TestSWALR(t *testing.T) {
	for _, c := range []struct {
		anneal lr.Anneal
		epochs int
		want   [][2]float64 // of two groups, after each step
	}{
		{lr.Cos, 0, [][2]float64{{0.05, 0.02}, {0.05, 0.02}}},
		{lr.Linear, 1, [][2]float64{{0.05, 0.02}, {0.05, 0.02}}},
		{lr.Cos, 3, [][2]float64{{0.0875, 0.305}, {0.0625, 0.115}, {0.05, 0.02}, {0.05, 0.02}}},
		{lr.Linear, 3, [][2]float64{{1. / 12, 0.82 / 3}, {0.2 / 3, 0.44 / 3}, {0.05, 0.02}, {0.05, 0.02}}},
	} {
		p := func() []*tensor.Tensor { return []*tensor.Tensor{tensor.FromSlice([]float32{0})} }
		opt := optim.NewSGDGroups([]optim.Group{{Params: p()}, {Params: p(), LR: tensor.Some(0.4)}}, 0.1)
		s := lr.NewSWALR(opt, 0, lr.SWAOptions{LRs: []float64{0.05, 0.02}, AnnealEpochs: tensor.Some(c.epochs),
			Anneal: c.anneal})
		for i, want := range c.want {
			opt.Step()
			s.Step()
			for j, got := range s.LastLR() {
				if math.Abs(got-want[j]) > 1e-9 {
					t.Errorf("%v over %d epochs, step %d, group %d: %v, want %v", c.anneal, c.epochs, i, j, got, want[j])
				}
			}
		}
	}
}
