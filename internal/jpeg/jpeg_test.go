package jpeg

import (
	"bytes"
	"errors"
	"hash/crc32"
	"image/jpeg"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gotorch-dev/torch/internal/cpu"
)

// pattern is a picture with all kinds of frequencies.
func pattern(w, h, bands int) *Image {
	im := &Image{Width: w, Height: h, Bands: bands}
	for y := range h {
		for x := range w {
			for c := range bands {
				im.Pix = append(im.Pix, uint8(x*7+y*3+c*50+x*y/5))
			}
		}
	}
	return im
}

// The pixels are those that Pillow reads from the same files.
func TestDecode(t *testing.T) {
	for _, tc := range []struct {
		file string
		crc  uint32
	}{
		{"444", 0xf7812364}, {"422", 0x53ef62f6}, {"420", 0x2422a0fc}, {"411", 0x888da1f7}, {"gray", 0x43941eaf},
		{"progressive", 0xae5d3900}, {"progressive_gray", 0x134b44c7}, {"restart", 0x6e621434},
	} {
		data, err := os.ReadFile(filepath.Join("testdata", tc.file+".jpg"))
		if err != nil {
			t.Fatal(err)
		}
		im, err := Decode(data)
		if err != nil {
			t.Errorf("%s: %v", tc.file, err)
			continue
		}
		if crc := crc32.ChecksumIEEE(im.Pix); crc != tc.crc || im.Width != 37 || im.Height != 21 {
			t.Errorf("%s: %d x %d pixels with checksum %#x, want %#x", tc.file, im.Width, im.Height, crc, tc.crc)
		}
		for n := range len(data) - 2 { // cut anywhere, it is refused
			if _, err := Decode(data[:n]); err == nil {
				t.Errorf("%s: no error for the first %d of %d bytes", tc.file, n, len(data))
			}
		}
	}
}

// The bytes are those that Pillow writes, and the pixels after that those that Pillow reads.
func TestEncode(t *testing.T) {
	for _, tc := range []struct {
		w, h, bands, quality int
		file, pixels         uint32
	}{
		{1, 1, 3, 75, 0x117b370b, 0xc68abd81}, {37, 21, 3, 30, 0x5cd314cc, 0x1d16c815},
		{37, 21, 3, 95, 0xa08a7182, 0x9a18b391}, {16, 8, 3, 100, 0xd1b2dbc3, 0xddf0d218},
		{40, 9, 1, 60, 0x66d9d647, 0x112ebf69}, {33, 33, 3, 1, 0xaa203cc1, 0xd6d52aa9},
	} {
		im := pattern(tc.w, tc.h, tc.bands)
		data, err := Encode(im, tc.quality)
		if err != nil {
			t.Fatal(err)
		}
		if crc := crc32.ChecksumIEEE(data); crc != tc.file {
			t.Errorf("%+v: the file has checksum %#x", tc, crc)
		}
		if _, err := jpeg.Decode(bytes.NewReader(data)); err != nil {
			t.Errorf("%+v: Go's library: %v", tc, err)
		}
		read, err := Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		recoded, err := Recode(im, tc.quality)
		if err != nil {
			t.Fatal(err)
		}
		for what, im := range map[string]*Image{"Decode": read, "Recode": recoded} {
			if crc := crc32.ChecksumIEEE(im.Pix); crc != tc.pixels {
				t.Errorf("%+v: %s gives pixels with checksum %#x", tc, what, crc)
			}
		}
	}
	for _, q := range []int{0, 101} {
		if _, err := Encode(pattern(8, 8, 3), q); err == nil {
			t.Errorf("quality %d: no error", q)
		}
	}
	if _, err := Encode(&Image{Width: 8, Height: 8, Bands: 3, Pix: make([]uint8, 5)}, 75); err == nil {
		t.Error("an image without its pixels: no error")
	}
}

func FuzzDecode(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.jpg"))
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		im, err := Decode(data)
		switch {
		case err != nil && !errors.Is(err, ErrFormat) && !errors.Is(err, ErrUnsupported):
			t.Errorf("an error of another kind: %v", err)
		case err == nil && len(im.Pix) != im.Width*im.Height*im.Bands:
			t.Errorf("%d bytes of %d x %d pixels", len(im.Pix), im.Width, im.Height)
		}
	})
}

// The assembly gives the results of plain Go, for any numbers.
func TestAssembly(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	bytesOf := func(n int) []uint8 {
		b := make([]uint8, n)
		for i := range b {
			b[i] = uint8(r.Uint32())
		}
		return b
	}
	for _, l := range cpu.Levels() {
		t.Run(l.Name, func(t *testing.T) {
			defer cpu.Set(l.Features)()
			for round := range 300 {
				var b block
				var q quantTable
				for range r.IntN(65) {
					b[r.IntN(64)] = int16(r.Uint32() >> r.IntN(16))
				}
				for i := range q {
					q[i] = int32(uint16(r.Uint32() >> r.IntN(16)))
				}
				got, want := make([]uint8, 80), make([]uint8, 80)
				inverse(&b, &q, got, 10)
				inverseSlow(&b, &q, want, 10)
				if !bytes.Equal(got, want) {
					t.Fatalf("round %d: the samples of %v are %v, want %v", round, b, got, want)
				}
				clear(b[1:])
				inverseSlow(&b, &q, want, 10)
				fillBlock(got, 10, b[0], q[0])
				if !bytes.Equal(got, want) {
					t.Fatalf("round %d: the samples of a block with mean %d are %v, want %v", round, b[0], got, want)
				}
			}
			for n := 1; n < 70; n++ {
				ys, cbs, crs := bytesOf(n), bytesOf(n), bytesOf(n)
				sums, wantSums := make([]int16, n), make([]int16, n)
				got, want := make([]uint8, 3*n), make([]uint8, 3*n)
				weighRows(sums, ys, cbs)
				rgbRow(got, ys, cbs, crs)
				for x := range ys {
					wantSums[x] = 3*int16(ys[x]) + int16(cbs[x])
					cb, cr := int32(cbs[x])-128, int32(crs[x])-128
					want[3*x] = clamp(int32(ys[x]) + (91881*cr+32768)>>16)
					want[3*x+1] = clamp(int32(ys[x]) + (-22554*cb-46802*cr+32768)>>16)
					want[3*x+2] = clamp(int32(ys[x]) + (116130*cb+32768)>>16)
				}
				if !slices.Equal(sums, wantSums) {
					t.Fatalf("sums of %d samples: %v, want %v", n, sums, wantSums)
				}
				if !bytes.Equal(got, want) {
					t.Fatalf("%d pixels: %v, want %v", n, got, want)
				}
				u := upsampler{c: &component{width: n}, out: make([]uint8, 2*n), sums: make([]int16, n+2)}
				copy(u.sums[1:], sums)
				u.spread(8, 7, 4)
				for x := range sums {
					left, right := sums[max(x-1, 0)], sums[min(x+1, n-1)]
					a, b := uint8((3*sums[x]+left+8)>>4), uint8((3*sums[x]+right+7)>>4)
					if u.out[2*x] != a || u.out[2*x+1] != b {
						t.Fatalf("sample %d of %d is spread to %v, want %d and %d", x, n, u.out[2*x:][:2], a, b)
					}
				}
			}
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	data, err := Encode(pattern(500, 375, 3), 90)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(500 * 375 * 3)
	for b.Loop() {
		if _, err := Decode(data); err != nil {
			b.Fatal(err)
		}
	}
}
