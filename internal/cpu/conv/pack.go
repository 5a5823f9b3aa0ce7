package conv

import (
	"slices"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/mem"
	"github.com/gotorch-dev/torch/internal/par"
)

// packer lays out a job's weights for the micro-kernels: for each group, each block of input channels and
// each panel of columns, the rows (tap, channel) of the panel one after the other. Columns that do not exist
// are zero.
//
//	panel of nr columns (output channels), kc channels per tap
//	tap 0, channel 0:     w w w w w w w w
//	tap 0, channel 1:     w w w w w w w w
//	…
//	tap 1, channel 0:     w w w w w w w w
type packer[T Float] struct {
	*job[T]
	src    packSource[T]
	tables map[packKey][]int
}

// minTapFraction: a phase must have at least one in minTapFraction of the kernel positions for moving all
// weights of a panel, the unwanted ones too, to be worth it.
const minTapFraction = 16

// packKey names a table of offsets.
type packKey struct{ phase, kc, width int }

// packInTaskMaxBands is the number of tasks that may need the same weights for each to pack them by itself. A
// task packs into its own cache; packing all at once writes memory for the first time.
const packInTaskMaxBands = 2

// packWeights packs all weights, or prepares for tasks to pack the weights that they need.
func (j *job[T]) packWeights(src packSource[T]) {
	k := &packer[T]{job: j, src: src}
	if j.packsOnce() {
		k.packOnce()
		return
	}
	k.makeTables()
	switch bands := j.nImg * j.grid[0] * j.ny * j.nx; {
	case bands == 1 || bands <= packInTaskMaxBands && hasScatter[T](j.pt):
		j.packInTask = k
	default:
		for i := range j.phases {
			p := &j.phases[i]
			if len(p.taps)*j.ci > 0 {
				p.wLen = k.size(i)
				p.w = allocTouched(p.wLen)
				k.phase(i)
			}
		}
	}
}

// packsOnce reports whether the weights are kept for the next call.
func (j *job[T]) packsOnce() bool {
	return j.packed != nil && len(j.phases) == 1 && j.ci*len(j.phases[0].taps) > 0
}

// packOnce takes the weights of the last call, or packs them for the next one.
func (k *packer[T]) packOnce() {
	j, p := k.job, &k.phases[0]
	var z T
	origin := k.src.origin
	if origin == nil {
		origin = unsafe.Pointer(&k.src.data[0])
	}
	key := packedKey{
		j.pt, j.groups, j.ci, j.co, j.cb, j.nr, int(unsafe.Sizeof(z)), len(p.taps),
		origin, k.src.row, k.src.col,
	}
	p.w = k.packed.get(key, func() unsafe.Pointer {
		if k.src.fill != nil {
			data, free := k.src.fill()
			defer free()
			k.src.data = data
		}
		p.w = allocTouched(k.size(0))
		k.makeTables()
		k.phase(0)
		return p.w
	})
}

// size is the number of bytes of a phase's packed weights.
func (k *packer[T]) size(i int) int {
	var z T
	// Behind the weights there are rows for those that no tap of the phase needs.
	return (k.groups*len(k.phases[i].taps)*k.ci*k.ocols+(k.cb+1)*k.nr)*int(unsafe.Sizeof(z)) + prefetchPastPanel
}

// prefetchPastPanel is how far behind the panels that they read the kernels may prefetch.
const prefetchPastPanel = 1024

// allocTouched allocates memory and touches all of its pages: some processors take long to find that an
// address to be prefetched has no memory yet.
func allocTouched(bytes int) unsafe.Pointer {
	w := mem.Alloc(bytes)
	for at := bytes; at > 0; at -= 4096 {
		*(*byte)(unsafe.Add(w, at-1)) = 0
	}
	return w
}

// phase packs the weights of a phase.
func (k *packer[T]) phase(i int) {
	j := k.job
	var z T
	es := int(unsafe.Sizeof(z))
	w, taps := j.phases[i].w, len(j.phases[i].taps)
	nk, np := ceilDiv(j.ci, j.cb), ceilDiv(j.co, j.nr)
	grain := max(1, 1<<14/max(1, taps*j.cb*j.nr))
	par.For(j.groups*nk*np, grain, func(lo, hi int) {
		for t := lo; t < hi; t++ {
			k0, c := t/np%nk*j.cb, t%np*j.nr
			g := t / np / nk
			kc := min(j.cb, j.ci-k0)
			dst := unsafe.Add(w, (g*taps*j.ci*j.ocols+taps*(k0*j.ocols+kc*c))*es)
			trash := unsafe.Add(w, j.groups*taps*j.ci*j.ocols*es)
			k.panel(i, g, k0, c, dst, int(uintptr(trash)-uintptr(dst)))
		}
	})
}

