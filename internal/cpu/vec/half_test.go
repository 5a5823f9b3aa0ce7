package vec

import "testing"

// halfFormats are the two 16-bit formats: conversions of a run, and whether bits are a NaN.
var halfFormats = [2]struct {
	name   string
	widen  func(dst []float32, a []uint16)
	narrow func(dst []uint16, a []float32)
	inf    uint16
}{
	{"float16", F16ToF32s, F32ToF16s, 0x7c00},
	{"bfloat16", BF16ToF32s, F32ToBF16s, 0x7f80},
}

// same16 compares bits; NaN may have any payload.
func same16(x, y, inf uint16) bool { return x == y || x&0x7fff > inf && y&0x7fff > inf }

// TestHalfKernels compares every kernel on 16-bit floats with its steps: widening, the kernel on float32, and rounding.
// The operands run over all 65536 bit patterns.
func TestHalfKernels(t *testing.T) {
	const n = 1 << 16
	a, b, d, want := make([]uint16, n), make([]uint16, n), make([]uint16, n), make([]uint16, n)
	for i := range a {
		a[i], b[i] = uint16(i), uint16(i*40503+7)
	}
	fa, fb, fd := make([]float32, n), make([]float32, n), make([]float32, n)
	eachPath(t, func(t *testing.T) {
		for f, format := range halfFormats {
			format.widen(fa, a)
			format.widen(fb, b)
			check := func(name string) {
				t.Helper()
				format.narrow(want, fd)
				for i := range d {
					if !same16(d[i], want[i], format.inf) {
						t.Fatalf("%s of %s %#x and %#x: got %#x, want %#x", name, format.name, a[i], b[i], d[i],
							want[i])
					}
				}
			}
			for name, k := range map[string]struct {
				half Unary16
				full func(dst, a []float32)
			}{
				"abs": {Abs16, AbsF32}, "neg": {Neg16, NegF32}, "relu": {ReLU16, ReLUF32}, "sqrt": {Sqrt16, SqrtF32},
				"rsqrt":      {Rsqrt16, RsqrtF32},
				"reciprocal": {Reciprocal16, ReciprocalF32}, "square": {Square16, SquareF32}, "exp": {Exp16, ExpF32},
				"log":  {Log16, LogF32},
				"tanh": {Tanh16, TanhF32}, "sigmoid": {Sigmoid16, SigmoidF32}, "erf": {Erf16, ErfF32},
				"gelu":      {GELU16, GELUF32},
				"gelu tanh": {GELUTanh16, GELUTanhF32}, "silu": {SiLU16, SiLUF32}, "mish": {Mish16, MishF32},
				"hardsigmoid": {Hardsigmoid16, HardsigmoidF32}, "hardswish": {Hardswish16, HardswishF32},
			} {
				k.half[f](d, a)
				k.full(fd, fa)
				check(name)
			}
			for name, k := range map[string]struct {
				half Binary16
				full func(dst, a, b []float32)
			}{
				"add": {Add16, AddF32}, "sub": {Sub16, SubF32}, "mul": {Mul16, MulF32}, "div": {Div16, DivF32},
				"maximum": {Maximum16, MaximumF32},
				"minimum": {Minimum16, MinimumF32}, "tanh backward": {TanhBackward16, TanhBackwardF32},
				"sigmoid backward":   {SigmoidBackward16, SigmoidBackwardF32},
				"gelu backward":      {GELUBackward16, GELUBackwardF32},
				"gelu tanh backward": {GELUTanhBackward16, GELUTanhBackwardF32},
				"silu backward":      {SiLUBackward16, SiLUBackwardF32},
			} {
				k.half[f](d, a, b)
				k.full(fd, fa, fb)
				check(name)
			}
			for name, k := range map[string]struct {
				half Scalar16
				full func(dst, a []float32, s float32)
			}{
				"add number": {AddScalar16, AddScalarF32}, "sub number": {SubScalar16, SubScalarF32},
				"number sub": {RSubScalar16, RSubScalarF32},
				"mul number": {MulScalar16, MulScalarF32}, "div number": {DivScalar16, DivScalarF32},
				"number div": {RDivScalar16, RDivScalarF32},
			} {
				k.half[f](d, a, 1.7)
				k.full(fd, fa, 1.7)
				check(name)
			}
		}
	})
}

// TestHalfSums compares sums of 16-bit floats with those of the widened values, which have the same bits.
func TestHalfSums(t *testing.T) {
	eachPath(t, func(t *testing.T) {
		for _, n := range []int{0, 1, 7, 8, 9, 31, 33, 70, 4096, 4097, 40000} {
			x := random32(n, int64(n))
			h := make([]uint16, n)
			for f, format := range halfFormats {
				format.narrow(h, x)
				w := make([]float32, n)
				format.widen(w, h)
				if got, want := [2]func([]uint16) float32{SumF16, SumBF16}[f](h), SumF32(w); got != want {
					t.Errorf("sum of %d %s: got %v, want %v", n, format.name, got, want)
				}
			}
		}
	})
}
