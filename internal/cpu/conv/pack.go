package conv

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
)

// pack lays out a phase's weights: for each group, each block of channels and
// each panel of columns, the rows (tap, channel) of the panel one after the
// other. Columns that do not exist are zero.
func (j *job[T]) pack(p *phase, w packSource[T]) {
	taps := len(p.taps)
	dst := unsafe.Slice((*T)(p.w), j.groups*taps*j.ci*j.ocols)
	nk, np := ceilDiv(j.ci, j.cb), ceilDiv(j.co, j.nr)
	grain := max(1, 1<<14/max(1, taps*j.cb*j.nr))
	par.For(j.groups*nk*np, grain, func(lo, hi int) {
		for t := lo; t < hi; t++ {
			c0 := t % np * j.nr
			k0 := t / np % nk * j.cb
			g := t / np / nk
			kc := min(j.cb, j.ci-k0)
			width, cols := min(j.nr, j.ocols-c0), min(j.nr, j.co-c0)
			d := dst[g*taps*j.ci*j.ocols+taps*(k0*j.ocols+kc*c0):][:taps*kc*width]
			if cols < width {
				clear(d)
			}
			packPanel(d, width, cols, kc, p.taps, w.data[g*w.groups+c0*w.col+k0*w.row:], w)
		}
	})
}

// packPanel fills dst[(t*kc + k)*width + c] for c < cols.
func packPanel[T Float](dst []T, width, cols, kc int, taps []tap, src []T, w packSource[T]) {
	switch {
	case w.col == 1:
		for t := range taps {
			s := src[taps[t].wi*w.tap:]
			for k := range kc {
				copy(dst[(t*kc+k)*width:][:cols], s[k*w.row:])
			}
		}
	case w.row == 1:
		for t := range taps {
			transpose(dst[t*kc*width:], width, src[taps[t].wi*w.tap:], w.col, cols, kc)
		}
	case w.tap == 1 && w.row > 1 && w.row < w.col && len(taps) == w.row:
		// Rows and taps are adjacent for each column: transpose them together
		// into a small buffer and sort.
		var buf [64 * 32]T
		per := max(1, 64/w.row)
		if w.row > 64 {
			break
		}
		for k0 := 0; k0 < kc; k0 += per {
			kk := min(per, kc-k0)
			transpose(buf[:], width, src[k0*w.row:], w.col, cols, kk*w.row)
			for t := range taps {
				for k := range kk {
					copy(dst[(t*kc+k0+k)*width:][:cols], buf[(k*w.row+taps[t].wi)*width:])
				}
			}
		}
		return
	case w.tap == 1 && w.col > 1 && w.col < w.row && len(taps) == w.col:
		// Columns and taps are adjacent for each row.
		if w.col > 64 {
			break
		}
		var buf [64 * 32]T
		for k := range kc {
			transpose(buf[:], width, src[k*w.row:], w.col, cols, w.col)
			for t := range taps {
				copy(dst[(t*kc+k)*width:][:cols], buf[taps[t].wi*width:])
			}
		}
		return
	}
	if w.col == 1 || w.row == 1 {
		return
	}
	for t := range taps {
		for k := range kc {
			d, s := dst[(t*kc+k)*width:][:cols], src[taps[t].wi*w.tap+k*w.row:]
			for c := range d {
				d[c] = s[c*w.col]
			}
		}
	}
}

// transpose sets dst[j*ldd+i] = src[i*lds+j] for i < rows, j < cols.
func transpose[T Float](dst []T, ldd int, src []T, lds, rows, cols int) {
	if d, ok := any(dst).([]float32); ok && rows >= 8 {
		vec.TransposeF32(d, ldd, any(src).([]float32), lds, rows, cols)
		return
	}
	for i := range rows {
		s := src[i*lds:][:cols]
		for j, v := range s {
			dst[j*ldd+i] = v
		}
	}
}
