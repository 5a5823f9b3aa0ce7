package optcheck

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/optim"
	"github.com/gotorch-dev/torch/optim/lr"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/tensor"
)

type scheduleSpec struct {
	Cls    string
	Kwargs map[string]any
}

type scheduleRecord struct {
	scheduleSpec
	Base       map[string]any
	Schedulers []scheduleSpec
	Milestones []int
	Metric     []float64
	LR         [][]float64
	Momentum   [][]float64
	StateAt30  json.RawMessage `json:"state_at_30"`
	State      json.RawMessage
}

func checkSchedules(path string, o Options, t *golden.Tally) error {
	var index struct{ Schedules []scheduleRecord }
	if err := golden.ReadJSON(path, &index); err != nil {
		return err
	}
	for i := range index.Schedules {
		r := &index.Schedules[i]
		if o.Only == nil || o.Only.MatchString(r.Cls) {
			t.Add(r.Cls, "schedule "+strconv.Itoa(i), golden.Guard(func() error { return checkSchedule(r) }))
		}
	}
	return nil
}

func baseOptimizer(base map[string]any) optim.Optimizer {
	param := func() []*tensor.Tensor { return []*tensor.Tensor{tensor.FromSlice([]float32{0}).SetRequiresGrad(true)} }
	groups := []optim.Group{{Params: param()}}
	more, _ := base["groups"].([]any)
	for _, g := range more {
		og := group(g.(map[string]any), nil)
		og.Params = param()
		groups = append(groups, og)
	}
	name, _ := base["opt"].(string)
	return Make(name, groups, num(base, "lr"), base)
}

// stepper is a scheduler of either kind.
type stepper interface {
	LastLR() []float64
	StateDict() *serialize.Dict
	LoadStateDict(*serialize.Dict) error
}

func checkSchedule(r *scheduleRecord) error {
	opt := baseOptimizer(r.Base)
	s, err := newSchedule(r, opt)
	if err != nil {
		return err
	}
	if err := followSchedule(r, opt, s, 0, nil); err != nil {
		return err
	}
	if err := sameJSON("", s.StateDict(), r.State); err != nil {
		return fmt.Errorf("state: %w", err)
	}
	// A fresh scheduler that takes over the state of another one, with its optimizer's settings, goes on as that would
	// have.
	opt1 := baseOptimizer(r.Base)
	s1, err := newSchedule(r, opt1)
	if err != nil {
		return err
	}
	opt2 := baseOptimizer(r.Base)
	s2, err := newSchedule(r, opt2)
	if err != nil {
		return err
	}
	return followSchedule(r, opt1, s1, 0, func() (optim.Optimizer, stepper, error) {
		if err := sameJSON("", s1.StateDict(), r.StateAt30); err != nil {
			return nil, nil, fmt.Errorf("state at 30: %w", err)
		}
		if err := opt2.LoadStateDict(opt1.StateDict()); err != nil {
			return nil, nil, err
		}
		return opt2, s2, s2.LoadStateDict(s1.StateDict())
	})
}

// followSchedule compares the rates step by step; at step 30 it goes on with what swap returns.
func followSchedule(r *scheduleRecord, opt optim.Optimizer, s stepper, from int,
	swap func() (optim.Optimizer, stepper, error)) error {
	for t := from; t < len(r.LR); t++ {
		if t == 30 && swap != nil {
			var err error
			if opt, s, err = swap(); err != nil {
				return err
			}
		}
		for i, g := range opt.ParamGroups() {
			if want := r.LR[t][i]; !near(g.LR(), want) {
				return fmt.Errorf("rate of group %d at step %d is %.17g, want %.17g", i, t, g.LR(), want)
			}
			if r.Momentum != nil {
				m := g.Float("momentum")
				if g.Has("betas") {
					m = g.Betas()[0]
				}
				if want := r.Momentum[t][i]; !near(m, want) {
					return fmt.Errorf("momentum of group %d at step %d is %.17g, want %.17g", i, t, m, want)
				}
			}
		}
		opt.Step()
		switch x := s.(type) {
		case lr.Scheduler:
			x.Step()
		case *lr.ReduceLROnPlateau:
			x.Step(r.Metric[t])
		}
	}
	return nil
}

