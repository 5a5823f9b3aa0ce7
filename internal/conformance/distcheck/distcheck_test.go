package distcheck

import (
	"os"
	"path/filepath"
	"testing"

	_ "github.com/gotorch-dev/torch" // links the operators
)

// A runner that cannot fail proves nothing.
func TestWrongDataFails(t *testing.T) {
	dir := t.TempDir()
	const wrong = `{"dists": [{"name": "Normal", "cls": "Normal", "dtype": "float64", "params": {"loc": [0.0], "scale": [1.0]}, "batch_shape": [2], "event_shape": [1],
		"has_rsample": false, "mean": [1.0], "mode": [[0.0]], "enumerate_support": [0], "value": [0.0], "log_prob": [0.0], "log_prob_grad": {"loc": [5.0]},
		"sample": {"seed": 0, "shape": [1], "value": [[0.0]], "dtype": "float32"}, "rsample": {"seed": 0, "shape": [], "value": [9.0], "grad": {"loc": [7.0]}}},
		{"name": "Nobody", "cls": "Nobody", "dtype": "float64", "params": {}}],
		"kl": [{"p": "Normal", "q": "Normal", "dtype": "float64", "kl": [3.0]}, {"p": "Normal", "q": "Missing", "dtype": "float64", "kl": [3.0]}],
		"transforms": [{"name": "ExpTransform", "x": [0.0], "y": [2.0], "inverse": [1.0], "log_abs_det_jacobian": [1.0]}, {"name": "NoTransform(", "x": [0.0], "y": [0.0]}]}`
	if err := os.WriteFile(filepath.Join(dir, "distributions.json"), []byte(wrong), 0o644); err != nil {
		t.Fatal(err)
	}
	results, err := Run(dir, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	failed := map[string]int{}
	for _, r := range results {
		failed[r.Name] = r.Failed
	}
	for name, want := range map[string]int{"Normal": 15, "Nobody": 1, "KL Normal": 2, "ExpTransform": 3,
		"NoTransform(": 1} {
		if failed[name] < want {
			t.Errorf("%s: %d comparisons failed, want at least %d", name, failed[name], want)
		}
	}
}

func TestParse(t *testing.T) {
	for s, ok := range map[string]bool{
		"Affine(1,.5)": true, "Cat([Exp,Sigmoid.inv],-1,[1,2])": true, "Reshape((3,),(3,1))": true, "Exp": true,
		"": false, "Affine(": false, "Affine(1,": false, "[": false, "?": false, "Cat([": false,
	} {
		if _, _, err := parse(s); (err == nil) != ok {
			t.Errorf("parse(%q): %v", s, err)
		}
	}
}
