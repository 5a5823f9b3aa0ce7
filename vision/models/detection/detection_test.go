package detection

import (
	"math"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// TestTorchvision compares with what torchvision's networks of the same seed find and lose.
func TestTorchvision(t *testing.T) {
	if testing.Short() {
		t.Skip("makes large networks")
	}
	o := Options{NumClasses: 5, MinSize: 96, MaxSize: 160, ScoreThresh: tensor.Some(0.0), PerImage: 12}
	people := o
	people.NumClasses = 2
	for _, tc := range []struct {
		name    string
		make    func(...Options) *FasterRCNN
		o       Options
		entries int
		first   []float64 // box of the best object
		scores  []float64
		losses  map[string]float64
		masks   float64 // sum
		point   []float64
	}{
		{"fasterrcnn_resnet50_fpn", NewFasterRCNNResNet50FPN, o, 348,
			[]float64{0, 7.026368141174316, 67.32856750488281, 57.51067352294922},
			[]float64{0.973962664604187, 0.9446249604225159, 0.9443063735961914, 0.9304450750350952},
			map[string]float64{"loss_classifier": 1.5439600944519043, "loss_box_reg": 0.1962285190820694,
				"loss_objectness": 0.6842987537384033, "loss_rpn_box_reg": 0.00661821011453867}, 0, nil},
		{"maskrcnn_resnet50_fpn", NewMaskRCNNResNet50FPN, o, 360,
			[]float64{37.05560302734375, 3.05206298828125, 52.10428237915039, 37.62542724609375},
			[]float64{0.9542405009269714, 0.9432443976402283, 0.9350542426109314, 0.9221579432487488}, nil,
			5946.6865234375, nil},
		{"keypointrcnn_resnet50_fpn", NewKeypointRCNNResNet50FPN, people, 366,
			[]float64{14.258526802062988, 64.79571533203125, 23.022127151489258, 70},
			[]float64{0.6761704087257385, 0.5999634265899658, 0.5330032110214233, 0.5310107469558716}, nil, 0,
			[]float64{19.005477905273438, 68.37366485595703, 1}},
	} {
		torch.ManualSeed(1)
		m := tc.make(tc.o)
		if n := nn.StateDict(m).Len(); n != tc.entries {
			t.Errorf("%s: %d entries, want %d", tc.name, n, tc.entries)
		}
		images := []*Tensor{torch.Rand([]int{3, 70, 90}), torch.Rand([]int{3, 100, 80})}
		nn.Eval(m)
		var found []Detections
		tensor.NoGrad(func() { found = m.Detect(images...) })
		d := found[0]
		for i, want := range tc.first {
			near(t, tc.name+" box", d.Boxes.Select(0, 0).Select(0, i).Item(), want, 0.01)
		}
		for i, want := range tc.scores {
			near(t, tc.name+" score", d.Scores.Select(0, i).Item(), want, 1e-4)
		}
		if tc.masks > 0 {
			near(t, tc.name+" masks", d.Masks.Sum().Item(), tc.masks, 1)
		}
		for i, want := range tc.point {
			near(t, tc.name+" point", d.Keypoints.Select(0, 0).Select(0, 0).Select(0, i).Item(), want, 0.01)
		}
		if tc.losses == nil {
			continue
		}
		nn.Train(m, true)
		torch.ManualSeed(2)
		losses := m.Losses(images, []Target{
			{tensor.FromSlice([]float32{10, 10, 50, 50, 20, 5, 80, 60}, 2, 4), tensor.FromSlice([]int64{1, 3})},
			{tensor.FromSlice([]float32{5, 5, 60, 90}, 1, 4), tensor.FromSlice([]int64{2})}})
		if len(losses) != len(tc.losses) {
			t.Errorf("%s: %d losses, want %d", tc.name, len(losses), len(tc.losses))
		}
		for k, want := range tc.losses {
			near(t, tc.name+" "+k, losses[k].Item(), want, 2e-3)
		}
	}
}

// What is no image or does not fit is refused.
func TestRefused(t *testing.T) {
	o := optionsOf(nil)
	for name, f := range map[string]func(){
		"no images": func() { newBatch(nil, &o, false) },
		"grey":      func() { newBatch([]*Tensor{torch.Zeros([]int{1, 8, 8})}, &o, false) },
		"bytes":     func() { newBatch([]*Tensor{torch.Zeros([]int{3, 8, 8}).Byte()}, &o, false) },
		"empty":     func() { newBatch([]*Tensor{torch.Zeros([]int{3, 0, 8})}, &o, false) },
	} {
		if tensor.Try(f) == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// Boxes that are encoded and decoded are the same.
func TestCoder(t *testing.T) {
	boxes := tensor.FromSlice([]float32{1, 2, 5, 9, 10, 10, 14, 30}, 2, 4)
	from := tensor.FromSlice([]float32{0, 0, 6, 6, 9, 12, 20, 28}, 2, 4)
	got := roiCoder.decode(roiCoder.encode(boxes, from), from).SqueezeDim(1)
	near(t, "largest difference", got.Sub(boxes).Abs().Max().Item(), 0, 1e-4)
}
