package conv

import (
	"slices"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/mem"
	"github.com/gotorch-dev/torch/internal/par"
)

// depthwiseGrad computes the gradient of depthwise weights, one band and one vector of channels at a time:
//
//	G[tap, channel] = sum over positions p of A[p + tap, channel]·F[p, channel]
func (g *gradJob[T]) depthwiseGrad(gw Weights[T]) {
	var z T
	es := int(unsafe.Sizeof(z))
	j := g.job
	j.measure()
	l := lanes[T](j.pt)
	last := j.in.Last && j.out.Last
	if j.groupSize == 1 && last && (j.pt == pathAVX512 || j.groups%l == 0) {
		g.depthwiseGradInPlace(gw, l, es)
		return
	}
	j.cb = l / j.groupSize * j.groupSize
	px := bandPositions
	if j.groupSize > 1 {
		// Bands are read for each channel of a group.
		g.index = groupLaneIndex(j.groupSize, l)
		px = min(px, max(gradPixels, 2*(j.ext[1]+1)*j.grid[2]))
	}
	j.planBands(es, px)
	// A position of the band is one vector; layout chose another distance.
	y, x := j.bandSize()
	j.pix = l
	j.line = l * x
	j.slice = j.line * y
	j.img = j.slice * (j.ext[0] + 1)
	j.bandLen = j.img
	j.posOff = nil // made for another distance of positions
	ph := &j.phases[0]
	ph.off = j.offsets(ph, es)

	rows := len(ph.taps) * j.groupSize
	nc := ceilDiv(j.groups, j.cb)
	// The bands of a chunk share their sums. Channels that lie side by side are
	// read while they are in the cache.
	bands := j.nImg * j.grid[0] * j.ny * j.nx
	chunks, split := j.nImg, nc
	if last {
		chunks = min(bands, gradTasks)
		split = min(nc, ceilDiv(gradTasks, chunks))
	}
	per := ceilDiv(bands, chunks)
	chunks = ceilDiv(bands, per)
	parts := make([]T, chunks*nc*rows*l)
	par.For(chunks*split, 1, func(lo, hi int) {
		n := j.bandLen + j.yb*j.xb*l
		buf := mem.Alloc(n * es)
		defer mem.Free(buf, n*es)
		all := unsafe.Slice((*T)(buf), n)
		clear(all)
		seg := make([]int, 2*j.yb+1)
		var p args
		var f prefetcher
		for t := lo; t < hi; t++ {
			chunk, c0, c1 := t/split, t%split*nc/split, (t%split+1)*nc/split
			end := min((chunk+1)*per, bands)
			for q := chunk * per; q < end; q++ {
				b := j.band(q)
				f.start(&p, depthwiseFetchLines, 0)
				if last && q+1 < end {
					next := j.band(q + 1)
					f.start(&p, depthwiseFetchLines, 4*(c1-c0)*rows/4*j.yb*j.xb, j.outputRange(&next),
						j.inputRange(&next, &b))
					p.prefetchStep = min(p.prefetchStep, 64) // one line at a time
				}
				for c := c0; c < c1; c++ {
					b.group = c * j.cb
					g.depthwiseBand(&p, &f, &b, all, parts[(chunk*nc+c)*rows*l:][:rows*l], seg, l, es)
				}
			}
		}
	})
	g.addDepthwiseParts(gw, parts, chunks, l)
}

// addDepthwiseParts adds up the n parts and puts the sums where they belong in the weights. A part is, for
// each vector of channels, a vector per channel of the group and tap.
func (g *gradJob[T]) addDepthwiseParts(gw Weights[T], parts []T, n, l int) {
	taps, vl := len(g.phases[0].taps), l/g.groupSize*g.groupSize
	rows := g.groupSize * taps
	size := ceilDiv(g.groups, vl) * rows * l
	for i := 1; i < n; i++ {
		addTo(parts[:size], parts[i*size:][:size])
	}
	so, sc, sk := gw.strides(g.groupSize, taps)
	for c := 0; c < g.groups; c += vl {
		sum, dst, n := parts[c/vl*rows*l:][:rows*l], gw.Data[c*so:], min(vl, g.groups-c)
		if sk == 1 || g.groupSize == 1 { // the rows follow one another in the weights, too
			transpose(dst, so, sum, l, rows, n)
			continue
		}
		for r := range rows {
			at := r/taps*sc + r%taps*sk
			for i, v := range sum[r*l:][:n] {
				dst[at+i*so] = v
			}
		}
	}
}

