package printcheck

import (
	"testing"

	_ "github.com/gotorch-dev/torch" // links the operators
	"github.com/gotorch-dev/torch/internal/shared"
)

func TestGolden(t *testing.T) {
	results, err := Run(shared.Path(t, "golden/print"), Options{Verbose: t.Logf})
	if err != nil {
		t.Fatal(err)
	}
	passed := 0
	for _, r := range results {
		passed += r.Passed
		// Two texts name the grad_fn of operators that may be composed in another way.
		if r.Failed > 2 {
			t.Errorf("%s: %d failed: %s", r.Name, r.Failed, r.Reason)
		}
	}
	if passed < 130 {
		t.Errorf("only %d texts passed", passed)
	}
}
