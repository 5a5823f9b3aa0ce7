package par

import (
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gotorch-dev/torch/internal/cpu"
)

const (
	// spinWindow is how long an idle worker polls for the next job before it parks. It must exceed the time
	// that waking a parked worker takes (about 110 µs), or a steady stream of small operators would pay for a
	// wake-up every time.
	spinWindow = 300 * time.Microsecond

	// wakeWorth is the remaining work below which parked workers are left
	// alone: waking them would cost the caller more than it saves.
	wakeWorth = 10 * time.Microsecond
)

// The pool's state is one word: the job number in the upper half, then two
// flags and the count of workers that are inside the job.
const (
	openBit   = uint64(1) << 31 // workers may join
	waitBit   = uint64(1) << 30 // the caller is parked until the last one leaves
	countMask = waitBit - 1
	epochUnit = uint64(1) << 32
)

type pool struct {
	threads int // what NumThreads reports

	_     [64]byte // the words below are hot: keep them off shared cache lines
	state atomic.Uint64
	_     [56]byte
	busy  atomic.Bool // a For owns the pool
	quit  atomic.Bool // the pool has been replaced; workers leave

	// The job. Written by the owner while the count is zero and the job is
	// closed, read by workers that have joined it.
	f        func(lo, hi int)
	n, grain int
	back     bool    // threads take the blocks from the last to the first
	shares   []share // one for the caller and each worker

	sweeps atomic.Uint32 // number of calls of Sweep

	workers int
	parked  atomic.Int32
	wake    chan struct{} // one token wakes one parked worker; spare tokens are harmless
	done    chan struct{}

	failMu sync.Mutex
	failed bool
	fail   any // the first panic of a worker
}

// share is the blocks of a job with which one thread begins and that nobody has claimed yet. The lower half
// of the word is the first of these blocks, the upper half the block after the last. The thread claims blocks
// from the front of its own share. When its share is used up, it takes blocks from the back of the others'
// shares. So loop after loop over the same range meets the same data on the same core. In a job with back
// set, front and back change places.
//
//	blocks   0 1 2 3 | 4 5 6 7 | 8 9 10 11
//	shares   thread 0  thread 1  thread 2
//	         0,1,2→  ←  4,5→  ←  8→          thread 2 is done first: it takes 3, then 7
type share struct {
	left atomic.Uint64
	_    [56]byte
}

func (s *share) set(lo, hi int) { s.left.Store(uint64(hi)<<32 | uint64(lo)) }

// claim takes a block, or returns -1.
func (s *share) claim(front bool) int {
	for {
		w := s.left.Load()
		lo, hi := w&(1<<32-1), w>>32
		if lo >= hi {
			return -1
		}
		if front {
			if s.left.CompareAndSwap(w, w+1) {
				return int(lo)
			}
		} else if s.left.CompareAndSwap(w, w-1<<32) {
			return int(hi) - 1
		}
	}
}

var (
	current atomic.Pointer[pool]
	setMu   sync.Mutex
)

// onJoin is what SetOnJoin was given.
var onJoin atomic.Pointer[func()]

// SetOnJoin has every worker call f before it takes part in a loop: a profiler labels the workers' goroutines so.
func SetOnJoin(f func()) { onJoin.Store(&f) }

// newPool starts the workers for a team of threads, the caller included. There are never more workers than
// GOMAXPROCS allows to run at once: surplus spinning workers would only take time from the useful ones.
func newPool(threads int) *pool {
	p := &pool{threads: threads, done: make(chan struct{}, 1)}
	p.workers = min(threads, runtime.GOMAXPROCS(0)) - 1
	p.wake = make(chan struct{}, max(p.workers, 1))
	p.shares = make([]share, p.workers+1)
	for i := range p.workers {
		go p.work(i)
	}
	return p
}

func getPool() *pool {
	if p := current.Load(); p != nil {
		return p
	}
	setMu.Lock()
	defer setMu.Unlock()
	if p := current.Load(); p != nil {
		return p
	}
	p := newPool(runtime.GOMAXPROCS(0))
	current.Store(p)
	return p
}

// NumThreads returns the size of the team that runs a [For], the caller
// included. Until [SetNumThreads] is called it is the value that GOMAXPROCS had
// at first use.
func NumThreads() int { return getPool().threads }

