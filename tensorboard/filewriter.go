package tensorboard

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// fileSerial numbers the event files of this process, so that two files opened
// in the same second do not collide.
var fileSerial atomic.Int64

// sourceWriter is what Python's writer puts into its files; TensorBoard shows it
// nowhere but tools compare it.
const sourceWriter = "tensorboard.summary.writer.event_file_writer"

// FileWriter writes one event file. A goroutine takes events from a queue, so
// that training does not wait for a disk; it writes them out at the latest after
// the flush interval. Safe for concurrent use.
type FileWriter struct {
	dir, path string

	mu     sync.RWMutex // held for reading while sending: close waits for senders
	closed bool
	queue  chan fileJob
	done   chan struct{}

	errMu sync.Mutex
	err   error // the first failed write; later calls report it
}

type fileJob struct {
	data  []byte        // a framed record
	flush chan struct{} // or: write everything out, then close this
}

// errClosed is returned by a FileWriter after Close.
var errClosed = errors.New("tensorboard: the event file is closed")

// mostWaiting bounds the queue of a FileWriter, for which memory is taken at once.
const mostWaiting = 1 << 16

// NewFileWriter creates the directory if need be and an event file in it, named
// events.out.tfevents.<seconds>.<host>.<pid>.<n><suffix>. queue is the number of
// events that may wait (0: 10, at most 65536), flush how long at most (0: two minutes).
func NewFileWriter(dir string, queue int, flush time.Duration, suffix string) (*FileWriter, error) {
	if queue <= 0 {
		queue = 10
	}
	if flush <= 0 {
		flush = 2 * time.Minute
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("tensorboard: %w", err)
	}
	host, err := os.Hostname()
	if err != nil || host == "" {
		host = "localhost"
	}
	name := fmt.Sprintf("events.out.tfevents.%010d.%s.%d.%d%s", time.Now().Unix(), filepath.Base(host), os.Getpid(),
		fileSerial.Add(1)-1, suffix)
	path := filepath.Join(dir, name)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, fmt.Errorf("tensorboard: %w", err)
	}
	w := &FileWriter{dir: dir, path: path, queue: make(chan fileJob, min(queue, mostWaiting)), done: make(chan struct{})}
	go w.run(f, flush)
	err = w.Add(&Event{WallTime: now(), What: EventFileVersion, FileVersion: "brain.Event:2",
		SourceMetadata: &SourceMetadata{Writer: sourceWriter}})
	if err == nil {
		err = w.Flush()
	}
	return w, err
}

func now() float64 { return float64(time.Now().UnixNano()) / 1e9 }

// Path is the event file's name.
func (w *FileWriter) Path() string { return w.path }

// Dir is the directory that the event file lies in.
func (w *FileWriter) Dir() string { return w.dir }

func (w *FileWriter) run(f *os.File, every time.Duration) {
	defer close(w.done)
	b := bufio.NewWriterSize(f, 64<<10)
	timer := time.NewTimer(every)
	timer.Stop()
	for {
		select {
		case j, open := <-w.queue:
			if !open {
				w.fail(b.Flush())
				w.fail(f.Sync()) // the run is over: it may as well survive a power cut
				w.fail(f.Close())
				return
			}
			if j.flush != nil {
				w.fail(b.Flush())
				close(j.flush)
				continue
			}
			if b.Buffered() == 0 {
				timer.Reset(every)
			}
			// A record goes to the file whole or not at all whenever it fits the
			// buffer: a reader then sees no partial records.
			if len(j.data) > b.Available() {
				w.fail(b.Flush())
			}
			_, err := b.Write(j.data)
			w.fail(err)
		case <-timer.C:
			w.fail(b.Flush())
		}
	}
}

func (w *FileWriter) fail(err error) {
	if err == nil {
		return
	}
	w.errMu.Lock()
	defer w.errMu.Unlock()
	if w.err == nil {
		w.err = fmt.Errorf("tensorboard: writing %s: %w", w.path, err)
	}
}

// Err is the first error of the writing goroutine.
func (w *FileWriter) Err() error {
	w.errMu.Lock()
	defer w.errMu.Unlock()
	return w.err
}

func (w *FileWriter) send(j fileJob) error {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.closed {
		return errClosed
	}
	w.queue <- j
	return w.Err()
}

// Add queues an event as it is. It waits while the queue is full. The error is
// that of an earlier write, or says that the file is closed.
func (w *FileWriter) Add(e *Event) error {
	// Framed here rather than in the goroutine: the work is spread over callers.
	return w.send(fileJob{data: AppendRecord(nil, e.Append(nil))})
}

// Flush hands every event added before it to the operating system: they can be
// read, and survive the end of this process, however violent.
func (w *FileWriter) Flush() error {
	c := make(chan struct{})
	if err := w.send(fileJob{flush: c}); err != nil {
		return err
	}
	<-c
	return w.Err()
}

// Close flushes and closes the file. Closing twice is allowed.
func (w *FileWriter) Close() error {
	w.mu.Lock()
	if !w.closed {
		w.closed = true
		close(w.queue)
	}
	w.mu.Unlock()
	<-w.done
	return w.Err()
}
