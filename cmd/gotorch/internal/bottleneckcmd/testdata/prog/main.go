// Program prog trains a small network for the test of "gotorch bottleneck".
package main

import (
	"fmt"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/optim"
)

func main() {
	net := nn.NewSequential(nn.NewLinear(256, 256), nn.NewTanh(), nn.NewLinear(256, 1))
	opt := optim.NewSGD(nn.Parameters(net), 0.01)
	for range 30 {
		torch.Tidy(func() {
			opt.ZeroGrad()
			net.Forward(torch.Ones([]int{128, 256})).Sum().Backward()
			opt.Step()
		})
	}
	fmt.Println("trained")
}
