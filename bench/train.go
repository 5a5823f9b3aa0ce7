package main

import (
	"fmt"
	"slices"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/nn/utils"
	"github.com/gotorch-dev/torch/optim"
)

// trainRows are whole networks: training steps and inference.
func trainRows(c *config) []row {
	if c.tiny {
		return []row{
			training(c, "LeNet", "lenet", []int{2, 1, 28, 28}, 10, "adam", 0),
			inference(c, "MLP forward", "mlp", []int{2, 784}, 0, "eager", "onnx"),
			encoder(16, 2, 32, 2, 4, true), lstm(8, 8, 3, 2, true), recommender(c, 3, 50, 8, 4, 2), memoryRow(c),
		}
	}
	// Multiplications and additions of a forward pass of one image; a training step has three times as many, less the
	// gradient of the images themselves.
	const mlpFlops, lenetFlops, resnetFlops, mobileFlops = 2 * (784*512 + 512*256 + 256*10), 24.0e6, 3.63e9, 0.6e9
	resnet := func(batch int) []int { return []int{batch, 3, 224, 224} }
	mlpTrain := 128 * (3*mlpFlops - 2*784*512.)
	return []row{
		training(c, "MLP 784-512-256-10, batch 128, Adam step", "mlp", []int{128, 784}, 10, "adam", mlpTrain),
		training(c, "LeNet, batch 64, Adam step", "lenet", []int{64, 1, 28, 28}, 10, "adam", 64*3*lenetFlops),
		inference(c, "resnet18 batch 16, forward", "resnet18", resnet(16), 16*resnetFlops, "eager"),
		inference(c, "resnet18 batch 16, forward, PyTorch compiled", "resnet18", resnet(16), 16*resnetFlops, "script",
			"compile"),
		{
			name: "resnet18 batch 16, train step (SGD)", flops: 16 * (3*resnetFlops - 0.24e9),
			peer: "train", args: arg{"model": "resnet18", "shape": resnet(16), "classes": 1000, "optimizer": "sgd"},
			prepare: resnetTrain(c),
		},
		memoryRow(c),
		inference(c, "resnet18 batch 1, forward", "resnet18", resnet(1), resnetFlops, "eager"),
		// Inference with the batch norms folded in.
		inference(c, "resnet18 batch 16, inference", "resnet18", resnet(16), 16*resnetFlops, "onnx"),
		inference(c, "resnet18 batch 1, inference", "resnet18", resnet(1), resnetFlops, "onnx"),
		inference(c, "mobilenet_v2 batch 1, inference", "mobilenet_v2", resnet(1), mobileFlops, "onnx"),
		inference(c, "MLP forward, batch 128", "mlp", []int{128, 784}, 128*mlpFlops, "eager", "script", "onnx"),
		inference(c, "MLP forward, batch 1", "mlp", []int{1, 784}, mlpFlops, "eager", "script", "onnx"),
		encoder(512, 8, 2048, 32, 128, false), encoder(512, 8, 2048, 32, 128, true),
		lstm(128, 256, 64, 32, false), lstm(128, 256, 64, 32, true),
		recommender(c, 12, 30_000, 64, 2048, 1), recommender(c, 12, 30_000, 32, 512, 10),
		recommender(c, 12, 200_000, 16, 2048, 1), recommender(c, 12, 200_000, 64, 2048, 10),
	}
}

// resnetTrain is the step whose memory and pauses are looked at, too.
func resnetTrain(c *config) func() work {
	size := c.size(224, 32)
	return trainStep(c, "resnet18", []int{c.size(16, 2), 3, size, size}, 1000, "sgd")
}

func training(c *config, name, model string, shape []int, classes int, optimizer string, flops float64) row {
	return row{
		name: name, flops: flops, peer: "train",
		args:    arg{"model": model, "shape": shape, "classes": classes, "optimizer": optimizer},
		prepare: trainStep(c, model, shape, classes, optimizer),
	}
}

