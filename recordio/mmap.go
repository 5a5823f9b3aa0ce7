package recordio

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
)

// openGuarded opens a file for concurrent random reads: mapped into memory
// where the system can, through ReadAt otherwise.
func openGuarded(path string, noMmap bool) (*guarded, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	if st.IsDir() {
		f.Close()
		return nil, &os.PathError{Op: "open", Path: path, Err: errors.New("is a directory")}
	}
	g := &guarded{size: st.Size()}
	// An empty file cannot be mapped, and a pipe has no size to map.
	if !noMmap && st.Mode().IsRegular() && st.Size() > 0 && int64(int(st.Size())) == st.Size() {
		if data, unmap, err := mmap(f, int(st.Size())); err == nil {
			g.data, g.closer = data, unmap
			f.Close() // the mapping stays valid without the descriptor
			return g, nil
		}
	}
	g.at, g.closer = f, f.Close
	return g, nil
}

// copyMapped copies from a mapping. Pages behind the end of a file that has
// been cut after mapping fault on access; the fault becomes an error here
// instead of ending the process.
func copyMapped(p, data []byte) (n int, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			n, err = 0, fmt.Errorf("recordio: mapped file is no longer readable: %v", r)
		}
	}()
	n = copy(p, data)
	if n < len(p) {
		err = io.EOF
	}
	return n, err
}
