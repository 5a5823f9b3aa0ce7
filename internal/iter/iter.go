// Package iter walks several strided arrays of one logical shape and hands contiguous runs of them to kernels.
//
// It is the only place that knows about strides, broadcasting (stride 0), element conversion and goroutines for
// elementwise work: a kernel sees plain slices. Work is cut into blocks whose size does not depend on the number of
// threads, so neither does the result.
package iter

import (
	"math/bits"
	"sync"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu"
	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/dtype"
	"github.com/gotorch-dev/torch/internal/par"
)

// MaxOperands bounds the number of arrays of one walk.
const MaxOperands = 6

// Operand is one array: its first element, its strides in elements (aligned with the walk's shape; 0
// broadcasts), the type of its memory and the type that the kernel wants to see.
type Operand struct {
	P       unsafe.Pointer
	Strides []int
	Mem     dtype.DType
	As      dtype.DType
}

// Ptrs are the operands' addresses for one run, in the order given to Run.
type Ptrs [MaxOperands]unsafe.Pointer

const (
	block    = 1024      // elements of eight bytes in a converted or gathered run; runs of smaller elements have more
	grain    = 32 * 1024 // elements of a parallel task
	minInner = 32        // shortest row that is handed over without gathering
	minPlain = 8         // shortest row that is handed over where nothing needs to be converted or gathered first
)

type walk struct {
	nout, n int // operands that are written (they come first); all operands
	shape   []int
	strides [MaxOperands][]int // in bytes
	size    [MaxOperands]int   // of a memory element
	asSize  [MaxOperands]int
	p       Ptrs
	load    [MaxOperands]dtype.Converter // nil: same type
	store   [MaxOperands]dtype.Converter
	dims    [MaxOperands + 1][8]int
	kernel  func(p *Ptrs, n int)
	number  int // the operand that is one element along rows and that the kernel takes as such; 0: none
	many    RowsKernel
}

// RowsKernel is the form of a kernel, of two operands and a result, that takes m rows of n elements. In each
// of the three arrays the rows lie step bytes apart.
type RowsKernel func(p *Ptrs, n, m int, step [3]int)

// numel is the number of elements of a shape.
func numel(shape []int) int {
	n := 1
	for _, s := range shape {
		n *= s
	}
	return n
}

// Run calls kernel for runs that together cover the shape once. The first nout operands are written, the
// others read. A written operand may be the very same array as a read one; other overlap is not allowed.
func Run(shape []int, nout int, ops []Operand, kernel func(p *Ptrs, n int)) {
	total := numel(shape)
	if total == 0 {
		return
	}
	w := walkPool.Get().(*walk)
	w.init(shape, nout, ops)
	w.kernel = kernel
	w.run(total)
}

// RunNumber is Run for two operands and a result, with special kernels. Along rows where the second operand
// is one element, number is called in place of kernel; where the first operand is one element, first is
// called. many takes several rows that lie apart at once. A nil kernel is never called.
func RunNumber(shape []int, ops *[3]Operand, kernel, number, first func(p *Ptrs, n int), many RowsKernel) {
	total := numel(shape)
	if total == 0 {
		return
	}
	w := walkPool.Get().(*walk)
	w.init(shape, 1, ops[:])
	w.kernel = kernel
	switch {
	case number != nil && w.numberAt(2):
		w.kernel = number
	case first != nil && w.numberAt(1):
		w.kernel = first
	case many != nil && w.takesRows():
		w.many = many
	}
	w.run(total)
}

// takesRows reports whether many shall be used: there are many rows, which lie apart and are contiguous in
// all operands, of a length for which one call for many rows costs less than a call for each row, or than
// gathering the rows.
func (w *walk) takesRows() bool {
	k := len(w.shape) - 1
	if k < 1 || w.shape[k-1] < rowsFew || !w.plain() {
		return false
	}
	row := w.shape[k] * w.size[0]
	gaps := row >= 4*rowsLeast // shorter rows that are only repeated are written out instead, see stack
	for i := range w.n {
		down := w.strides[i][k-1]
		if down < 0 {
			return false
		}
		gaps = gaps || down != 0 && down != row
	}
	return gaps && row >= rowsLeast && row <= rowsMost
}

