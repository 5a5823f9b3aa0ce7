package utils

import (
	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

// This file holds the older forms of weight and spectral normalization, whose state dicts have the names "weight_g" and
// "weight_v", or "weight_orig", "weight_u" and "weight_v". Package parametrizations has the newer ones.

// parameter is the parameter of m that the state dict calls name ("weight" for ""), to be computed from others.
func parameter(what string, m nn.Module, name string) (string, *Tensor) {
	if name == "" {
		name = "weight"
	}
	if nn.Computed(m, name) {
		tensor.Fail(tensor.ErrValue, "Cannot register two %s hooks on the same parameter %s", what, name)
	}
	at := nn.TensorField(m, name)
	if at == nil || *at == nil || !(*at).IsParameter() {
		tensor.Fail(tensor.ErrValue, "%s: %s has no parameter '%s', or has not made it yet", what, nn.ClassName(m), name)
	}
	return name, *at
}

var opWeightNorm = tensor.Slot("aten::_weight_norm")

// WeightNormOptions are the options of WeightNorm; the zero value is PyTorch's default.
type WeightNormOptions struct {
	Name string          // of the parameter; default "weight"
	Dim  tensor.Opt[int] // over all dimensions but this one are the norms taken; default 0; -1: over all, Python's None
}

// WeightNorm splits a parameter of m into its length, name_g, and its direction, name_v (Salimans and Kingma, Weight
// normalization, 2016), and returns m. PyTorch advises parametrizations.WeightNorm instead.
// https://pytorch.org/docs/stable/generated/torch.nn.utils.weight_norm.html
func WeightNorm[M nn.Module](m M, opts ...WeightNormOptions) M {
	var o WeightNormOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	name, w := parameter("weight_norm", m, o.Name)
	dim := o.Dim.Or(0)
	g := torch.NormExceptDim(w.Detach(), torch.NormExceptDimOptions{Dim: dim})
	nn.RegisterParameter(m, name+"_g", g)
	nn.RegisterParameter(m, name+"_v", nn.NewParameter(w.Detach()))
	nn.Compute(m, name, func(m nn.Module) *Tensor {
		c := tensor.NewCall(opWeightNorm, 3)
		*c.Arg(0), *c.Arg(1) = tensor.TensorValue(nn.Registered(m, name+"_v")), tensor.TensorValue(nn.Registered(m, name+"_g"))
		*c.Arg(2) = tensor.IntValue(dim)
		return c.Do1()
	})
	return m
}

// removed puts the tensor that a module computes in the place of what it is computed from.
func removed(what string, m nn.Module, name []string, suffixes ...string) {
	n := "weight"
	if len(name) > 0 {
		n = name[0]
	}
	if !nn.Computed(m, n) || nn.Registered(m, n+suffixes[0]) == nil || nn.Registered(m, n+suffixes[len(suffixes)-1]) == nil {
		tensor.Fail(tensor.ErrValue, "%s of '%s' not found in %s", what, n, nn.ClassName(m))
	}
	nn.InEvaluation(m, func() { nn.Refresh(m) }) // no power iteration
	w := (*nn.TensorField(m, n)).Detach().Clone()
	for _, s := range suffixes {
		nn.Unregister(m, n+s)
	}
	nn.StopComputing(m, n, nn.NewParameter(w))
}

// RemoveWeightNorm makes the parameter that WeightNorm split one again; name is "weight" unless given.
// https://pytorch.org/docs/stable/generated/torch.nn.utils.remove_weight_norm.html
func RemoveWeightNorm[M nn.Module](m M, name ...string) M {
	removed("weight_norm", m, name, "_g", "_v")
	return m
}

// SpectralNormOptions are the options of SpectralNorm; the zero value is PyTorch's default.
type SpectralNormOptions struct {
	Name             string              // of the parameter; default "weight"
	NPowerIterations tensor.Opt[int]     // in each Forward while training; default 1
	Eps              tensor.Opt[float64] // default 1e-12
	Dim              tensor.Opt[int]     // of the outputs; default 0, and 1 for transposed convolutions
}

// SpectralNorm divides a parameter of m by an estimate of its largest singular value (Miyato et al., Spectral
// normalization for generative adversarial networks, 2018), and returns m. The module keeps name_orig and the buffers
// name_u and name_v. PyTorch advises parametrizations.SpectralNorm instead.
// https://pytorch.org/docs/stable/generated/torch.nn.utils.spectral_norm.html
func SpectralNorm[M nn.Module](m M, opts ...SpectralNormOptions) M {
	var o SpectralNormOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	iterations := o.NPowerIterations.Or(1)
	if iterations <= 0 {
		tensor.Fail(tensor.ErrValue, "Expected n_power_iterations to be positive, but got n_power_iterations=%d", iterations)
	}
	name, w := parameter("spectral_norm", m, o.Name)
	fallback := 0
	if nn.IsTransposedConv(m) {
		fallback = 1
	}
	dim := o.Dim.Or(fallback)
	if dim < 0 || dim >= w.Dim() {
		tensor.Fail(tensor.ErrIndex, "spectral_norm: dim is %d, the parameter has %d dimensions", dim, w.Dim())
	}
	matrix := func(w *Tensor) *Tensor {
		order := []int{dim}
		for d := range w.Dim() {
			if d != dim {
				order = append(order, d)
			}
		}
		return w.Permute(order).Reshape([]int{w.Size(dim), -1})
	}
	normalize := func(x *Tensor) *Tensor {
		return F.Normalize(x, F.NormalizeOptions{Dim: tensor.Some(0), Eps: tensor.Some(o.Eps.Or(1e-12))})
	}
	var u, v *Tensor
	tensor.NoGrad(func() {
		mat := matrix(w.Detach())
		u = normalize(mat.NewEmpty([]int{mat.Size(0)}).NormalInPlace())
		v = normalize(mat.NewEmpty([]int{mat.Size(1)}).NormalInPlace())
	})
	nn.RegisterParameter(m, name+"_orig", w)
	nn.RegisterBuffer(m, name+"_u", u, true)
	nn.RegisterBuffer(m, name+"_v", v, true)
	first := true // PyTorch iterates in Forward only
	nn.Compute(m, name, func(m nn.Module) *Tensor {
		w, u, v := nn.Registered(m, name+"_orig"), nn.Registered(m, name+"_u"), nn.Registered(m, name+"_v")
		mat := matrix(w)
		if nn.IsTraining(m) && !first {
			tensor.NoGrad(func() {
				for range iterations {
					v.CopyInPlace(normalize(mat.Transpose(0, 1).MV(u)))
					u.CopyInPlace(normalize(mat.MV(v)))
				}
			})
		}
		// copies, since the next Forward writes to u and v, which the gradient needs as they are
		return w.Div(u.Clone().Dot(mat.MV(v.Clone())))
	})
	first = false
	return m
}

// RemoveSpectralNorm makes the computed parameter a plain one again; name is "weight" unless given.
// https://pytorch.org/docs/stable/generated/torch.nn.utils.remove_spectral_norm.html
func RemoveSpectralNorm[M nn.Module](m M, name ...string) M {
	removed("spectral_norm", m, name, "_orig", "_u", "_v")
	return m
}
