package onnx

import (
	"math"

	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	define("com.microsoft", map[string]rule{
		"Attention":           contribAttention,
		"GroupQueryAttention": groupQueryAttention,
		"MultiHeadAttention":  multiHeadAttention,
		"RotaryEmbedding":     contribRotary,
	})

	helper("ms_attention(Tensor x, Tensor w, Tensor? b, Tensor? mask, Tensor? past, Tensor? bias, int heads, int[]? "+
		"sizes, "+
		"float? scale, float filter, bool causal) -> (Tensor, Tensor)", func(a args) any {
		x, w := a.T(0), a.T(1)
		heads := a.int(6)
		if x.Dim() != 3 || w.Dim() != 2 || heads <= 0 {
			wrong("Attention", "input of shape %v, weights of shape %v, %d heads", x.Shape(), w.Shape(), heads)
		}
		sizes := a.ints(7)
		if sizes == nil {
			h := w.Size(1) / 3
			sizes = []int{h, h, h}
		}
		if len(sizes) != 3 || product(sizes) == 0 || sizes[0]+sizes[1]+sizes[2] != w.Size(1) {
			wrong("Attention", "sizes %v for weights of shape %v", sizes, w.Shape())
		}
		qkv := x.MatMul(w)
		if b := a.T(2); b != nil {
			qkv = qkv.Add(b)
		}
		parts := qkv.SplitWithSizes(sizes, tensor.SplitWithSizesOptions{Dim: 2})
		m := contribMask{filter: a.float(9), causal: a.bool(10)}
		if a.has(8) {
			m.scale = a.float(8)
		}
		q, k, v := splitHeads(parts[0], heads), splitHeads(parts[1], heads), splitHeads(parts[2], heads)
		if p := a.T(4); p != nil {
			m.past = p.Size(3)
			k = call("aten::cat", []*T{p.Select(0, 0), k}, 2)
			v = call("aten::cat", []*T{p.Select(0, 1), v}, 2)
		}
		y := m.run(q, k, v, a.T(3), a.T(5))
		present := x
		if k.Size(3) == v.Size(3) {
			present = call("aten::stack", []*T{k, v}, 0)
		}
		return []any{joinHeads(y), present}
	})
	helper("ms_multi_head(Tensor q, Tensor? k, Tensor? v, Tensor? b, Tensor? mask, Tensor? bias, Tensor? past_k, "+
		"Tensor? past_v, int heads, float? scale, float filter, bool causal) -> (Tensor, Tensor, Tensor)",
		func(a args) any {
			q, k, v, heads := a.T(0), a.T(1), a.T(2), a.int(8)
			if heads <= 0 {
				wrong("MultiHeadAttention", "%d heads", heads)
			}
			switch { // packed forms: batch, steps, heads, 3 or 2, size
			case q.Dim() == 5:
				q, k, v = unpackHeads(q, 0), unpackHeads(q, 1), unpackHeads(q, 2)
			case k != nil && k.Dim() == 5:
				k, v = unpackHeads(k, 0), unpackHeads(k, 1)
			}
			if k == nil || v == nil {
				wrong("MultiHeadAttention", "key or value is missing")
			}
			if b := a.T(3); b != nil {
				add := func(x *T, at int) (*T, int) {
					if x.Dim() != 3 {
						return x, at
					}
					return x.Add(b.Narrow(0, at, x.Size(2))), at + x.Size(2)
				}
				at := 0
				if q.Dim() == 3 && k.Dim() != 3 { // keys that were computed before have no bias
					q, _ = add(q, 0)
				} else {
					q, at = add(q, at)
					k, at = add(k, at)
					v, _ = add(v, at)
				}
			}
			q, k, v = splitHeads(q, heads), splitHeads(k, heads), splitHeads(v, heads)
			m := contribMask{filter: a.float(10), causal: a.bool(11)}
			if a.has(9) {
				m.scale = a.float(9)
			}
			if p := a.T(6); p != nil && a.T(7) != nil {
				m.past = p.Size(2)
				k, v = call("aten::cat", []*T{p, k}, 2), call("aten::cat", []*T{a.T(7), v}, 2)
			}
			return []any{joinHeads(m.run(q, k, v, a.T(4), a.T(5))), k, v}
		})
	helper("ms_group_query(Tensor q, Tensor? k, Tensor? v, Tensor? past_k, Tensor? past_v, Tensor lengths, Tensor "+
		"total, "+
		"Tensor? cos, Tensor? sin, Tensor? positions, Tensor? bias, int heads, int kv_heads, float? scale, float "+
		"softcap, "+
		"int window, bool rotary, bool interleaved, bool causal) -> (Tensor, Tensor, Tensor)", groupQuery)
	helper("ms_rotary(Tensor x, Tensor positions, Tensor cos, Tensor sin, int heads, int size, bool interleaved)"+
		" -> Tensor",
		func(a args) any {
			x, p, size, heads := a.T(0), a.T(1), a.int(5), a.int(4)
			steps := x.Size(1)
			if x.Dim() == 4 {
				steps = x.Size(2)
			} else if heads == 0 {
				each := 2 * a.T(2).Size(1)
				if each == 0 || x.Size(2)%each != 0 {
					wrong("RotaryEmbedding", "shape %v with caches of %d columns", x.Shape(), a.T(2).Size(1))
				}
				heads = x.Size(2) / each
			}
			if p.Numel() == 1 { // where the first step is
				p = call("aten::arange", steps).Add(p.ToDType(tensor.Int64).Reshape([]int{})).Unsqueeze(0)
				p = p.Expand([]int{x.Size(0), steps})
			}
			return rotary(x, a.T(2), a.T(3), p, heads, size, a.bool(6))
		})
}

