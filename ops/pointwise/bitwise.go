package pointwise

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	// bits
	bitwise("bitwise_and.Tensor(Tensor self, Tensor other) -> Tensor",
		"combines the bits of integers, or bools, by and.",
		&biK{name: "bitwise_and", u8: andI[uint8], i8: andI[int8], i16: andI[int16], i32: andI[int32], i64: andI[int64],
			b: vec.AndU8, num: vec.AndNumber})
	bitwise("bitwise_or.Tensor(Tensor self, Tensor other) -> Tensor", "combines the bits of integers, or bools, by or.",
		&biK{name: "bitwise_or", u8: orI[uint8], i8: orI[int8], i16: orI[int16], i32: orI[int32], i64: orI[int64],
			b: vec.OrU8, num: vec.OrNumber})
	bitwise("bitwise_xor.Tensor(Tensor self, Tensor other) -> Tensor",
		"combines the bits of integers, or bools, by exclusive or.",
		&biK{name: "bitwise_xor", u8: xorI[uint8], i8: xorI[int8], i16: xorI[int16], i32: xorI[int32], i64: xorI[int64],
			b: vec.XorU8, num: vec.XorNumber})
	shift("bitwise_left_shift.Tensor(Tensor self, Tensor other) -> Tensor",
		"shifts the bits of integers to the left; 0 where the distance is negative or the width of the type or more.",
		&biK{name: "lshift", u8: vec.ShlInt[uint8], i8: vec.ShlInt[int8], i16: vec.ShlInt[int16],
			i32: vec.ShlInt[int32], i64: vec.ShlInt[int64], num: vec.ShlNumber})
	shift("bitwise_right_shift.Tensor(Tensor self, Tensor other) -> Tensor",
		"shifts the bits of integers to the right, keeping the sign.",
		&biK{name: "rshift", u8: vec.ShrInt[uint8], i8: vec.ShrInt[int8], i16: vec.ShrInt[int16],
			i32: vec.ShrInt[int32], i64: vec.ShrInt[int64], num: vec.ShrNumber})
	for _, n := range []string{"and", "or", "xor"} {
		numberForm("bitwise_"+n+".Scalar_Tensor(Scalar self, Tensor other) -> Tensor", "bitwise_"+n+".Tensor", false)
		operatorNames(n, "bitwise_"+n, ".Tensor", ".Scalar")
	}
	for _, n := range []string{"left", "right"} {
		op := "bitwise_" + n + "_shift"
		numberForm(op+".Scalar_Tensor(Scalar self, Tensor other) -> Tensor", op+".Tensor", false)
		operatorNames(n[:1]+"shift", op, ".Tensor", ".Tensor_Scalar")
	}
	// operators with the tensor on the right
	for _, f := range [][2]string{{"add", "add.Tensor"}, {"mul", "mul.Tensor"}, {"and", "bitwise_and.Tensor"},
		{"or", "bitwise_or.Tensor"}, {"xor", "bitwise_xor.Tensor"}} {
		op := tensor.Slot("aten::" + f[1])
		body := func(c *Ctx) {
			args := []tensor.Value{c.Value(0), c.Value(1), tensor.IntValue(1)}
			c.Return(call(op, args[:len(op.Sch.Params)]...))
		}
		tensor.Register(tensor.Def{Schema: fmt.Sprintf("Tensor::__r%s__.Tensor(Tensor self, Tensor other) -> Tensor",
			f[0]), Go: "-", Body: body, Scalar: "other"})
	}
	reversed := func(name string, f func(self, other *T) *T) {
		tensor.Register(tensor.Def{Schema: fmt.Sprintf("Tensor::__r%s__.Tensor(Tensor self, Tensor other) -> Tensor",
			name), Go: "-", Scalar: "other",
			Body: func(c *Ctx) { c.Return(f(c.T(0), c.T(1))) }})
	}
	reversed("div", func(a, b *T) *T { return a.Reciprocal().Mul(b) })
	reversed("truediv", func(a, b *T) *T { return a.Reciprocal().Mul(b) })
	reversed("pow", func(a, b *T) *T { return b.Pow(a) })
	reversed("mod", func(a, b *T) *T { return b.Remainder(a) })
	reversed("floordiv", func(a, b *T) *T { return b.FloorDivide(a) })

	binary("gcd(Tensor self, Tensor other) -> Tensor", "is the greatest common divisor of integers.",
		&biK{name: "gcd", u8: gcdI[uint8], i8: gcdI[int8], i16: gcdI[int16], i32: gcdI[int32], i64: gcdI[int64]},
		binaryInfer, tensor.Def{NoGrad: "integer result"})
	binary("lcm(Tensor self, Tensor other) -> Tensor", "is the least common multiple of integers.",
		&biK{name: "lcm", u8: lcmI[uint8], i8: lcmI[int8], i16: lcmI[int16], i32: lcmI[int32], i64: lcmI[int64]},
		binaryInfer, tensor.Def{NoGrad: "integer result"})
}

