package resize

import "math"

// taps is the map along one dimension: output i is the sum over t of weight[i*n+t] * input[index[i*n+t]].
type taps struct {
	in, out, n int
	index      []int
	weight     []float64
	weight32   []float32 // the same in single precision
	identity   bool
}

// precision rounds intermediate positions to the type that PyTorch computes them in.
type precision func(float64) float64

func single(x float64) float64 { return float64(float32(x)) }
func double(x float64) float64 { return x }

// step is the distance in the input between neighbours of the output; scale is the given factor, 0 when there is none.
func step(in, out int, align bool, scale float64, r precision) float64 {
	if align {
		if out > 1 {
			return r(float64(in-1) / float64(out-1))
		}
		return 0
	}
	if scale > 0 {
		return r(1 / scale)
	}
	return r(float64(in) / float64(out))
}

// position is where output i lies in the input.
func position(st float64, i int, align, cubic bool, r precision) float64 {
	if align {
		return r(st * float64(i))
	}
	x := r(r(st*r(float64(i)+0.5)) - 0.5)
	if x < 0 && !cubic {
		return 0
	}
	return x
}

// table builds the taps of a mode along one dimension.
func table(mode string, in, out int, align bool, scale float64, antialias bool, r precision) *taps {
	t := exact(mode, in, out, align, scale, antialias, r)
	t.weight32 = make([]float32, len(t.weight))
	for i, w := range t.weight {
		t.weight32[i] = float32(w)
	}
	return t
}

func exact(mode string, in, out int, align bool, scale float64, antialias bool, r precision) *taps {
	if antialias {
		return smooth(mode, in, out, align, scale, r)
	}
	n := map[string]int{"linear": 2, "cubic": 4}[mode]
	if n == 0 {
		n = 1
	}
	t := &taps{in: in, out: out, n: n, index: make([]int, out*n), weight: make([]float64, out*n)}
	st := step(in, out, align, scale, r)
	t.identity = in == out && (mode == "linear" || st == 1)
	for i := range out {
		ix, w := t.index[i*n:i*n+n], t.weight[i*n:i*n+n]
		switch mode {
		case "nearest":
			ix[0], w[0] = min(int(math.Floor(r(st*float64(i)))), in-1), 1
		case "nearest-exact":
			x := r(r(st*r(float64(i)+0.5)) - 0.5)
			ix[0], w[0] = max(0, min(int(math.Floor(r(x+0.5))), in-1)), 1
		case "linear":
			if in == out {
				ix[0], ix[1], w[0] = i, i, 1
				continue
			}
			x := position(st, i, align, false, r)
			ix[0] = min(int(x), in-1)
			ix[1] = min(ix[0]+1, in-1)
			w[1] = min(max(r(x-float64(ix[0])), 0), 1)
			w[0] = r(1 - w[1])
		case "cubic":
			x := position(st, i, align, true, r)
			at := min(int(math.Floor(x)), in-1)
			f := min(max(r(x-float64(at)), 0), 1)
			for k, c := range cubic(f, -0.75) {
				ix[k], w[k] = max(0, min(at-1+k, in-1)), r(c)
			}
		}
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
	t := &taps{in: in, out: out, n: n, index: make([]int, out*n), weight: make([]float64, out*n)}
	t.identity = in == out && st == 1
	for i := range out {
		center := st * (float64(i) + 0.5)
		lo := max(int(center-support+0.5), 0)
		size := min(max(min(int(center+support+0.5), in)-lo, 0), n)
		total := 0.0
		w := t.weight[i*n : i*n+n]
		for k := range size {
			w[k] = filter((float64(k+lo) - center + 0.5) * inv)
			total += w[k]
		}
		for k := range n {
			t.index[i*n+k] = min(lo+min(k, max(size-1, 0)), in-1)
			if total != 0 {
				w[k] = r(w[k] / total)
			}
		}
	}
	return t
}

// fixed are the weights as 16-bit integers with as many fraction bits as fit, the form in which bytes are resized.
func (t *taps) fixed() (w []int32, bits uint) {
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
