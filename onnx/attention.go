package onnx

import (
	"math"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/onnxpb"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	define("", map[string]rule{
		"Attention":           attentionNode,
		"CausalConvWithState": causalConv,
		"LinearAttention":     linearAttentionNode,
		"RotaryEmbedding":     rotaryNode,
	})
	define("ai.onnx.preview", map[string]rule{"FlexAttention": flexAttention})

	helper("attention(Tensor q, Tensor k, Tensor v, Tensor? mask, Tensor? past_key, Tensor? past_value, "+
		"Tensor? lengths, bool causal, int q_heads, int kv_heads, float? scale, float softcap, int mode, "+
		"ScalarType? precision, int left, int right, bool all) -> (Tensor, Tensor, Tensor, Tensor)", func(a args) any {
		o := attention{mask: a.T(3), lengths: a.T(6), causal: a.bool(7), softcap: a.float(11), mode: a.int(12),
			precision: a.dtype(13), left: a.int(14), right: a.int(15), all: a.bool(16)}
		q, k, v := a.T(0), a.T(1), a.T(2)
		if a.has(10) {
			s := a.float(10)
			o.scale = &s
		}
		flat := q.Dim() == 3
		if flat {
			q, k, v = heads(q, a.int(8)), heads(k, a.int(9)), heads(v, a.int(9))
		}
		if p := a.T(4); p != nil {
			o.past = p.Size(2)
			k = call("aten::cat", []*T{p, k}, 2)
		}
		if p := a.T(5); p != nil {
			v = call("aten::cat", []*T{p, v}, 2)
		}
		y, qk := o.run(q, k, v)
		if flat {
			y = y.Transpose(1, 2).Reshape([]int{y.Size(0), y.Size(2), y.Size(1) * y.Size(3)})
		}
		return []any{y, k, v, qk}
	})
	helper("rotary(Tensor x, Tensor cos, Tensor sin, Tensor? positions, int heads, int size, bool interleaved)"+
		" -> Tensor",
		func(a args) any {
			return rotary(a.T(0), a.T(1), a.T(2), a.T(3), a.int(4), a.int(5), a.bool(6))
		})
	helper("linear_attention(Tensor q, Tensor k, Tensor v, Tensor? state, Tensor? decay, Tensor? beta, int q_heads, "+
		"int kv_heads, float scale, str rule) -> (Tensor, Tensor)", func(a args) any {
		return linearAttention(a.T(0), a.T(1), a.T(2), a.T(3), a.T(4), a.T(5), a.int(6), a.int(7), a.float(8), a.str(9))
	})
	helper("causal_conv(Tensor x, Tensor w, Tensor? b, Tensor? state, bool silu) -> (Tensor, Tensor)",
		func(a args) any {
			x, w := a.T(0), a.T(1)
			if x.Dim() != 3 || w.Dim() != 3 {
				wrong("CausalConvWithState", "input of shape %v, weight of shape %v", x.Shape(), w.Shape())
			}
			k := w.Size(2)
			past := a.T(3)
			if past == nil {
				past = x.NewZeros([]int{x.Size(0), x.Size(1), k - 1})
			}
			in := call("aten::cat", []*T{past, x}, 2)
			y := call("aten::convolution", in, w, a.T(2), []int{1}, []int{0}, []int{1}, false, []int{0}, x.Size(1))
			if a.bool(4) {
				y = y.SiLU()
			}
			return []any{y, in.Narrow(2, in.Size(2)-(k-1), k-1).Contiguous()}
		})
	helper("flex_scores(Tensor q, Tensor k, float? scale, ScalarType? precision) -> Tensor", func(a args) any {
		q, k := a.T(0), a.T(1)
		if q.Dim() != 4 || k.Dim() != 4 {
			wrong("FlexAttention", "query of shape %v, key of shape %v", q.Shape(), k.Shape())
		}
		s := 1 / math.Sqrt(float64(q.Size(3)))
		if a.has(2) {
			s = a.float(2)
		}
		s = math.Sqrt(s)
		scores := q.MulScalar(s).MatMul(repeatHeads(k, q.Size(1)).MulScalar(s).Transpose(2, 3))
		return scores.ToDType(precisionOf(q, a.dtype(3)))
	})
	helper("flex_values(Tensor p, Tensor v) -> Tensor", func(a args) any {
		p, v := a.T(0), a.T(1)
		return p.MatMul(repeatHeads(v, p.Size(1)).ToDType(p.DType())).ToDType(v.DType())
	})
}

