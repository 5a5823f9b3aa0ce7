package pil_test

import (
	"fmt"

	"github.com/gotorch-dev/torch/vision/pil"
)

func ExampleImage_Resize() {
	im := pil.New("L", 4, 1)
	copy(im.Pix, []uint8{0, 100, 200, 255})
	fmt.Println(im.Resize(2, 1, pil.Bilinear).Pix, im.Resize(2, 1, pil.Nearest).Pix, im.Rotate90(1).Pix)
	// Output: [71 209] [100 255] [255 200 100 0]
}
