package torchtest_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/torchtest"
)

// TestAssertClose compares texts with those of torch.testing.assert_close.
func TestAssertClose(t *testing.T) {
	f := func(v ...float32) *torch.Tensor { return torch.FromSlice(v) }
	i := func(v ...int64) *torch.Tensor { return torch.FromSlice(v) }
	zero := torch.Some(0.0)
	for _, c := range []struct {
		a, b any
		o    torchtest.CloseOptions
		want string
	}{
		{a: f(1, 2), b: f(1, 2.000001)},
		{a: f(1, 2, 3), b: f(1, 2.5, 3), want: "Tensor-likes are not close!\n\nMismatched elements: 1 / 3 (33.3%)\n" +
			"Greatest absolute difference: 0.5 at index (1,) (up to 1e-05 allowed)\n" +
			"Greatest relative difference: 0.20000000298023224 at index (1,) (up to 1.3e-06 allowed)"},
		{a: f(1, 2, 3, 4).Reshape([]int{2, 2}), b: f(1, 2.5, 3, 5).Reshape([]int{2, 2}),
			want: "Tensor-likes are not close!\n\nMismatched elements: 2 / 4 (50.0%)\n" +
				"Greatest absolute difference: 1.0 at index (1, 1) (up to 1e-05 allowed)\n" +
				"Greatest relative difference: 0.20000000298023224 at index (0, 1) (up to 1.3e-06 allowed)"},
		{a: f(1).Reshape(nil), b: f(2).Reshape(nil), want: "Scalars are not close!\n\nExpected 2.0 but got 1.0.\n" +
			"Absolute difference: 1.0 (up to 1e-05 allowed)\nRelative difference: 0.5 (up to 1.3e-06 allowed)"},
		{a: i(1, 2), b: i(1, 3), want: "Tensor-likes are not equal!\n\nMismatched elements: 1 / 2 (50.0%)\n" +
			"Greatest absolute difference: 1 at index (1,)\nGreatest relative difference: 0.3333333432674408 at " +
			"index (1,)"},
		{a: i(1, 2), b: f(1, 3), want: "The values for attribute 'dtype' do not match: torch.int64 != torch.float32."},
		{a: i(1, 2), b: i(1, 3).Reshape([]int{1, 2}),
			want: "The values for attribute 'shape' do not match: torch.Size([2]) != torch.Size([1, 2])."},
		{a: f(1, 2), b: f(1, 3), o: torchtest.CloseOptions{RTol: zero, ATol: zero},
			want: "Tensor-likes are not equal!\n\nMismatched elements: 1 / 2 (50.0%)\n" +
				"Greatest absolute difference: 1.0 at index (1,)\nGreatest relative difference: 0.3333333432674408 " +
				"at index (1,)"},
		{a: f(float32(math.NaN())), b: f(float32(math.NaN())),
			want: "Tensor-likes are not close!\n\nMismatched elements: 1 / 1 (100.0%)\n" +
				"Greatest absolute difference: nan at index (0,) (up to 1e-05 allowed)\n" +
				"Greatest relative difference: nan at index (0,) (up to 1.3e-06 allowed)"},
		{a: f(float32(math.NaN())), b: f(float32(math.NaN())), o: torchtest.CloseOptions{EqualNaN: true}},
		{a: map[string]*torch.Tensor{"a": f(1)}, b: map[string]*torch.Tensor{"a": f(2)},
			want: "Tensor-likes are not close!\n\nMismatched elements: 1 / 1 (100.0%)\n" +
				"Greatest absolute difference: 1.0 at index (0,) (up to 1e-05 allowed)\n" +
				"Greatest relative difference: 0.5 at index (0,) (up to 1.3e-06 allowed)\n\n" +
				"The failure occurred for item ['a']"},
		{a: map[string]*torch.Tensor{"a": f(1)}, b: map[string]*torch.Tensor{"b": f(2)},
			want: "The keys of the mappings do not match:\nMissing keys in the actual mapping: ['b']\n" +
				"Additional keys in the actual mapping: ['a']"},
		{a: []int{1, 2}, b: []int{1}, want: "The length of the sequences mismatch: 2 != 1"},
		{a: 1, b: 2, want: "Scalars are not equal!\n\nExpected 2 but got 1.\nAbsolute difference: 1\nRelative " +
			"difference: 0.5"},
		{a: 1.0, b: 2.0, want: "Scalars are not close!\n\nExpected 2.0 but got 1.0.\n" +
			"Absolute difference: 1.0 (up to 1e-07 allowed)\nRelative difference: 0.5 (up to 1e-07 allowed)"},
		{a: 1, b: 1.0, want: "The (d)types do not match: <class 'int'> != <class 'float'>."},
		{a: true, b: false, want: "Booleans mismatch: True is not False"},
		{a: f(1), b: f(2), o: torchtest.CloseOptions{Msg: "hello"}, want: "hello"},
		{a: torch.Ones([]int{2, 2}).T(), b: torch.Ones([]int{2, 2}), o: torchtest.CloseOptions{CheckStride: true},
			want: "The values for attribute 'stride()' do not match: (1, 2) != (2, 1)."},
		{a: f(0, float32(math.Inf(1))), b: f(0, 1),
			want: "Tensor-likes are not close!\n\nMismatched elements: 1 / 2 (50.0%)\n" +
				"Greatest absolute difference: inf at index (1,) (up to 1e-05 allowed)\n" +
				"Greatest relative difference: inf at index (1,) (up to 1.3e-06 allowed)"},
		{a: f(1), b: nil, want: "None mismatch: tensor([1.]) is not None"},
		{a: nil, b: nil},
		{a: torch.Empty([]int{0}), b: torch.Empty([]int{0})},
	} {
		got := ""
		if err := torchtest.AssertClose(c.a, c.b, c.o); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%v, %v: got\n%s\nwant\n%s", c.a, c.b, got, c.want)
		}
	}
	var m *torchtest.MismatchError
	for _, err := range []error{torchtest.AssertClose("a", "b"), torchtest.AssertClose(f(1), 1.0),
		torchtest.AssertClose(f(1), f(1), torchtest.CloseOptions{RTol: zero})} {
		if err == nil || errors.As(err, &m) {
			t.Errorf("got %v, want an error of another kind", err)
		}
	}
}

