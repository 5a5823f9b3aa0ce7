package resize

import (
	"math"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/tensor"
)

// taps is the map along one dimension: output i is the sum of weight[k] * input[index[k]] for k from start[i] up to
// start[i+1].
type taps struct {
	in, out      int
	start, index []int32
	weight       []float64
	identity     bool
}

// add appends a tap to the output that is being made.
func (t *taps) add(index int, weight float64) {
	t.index, t.weight = append(t.index, int32(index)), append(t.weight, weight)
}

// next ends an output.
func (t *taps) next() { t.start = append(t.start, int32(len(t.index))) }

func newTaps(in, out, n int) *taps {
	return &taps{in: in, out: out, start: append(make([]int32, 0, out+1), 0), index: make([]int32, 0, out*n),
		weight: make([]float64, 0, out*n)}
}

// weights32 are the weights in single precision.
func (t *taps) weights32() []float32 {
	w := make([]float32, len(t.weight))
	for i, v := range t.weight {
		w[i] = float32(v)
	}
	return w
}

// transpose is the map that takes gradients back.
func (t *taps) transpose() *taps {
	b := &taps{in: t.out, out: t.in, start: make([]int32, t.in+1), identity: t.identity}
	for _, x := range t.index {
		b.start[x+1]++
	}
	for i := range t.in {
		b.start[i+1] += b.start[i]
	}
	b.index, b.weight = make([]int32, len(t.index)), make([]float64, len(t.index))
	end := append([]int32(nil), b.start[:t.in]...)
	for i := range t.out {
		for k := t.start[i]; k < t.start[i+1]; k++ {
			at := &end[t.index[k]]
			if last := *at - 1; last >= b.start[t.index[k]] && b.index[last] == int32(i) {
				b.weight[last] += t.weight[k] // at the border an output may take an input twice
				continue
			}
			b.index[*at], b.weight[*at] = int32(i), t.weight[k]
			*at++
		}
	}
	// Close the gaps.
	n := int32(0)
	for i := range t.in {
		lo := b.start[i]
		b.start[i] = n
		n += int32(copy(b.index[n:], b.index[lo:end[i]]))
		copy(b.weight[b.start[i]:], b.weight[lo:end[i]])
	}
	b.start[t.in] = n
	b.index, b.weight = b.index[:n], b.weight[:n]
	return b
}

// spread is the map for rows that hold unit elements at each position.
func (t *taps) spread(unit int) *taps {
	if unit == 1 {
		return t
	}
	s := newTaps(t.in*unit, t.out*unit, len(t.index)*unit/t.out)
	for i := range t.out {
		for u := range unit {
			for k := t.start[i]; k < t.start[i+1]; k++ {
				s.add(int(t.index[k])*unit+u, t.weight[k])
			}
			s.next()
		}
	}
	return s
}

// span is the range of inputs that outputs from lo up to hi read.
func (t *taps) span(lo, hi int) (from, to int) {
	from = t.in
	for _, x := range t.index[t.start[lo]:t.start[hi]] {
		from, to = min(from, int(x)), max(to, int(x)+1)
	}
	return min(from, to), to
}

// narrow rounds the weights to a 16-bit type, in which PyTorch keeps them in places.
func (t *taps) narrow(mode string, dt tensor.DType) {
	round := func(x float64) float64 { return float64(vec.BF16ToF32(vec.F32ToBF16(float32(x)))) }
	if dt == tensor.Float16 {
		round = func(x float64) float64 { return float64(vec.F16ToF32(vec.F32ToF16(float32(x)))) }
	}
	if t.identity {
		return
	}
	for i, w := range t.weight {
		t.weight[i] = round(w)
		if mode == "linear" && i&1 == 1 {
			t.weight[i-1] = round(1 - t.weight[i])
		}
	}
}

// precision is the type that PyTorch computes positions in.
type precision bool

const (
	single precision = false
	double precision = true
)

// round rounds an intermediate result.
func (p precision) round(x float64) float64 {
	if p == single {
		return float64(float32(x))
	}
	return x
}

// step is the distance in the input between neighbours of the output; scale is the given factor, 0 when there is none.
func step(in, out int, align bool, scale float64, r precision) float64 {
	if align {
		if out > 1 {
			return r.round(float64(in-1) / float64(out-1))
		}
		return 0
	}
	if scale > 0 {
		return r.round(1 / scale)
	}
	return r.round(float64(in) / float64(out))
}

