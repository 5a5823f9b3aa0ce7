package pointwise

import (
	"math"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/iter"
	"github.com/gotorch-dev/torch/tensor"
)

func eqK[E comparable](d []uint8, a, b []E) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = b2u(a[i] == b[i])
	}
}

func neK[E comparable](d []uint8, a, b []E) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = b2u(a[i] != b[i])
	}
}

// logicalK runs an operation of bools on the truth of numbers.
func logicalK[E any](truth func(d []uint8, a []E), k func(d, a, b []uint8)) func(d []uint8, a, b []E) {
	return func(d []uint8, a, b []E) {
		run := runs.Get().(*run4K)
		defer runs.Put(run)
		buf := elements[uint8](run)
		for len(d) > 0 {
			n := min(len(d), len(buf))
			truth(d[:n], a[:n])
			truth(buf[:n], b[:n])
			k(d[:n], d[:n], buf[:n])
			d, a, b = d[n:], a[n:], b[n:]
		}
	}
}

func logicalKernels(name string, k func(d, a, b []uint8)) cmpK {
	return cmpK{name: name, u8: k, i8: func(d []uint8, a, b []int8) { k(d, bytesOf(a), bytesOf(b)) },
		i16: logicalK(vec.NonzeroInt[int16], k), i32: logicalK(vec.NonzeroInt[int32], k),
		i64: logicalK(vec.NonzeroInt[int64], k),
		f32: logicalK(func(d []uint8, a []float32) { vec.NeScalarF32(d, a, 0) }, k),
		f64: logicalK(func(d []uint8, a []float64) { vec.NeScalarF64(d, a, 0) }, k),
		c64: logicalK(nonzeroC[complex64], k), c128: logicalK(nonzeroC[complex128], k)}
}

func nonzeroC[E complex64 | complex128](d []uint8, a []E) {
	for i, x := range a[:len(d)] {
		d[i] = b2u(x != 0)
	}
}

var (
	eqKernels = cmpK{name: "eq", num: vec.EqNumber, u8: vec.EqU8, i8: vec.EqInt[int8], i16: vec.EqInt[int16],
		i32: vec.EqInt[int32], i64: vec.EqInt[int64], f32: vec.EqF32, f64: vec.EqF64, c64: eqK[complex64],
		c128: eqK[complex128], f32s: vec.EqScalarF32, f64s: vec.EqScalarF64}
	neKernels = cmpK{name: "ne", num: vec.NeNumber, u8: vec.NeU8, i8: vec.NeInt[int8], i16: vec.NeInt[int16],
		i32: vec.NeInt[int32], i64: vec.NeInt[int64], f32: vec.NeF32, f64: vec.NeF64, c64: neK[complex64],
		c128: neK[complex128], f32s: vec.NeScalarF32, f64s: vec.NeScalarF64}
	ltKernels = cmpK{name: "lt", num: vec.LtNumber, u8: vec.LtInt[uint8], i8: vec.LtInt[int8],
		i16: vec.LtInt[int16], i32: vec.LtInt[int32], i64: vec.LtInt[int64], f32: vec.LtF32, f64: vec.LtF64,
		f32s: vec.LtScalarF32, f64s: vec.LtScalarF64}
	leKernels = cmpK{name: "le", num: vec.LeNumber, u8: vec.LeInt[uint8], i8: vec.LeInt[int8],
		i16: vec.LeInt[int16], i32: vec.LeInt[int32], i64: vec.LeInt[int64], f32: vec.LeF32, f64: vec.LeF64,
		f32s: vec.LeScalarF32, f64s: vec.LeScalarF64}
	gtKernels = cmpK{name: "gt", num: vec.GtNumber, u8: vec.GtInt[uint8], i8: vec.GtInt[int8],
		i16: vec.GtInt[int16], i32: vec.GtInt[int32], i64: vec.GtInt[int64], f32: vec.GtF32, f64: vec.GtF64,
		f32s: vec.GtScalarF32, f64s: vec.GtScalarF64}
	geKernels = cmpK{name: "ge", num: vec.GeNumber, u8: vec.GeInt[uint8], i8: vec.GeInt[int8],
		i16: vec.GeInt[int16], i32: vec.GeInt[int32], i64: vec.GeInt[int64], f32: vec.GeF32, f64: vec.GeF64,
		f32s: vec.GeScalarF32, f64s: vec.GeScalarF64}
	logicalAndKernels = logicalKernels("logical_and", vec.LogicalAndU8)
	logicalOrKernels  = logicalKernels("logical_or", vec.LogicalOrU8)
	logicalXorKernels = logicalKernels("logical_xor", vec.LogicalXorU8)
)

