package pointwise

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/iter"
	"github.com/gotorch-dev/torch/ops/internal/half"
	"github.com/gotorch-dev/torch/tensor"
)

type (
	// T and Ctx keep the definitions short.
	T   = tensor.Tensor
	Ctx = tensor.Ctx
	// DType is the element type of a tensor.
	DType = tensor.DType
)

type integer interface {
	uint8 | int8 | int16 | int32 | int64
}

type float interface{ float32 | float64 }

type realNumber interface{ integer | float }

type number interface {
	realNumber | complex64 | complex128
}

// direct is the number of elements up to which a kernel is called without the walker; it is the walker's own block of
// one task, so that the result does not depend on which way was taken.
const direct = 32 * 1024

func slice[E any](p unsafe.Pointer, n int) []E { return unsafe.Slice((*E)(p), n) }

// operand is a tensor seen with the walk's shape; the kernel sees elements of type as.
func operand(t *T, shape []int, as DType) iter.Operand {
	st := t.Strides()
	if !tensor.SameShape(t.Shape(), shape) {
		st = tensor.ExpandStrides(t, shape)
	}
	return iter.Operand{P: tensor.Ptr(t), Strides: st, Mem: t.DType(), As: as}
}

// plain reports that t is n contiguous elements of type dt.
func plain(t *T, n int, dt DType) bool { return t.Numel() == n && t.DType() == dt && t.IsContiguous() }

// The run functions hand contiguous slices of the tensors to a kernel. The operands may have any strides, may be
// broadcast and may have another dtype than the kernel computes in. Small contiguous operands go straight to the
// kernel: no closure, no allocation.

func run1[D, A any](out, a *T, dd, da DType, k func(d []D, a []A)) {
	n := out.Numel()
	if n <= direct && plain(out, n, dd) && plain(a, n, da) {
		if n > 0 {
			k(slice[D](tensor.Ptr(out), n), slice[A](tensor.Ptr(a), n))
		}
		return
	}
	shape := out.Shape()
	ops := [...]iter.Operand{operand(out, shape, dd), operand(a, shape, da)}
	iter.Run(shape, 1, ops[:], func(p *iter.Ptrs, n int) { k(slice[D](p[0], n), slice[A](p[1], n)) })
}

func run2[D, A, B any](out, a, b *T, dd, da, db DType, k func(d []D, a []A, b []B)) {
	n := out.Numel()
	if n <= direct && plain(out, n, dd) && plain(a, n, da) && plain(b, n, db) {
		if n > 0 {
			k(slice[D](tensor.Ptr(out), n), slice[A](tensor.Ptr(a), n), slice[B](tensor.Ptr(b), n))
		}
		return
	}
	shape := out.Shape()
	ops := [...]iter.Operand{operand(out, shape, dd), operand(a, shape, da), operand(b, shape, db)}
	iter.Run(shape, 1, ops[:], func(p *iter.Ptrs, n int) { k(slice[D](p[0], n), slice[A](p[1], n), slice[B](p[2], n)) })
}

// run2n is run2 for a kernel that also has forms which take b, or a, as a number: along rows of the other operand they
// save filling a run.
func run2n[D, E, S any](out, a, b *T, dd, dt DType, k func(d []D, a, b []E), ks, kr func(d []D, a []E, s S),
	at func(p unsafe.Pointer) S, km iter.RowsKernel) {
	n := out.Numel()
	if n <= direct && plain(out, n, dd) && plain(a, n, dt) && plain(b, n, dt) {
		if n > 0 {
			k(slice[D](tensor.Ptr(out), n), slice[E](tensor.Ptr(a), n), slice[E](tensor.Ptr(b), n))
		}
		return
	}
	shape := out.Shape()
	ops := [3]iter.Operand{operand(out, shape, dd), operand(a, shape, dt), operand(b, shape, dt)}
	var number, first func(p *iter.Ptrs, n int)
	if ks != nil {
		number = func(p *iter.Ptrs, n int) { ks(slice[D](p[0], n), slice[E](p[1], n), at(p[2])) }
	}
	if kr != nil {
		first = func(p *iter.Ptrs, n int) { kr(slice[D](p[0], n), slice[E](p[2], n), at(p[1])) }
	}
	iter.RunNumber(shape, &ops, func(p *iter.Ptrs,
		n int) {
		k(slice[D](p[0], n), slice[E](p[1], n), slice[E](p[2], n))
	}, number, first, km)
}

