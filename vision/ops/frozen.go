package ops

import (
	"strconv"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// FrozenBatchNorm2d is batch norm whose statistics, weight and bias are buffers and so are never trained: detectors
// are trained with too few images a step for statistics of their own.
// https://pytorch.org/vision/stable/generated/torchvision.ops.FrozenBatchNorm2d.html
type FrozenBatchNorm2d struct {
	nn.Base
	Eps         float64
	Weight      *tensor.Tensor `torch:",buffer"`
	Bias        *tensor.Tensor `torch:",buffer"`
	RunningMean *tensor.Tensor `torch:",buffer"`
	RunningVar  *tensor.Tensor `torch:",buffer"`
}

// NewFrozenBatchNorm2d makes a FrozenBatchNorm2d with mean 0 and variance 1; eps is 1e-5 unless given.
func NewFrozenBatchNorm2d(numFeatures int, eps ...float64) *FrozenBatchNorm2d {
	n := []int{numFeatures}
	m := &FrozenBatchNorm2d{Eps: 1e-5, Weight: torch.Ones(n), Bias: torch.Zeros(n), RunningMean: torch.Zeros(n),
		RunningVar: torch.Ones(n)}
	if len(eps) > 0 {
		m.Eps = eps[0]
	}
	nn.RegisterLoadStateDictPreHook(nn.New(m), func(_ nn.Module, sd *tensor.StateDict, prefix string) {
		sd.Delete(prefix + "num_batches_tracked") // batch norms that were trained have it
	})
	return m
}

// Forward normalises (N, C, H, W).
func (m *FrozenBatchNorm2d) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Run(m, x, func(x *tensor.Tensor) *tensor.Tensor {
		column := func(t *tensor.Tensor) *tensor.Tensor { return t.Reshape([]int{1, -1, 1, 1}) }
		scale := column(m.Weight).Mul(column(m.RunningVar).AddScalar(m.Eps).Rsqrt())
		bias := column(m.Bias).Sub(column(m.RunningMean).Mul(scale))
		return x.Mul(scale).Add(bias)
	})
}

// ExtraRepr prints the settings.
func (m *FrozenBatchNorm2d) ExtraRepr() string {
	return strconv.Itoa(m.Weight.Size(0)) + ", eps=" + strconv.FormatFloat(m.Eps, 'g', -1, 64)
}
