package data_test

import (
	"context"
	"errors"
	"iter"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/data"
	"github.com/gotorch-dev/torch/tensor"
)

// within fails the test unless f returns soon.
func within(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan bool)
	go func() {
		f()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatalf("%s hangs", what)
	}
}

// blocked is a dataset, and a stream, that hangs at sample 2 until release is closed.
type blocked struct{ release chan struct{} }

func (d blocked) Len() int { return 8 }

func (d blocked) Get(i int) (int, error) {
	if i == 2 {
		<-d.release
	}
	return i, nil
}

func (d blocked) Iter(context.Context, data.WorkerInfo) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		for i := range 8 {
			if v, err := d.Get(i); !yield(v, err) {
				return
			}
		}
	}
}

// TestStuckWorker: a worker that hangs in the dataset holds up neither cancellation nor Close nor a loop that is left
// early, and is reported with its sample.
func TestStuckWorker(t *testing.T) {
	defer data.SetStuckAfter(50 * time.Millisecond)()
	noLeak(t)
	for _, c := range []struct {
		name string
		o    data.LoaderOptions
		ways []string
	}{
		{"plain", data.LoaderOptions{Workers: 2}, []string{"cancel", "leave"}},
		{"timeout", data.LoaderOptions{Workers: 2, Timeout: 30 * time.Millisecond}, []string{"cancel", "leave", "wait"}},
		{"persistent", data.LoaderOptions{Workers: 2, PersistentWorkers: true}, []string{"cancel", "leave"}},
	} {
		for _, how := range c.ways {
			for _, stream := range []bool{false, true} {
				d := blocked{make(chan struct{})}
				warned := make(chan string, 4)
				before := torch.SetWarnings(func(w torch.Warning) { warned <- w.Text })
				l := data.NewCollatedLoader(data.Dataset[int](d), same, c.o)
				if stream {
					l = data.NewIterableLoader(data.IterableDataset[int](d), same, c.o)
				}
				ctx, cancel := context.WithCancel(context.Background())
				var last error
				within(t, c.name+", "+how, func() {
					n := 0
					for _, err := range l.Iter(ctx) {
						last = err
						if n++; n == 2 {
							switch how {
							case "leave":
								time.Sleep(5 * time.Millisecond) // for the worker to get there
								return
							case "cancel":
								time.AfterFunc(5*time.Millisecond, cancel)
							}
						}
					}
				})
				cancel()
				switch {
				case how == "cancel" && !errors.Is(last, context.Canceled),
					how == "wait" && (last == nil || !strings.Contains(last.Error(), "timed out after 30ms: worker ") ||
						!strings.Contains(last.Error(), "has been at sample 2")):
					t.Errorf("%s, %s: %v", c.name, how, last)
				}
				select {
				case text := <-warned:
					if !strings.Contains(text, "DataLoader was closed, but worker") || !strings.Contains(text, "sample 2") {
						t.Errorf("%s, %s: warning %q", c.name, how, text)
					}
				case <-time.After(10 * time.Second):
					t.Errorf("%s, %s: the stuck worker is not reported", c.name, how)
				}
				close(d.release)
				within(t, "Close", l.Close)
				torch.SetWarnings(before)
			}
		}
	}
}

