package tensor

import (
	"errors"
	"regexp"
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

// TestRename renames, filters and prefixes a state dict; the versions of modules go along.
func TestRename(t *testing.T) {
	sd := &StateDict{Metadata: []ModuleVersion{{"", 1}, {"bn", 2}, {"bn.act", 1}, {"fc", 3}}}
	for _, k := range []string{"bn.weight", "bn.bias", "fc.weight", "fc2.weight"} {
		sd.Set(k, FromSlice([]float32{1}))
	}
	for _, c := range []struct {
		name string
		make func() (*StateDict, error)
		keys []string
		meta []ModuleVersion
	}{
		{"AddPrefix", func() (*StateDict, error) { return sd.AddPrefix("m."), nil },
			[]string{"m.bn.weight", "m.bn.bias", "m.fc.weight", "m.fc2.weight"},
			[]ModuleVersion{{"m", 1}, {"m.bn", 2}, {"m.bn.act", 1}, {"m.fc", 3}}},
		{"Filter", func() (*StateDict, error) {
			return sd.Filter(func(k string) bool { return !Below(k, "fc", "bn.bias") }), nil
		}, []string{"bn.weight", "fc2.weight"}, sd.Metadata},
		{"RenameMap", func() (*StateDict, error) {
			return sd.RenameMap(map[string]string{"fc": "head.1", "bn": "norm", "bn.bias": ""})
		}, []string{"norm.weight", "head.1.weight", "fc2.weight"},
			[]ModuleVersion{{"", 1}, {"norm", 2}, {"head.1", 3}}},
		{"RenameRegexp", func() (*StateDict,
			error) {
			return sd.RenameRegexp(regexp.MustCompile(`^fc(\d*)`), "l${1}x")
		},
			[]string{"bn.weight", "bn.bias", "lx.weight", "l2x.weight"},
			[]ModuleVersion{{"", 1}, {"bn", 2}, {"lx", 3}}},
	} {
		got, err := c.make()
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if !slices.Equal(got.Keys(), c.keys) || !slices.Equal(got.Metadata, c.meta) {
			t.Errorf("%s: keys %v and metadata %v, want %v and %v", c.name, got.Keys(), got.Metadata, c.keys, c.meta)
		}
	}
	if _, err := sd.Rename(func(string) string { return "x" }); !errors.Is(err, ErrValue) {
		t.Errorf("two keys become one: %v", err)
	}
	if !Below("fc.weight", "") || !Below("fc", "fc") || Below("fc2", "fc") || !Below("a.b.c", "x", "a.b.") {
		t.Error("Below")
	}
}
