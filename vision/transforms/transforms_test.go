package transforms

import (
	"fmt"
	"hash/crc32"
	"testing"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/ops"
	"github.com/gotorch-dev/torch/vision/pil"
	F "github.com/gotorch-dev/torch/vision/transforms/functional"
	"github.com/gotorch-dev/torch/vision/tvtensors"
)

func ExampleNewCompose() {
	torch.ManualSeed(0)
	t := NewCompose(NewRandomResizedCrop([]int{8, 8}), NewRandomHorizontalFlip(), NewToDtype(tensor.Float32, true),
		NewNormalize([]float64{0.5}, []float64{0.5}))
	image := torch.Full([]int{3, 20, 30}, 255).Byte()
	boxes := tvtensors.NewBoundingBoxes(torch.FromSlice([]float32{0, 0, 30, 20}, 1, 4), ops.XYXY, [2]int{20, 30})
	out := t.Apply(image, boxes, "label")
	fmt.Println(out[0].(*tensor.Tensor).Shape(), out[0].(*tensor.Tensor).Max().Item())
	fmt.Println(out[1].(*tvtensors.BoundingBoxes).ToList(), out[1].(*tvtensors.BoundingBoxes).CanvasSize, out[2])
	// Output:
	// [3 8 8] 1
	// [[0 0 8 8]] [8 8] label
}

// Images, boxes, masks and points go through every transform together and agree about the size.
func TestTogether(t *testing.T) {
	all := map[string]Transform{
		"Resize": NewResize([]int{9}), "CenterCrop": NewCenterCrop([]int{9, 8}), "Pad": NewPad([]int{1, 2}),
		"RandomCrop": NewRandomCrop([]int{9, 8}), "RandomHorizontalFlip": NewRandomHorizontalFlip(1),
		"RandomVerticalFlip": NewRandomVerticalFlip(1), "RandomResizedCrop": NewRandomResizedCrop([]int{7}),
		"RandomRotation": NewRandomRotation([]float64{30}, F.WarpOptions{Expand: true}),
		"RandomAffine":   NewRandomAffine([]float64{20}, RandomAffineOptions{Shear: []float64{-5, 5, -3, 3}}),
		"Perspective":    NewRandomPerspective(0.4, 1), "Elastic": NewElasticTransform([]float64{10}, []float64{2}),
		"RandomZoomOut":      NewRandomZoomOut(RandomZoomOutOptions{P: tensor.Some(1.0)}),
		"ScaleJitter":        NewScaleJitter([2]int{12, 12}),
		"RandomShortestSize": NewRandomShortestSize([]int{8, 9}, 20), "RandomResize": NewRandomResize(6, 9),
		"RandomIoUCrop": NewRandomIoUCrop(), "ColorJitter": NewColorJitter(0.2, 0.2, 0.2, 0.1),
		"Distort":     NewRandomPhotometricDistort(RandomPhotometricDistortOptions{P: tensor.Some(1.0)}),
		"Permutation": NewRandomChannelPermutation(),
		"Grayscale":   NewGrayscale(3), "Blur": NewGaussianBlur([]int{3}), "AutoAugment": NewAutoAugment(CIFAR10Policy),
		"RandAugment": NewRandAugment(), "TrivialAugmentWide": NewTrivialAugmentWide(), "AugMix": NewAugMix(),
		"Order":  NewRandomOrder(NewRandomInvert(), NewRandomEqualize()),
		"Choice": NewRandomChoice([]Transform{NewRandomPosterize(3), NewRandomSolarize(100)}),
		"Apply":  NewRandomApply([]Transform{NewRandomAutocontrast(), NewRandomAdjustSharpness(2)}),
	}
	for name, tr := range all {
		for seed := range int64(3) {
			torch.ManualSeed(seed)
			pixels := torch.Randint(256, []int{3, 16, 20}).Byte()
			boxes := tvtensors.NewBoundingBoxes(torch.FromSlice([]float32{2, 3, 15, 12, 0, 0, 20, 16}, 2, 4), ops.XYXY,
				[2]int{16, 20})
			points := tvtensors.NewKeyPoints(torch.FromSlice([]float32{3, 4, 10, 11}, 2, 2), [2]int{16, 20})
			mask := tvtensors.NewMask(torch.Ones([]int{2, 16, 20}).Byte())
			for kind, image := range map[string]any{"tensor": pixels, "PIL": F.ToPILImage(pixels)} {
				out := tr.Apply(image, boxes, mask, points, 7)
				if out[4] != 7 {
					t.Errorf("%s: a label became %v", name, out[4])
				}
				h, w := F.GetSize(out[0])
				for i := 1; i < 4; i++ {
					if gh, gw := F.GetSize(out[i]); gh != h || gw != w {
						t.Errorf("%s of a %s: image %dx%d, %T %dx%d", name, kind, h, w, out[i], gh, gw)
					}
				}
				c := out[1].(*tvtensors.BoundingBoxes).Unbind(tensor.UnbindOptions{Dim: -1})
				if c[0].Min().Item() < 0 || c[2].Max().Item() > float64(w)+1e-3 || c[3].Max().Item() > float64(h)+1e-3 {
					t.Errorf("%s: boxes leave the canvas %dx%d: %v", name, h, w, out[1])
				}
			}
		}
	}
}

