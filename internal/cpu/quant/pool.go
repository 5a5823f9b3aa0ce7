package quant

import (
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

// AveragePool sets dst, channel by channel, to what result makes of the sum of each window of src and of the number of
// its elements that lie inside the image: g is as for MaxPool, in two dimensions.
func AveragePool(g *Geometry, dst, src []uint8, result func(sum, count int) uint8) {
	ch, line := g.Channels, g.In[2]*g.Channels
	strips := (ch + tileCols - 1) / tileCols
	var taps [onesTaps]int
	for i := range taps {
		taps[i] = i * ch
	}
	par.For(g.Batch*g.Out[1]*g.Out[2]*strips, 1+partSize/max(1, g.Kernel[1]*g.Kernel[2]*tileCols), func(lo, hi int) {
		var tile, sums [tileCols]int32
		for t := lo; t < hi; t++ {
			at, c := t/strips, t%strips*tileCols
			n, y, x := at/(g.Out[1]*g.Out[2]), at/g.Out[2]%g.Out[1]*g.Stride[1]-g.Pad[1],
				at%g.Out[2]*g.Stride[2]-g.Pad[2]
			yEnd, xEnd := min(y+g.Kernel[1], g.In[1]), min(x+g.Kernel[2], g.In[2])
			y, x = max(y, 0), max(x, 0)
			rows, positions := yEnd-y, xEnd-x
			count := rows * positions
			if positions == g.In[2] { // whole rows lie behind each other
				rows, positions = 1, count
			}
			cols := min(tileCols, ch-c)
			clear(sums[:])
			p := &kernelArgs{b: unsafe.Pointer(&ones), taps: unsafe.Pointer(&taps), rows: 1,
				tile: unsafe.Pointer(&tile), mask: 1<<cols - 1}
			for r := range rows {
				from := (n*g.In[1]+y+r)*line + x*ch + c
				for i := 0; i < positions; i += onesTaps {
					p.a = unsafe.Pointer(&src[from+i*ch])
					p.count = min(onesTaps, positions-i)
					depth(p)
					for j, s := range tile {
						sums[j] += s
					}
				}
			}
			d := dst[at*ch+c:][:cols]
			for j := range d {
				d[j] = result(int(sums[j]), count)
			}
		}
	})
}