// splitHeads takes the heads out of the last dimension, unless that is done already.
func splitHeads(x *T, n int) *T {
	if x.Dim() == 4 {
		return x
	}
	return heads(x, n)
}

// joinHeads is the reverse: batch, heads, steps, size → batch, steps, heads·size.
func joinHeads(x *T) *T {
	return x.Transpose(1, 2).Reshape([]int{x.Size(0), x.Size(2), x.Size(1) * x.Size(3)})
}

// unpackHeads is one of the tensors that lie together in batch, steps, heads, count, size.
func unpackHeads(x *T, i int) *T { return x.Select(3, i).Transpose(1, 2) }

// contribMask is attention with the masks of ONNX Runtime's operators: what may not be seen gets a large negative
// number added, not minus infinity.
type contribMask struct {
	scale  float64 // 0: one by the square root of the size
	filter float64
	causal bool
	past   int
}

// run computes attention of q, k, v: batch, heads, steps, size. mask is one of: the number of keys for each element of
// the batch, or that number and the first key for each; ones and zeros for each key, or for each pair.
func (m *contribMask) run(q, k, v, mask, bias *T) *T {
	if m.scale == 0 {
		m.scale = 1 / math.Sqrt(float64(q.Size(3)))
	}
	batch, steps, keys := q.Size(0), q.Size(2), k.Size(2)
	if mask == nil && bias == nil && (!m.causal || m.past == 0 && steps == keys) {
		return call("aten::scaled_dot_product_attention", q, k, v, nil, 0.0, m.causal, m.scale)
	}
	s := q.MatMul(k.Transpose(2, 3)).MulScalar(m.scale)
	if bias != nil {
		s = s.Add(bias)
	}
	if mask != nil {
		var seen *T
		at := call("aten::arange", keys)
		switch {
		case mask.Dim() == 1 && mask.Numel() == batch:
			seen = at.Lt(mask.ToDType(tensor.Int64).Reshape([]int{batch, 1, 1, 1}))
		case mask.Dim() == 1 && mask.Numel() == 2*batch:
			end := mask.ToDType(tensor.Int64).Narrow(0, 0, batch).Reshape([]int{batch, 1, 1, 1})
			from := mask.ToDType(tensor.Int64).Narrow(0, batch, batch).Reshape([]int{batch, 1, 1, 1})
			seen = at.Lt(end).LogicalAnd(at.Ge(from))
		case mask.Dim() == 1 && mask.Numel() == 3*batch+2:
			seen = at.Lt(mask.ToDType(tensor.Int64).Narrow(0, 0, batch).Reshape([]int{batch, 1, 1, 1}))
		case mask.Dim() == 2:
			seen = mask.NeScalar(0).Reshape([]int{mask.Size(0), 1, 1, mask.Size(1)})
		case mask.Dim() == 3:
			seen = mask.NeScalar(0).Unsqueeze(1)
		case mask.Dim() == 4:
			seen = mask.NeScalar(0).Narrow(2, m.past, steps).Narrow(3, 0, keys)
		default:
			wrong("Attention", "a mask of shape %v for a batch of %d", mask.Shape(), batch)
		}
		hidden := seen.LogicalNot().ToDType(s.DType()).MulScalar(m.filter)
		s = s.Add(hidden)
	}
	if m.causal {
		i := call("aten::arange", steps).AddScalar(keys - steps).Reshape([]int{steps, 1})
		s = s.MaskedFillScalar(call("aten::arange", keys).Gt(i), m.filter)
	}
	return s.Softmax(-1).MatMul(v)
}

