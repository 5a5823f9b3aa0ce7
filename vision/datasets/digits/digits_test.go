package digits

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"image/png"
	"os"
	"runtime"
	"slices"
	"testing"

	"github.com/gotorch-dev/torch/internal/mem"
)

var sheet = flag.String("sheet", "", "write a contact sheet of the training images to this PNG file")

func sum(s *Set) string {
	h := sha256.New()
	h.Write(s.Images)
	h.Write(s.Labels)
	return hex.EncodeToString(h.Sum(nil))
}

// The data set is a fixed point for training results that are quoted elsewhere: it
// must be the same on every machine and may only change on purpose.
func TestChecksum(t *testing.T) {
	want := map[Split]string{
		Train: "fc4e69a9288206bafb536493af22a77273c4489cf6db78a677e78afd4548dda9",
		Test:  "9d81ce3bb21d04a309db9698323596676460a1306cd1253a4a7f1e08f8ce3f95",
	}
	size := map[Split]int{Train: 10_000, Test: 2_000}
	for split, w := range want {
		if split == Train && testing.Short() {
			continue // the race detector takes a minute over it
		}
		s := Load(split)
		if s.Len() != size[split] || len(s.Images) != s.Len()*Rows*Cols {
			t.Errorf("%v: %d labels and %d pixels, want %d images of %dx%d",
				split, s.Len(), len(s.Images), size[split], Rows, Cols)
		}
		if got := sum(s); got != w {
			t.Errorf("%v: sha256 %s, want %s", split, got, w)
		}
		for c, n := range s.Counts() {
			if n != size[split]/Classes {
				t.Errorf("%v: digit %d has %d images, want %d", split, c, n, size[split]/Classes)
			}
		}
	}
}

func TestScheduling(t *testing.T) {
	many := Generate(300, 7)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	one := Generate(300, 7)
	if !slices.Equal(many.Images, one.Images) || !slices.Equal(many.Labels, one.Labels) {
		t.Error("the images depend on the number of goroutines")
	}
	if other := Generate(300, 8); slices.Equal(other.Images, one.Images) {
		t.Error("another seed gives the same images")
	}
}

func TestGenerateSizes(t *testing.T) {
	for _, n := range []int{0, 1, 63, 64, 65} {
		s := Generate(n, 3)
		if s.Len() != n {
			t.Errorf("Generate(%d): %d images", n, s.Len())
		}
		for c, k := range s.Counts() {
			if k != n/Classes && k != n/Classes+1 {
				t.Errorf("Generate(%d): digit %d has %d images", n, c, k)
			}
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("Generate(-1) did not panic")
		}
	}()
	Generate(-1, 0)
}

// Every image must show something: ink well above the background, and away from the
// frame, which a wrong transform would leave empty or flood.
func TestInk(t *testing.T) {
	s := Generate(2000, 11)
	for i := range s.Len() {
		px := s.Pixels(i)
		lit := 0
		for _, v := range px {
			if v > 72 {
				lit++
			}
		}
		if lit < 15 || lit > len(px)/2 {
			t.Errorf("image %d (digit %d) has %d bright pixels of %d", i, s.Labels[i], lit, len(px))
		}
	}
}

// fill is checked on shapes whose area is known.
func TestFill(t *testing.T) {
	square := func(x0, y0, x1, y1 float64) []point {
		return []point{{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}}
	}
	reversed := func(p []point) []point { p = slices.Clone(p); slices.Reverse(p); return p }
	for _, c := range []struct {
		name  string
		polys [][]point
		want  map[[2]int]byte // by x, y
	}{
		{"whole pixels", [][]point{square(2, 3, 5, 6)},
			map[[2]int]byte{{2, 3}: 255, {4, 5}: 255, {1, 3}: 0, {5, 5}: 0, {2, 2}: 0, {2, 6}: 0}},
		{"half covered", [][]point{square(2.5, 3, 5, 5.5)},
			map[[2]int]byte{{2, 3}: 127, {3, 3}: 255, {2, 5}: 63, {3, 5}: 127}},
		{"hole", [][]point{square(1, 1, 9, 9), reversed(square(3, 3, 5, 5))},
			map[[2]int]byte{{2, 2}: 255, {3, 3}: 0, {4, 4}: 0, {5, 5}: 255}},
		{"overlap counts once", [][]point{square(1, 1, 5, 5), square(3, 3, 9, 9)},
			map[[2]int]byte{{2, 2}: 255, {4, 4}: 255, {7, 7}: 255}},
		{"clipped", [][]point{square(-5, -5, 100, 100)},
			map[[2]int]byte{{0, 0}: 255, {27, 27}: 255}},
	} {
		var d drawer
		for _, p := range c.polys {
			for i := range p {
				d.addEdge(p[i], p[(i+1)%len(p)])
			}
		}
		px := make([]byte, Rows*Cols)
		d.fill(px)
		for at, want := range c.want {
			if got := px[at[1]*Cols+at[0]]; got != want {
				t.Errorf("%s: pixel %v is %d, want %d", c.name, at, got, want)
			}
		}
	}
}

// Widening must add area to every digit of every face: this is how a font with the
// opposite direction of outlines would show.
func TestWiden(t *testing.T) {
	area := func(g glyph, w float64) (a float64) {
		for _, poly := range g {
			p := widen(nil, poly, w)
			for i := range p {
				q := p[(i+1)%len(p)]
				a += (p[i].x*q.y - q.x*p[i].y) / 2
			}
		}
		return max(a, -a)
	}
	for f, face := range outlines() {
		for digit, g := range face {
			thin, plain, thick := area(g, -0.02), area(g, 0), area(g, 0.02)
			if !(thin < plain && plain < thick) {
				t.Errorf("face %d, digit %d: areas %.3f, %.3f, %.3f do not grow", f, digit, thin, plain, thick)
			}
		}
	}
}

func TestSheet(t *testing.T) {
	if *sheet == "" {
		t.Skip("no -sheet")
	}
	f, err := os.Create(*sheet)
	if err != nil {
		t.Fatal(err)
	}
	if err := png.Encode(f, Load(Train).Sheet(16, 25)); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		Load(Train)
	}
}

// More images than there is memory for are an error before any of them is drawn.
func TestGenerateHuge(t *testing.T) {
	defer func() {
		var e *mem.OutOfMemory
		if err, ok := recover().(error); !ok || !errors.As(err, &e) {
			t.Errorf("Generate panics with %v", err)
		}
	}()
	Generate(1<<40, 1)
}