// compare registers a comparison with its number form.
//
//gen:compare InPlace Out Scalar=other
func compare(schema, doc string, k *cmpK, x tensor.Def) {
	x.Schema, x.Doc, x.InPlace, x.Out, x.Scalar, x.FormNames, x.Elementwise = schema, doc, true, true, "other",
		".out=.Tensor_out", true
	x.Infer = boolInfer
	x.CPU = func(c *Ctx) { k.run(c, c.PromoteArgs(0, 1)) }
	x.NoGrad = "bool result"
	tensor.Register(x)
}

// logical registers a logical operator, which has no number form.
//
//gen:logical InPlace Out
func logical(schema, doc string, k *cmpK) {
	tensor.Register(tensor.Def{Schema: schema, Doc: doc, InPlace: true, Out: true, Elementwise: true, Infer: boolInfer,
		CPU: func(c *Ctx) { k.run(c, c.PromoteArgs(0, 1)) }, NoGrad: "bool result"})
}

func boolInfer(c *Ctx) {
	if c.ArgDType(0).IsStorage() || c.ArgDType(1).IsStorage() {
		c.PromoteArgs(0, 1) // which may be refused
	}
	c.Alloc(0, c.BroadcastArgs(0, 1), tensor.Bool)
}

// predicate registers a test of each element.
//
//gen:predicate
func predicate(schema, doc string, k *predK, x tensor.Def) {
	x.Schema, x.Doc, x.Elementwise = schema, doc, true
	x.Infer = func(c *Ctx) { c.Alloc(0, c.Shape(0), tensor.Bool) }
	x.CPU = k.run
	x.NoGrad = "bool result"
	tensor.Register(x)
}

func noneK[E any](d []uint8, a []E) { clear(d) }

func allK[E any](d []uint8, a []E) {
	if one := uint8(1); len(d) > 0 {
		iter.Fill(unsafe.Pointer(&d[0]), unsafe.Pointer(&one), len(d), 1)
	}
}

func isNaNK[E complex64 | complex128](d []uint8, a []E) {
	for i, x := range a[:len(d)] {
		z := complex128(x)
		d[i] = b2u(math.IsNaN(real(z)) || math.IsNaN(imag(z)))
	}
}

// ofAbs makes a test of magnitudes from a comparison with a number.
func ofAbs[E float](abs func(d, a []E), compare func(d []uint8, a []E, s E), s float64) func(d []uint8, a []E) {
	return func(d []uint8, a []E) {
		run := runs.Get().(*run4K)
		defer runs.Put(run)
		x := elements[E](run)
		for len(d) > 0 {
			n := min(len(d), len(x))
			abs(x[:n], a[:n])
			compare(d[:n], x[:n], E(s))
			d, a = d[n:], a[n:]
		}
	}
}

func infinite(x complex128) bool { return math.IsInf(real(x), 0) || math.IsInf(imag(x), 0) }

func finite(x complex128) bool { return real(x)-real(x) == 0 && imag(x)-imag(x) == 0 }

func isInfC[E complex64 | complex128](d []uint8, a []E) {
	for i, x := range a[:len(d)] {
		d[i] = b2u(infinite(complex128(x)))
	}
}

