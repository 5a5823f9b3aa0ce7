// Package layers has the operations of package einops as modules, for nn.Sequential and for networks that are printed
// or saved, and EinMix, a linear layer along any axes.
package layers

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/einops"
	"github.com/gotorch-dev/torch/internal/pyfmt"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// Tensor is torch.Tensor.
type Tensor = tensor.Tensor

func named(axes []einops.Axes) einops.Axes {
	if len(axes) > 0 {
		return axes[0]
	}
	return nil
}

// lengths prints named lengths as keyword arguments.
func lengths(a einops.Axes) string {
	var b strings.Builder
	for _, n := range slices.Sorted(maps.Keys(a)) {
		fmt.Fprintf(&b, ", %s=%d", n, a[n])
	}
	return b.String()
}

// Rearrange is einops.Rearrange as a module.
type Rearrange struct {
	nn.Base
	Pattern string
	Axes    einops.Axes
}

// NewRearrange makes a Rearrange; a wrong pattern panics here already.
func NewRearrange(pattern string, axes ...einops.Axes) *Rearrange {
	m := nn.New(&Rearrange{Pattern: pattern, Axes: maps.Clone(named(axes))})
	check(pattern, "rearrange", m.Axes, "Rearrange("+m.ExtraRepr()+")")
	return m
}

func check(pattern, operation string, axes einops.Axes, layer string) {
	if err := einops.Validate(pattern, operation, axes); err != nil {
		if einops.StandsAlone(err) {
			tensor.Fail(tensor.ErrValue, "%s", err)
		}
		tensor.Fail(tensor.ErrValue, " Error while preparing %s\n %s", layer, err)
	}
}

// Forward rearranges x.
func (m *Rearrange) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor { return einops.Apply(x, m.Pattern, "rearrange", m.Axes) })
}

// ExtraRepr prints the pattern and the lengths.
func (m *Rearrange) ExtraRepr() string { return pyfmt.Str(m.Pattern) + lengths(m.Axes) }

// Reduce is einops.Reduce as a module. As in Python it has the reductions of numbers only, not any and all.
type Reduce struct {
	nn.Base
	Pattern, Reduction string
	Axes               einops.Axes
}

// NewReduce makes a Reduce; a wrong pattern panics here already.
func NewReduce(pattern, reduction string, axes ...einops.Axes) *Reduce {
	m := nn.New(&Reduce{Pattern: pattern, Reduction: reduction, Axes: maps.Clone(named(axes))})
	check(pattern, reduction, m.Axes, "Reduce("+m.ExtraRepr()+")")
	return m
}

// Forward reduces x.
func (m *Reduce) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor { return einops.Apply(x, m.Pattern, m.Reduction, m.Axes) })
}

// ExtraRepr prints the pattern, the reduction and the lengths.
func (m *Reduce) ExtraRepr() string {
	return pyfmt.Str(m.Pattern) + ", " + pyfmt.Str(m.Reduction) + lengths(m.Axes)
}

// EinMix is a linear layer along any axes: an einsum of the input with a weight, with rearrangement of composed axes
// before and after it, and a bias.
//
//	layers.NewEinMix("t b cin -> t b cout", "cin cout", layers.EinMixOptions{BiasShape: "cout", Axes: einops.Axes{"cin": 10, "cout": 20}})
//
// https://einops.rocks/3-einmix-layer/
type EinMix struct {
	nn.Base
	Weight *Tensor
	Bias   *Tensor // nil without

	pattern, weightShape, biasShape string
	axes                            einops.Axes
	einsum                          string
	PreRearrange, PostRearrange     *Rearrange // nil where there is nothing to do
}

// EinMixOptions are the options of NewEinMix.
type EinMixOptions struct {
	// BiasShape names the axes of the output that the bias depends on; "" for no bias.
	BiasShape string
	// Axes are the lengths of the axes of weight and bias.
	Axes einops.Axes
	// DType of the parameters; the default dtype unless given.
	DType tensor.DType
}

// NewEinMix makes an EinMix. The weight is drawn uniformly within ±√(3/n), the bias within ±√(1/n), where n is the
// number of inputs that are summed for one output.
func NewEinMix(pattern, weightShape string, opts ...EinMixOptions) *EinMix {
	var o EinMixOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	m := nn.New(&EinMix{pattern: pattern, weightShape: weightShape, biasShape: o.BiasShape, axes: maps.Clone(o.Axes)})
	p, err := einops.ParseMix(pattern, weightShape, o.BiasShape, o.Axes)
	if err != nil {
		tensor.Fail(tensor.ErrValue, "%s", err)
	}
	if p.Before != "" {
		m.PreRearrange = NewRearrange(p.Before, p.BeforeAxes)
	}
	if p.After != "" {
		m.PostRearrange = NewRearrange(p.After)
	}
	m.einsum = p.Einsum
	n := float64(p.FanIn)
	m.Weight = uniform(p.Weight, math.Sqrt(3/n), o.DType)
	if p.Bias != nil {
		m.Bias = uniform(p.Bias, math.Sqrt(1/n), o.DType)
	}
	return m
}

// uniform makes a parameter drawn within ±bound.
func uniform(shape []int, bound float64, dt tensor.DType) *Tensor {
	if dt == 0 {
		dt = tensor.DefaultDType()
	}
	t := torch.Empty(shape, torch.EmptyOptions{DType: dt})
	t.UniformInPlace(tensor.UniformInPlaceOptions{From: -bound, To: tensor.Some(bound)})
	return nn.NewParameter(t)
}

// Forward applies the layer.
func (m *EinMix) Forward(x *Tensor) *Tensor {
	return m.Run(m, x, func(x *Tensor) *Tensor {
		if m.PreRearrange != nil {
			x = m.PreRearrange.Forward(x)
		}
		x = torch.Einsum(m.einsum, []*Tensor{x, m.Weight})
		if m.Bias != nil {
			x = x.Add(m.Bias)
		}
		if m.PostRearrange != nil {
			x = m.PostRearrange.Forward(x)
		}
		return x
	})
}

// ExtraRepr prints the patterns and the lengths.
func (m *EinMix) ExtraRepr() string {
	s := pyfmt.Str(m.pattern) + ", '" + m.weightShape + "'"
	if m.biasShape != "" {
		s += ", '" + m.biasShape + "'"
	}
	return s + lengths(m.axes)
}
