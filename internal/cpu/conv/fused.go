package conv

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu"
	"github.com/gotorch-dev/torch/internal/cpu/gemm"
	"github.com/gotorch-dev/torch/internal/mem"
	"github.com/gotorch-dev/torch/internal/par"
)

// fusedBytes is the part of the second-level cache for the intermediate results between fused layers.
var fusedBytes = cpu.L2 / 3

// fusedJob computes layers one after the other on some lines at a time: a convolution, then a depthwise
// convolution or a maximum pooling of its result, and perhaps a third, 1×1 convolution (the inverted residual
// block of MobileNetV2, for instance). A task makes some lines of some channels of the first result, a few
// lines more than it needs new ones for the second layer, and keeps them in cache. If there is a third layer,
// a task makes all channels of its lines.
//
//	input      first result (buffer)      second result (mid)      third result
//	           ┌──────────────┐ lines
//	 ───1×1──► │ kept from    │
//	           │ last step    │ ──3×3──►   step lines   ──1×1──►  step lines
//	           │ new lines    │ depthwise
//	           └──────────────┘
//
// The idea is that of Alwani et al. 2016, "Fused-Layer CNN Accelerators".
type fusedJob[T Float] struct {
	first    *job[T]
	depth    *depthwiseJob[T]
	pools    bool    // the second layer is a maximum pooling instead of a depthwise convolution
	last     *job[T] // the third layer, nil for none
	flat     bool    // the first layer is one long line, see flatten
	lines    int     // lines of the second result in a task
	step     int     // lines of the second result computed at a time
	size     int     // lines of the first result that step lines need
	bands    int
	blocks   int  // number of blocks of channels
	notFused bool // a kept plan that says that the layers are better computed one by one
}

// Layer is one convolution of a chain: its sizes, weights and epilogue.
type Layer[T Float] struct {
	Shape    *Shape
	W        Weights[T]
	Epilogue *Epilogue[T]

	// Max makes the layer a maximum pooling with the sizes of a depthwise convolution: the
	// largest element of each window, not counting padding. It has neither weights nor an
	// epilogue.
	Max bool
}

func (l *Layer[T]) packed() *PackedWeights {
	if l.Epilogue == nil {
		return nil
	}
	return l.Epilogue.Packed
}

func (l *Layer[T]) adds() bool { return l.Epilogue != nil && l.Epilogue.Residual != nil }

func (l *Layer[T]) weights() unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(l.W.Data)) }

// source is the weights of a convolution that is not transposed.
func (l *Layer[T]) source() packSource[T] {
	s := l.Shape
	wo, wc, wk := l.W.strides(s.Cin/s.Groups, s.Taps())
	return packSource[T]{data: l.W.Data, col: wo, row: wc, tap: wk, groups: wo * (s.Cout / s.Groups)}
}

// forwardDepthwise is ForwardDepthwise for one element type.
func forwardDepthwise[T Float](out, in Image[T], first, depth Layer[T], last *Layer[T]) {
	s, ds, made := first.Shape, depth.Shape, len(out.Data)
	if last != nil {
		made = last.Shape.N * last.Shape.Cin * volume(last.Shape.In)
		last.Shape.check("ForwardDepthwise", len(out.Data), made, len(last.W.Data))
		if last.Shape.N != ds.N || last.Shape.In != ds.Out || last.Shape.Cin != ds.Cout {
			panic(fmt.Sprintf("conv.ForwardDepthwise: %+v is no convolution of what %+v makes", *last.Shape, *ds))
		}
	}
	s.check("ForwardDepthwise", s.N*s.Cout*volume(s.Out), len(in.Data), len(first.W.Data))
	weights := len(depth.W.Data)
	if depth.Max {
		weights = ds.Cout * ds.Taps()
	}
	ds.check("ForwardDepthwise", made, ds.N*ds.Cin*volume(ds.In), weights)
	if ds.N != s.N || ds.In != s.Out || ds.Cin != s.Cout || ds.Groups != ds.Cin || ds.Cout != ds.Cin {
		panic(fmt.Sprintf("conv.ForwardDepthwise: %+v is no depthwise convolution of what %+v makes", *ds, *s))
	}
	if len(out.Data) == 0 {
		return
	}
	var key planKey
	keep := first.packed() != nil && (depth.packed() != nil || depth.Max && last == nil) &&
		(last == nil || last.packed() != nil) &&
		// else the bias is copied
		!first.adds() && !depth.adds() && (currentPath() == pathAVX512 || ds.Cin%lanes[T](currentPath()) == 0)
	if keep {
		key = planKey{
			s: *s, next: *ds, pt: currentPath(), inLast: in.Last, outLast: out.Last, wLast: first.W.Last,
			w: first.weights(), wNext: depth.weights(),
		}
		plans := first.packed()
		if last != nil {
			// The cache of the first layer may keep the plan of the first two layers alone.
			plans = depth.packed()
			key.last, key.wThird = *last.Shape, last.weights()
		}
		p := planned[fusedJob[T]](plans, &key)
		switch {
		case p == nil:
			p = newFusedJob(out, in, &first, &depth, last)
			switch {
			case p != nil && p.first.packsOnce():
				plans.keep(&key, p.blank())
			case p == nil && last != nil:
				plans.keep(&key, &fusedJob[T]{notFused: true})
			}
		case p.notFused:
			p = nil
		default:
			p = p.blank()
			p.first.in = in
			p.first.setEpilogue(first.Epilogue)
			if last != nil {
				p.last.out = out
				p.last.setEpilogue(last.Epilogue)
			} else {
				p.depth.out = out
			}
			p.depth.setEpilogue(depth.Epilogue)
			p.depth.bias = p.depth.job.bias
		}
		if p != nil {
			p.run()
			return
		}
	} else if p := newFusedJob(out, in, &first, &depth, last); p != nil {
		p.run()
		p.first.freeWeights()
		if last != nil {
			p.last.freeWeights()
		}
		return
	}
	if last != nil {
		withIntermediate(made, out.Last, func(mid Image[T]) {
			forwardDepthwise(mid, in, first, depth, nil)
			forward(last.Shape, out, mid, last.W, last.Epilogue)
		})
		return
	}
	withIntermediate(s.N*s.Cout*volume(s.Out), out.Last, func(mid Image[T]) {
		forward(s, mid, in, first.W, first.Epilogue)
		if depth.Max {
			maxPool(ds, out, mid)
			return
		}
		forward(ds, out, mid, depth.W, depth.Epilogue)
	})
}

