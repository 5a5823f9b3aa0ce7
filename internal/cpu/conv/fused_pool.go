package conv

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
)

// maxPoolLines computes the lines [y0, y1) of the maximum pooling of image img: the largest of the taps that
// lie inside the image.
func (d *depthwiseJob[T]) maxPoolLines(img, y0, y1 int) {
	ph := &d.phases[0]
	xs := d.tapBoundaries(ph, 2)
	windows := windowsOf[T]()
	line := d.inD[2] * d.inPix
	taps := make([]vec.Tap, 0, 64)
	for y := y0; y < y1; y++ {
		for i, x := range xs[:len(xs)-1] {
			taps = taps[:0]
			least := 0
			for _, t := range ph.taps {
				if !d.tapInside(t, 1, y) || !d.tapInside(t, 2, x) {
					continue
				}
				at := d.lineOf(img, 0, y, t)*line + (x*d.istep[2]+t.d[2])*d.inPix
				if len(taps) == 0 {
					least = at
				}
				taps = append(taps, vec.Tap{Off: at - least})
			}
			n := xs[i+1] - x
			src, dst := unsafe.Add(d.src, least*d.es), unsafe.Add(d.dst, d.result(ph, img, 0, y, x))
			lda := d.istep[2] * d.inPix
			in := 0 // elements that are read
			if len(taps) > 0 {
				in = taps[len(taps)-1].Off + (n-1)*lda + d.channels
			}
			windows.Max(unsafe.Slice((*T)(dst), (n-1)*d.outPix+d.channels), d.outPix, unsafe.Slice((*T)(src), in), lda,
				n, d.channels, taps)
		}
	}
}

// maxPool is the maximum pooling of a whole image.
func maxPool[T Float](s *Shape, out, in Image[T]) {
	var z T
	d := &depthwiseJob[T]{job: forwardJob(s, out, in, nil), es: int(unsafe.Sizeof(z))}
	d.measure()
	if !out.Last { // channels are images
		d.n, d.groups = s.N*s.Cout, 1
	}
	d.src, d.dst = unsafe.Pointer(&in.Data[0]), unsafe.Pointer(&out.Data[0])
	d.inPix, d.outPix, d.channels = d.groups, d.groups, d.groups
	lines := d.outD[1]
	grain := ceilDiv(depthwiseTaskWork, max(1, d.outD[2]*d.groups*s.Taps()))
	par.For(d.n*lines, grain, func(lo, hi int) {
		for t := lo; t < hi; t++ {
			d.maxPoolLines(t/lines, t%lines, t%lines+1)
		}
	})
}
