package quant

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// nan, inf and the like stand among ordinary numbers.
var unusual = []float32{0, float32(math.Copysign(0, -1)), float32(math.NaN()), float32(math.Inf(1)),
	float32(math.Inf(-1)), 2147483520, 2147483648, -2147483648, -2147483904, 3e38, -3e38, 1e-40, 0.5, 1.5, 2.5, -0.5,
	-1.5}

func numbers(r *rand.Rand, n int, spread float32) []float32 {
	x := make([]float32, n)
	for i := range x {
		if x[i] = (r.Float32() - 0.5) * spread; i%7 == 0 {
			x[i] = unusual[r.IntN(len(unusual))]
		}
	}
	return x
}

// rounded is the rule for one number: the quotient becomes an int32 as the processor converts it, but that NaN and what
// is too large become the largest float32 that int32 holds; the zero point is added with 32 bits; the sum is limited.
func rounded(x, scale float32, zero int, lo, hi int32) int32 {
	y := x * (1 / scale)
	q := int32(math.MinInt32)
	switch {
	case !(y < 2147483520):
		q = 2147483520
	case y >= math.MinInt32:
		q = int32(math.RoundToEven(float64(y)))
	}
	return min(max(q+int32(zero), lo), hi)
}

func TestQuantize(t *testing.T) {
	eachPath(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(5, 6))
		for _, n := range []int{0, 1, 15, 16, 63, 64, 65, 1000, 2*partSize + 5} {
			for _, c := range []struct {
				scale float32
				zero  int
			}{{1, 0}, {0.1, 3}, {0.003, 128}, {7, 255}, {1e-9, 200}, {0.02, -100}, {0.02, -128}} {
				x := numbers(r, n, c.scale*600)
				u, s, div := make([]uint8, n), make([]int8, n), make([]uint8, n)
				Quantize(u, x, c.scale, c.zero)
				Quantize(s, x, c.scale, c.zero)
				QuantizeDiv(div, x, c.scale, c.zero)
				for i, v := range x {
					if want := rounded(v, c.scale, c.zero, 0, 255); int32(u[i]) != want {
						t.Fatalf("quint8(%v), scale %v, zero %d: got %d, want %d", v, c.scale, c.zero, u[i], want)
					}
					if want := rounded(v, c.scale, c.zero, -128, 127); int32(s[i]) != want {
						t.Fatalf("qint8(%v), scale %v, zero %d: got %d, want %d", v, c.scale, c.zero, s[i], want)
					}
					want := 0. // of NaN, as in ONNX Runtime
					if v == v {
						want = clip(float64(Round(v/c.scale)+float32(c.zero)), 0, 255)
					}
					if float64(div[i]) != want {
						t.Fatalf("%v/%v + %d: got %d, want %v", v, c.scale, c.zero, div[i], want)
					}
				}
				f := make([]float32, n)
				Dequantize(f, s, c.scale, c.zero)
				for i, q := range s {
					if want := c.scale * float32(int(q)-c.zero); f[i] != want {
						t.Fatalf("dequantized %d: got %v, want %v", q, f[i], want)
					}
				}
			}
		}
	})
}

// number is what a quantized one stands for.
func number[T int8 | uint8](q T, o Operand[T]) float32 { return o.Scale * float32(int(q)-o.Zero) }

func testBinary[T int8 | uint8](t *testing.T, lo, hi int32) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, n := range []int{0, 1, 33, 500} {
		for _, relu := range []bool{false, true} {
			for _, scale := range []float32{0.05, 1e-10} {
				a := Operand[T]{Data: make([]T, n), Scale: 0.03, Zero: 7}
				b := Operand[T]{Data: make([]T, n), Scale: 0.011, Zero: 90}
				for i := range n {
					a.Data[i], b.Data[i] = T(r.IntN(256)), T(r.IntN(256))
				}
				const zero = 20
				least := lo
				if relu {
					least = zero
				}
				rounding := RoundingOf[T](scale, zero, relu)
				for _, c := range []struct {
					name string
					run  func(dst []T)
					want func(x, y float32) float32
				}{
					{"add", func(dst []T) { Add(dst, a, b, rounding) }, func(x, y float32) float32 { return x + y }},
					{"mul", func(dst []T) { Mul(dst, a, b, rounding) }, func(x, y float32) float32 { return x * y }},
					{"requantize", func(dst []T) { Requantize(dst, a.Data, a.Scale, a.Zero, rounding) },
						func(x, _ float32) float32 { return x }},
				} {
					dst := make([]T, n)
					c.run(dst)
					for i := range dst {
						y := c.want(number(a.Data[i], a), number(b.Data[i], b))
						if relu {
							y = max(y, 0)
						}
						if want := rounded(y, scale, zero, least, hi); int32(dst[i]) != want {
							t.Fatalf("%s of %d and %d, relu %v, scale %v: got %d, want %d", c.name, a.Data[i],
								b.Data[i], relu, scale, dst[i], want)
						}
					}
				}
			}
		}
	}
}

func TestBinary(t *testing.T) {
	eachPath(t, func(t *testing.T) {
		testBinary[uint8](t, 0, 255)
		testBinary[int8](t, -128, 127)
	})
}

