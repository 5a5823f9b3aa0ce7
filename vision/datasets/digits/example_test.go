package digits_test

import (
	"fmt"

	"github.com/gotorch-dev/torch/vision/datasets/digits"
)

func ExampleLoad() {
	test := digits.Load(digits.Test)
	fmt.Println(test.Len(), "images of", test.Image(0).Bounds().Size())
	fmt.Println("labels", test.Labels[:10])
	fmt.Println("per class", test.Counts())
	// Output:
	// 2000 images of (28,28)
	// labels [5 4 0 6 8 1 0 9 7 7]
	// per class [200 200 200 200 200 200 200 200 200 200]
}