// withIntermediate calls f with an image of n elements, whose memory it frees afterwards.
func withIntermediate[T Float](n int, last bool, f func(mid Image[T])) {
	var z T
	bytes := n * int(unsafe.Sizeof(z))
	buf := mem.Alloc(bytes)
	defer mem.Free(buf, bytes)
	f(Image[T]{unsafe.Slice((*T)(buf), n), last})
}

// blank is the job without what changes from call to call.
func (p *fusedJob[T]) blank() *fusedJob[T] {
	c, d := *p, *p.depth
	d.job, d.bias = p.depth.job.blank(), nil
	c.first, c.depth = p.first.blank(), &d
	if p.last != nil {
		c.last = p.last.blank()
	}
	return &c
}

// newFusedJob plans the layers, and returns nil where they are better computed one by one.
func newFusedJob[T Float](out, in Image[T], first, depth, last *Layer[T]) *fusedJob[T] {
	s, ds := first.Shape, depth.Shape
	if !out.Last || s.Groups != 1 || ds.Groups == 1 || ds.Taps() == 1 || s.Cin*s.Taps()*volume(s.Out) == 0 ||
		s.Kernel[0]*s.In[0]*ds.Kernel[0] != 1 || s.Out[0]*ds.Out[0] != 1 || first.adds() || depth.adds() {
		return nil
	}
	var z T
	es := int(unsafe.Sizeof(z))
	p := &fusedJob[T]{first: forwardJob(s, Image[T]{Last: true}, in, first.Epilogue)}
	if p.first.kn2row() != nil {
		return nil
	}
	made := out
	if last != nil {
		made.Data = nil
	}
	p.depth = newDepthwiseJob(forwardJob(ds, made, Image[T]{Last: true}, depth.Epilogue))
	if p.pools = depth.Max; !p.pools {
		p.depth.pack(depth.source(), ds.Cin)
	}
	j := p.first
	taps := j.measure()
	j.readInPlace()
	if l := j.nr / 2; (j.pt == pathAVX2 || j.pt == pathNEON) && j.co > l && j.co%j.nr > 0 && j.co%j.nr < l {
		return nil // the last vector of channels would not be full, which the depthwise kernels need
	}
	p.flat = j.outD != s.Out
	p.partition(last != nil, es)
	j.images, j.yb, j.xb = 1, p.size, s.Out[2]
	if p.flat {
		j.yb, j.xb = 1, p.size*s.Out[2]
	}
	j.blockChannels(taps, es)
	if j.cb < j.ci || !j.direct && j.bandBytes(es) > 2*bandBytes {
		return nil
	}
	if last != nil && !p.addThird(out, last, es) {
		return nil
	}
	j.nImg, j.ny, j.nx, j.npb = s.N, p.bands, 1, p.blocks
	j.layout(es)
	j.makeRegions(&j.phases[0], es)
	j.packWeights(first.source())
	if last != nil {
		p.last.packWeights(last.source())
	}
	return p
}

