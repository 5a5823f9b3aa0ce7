// Package mnist reads the MNIST data set of handwritten digits, and any other data
// set in the same idx files (Fashion-MNIST, KMNIST, EMNIST), plain or gzipped.
//
// Nothing is downloaded: [Load] reads the files where they are. Package
// vision/datasets/digits is a data set of the same shape that needs no files.
package mnist

import (
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gotorch-dev/torch/vision/datasets/imageset"
)

// Set is the type of a data set read from idx files; see [imageset.Set].
type Set = imageset.Set

// Classes is the number of classes of MNIST.
const Classes = 10

// Load reads the training set (60,000 images) or the test set (10,000) of MNIST.
//
// The files are train-images-idx3-ubyte and train-labels-idx1-ubyte, or t10k-… for the
// test set, each also with the ending .gz. They are looked for in root and in
// root/MNIST/raw, where torchvision.datasets.MNIST puts them. If a file is missing, the
// error names every place and matches [fs.ErrNotExist].
//
// Unlike torchvision, Load never downloads, and it checks the contents: the number of
// images against that of labels and the file's length, and that labels are below 10.
func Load(root string, train bool) (*Set, error) {
	prefix := "t10k"
	if train {
		prefix = "train"
	}
	imagePath, err := find(root, prefix+"-images-idx3-ubyte")
	if err != nil {
		return nil, err
	}
	labelPath, err := find(root, prefix+"-labels-idx1-ubyte")
	if err != nil {
		return nil, err
	}
	return LoadFiles(imagePath, labelPath, Classes)
}

// LoadFiles reads a data set from a file of images and a file of labels, which must
// all be below classes. A file may be gzipped, whatever its name.
func LoadFiles(imagePath, labelPath string, classes int) (*Set, error) {
	images, err := ReadFile(imagePath)
	if err != nil {
		return nil, err
	}
	if len(images.Dims) != 3 {
		return nil, fmt.Errorf("mnist: %s: %d dimensions %v, want 3 for images", imagePath, len(images.Dims),
			images.Dims)
	}
	labels, err := ReadFile(labelPath)
	if err != nil {
		return nil, err
	}
	if len(labels.Dims) != 1 {
		return nil, fmt.Errorf("mnist: %s: %d dimensions %v, want 1 for labels", labelPath, len(labels.Dims),
			labels.Dims)
	}
	if images.Dims[0] != labels.Dims[0] {
		return nil, fmt.Errorf("mnist: %d images in %s but %d labels in %s",
			images.Dims[0], imagePath, labels.Dims[0], labelPath)
	}
	for i, l := range labels.Data {
		if int(l) >= classes {
			return nil, fmt.Errorf("mnist: %s: label %d is %d, want less than %d", labelPath, i, l, classes)
		}
	}
	return &Set{
		Images: images.Data, Labels: labels.Data,
		Rows: images.Dims[1], Cols: images.Dims[2], Classes: classes,
	}, nil
}

// find returns the first place where the file name, or name.gz, exists.
func find(root, name string) (string, error) {
	var tried []string
	for _, dir := range []string{root, filepath.Join(root, "MNIST", "raw")} {
		for _, ext := range []string{"", ".gz"} {
			p := filepath.Join(dir, name+ext)
			info, err := os.Stat(p)
			if err == nil && info.Mode().IsRegular() {
				return p, nil
			}
			// A place that may not be read, say, is worth its own message.
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return "", fmt.Errorf("mnist: %w", err)
			}
			tried = append(tried, p)
		}
	}
	return "", fmt.Errorf("mnist: no file %s: looked for %s: %w", name, strings.Join(tried, ", "), fs.ErrNotExist)
}

// IDX is an array of bytes as an idx file holds it, in row-major order.
type IDX struct {
	Dims []int
	Data []byte
}

// MaxSize is the largest number of data bytes that [Read] accepts. The largest set of
// the family, EMNIST by class, has 547 million.
const MaxSize = 1 << 30

// ErrFormat is in the chain of every error about the contents of an idx file.
var ErrFormat = errors.New("not a valid idx file")

// ReadFile reads an idx file, plain or gzipped.
func ReadFile(path string) (*IDX, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("mnist: %w", err)
	}
	defer f.Close()
	a, err := Read(f)
	if err != nil {
		return nil, fmt.Errorf("mnist: %s: %w", path, err)
	}
	return a, nil
}

