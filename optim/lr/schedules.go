package lr

import (
	"fmt"
	"math"
	"slices"

	"github.com/gotorch-dev/torch/optim"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/tensor"
)

// Options are those of the schedules that multiply by a factor.
type Options struct {
	// Gamma is the factor (default 0.1).
	Gamma tensor.Opt[float64]
	// LastEpoch resumes after that many steps; the optimizer's groups must have "initial_lr", as they have after
	// loading their state.
	LastEpoch tensor.Opt[int]
}

// StepLR multiplies the rate by gamma every stepSize epochs.
type StepLR struct {
	base
	stepSize int
	gamma    float64
}

// NewStepLR multiplies the rate by Gamma every stepSize epochs.
func NewStepLR(opt optim.Optimizer, stepSize int, opts ...Options) *StepLR {
	if stepSize <= 0 {
		tensor.Fail(tensor.ErrValue, "StepLR: step_size is %d, want a positive number", stepSize)
	}
	o := first(opts)
	s := &StepLR{stepSize: stepSize, gamma: o.Gamma.Or(0.1)}
	s.before = []field{integer("step_size", &s.stepSize), number("gamma", &s.gamma)}
	s.next = func() []float64 {
		if s.lastEpoch == 0 || s.lastEpoch%s.stepSize != 0 {
			return s.current()
		}
		return s.scaled(s.gamma)
	}
	s.closed = func() []float64 {
		return s.ofBase(func(b float64) float64 { return b * math.Pow(s.gamma, float64(s.lastEpoch/s.stepSize)) })
	}
	s.start(opt, o.LastEpoch)
	return s
}

// MultiStepLR multiplies the rate by gamma at given epochs.
type MultiStepLR struct {
	base
	milestones map[int]int // epoch and how often it was given
	gamma      float64
}

// NewMultiStepLR multiplies the rate by Gamma at each of the milestones; one given twice counts twice.
func NewMultiStepLR(opt optim.Optimizer, milestones []int, opts ...Options) *MultiStepLR {
	o := first(opts)
	s := &MultiStepLR{milestones: map[int]int{}, gamma: o.Gamma.Or(0.1)}
	for _, m := range milestones {
		s.milestones[m]++
	}
	s.before = []field{{"milestones", s.saveMilestones, s.loadMilestones}, number("gamma", &s.gamma)}
	s.next = func() []float64 {
		n := s.milestones[s.lastEpoch]
		if n == 0 {
			return s.current()
		}
		return s.scaled(math.Pow(s.gamma, float64(n)))
	}
	s.closed = func() []float64 {
		n := 0
		for m, times := range s.milestones {
			if m <= s.lastEpoch {
				n += times
			}
		}
		return s.ofBase(func(b float64) float64 { return b * math.Pow(s.gamma, float64(n)) })
	}
	s.start(opt, o.LastEpoch)
	return s
}

func (s *MultiStepLR) saveMilestones() any {
	d := serialize.NewDict()
	keys := []int{}
	for m := range s.milestones {
		keys = append(keys, m)
	}
	slices.Sort(keys)
	for _, m := range keys {
		d.Set(m, s.milestones[m])
	}
	return d
}

func (s *MultiStepLR) loadMilestones(v any) error {
	d, ok := v.(*serialize.Dict)
	if !ok {
		return fmt.Errorf("got a %T, want a dict of counts", v)
	}
	m := map[int]int{}
	for k, n := range d.All() {
		ki, ok1 := k.(int)
		ni, ok2 := n.(int)
		if !ok1 || !ok2 {
			return fmt.Errorf("got %v: %v, want integers", k, n)
		}
		m[ki] = ni
	}
	s.milestones = m
	return nil
}

// FactorOptions are the options of ConstantLR.
type FactorOptions struct {
	// Factor multiplies the rate at first (default 1/3).
	Factor tensor.Opt[float64]
	// TotalIters is the number of epochs with the factor (default 5).
	TotalIters tensor.Opt[int]
	LastEpoch  tensor.Opt[int]
}

// ConstantLR multiplies the rate by a factor for the first epochs.
type ConstantLR struct {
	base
	factor float64
	total  int
}

