package matmul

import (
	"slices"
	"unsafe"

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
				c.Fail(tensor.ErrShape, "outer: Expected 1-D argument %s, but got %d-D",
					map[bool]string{true: "self", false: "vec2"}[bad == a], bad.Dim())
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
				outerBlocks(o, a, b, vec.MulInt[int64])
			case tensor.Int32:
				outerBlocks(o, a, b, vec.MulInt[int32])
			case tensor.Complex64:
				outerBlocks(o, a, b, vec.MulC64)
			case tensor.Complex128:
				outerBlocks(o, a, b, vec.MulC128)
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
				c.Fail(tensor.ErrShape, "addr: Expected 1-D argument vec1 and vec2, but got %d-D and %d-D", a.Dim(),
					b.Dim())
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
	x, y, d := tensor.Data[E](tensor.DenseAs(a, out.DType())), tensor.Data[E](tensor.DenseAs(b, out.DType())),
		tensor.Data[E](out)
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
	x, y, d := tensor.Data[float32](tensor.DenseAs(a, tensor.Float32)),
		tensor.Data[float32](tensor.DenseAs(b, tensor.Float32)), memory[uint16](out)
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

// outerBlocks is outerRows by the product of two slices: short rows are multiplied several at a time, b being repeated
// for them, long ones in pieces.
func outerBlocks[E int32 | int64 | complex64 | complex128](out, a, b *T, mul func(dst, a, b []E)) {
	const run = 512
	if out.Numel() == 0 {
		return
	}
	x, y, d := memory[E](tensor.DenseAs(a, out.DType())), memory[E](tensor.DenseAs(b, out.DType())), memory[E](out)
	n := len(y)
	rows, width := max(1, run/n), min(run, n)
	rows = min(rows, len(x))
	ys := y
	if rows > 1 {
		ys = slices.Repeat(y, rows)
	}
	par.For(len(x), max(rows, 1<<15/n), func(lo, hi int) {
		xs := make([]E, rows*width)
		for i := lo; i < hi; i += rows {
			m := min(rows, hi-i)
			spread(xs[:m*width], x[i:i+m])
			for j := 0; j < n; j += width {
				w := m * min(width, n-j)
				mul(d[i*n+j:][:w], xs[:w], ys[j:][:w])
			}
		}
	})
}

// spread repeats each element of s as often as fills dst.
func spread[E any](dst, s []E) {
	n, size := len(dst)/len(s), int(unsafe.Sizeof(s[0]))
	if n*size >= 8 && vec.SpreadRows(unsafe.Pointer(&dst[0]), unsafe.Pointer(&s[0]), size, len(s), n*size, size) {
		return
	}
	for i, v := range s {
		row := dst[i*n:][:n]
		row[0] = v
		for k := 1; k < n; k *= 2 {
			copy(row[k:], row[:k])
		}
	}
}
