package reduce

import (
	"sync"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
)

// wholeRows is how many rows of integers are added up in lanes of twice their size, which cannot overflow, and as many
// as the first-level cache holds lines of.
const wholeRows = 256

// wholeSum makes the kernel of integers of up to 16 bits, which are widened to int64.
func wholeSum[E vec.Integer]() *kern[E, int64] {
	return &kern[E, int64]{row: sumWhole[E], few: sumFew[E], block: addColumns[E], merge: add[int64],
		joins: vec.AddInt[int64]}
}

func sumWhole[E vec.Integer](acc int64, s []E) int64 { return acc + vec.SumInt(s) }

// sumI32 widens rows before it adds them up.
var sumI32 = &kern[int32, int64]{row: sumWhole[int32], few: sumFew[int32], merge: add[int64], joins: vec.AddInt[int64],
	block: func(acc []int64, s []int32, rows, stride int) {
		buf := wideBuffers.Get().(*[wideRows * colTile]int64)
		cols := len(acc)
		for done, n := 0, 0; done < rows; done += n {
			n = min(len(buf)/cols, rows-done)
			if stride == cols {
				vec.I32ToI64s(buf[:n*cols], s[done*cols:][:n*cols])
			} else {
				for r := range n {
					vec.I32ToI64s(buf[r*cols:][:cols], s[(done+r)*stride:][:cols])
				}
			}
			vec.AddColumnsI64(acc, buf[:], n, cols, cols)
		}
		wideBuffers.Put(buf)
	}}

// wideRows are rows of int32 that are widened at a time, as much as the first-level cache holds; more where they are
// short.
const wideRows = 2

var wideBuffers = sync.Pool{New: func() any { return new([wideRows * colTile]int64) }}

// sumFew adds to each accumulator the few elements of its row.
func sumFew[E vec.Integer](acc []int64, s []E, n, stride int) {
	_ = s[(len(acc)-1)*stride+n-1]
	switch n {
	case 2:
		for i := range acc {
			acc[i] += int64(s[0]) + int64(s[1])
			s = s[min(stride, len(s)):]
		}
	case 3:
		for i := range acc {
			acc[i] += int64(s[0]) + int64(s[1]) + int64(s[2])
			s = s[min(stride, len(s)):]
		}
	default:
		for i := range acc {
			for _, v := range s[:n] {
				acc[i] += int64(v)
			}
			s = s[min(stride, len(s)):]
		}
	}
}

// addColumns adds rows of integers of up to 16 bits, which lie stride apart, to the accumulators: eight bytes of a row
// at a time, of which every other element is a lane of one sum, and the rest are lanes of another.
func addColumns[E vec.Integer](acc []int64, s []E, rows, stride int) {
	size := int(unsafe.Sizeof(E(0)))
	per, bits := 8/size, 8*size
	even := ^uint64(0) / (1<<bits + 1) // the low half of every lane
	sign, bias := uint64(0), int64(0)  // signed numbers are added with their sign bit turned: larger by a bias
	if ^E(0) < 0 {
		sign, bias = (even|even<<bits)/(1<<bits-1)<<(bits-1), 1<<(bits-1)
	}
	_ = s[(rows-1)*stride+len(acc)-1]
	for from := 0; from < rows; from += wholeRows {
		n, s := min(rows-from, wholeRows), s[from*stride:]
		c := 0
		for ; c+per <= len(acc); c += per {
			p := unsafe.Pointer(&s[c])
			var a, b uint64
			for r, at := 0, 0; r < n; r, at = r+1, at+stride*size {
				x := *(*uint64)(unsafe.Add(p, at)) ^ sign
				a += x & even
				b += x >> bits & even
			}
			for i := c; i < c+per; i += 2 {
				acc[i] += int64(a&(1<<(2*bits)-1)) - int64(n)*bias
				acc[i+1] += int64(b&(1<<(2*bits)-1)) - int64(n)*bias
				a, b = a>>(2*bits), b>>(2*bits)
			}
		}
		for ; c < len(acc); c++ {
			for r := range n {
				acc[c] += int64(s[r*stride+c])
			}
		}
	}
}