// NewConstantLR multiplies the rate by Factor until TotalIters epochs have passed.
func NewConstantLR(opt optim.Optimizer, opts ...FactorOptions) *ConstantLR {
	o := first(opts)
	s := &ConstantLR{factor: o.Factor.Or(1.0 / 3), total: o.TotalIters.Or(5)}
	if s.factor > 1 || s.factor < 0 {
		tensor.Fail(tensor.ErrValue, "Constant multiplicative factor expected to be between 0 and 1.")
	}
	s.before = []field{number("factor", &s.factor), integer("total_iters", &s.total)}
	s.next = func() []float64 {
		switch s.lastEpoch {
		case 0:
			return s.scaled(s.factor)
		case s.total:
			if s.factor == 0 {
				tensor.Fail(tensor.ErrValue,
					"ConstantLR: a rate that was multiplied by a factor of 0 cannot be restored: give a factor above 0")
			}
			return s.scaled(1 / s.factor)
		}
		return s.current()
	}
	s.closed = func() []float64 {
		f := s.factor
		if s.lastEpoch >= s.total {
			f += 1 - s.factor
		}
		return s.ofBase(func(b float64) float64 { return b * f })
	}
	s.start(opt, o.LastEpoch)
	return s
}

// LinearOptions are the options of LinearLR.
type LinearOptions struct {
	// StartFactor multiplies the rate in the first epoch (default 1/3).
	StartFactor tensor.Opt[float64]
	// EndFactor multiplies it at the end (default 1).
	EndFactor tensor.Opt[float64]
	// TotalIters is the number of epochs from one to the other (default 5).
	TotalIters tensor.Opt[int]
	LastEpoch  tensor.Opt[int]
}

// LinearLR changes a factor of the rate linearly: a warm-up.
type LinearLR struct {
	base
	from, to float64
	total    int
}

// NewLinearLR changes the factor from StartFactor to EndFactor in TotalIters epochs.
func NewLinearLR(opt optim.Optimizer, opts ...LinearOptions) *LinearLR {
	o := first(opts)
	s := &LinearLR{from: o.StartFactor.Or(1.0 / 3), to: o.EndFactor.Or(1), total: o.TotalIters.Or(5)}
	if s.from > 1 || s.from <= 0 {
		tensor.Fail(tensor.ErrValue, "Starting multiplicative factor expected to be greater than 0 and less or equal "+
			"to 1.")
	}
	if s.to > 1 || s.to < 0 {
		tensor.Fail(tensor.ErrValue, "Ending multiplicative factor expected to be between 0 and 1.")
	}
	s.before = []field{number("start_factor", &s.from), number("end_factor", &s.to), integer("total_iters", &s.total)}
	s.next = func() []float64 {
		switch {
		case s.lastEpoch == 0:
			return s.scaled(s.from)
		case s.initial || s.lastEpoch > s.total:
			return s.current()
		}
		return s.scaled(1 + (s.to-s.from)/(float64(s.total)*s.from+float64(s.lastEpoch-1)*(s.to-s.from)))
	}
	s.closed = func() []float64 {
		f := s.from + (s.to-s.from)*float64(min(s.total, s.lastEpoch))/float64(s.total)
		return s.ofBase(func(b float64) float64 { return b * f })
	}
	s.start(opt, o.LastEpoch)
	return s
}

// ExponentialLR multiplies the rate by gamma every epoch.
type ExponentialLR struct {
	base
	gamma float64
}

// NewExponentialLR multiplies the rate by gamma every epoch.
func NewExponentialLR(opt optim.Optimizer, gamma float64, lastEpoch ...int) *ExponentialLR {
	s := &ExponentialLR{gamma: gamma}
	s.before = []field{number("gamma", &s.gamma)}
	s.next = func() []float64 {
		if s.initial {
			return s.current()
		}
		return s.scaled(s.gamma)
	}
	s.closed = func() []float64 {
		return s.ofBase(func(b float64) float64 { return b * math.Pow(s.gamma, float64(s.lastEpoch)) })
	}
	s.start(opt, optInt(lastEpoch))
	return s
}

// PolynomialOptions are the options of PolynomialLR.
type PolynomialOptions struct {
	// TotalIters is the number of epochs until the rate is 0 (default 5).
	TotalIters tensor.Opt[int]
	// Power is the polynomial's degree (default 1).
	Power     tensor.Opt[float64]
	LastEpoch tensor.Opt[int]
}

// PolynomialLR lets the rate fall to 0 as a power of the epochs that are left.
type PolynomialLR struct {
	base
	total int
	power float64
}

