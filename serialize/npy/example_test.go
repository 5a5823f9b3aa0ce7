package npy_test

import (
	"bytes"
	"fmt"

	"github.com/gotorch-dev/torch/serialize/npy"
)

func ExampleWrite() {
	var file bytes.Buffer
	a := &npy.Array{DType: "uint8", Shape: []int{2, 2}, Data: []byte{1, 2, 3, 4}}
	if err := npy.Write(&file, a); err != nil {
		fmt.Println(err)
		return
	}
	b, err := npy.Read(&file)
	fmt.Println(b.DType, b.Shape, b.Data, err)
	// Output: uint8 [2 2] [1 2 3 4] <nil>
}

func ExampleNPZWriter() {
	var file bytes.Buffer
	w := npy.NewNPZWriter(&file, true)
	w.Write("x", &npy.Array{DType: "bool", Shape: []int{2}, Data: []byte{1, 0}})
	if err := w.Close(); err != nil {
		fmt.Println(err)
		return
	}
	z, err := npy.NewNPZ(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		fmt.Println(err)
		return
	}
	x, err := z.Read("x")
	fmt.Println(z.Names(), x.Shape, x.Data, err)
	// Output: [x] [2] [1 0] <nil>
}
