package sort

import (
	"math"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/iter"
	"github.com/gotorch-dev/torch/internal/mem"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

func noComplex(c *Ctx) {
	dt, name := c.ArgDType(0), c.Op().Sch.Name
	if dt.IsComplex() || dt == tensor.Bool && (name == "topk" || name == "kthvalue" || strings.HasSuffix(name, "median")) {
		switch name {
		case "sort":
			c.Fail(tensor.ErrDType, "Sort does not support complex dtypes on CPU")
		case "topk":
			c.Fail(tensor.ErrNotImpl, "topk does not support %s dtypes on CPU",
				op.Pick(dt == tensor.Bool, "bool", "complex"))
		case "median", "nanmedian":
			c.FailDType(tensor.ErrNotImpl, "median_"+op.Pick(c.NumArgs() > 1, "out", "cpu"), dt)
		case "mode", "kthvalue":
			c.FailDType(tensor.ErrNotImpl, name+"_cpu", dt)
		default:
			c.FailDType(tensor.ErrNotImpl, name, dt)
		}
	}
}

type ordered interface {
	uint8 | int32 | int64 | float32 | float64
}

// less is the order of sorting: NaN after everything.
func less[E ordered](a, b E) bool { return a < b || b != b && a == a }

// pick names elements of a line by their positions, which are valid until the scratch is used again.
type pick[E ordered] func(line []E, s *scratch) []int32

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// choose fills values and indices, m per line, with the elements that pick names.
func choose[E ordered](src, vals []E, idx []int64, shape []int, dim, m int, f pick[E]) {
	outer, n, inner := iter.Split(shape, dim)
	if outer*n*inner == 0 || m == 0 {
		return
	}
	if inner > 1 { // lines through memory: transposed in tiles, or each element would cost a cache line
		chooseAcross(src, vals, idx, outer, n, inner, m, f)
		return
	}
	par.For(outer, max(1, 4*1024/max(1, n)), func(lo, hi int) {
		s := scratches.Get().(*scratch)
		for l := lo; l < hi; l++ {
			line, v, ix := src[l*n:][:n], vals[l*m:][:m], idx[l*m:][:m]
			at := f(line, s)[:m]
			if m > shared {
				par.For(m, shared/4, func(lo, hi int) { gatherAt(v[lo:hi], ix[lo:hi], line, at[lo:hi]) })
			} else {
				gatherAt(v, ix, line, at)
			}
		}
		scratches.Put(s)
	})
}

// gatherAt sets values and indices to the elements of a line at the given positions.
func gatherAt[E ordered](v []E, ix []int64, line []E, at []int32) {
	v, ix = v[:len(at)], ix[:len(at)]
	for i, k := range at {
		v[i], ix[i] = line[k], int64(k)
	}
}

// chooseAcross is choose for lines whose elements lie inner apart.
func chooseAcross[E ordered](src, vals []E, idx []int64, outer, n, inner, m int, f pick[E]) {
	const tile = 16 // neighbouring lines that are gathered together
	tiles := (inner + tile - 1) / tile
	par.For(outer*tiles, max(1, 4*1024/max(1, n*tile)), func(lo, hi int) {
		s := scratches.Get().(*scratch)
		bytes := n * tile * int(unsafe.Sizeof(src[0]))
		p := mem.Alloc(bytes) // new memory would have to be cleared
		defer mem.Free(p, bytes)
		lines, at := unsafe.Slice((*E)(p), n*tile), make([]int32, m*tile)
		for u := lo; u < hi; u++ {
			first := u % tiles * tile
			w := min(tile, inner-first)
			base := u/tiles*n*inner + first
			size := int(unsafe.Sizeof(src[0]))
			iter.Transpose(unsafe.Pointer(&lines[0]), n*size, unsafe.Pointer(&src[base]), inner*size, n, w, size)
			for j := range w {
				copy(at[j*m:][:m], f(lines[j*n:][:n], s))
			}
			base = u/tiles*m*inner + first
			for i := range m {
				v, ix := vals[base+i*inner:][:w], idx[base+i*inner:][:w]
				for j := range v {
					k := at[j*m+i]
					v[j], ix[j] = lines[j*n+int(k)], int64(k)
				}
			}
		}
		scratches.Put(s)
	})
}

// selector is pick for every compute type.
type selector struct {
	u8  pick[uint8]
	i32 pick[int32]
	i64 pick[int64]
	f32 pick[float32]
	f64 pick[float64]
}

func (s *selector) run(vals, idx, t *T, dim, m int) {
	if !idx.IsContiguous() || !vals.IsContiguous() {
		v, ix := tensor.New(vals.Shape(), vals.DType()), tensor.New(idx.Shape(), tensor.Int64)
		s.run(v, ix, t, dim, m)
		tensor.CopyRaw(vals, v)
		tensor.CopyRaw(idx, ix)
		return
	}
	ix := op.Raw[int64](idx)
	sh := t.Shape()
	switch dt := t.DType(); {
	case dt == tensor.Float64:
		choose(op.Raw[float64](tensor.Dense(t)), op.Raw[float64](vals), ix, sh, dim, m, s.f64)
	case dt == tensor.Float32:
		choose(op.Raw[float32](tensor.Dense(t)), op.Raw[float32](vals), ix, sh, dim, m, s.f32)
	case dt == tensor.Bool || dt == tensor.Uint8:
		choose(op.Raw[uint8](tensor.Dense(t)), op.Raw[uint8](vals), ix, sh, dim, m, s.u8)
	case dt == tensor.Int64:
		choose(op.Raw[int64](tensor.Dense(t)), op.Raw[int64](vals), ix, sh, dim, m, s.i64)
	case dt.IsFloat():
		w := tensor.New(vals.Shape(), tensor.Float32)
		choose(op.Raw[float32](tensor.DenseAs(t, tensor.Float32)), op.Raw[float32](w), ix, sh, dim, m, s.f32)
		tensor.CopyRaw(vals, w)
	case dt == tensor.Int32:
		choose(op.Raw[int32](tensor.Dense(t)), op.Raw[int32](vals), ix, sh, dim, m, s.i32)
	case dt == tensor.Int16 || dt == tensor.Int8:
		w := tensor.New(vals.Shape(), tensor.Int32)
		choose(op.Raw[int32](tensor.DenseAs(t, tensor.Int32)), op.Raw[int32](w), ix, sh, dim, m, s.i32)
		tensor.CopyRaw(vals, w)
	default:
		w := tensor.New(vals.Shape(), tensor.Int64)
		choose(op.Raw[int64](tensor.DenseAs(t, tensor.Int64)), op.Raw[int64](w), ix, sh, dim, m, s.i64)
		tensor.CopyRaw(vals, w)
	}
}

func sorting(desc bool) *selector {
	return &selector{sorted1[uint8](desc), sorted1[int32](desc), sorted1[int64](desc), sorted1[float32](desc),
		sorted1[float64](desc)}
}

func sorted1[E ordered](desc bool) pick[E] {
	return func(l []E, s *scratch) []int32 { return order(l, desc, s) }
}

// single picks one element per line.
func single(f32 func(l []float32, s *scratch) int32, f64 func(l []float64, s *scratch) int32,
	i64 func(l []int64, s *scratch) int32, i32 func(l []int32, s *scratch) int32,
	u8 func(l []uint8, s *scratch) int32) *selector {
	return &selector{one(u8), one(i32), one(i64), one(f32), one(f64)}
}

func one[E ordered](f func(l []E, s *scratch) int32) pick[E] {
	return func(l []E, s *scratch) []int32 {
		k := f(l, s)
		to := take(&s.perm, 1)
		to[0] = k
		return to
	}
}

// medianAt is the position of the lower median; NaN wins, or is left out.
func medianAt[E ordered](skipNaN bool) func(l []E, s *scratch) int32 {
	return func(l []E, s *scratch) int32 {
		keys := keysFor(l, false, s)
		n := len(l)
		if E(1)/2 != 0 { // floats
			nan := ^uint64(0) >> (64 - 8*unsafe.Sizeof(l[0])) // the largest key
			if n = countBelow(keys, nan); n < len(l) && !skipNaN {
				return int32(slices.Index(keys, nan))
			}
			if n == 0 { // any will do: PyTorch has the one that nth_element of equal keys leaves in front
				at := padded(&s.perm, len(l))
				for i := range at {
					at[i] = int32(i)
				}
				nthElement(keys, at, 0)
				return at[0]
			}
		}
		return s.stablePosition(keys, max(0, n-1)/2)
	}
}

// modeAt is the position of the smallest of the most frequent values: of those that are equal the one that std::sort,
// which PyTorch's kernel stands on, puts last.
func modeAt[E ordered](l []E, s *scratch) int32 {
	best, at := 0, int32(0)
	if len(l) <= rankSortMost { // each is compared with all; std::sort is stable here
		for i, v := range l {
			n := 1
			for _, w := range l {
				if w == v {
					n++
				}
			}
			if n > best || n == best && (less(v, l[at]) || v == l[at]) {
				best, at = n, int32(i)
			}
		}
		return at
	}
	keys := keysFor(l, false, s)
	p := s.uniqueOrder(keys)
	if p == nil {
		p = s.quicksort(keys, s.identity(len(l)))
	}
	for i := 0; i < len(p); {
		j := i
		for j < len(p) && (l[p[j]] == l[p[i]] || l[p[j]] != l[p[j]] && j == i) {
			j++
		}
		if j-i > best {
			best, at = j-i, p[j-1]
		}
		i = j
	}
	return at
}

// put is the gradient of a selection along dim.
func put(c *Ctx, g, idx *T, dim int, keep bool) *T {
	return op.Call1("aten::value_selecting_reduction_backward", g, dim, idx, c.Shape(0), keep)
}

func sortDef(schema, doc string, dimAt, descAt int) tensor.Def {
	return tensor.Def{Schema: schema, Doc: doc, Out: true,
		Infer: func(c *Ctx) {
			noComplex(c)
			t := c.T(0)
			op.Wrap(c, c.Int(dimAt), t.Dim())
			strides := tensor.PermutedStrides(t)
			c.AllocStrided(0, t.Shape(), strides, t.DType())
			c.AllocStrided(1, t.Shape(), strides, tensor.Int64)
		},
		CPU: func(c *Ctx) {
			t := c.T(0)
			d := op.Wrap(c, c.Int(dimAt), t.Dim())
			_, n, _ := iter.Split(t.Shape(), d)
			sorting(c.Bool(descAt)).run(c.Out(0), c.Out(1), t, d, n)
		},
		Save: "indices",
		VJP:  func(c *Ctx, g *T) []*T { return []*T{put(c, g, c.Out(1), c.Int(dimAt), true)} },
	}
}

//gen:sorted Out
func sorted(schema, doc, outName string, dimAt, descAt int) {
	d := sortDef(schema, doc, dimAt, descAt)
	d.FormNames = outName
	tensor.Register(d)
}

// picked declares an operator that selects one element per line: arguments self, [k], dim, keepdim.
//
//gen:picked Out
func picked(schema, doc, outName string, dimAt int, sel func(c *Ctx, n int) *selector) {
	tensor.Register(tensor.Def{Schema: schema, Doc: doc, Out: true, FormNames: outName,
		Infer: func(c *Ctx) {
			noComplex(c)
			t := c.T(0)
			d := op.Wrap(c, c.Int(dimAt), t.Dim())
			_, n, _ := iter.Split(t.Shape(), d)
			if n == 0 {
				c.Fail(tensor.ErrIndex, "%s(): Expected reduction dim %d to have non-zero size.", c.Op().Sch.Name, d)
			}
			sel(c, n)
			var sh []int
			for i, s := range t.Shape() {
				if i != d {
					sh = append(sh, s)
				} else if c.Bool(dimAt + 1) {
					sh = append(sh, 1)
				}
			}
			c.Alloc(0, sh, t.DType())
			c.Alloc(1, sh, tensor.Int64)
		},
		CPU: func(c *Ctx) {
			t := c.T(0)
			d := op.Wrap(c, c.Int(dimAt), t.Dim())
			_, n, _ := iter.Split(t.Shape(), d)
			sel(c, n).run(c.Out(0), c.Out(1), t, d, 1)
		},
		Save: "indices",
		VJP: func(c *Ctx, g *T) []*T {
			return []*T{put(c, g, c.Out(1), c.Int(dimAt), c.Bool(dimAt+1))}
		},
	})
}

//gen:medianAll Out
func medianAll(schema, doc string, skipNaN bool) {
	tensor.Register(tensor.Def{Schema: schema, Doc: doc, Out: true,
		Infer: func(c *Ctx) {
			noComplex(c)
			c.Alloc(0, nil, c.ArgDType(0))
		},
		CPU: func(c *Ctx) {
			o := c.Out(0)
			t := tensor.DenseAs(c.T(0), o.DType()) // a number has another type than its result
			if t.Numel() == 0 {                    // NaN, the smallest number of integers
				v := math.NaN()
				if t.DType().IsIntOrBool() {
					v = 0
					if t.DType() == tensor.Int64 {
						op.Raw[int64](o)[0] = math.MinInt64
						return
					}
				}
				tensor.CopyRaw(o, tensor.Alias(tensor.FromSlice([]float64{v}), nil, nil, 0))
				return
			}
			flat := tensor.Alias(t, []int{t.Numel()}, []int{1}, t.StorageOffset())
			single(medianAt[float32](skipNaN), medianAt[float64](skipNaN), medianAt[int64](skipNaN),
				medianAt[int32](skipNaN), medianAt[uint8](skipNaN)).
				run(o, tensor.New(nil, tensor.Int64), flat, 0, 1)
		},
		Save: "self result",
		VJP: func(c *Ctx, g *T) []*T {
			x, y := c.T(0), c.Out(0)
			return []*T{op.Evenly(g, x.Eq(y).LogicalOr(x.IsNaN().LogicalAnd(y.IsNaN())))}
		},
	})
}

func init() {
	const base = "https://pytorch.org/docs/stable/generated/torch."
	sorted("sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)",
		"sorts along a dimension, stably; NaN counts as largest.\n"+base+"sort.html", ".out=.values", 1, 2)
	sorted("sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)", "sorts along a dimension, stably.", ".stable_out=.values_stable", 2, 3)
	tensor.Register(tensor.Def{
		Schema: "argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor",
		Doc:    "is the order that sorts along a dimension.\n" + base + "argsort.html",
		Body:   func(c *Ctx) { c.Return(op.Call("aten::sort", c.T(0), c.Int(1), c.Bool(2))[1]) },
	})
	tensor.Register(tensor.Def{
		Schema: "argsort.stable(Tensor self, *, bool stable, int dim=-1, bool descending=False) -> Tensor",
		Doc:    "is the order that sorts along a dimension.",
		Body:   func(c *Ctx) { c.Return(op.Call("aten::sort", c.T(0), c.Int(2), c.Bool(3))[1]) },
	})
	tensor.Register(tensor.Def{
		Schema: "msort(Tensor self) -> Tensor", Out: true,
		Doc:  "sorts along the first dimension.\n" + base + "msort.html",
		Body: func(c *Ctx) { c.Return(op.Call("aten::sort", c.T(0), 0, false)[0]) },
	})
	tensor.Register(tensor.Def{
		Schema: "topk(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor values, Tensor indices)", Out: true, FormNames: ".out=.values",
		Doc: "gives the k largest (or smallest) elements along a dimension, in order, and where they are.\n" + base +
			"topk.html",
		Infer: func(c *Ctx) {
			noComplex(c)
			t := c.T(0)
			d := op.Wrap(c, c.Int(2), t.Dim())
			_, n, _ := iter.Split(t.Shape(), d)
			if k := c.Int(1); k < 0 || k > n {
				c.Fail(tensor.ErrIndex, "selected index k out of range")
			}
			sh := append([]int(nil), t.Shape()...)
			if len(sh) > 0 {
				sh[d] = c.Int(1)
			}
			c.Alloc(0, sh, t.DType())
			c.Alloc(1, sh, tensor.Int64)
		},
		CPU: func(c *Ctx) {
			t := c.T(0)
			k, desc, in := c.Int(1), c.Bool(3), c.Bool(4)
			if t.Dim() == 0 { // a number stays, also where none is asked for
				k = 1
			}
			s := &selector{topK[uint8](k, desc, in), topK[int32](k, desc, in), topK[int64](k, desc, in),
				topK[float32](k, desc, in), topK[float64](k, desc, in)}
			s.run(c.Out(0), c.Out(1), t, op.Wrap(c, c.Int(2), t.Dim()), k)
		},
		Save: "indices",
		VJP:  func(c *Ctx, g *T) []*T { return []*T{put(c, g, c.Out(1), c.Int(2), true)} },
	})
	picked("kthvalue(Tensor self, SymInt k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)",
		"gives the k-th smallest element along a dimension (k from 1).\n"+base+"kthvalue.html", ".out=.values", 2,
		func(c *Ctx, n int) *selector {
			k := c.Int(1)
			if g := c.GivenOut(0); g != nil && op.Overlap(g, c.T(0)) {
				c.Fail(tensor.ErrShape, "unsupported operation: some elements of the input tensor and the written-to "+
					"tensor refer to a single memory location. Please clone() the tensor before performing the "+
					"operation.")
			}
			if k < 1 || k > n {
				c.Fail(tensor.ErrValue, "kthvalue(): selected number k out of range for dimension %d",
					op.Wrap(c, c.Int(2), c.T(0).Dim()))
			}
			return single(kth[float32](k), kth[float64](k), kth[int64](k), kth[int32](k), kth[uint8](k))
		})
	median := func(skip bool) func(c *Ctx, n int) *selector {
		return func(c *Ctx, n int) *selector {
			return single(medianAt[float32](skip), medianAt[float64](skip), medianAt[int64](skip),
				medianAt[int32](skip), medianAt[uint8](skip))
		}
	}
	medianAll("median(Tensor self) -> Tensor",
		"is the lower median of all elements, NaN if there is one.\n"+base+"median.html", false)
	picked("median.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
		"gives the lower median along a dimension, NaN if there is one.", ".dim_out=.dim_values", 1, median(false))
	medianAll("nanmedian(Tensor self) -> Tensor",
		"is the lower median of the elements that are not NaN.\n"+base+"nanmedian.html", true)
	picked("nanmedian.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
		"gives the lower median along a dimension of the elements that are not NaN.", ".dim_out=.dim_values", 1,
		median(true))
	picked("mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)",
		"gives the most frequent value along a dimension, the smallest of several.\n"+base+"mode.html", ".out=.values",
		1,
		func(c *Ctx, n int) *selector {
			return single(modeAt[float32], modeAt[float64], modeAt[int64], modeAt[int32], modeAt[uint8])
		})
}
