package dtype

import (
	"math"
	"runtime"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
)

type number interface {
	~uint8 | ~int8 | ~int16 | ~int32 | ~int64 | ~float32 | ~float64
}

// Converter copies n contiguous elements from src to dst, changing their type. dst and src must not overlap.
type Converter func(dst, src unsafe.Pointer, n int)

var converters [numTypes][numTypes]Converter

// Convert returns the converter from one type to another.
func Convert(dst, src DType) Converter { return converters[dst][src] }

func sl[T any](p unsafe.Pointer, n int) []T { return unsafe.Slice((*T)(p), n) }

func same[T any](d, s unsafe.Pointer, n int) { copy(sl[T](d, n), sl[T](s, n)) }

func num[D, S number](d, s unsafe.Pointer, n int) {
	dd, ss := sl[D](d, n), sl[S](s, n)
	for i, v := range ss {
		dd[i] = D(v)
	}
}

// whole cuts the fraction off. What an int64 cannot hold becomes the smallest one, as x86 processors and with them PyTorch have it; in Go
// that depends on the processor.
func whole[S float32 | float64](v S) int64 {
	if runtime.GOARCH == "amd64" || v >= -1<<63 && v < 1<<63 {
		return int64(v)
	}
	return math.MinInt64
}

// floatToWide converts to int64 and, by way of it, to uint8.
func floatToWide[D int64 | uint8, S float32 | float64](d, s unsafe.Pointer, n int) {
	dd, ss := sl[D](d, n), sl[S](s, n)
	for i, v := range ss {
		dd[i] = D(whole(v))
	}
}

// floatToInt converts by way of int32, the smallest of which stands for all that do not fit it: PyTorch's numbers on x86.
func floatToInt[D int32 | int16 | int8, S float32 | float64](d, s unsafe.Pointer, n int) {
	dd, ss := sl[D](d, n), sl[S](s, n)
	for i, v := range ss {
		w := whole(v)
		if w != int64(int32(w)) {
			w = math.MinInt32
		}
		dd[i] = D(w)
	}
}

func toBool[S number](d, s unsafe.Pointer, n int) {
	dd, ss := sl[uint8](d, n), sl[S](s, n)
	for i, v := range ss {
		var b uint8
		if v != 0 {
			b = 1
		}
		dd[i] = b
	}
}

func toC64[S number](d, s unsafe.Pointer, n int) {
	dd, ss := sl[complex64](d, n), sl[S](s, n)
	for i, v := range ss {
		dd[i] = complex(float32(v), 0)
	}
}

func toC128[S number](d, s unsafe.Pointer, n int) {
	dd, ss := sl[complex128](d, n), sl[S](s, n)
	for i, v := range ss {
		dd[i] = complex(float64(v), 0)
	}
}

func halfTo32(d, s unsafe.Pointer, n int)  { vec.F16ToF32s(sl[float32](d, n), sl[uint16](s, n)) }
func bf16To32(d, s unsafe.Pointer, n int)  { vec.BF16ToF32s(sl[float32](d, n), sl[uint16](s, n)) }
func f32ToHalf(d, s unsafe.Pointer, n int) { vec.F32ToF16s(sl[uint16](d, n), sl[float32](s, n)) }
func f32ToBF16(d, s unsafe.Pointer, n int) { vec.F32ToBF16s(sl[uint16](d, n), sl[float32](s, n)) }

func u8To32(d, s unsafe.Pointer, n int) { vec.U8ToF32s(sl[float32](d, n), sl[uint8](s, n)) }

// via converts through an intermediate type in blocks that stay in the cache.
func via(first, second Converter, mid DType, from, to DType) Converter {
	const block = 512
	ms, fs, ts := mid.Size(), from.Size(), to.Size()
	return func(d, s unsafe.Pointer, n int) {
		var buf [block * 16 / 8]uint64
		p := unsafe.Pointer(&buf[0])
		for n > 0 {
			k := min(n, block*16/ms)
			first(p, s, k)
			second(d, p, k)
			s, d, n = unsafe.Add(s, k*fs), unsafe.Add(d, k*ts), n-k
		}
	}
}

func fromReal[S number](s DType) {
	c := &converters
	c[Bool][s] = toBool[S]
	c[Uint8][s] = num[uint8, S]
	c[Int8][s] = num[int8, S]
	c[Int16][s] = num[int16, S]
	c[Int32][s] = num[int32, S]
	c[Int64][s] = num[int64, S]
	c[Float32][s] = num[float32, S]
	c[Float64][s] = num[float64, S]
	c[Complex64][s] = toC64[S]
	c[Complex128][s] = toC128[S]
}

