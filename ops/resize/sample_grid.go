package resize

import (
	"math"

	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/tensor"
)

// float are the types that grid sampling computes in; 16-bit tensors are widened to float32 and rounded once.
type float interface{ float32 | float64 }

// The codes of PyTorch's enumerations GridSamplerInterpolation and GridSamplerPadding.
const (
	gridBilinear = iota
	gridNearest
	gridBicubic
)

const (
	padZeros = iota
	padBorder
	padReflection
)

// sampling is a call of grid_sampler_2d or grid_sampler_3d. The grid holds, for each output element, a place in the
// input as nd coordinates between -1 and 1, the innermost dimension first. All modes are separable: for each dimension
// a coordinate gives up to 4 input positions with weights, and the value is the sum over all combinations.
type sampling[E float] struct {
	nd           int
	mode, pad    int
	align        bool
	n, channels  int
	size         []int // of the input, outermost spatial dimension first
	inner        int   // product of size
	places       int   // output elements per channel
	taps         int   // input positions per output element
	per          int   // the same per dimension
	input, grids []E
}

// axis is where one coordinate falls in its dimension: positions, -1 for those outside of an input padded with zeros,
// their weights, and the derivative of the weights by the grid's coordinate.
type axis[E float] struct {
	at   [4]int
	w, d [4]E
}

// newSampling reads the arguments from at on: input, grid, interpolation_mode, padding_mode, align_corners.
func newSampling[E float](c *Ctx, at, nd int) *sampling[E] {
	x, g, dt := c.T(at), c.T(at+1), tensor.DTypeOf[E]()
	s := &sampling[E]{nd: nd, mode: c.Int(at + 2), pad: c.Int(at + 3), align: c.Bool(at + 4), n: x.Size(0),
		channels: x.Size(1), size: x.Shape()[2:], inner: 1, places: 1,
		input: tensor.Data[E](tensor.DenseAs(x, dt)), grids: tensor.Data[E](tensor.DenseAs(g, dt))}
	for i := range nd {
		s.inner *= s.size[i]
		s.places *= g.Size(1 + i)
	}
	s.per = [...]int{2, 1, 4}[s.mode]
	s.taps = 1
	for range nd {
		s.taps *= s.per
	}
	return s
}

// unnormalize maps a grid coordinate to a position among n elements; slope is the derivative.
func (s *sampling[E]) unnormalize(v E, n int) (pos, slope E) {
	if s.align {
		return (v + 1) / 2 * E(n-1), E(n-1) / 2
	}
	return ((v+1)*E(n) - 1) / 2, E(n) / 2
}

// clip limits a position to the input; the derivative outside and at the ends is 0.
func (s *sampling[E]) clip(p E, n int) (pos, slope E) {
	last := E(n - 1)
	switch {
	case p > 0 && p < last:
		return p, 1
	case p >= last:
		return last, 0
	case p != p && s.nd == 3: // as PyTorch's kernels do with NaN
		return last, 0
	}
	return 0, 0
}

// reflect mirrors a position at the input's ends: at the centres of the outermost elements when align, otherwise at
// their edges.
func (s *sampling[E]) reflect(p E, n int) (pos, slope E) {
	low, span := E(0), E(n-1)
	if !s.align {
		low, span = E(-0.5), E(n)
	}
	if span == 0 {
		return 0, 0
	}
	slope = 1
	if p -= low; p < 0 {
		p, slope = -p, -1
	}
	extra := E(math.Mod(float64(p), float64(span)))
	if math.Mod(math.Floor(float64(p/span)), 2) == 0 {
		return extra + low, slope
	}
	return span - extra + low, -slope
}

// place applies the padding to a position.
func (s *sampling[E]) place(p E, n int) (pos, slope E) {
	switch s.pad {
	case padBorder:
		return s.clip(p, n)
	case padReflection:
		r, k1 := s.reflect(p, n)
		r, k2 := s.clip(r, n)
		return r, k1 * k2
	}
	return p, 1
}

// inside is a position as an index, -1 outside of the n elements.
func inside[E float](p E, n int) int {
	if p >= 0 && p < E(n) {
		return int(p)
	}
	return -1
}

// locate finds where the coordinate v falls in a dimension of n elements.
func (s *sampling[E]) locate(a *axis[E], v E, n int) {
	p, slope := s.unnormalize(v, n)
	switch s.mode {
	case gridNearest:
		p, _ = s.place(p, n)
		a.at[0], a.w[0], a.d[0] = inside(E(math.RoundToEven(float64(p))), n), 1, 0
	case gridBilinear:
		p, k := s.place(p, n)
		slope *= k
		low := E(math.Floor(float64(p)))
		a.at[0], a.w[0], a.d[0] = inside(low, n), low+1-p, -slope
		a.at[1], a.w[1], a.d[1] = inside(low+1, n), p-low, slope
	default: // cubic convolution with A = -0.75 (Keys, 1981); the padding is applied to each of the four positions
		const A = -0.75
		low := E(math.Floor(float64(p)))
		t := p - low
		for i := range 4 {
			q, _ := s.place(low+E(i-1), n)
			a.at[i] = inside(q, n)
			d := t + 1 - E(i) // distance from position i, with its sign
			x := d
			if x < 0 {
				x = -x
			}
			sign := slope
			if d < 0 {
				sign = -slope
			}
			if i == 0 || i == 3 {
				a.w[i] = ((A*x-5*A)*x+8*A)*x - 4*A
				a.d[i] = sign * ((3*A*x-10*A)*x + 8*A)
			} else {
				a.w[i] = ((A+2)*x-(A+3))*x*x + 1
				a.d[i] = sign * ((3*(A+2)*x - 2*(A+3)) * x)
			}
		}
	}
}

