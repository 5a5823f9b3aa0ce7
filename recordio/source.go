package recordio

import (
	"bytes"
	"errors"
	"io"
	"sync"
)

// source is what the parser reads from. avail reports how many of the n bytes
// at off exist; with a stream that means reading ahead, with a file it is a
// subtraction. Having it apart from ReadAt lets the parser check a length
// before it allocates anything.
type source interface {
	io.ReaderAt
	avail(off, n int64) (int64, error)
	name() string
}

// readFull fills p from off or fails; a short read is io.ErrUnexpectedEOF.
func readFull(src io.ReaderAt, p []byte, off int64) error {
	if len(p) == 0 {
		return nil
	}
	n, err := src.ReadAt(p, off)
	if n == len(p) {
		return nil
	}
	if err == nil || err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// fixedSource is a source of known size: a mapping, a file, or bytes.
type fixedSource struct {
	io.ReaderAt
	size int64
	path string
}

func (s *fixedSource) name() string { return s.path }

func (s *fixedSource) avail(off, n int64) (int64, error) {
	if off < 0 || off >= s.size {
		return 0, nil
	}
	return min(n, s.size-off), nil
}

// streamSource makes a plain io.Reader look like a source. It keeps the bytes
// from the start of the current record on, and no more: when a record turns out
// to be damaged, the search for the next one starts again inside this window.
type streamSource struct {
	r    io.Reader
	base int64 // offset of buf[0]
	buf  []byte
	err  error // sticky read error; io.EOF included
}

func (s *streamSource) name() string { return "" }

// release drops everything before off.
func (s *streamSource) release(off int64) {
	n := off - s.base
	if n <= 0 {
		return
	}
	s.base = off
	if n >= int64(len(s.buf)) {
		s.buf = s.buf[:0]
	} else {
		// Only the start of the slice moves: a window that a lying length has
		// filled may be released in thousands of small steps. avail makes a new
		// array without the dropped part when the room behind runs out.
		s.buf = s.buf[n:]
	}
}

func (s *streamSource) avail(off, n int64) (int64, error) {
	const step = 64 << 10
	if off < s.base {
		return 0, errors.New("recordio: internal error: offset already released")
	}
	for {
		have := s.base + int64(len(s.buf)) - off
		if have >= n {
			return n, nil
		}
		if s.err == io.EOF {
			return max(have, 0), nil
		}
		if s.err != nil {
			return 0, s.err
		}
		// Grow with what arrives, by doubling, never by the claimed length.
		if cap(s.buf)-len(s.buf) < step/2 {
			grown := make([]byte, len(s.buf), 2*len(s.buf)+step)
			copy(grown, s.buf)
			s.buf = grown
		}
		var m int
		m, s.err = s.r.Read(s.buf[len(s.buf):cap(s.buf)])
		s.buf = s.buf[:len(s.buf)+m]
		if m == 0 && s.err == nil {
			// A reader may return nothing a few times; a broken one forever.
			m, s.err = io.ReadAtLeast(s.r, s.buf[len(s.buf):cap(s.buf)], 1)
			s.buf = s.buf[:len(s.buf)+m]
		}
	}
}

func (s *streamSource) ReadAt(p []byte, off int64) (int, error) {
	have, err := s.avail(off, int64(len(p)))
	if err != nil {
		return 0, err
	}
	if have == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.buf[off-s.base:][:have])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// nextMagic returns the first offset >= from, with the same phase modulo four,
// at which b holds the magic word, or -1.
func nextMagic(b []byte, from int) int {
	for from+4 <= len(b) {
		i := bytes.Index(b[from:], magicBytes[:])
		if i < 0 {
			return -1
		}
		if i%4 == 0 {
			return from + i
		}
		from += (i + 3) &^ 3
	}
	return -1
}

// findHead returns the first offset >= off of a header that may start a record
// (flag 0 or 1). io.EOF means there is none. Headers lie at multiples of four from
// phase; where bytes were lost or added they do not, and one elsewhere is believed
// if what it begins is whole and followed by another header or the end. For the same
// reason one at a multiple of four is not believed if it covers one that is.
func findHead(src source, off, phase int64, dead map[int64]struct{}) (int64, error) {
	// The window starts small: the next head is usually near, and a file full of
	// false heads would otherwise have 64 KiB read for each of them.
	window := int64(256)
	var buf []byte
	for {
		if int(window) > len(buf) {
			buf = make([]byte, window)
		}
		have, err := src.avail(off, window)
		if err != nil {
			return off, err
		}
		if have < headSize {
			return off + have, io.EOF
		}
		b := buf[:have]
		if err := readFull(src, b, off); err != nil {
			return off, err
		}
		for i := 0; ; i++ {
			k := bytes.Index(b[i:], magicBytes[:])
			if k < 0 || i+k+headSize > len(b) {
				break
			}
			i += k
			if f := b[i+7] >> 5; f != flagWhole && f != flagFirst {
				continue
			}
			at := off + int64(i)
			if confirmed(src, at, dead) || (at-phase)%4 == 0 && !covers(src, at, dead) {
				return at, nil
			}
		}
		window = min(4*window, 64<<10)
		// Keep all but one byte of a header, so that one across the border is seen.
		off += have - headSize + 1
		if s, ok := src.(*streamSource); ok {
			s.release(off)
		}
	}
}

// confirmed says whether a whole record lies at off, with a header or the end of
// the file behind it.
func confirmed(src source, off int64, dead map[int64]struct{}) bool {
	s, err := walk(src, off, dead)
	if err != nil {
		return false
	}
	_, err = readPart(src, s.next)
	return err == nil || err == io.EOF
}

// covers says whether near behind the unconfirmed head at off, within what it claims
// as its payload, a confirmed one lies. Only so far is looked, and not in a stream,
// since a hostile file may be nothing but heads.
func covers(src source, off int64, dead map[int64]struct{}) bool {
	f, ok := src.(*fixedSource)
	if !ok {
		return false
	}
	p, err := readPart(src, off)
	if err != nil {
		return true // it begins nothing
	}
	var buf [4096]byte
	b := buf[:min(int64(len(buf)), p.size, max(f.size-off-headSize, 0))]
	if readFull(src, b, off+headSize) != nil {
		return false
	}
	for i, tries := 0, 0; i+headSize <= len(b) && tries < 16; i, tries = i+1, tries+1 {
		k := bytes.Index(b[i:], magicBytes[:])
		if k < 0 {
			return false
		}
		if i += k; confirmed(src, off+headSize+int64(i), dead) {
			return true
		}
	}
	return false
}

// guarded serialises Close against reads of a mapping: unmapping memory that
// another goroutine copies from would crash the process.
type guarded struct {
	mu     sync.RWMutex
	data   []byte // mapping, nil when closed or when at is used
	at     io.ReaderAt
	size   int64
	closer func() error
	closed bool
}

func (g *guarded) ReadAt(p []byte, off int64) (int, error) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if g.closed {
		return 0, ErrClosed
	}
	if g.at != nil {
		return g.at.ReadAt(p, off)
	}
	if off < 0 || off >= int64(len(g.data)) {
		return 0, io.EOF
	}
	return copyMapped(p, g.data[off:])
}

func (g *guarded) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil
	}
	g.closed = true
	g.data, g.at = nil, nil
	return g.closer()
}
