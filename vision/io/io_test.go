package visionio

import (
	"bytes"
	"fmt"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/pil"
)

// picture has a different color in each corner.
func picture() *pil.Image {
	im := pil.New("RGB", 16, 8)
	for y := range 8 {
		for x := range 16 {
			i := 3 * (y*16 + x)
			im.Pix[i], im.Pix[i+1] = uint8(x/8*255), uint8(y/4*255)
		}
	}
	return im
}

// exif is a JPEG whose camera was held so that the orientation is o.
func exif(t testing.TB, o byte) []byte {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, picture().Image(), nil); err != nil {
		t.Fatal(err)
	}
	app1 := []byte("\xff\xe1\x00\x22Exif\x00\x00MM\x00\x2a\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03" +
		"\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00")
	app1[29] = o
	return append(append([]byte{0xff, 0xd8}, app1...), b.Bytes()[2:]...)
}

func TestOrientation(t *testing.T) {
	// the top left pixel of the upright picture: red and green
	want := map[byte][2]bool{1: {false, false}, 2: {true, false}, 3: {true, true}, 4: {false, true}, 5: {false, false},
		6: {false, true}, 7: {true, true}, 8: {true, false}}
	for o, w := range want {
		im, err := Decode(exif(t, o))
		if err != nil {
			t.Fatal(err)
		}
		if (im.Width == 8) != (o >= 5) {
			t.Errorf("orientation %d: %d x %d", o, im.Width, im.Height)
		}
		if got := [2]bool{im.Pix[0] > 128, im.Pix[1] > 128}; got != w {
			t.Errorf("orientation %d: top left %v, want %v", o, got, w)
		}
	}
	im, err := Decode(exif(t, 6), DecodeOptions{IgnoreOrientation: true})
	if err != nil || im.Width != 16 {
		t.Errorf("IgnoreOrientation: %v, %v", im, err)
	}
}

func TestRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.png")
	im := picture()
	x := tensor.FromSlice(im.Pix, 8, 16, 3).Permute([]int{2, 0, 1})
	if err := WritePNG(x, path); err != nil {
		t.Fatal(err)
	}
	y, err := ReadImage(path)
	if err != nil || !y.Equal(x.Contiguous()) {
		t.Errorf("ReadImage: %v, %v", y, err)
	}
	if g, err := ReadImage(path, DecodeOptions{Mode: Gray}); err != nil || g.Size(0) != 1 {
		t.Errorf("grey: %v, %v", g, err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := range data { // a file that was cut off is an error or, without its end mark, the image
		if im, err := Decode(data[:n]); err == nil && im.Width != 16 {
			t.Errorf("the first %d bytes: %v", n, im)
		}
	}
	if err := WritePNG(x.Float(), path); err == nil {
		t.Error("floats were written")
	}
}

// Portable Graymaps and Pixmaps: the pixels are those that Pillow reads.
func TestPNM(t *testing.T) {
	for _, tc := range []struct {
		file, mode string
		pix        []uint8
	}{
		{"P6 2 1 255\nabcdef", "RGB", []uint8("abcdef")},
		{"P5\n# a comment\n3 1 # another\n255\nxyz", "L", []uint8("xyz")},
		{"P5 3 1 6 \x00\x01\x06", "L", []uint8{0, 42, 255}},
	} {
		im, err := Decode([]byte(tc.file))
		if err != nil || im.Mode != tc.mode || !bytes.Equal(im.Pix, tc.pix) {
			t.Errorf("%q: %+v, %v, want %s %v", tc.file, im, err, tc.mode, tc.pix)
		}
	}
	for _, bad := range []string{"P6", "P6 2 1 255\nabcde", "P5 0 1 255\n", "P5 1 1 0 a", "P5 1 1 65535 ab",
		"P5 1x 1 255 a", "P5 99999999 99999999 255 a"} {
		if im, err := Decode([]byte(bad)); err == nil {
			t.Errorf("%q: %+v", bad, im)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(exif(f, 6))
	var b bytes.Buffer
	if err := png.Encode(&b, picture().Image()); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte("GIF89a\x01\x00\x01\x00\x00\x00\x00;"))
	f.Add([]byte("BM"))
	f.Add([]byte("P6 2 1 255\nabcdef"))
	f.Add([]byte("P5\n# two\n2 2\n9\nabcd"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<12 {
			return
		}
		orientation(data)
		im, err := Decode(data)
		if err == nil && len(im.Pix) != im.Width*im.Height*im.Bands() {
			t.Errorf("%d bytes of %d x %d", len(im.Pix), im.Width, im.Height)
		}
	})
}

func ExampleDecode() {
	var b bytes.Buffer
	if err := png.Encode(&b, picture().Image()); err != nil {
		panic(err)
	}
	im, err := Decode(b.Bytes())
	fmt.Println(im.Mode, im.Width, im.Height, err)
	// Output: RGB 16 8 <nil>
}
