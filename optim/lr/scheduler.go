package lr

import (
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/gotorch-dev/torch/optim"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/tensor"
)

// Scheduler is what all schedulers but ReduceLROnPlateau have in common; that one's Step takes the metric.
type Scheduler interface {
	// Step goes on to the next epoch, or batch: whatever the schedule counts.
	Step()
	// LastLR is the rate of each group as last set.
	LastLR() []float64
	// Optimizer is the optimizer whose rates are set.
	Optimizer() optim.Optimizer
	// StateDict is the state under Python's keys.
	StateDict() *serialize.Dict
	// LoadStateDict takes over a state, of this package or PyTorch's.
	LoadStateDict(d *serialize.Dict) error

	initialStep()
	restart()
	undo()
}

// LRScheduler is PyTorch's name of Scheduler.
type LRScheduler = Scheduler

// Warn receives the warnings of this package instead of the handler of torch.SetWarnings, unless it is nil.
//
// Deprecated: use torch.SetWarnings, which has the warnings of all packages.
var Warn func(text string)

func warn(text string) {
	if Warn != nil {
		Warn(text)
		return
	}
	tensor.Warn("%s", text)
}

// base is what the schedulers share: the count of epochs and the rates.
type base struct {
	opt       optim.Optimizer
	baseLRs   []float64
	lastEpoch int
	stepCount int
	initial   bool
	lastLR    []float64
	optCalled bool // the optimizer has stepped since the scheduler was made

	next   func() []float64 // the rates of the epoch lastEpoch, from those before it
	closed func() []float64 // the same from the base rates alone; nil when there is no such form
	before []field          // state that Python lists first
	after  []field
}

// field is one entry of a state dict.
type field struct {
	name string
	get  func() any
	set  func(v any) error
}

func (b *base) start(opt optim.Optimizer, lastEpoch tensor.Opt[int]) {
	b.opt = opt
	last, resume := lastEpoch.Get()
	if resume && last < 0 {
		resume = false
	}
	for i, g := range groupsOf(opt) {
		switch {
		case resume && !g.Has("initial_lr"):
			tensor.Fail(tensor.ErrValue,
				"param 'initial_lr' is not specified in param_groups[%d] when resuming scheduler with last_epoch >= "+
					"0.\n"+
					"Load the optimizer's state first, or leave LastEpoch out when training begins.", i)
		case !resume && !g.Has("initial_lr"):
			g.Set("initial_lr", g.LR())
		}
		b.baseLRs = append(b.baseLRs, g.Float("initial_lr"))
	}
	b.lastEpoch = -1
	if resume {
		b.lastEpoch = last
	}
	var remove func()
	remove = opt.RegisterStepPreHook(func(optim.Optimizer) {
		b.optCalled = true
		remove()
	})
	b.initialStep()
}

func (b *base) initialStep() {
	b.stepCount = 0
	b.initial = true
	b.Step()
	b.initial = false
}

// Step goes on to the next epoch.
func (b *base) Step() {
	if b.stepCount == 1 && !b.optCalled {
		warn("Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, you should " +
			"call them in the opposite order: `optimizer.step()` before `lr_scheduler.step()`.  Failure to do this will " +
			"result in PyTorch skipping the first value of the learning rate schedule. See more details at " +
			"https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate")
	}
	b.stepCount++
	b.lastEpoch++
	b.apply(b.next())
}

// restart goes back to epoch 0, as SequentialLR does when a schedule's turn comes.
func (b *base) restart() {
	b.lastEpoch = 0
	if b.closed != nil {
		b.apply(b.closed())
	} else {
		b.apply(b.next())
	}
}

func (b *base) undo() { b.lastEpoch-- }

func (b *base) apply(rates []float64) {
	for i, g := range b.opt.ParamGroups() {
		if i < len(rates) {
			g.SetLR(rates[i])
		}
	}
	b.lastLR = b.current()
}

// LastLR is the rate of each group as last set.
func (b *base) LastLR() []float64 { return slices.Clone(b.lastLR) }

// LastEpoch is the number of steps taken.
func (b *base) LastEpoch() int { return b.lastEpoch }

// Optimizer is the optimizer whose rates are set.
func (b *base) Optimizer() optim.Optimizer { return b.opt }

// current are the rates that the groups have now.
func (b *base) current() []float64 {
	var out []float64
	for _, g := range b.opt.ParamGroups() {
		out = append(out, g.LR())
	}
	return out
}

// scaled are the present rates times f.
func (b *base) scaled(f float64) []float64 {
	out := b.current()
	for i := range out {
		out[i] *= f
	}
	return out
}