func near(got, want float64) bool {
	return got == want || math.Abs(got-want) <= 1e-9*math.Abs(want)+1e-18
}

// newSchedule makes a scheduler.
func newSchedule(r *scheduleRecord, opt optim.Optimizer) (stepper, error) {
	switch r.Cls {
	case "ReduceLROnPlateau":
		k := r.Kwargs
		o := lr.PlateauOptions{Factor: explicit(k, "factor"), Threshold: explicit(k, "threshold"),
			Cooldown: int(num(k, "cooldown")), Eps: explicit(k, "eps")}
		if k["mode"] == "max" {
			o.Mode = lr.Max
		}
		if k["threshold_mode"] == "abs" {
			o.ThresholdMode = lr.Abs
		}
		if _, ok := k["patience"]; ok {
			o.Patience = tensor.Some(int(num(k, "patience")))
		}
		o.MinLR, o.MinLRs = oneOrList(k, "min_lr")
		return lr.NewReduceLROnPlateau(opt, o), nil
	case "SequentialLR", "ChainedScheduler":
		var l []lr.Scheduler
		for _, spec := range r.Schedulers {
			s, err := simple(spec, opt)
			if err != nil {
				return nil, err
			}
			l = append(l, s)
		}
		if r.Cls == "ChainedScheduler" {
			return lr.NewChainedScheduler(l...), nil
		}
		return lr.NewSequentialLR(opt, l, r.Milestones), nil
	}
	return simple(r.scheduleSpec, opt)
}

func oneOrList(k map[string]any, key string) (float64, []float64) {
	l, ok := k[key].([]any)
	if !ok {
		return num(k, key), nil
	}
	out := make([]float64, len(l))
	for i, e := range l {
		out[i] = e.(float64)
	}
	return 0, out
}

func simple(spec scheduleSpec, opt optim.Optimizer) (lr.Scheduler, error) {
	k := spec.Kwargs
	n := func(key string) int { return int(num(k, key)) }
	anneal := lr.Cos
	if k["anneal_strategy"] == "linear" {
		anneal = lr.Linear
	}
	off := func(key string) bool { b, ok := k[key].(bool); return ok && !b }
	switch spec.Cls {
	case "StepLR":
		return lr.NewStepLR(opt, n("step_size"), lr.Options{Gamma: explicit(k, "gamma")}), nil
	case "MultiStepLR":
		return lr.NewMultiStepLR(opt, ints(k["milestones"]), lr.Options{Gamma: explicit(k, "gamma")}), nil
	case "ConstantLR":
		return lr.NewConstantLR(opt, lr.FactorOptions{Factor: explicit(k, "factor"),
			TotalIters: explicitInt(k, "total_iters")}), nil
	case "LinearLR":
		return lr.NewLinearLR(opt, lr.LinearOptions{StartFactor: explicit(k, "start_factor"),
			EndFactor: explicit(k, "end_factor"), TotalIters: explicitInt(k, "total_iters")}), nil
	case "ExponentialLR":
		return lr.NewExponentialLR(opt, num(k, "gamma")), nil
	case "PolynomialLR":
		return lr.NewPolynomialLR(opt, lr.PolynomialOptions{TotalIters: explicitInt(k, "total_iters"),
			Power: explicit(k, "power")}), nil
	case "CosineAnnealingLR":
		return lr.NewCosineAnnealingLR(opt, n("T_max"), lr.CosineOptions{EtaMin: num(k, "eta_min")}), nil
	case "CosineAnnealingWarmRestarts":
		return lr.NewCosineAnnealingWarmRestarts(opt, n("T_0"),
			lr.RestartOptions{TMult: explicitInt(k, "T_mult"), EtaMin: num(k, "eta_min")}), nil
	case "CyclicLR":
		o := lr.CyclicOptions{StepSizeUp: explicitInt(k, "step_size_up"),
			StepSizeDown: explicitInt(k, "step_size_down"), Gamma: explicit(k, "gamma"),
			NoCycleMomentum: off("cycle_momentum"), BaseMomentum: explicit(k, "base_momentum"),
			MaxMomentum: explicit(k, "max_momentum")}
		switch k["mode"] {
		case "triangular2":
			o.Mode = lr.Triangular2
		case "exp_range":
			o.Mode = lr.ExpRange
		}
		var base, most float64
		base, o.BaseLRs = oneOrList(k, "base_lr")
		most, o.MaxLRs = oneOrList(k, "max_lr")
		return lr.NewCyclicLR(opt, base, most, o), nil
	case "OneCycleLR":
		o := lr.OneCycleOptions{Epochs: n("epochs"), StepsPerEpoch: n("steps_per_epoch"),
			PctStart: explicit(k, "pct_start"), Anneal: anneal,
			NoCycleMomentum: off("cycle_momentum"), DivFactor: explicit(k, "div_factor"),
			FinalDivFactor: explicit(k, "final_div_factor"), ThreePhase: flag(k, "three_phase"),
			BaseMomentum: explicit(k, "base_momentum"), MaxMomentum: explicit(k, "max_momentum")}
		var most float64
		most, o.MaxLRs = oneOrList(k, "max_lr")
		return lr.NewOneCycleLR(opt, most, n("total_steps"), o), nil
	case "SWALR":
		o := lr.SWAOptions{Anneal: anneal}
		if _, ok := k["anneal_epochs"]; ok {
			o.AnnealEpochs = tensor.Some(n("anneal_epochs"))
		}
		return lr.NewSWALR(opt, num(k, "swa_lr"), o), nil
	case "LambdaLR", "MultiplicativeLR":
		f := lambdas(k["lr_lambda"])
		if spec.Cls == "LambdaLR" {
			return lr.NewLambdaLR(opt, f[0], f[1:]...), nil
		}
		return lr.NewMultiplicativeLR(opt, f[0], f[1:]...), nil
	}
	return nil, golden.Skip("no scheduler " + spec.Cls + " yet")
}

