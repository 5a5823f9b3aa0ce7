package onnx_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/onnxpb"
	"github.com/gotorch-dev/torch/onnx"
	"github.com/gotorch-dev/torch/tensor"
)

func floatAttr(name string, l ...float32) *onnxpb.Attr {
	return &onnxpb.Attr{Name: name, Type: onnxpb.AttrFloats, Floats: l}
}

func intsAttr(name string, l ...int64) *onnxpb.Attr {
	return &onnxpb.Attr{Name: name, Type: onnxpb.AttrInts, Ints: l}
}

// The classes and scores of classifiers and regressions. The expected results are ONNX Runtime's.
func TestLearnedModels(t *testing.T) {
	// a tree with the weights no where the first feature is at most 0, and yes elsewhere, for one of two classes
	tree := func(post string, class int64, no, yes float32, more ...*onnxpb.Attr) []*onnxpb.Attr {
		return append(more, intsAttr("nodes_treeids", 0, 0, 0), intsAttr("nodes_nodeids", 0, 1, 2),
			intsAttr("nodes_featureids", 0, 0, 0), stringAttr("nodes_modes", "BRANCH_LEQ", "LEAF", "LEAF"),
			floatAttr("nodes_values", 0, 0, 0), intsAttr("nodes_truenodeids", 1, 0, 0),
			intsAttr("nodes_falsenodeids", 2, 0, 0), intsAttr("classlabels_int64s", 4, 2),
			intsAttr("class_treeids", 0, 0), intsAttr("class_nodeids", 1, 2), intsAttr("class_ids", class, class),
			floatAttr("class_weights", no, yes), textAttr("post_transform", post))
	}
	svm := func(kernel string, classes int, more ...*onnxpb.Attr) []*onnxpb.Attr {
		a := append(more, textAttr("kernel_type", kernel), floatAttr("kernel_params", 0.5, 1, 2))
		vectors := []float32{1, 2, -1, 0.5, 0.25, -2}
		switch classes {
		case 3:
			return append(a, floatAttr("support_vectors", vectors...), floatAttr("rho", 0.25, -0.5, 0.125),
				floatAttr("coefficients", 0.75, -0.5, 0.25, 1, 0.5, -0.25), intsAttr("vectors_per_class", 1, 1, 1),
				intsAttr("classlabels_ints", 7, 8, 9))
		case 2:
			a = append(a, intsAttr("vectors_per_class", 1, 1), intsAttr("classlabels_ints", 7, 8))
		default:
			a = append(a, intAttr("n_supports", 2))
		}
		return append(a, floatAttr("support_vectors", vectors[:4]...), floatAttr("coefficients", 0.75, -0.5),
			floatAttr("rho", 0.25))
	}
	linear := func(post string) []*onnxpb.Attr {
		return []*onnxpb.Attr{floatAttr("coefficients", 0.5, -0.25), floatAttr("intercepts", -0.5),
			intsAttr("classlabels_ints", 7, 8), textAttr("post_transform", post)}
	}
	probit := []*onnxpb.Attr{floatAttr("coefficients", 0.1, -0.05, 0.05, 0.1), floatAttr("intercepts", 0.5, 0.4),
		intsAttr("classlabels_ints", 7, 8), textAttr("post_transform", "PROBIT")}
	const forest, classifier, regressor = "TreeEnsembleClassifier", "SVMClassifier", "SVMRegressor"
	for i, c := range []struct {
		op     string
		attrs  []*onnxpb.Attr
		labels []float64
		want   []float64
	}{
		{forest, tree("NONE", 0, 0.25, 0.75), []float64{2, 2, 4}, []float64{0.25, 0.75, 0.25, 0.75, 0.75, 0.25}},
		{forest, tree("NONE", 0, -1, 2), []float64{2, 2, 4}, []float64{-2, 2, -2, 2, 1, -1}},
		{forest, tree("NONE", 1, -1, 2), []float64{2, 2, 4}, []float64{0, 2, 0, 2, 0, -1}},
		{forest, tree("LOGISTIC", 0, 0.25, 0.75), []float64{2, 2, 4},
			[]float64{0.320821, 0.679179, 0.320821, 0.679179, 0.437823, 0.562177}},
		{forest, tree("LOGISTIC", 0, -1, 2, floatAttr("base_values", 0.5)), []float64{2, 2, 4},
			[]float64{0.075858, 0.924142, 0.075858, 0.924142, 0.622459, 0.377541}},
		{forest, tree("LOGISTIC", 1, -1, 2), []float64{2, 2, 4},
			[]float64{0.5, 0.880797, 0.5, 0.880797, 0.5, 0.268941}},
		{forest, tree("SOFTMAX", 0, 0.25, 0.75), []float64{2, 2, 4}, []float64{0.25, 0.75, 0.25, 0.75, 0.75, 0.25}},
		{forest, tree("SOFTMAX", 0, -1, 2), []float64{2, 2, 4}, []float64{-2, 2, -2, 2, 1, -1}},
		{forest, tree("SOFTMAX", 1, -1, 2), []float64{2, 2, 4},
			[]float64{0.119203, 0.880797, 0.119203, 0.880797, 0.731059, 0.268941}},
		{"LinearClassifier", linear("NONE"), []float64{7, 8, 7}, []float64{1, 0, 0.5625, 0.4375, 2.25, -1.25}},
		{"LinearClassifier", linear("SOFTMAX"), []float64{7, 8, 7}, []float64{1, 0, 0.5625, 0.4375, 2.25, -1.25}},
		{"LinearClassifier", linear("LOGISTIC"), []float64{7, 8, 7},
			[]float64{0.5, 0.5, 0.392337, 0.607663, 0.777300, 0.222700}},
		{"LinearClassifier", probit, []float64{7, 7, 8},
			[]float64{0.253354, -0.453793, 0.488814, 0.062706, -0.38534, 0.031341}},
		{regressor, svm("LINEAR", 0), nil, []float64{-0.375, 3.0625, 1.1875}},
		{regressor, svm("POLY", 0), nil, []float64{0.171875, 4.044922, 2.105469}},
		{regressor, svm("RBF", 0), nil, []float64{0.204653, 0.342995, 0.099205}},
		{regressor, svm("SIGMOID", 0), nil, []float64{0.202630, 0.952310, 0.508217}},
		{classifier, svm("LINEAR", 3), []float64{9, 7, 7},
			[]float64{-0.375, -1.46875, -0.90625, 3.0625, 2, -0.8125, 1.1875, 0.953125, 1.671875}},
		{classifier, svm("RBF", 3), []float64{7, 7, 7},
			[]float64{0.204653, -0.343229, 0.030732, 0.342995, -0.364527, 0.126082, 0.099205, -0.308815, 0.418603}},
		{classifier, svm("RBF", 3, floatAttr("prob_a", -1, -2, -0.5), floatAttr("prob_b", 0.1, 0.2, 0.3)),
			[]float64{7, 7, 7},
			[]float64{0.239552, 0.294571, 0.465878, 0.244606, 0.289824, 0.465570, 0.242925, 0.328490, 0.428585}},
		{classifier, svm("RBF", 2), []float64{7, 7, 7},
			[]float64{-0.204653, 0.204653, -0.342995, 0.342995, -0.099205, 0.099205}},
	} {
		t.Run(fmt.Sprint(i, c.op), func(t *testing.T) {
			n := &onnxpb.Node{Op: c.op, Domain: "ai.onnx.ml", Inputs: []string{"x"}, Attrs: c.attrs,
				Outputs: []string{"scores"}}
			if c.labels != nil {
				n.Outputs = []string{"label", "scores"}
			}
			x := torch.TensorOf[float32](0.5, -1, 2, 0.25, -0.75, 1.5).View([]int{3, 2})
			out, err := read(t, stringModel(n, onnxpb.Float)).Run(context.Background(),
				map[string]*tensor.Tensor{"x": x})
			if err != nil {
				t.Fatal(err)
			}
			want := map[string][]float64{"label": c.labels, "scores": c.want}
			for name, y := range out {
				got := tensor.Data[float64](y.Double().Reshape([]int{-1}))
				if len(got) != len(want[name]) {
					t.Fatalf("%s: %v, want %v", name, got, want[name])
				}
				for j := range got {
					if math.Abs(got[j]-want[name][j]) > 5e-6 {
						t.Errorf("%s: %v, want %v", name, got, want[name])
						break
					}
				}
			}
		})
	}
}