// SetNumThreads sets the size of the team. With n larger than GOMAXPROCS only GOMAXPROCS threads take part.
// Loops that are running keep their team. It panics if n < 1. The results of kernels do not depend on the
// number of threads.
func SetNumThreads(n int) {
	if n < 1 {
		panic(fmt.Sprintf("par.SetNumThreads: got %d threads, expected at least 1", n))
	}
	setMu.Lock()
	defer setMu.Unlock()
	old := current.Load()
	current.Store(newPool(n))
	if old != nil {
		old.quit.Store(true)
		old.wakeUp(old.workers)
	}
}

// For cuts [0,n) into blocks of exactly grain indices, the last one possibly
// shorter, and calls f(lo, hi) once for each block. Blocks run concurrently and
// in no particular order; For returns when all of them have finished. The cut
// depends on n and grain only.
//
// For runs serially, in order, when there is a single block, a single thread,
// or when the pool is taken (a nested or concurrent For). A panic in f is
// raised again in the caller, with the same value, after all running blocks
// have ended; blocks that had not begun may be skipped. A grain below 1 counts
// as 1; n below 1 does nothing.
func For(n, grain int, f func(lo, hi int)) { loop(n, grain, f, false) }

// Sweep is For for loops that stream through arrays of the given number of bytes together, of which the near
// caches hold only a part. Every other Sweep takes the blocks of each thread from the last to the first, also
// where it runs serially. So it begins with the data that the loop before it, over the same arrays, has left
// in the caches. For arrays larger than the last-level cache that gains nothing, and ascending order is
// faster.
func Sweep(n, grain, bytes int, f func(lo, hi int)) { loop(n, grain, f, bytes < cpu.L3) }

func loop(n, grain int, f func(lo, hi int), sweep bool) {
	if n <= 0 {
		return
	}
	if grain < 1 {
		grain = 1
	}
	if n <= grain {
		f(0, n)
		return
	}
	p := getPool()
	back := sweep && p.sweeps.Add(1)%2 == 0
	switch {
	case p.workers > 0 && (n-1)/grain < math.MaxInt32 && p.busy.CompareAndSwap(false, true):
		p.back = back
		p.run(n, grain, f)
	case back:
		for hi := n; hi > 0; {
			lo := (hi - 1) / grain * grain
			f(lo, hi)
			hi = lo
		}
	default:
		serial(0, n, grain, f)
	}
}

// serial runs the blocks of [lo,n) in order.
func serial(lo, n, grain int, f func(lo, hi int)) {
	for n-lo > grain { // written so that lo+grain cannot overflow
		f(lo, lo+grain)
		lo += grain
	}
	f(lo, n)
}

// run executes a job whose caller has taken the pool.
func (p *pool) run(n, grain int, f func(lo, hi int)) {
	first := 0 // block
	if int(p.parked.Load()) == p.workers {
		// All workers are parked. Time one block before deciding to wake them.
		first = 1
		opened := false
		defer func() {
			if !opened {
				p.busy.Store(false) // f panicked, or the job was small
			}
		}()
		start := time.Now()
		f(0, grain)
		cost := time.Since(start)
		left := (n - 1) / grain
		if cost*time.Duration(min(left, 1000)) < wakeWorth || left == 1 && cost < 2*wakeWorth {
			serial(grain, n, grain, f)
			return
		}
		opened = true
	}

	p.f, p.n, p.grain = f, n, grain
	total := (n-1)/grain + 1
	for i := range p.shares {
		p.shares[i].set(max(part(i, total, len(p.shares)), first), part(i+1, total, len(p.shares)))
	}
	p.state.Store((p.state.Load()&^(epochUnit-1) + epochUnit) | openBit)
	if parked := int(p.parked.Load()); parked > 0 {
		// a single block is done before a worker wakes, but the worker is then there for the next job
		p.wakeUp(min(parked, max(total-first-1, 1)))
	}
	// Deferred, because the caller's own block may panic: workers must have
	// left before anything that f uses goes out of scope.
	defer p.finish()
	p.blocks(0, f, n, grain)
}

// part is the first block of share i. The caller, who begins at once, has the largest share.
func part(i, total, shares int) int { return (i*total + shares - 1) / shares }

