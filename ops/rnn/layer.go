package rnn

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/gemm"
	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
	"github.com/gotorch-dev/torch/tensor"
)

// width is how many hidden units a task of a step works on, but for single layers: all gates of a unit are in one task,
// so a step needs one barrier.
const width = 64

// layer is one direction of one layer over a sequence of L steps with N samples, I inputs and H hidden units.
//
// Inside, the units are cut into blocks of width, and what belongs to a block lies together: a plane holds N rows of
// the block's units. So the cell kernels see long runs, and the products write where the kernels read.
type layer[E float] struct {
	k                   *cells[E]
	mode, gates, planes int
	reverse             bool
	L, N, I, H          int
	width, blocks       int // units of a block, number of blocks
	x, h0, c0           []E // (L·N, I), (N, H), (N, H)
	wih, whh, bih, bhh  []E // (gates·H, I), (gates·H, H), biases may be nil
	out                 []E // (L·N, H)
	ws                  []E // planes of every step, or of one where no gradient is wanted
	wsStep              int
	temps               []*T
}

// at gives the time of step s and of the step before it.
func (l *layer[E]) at(s int) (t, prev int) {
	if l.reverse {
		return l.L - 1 - s, l.L - s
	}
	return s, s - 1
}

// temp is scratch memory until free.
func (l *layer[E]) temp(n int) []E {
	t := tensor.New([]int{max(n, 1)}, tensor.DTypeOf[E]())
	l.temps = append(l.temps, t)
	return tensor.Data[E](t)[:n]
}

func (l *layer[E]) free() {
	for _, t := range l.temps {
		tensor.ReleaseRaw(t)
	}
}

// units is the range of a block's units.
func (l *layer[E]) units(b int) (u0, n int) { return b * l.width, min(l.width, l.H-b*l.width) }

// plane is plane p of a block within what one step has in ws.
func (l *layer[E]) plane(t, b, p int) []E {
	u0, n := l.units(b)
	return l.ws[t*l.wsStep+(u0*l.planes+p*n)*l.N:][:n*l.N]
}

// state is a block's plane of an array with one value per sample and unit.
func (l *layer[E]) state(buf []E, b int) []E {
	u0, n := l.units(b)
	return buf[u0*l.N:][:n*l.N]
}

// move copies n columns of the samples' rows, which lie ldd and lds elements apart.
func (l *layer[E]) move(dst []E, ldd int, src []E, lds, n int) {
	_, _ = dst[(l.N-1)*ldd+n-1], src[(l.N-1)*lds+n-1]
	es := int(unsafe.Sizeof(dst[0]))
	if vec.MoveRows(unsafe.Pointer(&dst[0]), ldd*es, unsafe.Pointer(&src[0]), lds*es, l.N, n*es) {
		return
	}
	for r := range l.N {
		copy(dst[r*ldd:][:n], src[r*lds:])
	}
}

// before is a block's state as step s finds it, and the distance of its rows: that of the first step's is in first,
// that of others in rows, or where there are none in the planes of cell states.
func (l *layer[E]) before(first, rows []E, s, b int) (state []E, ld int) {
	u0, n := l.units(b)
	_, prev := l.at(s)
	switch {
	case s == 0:
		return first[u0:], l.H
	case rows != nil:
		return rows[prev*l.N*l.H+u0:], l.H
	}
	return l.plane(prev, b, 4), n
}

// grain is how many blocks make a task, from the multiplications of a block.
func (l *layer[E]) grain() int { return max(1, stepTask/(l.N*l.width*l.gates*l.H+1)) }

// stepTask is how many multiplications of a step make a task.
const stepTask = 1 << 16

// each calls f for all blocks.
func (l *layer[E]) each(f func(b int)) {
	par.For(l.blocks, l.grain(), func(lo, hi int) {
		for b := lo; b < hi; b++ {
			f(b)
		}
	})
}

// fewSamples is how many samples leave a product with all of the weights at every step dear: the input's part is then
// taken ahead, for all steps at once.
const fewSamples = 8

