package main

import (
	"fmt"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/amp"
	"github.com/gotorch-dev/torch/nn"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/optim"
)

// ampRows are training steps in float32 and under bfloat16 autocast. Bfloat16 pays where the processor multiplies it
// (AVX-512 BF16), so the two rows of a step belong side by side.
func ampRows(c *config) []row {
	if c.tiny {
		return []row{ampResNet(2, 32, true), ampEncoder(16, 2, 32, 2, 8, false), ampEncoder(16, 2, 32, 2, 8, true)}
	}
	return []row{
		ampResNet(16, 224, false), ampResNet(16, 224, true),
		ampEncoder(512, 8, 2048, 32, 128, false), ampEncoder(512, 8, 2048, 32, 128, true),
		ampEncoder(768, 12, 3072, 8, 128, false), ampEncoder(768, 12, 3072, 8, 128, true),
	}
}

// precision runs f as it is or under bfloat16 autocast.
func precision(lower bool, f func() *torch.Tensor) (y *torch.Tensor) {
	if !lower {
		return f()
	}
	amp.Autocast(torch.CPU.Type, torch.BFloat16, func() { y = f() })
	return y
}

func precisionName(lower bool) string {
	if lower {
		return "bfloat16 autocast"
	}
	return "float32"
}

// ampResNet is a step of SGD on images; the loss is computed inside the autocast region, as PyTorch's guide does.
func ampResNet(batch, size int, lower bool) row {
	shape := []int{batch, 3, size, size}
	return row{
		name: fmt.Sprintf("resnet18 batch %d, train step (SGD), %s", batch, precisionName(lower)),
		peer: "amp_resnet", args: arg{"shape": shape, "lower": lower},
		prepare: func() work {
			m := newModel("resnet18")
			x, y := channelsLast(m, torch.Randn(shape)), torch.Randint(1000, []int{batch})
			opt := optim.NewSGD(m.Parameters(), 1e-2, optim.SGDOptions{Momentum: 0.9})
			return work{grad: true, step: func() {
				torch.Tidy(func() {
					opt.ZeroGrad()
					precision(lower, func() *torch.Tensor { return F.CrossEntropy(m.Forward(x), y) }).Backward()
					opt.Step()
				})
			}}
		},
	}
}

// ampEncoder is forward, backward and a step of SGD of one layer of a Transformer.
func ampEncoder(d, heads, ff, batch, seq int, lower bool) row {
	return row{
		name: fmt.Sprintf("TransformerEncoderLayer %d/%d/%d on %dx%d, train step (SGD), %s", d, heads, ff, batch, seq,
			precisionName(lower)),
		peer: "amp_transformer",
		args: arg{"d": d, "heads": heads, "ff": ff, "batch": batch, "seq": seq, "lower": lower},
		prepare: func() work {
			m := nn.NewTransformerEncoderLayer(d, heads,
				nn.TransformerLayerOptions{DimFeedforward: torch.Some(ff), Dropout: torch.Some(0.0), BatchFirst: true})
			x := torch.Randn([]int{batch, seq, d})
			opt := optim.NewSGD(m.Parameters(), 1e-3, optim.SGDOptions{Momentum: 0.9})
			return work{grad: true, step: func() {
				torch.Tidy(func() {
					opt.ZeroGrad()
					precision(lower, func() *torch.Tensor { return m.Forward(x).Square().Mean() }).Backward()
					opt.Step()
				})
			}}
		},
	}
}