// position is where output i lies in the input.
func position(st float64, i int, align, cubic bool, r precision) float64 {
	if align {
		return r.round(st * float64(i))
	}
	x := r.round(r.round(st*r.round(float64(i)+0.5)) - 0.5)
	if x < 0 && !cubic {
		return 0
	}
	return x
}

// table builds the taps of a mode along one dimension.
func table(mode string, in, out int, align bool, scale float64, antialias bool, r precision) *taps {
	if antialias {
		return smooth(mode, in, out, align, scale, r)
	}
	n := map[string]int{"linear": 2, "cubic": 4}[mode]
	if n == 0 {
		n = 1
	}
	t := newTaps(in, out, n)
	st := step(in, out, align, scale, r)
	t.identity = in == out && (mode == "linear" || st == 1)
	for i := range out {
		switch mode {
		case "nearest":
			t.add(min(int(math.Floor(r.round(st*float64(i)))), in-1), 1)
		case "nearest-exact":
			x := r.round(r.round(st*r.round(float64(i)+0.5)) - 0.5)
			t.add(max(0, min(int(math.Floor(r.round(x+0.5))), in-1)), 1)
		case "linear":
			if in == out {
				t.add(i, 1)
				break
			}
			x := position(st, i, align, false, r)
			at := min(int(x), in-1)
			w := min(max(r.round(x-float64(at)), 0), 1)
			t.add(at, r.round(1-w))
			t.add(min(at+1, in-1), w)
		case "cubic":
			x := position(st, i, align, true, r)
			at := min(int(math.Floor(x)), in-1)
			f := min(max(r.round(x-float64(at)), 0), 1)
			for k, c := range cubic(f, -0.75) {
				t.add(max(0, min(at-1+k, in-1)), r.round(c))
			}
		}
		t.next()
	}
	return t
}

// cubic are the weights of four neighbours for a position f between the middle two (Keys' kernel with parameter a).
func cubic(f, a float64) [4]float64 {
	near := func(x float64) float64 { return ((a+2)*x-(a+3))*x*x + 1 }
	far := func(x float64) float64 { return ((a*x-5*a)*x+8*a)*x - 4*a }
	return [4]float64{far(f + 1), near(f), near(1 - f), far(2 - f)}
}

// smooth builds taps that widen when shrinking, so that every input element counts (antialiasing as in Pillow).
func smooth(mode string, in, out int, align bool, scale float64, r precision) *taps {
	st := step(in, out, align, scale, r)
	half := 1.0
	filter := func(x float64) float64 { return max(0, 1-math.Abs(x)) }
	switch mode {
	case "cubic":
		half = 2
		filter = func(x float64) float64 {
			x = math.Abs(x)
			const a = -0.5
			switch {
			case x < 1:
				return ((a+2)*x-(a+3))*x*x + 1
			case x < 2:
				return (((x-5)*x+8)*x - 4) * a
			}
			return 0
		}
	case "lanczos":
		half = 3
		sinc := func(x float64) float64 {
			if x == 0 {
				return 1
			}
			return math.Sin(math.Pi*x) / (math.Pi * x)
		}
		filter = func(x float64) float64 {
			if x < -3 || x >= 3 {
				return 0
			}
			return sinc(x) * sinc(x/3)
		}
	}
	support := half * max(st, 1)
	inv := 1 / max(st, 1)
	n := int(math.Ceil(support))*2 + 1
	t := newTaps(in, out, n)
	w := make([]float64, n)
	t.identity = in == out && st == 1
	for i := range out {
		center := st * (float64(i) + 0.5)
		lo := max(int(center-support+0.5), 0)
		size := min(max(min(int(center+support+0.5), in)-lo, 0), n)
		total := 0.0
		for k := range size {
			w[k] = filter((float64(k+lo) - center + 0.5) * inv)
			total += w[k]
		}
		for k := range size {
			if total != 0 {
				w[k] /= total
			}
			t.add(lo+k, r.round(w[k]))
		}
		t.next()
	}
	return t
}

// fixed are the weights as 16-bit integers with as many fraction bits as fit, the form in which bytes are resized.
func (t *taps) fixed() (w []int32, bits int) {
	top := 0.0
	for _, v := range t.weight {
		top = max(top, v)
	}
	for bits = 0; bits < 22; bits++ {
		if int(0.5+top*float64(int(1)<<(bits+1))) >= 1<<15 {
			break
		}
	}
	w = make([]int32, len(t.weight))
	for i, v := range t.weight {
		x := v * float64(int(1)<<bits)
		if x < 0 {
			w[i] = int32(x - 0.5)
		} else {
			w[i] = int32(x + 0.5)
		}
	}
	return w, bits
}
