package reduce

import (
	"math"
	"slices"
	"sync"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// truths are the kernels of what asks whether elements are true, of one element type. Elements become bytes in the
// cache.
type truths[E any] struct {
	any, all *kern[E, uint8]
	count    *kern[E, int64]
}

// truthRun is how many elements become bytes at a time.
const truthRun = 4096

// byteBuffers are kept like columnBuffers.
var byteBuffers = sync.Pool{New: func() any { return new([truthRun]uint8) }}

// truthsOf makes the kernels from the function that sets bytes to 0 where elements are 0 and to 1 elsewhere.
func truthsOf[E any](truth func(dst []uint8, s []E)) *truths[E] {
	// each calls f with the truth of as many rows of n elements, stride apart, as fit the buffer: rows lo to hi
	each := func(s []E, rows, n, stride int, f func(b []uint8, lo, hi int)) {
		buf := byteBuffers.Get().(*[truthRun]uint8)
		for lo := 0; lo < rows; {
			hi := min(rows, lo+truthRun/n)
			if stride == n {
				truth(buf[:(hi-lo)*n], s[lo*n:hi*n])
			} else {
				for r := lo; r < hi; r++ {
					truth(buf[(r-lo)*n:][:n], s[r*stride:][:n])
				}
			}
			f(buf[:(hi-lo)*n], lo, hi)
			lo = hi
		}
		byteBuffers.Put(buf)
	}
	// one counts what is true in a row, up to the piece where less or more than that decides
	one := func(s []E, all, any bool) (count int) {
		buf := byteBuffers.Get().(*[truthRun]uint8)
		for len(s) > 0 {
			b := buf[:min(len(s), truthRun)]
			truth(b, s[:len(b)])
			c := vec.CountNonzeroU8(b)
			count += c
			if all && c < len(b) || any && c > 0 {
				break
			}
			s = s[len(b):]
		}
		byteBuffers.Put(buf)
		return count
	}
	return &truths[E]{
		any: &kern[E, uint8]{init: 0, row: func(acc uint8, s []E) uint8 {
			if acc == 0 && one(s, false, true) > 0 {
				return 1
			}
			return acc
		}, rows: func(acc []uint8, s []E, n, stride int) {
			each(s, len(acc), n, stride, func(b []uint8, lo, hi int) {
				var m [rowGroup]uint8
				vec.MaxRowsInt(m[:], b, hi-lo, n, n)
				vec.OrU8(acc[lo:hi], acc[lo:hi], m[:])
			})
		}, block: func(acc []uint8, s []E, rows, stride int) {
			each(s, rows, len(acc), stride,
				func(b []uint8, lo, hi int) { vec.MaxColumnsInt(acc, b, hi-lo, len(acc), len(acc)) })
		}, merge: func(a, b uint8) uint8 { return a | b }, joins: vec.OrU8},
		all: &kern[E, uint8]{init: 1, row: func(acc uint8, s []E) uint8 {
			if acc == 1 && one(s, true, false) < len(s) {
				return 0
			}
			return acc
		}, rows: func(acc []uint8, s []E, n, stride int) {
			each(s, len(acc), n, stride, func(b []uint8, lo, hi int) {
				var m [rowGroup]uint8
				vec.MinRowsInt(m[:], b, hi-lo, n, n)
				vec.AndU8(acc[lo:hi], acc[lo:hi], m[:])
			})
		}, block: func(acc []uint8, s []E, rows, stride int) {
			each(s, rows, len(acc), stride,
				func(b []uint8, lo, hi int) { vec.MinColumnsInt(acc, b, hi-lo, len(acc), len(acc)) })
		}, merge: func(a, b uint8) uint8 { return a & b }, joins: vec.AndU8},
		count: &kern[E, int64]{row: func(acc int64, s []E) int64 { return acc + int64(one(s, false, false)) },
			rows: func(acc []int64, s []E, n, stride int) {
				each(s, len(acc), n, stride, func(b []uint8, lo, hi int) {
					for i := range hi - lo {
						acc[lo+i] += int64(vec.CountNonzeroU8(b[i*n:][:n]))
					}
				})
			}, block: func(acc []int64, s []E, rows, stride int) {
				var sums [colTile]uint8 // bytes as far as they go
				sum, counted := sums[:len(acc)], 0
				each(s, rows, len(acc), stride, func(b []uint8, lo, hi int) {
					for m := 0; lo < hi; lo, b = lo+m, b[m*len(acc):] {
						m = min(hi-lo, math.MaxUint8-counted)
						vec.AddColumnsU8(sum, b, m, len(acc), len(acc))
						if counted += m; counted == math.MaxUint8 || lo+m == rows {
							for i, v := range sum {
								acc[i] += int64(v)
							}
							clear(sum)
							counted = 0
						}
					}
				})
			}, merge: add[int64], joins: vec.AddInt[int64]},
	}
}

// zeros are what elements are compared with, a few again and again, which leave the nearest cache to the elements.
var zeros [256]int64

func truthInt[E vec.Integer](dst []uint8, s []E) {
	zero := unsafe.Slice((*E)(unsafe.Pointer(&zeros)), len(zeros)*8/int(unsafe.Sizeof(s[0])))
	for n := len(zero); len(s) > 0; dst, s = dst[n:], s[n:] {
		n = min(n, len(s))
		vec.NeInt(dst[:n], s[:n], zero[:n])
	}
}

var (
	truthsU8  = truthsOf(func(dst, s []uint8) { vec.LogicalOrU8(dst, s, s) })
	truthsI16 = truthsOf(truthInt[int16])
	truthsI32 = truthsOf(truthInt[int32])
	truthsI64 = truthsOf(truthInt[int64])
	truthsF32 = truthsOf(func(dst []uint8, s []float32) { vec.NeScalarF32(dst, s, 0) })
	truthsF64 = truthsOf(func(dst []uint8, s []float64) { vec.NeScalarF64(dst, s, 0) })
	// the sum of a 16-bit float's bits with themselves is 0 but for the sign
	truths16 = truthsOf(func(dst []uint8, s []int16) {
		buf := shortBuffers.Get().(*[truthRun]int16)
		vec.AddInt(buf[:len(s)], s, s)
		truthInt(dst, buf[:len(s)])
		shortBuffers.Put(buf)
	})
)

var shortBuffers = sync.Pool{New: func() any { return new([truthRun]int16) }}

// question chooses one of the kernels.
type question int

const (
	isAny question = iota
	isAll
	howMany
)

// ask reduces the truth of t's elements.
func ask(o, t *T, red []bool, q question) {
	switch t.DType() {
	case tensor.Float32:
		askTyped(o, t, red, q, truthsF32)
	case tensor.Float64:
		askTyped(o, t, red, q, truthsF64)
	case tensor.Float16, tensor.BFloat16:
		askTyped(o, t, red, q, truths16)
	case tensor.Int64:
		askTyped(o, t, red, q, truthsI64)
	case tensor.Int32:
		askTyped(o, t, red, q, truthsI32)
	case tensor.Int16:
		askTyped(o, t, red, q, truthsI16)
	case tensor.Int8, tensor.Uint8:
		askTyped(o, t, red, q, truthsU8)
	default:
		askTyped(o, cast(t, tensor.Bool), red, q, truthsU8)
	}
}

func askTyped[E any](o, t *T, red []bool, q question, k *truths[E]) {
	if q == howMany {
		into(o, t, red, k.count, nil)
		return
	}
	into(o, once(t, red), red, op.Pick(q == isAll, k.all, k.any), nil)
}

// once is t without the repetitions of elements along reduced dimensions, which say nothing new.
func once(t *T, red []bool) *T {
	shape := slices.Clone(t.Shape())
	for d, st := range t.Strides() {
		if red[d] && st == 0 && shape[d] > 1 {
			shape[d] = 1
		}
	}
	if slices.Equal(shape, t.Shape()) {
		return t
	}
	return tensor.Alias(t, shape, t.Strides(), t.StorageOffset())
}

// boolOut is the type of the results of a call: that of an out tensor of bytes, or boolType.
func boolOut(c *Ctx) tensor.DType {
	if g := c.GivenOut(0); g != nil && g.DType() == tensor.Uint8 {
		return tensor.Uint8
	}
	return boolType(c.T(0))
}

// boolType is the dtype of any and all: bool, but uint8 of uint8.
func boolType(t *T) tensor.DType {
	if t.DType() == tensor.Uint8 {
		return tensor.Uint8
	}
	return tensor.Bool
}

// boolAll, boolDim and boolDims declare the forms of any and all.
//
//gen:boolAll Out
func boolAll(schema, doc string, q question) {
	tensor.Register(tensor.Def{Schema: schema, Doc: doc, Out: true, FormNames: ".out=.all_out",
		NoGrad: "boolean result",
		Infer:  func(c *Ctx) { c.Alloc(0, nil, boolOut(c)) },
		CPU:    func(c *Ctx) { ask(c.Out(0), c.T(0), allDims(c.T(0)), q) },
	})
}

//gen:boolDim Out
func boolDim(schema, doc string, q question) {
	tensor.Register(tensor.Def{Schema: schema, Doc: doc, Out: true, FormNames: ".dim_out=.out",
		NoGrad: "boolean result",
		Infer: func(c *Ctx) {
			_, sh := dims(c, c.T(0), []int{c.Int(1)}, c.Bool(2))
			c.Alloc(0, sh, boolOut(c))
		},
		CPU: func(c *Ctx) {
			red, _ := dims(c, c.T(0), []int{c.Int(1)}, c.Bool(2))
			ask(c.Out(0), c.T(0), red, q)
		},
	})
}

//gen:boolDims Out
func boolDims(schema, doc string, q question) {
	// an empty list reduces nothing, None everything
	plan := func(c *Ctx) ([]bool, []int) {
		t := c.T(0)
		if c.Has(1) && len(c.Ints(1)) == 0 {
			return make([]bool, t.Dim()), t.Shape()
		}
		return dims(c, t, c.Ints(1), c.Bool(2))
	}
	tensor.Register(tensor.Def{Schema: schema, Doc: doc, Out: true, NoGrad: "boolean result",
		Infer: func(c *Ctx) {
			_, sh := plan(c)
			c.Alloc(0, sh, boolOut(c))
		},
		CPU: func(c *Ctx) {
			red, _ := plan(c)
			ask(c.Out(0), c.T(0), red, q)
		},
	})
}

func init() {
	boolAll("all(Tensor self) -> Tensor",
		"tests whether all elements are true (not zero); NaN is "+
			"true.\nhttps://pytorch.org/docs/stable/generated/torch.all.html", isAll)
	boolDim("all.dim(Tensor self, int dim, bool keepdim=False) -> Tensor",
		"tests whether all elements along a dimension are true.", isAll)
	boolDims("all.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",
		"tests whether all elements over dimensions are true.", isAll)
	boolAll("any(Tensor self) -> Tensor",
		"tests whether any element is true (not zero); NaN is "+
			"true.\nhttps://pytorch.org/docs/stable/generated/torch.any.html", isAny)
	boolDim("any.dim(Tensor self, int dim, bool keepdim=False) -> Tensor",
		"tests whether any element along a dimension is true.", isAny)
	boolDims("any.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",
		"tests whether any element over dimensions is true.", isAny)
	tensor.Register(tensor.Def{
		Schema: "count_nonzero(Tensor self, int? dim=None) -> Tensor",
		Doc: "counts the elements that are not zero, all or along a " +
			"dimension.\nhttps://pytorch.org/docs/stable/generated/torch.count_nonzero.html",
		Out: true, NoGrad: "integer result",
		Infer: func(c *Ctx) {
			_, sh := dims(c, c.T(0), countDims(c), false)
			c.Alloc(0, sh, tensor.Int64)
		},
		CPU: countKernel,
	})
	tensor.Register(tensor.Def{
		Schema: "count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor",
		Doc:    "counts the elements that are not zero over dimensions.",
		Out:    true, NoGrad: "integer result",
		Infer: func(c *Ctx) {
			_, sh := dims(c, c.T(0), c.Ints(1), false)
			c.Alloc(0, sh, tensor.Int64)
		},
		CPU: countKernel,
	})
}

func countDims(c *Ctx) []int {
	if !c.Has(1) {
		return nil
	}
	return c.Ints(1)
}

func countKernel(c *Ctx) {
	red, _ := dims(c, c.T(0), countDims(c), false)
	ask(c.Out(0), c.T(0), red, howMany)
}
