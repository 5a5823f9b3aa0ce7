package datasets

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	visionio "github.com/gotorch-dev/torch/vision/io"
	"github.com/gotorch-dev/torch/vision/pil"
)

// File is an image file and the number of its class.
type File struct {
	Path  string
	Label int
}

// DatasetFolder is a data set of files, which are read when they are asked for. Its images have three channels unless
// Loader does something else.
type DatasetFolder struct {
	Root    string
	Classes []string // names of the classes
	Samples []File
	Loader  func(path string) (*pil.Image, error)
}

// ImageFolder is a DatasetFolder of images.
type ImageFolder = DatasetFolder

// FolderOptions are the options of NewDatasetFolder and NewImageFolder.
type FolderOptions struct {
	Extensions  []string                              // of the files, with the dot; default those of images
	IsValidFile func(path string) bool                // instead of Extensions
	Loader      func(path string) (*pil.Image, error) // default an image of three channels
	AllowEmpty  bool                                  // classes without files are no error
}

// imageExtensions are those of torchvision and GIF's.
var imageExtensions = []string{".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp", ".gif"}

// loadRGB reads an image of three channels, as it is stored: torchvision, too, leaves out how the camera was held.
func loadRGB(path string) (*pil.Image, error) {
	return visionio.Open(path, visionio.DecodeOptions{Mode: visionio.RGB, IgnoreOrientation: true})
}

// loadGray reads an image of one channel.
func loadGray(path string) (*pil.Image, error) {
	return visionio.Open(path, visionio.DecodeOptions{Mode: visionio.Gray, IgnoreOrientation: true})
}

// IsImageFile tells by the ending whether a file is an image.
func IsImageFile(name string) bool { return hasExtension(name, imageExtensions) }

func hasExtension(name string, extensions []string) bool {
	return slices.Contains(extensions, strings.ToLower(filepath.Ext(name)))
}

// FindClasses lists the folders in a folder, sorted: the classes of an ImageFolder.
func FindClasses(root string) ([]string, error) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, fmt.Errorf("datasets: %w", err)
	}
	var names []string
	for _, e := range entries {
		if st, err := os.Stat(filepath.Join(root, e.Name())); err == nil && st.IsDir() { // links to folders, too
			names = append(names, e.Name())
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("datasets: couldn't find any class folder in %s", root)
	}
	return names, nil
}

// NewImageFolder makes a data set of a folder that has a folder of images for each class; those may have folders in
// turn. Classes and files are sorted by name.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.ImageFolder.html
func NewImageFolder(root string, opts ...FolderOptions) (*ImageFolder, error) {
	return NewDatasetFolder(root, opts...)
}

// NewDatasetFolder is NewImageFolder for files of any kind.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.DatasetFolder.html
func NewDatasetFolder(root string, opts ...FolderOptions) (*DatasetFolder, error) {
	classes, err := FindClasses(root)
	if err != nil {
		return nil, err
	}
	return folderOf(root, classes, classes, opts...)
}

// folderOf makes a data set of the files below the folders of the classes.
func folderOf(root string, folders, classes []string, opts ...FolderOptions) (*DatasetFolder, error) {
	var o FolderOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	if o.Extensions == nil {
		o.Extensions = imageExtensions
	}
	if o.IsValidFile == nil {
		o.IsValidFile = func(path string) bool { return hasExtension(path, o.Extensions) }
	}
	d := &DatasetFolder{Root: root, Classes: classes, Loader: o.Loader}
	if d.Loader == nil {
		d.Loader = loadRGB
	}
	var empty []string
	for label, name := range folders {
		before := len(d.Samples)
		err := walk(filepath.Join(root, name), func(path string) {
			if o.IsValidFile(path) {
				d.Samples = append(d.Samples, File{path, label})
			}
		})
		if err != nil {
			return nil, fmt.Errorf("datasets: %w", err)
		}
		if len(d.Samples) == before {
			empty = append(empty, name)
		}
	}
	if len(empty) > 0 && !o.AllowEmpty {
		return nil, fmt.Errorf("datasets: found no valid file for the classes %s in %s; supported extensions are: %s",
			strings.Join(empty, ", "), root, strings.Join(o.Extensions, ", "))
	}
	return d, nil
}

// walk visits the files below a folder in the order of Python's sorted(os.walk(…)): the files of a folder, sorted,
// before the files of its folders, sorted.
func walk(dir string, visit func(path string)) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var dirs []string
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		kind := e.Type()
		if kind&fs.ModeSymlink != 0 {
			st, err := os.Stat(path)
			if err != nil {
				continue // a link to nothing is no sample
			}
			kind = st.Mode().Type()
		}
		if kind.IsDir() {
			if e.Type()&fs.ModeSymlink == 0 { // a link to a folder above would never end
				dirs = append(dirs, path)
			}
		} else {
			visit(path)
		}
	}
	for _, d := range dirs {
		if err := walk(d, visit); err != nil {
			return err
		}
	}
	return nil
}

// Len is the number of images.
func (d *DatasetFolder) Len() int { return len(d.Samples) }

// Get reads image i.
func (d *DatasetFolder) Get(i int) (Sample, error) {
	if i < 0 || i >= len(d.Samples) {
		return Sample{}, outOfRange(i, len(d.Samples))
	}
	im, err := d.Loader(d.Samples[i].Path)
	if err != nil {
		return Sample{}, err
	}
	return Sample{im, d.Samples[i].Label}, nil
}

// Targets are the labels of all images.
func (d *DatasetFolder) Targets() []int {
	out := make([]int, len(d.Samples))
	for i, s := range d.Samples {
		out[i] = s.Label
	}
	return out
}

// ClassToIdx gives the label of each class.
func (d *DatasetFolder) ClassToIdx() map[string]int {
	out := map[string]int{}
	for i, c := range d.Classes {
		out[c] = i
	}
	return out
}
