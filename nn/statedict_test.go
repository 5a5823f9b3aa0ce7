package nn_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/optim"
	"github.com/gotorch-dev/torch/tensor"
)

// headed is a network with a head.
type headed struct {
	nn.Base
	Body *nn.Sequential
	FC   *nn.Linear
}

func newHeaded(classes int) *headed {
	return nn.New(&headed{Body: nn.NewSequential(nn.NewLinear(3, 4), nn.NewBatchNorm1d(4)),
		FC: nn.NewLinear(4, classes)})
}

func (m *headed) Forward(x *torch.Tensor) *torch.Tensor { return m.FC.Forward(m.Body.Forward(x)) }

// TestLoadMatching loads weights with a head of another size and with foreign names.
func TestLoadMatching(t *testing.T) {
	from, to := newHeaded(7), newHeaded(2)
	old := to.FC.Weight.Clone()
	sd := nn.StateDict(from)
	sd.Delete("fc.bias")
	sd.Set("extra", torch.Ones([]int{1}))
	r, err := nn.LoadMatching(to, sd)
	if err != nil {
		t.Fatal(err)
	}
	want := "_IncompatibleKeys(missing_keys=['fc.bias'], unexpected_keys=['extra'])\n\tsize mismatch for fc.weight: " +
		"copying a param with shape torch.Size([7, 4]) from checkpoint, the shape in current model is torch.Size([2, " +
		"4])."
	if r.String() != want {
		t.Errorf("got %s\nwant %s", r, want)
	}
	if !to.FC.Weight.Equal(old) {
		t.Error("the head was changed")
	}
	a, _ := nn.GetParameter(from, "body.0.weight")
	b, _ := nn.GetParameter(to, "body.0.weight")
	if !a.Equal(b) {
		t.Error("the body was not loaded")
	}
	if err := nn.LoadStateDict(to, nn.StateDict(from), nn.LoadOptions{NonStrict: true}); err == nil ||
		!strings.Contains(err.Error(), "size mismatch for fc.weight") {
		t.Errorf("shapes differ without IgnoreMismatched: %v", err)
	}
	if r, err := nn.LoadMatching(to, nn.StateDict(to)); err != nil || r.String() != "<All keys matched successfully>" {
		t.Errorf("%v %v", r, err)
	}
}

// TestFreeze freezes all but the head.
func TestFreeze(t *testing.T) {
	m := newHeaded(2)
	if err := nn.Freeze(m, "fc", "body.9"); err == nil || !strings.Contains(err.Error(), "body.9") {
		t.Errorf("a name that is not there: %v", err)
	}
	if nn.NumTrainable(m) != nn.NumParameters(m) {
		t.Error("parameters were frozen though there was an error")
	}
	if err := nn.Freeze(m, "fc"); err != nil || nn.NumTrainable(m) != 4*2+2 {
		t.Errorf("%d parameters train, %v", nn.NumTrainable(m), err)
	}
	if err := nn.Unfreeze(m, "body.1"); err != nil || nn.NumTrainable(m) != 4*2+2+8 {
		t.Errorf("%d parameters train, %v", nn.NumTrainable(m), err)
	}
	if err := nn.Unfreeze(m); err != nil || nn.NumTrainable(m) != nn.NumParameters(m) {
		t.Errorf("%d parameters train, %v", nn.NumTrainable(m), err)
	}
}

// Start from published weights that were saved inside DataParallel, with a head of one's own; train the head, and the
// last layers of the body more slowly.
func Example_fineTune() {
	published := nn.StateDict(newHeaded(1000)).AddPrefix("module.")

	m := newHeaded(10)
	report, err := nn.LoadMatching(m, published.StripPrefix("module."))
	if err != nil {
		panic(err)
	}
	for _, x := range report.Mismatched {
		fmt.Println("not loaded:", x.Key, x.Got, "for", x.Model)
	}
	if err := nn.Freeze(m, "fc", "body.1"); err != nil {
		panic(err)
	}
	opt := optim.NewSGDGroups(optim.GroupNamed(nn.NamedParameters(m),
		optim.NamedGroup{Names: []string{"fc"}, Group: optim.Group{LR: torch.Some(0.1)}}), 0.01)
	for _, g := range opt.ParamGroups() {
		fmt.Println(len(g.Params), "tensors, lr", g.Float("lr"))
	}
	// Output:
	// not loaded: fc.weight [1000 4] for [10 4]
	// not loaded: fc.bias [1000] for [10]
	// 2 tensors, lr 0.1
	// 2 tensors, lr 0.01
}

// Names of another program's network become the names of one's own network.
func Example_rename() {
	theirs := &tensor.StateDict{}
	for _, k := range []string{"encoder.layer_1.w", "encoder.layer_2.w", "classifier.w", "optimizer_step"} {
		theirs.Set(k, torch.Ones([]int{1}))
	}
	sd, err := theirs.Filter(func(k string) bool { return tensor.Below(k, "encoder", "classifier") }).
		RenameRegexp(regexp.MustCompile(`^encoder\.layer_(\d+)\.w$`), "layers.$1.weight")
	if err == nil {
		sd, err = sd.RenameMap(map[string]string{"classifier.w": "fc.weight"})
	}
	fmt.Println(sd.Keys(), err)
	// Output: [layers.1.weight layers.2.weight fc.weight] <nil>
}