func lambdas(v any) []func(int) float64 {
	if l, ok := v.([]any); ok {
		var out []func(int) float64
		for _, e := range l {
			out = append(out, lambdas(e)...)
		}
		return out
	}
	m := v.(map[string]any)
	return []func(int) float64{func(e int) float64 {
		switch m["fn"] {
		case "pow":
			return math.Pow(num(m, "base"), float64(e))
		case "inv":
			return 1 / (1 + num(m, "k")*float64(e))
		}
		return num(m, "value")
	}}
}

// sameJSON compares a state dict with its JSON form, in which infinities are texts and dict keys always text.
func sameJSON(at string, got any, raw json.RawMessage) error {
	var want any
	if err := json.Unmarshal(raw, &want); err != nil {
		return err
	}
	return sameValue(at, got, want)
}

func sameValue(at string, got, want any) error {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(*serialize.Dict)
		if !ok {
			return fmt.Errorf("%s is a %T, want a dict", at, got)
		}
		if g.Len() != len(w) {
			return fmt.Errorf("%s has %d keys, want %d", at, g.Len(), len(w))
		}
		for k, e := range w {
			var key any = k
			if !g.Has(key) {
				if i, err := strconv.Atoi(k); err == nil {
					key = i
				}
			}
			if !g.Has(key) {
				return fmt.Errorf("%s lacks the key %s", at, k)
			}
			if err := sameValue(at+"."+k, g.Get(key), e); err != nil {
				return err
			}
		}
		return nil
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return fmt.Errorf("%s is %v, want %v", at, got, want)
		}
		for i := range w {
			if err := sameValue(fmt.Sprintf("%s[%d]", at, i), g[i], w[i]); err != nil {
				return err
			}
		}
		return nil
	case float64:
		if g, ok := float(got); ok && near(g, w) {
			return nil
		}
	case string:
		if got == want {
			return nil
		}
		if f, ok := got.(float64); ok && (w == "inf" && math.IsInf(f, 1) || w == "-inf" && math.IsInf(f, -1)) {
			return nil
		}
	default:
		if got == want {
			return nil
		}
	}
	return fmt.Errorf("%s is %v, want %v", at, got, want)
}
