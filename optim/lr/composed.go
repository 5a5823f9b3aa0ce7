package lr

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/gotorch-dev/torch/optim"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/tensor"
)

// SequentialLR runs schedules one after the other.
type SequentialLR struct {
	opt        optim.Optimizer
	schedulers []Scheduler
	milestones []int
	lastEpoch  int
	lastLR     []float64
}

// NewSequentialLR runs schedulers[0] until milestones[0] steps are done, then schedulers[1] from its beginning, and so
// on.
func NewSequentialLR(opt optim.Optimizer, schedulers []Scheduler, milestones []int) *SequentialLR {
	checkAll("SequentialLR", opt, schedulers)
	if len(milestones) != len(schedulers)-1 {
		tensor.Fail(tensor.ErrValue, "Sequential Schedulers expects number of schedulers provided to be one more "+
			"than the number of milestone points, but got number of schedulers %d and the number of milestones to be "+
			"equal to %d", len(schedulers), len(milestones))
	}
	s := &SequentialLR{opt: opt, schedulers: schedulers, milestones: slices.Clone(milestones)}
	// The schedulers have each set the rates when they were made: take that back and let only the first one begin.
	for _, g := range groupsOf(opt) {
		g.SetLR(g.Float("initial_lr"))
	}
	s.undo()
	i := s.turn()
	schedulers[i].initialStep()
	s.lastLR = schedulers[i].LastLR()
	return s
}

func checkAll(name string, opt optim.Optimizer, schedulers []Scheduler) {
	if len(schedulers) == 0 {
		tensor.Fail(tensor.ErrValue, "%s expects at least one scheduler, but got no scheduler.", name)
	}
	for i, s := range schedulers {
		if s == nil {
			tensor.Fail(tensor.ErrType, "%s: scheduler %d is nil", name, i)
		}
		if s.Optimizer() != opt {
			tensor.Fail(tensor.ErrValue,
				"%s expects all schedulers to belong to the same optimizer, but got scheduler %T at index %d of another", name, s, i)
		}
	}
}

// turn is the number of the schedule whose turn it is: the milestones that have passed.
func (s *SequentialLR) turn() int { return sort.SearchInts(s.milestones, s.lastEpoch+1) }

// Step goes on to the next epoch.
func (s *SequentialLR) Step() {
	s.lastEpoch++
	i := s.turn()
	if i > 0 && s.milestones[i-1] == s.lastEpoch {
		s.schedulers[i].restart()
	} else {
		s.schedulers[i].Step()
	}
	s.lastLR = s.schedulers[i].LastLR()
}

func (s *SequentialLR) initialStep() { s.Step() }

func (s *SequentialLR) restart() {
	s.lastEpoch = 0
	s.schedulers[s.turn()].restart()
	s.lastLR = s.schedulers[s.turn()].LastLR()
}

func (s *SequentialLR) undo() {
	for _, c := range s.schedulers {
		c.undo()
	}
}

// LastLR is the rate of each group as last set.
func (s *SequentialLR) LastLR() []float64 { return slices.Clone(s.lastLR) }

// Optimizer is the optimizer whose rates are set.
func (s *SequentialLR) Optimizer() optim.Optimizer { return s.opt }

func (s *SequentialLR) fields() []field {
	return []field{{"_milestones", func() any {
		out := []any{}
		for _, m := range s.milestones {
			out = append(out, m)
		}
		return out
	}, func(v any) error {
		var f []float64
		if err := floats("", &f).set(v); err != nil {
			return err
		}
		if len(f) != len(s.milestones) {
			return fmt.Errorf("got %d milestones, the scheduler has %d", len(f), len(s.milestones))
		}
		for i, m := range f {
			s.milestones[i] = int(m)
		}
		return nil
	}}, integer("last_epoch", &s.lastEpoch), floats("_last_lr", &s.lastLR), children(s.schedulers)}
}

// StateDict is the state of all schedules.
func (s *SequentialLR) StateDict() *serialize.Dict { return stateDict(s.fields()) }

// LoadStateDict takes over a state.
func (s *SequentialLR) LoadStateDict(d *serialize.Dict) error { return loadStateDict(s.fields(), d) }

func children(l []Scheduler) field {
	return field{"_schedulers", func() any {
		out := []any{}
		for _, c := range l {
			out = append(out, c.StateDict())
		}
		return out
	}, func(v any) error {
		states, ok := v.([]any)
		if !ok || len(states) != len(l) {
			return fmt.Errorf("got %T of %d states, want a list of %d", v, len(states), len(l))
		}
		for i, c := range l {
			d, ok := states[i].(*serialize.Dict)
			if !ok {
				return fmt.Errorf("[%d] is a %T, want a dict", i, states[i])
			}
			if err := c.LoadStateDict(d); err != nil {
				return err
			}
		}
		return nil
	}}
}