// forward computes out, ws and, for an LSTM, the last cell state.
func (l *layer[E]) forward(cn []E) {
	if l.single() {
		l.forwardSingle(cn)
		return
	}
	G, H, N, I := l.gates, l.H, l.N, l.I
	bias := l.bias()
	// A row of weights for every input, one for the bias, whose input is 1, and one for every unit, or the last only.
	var ahead []E
	F := I
	if N < fewSamples {
		ahead = l.temp(l.L * N * G * H)
		gemm.GEMM(l.L*N, G*H, I, 1, l.x, I, 1, l.wih, 1, I, 0, ahead, G*H, 1, epilogue(bias, 0, G*H))
		I, F, bias = 0, 0, nil
	} else if bias != nil {
		F++
	}
	// The weights are transposed, block after block and gate after gate, once for all steps. In the same way input, 1
	// and state of a step stand side by side, in one of two buffers.
	K := F + H
	w := l.temp(G * H * K)
	var xh [2][]E
	for i := range xh {
		xh[i] = l.temp(N * K)
		if F > I {
			for r := range N {
				xh[i][r*K+I] = 1
			}
		}
	}
	// input copies block b's share of the samples of a step
	input := func(b, s int) {
		if I == 0 || s == l.L {
			return
		}
		t, _ := l.at(s)
		for r := b * N / l.blocks; r < (b+1)*N/l.blocks; r++ {
			copy(xh[s&1][r*K:][:I], l.x[(t*N+r)*I:])
		}
	}
	l.each(func(b int) {
		u0, n := l.units(b)
		for g := range G {
			panel := w[(u0*G+g*n)*K:]
			if I > 0 {
				l.k.transpose(panel, n, l.wih[(g*H+u0)*I:], I, n, I)
			}
			if F > I {
				copy(panel[I*n:][:n], bias[g*H+u0:])
			}
			l.k.transpose(panel[F*n:], n, l.whh[(g*H+u0)*H:], H, n, H)
		}
		l.move(xh[0][F+u0:], K, l.h0[u0:], H, n)
		input(b, 0)
	})
	together := G // gates whose parts from input and state add up
	if l.mode == modeGRU {
		together = 2
	}
	for s := range l.L {
		t, _ := l.at(s)
		a := xh[s&1]
		l.each(func(b int) {
			u0, n := l.units(b)
			panels, planes, beta := w[u0*G*K:][:n*G*K], l.ws[t*l.wsStep+u0*l.planes*N:][:n*l.planes*N], E(0)
			if ahead != nil {
				beta = 1
				for g := range G {
					p := g
					if l.mode == modeGRU && g == 2 {
						p = gruNew
					}
					l.move(l.plane(t, b, p), n, ahead[t*N*G*H+g*H+u0:], G*H, n)
				}
			}
			gemm.GEMMBatch([]gemm.BatchDim{{N: together, B: n * K, C: n * N}}, N, n, K, 1, a, K, 1, panels, n, 1, beta,
				planes, n, 1, nil)
			if l.mode == modeGRU { // the two parts of the new state stay apart
				panel := panels[2*n*K:]
				if ahead == nil {
					gemm.GEMM(N, n, F, 1, a, K, 1, panel, n, 1, 0, l.plane(t, b, gruNew), n, 1, nil)
				}
				gemm.GEMM(N, n, H, 1, a[F:], K, 1, panel[F*n:], n, 1, 0, l.plane(t, b, gruHidden), n, 1,
					epilogue(l.bhh, 2*H+u0, n))
			}
			p := func(i int) []E { return l.plane(t, b, i) }
			out := l.out[t*N*H+u0:]
			switch l.mode {
			case modeTanh:
				l.k.tanh(p(0), p(0))
				l.move(out, H, p(0), n, n)
			case modeReLU:
				l.k.relu(p(0), p(0))
				l.move(out, H, p(0), n, n)
			case modeLSTM:
				c, ld := l.before(l.c0, nil, s, b)
				l.k.lstm(N, n, out, H, p(4), p(0), p(1), p(2), p(3), c, ld)
			case modeGRU:
				h, ld := l.before(l.h0, l.out, s, b)
				l.k.gru(N, n, out, H, p(0), p(1), p(gruNew), p(gruHidden), h, ld)
			}
			l.move(xh[(s+1)&1][F+u0:], K, out, H, n)
			input(b, s+1)
		})
	}
	if l.mode == modeLSTM {
		t, _ := l.at(l.L - 1)
		for b := range l.blocks {
			u0, n := l.units(b)
			l.move(cn[u0:], H, l.plane(t, b, 4), n, n)
		}
	}
}

// bias is what the biases add to the gates' part of the input: those of state and input add up, but for that of a GRU's
// new state. It is nil where there are none.
func (l *layer[E]) bias() []E {
	if l.bih == nil {
		return nil
	}
	n := l.gates * l.H
	bias := l.temp(n)
	copy(bias, l.bih)
	if l.mode == modeGRU {
		n = 2 * l.H
	}
	l.k.add(bias[:n], bias[:n], l.bhh[:n])
	return bias
}

// epilogue adds n biases from u0 on.
func epilogue[E float](bias []E, u0, n int) *gemm.Epilogue[E] {
	if bias == nil {
		return nil
	}
	return &gemm.Epilogue[E]{BiasCol: bias[u0:][:n]}
}

// sumGroup is how many rows are added up before they are added to the rest, and how many such sums, so that rounding
// errors stay small.
const sumGroup = 64