// blocks claims and runs blocks until none is left: first the blocks of the thread's own share.
func (p *pool) blocks(me int, f func(lo, hi int), n, grain int) {
	for i := range p.shares {
		s := &p.shares[(me+i)%len(p.shares)]
		front := i == 0 != p.back
		for b := s.claim(front); b >= 0; b = s.claim(front) {
			lo := b * grain
			f(lo, lo+min(grain, n-lo))
		}
	}
}

// stop makes claim find no more blocks.
func (p *pool) stop() {
	for i := range p.shares {
		p.shares[i].set(0, 0)
	}
}

// finish closes the job, waits for the workers inside it, frees the pool and
// raises a worker's panic.
func (p *pool) finish() {
	p.stop() // matters only after a panic
	s := p.state.And(^openBit)
	if s&countMask != 0 {
		p.await()
	}
	p.f = nil // do not keep the caller's data alive
	failed, fail := p.failed, p.fail
	p.failed, p.fail = false, nil
	p.busy.Store(false)
	if failed {
		panic(fail)
	}
}

// await spins, then parks, until no worker is inside the closed job.
func (p *pool) await() {
	start := time.Now()
	for i := 1; ; i++ {
		if p.state.Load()&countMask == 0 {
			return
		}
		pause()
		if i%64 == 0 {
			// The worker may need this very P to make progress.
			runtime.Gosched()
			if time.Since(start) > spinWindow {
				break
			}
		}
	}
	for {
		s := p.state.Load()
		if s&countMask == 0 {
			return
		}
		if p.state.CompareAndSwap(s, s|waitBit) {
			<-p.done
			return
		}
	}
}

// wakeUp leaves up to n tokens for parked workers.
func (p *pool) wakeUp(n int) {
	for range n {
		select {
		case p.wake <- struct{}{}:
		default:
			return // as many tokens as workers are already there
		}
	}
}

// work is the life of a worker.
func (p *pool) work(id int) {
	normal := false
	defer func() {
		// f called runtime.Goexit (a failing test does): replace this worker.
		if !normal {
			go p.work(id)
		}
	}()
	seen := uint64(0) // the last job that this worker has been in
	for p.idle(&seen, id) {
		if f := onJoin.Load(); f != nil {
			(*f)()
		}
		p.join(id + 1)
	}
	normal = true
}

// idle waits for a job that the worker has not seen and enters it. It returns
// false when the pool has been replaced.
func (p *pool) idle(seen *uint64, id int) bool {
	start := time.Now()
	for i := 1; ; i++ {
		if p.enter(seen) {
			return true
		}
		pause()
		if i%64 != 0 {
			continue
		}
		if p.quit.Load() {
			return false
		}
		// Let other goroutines have the P; this is also where the garbage
		// collector gets hold of a spinning worker.
		runtime.Gosched()
		if time.Since(start) < spinWindow {
			continue
		}
		// Announce first, look again second: a caller that opens a job in
		// between either sees the announcement or is seen here.
		p.parked.Add(1)
		if p.enter(seen) {
			p.parked.Add(-1)
			return true
		}
		if p.quit.Load() {
			return false
		}
		<-p.wake
		// GOMAXPROCS may have been lowered since the pool was made.
		for id >= runtime.GOMAXPROCS(0)-1 && !p.quit.Load() {
			<-p.wake
		}
		p.parked.Add(-1)
		start = time.Now()
	}
}

// enter joins the current job if it is open and new to the worker.
func (p *pool) enter(seen *uint64) bool {
	for {
		s := p.state.Load()
		if s&openBit == 0 || s/epochUnit == *seen {
			return false
		}
		if p.state.CompareAndSwap(s, s+1) {
			*seen = s / epochUnit
			return true
		}
	}
}

// join runs blocks of the job that the worker has entered, and leaves it.
func (p *pool) join(me int) {
	ok := false
	defer func() {
		if !ok {
			// recover returns nil for Goexit, which a caller must not take for
			// success.
			v := recover()
			if v == nil {
				v = "par.For: the function called runtime.Goexit in a worker"
			}
			p.failMu.Lock()
			if !p.failed {
				p.failed, p.fail = true, v
			}
			p.failMu.Unlock()
			p.stop() // nobody needs the other blocks
		}
		if s := p.state.Add(^uint64(0)); s&countMask == 0 && s&waitBit != 0 {
			p.done <- struct{}{}
		}
	}()
	p.blocks(me, p.f, p.n, p.grain)
	ok = true
}
