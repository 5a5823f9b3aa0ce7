package autograd

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync/atomic"

	"github.com/gotorch-dev/torch/tensor"
)

// AnomalyOptions are the options of DetectAnomaly and SetDetectAnomaly.
type AnomalyOptions struct {
	// NoCheckNaN leaves gradients alone and only notes where operators are called.
	NoCheckNaN bool
	// Output gets the place of the forward call when something is wrong; nil means standard error.
	Output io.Writer
}

// anomaly notes the stack of every recorded operator and looks at every gradient.
type anomaly struct {
	o   atomic.Pointer[AnomalyOptions]
	off atomic.Bool
}

// DetectAnomaly runs f, on this goroutine, in anomaly mode: when Backward computes a gradient that is NaN, it panics
// with ErrAutograd naming the operator, and writes where that operator was called. It is slow, and meant for debugging.
// Both the forward and the backward pass should be inside.
// https://pytorch.org/docs/stable/autograd.html#anomaly-detection
func DetectAnomaly(f func(), opts ...AnomalyOptions) {
	tensor.Warn("Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled " +
		"for " +
		"debugging.")
	within(true, opts, f)
}

// NoDetectAnomaly runs f, on this goroutine, without anomaly mode.
func NoDetectAnomaly(f func()) { within(false, nil, f) }

// within runs f in a mode that replaces the one around.
func within(on bool, opts []AnomalyOptions, f func()) {
	a := ofGoroutine()
	if a == nil || a == everywhere.Load() {
		a = newAnomaly(opts)
		a.off.Store(!on)
		tensor.WithLayer(a, f)
		return
	}
	o, off := a.o.Load(), a.off.Load()
	defer func() {
		a.o.Store(o)
		a.off.Store(off)
	}()
	a.o.Store(newAnomaly(opts).o.Load())
	a.off.Store(!on)
	f()
}

// ofGoroutine is the layer of the goroutine's anomaly mode, nil when there is none.
func ofGoroutine() *anomaly {
	a, _ := tensor.FindLayer(func(l tensor.Layer) bool { _, ok := l.(*anomaly); return ok }).(*anomaly)
	return a
}

func newAnomaly(opts []AnomalyOptions) *anomaly {
	a := &anomaly{}
	a.o.Store(&AnomalyOptions{})
	if len(opts) > 0 {
		a.o.Store(&opts[0])
	}
	return a
}

var everywhere atomic.Pointer[anomaly]

// SetDetectAnomaly switches anomaly mode on or off for all goroutines.
func SetDetectAnomaly(on bool, opts ...AnomalyOptions) {
	if !on {
		everywhere.Store(nil)
		tensor.SetGlobalLayer(tensor.RankWatch, nil)
		return
	}
	a := newAnomaly(opts)
	everywhere.Store(a)
	tensor.SetGlobalLayer(tensor.RankWatch, a)
}

// SetAnomalyEnabled is [SetDetectAnomaly] with the arguments of Python's torch.set_anomaly_enabled: without checkNaN,
// or with true, gradients are looked at.
func SetAnomalyEnabled(on bool, checkNaN ...bool) {
	SetDetectAnomaly(on, AnomalyOptions{NoCheckNaN: len(checkNaN) > 0 && !checkNaN[0]})
}

// IsAnomalyEnabled reports that anomaly mode holds for the calling goroutine.
func IsAnomalyEnabled() bool {
	a := ofGoroutine()
	return a != nil && !a.off.Load()
}

// IsAnomalyCheckNaNEnabled reports that gradients are looked at in the mode of the calling goroutine.
func IsAnomalyCheckNaNEnabled() bool {
	a := ofGoroutine()
	return a == nil || a.off.Load() || !a.o.Load().NoCheckNaN
}

// Rank is that of a watcher.
func (a *anomaly) Rank() tensor.Rank { return tensor.RankWatch }

// Call is called for every operator.
func (a *anomaly) Call(c *tensor.Ctx, next func()) {
	next()
	if a.off.Load() {
		return
	}
	for i := range c.NumOut() {
		t := c.Out(i)
		if t == nil {
			continue
		}
		if n := t.GradFn(); n != nil && n.Op() == c.Op() && n.Stack() == nil {
			pcs := make([]uintptr, 64)
			n.SetStack(pcs[:runtime.Callers(2, pcs)])
			return
		}
	}
}

// noteCall notes the stack of a Function's call in the node of its results, in anomaly mode.
func noteCall(results []*Tensor) {
	if !IsAnomalyEnabled() {
		return
	}
	for _, t := range results {
		if t != nil && t.GradFn() != nil {
			pcs := make([]uintptr, 64)
			t.GradFn().SetStack(pcs[:runtime.Callers(3, pcs)])
			return
		}
	}
}

// Rule is called for every gradient rule of a backward pass.
func (a *anomaly) Rule(n *tensor.Node, _, in []*Tensor) {
	if a.off.Load() || a.o.Load().NoCheckNaN {
		return
	}
	for i, g := range in {
		if g == nil || !(g.DType().IsFloat() || g.IsComplex()) || g.Numel() == 0 {
			continue
		}
		if g.IsSparse() {
			_, g, _ = tensor.SparseParts(g)
		}
		if g.IsNaN().Any().Num().I == 0 {
			continue
		}
		a.report(n)
		tensor.Fail(tensor.ErrAutograd, "Function '%s' returned nan values in its %dth output.", n.Name(), i)
	}
}

// RuleFailed is called when a gradient rule panics.
func (a *anomaly) RuleFailed(n *tensor.Node) {
	if !a.off.Load() {
		a.report(n)
	}
}

func (a *anomaly) report(n *tensor.Node) {
	w := a.o.Load().Output
	if w == nil {
		w = os.Stderr
	}
	if n.Stack() == nil {
		fmt.Fprintf(w, "Error detected in %s. No forward pass information available. Enable detect anomaly during "+
			"forward pass for more information.\n", n.Name())
		return
	}
	fmt.Fprintf(w, "Error detected in %s. Traceback of forward call that caused the error:\n", n.Name())
	frames := runtime.CallersFrames(n.Stack())
	for {
		f, more := frames.Next()
		inside := strings.HasPrefix(f.Function, "github.com/gotorch-dev/torch/tensor.") ||
			strings.Contains(f.Function, "autograd.(*anomaly)")
		if !inside && !strings.HasPrefix(f.Function, "runtime.") {
			fmt.Fprintf(w, "  %s:%d %s\n", f.File, f.Line, f.Function)
		}
		if !more {
			return
		}
	}
}