// rowsLeast and rowsMost bound the size of such rows in bytes; fewer rows than rowsFew are not worth a call.
const rowsLeast, rowsMost, rowsFew = 128, 4 << 10, 8

// run walks and returns w to its pool.
func (w *walk) run(total int) {
	if len(w.shape) == 1 && w.plain() {
		w.runPlain(total)
	} else if w.many != nil {
		w.runRows(total)
	} else if m := w.stack(); m > 0 {
		w.runStacked(total, m)
	} else {
		w.runRows(total)
	}
	w.kernel, w.many, w.p, w.number = nil, nil, Ptrs{}, 0
	walkPool.Put(w)
}

// walkPool keeps the descriptions of walks: they are large, and goroutines refer to them. A walk whose kernel panics is
// left to the collector.
var walkPool = sync.Pool{New: func() any { return new(walk) }}

func (w *walk) init(shape []int, nout int, ops []Operand) {
	w.nout, w.n = nout, len(ops)
	nd := len(shape)
	for i := range ops {
		o := &ops[i]
		w.p[i] = o.P
		w.size[i] = o.Mem.Size()
		w.asSize[i] = o.As.Size()
		w.load[i], w.store[i] = nil, nil
		if o.Mem != o.As {
			w.load[i] = dtype.Convert(o.As, o.Mem)
			w.store[i] = dtype.Convert(o.Mem, o.As)
		}
		w.strides[i] = w.dims[i][:0]
	}
	w.shape = w.dims[MaxOperands][:0]
	// order the dimensions by the output's strides, outermost first (insertion sort: few dimensions, usually in order)
	var permBuf [8]int
	perm := permBuf[:0]
	for d := 0; d < nd; d++ {
		if shape[d] == 1 {
			continue
		}
		perm = append(perm, d)
		for j := len(perm) - 1; j > 0 && outer(ops, perm[j], perm[j-1]); j-- {
			perm[j], perm[j-1] = perm[j-1], perm[j]
		}
	}
	// merge neighbouring dimensions that are one dimension for every operand
	for _, d := range perm {
		k := len(w.shape) - 1
		merge := k >= 0
		for i := range ops {
			if !merge {
				break
			}
			merge = w.strides[i][k] == ops[i].Strides[d]*w.size[i]*shape[d]
		}
		if merge {
			w.shape[k] *= shape[d]
			for i := range ops {
				w.strides[i][k] = ops[i].Strides[d] * w.size[i]
			}
			continue
		}
		w.shape = append(w.shape, shape[d])
		for i := range ops {
			w.strides[i] = append(w.strides[i], ops[i].Strides[d]*w.size[i])
		}
	}
	if len(w.shape) == 0 {
		w.shape = append(w.shape, 1)
		for i := range ops {
			w.strides[i] = append(w.strides[i], w.size[i])
		}
	}
}

// outer reports whether dimension a must be walked outside dimension b, although a comes after b in the
// shape.
func outer(ops []Operand, a, b int) bool {
	for i := range ops {
		sa, sb := abs(ops[i].Strides[a]), abs(ops[i].Strides[b])
		if sa == 0 || sb == 0 || sa == sb {
			continue
		}
		return sa > sb
	}
	return false
}

func abs(x int) int {
	if x < 0 {
		return -x
	}
	return x
}

// numberAt tries to make operand i the number: the operand that does not change along the innermost dimension
// and that the kernel takes as one element.
func (w *walk) numberAt(i int) bool {
	k := len(w.shape) - 1
	w.number = i
	if w.strides[i][k] == 0 && w.load[i] == nil && w.shape[k]*w.size[i] > aloneFrom() && w.plain() {
		return true
	}
	w.number = 0
	return false
}

