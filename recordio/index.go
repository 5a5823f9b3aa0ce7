package recordio

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
)

// IndexEntry is one line of an .idx file: a key and the offset of its record.
type IndexEntry struct {
	Key    int
	Offset int64
}

// ParseIndex reads the text of an .idx file: one "key TAB offset" per line.
// As in MXNet, white space around a field and columns behind the second are
// ignored; so is an empty line, which MXNet takes for an error. A field that is
// not a number, or a negative offset, is an error with the line number.
func ParseIndex(text []byte) ([]IndexEntry, error) {
	var entries []IndexEntry
	for line := 1; len(text) > 0; line++ {
		var row []byte
		row, text, _ = bytes.Cut(text, []byte{'\n'})
		row = bytes.TrimSpace(row)
		if len(row) == 0 {
			continue
		}
		k, rest, ok := bytes.Cut(row, []byte{'\t'})
		if !ok {
			return nil, fmt.Errorf("recordio: index line %d: %q has no tab, expected key and offset", line, clip(row))
		}
		o, _, _ := bytes.Cut(rest, []byte{'\t'})
		key, err := strconv.Atoi(string(bytes.TrimSpace(clip(k))))
		if err != nil {
			return nil, fmt.Errorf("recordio: index line %d: key %q is not an integer", line, clip(k))
		}
		off, err := strconv.ParseInt(string(bytes.TrimSpace(clip(o))), 10, 64)
		if err != nil || off < 0 {
			return nil, fmt.Errorf("recordio: index line %d: offset %q is not a position in a file", line, clip(o))
		}
		entries = append(entries, IndexEntry{key, off})
	}
	return entries, nil
}

// clip keeps error texts short whatever the file holds.
func clip(b []byte) []byte {
	if len(b) > 64 {
		return append(b[:64:64], "..."...)
	}
	return b
}

// AppendIndex appends the text of an .idx file to dst, byte for byte as MXNet
// writes it.
func AppendIndex(dst []byte, entries []IndexEntry) []byte {
	for _, e := range entries {
		dst = strconv.AppendInt(dst, int64(e.Key), 10)
		dst = append(dst, '\t')
		dst = strconv.AppendInt(dst, e.Offset, 10)
		dst = append(dst, '\n')
	}
	return dst
}

// WriteIndex writes an .idx file.
func WriteIndex(path string, entries []IndexEntry) error {
	return writeFile(path, AppendIndex(nil, entries))
}

// BuildIndex walks r from its current position and returns an index with the
// keys 0, 1, 2 …, which is what MXNet's rec2idx tool makes of a .rec file whose
// index is missing or damaged. Payloads are not read.
func BuildIndex(r *Reader) ([]IndexEntry, error) {
	var entries []IndexEntry
	for {
		off, _, err := r.Skip()
		if err == io.EOF {
			return entries, nil
		}
		if err != nil {
			return entries, err
		}
		entries = append(entries, IndexEntry{len(entries), off})
	}
}

