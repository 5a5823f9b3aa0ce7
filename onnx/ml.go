package onnx

import (
	"math"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/onnxpb"
	"github.com/gotorch-dev/torch/tensor"
)

// The operators of the domain ai.onnx.ml, as far as they compute with tensors of numbers or strings. See labels.go for
// those that map labels.
// https://onnx.ai/onnx/operators/#ai-onnx-ml
func init() {
	define("ai.onnx.ml", map[string]rule{
		"ArrayFeatureExtractor":  arrayFeatures,
		"Binarizer":              binarizer,
		"CategoryMapper":         categoryMapper,
		"FeatureVectorizer":      featureVectorizer,
		"Imputer":                imputer,
		"LabelEncoder":           labelEncoder,
		"LinearClassifier":       linearClassifier,
		"LinearRegressor":        linearRegressor,
		"Normalizer":             normalizer,
		"OneHotEncoder":          oneHotEncoder,
		"Scaler":                 scaler,
		"TreeEnsemble":           treeEnsemble,
		"TreeEnsembleClassifier": treeClassifier,
		"TreeEnsembleRegressor":  treeRegressor,
		"ZipMap":                 zipMap,
	})

	helper("array_features(Tensor x, Tensor index) -> Tensor", func(a args) any {
		x, index := a.T(0), a.T(1).Reshape([]int{-1})
		if x.Dim() == 0 {
			wrong("ArrayFeatureExtractor", "a tensor without dimensions")
		}
		if x.Dim() == 1 {
			x = x.Unsqueeze(0)
		}
		return x.IndexSelect(-1, index.ToDType(tensor.Int64))
	})
	helper("feature_vectorizer(Tensor[] list) -> Tensor", func(a args) any {
		var parts []*T
		for _, x := range a.Ts(0) {
			if x.Dim() < 2 {
				x = x.Reshape([]int{1, -1})
			}
			parts = append(parts, x.ToDType(tensor.Float32))
		}
		return call("aten::cat", parts, 1)
	})
	helper("impute(Tensor x, Tensor values, float missing) -> Tensor", func(a args) any {
		x := a.T(0)
		hit := x.EqScalar(a.float(2))
		if math.IsNaN(a.float(2)) {
			hit = x.IsNaN()
		}
		return a.T(1).ToDType(x.DType()).Where(hit, x)
	})
	helper("label_find(Tensor x, Tensor keys) -> Tensor", func(a args) any {
		x, keys := a.T(0), a.T(1)
		hit := x.Unsqueeze(-1).Eq(keys)
		if keys.DType().IsFloat() {
			hit = hit.LogicalOr(x.Unsqueeze(-1).IsNaN().LogicalAnd(keys.IsNaN()))
		}
		at := hit.ToDType(tensor.Int64).ArgMax(tensor.ArgMaxOptions{Dim: tensor.Some(-1)})
		return at.MaskedFillScalar(hit.AnyDim(-1).LogicalNot(), keys.Numel())
	})
	helper("ml_linear(Tensor x, Tensor w, Tensor? b) -> Tensor", func(a args) any {
		x, w := a.T(0).ToDType(tensor.Float32), a.T(1)
		if x.Dim() == 1 {
			x = x.Unsqueeze(0)
		}
		if w.Dim() == 1 {
			if x.Size(1) == 0 || w.Numel()%x.Size(1) != 0 {
				wrong("LinearRegressor", "%d coefficients for %d features", w.Numel(), x.Size(1))
			}
			w = w.Reshape([]int{w.Numel() / x.Size(1), x.Size(1)})
		}
		y := x.MatMul(w.Transpose(0, 1))
		if b := a.T(2); b != nil {
			y = y.Add(b)
		}
		return y
	})
	helper("ml_normalize(Tensor x, str norm) -> Tensor", func(a args) any {
		x := a.T(0).ToDType(tensor.Float32)
		last := []int{-1}
		var n *T
		switch a.str(1) {
		case "MAX":
			n = call("aten::amax", x.Abs(), last, true)
		case "L1":
			n = call("aten::sum.dim_IntList", x.Abs(), last, true)
		default:
			n = call("aten::linalg_vector_norm", x, 2, last, true)
		}
		return x.Div(n.MaskedFillScalar(n.EqScalar(0), 1))
	})
	helper("ml_one_hot(Tensor x, int[] categories) -> Tensor", func(a args) any {
		x := a.T(0)
		return x.ToDType(tensor.Int64).Unsqueeze(-1).Eq(vector(a.ints(1))).ToDType(tensor.Float32)
	})
	helper("post_transform(Tensor x, str kind) -> Tensor", func(a args) any { return postTransform(a.T(0), a.str(1)) })
	helper("classify(Tensor scores, Tensor labels) -> Tensor", func(a args) any {
		at := a.T(0).ArgMax(tensor.ArgMaxOptions{Dim: tensor.Some(1)})
		return a.T(1).IndexSelect(0, at)
	})
	helper("trees(Tensor x, Any trees) -> Tensor", func(a args) any { return a[1].X.(*forest).run(a.T(0)) })
}