// gradients are the results of backward; nil ones are not wanted.
type gradients[E float] struct {
	x, h0, c0, wih, whh, bih, bhh []E
}

// Of the gates' gradients there are at least so many rows, and bytes, at a time, and not many more if that can be: they
// then stay in the cache until all that needs them is computed. Tests lower that.
var backwardRows, backwardBytes = 512, 2 << 20

// backward goes through time. After every some steps it takes what the other gradients have from these at once. gout is
// the output's gradient, gc that of the last cell state or nil.
func (l *layer[E]) backward(gout, gc []E, r gradients[E]) {
	G, H, N := l.gates, l.H, l.N
	// gradients of the gates' sums by step; a GRU has a fourth one, of the state's part of the new state
	D := G
	if l.mode == modeGRU {
		D = 4
	}
	ld := D*H + 16 // rows a power of two apart would compete for the same sets of the cache
	// Step s has the rows of place s%span, or, so that they follow each other in the order of time, of the place as far
	// from the end. At least two places, since a step needs what the next one has left.
	parts := max(1, min(l.L*N/backwardRows, l.L*N*ld*int(unsafe.Sizeof(gout[0]))/backwardBytes, l.L/2))
	span := (l.L + parts - 1) / parts
	dg := l.temp(span * N * ld)
	place := func(s int) int {
		if l.reverse {
			return span - 1 - s%span
		}
		return s % span
	}
	rows := func(s int) []E { return dg[place(s)*N*ld:] }
	input, hidden := l.newWeights(r.wih, l.I, parts > 1), l.newWeights(r.whh, H, parts > 1)
	// columns of the state's weights, block after block
	w := l.temp(G * H * H)
	l.each(func(b int) {
		u0, n := l.units(b)
		for i := range G * H {
			copy(w[u0*G*H+i*n:][:n], l.whh[i*H+u0:])
		}
	})
	dh, dc, y := l.temp(N*H), []E(nil), []E(nil)
	// sums over the rows of dg, of a few of them, of a group of such sums and of all: the gradients of the biases
	var few, group, all []E
	sumSteps := max(1, min(sumGroup/N, span))
	if r.bih != nil || r.bhh != nil {
		few, group, all = l.temp(D*H), l.temp(D*H), l.temp(D*H)
		clear(group)
		clear(all)
	}
	switch l.mode {
	case modeTanh, modeReLU:
		y = l.temp(N * H)
	case modeLSTM:
		dc = l.temp(N * H)
		for b := range l.blocks {
			u0, n := l.units(b)
			if gc != nil {
				l.move(l.state(dc, b), n, gc[u0:], H, n)
			} else {
				clear(l.state(dc, b))
			}
		}
	}
	// state adds to a block's dh what comes from the gates of step s
	state := func(b, s int, beta E, dh []E) {
		u0, n := l.units(b)
		wb := w[u0*G*H:][:n*G*H]
		a := rows(s)[:N*ld]
		if l.mode != modeGRU {
			gemm.GEMM(N, n, G*H, 1, a, ld, 1, wb, n, 1, beta, dh, n, 1, nil)
			return
		}
		gemm.GEMM(N, n, 2*H, 1, a, ld, 1, wb, n, 1, beta, dh, n, 1, nil)
		gemm.GEMM(N, n, H, 1, a[3*H:], ld, 1, wb[2*H*n:], n, 1, 1, dh, n, 1, nil)
	}
	addHidden := func(a, h []E, m int, more bool) {
		if l.mode != modeGRU {
			hidden.add(0, G*H, a, ld, h, m, more)
			return
		}
		hidden.add(0, 2*H, a, ld, h, m, more)
		hidden.add(2*H, H, a[3*H:], ld, h, m, more)
	}
	for s := l.L - 1; s >= 0; s-- {
		t, _ := l.at(s)
		l.each(func(b int) {
			u0, n := l.units(b)
			d, g := l.state(dh, b), gout[t*N*H+u0:]
			if s < l.L-1 && l.mode == modeGRU { // what comes directly from the next step is in d
				l.k.addRows(N, n, d, n, d, n, g, H)
			} else {
				l.move(d, n, g, H, n)
			}
			if s < l.L-1 {
				state(b, s+1, 1, d)
			}
			p := func(i int) []E { return l.plane(t, b, i) }
			to := func(i int) []E { return rows(s)[i*H+u0:] }
			switch l.mode {
			case modeTanh, modeReLU:
				y := l.state(y, b)
				l.move(y, n, l.out[t*N*H+u0:], H, n)
				if l.mode == modeTanh {
					l.k.tanhBack(y, d, y)
				} else {
					l.k.reluBack(y, d, y)
				}
				l.move(to(0), ld, y, n, n)
			case modeLSTM:
				c, ldc := l.before(l.c0, nil, s, b)
				l.k.lstmBack(N, n, l.state(dc, b), to(0), to(1), to(2), to(3), ld, d, p(0), p(1), p(2), p(3), p(4), c,
					ldc)
			case modeGRU:
				h, ldh := l.before(l.h0, l.out, s, b)
				l.k.gruBack(N, n, d, to(0), to(1), to(2), to(3), ld, p(0), p(1), p(gruNew), p(gruHidden), h,
					ldh)
			}
			if in := s % span; all != nil && in%sumSteps == 0 { // the rows of these steps lie together
				count := min(sumSteps, span-in, l.L-s)
				from := min(place(s), place(s+count-1)) * N
				for i := range D {
					few, group, all := few[i*H+u0:][:n], group[i*H+u0:][:n], all[i*H+u0:][:n]
					for r := 0; r < count*N; r += sumGroup {
						clear(few)
						l.k.sumDown(few, dg[(from+r)*ld+i*H+u0:], min(sumGroup, count*N-r), ld)
						l.k.add(group, group, few)
					}
					if s/sumSteps%sumGroup == 0 {
						l.k.add(all, all, group)
						clear(group)
					}
				}
			}
		})
		if s%span > 0 {
			continue
		}
		last := min(s+span, l.L) - 1
		t2, _ := l.at(last)
		t, a, m := min(t, t2), dg[min(place(s), place(last))*N*ld:], (last-s+1)*N
		if r.x != nil {
			gemm.GEMM(m, l.I, G*H, 1, a, ld, 1, l.wih, l.I, 1, 0, r.x[t*N*l.I:], l.I, 1, nil)
		}
		input.add(0, G*H, a, ld, l.x[t*N*l.I:], m, last < l.L-1)
		// a step began with the output of the one before it in time, or after it
		switch {
		case l.reverse && s == 0:
			m -= N
			fallthrough
		case l.reverse:
			t++
		case s == 0:
			a, m = a[N*ld:], m-N
		default:
			t--
		}
		if m > 0 {
			addHidden(a, l.out[t*N*H:], m, last < l.L-1)
		}
	}
	addHidden(rows(0), l.h0, N, l.L > 1)
	input.finish()
	hidden.finish()
	if r.h0 != nil {
		l.each(func(b int) {
			u0, n := l.units(b)
			d, beta := l.state(dh, b), E(0)
			if l.mode == modeGRU {
				beta = 1
			}
			state(b, 0, beta, d)
			l.move(r.h0[u0:], H, d, n, n)
		})
	}
	if r.c0 != nil {
		for b := range l.blocks {
			u0, n := l.units(b)
			l.move(r.c0[u0:], H, l.state(dc, b), n, n)
		}
	}
	if r.bih != nil {
		copy(r.bih, all[:G*H])
	}
	if r.bhh != nil { // only the last gate may differ between the two: a GRU's new state
		copy(r.bhh, all[:(G-1)*H])
		copy(r.bhh[(G-1)*H:], all[(D-1)*H:])
	}
}

