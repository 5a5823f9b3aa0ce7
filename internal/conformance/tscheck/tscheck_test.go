package tscheck

import (
	"testing"

	_ "github.com/gotorch-dev/torch" // links the operators
	"github.com/gotorch-dev/torch/internal/shared"
)

// TestForeign runs archives from elsewhere, of older versions of PyTorch too. What needs operators that are not there
// is skipped; nothing fails.
func TestForeign(t *testing.T) {
	for _, dir := range []string{"expect", "generated-expect"} {
		files := shared.Path(t, "testdata/torchscript")
		results, err := Run(shared.Path(t, "testdata/torchscript/"+dir), Options{Files: files})
		if err != nil {
			t.Fatal(err)
		}
		passed := 0
		for _, r := range results {
			if passed += r.Passed; r.Failed > 0 {
				t.Errorf("%s: %s", r.Name, r.Reason)
			}
		}
		if passed == 0 {
			t.Errorf("%s: nothing passed", dir)
		}
	}
}
