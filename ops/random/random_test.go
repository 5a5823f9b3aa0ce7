package random_test

import (
	"fmt"
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
