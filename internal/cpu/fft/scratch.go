package fft

import (
	"sync"
	"unsafe"
)

// scratch is memory for the planes of a task, 64-byte aligned.
type scratch[E Float] struct {
	all, data []E
}

var pool32, pool64 sync.Pool

func poolOf[E Float]() *sync.Pool {
	if unsafe.Sizeof(E(0)) == 4 {
		return &pool32
	}
	return &pool64
}

// borrow gives room for n numbers, whose values are anything.
func borrow[E Float](n int) *scratch[E] {
	b, _ := poolOf[E]().Get().(*scratch[E])
	if b == nil {
		b = &scratch[E]{}
	}
	if len(b.data) < n {
		b.all = make([]E, n+lanes[E]())
		size := int(unsafe.Sizeof(E(0)))
		off := (64 - int(uintptr(unsafe.Pointer(&b.all[0]))%64)) % 64 / size
		b.data = b.all[off:][:n]
	}
	return b
}

// keepBytes is the largest scratch that stays in the pool.
const keepBytes = 32 << 20

func giveBack[E Float](b *scratch[E]) {
	if len(b.data)*int(unsafe.Sizeof(E(0))) <= keepBytes {
		poolOf[E]().Put(b)
	}
}

// planes are two planes of n numbers from number i on.
func (b *scratch[E]) planes(i, n int) planes[E] {
	return planes[E]{b.data[i:][:n:n], b.data[i+n:][:n:n]}
}
