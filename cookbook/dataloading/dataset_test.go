package dataloading_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/data"
)

// count is the dataset of the numbers below itself: a length and a Get make a dataset, as __len__ and __getitem__ do in
// Python.
type count int

func (c count) Len() int { return int(c) }

func (c count) Get(i int) (int, error) {
	if i < 0 || i >= int(c) {
		return 0, fmt.Errorf("no sample %d", i)
	}
	return i, nil
}

// asList keeps the samples of a batch as they are.
func asList(samples []int) ([]int, error) { return samples, nil }

// batches loads one epoch.
func batches(t *testing.T, l *data.DataLoader[int, []int]) string {
	t.Helper()
	var out [][]int
	for b, err := range l.Iter(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, b)
	}
	return fmt.Sprint(out)
}

// refuses looks for a text in the panic that f must end with: wrong options fail when the loader is built, not in the
// tenth epoch.
func refuses(t *testing.T, text string, f func()) {
	t.Helper()
	defer func() {
		if r := recover(); r == nil || !strings.Contains(fmt.Sprint(r), text) {
			t.Errorf("panic %v, want one with %q", r, text)
		}
	}()
	f()
}

// A dataset of one's own, in batches.
func Example() {
	loader := data.NewCollatedLoader(count(10), asList, data.LoaderOptions{BatchSize: 4})
	for batch, err := range loader.Iter(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(batch)
	}
	// Output:
	// [0 1 2 3]
	// [4 5 6 7]
	// [8 9]
}

// A dataset's length counts samples, a loader's counts batches.
func TestLengths(t *testing.T) {
	d := count(100)
	all := data.NewCollatedLoader(d, asList, data.LoaderOptions{BatchSize: 64})
	whole := data.NewCollatedLoader(d, asList, data.LoaderOptions{BatchSize: 64, DropLast: true})
	if d.Len() != 100 || all.Len() != 2 || whole.Len() != 1 {
		t.Errorf("%d samples, %d and %d batches", d.Len(), all.Len(), whole.Len())
	}
	var sizes []int
	for b := range all.Iter(context.Background()) {
		sizes = append(sizes, len(b))
	}
	if fmt.Sprint(sizes) != "[64 36]" {
		t.Errorf("sizes %v", sizes)
	}
	if n := data.NewCollatedLoader(d, asList).Len(); n != 100 {
		t.Errorf("the default batch size gives %d batches, want 100", n)
	}
}

// A new order every epoch, the one that PyTorch draws.
func TestShuffle(t *testing.T) {
	torch.ManualSeed(0)
	l := data.NewCollatedLoader(count(10), asList, data.LoaderOptions{BatchSize: 4, Shuffle: true})
	for epoch, want := range []string{"[[6 7 1 4] [2 0 9 8] [3 5]]", "[[2 4 7 0] [8 9 5 3] [6 1]]"} {
		if got := batches(t, l); got != want {
			t.Errorf("epoch %d: %s, want %s", epoch, got, want)
		}
	}
	l = data.NewCollatedLoader(count(10), asList,
		data.LoaderOptions{BatchSize: 4, Shuffle: true, Generator: torch.NewGenerator().ManualSeed(0)})
	if got := batches(t, l); got != "[[3 7 5 2] [0 8 1 6] [9 4]]" {
		t.Errorf("with a generator: %s", got)
	}
}

func TestExclusiveOptions(t *testing.T) {
	s := data.NewSequentialSampler(4)
	refuses(t, "sampler option is mutually exclusive with shuffle", func() {
		data.NewCollatedLoader(count(4), asList, data.LoaderOptions{Sampler: s, Shuffle: true})
	})
	refuses(t, "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last", func() {
		data.NewCollatedLoader(count(4), asList,
			data.LoaderOptions{BatchSampler: data.NewBatchSampler(s, 2, false), BatchSize: 2})
	})
	refuses(t, "num_workers option should be non-negative", func() {
		data.NewCollatedLoader(count(4), asList, data.LoaderOptions{Workers: -1})
	})
	refuses(t, "timeout option should be non-negative", func() {
		data.NewCollatedLoader(count(4), asList, data.LoaderOptions{Timeout: -1})
	})
}

// Samples of tensors are stacked, structs and slices field by field.
func TestCollate(t *testing.T) {
	type sample struct{ X, Label *torch.Tensor }
	b, err := data.DefaultCollate([]sample{
		{torch.TensorOf[float32](1, 2), torch.TensorOf[int64](7)},
		{torch.TensorOf[float32](3, 4), torch.TensorOf[int64](8)},
	})
	if err != nil {
		t.Fatal(err)
	}
	if x := fmt.Sprint(b.X.Shape(), b.X.DType(), b.Label.Shape(),
		b.Label.DType()); x != "[2 2] torch.float32 [2 1] torch.int64" {
		t.Errorf("batch %s", x)
	}
	_, err = data.DefaultCollate([]*torch.Tensor{torch.Zeros([]int{2}), torch.Zeros([]int{3})})
	if want := "stack expects each tensor to be equal size, but got [2] at entry 0 and [3] at entry 1"; err == nil ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want one with %q", err, want)
	}
}

// Tensors of inputs and targets are a dataset already.
func TestTensorDataset(t *testing.T) {
	d := data.NewTensorDataset(torch.Arange(10.0).View([]int{5, 2}), torch.Arange(5))
	for b, err := range data.NewDataLoader(d, data.LoaderOptions{BatchSize: 5}).Iter(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		if x := fmt.Sprint(b[0].Shape(), b[1].Shape()); x != "[5 2] [5]" {
			t.Errorf("shapes %s", x)
		}
	}
}

// An error of a sample ends the epoch and says which sample it was.
func TestFailingSample(t *testing.T) {
	l := data.NewCollatedLoader(data.NewSubset(count(3), []int{0, 7}), asList)
	var last error
	for _, err := range l.Iter(context.Background()) {
		last = err
	}
	if last == nil || errors.Is(last, context.Canceled) || !strings.Contains(last.Error(), "no sample 7") {
		t.Errorf("error %v", last)
	}
}
