package models

import (
	_ "embed"
	"slices"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// nodeNames has, in each line, a network and what torchvision's get_graph_node_names lists for it in evaluation.
//
//go:embed testdata/nodenames.txt
var nodeNames string

func TestGraphNodeNames(t *testing.T) {
	for line := range strings.Lines(nodeNames) {
		want := strings.Fields(line)
		m, err := GetModel(want[0])
		if err != nil {
			t.Fatal(err)
		}
		nn.Eval(m)
		got, err := GetGraphNodeNames(m.(nn.Layer), torch.Rand([]int{1, 3, 64, 64}))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want[1:]) {
			for i := range want[1:] {
				if i >= len(got) || got[i] != want[i+1] {
					t.Errorf("%s: %d names, want %d; number %d: %v, want %v", want[0], len(got), len(want)-1, i,
						got[min(i, len(got)):min(i+4, len(got))], want[i+1:min(i+5, len(want))])
					break
				}
			}
		}
	}
}

// TestFeatures compares values between modules with what hooks see.
func TestFeatures(t *testing.T) {
	m := NewResNet18()
	m.Eval()
	x := torch.Rand([]int{2, 3, 64, 64})
	f, err := CreateFeatureExtractor(m, x, Returned{Layer: "layer1.0.add", As: "sum"}, Returned{Layer: "layer2"},
		Returned{Layer: "flatten"})
	if err != nil {
		t.Fatal(err)
	}
	var want *tensor.Tensor
	h := m.Layer2.RegisterForwardHook(func(_ nn.Module, _ []*tensor.Tensor, y *tensor.Tensor) *tensor.Tensor {
		want = y.Detach().Clone()
		return nil
	})
	m.Forward(x)
	h.Remove()
	got := f.Features(x)
	if !torch.AllClose(got["layer2"], want) {
		t.Error("layer2 differs")
	}
	if got["sum"].Size(1) != 64 || got["flatten"].Size(1) != 512 || len(got) != 3 {
		t.Errorf("shapes %v and %v of %d", got["sum"].Shape(), got["flatten"].Shape(), len(got))
	}
	got["flatten"].Sum().Backward()
	if m.Conv1.Weight.Grad() == nil || m.FC.Weight.Grad() != nil {
		t.Error("gradients reach the first layer, and not the one that is left out")
	}
	if y := f.Features(torch.Rand([]int{1, 3, 96, 64})); y["layer2"].Size(2) != 12 {
		t.Errorf("another shape: %v", y["layer2"].Shape())
	}
}
