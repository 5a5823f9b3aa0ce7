package data

import (
	"iter"

	"github.com/gotorch-dev/torch/internal/rng"
	"github.com/gotorch-dev/torch/tensor"
)

// Sampler gives the order of one epoch. Indices is called once an epoch, at the first batch, and may draw random
// numbers.
type Sampler interface {
	Indices() iter.Seq[int]
	Len() int
}

// BatchIndexer gives the batches of one epoch as lists of sample numbers.
type BatchIndexer interface {
	Batches() iter.Seq[[]int]
	Len() int
}

func randPerm(g *Generator, n int) []int {
	p := make([]int64, n)
	rng.RandPerm(g, p)
	out := make([]int, n)
	for i, x := range p {
		out[i] = int(x)
	}
	return out
}

// drawSeed draws what PyTorch draws for the seed of a new generator.
func drawSeed(g *Generator) int64 { return int64(g.Uint64() % (1 << 63)) }

// SequentialSampler goes from 0 to n-1.
type SequentialSampler struct{ n int }

// NewSequentialSampler goes from 0 to n-1.
func NewSequentialSampler(n int) *SequentialSampler {
	s := &SequentialSampler{n}
	lengthOf("the sampler", s)
	return s
}

// Indices gives the order.
func (s *SequentialSampler) Indices() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range s.n {
			if !yield(i) {
				return
			}
		}
	}
}

// Len is the number of samples of an epoch.
func (s *SequentialSampler) Len() int { return s.n }

// RandomOptions are the options of RandomSampler.
type RandomOptions struct {
	// Replacement draws every sample anew, so that some come twice.
	Replacement bool
	// NumSamples of an epoch; 0 means the length of the dataset.
	NumSamples int
	// Generator draws the order. Without one, every epoch takes a seed from the default generator and uses a generator
	// of its own.
	Generator *Generator
}

// positive refuses an epoch of no samples.
func positive(n int) {
	if n <= 0 {
		tensor.Fail(tensor.ErrValue, "data: num_samples should be a positive integer value, but got num_samples=%d", n)
	}
}

// RandomSampler gives a random order.
type RandomSampler struct {
	n int
	o RandomOptions
}

// NewRandomSampler gives the n samples in a random order.
func NewRandomSampler(n int, opts ...RandomOptions) *RandomSampler {
	s := &RandomSampler{n: n}
	if len(opts) > 0 {
		s.o = opts[0]
	}
	if s.o.NumSamples < 0 {
		n = s.o.NumSamples
	}
	positive(n)
	return s
}

// Len is the number of samples of an epoch.
func (s *RandomSampler) Len() int {
	if s.o.NumSamples > 0 {
		return s.o.NumSamples
	}
	return s.n
}

// Indices draws an order.
func (s *RandomSampler) Indices() iter.Seq[int] {
	return func(yield func(int) bool) {
		g := s.o.Generator
		if g == nil {
			g = rng.New().ManualSeed(drawSeed(rng.Default))
		}
		if s.n == 0 {
			return
		}
		left := s.Len()
		if s.o.Replacement {
			const chunk = 32
			for left > 0 {
				draw := make([]int64, min(chunk, left))
				rng.RandInt(g, draw, 0, uint64(s.n))
				for _, i := range draw {
					if !yield(int(i)) {
						return
					}
				}
				left -= len(draw)
			}
			return
		}
		for range left / s.n {
			for _, i := range randPerm(g, s.n) {
				if !yield(i) {
					return
				}
			}
		}
		// PyTorch draws one more permutation even when nothing of it is left to give: with a generator of the caller's,
		// the next epoch depends on that.
		for _, i := range randPerm(g, s.n)[:left%s.n] {
			if !yield(i) {
				return
			}
		}
	}
}

// SubsetRandomSampler gives the listed samples in a random order.
type SubsetRandomSampler struct {
	indices []int
	g       *Generator
}

// NewSubsetRandomSampler gives the listed samples in a random order; a nil generator means the default one.
func NewSubsetRandomSampler(indices []int, g *Generator) *SubsetRandomSampler {
	return &SubsetRandomSampler{indices, g}
}

// Len is the number of samples.
func (s *SubsetRandomSampler) Len() int { return len(s.indices) }

// Indices draws an order.
func (s *SubsetRandomSampler) Indices() iter.Seq[int] {
	return func(yield func(int) bool) {
		for _, i := range randPerm(orDefault(s.g), len(s.indices)) {
			if !yield(s.indices[i]) {
				return
			}
		}
	}
}

// WeightedOptions are the options of WeightedRandomSampler.
type WeightedOptions struct {
	// NoReplacement draws every sample at most once.
	NoReplacement bool
	Generator     *Generator
}

