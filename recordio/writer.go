package recordio

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"

	"github.com/gotorch-dev/torch/internal/atomicfile"
)

// A Writer appends records to a .rec file. It is safe for several goroutines;
// each Write is one record.
type Writer struct {
	mu      sync.Mutex
	w       io.Writer
	off     int64
	scratch []byte
	err     error
	file    *outFile
}

// WriterOptions are the optional settings of [NewWriter].
type WriterOptions struct {
	// Offset is what Tell returns before the first Write: the size of a file
	// that is continued. It must be a multiple of four.
	Offset int64
}

// NewWriter writes records to w, unbuffered: one w.Write call per record.
func NewWriter(w io.Writer, opts ...WriterOptions) *Writer {
	wr := &Writer{w: w}
	if len(opts) > 0 {
		wr.off = opts[0].Offset
		if wr.off < 0 || wr.off%4 != 0 {
			wr.err = fmt.Errorf("recordio: writer offset %d, expected a multiple of 4", wr.off)
		}
	}
	return wr
}

// Create starts the named .rec file. It is written under a temporary name in
// the same folder and takes its own when Close succeeds, so a reader never sees
// half a file; [Writer.Abort] removes it instead.
func Create(path string) (*Writer, error) {
	f, err := createOut(path)
	if err != nil {
		return nil, fmt.Errorf("recordio: %w", err)
	}
	return &Writer{w: f, file: f}, nil
}

// Write appends payload as one record and returns len(payload). After a failed
// write the file may hold a cut record, so every later call fails too.
func (w *Writer) Write(payload []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return 0, w.err
	}
	buf, err := AppendRecord(w.scratch[:0], payload)
	if err != nil {
		return 0, err // nothing written: the writer stays usable
	}
	if _, err := w.w.Write(buf); err != nil {
		w.err = fmt.Errorf("recordio: write at offset %d: %w", w.off, err)
		return 0, w.err
	}
	w.off += int64(len(buf))
	if cap(buf) <= 1<<20 {
		w.scratch = buf
	} else {
		w.scratch = nil // do not hold on to one giant record's buffer
	}
	return len(payload), nil
}

// Tell returns the offset at which the next record will start.
func (w *Writer) Tell() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.off
}

// Reset drops everything written so far and starts again, as MXNet's reset does
// on a file opened for writing. It needs a writer from [Create], or one over
// something with Truncate and Seek.
func (w *Writer) Reset() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == ErrClosed {
		return w.err
	}
	if err := truncateTo(w.w, 0); err != nil {
		return err
	}
	w.off, w.err = 0, nil
	return nil
}

func truncateTo(w io.Writer, size int64) error {
	t, ok := w.(interface {
		io.Seeker
		Truncate(int64) error
	})
	if !ok {
		return fmt.Errorf("recordio: a %T cannot be reset", w)
	}
	if err := t.Truncate(size); err != nil {
		return fmt.Errorf("recordio: reset: %w", err)
	}
	if _, err := t.Seek(size, io.SeekStart); err != nil {
		return fmt.Errorf("recordio: reset: %w", err)
	}
	return nil
}

// Close finishes the file of [Create]: flush, fsync, rename. After a failed
// Write it removes the file and returns that error. A writer from [NewWriter]
// leaves the stream beneath it open.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == ErrClosed {
		return nil
	}
	err := w.err
	w.err = ErrClosed
	if w.file == nil {
		return err
	}
	if err != nil {
		w.file.abort()
		return err
	}
	return w.file.commit()
}

// Abort removes the unfinished file of [Create]; after Close it does nothing,
// which makes it fit for defer.
func (w *Writer) Abort() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != ErrClosed && w.file != nil {
		w.file.abort()
	}
	w.err = ErrClosed
}

// outFile is a buffered file that appears under its name only when complete. It does what
// internal/atomicfile does, but stays open between calls, truncates, and renames apart from
// writing: the records must be in place before their index is.
type outFile struct {
	f    *os.File
	buf  *bufio.Writer
	path string
}

func createOut(path string) (*outFile, error) {
	// Not os.CreateTemp: that makes files which only their owner may read.
	for range 100 {
		tmp := filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.tmp%08x", filepath.Base(path), rand.Uint32()))
		f, err := os.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		return &outFile{f: f, buf: bufio.NewWriterSize(f, 256<<10), path: path}, nil
	}
	return nil, fmt.Errorf("no free temporary name beside %s", path)
}

func (o *outFile) Write(p []byte) (int, error) { return o.buf.Write(p) }

func (o *outFile) Truncate(size int64) error {
	o.buf.Reset(o.f)
	return o.f.Truncate(size)
}

func (o *outFile) Seek(off int64, whence int) (int64, error) { return o.f.Seek(off, whence) }

// finish makes the bytes durable under the temporary name.
func (o *outFile) finish() error {
	err := o.buf.Flush()
	if err == nil {
		err = o.f.Sync()
	}
	if cerr := o.f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		o.remove()
		return fmt.Errorf("recordio: %s: %w", o.path, err)
	}
	return nil
}

func (o *outFile) rename() error {
	if err := os.Rename(o.f.Name(), o.path); err != nil {
		o.remove()
		return fmt.Errorf("recordio: %w", err)
	}
	// The rename itself is durable once the folder is; not every system can.
	if d, err := os.Open(filepath.Dir(o.path)); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
	return nil
}

func (o *outFile) commit() error {
	if err := o.finish(); err != nil {
		return err
	}
	return o.rename()
}

func (o *outFile) abort() {
	_ = o.f.Close() // what was written is thrown away
	o.remove()
}

// remove deletes the temporary file. The caller already has an error to report that says more.
func (o *outFile) remove() { _ = os.Remove(o.f.Name()) }

// writeFile writes a whole file under a temporary name and renames it.
func writeFile(path string, data []byte) error {
	err := atomicfile.Write(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
	if err != nil {
		return fmt.Errorf("recordio: %w", err)
	}
	return nil
}
