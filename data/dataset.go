package data

import (
	"context"
	"fmt"
	"iter"
	"math"
	"sort"

	"github.com/gotorch-dev/torch/internal/rng"
	"github.com/gotorch-dev/torch/tensor"
)

// Tensor is a tensor.
type Tensor = tensor.Tensor

// Generator draws random numbers.
type Generator = tensor.Generator

// Dataset is a collection of samples that can be had by number. Get is called from several goroutines when the loader
// has workers.
type Dataset[T any] interface {
	Len() int
	Get(i int) (T, error)
}

// BatchGetter is implemented by datasets that can get a whole batch faster than sample by sample, already collated.
type BatchGetter[B any] interface {
	GetBatch(indices []int) (B, error)
}

// IterableDataset is a stream of samples. Each worker iterates over its own stream: use the worker's number to share
// the data out.
type IterableDataset[T any] interface {
	Iter(ctx context.Context, w WorkerInfo) iter.Seq2[T, error]
}

// WorkerInfo tells an IterableDataset who iterates: worker ID of NumWorkers, with a seed of its own. NumWorkers is 0
// when the loader's own goroutine does.
type WorkerInfo struct {
	ID, NumWorkers int
	Seed           int64
}

// TensorDataset holds tensors of the same first size; a sample is a slice of each.
type TensorDataset struct {
	Tensors []*Tensor
}

// NewTensorDataset makes a dataset of tensors; their first sizes must agree.
func NewTensorDataset(tensors ...*Tensor) *TensorDataset {
	for i, t := range tensors {
		if t == nil {
			tensor.Fail(tensor.ErrValue, "data: TensorDataset: tensor %d is nil", i)
		}
		if t.Dim() == 0 || t.Size(0) != tensors[0].Size(0) {
			tensor.Fail(tensor.ErrShape,
				"Size mismatch between tensors: TensorDataset wants equal first sizes, got %s and %s",
				tensor.ShapeString(tensors[0].Shape()), tensor.ShapeString(t.Shape()))
		}
	}
	return &TensorDataset{tensors}
}

// Len is the number of samples.
func (d *TensorDataset) Len() int {
	if len(d.Tensors) == 0 {
		return 0
	}
	return d.Tensors[0].Size(0)
}

// Get returns entry i of every tensor, as views. Negative numbers count from the end.
func (d *TensorDataset) Get(i int) ([]*Tensor, error) {
	n := d.Len()
	if i < -n || i >= n {
		return nil, fmt.Errorf("data: index %d is out of range for a dataset of %d samples", i, n)
	}
	if i < 0 {
		i += n
	}
	out := make([]*Tensor, len(d.Tensors))
	for k, t := range d.Tensors {
		out[k] = t.Select(0, i)
	}
	return out, nil
}

// GetBatch copies several samples at once.
func (d *TensorDataset) GetBatch(indices []int) ([]*Tensor, error) {
	n := d.Len()
	for _, i := range indices {
		if i < 0 || i >= n {
			return nil, fmt.Errorf("data: index %d is out of range for a dataset of %d samples", i, n)
		}
	}
	out := make([]*Tensor, len(d.Tensors))
	for k, t := range d.Tensors {
		out[k] = takeRows(t, indices)
	}
	return out, nil
}

// takeRows copies entries of the first dimension into a new tensor on the same device.
func takeRows(t *Tensor, indices []int) *Tensor {
	x := make([]int64, len(indices))
	for k, i := range indices {
		x[k] = int64(i)
	}
	return t.IndexSelect(0, tensor.FromSlice(x).To(t.Device()))
}

// ConcatDataset is several datasets one after the other.
type ConcatDataset[T any] struct {
	Datasets []Dataset[T]
	ends     []int
}

// NewConcatDataset joins datasets.
func NewConcatDataset[T any](ds ...Dataset[T]) *ConcatDataset[T] {
	c := &ConcatDataset[T]{Datasets: ds}
	n := 0
	for i, d := range ds {
		name := fmt.Sprintf("dataset %d", i)
		if d == nil {
			tensor.Fail(tensor.ErrValue, "data: ConcatDataset: %s is nil", name)
		}
		n += lengthOf(name, d)
		c.ends = append(c.ends, n)
	}
	return c
}

// Len is the sum of the lengths.
func (c *ConcatDataset[T]) Len() int {
	if len(c.ends) == 0 {
		return 0
	}
	return c.ends[len(c.ends)-1]
}

// Get finds the dataset that holds sample i. Negative numbers count from the end.
func (c *ConcatDataset[T]) Get(i int) (T, error) {
	var zero T
	if i < 0 {
		if -i > c.Len() {
			return zero, fmt.Errorf("data: absolute value of index should not exceed dataset length")
		}
		i += c.Len()
	}
	k := sort.SearchInts(c.ends, i+1)
	if k == len(c.ends) {
		return zero, fmt.Errorf("data: index %d is out of range for a dataset of %d samples", i, c.Len())
	}
	if k > 0 {
		i -= c.ends[k-1]
	}
	return c.Datasets[k].Get(i)
}