// NewPolynomialLR lets the rate fall to 0 in TotalIters epochs.
func NewPolynomialLR(opt optim.Optimizer, opts ...PolynomialOptions) *PolynomialLR {
	o := first(opts)
	s := &PolynomialLR{total: o.TotalIters.Or(5), power: o.Power.Or(1)}
	s.before = []field{integer("total_iters", &s.total), number("power", &s.power)}
	s.next = func() []float64 {
		if s.initial || s.lastEpoch > s.total {
			return s.current()
		}
		n := float64(s.total)
		return s.scaled(math.Pow((1-float64(s.lastEpoch)/n)/(1-float64(s.lastEpoch-1)/n), s.power))
	}
	s.closed = func() []float64 {
		f := math.Pow(1-float64(min(s.total, s.lastEpoch))/float64(s.total), s.power)
		return s.ofBase(func(b float64) float64 { return b * f })
	}
	s.start(opt, o.LastEpoch)
	return s
}

// CosineOptions are the options of CosineAnnealingLR.
type CosineOptions struct {
	// EtaMin is the lowest rate (default 0).
	EtaMin    float64
	LastEpoch tensor.Opt[int]
}

// CosineAnnealingLR lets the rate fall along half a cosine and rise again (https://arxiv.org/abs/1608.03983, without
// restarts).
type CosineAnnealingLR struct {
	base
	tMax   int
	etaMin float64
}

// NewCosineAnnealingLR lets the rate fall to EtaMin in tMax epochs.
func NewCosineAnnealingLR(opt optim.Optimizer, tMax int, opts ...CosineOptions) *CosineAnnealingLR {
	o := first(opts)
	s := &CosineAnnealingLR{tMax: tMax, etaMin: o.EtaMin}
	if tMax <= 0 {
		tensor.Fail(tensor.ErrValue, "CosineAnnealingLR: T_max is %d, want a positive number", tMax)
	}
	s.before = []field{integer("T_max", &s.tMax), number("eta_min", &s.etaMin)}
	s.closed = func() []float64 {
		return s.ofBase(func(b float64) float64 {
			return s.etaMin + (b-s.etaMin)*(1+math.Cos(math.Pi*float64(s.lastEpoch)/float64(s.tMax)))/2
		})
	}
	s.next = func() []float64 {
		e, t := s.lastEpoch, float64(s.tMax)
		switch {
		case s.initial:
			return s.current()
		case s.stepCount == 1 && e > 0:
			return s.ofBase(func(b float64) float64 {
				return s.etaMin +
					(b-s.etaMin)*(1+math.Cos(float64(e)*math.Pi/t))/2
			})
		case (e-1-s.tMax)%(2*s.tMax) == 0: // the recurrence would divide by zero here
			out := s.current()
			for i, b := range s.baseLRs {
				out[i] += (b - s.etaMin) * (1 - math.Cos(math.Pi/t)) / 2
			}
			return out
		}
		f := (1 + math.Cos(math.Pi*float64(e)/t)) / (1 + math.Cos(math.Pi*float64(e-1)/t))
		out := s.current()
		for i := range out {
			out[i] = f*(out[i]-s.etaMin) + s.etaMin
		}
		return out
	}
	s.start(opt, o.LastEpoch)
	return s
}

// RestartOptions are the options of CosineAnnealingWarmRestarts.
type RestartOptions struct {
	// TMult multiplies the period after each restart (default 1).
	TMult tensor.Opt[int]
	// EtaMin is the lowest rate (default 0).
	EtaMin    float64
	LastEpoch tensor.Opt[int]
}

// CosineAnnealingWarmRestarts lets the rate fall along half a cosine and begins again
// (https://arxiv.org/abs/1608.03983).
type CosineAnnealingWarmRestarts struct {
	base
	t0, ti, tMult int
	tCur          float64 // may be a fraction after StepTo
	etaMin        float64
}

// NewCosineAnnealingWarmRestarts restarts after t0 epochs, and then after periods that grow by TMult.
func NewCosineAnnealingWarmRestarts(opt optim.Optimizer, t0 int, opts ...RestartOptions) *CosineAnnealingWarmRestarts {
	o := first(opts)
	s := &CosineAnnealingWarmRestarts{t0: t0, ti: t0, tMult: o.TMult.Or(1), etaMin: o.EtaMin,
		tCur: float64(o.LastEpoch.Or(-1))}
	if t0 <= 0 {
		tensor.Fail(tensor.ErrValue, "Expected positive integer T_0, but got %d", t0)
	}
	if s.tMult < 1 {
		tensor.Fail(tensor.ErrValue, "Expected integer T_mult >= 1, but got %d", s.tMult)
	}
	s.before = []field{integer("T_0", &s.t0), integer("T_i", &s.ti), integer("T_mult", &s.tMult),
		number("eta_min", &s.etaMin),
		{"T_cur", func() any {
			if s.tCur == math.Trunc(s.tCur) {
				return int(s.tCur)
			}
			return s.tCur
		}, number("", &s.tCur).set}}
	s.next = func() []float64 {
		return s.ofBase(func(b float64) float64 {
			return s.etaMin + (b-s.etaMin)*(1+math.Cos(math.Pi*s.tCur/float64(s.ti)))/2
		})
	}
	s.opt = opt
	s.startWith(opt, o.LastEpoch)
	return s
}

