package conv

import (
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/gemm"
	"github.com/gotorch-dev/torch/internal/mem"
	"github.com/gotorch-dev/torch/internal/par"
)

// patches is a convolution of one group whose windows neither overlap nor see padding (the patch embedding of
// a vision transformer, for instance). An element of the image lies in at most one window, so the windows can
// be copied to the rows of a matrix in little time, and everything is a product of that matrix. Where the
// window is the whole image, the image is such a row already.
type patches[T Float] struct {
	*Shape
	in     Image[T] // the input, or its gradient
	k      int      // elements of a window, in the order of the weights
	out    int      // windows of an image, which are output positions
	images int      // images whose windows are copied at a time
}

const (
	patchBytes = 4 << 20 // bytes of the copied windows

	// patchMaxChannels is the number of input channels up to which a convolution is better
	// computed by windows: the direct kernel's steps are channels, and short runs of
	// channels are slow to copy to a band.
	patchMaxChannels = 8

	// The gradient of at least patchMinWeights weights is a matrix product for up to
	// patchMaxPositions positions; only up to patchMaxSlowPositions where images must be
	// added one by one or windows are slow to copy.
	patchMinWeights       = 1 << 16
	patchMaxPositions     = 1 << 14
	patchMaxSlowPositions = 1 << 9
	patchMinImage         = 128 // positions of an image that are enough for a product
	patchMinRun           = 7   // positions of a window's line that are not slow to copy
)

// patchesOf returns nil where windows overlap, or where the order of the weights is not the order of the
// elements in the image.
func patchesOf[T Float](s *Shape, in Image[T], w Weights[T]) *patches[T] {
	if s.Groups > 1 || s.Cin*volume(s.Out) == 0 || s.Pad != [3]int{} || in.Last != w.Last && s.Taps() > 1 && s.Cin > 1 {
		return nil
	}
	for i, k := range s.Kernel {
		if k > 1 && s.Dilation[i] > 1 || k > s.Stride[i] && s.Out[i] > 1 {
			return nil
		}
	}
	p := &patches[T]{Shape: s, in: in, k: s.Cin * s.Taps(), out: volume(s.Out)}
	var z T
	p.images = min(max(patchBytes/(p.out*p.k*int(unsafe.Sizeof(z))), 1), s.N)
	if p.windowIsImage() {
		p.images = s.N
	}
	return p
}

// windowIsImage reports whether the window is the whole image.
func (p *patches[T]) windowIsImage() bool { return p.Kernel == p.In }

// forWindows calls f with the windows of some images at a time, the first image being n, and with the
// distances between windows (rs) and between the elements of a window (cs).
func (p *patches[T]) forWindows(f func(n, images int, windows []T, rs, cs int)) {
	switch {
	case p.windowIsImage() || p.in.Last && p.samePositions():
		f(0, p.N, p.in.Data, p.k, 1)
		return
	case p.samePositions():
		for n := range p.N {
			f(n, 1, p.in.Data[n*p.k*p.out:], 1, p.out)
		}
		return
	}
	var z T
	es := int(unsafe.Sizeof(z))
	bytes := p.images * p.out * p.k * es
	buf := mem.Alloc(bytes)
	defer mem.Free(buf, bytes)
	d := unsafe.Slice((*T)(buf), bytes/es)
	for n := 0; n < p.N; n += p.images {
		images := min(p.images, p.N-n)
		lines := p.Out[0] * p.Out[1]
		par.For(images*lines, ceilDiv(1<<14, p.k*p.Out[2]), func(lo, hi int) {
			for t := lo; t < hi; t++ {
				p.copyWindows(d[t*p.Out[2]*p.k:][:p.Out[2]*p.k], n+t/lines, t%lines/p.Out[1], t%p.Out[1])
			}
		})
		f(n, images, d, p.k, 1)
	}
}

// copyWindows copies a line of windows.
func (p *patches[T]) copyWindows(dst []T, n, z, y int) {
	size := volume(p.In)
	run, step, channels, image := p.Kernel[2], p.Stride[2], p.Cin, p.in.Data[n*p.Cin*size:][:p.Cin*size]
	pix := 1
	if p.in.Last { // all channels of a line of the window are one run
		run, step, channels, pix = run*p.Cin, step*p.Cin, 1, p.Cin
	}
	at := 0 // in a window
	for c := range channels {
		for kz := range p.Kernel[0] {
			for ky := range p.Kernel[1] {
				line := image[c*size+((z*p.Stride[0]+kz)*p.In[1]+y*p.Stride[1]+ky)*p.In[2]*pix:]
				for x := range p.Out[2] {
					if run == 1 {
						dst[x*p.k+at] = line[x*step]
						continue
					}
					copy(dst[x*p.k+at:][:run], line[x*step:])
				}
				at += run
			}
		}
	}
}

// forward computes the result, or reports that the direct kernels cost less.
func (p *patches[T]) forward(out Image[T], w Weights[T], ep *Epilogue[T]) bool {
	if p == nil || (p.Cin > patchMaxChannels || p.Kernel[2] < patchMinRun) && !p.windowIsImage() {
		return false
	}
	e, ok := productEpilogue(ep, 1)
	if !ok {
		return false
	}
	if !out.Last && p.out > 1 { // rows of the result are channels
		p.forWindows(func(n, images int, windows []T, _, _ int) {
			batch := []gemm.BatchDim{{N: images, B: p.out * p.k, C: p.out * p.Cout}}
			gemm.GEMMBatch(batch, p.Cout, p.out, p.k, 1, w.Data, p.k, 1, windows, 1, p.k, 0, out.Data[n*p.out*p.Cout:],
				p.out, 1, e)
		})
		return true
	}
	if e != nil {
		e.BiasCol, e.BiasRow = e.BiasRow, nil
	}
	p.forWindows(func(n, images int, windows []T, _, _ int) {
		gemm.GEMM(images*p.out, p.Cout, p.k, 1, windows, p.k, 1, w.Data, 1, p.k, 0, out.Data[n*p.out*p.Cout:], p.Cout,
			1, e)
	})
	return true
}

// backwardData computes the gradient of the input where the window is the image.
func (p *patches[T]) backwardData(gout Image[T], w Weights[T]) bool {
	if p == nil {
		return false
	}
	gemm.GEMM(p.N, p.k, p.Cout, 1, gout.Data, p.Cout, 1, w.Data, p.k, 1, 0, p.in.Data, p.k, 1, nil)
	return true
}

// backwardWeight computes the gradient of many weights that meet few positions, or reports that it does not
// pay.
func (p *patches[T]) backwardWeight(gw Weights[T], gout Image[T]) bool {
	if p == nil || p.k*p.Cout < patchMinWeights {
		return false
	}
	most := patchMaxPositions
	if !gout.Last && p.out < patchMinImage || !p.in.Last && p.Taps() > 1 && p.Kernel[2] < patchMinRun {
		most = patchMaxSlowPositions
	}
	if p.N*p.out > most {
		return false
	}
	p.forWindows(func(n, images int, windows []T, rs, cs int) {
		count, rg, cg := images*p.out, p.Cout, 1
		if !gout.Last && p.out > 1 { // image by image
			count, rg, cg = p.out, 1, p.out
		}
		for i := 0; i < images*p.out; i += count {
			var beta T
			if n+i > 0 {
				beta = 1
			}
			gemm.GEMM(p.Cout, p.k, count, 1, gout.Data[(n*p.out+i)*p.Cout:], cg, rg, windows[i*rs:], rs, cs, beta,
				gw.Data, p.k, 1, nil)
		}
	})
	return true
}
