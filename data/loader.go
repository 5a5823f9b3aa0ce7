package data

import (
	"context"
	"fmt"
	"iter"
	"reflect"
	"runtime"
	"sync"
	"time"

	"github.com/gotorch-dev/torch/tensor"
)

// LoaderOptions are the options of a DataLoader. Options that contradict each other are errors.
type LoaderOptions struct {
	// BatchSize defaults to 1.
	BatchSize int
	// Shuffle draws a new random order every epoch.
	Shuffle bool
	// Sampler gives the order instead of Shuffle.
	Sampler Sampler
	// BatchSampler gives whole batches instead of BatchSize, Shuffle, Sampler and DropLast.
	BatchSampler BatchIndexer
	// DropLast leaves out a shorter last batch.
	DropLast bool
	// Workers is the number of goroutines that load ahead; 0 loads in the caller.
	Workers int
	// Prefetch is the number of batches that each worker loads ahead (default 2). Batches that are ready sooner than it
	// takes to hand them over are not loaded ahead. Without workers it has no effect.
	Prefetch int
	// Timeout bounds the wait for one batch; 0 means no bound. It needs workers.
	Timeout time.Duration
	// PersistentWorkers keeps the workers from one epoch to the next, until Close. WorkerInit is called once then, and
	// the workers' seed is drawn once, as in PyTorch. Beginning an epoch ends the one before.
	PersistentWorkers bool
	// WorkerInit is called in each worker before it loads.
	WorkerInit func(id int)
	// Generator draws the order and the workers' seeds; nil means the default one.
	Generator *Generator
	// PinMemory is a hint for devices that copy faster from pinned memory; it has no effect on the CPU.
	PinMemory bool
}

// DataLoader gives a dataset's samples in batches.
//
// Inside torch.Tidy, what the collate function makes for a batch is freed with the Tidy in which the batch was fetched,
// whoever loaded it. A dataset may keep tensors of its own for later when there are workers; without workers it must
// call Keep on them, as everywhere inside Tidy. What the collate function both keeps and puts into a batch needs Keep
// in either case.
type DataLoader[T, B any] struct {
	dataset  Dataset[T]
	stream   IterableDataset[T]
	collate  func([]T) (B, error)
	getBatch func([]int) (B, error)
	batches  BatchIndexer
	o        LoaderOptions

	// of PersistentWorkers
	mu     sync.Mutex
	crew   *team
	open   *Epoch[T, B]
	seed   int64
	seeded bool
}

// NewDataLoader loads batches of the samples' own type: see DefaultCollate.
func NewDataLoader[T any](d Dataset[T], opts ...LoaderOptions) *DataLoader[T, T] {
	l := NewCollatedLoader(d, DefaultCollate[T], opts...)
	if g, ok := d.(BatchGetter[T]); ok {
		l.getBatch = g.GetBatch
	}
	return l
}

// NewCollatedLoader loads batches that collate makes of the samples.
func NewCollatedLoader[T, B any](d Dataset[T], collate func([]T) (B, error), opts ...LoaderOptions) *DataLoader[T, B] {
	need(d, "dataset")
	need(collate, "collate function")
	l := &DataLoader[T, B]{dataset: d, collate: collate, o: options(opts)}
	o := &l.o
	n := lengthOf("the dataset", d)
	if o.BatchSampler != nil {
		if o.BatchSize > 1 || o.Shuffle || o.Sampler != nil || o.DropLast {
			tensor.Fail(tensor.ErrValue,
				"data: batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last")
		}
		need(o.BatchSampler, "batch sampler")
		lengthOf("the batch sampler", o.BatchSampler)
		l.batches = o.BatchSampler
		return l
	}
	s := o.Sampler
	switch {
	case s != nil && o.Shuffle:
		tensor.Fail(tensor.ErrValue, "data: sampler option is mutually exclusive with shuffle")
	case s != nil:
		need(s, "sampler")
	case o.Shuffle:
		s = NewRandomSampler(n, RandomOptions{Generator: o.Generator})
	default:
		s = NewSequentialSampler(n)
	}
	l.batches = NewBatchSampler(s, o.BatchSize, o.DropLast)
	return l
}

// NewIterableLoader loads batches from a stream.
func NewIterableLoader[T, B any](d IterableDataset[T], collate func([]T) (B, error),
	opts ...LoaderOptions) *DataLoader[T, B] {
	need(d, "dataset")
	need(collate, "collate function")
	l := &DataLoader[T, B]{stream: d, collate: collate, o: options(opts)}
	if l.o.Shuffle || l.o.Sampler != nil || l.o.BatchSampler != nil {
		tensor.Fail(tensor.ErrValue, "data: DataLoader with IterableDataset: expected unspecified shuffle and "+
			"sampler options")
	}
	return l
}

// need refuses nil, also a nil pointer in an interface.
func need(v any, what string) {
	r := reflect.ValueOf(v)
	if v == nil || (r.Kind() == reflect.Pointer || r.Kind() == reflect.Func || r.Kind() == reflect.Map) && r.IsNil() {
		tensor.Fail(tensor.ErrValue, "data: the %s is nil", what)
	}
}

// lengthOf is the length of a dataset or sampler, which must not be negative.
func lengthOf(what string, x interface{ Len() int }) int {
	n := x.Len()
	if n < 0 {
		tensor.Fail(tensor.ErrValue, "data: Len of %s should be non-negative, but got %d", what, n)
	}
	return n
}

