package dtype

import (
	"math"
	"slices"
	"testing"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu"
)

func converted[D, S any](to, from DType, src []S) []D {
	dst := make([]D, len(src))
	Convert(to, from)(unsafe.Pointer(&dst[0]), unsafe.Pointer(&src[0]), len(src))
	return dst
}

// Floats that an integer type cannot hold become what PyTorch makes of them on x86, on every processor.
func TestFloatsBeyondIntegers(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	in := []float64{inf, -inf, nan, 1e10, -1e10, 9.3e18, 300, -300, 70000, 2.9, -2.9, 2147483647, 2147483648,
		-2147483649, 255.9}
	const least32, least64 = math.MinInt32, math.MinInt64
	i64 := []int64{least64, least64, least64, 1e10, -1e10, least64, 300, -300, 70000, 2, -2, 2147483647, 2147483648,
		-2147483649, 255}
	i32 := []int32{least32, least32, least32, least32, least32, least32, 300, -300, 70000, 2, -2, 2147483647, least32,
		least32, 255}
	i16 := []int16{0, 0, 0, 0, 0, 0, 300, -300, 4464, 2, -2, -1, 0, 0, 255}
	i8 := []int8{0, 0, 0, 0, 0, 0, 44, -44, 112, 2, -2, -1, 0, 0, -1}
	u8 := []uint8{0, 0, 0, 0, 0, 0, 44, 212, 112, 2, 254, 255, 0, 255, 255}
	if got := converted[int64](Int64, Float64, in); !slices.Equal(got, i64) {
		t.Errorf("int64 %v", got)
	}
	if got := converted[int32](Int32, Float64, in); !slices.Equal(got, i32) {
		t.Errorf("int32 %v", got)
	}
	if got := converted[int16](Int16, Float64, in); !slices.Equal(got, i16) {
		t.Errorf("int16 %v", got)
	}
	if got := converted[int8](Int8, Float64, in); !slices.Equal(got, i8) {
		t.Errorf("int8 %v", got)
	}
	if got := converted[uint8](Uint8, Float64, in); !slices.Equal(got, u8) {
		t.Errorf("uint8 %v", got)
	}
	narrow := converted[float32](Float32, Float64, in)
	if got := converted[int32](Int32, Float32, narrow); got[0] != least32 || got[3] != least32 || got[11] != least32 ||
		got[6] != 300 {
		t.Errorf("float32 to int32 %v", got)
	}
}

// pair checks one pair of types on numbers at the ends of the source's range and around 0, in runs that leave a rest.
func pair[D, S number](t *testing.T, to, from DType) {
	for n := 1; n < 70; n++ {
		src, want := make([]S, n), make([]D, n)
		for i := range src {
			// The highest bits of a product change with every i.
			src[i] = S(int64(uint64(i+n)*0x9e3779b97f4a7c15) >> (i % 64))
			want[i] = D(src[i])
			if to == Bool {
				want[i] = D(map[bool]int{true: 1}[src[i] != 0])
			}
		}
		if got := converted[D](to, from, src); !slices.Equal(got, want) {
			t.Fatalf("%v from %v: %v becomes %v, want %v", to, from, src, got, want)
		}
	}
}

func pairs[S int8 | uint8 | int16 | int32 | int64](t *testing.T, from DType) {
	pair[uint8, S](t, Bool, from)
	pair[uint8, S](t, Uint8, from)
	pair[int8, S](t, Int8, from)
	pair[int16, S](t, Int16, from)
	pair[int32, S](t, Int32, from)
	pair[int64, S](t, Int64, from)
	pair[float32, S](t, Float32, from)
	pair[float64, S](t, Float64, from)
}

func TestIntegers(t *testing.T) {
	for _, l := range cpu.Levels() {
		t.Run(l.Name, func(t *testing.T) {
			defer cpu.Set(l.Features)()
			pairs[uint8](t, Uint8)
			pairs[int8](t, Int8)
			pairs[int16](t, Int16)
			pairs[int32](t, Int32)
			pairs[int64](t, Int64)
		})
	}
}

// A number without an imaginary part.
func TestRealToComplex(t *testing.T) {
	for _, c := range converted[complex64](Complex64, Float32, []float32{1, -2, float32(math.Inf(1)), 4, 5}) {
		if imag(c) != 0 || real(c) == 0 {
			t.Errorf("%v", c)
		}
	}
	if got := converted[complex64](Complex64, Int16, []int16{-7, 300, 5}); got[0] != -7 || got[1] != 300 ||
		got[2] != 5 {
		t.Errorf("%v", got)
	}
}
