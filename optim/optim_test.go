package optim_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/optim"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/tensor"
)

func param(v ...float64) *tensor.Tensor { return tensor.FromSlice(v).SetRequiresGrad(true) }

func grad(p *tensor.Tensor, v ...float64) { p.SetGrad(tensor.FromSlice(v, p.Shape()...)) }

func values(p *tensor.Tensor) []float64 {
	return tensor.Data[float64](tensor.DenseAs(p.Detach(), tensor.Float64))
}

func near(t *testing.T, what string, got, want []float64) {
	t.Helper()
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-6*math.Max(1, math.Abs(want[i])) {
			t.Fatalf("%s: got %v, want %v", what, got, want)
		}
	}
}

// The sequences are PyTorch's, worked out by hand.
func TestSGD(t *testing.T) {
	for _, c := range []struct {
		name string
		o    optim.SGDOptions
		g    func(w float64, step int) float64
		want []float64
	}{
		{"plain", optim.SGDOptions{}, func(w float64, _ int) float64 { return 2 * w },
			[]float64{0.8, 0.64, 0.512, 0.4096}},
		{"momentum", optim.SGDOptions{Momentum: 0.9}, func(float64, int) float64 { return 1 },
			[]float64{0.9, 0.71, 0.439, 0.0951}},
		{"momentum, w²", optim.SGDOptions{Momentum: 0.9}, func(w float64, _ int) float64 { return 2 * w },
			[]float64{0.8, 0.46, 0.062, -0.3086}},
		{"nesterov", optim.SGDOptions{Momentum: 0.9, Nesterov: true}, func(w float64, _ int) float64 { return 2 * w },
			[]float64{0.62, 0.2224, -0.108352, -0.324823}},
		{"maximize", optim.SGDOptions{Maximize: true}, func(float64, int) float64 { return 1 },
			[]float64{1.1, 1.2, 1.3, 1.4}},
		{"decay", optim.SGDOptions{WeightDecay: 1}, func(float64, int) float64 { return 0 },
			[]float64{0.9, 0.81, 0.729, 0.6561}},
	} {
		p := param(1)
		opt := optim.NewSGD([]*tensor.Tensor{p}, 0.1, c.o)
		var got []float64
		for s := range c.want {
			grad(p, c.g(values(p)[0], s))
			opt.Step()
			got = append(got, values(p)[0])
		}
		near(t, c.name, got, c.want)
	}
}

// Without weight decay infinite parameters stay infinite and leave the state alone, as in PyTorch, in all dtypes.
func TestInfiniteParameters(t *testing.T) {
	inf := math.Inf(1)
	for name, build := range map[string]func(p []*tensor.Tensor) optim.Optimizer{
		"SGD": func(p []*tensor.Tensor) optim.Optimizer { return optim.NewSGD(p, 0.1) },
		"momentum": func(p []*tensor.Tensor) optim.Optimizer {
			return optim.NewSGD(p, 0.1, optim.SGDOptions{Momentum: 0.9})
		},
		"Adam":    func(p []*tensor.Tensor) optim.Optimizer { return optim.NewAdam(p, 0.1) },
		"Adagrad": func(p []*tensor.Tensor) optim.Optimizer { return optim.NewAdagrad(p, 0.1) },
		"RMSprop": func(p []*tensor.Tensor) optim.Optimizer { return optim.NewRMSprop(p, 0.1) },
	} {
		for _, dt := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.BFloat16, tensor.Float16} {
			p := tensor.FromSlice([]float64{inf, -inf, 1}).ToDType(dt).SetRequiresGrad(true)
			opt := build([]*tensor.Tensor{p})
			for range 2 {
				p.SetGrad(tensor.FromSlice([]float64{1, 1, 1}).ToDType(dt))
				opt.Step()
			}
			if v := values(p); v[0] != inf || v[1] != -inf || !(v[2] < 1) {
				t.Errorf("%s of %s: %v", name, dt, v)
			}
		}
	}
}

