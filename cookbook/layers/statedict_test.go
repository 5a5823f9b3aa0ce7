package layers

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
)

func classifier(classes int) *nn.Sequential {
	return nn.NewSequential().Add("conv1", nn.NewConv2d(1, 2, 3)).Add("bn1", nn.NewBatchNorm2d(2)).Add("fc",
		nn.NewLinear(2, classes))
}

// A state dict lists parameters and buffers in order, each module's parameters first.
func TestStateDictKeys(t *testing.T) {
	want := strings.Fields("conv1.weight conv1.bias bn1.weight bn1.bias bn1.running_mean bn1.running_var " +
		"bn1.num_batches_tracked fc.weight fc.bias")
	if keys := classifier(2).StateDict().Keys(); !slices.Equal(keys, want) {
		t.Errorf("keys %q, want %q", keys, want)
	}
}

// Loading is strict: missing and unexpected names are errors that list them.
func TestStrictLoading(t *testing.T) {
	m, sd := classifier(2), classifier(2).StateDict()
	sd.Set("head.weight", sd.Get("fc.weight"))
	sd.Delete("fc.weight")
	err := m.LoadStateDict(sd)
	for _, words := range []string{`Missing key(s) in state_dict: "fc.weight"`,
		`Unexpected key(s) in state_dict: "head.weight"`} {
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("error %v, want %s", err, words)
		}
	}
}

// Other shapes are an error even when names may differ.
func TestNonStrictLoading(t *testing.T) {
	m, sd := classifier(5), classifier(2).StateDict()
	err := m.LoadStateDict(sd, nn.LoadOptions{NonStrict: true})
	if err == nil || !strings.Contains(err.Error(), "size mismatch for fc.weight") {
		t.Error(err)
	}
}

// Taking over what fits: keep the entries that the model has in the same shape, and load those.
func TestPartialLoading(t *testing.T) {
	pretrained, m := classifier(1000).StateDict(), classifier(5)
	own := m.StateDict()
	for name, x := range pretrained.All() {
		if to := own.Get(name); to != nil && slices.Equal(to.Shape(), x.Shape()) {
			own.Set(name, x)
		}
	}
	if err := m.LoadStateDict(own); err != nil {
		t.Fatal(err)
	}
	now := m.StateDict()
	for _, name := range []string{"conv1.weight", "bn1.bias"} {
		if now.Get(name).Sub(pretrained.Get(name)).Abs().Max().Item() != 0 {
			t.Errorf("%s was not taken over", name)
		}
	}
	shaped(t, now.Get("fc.weight"), 5, 2)
}

// Renaming by a regular expression: old names "norm.1", which a module of today cannot have, become "norm1".
func TestRenameKeys(t *testing.T) {
	pattern := regexp.MustCompile(`^(.*denselayer\d+\.(?:norm|relu|conv))\.((?:[12])\.(?:weight|bias|running_mean|running_var))$`)
	for old, want := range map[string]string{
		"features.denseblock1.denselayer1.norm.1.weight":  "features.denseblock1.denselayer1.norm1.weight",
		"features.denseblock3.denselayer24.conv.2.weight": "features.denseblock3.denselayer24.conv2.weight",
		"classifier.weight": "classifier.weight",
	} {
		if got := pattern.ReplaceAllString(old, "$1$2"); got != want {
			t.Errorf("%s becomes %s, want %s", old, got, want)
		}
	}
}

// Files from before batch norm counted its batches load strictly, unless they claim to be of the newer version.
func TestOldBatchNormFiles(t *testing.T) {
	old := classifier(2).StateDict()
	old.Delete("bn1.num_batches_tracked")
	if err := classifier(2).LoadStateDict(old); err == nil ||
		!strings.Contains(err.Error(), `Missing key(s) in state_dict: "bn1.num_batches_tracked"`) {
		t.Errorf("version 2: %v", err)
	}
	old.Metadata = nil
	if err := classifier(2).LoadStateDict(old); err != nil {
		t.Errorf("without a version: %v", err)
	}
}

// Cutting a classifier into features and head: slices share the layers and keep their names.
func TestSplitNetwork(t *testing.T) {
	m := nn.NewSequential().Add("conv1", nn.NewConv2d(1, 2, 3)).Add("relu", nn.NewReLU()).Add("pool",
		nn.NewAdaptiveAvgPool2d(1))
	features, head := m.Slice(0, 2), m.Slice(2, 3)
	x := torch.Ones([]int{1, 1, 8, 8})
	shaped(t, features.Forward(x), 1, 2, 6, 6)
	shaped(t, head.Forward(features.Forward(x)), 1, 2, 1, 1)
	if keys := features.StateDict().Keys(); !slices.Equal(keys, []string{"conv1.weight", "conv1.bias"}) {
		t.Error(keys)
	}
}

// Weights that were saved inside a wrapper carry its prefix: take it off before loading.
func TestWrappedWeights(t *testing.T) {
	m := nn.NewLinear(2, 2)
	wrapped := nn.NewSequential().Add("module", nn.NewLinear(2, 2)).StateDict()
	if err := m.LoadStateDict(wrapped); err == nil ||
		!strings.Contains(err.Error(), `Unexpected key(s) in state_dict: "module.weight", "module.bias"`) {
		t.Error(err)
	}
	if err := m.LoadStateDict(wrapped.StripPrefix("module.")); err != nil {
		t.Error(err)
	}
}

// Structure is code, weights are a file: save the state dict, make the network anew, load.
func TestSaveWeights(t *testing.T) {
	file := filepath.Join(t.TempDir(), "my_net.pth")
	m, again := classifier(2), classifier(2)
	if err := torch.Save(file, m.StateDict()); err != nil {
		t.Fatal(err)
	}
	sd, err := torch.LoadStateDict(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.LoadStateDict(sd); err != nil {
		t.Fatal(err)
	}
	x := torch.Ones([]int{1, 1, 4, 4})
	a, b := m.Get("conv1").Forward(x), again.Get("conv1").Forward(x)
	if a.Sub(b).Abs().Max().Item() != 0 {
		t.Error("the loaded network computes something else")
	}
}
