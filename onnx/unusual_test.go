package onnx_test

import (
	"slices"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/onnxpb"
)

// TestLoopWithoutIterations: the results of a loop that does not run have the sizes that the body declares.
func TestLoopWithoutIterations(t *testing.T) {
	scalar := func(name string, dt onnxpb.DataType) onnxpb.Info {
		return onnxpb.Info{Name: name, Type: &onnxpb.Type{Kind: onnxpb.KindTensor, DataType: dt, HasShape: true}}
	}
	body := &onnxpb.Graph{Name: "body", Inputs: []onnxpb.Info{scalar("i", onnxpb.Int64), scalar("c", onnxpb.Bool)},
		Outputs: []onnxpb.Info{scalar("d", onnxpb.Bool), value("z", 2, 3)},
		Nodes:   []*onnxpb.Node{node("Identity", "c", "d"), node("Relu", "x", "z")}}
	loop := node("Loop", "most", "y", &onnxpb.Attr{Name: "body", Type: onnxpb.AttrGraph, G: body})
	for n, want := range map[int64][]int{0: {0, 2, 3}, 2: {2, 2, 3}} {
		m := read(t, &onnxpb.Model{IRVersion: 9, Opsets: []onnxpb.Opset{{Version: 18}},
			Graph: &onnxpb.Graph{Name: "g", Inputs: []onnxpb.Info{value("x", 2, 3)},
				Outputs:      []onnxpb.Info{value("y", "n", 2, 3)},
				Initializers: []*onnxpb.Tensor{ints("most", n)}, Nodes: []*onnxpb.Node{loop}}})
		if got := run(t, m, torch.Ones([]int{2, 3})).Shape(); !slices.Equal(got, want) {
			t.Errorf("%d iterations give the shape %v, want %v", n, got, want)
		}
	}
}

// TestResizePolicy: with keep_aspect_ratio_policy the places in the input follow the one factor that both sizes have,
// not the rounded sizes. The numbers are those of ONNX Runtime.
func TestResizePolicy(t *testing.T) {
	text := func(name, s string) *onnxpb.Attr {
		return &onnxpb.Attr{Name: name, Type: onnxpb.AttrString, S: []byte(s)}
	}
	m := read(t, &onnxpb.Model{IRVersion: 9, Opsets: []onnxpb.Opset{{Version: 18}},
		Graph: &onnxpb.Graph{Name: "g", Inputs: []onnxpb.Info{value("x", 1, 1, 2, 3)},
			Outputs: []onnxpb.Info{value("y", 1, 1, "h", "w")}, Initializers: []*onnxpb.Tensor{ints("size", 8, 4)},
			Nodes: []*onnxpb.Node{{Op: "Resize", Name: "r", Inputs: []string{"x", "", "", "size"}, Outputs: []string{"y"},
				Attrs: []*onnxpb.Attr{text("mode", "linear"), text("keep_aspect_ratio_policy", "not_larger"),
					{Name: "axes", Type: onnxpb.AttrInts, Ints: []int64{2, 3}}}}}}})
	same(t, run(t, m, torch.FromSlice([]float32{0, 1, 2, 3, 4, 5}, 1, 1, 2, 3)), 0, 0.625, 1.375, 2, 1.875, 2.5, 3.25,
		3.875, 3, 3.625, 4.375, 5)
}

// TestMish: ONNX has Mish since version 18.
func TestMish(t *testing.T) {
	m := read(t, &onnxpb.Model{IRVersion: 9, Opsets: []onnxpb.Opset{{Version: 18}},
		Graph: &onnxpb.Graph{Name: "g", Inputs: []onnxpb.Info{value("x", 2)}, Outputs: []onnxpb.Info{value("y", 2)},
			Nodes: []*onnxpb.Node{node("Mish", "x", "y")}}})
	same(t, run(t, m, torch.FromSlice([]float32{0, 30}, 2)), 0, 30)
}

// Nodes in another order than that of their results, as ONNX Runtime's converter to float16 leaves them, are sorted.
func TestUnsortedNodes(t *testing.T) {
	m := linear()
	slices.Reverse(m.Graph.Nodes)
	same(t, run(t, read(t, m), torch.FromSlice([]float32{1, 1, 0, -1}, 2, 2)), 5, 7, 0, 0, 0, 0)
}
