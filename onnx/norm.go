package onnx

import (
	"slices"

	"github.com/gotorch-dev/torch/internal/onnxpb"
	"github.com/gotorch-dev/torch/tensor"
)

func init() {
	define("", map[string]rule{
		"BatchNormalization":        batchNorm,
		"Dropout":                   dropout,
		"GroupNormalization":        groupNorm,
		"InstanceNormalization":     instanceNorm,
		"LRN":                       lrn,
		"LayerNormalization":        func(n *node) []*value { return n.layerNorm(n.T(0), n.T(1), n.opt(2)) },
		"LpNormalization":           lpNorm,
		"MeanVarianceNormalization": mvn,
		"RMSNormalization":          rmsNorm,
		"NegativeLogLikelihoodLoss": nllLoss,
		"SoftmaxCrossEntropyLoss":   crossEntropy,
	})

	helper("batch_norm_training(Tensor x, Tensor scale, Tensor bias, Tensor mean, Tensor var, float eps, float "+
		"momentum)"+
		" -> (Tensor, Tensor, Tensor, Tensor, Tensor)", func(a args) any {
		x := a.T(0)
		if x.Dim() < 2 {
			wrong("BatchNormalization", "a tensor with %d dimensions", x.Dim())
		}
		axes := slices.Delete(axesOr("", nil, x.Dim()), 1, 2)
		wide := x.ToDType(x.DType().Compute())
		mean := wide.MeanDim(axes)
		dev := wide.Sub(channels(mean, x.Dim()))
		variance := dev.Mul(dev).MeanDim(axes)
		y := call("aten::batch_norm", x, a.T(1), a.T(2), mean.ToDType(a.T(3).DType()), variance.ToDType(a.T(4).DType()),
			false, 0.0, a.float(5), false)
		m := a.float(6)
		run := func(old, now *T) *T { return old.MulScalar(m).Add(now.MulScalar(1 - m)).ToDType(old.DType()) }
		return []any{y, run(a.T(3), mean), run(a.T(4), variance), mean.ToDType(a.T(3).DType()),
			variance.ToDType(a.T(4).DType())}
	})
	helper("dropout(Tensor x, float ratio, bool training, int? seed) -> (Tensor, Tensor)", func(a args) any {
		x, ratio := a.T(0), a.float(1)
		if !a.bool(2) || ratio == 0 {
			return []any{x, x.OnesLike(tensor.OnesLikeOptions{DType: tensor.Bool})}
		}
		keep := x.RandLike(tensor.RandLikeOptions{DType: tensor.Float32}).GeScalar(ratio)
		return []any{x.Mul(keep).DivScalar(1 - ratio).ToDType(x.DType()), keep}
	})
	helper("group_norm(Tensor x, Tensor scale, Tensor bias, int groups, float eps, bool by_group) -> Tensor",
		func(a args) any {
			x, scale, bias, groups := a.T(0), a.T(1), a.T(2), a.int(3)
			if x.Dim() < 2 || groups <= 0 || x.Size(1)%groups != 0 {
				wrong("GroupNormalization", "%d groups for shape %v", groups, x.Shape())
			}
			if a.bool(5) { // until version 20 there is one scale for each group
				each := x.Size(1) / groups
				scale, bias = scale.RepeatInterleave(each), bias.RepeatInterleave(each)
			}
			return call("aten::group_norm", x, groups, scale, bias, a.float(4), false)
		})
	helper("lrn(Tensor x, int size, float alpha, float beta, float bias) -> Tensor", func(a args) any {
		x, size := a.T(0), a.int(1)
		if x.Dim() < 2 || size <= 0 {
			wrong("LRN", "size %d for shape %v", size, x.Shape())
		}
		// the sum of squares over size neighbouring channels, more of them behind where size is even
		before, after := (size-1)/2, size/2
		sq := padConstant(x.Mul(x), 1, before, after)
		c := x.Size(1)
		var sum *T
		for i := range min(size, c+before+after) {
			if part := sq.Narrow(1, i, c); sum == nil {
				sum = part
			} else {
				sum = sum.Add(part)
			}
		}
		return x.Div(sum.MulScalar(a.float(2) / float64(size)).AddScalar(a.float(4)).PowScalar(a.float(3)))
	})
	helper("layer_norm(Tensor x, Tensor scale, Tensor? bias, int axis, float eps) -> (Tensor, Tensor, Tensor)",
		func(a args) any {
			x := a.T(0)
			axis := dim("LayerNormalization", a.int(3), x.Dim())
			scale, bias := a.T(1), a.T(2)
			shape := slices.Clone(x.Shape()[axis:])
			var out []*T
			if slices.Equal(scale.Shape(), shape) && (bias == nil || slices.Equal(bias.Shape(), shape)) {
				out = calls("aten::native_layer_norm", x, shape, scale, bias, a.float(4))
			} else { // scale and bias are broadcast
				out = calls("aten::native_layer_norm", x, shape, nil, nil, a.float(4))
				out[0] = out[0].Mul(scale)
				if bias != nil {
					out[0] = out[0].Add(bias)
				}
			}
			return []any{out[0], out[1].ToDType(tensor.Float32), out[2].ToDType(tensor.Float32)}
		})
	helper("rms_norm(Tensor x, Tensor scale, int axis, float eps) -> Tensor", func(a args) any {
		x, scale := a.T(0), a.T(1)
		axis := dim("RMSNormalization", a.int(2), x.Dim())
		shape := slices.Clone(x.Shape()[axis:])
		if slices.Equal(scale.Shape(), shape) {
			return call("aten::rms_norm", x, shape, scale, a.float(3))
		}
		return call("aten::rms_norm", x, shape, nil, a.float(3)).Mul(scale)
	})
	helper("lp_norm(Tensor x, int axis, int p) -> Tensor", func(a args) any {
		x := a.T(0)
		axis := dim("LpNormalization", a.int(1), x.Dim())
		norm := call("aten::linalg_vector_norm", x, a.int(2), []int{axis}, true)
		return x.Div(norm).MaskedFillScalar(norm.EqScalar(0), 0)
	})
	helper("mvn(Tensor x, int[] axes) -> Tensor", func(a args) any {
		x := a.T(0)
		axes := axesOr("MeanVarianceNormalization", a.ints(1), x.Dim())
		keep := tensor.MeanDimOptions{KeepDim: true}
		mean := x.MeanDim(axes, keep)
		variance := x.Mul(x).MeanDim(axes, keep).Sub(mean.Mul(mean))
		return x.Sub(mean).Div(variance.Sqrt().AddScalar(1e-9))
	})
	helper("nll_loss(Tensor x, Tensor target, Tensor? weight, str reduction, int? ignore) -> Tensor", func(a args) any {
		return nll(a.T(0), a.T(1), a.T(2), a.str(3), a[4])
	})
	helper("cross_entropy(Tensor x, Tensor target, Tensor? weight, str reduction, int? ignore) -> (Tensor, Tensor)",
		func(a args) any {
			p := a.T(0).LogSoftmax(1)
			return []any{nll(p, a.T(1), a.T(2), a.str(3), a[4]), p}
		})
}

