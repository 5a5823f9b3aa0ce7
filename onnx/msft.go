package onnx

import (
	"math"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/onnxpb"
	"github.com/gotorch-dev/torch/tensor"
)

// The operators of the domain com.microsoft that PyTorch's and Olive's exports use, and those that ONNX Runtime's own
// optimizer writes into files. https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
func init() {
	define("com.microsoft", map[string]rule{
		"BiasAdd":     func(n *node) []*value { return one(n.same(n.plus(n.plus(n.at(n.T(0)), n.T(1)), n.T(2)))) },
		"BiasGelu":    func(n *node) []*value { return one(n.same(n.gelu(n.plus(n.at(n.T(0)), n.T(1)), "none"))) },
		"BiasSoftmax": biasSoftmax,
		"CDist":       cdist,
		"ExpandDims": func(n *node) []*value {
			return one(n.like(n.call("aten::unsqueeze", n.T(0),
				n.intValue(1))))
		},
		"FastGelu": func(n *node) []*value {
			return one(n.same(n.gelu(n.plus(n.at(n.T(0)), n.opt(1)),
				"tanh")))
		},
		"FusedConv":       fusedConv(false),
		"FusedGemm":       fusedGemm,
		"FusedMatMul":     fusedMatMul,
		"GatherND":        gatherND,
		"Gelu":            func(n *node) []*value { return one(n.same(n.gelu(n.at(n.T(0)), "none"))) },
		"GridSample":      gridSample,
		"GroupNorm":       nhwcGroupNorm,
		"Inverse":         func(n *node) []*value { return one(n.same(n.call("aten::inverse", n.T(0)))) },
		"Irfft":           realFFT(true),
		"IsAllFinite":     isAllFinite,
		"NhwcConv":        fusedConv(true),
		"NhwcFusedConv":   fusedConv(true),
		"NhwcMaxPool":     nhwcMaxPool,
		"Pad":             pad,
		"QuickGelu":       quickGelu,
		"Range":           contribRange,
		"Rfft":            realFFT(false),
		"TransposeMatMul": fusedMatMul,
		"Trilu":           trilu,

		"EmbedLayerNormalization":          embedLayerNorm,
		"SimplifiedLayerNormalization":     rmsNorm,
		"SkipLayerNormalization":           skipLayerNorm,
		"SkipSimplifiedLayerNormalization": skipLayerNorm,
	})
	define("", map[string]rule{"SimplifiedLayerNormalization": rmsNorm})

	helper("cdist(Tensor a, Tensor b, bool root) -> Tensor", func(a args) any {
		d := a.T(0).Unsqueeze(1).Sub(a.T(1).Unsqueeze(0))
		d = call("aten::sum.dim_IntList", d.Mul(d), []int{-1})
		if a.bool(2) {
			d = d.Sqrt()
		}
		return d
	})
	helper("all_finite(Tensor[] list, bool nan, bool inf) -> Tensor", func(a args) any {
		ok := true
		for _, x := range a.Ts(0) {
			bad := x.IsNaN()
			if !a.bool(1) {
				bad = x.IsFinite().LogicalNot()
			}
			if a.bool(2) {
				bad = x.IsInf()
			}
			ok = ok && bad.Any().Num().I == 0
		}
		return tensor.FromSlice([]bool{ok}).Reshape([]int{})
	})
	helper("bias_softmax(Tensor x, Tensor bias, int axis, bool inner) -> Tensor", func(a args) any {
		x, b := a.T(0), a.T(1)
		axis := dim("BiasSoftmax", a.int(2), x.Dim())
		if a.bool(3) && b.Dim() == x.Dim() || b.Dim() == x.Dim() { // numpy's broadcasting
			x = x.Add(b)
		} else { // the dimensions before the axis repeat in groups
			groups := product(x.Shape()[:axis])
			rest := product(x.Shape()[axis:])
			flat := b.Reshape([]int{-1, rest})
			if flat.Size(0) == 0 || groups%flat.Size(0) != 0 {
				wrong("BiasSoftmax", "a bias of shape %v for shape %v", b.Shape(), x.Shape())
			}
			flat = flat.Unsqueeze(1).Expand([]int{flat.Size(0), groups / flat.Size(0), rest})
			x = x.Add(flat.Reshape(x.Shape()))
		}
		flat := x.Reshape([]int{product(x.Shape()[:axis]), product(x.Shape()[axis:])})
		return flat.Softmax(1).Reshape(x.Shape())
	})
	helper("fused_matmul(Tensor a, Tensor b, bool ta, bool tb, bool batch_a, bool batch_b, float alpha) -> Tensor",
		func(a args) any {
			turn := func(x *T, trans, batch bool) *T {
				if batch && x.Dim() > 2 { // the first dimension goes before the last
					x = x.MoveDim(0, -2)
				}
				if trans && x.Dim() > 1 {
					x = x.Transpose(-2, -1)
				}
				return x
			}
			y := turn(a.T(0), a.bool(2), a.bool(4)).MatMul(turn(a.T(1), a.bool(3), a.bool(5)))
			if a.float(6) != 1 {
				y = y.MulScalar(a.float(6))
			}
			return y
		})
	helper("rfft(Tensor x, bool inverse, bool onesided) -> Tensor", func(a args) any {
		x := a.T(0)
		if a.bool(1) {
			z := call("aten::view_as_complex", x.Contiguous())
			n := z.Size(-1)
			if a.bool(2) {
				n = 2 * (n - 1)
			}
			return call("aten::fft_irfft", z, n, -1)
		}
		if a.bool(2) {
			return call("aten::view_as_real", call("aten::fft_rfft", x, nil, -1))
		}
		return call("aten::view_as_real", call("aten::fft_fft", x, nil, -1))
	})
	helper("channels_last(Tensor x) -> Tensor", func(a args) any { return a.T(0).MoveDim(1, -1) })
	helper("channels_first(Tensor x) -> Tensor", func(a args) any { return a.T(0).MoveDim(-1, 1) })
	helper("embed(Tensor ids, Tensor? segments, Tensor words, Tensor places, Tensor? kinds, Tensor? positions)"+
		" -> Tensor",
		func(a args) any {
			ids := a.T(0)
			if ids.Dim() != 2 {
				wrong("EmbedLayerNormalization", "ids of shape %v", ids.Shape())
			}
			pick := func(w, i *T) *T {
				return w.IndexSelect(0, i.ToDType(tensor.Int64).Reshape([]int{-1})).Reshape(append(append([]int(nil),
					i.Shape()...), w.Size(1)))
			}
			x := pick(a.T(2), ids)
			if p := a.T(5); p != nil {
				x = x.Add(pick(a.T(3), p))
			} else {
				x = x.Add(a.T(3).Narrow(0, 0, ids.Size(1)))
			}
			if s := a.T(1); s != nil && a.T(4) != nil {
				x = x.Add(pick(a.T(4), s))
			}
			return x
		})
	helper("mask_lengths(Tensor? mask, Tensor ids) -> Tensor", func(a args) any {
		m := a.T(0)
		if m == nil {
			return call("aten::zeros", []int{a.T(1).Size(0)}, tensor.Int32)
		}
		return call("aten::sum.dim_IntList", m, []int{1}, false, tensor.Int32)
	})
}