func contribAttention(n *node) []*value {
	if n.bool("do_rotary", false) {
		unsupported("rotary positions in Attention")
	}
	out := n.calls("onnx::ms_attention", n.T(0), n.T(1), n.opt(2), n.opt(3), n.opt(4), n.opt(5), n.int("num_heads", 0),
		n.optInts("qkv_hidden_sizes"), n.optFloat("scale"), n.float("mask_filter_value", -10000),
		n.bool("unidirectional", false))
	return []*value{n.same(out[0]), n.like(out[1])}
}

// optFloat is a float attribute as an argument: nil when it is left out or 0.
func (n *node) optFloat(name string) any {
	if x := n.float(name, 0); x != 0 {
		return x
	}
	return nil
}

func multiHeadAttention(n *node) []*value {
	if n.has(8) {
		unsupported("caches that keys and values are written into")
	}
	out := n.calls("onnx::ms_multi_head", n.T(0), n.opt(1), n.opt(2), n.opt(3), n.opt(4), n.opt(5), n.opt(6), n.opt(7),
		n.int("num_heads", 0), n.optFloat("scale"), n.float("mask_filter_value", -10000),
		n.bool("unidirectional", false))
	return []*value{n.like(out[0]), n.like(out[1]), n.like(out[2])}
}

func contribRotary(n *node) []*value {
	n.T(3)
	if n.bool("is_packed_batching", false) {
		unsupported("packed batches")
	}
	return one(n.same(n.call("onnx::ms_rotary", n.T(0), n.T(1), n.T(2), n.T(3), n.int("num_heads", 0),
		n.int("rotary_embedding_dim", 0), n.bool("interleaved", false))))
}

func groupQueryAttention(n *node) []*value {
	n.T(6)
	for i := 11; i < len(n.in); i++ {
		if n.has(i) {
			unsupported("input %d", i)
		}
	}
	if n.int("smooth_softmax", -1) > 0 || n.int("qk_output", 0) != 0 || n.str("k_quant_type", "NONE") != "NONE" {
		unsupported("smooth softmax, the output of scores, or quantized caches")
	}
	out := n.calls("onnx::ms_group_query", n.T(0), n.opt(1), n.opt(2), n.opt(3), n.opt(4), n.T(5), n.T(6), n.opt(7),
		n.opt(8),
		n.opt(9), n.opt(10), n.int("num_heads", 0), n.int("kv_num_heads", 0), n.optFloat("scale"),
		n.float("softcap", 0),
		n.int("local_window_size", -1), n.bool("do_rotary", false), n.bool("rotary_interleaved", false),
		n.bool("causal", true))
	return []*value{n.like(out[0]), n.like(out[1]), n.like(out[2])}
}