// A support vector machine whose numbers do not fit each other is refused when it is read.
func TestSVMRefusals(t *testing.T) {
	for _, l := range [][]*onnxpb.Attr{
		{floatAttr("coefficients", 1, 2), floatAttr("rho", 1), intAttr("n_supports", 3)},
		{floatAttr("coefficients", 1, 2), intAttr("n_supports", 2), floatAttr("support_vectors", 1, 2)},
		{floatAttr("coefficients", 1, 2), floatAttr("rho", 1), intAttr("n_supports", 2),
			floatAttr("support_vectors", 1, 2, 3)},
		{floatAttr("coefficients", 1, 2), floatAttr("rho", 1), intAttr("n_supports", 2),
			floatAttr("support_vectors", 1, 2, 3, 4), textAttr("kernel_type", "COSINE")},
	} {
		n := &onnxpb.Node{Op: "SVMRegressor", Domain: "ai.onnx.ml", Inputs: []string{"x"}, Outputs: []string{"y"},
			Attrs: l}
		if err := refused(stringModel(n, onnxpb.Float)); err == nil {
			t.Errorf("%v is accepted", l)
		}
	}
	n := &onnxpb.Node{Op: "SVMClassifier", Domain: "ai.onnx.ml", Inputs: []string{"x"}, Outputs: []string{"y", "z"},
		Attrs: []*onnxpb.Attr{floatAttr("coefficients", 1, 2), floatAttr("rho", 1), intsAttr("vectors_per_class", 1, 5),
			intsAttr("classlabels_ints", 0, 1), floatAttr("support_vectors", 1, 2, 3, 4)}}
	if err := refused(stringModel(n, onnxpb.Float)); err == nil {
		t.Error("a classifier with too many vectors of a class is accepted")
	}
}

// refused is the error of reading a model.
func refused(m *onnxpb.Model) error {
	b := m.Bytes()
	_, err := onnx.Read(bytes.NewReader(b), int64(len(b)))
	return err
}