// plus adds a value that may be left out.
func (n *node) plus(g *graph.Value, v *value) *graph.Value {
	if v == nil {
		return g
	}
	return n.call("aten::add.Tensor", g, v)
}

func (n *node) gelu(g *graph.Value, approximate string) *graph.Value {
	return n.call("aten::gelu", g, approximate)
}

func quickGelu(n *node) []*value {
	s := n.call("aten::sigmoid", n.call("aten::mul.Scalar", n.T(0), n.float("alpha", 1.702)))
	return one(n.same(n.call("aten::mul.Tensor", n.T(0), s)))
}

func biasSoftmax(n *node) []*value {
	return one(n.same(n.call("onnx::bias_softmax", n.T(0), n.T(1), n.int("axis", 1),
		n.int("is_inner_broadcast", 1) != 0)))
}

func cdist(n *node) []*value {
	return one(n.like(n.call("onnx::cdist", n.T(0), n.T(1), n.str("metric", "sqeuclidean") == "euclidean")))
}

func contribRange(n *node) []*value {
	delta := n.opt(2)
	if delta == nil {
		delta = n.number(1, n.T(0).elem)
	}
	return one(n.vector1(n.call("onnx::range", n.T(0), n.T(1), delta), n.T(0).elem))
}

func isAllFinite(n *node) []*value {
	return one(n.scalar(n.call("onnx::all_finite", n.listOf(n.in...), n.bool("isnan_only", false),
		n.bool("isinf_only", false)), onnxpb.Bool))
}

func realFFT(inverse bool) rule {
	return func(n *node) []*value {
		if n.int("signal_ndim", 1) != 1 || n.bool("normalized", false) {
			unsupported("transforms of several dimensions, or normalized ones")
		}
		return one(n.like(n.call("onnx::rfft", n.T(0), inverse, n.bool("onesided", true))))
	}
}