// trainStep is a step as a training loop has it. Images and weights are channels-last, which every operator keeps.
func trainStep(c *config, name string, shape []int, classes int, optimizer string) func() work {
	return func() work {
		m := newModel(name)
		x, y := torch.Randn(shape), torch.Randint(classes, shape[:1])
		if len(shape) == 4 {
			x = channelsLast(m, x)
		}
		var opt optim.Optimizer
		if optimizer == "adam" {
			opt = optim.NewAdam(m.Parameters(), 1e-3)
		} else {
			opt = optim.NewSGD(m.Parameters(), 1e-2, optim.SGDOptions{Momentum: 0.9})
		}
		return work{grad: true, step: func() {
			torch.Tidy(func() {
				opt.ZeroGrad()
				F.CrossEntropy(m.Forward(x), y).Backward()
				opt.Step()
			})
		}}
	}
}

// inference is a forward pass; ways are what PyTorch's side may use: eager, script, compile, onnx.
func inference(c *config, name, model string, shape []int, flops float64, ways ...string) row {
	return row{
		name: name, flops: flops,
		peer: "forward", args: arg{"model": model, "shape": shape, "ways": ways},
		prepare: func() work {
			m := newModel(model)
			nn.Eval(m)
			x := torch.Randn(shape)
			if slices.Contains(ways, "onnx") { // prepared as ONNX Runtime prepares its models
				o := utils.OptimizeForInference(m)
				return work{step: func() { torch.Tidy(func() { o.Forward(x) }) }}
			}
			if len(shape) == 4 {
				x = channelsLast(m, x)
			}
			return work{step: func() { torch.Tidy(func() { m.Forward(x) }) }}
		},
	}
}

// channelsLast puts images, and the weights that meet them, in the layout in which convolutions are fastest.
func channelsLast(m nn.Module, x *torch.Tensor) *torch.Tensor {
	nn.ToMemoryFormat(m, torch.ChannelsLast)
	return x.To(torch.ChannelsLast)
}

// encoder is a layer of a Transformer, without dropout.
func encoder(d, heads, ff, batch, seq int, backward bool) row {
	tokens := float64(batch * seq)
	flops := tokens * 2 * (4*float64(d*d) + 2*float64(d*ff) + 2*float64(seq*d))
	pass := "forward"
	if backward {
		pass, flops = "train", 3*flops
	}
	return row{
		name:  fmt.Sprintf("TransformerEncoderLayer %d/%d/%d on %dx%d, %s", d, heads, ff, batch, seq, pass),
		flops: flops,
		peer:  "transformer", args: arg{"d": d, "heads": heads, "ff": ff, "batch": batch, "seq": seq,
			"backward": backward},
		prepare: func() work {
			m := nn.NewTransformerEncoderLayer(d, heads,
				nn.TransformerLayerOptions{DimFeedforward: torch.Some(ff), Dropout: torch.Some(0.0), BatchFirst: true})
			x := torch.Randn([]int{batch, seq, d})
			if !backward {
				m.Eval()
				return work{step: func() { torch.Tidy(func() { m.Forward(x) }) }}
			}
			x.SetRequiresGrad(true)
			return passes(m, x, torch.Randn([]int{batch, seq, d}), func() *torch.Tensor { return m.Forward(x) })
		},
	}
}

// lstm is a layer over whole sequences.
func lstm(size, hidden, seq, batch int, backward bool) row {
	flops := 2 * float64(seq*batch) * float64(4*hidden*(size+hidden))
	pass := "forward"
	if backward {
		pass, flops = "train", 3*flops
	}
	return row{
		name: fmt.Sprintf("LSTM %d→%d, seq %d, batch %d, %s", size, hidden, seq, batch, pass), flops: flops,
		peer: "lstm", args: arg{"size": size, "hidden": hidden, "seq": seq, "batch": batch, "backward": backward},
		prepare: func() work {
			m := nn.NewLSTM(size, hidden)
			x := torch.Randn([]int{seq, batch, size})
			if !backward {
				m.Eval()
				return work{step: func() { torch.Tidy(func() { m.Forward(x) }) }}
			}
			x.SetRequiresGrad(true)
			return passes(m, x, torch.Randn([]int{seq, batch, hidden}), func() *torch.Tensor {
				y, _, _ := m.Forward(x)
				return y
			})
		},
	}
}

// passes are forward and backward of a layer, with the gradients of its parameters and its input.
func passes(m nn.Module, x, g *torch.Tensor, forward func() *torch.Tensor) work {
	return work{grad: true, step: func() {
		torch.Tidy(func() {
			nn.ZeroGrad(m)
			x.SetGrad(nil)
			forward().Backward(torch.BackwardOptions{Gradient: g})
		})
	}}
}
