package lr

import (
	"fmt"
	"math"

	"github.com/gotorch-dev/torch/optim"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/tensor"
)

// CyclicMode says how the height of CyclicLR's cycles changes.
type CyclicMode int

// The modes of CyclicLR.
const (
	Triangular  CyclicMode = iota // all cycles alike
	Triangular2                   // each cycle half as high as the one before
	ExpRange                      // the height falls as Gamma^step
)

// CyclicOptions are the options of CyclicLR.
type CyclicOptions struct {
	// StepSizeUp is the number of steps of the rising half (default 2000).
	StepSizeUp tensor.Opt[int]
	// StepSizeDown is the number of steps of the falling half (default StepSizeUp).
	StepSizeDown tensor.Opt[int]
	// Mode changes the height of the cycles.
	Mode CyclicMode
	// Gamma is ExpRange's factor (default 1).
	Gamma tensor.Opt[float64]
	// ScaleFn gives the height instead of Mode, as a function of the cycle's number or, with ScaleIterations, of the
	// step's.
	ScaleFn         func(x float64) float64
	ScaleIterations bool
	// NoCycleMomentum leaves the momentum alone; otherwise it goes from MaxMomentum (default 0.9) to BaseMomentum
	// (default 0.8) while the rate goes up.
	NoCycleMomentum           bool
	BaseMomentum, MaxMomentum tensor.Opt[float64]
	// BaseLRs and MaxLRs give each group rates of its own.
	BaseLRs, MaxLRs []float64
	LastEpoch       tensor.Opt[int]
}

// CyclicLR lets the rate go up and down between two bounds (https://arxiv.org/abs/1506.01186). It steps after every
// batch.
type CyclicLR struct {
	base
	maxLRs          []float64
	total, ratio    float64
	mode            CyclicMode
	gamma           float64
	iterations      int // 1: the scale is a function of the step
	custom          func(float64) float64
	cycleMomentum   bool
	beta1           bool
	baseMom, maxMom []float64
}

// NewCyclicLR lets the rate go between baseLR and maxLR. It panics when the optimizer has neither momentum nor betas
// and NoCycleMomentum is not set.
func NewCyclicLR(opt optim.Optimizer, baseLR, maxLR float64, opts ...CyclicOptions) *CyclicLR {
	o := first(opts)
	s := &CyclicLR{mode: o.Mode, gamma: o.Gamma.Or(1), custom: o.ScaleFn, cycleMomentum: !o.NoCycleMomentum}
	bases := perGroup("base_lr", opt, baseLR, o.BaseLRs)
	s.maxLRs = perGroup("max_lr", opt, maxLR, o.MaxLRs)
	up := float64(o.StepSizeUp.Or(2000))
	down := float64(o.StepSizeDown.Or(int(up)))
	if up <= 0 || down < 0 {
		tensor.Fail(tensor.ErrValue, "CyclicLR: step_size_up is %g and step_size_down %g, want positive numbers", up,
			down)
	}
	s.total = up + down
	s.ratio = up / s.total
	switch {
	case s.custom != nil && o.ScaleIterations, s.custom == nil && s.mode == ExpRange:
		s.iterations = 1
	}
	s.before = []field{floats("max_lrs", &s.maxLRs), number("total_size", &s.total), number("step_ratio", &s.ratio),
		enum("mode", &s.mode, "triangular", "triangular2", "exp_range"), number("gamma", &s.gamma),
		enum2("scale_mode", &s.iterations, "cycle", "iterations"), boolean("cycle_momentum", &s.cycleMomentum)}
	fresh := o.LastEpoch.Or(-1) == -1
	if fresh {
		for i, g := range groupsOf(opt) {
			g.SetLR(bases[i])
		}
	}
	if s.cycleMomentum {
		s.beta1 = hasBetas(opt)
		s.baseMom = perGroup("base_momentum", opt, o.BaseMomentum.Or(0.8), nil)
		s.maxMom = perGroup("max_momentum", opt, o.MaxMomentum.Or(0.9), nil)
		if fresh {
			startMomentum(opt, s.beta1, s.baseMom, s.maxMom)
		}
		s.before = append(s.before, boolean("use_beta1", &s.beta1), floats("base_momentums", &s.baseMom),
			floats("max_momentums", &s.maxMom))
	}
	s.after = []field{{"_scale_fn_custom", func() any { return nil }, func(any) error { return nil }}}
	s.next = s.rates
	s.baseLRs = nil
	// The first step is taken from the rates that the groups had at first, and only then the bounds take their place,
	// as in PyTorch.
	s.start(opt, o.LastEpoch)
	s.baseLRs = bases
	return s
}

