package vision_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/hub"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/nn/summary"
	"github.com/gotorch-dev/torch/optim"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/vision/models"
)

// The results of inner layers: IntermediateLayerGetter(model, return_layers).
func TestInnerLayers(t *testing.T) {
	backbone := models.NewIntermediateLayerGetter(models.NewResNet18(),
		models.Returned{Layer: "layer1", As: "feature_1"}, models.Returned{Layer: "layer2", As: "feature_2"})
	if got := fmt.Sprint(backbone.Keys()); got != "[conv1 bn1 relu maxpool layer1 layer2]" {
		t.Errorf("it keeps %s", got)
	}
	nn.Eval(backbone)
	torch.NoGrad(func() {
		out := backbone.Features(torch.Rand([]int{1, 3, 64, 64}))
		if got := fmt.Sprint(out["feature_1"].Shape(), out["feature_2"].Shape()); got != "[1 64 16 16] [1 128 8 8]" {
			t.Errorf("features of shapes %s", got)
		}
	})
	err := torch.Try(func() {
		models.NewIntermediateLayerGetter(models.NewResNet18(), models.Returned{Layer: "layer9", As: "x"})
	})
	if err == nil || !strings.Contains(err.Error(), "return_layers are not present in model") {
		t.Errorf("a layer that there is not: %v", err)
	}
}

// Networks with random weights, and how large they are.
func TestReadyMadeModels(t *testing.T) {
	for _, tc := range []struct {
		make            func() nn.Module
		params, entries int
	}{
		{func() nn.Module { return models.NewResNet18() }, 11689512, 122},
		{func() nn.Module { return models.NewResNet101() }, 44549160, 626},
		{func() nn.Module { return models.NewAlexNet() }, 61100840, 16},
		{func() nn.Module { return models.NewSqueezeNet1_0() }, 1248424, 52},
		{func() nn.Module { return models.NewDenseNet161() }, 28681000, 967},
	} {
		torch.WithDevice(torch.Meta, func() { // shapes are enough
			m := tc.make()
			if p, n := nn.NumParameters(m), nn.StateDict(m).Len(); p != tc.params || n != tc.entries {
				t.Errorf("%T: %d parameters and %d entries, want %d and %d", m, p, n, tc.params, tc.entries)
			}
		})
	}
}

// The same seed gives PyTorch's weights, and so PyTorch's logits.
func TestStructureOnly(t *testing.T) {
	torch.ManualSeed(0)
	m := models.NewResNet18()
	nn.Eval(m)
	near := func(what string, got, want float64) {
		if d := got - want; d > 1e-3 || d < -1e-3 {
			t.Errorf("%s is %.4f, want %.4f", what, got, want)
		}
	}
	for i, want := range []float64{0.0241, 0.0075, 0.0467, -0.0018} {
		near("a weight", m.Conv1.Weight.View([]int{-1}).Select(0, i).Item(), want)
	}
	x := torch.Arange(3 * 64 * 64).RemainderScalar(255).Float().DivScalar(255).View([]int{1, 3, 64, 64})
	torch.NoGrad(func() {
		logits := m.Forward(x)
		for i, want := range []float64{0.1903, 0.2264, -0.1432, 0.1117, -0.2026} {
			near("a logit", logits.Select(0, 0).Select(0, i).Item(), want)
		}
		if k := logits.ArgMax().Item(); k != 381 {
			t.Errorf("the largest logit is %v, want 381", k)
		}
	})
}

// torchsummary's table of a resnet50.
func TestTorchSummary(t *testing.T) {
	s, err := summary.Of(models.NewResNet50(), torch.Zeros([]int{2, 3, 64, 64}))
	check(t, err)
	if s.Params != 25557032 {
		t.Errorf("%d parameters, want 25,557,032", s.Params)
	}
}

// Fine-tuning: weights, another last layer, a frozen backbone, and a smaller rate where it thaws.
func TestFineTuning(t *testing.T) {
	m := models.NewResNet18()
	for _, p := range nn.Parameters(m) {
		p.SetRequiresGrad(false)
	}
	m.FC = nn.NewLinear(512, 2) // new layers are trained
	nn.New(m)
	trained := 0
	for _, p := range nn.Parameters(m) {
		if p.RequiresGrad() {
			trained++
		}
	}
	if trained != 2 {
		t.Errorf("%d parameters are trained, want 2", trained)
	}
	for _, p := range nn.Parameters(m.Layer4) {
		p.SetRequiresGrad(true)
	}
	opt := optim.NewSGDGroups([]optim.Group{{Params: nn.Parameters(m.FC)},
		{Params: nn.Parameters(m.Layer4), LR: torch.Some(1e-4)}}, 1e-2)
	if g := opt.ParamGroups(); len(g) != 2 || g[0].LR() != 1e-2 || g[1].LR() != 1e-4 {
		t.Errorf("%v", opt)
	}
}

