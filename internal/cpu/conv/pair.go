package conv

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/mem"
	"github.com/gotorch-dev/torch/internal/par"
)

const pairBytes = 160 << 10 // of the second-level cache, for what lies between the two

// pairJob is a convolution and a depthwise one of its result. A task makes some
// lines of some channels of the first result, a few more than the second one
// needs them for, and has them in cache.
type pairJob[T Float] struct {
	first  *job[T]
	depth  *depthJob[T]
	flat   bool // the first is one long line, see flatten
	lines  int  // of the second result, of a task
	step   int  // of those, at a time
	size   int  // lines of the first result that they need
	bands  int
	blocks int // of channels
}

// ForwardDepthwise computes two convolutions one after the other, the second
// one depthwise, as Forward does, but without a whole image in between where
// that can be. Residuals are not for it.
func ForwardDepthwise[T Float](s, ds *Shape, out, in Image[T], w, dw Weights[T], ep, dep *Epilogue[T]) {
	s.check("ForwardDepthwise", s.N*s.Cout*volume(s.Out), len(in.Data), len(w.Data))
	ds.check("ForwardDepthwise", len(out.Data), ds.N*ds.Cin*volume(ds.In), len(dw.Data))
	if ds.N != s.N || ds.In != s.Out || ds.Cin != s.Cout || ds.Groups != ds.Cin || ds.Cout != ds.Cin {
		panic(fmt.Sprintf("conv.ForwardDepthwise: %+v is no depthwise convolution of what %+v makes", *ds, *s))
	}
	if len(out.Data) == 0 {
		return
	}
	var key planKey
	keep := ep != nil && ep.Packed != nil && dep != nil && dep.Packed != nil && ep.Residual == nil && dep.Residual == nil &&
		currentPath() == pathAVX512 // the others keep copies of the bias
	if keep {
		key = planKey{
			s: *s, next: *ds, pt: currentPath(), inLast: in.Last, outLast: out.Last, wLast: w.Last,
			w: unsafe.Pointer(unsafe.SliceData(w.Data)), wNext: unsafe.Pointer(unsafe.SliceData(dw.Data)),
		}
		if p := planned[pairJob[T]](ep.Packed, &key); p != nil {
			p = p.blank()
			p.first.in = in
			p.first.setEpilogue(ep)
			p.depth.out = out
			p.depth.setEpilogue(dep)
			p.depth.bias = p.depth.job.bias
			p.run()
			return
		}
	}
	if p := newPair(s, ds, out, in, w, dw, ep, dep); p != nil {
		if keep && p.first.packsOnce() {
			ep.Packed.keep(&key, p.blank())
		}
		p.run()
		p.first.freeWeights()
		return
	}
	var z T
	n := s.N * s.Cout * volume(s.Out)
	bytes := n * int(unsafe.Sizeof(z))
	buf := mem.Alloc(bytes)
	defer mem.Free(buf, bytes)
	mid := Image[T]{unsafe.Slice((*T)(buf), n), out.Last}
	Forward(s, mid, in, w, ep)
	Forward(ds, out, mid, dw, dep)
}

// blank is the pair without what changes from call to call.
func (p *pairJob[T]) blank() *pairJob[T] {
	c, d := *p, *p.depth
	d.job, d.bias = p.depth.job.blank(), nil
	c.first, c.depth = p.first.blank(), &d
	return &c
}

// newPair plans the pair, nil where the two are better apart.
func newPair[T Float](s, ds *Shape, out, in Image[T], w, dw Weights[T], ep, dep *Epilogue[T]) *pairJob[T] {
	if !out.Last || s.Groups != 1 || ds.Groups == 1 || ds.Taps() == 1 || s.Cin*s.Taps()*volume(s.Out) == 0 ||
		s.Kernel[0]*s.In[0]*ds.Kernel[0] != 1 || s.Out[0]*ds.Out[0] != 1 ||
		ep != nil && ep.Residual != nil || dep != nil && dep.Residual != nil {
		return nil
	}
	var z T
	es := int(unsafe.Sizeof(z))
	p := &pairJob[T]{first: forwardJob(s, Image[T]{Last: true}, in, ep)}
	wo, wc, wk := dw.strides(1, ds.Taps())
	p.depth = newDepthJob(forwardJob(ds, out, Image[T]{Last: true}, dep))
	p.depth.pack(packSource[T]{dw.Data, wo, wc, wk, wo}, ds.Cin)
	j := p.first
	taps := j.measure()
	j.readInPlace()
	if l := j.nr / 2; (j.pt == pathAVX2 || j.pt == pathNEON) && j.co > l && j.co%j.nr > 0 && j.co%j.nr < l {
		return nil // the kernels want whole vectors, also of the last channels
	}
	p.flat = j.outD != s.Out
	p.cut(es)
	j.images, j.yb, j.xb = 1, p.size, s.Out[2]
	if p.flat {
		j.yb, j.xb = 1, p.size*s.Out[2]
	}
	j.blockChannels(taps, es)
	if j.cb < j.ci || !j.direct && j.bandBytes(es) > 2*bandBytes {
		return nil
	}
	j.nImg, j.ny, j.nx, j.npb = s.N, p.bands, 1, p.blocks
	j.layout(es)
	j.makeCells(&j.phases[0], es)
	wo, wc, wk = w.strides(s.Cin, s.Taps())
	j.packWeights(packSource[T]{w.Data, wo, wc, wk, wo * s.Cout})
	return p
}