func (s *CyclicLR) scale(cycle float64) float64 {
	x := cycle
	if s.iterations != 0 {
		x = float64(s.lastEpoch)
	}
	switch {
	case s.custom != nil:
		return s.custom(x)
	case s.mode == Triangular2:
		return 1 / math.Pow(2, x-1)
	case s.mode == ExpRange:
		return math.Pow(s.gamma, x)
	}
	return 1
}

func (s *CyclicLR) rates() []float64 {
	e := float64(s.lastEpoch)
	cycle := math.Floor(1 + e/s.total)
	x := 1 + e/s.total - cycle
	height := x / s.ratio
	if x > s.ratio {
		height = (x - 1) / (s.ratio - 1)
	}
	out := make([]float64, len(s.maxLRs))
	for i, b := range s.baseLRs {
		out[i] = b + (s.maxLRs[i]-b)*height*s.scale(cycle)
	}
	if s.cycleMomentum {
		for i, g := range s.opt.ParamGroups() {
			setMomentum(g, s.beta1, s.maxMom[i]-(s.maxMom[i]-s.baseMom[i])*height*s.scale(cycle))
		}
	}
	return out
}

// enum2 is enum for a flag.
func enum2(name string, p *int, names ...string) field { return enum(name, p, names...) }

// hasBetas tells whether the momentum of an optimizer is beta1; one that has neither is a mistake.
func hasBetas(opt optim.Optimizer) bool {
	d := opt.Defaults()
	if !d.Has("betas") && !d.Has("momentum") {
		tensor.Fail(tensor.ErrValue, "optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
	}
	return d.Has("betas")
}

func startMomentum(opt optim.Optimizer, beta1 bool, base, most []float64) {
	for i, g := range groupsOf(opt) {
		setMomentum(g, beta1, most[i])
		g.Set("max_momentum", most[i])
		g.Set("base_momentum", base[i])
	}
}

func setMomentum(g *optim.ParamGroup, beta1 bool, m float64) {
	if beta1 {
		g.Set("betas", [2]float64{m, g.Betas()[1]})
		return
	}
	g.Set("momentum", m)
}

// Anneal is the form of a change from one rate to another.
type Anneal int

// The forms.
const (
	Cos    Anneal = iota // half a cosine
	Linear               // a straight line
)

// OneCycleOptions are the options of OneCycleLR.
type OneCycleOptions struct {
	// Epochs and StepsPerEpoch give the number of steps when totalSteps is 0.
	Epochs, StepsPerEpoch int
	// PctStart is the part of the cycle in which the rate rises (default 0.3).
	PctStart tensor.Opt[float64]
	// Anneal is the form of the change.
	Anneal Anneal
	// NoCycleMomentum leaves the momentum alone; otherwise it goes from MaxMomentum (default 0.95) to BaseMomentum
	// (default 0.85) and back.
	NoCycleMomentum           bool
	BaseMomentum, MaxMomentum tensor.Opt[float64]
	// DivFactor: the first rate is maxLR/DivFactor (default 25).
	DivFactor tensor.Opt[float64]
	// FinalDivFactor: the last rate is the first divided by it (default 1e4).
	FinalDivFactor tensor.Opt[float64]
	// ThreePhase falls back to the first rate before it falls on.
	ThreePhase bool
	// MaxLRs gives each group a highest rate of its own.
	MaxLRs    []float64
	LastEpoch tensor.Opt[int]
}

type phase struct {
	end                  float64
	whole                bool // Python has an int here
	lr0, lr1, mom0, mom1 string
}

// OneCycleLR lets the rate rise once and fall (https://arxiv.org/abs/1708.07120). It steps after every batch.
type OneCycleLR struct {
	base
	total         int
	phases        []phase
	anneal        Anneal
	cycleMomentum bool
	beta1         bool
}

// NewOneCycleLR goes through one cycle of totalSteps steps up to maxLR. A step beyond the end panics.
func NewOneCycleLR(opt optim.Optimizer, maxLR float64, totalSteps int, opts ...OneCycleOptions) *OneCycleLR {
	o := first(opts)
	s := &OneCycleLR{total: totalSteps, anneal: o.Anneal, cycleMomentum: !o.NoCycleMomentum}
	if totalSteps == 0 && o.Epochs > 0 && o.StepsPerEpoch > 0 {
		s.total = o.Epochs * o.StepsPerEpoch
	}
	if s.total <= 0 {
		tensor.Fail(tensor.ErrValue, "You must define either total_steps OR (epochs AND steps_per_epoch): expected "+
			"positive integer total_steps, but got %d", totalSteps)
	}
	pct := o.PctStart.Or(0.3)
	if pct < 0 || pct > 1 {
		tensor.Fail(tensor.ErrValue, "Expected float between 0 and 1 pct_start, but got %g", pct)
	}
	div, finalDiv := o.DivFactor.Or(25), o.FinalDivFactor.Or(1e4)
	if div == 0 || finalDiv == 0 {
		tensor.Fail(tensor.ErrValue, "OneCycleLR: div_factor is %g and final_div_factor %g: rates are divided by them",
			div, finalDiv)
	}
	n := float64(s.total)
	up := phase{pct*n - 1, false, "initial_lr", "max_lr", "max_momentum", "base_momentum"}
	if o.ThreePhase {
		s.phases = []phase{up, {2*pct*n - 2, false, "max_lr", "initial_lr", "base_momentum", "max_momentum"},
			{n - 1, true, "initial_lr", "min_lr", "max_momentum", "max_momentum"}}
	} else {
		s.phases = []phase{up, {n - 1, true, "max_lr", "min_lr", "base_momentum", "max_momentum"}}
	}
	s.before = []field{integer("total_steps", &s.total), {"_schedule_phases", s.savePhases, s.loadPhases},
		enum("_anneal_func_type", &s.anneal, "cos", "linear"), boolean("cycle_momentum", &s.cycleMomentum)}
	fresh := o.LastEpoch.Or(-1) == -1
	if fresh {
		most := perGroup("max_lr", opt, maxLR, o.MaxLRs)
		for i, g := range groupsOf(opt) {
			g.Set("initial_lr", most[i]/div)
			g.Set("max_lr", most[i])
			g.Set("min_lr", g.Float("initial_lr")/finalDiv)
		}
	}
	if s.cycleMomentum {
		s.beta1 = hasBetas(opt)
		s.before = append(s.before, boolean("use_beta1", &s.beta1))
		if fresh {
			startMomentum(opt, s.beta1, perGroup("base_momentum", opt, o.BaseMomentum.Or(0.85), nil),
				perGroup("max_momentum", opt, o.MaxMomentum.Or(0.95), nil))
		}
	}
	s.next = s.rates
	s.start(opt, o.LastEpoch)
	return s
}

func (s *OneCycleLR) savePhases() any {
	out := []any{}
	for _, p := range s.phases {
		var end any = p.end
		if p.whole {
			end = int(p.end)
		}
		out = append(out, serialize.NewDict("end_step", end, "start_lr", p.lr0, "end_lr", p.lr1, "start_momentum",
			p.mom0, "end_momentum", p.mom1))
	}
	return out
}

func (s *OneCycleLR) loadPhases(v any) error {
	l, ok := v.([]any)
	if !ok || len(l) == 0 {
		return fmt.Errorf("got a %T, want a list of phases", v)
	}
	var out []phase
	for _, e := range l {
		d, ok := e.(*serialize.Dict)
		if !ok {
			return fmt.Errorf("got a %T, want a dict", e)
		}
		end, err := toFloat(d.Get("end_step"))
		if err != nil {
			return err
		}
		p := phase{end: end}
		_, p.whole = d.Get("end_step").(int)
		for key, dst := range map[string]*string{"start_lr": &p.lr0, "end_lr": &p.lr1, "start_momentum": &p.mom0,
			"end_momentum": &p.mom1} {
			if *dst, ok = d.Get(key).(string); !ok {
				return fmt.Errorf("%s is a %T, want a name", key, d.Get(key))
			}
		}
		out = append(out, p)
	}
	s.phases = out
	return nil
}

func (s *OneCycleLR) rates() []float64 {
	step := float64(s.lastEpoch)
	if s.lastEpoch > s.total {
		tensor.Fail(tensor.ErrValue, "Tried to step %d times. The specified number of total steps is %d", s.lastEpoch,
			s.total)
	}
	var out []float64
	for _, g := range s.opt.ParamGroups() {
		start := 0.0
		for i, p := range s.phases {
			if step > p.end && i < len(s.phases)-1 {
				start = p.end
				continue
			}
			pct := (step - start) / (p.end - start)
			out = append(out, s.between(g.Float(p.lr0), g.Float(p.lr1), pct))
			if s.cycleMomentum {
				setMomentum(g, s.beta1, s.between(g.Float(p.mom0), g.Float(p.mom1), pct))
			}
			break
		}
	}
	return out
}

func (s *OneCycleLR) between(from, to, pct float64) float64 {
	if s.anneal == Linear {
		return (to-from)*pct + from
	}
	return to + (from-to)/2*(math.Cos(math.Pi*pct)+1)
}

// SWAOptions are the options of SWALR.
type SWAOptions struct {
	// AnnealEpochs is the number of epochs until the rate is reached (default 10).
	AnnealEpochs tensor.Opt[int]
	// Anneal is the form of the change.
	Anneal Anneal
	// LRs gives each group a rate of its own.
	LRs       []float64
	LastEpoch tensor.Opt[int]
}

// SWALR goes to a constant rate, for averaging weights late in training (https://arxiv.org/abs/1803.05407).
type SWALR struct {
	base
	anneal Anneal
	epochs int
}

// NewSWALR goes to the rate swaLR.
func NewSWALR(opt optim.Optimizer, swaLR float64, opts ...SWAOptions) *SWALR {
	o := first(opts)
	s := &SWALR{anneal: o.Anneal, epochs: o.AnnealEpochs.Or(10)}
	if s.epochs < 0 {
		tensor.Fail(tensor.ErrValue, "anneal_epochs must be equal or greater than 0, got %d", s.epochs)
	}
	rates := perGroup("swa_lr", opt, swaLR, o.LRs)
	for i, g := range groupsOf(opt) {
		g.Set("swa_lr", rates[i])
	}
	s.before = []field{enum("_anneal_strategy", &s.anneal, "cos", "linear"), integer("anneal_epochs", &s.epochs)}
	s.next = func() []float64 {
		step := s.stepCount - 1
		if s.epochs == 0 {
			step = max(1, step)
		}
		n := float64(max(1, s.epochs))
		before, now := s.alpha(float64(step-1)/n), s.alpha(float64(step)/n)
		out := s.current()
		for i, g := range s.opt.ParamGroups() {
			swa := g.Float("swa_lr")
			from := swa
			if before != 1 {
				from = (out[i] - before*swa) / (1 - before)
			}
			out[i] = swa*now + from*(1-now)
		}
		return out
	}
	s.start(opt, o.LastEpoch)
	return s
}

func (s *SWALR) alpha(t float64) float64 {
	t = max(0, min(1, t))
	if s.anneal == Linear {
		return t
	}
	return (1 - math.Cos(math.Pi*t)) / 2
}