// depthwiseBand adds what a band contributes to the sums of a vector of channels.
func (g *gradJob[T]) depthwiseBand(p *args, f *prefetcher, b *block, buf, out []T, seg []int, l, es int) {
	j := g.job
	channels := min(j.cb, j.groups-b.group)
	j.load(b, buf[:j.bandLen], 0, channels)
	grad := buf[j.bandLen:]
	size := volume(j.outD)
	lines, n := b.hi[1]-b.lo[1], b.hi[2]-b.lo[2]
	for y := range lines {
		pos := (b.lo[0]*j.outD[1]+b.lo[1]+y)*j.outD[2] + b.lo[2]
		d := grad[y*n*l:]
		if j.out.Last {
			copyRows(d, l, j.out.Data[(b.n0*size+pos)*j.groups+b.group:], j.groups, channels, n)
		} else {
			transpose(d, l, j.out.Data[(b.n0*j.groups+b.group)*size+pos:], size, channels, n)
		}
		seg[2*y], seg[2*y+1] = y*j.step[1]*j.line*es, y*n*l*es
	}
	p.seg, p.segEnd, p.mask = unsafe.Pointer(&seg[0]), unsafe.Pointer(&seg[2*lines]), 1<<uint(l)-1
	p.k, p.cs, p.ldr = n, j.step[2]*j.pix*es, l*es
	p.b = unsafe.Pointer(&grad[0])
	p.width = l
	ph := &j.phases[0]
	p.tapStep = len(ph.taps) * l * es
	rows, _ := tileSize[T](j.pt)
	// Runs of taps at equal distances; two runs of the same kind share a tile.
	run := func(i int) int {
		k := i + 1
		for k < len(ph.taps) && k-i < rows/2 && ph.taps[k].d[0] == ph.taps[i].d[0] &&
			ph.taps[k].d[1] == ph.taps[i].d[1] {
			k++
		}
		return k - i
	}
	for i := 0; i < len(ph.taps); {
		m := run(i)
		p.rs = 0
		if m > 1 {
			p.rs = ph.off[i+1] - ph.off[i]
		}
		p.a0 = unsafe.Add(unsafe.Pointer(&buf[0]), ph.off[i])
		p.c0 = unsafe.Pointer(&out[i*l])
		r := m
		if i+m < len(ph.taps) && run(i+m) == m {
			r = 2 * m
			p.a1 = unsafe.Add(unsafe.Pointer(&buf[0]), ph.off[i+m])
		} else {
			p.a1 = unsafe.Add(p.a0, (m+1)/2*p.rs)
		}
		if j.groupSize > 1 {
			p.index = unsafe.Pointer(&g.index[0])
			p.indexEnd = unsafe.Pointer(&g.index[j.groupSize*l])
		}
		depthwiseTile[T](j.pt, p, r, true)
		f.advance(p)
		i += r
	}
}

// tapLine is a run of taps side by side: the first tap, their number, and the lines of the grid that see them
// inside the image.
type tapLine struct {
	first, n int
	y0, y1   int
}

