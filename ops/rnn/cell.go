package rnn

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
)

type float interface{ float32 | float64 }

// The kinds of cells, as the operators' argument mode says.
const (
	modeTanh = iota
	modeReLU
	modeLSTM
	modeGRU
)

// gates is how many gates a kind of cell has.
func gates(mode int) int {
	switch mode {
	case modeLSTM:
		return 4
	case modeGRU:
		return 3
	}
	return 1
}

// planes is how many values per unit and step the backward pass needs besides the output: an LSTM's activated gates
// (input, forget, cell, output) and its cell state; a GRU's activated gates (reset, update) and the two parts of the new
// state, see gruHidden.
func planes(mode int) int {
	switch mode {
	case modeLSTM:
		return 5
	case modeGRU:
		return 4
	}
	return 1
}

// The planes of a GRU's two parts of the new state: that of the state, and that of the input, which becomes the new
// state. What is multiplied by the state lies together.
const (
	gruHidden = 2
	gruNew    = 3
)

// cells are the step kernels of an element type. Those of an LSTM and a GRU work on some rows of so many columns, a row
// for each sample: planes of the workspace hold one row behind the other, while what other parts of the layer read row
// by row lies there in its place, ldx elements from row to row.
type cells[E float] struct {
	tanh, relu         func(dst, a []E)
	tanhBack, reluBack func(dst, grad, y []E)
	add                func(dst, a, b []E)
	addRows            func(rows, cols int, dst []E, lddst int, a []E, lda int, b []E, ldb int)
	sumDown            func(dst, a []E, rows, lda int)
	lstm               func(rows, cols int, h []E, ldh int, c, i, f, g, o, prev []E, ldprev int)
	lstmBack           func(rows, cols int, dc, di, df, dg, do []E, ld int, dh, i, f, g, o, c, prev []E, ldprev int)
	gru                func(rows, cols int, h []E, ldh int, r, z, n, hn, prev []E, ldprev int)
	gruBack            func(rows, cols int, dh, dr, dz, dn, dhn []E, ld int, r, z, n, hn, prev []E, ldprev int)
	transpose          func(dst []E, ldd int, src []E, lds, rows, cols int)
}

var cells32 = cells[float32]{
	tanh: vec.TanhF32, relu: vec.ReLUF32, tanhBack: vec.TanhBackwardF32,
	reluBack: func(dst, grad, y []float32) { vec.ThresholdBackwardF32(dst, grad, y, 0) },
	add:      vec.AddF32, addRows: vec.AddRowsF32, sumDown: vec.SumDownF32, transpose: vec.TransposeF32,
	lstm: func(rows, cols int, h []float32, ldh int, c, i, f, g, o, prev []float32, ldprev int) {
		vec.LSTMCellRowsF32(rows, cols, h, ldh, c, cols, i, cols, f, cols, g, cols, o, cols, prev, ldprev)
	},
	lstmBack: func(rows, cols int, dc, di, df, dg, do []float32, ld int, dh, i, f, g, o, c, prev []float32,
		ldprev int) {
		vec.LSTMOutputBackwardRowsF32(rows, cols, dc, cols, do, ld, dh, cols, o, cols, c, cols)
		vec.LSTMGatesBackwardRowsF32(rows, cols, dc, cols, di, ld, df, ld, dg, ld, i, cols, f, cols, g, cols, prev,
			ldprev)
	},
	gru: func(rows, cols int, h []float32, ldh int, r, z, n, hn, prev []float32, ldprev int) {
		vec.GRUCellRowsF32(rows, cols, h, ldh, r, cols, z, cols, n, cols, hn, cols, prev, ldprev)
	},
	gruBack: func(rows, cols int, dh, dr, dz, dn, dhn []float32, ld int, r, z, n, hn, prev []float32, ldprev int) {
		vec.GRUOutputBackwardRowsF32(rows, cols, dh, cols, dz, ld, dn, ld, z, cols, n, cols, prev, ldprev)
		vec.GRUResetBackwardRowsF32(rows, cols, dr, ld, dhn, ld, dn, ld, r, cols, hn, cols)
	},
}

