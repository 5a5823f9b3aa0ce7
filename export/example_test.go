package export_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	torch "github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/export"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// A module is exported with a batch that may be from 1 to 64, written, and read again. A batch of another size is
// refused.
func Example() {
	net := nn.NewSequential(nn.NewLinear(3, 2), nn.NewReLU())
	torch.NoGrad(func() {
		for _, p := range nn.Parameters(net) {
			p.FillScalarInPlace(0.5)
		}
	})
	p, err := export.Export(net, []any{torch.Zeros([]int{2, 3})}, export.Options{
		Dynamic: map[string]map[int]string{"x": {0: "batch"}},
		Ranges:  map[string]export.Range{"batch": {Min: 1, Max: 64}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	var file bytes.Buffer // Save writes to a path
	if err := p.SaveTo(&file); err != nil {
		fmt.Println(err)
		return
	}
	q, err := export.Load(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(q.Inputs(), q.Outputs(), q.Guards())
	out, err := q.Run(context.Background(), map[string]*tensor.Tensor{"x": torch.Ones([]int{4, 3})})
	fmt.Println(out["output"].Shape(), out["output"].Select(0, 0), err)
	_, err = q.Forward(torch.Ones([]int{65, 3}))
	fmt.Println(errors.Is(err, export.ErrGuard), err)
	// Output:
	// [x: float32[s0, 3]] [output: float32[s0, 2]] [x.size()[0] <= 64 x.size()[1] == 3]
	// [4 2] tensor([2., 2.]) <nil>
	// true Guard failed: x.size()[0] <= 64
}

// A loaded program is trained further: its parameters are leaves, and a call under gradients records.
func ExampleProgram_Parameters() {
	p, err := export.Export(nn.NewLinear(1, 1), []any{torch.Zeros([]int{1, 1})})
	if err != nil {
		fmt.Println(err)
		return
	}
	y, err := p.Forward(torch.Full([]int{1, 1}, 3.0))
	if err != nil {
		fmt.Println(err)
		return
	}
	y.Sum().Backward()
	for _, w := range p.Parameters() {
		fmt.Println(w.Name, w.Tensor.Grad())
	}
	// Output:
	// bias tensor([1.])
	// weight tensor([[3.]])
}
