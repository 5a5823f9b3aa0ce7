package onnx

import (
	"bytes"
	"errors"
	"image"
	"image/color"

	"github.com/gotorch-dev/torch/internal/jpeg"
	"github.com/gotorch-dev/torch/internal/onnxpb"
	"github.com/gotorch-dev/torch/internal/webp"
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
	c, kind, err := image.DecodeConfig(bytes.NewReader(b))
	if err == nil && (c.Width < 1 || c.Height < 1 || c.Width > maxPixels/c.Height) {
		wrong("ImageDecoder", "an image of %d by %d pixels", c.Width, c.Height)
	}
	var img image.Image
	if err == nil {
		img, err = decoded(b, kind)
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
			q := color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA)
			switch format {
			case "Grayscale": // the weights of ITU-R 601-2 as Pillow has them
				out = append(out, uint8((19595*uint32(q.R)+38470*uint32(q.G)+7471*uint32(q.B)+1<<15)>>16))
			case "BGR":
				out = append(out, q.B, q.G, q.R)
			default:
				out = append(out, q.R, q.G, q.B)
			}
		}
	}
	return tensor.FromSlice(out, r.Dy(), r.Dx(), channels)
}

// decoded decodes an image of a kind. The pixels of a JPEG of a usual kind are those of libjpeg, and those of a WebP
// libwebp's.
func decoded(b []byte, kind string) (image.Image, error) {
	if kind == "jpeg" {
		im, err := jpeg.Decode(b)
		if err == nil {
			at := image.Rect(0, 0, im.Width, im.Height)
			if im.Bands == 1 {
				return &image.Gray{Pix: im.Pix, Stride: im.Width, Rect: at}, nil
			}
			out := image.NewNRGBA(at)
			for i := range im.Width * im.Height {
				copy(out.Pix[4*i:], im.Pix[3*i:3*i+3])
				out.Pix[4*i+3] = 255
			}
			return out, nil
		}
		if !errors.Is(err, jpeg.ErrUnsupported) {
			return nil, err
		}
	}
	img, _, err := image.Decode(bytes.NewReader(b))
	if err == nil && kind == "webp" {
		img = webp.RGB(img)
	}
	return img, err
}
