package quant

import (
	"math"
	"unsafe"

	"github.com/gotorch-dev/torch/internal/cpu/vec"
	"github.com/gotorch-dev/torch/internal/par"
)

// MaxPool sets dst to the largest element of each window of src, channel by channel: g is that of a convolution with as
// many channels in its result, without dilation, whose padding is less than its kernel. The largest of integers that
// stand for numbers of one scale stands for the largest number.
func MaxPool[E uint8 | int8](g *Geometry, dst, src []E) {
	ch := g.Channels
	line := g.In[2] * ch
	rows := g.Batch * g.Out[0] * g.Out[1]
	par.For(rows, 1+partSize/max(1, line*g.Kernel[0]*g.Kernel[1]), func(lo, hi int) {
		// The rows of a window first, as wide as the image, then the columns.
		best := make([]E, line)
		for r := lo; r < hi; r++ {
			n, z, y := r/(g.Out[0]*g.Out[1]), r/g.Out[1]%g.Out[0], r%g.Out[1]
			first := true
			for a := range g.Kernel[0] {
				zi := z*g.Stride[0] - g.Pad[0] + a
				for b := range g.Kernel[1] {
					yi := y*g.Stride[1] - g.Pad[1] + b
					if zi < 0 || yi < 0 || zi >= g.In[0] || yi >= g.In[1] {
						continue
					}
					row := src[((n*g.In[0]+zi)*g.In[1]+yi)*line:][:line]
					if first {
						copy(best, row)
					} else {
						vec.MaxInt(best, best, row)
					}
					first = false
				}
			}
			for x := range g.Out[2] {
				from := x*g.Stride[2] - g.Pad[2]
				to := min(from+g.Kernel[2], g.In[2])
				from = max(from, 0)
				d := dst[(r*g.Out[2]+x)*ch:][:ch]
				copy(d, best[from*ch:])
				for from++; from < to; from++ {
					vec.MaxInt(d, d, best[from*ch:][:ch])
				}
			}
		}
	})
}

// ones are the weights of a sum of up to onesTaps bytes.
const onesTaps = 64

var ones = func() (w [onesTaps * tileCols]int32) {
	for i := range w {
		w[i] = 1
	}
	return w
}()

// Average sets dst to the means over all positions of images laid out [batch, positions, channels], rounded to even: of
// the integers less their zero point, as PyTorch computes them.
func Average(dst, src []uint8, batch, positions, channels, zero int) {
	strips := (channels + tileCols - 1) / tileCols
	var taps [onesTaps]int
	for i := range taps {
		taps[i] = i * channels
	}
	par.For(batch*strips, 1+partSize/max(1, positions*tileCols), func(lo, hi int) {
		var tile, sums [tileCols]int32
		for t := lo; t < hi; t++ {
			image, c := t/strips, t%strips*tileCols
			n := min(tileCols, channels-c)
			clear(sums[:])
			p := &kernelArgs{b: unsafe.Pointer(&ones), taps: unsafe.Pointer(&taps), rows: 1,
				tile: unsafe.Pointer(&tile), mask: 1<<n - 1}
			for at := 0; at < positions; at += onesTaps {
				p.a = unsafe.Pointer(&src[(image*positions+at)*channels+c])
				p.count = min(onesTaps, positions-at)
				depth(p)
				for i, s := range tile {
					sums[i] += s
				}
			}
			d := dst[image*channels+c:][:n]
			for i := range d {
				mean := math.RoundToEven(float64(int(sums[i])-positions*zero)/float64(positions)) + float64(zero)
				d[i] = uint8(min(max(mean, 0), 255))
			}
		}
	})
}
