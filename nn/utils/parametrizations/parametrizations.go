// Package parametrizations holds the parametrizations of PyTorch's torch.nn.utils.parametrizations: weight
// normalization and spectral normalization. Package parametrize is what they stand on.
package parametrizations

import (
	F "github.com/gotorch-dev/torch/nn/functional"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/nn/utils/parametrize"
	"github.com/gotorch-dev/torch/tensor"
)

// Tensor is a tensor.
type Tensor = tensor.Tensor

// WeightNormOptions are the options of WeightNorm; the zero value is PyTorch's default.
type WeightNormOptions struct {
	Name string          // of the parameter; default "weight"
	Dim  tensor.Opt[int] // over all dimensions but this one are the norms taken; default 0; -1: over all, Python's None
}

// weightNorm computes a weight from its length and its direction.
type weightNorm struct {
	nn.Base
	dim int
}

var opWeightNorm = tensor.Slot("aten::_weight_norm")

// ClassName is Python's.
func (*weightNorm) ClassName() string { return "_WeightNorm" }

// ForwardAll gives the weight.
func (w *weightNorm) ForwardAll(originals []*Tensor) *Tensor {
	c := tensor.NewCall(opWeightNorm, 3)
	*c.Arg(0), *c.Arg(1) = tensor.TensorValue(originals[1]), tensor.TensorValue(originals[0])
	*c.Arg(2) = tensor.IntValue(w.dim)
	return c.Do1()
}

// RightInverseAll gives length and direction.
func (w *weightNorm) RightInverseAll(x *Tensor) []*Tensor {
	return []*Tensor{torch.NormExceptDim(x, torch.NormExceptDimOptions{Dim: w.dim}), x}
}

// WeightNorm splits a parameter of m into a length, original0, and a direction, original1 (Salimans and Kingma, Weight
// normalization, 2016), and returns m. State dicts of the older utils.WeightNorm load as well.
// https://pytorch.org/docs/stable/generated/torch.nn.utils.parametrizations.weight_norm.html
func WeightNorm[M nn.Module](m M, opts ...WeightNormOptions) M {
	var o WeightNormOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	name := o.Name
	if name == "" {
		name = "weight"
	}
	parametrize.RegisterParametrization(m, name, nn.New(&weightNorm{dim: o.Dim.Or(0)}), parametrize.Options{Unsafe: true})
	nn.RegisterLoadStateDictPreHook(m, func(_ nn.Module, sd *tensor.StateDict, prefix string) {
		g, v := sd.Get(prefix+name+"_g"), sd.Get(prefix+name+"_v")
		if g == nil || v == nil {
			return
		}
		sd.Delete(prefix + name + "_g")
		sd.Delete(prefix + name + "_v")
		sd.Set(prefix+"parametrizations."+name+".original0", g)
		sd.Set(prefix+"parametrizations."+name+".original1", v)
	})
	return m
}

// SpectralNormOptions are the options of SpectralNorm; the zero value is PyTorch's default.
type SpectralNormOptions struct {
	Name             string              // of the parameter; default "weight"
	NPowerIterations tensor.Opt[int]     // in each Forward while training; default 1
	Eps              tensor.Opt[float64] // default 1e-12
	Dim              tensor.Opt[int]     // of the outputs; default 0, and 1 for transposed convolutions
}

// spectralNorm divides a weight by an estimate of its largest singular value.
type spectralNorm struct {
	nn.Base
	dim, iterations int
	eps             float64
	U               *Tensor `torch:"_u,buffer"`
	V               *Tensor `torch:"_v,buffer"`
}

// ClassName is Python's.
func (*spectralNorm) ClassName() string { return "_SpectralNorm" }

// matrix is the weight as a matrix with a row for each output.
func (s *spectralNorm) matrix(w *Tensor) *Tensor {
	if s.dim != 0 {
		order := []int{s.dim}
		for d := range w.Dim() {
			if d != s.dim {
				order = append(order, d)
			}
		}
		w = w.Permute(order)
	}
	return w.Flatten(tensor.FlattenOptions{StartDim: 1})
}

// normalize is x over its length.
func (s *spectralNorm) normalize(x *Tensor) *Tensor {
	return F.Normalize(x, F.NormalizeOptions{Dim: tensor.Some(0), Eps: tensor.Some(s.eps)})
}

// iterate improves U and V, which approach the first singular vectors of w (power iteration).
func (s *spectralNorm) iterate(w *Tensor, n int) {
	tensor.NoGrad(func() {
		adjoint := w.Transpose(0, 1).Conj()
		for range n {
			s.U.CopyInPlace(s.normalize(w.MV(s.V)))
			s.V.CopyInPlace(s.normalize(adjoint.MV(s.U)))
		}
	})
}

// Forward gives the normalized weight.
func (s *spectralNorm) Forward(x *Tensor) *Tensor {
	if x.Dim() == 1 {
		return s.normalize(x)
	}
	w := s.matrix(x)
	if s.Training() {
		s.iterate(w, s.iterations)
	}
	// copies, since the next Forward writes to U and V, which the gradient needs as they are
	return x.Div(s.U.Clone().Vdot(w.MV(s.V.Clone())))
}

// RightInverse takes any weight as it is.
func (s *spectralNorm) RightInverse(x *Tensor) *Tensor { return x }

// SpectralNorm divides a parameter of m by its largest singular value (Miyato et al., Spectral normalization for
// generative adversarial networks, 2018), which is estimated by power iteration, and returns m.
// https://pytorch.org/docs/stable/generated/torch.nn.utils.parametrizations.spectral_norm.html
func SpectralNorm[M nn.Module](m M, opts ...SpectralNormOptions) M {
	var o SpectralNormOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	name := o.Name
	if name == "" {
		name = "weight"
	}
	var weight *Tensor
	if at := nn.TensorField(m, name); at != nil {
		weight = *at
	}
	if weight == nil {
		tensor.Fail(tensor.ErrValue, "Module '%s' has no parameter or buffer with name '%s'", nn.ClassName(m), name)
	}
	fallback := 0
	if nn.IsTransposedConv(m) {
		fallback = 1
	}
	dim, n := o.Dim.Or(fallback), weight.Dim()
	if dim >= n || dim < -n {
		tensor.Fail(tensor.ErrIndex, "Dimension out of range (expected to be in range of [-%d, %d] but got %d)", n, n-1,
			dim)
	}
	if dim < 0 {
		dim += n
	}
	s := &spectralNorm{dim: dim, iterations: o.NPowerIterations.Or(1), eps: o.Eps.Or(1e-12)}
	if s.iterations <= 0 {
		tensor.Fail(tensor.ErrValue, "Expected n_power_iterations to be positive, but got n_power_iterations=%d",
			s.iterations)
	}
	if n > 1 {
		tensor.NoGrad(func() {
			w := s.matrix(weight.Detach())
			u := w.NewEmpty([]int{w.Size(0)}).NormalInPlace()
			v := w.NewEmpty([]int{w.Size(1)}).NormalInPlace()
			s.U, s.V = s.normalize(u), s.normalize(v)
			s.iterate(w, 15)
		})
	}
	parametrize.RegisterParametrization(m, name, nn.New(s))
	return m
}
