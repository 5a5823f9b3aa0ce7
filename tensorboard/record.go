package tensorboard

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// The framing of a record, all little endian (tensorflow/core/lib/io/record_writer.h):
//
//	uint64 length
//	uint32 masked CRC-32C of the 8 length bytes
//	byte   payload[length]
//	uint32 masked CRC-32C of the payload
const (
	recordHeader   = 12
	recordFooter   = 4
	recordOverhead = recordHeader + recordFooter
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// maskedCRC is CRC-32C rotated and offset: checksums of data that itself holds
// checksums would otherwise be weak.
func maskedCRC(b []byte) uint32 {
	c := crc32.Checksum(b, castagnoli)
	return (c>>15 | c<<17) + 0xa282ead8
}

// AppendRecord appends payload to dst as one framed record.
func AppendRecord(dst, payload []byte) []byte {
	var h [recordHeader]byte
	binary.LittleEndian.PutUint64(h[:8], uint64(len(payload)))
	binary.LittleEndian.PutUint32(h[8:], maskedCRC(h[:8]))
	dst = append(dst, h[:]...)
	dst = append(dst, payload...)
	return binary.LittleEndian.AppendUint32(dst, maskedCRC(payload))
}

// ErrTruncated says that a file ends inside a record: it is still being
// written, or its writer was killed.
var ErrTruncated = errors.New("tensorboard: file ends inside a record")

// CorruptError is a record whose checksum does not match its bytes.
type CorruptError struct {
	Offset int64  // where the record begins in its file
	Length uint64 // payload length that the record claims
	Part   string // "length" or "data": whose checksum is wrong
}

// Error names the record's offset and the part that is wrong.
func (e *CorruptError) Error() string {
	return fmt.Sprintf("tensorboard: corrupt record at offset %d: wrong checksum of its %s (length %d)", e.Offset,
		e.Part, e.Length)
}

// Recoverable says whether reading can go on behind the record. It can when only
// the payload is damaged: the length is then known to be right.
func (e *CorruptError) Recoverable() bool { return e.Part == "data" }

// RecordReader reads records from an [io.ReaderAt] that may still be growing.
// It is not safe for concurrent use.
type RecordReader struct {
	r    io.ReaderAt
	off  int64
	buf  []byte // bytes of the file from bufOff on
	bOff int64
	big  []byte // a record larger than buf
}

// NewRecordReader reads records of r from offset on, which must be the start of
// a record (0 for a whole file).
func NewRecordReader(r io.ReaderAt, offset int64) *RecordReader {
	return &RecordReader{r: r, off: offset, bOff: offset}
}

// Offset is where the next record begins.
func (r *RecordReader) Offset() int64 { return r.off }

const readChunk = 256 << 10

// window returns n bytes at off, or io.ErrUnexpectedEOF/io.EOF when the file is
// shorter. The bytes are valid until the next call.
func (r *RecordReader) window(off int64, n int) ([]byte, error) {
	if i := off - r.bOff; i >= 0 && i+int64(n) <= int64(len(r.buf)) {
		return r.buf[i : i+int64(n)], nil
	}
	if n > readChunk {
		// Grow with what really is in the file, never with what a header claims.
		r.big = r.big[:0]
		for len(r.big) < n {
			k := min(n-len(r.big), max(readChunk, len(r.big)))
			at := len(r.big)
			r.big = append(r.big, make([]byte, k)...)
			m, err := r.r.ReadAt(r.big[at:], off+int64(at))
			if m < k {
				r.big = r.big[:at+m]
				if err == nil || err == io.EOF {
					err = io.ErrUnexpectedEOF
				}
				return nil, err
			}
		}
		return r.big, nil
	}
	if cap(r.buf) < readChunk {
		r.buf = make([]byte, readChunk)
	}
	m, err := r.r.ReadAt(r.buf[:readChunk], off)
	r.buf, r.bOff = r.buf[:m], off
	if m >= n {
		return r.buf[:n], nil
	}
	if err != nil && err != io.EOF {
		return nil, err
	}
	if m == 0 {
		return nil, io.EOF
	}
	return nil, io.ErrUnexpectedEOF
}

// Next returns the payload of the next record; the bytes are valid until the
// following call. At the end of the file it returns [io.EOF], inside a record
// [ErrTruncated] (both may be retried: the file may have grown), for a wrong
// checksum a [*CorruptError]: when that is recoverable the reader stands behind
// the record, otherwise it stays.
func (r *RecordReader) Next() ([]byte, error) {
	start := r.off
	// A tail may have been cached when it was shorter.
	h, err := r.window(start, recordHeader)
	if err != nil {
		return nil, tailError(err)
	}
	n := binary.LittleEndian.Uint64(h)
	if binary.LittleEndian.Uint32(h[8:]) != maskedCRC(h[:8]) {
		return nil, &CorruptError{Offset: start, Length: n, Part: "length"}
	}
	if n > 1<<31 {
		// A protocol buffer is never larger than 2 GiB; the checksum is right by
		// accident or by intent.
		return nil, &CorruptError{Offset: start, Length: n, Part: "length"}
	}
	b, err := r.window(start+recordHeader, int(n)+recordFooter)
	if err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, tailError(err)
	}
	r.off = start + recordOverhead + int64(n)
	p := b[:n]
	if binary.LittleEndian.Uint32(b[n:]) != maskedCRC(p) {
		return nil, &CorruptError{Offset: start, Length: n, Part: "data"}
	}
	return p, nil
}

func tailError(err error) error {
	if err == io.ErrUnexpectedEOF {
		return ErrTruncated
	}
	return err
}
