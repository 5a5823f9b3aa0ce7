package fft

import (
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// The functions of torch.fft that transform one dimension. They promote their tensor, cut or pad it, and call an
// operator with a kernel.

const (
	lineDoc = " along Dim, whose N numbers are the first ones of x, with zeros after them where x has fewer. Norm is " +
		"\"backward\" (the default), \"ortho\" or \"forward\": which of the two directions divides by N, or whether " +
		"both divide by its square root. "
	realTypes = "Integers and bools become the default floating-point type; 16-bit floating-point numbers are refused.\n"
)

// line registers a function of one dimension with its out form. The arguments of the call are x, n, dim and norm.
//
//gen:line Out
func line(schema, doc string, d tensor.Def, body func(c *Ctx) *T) {
	d.Schema, d.Doc, d.Out = schema, doc, true
	d.Body = func(c *Ctx) { c.Return(body(c)) }
	tensor.Register(d)
}

func init() {
	line("fft_fft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor",
		"is the Fourier transform of real or complex numbers"+lineDoc+realTypes+docs+"fft.html",
		tensor.Def{Go: "FFT"}, func(c *Ctx) *T { return fromAny(c, "fft", true) })
	line("fft_ifft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor",
		"is the inverse Fourier transform of real or complex numbers"+lineDoc+realTypes+docs+"ifft.html",
		tensor.Def{Go: "IFFT"}, func(c *Ctx) *T { return fromAny(c, "ifft", false) })
	line("fft_rfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor",
		"is the first half of the Fourier transform of real numbers, N/2+1 complex ones"+lineDoc+realTypes+docs+"rfft.html",
		tensor.Def{Go: "RFFT"}, func(c *Ctx) *T { return fromReal(c, "rfft", true, true) })
	line("fft_irfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor",
		"is the inverse of RFFT: x is the first half of a Hermitian dimension, whose inverse Fourier transform is real. "+
			"N, the number of results, is 2*(size-1) unless it is given. Norm is that of IFFT. "+realTypes+docs+"irfft.html",
		tensor.Def{Go: "IRFFT"}, func(c *Ctx) *T { return toReal(c, "irfft", false) })
	line("fft_hfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor",
		"is the Fourier transform of a Hermitian dimension, of which x is the first half; it is real. N, the number of "+
			"results, is 2*(size-1) unless it is given. Norm is that of FFT. "+realTypes+docs+"hfft.html",
		tensor.Def{Go: "HFFT"}, func(c *Ctx) *T { return toReal(c, "hfft", true) })
	line("fft_ihfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor",
		"is the first half of the inverse Fourier transform of real numbers, the inverse of HFFT"+lineDoc+realTypes+
			docs+"ihfft.html",
		tensor.Def{Go: "IHFFT"}, func(c *Ctx) *T { return fromReal(c, "ihfft", false, true) })
}

// fromAny transforms complex numbers, or real ones to all of their transform.
func fromAny(c *Ctx, name string, forward bool) *T {
	if !c.T(0).IsComplex() {
		return fromReal(c, name, forward, false)
	}
	complexOut(c, name)
	x := promote(c, c.T(0), false)
	dim := wrap(c, c.Int(2), x.Dim())
	x = sized(c, x, dim, x.Size(dim))
	return op.Call1("aten::_fft_c2c", x, []int{dim}, mode(c, 3, forward), forward)
}

// fromReal transforms real numbers to complex ones.
func fromReal(c *Ctx, name string, forward, onesided bool) *T {
	x := c.T(0)
	if x.IsComplex() {
		c.Fail(tensor.ErrDType, "%s expects a real input tensor, but got %s", name, x.DType().ClassName())
	}
	complexOut(c, name)
	x = promote(c, x, false)
	dim := wrap(c, c.Int(2), x.Dim())
	x = sized(c, x, dim, x.Size(dim))
	y := op.Call1("aten::_fft_r2c", x, []int{dim}, mode(c, 3, forward), onesided)
	if !forward { // the inverse transform of real numbers is the conjugate of their transform
		y = y.Conj()
	}
	return y
}

// toReal transforms the first half of a Hermitian dimension to real numbers.
func toReal(c *Ctx, name string, forward bool) *T {
	realOut(c, name)
	x := promote(c, c.T(0), true)
	dim := wrap(c, c.Int(2), x.Dim())
	n := 2 * (x.Size(dim) - 1)
	if c.Has(1) {
		n = c.Int(1)
	}
	points(c, n)
	if c.Has(1) {
		x = resize(x, []int{dim}, []int{n/2 + 1})
	}
	m := mode(c, 3, forward)
	if forward {
		x = x.Conj()
	}
	return op.Call1("aten::_fft_c2r", x, []int{dim}, m, n)
}

// sized gives dimension dim of x the length that argument 1 asks for.
func sized(c *Ctx, x *T, dim, n int) *T {
	if !c.Has(1) {
		points(c, n)
		return x
	}
	points(c, c.Int(1))
	return resize(x, []int{dim}, []int{c.Int(1)})
}

// points refuses a transform of less than one number.
func points(c *Ctx, n int) {
	if n < 1 {
		c.Fail(tensor.ErrValue, "Invalid number of data points (%d) specified", n)
	}
}

// wrap counts a negative dimension from the end; a tensor without dimensions has none.
func wrap(c *Ctx, dim, nd int) int {
	if nd == 0 {
		c.Fail(tensor.ErrIndex, "Dimension specified as %d but tensor has no dimensions", dim)
	}
	return op.Wrap(c, dim, nd)
}

// promote makes floating-point or complex numbers of x.
func promote(c *Ctx, x *T, toComplex bool) *T {
	dt := x.DType()
	if dt.IsComplex() && (dt.Real().Size() >= 4 || shapesOnly(x)) {
		return x
	}
	to := dt
	switch {
	case dt.IsIntOrBool():
		to = tensor.DefaultDType()
	case dt == tensor.BFloat16 && shapesOnly(x):
		to = tensor.Float32
	}
	if to != tensor.Float32 && to != tensor.Float64 && !(to == tensor.Float16 && shapesOnly(x)) {
		c.Fail(tensor.ErrNotImpl, "Unsupported dtype %s", to.ClassName())
	}
	if toComplex {
		to = to.Complex()
	}
	if to == dt {
		return x
	}
	return x.ToDType(to)
}

// shapesOnly reports a tensor on the meta device. It stands for one on a GPU, whose transforms take numbers of 16 bits.
func shapesOnly(x *T) bool { return x.Device().Type == tensor.MetaDevice }

// mode numbers the way in which string argument i scales a direction.
func mode(c *Ctx, i int, forward bool) int {
	switch s := c.Str(i); {
	case !c.Has(i) || s == "backward":
		return op.Pick(forward, byNothing, byN)
	case s == "forward":
		return op.Pick(forward, byN, byNothing)
	case s == "ortho":
	default:
		c.Fail(tensor.ErrValue, "Invalid normalization mode: \"%s\"", s)
	}
	return byRootN
}

// resize cuts dimensions of x to sizes, or pads them with zeros at their ends; -1 leaves one as it is.
func resize(x *T, dims, sizes []int) *T {
	pad, grows := make([]int, 2*x.Dim()), false
	for i, d := range dims {
		switch n := x.Size(d); {
		case sizes[i] == -1:
		case n < sizes[i]:
			pad[len(pad)-2*d-1], grows = sizes[i]-n, true
		case n > sizes[i]:
			x = op.Call1("aten::slice.Tensor", x, d, 0, sizes[i])
		}
	}
	if !grows {
		return x
	}
	return op.Call1("aten::constant_pad_nd", x, pad, 0)
}

// complexOut refuses an out argument that is not complex, realOut one that is not real.
func complexOut(c *Ctx, name string) {
	if o := c.GivenOut(0); o != nil && !o.IsComplex() {
		c.Fail(tensor.ErrDType, "%s expects a complex output tensor, but got %s", name, o.DType().ClassName())
	}
}

func realOut(c *Ctx, name string) {
	if o := c.GivenOut(0); o != nil && !o.DType().IsFloat() {
		c.Fail(tensor.ErrDType, "%s expects a floating point output tensor, but got %s", name, o.DType().ClassName())
	}
}
