package vision

import (
	"github.com/gotorch-dev/torch/internal/batching"
	"github.com/gotorch-dev/torch/tensor"
)

// The batching rules of this family, for functions that vmap maps: the images of all examples become one batch, and the
// numbers by which regions name theirs count on.
func init() {
	batching.Rule(regionBatch(false), "torchvision::roi_align", "torchvision::roi_pool", "torchvision::ps_roi_align",
		"torchvision::ps_roi_pool")
	batching.Rule(regionBatch(true), "torchvision::_roi_align_backward", "torchvision::_roi_pool_backward",
		"torchvision::_ps_roi_align_backward", "torchvision::_ps_roi_pool_backward")
}

func regionBatch(backward bool) tensor.BatchRule {
	return func(b *tensor.Batched) []tensor.Value {
		args := b.Args()
		images := 0
		if backward {
			i := b.Index("batch_size")
			images = b.C.Int(i)
			args[i] = tensor.IntValue(images * b.Size())
		} else if sh := b.C.Shape(0); len(sh) == 4 {
			images = sh[0]
		}
		if b.Rank(0) != 4 || b.Rank(1) != 2 || b.C.Shape(1)[1] != 5 {
			return b.Loop() // which says what is wrong
		}
		first := make([]float32, 5*b.Size())
		for e := range b.Size() {
			first[5*e] = float32(e * images)
		}
		rois := b.Full(1)
		rois = rois.Add(tensor.FromSlice(first, b.Size(), 1, 5).To(rois.Device()).ToDType(rois.DType()))
		args[0] = tensor.TensorValue(batching.FoldIn(b.Full(0)))
		args[1] = tensor.TensorValue(batching.FoldIn(rois))
		if backward && args[2].K == tensor.KTensor {
			args[2] = tensor.TensorValue(batching.FoldIn(b.Full(2)))
		}
		res := b.Call(args)
		for i, v := range res {
			res[i] = tensor.TensorValue(batching.Unfold(v.T, b.Size()))
		}
		return res
	}
}
