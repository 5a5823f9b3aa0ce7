package tensor

import (
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
)

// RegionKind says what a Region is.
type RegionKind uint8

// The kinds of regions.
const (
	RegionUser      RegionKind = iota // a part of the program that it has named itself
	RegionModule                      // the Forward of a module
	RegionOptimizer                   // the step of an optimizer
	RegionZeroGrad                    // an optimizer drops the gradients
)

// Region is a part of a program that a RegionLayer is told of.
type Region struct {
	Kind RegionKind
	Name string
	// Of is the module or the optimizer, nil where the program has named the region.
	Of any
	// Out are the results of a module's Forward when the region is left, nil when it panicked.
	Out []*Tensor
}

// RegionLayer is a Layer that is also told in which part of the program operators are called. A recorder of programs is
// one.
type RegionLayer interface {
	Layer
	// Enter and Leave are called around a region, Leave also when the region panics.
	Enter(r Region)
	Leave(r Region)
}

// Observer is a Watcher that sees more of a program than its operators: in which part of the program they are called,
// when a gradient rule begins, and what memory is taken and given back. It must not hold on to the tensors that it
// sees: memory is freed as early as without it. A profiler is one.
type Observer interface {
	Watcher
	RegionLayer
	// RuleBegins is called before the gradient rule of a node, and before a gradient is added to that of a leaf; Rule
	// or RuleFailed is called behind it.
	RuleBegins(n *Node)
	// Allocated is called when the memory of a tensor is taken, and, with a negative number of bytes, when it is given
	// back at once. What the garbage collector finds later is told to a CollectionObserver only.
	Allocated(bytes int)
}

// CollectionObserver is an Observer that is also told of the memory that it saw being taken and that the garbage
// collector finds to be unused later. Each piece of memory costs it a cleanup of the runtime.
type CollectionObserver interface {
	Observer
	// ObservesCollection reports whether it wants to be told, for each piece of memory that is taken.
	ObservesCollection() bool
	// Collected is called, on a goroutine of the runtime, when the collector has found the memory of a tensor.
	Collected(bytes int)
}

// regionLayers counts the RegionLayers of all goroutines: while it is zero nobody has to look.
var regionLayers atomic.Int32

// observedMode is the mode of the calling goroutine when a RegionLayer may look on, nil otherwise.
func observedMode() *mode {
	if regionLayers.Load() == 0 {
		return nil
	}
	return currentMode()
}

// IsObserved reports that a RegionLayer looks on: who tells it of regions only has to do so then.
func IsObserved() bool {
	m := observedMode()
	return m != nil && len(m.regions) > 0
}

// InRegion runs f as a part of the program that the RegionLayers of the goroutine are told of. f returns what they see
// as Region.Out.
func InRegion(r Region, f func() []*Tensor) {
	m := observedMode()
	if m == nil || len(m.regions) == 0 {
		f()
		return
	}
	list := m.regions
	for _, o := range list {
		o.Enter(r)
	}
	defer func() {
		for i := len(list) - 1; i >= 0; i-- {
			list[i].Leave(r)
		}
	}()
	r.Out = f()
}

// allocated tells the observers of the goroutine that memory was taken or, with a negative number, given back.
func allocated(bytes int) {
	if m := observedMode(); m != nil {
		for _, o := range m.observers {
			o.Allocated(bytes)
		}
	}
}

// observedStorage is a storage that observers were told of, until it is freed. It does not refer to the storage, which
// would keep that alive.
type observedStorage struct {
	seq     uint64
	bytes   int
	list    []CollectionObserver
	told    atomic.Bool
	cleanup runtime.Cleanup
}

// observedStorages are those that nobody has freed yet, by the address of the Storage. Another storage may have the
// address before the cleanup of a former one has run: seq tells them apart.
var observedStorages sync.Map // uintptr → *observedStorage

// observeCollection has those of the observers told that want to know when the collector frees s.
func observeCollection(s *Storage, observers []Observer) {
	var list []CollectionObserver
	for _, o := range observers {
		if c, ok := o.(CollectionObserver); ok && c.ObservesCollection() {
			list = append(list, c)
		}
	}
	if list == nil {
		return
	}
	key, x := uintptr(unsafe.Pointer(s)), &observedStorage{seq: s.seq, bytes: s.n, list: list}
	observedStorages.Store(key, x)
	x.cleanup = runtime.AddCleanup(s, func(x *observedStorage) {
		observedStorages.CompareAndDelete(key, x)
		if x.told.Swap(true) {
			return
		}
		for _, o := range x.list {
			o.Collected(x.bytes)
		}
	}, x)
}

// freed tells observers that the memory of s was given back at once. The collector has nothing to tell any more.
func (s *Storage) freed() {
	if regionLayers.Load() == 0 {
		return
	}
	key := uintptr(unsafe.Pointer(s))
	if v, ok := observedStorages.Load(key); ok {
		if x := v.(*observedStorage); x.seq == s.seq && !x.told.Swap(true) {
			observedStorages.CompareAndDelete(key, v)
			x.cleanup.Stop()
		}
	}
	allocated(-s.n)
}

// observedOnly reports that none of the layers may hold on to the tensors that it sees.
func (m *mode) observedOnly() bool {
	for _, l := range m.layers {
		if _, ok := l.(Observer); !ok {
			return false
		}
	}
	return true
}
