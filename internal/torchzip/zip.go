package torchzip

import (
	"archive/zip"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/gotorch-dev/torch/internal/safezip"
)

// ErrFormat is wrapped by errors about the contents of a file.
var ErrFormat = errors.New("malformed PyTorch file")

func formatErr(format string, args ...any) error {
	return fmt.Errorf("torchzip: %w: %s", ErrFormat, fmt.Sprintf(format, args...))
}

// Reader gives access to the records of a container.
type Reader struct {
	r       io.ReaderAt
	size    int64
	name    string
	names   []string
	records map[string]*zip.File
}

// NewReader opens a container of the given size, whose records lie in one folder. See [safezip.NewReader] for what it
// refuses.
func NewReader(r io.ReaderAt, size int64) (*Reader, error) {
	out, files, err := open(r, size)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		folder, record, ok := strings.Cut(f.Name, "/")
		if !ok {
			return nil, formatErr("member %q is not in a folder", f.Name)
		}
		if out.name == "" {
			out.name = folder
		}
		if folder != out.name {
			return nil, formatErr("members in two folders, %q and %q", out.name, folder)
		}
		out.add(record, f)
	}
	return out, nil
}

// NewFlatReader is NewReader for a container whose records lie in no folder, as Python programs write with zipfile. A
// record is called by its whole name.
func NewFlatReader(r io.ReaderAt, size int64) (*Reader, error) {
	out, files, err := open(r, size)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		out.add(f.Name, f)
	}
	return out, nil
}

func open(r io.ReaderAt, size int64) (*Reader, []*zip.File, error) {
	zr, err := safezip.NewReader(r, size)
	if err != nil {
		if errors.Is(err, safezip.ErrFormat) {
			return nil, nil, formatErr("%v", err)
		}
		return nil, nil, fmt.Errorf("torchzip: %w", err)
	}
	if len(zr.File) == 0 {
		return nil, nil, formatErr("empty archive")
	}
	return &Reader{r: r, size: size, records: make(map[string]*zip.File, len(zr.File))}, zr.File, nil
}

func (r *Reader) add(record string, f *zip.File) {
	if record == "" || strings.HasSuffix(record, "/") {
		return // an explicit entry for a folder
	}
	r.records[record] = f
	r.names = append(r.names, record)
}

// Name returns the name of the folder that holds all records.
func (r *Reader) Name() string { return r.name }

// Records returns the names of the records in the order of the file, without the folder.
func (r *Reader) Records() []string { return slices.Clone(r.names) }

// Has reports whether the container has the record.
func (r *Reader) Has(record string) bool { return r.records[record] != nil }

// Size returns the size of a record, or -1 if there is none of that name.
func (r *Reader) Size(record string) int64 {
	if f := r.records[record]; f != nil {
		return int64(f.UncompressedSize64)
	}
	return -1
}

// Offset returns where in the file the bytes of a record start. It fails for a
// compressed record, whose bytes are not in the file as such.
func (r *Reader) Offset(record string) (int64, error) {
	f := r.records[record]
	if f == nil {
		return 0, formatErr("no record %q", record)
	}
	if f.Method != zip.Store {
		return 0, formatErr("record %q is compressed", record)
	}
	return f.DataOffset()
}

// Open returns a reader of a record. Its last Read fails if the checksum is wrong.
func (r *Reader) Open(record string) (io.ReadCloser, error) {
	f := r.records[record]
	if f == nil {
		return nil, formatErr("no record %q", record)
	}
	rc, err := f.Open()
	if err != nil {
		return nil, formatErr("record %q: %v", record, err)
	}
	return rc, nil
}

// ReadInto reads a whole record into dst, whose length must be the record's size.
func (r *Reader) ReadInto(record string, dst []byte) error {
	if n := r.Size(record); n >= 0 && n != int64(len(dst)) {
		return formatErr("record %q has %d bytes, expected %d", record, n, len(dst))
	}
	rc, err := r.Open(record)
	if err != nil {
		return err
	}
	defer rc.Close()
	if _, err := io.ReadFull(rc, dst); err != nil {
		return formatErr("record %q: %v", record, err)
	}
	// The checksum is compared when the end is met.
	if n, err := rc.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		return formatErr("record %q: %v", record, err)
	}
	return nil
}

// ReadAll returns the bytes of a record.
func (r *Reader) ReadAll(record string) ([]byte, error) {
	n := r.Size(record)
	if n < 0 {
		return nil, formatErr("no record %q", record)
	}
	dst := make([]byte, n) // at most safezip.MaxRatio times the size of the file
	return dst, r.ReadInto(record, dst)
}

