package torchvisioncheck

import (
	"math"
	"testing"
)

// A runner that cannot fail proves nothing.
func TestWrongRecordsFail(t *testing.T) {
	good := record{Model: "squeezenet1_1", NumClasses: 2, Input: "torch.rand(1,3,64,64)"}
	for name, f := range map[string]func() error{
		"unknown model": func() error { r := good; r.Model = "resnet17"; return r.parameters() },
		"parameters":    func() error { r := good; r.Params = 3; return r.parameters() },
		"results":       func() error { r := good; r.Out = []float64{7, 8}; return r.eval() },
		"shape":         func() error { _, err := shape("torch.randn(1)"); return err },
		"NaN":           func() error { return near("x", []float64{math.NaN()}, []float64{1}, 1, 1) },
		"length":        func() error { return near("x", nil, []float64{1}, 1, 1) },
	} {
		if guarded(f) == nil {
			t.Errorf("%s passed", name)
		}
	}
	if s, err := shape("torch.rand(4,3,64,64)"); err != nil || len(s) != 4 || s[3] != 64 {
		t.Errorf("shape: %v, %v", s, err)
	}
}