// bitwise and shift register integer operators.
//
//gen:bitwise InPlace Out Scalar=other
func bitwise(schema, doc string, k *biK) {
	tensor.Register(tensor.Def{Schema: schema, Doc: doc, InPlace: true, Out: true, Scalar: "other",
		FormNames: ".out=.Tensor_out", Elementwise: true, Infer: binaryInfer,
		CPU: func(c *Ctx) { k.run(c, 0, 1) }, NoGrad: "integer result"})
}

//gen:shift InPlace Out Scalar=other
func shift(schema, doc string, k *biK) {
	tensor.Register(tensor.Def{Schema: schema, Doc: doc, InPlace: true, Out: true, Scalar: "other",
		FormNames:   ".out=.Tensor_out .Scalar=.Tensor_Scalar _.Scalar=_.Tensor_Scalar .Scalar_out=.Tensor_Scalar_out",
		Elementwise: true, Infer: binaryInfer,
		CPU: func(c *Ctx) { k.run(c, 0, 1) }, NoGrad: "integer result"})
}

// operatorNames registers __and__ and __iand__ for bitwise_and, and their like.
func operatorNames(py, name, tensorForm, numForm string) {
	for _, f := range []struct{ overload, typ, target string }{{"Tensor", "Tensor", name + tensorForm},
		{"Scalar", "Scalar", name + numForm}} {
		op, in := tensor.Slot("aten::"+f.target), tensor.Slot("aten::"+name+"_."+f.target[len(name)+1:])
		tensor.Register(tensor.Def{Schema: fmt.Sprintf("__%s__.%s(Tensor self, %s other) -> Tensor", py, f.overload,
			f.typ), Go: "-",
			Body: func(c *Ctx) { c.Return(call(op, c.Value(0), c.Value(1))) }})
		tensor.Register(tensor.Def{Schema: fmt.Sprintf("__i%s__.%s(Tensor(a!) self, %s other) -> Tensor(a!)", py,
			f.overload, f.typ), Go: "-",
			Body: func(c *Ctx) { c.Return(call(in, c.Value(0), c.Value(1))) }})
	}
}

// width is the number of bits of an integer type.
func width[E integer]() E {
	var n E
	for x := E(1); x != 0; x <<= 1 {
		n++
	}
	return n
}

func gcdI[E integer](d, a, b []E) {
	for i := range d {
		d[i] = gcd(a[i], b[i])
	}
}

func gcd[E integer](x, y E) E {
	if x < 0 {
		x = -x
	}
	if y < 0 {
		y = -y
	}
	if x|y >= 0 && uint64(x|y) <= math.MaxUint32 { // division is fastest of words without a sign
		a, b := uint32(x), uint32(y)
		for a != 0 {
			a, b = b%a, a
		}
		return E(b)
	}
	for x != 0 {
		x, y = y%x, x
	}
	return y
}

// lcmI multiplies numbers of 8 and 16 bits as int32 and cuts the magnitude, as PyTorch does, where it does not fit the
// type.
func lcmI[E integer](d, a, b []E) {
	for i := range d {
		g := gcd(a[i], b[i])
		if g == 0 {
			d[i] = 0
			continue
		}
		x := int64(a[i]/g) * int64(b[i])
		if unsafe.Sizeof(g) < 8 {
			x = int64(int32(x))
		}
		d[i] = E(max(x, -x))
	}
}
