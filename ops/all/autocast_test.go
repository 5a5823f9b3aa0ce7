package all_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch/internal/shared"
	"github.com/gotorch-dev/torch/tensor"
)

// TestAutocast compares the autocast classes of the operators with PyTorch's lists for each device. Operators that
// PyTorch's lists name and that are not there yet do not count, nor do those that PyTorch does not have.
func TestAutocast(t *testing.T) {
	raw, err := os.ReadFile(shared.Path(t, "golden/amp/lists.json"))
	if err != nil {
		t.Fatal(err)
	}
	var lists struct{ CPU, CUDA map[string]string }
	if err := json.Unmarshal(raw, &lists); err != nil {
		t.Fatal(err)
	}
	classes := map[string]tensor.AMPClass{"": tensor.AMPKeep, "lower": tensor.AMPLower, "fp32": tensor.AMPFP32,
		"promote": tensor.AMPPromote,
		"banned":  tensor.AMPBanned, "fp32_set_opt_dtype": tensor.AMPFP32OptDType,
		"fp32_append_dtype": tensor.AMPFP32AppendDType}
	names := map[tensor.AMPClass]string{}
	for name, class := range classes {
		names[class] = name
	}
	except := readExceptions(t, "testdata/schemas.txt")
	for device, list := range map[tensor.DeviceType]map[string]string{tensor.CPUDevice: lists.CPU,
		tensor.CUDADevice: lists.CUDA} {
		for _, o := range tensor.Ops() {
			full := o.FullName()
			if _, ours := except[full]; ours || !o.IsPublic() {
				continue
			}
			name := strings.TrimPrefix(full, "aten::")
			got := o.AMPOn(device)
			if want, known := classes[list[name]]; !known || got != want {
				t.Errorf("%s on %v: class %q, PyTorch has %q", full, device, names[got], list[name])
			}
		}
	}
}
