package datasets

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gotorch-dev/torch/internal/matfile"
)

// choose refuses a split that a data set does not have.
func choose(set, split string, of ...string) error {
	if !slices.Contains(of, split) {
		return fmt.Errorf("datasets: %s has no split %q, but %s", set, split, strings.Join(of, ", "))
	}
	return nil
}

// textLines reads the lines of a file of a data set; empty ones are left out.
func textLines(name, root string, elem ...string) ([]string, error) {
	b, err := os.ReadFile(filepath.Join(append([]string{root}, elem...)...))
	if err != nil {
		return nil, notThere(err, name, root)
	}
	var out []string
	for l := range strings.Lines(string(b)) {
		if l = strings.TrimSpace(l); l != "" {
			out = append(out, l)
		}
	}
	return out, nil
}

// local refuses names of files that lead out of the folder of a data set.
func local(name string) (string, error) {
	if n := filepath.FromSlash(name); filepath.IsLocal(n) {
		return n, nil
	}
	return "", fmt.Errorf("datasets: the name %q leads out of the data set", name)
}

// listed makes a data set of names of files below a folder and their classes, whose labels are those of the sorted
// classes.
func listed(root, ending string, names, classOf []string) (*DatasetFolder, error) {
	d := &DatasetFolder{Root: root, Loader: loadRGB, Classes: slices.Compact(slices.Sorted(slices.Values(classOf)))}
	for i, name := range names {
		name, err := local(name + ending)
		if err != nil {
			return nil, err
		}
		label, _ := slices.BinarySearch(d.Classes, classOf[i])
		d.Samples = append(d.Samples, File{filepath.Join(root, name), label})
	}
	return d, nil
}

// folderIn is an ImageFolder of a data set.
func folderIn(name, root string, elem ...string) (*ImageFolder, error) {
	d, err := NewImageFolder(filepath.Join(append([]string{root}, elem...)...))
	return d, notThere(err, name, root)
}

// NewFood101 reads the photographs of dishes below root/food-101: the split train or test.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.Food101.html
func NewFood101(root, split string) (*DatasetFolder, error) {
	if err := choose("Food101", split, "train", "test"); err != nil {
		return nil, err
	}
	path := filepath.Join(root, "food-101", "meta", split+".json")
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, notThere(err, "Food101", root)
	}
	var names, classOf []string
	var meta map[string][]string
	if err := json.Unmarshal(b, &meta); err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", path, err)
	}
	for _, class := range keysInOrder(b) {
		for _, n := range meta[class] {
			names, classOf = append(names, n), append(classOf, class)
		}
	}
	return listed(filepath.Join(root, "food-101", "images"), ".jpg", names, classOf)
}

// keysInOrder are the keys of a valid JSON object as they stand there, which is the order of torchvision's samples.
func keysInOrder(b []byte) (keys []string) {
	dec := json.NewDecoder(strings.NewReader(string(b)))
	depth := 0
	for {
		t, err := dec.Token()
		if err != nil {
			return keys
		}
		switch v := t.(type) {
		case json.Delim:
			if v == '{' || v == '[' {
				depth++
			} else {
				depth--
			}
		case string:
			if depth == 1 && !slices.Contains(keys, v) {
				keys = append(keys, v)
			}
		}
	}
}

// NewOxfordIIITPet reads the photographs of cats and dogs below root/oxford-iiit-pet: the split trainval or test. The
// classes are the breeds.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.OxfordIIITPet.html
func NewOxfordIIITPet(root, split string) (*DatasetFolder, error) {
	const name = "OxfordIIITPet"
	if err := choose(name, split, "trainval", "test"); err != nil {
		return nil, err
	}
	list, err := textLines(name, root, "oxford-iiit-pet", "annotations", split+".txt")
	if err != nil {
		return nil, err
	}
	d := &DatasetFolder{Root: filepath.Join(root, "oxford-iiit-pet", "images"), Loader: loadRGB}
	for _, l := range list {
		f := strings.Fields(l)
		label := 0
		if len(f) >= 2 {
			label, err = strconv.Atoi(f[1])
		}
		if label < 1 || label > 1000 || err != nil {
			return nil, fmt.Errorf("datasets: %s: the line %q of %s.txt has no label", name, l, split)
		}
		file, err := local(f[0] + ".jpg")
		if err != nil {
			return nil, err
		}
		d.Samples = append(d.Samples, File{filepath.Join(d.Root, file), label - 1})
		for len(d.Classes) < label {
			d.Classes = append(d.Classes, "")
		}
		if i := strings.LastIndexByte(f[0], '_'); i > 0 {
			d.Classes[label-1] = titled(f[0][:i])
		}
	}
	return d, nil
}

