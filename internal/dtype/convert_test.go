package dtype

import (
	"math"
	"slices"
	"testing"
	"unsafe"
)

func converted[D, S any](to, from DType, src []S) []D {
	dst := make([]D, len(src))
	Convert(to, from)(unsafe.Pointer(&dst[0]), unsafe.Pointer(&src[0]), len(src))
	return dst
}

// Floats that an integer type cannot hold become what PyTorch makes of them on x86, on every processor.
func TestFloatsBeyondIntegers(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	in := []float64{inf, -inf, nan, 1e10, -1e10, 9.3e18, 300, -300, 70000, 2.9, -2.9, 2147483647, 2147483648, -2147483649, 255.9}
	const least32, least64 = math.MinInt32, math.MinInt64
	i64 := []int64{least64, least64, least64, 1e10, -1e10, least64, 300, -300, 70000, 2, -2, 2147483647, 2147483648, -2147483649, 255}
	i32 := []int32{least32, least32, least32, least32, least32, least32, 300, -300, 70000, 2, -2, 2147483647, least32, least32, 255}
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
	if got := converted[int32](Int32, Float32, narrow); got[0] != least32 || got[3] != least32 || got[11] != least32 || got[6] != 300 {
		t.Errorf("float32 to int32 %v", got)
	}
}