// ChainDataset is several streams one after the other.
type ChainDataset[T any] struct{ Datasets []IterableDataset[T] }

// NewChainDataset joins streams.
func NewChainDataset[T any](ds ...IterableDataset[T]) *ChainDataset[T] {
	return &ChainDataset[T]{ds}
}

// Iter walks the streams in order.
func (c *ChainDataset[T]) Iter(ctx context.Context, w WorkerInfo) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, d := range c.Datasets {
			for v, err := range d.Iter(ctx, w) {
				if !yield(v, err) || err != nil {
					return
				}
			}
		}
	}
}

// Subset is a choice of samples.
type Subset[T any] struct {
	Dataset Dataset[T]
	Indices []int
}

// NewSubset chooses samples by number.
func NewSubset[T any](d Dataset[T], indices []int) *Subset[T] {
	need(d, "dataset")
	return &Subset[T]{d, indices}
}

// Len is the number of chosen samples.
func (s *Subset[T]) Len() int { return len(s.Indices) }

// Get returns the i-th chosen sample.
func (s *Subset[T]) Get(i int) (T, error) {
	if i < 0 || i >= len(s.Indices) {
		var zero T
		return zero, fmt.Errorf("data: index %d is out of range for a subset of %d samples", i, len(s.Indices))
	}
	return s.Dataset.Get(s.Indices[i])
}

// RandomSplit deals a dataset out at random into parts of the given lengths, which must sum to its length. A nil
// generator means the default one.
func RandomSplit[T any](d Dataset[T], lengths []int, g *Generator) ([]*Subset[T], error) {
	sum := 0
	for i, n := range lengths {
		if n < 0 {
			return nil, fmt.Errorf("data: RandomSplit: length %d is negative", n)
		}
		if n == 0 {
			tensor.Warn("Length of split at index %d is 0. This might result in an empty dataset.", i)
		}
		sum += n
	}
	if sum != d.Len() {
		return nil, fmt.Errorf("data: Sum of input lengths does not equal the length of the input dataset! (%d, %d)",
			sum, d.Len())
	}
	perm := randPerm(orDefault(g), sum)
	var out []*Subset[T]
	for _, n := range lengths {
		out = append(out, NewSubset(d, perm[:n:n]))
		perm = perm[n:]
	}
	return out, nil
}

// RandomSplitFractions is RandomSplit with fractions that sum to 1; left-over samples go to the first parts in turn.
func RandomSplitFractions[T any](d Dataset[T], fractions []float64, g *Generator) ([]*Subset[T], error) {
	sum := 0.0
	lengths := make([]int, len(fractions))
	total := 0
	for i, f := range fractions {
		if f < 0 || f > 1 {
			return nil, fmt.Errorf("data: Fraction at index %d is not between 0 and 1", i)
		}
		sum += f
		lengths[i] = int(math.Floor(float64(d.Len()) * f))
		total += lengths[i]
	}
	if math.Abs(sum-1) > 1e-6 {
		return nil, fmt.Errorf("data: RandomSplitFractions: the fractions sum to %g, want 1", sum)
	}
	for i := range d.Len() - total {
		lengths[i%len(lengths)]++
	}
	return RandomSplit(d, lengths, g)
}

func orDefault(g *Generator) *Generator {
	if g == nil {
		return rng.Default
	}
	return g
}

// StackDataset is several datasets of one length side by side: sample i is the list of their samples i.
type StackDataset[T any] struct {
	Datasets []Dataset[T]
	n        int
}

// NewStackDataset puts datasets of the same length side by side.
func NewStackDataset[T any](ds ...Dataset[T]) *StackDataset[T] {
	if len(ds) == 0 {
		tensor.Fail(tensor.ErrValue, "data: StackDataset: at least one dataset should be passed")
	}
	s := &StackDataset[T]{Datasets: ds}
	for i, d := range ds {
		name := fmt.Sprintf("dataset %d", i)
		if d == nil {
			tensor.Fail(tensor.ErrValue, "data: StackDataset: %s is nil", name)
		}
		n := lengthOf(name, d)
		if i > 0 && n != s.n {
			tensor.Fail(tensor.ErrValue, "data: StackDataset: size mismatch between datasets: %d and %d", s.n, n)
		}
		s.n = n
	}
	return s
}

// Len is the length of each dataset.
func (s *StackDataset[T]) Len() int { return s.n }

// Get returns sample i of each dataset. Negative numbers count from the end.
func (s *StackDataset[T]) Get(i int) ([]T, error) {
	if i < -s.n || i >= s.n {
		return nil, fmt.Errorf("data: index %d is out of range for a dataset of %d samples", i, s.n)
	}
	if i < 0 {
		i += s.n
	}
	out := make([]T, len(s.Datasets))
	for k, d := range s.Datasets {
		x, err := d.Get(i)
		if err != nil {
			return nil, fmt.Errorf("data: StackDataset: dataset %d: %w", k, err)
		}
		out[k] = x
	}
	return out, nil
}