func TestDampening(t *testing.T) {
	p := param(1)
	opt := optim.NewSGD([]*tensor.Tensor{p}, 0.1, optim.SGDOptions{Momentum: 0.9, Dampening: 0.9})
	for i, want := range []float64{1, 1.1, 1.29} {
		grad(p, float64(i+1))
		opt.Step()
		near(t, "buffer", values(opt.State(p).Tensor("momentum_buffer")), []float64{want})
	}
}

// adam is the textbook's formula, in plain loops.
func adam(w, g []float64, m, v, vmax []float64, step int, lr, b1, b2, eps, wd float64, decoupled, amsgrad,
	maximize bool) {
	for i := range w {
		gi := g[i]
		if maximize {
			gi = -gi
		}
		if decoupled {
			w[i] *= 1 - lr*wd
		} else {
			gi += wd * w[i]
		}
		m[i] = b1*m[i] + (1-b1)*gi
		v[i] = b2*v[i] + (1-b2)*gi*gi
		d := v[i]
		if amsgrad {
			vmax[i] = math.Max(vmax[i], v[i])
			d = vmax[i]
		}
		w[i] -= lr / (1 - math.Pow(b1, float64(step))) * m[i] / (math.Sqrt(d)/math.Sqrt(1-math.Pow(b2, float64(step))) +
			eps)
	}
}

// Every dtype, layout and variant against the formula; sizes that cross the blocks of the parallel loop.
func TestAdamVariants(t *testing.T) {
	for _, dt := range []tensor.DType{tensor.Float64, tensor.Float32, tensor.BFloat16, tensor.Float16, tensor.Complex64,
		tensor.Complex128} {
		for variant := range 8 {
			amsgrad, maximize, decoupled := variant&1 != 0, variant&2 != 0, variant&4 != 0
			shapes := [][]int{{3}, {5000}, {40000}, {7, 5}, {}, {0}}
			var ps []*tensor.Tensor
			var ws, ms, vs, xs [][]float64
			for k, sh := range shapes {
				var p *tensor.Tensor
				switch k {
				case 3: // transposed
					p = tensor.NewStrided(sh, []int{1, 7}, dt)
				default:
					p = tensor.New(sh, dt)
				}
				n := p.Numel()
				w := make([]float64, n)
				for i := range w {
					w[i] = math.Sin(float64(i + k))
				}
				tensor.CopyRaw(p, tensor.FromSlice(w, sh...))
				w = values(p) // as rounded to the dtype
				ps = append(ps, p.SetRequiresGrad(true))
				ws, ms, vs, xs = append(ws, append([]float64(nil), w...)), append(ms, make([]float64, n)),
					append(vs, make([]float64, n)), append(xs, make([]float64, n))
			}
			opt := optim.NewAdam(ps, 0.01,
				optim.AdamOptions{WeightDecay: 0.1, AMSGrad: amsgrad, Maximize: maximize,
					DecoupledWeightDecay: decoupled})
			for step := 1; step <= 3; step++ {
				for k, p := range ps {
					g := make([]float64, p.Numel())
					for i := range g {
						g[i] = math.Cos(float64(i*step + k))
					}
					gt := tensor.New(p.Shape(), dt)
					tensor.CopyRaw(gt, tensor.FromSlice(g, p.Shape()...))
					p.SetGrad(gt)
					adam(ws[k], values(gt), ms[k], vs[k], xs[k], step, 0.01, 0.9, 0.999, 1e-8, 0.1, decoupled, amsgrad,
						maximize)
				}
				opt.Step()
			}
			tol := map[tensor.DType]float64{tensor.Float64: 1e-12, tensor.Complex128: 1e-12, tensor.BFloat16: 3e-2,
				tensor.Float16: 4e-3}[dt]
			if tol == 0 {
				tol = 2e-6
			}
			for k, p := range ps {
				for i, got := range values(p) {
					if math.Abs(got-ws[k][i]) > tol {
						t.Fatalf("%s, variant %d, parameter %d: element %d is %g, want %g", dt, variant, k, i, got,
							ws[k][i])
					}
				}
			}
		}
	}
}

