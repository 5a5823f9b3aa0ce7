package matmul

import (
	"fmt"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/gemm"
	"github.com/gotorch-dev/torch/tensor"
)

// one and zero are the usual factors.
var (
	one  = tensor.Num{K: tensor.KInt, I: 1, F: 1, C: 1}
	zero = tensor.Num{K: tensor.KInt}
)

// matrix is a tensor seen as a batch of matrices.
type matrix struct {
	t      *T
	rs, cs int   // strides of rows and columns
	batch  []int // strides of the batch dimensions
}

// last2 sees the last two dimensions of t as matrices.
func last2(t *T) matrix {
	n := t.Dim()
	st := t.Strides()
	return matrix{t, st[n-2], st[n-1], st[:n-2]}
}

// flip is the transposed matrix.
func (m matrix) flip() matrix { return matrix{m.t, m.cs, m.rs, m.batch} }

// memory is what t's elements span, from the first to the last.
func memory[E any](t *T) []E {
	n := 1
	for i, s := range t.Shape() {
		if s == 0 {
			return nil
		}
		n += (s - 1) * t.Strides()[i]
	}
	return unsafe.Slice((*E)(tensor.Ptr(t)), n)
}

// product computes c = alpha·a·b + beta·c (+ bias per column) for a batch of m×k and k×n matrices of one dtype.
func product(batch []int, m, n, k int, alpha tensor.Num, a, b matrix, beta tensor.Num, c matrix, bias *T) {
	activated(batch, m, n, k, alpha, a, b, beta, c, bias, gemm.ActNone)
}

// activated is product with a function applied to the result, for floating-point types.
func activated(batch []int, m, n, k int, alpha tensor.Num, a, b matrix, beta tensor.Num, c matrix, bias *T,
	act gemm.Activation) {
	if m == 0 || n == 0 {
		return
	}
	dims := make([]gemm.BatchDim, 0, len(batch))
	for i, s := range batch {
		if s == 0 {
			return
		}
		dims = append(dims, gemm.BatchDim{N: s, A: a.batch[i], B: b.batch[i], C: c.batch[i]})
	}
	// a dimension of size 1 may have any stride: give it the one that the kernels like
	if n == 1 {
		b.cs, c.cs = 1, 1
	}
	if k == 1 {
		a.cs, b.rs = 1, n
	}
	if m == 1 {
		a.rs, c.rs = k, n
	}
	switch c.t.DType() {
	case tensor.Float32:
		floatProduct(dims, m, n, k, float32(alpha.F), a, b, float32(beta.F), c, bias, act)
	case tensor.Float64:
		floatProduct(dims, m, n, k, alpha.F, a, b, beta.F, c, bias, act)
	case tensor.Float16, tensor.BFloat16:
		h := gemm.Float16
		if c.t.DType() == tensor.BFloat16 {
			h = gemm.BFloat16
		}
		ep := &gemm.Epilogue[float32]{Act: act}
		if bias != nil {
			ep.BiasCol = tensor.Data[float32](tensor.DenseAs(bias, tensor.Float32))
		}
		gemm.GEMMHalf(h, dims, m, n, k, float32(alpha.F), memory[uint16](a.t), a.rs, a.cs, memory[uint16](b.t), b.rs,
			b.cs, float32(beta.F), memory[uint16](c.t), c.rs, c.cs, ep)
	case tensor.Complex64:
		anyProduct(dims, m, n, k, complex64(alpha.C), a, b, complex64(beta.C), c)
	case tensor.Complex128:
		anyProduct(dims, m, n, k, alpha.C, a, b, beta.C, c)
	case tensor.Int64:
		anyProduct(dims, m, n, k, alpha.I, a, b, beta.I, c)
	case tensor.Int32:
		anyProduct(dims, m, n, k, int32(alpha.I), a, b, int32(beta.I), c)
	case tensor.Int16:
		anyProduct(dims, m, n, k, int16(alpha.I), a, b, int16(beta.I), c)
	case tensor.Int8:
		anyProduct(dims, m, n, k, int8(alpha.I), a, b, int8(beta.I), c)
	case tensor.Uint8:
		anyProduct(dims, m, n, k, uint8(alpha.I), a, b, uint8(beta.I), c)
	default:
		tensor.Fail(tensor.ErrDType, "matrix product: no kernel for %s", c.t.DType())
	}
}

func floatProduct[E float32 | float64](dims []gemm.BatchDim, m, n, k int, alpha E, a, b matrix, beta E, c matrix,
	bias *T, act gemm.Activation) {
	ep := &gemm.Epilogue[E]{Act: act}
	if bias != nil {
		ep.BiasCol = memory[E](tensor.Dense(bias))
	}
	if len(dims) == 0 {
		gemm.GEMM(m, n, k, alpha, memory[E](a.t), a.rs, a.cs, memory[E](b.t), b.rs, b.cs, beta, memory[E](c.t), c.rs,
			c.cs, ep)
		return
	}
	gemm.GEMMBatch(dims, m, n, k, alpha, memory[E](a.t), a.rs, a.cs, memory[E](b.t), b.rs, b.cs, beta, memory[E](c.t),
		c.rs, c.cs, ep)
}

