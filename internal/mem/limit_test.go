package mem

import (
	"errors"
	"math"
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// Tests call tick themselves.
func init() { quiet = time.Hour }

// withLimit lets n bytes more be in use than are now.
func withLimit(t *testing.T, n int) {
	t.Helper()
	letsGo(t)
	EmptyCache()
	old := SetLimit(ReadStats().Allocated + n)
	t.Cleanup(func() { SetLimit(old) })
}

func TestLimit(t *testing.T) {
	withLimit(t, 16<<20)
	if _, err := TryAlloc(16 << 20); err == nil || err.Bytes != 16<<20 {
		t.Errorf("as much as the limit, and the block's margin: %v", err)
	}
	for _, n := range []int{1 << 40, math.MaxInt, math.MaxInt - pad, math.MaxInt &^ 4095} {
		if _, err := TryAlloc(n); err == nil || err.Bytes != n || err.Limit != Limit() {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	// Free blocks of another size are given up before an allocation fails.
	p, err := TryAlloc(12 << 20)
	if err != nil {
		t.Fatal(err)
	}
	Free(p, 12<<20)
	p, err = TryAlloc(7 << 20)
	if err != nil {
		t.Fatal(err)
	}
	if s := ReadStats(); s.Reserved > Limit() {
		t.Errorf("%d bytes reserved with a limit of %d", s.Reserved, Limit())
	}
	if _, err = TryAlloc(10 << 20); err == nil {
		t.Error("17 MiB with a limit of 16")
	}
	Free(p, 7<<20)
}

// Blocks that nothing refers to any more are found before an allocation fails.
func TestLimitCollects(t *testing.T) {
	withLimit(t, 16<<20)
	for i := range 20 {
		p, err := TryAlloc(9 << 20)
		if err != nil {
			t.Fatalf("allocation %d: %v", i, err)
		}
		*(*byte)(p) = 1
	}
}

func TestExhausted(t *testing.T) {
	withLimit(t, 1<<20)
	fails := func(name string, f func()) {
		defer func() {
			var e *OutOfMemory
			if err, _ := recover().(error); !errors.As(err, &e) {
				t.Errorf("%s: %v", name, err)
			}
		}()
		f()
	}
	fails("Alloc", func() { Alloc(2 << 20) })
	fails("Make", func() { Make[int64](1 << 20) })
	fails("Make", func() { Make[[16]byte](math.MaxInt / 2) })
	if len(Make[byte](1<<19)) != 1<<19 {
		t.Error("Make")
	}
}

func TestHuman(t *testing.T) {
	for n, want := range map[int]string{0: "0 bytes", 1023: "1023 bytes", 1024: "1.0 KiB", 3 << 29: "1.5 GiB",
		1 << 40: "1.0 TiB", math.MaxInt: "8.0 EiB"} {
		if got := Human(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

// A block serves a piece of a size that is a little smaller, and goes back to where it belongs.
func TestLargerBlock(t *testing.T) {
	letsGo(t)
	for _, c := range []struct {
		block, piece int
		fits         bool
	}{{5 << 20, 4<<20 + 1, true}, {5 << 20, 2 << 20, false}, {40 << 10, 33 << 10, true}, {40 << 10, 16 << 10, false}} {
		EmptyCache()
		before := ReadStats()
		big := Alloc(c.block)
		Free(big, c.block)
		p := Alloc(c.piece)
		if (blockOf(p) == blockOf(big)) != c.fits {
			t.Errorf("%d bytes in a block of %d: want %v", c.piece, c.block, c.fits)
		}
		Free(p, c.piece)
		if s := ReadStats(); s.Allocated != before.Allocated {
			t.Errorf("%d bytes in use, %d before", s.Allocated, before.Allocated)
		}
		q := Alloc(c.block)
		if blockOf(q) != blockOf(big) {
			t.Errorf("the block of %d bytes did not come back", c.block)
		}
		Free(q, c.block)
		runtime.KeepAlive(big)
	}
}

// In a quiet interval all free blocks go back, with those that nothing refers to, and the clock stops.
func TestQuiet(t *testing.T) {
	letsGo(t)
	EmptyCache()
	start := ReadStats().Allocated
	for range 4 {
		*(*byte)(Alloc(3 << 20)) = 1
	}
	kept := Alloc(1 << 20)
	Free(Alloc(2<<20), 2<<20)
	tick() // somebody has allocated since the last one
	if s := ReadStats(); s.Reserved == s.Allocated {
		t.Error("given back at once")
	}
	for range 3 {
		tick()
	}
	s := ReadStats()
	if s.Reserved != s.Allocated || s.Allocated > start+3<<20 {
		t.Errorf("after a quiet while: %+v", s)
	}
	pool.Lock()
	if pool.idle.ticking {
		t.Error("the clock runs without anything to give back")
	}
	pool.Unlock()
	Free(kept, 1<<20)
}

// A program that is never quiet keeps the blocks that it needs now and then, and gives up the others.
func TestWindow(t *testing.T) {
	letsGo(t)
	EmptyCache()
	ticks := func(n int) {
		for range n {
			Free(Alloc(1<<20), 1<<20)
			tick()
		}
	}
	ticks(window)
	const often, once = 6 << 20, 20 << 20
	a, b := Alloc(once), Alloc(often)
	Free(a, once)
	Free(b, often)
	for range 3 {
		ticks(window - 1)
		Free(Alloc(often), often)
	}
	if q := Alloc(often); blockOf(q) != blockOf(b) {
		t.Error("a block that was needed was given up")
	} else {
		Free(q, often)
	}
	class, _ := classOf(once)
	pool.Lock()
	if len(pool.free[class]) > 0 {
		t.Error("a block that was not needed was kept")
	}
	pool.Unlock()
}

// Near the Go runtime's own limit free blocks are given up.
func TestGoLimit(t *testing.T) {
	letsGo(t)
	EmptyCache()
	Free(Alloc(64<<20), 64<<20)
	old := debug.SetMemoryLimit(1 << 20)
	defer debug.SetMemoryLimit(old)
	p := Alloc(1 << 20)
	if s := ReadStats(); s.Reserved > s.Allocated {
		t.Errorf("%d MiB kept", (s.Reserved-s.Allocated)>>20)
	}
	Free(p, 1<<20)
	tick()
	if s := ReadStats(); s.Reserved > s.Allocated {
		t.Errorf("%d MiB kept after a tick", (s.Reserved-s.Allocated)>>20)
	}
}