// The result must not depend on the number of threads, nor on what other parameters are in the step.
func TestSameBits(t *testing.T) {
	run := func(threads int, split bool) []float32 {
		old := par.NumThreads()
		par.SetNumThreads(threads)
		defer par.SetNumThreads(old)
		n := 50001
		data := make([]float32, n)
		for i := range data {
			data[i] = float32(math.Sin(float64(i)))
		}
		p := tensor.FromSlice(data).SetRequiresGrad(true)
		ps := []*tensor.Tensor{p}
		if split {
			q := tensor.FromSlice(data[:777]).SetRequiresGrad(true)
			q.SetGrad(tensor.FromSlice(data[:777]))
			ps = []*tensor.Tensor{q, p}
		}
		opt := optim.NewAdamW(ps, 1e-3)
		for range 3 {
			p.SetGrad(tensor.FromSlice(data))
			opt.Step()
		}
		return tensor.Data[float32](p.Detach())
	}
	want := run(1, false)
	for _, got := range [][]float32{run(2, false), run(3, true)} {
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("element %d is %x, want %x", i, got[i], want[i])
			}
		}
	}
}

func TestViewWithGaps(t *testing.T) {
	base := tensor.FromSlice([]float64{1, 2, 3, 4})
	p := tensor.Alias(base, []int{2}, []int{2}, 0).Detach().SetRequiresGrad(true)
	grad(p, 1, 1)
	opt := optim.NewSGD([]*tensor.Tensor{p}, 0.5)
	v := p.Version()
	opt.Step()
	near(t, "base", values(base), []float64{0.5, 2, 2.5, 4})
	if p.Version() == v {
		t.Error("the version did not change")
	}
}

func TestGroups(t *testing.T) {
	a, b, c := param(1), param(1), param(1)
	opt := optim.NewSGDGroups([]optim.Group{{Params: []*tensor.Tensor{a}, LR: tensor.Some(1e-3)},
		{Params: []*tensor.Tensor{b}}}, 1e-2, optim.SGDOptions{Momentum: 0.9, WeightDecay: 1e-4})
	opt.AddParamGroup(optim.Group{Params: []*tensor.Tensor{c}, WeightDecay: tensor.Some(0.0)})
	var got []string
	for _, g := range opt.ParamGroups() {
		got = append(got, fmt.Sprint(len(g.Params), g.LR(), g.Float("momentum"), g.Float("weight_decay")))
	}
	if s := strings.Join(got, "; "); s != "1 0.001 0.9 0.0001; 1 0.01 0.9 0.0001; 1 0.01 0.9 0" {
		t.Error(s)
	}
	if d := opt.Defaults(); d.LR() != 1e-2 ||
		strings.Join(d.Keys(), " ") != "lr momentum dampening weight_decay nesterov maximize foreach differentiable "+
			"fused" {
		t.Error(d.Keys())
	}
}

func TestZeroGrad(t *testing.T) {
	p, q := param(1, 2), param(3)
	opt := optim.NewAdam([]*tensor.Tensor{p, q}, 0.1)
	grad(p, 1, 2)
	opt.ZeroGrad(optim.KeepZeros)
	near(t, "zeros", values(p.Grad()), []float64{0, 0})
	opt.ZeroGrad()
	if p.Grad() != nil || q.Grad() != nil {
		t.Error("a gradient is left")
	}
	opt.Step() // nothing to do
	near(t, "p", values(p), []float64{1, 2})
	if opt.State(p) != nil {
		t.Error("state without a gradient")
	}
}

// TestNesterovGroup checks that a group may do without the momentum, or dampen it, of an optimizer with Nesterov's.
func TestNesterovGroup(t *testing.T) {
	plain, damped := param(1), param(1)
	opt := optim.NewSGDGroups([]optim.Group{{Params: []*tensor.Tensor{plain}, Momentum: tensor.Some(0.0)},
		{Params: []*tensor.Tensor{damped}, Dampening: tensor.Some(0.5)}}, 0.5,
		optim.SGDOptions{Momentum: 0.5, Nesterov: true})
	for range 2 {
		for _, p := range []*tensor.Tensor{plain, damped} {
			grad(p, 1)
		}
		opt.Step()
	}
	// buffers of 1 and 0.5+0.5: steps of 0.5 each, and of 0.5*(1+0.5) each
	if a, b := plain.Item(), damped.Item(); a != 0 || b != -0.5 {
		t.Errorf("parameters are %v and %v, want 0 and -0.5", a, b)
	}
}

