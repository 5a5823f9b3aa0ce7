package norm

import (
	"github.com/gotorch-dev/torch/internal/batching"
	"github.com/gotorch-dev/torch/tensor"
)

// The batching rules of this family, for functions that vmap maps. Weights that differ between the examples are applied
// to the normalised values afterwards.
func init() {
	batching.Rule(layerBatch, "native_layer_norm")
	batching.Rule(layerBackwardBatch, "native_layer_norm_backward")
}

func layerBatch(b *tensor.Batched) []tensor.Value {
	args := b.Args()
	if !b.Has(2) && !b.Has(3) {
		return b.Call(args)
	}
	args[0], args[2], args[3] = tensor.TensorValue(b.Full(0)), tensor.Value{}, tensor.Value{}
	res := b.Call(args)
	y := res[0].T
	if b.C.Has(2) {
		y = y.Mul(inner(b, 2, y))
	}
	if b.C.Has(3) {
		y = y.Add(inner(b, 3, y))
	}
	res[0] = tensor.TensorValue(y)
	return res
}

// inner gives a weight of the normalised dimensions the rank of x.
func inner(b *tensor.Batched, i int, x *T) *T {
	w := b.T(i)
	for b.Has(i) && w.Dim() < x.Dim() {
		w = w.Unsqueeze(1)
	}
	return w
}

func layerBackwardBatch(b *tensor.Batched) []tensor.Value {
	g, x, mean, rstd := b.Full(0), b.Full(1), b.Full(3), b.Full(4)
	mask, out := b.C.Bools(7), make([]*T, 3)
	var rows []int // the dimensions that a weight is shared by
	for d := 1; d < x.Dim()-len(b.C.Ints(2)); d++ {
		rows = append(rows, d)
	}
	sum := func(x *T) *T {
		if len(rows) == 0 {
			return x
		}
		return x.SumDim(rows)
	}
	if mask[2] {
		out[2] = sum(g)
	}
	if mask[1] {
		out[1] = sum(g.Mul(x.Sub(mean).Mul(rstd)))
	}
	if mask[0] {
		args := b.Args()
		if b.C.Has(5) && b.Has(5) {
			g = g.Mul(inner(b, 5, g))
			args[5] = tensor.Value{}
		}
		args[0], args[1], args[3], args[4] = tensor.TensorValue(g), tensor.TensorValue(x), tensor.TensorValue(mean),
			tensor.TensorValue(rstd)
		args[6], args[7] = tensor.Value{}, tensor.BoolsValue([]bool{true, false, false})
		out[0] = b.Call(args)[0].T
	}
	return batching.Tensors(out...)
}