// axes finds where output element o of sample i falls in each dimension, outermost first.
func (s *sampling[E]) axes(axes *[3]axis[E], i, o int) {
	g := s.grids[(i*s.places+o)*s.nd:][:s.nd]
	for d := range s.nd {
		s.locate(&axes[d], g[s.nd-1-d], s.size[d])
	}
}

// combine writes the offsets and weights of all combinations; the derivative is taken in dimension by, if that is not
// negative. An offset of -1 stands for a zero.
func (s *sampling[E]) combine(axes *[3]axis[E], by int, offsets []int, weights []E) {
	factors := func(d int) *[4]E {
		if d == by {
			return &axes[d].d
		}
		return &axes[d].w
	}
	copy(offsets[:s.per], axes[0].at[:])
	copy(weights[:s.per], factors(0)[:])
	n := s.per
	for d := 1; d < s.nd; d++ {
		a, w := &axes[d], factors(d)
		for k := n - 1; k >= 0; k-- { // from the end, so that what is read has not been overwritten
			off, f := offsets[k], weights[k]
			for j := s.per - 1; j >= 0; j-- {
				o := -1
				if off >= 0 && a.at[j] >= 0 {
					o = off*s.size[d] + a.at[j]
				}
				offsets[k*s.per+j], weights[k*s.per+j] = o, f*w[j]
			}
		}
		n *= s.per
	}
}

// block is how many output elements are located at a time.
const block = 256

// room is for the offsets and weights of a block.
func (s *sampling[E]) room() (offsets []int, weights []E) {
	n := min(block, s.places) * s.taps
	return make([]int, n), make([]E, n)
}

// locateBlock finds offsets and weights of the output elements from lo on.
func (s *sampling[E]) locateBlock(i, lo, hi int, offsets []int, weights []E) {
	var axes [3]axis[E]
	for o := lo; o < hi; o++ {
		s.axes(&axes, i, o)
		k := (o - lo) * s.taps
		s.combine(&axes, -1, offsets[k:k+s.taps], weights[k:k+s.taps])
	}
}

// forward samples the input at the places of the grid.
func (s *sampling[E]) forward(out []E) {
	blocks := (s.places + block - 1) / block
	par.For(s.n*blocks, 1+(1<<14)/(block*s.taps*(s.channels+4)), func(from, to int) {
		offsets, weights := s.room()
		for b := from; b < to; b++ {
			i, lo := b/blocks, b%blocks*block
			hi := min(lo+block, s.places)
			s.locateBlock(i, lo, hi, offsets, weights)
			for ch := range s.channels {
				plane := (i*s.channels + ch)
				s.gather(out[plane*s.places+lo:plane*s.places+hi], s.input[plane*s.inner:][:s.inner], offsets, weights)
			}
		}
	})
}

// gather sums a plane's elements, weighted, for each element of dst.
func (s *sampling[E]) gather(dst, plane []E, offsets []int, weights []E) {
	if s.taps == 4 {
		for o := range dst {
			at, w := offsets[o*4:o*4+4], weights[o*4:o*4+4]
			if at[0]|at[1]|at[2]|at[3] >= 0 {
				dst[o] = plane[at[0]]*w[0] + plane[at[1]]*w[1] + plane[at[2]]*w[2] + plane[at[3]]*w[3]
				continue
			}
			dst[o] = weighted(plane, at, w)
		}
		return
	}
	for o := range dst {
		dst[o] = weighted(plane, offsets[o*s.taps:][:s.taps], weights[o*s.taps:][:s.taps])
	}
}

// weighted is a sum of weighted elements; those at -1 are 0.
func weighted[E float](plane []E, at []int, w []E) (sum E) {
	for k, o := range at {
		if o >= 0 {
			sum += plane[o] * w[k]
		}
	}
	return sum
}

// scatter adds the output's gradient to that of the input, which is zero before.
func (s *sampling[E]) scatter(dst, gout []E) {
	offsets, weights := s.room()
	for i := range s.n {
		for lo := 0; lo < s.places; lo += block {
			hi := min(lo+block, s.places)
			s.locateBlock(i, lo, hi, offsets, weights)
			par.For(s.channels, 1+(1<<14)/(block*s.taps), func(from, to int) {
				for ch := from; ch < to; ch++ {
					plane := i*s.channels + ch
					d, g := dst[plane*s.inner:][:s.inner], gout[plane*s.places+lo:plane*s.places+hi]
					for o, v := range g {
						for k := o * s.taps; k < (o+1)*s.taps; k++ {
							if at := offsets[k]; at >= 0 {
								d[at] += v * weights[k]
							}
						}
					}
				}
			})
		}
	}
}

// slopes computes the gradient of the grid.
func (s *sampling[E]) slopes(dst, gout []E) {
	if s.mode == gridNearest {
		clear(dst)
		return
	}
	par.For(s.n*s.places, 1+(1<<14)/(s.taps*s.nd*(s.channels+4)), func(from, to int) {
		offsets, weights := make([]int, s.taps), make([]E, s.taps)
		var axes [3]axis[E]
		for e := from; e < to; e++ {
			i, o := e/s.places, e%s.places
			s.axes(&axes, i, o)
			for d := range s.nd {
				s.combine(&axes, d, offsets, weights)
				var sum E
				for ch := range s.channels {
					plane := i*s.channels + ch
					sum += gout[plane*s.places+o] * weighted(s.input[plane*s.inner:][:s.inner], offsets, weights)
				}
				dst[e*s.nd+s.nd-1-d] = sum
			}
		}
	})
}
