package quant

import (
	"sync/atomic"
	"unsafe"
)

// Weights are the weights of a product, packed for its kernels: columns of bytes, one column for each element of a row
// of the result. A column is runs of adjacent bytes. Weights do not change; several goroutines may use them.
type Weights struct {
	N            int // columns
	Runs, Length int // of a column, and bytes in each run
	depthwise    bool
	steps        int // groups of four bytes in a run
	strips       int // of tileCols columns
	b            []int8
	// The slices below have an element for each column of each strip.
	sums   []int32 // of each column's bytes
	zeros  []int32
	scales []float32
	bias   []float32
	base   []int32 // what is added to the sums of each column; nil: 0
	single bool    // one scale for all columns
	plain  bool    // all zero points are 0
	// For depth3, whose channels have an order of their own (depth3Channel): the three bytes of a column of the window
	// and a zero for each channel.
	columns []int8
	ones    []int8 // a strip whose first column has a 1 for each byte: the sum of a row; nil where plain

	last atomic.Pointer[finishing] // what the call before needed
}

// Columns are the weights to be packed.
type Columns struct {
	N, Runs, Length int
	// At is byte i of run r of column c.
	At     func(c, r, i int) int8
	Scales []float32 // of each column, or one for all
	Zeros  []int32   // of each column; nil: 0
	Bias   []float32 // of each column; nil: 0
	// IntBias is added to the sums of each column; nil: 0. It takes the place of Bias.
	IntBias []int32
	// Depthwise says that column c is multiplied by byte c of each run of a row: a column has one byte in each run.
	Depthwise bool
}

// Pack packs weights.
func Pack(c *Columns) *Weights {
	w := &Weights{N: c.N, Runs: c.Runs, Length: c.Length, depthwise: c.Depthwise, steps: max(1, (c.Length+3)/4),
		strips: (c.N + tileCols - 1) / tileCols, single: len(c.Scales) == 1, plain: true}
	n := w.strips * tileCols
	w.sums, w.zeros = make([]int32, n), make([]int32, n)
	w.scales, w.bias = make([]float32, n), make([]float32, n)
	copy(w.bias, c.Bias)
	if c.IntBias != nil {
		w.base = make([]int32, n)
		copy(w.base, c.IntBias)
	}
	w.b = aligned(w.strips * w.stripBytes())
	for j := range c.N {
		w.scales[j] = c.Scales[min(j, len(c.Scales)-1)]
		if c.Zeros != nil {
			w.zeros[j] = c.Zeros[j]
			w.plain = w.plain && c.Zeros[j] == 0
		}
		strip, col := w.b[j/tileCols*w.stripBytes():], j%tileCols
		for r := range c.Runs {
			for i := range c.Length {
				v := c.At(j, r, i)
				strip[((r*w.steps+i/4)*tileCols+col)*4+i%4] = v
				w.sums[j] += int32(v)
			}
		}
	}
	if w.depthwise && w.Runs == 9 {
		w.columns = aligned((c.N + depth3Cols - 1) / depth3Cols * depth3Strip)
		for i := range len(w.columns) / 4 {
			strip, tap, at := i/(3*depth3Cols), i/depth3Cols%3, i%depth3Cols
			if j := strip*depth3Cols + depth3Channel(at); j < c.N {
				for row := range 3 {
					w.columns[i*4+row] = c.At(j, row*3+tap, 0)
				}
			}
		}
	}
	if !w.plain {
		w.ones = aligned(w.stripBytes())
		for r := range c.Runs {
			for i := range c.Length {
				w.ones[(r*w.steps+i/4)*tileCols*4+i%4] = 1
			}
		}
	}
	return w
}

// Plain reports whether all zero points are 0.
func (w *Weights) Plain() bool { return w.plain }

// stripBytes is the size of a packed strip.
func (w *Weights) stripBytes() int { return w.Runs * w.steps * tileCols * 4 }

// aligned is n bytes of zeros that begin on a cache line.
func aligned(n int) []int8 {
	b := make([]int8, n+64)
	at := int(-uintptr(unsafe.Pointer(&b[0])) & 63)
	return b[at : at+n : at+n]
}

// depth3Strip is the size of the weights of depth3Cols channels for depth3.
const depth3Strip = 3 * depth3Cols * 4

// depth3Channel is the channel at place i of depth3's registers: register i/16 has those of each quarter of 16 channels
// that lie at the same place.
func depth3Channel(i int) int { return i/4%4*16 + i/16*4 + i%4 }