// aloneFrom is the size in bytes above which a row costs less with a call of its own, with a number, than
// stacked with a run that repeats the number. With AVX-512 stacked runs cost less.
func aloneFrom() int {
	if cpu.HasAVX512 {
		return shallow
	}
	return shallow / 2
}

// plain reports whether the innermost dimension of every operand is contiguous and of the kernel's type.
func (w *walk) plain() bool {
	k := len(w.shape) - 1
	for i := 0; i < w.n; i++ {
		if i == w.number && i > 0 {
			continue
		}
		if w.strides[i][k] != w.size[i] || w.load[i] != nil {
			return false
		}
	}
	return true
}

func (w *walk) runPlain(total int) {
	if total <= grain {
		w.kernel(&w.p, total)
		return
	}
	bytes := w.bytes()
	par.Sweep(total, w.grain(total, bytes), bytes, func(lo, hi int) {
		var p Ptrs
		for i := 0; i < w.n; i++ {
			p[i] = unsafe.Add(w.p[i], lo*w.strides[i][0])
		}
		w.kernel(&p, hi-lo)
	})
}

// bytes is the size of the memory of all operands together.
func (w *walk) bytes() int {
	sum := 0
	for i := range w.n {
		n := w.size[i]
		for d, st := range w.strides[i] {
			if st != 0 {
				n *= w.shape[d]
			}
		}
		sum += n
	}
	return sum
}

// grain is the number of elements of a task of a plain walk on operands of the given number of bytes
// together. Longer runs are faster, as long as there are enough tasks of equal size for the threads. Where
// the caches do not hold the arrays, and the result is not one of the inputs, tasks are so large that kernels
// use non-temporal stores.
func (w *walk) grain(total, bytes int) int {
	size := w.size[0]
	inPlace := false
	for i := 1; i < w.n; i++ {
		size = max(size, w.size[i])
		inPlace = inPlace || w.p[i] == w.p[0]
	}
	if bytes >= vec.BeyondCaches && w.nout == 1 && !inPlace && total*w.size[0] >= aroundTasks*vec.NonTemporalFrom {
		return max(grain, vec.NonTemporalFrom/w.size[0])
	}
	if total <= 16*grain {
		tasks := 2 * ((total + 2*grain - 1) / (2 * grain))
		return ((total+tasks-1)/tasks + 63) &^ 63 // whole lines of elements of any size
	}
	return max(grain, min((total/16+1023)&^1023, longest/size))
}

const (
	// longest bounds the bytes of an operand in a task.
	longest = 512 << 10

	// aroundTasks is the least number of tasks with non-temporal stores, which are large: few large tasks
	// would be shared badly among threads.
	aroundTasks = 6
)

// runRows handles all other walks: long rows are cut into blocks, short ones are gathered into blocks.
func (w *walk) runRows(total int) {
	k := len(w.shape) - 1
	inner := w.shape[k]
	plain := w.plain()
	if inner >= minInner || k == 0 || plain && inner >= minPlain {
		if plain && inner <= grain {
			rows := total / inner
			if total <= grain {
				w.rows(0, rows, k)
				return
			}
			par.Sweep(rows, max(1, grain/inner), w.bytes(), func(lo, hi int) { w.rows(lo, hi, k) })
			return
		}
		if set := w.tiles(); set != 0 {
			w.runTiles(total, set)
			return
		}
		block := w.block()
		per := (inner + block - 1) / block
		par.For(total/inner*per, max(1, grain/min(inner, block)), func(lo, hi int) {
			b := newBuffers(w)
			defer b.free()
			var p Ptrs
			for t := lo; t < hi; t++ {
				r, from := t/per, t%per*block
				n := min(block, inner-from)
				w.at(&p, r, k)
				for i := 0; i < w.n; i++ {
					p[i] = unsafe.Add(p[i], from*w.strides[i][k])
				}
				w.runBlock(b, &p, n, k, t > lo)
			}
		})
		return
	}
	if inner*w.size[0] >= line { // with shorter rows, the order of the result is best
		w.tiles()
	}
	if total <= grain {
		w.gather(0, total)
		return
	}
	par.For(total, grain, w.gather)
}

