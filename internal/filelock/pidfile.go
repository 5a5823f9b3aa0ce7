//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package filelock

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

func acquire(path string) (*Lock, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if err == nil {
			if _, err = fmt.Fprintln(f, os.Getpid()); err != nil {
				return nil, errors.Join(err, f.Close(), os.Remove(path))
			}
			return &Lock{f, path}, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		pid, err := holder(path)
		if err != nil || alive(pid) {
			return nil, fmt.Errorf("%w (remove the file if that process is gone)", locked(path))
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
}

func (l *Lock) release() error { return errors.Join(l.f.Close(), os.Remove(l.path)) }

// alive reports whether a process may still run; where the system cannot be asked, as in a browser, it may.
func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	err = p.Signal(syscall.Signal(0))
	return !errors.Is(err, os.ErrProcessDone) && !errors.Is(err, syscall.ESRCH)
}
