package quantization

import (
	"math"

	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// HistogramObserver counts elements in bins, and chooses the range whose quantization has the least squared error.
// https://pytorch.org/docs/stable/generated/torch.ao.quantization.observer.HistogramObserver.html
type HistogramObserver struct {
	ObserverBase
	Histogram *Tensor `torch:"histogram,buffer"`
	MinVal    *Tensor `torch:"min_val,buffer"`
	MaxVal    *Tensor `torch:"max_val,buffer"`
}

// NewHistogramObserver makes a HistogramObserver.
func NewHistogramObserver(opts ...ObserverOptions) *HistogramObserver {
	o := &HistogramObserver{}
	var opt ObserverOptions
	if len(opts) > 0 {
		opt = opts[0]
	}
	if opt.QScheme.IsPerChannel() {
		tensor.Fail(tensor.ErrNotImpl, "HistogramObserver's qscheme only support torch.per_tensor_symmetric and "+
			"torch.per_tensor_affine.")
	}
	o.setup(opt)
	n := opt.Bins.Or(2048)
	if n < 1 || n > 1<<24 {
		tensor.Fail(tensor.ErrValue, "HistogramObserver: bins must be from 1 to 2^24, got %d", n)
	}
	o.Histogram = tensor.FromSlice(make([]float32, n))
	o.MinVal = tensor.FromSlice([]float32{float32(math.Inf(1))}, []int{}...).Reshape([]int{})
	o.MaxVal = tensor.FromSlice([]float32{float32(math.Inf(-1))}, []int{}...).Reshape([]int{})
	return nn.New(o)
}

// Forward observes x and returns it.
func (o *HistogramObserver) Forward(x *Tensor) *Tensor { return o.Run(o, x, o.observe) }

func (o *HistogramObserver) observe(orig *Tensor) *Tensor {
	x := orig.Detach().To(tensor.Float32)
	vals := make([]float32, 0, x.Numel())
	lo, hi := float32(math.Inf(1)), float32(math.Inf(-1))
	for _, v := range numbers(x) {
		if !math.IsInf(float64(v), 0) {
			vals = append(vals, v)
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	if len(vals) < x.Numel() {
		tensor.Warn("torch.inf detected in input tensor, ignoring input")
	}
	if len(vals) == 0 {
		return orig
	}
	hist := numbers(o.Histogram)
	wasLo, wasHi := float32(o.MinVal.Num().F), float32(o.MaxVal.Num().F)
	if !math.IsInf(float64(wasLo), 1) && !math.IsInf(float64(wasHi), -1) {
		newLo, newHi := min(wasLo, lo), max(wasHi, hi)
		counts := count(vals, len(hist), newLo, newHi)
		old := hist
		if newLo != wasLo || newHi != wasHi {
			old = rebin(hist, wasLo, wasHi, newLo, newHi)
		}
		for i := range counts {
			counts[i] += old[i]
		}
		hist, lo, hi = counts, newLo, newHi
	} else {
		hist = count(vals, len(hist), lo, hi)
	}
	o.Histogram = tensor.FromSlice(hist)
	o.MinVal, o.MaxVal = tensor.FromSlice([]float32{lo}).Reshape([]int{}), tensor.FromSlice([]float32{hi}).Reshape([]int{})
	return orig
}

// count is the histogram of numbers in n bins from lo to hi.
func count(vals []float32, n int, lo, hi float32) []float32 {
	h := tensor.FromSlice(vals).Histc(tensor.HistcOptions{Bins: tensor.Some(n), Min: float64(lo), Max: float64(hi)})
	return append([]float32(nil), tensor.Data[float32](h)...)
}

// finer is how many parts a bin is cut into when it is distributed over others.
const finer = 16

// rebin distributes counts in bins from lo to hi over as many bins from newLo to newHi, a wider range: each bin is cut
// into parts, and a part goes where its middle lies.
func rebin(hist []float32, lo, hi, newLo, newHi float32) []float32 {
	n := len(hist)
	out := make([]float32, n)
	if lo == hi { // one value
		var sum float32
		for _, c := range hist {
			sum += c
		}
		for i, c := range count([]float32{lo}, n, newLo, newHi) {
			out[i] = c * sum
		}
		return out
	}
	parts := n * finer
	width := (hi - lo) / float32(parts)
	starts := linspace(lo, hi, parts+1)
	ends := linspace(newLo, newHi, n+1)
	sums := make([]float64, n)
	at := 0
	for i := range parts {
		mid := starts[i] + 0.5*width
		for at < n && ends[at] <= mid { // the last boundary that is not above
			at++
		}
		b := min(max(at-1, 0), n-1)
		if at == n && ends[n] <= mid {
			b = n - 1
		}
		sums[b] += float64(hist[i/finer] / finer)
	}
	for i, s := range sums {
		out[i] = float32(s)
	}
	return out
}

// linspace is n numbers from lo to hi, as torch.linspace: counted from both ends, and each rounded once, as by a fused
// multiply-add.
func linspace(lo, hi float32, n int) []float32 {
	out := make([]float32, n)
	step := (hi - lo) / float32(n-1)
	for i := range out {
		if i < n/2 {
			out[i] = float32(float64(lo) + float64(step)*float64(i))
		} else {
			out[i] = float32(float64(hi) - float64(step)*float64(n-1-i))
		}
	}
	return out
}

// CalculateQParams searches the range with the least error, and chooses scale and zero point for it.
func (o *HistogramObserver) CalculateQParams() (scale, zeroPoint *Tensor) {
	lo, hi := float32(o.MinVal.Num().F), float32(o.MaxVal.Num().F)
	if math.IsInf(float64(lo), 1) && math.IsInf(float64(hi), -1) {
		tensor.Warn("must run observer before calling calculate_qparams. Returning default scale and zero point")
		return tensor.FromSlice([]float32{1}), tensor.FromSlice([]int64{0})
	}
	a, b := o.search(lo, hi)
	return o.qparams([]float32{a}, []float32{b})
}

// search narrows the range from both sides, by quantiles in steps of 1e-5, as long as the squared error falls: the
// nonlinear search of Caffe2's norm minimization.
func (o *HistogramObserver) search(lo, hi float32) (least, most float32) {
	hist := numbers(o.Histogram)
	n := len(hist)
	width := (hi - lo) / float32(n)
	var total float64
	sums := make([]float32, n)
	var run float64
	for i, c := range hist {
		run += float64(c)
		sums[i] = float32(run)
	}
	total = float64(float32(run))
	const step = 1e-5
	alpha, beta := 0.0, 1.0
	from, to := 0, n-1
	best := math.Inf(1)
	for alpha < beta {
		nextAlpha, nextBeta := alpha+step, beta-step
		l, r := from, to
		for l < to && float64(sums[l]) < nextAlpha*total {
			l++
		}
		for r > from && float64(sums[r]) > nextBeta*total {
			r--
		}
		nextFrom, nextTo := from, to
		if l-from > to-r {
			nextFrom, alpha = l, nextAlpha
		} else {
			nextTo, beta = r, nextBeta
		}
		if nextFrom == from && nextTo == to {
			continue
		}
		err := o.squaredError(hist, float64(lo), float64(hi), nextFrom, nextTo)
		if err > best {
			break
		}
		best, from, to = err, nextFrom, nextTo
	}
	return lo + width*float32(from), lo + width*float32(to+1)
}

// squaredError is the expected squared error when the bins from..to are quantized, with elements spread evenly in each
// bin.
func (o *HistogramObserver) squaredError(hist []float32, lo, hi float64, from, to int) float64 {
	n := len(hist)
	levels := 256.0
	if o.options.DType == tensor.QInt32 {
		levels = 1 << 32
	} else if o.options.DType == tensor.QUInt4x2 {
		levels = 16
	}
	width := (hi - lo) / float64(n)
	dst := width * float64(to-from+1) / levels
	if dst == 0 {
		return 0
	}
	w, d := float32(width), float32(dst)
	cube := func(a, b, density float32) float32 { return density * ((b*b*b - a*a*a) / 3) }
	half := float32(dst / 2)
	var sum float32
	level := func(x float32) float32 {
		return min(max(float32(math.Floor(float64(x/d))), 0), float32(levels-1))
	}
	for i, c := range hist {
		begin := float32(i-from) * w
		end := begin + w
		p, q := level(begin), level(end)
		density := c / w
		norm := cube(begin-(p+0.5)*d, half, density)
		norm += (q - p - 1) * cube(-half, half, density)
		norm += cube(-half, end-(q*d+half), density)
		sum += norm
	}
	return float64(sum)
}

// ExtraRepr prints the range.
func (o *HistogramObserver) ExtraRepr() string {
	return "min_val=" + plain(o.MinVal) + ", max_val=" + plain(o.MaxVal)
}
