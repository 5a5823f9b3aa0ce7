package conv

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/gemm"
	"github.com/gotorch-dev/torch/internal/mem"
	"github.com/gotorch-dev/torch/internal/par"
)

// im2colGrad computes the gradient of the weights of a convolution to few output channels, which would leave
// most lanes of a vector of output channels unused. The output's gradient F is copied once for every tap,
// shifted by the tap (im2col of the gradient), so that the result is one matrix product over the positions of
// the input:
//
//	G[(tap, channel), k] = sum over positions p of F[channel, p - tap]·A[p, k]
type im2colGrad[T Float] struct {
	*job[T]
	taps           []tap
	dmin, ext      [3]int // least shift in F, and the greatest minus the least; a shift in F is minus the shift in A
	cut            int    // direction along which the positions of A are cut, see kn2row
	size, steps    int
	pieces, chunks int // pieces of an image, and sums, each over a chunk of all pieces
	unit           int // positions in a step
	line           int // elements of a line of the copy of F
	lines          int // lines of a channel of the copy of F
	sum            int // elements of a sum
}

const im2colGradBytes = 128 << 10 // bytes of the shifted copies of F

// im2colGrad returns nil where the kernels of gradJob cost less: their vectors hold output channels. Here
// vectors hold input channels, and F is copied in addition.
func (j *job[T]) im2colGrad() *im2colGrad[T] {
	if j.istep != [3]int{1, 1, 1} || j.outTail != nil {
		return nil
	}
	_, l := tileSize[T](j.pt)
	taps := j.phases[0].taps
	rows := len(taps) * j.co
	direct := len(taps) * j.ci * roundUp(j.co, l) * volume(j.outD)
	if float64(rows*volume(j.inD))*(1.3*float64(roundUp(j.ci, l))+3) > float64(direct) {
		return nil
	}
	f := &im2colGrad[T]{job: j, taps: taps}
	var z T
	es := int(unsafe.Sizeof(z))
	if f.plan(es); rows*f.steps*f.unit*es > kn2rowMaxBytes {
		return nil
	}
	return f
}

// plan cuts the work by its sizes alone.
func (f *im2colGrad[T]) plan(es int) {
	first, last := f.taps[0].d, f.taps[len(f.taps)-1].d
	for i := range 3 {
		f.dmin[i], f.ext[i] = -last[i], last[i]-first[i]
	}
	for f.cut = 0; f.cut < 2 && f.inD[f.cut] == 1; f.cut++ {
	}
	f.unit = [3]int{f.inD[1] * f.inD[2], f.inD[2], 1}[f.cut]
	rows, grid := len(f.taps)*f.co, f.inD[f.cut]
	f.steps = min(max(im2colGradBytes/(rows*f.unit*es), 1), grid)
	f.pieces = min(max(ceilDiv(gradTasks, f.n), 1), max(rows*f.ci*volume(f.inD)/kn2rowMinWork, 1),
		ceilDiv(grid, f.steps))
	f.size = ceilDiv(grid, f.pieces)
	f.pieces = ceilDiv(grid, f.size)
	f.steps = ceilDiv(f.size, ceilDiv(f.size, f.steps))
	f.chunks = min(gradTasks, f.n*f.pieces)
	box := f.inD
	box[f.cut] = f.steps
	f.line, f.lines = box[2]+f.ext[2], (box[1]+f.ext[1])*(box[0]+f.ext[0])
	f.sum = rows * f.ci
}

