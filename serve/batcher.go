package serve

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
)

// The errors of Do beside those of the model and of the context.
var (
	// ErrBusy says that the queue is full: try again later, or elsewhere.
	ErrBusy = errors.New("serve: the queue is full")
	// ErrClosed says that Close was called.
	ErrClosed = errors.New("serve: the batcher is closed")
)

// PanicError is a panic of the model's that is no *torch.Error: a fault of the program's. The server lives on.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("serve: the model panicked: %v", e.Value) }

// Options configures New. Numbers that are not given are the defaults.
type Options struct {
	// MaxBatch is the number of requests in a batch at most; 8 if it is not given.
	MaxBatch tensor.Opt[int]
	// MaxDelay is how long a request waits for others to come. With 0, the default, a batch is what has gathered while
	// the one before it was computed: nobody waits on an idle machine, and batches grow with the load.
	MaxDelay time.Duration
	// Queue is the number of requests that wait at most; 64 if it is not given.
	Queue tensor.Opt[int]
	// Runners is the number of batches that are computed at the same time; 1 if it is not given. One batch uses all
	// threads (torch.SetNumThreads); more runners help models of small operators.
	Runners tensor.Opt[int]
}

// Batcher collects requests into batches. It is used by any number of goroutines.
type Batcher struct {
	model    func(x *torch.Tensor) *torch.Tensor
	maxBatch int
	maxDelay time.Duration
	queue    chan *request
	runners  sync.WaitGroup

	mu     sync.RWMutex // held for reading while a request enters the queue
	closed bool

	requests, batches, busy, cancelled, failed atomic.Int64
	working                                    atomic.Int64 // nanoseconds in the model
}

// request is one input and the place for its answer.
type request struct {
	ctx  context.Context
	x    *torch.Tensor
	done chan answer // of capacity 1: nobody has to be there
}

type answer struct {
	y   *torch.Tensor
	err error
}

// New starts a Batcher for a model that maps a batch (N, …) to a result (N, …), row by row: what it gives for one
// request must not depend on the others in the batch, as it would with batch norms in training mode. The model runs in
// InferenceMode. It must be safe for as many goroutines at once as there are Runners.
func New(model func(x *torch.Tensor) *torch.Tensor, opts ...Options) *Batcher {
	var o Options
	for _, o = range opts {
	}
	b := &Batcher{model: model, maxBatch: o.MaxBatch.Or(8), maxDelay: o.MaxDelay}
	queue, runners := o.Queue.Or(64), o.Runners.Or(1)
	for _, n := range []struct {
		name  string
		value int
	}{{"MaxBatch", b.maxBatch}, {"Queue", queue}, {"Runners", runners}} {
		if n.value < 1 {
			tensor.Fail(tensor.ErrValue, "serve.New: %s is %d, expected at least 1", n.name, n.value)
		}
	}
	if b.maxDelay < 0 {
		tensor.Fail(tensor.ErrValue, "serve.New: MaxDelay is %v, expected no negative time", b.maxDelay)
	}
	if model == nil {
		tensor.Fail(tensor.ErrValue, "serve.New: the model is nil")
	}
	b.queue = make(chan *request, queue)
	b.runners.Add(runners)
	for range runners {
		go b.run()
	}
	return b
}

// Do gives the model's result for one request: x is one row of a batch, without the dimension of the batch, and so is
// the result, whose memory is its own. Do returns when the result is there, or when ctx is done. x must not be changed
// before the model has run, also when Do has returned because of ctx: hand over a tensor of the request's own.
//
// Errors: ErrBusy and ErrClosed, the context's error, the model's *torch.Error for this request, or a *PanicError.
// When a batch fails, its requests are computed one by one, so that a bad one does not spoil the others.
func (b *Batcher) Do(ctx context.Context, x *torch.Tensor) (*torch.Tensor, error) {
	if x == nil {
		return nil, &torch.Error{Msg: "serve: the request's tensor is nil", Err: tensor.ErrValue}
	}
	if err := ctx.Err(); err != nil {
		b.cancelled.Add(1)
		return nil, err
	}
	r := &request{ctx, x, make(chan answer, 1)}
	if err := b.enter(r); err != nil {
		return nil, err
	}
	select {
	case a := <-r.done:
		return a.y, a.err
	case <-ctx.Done():
		b.cancelled.Add(1)
		return nil, ctx.Err()
	}
}

