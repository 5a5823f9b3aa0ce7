package recordio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

const (
	// Magic is the word that starts every part of a record (bytes 0a 23 d7 ce).
	Magic uint32 = 0xced7230a

	// MaxRecordSize is the largest payload a record may have: the length field
	// has 29 bits and MXNet refuses anything that does not fit it as a whole.
	MaxRecordSize = 1<<29 - 1

	headSize = 8
	lenMask  = 1<<29 - 1

	flagWhole  = 0
	flagFirst  = 1
	flagMiddle = 2
	flagLast   = 3
)

var magicBytes = [4]byte{0x0a, 0x23, 0xd7, 0xce}

var (
	// ErrCorrupt is what errors.Is matches for every [CorruptError].
	ErrCorrupt = errors.New("recordio: corrupt file")

	// ErrTooLarge reports a payload longer than [MaxRecordSize].
	ErrTooLarge = errors.New("recordio: record too large")

	// ErrKey reports a key that an index does not contain.
	ErrKey = errors.New("recordio: no such key")

	// ErrClosed reports the use of a closed reader or writer.
	ErrClosed = errors.New("recordio: already closed")
)

// CorruptError says where a .rec file is damaged and how.
type CorruptError struct {
	Path   string // file name, empty when the source has none
	Offset int64  // byte offset of the part header that cannot be used
	Reason string // what was found and what was expected
	Err    error  // the read error underneath, if there was one
}