// weights is the gradient of a matrix of weights: the sum over all rows of the gates' gradients times what the weights
// were multiplied by.
type weights[E float] struct {
	l    *layer[E]
	dst  []E // (gates·H, cols), nil if it is not wanted
	cols int
	// Where the sum comes in several parts, it is taken transposed: then the long rows of the gates' gradients, and of
	// the sum, are read as they lie.
	turned []E
	ld     int
}

func (l *layer[E]) newWeights(dst []E, cols int, turned bool) weights[E] {
	w := weights[E]{l: l, dst: dst, cols: cols}
	if turned && dst != nil {
		w.ld = l.gates*l.H + 16
		w.turned = l.temp(cols * w.ld)
	}
	return w
}

// add computes n rows of the gradient from at on, from the first n columns of m rows of a and from x. It adds them to
// what is there if more.
func (w *weights[E]) add(at, n int, a []E, lda int, x []E, m int, more bool) {
	beta := E(0)
	if more {
		beta = 1
	}
	switch {
	case w.dst == nil || w.cols == 0:
	case w.turned != nil:
		gemm.GEMM(w.cols, n, m, 1, x, 1, w.cols, a, lda, 1, beta, w.turned[at:], w.ld, 1, nil)
	default:
		gemm.GEMM(n, w.cols, m, 1, a, 1, lda, x, w.cols, 1, beta, w.dst[at*w.cols:], w.cols, 1, nil)
	}
}

// finish writes the gradient.
func (w *weights[E]) finish() {
	if w.turned == nil || w.cols == 0 {
		return
	}
	l := w.l
	l.each(func(b int) {
		u0, n := l.units(b)
		for g := range l.gates {
			row := g*l.H + u0
			l.k.transpose(w.dst[row*w.cols:], w.cols, w.turned[row:], w.ld, w.cols, n)
		}
	})
}
