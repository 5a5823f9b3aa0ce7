package conv

import (
	"fmt"
	"math"
	"math/rand"
	"testing"

	"github.com/gotorch-dev/torch/internal/cpu"
	"github.com/gotorch-dev/torch/internal/par"
)

// testMax compares a convolution and a maximum pooling of its result with plain loops over what the
// convolution makes, for every number of threads alike.
func testMax[T Float](t *testing.T) {
	defer par.SetNumThreads(par.NumThreads())
	for i, c := range []struct {
		n, ci, co, h, w int
		k, s, p         int
		mk, ms, mp      int
		more            int // windows of a line and of a column that end behind the image
	}{
		{1, 3, 64, 60, 71, 7, 2, 3, 3, 2, 1, 0}, // the first one of a network
		{3, 3, 33, 29, 31, 3, 1, 1, 2, 2, 0, 0},
		{2, 40, 70, 17, 9, 3, 1, 1, 3, 1, 1, 0},
		{1, 130, 40, 12, 12, 3, 1, 1, 2, 2, 0, 0}, // in blocks of channels: apart
		{2, 5, 16, 9, 8, 1, 1, 0, 5, 3, 2, 0},
		{2, 4, 1, 9, 8, 3, 1, 1, 2, 2, 0, 0}, // of one channel: apart
		{1, 6, 20, 1, 70, 1, 1, 0, 1, 1, 0, 0},
		{1, 2, 8, 5, 4, 2, 1, 0, 4, 4, 2, 0},
		{2, 3, 40, 13, 15, 3, 1, 1, 3, 2, 0, 1},
		{1, 20, 33, 12, 11, 1, 1, 0, 4, 3, 1, 1},
	} {
		s := shape2d(c.n, c.ci, c.co, c.h, c.w, c.k, c.s, c.p, 1, 1)
		d := shape2d(c.n, c.co, c.co, s.Out[1], s.Out[2], c.mk, c.ms, c.mp, 1, c.co)
		d.Out[1], d.Out[2] = d.Out[1]+c.more, d.Out[2]+c.more
		r := rand.New(rand.NewSource(int64(i)))
		xr, wr := values[T](r, c.n*c.ci*c.h*c.w), values[T](r, c.co*c.ci*s.Taps())
		xr[len(xr)/2] = math.NaN()
		for _, l := range cpu.Levels() {
			for _, last := range []bool{true, false} {
				for _, outLast := range []bool{true, false} {
					where := fmt.Sprintf("%s, %d, last %v to %v, %T", l.Name, i, last, outLast, *new(T))
					restore := cpu.Set(l.Features)
					x := image[T](xr, c.n, c.ci, c.h*c.w, last)
					w := Weights[T](image[T](wr, c.co, c.ci, s.Taps(), last))
					mid := Image[T]{make([]T, c.n*c.co*volume(s.Out)), outLast}
					ep := Epilogue[T]{Bias: make([]T, c.co)}.ReLU()
					Forward(s, mid, x, w, &ep)
					want := maxOf(d, mid)
					for _, packed := range []*PackedWeights{nil, {}} {
						ep.Packed = packed
						for _, threads := range []int{1, 2, 3} { // the second time with the plan of the first
							par.SetNumThreads(threads)
							whole, out := guarded[T](len(want))
							ForwardDepthwise(Image[T]{out, outLast}, x, Layer[T]{Shape: s, W: w, Epilogue: &ep},
								Layer[T]{Shape: d, Max: true}, nil)
							checkGuards(t, whole, out)
							for k, v := range out {
								if v != want[k] && (v == v || want[k] == want[k]) {
									t.Fatalf("%s, %d threads: element %d is %v, want %v", where, threads, k, v, want[k])
								}
							}
						}
					}
					restore()
				}
			}
		}
	}
}

// maxOf is the maximum pooling of an image, in its layout.
func maxOf[T Float](d *Shape, in Image[T]) []T {
	out := make([]T, d.N*d.Cout*volume(d.Out))
	for n := range d.N {
		for c := range d.Cout {
			for y := range d.Out[1] {
				for x := range d.Out[2] {
					m := T(math.Inf(-1))
					for ky := range d.Kernel[1] {
						for kx := range d.Kernel[2] {
							iy, ix := y*d.Stride[1]+ky-d.Pad[1], x*d.Stride[2]+kx-d.Pad[2]
							if iy < 0 || iy >= d.In[1] || ix < 0 || ix >= d.In[2] {
								continue
							}
							v := in.Data[place((n*d.Cout+c)*volume(d.In)+iy*d.In[2]+ix, d.N, d.Cout, volume(d.In),
								in.Last)]
							if v > m || v != v {
								m = v
							}
						}
					}
					out[place((n*d.Cout+c)*volume(d.Out)+y*d.Out[2]+x, d.N, d.Cout, volume(d.Out), in.Last)] = m
				}
			}
		}
	}
	return out
}

func TestPairMax(t *testing.T) {
	testMax[float32](t)
	testMax[float64](t)
}