// tiles returns, as bits, the operands that are contiguous along another dimension than the innermost one. A
// tile of such an operand is transposed at once; read row by row, each element would come from a cache line
// of its own. The dimension along which most operands are contiguous becomes the one next to the innermost.
// Where it is next to the innermost already, a cache line that one row reads is still in the cache when the
// next row needs it. Then transposing pays only for elements of one, four or eight bytes, for which there is
// a fast transpose, and for short rows, of which the kernel may take several at once.
//
//	operand in memory (columns contiguous)     tile, transposed in a buffer
//	  a b c d …  ← first column                a e i m   ← a row of the walk
//	  e f g h …                                b f j n
//	  i j k l …                                c g k o
func (w *walk) tiles() (set int) {
	k := len(w.shape) - 1
	short := w.shape[k] <= shortRow
	var buf [8]int
	sets := places(buf[:], k+1)
	best := k
	for d := k - 1; d >= 0; d-- {
		for i := w.nout; i < w.n; i++ {
			if st := w.strides[i][k]; w.strides[i][d] == w.size[i] && st > w.size[i] && w.shape[d] >= minPlain &&
				(d < k-1 || w.size[i] != 2 || short) {
				sets[d] |= 1 << i
			}
		}
		if bits.OnesCount(uint(sets[d])) > bits.OnesCount(uint(sets[best])) {
			best = d
		}
	}
	if best < k {
		w.shape[best], w.shape[k-1] = w.shape[k-1], w.shape[best]
		for i := range w.n {
			st := w.strides[i]
			st[best], st[k-1] = st[k-1], st[best]
		}
	}
	return sets[best]
}

// A tile has tileRows rows of up to tileCols elements, or whole rows one after the other, of tileRun elements together.
const (
	// A tile has tileRows rows of up to tileCols elements. Where whole rows follow one another, a tile has
	// tileRun elements of them.
	tileRows = 16
	tileRun  = 2048
	shortRow = 128 // elements of a row of which the kernel may take several at once
	line     = 64  // bytes of a line of the caches
)

// tileCols is the number of columns of a tile that suits the second-level cache: each row of the result is
// one run, and a transposed tile need not stay in the first-level cache.
func tileCols() int {
	if cpu.HasAVX512 {
		return 256
	}
	return 1024
}

// adjoin reports whether the rows of all operands but those in set lie one after the other.
func (w *walk) adjoin(set int) bool {
	k := len(w.shape) - 1
	for i := range w.n {
		if set>>i&1 == 0 && (w.strides[i][k] != w.size[i] || w.strides[i][k-1] != w.shape[k]*w.size[i]) {
			return false
		}
	}
	return true
}

// runTiles handles walks in which the operands in set are transposed tile by tile. gather runs the kernel on
// the elements [lo,hi), gathered into blocks.
func (w *walk) runTiles(total, set int) {
	k := len(w.shape) - 1
	inner, rows := w.shape[k], w.shape[k-1]
	high, wide, run := tileRows, tileCols(), 0
	if inner <= wide && w.adjoin(set) {
		high = max(tileRows, tileRun/inner&^(tileRows-1))
		run = high * inner
	}
	down, across := (rows+high-1)/high, (inner+wide-1)/wide
	par.For(total/(inner*rows)*down*across, max(1, grain/(high*min(inner, wide))), func(lo, hi int) {
		b := newBuffers(w)
		defer b.free()
		b.run = max(b.run, run)
		b.turned = set
		var p, q Ptrs
		for t := lo; t < hi; t++ {
			r, from := t/across%down*high, t%across*wide
			m, n := min(high, rows-r), min(wide, inner-from)
			w.at(&p, t/(across*down)*rows+r, k)
			for i := 0; i < w.n; i++ {
				p[i] = unsafe.Add(p[i], from*w.strides[i][k])
				if size := w.size[i]; set>>i&1 != 0 {
					if need := (max(run, tileRows*wide)*size + 7) / 8; len(b.tile[i]) < need {
						b.tile[i] = make([]uint64, need)
					}
					d := unsafe.Pointer(&b.tile[i][0])
					plane(d, n*size, size, p[i], size, w.strides[i][k], m, n, size)
					p[i] = d
				}
			}
			if run > 0 {
				w.runBlock(b, &p, m*n, k, t > lo)
				continue
			}
			for j := range m {
				for i := 0; i < w.n; i++ {
					if step := w.strides[i][k-1]; set>>i&1 != 0 {
						q[i] = unsafe.Add(p[i], j*n*w.size[i])
					} else {
						q[i] = unsafe.Add(p[i], j*step)
					}
				}
				w.runBlock(b, &q, n, k, t > lo || j > 0)
			}
		}
	})
}

