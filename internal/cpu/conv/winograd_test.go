package conv

import (
	"fmt"
	"math"
	"math/rand"
	"slices"
	"testing"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu"
	"github.com/gotorch-dev/torch/internal/par"
)

// The assembly knows these offsets.
func TestWinArgsLayout(t *testing.T) {
	var a winogradArgs
	for _, c := range []struct {
		name      string
		got, want uintptr
	}{
		{"tmp", unsafe.Offsetof(a.tmp), 16}, {"row", unsafe.Offsetof(a.row), 24},
		{"outCol", unsafe.Offsetof(a.outCol), 48},
		{"n", unsafe.Offsetof(a.n), 56}, {"bias", unsafe.Offsetof(a.bias), 64}, {"lo", unsafe.Offsetof(a.lo), 72},
		{"hi", unsafe.Offsetof(a.hi), 76}, {"consts", unsafe.Offsetof(a.consts), 80},
	} {
		if c.got != c.want {
			t.Errorf("winArgs.%s is at %d, the assembly expects %d", c.name, c.got, c.want)
		}
	}
}

// winMatrices are the matrices of the one-dimensional transforms: in each row of the input's the coefficients of the
// product of (x - p) over all points p but one, in each row of the weights' the powers of a point over the product of its
// distances from the others, in each row of the results' one power of all points.
var winMatrices = func() (m [3][][]float64) {
	points := []float64{0, winogradA, -winogradA, winogradB, -winogradB}
	product := func(without int) []float64 {
		c := make([]float64, 6)
		c[0] = 1
		for i, p := range points {
			if i == without {
				continue
			}
			for k := 5; k >= 0; k-- {
				c[k] *= -p
				if k > 0 {
					c[k] += c[k-1]
				}
			}
		}
		return c
	}
	for i, p := range points {
		m[winogradInput] = append(m[winogradInput], product(i))
		d := 1.0
		for j, q := range points {
			if j != i {
				d *= p - q
			}
		}
		m[winogradWeights] = append(m[winogradWeights], []float64{1 / d, p / d, p * p / d})
	}
	m[winogradInput] = append(m[winogradInput], product(-1))
	m[winogradWeights] = append(m[winogradWeights], []float64{0, 0, 1})
	for power := range 4 {
		row := make([]float64, 6)
		for i, p := range points {
			row[i] = math.Pow(p, float64(power))
		}
		m[winogradOutput] = append(m[winogradOutput], row)
	}
	m[winogradOutput][3][5] = 1
	return m
}()

// The kernels multiply by the matrices from both sides, and touch nothing else.
func TestWinogradTransforms(t *testing.T) {
	eachWinogradPath(t, func(t *testing.T, pt path) {
		r := rand.New(rand.NewSource(1))
		for kind, m := range winMatrices {
			in, out := len(m[0]), len(m)
			for n := 1; n <= 3; n++ {
				c := n * lanes[float32](pt)
				const gap = 3 // elements between positions that are not the kernel's
				_, src := guarded[float32](in * in * (c + gap))
				for i := range src {
					if i%(c+gap) < c {
						src[i] = float32(r.Float64()*2 - 1)
					}
				}
				_, bias := guarded[float32](c)
				for i := range bias {
					bias[i] = float32(i % 3)
				}
				nan := c / 2 // a channel that is NaN and stays so
				src[nan] = float32(math.NaN())
				whole, dst := guarded[float32](out * out * (c + gap))
				var tmp [36 * 16]float32
				runWinogradTransform(pt, winogradTransform(kind), &winogradArgs{
					dst: unsafe.Pointer(&dst[0]), src: unsafe.Pointer(&src[0]), tmp: unsafe.Pointer(&tmp[0]), n: n,
					row: in * (c + gap) * 4, col: (c + gap) * 4, outRow: out * (c + gap) * 4, outCol: (c + gap) * 4,
					bias: unsafe.Pointer(&bias[0]), lo: 0, hi: 6, consts: unsafe.Pointer(&winogradConsts[kind]),
				})
				checkGuards(t, whole, dst)
				for i, got := range dst {
					pos, ch := i/(c+gap), i%(c+gap)
					if ch >= c {
						if got == got {
							t.Fatalf("kind %d, %d vectors: wrote between positions at %d", kind, n, i)
						}
						continue
					}
					want := 0.0
					for y := range in {
						for x := range in {
							if f := m[pos/out][y] * m[pos%out][x]; f != 0 {
								want += f * float64(src[(y*in+x)*(c+gap)+ch])
							}
						}
					}
					if winogradTransform(kind) == winogradOutput {
						want = min(max(want+float64(bias[ch]), 0), 6)
					}
					if got := float64(got); !(math.Abs(got-want) <= 1e-4) && (got == got || want == want) {
						t.Fatalf("kind %d, %d vectors: position %d of channel %d is %v, want %v", kind, n, pos, ch, got,
							want)
					}
				}
			}
		}
	})
}

