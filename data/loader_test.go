package data_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/data"
	"github.com/gotorch-dev/torch/tensor"
)

// numbers is a dataset whose samples are their own numbers.
type numbers struct {
	n   int
	get func(i int) (int, error)
}

func (d numbers) Len() int { return d.n }

func (d numbers) Get(i int) (int, error) {
	if d.get != nil {
		return d.get(i)
	}
	return i, nil
}

func same(s []int) ([]int, error) { return s, nil }

func newLoader(d numbers, o data.LoaderOptions) *data.DataLoader[int, []int] {
	return data.NewCollatedLoader(data.Dataset[int](d), same, o)
}

func all(t *testing.T, l *data.DataLoader[int, []int]) (out [][]int) {
	t.Helper()
	for b, err := range l.Iter(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, b)
	}
	return out
}

// noLeak fails the test when goroutines that it started are still there at its end.
func noLeak(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		for range 100 {
			if runtime.NumGoroutine() <= before {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Errorf("%d goroutines, %d at the beginning", runtime.NumGoroutine(), before)
	})
}

// Workers finish in any order; batches must not.
func TestWorkersKeepOrder(t *testing.T) {
	noLeak(t)
	slow := func(i int) (int, error) {
		time.Sleep(time.Duration(i*7%5) * time.Millisecond)
		return i, nil
	}
	for _, o := range []data.LoaderOptions{{BatchSize: 3}, {BatchSize: 3, DropLast: true}, {BatchSize: 1, Prefetch: 1},
		{BatchSize: 100}} {
		want := all(t, newLoader(numbers{n: 23}, o))
		for workers := 1; workers <= 4; workers++ {
			o.Workers = workers
			l := newLoader(numbers{n: 23, get: slow}, o)
			if got := all(t, l); !reflect.DeepEqual(got, want) || l.Len() != len(want) {
				t.Errorf("%d workers: got %v (Len %d), want %v", workers, got, l.Len(), want)
			}
		}
	}
}

func TestWorkersShuffleAlike(t *testing.T) {
	g := func() *data.Generator { return tensorGenerator(7) }
	want := all(t, newLoader(numbers{n: 40}, data.LoaderOptions{BatchSize: 4, Shuffle: true, Generator: g()}))
	got := all(t, newLoader(numbers{n: 40},
		data.LoaderOptions{BatchSize: 4, Shuffle: true, Generator: g(), Workers: 3}))
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func tensorGenerator(seed int64) *data.Generator { return new(data.Generator).ManualSeed(seed) }

var errBroken = errors.New("broken")

func TestErrorNamesTheSample(t *testing.T) {
	noLeak(t)
	for _, workers := range []int{0, 2} {
		for _, boom := range []bool{false, true} {
			d := numbers{n: 20, get: func(i int) (int, error) {
				if i == 13 {
					if boom {
						panic(errBroken)
					}
					return 0, errBroken
				}
				return i, nil
			}}
			good, failure := 0, error(nil)
			for _, err := range newLoader(d,
				data.LoaderOptions{BatchSize: 5, Workers: workers}).Iter(context.Background()) {
				if err != nil {
					failure = err
				} else {
					good++
				}
			}
			if good != 2 || !errors.Is(failure, errBroken) || !strings.Contains(failure.Error(), "sample 13") {
				t.Errorf("%d workers, panic %v: %d batches, then %v", workers, boom, good, failure)
			}
			var p *data.PanicError
			if errors.As(failure, &p) != boom {
				t.Errorf("panic %v gave a %T", boom, failure)
			}
		}
	}
}

func TestCancel(t *testing.T) {
	noLeak(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	n := 0
	var last error
	for _, err := range newLoader(numbers{n: 1000}, data.LoaderOptions{Workers: 3}).Iter(ctx) {
		if last = err; err == nil {
			if n++; n == 5 {
				cancel()
			}
		}
	}
	if n != 5 || !errors.Is(last, context.Canceled) {
		t.Errorf("%d batches, then %v", n, last)
	}
}

func TestLeaveEarly(t *testing.T) {
	noLeak(t)
	for range newLoader(numbers{n: 1000}, data.LoaderOptions{Workers: 3}).Iter(context.Background()) {
		break
	}
}

func TestTimeout(t *testing.T) {
	noLeak(t)
	release := make(chan struct{})
	d := numbers{n: 4, get: func(i int) (int, error) {
		if i == 2 {
			<-release
		}
		return i, nil
	}}
	begin := time.Now()
	var last error
	for _, err := range newLoader(d, data.LoaderOptions{Workers: 2,
		Timeout: 50 * time.Millisecond}).Iter(context.Background()) {
		last = err
	}
	if last == nil || !strings.Contains(last.Error(), "timed out after 50ms") {
		t.Errorf("got %v", last)
	}
	if time.Since(begin) > 5*time.Second {
		t.Error("closing waited for the worker that hangs")
	}
	close(release)
}

func TestWorkerInit(t *testing.T) {
	noLeak(t)
	var calls atomic.Int32
	o := data.LoaderOptions{Workers: 3, WorkerInit: func(id int) { calls.Add(1 << (8 * id)) }}
	all(t, newLoader(numbers{n: 30}, o))
	if calls.Load() != 0x010101 {
		t.Errorf("calls: %x", calls.Load())
	}
	o.WorkerInit = func(int) { panic("no") }
	var last error
	for _, err := range newLoader(numbers{n: 30}, o).Iter(context.Background()) {
		last = err
	}
	if last == nil || !strings.Contains(last.Error(), "WorkerInit of worker") {
		t.Errorf("got %v", last)
	}
}

// stream shares its numbers out among the workers.
type stream struct{ n, fail int }

func (s stream) Iter(ctx context.Context, w data.WorkerInfo) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		for i := w.ID; i < s.n; i += max(1, w.NumWorkers) {
			var err error
			if i == s.fail {
				err = errBroken
			}
			if !yield(i, err) {
				return
			}
		}
	}
}

