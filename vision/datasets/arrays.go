package datasets

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/gotorch-dev/torch/internal/matfile"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/serialize/npy"
	"github.com/gotorch-dev/torch/vision/datasets/mnist"
	"github.com/gotorch-dev/torch/vision/pil"
)

// Arrays is a data set in memory: images of one size.
type Arrays struct {
	Classes       []string // names of the classes
	Labels        []int    // -1 where there is none
	Mode          string   // of the images, "L" or "RGB"
	Height, Width int
	pixels        []byte // of all images
	// at gives where the byte of a band of the pixel (x, y) lies within an image, or within all of them where images
	// do not lie one behind the other.
	at func(i, x, y, band int) int
}

// Len is the number of images.
func (d *Arrays) Len() int { return len(d.Labels) }

// Get is image i.
func (d *Arrays) Get(i int) (Sample, error) {
	if i < 0 || i >= len(d.Labels) {
		return Sample{}, outOfRange(i, len(d.Labels))
	}
	im := pil.New(d.Mode, d.Width, d.Height)
	n := im.Bands()
	for k := range im.Pix {
		p := k / n
		im.Pix[k] = d.pixels[d.at(i, p%d.Width, p/d.Width, k%n)]
	}
	return Sample{im, d.Labels[i]}, nil
}

// planar is the place of a byte in images that are stored band by band, row by row.
func (d *Arrays) planar(bands int) func(i, x, y, band int) int {
	return func(i, x, y, band int) int { return ((i*bands+band)*d.Height+y)*d.Width + x }
}

// checked refuses arrays whose parts do not fit together, or labels outside of the classes.
func (d *Arrays) checked(bands int) (*Arrays, error) {
	if len(d.pixels) != len(d.Labels)*bands*d.Height*d.Width {
		return nil, fmt.Errorf("datasets: %d bytes of pixels for %d images of %d x %d x %d", len(d.pixels),
			len(d.Labels), bands, d.Height, d.Width)
	}
	for i, l := range d.Labels {
		if l < -1 || l >= len(d.Classes) {
			return nil, fmt.Errorf("datasets: label %d is %d, want less than %d", i, l, len(d.Classes))
		}
	}
	return d, nil
}

// notThere adds what to do to an error about a file that is not there.
func notThere(err error, name, root string) error {
	if os.IsNotExist(err) {
		return fmt.Errorf("%w: datasets.Download(ctx, %q, %q) fetches the data set", err, name, root)
	}
	return err
}

// fromIDX reads a data set in MNIST's format.
func fromIDX(name, root, folder, prefix string, classes []string) (*Arrays, error) {
	var file [2]string
	for i, kind := range []string{"images-idx3-ubyte", "labels-idx1-ubyte"} {
		file[i] = filepath.Join(root, folder, "raw", prefix+"-"+kind)
		if _, err := os.Stat(file[i]); err != nil {
			if _, e := os.Stat(file[i] + ".gz"); e == nil {
				file[i] += ".gz"
			}
		}
	}
	set, err := mnist.LoadFiles(file[0], file[1], len(classes))
	if err != nil {
		return nil, notThere(err, name, root)
	}
	d := &Arrays{Classes: classes, Mode: "L", Height: set.Rows, Width: set.Cols, pixels: set.Images}
	for _, l := range set.Labels {
		d.Labels = append(d.Labels, int(l))
	}
	d.at = d.planar(1)
	return d.checked(1)
}

// part is the beginning of the names of MNIST's files.
func part(train bool) string {
	if train {
		return "train"
	}
	return "t10k"
}

// NewMNIST reads the handwritten digits below root/MNIST/raw: 60,000 images to train on, or 10,000 others.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.MNIST.html
func NewMNIST(root string, train bool) (*Arrays, error) {
	return fromIDX("MNIST", root, "MNIST", part(train), mnistClasses)
}

// NewFashionMNIST reads the pictures of clothes below root/FashionMNIST/raw.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.FashionMNIST.html
func NewFashionMNIST(root string, train bool) (*Arrays, error) {
	return fromIDX("FashionMNIST", root, "FashionMNIST", part(train), fashionClasses)
}

// NewKMNIST reads the Japanese characters below root/KMNIST/raw.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.KMNIST.html
func NewKMNIST(root string, train bool) (*Arrays, error) {
	return fromIDX("KMNIST", root, "KMNIST", part(train), kmnistClasses)
}

// NewEMNIST reads a split of the handwritten characters below root/EMNIST/raw: byclass, bymerge, balanced, letters,
// digits or mnist. As in torchvision the images are as in the files: mirrored and turned.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.EMNIST.html
func NewEMNIST(root, split string, train bool) (*Arrays, error) {
	classes, ok := emnistClasses()[split]
	if !ok {
		return nil, fmt.Errorf("datasets: EMNIST has no split %q, but byclass, bymerge, balanced, letters, digits and "+
			"mnist", split)
	}
	name := "test"
	if train {
		name = "train"
	}
	return fromIDX("EMNIST", root, "EMNIST", "emnist-"+split+"-"+name, classes)
}

// NewCIFAR10 reads the small photographs of ten classes below root/cifar-10-batches-py.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.CIFAR10.html
func NewCIFAR10(root string, train bool) (*Arrays, error) {
	files := []string{"test_batch"}
	if train {
		files = []string{"data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5"}
	}
	return cifar("CIFAR10", root, "cifar-10-batches-py", files, "labels", "batches.meta", "label_names")
}