func fromFloat[S float32 | float64](s DType) {
	fromReal[S](s)
	c := &converters
	c[Uint8][s] = floatToWide[uint8, S]
	c[Int8][s] = floatToInt[int8, S]
	c[Int16][s] = floatToInt[int16, S]
	c[Int32][s] = floatToInt[int32, S]
	c[Int64][s] = floatToWide[int64, S]
}

func init() {
	c := &converters
	fromReal[uint8](Bool)
	fromReal[uint8](Uint8)
	fromReal[int8](Int8)
	fromReal[int16](Int16)
	fromReal[int32](Int32)
	fromReal[int64](Int64)
	fromFloat[float32](Float32)
	fromFloat[float64](Float64)
	c[Bool][Bool], c[Uint8][Uint8] = same[uint8], same[uint8]
	for _, d := range []DType{Float32, Float64, Int64, Int32, Int16, Int8} {
		d := d
		size := d.Size()
		c[d][d] = func(p, q unsafe.Pointer, n int) { copy(sl[byte](p, n*size), sl[byte](q, n*size)) }
	}
	c[Uint8][Bool], c[Int8][Uint8], c[Uint8][Int8], c[Int8][Bool] = same[uint8], same[uint8], same[uint8], same[uint8]
	// What has a vector kernel.
	c[Bool][Float32] = func(p, q unsafe.Pointer, n int) { vec.NeScalarF32(sl[uint8](p, n), sl[float32](q, n), 0) }
	c[Bool][Float64] = func(p, q unsafe.Pointer, n int) { vec.NeScalarF64(sl[uint8](p, n), sl[float64](q, n), 0) }
	c[Float32][Bool], c[Float32][Uint8] = u8To32, u8To32
	c[Float32][Int8] = func(p, q unsafe.Pointer, n int) { vec.I8ToF32s(sl[float32](p, n), sl[int8](q, n)) }
	c[Float32][Int32] = func(p, q unsafe.Pointer, n int) { vec.I32ToF32s(sl[float32](p, n), sl[int32](q, n)) }
	c[Float32][Float64] = func(p, q unsafe.Pointer, n int) { vec.F64ToF32s(sl[float32](p, n), sl[float64](q, n)) }
	c[Float64][Float32] = func(p, q unsafe.Pointer, n int) { vec.F32ToF64s(sl[float64](p, n), sl[float32](q, n)) }
	c[Float16][Float16], c[BFloat16][BFloat16] = same[uint16], same[uint16]
	c[Complex64][Complex64], c[Complex128][Complex128] = same[complex64], same[complex128]
	c[Complex128][Complex64] = func(p, q unsafe.Pointer, n int) { num[float64, float32](p, q, 2*n) }
	c[Complex64][Complex128] = func(p, q unsafe.Pointer, n int) { num[float32, float64](p, q, 2*n) }
	c[Float32][Complex64] = func(p, q unsafe.Pointer, n int) {
		d, s := sl[float32](p, n), sl[complex64](q, n)
		for i, v := range s {
			d[i] = real(v)
		}
	}
	c[Float64][Complex128] = func(p, q unsafe.Pointer, n int) {
		d, s := sl[float64](p, n), sl[complex128](q, n)
		for i, v := range s {
			d[i] = real(v)
		}
	}
	c[Bool][Complex64] = func(p, q unsafe.Pointer, n int) {
		d, s := sl[uint8](p, n), sl[complex64](q, n)
		for i, v := range s {
			d[i] = 0
			if v != 0 {
				d[i] = 1
			}
		}
	}
	c[Bool][Complex128] = func(p, q unsafe.Pointer, n int) {
		d, s := sl[uint8](p, n), sl[complex128](q, n)
		for i, v := range s {
			d[i] = 0
			if v != 0 {
				d[i] = 1
			}
		}
	}
	for _, d := range []DType{Uint8, Int8, Int16, Int32, Int64, Float64} {
		c[d][Complex64] = via(c[Float32][Complex64], c[d][Float32], Float32, Complex64, d)
	}
	for _, d := range []DType{Uint8, Int8, Int16, Int32, Int64, Float32} {
		c[d][Complex128] = via(c[Float64][Complex128], c[d][Float64], Float64, Complex128, d)
	}
	c[Float32][Float16], c[Float32][BFloat16] = halfTo32, bf16To32
	c[Float16][Float32], c[BFloat16][Float32] = f32ToHalf, f32ToBF16
	for _, h := range []DType{Float16, BFloat16} {
		for _, d := range All {
			if d != h && d != Float32 {
				c[d][h] = via(c[Float32][h], c[d][Float32], Float32, h, d)
				if c[Float32][d] == nil { // the other 16-bit type, not filled yet
					continue
				}
				c[h][d] = via(c[Float32][d], c[h][Float32], Float32, d, h)
			}
		}
	}
}
