package datasets_test

import (
	"context"
	"fmt"

	"github.com/gotorch-dev/torch/data"
	"github.com/gotorch-dev/torch/vision/datasets"
	"github.com/gotorch-dev/torch/vision/transforms"
)

func ExampleTensors() {
	set := datasets.NewFakeData(datasets.FakeDataOptions{Size: 8, ImageSize: [3]int{3, 40, 50}})
	prepare := transforms.NewCompose(transforms.NewCenterCrop([]int{32, 32}), transforms.NewToTensor())
	loader := data.NewDataLoader(datasets.Tensors(set, prepare), data.LoaderOptions{BatchSize: 4})
	for batch, err := range loader.Iter(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(batch[0].Shape(), batch[1].Shape())
	}
	// Output:
	// [4 3 32 32] [4]
	// [4 3 32 32] [4]
}
