package profiler_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/profiler"
)

// collect runs the garbage collector until f reports success, or for some seconds.
func collect(f func() bool) bool {
	for range 200 {
		runtime.GC()
		if f() {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

// What the garbage collector frees is told once, what Tidy frees is not told again.
func TestCollectedMemory(t *testing.T) {
	const bytes = 4 << 20
	freed := func(tr *profiler.Trace) (n int64) {
		for _, e := range tr.Events() {
			if e.Name != "[memory]" {
				continue
			}
			if e.Kind != profiler.KindMemory || e.Memory >= 0 || len(e.Memories) != 1 || e.Memories[0].Bytes != e.Memory {
				t.Errorf("event %+v", e)
			}
			n -= e.Memory
		}
		return n
	}
	kept := torch.Zeros([]int{1})
	got := int64(0)
	profiler.Profile(profiler.Options{ProfileMemory: true}, func(p *profiler.Profiler) {
		for range 3 {
			kept = torch.Ones([]int{bytes / 4}).Sum()
		}
		torch.Tidy(func() { torch.Ones([]int{bytes / 4}).Sum() })
		if !collect(func() bool { got += freed(p.Take()); return got >= 3*bytes }) {
			t.Errorf("the collector freed %d bytes, want %d", got, 3*bytes)
		}
	})
	if got >= 4*bytes {
		t.Errorf("%d bytes were told, more than were left to the collector", got)
	}
	runtime.KeepAlive(kept)

	// without the option nothing is noted
	tr := profiler.Profile(profiler.Options{}, func(*profiler.Profiler) {
		torch.Ones([]int{bytes})
		for range 3 {
			runtime.GC()
		}
	})
	if n := freed(tr); n != 0 {
		t.Errorf("%d bytes are noted without ProfileMemory", n)
	}
}
