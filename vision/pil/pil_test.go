package pil

import (
	"errors"
	"hash/crc32"
	"testing"

	"github.com/gotorch-dev/torch/tensor"
)

// pattern is a picture with all kinds of frequencies.
func pattern(mode string, w, h int) *Image {
	im := New(mode, w, h)
	for i := range im.Pix {
		im.Pix[i] = uint8((i*i*7 + i*13) / 5)
	}
	return im
}

// The pixels are those that Pillow 13 gives, in whichever order it goes through the directions.
func TestResize(t *testing.T) {
	for _, tc := range []struct {
		mode          string
		w, h          int
		width, height int
		filter        Resampling
		crc           uint32
	}{
		{"RGB", 31, 17, 12, 40, Bilinear, 0x4f47a5db},
		{"RGB", 17, 31, 40, 12, Bilinear, 0x6b5aab0d},
		{"RGB", 40, 30, 39, 12, Lanczos, 0xe4fc13b4},
		{"L", 20, 50, 18, 13, Bicubic, 0x37a37a66},
		{"RGBA", 17, 31, 40, 12, Bicubic, 0xbf4b1ca4},
		{"LA", 30, 30, 11, 12, Hamming, 0xe42302e3},
		{"RGB", 64, 48, 32, 24, Box, 0x5352ba12},
		{"L", 9, 7, 30, 50, Lanczos, 0x2339466e},
		{"RGBA", 33, 21, 33, 10, Bilinear, 0x2ff13713},
		{"RGB", 33, 21, 10, 21, Bicubic, 0x319d4419},
	} {
		im := pattern(tc.mode, tc.w, tc.h).Resize(tc.width, tc.height, tc.filter)
		if crc := crc32.ChecksumIEEE(im.Pix); crc != tc.crc || im.Width != tc.width || im.Height != tc.height {
			t.Errorf("%+v: %d x %d pixels with checksum %#x", tc, im.Width, im.Height, crc)
		}
		l, u, r, b := tc.width/4, tc.height/3, tc.width/2+1, tc.height/2+2
		part := pattern(tc.mode, tc.w, tc.h).ResizeRegion(tc.width, tc.height, tc.filter, l, u, r, b)
		if want := im.Crop(l, u, r, b); string(part.Pix) != string(want.Pix) || part.Width != want.Width {
			t.Errorf("%+v: a part has other pixels than the whole", tc)
		}
	}
}

// Warps give Pillow's pixels; with an alpha band by way of premultiplied ones.
func TestWarp(t *testing.T) {
	for _, tc := range []struct {
		mode                        string
		filter                      Resampling
		fill                        uint8
		affine, rotate, perspective uint32
	}{
		{"RGB", Bilinear, 0, 0x2d6ffb7e, 0xcd7222eb, 0x8b207707},
		{"RGBA", Bilinear, 9, 0x1ddd1664, 0x5076305e, 0x68a7b3bb},
		{"LA", Bicubic, 200, 0x48c60bdd, 0x47fd126c, 0xea9aaf21},
		{"L", Bicubic, 7, 0x8353f95e, 0x691563c2, 0xd06dccbb},
	} {
		im := pattern(tc.mode, 23, 17)
		for name, got := range map[string]struct {
			im  *Image
			crc uint32
		}{
			"affine": {im.Affine(20, 15, [6]float64{0.9, 0.2, 1.3, -0.3, 1.1, 2.2}, tc.filter, tc.fill), tc.affine},
			"rotate": {im.Rotate(33.5, RotateOptions{Filter: tc.filter, Expand: true, Fill: []uint8{tc.fill}}),
				tc.rotate},
			"perspective": {im.Perspective(20, 15, [8]float64{0.9, 0.1, 1, -0.1, 1.1, 2, 0.002, -0.003}, tc.filter,
				tc.fill),
				tc.perspective},
		} {
			if crc := crc32.ChecksumIEEE(got.im.Pix); crc != got.crc {
				t.Errorf("%s %s: %d x %d pixels with checksum %#x", tc.mode, name, got.im.Width, got.im.Height, crc)
			}
		}
	}
}

// Sizes beyond the memory are an error of the caller's, which leaves the process alone.
func TestHugeSizes(t *testing.T) {
	im, huge := New("RGB", 2, 2), 1<<40
	for name, f := range map[string]func(){
		"width":     func() { New("RGB", huge, 1) },
		"both":      func() { New("RGBA", huge, huge) },
		"no height": func() { New("L", 1<<62, 0) },
		"resize":    func() { im.Resize(huge, 1, Bicubic) },
		"nearest":   func() { im.Resize(huge, huge, Nearest) },
		"affine":    func() { im.Affine(huge, huge, [6]float64{1, 0, 0, 0, 1, 0}, Nearest) },
		"crop":      func() { im.Crop(-huge, 0, huge, 2) },
	} {
		if err := tensor.Try(f); !errors.Is(err, tensor.ErrMemory) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, f := range map[string]func(){
		"mode": func() { New("CMYK", 1, 1) }, "negative": func() { New("L", -1, 1) },
	} {
		if err := tensor.Try(f); !errors.Is(err, tensor.ErrValue) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
