package index_test

import (
	"regexp"
	"testing"

	_ "github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/internal/conformance/opcheck"
	"github.com/gotorch-dev/torch/internal/shared"
)

// TestGolden runs PyTorch's cases of the family: at least 97 of 100 must pass.
func TestGolden(t *testing.T) {
	dir := shared.Path(t, "golden", "opinfo")
	only := regexp.MustCompile(`^(__getitem__|index_.*|gather|scatter.*|take.*|put|masked_(fill|select|scatter)|nonzero.*|argwhere|unravel_index|nn\.functional\.(one_hot|embedding.*))$`)
	results, err := opcheck.Run(dir, opcheck.Options{Only: only})
	if err != nil {
		t.Fatal(err)
	}
	passed, failed := 0, 0
	for _, r := range results {
		passed, failed = passed+r.Passed, failed+r.Failed
		if r.Failed > 0 {
			t.Logf("%s: %d failed: %s", r.Name, r.Failed, r.Reason)
		}
	}
	if passed == 0 || failed*100 > 3*(passed+failed) {
		t.Errorf("%d of %d cases passed", passed, passed+failed)
	}
}
