package fft

import (
	"math"
	"slices"
	"sort"
	"unsafe"

	cpufft "github.com/gotorch-dev/torch/internal/cpu/fft"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	tensor.Register(tensor.Def{
		Schema: "_fft_c2c(Tensor self, SymInt[] dim, int normalization, bool forward) -> Tensor",
		Doc: "transforms complex numbers of any shape along dimensions. Normalization divides by nothing (0), by the " +
			"square root of the number of points (1) or by that number (2).",
		Go: "-", Out: true, Grad: "FftC2CBackward0", Storage: tensor.TakesComplexHalf,
		Infer: func(c *Ctx) {
			t := complexInput(c)
			dims := dimensions(c)
			c.AllocStrided(0, t.Shape(), strides(t.Shape(), t.Strides(), byStride(dims, t.Strides(), len(dims))), t.DType())
		},
		CPU: func(c *Ctx) {
			t, o := c.T(0), c.Out(0)
			dims := dimensions(c)
			if len(dims) == 0 {
				tensor.CopyRaw(o, t)
				return
			}
			transformAll(o, t, dims, !c.Bool(3), scale(c, dims, t.Shape()))
		},
		VJP: func(c *Ctx, g *T) []*T {
			return []*T{op.Call1("aten::_fft_c2c", g, c.Ints(1), c.Int(2), !c.Bool(3))}
		},
	})
	tensor.Register(tensor.Def{
		Schema: "_fft_r2c(Tensor self, int[] dim, int normalization, bool onesided) -> Tensor",
		Doc: "transforms real numbers of any shape along dimensions. Onesided leaves out the second half of the last " +
			"one, whose elements are the conjugates of others. Normalization is that of _fft_c2c.",
		Go: "-", Out: true, Grad: "FftR2CBackward0", Storage: tensor.TakesComplexHalf,
		Infer: func(c *Ctx) {
			t := c.T(0)
			if !t.DType().IsFloat() {
				c.Fail(tensor.ErrDType, "Only supports floating-point dtypes, but found: %s", t.DType().ClassName())
			}
			precision(c, t)
			dims := dimensions(c)
			last := lastOf(c, dims)
			shape := slices.Clone(t.Shape())
			if c.Bool(3) {
				shape[last] = shape[last]/2 + 1
			}
			dt := t.DType().Complex()
			if dt == tensor.BComplex32 { // no transform has it: PyTorch's shape rule gives complex64
				dt = tensor.Complex64
			}
			c.AllocStrided(0, shape, strides(shape, t.Strides(), byStride(dims, t.Strides(), len(dims)-1)), dt)
		},
		CPU: func(c *Ctx) {
			t, o := c.T(0), c.Out(0)
			dims := dimensions(c)
			last := lastOf(c, dims)
			n := t.Size(last)
			if t.Numel() == 0 {
				if o.Numel() > 0 {
					tensor.ZeroRaw(o)
				}
				return
			}
			factor := scale(c, dims, t.Shape())
			first := tensor.Alias(o, withSize(o.Shape(), last, n/2+1), o.Strides(), o.StorageOffset())
			along(cpufft.RealToComplex, first, t, last, n, false, pick(len(dims) == 1, factor))
			if !c.Bool(3) {
				mirror(o, last)
			}
			if len(dims) > 1 {
				transformAll(o, o, dims[:len(dims)-1], false, factor)
			}
		},
		VJP: func(c *Ctx, g *T) []*T {
			dims, sh := c.Ints(1), c.Shape(0)
			if c.Bool(3) {
				// The real part of the backward transform is that of Hermitian numbers, of which all but those that are
				// their own mirror images are half of g.
				last := op.Wrap(c, dims[len(dims)-1], len(sh))
				n, h := sh[last], g.MulScalar(0.5)
				h.Narrow(last, 0, 1).MulScalarInPlace(2)
				if n%2 == 0 {
					h.Narrow(last, n/2, 1).MulScalarInPlace(2)
				}
				return []*T{op.Call1("aten::_fft_c2r", h, dims, c.Int(2), n)}
			}
			return []*T{op.Call1("aten::_fft_c2c", g, dims, c.Int(2), false).Real()}
		},
	})
	tensor.Register(tensor.Def{
		Schema: "_fft_c2r(Tensor self, int[] dim, int normalization, SymInt last_dim_size) -> Tensor",
		Doc: "transforms the first half of Hermitian numbers of any shape, in the last of the dimensions, to " +
			"last_dim_size real numbers, backward. Normalization is that of _fft_c2c.",
		Go: "-", Out: true, Grad: "FftC2RBackward0", Storage: tensor.TakesComplexHalf,
		Infer: func(c *Ctx) {
			t, n := complexInput(c), c.Int(3)
			dims := dimensions(c)
			last := lastOf(c, dims)
			if half := t.Size(last); n < 0 || half != n/2+1 && half != n {
				c.Fail(tensor.ErrShape, "expected %d numbers in dimension %d to transform to last_dim_size=%d, but got %d",
					n/2+1, last, n, half)
			}
			shape := withSize(t.Shape(), last, n)
			st := t.Strides()
			if len(dims) > 1 { // the other dimensions come first
				st = strides(t.Shape(), st, byStride(dims[:len(dims)-1], st, len(dims)-1))
			}
			c.AllocStrided(0, shape, strides(shape, st, dims[len(dims)-1:]), t.DType().Real())
		},
		CPU: func(c *Ctx) {
			t, o := c.T(0), c.Out(0)
			dims := dimensions(c)
			last := lastOf(c, dims)
			if o.Numel() == 0 {
				return
			}
			n := c.Int(3)
			shape := withSize(t.Shape(), last, n)
			t = tensor.Alias(t, withSize(t.Shape(), last, n/2+1), t.Strides(), t.StorageOffset())
			if len(dims) > 1 {
				w := tensor.New(t.Shape(), t.DType())
				transformAll(w, t, dims[:len(dims)-1], true, 1)
				t = w
			}
			along(cpufft.ComplexToReal, o, t, last, n, true, scale(c, dims, shape))
		},
		VJP: func(c *Ctx, g *T) []*T {
			dims := c.Ints(1)
			last := op.Wrap(c, dims[len(dims)-1], g.Dim())
			r := op.Call1("aten::_fft_r2c", g, dims, c.Int(2), true)
			// Numbers that stand for two of the transform, for themselves and their conjugates, count twice.
			if twice := g.Size(last) - r.Size(last); twice > 0 {
				r.Narrow(last, 1, twice).MulScalarInPlace(2)
			}
			return []*T{r}
		},
	})
}

