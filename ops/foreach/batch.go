package foreach

import (
	"sort"
	"sync"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/dtype"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/tensor"
)

const (
	maxArrays = 4 // state arrays beside the parameter: m, v, vmax, and one to spare

	// grain is the number of elements of one parallel task: some 5 µs of work.
	grain = 16 * 1024
	// span aligns the places of parameters in the common index space, so that tasks begin at whole cache lines of every
	// array.
	span = 64
	// block is the number of elements that go through scratch memory at a time.
	block = 2048
)

// kernel is the rule of a step. The rules are told apart by number and called directly: through a function value every
// task would put its slices on the heap.
type kernel uint8

const (
	plainSGD kernel = iota
	momentumSGD
	nesterovSGD
	plainAdam
	amsgradAdam
	adagrad
	rmsprop
	adadelta
	adamax
	nadam
	radam
	rprop
	asgd
)

// hyper are the numbers that a kernel needs, worked out once per parameter in float64 as Python does.
type hyper struct {
	decay, l2, lr, momentum, damp          float64
	beta1c, beta2, beta2c, step, corr, eps float64
	scale                                  float64 // gradients are divided by it first; 0: they are not
	maximize                               bool
	fresh                                  bool // the momentum begins at 0, whatever its buffer holds
	centered                               bool // RMSprop divides by the deviation of the gradient, not by its size
	rectified                              bool // RAdam's step is adaptive
	rule                                   kernel
}

// item is one parameter of a step.
type item struct {
	h      *hyper
	dt     tensor.DType // of the parts: float32 for complex64
	n      int
	p, g   unsafe.Pointer
	s      [maxArrays]unsafe.Pointer
	ns     int
	places int // where the parameter begins in the common index space
}

// batch collects the parameters of a step and updates them in one parallel loop.
type batch struct {
	items []item
	total int
	back  []copyBack
}

// copyBack is a tensor that the step sees through a copy in another layout.
type copyBack struct{ to, from *T }

var batches = sync.Pool{New: func() any { return new(batch) }}

// add puts a parameter with its gradient and state arrays into the batch.
func (b *batch) add(p, g *T, h *hyper, state ...*T) {
	if p.Numel() == 0 {
		return
	}
	b.items = append(b.items, item{h: h, dt: p.DType().Real(), n: p.Numel(), ns: len(state), places: b.total})
	it := &b.items[len(b.items)-1]
	if p.DType().IsComplex() {
		it.n *= 2 // the parts are independent
	}
	shape, stride := p.Shape(), p.Strides()
	if p.IsContiguous() || !p.IsDense() {
		stride = nil
	}
	it.p = b.inLayout(p, shape, stride, true)
	it.g = b.inLayout(g, shape, stride, h.scale != 0)
	for i, s := range state {
		it.s[i] = b.inLayout(s, shape, stride, true)
	}
	b.total += (it.n + span - 1) / span * span
}

// inLayout is the memory of a tensor, or of a copy of it, with the given strides (nil: contiguous). A copy that the
// step writes to is copied back in the end.
func (b *batch) inLayout(t *T, shape, stride []int, writes bool) unsafe.Pointer {
	if stride == nil && t.IsContiguous() || stride != nil && sameStrides(shape, t.Strides(), stride) {
		return tensor.Ptr(t)
	}
	d := tensor.NewStrided(shape, stride, t.DType())
	tensor.CopyRaw(d, t)
	if !writes {
		t = nil
	}
	b.back = append(b.back, copyBack{t, d}) // which also keeps the copy alive
	return tensor.Ptr(d)
}

// sameStrides reports that tensors of one shape have their elements in the same order.
func sameStrides(shape, a, b []int) bool {
	for i, n := range shape {
		if n > 1 && a[i] != b[i] {
			return false
		}
	}
	return true
}

// run updates all parameters.
func (b *batch) run() {
	bytes := 0
	for i := range b.items {
		it := &b.items[i]
		bytes += it.n * it.dt.Size() * (2 + it.ns)
	}
	if b.total > 0 {
		par.Sweep(b.total, grain, bytes, b.update)
	}
	for _, c := range b.back {
		if c.to != nil {
			tensor.CopyRaw(c.to, c.from)
		}
	}
	clear(b.items)
	clear(b.back)
	b.items, b.back, b.total = b.items[:0], b.back[:0], 0
	batches.Put(b)
}

// update handles the places from lo to hi, which may hold parts of several parameters.
func (b *batch) update(lo, hi int) {
	i := sort.Search(len(b.items), func(i int) bool { return b.items[i].places > lo }) - 1
	for ; i < len(b.items) && b.items[i].places < hi; i++ {
		it := &b.items[i]
		from, to := max(lo-it.places, 0), min(hi-it.places, it.n)
		if from >= to {
			continue
		}
		switch it.dt {
		case dtype.Float32:
			run32(it, from, to)
		case dtype.Float64:
			run64(it, from, to)
		default:
			runHalf(it, from, to)
		}
	}
}

func sliceAt[T any](p unsafe.Pointer, from, to int) []T {
	return unsafe.Slice((*T)(p), to)[from:to:to]
}

// prepare unscales a run of the gradient, which a gradient scaler wants to see unscaled afterwards, and clears a run of
// a momentum that begins.
func prepare[F float32 | float64](h *hyper, g, momentum []F) {
	if h.scale != 0 {
		by := F(h.scale)
		for i := range g {
			g[i] /= by
		}
	}
	if h.fresh {
		clear(momentum)
	}
}