// ofBase maps the base rates.
func (b *base) ofBase(f func(base float64) float64) []float64 {
	out := make([]float64, len(b.baseLRs))
	for i, x := range b.baseLRs {
		out[i] = f(x)
	}
	return out
}

func (b *base) fields() []field {
	common := []field{
		floats("base_lrs", &b.baseLRs), integer("last_epoch", &b.lastEpoch), integer("_step_count", &b.stepCount),
		boolean("_is_initial", &b.initial),
		{"_get_lr_called_within_step", func() any { return false }, func(any) error { return nil }},
		floats("_last_lr", &b.lastLR),
	}
	return slices.Concat(b.before, common, b.after)
}

// StateDict is the state under Python's keys. The functions of LambdaLR and its like are not part of it.
func (b *base) StateDict() *serialize.Dict { return stateDict(b.fields()) }

// LoadStateDict takes over a state, of this package or PyTorch's. Like PyTorch it leaves the optimizer alone: load its
// state as well.
func (b *base) LoadStateDict(d *serialize.Dict) error { return loadStateDict(b.fields(), d) }

func stateDict(fields []field) *serialize.Dict {
	d := serialize.NewDict()
	for _, f := range fields {
		d.Set(f.name, f.get())
	}
	return d
}

func loadStateDict(fields []field, d *serialize.Dict) error {
	for _, f := range fields {
		if !d.Has(f.name) {
			continue // a key that the file's version did not have yet
		}
		if err := f.set(d.Get(f.name)); err != nil {
			return fmt.Errorf("optim/lr: LoadStateDict: %s: %w", f.name, err)
		}
	}
	return nil
}

func toFloat(v any) (float64, error) {
	switch x := v.(type) {
	case float64:
		return x, nil
	case int:
		return float64(x), nil
	case *tensor.Tensor:
		if x.Numel() == 1 {
			return x.Num().F, nil
		}
	}
	return 0, fmt.Errorf("got a %T, want a number", v)
}

func integer(name string, p *int) field {
	return field{name, func() any { return *p }, func(v any) error {
		f, err := toFloat(v)
		if err == nil && f != math.Trunc(f) {
			err = fmt.Errorf("got %v, want an integer", v)
		}
		if err == nil {
			*p = int(f)
		}
		return err
	}}
}

func number(name string, p *float64) field {
	return field{name, func() any { return *p }, func(v any) error {
		f, err := toFloat(v)
		if err == nil {
			*p = f
		}
		return err
	}}
}

func boolean(name string, p *bool) field {
	return field{name, func() any { return *p }, func(v any) error {
		b, ok := v.(bool)
		if !ok {
			return fmt.Errorf("got a %T, want a bool", v)
		}
		*p = b
		return nil
	}}
}

func floats(name string, p *[]float64) field {
	return field{name, func() any {
		out := make([]any, len(*p))
		for i, f := range *p {
			out[i] = f
		}
		return out
	}, func(v any) error {
		l, ok := v.([]any)
		if !ok {
			return fmt.Errorf("got a %T, want a list", v)
		}
		out := make([]float64, len(l))
		for i, e := range l {
			f, err := toFloat(e)
			if err != nil {
				return err
			}
			out[i] = f
		}
		*p = out
		return nil
	}}
}

// enum is a setting with a few values, which has Python's names in the state dict.
func enum[T ~int](name string, p *T, names ...string) field {
	return field{name, func() any { return names[*p] }, func(v any) error {
		for i, n := range names {
			if v == n {
				*p = T(i)
				return nil
			}
		}
		return fmt.Errorf("got %v, want one of %v", v, names)
	}}
}

func first[T any](opts []T) T {
	var zero T
	if len(opts) > 0 {
		return opts[0]
	}
	return zero
}

// groupsOf are the groups of an optimizer, which must be there.
func groupsOf(opt optim.Optimizer) []*optim.ParamGroup {
	if opt == nil || reflect.ValueOf(opt).Kind() == reflect.Pointer && reflect.ValueOf(opt).IsNil() {
		tensor.Fail(tensor.ErrType, "nil is not an Optimizer: a scheduler sets the rates of one")
	}
	return opt.ParamGroups()
}

// perGroup is a value for each group: the list, or the one value repeated.
func perGroup(name string, opt optim.Optimizer, one float64, list []float64) []float64 {
	n := len(groupsOf(opt))
	if list == nil {
		return slices.Repeat([]float64{one}, n)
	}
	if len(list) != n {
		tensor.Fail(tensor.ErrValue, "%s must have the same length as optimizer.param_groups. %s has %d values, "+
			"param_groups has %d.", name, name, len(list), n)
	}
	return slices.Clone(list)
}
