package serialize_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/tensor"
)

// TestVersions reads the versions of modules in a state dict. A batch norm of version 2 has saved its counter, one of
// version 1 has not.
func TestVersions(t *testing.T) {
	m := nn.NewSequential(nn.NewLinear(2, 2), nn.NewBatchNorm1d(2))
	path := filepath.Join(t.TempDir(), "m.pt")
	for _, c := range []struct {
		version int
		missing string
	}{{2, `Missing key(s) in state_dict: "1.num_batches_tracked"`}, {1, ""}} {
		sd := nn.StateDict(m)
		sd.Delete("1.num_batches_tracked")
		for i := range sd.Metadata {
			if sd.Metadata[i].Prefix == "1" {
				sd.Metadata[i].Version = c.version
			}
		}
		if err := serialize.SaveFile(path, sd); err != nil {
			t.Fatal(err)
		}
		got, err := serialize.LoadStateDict(path)
		if err != nil {
			t.Fatal(err)
		}
		if want := []tensor.ModuleVersion{{Prefix: "", Version: 1}, {Prefix: "0", Version: 1},
			{Prefix: "1", Version: c.version}}; !slices.Equal(got.Metadata, want) {
			t.Errorf("versions %v, want %v", got.Metadata, want)
		}
		err = nn.LoadStateDict(m, got)
		if c.missing == "" && err != nil || c.missing != "" && (err == nil || !strings.Contains(err.Error(), c.missing)) {
			t.Errorf("version %d: error %v, want %q", c.version, err, c.missing)
		}
	}
}