// alignment is the boundary at which the bytes of every record start.
const alignment = 64

// Writer writes a container. Its output has no timestamps: the same records in the
// same order give the same bytes, which are those that PyTorch's own writer gives.
type Writer struct {
	w        io.Writer
	name     string
	off      uint64
	err      error // the first failure; it sticks
	entries  []entry
	names    nameSet
	combined uint64 // hash of the checksums so far
}

type entry struct {
	name   string
	crc    uint32
	size   uint64
	offset uint64
}

// NewWriter returns a writer of a container whose records lie in the folder name.
func NewWriter(w io.Writer, name string) (*Writer, error) {
	if name == "" || strings.ContainsAny(name, "/\\") || len(name) > 1<<10 {
		return nil, fmt.Errorf("torchzip: archive name %q must be a plain, non-empty name", name)
	}
	return &Writer{w: w, name: name}, nil
}

func (w *Writer) write(b []byte) {
	if w.err != nil {
		return
	}
	n, err := w.w.Write(b)
	w.off += uint64(n)
	w.err = err
}

// zip64 returns the zip64 extra field with the values that do not fit 32 bits.
func zip64Extra(sizes []uint64) []byte {
	if len(sizes) == 0 {
		return nil
	}
	b := binary.LittleEndian.AppendUint16(nil, 1)
	b = binary.LittleEndian.AppendUint16(b, uint16(8*len(sizes)))
	for _, s := range sizes {
		b = binary.LittleEndian.AppendUint64(b, s)
	}
	return b
}

func clamp32(v uint64) uint32 { return uint32(min(v, math.MaxUint32)) }

const (
	flagUTF8       = 0x0800
	flagDescriptor = 0x0008 // checksum and sizes follow the data
)

// Record writes a record from memory.
func (w *Writer) Record(name string, data []byte) error {
	return w.RecordFrom(name, int64(len(data)), func(dst io.Writer) error {
		_, err := dst.Write(data)
		return err
	})
}

// RecordFrom writes a record of the given size, whose bytes write produces.
func (w *Writer) RecordFrom(name string, size int64, write func(io.Writer) error) error {
	if w.err != nil {
		return w.err
	}
	full := w.name + "/" + name
	if name == "" || len(full) > math.MaxUint16 || size < 0 {
		return fmt.Errorf("torchzip: bad record name %q or size %d", cut(name), size)
	}
	if !w.names.add(name) {
		return fmt.Errorf("torchzip: record %q written twice", name)
	}
	e := entry{name: full, size: uint64(size), offset: w.off}
	w.err = w.record(&e, write)
	if w.err != nil {
		w.err = fmt.Errorf("torchzip: record %q: %w", name, w.err)
		return w.err
	}
	w.entries = append(w.entries, e)
	w.combined = hashCombine(w.combined, uint64(e.crc))
	return nil
}

func (w *Writer) record(e *entry, write func(io.Writer) error) error {
	var big []uint64
	if e.size >= math.MaxUint32 {
		big = append(big, e.size, e.size)
	}
	if e.offset >= math.MaxUint32 {
		big = append(big, e.offset)
	}
	extra := zip64Extra(big)
	flags := uint16(flagUTF8)
	if e.size > 0 { // there is no descriptor after nothing
		flags |= flagDescriptor
	}
	// A field of our own, of the kind FB, pads the header to the boundary.
	start := e.offset + 30 + uint64(len(e.name)) + uint64(len(extra)) + 4
	pad := int((alignment - start%alignment) % alignment)
	extra = append(extra, 'F', 'B', byte(pad), 0)
	for range pad {
		extra = append(extra, 'Z')
	}
	h := binary.LittleEndian.AppendUint32(nil, 0x04034b50)
	h = binary.LittleEndian.AppendUint16(h, 0) // version needed
	h = binary.LittleEndian.AppendUint16(h, flags)
	h = append(h, make([]byte, 2+4+12)...) // method, time and date; checksum and sizes: see the descriptor
	h = binary.LittleEndian.AppendUint16(h, uint16(len(e.name)))
	h = binary.LittleEndian.AppendUint16(h, uint16(len(extra)))
	h = append(h, e.name...)
	h = append(h, extra...)
	w.write(h)
	if w.err != nil {
		return w.err
	}

	body := &recordWriter{w: w, left: e.size}
	if err := write(body); err != nil {
		return err
	}
	if w.err != nil {
		return w.err
	}
	if body.left != 0 {
		return fmt.Errorf("%d of %d bytes are missing", body.left, e.size)
	}
	e.crc = body.crc
	if e.size > 0 {
		d := binary.LittleEndian.AppendUint32(nil, 0x08074b50)
		d = binary.LittleEndian.AppendUint32(d, e.crc)
		if len(big) > 0 {
			d = binary.LittleEndian.AppendUint64(d, e.size)
			d = binary.LittleEndian.AppendUint64(d, e.size)
		} else {
			d = binary.LittleEndian.AppendUint32(d, uint32(e.size))
			d = binary.LittleEndian.AppendUint32(d, uint32(e.size))
		}
		w.write(d)
	}
	return w.err
}

