package prune_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/nn/utils/prune"
	"github.com/gotorch-dev/torch/tensor"
)

func ExampleL1Unstructured() {
	m := nn.NewLinear(3, 1, nn.LinearOptions{NoBias: true})
	torch.NoGrad(func() { m.Weight.CopyInPlace(tensor.FromSlice([]float32{1, -3, 2}, 1, 3)) })
	prune.L1Unstructured(m, "weight", prune.Count(1))
	fmt.Println(m.Weight.Detach(), m.StateDict().Keys())
	prune.Remove(m, "weight")
	fmt.Println(m.Weight.Detach(), m.StateDict().Keys())
	// Output:
	// tensor([[ 0., -3.,  2.]]) [weight_orig weight_mask]
	// tensor([[ 0., -3.,  2.]]) [weight]
}

func mask(m nn.Module) []float32 {
	return tensor.Data[float32](tensor.Dense(nn.Registered(m, "weight_mask")))
}

// TestLikePyTorch prunes one parameter in all ways, one after the other, with the random numbers and the masks of
// PyTorch.
func TestLikePyTorch(t *testing.T) {
	torch.ManualSeed(0)
	l := nn.NewLinear(4, 3)
	for _, c := range []struct {
		name string
		f    func()
		want []float32
	}{
		{"random_unstructured", func() { prune.RandomUnstructured(l, "weight", prune.Fraction(0.3)) },
			[]float32{1, 1, 0, 1, 1, 1, 0, 1, 0, 1, 1, 0}},
		{"l1_unstructured", func() { prune.L1Unstructured(l, "weight", prune.Count(2)) },
			[]float32{0, 1, 0, 1, 1, 1, 0, 1, 0, 0, 1, 0}},
		{"random_structured", func() { prune.RandomStructured(l, "weight", prune.Count(1), 1) },
			[]float32{0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 1, 0}},
		{"ln_structured", func() { prune.LnStructured(l, "weight", prune.Count(1), 2, 0) },
			[]float32{0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 0, 0}},
	} {
		c.f()
		if got := mask(l); !slices.Equal(got, c.want) {
			t.Errorf("%s: mask %v, want %v", c.name, got, c.want)
		}
	}
	if k := l.StateDict().Keys(); !slices.Equal(k, []string{"bias", "weight_orig", "weight_mask"}) {
		t.Errorf("keys %v", k)
	}
	torch.ManualSeed(1)
	a, b := nn.NewLinear(3, 2), nn.NewLinear(2, 2)
	prune.GlobalUnstructured([]prune.Parameter{{Module: a, Name: "weight"}, {Module: b, Name: "weight"}},
		prune.L1UnstructuredMethod{Amount: prune.Fraction(0.4)})
	if got := append(slices.Clone(mask(a)), mask(b)...); !slices.Equal(got, []float32{1, 1, 0, 1, 1, 1, 0, 0, 1, 0}) {
		t.Errorf("global: masks %v", got)
	}
}

func TestTraining(t *testing.T) {
	torch.ManualSeed(2)
	m := nn.NewSequential(nn.NewConv2d(1, 2, 3), nn.NewReLU(), nn.NewFlatten(), nn.NewLinear(8, 2))
	conv := m.At(0).(*nn.Conv2d)
	orig := conv.Weight
	if prune.IsPruned(m) {
		t.Error("pruned before it is")
	}
	prune.LnStructured(conv, "weight", prune.Count(1), math.Inf(1), 0)
	if !prune.IsPruned(m) || !slices.Contains(nn.Parameters(m), orig) {
		t.Error("not pruned, or the parameter is lost")
	}
	m.Forward(torch.Randn([]int{3, 1, 4, 4})).Square().Sum().Backward()
	if g := orig.Grad(); g == nil || g.MaskedSelect(nn.Registered(conv, "weight_mask").EqScalar(0)).Abs().Sum().Item() != 0 {
		t.Error("what is pruned has a gradient")
	}
	torch.NoGrad(func() { orig.FillScalarInPlace(1) })
	m.Forward(torch.Randn([]int{3, 1, 4, 4}))
	if got := conv.Weight.Sum().Item(); got != 9 {
		t.Errorf("weights sum to %v, want 9 of 18", got)
	}
	prune.Remove(conv, "weight")
	if conv.Weight != orig || orig.Sum().Item() != 9 || prune.IsPruned(m) {
		t.Error("the parameter is not what is left")
	}
}

