package torchzip_test

import (
	"bytes"
	"fmt"

	"github.com/gotorch-dev/torch/internal/pickle"
	"github.com/gotorch-dev/torch/internal/torchzip"
)

// A state dict with one tensor, saved and loaded again.
func ExampleSave() {
	weight := &torchzip.TensorRef{
		Storage: &torchzip.StorageRef{DType: "ByteStorage", NumElements: 6, Data: []byte{1, 2, 3, 4, 5, 6}},
		Shape:   []int{2, 3},
		Stride:  []int{3, 1},
	}
	dict := pickle.NewDict(pickle.OrderedDict)
	dict.Set("weight", weight)

	var file bytes.Buffer
	if err := torchzip.Save(&file, dict, torchzip.SaveOptions{}); err != nil {
		fmt.Println(err)
		return
	}
	v, err := torchzip.Load(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		fmt.Println(err)
		return
	}
	got, _ := v.(*pickle.Dict).Get("weight")
	t := got.(*torchzip.TensorRef)
	data, err := t.Storage.Bytes()
	fmt.Println(t.DType, t.Shape, data, err)
	// Output: uint8 [2 3] [1 2 3 4 5 6] <nil>
}