func TestSanitize(t *testing.T) {
	boxes := tvtensors.NewBoundingBoxes(torch.FromSlice([]float32{1, 1, 4, 4, 2, 2, 2, 5, 0, 0, 99, 4}, 3, 4), ops.XYXY,
		[2]int{8, 8})
	out := NewSanitizeBoundingBoxes().Apply(boxes, torch.FromSlice([]int64{5, 6, 7}))
	if n := out[0].(*tvtensors.BoundingBoxes).Size(0); n != 1 {
		t.Errorf("%d boxes are left, want 1", n)
	}
	if l := fmt.Sprint(out[1].(*tensor.Tensor).ToList()); l != "[5]" {
		t.Errorf("labels %s, want [5]", l)
	}
}

func TestConversions(t *testing.T) {
	im := pil.New("RGB", 3, 2, 10, 20, 255)
	x := NewToTensor().Apply(im)[0].(*tensor.Tensor)
	if x.DType() != tensor.Float32 || x.Size(0) != 3 || x.Select(0, 2).Min().Item() != 1 {
		t.Errorf("ToTensor: %v", x)
	}
	back := NewToPILImage().Apply(x)[0].(*pil.Image)
	if fmt.Sprint(back.Pix) != fmt.Sprint(im.Pix) {
		t.Errorf("ToPILImage: %v, want %v", back.Pix, im.Pix)
	}
}

// The faults of a JPEG are torchvision's, and so is the quality that is drawn.
func TestJPEG(t *testing.T) {
	const w, h = 37, 21
	im := pil.New("RGB", w, h)
	for i := range im.Pix {
		x, y := i/3%w, i/3/w
		im.Pix[i] = uint8(x*7 + y*3 + i%3*50 + x*y/5)
	}
	crc := func(x *tensor.Tensor) uint32 { return crc32.ChecksumIEEE(tensor.Data[uint8](x.Contiguous())) }
	x := F.PILToTensor(im).Contiguous()
	torch.ManualSeed(3)
	drawn := NewJPEG(20, 60)
	if got := crc(drawn.Apply(x)[0].(*tensor.Tensor)); got != 0x7f107392 {
		t.Errorf("a tensor: checksum %#x, want 0x7f107392", got)
	}
	if next := torch.Rand([]int{1}).Item(); float32(next) != 0.10556936264038086 {
		t.Errorf("the next random number is %v", next)
	}
	torch.ManualSeed(3)
	if got := crc(F.PILToTensor(drawn.Apply(im)[0].(*pil.Image))); got != 0x7f107392 {
		t.Errorf("an image: checksum %#x, want 0x7f107392", got)
	}
	if got := crc(F.JPEG(x.Narrow(0, 0, 1).Unsqueeze(0), 40)); got != 0x5c04db17 {
		t.Errorf("a batch of grey images: checksum %#x, want 0x5c04db17", got)
	}
}

