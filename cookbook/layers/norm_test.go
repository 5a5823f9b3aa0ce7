package layers

import (
	"fmt"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
)

func rows(v ...float32) *torch.Tensor { return torch.FromSlice(v, len(v)/2, 2) }

// Training normalises with the batch's own mean and (biased) variance, and keeps running estimates, with the unbiased
// variance, for evaluation.
func TestBatchNorm(t *testing.T) {
	bn := nn.NewBatchNorm1d(2)
	x := rows(1, 2, 3, 6)
	near(t, bn.Forward(x), -1, -1, 1, 1)
	near(t, bn.RunningMean, 0.2, 0.4)
	near(t, bn.RunningVar, 1.1, 1.7)
	near(t, bn.NumBatchesTracked, 1)
	bn.Eval()
	near(t, bn.Forward(x), 0.7628, 1.2271, 2.6697, 4.2950)
}

// The running estimate is an exponential average, not the mean of all batches (which would be 6 here).
func TestRunningMean(t *testing.T) {
	bn := nn.NewBatchNorm1d(1)
	bn.Forward(torch.FromSlice([]float32{0, 2}, 2, 1))
	bn.Forward(torch.FromSlice([]float32{10, 12}, 2, 1))
	near(t, bn.RunningMean, 1.19)
	near(t, bn.RunningVar, 1.19)
}

// Without running statistics evaluation uses the batch's too.
func TestNoRunningStats(t *testing.T) {
	bn := nn.NewBatchNorm1d(2, nn.BatchNorm1dOptions{NoTrackRunningStats: true})
	bn.Eval()
	if bn.RunningMean != nil {
		t.Error("there must be no running mean")
	}
	near(t, bn.Forward(rows(1, 2, 3, 6)), -1, -1, 1, 1)
}

// One value per channel has no variance: training refuses it, evaluation does not.
func TestBatchOfOne(t *testing.T) {
	bn := nn.NewBatchNorm1d(2)
	fails(t, "Expected more than 1 value per channel when training, got input size torch.Size([1, 2])",
		func() { bn.Forward(rows(1, 2)) })
	bn.Eval()
	near(t, bn.Forward(rows(1, 2)), 1, 2)
}

// Dropout drops half unless told otherwise, and only in training.
func Example_dropout() {
	m := nn.NewDropout()
	fmt.Println(m)
	m.Eval()
	fmt.Println(m.Forward(torch.TensorOf[float32](1, 2, 3)))
	// Output:
	// Dropout(p=0.5, inplace=False)
	// tensor([1., 2., 3.])
}

// A table of vectors, looked up by number.
func TestEmbedding(t *testing.T) {
	e := nn.NewEmbedding(5, 3)
	shaped(t, e.Forward(torch.FromSlice([]int64{0, 1, 2, 3}, 2, 2)), 2, 2, 3)
	w := torch.Data[float32](e.Weight.Detach())[6:9]
	near(t, e.Forward(torch.FromSlice([]int64{2})), float64(w[0]), float64(w[1]), float64(w[2]))
	fails(t, "index out of range in self", func() { e.Forward(torch.TensorOf[int64](5)) })
}

// The row of the padding index is zero at the start and gets no gradient.
func TestEmbeddingPadding(t *testing.T) {
	torch.ManualSeed(0)
	e := nn.NewEmbedding(5, 3, nn.EmbeddingOptions{PaddingIdx: torch.Some(0)})
	if got, want := e.String(), "Embedding(5, 3, padding_idx=0)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	near(t, e.Weight.Index(torch.Slice(0, 2)), 0, 0, 0, 0.5684, -1.0845, -1.3986)
	e.Forward(torch.TensorOf[int64](0, 1)).Sum().Backward()
	near(t, e.Weight.Grad().Index(torch.Slice(0, 2)), 0, 0, 0, 1, 1, 1)
}

// EmbeddingBag joins the rows of each bag; offsets say where the bags begin.
func TestEmbeddingBag(t *testing.T) {
	weight := torch.Arange(30).View([]int{10, 3}).Float()
	input, offsets := torch.TensorOf[int64](1, 2, 4, 5, 4, 3, 2, 9), torch.TensorOf[int64](0, 4)
	bag := nn.NewEmbeddingBag(10, 3, nn.EmbeddingBagOptions{Mode: nn.BagSum, Weight: weight})
	near(t, bag.Forward(input, nn.BagInput{Offsets: offsets}), 36, 40, 44, 54, 58, 62)
	near(t, bag.Forward(input.View([]int{2, 4})), 36, 40, 44, 54, 58, 62) // bags of one length need no offsets

	mean := nn.NewEmbeddingBag(10, 3, nn.EmbeddingBagOptions{Weight: weight, PaddingIdx: torch.Some(4)})
	near(t, mean.Forward(input, nn.BagInput{Offsets: offsets}), 8, 9, 10, 14, 15, 16)
	fails(t, "offsets has to be a 1D Tensor but got None", func() { bag.Forward(input) })

	torch.ManualSeed(0)
	drawn := nn.NewEmbeddingBag(10, 3, nn.EmbeddingBagOptions{Mode: nn.BagSum})
	near(t, drawn.Forward(input, nn.BagInput{Offsets: offsets}), -0.7417, -0.6424, 0.9024, -1.4070, -0.0047, 2.7891)
}
