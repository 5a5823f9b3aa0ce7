package dataloading_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gotorch-dev/torch/data"
)

// Workers are goroutines. They load ahead, and the batches come in the same order.
func TestWorkersKeepTheOrder(t *testing.T) {
	alone := batches(t, data.NewCollatedLoader(count(10), asList, data.LoaderOptions{BatchSize: 3}))
	two := batches(t, data.NewCollatedLoader(count(10), asList, data.LoaderOptions{BatchSize: 3, Workers: 2}))
	if alone != two {
		t.Errorf("2 workers: %s, none: %s", two, alone)
	}
}

// WorkerInit is called once per worker, before it loads.
func TestWorkerInit(t *testing.T) {
	var mu sync.Mutex
	var ids []int
	l := data.NewCollatedLoader(count(10), asList, data.LoaderOptions{Workers: 2, WorkerInit: func(id int) {
		mu.Lock()
		defer mu.Unlock()
		ids = append(ids, id)
	}})
	batches(t, l)
	if slices.Sort(ids); fmt.Sprint(ids) != "[0 1]" {
		t.Errorf("called with %v", ids)
	}
}

// stuck is a dataset whose samples never come in time.
type stuck struct{ stop chan bool }

func (s stuck) Len() int { return 1 }

func (s stuck) Get(int) (int, error) {
	<-s.stop
	return 0, nil
}

// Waiting too long for a batch is an error; the batch is not skipped.
func TestTimeout(t *testing.T) {
	d := stuck{make(chan bool)}
	e := data.NewCollatedLoader(d, asList,
		data.LoaderOptions{Workers: 1, Timeout: 10 * time.Millisecond}).Begin(context.Background())
	_, err, _ := e.Next()
	if err == nil || !strings.Contains(err.Error(), "DataLoader timed out after") {
		t.Errorf("error %v", err)
	}
	close(d.stop)
	e.Close()
}

// A pinned batch is a hint for devices; without one it changes nothing.
func TestPinMemory(t *testing.T) {
	if got := batches(t, data.NewCollatedLoader(count(3), asList,
		data.LoaderOptions{PinMemory: true, BatchSize: 3})); got != "[[0 1 2]]" {
		t.Errorf("batches %s", got)
	}
}
