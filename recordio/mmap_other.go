//go:build !(aix || darwin || dragonfly || freebsd || linux || netbsd || openbsd || solaris || windows)

package recordio

import (
	"errors"
	"os"
)

func mmap(*os.File, int) ([]byte, func() error, error) {
	return nil, nil, errors.New("memory mapping is not available")
}
