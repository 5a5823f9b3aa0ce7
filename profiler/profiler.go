package profiler

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gotorch-dev/torch/internal/gls"
	"github.com/gotorch-dev/torch/tensor"
)

// Tensor is torch.Tensor.
type Tensor = tensor.Tensor

// Options say what is measured besides the time of each operator.
type Options struct {
	// RecordShapes notes shapes, strides, dtypes and numbers of the arguments.
	RecordShapes bool
	// ProfileMemory notes the memory that operators take and give back. What the garbage collector frees is noted as
	// events of the name "[memory]", as PyTorch notes what is freed outside of operators; the collector may come long
	// after the last use.
	ProfileMemory bool
	// WithStack notes from where in the program each operator is called.
	WithStack bool
	// WithFLOPs computes the floating-point operations of products, convolutions and attention from their shapes, and
	// of additions and multiplications, as PyTorch counts them: a multiplication and an addition are two.
	WithFLOPs bool
	// WithModules notes the modules inside which operators are called.
	WithModules bool
	// Labels sets the labels "op" and "module" of runtime/pprof while operators run, so that a CPU profile of Go that is
	// taken at the same time can be grouped by them: go tool pprof -tagfocus, -tagroot op.
	Labels bool
	// Schedule says for each step, counted from 0, what to do; nil records everything.
	Schedule func(step int) Action
	// OnTraceReady is called with what was recorded when a cycle of the schedule ends, and once at the end if there is
	// no schedule or a cycle is unfinished.
	OnTraceReady func(t *Trace)
}

// Profiler records the operators of the function that Profile runs.
type Profiler struct {
	o         Options
	recording atomic.Bool
	begin     time.Time
	wall      time.Time // the same moment as begin, in the time of the clock
	step      int
	action    Action
	stepOn    *thread // whose event stepMark is that of the step that runs; nil for none
	stepMark  mark
	threads   sync.Map // of *thread by goroutine
	mu        sync.Mutex
	order     []*thread
	last      *Trace
	inUse     atomic.Int64 // bytes that tensors have taken since the beginning
	collected []Event      // what the garbage collector has freed
}

// Profile runs f under a profiler and returns what it has recorded: everything that f does on its goroutine, or with a
// schedule the last cycle. f calls [Profiler.Step] at the end of each step of a training if there is a schedule.
// https://docs.pytorch.org/docs/stable/profiler.html#torch.profiler.profile
func Profile(o Options, f func(p *Profiler)) *Trace {
	p := newProfiler(o)
	p.start()
	defer p.stop()
	tensor.WithLayer(p, func() { f(p) })
	p.stop()
	return p.last
}

// Start records all goroutines of the program until Stop is called. Goroutines that are in a mode of their own, such as
// NoGrad, when Start is called are not seen until they leave it. It takes the place of anomaly mode for the whole
// program (autograd.SetDetectAnomaly), and the other way around.
func Start(o Options) *Profiler {
	p := newProfiler(o)
	p.start()
	tensor.SetGlobalLayer(tensor.RankWatch, p)
	return p
}

// Stop ends what Start has begun and returns what was recorded, with a schedule the last cycle.
func (p *Profiler) Stop() *Trace {
	tensor.SetGlobalLayer(tensor.RankWatch, nil)
	p.stop()
	return p.last
}

func newProfiler(o Options) *Profiler {
	now := time.Now()
	return &Profiler{o: o, begin: now, wall: now}
}

func (p *Profiler) start() {
	p.action = Record
	if p.o.Schedule != nil {
		p.action = p.o.Schedule(0)
	}
	p.record()
}

// record begins to record what the present action says, and with a schedule the event of the step. PyTorch's name of it
// in traces has the number, that in tables a star.
func (p *Profiler) record() {
	on := p.action >= Warmup
	p.recording.Store(on)
	if on && p.o.Schedule != nil {
		p.stepOn = p.thread()
		p.stepMark = p.stepOn.open(KindStep, "ProfilerStep*", func(e *Event) {
			e.FullName = "ProfilerStep#" + strconv.Itoa(p.step)
		})
	}
}

// endStep ends the event of the step that runs.
func (p *Profiler) endStep() {
	if p.stepOn != nil {
		p.stepOn.close(p.stepMark)
		p.stepOn = nil
	}
}

// Step says that a step of the training ends. With a schedule each recorded step is an event, "ProfilerStep#5" in
// traces and "ProfilerStep*" in tables.
func (p *Profiler) Step() {
	was := p.action
	p.step++
	if p.o.Schedule == nil {
		return
	}
	p.endStep()
	p.action = p.o.Schedule(p.step)
	switch {
	case was == RecordAndSave:
		p.deliver()
	case was <= Warmup:
		p.drop()
	}
	p.record()
}

// StepNumber counts the calls of Step.
func (p *Profiler) StepNumber() int { return p.step }

// Take returns what was recorded since the beginning, or since Take was called before, while recording goes on. Calls
// that run at that moment are lost. It keeps the memory of a profile of a long program bounded.
func (p *Profiler) Take() *Trace { return p.trace(p.take()) }

// stop ends the recording and hands over what was recorded; more than one call changes nothing.
func (p *Profiler) stop() {
	p.endStep()
	if p.recording.Swap(false) && p.action >= Record {
		p.deliver()
	}
	if p.last == nil {
		p.last = p.trace(nil)
	}
}

// deliver makes a trace of what was recorded and forgets it.
func (p *Profiler) deliver() {
	p.last = p.trace(p.take())
	if f := p.o.OnTraceReady; f != nil {
		f(p.last)
	}
}