// rowsK makes the form of a kernel of rows that lie apart, ldx elements in x, that a walk calls.
func rowsK[E any](k func(rows, cols int, dst []E, lddst int, a []E, lda int, b []E, ldb int)) iter.RowsKernel {
	size := int(unsafe.Sizeof(*new(E)))
	return func(p *iter.Ptrs, n, m int, step [3]int) {
		var ld [3]int
		var s [3][]E
		for i, st := range step {
			ld[i] = st / size
			s[i] = slice[E](p[i], (m-1)*ld[i]+n)
		}
		k(m, n, s[0], ld[0], s[1], ld[1], s[2], ld[2])
	}
}

// runInt is run2n for integers.
func runInt[D, E integer](out, a, b *T, dd, dt DType, k func(d []D, a, b []E), x *vec.IntNumber) {
	by := vec.IntByNumber[D, E](x)
	if by == nil {
		run2(out, a, b, dd, dt, dt, k)
		return
	}
	right, left := by, by
	if !x.Right {
		right = nil
	}
	if !x.Left {
		left = nil
	}
	run2n(out, a, b, dd, dt, k, right, left, address[E], nil)
}

func address[E any](p unsafe.Pointer) *E { return (*E)(p) }

func number32(p unsafe.Pointer) float32 { return *(*float32)(p) }

func number64(p unsafe.Pointer) float64 { return *(*float64)(p) }

// number16 reads an element of one of the 16-bit types.
var number16 = [2]func(p unsafe.Pointer) float32{
	func(p unsafe.Pointer) float32 { return vec.F16ToF32(*(*uint16)(p)) },
	func(p unsafe.Pointer) float32 { return vec.BF16ToF32(*(*uint16)(p)) },
}

func run3[D, A, B, C any](out, a, b, c *T, dd, da, db, dc DType, k func(d []D, a []A, b []B, c []C)) {
	shape := out.Shape()
	ops := [...]iter.Operand{operand(out, shape, dd), operand(a, shape, da), operand(b, shape, db),
		operand(c, shape, dc)}
	iter.Run(shape, 1, ops[:], func(p *iter.Ptrs, n int) {
		k(slice[D](p[0], n), slice[A](p[1], n), slice[B](p[2], n), slice[C](p[3], n))
	})
}

// run1s is run1 for a kernel that also takes numbers, and so needs no operand for them.
func run1s[D, A, S any](out, a *T, dd, da DType, s S, k func(d []D, a []A, s S)) {
	n := out.Numel()
	if n <= direct && plain(out, n, dd) && plain(a, n, da) {
		if n > 0 {
			k(slice[D](tensor.Ptr(out), n), slice[A](tensor.Ptr(a), n), s)
		}
		return
	}
	shape := out.Shape()
	ops := [...]iter.Operand{operand(out, shape, dd), operand(a, shape, da)}
	iter.Run(shape, 1, ops[:], func(p *iter.Ptrs, n int) { k(slice[D](p[0], n), slice[A](p[1], n), s) })
}

// missing refuses a dtype in PyTorch's words.
func missing(c *Ctx, name string, dt DType) {
	switch name {
	case "pow", "GeluKernelImpl", "GeluBackwardKernelImpl":
		c.FailDType(tensor.ErrDType, name, dt)
	case "floor", "ceil", "trunc":
		if dt.IsComplex() {
			c.Fail(tensor.ErrDType, "%s is not supported for complex inputs", name)
		}
	case "sign":
		c.Fail(tensor.ErrDType, "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use "+
			"torch.sgn instead.")
	case "deg2rad", "rad2deg":
		c.Fail(tensor.ErrDType, "%s is not supported for complex tensors.", name)
	case "relu":
		if dt == tensor.Bool {
			c.Fail(tensor.ErrDType, "Boolean inputs not supported for relu")
		}
		c.Fail(tensor.ErrDType, "clamp is not supported for complex types")
	}
	switch name {
	case "floor", "ceil", "trunc", "round", "erf", "erfc", "erfinv", "lgamma":
		name += "_vml"
	}
	c.FailDType(tensor.ErrDType, name+"_cpu", dt)
}

