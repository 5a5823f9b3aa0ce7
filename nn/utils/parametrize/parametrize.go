// Package parametrize computes parameters of modules from others, before each Forward: PyTorch's
// torch.nn.utils.parametrize. The parametrizations that PyTorch brings along are in package parametrizations.
//
//	type Symmetric struct{ nn.Base }
//
//	func (*Symmetric) Forward(x *torch.Tensor) *torch.Tensor { return x.Triu().Add(x.Triu(…).Transpose(0, 1)) }
//
//	parametrize.RegisterParametrization(layer, "weight", nn.New(&Symmetric{}))
//
// The module then trains and saves "parametrizations.weight.original" instead of "weight". Its field Weight holds the
// computed tensor; it is computed anew in each Forward. A program that reads the field itself after the originals have
// changed calls nn.Refresh(module) first.
package parametrize

import (
	"errors"
	"strconv"

	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// Tensor is a tensor.
type Tensor = tensor.Tensor

// Inverse is implemented by parametrizations, which are layers of one tensor, that can say for which original they give
// a tensor. Without it the tensor itself becomes the original.
type Inverse interface{ RightInverse(x *Tensor) *Tensor }

// Several is implemented by parametrizations of several originals, as weight normalization is. One can only be the first
// of a tensor.
type Several interface {
	nn.Module
	ForwardAll(originals []*Tensor) *Tensor
	RightInverseAll(x *Tensor) []*Tensor
}

// ParametrizationList holds the originals of one tensor and the parametrizations that are applied to them, one after the
// other.
type ParametrizationList struct {
	nn.Base
	list      []nn.Module
	originals []*Tensor
	isTensor  bool // one original, which was the parameter before
	buffer    bool // the tensor was a buffer
}

// WalkOwn visits the originals and the parametrizations.
func (l *ParametrizationList) WalkOwn(param func(string, *Tensor), buffer func(string, *Tensor, bool),
	child func(string, nn.Module)) {
	for i, t := range l.originals {
		name := "original"
		if !l.isTensor {
			name += strconv.Itoa(i)
		}
		if l.buffer {
			buffer(name, t, true)
		} else {
			param(name, t)
		}
	}
	for i, m := range l.list {
		child(strconv.Itoa(i), m)
	}
}

// Len is the number of parametrizations.
func (l *ParametrizationList) Len() int { return len(l.list) }

// At is parametrization i.
func (l *ParametrizationList) At(i int) nn.Module { return l.list[i] }

// Originals are the tensors that the others are computed from.
func (l *ParametrizationList) Originals() []*Tensor { return append([]*Tensor(nil), l.originals...) }

// Compute applies the parametrizations.
func (l *ParametrizationList) Compute() *Tensor {
	x := l.originals[0]
	for i, m := range l.list {
		if s, ok := m.(Several); ok && i == 0 {
			x = s.ForwardAll(l.originals)
		} else {
			x = m.(nn.Layer).Forward(x)
		}
	}
	return x
}

// RightInverse sets the originals so that the parametrizations give x, as far as they have inverses.
func (l *ParametrizationList) RightInverse(x *Tensor) {
	tensor.NoGrad(func() {
		originals := inverse(l.list, x, false)
		if len(originals) != len(l.originals) {
			tensor.Fail(tensor.ErrValue, "'right_inverse' must return a sequence of tensors of length %d, got %d",
				len(l.originals), len(originals))
		}
		for i, t := range l.originals {
			keep(t, originals[i].Detach())
		}
	})
}

// keep makes t hold the values of x, whatever its shape was; it stays the tensor that an optimizer knows.
func keep(t, x *Tensor) {
	if x == t || x.Storage() == t.Storage() {
		return
	}
	if tensor.SameShape(t.Shape(), x.Shape()) && t.DType() == x.DType() {
		t.Detach().CopyInPlace(x)
		return
	}
	tensor.SetRaw(t, x.Clone())
}

// inverse is what the parametrizations turn into x. At registration a parametrization whose inverse is not implemented
// (tensor.ErrNotImpl) takes x as the original.
func inverse(list []nn.Module, x *Tensor, registration bool) []*Tensor {
	for i := len(list) - 1; i >= 0; i-- {
		if s, ok := list[i].(Several); ok && i == 0 {
			return s.RightInverseAll(x)
		}
		if v, ok := list[i].(Inverse); ok {
			y := x
			err := tensor.Try(func() { y = v.RightInverse(x) })
			if err != nil && !(registration && errors.Is(err, tensor.ErrNotImpl)) {
				panic(err)
			}
			x = y
		}
	}
	return []*Tensor{x}
}

// Options are the options of RegisterParametrization.
type Options struct {
	Unsafe bool // do not check that the parametrization keeps shape and dtype
}

const children = "parametrizations"

// lists are the parametrizations of a module by the names of the tensors, nil if there are none.
func lists(m nn.Module) *nn.ModuleDict {
	d, _ := nn.RegisteredModule(m, children).(*nn.ModuleDict)
	return d
}

// List holds the parametrizations of a tensor, nil if there are none.
func List(m nn.Module, name string) *ParametrizationList {
	if d := lists(m); d != nil && d.Has(name) {
		return d.Get(name).(*ParametrizationList)
	}
	return nil
}

// IsParametrized reports that a module has parametrizations, or that the tensors of these names have.
func IsParametrized(m nn.Module, names ...string) bool {
	for _, n := range names {
		if List(m, n) == nil {
			return false
		}
	}
	return lists(m) != nil
}

// RegisterParametrization has the parameter or buffer that the state dict calls name computed by parametrization, an
// nn.Layer or Several, from now on. Where the tensor has parametrizations already, this one is applied to their result.
// An optimizer goes on with the parameter that it knows, unless the parametrization has several originals.
// https://pytorch.org/docs/stable/generated/torch.nn.utils.parametrize.register_parametrization.html
func RegisterParametrization(m nn.Module, name string, parametrization nn.Module, opts ...Options) {
	unsafe := len(opts) > 0 && opts[0].Unsafe
	_, layer := parametrization.(nn.Layer)
	_, several := parametrization.(Several)
	if !layer && !several {
		tensor.Fail(tensor.ErrType, "a %s is no parametrization: it has neither Forward nor ForwardAll",
			nn.ClassName(parametrization))
	}
	nn.Train(parametrization, nn.IsTraining(m))
	if l := List(m, name); l != nil {
		if !layer {
			tensor.Fail(tensor.ErrType, "a parametrization of several tensors must be the first")
		}
		x := l.Compute()
		if !unsafe {
			same(name, x, parametrization.(nn.Layer).Forward(x))
		}
		l.list = append(l.list, parametrization)
		nn.Refresh(m)
		return
	}
	at := nn.TensorField(m, name)
	if at == nil || *at == nil {
		tensor.Fail(tensor.ErrValue, "Module '%s' does not have a parameter, a buffer, or a parametrized element with "+
			"name '%s'", nn.ClassName(m), name)
	}
	old := *at
	l := nn.New(&ParametrizationList{list: []nn.Module{parametrization}, isTensor: !several, buffer: !old.IsParameter()})
	tensor.NoGrad(func() {
		for _, t := range inverse(l.list, old, true) {
			t = t.Detach()
			if !several && !unsafe {
				same(name, old, t)
			}
			if l.isTensor {
				keep(old, t)
				l.originals = append(l.originals, old)
			} else {
				t = t.Clone()
				if !l.buffer {
					t = nn.NewParameter(t).SetRequiresGrad(old.RequiresGrad())
				}
				l.originals = append(l.originals, t)
			}
		}
		if !unsafe {
			same(name, old, l.Compute())
		}
	})
	d := lists(m)
	if d == nil {
		d = nn.NewModuleDict()
		nn.RegisterModule(m, children, d)
		nn.SetClassPrefix(m, "Parametrized")
	}
	d.Set(name, l)
	nn.Compute(m, name, func(m nn.Module) *Tensor { return List(m, name).Compute() })
}

// same refuses a parametrization that changes shape or dtype.
func same(name string, x, y *Tensor) {
	if x.DType() != y.DType() {
		tensor.Fail(tensor.ErrDType, "Registering a parametrization may not change the dtype of the tensor, unless "+
			"`unsafe` flag is enabled.\nmodule.%s.dtype before: %s\nafter: %s", name, x.DType(), y.DType())
	}
	if !tensor.SameShape(x.Shape(), y.Shape()) {
		tensor.Fail(tensor.ErrShape, "Registering a parametrization may not change the shape of the tensor, unless "+
			"`unsafe` flag is enabled.\nmodule.%s.shape before: %s\nafter: %s", name, tensor.ShapeString(x.Shape()),
			tensor.ShapeString(y.Shape()))
	}
}

// RemoveOptions are the options of RemoveParametrizations.
type RemoveOptions struct {
	NoLeaveParametrized bool // put the original back instead of the computed tensor
}

// RemoveParametrizations makes a tensor a plain parameter again: with the values that it has, or with those of the
// original.
// https://pytorch.org/docs/stable/generated/torch.nn.utils.parametrize.remove_parametrizations.html
func RemoveParametrizations(m nn.Module, name string, opts ...RemoveOptions) {
	l := List(m, name)
	if l == nil {
		tensor.Fail(tensor.ErrValue, "Module %s does not have a parametrization on %s", nn.ClassName(m), name)
	}
	t := l.originals[0]
	switch {
	case len(opts) > 0 && opts[0].NoLeaveParametrized:
		if !l.isTensor {
			tensor.Fail(tensor.ErrValue, "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is "+
				"parametrized in terms of a sequence of tensors.")
		}
	default:
		tensor.NoGrad(func() {
			x := l.Compute().Detach()
			if l.isTensor {
				keep(t, x)
				return
			}
			grad := t.RequiresGrad()
			if t = x.Clone(); !l.buffer {
				t = nn.NewParameter(t).SetRequiresGrad(grad)
			}
		})
	}
	nn.StopComputing(m, name, t)
	d := lists(m)
	if d.Delete(name); d.Len() == 0 {
		nn.Unregister(m, children)
		nn.SetClassPrefix(m, "")
	}
}

// Set gives the originals of a parametrized tensor values for which its parametrizations give x, as Python's assignment
// to the attribute does.
func Set(m nn.Module, name string, x *Tensor) {
	l := List(m, name)
	if l == nil {
		tensor.Fail(tensor.ErrValue, "Module %s does not have a parametrization on %s", nn.ClassName(m), name)
	}
	l.RightInverse(x)
	nn.Refresh(m)
}

// Cached runs f while the parametrized tensors of m and its children are computed only once.
func Cached(m nn.Module, f func()) { nn.HoldComputed(m, f) }

// TypeBeforeParametrizations is the name of a module's class as it is without parametrizations.
func TypeBeforeParametrizations(m nn.Module) string {
	name := nn.ClassName(m)
	if IsParametrized(m) {
		name = name[len("Parametrized"):]
	}
	return name
}