func TestRefused(t *testing.T) {
	x := torch.Zeros([]int{3, 4, 4})
	for name, f := range map[string]func(){
		"probability": func() { NewRandomHorizontalFlip(1.5) },
		"crop":        func() { NewRandomCrop([]int{9, 9}).Apply(x) },
		"no image":    func() { NewRandomRotation([]float64{3}); QuerySize([]any{"label"}) },
		"policy":      func() { NewAutoAugment("none") },
		"alpha":       func() { NewMixUp(0, 3) },
		"no trials":   func() { NewRandomIoUCrop(RandomIoUCropOptions{Trials: tensor.Some(0)}) },
		"no overlaps": func() { NewRandomIoUCrop(RandomIoUCropOptions{SamplerOptions: []float64{}}) },
		"batch":       func() { NewCutMix(1, 3).Apply(x) },
		"hue":         func() { F.AdjustHue(x, 2) },
		"size":        func() { F.Resize(x, []int{1, 2, 3}) },
		"huge":        func() { F.Resize(x, []int{1 << 40, 1 << 40}) },
		"padding":     func() { F.Pad(x, []int{1, 2, 3}) },
		"reflect":     func() { F.Pad(x, []int{9}, F.PadOptions{Mode: F.PadReflect}) },
		"kernel":      func() { F.GaussianBlur(x, []int{4}) },
		"quality":     func() { NewJPEG(60, 20) },
		"float JPEG":  func() { NewJPEG(20).Apply(x) },
		"std":         func() { F.Normalize(x, []float64{0}, []float64{0}) },
	} {
		if tensor.Try(f) == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// What Compose does together gives what the transforms give one after the other.
func TestComposeTogether(t *testing.T) {
	torch.ManualSeed(1)
	mean, std := []float64{0.485, 0.456, 0.406}, []float64{0.229, 0.224, 0.225}
	for _, tc := range []struct{ h, w, size, crop int }{
		{40, 31, 20, 16}, {17, 50, 17, 17}, {9, 12, 20, 18}, {30, 30, 8, 12}, {33, 20, 20, 5},
	} {
		for _, mode := range []string{"RGB", "L", "RGBA", "LA"} {
			im := pil.New(mode, tc.w, tc.h)
			copy(im.Pix, tensor.Data[uint8](torch.Randint(256, []int{len(im.Pix)}).Byte()))
			m, s := mean, std
			if len(m) != im.Bands() {
				m, s = m[:1], s[:1]
			}
			for _, filter := range []InterpolationMode{F.Bilinear, F.Bicubic, F.Nearest} {
				all := []Transform{NewResize([]int{tc.size}, F.ResizeOptions{Interpolation: filter}),
					NewCenterCrop([]int{tc.crop}), NewToTensor(), NewNormalize(m, s)}
				var want any = im
				for _, tr := range all {
					want = tr.Apply(want)[0]
				}
				got := NewCompose(all...).Apply(im)[0].(*tensor.Tensor)
				if !torch.Equal(got, want.(*tensor.Tensor)) {
					t.Errorf("%v of %s with %s: another result", tc, mode, filter)
				}
			}
		}
	}
	for _, inputs := range [][]any{{pil.New("L", 9, 9), 3}, {torch.Zeros([]int{1, 9, 9}).Byte()}} {
		out := NewCompose(NewResize([]int{8}), NewCenterCrop([]int{4})).Apply(inputs...)
		if h, w := F.GetSize(out[0]); len(out) != len(inputs) || h != 4 || w != 4 {
			t.Errorf("%T of %d inputs: %d x %d of %d", inputs[0], len(inputs), h, w, len(out))
		}
	}
}

// No operations are asked for as zero of them, not as the default.
func TestRandAugmentOfNothing(t *testing.T) {
	torch.ManualSeed(0)
	x := torch.Randint(256, []int{3, 8, 9}).Byte()
	none := NewRandAugment(RandAugmentOptions{NumOps: tensor.Some(0)})
	for range 5 {
		if y := none.Apply(x)[0].(*tensor.Tensor); !torch.Equal(x, y) {
			t.Fatal("NumOps 0 changes the image")
		}
	}
}