// vectorOf is a constant of floats.
func (n *node) vectorOf(l []float64) *value {
	x := make([]float32, len(l))
	for i, f := range l {
		x[i] = float32(f)
	}
	return constant(tensor.FromSlice(x, len(x)), onnxpb.Float)
}

func arrayFeatures(n *node) []*value {
	return one(n.like(n.call("onnx::array_features", n.T(0), n.T(1))))
}

func binarizer(n *node) []*value {
	g := n.call("aten::gt.Scalar", n.T(0), n.float("threshold", 0))
	return one(n.same(n.call("aten::to.dtype", g, n.dtypeOr(n.T(0).elem))))
}

func featureVectorizer(n *node) []*value {
	for i := range n.in {
		n.T(i)
	}
	return one(n.tensor(n.call("onnx::feature_vectorizer", n.listOf(n.in...)), onnxpb.Float))
}

func imputer(n *node) []*value {
	x := n.T(0)
	if l := n.ints("imputed_value_int64s"); l != nil {
		v := constant(vector(l), onnxpb.Int64)
		return one(n.same(n.call("onnx::impute", x, v, float64(n.int("replaced_value_int64", 0)))))
	}
	return one(n.same(n.call("onnx::impute", x, n.vectorOf(n.floats("imputed_value_floats")),
		n.float("replaced_value_float", 0))))
}

func (n *node) linear() *graph.Value {
	var b *value
	if l := n.floats("intercepts"); len(l) > 0 {
		b = n.vectorOf(l)
	}
	return n.call("onnx::ml_linear", n.T(0), n.vectorOf(n.floats("coefficients")), b)
}

// post applies the transformation that an attribute names.
func (n *node) post(g *graph.Value) *graph.Value {
	if kind := n.str("post_transform", "NONE"); kind != "NONE" {
		return n.call("onnx::post_transform", g, kind)
	}
	return g
}

// postTargets is post for what a regression gives. A single target takes PROBIT only, as in ONNX Runtime.
func (n *node) postTargets(g *graph.Value, targets int) *graph.Value {
	if targets == 1 && n.str("post_transform", "NONE") != "PROBIT" {
		return g
	}
	return n.post(g)
}

// classes are the labels of a classifier: integers, or strings, of which the program computes with the positions.
type classes struct {
	ints  *value // labels, or positions of the labels in texts
	texts *value // nil where labels are integers
	count int
}

// labels are the classes that one of the attributes lists.
func (n *node) labels(ints, texts string) classes {
	if l := n.ints(ints); len(l) > 0 {
		return classes{ints: constant(vector(l), onnxpb.Int64), count: len(l)}
	}
	l := n.strings(texts)
	if len(l) == 0 {
		fail("%w: neither attribute %q nor %q has classes", onnxpb.ErrFormat, ints, texts)
	}
	return classes{ints: constant(vector(count(len(l))), onnxpb.Int64), texts: n.textList(l), count: len(l)}
}

