package par

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// withThreads runs f with a team of n, raising GOMAXPROCS so that the workers
// exist even on a small machine.
func withThreads(t testing.TB, n int, f func()) {
	t.Helper()
	oldP := runtime.GOMAXPROCS(max(n, runtime.GOMAXPROCS(0)))
	old := NumThreads()
	SetNumThreads(n)
	defer func() {
		runtime.GOMAXPROCS(oldP)
		SetNumThreads(old)
	}()
	f()
}

var teams = []int{1, 2, 3, 8}

func TestBlocks(t *testing.T) { testBlocks(t, For) }

func TestSweepBlocks(t *testing.T) {
	testBlocks(t, func(n, grain int, f func(lo, hi int)) { Sweep(n, grain, n, f) })
}

func testBlocks(t *testing.T, run func(n, grain int, f func(lo, hi int))) {
	for _, threads := range teams {
		withThreads(t, threads, func() {
			for _, n := range []int{-1, 0, 1, 2, 7, 64, 100, 1001} {
				for _, grain := range []int{-3, 0, 1, 2, 7, 64, 5000} {
					g := max(grain, 1)
					hits := make([]atomic.Int32, max(n, 0))
					var calls atomic.Int32
					run(n, grain, func(lo, hi int) {
						calls.Add(1)
						if lo%g != 0 || hi != min(lo+g, n) {
							t.Errorf("n %d grain %d: got block [%d,%d)", n, grain, lo, hi)
						}
						for i := lo; i < hi; i++ {
							hits[i].Add(1)
						}
					})
					if want := (max(n, 0) + g - 1) / g; int(calls.Load()) != want {
						t.Errorf("n %d grain %d: got %d blocks, expected %d", n, grain, calls.Load(), want)
					}
					for i := range hits {
						if h := hits[i].Load(); h != 1 {
							t.Fatalf("n %d grain %d: index %d ran %d times", n, grain, i, h)
						}
					}
				}
			}
		})
	}
}

func TestHugeGrain(t *testing.T) {
	For(10, math.MaxInt, func(lo, hi int) {
		if lo != 0 || hi != 10 {
			t.Errorf("got [%d,%d), expected [0,10)", lo, hi)
		}
	})
}

// Every thread of the team takes part when blocks are long: each block waits
// until all threads have one.
func TestTeamTakesPart(t *testing.T) {
	for _, threads := range []int{2, 3, 8} {
		withThreads(t, threads, func() {
			var in atomic.Int32
			deadline := time.Now().Add(20 * time.Second)
			For(threads+1, 1, func(lo, hi int) {
				if lo == 0 {
					time.Sleep(time.Millisecond) // long enough to be worth waking the others
					return
				}
				in.Add(1)
				for in.Load() < int32(threads) && time.Now().Before(deadline) {
					runtime.Gosched()
				}
			})
			// Block 0 may have been timed alone; the others need the team.
			if got := in.Load(); got != int32(threads) {
				t.Errorf("got %d blocks, expected %d", got, threads)
			}
			if time.Now().After(deadline) {
				t.Errorf("%d threads: the team never ran together", threads)
			}
		})
	}
}

func TestManyJobsAndParking(t *testing.T) {
	for _, threads := range teams {
		withThreads(t, threads, func() {
			for i := range 2000 {
				var sum atomic.Int64
				For(100, 3, func(lo, hi int) {
					for j := lo; j < hi; j++ {
						sum.Add(int64(j))
					}
				})
				if sum.Load() != 4950 {
					t.Fatalf("job %d: got sum %d, expected 4950", i, sum.Load())
				}
				if i%500 == 0 {
					time.Sleep(2 * time.Millisecond) // everyone parks
				}
			}
		})
	}
}

func TestNested(t *testing.T) {
	withThreads(t, 4, func() {
		var n atomic.Int32
		For(20, 1, func(int, int) {
			For(10, 2, func(int, int) {
				For(4, 1, func(lo, hi int) { n.Add(int32(hi - lo)) })
			})
		})
		if n.Load() != 20*5*4 {
			t.Errorf("got %d, expected 400", n.Load())
		}
	})
}

func TestConcurrentCallers(t *testing.T) {
	withThreads(t, 4, func() {
		var wg sync.WaitGroup
		for c := range 8 {
			wg.Go(func() {
				for i := range 300 {
					var sum atomic.Int64
					For(50, 1, func(lo, hi int) { sum.Add(int64(lo)) })
					if sum.Load() != 1225 {
						t.Errorf("caller %d job %d: got %d, expected 1225", c, i, sum.Load())
						return
					}
				}
			})
		}
		wg.Wait()
	})
}

func TestSetNumThreadsWhileRunning(t *testing.T) {
	withThreads(t, 4, func() {
		stop := make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
					SetNumThreads(1 + i%5)
				}
			}
		})
		for range 2000 {
			var sum atomic.Int64
			For(50, 1, func(lo, hi int) { sum.Add(int64(lo)) })
			if sum.Load() != 1225 {
				t.Errorf("got %d, expected 1225", sum.Load())
				break
			}
		}
		close(stop)
		wg.Wait()
	})
}

