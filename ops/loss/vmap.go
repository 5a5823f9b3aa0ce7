package loss

import (
	"github.com/gotorch-dev/torch/internal/batching"
	"github.com/gotorch-dev/torch/ops/internal/op"
	"github.com/gotorch-dev/torch/tensor"
)

// The batching rules of this family, for functions that vmap maps: the losses of all elements at once, which are then
// reduced for each example.
func init() {
	batching.Rule(reducedBatch, "mse_loss", "huber_loss", "smooth_l1_loss", "soft_margin_loss", "binary_cross_entropy",
		"binary_cross_entropy_with_logits")
	batching.Rule(reducedBackwardBatch, "mse_loss_backward", "huber_loss_backward", "smooth_l1_loss_backward",
		"soft_margin_loss_backward", "binary_cross_entropy_backward")
	batching.Rule(marginBatch, "multi_margin_loss", "multilabel_margin_loss_forward")
	batching.Rule(marginBackwardBatch, "multi_margin_loss_backward", "multilabel_margin_loss_backward")
	batching.Rule(nllBatch, "nll_loss_forward", "nll_loss2d_forward")
	batching.Rule(ctcBatch, "_ctc_loss", "_ctc_loss.Tensor")
	batching.Rule(ctcBackwardBatch, "_ctc_loss_backward", "_ctc_loss_backward.Tensor")
	batching.Rule(nllBackwardBatch, "nll_loss_backward", "nll_loss2d_backward")
}

// behind are the dimensions of x behind the batch.
func behind(x *T) []int {
	var dims []int
	for d := 1; d < x.Dim(); d++ {
		dims = append(dims, d)
	}
	return dims
}

// rankTo gives the tensors of the call that have all examples n dimensions behind the batch.
func rankTo(b *tensor.Batched, args []tensor.Value, n int) {
	for i, v := range args {
		if v.K != tensor.KTensor || !b.Has(i) {
			continue
		}
		x := v.T
		for x.Dim() < n+1 {
			x = x.Unsqueeze(1)
		}
		args[i] = tensor.TensorValue(x)
	}
}

func reducedBatch(b *tensor.Batched) []tensor.Value {
	args, i := b.Args(), b.Index("reduction")
	if !b.Has(0) && (!b.Has(1) || b.Rank(0) >= b.Rank(1)) { // some have the result in the input's shape
		args[0] = tensor.TensorValue(b.Full(0))
	}
	rankTo(b, args, max(b.Rank(0), b.Rank(1)))
	args[i] = tensor.IntValue(0)
	y := b.Call(args)[0].T
	if y.Dim() > 1 {
		switch b.C.Int(i) {
		case meanOf:
			y = y.MeanDim(behind(y))
		case sumOf:
			y = y.SumDim(behind(y))
		}
	}
	return batching.Tensors(y)
}

func reducedBackwardBatch(b *tensor.Batched) []tensor.Value {
	args, i := b.Args(), b.Index("reduction")
	n := max(b.Rank(1), b.Rank(2))
	args[0] = tensor.TensorValue(b.Full(0))
	args[1] = tensor.TensorValue(b.Full(1))
	args[2] = tensor.TensorValue(b.Full(2))
	g := args[0].T
	for g.Dim() < n+1 {
		g = g.Unsqueeze(-1)
	}
	if b.C.Int(i) == meanOf {
		size := 1
		for _, s := range tensor.BroadcastShapes(b.C.Shape(1), b.C.Shape(2)) {
			size *= s
		}
		g = g.DivScalar(size)
	}
	for k := 1; k <= 2; k++ {
		x := args[k].T
		for x.Dim() < n+1 {
			x = x.Unsqueeze(1)
		}
		args[k] = tensor.TensorValue(x)
	}
	g = g.Expand(tensor.BroadcastShapes(g.Shape(), args[1].T.Shape(), args[2].T.Shape()))
	args[0], args[i] = tensor.TensorValue(g), tensor.IntValue(0)
	if len(args) > 3 && args[3].K == tensor.KTensor && b.Has(3) {
		w := args[3].T
		for w.Dim() < n+1 {
			w = w.Unsqueeze(1)
		}
		args[3] = tensor.TensorValue(w)
	}
	return b.Call(args)
}

// targetWeights are the weights of the targets, 0 for those that are ignored.
func targetWeights(b *tensor.Batched, x, target *T, ignore int) *T {
	kept := target.NeScalar(ignore)
	if !b.C.Has(2) {
		return kept.ToDType(x.DType())
	}
	at := target.MaskedFillScalar(kept.LogicalNot(), 0)
	w := b.T(2).IndexSelect(0, at.Reshape([]int{-1})).Reshape(target.Shape())
	return w.Mul(kept.ToDType(w.DType()))
}

