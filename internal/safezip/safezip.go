// Package safezip opens zip archives that nobody vouches for, and vouches for their sizes.
//
// The directory of a zip archive says where the bytes of each member start and how many they are, compressed and not.
// A hostile directory can name the same bytes in a thousand members or claim sizes that the file does not have. After
// [NewReader] a program may trust that the members of an archive, all together, inflate to no more than [MaxRatio]
// times the size of the file.
package safezip

import (
	"archive/zip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sort"
)

// MaxRatio bounds how much larger than the file its members can be. Deflate codes at most 258 bytes in two bits, which
// with the headers of its blocks is a factor of about 1032.
const MaxRatio = 1040

// ErrFormat is wrapped by all errors about the contents of an archive, as opposed to those of the reader below.
var ErrFormat = errors.New("malformed zip archive")

func formatErr(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrFormat, fmt.Sprintf(format, args...))
}

// NewReader opens an archive of the given size. It refuses members that overlap, occur twice, reach past the end of the
// file, claim more bytes than Deflate can code, or are encrypted. The header before the bytes of a member only tells
// where they start: names and sizes are those of the directory.
func NewReader(r io.ReaderAt, size int64) (*zip.Reader, error) {
	zr, err := zip.NewReader(r, size)
	if err != nil {
		if errors.Is(err, zip.ErrFormat) || errors.Is(err, zip.ErrAlgorithm) || errors.Is(err, io.ErrUnexpectedEOF) ||
			errors.Is(err, io.EOF) {
			return nil, formatErr("%v", err)
		}
		return nil, err
	}
	type span struct{ from, to int64 }
	spans := make([]span, 0, len(zr.File))
	seen := make(map[string]bool, len(zr.File))
	for _, f := range zr.File {
		if seen[f.Name] {
			return nil, formatErr("member %q occurs twice", cut(f.Name))
		}
		seen[f.Name] = true
		if err := checkSizes(f, size); err != nil {
			return nil, err
		}
		at, err := f.DataOffset()
		if err != nil {
			return nil, formatErr("member %q: %v", cut(f.Name), err)
		}
		if at < 0 || at > size-int64(f.CompressedSize64) {
			return nil, formatErr("member %q reaches past the end of the file", cut(f.Name))
		}
		spans = append(spans, span{at, at + int64(f.CompressedSize64)})
	}
	sort.Slice(spans, func(i, j int) bool { return spans[i].from < spans[j].from })
	for i := 1; i < len(spans); i++ {
		if spans[i].from < spans[i-1].to {
			return nil, formatErr("members overlap at offset %d", spans[i].from)
		}
	}
	return zr, nil
}

func checkSizes(f *zip.File, size int64) error {
	switch {
	case f.Method != zip.Store && f.Method != zip.Deflate:
		return formatErr("member %q uses compression method %d", cut(f.Name), f.Method)
	case f.Flags&1 != 0:
		return formatErr("member %q is encrypted", cut(f.Name))
	case f.Method == zip.Store && f.CompressedSize64 != f.UncompressedSize64:
		return formatErr("stored member %q has sizes %d and %d", cut(f.Name), f.CompressedSize64, f.UncompressedSize64)
	case f.CompressedSize64 > uint64(size) || f.UncompressedSize64/MaxRatio > f.CompressedSize64:
		return formatErr("member %q claims %d bytes, the file has %d", cut(f.Name), f.UncompressedSize64, size)
	}
	return nil
}

// LocalHeader is what stands before the bytes of a member. Sizes are zero where the writer did not know them yet.
type LocalHeader struct {
	Name             string
	Method           uint16
	Compressed, Size int64
	Data             int64 // the offset of the bytes
}

// ReadLocalHeader reads the header at an offset, for archives whose directory is missing. It answers false where there
// is no whole header.
func ReadLocalHeader(r io.ReaderAt, size, off int64) (h LocalHeader, ok bool) {
	var b [30]byte
	if off < 0 || size-off < int64(len(b)) {
		return h, false
	}
	if n, _ := r.ReadAt(b[:], off); n < len(b) || string(b[:4]) != "PK\x03\x04" {
		return h, false
	}
	le := binary.LittleEndian
	name := make([]byte, le.Uint16(b[26:]))
	if n, _ := r.ReadAt(name, off+30); n < len(name) {
		return h, false
	}
	h = LocalHeader{Name: string(name), Method: le.Uint16(b[8:]),
		Compressed: int64(le.Uint32(b[18:])), Size: int64(le.Uint32(b[22:])),
		Data: off + 30 + int64(len(name)) + int64(le.Uint16(b[28:]))}
	return h, h.Data <= size
}

func cut(s string) string {
	if len(s) > 100 {
		return s[:100] + "..."
	}
	return s
}
