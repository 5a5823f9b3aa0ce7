// Package random holds the operators that draw random numbers, the same as PyTorch's on a CPU: see internal/rng.
package random

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/rng"
	"github.com/gotorch-dev/torch/tensor"
)

type (
	// T and Ctx keep the definitions short.
	T   = tensor.Tensor
	Ctx = tensor.Ctx
)

// generator is argument i, or the default generator.
func generator(c *Ctx, i int) *rng.Generator {
	if g, ok := c.Any(i).(*rng.Generator); ok && g != nil {
		return g
	}
	return rng.Default
}

// fillers draw numbers into memory of one element type.
type fillers struct {
	f32 func(dst []float32, contiguous bool) error
	f64 func(dst []float64, contiguous bool) error
	// low draws for a 16-bit type; nil: f32 and rounding.
	low func(dst []float32, contiguous bool, round rng.Rounder) error
	// ints; nil: not for integers.
	u8  func(dst []uint8) error
	i8  func(dst []int8) error
	i16 func(dst []int16) error
	i32 func(dst []int32) error
	i64 func(dst []int64) error
	// complex is set when the sampler fills the parts of complex numbers.
	complex bool
}

func slice[E any](p unsafe.Pointer, n int) []E { return unsafe.Slice((*E)(p), n) }

// fill draws in the memory order of t.
func fill(c *Ctx, t *T, f *fillers) {
	if t.Numel() == 0 {
		return
	}
	contiguous := t.IsContiguous()
	dst := t
	if !t.IsDense() {
		dst = tensor.NewStrided(t.Shape(), tensor.PermutedStrides(t), t.DType())
	}
	n, p := t.Numel(), tensor.Ptr(dst)
	var err error
	unsupported := false
	switch dt := t.DType(); {
	case dt == tensor.Float32:
		err = f.f32(slice[float32](p, n), contiguous)
	case dt == tensor.Float64:
		err = f.f64(slice[float64](p, n), contiguous)
	case dt.IsReduced():
		round := rng.Rounder(rng.RoundFloat16)
		if dt == tensor.BFloat16 {
			round = rng.RoundBFloat16
		}
		w := tensor.New([]int{n}, tensor.Float32)
		x := tensor.Data[float32](w)
		if f.low != nil {
			err = f.low(x, contiguous, round)
		} else {
			err = f.f32(x, contiguous)
		}
		if err == nil {
			tensor.CopyRaw(tensor.Alias(dst, []int{n}, nil, dst.StorageOffset()), w)
		}
	case dt == tensor.Complex64 && f.complex:
		err = f.f32(slice[float32](p, 2*n), contiguous)
	case dt == tensor.Complex128 && f.complex:
		err = f.f64(slice[float64](p, 2*n), contiguous)
	case f.u8 != nil && (dt == tensor.Bool || dt == tensor.Uint8):
		err = f.u8(slice[uint8](p, n))
	case f.u8 != nil && dt == tensor.Int8:
		err = f.i8(slice[int8](p, n))
	case f.u8 != nil && dt == tensor.Int16:
		err = f.i16(slice[int16](p, n))
	case f.u8 != nil && dt == tensor.Int32:
		err = f.i32(slice[int32](p, n))
	case f.u8 != nil && dt == tensor.Int64:
		err = f.i64(slice[int64](p, n))
	default:
		unsupported = true
	}
	if unsupported {
		c.FailDType(tensor.ErrDType, c.Op().Sch.Name, t.DType())
	}
	if err != nil {
		c.Fail(tensor.ErrValue, "%s", err)
	}
	if dst != t {
		tensor.CopyRaw(t, dst)
	}
}

func uniformFill(g *rng.Generator, a, b float64) *fillers {
	return &fillers{complex: true,
		f32: func(d []float32, _ bool) error { return rng.Uniform(g, d, a, b) },
		f64: func(d []float64, _ bool) error { return rng.Uniform(g, d, a, b) },
		low: func(d []float32, _ bool, r rng.Rounder) error { return rng.UniformLow(g, d, a, b, r) },
	}
}

