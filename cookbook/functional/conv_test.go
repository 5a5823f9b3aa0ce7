package functional

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/tensor"
)

func image(n, h, w int) *torch.Tensor { return torch.Arange(n * h * w).View([]int{1, n, h, w}).Float() }

// A convolution layer: the kernel slides without being turned over.
func Example_conv2d() {
	kernel := torch.FromSlice([]float32{1, 2, 3, 4}, 1, 1, 2, 2)
	fmt.Println(F.Conv2d(image(1, 4, 4), kernel, F.Conv2dOptions{Bias: torch.TensorOf[float32](0.5)}))
	// Output:
	// tensor([[[[ 34.5000,  44.5000,  54.5000],
	//           [ 74.5000,  84.5000,  94.5000],
	//           [114.5000, 124.5000, 134.5000]]]])
}

// The layer draws its weight and bias as PyTorch does.
func TestConv2dParameters(t *testing.T) {
	torch.ManualSeed(0)
	conv := nn.NewConv2d(1, 2, 3)
	near(t, conv.Weight.View([]int{-1}).Index(torch.Slice(0, 4)), -0.0025, 0.1788, -0.2743, -0.2453)
	near(t, conv.Bias, -0.2260, -0.1452)
}

// Impossible channels are refused when the layer is made, or when it runs.
func TestConv2dErrors(t *testing.T) {
	fails(t, "in_channels must be divisible by groups",
		func() { nn.NewConv2d(3, 4, 3, nn.Conv2dOptions{Groups: torch.Some(2)}) })
	fails(t, "Given groups=1, weight of size [3, 3, 3, 3], expected input[1, 2, 5, 5] to have 3 channels, but got 2 "+
		"channels instead", func() {
		nn.NewConv2d(3, 3, 3).Forward(image(2, 5, 5))
	})
	fails(t, "Calculated padded input size per channel: (5 x 5). Kernel size: (7 x 7). Kernel size can't be greater "+
		"than actual input size", func() {
		nn.NewConv2d(1, 1, 7).Forward(image(1, 5, 5))
	})
}

// The output has ⌊(H + 2·padding - dilation·(kernel-1) - 1)/stride⌋ + 1 rows.
func TestConv2dSize(t *testing.T) {
	for _, c := range []struct{ h, k, s, p, d, want int }{{7, 3, 2, 1, 1, 4}, {8, 3, 2, 0, 2, 2}, {32, 5, 1, 2, 1, 32},
		{10, 4, 3, 1, 1, 3}} {
		conv := nn.NewConv2d(1, 1, c.k, nn.Conv2dOptions{Stride: nn.Size{c.s}, Padding: nn.Size{c.p},
			Dilation: nn.Size{c.d}})
		shaped(t, conv.Forward(image(1, c.h, c.h)), 1, 1, c.want, c.want)
	}
}

// Two groups are two convolutions of half the channels, side by side.
func TestConv2dGroups(t *testing.T) {
	torch.ManualSeed(0)
	x, w := torch.Randn([]int{1, 4, 5, 5}), torch.Randn([]int{6, 2, 3, 3})
	halves, weights := torch.Chunk(x, 2, tensor.ChunkOptions{Dim: 1}), torch.Chunk(w, 2)
	apart := torch.Cat([]*torch.Tensor{F.Conv2d(halves[0], weights[0]), F.Conv2d(halves[1], weights[1])},
		torch.CatOptions{Dim: 1})
	together := F.Conv2d(x, w, F.Conv2dOptions{Groups: torch.Some(2)})
	if diff := together.Sub(apart).Abs().Max().Item(); diff > 1e-5 {
		t.Error(diff)
	}
}

// The weight holds in/groups channels for each output; with as many groups as inputs each channel has filters of its
// own.
func TestConv2dWeightShape(t *testing.T) {
	shaped(t, nn.NewConv2d(6, 6, 1, nn.Conv2dOptions{Groups: torch.Some(3)}).Weight, 6, 2, 1, 1)
	shaped(t, nn.NewConv2d(4, 8, 3, nn.Conv2dOptions{Groups: torch.Some(4)}).Weight, 8, 1, 3, 3)
}

