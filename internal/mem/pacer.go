package mem

import (
	"runtime"
	"sync"
	"time"
)

// minGrowth is how much the blocks in use may grow before the collector is woken, if they do not double.
const minGrowth = 64 << 20

// pacer wakes the collector: memory that is reused does not count as allocated for the runtime, so its own pacer would
// sleep. The lock is held by the goroutine that collects.
var pacer sync.Mutex

// finalizersLate is how long a finaliser of the program may hold up those of the blocks before the allocator goes on
// without them.
const finalizersLate = time.Second

// behindhand reports that a collection is due, and whether the blocks in use have outgrown even the collection that may
// be running: goroutines that allocate faster than the collector looks wait for it, so that their number does not
// decide how much garbage there is. The lock of the pool is held.
func behindhand() (due, late bool) {
	room := max(minGrowth, pool.baseline)
	grown := pool.stats.Allocated - pool.baseline
	return grown > room, grown > room+room/2
}

// collect runs the collector and returns when it has put the blocks that nothing refers to into their free lists. If
// a collection is running already, it returns at once, or, with wait, when that collection is done and another one has
// followed if one is still due.
func collect(wait bool) {
	if !pacer.TryLock() {
		if !wait {
			return
		}
		pacer.Lock()
		pool.Lock()
		due, _ := behindhand()
		pool.Unlock()
		if !due {
			pacer.Unlock()
			return
		}
	}
	defer pacer.Unlock()
	runCollector()
}

// collectNow is collect for callers that must know of all garbage that is there now.
func collectNow() {
	pacer.Lock()
	defer pacer.Unlock()
	runCollector()
}

func runCollector() {
	pool.Lock()
	before, byGC := pool.stats.Allocated, pool.byGC
	pool.Unlock()
	// A collection that the runtime began by itself does not count: its finalisers may be far from done, and a program
	// that takes the blocks they have not yet returned for live ones would let its memory double each time.
	done := make(chan struct{}, 1)
	sentinel(done)
	runtime.GC()
	// The finalisers run on their own goroutine. Wait for one that is as new as the blocks: when it has run, so have
	// most others.
	select {
	case <-done:
	case <-time.After(finalizersLate):
	}
	pool.Lock()
	s := &pool.stats
	s.Collections++
	// What other goroutines have allocated meanwhile is growth: were it counted as live, garbage would double with
	// each collection.
	pool.baseline = min(max(before-(pool.byGC-byGC), 0), s.Allocated)
	pool.idle.collected = s.Allocations
	pool.Unlock()
}

//go:noinline
func sentinel(done chan<- struct{}) {
	x := &struct {
		_ *int
		_ [56]byte
	}{}
	runtime.SetFinalizer(x, func(any) { done <- struct{}{} })
}
