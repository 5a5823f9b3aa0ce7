package dataloading_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/data"
)

// squares is a dataset: anything with a length and a sample for each number.
type squares int

func (s squares) Len() int               { return int(s) }
func (s squares) Get(i int) (int, error) { return i * i, nil }

func pairs() *data.TensorDataset {
	return data.NewTensorDataset(torch.Arange(6).View([]int{3, 2}), torch.TensorOf[int64](7, 8, 9))
}

// A dataset of tensors gives the same row of each.
func Example_tensorDataset() {
	item, _ := pairs().Get(1)
	fmt.Println(item[0], item[1])
	fmt.Println(torch.Try(func() { data.NewTensorDataset(torch.Ones([]int{3}), torch.Ones([]int{2})) }) != nil)
	// Output:
	// tensor([2, 3]) tensor(8)
	// true
}

// Datasets one after the other, and a choice from one.
func Example_concatAndSubset() {
	all := data.NewConcatDataset[int](squares(3), squares(3))
	fifth, _ := all.Get(4)
	last, _ := all.Get(-1)
	fmt.Println(all.Len(), fifth, last)

	some := data.NewSubset[int](squares(3), []int{2, 0})
	first, _ := some.Get(0)
	fmt.Println(some.Len(), first)
	// Output:
	// 6 1 4
	// 2 4
}

// A random split draws as PyTorch does, by lengths or by fractions.
func Example_randomSplit() {
	parts, err := data.RandomSplit[int](squares(10), []int{3, 7}, torch.NewGenerator().ManualSeed(42))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(parts[0].Indices, parts[1].Indices)

	torch.ManualSeed(0)
	parts, _ = data.RandomSplit[int](squares(10), []int{7, 3}, nil)
	fmt.Println(parts[0].Indices, parts[1].Indices)

	parts, _ = data.RandomSplitFractions[int](squares(30), []float64{.3, .3, .4}, nil)
	fmt.Println(parts[0].Len(), parts[1].Len(), parts[2].Len())
	// Output:
	// [2 6 1] [8 4 5 0 9 3 7]
	// [4 1 7 5 3 9 0] [8 6 2]
	// 9 9 12
}

func TestRandomSplitSum(t *testing.T) {
	_, err := data.RandomSplit[int](squares(10), []int{3, 6}, nil)
	if err == nil || !strings.Contains(err.Error(),
		"Sum of input lengths does not equal the length of the input dataset!") {
		t.Error(err)
	}
}

// A loader cuts a dataset into batches; a loop that is left early is Python's next(iter(loader)).
func Example_firstBatch() {
	loader := data.NewDataLoader[[]*torch.Tensor](pairs(), data.LoaderOptions{BatchSize: 2})
	for batch, err := range loader.Iter(context.Background()) {
		if err != nil {
			fmt.Println(err)
		}
		fmt.Println(batch[0], batch[1])
		break
	}
	// Output:
	// tensor([[0, 1],
	//         [2, 3]]) tensor([7, 8])
}
