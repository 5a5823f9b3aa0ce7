package onnx

import (
	"bytes"
	"image"
	"image/color"

	"github.com/gotorch-dev/torch/internal/onnxpb"
	"github.com/gotorch-dev/torch/tensor"
)

// maxPixels bounds the pixels of an image, which a small file may claim more of.
const maxPixels = 1 << 26

func init() {
	define("", map[string]rule{"ImageDecoder": imageDecoder})

	helper("decode_image(Tensor x, str format) -> Tensor", func(a args) any {
		x := a.T(0)
		if x.Dim() != 1 || x.DType() != tensor.Uint8 {
			wrong("ImageDecoder", "%s of shape %v, want one dimension of uint8", x.DType(), x.Shape())
		}
		return decodeImage(tensor.Data[uint8](x.CPU().Contiguous()), a.str(1))
	})
}

// imageDecoder decodes images of the formats that the program has linked in, as package image does: import _
// "image/png" and its like.
func imageDecoder(n *node) []*value {
	format := n.str("pixel_format", "RGB")
	if format != "RGB" && format != "BGR" && format != "Grayscale" {
		fail("%w: pixel_format %q", onnxpb.ErrFormat, format)
	}
	v := n.tensor(n.call("onnx::decode_image", n.T(0), format), onnxpb.Uint8)
	v.rank = 3
	return one(v)
}

// decodeImage gives the pixels of an image: height, width, channels.
func decodeImage(b []byte, format string) *T {
	c, _, err := image.DecodeConfig(bytes.NewReader(b))
	if err == nil && (c.Width < 1 || c.Height < 1 || c.Width > maxPixels/c.Height) {
		wrong("ImageDecoder", "an image of %d by %d pixels", c.Width, c.Height)
	}
	var img image.Image
	if err == nil {
		img, _, err = image.Decode(bytes.NewReader(b))
	}
	if err != nil {
		tensor.Fail(tensor.ErrValue, "ImageDecoder: %v", err)
	}
	r := img.Bounds()
	channels := 3
	if format == "Grayscale" {
		channels = 1
	}
	out := make([]uint8, 0, r.Dx()*r.Dy()*channels)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			switch p := img.At(x, y); format {
			case "Grayscale":
				out = append(out, color.GrayModel.Convert(p).(color.Gray).Y)
			default:
				q := color.NRGBAModel.Convert(p).(color.NRGBA)
				if format == "BGR" {
					q.R, q.B = q.B, q.R
				}
				out = append(out, q.R, q.G, q.B)
			}
		}
	}
	return tensor.FromSlice(out, r.Dy(), r.Dx(), channels)
}