// precisionOf is the dtype of softmax: the given one, or that of x, but float32 for 16 bits.
func precisionOf(x *T, dt tensor.DType) tensor.DType {
	if dt != 0 {
		return dt
	}
	return x.DType().Compute()
}

// heads takes the heads out of the last dimension: batch, steps, heads·size → batch, heads, steps, size.
func heads(x *T, n int) *T {
	if x.Dim() != 3 || n <= 0 || x.Size(2)%n != 0 {
		wrong("Attention", "%d heads in a tensor of shape %v", n, x.Shape())
	}
	return x.Reshape([]int{x.Size(0), x.Size(1), n, x.Size(2) / n}).Transpose(1, 2)
}

// repeatHeads gives each of the query's heads one of the key's or value's: groups of neighbours share one.
func repeatHeads(x *T, n int) *T {
	if x.Size(1) == n {
		return x
	}
	if x.Size(1) == 0 || n%x.Size(1) != 0 {
		wrong("Attention", "%d heads of the query, %d of the key", n, x.Size(1))
	}
	return x.RepeatInterleave(n/x.Size(1), tensor.RepeatInterleaveOptions{Dim: tensor.Some(1)})
}

// attention is scaled dot-product attention with the masks that ONNX has.
type attention struct {
	mask        *T // bools, or numbers to add
	lengths     *T // of keys that are no padding, for each element of the batch
	causal      bool
	scale       *float64
	softcap     float64
	mode        int // what the second result is
	precision   tensor.DType
	left, right int // sliding window, -1: no bound
	past        int // keys before those of this call
	all         bool
}

// run computes the result and, if all is set, the scores: as products (mode 0), after the soft cap (1), with the masks
// (2) or after softmax (3).
func (o *attention) run(q, k, v *T) (y, qk *T) {
	if q.Dim() != 4 || k.Dim() != 4 || v.Dim() != 4 {
		wrong("Attention", "query, key and value of shapes %v, %v, %v", q.Shape(), k.Shape(), v.Shape())
	}
	scale := 1 / math.Sqrt(float64(q.Size(3)))
	if o.scale != nil {
		scale = *o.scale
	}
	plain := !o.all && o.softcap == 0 && o.lengths == nil && o.left < 0 && o.right < 0 && o.precision == 0
	if plain && o.mask == nil && (!o.causal || o.past == 0) {
		y = call("aten::scaled_dot_product_attention", q, k, v, nil, 0.0, o.causal, scale, q.Size(1) != k.Size(1))
		return y, y
	}
	k, v = repeatHeads(k, q.Size(1)), repeatHeads(v, q.Size(1))
	bias := o.bias(q, k.Size(2))
	root := math.Sqrt(scale)
	s := q.MulScalar(root).MatMul(k.MulScalar(root).Transpose(2, 3))
	qk = s
	if o.softcap > 0 {
		s = s.DivScalar(o.softcap).Tanh().MulScalar(o.softcap)
		if o.mode == 1 {
			qk = s
		}
	}
	var hidden *T // rows in which nothing may be seen
	if bias != nil {
		s = s.Add(bias)
		hidden = call("aten::amax", bias, []int{-1}, true).IsNegInf()
	}
	if o.mode == 2 {
		qk = s
	}
	p := s.ToDType(precisionOf(q, o.precision)).Softmax(-1)
	if hidden != nil {
		p = p.MaskedFillScalar(hidden, 0)
	}
	p = p.ToDType(q.DType())
	if o.mode == 3 {
		qk = p
	}
	return p.MatMul(v), qk
}

