package conv

import (
	"fmt"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/mem"
	"github.com/gotorch-dev/torch/internal/par"
)

const (
	pairBytes = 192 << 10 // of the second-level cache, for what lies between the two
	pairTasks = 8         // fewer leave processors idle
)

// pairJob is a convolution and a depthwise one of its result. A task makes some
// lines of some channels of the first result, a few more than the second one
// needs them for, and has them in cache.
type pairJob[T Float] struct {
	first  *job[T]
	depth  *depthJob[T]
	flat   bool // the first is one long line, see flatten
	lines  int  // of the second result, of a task
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
	if p := newPair(s, ds, out, in, w, dw, ep, dep); p != nil {
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
	p.depth = newDepthJob(forwardJob(ds, out, Image[T]{Last: true}, dep), packSource[T]{dw.Data, wo, wc, wk, wo})
	j := p.first
	taps := j.measure()
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
	j.segments(&j.phases[0], es)
	wo, wc, wk = w.strides(s.Cin, s.Taps())
	j.packWeights(packSource[T]{w.Data, wo, wc, wk, wo * s.Cout})
	return p
}

// cut chooses the lines and the channels of a task: few channels, so that there
// are many lines of which few are made twice, and enough tasks.
func (p *pairJob[T]) cut(es int) {
	j, d := p.first, p.depth
	height, line := d.outD[1], d.inD[2]*j.nr*es
	need := func(lines int) int { return min((lines-1)*d.istep[1]+d.ext[1]+1, d.inD[1]) }
	p.lines = height
	for n := 2; p.lines > 1 && need(p.lines)*line > pairBytes; n++ {
		p.lines = ceilDiv(height, n)
	}
	p.bands = ceilDiv(height, p.lines)
	p.size = need(p.lines)
	total := ceilDiv(j.co, j.nr)
	most := max(1, pairBytes/(p.size*line))
	j.panels = min(most, max(1, total*p.bands*d.n/pairTasks), total)
	p.blocks = ceilDiv(total, j.panels)
	j.panels = ceilDiv(total, p.blocks)
	p.blocks = ceilDiv(total, j.panels)
}

func (p *pairJob[T]) run() {
	var z T
	es := int(unsafe.Sizeof(z))
	par.For(p.depth.n*p.bands*p.blocks, 1, func(lo, hi int) {
		s := p.first.newScratch(es)
		bytes := (p.size*p.depth.inD[2]*p.first.panels*p.first.nr + 16) * es
		buf := mem.Alloc(bytes)
		seg := make([]int, 0, 64)
		for t := lo; t < hi; t++ {
			seg = p.task(t, &s, buf, seg, es)
		}
		mem.Free(buf, bytes)
		s.free()
	})
}

// task computes one block: the channels change fastest, so that the lines of
// the input stay in cache.
func (p *pairJob[T]) task(t int, s *scratch, buf unsafe.Pointer, seg []int, es int) []int {
	j, d := p.first, *p.depth
	img, c0 := t/p.blocks/p.bands, t%p.blocks*j.panels*j.nr
	c1 := min(c0+j.panels*j.nr, j.co)
	y0 := t / p.blocks % p.bands * p.lines
	y1 := min(y0+p.lines, d.outD[1])
	// The lines of the first result that these need.
	m0 := max(y0*d.istep[1]+d.dmin[1], 0)
	m1 := min((y1-1)*d.istep[1]+d.dmin[1]+d.ext[1]+1, d.inD[1])
	pitch := j.panels * j.nr

	if m0 < m1 {
		b := block{n0: img, n1: img + 1, c0: c0, c1: c1, lo: [3]int{0, m0, 0}, hi: [3]int{1, m1, d.inD[2]}}
		dst := target{p: buf, pix: pitch, n0: img, c0: c0}
		if p.flat {
			at := 0
			if j.n == 1 {
				b.n0, b.n1, at = 0, 1, img*d.inD[1]
			}
			b.lo, b.hi = [3]int{0, 0, (at + m0) * d.inD[2]}, [3]int{1, 1, (at + m1) * d.inD[2]}
			dst.n0 = b.n0
		}
		dst.at = b.lo
		dst.line = d.inD[2] * pitch
		var a args
		band := s.band
		if j.direct {
			band = j.origin(&b, 0)
		} else {
			j.load(&b, unsafe.Slice((*T)(band), j.bandLen), 0, j.ci)
		}
		j.columns(&a, s, &b, &dst, band, 0, j.ci, es, [2]span{})
	}

	d.src, d.inPix, d.channels, d.y0 = buf, pitch, c1-c0, m0
	d.outPix = d.groups
	d.dst = unsafe.Add(unsafe.Pointer(&d.out.Data[0]), (img*volume(d.outD)*d.groups+c0)*es)
	d.w = unsafe.Add(d.w, c0*es)
	if d.bias != nil {
		d.bias = unsafe.Add(d.bias, c0*es)
	}
	var a args
	d.setup(&a, d.outPix)
	d.steps(&a)
	for i := range d.phases {
		seg = d.lines(&a, &d.phases[i], 0, 0, y0, y1, seg)
	}
	return seg
}