// numberArg is argument i as a number, when it is one or is a tensor without dimensions.
func numberArg(c *Ctx, i int) (tensor.Num, bool) {
	v := c.Value(i)
	if v.K != tensor.KTensor {
		return v.Num(), v.K != tensor.KNone
	}
	if v.T.Dim() == 0 {
		return v.T.Num(), true
	}
	return tensor.Num{}, false
}

// half16 is the index of dt in the tables of kernels for 16-bit floats, -1 when it is none or a tensor has another
// dtype.
func half16(dt DType, ts ...*T) int {
	for _, t := range ts {
		if t.DType() != dt {
			return -1
		}
	}
	return half.Index(dt)
}

// unK is a kernel with one operand for each type; nil: not implemented. b is for bool. 16-bit floats are computed by h
// or, where it is empty, by f32 on converted blocks. Where there are only f64 and c128, float32 and complex64 are
// converted, too.
type unK struct {
	name string
	u8   func(d, a []uint8)
	i8   func(d, a []int8)
	i16  func(d, a []int16)
	i32  func(d, a []int32)
	i64  func(d, a []int64)
	f32  func(d, a []float32)
	f64  func(d, a []float64)
	c64  func(d, a []complex64)
	c128 func(d, a []complex128)
	b    func(d, a []uint8)
	h    vec.Unary16
}

// halves adds the kernels for 16-bit floats.
func (k *unK) halves(h vec.Unary16) *unK {
	k.h = h
	return k
}

func un[E any](c *Ctx, name string, out, a *T, dt, as DType, k func(d, a []E)) {
	if k == nil {
		missing(c, name, dt)
	}
	run1(out, a, as, as, k)
}

func (k *unK) run(c *Ctx, out, a *T, dt DType) {
	if i := half16(dt, out, a); i >= 0 && k.h[i] != nil {
		run1(out, a, dt, dt, k.h[i])
		return
	}
	switch as := dt.Compute(); as {
	case tensor.Float32:
		if k.f32 == nil && k.f64 != nil { // a rare function, which has but one kernel
			un(c, k.name, out, a, dt, tensor.Float64, k.f64)
			return
		}
		un(c, k.name, out, a, dt, as, k.f32)
	case tensor.Float64:
		un(c, k.name, out, a, dt, as, k.f64)
	case tensor.Int64:
		un(c, k.name, out, a, dt, as, k.i64)
	case tensor.Int32:
		un(c, k.name, out, a, dt, as, k.i32)
	case tensor.Int16:
		un(c, k.name, out, a, dt, as, k.i16)
	case tensor.Int8:
		un(c, k.name, out, a, dt, as, k.i8)
	case tensor.Uint8:
		un(c, k.name, out, a, dt, as, k.u8)
	case tensor.Bool:
		un(c, k.name, out, a, dt, as, k.b)
	case tensor.Complex64:
		if k.c64 == nil && k.c128 != nil { // a function of several steps, which would lose digits
			un(c, k.name, out, a, dt, tensor.Complex128, k.c128)
			return
		}
		un(c, k.name, out, a, dt, as, k.c64)
	case tensor.Complex128:
		un(c, k.name, out, a, dt, as, k.c128)
	}
}

