package nn_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

func TestPrefixHint(t *testing.T) {
	m := nn.NewSequential(nn.NewLinear(2, 3), nn.NewLinear(3, 1))
	rename := func(name func(k string) string) *tensor.StateDict {
		sd := &tensor.StateDict{}
		for k, v := range nn.StateDict(m).All() {
			sd.Set(name(k), v)
		}
		return sd
	}
	for _, c := range []struct {
		name, hint string
		rename     func(k string) string
	}{
		{"DistributedDataParallel", `load sd.StripPrefix("module.")`, func(k string) string { return "module." + k }},
		{"torch.compile in DataParallel", `load sd.StripPrefix("module._orig_mod.")`,
			func(k string) string { return "module._orig_mod." + k }},
		{"one key elsewhere", "", func(k string) string {
			if k == "1.bias" {
				return k
			}
			return "module." + k
		}},
		{"not at a point", "", func(k string) string { return "module" + k }},
	} {
		sd := rename(c.rename)
		err := nn.LoadStateDict(m, sd)
		if err == nil || !strings.HasPrefix(err.Error(),
			"Error(s) in loading state_dict for Sequential:\n\tMissing key(s)") ||
			strings.Contains(err.Error(), "StripPrefix") != (c.hint != "") || !strings.Contains(err.Error(), c.hint) {
			t.Errorf("%s: got %v, want a hint %q", c.name, err, c.hint)
		}
	}
	if err := nn.LoadStateDict(m, rename(func(k string) string {
		return "module." +
			k
	}).StripPrefix("module.")); err != nil {
		t.Error(err)
	}
}

// DataParallel runs its module and has its keys behind "module.", as Python's files show.
func TestDataParallel(t *testing.T) {
	inner := nn.NewSequential(nn.NewLinear(2, 3), nn.NewReLU())
	m := nn.NewDataParallel(inner)
	x := torch.Randn([]int{4, 2})
	if got, want := m.Forward(x), inner.Forward(x); !got.Equal(want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got, want := nn.StateDict(m).Keys(), []string{"module.0.weight", "module.0.bias"}; !slices.Equal(got, want) {
		t.Errorf("keys %v, want %v", got, want)
	}
	const text = "DataParallel(\n  (module): Sequential(\n    (0): Linear(in_features=2, out_features=3, bias=True)\n" +
		"    (1): ReLU()\n  )\n)"
	if m.String() != text {
		t.Errorf("printed as %s", m)
	}
}
