package recordio

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"sync"
)

// ReaderOptions are the optional settings of a reader; the zero value reads
// strictly and maps files into memory.
type ReaderOptions struct {
	// SkipBad makes Next and Skip go on with the next readable record instead of
	// returning a [CorruptError]. Read errors of the operating system are
	// returned all the same.
	SkipBad bool

	// OnBad, if set, is called for each damaged stretch that SkipBad passes over,
	// with the offset at which reading goes on (the end of the file if nothing
	// readable follows). It runs inside Next and must not call the reader.
	OnBad func(err error, next int64)

	// NoMmap reads files through ReadAt instead of a memory mapping.
	NoMmap bool
}

func firstOption(opts []ReaderOptions) ReaderOptions {
	if len(opts) > 0 {
		return opts[0]
	}
	return ReaderOptions{}
}

// A Reader walks the records of a .rec file from front to back. Its methods may
// be called from several goroutines; each record then goes to one of them.
type Reader struct {
	mu     sync.Mutex
	src    source
	opt    ReaderOptions
	off    int64 // next record
	origin int64 // first record
	phase  int64 // headers lie at multiples of four from here
	seek   io.Seeker
	stream io.Reader
	dead   map[int64]struct{}
	bad    int
	close  func() error
	closed bool
}

// NewReader reads records from a stream, starting at its current position.
// At most the record at hand is buffered, so pipes and sockets work; only
// [Reader.Reset] and [Reader.SeekTo] need r to be an io.Seeker.
func NewReader(r io.Reader, opts ...ReaderOptions) *Reader {
	rd := &Reader{stream: r, opt: firstOption(opts)}
	if s, ok := r.(io.Seeker); ok {
		// A pipe is an *os.File too; the failing call tells them apart.
		if pos, err := s.Seek(0, io.SeekCurrent); err == nil {
			rd.seek, rd.origin, rd.phase, rd.off = s, pos, pos, pos
		}
	}
	rd.src = &streamSource{r: r, base: rd.off}
	return rd
}

// NewReaderAt reads records from the first size bytes of r.
func NewReaderAt(r io.ReaderAt, size int64, opts ...ReaderOptions) *Reader {
	return &Reader{src: &fixedSource{r, size, ""}, opt: firstOption(opts)}
}

// Open opens the named .rec file, mapped into memory where the system allows.
// Close releases it.
func Open(path string, opts ...ReaderOptions) (*Reader, error) {
	opt := firstOption(opts)
	g, err := openGuarded(path, opt.NoMmap)
	if err != nil {
		return nil, fmt.Errorf("recordio: %w", err)
	}
	return &Reader{src: &fixedSource{g, g.size, path}, opt: opt, close: g.Close}, nil
}

// Next returns the next record's payload in a slice of its own, or io.EOF after
// the last one. On a damaged file it returns a [CorruptError] and stays where it
// is; see [ReaderOptions].SkipBad and [Reader.Resync] for going on.
func (r *Reader) Next() ([]byte, error) { return r.AppendNext(nil) }

// AppendNext is Next with a buffer to append to, for loops that reuse one.
func (r *Reader) AppendNext(dst []byte) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var damage error
	for {
		s, err := r.find(damage)
		if err != nil {
			return dst, err
		}
		out, err := load(r.src, r.off, s, dst)
		if err == nil && r.opt.SkipBad && r.shifted(s) {
			err = &CorruptError{r.src.name(), r.off, fmt.Sprintf("length %d runs over another record", s.size),
				errSwallowed}
		}
		if err == nil {
			r.advance(s)
			return out, nil
		}
		// Any other error means that the file is changing under us, since the
		// headers were good a moment ago, or that the disk fails. Neither is
		// worth skipping over.
		if !r.opt.SkipBad || !errors.Is(err, errSwallowed) {
			return dst, err
		}
		damage = err
	}
}

// Skip steps over the next record without reading its payload and returns its
// offset and its payload's length; io.EOF after the last one.
func (r *Reader) Skip() (offset, length int64, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, err := r.find(nil)
	if err != nil {
		return r.off, 0, err
	}
	offset = r.off
	r.advance(s)
	return offset, s.size, nil
}

// find measures the record at r.off, moving r.off over damage under SkipBad. first,
// unless nil, is what is known to be wrong with the record there.
func (r *Reader) find(first error) (span, error) {
	if r.closed {
		return span{}, ErrClosed
	}
	if r.opt.SkipBad && r.dead == nil {
		r.dead = map[int64]struct{}{}
	}
	moved := false
	for {
		if first == nil || moved {
			s, err := walk(r.src, r.off, r.dead)
			if err == nil || err == io.EOF || !r.opt.SkipBad || !errors.Is(err, ErrCorrupt) {
				if first != nil && (err == nil || err == io.EOF) {
					r.bad++
					if r.opt.OnBad != nil {
						r.opt.OnBad(first, r.off)
					}
				}
				return s, err
			}
			// Several false heads in a row are one damaged stretch: report the first.
			if first == nil {
				first = err
			}
		}
		next, err := findHead(r.src, r.off+1, r.phase, r.dead)
		if err != nil && err != io.EOF {
			return span{}, readError(r.src, r.off, err)
		}
		r.off, r.phase, moved = next, next, true
		if err == io.EOF {
			r.bad++
			if r.opt.OnBad != nil {
				r.opt.OnBad(first, next)
			}
			return span{}, io.EOF
		}
		r.release()
	}
}