// complexInput is the tensor of a call, which must be complex.
func complexInput(c *Ctx) *T {
	t := c.T(0)
	if !t.IsComplex() {
		c.Fail(tensor.ErrDType, "Only supports complex dtypes, but found: %s", t.DType().ClassName())
	}
	precision(c, t)
	return t
}

// precision refuses numbers of 16 bits, which transforms on the CPU do not take.
func precision(c *Ctx, t *T) {
	if dt := t.DType().Real(); dt.Size() < 4 && !shapesOnly(t) {
		c.Fail(tensor.ErrNotImpl, "FFT doesn't support tensors of type: %s", dt.ClassName())
	}
}

// dimensions are the dimensions of a call, counted from the front.
func dimensions(c *Ctx) []int {
	n := len(c.Shape(0))
	dims := make([]int, len(c.Ints(1)))
	for i, d := range c.Ints(1) {
		if n == 0 {
			c.Fail(tensor.ErrIndex, "Dimension specified as %d but tensor has no dimensions", d)
		}
		if dims[i] = op.Wrap(c, d, n); slices.Contains(dims[:i], dims[i]) {
			c.Fail(tensor.ErrValue, "FFT dims must be unique")
		}
	}
	return dims
}

// lastOf is the last of the dimensions, of which there must be one.
func lastOf(c *Ctx, dims []int) int {
	if len(dims) == 0 {
		c.Fail(tensor.ErrValue, "must transform at least one axis")
	}
	return dims[len(dims)-1]
}

func withSize(shape []int, d, n int) []int {
	s := slices.Clone(shape)
	s[d] = n
	return s
}