// IndexPath returns the name under which MXNet looks for a .rec file's index:
// the same with the extension .idx.
func IndexPath(recPath string) string {
	slash := strings.LastIndexAny(recPath, `/\`)
	if dot := strings.LastIndexByte(recPath, '.'); dot > slash+1 {
		recPath = recPath[:dot]
	}
	return recPath + ".idx"
}

// An IndexedReader reads records by key. ReadIdx, Keys, Len and Offset may be
// used by any number of goroutines at a time; the embedded [Reader] has a
// position of its own for reading in order.
type IndexedReader struct {
	*Reader
	keys []int
	pos  map[int]int64
}

// OpenIndexed opens an .idx file and its .rec file. The order of the arguments
// is MXNet's. Offsets are checked when a record is read, or all at once by
// [IndexedReader.Verify].
func OpenIndexed(idxPath, recPath string, opts ...ReaderOptions) (*IndexedReader, error) {
	text, err := os.ReadFile(idxPath)
	if err != nil {
		return nil, fmt.Errorf("recordio: %w", err)
	}
	entries, err := ParseIndex(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", idxPath, err)
	}
	r, err := Open(recPath, opts...)
	if err != nil {
		return nil, err
	}
	return NewIndexedReader(r, entries)
}

// NewIndexedReader puts an index on an open reader, which must have random
// access ([Open], [NewReaderAt]). A key that occurs twice means its last entry
// but is listed twice by Keys, as in MXNet.
func NewIndexedReader(r *Reader, entries []IndexEntry) (*IndexedReader, error) {
	if r.Size() < 0 {
		return nil, errors.New("recordio: an index needs a file, not a stream")
	}
	x := &IndexedReader{Reader: r, keys: make([]int, len(entries)), pos: make(map[int]int64, len(entries))}
	for i, e := range entries {
		x.keys[i] = e.Key
		x.pos[e.Key] = e.Offset
	}
	return x, nil
}

// Keys returns the keys in the order of the .idx file. Do not change the slice.
func (x *IndexedReader) Keys() []int { return x.keys }

// Len returns the number of entries in the index.
func (x *IndexedReader) Len() int { return len(x.keys) }

// Offset returns the position of a key's record and whether the key exists.
func (x *IndexedReader) Offset(key int) (int64, bool) {
	off, ok := x.pos[key]
	return off, ok
}

// ReadIdx returns the record of a key. Other than MXNet's read_idx it does not
// move the position of Next, so goroutines do not disturb each other. An unknown
// key is [ErrKey]; an entry that points at no record is a [CorruptError].
func (x *IndexedReader) ReadIdx(key int) ([]byte, error) {
	off, ok := x.pos[key]
	if !ok {
		return nil, fmt.Errorf("%w: %d is not in the index of %d entries", ErrKey, key, len(x.keys))
	}
	b, err := x.RecordAt(off)
	if err != nil {
		return nil, fmt.Errorf("recordio: key %d: %w", key, err)
	}
	return b, nil
}

// Seek makes Next go on with the record of a key. An unknown key is [ErrKey].
func (x *IndexedReader) Seek(key int) error {
	off, ok := x.pos[key]
	if !ok {
		return fmt.Errorf("%w: %d is not in the index of %d entries", ErrKey, key, len(x.keys))
	}
	return x.SeekTo(off)
}

// Verify follows every index entry to its record's headers and returns the
// problems found, at most a hundred of them, joined into one error.
func (x *IndexedReader) Verify() error {
	src := x.src.(*fixedSource)
	var errs []error
	for _, k := range x.keys {
		off := x.pos[k]
		var err error
		if off%4 != 0 {
			err = &CorruptError{src.path, off, "no record here: records start at multiples of 4", nil}
		} else if _, err = walk(src, off, nil); err == io.EOF {
			err = &CorruptError{src.path, off, fmt.Sprintf("no record here: the file has %d bytes", src.size), nil}
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("recordio: key %d: %w", k, err))
			if len(errs) == 100 {
				break
			}
		}
	}
	return errors.Join(errs...)
}

// An IndexedWriter writes a .rec file and its .idx file together. It is safe for
// several goroutines.
type IndexedWriter struct {
	mu   sync.Mutex // one record and its line belong together
	rec  *Writer
	idx  io.Writer
	file *outFile
	line []byte
	done bool
	err  error
}

// CreateIndexed starts an .idx file and its .rec file; both appear under their
// names when Close succeeds. The order of the arguments is MXNet's.
func CreateIndexed(idxPath, recPath string) (*IndexedWriter, error) {
	rec, err := Create(recPath)
	if err != nil {
		return nil, err
	}
	idx, err := createOut(idxPath)
	if err != nil {
		rec.Abort()
		return nil, fmt.Errorf("recordio: %w", err)
	}
	return &IndexedWriter{rec: rec, idx: idx, file: idx}, nil
}

// NewIndexedWriter writes index lines to idx and records to rec.
func NewIndexedWriter(idx, rec io.Writer, opts ...WriterOptions) *IndexedWriter {
	return &IndexedWriter{rec: NewWriter(rec, opts...), idx: idx}
}

// WriteIdx appends payload as one record under key. Keys are not required to be
// distinct or sorted; see [NewIndexedReader] for what a repeated one means.
func (w *IndexedWriter) WriteIdx(key int, payload []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.done:
		return ErrClosed
	case w.err != nil:
		return w.err
	}
	pos := w.rec.Tell()
	if _, err := w.rec.Write(payload); err != nil {
		return err // the writer below knows whether it can go on
	}
	w.line = AppendIndex(w.line[:0], []IndexEntry{{key, pos}})
	if _, err := w.idx.Write(w.line); err != nil {
		w.err = fmt.Errorf("recordio: index: %w", err) // the two files no longer agree
	}
	return w.err
}

// Tell returns the offset at which the next record will start.
func (w *IndexedWriter) Tell() int64 { return w.rec.Tell() }

// Close finishes both files, the records first: an index never appears before
// what it points into. After a failed write it removes both and returns that
// error. Streams given to [NewIndexedWriter] stay open.
func (w *IndexedWriter) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.done {
		return nil
	}
	w.done = true
	if w.file == nil {
		return errors.Join(w.err, w.rec.Close())
	}
	if w.err != nil {
		w.rec.Abort()
		w.file.abort()
		return w.err
	}
	if err := w.file.finish(); err != nil {
		w.rec.Abort()
		return err
	}
	if err := w.rec.Close(); err != nil {
		w.file.remove()
		return err
	}
	return w.file.rename()
}

// Abort removes both unfinished files; after Close it does nothing, which makes
// it fit for defer.
func (w *IndexedWriter) Abort() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.done {
		return
	}
	w.done = true
	w.rec.Abort()
	if w.file != nil {
		w.file.abort()
	}
}
