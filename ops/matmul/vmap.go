package matmul

import (
	"slices"
	"strings"

	"github.com/gotorch-dev/torch/internal/batching"
	"github.com/gotorch-dev/torch/tensor"
)

// The batching rules of this family, for functions that vmap maps: products become those of batches of matrices, or of
// one taller matrix where the other factor is the same for all examples.
func init() {
	batching.Rule(batching.Dims("dim"), "linalg_cross")
	batching.Rule(batching.Rows("self"), "_int_mm")
	batching.Rule(productBatch(0), "mm", "bmm")
	batching.Rule(timesVector, "mv")
	batching.Rule(dotBatch(false), "dot")
	batching.Rule(dotBatch(true), "vdot")
	batching.Rule(outerBatch, "outer")
	batching.Rule(linearBatch, "linear")
	batching.Rule(plus(productBatch(1)), "addmm", "baddbmm")
	batching.Rule(plus(func(b *tensor.Batched) []tensor.Value { return matVecBatch(b, 1) }), "addmv")
	batching.Rule(plus(func(b *tensor.Batched) []tensor.Value { return outerOf(b, 1) }), "addr")
	batching.Rule(plus(func(b *tensor.Batched) []tensor.Value {
		return batching.Tensors(productBatch(1)(b)[0].T.SumDim([]int{-3}))
	}), "addbmm")
}

// product multiplies arguments i and i+1. One of them may be the same for all examples.
func productBatch(i int) tensor.BatchRule {
	return func(b *tensor.Batched) []tensor.Value {
		x, y := b.T(i), b.T(i+1)
		switch {
		case !b.Has(i) && !b.Has(i+1):
			return batching.Tensors(x.MatMul(y))
		case b.Has(i) && !b.Has(i+1) && x.Dim() == 3: // the rows of all examples in one matrix
			s := x.Shape()
			return batching.Tensors(x.Reshape([]int{s[0] * s[1], s[2]}).MM(y).Reshape([]int{s[0], s[1], y.Size(1)}))
		case !b.Has(i) && b.Has(i+1) && y.Dim() == 3: // the columns of all examples in one matrix
			s := y.Shape()
			wide := x.MM(y.Permute([]int{1, 0, 2}).Reshape([]int{s[1], s[0] * s[2]}))
			return batching.Tensors(wide.Reshape([]int{x.Size(0), s[0], s[2]}).Permute([]int{1, 0, 2}))
		case x.Dim() == 3 && y.Dim() == 3:
			return batching.Tensors(x.BMM(y))
		}
		return batching.Tensors(b.Full(i).MatMul(b.Full(i + 1)))
	}
}

func timesVector(b *tensor.Batched) []tensor.Value { return matVecBatch(b, 0) }

func matVecBatch(b *tensor.Batched, i int) []tensor.Value {
	m, v := b.T(i), b.T(i+1)
	if !b.Has(i) && !b.Has(i+1) {
		return batching.Tensors(m.MV(v))
	}
	if !b.Has(i) {
		return batching.Tensors(v.MM(m.T()))
	}
	if !b.Has(i + 1) {
		s := m.Shape()
		return batching.Tensors(m.Reshape([]int{s[0] * s[1], s[2]}).MV(v).Reshape(s[:2]))
	}
	return batching.Tensors(m.BMM(v.Unsqueeze(2)).SqueezeDim(2))
}

func dotBatch(conj bool) tensor.BatchRule {
	return func(b *tensor.Batched) []tensor.Value {
		x, y := b.T(0), b.T(1)
		if conj {
			x = x.Conj()
		}
		switch {
		case !b.Has(0):
			return batching.Tensors(y.MV(x))
		case !b.Has(1):
			return batching.Tensors(x.MV(y))
		}
		return batching.Tensors(x.Unsqueeze(1).BMM(y.Unsqueeze(2)).Reshape([]int{b.Size()}))
	}
}

func outerBatch(b *tensor.Batched) []tensor.Value { return outerOf(b, 0) }

func outerOf(b *tensor.Batched, i int) []tensor.Value {
	return batching.Tensors(b.T(i).Unsqueeze(-1).Mul(b.T(i + 1).Unsqueeze(-2)))
}

// linearBatch multiplies the rows of all examples by a weight that they share in one product.
func linearBatch(b *tensor.Batched) []tensor.Value {
	args := b.Args()
	if b.Has(0) && !b.Has(1) && (!b.C.Has(2) || !b.Has(2)) {
		if b.T(1).Dim() == 1 {
			return batching.Tensors(b.T(0).MatMul(b.T(1)))
		}
		return b.Call(args)
	}
	x, w := b.T(0), b.T(1)
	flat := b.Rank(1) == 1
	if flat {
		w = w.Unsqueeze(-2)
	}
	in := slices.Clone(b.C.Shape(0)[:max(b.Rank(0)-1, 0)])
	var y *T
	switch {
	case b.Has(1) && !b.Has(0): // [rows, in] times the weights of all examples
		rows := x.Reshape([]int{-1, x.Size(-1)})
		s := w.Shape()
		y = rows.MM(w.Reshape([]int{s[0] * s[1], s[2]}).T()).Reshape([]int{rows.Size(0), s[0], s[1]}).Transpose(0, 1)
	case b.Has(1):
		y = x.Reshape([]int{b.Size(), -1, x.Size(-1)}).BMM(w.Transpose(1, 2))
	default:
		y = x.MatMul(w.T()).Expand(append([]int{b.Size()}, append(in, w.Size(0))...))
	}
	shape := append([]int{b.Size()}, in...)
	if !flat {
		shape = append(shape, y.Size(-1))
	}
	y = y.Reshape(shape)
	if !b.C.Has(2) {
		return batching.Tensors(y)
	}
	bias := b.T(2)
	if b.Has(2) {
		for bias.Dim() < y.Dim() {
			bias = bias.Unsqueeze(1)
		}
	}
	return batching.Tensors(y.Add(bias))
}

// plus is the rule of operators that add beta times argument 0 to alpha times a product.
func plus(of tensor.BatchRule) tensor.BatchRule {
	return func(b *tensor.Batched) []tensor.Value {
		rank := b.Rank(1) + b.Rank(2) - 1 // of the result, with the batch
		switch strings.TrimSuffix(b.C.Op().Sch.Name, "_") {
		case "addr", "addbmm":
			rank = 3
		case "baddbmm":
			rank = 4
		}
		var y *T
		if b.Has(1) || b.Has(2) {
			y = of(b)[0].T
		} else {
			y = of(b)[0].T.Unsqueeze(0)
		}
		beta, alpha := b.C.Value(3), b.C.Value(4)
		one := func(v tensor.Value) bool { n := v.Num(); return n.C == 1 }
		if !one(alpha) {
			y = y.MulScalar(alpha.Num())
		}
		if beta.Num().C == 0 {
			return batching.Tensors(y.Expand(append([]int{b.Size()}, y.Shape()[1:]...)))
		}
		self := b.T(0)
		if b.Has(0) {
			for self.Dim() < rank {
				self = self.Unsqueeze(1)
			}
		}
		if !one(beta) {
			self = self.MulScalar(beta.Num())
		}
		return batching.Tensors(self.Add(y))
	}
}
