// Package datasets reads published data sets of images where torchvision.datasets puts them, and folders of images.
//
// A data set is a data.Dataset of [Sample]s. [ImageFolder] is one of files, of which [NewImageFolder] makes one of a
// folder with a folder of images for each class; [Arrays] is one in memory, such as [NewCIFAR10]'s. [Tensors] makes
// batches for training of them:
//
//	set, err := datasets.NewImageFolder("flowers/train")
//	…
//	loader := data.NewDataLoader(datasets.Tensors(set, transforms.NewCompose(…)),
//		data.LoaderOptions{BatchSize: 32, Shuffle: true, Workers: 2})
//
// Sets that say more of an image than its class are [Annotated], those of two views or two moments [Pairs].
//
// The functions read and never download: [Download] fetches the files of a data set by its name. Small grey sets
// without files and MNIST's own format are in packages below this one.
package datasets

import (
	"fmt"

	"github.com/gotorch-dev/torch/data"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/pil"
	"github.com/gotorch-dev/torch/vision/transforms"
	F "github.com/gotorch-dev/torch/vision/transforms/functional"
)

// Sample is an image and the number of its class.
type Sample struct {
	Image *pil.Image
	Label int
}

// Dataset is a data set of images with a class each.
type Dataset = data.Dataset[Sample]

// tensorSet gives images as tensors.
type tensorSet struct {
	Dataset
	transform transforms.Transform
}

// Tensors gives for each image of d a tensor and its label, int64 (): what data.NewDataLoader makes batches of. The
// transform gets the *pil.Image, as the data sets of torchvision hand it over, and gives the tensor; without one it is
// a float32 tensor (C, H, W) between 0 and 1.
func Tensors(d Dataset, transform transforms.Transform) data.Dataset[[]*tensor.Tensor] {
	return &tensorSet{d, transform}
}

// Get is image i as a tensor, and its label.
func (s *tensorSet) Get(i int) (out []*tensor.Tensor, err error) {
	x, err := s.Dataset.Get(i)
	if err != nil {
		return nil, err
	}
	if e := tensor.Try(func() {
		var v any = x.Image
		if s.transform != nil {
			v = s.transform.Apply(v)[0]
		}
		t, ok := v.(*tensor.Tensor)
		if im, isImage := v.(*pil.Image); isImage {
			t, ok = F.ToTensor(im), true
		}
		if !ok {
			err = fmt.Errorf("datasets: the transform gives a %T, want a tensor or an image", v)
			return
		}
		out = []*tensor.Tensor{t, tensor.FromSlice([]int64{int64(x.Label)}).SqueezeDim(0)}
	}); e != nil {
		return nil, e
	}
	return out, err
}

// outOfRange is the error for a number that no sample has.
func outOfRange(i, n int) error { return fmt.Errorf("datasets: sample %d of %d", i, n) }
