package main

import (
	"fmt"

	"github.com/gotorch-dev/torch"
	F "github.com/gotorch-dev/torch/nn/functional"
)

// convShape is a convolution of square images.
type convShape struct {
	name             string
	n, in, size, out int
	kernel           int
	stride, padding  int
	groups           int
	bfloat16         bool
}

func (s convShape) outSize() int { return (s.size+2*s.padding-s.kernel)/s.stride + 1 }

func (s convShape) flops() float64 {
	o := float64(s.outSize())
	return 2 * float64(s.n) * o * o * float64(s.out) * float64(s.in/s.groups) * float64(s.kernel*s.kernel)
}

// convRows are single convolutions of 16 images.
func convRows(c *config) []row {
	n := c.size(16, 1)
	square := func(k, in, size, out int) convShape {
		size = c.size(size, 8)
		return convShape{fmt.Sprintf("conv %dx%d %d→%d@%d", k, k, in, out, size), n, in, size, out, k, 1, k / 2, 1,
			false}
	}
	var rows []row
	layouts := []string{"channels-last", "NCHW"}
	for _, s := range []convShape{square(3, 64, 56, 64), square(3, 128, 28, 128), square(3, 256, 14, 256),
		square(3, 512, 7, 512)} {
		for _, l := range layouts {
			rows = append(rows, convolution(s, l, false), convolution(s, l, true))
		}
		rows = append(rows, winograd(convolution(s, layouts[0], false)))
		if c.tiny {
			return rows
		}
	}
	for _, s := range []convShape{square(1, 256, 56, 64), square(1, 64, 56, 256)} {
		rows = append(rows, convolution(s, layouts[0], false), convolution(s, layouts[0], true))
	}
	for _, s := range []convShape{square(3, 128, 28, 128), square(1, 256, 56, 64)} {
		s.name, s.bfloat16 = s.name+" bfloat16", true
		rows = append(rows, convolution(s, layouts[0], false), convolution(s, layouts[0], true))
	}
	stem := convShape{"conv 7x7 s2 stem@224", n, 3, 224, 64, 7, 2, 3, 1, false}
	depthwise := convShape{"conv depthwise 3x3 144@56", n, 144, 56, 144, 3, 1, 1, 144, false}
	for _, s := range []convShape{stem, depthwise} {
		rows = append(rows, convolution(s, layouts[0], false), convolution(s, layouts[1], false))
	}
	return rows
}

// winograd is a forward pass with the switch on that trades accuracy for speed. The rate counts the work of the direct
// way.
func winograd(r row) row {
	r.name += ", Winograd"
	prepare := r.prepare
	r.prepare = func() work {
		w := prepare()
		step := w.step
		w.step = func() {
			defer torch.SetWinograd(torch.SetWinograd(true))
			step()
		}
		return w
	}
	return r
}

// convolution is one pass. Backward means both gradients, of the images and of the weights, and twice the arithmetic.
// The share of the peak of one in bfloat16 is that of the float32 peak, which processors with instructions for it
// exceed.
func convolution(s convShape, layout string, backward bool) row {
	pass, flops := "forward", s.flops()
	if backward {
		pass, flops = "backward", 2*flops
	}
	format := torch.ContiguousFormat
	if layout == "channels-last" {
		format = torch.ChannelsLast
	}
	dtype := torch.Float32
	if s.bfloat16 {
		dtype = torch.BFloat16
	}
	r := row{
		name: fmt.Sprintf("%s %s %s", s.name, layout, pass), flops: flops,
		peer: "conv", args: arg{"n": s.n, "c": s.in, "h": s.size, "w": s.size, "out": s.out, "kernel": s.kernel,
			"stride":  s.stride,
			"padding": s.padding, "groups": s.groups, "layout": layout, "backward": backward, "dtype": dtype.String()},
		prepare: func() work {
			x := torch.Randn([]int{s.n, s.in, s.size, s.size}).To(format).To(dtype)
			w := torch.Randn([]int{s.out, s.in / s.groups, s.kernel, s.kernel}).To(format).To(dtype)
			o := F.Conv2dOptions{Stride: []int{s.stride}, Padding: []int{s.padding}, Groups: torch.Some(s.groups)}
			if !backward {
				return work{step: func() { torch.Tidy(func() { F.Conv2d(x, w, o) }) }}
			}
			x.SetRequiresGrad(true)
			w.SetRequiresGrad(true)
			y := F.Conv2d(x, w, o)
			g := torch.Randn(y.Shape()).To(format).To(dtype)
			return work{grad: true, step: func() {
				torch.Tidy(func() {
					torch.Grad([]*torch.Tensor{y}, []*torch.Tensor{x, w},
						torch.GradOptions{GradOutputs: []*torch.Tensor{g}, RetainGraph: true})
				})
			}}
		},
	}
	if s.groups == s.in { // no reuse of data worth the name: bound by memory
		r.flops = 0
		r.bytes = 4 * float64(s.n*s.in) * float64(s.size*s.size+s.outSize()*s.outSize())
	}
	return r
}
