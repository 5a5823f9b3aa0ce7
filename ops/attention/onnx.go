package attention

import (
	"math"

	ox "github.com/gotorch-dev/torch/internal/onnxform"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	ox.Register(ox.One(exportAttention), "aten::scaled_dot_product_attention")
}

// exportAttention takes query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa. It is written as
// softmax(q kᵀ scale + mask) v, which every runtime knows.
func exportAttention(c *ox.Call) *ox.Value {
	q, k, v := c.T(0), c.T(1), c.T(2)
	dt := q.DType
	if c.Float(4) > 0 {
		c.Fail("dropout_p is %v", c.Float(4))
	}
	if c.Bool(7) { // each head of k and v serves several of q
		k, v = grouped(c, q, k), grouped(c, q, v)
	}
	var scale *ox.Value
	if c.Has(6) {
		scale = c.Num(6, dt)
	} else if n, ok := c.SizeOf(q, -1).(int); ok {
		scale = c.Scalar(1/math.Sqrt(float64(n)), dt)
	} else {
		scale = c.Node("Reciprocal", nil, c.Node("Sqrt", nil, c.Cast(c.Int0(c.SizeOf(q, -1)), dt)))
	}
	s := c.Node("MatMul", nil, c.Node("Mul", nil, q, scale).Typed(dt), c.Swap(k, -1, -2)).Typed(dt)
	low := c.Scalar(math.Inf(-1), dt)
	mask := c.T(3)
	if c.Bool(5) { // position j is seen from position i where j ≤ i
		zero, one := c.Scalar(0, tensor.Int64), c.Scalar(1, tensor.Int64)
		i := c.Range(zero, c.Int0(c.SizeOf(q, -2)), one).Typed(tensor.Int64)
		j := c.Range(zero, c.Int0(c.SizeOf(k, -2)), one).Typed(tensor.Int64)
		seen := c.Node("LessOrEqual", nil, j, c.Unsqueeze(i, 1).Typed(tensor.Int64)).Typed(tensor.Bool)
		s = c.Node("Where", nil, seen, s, low).Typed(dt)
	}
	if mask != nil && mask.DType == tensor.Bool {
		s = c.Node("Where", nil, mask, s, low).Typed(dt)
	} else if mask != nil {
		s = c.Node("Add", nil, s, c.Cast(mask, dt)).Typed(dt)
	}
	p := c.Node("Softmax", ox.A{"axis": -1}, s).Typed(dt)
	if mask != nil && mask.DType == tensor.Bool { // a row that sees nothing is 0, not NaN
		p = c.Node("Where", nil, c.Node("IsNaN", nil, p).Typed(tensor.Bool), c.Scalar(0, dt), p).Typed(dt)
	}
	return c.Node("MatMul", nil, p, v).Typed(dt)
}

// grouped repeats the heads of k so that there are as many as in q.
func grouped(c *ox.Call, q, k *ox.Value) *ox.Value {
	n, ok := c.SizeOf(q, -3).(int)
	m, ok2 := c.SizeOf(k, -3).(int)
	if !ok || !ok2 {
		c.Fail("the number of heads is not known")
	}
	if n == m {
		return k
	}
	rank := c.Rank(k)
	sizes := c.Sizes(k)
	reps := make([]int, rank+1)
	for i := range reps {
		reps[i] = 1
	}
	reps[rank-2] = n / m
	sizes[rank-3] = n
	y := c.Node("Tile", nil, c.Unsqueeze(k, rank-2), c.I64(reps...)).Typed(k.DType)
	shape := append([]int(nil), k.Shape...)
	shape[rank-3] = n
	return c.ReshapeTo(y, c.Vector(sizes...)).Typed(k.DType).Shaped(shape...)
}
