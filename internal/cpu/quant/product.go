package quant

import (
	"fmt"
	"slices"
	"sync"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/mem"
	"github.com/gotorch-dev/torch/internal/par"
)

// Spatial is the number of dimensions behind batch and channels that a Geometry has; convolutions of fewer have a
// single element in the first ones.
const Spatial = 3

// Geometry is a convolution over an input laid out [batch, positions, channels], with a result laid out alike. Pad is
// the padding before the first element; that behind the last one follows from Out.
type Geometry struct {
	Batch, Channels, Groups               int
	In, Out, Kernel, Stride, Pad, Dilated [Spatial]int
}

func volume(a [Spatial]int) int { return a[0] * a[1] * a[2] }

// pointwise reports a convolution that is a product of the input, as it lies in memory, and a matrix.
func (g *Geometry) pointwise() bool {
	return g.Groups == 1 && volume(g.Kernel) == 1 && volume(g.Stride) == 1 && g.Pad == [Spatial]int{}
}

// Runs is how the weights of a convolution are cut into runs of adjacent bytes: the elements of the kernel's window
// that lie beside each other in memory, each with all its channels.
func (g *Geometry) Runs() (runs, length int) {
	runs, length = volume(g.Kernel), g.Channels/g.Groups
	if g.joins() {
		return runs / g.Kernel[2], length * g.Kernel[2]
	}
	return runs, length
}

// joins reports whether neighbouring elements of a row of the window are neighbours in memory.
func (g *Geometry) joins() bool { return g.Groups == 1 && g.Dilated[2] == 1 }

// Depthwise reports a convolution of each channel with a kernel of its own, for which there are kernels; outs is the
// number of output channels.
func (g *Geometry) Depthwise(outs int) bool {
	return g.Groups > 1 && g.Groups == g.Channels && outs == g.Channels
}

// Multiply multiplies rows of bytes, of w.Length each, with a matrix of weights, whose columns have one run.
func Multiply(w *Weights, in Input, rows int, r *Result) {
	g := Geometry{Batch: 1, Channels: w.Length, Groups: 1, In: [Spatial]int{1, 1, rows}, Out: [Spatial]int{1, 1, rows},
		Kernel: [Spatial]int{1, 1, 1}, Stride: [Spatial]int{1, 1, 1}, Dilated: [Spatial]int{1, 1, 1}}
	Convolve(&g, []*Weights{w}, in, r)
}

// Convolve computes a convolution. There are weights for each group; a depthwise convolution has one, whose columns are
// the channels, if their zero points are 0.
func Convolve(g *Geometry, w []*Weights, in Input, r *Result) {
	j := jobs.Get().(*job)
	*j = job{Geometry: *g, w: w, in: in, f: j.f[:0], own: j.own, taps: j.taps[:0]}
	total := g.Batch * volume(g.Out)
	outs := w[0].N * len(w)
	p, n, size := r.memory()
	if len(in.data) != g.Batch*volume(g.In)*g.Channels || n != total*outs {
		panic(fmt.Sprintf("quant: a convolution of %d bytes to %d elements does not fit %+v", len(in.data), n, *g))
	}
	if n == 0 {
		return
	}
	j.out, j.size, j.pitch = p, size, outs*size
	j.zero = in.Zero
	if in.signed {
		j.zero += 128
	}
	j.own = slices.Grow(j.own, len(w))[:len(w)]
	for i := range w {
		j.f = append(j.f, w[i].finishing(r, in.Scale, j.zero, &j.own[i]))
	}
	j.plan(total)
	j.run()
	clear(j.f)
	clear(j.own)
	*j = job{f: j.f, own: j.own[:0], taps: j.taps}
	jobs.Put(j)
}

// jobs are those that are done: a product of one row takes little longer than making one.
var jobs = sync.Pool{New: func() any { return new(job) }}

// job is a convolution with its plan. The positions of the result are cut into segments: the rows of an image, whose
// rows of A lie at equal distances, or pieces of a matrix.
type job struct {
	Geometry
	w    []*Weights
	f    []*finishing
	own  []finishing // those of f that belong to the job
	in   Input
	zero int // of the bytes as unsigned ones

	out         unsafe.Pointer
	size, pitch int // bytes of an element and a row of the result

	flat     bool
	three    bool // depth3 computes the product
	cols     int  // columns of a strip
	most     int  // rows of a tile
	images   int  // batch; 1 where flat
	segments int  // of an image
	length   int  // positions in a segment; in the last one of a matrix there may be fewer
	last     int  // positions in the last segment

	copied bool         // the kernels read a copy, with padding
	padded [Spatial]int // sizes of the image that the kernels read
	taps   []int
	band   int // segments of a task
	strips int // of a group
	units  int // strips of all groups, and how many of them are a task
	block  int
}

