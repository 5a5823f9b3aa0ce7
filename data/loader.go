package data

import (
	"context"
	"fmt"
	"iter"
	"runtime/debug"
	"sync"
	"time"

	"github.com/gotorch-dev/torch/tensor"
)

// LoaderOptions are the options of a DataLoader.
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
	// Prefetch is the number of batches that each worker loads ahead (default 2).
	Prefetch int
	// Timeout bounds the wait for one batch when there are workers; 0 means no bound.
	Timeout time.Duration
	// WorkerInit is called in each worker before it loads.
	WorkerInit func(id int)
	// Generator draws the order and the workers' seeds; nil means the default one.
	Generator *Generator
	// PinMemory is a hint for devices that copy faster from pinned memory; it has no effect on the CPU.
	PinMemory bool
}

// DataLoader gives a dataset's samples in batches.
type DataLoader[T, B any] struct {
	dataset  Dataset[T]
	stream   IterableDataset[T]
	collate  func([]T) (B, error)
	getBatch func([]int) (B, error)
	batches  BatchIndexer
	o        LoaderOptions
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
	l := &DataLoader[T, B]{dataset: d, collate: collate, o: options(opts)}
	o := &l.o
	if o.BatchSampler != nil {
		if o.BatchSize > 1 || o.Shuffle || o.Sampler != nil || o.DropLast {
			tensor.Fail(tensor.ErrValue,
				"data: batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last")
		}
		l.batches = o.BatchSampler
		return l
	}
	s := o.Sampler
	switch {
	case s != nil && o.Shuffle:
		tensor.Fail(tensor.ErrValue, "data: sampler option is mutually exclusive with shuffle")
	case s != nil:
	case o.Shuffle:
		s = NewRandomSampler(d.Len(), RandomOptions{Generator: o.Generator})
	default:
		s = NewSequentialSampler(d.Len())
	}
	l.batches = NewBatchSampler(s, o.BatchSize, o.DropLast)
	return l
}

// NewIterableLoader loads batches from a stream.
func NewIterableLoader[T, B any](d IterableDataset[T], collate func([]T) (B, error),
	opts ...LoaderOptions) *DataLoader[T, B] {
	l := &DataLoader[T, B]{stream: d, collate: collate, o: options(opts)}
	if l.o.Shuffle || l.o.Sampler != nil || l.o.BatchSampler != nil {
		tensor.Fail(tensor.ErrValue, "data: DataLoader with IterableDataset: expected unspecified shuffle and "+
			"sampler options")
	}
	return l
}