func anyProduct[E gemm.Number](dims []gemm.BatchDim, m, n, k int, alpha E, a, b matrix, beta E, c matrix) {
	gemm.GEMMAny(dims, m, n, k, alpha, memory[E](a.t), a.rs, a.cs, memory[E](b.t), b.rs, b.cs, beta, memory[E](c.t),
		c.rs, c.cs)
}

// dims prints a matrix's size as PyTorch's messages do: "2x3".
func dims(s []int) string {
	out := ""
	for i, x := range s {
		if i > 0 {
			out += "x"
		}
		out += fmt.Sprint(x)
	}
	return out
}

// cName is the C++ name of a dtype in PyTorch's messages.
func cName(d tensor.DType) string {
	switch d {
	case tensor.Bool:
		return "bool"
	case tensor.Uint8:
		return "unsigned char"
	case tensor.Int8:
		return "signed char"
	case tensor.Int16:
		return "short"
	case tensor.Int32:
		return "int"
	case tensor.Int64:
		return "long"
	case tensor.Float16:
		return "c10::Half"
	case tensor.BFloat16:
		return "c10::BFloat16"
	case tensor.Float32:
		return "float"
	case tensor.Float64:
		return "double"
	case tensor.Complex64:
		return "c10::complex<float>"
	}
	return "c10::complex<double>"
}

// checkSame refuses two factors of different dtypes, and bool, for which PyTorch has no products.
func checkSame(c *Ctx, name string, a, b tensor.DType) {
	checkDTypes(c, a, b)
	if a == tensor.Bool {
		c.FailDType(tensor.ErrDType, name, a)
	}
}

func checkDTypes(c *Ctx, a, b tensor.DType) {
	if a != b {
		c.Fail(tensor.ErrDType, "expected m1 and m2 to have the same dtype, but got: %s != %s", cName(a), cName(b))
	}
}

// checkSum is checkSame for a product that is added to s, which may be nil.
func checkSum(c *Ctx, s, a, b *T) {
	if s != nil {
		for _, t := range []struct {
			name string
			dt   tensor.DType
		}{{"self", s.DType()}, {"mat1", a.DType()}} {
			if t.dt != b.DType() {
				c.Fail(tensor.ErrDType, "%s and mat2 must have the same dtype, but got %s and %s", t.name,
					t.dt.ClassName(), b.DType().ClassName())
			}
		}
	}
	checkSame(c, "addmm_impl_cpu_", a.DType(), b.DType())
}

// checkFactors refuses complex numbers as alpha or beta of real products, and with addr floats of integer ones, which
// are cut off otherwise.
func checkFactors(c *Ctx, dt tensor.DType, beta, alpha tensor.Num) {
	for _, f := range []struct {
		name string
		n    tensor.Num
	}{{"beta", beta}, {"alpha", alpha}} {
		if addr := c.Op().Sch.Name[:4] == "addr"; addr && dt.IsIntOrBool() && !f.n.IsInt() {
			c.Fail(tensor.ErrDType, "For integral input tensors, argument %s must not be a floating point number.",
				f.name)
		} else if addr && dt != tensor.Bool && f.n.K == tensor.KBool {
			c.Fail(tensor.ErrDType, "Boolean %s only supported for Boolean results.", f.name)
		}
		if !dt.IsComplex() && f.n.K == tensor.KComplex {
			c.Fail(tensor.ErrDType, "For non-complex input tensors, argument %s must not be a complex number.", f.name)
		}
	}
}

// expandTo checks that t can be broadcast to shape.
func expandTo(c *Ctx, t *T, shape []int) {
	if tensor.Broadcastable(t.Shape(), shape) {
		return
	}
	if t.Dim() > len(shape) {
		c.Fail(tensor.ErrShape, "expand(torch.%sTensor{%s}, size=%s): the number of sizes provided (%d) must be "+
			"greater or equal to the number of dimensions in the tensor (%d)",
			t.DType().ClassName(), tensor.ShapeString(t.Shape()), tensor.ShapeString(shape), len(shape), t.Dim())
	}
	d := len(shape) - t.Dim()
	for i := t.Dim() - 1; i >= 0; i-- {
		if t.Shape()[i] != shape[d+i] && t.Shape()[i] != 1 {
			c.Fail(tensor.ErrShape, "The expanded size of the tensor (%d) must match the existing size (%d) at "+
				"non-singleton dimension %d.  Target sizes: %s.  Tensor sizes: %s",
				shape[d+i], t.Shape()[i], d+i, tensor.ShapeString(shape), tensor.ShapeString(t.Shape()))
		}
	}
}

// start fills out with what beta multiplies and returns beta; nothing is read when beta is 0, so that NaN does not
// spread.
func start(out, self *T, beta tensor.Num) tensor.Num {
	if beta.C == 0 {
		return zero
	}
	tensor.CopyRaw(out, self)
	return beta
}

// adjoint is the conjugate transpose.
func adjoint(t *T) *T { return t.Transpose(-2, -1).Conj() }

// times multiplies a gradient by the conjugate of a factor.
func times(g *T, n tensor.Num) *T {
	if n.C == 1 {
		return g
	}
	if n.K == tensor.KComplex {
		return g.MulScalar(complex(real(n.C), -imag(n.C)))
	}
	return g.MulScalar(n)
}
