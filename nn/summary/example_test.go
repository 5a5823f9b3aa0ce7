package summary_test

import (
	"fmt"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/nn/summary"
)

func ExampleTorchInfo() {
	m := nn.NewSequential(nn.NewConv2d(1, 4, 3), nn.NewReLU(), nn.NewFlatten(), nn.NewLinear(16, 2))
	text, err := summary.TorchInfo(m, []*torch.Tensor{torch.Zeros([]int{1, 1, 4, 4})},
		summary.TorchInfoOptions{ColWidth: 14})
	fmt.Println(text, err)
	// Output:
	// ====================================================================
	// Layer (type:depth-idx)                   Output Shape   Param #
	// ====================================================================
	// Sequential                               [1, 2]         --
	// ├─Conv2d: 1-1                            [1, 4, 2, 2]   40
	// ├─ReLU: 1-2                              [1, 4, 2, 2]   --
	// ├─Flatten: 1-3                           [1, 16]        --
	// ├─Linear: 1-4                            [1, 2]         34
	// ====================================================================
	// Total params: 74
	// Trainable params: 74
	// Non-trainable params: 0
	// Total mult-adds (Units.MEGABYTES): 0.00
	// ====================================================================
	// Input size (MB): 0.00
	// Forward/backward pass size (MB): 0.00
	// Params size (MB): 0.00
	// Estimated Total Size (MB): 0.00
	// ==================================================================== <nil>
}

func ExampleTorchSummary() {
	m := nn.NewSequential(nn.NewConv2d(1, 4, 3), nn.NewReLU(), nn.NewFlatten(), nn.NewLinear(16, 2))
	text, err := summary.TorchSummary(m, [][]int{{1, 4, 4}})
	fmt.Println(text, err)
	// Output:
	// ----------------------------------------------------------------
	//         Layer (type)               Output Shape         Param #
	// ================================================================
	//             Conv2d-1              [-1, 4, 2, 2]              40
	//               ReLU-2              [-1, 4, 2, 2]               0
	//            Flatten-3                   [-1, 16]               0
	//             Linear-4                    [-1, 2]              34
	// ================================================================
	// Total params: 74
	// Trainable params: 74
	// Non-trainable params: 0
	// ----------------------------------------------------------------
	// Input size (MB): 0.00
	// Forward/backward pass size (MB): 0.00
	// Params size (MB): 0.00
	// Estimated Total Size (MB): 0.00
	// ----------------------------------------------------------------
	//  <nil>
}