// titled turns yellow_dog into Yellow Dog.
func titled(s string) string {
	words := strings.Split(s, "_")
	for i, w := range words {
		if w != "" {
			words[i] = strings.ToUpper(w[:1]) + strings.ToLower(w[1:])
		}
	}
	return strings.Join(words, " ")
}

// NewFlowers102 reads the photographs of flowers below root/flowers-102: the split train, val or test. The classes have
// numbers for names, from 1 on.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.Flowers102.html
func NewFlowers102(root, split string) (*DatasetFolder, error) {
	const name, classes = "Flowers102", 102
	key := map[string]string{"train": "trnid", "val": "valid", "test": "tstid"}[split]
	if key == "" {
		return nil, choose(name, split, "train", "val", "test")
	}
	base := filepath.Join(root, "flowers-102")
	ids, err := matfile.ReadFile(filepath.Join(base, "setid.mat"))
	if err != nil {
		return nil, notThere(err, name, root)
	}
	all, err := matfile.ReadFile(filepath.Join(base, "imagelabels.mat"))
	if err != nil {
		return nil, notThere(err, name, root)
	}
	d := &DatasetFolder{Root: base, Loader: loadRGB}
	for i := range classes {
		d.Classes = append(d.Classes, strconv.Itoa(i+1))
	}
	at, labels := ids[key], all["labels"]
	if at == nil || labels == nil {
		return nil, fmt.Errorf("datasets: %s: setid.mat has no %s, or imagelabels.mat no labels", name, key)
	}
	for i := range at.Len() {
		id := at.At(i)
		if !(id >= 1 && id <= float64(labels.Len())) {
			return nil, fmt.Errorf("datasets: %s: image %v of %d", name, id, labels.Len())
		}
		l := labels.At(int(id) - 1)
		if !(l >= 1 && l <= classes) {
			return nil, fmt.Errorf("datasets: %s: image %v has label %v", name, id, l)
		}
		d.Samples = append(d.Samples, File{filepath.Join(base, "jpg", fmt.Sprintf("image_%05d.jpg", int(id))), int(l) - 1})
	}
	return d, nil
}

// NewDTD reads the describable textures below root/dtd: the split train, val or test of a partition from 1 to 10.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.DTD.html
func NewDTD(root, split string, partition int) (*DatasetFolder, error) {
	if err := choose("DTD", split, "train", "val", "test"); err != nil {
		return nil, err
	}
	if partition < 1 || partition > 10 {
		return nil, fmt.Errorf("datasets: DTD has partitions 1 to 10, not %d", partition)
	}
	names, err := textLines("DTD", root, "dtd", "dtd", "labels", split+strconv.Itoa(partition)+".txt")
	if err != nil {
		return nil, err
	}
	var classOf []string
	for _, n := range names {
		class, _, _ := strings.Cut(n, "/")
		classOf = append(classOf, class)
	}
	return listed(filepath.Join(root, "dtd", "dtd", "images"), "", names, classOf)
}

// NewFGVCAircraft reads the photographs of aircraft below root/fgvc-aircraft-2013b: the split train, val, trainval or
// test, with the classes of a level: variant, family or manufacturer.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.FGVCAircraft.html
func NewFGVCAircraft(root, split, level string) (*DatasetFolder, error) {
	const name = "FGVCAircraft"
	if err := choose(name, split, "train", "val", "trainval", "test"); err != nil {
		return nil, err
	}
	file := map[string]string{"variant": "variants.txt", "family": "families.txt",
		"manufacturer": "manufacturers.txt"}[level]
	if file == "" {
		return nil, fmt.Errorf("datasets: %s has no level %q, but variant, family and manufacturer", name, level)
	}
	base := filepath.Join(root, "fgvc-aircraft-2013b", "data")
	classes, err := textLines(name, root, "fgvc-aircraft-2013b", "data", file)
	if err != nil {
		return nil, err
	}
	list, err := textLines(name, root, "fgvc-aircraft-2013b", "data", "images_"+level+"_"+split+".txt")
	if err != nil {
		return nil, err
	}
	d := &DatasetFolder{Root: base, Classes: classes, Loader: loadRGB}
	for _, l := range list {
		id, class, _ := strings.Cut(l, " ")
		label := slices.Index(classes, strings.TrimSpace(class))
		file, err := local(id + ".jpg")
		if label < 0 || err != nil {
			return nil, fmt.Errorf("datasets: %s: the line %q names no file or none of the classes", name, l)
		}
		d.Samples = append(d.Samples, File{filepath.Join(base, "images", file), label})
	}
	return d, nil
}