// maxWorkers and maxAhead bound what a loader makes before it loads: goroutines, and places for batches.
const (
	maxWorkers = 1 << 14
	maxAhead   = 1 << 20
)

func options(opts []LoaderOptions) LoaderOptions {
	var o LoaderOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	switch {
	case o.Workers < 0:
		tensor.Fail(tensor.ErrValue, "data: num_workers option should be non-negative; use num_workers=0 to disable "+
			"multiprocessing.")
	case o.Timeout < 0:
		tensor.Fail(tensor.ErrValue, "data: timeout option should be non-negative")
	case o.Timeout > 0 && o.Workers == 0:
		tensor.Fail(tensor.ErrValue, "data: timeout option needs num_workers > 0: what loads in the caller cannot be "+
			"left behind")
	case o.Prefetch < 0:
		tensor.Fail(tensor.ErrValue, "data: prefetch_factor option should be non-negative")
	case o.PersistentWorkers && o.Workers == 0:
		tensor.Fail(tensor.ErrValue, "data: persistent_workers option needs num_workers > 0")
	case o.BatchSize < 0:
		tensor.Fail(tensor.ErrValue, "data: batch_size should be a positive integer value, but got batch_size=%d",
			o.BatchSize)
	}
	if o.BatchSize == 0 {
		o.BatchSize = 1
	}
	if o.Prefetch == 0 {
		o.Prefetch = 2
	}
	if o.Workers > maxWorkers {
		tensor.Fail(tensor.ErrValue, "data: num_workers is %d, at most %d are supported", o.Workers, maxWorkers)
	}
	if o.Workers > 0 && o.Prefetch > maxAhead/o.Workers {
		tensor.Fail(tensor.ErrValue, "data: prefetch_factor is %d for %d workers, at most %d batches are loaded ahead",
			o.Prefetch, o.Workers, maxAhead)
	}
	if o.PinMemory {
		tensor.Warn("'pin_memory' argument is set as true but no accelerator is found, then device pinned memory won't " +
			"be used.")
	}
	return o
}

// Len is the number of batches of an epoch; of a stream it is not known: 0.
func (l *DataLoader[T, B]) Len() int {
	if l.batches == nil {
		return 0
	}
	return l.batches.Len()
}

// Iter walks one epoch. An error ends it; so does the context. Leaving the loop early stops the workers, or with
// PersistentWorkers gives them the next epoch.
func (l *DataLoader[T, B]) Iter(ctx context.Context) iter.Seq2[B, error] {
	return func(yield func(B, error) bool) {
		e := l.Begin(ctx)
		defer e.Close()
		for {
			b, err, ok := e.Next()
			if !ok || !yield(b, err) || err != nil {
				return
			}
		}
	}
}

// Begin starts an epoch. It draws the workers' seed at once, as PyTorch does; the order is drawn at the first batch.
func (l *DataLoader[T, B]) Begin(ctx context.Context) *Epoch[T, B] {
	e := &Epoch[T, B]{l: l}
	if l.o.PersistentWorkers {
		l.mu.Lock()
		before := l.open
		l.open = e
		if !l.seeded {
			l.seed, l.seeded = drawSeed(orDefault(l.o.Generator)), true
		}
		e.seed = l.seed
		l.mu.Unlock()
		if before != nil && !before.closed {
			before.Close()
			before.replaced = true
		}
	} else {
		e.seed = drawSeed(orDefault(l.o.Generator))
	}
	e.ctx, e.cancel = context.WithCancel(ctx)
	return e
}

// Close ends the workers that PersistentWorkers keeps; the next epoch starts new ones. Without PersistentWorkers it
// does nothing. A loader that is no longer used is closed by the garbage collector.
func (l *DataLoader[T, B]) Close() {
	l.mu.Lock()
	open, crew := l.open, l.crew
	l.open, l.crew = nil, nil
	l.mu.Unlock()
	if open != nil && !open.closed {
		open.Close()
	}
	if crew != nil {
		crew.close()
	}
}

// workers are the goroutines that load an epoch.
func (l *DataLoader[T, B]) workers() *team {
	f := l.o.WorkerInit
	start := func() *team {
		return newTeam(l.o.Workers, l.o.Workers*l.o.Prefetch, func(w *worker) error { return initWorker(f, w) })
	}
	if !l.o.PersistentWorkers {
		return start()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.crew == nil {
		l.crew = start()
		runtime.AddCleanup(l, (*team).stop, l.crew)
	}
	return l.crew
}

// release is called with the workers when an epoch ends. Workers that stay and are not done in a moment hang in the
// dataset: they are given up.
func (l *DataLoader[T, B]) release(t *team) {
	if l.o.PersistentWorkers && t.idle() {
		return
	}
	if l.o.PersistentWorkers {
		l.mu.Lock()
		if l.crew == t {
			l.crew = nil
		}
		l.mu.Unlock()
	}
	t.close()
}

// initWorker calls WorkerInit; a panic becomes the error of the batches that the worker is given.
func initWorker(init func(id int), w *worker) error {
	if init == nil {
		return nil
	}
	return guard(func() error {
		init(w.id)
		return nil
	}, func() string { return fmt.Sprintf("WorkerInit of worker %d", w.id) })
}