// depthwiseGradInPlace computes the gradient of depthwise weights where both images are channels last: they
// are read in place, a vector of channels of some lines at a time.
func (g *gradJob[T]) depthwiseGradInPlace(gw Weights[T], l, es int) {
	j := g.job
	taps := j.phases[0].taps
	nv := ceilDiv(j.groups, l)
	yb := min(max(depthwiseInputBytes/max(j.inD[2]*j.groups*j.istep[1]*es, 1), 1), j.grid[1])
	blocks := ceilDiv(j.grid[1], yb)
	yb = ceilDiv(j.grid[1], blocks)
	// The blocks of a chunk share their sums.
	total := j.n * j.grid[0] * blocks
	per := ceilDiv(total, gradTasks)
	chunks := ceilDiv(total, per)
	size := nv * len(taps) * l
	parts := make([]T, chunks*size)
	par.For(chunks, 1, func(lo, hi int) {
		var f prefetcher
		seg := make([]int, 0, 2*yb+1)
		for c := lo; c < hi; c++ {
			var p args
			for t := c * per; t < min((c+1)*per, total); t++ {
				img, z, y := t/blocks/j.grid[0], t/blocks%j.grid[0], t%blocks*yb
				f.start(&p, depthwiseFetchLines, 0)
				if t+1 < min((c+1)*per, total) {
					at, line := (img*j.grid[0]+z)*j.grid[1]+y+yb, j.grid[2]*j.groups
					d := depthwiseJob[T]{job: j}
					f.start(&p, depthwiseFetchLines, 4*yb*j.grid[2]*nv, rangeOf(j.out.Data, at*line, (at+yb)*line),
						d.linesAfter(img, z, y+yb, yb))
					p.prefetchStep = min(p.prefetchStep, 64) // one line at a time
				}
				g.depthwiseLines(&p, &f, img, z, y, min(y+yb, j.grid[1]), parts[c*size:][:size], seg, l, es)
			}
		}
	})
	g.addDepthwiseParts(gw, parts, chunks, l)
}

// depthwiseLines adds what the lines [y0, y1) of an image contribute to the sums.
func (g *gradJob[T]) depthwiseLines(p *args, f *prefetcher, img, z, y0, y1 int, out []T, seg []int, l, es int) {
	j := g.job
	taps := j.phases[0].taps
	// Runs of taps side by side. Two runs, of different lines and seen by the same positions, share a tile.
	rows, _ := tileSize[T](j.pt)
	var list [64]tapLine
	runs := list[:0]
	for i := 0; i < len(taps); {
		n := 1
		for i+n < len(taps) && n < rows/2 && taps[i+n].d[0] == taps[i].d[0] && taps[i+n].d[1] == taps[i].d[1] {
			n++
		}
		r := tapLine{first: i, n: n, y0: y0, y1: y1}
		if d := taps[i].d[1]; d < 0 {
			r.y0 = max(y0, ceilDiv(-d, j.istep[1]))
		}
		// The last line that sees the tap reads the last of the image.
		if last := j.inD[1] - 1 - taps[i].d[1]; last < 0 {
			r.y1 = y0
		} else {
			r.y1 = min(y1, last/j.istep[1]+1)
		}
		if iz := z*j.istep[0] + taps[i].d[0]; iz >= 0 && iz < j.inD[0] && r.y0 < r.y1 {
			runs = append(runs, r)
		}
		i += n
	}
	// Runs that begin at the same place of their lines are neighbours, also where a line has several.
	column := func(r tapLine) int { return taps[r.first].d[2] }
	slices.SortStableFunc(runs, func(a, b tapLine) int { return column(a) - column(b) })
	for c := 0; c < j.groups; c += l {
		p.width = min(l, j.groups-c)
		p.mask = 1<<uint(p.width) - 1
		for i := 0; i < len(runs); {
			a := runs[i]
			i++
			if i < len(runs) && runs[i].n == a.n && column(runs[i]) == column(a) {
				// The lines that only one of the two sees come by themselves.
				b := runs[i]
				i++
				lo, hi := max(a.y0, b.y0), min(a.y1, b.y1)
				if lo < hi {
					g.depthwiseTapLine(p, f, img, z, lo, hi, a, b.first, c, out, seg, l, es)
				} else {
					lo, hi = a.y1, a.y1
				}
				for _, r := range [2]tapLine{a, b} {
					g.depthwiseTapLine(p, f, img, z, r.y0, min(lo, r.y1), r, -1, c, out, seg, l, es)
					g.depthwiseTapLine(p, f, img, z, max(hi, r.y0, min(lo, r.y1)), r.y1, r, -1, c, out, seg, l, es)
				}
				continue
			}
			g.depthwiseTapLine(p, f, img, z, a.y0, a.y1, a, -1, c, out, seg, l, es)
		}
	}
}