// flatRows is the number of rows of a matrix in a segment, a multiple of tileRows.
const flatRows = 8 * tileRows

// bandBytes bounds what the kernels read of A in a task: it stays in the L2 cache.
const bandBytes = 192 << 10

// taskMACs is the number of multiply-adds that are worth a task, some microseconds.
const taskMACs = 1 << 19

// plan chooses segments and tasks.
func (j *job) plan(total int) {
	w := j.w[0]
	j.images, j.segments, j.length = j.Batch, j.Out[0]*j.Out[1], j.Out[2]
	j.last = j.length
	if j.flat = j.pointwise(); j.flat {
		j.images, j.segments, j.length = 1, (total+flatRows-1)/flatRows, min(total, flatRows)
		j.last = total - (j.segments-1)*flatRows
	}
	// Kernels of products read up to three bytes behind a run.
	j.copied = j.Pad != [Spatial]int{} || j.in.signed || !w.depthwise && (w.Length%4 != 0 || w.Length == 0)
	var needs [Spatial]int
	for d := range Spatial {
		needs[d] = (j.Out[d]-1)*j.Stride[d] + (j.Kernel[d]-1)*j.Dilated[d] + 1
		j.copied = j.copied || needs[d] > j.In[d] // padding at the end
	}
	if j.padded = j.In; j.copied && !j.flat {
		j.padded = needs
	}
	wide := j.Kernel[2]
	if w.Runs < volume(j.Kernel) {
		wide = 1
	}
	for a := range j.Kernel[0] {
		for b := range j.Kernel[1] {
			for c := range wide {
				j.taps = append(j.taps, ((a*j.Dilated[0]*j.padded[1]+b*j.Dilated[1])*j.padded[2]+c*j.Dilated[2])*j.Channels)
			}
		}
	}
	j.three = w.depthwise && j.f[0].init != nil && j.Kernel == [Spatial]int{1, 3, 3} && j.Dilated[2] == 1 &&
		j.Stride[2] <= 2
	switch {
	case j.three:
		j.cols, j.most = depth3Cols, depth3Rows
	case w.depthwise:
		j.cols, j.most = tileCols, depthRows
	default:
		j.cols, j.most = tileCols, dotRows()
	}
	strips := (w.N + j.cols - 1) / j.cols // all groups have as many columns
	j.units = strips * len(j.w)
	j.strips = strips
	// Bands of segments as the cache wants them, then more tasks where there are threads for them: narrower blocks of
	// weights if these are larger than the input, otherwise narrower bands.
	macs := total * w.Runs * w.Length * w.N * len(j.w)
	if w.depthwise {
		macs = total * w.Runs * w.N * 8 // are slower
	}
	tasks := min(macs/taskMACs, 4*par.NumThreads())
	segmentBytes := j.padded[1] * j.padded[2] * j.Channels / j.Out[1]
	if j.flat {
		segmentBytes = j.length * j.Channels
	}
	j.band = min(j.segments, max(1, bandBytes/max(1, segmentBytes)))
	if j.Out[0] > 1 || j.Kernel[0] > 1 { // the bands of a copy are rows of one plane
		j.band = j.segments
	}
	j.block = j.units
	bands := j.images * ((j.segments + j.band - 1) / j.band)
	switch {
	case bands >= tasks:
	case len(j.w)*len(w.b) > j.images*j.segments*segmentBytes || j.band == 1 || j.Out[0] > 1 || j.Kernel[0] > 1:
		parts := min(j.units, (tasks+bands-1)/bands)
		j.block = (j.units + parts - 1) / parts
	default:
		parts := (tasks + bands - 1) / bands
		j.band = (j.band + parts - 1) / parts
	}
	// Bands of equal height.
	bands = (j.segments + j.band - 1) / j.band
	j.band = (j.segments + bands - 1) / bands
}

// run computes all tasks.
func (j *job) run() {
	w := j.w[0]
	bands := (j.segments + j.band - 1) / j.band
	blocks := (j.units + j.block - 1) / j.block
	cost := j.band * j.length * w.Runs * w.Length * min(j.block*j.cols, w.N*len(j.w))
	par.For(j.images*bands*blocks, max(1, taskMACs/2/max(1, cost)), func(lo, hi int) {
		for t := lo; t < hi; t++ {
			band := t / blocks
			s, u := band%bands*j.band, t%blocks*j.block
			j.task(band/bands, s, min(s+j.band, j.segments), u, min(u+j.block, j.units))
		}
	})
}

