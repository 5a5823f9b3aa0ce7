package train

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/optim"
	"github.com/gotorch-dev/torch/serialize"
	textmodels "github.com/gotorch-dev/torch/text/models"
	"github.com/gotorch-dev/torch/vision/datasets/chartext"
)

// configOf reads and checks what a checkpoint says of its run. The sizes in it agree with the tensors of the model
// before anything of that size is made.
func configOf(d *serialize.Dict) (Config, *torch.StateDict, error) {
	cd, ok := d.Get("config").(*serialize.Dict)
	if !ok {
		return Config{}, nil, errors.New("it holds no configuration")
	}
	c, err := configFrom(cd)
	if err != nil {
		return c, nil, err
	}
	md, ok := d.Get("model").(*serialize.Dict)
	if !ok {
		return c, nil, errors.New("it holds no model")
	}
	sd, err := md.StateDict()
	if err != nil {
		return c, nil, err
	}
	size := 0
	switch c.Task {
	case "charlm":
		v, err := vocabOf(d)
		if err != nil {
			return c, nil, err
		}
		size = v.Len()
	case finetuning:
		names, err := classesOf(d)
		if err != nil {
			return c, nil, err
		}
		size = len(names)
	}
	return c, sd, fits(&c, size, sd)
}

// vocabOf is the vocabulary in the checkpoint of a language model.
func vocabOf(d *serialize.Dict) (*chartext.Vocab, error) {
	ts, ok := d.Get("task_state").(*serialize.Dict)
	if !ok {
		return nil, fmt.Errorf("field \"task_state\" is of type %T, want a dict", d.Get("task_state"))
	}
	text, ok := ts.Get("vocab").(string)
	if !ok || text == "" {
		return nil, errors.New("it holds no vocabulary")
	}
	return chartext.NewVocab(text)
}

// newModel makes the model of a configuration. The size is that of the vocabulary of a language model, or the number of
// classes of a network of finetune.
func newModel(c *Config, size int) nn.Module {
	switch c.Task {
	case finetuning:
		return newArchitecture(c.Model, size)
	case "charlm":
		return textmodels.NewGPT(textmodels.GPTConfig{Vocab: size, Context: c.Context, Layers: c.Layers, Heads: c.Heads,
			Width: c.Width, Dropout: c.Dropout})
	}
	return newClassifier(c.Model)
}

// fits compares the tensors of a checkpoint with those of the model that its configuration describes, which is made on
// the device meta, where a tensor has a shape and no memory.
func fits(c *Config, size int, sd *torch.StateDict) (err error) {
	if e := torch.Try(func() {
		torch.WithDevice(torch.Meta, func() {
			for name, want := range nn.StateDict(newModel(c, size)).All() {
				switch got := sd.Get(name); {
				case got == nil:
					err = fmt.Errorf("the model has no tensor %q, which the configuration asks for", name)
				case fmt.Sprint(got.Shape()) != fmt.Sprint(want.Shape()):
					err = fmt.Errorf("tensor %q of the model has shape %v, want %v as the configuration has it", name,
						got.Shape(), want.Shape())
				}
				if err != nil {
					return
				}
			}
		})
	}); e != nil {
		return e
	}
	return err
}