// WeightedRandomSampler draws samples with given probabilities.
type WeightedRandomSampler struct {
	weights []float64
	n       int
	o       WeightedOptions
}

// NewWeightedRandomSampler draws n samples; sample i comes with a probability proportional to weights[i].
func NewWeightedRandomSampler(weights []float64, n int, opts ...WeightedOptions) *WeightedRandomSampler {
	positive(n)
	s := &WeightedRandomSampler{weights: weights, n: n}
	if len(opts) > 0 {
		s.o = opts[0]
	}
	return s
}

// Len is the number of samples.
func (s *WeightedRandomSampler) Len() int { return s.n }

// Indices draws the samples.
func (s *WeightedRandomSampler) Indices() iter.Seq[int] {
	return func(yield func(int) bool) {
		out := make([]int64, s.n)
		if err := rng.Multinomial(orDefault(s.o.Generator), out, s.weights, 1, len(s.weights), s.n, !s.o.NoReplacement,
			false, nil); err != nil {
			tensor.Fail(tensor.ErrValue, "data: WeightedRandomSampler: %v", err)
		}
		for _, i := range out {
			if !yield(int(i)) {
				return
			}
		}
	}
}

// BatchSampler groups a sampler's indices.
type BatchSampler struct {
	sampler  Sampler
	size     int
	dropLast bool
}

// NewBatchSampler groups the indices of a sampler into batches; dropLast leaves out a shorter last one.
func NewBatchSampler(s Sampler, batchSize int, dropLast bool) *BatchSampler {
	if batchSize <= 0 {
		tensor.Fail(tensor.ErrValue, "data: batch_size should be a positive integer value, but got batch_size=%d",
			batchSize)
	}
	need(s, "sampler")
	lengthOf("the sampler", s)
	return &BatchSampler{s, batchSize, dropLast}
}

// Len is the number of batches.
func (b *BatchSampler) Len() int {
	n := b.sampler.Len()
	if b.dropLast {
		return n / b.size
	}
	if n == 0 {
		return 0
	}
	return (n-1)/b.size + 1
}

// Batches groups an order.
func (b *BatchSampler) Batches() iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		room := min(b.size, 1024) // a batch may be as large as the program likes, the data need not be
		batch := make([]int, 0, room)
		for i := range b.sampler.Indices() {
			batch = append(batch, i)
			if len(batch) == b.size {
				if !yield(batch) {
					return
				}
				batch = make([]int, 0, room)
			}
		}
		if len(batch) > 0 && !b.dropLast {
			yield(batch)
		}
	}
}

// DistributedOptions are the options of DistributedSampler.
type DistributedOptions struct {
	// NoShuffle keeps the order.
	NoShuffle bool
	// Seed of the order, the same for all processes.
	Seed int64
	// DropLast leaves out samples at the end so that all processes get the same number; otherwise the first ones come
	// twice.
	DropLast bool
}

// DistributedSampler gives each of several processes its share of the samples: every numReplicas-th, beginning with its
// rank.
type DistributedSampler struct {
	n, replicas, rank int
	o                 DistributedOptions
	epoch             int64
}

// NewDistributedSampler shares n samples out among numReplicas processes.
func NewDistributedSampler(n, numReplicas, rank int, opts ...DistributedOptions) *DistributedSampler {
	if numReplicas < 1 || rank < 0 || rank >= numReplicas {
		tensor.Fail(tensor.ErrValue, "data: DistributedSampler: invalid rank %d, rank should be in the interval [0, %d]", rank, numReplicas-1)
	}
	if n < 0 {
		tensor.Fail(tensor.ErrValue, "data: DistributedSampler: the number of samples should be non-negative, but got %d", n)
	}
	s := &DistributedSampler{n: n, replicas: numReplicas, rank: rank}
	if len(opts) > 0 {
		s.o = opts[0]
	}
	return s
}

// SetEpoch makes the next order another one: call it before each epoch, with the same number in all processes.
func (s *DistributedSampler) SetEpoch(epoch int) { s.epoch = int64(epoch) }

// Len is the number of samples of this process.
func (s *DistributedSampler) Len() int {
	if s.o.DropLast {
		return s.n / s.replicas
	}
	return (s.n + s.replicas - 1) / s.replicas
}

// Indices gives this process's share.
func (s *DistributedSampler) Indices() iter.Seq[int] {
	return func(yield func(int) bool) {
		if s.n == 0 {
			return
		}
		var order []int
		if s.o.NoShuffle {
			for i := range s.n {
				order = append(order, i)
			}
		} else {
			order = randPerm(rng.New().ManualSeed(s.o.Seed+s.epoch), s.n)
		}
		for i := range s.Len() {
			// Past the end the order begins again, which evens the shares out.
			if !yield(order[(i*s.replicas+s.rank)%s.n]) {
				return
			}
		}
	}
}