// Read reads an idx array of unsigned bytes from r, plain or gzipped, up to the end of r.
//
// The format: two zero bytes, the element type (8 for unsigned bytes, the only one
// accepted), the number of dimensions, each dimension as a big-endian 32-bit integer,
// and then the elements. Too little data and trailing data are errors. Memory grows
// with the data that arrive, not with the size that the header promises.
func Read(r io.Reader) (*IDX, error) { return read(r, MaxSize) }

func read(r io.Reader, limit int) (*IDX, error) {
	var magic [4]byte
	if err := fill(r, magic[:2], "the magic number"); err != nil {
		return nil, err
	}
	// gzip files begin with 1f 8b, idx files with 00 00.
	if magic[0] == 0x1f && magic[1] == 0x8b {
		z, err := gzip.NewReader(io.MultiReader(strings.NewReader("\x1f\x8b"), r))
		if err != nil {
			return nil, fmt.Errorf("%w: gzip: %w", ErrFormat, err)
		}
		r = z
		if err := fill(r, magic[:2], "the magic number"); err != nil {
			return nil, err
		}
	}
	if err := fill(r, magic[2:], "the magic number"); err != nil {
		return nil, err
	}
	if magic[0] != 0 || magic[1] != 0 {
		return nil, fmt.Errorf("%w: it begins with %x, want 0000", ErrFormat, magic[:2])
	}
	if magic[2] != 8 {
		return nil, fmt.Errorf("%w: element type 0x%02x, want 0x08 (unsigned byte)", ErrFormat, magic[2])
	}
	if magic[3] == 0 || magic[3] > 8 {
		return nil, fmt.Errorf("%w: %d dimensions, want 1 to 8", ErrFormat, magic[3])
	}

	a := &IDX{Dims: make([]int, magic[3])}
	size := 1
	for i := range a.Dims {
		var b [4]byte
		if err := fill(r, b[:], "the dimensions"); err != nil {
			return nil, err
		}
		// Compare before converting and before multiplying: int may have 32 bits.
		v := uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
		if v > uint32(limit) {
			return nil, fmt.Errorf("%w: dimension %d is %d, want at most %d", ErrFormat, i, v, limit)
		}
		a.Dims[i] = int(v)
		if v != 0 && size > limit/int(v) {
			return nil, fmt.Errorf("%w: dimensions %v make more than %d bytes", ErrFormat, a.Dims[:i+1], limit)
		}
		size *= int(v)
	}

	// A lying header must not make us allocate what it promises, so start with at most
	// 64 KiB. ReadAll's growth would copy a large set many times over; doubling here
	// keeps that to the usual amortised cost and stops at the exact size.
	a.Data = make([]byte, min(size, 64<<10))
	for n := 0; ; {
		if err := fillAt(r, a.Data[n:], n, size); err != nil {
			return nil, err
		}
		n = len(a.Data)
		if n == size {
			break
		}
		grown := make([]byte, min(2*n, size))
		copy(grown, a.Data)
		a.Data = grown
	}

	// One byte more tells whether anything follows; for gzip it also makes the reader
	// verify the checksum.
	var more [1]byte
	switch _, err := io.ReadFull(r, more[:]); {
	case err == nil:
		return nil, fmt.Errorf("%w: data after the %d bytes that dimensions %v call for", ErrFormat, size, a.Dims)
	case err != io.EOF:
		return nil, broken(err)
	}
	return a, nil
}

// fill reads len(b) bytes of the header.
func fill(r io.Reader, b []byte, what string) error {
	_, err := io.ReadFull(r, b)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("%w: it ends within %s: %w", ErrFormat, what, io.ErrUnexpectedEOF)
	}
	if err != nil {
		return broken(err)
	}
	return nil
}

// fillAt reads len(b) bytes of the data, of which there are size and at have been read.
func fillAt(r io.Reader, b []byte, at, size int) error {
	n, err := io.ReadFull(r, b)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("%w: %d data bytes, want %d: %w", ErrFormat, at+n, size, io.ErrUnexpectedEOF)
	}
	if err != nil {
		return broken(err)
	}
	return nil
}

// broken tells damaged compression, which is about the contents, from a failing disk.
func broken(err error) error {
	var corrupt flate.CorruptInputError
	if errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader) ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &corrupt) {
		return fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return err
}
