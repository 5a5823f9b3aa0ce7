package profiler

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// Kind says what an Event is.
type Kind uint8

// The kinds of events.
const (
	KindOperator   Kind = iota // the call of an operator
	KindRule                   // a gradient rule of the backward pass
	KindAnnotation             // a part of the program with a name, the step of an optimizer
	KindModule                 // the Forward of a module
	KindStep                   // a step between two calls of Profiler.Step, with Options.Schedule
	KindMemory                 // memory that the garbage collector has freed, "[memory]", with Options.ProfileMemory
)

// Event is a call with its time.
type Event struct {
	Name     string // "aten::addmm", "AddmmBackward0", the name of the part
	FullName string // of an operator: with its overload; of a step: with its number
	Kind     Kind
	Start    time.Duration // since the profiler was started
	Duration time.Duration
	Self     time.Duration // Duration without the events inside
	Thread   int           // numbers the goroutines from 1; 0 is the garbage collector
	Parent   int           // index of the event around, -1 at the top; modules are the parents of modules alone
	// Sequence is equal in an operator's call and in its gradient rule; 0 where the call is not recorded for Backward.
	Sequence int64
	Inputs   []Input  // with Options.RecordShapes; those of a gradient rule are the gradients that it is given
	Stack    []string // with Options.WithStack: "train.go(12): main.main", the innermost first
	Module   string   // with Options.WithModules: path and class of the innermost module, "layer1.0.conv1 (Conv2d)"
	FLOPs    int64    // with Options.WithFLOPs
	Memory   int64    // bytes taken less those given back, with Options.ProfileMemory
	SelfMem  int64    // Memory without the events inside
	Memories []Memory // the single amounts
}

// Input is an argument of an operator.
type Input struct {
	Shape, Stride   []int
	Shapes, Strides [][]int // of the tensors of a list
	Type            string  // as in C++: "float", "Scalar", "ScalarList", "TensorList"; "" for what is none of them
	Value           string  // of a number or a list of numbers
}

// Memory is an amount of memory that was taken or, below 0, given back.
type Memory struct {
	At    time.Duration
	Bytes int64
	Total int64 // in use behind it
}

// thread holds the events of a goroutine. Another goroutine may take them away, between or during calls.
type thread struct {
	p       *Profiler
	id      int
	mu      sync.Mutex
	taken   int // how often events were taken away
	events  []Event
	stack   []int // events that run
	modules []int
	rules   int
	labels  context.Context // of Go's CPU profile, with Options.Labels
}

// mark is an event that runs: its index, and how often events had been taken away when it began.
type mark struct{ i, taken int }

// open begins an event; fill adds to it what else is known.
func (t *thread) open(k Kind, name string, fill func(e *Event)) mark {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := Event{Name: name, Kind: k, Thread: t.id, Parent: -1}
	if n := len(t.stack); n > 0 {
		e.Parent = t.stack[n-1]
	}
	if n := len(t.modules); n > 0 {
		e.Module = t.events[t.modules[n-1]].Module
	}
	i := len(t.events)
	t.stack = append(t.stack, i)
	if fill != nil {
		fill(&e)
	}
	e.Start = time.Since(t.p.begin)
	t.events = append(t.events, e)
	return mark{i, t.taken}
}

// close ends an event and those inside that were left by a panic. An event that was taken away meanwhile is forgotten.
func (t *thread) close(m mark) {
	now := time.Since(t.p.begin)
	t.mu.Lock()
	defer t.mu.Unlock()
	if m.taken == t.taken {
		t.end(m.i, now)
	}
}

// set changes an event that was not taken away meanwhile.
func (t *thread) set(m mark, change func(e *Event)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if m.taken == t.taken {
		change(&t.events[m.i])
	}
}

// end ends event i at a moment, and those inside.
func (t *thread) end(i int, now time.Duration) {
	for n := len(t.stack); n > 0; n = len(t.stack) {
		k := t.stack[n-1]
		t.stack = t.stack[:n-1]
		e := &t.events[k]
		e.Duration = now - e.Start
		e.Self += e.Duration
		e.Memory += e.SelfMem
		if e.Parent >= 0 {
			t.events[e.Parent].Self -= e.Duration
			t.events[e.Parent].Memory += e.Memory
		}
		if k == i {
			return
		}
	}
}

// closeTop ends the innermost event of a kind, if there is one.
func (t *thread) closeTop(k Kind) {
	now := time.Since(t.p.begin)
	t.mu.Lock()
	defer t.mu.Unlock()
	for n := len(t.stack) - 1; n >= 0; n-- {
		if t.events[t.stack[n]].Kind == k {
			t.end(t.stack[n], now)
			return
		}
	}
}