// task computes the segments [s0,s1) of an image for the strips [u0,u1).
func (j *job) task(image, s0, s1, u0, u1 int) {
	src := unsafe.Pointer(unsafe.SliceData(j.in.data))
	step := j.Stride[2] * j.Channels // between positions
	segment := func(s int) int {     // where a segment begins in what the kernels read
		if j.flat {
			return s * flatRows * j.Channels
		}
		return (s/j.Out[1]*j.Stride[0]*j.padded[1] + s%j.Out[1]*j.Stride[1]) * j.padded[2] * j.Channels
	}
	first := 0
	if !j.flat {
		src = unsafe.Add(src, image*volume(j.In)*j.Channels)
	}
	if j.copied {
		first = segment(s0)
		n := j.copySize(s0, s1)
		buf := mem.Alloc(n + 64)
		defer mem.Free(buf, n+64)
		j.copy(buf, src, s0, s1)
		clear(unsafe.Slice((*byte)(unsafe.Add(buf, n)), 64))
		src = buf
	}
	var sums [tileRows*tileCols + 16]int32
	args := kernelArgs{lda: step, ldo: j.pitch, neg: -int32(j.zero)}
	line := int(-uintptr(unsafe.Pointer(&sums))&63) / 4
	p := &args
	one := besides() && j.flat && j.segments*j.length == 1 && j.f[0].kind == kindFloats && !j.w[0].depthwise
	var fix []int32
	for u := u0; u < u1; u++ {
		group, strip := u/j.strips, u%j.strips
		w, f := j.w[group], j.f[group]
		args.tile = unsafe.Pointer(&sums[line]) // through p, the sums would go to the heap
		if !w.plain && (u == u0 || strip == 0) {
			fix = j.rowSums(p, fix, src, first, group, s0, s1, segment)
		}
		early := f.init != nil && (j.three || !w.depthwise)
		if u == u0 || strip == 0 {
			f.begin(p)
		}
		f.use(p, w, strip, j.cols, early)
		p.b = unsafe.Pointer(&w.b[strip*w.stripBytes()])
		from := group * (j.Channels / j.Groups) // channel that the strip begins with
		if w.depthwise {
			from = strip * j.cols
			if j.three {
				p.b, p.steps = unsafe.Pointer(&w.columns[strip*depth3Strip]), j.Channels
			}
		}
		done := 0
		for s := s0; s < s1; s++ {
			n, at := j.positions(s)
			a := segment(s) - first + from
			out := (image*volume(j.Out)+at)*j.pitch + (group*w.N+strip*j.cols)*j.size
			for n > 0 {
				rows := j.tile(n)
				p.a, p.out, p.rows, p.tiles = unsafe.Add(src, a), unsafe.Add(j.out, out), rows, 1
				if early { // as many tiles as there are of this height
					p.tiles = min(n/rows, max(1, callSteps/(w.Runs*w.steps)))
					rows *= p.tiles
				}
				beside := 1
				if one {
					beside = max(1, min(tileRows, callSteps/(w.Runs*w.steps), w.N/tileCols-strip, u1-u))
					p.tiles = beside
				}
				if j.three {
					p.taps = unsafe.Pointer(&j.taps[0])
					depth3(p, j.Stride[2])
				} else {
					w.sum(p, j.taps)
				}
				if !early {
					p.tiles = beside
					p.rowFix = nil
					if !w.plain {
						p.rowFix = unsafe.Pointer(&fix[done])
					}
					finish(p)
				}
				done += rows
				n -= rows
				a, out = a+rows*step, out+rows*j.pitch
				u += beside - 1
			}
		}
	}
}

// positions is the number of positions of a segment, and where they begin in the result of an image.
func (j *job) positions(s int) (n, at int) {
	n = j.length
	if s == j.segments-1 {
		n = j.last
	}
	if j.flat {
		return n, s * flatRows
	}
	return n, s * j.length
}

// tile is the height of the next tile where n rows are left: those of equal height, as far as there are.
func (j *job) tile(n int) int {
	if n <= j.most {
		return n
	}
	tiles := (n + j.most - 1) / j.most
	return (n + tiles - 1) / tiles
}