// A transposed convolution has its channels the other way round; padding takes rows and columns away from the output.
func TestConvTranspose2d(t *testing.T) {
	shaped(t, nn.NewConvTranspose2d(2, 4, 3, nn.ConvTranspose2dOptions{Groups: torch.Some(2)}).Weight, 2, 2, 3, 3)
	for padding, want := range []int{7, 5} {
		m := nn.NewConvTranspose2d(1, 1, 3, nn.ConvTranspose2dOptions{Padding: nn.Size{padding}})
		shaped(t, m.Forward(image(1, 5, 5)), 1, 1, want, want)
	}
	x := torch.FromSlice([]float32{1, 2, 3, 4}, 1, 1, 2, 2)
	near(t, F.ConvTranspose2d(x, torch.Ones([]int{1, 1, 3, 3}), F.ConvTranspose2dOptions{Padding: []int{1}}), 10, 10,
		10, 10)
}

// Output padding adds rows and columns on one side, as many as the stride leaves open.
func TestOutputPadding(t *testing.T) {
	layer := func(o nn.ConvTranspose2dOptions) *nn.ConvTranspose2d {
		o.Stride, o.Padding = nn.Size{2}, nn.Size{1}
		return nn.NewConvTranspose2d(1, 1, 3, o)
	}
	x := image(1, 5, 5)
	shaped(t, layer(nn.ConvTranspose2dOptions{}).Forward(x), 1, 1, 9, 9)
	shaped(t, layer(nn.ConvTranspose2dOptions{OutputPadding: nn.Size{1}}).Forward(x), 1, 1, 10, 10)
	shaped(t, layer(nn.ConvTranspose2dOptions{OutputPadding: nn.Size{1}, Dilation: nn.Size{2}}).Forward(x), 1, 1, 12,
		12)
	// the layer finds the output padding
	shaped(t, layer(nn.ConvTranspose2dOptions{}).ForwardSize(x, 10, 10), 1, 1, 10, 10)
	fails(t, "output padding must be smaller than either stride or dilation", func() {
		layer(nn.ConvTranspose2dOptions{OutputPadding: nn.Size{2}}).Forward(x)
	})
	y := F.ConvTranspose2d(torch.FromSlice([]float32{1, 2, 3, 4}, 1, 1, 2, 2), torch.Ones([]int{1, 1, 2, 2}),
		F.ConvTranspose2dOptions{Stride: []int{2}, OutputPadding: []int{1}})
	near(t, y.Index(0, 0, -1), 0, 0, 0, 0, 0)
	near(t, y.Index(0, 0, torch.Slice(), -1), 0, 0, 0, 0, 0)
}

// Adaptive pooling is told the size of its output.
func TestAdaptiveAvgPool(t *testing.T) {
	shaped(t, nn.NewAdaptiveAvgPool2d(1).Forward(torch.Ones([]int{2, 32, 16, 16})), 2, 32, 1, 1)
	near(t, nn.NewAdaptiveAvgPool2d(nn.Size{3, 2}).Forward(image(1, 5, 7)), 5, 8, 15.5, 18.5, 26, 29)
	shaped(t, nn.NewAdaptiveAvgPool2d(nn.Size{nn.SameSize, 2}).Forward(image(1, 5, 7)), 1, 1, 5, 2)
}

// One number stands for all spatial dimensions.
func TestSize(t *testing.T) {
	for _, s := range []nn.Size{{3}, {3, 3}} {
		if k := nn.NewConv2d(1, 1, s).KernelSize; !slices.Equal(k, nn.Size{3, 3}) {
			t.Error(k)
		}
	}
	if k := nn.NewConv3d(1, 1, 2).KernelSize; !slices.Equal(k, nn.Size{2, 2, 2}) {
		t.Error(k)
	}
}
