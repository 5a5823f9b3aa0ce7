//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows

package filelock

import (
	"errors"
	"fmt"
	"os"
)

func acquire(path string) (*Lock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	held, err := tryLock(f)
	if err == nil && held {
		err = locked(path)
	}
	if err == nil {
		// The number only serves the error of others.
		if err = f.Truncate(0); err == nil {
			_, err = fmt.Fprintln(f, os.Getpid())
		}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Lock{f, path}, nil
}

func (l *Lock) release() error { return l.f.Close() } // closing the file ends the lock
