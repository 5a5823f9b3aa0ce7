package scan

import (
	"math"
	"math/cmplx"
	"slices"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/iter"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// lines calls f for every line along dim: where its results go, and its elements.
func lines[E any](src, dst []E, shape []int, dim int, f func(dst, src []E)) {
	outer, n, inner := iter.Split(shape, dim)
	if outer*n*inner == 0 {
		return
	}
	par.For(outer*inner, max(1, 16*1024/n), func(lo, hi int) {
		var a, b []E
		if inner > 1 {
			a, b = make([]E, n), make([]E, n)
		}
		for l := lo; l < hi; l++ {
			base := l/inner*n*inner + l%inner
			if inner == 1 {
				f(dst[base:][:n], src[base:][:n])
				continue
			}
			for i := range a {
				a[i] = src[base+i*inner]
			}
			f(b, a)
			for i, v := range b {
				dst[base+i*inner] = v
			}
		}
	})
}

// cumType is the dtype of a running sum or product.
func cumType(c *Ctx) tensor.DType {
	if dt := c.DType(2); dt != 0 {
		return dt
	}
	if g := c.GivenOut(0); g != nil { // of out=, and self of the in-place form
		return g.DType()
	}
	if dt := c.ArgDType(0); !dt.IsIntOrBool() {
		return dt
	}
	return tensor.Int64
}

func productInt(s []int64) int64 {
	p := int64(1)
	for _, v := range s {
		p *= v
	}
	return p
}

func cumKernel(c *Ctx, sum bool) {
	o, t := c.Out(0), c.T(0)
	d := op.Wrap(c, c.Int(1), t.Dim())
	if t.DType() != o.DType() {
		t = tensor.DenseAs(t, o.DType())
	}
	sh := t.Shape()
	switch dt := o.DType(); {
	case len(sh) == 0: // one element; the parts of a complex one are no dimension to go along
		tensor.CopyRaw(o, t)
	case dt == tensor.Float64:
		cumAlong(op.Raw[float64](tensor.Dense(t)), op.Raw[float64](o), sh, d, sum, op.Pick(sum, vec.SumF64, nil))
	case dt == tensor.Float32:
		cumAlong32(op.Raw[float32](tensor.Dense(t)), op.Raw[float32](o), sh, d, sum)
	case dt.IsFloat():
		w := tensor.New(sh, tensor.Float32)
		cumAlong(op.Raw[float32](tensor.DenseAs(t, tensor.Float32)), op.Raw[float32](w), sh, d, sum,
			op.Pick(sum, vec.SumF32, nil))
		tensor.CopyRaw(o, w)
	case sum && dt == tensor.Complex64: // that of the parts
		cumAlong32(op.Raw[float32](op.Parts(tensor.Dense(t), true)), op.Raw[float32](op.Parts(o, true)),
			append(slices.Clone(sh), 2), d, sum)
	case sum && dt == tensor.Complex128:
		cumAlong(op.Raw[float64](op.Parts(tensor.Dense(t), true)), op.Raw[float64](op.Parts(o, true)),
			append(slices.Clone(sh), 2), d, sum, vec.SumF64)
	case dt == tensor.Complex64:
		cumProdC(op.Raw[complex64](tensor.Dense(t)), op.Raw[complex64](o), sh, d)
	case dt == tensor.Complex128:
		cumProdC(op.Raw[complex128](tensor.Dense(t)), op.Raw[complex128](o), sh, d)
	case dt == tensor.Int64:
		cumAlong(op.Raw[int64](tensor.Dense(t)), op.Raw[int64](o), sh, d, sum,
			op.Pick(sum, vec.SumInt[int64], productInt))
	default:
		w := tensor.New(sh, tensor.Int64)
		cumAlong(op.Raw[int64](tensor.DenseAs(t, tensor.Int64)), op.Raw[int64](w), sh, d, sum,
			op.Pick(sum, vec.SumInt[int64], productInt))
		tensor.CopyRaw(o, w)
	}
}

// cumProdC is the running product of complex numbers, kept in complex128 as PyTorch does.
func cumProdC[C complex64 | complex128](src, dst []C, shape []int, dim int) {
	columns(shape, dim, func(from, n, inner, width int) {
		if width == 1 {
			acc := complex128(1)
			for at := from; at < from+n*inner; at += inner {
				acc *= complex128(src[at])
				dst[at] = C(acc)
			}
			return
		}
		var buf [colTile]complex128
		acc := buf[:width]
		for j := range acc {
			acc[j] = 1
		}
		for k := range n {
			s, d := src[from+k*inner:][:width], dst[from+k*inner:][:width]
			for j, v := range s {
				acc[j] *= complex128(v)
				d[j] = C(acc[j])
			}
		}
	})
}

// flip reverses a dimension.
func flip(x *T, d int) *T { return op.Call1("aten::flip", x, []int{d}) }

// reversed is the running sum from the end.
func reversed(x *T, d int) *T {
	if x.Numel() <= 1 || x.Size(d) == 1 {
		return x
	}
	return flip(flip(x, d).CumSum(d), d)
}

func narrow(x *T, d, start, n int) *T { return op.Call1("aten::narrow", x, d, start, n) }

func cumprodBackward(g, x, y *T, d int) *T {
	if x.Numel() <= 1 || x.Dim() == 0 || x.Size(d) == 1 {
		return g
	}
	n := x.Size(d)
	zero := x.Detach().EqScalar(0)
	// meta tensors and those of mapped functions have no elements to look at; the rules below serve for any
	if x.Device().Type != tensor.MetaDevice && !zero.IsBatched() && op.Call1("aten::any", zero).Num().I == 0 {
		return reversed(g.Mul(y.Conj()), d).Div(x.Conj())
	}
	if !tensor.IsGradEnabled() {
		// Behind the first zero all products are zero. Only its own gradient goes on, in products that take it for a
		// one.
		zeros := zero.CumSum(d)
		first := zero.LogicalAnd(zeros.EqScalar(1))
		front := reversed(g.Mul(y.Conj()).MaskedFillScalar(zeros.GtScalar(0), 0), d).Div(x.Conj())
		at := reversed(g.Mul(x.MaskedFillScalar(first, 1).CumProd(d).Conj()), d)
		return at.MaskedFillScalar(first.LogicalNot(), 0).Add(front.MaskedFillScalar(zeros.GtScalar(0), 0))
	}
	// recorded itself: products that leave out each element in turn
	sh := append([]int(nil), x.Shape()...)
	sh[d] = 1
	one := op.Full(x, nil, 1, x.DType()).Expand(sh)
	parts := make([]*T, n)
	for k := range n {
		omit := one
		if k < n-1 {
			omit = op.Call1("aten::cat", []*T{one, narrow(x, d, k+1, n-k-1).CumProd(d)}, d)
		}
		if k > 0 {
			omit = omit.Mul(narrow(x, d, 0, k).ProdDim(d, tensor.ProdDimOptions{KeepDim: true}))
		}
		parts[k] = narrow(g, d, k, n-k).Mul(omit.Conj()).SumDim([]int{d}, tensor.SumDimOptions{KeepDim: true})
	}
	return op.Call1("aten::cat", parts, d)
}

//gen:cumulative InPlace Out
func cumulative(schema, doc string, sum bool) {
	tensor.Register(tensor.Def{Schema: schema, Doc: doc, InPlace: true, Out: true,
		Infer: func(c *Ctx) {
			op.Wrap(c, c.Int(1), c.T(0).Dim())
			dt := cumType(c)
			if dt == tensor.Bool {
				c.FailDType(tensor.ErrNotImpl, op.Pick(sum, "cumsum_out_cpu", "cumprod_out_cpu"), dt)
			}
			c.Alloc(0, c.Shape(0), dt)
		},
		CPU:  func(c *Ctx) { cumKernel(c, sum) },
		Save: map[bool]string{true: "", false: "self result"}[sum],
		VJP: func(c *Ctx, g *T) []*T {
			nd := len(c.Shape(0))
			d := op.Wrap(c, c.Int(1), nd)
			if nd == 0 {
				return []*T{g}
			}
			if sum {
				return []*T{reversed(g, d)}
			}
			x := c.T(0)
			if dt := c.DType(2); dt != 0 {
				x = x.ToDType(dt)
			}
			return []*T{cumprodBackward(g, x, c.Out(0), d)}
		},
	})
}

//gen:extreme Out
func extreme(schema, doc string, isMax bool) {
	tensor.Register(tensor.Def{Schema: schema, Doc: doc, Out: true,
		Infer: func(c *Ctx) {
			t := c.T(0)
			op.Wrap(c, c.Int(1), t.Dim())
			if t.DType().IsComplex() {
				c.FailDType(tensor.ErrNotImpl, c.Op().Sch.Name+"_cpu", t.DType())
			}
			c.Alloc(0, t.Shape(), t.DType())
			c.Alloc(1, t.Shape(), tensor.Int64)
		},
		CPU:  func(c *Ctx) { cumExtKernel(c, isMax) },
		Save: "indices",
		VJP: func(c *Ctx, g *T) []*T {
			if g.Numel() == 0 {
				return []*T{g}
			}
			z := op.Zeros(g, c.Shape(0), g.DType())
			return []*T{op.Call1("aten::scatter_add", z, c.Int(1), c.Out(1), g)}
		},
	})
}

// logAdd is log(exp(a) + exp(b)).
func logAdd(a, b float64) float64 {
	lo, hi := a, b
	if a > b || a != a {
		lo, hi = b, a
	}
	if lo != lo || hi != hi {
		return math.NaN()
	}
	if math.IsInf(lo, 0) && lo == hi {
		return hi
	}
	return hi + math.Log1p(math.Exp(lo-hi))
}

// logCumSumExp sets dst to the logarithms of the running sums of e^src. A block is summed with its largest exponent
// taken out, as long as that leaves every sum a normal number.
func logCumSumExp(dst, src []float64) {
	const block, span = 256, 600
	acc := math.Inf(-1)
	for len(src) > 0 {
		n := min(len(src), block)
		d, s := dst[:n], src[:n]
		m := max(acc, vec.MaxF64(s)) // NaN where there is one
		if first := max(acc, s[0]); m-first < span && !math.IsInf(m, 0) && !math.IsInf(first, 0) {
			vec.SubScalarF64(d, s, m)
			vec.ExpF64(d, d)
			sum := math.Exp(acc - m)
			for i, e := range d {
				sum += e
				d[i] = sum
			}
			vec.LogF64(d, d)
			vec.AddScalarF64(d, d, m)
			acc = d[n-1]
		} else {
			for i, v := range s {
				acc = logAdd(v, acc)
				d[i] = acc
			}
		}
		dst, src = dst[n:], src[n:]
	}
}

// logCumSumExps is logCumSumExp for lines along dim. Lines side by side, and short ones turned to lie so, go row by
// row.
func logCumSumExps(src, dst []float64, shape []int, dim int) {
	const short, tile = 64, 64
	outer, n, inner := iter.Split(shape, dim)
	rows := func(dst, src []float64, n, stride, width int) {
		copy(dst[:width], src)
		for p := stride; p < n*stride; p += stride {
			vec.LogAddExpF64(dst[p:][:width], dst[p-stride:][:width], src[p:][:width])
		}
	}
	switch {
	case inner > few:
		columns(shape, dim, func(from, n, inner, width int) { rows(dst[from:], src[from:], n, inner, width) })
	case inner == 1 && n <= short && outer > few:
		par.For(outer, max(tile, 4*1024/max(n, 1)&^(tile-1)), func(lo, hi int) {
			var buf [short * tile]float64
			for l := lo; l < hi && n > 0; l += tile {
				w := min(tile, hi-l)
				iter.Transpose(unsafe.Pointer(&buf[0]), w*8, unsafe.Pointer(&src[l*n]), n*8, w, n, 8)
				rows(buf[:], buf[:], n, w, w)
				iter.Transpose(unsafe.Pointer(&dst[l*n]), n*8, unsafe.Pointer(&buf[0]), w*8, n, w, 8)
			}
		})
	default:
		lines(src, dst, shape, dim, logCumSumExp)
	}
}

// logAddC keeps the phase of the larger argument, as PyTorch does.
func logAddC(a, b complex128) complex128 {
	lo, hi := a, b
	if real(a) >= real(b) {
		lo, hi = b, a
	}
	if cmplx.IsNaN(lo) || cmplx.IsNaN(hi) {
		return cmplx.NaN()
	}
	if math.IsInf(real(hi), 0) && real(lo) == real(hi) {
		if real(lo) < 0 {
			return lo
		}
		return cmplx.Log(cmplx.Exp(lo) + cmplx.Exp(hi))
	}
	if math.IsInf(real(lo), -1) {
		return hi
	}
	return hi + cmplx.Log(1+cmplx.Exp(lo-hi))
}

func logcumsumexp(c *Ctx) {
	o, t := c.Out(0), c.T(0)
	d, sh := op.Wrap(c, c.Int(1), t.Dim()), t.Shape()
	if t.DType().IsComplex() {
		w := tensor.New(sh, tensor.Complex128)
		lines(op.Raw[complex128](tensor.DenseAs(t, tensor.Complex128)), op.Raw[complex128](w), sh, d,
			func(dst, src []complex128) {
				acc := complex(math.Inf(-1), 0)
				for i, v := range src {
					acc = logAddC(v, acc)
					dst[i] = acc
				}
			})
		tensor.CopyRaw(o, w)
		return
	}
	w := o
	if o.DType() != tensor.Float64 {
		w = tensor.New(sh, tensor.Float64)
	}
	logCumSumExps(op.Raw[float64](tensor.DenseAs(t, tensor.Float64)), op.Raw[float64](w), sh, d)
	if w != o {
		tensor.CopyRaw(o, w)
	}
}

// lowest is the least finite number of a real floating dtype.
func lowest(dt tensor.DType) float64 {
	switch dt {
	case tensor.Float16:
		return -65504
	case tensor.BFloat16:
		return -0x1.fep127
	case tensor.Float32:
		return -math.MaxFloat32
	}
	return -math.MaxFloat64
}

func logcumsumexpBackward(g, x, y *T, d int) *T {
	if g.Dim() == 0 || g.Numel() == 0 {
		return g
	}
	rev := func(v *T) *T { return flip(flip(v, d).LogCumSumExp(d), d) }
	if x.DType().IsComplex() {
		return rev(g.Conj().Log().Sub(y)).Add(x).Exp().Conj()
	}
	// Not minus infinity as the log of zero: the gradient of this would then subtract infinities from each other.
	low := op.Full(g, nil, lowest(g.DType()), g.DType())
	la := g.Abs().Log()
	pos := op.Call1("aten::where.self", g.GtScalar(0), la, low)
	neg := op.Call1("aten::where.self", g.LtScalar(0), la, low)
	return rev(pos.Sub(y)).Add(x).Exp().Sub(rev(neg.Sub(y)).Add(x).Exp())
}

func diff(c *Ctx) {
	x, n := c.T(0), c.Int(1)
	if x.Dim() < 1 {
		c.Fail(tensor.ErrShape, "diff expects input to be at least one-dimensional")
	}
	d := op.Wrap(c, c.Int(2), x.Dim())
	if n < 0 {
		c.Fail(tensor.ErrValue, "order must be non-negative but got %d", n)
	}
	var list []*T
	for _, i := range []int{3, 0, 4} {
		t := c.T(i)
		if t == nil {
			continue
		}
		if i != 0 {
			if t.Dim() != x.Dim() {
				c.Fail(tensor.ErrShape, "diff expects prepend or append to be the same dimension as input")
			}
			for k := range x.Dim() {
				if k != d && t.Size(k) != x.Size(k) {
					c.Fail(tensor.ErrShape,
						"diff expects the shape of tensor to prepend or append to match that of input except along "+
							"the differencing dimension; input.size(%d) = %d, but got tensor.size(%d) = %d", k, x.Size(k),
						k, t.Size(k))
				}
			}
		}
		list = append(list, t)
	}
	if n == 0 {
		c.Return(x.Clone())
		return
	}
	if len(list) > 1 {
		x = op.Call1("aten::cat", list, d)
	}
	for range min(n, x.Size(d)) { // at least one is left
		m := x.Size(d)
		a, b := narrow(x, d, 1, m-1), narrow(x, d, 0, m-1)
		if x.DType() == tensor.Bool {
			x = a.LogicalXor(b)
		} else {
			x = a.Sub(b)
		}
	}
	c.Return(x)
}

func init() {
	cumulative("cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
		"is the running sum along a dimension.\nhttps://pytorch.org/docs/stable/generated/torch.cumsum.html", true)
	cumulative("cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
		"is the running product along a dimension.\nhttps://pytorch.org/docs/stable/generated/torch.cumprod.html",
		false)
	extreme("cummax(Tensor self, int dim) -> (Tensor values, Tensor indices)",
		"is the largest element so far along a dimension, and where it stands (the last of equal "+
			"ones).\nhttps://pytorch.org/docs/stable/generated/torch.cummax.html", true)
	extreme("cummin(Tensor self, int dim) -> (Tensor values, Tensor indices)",
		"is the smallest element so far along a dimension, and where it stands (the last of equal "+
			"ones).\nhttps://pytorch.org/docs/stable/generated/torch.cummin.html", false)
	tensor.Register(tensor.Def{
		Schema: "logcumsumexp(Tensor self, int dim) -> Tensor", Out: true,
		Doc: "is log(cumsum(exp(x))) along a " +
			"dimension.\nhttps://pytorch.org/docs/stable/generated/torch.logcumsumexp.html",
		Infer: func(c *Ctx) {
			op.Wrap(c, c.Int(1), c.T(0).Dim())
			dt := c.ArgDType(0)
			if dt.IsIntOrBool() {
				c.FailDType(tensor.ErrNotImpl, "logcumsumexp_out_cpu", dt)
			}
			c.Alloc(0, c.Shape(0), dt)
		},
		CPU:  logcumsumexp,
		Save: "self result",
		VJP: func(c *Ctx, g *T) []*T {
			return []*T{logcumsumexpBackward(g, c.T(0), c.Out(0), op.Wrap(c, c.Int(1), len(c.Shape(0))))}
		},
	})
	tensor.Register(tensor.Def{
		Schema: "diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor",
		Out:    true,
		Doc: "is the n-th difference of neighbours along a " +
			"dimension.\nhttps://pytorch.org/docs/stable/generated/torch.diff.html",
		Body: diff,
	})
	trapezoid()
}