// bias adds up the masks: 0 where a key may be seen, -inf where not, or what the mask says. It is nil without any.
func (o *attention) bias(q *T, keys int) *T {
	var sum *T
	add := func(t *T) {
		if sum == nil {
			sum = t
		} else {
			sum = sum.Add(t)
		}
	}
	closed := func(seen *T) *T {
		return seen.LogicalNot().ToDType(q.DType()).MaskedFillScalar(seen.LogicalNot(), math.Inf(-1))
	}
	if m := o.mask; m != nil {
		if m.Dim() == 0 || m.Size(-1) > keys {
			wrong("Attention", "a mask of shape %v for %d keys", m.Shape(), keys)
		}
		missing := keys - m.Size(-1)
		if m.DType() == tensor.Bool {
			m = closed(m)
		}
		if missing > 0 {
			m = call("aten::constant_pad_nd", m, []int{0, missing}, math.Inf(-1))
		}
		add(m.ToDType(q.DType()))
	}
	steps := q.Size(2)
	if o.causal || o.left >= 0 || o.right >= 0 {
		i := call("aten::arange", steps).Reshape([]int{steps, 1})
		if o.lengths != nil {
			i = i.Add(o.lengths.ToDType(tensor.Int64).Reshape([]int{-1, 1, 1, 1}).SubScalar(steps))
		} else {
			i = i.AddScalar(o.past)
		}
		diff := i.Sub(call("aten::arange", keys)) // how far the key lies behind
		if o.causal {
			add(closed(diff.GeScalar(0)))
		}
		if o.left >= 0 {
			add(closed(diff.LeScalar(o.left)))
		}
		if o.right >= 0 {
			add(closed(diff.GeScalar(-o.right)))
		}
	}
	if o.lengths != nil {
		n := o.lengths.ToDType(tensor.Int64).Reshape([]int{-1, 1, 1, 1})
		add(closed(call("aten::arange", keys).Lt(n)))
	}
	return sum
}

func attentionNode(n *node) []*value {
	n.T(2)
	var scale, precision any
	if a := n.attr("scale", onnxpb.AttrFloat); a != nil {
		scale = float64(a.F)
	}
	if e := n.elemAttr("softmax_precision", 0); e != 0 {
		precision = n.dtype(e)
	}
	out := n.calls("onnx::attention", n.T(0), n.T(1), n.T(2), n.opt(3), n.opt(4), n.opt(5), n.opt(6),
		n.bool("is_causal", false), n.int("q_num_heads", 0), n.int("kv_num_heads", 0), scale, n.float("softcap", 0),
		n.int("qk_matmul_output_mode", 0), precision, n.int("left_window_size", -1), n.int("right_window_size", -1),
		n.wants(3))
	return []*value{n.same(out[0]), n.like(out[1]), n.tensor(out[2], n.T(2).elem), n.like(out[3])}
}

// rotary turns pairs of numbers by angles that grow with the position: Su et al., RoFormer, 2021.
func rotary(x, cos, sin, positions *T, nheads, size int, interleaved bool) *T {
	shape := x.Shape()
	if x.Dim() == 4 {
		x = x.Transpose(1, 2) // batch, steps, heads, size
	} else {
		x = heads(x, nheads).Transpose(1, 2)
	}
	if size == 0 {
		size = x.Size(3)
	}
	if size > x.Size(3) || size%2 != 0 {
		wrong("RotaryEmbedding", "%d of %d numbers", size, x.Size(3))
	}
	if positions != nil {
		at := positions.ToDType(tensor.Int64)
		pick := func(t *T) *T {
			return t.IndexSelect(0, at.Reshape([]int{-1})).Reshape(append(append([]int(nil), at.Shape()...),
				t.Size(-1)))
		}
		cos, sin = pick(cos), pick(sin)
	}
	if cos.Size(-1) != size/2 || sin.Size(-1) != size/2 {
		wrong("RotaryEmbedding", "caches with %d and %d columns, want %d", cos.Size(-1), sin.Size(-1), size/2)
	}
	cos, sin = cos.Unsqueeze(-2), sin.Unsqueeze(-2)
	turned, rest := x.Narrow(3, 0, size), x.Narrow(3, size, x.Size(3)-size)
	var a, b *T
	if interleaved {
		a, b = call("aten::slice.Tensor", turned, 3, 0, size, 2), call("aten::slice.Tensor", turned, 3, 1, size, 2)
	} else {
		a, b = turned.Narrow(3, 0, size/2), turned.Narrow(3, size/2, size/2)
	}
	re, im := cos.Mul(a).Sub(sin.Mul(b)), sin.Mul(a).Add(cos.Mul(b))
	if interleaved {
		turned = call("aten::stack", []*T{re, im}, -1).Reshape(turned.Shape())
	} else {
		turned = call("aten::cat", []*T{re, im}, -1)
	}
	y := call("aten::cat", []*T{turned, rest}, -1)
	if len(shape) == 4 {
		return y.Transpose(1, 2).Contiguous()
	}
	return y.Reshape(shape)
}

func rotaryNode(n *node) []*value {
	return one(n.same(n.call("onnx::rotary", n.T(0), n.T(1), n.T(2), n.opt(3), n.int("num_heads", 0),
		n.int("rotary_embedding_dim", 0), n.bool("interleaved", false))))
}

