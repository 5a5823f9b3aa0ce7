package datasets

import (
	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/tensor"
	F "github.com/gotorch-dev/torch/vision/transforms/functional"
)

// FakeData is a data set of random images with random classes: the same ones as torchvision's.
type FakeData struct {
	size, classes, offset int
	image                 []int
}

// FakeDataOptions are the options of NewFakeData; the zero value of a field is torchvision's default.
type FakeDataOptions struct {
	Size         int    // number of images, default 1000
	ImageSize    [3]int // channels, height and width, default 3, 224 and 224
	NumClasses   int    // default 10
	RandomOffset int    // added to the number of an image, which is the seed of its numbers
}

// NewFakeData makes a FakeData.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.FakeData.html
func NewFakeData(opts ...FakeDataOptions) *FakeData {
	o := FakeDataOptions{}
	if len(opts) > 0 {
		o = opts[0]
	}
	if o.Size == 0 {
		o.Size = 1000
	}
	if o.ImageSize == [3]int{} {
		o.ImageSize = [3]int{3, 224, 224}
	}
	if o.NumClasses == 0 {
		o.NumClasses = 10
	}
	return &FakeData{o.Size, o.NumClasses, o.RandomOffset, o.ImageSize[:]}
}

// Len is the number of images.
func (d *FakeData) Len() int { return d.size }

// Get draws image i. The generator that programs draw from is not touched.
func (d *FakeData) Get(i int) (s Sample, err error) {
	if i < 0 || i >= d.size {
		return Sample{}, outOfRange(i, d.size)
	}
	err = tensor.Try(func() {
		g := torch.NewGenerator().ManualSeed(int64(i + d.offset))
		x := torch.Randn(d.image, torch.RandnOptions{Generator: g})
		s.Label = int(torch.Randint(d.classes, []int{1}, torch.RandintOptions{Generator: g}).Item())
		s.Image = F.ToPILImage(x)
	})
	return s, err
}
