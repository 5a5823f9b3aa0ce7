package functional

import (
	"github.com/gotorch-dev/torch/internal/jpeg"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/pil"
)

// JPEG gives an image, uint8 with one or three channels, the faults of a JPEG of a quality from 1 to 100: the pixels
// that libjpeg gives after writing and reading it, in Pillow and torchvision.
func JPEG[T Input](x T, quality int) T {
	recode := func(im *pil.Image) *pil.Image {
		out, err := jpeg.Recode(&jpeg.Image{Width: im.Width, Height: im.Height, Bands: im.Bands(), Pix: im.Pix}, quality)
		if err != nil {
			tensor.Fail(tensor.ErrValue, "jpeg: %v", err)
		}
		return &pil.Image{Mode: im.Mode, Width: out.Width, Height: out.Height, Pix: out.Pix}
	}
	return apply(x, kernels{
		tensor: func(x *tensor.Tensor) *tensor.Tensor {
			if x.DType() != tensor.Uint8 || x.Dim() < 3 || x.Size(-3) != 1 && x.Size(-3) != 3 {
				tensor.Fail(tensor.ErrShape, "jpeg: want a uint8 image (…, C, H, W) of 1 or 3 channels, got %s%s", x.DType(),
					tensor.ShapeString(x.Shape()))
			}
			if x.Numel() == 0 {
				return x.Clone()
			}
			shape := x.Shape()
			out := x.Reshape(append([]int{-1}, shape[len(shape)-3:]...)).Clone()
			for _, one := range out.Unbind() {
				one.CopyInPlace(PILToTensor(recode(ToPILImage(one))))
			}
			return out.Reshape(shape)
		},
		pil: recode,
	})
}