// addThird plans the third convolution, if tasks make all channels of the second result.
func (p *fusedJob[T]) addThird(out Image[T], last *Layer[T], es int) bool {
	one := [3]int{1, 1, 1}
	if s := last.Shape; p.blocks > 1 || s.Kernel != one || s.Stride != one || s.Pad != [3]int{} || s.Groups != 1 {
		return false
	}
	j := forwardJob(last.Shape, out, Image[T]{Last: true}, last.Epilogue)
	if j.kn2row() != nil {
		return false
	}
	j.measure()
	j.direct = true
	j.images, j.yb, j.xb = 1, 1, p.step*last.Shape.Out[2]
	j.blockChannels(1, es)
	j.panels = ceilDiv(j.co, j.nr)
	j.nImg, j.ny, j.nx, j.npb = 1, last.Shape.N*p.bands, 1, 1
	j.layout(es)
	j.makeRegions(&j.phases[0], es)
	p.last = j
	return j.cb == j.ci
}

// partition chooses the lines and the channels of a task by an estimate of the time. Lines where tasks meet
// are made twice; few channels are written in small pieces; panels that tasks cannot share evenly keep
// processors waiting, and so do few tasks.
func (p *fusedJob[T]) partition(third bool, es int) {
	j, d := p.first, p.depth
	height, total := d.outD[1], ceilDiv(j.co, j.nr)
	best := math.Inf(1)
	for bands := 1; bands <= min(height, 16); bands++ {
		lines := ceilDiv(height, bands)
		twice := float64(p.linesNeeded(lines)) / float64(min(lines*d.istep[1], d.inD[1]))
		if twice >= best {
			break
		}
		for panels := 1; panels <= total; panels++ {
			line, mid := d.inD[2]*panels*j.nr*es, 0
			if third {
				mid = d.outD[2] * panels * j.nr * es
			}
			step := min(max((fusedBytes-(d.ext[1]+1-d.istep[1])*line)/(d.istep[1]*line+mid), 2), lines)
			step = ceilDiv(lines, ceilDiv(lines, step)) // evenly
			if panels > 1 && p.linesNeeded(step)*line > 2*fusedBytes {
				break
			}
			blocks := ceilDiv(total, panels)
			if panels > ceilDiv(total, blocks) {
				continue
			}
			cost := twice * (1 + float64(blocks*panels-total)/float64(2*total)) * (1 + 0.5/float64(panels))
			if step < lines { // from step to step some lines are moved
				cost *= 1 + 0.1*float64(d.ext[1])/float64(step*d.istep[1])
			}
			tasks := d.n * bands * blocks
			cost *= float64(roundUp(tasks, evenTasks)) / float64(tasks)
			if cost < best {
				best = cost
				p.lines, p.step, p.blocks, j.panels = lines, step, blocks, panels
			}
		}
	}
	p.bands = ceilDiv(height, p.lines)
	p.size = p.linesNeeded(p.step)
}

// linesNeeded is the number of lines of the first result from which the given number of lines of the second
// result is made.
func (p *fusedJob[T]) linesNeeded(lines int) int {
	d := p.depth
	return min((lines-1)*d.istep[1]+d.ext[1]+1, d.inD[1])
}

func (p *fusedJob[T]) run() {
	var z T
	es := int(unsafe.Sizeof(z))
	total := p.depth.n * p.bands * p.blocks
	par.For(total, 1, func(lo, hi int) {
		s := p.first.newScratch(es)
		n := roundUp(p.size*p.depth.inD[2]*p.first.panels*p.first.nr+16, 64)
		bytes := n * es
		if p.last != nil {
			bytes += (p.step*p.depth.outD[2]*p.depth.groups + 16) * es
		}
		buf := mem.Alloc(bytes)
		seg := make([]int, 0, 64)
		for t := lo; t < hi; t++ {
			seg = p.task(t, (t+1)%total, s, buf, unsafe.Add(buf, n*es), seg, es)
		}
		mem.Free(buf, bytes)
		s.free()
	})
}

// firstChannel is where a block of channels begins: all blocks have nearly as many panels.
func (p *fusedJob[T]) firstChannel(block int) int {
	j := p.first
	return min(block*ceilDiv(j.co, j.nr)/p.blocks*j.nr, j.co)
}

