package nn_test

import (
	"fmt"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
)

// Net is a module of one's own: a struct that embeds nn.Base. Its fields are its children.
type Net struct {
	nn.Base
	FC1, FC2 *nn.Linear
	Act      *nn.ReLU
}

// Forward computes the output.
func (n *Net) Forward(x *nn.Tensor) *nn.Tensor {
	return n.FC2.Forward(n.Act.Forward(n.FC1.Forward(x)))
}

func newNet() *Net {
	return nn.New(&Net{FC1: nn.NewLinear(4, 8), FC2: nn.NewLinear(8, 2, nn.LinearOptions{NoBias: true}),
		Act: nn.NewReLU()})
}

func Example() {
	net := newNet()
	fmt.Println(net)
	for name, p := range nn.NamedParameters(net) {
		fmt.Println(name, p.Shape())
	}
	fmt.Println(nn.NumParameters(net), "parameters")
	// Output:
	// Net(
	//   (fc1): Linear(in_features=4, out_features=8, bias=True)
	//   (fc2): Linear(in_features=8, out_features=2, bias=False)
	//   (act): ReLU()
	// )
	// fc1.weight [8 4]
	// fc1.bias [8]
	// fc2.weight [2 8]
	// 56 parameters
}

func ExampleSequential() {
	net := nn.NewSequential(
		nn.NewConv2d(1, 6, 5, nn.Conv2dOptions{Padding: nn.Size{2}}),
		nn.NewReLU(),
		nn.NewMaxPool2d(2),
		nn.NewFlatten(),
	).Add("head", nn.NewLinear(6*14*14, 10))
	y := net.Forward(torch.FromSlice(make([]float32, 2*28*28), 2, 1, 28, 28))
	fmt.Println(net)
	fmt.Println(y.Shape())
	// Output:
	// Sequential(
	//   (0): Conv2d(1, 6, kernel_size=(5, 5), stride=(1, 1), padding=(2, 2))
	//   (1): ReLU()
	//   (2): MaxPool2d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)
	//   (3): Flatten(start_dim=1, end_dim=-1)
	//   (head): Linear(in_features=1176, out_features=10, bias=True)
	// )
	// [2 10]
}

func ExampleBase_RegisterForwardHook() {
	net := newNet()
	h := net.FC1.RegisterForwardHook(func(m nn.Module, in []*nn.Tensor, out *nn.Tensor) *nn.Tensor {
		fmt.Println("fc1:", in[0].Shape(), "gives", out.Shape())
		return nil
	})
	x := torch.FromSlice([]float32{1, 2, 3, 4}, 1, 4)
	net.Forward(x)
	h.Remove()
	net.Forward(x)
	// Output:
	// fc1: [1 4] gives [1 8]
}

func ExampleLoadStateDict() {
	a, b := newNet(), newNet()
	if err := nn.LoadStateDict(b, nn.StateDict(a)); err != nil {
		fmt.Println(err)
	}
	x := torch.FromSlice([]float32{1, 2, 3, 4}, 1, 4)
	fmt.Println(torch.Data[float32](a.Forward(x))[0] == torch.Data[float32](b.Forward(x))[0])

	sd := nn.StateDict(a)
	sd.Delete("fc1.bias")
	fmt.Println(nn.LoadStateDict(b, sd))
	// Output:
	// true
	// Error(s) in loading state_dict for Net:
	// 	Missing key(s) in state_dict: "fc1.bias".
}

func ExampleLSTM() {
	torch.ManualSeed(0)
	lstm := nn.NewLSTM(3, 5, nn.RNNOptions{NumLayers: torch.Some(2), BatchFirst: true, Bidirectional: true})
	out, h, c := lstm.Forward(torch.FromSlice(make([]float32, 2*4*3), 2, 4, 3))
	fmt.Println(lstm)
	fmt.Println(out.Shape(), h.Shape(), c.Shape())
	// Output:
	// LSTM(3, 5, num_layers=2, batch_first=True, bidirectional=True)
	// [2 4 10] [4 2 5] [4 2 5]
}

func ExampleCrossEntropyLoss() {
	loss := nn.NewCrossEntropyLoss(nn.CrossEntropyLossOptions{LabelSmoothing: 0.1})
	scores := torch.FromSlice([]float32{2, 0, 0, 0, 3, 0}, 2, 3).SetRequiresGrad(true)
	l := loss.Forward(scores, torch.FromSlice([]int64{0, 1}, 2))
	l.Backward()
	fmt.Printf("%.4f %v\n", torch.Data[float32](l)[0], scores.Grad().Shape())
	// Output:
	// 0.3339 [2 3]
}