// recordWriter checks the length of a record and sums it up as it passes.
type recordWriter struct {
	w    *Writer
	left uint64
	crc  uint32
}

func (b *recordWriter) Write(p []byte) (int, error) {
	if uint64(len(p)) > b.left {
		return 0, errors.New("more bytes than announced")
	}
	b.left -= uint64(len(p))
	b.crc = crc32.Update(b.crc, crc32.IEEETable, p)
	b.w.write(p)
	if b.w.err != nil {
		return 0, b.w.err
	}
	return len(p), nil
}

// Close adds the records that every container has, unless they were written
// already (version, byteorder, .data/serialization_id), and the directory. It
// does not close the underlying writer.
func (w *Writer) Close() error {
	if !w.names.has("version") && !w.names.has(".data/version") {
		if err := w.Record("version", []byte("3\n")); err != nil {
			return err
		}
	}
	if !w.names.has("byteorder") {
		if err := w.Record("byteorder", []byte("little")); err != nil {
			return err
		}
	}
	if !w.names.has(serializationID) {
		id := fmt.Sprintf("%020d%020d", w.names.combinedHash(), w.combined)
		if err := w.Record(serializationID, []byte(id)); err != nil {
			return err
		}
	}
	if w.err != nil {
		return w.err
	}
	le := binary.LittleEndian
	start := w.off
	for _, e := range w.entries {
		var big []uint64
		if e.size >= math.MaxUint32 {
			big = append(big, e.size, e.size)
		}
		if e.offset >= math.MaxUint32 {
			big = append(big, e.offset)
		}
		extra := zip64Extra(big)
		flags := uint16(flagUTF8)
		if e.size > 0 {
			flags |= flagDescriptor
		}
		h := le.AppendUint32(nil, 0x02014b50)
		h = append(h, 0, 0, 0, 0) // versions
		h = le.AppendUint16(h, flags)
		h = append(h, 0, 0, 0, 0, 0, 0) // method, time, date
		h = le.AppendUint32(h, e.crc)
		h = le.AppendUint32(h, clamp32(e.size))
		h = le.AppendUint32(h, clamp32(e.size))
		h = le.AppendUint16(h, uint16(len(e.name)))
		h = le.AppendUint16(h, uint16(len(extra)))
		h = append(h, make([]byte, 2+2+2+4)...) // comment, disk, attributes
		h = le.AppendUint32(h, clamp32(e.offset))
		h = append(h, e.name...)
		h = append(h, extra...)
		w.write(h)
	}
	size, n := w.off-start, uint64(len(w.entries))

	// The end is always written in the zip64 form, then in the plain one.
	end64 := w.off
	h := le.AppendUint32(nil, 0x06064b50)
	h = le.AppendUint64(h, 44)
	h = le.AppendUint16(h, 0x031e)
	h = le.AppendUint16(h, 0x002d)
	h = le.AppendUint64(h, 0)
	h = le.AppendUint64(h, n)
	h = le.AppendUint64(h, n)
	h = le.AppendUint64(h, size)
	h = le.AppendUint64(h, start)
	h = le.AppendUint32(h, 0x07064b50)
	h = le.AppendUint32(h, 0)
	h = le.AppendUint64(h, end64)
	h = le.AppendUint32(h, 1)
	h = le.AppendUint32(h, 0x06054b50)
	h = le.AppendUint32(h, 0)
	h = le.AppendUint16(h, uint16(min(n, math.MaxUint16)))
	h = le.AppendUint16(h, uint16(min(n, math.MaxUint16)))
	h = le.AppendUint32(h, clamp32(size))
	h = le.AppendUint32(h, clamp32(start))
	h = le.AppendUint16(h, 0)
	w.write(h)
	if w.err != nil {
		return w.err
	}
	w.err = errors.New("torchzip: writer is closed")
	return nil
}

func cut(s string) string {
	if len(s) > 100 {
		return s[:100] + "..."
	}
	return s
}