// linearAttention keeps a state of outer products of keys and values, with decay and correction by a delta rule:
// Yang et al., Gated Delta Networks, 2024.
func linearAttention(q, k, v, state, decay, beta *T, qHeads, kvHeads int, scale float64, rule string) []any {
	dt := q.DType()
	wide := func(t *T, n int) *T { return heads(t, n).ToDType(tensor.Float32) }
	q4, k4, v4 := wide(q, qHeads), wide(k, kvHeads), wide(v, kvHeads)
	batch, steps, dk, dv := q4.Size(0), q4.Size(2), k4.Size(3), v4.Size(3)
	if scale == 0 {
		scale = 1 / math.Sqrt(float64(q4.Size(3)))
	}
	gated := rule == "gated" || rule == "gated_delta"
	delta := rule == "delta" || rule == "gated_delta"
	if gated != (decay != nil) || delta != (beta != nil) {
		tensor.Fail(tensor.ErrValue, "LinearAttention: decay and beta do not fit the rule %q", rule)
	}
	if decay != nil {
		decay = wide(decay, kvHeads)
	}
	if beta != nil {
		beta = wide(beta, beta.Size(2))
	}
	sdt := dt
	s := call("aten::zeros", []int{batch, kvHeads, dk, dv}, tensor.Float32)
	if state != nil {
		sdt, s = state.DType(), state.ToDType(tensor.Float32)
	}
	var out []*T
	for i := range steps {
		kt, vt := k4.Select(2, i), v4.Select(2, i)
		if gated {
			s = s.Mul(decay.Select(2, i).Exp().Unsqueeze(-1))
		}
		if delta {
			seen := kt.Unsqueeze(2).MatMul(s).SqueezeDim(2)
			vt = beta.Select(2, i).Mul(vt.Sub(seen))
		}
		s = s.Add(kt.Unsqueeze(3).Mul(vt.Unsqueeze(2)))
		o := q4.Select(2, i).Unsqueeze(2).MatMul(repeatHeads(s, qHeads)).SqueezeDim(2)
		out = append(out, o.MulScalar(scale))
	}
	y := q.NewZeros([]int{batch, 0, qHeads * dv})
	if steps > 0 {
		y = call("aten::stack", out, 1).Reshape([]int{batch, steps, qHeads * dv}).ToDType(dt)
	}
	return []any{y, s.ToDType(sdt)}
}

func linearAttentionNode(n *node) []*value {
	out := n.calls("onnx::linear_attention", n.T(0), n.T(1), n.T(2), n.opt(3), n.opt(4), n.opt(5),
		n.int("q_num_heads", 0),
		n.int("kv_num_heads", 0), n.float("scale", 0), n.str("update_rule", "gated_delta"))
	state := n.like(out[1])
	if n.has(3) {
		state.elem = n.T(3).elem
	}
	return []*value{n.same(out[0]), state}
}

func causalConv(n *node) []*value {
	act := n.str("activation", "none")
	if act != "none" && act != "silu" && act != "swish" {
		fail("%w: activation %q", onnxpb.ErrFormat, act)
	}
	out := n.calls("onnx::causal_conv", n.T(0), n.T(1), n.opt(2), n.opt(3), act != "none")
	return []*value{n.same(out[0]), n.same(out[1])}
}

// flexAttention is attention whose scores and probabilities are changed by graphs.
func flexAttention(n *node) []*value {
	var scale, precision any
	if a := n.attr("scale", onnxpb.AttrFloat); a != nil {
		scale = float64(a.F)
	}
	elem := n.T(0).elem
	if e := n.elemAttr("softmax_precision", 0); e != 0 {
		precision, elem = n.dtype(e), e
	} else if elem == onnxpb.Float16 || elem == onnxpb.BFloat16 {
		elem = onnxpb.Float
	}
	modified := func(g *graph.Value, name string) *graph.Value {
		a := n.attr(name, onnxpb.AttrGraph)
		if a == nil {
			return g
		}
		v := n.tensor(g, elem)
		v.rank = 4
		outs := n.subgraph(a.G, n.block, []*value{v})
		if len(outs) != 1 {
			fail("%w: graph %q has %d outputs, want 1", onnxpb.ErrFormat, name, len(outs))
		}
		return n.call("aten::to.dtype", outs[0], n.dtypeOr(elem))
	}
	s := modified(n.call("onnx::flex_scores", n.T(0), n.T(1), scale, precision), "score_mod")
	p := modified(n.call("aten::softmax.int", s, -1), "prob_mod")
	return one(n.tensor(n.call("onnx::flex_values", p, n.T(2)), n.T(2).elem))
}
