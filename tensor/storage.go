package tensor

import (
	"sync/atomic"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/mem"
)

// Storage is a block of memory that tensors view. Views of one tensor share a Storage.
type Storage struct {
	p        unsafe.Pointer
	n        int // bytes
	version  atomic.Uint32
	seq      uint64 // order of creation, lets the autograd engine tell what a gradient rule has just made
	released bool
}

var storageSeq atomic.Uint64

// newStorage returns n bytes that are not cleared.
func newStorage(n int) *Storage {
	s := &Storage{p: mem.Alloc(n), n: n, seq: storageSeq.Add(1)}
	track(s)
	return s
}

// NumBytes is the size of the storage.
func (s *Storage) NumBytes() int { return s.n }

// Bytes is the memory itself.
func (s *Storage) Bytes() []byte {
	if s.released {
		panic(&Error{Msg: "this tensor's memory was released by Tidy: return it from the function or call Keep on it", Err: ErrReleased, Caller: caller()})
	}
	return unsafe.Slice((*byte)(s.p), s.n)
}

// DataPtr is the address of the first byte.
func (s *Storage) DataPtr() unsafe.Pointer { return s.p }

// resize grows the storage, keeping its contents.
func (s *Storage) resize(n int) {
	if n <= s.n {
		return
	}
	p := mem.Alloc(n)
	copy(unsafe.Slice((*byte)(p), n), unsafe.Slice((*byte)(s.p), s.n))
	s.p, s.n = p, n
}
