package torchzip

import (
	"archive/zip"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/gotorch-dev/torch/internal/pickle"
)

// LoadOptions configures [LoadWith].
type LoadOptions struct {
	// FindClass is asked about the classes that this package does not know; see
	// [pickle.DecodeOptions]. An error from it refuses the file.
	FindClass func(module, name string) (pickle.Func, error)

	onStorage func(*StorageRef) // told of every storage
	inner     bool              // a file within a pickle
}

// Load reads the value that torch.save wrote. The storages stay in r, which must
// remain readable for as long as they are used. Classes that neither this package
// nor package pickle knows become *pickle.Object.
//
// It differs from torch.load(weights_only=True) in accepting such classes, since
// it only describes them, and in leaving every storage where it is, whatever
// device it was saved from.
func Load(r io.ReaderAt, size int64) (Value, error) { return LoadWith(r, size, LoadOptions{}) }

// LoadWith is [Load] with options.
func LoadWith(r io.ReaderAt, size int64, opts LoadOptions) (Value, error) {
	head := make([]byte, 4)
	n, err := r.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("torchzip: %w", err)
	}
	if n == 4 && string(head) == "PK\x03\x04" {
		return loadZip(r, size, opts)
	}
	if isTar(r, size) {
		return loadTar(r, size, opts)
	}
	return loadLegacy(r, size, opts)
}

// LoadPickle reads one pickle that is no file of torch.save, as pickle.dump writes it. Tensors in it have storages that
// are files of torch.save as bytes.
func LoadPickle(r io.ReaderAt, size int64) (Value, error) {
	v, err := pickle.NewDecoder(io.NewSectionReader(r, 0, size), pickle.DecodeOptions{FindClass: LoadOptions{}.find}).
		Decode()
	if err != nil {
		return nil, wrapPickle(err)
	}
	return v, nil
}

// LoadFile reads a file in full: all storages are in memory when it returns.
func LoadFile(path string) (Value, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("torchzip: %w", err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("torchzip: %w", err)
	}
	var all []*StorageRef
	v, err := LoadWith(f, st.Size(), LoadOptions{onStorage: func(s *StorageRef) { all = append(all, s) }})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, s := range all {
		if s.Data, err = s.Bytes(); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		s.Source, s.readInto, s.at = nil, nil, nil
	}
	return v, nil
}

func (o LoadOptions) find(module, name string) (pickle.Func, error) {
	if o.inner && name == "_load_from_bytes" {
		return nil, formatErr("a file within a file within a pickle")
	}
	if fn, err := findClass(module, name); fn != nil || err != nil {
		return fn, err
	}
	if o.FindClass != nil {
		return o.FindClass(module, name)
	}
	return nil, nil
}

func (o LoadOptions) storage(s *StorageRef) {
	if o.onStorage != nil && s.Location != "meta" {
		o.onStorage(s)
	}
}

// text accepts the strings of Python 2, which can arrive as bytes.
func text(v Value) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case []byte:
		return string(v), true
	case int64: // legacy keys of some versions
		return fmt.Sprint(v), true
	}
	return "", false
}

// storageID reads the persistent id of a storage: ("storage", class, key, location, elements, …).
func storageID(id Value, least, most int) (s *StorageRef, rest pickle.Tuple, err error) {
	t, ok := id.(pickle.Tuple)
	if !ok || len(t) < 1 {
		return nil, nil, formatErr("persistent id %s", pickle.Repr(id))
	}
	if kind, _ := text(t[0]); kind != "storage" || len(t) < least || len(t) > most {
		return nil, nil, formatErr("persistent id %s", pickle.Repr(id))
	}
	g, _ := t[1].(*pickle.Global)
	key, ok1 := text(t[2])
	loc, ok2 := text(t[3])
	n, err := toInt(t[4])
	if g == nil || !ok1 || !ok2 || err != nil {
		return nil, nil, formatErr("persistent id %s", pickle.Repr(id))
	}
	// torch.FloatStorage, torch.cuda.FloatStorage, torch.storage.UntypedStorage
	c, known := storageClasses[g.Name]
	if !known || g.Module != "torch" && !strings.HasPrefix(g.Module, "torch.") {
		return nil, nil, formatErr("unknown storage class %s", g)
	}
	if int64(n) > (1<<62)/int64(c.size) {
		return nil, nil, formatErr("storage %q claims %d elements", cut(key), n)
	}
	return &StorageRef{Key: key, DType: g.Name, NumElements: n, Location: loc}, t[5:], nil
}

func loadZip(r io.ReaderAt, size int64, opts LoadOptions) (Value, error) {
	zr, err := NewReader(r, size)
	if err != nil {
		return nil, err
	}
	return LoadRecord(zr, "data.pkl", "data/", opts)
}