func TestErrors(t *testing.T) {
	p := param(1)
	list := []*tensor.Tensor{p}
	for _, c := range []struct {
		want string
		f    func()
	}{
		{"optimizer got an empty parameter list", func() { optim.NewSGD(nil, 0.1) }},
		{"Invalid learning rate: -1", func() { optim.NewSGD(list, -1) }},
		{"Invalid momentum value: -1", func() { optim.NewSGD(list, 1, optim.SGDOptions{Momentum: -1}) }},
		{"Nesterov momentum requires a momentum and zero dampening",
			func() { optim.NewSGD(list, 1, optim.SGDOptions{Nesterov: true}) }},
		{"Invalid beta parameter at index 1: 1.5",
			func() { optim.NewAdam(list, 1, optim.AdamOptions{Betas: tensor.Some([2]float64{0.9, 1.5})}) }},
		{"Invalid epsilon value: -1", func() { optim.NewAdamW(list, 1, optim.AdamWOptions{Eps: tensor.Some(-1.0)}) }},
		{"some parameters appear in more than one parameter group", func() { optim.NewSGD([]*tensor.Tensor{p, p}, 1) }},
		{"has no setting \"betas\"", func() {
			optim.NewSGDGroups([]optim.Group{{Params: list,
				Betas: tensor.Some([2]float64{0.5, 0.5})}}, 1)
		}},
		{"only optimize floating point", func() { optim.NewSGD([]*tensor.Tensor{tensor.FromSlice([]int64{1})}, 1) }},
	} {
		if err := tensor.Try(c.f); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

// A state saved and loaded continues bit for bit, through the file format too, and a bad one changes nothing.
func TestStateDict(t *testing.T) {
	mk := func() (*tensor.Tensor, optim.Optimizer) {
		p := param(1, -2, 3)
		return p, optim.NewAdam([]*tensor.Tensor{p}, 0.1, optim.AdamOptions{AMSGrad: true})
	}
	p, opt := mk()
	step := func(p *tensor.Tensor, o optim.Optimizer, k int) {
		grad(p, 1, float64(k), -1)
		o.Step()
	}
	for k := range 3 {
		step(p, opt, k)
	}
	var buf bytes.Buffer
	if err := serialize.Save(&buf, opt.StateDict()); err != nil {
		t.Fatal(err)
	}
	v, err := serialize.LoadBytes(buf.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	q, opt2 := mk()
	tensor.CopyRaw(q, p)
	if err := opt2.LoadStateDict(v.(*serialize.Dict)); err != nil {
		t.Fatal(err)
	}
	for k := range 3 {
		step(p, opt, k)
		step(q, opt2, k)
	}
	for i, w := range values(p) {
		if got := values(q)[i]; got != w {
			t.Fatalf("element %d is %v, want %v", i, got, w)
		}
	}
	before := opt2.String()
	for _, d := range []*serialize.Dict{
		serialize.NewDict(), serialize.NewDict("param_groups", []any{}),
		serialize.NewDict("param_groups", []any{serialize.NewDict("params", []any{0, 1})}),
		serialize.NewDict("state", serialize.NewDict(), "param_groups",
			[]any{serialize.NewDict("lr", "fast", "params", []any{0})}),
		serialize.NewDict("state", serialize.NewDict(7, serialize.NewDict()), "param_groups",
			[]any{serialize.NewDict("lr", 3.0, "params", []any{0})}),
		serialize.NewDict("state", serialize.NewDict(0, serialize.NewDict("exp_avg", tensor.FromSlice([]float64{1}))),
			"param_groups", []any{serialize.NewDict("lr", 3.0, "params", []any{0})}),
	} {
		if err := opt2.LoadStateDict(d); err == nil {
			t.Errorf("loading %v succeeded", d)
		}
	}
	if opt2.String() != before {
		t.Error("a failed load changed the optimizer")
	}
}

// State that is made inside a Tidy outlives it.
func TestTidy(t *testing.T) {
	p := tensor.FromSlice(make([]float32, 1000)).SetRequiresGrad(true)
	opt := optim.NewAdam([]*tensor.Tensor{p}, 0.1, optim.AdamOptions{AMSGrad: true})
	for range 3 {
		tensor.Tidy(func() {
			g := tensor.New(p.Shape(), tensor.Float32)
			tensor.CopyRaw(g, tensor.FromSlice([]float32{1}))
			p.SetGrad(g)
			opt.Step()
			opt.ZeroGrad()
		})
	}
	if got := opt.State(p).Tensor("step").Num().F; got != 3 {
		t.Errorf("step is %v", got)
	}
	for _, k := range []string{"exp_avg", "exp_avg_sq", "max_exp_avg_sq"} {
		tensor.Data[float32](opt.State(p).Tensor(k)) // panics when released
	}
	near(t, "p", values(p)[:1], []float64{-0.3})
}

func TestHooks(t *testing.T) {
	p := param(1)
	opt := optim.NewSGD([]*tensor.Tensor{p}, 0.1)
	var log []string
	opt.RegisterStepPreHook(func(o optim.Optimizer) { log = append(log, "pre") })
	remove := opt.RegisterStepPostHook(func(o optim.Optimizer) {
		if o != optim.Optimizer(opt) {
			t.Error("hook got another optimizer")
		}
		log = append(log, "post")
	})
	loss := opt.StepClosure(func() *tensor.Tensor { grad(p, 1); return p })
	remove()
	opt.Step()
	if got := strings.Join(log, " "); got != "pre post pre" || loss != p {
		t.Error(got)
	}
}

func TestString(t *testing.T) {
	opt := optim.NewAdam([]*tensor.Tensor{param(1)}, 1e-3)
	want := `Adam (
Parameter Group 0
    amsgrad: False
    betas: (0.9, 0.999)
    capturable: False
    decoupled_weight_decay: False
    differentiable: False
    eps: 1e-08
    foreach: None
    fused: None
    lr: 0.001
    maximize: False
    weight_decay: 0
)`
	if got := fmt.Sprint(opt); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func ExampleSGD() {
	w := tensor.FromSlice([]float64{1}).SetRequiresGrad(true)
	opt := optim.NewSGD([]*tensor.Tensor{w}, 0.1, optim.SGDOptions{Momentum: 0.9})
	for range 3 {
		opt.ZeroGrad()
		w.SetGrad(tensor.FromSlice([]float64{1})) // loss.Backward()
		opt.Step()
		fmt.Printf("%.3f\n", w.Num().F)
	}
	// Output:
	// 0.900
	// 0.710
	// 0.439
}

func ExampleNewAdamWGroups() {
	weight, bias := tensor.FromSlice([]float64{1}), tensor.FromSlice([]float64{0})
	opt := optim.NewAdamWGroups([]optim.Group{
		{Params: []*tensor.Tensor{weight}},
		{Params: []*tensor.Tensor{bias}, WeightDecay: tensor.Some(0.0)},
	}, 1e-3)
	for _, g := range opt.ParamGroups() {
		fmt.Println(g.LR(), g.Float("weight_decay"))
	}
	// Output:
	// 0.001 0.01
	// 0.001 0
}

func BenchmarkAdam100Small(b *testing.B) {
	var ps []*tensor.Tensor
	for range 100 {
		p := tensor.New([]int{64}, tensor.Float32)
		tensor.ZeroRaw(p)
		p.SetRequiresGrad(true)
		g := tensor.New([]int{64}, tensor.Float32)
		tensor.ZeroRaw(g)
		p.SetGrad(g)
		ps = append(ps, p)
	}
	opt := optim.NewAdam(ps, 1e-3)
	b.ReportAllocs()
	for b.Loop() {
		opt.Step()
	}
}

func BenchmarkAdam4M(b *testing.B) {
	p := tensor.New([]int{4 << 20}, tensor.Float32)
	tensor.ZeroRaw(p)
	p.SetRequiresGrad(true)
	g := tensor.New([]int{4 << 20}, tensor.Float32)
	tensor.ZeroRaw(g)
	p.SetGrad(g)
	opt := optim.NewAdam([]*tensor.Tensor{p}, 1e-3)
	b.SetBytes(4 << 20 * 4 * 7)
	for b.Loop() {
		opt.Step()
	}
}

// An explicit zero is a zero, and what is not given is inherited.
func TestExplicitZero(t *testing.T) {
	for _, c := range []struct {
		name string
		opt  optim.Optimizer
		key  string
		want any
	}{
		{"AdamW without decay", optim.NewAdamW([]*tensor.Tensor{param(1)}, 1,
			optim.AdamWOptions{WeightDecay: tensor.Some(0.0)}), "weight_decay", 0.0},
		{"first beta", optim.NewAdam([]*tensor.Tensor{param(1)}, 1,
			optim.AdamOptions{Betas: tensor.Some([2]float64{0, 0.9})}), "betas", [2]float64{0, 0.9}},
		{"second beta", optim.NewAdamW([]*tensor.Tensor{param(1)}, 1,
			optim.AdamWOptions{Betas: tensor.Some([2]float64{0.9, 0})}), "betas", [2]float64{0.9, 0}},
		{"eps", optim.NewAdam([]*tensor.Tensor{param(1)}, 1, optim.AdamOptions{Eps: tensor.Some(0.0)}), "eps", 0.0},
		{"default", optim.NewAdamW([]*tensor.Tensor{param(1)}, 1), "weight_decay", 0.01},
		{"learning rate", optim.NewSGD([]*tensor.Tensor{param(1)}, 0), "lr", 0.0},
		{"group", optim.NewAdamWGroups([]optim.Group{{Params: []*tensor.Tensor{param(1)},
			WeightDecay: tensor.Some(0.0)}}, 1), "weight_decay", 0.0},
		{"group's rate", optim.NewAdamWGroups([]optim.Group{{Params: []*tensor.Tensor{param(1)}, LR: tensor.Some(0.0)}},
			1), "lr", 0.0},
		{"group's betas", optim.NewAdamGroups([]optim.Group{{Params: []*tensor.Tensor{param(1)},
			Betas: tensor.Some([2]float64{})}}, 1), "betas", [2]float64{}},
		{"group without", optim.NewAdamWGroups([]optim.Group{{Params: []*tensor.Tensor{param(1)}}}, 1), "weight_decay",
			0.01},
	} {
		g := c.opt.ParamGroups()[0]
		got := g.Get(c.key)
		if c.key != "betas" {
			got = g.Float(c.key)
		}
		if got != c.want {
			t.Errorf("%s: %s is %v, want %v", c.name, c.key, got, c.want)
		}
	}
	p := param(1)
	opt := optim.NewAdamW([]*tensor.Tensor{p}, 0.5, optim.AdamWOptions{WeightDecay: tensor.Some(0.0)})
	grad(p, 0)
	opt.Step()
	near(t, "undecayed", values(p), []float64{1})
}

// Steps of one optimizer that meet are refused with an error that says so; the other one is not disturbed.
func TestStepsAtOnce(t *testing.T) {
	p := tensor.FromSlice(make([]float32, 1000)).SetRequiresGrad(true)
	p.SetGrad(tensor.FromSlice(make([]float32, 1000)))
	opt := optim.NewAdam([]*tensor.Tensor{p}, 0.1)
	inside, leave := make(chan bool), make(chan bool)
	opt.RegisterStepPreHook(func(optim.Optimizer) {
		inside <- true
		<-leave
	})
	done := make(chan error)
	go func() { done <- tensor.Try(opt.Step) }()
	<-inside
	err := tensor.Try(opt.Step)
	var e *tensor.Error
	if !errors.As(err, &e) || !strings.Contains(err.Error(),
		"Adam.Step was called while another Step of the same optimizer runs") {
		t.Errorf("the second step: %v", err)
	}
	leave <- true
	if err := <-done; err != nil {
		t.Errorf("the first step: %v", err)
	}
	if n := opt.State(p).Tensor("step").Item(); n != 1 {
		t.Errorf("%v steps", n)
	}

	// And without anything that makes them meet.
	opt = optim.NewAdam([]*tensor.Tensor{p}, 0.1)
	var wg sync.WaitGroup
	var taken atomic.Int64
	for range 4 {
		wg.Go(func() {
			for range 200 {
				err := tensor.Try(opt.Step)
				if err == nil {
					taken.Add(1)
				} else if !strings.Contains(err.Error(), "belongs to one goroutine at a time") {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n := opt.State(p).Tensor("step").Item(); n != float64(taken.Load()) {
		t.Errorf("%v steps, %d were taken", n, taken.Load())
	}
}

// After a step that failed the optimizer can be used again.
func TestStepAfterError(t *testing.T) {
	p := param(1)
	opt := optim.NewSGD([]*tensor.Tensor{p}, 0.5)
	remove := opt.RegisterStepPreHook(func(optim.Optimizer) { tensor.Fail(tensor.ErrValue, "no") })
	if err := tensor.Try(opt.Step); err == nil {
		t.Error("no error")
	}
	remove()
	grad(p, 1)
	opt.Step()
	near(t, "p", values(p), []float64{0.5})
}

// seen collects the names of the operators that a layer sees.
type seen struct{ names []string }

func (s *seen) Rank() tensor.Rank { return tensor.RankTrace }

func (s *seen) Call(c *tensor.Ctx, next func()) {
	s.names = append(s.names, c.Op().FullName())
	next()
}

// A step is calls of PyTorch's operators.
func TestStepIsOperators(t *testing.T) {
	p, q := param(1), tensor.FromSlice([]float32{1}).SetRequiresGrad(true)
	for _, c := range []struct {
		opt  optim.Optimizer
		want string
	}{
		{optim.NewSGD([]*tensor.Tensor{p}, 0.1), "aten::_fused_sgd_"},
		{optim.NewAdam([]*tensor.Tensor{p}, 0.1), "aten::_foreach_add_.Scalar aten::_fused_adam_"},
		{optim.NewAdamW([]*tensor.Tensor{p}, 0.1), "aten::_foreach_add_.Scalar aten::_fused_adamw_"},
		{optim.NewAdamW([]*tensor.Tensor{p, q}, 0.1),
			"aten::_foreach_add_.Scalar aten::_fused_adamw_ aten::_foreach_add_.Scalar aten::_fused_adamw_"},
	} {
		grad(p, 1)
		q.SetGrad(tensor.FromSlice([]float32{1}))
		c.opt.Step()
		var s seen
		tensor.WithLayer(&s, c.opt.Step)
		if got := strings.Join(s.names, " "); got != c.want {
			t.Errorf("a step of %T is %s, want %s", c.opt, got, c.want)
		}
	}
}

// A learning rate may be a tensor, as in PyTorch's files.
func TestTensorLR(t *testing.T) {
	for _, mk := range []func(p []*tensor.Tensor) optim.Optimizer{
		func(p []*tensor.Tensor) optim.Optimizer { return optim.NewSGD(p, 0.25) },
		func(p []*tensor.Tensor) optim.Optimizer { return optim.NewAdamW(p, 0.25) },
	} {
		p, q := param(1), param(1)
		a, b := mk([]*tensor.Tensor{p}), mk([]*tensor.Tensor{q})
		b.ParamGroups()[0].Set("lr", tensor.FromSlice([]float32{0.25}, []int{}...))
		for range 2 {
			grad(p, 1)
			grad(q, 1)
			a.Step()
			b.Step()
		}
		near(t, "q", values(q), values(p))
	}
}

// A gradient that holds places of memory twice is read like any other.
func TestExpandedGradient(t *testing.T) {
	p := param(1, 2)
	p.SetGrad(tensor.FromSlice([]float64{1}).Expand([]int{2}))
	optim.NewSGD([]*tensor.Tensor{p}, 0.5).Step()
	near(t, "p", values(p), []float64{0.5, 1.5})
}
