package layers

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
)

// Layers one after the other; their names are their numbers.
func Example_sequential() {
	m := nn.NewSequential(nn.NewConv2d(1, 20, 5), nn.NewReLU(), nn.NewConv2d(20, 64, 5), nn.NewReLU())
	fmt.Println(m)
	fmt.Println(m.At(2))
	fmt.Println(torch.Size(m.Forward(torch.Zeros([]int{1, 1, 28, 28})).Shape()))
	// Output:
	// Sequential(
	//   (0): Conv2d(1, 20, kernel_size=(5, 5), stride=(1, 1))
	//   (1): ReLU()
	//   (2): Conv2d(20, 64, kernel_size=(5, 5), stride=(1, 1))
	//   (3): ReLU()
	// )
	// Conv2d(20, 64, kernel_size=(5, 5), stride=(1, 1))
	// torch.Size([1, 64, 20, 20])
}

// Layers with names of their own, what an OrderedDict or add_module does in Python.
func Example_sequentialAdd() {
	m := nn.NewSequential()
	m.Add("conv1", nn.NewConv2d(1, 20, 5)).Add("relu1", nn.NewReLU())
	m.Add("conv2", nn.NewConv2d(20, 64, 5)).Add("relu2", nn.NewReLU())
	fmt.Println(m)
	fmt.Println(m.At(2) == m.Get("conv2"))
	fmt.Println(m.StateDict().Keys())
	// Output:
	// Sequential(
	//   (conv1): Conv2d(1, 20, kernel_size=(5, 5), stride=(1, 1))
	//   (relu1): ReLU()
	//   (conv2): Conv2d(20, 64, kernel_size=(5, 5), stride=(1, 1))
	//   (relu2): ReLU()
	// )
	// true
	// [conv1.weight conv1.bias conv2.weight conv2.bias]
}

// A layer is found by its name, or by a path through several modules.
func TestLayerByName(t *testing.T) {
	m := nn.NewSequential().Add("conv1", nn.NewConv2d(1, 2, 3)).Add("tail", nn.NewSequential(nn.NewReLU()))
	if sub, err := nn.GetSubmodule(m, "conv1"); err != nil || sub != nn.Module(m.Get("conv1")) {
		t.Error(sub, err)
	}
	if sub, err := nn.GetSubmodule(m, "tail.0"); err != nil || nn.ClassName(sub) != "ReLU" {
		t.Error(sub, err)
	}
	if _, err := nn.GetSubmodule(m, "conv2"); err == nil {
		t.Error("a name that is not there must be an error")
	}
}

// Indexing from either end, length, slices.
func TestSequentialMethods(t *testing.T) {
	m := nn.NewSequential(nn.NewLinear(2, 3), nn.NewReLU(), nn.NewLinear(3, 2), nn.NewReLU())
	if m.Len() != 4 || nn.ClassName(m.At(-1)) != "ReLU" {
		t.Error(m)
	}
	if head := m.Slice(0, 2); head.Len() != 2 || head.At(0) != m.At(0) {
		t.Error(head)
	}
	if m.Append(nn.NewTanh()); m.Len() != 5 {
		t.Error(m)
	}
	fails(t, "index 7 is out of range", func() { m.At(7) })
}

// Replacing and removing layers; after a removal all are named by their numbers.
func TestSequentialEdit(t *testing.T) {
	m := nn.NewSequential().Add("fc", nn.NewLinear(2, 3)).Add("act", nn.NewReLU()).Add("out", nn.NewLinear(3, 2))
	m.Set(1, nn.NewTanh())
	if nn.ClassName(m.Get("act")) != "Tanh" {
		t.Error(m)
	}
	m.Delete(1)
	if keys, want := m.StateDict().Keys(), []string{"0.weight", "0.bias", "1.weight", "1.bias"}; !slices.Equal(keys,
		want) {
		t.Errorf("keys %v, want %v", keys, want)
	}
}

// net has a list of modules: any slice of modules is one.
type net struct {
	nn.Base
	Linears []*nn.Linear
}

// A module is a struct; its fields are found by walking them. Equal neighbours in a list print together.
func Example() {
	m := nn.New(&net{Linears: []*nn.Linear{nn.NewLinear(10, 10), nn.NewLinear(10, 10)}})
	fmt.Println(m)
	for name, p := range nn.NamedParameters(m) {
		fmt.Println(name, torch.Size(p.Shape()))
	}
	// Output:
	// net(
	//   (linears): ModuleList(
	//     (0-1): 2 x Linear(in_features=10, out_features=10, bias=True)
	//   )
	// )
	// linears.0.weight torch.Size([10, 10])
	// linears.0.bias torch.Size([10])
	// linears.1.weight torch.Size([10, 10])
	// linears.1.bias torch.Size([10])
}

// A ModuleList grows at the end and in the middle; it has no Forward of its own.
func TestModuleList(t *testing.T) {
	l := nn.NewModuleList(nn.NewReLU())
	l.Append(nn.NewLinear(2, 2))
	l.Append(nn.NewLinear(2, 2), nn.NewTanh())
	l.Insert(1, nn.NewLinear(1, 1))
	if l.Len() != 5 || nn.ClassName(l.At(-1)) != "Tanh" {
		t.Error(l)
	}
	if keys, want := l.StateDict().Keys(), []string{"1.weight", "1.bias", "2.weight", "2.bias", "3.weight",
		"3.bias"}; !slices.Equal(keys, want) {
		t.Errorf("keys %v, want %v", keys, want)
	}
}

// Dictionaries of modules and lists of parameters.
func Example_moduleDict() {
	fmt.Println(nn.NewModuleDict().Set("conv", nn.NewConv2d(1, 2, 3)).Set("relu", nn.NewReLU()))
	fmt.Println(nn.NewParameterList(torch.Ones([]int{2, 3})))
	// Output:
	// ModuleDict(
	//   (conv): Conv2d(1, 2, kernel_size=(3, 3), stride=(1, 1))
	//   (relu): ReLU()
	// )
	// ParameterList(  (0): Parameter containing: [torch.float32 of size 2x3])
}

// Apply visits the children first, then the module.
func Example_apply() {
	m := nn.NewSequential(nn.NewLinear(2, 2), nn.NewSequential(nn.NewReLU()))
	nn.Apply(m, func(m nn.Module) { fmt.Println(nn.ClassName(m)) })
	// Output:
	// Linear
	// ReLU
	// Sequential
	// Sequential
}

// Half converts the floating-point parameters and buffers; whole numbers stay. The input must be converted too.
func TestHalf(t *testing.T) {
	m := nn.NewLinear(3, 2)
	m.Half()
	if m.Weight.DType() != torch.Float16 {
		t.Error(m.Weight.DType())
	}
	if y := m.Forward(torch.Ones([]int{1, 3}).Half()); y.DType() != torch.Float16 {
		t.Error(y.DType())
	}
	bn := nn.NewBatchNorm1d(2)
	bn.Half()
	if n := bn.StateDict().Get("num_batches_tracked"); n.DType() != torch.Int64 {
		t.Error(n.DType())
	}
	fails(t, "must have the same dtype, but got Float and Half", func() { m.Forward(torch.Ones([]int{1, 3})) })
}
