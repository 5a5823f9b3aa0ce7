package detection

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/models"
	"github.com/gotorch-dev/torch/vision/ops"
)

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// recorded is what torchvision's networks of seed 1 find in two random images, and lose after seed 2.
type recorded struct {
	CRC     uint32 // of all names and values of the state dict
	Entries int
	Det     []struct {
		Boxes, Scores []float64
		Labels        []int64
		N             int
		Sum           float64 // of all scores
	}
	Masks, Points []float64 // sums
	Losses        map[string]float64
	Grad          float64 // sum of the magnitudes of all gradients
	Rand          float64 // the next random number after the losses
}

func checksum(m nn.Module) (crc uint32) {
	sd := nn.StateDict(m)
	for k, v := range sd.All() {
		crc = crc32.Update(crc, crc32.IEEETable, []byte(k))
		var b bytes.Buffer
		if v.DType() == tensor.Int64 {
			binary.Write(&b, binary.LittleEndian, tensor.Data[int64](v))
		} else {
			binary.Write(&b, binary.LittleEndian, tensor.Data[float32](tensor.Dense(v)))
		}
		crc = crc32.Update(crc, crc32.IEEETable, b.Bytes())
	}
	return crc
}

// someTargets are two objects and one, with masks (diamonds) and points.
func someTargets(people bool, sizes ...[2]int) []Target {
	targets := []Target{
		{Boxes: tensor.FromSlice([]float32{10, 10, 50, 50, 20, 5, 80, 60}, 2, 4),
			Labels: tensor.FromSlice([]int64{1, 3})},
		{Boxes: tensor.FromSlice([]float32{5, 5, 60, 90}, 1, 4), Labels: tensor.FromSlice([]int64{2})}}
	for i := range targets {
		t := &targets[i]
		if people {
			t.Labels.FillScalarInPlace(1)
		}
		h, w := sizes[i][0], sizes[i][1]
		b := tensor.Data[float32](t.Boxes)
		var masks []uint8
		var points []float32
		for ; len(b) > 0; b = b[4:] {
			for y := range h {
				for x := range w {
					dx, dy := float32(x)-(b[0]+b[2])/2, float32(y)-(b[1]+b[3])/2
					inside := uint8(0)
					if max(dx, -dx)+max(dy, -dy) < (b[2]-b[0])/2 {
						inside = 1
					}
					masks = append(masks, inside)
				}
			}
			for k := range 17 {
				points = append(points, b[0]+(b[2]-b[0])*float32(k)/16, b[1]+(b[3]-b[1])*float32(k*5%17)/16,
					float32(k%3))
			}
		}
		n := t.Boxes.Size(0)
		t.Masks, t.Keypoints = tensor.FromSlice(masks, n, h, w), tensor.FromSlice(points, n, 17, 3)
	}
	return targets
}

// TestTorchvision compares with torchvision's networks of the same seed: parameters, what they find, losses, gradients
// and the random numbers that were drawn.
func TestTorchvision(t *testing.T) {
	if testing.Short() {
		t.Skip("makes large networks")
	}
	data, err := os.ReadFile("testdata/torchvision.json")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]recorded
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	for _, name := range ListModels() {
		want, ok := all[name]
		if !ok {
			t.Errorf("%s: no recorded results", name)
			continue
		}
		t.Run(name, func(t *testing.T) { compare(t, name, want) })
	}
}