// Weights by their address: they are kept in the cache, and the digits in their name are checked.
func TestLoadByURL(t *testing.T) {
	want := nn.NewLinear(3, 2)
	dir := t.TempDir()
	file := filepath.Join(dir, "weights.pt")
	check(t, serialize.SaveFile(file, nn.StateDict(want)))
	data, err := os.ReadFile(file)
	check(t, err)
	sum := sha256.Sum256(data)
	name := "linear-" + hex.EncodeToString(sum[:])[:8] + ".pth"
	requests := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests++
		w.Write(data)
	}))
	defer server.Close()
	hub.SetDir(filepath.Join(dir, "cache"))
	defer hub.SetDir("")
	ctx := context.Background()
	for range 2 {
		sd, err := hub.LoadStateDictFromURL(ctx, server.URL+"/"+name, hub.LoadOptions{CheckHash: true})
		check(t, err)
		if !sd.Get("weight").Equal(want.Weight) {
			t.Error("the weights differ")
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "cache", "checkpoints", name)); err != nil || requests != 1 {
		t.Errorf("%d requests, %v", requests, err)
	}
	_, err = hub.LoadStateDictFromURL(ctx, server.URL+"/linear-00000000.pth", hub.LoadOptions{CheckHash: true})
	if !errors.Is(err, hub.ErrHash) {
		t.Errorf("a file with another hash: %v", err)
	}
}

// A published network with its weights: models.resnet18(weights="DEFAULT"). The test has no network; the file that
// would be downloaded lies in the cache.
func TestPretrained(t *testing.T) {
	w := models.ResNet18Weights.Default()
	if w.HashPrefix() != "f37072fd" || len(w.Categories()) != 1000 {
		t.Errorf("hash %s, %d classes", w.HashPrefix(), len(w.Categories()))
	}
	dir := t.TempDir()
	hub.SetDir(dir)
	defer hub.SetDir("")
	file := filepath.Join(dir, "checkpoints", filepath.Base(w.URL))
	check(t, os.MkdirAll(filepath.Dir(file), 0o777))
	check(t, serialize.SaveFile(file, nn.StateDict(models.NewResNet18())))
	sd, err := hub.LoadStateDictFromURL(context.Background(), w.URL) // CheckHash: true compares it with the name
	check(t, err)
	check(t, nn.LoadStateDict(models.NewResNet18(), sd))
}

// A repository of models: a program registers the functions that make them, a manifest names them and their weights.
func Example_repository() {
	hub.Register("cookbook/linear", hub.EntryPoint{
		Doc: "A linear layer; arguments: in, out, bias.",
		New: func(args hub.Args) (nn.Module, error) {
			in, _ := args["in"].(float64)
			out, _ := args["out"].(float64)
			bias, given := args["bias"].(bool)
			if in < 1 || out < 1 {
				return nil, errors.New("want the sizes in and out")
			}
			return nn.NewLinear(int(in), int(out), nn.LinearOptions{NoBias: given && !bias}), nil
		},
	})
	dir, err := os.MkdirTemp("", "repository")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	manifest := `{"models": {"entrypoint_name": {"entry": "cookbook/linear", "args": {"in": 2, "out": 3, "bias": false}}}}`
	if err := os.WriteFile(filepath.Join(dir, hub.ManifestName), []byte(manifest), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	names, err := hub.List(ctx, dir)
	fmt.Println(names, err)
	help, err := hub.Help(ctx, dir, "entrypoint_name")
	fmt.Println(strings.TrimSpace(help), err)
	m, err := hub.Load(ctx, dir, "entrypoint_name")
	fmt.Println(nn.Repr(m), err)
	_, err = hub.Load(ctx, dir, "nope")
	fmt.Println(err != nil)
	// Output:
	// [entrypoint_name] <nil>
	// A linear layer; arguments: in, out, bias. <nil>
	// Linear(in_features=2, out_features=3, bias=False) <nil>
	// true
}
