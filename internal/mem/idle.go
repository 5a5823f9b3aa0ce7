package mem

import (
	"runtime"
	"runtime/debug"
	"time"
)

const (
	// minCache is how much may lie in free lists before an allocation of new memory gives up unused blocks.
	minCache = 128 << 20

	// window is the number of such intervals after which a program that is never quiet gives up the blocks that it has
	// not needed in any of them. It is longer than most training steps, whose parts need different blocks.
	window = 8
	// worthCollecting is how many bytes in use must be new before a quiet program is searched for garbage.
	worthCollecting = 4 << 20
)

// quiet is how long nobody must have asked for a block before all free ones go back to the system.
var quiet = time.Second

// idle is the state of the clock that gives unused memory back. The clock runs only while there may be such memory.
type idle struct {
	timer     *time.Timer
	ticking   bool
	seen      int // Stats.Allocations at the last tick
	collected int // Stats.Allocations at the end of the last collection
	ticks     int // in the current window
}

// start starts the clock if it stands still. The lock is held.
func (c *idle) start() {
	if c.ticking {
		return
	}
	c.ticking, c.ticks, c.seen = true, 0, pool.stats.Allocations
	pool.low = [classes]int{} // nothing is known of how short the lists have been
	if c.timer == nil {
		c.timer = time.AfterFunc(quiet, func() { tick() })
	} else {
		c.timer.Reset(quiet)
	}
}

// tick runs at the end of each interval. In a quiet one no block was asked for: then the collector looks, once, for
// blocks that nothing refers to any more, and all free blocks are given back.
func tick() {
	pool.Lock()
	c := &pool.idle
	calm := c.seen == pool.stats.Allocations
	c.seen = pool.stats.Allocations
	garbage := c.collected != c.seen && pool.stats.Allocated-pool.baseline >= worthCollecting
	if calm && garbage {
		pool.Unlock()
		collectNow()
		pool.Lock()
		garbage = false
		calm = c.seen == pool.stats.Allocations
	}
	var given []block
	switch c.ticks++; {
	case calm, tight(0):
		given = trim(0)
	case c.ticks >= window:
		c.ticks = 0
		given = trimUnused()
	}
	if pool.cached > 0 || !calm || garbage {
		c.timer.Reset(quiet)
	} else {
		c.ticking = false
	}
	pool.Unlock()
	giveBack(given)
}

// trim takes free blocks out of their lists, the largest first, until at most keep bytes are left. The lock is held;
// the caller passes the blocks to giveBack without it.
func trim(keep int) (given []block) {
	for class := len(pool.free) - 1; class >= 0 && pool.cached > keep; class-- {
		given = drop(given, class, len(pool.free[class]))
	}
	return given
}

// trimUnused is trim for the blocks that have not been used since the current window began, and begins another one.
func trimUnused() (given []block) {
	for class := range pool.free {
		given = drop(given, class, pool.low[class])
		pool.low[class] = len(pool.free[class])
	}
	return given
}

// drop takes the n oldest blocks out of the list of a class.
func drop(given []block, class, n int) []block {
	if n == 0 {
		return given
	}
	l := pool.free[class]
	size := sizeOf(class)
	for _, b := range l[:n] {
		b.size = size
		given = append(given, b)
	}
	pool.cached -= n * size
	if n == len(l) {
		pool.free[class] = nil
	} else {
		clear(l[copy(l, l[n:]):])
		pool.free[class] = l[:len(l)-n]
	}
	pool.low[class] = min(pool.low[class], len(pool.free[class]))
	return given
}

// giveBack returns blocks that were taken out of their lists to the system.
func giveBack(given []block) {
	bytes := 0
	for _, b := range given {
		if b.armed {
			runtime.SetFinalizer((*byte)(b.p), nil)
		}
		discard(b.p, b.size)
		bytes += b.size
	}
	if !discards && bytes >= worthCollecting {
		clear(given)
		debug.FreeOSMemory()
	}
}