// TestGoexit: a dataset that ends its goroutine, as t.Fatal does, ends the epoch with an error.
func TestGoexit(t *testing.T) {
	noLeak(t)
	for _, persistent := range []bool{false, true} {
		var broken atomic.Bool
		broken.Store(true)
		d := numbers{n: 9, get: func(i int) (int, error) {
			if i == 4 && broken.Load() {
				runtime.Goexit()
			}
			return i, nil
		}}
		l := newLoader(d, data.LoaderOptions{Workers: 2, PersistentWorkers: persistent})
		within(t, "Goexit", func() {
			var last error
			n := 0
			for _, err := range l.Iter(context.Background()) {
				if last = err; err == nil {
					n++
				}
			}
			if n != 4 || last == nil || !strings.Contains(last.Error(), "sample 4") ||
				!strings.Contains(last.Error(), "runtime.Goexit") {
				t.Errorf("%d batches, then %v", n, last)
			}
		})
		broken.Store(false)
		if got := all(t, l); len(got) != 9 {
			t.Errorf("the next epoch has %d batches", len(got))
		}
		l.Close()
	}
	within(t, "Goexit in a stream", func() {
		var last error
		s := exits{}
		for _, err := range data.NewIterableLoader(data.IterableDataset[int](s), same,
			data.LoaderOptions{Workers: 2}).Iter(context.Background()) {
			last = err
		}
		if last == nil || !strings.Contains(last.Error(), "sample 1 of the stream") {
			t.Errorf("a stream: %v", last)
		}
	})
	within(t, "Goexit in WorkerInit", func() {
		var last error
		for _, err := range newLoader(numbers{n: 3}, data.LoaderOptions{Workers: 2,
			WorkerInit: func(int) { runtime.Goexit() }}).Iter(context.Background()) {
			last = err
		}
		if last == nil || !strings.Contains(last.Error(), "runtime.Goexit") {
			t.Errorf("WorkerInit: %v", last)
		}
	})
}

// exits is a stream that ends its goroutine at the second sample.
type exits struct{}

func (exits) Iter(context.Context, data.WorkerInfo) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		yield(0, nil)
		runtime.Goexit()
	}
}

// TestPanicHasStack: the error of a panic names the sample and the dataset's line.
func TestPanicHasStack(t *testing.T) {
	for _, workers := range []int{0, 2} {
		d := numbers{n: 4, get: func(i int) (int, error) { return []int{7, 8}[i], nil }}
		var last error
		for _, err := range newLoader(d, data.LoaderOptions{Workers: workers}).Iter(context.Background()) {
			last = err
		}
		if last == nil || !strings.Contains(last.Error(), "sample 2: panic: runtime error: index out of range") ||
			!strings.Contains(last.Error(), "stuck_test.go") || strings.Contains(last.Error(), "debug.Stack") {
			t.Errorf("%d workers: %v", workers, last)
		}
	}
}

// TestPersistentWorkers: workers start once, orders and seeds are those of PyTorch: each epoch draws its order, the
// first one alone the workers' seed.
func TestPersistentWorkers(t *testing.T) {
	noLeak(t)
	var inits atomic.Int32
	count := func(int) { inits.Add(1) }
	g := tensorGenerator(7)
	l := newLoader(numbers{n: 10}, data.LoaderOptions{BatchSize: 3, Shuffle: true, Generator: g, Workers: 2,
		PersistentWorkers: true, WorkerInit: count})
	// what PyTorch draws from the generator: a seed, then one permutation for each epoch and one that is left over
	h := tensorGenerator(7)
	seed := int64(h.Uint64() % (1 << 63))
	for epoch := range 3 {
		var want []int
		for i := range data.NewRandomSampler(10, data.RandomOptions{Generator: h}).Indices() {
			want = append(want, i)
		}
		if got := slices.Concat(all(t, l)...); !reflect.DeepEqual(got, want) {
			t.Errorf("epoch %d: got %v, want %v", epoch, got, want)
		}
	}
	l.Close()
	if inits.Load() != 2 {
		t.Errorf("WorkerInit was called %d times", inits.Load())
	}
	seeds := make(chan data.WorkerInfo, 10)
	s := data.NewIterableLoader(data.IterableDataset[int](tells{seeds}), same, data.LoaderOptions{
		Generator: tensorGenerator(7), Workers: 2, PersistentWorkers: true})
	defer s.Close()
	for range 2 {
		all(t, s)
		for range 2 {
			if w := <-seeds; w.Seed != seed+int64(w.ID) || w.NumWorkers != 2 {
				t.Errorf("a worker got %+v, the seed is %d", w, seed)
			}
		}
	}
}

