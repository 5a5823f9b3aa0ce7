package vec

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu"
)

// Tap is one of the elements that a window looks at: where it is, counted in elements from the beginning of a, for the
// first pixel, and its number among the window's taps, at most 255.
type Tap struct{ Off, Code int }

// Windows holds the kernels of windows over channels-last memory of S, whose sums and maxima are numbers of E; 16-bit
// floats have numbers of float32. They work on n pixels of cols channels: pixel p is dst[p*lddst:], and its taps are at
// a[p*lda+Off:]. All taps of a pixel, in order, come before the next pixel, so that what is computed stays in
// registers.
type Windows[E float32 | float64, S float32 | float64 | uint16] struct {
	wide, narrow *windowAsm[E, S] // for AVX-512 and for AVX2, nil without assembly

	// The forms for rows of one tap.
	fill    func(dst []E, s E)
	addRow  func(rows, cols int, dst []E, lddst int, a []S, lda int)
	maxRow  func(rows, cols int, dst []E, lddst int, a []S, lda int)
	atRow   func(rows, cols int, dst []E, lddst int, at []E, ldat int, a []S, lda int, tap E)
	gradRow func(rows, cols int, dst []E, lddst int, grad []S, ldgrad int, at []uint8, ldat int, tap E)
	low     E
}

// windowAsm is the assembly of an instruction set; distances are in bytes.
type windowAsm[E float32 | float64, S float32 | float64 | uint16] struct {
	add, max    func(dst *E, a *S, taps *Tap, ntaps, n, cols, lddst, lda int)
	maxAt, grad func(dst *E, a *S, at *uint8, taps *Tap, ntaps, n, cols, lddst, lda int)
}

// WindowsF32 and its like are the kernels of a type of memory.
var (
	WindowsF32 = Windows[float32, float32]{fill: FillF32, addRow: AddTapRowsF32, maxRow: MaxTapRowsF32,
		atRow:   MaxTapAtRowsF32,
		gradRow: MaxTapGradRowsF32, low: -inf32}
	WindowsF64 = Windows[float64, float64]{fill: FillF64, addRow: AddTapRowsF64, maxRow: MaxTapRowsF64,
		atRow:   MaxTapAtRowsF64,
		gradRow: MaxTapGradRowsF64, low: -inf64}
	WindowsF16 = Windows[float32, uint16]{fill: FillF32, addRow: AddTapRowsF16, maxRow: MaxTapRowsF16,
		atRow:   MaxTapAtRowsF16,
		gradRow: MaxTapGradRowsF16, low: -inf32}
	WindowsBF16 = Windows[float32, uint16]{fill: FillF32, addRow: AddTapRowsBF16, maxRow: MaxTapRowsBF16,
		atRow:   MaxTapAtRowsBF16,
		gradRow: MaxTapGradRowsBF16, low: -inf32}
)

// longPixel is the size in bytes from which pixels are done one by one. A call goes through all of its pixels for some
// vectors of columns at a time, which is no stream of memory when these are few of many.
const longPixel = 1 << 10

// asm is the assembly for pixels of cols columns, nil if there is none.
func (w *Windows[E, S]) asm(cols int) *windowAsm[E, S] {
	switch {
	case cpu.HasAVX512:
		return w.wide
	case cpu.HasAVX2FMA && cols*int(unsafe.Sizeof(*new(E))) >= 32: // it does whole vectors only
		return w.narrow
	}
	return nil
}

// run calls f with the assembly for blocks of pixels from p on and, where one has many taps, of columns from j on. It
// reports that there is nothing to do it with. Where pixels lie side by side they are one long row.
func (w *Windows[E, S]) run(dst []E, lddst int, a []S, lda, n, cols int, taps []Tap,
	f func(k *windowAsm[E, S], dst *E, a *S, i, j, n, cols int)) bool {
	if n <= 0 || cols <= 0 {
		return true
	}
	_ = dst[(n-1)*lddst+cols-1]
	for _, t := range taps {
		_, _ = a[t.Off], a[t.Off+(n-1)*lda+cols-1]
	}
	if lddst == cols && lda == cols {
		n, cols = 1, n*cols
	}
	k := w.asm(cols)
	if k == nil || len(taps) == 0 || len(taps) > 1<<12 {
		return false
	}
	// elements of a for one call: tens of microseconds, even from memory; columns of a call
	const most, least = 1 << 17, 64
	wide := min(cols, max(least, most/len(taps)&^63))
	tall := max(1, most/(len(taps)*wide))
	if cols*int(unsafe.Sizeof(*new(S))) >= longPixel {
		tall = 1
	}
	for j := 0; j < cols; j += wide {
		if cols-j < least { // some columns once more
			j = max(0, cols-least)
		}
		for p := 0; p < n; p += tall {
			i, at := p*lddst+j, p*lda+j
			f(k, &dst[i], &a[at], i, at, min(tall, n-p), min(wide, cols-j))
			preemptible(0)
		}
	}
	return true
}

