// Package utils works on the parameters of modules (gradient clipping and the like) and prepares modules for inference.
package utils

import (
	"slices"

	"github.com/gotorch-dev/torch/linalg"

	"github.com/gotorch-dev/torch"

	"github.com/gotorch-dev/torch/internal/pyfmt"
	"github.com/gotorch-dev/torch/tensor"
)

// Tensor is a tensor.
type Tensor = tensor.Tensor

// ClipOptions are the options of ClipGradNorm.
type ClipOptions struct {
	// NormType is the p of the norm (default 2); math.Inf(1) takes the largest element, 0 counts the parameters whose
	// gradients are not zero.
	NormType tensor.Opt[float64]
	// ErrorIfNonfinite panics when the norm is NaN or infinite, instead of scaling by it.
	ErrorIfNonfinite bool
}

// ClipGradNorm scales the gradients of parameters, together, so that their norm is at most maxNorm, and returns the
// norm before, as a 0-d tensor. Parameters without gradient do not count.
// https://pytorch.org/docs/stable/generated/torch.nn.utils.clip_grad_norm_.html
func ClipGradNorm(parameters []*Tensor, maxNorm float64, opts ...ClipOptions) *Tensor {
	var o ClipOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	total := GradNorm(parameters, opts...)
	if o.ErrorIfNonfinite {
		refuseNonfinite(total, o)
	}
	ClipGradsWithNorm(parameters, maxNorm, total)
	return total
}

// refuseNonfinite panics when a norm is NaN or infinite.
func refuseNonfinite(total *Tensor, o ClipOptions) {
	if total.IsFinite().Item() == 0 {
		tensor.Fail(tensor.ErrValue, "The total norm of order %s for gradients from `parameters` is non-finite, so "+
			"it cannot be clipped. To disable this error and scale the gradients by the non-finite norm anyway, set "+
			"`error_if_nonfinite=False`", pyfmt.Float(normType(o)))
	}
}

var (
	opNorms = tensor.Slot("aten::_foreach_norm.Scalar")
	opScale = tensor.Slot("aten::_foreach_mul_.Tensor")
)

// gradients lists the gradients of parameters.
func gradients(parameters []*Tensor) (out []*Tensor) {
	for _, x := range parameters {
		if g := x.Grad(); g != nil {
			out = append(out, g)
		}
	}
	return out
}

// alike parts tensors by device and dtype, as the operators on lists want them.
func alike(tensors []*Tensor) (parts [][]*Tensor) {
	for _, g := range tensors {
		i := slices.IndexFunc(parts, func(l []*Tensor) bool {
			return l[0].Device() == g.Device() &&
				l[0].DType() == g.DType()
		})
		if i < 0 {
			i, parts = len(parts), append(parts, make([]*Tensor, 0, len(tensors)))
		}
		parts[i] = append(parts[i], g)
	}
	return parts
}

func normType(o ClipOptions) float64 { return o.NormType.Or(2) }

// GetTotalNorm is the norm of several tensors together, as a 0-d tensor.
// https://pytorch.org/docs/stable/generated/torch.nn.utils.get_total_norm.html
func GetTotalNorm(tensors []*Tensor, opts ...ClipOptions) (total *Tensor) {
	var o ClipOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	total = totalNorm(tensors, normType(o))
	if o.ErrorIfNonfinite {
		refuseNonfinite(total, o)
	}
	return total
}

// ClipGradsWithNorm scales the gradients of parameters as ClipGradNorm does, by a norm that is known already.
// https://pytorch.org/docs/stable/generated/torch.nn.utils.clip_grads_with_norm_.html
func ClipGradsWithNorm(parameters []*Tensor, maxNorm float64, totalNorm *Tensor) {
	tensor.NoGrad(func() {
		// as PyTorch rounds: the coefficient in the norm's type, at most 1
		coef := totalNorm.AddScalar(1e-6).Reciprocal().MulScalar(maxNorm).ClampScalar(tensor.ClampScalarOptions{Max: 1.0})
		// nothing to do; elsewhere reading it would wait for the device
		if coef.Device().Type == tensor.CPUDevice && coef.Item() == 1 {
			return
		}
		for _, l := range alike(gradients(parameters)) {
			c := tensor.NewCall(opScale, 2)
			*c.Arg(0), *c.Arg(1) = tensor.TensorsValue(l), tensor.TensorValue(coef.ToDType(l[0].DType()))
			c.Do0()
		}
	})
}

// GradNorm is the norm of all gradients together.
func GradNorm(parameters []*Tensor, opts ...ClipOptions) (total *Tensor) {
	var o ClipOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	return totalNorm(gradients(parameters), normType(o))
}

// totalNorm is the norm of order p of several tensors together.
func totalNorm(tensors []*Tensor, p float64) (total *Tensor) {
	var norms []*Tensor
	tensor.NoGrad(func() {
		for _, l := range alike(tensors) {
			c := tensor.NewCall(opNorms, len(opNorms.Sch.Params))
			*c.Arg(0), *c.Arg(1) = tensor.TensorsValue(l), tensor.FloatValue(p)
			norms = append(norms, c.DoN()...)
		}
		if len(norms) == 0 {
			total = torch.Zeros([]int{})
			return
		}
		total = linalg.VectorNorm(torch.Stack(norms), linalg.VectorNormOptions{Ord: p})
	})
	return total
}

// ClipGradValue limits every element of the gradients to [-value, value].
// https://pytorch.org/docs/stable/generated/torch.nn.utils.clip_grad_value_.html
func ClipGradValue(parameters []*Tensor, value float64) {
	tensor.NoGrad(func() {
		for _, p := range parameters {
			if g := p.Grad(); g != nil {
				g.ClampScalarInPlace(tensor.ClampScalarInPlaceOptions{Min: -value, Max: value})
			}
		}
	})
}

// ClipGradNormInPlace is ClipGradNorm under the name that PyTorch's function, which ends in an underscore, has by the
// rule for methods in place.
func ClipGradNormInPlace(parameters []*Tensor, maxNorm float64, opts ...ClipOptions) *Tensor {
	return ClipGradNorm(parameters, maxNorm, opts...)
}

// ClipGradValueInPlace is ClipGradValue.
func ClipGradValueInPlace(parameters []*Tensor, value float64) { ClipGradValue(parameters, value) }

// ClipGradsWithNormInPlace is ClipGradsWithNorm.
func ClipGradsWithNormInPlace(parameters []*Tensor, maxNorm float64, totalNorm *Tensor) {
	ClipGradsWithNorm(parameters, maxNorm, totalNorm)
}
