package functorch_test

import (
	"fmt"

	"github.com/gotorch-dev/torch"
	functorch "github.com/gotorch-dev/torch/func"
	"github.com/gotorch-dev/torch/nn"
	F "github.com/gotorch-dev/torch/nn/functional"
)

// The dot product of one pair of vectors, mapped over a batch of pairs.
func ExampleVmap() {
	dot := functorch.Two(func(x, y *torch.Tensor) *torch.Tensor { return x.Dot(y) })
	x := torch.FromSlice([]float32{1, 2, 3, 4}, 2, 2)
	y := torch.FromSlice([]float32{1, 0, 1, 1}, 2, 2)
	fmt.Println(functorch.Vmap(dot)([]*torch.Tensor{x, y})[0])
	// Output: tensor([1., 7.])
}

// The gradient of a weight for each example of a batch, where Backward would give the sum.
func ExampleGrad() {
	net := nn.NewLinear(2, 1, nn.LinearOptions{NoBias: true})
	loss := func(a []*torch.Tensor) []*torch.Tensor {
		y := functorch.FunctionalCall(net, a[1], map[string]*torch.Tensor{"weight": a[0]})
		return []*torch.Tensor{F.MSELoss(y, a[2])}
	}
	w := torch.FromSlice([]float32{1, -1}, 1, 2)
	x := torch.FromSlice([]float32{1, 2, 3, 1}, 2, 2)
	t := torch.Zeros([]int{2, 1})
	each := functorch.Vmap(functorch.Grad(loss), functorch.VmapOptions{InDims: []int{functorch.None, 0, 0}})
	fmt.Println(each([]*torch.Tensor{w, x, t})[0])
	// Output:
	// tensor([[[-2., -4.]],
	//
	//         [[12.,  4.]]])
}

func ExampleHessian() {
	f := functorch.One(func(x *torch.Tensor) *torch.Tensor { return x.Mul(x).Mul(x).Sum() })
	fmt.Println(functorch.Hessian(f)([]*torch.Tensor{torch.TensorOf[float32](1, 2)})[0])
	// Output:
	// tensor([[ 6.,  0.],
	//         [ 0., 12.]])
}

func ExampleJVP() {
	f := functorch.One(func(x *torch.Tensor) *torch.Tensor { return x.Mul(x) })
	x, v := torch.TensorOf[float32](1, 2, 3), torch.TensorOf[float32](1, 0, -1)
	y, dy := functorch.JVP(f, []*torch.Tensor{x}, []*torch.Tensor{v})
	fmt.Println(y[0], dy[0])
	// Output: tensor([1., 4., 9.]) tensor([ 2.,  0., -6.])
}