func compare(t *testing.T, name string, want recorded) {
	o := Options{NumClasses: 5, ScoreThresh: tensor.Some(0.0), PerImage: 12, MinSize: 96, MaxSize: 160}
	if strings.Contains(name, "rcnn_resnet") { // fewer regions take less time
		o.RPNPreNMSTopN, o.RPNPostNMSTopN = TopN{200, 150}, TopN{60, 50}
	}
	people := strings.HasPrefix(name, "keypoint")
	if people {
		o.NumClasses = 2
	}
	torch.ManualSeed(1)
	m, err := GetModel(name, o)
	if err != nil {
		t.Fatal(err)
	}
	if n := nn.StateDict(m).Len(); n != want.Entries {
		t.Errorf("%d entries, want %d", n, want.Entries)
	}
	if crc := checksum(m); crc != want.CRC {
		t.Errorf("parameters have the checksum %d, want %d", crc, want.CRC)
	}
	images := []*Tensor{torch.Rand([]int{3, 70, 90}), torch.Rand([]int{3, 100, 80})}
	nn.Eval(m)
	var found []Detections
	tensor.NoGrad(func() { found = m.Detect(images...) })
	for i, w := range want.Det {
		d := found[i]
		if n := d.Boxes.Size(0); n != w.N {
			t.Errorf("image %d: %d objects, want %d", i, n, w.N)
		}
		near(t, "sum of scores", d.Scores.Sum().Item(), w.Sum, 1e-4*w.Sum)
		for j, label := range w.Labels {
			near(t, "score", d.Scores.Select(0, j).Item(), w.Scores[j], 1e-4)
			if want.Det[i].Scores[0] == want.Det[i].Scores[len(w.Scores)-1] {
				continue // equal scores are in any order
			}
			if got := d.Labels.Select(0, j).Item(); int64(got) != label {
				t.Errorf("image %d, object %d: class %v, want %d", i, j, got, label)
			}
			for k := range 4 {
				near(t, "box", d.Boxes.Select(0, j).Select(0, k).Item(), w.Boxes[4*j+k], 0.01)
			}
		}
		if want.Masks != nil {
			near(t, "masks", d.Masks.Sum().Item(), want.Masks[i], 1)
		}
		if want.Points != nil {
			near(t, "points", d.Keypoints.Sum().Item(), want.Points[i], 1)
		}
	}
	nn.Train(m, true)
	torch.ManualSeed(2)
	losses := m.Losses(images, someTargets(people, [2]int{70, 90}, [2]int{100, 80}))
	if len(losses) != len(want.Losses) {
		t.Errorf("%d losses, want %d", len(losses), len(want.Losses))
	}
	var total *Tensor
	for k, w := range want.Losses {
		if losses[k] == nil {
			t.Fatalf("no loss %s", k)
		}
		near(t, k, losses[k].Item(), w, 2e-3*max(w, 0.1))
		if total == nil {
			total = losses[k]
		} else {
			total = total.Add(losses[k])
		}
	}
	near(t, "next random number", torch.Rand([]int{1}).Item(), want.Rand, 1e-7)
	total.Backward()
	sum := 0.0
	for _, p := range nn.Parameters(m) {
		if g := p.Grad(); g != nil {
			sum += g.Abs().Sum().Item()
		}
	}
	near(t, "gradients", sum, want.Grad, 0.02*want.Grad)
}

