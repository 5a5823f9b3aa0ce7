package onnx

import (
	"math"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/onnxpb"
	"github.com/gotorch-dev/torch/tensor"
)

// Support vector machines. A classifier has a score for each pair of its classes, as LIBSVM's have: the products of the
// row with the support vectors of both classes, weighted.
// https://onnx.ai/onnx/operators/onnx_aionnxml_SVMClassifier.html
// https://www.csie.ntu.edu.tw/~cjlin/papers/libsvm.pdf (Chang and Lin, LIBSVM, sections 4.1 and 8)
func init() {
	define("ai.onnx.ml", map[string]rule{"SVMClassifier": svmClassifier, "SVMRegressor": svmRegressor})
	helper("svm_kernel(Tensor x, Tensor vectors, str kind, float gamma, float coef0, float degree) -> Tensor",
		func(a args) any {
			x, vectors := a.T(0).ToDType(tensor.Float32), a.T(1)
			if x.Dim() == 1 {
				x = x.Unsqueeze(0)
			}
			if x.Dim() != 2 || x.Size(1) != vectors.Size(1) {
				wrong("SVM", "a tensor of shape %v for support vectors of %d features", x.Shape(), vectors.Size(1))
			}
			gamma, coef0 := a.float(3), a.float(4)
			switch kind := a.str(2); kind {
			case "RBF":
				d := x.Unsqueeze(1).Sub(vectors)
				return call("aten::sum.dim_IntList", d.Mul(d), []int{-1}).MulScalar(-gamma).Exp()
			case "POLY":
				return x.MatMul(vectors.Transpose(0, 1)).MulScalar(gamma).AddScalar(coef0).PowScalar(a.float(5))
			case "SIGMOID":
				return x.MatMul(vectors.Transpose(0, 1)).MulScalar(gamma).AddScalar(coef0).Tanh()
			default:
				return x.MatMul(vectors.Transpose(0, 1))
			}
		})
	helper("svm_votes(Tensor scores, Tensor labels) -> Tensor", func(a args) any {
		scores, labels := a.T(0), a.T(1)
		return labels.IndexSelect(0, votes(scores, labels.Numel()))
	})
	helper("svm_probabilities(Tensor scores, Tensor a, Tensor b, int classes) -> Tensor", func(a args) any {
		return pairProbabilities(a.T(0), hostFloats(a.T(1)), hostFloats(a.T(2)), a.int(3))
	})
}

// votes is the class of each row that most of the pairs choose, the first of equals. A positive score is one for the
// first class of its pair.
func votes(scores *T, classes int) *T {
	in, rows, pairs := hostFloats(scores), scores.Size(0), scores.Size(1)
	out, count := make([]int64, rows), make([]int, classes)
	for r := range rows {
		clear(count)
		p := 0
		for i := range classes {
			for j := i + 1; j < classes; j++ {
				if in[r*pairs+p] > 0 {
					count[i]++
				} else {
					count[j]++
				}
				p++
			}
		}
		for c := range count {
			if count[c] > count[out[r]] {
				out[r] = int64(c)
			}
		}
	}
	return tensor.FromSlice(out, rows)
}

// pairProbabilities makes probabilities of the classes of the scores of their pairs: Platt's sigmoid for each pair,
// then the second method of Wu, Lin and Weng ("Probability Estimates for Multi-class Classification by Pairwise
// Coupling", 2004), with the iterations of LIBSVM.
func pairProbabilities(scores *T, a, b []float64, classes int) *T {
	in, rows, pairs := hostFloats(scores), scores.Size(0), scores.Size(1)
	out := make([]float32, rows*classes)
	won := make([]float64, classes*classes) // how likely the first of two classes is
	for r := range rows {
		p := 0
		for i := range classes {
			for j := i + 1; j < classes; j++ {
				v := 1 / (1 + math.Exp(in[r*pairs+p]*a[p]+b[p]))
				v = min(max(v, 1e-7), 1-1e-7)
				won[i*classes+j], won[j*classes+i] = v, 1-v
				p++
			}
		}
		for i, v := range coupled(won, classes) {
			out[r*classes+i] = float32(v)
		}
	}
	return tensor.FromSlice(out, rows, classes)
}

// coupled finds the probabilities p that make the sum over all pairs of (won[j,i] p[i] - won[i,j] p[j])² least.
func coupled(won []float64, k int) []float64 {
	q, qp, p := make([]float64, k*k), make([]float64, k), make([]float64, k)
	for i := range k {
		p[i] = 1 / float64(k)
		for j := range k {
			if j != i {
				q[i*k+i] += won[j*k+i] * won[j*k+i]
				q[i*k+j] = -won[j*k+i] * won[i*k+j]
			}
		}
	}
	for range 100 {
		total, worst := 0.0, 0.0
		for i := range k {
			qp[i] = 0
			for j := range k {
				qp[i] += q[i*k+j] * p[j]
			}
			total += p[i] * qp[i]
		}
		for i := range k {
			worst = max(worst, math.Abs(qp[i]-total))
		}
		if worst < 0.005/float64(k) {
			break
		}
		for i := range k {
			d := (total - qp[i]) / q[i*k+i]
			p[i] += d
			total = (total + d*(d*q[i*k+i]+2*qp[i])) / (1 + d) / (1 + d)
			for j := range k {
				qp[j] = (qp[j] + d*q[i*k+j]) / (1 + d)
				p[j] /= 1 + d
			}
		}
	}
	return p
}

