package data

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/gotorch-dev/torch/tensor"
)

// cheap is how long loading a batch may take for it to be loaded only when it is asked for. Handing a batch that was
// loaded ahead from one processor to another takes 5 to 50 µs (a goroutine is woken, and what it wrote is in another
// cache), so that loading ahead gains nothing below that.
const cheap = 100 * time.Microsecond

// Epoch is one walk through the data, for loops that want more control than Iter gives. Close must be called.
type Epoch[T, B any] struct {
	l      *DataLoader[T, B]
	ctx    context.Context
	cancel context.CancelFunc
	next   func() ([]int, bool) // batches of indices
	stop   func()
	seed   int64

	started, done, closed bool
	replaced              bool // by the next epoch of a loader with PersistentWorkers

	single func() (B, error, bool) // without workers
	team   *team
	queue  []chan result[B] // what the workers were asked for, in order
	cost   time.Duration    // of loading a batch, smoothed; 0 before the first
}

// result is what a worker hands over.
type result[B any] struct {
	b    B
	err  error
	end  bool // of a stream
	took time.Duration
	made tensor.Handover
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

// errReplaced is what a loop gets whose loader has begun another epoch.
var errReplaced = errors.New("data: a loader with PersistentWorkers has one epoch at a time, and another one has begun")

// Next gives the next batch; ok is false at the end of the epoch.
func (e *Epoch[T, B]) Next() (b B, err error, ok bool) {
	if e.replaced {
		e.replaced = false
		return b, errReplaced, true
	}
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
	if e.team == nil {
		b, err, ok = e.single()
	} else {
		b, err, ok = e.fromWorkers()
	}
	if err != nil || !ok {
		e.done = true
	}
	return b, err, ok
}

// Close ends the epoch. Workers that are in the middle of a sample have a moment (50 ms) to end; one that hangs in the
// dataset cannot be stopped: Close returns all the same, and a warning names the sample a second later.
func (e *Epoch[T, B]) Close() {
	if e.closed {
		return
	}
	e.done, e.closed = true, true
	e.cancel()
	if e.team != nil {
		e.l.release(e.team)
	}
	if e.stop != nil {
		e.stop()
	}
}

func (e *Epoch[T, B]) start() {
	l := e.l
	switch {
	case l.stream != nil && l.o.Workers == 0:
		var here place
		next, stop := iter.Pull2(l.streamBatches(e.ctx, &here, WorkerInfo{Seed: e.seed}, l.collate))
		e.single, e.stop = next, stop
	case l.stream != nil:
		e.team = l.workers()
		for id, w := range e.team.workers {
			out := make(chan result[B], l.o.Prefetch)
			e.queue = append(e.queue, out)
			w.own <- e.walk(out, WorkerInfo{ID: id, NumWorkers: l.o.Workers, Seed: e.seed + int64(id)})
		}
	case l.o.Workers == 0:
		var here place
		e.single = func() (b B, err error, ok bool) {
			ix, ok := e.next()
			if !ok {
				return b, nil, false
			}
			b, err = l.load(&here, ix, l.getBatch, l.collate)
			return b, err, true
		}
	default:
		e.team = l.workers()
	}
}

// fill asks for batches until there are n.
func (e *Epoch[T, B]) fill(n int) {
	for len(e.queue) < n {
		ix, ok := e.next()
		if !ok {
			return
		}
		out := make(chan result[B], 1)
		e.queue = append(e.queue, out)
		e.team.tasks <- e.fetch(out, ix, tensor.InTidy()) // never more than the channel holds
	}
}

// fetch is the task of loading one batch.
func (e *Epoch[T, B]) fetch(out chan<- result[B], indices []int, tidy bool) func(*worker) {
	return func(w *worker) {
		if e.ctx.Err() != nil {
			return
		}
		var r result[B]
		returned := false
		defer func() {
			if !returned {
				r.err = fmt.Errorf("data: %s: %w", w.at.String(), errGoexit)
			}
			out <- r
		}()
		if r.err = w.err; r.err == nil {
			begin := time.Now()
			getBatch, collate := e.l.getBatch, e.l.collate
			if tidy {
				getBatch, collate = handOver(getBatch, &r.made), handOver(collate, &r.made)
			}
			r.b, r.err = e.l.load(&w.at, indices, getBatch, collate)
			r.took = time.Since(begin)
		}
		returned = true
	}
}

// handOver has f's results belong to the goroutine that adopts made.
func handOver[X, B any](f func(X) (B, error), made *tensor.Handover) func(X) (B, error) {
	if f == nil {
		return nil
	}
	return func(x X) (b B, err error) {
		*made = tensor.MakeFor(func() []*Tensor {
			b, err = f(x)
			return tensorsIn(b)
		})
		return b, err
	}
}

// walk is the task of running a worker's stream.
func (e *Epoch[T, B]) walk(out chan<- result[B], info WorkerInfo) func(*worker) {
	return func(w *worker) {
		end := result[B]{end: true}
		returned := false
		defer func() {
			if !returned {
				end = result[B]{err: fmt.Errorf("data: %s: %w", w.at.String(), errGoexit)}
			}
			send(e.ctx, out, end)
		}()
		if w.err != nil {
			end = result[B]{err: w.err}
			returned = true
			return
		}
		var made tensor.Handover
		for b, err := range e.l.streamBatches(e.ctx, &w.at, info, handOver(e.l.collate, &made)) {
			w.at.begin() // waiting for the consumer is no hanging
			if !send(e.ctx, out, result[B]{b: b, err: err, made: made}) || err != nil {
				break
			}
			w.at.begin()
		}
		returned = true
	}
}

// ahead is how many batches are loaded while the consumer is busy.
func (e *Epoch[T, B]) ahead() int {
	if e.cost > 0 && e.cost < cheap {
		return 0
	}
	return e.l.o.Workers * e.l.o.Prefetch
}

// fromWorkers waits for the next batch. Streams are asked in turn, as in PyTorch.
func (e *Epoch[T, B]) fromWorkers() (b B, err error, ok bool) {
	for {
		if e.l.stream == nil {
			e.fill(max(1, e.ahead()))
		}
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
				continue
			}
			r.made.Adopt()
			switch {
			case r.err != nil:
			case e.l.stream != nil:
				e.queue = append(e.queue, out) // the stream goes on
			default:
				if e.cost += (r.took - e.cost) / 4; e.cost == 0 {
					e.cost = max(r.took, 1)
				}
				e.fill(e.ahead())
			}
			return r.b, r.err, true
		case <-e.ctx.Done():
			return b, e.ctx.Err(), true
		case <-expired:
			return b, fmt.Errorf("data: DataLoader timed out after %s: %s", e.l.o.Timeout, e.team.where()), true
		}
	}
}
