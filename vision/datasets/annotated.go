package datasets

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gotorch-dev/torch/vision/pil"
)

// Labeled is an image with what a data set says of it.
type Labeled[T any] struct {
	Image  *pil.Image
	Target T
}

// Annotated is a data set of image files with a target of type T each. The files are read when they are asked for.
type Annotated[T any] struct {
	Paths   []string
	Targets []T
	// Loader reads an image, by default one of three channels.
	Loader func(path string) (*pil.Image, error)
}

// Len is the number of images.
func (d *Annotated[T]) Len() int { return len(d.Paths) }

// Get reads image i.
func (d *Annotated[T]) Get(i int) (x Labeled[T], err error) {
	if i < 0 || i >= len(d.Paths) {
		return x, outOfRange(i, len(d.Paths))
	}
	load := d.Loader
	if load == nil {
		load = loadRGB
	}
	x.Target = d.Targets[i]
	x.Image, err = load(d.Paths[i])
	return x, err
}

// add adds the file of a name below a folder.
func (d *Annotated[T]) add(folder, name string, target T) error {
	name, err := local(name)
	if err == nil {
		d.Paths, d.Targets = append(d.Paths, filepath.Join(folder, name)), append(d.Targets, target)
	}
	return err
}

// numbers reads n integers.
func numbers(fields []string, n int) ([]int, error) {
	if len(fields) != n {
		return nil, fmt.Errorf("%d numbers, want %d", len(fields), n)
	}
	out := make([]int, n)
	for i, f := range fields {
		var err error
		if out[i], err = strconv.Atoi(f); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// CelebAFace is what CelebA says of a face.
type CelebAFace struct {
	Attributes []bool    // by CelebA.AttrNames
	Identity   int       // whose face it is
	Box        [4]int    // x, y, width and height in the image before it was cut out
	Landmarks  [5][2]int // x and y of the left and the right eye, the nose, the left and the right corner of the mouth
}

// CelebA is the data set of celebrities' faces.
type CelebA struct {
	Annotated[CelebAFace]
	AttrNames []string // names of the attributes
}

// NewCelebA reads the faces below root/celeba: the split train, valid, test or all.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.CelebA.html
func NewCelebA(root, split string) (*CelebA, error) {
	const name = "CelebA"
	if err := choose(name, split, "train", "valid", "test", "all"); err != nil {
		return nil, err
	}
	want := slices.Index([]string{"train", "valid", "test"}, split)
	d := &CelebA{}
	// rows reads a file of a name and numbers in each line, behind a line with their number and one with their names.
	rows := func(file string, columns int, head bool) (names []string, values [][]int, err error) {
		list, err := textLines(name, root, "celeba", file)
		if err != nil {
			return nil, nil, err
		}
		if head {
			if len(list) < 2 {
				return nil, nil, fmt.Errorf("datasets: %s: %s is too short", name, file)
			}
			if columns == 0 {
				d.AttrNames = strings.Fields(list[1])
				columns = len(d.AttrNames)
			}
			list = list[2:]
		}
		for i, l := range list {
			f := strings.Fields(l)
			v, err := numbers(f[1:], columns)
			if err != nil {
				return nil, nil, fmt.Errorf("datasets: %s: row %d of %s: %w", name, i, file, err)
			}
			names, values = append(names, f[0]), append(values, v)
		}
		return names, values, nil
	}
	names, part, err := rows("list_eval_partition.txt", 1, false)
	if err != nil {
		return nil, err
	}
	var tables [4][][]int
	for i, t := range []struct {
		file    string
		columns int
		head    bool
	}{{"list_attr_celeba.txt", 0, true}, {"identity_CelebA.txt", 1, false}, {"list_bbox_celeba.txt", 4, true},
		{"list_landmarks_align_celeba.txt", 10, true}} {
		if _, tables[i], err = rows(t.file, t.columns, t.head); err != nil {
			return nil, err
		}
		if len(tables[i]) != len(names) {
			return nil, fmt.Errorf("datasets: %s: %s has %d rows for %d images", name, t.file, len(tables[i]),
				len(names))
		}
	}
	for i, file := range names {
		if want >= 0 && part[i][0] != want {
			continue
		}
		x := CelebAFace{Identity: tables[1][i][0], Box: [4]int(tables[2][i])}
		for _, v := range tables[0][i] {
			x.Attributes = append(x.Attributes, v > 0)
		}
		for k := range x.Landmarks {
			x.Landmarks[k] = [2]int(tables[3][i][2*k:])
		}
		if err := d.add(filepath.Join(root, "celeba", "img_align_celeba"), file, x); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// NewSBU reads the photographs with captions below root/dataset, of which those are left out that are not there.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.SBU.html
func NewSBU(root string) (*Annotated[string], error) {
	base := filepath.Join(root, "dataset")
	addresses, err := textLines("SBU", root, "dataset", "SBU_captioned_photo_dataset_urls.txt")
	if err != nil {
		return nil, err
	}
	captions, err := textLines("SBU", root, "dataset", "SBU_captioned_photo_dataset_captions.txt")
	if err != nil {
		return nil, err
	}
	d := &Annotated[string]{}
	for i := range min(len(addresses), len(captions)) {
		file := addresses[i][strings.LastIndexByte(addresses[i], '/')+1:]
		if _, err := os.Stat(filepath.Join(base, file)); err != nil {
			continue
		}
		if err := d.add(base, file, captions[i]); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// captioned is a data set of the files in root with their captions, sorted by name.
func captioned(root string, captions map[string][]string) (*Annotated[[]string], error) {
	d := &Annotated[[]string]{}
	for _, file := range sortedKeys(captions) {
		if err := d.add(root, file, captions[file]); err != nil {
			return nil, err
		}
	}
	return d, nil
}

func sortedKeys[T any](m map[string]T) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// NewFlickr30k reads the photographs in root with the captions of a file: lines of a name, # and a number, a tabulator
// and a caption.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.Flickr30k.html
func NewFlickr30k(root, annFile string) (*Annotated[[]string], error) {
	list, err := textLines("Flickr30k", filepath.Dir(annFile), filepath.Base(annFile))
	if err != nil {
		return nil, err
	}
	captions := map[string][]string{}
	for _, l := range list {
		id, caption, ok := strings.Cut(l, "\t")
		if !ok || len(id) < 3 {
			return nil, fmt.Errorf("datasets: Flickr30k: %s has the line %q", annFile, l)
		}
		captions[id[:len(id)-2]] = append(captions[id[:len(id)-2]], caption)
	}
	return captioned(root, captions)
}

// NewFlickr8k reads the photographs in root with the captions of a file: a page with a table of links, each followed by
// a list of captions. The number of a photograph, of which the link's address ends, begins its file's name.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.Flickr8k.html
func NewFlickr8k(root, annFile string) (*Annotated[[]string], error) {
	page, err := os.ReadFile(annFile)
	if err != nil {
		return nil, fmt.Errorf("datasets: Flickr8k: %w", err)
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, fmt.Errorf("datasets: Flickr8k: %w", err)
	}
	fileOf := map[string]string{} // by number
	for _, e := range entries {
		if number, rest, ok := strings.Cut(e.Name(), "_"); ok && strings.HasSuffix(rest, ".jpg") {
			if _, ok := fileOf[number]; !ok {
				fileOf[number] = e.Name()
			}
		}
	}
	captions := map[string][]string{}
	table, current := false, ""
	for tag, text := range tags(string(page)) {
		switch text = strings.TrimSpace(text); {
		case tag == "table":
			table = true
		case tag == "/table":
			table = false
		case !table:
		case text == "Image Not Found":
			current = ""
		case tag == "a" && text != "":
			parts := strings.Split(text, "/")
			number := ""
			if len(parts) >= 2 {
				number = parts[len(parts)-2]
			}
			if current = fileOf[number]; current == "" {
				return nil, fmt.Errorf("datasets: Flickr8k: no file of %s in %s", text, root)
			}
			captions[current] = nil
		case tag == "li" && text != "" && current != "":
			captions[current] = append(captions[current], text)
		}
	}
	return captioned(root, captions)
}

// tags gives each tag of a page, in lower case and without attributes, and the text behind it.
func tags(page string) func(yield func(tag, text string) bool) {
	return func(yield func(tag, text string) bool) {
		for {
			_, rest, ok := strings.Cut(page, "<")
			if !ok {
				return
			}
			inner, rest, ok := strings.Cut(rest, ">")
			if !ok {
				return
			}
			text, _, _ := strings.Cut(rest, "<")
			if f := strings.Fields(inner); len(f) > 0 && !yield(strings.ToLower(f[0]), text) {
				return
			}
			page = rest
		}
	}
}

// KittiObject is an object of KITTI's detection: its type, how far it is cut off (0 to 1), how far it is hidden (0 to
// 3), its angle from the camera, its box in pixels, its height, width and length and its place in metres, and how far
// it is turned about the vertical.
type KittiObject struct {
	Type       string
	Truncated  float64
	Occluded   int
	Alpha      float64
	Box        [4]float64
	Dimensions [3]float64
	Location   [3]float64
	RotationY  float64
}

// NewKitti reads the street scenes below root/Kitti/raw, with their objects where they are to train on. The files are
// sorted by name, which torchvision leaves to the file system.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.Kitti.html
func NewKitti(root string, train bool) (*Annotated[[]KittiObject], error) {
	base := filepath.Join(root, "Kitti", "raw", "testing")
	if train {
		base = filepath.Join(root, "Kitti", "raw", "training")
	}
	files, err := os.ReadDir(filepath.Join(base, "image_2"))
	if err != nil {
		return nil, notThere(err, "Kitti", root)
	}
	d := &Annotated[[]KittiObject]{}
	for _, f := range files {
		var objects []KittiObject
		if train {
			stem, _, _ := strings.Cut(f.Name(), ".")
			if objects, err = readKitti(filepath.Join(base, "label_2", stem+".txt")); err != nil {
				return nil, notThere(err, "Kitti", root)
			}
		}
		if err := d.add(filepath.Join(base, "image_2"), f.Name(), objects); err != nil {
			return nil, err
		}
	}
	return d, nil
}

func readKitti(path string) (out []KittiObject, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		var v [14]float64
		for i := range v {
			if i+1 >= len(f) {
				return nil, fmt.Errorf("datasets: %s: a line of %d fields, want 15", path, len(f))
			}
			if v[i], err = strconv.ParseFloat(f[i+1], 64); err != nil {
				return nil, fmt.Errorf("datasets: %s: %w", path, err)
			}
		}
		out = append(out, KittiObject{f[0], v[0], int(v[1]), v[2], [4]float64(v[3:7]), [3]float64(v[7:10]),
			[3]float64(v[10:13]), v[13]})
	}
	return out, nil
}

// WIDERFaceBox is a face: x, y, width and height of its box, and how blurred, expressive, badly lit, hidden and turned
// it is; an invalid one is to be left out.
type WIDERFaceBox struct {
	Box                                                      [4]int
	Blur, Expression, Illumination, Occlusion, Pose, Invalid int
}

// NewWIDERFace reads the photographs of faces below root/widerface: the split train, val or test, the latter without
// boxes.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.WIDERFace.html
func NewWIDERFace(root, split string) (*Annotated[[]WIDERFaceBox], error) {
	const name = "WIDERFace"
	file := map[string]string{"train": "wider_face_train_bbx_gt.txt", "val": "wider_face_val_bbx_gt.txt",
		"test": "wider_face_test_filelist.txt"}[split]
	if file == "" {
		return nil, choose(name, split, "train", "val", "test")
	}
	list, err := textLines(name, root, "widerface", "wider_face_split", file)
	if err != nil {
		return nil, err
	}
	d := &Annotated[[]WIDERFaceBox]{}
	for len(list) > 0 {
		image := list[0]
		list = list[1:]
		var boxes []WIDERFaceBox
		if split != "test" {
			if len(list) == 0 {
				return nil, fmt.Errorf("datasets: %s: %s ends behind %s", name, file, image)
			}
			n, err := strconv.Atoi(list[0])
			lines := max(n, 1) // an image without faces has a line of zeros
			if list = list[1:]; err != nil || n < 0 || lines > len(list) {
				return nil, fmt.Errorf("datasets: %s: %s has no lines of boxes for %s", name, file, image)
			}
			for _, l := range list[:lines] {
				v, err := numbers(strings.Fields(l), 10)
				if err != nil {
					return nil, fmt.Errorf("datasets: %s: %s: %s: %w", name, file, image, err)
				}
				boxes = append(boxes, WIDERFaceBox{[4]int(v), v[4], v[5], v[6], v[7], v[8], v[9]})
			}
			list = list[lines:]
		}
		if err := d.add(filepath.Join(root, "widerface", "WIDER_"+split, "images"), image, boxes); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// CityscapesTarget names the files that say what Cityscapes' image shows; see Image and Polygons.
type CityscapesTarget struct{ base string }

// Image reads the picture of a kind: instance (the numbers of the objects, in 16 bits: their higher bytes), semantic
// (numbers of classes) or color.
func (t CityscapesTarget) Image(kind string) (*pil.Image, error) {
	ending := map[string]string{"instance": "_instanceIds.png", "semantic": "_labelIds.png",
		"color": "_color.png"}[kind]
	if ending == "" {
		return nil, choose("Cityscapes", kind, "instance", "semantic", "color")
	}
	if kind == "color" {
		return loadRGB(t.base + ending)
	}
	return loadGray(t.base + ending)
}

// CityscapesPolygons are the outlines in an image.
type CityscapesPolygons struct {
	Height  int `json:"imgHeight"`
	Width   int `json:"imgWidth"`
	Objects []struct {
		Label   string       `json:"label"`
		Polygon [][2]float64 `json:"polygon"`
	} `json:"objects"`
}

// Polygons reads the outlines.
func (t CityscapesTarget) Polygons() (*CityscapesPolygons, error) {
	b, err := os.ReadFile(t.base + "_polygons.json")
	if err != nil {
		return nil, err
	}
	p := &CityscapesPolygons{}
	if err := json.Unmarshal(b, p); err != nil {
		return nil, fmt.Errorf("datasets: %s_polygons.json: %w", t.base, err)
	}
	return p, nil
}

// NewCityscapes reads the street scenes below root: the split train, val or test in the mode fine, or train,
// train_extra or val in the mode coarse. Cities and files are sorted by name, which torchvision leaves to the file
// system.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.Cityscapes.html
func NewCityscapes(root, split, mode string) (*Annotated[CityscapesTarget], error) {
	const name = "Cityscapes"
	splits := map[string][]string{"fine": {"train", "test", "val"}, "coarse": {"train", "train_extra", "val"}}[mode]
	if splits == nil {
		return nil, fmt.Errorf("datasets: %s has no mode %q, but fine and coarse", name, mode)
	}
	if err := choose(name+" "+mode, split, splits...); err != nil {
		return nil, err
	}
	kind := "gt" + strings.ToUpper(mode[:1]) + mode[1:]
	images := filepath.Join(root, "leftImg8bit", split)
	cities, err := FindClasses(images)
	if err != nil {
		return nil, err
	}
	d := &Annotated[CityscapesTarget]{}
	for _, city := range cities {
		files, err := os.ReadDir(filepath.Join(images, city))
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			stem, _, _ := strings.Cut(f.Name(), "_leftImg8bit")
			target := CityscapesTarget{filepath.Join(root, kind, split, city, stem+"_"+kind)}
			if err := d.add(filepath.Join(images, city), f.Name(), target); err != nil {
				return nil, err
			}
		}
	}
	return d, nil
}
