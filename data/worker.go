package data

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gotorch-dev/torch/tensor"
)

// grace is how long Close waits for workers that are in the middle of a sample, so that they rarely outlive it.
const grace = 50 * time.Millisecond

// stuckAfter is how long a worker may stay in the dataset after Close before it is reported. Tests shorten it.
var stuckAfter = time.Second

// errGoexit is the error of a batch whose goroutine the dataset has ended.
var errGoexit = errors.New("the dataset ended the goroutine with runtime.Goexit, as t.FailNow does")

// place is where in the data a worker is, readable by others.
type place struct {
	n    atomic.Int64 // number of the sample, or -1
	what atomic.Int32
	from atomic.Int64 // when it got there, in nanoseconds since the program began; 0: nowhere
}

const (
	atSample = iota // of a dataset
	atStream        // sample of a stream
	atBatch         // in the collate function or GetBatch
	atInit          // WorkerInit
)

var epochOfClock = time.Now()

func (p *place) enter(what, n int) {
	p.n.Store(int64(n))
	p.what.Store(int32(what))
}

func (p *place) begin() { p.from.Store(int64(time.Since(epochOfClock)) | 1) }
func (p *place) leave() { p.from.Store(0) }

// String is what an error says of the place.
func (p *place) String() string {
	n := p.n.Load()
	switch p.what.Load() {
	case atStream:
		return fmt.Sprintf("sample %d of the stream", n)
	case atBatch:
		return fmt.Sprintf("the batch of sample %d", n)
	case atInit:
		return "WorkerInit"
	}
	return fmt.Sprintf("sample %d", n)
}

// worker is one goroutine that loads.
type worker struct {
	id  int
	own chan func(*worker) // tasks for this worker alone: its stream
	at  place
	err error // of WorkerInit
}

// team is the workers of one epoch, or of a loader with PersistentWorkers.
type team struct {
	tasks   chan func(*worker) // for whoever is free
	quit    chan struct{}
	left    chan struct{} // closed when the last worker has gone
	running atomic.Int32
	workers []*worker
	once    sync.Once
}

// newTeam starts n workers. They run init first; tasks holds what may be asked for at once.
func newTeam(n, tasks int, init func(w *worker) error) *team {
	t := &team{tasks: make(chan func(*worker), tasks), quit: make(chan struct{}), left: make(chan struct{})}
	t.running.Store(int32(n))
	for id := range n {
		w := &worker{id: id, own: make(chan func(*worker), 1)}
		t.workers = append(t.workers, w)
		go t.work(w, init)
	}
	return t
}

// work is the life of a worker.
func (t *team) work(w *worker, init func(w *worker) error) {
	normal := false
	defer func() {
		w.at.leave()
		if !normal { // runtime.Goexit: another goroutine takes the worker's place
			go t.work(w, nil)
			return
		}
		if t.running.Add(-1) == 0 {
			close(t.left)
		}
	}()
	if init != nil {
		w.err = errGoexit
		w.at.enter(atInit, -1)
		w.at.begin()
		w.err = init(w)
		w.at.leave()
	}
	for {
		var task func(*worker)
		select {
		case <-t.quit:
			normal = true
			return
		case task = <-w.own:
		case task = <-t.tasks:
		}
		select {
		case <-t.quit:
			normal = true
			return
		default:
		}
		w.at.begin()
		task(w)
		w.at.leave()
	}
}

// stop sends the workers home and does not wait for them.
func (t *team) stop() { t.once.Do(func() { close(t.quit) }) }

// close stops the workers and waits a moment for those that are in the middle of a sample. Those that have not left a
// second later are reported: a goroutine that hangs in the dataset cannot be ended.
func (t *team) close() {
	t.stop()
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-t.left:
		return
	case <-timer.C:
	}
	wait := stuckAfter
	go func() {
		select {
		case <-t.left:
		case <-time.After(wait):
			tensor.Warn("data: DataLoader was closed, but %s; the goroutine and what it holds stay until the dataset "+
				"returns", t.where())
		}
	}()
}

// idle waits a moment for workers to be done with their tasks, and reports whether they are.
func (t *team) idle() bool {
	for end := time.Now().Add(grace); ; time.Sleep(100 * time.Microsecond) {
		busy := false
		for _, w := range t.workers {
			busy = busy || w.at.from.Load() != 0
		}
		if !busy || time.Now().After(end) {
			return !busy
		}
		runtime.Gosched()
	}
}

// where says what each busy worker is at, and for how long.
func (t *team) where() string {
	var l []string
	for _, w := range t.workers {
		if from := w.at.from.Load(); from != 0 {
			since := time.Since(epochOfClock) - time.Duration(from)
			l = append(l, fmt.Sprintf("worker %d has been at %s for %s", w.id, w.at.String(),
				since.Round(time.Millisecond)))
		}
	}
	if l == nil {
		return "no worker is at work"
	}
	return strings.Join(l, ", ")
}

// send hands r to the consumer unless the epoch is over.
func send[B any](ctx context.Context, out chan<- result[B], r result[B]) bool {
	select {
	case out <- r:
		return true
	case <-ctx.Done():
		return false
	}
}
