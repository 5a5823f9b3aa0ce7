package conv

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/gemm"
	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/mem"
	"github.com/gotorch-dev/torch/internal/par"
)

// Squeeze is a gate of channels (the squeeze-and-excitation block of Hu, Shen and Sun 2018, arXiv 1709.01507): each
// channel of an image is multiplied by a number that two layers make of the means of all channels.
//
//	gate = Gate(W2·Act(W1·mean + B1) + B2)
type Squeeze struct {
	N, Positions, Channels, Hidden int
	W1, B1                         []float32 // [Hidden, Channels]; biases are nil or one value for each row
	W2, B2                         []float32 // [Hidden, Channels], the transposed of the second layer's weight
	Act, Gate                      gemm.Activation
}

const squeezeRun = 1 << 14 // elements of an image that a task takes, about

// Run computes out = in·gate for channels-last images.
func (s *Squeeze) Run(out, in []float32) {
	size := s.Positions * s.Channels
	blocks := min(max(size/squeezeRun, 1), s.Positions)
	sums := s.N * blocks * s.Channels
	bytes := (sums + 2*s.N*s.Channels + s.N*s.Hidden) * 4
	p := mem.Alloc(bytes)
	defer mem.Free(p, bytes)
	buf := unsafe.Slice((*float32)(p), bytes/4)
	parts, means := buf[:sums], buf[sums:][:s.N*s.Channels]
	gates, hidden := buf[sums+len(means):][:len(means)], buf[sums+2*len(means):]

	each := func(f func(image, block, from, to int)) {
		par.For(s.N*blocks, max(1, squeezeRun*blocks/max(size, 1)), func(lo, hi int) {
			for t := lo; t < hi; t++ {
				b := t % blocks
				f(t/blocks, t, b*s.Positions/blocks, (b+1)*s.Positions/blocks)
			}
		})
	}
	each(func(image, block, from, to int) {
		d := parts[block*s.Channels:][:s.Channels]
		clear(d)
		vec.SumDownF32(d, in[image*size+from*s.Channels:], to-from, s.Channels)
	})
	clear(means)
	for i := range s.N {
		m := means[i*s.Channels:][:s.Channels]
		vec.SumDownF32(m, parts[i*blocks*s.Channels:], blocks, s.Channels)
		vec.MulScalarF32(m, m, 1/float32(s.Positions))
	}
	gemm.GEMM(s.N, s.Hidden, s.Channels, 1, means, s.Channels, 1, s.W1, 1, s.Channels, 0, hidden, s.Hidden, 1,
		&gemm.Epilogue[float32]{BiasCol: s.B1, Act: s.Act})
	gemm.GEMM(s.N, s.Channels, s.Hidden, 1, hidden, s.Hidden, 1, s.W2, s.Channels, 1, 0, gates, s.Channels, 1,
		&gemm.Epilogue[float32]{BiasCol: s.B2, Act: s.Gate})
	each(func(image, _, from, to int) {
		at := image*size + from*s.Channels
		vec.MulRowsF32(to-from, s.Channels, out[at:], s.Channels, in[at:], s.Channels, gates[image*s.Channels:], 0)
	})
}