// ChainedScheduler applies several schedules to the same rate, one on the other's result.
type ChainedScheduler struct {
	opt        optim.Optimizer
	schedulers []Scheduler
	lastLR     []float64
}

// NewChainedScheduler steps all schedulers, in order, at each step.
func NewChainedScheduler(schedulers ...Scheduler) *ChainedScheduler {
	if len(schedulers) == 0 {
		tensor.Fail(tensor.ErrValue, "ChainedScheduler expects at least one scheduler to be chained, but got no "+
			"scheduler.")
	}
	s := &ChainedScheduler{schedulers: schedulers}
	if schedulers[0] != nil {
		s.opt = schedulers[0].Optimizer()
	}
	checkAll("ChainedScheduler", s.opt, schedulers)
	s.remember()
	return s
}

func (s *ChainedScheduler) remember() {
	s.lastLR = nil
	for _, g := range s.opt.ParamGroups() {
		s.lastLR = append(s.lastLR, g.LR())
	}
}

// Step goes on to the next epoch.
func (s *ChainedScheduler) Step() {
	for _, c := range s.schedulers {
		c.Step()
	}
	s.remember()
}

func (s *ChainedScheduler) initialStep() { s.Step() }

func (s *ChainedScheduler) restart() {
	for _, c := range s.schedulers {
		c.restart()
	}
	s.remember()
}

func (s *ChainedScheduler) undo() {
	for _, c := range s.schedulers {
		c.undo()
	}
}

// LastLR is the rate of each group as last set.
func (s *ChainedScheduler) LastLR() []float64 { return slices.Clone(s.lastLR) }

// Optimizer is the optimizer whose rates are set.
func (s *ChainedScheduler) Optimizer() optim.Optimizer { return s.opt }

func (s *ChainedScheduler) fields() []field {
	return []field{floats("_last_lr", &s.lastLR), children(s.schedulers)}
}

// StateDict is the state of all schedules.
func (s *ChainedScheduler) StateDict() *serialize.Dict { return stateDict(s.fields()) }

// LoadStateDict takes over a state.
func (s *ChainedScheduler) LoadStateDict(d *serialize.Dict) error {
	return loadStateDict(s.fields(), d)
}

// PlateauMode says which metric is better.
type PlateauMode int

// The modes of ReduceLROnPlateau.
const (
	Min PlateauMode = iota // a loss
	Max                    // an accuracy
)

// ThresholdMode says how ReduceLROnPlateau's threshold counts.
type ThresholdMode int

// The modes of the threshold.
const (
	Rel ThresholdMode = iota // a part of the best metric
	Abs                      // a difference
)

// PlateauOptions are the options of ReduceLROnPlateau.
type PlateauOptions struct {
	Mode PlateauMode
	// Factor multiplies the rate (default 0.1).
	Factor tensor.Opt[float64]
	// Patience is the number of epochs without improvement that are let pass (default 10).
	Patience tensor.Opt[int]
	// Threshold is what counts as an improvement (default 1e-4).
	Threshold     tensor.Opt[float64]
	ThresholdMode ThresholdMode
	// Cooldown is the number of epochs after a change in which nothing is counted.
	Cooldown int
	// MinLR bounds the rate, MinLRs that of each group.
	MinLR  float64
	MinLRs []float64
	// Eps is the smallest change that is made (default 1e-8).
	Eps tensor.Opt[float64]
}

// ReduceLROnPlateau lowers the rate when a metric stops improving.
type ReduceLROnPlateau struct {
	opt        optim.Optimizer
	factor     float64
	defaultMin *float64
	minLRs     []float64
	patience   int
	cooldown   int
	eps        float64
	lastEpoch  int
	lastLR     []float64
	worse      float64
	mode       PlateauMode
	threshold  float64
	tmode      ThresholdMode
	best       float64
	cooling    int
	bad        int
}

