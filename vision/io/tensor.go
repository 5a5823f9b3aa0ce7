package visionio

import (
	"bytes"
	"fmt"
	"image"
	"image/gif"
	"image/png"
	"io"
	"os"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/atomicfile"
	"github.com/gotorch-dev/torch/internal/jpeg"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/pil"
	F "github.com/gotorch-dev/torch/vision/transforms/functional"
)

// bytesOf are the bytes in a tensor.
func bytesOf(op string, data *tensor.Tensor) ([]byte, error) {
	if data.DType() != tensor.Uint8 || data.Dim() != 1 {
		return nil, fmt.Errorf("visionio: %s wants the bytes of a file as a 1-dimensional uint8 tensor, got %s%s", op,
			data.DType(), tensor.ShapeString(data.Shape()))
	}
	return tensor.Data[uint8](tensor.Dense(data.CPU())), nil
}

// ReadFile reads a file to a uint8 tensor of its bytes.
func ReadFile(path string) (*tensor.Tensor, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return tensor.FromSlice(b), nil
}

// WriteFile writes the bytes in a uint8 tensor (N) to a file.
func WriteFile(path string, data *tensor.Tensor) error {
	b, err := bytesOf("WriteFile", data)
	if err != nil {
		return err
	}
	return writeBytes(path, b)
}

func writeBytes(path string, b []byte) error {
	return atomicfile.Write(path, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
}

// DecodeImage decodes the bytes of an image file, a uint8 tensor, to a uint8 tensor (C, H, W).
func DecodeImage(data *tensor.Tensor, opts ...DecodeOptions) (*tensor.Tensor, error) {
	return decodeAs("DecodeImage", "", data, opts)
}

// DecodeJPEG is DecodeImage that refuses files of other formats.
func DecodeJPEG(data *tensor.Tensor, opts ...DecodeOptions) (*tensor.Tensor, error) {
	return decodeAs("DecodeJPEG", "jpeg", data, opts)
}

// DecodePNG is DecodeImage that refuses files of other formats.
func DecodePNG(data *tensor.Tensor, opts ...DecodeOptions) (*tensor.Tensor, error) {
	return decodeAs("DecodePNG", "png", data, opts)
}

// DecodeWebP is DecodeImage that refuses files of other formats.
func DecodeWebP(data *tensor.Tensor, opts ...DecodeOptions) (*tensor.Tensor, error) {
	return decodeAs("DecodeWebP", "webp", data, opts)
}

func decodeAs(op, format string, data *tensor.Tensor, opts []DecodeOptions) (*tensor.Tensor, error) {
	b, err := bytesOf(op, data)
	if err != nil {
		return nil, err
	}
	if format != "" {
		if _, got, err := image.DecodeConfig(bytes.NewReader(b)); err == nil && got != format {
			return nil, fmt.Errorf("visionio: %s: the file is a %s", op, got)
		}
	}
	im, err := Decode(b, opts...)
	if err != nil {
		return nil, err
	}
	return F.PILToTensor(im).Contiguous(), nil
}

// maxFrames is the largest number of pixels of all pictures of a GIF together.
const maxFrames = 1 << 28

// DecodeGIF decodes a GIF, a uint8 tensor of the bytes of the file, to a uint8 tensor (3, H, W), or (N, 3, H, W) where it
// has several pictures. Each picture is drawn over the ones before it.
func DecodeGIF(data *tensor.Tensor) (*tensor.Tensor, error) {
	b, err := bytesOf("DecodeGIF", data)
	if err != nil {
		return nil, err
	}
	c, err := gif.DecodeConfig(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("visionio: %w", err)
	}
	if c.Width <= 0 || c.Height <= 0 || c.Width*c.Height > max(1<<22, 8300*len(b)) {
		return nil, fmt.Errorf("visionio: %d bytes claim to be a GIF of %d x %d pixels", len(b), c.Width, c.Height)
	}
	g, err := gif.DecodeAll(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("visionio: %w", err)
	}
	if len(g.Image)*c.Width*c.Height > maxFrames {
		return nil, fmt.Errorf("visionio: a GIF of %d pictures of %d x %d pixels is too large", len(g.Image), c.Width,
			c.Height)
	}
	all := make([]*tensor.Tensor, 0, len(g.Image))
	canvas, before := pil.New("RGB", c.Width, c.Height), (*pil.Image)(nil)
	for i, frame := range g.Image {
		if g.Disposal[i] == gif.DisposalPrevious {
			before = canvas.Clone()
		}
		r := frame.Bounds().Intersect(image.Rect(0, 0, c.Width, c.Height))
		for y := r.Min.Y; y < r.Max.Y; y++ {
			for x := r.Min.X; x < r.Max.X; x++ {
				if R, G, B, A := frame.At(x, y).RGBA(); A != 0 {
					copy(canvas.Pix[3*(y*c.Width+x):], []uint8{uint8(R >> 8), uint8(G >> 8), uint8(B >> 8)})
				}
			}
		}
		all = append(all, F.PILToTensor(canvas.Clone()).Contiguous())
		switch g.Disposal[i] {
		case gif.DisposalPrevious:
			canvas = before
		case gif.DisposalBackground:
			for y := r.Min.Y; y < r.Max.Y; y++ {
				clear(canvas.Pix[3*(y*c.Width+r.Min.X):][:3*r.Dx()])
			}
		}
	}
	if len(all) == 1 {
		return all[0], nil
	}
	return torch.Stack(all), nil
}

// image8 is a uint8 tensor (C, H, W) as an image.
func image8(op string, x *tensor.Tensor) (im *pil.Image, err error) {
	if x.DType() != tensor.Uint8 {
		return nil, fmt.Errorf("visionio: %s: want a uint8 image, got %s", op, x.DType())
	}
	err = tensor.Try(func() { im = F.ToPILImage(x) })
	return im, err
}

// EncodeJPEG gives the bytes of a JPEG file of a uint8 image (C, H, W) of 1 or 3 channels, those of libjpeg. The quality
// is 1 to 100, 75 in torchvision.
func EncodeJPEG(x *tensor.Tensor, quality int) (*tensor.Tensor, error) {
	b, err := jpegBytes(x, quality)
	if err != nil {
		return nil, err
	}
	return tensor.FromSlice(b), nil
}

func jpegBytes(x *tensor.Tensor, quality int) ([]byte, error) {
	im, err := image8("EncodeJPEG", x)
	if err != nil {
		return nil, err
	}
	return jpeg.Encode(&jpeg.Image{Width: im.Width, Height: im.Height, Bands: im.Bands(), Pix: im.Pix}, quality)
}

// EncodePNG gives the bytes of a PNG file of a uint8 image (C, H, W) of 1, 3 or 4 channels.
func EncodePNG(x *tensor.Tensor) (*tensor.Tensor, error) {
	b, err := pngBytes(x)
	if err != nil {
		return nil, err
	}
	return tensor.FromSlice(b), nil
}

func pngBytes(x *tensor.Tensor) ([]byte, error) {
	im, err := image8("EncodePNG", x)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = png.Encode(&b, im.Image())
	return b.Bytes(), err
}

// WritePNG writes a uint8 image (C, H, W) of 1, 3 or 4 channels to a PNG file.
func WritePNG(x *tensor.Tensor, path string) error {
	b, err := pngBytes(x)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return writeBytes(path, b)
}

// WriteJPEG writes a uint8 image (C, H, W) of 1 or 3 channels to a JPEG file; quality is 1 to 100, 75 in torchvision.
func WriteJPEG(x *tensor.Tensor, path string, quality int) error {
	b, err := jpegBytes(x, quality)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return writeBytes(path, b)
}