// What is no image or does not fit is refused.
func TestRefused(t *testing.T) {
	r := newResizing(optionsOf(nil), 0)
	for name, f := range map[string]func(){
		"no images": func() { r.batch(nil, nil, false) },
		"grey":      func() { r.batch([]*Tensor{torch.Zeros([]int{1, 8, 8})}, nil, false) },
		"bytes":     func() { r.batch([]*Tensor{torch.Zeros([]int{3, 8, 8}).Byte()}, nil, false) },
		"empty":     func() { r.batch([]*Tensor{torch.Zeros([]int{3, 0, 8})}, nil, false) },
	} {
		if tensor.Try(f) == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// Images are scaled to torchvision's sizes, which its arithmetic makes a pixel smaller here and there.
func TestSizes(t *testing.T) {
	for _, tc := range [][6]int{ // height, width, least and largest size; height and width after that
		{290, 179, 293, 976, 474, 293},
		{615, 173, 17, 887, 60, 17},
		{388, 352, 251, 489, 276, 250},
		{744, 25, 290, 1342, 1342, 45},
		{43, 263, 198, 920, 150, 920},
		{1028, 144, 159, 967, 967, 135},
	} {
		r := newResizing(optionsOf([]Options{{MinSize: tc[2], MaxSize: tc[3]}}), 0)
		if y := r.image(torch.Zeros([]int{3, tc[0], tc[1]})); y.Size(1) != tc[4] || y.Size(2) != tc[5] {
			t.Errorf("%v: %v", tc, y.Shape())
		}
	}
}

// A detector over a backbone of one level: torchvision's tutorial on fine-tuning.
func TestCustomBackbone(t *testing.T) {
	torch.ManualSeed(3)
	m := NewFasterRCNN(models.NewMobileNetV2().Features, 1280, Parts{
		Anchors:    &AnchorGenerator{Sizes: [][]float64{{32, 64, 128, 256, 512}}, AspectRatios: [][]float64{{0.5, 1, 2}}},
		BoxRoIPool: ops.NewMultiScaleRoIAlign([]string{"0"}, nn.Size{7}, 2)},
		Options{NumClasses: 2, MinSize: 96, MaxSize: 128, RPNPostNMSTopN: TopN{50, 30}})
	if crc := checksum(m); crc != 2609463615 {
		t.Errorf("parameters have the checksum %d", crc)
	}
	image := []*Tensor{torch.Rand([]int{3, 80, 100})}
	nn.Train(m, true)
	torch.ManualSeed(4)
	for _, tc := range []struct {
		target Target
		want   map[string]float64
	}{
		{Target{Boxes: tensor.FromSlice([]float32{10, 10, 50, 50}, 1, 4), Labels: tensor.FromSlice([]int64{1})},
			map[string]float64{"loss_classifier": 0.714505, "loss_box_reg": 0.080020, "loss_objectness": 0.694673,
				"loss_rpn_box_reg": 0.001721}},
		{Target{Boxes: torch.Zeros([]int{0, 4}), Labels: torch.Zeros([]int{0}).Long()}, // an image without objects
			map[string]float64{"loss_classifier": 0.715971, "loss_box_reg": 0, "loss_objectness": 0.694120,
				"loss_rpn_box_reg": 0}},
	} {
		losses := m.Losses(image, []Target{tc.target})
		for k, want := range tc.want {
			near(t, k, losses[k].Item(), want, 1e-4)
		}
	}
	nn.Eval(m)
	tensor.NoGrad(func() {
		if d := m.Detect(image...)[0]; d.Boxes.Size(1) != 4 || d.Labels.Size(0) != d.Scores.Size(0) {
			t.Errorf("boxes %v", d.Boxes.Shape())
		}
	})
}

// Images without objects have losses, too.
func TestNoObjects(t *testing.T) {
	m := NewSSDLite320MobileNetV3Large(Options{NumClasses: 3})
	empty := Target{Boxes: torch.Zeros([]int{0, 4}), Labels: torch.Zeros([]int{0}).Long()}
	images := []*Tensor{torch.Rand([]int{3, 20, 30}), torch.Rand([]int{3, 30, 20})}
	for k, l := range m.Losses(images, []Target{empty, empty}) {
		near(t, k, l.Item(), 0, 0)
	}
}

// Targets that fit neither the image nor the network are refused.
func TestBadTargets(t *testing.T) {
	m := NewSSDLite320MobileNetV3Large(Options{NumClasses: 3})
	x := torch.Rand([]int{3, 20, 30})
	box, label := tensor.FromSlice([]float32{1, 1, 9, 9}, 1, 4), tensor.FromSlice([]int64{1})
	for name, targets := range map[string][]Target{
		"none": nil, "two": {{Boxes: box, Labels: label}, {Boxes: box, Labels: label}}, "no boxes": {{Labels: label}},
		"labels":   {{Boxes: box, Labels: tensor.FromSlice([]int64{1, 2})}},
		"flat box": {{Boxes: tensor.FromSlice([]float32{1, 1, 1, 9}, 1, 4), Labels: label}},
	} {
		if tensor.Try(func() { m.Losses([]*Tensor{x}, targets) }) == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if tensor.Try(func() { NewSSD300VGG16(Options{TrainableLayers: tensor.Some(9)}) }) == nil {
		t.Error("nine trainable stages: no error")
	}
}

// Boxes that are encoded and decoded are the same.
func TestCoder(t *testing.T) {
	boxes := tensor.FromSlice([]float32{1, 2, 5, 9, 10, 10, 14, 30}, 2, 4)
	from := tensor.FromSlice([]float32{0, 0, 6, 6, 9, 12, 20, 28}, 2, 4)
	got := roiCoder.decode(roiCoder.encode(boxes, from), from).SqueezeDim(1)
	near(t, "largest difference", got.Sub(boxes).Abs().Max().Item(), 0, 1e-4)
}