func TestMethods(t *testing.T) {
	x := tensor.FromSlice([]float32{1, -4, 2, 3}, 2, 2)
	scores := tensor.FromSlice([]float32{9, 1, 8, 7}, 2, 2)
	for name, c := range map[string]struct {
		method prune.BasePruningMethod
		opts   prune.Options
		want   []float32
	}{
		"identity": {prune.IdentityMethod{}, prune.Options{}, []float32{1, -4, 2, 3}},
		"scores":   {prune.L1UnstructuredMethod{Amount: prune.Count(1)}, prune.Options{ImportanceScores: scores}, []float32{1, 0, 2, 3}},
		"none":     {prune.L1UnstructuredMethod{}, prune.Options{}, []float32{1, -4, 2, 3}},
		"all":      {prune.RandomUnstructuredMethod{Amount: prune.Fraction(1)}, prune.Options{}, []float32{0, 0, 0, 0}},
		"columns":  {prune.LnStructuredMethod{Amount: prune.Count(1), N: 1, Dim: -1}, prune.Options{}, []float32{0, -4, 0, 3}},
		"mask":     {prune.CustomFromMaskMethod{Mask: torch.Eye(2)}, prune.Options{}, []float32{1, 0, 0, 3}},
		"container": {prune.NewPruningContainer(prune.IdentityMethod{}, prune.L1UnstructuredMethod{Amount: prune.Count(3)}),
			prune.Options{}, []float32{0, -4, 0, 0}},
	} {
		got := tensor.Data[float32](tensor.Dense(prune.Prune(c.method, x, nil, c.opts)))
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// noChannels says that it is structured, and not along which dimension.
type noChannels struct{ prune.IdentityMethod }

func (noChannels) PruningType() prune.Type { return prune.StructuredPruning }

func TestRefused(t *testing.T) {
	lin := func() *nn.Linear { return nn.NewLinear(2, 2) }
	half := prune.Fraction(0.5)
	for name, f := range map[string]func(){
		"name":     func() { prune.L1Unstructured(lin(), "w", half) },
		"negative": func() { prune.L1Unstructured(lin(), "weight", prune.Count(-1)) },
		"too many": func() { prune.L1Unstructured(lin(), "weight", prune.Count(5)) },
		"fraction": func() { prune.RandomUnstructured(lin(), "weight", prune.Fraction(1.5)) },
		"vector":   func() { prune.RandomStructured(lin(), "bias", half, 0) },
		"dim":      func() { prune.LnStructured(lin(), "weight", half, 2, 2) },
		"scores": func() {
			prune.L1Unstructured(lin(), "weight", half, prune.Options{ImportanceScores: torch.Ones([]int{1})})
		},
		"mask":   func() { prune.CustomFromMask(lin(), "weight", torch.Ones([]int{3})) },
		"remove": func() { prune.Remove(lin(), "weight") },
		"structured": func() {
			prune.GlobalUnstructured([]prune.Parameter{{Module: lin(), Name: "weight"}}, prune.RandomStructuredMethod{})
		},
		"nothing":  func() { prune.GlobalUnstructured(nil, prune.IdentityMethod{}) },
		"channels": func() { prune.Apply(prune.Identity(lin(), "weight"), "weight", noChannels{}) },
		"nil":      func() { prune.NewPruningContainer(nil) },
	} {
		var e *tensor.Error
		if err := torch.Try(f); !errors.As(err, &e) {
			t.Errorf("%s: %v", name, err)
		}
	}
	m := lin()
	w := m.Weight
	_ = torch.Try(func() { prune.L1Unstructured(m, "weight", prune.Count(5)) })
	if m.Weight != w || len(nn.Parameters(m)) != 2 {
		t.Error("a refused pruning changed the module")
	}
}