// task computes one block, some lines at a time. The lines of the first result that the next step needs again
// move to the front of the buffer. Meanwhile the first weights of task next are prefetched. If there is a
// third layer, the second result goes to mid.
func (p *fusedJob[T]) task(t, next int, s *scratch, buf, mid unsafe.Pointer, seg []int, es int) []int {
	j, d := p.first, *p.depth
	img := t / p.blocks / p.bands
	c0, c1 := p.firstChannel(t%p.blocks), p.firstChannel(t%p.blocks+1)
	pitch := j.panels * j.nr
	line := d.inD[2] * pitch
	made := unsafe.Slice((*T)(buf), p.size*line)
	later := j.weightRange(0, 0, p.firstChannel(next%p.blocks), 0)

	d.src, d.inPix, d.outPix, d.channels = buf, pitch, d.groups, c1-c0
	if p.last != nil {
		d.dst = mid
	} else {
		d.dst = unsafe.Add(unsafe.Pointer(&d.out.Data[0]), (img*volume(d.outD)*d.groups+c0)*es)
	}
	if !p.pools {
		d.w = unsafe.Add(d.w, c0*es)
	}
	if d.bias != nil {
		d.bias = unsafe.Add(d.bias, c0*es)
	}
	a := s.start(0)
	d.setup(a, d.outPix)
	d.steps(a)
	y0 := t / p.blocks % p.bands * p.lines
	y1 := min(y0+p.lines, d.outD[1])
	top := 0 // the line after the last one in the buffer, which begins at d.y0
	for y := y0; y < y1; y += p.step {
		end := min(y+p.step, y1)
		m0 := max(y*d.istep[1]+d.dmin[1], 0)
		m1 := min((end-1)*d.istep[1]+d.dmin[1]+d.ext[1]+1, d.inD[1])
		if m0 < top {
			copy(made, made[(m0-d.y0)*line:(top-d.y0)*line])
		}
		top = max(top, m0)
		d.y0 = m0
		if top < m1 {
			p.firstLines(img, top, m1, c0, c1, unsafe.Add(buf, (top-m0)*line*es), s, later, es)
			top = m1
		}
		if p.last != nil {
			d.outY = y
		}
		if p.pools {
			d.maxPoolLines(0, y, end)
		} else {
			seg = d.lines(a, &d.phases[0], 0, 0, y, end, seg)
		}
		if p.last != nil {
			gemm.Activate(d.act, unsafe.Slice((*T)(mid), (end-y)*d.outD[2]*d.groups))
			p.thirdLines(img, y, end, mid, s, es)
		} else {
			d.activate(&block{n0: img, n1: img + 1, lo: [3]int{0, y, 0}, hi: [3]int{1, end, d.outD[2]}, c0: c0, c1: c1})
		}
	}
	return seg
}

// thirdLines computes the lines [y0, y1) of the third result from the lines of the second result in mid.
func (p *fusedJob[T]) thirdLines(img, y0, y1 int, mid unsafe.Pointer, s *scratch, es int) {
	j, d := p.last, p.depth
	b := block{n1: 1, c1: j.co}
	at := img * d.outD[1]
	b.lo, b.hi = [3]int{0, 0, (at + y0) * d.outD[2]}, [3]int{1, 1, (at + y1) * d.outD[2]}
	dst := resultBuffer{p: unsafe.Pointer(&j.out.Data[0]), pix: j.co}
	j.columns(s.start(1), s, &b, &dst, bandPosition{band: mid}, 0, j.ci, es, [3]addressRange{})
	j.activate(&b)
}

// firstLines computes the lines [y0, y1) and channels [c0, c1) of the first result.
func (p *fusedJob[T]) firstLines(img, y0, y1, c0, c1 int, buf unsafe.Pointer, s *scratch, later addressRange, es int) {
	j, width := p.first, p.depth.inD[2]
	pitch := j.panels * j.nr
	b := block{n0: img, n1: img + 1, c0: c0, c1: c1, lo: [3]int{0, y0, 0}, hi: [3]int{1, y1, width}}
	if p.flat {
		at := 0
		if j.n == 1 {
			b.n0, b.n1, at = 0, 1, img*p.depth.inD[1]
		}
		b.lo, b.hi = [3]int{0, 0, (at + y0) * width}, [3]int{1, 1, (at + y1) * width}
	}
	dst := resultBuffer{p: buf, pix: pitch, line: width * pitch, n0: b.n0, c0: c0, at: b.lo}
	src := bandPosition{band: s.band}
	if j.direct {
		src = j.origin(&b, 0)
	} else {
		j.load(&b, unsafe.Slice((*T)(s.band), j.bandLen), 0, j.ci)
	}
	j.columns(s.start(1), s, &b, &dst, src, 0, j.ci, es, [3]addressRange{later})
	if j.act == gemm.ActNone {
		return
	}
	rows, n := (y1-y0)*width, c1-c0
	if n == pitch {
		rows, n = 1, rows*n
	}
	for i := range rows {
		gemm.Activate(j.act, unsafe.Slice((*T)(unsafe.Add(buf, i*pitch*es)), n))
	}
}
