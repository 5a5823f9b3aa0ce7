package conv

import (
	"fmt"
	"math"
	"sync"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/gemm"
)

// Shape describes a convolution over up to three spatial dimensions, ordered depth, height, width. Missing
// dimensions are 1 and come first (pad 0, stride 1, dilation 1).
type Shape struct {
	N, Groups int
	Cin, Cout int    // channels, all groups together
	In, Out   [3]int // spatial sizes
	Kernel    [3]int
	Stride    [3]int
	Pad       [3]int
	Dilation  [3]int
}

// Taps is the number of kernel positions.
func (s *Shape) Taps() int { return s.Kernel[0] * s.Kernel[1] * s.Kernel[2] }

func volume(d [3]int) int { return d[0] * d[1] * d[2] }

// Image is a dense batch of images.
type Image[T Float] struct {
	Data []T
	Last bool // [n, d, h, w, c] rather than [n, c, d, h, w]
}

// Weights are the kernels of a convolution, dense.
type Weights[T Float] struct {
	Data []T
	Last bool // [out, kd, kh, kw, in/groups] rather than [out, in/groups, kd, kh, kw]
}

// strides returns the distances, in elements, between output channels, between input channels and between
// kernel positions.
func (w Weights[T]) strides(cg, taps int) (o, c, k int) {
	if w.Last {
		return cg * taps, 1, cg
	}
	return cg * taps, taps, 1
}

// Epilogue is what happens to the result while the result is in registers or cache. The zero value and nil do
// nothing.
type Epilogue[T Float] struct {
	Bias     []T // nil, or one value per output channel
	Residual []T // nil, or an image of the result's shape and layout that is added
	Clamp    bool
	Lo, Hi   T // with Clamp, the result is brought into [Lo, Hi]; NaN stays NaN

	// Act is applied to the result after all of the above, while the result is in the cache; not with a Tail.
	Act gemm.Activation

	// Winograd allows Winograd's algorithm, as SetWinograd does for all convolutions.
	Winograd bool

	// Packed keeps the weights in the micro-kernel's order from one call to the next. Whoever
	// sets it makes sure that the weights have not changed meanwhile.
	Packed *PackedWeights

	Tail *Tail[T] // what is computed from the result after all of the above; not with a Residual

	// Pitch, unless it is 0, is the number of channels of a wider channels-last image that the result is a part of: out
	// begins at the part's first channel. Only for Forward, and not with a Residual or a Tail.
	Pitch int
}

// PackedWeights keeps packed weights, and the plan of the convolution, for the calls that follow, as long as
// the same convolution is computed. It keeps two orders of the weights, so that batches of two sizes, of which one
// is computed by Winograd's algorithm, do not pack anew each time. The zero value is empty.
type PackedWeights struct {
	mu      sync.Mutex
	kept    [2]keptWeights // the last one that was used first
	planKey planKey
	planned any // *job or *pairJob, without the images
}

// keptWeights are packed weights with their order.
type keptWeights struct {
	key packedKey
	w   unsafe.Pointer
}

// planKey is all that a kept plan with packed weights depends on.
type planKey struct {
	s, next, last    Shape // next and last: the second and the third layer of fused layers
	pt               path
	inLast, outLast  bool
	winograd         bool
	residual         bool // a bfloat16 residual is added
	w, wNext, wThird unsafe.Pointer
	wLast            bool
	window           [3]int
}

// planned returns the plan of the last call if it has the same key, or nil.
func planned[J any](c *PackedWeights, key *planKey) *J {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.planned == nil || c.planKey != *key {
		return nil
	}
	p, _ := c.planned.(*J)
	return p
}

// keep keeps a plan for the next call.
func (c *PackedWeights) keep(key *planKey, p any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.planKey, c.planned = *key, p
}

