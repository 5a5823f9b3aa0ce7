package quantized

import (
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	tensor.Register(tensor.Def{
		Schema: "_weight_int8pack_mm(Tensor self, Tensor mat2, Tensor scales) -> Tensor", Go: "-",
		Doc:    "multiplies a matrix [m, k] of floats by the transpose of one of bytes [n, k], and column j by scales[j].",
		NoGrad: "weights of bytes are not trained",
		Infer: func(c *Ctx) {
			a, b, s := c.T(0), c.T(1), c.T(2)
			switch {
			case a.Dim() != 2 || b.Dim() != 2 || a.Size(1) != b.Size(1):
				c.Fail(tensor.ErrShape, "_weight_int8pack_mm: expected matrices [m, k] and [n, k], got shapes %s and %s",
					tensor.ShapeString(a.Shape()), tensor.ShapeString(b.Shape()))
			case !a.DType().IsFloat() || a.DType().IsStorage():
				c.Fail(tensor.ErrDType, "_weight_int8pack_mm : expect A to be either 32-bit or 16-bit float tensor.")
			case b.DType() != tensor.Int8:
				c.Fail(tensor.ErrDType, "_weight_int8pack_mm : expect B to be int8 tensor.")
			case s.Dim() != 1 || s.Size(0) != b.Size(0):
				c.Fail(tensor.ErrShape, "_weight_int8pack_mm : expect scales to be 1d tensor with size %d", b.Size(0))
			}
			c.Alloc(0, []int{a.Size(0), b.Size(0)}, a.DType())
		},
		CPU: func(c *Ctx) {
			s := tensor.DenseAs(c.T(2), tensor.Float32)
			y := tensor.DenseAs(c.T(0), tensor.Float32).MatMul(tensor.DenseAs(c.T(1), tensor.Float32).Transpose(0, 1))
			tensor.CopyRaw(c.Out(0), y.Mul(s))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "_convert_weight_to_int4pack_for_cpu(Tensor self, int innerKTiles) -> Tensor", Go: "-",
		Doc: "packs an int32 matrix [n, k] of numbers from 0 to 15 in bytes, for _weight_int4pack_mm_for_cpu. The order " +
			"is that of PyTorch on a processor with AVX-512: of 64 columns 32 and 32 share bytes.",
		NoGrad: "integer result",
		Infer: func(c *Ctx) {
			w := c.T(0)
			if w.Dim() != 2 || w.DType() != tensor.Int32 {
				c.Fail(tensor.ErrDType, "_convert_weight_to_int4pack_for_cpu : expect weight to be kInt.")
			}
			if w.Size(0)%16 != 0 || w.Size(1)%2 != 0 {
				c.Fail(tensor.ErrShape, "_convert_weight_to_int4pack_for_cpu : expect N to be dividable by 16 and K by 2, got %s",
					tensor.ShapeString(w.Shape()))
			}
			c.Alloc(0, []int{w.Size(0), w.Size(1) / 2}, tensor.Uint8)
		},
		CPU: func(c *Ctx) {
			w := c.T(0)
			packInt4(tensor.Data[uint8](c.Out(0)), tensor.Data[int32](tensor.Dense(w)), w.Size(0), w.Size(1))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "_weight_int4pack_mm_for_cpu(Tensor self, Tensor mat2, int qGroupSize, Tensor qScaleAndZeros) -> Tensor",
		Go:     "-", NoGrad: "weights of 4 bits are not trained",
		Doc: "multiplies a matrix [m, k] of floats by the transpose of a packed one of 4 bits [n, k/2]: an element stands " +
			"for (q - 8) * scale + zero, of each group of qGroupSize along k; qScaleAndZeros is [k/qGroupSize, n, 2].",
		Infer: func(c *Ctx) {
			a, b, s, g := c.T(0), c.T(1), c.T(3), c.Int(2)
			switch {
			case a.Dim() != 2 || b.Dim() != 2 || a.Size(1) != 2*b.Size(1) || b.DType() != tensor.Uint8:
				c.Fail(tensor.ErrShape, "_weight_int4pack_mm_for_cpu: expected floats [m, k] and bytes [n, k/2], got shapes %s "+
					"and %s", tensor.ShapeString(a.Shape()), tensor.ShapeString(b.Shape()))
			case !a.DType().IsFloat() || a.DType().IsStorage():
				c.Fail(tensor.ErrDType, "_weight_int4pack_mm_for_cpu : expect A to be either 32-bit or 16-bit float tensor.")
			case g != 32 && g != 64 && g != 128 && g != 256:
				c.Fail(tensor.ErrValue, "_weight_int4pack_mm_for_cpu: expect qGroupSize to be 32, 64, 128 or 256, got %d", g)
			case a.Size(1)%g != 0 || b.Size(0)%16 != 0 || s.Dim() != 3 || s.Size(0) != a.Size(1)/g ||
				s.Size(1) != b.Size(0) || s.Size(2) != 2:
				c.Fail(tensor.ErrShape, "_weight_int4pack_mm_for_cpu: expect qScaleAndZeros to be 3d tensor with sizes "+
					"[%d, %d, 2], got %s", a.Size(1)/g, b.Size(0), tensor.ShapeString(s.Shape()))
			}
			c.Alloc(0, []int{a.Size(0), b.Size(0)}, a.DType())
		},
		CPU: func(c *Ctx) {
			b := c.T(1)
			n, k, g := b.Size(0), 2*b.Size(1), c.Int(2)
			q := make([]uint8, n*k)
			unpackInt4(q, tensor.Data[uint8](tensor.Dense(b)), n, k)
			w := tensor.New([]int{n, k}, tensor.Float32)
			d := tensor.Data[float32](w)
			sz := tensor.Data[float32](tensor.DenseAs(c.T(3), tensor.Float32))
			par.For(n, 1+4096/max(1, k), func(lo, hi int) {
				for j := lo; j < hi; j++ {
					for i := range k {
						at := (i/g*n + j) * 2
						d[j*k+i] = (float32(q[j*k+i])-8)*sz[at] + sz[at+1]
					}
				}
			})
			tensor.CopyRaw(c.Out(0), tensor.DenseAs(c.T(0), tensor.Float32).MatMul(w.Transpose(0, 1)))
		},
	})
}

// eachInt4 calls f for each byte of a packed matrix and the two elements that it holds, the first in the lower bits.
// Rows are taken in blocks of 64, in which a byte joins rows 32 apart; in a smaller block at the end it joins rows that
// follow one another.
func eachInt4(n, k int, f func(at, low, high int)) {
	for from := 0; from < n; from += 64 {
		rows, apart, step := min(64, n-from), 1, 2
		if rows == 64 {
			apart, step = 32, 1
		}
		half := rows / 2
		for i := range k {
			for j := range half {
				low := from + j*step
				f(from*k/2+i*half+j, low*k+i, (low+apart)*k+i)
			}
		}
	}
}

func packInt4(dst []uint8, w []int32, n, k int) {
	eachInt4(n, k, func(at, low, high int) { dst[at] = uint8(w[low]&15) | uint8(w[high]&15)<<4 })
}

func unpackInt4(dst, src []uint8, n, k int) {
	eachInt4(n, k, func(at, low, high int) { dst[low], dst[high] = src[at]&15, src[at]>>4 })
}