func TestRange(t *testing.T) {
	for _, n := range []int{0, 1, 100, partSize, 3*partSize + 1} {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(i%1000) - 300
		}
		wantLo, wantHi := float32(0), float32(0)
		if n > 0 {
			x[n-1] = 5000
			wantLo, wantHi = slices.Min(x), slices.Max(x)
		}
		if lo, hi := Range(x); lo != wantLo || hi != wantHi {
			t.Errorf("%d numbers: got %v..%v, want %v..%v", n, lo, hi, wantLo, wantHi)
		}
		if n > 0 {
			x[n/2] = float32(math.NaN())
			if lo, hi := Range(x); lo == lo || hi == hi {
				t.Errorf("with NaN among %d numbers: got %v..%v", n, lo, hi)
			}
		}
	}
}

func TestMaxPool(t *testing.T) {
	eachPath(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(9, 10))
		for _, c := range []struct {
			channels, h, w, kernel, stride, pad int
		}{{1, 5, 5, 2, 2, 0}, {3, 7, 6, 3, 2, 1}, {70, 4, 9, 3, 1, 1}, {16, 1, 1, 3, 1, 1}} {
			g := &Geometry{Batch: 2, Channels: c.channels, Groups: 1, In: [3]int{1, c.h, c.w},
				Kernel: [3]int{1, c.kernel, c.kernel}, Stride: [3]int{1, c.stride, c.stride},
				Pad:     [3]int{0, c.pad, c.pad},
				Dilated: [3]int{1, 1, 1}}
			for d := range 3 {
				g.Out[d] = (g.In[d]+2*g.Pad[d]-g.Kernel[d])/g.Stride[d] + 1
			}
			src := make([]int8, 2*volume(g.In)*c.channels)
			for i := range src {
				src[i] = int8(r.IntN(256))
			}
			dst := make([]int8, 2*volume(g.Out)*c.channels)
			MaxPool(g, dst, src)
			for i, got := range dst {
				ch, p, n := i%c.channels, i/c.channels%volume(g.Out), i/c.channels/volume(g.Out)
				want := int8(-128)
				for a := range c.kernel {
					for b := range c.kernel {
						y, x := p/g.Out[2]*c.stride-c.pad+a, p%g.Out[2]*c.stride-c.pad+b
						if y >= 0 && x >= 0 && y < c.h && x < c.w {
							want = max(want, src[((n*c.h+y)*c.w+x)*c.channels+ch])
						}
					}
				}
				if got != want {
					t.Fatalf("%+v: element %d is %d, want %d", c, i, got, want)
				}
			}
		}
	})
}

func TestAveragePool(t *testing.T) {
	eachPath(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(11, 12))
		for _, c := range []struct {
			batch, channels         int
			in, kernel, stride, pad [2]int
		}{{1, 1, [2]int{1, 1}, [2]int{1, 1}, [2]int{1, 1}, [2]int{}},
			{2, 40, [2]int{7, 7}, [2]int{7, 7}, [2]int{1, 1}, [2]int{}},
			{1, 33, [2]int{10, 20}, [2]int{10, 20}, [2]int{1, 1}, [2]int{}},
			{2, 5, [2]int{6, 7}, [2]int{3, 2}, [2]int{2, 1}, [2]int{1, 1}},
			{1, 35, [2]int{5, 6}, [2]int{3, 3}, [2]int{1, 2}, [2]int{1, 1}}} {
			g := &Geometry{Batch: c.batch, Channels: c.channels, In: [3]int{1, c.in[0], c.in[1]},
				Kernel: [3]int{1, c.kernel[0], c.kernel[1]}, Stride: [3]int{1, c.stride[0], c.stride[1]},
				Pad: [3]int{0, c.pad[0], c.pad[1]}, Out: [3]int{1, 1, 1}}
			for d := range 2 {
				g.Out[1+d] = (c.in[d]+2*c.pad[d]-c.kernel[d])/c.stride[d] + 1
			}
			src := make([]uint8, c.batch*c.in[0]*c.in[1]*c.channels)
			for i := range src {
				src[i] = uint8(r.IntN(256))
			}
			dst := make([]uint8, c.batch*g.Out[1]*g.Out[2]*c.channels)
			AveragePool(g, dst, src, func(sum, count int) uint8 { return uint8(sum / count) })
			for i, got := range dst {
				ch, at := i%c.channels, i/c.channels
				n, y, x := at/(g.Out[1]*g.Out[2]), at/g.Out[2]%g.Out[1], at%g.Out[2]
				sum, count := 0, 0
				for a := range c.kernel[0] {
					for b := range c.kernel[1] {
						yi, xi := y*c.stride[0]-c.pad[0]+a, x*c.stride[1]-c.pad[1]+b
						if yi >= 0 && xi >= 0 && yi < c.in[0] && xi < c.in[1] {
							sum += int(src[((n*c.in[0]+yi)*c.in[1]+xi)*c.channels+ch])
							count++
						}
					}
				}
				if want := uint8(sum / count); got != want {
					t.Fatalf("%+v: element %d is %d, want %d", c, i, got, want)
				}
			}
		}
	})
}
