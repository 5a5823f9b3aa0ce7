package attention

import (
	"math"
	"slices"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/rng"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

var (
	opFlash         = tensor.Slot("aten::_scaled_dot_product_flash_attention_for_cpu")
	opFlashBackward = tensor.Slot("aten::_scaled_dot_product_flash_attention_for_cpu_backward")
	// with dropout, which PyTorch's kernel for the CPU has not
	opFlashDropoutBackward = tensor.Slot("gotorch::scaled_dot_product_flash_attention_dropout_backward")
)

// tiled computes attention tile by tile, or returns nil where the arguments ask for the composed form: other dtypes,
// no elements, a mask that wants a gradient, or shapes that do not fit, for which the composed form has the error.
func tiled(q, k, v, mask *T, p float64, isCausal bool, scale float64, gqa bool) *T {
	if !(p >= 0 && p < 1) || !q.DType().IsFloat() || q.Numel() == 0 || k.Numel() == 0 || v.Numel() == 0 ||
		mask != nil && mask.RequiresGrad() && tensor.IsGradEnabled() {
		return nil
	}
	n := max(q.Dim(), k.Dim(), v.Dim())
	if q.Size(-1) != k.Size(-1) || k.Size(-2) != v.Size(-2) {
		return nil
	}
	if mask != nil {
		if n = max(n, mask.Dim()); !broadcasts(mask.Shape(), []int{q.Size(-2), k.Size(-2)}, 2) {
			return nil
		}
	}
	if n = max(n, 4); n > 4 && (mask != nil && mask.Dim() > 2 || gqa) {
		return nil // rare: the leading dimensions cannot be joined
	}
	// leading dimensions: equal, or broadcast by views, or repeated by the kernel
	lead := make([]int, n-2)
	for i := range lead {
		lead[i] = 1
	}
	for _, x := range []*T{q, k, v, mask} {
		if x == nil {
			continue
		}
		for i := range x.Dim() - 2 {
			d := &lead[i+n-x.Dim()]
			s := x.Size(i)
			if gqa && i == x.Dim()-3 && x != mask && x != q {
				continue
			}
			if *d != s && *d != 1 && s != 1 {
				return nil
			}
			*d = max(*d, s)
		}
	}
	if slices.Max(append(lead, 1)) == 0 {
		return nil
	}
	heads := lead[n-3]
	if gqa && (q.Dim() < 3 || k.Dim() < 3 || v.Dim() < 3 || k.Size(-3) != v.Size(-3) || heads%k.Size(-3) != 0 ||
		q.Size(-3) != heads) {
		return nil
	}
	if p > 0 { // the draws are those of weights shaped by query and key
		n := 1
		for _, d := range lead {
			n *= d
		}
		if q.Numel() != n*q.Size(-2)*q.Size(-1) {
			return nil
		}
	}
	fit := func(x *T) *T {
		sh := append(slices.Clone(lead), x.Size(-2), x.Size(-1))
		if gqa && x != q {
			sh[n-3] = x.Size(-3)
		}
		for x.Dim() < n {
			x = x.Unsqueeze(0)
		}
		if !tensor.SameShape(x.Shape(), sh) {
			x = x.Expand(sh)
		}
		if n > 4 {
			x = x.Reshape(append([]int{-1}, sh[n-3:]...))
		}
		return x
	}
	dims := max(q.Dim(), k.Dim(), v.Dim())
	if mask != nil {
		dims = max(dims, mask.Dim())
	}
	c := tensor.NewCall(opFlash, 7)
	*c.Arg(0), *c.Arg(1), *c.Arg(2) = tensor.TensorValue(fit(q)), tensor.TensorValue(fit(k)), tensor.TensorValue(fit(v))
	*c.Arg(3), *c.Arg(4) = tensor.FloatValue(p), tensor.BoolValue(isCausal)
	*c.Arg(5), *c.Arg(6) = tensor.TensorValue(mask), tensor.FloatValue(scale)
	out := c.DoN()[0]
	if dims == 4 {
		return out
	}
	return out.Reshape(append(slices.Clone(lead[n-dims:]), out.Size(-2), out.Size(-1)))
}

// broadcasts reports whether the last n sizes of a shape broadcast to the given ones.
func broadcasts(shape, to []int, n int) bool {
	for i := 1; i <= min(n, len(shape)); i++ {
		if s := shape[len(shape)-i]; s != 1 && s != to[len(to)-i] {
			return false
		}
	}
	return true
}

// stridesLike are dense strides for a shape (batch, head, position, feature), the first three in the order in which
// they lie in like.
func stridesLike(shape []int, like *T) []int {
	perm := []int{0, 1, 2}
	slices.SortStableFunc(perm, func(a, b int) int { return like.Stride(b) - like.Stride(a) })
	st := []int{0, 0, 0, 1}
	n := shape[3]
	for i := 2; i >= 0; i-- {
		st[perm[i]] = n
		n *= max(1, shape[perm[i]])
	}
	return st
}

func opMath(dt tensor.DType) tensor.DType {
	if dt == tensor.Float64 {
		return dt
	}
	return tensor.Float32
}

// flashCheck refuses query, key and value, which are arguments i and following, a probability and a mask that do not
// fit.
func flashCheck(c *Ctx, i, dropout, mask int) {
	q, k, v := c.T(i), c.T(i+1), c.T(i+2)
	if q.Dim() != 4 || k.Dim() != 4 || v.Dim() != 4 {
		c.Fail(tensor.ErrShape, "scaled_dot_product_attention_flash_attention: Accept only 4 dims inputs shape of "+
			"{B, H, T, K}")
	}
	if !q.DType().IsFloat() || k.DType() != q.DType() || v.DType() != q.DType() {
		c.Fail(tensor.ErrDType, "scaled_dot_product_attention_flash_attention: Q/K/V should have the same data type")
	}
	if q.Size(3) != k.Size(3) || k.Size(2) != v.Size(2) || k.Size(1) != v.Size(1) || k.Size(0) != q.Size(0) ||
		v.Size(0) != q.Size(0) || k.Size(1) == 0 || q.Size(1)%max(1, k.Size(1)) != 0 {
		c.Fail(tensor.ErrShape, "scaled_dot_product_attention_flash_attention: Q/K/V of sizes %s, %s and %s do not fit",
			tensor.ShapeString(q.Shape()), tensor.ShapeString(k.Shape()), tensor.ShapeString(v.Shape()))
	}
	if p := c.Float(dropout); !(p >= 0 && p < 1) {
		c.Fail(tensor.ErrValue, "dropout probability has to be between 0 and 1, but got %v", p)
	}
	if m := c.T(mask); m != nil && (m.Dim() > 4 ||
		!broadcasts(m.Shape(), []int{q.Size(0), q.Size(1), q.Size(2), k.Size(2)}, 4)) {
		c.Fail(tensor.ErrShape, "scaled_dot_product_attention_flash_attention: a mask of size %s does not fit",
			tensor.ShapeString(m.Shape()))
	}
}

func flashInfer(c *Ctx) {
	flashCheck(c, 0, 3, 5)
	q, v := c.T(0), c.T(2)
	sh := []int{q.Size(0), q.Size(1), q.Size(2), v.Size(3)}
	st := stridesLike(sh, q)
	if c.Float(3) > 0 {
		// In training more dropout may follow, which draws in the order of memory: positions, batch, heads is
		// multi-head attention's.
		st = []int{sh[1] * sh[3], sh[3], sh[0] * sh[1] * sh[3], 1}
	}
	c.AllocStrided(0, sh, st, q.DType())
	c.Alloc(1, sh[:3], opMath(q.DType()))
}

// scaleOf is argument i, 1/sqrt(features) unless given.
func scaleOf(c *Ctx, i int, q *T) float64 {
	if c.Has(i) {
		return c.Float(i)
	}
	return 1 / math.Sqrt(float64(q.Size(3)))
}

func flashCPU(c *Ctx) {
	if opMath(c.ArgDType(0)) == tensor.Float64 {
		flashRun[float64](c)
	} else {
		flashRun[float32](c)
	}
}

// computedIn calls f with o where o has dtype dt, otherwise with a tensor of dtype dt and the same strides, and then
// rounds that to o.
func computedIn(o *T, dt tensor.DType, f func(o *T)) {
	if o.DType() == dt {
		f(o)
		return
	}
	w := tensor.NewStrided(o.Shape(), o.Strides(), dt)
	f(w)
	tensor.CopyRaw(o, w)
	tensor.ReleaseRaw(w)
}

func flashRun[E float](c *Ctx) {
	f := newFlash[E](c.T(0), c.T(1), c.T(2), c.T(5), c.Bool(4), scaleOf(c, 6, c.T(0)))
	if p := c.Float(3); p > 0 {
		// the numbers that dropout of the whole matrix of weights would draw
		keep := tensor.New([]int{f.nb, f.heads, f.L, f.S}, tensor.Bool)
		f.setDropout(keep, p)
		if err := rng.Bernoulli(rng.Default, f.keep, 1-p); err != nil {
			c.Fail(tensor.ErrValue, "%s", err)
		}
		if c.Wants() {
			c.Keep(keep)
		} else {
			defer tensor.ReleaseRaw(keep)
		}
	}
	computedIn(c.Out(0), tensor.DTypeOf[E](), func(o *T) {
		f.out, f.lse = blockOf[E](o), tensor.Data[E](c.Out(1))
		f.forward()
	})
}

// setDropout sets up dropout with a mask of (batch, heads, queries, keys).
func (f *flash[E]) setDropout(keep *T, p float64) {
	f.keep = unsafe.Slice((*uint8)(tensor.Ptr(keep)), keep.Numel())
	f.keepScale = 1 / E(1-p)
}

// packedGradients lays the three gradients out as query, key and value lie, when these are the thirds of one
// projection: then nothing has to be copied to make the projection's gradient of them.
func packedGradients(c *Ctx) bool {
	q := c.T(1)
	sh, st := q.Shape(), q.Strides()
	if len(sh) != 4 {
		c.Fail(tensor.ErrShape, "%s: query must have the shape [batch, heads, length, features], got %s",
			c.Op().FullName(), tensor.ShapeString(sh))
	}
	w := sh[1] * sh[3] // features of a position
	for i := range 3 {
		x := c.T(1 + i)
		if x.Storage() != q.Storage() || x.DType() != q.DType() || x.StorageOffset() != q.StorageOffset()+i*w ||
			!tensor.SameShape(x.Shape(), sh) || !slices.Equal(x.Strides(), st) {
			return false
		}
	}
	n := 3 * w
	batchFirst := st[2] == n && st[0] == n*sh[2]
	if !(batchFirst || st[0] == n && st[2] == n*sh[0]) || st[1] != sh[3] || st[3] != 1 {
		return false
	}
	whole := c.AllocStrided(0, []int{sh[0] * sh[2] * n}, nil, q.DType())
	for i := range 3 {
		c.SetOut(i, tensor.Alias(whole, sh, st, i*w))
	}
	return true
}

func flashBackwardRun[E float](c *Ctx) {
	dt := tensor.DTypeOf[E]()
	f := newFlash[E](c.T(1), c.T(2), c.T(3), c.T(8), c.Bool(7), scaleOf(c, 9, c.T(1)))
	if c.NumArgs() > 10 {
		f.setDropout(c.T(10), c.Float(6))
	}
	f.out, f.lse = blockOf[E](withDType(c.T(4), dt)), tensor.Data[E](tensor.Dense(c.T(5)))
	g := blockOf[E](withDType(c.T(0), dt))
	computedIn(c.Out(0), dt, func(gq *T) {
		computedIn(c.Out(1), dt, func(gk *T) {
			computedIn(c.Out(2), dt, func(gv *T) {
				q, k, v := blockOf[E](gq), blockOf[E](gk), blockOf[E](gv)
				f.backward(&g, &q, &k, &v)
			})
		})
	})
}

// flashVJP is the gradient. Where it is recorded itself, it is that of the composed form.
func flashVJP(c *Ctx, g *T) []*T {
	keep, _ := c.Kept().(*T)
	if tensor.IsGradEnabled() {
		r := make([]*T, 4)
		var x [3]*T
		var want []*T
		for i := range x {
			// an alias each, as query and key may be one tensor
			if x[i] = c.T(i).AliasView(); c.Needs(i) && x[i].RequiresGrad() {
				want = append(want, x[i])
			}
		}
		drop := func(w *T) *T {
			if keep != nil {
				w = op.Call1("aten::native_dropout_backward", w, keep, 1/(1-c.Float(3)))
			}
			return w
		}
		out := composed(x[0], expandHeads(x[1], x[0].Size(1)), expandHeads(x[2], x[0].Size(1)), c.T(5), c.Bool(4),
			scaleOf(c, 6, c.T(0)), drop)
		gs := tensor.Grad([]*T{out}, want, tensor.GradOptions{GradOutputs: []*T{g}, CreateGraph: true})
		for i := range x {
			if c.Needs(i) && x[i].RequiresGrad() {
				r[i], gs = gs[0], gs[1:]
			}
		}
		return r
	}
	backward, n := opFlashBackward, 10
	if keep != nil {
		backward, n = opFlashDropoutBackward, 11
	}
	b := tensor.NewCall(backward, n)
	*b.Arg(0) = tensor.TensorValue(g)
	for i := range 3 {
		*b.Arg(1 + i) = tensor.TensorValue(c.T(i))
	}
	*b.Arg(4), *b.Arg(5) = tensor.TensorValue(c.Out(0)), tensor.TensorValue(c.Out(1))
	*b.Arg(6), *b.Arg(7) = tensor.FloatValue(c.Float(3)), tensor.BoolValue(c.Bool(4))
	*b.Arg(8), *b.Arg(9) = tensor.TensorValue(c.T(5)), tensor.FloatValue(scaleOf(c, 6, c.T(0)))
	if keep != nil {
		*b.Arg(10) = tensor.TensorValue(keep)
	}
	gq, gk, gv := b.Do3()
	return []*T{gq, gk, gv, nil}
}

func init() {
	tensor.Register(tensor.Def{
		Schema: "_scaled_dot_product_flash_attention_for_cpu(Tensor query, Tensor key, Tensor value, float dropout_p=0.0, bool is_causal=False, *, Tensor? attn_mask=None, float? scale=None) -> (Tensor output, Tensor logsumexp)",
		Doc: "is the kernel of scaled_dot_product_attention for (batch, heads, positions, features); key and " +
			"value may have fewer heads. It keeps no matrix of scores.",
		Go: "-", AMP: tensor.AMPLower,
		Infer: flashInfer, CPU: flashCPU,
		Save: "query key value attn_mask output logsumexp",
		VJP:  flashVJP,
		Grad: "ScaledDotProductFlashAttentionForCpuBackward0",
	})
	const args = "(Tensor grad_out, Tensor query, Tensor key, Tensor value, Tensor out, Tensor logsumexp, float " +
		"dropout_p, bool is_causal, *, Tensor? attn_mask=None, float? scale=None"
	const results = ") -> (Tensor grad_query, Tensor grad_key, Tensor grad_value)"
	for _, schema := range []string{
		"_scaled_dot_product_flash_attention_for_cpu_backward" + args + results,
		"gotorch::scaled_dot_product_flash_attention_dropout_backward" + args + ", Tensor dropout_mask" + results,
	} {
		tensor.Register(tensor.Def{
			Schema: schema,
			Doc:    "are the gradients of query, key and value.",
			Go:     "-", NoGrad: "the gradient of a gradient goes through the composed form",
			Infer: func(c *Ctx) {
				flashCheck(c, 1, 6, 8)
				q := c.Shape(1)
				sh := []int{q[0], q[1], q[2], c.Shape(3)[3]}
				c.WantShape(0, sh...)
				c.WantShape(4, sh...)
				c.WantShape(5, sh[:3]...)
				c.WantDType(5, opMath(c.ArgDType(1)))
				if c.NumArgs() > 10 {
					c.WantShape(10, q[0], q[1], q[2], c.Shape(2)[2])
				}
				if packedGradients(c) {
					return
				}
				for i := range 3 {
					x := c.T(1 + i)
					c.AllocStrided(i, x.Shape(), stridesLike(x.Shape(), x), x.DType())
				}
			},
			CPU: func(c *Ctx) {
				if opMath(c.ArgDType(1)) == tensor.Float64 {
					flashBackwardRun[float64](c)
				} else {
					flashBackwardRun[float32](c)
				}
			},
		})
	}
}