// sum computes the sums of a tile.
func (w *Weights) sum(p *kernelArgs, taps []int) {
	p.add = 0
	if w.depthwise {
		p.taps, p.count = unsafe.Pointer(&taps[0]), len(taps)
		depth(p)
		return
	}
	if w.Runs*w.steps <= callSteps {
		p.taps, p.count, p.steps = unsafe.Pointer(&taps[0]), w.Runs, w.steps
		dot(p)
		return
	}
	q := *p
	runs, steps := max(1, callSteps/w.steps), min(w.steps, callSteps)
	for t := 0; t < w.Runs; t += runs {
		for s := 0; s < w.steps; s += steps {
			q.a, q.b = unsafe.Add(p.a, s*4), unsafe.Add(p.b, (t*w.steps+s)*tileCols*4)
			q.taps, q.count, q.steps = unsafe.Pointer(&taps[t]), min(runs, w.Runs-t), min(steps, w.steps-s)
			dot(&q)
			q.add = 1
		}
	}
}

// rowSums computes what zero points of the weights are multiplied by, for each position of the segments: the sum of the
// bytes of A less their zero points.
func (j *job) rowSums(p *kernelArgs, fix []int32, src unsafe.Pointer, first, group, s0, s1 int,
	segment func(int) int) []int32 {
	w := j.w[group]
	fix, p.init = fix[:0], nil
	p.b = unsafe.Pointer(&w.ones[0])
	for s := s0; s < s1; s++ {
		n, _ := j.positions(s)
		a := segment(s) - first + group*(j.Channels/j.Groups)
		for n > 0 {
			rows := j.tile(n)
			p.a, p.rows = unsafe.Add(src, a), rows
			w.sum(p, j.taps)
			for r := range rows {
				fix = append(fix, *at[int32](p.tile, r*tileCols)-int32(w.Runs*w.Length*j.zero))
			}
			n -= rows
			a += rows * p.lda
		}
	}
	return fix
}

// lines are the rows of the input, of one plane or of all, that the segments [s0,s1) read.
func (j *job) lines(s0, s1 int) (from, to int) {
	if j.band == j.segments {
		return 0, j.padded[1]
	}
	return s0 * j.Stride[1], (s1-1)*j.Stride[1] + (j.Kernel[1]-1)*j.Dilated[1] + 1
}

// copySize is the number of bytes that copy writes.
func (j *job) copySize(s0, s1 int) int {
	if j.flat {
		n, at := j.positions(s1 - 1)
		return (at + n - s0*flatRows) * j.Channels
	}
	from, to := j.lines(s0, s1)
	return j.padded[0] * (to - from) * j.padded[2] * j.Channels
}

// copy copies what the segments [s0,s1) read of an image at src, as unsigned bytes and with padding.
func (j *job) copy(dst, src unsafe.Pointer, s0, s1 int) {
	if j.flat {
		j.copyBytes(dst, unsafe.Add(src, s0*flatRows*j.Channels), j.copySize(s0, s1))
		return
	}
	row := j.padded[2] * j.Channels
	from, to := j.lines(s0, s1)
	left := j.Pad[2] * j.Channels
	inner := min(j.In[2]*j.Channels, row-left)
	at := 0
	fill := func(n int) {
		b := unsafe.Slice((*uint8)(unsafe.Add(dst, at)), n)
		for i := range min(n, 64) {
			b[i] = uint8(j.zero)
		}
		for done := 64; done < n; done *= 2 {
			copy(b[done:], b[:done])
		}
		at += n
	}
	for z := range j.padded[0] {
		for y := from; y < to; y++ {
			zi, yi := z-j.Pad[0], y-j.Pad[1]
			if zi < 0 || zi >= j.In[0] || yi < 0 || yi >= j.In[1] || inner <= 0 {
				fill(row)
				continue
			}
			fill(left)
			j.copyBytes(unsafe.Add(dst, at), unsafe.Add(src, (zi*j.In[1]+yi)*j.In[2]*j.Channels), inner)
			at += inner
			fill(row - left - inner)
		}
	}
}

// copyBytes copies n bytes; signed ones become unsigned ones, 128 larger.
func (j *job) copyBytes(dst, src unsafe.Pointer, n int) {
	d, s := unsafe.Slice((*uint8)(dst), n), unsafe.Slice((*uint8)(src), n)
	copy(d, s)
	if !j.in.signed {
		return
	}
	for len(d) >= 8 {
		*(*uint64)(unsafe.Pointer(&d[0])) ^= 0x8080808080808080
		d = d[8:]
	}
	for i := range d {
		d[i] ^= 0x80
	}
}
