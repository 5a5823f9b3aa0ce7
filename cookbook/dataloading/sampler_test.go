package dataloading_test

import (
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/data"
)

func order(s data.Sampler) string { return fmt.Sprint(slices.Collect(s.Indices())) }

// countDown is a sampler of one's own: an order and its length.
type countDown int

func (c countDown) Len() int { return int(c) }

func (c countDown) Indices() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := int(c) - 1; i >= 0 && yield(i); i-- {
		}
	}
}

func TestSequentialAndOwnSampler(t *testing.T) {
	s := data.NewSequentialSampler(4)
	if order(s) != "[0 1 2 3]" || s.Len() != 4 {
		t.Errorf("sequential: %s", order(s))
	}
	l := data.NewCollatedLoader(count(4), asList, data.LoaderOptions{Sampler: countDown(4), BatchSize: 2})
	if got := batches(t, l); got != "[[3 2] [1 0]]" {
		t.Errorf("own sampler: %s", got)
	}
}

// Every sampler draws PyTorch's numbers.
func TestRandomSamplers(t *testing.T) {
	weights := []float64{.1, .9, .4, .7, 3, .6}
	for _, c := range []struct {
		s    data.Sampler
		want string
	}{
		{data.NewRandomSampler(10), "[6 9 0 7 3 5 4 2 1 8]"},
		{data.NewRandomSampler(10, data.RandomOptions{Replacement: true, NumSamples: 6}), "[6 0 4 3 9 5]"},
		{data.NewRandomSampler(5, data.RandomOptions{NumSamples: 12}), "[1 3 4 2 0 4 0 2 3 1 4 0]"},
		{data.NewRandomSampler(10, data.RandomOptions{Generator: torch.NewGenerator().ManualSeed(42)}),
			"[2 6 1 8 4 5 0 9 3 7]"},
		{data.NewSubsetRandomSampler([]int{10, 20, 30, 40}, nil), "[10 20 40 30]"},
		{data.NewWeightedRandomSampler(weights, 5), "[5 4 4 5 4]"},
		{data.NewWeightedRandomSampler(weights, 5, data.WeightedOptions{NoReplacement: true}), "[4 1 2 5 3]"},
	} {
		torch.ManualSeed(0)
		if got := order(c.s); got != c.want {
			t.Errorf("%T: %s, want %s", c.s, got, c.want)
		}
	}
}

func TestBatchSampler(t *testing.T) {
	s := data.NewSequentialSampler(10)
	if got := fmt.Sprint(slices.Collect(data.NewBatchSampler(s, 3,
		false).Batches())); got != "[[0 1 2] [3 4 5] [6 7 8] [9]]" {
		t.Errorf("batches %s", got)
	}
	if got := fmt.Sprint(slices.Collect(data.NewBatchSampler(s, 3,
		true).Batches())); got != "[[0 1 2] [3 4 5] [6 7 8]]" {
		t.Errorf("without the last: %s", got)
	}
}

// The share of each of several processes; the rank counts over all hosts. SetEpoch makes the next order another one.
func TestDistributedSampler(t *testing.T) {
	for _, c := range []struct {
		o     data.DistributedOptions
		epoch int
		want  string
	}{
		{data.DistributedOptions{}, 0, "[4 5 0 2][1 3 8 4][7 9 6 1]"},
		{data.DistributedOptions{}, 1, "[5 2 9 4][6 0 3 5][1 8 7 6]"},
		{data.DistributedOptions{NoShuffle: true}, 0, "[0 3 6 9][1 4 7 0][2 5 8 1]"},
		{data.DistributedOptions{NoShuffle: true, DropLast: true}, 0, "[0 3 6][1 4 7][2 5 8]"},
	} {
		got := ""
		for rank := range 3 {
			s := data.NewDistributedSampler(10, 3, rank, c.o)
			s.SetEpoch(c.epoch)
			got += order(s)
		}
		if got != c.want {
			t.Errorf("%+v, epoch %d: %s, want %s", c.o, c.epoch, got, c.want)
		}
	}
}