// biK is a kernel with two operands of the result's type for each type. The s forms take the right operand as a number,
// the r forms the left one.
type biK struct {
	name       string
	u8         func(d, a, b []uint8)
	i8         func(d, a, b []int8)
	i16        func(d, a, b []int16)
	i32        func(d, a, b []int32)
	i64        func(d, a, b []int64)
	f32        func(d, a, b []float32)
	f64        func(d, a, b []float64)
	c64        func(d, a, b []complex64)
	c128       func(d, a, b []complex128)
	b          func(d, a, b []uint8)
	h          vec.Binary16 // empty: 16-bit floats are computed by f32 on converted blocks
	hs, hr     vec.Scalar16
	f32s, f32r func(d, a []float32, s float32)
	f64s, f64r func(d, a []float64, s float64)
	f32m, f64m iter.RowsKernel
	c64s       func(d, a []complex64, s float32) // with a real number
	c128s      func(d, a []complex128, s float64)
	num        *vec.IntNumber // nil: a number is a run of equal integers
	// a number on the right is taken as it is; else it is rounded to a 16-bit type, as one on the left always is
	exact bool
}

func bi[E any](c *Ctx, name string, out, a, b *T, dt, as DType, k func(d, a, b []E)) {
	if k == nil {
		missing(c, name, dt)
	}
	run2(out, a, b, as, as, as, k)
}

func biInt[E integer](c *Ctx, name string, out, a, b *T, dt, as DType, k func(d, a, b []E), num *vec.IntNumber) {
	if k == nil {
		missing(c, name, dt)
	}
	runInt(out, a, b, as, as, k, num)
}

// run computes result 0 from the arguments i and j in the result's dtype.
func (k *biK) run(c *Ctx, i, j int) { k.runAs(c, c.Out(0), i, j, c.Out(0).DType()) }

func (k *biK) runAs(c *Ctx, out *T, i, j int, dt DType) {
	if as := dt.Compute(); k.f32s != nil && (as == tensor.Float32 || as == tensor.Float64) {
		if s, ok := numberArg(c, j); ok {
			if !k.exact {
				s.F = half.Round(s.F, dt)
			}
			withNumber(out, c.T(i), dt, as, s.F, k.hs, k.f32s, k.f64s)
			return
		}
		if k.f32r != nil {
			if s, ok := numberArg(c, i); ok {
				withNumber(out, c.T(j), dt, as, half.Round(s.F, dt), k.hr, k.f32r, k.f64r)
				return
			}
		}
	}
	if k.c64s != nil && dt.IsComplex() {
		if s, ok := numberArg(c, j); ok && imag(s.C) == 0 {
			if dt == tensor.Complex64 {
				run1s(out, c.T(i), dt, dt, float32(real(s.C)), k.c64s)
			} else {
				run1s(out, c.T(i), dt, dt, real(s.C), k.c128s)
			}
			return
		}
	}
	k.tensors(c, out, c.T(i), c.T(j), dt)
}

// withNumber runs the kernel of a float type on an operand and a number.
func withNumber(out, a *T, dt, as DType, s float64, h vec.Scalar16, f32 func(d, a []float32, s float32),
	f64 func(d, a []float64, s float64)) {
	switch i := half16(dt, out, a); {
	case i >= 0 && h[i] != nil:
		run1s(out, a, dt, dt, float32(s), h[i])
	case as == tensor.Float32:
		run1s(out, a, as, as, float32(s), f32)
	default:
		run1s(out, a, as, as, s, f64)
	}
}

// narrowed is a number as one of the 16-bit type dt, where that is what is computed in; other operands stay what they
// are.
func narrowed(t *T, dt DType) *T {
	if !dt.IsReduced() || t.Dim() > 0 || t.DType() == dt {
		return t
	}
	n := tensor.New(nil, dt)
	tensor.CopyRaw(n, t)
	return n
}