// get returns the weights that are kept in the order of key; otherwise it makes them and keeps them for the next
// calls. Their memory belongs to the garbage collector, which knows when the last call that
// uses them has ended. Without a receiver nothing is kept.
func (c *PackedWeights) get(key packedKey, make func() unsafe.Pointer) unsafe.Pointer {
	if c == nil {
		return make()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if k := &c.kept[0]; k.w != nil && k.key == key {
		return k.w
	}
	first := c.kept[1]
	if first.w == nil || first.key != key {
		first = keptWeights{key, make()}
	}
	c.kept[1], c.kept[0] = c.kept[0], first
	return first.w
}

// packedKey is all that the order of packed weights depends on.
type packedKey struct {
	pt                         path
	groups, ci, co, cb, nr, es int
	taps                       int
	data                       unsafe.Pointer
	row, col                   int
}

// ReLU is the epilogue's clamp to [0, inf).
func (e Epilogue[T]) ReLU() Epilogue[T] {
	e.Clamp, e.Lo, e.Hi = true, 0, T(math.Inf(1))
	return e
}

// ReLU6 is the epilogue's clamp to [0, 6].
func (e Epilogue[T]) ReLU6() Epilogue[T] {
	e.Clamp, e.Lo, e.Hi = true, 0, 6
	return e
}

// forward is Forward for one element type.
func forward[T Float](s *Shape, out, in Image[T], w Weights[T], ep *Epilogue[T]) {
	var tail *Tail[T]
	if ep != nil {
		tail = ep.Tail
	}
	s = tail.covered(s, out)
	s.check("Forward", len(out.Data)*tail.size(), len(in.Data), len(w.Data))
	if len(out.Data) == 0 {
		return
	}
	if ep != nil && ep.Pitch > 0 {
		forwardPart(s, out, in, w, ep)
		return
	}
	if pointwise(s, out, in, s.Cout, s.Cin) {
		if e, ok := productEpilogue(ep, s.Groups); ok {
			cg := s.Cin / s.Groups
			product(s, out.Data, in.Data, s.Cout/s.Groups, cg, w.Data, cg, 1, e)
			ep.activate(out.Data)
			return
		}
	}
	if s.Cout == 1 && in.Last && s.samePositions() {
		if e, ok := productEpilogue(ep, 1); ok { // dot products of all positions with the weights
			gemm.GEMM(1, s.N*volume(s.In), s.Cin, 1, w.Data, s.Cin, 1, in.Data, 1, s.Cin, 0, out.Data, s.N*volume(s.In),
				1, e)
			ep.activate(out.Data)
			return
		}
	}
	if s.Taps() > 1 && patchesOf(s, in, w).forward(out, w, ep) {
		ep.activate(out.Data)
		return
	}
	forwardJobs(s, out, in, w, ep)
}

// forwardPart is forward for a part of a wider image. Where the algorithm is not one that runs as a job on matrix
// kernels, the result is copied into its place.
func forwardPart[T Float](s *Shape, out, in Image[T], w Weights[T], ep *Epilogue[T]) {
	if s.Groups == 1 && s.Cout > 1 && out.Last {
		forwardJobs(s, out, in, w, ep)
		return
	}
	positions, e := s.N*volume(s.Out), *ep
	e.Pitch = 0
	withIntermediate(positions*s.Cout, true, func(dense Image[T]) {
		forward(s, dense, in, w, &e)
		copyRows(out.Data, ep.Pitch, dense.Data, s.Cout, s.Cout, positions)
	})
}

// forwardJobs is forward by the algorithms that are jobs.
func forwardJobs[T Float](s *Shape, out, in Image[T], w Weights[T], ep *Epilogue[T]) {
	var key planKey
	if ep != nil && ep.Packed != nil {
		key = planKey{
			s: *s, pt: currentPath(), inLast: in.Last, outLast: out.Last, winograd: winogradOn.Load() || ep.Winograd,
			w: unsafe.Pointer(unsafe.SliceData(w.Data)), wLast: w.Last,
		}
		if ep.Tail != nil {
			key.window = ep.Tail.Window
		}
		if p := planned[job[T]](ep.Packed, &key); p != nil {
			j := *p
			j.in, j.out = in, out
			j.setEpilogue(ep)
			j.runTasks()
			return
		}
	}
	j := forwardJob(s, out, in, ep)
	j.key = &key
	wo, wc, wk := w.strides(s.Cin/s.Groups, s.Taps())
	j.run(packSource[T]{data: w.Data, col: wo, row: wc, tap: wk, groups: wo * (s.Cout / s.Groups)})
}

// backwardData is BackwardDataBehind for one element type.
func backwardData[T Float](s *Shape, gin, gout Image[T], w Weights[T], ep *Epilogue[T], tail *Tail[T]) {
	s = tail.covered(s, gout)
	s.check("BackwardData", len(gout.Data)*tail.size(), len(gin.Data), len(w.Data))
	if len(gin.Data) == 0 {
		return
	}
	if tail == nil && pointwise(s, gin, gout, s.Cin, s.Cout) {
		if e, ok := productEpilogue(ep, s.Groups); ok {
			cg := s.Cin / s.Groups
			product(s, gin.Data, gout.Data, cg, s.Cout/s.Groups, w.Data, 1, cg, e)
			return
		}
	}
	if tail == nil && ep == nil && s.Kernel == s.In && patchesOf(s, gin, w).backwardData(gout, w) {
		return
	}
	j := backwardJob(s, gin, gout, ep)
	if tail.pools() {
		j.inTail = tail
	}
	wo, wc, wk := w.strides(s.Cin/s.Groups, s.Taps())
	j.run(packSource[T]{data: w.Data, col: wc, row: wo, tap: wk, groups: wo * (s.Cout / s.Groups)})
}

func (s *Shape) check(name string, out, in, w int) {
	if n := s.N * s.Cout * volume(s.Out); out < n {
		panic(fmt.Sprintf("conv.%s: the output has %d elements, expected %d", name, out, n))
	}
	if n := s.N * s.Cin * volume(s.In); in < n {
		panic(fmt.Sprintf("conv.%s: the input has %d elements, expected %d", name, in, n))
	}
	if n := s.Cout * (s.Cin / s.Groups) * s.Taps(); w < n {
		panic(fmt.Sprintf("conv.%s: the weights have %d elements, expected %d", name, w, n))
	}
}

// A tap is a kernel position. d is its offset in the input, measured from the grid position times the job's
// istep; wi is its number among the weights.
type tap struct {
	d  [3]int
	wi int
}

// A phase computes the output positions at + grid*ostep, all of which see the same taps. A forward
// convolution has one phase. The gradient of the input of a strided convolution has one phase for each
// residue of the position modulo the stride.
type phase struct {
	at       [3]int
	grid     [3]int
	taps     []tap
	w        unsafe.Pointer // packed weights of all groups
	wLen     int            // bytes
	regions  []region
	tapTiles int         // sum of the taps of all tiles of a task's images
	off      []int       // depthwise: bytes of the taps in the band
	rows     []int       // depthwise: the cuts between lines
	sliding  slidingTaps // depthwise: taps of the band that a kernel takes together
}

func forwardJob[T Float](s *Shape, out, in Image[T], ep *Epilogue[T]) *job[T] {
	in.Last = in.Last || s.Cin == 1 // both layouts are the same
	j := &job[T]{
		pt: currentPath(), n: s.N, groups: s.Groups, ci: s.Cin / s.Groups, co: s.Cout / s.Groups,
		in: in, out: out, inD: s.In, outD: s.Out, istep: s.Stride, ostep: [3]int{1, 1, 1},
	}
	j.setEpilogue(ep)
	p := phase{grid: s.Out}
	s.eachTap(func(k [3]int, wi int) {
		t := tap{wi: wi}
		for i := range 3 {
			t.d[i] = k[i]*s.Dilation[i] - s.Pad[i]
		}
		p.taps = append(p.taps, t)
	})
	j.phases = []phase{p}
	return j
}

// backwardJob plans the gradient of the input. The gradient at position i gathers from output o wherever
// o*stride + k*dilation - pad = i. With i = at + stride*grid this fixes which kernel positions k take part,
// and o = grid + (at + pad - k*dilation)/stride.
func backwardJob[T Float](s *Shape, gin, gout Image[T], ep *Epilogue[T]) *job[T] {
	j := &job[T]{
		pt: currentPath(), n: s.N, groups: s.Groups, ci: s.Cout / s.Groups, co: s.Cin / s.Groups,
		in: gout, out: gin, inD: s.Out, outD: s.In, istep: [3]int{1, 1, 1}, ostep: s.Stride,
	}
	j.setEpilogue(ep)
	for z := range min(s.Stride[0], s.In[0]) {
		for y := range min(s.Stride[1], s.In[1]) {
			for x := range min(s.Stride[2], s.In[2]) {
				p := phase{at: [3]int{z, y, x}}
				for i := range 3 {
					p.grid[i] = (s.In[i] - p.at[i] + s.Stride[i] - 1) / s.Stride[i]
				}
				s.eachTap(func(k [3]int, wi int) {
					t := tap{wi: wi}
					for i := range 3 {
						o := p.at[i] + s.Pad[i] - k[i]*s.Dilation[i]
						if o%s.Stride[i] != 0 {
							return
						}
						t.d[i] = o / s.Stride[i]
					}
					p.taps = append(p.taps, t)
				})
				// Taps in the order of memory, so that neighbours can be joined to one segment.
				for a, b := 0, len(p.taps)-1; a < b; a, b = a+1, b-1 {
					p.taps[a], p.taps[b] = p.taps[b], p.taps[a]
				}
				j.phases = append(j.phases, p)
			}
		}
	}
	return j
}

func (s *Shape) eachTap(f func(k [3]int, wi int)) {
	wi := 0
	for z := range s.Kernel[0] {
		for y := range s.Kernel[1] {
			for x := range s.Kernel[2] {
				f([3]int{z, y, x}, wi)
				wi++
			}
		}
	}
}