// LoadRecord decodes one pickle of a container whose storages are the records
// with the given prefix. torch.save writes data.pkl with the prefix data/; a
// TorchScript archive has several pickles with prefixes of their own.
func LoadRecord(zr *Reader, name, prefix string, opts LoadOptions) (Value, error) {
	if !zr.Has(name) {
		if zr.Has("constants.pkl") {
			return nil, formatErr("this is a TorchScript archive")
		}
		return nil, formatErr("no record %q", name)
	}
	swap := false
	if zr.Has("byteorder") {
		if n := zr.Size("byteorder"); n > 16 {
			return nil, formatErr("record byteorder has %d bytes", n)
		}
		b, err := zr.ReadAll("byteorder")
		if err != nil {
			return nil, err
		}
		switch string(b) {
		case "little":
		case "big":
			swap = true
		default:
			return nil, formatErr("byte order %q", b)
		}
	}
	// PyTorch never compresses it; a program that compresses files again gains a factor of ten or twenty here.
	if n := zr.Size(name); zr.records[name].Method != zip.Store && n > 1<<20 && n/16 > zr.size {
		return nil, formatErr("record %q inflates to %d bytes, the file has %d", name, n, zr.size)
	}
	data, err := zr.Open(name)
	if err != nil {
		return nil, err
	}
	defer data.Close()
	storages := map[string]*StorageRef{}
	inflated := int64(0)
	dec := pickle.NewDecoder(data, pickle.DecodeOptions{
		FindClass: opts.find,
		PersistentLoad: func(id Value) (Value, error) {
			s, _, err := storageID(id, 5, 5)
			if err != nil {
				return nil, err
			}
			// As in PyTorch, the first description of a storage is the one that counts.
			if have := storages[s.Key]; have != nil {
				return have, nil
			}
			if s.Location != "meta" {
				record := prefix + s.Key
				if have := zr.Size(record); have != s.NumBytes() {
					return nil, formatErr("storage %q needs %d bytes, its record has %d", cut(s.Key), s.NumBytes(),
						have)
				}
				if zr.records[record].Method != zip.Store {
					inflated += s.NumBytes()
				}
				if inflated > mostInflated && inflated/32 > zr.size {
					return nil, formatErr("compressed storages inflate to %d bytes and more, the file has %d; "+
						"store them uncompressed, as torch.save does", inflated, zr.size)
				}
				attach(s, swap,
					func(dst []byte) error { return zr.ReadInto(record, dst) },
					func() (io.ReadCloser, error) { return zr.Open(record) },
					func() (int64, bool) {
						off, err := zr.Offset(record)
						return off, err == nil
					})
			}
			storages[s.Key] = s
			opts.storage(s)
			return s, nil
		},
	})
	v, err := dec.Decode()
	if err != nil {
		return nil, wrapPickle(err)
	}
	// Meet the end of the record, where its checksum is compared.
	if _, err := io.Copy(io.Discard, data); err != nil {
		return nil, formatErr("record %q: %v", name, err)
	}
	return v, nil
}

// mostInflated is what the storages of a small file may inflate to. PyTorch compresses nothing. Deflate makes a
// thousand zeros a byte, so that a download of 32 MB could ask for 32 GB; weights become a tenth smaller.
const mostInflated = 1 << 30

func wrapPickle(err error) error {
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("torchzip: %w: %w", ErrFormat, err)
}

// attach connects a storage with its bytes in a file.
func attach(s *StorageRef, swap bool, readInto func([]byte) error, open func() (io.ReadCloser, error),
	at func() (int64, bool)) {
	width := swapWidth(s.DType)
	if !swap || width == 1 {
		s.at = at
		s.readInto = readInto
		s.Source = func(w io.Writer) error {
			rc, err := open()
			if err != nil {
				return err
			}
			defer rc.Close()
			_, err = io.Copy(w, rc)
			return err
		}
		return
	}
	s.readInto = func(dst []byte) error {
		if err := readInto(dst); err != nil {
			return err
		}
		swapBytes(dst, width)
		return nil
	}
	s.Source = func(w io.Writer) error {
		buf := make([]byte, s.NumBytes())
		if err := s.readInto(buf); err != nil {
			return err
		}
		_, err := w.Write(buf)
		return err
	}
}

// swapWidth is the size of the units whose bytes a big-endian machine orders the
// other way; the two parts of a complex number are units of their own.
func swapWidth(class string) int {
	switch class {
	case "ComplexDoubleStorage":
		return 8
	case "ComplexFloatStorage":
		return 4
	}
	return storageClasses[class].size
}

func swapBytes(b []byte, width int) {
	for ; len(b) >= width; b = b[width:] {
		for i, j := 0, width-1; i < j; i, j = i+1, j-1 {
			b[i], b[j] = b[j], b[i]
		}
	}
}

// sectionAt opens part of a file that has no checksum.
func sectionAt(r io.ReaderAt, off, n int64) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return io.NopCloser(io.NewSectionReader(r, off, n)), nil }
}