// label is the result of a classifier whose chosen elements of c.ints are g.
func (n *node) label(g *graph.Value, c classes) *value {
	if c.texts == nil {
		return n.tensor(g, onnxpb.Int64)
	}
	return n.tensor(n.call("onnx::take_strings", c.texts, g), onnxpb.String)
}

func linearClassifier(n *node) []*value {
	labels := n.labels("classlabels_ints", "classlabels_strings")
	g := n.linear()
	scores := n.post(g)
	if labels.count == 2 && len(n.floats("intercepts")) == 1 {
		// one score for both classes: as in ONNX Runtime the other one is what is missing from 1
		both := func(other, g *graph.Value) *graph.Value {
			return n.block.Call1("aten::cat", n.block.List(graph.Tensor, other, g), 1)
		}
		if n.str("post_transform", "NONE") != "LOGISTIC" { // the others are for as many scores as classes
			scores = g
		}
		scores = both(n.call("aten::rsub.Scalar", scores, 1), scores)
		g = both(n.call("aten::neg", g), g)
	}
	return []*value{n.label(n.call("onnx::classify", g, labels.ints), labels), n.tensor(scores, onnxpb.Float)}
}

func linearRegressor(n *node) []*value {
	return one(n.tensor(n.postTargets(n.linear(), n.int("targets", 1)), onnxpb.Float))
}

func normalizer(n *node) []*value {
	v := n.same(n.call("onnx::ml_normalize", n.T(0), n.str("norm", "MAX")))
	v.elem = onnxpb.Float
	return one(v)
}

func oneHotEncoder(n *node) []*value {
	if l := n.strings("cats_strings"); l != nil {
		at := n.call("onnx::find_strings", n.T(0), n.textList(l))
		return one(n.tensor(n.call("onnx::ml_one_hot", at, count(len(l))), onnxpb.Float))
	}
	return one(n.tensor(n.call("onnx::ml_one_hot", n.T(0), n.ints("cats_int64s")), onnxpb.Float))
}

func scaler(n *node) []*value {
	x := n.call("aten::to.dtype", n.T(0), tensor.Float32)
	if l := n.floats("offset"); len(l) > 0 {
		x = n.call("aten::sub.Tensor", x, n.vectorOf(l))
	}
	if l := n.floats("scale"); len(l) > 0 {
		x = n.call("aten::mul.Tensor", x, n.vectorOf(l))
	}
	v := n.same(x)
	v.elem = onnxpb.Float
	return one(v)
}

// postTransform turns scores into probabilities.
func postTransform(x *T, kind string) *T {
	switch kind {
	case "SOFTMAX":
		return x.Softmax(-1)
	case "LOGISTIC":
		return x.Sigmoid()
	case "SOFTMAX_ZERO": // scores of 0 stay
		zero := x.EqScalar(0)
		return x.MaskedFillScalar(zero, math.Inf(-1)).Softmax(-1).MaskedFillScalar(zero, 0)
	case "PROBIT":
		return probit(x)
	}
	return x
}

// probit is the inverse of the normal distribution's function by Winitzki's approximation of the inverse error
// function, whose constants are those of ONNX Runtime: they differ from the exact value by up to 2e-4.
func probit(p *T) *T {
	const a = 0.147
	x := p.MulScalar(2).SubScalar(1)
	log := x.Mul(x).Neg().AddScalar(1).Log()
	v := log.MulScalar(0.5).AddScalar(2 / (3.14159 * a))
	y := v.Mul(v).Sub(log.MulScalar(1 / a)).Sqrt().Sub(v).Sqrt().MulScalar(math.Sqrt2)
	return y.Copysign(x)
}