// eachWinogradPath runs f on every path that has kernels.
func eachWinogradPath(t *testing.T, f func(t *testing.T, pt path)) {
	defer func(old float64) { winogradGain = old }(winogradGain)
	winogradGain = 0
	for _, l := range cpu.Levels() {
		t.Run(l.Name, func(t *testing.T) {
			defer cpu.Set(l.Features)()
			pt := currentPath()
			if kernelsOf[float32](pt).winograd[winogradInput] == nil {
				t.Skip("no kernels")
			}
			f(t, pt)
		})
	}
}

// Winograd's results lie within a small multiple of the direct kernel's error.
func TestWinograd(t *testing.T) { eachWinogradPath(t, testWinograd) }

func testWinograd(t *testing.T, pt path) {
	for _, s := range []*Shape{
		shape2d(2, 64, 64, 16, 16, 3, 1, 1, 1, 1), shape2d(3, 40, 48, 13, 9, 3, 1, 1, 1, 1),
		shape2d(2, 16, 32, 7, 7, 3, 1, 1, 1, 1),
		shape2d(1, 32, 80, 30, 31, 3, 1, 0, 1, 1), shape2d(9, 48, 144, 15, 14, 3, 1, 1, 1, 1),
		shape2d(21, 32, 192, 7, 5, 3, 1, 1, 1, 2),
		shape2d(2, 96, 64, 9, 10, 3, 1, 1, 1, 2), shape2d(2, 24, 40, 6, 11, 3, 1, 1, 1, 1),
		shape2d(1, 32, 32, 3, 2, 3, 1, 2, 1, 1),
		shape2d(1, 18, 64, 5, 90, 3, 1, 1, 1, 1), shape2d(2, 21, 32, 4, 4, 3, 1, 1, 1, 1),
	} {
		r := rand.New(rand.NewSource(3))
		is, os, cg, og := volume(s.In), volume(s.Out), s.Cin/s.Groups, s.Cout/s.Groups
		xr, gr, wr := values[float32](r, s.N*s.Cin*is), values[float32](r, s.N*s.Cout*os),
			values[float32](r, s.Cout*cg*9)
		for _, last := range []bool{true, false} {
			x, g, w := image[float32](xr, s.N, s.Cin, is, last), image[float32](gr, s.N, s.Cout, os, last),
				Weights[float32](image[float32](wr, s.Cout, cg, 9, last))
			res := image[float32](gr, s.N, s.Cout, os, last)
			ep := Epilogue[float32]{Bias: make([]float32, s.Cout), Residual: res.Data}.ReLU6()
			for i := range ep.Bias {
				ep.Bias[i] = float32(i % 5)
			}
			plain := Epilogue[float32]{Bias: ep.Bias}.ReLU()
			kept := Epilogue[float32]{Packed: &PackedWeights{}}
			for _, c := range []struct {
				name string
				n    int
				run  func(out []float32)
			}{
				{"forward", len(gr), func(out []float32) { Forward(s, Image[float32]{out, last}, x, w, nil) }},
				{"bias and ReLU", len(gr), func(out []float32) { Forward(s, Image[float32]{out, last}, x, w, &plain) }},
				{"residual and ReLU6", len(gr), func(out []float32) {
					Forward(s, Image[float32]{out, last}, x, w,
						&ep)
				}},
				{"weights kept", len(gr), func(out []float32) { Forward(s, Image[float32]{out, last}, x, w, &kept) }},
				{"weights kept, again", len(gr), func(out []float32) {
					Forward(s, Image[float32]{out, last}, x, w,
						&kept)
				}},
				{"gradient of the input", len(xr),
					func(out []float32) { BackwardData(s, Image[float32]{out, last}, g, w, nil) }},
			} {
				what := fmt.Sprintf("%+v, last %v, %s", *s, last, c.name)
				want := make([]float32, c.n)
				c.run(want)
				whole, got := guarded[float32](c.n)
				old := SetWinograd(true)
				c.run(got)
				SetWinograd(old)
				checkGuards(t, whole, got)
				// Sums of about 9·cg products of numbers below one.
				bound := 4e-6 * math.Sqrt(9*float64(max(cg, og)))
				for i := range got {
					if !(math.Abs(float64(got[i]-want[i])) <= bound) {
						t.Fatalf("%s: element %d is %v, direct %v, bound %g", what, i, got[i], want[i], bound)
					}
				}
				if l := lanes[float32](pt); cg >= 16 && cg%l == 0 && og >= 16 && og%l == 0 && slices.Equal(got, want) {
					t.Errorf("%s: the direct kernel was used", what)
				}
			}
		}
	}
}

