package datasets

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gotorch-dev/torch/vision/pil"
)

// lfw is a list of Labeled Faces in the Wild below root/lfw-py and the folder of its images.
type lfw struct {
	images string
	list   []string
	folds  bool // the list has ten parts
}

func newLFW(root, split, imageSet, view string) (l lfw, err error) {
	const name = "LFW"
	part, ok := map[string]string{"10fold": "", "train": "DevTrain", "test": "DevTest"}[split]
	if !ok {
		return l, choose(name, split, "10fold", "train", "test")
	}
	folder := map[string]string{"original": "lfw", "funneled": "lfw_funneled", "deepfunneled": "lfw-deepfunneled"}
	if folder[imageSet] == "" {
		return l, fmt.Errorf("datasets: %s has no images %q, but original, funneled and deepfunneled", name, imageSet)
	}
	l.images, l.folds = filepath.Join(root, "lfw-py", folder[imageSet]), split == "10fold"
	l.list, err = textLines(name, root, "lfw-py", view+part+".txt")
	return l, err
}

// path is the file of a photograph of somebody.
func (l *lfw) path(who, number string) (string, error) {
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 {
		return "", fmt.Errorf("datasets: LFW: photograph %q of %s", number, who)
	}
	name, err := local(fmt.Sprintf("%s/%s_%04d.jpg", who, who, n))
	return filepath.Join(l.images, name), err
}

// number reads a line that is a number of further lines.
func (l *lfw) number(i int) (int, error) {
	if i >= len(l.list) {
		return 0, fmt.Errorf("datasets: LFW: a list of %d lines is too short", len(l.list))
	}
	f := strings.Fields(l.list[i])
	n, err := strconv.Atoi(f[len(f)-1])
	if err != nil || n < 0 || n > len(l.list) {
		return 0, fmt.Errorf("datasets: LFW: the line %q should be a number of lines", l.list[i])
	}
	return n, nil
}

// NewLFWPeople reads the faces of well-known people below root/lfw-py: the split 10fold, train or test of the images
// original, funneled or deepfunneled.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.LFWPeople.html
func NewLFWPeople(root, split, imageSet string) (*DatasetFolder, error) {
	l, err := newLFW(root, split, imageSet, "people")
	if err != nil {
		return nil, err
	}
	names, err := textLines("LFW", root, "lfw-py", "lfw-names.txt")
	if err != nil {
		return nil, err
	}
	d := &DatasetFolder{Root: l.images, Loader: loadRGB}
	for _, n := range names {
		d.Classes = append(d.Classes, strings.Fields(n)[0])
	}
	label, folds, at := d.ClassToIdx(), 1, 0
	if l.folds {
		if folds, err = l.number(0); err != nil {
			return nil, err
		}
		at = 1
	}
	for range folds {
		n, err := l.number(at)
		if err != nil {
			return nil, err
		}
		if at++; at+n > len(l.list) {
			return nil, fmt.Errorf("datasets: LFW: a list of %d lines should have %d", len(l.list), at+n)
		}
		for _, line := range l.list[at : at+n] {
			who, count, _ := strings.Cut(line, "\t")
			k, err := strconv.Atoi(strings.TrimSpace(count))
			class, ok := label[who]
			if err != nil || !ok || k > 10_000 {
				return nil, fmt.Errorf("datasets: LFW: the line %q should be one of the names and a number", line)
			}
			for i := 1; i <= k; i++ {
				path, err := l.path(who, strconv.Itoa(i))
				if err != nil {
					return nil, err
				}
				d.Samples = append(d.Samples, File{path, class})
			}
		}
		at += n
	}
	return d, nil
}

// LFWPair is two faces and whether they are the same person's.
type LFWPair struct {
	First, Second *pil.Image
	Same          bool
}

// LFWPairs is a data set of pairs of faces.
type LFWPairs struct {
	Names [][2]string // whose faces they are
	paths [][2]string
}

// NewLFWPairs reads pairs of faces below root/lfw-py; the arguments are those of NewLFWPeople.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.LFWPairs.html
func NewLFWPairs(root, split, imageSet string) (*LFWPairs, error) {
	l, err := newLFW(root, split, imageSet, "pairs")
	if err != nil {
		return nil, err
	}
	n, err := l.number(0) // of the pairs of the same person in a part, and of as many of two persons
	if err != nil {
		return nil, err
	}
	d := &LFWPairs{}
	for i, line := range l.list[1:] {
		f := strings.Fields(line)
		same := n > 0 && i/n%2 == 0
		if same && len(f) == 3 {
			f = []string{f[0], f[1], f[0], f[2]}
		} else if same || len(f) != 4 {
			return nil, fmt.Errorf("datasets: LFW: the line %q is no pair of %d persons", line, map[bool]int{true: 1,
				false: 2}[same])
		}
		a, err := l.path(f[0], f[1])
		if err != nil {
			return nil, err
		}
		b, err := l.path(f[2], f[3])
		if err != nil {
			return nil, err
		}
		d.Names, d.paths = append(d.Names, [2]string{f[0], f[2]}), append(d.paths, [2]string{a, b})
	}
	return d, nil
}

// Len is the number of pairs.
func (d *LFWPairs) Len() int { return len(d.paths) }

// Get reads pair i.
func (d *LFWPairs) Get(i int) (x LFWPair, err error) {
	if i < 0 || i >= len(d.paths) {
		return x, outOfRange(i, len(d.paths))
	}
	x.Same = d.Names[i][0] == d.Names[i][1]
	if x.First, err = loadRGB(d.paths[i][0]); err == nil {
		x.Second, err = loadRGB(d.paths[i][1])
	}
	return x, err
}
