package functional

import (
	"fmt"
	"math"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/cookbook/internal/expect"
	"github.com/gotorch-dev/torch/nn"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

// Cross entropy is LogSoftmax followed by NLLLoss.
func Example_crossEntropyLoss() {
	x := torch.FromSlice([]float32{1, 2, 3, 1, 3, 1}, 2, 3)
	target := torch.TensorOf[int64](2, 0)
	fmt.Println(nn.NewCrossEntropyLoss().Forward(x, target))
	fmt.Println(nn.NewNLLLoss().Forward(torch.LogSoftmax(x, 1), target))
	// Output:
	// tensor(1.3236)
	// tensor(1.3236)
}

// The options of cross entropy, and class probabilities in place of class numbers.
func TestCrossEntropyOptions(t *testing.T) {
	x := torch.FromSlice([]float32{1, 2, 3, 1, 3, 1}, 2, 3)
	target := torch.TensorOf[int64](2, 0)
	loss := func(o nn.CrossEntropyLossOptions) *torch.Tensor { return nn.NewCrossEntropyLoss(o).Forward(x, target) }
	near(t, loss(nn.CrossEntropyLossOptions{Reduction: nn.None}), 0.4076, 2.2395)
	near(t, loss(nn.CrossEntropyLossOptions{LabelSmoothing: 0.1}), 1.3402)
	near(t, loss(nn.CrossEntropyLossOptions{Weight: torch.TensorOf[float32](1, 2, 3)}), 0.8656)
	near(t, loss(nn.CrossEntropyLossOptions{IgnoreIndex: torch.Some(0)}), 0.4076)
	near(t, F.CrossEntropy(x, torch.OneHot(target, tensor.OneHotOptions{NumClasses: torch.Some(3)}).Float()), 1.3236)
	fails(t, "Target 3 is out of bounds.", func() { F.CrossEntropy(x, torch.TensorOf[int64](2, 3)) })
}

// NLLLoss picks the target's element and changes its sign.
func TestNLLLoss(t *testing.T) {
	a := torch.FromSlice([]float32{1, 2, 3}, 1, 3)
	for target, want := range []float64{-1, -2, -3} {
		near(t, nn.NewNLLLoss().Forward(a, torch.TensorOf(int64(target))), want)
	}
	fails(t, "expected target dtype to be Long or Byte, but got Float",
		func() { nn.NewNLLLoss().Forward(a, torch.TensorOf[float32](0)) })
}

// Binary cross entropy of logits, its reductions and its weight.
func TestBCEWithLogits(t *testing.T) {
	pred, label := torch.TensorOf[float32](3, 2, 1), torch.TensorOf[float32](1, 1, 0)
	loss := func(o nn.BCEWithLogitsLossOptions) *torch.Tensor {
		return nn.NewBCEWithLogitsLoss(o).Forward(pred, label)
	}
	near(t, loss(nn.BCEWithLogitsLossOptions{}), 0.4963)
	near(t, loss(nn.BCEWithLogitsLossOptions{Reduction: nn.Sum}), 1.4888)
	near(t, loss(nn.BCEWithLogitsLossOptions{Reduction: nn.None}), 0.0486, 0.1269, 1.3133)
	near(t, loss(nn.BCEWithLogitsLossOptions{Weight: torch.TensorOf[float32](1, 2, 3)}), 1.4141)
	fails(t, "Target size (torch.Size([2])) must be the same as input size (torch.Size([3]))", func() {
		nn.NewBCEWithLogitsLoss().Forward(pred, torch.TensorOf[float32](1, 0))
	})
}

// BCELoss wants probabilities; on the sigmoid it equals BCEWithLogitsLoss, which is also right where the sigmoid
// saturates.
func TestBCE(t *testing.T) {
	pred, label := torch.TensorOf[float32](3, 2, 1), torch.TensorOf[float32](1, 1, 0)
	near(t, torch.Sigmoid(pred), 0.9526, 0.8808, 0.7311)
	near(t, nn.NewBCELoss().Forward(torch.Sigmoid(pred), label), 0.4963)
	// the sigmoid twice: a common mistake
	near(t, nn.NewBCEWithLogitsLoss().Forward(torch.Sigmoid(pred), label), 0.5990)
	fails(t, "all elements of input should be between 0 and 1", func() { nn.NewBCELoss().Forward(pred, label) })

	far, wrong := torch.TensorOf[float32](200, -200), torch.TensorOf[float32](0, 1)
	near(t, nn.NewBCEWithLogitsLoss().Forward(far, wrong), 200)
	near(t, nn.NewBCELoss().Forward(torch.Sigmoid(far), wrong), 100) // each logarithm is held above -100
}

// PosWeight makes positives count more: with 100 of them among 300 negatives, 3 balances the two.
func TestPosWeight(t *testing.T) {
	target := torch.Ones([]int{10, 64})
	output := torch.Full([]int{10, 64}, 1.5)
	for weight, want := range map[float64]float64{1: 0.2014133185148239, 3: 0.604240} {
		loss := nn.NewBCEWithLogitsLoss(nn.BCEWithLogitsLossOptions{PosWeight: torch.Full([]int{64}, weight)})
		near(t, loss.Forward(output, target), want)
	}
	near(t, torch.TensorOf(-math.Log(1/(1+math.Exp(-1.5)))), 0.2014133)
}

// Focal loss around an unreduced binary cross entropy: samples that are right already count little.
func TestFocalLoss(t *testing.T) {
	focal := func(pred, label *torch.Tensor, gamma, alpha float64) *torch.Tensor {
		loss := F.BinaryCrossEntropyWithLogits(pred, label, F.BinaryCrossEntropyWithLogitsOptions{Reduction: F.None})
		p, wrong := pred.Sigmoid(), label.RsubScalar(1)
		pt := label.Mul(p).Add(wrong.Mul(p.RsubScalar(1)))
		factor := label.MulScalar(alpha).Add(wrong.MulScalar(1 - alpha))
		return loss.Mul(factor).Mul(pt.RsubScalar(1).PowScalar(gamma))
	}
	pred := torch.TensorOf[float32](3, 2, 1, -1).SetRequiresGrad(true)
	loss := focal(pred, torch.TensorOf[float32](1, 1, 0, 0), 1.5, 0.25)
	expect.Scaled(t, loss.MulScalar(1000), 0.12545, 1.3060, 615.66, 32.768)
	near(t, loss.Sum(), 0.6499)
	near(t, loss.Mean(), 0.1625)
	loss.Mean().Backward()
	expect.Scaled(t, pred.Grad().MulScalar(1000), -0.075428, -0.73797, 147.77, 16.016)
}

// Softmax of rows, and its logarithm.
func Example_softmax() {
	x := torch.FromSlice([]float32{1, 2, 3}, 1, 3)
	fmt.Println(F.Softmax(x, F.SoftmaxOptions{Dim: torch.Some(1)}))
	fmt.Println(F.LogSoftmax(x, F.LogSoftmaxOptions{Dim: torch.Some(1)}))
	// Output:
	// tensor([[0.0900, 0.2447, 0.6652]])
	// tensor([[-2.4076, -1.4076, -0.4076]])
}