// tells is a stream that tells who walks it.
type tells struct{ who chan data.WorkerInfo }

func (s tells) Iter(_ context.Context, w data.WorkerInfo) iter.Seq2[int, error] {
	return func(func(int, error) bool) { s.who <- w }
}

// TestPersistentEpochs: one at a time; leaving one early does not disturb the next; a loader that is forgotten ends
// its workers.
func TestPersistentEpochs(t *testing.T) {
	noLeak(t)
	l := newLoader(numbers{n: 100}, data.LoaderOptions{Workers: 3, PersistentWorkers: true})
	for range l.Iter(context.Background()) {
		break
	}
	if got := all(t, l); len(got) != 100 || got[0][0] != 0 || got[99][0] != 99 {
		t.Errorf("after an epoch that was left early: %v", got)
	}
	e := l.Begin(context.Background())
	if _, err, ok := e.Next(); err != nil || !ok {
		t.Fatal(err)
	}
	all(t, l)
	if _, err, ok := e.Next(); err == nil || !ok || !strings.Contains(err.Error(), "one epoch at a time") {
		t.Errorf("an epoch that another one has ended: %v, %v", err, ok)
	}
	e.Close()
	l = nil
	runtime.GC() // the cleanup of l ends the workers: noLeak sees to it
	runtime.GC()
}

// TestBatchesAreFreed: a batch that a worker made lives in the Tidy that fetched it, as one made without workers does;
// what the dataset keeps does not.
func TestBatchesAreFreed(t *testing.T) {
	for _, workers := range []int{0, 1, 3} {
		cache := make([]*tensor.Tensor, 6)
		tensor.Tidy(func() {}) // nothing is left of it
		for i := range cache {
			cache[i] = torch.Full([]int{3000}, float64(i))
		}
		l := data.NewDataLoader[*tensor.Tensor](cached{cache}, data.LoaderOptions{BatchSize: 2, Workers: workers})
		e := l.Begin(context.Background())
		var batches []*tensor.Tensor
		for more := true; more; {
			tensor.Tidy(func() {
				b, err, ok := e.Next()
				if err != nil {
					t.Fatal(err)
				}
				if more = ok; ok {
					if b.IsReleased() || b.Select(1, 7).Select(0, 1).Item() != float64(2*len(batches)+1) {
						t.Errorf("%d workers: batch %d is wrong", workers, len(batches))
					}
					batches = append(batches, b)
				}
			})
		}
		e.Close()
		for i, b := range batches {
			if !b.IsReleased() {
				t.Errorf("%d workers: batch %d was not freed", workers, i)
			}
		}
		for _, c := range cache {
			if c.IsReleased() {
				t.Errorf("%d workers: a tensor of the dataset was freed", workers)
			}
		}
		for b, err := range l.Iter(context.Background()) { // outside of Tidy nothing is freed
			if err != nil || b.IsReleased() {
				t.Errorf("%d workers, outside: %v", workers, err)
			}
		}
	}
}

type cached struct{ rows []*tensor.Tensor }

func (c cached) Len() int                          { return len(c.rows) }
func (c cached) Get(i int) (*tensor.Tensor, error) { return c.rows[i], nil }

// sizes is a dataset, or sampler, of a claimed length.
type sizes int

func (s sizes) Len() int                 { return int(s) }
func (s sizes) Get(i int) (int, error)   { return i, nil }
func (s sizes) Indices() iter.Seq[int]   { return func(yield func(int) bool) { yield(0) } }
func (s sizes) Batches() iter.Seq[[]int] { return func(yield func([]int) bool) { yield([]int{0}) } }

