package mask

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

func Example() {
	r, _ := Encode(&Mask{H: 2, W: 3, Pix: []uint8{
		0, 1, 1,
		0, 1, 0,
	}})
	fmt.Println(r.CountsString(), r.Area(), r.ToBbox())
	m, _ := Decode(r)
	fmt.Println(m.Pix)
	// Output:
	// 231 3 [1 0 2 2]
	// [0 1 1 0 1 0]
}

func ExampleMerge() {
	rles, _ := FromBoxes([][4]float64{{0, 0, 2, 2}, {1, 1, 2, 2}}, 4, 4)
	union, _ := Merge(rles, false)
	both, _ := Merge(rles, true)
	fmt.Println(union.Area(), both.Area())
	// Output: 7 1
}

func ExampleIoU() {
	rles, _ := FromBoxes([][4]float64{{0, 0, 2, 2}, {0, 0, 4, 4}}, 4, 4)
	plain, _ := IoU(rles[:1], rles[1:], nil)
	crowd, _ := IoU(rles[:1], rles[1:], []bool{true})
	fmt.Println(plain, crowd)
	// Output: [[0.25]] [[1]]
}

// Results of pycocotools 2.0.11.
func TestPolygons(t *testing.T) {
	for _, c := range []struct {
		name string
		h, w int
		poly []float64
		want string
	}{
		{"triangle", 10, 10, []float64{1, 1, 8, 2, 3, 9}, ";284L1OO2M2O1Oc0"},
		{"outside on all sides", 7, 9, []float64{-20, -20, 40, -20, 40, 40, -20, 40}, "0o1"},
		{"left of the image", 7, 9, []float64{-9, 1, -2, 1, -2, 5, -9, 5}, "o1"},
		{"doubled point", 10, 10, []float64{1, 1, 1, 1, 8, 2, 3, 9}, ";284L1OO2M2O1Oc0"},
		{"negative start", 10, 10, []float64{-3.3, -2.7, 8, 2, -1.1, 9}, "082O1O1O2O0O1On0"},
		{"a line", 10, 10, []float64{1, 1, 8, 8}, "T3"},
		{"steep", 40, 6, []float64{1.2, 0.3, 4.7, 39, 2.1, 39.5}, "\\18Z1b0_OD<E4"},
		{"crossing itself", 12, 12, []float64{1, 1, 11, 11, 11, 1, 1, 11}, "=94N2N2N2N10O2N2N2N2:"},
	} {
		r, err := FromPolygons([][]float64{c.poly}, c.h, c.w)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got := r[0].CountsString(); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// random returns a mask with runs of several lengths.
func random(rng *rand.Rand, h, w int) *Mask {
	m := &Mask{H: h, W: w, Pix: make([]uint8, h*w)}
	v := uint8(rng.IntN(2))
	for x := range w {
		for y := range h {
			if rng.IntN(1+h/2+w%5) == 0 {
				v = 1 - v
			}
			m.Pix[y*w+x] = v
		}
	}
	return m
}

// Every operation on runs must agree with the same operation on pixels.
func TestAgainstPixels(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 400 {
		h, w := 1+rng.IntN(20), 1+rng.IntN(20)
		a, b := random(rng, h, w), random(rng, h, w)
		ra, err := Encode(a)
		if err != nil {
			t.Fatal(err)
		}
		rb, _ := Encode(b)
		if back, err := Decode(ra); err != nil || !reflect.DeepEqual(back, a) {
			t.Fatalf("case %d: decoded %v (%v), want %v", i, back, err, a)
		}
		if p, err := Parse(h, w, ra.CountsString()); err != nil || !reflect.DeepEqual(p, ra) {
			t.Fatalf("case %d: parsed %v (%v), want %v", i, p, err, ra)
		}
		area, and, or := 0, 0, 0
		x0, y0, x1, y1 := w, h, -1, -1
		for y := range h {
			for x := range w {
				p, q := a.At(x, y), b.At(x, y)
				if p {
					area++
					x0, y0, x1, y1 = min(x0, x), min(y0, y), max(x1, x), max(y1, y)
				}
				if p && q {
					and++
				}
				if p || q {
					or++
				}
			}
		}
		if ra.Area() != area {
			t.Fatalf("case %d: area %d, want %d", i, ra.Area(), area)
		}
		box := [4]float64{float64(x0), float64(y0), float64(x1 - x0 + 1), float64(y1 - y0 + 1)}
		if area == 0 {
			box = [4]float64{}
		}
		if got := ra.ToBbox(); got != box {
			t.Fatalf("case %d: box %v, want %v", i, got, box)
		}
		u, _ := Merge([]RLE{ra, rb}, false)
		n, _ := Merge([]RLE{ra, rb}, true)
		if u.Area() != or || n.Area() != and || u.Validate() != nil || n.Validate() != nil {
			t.Fatalf("case %d: union %d, intersection %d, want %d, %d", i, u.Area(), n.Area(), or, and)
		}
		iou, err := IoU([]RLE{ra}, []RLE{rb, rb}, []bool{false, true})
		if err != nil {
			t.Fatal(err)
		}
		wantIoU, wantCrowd := 0.0, 0.0
		if and > 0 {
			wantIoU, wantCrowd = float64(and)/float64(or), float64(and)/float64(area)
		}
		if iou[0][0] != wantIoU || iou[0][1] != wantCrowd {
			t.Fatalf("case %d: IoU %v, want %v %v", i, iou, wantIoU, wantCrowd)
		}
	}
}

func TestSpecialMasks(t *testing.T) {
	for _, c := range []struct {
		name   string
		counts []int
		area   int
		box    [4]float64
		text   string
	}{
		{"empty", []int{12}, 0, [4]float64{}, "<"},
		{"full", []int{0, 12}, 12, [4]float64{0, 0, 4, 3}, "0<"},
		{"last pixel", []int{11, 1}, 1, [4]float64{3, 2, 1, 1}, ";1"},
		{"runs of length 0", []int{0, 0, 3, 2, 0, 1, 6}, 3, [4]float64{1, 0, 1, 3}, "0032MO6"},
	} {
		r, err := FromCounts(3, 4, c.counts)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if r.Area() != c.area || r.ToBbox() != c.box || r.CountsString() != c.text {
			t.Errorf("%s: area %d, box %v, text %q, want %d, %v, %q", c.name, r.Area(), r.ToBbox(), r.CountsString(),
				c.area, c.box, c.text)
		}
		if back, err := Parse(3, 4, r.CountsString()); err != nil || !reflect.DeepEqual(back, r) {
			t.Errorf("%s: parsed %v, %v", c.name, back, err)
		}
		// Merging ends also where runs are empty.
		full, _ := FromCounts(3, 4, []int{0, 12})
		if m, err := Merge([]RLE{r, full}, true); err != nil || m.Area() != c.area {
			t.Errorf("%s: intersection with everything: %v, %v", c.name, m, err)
		}
		if m, err := Merge([]RLE{full, r}, false); err != nil || m.Area() != 12 {
			t.Errorf("%s: union with everything: %v, %v", c.name, m, err)
		}
	}
	if m, err := Merge(nil, false); err != nil || m.H != 0 || m.W != 0 {
		t.Errorf("merge of nothing: %v, %v", m, err)
	}
	a, _ := FromCounts(1, 4, []int{0, 4})
	b, _ := FromCounts(2, 4, []int{0, 8})
	if v, err := IoU([]RLE{a}, []RLE{b}, nil); err != nil || v[0][0] != -1 {
		t.Errorf("IoU of different sizes: %v, %v", v, err)
	}
}

func TestBoxIoU(t *testing.T) {
	dt := [][4]float64{{0, 0, 10, 10}, {100, 100, 1, 1}, {5, 5, 0, 5}}
	gt := [][4]float64{{5, 0, 10, 10}, {0, 0, 20, 20}}
	got, err := BoxIoU(dt, gt, []bool{false, true})
	if err != nil {
		t.Fatal(err)
	}
	want := [][]float64{{50. / 150, 1}, {0, 0}, {0, 0}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestErrors(t *testing.T) {
	bad := func(name string, err error, want string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error with %q", name, err, want)
		}
	}
	_, err := Parse(1e9, 1e9, "0")
	bad("hostile size", err, "1000000000 x 1000000000 is over the limit")
	_, err = Parse(math.MaxInt, 2, "0")
	bad("overflowing size", err, "over the limit")
	_, err = Parse(-1, 2, "0")
	bad("negative size", err, "negative")
	_, err = Parse(2, 2, "4\x80")
	bad("bad character", err, "not part of the encoding")
	_, err = Parse(2, 2, "t")
	bad("bad character", err, "not part of the encoding")
	_, err = Parse(2, 2, "o")
	bad("cut", err, "ends inside a number")
	_, err = Parse(2, 2, "oooooooooooo0")
	bad("long number", err, "too long")
	_, err = Parse(2, 2, "O")
	bad("negative run", err, "has the length -1")
	_, err = Parse(2, 2, "5")
	bad("too much", err, "more than the 4 pixels")
	_, err = Parse(2, 2, "3")
	bad("too little", err, "cover 3 pixels")
	_, err = FromCounts(2, 2, []int{5, -1})
	bad("negative count", err, "run 1 has the length -1")
	_, err = FromCounts(2, 2, []int{1, 1})
	bad("short counts", err, "cover 2 pixels")
	_, err = Encode(&Mask{H: 2, W: 2, Pix: make([]uint8, 3)})
	bad("Encode", err, "wants 4 pixels, got 3")
	_, err = FromPolygons([][]float64{{1, 2, 3, 4, 5}}, 4, 4)
	bad("odd polygon", err, "polygon 0: want an even number of coordinates, at least 4, got 5")
	_, err = FromPolygons([][]float64{{1, 2, 3, math.NaN(), 5, 6}}, 4, 4)
	bad("NaN", err, "coordinate 3 is NaN")
	_, err = FromBoxes([][4]float64{{0, 0, math.Inf(1), 1}}, 4, 4)
	bad("infinite box", err, "box 0")
	_, err = Merge([]RLE{{H: 1, W: 1, Counts: []uint32{1}}, {H: 1, W: 2, Counts: []uint32{2}}}, false)
	bad("sizes", err, "mask 1 is 1 x 2, mask 0 is 1 x 1")
	_, err = IoU(nil, nil, []bool{true})
	bad("crowd flags", err, "1 crowd flags")
	var r RLE
	bad("json", json.Unmarshal([]byte(`{"size":[2,2]}`), &r), "counts is missing")
	bad("json", json.Unmarshal([]byte(`{"size":[2],"counts":"4"}`), &r), "want 2 numbers, got 1")
	bad("json", json.Unmarshal([]byte(`{"size":[2,2],"counts":[1.5]}`), &r), "whole numbers")
}

func TestJSON(t *testing.T) {
	for _, in := range []string{`{"size":[2,3],"counts":"231"}`, `{"size":[2,3],"counts":[2,3,1]}`} {
		var r RLE
		if err := json.Unmarshal([]byte(in), &r); err != nil {
			t.Fatal(err)
		}
		out, err := json.Marshal(r)
		if err != nil || string(out) != `{"size":[2,3],"counts":"231"}` {
			t.Errorf("%s became %s, %v", in, out, err)
		}
	}
}

// A polygon far larger than the image costs no more than one of its size.
func TestHugePolygon(t *testing.T) {
	const c = maxCoord
	r, err := FromPolygons([][]float64{{-c, -c, c, -c, c, c, -c, c}, {-c, -c, c, c, 0, c}}, 10, 10)
	if err != nil {
		t.Fatal(err)
	}
	if r[0].Area() != 100 {
		t.Errorf("area %d, want 100", r[0].Area())
	}
}

func FuzzParse(f *testing.F) {
	f.Add(2, 3, "231")
	f.Add(45, 48, "041O001N00O12ON110O000060I02011NOO033MM1000")
	f.Add(1000000000, 1000000000, "oooo0")
	f.Fuzz(func(t *testing.T, h, w int, s string) {
		r, err := Parse(h, w, s)
		if err != nil {
			return
		}
		if len(r.Counts) > len(s) {
			t.Fatalf("%d runs of %d characters", len(r.Counts), len(s))
		}
		if err := r.Validate(); err != nil {
			t.Fatal(err)
		}
		// What was accepted survives a round trip (padded numbers get shorter).
		again, err := Parse(h, w, r.CountsString())
		if err != nil || !reflect.DeepEqual(again.Counts, r.Counts) {
			t.Fatalf("%v became %v, %v", r, again, err)
		}
		box := r.ToBbox()
		u, err := Merge([]RLE{r, r}, false)
		if err != nil || u.Area() != r.Area() {
			t.Fatalf("union with itself: %v, %v", u, err)
		}
		if v, err := IoU([]RLE{r}, []RLE{r}, nil); err != nil || r.Area() > 0 && v[0][0] != 1 {
			t.Fatalf("IoU with itself: %v, %v", v, err)
		}
		if h*w <= 1<<16 {
			m, err := Decode(r)
			if err != nil {
				t.Fatal(err)
			}
			e, err := Encode(m)
			if err != nil || e.Area() != r.Area() || e.ToBbox() != box {
				t.Fatalf("%v became %v, %v", r, e, err)
			}
		}
	})
}

func FuzzPolygon(f *testing.F) {
	f.Add(10, 10, 1., 1., 8., 2., 3., 9.)
	f.Add(10, 10, -1e8, 1e8, 8e7, -1e8, 3., 9.)
	f.Fuzz(func(t *testing.T, h, w int, x0, y0, x1, y1, x2, y2 float64) {
		h, w = h&0xff, w&0xff
		r, err := FromPolygons([][]float64{{x0, y0, x1, y1, x2, y2}}, h, w)
		if err != nil {
			return
		}
		if err := r[0].Validate(); err != nil {
			t.Fatal(err)
		}
	})
}

func BenchmarkPolygon(b *testing.B) {
	var p []float64
	for i := range 60 {
		s, c := math.Sincos(float64(i) / 60 * 2 * math.Pi)
		p = append(p, 320+200*c+float64(i%3), 240+150*s)
	}
	for b.Loop() {
		if _, err := FromPolygons([][]float64{p}, 480, 640); err != nil {
			b.Fatal(err)
		}
	}
}

// A few bytes must not ask for hundreds of megabytes.
func TestCrossingsAreBounded(t *testing.T) {
	_, err := FromPolygons([][]float64{{0, 0, maxCoord, 0, maxCoord, 1, 0, 1}}, 1, MaxPixels)
	if err == nil || !strings.Contains(err.Error(), "crosses more than") {
		t.Errorf("got %v", err)
	}
}