// restore puts a run where the checkpoint was written. The run's task, total, optimizer and scheduler are those of the
// checkpoint's configuration.
func (r *run) restore(d *serialize.Dict) (err error) {
	rd := &reader{d: d}
	s := &r.st
	s.epoch, s.step, s.inEpoch = get[int](rd, "epoch"), get[int](rd, "step"), get[int](rd, "batch_in_epoch")
	s.lossSum, s.correct, s.seen = get[float64](rd, "loss_sum"), get[int](rd, "correct"), get[int](rd, "seen")
	get[bool](rd, "done")
	rngState, epochRNG := get[*torch.Tensor](rd, "rng_state"), get[*torch.Tensor](rd, "epoch_rng_state")
	losses, model := get[*torch.Tensor](rd, "losses"), get[*serialize.Dict](rd, "model")
	opt := get[*serialize.Dict](rd, "optimizer")
	evalSteps, evals := get[[]any](rd, "eval_steps"), get[[]any](rd, "evals")
	if rd.err != nil {
		return rd.err
	}
	if t, ok := r.task.(*classify); ok && t.source != nil {
		if names, err := classesOf(d); err != nil || !slices.Equal(names, t.classes) {
			return fmt.Errorf("the folder has other classes than the one the run began with, %s",
				strings.Join(names, ", "))
		}
	}
	if r.cfg.Task == "charlm" {
		if ts, ok := d.Get("task_state").(*serialize.Dict); !ok || ts.Get("vocab") != r.task.state().Get("vocab") {
			return errors.New("the text has other characters than the one the run began with")
		}
	}
	if err := r.checkCounters(losses); err != nil {
		return err
	}
	if len(evals) != len(evalSteps) || len(evals) > s.step+1 {
		return fmt.Errorf("fields \"eval_steps\" and \"evals\" have %d and %d entries after %d steps", len(evalSteps),
			len(evals), s.step)
	}
	for i := range evals {
		n, ok := evalSteps[i].(int)
		if !ok || n < 0 || n > s.step || i > 0 && n < s.evalSteps[i-1] {
			return fmt.Errorf("field \"eval_steps\" has %v at index %d: want rising numbers up to step %d",
				evalSteps[i], i,
				s.step)
		}
		x, ok := evals[i].(float64)
		if !ok {
			return fmt.Errorf("field \"evals\" has %v at index %d: want a number", evals[i], i)
		}
		s.evalSteps, s.evals = append(s.evalSteps, n), append(s.evals, x)
	}
	if e := torch.Try(func() {
		s.losses = append(s.losses, torch.Data[float64](losses.Contiguous())...)
		for i := range s.losses {
			s.steps = append(s.steps, i+1)
		}
		s.epochRNG = append(s.epochRNG, torch.Data[uint8](epochRNG.Contiguous())...)
		var sd *torch.StateDict
		if sd, err = model.StateDict(); err == nil {
			err = nn.LoadStateDict(r.task.model(), sd)
		}
		if err == nil {
			err = r.opt.LoadStateDict(opt)
		}
		if err == nil {
			err = checkSettings(r.opt)
		}
		if err == nil && r.sched != nil {
			err = r.restoreScheduler(d)
		}
		if sd, ok := d.Get("scaler").(*serialize.Dict); ok && err == nil && r.scaler.IsEnabled() {
			err = r.scaler.LoadStateDict(sd)
		}
		if err == nil && s.inEpoch > 0 { // it is set when the epoch goes on
			err = torch.SetRNGState(s.epochRNG)
		}
		if err == nil {
			err = torch.SetRNGState(torch.Data[uint8](rngState.Contiguous()))
		}
	}); e != nil {
		return e
	}
	s.done = s.step >= r.total
	return err
}

// checkCounters refuses counters that contradict one another or the length of the run.
func (r *run) checkCounters(losses *torch.Tensor) error {
	s, per := &r.st, r.task.stepsPerEpoch()
	epochs := (r.total + per - 1) / per
	for _, x := range []struct {
		name        string
		value, high int
	}{{"epoch", s.epoch, epochs}, {"step", s.step, r.total}, {"batch_in_epoch", s.inEpoch, per}} {
		if x.value < 0 || x.value > x.high {
			return fmt.Errorf("field %q is %d: want at least 0 and at most %d", x.name, x.value, x.high)
		}
	}
	// The last epoch may be cut short by the number of steps.
	if want := min(s.epoch*per+s.inEpoch, r.total); s.step != want {
		return fmt.Errorf("field \"step\" is %d: want %d after %d epochs of %d steps and %d batches", s.step, want,
			s.epoch, per, s.inEpoch)
	}
	if losses.DType() != torch.Float64 || losses.Dim() != 1 || losses.Size(0) != s.step {
		return fmt.Errorf("field \"losses\" is %s of shape %v: want float64 and the %d steps done", losses.DType(),
			losses.Shape(), s.step)
	}
	if most := max(s.inEpoch, per) * r.task.samplesPerBatch(); s.seen < 0 || s.seen > most {
		return fmt.Errorf("field \"seen\" is %d: want at least 0 and at most %d", s.seen, most)
	}
	if r.cfg.classifies() && (s.correct < 0 || s.correct > s.seen) {
		return fmt.Errorf("field \"correct\" is %d: want at least 0 and at most the %d seen", s.correct, s.seen)
	}
	if math.IsNaN(s.lossSum) || math.IsInf(s.lossSum, 0) {
		return fmt.Errorf("field \"loss_sum\" is %g: want a finite number", s.lossSum)
	}
	return nil
}

