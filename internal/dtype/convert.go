package dtype

import (
	"sync"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
)

type number interface {
	~uint8 | ~int8 | ~int16 | ~int32 | ~int64 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
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

// ints fills in the pairs of integers and those of integers and floats that have kernels.
func ints() {
	c := &converters
	for _, s := range []DType{Bool, Uint8} {
		c[Int16][s], c[Int32][s], c[Int64][s], c[Float32][s], c[Float64][s] = by(vec.U8ToI16s), by(vec.U8ToI32s),
			by(vec.U8ToI64s), by(vec.U8ToF32s), by(vec.U8ToF64s)
	}
	c[Int16][Int8], c[Int32][Int8], c[Int64][Int8], c[Float32][Int8], c[Float64][Int8] = by(vec.I8ToI16s),
		by(vec.I8ToI32s), by(vec.I8ToI64s), by(vec.I8ToF32s), by(vec.I8ToF64s)
	c[Int32][Int16], c[Int64][Int16], c[Float32][Int16], c[Float64][Int16] = by(vec.I16ToI32s), by(vec.I16ToI64s),
		by(vec.I16ToF32s), by(vec.I16ToF64s)
	c[Int64][Int32], c[Float32][Int32], c[Float64][Int32] = by(vec.I32ToI64s), by(vec.I32ToF32s), by(vec.I32ToF64s)
	c[Float32][Int64], c[Float64][Int64] = by(vec.I64ToF32s), by(vec.I64ToF64s)
	c[Int16][Int32], c[Int16][Int64], c[Int32][Int64] = by(vec.I32ToI16s), by(vec.I64ToI16s), by(vec.I64ToI32s)
	for _, d := range []DType{Uint8, Int8} { // the low byte, whatever its sign
		c[d][Int16], c[d][Int32], c[d][Int64] = by(vec.I16ToU8s), by(vec.I32ToU8s), by(vec.I64ToU8s)
	}
	c[Uint8][Float32], c[Int8][Float32], c[Int16][Float32], c[Int32][Float32] = by(vec.F32ToU8s), by(vec.F32ToI8s),
		by(vec.F32ToI16s), by(vec.F32ToI32s)
	c[Uint8][Float64], c[Int8][Float64], c[Int16][Float64], c[Int32][Float64] = by(vec.F64ToU8s), by(vec.F64ToI8s),
		by(vec.F64ToI16s), by(vec.F64ToI32s)
	c[Int64][Float32], c[Int64][Float64] = by(vec.F32ToI64s), by(vec.F64ToI64s)
	c[Bool][Uint8], c[Bool][Int8], c[Bool][Int16], c[Bool][Int32], c[Bool][Int64] = by(vec.NonzeroInt[uint8]),
		by(vec.NonzeroInt[int8]), by(vec.NonzeroInt[int16]), by(vec.NonzeroInt[int32]), by(vec.NonzeroInt[int64])
}

func toC128[S number](d, s unsafe.Pointer, n int) {
	dd, ss := sl[complex128](d, n), sl[S](s, n)
	for i, v := range ss {
		dd[i] = complex(float64(v), 0)
	}
}

// by makes a converter of a kernel.
func by[D, S any](k func(d []D, s []S)) Converter {
	return func(d, s unsafe.Pointer, n int) { k(sl[D](d, n), sl[S](s, n)) }
}

// block is the number of the largest elements that are converted at a time.
const block = 512

// viaBuffers lend their memory: new one would have to be cleared at every call.
var viaBuffers = sync.Pool{New: func() any { return new([block * 16 / 8]uint64) }}

// via converts through an intermediate type in blocks that stay in the cache.
func via(first, second Converter, mid DType, from, to DType) Converter {
	ms, fs, ts := mid.Size(), from.Size(), to.Size()
	return func(d, s unsafe.Pointer, n int) {
		buf := viaBuffers.Get().(*[block * 16 / 8]uint64)
		defer viaBuffers.Put(buf)
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
	c[Complex128][s] = toC128[S]
}

func init() {
	c := &converters
	fromReal[uint8](Bool)
	fromReal[uint8](Uint8)
	fromReal[int8](Int8)
	fromReal[int16](Int16)
	fromReal[int32](Int32)
	fromReal[int64](Int64)
	fromReal[float32](Float32)
	fromReal[float64](Float64)
	c[Bool][Bool], c[Uint8][Uint8] = same[uint8], same[uint8]
	for _, d := range []DType{Float32, Float64, Int64, Int32, Int16, Int8} {
		d := d
		size := d.Size()
		c[d][d] = func(p, q unsafe.Pointer, n int) { copy(sl[byte](p, n*size), sl[byte](q, n*size)) }
	}
	c[Uint8][Bool], c[Int8][Uint8], c[Uint8][Int8], c[Int8][Bool] = same[uint8], same[uint8], same[uint8], same[uint8]
	// What has a vector kernel. Floats become integers as PyTorch has them on x86: what does not fit int32 (for uint8
	// and int64: int64) is the smallest one, of which the narrower types take the low bits.
	ints()
	c[Bool][Float32] = func(p, q unsafe.Pointer, n int) { vec.NeScalarF32(sl[uint8](p, n), sl[float32](q, n), 0) }
	c[Bool][Float64] = func(p, q unsafe.Pointer, n int) { vec.NeScalarF64(sl[uint8](p, n), sl[float64](q, n), 0) }
	c[Float32][Float64], c[Float64][Float32] = by(vec.F64ToF32s), by(vec.F32ToF64s)
	c[Float16][Float16], c[BFloat16][BFloat16] = same[uint16], same[uint16]
	c[Complex64][Complex64], c[Complex128][Complex128] = same[complex64], same[complex128]
	c[Complex128][Complex64] = func(p, q unsafe.Pointer,
		n int) {
		vec.F32ToF64s(sl[float64](p, 2*n), sl[float32](q, 2*n))
	}
	c[Complex64][Complex128] = func(p, q unsafe.Pointer,
		n int) {
		vec.F64ToF32s(sl[float32](p, 2*n), sl[float64](q, 2*n))
	}
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
	// A complex number without an imaginary part is a float and a zero.
	c[Complex64][Float32] = by(vec.U32ToU64s)
	for _, s := range []DType{Bool, Uint8, Int8, Int16, Int32, Int64, Float64} {
		c[Complex64][s] = via(c[Float32][s], c[Complex64][Float32], Float32, s, Complex64)
	}
	c[Float32][Float16], c[Float32][BFloat16] = by(vec.F16ToF32s), by(vec.BF16ToF32s)
	c[Float16][Float32], c[BFloat16][Float32] = by(vec.F32ToF16s), by(vec.F32ToBF16s)
	for _, h := range []DType{Float16, BFloat16} {
		for _, d := range All {
			if d != h && d != Float32 && !d.IsStorage() {
				c[d][h] = via(c[Float32][h], c[d][Float32], Float32, h, d)
				if c[Float32][d] == nil { // the other 16-bit type, not filled yet
					continue
				}
				c[h][d] = via(c[Float32][d], c[h][Float32], Float32, d, h)
			}
		}
	}
	c[Bool][Float16], c[Bool][BFloat16] = by(vec.F16ToBools), by(vec.BF16ToBools)
	storageTypes()
}
