package conv

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/mem"
	"github.com/gotorch-dev/torch/internal/par"
)

// fewChannelDepthwise is a depthwise convolution of so few channels that vectors of channels would be half
// empty. It joins neighbouring positions of a line: some positions, with all their channels, fill whole
// vectors and count as one position of more channels. A tap then shifts by less than such a joint position.
//
//	3 channels, 8 positions joined:   r g b r g b r g b r g b r g b r g b r g b r g b    24 lanes, 3 vectors of 8
//	tap +1 reads the same, 3 elements further
//
// A planar image counts as many images of one channel.
type fewChannelDepthwise[T Float] struct {
	*depthwiseJob[T]
	c       int // channels of a position
	join    int // positions that count as one joint position
	planes  int // planes of an image that are computed by themselves: 1 for channels last
	copies  bool
	width   int // elements of a line as it is read
	lines   int // lines of the result in a task
	blocks  int // tasks of a slice of the result
	weights []T // for each plane and tap, the weights of all elements of a joint position
	biases  []T // for each plane, the biases of all elements of a joint position; nil for none
}

// fewChannels returns nil where vectors of channels are full enough.
func (d *depthwiseJob[T]) fewChannels() *fewChannelDepthwise[T] {
	one := [3]int{1, 1, 1}
	if d.groupSize > 1 || len(d.phases) != 1 || d.istep != one || d.ostep != one || d.in.Last != d.out.Last {
		return nil
	}
	f := &fewChannelDepthwise[T]{depthwiseJob: d, c: 1, planes: d.groups, copies: d.padded}
	if d.in.Last {
		f.c, f.planes = d.groups, 1
	}
	l := lanes[T](d.pt)
	f.join = l / gcd(f.c, l)
	// Without masks the last vector of channels is apart, and kernels for wide taps
	// do not take several together.
	partly := d.in.Last && d.pt != pathAVX512 && d.groups%l > 0 && (d.groups < 4*l || d.ext[2] > 2)
	if 4*d.groups > 3*roundUp(d.groups, l) && !partly || d.grid[2] < f.join {
		return nil
	}
	f.width = d.inD[2] * f.c
	if f.copies {
		f.width = (d.grid[2] + d.ext[2]) * f.c
	}
	perLine := d.grid[2] * f.c * len(d.phases[0].taps)
	f.lines = min(max(depthwiseTaskWork/max(perLine, 1), 1), d.grid[1])
	f.blocks = ceilDiv(d.grid[1], f.lines)
	f.lines = ceilDiv(d.grid[1], f.blocks)
	f.blocks = ceilDiv(d.grid[1], f.lines)
	return f
}

// run lays out weights and biases for joint positions and runs the tasks.
func (f *fewChannelDepthwise[T]) run(src packSource[T]) {
	taps, n := f.phases[0].taps, f.join*f.c
	f.weights = make([]T, f.planes*len(taps)*n)
	for i := range f.weights {
		channel, tap := i/(len(taps)*n)*f.c+i%f.c, taps[i/n%len(taps)]
		f.weights[i] = src.data[channel*src.groups+tap.wi*src.tap]
	}
	if f.job.bias != nil {
		bias := unsafe.Slice((*T)(f.job.bias), f.groups)
		f.biases = make([]T, f.planes*n)
		for i := range f.biases {
			f.biases[i] = bias[i/n*f.c+i%f.c]
		}
	}
	par.For(f.n*f.planes*f.grid[0]*f.blocks, 1, func(lo, hi int) {
		var band []T
		if f.copies {
			bytes := (f.ext[0] + 1) * (f.lines + f.ext[1]) * f.width * f.es
			p := mem.Alloc(bytes)
			defer mem.Free(p, bytes)
			band = unsafe.Slice((*T)(p), bytes/f.es)
		}
		var p args
		seg := make([]int, 0, 2*len(taps)+1)
		for t := lo; t < hi; t++ {
			f.task(&p, seg, t, band)
		}
	})
}

