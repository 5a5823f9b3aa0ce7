package main

import (
	"fmt"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/fft"
)

// fftRows are Fourier transforms of complex and of real lines, of a picture, and of the frames of a signal.
func fftRows(c *config) []row {
	var rows []row
	for _, s := range [][2]int{{1, 256}, {256, 256}, {1, 1024}, {256, 1024}, {64, 4096}, {64, 1000},
		{64, 1009}, {1, 1 << 20}} {
		lines, n := c.size(s[0], min(s[0], 2)), c.size(s[1], s[1]%17+30)
		name := fmt.Sprintf("%dx%d", s[0], s[1])
		rows = append(rows,
			spectral("fft", name, []int{lines, n}, func(x *torch.Tensor) { fft.FFT(x) }),
			spectral("rfft", name, []int{lines, n}, func(x *torch.Tensor) { fft.RFFT(x) }))
	}
	side := c.size(512, 12)
	picture := fmt.Sprintf("%dx%d", side, side)
	return append(rows,
		spectral("irfft", "256x1024", []int{c.size(256, 2), c.size(1024, 16)/2 + 1}, func(x *torch.Tensor) { fft.IRFFT(x) }),
		spectral("fft2", picture, []int{side, side}, func(x *torch.Tensor) { fft.FFT2(x) }),
		spectral("rfft2", picture, []int{side, side}, func(x *torch.Tensor) { fft.RFFT2(x) }))
}

// spectral is a row of one transform.
func spectral(op, name string, shape []int, f func(x *torch.Tensor)) row {
	return row{
		name: op + " " + name, peer: "spectral", args: arg{"op": op, "shape": shape},
		prepare: func() work {
			x := torch.Randn(shape)
			if op[0] != 'r' {
				x = torch.Complex(x, torch.Randn(shape))
			}
			return work{step: func() { torch.Tidy(func() { f(x) }) }}
		},
	}
}