// nll is the negative logarithm of the likelihood of classes; log is that of the probabilities.
func nll(log, target, weight *T, reduction string, ignore tensor.Value) *T {
	if log.Dim() < 2 || target.Dim() != log.Dim()-1 {
		wrong("NegativeLogLikelihoodLoss", "input of shape %v, target of shape %v", log.Shape(), target.Shape())
	}
	target = target.ToDType(tensor.Int64)
	var skip *T
	if ignore.K != tensor.KNone {
		skip = target.EqScalar(ignore.Num())
		target = target.MaskedFillScalar(skip, 0)
	}
	loss := log.Gather(1, target.Unsqueeze(1)).SqueezeDim(1).Neg()
	w := loss.OnesLike()
	if weight != nil {
		w = weight.IndexSelect(0, target.Reshape([]int{-1})).Reshape(target.Shape())
	}
	if skip != nil {
		w = w.MaskedFillScalar(skip, 0)
	}
	loss = loss.Mul(w)
	if skip != nil {
		loss = loss.MaskedFillScalar(skip, 0)
	}
	switch reduction {
	case "none":
		return loss
	case "sum":
		return loss.Sum()
	}
	return loss.Sum().Div(w.Sum())
}

// batchNorm normalizes by running statistics, or in training mode by those of the batch. Until version 13 the number of
// outputs tells the mode.
func batchNorm(n *node) []*value {
	n.T(4)
	eps, momentum := n.float("epsilon", 1e-5), n.float("momentum", 0.9)
	training := n.bool("training_mode", false)
	if n.opset < 14 {
		training = n.wants(1)
		if n.int("spatial", 1) == 0 {
			unsupported("statistics for each element (spatial = 0)")
		}
	}
	x := n.T(0)
	if !training {
		args := []any{x}
		for i := 1; i <= 4; i++ { // all parameters have the input's type here
			args = append(args, n.cast(n.T(i), x.elem))
		}
		return one(n.same(n.call("aten::batch_norm", append(args, false, 0.0, eps, false)...)))
	}
	out := n.calls("onnx::batch_norm_training", x, n.T(1), n.T(2), n.T(3), n.T(4), eps, momentum)
	outs := one(n.same(out[0]))
	for _, g := range out[1:] {
		outs = append(outs, n.tensor(g, n.T(3).elem))
	}
	return outs
}

