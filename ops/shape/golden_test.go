package shape_test

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
	only := regexp.MustCompile(`^(arange|eye|linspace|zeros.*|ones.*|full.*|empty.*|new_.*|cat|stack|.stack|block_diag|split.*|chunk|unbind|select|slice.*|narrow|squeeze.*|unsqueeze|diag.*|as_strided.*|unfold|movedim|flatten|unflatten|repeat.*|tile|roll|rot90|flip|tril|triu|constant_pad_nd|nn\.functional\.pad\..*|to|float|mH)$`)
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