func run32(it *item, from, to int) {
	p, g := sliceAt[float32](it.p, from, to), sliceAt[float32](it.g, from, to)
	var s [maxArrays][]float32
	for k := range it.ns {
		s[k] = sliceAt[float32](it.s[k], from, to)
	}
	prepare(it.h, g, s[0])
	if !it.h.maximize {
		it.h.step32(p, g, &s)
		return
	}
	// The kernels descend: to ascend they get the negative gradient, a block at a time while it is in cache.
	buf := scratch.Get().(*scratchBuf)
	defer scratch.Put(buf)
	for len(p) > 0 {
		n := min(len(p), block)
		neg := buf[0][:n]
		for i, x := range g[:n] {
			neg[i] = -x
		}
		var part [maxArrays][]float32
		for k := range it.ns {
			part[k], s[k] = s[k][:n:n], s[k][n:]
		}
		it.h.step32(p[:n:n], neg, &part)
		p, g = p[n:], g[n:]
	}
}

func run64(it *item, from, to int) {
	p, g := sliceAt[float64](it.p, from, to), sliceAt[float64](it.g, from, to)
	var s [maxArrays][]float64
	for k := range it.ns {
		s[k] = sliceAt[float64](it.s[k], from, to)
	}
	prepare(it.h, g, s[0])
	if !it.h.maximize {
		it.h.step64(p, g, &s)
		return
	}
	var neg [block / 4]float64
	for len(p) > 0 {
		n := min(len(p), len(neg))
		for i, x := range g[:n] {
			neg[i] = -x
		}
		var part [maxArrays][]float64
		for k := range it.ns {
			part[k], s[k] = s[k][:n:n], s[k][n:]
		}
		it.h.step64(p[:n:n], neg[:n], &part)
		p, g = p[n:], g[n:]
	}
}

type scratchBuf [maxArrays + 2][block]float32

var scratch = sync.Pool{New: func() any { return new(scratchBuf) }}

// runHalf widens 16-bit parameters, gradients and state to float32 in blocks and rounds them once when the step is
// done, as PyTorch's fused kernels do.
func runHalf(it *item, from, to int) {
	widen, narrow := dtype.Convert(dtype.Float32, it.dt), dtype.Convert(it.dt, dtype.Float32)
	buf := scratch.Get().(*scratchBuf)
	defer scratch.Put(buf)
	for ; from < to; from += block {
		n := min(to-from, block)
		at := uintptr(from * it.dt.Size())
		var s [maxArrays][]float32
		p, g := buf[0][:n], buf[1][:n]
		widen(unsafe.Pointer(&p[0]), unsafe.Add(it.p, at), n)
		widen(unsafe.Pointer(&g[0]), unsafe.Add(it.g, at), n)
		for k := range it.ns {
			s[k] = buf[2+k][:n]
			widen(unsafe.Pointer(&s[k][0]), unsafe.Add(it.s[k], at), n)
		}
		prepare(it.h, g, s[0])
		if it.h.scale != 0 {
			narrow(unsafe.Add(it.g, at), unsafe.Pointer(&g[0]), n)
		}
		if it.h.maximize {
			for i := range g {
				g[i] = -g[i]
			}
		}
		it.h.step32(p, g, &s)
		narrow(unsafe.Add(it.p, at), unsafe.Pointer(&p[0]), n)
		for k := range it.ns {
			narrow(unsafe.Add(it.s[k], at), unsafe.Pointer(&s[k][0]), n)
		}
	}
}

// step32 and step64 update a run. s holds the state's arrays in the order given to add.
func (h *hyper) step32(p, g []float32, s *[maxArrays][]float32) {
	f := func(x float64) float32 { return float32(x) }
	switch h.rule {
	case plainSGD:
		vec.SGDF32(p, g, f(h.lr), f(h.l2))
	case momentumSGD:
		vec.SGDMomentumF32(p, s[0], g, f(h.lr), f(h.l2), f(h.momentum), f(h.damp))
	case nesterovSGD:
		vec.SGDNesterovF32(p, s[0], g, f(h.lr), f(h.l2), f(h.momentum), f(h.damp))
	case plainAdam:
		vec.AdamF32(p, s[0], s[1], g, f(h.decay), f(h.l2), f(h.beta1c), f(h.beta2), f(h.beta2c), f(h.step), f(h.corr),
			f(h.eps))
	case amsgradAdam:
		vec.AdamAMSGradF32(p, s[0], s[1], s[2], g, f(h.decay), f(h.l2), f(h.beta1c), f(h.beta2), f(h.beta2c), f(h.step),
			f(h.corr), f(h.eps))
	case adagrad:
		vec.AdagradF32(p, s[0], g, f(h.lr), f(h.l2), f(h.eps))
	default:
		inBlocks(vectors32, h, p, g, s)
	}
}

func (h *hyper) step64(p, g []float64, s *[maxArrays][]float64) {
	switch h.rule {
	case plainSGD:
		vec.SGDF64(p, g, h.lr, h.l2)
	case momentumSGD:
		vec.SGDMomentumF64(p, s[0], g, h.lr, h.l2, h.momentum, h.damp)
	case nesterovSGD:
		vec.SGDNesterovF64(p, s[0], g, h.lr, h.l2, h.momentum, h.damp)
	case plainAdam:
		vec.AdamF64(p, s[0], s[1], g, h.decay, h.l2, h.beta1c, h.beta2, h.beta2c, h.step, h.corr, h.eps)
	case amsgradAdam:
		vec.AdamAMSGradF64(p, s[0], s[1], s[2], g, h.decay, h.l2, h.beta1c, h.beta2, h.beta2c, h.step, h.corr, h.eps)
	case adagrad:
		vec.AdagradF64(p, s[0], g, h.lr, h.l2, h.eps)
	default:
		inBlocks(vectors64, h, p, g, s)
	}
}