func isFiniteC[E complex64 | complex128](d []uint8, a []E) {
	for i, x := range a[:len(d)] {
		d[i] = b2u(finite(complex128(x)))
	}
}

func isRealC[E complex64 | complex128](d []uint8, a []E) {
	for i, x := range a[:len(d)] {
		d[i] = b2u(imag(complex128(x)) == 0)
	}
}

func logicalNotK[E complex64 | complex128](d []uint8, a []E) {
	for i, x := range a[:len(d)] {
		d[i] = b2u(x == 0)
	}
}

func signbitI[E integer](d []uint8, a []E) { against(d, a, elements[E](&zeroRun), vec.LtInt[E]) }

// The sign bit of a float, of -0 and NaN as well, is that of an integer.

func signbit32(d []uint8, a []float32) {
	signbitI(d, slice[int32](unsafe.Pointer(unsafe.SliceData(a)), len(a)))
}

func signbit64(d []uint8, a []float64) {
	signbitI(d, slice[int64](unsafe.Pointer(unsafe.SliceData(a)), len(a)))
}

func init() {
	compare("eq.Tensor(Tensor self, Tensor other) -> Tensor",
		"is true where the elements are equal; NaN equals nothing.", &eqKernels, tensor.Def{})
	compare("ne.Tensor(Tensor self, Tensor other) -> Tensor",
		"is true where the elements differ; NaN differs from everything.", &neKernels,
		tensor.Def{Aliases: []string{"not_equal"}})
	compare("lt.Tensor(Tensor self, Tensor other) -> Tensor",
		"is true where self < other. Complex numbers are refused.", &ltKernels, tensor.Def{Aliases: []string{"less"}})
	compare("le.Tensor(Tensor self, Tensor other) -> Tensor",
		"is true where self <= other. Complex numbers are refused.", &leKernels,
		tensor.Def{Aliases: []string{"less_equal"}})
	compare("gt.Tensor(Tensor self, Tensor other) -> Tensor",
		"is true where self > other. Complex numbers are refused.", &gtKernels,
		tensor.Def{Aliases: []string{"greater"}})
	compare("ge.Tensor(Tensor self, Tensor other) -> Tensor",
		"is true where self >= other. Complex numbers are refused.", &geKernels,
		tensor.Def{Aliases: []string{"greater_equal"}})
	logical("logical_and(Tensor self, Tensor other) -> Tensor", "is true where both elements are not zero.",
		&logicalAndKernels)
	logical("logical_or(Tensor self, Tensor other) -> Tensor", "is true where one of the elements is not zero.",
		&logicalOrKernels)
	logical("logical_xor(Tensor self, Tensor other) -> Tensor",
		"is true where exactly one of the elements is not zero.", &logicalXorKernels)

	notKernels := &predK{name: "logical_not", u8: logicalNotI[uint8], i8: logicalNotI[int8], i16: logicalNotI[int16],
		i32: logicalNotI[int32], i64: logicalNotI[int64],
		f32: func(d []uint8, a []float32) { vec.EqScalarF32(d, a, 0) },
		f64: func(d []uint8, a []float64) { vec.EqScalarF64(d, a, 0) }, c64: logicalNotK[complex64],
		c128: logicalNotK[complex128]}
	tensor.Register(tensor.Def{
		Schema: "logical_not(Tensor self) -> Tensor", Doc: "is true where the element is zero.",
		InPlace: true, Out: true, Elementwise: true,
		Infer: func(c *Ctx) { c.Alloc(0, c.Shape(0), tensor.Bool) }, CPU: notKernels.run, NoGrad: "bool result",
	})
	predicate("isnan(Tensor self) -> Tensor", "is true where the element is not a number.",
		&predK{name: "isnan", u8: noneK[uint8], i8: noneK[int8], i16: noneK[int16], i32: noneK[int32],
			i64: noneK[int64], f32: func(d []uint8, a []float32) { vec.NeF32(d, a, a) },
			f64: func(d []uint8, a []float64) { vec.NeF64(d, a, a) }, c64: isNaNK[complex64], c128: isNaNK[complex128]},
		tensor.Def{})
	predicate("isinf(Tensor self) -> Tensor", "is true where the element, or a part of it, is infinite.",
		&predK{name: "isinf", u8: noneK[uint8], i8: noneK[int8], i16: noneK[int16], i32: noneK[int32],
			i64: noneK[int64], f32: ofAbs(vec.AbsF32, vec.EqScalarF32, math.Inf(1)),
			f64: ofAbs(vec.AbsF64, vec.EqScalarF64, math.Inf(1)), c64: isInfC[complex64], c128: isInfC[complex128]},
		tensor.Def{})
	predicate("isfinite(Tensor self) -> Tensor", "is true where the element is neither infinite nor NaN.",
		&predK{name: "isfinite", u8: allK[uint8], i8: allK[int8], i16: allK[int16], i32: allK[int32], i64: allK[int64],
			f32: ofAbs(vec.AbsF32, vec.LtScalarF32, math.Inf(1)), f64: ofAbs(vec.AbsF64, vec.LtScalarF64, math.Inf(1)),
			c64: isFiniteC[complex64], c128: isFiniteC[complex128]}, tensor.Def{})
	predicate("isreal(Tensor self) -> Tensor", "is true where the imaginary part is zero.",
		&predK{name: "isreal", u8: allK[uint8], i8: allK[int8], i16: allK[int16], i32: allK[int32], i64: allK[int64],
			f32: allK[float32], f64: allK[float64], c64: isRealC[complex64], c128: isRealC[complex128]}, tensor.Def{})
	predicateOut("isposinf(Tensor self) -> Tensor",
		"is true where the element is plus infinity. Complex numbers are refused.",
		&predK{name: "isposinf", u8: noneK[uint8], i8: noneK[int8], i16: noneK[int16], i32: noneK[int32],
			i64: noneK[int64], f32: func(d []uint8, a []float32) { vec.EqScalarF32(d, a, float32(math.Inf(1))) },
			f64: func(d []uint8, a []float64) { vec.EqScalarF64(d, a, math.Inf(1)) }},
		"isposinf does not support complex inputs.")
	predicateOut("isneginf(Tensor self) -> Tensor",
		"is true where the element is minus infinity. Complex numbers are refused.",
		&predK{name: "isneginf", u8: noneK[uint8], i8: noneK[int8], i16: noneK[int16], i32: noneK[int32],
			i64: noneK[int64], f32: func(d []uint8, a []float32) { vec.EqScalarF32(d, a, float32(math.Inf(-1))) },
			f64: func(d []uint8, a []float64) { vec.EqScalarF64(d, a, math.Inf(-1)) }},
		"isneginf does not support complex inputs.")
	predicateOut("signbit(Tensor self) -> Tensor",
		"is true where the element has its sign bit set: negative numbers and -0.",
		&predK{name: "signbit", u8: noneK[uint8], i8: signbitI[int8], i16: signbitI[int16], i32: signbitI[int32],
			i64: signbitI[int64], f32: signbit32, f64: signbit64},
		"signbit is not implemented for complex tensors.")
}

// predicateOut registers a test of real numbers that can write to a given tensor.
//
//gen:predicateOut Out
func predicateOut(schema, doc string, k *predK, refuse string) {
	tensor.Register(tensor.Def{Schema: schema, Doc: doc, Out: true, Elementwise: true,
		Infer: func(c *Ctx) {
			if c.ArgDType(0).IsComplex() {
				c.Fail(tensor.ErrDType, "%s", refuse)
			}
			c.Alloc(0, c.Shape(0), tensor.Bool)
		},
		CPU: k.run, NoGrad: "bool result"})
}
