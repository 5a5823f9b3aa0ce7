package tensor

import (
	"sync/atomic"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/mem"
)

// Storage is a block of memory that tensors view. Views of one tensor share a Storage.
type Storage struct {
	p unsafe.Pointer
	n int // bytes
	// order of creation where a mode is on, which lets the autograd engine tell what a gradient rule has just made
	seq     uint64
	version atomic.Uint32
	bits    atomic.Uint32
	ext     *foreign // of a storage that is not the CPU's: p is nil then
}

const (
	stReleased  uint32 = 1 << iota // freed: p is nil
	stKept                         // not freed by Tidy
	stShown                        // a Go slice of the memory was given out
	stGrad                         // made by Backward, now the gradient of a leaf: not freed by Tidy while it is
	stHeld                         // a gradient that the program has asked for outside Tidy, and so may hold
	stInference                    // made in InferenceMode
	stSeen                         // a gradient that the program has asked for
	stInner                        // only the tape knows it: see ReleaseAfter
	stForeign                      // the memory is another device's
	stTraced                       // a witness records what is done with it
	stSparse                       // of a sparse tensor: its indices and values have the memory
	stBatched                      // of a tensor inside a function that Vmap maps: it has no memory of its own
	stLent                         // the memory came from elsewhere: only the collector frees it
)

var storageSeq atomic.Uint64

// newStorage returns n bytes that are not cleared.
func newStorage(n int) *Storage {
	s := &Storage{p: mem.Alloc(n), n: n}
	s.entered()
	return s
}

// LentStorage returns a storage over memory that the caller lends: memory that the garbage collector sees, such as that
// of package mapfile, with 64 readable bytes behind it.
func LentStorage(b []byte) *Storage {
	s := &Storage{p: unsafe.Pointer(unsafe.SliceData(b)), n: len(b)}
	s.bits.Store(stLent)
	s.entered()
	return s
}

func init() { mem.Exhausted = func(e *mem.OutOfMemory) { Fail(ErrMemory, "%v", e) } }

// exhausted panics with ErrMemory, as there is no memory for a tensor. The call may be nil.
func (c *Ctx) exhausted(e *mem.OutOfMemory, shape []int, dt DType) {
	const format = "%v (tensor of shape %s and dtype %s)"
	if c == nil {
		Fail(ErrMemory, format, e, ShapeString(shape), dt)
	}
	c.Fail(ErrMemory, format, e, ShapeString(shape), dt)
}

// entered numbers a new storage and enters it in the goroutine's scope.
func (s *Storage) entered() {
	if activeModes.Load() != 0 {
		s.seq = storageSeq.Add(1)
		track(s)
	}
}

// NumBytes is the size of the storage.
func (s *Storage) NumBytes() int { return s.n }

// Bytes is the memory itself. It panics with ErrReleased when the memory was released.
func (s *Storage) Bytes() []byte {
	s.show()
	return unsafe.Slice((*byte)(s.p), s.n)
}

// Shown reports that the program was given the memory itself, which it may write to without raising the version. Small
// pieces are not watched.
func (s *Storage) Shown() bool { return s.bits.Load()&stShown != 0 || s.n < mem.Large }

// DataPtr is the address of the first byte.
func (s *Storage) DataPtr() unsafe.Pointer {
	s.show()
	return s.p
}

// show notes that the program has a slice of the memory, which may outlive the tensor: it is not used again while that
// is so.
func (s *Storage) show() {
	b := s.bits.Load()
	if b&(stReleased|stForeign) != 0 {
		s.panicAccess()
	}
	if witnesses.Load() != 0 {
		s.looked()
	}
	if b&stShown == 0 && s.n >= mem.Large {
		s.bits.Or(stShown)
	}
}

// panicAccess panics since Go code cannot read the memory.
func (s *Storage) panicAccess() {
	if s.bits.Load()&stReleased != 0 {
		s.panicReleased()
	}
	if s.bits.Load()&stBatched != 0 {
		refuseBatchRead("reading the elements of a Tensor")
	}
	if s.bits.Load()&stSparse != 0 {
		refuseSparseRead()
	}
	s.noHostMemory()
}

func (s *Storage) panicReleased() {
	Fail(ErrReleased, "this tensor's memory was released by Tidy: return it from the function or call Keep on it")
}

// release frees the memory at once. Tensors that view it panic with ErrReleased from now on.
func (s *Storage) release() {
	if s.bits.Load()&(stBatched|stSparse) != 0 {
		return
	}
	b := s.bits.Or(stReleased)
	if b&stReleased != 0 {
		return
	}
	if x := s.ext; x != nil {
		x.b.Free(x.mem)
		x.mem = nil
		s.freed()
		return
	}
	p := s.p
	s.p = nil
	if b&(stShown|stLent) == 0 { // otherwise the collector finds out when the last slice is gone
		mem.Free(p, s.n)
		s.freed()
	}
}

// keep exempts the storage from every Tidy.
func (s *Storage) keep() {
	if s.bits.Load()&stKept == 0 {
		s.bits.Or(stKept)
	}
}

// resize grows the storage to n bytes, keeping its contents, for a tensor of the given shape.
func (s *Storage) resize(n int, shape []int, dt DType) {
	if s.bits.Load()&stReleased != 0 {
		s.panicReleased()
	}
	if n <= s.n {
		return
	}
	if x := s.ext; x != nil {
		m, err := x.b.Alloc(x.dev, n)
		if err != nil {
			Fail(ErrMemory, "%d bytes on device %s: %v", n, x.dev, err)
		}
		x.b.Copy(m, 0, x.mem, 0, s.n)
		s.ext, s.n = &foreign{x.b, m, x.dev}, n
		return
	}
	// The old memory is left to the collector: a kernel of another goroutine may still read it.
	p, err := mem.TryAlloc(n)
	if err != nil {
		(*Ctx)(nil).exhausted(err, shape, dt)
	}
	vec.CopyBytes(unsafe.Slice((*byte)(p), s.n), unsafe.Slice((*byte)(s.p), s.n))
	s.p, s.n = p, n
}