// rows runs the kernel on whole rows.
func (w *walk) rows(lo, hi, k int) {
	var p Ptrs
	for lo < hi {
		w.at(&p, lo, k)
		n := 1
		if k > 0 {
			n = min(hi-lo, w.shape[k-1]-lo%w.shape[k-1])
		}
		if w.many != nil {
			w.many(&p, w.shape[k], n, [3]int{w.strides[0][k-1], w.strides[1][k-1], w.strides[2][k-1]})
			lo += n
			continue
		}
		for j := range n {
			if j > 0 {
				for i := 0; i < w.n; i++ {
					p[i] = unsafe.Add(p[i], w.strides[i][k-1])
				}
			}
			w.kernel(&p, w.shape[k])
		}
		lo += n
	}
}

// gather runs the kernel on the elements [lo,hi), gathered into blocks.
func (w *walk) gather(lo, hi int) {
	b, block := newBuffers(w), w.block()
	defer b.free()
	for ; lo < hi; lo += block {
		w.gatherBlock(b, lo, min(block, hi-lo))
	}
}

// at sets p to the start of row r, the dimensions before k counted row-major.
func (w *walk) at(p *Ptrs, r, k int) {
	*p = w.p
	for d := k - 1; d >= 0 && r > 0; d-- {
		q := r / w.shape[d]
		x := r - q*w.shape[d]
		r = q
		for i := 0; i < w.n; i++ {
			p[i] = unsafe.Add(p[i], x*w.strides[i][d])
		}
	}
}

// block is the number of elements of a run: as many of the largest elements as 8 KB hold.
func (w *walk) block() int {
	size := 1
	for i := 0; i < w.n; i++ {
		// a broadcast element is converted before it is repeated
		if size = max(size, w.asSize[i]); w.strides[i][len(w.shape)-1] != 0 {
			size = max(size, w.size[i])
		}
	}
	return block * 8 / min(size, 8)
}

// buffers are the scratch runs of one task: raw (gathered, in the type of the memory) and conv (in the
// kernel's type).
type buffers struct {
	run       int // elements of a run
	raw, conv [MaxOperands][]uint64
	tile      [MaxOperands][]uint64 // see runTiles
	q         Ptrs                  // the addresses that a kernel is given
	last      Ptrs                  // address of the broadcast element with which conv[i] is filled
	turned    int                   // as bits: the operands whose rows have been transposed to contiguous ones
}

// bufferPool keeps the scratch of tasks, which are many. The scratch of a task whose kernel panics is left to
// the garbage collector.
var bufferPool = sync.Pool{New: func() any { return new(buffers) }}

// lend returns buffers for run elements.
func lend(run int) *buffers {
	b := bufferPool.Get().(*buffers)
	b.run, b.last, b.turned = run, Ptrs{}, 0
	return b
}

// free returns the buffers to the pool.
func (b *buffers) free() { bufferPool.Put(b) }

