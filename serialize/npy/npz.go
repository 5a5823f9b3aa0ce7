package npy

import (
	"archive/zip"
	"compress/flate"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/gotorch-dev/torch/internal/atomicfile"
	"github.com/gotorch-dev/torch/internal/safezip"
)

// NPZ is an open archive of arrays. Arrays are read when they are asked for.
type NPZ struct {
	size   int64 // of the file
	names  []string
	files  map[string]*zip.File
	closer io.Closer
}

// OpenNPZ opens a .npz file. Close it when its arrays are read.
func OpenNPZ(path string) (*NPZ, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("npy: %w", err)
	}
	st, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("npy: %w", err)
	}
	z, err := NewNPZ(f, st.Size())
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	z.closer = f
	return z, nil
}

// NewNPZ opens an archive of the given size. Arrays that share bytes of the file are an error: all arrays together are
// no larger than about a thousand times the file, which is what Deflate can do.
func NewNPZ(r io.ReaderAt, size int64) (*NPZ, error) {
	zr, err := safezip.NewReader(r, size)
	if err != nil {
		return nil, formatErr("%v", err)
	}
	z := &NPZ{size: size, files: make(map[string]*zip.File, len(zr.File))}
	for _, f := range zr.File {
		name, ok := strings.CutSuffix(f.Name, ".npy")
		if !ok {
			continue // NumPy hands out other members as bytes; arrays never are
		}
		z.files[name] = f
		z.names = append(z.names, name)
	}
	return z, nil
}

// Names returns the names of the arrays in the order of the file.
func (z *NPZ) Names() []string { return append([]string(nil), z.names...) }

// Has reports whether the archive has an array of that name.
func (z *NPZ) Has(name string) bool { return z.files[name] != nil }

// Read reads one array and verifies its checksum.
func (z *NPZ) Read(name string) (*Array, error) {
	f := z.files[name]
	if f == nil {
		return nil, fmt.Errorf("npy: no array %q in the archive", name)
	}
	r, err := f.Open()
	if err != nil {
		return nil, formatErr("array %q: %v", name, err)
	}
	defer r.Close()
	a, err := Read(r)
	if err != nil {
		return nil, fmt.Errorf("array %q: %w", name, err)
	}
	// The checksum is compared at the end, which must be here.
	if n, err := r.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		if n != 0 {
			return nil, formatErr("array %q: data after the array", name)
		}
		return nil, formatErr("array %q: %v", name, err)
	}
	return a, nil
}

// Close closes the file that OpenNPZ opened.
func (z *NPZ) Close() error {
	if z.closer == nil {
		return nil
	}
	return z.closer.Close()
}

// mostInflated is what ReadNPZ reads from compressed arrays, if that is more than 32 times the file.
const mostInflated = 1 << 30

// ReadNPZ reads all arrays of a .npz file. Deflate makes a thousand zeros a byte: arrays of more than a gigabyte and 32
// times the file are an error; [OpenNPZ] reads such arrays one by one.
func ReadNPZ(path string) (map[string]*Array, error) {
	z, err := OpenNPZ(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = z.Close() }() // only read
	total := uint64(0)
	for _, f := range z.files {
		total += f.UncompressedSize64
	}
	if total > mostInflated && total/32 > uint64(z.size) {
		return nil, fmt.Errorf("%s: %w", path,
			formatErr("%d bytes inflate to %d; read the arrays one by one, with OpenNPZ",
				z.size, total))
	}
	out := make(map[string]*Array, len(z.names))
	for _, name := range z.names {
		if out[name], err = z.Read(name); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return out, nil
}

// NPZWriter writes an archive of arrays. Its output has no timestamps.
type NPZWriter struct {
	zw     *zip.Writer
	method uint16
	seen   map[string]bool
}

// NewNPZWriter returns a writer. Compressed selects deflate, as
// numpy.savez_compressed does; otherwise arrays are stored, as by numpy.savez.
func NewNPZWriter(w io.Writer, compressed bool) *NPZWriter {
	z := &NPZWriter{zw: zip.NewWriter(w), method: zip.Store, seen: map[string]bool{}}
	if compressed {
		z.method = zip.Deflate
		z.zw.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
			return flate.NewWriter(w, flate.DefaultCompression)
		})
	}
	return z
}

// Write adds an array under a name.
func (z *NPZWriter) Write(name string, a *Array) error {
	if z.seen[name] {
		return fmt.Errorf("npy: array %q written twice", name)
	}
	if _, err := encodeHeader(a); err != nil { // before anything is in the file
		return fmt.Errorf("array %q: %w", name, err)
	}
	z.seen[name] = true
	w, err := z.zw.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: z.method})
	if err != nil {
		return fmt.Errorf("npy: array %q: %w", name, err)
	}
	return Write(w, a)
}

// Close writes the directory. It does not close the underlying writer.
func (z *NPZWriter) Close() error {
	if err := z.zw.Close(); err != nil {
		return fmt.Errorf("npy: %w", err)
	}
	return nil
}

// WriteNPZ writes a .npz file with the arrays that fill adds. The file appears
// under its name when it is complete.
func WriteNPZ(path string, compressed bool, fill func(*NPZWriter) error) error {
	return writeFile(path, func(w io.Writer) error {
		z := NewNPZWriter(w, compressed)
		if err := fill(z); err != nil {
			return err
		}
		return z.Close()
	})
}

// writeFile writes under a temporary name, syncs and renames.
func writeFile(path string, write func(io.Writer) error) error {
	// The two kinds of errors differ: those of write already name the package.
	var inner error
	err := atomicfile.Write(path, func(w io.Writer) error { inner = write(w); return inner })
	if err != nil && inner == nil {
		err = fmt.Errorf("npy: %w", err)
	}
	return err
}
