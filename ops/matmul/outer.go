package matmul

import (
	"sync"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	tensor.Register(tensor.Def{
		Schema:  "outer(Tensor self, Tensor vec2) -> Tensor",
		Doc:     "is the matrix of the products of two vectors' elements." + site + "outer.html",
		Aliases: []string{"ger"},
		Out:     true,
		Infer: func(c *Ctx) {
			a, b := c.T(0), c.T(1)
			if a.Dim() != 1 || b.Dim() != 1 {
				bad := a
				if a.Dim() == 1 {
					bad = b
				}
				c.Fail(tensor.ErrShape, "outer: Expected 1-D argument %s, but got %d-D", map[bool]string{true: "self", false: "vec2"}[bad == a], bad.Dim())
			}
			c.Alloc(0, []int{a.Size(0), b.Size(0)}, c.PromoteArgs(0, 1))
		},
		CPU: func(c *Ctx) {
			a, b, o := c.T(0), c.T(1), c.Out(0)
			switch o.DType() {
			case tensor.Float32:
				outerRows(o, nil, a, b, vec.MulScalarF32, nil)
			case tensor.Float64:
				outerRows(o, nil, a, b, vec.MulScalarF64, nil)
			case tensor.Int64:
				outerRows(o, nil, a, b, scaleI64, nil)
			case tensor.Int32:
				outerRows(o, nil, a, b, scaleI32, nil)
			case tensor.Complex64:
				outerRows(o, nil, a, b, scaleC64, nil)
			case tensor.Complex128:
				outerRows(o, nil, a, b, scaleC128, nil)
			case tensor.BFloat16:
				outerHalf(o, a, b, vec.F32ToBF16s)
			case tensor.Float16:
				outerHalf(o, a, b, vec.F32ToF16s)
			default:
				tensor.NoGrad(func() { tensor.CopyRaw(o, a.Reshape([]int{-1, 1}).Mul(b)) })
			}
		},
		Save: "self vec2",
		VJP: func(c *Ctx, g *T) []*T {
			if g.DType().IsFloat() && g.DType().Size() == 2 { // PyTorch rounds the products there
				return []*T{g.Mul(c.T(1)).SumDim([]int{1}), g.Mul(c.T(0).Reshape([]int{-1, 1})).SumDim([]int{0})}
			}
			return outerGrads(c, g, 0)
		},
		Grad: "MulBackward0",
	})
	tensor.Register(tensor.Def{
		Schema:  "addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
		Doc:     "is beta*self + alpha * the outer product of two vectors." + site + "addr.html",
		InPlace: true, Out: true,
		Infer: func(c *Ctx) {
			s, a, b := c.T(0), c.T(1), c.T(2)
			if a.Dim() != 1 || b.Dim() != 1 {
				c.Fail(tensor.ErrShape, "addr: Expected 1-D argument vec1 and vec2, but got %d-D and %d-D", a.Dim(), b.Dim())
			}
			sh := []int{a.Size(0), b.Size(0)}
			expandTo(c, s, sh)
			dt := c.PromoteArgs(0, 1, 2)
			checkFactors(c, dt, c.Num(3), c.Num(4))
			c.Alloc(0, sh, dt)
		},
		CPU: func(c *Ctx) {
			s, a, b, o := c.T(0), c.T(1), c.T(2), c.Out(0)
			beta, alpha := c.Num(3), c.Num(4)
			if beta.C == 1 && alpha.C == 1 && s.DType() == o.DType() {
				switch o.DType() {
				case tensor.Float32:
					outerRows(o, s, a, b, nil, vec.AddScaledF32)
					return
				case tensor.Float64:
					outerRows(o, s, a, b, nil, vec.AddScaledF64)
					return
				}
			}
			alpha, beta = roundHalf(alpha, o.DType()), roundHalf(beta, o.DType())
			tensor.NoGrad(func() {
				a = a.ToDType(o.DType())
				if alpha.C != 1 {
					a = mulKeep(a, alpha)
				}
				p := a.Reshape([]int{-1, 1}).Mul(b)
				if beta.C != 0 {
					if beta.C != 1 {
						s = mulKeep(s.ToDType(o.DType()), beta)
					}
					p = s.Add(p)
				}
				tensor.CopyRaw(o, p)
			})
		},
		Save: "vec1 vec2",
		VJP: func(c *Ctx, g *T) []*T {
			r := append([]*T{nil}, outerGrads(c, g, 1)...)
			if c.Needs(0) {
				r[0] = times(g, c.Num(3))
			}
			for i := 1; i < 3; i++ {
				if r[i] != nil {
					r[i] = times(r[i], c.Num(4))
				}
			}
			return r
		},
	})
}

