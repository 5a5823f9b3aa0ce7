package index

import (
	"fmt"
	"math"
	"slices"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/ops/internal/half"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// copyTable copies, for each of outer tables of n rows, the rows that ix names.
func copyTable(dst, src []byte, ix []int64, outer, n, row int) {
	k := len(ix)
	large := len(src) > 1<<20 // than what the nearer caches hold
	parRows(outer*k, row, func(lo, hi int) {
		if row <= 512 { // of short ones the processor has several under way
			for a := lo / k; a*k < hi; a++ {
				from, to := max(lo, a*k), min(hi, (a+1)*k)
				vec.TakeRows(dst[from*row:to*row], src[a*n*row:(a+1)*n*row], ix[from-a*k:to-a*k], row)
			}
			return
		}
		const far = 4 // rows to be fetched meanwhile: the processor cannot guess where they lie
		a, j := lo/k, lo%k
		for r := lo; r < hi; r++ {
			if large && j+far < k {
				vec.PrefetchBytes(src[(a*n+int(ix[j+far]))*row:][:row])
			}
			copy(dst[r*row:][:row], src[(a*n+int(ix[j]))*row:][:row])
			if j++; j == k {
				a, j = a+1, 0
			}
		}
	})
}

// denseBackward is the gradient of an embedding table.
func denseBackward(c *Ctx, o, g *T, ix []int64, skip int, byFreq bool) {
	n, d := o.Shape()[0], o.Shape()[1]
	dt := computeType(o.DType())
	g = as(g, dt)
	l := listRows(c, ix, n, skip, nil)
	defer l.done()
	inType(o, dt, func(w *T) {
		switch dt {
		case tensor.Float32:
			sumIntoRows(l, raw[float32](w), raw[float32](g), d, byFreq)
		case tensor.Float64:
			sumIntoRows(l, raw[float64](w), raw[float64](g), d, byFreq)
		case tensor.Int32:
			sumIntoRows(l, raw[int32](w), raw[int32](g), d, false)
		case tensor.Complex64:
			sumIntoRows(l, raw[complex64](w), raw[complex64](g), d, false)
		case tensor.Complex128:
			sumIntoRows(l, raw[complex128](w), raw[complex128](g), d, false)
		default:
			sumIntoRows(l, raw[int64](w), raw[int64](g), d, false)
		}
	})
}

// inType calls f with o, or with a tensor of dtype dt that is then rounded to o.
func inType(o *T, dt tensor.DType, f func(w *T)) {
	if o.DType() == dt {
		f(o)
		return
	}
	w := tensor.New(o.Shape(), dt)
	f(w)
	tensor.CopyRaw(o, w)
	tensor.ReleaseRaw(w)
}

// failRow says that ix[k], the elements of indices of the given shape (nil: a vector), is no row of a table of n rows.
func failRow(c *Ctx, ix []int64, k int, shape []int, n int) {
	at := []int{k}
	if len(shape) > 0 {
		at = make([]int, len(shape))
		for d, rest := len(shape)-1, k; d >= 0; d-- {
			at[d], rest = rest%shape[d], rest/shape[d]
		}
	}
	c.FailHint(tensor.ErrIndex, fmt.Sprintf("index %d at position %s, where there are %d rows: 0 to %d", ix[k],
		tensor.ShapeString(at), n, n-1), "index out of range in self")
}

func checkIndexType(c *Ctx, t *T) {
	if dt := t.DType(); dt != tensor.Int64 && dt != tensor.Int32 {
		c.Fail(tensor.ErrDType, "Expected tensor for argument #1 'indices' to have one of the following scalar "+
			"types: Long, Int; but got torch.%sTensor instead (while checking arguments for embedding)", dt.ClassName())
	}
}

func init() {
	tensor.Register(tensor.Def{
		Schema: "embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool scale_grad_by_freq=False, bool sparse=False) -> Tensor",
		Doc: "looks up rows of a 2-d weight; the row padding_idx gets no gradient. With sparse the gradient of weight is " +
			"a sparse tensor of the rows that indices name. " +
			"nn/functional has the form with " +
			"max_norm.\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.embedding.html",
		Infer: func(c *Ctx) {
			w := c.T(0)
			if w.Dim() != 2 {
				c.Fail(tensor.ErrShape, "'weight' must be 2-D")
			}
			checkIndexType(c, c.T(1))
			c.Alloc(0, append(append([]int{}, c.Shape(1)...), w.Shape()[1]), w.DType())
		},
		CPU: func(c *Ctx) {
			w, o := tensor.Dense(c.T(0)), c.Out(0)
			ix, n := longs(c.T(1)), w.Shape()[0]
			for k, i := range ix {
				if uint64(i) >= uint64(n) {
					failRow(c, ix, k, c.Shape(1), n)
				}
			}
			copyTable(bytesOf(o), bytesOf(w), ix, 1, n, w.Shape()[1]*w.ElementSize())
		},
		Save: "indices",
		VJP: func(c *Ctx, g *T) []*T {
			return []*T{op.Call1("aten::embedding_backward", g, c.T(1), c.Shape(0)[0], c.Int(2), c.Bool(3), c.Bool(4)), nil}
		},
	})
	tensor.Register(tensor.Def{
		Schema: "embedding_dense_backward(Tensor grad_output, Tensor indices, SymInt num_weights, SymInt padding_idx, bool scale_grad_by_freq) -> Tensor",
		Doc:    "is the gradient of an embedding's weight.",
		Go:     "-",
		Infer: func(c *Ctx) {
			sh := c.Shape(0)
			if n := len(c.Shape(1)); len(sh) != n+1 {
				c.WantDim(0, n+1)
			}
			c.WantShape(0, append(slices.Clone(c.Shape(1)), sh[len(sh)-1])...)
			c.Alloc(0, []int{c.Int(2), sh[len(sh)-1]}, c.ArgDType(0))
		},
		CPU: func(c *Ctx) {
			denseBackward(c, c.Out(0), tensor.Dense(c.T(0)), longs(c.T(1)), c.Int(3), c.Bool(4))
		},
		Save: "indices",
		VJP: func(c *Ctx, g *T) []*T {
			r := op.Call1("aten::embedding", g, c.T(1))
			if pad := c.Int(3); pad >= 0 {
				r = r.MaskedFillScalar(c.T(1).EqScalar(pad).Unsqueeze(-1), 0)
			}
			return []*T{r, nil}
		},
	})
	tensor.Register(tensor.Def{
		Schema: "embedding_renorm_(Tensor(a!) self, Tensor indices, float max_norm, float norm_type) -> Tensor(a!)",
		Doc:    "scales the rows that indices name down to max_norm where their norm is larger.",
		NoGrad: "changes the weight outside the tape, as PyTorch",
		Infer: func(c *Ctx) {
			w := c.T(0)
			if w.Dim() != 2 {
				c.Fail(tensor.ErrShape, "Expected 2-dimensional tensor, but got %d-dimensional tensor for argument "+
					"#1 'self' (while checking arguments for embedding_renorm_)", w.Dim())
			}
			c.SetOut(0, w)
		},
		CPU: func(c *Ctx) { renorm(c, c.T(0), longs(c.T(1)), c.Float(2), c.Float(3)) },
	})
	tensor.Register(tensor.Def{
		Schema: "F::embedding(Tensor input, Tensor weight, int? padding_idx=None, float? max_norm=None, float norm_type=2.0, bool scale_grad_by_freq=False, bool sparse=False) -> Tensor",
		Doc: "looks up the rows of weight that input names. The row PaddingIdx gets no gradient; rows longer than " +
			"MaxNorm are shortened first, in place. " +
			"With Sparse the gradient of weight is a sparse tensor of the rows that input " +
			"names.\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.embedding.html",
		Body: func(c *Ctx) {
			ix, w := c.T(0), c.T(1)
			if w.Dim() != 2 {
				c.Fail(tensor.ErrShape, "'weight' must be 2-D")
			}
			pad := padIndex(c, 2, w)
			if c.Has(3) {
				renormRows(w, ix, c.Float(3), c.Float(4))
			}
			c.Return(op.Call1("aten::embedding", w, ix, pad, c.Bool(5), c.Bool(6)))
		},
	})
	tensor.Register(tensor.Def{
		Schema: "F::one_hot(Tensor tensor, int num_classes=-1) -> Tensor",
		Doc: "has a last dimension that is 1 at the class and 0 elsewhere. Without NumClasses the largest class " +
			"decides.\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.one_hot.html",
		DataDependent: true,
		Body:          func(c *Ctx) { c.Return(op.Call1("aten::one_hot", c.T(0), c.Int(1))) },
	})
	tensor.Register(tensor.Def{
		Schema: "one_hot(Tensor self, int num_classes=-1) -> Tensor",
		Doc: "has a last dimension that is 1 at the class and 0 elsewhere. Without NumClasses the largest class " +
			"decides.\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.one_hot.html",
		NoGrad: "integer result", DataDependent: true,
		Infer: func(c *Ctx) {
			if dt := c.ArgDType(0); dt != tensor.Int64 {
				c.Fail(tensor.ErrDType, "one_hot is only applicable to index tensor of type LongTensor.")
			}
			switch n := c.Int(1); {
			case n == -1 && c.T(0).Numel() == 0:
				c.Fail(tensor.ErrValue, "Can not infer total number of classes from empty tensor.")
			case n == -1: // the kernel looks for the largest class
			case n < 1:
				c.Fail(tensor.ErrValue, "num_classes should be positive")
			default:
				c.Alloc(0, append(append([]int{}, c.Shape(0)...), n), tensor.Int64)
			}
		},
		CPU: func(c *Ctx) {
			classes, n := longs(c.T(0)), c.Int(1)
			lo, hi := op.Extent(classes)
			switch {
			case lo < 0:
				c.Fail(tensor.ErrValue, "Class values must be non-negative.")
			case n == -1:
				n = int(hi) + 1
				c.Alloc(0, append(append([]int{}, c.Shape(0)...), n), tensor.Int64)
			case int(hi) >= n:
				c.Fail(tensor.ErrValue, "Class values must be smaller than num_classes.")
			}
			o := c.Out(0)
			tensor.ZeroRaw(o)
			if o.Numel() == 0 {
				return
			}
			d := tensor.Data[int64](o)
			for i, x := range classes {
				d[i*n+int(x)] = 1
			}
		},
	})
	// mode: 0 sum, 1 mean, 2 max
	tensor.Register(tensor.Def{
		Schema: "_embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False, int padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor)",
		Doc: "reduces bags of embedding rows; further results: the bag of every index, the size of every bag, the " +
			"row of every maximum.",
		Go:    "-",
		Infer: bagInfer, CPU: bagCPU,
		Save: "weight indices offsets per_sample_weights result1 result2 result3",
		VJP:  bagVJP,
	})
	tensor.Register(tensor.Def{
		Schema: "embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False) -> (Tensor, Tensor, Tensor, Tensor)",
		Doc:    "reduces bags of embedding rows: mode 0 sums, 1 averages, 2 takes the maximum.",
		Go:     "-",
		Body:   func(c *Ctx) { embeddingBag(c, -1) },
	})
	tensor.Register(tensor.Def{
		Schema: "embedding_bag.padding_idx(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq, int mode, bool sparse, Tensor? per_sample_weights, bool include_last_offset, int? padding_idx) -> (Tensor, Tensor, Tensor, Tensor)",
		Doc:    "is embedding_bag where the entries that name row padding_idx count for nothing.",
		Go:     "-",
		Body: func(c *Ctx) {
			if c.Has(8) {
				embeddingBag(c, padIndex(c, 8, c.T(0)))
				return
			}
			embeddingBag(c, -1)
		},
	})
	tensor.Register(tensor.Def{
		Schema: "F::embedding_bag(Tensor input, Tensor weight, Tensor? offsets=None, float? max_norm=None, float norm_type=2, bool scale_grad_by_freq=False, str mode=\"mean\", bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False, int? padding_idx=None) -> Tensor",
		Doc: "reduces bags of embedding rows: \"sum\", \"mean\" or \"max\". The rows of a 2-d input are the bags; " +
			"a 1-d input is cut at Offsets.\nhttps://pytorch.org/docs/stable/generated/torch.nn.functional.embedding_bag.html",
		Body: func(c *Ctx) {
			ix, w := c.T(0), c.T(1)
			var psw any
			if c.Has(8) {
				p := c.T(8)
				if !tensor.SameShape(p.Shape(), ix.Shape()) {
					c.Fail(tensor.ErrShape,
						"embedding_bag: If per_sample_weights (%s) is not None, then it must have the same shape as "+
							"the input (%s)", tensor.ShapeString(p.Shape()), tensor.ShapeString(ix.Shape()))
				}
				psw = p.Reshape([]int{-1})
			}
			var off *T
			switch ix.Dim() {
			case 2:
				if c.Has(2) {
					c.Fail(tensor.ErrValue,
						"if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed "+
							"length sequences. However, found offsets of type Tensor")
				}
				// a bag per row; rows without entries, for which arange has no step, are empty bags
				off = op.Call1("aten::arange.start_step", 0, ix.Numel(), max(1, ix.Size(1)), tensor.Int64, nil,
					ix.Device())
				if ix.Size(1) == 0 {
					off = op.Zeros(ix, ix.Shape()[:1], tensor.Int64)
				}
				ix = ix.Reshape([]int{-1})
			case 1:
				if !c.Has(2) {
					c.Fail(tensor.ErrValue, "offsets has to be a 1D Tensor but got None")
				}
				off = c.T(2)
				if off.Dim() != 1 {
					c.Fail(tensor.ErrValue, "offsets has to be a 1D Tensor")
				}
			default:
				c.Fail(tensor.ErrValue, "input has to be 1D or 2D Tensor, but got Tensor of dimension %d", ix.Dim())
			}
			mode, ok := map[string]int{"sum": 0, "mean": 1, "max": 2}[c.Str(6)]
			if !ok {
				c.Fail(tensor.ErrValue, "mode has to be one of sum, mean or max")
			}
			if mode == 2 && c.Bool(5) {
				c.Fail(tensor.ErrValue, "max mode does not support scaling the gradient by the frequency")
			}
			if psw != nil && mode != 0 {
				c.Fail(tensor.ErrNotImpl,
					"embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for "+
						"mode='sum' (got mode='%s'). Please open a feature request on GitHub.", c.Str(6))
			}
			var padding any
			if c.Has(10) {
				padding = padIndex(c, 10, w)
			}
			if c.Has(3) {
				renormRows(w, ix, c.Float(3), c.Float(4))
			}
			c.Return(op.Call("aten::embedding_bag.padding_idx", w, ix, off, c.Bool(5), mode, c.Bool(7), psw, c.Bool(9),
				padding)[0])
		},
	})
}

// embeddingBag calls _embedding_bag with the arguments of a form of embedding_bag.
func embeddingBag(c *Ctx, pad int) {
	c.Return(op.Call("aten::_embedding_bag", c.T(0), c.T(1), c.T(2), c.Bool(3), c.Int(4), c.Bool(5), c.Value(6),
		c.Bool(7), pad)...)
}

// padIndex reads padding_idx, which may count from the end; -1 when absent.
func padIndex(c *Ctx, arg int, w *T) int {
	if !c.Has(arg) {
		return -1
	}
	p := c.Int(arg)
	if n := w.Size(0); p < -n || p >= n {
		c.Fail(tensor.ErrValue, "Padding_idx must be within num_embeddings")
	} else if p < 0 {
		p += n
	}
	return p
}

// renormRows is embedding_renorm_ outside the tape, as torch.nn.functional calls it.
func renormRows(w, ix *T, maxNorm, p float64) {
	tensor.NoGrad(func() { op.Call1("aten::embedding_renorm_", op.Call1("aten::detach", w), ix, maxNorm, p) })
}

// renorm shortens the rows of w that ix names to maxNorm.
func renorm(c *Ctx, w *T, ix []int64, maxNorm, p float64) {
	n, d := w.Shape()[0], w.Shape()[1]
	done := map[int64]bool{}
	for k, i := range ix {
		if uint64(i) >= uint64(n) {
			failRow(c, ix, k, nil, n)
		}
		if done[i] {
			continue
		}
		done[i] = true
		stored := tensor.Alias(w, []int{d}, w.Strides()[1:], w.StorageOffset()+int(i)*w.Strides()[0])
		row := tensor.Data[float64](tensor.CloneRaw(tensor.DenseAs(stored, tensor.Float64)))
		norm := 0.0
		for _, v := range row {
			switch {
			case math.IsInf(p, 1):
				norm = max(norm, math.Abs(v))
			case p == 2:
				norm += v * v
			default:
				norm += math.Pow(math.Abs(v), p)
			}
		}
		if p == 2 {
			norm = math.Sqrt(norm)
		} else if !math.IsInf(p, 1) {
			norm = math.Pow(norm, 1/p)
		}
		if norm = half.Round(norm, w.DType()); norm > maxNorm { // a tensor of w's type, as is the factor
			s := half.Round(maxNorm/(norm+1e-7), w.DType())
			for j := range row {
				row[j] *= s
			}
			tensor.CopyRaw(stored, tensor.FromSlice(row, d))
		}
	}
}
