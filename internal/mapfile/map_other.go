//go:build !(linux || darwin || freebsd || netbsd || openbsd)

package mapfile

import "os"

// Map always fails here.
func Map(*os.File, int64) ([]byte, error) { return nil, ErrUnsupported }