// cut chooses the lines and the channels of a task. Lines where tasks meet are
// made twice, few channels are written in small pieces, panels that tasks cannot
// share evenly keep processors waiting, and so do few tasks.
func (p *pairJob[T]) cut(es int) {
	j, d := p.first, p.depth
	height, total := d.outD[1], ceilDiv(j.co, j.nr)
	best := math.Inf(1)
	for bands := 1; bands <= min(height, 16); bands++ {
		lines := ceilDiv(height, bands)
		twice := float64(p.need(lines)) / float64(min(lines*d.istep[1], d.inD[1]))
		if twice >= best {
			break
		}
		for panels := 1; panels <= total; panels++ {
			line := d.inD[2] * panels * j.nr * es
			step := min(max((pairBytes/line-d.ext[1]-1)/d.istep[1]+1, 2), lines)
			step = ceilDiv(lines, ceilDiv(lines, step)) // evenly
			if panels > 1 && p.need(step)*line > 2*pairBytes {
				break
			}
			blocks := ceilDiv(total, panels)
			cost := twice * float64(blocks*panels) / float64(total) * (1 + 0.5/float64(panels))
			if step < lines { // some lines are moved
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
	p.size = p.need(p.step)
}

// need is the number of lines of the first result that lines of the second one
// are made of.
func (p *pairJob[T]) need(lines int) int {
	d := p.depth
	return min((lines-1)*d.istep[1]+d.ext[1]+1, d.inD[1])
}

func (p *pairJob[T]) run() {
	var z T
	es := int(unsafe.Sizeof(z))
	total := p.depth.n * p.bands * p.blocks
	par.For(total, 1, func(lo, hi int) {
		s := p.first.newScratch(es)
		bytes := (p.size*p.depth.inD[2]*p.first.panels*p.first.nr + 16) * es
		buf := mem.Alloc(bytes)
		seg := make([]int, 0, 64)
		for t := lo; t < hi; t++ {
			seg = p.task(t, taskAfter(t, hi, 1, total)%total, &s, buf, seg, es)
		}
		mem.Free(buf, bytes)
		s.free()
	})
}

// task computes one block, some lines at a time; the lines of the first result
// that the next ones share with them move to the front of the buffer. Meanwhile
// the first weights of task next come.
func (p *pairJob[T]) task(t, next int, s *scratch, buf unsafe.Pointer, seg []int, es int) []int {
	j, d := p.first, *p.depth
	img, c0 := t/p.blocks/p.bands, t%p.blocks*j.panels*j.nr
	c1 := min(c0+j.panels*j.nr, j.co)
	pitch := j.panels * j.nr
	line := d.inD[2] * pitch
	made := unsafe.Slice((*T)(buf), p.size*line)
	later := j.weightSpan(0, 0, next%p.blocks*pitch, 0)

	d.src, d.inPix, d.outPix, d.channels = buf, pitch, d.groups, c1-c0
	d.dst = unsafe.Add(unsafe.Pointer(&d.out.Data[0]), (img*volume(d.outD)*d.groups+c0)*es)
	d.w = unsafe.Add(d.w, c0*es)
	if d.bias != nil {
		d.bias = unsafe.Add(d.bias, c0*es)
	}
	var a args
	d.setup(&a, d.outPix)
	d.steps(&a)
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
			p.make(img, top, m1, c0, c1, unsafe.Add(buf, (top-m0)*line*es), s, later, es)
			top = m1
		}
		for i := range d.phases {
			seg = d.lines(&a, &d.phases[i], 0, 0, y, end, seg)
		}
	}
	return seg
}

// make computes lines [y0, y1) and channels [c0, c1) of the first result.
func (p *pairJob[T]) make(img, y0, y1, c0, c1 int, buf unsafe.Pointer, s *scratch, later span, es int) {
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
	dst := target{p: buf, pix: pitch, line: width * pitch, n0: b.n0, c0: c0, at: b.lo}
	src := spot{band: s.band}
	if j.direct {
		src = j.origin(&b, 0)
	} else {
		j.load(&b, unsafe.Slice((*T)(s.band), j.bandLen), 0, j.ci)
	}
	var a args
	j.columns(&a, s, &b, &dst, src, 0, j.ci, es, [2]span{later})
}