func (p *Profiler) drop() { p.take() }

// take returns the calls of all goroutines and forgets them. Calls that still run are left out.
func (p *Profiler) take() (out []Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range p.order {
		out = append(out, t.take(len(out))...)
	}
	out = append(out, p.collected...)
	p.collected = nil
	return out
}

func (p *Profiler) trace(events []Event) *Trace {
	host, _ := os.Hostname()
	return &Trace{events: events, o: p.o, wall: p.wall, host: host}
}

// thread is the calling goroutine's part of what is recorded.
func (p *Profiler) thread() *thread {
	id := gls.ID()
	if t, ok := p.threads.Load(id); ok {
		return t.(*thread)
	}
	t := &thread{p: p}
	p.threads.Store(id, t)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.order = append(p.order, t)
	t.id = len(p.order)
	return t
}

// Rank is that of a watcher.
func (p *Profiler) Rank() tensor.Rank { return tensor.RankWatch }

// Call is called for every operator.
func (p *Profiler) Call(c *tensor.Ctx, next func()) {
	if !p.recording.Load() {
		next()
		return
	}
	t := p.thread()
	name, _, _ := strings.Cut(c.Op().FullName(), ".")
	module := ""
	m := t.open(KindOperator, name, func(e *Event) {
		e.FullName = c.Op().FullName()
		if p.o.RecordShapes {
			e.Inputs = inputsOf(c)
		}
		if p.o.WithFLOPs {
			e.FLOPs = flops(c)
		}
		if p.o.WithStack {
			e.Stack = callers()
		}
		module = e.Module
	})
	if p.o.Labels {
		defer t.label(name, module)()
	}
	ok := false
	defer func() {
		if !ok { // the operator has panicked
			t.close(m)
		}
	}()
	next()
	ok = true
	t.close(m)
	for k := range c.NumOut() {
		if x := c.Out(k); x != nil {
			if n := x.GradFn(); n != nil && n.Op() == c.Op() {
				t.set(m, func(e *Event) { e.Sequence = int64(n.Seq()) })
				break
			}
		}
	}
}

// RuleBegins is called before a gradient rule.
func (p *Profiler) RuleBegins(n *tensor.Node) {
	if !p.recording.Load() {
		return
	}
	t := p.thread()
	name := n.Name()
	if n.Variable() != nil {
		name = "torch::autograd::" + name
	}
	for _, s := range []string{"autograd::engine::evaluate_function: " + name, name} {
		t.open(KindRule, s, func(e *Event) {
			if n.Variable() == nil {
				e.Sequence = int64(n.Seq())
			}
		})
	}
	t.countRule()
}

// Rule is called behind a gradient rule.
func (p *Profiler) Rule(_ *tensor.Node, grads, _ []*Tensor) {
	if p.o.RecordShapes {
		p.thread().setTop(KindRule, func(e *Event) {
			for _, g := range grads {
				e.Inputs = append(e.Inputs, inputOf(g))
			}
		})
	}
	p.ruleEnds()
}

// RuleFailed is called when a gradient rule panics.
func (p *Profiler) RuleFailed(*tensor.Node) { p.ruleEnds() }

func (p *Profiler) ruleEnds() {
	if t := p.thread(); t.uncountRule() {
		t.closeTop(KindRule)
		t.closeTop(KindRule)
	}
}

// Enter is called where a region begins.
func (p *Profiler) Enter(r tensor.Region) {
	if !p.recording.Load() {
		return
	}
	t := p.thread()
	switch r.Kind {
	case tensor.RegionModule:
		if p.o.WithModules || p.o.Labels {
			t.enterModule(r)
		}
	case tensor.RegionOptimizer:
		t.open(KindAnnotation, "Optimizer.step#"+r.Name+".step", nil)
	case tensor.RegionZeroGrad:
		t.open(KindAnnotation, "Optimizer.zero_grad#"+r.Name+".zero_grad", nil)
	default:
		t.open(KindAnnotation, r.Name, nil)
	}
}

// Leave is called where a region ends.
func (p *Profiler) Leave(r tensor.Region) {
	x, ok := p.threads.Load(gls.ID())
	if !ok {
		return
	}
	t := x.(*thread)
	if r.Kind == tensor.RegionModule {
		t.leaveModule()
		return
	}
	t.closeTop(KindAnnotation)
}

// Allocated is called when memory is taken or given back.
func (p *Profiler) Allocated(bytes int) {
	if !p.o.ProfileMemory || !p.recording.Load() {
		return
	}
	t := p.thread()
	total := p.inUse.Add(int64(bytes))
	t.memory(bytes, total)
}

// ObservesCollection asks to be told what the garbage collector frees.
func (p *Profiler) ObservesCollection() bool { return p.o.ProfileMemory && p.recording.Load() }

// Collected is called when the garbage collector has freed memory.
func (p *Profiler) Collected(bytes int) {
	total := p.inUse.Add(-int64(bytes))
	if !p.recording.Load() {
		return
	}
	at, b := time.Since(p.begin), -int64(bytes)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.collected = append(p.collected, Event{Name: "[memory]", Kind: KindMemory, Start: at, Parent: -1, Memory: b,
		SelfMem: b, Memories: []Memory{{at, b, total}}})
}

// RecordFunction runs f as a part of the program that profilers show under a name.
// https://docs.pytorch.org/docs/stable/generated/torch.autograd.profiler.record_function.html
func RecordFunction(name string, f func()) {
	tensor.InRegion(tensor.Region{Name: name}, func() []*tensor.Tensor { f(); return nil })
}
