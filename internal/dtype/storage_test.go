package dtype

import (
	"math"
	"slices"
	"testing"
)

func TestEveryPairConverts(t *testing.T) {
	for _, a := range All {
		for _, b := range All {
			if Convert(a, b) == nil {
				t.Errorf("no converter to %s from %s", a, b)
			}
		}
	}
}

// Bytes that PyTorch 2.15 makes of these numbers, and back.
func TestFloat8(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	in := []float32{0, float32(math.Copysign(0, -1)), 1, -1.5, 0.1, 448, 464, 500, 57344, 65535, 240, 250, 0x1p-9,
		0x1p-10, 0x3p-11, 0x1p-16, -0x1p-17, 3, 6, 1e-45, inf, -inf, nan}
	for dt, want := range map[DType][]uint8{
		Float8E4M3FN: {0, 128, 56, 188, 29, 126, 126, 126, 126, 126, 119, 120, 1, 0, 1, 0, 128, 68, 76, 0, 126, 254, 127},
		Float8E5M2:   {0, 128, 60, 190, 46, 95, 95, 96, 123, 124, 92, 92, 24, 20, 22, 1, 128, 66, 70, 0, 124, 252, 127},
		Float8E4M3FNUZ: {0, 0, 64, 196, 37, 128, 128, 128, 128, 128, 127, 128, 2, 1, 2, 0, 0, 76, 84, 0, 128, 128,
			128},
		Float8E5M2FNUZ: {0, 0, 64, 194, 50, 99, 99, 100, 127, 128, 96, 96, 28, 24, 26, 2, 129, 70, 74, 0, 128, 128,
			128},
		Float8E8M0FNU: {0, 0, 127, 128, 124, 136, 136, 136, 143, 143, 135, 135, 118, 117, 118, 111, 110, 129, 130, 0,
			255, 255, 255},
	} {
		if got := converted[uint8](dt, Float32, in); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", dt, got, want)
		}
		// every number is itself again
		all := make([]uint8, 256)
		for i := range all {
			all[i] = uint8(i)
		}
		wide := converted[float32](Float32, dt, all)
		for i, b := range converted[uint8](dt, Float32, wide) {
			if b != uint8(i) && wide[i] == wide[i] {
				t.Errorf("%s: byte %#x is %g, which is byte %#x", dt, i, wide[i], b)
			}
		}
	}
}

func TestUnsigned(t *testing.T) {
	in := []float64{-1.5, 1e19, 3e19, 70000, 5e9, 9.3e18, math.NaN()}
	if got := converted[uint16](Uint16, Float64, in); !slices.Equal(got, []uint16{65535, 0, 0, 4464, 0, 0, 0}) {
		t.Errorf("uint16 %v", got)
	}
	if got := converted[uint32](Uint32, Float64, in); !slices.Equal(got, []uint32{math.MaxUint32, 0, 0, 70000, 0, 0,
		1 << 31}) {
		t.Errorf("uint32 %v", got)
	}
	if got := converted[uint64](Uint64, Float64, in); !slices.Equal(got, []uint64{math.MaxUint64, 1e19, 0, 70000, 5e9,
		9.3e18, 1 << 63}) {
		t.Errorf("uint64 %v", got)
	}
	if got := converted[float64](Float64, Uint64, []uint64{1 << 63, math.MaxUint64}); got[0] != 1<<63 || got[1] != 1<<64 {
		t.Errorf("float64 %v", got)
	}
	if got := converted[int8](Int8, Uint32, []uint32{255, 128, 70000}); !slices.Equal(got, []int8{-1, -128, 112}) {
		t.Errorf("int8 %v", got)
	}
	if got := converted[uint16](Uint16, Int8, []int8{-1, 5}); !slices.Equal(got, []uint16{65535, 5}) {
		t.Errorf("uint16 of int8 %v", got)
	}
}

func TestComplexHalf(t *testing.T) {
	in := []complex64{1 - 2i, complex(70000, 0.1), complex(float32(math.Inf(-1)), 3)}
	h := converted[[2]Float16Bits](Complex32, Complex64, in)
	want := []complex128{1 - 2i, complex(math.Inf(1), 0.0999755859375), complex(math.Inf(-1), 3)}
	if got := converted[complex128](Complex128, Complex32, h); !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	if got := converted[float32](Float32, Complex32, h); got[0] != 1 || got[2] != float32(math.Inf(-1)) {
		t.Errorf("real parts %v", got)
	}
}