// start sets the pixels to s.
func (w *Windows[E, S]) start(dst []E, lddst, n, cols int, s E) {
	if lddst == cols {
		n, cols = 1, n*cols
	}
	for p := range n {
		w.fill(dst[p*lddst:][:cols], s)
	}
}

// Add sets each pixel to the sum of its taps.
func (w *Windows[E, S]) Add(dst []E, lddst int, a []S, lda, n, cols int, taps []Tap) {
	if w.run(dst, lddst, a, lda, n, cols, taps, func(k *windowAsm[E, S], d *E, s *S, _, _, n, cols int) {
		k.add(d, s, &taps[0], len(taps), n, cols, lddst*int(unsafe.Sizeof(*d)), lda*int(unsafe.Sizeof(*s)))
	}) {
		return
	}
	w.start(dst, lddst, n, cols, 0)
	for _, t := range taps {
		w.addRow(n, cols, dst, lddst, a[t.Off:], lda)
	}
}

// Max sets each pixel to the maximum of its taps, the last NaN if there is one, and -Inf without taps.
func (w *Windows[E, S]) Max(dst []E, lddst int, a []S, lda, n, cols int, taps []Tap) {
	if w.run(dst, lddst, a, lda, n, cols, taps, func(k *windowAsm[E, S], d *E, s *S, _, _, n, cols int) {
		k.max(d, s, &taps[0], len(taps), n, cols, lddst*int(unsafe.Sizeof(*d)), lda*int(unsafe.Sizeof(*s)))
	}) {
		return
	}
	w.start(dst, lddst, n, cols, w.low)
	for _, t := range taps {
		w.maxRow(n, cols, dst, lddst, a[t.Off:], lda)
	}
}

// MaxAt is Max which also sets at, beside dst, to the code of the tap: the first of equal ones, and of the first tap
// where all are -Inf.
func (w *Windows[E, S]) MaxAt(dst []E, at []uint8, lddst int, a []S, lda, n, cols int, taps []Tap) {
	if len(taps) == 0 {
		w.start(dst, lddst, n, cols, w.low)
		return
	}
	if w.run(dst, lddst, a, lda, n, cols, taps, func(k *windowAsm[E, S], d *E, s *S, i, _, n, cols int) {
		k.maxAt(d, s, &at[i], &taps[0], len(taps), n, cols, lddst*int(unsafe.Sizeof(*d)), lda*int(unsafe.Sizeof(*s)))
	}) {
		return
	}
	w.start(dst, lddst, n, cols, w.low)
	code := make([]E, (n-1)*lddst+cols)
	w.fill(code, E(taps[0].Code))
	for _, t := range taps {
		w.atRow(n, cols, dst, lddst, code, lddst, a[t.Off:], lda, E(t.Code))
	}
	for p := range n {
		for i, v := range code[p*lddst:][:cols] {
			at[p*lddst+i] = uint8(int(v))
		}
	}
}

// MaxGrad sets each pixel to the sum of the gradients a of those taps whose code stands in at, beside a.
func (w *Windows[E, S]) MaxGrad(dst []E, lddst int, a []S, at []uint8, lda, n, cols int, taps []Tap) {
	if w.run(dst, lddst, a, lda, n, cols, taps, func(k *windowAsm[E, S], d *E, s *S, _, i, n, cols int) {
		k.grad(d, s, &at[i], &taps[0], len(taps), n, cols, lddst*int(unsafe.Sizeof(*d)), lda*int(unsafe.Sizeof(*s)))
	}) {
		return
	}
	w.start(dst, lddst, n, cols, 0)
	for _, t := range taps {
		w.gradRow(n, cols, dst, lddst, a[t.Off:], lda, at[t.Off:], lda, E(t.Code))
	}
}
