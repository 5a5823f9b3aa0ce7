package pointwise

import "github.com/gotorch-dev/torch/tensor"

type number interface {
	~uint8 | ~int8 | ~int16 | ~int32 | ~int64 | ~float32 | ~float64 | ~complex64 | ~complex128
}

func mulK[E number](d, a, b []E) {
	a, b = a[:len(d)], b[:len(d)]
	for i := range d {
		d[i] = a[i] * b[i]
	}
}

// arith is a kernel per compute type.
type arith struct {
	u8         func(d, a, b []uint8)
	i8         func(d, a, b []int8)
	i16        func(d, a, b []int16)
	i32        func(d, a, b []int32)
	i64        func(d, a, b []int64)
	f32        func(d, a, b []float32)
	f64        func(d, a, b []float64)
	c64        func(d, a, b []complex64)
	c128       func(d, a, b []complex128)
	boolKernel func(d, a, b []uint8)
}

func (k *arith) run(c *Ctx, out, a, b *T, dt tensor.DType) {
	switch dt.Compute() {
	case tensor.Float32:
		binaryRun(out, a, b, tensor.Float32, tensor.Float32, k.f32)
	case tensor.Float64:
		binaryRun(out, a, b, dt, dt, k.f64)
	case tensor.Int64:
		binaryRun(out, a, b, dt, dt, k.i64)
	case tensor.Int32:
		binaryRun(out, a, b, dt, dt, k.i32)
	case tensor.Int16:
		binaryRun(out, a, b, dt, dt, k.i16)
	case tensor.Int8:
		binaryRun(out, a, b, dt, dt, k.i8)
	case tensor.Uint8:
		binaryRun(out, a, b, dt, dt, k.u8)
	case tensor.Bool:
		binaryRun(out, a, b, dt, dt, k.boolKernel)
	case tensor.Complex64:
		binaryRun(out, a, b, dt, dt, k.c64)
	case tensor.Complex128:
		binaryRun(out, a, b, dt, dt, k.c128)
	}
}

var mulKernels = arith{mulK[uint8], mulK[int8], mulK[int16], mulK[int32], mulK[int64], mulK[float32], mulK[float64], mulK[complex64], mulK[complex128],
	func(d, a, b []uint8) {
		for i := range d {
			d[i] = a[i] & b[i]
		}
	}}

// binaryInfer allocates the result of the first two arguments' common shape and dtype.
func binaryInfer(c *Ctx) { c.Alloc(0, c.BroadcastArgs(0, 1), c.PromoteArgs(0, 1)) }

func init() {
	tensor.Register(tensor.Def{
		Schema: "mul.Tensor(Tensor self, Tensor other) -> Tensor",
		Doc: "multiplies element by element, broadcasting and promoting dtypes.\n" +
			"https://pytorch.org/docs/stable/generated/torch.mul.html",
		Aliases: []string{"multiply"},
		InPlace: true, Out: true, Scalar: "other", Elementwise: true,
		Infer: binaryInfer,
		CPU:   func(c *Ctx) { mulKernels.run(c, c.Out(0), c.T(0), c.T(1), c.Out(0).DType()) },
		Save:  "self other",
		VJP: func(c *Ctx, g *T) []*T {
			r := make([]*T, 2)
			if c.Needs(0) {
				r[0] = g.Mul(c.T(1).Conj())
			}
			if c.Needs(1) {
				r[1] = g.Mul(c.T(0).Conj())
			}
			return r
		},
	})
	tensor.Register(tensor.Def{
		Schema: "conj(Tensor(a) self) -> Tensor(a)",
		Doc:    "is the complex conjugate; real tensors are returned as they are.",
		Body:   func(c *Ctx) { c.Return(c.T(0)) },
	})
}