// dropout does nothing but in training mode, which since version 12 an input switches on.
func dropout(n *node) []*value {
	x := n.T(0)
	mask := n.tensor(nil, onnxpb.Bool)
	mask.rank = x.rank
	if n.has(2) && n.opset >= 12 {
		if k := n.T(2).konst; k == nil || k.Numel() == 1 && k.Num().I != 0 {
			out := n.calls("onnx::dropout", x, n.floatValue(1, 0.5), n.condition(n.T(2)), nil)
			mask.g = out[1]
			return []*value{n.same(out[0]), mask}
		}
	}
	if n.wants(1) {
		if mask.g = n.call("aten::ones_like", x, tensor.Bool); n.opset < 10 {
			mask.elem, mask.g = x.elem, n.call("aten::ones_like", x)
		}
		return []*value{x, mask}
	}
	return one(x)
}

func groupNorm(n *node) []*value {
	n.T(2)
	return one(n.same(n.call("onnx::group_norm", n.T(0), n.T(1), n.T(2), n.int("num_groups", 0),
		n.float("epsilon", 1e-5),
		n.opset < 21)))
}

func instanceNorm(n *node) []*value {
	n.T(2)
	return one(n.same(n.call("aten::instance_norm", n.T(0), n.T(1), n.T(2), nil, nil, true, 0.0,
		n.float("epsilon", 1e-5),
		false)))
}

func lrn(n *node) []*value {
	return one(n.same(n.call("onnx::lrn", n.T(0), n.int("size", 0), n.float("alpha", 0.0001), n.float("beta", 0.75),
		n.float("bias", 1))))
}

// layerNorm normalizes over the dimensions from an axis on.
func (n *node) layerNorm(x, scale, bias *value) []*value {
	axis, eps := n.int("axis", -1), n.float("epsilon", 1e-5)
	v := n.same(nil)
	if k := scale.konst; k != nil && k.Numel() > 1 && !n.wants(1) && !n.wants(2) &&
		(axis == -k.Dim() || x.rank > 0 && axis == x.rank-k.Dim()) && (bias == nil || bias.konst != nil &&
		slices.Equal(bias.konst.Shape(), k.Shape())) {
		v.g = n.call("aten::layer_norm", x, k.Shape(), scale, bias, eps, false)
		return one(v)
	}
	out := n.calls("onnx::layer_norm", x, scale, bias, axis, eps)
	v.g = out[0]
	return []*value{v, n.tensor(out[1], onnxpb.Float), n.tensor(out[2], onnxpb.Float)}
}

func rmsNorm(n *node) []*value {
	return one(n.same(n.call("onnx::rms_norm", n.T(0), n.T(1), n.int("axis", -1), n.float("epsilon", 1e-5))))
}

func lpNorm(n *node) []*value {
	return one(n.same(n.call("onnx::lp_norm", n.T(0), n.int("axis", -1), n.int("p", 2))))
}

func mvn(n *node) []*value {
	axes := n.ints("axes")
	if axes == nil {
		axes = []int{0, 2, 3}
	}
	return one(n.same(n.call("onnx::mvn", n.T(0), axes)))
}

// ignored is the class that counts as none, nil where there is none.
func (n *node) ignored() any {
	if a := n.attr("ignore_index", onnxpb.AttrInt); a != nil {
		return int(a.I)
	}
	return nil
}

func nllLoss(n *node) []*value {
	return one(n.like(n.call("onnx::nll_loss", n.T(0), n.T(1), n.opt(2), n.str("reduction", "mean"), n.ignored())))
}

func crossEntropy(n *node) []*value {
	out := n.calls("onnx::cross_entropy", n.T(0), n.T(1), n.opt(2), n.str("reduction", "mean"), n.ignored())
	return []*value{n.like(out[0]), n.same(out[1])}
}
