package mem

import (
	"fmt"
	"math"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"unsafe"
)

// OutOfMemory is what a failed allocation reports.
type OutOfMemory struct {
	Bytes int // asked for
	InUse int // Stats.Allocated
	Limit int // that both together exceed
}

// Error names the sizes, first in PyTorch's words.
func (e *OutOfMemory) Error() string {
	return fmt.Sprintf("DefaultCPUAllocator: can't allocate memory: you tried to allocate %d bytes. These are %s; %s are "+
		"in use, and the limit is %s", e.Bytes, Human(e.Bytes), Human(e.InUse), Human(e.Limit))
}

// Human prints a number of bytes with a unit: "23.4 GiB".
func Human(n int) string {
	const units = "KMGTPE"
	x, u := float64(n), -1
	for x >= 1024 && u < len(units)-1 {
		x, u = x/1024, u+1
	}
	if u < 0 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%.1f %ciB", x, units[u])
}

// Exhausted panics with a failed allocation's error. The package of tensors puts its own kind of error in its place.
var Exhausted = func(e *OutOfMemory) { panic(e) }

var (
	limit   atomic.Int64 // 0: what the machine has
	machine = sync.OnceValue(systemMemory)
)

// Limit is how many bytes may be in use: what SetLimit was told, otherwise what the machine or the container has.
func Limit() int {
	if l := limit.Load(); l != 0 {
		return int(l)
	}
	return machine()
}

// SetLimit changes Limit and returns the former one. A negative number changes nothing.
func SetLimit(n int) (old int) {
	old = Limit()
	if n >= 0 {
		limit.Store(int64(max(n, 1)))
	}
	return old
}

func outOfMemory(n int) *OutOfMemory { return &OutOfMemory{n, ReadStats().Allocated, Limit()} }

// checkFrom is the size from which Check looks at the limit.
const checkFrom = 1 << 20

// Check fails as Alloc does when n elements of size bytes do not fit beside what is in use. It stands before the Go
// heap is asked for a list whose length a program's arguments decide: there the runtime would end the process.
func Check(n, size int) {
	if n < checkFrom/size {
		return
	}
	bytes := math.MaxInt
	if n <= math.MaxInt/size {
		bytes = n * size
	}
	if e := outOfMemory(bytes); bytes > e.Limit-e.InUse {
		// some of what is in use may be garbage
		if bytes <= e.Limit {
			collectNow()
			if e = outOfMemory(bytes); bytes <= e.Limit-e.InUse {
				return
			}
		}
		Exhausted(e)
	}
}

// Make is make([]T, n) after [Check].
func Make[T any](n int) []T {
	Check(n, max(int(unsafe.Sizeof(*new(T))), 1))
	return make([]T, n)
}

// room reports that a new block fits below the limit, and that the Go runtime is not near its own. The lock is held.
func room(size, most int) bool { return pool.stats.Allocated+size <= most && !tight(size) }

// makeRoom gives all free blocks up and has the collector look for more, where that may help.
func makeRoom(size, most int) {
	pool.Lock()
	given := trim(0)
	grown := pool.stats.Allocated - pool.baseline
	short := pool.stats.Allocated+size > most
	pool.Unlock()
	giveBack(given)
	if short || int64(grown) > debug.SetMemoryLimit(-1)/grownShare {
		collectNow()
	}
}

// grownShare is the share of GOMEMLIMIT by which the memory in use must have grown before the collector looks again.
const grownShare = 16

// heap holds the names of what the runtime counts against GOMEMLIMIT. It is guarded by the pool's lock.
var heap = [...]metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}

// tight reports that with size bytes more the Go runtime comes near the limit of GOMEMLIMIT: there it collects garbage
// all the time, and blocks that wait to be used again are what it collects in vain. The lock is held.
func tight(size int) bool {
	limit := debug.SetMemoryLimit(-1)
	if limit == math.MaxInt64 {
		return false
	}
	dropBallast()
	metrics.Read(heap[:])
	used := int64(heap[0].Value.Uint64()) - int64(heap[1].Value.Uint64())
	return used+int64(size) > limit-limit/8
}
