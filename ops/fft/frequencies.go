package fft

import (
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	tensor.Register(tensor.Def{
		Schema: "fft_fftfreq(int n, float d=1., *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
		Doc: "are the frequencies of the n numbers of a Fourier transform, in cycles per unit of D, the time between " +
			"samples: 0, 1, …, then from -n/2 on, divided by n*D.\n" + docs + "fftfreq.html",
		Go: "FFTFreq", Out: true,
		Body: func(c *Ctx) {
			n := c.Int(0)
			dt := freqType(c, "fftfreq")
			x := arange(c, dt, n)
			if n > 1 { // the second half is negative
				back := op.Call1("aten::arange.start", -(n / 2), 0, dt, nil, c.Value(4), nil)
				x = op.Call1("aten::cat", []*T{x.Narrow(0, 0, (n+1)/2), back}, 0)
			}
			c.Return(x.MulScalar(1 / (float64(n) * c.Float(1))))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "fft_rfftfreq(int n, float d=1., *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
		Doc: "are the frequencies of the first n/2+1 numbers of a Fourier transform of length n, in cycles per unit of " +
			"D, the time between samples.\n" + docs + "rfftfreq.html",
		Go: "RFFTFreq", Out: true,
		Body: func(c *Ctx) {
			n := c.Int(0)
			dt := freqType(c, "rfftfreq")
			c.Return(arange(c, dt, n/2+1).MulScalar(1 / (float64(n) * c.Float(1))))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "fft_fftshift(Tensor self, int[1]? dim=None) -> Tensor",
		Doc: "moves the number of frequency 0 to the middle of the dimensions Dim, all without it.\n" + docs +
			"fftshift.html",
		Go:   "FFTShift",
		Body: func(c *Ctx) { c.Return(rotate(c, 0)) },
	})
	tensor.Register(tensor.Def{
		Schema: "fft_ifftshift(Tensor self, int[1]? dim=None) -> Tensor",
		Doc:    "undoes FFTShift.\n" + docs + "ifftshift.html",
		Go:     "IFFTShift",
		Body:   func(c *Ctx) { c.Return(rotate(c, 1)) },
	})
}

// rotate rolls dimensions by half their sizes, rounded up where up is 1.
func rotate(c *Ctx, up int) *T {
	x := c.T(0)
	dims := c.Ints(1)
	if !c.Has(1) {
		dims = make([]int, x.Dim())
		for i := range dims {
			dims[i] = i
		}
	}
	shifts := make([]int, len(dims))
	for i, d := range dims {
		shifts[i] = (x.Size(wrap(c, d, x.Dim())) + up) / 2
	}
	return op.Call1("aten::roll", x, shifts, dims)
}

// freqType is the type of the frequencies, of argument 2 or of the out argument.
func freqType(c *Ctx, name string) tensor.DType {
	dt := tensor.DefaultDType()
	if c.Has(2) {
		dt = c.DType(2)
	} else if o := c.GivenOut(0); o != nil {
		dt = o.DType()
	}
	if !dt.IsFloat() && !dt.IsComplex() {
		c.Fail(tensor.ErrDType, "%s requires a floating point or complex dtype", name)
	}
	if dt.IsComplex() {
		c.FailDType(tensor.ErrNotImpl, "arange_cpu", dt)
	}
	if n := c.Int(0); n < 0 {
		c.Fail(tensor.ErrShape, "Trying to create tensor with negative dimension %d: [%d]", n, n)
	}
	return dt
}

// arange counts from 0 in a type, on the device of argument 4.
func arange(c *Ctx, dt tensor.DType, n int) *T {
	return op.Call1("aten::arange", n, dt, nil, c.Value(4), nil)
}