// svmKernel is the products of the rows with count support vectors.
func (n *node) svmKernel(vectors []float64, count int) *graph.Value {
	if count <= 0 || len(vectors) == 0 || len(vectors)%count != 0 {
		fail("%w: %d numbers in %d support vectors", onnxpb.ErrFormat, len(vectors), count)
	}
	kind := n.str("kernel_type", "LINEAR")
	switch kind {
	case "LINEAR", "POLY", "RBF", "SIGMOID":
	default:
		fail("%w: kernel_type %q, want LINEAR, POLY, RBF or SIGMOID", onnxpb.ErrFormat, kind)
	}
	params := append(n.floats("kernel_params"), 0, 0, 0)
	v := n.vectorOf(vectors).konst.Reshape([]int{count, -1})
	return n.call("onnx::svm_kernel", n.T(0), constant(v, onnxpb.Float), kind, params[0], params[1], params[2])
}

// columns is a constant matrix of these numbers, one column after the other.
func (n *node) columns(l []float64, count int) *value {
	m := n.vectorOf(l).konst.Reshape([]int{count, -1}).Transpose(0, 1).Contiguous()
	return constant(m, onnxpb.Float)
}

// svmRegressor leaves its post_transform alone, as ONNX Runtime does.
func svmRegressor(n *node) []*value {
	coefficients, rho, count := n.floats("coefficients"), n.floats("rho"), n.int("n_supports", 0)
	if len(rho) == 0 || len(coefficients) == 0 {
		fail("%w: %d coefficients and %d numbers rho", onnxpb.ErrFormat, len(coefficients), len(rho))
	}
	var g *graph.Value
	if count > 0 {
		if len(coefficients) != count {
			fail("%w: %d coefficients of %d support vectors", onnxpb.ErrFormat, len(coefficients), count)
		}
		g = n.call("aten::matmul", n.svmKernel(n.floats("support_vectors"), count), n.columns(coefficients, 1))
	} else { // the coefficients are those of the features
		g = n.svmKernel(coefficients, 1)
	}
	g = n.call("aten::add.Scalar", g, rho[0])
	if n.int("one_class", 0) != 0 { // 1 inside, -1 outside
		inside := n.call("aten::to.dtype", n.call("aten::gt.Scalar", g, 0), tensor.Float32)
		return one(n.tensor(n.call("aten::sub.Scalar", n.call("aten::mul.Scalar", inside, 2), 1), onnxpb.Float))
	}
	return one(n.tensor(g, onnxpb.Float))
}

func svmClassifier(n *node) []*value {
	labels := n.labels("classlabels_ints", "classlabels_strings")
	perClass, rho := n.ints("vectors_per_class"), n.floats("rho")
	coefficients, k := n.floats("coefficients"), labels.count
	if len(perClass) == 0 { // linear: the coefficients are those of the features, for each class
		if len(rho) == 0 {
			fail("%w: rho is empty", onnxpb.ErrFormat)
		}
		g := n.call("aten::add.Scalar", n.svmKernel(coefficients, k), rho[0])
		return []*value{n.label(n.call("onnx::classify", g, labels.ints), labels), n.tensor(n.post(g), onnxpb.Float)}
	}
	total, start := 0, make([]int, k)
	for i, c := range perClass {
		if c < 0 || c > len(coefficients) || i >= k {
			fail("%w: vectors_per_class is %v for %d classes and %d coefficients", onnxpb.ErrFormat, perClass, k,
				len(coefficients))
		}
		start[i] = total
		total += c
	}
	pairs := k * (k - 1) / 2
	if len(perClass) != k || k < 2 || len(rho) != pairs || total == 0 || len(coefficients) != total*(k-1) {
		fail("%w: %d classes with %d counts of vectors, %d numbers rho and %d coefficients of %d support vectors",
			onnxpb.ErrFormat, k, len(perClass), len(rho), len(coefficients), total)
	}
	weights := make([]float64, pairs*total) // of each pair, those of the other classes' vectors are 0
	for i, p := 0, 0; i < k; i++ {
		for j := i + 1; j < k; j++ {
			w := weights[p*total : (p+1)*total]
			copy(w[start[i]:start[i]+perClass[i]], coefficients[(j-1)*total+start[i]:])
			copy(w[start[j]:start[j]+perClass[j]], coefficients[i*total+start[j]:])
			p++
		}
	}
	g := n.call("aten::matmul", n.svmKernel(n.floats("support_vectors"), total), n.columns(weights, pairs))
	g = n.call("aten::add.Tensor", g, n.vectorOf(rho))
	label := n.label(n.call("onnx::svm_votes", g, labels.ints), labels)
	if a, b := n.floats("prob_a"), n.floats("prob_b"); len(a) > 0 {
		if len(a) != pairs || len(b) != pairs {
			fail("%w: %d and %d numbers prob_a and prob_b for %d pairs of classes", onnxpb.ErrFormat, len(a), len(b),
				pairs)
		}
		g = n.call("onnx::svm_probabilities", g, n.vectorOf(a), n.vectorOf(b), k)
	} else if pairs == 1 {
		kind := n.str("post_transform", "NONE")
		both := n.calls("onnx::two_classes", g, 0, true, kind != "NONE", kind)
		return []*value{label, n.tensor(both[1], onnxpb.Float)}
	}
	return []*value{label, n.tensor(n.post(g), onnxpb.Float)}
}
