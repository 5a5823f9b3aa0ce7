// Package utils works on the parameters of a module: clipping gradients, joining parameters into one vector.
package utils

import (
	"math"

	"github.com/gotorch-dev/torch/tensor"
)

// Tensor is a tensor.
type Tensor = tensor.Tensor

// ClipOptions are the options of ClipGradNorm; the zero value is PyTorch's default.
type ClipOptions struct {
	NormType         tensor.Opt[float64] // default 2; math.Inf(1) for the largest absolute value
	ErrorIfNonfinite bool                // fail when the total norm is NaN or infinite
}

func grads(params []*Tensor) []*Tensor {
	var out []*Tensor
	for _, p := range params {
		if p != nil && p.Grad() != nil {
			out = append(out, p.Grad())
		}
	}
	return out
}

// TotalNorm is the norm of all tensors seen as one vector, computed as PyTorch does: the norm of the tensors' norms.
func TotalNorm(tensors []*Tensor, opts ...ClipOptions) *Tensor {
	var o ClipOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	if len(tensors) == 0 {
		return tensor.FromSlice([]float32{0}).Reshape([]int{})
	}
	p := o.NormType.Or(2)
	norm := func(t *Tensor) *Tensor {
		return t.LinalgVectorNorm(tensor.LinalgVectorNormOptions{Ord: p})
	}
	var total *Tensor
	tensor.NoGrad(func() {
		dt := tensors[0].DType()
		norms := tensor.New([]int{len(tensors)}, dt)
		for i, t := range tensors {
			n := norm(t)
			tensor.CopyRaw(norms.Alias([]int{}, []int{}, i), n)
		}
		total = norm(norms)
	})
	if o.ErrorIfNonfinite {
		if f := total.Num().F; math.IsNaN(f) || math.IsInf(f, 0) {
			tensor.Fail(tensor.ErrValue, "The total norm of order %v for gradients from `parameters` is non-finite, so it cannot be clipped. To disable this error and scale the gradients by the non-finite norm anyway, set `error_if_nonfinite=False`", p)
		}
	}
	return total
}

// ClipGradNorm scales the gradients of params so that the norm of all of them together is at most maxNorm, and returns what it was (a 0-d
// tensor).
// https://pytorch.org/docs/stable/generated/torch.nn.utils.clip_grad_norm_.html
func ClipGradNorm(params []*Tensor, maxNorm float64, opts ...ClipOptions) *Tensor {
	gs := grads(params)
	total := TotalNorm(gs, opts...)
	tensor.NoGrad(func() {
		coef := total.AddScalar(1e-6).Reciprocal().MulScalar(maxNorm).ClampMax(1)
		for _, g := range gs {
			g.MulInPlace(coef.ToDType(g.DType()))
		}
	})
	return total
}

// ClipGradValue limits each element of the gradients of params to [-clip, clip].
func ClipGradValue(params []*Tensor, clip float64) {
	tensor.NoGrad(func() {
		for _, g := range grads(params) {
			g.ClampMinInPlace(-clip)
			g.ClampMaxInPlace(clip)
		}
	})
}

// ParametersToVector joins tensors into one vector.
func ParametersToVector(params []*Tensor) *Tensor {
	flat := make([]*Tensor, len(params))
	for i, p := range params {
		flat[i] = p.Reshape([]int{-1})
	}
	res, err := tensor.ResolveCall([]string{"aten::cat"}, []tensor.Value{tensor.TensorsValue(flat)}, nil)
	if err != nil {
		panic(err)
	}
	return res[0].T
}

// VectorToParameters copies the parts of a vector into the tensors; its length must be that of all of them together.
func VectorToParameters(vec *Tensor, params []*Tensor) {
	total := 0
	for _, p := range params {
		total += p.Numel()
	}
	if vec.Dim() != 1 || vec.Numel() != total {
		tensor.Fail(tensor.ErrShape, "VectorToParameters: the parameters have %d elements, the vector has shape %s", total, tensor.ShapeString(vec.Shape()))
	}
	tensor.NoGrad(func() {
		at := 0
		for _, p := range params {
			p.CopyInPlace(vec.Narrow(0, at, p.Numel()).Reshape(p.Shape()))
			at += p.Numel()
		}
	})
}
