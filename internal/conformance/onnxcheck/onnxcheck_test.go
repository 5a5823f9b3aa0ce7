package onnxcheck_test

import (
	"testing"

	_ "github.com/gotorch-dev/torch" // links the operators
	"github.com/gotorch-dev/torch/internal/conformance/onnxcheck"
	"github.com/gotorch-dev/torch/internal/shared"
)

// differs are cases of ONNX's own tests whose recorded results are not ours, and why: PyTorch and ONNX Runtime differ
// from them as well.
var differs = map[string]string{
	"test_resize_downsample_scales_cubic_align_corners":  "the spacing is by the number of elements, not by size·scale",
	"test_resize_downsample_scales_linear_align_corners": "the spacing is by the number of elements, not by size·scale",
}

// TestNodeCases runs a part of the cases that the format's authors have for each operator, the small models beside
// them, and networks with all their layers. What is skipped says why.
func TestNodeCases(t *testing.T) {
	for _, x := range []struct {
		folder      string
		every, most int // how many may be skipped of a hundred
	}{
		{"testdata/onnx/node", 6, 12}, {"testdata/onnx/simple", 1, 40}, {"testdata/onnx/silero-vad", 1, 0},
		{"testdata/onnx/light", 4, 0},
	} {
		t.Run(x.folder, func(t *testing.T) {
			results, err := onnxcheck.Run(shared.Path(t, x.folder), onnxcheck.Options{Every: x.every})
			if err != nil {
				t.Fatal(err)
			}
			passed, skipped := 0, 0
			for _, r := range results {
				passed, skipped = passed+r.Passed, skipped+r.Skipped
				if r.Failed > 0 && differs[r.Name] == "" {
					t.Errorf("%s: %s", r.Name, r.Reason)
				}
				if r.Failed == 0 && differs[r.Name] != "" {
					t.Errorf("%s passes, though it is said to differ", r.Name)
				}
			}
			if passed == 0 || 100*skipped > x.most*(passed+skipped) {
				t.Errorf("%d passed, %d skipped", passed, skipped)
			}
		})
	}
}