func newBuffers(w *walk) *buffers {
	run := 1
	for _, n := range w.shape {
		run *= n
	}
	if k := len(w.shape) - 1; w.shape[k] >= minInner {
		run = w.shape[k] // rows are not gathered
	}
	return lend(min(run, w.block()))
}

func (b *buffers) get(s *[MaxOperands][]uint64, i, size int) unsafe.Pointer {
	if n := (b.run*size+7)/8 + 8; len(s[i]) < n {
		s[i] = make([]uint64, n)
	}
	return unsafe.Pointer(&s[i][0])
}

// runBlock runs the kernel on n elements of one row.
func (w *walk) runBlock(b *buffers, p *Ptrs, n, k int, again bool) {
	q := &b.q
	for i := 0; i < w.n; i++ {
		st := w.strides[i][k]
		if b.turned>>i&1 != 0 {
			st = w.size[i]
		}
		if st == w.size[i] && w.load[i] == nil {
			q[i] = p[i]
			continue
		}
		c := b.get(&b.conv, i, w.asSize[i])
		q[i] = c
		if i < w.nout {
			continue
		}
		if st == 0 && again && b.last[i] == p[i] {
			continue // still filled with this value
		}
		src, load := p[i], w.load[i]
		switch {
		case st == 0:
			b.take(i, c, src, 1, load, w.size[i])
		case load == nil:
			gather(c, src, st, n, w.size[i])
		case st == w.size[i]:
			load(c, src, n)
		default:
			raw := b.get(&b.raw, i, w.size[i])
			gather(raw, src, st, n, w.size[i])
			load(c, raw, n)
		}
		if st == 0 {
			Fill(c, c, min(b.run, w.shape[k]), w.asSize[i]) // as much as any block of the row needs
			b.last[i] = p[i]
		}
	}
	w.kernel(q, n)
	for i := 0; i < w.nout; i++ {
		if q[i] == p[i] {
			continue
		}
		st := w.strides[i][k]
		src := q[i]
		if w.store[i] != nil {
			if st == w.size[i] {
				w.store[i](p[i], src, n)
				continue
			}
			raw := b.get(&b.raw, i, w.size[i])
			w.store[i](raw, src, n)
			src = raw
		}
		scatter(p[i], src, st, n, w.size[i])
	}
}

// gatherBlock runs the kernel on n elements from the linear position lo on, in whatever rows they lie.
func (w *walk) gatherBlock(b *buffers, lo, n int) {
	q := &b.q
	dense := 0 // as bits: operands that the walk goes through without gaps
	for i := 0; i < w.n; i++ {
		mem := unsafe.Add(w.p[i], lo*w.size[i])
		if w.dense(i) {
			dense |= 1 << i
			if w.load[i] == nil {
				q[i] = mem
				continue
			}
		}
		q[i] = b.get(&b.conv, i, w.asSize[i])
		switch {
		case i < w.nout:
		case w.load[i] == nil:
			w.moveBlock(i, q[i], lo, n, gather)
		case dense>>i&1 != 0:
			w.load[i](q[i], mem, n)
		default:
			raw := b.get(&b.raw, i, w.size[i])
			w.moveBlock(i, raw, lo, n, gather)
			w.load[i](q[i], raw, n)
		}
	}
	w.kernel(q, n)
	for i := 0; i < w.nout; i++ {
		src, store := q[i], w.store[i]
		switch {
		case dense>>i&1 == 0:
			if store != nil {
				src = b.get(&b.raw, i, w.size[i])
				store(src, q[i], n)
			}
			w.moveBlock(i, src, lo, n, scatter)
		case store != nil:
			store(unsafe.Add(w.p[i], lo*w.size[i]), src, n)
		}
	}
}

// dense reports whether the walk goes through operand i without gaps.
func (w *walk) dense(i int) bool {
	next := w.size[i]
	for d := len(w.shape) - 1; d >= 0; d-- {
		if w.strides[i][d] != next {
			return false
		}
		next *= w.shape[d]
	}
	return true
}

