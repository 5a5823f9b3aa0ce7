package gls

import (
	"sync"
	"testing"
)

func TestIDDiffersBetweenGoroutines(t *testing.T) {
	const n = 50
	ids := make(chan uintptr, n)
	var wg, hold sync.WaitGroup
	hold.Add(1)
	for range n {
		wg.Add(1)
		go func() {
			a := ID()
			wg.Done()
			hold.Wait()
			if ID() != a {
				t.Error("ID changed within a goroutine")
			}
			ids <- a
		}()
	}
	wg.Wait()
	hold.Done()
	seen := map[uintptr]bool{ID(): true}
	for range n {
		id := <-ids
		if id == 0 || seen[id] {
			t.Fatalf("ID %#x is zero or not unique", id)
		}
		seen[id] = true
	}
}
