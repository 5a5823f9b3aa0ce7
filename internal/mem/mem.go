// Package mem allocates the memory of tensors: 64-byte aligned, followed by at least 64 readable bytes, not cleared.
//
// Small pieces are ordinary Go memory. From [Large] on they are blocks of some sizes that are kept and handed out
// again, because fresh large memory is slow: the system has to map and clear every page of it.
//
// A block comes back in one of two ways. [Free] returns it at once; whoever calls it knows that nobody uses the memory
// any more. All other blocks are returned by a finaliser, which hands the unreachable block to the free list instead of
// letting it go. So the garbage collector sees every pointer into a block, from a tensor, a slice or a kernel's
// registers, and a block is reused only when there is none: forgetting to free costs time, never correctness. See
// docs/adr/0003-memory.md.
package mem

import (
	"math/bits"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"
	"unsafe"
)

const (
	align = 64
	tail  = 64 // readable bytes behind a piece

	// Blocks begin on pages of page bytes. Pieces begin up to (places-1)*apart bytes behind that: operands at the same
	// place of their pages would share few sets of the first-level cache, and a load could be taken for one of what was
	// just stored elsewhere. A distance of one or two lines is the worst: loops that store that far ahead of where they
	// load, modulo 4096, take up to a third longer.
	page   = 8192 // of the Go runtime
	places = 3
	apart  = 448
	pad    = tail + (places-1)*apart

	// Large is the size in bytes from which blocks are pooled. Below it clearing fresh memory costs less than a
	// finaliser; above it, a piece that was freed a moment ago is still in the cache, and fresh memory of the Go heap
	// is not.
	Large = 4 << 10

	// whole is the size from which the Go heap starts every object on a page of its own. All blocks take a multiple of
	// page: of smaller objects there are size classes for these sizes that do so, too.
	whole = 32 << 10

	// systemPage is the smallest page of any system, behind is how much of a block is touched behind its first piece:
	// all of it up to fine.
	systemPage = 4 << 10
	behind     = fine / 4

	// fine is the size from which on there are sixteen sizes per power of two.
	fine = 1 << 20
	// classes is more than there are: 16 for each power of two.
	classes = 48 << 4

	// minGrowth is how much the blocks in use may grow before the collector is woken, if they do not double.
	minGrowth = 64 << 20
	// minCache is how much may lie in free lists before unused blocks are given up.
	minCache = 256 << 20
)

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
	Collections  int // how often the pacer has called the collector
}

type block struct {
	p     unsafe.Pointer
	armed bool // its finaliser is set
}

var pool struct {
	sync.Mutex
	free     [classes][]block // by class
	cached   int              // bytes in free
	baseline int              // bytes in use after the last collection
	stats    Stats
}

// classOf rounds a size up to one of a few sizes per power of two: four, so that at most a fifth is lost, and sixteen
// from [fine] on, where memory counts for more than the number of lists. The pad comes on top, so that round sizes lose
// nothing, and small blocks fill their pages.
func classOf(n int) (class, size int) {
	k := bits.Len(uint(n-1)) - 1 // 2^k <= n-1 < 2^(k+1)
	b := 2
	if n > fine {
		b = 4
	}
	step := 1 << (k - b)
	size = (n + step - 1) &^ (step - 1)
	return k<<4 | (size-1)>>(k-b)&(1<<b-1), padded(size)
}

// padded is the size of a block for a piece of n bytes.
func padded(n int) int { return (n + pad + page - 1) &^ (page - 1) }

// sizeOf is the size of the blocks of a class.
func sizeOf(class int) int {
	k, b := class>>4, 2
	if 1<<k >= fine {
		b = 4
	}
	return padded((1<<b + class&15 + 1) << k >> b)
}

// Alloc returns n bytes with any contents.
func Alloc(n int) unsafe.Pointer {
	if n >= Large {
		return allocLarge(n)
	}
	front := 0
	if Guarded {
		front = align
	}
	b := make([]byte, front+n+align+tail)
	p := unsafe.Pointer(unsafe.SliceData(b))
	return guard(unsafe.Add(p, front+int(-uintptr(p)&(align-1))), n, front)
}

