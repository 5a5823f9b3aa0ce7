package visioncheck

import (
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/vision/pil"
)

// A runner that cannot fail proves nothing.
func TestWrongResultsFail(t *testing.T) {
	one, two := torch.Ones([]int{2}), torch.Ones([]int{2}).MulScalar(2)
	for name, err := range map[string]error{
		"value":     same("v2.invert", one, two),
		"type":      same("v2.invert", "text", two),
		"count":     same("v2.five_crop", []any{one}, golden.Tuple{one, one}),
		"image":     same("v2.invert", pil.New("L", 1, 1), pil.New("L", 1, 1, 9)),
		"size":      same("v2.invert", pil.New("L", 1, 1), pil.New("L", 1, 2)),
		"byte":      same("v2.resize", one.Byte(), torch.Ones([]int{2}).MulScalar(9).Byte()),
		"exact":     same("v2.invert", one.Byte(), two.Byte()),
		"share":     same("v2.resize", one.Byte(), two.Byte()),
		"operation": func() error { _, err := (&call{x: one}).run("v2.nothing"); return err }(),
	} {
		if err == nil {
			t.Errorf("%s passed", name)
		}
	}
	if err := same("v2.resize", one.Byte(), one.Byte()); err != nil {
		t.Error(err)
	}
}