// Results do not depend on the number of threads, whether tasks share the
// transformed input or not, and are those of a convolution of each image.
func TestWinogradSameBits(t *testing.T) {
	defer par.SetNumThreads(par.NumThreads())
	defer SetWinograd(SetWinograd(true))
	eachWinogradPath(t, func(t *testing.T, _ path) {
		for _, s := range []*Shape{
			shape2d(3, 32, 48, 20, 23, 3, 1, 1, 1, 1), shape2d(11, 528, 64, 7, 7, 3, 1, 1, 1, 1),
			shape2d(2, 96, 64, 9, 10, 3, 1, 1, 1, 2),
		} {
			for _, last := range []bool{true, false} {
				r := rand.New(rand.NewSource(5))
				x := image[float32](values[float32](r, s.N*s.Cin*volume(s.In)), s.N, s.Cin, volume(s.In), last)
				w := image[float32](values[float32](r, s.Cout*s.Cin/s.Groups*s.Taps()), s.Cout, s.Cin/s.Groups,
					s.Taps(), last)
				want := make([]float32, s.N*s.Cout*volume(s.Out))
				one := *s
				one.N = 1
				for i := range s.N {
					a, b := len(want)/s.N, len(x.Data)/s.N
					Forward(&one, Image[float32]{want[i*a : (i+1)*a], last},
						Image[float32]{x.Data[i*b : (i+1)*b], last}, Weights[float32](w), nil)
				}
				for _, threads := range []int{1, 2, 3, 8} {
					par.SetNumThreads(threads)
					got := make([]float32, len(want))
					Forward(s, Image[float32]{got, last}, x, Weights[float32](w), nil)
					if !slices.Equal(got, want) {
						t.Fatalf("%+v, last %v: the result differs at %d threads", *s, last, threads)
					}
				}
			}
		}
	})
}

// It is used where it pays.
func TestWinogradPays(t *testing.T) {
	for _, c := range []struct {
		s    *Shape
		pays bool
	}{
		{shape2d(16, 64, 64, 56, 56, 3, 1, 1, 1, 1), true}, {shape2d(16, 256, 256, 14, 14, 3, 1, 1, 1, 1), true},
		{shape2d(16, 512, 512, 7, 7, 3, 1, 1, 1, 1), true}, {shape2d(1, 512, 512, 7, 7, 3, 1, 1, 1, 1), false},
		{shape2d(16, 16, 16, 5, 5, 3, 1, 1, 1, 1), false},
	} {
		if got := forwardJob(c.s, Image[float32]{}, Image[float32]{}, nil).winogradPays(); got != c.pays {
			t.Errorf("%+v: %v", *c.s, got)
		}
	}
}

// Against sums in float64, Winograd's error is a small multiple of that of the direct kernel, which shows in the largest
// error relative to the largest result.
func TestWinogradAccuracy(t *testing.T) {
	eachWinogradPath(t, func(t *testing.T, _ path) {
		for _, c := range []struct {
			s     *Shape
			least float32 // of the input: 0 is the result of a ReLU
		}{
			{shape2d(1, 64, 64, 28, 28, 3, 1, 1, 1, 1), 0}, {shape2d(1, 256, 32, 14, 14, 3, 1, 1, 1, 1), 0},
			{shape2d(1, 512, 16, 8, 8, 3, 1, 1, 1, 1), 0}, {shape2d(1, 64, 32, 28, 28, 3, 1, 1, 1, 1), -9},
		} {
			r := rand.New(rand.NewSource(7))
			x, x64 := make([]float32, c.s.Cin*volume(c.s.In)), make([]float64, c.s.Cin*volume(c.s.In))
			for i := range x {
				x[i] = max(float32(r.NormFloat64()), c.least)
				x64[i] = float64(x[i])
			}
			w, w64 := make([]float32, c.s.Cout*c.s.Cin*9), make([]float64, c.s.Cout*c.s.Cin*9)
			for i := range w {
				w[i] = float32(r.NormFloat64())
				w64[i] = float64(w[i])
			}
			want := make([]float64, c.s.Cout*volume(c.s.Out))
			Forward(c.s, Image[float64]{want, true}, Image[float64]{x64, true}, Weights[float64]{w64, true}, nil)
			var errors [2]float64
			for i, on := range []bool{false, true} {
				old := SetWinograd(on)
				got := make([]float32, len(want))
				Forward(c.s, Image[float32]{got, true}, Image[float32]{x, true}, Weights[float32]{w, true}, nil)
				SetWinograd(old)
				most := 0.0
				for k := range got {
					errors[i] = max(errors[i], math.Abs(float64(got[k])-want[k]))
					most = max(most, math.Abs(want[k]))
				}
				errors[i] /= most
			}
			if errors[1] > 6*errors[0] || errors[1] > 4e-6 || errors[1] == errors[0] {
				t.Errorf("%+v, inputs from %v on: the largest error is %.2g of the largest result, %.2g directly", *c.s,
					c.least, errors[1], errors[0])
			}
		}
	})
}