// roundHalf rounds a factor to a 16-bit type, in which PyTorch computes then.
func roundHalf(n tensor.Num, dt tensor.DType) tensor.Num {
	switch dt {
	case tensor.Float16:
		n.F = float64(vec.F16ToF32(vec.F32ToF16(float32(n.F))))
	case tensor.BFloat16:
		n.F = float64(vec.BF16ToF32(vec.F32ToBF16(float32(n.F))))
	default:
		return n
	}
	n.K, n.C = tensor.KFloat, complex(n.F, 0)
	return n
}

// outerGrads are the gradients of the outer product of arguments i and i+1.
func outerGrads(c *Ctx, g *T, i int) []*T {
	like := func(t *T) *T {
		if t.DType() != g.DType() {
			t = t.ToDType(g.DType())
		}
		return t.Conj()
	}
	r := make([]*T, 2)
	if c.Needs(i) {
		r[0] = g.MV(like(c.T(i + 1)))
	}
	if c.Needs(i + 1) {
		r[1] = g.Transpose(0, 1).MV(like(c.T(i)))
	}
	return r
}

// outerRows sets each row of out to b times an element of a, or adds that to the row of s.
func outerRows[E tensor.Element](out, s, a, b *T, scale func(dst, b []E, x E), add func(dst, s, b []E, x E)) {
	n := b.Numel()
	if out.Numel() == 0 {
		return
	}
	if s != nil && (s.Dim() != 2 || s.Size(0) != a.Numel() || s.Size(1) != n || !s.IsContiguous()) {
		tensor.CopyRaw(out, s)
		s = out
	}
	x, y, d := tensor.Data[E](a.DenseAs(out.DType())), tensor.Data[E](b.DenseAs(out.DType())), tensor.Data[E](out)
	var from []E
	if s != nil {
		from = tensor.Data[E](s)
	}
	par.For(len(x), max(1, 1<<15/n), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if row := d[i*n : (i+1)*n]; s == nil {
				scale(row, y, x[i])
			} else {
				add(row, from[i*n:(i+1)*n], y, x[i])
			}
		}
	})
}

// outerHalf is outerRows for 16-bit floats, whose products are rounded from float32.
func outerHalf(out, a, b *T, narrow func([]uint16, []float32)) {
	x, y, d := tensor.Data[float32](a.DenseAs(tensor.Float32)), tensor.Data[float32](b.DenseAs(tensor.Float32)), memory[uint16](out)
	n := len(y)
	if n == 0 {
		return
	}
	par.For(len(x), max(1, 1<<15/n), func(lo, hi int) {
		var buf [1024]float32
		for i := lo; i < hi; i++ {
			for j := 0; j < n; j += len(buf) {
				w := min(len(buf), n-j)
				vec.MulScalarF32(buf[:w], y[j:j+w], x[i])
				narrow(d[i*n+j:i*n+j+w], buf[:w])
			}
		}
	})
}

var (
	scaleI64, scaleI32  = scaleRow(vec.MulInt[int64]), scaleRow(vec.MulInt[int32])
	scaleC64, scaleC128 = scaleRow(vec.MulC64), scaleRow(vec.MulC128)
)

// scaleRow makes the product of a row and a number from that of two rows.
func scaleRow[E int32 | int64 | complex64 | complex128](mul func(dst, a, b []E)) func(dst, b []E, x E) {
	const run = 128
	pool := sync.Pool{New: func() any { return new([run]E) }}
	return func(dst, b []E, x E) {
		buf := pool.Get().(*[run]E)
		xs := buf[:min(run, len(dst))]
		xs[0] = x
		for n := 1; n < len(xs); n *= 2 {
			copy(xs[n:], xs[:n])
		}
		for j := 0; j < len(dst); j += run {
			w := min(run, len(dst)-j)
			mul(dst[j:j+w], xs[:w], b[j:j+w])
		}
		pool.Put(buf)
	}
}