// setTop changes the innermost event if it is of a kind.
func (t *thread) setTop(k Kind, change func(e *Event)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := len(t.stack); n > 0 && t.events[t.stack[n-1]].Kind == k {
		change(&t.events[t.stack[n-1]])
	}
}

// countRule notes that a gradient rule has begun, and uncountRule that one has ended, unless its beginning was taken
// away.
func (t *thread) countRule() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rules++
}

func (t *thread) uncountRule() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.rules == 0 {
		return false
	}
	t.rules--
	return true
}

func (t *thread) enterModule(r tensor.Region) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := Event{Name: "nn.Module: " + r.Name, Kind: KindModule, Thread: t.id, Parent: -1, Module: r.Name}
	if m, ok := r.Of.(nn.Module); ok {
		if path, class := nn.PathOf(m); path != "" {
			e.Module = path + " (" + class + ")"
		}
	}
	if n := len(t.modules); n > 0 {
		e.Parent = t.modules[n-1]
	}
	t.modules = append(t.modules, len(t.events))
	e.Start = time.Since(t.p.begin)
	t.events = append(t.events, e)
}

func (t *thread) leaveModule() {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(t.modules) - 1
	if n < 0 { // recording began inside the module
		return
	}
	e := &t.events[t.modules[n]]
	t.modules = t.modules[:n]
	e.Duration = time.Since(t.p.begin) - e.Start
	e.Self += e.Duration
	if e.Parent >= 0 {
		t.events[e.Parent].Self -= e.Duration
	}
}

func (t *thread) memory(bytes int, total int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := len(t.stack); n > 0 {
		e := &t.events[t.stack[n-1]]
		e.SelfMem += int64(bytes)
		e.Memories = append(e.Memories, Memory{time.Since(t.p.begin), int64(bytes), total})
	}
}

// take returns the events that have ended, with parents counted from first on, and forgets all.
func (t *thread) take(first int) []Event {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := make([]int, len(t.events)) // where each event goes
	var out []Event
	for i, e := range t.events {
		at[i] = -1
		if slices.Contains(t.stack, i) || slices.Contains(t.modules, i) {
			continue
		}
		if e.Parent >= 0 {
			e.Parent = at[e.Parent]
		}
		at[i] = first + len(out)
		out = append(out, e)
	}
	t.events, t.stack, t.modules, t.rules = nil, nil, nil, 0
	t.taken++
	return out
}

// inputsOf describes the arguments of a call.
func inputsOf(c *tensor.Ctx) []Input {
	out := make([]Input, 0, c.NumArgs())
	for i := range c.NumArgs() {
		v := c.Value(i)
		var in Input
		switch v.K {
		case tensor.KTensor:
			in = inputOf(v.T)
		case tensor.KTensors:
			in.Type = "TensorList"
			for _, x := range c.Tensors(i) {
				e := inputOf(x)
				in.Shapes = append(in.Shapes, append([]int{}, e.Shape...))
				in.Strides = append(in.Strides, append([]int{}, e.Stride...))
			}
		case tensor.KNone:
		case tensor.KInts, tensor.KFloats:
			in.Type, in.Value = "ScalarList", v.String()
		case tensor.KInt, tensor.KFloat, tensor.KBool, tensor.KScalar:
			in.Type, in.Value = "Scalar", v.String()
		default:
			in.Value = v.String()
		}
		out = append(out, in)
	}
	return out
}

// inputOf describes a tensor.
func inputOf(x *Tensor) Input {
	if x == nil {
		return Input{}
	}
	in := Input{Shape: slices.Clone(x.Shape()), Type: x.DType().CName()}
	if !x.IsSparse() {
		in.Stride = slices.Clone(x.Strides())
	}
	return in
}

// inside are the packages whose functions a stack leaves out: what lies between the program and the operator.
var inside = []string{"github.com/gotorch-dev/torch/tensor.", "github.com/gotorch-dev/torch/profiler.",
	"github.com/gotorch-dev/torch/internal/", "runtime."}

// callers is where in the program, and the packages of modules, the calling goroutine is.
func callers() []string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	var out []string
	for {
		f, more := frames.Next()
		if !slices.ContainsFunc(inside, func(p string) bool { return strings.HasPrefix(f.Function, p) }) &&
			f.Function != "" {
			dir, file := filepath.Split(f.File)
			out = append(out, fmt.Sprintf("%s(%d): %s", filepath.Join(filepath.Base(dir), file), f.Line,
				f.Function[strings.LastIndexByte(f.Function, '/')+1:]))
		}
		if !more {
			return out
		}
	}
}
