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

// Boxes that are encoded and decoded are the same.
func TestCoder(t *testing.T) {
	boxes := tensor.FromSlice([]float32{1, 2, 5, 9, 10, 10, 14, 30}, 2, 4)
	from := tensor.FromSlice([]float32{0, 0, 6, 6, 9, 12, 20, 28}, 2, 4)
	got := roiCoder.decode(roiCoder.encode(boxes, from), from).SqueezeDim(1)
	near(t, "largest difference", got.Sub(boxes).Abs().Max().Item(), 0, 1e-4)
}
