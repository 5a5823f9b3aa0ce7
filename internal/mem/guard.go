//go:build guard

package mem

import (
	"fmt"
	"runtime"
	"sync"
	"unsafe"
)

// Guarded says that the program was built with the tag guard: the bytes around every piece are watched, and
// [CheckGuards] tells who wrote there. It is for tests; it takes time, and memory that is in use stays in use until the
// check.
const Guarded = true

const guardByte = 0xA7

// A piece is what Alloc gave, and who asked for it.
type piece struct {
	p        unsafe.Pointer // keeps the memory: a check of freed memory would be one of somebody else's
	n, front int
	by       [4]uintptr
}

var guards struct {
	sync.Mutex
	pieces map[unsafe.Pointer]piece
	first  error
}

// guard surrounds a piece with front and tail bytes of a pattern. Blocks that are handed out again get a new guard, as
// their size may differ.
func guard(p unsafe.Pointer, n, front int) unsafe.Pointer {
	g := piece{p: p, n: n, front: front}
	runtime.Callers(3, g.by[:])
	for _, b := range g.around() {
		for i := range b {
			b[i] = guardByte
		}
	}
	guards.Lock()
	if guards.pieces == nil {
		guards.pieces = map[unsafe.Pointer]piece{}
	}
	guards.pieces[p] = g
	guards.Unlock()
	return p
}

func (g *piece) around() [2][]byte {
	return [2][]byte{unsafe.Slice((*byte)(unsafe.Add(g.p, -g.front)), g.front),
		unsafe.Slice((*byte)(unsafe.Add(g.p, g.n)), tail)}
}

// unguard checks a piece that is about to be freed and forgets it.
func unguard(p unsafe.Pointer) {
	guards.Lock()
	defer guards.Unlock()
	if g, ok := guards.pieces[p]; ok {
		g.check()
		delete(guards.pieces, p)
	}
}

func (g *piece) check() {
	for side, b := range g.around() {
		for i, c := range b {
			if c == guardByte || guards.first != nil {
				continue
			}
			at := fmt.Sprintf("%d bytes before", g.front-i)
			if side == 1 {
				at = fmt.Sprintf("%d bytes behind the end of", i)
			}
			msg := fmt.Sprintf("mem: written %s a piece of %d bytes, allocated by", at, g.n)
			frames := runtime.CallersFrames(g.by[:])
			for {
				f, more := frames.Next()
				msg += fmt.Sprintf(" %s:%d", f.Function, f.Line)
				if !more {
					break
				}
			}
			guards.first = fmt.Errorf("%s", msg)
		}
	}
}

// CheckGuards reports the first write beside a piece since the last call, and lets go of all pieces.
func CheckGuards() error {
	guards.Lock()
	defer guards.Unlock()
	for _, g := range guards.pieces {
		g.check()
	}
	guards.pieces = nil
	err := guards.first
	guards.first = nil
	return err
}
