package mnist_test

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/gotorch-dev/torch/vision/datasets/mnist"
)

func ExampleLoad() {
	train, err := mnist.Load("testdata/nothing-here", true)
	if errors.Is(err, fs.ErrNotExist) {
		fmt.Println("put the four files of MNIST there")
		return
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(train.Len())
	// Output: put the four files of MNIST there
}
