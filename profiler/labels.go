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
func (t *thread) label(name, module string) (reset func()) {
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
	t.apply(pprof.WithLabels(context.Background(), pprof.Labels("op", name, "module", module)))
	return func() { t.apply(before) }
}

func (t *thread) apply(ctx context.Context) {
	t.labels = ctx
	pprof.SetGoroutineLabels(ctx)
	labelled.Store(&ctx)
}
