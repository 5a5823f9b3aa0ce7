package random_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/opstest"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

// TestSeed checks that a seed decides all numbers, on any number of threads.
func TestSeed(t *testing.T) {
	opstest.SameBits(t, "randn, randperm and dropout", func() []*tensor.Tensor {
		torch.ManualSeed(7)
		return []*tensor.Tensor{torch.Randn([]int{100003}), torch.Randperm(1000),
			F.Dropout(torch.Rand([]int{257, 130}))}
	})
}

// TestDropout checks that what stays is scaled up and that the gradient takes the same way.
func TestDropout(t *testing.T) {
	torch.ManualSeed(1)
	x := opstest.Fill(tensor.Float32, 1, 1000).AddScalar(2).Detach().SetRequiresGrad(true)
	y := F.Dropout(x, F.DropoutOptions{P: tensor.Some(0.75)})
	y.SumDim(nil).Backward()
	kept := 0
	in, out, g := tensor.Data[float32](x.Detach()), tensor.Data[float32](y.Detach()), tensor.Data[float32](x.Grad())
	for i, v := range out {
		switch {
		case v == 0 && g[i] == 0:
		case v == 4*in[i] && g[i] == 4:
			kept++
		default:
			t.Fatalf("element %d: %g became %g with the gradient %g", i, in[i], v, g[i])
		}
	}
	if kept < 200 || kept > 300 {
		t.Errorf("%d of 1000 elements stay with p = 0.75", kept)
	}
}

// Outside of training native_dropout keeps all elements, with any probability, and so does its gradient.
func TestNativeDropoutOff(t *testing.T) {
	for _, p := range []float64{0, 0.5, 1} {
		x := torch.TensorOf[float32](1, 2, 3).SetRequiresGrad(true)
		r, err := tensor.CallOp("aten::native_dropout", tensor.TensorValue(x), tensor.FloatValue(p), tensor.BoolValue(false))
		if err != nil {
			t.Fatal(err)
		}
		y, mask := r[0].T, r[1].T
		y.Sum().Backward()
		if !y.Equal(x) || !mask.Equal(torch.TensorOf(true, true, true)) || !x.Grad().Equal(torch.Ones([]int{3})) {
			t.Errorf("p = %g: got %v, mask %v, gradient %v", p, y, mask, x.Grad())
		}
	}
}

// TestFeatureDropoutOrder: whichever order the samples and channels have in memory, the same ones are dropped, also
// where they are single elements.
func TestFeatureDropoutOrder(t *testing.T) {
	for _, size := range []int{1, 2} {
		x := torch.Ones([]int{6, 7, size})
		torch.ManualSeed(1)
		want := F.Dropout1d(x, F.Dropout1dOptions{P: tensor.Some(0.5)})
		torch.ManualSeed(1)
		got := F.Dropout1d(x.Transpose(0, 1).Contiguous().Transpose(0, 1), F.Dropout1dOptions{P: tensor.Some(0.5)})
		if !got.Equal(want) {
			t.Errorf("channels of %d elements: transposed memory drops others", size)
		}
	}
}

// The same seed gives the same numbers; a permutation holds each number once.
func Example() {
	torch.ManualSeed(3)
	a := slices.Clone(tensor.Data[int64](torch.Randperm(5)))
	torch.ManualSeed(3)
	b := slices.Clone(tensor.Data[int64](torch.Randperm(5)))
	fmt.Println(slices.Equal(a, b))
	slices.Sort(a)
	fmt.Println(a)
	// Output:
	// true
	// [0 1 2 3 4]
}

// What is drawn, and which weights are refused, is PyTorch's.
func TestMultinomial(t *testing.T) {
	torch.ManualSeed(5)
	for _, c := range []struct {
		weights     []float32
		rows, n     int
		replacement bool
		want        []int64
	}{
		{[]float32{0.1, 0.2, 0.3, 0.4}, 1, 4, false, []int64{3, 2, 1, 0}},
		{[]float32{0.1, 0, 0.3, 0.4}, 1, 6, true, []int64{2, 3, 3, 3, 3, 2}},
		{[]float32{0.1, 0, 0.3, 2, 3, 0}, 2, 2, false, []int64{0, 2, 1, 0}},
	} {
		w := torch.FromSlice(c.weights, c.rows, len(c.weights)/c.rows)
		got := torch.Multinomial(w, c.n, torch.MultinomialOptions{Replacement: c.replacement})
		if !slices.Equal(tensor.Data[int64](got.Reshape([]int{-1})), c.want) {
			t.Errorf("multinomial of %v: %v, want %v", c.weights, got, c.want)
		}
	}
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, w := range [][]float32{{-1, 1}, {nan, 1}, {inf, 1}, {0, 0}, {0.5, -0.5}} {
		for _, replacement := range []bool{false, true} {
			err := torch.Try(func() {
				torch.Multinomial(torch.FromSlice(w), 1, torch.MultinomialOptions{Replacement: replacement})
			})
			if !errors.Is(err, torch.ErrValue) {
				t.Errorf("multinomial of %v, replacement %v: %v", w, replacement, err)
			}
		}
	}
}