var cells64 = cells[float64]{
	tanh: vec.TanhF64, relu: vec.ReLUF64, tanhBack: vec.TanhBackwardF64,
	reluBack: func(dst, grad, y []float64) { vec.ThresholdBackwardF64(dst, grad, y, 0) },
	add:      vec.AddF64, addRows: vec.AddRowsF64, sumDown: vec.SumDownF64,
	lstm: func(rows, cols int, h []float64, ldh int, c, i, f, g, o, prev []float64, ldprev int) {
		n := rows * cols
		vec.SigmoidF64(i[:n], i[:n])
		vec.SigmoidF64(f[:n], f[:n])
		vec.TanhF64(g[:n], g[:n])
		vec.SigmoidF64(o[:n], o[:n])
		for r := range rows {
			x := r * cols
			h, c, i, f, g, o, prev := h[r*ldh:][:cols], c[x:][:cols], i[x:][:cols], f[x:][:cols], g[x:][:cols],
				o[x:][:cols], prev[r*ldprev:][:cols]
			for x := range h {
				c[x] = f[x]*prev[x] + i[x]*g[x]
			}
			vec.TanhF64(h, c)
			vec.MulF64(h, h, o)
		}
	},
	lstmBack: func(rows, cols int, dc, di, df, dg, do []float64, ld int, dh, i, f, g, o, c, prev []float64,
		ldprev int) {
		for r := range rows {
			x, y := r*cols, r*ld
			dc, dh, i, f, g, o, c := dc[x:][:cols], dh[x:][:cols], i[x:][:cols], f[x:][:cols], g[x:][:cols],
				o[x:][:cols], c[x:][:cols]
			di, df, dg, do, prev := di[y:][:cols], df[y:][:cols], dg[y:][:cols], do[y:][:cols], prev[r*ldprev:][:cols]
			vec.TanhF64(do, c)
			for x := range dc {
				t := do[x]
				do[x] = dh[x] * t * o[x] * (1 - o[x])
				d := dc[x] + dh[x]*o[x]*(1-t*t)
				di[x] = d * g[x] * i[x] * (1 - i[x])
				dg[x] = d * i[x] * (1 - g[x]*g[x])
				df[x] = d * prev[x] * f[x] * (1 - f[x])
				dc[x] = d * f[x]
			}
		}
	},
	gru: func(rows, cols int, h []float64, ldh int, r, z, n, hn, prev []float64, ldprev int) {
		all := rows * cols
		vec.SigmoidF64(r[:all], r[:all])
		vec.SigmoidF64(z[:all], z[:all])
		for x := range all {
			n[x] += r[x] * hn[x]
		}
		vec.TanhF64(n[:all], n[:all])
		for y := range rows {
			h, z, n, prev := h[y*ldh:][:cols], z[y*cols:][:cols], n[y*cols:][:cols], prev[y*ldprev:][:cols]
			for x := range h {
				h[x] = (prev[x]-n[x])*z[x] + n[x]
			}
		}
	},
	gruBack: func(rows, cols int, dh, dr, dz, dn, dhn []float64, ld int, r, z, n, hn, prev []float64, ldprev int) {
		for y := range rows {
			a, b := y*cols, y*ld
			dh, r, z, n, hn := dh[a:][:cols], r[a:][:cols], z[a:][:cols], n[a:][:cols], hn[a:][:cols]
			dr, dz, dn, dhn, prev := dr[b:][:cols], dz[b:][:cols], dn[b:][:cols], dhn[b:][:cols], prev[y*ldprev:][:cols]
			for x, d := range dh {
				dz[x] = d * (prev[x] - n[x]) * z[x] * (1 - z[x])
				dn[x] = d * (1 - z[x]) * (1 - n[x]*n[x])
				dhn[x] = dn[x] * r[x]
				dr[x] = dhn[x] * hn[x] * (1 - r[x])
				dh[x] = d * z[x]
			}
		}
	},
	transpose: func(dst []float64, ldd int, src []float64, lds, rows, cols int) {
		vec.Transpose64(words(dst), ldd, words(src), lds, rows, cols)
	},
}

// words are the bits of floating-point numbers.
func words(x []float64) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}
