package pointwise

import (
	"math"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/iter"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	tensor.Register(tensor.Def{
		Schema: "lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor", FormNames: ".out=.Tensor_out",
		Doc:     "is self + weight * (end - self).\nhttps://pytorch.org/docs/stable/generated/torch.lerp.html",
		InPlace: true, Out: true, Scalar: "weight", Elementwise: true,
		Infer: func(c *Ctx) {
			dt := c.ArgDType(0)
			for _, i := range []int{1, 2} {
				if v := c.Value(i); v.K == tensor.KTensor && v.T.DType() != dt &&
					!(i == 2 && v.T.Dim() == 0 && !v.T.IsComplex()) {
					c.Fail(tensor.ErrDType, "expected dtype %s for `%s` but got dtype %s", cxxName(dt),
						[]string{"", "end", "weight"}[i], cxxName(v.T.DType()))
				}
			}
			c.Alloc(0, c.BroadcastArgs(0, 1, 2), dt)
		},
		CPU: func(c *Ctx) {
			out := c.Out(0)
			as := out.DType().Compute()
			w, num := numberArg(c, 2)
			a, b, t := c.T(0), c.T(1), w.F
			if num && !as.IsComplex() {
				if as == tensor.Float32 {
					t = float64(float32(t))
				}
				if !(math.Abs(t) < 0.5) { // from the nearer end, so that a weight of 1 gives the end itself
					a, b, t = b, a, 1-t
				}
				if i := half16(out.DType(), out, a, b); i >= 0 {
					k, s := [2]func(d, a, b []uint16, w float32){vec.LerpF16, vec.LerpBF16}[i], float32(t)
					run2(out, a, b, out.DType(), out.DType(), out.DType(), func(d, a, b []uint16) { k(d, a, b, s) })
					return
				}
			} else if tern16(c, [2]func(d, a, b, e []uint16){vec.LerpToF16, vec.LerpToBF16}) {
				return
			}
			switch {
			case as == tensor.Float32 && num:
				s := float32(t)
				run2(out, a, b, as, as, as, func(d, a, b []float32) { vec.LerpF32(d, a, b, s) })
			case as == tensor.Float64 && num:
				run2(out, a, b, as, as, as, func(d, a, b []float64) { vec.LerpF64(d, a, b, t) })
			case as == tensor.Float32:
				tern(c, as, vec.LerpToF32)
			case as == tensor.Float64:
				tern(c, as, vec.LerpToF64)
			case as == tensor.Complex64:
				tern(c, as, lerpC[complex64])
			case as == tensor.Complex128:
				tern(c, as, lerpC[complex128])
			default:
				missing(c, "lerp_kernel_tensor", as)
			}
		},
		Save: "self end weight",
		VJP: func(c *Ctx, g *T) []*T {
			w := c.T(2).Conj()
			if w.DType().IsIntOrBool() {
				w = w.ToDType(g.DType())
			}
			r := []*T{nil, g.Mul(w), nil}
			r[0] = g.Mul(w.Neg().AddScalar(1))
			if c.Needs(2) {
				r[2] = g.Mul(c.T(1).Sub(c.T(0)).Conj())
			}
			return r
		},
	})
	tensor.Register(tensor.Def{
		Schema:  "addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
		Doc:     "is self + value * tensor1 * tensor2.\nhttps://pytorch.org/docs/stable/generated/torch.addcmul.html",
		InPlace: true, Out: true, Elementwise: true,
		Infer: func(c *Ctx) { c.Alloc(0, c.BroadcastArgs(0, 1, 2), c.PromoteArgs(0, 1, 2)) },
		CPU: func(c *Ctx) {
			v := c.Num(3)
			if s := float32(v.F); tern16(c, [2]func(d, a, b, e []uint16){
				func(d, a, b, e []uint16) { vec.AddcmulF16(d, a, b, e, s) },
				func(d, a, b, e []uint16) { vec.AddcmulBF16(d, a, b, e, s) }}) {
				return
			}
			switch as := c.Out(0).DType().Compute(); as {
			case tensor.Float32:
				s := float32(v.F)
				tern(c, as, func(d, a, b, e []float32) { vec.AddcmulF32(d, a, b, e, s) })
			case tensor.Float64:
				tern(c, as, func(d, a, b, e []float64) { vec.AddcmulF64(d, a, b, e, v.F) })
			case tensor.Int64:
				tern(c, as, addcmulI(v.I))
			case tensor.Int32:
				tern(c, as, addcmulI(int32(v.I)))
			case tensor.Int16:
				tern(c, as, addcmulI(int16(v.I)))
			case tensor.Int8:
				tern(c, as, addcmulI(int8(v.I)))
			case tensor.Uint8:
				tern(c, as, addcmulI(uint8(v.I)))
			case tensor.Complex64:
				tern(c, as, addcC(complex64(v.C), vec.MulC64, vec.MulC64, vec.AddF32))
			case tensor.Complex128:
				tern(c, as, addcC(v.C, vec.MulC128, vec.MulC128, vec.AddF64))
			default:
				missing(c, "addcmul", as)
			}
		},
		Save: "tensor1 tensor2",
		VJP: func(c *Ctx, g *T) []*T {
			r := []*T{g, nil, nil}
			gv := scaleGrad(c, g, 3)
			if c.Needs(1) {
				r[1] = gv.Mul(c.T(2).Conj())
			}
			if c.Needs(2) {
				r[2] = gv.Mul(c.T(1).Conj())
			}
			return r
		},
	})
	tensor.Register(tensor.Def{
		Schema: "addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
		Doc: "is self + value * tensor1 / tensor2. Two integer tensors to divide are " +
			"refused.\nhttps://pytorch.org/docs/stable/generated/torch.addcdiv.html",
		InPlace: true, Out: true, Elementwise: true,
		Infer: func(c *Ctx) {
			if c.ArgDType(1).IsIntOrBool() && c.ArgDType(2).IsIntOrBool() {
				c.Fail(tensor.ErrDType, "Integer division with addcdiv is no longer supported, and in a future  "+
					"release addcdiv will perform a true division of tensor1 and tensor2. "+
					"The historic addcdiv behavior can be implemented as (input + value * torch.trunc(tensor1 / "+
					"tensor2)).to(input.dtype) for integer inputs and as (input + value * tensor1 / tensor2) for "+
					"float inputs. "+
					"The future addcdiv behavior is just the latter implementation: (input + value * tensor1 / "+
					"tensor2), for all dtypes.")
			}
			c.Alloc(0, c.BroadcastArgs(0, 1, 2), c.PromoteArgs(0, 1, 2))
		},
		CPU: func(c *Ctx) {
			v := c.Num(3)
			if s := float32(v.F); tern16(c, [2]func(d, a, b, e []uint16){
				func(d, a, b, e []uint16) { vec.AddcdivF16(d, a, b, e, s) },
				func(d, a, b, e []uint16) { vec.AddcdivBF16(d, a, b, e, s) }}) {
				return
			}
			switch as := c.Out(0).DType().Compute(); as {
			case tensor.Float32:
				s := float32(v.F)
				tern(c, as, func(d, a, b, e []float32) { vec.AddcdivF32(d, a, b, e, s) })
			case tensor.Float64:
				tern(c, as, func(d, a, b, e []float64) { vec.AddcdivF64(d, a, b, e, v.F) })
			case tensor.Complex64:
				tern(c, as, addcC(complex64(v.C), vec.MulC64, divKernels.c64, vec.AddF32))
			case tensor.Complex128:
				tern(c, as, addcC(v.C, vec.MulC128, divKernels.c128, vec.AddF64))
			default:
				missing(c, "addcdiv", as)
			}
		},
		Save: "tensor1 tensor2",
		VJP: func(c *Ctx, g *T) []*T {
			r := []*T{g, nil, nil}
			t2 := c.T(2)
			gv := scaleGrad(c, g, 3)
			if c.Needs(1) {
				r[1] = gv.Div(t2.Conj())
			}
			if c.Needs(2) {
				num := c.T(1)
				if !isOne(c.Value(3)) {
					num = num.MulScalar(c.Num(3)) // before the division: an infinite quotient times 0 would be NaN
				}
				r[2] = g.Neg().Mul(num.Div(t2.Mul(t2)).Conj())
			}
			return r
		},
	})
}