func (k *biK) tensors(c *Ctx, out, a, b *T, dt DType) {
	a, b = narrowed(a, dt), narrowed(b, dt)
	if i := half16(dt, out, a, b); i >= 0 && k.h[i] != nil {
		run2n(out, a, b, dt, dt, k.h[i], k.hs[i], k.hr[i], number16[i], nil)
		return
	}
	switch as := dt.Compute(); as {
	case tensor.Float32:
		if k.f32s != nil {
			run2n(out, a, b, as, as, k.f32, k.f32s, k.f32r, number32, k.f32m)
			return
		}
		bi(c, k.name, out, a, b, dt, as, k.f32)
	case tensor.Float64:
		if k.f64s != nil {
			run2n(out, a, b, as, as, k.f64, k.f64s, k.f64r, number64, k.f64m)
			return
		}
		bi(c, k.name, out, a, b, dt, as, k.f64)
	case tensor.Int64:
		biInt(c, k.name, out, a, b, dt, as, k.i64, k.num)
	case tensor.Int32:
		biInt(c, k.name, out, a, b, dt, as, k.i32, k.num)
	case tensor.Int16:
		biInt(c, k.name, out, a, b, dt, as, k.i16, k.num)
	case tensor.Int8:
		biInt(c, k.name, out, a, b, dt, as, k.i8, k.num)
	case tensor.Uint8:
		biInt(c, k.name, out, a, b, dt, as, k.u8, k.num)
	case tensor.Bool:
		bi(c, k.name, out, a, b, dt, as, k.b)
	case tensor.Complex64:
		bi(c, k.name, out, a, b, dt, as, k.c64)
	case tensor.Complex128:
		bi(c, k.name, out, a, b, dt, as, k.c128)
	}
}

// cmpK is a kernel with two operands and a bool result for each type.
type cmpK struct {
	name string
	u8   func(d []uint8, a, b []uint8)
	i8   func(d []uint8, a, b []int8)
	i16  func(d []uint8, a, b []int16)
	i32  func(d []uint8, a, b []int32)
	i64  func(d []uint8, a, b []int64)
	f32  func(d []uint8, a, b []float32)
	f64  func(d []uint8, a, b []float64)
	c64  func(d []uint8, a, b []complex64)
	c128 func(d []uint8, a, b []complex128)
	f32s func(d []uint8, a []float32, s float32)
	f64s func(d []uint8, a []float64, s float64)
	num  *vec.IntNumber
}

func cmp[E any](c *Ctx, name string, out, a, b *T, dt, as DType, k func(d []uint8, a, b []E)) {
	if k == nil {
		missing(c, name, dt)
	}
	run2(out, a, b, tensor.Bool, as, as, k)
}

func cmpInt[E integer](c *Ctx, name string, out, a, b *T, dt, as DType, k func(d []uint8, a, b []E),
	num *vec.IntNumber) {
	if k == nil {
		missing(c, name, dt)
	}
	runInt(out, a, b, tensor.Bool, as, k, num)
}

// run compares the arguments 0 and 1 in their common type dt.
func (k *cmpK) run(c *Ctx, dt DType) {
	out := c.Out(0)
	as := dt.Compute()
	if k.f32s != nil && (as == tensor.Float32 || as == tensor.Float64) {
		if s, ok := numberArg(c, 1); ok {
			s.F = half.Round(s.F, dt)
			if as == tensor.Float32 {
				run1s(out, c.T(0), tensor.Bool, as, float32(s.F), k.f32s)
			} else {
				run1s(out, c.T(0), tensor.Bool, as, s.F, k.f64s)
			}
			return
		}
	}
	a, b := c.T(0), c.T(1)
	switch as {
	case tensor.Float32:
		if k.f32s != nil {
			run2n(out, a, b, tensor.Bool, as, k.f32, k.f32s, nil, number32, nil)
			return
		}
		cmp(c, k.name, out, a, b, dt, as, k.f32)
	case tensor.Float64:
		if k.f64s != nil {
			run2n(out, a, b, tensor.Bool, as, k.f64, k.f64s, nil, number64, nil)
			return
		}
		cmp(c, k.name, out, a, b, dt, as, k.f64)
	case tensor.Int64:
		cmpInt(c, k.name, out, a, b, dt, as, k.i64, k.num)
	case tensor.Int32:
		cmpInt(c, k.name, out, a, b, dt, as, k.i32, k.num)
	case tensor.Int16:
		cmpInt(c, k.name, out, a, b, dt, as, k.i16, k.num)
	case tensor.Int8:
		cmpInt(c, k.name, out, a, b, dt, as, k.i8, k.num)
	case tensor.Uint8, tensor.Bool:
		cmpInt(c, k.name, out, a, b, dt, as, k.u8, k.num)
	case tensor.Complex64:
		cmp(c, k.name, out, a, b, dt, as, k.c64)
	case tensor.Complex128:
		cmp(c, k.name, out, a, b, dt, as, k.c128)
	}
}