// NewEuroSAT reads the satellite pictures below root/eurosat.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.EuroSAT.html
func NewEuroSAT(root string) (*ImageFolder, error) {
	return folderIn("EuroSAT", root, "eurosat", "2750")
}

// NewCountry211 reads the photographs of countries below root/country211: the split train, valid or test.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.Country211.html
func NewCountry211(root, split string) (*ImageFolder, error) {
	if err := choose("Country211", split, "train", "valid", "test"); err != nil {
		return nil, err
	}
	return folderIn("Country211", root, "country211", split)
}

// NewRenderedSST2 reads the pictures of sentences below root/rendered-sst2: the split train, val or test.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.RenderedSST2.html
func NewRenderedSST2(root, split string) (*ImageFolder, error) {
	if err := choose("RenderedSST2", split, "train", "val", "test"); err != nil {
		return nil, err
	}
	if split == "val" {
		split = "valid"
	}
	return folderIn("RenderedSST2", root, "rendered-sst2", split)
}

// imagenetteNames are the classes of Imagenette by the numbers of WordNet that its folders have for names.
var imagenetteNames = map[string]string{"n01440764": "tench", "n02102040": "English springer",
	"n02979186": "cassette player", "n03000684": "chain saw", "n03028079": "church", "n03394916": "French horn",
	"n03417042": "garbage truck", "n03425413": "gas pump", "n03445777": "golf ball", "n03888257": "parachute"}

// NewImagenette reads ten classes of ImageNet below root: the split train or val of the size full, 320px or 160px.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.Imagenette.html
func NewImagenette(root, split, size string) (*ImageFolder, error) {
	if err := choose("Imagenette", split, "train", "val"); err != nil {
		return nil, err
	}
	folder := map[string]string{"full": "imagenette2", "320px": "imagenette2-320", "160px": "imagenette2-160"}[size]
	if folder == "" {
		return nil, fmt.Errorf("datasets: Imagenette has no size %q, but full, 320px and 160px", size)
	}
	d, err := folderIn("Imagenette "+size, root, folder, split)
	if err != nil {
		return nil, err
	}
	for i, c := range d.Classes {
		if name := imagenetteNames[c]; name != "" {
			d.Classes[i] = name
		}
	}
	return d, nil
}

// NewImageNet reads the photographs below root/train or root/val, which have to be unpacked there already: the data set
// is not given away without a registration. The classes are the numbers of WordNet.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.ImageNet.html
func NewImageNet(root, split string) (*ImageFolder, error) {
	if err := choose("ImageNet", split, "train", "val"); err != nil {
		return nil, err
	}
	return NewImageFolder(filepath.Join(root, split))
}

// NewCaltech101 reads the photographs of 101 classes below root/caltech101.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.Caltech101.html
func NewCaltech101(root string) (*ImageFolder, error) {
	return without("Caltech101", "BACKGROUND_Google", root, "caltech101", "101_ObjectCategories")
}

// NewCaltech256 reads the photographs of 257 classes below root/caltech256.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.Caltech256.html
func NewCaltech256(root string) (*ImageFolder, error) {
	return without("Caltech256", "", root, "caltech256", "256_ObjectCategories")
}

// without is an ImageFolder of the JPEG files of a data set but for one class.
func without(name, class, root string, elem ...string) (*ImageFolder, error) {
	base := filepath.Join(append([]string{root}, elem...)...)
	classes, err := FindClasses(base)
	if err != nil {
		return nil, notThere(err, name, root)
	}
	classes = slices.DeleteFunc(classes, func(c string) bool { return c == class })
	return folderOf(base, classes, classes, FolderOptions{Extensions: []string{".jpg"}})
}

// NewSUN397 reads the photographs of scenes below root/SUN397. Within a class the files are sorted, which torchvision
// leaves to the file system.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.SUN397.html
func NewSUN397(root string) (*DatasetFolder, error) {
	list, err := textLines("SUN397", root, "SUN397", "ClassName.txt")
	if err != nil {
		return nil, err
	}
	var folders, classes []string
	for _, l := range list { // /a/abbey
		folder, err := local(strings.TrimPrefix(l, "/"))
		if err != nil || len(l) < 4 {
			return nil, fmt.Errorf("datasets: SUN397: ClassName.txt has the line %q", l)
		}
		folders, classes = append(folders, folder), append(classes, l[3:])
	}
	return folderOf(filepath.Join(root, "SUN397"), folders, classes, FolderOptions{Extensions: []string{".jpg"}})
}