// Replaced pools must not leave their workers behind.
func TestWorkersLeave(t *testing.T) {
	withThreads(t, 4, func() {
		before := runtime.NumGoroutine()
		for range 50 {
			SetNumThreads(8)
			SetNumThreads(3)
		}
		for range 1000 {
			if runtime.NumGoroutine() <= before+2 {
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
		t.Errorf("got %d goroutines, expected about %d", runtime.NumGoroutine(), before)
	})
}

func TestPanic(t *testing.T) {
	errBoom := errors.New("boom")
	for _, threads := range teams {
		withThreads(t, threads, func() {
			for at := range 40 { // some in the caller, some in workers
				got := func() (v any) {
					defer func() { v = recover() }()
					For(40, 1, func(lo, hi int) {
						if lo > 0 {
							time.Sleep(20 * time.Microsecond)
						}
						if lo == at {
							panic(errBoom)
						}
					})
					return nil
				}()
				if got != errBoom {
					t.Fatalf("%d threads, block %d: got panic %v, expected %v", threads, at, got, errBoom)
				}
				// The pool still works afterwards.
				var sum atomic.Int64
				For(50, 1, func(lo, hi int) { sum.Add(int64(lo)) })
				if sum.Load() != 1225 {
					t.Fatalf("after a panic: got %d, expected 1225", sum.Load())
				}
			}
		})
	}
}

func TestGoexitInWorker(t *testing.T) {
	withThreads(t, 2, func() {
		done := make(chan any)
		go func() {
			defer func() { done <- recover() }()
			For(2000, 1, func(lo, hi int) {
				time.Sleep(10 * time.Microsecond)
				if lo == 1000 {
					runtime.Goexit() // in either thread
				}
			})
		}()
		select {
		case <-done:
		case <-time.After(20 * time.Second):
			t.Fatal("a Goexit left the pool hanging")
		}
		var sum atomic.Int64
		For(50, 1, func(lo, hi int) { sum.Add(int64(lo)) })
		if sum.Load() != 1225 {
			t.Errorf("got %d, expected 1225", sum.Load())
		}
	})
}

func TestSetNumThreadsRejects(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("SetNumThreads(0) did not panic")
		}
	}()
	SetNumThreads(0)
}

func TestNumThreads(t *testing.T) {
	for _, n := range teams {
		withThreads(t, n, func() {
			if got := NumThreads(); got != n {
				t.Errorf("got %d threads, expected %d", got, n)
			}
		})
	}
}

func TestNoAllocation(t *testing.T) {
	withThreads(t, 2, func() {
		var sum atomic.Int64
		f := func(lo, hi int) { sum.Add(int64(hi)) }
		if a := testing.AllocsPerRun(200, func() { For(100, 10, f) }); a >= 1 {
			t.Errorf("For allocates %v times per call, expected 0", a)
		}
	})
}

func ExampleFor() {
	x := make([]float32, 1000)
	For(len(x), 256, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			x[i] = float32(i) / 2
		}
	})
	fmt.Println(x[999])
	// Output: 499.5
}

func BenchmarkFor(b *testing.B) {
	var sink atomic.Int64
	spin := func(d int) {
		s := 0
		for i := range d {
			s += i ^ s
		}
		sink.Store(int64(s))
	}
	b.Run("one-block", func(b *testing.B) {
		f := func(lo, hi int) {}
		for range b.N {
			For(100, 100, f)
		}
	})
	for _, threads := range []int{1, 2} {
		b.Run(fmt.Sprintf("hot/threads=%d", threads), func(b *testing.B) {
			withThreads(b, threads, func() {
				f := func(lo, hi int) { spin(5000) }
				for range b.N {
					For(2, 1, f)
				}
			})
		})
		b.Run(fmt.Sprintf("empty-blocks/threads=%d", threads), func(b *testing.B) {
			withThreads(b, threads, func() {
				f := func(lo, hi int) {}
				for range b.N {
					For(8, 1, f)
				}
			})
		})
	}
}

// TestSweep checks that sweeps turn around, but not beyond the caches, and that others go on in order.
func TestSweep(t *testing.T) {
	withThreads(t, 1, func() {
		for i, c := range []struct {
			bytes int
			back  bool
		}{{100, false}, {100, true}, {1 << 40, false}, {100, false}, {100, true}} {
			var starts []int
			Sweep(10, 3, c.bytes, func(lo, hi int) { starts = append(starts, lo) })
			if c.back {
				slices.Reverse(starts)
			}
			if !slices.Equal(starts, []int{0, 3, 6, 9}) {
				t.Errorf("sweep %d: got blocks in the order %v, expected them to go back: %v", i, starts, c.back)
			}
		}
	})
}

func TestShare(t *testing.T) {
	var s share
	s.set(3, 7)
	for i, c := range []struct {
		front bool
		want  int
	}{{true, 3}, {false, 6}, {true, 4}, {true, 5}, {true, -1}, {false, -1}} {
		if got := s.claim(c.front); got != c.want {
			t.Errorf("claim %d: got block %d, want %d", i, got, c.want)
		}
	}
	for shares := 1; shares < 20; shares++ {
		for total := range 50 {
			for i := range shares {
				if n := part(i+1, total, shares) - part(i, total, shares); n != total/shares && n != total/shares+1 {
					t.Errorf("share %d of %d: %d of %d blocks", i, shares, n, total)
				}
			}
			if part(0, total, shares) != 0 || part(shares, total, shares) != total {
				t.Errorf("%d shares do not cover %d blocks", shares, total)
			}
		}
	}
}
