package fft

import (
	"math"

	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// The windows of torch.signal.windows, functions that Python writes with operators. Unlike those of torch they are
// symmetric unless sym is false.

const (
	signalDocs    = "https://pytorch.org/docs/stable/generated/torch.signal.windows."
	signalOptions = "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool requires_grad=False) -> Tensor"
	symmetric     = " It is symmetric, or with NoSym the start of one that repeats after m numbers. The dtype is " +
		"float32 or float64.\n" + signalDocs
)

// A shape is what a window function computes from its call: the m numbers of the window.
type shape func(s *signalCall) *T

// signal registers a window function; sym is its parameter sym, after which the options come.
//
//gen:signal
func signal(schema, doc string, f shape) {
	sch, err := tensor.ParseSchema(schema)
	if err != nil {
		panic(err)
	}
	sym, dtype := sch.Index("sym"), sch.Index("dtype")
	tensor.Register(tensor.Def{Schema: schema, Doc: doc, Body: func(c *Ctx) {
		s := &signalCall{Ctx: c, name: sch.Name, m: c.Int(0), sym: c.Bool(sym), dtype: tensor.DefaultDType(),
			device: c.Value(dtype + 2)}
		s.layout, _ = c.Any(dtype + 1).(tensor.Layout)
		if c.Has(dtype) {
			s.dtype = c.DType(dtype)
		}
		y := f(s)
		if c.Bool(dtype + 3) {
			y.SetRequiresGrad(true)
		}
		c.Return(y)
	}})
}

// A signalCall is a call of a window function.
type signalCall struct {
	*Ctx
	name   string
	m      int
	sym    bool
	dtype  tensor.DType
	layout tensor.Layout
	device tensor.Value
}

// check refuses bad lengths and types.
func (s *signalCall) check() {
	if s.m < 0 {
		s.Fail(tensor.ErrValue, "%s requires non-negative window length, got M=%d", s.name, s.m)
	}
	if s.layout != tensor.Strided {
		s.Fail(tensor.ErrValue, "%s is implemented for strided tensors only, got: %s", s.name, s.layout)
	}
	if s.dtype != tensor.Float32 && s.dtype != tensor.Float64 {
		s.Fail(tensor.ErrDType, "%s expects float32 or float64 dtypes, got: %s", s.name, s.dtype)
	}
}

// ones is a window of ones.
func (s *signalCall) ones() *T { return op.Call1("aten::ones", []int{s.m}, s.dtype, nil, s.device) }

// linspace is m numbers from start to end.
func (s *signalCall) linspace(start, end float64) *T {
	return op.Call1("aten::linspace", start, end, s.m, s.dtype, nil, s.device)
}

// period is m for windows that repeat and m-1 for symmetric ones.
func (s *signalCall) period() float64 {
	if !s.sym && s.m > 1 {
		return float64(s.m)
	}
	return float64(s.m - 1)
}

func init() {
	signal("signal::exponential(int M, *, float? center=None, float tau=1.0, bool sym=True, "+signalOptions,
		"is exp(-|i-Center|/Tau) for i < m. Without Center the middle is at (m-1)/2, or m/2 with NoSym."+symmetric+
			"exponential.html", func(s *signalCall) *T {
			s.check()
			tau := s.Float(2)
			if tau <= 0 {
				s.Fail(tensor.ErrValue, "Tau must be positive, got: %v instead.", tau)
			}
			if s.sym && s.Has(1) {
				s.Fail(tensor.ErrValue, "Center must be None for symmetric windows")
			}
			if s.m == 0 {
				return s.ones()
			}
			center := s.period() / 2
			if s.Has(1) {
				center = s.Float(1)
			}
			return s.linspace(-center/tau, (-center+float64(s.m-1))/tau).Abs().Neg().Exp()
		})
	signal("signal::cosine(int M, *, bool sym=True, "+signalOptions,
		"is half a wave of a sine, sin(π(i+0.5)/m)."+symmetric+"cosine.html", func(s *signalCall) *T {
			s.check()
			if s.m == 0 {
				return s.ones()
			}
			step := math.Pi / (s.period() + 1)
			return s.linspace(0.5*step, (0.5+float64(s.m-1))*step).Sin()
		})
	signal("signal::gaussian(int M, *, float std=1.0, bool sym=True, "+signalOptions,
		"is exp(-(i-c)²/(2·Std²)) around the middle c."+symmetric+"gaussian.html", func(s *signalCall) *T {
			s.check()
			std := s.Float(1)
			if std <= 0 {
				s.Fail(tensor.ErrValue, "Standard deviation must be positive, got: %v instead.", std)
			}
			if s.m == 0 {
				return s.ones()
			}
			start, step := -s.period()/2, 1/(std*math.Sqrt2)
			return s.linspace(start*step, (start+float64(s.m-1))*step).Square().Neg().Exp()
		})
	signal("signal::kaiser(int M, *, float beta=12.0, bool sym=True, "+signalOptions,
		"is I0(Beta·√(1-x²))/I0(Beta) for x from -1 to 1."+symmetric+"kaiser.html", func(s *signalCall) *T {
			s.check()
			beta := s.Float(1)
			if beta < 0 {
				s.Fail(tensor.ErrValue, "beta must be non-negative, got: %v instead.", beta)
			}
			if s.m < 2 {
				return s.ones()
			}
			end := min(beta, -beta+float64(s.m-1)*(2*beta/s.period()))
			if s.dtype == tensor.Float32 { // Python computes the ends in the type of the window
				b := float32(beta)
				beta, end = float64(b), float64(min(b, -b+float32(s.m-1)*(2*b/float32(s.period()))))
			}
			k := s.linspace(-beta, end)
			peak := op.Full(k, nil, beta, s.dtype)
			// e^x overflows earlier than I0(x); from there on Python's windows of float32 are NaN too.
			i0 := func(x *T) *T { return x.Exp().Mul(op.Call1("aten::special_i0e", x)) }
			return i0(peak.Mul(peak).Sub(k.Square()).Sqrt()).Div(i0(peak))
		})
	signal("signal::bartlett(int M, *, bool sym=True, "+signalOptions,
		"is a triangle, 0 at the ends and 1 in the middle."+symmetric+"bartlett.html", func(s *signalCall) *T {
			s.check()
			if s.m < 2 {
				return s.ones()
			}
			return s.linspace(-1, -1+float64(s.m-1)*(2/s.period())).Abs().Neg().AddScalar(1)
		})
	signal("signal::general_cosine(int M, *, float[]? a, bool sym=True, "+signalOptions,
		"is the sum of ±a[k]·cos(2πki/(m-1)) over k, the signs in turn."+symmetric+"general_cosine.html",
		func(s *signalCall) *T {
			if !s.Has(1) {
				s.Fail(tensor.ErrType, "Coefficients must be a list/tuple")
			}
			return s.cosines(s.Floats(1))
		})
	signal("signal::general_hamming(int M, *, float alpha=0.54, bool sym=True, "+signalOptions,
		"is Alpha - (1-Alpha)·cos(2πi/(m-1))."+symmetric+"general_hamming.html",
		func(s *signalCall) *T { return s.cosines([]float64{s.Float(1), 1 - s.Float(1)}) })
	signal("signal::hamming(int M, *, bool sym=True, "+signalOptions,
		"is the Hamming window, GeneralHamming with 0.54."+symmetric+"hamming.html",
		func(s *signalCall) *T { return s.cosines([]float64{0.54, 1 - 0.54}) })
	signal("signal::hann(int M, *, bool sym=True, "+signalOptions,
		"is the Hann window, GeneralHamming with 0.5."+symmetric+"hann.html",
		func(s *signalCall) *T { return s.cosines([]float64{0.5, 0.5}) })
	signal("signal::blackman(int M, *, bool sym=True, "+signalOptions,
		"is the Blackman window, GeneralCosine with 0.42, 0.5 and 0.08."+symmetric+"blackman.html",
		func(s *signalCall) *T { return s.cosines([]float64{0.42, 0.5, 0.08}) })
	signal("signal::nuttall(int M, *, bool sym=True, "+signalOptions,
		"is the smallest Blackman-Harris window of four terms according to Nuttall (1981), \"Some windows with very good "+
			"sidelobe behavior\"."+symmetric+"nuttall.html",
		func(s *signalCall) *T { return s.cosines([]float64{0.3635819, 0.4891775, 0.1365995, 0.0106411}) })
}

// cosines is the window of general_cosine, under whose name Python's functions fail.
func (s *signalCall) cosines(a []float64) *T {
	if s.name != "blackman" {
		s.name = "general_cosine"
	}
	s.check()
	if s.m < 2 {
		return s.ones()
	}
	if len(a) == 0 {
		s.Fail(tensor.ErrValue, "Coefficients cannot be empty")
	}
	x := s.linspace(0, float64(s.m-1)*(2*math.Pi/s.period()))
	y := op.Full(x, nil, a[0], s.dtype).Expand([]int{s.m})
	for k := 1; k < len(a); k++ {
		w := a[k]
		if k%2 == 1 {
			w = -w
		}
		y = y.Add(x.MulScalar(k).Cos().MulScalar(w))
	}
	return y.Contiguous()
}