func TestStreams(t *testing.T) {
	noLeak(t)
	for _, c := range []struct {
		workers int
		drop    bool
		want    string
	}{
		{0, false, "[[0 1 2] [3 4 5] [6 7 8] [9]]"},
		{0, true, "[[0 1 2] [3 4 5] [6 7 8]]"},
		{2, false, "[[0 2 4] [1 3 5] [6 8] [7 9]]"}, // each worker makes its own batches, and they come in turn
		{2, true, "[[0 2 4] [1 3 5]]"},
		{20, true, "[]"},
	} {
		l := data.NewIterableLoader(data.IterableDataset[int](stream{n: 10, fail: -1}), same,
			data.LoaderOptions{BatchSize: 3, Workers: c.workers, DropLast: c.drop})
		got := all(t, l)
		if s := fmt.Sprint(got); s != c.want {
			t.Errorf("%d workers: got %s, want %s", c.workers, s, c.want)
		}
	}
	for _, workers := range []int{0, 2} {
		var last error
		for _, err := range data.NewIterableLoader(data.IterableDataset[int](stream{n: 10, fail: 4}), same,
			data.LoaderOptions{Workers: workers}).Iter(context.Background()) {
			last = err
		}
		if !errors.Is(last, errBroken) {
			t.Errorf("%d workers: %v", workers, last)
		}
	}
}

func TestSkip(t *testing.T) {
	l := newLoader(numbers{n: 20}, data.LoaderOptions{BatchSize: 4, Shuffle: true, Generator: tensorGenerator(3)})
	want := all(t, l)
	l = newLoader(numbers{n: 20}, data.LoaderOptions{BatchSize: 4, Shuffle: true, Generator: tensorGenerator(3),
		Workers: 2})
	e := l.Begin(context.Background())
	defer e.Close()
	e.Skip(3)
	for _, w := range want[3:] {
		b, err, ok := e.Next()
		if err != nil || !ok || !reflect.DeepEqual(b, w) {
			t.Fatalf("got %v, %v, %v, want %v", b, err, ok, w)
		}
	}
	if _, _, ok := e.Next(); ok {
		t.Error("a batch after the end")
	}
}

func TestSkipPastTheEnd(t *testing.T) {
	e := newLoader(numbers{n: 3}, data.LoaderOptions{}).Begin(context.Background())
	defer e.Close()
	e.Skip(10)
	if _, _, ok := e.Next(); ok {
		t.Error("a batch after the end")
	}
}

func TestTensorDataset(t *testing.T) {
	x := tensor.FromSlice([]float32{0, 1, 2, 3, 4, 5}, 3, 2)
	y := tensor.FromSlice([]int64{10, 11, 12})
	l := data.NewDataLoader[[]*tensor.Tensor](data.NewTensorDataset(x, y), data.LoaderOptions{BatchSize: 2})
	var got []string
	for b, err := range l.Iter(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(tensor.Data[float32](b[0]), tensor.Data[int64](b[1])))
	}
	if s := strings.Join(got, "; "); s != "[0 1 2 3] [10 11]; [4 5] [12]" {
		t.Error(s)
	}
}