// NewCIFAR100 reads the small photographs of a hundred classes below root/cifar-100-python.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.CIFAR100.html
func NewCIFAR100(root string, train bool) (*Arrays, error) {
	file := "test"
	if train {
		file = "train"
	}
	return cifar("CIFAR100", root, "cifar-100-python", []string{file}, "fine_labels", "meta", "fine_label_names")
}

// field is an entry of a Python dict whose keys are str or, in files of Python 2, bytes.
func field(d *serialize.Dict, key string) any {
	for k, v := range d.All() {
		if b, ok := k.([]byte); ok && string(b) == key || k == any(key) {
			return v
		}
	}
	return nil
}

// cifar reads pickled batches of images.
func cifar(name, root, folder string, files []string, labels, meta, names string) (*Arrays, error) {
	d := &Arrays{Mode: "RGB", Height: 32, Width: 32}
	read := func(file string) (*serialize.Dict, error) {
		path := filepath.Join(root, folder, file)
		v, err := serialize.LoadPickle(path)
		if err != nil {
			return nil, notThere(err, name, root)
		}
		dict, ok := v.(*serialize.Dict)
		if !ok {
			return nil, fmt.Errorf("datasets: %s holds a %T, want a dict", path, v)
		}
		return dict, nil
	}
	m, err := read(meta)
	if err != nil {
		return nil, err
	}
	list, _ := field(m, names).([]any)
	for _, v := range list {
		if b, ok := v.([]byte); ok {
			v = string(b)
		}
		d.Classes = append(d.Classes, fmt.Sprint(v))
	}
	for _, file := range files {
		b, err := read(file)
		if err != nil {
			return nil, err
		}
		pixels, ok := field(b, "data").(*npy.Array)
		if !ok || pixels.DType != "uint8" || len(pixels.Shape) != 2 || pixels.Shape[1] != 3*32*32 {
			return nil, fmt.Errorf("datasets: %s in %s: no array \"data\" of bytes (N, 3072)", file, root)
		}
		d.pixels = append(d.pixels, pixels.RowMajor().Data...)
		list, _ := field(b, labels).([]any)
		for _, v := range list {
			l, ok := v.(int)
			if !ok {
				return nil, fmt.Errorf("datasets: %s in %s: a label is a %T, want a number", file, root, v)
			}
			d.Labels = append(d.Labels, l)
		}
	}
	d.at = d.planar(3)
	return d.checked(3)
}

// NewSVHN reads the house numbers in root: the split train, test or extra.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.SVHN.html
func NewSVHN(root, split string) (*Arrays, error) {
	switch split {
	case "train", "test", "extra":
	default:
		return nil, fmt.Errorf("datasets: SVHN has no split %q, but train, test and extra", split)
	}
	path := filepath.Join(root, split+"_32x32.mat")
	m, err := matfile.ReadFile(path)
	if err != nil {
		return nil, notThere(err, "SVHN", root)
	}
	x, y := m["X"], m["y"]
	if x == nil || y == nil || x.Bytes == nil || len(x.Dims) != 4 || x.Dims[2] != 3 || x.Dims[3] != y.Len() ||
		y.Bytes == nil && y.Numbers == nil {
		return nil, fmt.Errorf("datasets: %s: no arrays X (H, W, 3, N) of bytes and y (N, 1)", path)
	}
	d := &Arrays{Classes: digitClasses, Mode: "RGB", Height: x.Dims[0], Width: x.Dims[1], pixels: x.Bytes}
	for i := range y.Len() {
		l := int(y.At(i))
		if l == 10 { // MATLAB's zero
			l = 0
		}
		d.Labels = append(d.Labels, l)
	}
	d.at = func(i, x, y, band int) int { return ((i*3+band)*d.Width+x)*d.Height + y }
	return d.checked(3)
}

// NewSTL10 reads the photographs below root/stl10_binary: the split train, test, unlabeled (labels -1) or
// train+unlabeled.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.STL10.html
func NewSTL10(root, split string) (*Arrays, error) {
	d := &Arrays{Mode: "RGB", Height: 96, Width: 96}
	read := func(file string) ([]byte, error) {
		b, err := os.ReadFile(filepath.Join(root, "stl10_binary", file))
		return b, notThere(err, "STL10", root)
	}
	parts := map[string][]string{"train": {"train"}, "test": {"test"}, "unlabeled": {"unlabeled"},
		"train+unlabeled": {"train", "unlabeled"}}[split]
	if parts == nil {
		return nil, fmt.Errorf("datasets: STL10 has no split %q, but train, test, unlabeled and train+unlabeled", split)
	}
	names, err := read("class_names.txt")
	if err != nil {
		return nil, err
	}
	d.Classes = lines(string(names))
	for _, p := range parts {
		x, err := read(p + "_X.bin")
		if err != nil {
			return nil, err
		}
		d.pixels = append(d.pixels, x...)
		if p == "unlabeled" {
			for range len(x) / (3 * 96 * 96) {
				d.Labels = append(d.Labels, -1)
			}
			continue
		}
		y, err := read(p + "_y.bin")
		if err != nil {
			return nil, err
		}
		for _, l := range y {
			d.Labels = append(d.Labels, int(l)-1)
		}
	}
	d.at = func(i, x, y, band int) int { return ((i*3+band)*96+x)*96 + y }
	return d.checked(3)
}
