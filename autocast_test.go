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

// State that is set by hand, as Python's context manager does.
func TestAutocastState(t *testing.T) {
	a := torch.Ones([]int{2, 2}).SetRequiresGrad(true)
	product := func() torch.DType { return a.MM(a).DType() }
	want := func(what string, got, want any) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	torch.SetAutocastCPUEnabled(true)
	want("nesting", torch.AutocastIncrementNesting(), 1)
	want("program", product(), torch.BFloat16)
	done := make(chan torch.DType)
	go func() { done <- product() }()
	want("another goroutine", <-done, torch.BFloat16)
	torch.SetAutocastCPUDType(torch.Float16)
	want("another type", product(), torch.Float16)
	torch.SetAutocastCPUDType(torch.BFloat16)
	amp.Autocast(tensor.CPUDevice, torch.Float16, func() {
		want("nesting inside", torch.AutocastIncrementNesting(), 3)
		torch.SetAutocastEnabled(tensor.CPUDevice, false)
		want("off inside", product(), torch.Float32)
		torch.SetAutocastCacheEnabled(false)
		want("cache inside", torch.IsAutocastCacheEnabled(), false)
	})
	want("program again", product(), torch.BFloat16)
	want("cache again", torch.IsAutocastCacheEnabled(), true)
	want("nesting again", torch.AutocastDecrementNesting(), 0)
	torch.SetAutocastCPUEnabled(false)
	want("off", product(), torch.Float32)

	want("types", [2]torch.DType{torch.GetAutocastIPUDType(), torch.GetAutocastXLADType()},
		[2]torch.DType{torch.Float16, torch.BFloat16})
	torch.SetAutocastIPUDType(torch.BFloat16)
	torch.SetAutocastXLADType(torch.Float16)
	want("types set", [2]torch.DType{torch.GetAutocastIPUDType(), torch.GetAutocastXLADType()},
		[2]torch.DType{torch.BFloat16, torch.Float16})
	torch.SetAutocastIPUDType(torch.Float16)
	torch.SetAutocastXLADType(torch.BFloat16)
	torch.SetAutocastIPUEnabled(true)
	torch.SetAutocastXLAEnabled(true)
	want("IPU", torch.IsAutocastIPUEnabled() && torch.IsAutocastXLAEnabled(), true)
	want("the CPU is another device", product(), torch.Float32)
	torch.SetAutocastIPUEnabled(false)
	torch.SetAutocastXLAEnabled(false)
	want("IPU off", torch.IsAutocastIPUEnabled() || torch.IsAutocastXLAEnabled(), false)
}
