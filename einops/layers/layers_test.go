package layers_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/einops"
	"github.com/gotorch-dev/torch/einops/layers"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

func Example() {
	net := nn.NewSequential(
		nn.NewConv2d(1, 4, 3),
		layers.NewReduce("b c (h h2) (w w2) -> b c h w", "max", einops.Axes{"h2": 2, "w2": 2}),
		layers.NewRearrange("b c h w -> b (c h w)"),
		nn.NewLinear(4*3*3, 10),
	)
	fmt.Println(net)
	fmt.Println(net.Forward(torch.Randn([]int{2, 1, 8, 8})).Shape())
	// Output:
	// Sequential(
	//   (0): Conv2d(1, 4, kernel_size=(3, 3), stride=(1, 1))
	//   (1): Reduce('b c (h h2) (w w2) -> b c h w', 'max', h2=2, w2=2)
	//   (2): Rearrange('b c h w -> b (c h w)')
	//   (3): Linear(in_features=36, out_features=10, bias=True)
	// )
	// [2 10]
}

// A linear layer for each head.
func ExampleEinMix() {
	m := layers.NewEinMix("t b (head cin) -> t b (head cout)", "head cin cout", layers.EinMixOptions{
		BiasShape: "head cout", Axes: einops.Axes{"head": 4, "cin": 8, "cout": 5},
	})
	fmt.Println(m.Weight.Shape(), m.Bias.Shape())
	fmt.Println(m.Forward(torch.Randn([]int{10, 2, 32})).Shape())
	// Output:
	// [4 8 5] [1 1 4 5]
	// [10 2 20]
}

func TestEinMixIsLinear(t *testing.T) {
	torch.ManualSeed(0)
	m := layers.NewEinMix("t b cin -> t b cout", "cin cout", layers.EinMixOptions{BiasShape: "cout",
		Axes: einops.Axes{"cin": 6, "cout": 5}})
	x := torch.Randn([]int{3, 2, 6})
	want := x.MatMul(m.Weight).Add(m.Bias)
	if got := m.Forward(x); !got.AllClose(want) {
		t.Errorf("got %v, want %v", got, want)
	}
	var names []string
	for n := range nn.NamedParameters(m) {
		names = append(names, n)
	}
	if !slices.Equal(names, []string{"weight", "bias"}) {
		t.Errorf("parameters %v", names)
	}
	if s := m.ExtraRepr(); s != "'t b cin -> t b cout', 'cin cout', 'cout', cin=6, cout=5" {
		t.Errorf("prints %s", s)
	}
	bound := m.Weight.Detach().Abs().Max().Item()
	if bound > 0.7072 || bound < 0.4 { // √(3/6)
		t.Errorf("weights up to %g", bound)
	}
	plain := layers.NewEinMix("... c -> ... c", "c", layers.EinMixOptions{Axes: einops.Axes{"c": 6}})
	if plain.Bias != nil || !plain.Forward(x).AllClose(x.Mul(plain.Weight)) {
		t.Error("multiplication by channel")
	}
}

func TestRefusals(t *testing.T) {
	axes := einops.Axes{"a": 2, "b": 3}
	for _, c := range []struct {
		f    func()
		want string
	}{
		{func() { layers.NewRearrange("a b -> a") },
			" Error while preparing Rearrange('a b -> a')\n Identifiers only on one side"},
		{func() { layers.NewReduce("a b -> a c", "sum") }, " Error while preparing Reduce('a b -> a c', 'sum')"},
		{func() { layers.NewReduce("a b -> a", "any").Forward(torch.Ones([]int{2, 2})) },
			"('Unknown reduction ', 'any')"},
		{func() { layers.NewEinMix("a -> b", "a c", layers.EinMixOptions{Axes: axes}) },
			"Unrecognized identifiers on the right side of EinMix {'b'}"},
		{func() { layers.NewEinMix("a -> a", "a ...", layers.EinMixOptions{Axes: axes}) },
			"Ellipsis is not supported in weight"},
		{func() { layers.NewEinMix("a ... -> a", "a", layers.EinMixOptions{Axes: axes}) },
			"Ellipsis in EinMix should be on both sides"},
		{func() { layers.NewEinMix("a 2 -> a", "a", layers.EinMixOptions{Axes: axes}) },
			"Anonymous axes (numbers) are not allowed in EinMix"},
		{func() { layers.NewEinMix("a -> b", "(a b)", layers.EinMixOptions{Axes: axes}) },
			"Parenthesis is not allowed in weight shape"},
		{func() { layers.NewEinMix("a -> b", "a b") }, "Dimension a of weight should be specified"},
		{func() { layers.NewEinMix("a -> a", "a", layers.EinMixOptions{Axes: axes}) },
			"Axes {'b'} are not used in pattern"},
		{func() { layers.NewEinMix("a -> a", "a b", layers.EinMixOptions{Axes: axes}) },
			"Weight axes {'b'} are redundant"},
		{func() { layers.NewEinMix("a -> b", "a b", layers.EinMixOptions{BiasShape: "c", Axes: axes}) },
			"Bias axes {'c'} not present in output"},
		{func() { layers.NewEinMix("a c -> b c", "a b", layers.EinMixOptions{BiasShape: "c", Axes: axes}) },
			"Sizes not provided for bias axes {'c'}"},
		{func() { layers.NewEinMix("a ... -> b ...", "a b", layers.EinMixOptions{BiasShape: "b", Axes: axes}) },
			"all bias dimensions should go after ellipsis in the output"},
	} {
		err := torch.Try(c.f)
		var e *tensor.Error
		if !errors.As(err, &e) || !strings.Contains(e.Msg, c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

// TestMessages compares messages with einops': those of layers stand alone.
func TestMessages(t *testing.T) {
	ints := torch.TensorOf[int64](1, 2, 3, 4).Reshape([]int{2, 2})
	for _, c := range []struct {
		want string
		f    func()
	}{
		{"not enough values to unpack (expected 2, got 1)", func() { layers.NewRearrange("a b") }},
		{"Shape mismatch, can't divide axis of length 2 in chunks of 3",
			func() { layers.NewRearrange("(a b) c -> a b c", einops.Axes{"a": 3}).Forward(ints) }},
		{"('Unknown reduction ', 'any')", func() { layers.NewReduce("a b -> a", "any").Forward(ints) }},
	} {
		var e *tensor.Error
		if err := tensor.Try(c.f); !errors.As(err, &e) || e.Msg != c.want {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
	if y := layers.NewReduce("a b -> a b", "all").Forward(ints); !torch.Equal(y, ints) {
		t.Errorf("a reduction over nothing gives %v", y)
	}
}