// Error implements the error interface.
func (e *CorruptError) Error() string {
	name := e.Path
	if name == "" {
		name = "record file"
	}
	s := fmt.Sprintf("recordio: %s: offset %d: %s", name, e.Offset, e.Reason)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Is reports whether target is [ErrCorrupt].
func (e *CorruptError) Is(target error) bool { return target == ErrCorrupt }

// Unwrap returns the underlying read error, if any.
func (e *CorruptError) Unwrap() error { return e.Err }

func align4(n int64) int64 { return (n + 3) &^ 3 }

// part is one decoded part header.
type part struct {
	flag uint32
	size int64
}

// end is the offset just behind the part that starts at off.
func (p part) end(off int64) int64 { return off + headSize + align4(p.size) }

// readError describes a failed read. A file that ends too early is damage; any
// other failure is the operating system's and says nothing about the contents.
func readError(src source, off int64, err error) error {
	if err == io.ErrUnexpectedEOF {
		return &CorruptError{src.name(), off, "file became shorter while reading", err}
	}
	if name := src.name(); name != "" {
		return fmt.Errorf("recordio: %s: offset %d: %w", name, off, err)
	}
	return fmt.Errorf("recordio: offset %d: %w", off, err)
}

// readPart decodes and checks the header at off: magic, flag range, and that
// the whole part, padding included, lies inside the source. It returns io.EOF
// exactly when off is the end of the source. Nothing is allocated, so a lying
// length costs nothing.
func readPart(src source, off int64) (part, error) {
	have, err := src.avail(off, headSize)
	if err != nil {
		return part{}, readError(src, off, err)
	}
	switch {
	case have == 0:
		return part{}, io.EOF
	case have < headSize:
		return part{}, &CorruptError{src.name(), off,
			fmt.Sprintf("cut record header: %d of %d bytes left", have, headSize), io.ErrUnexpectedEOF}
	}
	var h [headSize]byte
	if err := readFull(src, h[:], off); err != nil {
		return part{}, readError(src, off, err)
	}
	if m := binary.LittleEndian.Uint32(h[:]); m != Magic {
		return part{}, &CorruptError{src.name(), off, fmt.Sprintf("bad magic 0x%08x, expected 0x%08x", m, Magic), nil}
	}
	w := binary.LittleEndian.Uint32(h[4:])
	p := part{flag: w >> 29, size: int64(w & lenMask)}
	if p.flag > flagLast {
		return p, &CorruptError{src.name(), off, fmt.Sprintf("bad continuation flag %d, expected 0 to 3", p.flag), nil}
	}
	need := headSize + align4(p.size)
	have, err = src.avail(off, need)
	if err != nil {
		return p, readError(src, off, err)
	}
	if have < need {
		return p, &CorruptError{src.name(), off,
			fmt.Sprintf("record of %d bytes needs %d bytes with header and padding, only %d left in the file", p.size,
				need, have), io.ErrUnexpectedEOF}
	}
	return p, nil
}

// span is what walking the headers of one record finds out.
type span struct {
	size int64 // payload bytes, restored magic words included
	next int64 // offset of the following record
}

// walk follows the part headers of the record at off without touching its
// payload. dead, when not nil, remembers continuation headers known to lead
// nowhere: recovery tries many heads, and chains that run into one another
// would otherwise be walked again for each of them, which a hostile file could
// drive to quadratic time.
func walk(src source, off int64, dead map[int64]struct{}) (span, error) {
	p, err := readPart(src, off)
	if err != nil {
		return span{}, err
	}
	if p.flag == flagMiddle || p.flag == flagLast {
		return span{}, &CorruptError{src.name(), off,
			fmt.Sprintf("continuation flag %d where a record should start", p.flag), nil}
	}
	s := span{size: p.size, next: p.end(off)}
	if p.flag == flagWhole {
		return s, nil
	}
	var chain []int64
	fail := func(at int64, reason string, err error) (span, error) {
		if dead != nil {
			for _, o := range chain {
				dead[o] = struct{}{}
			}
		}
		if reason == "" {
			return span{}, err
		}
		return span{}, &CorruptError{src.name(), at, reason, err}
	}
	for {
		at := s.next
		if dead != nil {
			chain = append(chain, at)
			if _, bad := dead[at]; bad {
				return fail(at, "continuation part leads to a damaged one", nil)
			}
		}
		p, err := readPart(src, at)
		if err == io.EOF {
			return fail(at, "file ends inside a record of several parts", io.ErrUnexpectedEOF)
		}
		if err != nil {
			return fail(at, "", err)
		}
		if p.flag != flagMiddle && p.flag != flagLast {
			return fail(at, fmt.Sprintf("continuation flag %d inside a record of several parts, expected 2 or 3",
				p.flag), nil)
		}
		s.size += 4 + p.size
		s.next = p.end(at)
		// A writer refuses such a record, so a longer chain is damage. The check
		// also keeps the payload within int on 32-bit machines.
		if s.size > MaxRecordSize {
			return fail(off, fmt.Sprintf("record of several parts exceeds %d bytes", MaxRecordSize), nil)
		}
		if p.flag == flagLast {
			return s, nil
		}
	}
}

// load appends the payload of the record at off, already measured by walk.
func load(src source, off int64, s span, dst []byte) ([]byte, error) {
	base := len(dst)
	if need := base + int(s.size); cap(dst) < need {
		grown := make([]byte, base, need)
		copy(grown, dst)
		dst = grown
	}
	for {
		p, err := readPart(src, off)
		if err != nil {
			if err == io.EOF {
				err = &CorruptError{src.name(), off, "file became shorter while reading", io.ErrUnexpectedEOF}
			}
			return dst[:base], err
		}
		at := len(dst)
		if int64(at-base)+p.size > s.size {
			return dst[:base], &CorruptError{src.name(), off, "file changed while reading", nil}
		}
		dst = dst[:at+int(p.size)]
		if err := readFull(src, dst[at:], off+headSize); err != nil {
			return dst[:base], readError(src, off, err)
		}
		if at, ok := swallowed(src, dst[at:], off+headSize); ok {
			return dst[:base], &CorruptError{src.name(), off,
				fmt.Sprintf("length %d runs over the record at offset %d", p.size, at), errSwallowed}
		}
		off = p.end(off)
		if off >= s.next {
			return dst, nil
		}
		dst = append(dst, magicBytes[:]...)
	}
}

// errSwallowed marks the error of a record whose length covers another record.
var errSwallowed = errors.New("a record inside a record")

// swallowed looks for a header inside a part's payload, which lies at off. A writer
// splits records at the magic word, so one that is there betrays a wrong length.
// Since some writers of other tools do not split, it only counts if another header,
// or the end, follows where it says that its part ends.
func swallowed(src source, payload []byte, off int64) (at int64, found bool) {
	size := int64(len(payload))
	for i := nextMagic(payload, 0); i >= 0 && i+headSize <= len(payload); i = nextMagic(payload, i+4) {
		w := binary.LittleEndian.Uint32(payload[i+4:])
		p := part{flag: w >> 29, size: int64(w & lenMask)}
		if p.flag > flagLast {
			continue
		}
		switch end := p.end(int64(i)); {
		case end == align4(size):
			return off + int64(i), true
		case end+4 <= size:
			if bytes.Equal(payload[end:end+4], magicBytes[:]) {
				return off + int64(i), true
			}
		default:
			// A stream is not read ahead for the sake of a suspicion.
			f, ok := src.(*fixedSource)
			if !ok {
				continue
			}
			var m [4]byte
			if off+end == f.size || readFull(src, m[:], off+end) == nil && m == magicBytes {
				return off + int64(i), true
			}
		}
	}
	return 0, false
}

// AppendRecord appends the encoded form of payload to dst: header, parts and
// padding, byte for byte what MXNet writes. It fails with [ErrTooLarge] when
// payload is longer than [MaxRecordSize].
func AppendRecord(dst, payload []byte) ([]byte, error) {
	if len(payload) > MaxRecordSize {
		return dst, fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, len(payload), MaxRecordSize)
	}
	emit := func(flag uint32, b []byte) {
		dst = append(dst, magicBytes[:]...)
		dst = binary.LittleEndian.AppendUint32(dst, flag<<29|uint32(len(b)))
		dst = append(dst, b...)
	}
	start := 0
	flag := uint32(flagFirst)
	// Only whole aligned words count: the magic at another phase, or one that
	// begins in the last three bytes, cannot be mistaken for a header.
	for i := nextMagic(payload, 0); i >= 0; i = nextMagic(payload, i+4) {
		emit(flag, payload[start:i])
		start, flag = i+4, flagMiddle
	}
	if start == 0 {
		flag = flagWhole
	} else {
		flag = flagLast
	}
	emit(flag, payload[start:])
	for n := len(payload); n%4 != 0; n++ {
		dst = append(dst, 0)
	}
	return dst, nil
}
