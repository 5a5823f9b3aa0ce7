// Package mem allocates the memory of tensors: 64-byte aligned, followed by at least 64 readable bytes, not cleared.
//
// Small pieces are ordinary Go memory. From [Large] on they are blocks of some sizes that are kept and handed out
// again, because fresh large memory is slow: the system has to map and clear every page of it.
//
// A block comes back in one of two ways. [Free] returns it at once; whoever calls it knows that nobody uses the memory
// any more. All other blocks are returned by a finaliser, which hands the unreachable block to the free list instead of
// letting it go. So the garbage collector sees every pointer into a block, from a tensor, a slice or a kernel's
// registers, and a block is reused only when there is none: forgetting to free costs time, never correctness. Blocks
// that nobody has asked for in a quiet second go back to the system. An allocation that would exceed the limit of
// [SetLimit] fails with [OutOfMemory], where the runtime would end the process. See docs/adr/0003-memory.md.
package mem

import (
	"runtime"
	"strings"
	"sync"
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
)

type block struct {
	p     unsafe.Pointer
	armed bool // its finaliser is set
	size  int  // of a block that is being given back
}

var pool struct {
	sync.Mutex
	free [classes][]block // by class, the latest last
	// low is the shortest that a free list has been in the current window: so many of its blocks, the oldest, have
	// been of no use.
	low      [classes]int
	odd      map[uintptr]int // classes of blocks that hold a piece of a smaller class
	cached   int             // bytes in free
	baseline int             // bytes in use after the last collection
	byGC     int             // bytes that the collector has returned
	stats    Stats
	idle     idle
}

// Alloc returns n bytes with any contents. When memory does not suffice it panics with what [Exhausted] makes of the
// error.
func Alloc(n int) unsafe.Pointer {
	p, err := TryAlloc(n)
	if err != nil {
		Exhausted(err)
	}
	return p
}

// TryAlloc is Alloc for callers that say themselves what the memory was for.
func TryAlloc(n int) (unsafe.Pointer, *OutOfMemory) {
	if n >= Large {
		return allocLarge(n)
	}
	front := 0
	if Guarded {
		front = align
	}
	b := make([]byte, front+n+align+tail)
	p := unsafe.Pointer(unsafe.SliceData(b))
	return guard(unsafe.Add(p, front+int(-uintptr(p)&(align-1))), n, front), nil
}

func allocLarge(n int) (unsafe.Pointer, *OutOfMemory) {
	most := Limit()
	if n > most-pad { // before the size is rounded up: that may overflow
		return nil, outOfMemory(n)
	}
	class, size := classOf(n)
	pool.Lock()
	b, in := take(class)
	if b.p == nil {
		if !room(size, most) {
			pool.Unlock()
			makeRoom(size, most)
			pool.Lock()
			if b, in = take(class); b.p == nil && pool.stats.Allocated+size > most {
				pool.Unlock()
				return nil, outOfMemory(n)
			}
		}
	}
	s := &pool.stats
	s.Allocations++
	var given []block
	if b.p == nil {
		s.FromSystem++
		if pool.cached+size > max(minCache, s.Allocated) || s.Allocated+pool.cached+size > most {
			given = trim(min(max(minCache, s.Allocated)/4, most-s.Allocated) - size)
		}
	} else {
		size = sizeOf(in)
		if in != class {
			if pool.odd == nil {
				pool.odd = map[uintptr]int{}
			}
			pool.odd[uintptr(b.p)] = in
			class = in
		}
	}
	s.Allocated += size
	s.Reserved = s.Allocated + pool.cached
	s.Peak, s.PeakReserved = max(s.Peak, s.Allocated), max(s.PeakReserved, s.Reserved)
	due, late := behindhand()
	pool.idle.start()
	pool.Unlock()
	giveBack(given)
	if due {
		collect(late)
	}
	if b.p == nil {
		b.p = fresh(size, n)
	}
	if !b.armed {
		runtime.SetFinalizer((*byte)(b.p), finalizers[class])
	}
	front := int(uintptr(b.p) / page % places * apart)
	return guard(unsafe.Add(b.p, front), n, front), nil
}

// take takes the latest free block of the class, or of one whose blocks are a little larger. The lock is held.
func take(class int) (b block, in int) {
	in = class
	for i := steps(class); ; i-- {
		if l := pool.free[in]; len(l) > 0 {
			b = l[len(l)-1]
			l[len(l)-1] = block{}
			pool.free[in] = l[:len(l)-1]
			pool.low[in] = min(pool.low[in], len(l)-1)
			pool.cached -= sizeOf(in)
			return b, in
		}
		if i == 0 {
			return block{}, class
		}
		in = after(in)
	}
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
		finalizers[class] = func(p *byte) { put(class, block{p: unsafe.Pointer(p)}) }
	}
}

// Free returns what Alloc(n) gave, when nothing uses it any more. Small pieces are left to the collector.
func Free(p unsafe.Pointer, n int) {
	unguard(p)
	if n < Large || p == nil {
		return
	}
	class, _ := classOf(n)
	put(class, block{p: blockOf(p), armed: true})
}

// put enters a block into a free list. The class is that of the piece, which may be smaller than the block's.
func put(class int, b block) {
	pool.Lock()
	if len(pool.odd) > 0 {
		if c, ok := pool.odd[uintptr(b.p)]; ok {
			delete(pool.odd, uintptr(b.p))
			class = c
		}
	}
	size := sizeOf(class)
	pool.free[class] = append(pool.free[class], b)
	pool.cached += size
	s := &pool.stats
	s.Allocated -= size
	if b.armed {
		s.FreedAtOnce++
	} else {
		s.FreedByGC++
		pool.byGC += size
	}
	pool.baseline = min(pool.baseline, s.Allocated)
	pool.idle.start()
	pool.Unlock()
}