// enter puts a request into the queue.
func (b *Batcher) enter(r *request) error {
	b.mu.RLock()
	defer b.mu.RUnlock()
	if b.closed {
		return ErrClosed
	}
	select {
	case b.queue <- r:
		b.requests.Add(1)
		return nil
	default:
		b.busy.Add(1)
		return ErrBusy
	}
}

// Close takes no more requests, waits until those in the queue are answered, and returns. It may be called more than
// once.
func (b *Batcher) Close() {
	b.mu.Lock()
	if !b.closed {
		b.closed = true
		close(b.queue)
	}
	b.mu.Unlock()
	b.runners.Wait()
}

// Stats counts what a Batcher has done.
type Stats struct {
	Requests  int           // that entered the queue
	Batches   int           // that were computed; Requests by Batches is their mean size
	Busy      int           // requests that were refused since the queue was full
	Cancelled int           // requests whose context was done before their answer was there
	Failed    int           // requests that were answered with an error of the model's
	Waiting   int           // requests in the queue now
	Working   time.Duration // time spent in the model
}

// Stats tells what the Batcher has done.
func (b *Batcher) Stats() Stats {
	return Stats{int(b.requests.Load()), int(b.batches.Load()), int(b.busy.Load()), int(b.cancelled.Load()),
		int(b.failed.Load()), len(b.queue), time.Duration(b.working.Load())}
}

// run computes batches until the queue is closed and empty.
func (b *Batcher) run() {
	defer b.runners.Done()
	var next *request // that did not fit into the last batch
	for {
		first := next
		if first == nil {
			var ok bool
			if first, ok = <-b.queue; !ok {
				return
			}
		}
		var batch []*request
		batch, next = b.collect(first)
		batch = slices.DeleteFunc(batch, func(r *request) bool { return r.ctx.Err() != nil })
		if len(batch) > 0 {
			b.answer(batch)
		}
	}
}

// collect adds requests to the first one until the batch is full, the time is over or a request comes that has another
// shape or dtype, which begins the next batch.
func (b *Batcher) collect(first *request) (batch []*request, next *request) {
	batch = []*request{first}
	var late <-chan time.Time
	if b.maxDelay > 0 {
		t := time.NewTimer(b.maxDelay)
		defer t.Stop()
		late = t.C
	}
	for len(batch) < b.maxBatch {
		r, ok := b.take(late)
		switch {
		case !ok:
			return batch, nil
		case r.x.DType() != first.x.DType() || r.x.Device() != first.x.Device() ||
			!tensor.SameShape(r.x.Shape(), first.x.Shape()):
			return batch, r
		}
		batch = append(batch, r)
	}
	return batch, nil
}

// take is the next request; without a time to wait for, the one that is there.
func (b *Batcher) take(late <-chan time.Time) (r *request, ok bool) {
	if late == nil {
		select {
		case r, ok = <-b.queue:
		default:
		}
		return r, ok
	}
	select {
	case r, ok = <-b.queue:
	case <-late:
	}
	return r, ok
}

// answer runs the model for a batch, and when that fails, for each request of it.
func (b *Batcher) answer(batch []*request) {
	ys, err := b.compute(batch)
	for i, r := range batch {
		switch {
		case err == nil:
			r.done <- answer{y: ys[i]}
		case len(batch) == 1:
			b.failed.Add(1)
			r.done <- answer{err: err}
		default:
			b.answer(batch[i : i+1])
		}
	}
}

// compute gives each request its part of the model's result.
func (b *Batcher) compute(batch []*request) (ys []*torch.Tensor, err error) {
	b.batches.Add(1)
	start := time.Now()
	defer func() {
		b.working.Add(int64(time.Since(start)))
		switch r := recover().(type) {
		case nil:
		case *torch.Error:
			err = r
		default:
			err = &PanicError{r, debug.Stack()}
		}
	}()
	xs := make([]*torch.Tensor, len(batch))
	for i, r := range batch {
		xs[i] = r.x
	}
	torch.InferenceMode(func() {
		ys = torch.TidyReturnN(func() []*torch.Tensor {
			y := b.model(torch.Stack(xs))
			if y == nil || y.Dim() == 0 || y.Size(0) != len(xs) {
				tensor.Fail(tensor.ErrShape, "serve: the model gave %v for a batch of %d, expected as many rows",
					shapeOf(y), len(xs))
			}
			parts := make([]*torch.Tensor, len(xs))
			for i := range parts {
				parts[i] = y.Select(0, i).Clone()
			}
			return parts
		})
	})
	return ys, nil
}

func shapeOf(y *torch.Tensor) string {
	if y == nil {
		return "nil"
	}
	return tensor.ShapeString(y.Shape())
}
