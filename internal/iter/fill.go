package iter

import (
	"math"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
)

// Fill writes n copies of the element of size bytes at src to dst, on several threads if n is large.
func Fill(dst, src unsafe.Pointer, n, size int) {
	one := elementAt(src, size) // a copy, because src may lie in dst
	if one == (element{}) {
		Zero(dst, n*size)
		return
	}
	if n*size <= fillGrain {
		one.repeat(dst, n, size)
		return
	}
	many := one // the closure's own copy, so that the variable of the short path is not allocated on the heap
	par.For(n, fillGrain/size, func(lo, hi int) { many.repeat(unsafe.Add(dst, lo*size), hi-lo, size) })
}

// Zero clears n bytes, on several threads if n is large.
func Zero(dst unsafe.Pointer, n int) {
	words := n / 4
	d := unsafe.Slice((*float32)(dst), words)
	if n <= fillGrain {
		vec.FillF32(d, 0)
	} else {
		par.For(words, fillGrain/4, func(lo, hi int) { vec.Zero(d[lo:hi], n) })
		vec.ZeroDone()
	}
	clear(unsafe.Slice((*byte)(dst), n)[words*4:])
}

// fillGrain is the number of bytes of a task.
const fillGrain = 256 << 10

// element holds one element of up to 16 bytes, repeated over the 16 bytes.
type element [2]uint64

func elementAt(p unsafe.Pointer, size int) element {
	if size > 8 {
		return *(*element)(p)
	}
	e := word(p, size)
	return element{e, e}
}

// word is an element of up to eight bytes, repeated over eight.
func word(p unsafe.Pointer, size int) uint64 {
	switch size {
	case 1:
		return uint64(*(*uint8)(p)) * 0x0101010101010101
	case 2:
		return uint64(*(*uint16)(p)) * 0x0001000100010001
	case 4:
		return uint64(*(*uint32)(p)) * 0x0000000100000001
	default:
		return *(*uint64)(p)
	}
}

// repeat writes n elements of size bytes.
func (e *element) repeat(dst unsafe.Pointer, n, size int) {
	d := unsafe.Slice((*byte)(dst), n*size)
	if e[0] == e[1] {
		words := len(d) / 8
		vec.FillF64(unsafe.Slice((*float64)(dst), words), math.Float64frombits(e[0]))
		copy(d[words*8:], unsafe.Slice((*byte)(unsafe.Pointer(e)), 8))
		return
	}
	// A piece that stays in the first-level cache is copied again and again.
	first := d[:min(len(d), 4096)]
	for k := copy(first, unsafe.Slice((*byte)(unsafe.Pointer(e)), 16)); k < len(first); k *= 2 {
		copy(first[k:], first[:k])
	}
	for k := len(first); k < len(d); k += copy(d[k:], first) {
	}
}
