package index

import (
	"slices"

	"github.com/gotorch-dev/torch/tensor"
)

// indices reads a 0-d or 1-d integer index along a dimension of size n. Negative numbers are not wrapped, as in PyTorch.
func indices(c *Ctx, arg, n int) []int64 {
	t := c.T(arg)
	if dt := t.DType(); dt != tensor.Int64 && dt != tensor.Int32 {
		c.Fail(tensor.ErrDType, "%s(): Expected dtype int32 or int64 for index but got: %s", c.Op().Sch.Name, dt.ClassName())
	}
	if t.Dim() > 1 {
		c.Fail(tensor.ErrIndex, "%s(): Index is supposed to be a vector", c.Op().Sch.Name)
	}
	ix := tensor.Data[int64](t.DenseAs(tensor.Int64))
	for _, i := range ix {
		if i < 0 || int(i) >= n {
			c.Fail(tensor.ErrIndex, "index out of range in self")
		}
	}
	return ix
}

// split sees a shape as outer x n x inner around a dimension.
func split(shape []int, dim int) (outer, n, inner int) {
	outer, n, inner = 1, 1, 1
	for i, s := range shape {
		switch {
		case i < dim:
			outer *= s
		case i == dim:
			n = s
		default:
			inner *= s
		}
	}
	return
}

func init() {
	tensor.Register(tensor.Def{
		Schema: "index_select(Tensor self, int dim, Tensor index) -> Tensor",
		Doc:    "picks the entries along dim that index (1-d, int32 or int64) names.\nhttps://pytorch.org/docs/stable/generated/torch.index_select.html",
		Out:    true,
		Infer: func(c *Ctx) {
			t := c.T(0)
			dim := tensor.WrapDim(c.Int(1), t.Dim())
			sh := slices.Clone(t.Shape())
			if len(sh) > 0 {
				sh[dim] = c.T(2).Numel()
			}
			c.Alloc(0, sh, t.DType())
		},
		CPU: func(c *Ctx) {
			t := c.T(0).Dense()
			o := c.Out(0)
			outer, n, inner := split(t.Shape(), tensor.WrapDim(c.Int(1), t.Dim()))
			ix := indices(c, 2, n)
			row := inner * t.ElementSize()
			src, dst := bytesOf(t), bytesOf(o)
			for a := 0; a < outer; a++ {
				for k, i := range ix {
					copy(dst[(a*len(ix)+k)*row:][:row], src[(a*n+int(i))*row:][:row])
				}
			}
		},
		Save: "index",
		VJP: func(c *Ctx, g *T) []*T {
			z := tensor.New(c.Shape(0), g.DType())
			z.ZeroRaw()
			return []*T{z.IndexAdd(c.Int(1), c.T(2), g), nil}
		},
	})
	tensor.Register(tensor.Def{
		Schema:  "index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor",
		Doc:     "is self with alpha times the entries of source added at the places along dim that index names.\nhttps://pytorch.org/docs/stable/generated/torch.Tensor.index_add_.html",
		InPlace: true, Out: true,
		Infer: func(c *Ctx) {
			c.Alloc(0, c.Shape(0), c.ArgDType(0))
		},
		CPU: func(c *Ctx) {
			t, s, o := c.T(0), c.T(3), c.Out(0)
			if s.DType() != t.DType() {
				c.Fail(tensor.ErrDType, "index_add_(): self (%s) and source (%s) must have the same scalar type", t.DType().ClassName(), s.DType().ClassName())
			}
			dim := tensor.WrapDim(c.Int(1), t.Dim())
			outer, n, inner := split(t.Shape(), dim)
			ix := indices(c, 2, n)
			if s.Numel() != outer*inner*len(ix) {
				c.Fail(tensor.ErrShape, "index_add_(): source of shape %s does not fit %d indices along dim %d of self's shape %s", tensor.ShapeString(s.Shape()), len(ix), dim, tensor.ShapeString(t.Shape()))
			}
			tensor.CopyRaw(o, t)
			alpha := c.Num(4)
			switch dt := t.DType(); {
			case dt == tensor.Float32:
				addRows(tensor.Data[float32](o), tensor.Data[float32](s.Dense()), ix, outer, n, inner, float32(alpha.F))
			case dt == tensor.Complex64 || dt == tensor.Complex128:
				w := o.DenseAs(tensor.Complex128)
				addRows(tensor.Data[complex128](w), tensor.Data[complex128](s.DenseAs(tensor.Complex128)), ix, outer, n, inner, alpha.C)
				tensor.CopyRaw(o, w)
			case dt.IsFloat():
				w := o.DenseAs(tensor.Float64)
				addRows(tensor.Data[float64](w), tensor.Data[float64](s.DenseAs(tensor.Float64)), ix, outer, n, inner, alpha.F)
				if w != o {
					tensor.CopyRaw(o, w)
				}
			default:
				w := o.DenseAs(tensor.Int64)
				addRows(tensor.Data[int64](w), tensor.Data[int64](s.DenseAs(tensor.Int64)), ix, outer, n, inner, alpha.I)
				if w != o {
					tensor.CopyRaw(o, w)
				}
			}
		},
		Save: "index",
		VJP: func(c *Ctx, g *T) []*T {
			r := []*T{g, nil, nil}
			if c.Needs(3) {
				s := g.IndexSelect(c.Int(1), c.T(2)).Reshape(c.Shape(3))
				if a := c.Num(4); a.C != 1 {
					s = s.MulScalar(a)
				}
				r[2] = s
			}
			return r
		},
	})
}

func addRows[E int64 | float32 | float64 | complex128](dst, src []E, ix []int64, outer, n, inner int, alpha E) {
	for a := 0; a < outer; a++ {
		for k, i := range ix {
			d, s := dst[(a*n+int(i))*inner:][:inner], src[(a*len(ix)+k)*inner:][:inner]
			for j, v := range s {
				d[j] += alpha * v
			}
		}
	}
}

func bytesOf(t *T) []byte {
	b := t.Storage().Bytes()
	es := t.ElementSize()
	return b[t.StorageOffset()*es:][:t.Numel()*es]
}