// TestMakeTensor compares numbers with those of torch.testing.make_tensor.
func TestMakeTensor(t *testing.T) {
	for _, c := range []struct {
		dt   torch.DType
		want any
	}{
		{torch.Float32, []float32{4.637368679046631, -3.9724040031433105, -1.744753360748291, 4.224320411682129,
			-8.472931861877441, 5.397455215454102}},
		{torch.Int64, []int64{-2, 3, 1, -1, 9, -8}},
		{torch.Bool, []bool{true, true, false, false, true, true}},
		{torch.Uint8, []uint8{5, 9, 4, 8, 3, 3}},
	} {
		torch.ManualSeed(1)
		got := torchtest.MakeTensor([]int{2, 3}, c.dt)
		if err := torchtest.AssertClose(got, convert(c.want)); err != nil {
			t.Errorf("%v: %v", c.dt, err)
		}
	}
	torch.ManualSeed(1)
	got := torchtest.MakeTensor([]int{2, 3}, torch.Float32,
		torchtest.MakeOptions{Low: torch.Some(0.0), High: torch.Some(1.0),
			Noncontiguous: true, RequiresGrad: true})
	want := torch.FromSlice([]float32{0.2793108820915222, 0.7346844673156738, 0.7998586297035217, 0.7543719410896301,
		0.4387779235839844, 0.524665892124176}, 2, 3)
	if err := torchtest.AssertClose(got, want); err != nil || got.IsContiguous() || !got.RequiresGrad() {
		t.Errorf("with options: %v", err)
	}
	for name, f := range map[string]func(){
		"gradient of integers": func() {
			torchtest.MakeTensor([]int{2}, torch.Int64, torchtest.MakeOptions{RequiresGrad: true})
		},
		"interval": func() {
			torchtest.MakeTensor([]int{2}, torch.Int64,
				torchtest.MakeOptions{Low: torch.Some(3.0), High: torch.Some(2.0)})
		},
		"beyond": func() {
			torchtest.MakeTensor([]int{2}, torch.Uint8,
				torchtest.MakeOptions{Low: torch.Some(300.0), High: torch.Some(400.0)})
		},
		"NaN": func() {
			torchtest.MakeTensor([]int{2}, torch.Float32,
				torchtest.MakeOptions{Low: torch.Some(torch.NaN)})
		},
	} {
		if torch.Try(f) == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func convert(v any) *torch.Tensor {
	switch x := v.(type) {
	case []float32:
		return torch.FromSlice(x, 2, 3)
	case []int64:
		return torch.FromSlice(x, 2, 3)
	case []bool:
		return torch.FromSlice(x, 2, 3)
	}
	return torch.FromSlice(v.([]uint8), 2, 3)
}

func ExampleAssertClose() {
	fmt.Println(torchtest.AssertClose(torch.Ones([]int{2}), torch.FromSlice([]float32{1, 1.5})))
	// Output:
	// Tensor-likes are not close!
	//
	// Mismatched elements: 1 / 2 (50.0%)
	// Greatest absolute difference: 0.5 at index (1,) (up to 1e-05 allowed)
	// Greatest relative difference: 0.3333333432674408 at index (1,) (up to 1.3e-06 allowed)
}
