package utils

import (
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// Conv is a convolution layer that a batch norm can be folded into.
type Conv interface {
	nn.Layer
	*nn.Conv1d | *nn.Conv2d | *nn.Conv3d | *nn.ConvTranspose1d | *nn.ConvTranspose2d | *nn.ConvTranspose3d
}

// normBase is what the batch norms share.
func normBase(bn nn.Module) *nn.NormBase {
	if b := nn.BatchNormOf(bn); b != nil {
		return b
	}
	tensor.Fail(tensor.ErrType, "want a batch norm, got %s", nn.ClassName(bn))
	return nil
}

// FuseConvBNEval is one convolution that does what conv and then bn do; both must be in evaluation mode, and stay as
// they are.
// https://pytorch.org/docs/stable/generated/torch.nn.utils.fuse_conv_bn_eval.html
func FuseConvBNEval[C Conv](conv C, bn nn.Layer) C {
	var out nn.Layer
	var weight, bias **Tensor
	var training, transposed bool
	switch c := any(conv).(type) {
	case *nn.Conv1d:
		d := *c
		out, weight, bias, training = nn.New(&d), &d.Weight, &d.Bias, c.Training()
	case *nn.Conv2d:
		d := *c
		out, weight, bias, training = nn.New(&d), &d.Weight, &d.Bias, c.Training()
	case *nn.Conv3d:
		d := *c
		out, weight, bias, training = nn.New(&d), &d.Weight, &d.Bias, c.Training()
	case *nn.ConvTranspose1d:
		d := *c
		out, weight, bias, training, transposed = nn.New(&d), &d.Weight, &d.Bias, c.Training(), true
	case *nn.ConvTranspose2d:
		d := *c
		out, weight, bias, training, transposed = nn.New(&d), &d.Weight, &d.Bias, c.Training(), true
	case *nn.ConvTranspose3d:
		d := *c
		out, weight, bias, training, transposed = nn.New(&d), &d.Weight, &d.Bias, c.Training(), true
	}
	b := normBase(bn)
	if training || b.Training() {
		tensor.Fail(tensor.ErrValue, "Fusion only for eval!")
	}
	*weight, *bias = FuseConvBNWeights(*weight, *bias, b.RunningMean, b.RunningVar, b.Eps, b.Weight, b.Bias, transposed)
	return any(out).(C)
}

// folded gives the factor and the shift of each channel of a batch norm in evaluation: y = x*factor + shift.
func folded(mean, variance *Tensor, eps float64, w, b *Tensor) (factor, shift *Tensor) {
	if mean == nil || variance == nil {
		tensor.Fail(tensor.ErrValue, "a batch norm without running statistics cannot be folded")
	}
	factor = variance.Detach().AddScalar(eps).Rsqrt()
	if w != nil {
		factor = factor.Mul(w.Detach())
	}
	shift = mean.Detach().Mul(factor).Neg()
	if b != nil {
		shift = shift.Add(b.Detach())
	}
	return factor, shift
}

// FuseConvBNWeights gives the weight and bias of a convolution into which a batch norm is folded; transposed says that
// the weight's second dimension is that of the outputs.
// https://pytorch.org/docs/stable/generated/torch.nn.utils.fuse_conv_bn_weights.html
func FuseConvBNWeights(weight, bias, runningMean, runningVar *Tensor, eps float64, bnWeight, bnBias *Tensor,
	transposed bool) (w, b *Tensor) {
	factor, shift := folded(runningMean, runningVar, eps, bnWeight, bnBias)
	if weight.Dim() < 2 {
		tensor.Fail(tensor.ErrShape, "FuseConvBNWeights: the weight of a convolution has 3 dimensions or more, got shape %s",
			tensor.ShapeString(weight.Shape()))
	}
	shape := make([]int, weight.Dim())
	for i := range shape {
		shape[i] = 1
	}
	if transposed {
		shape[1] = -1
	} else {
		shape[0] = -1
	}
	if bias != nil {
		shift = shift.Add(bias.Detach().Mul(factor))
	}
	w = weight.Detach().Mul(factor.Reshape(shape)).To(weight.DType())
	return nn.NewParameter(w).SetRequiresGrad(weight.RequiresGrad()),
		nn.NewParameter(shift.To(weight.DType())).SetRequiresGrad(bias == nil || bias.RequiresGrad())
}

// FuseLinearBNEval is one linear layer that does what linear and then bn do; both must be in evaluation mode, and stay
// as they are.
// https://pytorch.org/docs/stable/generated/torch.nn.utils.fuse_linear_bn_eval.html
func FuseLinearBNEval(linear *nn.Linear, bn nn.Layer) *nn.Linear {
	b := normBase(bn)
	if linear.Training() || b.Training() {
		tensor.Fail(tensor.ErrValue, "Fusion only for eval!")
	}
	if out := linear.Weight.Size(0); out != b.NumFeatures && b.NumFeatures != 1 {
		tensor.Fail(tensor.ErrShape, "To fuse, linear.out_features == bn.num_features or bn.num_features == 1")
	}
	d := *linear
	d.Weight, d.Bias = FuseLinearBNWeights(linear.Weight, linear.Bias, b.RunningMean, b.RunningVar, b.Eps, b.Weight,
		b.Bias)
	return nn.New(&d)
}

// FuseLinearBNWeights gives the weight and bias of a linear layer into which a batch norm is folded.
// https://pytorch.org/docs/stable/generated/torch.nn.utils.fuse_linear_bn_weights.html
func FuseLinearBNWeights(weight, bias, runningMean, runningVar *Tensor, eps float64, bnWeight, bnBias *Tensor) (w,
	b *Tensor) {
	factor, shift := folded(runningMean, runningVar, eps, bnWeight, bnBias)
	if bias != nil {
		shift = shift.Add(bias.Detach().Mul(factor))
	}
	w = weight.Detach().Mul(factor.Reshape([]int{-1, 1})).To(weight.DType())
	return nn.NewParameter(w).SetRequiresGrad(weight.RequiresGrad()),
		nn.NewParameter(shift.To(weight.DType())).SetRequiresGrad(bias == nil || bias.RequiresGrad())
}
