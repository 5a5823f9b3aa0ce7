package tensor

import (
	"slices"
	"testing"
)

func TestStripPrefix(t *testing.T) {
	sd := &StateDict{Metadata: []ModuleVersion{{"", 1}, {"module", 1}, {"module.submodule", 2}}}
	for _, k := range []string{"module.weight", "module.submodule.weight", "other"} {
		sd.Set(k, FromSlice([]float32{1}))
	}
	got := sd.StripPrefix("module.")
	// only the beginning is cut: a name that contains the prefix again keeps it
	if want := []string{"weight", "submodule.weight", "other"}; !slices.Equal(got.Keys(), want) {
		t.Errorf("keys %v, want %v", got.Keys(), want)
	}
	if want := []ModuleVersion{{"", 1}, {"submodule", 2}}; !slices.Equal(got.Metadata, want) {
		t.Errorf("metadata %v, want %v", got.Metadata, want)
	}
	if got.Get("weight") != sd.Get("module.weight") {
		t.Error("the tensors are not shared")
	}
}
