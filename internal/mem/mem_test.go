package mem

import (
	"runtime"
	"testing"
	"time"
	"unsafe"
)

func TestClasses(t *testing.T) {
	last := 0
	for n := Large; n < 1<<34; n += 1 + n/37 {
		class, size := classOf(n)
		if size < n+pad || size > n+pad+(n+pad)/4+page || size%page != 0 || sizeOf(class) != size || size < last {
			t.Fatalf("%d bytes: class %d of %d (%d)", n, class, size, sizeOf(class))
		}
		last = size
	}
}

func TestReuse(t *testing.T) {
	for _, n := range []int{1, 63, 1000, Large - 1, Large, 100_000, 5 << 20} {
		p := Alloc(n)
		if uintptr(p)%align != 0 {
			t.Errorf("%d bytes at %p", n, p)
		}
		b := unsafe.Slice((*byte)(p), n+tail)
		for i := range b[:n] {
			b[i] = byte(i)
		}
		before := ReadStats()
		Free(p, n)
		after := ReadStats()
		if n < Large {
			if before != after {
				t.Errorf("%d bytes are counted", n)
			}
			continue
		}
		if after.Allocated >= before.Allocated || after.Reserved != before.Reserved {
			t.Errorf("%d bytes: %+v, then %+v", n, before, after)
		}
		if q := Alloc(n); q != p {
			t.Errorf("%d bytes: not reused", n)
		} else {
			Free(q, n)
		}
	}
}

// A block is returned by the collector when, and only when, no pointer into it is left.
func TestCollector(t *testing.T) {
	letsGo(t)
	const n = 3 << 20
	EmptyCache()
	inside := (*byte)(unsafe.Add(Alloc(n), n/2))
	*inside = 42
	before := ReadStats().FreedByGC
	for range 3 {
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	if q := Alloc(n); uintptr(q) <= uintptr(unsafe.Pointer(inside)) && uintptr(unsafe.Pointer(inside)) < uintptr(q)+n {
		t.Fatal("a block with a pointer into it was reused")
	}
	if *inside != 42 {
		t.Fatal("a block with a pointer into it was overwritten")
	}
	runtime.KeepAlive(inside)
	for i := 0; ReadStats().FreedByGC < before+2; i++ {
		if i > 1000 {
			t.Fatal("unused blocks do not come back")
		}
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
}

// Without Free the pacer keeps memory bounded, although reusing blocks allocates nothing in the eyes of the runtime.
func TestPacer(t *testing.T) {
	letsGo(t)
	EmptyCache()
	ResetPeak()
	for range 2000 {
		*(*byte)(Alloc(4 << 20)) = 1
	}
	if s := ReadStats(); s.PeakReserved > 600<<20 {
		t.Fatalf("8 GB of garbage reserved %d MiB", s.PeakReserved>>20)
	}
}

func TestTrim(t *testing.T) {
	letsGo(t)
	EmptyCache()
	ResetPeak()
	for n := 1 << 20; n < 200<<20; n += n / 2 {
		for range 3 {
			Free(Alloc(n), n)
		}
	}
	if s := ReadStats(); s.PeakReserved > minCache+400<<20 {
		t.Fatalf("cache of %d MiB", s.PeakReserved>>20)
	}
	EmptyCache()
	if s := ReadStats(); s.Reserved != s.Allocated {
		t.Fatalf("after EmptyCache: %+v", s)
	}
}

// Shrink leaves a quarter of what is in use, the smallest blocks.
func TestShrink(t *testing.T) {
	letsGo(t)
	EmptyCache()
	free := func(sizes ...int) {
		for _, n := range sizes {
			Free(Alloc(n), n)
		}
	}
	for _, c := range []struct {
		name       string
		used       int
		free       []int
		from, most int // what is left
	}{
		{"little", 0, []int{4 << 20, 8 << 20}, 12 << 20, 13 << 20},
		{"much", 0, []int{5 << 20, 20 << 20, 40 << 20}, 5 << 20, 6 << 20},
		{"much in use", 100 << 20, []int{5 << 20, 18 << 20, 60 << 20}, 23 << 20, 25 << 20},
	} {
		used := Alloc(max(c.used, Large))
		free(c.free...)
		Shrink()
		if s := ReadStats(); s.Reserved-s.Allocated < c.from || s.Reserved-s.Allocated > c.most {
			t.Errorf("%s: %d bytes are left", c.name, s.Reserved-s.Allocated)
		}
		Free(used, max(c.used, Large))
		EmptyCache()
	}
}

func BenchmarkAllocFree(b *testing.B) {
	for b.Loop() {
		Free(Alloc(1<<20), 1<<20)
	}
}

// Blocks begin on pages, pieces of them at different places of theirs, and with all of the piece and its tail inside of
// the block.
func TestPlaces(t *testing.T) {
	EmptyCache()
	seen := map[uintptr]bool{}
	for n := Large; n < 4<<20; n += n / 3 {
		var ps []unsafe.Pointer
		for range 8 {
			p := Alloc(n)
			ps = append(ps, p)
			b := blockOf(p)
			seen[uintptr(p)-uintptr(b)] = true
			_, size := classOf(n)
			if uintptr(b)%page != 0 || uintptr(p)%align != 0 || uintptr(p)+uintptr(n)+tail > uintptr(b)+uintptr(size) {
				t.Fatalf("%d bytes at %p in the block of %d at %p", n, p, size, b)
			}
		}
		for _, p := range ps {
			Free(p, n)
		}
	}
	if len(seen) < places {
		t.Errorf("pieces begin at only %d places of their pages", len(seen))
	}
}

func letsGo(t *testing.T) {
	if Guarded {
		t.Skip("guarded pieces are kept until the check")
	}
}