// shifted says whether the record at r.off, whose headers are good, covers another
// that was moved off its multiple of four: then what follows is no header either.
func (r *Reader) shifted(s span) bool {
	if _, ok := r.src.(*fixedSource); !ok {
		return false
	}
	_, err := readPart(r.src, s.next)
	return errors.Is(err, ErrCorrupt) && covers(r.src, r.off, r.dead)
}

func (r *Reader) advance(s span) {
	r.off = s.next
	r.release()
}

func (r *Reader) release() {
	if s, ok := r.src.(*streamSource); ok {
		s.release(r.off)
	}
}

// Resync leaves the damaged record at the current position and goes to the next
// place at which a record may start, returning its offset; io.EOF if there is
// none. Use it after Next has returned a [CorruptError].
func (r *Reader) Resync() (int64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return r.off, ErrClosed
	}
	next, err := findHead(r.src, r.off+1, r.phase, nil)
	if err != nil && err != io.EOF {
		return r.off, readError(r.src, r.off, err)
	}
	r.off, r.phase = next, next
	r.release()
	return next, err
}

// Skipped returns how many damaged stretches SkipBad has passed over.
func (r *Reader) Skipped() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.bad
}

// All iterates over the remaining records. An error is yielded once and ends
// the iteration; the end of the file is no error.
func (r *Reader) All() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for {
			b, err := r.Next()
			if err == io.EOF {
				return
			}
			if !yield(b, err) || err != nil {
				return
			}
		}
	}
}

// Tell returns the offset of the record that Next will read.
func (r *Reader) Tell() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.off
}

// Reset goes back to the first record. A stream that cannot seek is an error.
func (r *Reader) Reset() error { return r.SeekTo(r.origin) }

// SeekTo makes Next read the record that starts at offset, as returned by Tell
// or stored in an index. Whether one starts there shows when it is read.
func (r *Reader) SeekTo(offset int64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return ErrClosed
	}
	if offset < r.origin {
		return fmt.Errorf("recordio: seek to offset %d before the first record at %d", offset, r.origin)
	}
	if r.stream != nil {
		if r.seek == nil {
			return errors.New("recordio: this stream cannot seek")
		}
		if _, err := r.seek.Seek(offset, io.SeekStart); err != nil {
			return fmt.Errorf("recordio: seek to offset %d: %w", offset, err)
		}
		r.src = &streamSource{r: r.stream, base: offset}
	}
	r.off, r.phase = offset, offset
	return nil
}

// RecordAt returns the record that starts at offset and leaves the position of
// Next alone. It needs random access ([Open], [NewReaderAt]) and is safe for any
// number of goroutines at a time.
func (r *Reader) RecordAt(offset int64) ([]byte, error) {
	src, ok := r.src.(*fixedSource) // never changes after opening
	if !ok {
		return nil, errors.New("recordio: random access needs a file, not a stream")
	}
	if offset < 0 || offset >= src.size {
		return nil, &CorruptError{src.path, offset, fmt.Sprintf("no record here: the file has %d bytes", src.size), nil}
	}
	s, err := walk(src, offset, nil)
	if err != nil {
		// Only behind lost or added bytes they do not.
		if offset%4 != 0 && errors.Is(err, ErrCorrupt) {
			return nil, &CorruptError{src.path, offset, "no record here: records start at multiples of 4", nil}
		}
		return nil, err
	}
	return load(src, offset, s, nil)
}

// Clone returns a second reader over the same file with a position of its own,
// at the first record. It shares the parent's mapping: closing the parent ends
// both, closing the clone does nothing to the parent. Streams cannot be cloned.
func (r *Reader) Clone() (*Reader, error) {
	src, ok := r.src.(*fixedSource)
	if !ok {
		return nil, errors.New("recordio: a stream cannot be cloned")
	}
	return &Reader{src: src, opt: r.opt}, nil
}

// Size returns the length of the file in bytes, or -1 for a stream.
func (r *Reader) Size() int64 {
	if src, ok := r.src.(*fixedSource); ok {
		return src.size
	}
	return -1
}

// Close releases the file that [Open] opened; a stream stays open, it belongs to
// the caller. Closing twice is fine, reading afterwards is [ErrClosed].
func (r *Reader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	r.closed = true
	if r.close != nil {
		return r.close()
	}
	return nil
}
