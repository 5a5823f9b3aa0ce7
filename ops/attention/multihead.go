package attention

import (
	"math"

	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// linear is x·wᵀ + b. An x (L, N, E) that is a transposed (N, L, E), as batch-first modules hand it on, is multiplied
// in the order in which it lies in memory, which saves its copy; so does the result lie.
func linear(x, w, b *T) *T {
	if tensor.Unwatched() && x.Dim() == 3 && !x.IsContiguous() {
		if y := x.Transpose(0, 1); y.IsContiguous() {
			return op.Call1("aten::linear", y, w, b).Transpose(0, 1)
		}
	}
	return op.Call1("aten::linear", x, w, b)
}

// canonicalMask gives a mask of dtype dt to be added: boolean masks are true where attention is not wanted.
func canonicalMask(c *Ctx, mask *T, name string, dt tensor.DType) *T {
	if mask == nil {
		return nil
	}
	if mask.DType() == tensor.Bool {
		z := mask.ZerosLike(tensor.ZerosLikeOptions{DType: dt})
		return z.MaskedFillScalarInPlace(mask, math.Inf(-1))
	}
	if !mask.DType().IsFloat() {
		c.Fail(tensor.ErrDType, "only bool and floating types of %s are supported", name)
	}
	return mask
}

// widen adds a column of zeros to a mask.
func widen(mask *T) *T {
	if mask == nil {
		return nil
	}
	return op.Call1("aten::pad", mask, []int{0, 1}, "constant", nil)
}

// unpack gives the n parts of a packed projection along its last dimension. While nobody looks on they are views of
// it; otherwise they are what PyTorch makes of it, by a copy that lays each part out by itself.
func unpack(p *T, n int) []*T {
	if tensor.Unwatched() {
		return p.Chunk(n, tensor.ChunkOptions{Dim: -1})
	}
	p = p.Unflatten(-1, []int{n, p.Size(-1) / n}).Unsqueeze(0).Transpose(0, -2).SqueezeDim(-2).Contiguous()
	parts := make([]*T, n)
	for i := range parts {
		parts[i] = p.Select(0, i)
	}
	return parts
}

func cat(dim int, ts ...*T) *T { return op.Call1("aten::cat", ts, dim) }

// project computes queries, keys and values.
func project(c *Ctx, q, k, v *T) (*T, *T, *T) {
	bias := c.T(6)
	e := q.Size(-1)
	if !c.Bool(17) {
		w := c.T(5)
		if w == nil {
			c.Fail(tensor.ErrValue, "use_separate_proj_weight is False but in_proj_weight is None")
		}
		if e := q.Size(-1); bias != nil && bias.Numel() != 3*e {
			c.Fail(tensor.ErrShape, "expected in_proj_bias of %d elements, got %s", 3*e,
				tensor.ShapeString(bias.Shape()))
		}
		if e := q.Size(-1); w.Dim() != 2 || w.Size(0) != 3*e {
			c.Fail(tensor.ErrShape, "expected in_proj_weight of %d rows for queries of %d features, got %s", 3*e, e,
				tensor.ShapeString(w.Shape()))
		}
		if q == k && k == v { // self-attention: one product
			p := unpack(linear(q, w, bias), 3)
			return p[0], p[1], p[2]
		}
		if k == v {
			var bq, b *T
			ws := w.SplitWithSizes([]int{e, 2 * e})
			if bias != nil {
				bs := bias.SplitWithSizes([]int{e, 2 * e})
				bq, b = bs[0], bs[1]
			}
			query := linear(q, ws[0], bq)
			p := unpack(linear(k, ws[1], b), 2)
			return query, p[0], p[1]
		}
		ws := w.Chunk(3)
		bs := []*T{nil, nil, nil}
		if bias != nil {
			bs = bias.Chunk(3)
		}
		return linear(q, ws[0], bs[0]), linear(k, ws[1], bs[1]), linear(v, ws[2], bs[2])
	}
	for i, n := range []string{"q_proj_weight", "k_proj_weight", "v_proj_weight"} {
		if c.T(18+i) == nil {
			c.Fail(tensor.ErrValue, "use_separate_proj_weight is True but %s is None", n)
		}
	}
	bs := []*T{nil, nil, nil}
	if bias != nil {
		bs = bias.Chunk(3)
	}
	return linear(q, c.T(18), bs[0]), linear(k, c.T(19), bs[1]), linear(v, c.T(20), bs[2])
}

// check refuses shapes that do not fit and reports whether there is a batch dimension.
func check(c *Ctx, q, k, v, pad, mask *T, heads int) bool {
	if q.Dim() != 2 && q.Dim() != 3 {
		c.Fail(tensor.ErrShape, "query should be unbatched 2D or batched 3D tensor but received %d-D query tensor",
			q.Dim())
	}
	if k.Dim() != q.Dim() || v.Dim() != q.Dim() {
		kind := "batched"
		if q.Dim() == 2 {
			kind = "unbatched"
		}
		c.Fail(tensor.ErrShape, "For %s (%d-D) `query`, expected `key` and `value` to be %d-D but found %d-D and "+
			"%d-D tensors respectively", kind, q.Dim(), q.Dim(), k.Dim(), v.Dim())
	}
	if pad != nil && pad.Dim() != q.Dim()-1 {
		c.Fail(tensor.ErrShape, "For %d-D `query`, expected `key_padding_mask` to be `None` or %d-D but found %d-D "+
			"tensor instead", q.Dim(), q.Dim()-1, pad.Dim())
	}
	if mask != nil && mask.Dim() != 2 && mask.Dim() != 3 {
		c.Fail(tensor.ErrShape, "expected `attn_mask` to be `None`, 2-D or 3-D but found %d-D tensor instead",
			mask.Dim())
	}
	return q.Dim() == 3
}

func multiHead(c *Ctx) {
	q, k, v := c.T(0), c.T(1), c.T(2)
	heads := c.Int(4)
	training, needWeights, average, isCausal := c.Bool(13), c.Bool(15), c.Bool(23), c.Bool(24)
	pad, mask := c.T(14), c.T(16)
	batched := check(c, q, k, v, pad, mask, heads)
	// A layer that looks on sees PyTorch's steps; otherwise fewer copies lead to the same.
	watched := !tensor.Unwatched()
	if !batched {
		same, sameKV := k == q && !watched, v == k && !watched
		q = q.Unsqueeze(1)
		if same {
			k = q
		} else {
			k = k.Unsqueeze(1)
		}
		if sameKV {
			v = k
		} else {
			v = v.Unsqueeze(1)
		}
		if pad != nil {
			pad = pad.Unsqueeze(0)
		}
	}
	L, n, e := q.Size(0), q.Size(1), q.Size(2)
	S := k.Size(0)
	dt := q.DType()
	if pad != nil && mask != nil && pad.DType() != mask.DType() {
		tensor.Warn("Support for mismatched key_padding_mask and attn_mask is deprecated. Use same type for both instead.")
	}
	pad = canonicalMask(c, pad, "key_padding_mask", dt)
	if isCausal && mask == nil {
		c.Fail(tensor.ErrValue, "Need attn_mask if specifying the is_causal hint. You may use the Transformer module "+
			"method `generate_square_subsequent_mask` to create this mask.")
	}
	if isCausal && pad == nil && !needWeights {
		mask = nil // the kernel's own causal mask takes its place
	} else {
		mask = canonicalMask(c, mask, "attn_mask", dt)
		if pad != nil {
			isCausal = false
		}
	}
	if e != c.Int(3) {
		c.Fail(tensor.ErrShape, "was expecting embedding dimension of %d, but got %d", c.Int(3), e)
	}
	if heads <= 0 || e%heads != 0 {
		c.Fail(tensor.ErrValue, "embed_dim %d not divisible by num_heads %d", e, heads)
	}
	hd := e / heads
	if c.Bool(17) {
		if !tensor.SameShape(k.Shape()[:2], v.Shape()[:2]) {
			c.Fail(tensor.ErrShape, "key's sequence and batch dims %s do not match value's %s",
				tensor.ShapeString(k.Shape()[:2]), tensor.ShapeString(v.Shape()[:2]))
		}
	} else if !tensor.SameShape(k.Shape(), v.Shape()) {
		c.Fail(tensor.ErrShape, "key shape %s does not match value shape %s", tensor.ShapeString(k.Shape()),
			tensor.ShapeString(v.Shape()))
	}
	q, k, v = project(c, q, k, v)
	if mask != nil {
		want := []int{L, S}
		if mask.Dim() == 3 {
			want = []int{n * heads, L, S}
		}
		if !tensor.SameShape(mask.Shape(), want) {
			c.Fail(tensor.ErrShape, "The shape of the %dD attn_mask is %s, but should be %s.", mask.Dim(),
				tensor.ShapeString(mask.Shape()), tensor.ShapeString(want))
		}
		if mask.Dim() == 2 {
			mask = mask.Unsqueeze(0)
		}
	}
	if bk, bv := c.T(7), c.T(8); bk != nil && bv != nil { // one more key and value, to be learnt
		sh := []int{1, n, e}
		if watched {
			k, v = cat(0, k, bk.Repeat([]int{1, n, 1})), cat(0, v, bv.Repeat([]int{1, n, 1}))
		} else {
			k, v = cat(0, k, bk.Expand(sh)), cat(0, v, bv.Expand(sh))
		}
		mask, pad = widen(mask), widen(pad)
	}
	p := c.Float(10)
	if !training {
		p = 0
	}
	var four func(x *T) *T // queries, keys and values as (N, heads, positions, features)
	if c.T(21) == nil && c.T(22) == nil && !c.Bool(9) && !needWeights && !watched {
		// the heads stay where the projection has left them
		four = func(x *T) *T { return x.View([]int{x.Size(0), n, heads, hd}).Permute([]int{1, 2, 0, 3}) }
		S = k.Size(0)
	} else {
		four = func(x *T) *T { return x.View([]int{n, heads, x.Size(1), hd}) }
		byHead := func(x, static *T) *T {
			switch {
			case static != nil:
				return static
			case watched:
				return x.View([]int{x.Size(0), n * heads, hd}).Transpose(0, 1)
			}
			return x.Reshape([]int{x.Size(0), n * heads, hd}).Transpose(0, 1)
		}
		q, k, v = byHead(q, nil), byHead(k, c.T(21)), byHead(v, c.T(22))
		if c.Bool(9) { // one more key and value of zeros
			sh := []int{n * heads, 1, hd}
			if watched {
				zeros := func(x *T) *T { return op.Call1("aten::zeros", sh, x.DType(), nil, x.Device()) }
				k = cat(1, k, zeros(k))
				v = cat(1, v, zeros(v))
			} else {
				zero := k.NewZeros(sh)
				k, v = cat(1, k, zero), cat(1, v, zero)
			}
			mask, pad = widen(mask), widen(pad)
		}
		S = k.Size(1)
	}
	if pad != nil && (pad.Size(0) != n || pad.Size(1) != S) {
		c.Fail(tensor.ErrShape, "Expected key_padding_mask.shape to be [%d, %d], but got %s", n, S,
			tensor.ShapeString(pad.Shape()))
	}
	mask = mergeMasks(mask, pad, n, heads, S, needWeights || watched)
	if watched && !needWeights && mask != nil {
		if mask.Size(0) == 1 && mask.Dim() == 3 {
			mask = mask.Unsqueeze(0)
		} else {
			mask = mask.View([]int{n, heads, -1, S})
		}
	}
	flat := []int{L, n, e}
	if watched { // PyTorch's linear takes all positions as rows
		flat = []int{L * n, e}
	}
	var out, w *T
	if needWeights {
		qs := op.Call1("aten::mul.Tensor", q, math.Sqrt(1/float64(hd)))
		kt := k.Transpose(-2, -1)
		if mask != nil {
			w = mask.BAddBMM(qs, kt)
		} else {
			w = qs.BMM(kt)
		}
		w = w.Softmax(-1)
		if p > 0 {
			w = op.Call1("aten::dropout", w, p, true)
		}
		out = w.BMM(v).Transpose(0, 1).Reshape(flat)
	} else {
		res, err := tensor.ResolveCall([]string{"aten::scaled_dot_product_attention"},
			[]tensor.Value{tensor.TensorValue(four(q)), tensor.TensorValue(four(k)), tensor.TensorValue(four(v)),
				tensor.TensorValue(mask), tensor.FloatValue(p), tensor.BoolValue(isCausal)}, nil)
		if err != nil {
			panic(err)
		}
		out = res[0].T.Permute([]int{2, 0, 1, 3}).Reshape(flat)
		if training && !watched {
			out = out.Contiguous() // dropout that follows draws in the order of memory
		}
	}
	out = linear(out, c.T(11), c.T(12))
	if watched {
		out = out.View([]int{L, n, e})
	}
	if needWeights {
		w = w.View([]int{n, heads, L, S})
		if average {
			w = w.MeanDim([]int{1})
		}
	}
	if !batched {
		if out = out.SqueezeDim(1); needWeights {
			w = w.SqueezeDim(0)
		}
	}
	c.Return(out, w)
}

// mergeMasks is the sum of an attention mask (1, L, S) or (N·heads, L, S) and a padding mask (N, S), either of which
// may be nil: of three dimensions when flat is set, of four that broadcast otherwise.
func mergeMasks(mask, pad *T, n, heads, S int, flat bool) *T {
	if pad != nil {
		pad = pad.View([]int{n, 1, 1, S})
		if flat {
			pad = pad.Expand([]int{n, heads, 1, S}).Reshape([]int{n * heads, 1, S})
		}
	}
	if mask != nil && !flat {
		if mask.Size(0) == 1 {
			mask = mask.Unsqueeze(0)
		} else {
			mask = mask.View([]int{n, heads, -1, S})
		}
	}
	switch {
	case mask == nil:
		return pad
	case pad == nil:
		return mask
	}
	return mask.Add(pad)
}