// task computes some lines of a plane.
func (f *fewChannelDepthwise[T]) task(p *args, seg []int, t int, band []T) {
	y0, z := t%f.blocks*f.lines, t/f.blocks%f.grid[0]
	plane := t / (f.blocks * f.grid[0]) // of all images
	y1 := min(y0+f.lines, f.grid[1])
	size := volume(f.inD) * f.c
	src := f.in.Data[plane*size:][:size]
	height, from := f.inD[1], ((z+f.dmin[0])*f.inD[1]+y0+f.dmin[1])*f.width+f.dmin[2]*f.c
	if f.copies {
		height, from = y1-y0+f.ext[1], 0
		f.copy(band, src, z, y0, height)
		src = band
	}
	taps, n := f.phases[0].taps, f.join*f.c
	for _, t := range taps {
		at := ((t.d[0]-f.dmin[0])*height+t.d[1]-f.dmin[1])*f.width + (t.d[2]-f.dmin[2])*f.c
		seg = append(seg, at*f.es, (len(seg)/2)*n*f.es)
	}
	end := len(seg)
	seg = append(seg, 0) // pointers stay inside
	p.seg, p.segEnd = unsafe.Pointer(&seg[0]), unsafe.Pointer(&seg[end])
	p.rs, p.ldc, p.ldr = n*f.es, n*f.es, n*f.es
	p.blockEnd, p.mask = n*f.es, 1<<uint(lanes[T](f.pt))-1
	p.lines, p.stepA, p.stepC = y1-y0, f.width*f.es, f.grid[2]*f.c*f.es
	p.b = unsafe.Pointer(&f.weights[plane%f.planes*len(taps)*n])
	if f.biases != nil {
		p.flags |= flagBias
		p.bias = unsafe.Pointer(&f.biases[plane%f.planes*n])
	}
	if f.res != nil {
		p.flags |= flagResidual
	}
	if f.clamp {
		p.flags |= flagClamp
		p.lo, p.hi = bits(f.lo), bits(f.hi)
	}
	to := ((plane*f.grid[0]+z)*f.grid[1] + y0) * f.grid[2] * f.c
	rows, _ := tileSize[T](f.pt)
	tile := func(x, r int) { // r joint positions from x on
		h := (r + 1) / 2 * min(1, r-1) // pointers stay inside
		at := (to + x*f.c) * f.es
		p.a0, p.c0 = unsafe.Pointer(&src[from+x*f.c]), unsafe.Add(unsafe.Pointer(&f.out.Data[0]), at)
		p.a1, p.c1 = unsafe.Add(p.a0, h*p.rs), unsafe.Add(p.c0, h*p.ldc)
		if f.res != nil {
			p.r0 = unsafe.Add(f.res, at)
			p.r1 = unsafe.Add(p.r0, h*p.ldr)
		}
		depthwiseTile[T](f.pt, p, r, false)
	}
	whole := f.grid[2] / f.join
	tiles := splitRows(whole, rows)
	for i, x := range tiles[:len(tiles)-1] {
		tile(x*f.join, tiles[i+1]-x)
	}
	if whole*f.join < f.grid[2] { // the last joint position repeats some positions
		tile(f.grid[2]-f.join, 1)
	}
}

// copy copies the lines of a plane that a task reads, with the padding around them.
func (f *fewChannelDepthwise[T]) copy(band, src []T, z, y, height int) {
	line := f.inD[2] * f.c
	left := max(-f.dmin[2], 0) * f.c
	skip := max(f.dmin[2], 0) * f.c
	count := max(min(line-skip, f.width-left), 0)
	for iz := z + f.dmin[0]; iz <= z+f.dmin[0]+f.ext[0]; iz++ {
		for iy := y + f.dmin[1]; iy < y+f.dmin[1]+height; iy++ {
			d := band[:f.width]
			band = band[f.width:]
			if iz < 0 || iz >= f.inD[0] || iy < 0 || iy >= f.inD[1] || count == 0 {
				clear(d)
				continue
			}
			copyPadded(d, src[(iz*f.inD[1]+iy)*line+skip:], left, count, 1)
		}
	}
}
