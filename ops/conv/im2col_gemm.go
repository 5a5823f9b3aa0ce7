package conv

import (
	"sync"

	"github.com/gotorch-dev/torch/internal/cpu/gemm"
	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
)

// geometry is a convolution over three spatial dimensions; fewer are padded with ones in front.
type geometry struct {
	n, groups int
	cin, cout int    // channels of the input and output, all groups together
	in, out   [3]int // spatial sizes
	k         [3]int
	stride    [3]int
	pad       [3]int
	dil       [3]int
}

func (g *geometry) taps() int    { return g.k[0] * g.k[1] * g.k[2] }
func (g *geometry) inSize() int  { return g.in[0] * g.in[1] * g.in[2] }
func (g *geometry) outSize() int { return g.out[0] * g.out[1] * g.out[2] }

// direct reports a 1x1 convolution whose columns are the input itself. The sizes differ where a transposed convolution has padding of
// its output.
func (g *geometry) direct() bool {
	return g.taps() == 1 && g.stride == [3]int{1, 1, 1} && g.pad == [3]int{} && g.in == g.out
}

// number is the set of element types of columns; 16-bit floats are computed in float32.
type number interface {
	float32 | float64 | complex64 | complex128 | int64 | int32 | int16 | int8 | uint8
}

// mul is C = A·B + beta·C.
func mul[E number](m, n, k int, a []E, rsA, csA int, b []E, rsB, csB int, beta E, c []E, rsC int) {
	gemm.GEMMAny(nil, m, n, k, 1, a, rsA, csA, b, rsB, csB, beta, c, rsC, 1)
}

// scratch keeps column buffers between calls.
var scratch sync.Map // element type -> *sync.Pool

func buffer[E number](n int) *[]E {
	var z E
	p, ok := scratch.Load(any(z))
	if !ok {
		p, _ = scratch.LoadOrStore(any(z), &sync.Pool{})
	}
	if b, _ := p.(*sync.Pool).Get().(*[]E); b != nil && cap(*b) >= n {
		*b = (*b)[:n]
		return b
	}
	b := make([]E, n, n+16)
	return &b
}

func release[E number](b *[]E) {
	var z E
	if p, ok := scratch.Load(any(z)); ok {
		p.(*sync.Pool).Put(b)
	}
}

// blockElems is the size of a block of columns: it stays in the second-level cache.
const blockElems = 128 * 1024

// columns writes the windows of output positions [lo,hi) of nc channels (src begins at the first) as columns: dst has nc·taps rows of hi-lo elements.
func columns[E number](g *geometry, dst, src []E, nc, lo, hi int) {
	w := hi - lo
	r := 0
	for c := range nc {
		plane := src[c*g.inSize():][:g.inSize()]
		for kd := range g.k[0] {
			for kh := range g.k[1] {
				for kw := range g.k[2] {
					columnRow(g, dst[r*w:][:w], plane, kd, kh, kw, lo)
					r++
				}
			}
		}
	}
}

// columnRow writes what one tap sees at len(dst) output positions from lo.
func columnRow[E number](g *geometry, dst, plane []E, kd, kh, kw, lo int) {
	ow := g.out[2]
	x := lo % ow
	y := lo / ow % g.out[1]
	z := lo / ow / g.out[1]
	offW := kw*g.dil[2] - g.pad[2]
	sw := g.stride[2]
	for len(dst) > 0 {
		n := min(ow-x, len(dst))
		d := dst[:n]
		dst = dst[n:]
		iz := z*g.stride[0] + kd*g.dil[0] - g.pad[0]
		iy := y*g.stride[1] + kh*g.dil[1] - g.pad[1]
		if iz < 0 || iz >= g.in[0] || iy < 0 || iy >= g.in[1] {
			clear(d)
		} else {
			row := plane[(iz*g.in[1]+iy)*g.in[2]:][:g.in[2]]
			// output columns [a,b) of this run lie inside the row
			a, b := inside(x, n, sw, offW, g.in[2])
			clear(d[:a])
			clear(d[b:])
			if b > a {
				ix := (x+a)*sw + offW
				if sw == 1 {
					copy(d[a:b], row[ix:])
				} else {
					q := d[a:b]
					for i := range q {
						q[i] = row[ix]
						ix += sw
					}
				}
			}
		}
		x = 0
		if y++; y == g.out[1] {
			y = 0
			z++
		}
	}
}

