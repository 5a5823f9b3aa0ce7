package fft

import (
	"slices"

	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// The functions of torch.fft that transform several dimensions.

const manyDoc = ". S are the numbers of points in the dimensions Dim: x is cut to them or gets zeros at the ends, " +
	"and -1 leaves a dimension as it is. Norm is \"backward\" (the default), \"ortho\" or \"forward\", as for " +
	"one dimension, for the product of the numbers of points. "

// many registers a function with its out form, once for any dimensions and once for two. The arguments of the calls
// are x, s, dim and norm.
//
//gen:many Out
func many(schema, doc string, d tensor.Def, body func(c *Ctx) *T) {
	d.Schema, d.Doc, d.Out = schema, doc, true
	d.Body = func(c *Ctx) { c.Return(body(c)) }
	tensor.Register(d)
}

const allDims = "Without Dim they are the last dimensions, as many as S has, or all. "

func init() {
	many("fft_fftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor",
		"is the Fourier transform of real or complex numbers along dimensions"+manyDoc+allDims+realTypes+docs+"fftn.html",
		tensor.Def{Go: "FFTN"}, forwardN)
	many("fft_fft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor",
		"is the Fourier transform of real or complex numbers along two dimensions, the last ones without Dim"+manyDoc+
			realTypes+docs+"fft2.html",
		tensor.Def{Go: "FFT2"}, forwardN)
	many("fft_ifftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor",
		"is the inverse Fourier transform of real or complex numbers along dimensions"+manyDoc+allDims+realTypes+docs+
			"ifftn.html",
		tensor.Def{Go: "IFFTN"}, inverseN)
	many("fft_ifft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor",
		"is the inverse Fourier transform of real or complex numbers along two dimensions, the last ones without Dim"+
			manyDoc+realTypes+docs+"ifft2.html",
		tensor.Def{Go: "IFFT2"}, inverseN)
	many("fft_rfftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor",
		"is the Fourier transform of real numbers along dimensions, without the second half of the last one"+manyDoc+
			allDims+realTypes+docs+"rfftn.html",
		tensor.Def{Go: "RFFTN"}, realN)
	many("fft_rfft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor",
		"is the Fourier transform of real numbers along two dimensions, the last ones without Dim, without the second "+
			"half of the last one"+manyDoc+realTypes+docs+"rfft2.html",
		tensor.Def{Go: "RFFT2"}, realN)
	many("fft_irfftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor",
		"is the inverse of RFFTN. Unless S says otherwise, the last dimension has 2*(size-1) results"+manyDoc+allDims+
			realTypes+docs+"irfftn.html",
		tensor.Def{Go: "IRFFTN"}, inverseRealN)
	many("fft_irfft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor",
		"is the inverse of RFFT2. Unless S says otherwise, the last dimension has 2*(size-1) results"+manyDoc+realTypes+
			docs+"irfft2.html",
		tensor.Def{Go: "IRFFT2"}, inverseRealN)
	many("fft_hfftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor",
		"is the Fourier transform along dimensions of Hermitian numbers, of which x has the first half in the last "+
			"dimension; it is real. Unless S says otherwise, the last dimension has 2*(size-1) results"+manyDoc+allDims+
			realTypes+docs+"hfftn.html",
		tensor.Def{Go: "HFFTN"}, hermitianN)
	many("fft_hfft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor",
		"is HFFTN along two dimensions, the last ones without Dim"+manyDoc+realTypes+docs+"hfft2.html",
		tensor.Def{Go: "HFFT2"}, hermitianN)
	many("fft_ihfftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor",
		"is the inverse of HFFTN: the inverse Fourier transform of real numbers, without the second half of the last "+
			"dimension"+manyDoc+allDims+realTypes+docs+"ihfftn.html",
		tensor.Def{Go: "IHFFTN"}, inverseHermitianN)
	many("fft_ihfft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor",
		"is IHFFTN along two dimensions, the last ones without Dim"+manyDoc+realTypes+docs+"ihfft2.html",
		tensor.Def{Go: "IHFFT2"}, inverseHermitianN)
}

func forwardN(c *Ctx) *T { return complexN(c, "fftn", true) }

func inverseN(c *Ctx) *T { return complexN(c, "ifftn", false) }

func complexN(c *Ctx, name string, forward bool) *T {
	dims, sizes := shapeAndDims(c, c.T(0))
	x := promote(c, c.T(0), true)
	complexOut(c, name)
	x = resize(x, dims, sizes)
	return op.Call1("aten::_fft_c2c", x, dims, mode(c, 3, forward), forward)
}

func realN(c *Ctx) *T {
	if x := c.T(0); x.IsComplex() {
		c.Fail(tensor.ErrDType, "rfftn expects a real-valued input tensor, but got %s", x.DType().ClassName())
	}
	complexOut(c, "rfftn")
	x := promote(c, c.T(0), false)
	dims, sizes := shapeAndDims(c, x)
	oneAxis(c, "rfftn", dims)
	m := mode(c, 3, true)
	return op.Call1("aten::_fft_r2c", resize(x, dims, sizes), dims, m, true)
}

func inverseRealN(c *Ctx) *T {
	realOut(c, "irfftn")
	dims, sizes, last := halfShape(c, "irfftn")
	x := resize(promote(c, c.T(0), true), dims, sizes)
	return op.Call1("aten::_fft_c2r", x, dims, mode(c, 3, false), last)
}

func hermitianN(c *Ctx) *T {
	realOut(c, "hfftn")
	dims, sizes, last := halfShape(c, "hfftn")
	x := resize(promote(c, c.T(0), true), dims, sizes)
	m := mode(c, 3, true)
	end := len(dims) - 1
	if end > 0 {
		x = op.Call1("aten::_fft_c2c", x, dims[:end], m, true)
	}
	return op.Call1("aten::_fft_c2r", x.Conj(), dims[end:], m, last)
}

func inverseHermitianN(c *Ctx) *T {
	if x := c.T(0); x.IsComplex() {
		c.Fail(tensor.ErrDType, "ihfftn expects a real-valued input tensor, but got %s", x.DType().ClassName())
	}
	complexOut(c, "ihfftn")
	dims, sizes := shapeAndDims(c, c.T(0))
	oneAxis(c, "ihfftn", dims)
	x := resize(promote(c, c.T(0), false), dims, sizes)
	m := mode(c, 3, false)
	end := len(dims) - 1
	y := op.Call1("aten::_fft_r2c", x, dims[end:], m, true)
	if end == 0 {
		return y.Conj()
	}
	return op.Call1("aten::_fft_c2c", y.ConjPhysical(), dims[:end], m, false)
}

func oneAxis(c *Ctx, name string, dims []int) {
	if len(dims) == 0 {
		c.Fail(tensor.ErrValue, "%s must transform at least one axis", name)
	}
}

// shapeAndDims are the dimensions that arguments 1 and 2 name, and the numbers of points in them.
func shapeAndDims(c *Ctx, x *T) (dims, sizes []int) {
	nd := x.Dim()
	if c.Has(2) {
		for _, d := range c.Ints(2) {
			d = wrap(c, d, nd)
			if slices.Contains(dims, d) {
				c.Fail(tensor.ErrValue, "FFT dims must be unique")
			}
			dims = append(dims, d)
		}
	}
	if c.Has(1) {
		sizes = slices.Clone(c.Ints(1))
		if c.Has(2) && len(dims) != len(sizes) {
			c.Fail(tensor.ErrShape, "When given, dim and shape arguments must have the same length")
		}
		if len(sizes) > nd {
			c.Fail(tensor.ErrShape, "Got shape with %d values but input tensor only has %d dimensions.", len(sizes), nd)
		}
	}
	if !c.Has(2) {
		first := 0
		if c.Has(1) {
			first = nd - len(sizes)
		}
		for d := first; d < nd; d++ {
			dims = append(dims, d)
		}
	}
	if !c.Has(1) {
		sizes = make([]int, len(dims))
		for i := range sizes {
			sizes[i] = -1
		}
	}
	for i, d := range dims {
		if sizes[i] == -1 {
			sizes[i] = x.Size(d)
		}
		points(c, sizes[i])
	}
	return dims, sizes
}

// halfShape is shapeAndDims for a Hermitian last dimension, of which x has the first half; last is the number of
// results in it.
func halfShape(c *Ctx, name string) (dims, sizes []int, last int) {
	x := c.T(0)
	dims, sizes = shapeAndDims(c, x)
	oneAxis(c, name, dims)
	end := len(dims) - 1
	if s := c.Ints(1); !c.Has(1) || s[end] == -1 {
		last = 2 * (x.Size(dims[end]) - 1)
	} else {
		last = sizes[end]
	}
	points(c, last)
	sizes[end] = last/2 + 1
	return dims, sizes, last
}
