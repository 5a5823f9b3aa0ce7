// Package filelock keeps a second process away from what one process works on.
//
// The lock is the operating system's where it has one (flock on Unix, LockFileEx on Windows), so that it ends with the
// process, however that ends. Elsewhere it is a file that holds the number of a process, which is taken over once that
// process is gone.
package filelock

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// ErrLocked is wrapped by the error of [Acquire] when another process, or another call in this one, holds the lock.
var ErrLocked = errors.New("locked")

// Lock is a lock that is held.
type Lock struct {
	f    *os.File
	path string
}

// Acquire takes the lock whose file is path, which is made if it does not exist. It does not wait: when the lock is
// held, the error wraps ErrLocked and says by which process, where that is known.
func Acquire(path string) (*Lock, error) { return acquire(path) }

// Release gives the lock back. The file of a lock that the operating system keeps remains, since to remove it would
// let two processes each lock a file of their own under one name.
func (l *Lock) Release() error { return l.release() }

// locked is the error for a lock whose file names its holder.
func locked(path string) error {
	pid, err := holder(path)
	if err != nil {
		return fmt.Errorf("%s: %w by another process", path, ErrLocked)
	}
	return fmt.Errorf("%s: %w by process %d", path, ErrLocked, pid)
}

// holder reads the number of the process that wrote a lock's file.
func holder(path string) (int, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, 32))
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(b)))
}
