package datasets

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/gotorch-dev/torch/internal/matfile"
	"github.com/gotorch-dev/torch/tensor"
	"github.com/gotorch-dev/torch/vision/pil"
)

// This file reads data sets whose annotations are structures of MATLAB.

// NewStanfordCars reads the cars below root/stanford_cars: the split train or test. Nobody offers the files for download
// any more.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.StanfordCars.html
func NewStanfordCars(root, split string) (*DatasetFolder, error) {
	const name = "StanfordCars"
	if err := choose(name, split, "train", "test"); err != nil {
		return nil, err
	}
	base := filepath.Join(root, "stanford_cars")
	devkit := filepath.Join(base, "devkit")
	list := filepath.Join(devkit, "cars_train_annos.mat")
	if split == "test" {
		list = filepath.Join(base, "cars_test_annos_withlabels.mat")
	}
	meta, err := matfile.ReadFile(filepath.Join(devkit, "cars_meta.mat"))
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", name, err)
	}
	all, err := matfile.ReadFile(list)
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", name, err)
	}
	d := &DatasetFolder{Root: filepath.Join(base, "cars_"+split), Loader: loadRGB}
	classes := meta["class_names"]
	if classes == nil || len(classes.Cells) == 0 {
		return nil, fmt.Errorf("datasets: %s: cars_meta.mat has no cells class_names", name)
	}
	for _, c := range classes.Cells {
		d.Classes = append(d.Classes, c.Text)
	}
	cars := all["annotations"]
	if cars == nil || cars.Fields["fname"] == nil || cars.Fields["class"] == nil {
		return nil, fmt.Errorf("datasets: %s: %s has no structures annotations with fname and class", name, list)
	}
	for i, file := range cars.Fields["fname"] {
		class := cars.Fields["class"][i]
		if file == nil || class == nil || class.Len() != 1 {
			return nil, fmt.Errorf("datasets: %s: annotation %d has no class", name, i)
		}
		if l := class.At(0); !(l >= 1 && l <= float64(len(d.Classes))) {
			return nil, fmt.Errorf("datasets: %s: annotation %d has class %v of %d", name, i, l, len(d.Classes))
		}
		path, err := local(file.Text)
		if err != nil {
			return nil, err
		}
		d.Samples = append(d.Samples, File{filepath.Join(d.Root, path), int(class.At(0)) - 1})
	}
	return d, nil
}

// SBD is the data set of semantic boundaries: images with the classes of their pixels, or with the boundaries of the
// objects. The files are read when they are asked for.
type SBD struct {
	Images, Masks []string // paths
}

// NewSBDataset reads the images in root, or in root/benchmark_RELEASE/dataset, where Download puts them: the split train,
// val or train_noval.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.SBDataset.html
func NewSBDataset(root, split string) (*SBD, error) {
	const name = "SBDataset"
	if err := choose(name, split, "train", "val", "train_noval"); err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(root, split+".txt")); err != nil {
		if below := filepath.Join(root, "benchmark_RELEASE", "dataset"); isDir(below) {
			root = below
		}
	}
	names, err := textLines(name, root, split+".txt")
	if err != nil {
		return nil, err
	}
	d := &SBD{}
	for _, n := range names {
		if n, err = local(n); err != nil {
			return nil, err
		}
		d.Images = append(d.Images, filepath.Join(root, "img", n+".jpg"))
		d.Masks = append(d.Masks, filepath.Join(root, "cls", n+".mat"))
	}
	return d, nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Len is the number of images.
func (d *SBD) Len() int { return len(d.Images) }

// Get is image i and a grey image with the class of each pixel, 0 for the background, as torchvision's mode
// segmentation.
func (d *SBD) Get(i int) (x Labeled[*pil.Image], err error) {
	if i < 0 || i >= len(d.Images) {
		return x, outOfRange(i, len(d.Images))
	}
	if x.Image, err = loadRGB(d.Images[i]); err != nil {
		return x, err
	}
	seg, err := d.field(i, "Segmentation")
	if err != nil {
		return x, err
	}
	if len(seg.Dims) != 2 || seg.Bytes == nil {
		return x, fmt.Errorf("datasets: %s: Segmentation is no array of bytes", d.Masks[i])
	}
	h, w := seg.Dims[0], seg.Dims[1]
	x.Target = &pil.Image{Mode: "L", Width: w, Height: h, Pix: make([]uint8, h*w)}
	for p, v := range seg.Bytes { // columns become rows
		x.Target.Pix[p%h*w+p/h] = v
	}
	return x, nil
}

// Boundaries is a tensor (20, H, W), uint8, that is 1 on the boundaries of each class in image i, as torchvision's mode
// boundaries.
func (d *SBD) Boundaries(i int) (*tensor.Tensor, error) {
	const classes, most = 20, 1 << 28
	if i < 0 || i >= len(d.Images) {
		return nil, outOfRange(i, len(d.Images))
	}
	b, err := d.field(i, "Boundaries")
	if err != nil {
		return nil, err
	}
	if len(b.Cells) != classes || b.Cells[0] == nil || len(b.Cells[0].Dims) != 2 || b.Cells[0].Len() > most/classes {
		return nil, fmt.Errorf("datasets: %s: Boundaries are not %d sparse arrays", d.Masks[i], classes)
	}
	h, w := b.Cells[0].Dims[0], b.Cells[0].Dims[1]
	out := make([]uint8, classes*h*w)
	for c, a := range b.Cells {
		if a == nil || a.Sparse == nil || a.Dims[0] != h || a.Dims[1] != w {
			return nil, fmt.Errorf("datasets: %s: Boundaries of class %d are no sparse array of %d x %d", d.Masks[i], c, h,
				w)
		}
		for x := range w {
			for k := a.Sparse.Start[x]; k < a.Sparse.Start[x+1]; k++ {
				out[(c*h+int(a.Sparse.Rows[k]))*w+x] = uint8(a.Sparse.Numbers[k])
			}
		}
	}
	return tensor.FromSlice(out, classes, h, w), nil
}

// field is a field of the structure GTcls of image i.
func (d *SBD) field(i int, name string) (*matfile.Array, error) {
	m, err := matfile.ReadFile(d.Masks[i])
	if err != nil {
		return nil, err
	}
	if g := m["GTcls"]; g != nil && len(g.Fields[name]) > 0 && g.Fields[name][0] != nil {
		return g.Fields[name][0], nil
	}
	return nil, fmt.Errorf("datasets: %s has no GTcls.%s", d.Masks[i], name)
}
