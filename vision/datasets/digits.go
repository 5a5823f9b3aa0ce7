package datasets

import (
	"compress/bzip2"
	"compress/gzip"
	"encoding/binary"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gotorch-dev/torch/vision/datasets/mnist"
)

// This file reads small grey images of digits and faces.

// maxDigits bounds the bytes of an unpacked file of this kind: three times the largest one.
const maxDigits = 1 << 30

// gray is a data set of grey images.
func gray(classes []string, height, width int, pixels []byte, labels []int) (*Arrays, error) {
	d := &Arrays{Classes: classes, Mode: "L", Height: height, Width: width, pixels: pixels, Labels: labels}
	d.at = d.planar(1)
	return d.checked(1)
}

// NewQMNIST reads the digits below root/QMNIST/raw, whose writers are known: train, test, test10k (MNIST's test set),
// test50k or nist. The files of nist have to be unpacked (from xz) there.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.QMNIST.html
func NewQMNIST(root, what string) (*Arrays, error) {
	const name = "QMNIST"
	if err := choose(name, what, "train", "test", "test10k", "test50k", "nist"); err != nil {
		return nil, err
	}
	prefix := map[string]string{"train": "qmnist-train", "nist": "xnist"}[what]
	if prefix == "" {
		prefix = "qmnist-test"
	}
	var file [2]string
	for i, kind := range []string{"images-idx3-ubyte", "labels-idx2-int"} {
		file[i] = filepath.Join(root, name, "raw", prefix+"-"+kind)
		if _, err := os.Stat(file[i]); err != nil {
			file[i] += ".gz"
		}
	}
	images, err := mnist.ReadFile(file[0])
	if err != nil {
		return nil, notThere(err, name, root)
	}
	labels, err := idxLabels(file[1])
	if err != nil {
		return nil, notThere(err, name, root)
	}
	if len(images.Dims) != 3 || images.Dims[0] != len(labels) {
		return nil, fmt.Errorf("datasets: %s: images of dimensions %v for %d labels", name, images.Dims, len(labels))
	}
	size, pixels := images.Dims[1]*images.Dims[2], images.Data
	switch first := min(10_000, len(labels)); what {
	case "test10k":
		pixels, labels = pixels[:first*size], labels[:first]
	case "test50k":
		pixels, labels = pixels[first*size:], labels[first:]
	}
	return gray(mnistClasses, images.Dims[1], images.Dims[2], pixels, labels)
}

// idxLabels reads the first column of an idx file of 32-bit integers (N, columns), plain or gzipped.
func idxLabels(path string) ([]int, error) {
	b, err := unpacked(path, func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) })
	if err != nil {
		return nil, err
	}
	if len(b) < 12 || string(b[:4]) != "\x00\x00\x0c\x02" {
		return nil, fmt.Errorf("datasets: %s is no idx file of 32-bit integers in two dimensions", path)
	}
	n, columns := int(binary.BigEndian.Uint32(b[4:])), int(binary.BigEndian.Uint32(b[8:]))
	if b = b[12:]; columns < 1 || columns > len(b) || n > len(b) || len(b) != 4*n*columns {
		return nil, fmt.Errorf("datasets: %s has %d bytes of data for %d x %d integers", path, len(b), n, columns)
	}
	out := make([]int, n)
	for i := range out {
		out[i] = int(int32(binary.BigEndian.Uint32(b[4*i*columns:])))
	}
	return out, nil
}

// unpacked reads a file, by unpack where its name has an ending like .gz.
func unpacked(path string, unpack func(r io.Reader) (io.Reader, error)) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	r := io.Reader(f)
	if ext := filepath.Ext(path); ext == ".gz" || ext == ".bz2" {
		if r, err = unpack(f); err != nil {
			return nil, fmt.Errorf("datasets: %s: %w", path, err)
		}
	}
	b, err := io.ReadAll(io.LimitReader(r, maxDigits+1))
	if err == nil && len(b) > maxDigits {
		err = fmt.Errorf("more than %d bytes", maxDigits)
	}
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", path, err)
	}
	return b, nil
}

// NewUSPS reads the digits of envelopes in root, to train on or to test with.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.USPS.html
func NewUSPS(root string, train bool) (*Arrays, error) {
	file := "usps.bz2"
	if !train {
		file = "usps.t.bz2"
	}
	b, err := unpacked(filepath.Join(root, file), func(r io.Reader) (io.Reader, error) {
		return bzip2.NewReader(r), nil
	})
	if err != nil {
		return nil, notThere(err, "USPS", root)
	}
	return parseUSPS(b)
}

