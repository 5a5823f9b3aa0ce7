package rnn

import "github.com/gotorch-dev/torch/internal/cpu/vec"

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

// planes is how many values per unit and step the backward pass needs besides the output: an LSTM's activated gates (input, forget, cell,
// output) and its cell state; a GRU's activated gates (reset, update, new) and the state's part of the new state.
func planes(mode int) int {
	switch mode {
	case modeLSTM:
		return 5
	case modeGRU:
		return 4
	}
	return 1
}

// cells are the step kernels of an element type. All slices of a call have the same length.
type cells[E float] struct {
	tanh, relu         func(dst, a []E)
	tanhBack, reluBack func(dst, grad, y []E)
	add                func(dst, a, b []E)
	lstm               func(h, c, i, f, g, o, prev []E)
	lstmBack           func(dc, di, df, dg, do, dh, i, f, g, o, c, prev []E)
	gru                func(h, r, z, n, hn, prev []E)
	gruBack            func(dh, dr, dz, dn, dhn, r, z, n, hn, prev []E)
	transpose          func(dst []E, ldd int, src []E, lds, rows, cols int)
}

var cells32 = cells[float32]{
	tanh: vec.TanhF32, relu: vec.ReLUF32, tanhBack: vec.TanhBackwardF32,
	reluBack: func(dst, grad, y []float32) { vec.ThresholdBackwardF32(dst, grad, y, 0) },
	add:      vec.AddF32, lstm: vec.LSTMCellF32, gru: vec.GRUCellF32, transpose: vec.TransposeF32,
	lstmBack: func(dc, di, df, dg, do, dh, i, f, g, o, c, prev []float32) {
		vec.LSTMOutputBackwardF32(dc, do, dh, o, c)
		vec.LSTMGatesBackwardF32(dc, di, df, dg, i, f, g, prev)
	},
	gruBack: func(dh, dr, dz, dn, dhn, r, z, n, hn, prev []float32) {
		vec.GRUOutputBackwardF32(dh, dz, dn, z, n, prev)
		vec.GRUResetBackwardF32(dr, dhn, dn, r, hn)
	},
}

var cells64 = cells[float64]{
	tanh: vec.TanhF64, relu: vec.ReLUF64, tanhBack: vec.TanhBackwardF64,
	reluBack: func(dst, grad, y []float64) { vec.ThresholdBackwardF64(dst, grad, y, 0) },
	add:      vec.AddF64,
	lstm: func(h, c, i, f, g, o, prev []float64) {
		vec.SigmoidF64(i, i)
		vec.SigmoidF64(f, f)
		vec.TanhF64(g, g)
		vec.SigmoidF64(o, o)
		for x := range h {
			c[x] = f[x]*prev[x] + i[x]*g[x]
		}
		vec.TanhF64(h, c)
		vec.MulF64(h, h, o)
	},
	lstmBack: func(dc, di, df, dg, do, dh, i, f, g, o, c, prev []float64) {
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
	},
	gru: func(h, r, z, n, hn, prev []float64) {
		vec.SigmoidF64(r, r)
		vec.SigmoidF64(z, z)
		for x := range h {
			n[x] += r[x] * hn[x]
		}
		vec.TanhF64(n, n)
		for x := range h {
			h[x] = (prev[x]-n[x])*z[x] + n[x]
		}
	},
	gruBack: func(dh, dr, dz, dn, dhn, r, z, n, hn, prev []float64) {
		for x, d := range dh {
			dz[x] = d * (prev[x] - n[x]) * z[x] * (1 - z[x])
			dn[x] = d * (1 - z[x]) * (1 - n[x]*n[x])
			dhn[x] = dn[x] * r[x]
			dr[x] = dhn[x] * hn[x] * (1 - r[x])
			dh[x] = d * z[x]
		}
	},
	transpose: func(dst []float64, ldd int, src []float64, lds, rows, cols int) {
		for j := range cols {
			for i := range rows {
				dst[j*ldd+i] = src[i*lds+j]
			}
		}
	},
}
