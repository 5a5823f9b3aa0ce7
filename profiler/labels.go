package profiler

import (
	"context"
	"runtime/pprof"
	"sync"
	"sync/atomic"

	"github.com/gotorch-dev/torch/internal/par"
)

// labelled holds the labels of the operator that runs, for the workers that take part in its kernel.
var labelled atomic.Pointer[context.Context]

var workers sync.Once

// label sets the labels of Go's CPU profile for the calling goroutine and the workers of kernels; the function that it
// returns sets those of the operator around.
func (t *thread) label(name string) (reset func()) {
	workers.Do(func() {
		par.SetOnJoin(func() {
			if ctx := labelled.Load(); ctx != nil {
				pprof.SetGoroutineLabels(*ctx)
			}
		})
	})
	before := t.labels
	if before == nil {
		before = context.Background()
	}
	module := ""
	if n := len(t.modules); n > 0 {
		module = t.events[t.modules[n-1]].Module
	}
	t.set(pprof.WithLabels(context.Background(), pprof.Labels("op", name, "module", module)))
	return func() { t.set(before) }
}

func (t *thread) set(ctx context.Context) {
	t.labels = ctx
	pprof.SetGoroutineLabels(ctx)
	labelled.Store(&ctx)
}