// tern runs a kernel on the arguments 0, 1 and 2.
func tern[E any](c *Ctx, as DType, k func(d, a, b, e []E)) {
	run3(c.Out(0), c.T(0), c.T(1), c.T(2), as, as, as, as, k)
}

// tern16 runs the kernel of a 16-bit type, if all operands are of one; it reports whether it did.
func tern16(c *Ctx, k [2]func(d, a, b, e []uint16)) bool {
	dt := c.Out(0).DType()
	i := half16(dt, c.Out(0), c.T(0), c.T(1), c.T(2))
	if i >= 0 {
		tern(c, dt, k[i])
	}
	return i >= 0
}

// cxxName is a dtype as C++ messages print it.
func cxxName(dt DType) string {
	switch dt {
	case tensor.Complex64:
		return "c10::complex<float>"
	case tensor.Complex128:
		return "c10::complex<double>"
	}
	switch n := dt.Name(); n {
	case "float32":
		return "float"
	case "float64":
		return "double"
	case "int64":
		return "long int"
	case "int32":
		return "int"
	case "float16":
		return "c10::Half"
	case "bfloat16":
		return "c10::BFloat16"
	default:
		return n
	}
}

func lerpC[E complex64 | complex128](d, a, b, w []E) {
	for i := range d {
		x, y, t := a[i], b[i], w[i]
		if z := complex128(t); real(z)*real(z)+imag(z)*imag(z) < 0.25 {
			d[i] = x + t*(y-x)
		} else {
			d[i] = y - (y-x)*(1-t)
		}
	}
}