// groupQuery is attention in which groups of heads share keys and values, with a cache that may be longer than what is
// in it: lengths holds the number of keys of each element of the batch, those of this call included, less one.
func groupQuery(a args) any {
	q, heads, kvHeads := a.T(0), a.int(11), a.int(12)
	if q.Dim() != 3 || heads <= 0 || kvHeads <= 0 {
		wrong("GroupQueryAttention", "query of shape %v, %d and %d heads", q.Shape(), heads, kvHeads)
	}
	k, v := a.T(1), a.T(2)
	if k == nil { // all three lie together
		if q.Size(2)%(heads+2*kvHeads) != 0 {
			wrong("GroupQueryAttention", "query of shape %v, %d and %d heads", q.Shape(), heads, kvHeads)
		}
		size := q.Size(2) / (heads + 2*kvHeads)
		parts := q.SplitWithSizes([]int{heads * size, kvHeads * size, kvHeads * size},
			tensor.SplitWithSizesOptions{Dim: 2})
		q, k, v = parts[0], parts[1], parts[2]
	}
	q, k, v = splitHeads(q, heads), splitHeads(k, kvHeads), splitHeads(v, kvHeads)
	batch, steps := q.Size(0), q.Size(2)
	ends := hostInts(a.T(5))
	if len(ends) != batch {
		wrong("GroupQueryAttention", "%d lengths for a batch of %d", len(ends), batch)
	}
	pastSize := 0
	if p := a.T(3); p != nil {
		pastSize = p.Size(2)
	}
	first := pastSize == 0 || int(a.T(6).Num().I) == steps
	from, count := make([]int, batch), make([]int, batch)
	for b, e := range ends {
		count[b] = e + 1
		if from[b] = count[b] - steps; first || from[b] < 0 {
			from[b] = 0
		}
	}
	if a.bool(16) {
		cos, sin := a.T(7), a.T(8)
		if cos == nil || sin == nil {
			wrong("GroupQueryAttention", "rotary positions without caches")
		}
		p := a.T(9)
		if p == nil {
			p = call("aten::arange", steps).Add(vector(from).Reshape([]int{batch, 1}))
			p = call("aten::clamp", p, 0, cos.Size(0)-1)
		}
		size := 2 * cos.Size(1)
		q, k = rotary(q, cos, sin, p, 0, size, a.bool(17)), rotary(k, cos, sin, p, 0, size, a.bool(17))
	}
	total := max(pastSize, int(a.T(6).Num().I))
	place := func(past, now *T) *T { // the cache with this call's part in it
		out := now.NewZeros([]int{batch, kvHeads, total, now.Size(3)})
		for b := range batch {
			row := out.Select(0, b)
			if past != nil && from[b] > 0 {
				row.Narrow(1, 0, from[b]).CopyInPlace(past.Select(0, b).Narrow(1, 0, from[b]))
			}
			n := min(steps, total-from[b])
			row.Narrow(1, from[b], n).CopyInPlace(now.Select(0, b).Narrow(1, 0, n))
		}
		return out
	}
	pk, pv := place(a.T(3), k), place(a.T(4), v)
	scale := 1 / math.Sqrt(float64(q.Size(3)))
	if a.has(13) {
		scale = a.float(13)
	}
	s := q.MatMul(repeatHeads(pk, heads).Transpose(2, 3)).MulScalar(scale)
	if c := a.float(14); c > 0 {
		s = s.DivScalar(c).Tanh().MulScalar(c)
	}
	if bias := a.T(10); bias != nil {
		s = s.Add(bias)
	}
	key := call("aten::arange", total)
	row := call("aten::arange", steps).Reshape([]int{steps, 1}).Add(vector(from).Reshape([]int{batch, 1, 1, 1}))
	hidden := key.Ge(vector(count).Reshape([]int{batch, 1, 1, 1}))
	if a.bool(18) {
		hidden = hidden.LogicalOr(key.Gt(row))
	}
	if w := a.int(15); w > 0 {
		hidden = hidden.LogicalOr(key.Le(row.SubScalar(w)))
	}
	s = s.MaskedFillScalar(hidden, math.Inf(-1))
	y := s.Softmax(-1)
	y = y.MaskedFillScalar(y.IsNaN(), 0).MatMul(repeatHeads(pv, heads))
	return []any{joinHeads(y), pk, pv}
}