// scale is the factor that the normalization of a call stands for, for transforms of the given sizes.
func scale(c *Ctx, dims, shape []int) float64 {
	n := 1.0
	for _, d := range dims {
		n *= float64(shape[d])
	}
	switch c.Int(2) {
	case byRootN:
		return 1 / math.Sqrt(n)
	case byN:
		return 1 / n
	}
	return 1
}

func pick(last bool, factor float64) float64 {
	if last {
		return factor
	}
	return 1
}

// byStride sorts the first n dimensions from the widest stride to the narrowest.
func byStride(dims, st []int, n int) []int {
	dims = slices.Clone(dims)
	sort.SliceStable(dims[:n], func(i, j int) bool { return st[dims[i]] > st[dims[j]] })
	return dims
}

// strides are PyTorch's strides of a result: the dimensions that are not transformed come first, in the order of the
// input's strides, then those that are.
func strides(shape, st, dims []int) []int {
	var order []int
	for d := range shape {
		if !slices.Contains(dims, d) {
			order = append(order, d)
		}
	}
	order = append(byStride(order, st, len(order)), dims...)
	out, n := make([]int, len(shape)), 1
	for i := len(order) - 1; i >= 0; i-- {
		out[order[i]] = n
		n *= max(shape[order[i]], 1)
	}
	return out
}

// transformAll transforms complex numbers along dimensions; o may be t.
func transformAll(o, t *T, dims []int, inverse bool, factor float64) {
	// The dimension that is narrowest in t first: its lines are read as they lie in memory.
	dims = byStride(dims, t.Strides(), len(dims))
	for i := len(dims) - 1; i >= 0; i-- {
		along(cpufft.ComplexToComplex, o, t, dims[i], t.Size(dims[i]), inverse, pick(i == 0, factor))
		t = o
	}
}

// along transforms t to o along one dimension; n is the length of the transform.
func along(kind cpufft.Kind, o, t *T, d, n int, inverse bool, factor float64) {
	if o.Numel() == 0 || t.Numel() == 0 {
		return
	}
	if o.DType().Real() == tensor.Float32 {
		run[float32](kind, o, t, d, n, inverse, factor)
	} else {
		run[float64](kind, o, t, d, n, inverse, factor)
	}
}

func run[E cpufft.Float](kind cpufft.Kind, o, t *T, d, n int, inverse bool, factor float64) {
	src, srcUnit := memory[E](t)
	dst, dstUnit := memory[E](o)
	j := cpufft.Job[E]{Kind: kind, N: n, Inverse: inverse, Scale: factor, Src: src, Dst: dst,
		SrcStep: t.Strides()[d] * srcUnit, DstStep: o.Strides()[d] * dstUnit}
	for i, s := range t.Shape() {
		if i != d && s != 1 {
			j.Shape = append(j.Shape, s)
			j.SrcStride = append(j.SrcStride, t.Strides()[i]*srcUnit)
			j.DstStride = append(j.DstStride, o.Strides()[i]*dstUnit)
		}
	}
	j.Run()
}

// memory is the memory of a tensor from its first element to its last as real numbers, and how many an element has.
func memory[E cpufft.Float](t *T) (m []E, unit int) {
	unit = 1
	if t.IsComplex() {
		unit = 2
	}
	n := 1
	for i, s := range t.Shape() {
		n += (s - 1) * t.Strides()[i]
	}
	return unsafe.Slice((*E)(tensor.Ptr(t)), n*unit), unit
}

// mirror fills the second half of a dimension with the conjugates of the first.
func mirror(o *T, d int) {
	n := o.Size(d)
	if n < 3 {
		return
	}
	if o.DType() == tensor.Complex64 {
		mirrorT[float32](o, d, n)
	} else {
		mirrorT[float64](o, d, n)
	}
}

func mirrorT[E cpufft.Float](o *T, d, n int) {
	m, _ := memory[E](o)
	cpufft.Mirror(m, n, o.Strides()[d]*2, without(o.Shape(), d, 1), without(o.Strides(), d, 2))
}

func without(l []int, d, unit int) []int {
	var out []int
	for i, x := range l {
		if i != d {
			out = append(out, x*unit)
		}
	}
	return out
}
