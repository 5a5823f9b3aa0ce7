package models

import (
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// The published weights belong to networks that are there, and have as many parameters as the table says.
func TestWeights(t *testing.T) {
	small := map[string]bool{"squeezenet1_0": true, "shufflenet_v2_x0_5": true, "mnasnet0_5": true,
		"mobilenet_v3_small": true,
		"regnet_x_400mf":     true, "efficientnet_b0": true, "mobilenet_v2": true, "lraspp_mobilenet_v3_large": true}
	for _, e := range allWeights {
		if len(e.Entries) == 0 || e.Default() == nil {
			t.Errorf("%s has no default weights", e.Name)
		}
		for i := range e.Entries {
			w := &e.Entries[i]
			if !strings.HasPrefix(w.URL, "https://download.pytorch.org/models/") || len(w.HashPrefix()) < 8 {
				t.Errorf("%s.%s: address %s, hash %q", e.Name, w.Name, w.URL, w.HashPrefix())
			}
			if got, err := GetWeight(e.Name + "." + w.Name); err != nil || got != w {
				t.Errorf("GetWeight(%s.%s): %v", e.Name, w.Name, err)
			}
		}
		if !small[e.Model] {
			continue
		}
		w := e.Default()
		m, err := GetModel(e.Model, e.Options(w))
		if err != nil {
			t.Errorf("weights of %s: %v", e.Model, err)
			continue
		}
		if n := nn.NumParameters(m); n != w.NumParams {
			t.Errorf("%s: %d parameters, its weights have %d", e.Model, n, w.NumParams)
		}
	}
	for _, name := range []string{"ResNet50_Weights", "ResNet50_Weights.V9", "None.DEFAULT"} {
		if _, err := GetWeight(name); err == nil {
			t.Errorf("GetWeight(%q): no error", name)
		}
	}
	if n := len(ResNet18Weights.Default().Categories()); n != 1000 {
		t.Errorf("%d categories of ImageNet", n)
	}
}

// Networks that are made for a device lie there, with all that they look up.
func TestOnDevice(t *testing.T) {
	meta := tensor.Device{Type: tensor.MetaDevice}
	for _, name := range []string{"maxvit_t", "swin_t", "swin_v2_t", "inception_v3"} {
		torch.WithDevice(meta, func() {
			m, err := GetModel(name)
			if err != nil {
				t.Fatal(err)
			}
			for key, x := range nn.StateDict(m).All() {
				if x.Device() != meta {
					t.Errorf("%s: %s is on %s", name, key, x.Device())
				}
			}
		})
	}
}

// Settings that cannot be are refused.
func TestRefused(t *testing.T) {
	for name, f := range map[string]func(){
		"classes":  func() { NewAlexNet(Options{NumClasses: -1}) },
		"image":    func() { NewViTB32(Options{ImageSize: 100}) },
		"alpha":    func() { NewMNASNet(-1) },
		"dilation": func() { NewResNet18(Options{ReplaceStrideWithDilation: [3]bool{true, false, false}}) },
		"returned": func() { NewIntermediateLayerGetter(NewSqueezeNet1_1(), Returned{Layer: "layer9"}) },
		"input":    func() { NewSqueezeNet1_1().Forward(tensor.FromSlice([]float32{1})) },
		"grid size": func() {
			newPartitionAttention(32, 32, 7, true, 0).Forward(tensor.New([]int{1, 32, 8, 8}, tensor.Float32))
		},
	} {
		if tensor.Try(f) == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := GetModel("resnet17"); err == nil {
		t.Error("resnet17: no error")
	}
	x := torch.Rand([]int{1, 3, 64, 64})
	if _, err := CreateFeatureExtractor(NewSqueezeNet1_1(), x, Returned{Layer: "features.99"}); err == nil {
		t.Error("features.99: no error")
	}
}

// The widths of all RegNets are those of the published networks.
func TestRegNetStages(t *testing.T) {
	for _, tc := range []struct {
		p    RegNetParams
		want []regStage
	}{
		{RegNetParams{16, 48, 27.89, 2.09, 8, 0.25}, []regStage{{48, 1, 8}, {104, 3, 8}, {208, 6, 8}, {440, 6, 8}}},
		{RegNetParams{23, 80, 49.56, 2.88, 120, 0},
			[]regStage{{80, 2, 80}, {240, 5, 120}, {720, 15, 120}, {1920, 1, 120}}},
	} {
		got := tc.p.stages()
		if len(got) != len(tc.want) {
			t.Errorf("%v: %v, want %v", tc.p, got, tc.want)
			continue
		}
		for i := range got {
			if got[i] != tc.want[i] {
				t.Errorf("%v: stage %d is %v, want %v", tc.p, i, got[i], tc.want[i])
			}
		}
	}
}
