package rnn

import "github.com/gotorch-dev/torch/internal/cpu/gemm"

// single reports that there is one sample, of so few units that a step is one task. Such a layer has one block, so that
// the planes of a step are one row.
func (l *layer[E]) single() bool { return l.N == 1 && l.gates*l.H*l.H <= stepTask }

// fewSteps is up to how many steps laying out the weights of the state takes longer than it saves.
const fewSteps = 8

// forwardSingle is forward for a single sample. What a step costs besides arithmetic counts here, so nothing is moved:
// the input's part of all steps is computed at once, to where the cell kernels read it, and to that a step adds the
// product of the weights with the state, which is read where the step before has written it.
func (l *layer[E]) forwardSingle(cn []E) {
	G, H, I, step := l.gates, l.H, l.I, l.planes*l.H
	if l.wsStep == 0 && l.L > 1 { // no gradient is wanted
		l.ws = l.temp(l.L * step)
	}
	row := func(t int) []E { return l.ws[t*step:][:step] }
	bias := l.bias()
	input := func(u0, n, plane int) { // gates' rows of the input's weights to planes
		gemm.GEMM(l.L, n, I, 1, l.x, I, 1, l.wih[u0*I:], 1, I, 0, l.ws[plane*H:], step, 1, epilogue(bias, u0, n))
	}
	if l.mode == modeGRU {
		input(0, 2*H, 0)
		input(2*H, H, gruNew)
		for t := range l.L {
			if hidden := row(t)[gruHidden*H:][:H]; bias != nil {
				copy(hidden, l.bhh[2*H:])
			} else {
				clear(hidden)
			}
		}
	} else {
		input(0, G*H, 0)
	}
	w, down, right := l.whh, 1, H
	if l.L > fewSteps {
		w, down, right = l.temp(G*H*H), G*H, 1
		l.k.transpose(w, G*H, l.whh, H, G*H, H)
	}
	h, c := l.h0, l.c0
	for s := range l.L {
		t, _ := l.at(s)
		r, out := row(t), l.out[t*H:][:H]
		p := func(i int) []E { return r[i*H:][:H] }
		gemm.GEMM(1, G*H, H, 1, h, H, 1, w, down, right, 1, r, G*H, 1, nil)
		switch l.mode {
		case modeTanh:
			l.k.tanh(p(0), p(0))
			copy(out, p(0))
		case modeReLU:
			l.k.relu(p(0), p(0))
			copy(out, p(0))
		case modeLSTM:
			l.k.lstm(1, H, out, H, p(4), p(0), p(1), p(2), p(3), c, H)
			c = p(4)
		case modeGRU:
			l.k.gru(1, H, out, H, p(0), p(1), p(gruNew), p(gruHidden), h, H)
		}
		h = out
	}
	if l.mode == modeLSTM {
		copy(cn, c)
	}
}
