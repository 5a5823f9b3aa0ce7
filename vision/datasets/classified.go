package datasets

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// This file reads data sets of files with a class each, which are named in lists or by folders.

// NewGTSRB reads the German traffic signs below root/gtsrb: the split train or test. The classes have numbers for
// names.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.GTSRB.html
func NewGTSRB(root, split string) (*DatasetFolder, error) {
	const name, classes = "GTSRB", 43
	if err := choose(name, split, "train", "test"); err != nil {
		return nil, err
	}
	base := filepath.Join(root, "gtsrb")
	if split == "train" {
		dir := filepath.Join(base, "GTSRB", "Training")
		d, err := NewDatasetFolder(dir, FolderOptions{Extensions: []string{".ppm"}})
		return d, notThere(err, name, root)
	}
	f, err := os.Open(filepath.Join(base, "GT-final_test.csv"))
	if err != nil {
		return nil, notThere(err, name, root)
	}
	defer func() { _ = f.Close() }() // only read
	r := csv.NewReader(f)
	r.Comma, r.TrimLeadingSpace = ';', true
	rows, err := r.ReadAll()
	if err != nil || len(rows) == 0 {
		return nil, fmt.Errorf("datasets: %s: no rows: %w", f.Name(), err)
	}
	file, class := slices.Index(rows[0], "Filename"), slices.Index(rows[0], "ClassId")
	if file < 0 || class < 0 {
		return nil, fmt.Errorf("datasets: %s has no columns Filename and ClassId", f.Name())
	}
	d := &DatasetFolder{Root: filepath.Join(base, "GTSRB", "Final_Test", "Images"), Loader: loadRGB}
	for i := range classes {
		d.Classes = append(d.Classes, fmt.Sprintf("%05d", i))
	}
	for _, row := range rows[1:] {
		if err := d.add(row[file], row[class]); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// add adds a file, named below the root, with the number of its class.
func (d *DatasetFolder) add(file, label string) error {
	l, err := strconv.Atoi(label)
	if err != nil || l < 0 || l >= len(d.Classes) {
		return fmt.Errorf("datasets: %s has label %q, want less than %d", file, label, len(d.Classes))
	}
	name, err := local(file)
	if err != nil {
		return err
	}
	d.Samples = append(d.Samples, File{filepath.Join(d.Root, name), l})
	return nil
}

// NewOmniglot reads the handwritten characters below root/omniglot-py: those of the background alphabets, or those to
// evaluate with. The images are grey.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.Omniglot.html
func NewOmniglot(root string, background bool) (*DatasetFolder, error) {
	folder := "images_evaluation"
	if background {
		folder = "images_background"
	}
	base := filepath.Join(root, "omniglot-py", folder)
	alphabets, err := FindClasses(base)
	if err != nil {
		return nil, notThere(err, "Omniglot", root)
	}
	var characters []string
	for _, a := range alphabets {
		list, err := FindClasses(filepath.Join(base, a))
		if err != nil {
			return nil, err
		}
		for _, c := range list {
			characters = append(characters, a+"/"+c)
		}
	}
	return folderOf(base, characters, characters, FolderOptions{Extensions: []string{".png"}, Loader: loadGray,
		AllowEmpty: true})
}

// NewPlaces365 reads the photographs of places in root: the split train-standard, train-challenge, val or test (labels
// -1), as small images of 256 x 256 or as large ones.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.Places365.html
func NewPlaces365(root, split string, small bool) (*DatasetFolder, error) {
	const name = "Places365"
	list := map[string]string{"train-standard": "places365_train_standard.txt",
		"train-challenge": "places365_train_challenge.txt", "val": "places365_val.txt",
		"test": "places365_test.txt"}[split]
	if list == "" {
		return nil, choose(name, split, "train-standard", "train-challenge", "val", "test")
	}
	categories, err := textLines(name, root, "categories_places365.txt")
	if err != nil {
		return nil, err
	}
	byNumber := map[string]int{}
	for _, l := range categories {
		f := strings.Fields(l)
		n, err := strconv.Atoi(f[len(f)-1])
		if err != nil || len(f) != 2 {
			return nil, fmt.Errorf("datasets: %s: categories_places365.txt has the line %q", name, l)
		}
		byNumber[f[0]] = n
	}
	images, err := textLines(name, root, list)
	if err != nil {
		return nil, err
	}
	size := "large"
	if small {
		size = "256"
	}
	folder := split + "_" + size
	if variant, ok := strings.CutPrefix(split, "train-"); ok {
		folder = "data_" + size + "_" + variant
	}
	d := &DatasetFolder{Root: filepath.Join(root, folder), Loader: loadRGB,
		Classes: slices.Sorted(maps.Keys(byNumber))}
	for _, l := range images {
		file, label, labelled := strings.Cut(l, " ")
		if file = strings.TrimLeft(file, "/"); labelled {
			err = d.add(file, strings.TrimSpace(label))
		} else {
			var at string
			at, err = local(file)
			d.Samples = append(d.Samples, File{filepath.Join(d.Root, at), -1})
		}
		if err != nil {
			return nil, err
		}
	}
	return d, nil
}

// NewCLEVRClassification reads the pictures of solids below root/clevr, with their number as label, -1 in the test set:
// the split train, val or test.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.CLEVRClassification.html
func NewCLEVRClassification(root, split string) (*DatasetFolder, error) {
	const name = "CLEVRClassification"
	if err := choose(name, split, "train", "val", "test"); err != nil {
		return nil, err
	}
	base := filepath.Join(root, "clevr", "CLEVR_v1.0")
	d := &DatasetFolder{Root: filepath.Join(base, "images", split), Loader: loadRGB}
	files, err := os.ReadDir(d.Root)
	if err != nil {
		return nil, notThere(err, name, root)
	}
	solids := map[string]int{}
	if split != "test" {
		b, err := os.ReadFile(filepath.Join(base, "scenes", "CLEVR_"+split+"_scenes.json"))
		if err != nil {
			return nil, notThere(err, name, root)
		}
		var content struct {
			Scenes []struct {
				File    string            `json:"image_filename"`
				Objects []json.RawMessage `json:"objects"`
			}
		}
		if err := json.Unmarshal(b, &content); err != nil {
			return nil, fmt.Errorf("datasets: %s: %w", name, err)
		}
		for _, s := range content.Scenes {
			solids[s.File] = len(s.Objects)
		}
	}
	for _, f := range files {
		label, ok := solids[f.Name()]
		if !ok {
			if split != "test" {
				return nil, fmt.Errorf("datasets: %s: no scene for %s", name, f.Name())
			}
			label = -1
		}
		for len(d.Classes) <= label {
			d.Classes = append(d.Classes, strconv.Itoa(len(d.Classes)))
		}
		d.Samples = append(d.Samples, File{filepath.Join(d.Root, f.Name()), label})
	}
	return d, nil
}

// inaturalistLevels are the levels of the names of the folders of 2021.
var inaturalistLevels = []string{"kingdom", "phylum", "class", "order", "family", "genus"}

// NewINaturalist reads the photographs of nature below root/version: the version 2017, 2018, 2019, 2021_train,
// 2021_train_mini or 2021_valid. The labels are those of a target: full (the species), or super before 2021, or since
// then kingdom, phylum, class, order, family or genus. Within a species the files are sorted, which torchvision leaves
// to the file system.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.INaturalist.html
func NewINaturalist(root, version, target string) (*DatasetFolder, error) {
	const name = "INaturalist"
	if err := choose(name, version, "2017", "2018", "2019", "2021_train", "2021_train_mini",
		"2021_valid"); err != nil {
		return nil, err
	}
	base, since2021 := filepath.Join(root, version), strings.HasPrefix(version, "2021")
	targets := []string{"full", "super"}
	if since2021 {
		targets = append([]string{"full"}, inaturalistLevels...)
	}
	if !slices.Contains(targets, target) {
		return nil, fmt.Errorf("datasets: %s of %s has no target %q, but %s", name, version, target,
			strings.Join(targets, ", "))
	}
	top, err := FindClasses(base)
	if err != nil {
		return nil, notThere(err, name+" "+version, root)
	}
	folders := top // of the species, by their number
	if !since2021 {
		if folders, err = speciesBefore2021(base, top, version == "2017"); err != nil {
			return nil, err
		}
	}
	d, err := folderOf(base, folders, folders, FolderOptions{IsValidFile: func(string) bool { return true },
		AllowEmpty: true})
	if err != nil || target == "full" {
		return d, err
	}
	if d.Classes = top; since2021 {
		d.Classes = nil // in the order in which the species name them
	}
	label := make([]int, len(folders)) // of a species
	for i, f := range folders {
		class := strings.Split(filepath.ToSlash(f), "/")[0]
		if since2021 {
			pieces := strings.Split(f, "_")
			if len(pieces) != 8 || pieces[0] != fmt.Sprintf("%05d", i) {
				return nil, fmt.Errorf("datasets: %s: the folder %s should be %05d and seven names", name, f, i)
			}
			class = pieces[1+slices.Index(inaturalistLevels, target)]
		}
		if label[i] = slices.Index(d.Classes, class); label[i] < 0 {
			label[i] = len(d.Classes)
			d.Classes = append(d.Classes, class)
		}
	}
	for i, s := range d.Samples {
		d.Samples[i].Label = label[s.Label]
	}
	return d, nil
}

// speciesBefore2021 are the folders of the species by their numbers: counted in the order of the names, or the names
// themselves.
func speciesBefore2021(base string, top []string, counted bool) ([]string, error) {
	byNumber, n := map[int]string{}, 0
	for _, super := range top {
		list, err := FindClasses(filepath.Join(base, super))
		if err != nil {
			return nil, err
		}
		for _, species := range list {
			number := n
			if !counted {
				if number, err = strconv.Atoi(species); err != nil || number < 0 {
					return nil, fmt.Errorf("datasets: INaturalist: the folder %s/%s has no number for a name", super,
						species)
				}
			}
			if byNumber[number] != "" {
				return nil, fmt.Errorf("datasets: INaturalist: there are two species %d", number)
			}
			byNumber[number] = filepath.Join(super, species)
			n++
		}
	}
	out := make([]string, n)
	for i := range out {
		if out[i] = byNumber[i]; out[i] == "" {
			return nil, fmt.Errorf("datasets: INaturalist: species %d is missing", i)
		}
	}
	return out, nil
}