// parseUSPS reads lines of a label from 1 on and 256 pixels between -1 and 1, each behind its number and a colon.
func parseUSPS(b []byte) (*Arrays, error) {
	var pixels []byte
	var labels []int
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) != 257 {
			return nil, fmt.Errorf("datasets: USPS: line %d has %d numbers, want 257", len(labels)+1, len(f))
		}
		for i, s := range f[1:] {
			v, err := strconv.ParseFloat(s[strings.LastIndexByte(s, ':')+1:], 32)
			if err != nil || !(v >= -1 && v <= 1) {
				return nil, fmt.Errorf("datasets: USPS: line %d: pixel %d is %q", len(labels)+1, i, s)
			}
			pixels = append(pixels, uint8((float32(v)+1)/2*255))
		}
		label, err := strconv.ParseFloat(f[0], 32)
		if err != nil || !(label >= 1 && label <= 10) {
			return nil, fmt.Errorf("datasets: USPS: line %d has label %q", len(labels)+1, f[0])
		}
		labels = append(labels, int(label)-1)
	}
	return gray(digitClasses, 16, 16, pixels, labels)
}

// NewSEMEION reads the digits in root.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.SEMEION.html
func NewSEMEION(root string) (*Arrays, error) {
	list, err := textLines("SEMEION", root, "semeion.data")
	if err != nil {
		return nil, err
	}
	var pixels []byte
	var labels []int
	for i, line := range list { // 256 pixels, then ten numbers of which the label's is not 0
		f := strings.Fields(line)
		if len(f) != 266 {
			return nil, fmt.Errorf("datasets: SEMEION: line %d has %d numbers, want 266", i+1, len(f))
		}
		label := -1
		for k, s := range f {
			v, err := strconv.ParseFloat(s, 64)
			if err != nil || !(v >= 0 && v <= 1) {
				return nil, fmt.Errorf("datasets: SEMEION: line %d: number %d is %q", i+1, k, s)
			}
			if k < 256 {
				pixels = append(pixels, uint8(v*255))
			} else if v != 0 {
				label = k - 256
			}
		}
		labels = append(labels, label)
	}
	return gray(digitClasses, 16, 16, pixels, labels)
}

// ferClasses are the feelings of FER2013.
var ferClasses = []string{"angry", "disgust", "fear", "happy", "sad", "surprise", "neutral"}

// NewFER2013 reads the faces below root/fer2013, of fer2013.csv, icml_face_data.csv or else train.csv and test.csv: the
// split train or test. Where test.csv has no labels they are -1.
// https://pytorch.org/vision/stable/generated/torchvision.datasets.FER2013.html
func NewFER2013(root, split string) (*Arrays, error) {
	if err := choose("FER2013", split, "train", "test"); err != nil {
		return nil, err
	}
	var f *os.File
	var err error
	for _, name := range []string{"fer2013.csv", "icml_face_data.csv", split + ".csv"} {
		if f, err = os.Open(filepath.Join(root, "fer2013", name)); err == nil {
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("datasets: FER2013: %w; the files come from kaggle.com", err)
	}
	defer func() { _ = f.Close() }() // only read
	r := csv.NewReader(f)
	column := map[string]int{}
	head, err := r.Read()
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", f.Name(), err)
	}
	for i, name := range head {
		column[strings.TrimSpace(name)] = i
	}
	field := func(row []string, name string) (string, bool) {
		i, ok := column[name]
		if !ok {
			return "", false
		}
		return row[i], true
	}
	var pixels []byte
	var labels []int
	for {
		row, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("datasets: %s: %w", f.Name(), err)
		}
		if usage, ok := field(row, "Usage"); ok && (usage == "Training") != (split == "train") {
			continue
		}
		label := -1
		if s, ok := field(row, "emotion"); ok {
			if label, err = strconv.Atoi(s); err != nil {
				return nil, fmt.Errorf("datasets: %s: label %q of image %d", f.Name(), s, len(labels))
			}
		}
		text, _ := field(row, "pixels")
		n := 0
		for _, s := range strings.Fields(text) {
			v, err := strconv.Atoi(s)
			if err != nil || v < 0 || v > math.MaxUint8 {
				return nil, fmt.Errorf("datasets: %s: pixel %q of image %d", f.Name(), s, len(labels))
			}
			pixels, n = append(pixels, uint8(v)), n+1
		}
		if n != 48*48 {
			return nil, fmt.Errorf("datasets: %s: image %d has %d pixels, want 48 x 48", f.Name(), len(labels), n)
		}
		labels = append(labels, label)
	}
	return gray(ferClasses, 48, 48, pixels, labels)
}
