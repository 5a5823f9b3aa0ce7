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
	batching.Rule(batchNormBatch, "native_batch_norm", "_native_batch_norm_legit")
	batching.Rule(batchNormBackwardBatch, "native_batch_norm_backward")
	batching.Rule(groupBatch, "native_group_norm")
	batching.Rule(groupBackwardBatch, "native_group_norm_backward")
	batching.Rule(rmsBatch, "_fused_rms_norm")
	batching.Rule(rmsBackwardBatch, "_fused_rms_norm_backward")
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

// sumRows adds up what is in front of the last dimensions, for each example in dimension 0: a weight is shared there.
func sumRows(x *T, last int) *T {
	var rows []int
	for d := 1; d < x.Dim()-last; d++ {
		rows = append(rows, d)
	}
	if len(rows) == 0 {
		return x
	}
	return x.SumDim(rows)
}

func layerBackwardBatch(b *tensor.Batched) []tensor.Value {
	g, x, mean, rstd := b.Full(0), b.Full(1), b.Full(3), b.Full(4)
	mask, out := b.C.Bools(7), make([]*T, 3)
	if mask[2] {
		out[2] = sumRows(g, len(b.C.Ints(2)))
	}
	if mask[1] {
		out[1] = sumRows(g.Mul(x.Sub(mean).Mul(rstd)), len(b.C.Ints(2)))
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

// toChannels puts the examples of [examples, n, channels, ...] beside each other as channels.
func toChannels(x *T) *T {
	return x.MoveDim(0, 1).Flatten(tensor.FlattenOptions{
		StartDim: 1, EndDim: tensor.Some(2)})
}

// ofChannels undoes toChannels.
func ofChannels(x *T, examples int) *T {
	return x.Unflatten(1, []int{examples, x.Size(1) / examples}).MoveDim(1, 0)
}

// channelArgs are the arguments of a batch norm of all examples at once: the channels of each example are channels of
// one large batch, since each channel is normalised on its own. inputs are the positions of tensors [n, channels, ...],
// numbers the positions of tensors with one number for each channel.
func channelArgs(b *tensor.Batched, inputs, numbers []int) []tensor.Value {
	args := b.Args()
	for _, i := range inputs {
		args[i] = tensor.TensorValue(toChannels(b.Full(i)))
	}
	for _, i := range numbers {
		if b.C.Has(i) {
			args[i] = tensor.TensorValue(b.Full(i).Reshape([]int{-1}))
		}
	}
	return args
}

// channelResults gives each example its part of the results of such a call: of the first one by channels, of the others
// by numbers, of which there may be none.
func channelResults(b *tensor.Batched, res []tensor.Value) []tensor.Value {
	out := make([]*T, len(res))
	for i := range res {
		switch x := res[i].T; {
		case x.Dim() > 1:
			out[i] = ofChannels(x, b.Size())
		default:
			out[i] = x.View([]int{b.Size(), x.Numel() / b.Size()})
		}
	}
	return batching.Tensors(out...)
}

// plain reports arguments that the rules of batch norms serve: others go one by one, and to their errors.
func plain(b *tensor.Batched, input int) bool {
	return b.Size() > 0 && b.Rank(input) >= 2 && b.C.Shape(input)[1] > 0
}

func batchNormBatch(b *tensor.Batched) []tensor.Value {
	if b.C.Bool(5) {
		for _, i := range []int{3, 4} {
			if b.C.Has(i) && !b.Has(i) && b.Some() {
				b.C.Fail(tensor.ErrValue,
					"Batch norm got a batched tensor as input while the running_mean or running_var, "+
						"which will be updated in place, were not batched. Take the running statistics away, as "+
						"ReplaceAllBatchNormModulesInPlace of package functorch does, or use group norm")
			}
			if b.C.Has(i) {
				return b.Loop() // changes the statistics of each example in place
			}
		}
	}
	if !plain(b, 0) {
		return b.Loop()
	}
	return channelResults(b, b.Call(channelArgs(b, []int{0}, []int{1, 2, 3, 4})))
}

func batchNormBackwardBatch(b *tensor.Batched) []tensor.Value {
	if !plain(b, 1) {
		return b.Loop()
	}
	return channelResults(b, b.Call(channelArgs(b, []int{0, 1}, []int{2, 3, 4, 5, 6})))
}

// groupBatch is group norm of all images of all examples; weights that differ between the examples are applied
// afterwards.
func groupBatch(b *tensor.Batched) []tensor.Value {
	if b.Size() == 0 || b.Rank(0) < 2 {
		return b.Loop()
	}
	args, x := b.Args(), b.Full(0)
	args[0] = tensor.TensorValue(x.Flatten(tensor.FlattenOptions{EndDim: tensor.Some(1)}))
	args[3] = tensor.IntValue(b.C.Int(3) * b.Size())
	apart := b.Has(1) || b.Has(2)
	if apart {
		args[1], args[2] = tensor.Value{}, tensor.Value{}
	}
	res := b.Call(args)
	y, shape := res[0].T.View(x.Shape()), []int{b.Size(), b.C.Int(3), -1}
	if apart {
		for i, apply := range []func(*T) *T{1: func(w *T) *T { return y.Mul(w) },
			2: func(w *T) *T { return y.Add(w) }} {
			if apply == nil || !b.C.Has(i) {
				continue
			}
			per := b.Full(i).Unsqueeze(1) // [examples, 1, channels], with a 1 for each further dimension
			for per.Dim() < y.Dim() {
				per = per.Unsqueeze(-1)
			}
			y = apply(per)
		}
	}
	return batching.Tensors(y, res[1].T.View(shape), res[2].T.View(shape))
}

// groupBackwardBatch lays the channels of all examples, and with them the groups, side by side in one batch: each group
// is normalised on its own, and each channel has a weight of its own.
func groupBackwardBatch(b *tensor.Batched) []tensor.Value {
	if b.Size() == 0 || b.Rank(1) < 2 {
		return b.Loop()
	}
	n := b.Size()
	args := channelArgs(b, []int{0, 1, 2, 3}, []int{4})
	args[6], args[8] = tensor.IntValue(b.C.Int(6)*n), tensor.IntValue(b.C.Int(8)*n)
	out := make([]*T, 3)
	for i, r := range b.Call(args) {
		switch {
		case r.T == nil:
		case i == 0:
			out[i] = ofChannels(r.T, n)
		default:
			out[i] = r.T.Reshape([]int{n, -1})
		}
	}
	return batching.Tensors(out...)
}

// rmsBatch is RMS norm of the rows of all examples; a weight that differs between the examples is applied afterwards.
func rmsBatch(b *tensor.Batched) []tensor.Value {
	args := b.Args()
	args[0] = tensor.TensorValue(b.Full(0))
	apart := b.C.Has(2) && b.Has(2)
	if apart {
		args[2] = tensor.Value{}
	}
	res := b.Call(args)
	y := res[0].T
	if apart {
		y = y.Mul(inner(b, 2, y))
	}
	return batching.Tensors(y, res[1].T)
}

func rmsBackwardBatch(b *tensor.Batched) []tensor.Value {
	g, x, rstd := b.Full(0), b.Full(1), b.Full(3)
	mask, out := b.C.Bools(5), make([]*T, 2)
	if mask[1] && b.C.Has(4) {
		out[1] = sumRows(g.Mul(x.Mul(rstd)), len(b.C.Ints(2)))
	}
	if mask[0] {
		args := b.Args()
		if b.C.Has(4) && b.Has(4) {
			g = g.Mul(inner(b, 4, g))
			args[4] = tensor.Value{}
		}
		args[0], args[1], args[3] = tensor.TensorValue(g), tensor.TensorValue(x), tensor.TensorValue(rstd)
		args[5] = tensor.BoolsValue([]bool{true, false})
		out[0] = b.Call(args)[0].T
	}
	return batching.Tensors(out...)
}