// inside gives the part [a,b) of n output positions from x whose input position i*stride+off lies in [0,size).
func inside(x, n, stride, off, size int) (a, b int) {
	first := x*stride + off
	if first < 0 {
		a = min(n, (-first+stride-1)/stride)
	}
	b = n
	if last := first + (n-1)*stride; last >= size {
		b = max(a, n-(last-size+stride)/stride)
	}
	return a, b
}

// scatterRow is the reverse of columnRow for all output positions: it adds a row to the plane.
func scatterRow[E number](g *geometry, plane, src []E, kd, kh, kw int) {
	ow := g.out[2]
	offW := kw*g.dil[2] - g.pad[2]
	sw := g.stride[2]
	a, b := inside(0, ow, sw, offW, g.in[2])
	if b <= a {
		return
	}
	for z := range g.out[0] {
		iz := z*g.stride[0] + kd*g.dil[0] - g.pad[0]
		if iz < 0 || iz >= g.in[0] {
			continue
		}
		for y := range g.out[1] {
			iy := y*g.stride[1] + kh*g.dil[1] - g.pad[1]
			if iy < 0 || iy >= g.in[1] {
				continue
			}
			row := plane[(iz*g.in[1]+iy)*g.in[2]:][:g.in[2]]
			s := src[(z*g.out[1]+y)*ow:][:ow][a:b]
			ix := a*sw + offW
			if sw == 1 {
				addTo(row[ix:ix+len(s)], s)
				continue
			}
			for _, v := range s {
				row[ix] += v
				ix += sw
			}
		}
	}
}

func addTo[E number](d, s []E) {
	if len(d) >= 16 {
		switch d := any(d).(type) {
		case []float32:
			vec.AddF32(d, d, any(s).([]float32))
			return
		case []float64:
			vec.AddF64(d, d, any(s).([]float64))
			return
		}
	}
	d = d[:len(s)]
	for i, v := range s {
		d[i] += v
	}
}

// forward computes out [n, cout, ...] from in [n, cin, ...], w [cout, cin/groups, ...] and bias (nil or cout values).
func forward[E number](g *geometry, out, in, w, bias []E) {
	cg, og, l := g.cin/g.groups, g.cout/g.groups, g.outSize()
	k := cg * g.taps()
	if g.n == 0 || og == 0 || l == 0 {
		return
	}
	lb := min(l, max(32, blockElems/max(k, 1)/32*32))
	per := (l + lb - 1) / lb
	par.For(g.n*g.groups*per, 1, func(t0, t1 int) {
		for t := t0; t < t1; t++ {
			lo := t % per * lb
			hi := min(l, lo+lb)
			grp := t / per % g.groups
			img := t / per / g.groups
			o := out[(img*g.cout+grp*og)*l:][:og*l]
			src := in[(img*g.cin+grp*cg)*g.inSize():][:cg*g.inSize()]
			var beta E
			if bias != nil {
				for i := range og {
					fill(o[i*l+lo:i*l+hi], bias[grp*og+i])
				}
				beta = 1
			}
			if k == 0 {
				if bias == nil {
					for i := range og {
						clear(o[i*l+lo : i*l+hi])
					}
				}
				continue
			}
			wg := w[grp*og*k:][:og*k]
			if g.direct() {
				mul(og, hi-lo, k, wg, k, 1, src[lo:], l, 1, beta, o[lo:], l)
				continue
			}
			buf := buffer[E](k * (hi - lo))
			columns(g, *buf, src, cg, lo, hi)
			mul(og, hi-lo, k, wg, k, 1, *buf, hi-lo, 1, beta, o[lo:], l)
			release(buf)
		}
	})
}

func fill[E number](d []E, v E) {
	if len(d) == 0 {
		return
	}
	d[0] = v
	for n := 1; n < len(d); n *= 2 {
		copy(d[n:], d[:n])
	}
}

