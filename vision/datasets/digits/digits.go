// Package digits is a data set of digits that the project draws itself: 10,000
// training and 2,000 test images of 28x28 grey pixels, in the layout of MNIST, with
// nothing to download.
//
// The ten digits come from the outlines of the Go fonts (BSD licence; package
// golang.org/x/image/font/gofont). Each sample takes one of several faces at random,
// makes the strokes thicker or thinner, bends, rotates, shears, scales and shifts the
// outline, draws it, blurs it and adds noise. A small convolutional network reaches
// about 99 % on it within a few epochs; a linear classifier does not.
//
// The images are the same on every machine: all arithmetic is integer, or float64
// that is rounded at every step, so that a compiler which fuses multiplication and
// addition (arm64 does, amd64 does not) has nothing to fuse. Every sample has a
// generator seeded by its own index, so the number of goroutines does not matter.
//
//	train := digits.Load(digits.Train)
//	fmt.Println(train.Len(), train.Labels[0])
//	png.Encode(w, train.Image(0))
package digits

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/gotorch-dev/torch/internal/mem"
	"github.com/gotorch-dev/torch/vision/datasets/imageset"
)

// Rows and Cols are the height and width of every image, Classes the number of digits.
const (
	Rows    = 28
	Cols    = 28
	Classes = 10
)

// Split names one of the two parts of the data set.
type Split int

// The two parts. They are drawn in the same way from different random numbers.
const (
	Train Split = iota // 10,000 images
	Test               // 2,000 images
)

// String returns "train" or "test".
func (s Split) String() string {
	if s == Train {
		return "train"
	}
	return "test"
}

// Set is the type of a generated data set; see [imageset.Set].
type Set = imageset.Set

// Load draws a part of the data set, each digit equally often and in a fixed random
// order. Every call draws it anew, which takes a fraction of a second, and the caller
// owns the result.
func Load(split Split) *Set {
	if split == Train {
		return Generate(10_000, 1)
	}
	return Generate(2_000, 2)
}

// Generate draws n images from the given seed, in the same manner as Load, for those
// who want more of them. The classes differ in size by at most one image. It panics
// if n is negative.
func Generate(n int, seed uint64) *Set {
	if n < 0 {
		panic("digits: Generate: n must not be negative")
	}
	mem.Check(n, Rows*Cols+1)
	s := &Set{
		Images: make([]byte, n*Rows*Cols),
		Labels: labels(n, seed),
		Rows:   Rows, Cols: Cols, Classes: Classes,
	}
	faces := outlines()

	// Workers take blocks of samples from a counter. Which worker draws a sample has
	// no influence on it: the generator is seeded by (seed, index) alone.
	const block = 64
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n/block+1) {
		wg.Go(func() {
			var d drawer
			for {
				hi := int(next.Add(block))
				lo := hi - block
				if lo >= n {
					return
				}
				for i := lo; i < min(hi, n); i++ {
					d.rng = *rand.NewPCG(seed, uint64(i))
					d.sample(faces, int(s.Labels[i]), s.Pixels(i))
				}
			}
		})
	}
	wg.Wait()
	return s
}

// labels returns 0, 1, … 9, 0, 1, … shuffled.
func labels(n int, seed uint64) []uint8 {
	l := make([]uint8, n)
	for i := range l {
		l[i] = uint8(i % Classes)
	}
	// Fisher and Yates' shuffle on the raw 64-bit outputs. The remainder is biased by
	// less than n/2^64 and, unlike rand.Shuffle, is ours to keep the same for ever.
	rng := rand.NewPCG(seed, ^uint64(0))
	for i := n - 1; i > 0; i-- {
		j := int(rng.Uint64() % uint64(i+1))
		l[i], l[j] = l[j], l[i]
	}
	return l
}