func allocLarge(n int) unsafe.Pointer {
	class, size := classOf(n)
	var b block
	pool.Lock()
	s := &pool.stats
	s.Allocations++
	if l := pool.free[class]; len(l) > 0 {
		b = l[len(l)-1]
		l[len(l)-1] = block{}
		pool.free[class] = l[:len(l)-1]
		pool.cached -= size
	} else {
		s.FromSystem++
		if pool.cached+size > max(minCache, s.Allocated) {
			trim(size)
		}
	}
	s.Allocated += size
	s.Reserved = s.Allocated + pool.cached
	s.Peak, s.PeakReserved = max(s.Peak, s.Allocated), max(s.PeakReserved, s.Reserved)
	grown := s.Allocated - pool.baseline
	due := grown > max(minGrowth, pool.baseline)
	pool.Unlock()
	if due {
		collect()
	}
	if b.p == nil {
		b.p = fresh(size, n)
	}
	if !b.armed {
		runtime.SetFinalizer((*byte)(b.p), finalizers[class])
	}
	front := int(uintptr(b.p) / page % places * apart)
	return guard(unsafe.Add(b.p, front), n, front)
}

// blockOf is the block that a piece lies in.
func blockOf(p unsafe.Pointer) unsafe.Pointer { return unsafe.Add(p, -int(uintptr(p)%page)) }

// fresh gets new memory from the Go heap. A string builder's buffer is the one allocation that the language does not
// clear. Objects of these sizes start on a page of the runtime; should that ever change for the smaller ones, they
// become larger.
//
// The pages behind a piece of n bytes are touched: kernels fetch ahead of what they work on, and there are processors
// that search for each line of a page that is not there for a third of a microsecond. A later piece of the block ends
// among them, too.
func fresh(size, n int) unsafe.Pointer {
	p := uncleared(size)
	if uintptr(p)%page != 0 {
		p = uncleared(max(size, 2*whole))
	}
	advise(p, size)
	for at := n; at < min(size, n+behind); at += systemPage {
		*(*byte)(unsafe.Add(p, at)) = 0
	}
	return p
}

func uncleared(size int) unsafe.Pointer {
	var b strings.Builder
	b.Grow(size)
	b.WriteByte(0)
	return unsafe.Pointer(unsafe.StringData(b.String()))
}

// finalizers put unreachable blocks of a class back into its free list.
var finalizers [classes]func(*byte)

func init() {
	for class := range finalizers {
		finalizers[class] = func(p *byte) { put(class, sizeOf(class), block{unsafe.Pointer(p), false}) }
	}
}

// Free returns what Alloc(n) gave, when nothing uses it any more. Small pieces are left to the collector.
func Free(p unsafe.Pointer, n int) {
	unguard(p)
	if n < Large || p == nil {
		return
	}
	class, size := classOf(n)
	put(class, size, block{blockOf(p), true})
}

func put(class, size int, b block) {
	pool.Lock()
	pool.free[class] = append(pool.free[class], b)
	pool.cached += size
	s := &pool.stats
	s.Allocated -= size
	if b.armed {
		s.FreedAtOnce++
	} else {
		s.FreedByGC++
	}
	pool.baseline = min(pool.baseline, s.Allocated)
	pool.Unlock()
}

// trim gives up free blocks, the largest first, until a quarter of the limit and the new block fit. The lock is held.
func trim(size int) {
	limit := max(minCache, pool.stats.Allocated)/4 - size
	for class := len(pool.free) - 1; class >= 0 && pool.cached > limit; class-- {
		drop(class)
	}
}

func drop(class int) {
	for _, b := range pool.free[class] {
		if b.armed {
			runtime.SetFinalizer((*byte)(b.p), nil)
		}
		discard(b.p, sizeOf(class))
		pool.cached -= sizeOf(class)
	}
	pool.free[class] = nil
}

// pacer wakes the collector: memory that is reused does not count as allocated for the runtime, so its own pacer would
// sleep.
var pacer sync.Mutex

// finalizersLate is how long a finaliser of the program may hold up those of the blocks before the allocator goes on
// without them.
const finalizersLate = time.Second

func collect() {
	if !pacer.TryLock() {
		return // somebody is at it
	}
	defer pacer.Unlock()
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
	pool.stats.Collections++
	pool.baseline = pool.stats.Allocated
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

// EmptyCache gives all blocks that are not in use back to the system.
func EmptyCache() {
	pool.Lock()
	for class := range pool.free {
		drop(class)
	}
	pool.Unlock()
	debug.FreeOSMemory()
}
