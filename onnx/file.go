package onnx

import (
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"strconv"

	"github.com/gotorch-dev/torch/internal/mapfile"
	"github.com/gotorch-dev/torch/internal/onnxpb"
)

// LoadOptions are the options of Open, OpenFS and Read.
type LoadOptions struct {
	// Winograd allows 3×3 convolutions in float32 to be computed by Winograd's algorithm, where that is faster: in a
	// third to a half of the time on large images, with rounding errors two to five times as large. See
	// torch.SetWinograd.
	Winograd bool
}

// Open reads a model from a file. Weights that the model keeps in other files are looked for in the file's folder and
// the folders below it, and nowhere else.
func Open(name string, opts ...LoadOptions) (*Model, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	b, err := wholeFile(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var root *os.Root
	defer func() {
		if root != nil {
			_ = root.Close()
		}
	}()
	m, err := load(b, func(p string) (readerAt, error) {
		if root == nil {
			var err error
			if root, err = os.OpenRoot(filepath.Dir(name)); err != nil {
				return nil, err
			}
		}
		return root.Open(filepath.FromSlash(p))
	}, opts)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return m, nil
}

// OpenFS reads a model from a file of a file system, such as an embed.FS.
func OpenFS(fsys fs.FS, name string, opts ...LoadOptions) (*Model, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	m, err := load(b, func(p string) (readerAt, error) {
		g, err := fsys.Open(path.Join(path.Dir(name), p))
		if err != nil {
			return nil, err
		}
		r, ok := g.(readerAt)
		if !ok {
			_ = g.Close()
			return nil, fmt.Errorf("%s: the file system cannot read in the middle of a file", p)
		}
		return r, nil
	}, opts)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return m, nil
}

// Read reads a model of size bytes. Weights in other files are an error.
func Read(r io.ReaderAt, size int64, opts ...LoadOptions) (*Model, error) {
	b, err := io.ReadAll(io.NewSectionReader(r, 0, size)) // grows with what there is, whatever size claims
	if err != nil {
		return nil, err
	}
	return load(b, nil, opts)
}

// readerAt is a file with weights.
type readerAt interface {
	fs.File
	io.ReaderAt
}

// wholeFile is the contents of a file: mapped into memory where that can be done, read otherwise.
func wholeFile(f *os.File) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Mode().IsRegular() {
		if b, err := mapfile.Map(f, info.Size()); err == nil {
			return b, nil
		}
	}
	return io.ReadAll(f)
}

// externalData reads tensors from other files, which it keeps open until close.
type externalData struct {
	open  func(name string) (readerAt, error)
	files map[string]readerAt
	sizes map[string]int64
}

func (e *externalData) close() {
	for _, f := range e.files {
		_ = f.Close()
	}
}

// read gives the bytes that the entries of a tensor name: location, offset and length.
// https://onnx.ai/onnx/repo-docs/ExternalData.html
func (e *externalData) read(entries []onnxpb.Entry) ([]byte, error) {
	var location string
	var offset, length int64 = 0, -1
	for _, x := range entries {
		var err error
		switch x.Key {
		case "location":
			location = x.Value
		case "offset":
			offset, err = strconv.ParseInt(x.Value, 10, 64)
		case "length":
			length, err = strconv.ParseInt(x.Value, 10, 64)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: external data: %s %q", onnxpb.ErrFormat, x.Key, x.Value)
		}
	}
	if e.open == nil {
		return nil, fmt.Errorf("%w: weights in the file %q, which a model without a folder cannot have", ErrUnsupported,
			location)
	}
	if name := path.Clean(filepath.ToSlash(location)); location != "" && fs.ValidPath(name) &&
		filepath.IsLocal(location) {
		location = name
	} else {
		return nil, fmt.Errorf("%w: external data: location %q is not below the model's folder", onnxpb.ErrFormat,
			location)
	}
	f := e.files[location]
	if f == nil {
		var err error
		if f, err = e.open(location); err != nil {
			return nil, err
		}
		e.files[location] = f
		info, err := f.Stat()
		if err != nil {
			return nil, err
		}
		if !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%w: external data: %q is no file", onnxpb.ErrFormat, location)
		}
		e.sizes[location] = info.Size()
	}
	size := e.sizes[location]
	if length < 0 {
		length = size - offset
	}
	if offset < 0 || length < 0 || offset > size || length > size-offset || length > math.MaxInt32*int64(1<<20) {
		return nil, fmt.Errorf("%w: external data: bytes %d to %d of %q, which has %d", onnxpb.ErrFormat, offset,
			offset+length, location, size)
	}
	b := make([]byte, length)
	if _, err := f.ReadAt(b, offset); err != nil && !(err == io.EOF && length == 0) {
		return nil, err
	}
	return b, nil
}