// plain gives the kernels for plain calls.
func (k *biK) plain() *tensor.Plain {
	return &tensor.Plain{Bin32: k.f32, Bin64: k.f64, Num32: k.f32s, Num64: k.f64s}
}

// predK is a kernel with one operand and a bool result for each type.
type predK struct {
	name string
	u8   func(d []uint8, a []uint8)
	i8   func(d []uint8, a []int8)
	i16  func(d []uint8, a []int16)
	i32  func(d []uint8, a []int32)
	i64  func(d []uint8, a []int64)
	f32  func(d []uint8, a []float32)
	f64  func(d []uint8, a []float64)
	c64  func(d []uint8, a []complex64)
	c128 func(d []uint8, a []complex128)
}

func pred[E any](c *Ctx, name string, out, a *T, dt, as DType, k func(d []uint8, a []E)) {
	if k == nil {
		missing(c, name, dt)
	}
	run1(out, a, tensor.Bool, as, k)
}

func (k *predK) run(c *Ctx) {
	out, a := c.Out(0), c.T(0)
	dt := a.DType()
	switch as := dt.Compute(); as {
	case tensor.Float32:
		pred(c, k.name, out, a, dt, as, k.f32)
	case tensor.Float64:
		pred(c, k.name, out, a, dt, as, k.f64)
	case tensor.Int64:
		pred(c, k.name, out, a, dt, as, k.i64)
	case tensor.Int32:
		pred(c, k.name, out, a, dt, as, k.i32)
	case tensor.Int16:
		pred(c, k.name, out, a, dt, as, k.i16)
	case tensor.Int8:
		pred(c, k.name, out, a, dt, as, k.i8)
	case tensor.Uint8, tensor.Bool:
		pred(c, k.name, out, a, dt, as, k.u8)
	case tensor.Complex64:
		pred(c, k.name, out, a, dt, as, k.c64)
	case tensor.Complex128:
		pred(c, k.name, out, a, dt, as, k.c128)
	}
}

// The following make kernels of functions of one or two numbers. The call for each element costs a few nanoseconds, so
// they serve only functions that cost more than that themselves.

func c128of(f func(complex128) complex128) func(d, a []complex128) {
	return func(d, a []complex128) {
		for i, x := range a[:len(d)] {
			d[i] = f(x)
		}
	}
}

func b2u(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

// call runs an operator on tensors, numbers and strings.
func call(op *tensor.Op, args ...tensor.Value) *T {
	c := tensor.NewCall(op, len(args))
	for i, a := range args {
		*c.Arg(i) = a
	}
	return c.Do1()
}

func tv(t *T) tensor.Value { return tensor.TensorValue(t) }

// mulArg is g times the conjugate of argument i, which may be a number.
func mulArg(c *Ctx, g *T, i int) *T {
	if v := c.Value(i); v.K != tensor.KTensor {
		return g.MulScalar(conjNum(v.Num()))
	}
	return g.Mul(conj(c.T(i)))
}

// divArg is g divided by the conjugate of argument i, which may be a number.
func divArg(c *Ctx, g *T, i int) *T {
	if v := c.Value(i); v.K != tensor.KTensor {
		return g.DivScalar(conjNum(v.Num()))
	}
	return g.Div(conj(c.T(i)))
}

// conj is the conjugate of a complex tensor and costs nothing for others.
func conj(t *T) *T {
	if t.IsComplex() {
		return t.Conj()
	}
	return t
}

func conjNum(n tensor.Num) tensor.Num {
	if n.K == tensor.KComplex {
		n.C = complex(real(n.C), -imag(n.C))
	}
	return n
}

// keepIf is g where the condition holds and zero elsewhere; dropIf is the opposite.
func keepIf(cond, g *T) *T { return call(opWhere, tv(cond), tv(g), tensor.IntValue(0)) }

func dropIf(cond, g *T) *T { return call(opWhere, tv(cond), tensor.IntValue(0), tv(g)) }

var opWhere = tensor.Slot("aten::where.self")
