package einops_test

import (
	"fmt"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/einops"
	"github.com/gotorch-dev/torch/tensor"
)

// Images become sequences of patches, as in a vision transformer.
func ExampleRearrange() {
	images := torch.Randn([]int{8, 3, 32, 32})
	patches := einops.Rearrange(images, "b c (h p1) (w p2) -> b (h w) (p1 p2 c)", einops.Axes{"p1": 8, "p2": 8})
	fmt.Println(patches.Shape())

	x := torch.Arange(6).View([]int{2, 3})
	fmt.Println(einops.Rearrange(x, "h w -> w h"))
	// Output:
	// [8 16 192]
	// tensor([[0, 3],
	//         [1, 4],
	//         [2, 5]])
}

// Global average pooling, and max pooling of 2×2 tiles.
func ExampleReduce() {
	images := torch.Randn([]int{8, 3, 32, 32})
	fmt.Println(einops.Reduce(images, "b c h w -> b c", "mean").Shape())
	fmt.Println(einops.Reduce(images, "b c (h 2) (w 2) -> b c h w", "max").Shape())
	// Output:
	// [8 3]
	// [8 3 16 16]
}

// A grey image gets three equal channels; every pixel becomes a tile.
func ExampleRepeat() {
	x := torch.Arange(4).View([]int{2, 2})
	fmt.Println(einops.Repeat(x, "h w -> h w c", einops.Axes{"c": 3}).Shape())
	fmt.Println(einops.Repeat(x, "h w -> (h 2) (w 2)"))
	// Output:
	// [2 2 3]
	// tensor([[0, 0, 1, 1],
	//         [0, 0, 1, 1],
	//         [2, 2, 3, 3],
	//         [2, 2, 3, 3]])
}

// Attention scores of several heads.
func ExampleEinsum() {
	q, k := torch.Randn([]int{2, 4, 10, 16}), torch.Randn([]int{2, 4, 12, 16})
	fmt.Println(einops.Einsum("batch head i dim, batch head j dim -> batch head i j", q, k).Shape())
	// Output: [2 4 10 12]
}

// Tokens of an image and a class token go through a network together and come apart again.
func ExamplePack() {
	class, image := torch.Randn([]int{2, 64}), torch.Randn([]int{2, 7, 7, 64})
	tokens, shapes := einops.Pack([]*tensor.Tensor{class, image}, "b * c")
	fmt.Println(tokens.Shape(), shapes)
	parts := einops.Unpack(tokens, shapes, "b * c")
	fmt.Println(parts[0].Shape(), parts[1].Shape())
	// Output:
	// [2 50 64] [[] [7 7]]
	// [2 64] [2 7 7 64]
}

// The lengths found in one tensor serve for another one.
func ExampleParseShape() {
	x, flat := torch.Randn([]int{2, 3, 5, 7}), torch.Randn([]int{700})
	fmt.Println(einops.ParseShape(x, "batch _ h w"))
	fmt.Println(einops.Rearrange(flat, "(batch c h w) -> batch c h w", einops.ParseShape(x, "batch _ h w")).Shape())
	// Output:
	// {'batch': 2, 'h': 5, 'w': 7}
	// [2 10 5 7]
}
