package main

import (
	"math"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	F "github.com/gotorch-dev/torch/nn/functional"
	"github.com/gotorch-dev/torch/nn/utils"
	"github.com/gotorch-dev/torch/optim"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/models"
)

type (
	tensors = []*torch.Tensor
	layers  = []nn.Module
	// layout puts images into the memory format that a row is measured in.
	layout = func(*torch.Tensor) *torch.Tensor
)

// network is a kind of network that people train, small enough for a step in a fraction of a second. Its namesake in
// peer.py is the same.
type network struct {
	id, name string
	batch    int
	images   bool // of images, which each side has in its fastest layout
	clip     bool // gradients are clipped to a norm of 1
	// make gives the layers and the loss of a batch that stays the same; put lays images out.
	make func(batch int, put layout) (layers, func() *torch.Tensor)
}

// networkRows are a training step (AdamW) and the loss in evaluation of each network.
func networkRows(c *config) []row {
	var rows []row
	for _, n := range networks {
		batch := c.size(n.batch, 2)
		for _, train := range []bool{true, false} {
			name := n.name + ", eval"
			if train {
				name = n.name + ", train"
			}
			rows = append(rows, row{
				name: name, peer: "network",
				args:    arg{"name": n.id, "batch": batch, "backward": train, "images": n.images, "clip": n.clip},
				prepare: func() work { return n.work(batch, train) },
			})
		}
	}
	return rows
}

func (n *network) work(batch int, train bool) work {
	put := layout(func(x *torch.Tensor) *torch.Tensor { return x })
	if n.images {
		put = func(x *torch.Tensor) *torch.Tensor { return x.To(torch.ChannelsLast) }
	}
	parts, loss := n.make(batch, put)
	m := nn.NewModuleList(parts...)
	if n.images {
		nn.ToMemoryFormat(m, torch.ChannelsLast)
	}
	if !train {
		nn.Eval(m)
		return work{step: func() { torch.Tidy(func() { loss() }) }}
	}
	params := m.Parameters()
	opt := optim.NewAdamW(params, 1e-4)
	return work{grad: true, step: func() {
		torch.Tidy(func() {
			opt.ZeroGrad()
			loss().Backward()
			if n.clip {
				utils.ClipGradNorm(params, 1)
			}
			opt.Step()
		})
	}}
}

func randn(shape ...int) *torch.Tensor          { return torch.Randn(shape) }
func classes(n int, shape ...int) *torch.Tensor { return torch.Randint(n, shape) }
func joined(dim int, t ...*torch.Tensor) *torch.Tensor {
	return torch.Cat(t, torch.CatOptions{Dim: dim})
}

func conv3(in, out int) *nn.Conv2d {
	return nn.NewConv2d(in, out, 3, nn.Conv2dOptions{Padding: nn.Size{1}})
}