// NewReduceLROnPlateau lowers the rate by Factor when the metric has not improved for Patience epochs.
func NewReduceLROnPlateau(opt optim.Optimizer, opts ...PlateauOptions) *ReduceLROnPlateau {
	o := first(opts)
	s := &ReduceLROnPlateau{opt: opt, factor: o.Factor.Or(0.1), patience: o.Patience.Or(10), cooldown: o.Cooldown,
		eps:  o.Eps.Or(1e-8),
		mode: o.Mode, threshold: o.Threshold.Or(1e-4), tmode: o.ThresholdMode}
	if s.factor >= 1 {
		tensor.Fail(tensor.ErrValue, "Factor should be < 1.0.")
	}
	if o.MinLRs == nil {
		m := o.MinLR
		s.defaultMin = &m
	} else if len(o.MinLRs) != len(groupsOf(opt)) {
		tensor.Fail(tensor.ErrValue, "expected %d min_lrs, got %d", len(groupsOf(opt)), len(o.MinLRs))
	}
	s.minLRs = perGroup("min_lr", opt, o.MinLR, o.MinLRs)
	s.setWorse()
	s.best = s.worse
	s.remember()
	return s
}

func (s *ReduceLROnPlateau) setWorse() {
	s.worse = math.Inf(1)
	if s.mode == Max {
		s.worse = math.Inf(-1)
	}
}

func (s *ReduceLROnPlateau) remember() {
	s.lastLR = nil
	for _, g := range s.opt.ParamGroups() {
		s.lastLR = append(s.lastLR, g.LR())
	}
}

// Step looks at an epoch's metric.
func (s *ReduceLROnPlateau) Step(metric float64) {
	s.lastEpoch++
	if s.better(metric) {
		s.best, s.bad = metric, 0
	} else {
		s.bad++
	}
	if s.cooling > 0 {
		s.cooling--
		s.bad = 0
	}
	if s.bad > s.patience {
		s.reduce()
		s.cooling, s.bad = s.cooldown, 0
	}
	s.remember()
}

func (s *ReduceLROnPlateau) better(m float64) bool {
	switch {
	case s.mode == Min && s.tmode == Rel:
		return m < s.best*(1-s.threshold)
	case s.mode == Min:
		return m < s.best-s.threshold
	case s.tmode == Rel:
		return m > s.best*(s.threshold+1)
	}
	return m > s.best+s.threshold
}

func (s *ReduceLROnPlateau) reduce() {
	groups := s.opt.ParamGroups()
	if len(groups) != len(s.minLRs) {
		if s.defaultMin == nil {
			tensor.Fail(tensor.ErrValue,
				"The number of param groups in the `optimizer` (%d) differs from when `ReduceLROnPlateau` was "+
					"initialized (%d), usually due to a new param group being added to the optimizer.", len(groups),
				len(s.minLRs))
		}
		s.minLRs = slices.Repeat([]float64{*s.defaultMin}, len(groups))
	}
	for i, g := range groups {
		old := g.LR()
		if lr := max(old*s.factor, s.minLRs[i]); old-lr > s.eps {
			g.SetLR(lr)
		}
	}
}

// LastLR is the rate of each group as last set.
func (s *ReduceLROnPlateau) LastLR() []float64 { return slices.Clone(s.lastLR) }

// Optimizer is the optimizer whose rates are set.
func (s *ReduceLROnPlateau) Optimizer() optim.Optimizer { return s.opt }

// Best is the best metric so far, infinite before the first step.
func (s *ReduceLROnPlateau) Best() float64 { return s.best }

func (s *ReduceLROnPlateau) fields() []field {
	return []field{number("factor", &s.factor), {"default_min_lr", func() any {
		if s.defaultMin == nil {
			return nil
		}
		return *s.defaultMin
	}, func(v any) error {
		s.defaultMin = nil
		if v == nil {
			return nil
		}
		f, err := toFloat(v)
		s.defaultMin = &f
		return err
	}}, floats("min_lrs", &s.minLRs), integer("patience", &s.patience), integer("cooldown", &s.cooldown),
		number("eps", &s.eps),
		integer("last_epoch", &s.lastEpoch), floats("_last_lr", &s.lastLR), number("mode_worse", &s.worse),
		enum("mode", &s.mode, "min", "max"),
		number("threshold", &s.threshold), enum("threshold_mode", &s.tmode, "rel", "abs"), number("best", &s.best),
		integer("cooldown_counter", &s.cooling), integer("num_bad_epochs", &s.bad)}
}

// StateDict is the state under Python's keys.
func (s *ReduceLROnPlateau) StateDict() *serialize.Dict { return stateDict(s.fields()) }

// LoadStateDict takes over a state, of this package or PyTorch's.
func (s *ReduceLROnPlateau) LoadStateDict(d *serialize.Dict) error {
	err := loadStateDict(s.fields(), d)
	s.setWorse()
	return err
}
