package recordio

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch/internal/mem"
)

type cvImage struct {
	H, W, C int
	Pix     []byte
}

func diff(a *Image, b cvImage) (worst int, err error) {
	if a.H != b.H || a.W != b.W || a.C != b.C || len(a.Pix) != len(b.Pix) {
		return 0, fmt.Errorf("shape (%d, %d, %d), want (%d, %d, %d)", a.H, a.W, a.C, b.H, b.W, b.C)
	}
	for i := range a.Pix {
		worst = max(worst, int(a.Pix[i])-int(b.Pix[i]), int(b.Pix[i])-int(a.Pix[i]))
	}
	return worst, nil
}

// testdata/cv2.json holds what OpenCV makes of the same bytes.
func TestAgainstOpenCV(t *testing.T) {
	text, err := os.ReadFile("testdata/cv2.json")
	if err != nil {
		t.Fatal(err)
	}
	var ref struct {
		Resize []struct{ In, Out cvImage }
		Decode []struct {
			Name string
			Data []byte
			Out  map[string]cvImage
		}
	}
	if err := json.Unmarshal(text, &ref); err != nil {
		t.Fatal(err)
	}
	if len(ref.Resize) == 0 || len(ref.Decode) == 0 {
		t.Fatal("no reference cases")
	}
	for _, c := range ref.Resize {
		in := &Image{c.In.H, c.In.W, c.In.C, c.In.Pix}
		if d, err := diff(in.Resize(c.Out.H, c.Out.W), c.Out); err != nil || d != 0 {
			t.Errorf("resize %dx%dx%d to %dx%d: differs by %d, %v", c.In.H, c.In.W, c.In.C, c.Out.H, c.Out.W, d, err)
		}
	}
	for _, c := range ref.Decode {
		// The inverse cosine transforms round differently by one level, which the
		// colour matrix can stretch.
		tol := 0
		if strings.HasPrefix(c.Name, "jpg") {
			tol = 3
		}
		for flag, want := range map[ColorFlag]cvImage{-1: c.Out["-1"], 0: c.Out["0"], 1: c.Out["1"]} {
			img, err := DecodeImage(c.Data, flag)
			if err != nil {
				t.Errorf("%s, flag %d: %v", c.Name, flag, err)
				continue
			}
			if d, err := diff(img, want); err != nil || d > tol {
				t.Errorf("%s, flag %d: differs by %d (at most %d), %v", c.Name, flag, d, tol, err)
			}
		}
	}
}

// ramp is a picture of steps of 8 in the three channels, or one.
func ramp(c int) *Image {
	m := NewImage(32, 32, c)
	for y := range 32 {
		for x := range 32 {
			for k := range c {
				m.Pix[(y*32+x)*c+k] = uint8(8 * [4]int{x, y, (x + y) / 2, 31 - x}[k])
			}
		}
	}
	return m
}

// The coloured ramp is hard on halved chroma: OpenCV loses 7 levels on it too.
func TestPackImgRoundTrip(t *testing.T) {
	cases := []struct {
		name  string
		c     int
		opt   ImgOptions
		flag  ColorFlag
		wantC int
		tol   int
	}{
		{"png grey", 1, ImgOptions{Format: ".png"}, Unchanged, 1, 0},
		{"png colour", 3, ImgOptions{Format: ".PNG", Quality: 9}, Unchanged, 3, 0},
		{"png alpha", 4, ImgOptions{Format: ".png", Quality: 1}, Unchanged, 4, 0},
		{"png alpha dropped", 4, ImgOptions{Format: ".png", Quality: 5}, Color, 3, 0},
		{"jpg grey", 1, ImgOptions{}, Unchanged, 1, 0},
		{"jpg colour", 3, ImgOptions{}, Unchanged, 3, 7},
		{"jpg grey to colour", 1, ImgOptions{Format: ".jpg"}, Color, 3, 0},
		{"jpg alpha dropped", 4, ImgOptions{Format: ".JPEG", Quality: 95}, Unchanged, 3, 7},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			in := ramp(c.c)
			rec, err := PackImg(IRHeader{Label: 7, ID: 3}, in, c.opt)
			if err != nil {
				t.Fatal(err)
			}
			h, out, err := UnpackImg(rec, c.flag)
			if err != nil || h.Label != 7 || h.ID != 3 {
				t.Fatalf("header %+v, %v", h, err)
			}
			if out.C != c.wantC || out.H != 32 || out.W != 32 {
				t.Fatalf("shape %d %d %d", out.H, out.W, out.C)
			}
			worst := 0
			for y := range 32 {
				for x := range 32 {
					for k := range out.C {
						a, b := int(in.At(y, x, min(k, in.C-1))), int(out.At(y, x, k))
						worst = max(worst, a-b, b-a)
					}
				}
			}
			if worst > c.tol {
				t.Errorf("differs by %d, at most %d", worst, c.tol)
			}
		})
	}
}

