package rngcheck

import (
	"testing"

	_ "github.com/gotorch-dev/torch" // links the operators
	"github.com/gotorch-dev/torch/internal/shared"
)

func TestGolden(t *testing.T) {
	results, err := Run(shared.Path(t, "golden/rng"), Options{Verbose: t.Logf})
	if err != nil {
		t.Fatal(err)
	}
	passed := 0
	for _, r := range results {
		passed += r.Passed
		if r.Failed > 0 {
			t.Errorf("%s: %d failed: %s", r.Name, r.Failed, r.Reason)
		}
	}
	if passed < 800 {
		t.Errorf("only %d cases passed", passed)
	}
}
