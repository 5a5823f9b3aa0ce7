package mem

import "runtime/debug"

// Stats describes the pooled memory, in bytes. Pieces below [Large] are not counted.
type Stats struct {
	Allocated    int // in use, or not yet found to be unused
	Reserved     int // Allocated and what lies in free lists
	Peak         int // highest Allocated since the start or ResetPeak
	PeakReserved int // highest Reserved
	Allocations  int // blocks handed out
	FromSystem   int // how many of them were new memory
	FreedAtOnce  int // blocks returned by Free
	FreedByGC    int // blocks returned by the garbage collector
	Collections  int // how often the allocator has called the collector
}

// ReadStats returns the current figures.
func ReadStats() Stats {
	pool.Lock()
	defer pool.Unlock()
	s := pool.stats
	s.Reserved = s.Allocated + pool.cached
	return s
}

// ResetPeak sets the peaks to the current figures.
func ResetPeak() {
	pool.Lock()
	defer pool.Unlock()
	s := &pool.stats
	s.Peak, s.PeakReserved = s.Allocated, s.Allocated+pool.cached
}

// minKept is how much Shrink leaves in any case.
const minKept = 16 << 20

// Shrink gives free blocks back to the system, the largest first, until at most a quarter of what is in use, or minKept
// bytes, are left. It is for the end of work that needs more memory than what follows and will not be repeated.
func Shrink() {
	pool.Lock()
	given := trim(max(minKept, pool.stats.Allocated/4))
	pool.Unlock()
	giveBack(given)
}

// EmptyCache gives all blocks that are not in use back to the system, after a collection has found those that nothing
// refers to any more.
func EmptyCache() {
	collectNow()
	pool.Lock()
	given := trim(0)
	pool.Unlock()
	giveBack(given)
	debug.FreeOSMemory()
}
