package modules_test

import (
	"fmt"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn/summary"
)

// A table of layers, parameters and memory, as torchinfo prints it.
func TestSummary(t *testing.T) {
	s, err := summary.Of(newResNet18(1000), torch.Zeros([]int{1, 3, 300, 300}))
	if err != nil {
		t.Fatal(err)
	}
	// torchinfo counts the layers' outputs twice, for the forward and the backward pass.
	mb := func(n int) string { return fmt.Sprintf("%.2f", float64(n)/1e6) }
	if s.Params != 11689512 {
		t.Errorf("%d parameters", s.Params)
	}
	if got := fmt.Sprintf("%.2f G", float64(s.MultAdds)/1e9); got != "3.39 G" {
		t.Errorf("multiply-adds %s", got)
	}
	if got := mb(s.InputBytes) + " / " + mb(2*s.ForwardBytes) + " / " +
		mb(s.ParamBytes); got != "1.08 / 72.36 / 46.76" {
		t.Errorf("MB %s", got)
	}
}

// Operations of the convolutions and of the last layer: a multiply-add is two.
func TestFLOPs(t *testing.T) {
	s, err := summary.Of(newResNet18(1000), torch.Zeros([]int{1, 3, 224, 224}))
	if err != nil {
		t.Fatal(err)
	}
	flops := 0
	for _, r := range s.Rows {
		if r.Class == "Conv2d" || r.Class == "Linear" {
			flops += 2 * r.MultAdds
		}
	}
	if flops != 3628146688 {
		t.Errorf("%d operations", flops)
	}
}
