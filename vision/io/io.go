// Package visionio reads and writes image files: PNG, JPEG, GIF (the first picture), BMP, TIFF and WebP, PyTorch's
// torchvision.io and Pillow's Image.open. JPEGs get the pixels, and what is written the bytes, that Python's programs
// get from libjpeg; JPEGs in the colours of prints (CMYK) alone are decoded by Go's library.
//
// The functions to know are [ReadImage], for tensors, and [Open], for images of package pil.
package visionio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	_ "image/gif" // the formats that Decode knows
	_ "image/jpeg"
	"os"

	_ "golang.org/x/image/bmp"
	_ "golang.org/x/image/tiff"
	_ "golang.org/x/image/webp"

	"github.com/gotorch-dev/torch/internal/jpeg"
	"github.com/gotorch-dev/torch/internal/webp"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/pil"
	F "github.com/gotorch-dev/torch/vision/transforms/functional"
)

// maxPixels is the size of the largest image that is decoded, Pillow's limit against files that unpack to too much.
const maxPixels = 178956970

// ImageReadMode says which channels an image gets.
type ImageReadMode string

// The modes of reading.
const (
	Unchanged ImageReadMode = ""     // those of the file
	Gray      ImageReadMode = "L"    // one
	GrayAlpha ImageReadMode = "LA"   // grey and alpha
	RGB       ImageReadMode = "RGB"  // three
	RGBAlpha  ImageReadMode = "RGBA" // three and alpha
)

// DecodeOptions are the options of Decode and ReadImage.
type DecodeOptions struct {
	Mode ImageReadMode
	// IgnoreOrientation leaves a JPEG as it is stored, where the camera says that it was turned.
	IgnoreOrientation bool
}

// Decode reads an image from the bytes of a file.
func Decode(data []byte, opts ...DecodeOptions) (*pil.Image, error) {
	o := DecodeOptions{}
	if len(opts) > 0 {
		o = opts[0]
	}
	c, format, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("visionio: %w", err)
	}
	if c.Width <= 0 || c.Height <= 0 || c.Width > maxPixels/c.Height {
		return nil, fmt.Errorf("visionio: an image of %d x %d pixels; at most %d pixels are decoded", c.Width, c.Height,
			maxPixels)
	}
	if most := max(1<<22, 8300*len(data)); c.Width*c.Height > most { // a bit a pixel, and deflate's best ratio
		return nil, fmt.Errorf("visionio: %d bytes claim to be an image of %d x %d pixels", len(data), c.Width,
			c.Height)
	}
	im, err := decode(data, format)
	if err != nil {
		return nil, fmt.Errorf("visionio: %s: %w", format, err)
	}
	if format == "jpeg" && !o.IgnoreOrientation {
		im = turned(im, orientation(data))
	}
	if o.Mode != Unchanged {
		im = im.Convert(string(o.Mode))
	}
	return im, nil
}

// decode decodes an image of a format, whose size was found to be reasonable.
func decode(data []byte, format string) (*pil.Image, error) {
	if format == "jpeg" {
		im, err := jpeg.Decode(data)
		if err == nil {
			return &pil.Image{Mode: map[int]string{1: "L", 3: "RGB"}[im.Bands], Width: im.Width, Height: im.Height,
				Pix: im.Pix}, nil
		}
		if !errors.Is(err, jpeg.ErrUnsupported) {
			return nil, err
		}
	}
	src, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	if format == "webp" {
		src = webp.RGB(src)
	}
	return pil.FromImage(src), nil
}

// turned undoes what an EXIF orientation (1 to 8) says of the camera.
func turned(im *pil.Image, orientation int) *pil.Image {
	switch orientation {
	case 2:
		return im.FlipLeftRight()
	case 3:
		return im.Rotate90(2)
	case 4:
		return im.FlipTopBottom()
	case 5:
		return im.Rotate90(1).FlipTopBottom()
	case 6:
		return im.Rotate90(3)
	case 7:
		return im.Rotate90(3).FlipTopBottom()
	case 8:
		return im.Rotate90(1)
	}
	return im
}

// orientation is the EXIF orientation of a JPEG, 1 where there is none: the entry 0x0112 of the first directory in the
// segment APP1 (Exif 2.3, 4.6.2).
func orientation(data []byte) int {
	const normal = 1
	for p := 2; p+4 <= len(data) && data[p] == 0xff && data[p+1] != 0xda; {
		size := int(binary.BigEndian.Uint16(data[p+2:]))
		end := p + 2 + size
		if size < 2 || end > len(data) {
			return normal
		}
		if seg := data[p+4 : end]; data[p+1] == 0xe1 && bytes.HasPrefix(seg, []byte("Exif\x00\x00")) {
			return tiffOrientation(seg[6:])
		}
		p = end
	}
	return normal
}

func tiffOrientation(t []byte) int {
	const normal, entry = 1, 12
	var order binary.ByteOrder = binary.BigEndian
	if bytes.HasPrefix(t, []byte("II")) {
		order = binary.LittleEndian
	}
	if len(t) < 8 {
		return normal
	}
	at := int(order.Uint32(t[4:]))
	if at < 8 || at > len(t)-2 {
		return normal
	}
	n := int(order.Uint16(t[at:]))
	for i := range n {
		e := at + 2 + i*entry
		if e+entry > len(t) {
			return normal
		}
		if order.Uint16(t[e:]) == 0x0112 {
			return int(order.Uint16(t[e+8:]))
		}
	}
	return normal
}

// Open reads an image file.
func Open(path string, opts ...DecodeOptions) (*pil.Image, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	im, err := Decode(data, opts...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return im, nil
}

// ReadImage reads an image file to a uint8 tensor (C, H, W).
func ReadImage(path string, opts ...DecodeOptions) (*tensor.Tensor, error) {
	im, err := Open(path, opts...)
	if err != nil {
		return nil, err
	}
	return F.PILToTensor(im).Contiguous(), nil
}
