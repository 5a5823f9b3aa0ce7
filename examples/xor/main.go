// Command xor learns when the product of two numbers is positive: the program of the README.
package main

import (
	"context"
	"fmt"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/data"
	"github.com/gotorch-dev/torch/nn"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/optim"
)

func main() {
	torch.ManualSeed(0) // the numbers of Python's torch.manual_seed(0)
	x := torch.Randn([]int{1024, 2})
	y := x.Select(1, 0).Mul(x.Select(1, 1)).GtScalar(0).Long()

	model := nn.NewSequential(nn.NewLinear(2, 32), nn.NewReLU(), nn.NewLinear(32, 2))
	opt := optim.NewAdam(model.Parameters(), 1e-2)
	loader := data.NewDataLoader(data.NewTensorDataset(x, y), data.LoaderOptions{BatchSize: 64, Shuffle: true})
	for range 20 {
		for b, err := range loader.Iter(context.Background()) {
			if err != nil {
				panic(err)
			}
			opt.ZeroGrad()
			loss := F.CrossEntropy(model.Forward(b[0]), b[1])
			loss.Backward()
			opt.Step()
		}
	}
	right := torch.ArgMax(model.Forward(x), torch.ArgMaxOptions{Dim: torch.Some(1)}).Eq(y).Sum()
	fmt.Println(model, "\nright:", right.Item(), "of", x.Size(0))
	if err := torch.Save("xor.pt", model.StateDict()); err != nil { // Python: torch.load("xor.pt")
		panic(err)
	}
}
