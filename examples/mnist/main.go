// Command mnist trains a small convolutional network on MNIST, or on the embedded digits when no folder is given: the
// whole of a training program on one page.
//
//	go run ./examples/mnist [-root DIR] [-epochs 3]
package main

import (
	"context"
	"flag"
	"fmt"
	"log"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/data"
	"github.com/gotorch-dev/torch/nn"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/optim"
	"github.com/gotorch-dev/torch/vision/datasets/digits"
	"github.com/gotorch-dev/torch/vision/datasets/imageset"
	"github.com/gotorch-dev/torch/vision/datasets/mnist"
)

// Net has two convolutions and two linear layers. Its fields are its layers; nothing is registered.
type Net struct {
	nn.Base
	Conv1, Conv2 *nn.Conv2d
	FC1, FC2     *nn.Linear
}

// NewNet makes a Net; nn.New gives it the methods of a module.
func NewNet() *Net {
	return nn.New(&Net{
		Conv1: nn.NewConv2d(1, 16, 5), Conv2: nn.NewConv2d(16, 32, 5),
		FC1: nn.NewLinear(32*4*4, 128), FC2: nn.NewLinear(128, 10),
	})
}

// Forward maps images (N, 1, 28, 28) to logits (N, 10).
func (m *Net) Forward(x *torch.Tensor) *torch.Tensor {
	x = F.MaxPool2d(m.Conv1.Forward(x).ReLU(), []int{2})
	x = F.MaxPool2d(m.Conv2.Forward(x).ReLU(), []int{2})
	return m.FC2.Forward(m.FC1.Forward(x.Flatten(torch.FlattenOptions{StartDim: 1})).ReLU())
}

// tensors turns grey pictures into float32 around zero.
func tensors(s *imageset.Set) (x, y *torch.Tensor) {
	labels := make([]int64, s.Len())
	for i, l := range s.Labels {
		labels[i] = int64(l)
	}
	x = torch.FromSlice(s.Images, s.Len(), 1, 28, 28).Float().DivScalar(255).SubScalar(0.2).DivScalar(0.3)
	return x, torch.FromSlice(labels)
}

func main() {
	root := flag.String("root", "", "folder of the MNIST files (default: the embedded digits)")
	epochs := flag.Int("epochs", 3, "passes over the data")
	flag.Parse()

	train, test := digits.Load(digits.Train), digits.Load(digits.Test)
	if *root != "" {
		var err error
		if train, err = mnist.Load(*root, true); err != nil {
			log.Fatal(err)
		}
		if test, err = mnist.Load(*root, false); err != nil {
			log.Fatal(err)
		}
	}

	torch.ManualSeed(0)
	net := NewNet()
	fmt.Println(net)
	opt := optim.NewAdam(net.Parameters(), 1e-3)
	x, y := tensors(train)
	loader := data.NewDataLoader(data.NewTensorDataset(x, y), data.LoaderOptions{BatchSize: 64, Shuffle: true})
	for epoch := range *epochs {
		net.Train()
		var last float64
		for b, err := range loader.Iter(context.Background()) {
			if err != nil {
				log.Fatal(err)
			}
			opt.ZeroGrad()
			loss := F.CrossEntropy(net.Forward(b[0]), b[1])
			loss.Backward()
			opt.Step()
			last = loss.Num().F
		}
		net.Eval()
		fmt.Printf("epoch %d: loss %.4f, test accuracy %.2f %%\n", epoch+1, last, 100*accuracy(net, test))
	}
	if err := torch.Save("mnist_cnn.pt", net.StateDict()); err != nil {
		log.Fatal(err)
	}
}

func accuracy(net *Net, s *imageset.Set) float64 {
	right := 0
	torch.NoGrad(func() {
		x, y := tensors(s)
		for i := 0; i < s.Len(); i += 500 {
			n := min(500, s.Len()-i)
			guess := torch.ArgMax(net.Forward(x.Narrow(0, i, n)), torch.ArgMaxOptions{Dim: torch.Some(1)})
			right += int(guess.Eq(y.Narrow(0, i, n)).Sum().Num().I)
		}
	})
	return float64(right) / float64(s.Len())
}
