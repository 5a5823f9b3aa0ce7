package torch_test

import (
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/amp"
	"github.com/gotorch-dev/torch/tensor"
)

// The names of torch tell what package amp has set.
func TestAutocastNames(t *testing.T) {
	if torch.IsAutocastCPUEnabled() || torch.GetAutocastCPUDType() != torch.BFloat16 ||
		torch.GetAutocastGPUDType() != torch.Float16 || !torch.IsAutocastCacheEnabled() {
		t.Error("outside of a region")
	}
	amp.Autocast(tensor.CPUDevice, torch.Float16, func() {
		torch.ClearAutocastCache()
		if !torch.IsAutocastCPUEnabled() || torch.GetAutocastDType(tensor.CPUDevice) != torch.Float16 ||
			torch.IsAutocastCacheEnabled() || torch.IsAutocastEnabled(tensor.CUDADevice) {
			t.Error("inside of a region")
		}
	}, amp.AutocastOptions{NoCache: true})
	torch.SetAutocastCPUDType(torch.Float16)
	defer torch.SetAutocastCPUDType(torch.BFloat16)
	amp.Autocast(tensor.CPUDevice, 0, func() {
		if y := torch.Ones([]int{2, 2}).MM(torch.Ones([]int{2, 2})); y.DType() != torch.Float16 {
			t.Errorf("a product in a region of the default type has %s", y.DType())
		}
	})
	if n := torch.GetNumInteropThreads(); n != torch.GetNumThreads() {
		t.Errorf("GetNumInteropThreads = %d", n)
	}
	if err := tensor.Try(func() { torch.SetNumInteropThreads(0) }); err == nil {
		t.Error("0 interop threads: no error")
	}
}