// checkSettings refuses settings of an optimizer that would ruin the model at the next step.
func checkSettings(o optim.Optimizer) error {
	for _, g := range groupsOf(o.StateDict()) {
		for k, v := range g.All() {
			values := []any{v}
			if t, ok := v.(serialize.Tuple); ok {
				values = t
			}
			for _, v := range values {
				if x, ok := v.(float64); ok && (math.IsNaN(x) || math.IsInf(x, 0)) {
					return fmt.Errorf("field %q of the optimizer is %g: want a finite number", k, x)
				}
			}
		}
	}
	return nil
}

// groupsOf are the parameter groups in the state of an optimizer.
func groupsOf(state *serialize.Dict) (groups []*serialize.Dict) {
	list, _ := state.Get("param_groups").([]any)
	for _, g := range list {
		if d, ok := g.(*serialize.Dict); ok {
			groups = append(groups, d)
		}
	}
	return groups
}

func (r *run) restoreScheduler(d *serialize.Dict) error {
	state, ok := d.Get("scheduler").(*serialize.Dict)
	if !ok {
		return fmt.Errorf("field \"scheduler\" is of type %T, want the state of %s", d.Get("scheduler"),
			r.cfg.Scheduler)
	}
	if n, want := state.Get("last_epoch"), max(0, min(r.st.step, r.total-1)); n != want {
		return fmt.Errorf("field \"last_epoch\" of the scheduler is %v: want %d", n, want)
	}
	return r.sched.LoadStateDict(state)
}

// extend lengthens a restored run to a new number of steps. The learning rate goes on as in a run that had this length
// from its beginning: the schedule is laid over the new length, and the part that is done is skipped.
func (r *run) extend(total int) error {
	s, per := &r.st, r.task.stepsPerEpoch()
	if s.step < s.epoch*per { // the number of steps had cut the last epoch short: go on in the middle of it
		s.epoch, s.inEpoch = s.step/per, s.step%per
	}
	r.total, s.done = total, false
	if r.sched == nil {
		return nil
	}
	// A scheduler can only be stepped forwards, so a second one, of an optimizer of a number for each group, makes the
	// way.
	var err error
	if e := torch.Try(func() {
		groups := r.groups()
		for i := range groups {
			groups[i].Params = []*torch.Tensor{torch.Zeros([]int{1}).SetRequiresGrad(true)}
		}
		scratch := newOptimizer(&r.cfg, groups)
		sched := newScheduler(&r.cfg, scratch, total)
		scratch.Step() // it changes nothing without a gradient; schedulers want an optimizer to step first
		for range s.step {
			sched.Step()
		}
		r.sched = newScheduler(&r.cfg, r.opt, total)
		err = r.sched.LoadStateDict(sched.StateDict())
		for i, g := range r.opt.ParamGroups() {
			from := scratch.ParamGroups()[i]
			for key := range groupsOf(scratch.StateDict())[i].All() {
				if k, ok := key.(string); ok && k != "params" {
					g.Set(k, from.Get(k))
				}
			}
		}
	}); e != nil {
		return e
	}
	return err
}