func TestQualityMatters(t *testing.T) {
	in := ramp(3)
	var last int
	for _, q := range []int{5, 50, 100} {
		b, err := EncodeImage(in, ImgOptions{Quality: q})
		if err != nil || len(b) <= last {
			t.Errorf("quality %d: %d bytes after %d, %v", q, len(b), last, err)
		}
		last = len(b)
	}
}

func TestImageErrors(t *testing.T) {
	encode := []struct {
		img  *Image
		opt  ImgOptions
		text string
	}{
		{nil, ImgOptions{}, "empty"},
		{&Image{2, 2, 2, make([]byte, 8)}, ImgOptions{}, "2 channels"},
		{&Image{2, 2, 3, make([]byte, 8)}, ImgOptions{}, "expected 12"},
		{ramp(3), ImgOptions{Quality: 101}, "quality 101"},
		{ramp(3), ImgOptions{Quality: -1}, "quality -1"},
		{ramp(3), ImgOptions{Quality: -1, Format: ".png"}, "compression -1"},
		{ramp(3), ImgOptions{Format: ".webp"}, ".webp"},
	}
	for _, c := range encode {
		if _, err := EncodeImage(c.img, c.opt); err == nil || !strings.Contains(err.Error(), c.text) {
			t.Errorf("error %v, want %q in it", err, c.text)
		}
	}
	good, err := EncodeImage(ramp(3), ImgOptions{Format: ".png"})
	if err != nil {
		t.Fatal(err)
	}
	bomb := append([]byte(nil), good...)
	copy(bomb[16:], "\x00\x00\x7f\xff\x00\x00\x7f\xff") // 32767 x 32767 pixels in a few hundred bytes
	// The checksum of the header chunk would betray the change.
	fixPNGHeader(bomb)
	for name, data := range map[string][]byte{"empty": nil, "text": []byte("multi-label"), "cut": good[:len(good)/2],
		"bomb": bomb} {
		if _, err := DecodeImage(data, Color); err == nil {
			t.Errorf("%s: decoded", name)
		} else if name == "bomb" && !strings.Contains(err.Error(), "claims") {
			t.Errorf("bomb: %v", err)
		}
	}
	if _, err := DecodeImage(good, 2); err == nil {
		t.Error("colour flag 2 accepted")
	}
}

func fixPNGHeader(b []byte) {
	binary.BigEndian.PutUint32(b[29:], crc32.ChecksumIEEE(b[12:29]))
}

// Sizes that have no room panic before memory is taken, with an error that names the memory.
func TestHugeImages(t *testing.T) {
	for name, f := range map[string]func(){
		"new":     func() { NewImage(1<<31, 1<<31, 4) },
		"row":     func() { NewImage(1, 1<<40, 3) },
		"resize":  func() { ramp(3).Resize(1<<40, 1<<40) },
		"stretch": func() { ramp(1).Resize(1, 1<<40) },
	} {
		func() {
			defer func() {
				var e *mem.OutOfMemory
				if err, ok := recover().(error); !ok || !errors.As(err, &e) {
					t.Errorf("%s panics with %v", name, err)
				}
			}()
			f()
		}()
	}
}