// compute computes the gradient of the weights.
func (f *im2colGrad[T]) compute(gw Weights[T]) {
	var z T
	es := int(unsafe.Sizeof(z))
	bytes := f.chunks * f.groups * f.sum * es
	p := mem.Alloc(bytes)
	defer mem.Free(p, bytes)
	sums := unsafe.Slice((*T)(p), f.chunks*f.groups*f.sum)
	images := f.n * f.pieces
	par.For(f.chunks*f.groups, 1, func(lo, hi int) {
		shifted := len(f.taps) * f.co * f.steps * f.unit
		bytes := (shifted + f.co*f.lines*f.line) * es
		p := mem.Alloc(bytes)
		defer mem.Free(p, bytes)
		buf := unsafe.Slice((*T)(p), bytes/es)
		for t := lo; t < hi; t++ {
			chunk, group := t/f.groups, t%f.groups
			var beta T
			for i := chunk * images / f.chunks; i < (chunk+1)*images/f.chunks; i++ {
				at := i % f.pieces * f.size
				for end := min(at+f.size, f.inD[f.cut]); at < end; at += f.steps {
					f.multiply(sums[t*f.sum:][:f.sum], beta, i/f.pieces, group, at, min(at+f.steps, end), buf[:shifted],
						buf[shifted:])
					beta = 1
				}
			}
		}
	})
	so, sc, st := gw.strides(f.ci, len(f.taps))
	rows := len(f.taps) * f.co
	par.For(f.groups*rows, max(1, 1<<13/(f.ci*f.chunks)), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			sum := sums[i*f.ci:][:f.ci]
			for chunk := 1; chunk < f.chunks; chunk++ {
				addTo(sum, sums[(chunk*f.groups*rows+i)*f.ci:][:f.ci])
			}
			group, r := i/rows, i%rows
			d := gw.Data[(group*f.co+r%f.co)*so+r/f.co*st:]
			for k, v := range sum {
				d[k*sc] = v
			}
		}
	})
}

// multiply adds the products of the positions [a, b) in the direction cut to a sum or, for beta 0, begins the
// sum.
func (f *im2colGrad[T]) multiply(sum []T, beta T, img, group, a, b int, shifted, copied []T) {
	lo, hi := [3]int{}, f.inD
	lo[f.cut], hi[f.cut] = a, b
	var from, to [3]int // the box of F that these positions see
	for i := range 3 {
		from[i], to[i] = lo[i]+f.dmin[i], hi[i]+f.dmin[i]+f.ext[i]
	}
	f.copyLines(copied, img, group, from, to)
	width, count := hi[2]-lo[2], (b-a)*f.unit
	at := shifted
	for _, t := range f.taps {
		for c := range f.co {
			for z := lo[0]; z < hi[0]; z++ {
				for y := lo[1]; y < hi[1]; y++ {
					l := (z-t.d[0]-from[0])*(to[1]-from[1]) + y - t.d[1] - from[1]
					copy(at[:width], copied[(c*f.lines+l)*f.line-t.d[2]-f.dmin[2]:])
					at = at[width:]
				}
			}
		}
	}
	first, channel, position := f.source(img, group, a*f.unit)
	gemm.GEMM(len(f.taps)*f.co, f.ci, count, 1, shifted, count, 1, f.in.Data[first:], position, channel, beta, sum,
		f.ci, 1, nil)
}

// copyLines copies the box [from, to) of F, which is zero outside the image.
func (f *im2colGrad[T]) copyLines(dst []T, img, group int, from, to [3]int) {
	total, size := f.co*f.groups, volume(f.outD)
	step, channel := 1, size
	if f.out.Last {
		step, channel = total, 1
	}
	left := max(from[2], 0)
	right := max(min(to[2], f.outD[2]), left)
	for c := range f.co {
		first := img*total*size + (group*f.co+c)*channel
		line := dst[c*f.lines*f.line:]
		for z := from[0]; z < to[0]; z++ {
			for y := from[1]; y < to[1]; y++ {
				d := line[:to[2]-from[2]]
				line = line[f.line:]
				if z < 0 || z >= f.outD[0] || y < 0 || y >= f.outD[1] || left == right {
					clear(d)
					continue
				}
				src := f.out.Data[first+((z*f.outD[1]+y)*f.outD[2]+left)*step:]
				copyPadded(d, src, left-from[2], right-left, step)
			}
		}
	}
}

// copyPadded sets d to n elements of src, step apart, from place left on, and to zeros around them.
func copyPadded[T Float](d, src []T, left, n, step int) {
	clear(d[:left])
	clear(d[left+n:])
	if d = d[left : left+n]; step == 1 {
		copy(d, src)
		return
	}
	for i := range d {
		d[i] = src[i*step]
	}
}