// freeWeights frees the memory of packWeights.
func (j *job[T]) freeWeights() {
	for i := range j.phases {
		if p := &j.phases[i]; p.wLen > 0 {
			mem.Free(p.w, p.wLen)
		}
	}
}

// makeTables prepares the tables of scatter16 for moving whole panels through registers: they say where the
// elements that follow one another in the source go.
func (k *packer[T]) makeTables() {
	if !hasScatter[T](k.pt) {
		return
	}
	k.tables = map[packKey][]int{}
	var z T
	es := int(unsafe.Sizeof(z))
	s := &k.src
	for i := range k.phases {
		taps := k.phases[i].taps
		for _, kc := range []int{min(k.cb, k.ci), k.ci % k.cb} {
			for _, width := range []int{k.nr, k.ocols % k.nr} {
				key := packKey{i, kc, width}
				if kc == 0 || width == 0 || len(taps) == 0 || k.tables[key] != nil {
					continue
				}
				switch {
				case s.row == 1: // channels follow one another
					k.tables[key] = multiples(kc, width*es)
				case minTapFraction*len(taps) < min(s.row, s.col): // most weights would be moved for nothing
				case s.tap == 1 && s.row > 1 && s.row < s.col: // for each channel the taps
					k.tables[key] = tapTable(kc, s.row, taps, kc*width*es, width*es)
				case s.tap == 1 && s.col > 1 && s.col < s.row: // for each column the taps
					k.tables[key] = tapTable(1, s.col, taps, kc*width*es, 0)
				}
			}
		}
	}
}

// tapTable lists the offsets of n channels times all kernel positions, -1 where a phase has no such tap.
func tapTable(n, positions int, taps []tap, tapStep, step int) []int {
	off := make([]int, n*positions)
	for i := range off {
		off[i] = -1
	}
	for t, p := range taps {
		for c := range n {
			off[c*positions+p.wi] = t*tapStep + c*step
		}
	}
	return off
}

// panel packs one panel of a phase. Weights of taps that the phase does not have are moved to the offset
// trash from dst.
func (k *packer[T]) panel(phase, group, k0, c0 int, dst unsafe.Pointer, trash int) {
	j, w := k.job, k.src
	taps := k.phases[phase].taps
	kc, width, cols := min(j.cb, j.ci-k0), min(j.nr, j.ocols-c0), min(j.nr, j.co-c0)
	d := unsafe.Slice((*T)(dst), len(taps)*kc*width)
	if cols < width {
		clear(d)
	}
	src := w.data[group*w.groups+c0*w.col+k0*w.row:]
	table := k.tables[packKey{phase, kc, width}]
	if table == nil {
		packPanel(d, width, cols, kc, taps, src, w)
		return
	}
	var z T
	es := int(unsafe.Sizeof(z))
	if slices.Contains(table, -1) {
		table = slices.Clone(table)
		for i, o := range table {
			if o < 0 {
				table[i] = trash
			}
		}
	}
	for c := 0; c < cols; c += 16 {
		n := min(16, cols-c)
		at := unsafe.Add(dst, c*es)
		switch {
		case w.row == 1:
			for t := range taps {
				s := src[taps[t].wi*w.tap+c*w.col:]
				_ = s[(n-1)*w.col+kc-1]
				scatter16(unsafe.Add(at, t*kc*width*es), table, unsafe.Pointer(&s[0]), w.col*es, n, kc)
			}
		case w.row < w.col:
			s := src[c*w.col:]
			_ = s[(n-1)*w.col+len(table)-1]
			scatter16(at, table, unsafe.Pointer(&s[0]), w.col*es, n, len(table))
		default:
			for r := range kc {
				s := src[r*w.row+c*w.col:]
				_ = s[n*w.col-1]
				scatter16(unsafe.Add(at, r*width*es), table, unsafe.Pointer(&s[0]), w.col*es, n, w.col)
			}
		}
	}
}

// packPanel sets dst[(t*kc + k)*width + c] for c < cols.
func packPanel[T Float](dst []T, width, cols, kc int, taps []tap, src []T, w packSource[T]) {
	switch {
	case w.col == 1:
		for t := range taps {
			copyRows(dst[t*kc*width:], width, src[taps[t].wi*w.tap:], w.row, cols, kc)
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
		// For each row, columns and taps are adjacent.
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
