package jit_test

import (
	"sync"
	"testing"

	torch "github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/jit"
)

// TestManyGoroutines: one loaded module serves many goroutines, from the first call on.
func TestManyGoroutines(t *testing.T) {
	m, err := jit.LoadFile("testdata/hooks.pt")
	if err != nil {
		t.Fatal(err)
	}
	x := torch.FromSlice([]float32{1, 2}, 1, 2)
	var wg sync.WaitGroup
	results := make([]*torch.Tensor, 8)
	for i := range results {
		wg.Add(1)
		go func() {
			defer wg.Done()
			torch.NoGrad(func() {
				for range 20 {
					y, err := m.Forward(x)
					if err != nil {
						t.Error(err)
						return
					}
					results[i] = y
				}
			})
		}()
	}
	wg.Wait()
	for _, y := range results {
		if y == nil || !y.Equal(results[0]) {
			t.Errorf("got %s and %s", y, results[0])
		}
	}
}