// TestWrongOptions: what contradicts itself is refused when the loader is made, with PyTorch's words.
func TestWrongOptions(t *testing.T) {
	loader := func(d data.Dataset[int], o data.LoaderOptions) func() {
		return func() { data.NewCollatedLoader(d, same, o) }
	}
	for _, c := range []struct {
		want string
		f    func()
	}{
		{"timeout option needs num_workers > 0", loader(sizes(3), data.LoaderOptions{Timeout: time.Second})},
		{"persistent_workers option needs num_workers > 0", loader(sizes(3), data.LoaderOptions{PersistentWorkers: true})},
		{"prefetch_factor option should be non-negative", loader(sizes(3), data.LoaderOptions{Workers: 1, Prefetch: -1})},
		{"num_workers is 1099511627776, at most", loader(sizes(3), data.LoaderOptions{Workers: 1 << 40})},
		{"prefetch_factor is 1099511627776 for 2 workers",
			loader(sizes(3), data.LoaderOptions{Workers: 2, Prefetch: 1 << 40})},
		{"Len of the dataset should be non-negative, but got -1", loader(sizes(-1), data.LoaderOptions{})},
		{"Len of the sampler should be non-negative, but got -5",
			loader(sizes(3), data.LoaderOptions{Sampler: sizes(-5)})},
		{"Len of the batch sampler should be non-negative, but got -5",
			loader(sizes(3), data.LoaderOptions{BatchSampler: sizes(-5)})},
		{"num_samples should be a positive integer value, but got num_samples=0",
			loader(sizes(0), data.LoaderOptions{Shuffle: true})},
		{"batch_size should be a positive integer value, but got batch_size=-2",
			loader(sizes(3), data.LoaderOptions{BatchSize: -2})},
		{"batch_size should be a positive integer value, but got batch_size=0",
			func() { data.NewBatchSampler(data.NewSequentialSampler(3), 0, false) }},
		{"the dataset is nil", loader(nil, data.LoaderOptions{})},
		{"the dataset is nil", loader((*data.ConcatDataset[int])(nil), data.LoaderOptions{})},
		{"the collate function is nil", func() { data.NewCollatedLoader[int, []int](sizes(3), nil) }},
		{"the sampler is nil", func() { data.NewBatchSampler(nil, 1, false) }},
		{"dataset 1 is nil", func() { data.NewConcatDataset[int](sizes(1), nil) }},
		{"Len of dataset 0 should be non-negative", func() { data.NewConcatDataset[int](sizes(-1)) }},
		{"Len of the sampler should be non-negative", func() { data.NewSequentialSampler(-1) }},
		{"num_samples should be a positive integer value, but got num_samples=-3",
			func() { data.NewRandomSampler(5, data.RandomOptions{NumSamples: -3}) }},
		{"num_samples should be a positive integer value, but got num_samples=0",
			func() { data.NewWeightedRandomSampler([]float64{1}, 0) }},
		{"the dataset is nil", func() { data.NewSubset[int](nil, nil) }},
		{"tensor 0 is nil", func() { data.NewTensorDataset(nil) }},
	} {
		err := torch.Try(c.f)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

// TestSamplerOutOfRange: an index that the dataset does not have is an error that names it, also where the dataset
// does not look.
func TestSamplerOutOfRange(t *testing.T) {
	for _, workers := range []int{0, 2} {
		for _, i := range []int{3, -4} {
			l := data.NewCollatedLoader(data.Dataset[int](sizes(3)), same, data.LoaderOptions{Workers: workers,
				BatchSampler: oneBatch{0, i}})
			var last error
			for _, err := range l.Iter(context.Background()) {
				last = err
			}
			if last == nil || !strings.Contains(last.Error(), "out of range for a dataset of 3 samples") {
				t.Errorf("index %d: %v", i, last)
			}
		}
	}
}

type oneBatch []int

func (b oneBatch) Len() int                 { return 1 }
func (b oneBatch) Batches() iter.Seq[[]int] { return func(yield func([]int) bool) { yield(b) } }