func options(opts []LoaderOptions) LoaderOptions {
	var o LoaderOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	if o.Workers < 0 {
		tensor.Fail(tensor.ErrValue, "data: num_workers option should be non-negative; use num_workers=0 to disable "+
			"multiprocessing")
	}
	if o.Timeout < 0 {
		tensor.Fail(tensor.ErrValue, "data: timeout option should be non-negative")
	}
	if o.BatchSize == 0 {
		o.BatchSize = 1
	}
	if o.Prefetch <= 0 {
		o.Prefetch = 2
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

// Iter walks one epoch. An error ends it; so does the context. Leaving the loop early stops the workers.
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

// Epoch is one walk through the data, for loops that want more control than Iter gives. Close must be called.
type Epoch[T, B any] struct {
	l      *DataLoader[T, B]
	ctx    context.Context
	cancel context.CancelFunc
	next   func() ([]int, bool) // batches of indices
	stop   func()
	seed   int64
	wg     sync.WaitGroup

	started bool

	jobs   chan job[B]
	queue  []chan result[B] // results in order
	single func() (B, error, bool)
	feed   chan job[B]
	done   bool

	timedOut bool
}

type job[B any] struct {
	indices []int
	out     chan result[B]
}

type result[B any] struct {
	b   B
	err error
	end bool
}

// Begin starts an epoch. It draws the workers' seed at once, as PyTorch does; the order is drawn at the first batch.
func (l *DataLoader[T, B]) Begin(ctx context.Context) *Epoch[T, B] {
	e := &Epoch[T, B]{l: l, seed: drawSeed(orDefault(l.o.Generator))}
	e.ctx, e.cancel = context.WithCancel(ctx)
	return e
}

// Skip passes over n batches without loading them: for resuming in the middle of an epoch. It draws the order now. It
// must be called before Next.
func (e *Epoch[T, B]) Skip(n int) {
	e.open()
	for range n {
		if _, ok := e.next(); !ok {
			return
		}
	}
}

func (e *Epoch[T, B]) open() {
	if e.next != nil {
		return
	}
	if e.l.batches == nil {
		e.next, e.stop = func() ([]int, bool) { return nil, true }, func() {}
		return
	}
	e.next, e.stop = iter.Pull(e.l.batches.Batches())
}

// Next gives the next batch; ok is false at the end of the epoch.
func (e *Epoch[T, B]) Next() (b B, err error, ok bool) {
	if e.done {
		return b, nil, false
	}
	if err := e.ctx.Err(); err != nil {
		e.done = true
		return b, err, true
	}
	if !e.started {
		e.started = true
		e.open()
		e.start()
	}
	if e.jobs == nil {
		b, err, ok = e.single()
	} else {
		b, err, ok = e.fromWorkers()
	}
	if err != nil || !ok {
		e.done = true
	}
	return b, err, ok
}

// Close stops the workers and waits for them; after a timeout not longer than that, since a worker that hangs cannot be
// stopped.
func (e *Epoch[T, B]) Close() {
	e.done = true
	e.cancel()
	if e.timedOut {
		left := make(chan struct{})
		go func() {
			e.wg.Wait()
			close(left)
		}()
		select {
		case <-left:
		case <-time.After(e.l.o.Timeout):
		}
	} else {
		e.wg.Wait()
	}
	if e.stop != nil {
		e.stop()
	}
}

func (e *Epoch[T, B]) start() {
	l := e.l
	switch {
	case l.stream != nil && l.o.Workers == 0:
		next, stop := iter.Pull2(l.streamBatches(e.ctx, WorkerInfo{Seed: e.seed}))
		e.stop = stop
		e.single = next2(next)
	case l.stream != nil:
		e.startStreams()
	case l.o.Workers == 0:
		e.single = func() (b B, err error, ok bool) {
			ix, ok := e.next()
			if !ok {
				return b, nil, false
			}
			b, err = l.load(ix)
			return b, err, true
		}
	default:
		e.jobs = make(chan job[B])
		for id := range l.o.Workers {
			e.wg.Add(1)
			go func() {
				defer e.wg.Done()
				failed := l.initWorker(id)
				for {
					select {
					case <-e.ctx.Done():
						return
					case j := <-e.jobs:
						if failed != nil {
							j.out <- result[B]{err: failed}
							return
						}
						b, err := l.load(j.indices)
						j.out <- result[B]{b: b, err: err} // buffered
					}
				}
			}()
		}
		feed := make(chan job[B], l.o.Workers*l.o.Prefetch)
		e.wg.Add(1)
		go func() { // hands jobs over in order without blocking the caller
			defer e.wg.Done()
			for {
				select {
				case <-e.ctx.Done():
					return
				case j := <-feed:
					select {
					case <-e.ctx.Done():
						return
					case e.jobs <- j:
					}
				}
			}
		}()
		e.single = nil
		for range l.o.Workers * l.o.Prefetch {
			e.submit(feed)
		}
		e.feed = feed
	}
}

// initWorker prepares a worker; a panic in the caller's function becomes the error of the batches that the worker is
// given.
func (l *DataLoader[T, B]) initWorker(id int) error {
	if l.o.WorkerInit == nil {
		return nil
	}
	return guard(func() error {
		l.o.WorkerInit(id)
		return nil
	}, func() string { return fmt.Sprintf("WorkerInit of worker %d", id) })
}

func next2[B any](next func() (B, error, bool)) func() (B, error, bool) { return next }

// submit asks for one more batch.
func (e *Epoch[T, B]) submit(feed chan job[B]) {
	ix, ok := e.next()
	if !ok {
		return
	}
	out := make(chan result[B], 1)
	e.queue = append(e.queue, out)
	feed <- job[B]{ix, out} // never more jobs than the buffer holds
}

func (e *Epoch[T, B]) fromWorkers() (b B, err error, ok bool) {
	if len(e.queue) == 0 {
		return b, nil, false
	}
	out := e.queue[0]
	var expired <-chan time.Time
	if d := e.l.o.Timeout; d > 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		expired = t.C
	}
	select {
	case r := <-out:
		e.queue = e.queue[1:]
		if r.end {
			return e.fromWorkers()
		}
		if e.l.stream != nil {
			e.queue = append(e.queue, out) // the stream goes on
		} else if r.err == nil {
			e.submit(e.feed)
		}
		return r.b, r.err, true
	case <-e.ctx.Done():
		return b, e.ctx.Err(), true
	case <-expired:
		e.timedOut = true
		return b, fmt.Errorf("data: DataLoader timed out after %s", e.l.o.Timeout), true
	}
}

// startStreams runs one stream per worker; batches are taken from the workers in turn, as PyTorch does.
func (e *Epoch[T, B]) startStreams() {
	l := e.l
	e.jobs = make(chan job[B])
	for id := range l.o.Workers {
		out := make(chan result[B], l.o.Prefetch)
		e.queue = append(e.queue, out)
		e.wg.Add(1)
		go func() {
			defer e.wg.Done()
			send := func(r result[B]) bool {
				select {
				case out <- r:
					return true
				case <-e.ctx.Done():
					return false
				}
			}
			if err := l.initWorker(id); err != nil {
				send(result[B]{err: err})
				return
			}
			for b, err := range l.streamBatches(e.ctx,
				WorkerInfo{ID: id, NumWorkers: l.o.Workers, Seed: e.seed + int64(id)}) {
				if !send(result[B]{b: b, err: err}) || err != nil {
					return
				}
			}
			send(result[B]{end: true})
		}()
	}
}

// streamBatches groups a stream into batches.
func (l *DataLoader[T, B]) streamBatches(ctx context.Context, w WorkerInfo) iter.Seq2[B, error] {
	return func(yield func(B, error) bool) {
		var buf []T
		n := 0
		stopped := false
		err := guard(func() error {
			for v, err := range l.stream.Iter(ctx, w) {
				if err != nil {
					return fmt.Errorf("data: sample %d of the stream: %w", n, err)
				}
				n++
				if buf = append(buf, v); len(buf) < l.o.BatchSize {
					continue
				}
				b, err := l.collate(buf)
				if err != nil {
					return err
				}
				buf = nil
				if !yield(b, nil) {
					stopped = true
					return nil
				}
			}
			return nil
		}, func() string { return fmt.Sprintf("sample %d of the stream", n) })
		var zero B
		switch {
		case stopped:
		case err != nil:
			yield(zero, err)
		case len(buf) > 0 && !l.o.DropLast:
			b, err := l.collate(buf)
			yield(b, err)
		}
	}
}

// load makes one batch. Errors and panics name the sample that caused them.
func (l *DataLoader[T, B]) load(indices []int) (b B, err error) {
	at := -1
	err = guard(func() error {
		if l.getBatch != nil {
			b, err = l.getBatch(indices)
			return err
		}
		samples := make([]T, len(indices))
		for k, i := range indices {
			at = i
			if samples[k], err = l.dataset.Get(i); err != nil {
				return fmt.Errorf("data: sample %d: %w", i, err)
			}
		}
		at = -1
		b, err = l.collate(samples)
		return err
	}, func() string {
		if at >= 0 {
			return fmt.Sprintf("sample %d", at)
		}
		return fmt.Sprintf("batch of samples %v", indices)
	})
	return b, err
}

// PanicError is a panic of a dataset, collate function or stream, turned into an error.
type PanicError struct {
	Where string
	Value any
	Stack []byte
}

// Error says where the panic happened and what it said.
func (p *PanicError) Error() string { return fmt.Sprintf("data: %s: panic: %v", p.Where, p.Value) }

// Unwrap returns the panic's value when it is an error.
func (p *PanicError) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

func guard(f func() error, where func() string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &PanicError{where(), r, debug.Stack()}
		}
	}()
	return f()
}