// places is room for n numbers: buf, which lies on the stack, or a new slice for tensors of many dimensions.
func places(buf []int, n int) []int {
	if n > len(buf) {
		return make([]int, n)
	}
	return buf[:n]
}

// moveBlock moves n elements of operand i, from the linear position lo on, to a contiguous run (move is
// gather) or from it (move is scatter). It counts rows like an odometer, because divisions would cost more
// than short rows.
func (w *walk) moveBlock(i int, run unsafe.Pointer, lo, n int, move func(d, s unsafe.Pointer, st, n, size int)) {
	k := len(w.shape) - 1
	inner, strides, size := w.shape[k], w.strides[i], w.size[i]
	out := i < w.nout
	var buf [8]int
	at := places(buf[:], k)
	p := w.p[i]
	x, r := lo%inner, lo/inner
	for d := k - 1; d >= 0 && r > 0; d-- {
		at[d] = r % w.shape[d]
		r /= w.shape[d]
		p = unsafe.Add(p, at[d]*strides[d])
	}
	for {
		rows := 1
		if x == 0 && k > 0 { // as many whole rows as there are in the next dimension
			rows = max(1, min(n/inner, w.shape[k-1]-at[k-1]))
		}
		m := min(inner-x, n)
		switch mem := unsafe.Add(p, x*strides[k]); {
		case rows > 1 && out:
			plane(mem, strides[k-1], strides[k], run, inner*size, size, rows, inner, size)
		case rows > 1:
			plane(run, inner*size, size, mem, strides[k-1], strides[k], rows, inner, size)
		case out:
			move(mem, run, strides[k], m, size)
		default:
			move(run, mem, strides[k], m, size)
		}
		if n -= rows * m; n == 0 {
			return
		}
		run, x = unsafe.Add(run, rows*m*size), 0
		for d := k - 1; d >= 0; d-- {
			p = unsafe.Add(p, rows*strides[d])
			if at[d] += rows; at[d] < w.shape[d] {
				break
			}
			p = unsafe.Add(p, -at[d]*strides[d])
			at[d], rows = 0, 1
		}
	}
}

func copyBytes(d, s unsafe.Pointer, n int) {
	vec.CopyBytes(unsafe.Slice((*byte)(d), n), unsafe.Slice((*byte)(s), n))
}

// c16 is any element of sixteen bytes.
type c16 [2]uint64

// gather copies n elements that lie st bytes apart to a contiguous run.
func gather(d, s unsafe.Pointer, st, n, size int) {
	switch {
	case st == size:
		copyBytes(d, s, n*size)
	case size == 4 && st == 8 && n >= minInner:
		second[float32](d, s, n)
	case size == 8 && st == 16 && n >= minInner:
		second[float64](d, s, n)
	default:
		elements(d, size, s, st, n, size)
	}
}

// second gathers every second element with a deinterleaving kernel. The elements between, which nobody wants,
// are written to places of dst that are overwritten later: half of the remaining elements is gathered at a
// time.
func second[E float32 | float64](d, s unsafe.Pointer, n int) {
	dst, src := unsafe.Slice((*E)(d), n), unsafe.Slice((*E)(s), 2*n-1)
	for len(dst) >= 16 {
		m := len(dst) / 2 &^ 7 // whole vectors
		vec.Deinterleave(dst[:m], dst[m:2*m], src[:2*m])
		dst, src = dst[m:], src[2*m:]
	}
	for i := range dst {
		dst[i] = src[2*i]
	}
}

func scatter(d, s unsafe.Pointer, st, n, size int) { elements(d, st, s, size, n, size) }

// Split returns the product of the sizes before a dimension, the size of the dimension, and the product of
// the sizes after it.
func Split(shape []int, dim int) (outer, n, inner int) {
	outer, n, inner = 1, 1, 1
	for d, s := range shape {
		switch {
		case d < dim:
			outer *= s
		case d == dim:
			n = s
		default:
			inner *= s
		}
	}
	return outer, n, inner
}