func normalFill(g *rng.Generator, mean, std float64) *fillers {
	return &fillers{complex: true,
		f32: func(d []float32, cont bool) error { return rng.Normal(g, d, mean, std, cont) },
		f64: func(d []float64, cont bool) error { return rng.Normal(g, d, mean, std, cont) },
		low: func(d []float32, cont bool, r rng.Rounder) error {
			return rng.NormalLow(g, d, mean, std, cont, r)
		},
	}
}

// each makes fillers of one sampler for every real type.
func each[F32 ~func([]float32) error](f32 F32, f64 func([]float64) error) *fillers {
	return &fillers{f32: func(d []float32, _ bool) error { return f32(d) },
		f64: func(d []float64, _ bool) error { return f64(d) }}
}

func bernoulliFill(g *rng.Generator, p float64) *fillers {
	f := each(func(d []float32) error { return rng.Bernoulli(g, d, p) },
		func(d []float64) error { return rng.Bernoulli(g, d, p) })
	f.u8 = func(d []uint8) error { return rng.Bernoulli(g, d, p) }
	f.i8 = func(d []int8) error { return rng.Bernoulli(g, d, p) }
	f.i16 = func(d []int16) error { return rng.Bernoulli(g, d, p) }
	f.i32 = func(d []int32) error { return rng.Bernoulli(g, d, p) }
	f.i64 = func(d []int64) error { return rng.Bernoulli(g, d, p) }
	return f
}

func geometricFill(g *rng.Generator, p float64) *fillers {
	f := each(func(d []float32) error { return rng.Geometric(g, d, p) },
		func(d []float64) error { return rng.Geometric(g, d, p) })
	f.u8 = func(d []uint8) error { return rng.Geometric(g, d, p) }
	f.i8 = func(d []int8) error { return rng.Geometric(g, d, p) }
	f.i16 = func(d []int16) error { return rng.Geometric(g, d, p) }
	f.i32 = func(d []int32) error { return rng.Geometric(g, d, p) }
	f.i64 = func(d []int64) error { return rng.Geometric(g, d, p) }
	return f
}

// ints makes fillers that draw from + r mod n, for every type.
func intFill(g *rng.Generator, from int64, n uint64) *fillers {
	return &fillers{
		f32: func(d []float32, _ bool) error { rng.RandInt(g, d, from, n); return nil },
		f64: func(d []float64, _ bool) error { rng.RandInt(g, d, from, n); return nil },
		u8:  func(d []uint8) error { rng.RandInt(g, d, from, n); return nil },
		i8:  func(d []int8) error { rng.RandInt(g, d, from, n); return nil },
		i16: func(d []int16) error { rng.RandInt(g, d, from, n); return nil },
		i32: func(d []int32) error { rng.RandInt(g, d, from, n); return nil },
		i64: func(d []int64) error { rng.RandInt(g, d, from, n); return nil },
	}
}

func randomFill(g *rng.Generator, k rng.Kind) *fillers {
	return &fillers{
		f32: func(d []float32, _ bool) error { rng.Random(g, d, k); return nil },
		f64: func(d []float64, _ bool) error { rng.Random(g, d, k); return nil },
		u8:  func(d []uint8) error { rng.Random(g, d, k); return nil },
		i8:  func(d []int8) error { rng.Random(g, d, k); return nil },
		i16: func(d []int16) error { rng.Random(g, d, k); return nil },
		i32: func(d []int32) error { rng.Random(g, d, k); return nil },
		i64: func(d []int64) error { rng.Random(g, d, k); return nil },
	}
}

// kindOf is the generator's name of an element type.
func kindOf(c *Ctx, dt tensor.DType) rng.Kind {
	switch dt {
	case tensor.Bool:
		return rng.Bool
	case tensor.Uint8:
		return rng.Uint8
	case tensor.Int8:
		return rng.Int8
	case tensor.Int16:
		return rng.Int16
	case tensor.Int32:
		return rng.Int32
	case tensor.Int64:
		return rng.Int64
	case tensor.Float16:
		return rng.Float16
	case tensor.BFloat16:
		return rng.BFloat16
	case tensor.Float32:
		return rng.Float32
	case tensor.Float64:
		return rng.Float64
	}
	c.FailDType(tensor.ErrDType, c.Op().Sch.Name, dt)
	return 0
}
