package datasets

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gotorch-dev/torch/serialize/npy"
	"github.com/gotorch-dev/torch/tensor"
)

// PhotoTour is grey patches of 64 x 64 pixels around points of buildings (Winder and Brown, Learning Local Image
// Descriptors, 2007).
type PhotoTour struct {
	Patches *tensor.Tensor // uint8 (N, 64, 64)
	Labels  []int          // the point of each patch
	Matches [][3]int       // two patches, and 1 where they show the same point
	Mean    float64        // of the patches, between 0 and 1
	Std     float64
}

// photoTours are the numbers of patches and their means and standard deviations.
var photoTours = map[string]struct {
	n         int
	mean, std float64
}{
	"notredame": {468159, 0.4854, 0.1864}, "yosemite": {633587, 0.4844, 0.1818}, "liberty": {450092, 0.4437, 0.2019},
	"notredame_harris": {325295, 0.4854, 0.1864}, "yosemite_harris": {450912, 0.4844, 0.1818},
	"liberty_harris": {379587, 0.4437, 0.2019},
}

// NewPhotoTour reads the patches below root/name: notredame, yosemite or liberty, or one of them with _harris.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.PhotoTour.html
func NewPhotoTour(root, name string) (*PhotoTour, error) {
	about, ok := photoTours[name]
	if !ok {
		return nil, choose("PhotoTour", name, sortedKeys(photoTours)...)
	}
	dir := filepath.Join(root, name)
	d := &PhotoTour{Mean: about.mean, Std: about.std}
	info, err := textLines("PhotoTour "+name, dir, "info.txt")
	if err != nil {
		return nil, err
	}
	for _, l := range info {
		n, err := strconv.Atoi(strings.Fields(l)[0])
		if err != nil {
			return nil, fmt.Errorf("datasets: PhotoTour: info.txt has the line %q", l)
		}
		d.Labels = append(d.Labels, n)
	}
	matches, err := textLines("PhotoTour "+name, dir, "m50_100000_100000_0.txt")
	if err != nil {
		return nil, err
	}
	for _, l := range matches { // patch, point and another number, of both
		v, err := numbers(strings.Fields(l), 7)
		if err != nil {
			if v, err = numbers(strings.Fields(l), 6); err != nil {
				return nil, fmt.Errorf("datasets: PhotoTour: m50_100000_100000_0.txt has the line %q", l)
			}
		}
		same := 0
		if v[1] == v[4] {
			same = 1
		}
		d.Matches = append(d.Matches, [3]int{v[0], v[3], same})
	}
	files, err := matching("PhotoTour "+name, dir, "*.bmp")
	if err != nil {
		return nil, err
	}
	const side = 64
	var pix []uint8
	for _, f := range files {
		im, err := loadGray(f)
		if err != nil {
			return nil, err
		}
		for y := 0; y < im.Height; y += side {
			for x := 0; x < im.Width; x += side {
				pix = append(pix, im.Crop(x, y, x+side, y+side).Pix...)
			}
		}
	}
	n := min(about.n, len(pix)/(side*side))
	d.Patches = tensor.FromSlice(pix[:n*side*side], n, side, side)
	return d, nil
}

// Len is the number of patches.
func (d *PhotoTour) Len() int { return d.Patches.Size(0) }

// Get is patch i, uint8 (64, 64).
func (d *PhotoTour) Get(i int) (*tensor.Tensor, error) {
	if i < 0 || i >= d.Len() {
		return nil, outOfRange(i, d.Len())
	}
	return d.Patches.Select(0, i), nil
}

// MovingMNIST is 10,000 films of two digits that move.
type MovingMNIST struct {
	Frames *tensor.Tensor // uint8 (N, T, 1, 64, 64)
}

// NewMovingMNIST reads the films below root/MovingMNIST: the first frames of each with the split train, the others with
// test, or all with "". The first ones are as many as ratio says, 10 in torchvision.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.MovingMNIST.html
func NewMovingMNIST(root, split string, ratio int) (*MovingMNIST, error) {
	const name = "MovingMNIST"
	if err := choose(name, split, "", "train", "test"); err != nil {
		return nil, err
	}
	if ratio < 1 || ratio > 19 {
		return nil, fmt.Errorf("datasets: %s: the split ratio should be 1 to 19, got %d", name, ratio)
	}
	a, err := npy.ReadFile(filepath.Join(root, name, "mnist_test_seq.npy"))
	if err != nil {
		return nil, notThere(err, name, root)
	}
	if len(a.Shape) != 4 || a.DType != "uint8" || a.Shape[0] < ratio {
		return nil, fmt.Errorf("datasets: %s: frames %v of %s, want uint8 (T, N, H, W) of at least %d", name, a.Shape,
			a.DType, ratio)
	}
	x := tensor.FromSlice(a.RowMajor().Data, a.Shape...)
	switch split {
	case "train":
		x = x.Narrow(0, 0, ratio)
	case "test":
		x = x.Narrow(0, ratio, x.Size(0)-ratio)
	}
	return &MovingMNIST{x.Transpose(0, 1).Unsqueeze(2).Contiguous()}, nil
}

// Len is the number of films.
func (d *MovingMNIST) Len() int { return d.Frames.Size(0) }

// Get is film i, uint8 (T, 1, 64, 64).
func (d *MovingMNIST) Get(i int) (*tensor.Tensor, error) {
	if i < 0 || i >= d.Len() {
		return nil, outOfRange(i, d.Len())
	}
	return d.Frames.Select(0, i), nil
}