// activate applies a fused activation function.
func (n *node) activate(g *graph.Value, name string, p []float64) *graph.Value {
	at := func(i int, def float64) float64 {
		if i < len(p) {
			return p[i]
		}
		return def
	}
	switch name {
	case "":
		return g
	case "Relu":
		return n.call("aten::relu", g)
	case "Tanh":
		return n.call("aten::tanh", g)
	case "Sigmoid":
		return n.call("aten::sigmoid", g)
	case "LeakyRelu":
		return n.call("aten::leaky_relu", g, at(0, 0.01))
	case "Clip":
		return n.call("aten::clamp", g, at(0, math.Inf(-1)), at(1, math.Inf(1)))
	case "HardSigmoid":
		g = n.call("aten::add.Scalar", n.call("aten::mul.Scalar", g, at(0, 0.2)), at(1, 0.5))
		return n.call("aten::clamp", g, 0, 1)
	case "HardSwish":
		return n.call("aten::hardswish", g)
	case "Elu":
		return n.call("aten::elu", g, at(0, 1))
	case "Softplus":
		return n.call("aten::softplus", g)
	case "Gelu":
		return n.gelu(g, "none")
	}
	unsupported("the fused activation %q", name)
	return nil
}

// fusedConv is a convolution, to which another tensor may be added, with an activation. nhwc: channels are the last
// dimension of input, result and that tensor.
func fusedConv(nhwc bool) rule {
	return func(n *node) []*value {
		x := n.T(0)
		if nhwc {
			x = &value{g: n.call("onnx::channels_first", x), kind: x.kind, elem: x.elem, rank: x.rank}
		}
		v := n.conv(x, n.T(1), n.opt(2))
		if nhwc {
			v.g = n.call("onnx::channels_last", v.g)
		}
		v.g = n.activate(n.plus(v.g, n.opt(3)), n.str("activation", ""), n.floats("activation_params"))
		return one(v)
	}
}

func fusedGemm(n *node) []*value {
	v := gemm(n)[0]
	p := []float64{n.float("activation_alpha", 0.01), n.float("activation_beta", 0)}
	if a := n.attrs["activation_alpha"]; a == nil {
		p = nil
	}
	v.g = n.activate(v.g, n.str("activation", ""), p)
	return one(v)
}

func fusedMatMul(n *node) []*value {
	ta, tb := n.bool("transA", false), n.bool("transB", false)
	ba, bb := n.bool("transBatchA", false), n.bool("transBatchB", false)
	return one(n.like(n.call("onnx::fused_matmul", n.T(0), n.T(1), ta, tb, ba, bb, n.float("alpha", 1))))
}

func nhwcMaxPool(n *node) []*value {
	x := n.T(0)
	n.in = []*value{{g: n.call("onnx::channels_first", x), kind: x.kind, elem: x.elem, rank: x.rank}}
	v := n.pool("max", 0, false)
	v.g = n.call("onnx::channels_last", v.g)
	return one(v)
}

func nhwcGroupNorm(n *node) []*value {
	last := n.int("channels_last", 1) != 0
	x := n.at(n.T(0))
	if last {
		x = n.call("onnx::channels_first", x)
	}
	y := n.call("aten::group_norm", x, n.int("groups", 1), n.T(1), n.T(2), n.float("epsilon", 1e-5), false)
	if last {
		y = n.call("onnx::channels_last", y)
	}
	if n.int("activation", 0) != 0 {
		y = n.call("aten::silu", y)
	}
	return one(n.same(y))
}

// skipLayerNorm adds a shortcut and normalizes; the sum is the fourth output.
func skipLayerNorm(n *node) []*value {
	x := n.same(n.call("aten::add.Tensor", n.T(0), n.T(1)))
	simple := n.pb.Op == "SkipSimplifiedLayerNormalization"
	bias := 4
	if simple {
		bias = 3
	}
	x.g = n.plus(x.g, n.opt(bias))
	eps := n.float("epsilon", 1e-12)
	if simple {
		y := n.same(n.call("onnx::rms_norm", x, n.T(2), -1, eps))
		return []*value{y, nil, nil, x}
	}
	out := n.calls("onnx::layer_norm", x, n.T(2), n.opt(3), -1, eps)
	return []*value{n.same(out[0]), n.tensor(out[1], onnxpb.Float), n.tensor(out[2], onnxpb.Float), x}
}

// embedLayerNorm looks up words, places and kinds of tokens, adds them and normalizes.
func embedLayerNorm(n *node) []*value {
	words := n.T(2)
	sum := n.tensor(n.call("onnx::embed", n.T(0), n.opt(1), words, n.T(3), n.opt(4), n.opt(8)), words.elem)
	sum.rank = 3
	out := n.calls("onnx::layer_norm", sum, n.T(5), n.T(6), -1, n.float("epsilon", 1e-12))
	y := n.tensor(out[0], words.elem)
	y.rank = 3
	outs := []*value{y, nil, sum}
	if n.wants(1) {
		outs[1] = n.tensor(n.call("onnx::mask_lengths", n.opt(7), n.T(0)), onnxpb.Int32)
	}
	return outs
}
