package conv

import (
	"math"
	"unsafe"
)

// span is a run of memory, as addresses: it is fetched, never read.
type span struct{ at, end uintptr }

func spanOf[T Float](data []T, from, to int) span {
	var z T
	from, to = max(from, 0), min(to, len(data))
	if from >= to {
		return span{}
	}
	at := uintptr(unsafe.Pointer(&data[0]))
	return span{at + uintptr(from)*unsafe.Sizeof(z), at + uintptr(to)*unsafe.Sizeof(z)}
}

// ahead spreads the fetching of what the next block needs over the tiles of this
// one: memory answers while there is arithmetic to do, and the next block finds
// its data in the second-level cache.
type ahead struct {
	spans [3]span
	n     int // of spans left
}

// Lines that the kernels fetch with every four steps of k.
const (
	tileLines  = 4
	depthLines = 2
	sideLines  = 4 // of depthwise kernels with taps side by side
)

// start begins with the given spans for kernels that fetch so many lines; steps is
// the number of steps of k that they will run.
func (f *ahead) start(p *args, lines, steps int, spans ...span) {
	f.n = 0
	bytes := 0
	for _, s := range spans {
		if s.at < s.end {
			f.spans[f.n] = s
			f.n++
			bytes += int(s.end - s.at)
		}
	}
	p.ahead, p.aheadStep = 0, 0
	if bytes > 0 {
		p.aheadStep = min(bytes*4/max(steps, 4)+1, lines*64)
		f.next(p)
	}
}

// next goes to the next span.
func (f *ahead) next(p *args) {
	if f.n == 0 {
		p.ahead, p.aheadStep = 0, 0
		return
	}
	p.ahead = f.spans[0].at
	f.n--
}

// tiles is how many tiles of so many steps it takes to the end of the span, behind which
// nothing shall be fetched.
func (f *ahead) tiles(p *args, steps int) int {
	per := p.aheadStep * (steps / 4)
	if per == 0 || p.ahead >= f.spans[0].end {
		return math.MaxInt
	}
	return ceilDiv(int(f.spans[0].end-p.ahead), per)
}

// check is called after every call.
func (f *ahead) check(p *args) {
	if p.aheadStep > 0 && p.ahead >= f.spans[0].end {
		copy(f.spans[:], f.spans[1:])
		f.next(p)
	}
}

// lines is the span of the input, channels last, that block b reads and the one
// before it, prev, does not.
func (j *job[T]) lines(b, prev *block) span {
	if !j.in.Last || j.inTail != nil || b.lo[0] != prev.lo[0] || b.lo == prev.lo && b.n0 == prev.n0 {
		return span{}
	}
	line := j.inD[2] * j.ci * j.groups
	y0 := max(b.lo[1]*j.istep[1]+j.dmin[1], 0)
	y1 := min((b.hi[1]-1)*j.istep[1]+j.dmin[1]+j.ext[1]+1, j.inD[1])
	slice := func(img int) int { return (img*j.inD[0] + max(b.lo[0]*j.istep[0]+j.dmin[0], 0)) * j.inD[1] * line }
	from, to := slice(b.n0)+y0*line, slice(b.n1-1)+y1*line
	if j.inD[1] == 1 { // one long line
		from += b.lo[2] * j.istep[2] * j.ci * j.groups
		to = slice(b.n1-1) + min((b.hi[2]-1)*j.istep[2]+j.dmin[2]+j.ext[2]+1, j.inD[2])*j.ci*j.groups
	} else if b.n0 == prev.n0 {
		from = max(from, slice(b.n0)+min((prev.hi[1]-1)*j.istep[1]+j.dmin[1]+j.ext[1]+1, j.inD[1])*line)
	}
	return spanOf(j.in.Data, from, to)
}

// results is the span of the output, channels last, at the positions of block b
// of a job without phases; or of what is added to it, whose reading takes longer.
func (j *job[T]) results(b *block) span {
	if j.buffered() || !j.grad && j.res == nil && j.goesPast() {
		return span{}
	}
	total := j.co * j.groups
	if j.narrow { // the image is taken for one of 32 bits
		total = ceilDiv(total, 2)
	}
	pos := func(n, y, x int) int { return (((n*j.outD[0]+b.lo[0])*j.outD[1]+y)*j.outD[2] + x) * total }
	data := j.out.Data
	if j.res != nil {
		data = unsafe.Slice((*T)(j.res), len(data))
	}
	return spanOf(data, pos(b.n0, b.lo[1], b.lo[2]), pos(b.n1-1, b.hi[1]-1, b.hi[2]))
}
