package conv

import (
	"math"
	"unsafe"
)

// addressRange is a run of memory, as addresses: it is only prefetched, never read.
type addressRange struct{ at, end uintptr }

func rangeOf[T Float](data []T, from, to int) addressRange {
	var z T
	from, to = max(from, 0), min(to, len(data))
	if from >= to {
		return addressRange{}
	}
	at := uintptr(unsafe.Pointer(&data[0]))
	return addressRange{at + uintptr(from)*unsafe.Sizeof(z), at + uintptr(to)*unsafe.Sizeof(z)}
}

// prefetcher spreads the prefetching of what the next block needs over the tiles of the present one. Memory
// answers while there is arithmetic to do, and the next block finds its data in the second-level cache. The
// kernels issue the prefetches: with every four steps of k they fetch some lines at args.prefetch and move it
// on by args.prefetchStep.
type prefetcher struct {
	ranges [3]addressRange
	n      int // ranges left after the present one
}

// Lines that the kernels fetch with every four steps of k.
const (
	// Cache lines that the kernels fetch with every four steps of k.
	tileFetchLines      = 4
	depthwiseFetchLines = 2
	slidingFetchLines   = 4 // of depthwise kernels with a sliding window
)

// start begins to prefetch the given ranges, for kernels that fetch the given number of lines at a time and
// that will run the given number of steps of k.
func (f *prefetcher) start(p *args, lines, steps int, spans ...addressRange) {
	f.n = 0
	bytes := 0
	for _, s := range spans {
		if s.at < s.end {
			f.ranges[f.n] = s
			f.n++
			bytes += int(s.end - s.at)
		}
	}
	p.prefetch, p.prefetchStep = 0, 0
	if bytes > 0 {
		p.prefetchStep = min(bytes*4/max(steps, 4)+1, lines*64)
		f.nextRange(p)
	}
}

// nextRange goes to the next range.
func (f *prefetcher) nextRange(p *args) {
	if f.n == 0 {
		p.prefetch, p.prefetchStep = 0, 0
		return
	}
	p.prefetch = f.ranges[0].at
	f.n--
}

// tiles is the number of tiles, of the given steps, until the end of the present range is reached, behind
// which nothing shall be fetched.
func (f *prefetcher) tiles(p *args, steps int) int {
	per := p.prefetchStep * (steps / 4)
	if per == 0 || p.prefetch >= f.ranges[0].end {
		return math.MaxInt
	}
	return ceilDiv(int(f.ranges[0].end-p.prefetch), per)
}

// advance is called after every kernel call; it goes to the next range when the present one has been fetched.
func (f *prefetcher) advance(p *args) {
	if p.prefetchStep > 0 && p.prefetch >= f.ranges[0].end {
		copy(f.ranges[:], f.ranges[1:])
		f.nextRange(p)
	}
}

// inputRange is the part of a channels-last input that block b reads and prev, the block before it, does not.
func (j *job[T]) inputRange(b, prev *block) addressRange {
	if !j.in.Last || j.inTail != nil || b.lo[0] != prev.lo[0] || b.lo == prev.lo && b.n0 == prev.n0 {
		return addressRange{}
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
	return rangeOf(j.in.Data, from, to)
}

// outputRange is the part of a channels-last output at the positions of block b, for a job with one phase; or
// of the residual that is added to it, whose reading takes longer than the writing.
func (j *job[T]) outputRange(b *block) addressRange {
	if j.buffersResult() || !j.grad && j.res == nil && j.storesNonTemporal() {
		return addressRange{}
	}
	total := j.outChannels()
	if j.storesBF16 { // the image is taken for one of 32 bits
		total = ceilDiv(total, 2)
	}
	pos := func(n, y, x int) int { return (((n*j.outD[0]+b.lo[0])*j.outD[1]+y)*j.outD[2] + x) * total }
	data := j.out.Data
	if j.res != nil {
		data = unsafe.Slice((*T)(j.res), len(data))
	}
	return rangeOf(data, pos(b.n0, b.lo[1], b.lo[2]), pos(b.n1-1, b.hi[1]-1, b.hi[2]))
}