func nllBatch(b *tensor.Batched) []tensor.Value {
	x, target, single := samplesOf(b, 0)
	if x == nil || b.C.Has(2) && b.Has(2) {
		return b.Loop()
	}
	var each []int // the dimensions of an example's targets
	for d := 1; d < target.Dim(); d++ {
		each = append(each, d)
	}
	args := b.Args()
	args[0], args[1] = tensor.TensorValue(batching.FoldIn(x)), tensor.TensorValue(batching.FoldIn(target))
	args[3] = tensor.IntValue(0)
	y := batching.Unfold(b.Call(args)[0].T, b.Size())
	total := targetWeights(b, x, target, b.C.Int(4)).SumDim(each)
	switch b.C.Int(3) {
	case meanOf:
		y = y.SumDim(each).Div(total)
	case sumOf:
		y = y.SumDim(each)
	default:
		total = op.Zeros(total, total.Shape(), total.DType())
		if single {
			y = y.SqueezeDim(1)
		}
	}
	return batching.Tensors(y, total)
}

// samplesOf are the input, argument i, and the targets of all examples, each example a batch of samples. An example
// that is a single sample becomes a batch of one. They are nil for other ranks.
func samplesOf(b *tensor.Batched, i int) (x, target *T, single bool) {
	switch r := b.Rank(i); {
	case r == 1 && b.Rank(i+1) == 0:
		return b.Full(i).Unsqueeze(1), b.Full(i + 1).Unsqueeze(1), true
	case r == 2 || r == 4:
		return b.Full(i), b.Full(i + 1), false
	}
	return nil, nil, false
}

func nllBackwardBatch(b *tensor.Batched) []tensor.Value {
	x, target, single := samplesOf(b, 1)
	if x == nil || b.C.Has(3) && b.Has(3) {
		return b.Loop()
	}
	g := b.Full(0)
	if b.C.Int(4) == meanOf {
		g = g.Div(b.Full(6))
	}
	for g.Dim() < target.Dim() {
		g = g.Unsqueeze(-1)
	}
	g = g.Expand(target.Shape())
	args := b.Args()
	args[0], args[1], args[2] = tensor.TensorValue(batching.FoldIn(g)), tensor.TensorValue(batching.FoldIn(x)),
		tensor.TensorValue(batching.FoldIn(target))
	args[4], args[6] = tensor.IntValue(0), tensor.TensorValue(op.Zeros(g, nil, x.DType()))
	gx := batching.Unfold(b.Call(args)[0].T, b.Size())
	if single {
		gx = gx.SqueezeDim(1)
	}
	return batching.Tensors(gx)
}

// allSamples makes the samples of all examples one batch: input [C] or [N, C] from argument i on, then targets. It
// reports how many an example has, and whether they have a dimension.
func allSamples(b *tensor.Batched, args []tensor.Value, i int) (n int, batch bool) {
	x, t := b.Full(i), b.Full(i+1)
	n, batch = 1, b.Rank(i) == 2
	if batch {
		n = x.Size(1)
		x, t = batching.FoldIn(x), batching.FoldIn(t)
	} else if b.C.Op().Sch.Index("weight") >= 0 { // one class
		t = t.Reshape([]int{-1})
	}
	args[i], args[i+1] = tensor.TensorValue(x), tensor.TensorValue(t)
	return n, batch
}

func weighted(b *tensor.Batched) bool {
	w := b.Index("weight")
	return w >= 0 && b.Has(w)
}

// marginBatch is the rule of margin losses: the losses of all samples, which are then reduced for each example.
func marginBatch(b *tensor.Batched) []tensor.Value {
	if weighted(b) || b.Rank(0) == 0 {
		return b.Loop()
	}
	args, r := b.Args(), b.Index("reduction")
	_, batch := allSamples(b, args, 0)
	args[r] = tensor.IntValue(none)
	res := b.Call(args)
	y := res[0].T
	if batch {
		y = batching.Unfold(y, b.Size())
		switch b.C.Int(r) {
		case meanOf:
			y = y.MeanDim([]int{1})
		case sumOf:
			y = y.SumDim([]int{1})
		}
	}
	out := batching.Tensors(y)
	if len(res) > 1 {
		mark := res[1].T
		if batch {
			mark = batching.Unfold(mark, b.Size())
		}
		out = append(out, tensor.TensorValue(mark))
	}
	return out
}

func marginBackwardBatch(b *tensor.Batched) []tensor.Value {
	if weighted(b) || b.Rank(1) == 0 {
		return b.Loop()
	}
	args, r := b.Args(), b.Index("reduction")
	n, batch := allSamples(b, args, 1)
	g := b.Full(0)
	if batch && b.C.Int(r) != none {
		if b.C.Int(r) == meanOf {
			g = g.DivScalar(max(n, 1))
		}
		g = g.Unsqueeze(1).Expand([]int{b.Size(), n})
	}
	args[0], args[r] = tensor.TensorValue(g.Reshape([]int{-1})), tensor.IntValue(none)
	if i := b.Index("is_target"); i >= 0 {
		mark := b.Full(i)
		if batch {
			mark = batching.FoldIn(mark)
		}
		args[i] = tensor.TensorValue(mark)
	}
	y := b.Call(args)[0].T
	if batch {
		y = batching.Unfold(y, b.Size())
	}
	return batching.Tensors(y)
}