// depthwiseTapLine adds the lines [y0, y1) to the sums of a run of taps, and to the sums of a second run at
// the same columns, which begins at tap second, unless second is negative.
func (g *gradJob[T]) depthwiseTapLine(p *args, f *prefetcher, img, z, y0, y1 int, r tapLine, second, c int, out []T,
	seg []int, l, es int) {
	if y0 >= y1 {
		return
	}
	j := g.job
	taps := j.phases[0].taps
	ch, sx := j.groups*es, j.istep[2]
	gx, w := j.grid[2], j.inD[2]
	d0 := taps[r.first].d[2]
	dx := 1 // between taps
	if r.n > 1 {
		dx = taps[r.first+1].d[2] - d0
	}
	in := func(t tap) unsafe.Pointer {
		at := ((img*j.inD[0]+z*j.istep[0]+t.d[0])*j.inD[1]+y0*j.istep[1]+t.d[1])*w*j.groups + c
		return unsafe.Add(unsafe.Pointer(&j.in.Data[0]), at*es) // of position 0
	}
	base := in(taps[r.first])
	other := base
	if second >= 0 {
		other = in(taps[second])
	}
	b := unsafe.Add(unsafe.Pointer(&j.out.Data[0]), (((img*j.outD[0]+z)*j.outD[1]+y0)*j.outD[2]*j.groups+c)*es)
	seg = seg[:0]
	for y := range y1 - y0 {
		seg = append(seg, y*j.istep[1]*w*ch, y*gx*ch)
	}
	end := len(seg)
	seg = append(seg, 0)
	p.seg, p.segEnd = unsafe.Pointer(&seg[0]), unsafe.Pointer(&seg[end])
	p.cs, p.ldr, p.rs = sx*ch, ch, dx*ch
	// Positions [xa, xb) see all taps of the run.
	xa := min(gx, max(0, ceilDiv(-d0, sx)))
	xb := xa
	if last := w - 1 - d0 - (r.n-1)*dx; last >= 0 {
		xb = max(xa, min(gx, last/sx+1))
	}
	tile := func(x, k, skip, n int) {
		p.k = k
		at := (x*sx + d0 + skip*dx) * ch
		p.b = unsafe.Add(b, x*ch)
		p.a0 = unsafe.Add(base, at)
		p.c0 = unsafe.Pointer(&out[(c/l*len(taps)+r.first+skip)*l])
		if second >= 0 && n == r.n && second == r.first+r.n {
			p.a1 = unsafe.Add(other, at)
			depthwiseTile[T](j.pt, p, 2*n, true)
			f.advance(p)
			return
		}
		p.a1 = p.a0
		if n > 1 {
			p.a1 = unsafe.Add(p.a0, (n+1)/2*p.rs)
		}
		depthwiseTile[T](j.pt, p, n, true)
		if second >= 0 {
			p.a0 = unsafe.Add(other, at)
			p.a1 = p.a0
			if n > 1 {
				p.a1 = unsafe.Add(p.a0, (n+1)/2*p.rs)
			}
			p.c0 = unsafe.Pointer(&out[(c/l*len(taps)+second+skip)*l])
			depthwiseTile[T](j.pt, p, n, true)
		}
		f.advance(p)
	}
	if xb > xa {
		tile(xa, xb-xa, 0, r.n)
	}
	// Others see some of them.
	for x := range gx {
		if x >= xa && x < xb {
			continue
		}
		skip, n := 0, r.n
		for n > 0 && x*sx+d0+skip*dx < 0 {
			skip, n = skip+1, n-1
		}
		for n > 0 && x*sx+d0+(skip+n-1)*dx >= w {
			n--
		}
		if n > 0 {
			tile(x, 1, skip, n)
		}
	}
}