func TestConcatAndSubset(t *testing.T) {
	c := data.NewConcatDataset[int](numbers{n: 2}, numbers{n: 0}, numbers{n: 3})
	var got []int
	for i := range c.Len() {
		v, err := c.Get(i)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, v)
	}
	if fmt.Sprint(got) != "[0 1 0 1 2]" {
		t.Error(got)
	}
	for _, i := range []int{5, -6} {
		if _, err := c.Get(i); err == nil {
			t.Errorf("Get(%d) succeeded", i)
		}
	}
	if v, err := c.Get(-1); err != nil || v != 2 {
		t.Error(v, err)
	}
	if v, err := data.NewSubset[int](c, []int{4, 1}).Get(0); err != nil || v != 2 {
		t.Error(v, err)
	}
}

func TestDistributedSampler(t *testing.T) {
	for _, c := range []struct {
		o    data.DistributedOptions
		want string
	}{
		{data.DistributedOptions{NoShuffle: true}, "[[0 3] [1 4] [2 0]]"},
		{data.DistributedOptions{NoShuffle: true, DropLast: true}, "[[0] [1] [2]]"},
	} {
		var got [][]int
		for rank := range 3 {
			s, l := data.NewDistributedSampler(5, 3, rank, c.o), []int{}
			for i := range s.Indices() {
				l = append(l, i)
			}
			if len(l) != s.Len() {
				t.Errorf("Len is %d, got %v", s.Len(), l)
			}
			got = append(got, l)
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("got %v, want %s", got, c.want)
		}
	}
}

func ExampleDataLoader() {
	xs := tensor.FromSlice([]float32{1, 2, 3, 4, 5})
	ys := tensor.FromSlice([]int64{0, 1, 0, 1, 0})
	loader := data.NewDataLoader[[]*tensor.Tensor](data.NewTensorDataset(xs, ys),
		data.LoaderOptions{BatchSize: 2, Workers: 2})
	for batch, err := range loader.Iter(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(batch[0], batch[1])
	}
	// Output:
	// tensor([1., 2.]) tensor([0, 1])
	// tensor([3., 4.]) tensor([0, 1])
	// tensor([5.]) tensor([0])
}

// TestTensorDatasetLayouts compares batches of tensors with gaps, of other types and without features with the samples
// themselves.
func TestTensorDatasetLayouts(t *testing.T) {
	n := 50
	x := torch.Arange(n * 6).Reshape([]int{n, 2, 3})
	sets := []*tensor.Tensor{x, x.Transpose(1, 2), x.Narrow(2, 1, 2), x.To(torch.Float64),
		x.Select(1, 0).Select(1, 0).Contiguous(), torch.Zeros([]int{n, 0})}
	d := data.NewTensorDataset(sets...)
	order := []int{3, 3, 49, 0, 17}
	got, err := d.GetBatch(order)
	if err != nil {
		t.Fatal(err)
	}
	for k, i := range order {
		want, _ := d.Get(i)
		for j := range sets {
			if row := got[j].Select(0, k); !torch.Equal(row, want[j]) {
				t.Errorf("tensor %d, sample %d: %v, want %v", j, i, row, want[j])
			}
		}
	}
}

// TestMistakesAreErrors: what Try recovers, as everywhere.
func TestMistakesAreErrors(t *testing.T) {
	d := data.NewTensorDataset(torch.Arange(5))
	seq := data.NewSequentialSampler(3)
	for name, f := range map[string]func(){
		"batch size":          func() { data.NewDataLoader(d, data.LoaderOptions{BatchSize: -1}) },
		"shuffle and sampler": func() { data.NewDataLoader(d, data.LoaderOptions{Shuffle: true, Sampler: seq}) },
		"batch sampler too": func() {
			data.NewDataLoader(d, data.LoaderOptions{BatchSize: 3, BatchSampler: data.NewBatchSampler(seq, 1, false)})
		},
		"workers": func() { data.NewDataLoader(d, data.LoaderOptions{Workers: -1}) },
		"timeout": func() { data.NewDataLoader(d, data.LoaderOptions{Timeout: -1}) },
		"lengths": func() { data.NewTensorDataset(torch.Zeros([]int{2}), torch.Zeros([]int{3})) },
		"weights": func() {
			for range data.NewWeightedRandomSampler([]float64{0, 0}, 2).Indices() {
			}
		},
		"rank": func() { data.NewDistributedSampler(3, 2, 2) },
	} {
		if torch.Try(f) == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