// addcmulI is addcmulK for integers.
func addcmulI[E integer](v E) func(d, a, b, c []E) {
	return func(d, a, b, c []E) {
		run := runs.Get().(*run4K)
		defer runs.Put(run)
		r := elements[E](run)
		buf, value := r[:len(r)/2], r[len(r)/2:]
		if v != 1 {
			for i := range value[:min(len(value), len(d))] {
				value[i] = v
			}
		}
		for len(d) > 0 {
			n := min(len(d), len(buf))
			vec.MulInt(buf[:n], b[:n], c[:n])
			if v != 1 {
				vec.MulInt(buf[:n], buf[:n], value[:n])
			}
			vec.AddInt(d[:n], a[:n], buf[:n])
			d, a, b, c = d[n:], a[n:], b[n:], c[n:]
		}
	}
}

// addcC is a + (v*b) op c, op being mul or div; v is a factor even when it is 1, as in PyTorch: 1 times an infinite
// number has a NaN part.
func addcC[E float, C complex64 | complex128](v C, mul, op func(d, a, b []C), add func(d, a, b []E)) func(d, a, b,
	c []C) {
	return func(d, a, b, c []C) {
		run := runs.Get().(*run4K)
		defer runs.Put(run)
		size := int(unsafe.Sizeof(v))
		n := len(run) * 8 / size / 2
		buf, factor := slice[C](unsafe.Pointer(run), n), slice[C](unsafe.Pointer(&run[len(run)/2]), n)
		iter.Fill(unsafe.Pointer(&factor[0]), unsafe.Pointer(&v), min(n, len(d)), size)
		for lo := 0; lo < len(d); lo += n {
			hi := min(lo+n, len(d))
			p := buf[:hi-lo]
			mul(p, factor[:len(p)], b[lo:hi])
			op(p, p, c[lo:hi])
			add(pairs[E](d, lo, hi), pairs[E](a, lo, hi), pairs[E](p, 0, len(p)))
		}
	}
}
