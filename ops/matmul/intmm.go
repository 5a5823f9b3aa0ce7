package matmul

import (
	"github.com/gotorch-dev/torch/internal/cpu/gemm"
	"github.com/gotorch-dev/torch/internal/samples"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	tensor.Register(tensor.Def{
		Schema: "_int_mm(Tensor self, Tensor mat2) -> Tensor",
		Go:     "IntMM",
		Doc: "multiplies two matrices of bytes, [m, k] of int8 or uint8 and [k, n] of int8, into int32, exactly: the " +
			"product inside quantized layers. " +
			"mm of the same tensors gives int8, which wraps around.",
		Out: true, NoGrad: "integer result",
		Infer: intMMInfer,
		CPU: func(c *Ctx) {
			a, b, o := c.T(0), c.T(1), c.Out(0)
			if o.Numel() == 0 {
				return
			}
			x, y := last2(a), last2(b)
			if a.DType() == tensor.Uint8 {
				intMM(x, y, memory[uint8](a), o)
			} else {
				intMM(x, y, memory[int8](a), o)
			}
		},
	})
	tensor.RegisterSamples("aten::_int_mm", func(s *tensor.Sampler) {
		bytes := func(shape string, dt tensor.DType) *T {
			t, _ := samples.Tensor(shape, 0)
			return t.MulScalar(60).To(dt)
		}
		for _, d := range []tensor.DType{tensor.Int8, tensor.Uint8} {
			for _, sh := range [][2]string{{"3x4", "4x5"}, {"17x33", "33x19"}, {"0x4", "4x3"}, {"3x0", "0x2"}} {
				a := bytes(sh[0], tensor.Int8)
				if d == tensor.Uint8 {
					a = a.To(d)
				}
				call := s.Add(a, bytes(sh[1], tensor.Int8))
				call.NoGrad, call.FixedOut = true, true
			}
		}
	})
}

func intMM[A int8 | uint8](a, b matrix, x []A, out *T) {
	m, n, k := a.t.Size(0), b.t.Size(1), a.t.Size(1)
	gemm.GEMMInt8(nil, m, n, k, x, a.rs, a.cs, memory[int8](b.t), b.rs, b.cs, false, memory[int32](out), n, 1)
}

// intMMInfer refuses in PyTorch's order and words; a given out must fit, it is never resized.
func intMMInfer(c *Ctx) {
	a, b := c.T(0), c.T(1)
	size := func(t *T, d int) int {
		switch {
		case t.Dim() == 0:
			c.Fail(tensor.ErrIndex, "Dimension specified as %d but tensor has no dimensions", d)
		case t.Dim() <= d:
			c.Fail(tensor.ErrIndex, "Dimension out of range (expected to be in range of [-%d, %d], but got %d)",
				t.Dim(), t.Dim()-1, d)
		}
		return t.Size(d)
	}
	const cpu = "int_mm_out_cpu: Expected "
	g := c.GivenOut(0)
	if g == nil {
		size(a, 0)
		size(b, 1)
	}
	for _, x := range []struct {
		name string
		t    *T
	}{{"self", a}, {"mat2", b}} {
		if x.t.Dim() != 2 {
			c.Fail(tensor.ErrShape, "_int_mm: %s must be a matrix, got %d-D tensor", x.name, x.t.Dim())
		}
	}
	if a.Size(1) != b.Size(0) {
		c.Fail(tensor.ErrShape, "_int_mm: mat1 and mat2 shapes cannot be multiplied (%s and %s)", dims(a.Shape()),
			dims(b.Shape()))
	}
	if a.DType() != tensor.Int8 && a.DType() != tensor.Uint8 {
		c.Fail(tensor.ErrDType, cpu+"self dtype to be int8 or uint8 but got %s", cTypeName(a.DType()))
	}
	if b.DType() != tensor.Int8 {
		c.Fail(tensor.ErrDType, cpu+"mat2 dtype to be of type int8 but got %s", cTypeName(b.DType()))
	}
	sh := []int{a.Size(0), b.Size(1)}
	if g != nil {
		if g.DType() != tensor.Int32 {
			c.Fail(tensor.ErrDType, cpu+"result dtype to be of type kInt but got %s", cTypeName(g.DType()))
		}
		for d, want := range sh {
			if got := size(g, d); got != want {
				c.Fail(tensor.ErrShape, cpu+"result.size(%d) to be %d but got %d", d, want, got)
			}
		}
		if g.Dim() != 2 {
			c.Fail(tensor.ErrShape, cpu+"result to be of dimension 2 but got %d", g.Dim())
		}
		if !g.IsContiguous() {
			c.Fail(tensor.ErrValue, cpu+"result to be contiguous.")
		}
	}
	c.Alloc(0, sh, tensor.Int32)
}

// cTypeName is the C++ name of a dtype where PyTorch prints the scalar type: int64 is a long int there.
func cTypeName(d tensor.DType) string {
	switch d {
	case tensor.Int64:
		return "long int"
	case tensor.Int16:
		return "short int"
	}
	return cName(d)
}