// backwardData computes the input's gradient from the output's; it is also the forward pass of a transposed convolution, whose bias
// (nil or cin values) starts the sums.
func backwardData[E number](g *geometry, gin, gout, w, bias []E) {
	cg, og, l, taps := g.cin/g.groups, g.cout/g.groups, g.outSize(), g.taps()
	k := cg * taps
	if g.n == 0 || cg == 0 || g.inSize() == 0 {
		return
	}
	cb := min(cg, max(1, 2*blockElems/max(1, taps*l))) // channels of a task
	per := (cg + cb - 1) / cb
	par.For(g.n*g.groups*per, 1, func(t0, t1 int) {
		for t := t0; t < t1; t++ {
			c0 := t % per * cb
			nc := min(cb, cg-c0)
			grp := t / per % g.groups
			img := t / per / g.groups
			dst := gin[(img*g.cin+grp*cg+c0)*g.inSize():][:nc*g.inSize()]
			src := gout[(img*g.cout+grp*og)*l:][:og*l]
			direct := g.direct() && og > 0 && l > 0
			for i := range nc {
				var b E
				if bias != nil {
					b = bias[grp*cg+c0+i]
				}
				if bias != nil || !direct {
					fill(dst[i*g.inSize():(i+1)*g.inSize()], b)
				}
			}
			if og == 0 || l == 0 || taps == 0 {
				continue
			}
			wg := w[grp*og*k+c0*taps:]
			if direct {
				var beta E
				if bias != nil {
					beta = 1
				}
				mul(nc, l, og, wg, 1, k, src, l, 1, beta, dst, l)
				continue
			}
			buf := buffer[E](nc * taps * l)
			mul(nc*taps, l, og, wg, 1, k, src, l, 1, 0, *buf, l)
			r := 0
			for c := range nc {
				plane := dst[c*g.inSize():][:g.inSize()]
				for kd := range g.k[0] {
					for kh := range g.k[1] {
						for kw := range g.k[2] {
							scatterRow(g, plane, (*buf)[r*l:][:l], kd, kh, kw)
							r++
						}
					}
				}
			}
			release(buf)
		}
	})
}

// backwardWeight computes the weight's gradient. The images are cut into chunks, each with a sum of its own, which are added in order
// at the end: the cut depends on the sizes alone.
func backwardWeight[E number](g *geometry, gw, gout, in []E) {
	cg, og, l, taps := g.cin/g.groups, g.cout/g.groups, g.outSize(), g.taps()
	k := cg * taps
	if len(gw) == 0 {
		return
	}
	if g.n == 0 || l == 0 {
		clear(gw)
		return
	}
	cb := min(cg, max(1, (128+taps-1)/taps))
	per := (cg + cb - 1) / cb
	chunks := min(g.n, max(1, 16/(g.groups*per)))
	for chunks > 1 && chunks*len(gw) > 16<<20 {
		chunks /= 2
	}
	size := (g.n + chunks - 1) / chunks
	chunks = (g.n + size - 1) / size
	parts := gw
	if chunks > 1 {
		parts = make([]E, chunks*len(gw))
	}
	lb := min(l, max(64, blockElems/max(1, cb*taps)/64*64)) // output positions at a time
	par.For(chunks*g.groups*per, 1, func(t0, t1 int) {
		for t := t0; t < t1; t++ {
			c0 := t % per * cb
			nc := min(cb, cg-c0)
			grp := t / per % g.groups
			chunk := t / per / g.groups
			dst := parts[chunk*len(gw)+grp*og*k+c0*taps:]
			buf := buffer[E](nc * taps * lb)
			var beta E
			for img := chunk * size; img < min(g.n, (chunk+1)*size); img++ {
				o := gout[(img*g.cout+grp*og)*l:][:og*l]
				src := in[(img*g.cin+grp*cg+c0)*g.inSize():][:nc*g.inSize()]
				if g.direct() {
					mul(og, nc, l, o, l, 1, src, 1, l, beta, dst, k)
					beta = 1
					continue
				}
				for lo := 0; lo < l; lo += lb {
					hi := min(l, lo+lb)
					columns(g, *buf, src, nc, lo, hi)
					mul(og, nc*taps, hi-lo, o[lo:], l, 1, (*buf)[:nc*taps*(hi-lo)], 1, hi-lo, beta, dst, k)
					beta = 1
				}
			}
			release(buf)
		}
	})
	if chunks == 1 {
		return
	}
	copy(gw, parts[:len(gw)])
	par.For(len(gw), 16*1024, func(lo, hi int) {
		for i := 1; i < chunks; i++ {
			addTo(gw[lo:hi], parts[i*len(gw)+lo:i*len(gw)+hi])
		}
	})
}

// backwardBias sums the output's gradient over images and positions.
func backwardBias[E number](g *geometry, gb, gout []E) {
	l := g.outSize()
	par.For(g.cout, max(1, 32*1024/max(1, l*g.n)), func(lo, hi int) {
		for c := lo; c < hi; c++ {
			var s E
			for n := range g.n {
				for _, v := range gout[(n*g.cout+c)*l:][:l] {
					s += v
				}
			}
			gb[c] = s
		}
	})
}