var networks = []network{
	{id: "gpt", name: "GPT 2x256, 128 tokens, batch 8", batch: 8, clip: true,
		make: func(batch int, _ layout) (layers, func() *torch.Tensor) {
			const d, heads, length, words = 256, 8, 128, 5000
			embed, position := nn.NewEmbedding(words, d), nn.NewEmbedding(length, d)
			last, head := nn.NewLayerNorm(d), nn.NewLinear(d, words, nn.LinearOptions{NoBias: true})
			parts := layers{embed, position, last, head}
			type block struct {
				norm1, norm2          *nn.LayerNorm
				qkv, proj, wide, back *nn.Linear
			}
			var blocks []block
			for range 2 {
				b := block{nn.NewLayerNorm(d), nn.NewLayerNorm(d), nn.NewLinear(d, 3*d), nn.NewLinear(d, d),
					nn.NewLinear(d, 4*d), nn.NewLinear(4*d, d)}
				blocks, parts = append(blocks, b), append(parts, b.norm1, b.norm2, b.qkv, b.proj, b.wide, b.back)
			}
			x, y, p := classes(words, batch, length), classes(words, batch*length), torch.Arange(length)
			return parts, func() *torch.Tensor {
				z := embed.Forward(x).Add(position.Forward(p))
				for _, b := range blocks {
					q := b.qkv.Forward(b.norm1.Forward(z)).Chunk(3, tensor.ChunkOptions{Dim: 2})
					for i := range q {
						q[i] = q[i].View([]int{batch, length, heads, d / heads}).Transpose(1, 2)
					}
					a := F.ScaledDotProductAttention(q[0], q[1], q[2],
						F.ScaledDotProductAttentionOptions{IsCausal: true})
					z = z.Add(b.proj.Forward(a.Transpose(1, 2).Reshape([]int{batch, length, d})))
					z = z.Add(b.back.Forward(F.GELU(b.wide.Forward(b.norm2.Forward(z)))))
				}
				return F.CrossEntropy(head.Forward(last.Forward(z)).View([]int{batch * length, words}), y)
			}
		}},
	{id: "vit", name: "ViT 2x192, images of 224, batch 8", batch: 8,
		make: func(batch int, _ layout) (layers, func() *torch.Tensor) {
			const d = 192
			patch := nn.NewConv2d(3, d, 16, nn.Conv2dOptions{Stride: nn.Size{16}})
			class, position := nn.NewParameter(randn(1, 1, d)), nn.NewParameter(randn(1, 197, d))
			layer := nn.NewTransformerEncoderLayer(d, 3, nn.TransformerLayerOptions{
				DimFeedforward: torch.Some(4 * d), Dropout: torch.Some(0.0), Activation: nn.ActivationGELU,
				BatchFirst: true, NormFirst: true})
			encoder, head := nn.NewTransformerEncoder(layer, 2, nn.NewLayerNorm(d)), nn.NewLinear(d, 100)
			x, y := randn(batch, 3, 224, 224), classes(100, batch)
			return layers{patch, nn.NewParameterList(class, position), encoder, head}, func() *torch.Tensor {
				z := patch.Forward(x).Flatten(tensor.FlattenOptions{StartDim: 2}).Transpose(1, 2)
				z = joined(1, class.Expand([]int{batch, -1, -1}), z).Add(position)
				return F.CrossEntropy(head.Forward(encoder.Forward(z).Select(1, 0)), y)
			}
		}},
	{id: "bert", name: "BERT 3x256, 64 tokens, a third padding, batch 8", batch: 8,
		make: func(batch int, _ layout) (layers, func() *torch.Tensor) {
			const d, length = 256, 64
			layer := nn.NewTransformerEncoderLayer(d, 4, nn.TransformerLayerOptions{
				DimFeedforward: torch.Some(1024), Dropout: torch.Some(0.1), Activation: nn.ActivationGELU,
				BatchFirst: true})
			encoder, embed, head := nn.NewTransformerEncoder(layer, 3, nil), nn.NewEmbedding(10000, d),
				nn.NewLinear(d, 2)
			x, y := classes(10000, batch, length), classes(2, batch)
			padding := torch.Arange(length).GtScalar(40).Expand([]int{batch, length})
			return layers{encoder, embed, head}, func() *torch.Tensor {
				z := encoder.Forward(embed.Forward(x), nn.EncoderMasks{KeyPaddingMask: padding})
				return F.CrossEntropy(head.Forward(z.MeanDim([]int{1})), y)
			}
		}},
	{id: "seq2seq", name: "Transformer (2+2)x128, 32 tokens, batch 16", batch: 16,
		make: func(batch int, _ layout) (layers, func() *torch.Tensor) {
			const d, words, length = 128, 1000, 32
			m := nn.NewTransformer(nn.TransformerOptions{DModel: torch.Some(d), NHead: torch.Some(4),
				NumEncoderLayers: torch.Some(2), NumDecoderLayers: torch.Some(2),
				TransformerLayerOptions: nn.TransformerLayerOptions{DimFeedforward: torch.Some(512), BatchFirst: true}})
			from, to, head := nn.NewEmbedding(words, d), nn.NewEmbedding(words, d), nn.NewLinear(d, words)
			x, t, y := classes(words, batch, length), classes(words, batch, length), classes(words, batch*length)
			later := torch.Full([]int{length, length}, math.Inf(-1)).Triu(tensor.TriuOptions{Diagonal: 1})
			return layers{m, from, to, head}, func() *torch.Tensor {
				o := m.Forward(from.Forward(x), to.Forward(t), nn.TransformerMasks{TgtMask: later})
				return F.CrossEntropy(head.Forward(o).View([]int{-1, words}), y)
			}
		}},
	{id: "resnet50", name: "resnet50, images of 96, batch 4", batch: 4, images: true,
		make: func(batch int, put layout) (layers, func() *torch.Tensor) {
			m, x, y := models.NewResNet50(), put(randn(batch, 3, 96, 96)), classes(1000, batch)
			return layers{m}, func() *torch.Tensor { return F.CrossEntropy(m.Forward(x), y) }
		}},
	{id: "mobilenet_v2", name: "mobilenet_v2, images of 96, batch 8", batch: 8, images: true,
		make: func(batch int, put layout) (layers, func() *torch.Tensor) {
			m, x, y := models.NewMobileNetV2(), put(randn(batch, 3, 96, 96)), classes(1000, batch)
			return layers{m}, func() *torch.Tensor { return F.CrossEntropy(m.Forward(x), y) }
		}},
	{id: "unet", name: "U-Net 16-32-64, images of 96, batch 4", batch: 4, images: true,
		make: func(batch int, put layout) (layers, func() *torch.Tensor) {
			double := func(in, out int) *nn.Sequential {
				return nn.NewSequential(conv3(in, out), nn.NewBatchNorm2d(out), nn.NewReLU(), conv3(out, out),
					nn.NewBatchNorm2d(out), nn.NewReLU())
			}
			up := func(in, out int) *nn.ConvTranspose2d {
				return nn.NewConvTranspose2d(in, out, 2, nn.ConvTranspose2dOptions{Stride: nn.Size{2}})
			}
			half := func(x *torch.Tensor) *torch.Tensor { return F.MaxPool2d(x, []int{2}) }
			down1, down2, down3, up2, up1 := double(3, 16), double(16, 32), double(32, 64), double(64, 32),
				double(32, 16)
			wider2, wider1, out := up(64, 32), up(32, 16), nn.NewConv2d(16, 1, 1)
			x, y := put(randn(batch, 3, 96, 96)), put(torch.Rand([]int{batch, 1, 96, 96}))
			return layers{down1, down2, down3, up2, up1, wider2, wider1, out}, func() *torch.Tensor {
				a := down1.Forward(x)
				b := down2.Forward(half(a))
				z := up2.Forward(joined(1, b, wider2.Forward(down3.Forward(half(b)))))
				z = up1.Forward(joined(1, a, wider1.Forward(z)))
				return F.BinaryCrossEntropyWithLogits(out.Forward(z), y)
			}
		}},
	{id: "convnext", name: "ConvNeXt block of 96, images of 40, batch 4", batch: 4, images: true,
		make: func(batch int, put layout) (layers, func() *torch.Tensor) {
			const d = 96
			depth := nn.NewConv2d(d, d, 7, nn.Conv2dOptions{Padding: nn.Size{3}, Groups: torch.Some(d)})
			norm, wide, back, scale := nn.NewLayerNorm(d), nn.NewLinear(d, 4*d), nn.NewLinear(4*d, d),
				nn.NewParameter(torch.Ones([]int{d}))
			x := put(randn(batch, d, 40, 40))
			return layers{depth, norm, wide, back, nn.NewParameterList(scale)}, func() *torch.Tensor {
				z := norm.Forward(depth.Forward(x).Permute([]int{0, 2, 3, 1}))
				z = back.Forward(F.GELU(wide.Forward(z))).Mul(scale).Permute([]int{0, 3, 1, 2})
				return x.Add(z).Square().Mean()
			}
		}},
	{id: "diffusion", name: "diffusion block of 64, images of 24, batch 8", batch: 8, images: true,
		make: func(batch int, put layout) (layers, func() *torch.Tensor) {
			const d, heads, pixels = 64, 4, 24 * 24
			first, conv1, conv2, time := conv3(3, d), conv3(d, d), conv3(d, d), nn.NewLinear(128, d)
			norm1, norm2, norm3 := nn.NewGroupNorm(8, d), nn.NewGroupNorm(8, d), nn.NewGroupNorm(8, d)
			qkv, proj := nn.NewConv2d(d, 3*d, 1), nn.NewConv2d(d, d, 1)
			x, t := put(randn(batch, 3, 24, 24)), randn(batch, 128)
			return layers{first, norm1, conv1, time, norm2, conv2, norm3, qkv, proj}, func() *torch.Tensor {
				z := first.Forward(x)
				h := conv1.Forward(F.SiLU(norm1.Forward(z))).Add(time.Forward(F.SiLU(t)).Unsqueeze(-1).Unsqueeze(-1))
				z = z.Add(conv2.Forward(F.SiLU(norm2.Forward(h))))
				q := qkv.Forward(norm3.Forward(z)).Reshape([]int{batch, 3, heads, d / heads, pixels}).Permute([]int{1,
					0, 2, 4, 3})
				a := F.ScaledDotProductAttention(q.Select(0, 0), q.Select(0, 1), q.Select(0, 2))
				z = z.Add(proj.Forward(a.Transpose(2, 3).Reshape([]int{batch, d, 24, 24})))
				return z.Square().Mean()
			}
		}},
	{id: "dcgan", name: "DCGAN generator, images of 32, batch 16", batch: 16, images: true,
		make: func(batch int, put layout) (layers, func() *torch.Tensor) {
			up := func(in, out, stride, padding int) *nn.ConvTranspose2d {
				return nn.NewConvTranspose2d(in, out, 4,
					nn.ConvTranspose2dOptions{Stride: nn.Size{stride}, Padding: nn.Size{padding}, NoBias: true})
			}
			m := nn.NewSequential(up(100, 256, 1, 0), nn.NewBatchNorm2d(256), nn.NewReLU(), up(256, 128, 2, 1),
				nn.NewBatchNorm2d(128), nn.NewReLU(),
				up(128, 64, 2, 1), nn.NewBatchNorm2d(64), nn.NewReLU(), up(64, 3, 2, 1), nn.NewTanh())
			x := put(randn(batch, 100, 1, 1))
			return layers{m}, func() *torch.Tensor { return m.Forward(x).Square().Mean() }
		}},
	{id: "audio", name: "Conv1d 64-64-128, 16000 samples, batch 16", batch: 16,
		make: func(batch int, _ layout) (layers, func() *torch.Tensor) {
			m := nn.NewSequential(nn.NewConv1d(1, 64, 80, nn.Conv1dOptions{Stride: nn.Size{16}}), nn.NewBatchNorm1d(64),
				nn.NewReLU(), nn.NewMaxPool1d(4),
				nn.NewConv1d(64, 64, 3), nn.NewBatchNorm1d(64), nn.NewReLU(), nn.NewMaxPool1d(4),
				nn.NewConv1d(64, 128, 3), nn.NewBatchNorm1d(128), nn.NewReLU(), nn.NewMaxPool1d(4),
				nn.NewAdaptiveAvgPool1d(1), nn.NewFlatten(), nn.NewLinear(128, 35))
			x, y := randn(batch, 1, 16000), classes(35, batch)
			return layers{m}, func() *torch.Tensor { return F.CrossEntropy(m.Forward(x), y) }
		}},
	{id: "conv3d", name: "Conv3d 16-32, volumes of 16x32x32, batch 4", batch: 4,
		make: func(batch int, _ layout) (layers, func() *torch.Tensor) {
			conv := func(in, out int) *nn.Conv3d {
				return nn.NewConv3d(in, out, 3,
					nn.Conv3dOptions{Padding: nn.Size{1}})
			}
			m := nn.NewSequential(conv(1, 16), nn.NewBatchNorm3d(16), nn.NewReLU(), nn.NewMaxPool3d(2), conv(16, 32),
				nn.NewBatchNorm3d(32), nn.NewReLU(),
				nn.NewAdaptiveAvgPool3d(1), nn.NewFlatten(), nn.NewLinear(32, 5))
			x, y := randn(batch, 1, 16, 32, 32), classes(5, batch)
			return layers{m}, func() *torch.Tensor { return F.CrossEntropy(m.Forward(x), y) }
		}},
	{id: "gru", name: "GRU 2x128 both ways, 50 steps, batch 32", batch: 32,
		make: func(batch int, _ layout) (layers, func() *torch.Tensor) {
			m, head := nn.NewGRU(64, 128,
				nn.RNNOptions{NumLayers: torch.Some(2), Bidirectional: true, BatchFirst: true}), nn.NewLinear(256, 10)
			x, y := randn(batch, 50, 64), classes(10, batch)
			return layers{m, head}, func() *torch.Tensor {
				o, _ := m.Forward(x)
				return F.CrossEntropy(head.Forward(o.Select(1, -1)), y)
			}
		}},
	{id: "charlstm", name: "char-LSTM 2x256, 64 letters, batch 16", batch: 16, clip: true,
		make: func(batch int, _ layout) (layers, func() *torch.Tensor) {
			const letters, length = 65, 64
			embed, m := nn.NewEmbedding(letters, 128),
				nn.NewLSTM(128, 256, nn.RNNOptions{NumLayers: torch.Some(2), BatchFirst: true, Dropout: 0.2})
			head := nn.NewLinear(256, letters)
			x, y := classes(letters, batch, length), classes(letters, batch*length)
			return layers{embed, m, head}, func() *torch.Tensor {
				o, _, _ := m.Forward(embed.Forward(x))
				return F.CrossEntropy(head.Forward(o).View([]int{-1, letters}), y)
			}
		}},
	{id: "vae", name: "VAE 784-400-20, batch 128", batch: 128,
		make: func(batch int, _ layout) (layers, func() *torch.Tensor) {
			in, mean, logvar := nn.NewLinear(784, 400), nn.NewLinear(400, 20), nn.NewLinear(400, 20)
			out := nn.NewSequential(nn.NewLinear(20, 400), nn.NewReLU(), nn.NewLinear(400, 784))
			x := torch.Rand([]int{batch, 784})
			return layers{in, mean, logvar, out}, func() *torch.Tensor {
				h := F.ReLU(in.Forward(x))
				m, l := mean.Forward(h), logvar.Forward(h)
				z := m.Add(torch.RandnLike(m).Mul(l.MulScalar(0.5).Exp()))
				bce := F.BinaryCrossEntropy(F.Sigmoid(out.Forward(z)), x, F.BinaryCrossEntropyOptions{Reduction: F.Sum})
				return bce.Add(l.AddScalar(1).Sub(m.PowScalar(2)).Sub(l.Exp()).Sum().MulScalar(-0.5))
			}
		}},
	{id: "dlrm", name: "DLRM, 8 tables of 16, batch 256", batch: 256,
		make: func(batch int, _ layout) (layers, func() *torch.Tensor) {
			const d, rows = 16, 10000
			bottom := nn.NewSequential(nn.NewLinear(13, 64), nn.NewReLU(), nn.NewLinear(64, d), nn.NewReLU())
			top := nn.NewSequential(nn.NewLinear(81+d, 128), nn.NewReLU(), nn.NewLinear(128, 1))
			parts := layers{bottom, top}
			var tables []*nn.EmbeddingBag
			var indices tensors
			for range 8 {
				b := nn.NewEmbeddingBag(rows, d)
				tables, parts, indices = append(tables, b), append(parts, b), append(indices, classes(rows, batch, 5))
			}
			x, y := randn(batch, 13), torch.Rand([]int{batch, 1})
			return parts, func() *torch.Tensor {
				v := tensors{bottom.Forward(x)}
				for i, b := range tables {
					v = append(v, b.Forward(indices[i]))
				}
				s := torch.Stack(v, torch.StackOptions{Dim: 1})
				z := s.BMM(s.Transpose(1, 2)).Flatten(tensor.FlattenOptions{StartDim: 1})
				return F.BinaryCrossEntropyWithLogits(top.Forward(joined(1, v[0], z)), y)
			}
		}},
	{id: "gcn", name: "GCN 64-64-7, 5000 nodes, 20000 edges", batch: 1,
		make: func(_ int, _ layout) (layers, func() *torch.Tensor) {
			const nodes, edges = 5000, 20000
			layer1, layer2 := nn.NewLinear(64, 64), nn.NewLinear(64, 7)
			x, y, from, to := randn(nodes, 64), classes(7, nodes), classes(nodes, edges), classes(nodes, edges)
			gather := func(x *torch.Tensor) *torch.Tensor {
				return torch.ZerosLike(x).IndexAdd(0, to, x.IndexSelect(0, from)).Add(x)
			}
			return layers{layer1, layer2}, func() *torch.Tensor {
				return F.CrossEntropy(gather(layer2.Forward(F.ReLU(gather(layer1.Forward(x))))), y)
			}
		}},
	{id: "mlp", name: "MLP 20-64-64-2 with tanh, batch 8", batch: 8,
		make: func(batch int, _ layout) (layers, func() *torch.Tensor) {
			m := nn.NewSequential(nn.NewLinear(20, 64), nn.NewTanh(), nn.NewLinear(64, 64), nn.NewTanh(),
				nn.NewLinear(64, 2))
			x, y := randn(batch, 20), classes(2, batch)
			return layers{m}, func() *torch.Tensor { return F.CrossEntropy(m.Forward(x), y) }
		}},
}