// startWith is start with this type's own step.
func (s *CosineAnnealingWarmRestarts) startWith(opt optim.Optimizer, lastEpoch tensor.Opt[int]) {
	next := s.next
	s.next = s.current // the shared start must not count an epoch in its own way
	s.start(opt, lastEpoch)
	s.next = next
	s.lastEpoch = lastEpoch.Or(-1)
	s.initialStep()
}

func (s *CosineAnnealingWarmRestarts) initialStep() {
	s.stepCount = 0
	s.Step()
}

// Step goes on to the next epoch.
func (s *CosineAnnealingWarmRestarts) Step() {
	if s.lastEpoch < 0 {
		s.StepTo(0)
		return
	}
	s.tCur++
	if s.tCur >= float64(s.ti) {
		s.tCur = math.Mod(s.tCur, float64(s.ti))
		s.ti *= s.tMult
	}
	s.lastEpoch++
	s.apply(s.next())
}

// StepTo goes to an epoch, which may be a fraction: epoch + batch/batches within an epoch.
func (s *CosineAnnealingWarmRestarts) StepTo(epoch float64) {
	if epoch < 0 {
		tensor.Fail(tensor.ErrValue, "Expected non-negative epoch, but got %g", epoch)
	}
	t0, mult := float64(s.t0), float64(s.tMult)
	switch {
	case epoch < t0:
		s.ti, s.tCur = s.t0, epoch
	case s.tMult == 1:
		s.tCur = math.Mod(epoch, t0)
	default:
		n := math.Trunc(math.Log(epoch/t0*(mult-1)+1) / math.Log(mult))
		s.tCur = epoch - t0*(math.Pow(mult, n)-1)/(mult-1)
		s.ti = s.t0 * int(math.Pow(mult, n))
	}
	s.lastEpoch = int(math.Floor(epoch))
	s.apply(s.next())
}

// LambdaLR multiplies the base rate by a function of the epoch.
type LambdaLR struct {
	base
	fns []func(epoch int) float64
}

// NewLambdaLR multiplies each group's base rate by f(epoch). With more functions there must be one for each group.
func NewLambdaLR(opt optim.Optimizer, f func(epoch int) float64, more ...func(epoch int) float64) *LambdaLR {
	s := &LambdaLR{fns: lambdas(opt, f, more)}
	s.after = []field{noLambdas(len(s.fns))}
	s.next = func() []float64 {
		out := slices.Clone(s.baseLRs)
		for i := range out {
			out[i] *= s.fns[i](s.lastEpoch)
		}
		return out
	}
	s.start(opt, tensor.Opt[int]{})
	return s
}

// MultiplicativeLR multiplies the rate by a function of the epoch.
type MultiplicativeLR struct {
	base
	fns []func(epoch int) float64
}

// NewMultiplicativeLR multiplies each group's rate by f(epoch) every epoch but the first. With more functions there
// must be one for each group.
func NewMultiplicativeLR(opt optim.Optimizer, f func(epoch int) float64,
	more ...func(epoch int) float64) *MultiplicativeLR {
	s := &MultiplicativeLR{fns: lambdas(opt, f, more)}
	s.after = []field{noLambdas(len(s.fns))}
	s.next = func() []float64 {
		out := s.current()
		if s.initial {
			return out
		}
		for i := range out {
			out[i] *= s.fns[i](s.lastEpoch)
		}
		return out
	}
	s.start(opt, tensor.Opt[int]{})
	return s
}

func lambdas(opt optim.Optimizer, f func(int) float64, more []func(int) float64) []func(int) float64 {
	n := len(groupsOf(opt))
	if len(more) == 0 {
		return slices.Repeat([]func(int) float64{f}, n)
	}
	if 1+len(more) != n {
		tensor.Fail(tensor.ErrValue, "Expected %d lr_lambdas, but got %d", n, 1+len(more))
	}
	return append([]func(int) float64{f}, more...)
}

// noLambdas stands for functions, which cannot be saved, as in Python.
func noLambdas(n int) field {
	return field{"lr_lambdas", func() any { return make([]any, n) }, func(any) error { return nil }}
}

func optInt(l []int) tensor.Opt[int] {
	if len(l) == 0 {
		return tensor.Opt[int]{}
	}
	return tensor.Some(l[0])
}
