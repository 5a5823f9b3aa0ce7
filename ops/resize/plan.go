package resize

import (
	"slices"
	"strings"
	"sync"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/tensor"
)

// call is all that a plan depends on.
type call struct {
	mode                     string
	dims                     int
	in, out                  [3]int
	scales                   [3]float64
	align, antialias, reduce bool // reduce: the gradient, which takes out to in
	narrow                   bool // weights rounded to dt
	dt                       tensor.DType
	unit                     int
	many                     bool // there are rows enough to make it worth while to prepare lanes for them
	vectors                  int  // size of the vectors that lanes are prepared for
}

// plan is what it takes to resize tensors of some sizes: the taps, and the passes of the type that it is done in.
type plan struct {
	ts      []*taps
	numbers []*pass[float32]
	doubles []*pass[float64]
	bytes   []*pass[uint8]
	picker  *picker
}

// recent keeps the last plans: programs resize many tensors of the same sizes, often so small that the plan is most of
// the work.
var recent struct {
	sync.Mutex
	calls [16]call
	plans [16]*plan
	next  int
}

// planned is the plan of a call.
func planned(c call) *plan {
	recent.Lock()
	if i := slices.Index(recent.calls[:], c); i >= 0 {
		defer recent.Unlock()
		return recent.plans[i]
	}
	recent.Unlock()
	p := c.plan()
	// what is larger is not worth its memory
	if size := c.out[0] + c.out[1] + c.out[2] + c.in[0] + c.in[1] + c.in[2]; size*c.unit < 1<<16 {
		recent.Lock()
		recent.calls[recent.next], recent.plans[recent.next] = c, p
		recent.next = (recent.next + 1) % len(recent.calls)
		recent.Unlock()
	}
	return p
}

// plan makes the plan.
func (c call) plan() *plan {
	r := single
	if c.dt == tensor.Float64 || c.dt == tensor.Uint8 && !strings.HasPrefix(c.mode, "nearest") {
		r = double
	}
	p := &plan{ts: make([]*taps, c.dims)}
	for i := range p.ts {
		t := table(c.mode, c.in[i], c.out[i], c.align, c.scales[i], c.antialias, r)
		if (c.antialias || c.dt == tensor.Uint8 && c.mode == "cubic") && !c.reduce && t.in == t.out {
			// PyTorch, too, leaves such a dimension alone, whatever the scale, but not in the gradient
			t.identity = true
		}
		if c.narrow {
			t.narrow(c.mode, c.dt)
		}
		if c.reduce {
			t = t.transpose()
		}
		p.ts[i] = t
	}
	switch {
	case !slices.ContainsFunc(p.ts, func(t *taps) bool { return !t.identity }):
		// nothing is resized
	case strings.HasPrefix(c.mode, "nearest") && !c.reduce:
		p.picker = newPicker(p.ts, c.unit*c.dt.Size())
	case c.dt == tensor.Uint8:
		p.bytes = bytePasses(c.unit, p.ts, c.many)
	case c.dt == tensor.Float64:
		p.doubles = passes64(c.unit, p.ts, c.many)
	default:
		p.numbers = passes32(c.unit, p.ts, c.many)
	}
	return p
}

// run resizes in into out; the taps go from sizes from to sizes to, for the gradient the other way.
func run(out, in *T, from, to []int, mode string, align bool, scales []float64, antialias, reduce bool) {
	g := gridOf(in)
	c := call{mode: mode, dims: len(from), align: align, antialias: antialias, reduce: reduce, dt: in.DType(),
		unit: g.unit, vectors: vec.TapBytes()}
	copy(c.in[:], from)
	copy(c.out[:], to)
	copy(c.scales[:], scales)
	c.narrow = in.DType().IsReduced() && !reduce && !antialias && !strings.HasPrefix(mode, "nearest") &&
		(mode == "cubic" || !vectorized(g, to))
	// PyTorch heeds no scale there where a dimension keeps or doubles its size
	if mode == "nearest" && (reduce || vectorized(g, to)) {
		for i := range from {
			if to[i] == from[i] || to[i] == 2*from[i] {
				c.scales[i] = 0
			}
		}
	}
	rows := g.planes
	for _, n := range to[:len(to)-1] {
		rows *= n
	}
	c.many = rows >= 4
	p := planned(c)
	switch {
	case p.picker != nil:
		pick(g, p.picker, out, in)
	case p.bytes != nil:
		resize(g, p.bytes, p.ts, out, in)
	case p.doubles != nil:
		resize(g, p.doubles, p.ts, out, in)
	case p.numbers != nil:
		resize(g, p.numbers, p.ts, out, in)
	default:
		tensor.CopyRaw(out, in)
	}
}

// vectorized tells whether PyTorch has a kernel for the layout: for channels-last memory and, in 2 dimensions, for
// small images. Its other kernel computes in a 16-bit type with weights of that type.
func vectorized(g grid, out []int) bool {
	return len(out) > 1 && g.unit > 3 || len(out) == 2 && out[0]+out[1] <= 128
}
