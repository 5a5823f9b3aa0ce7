// Package atomicfile writes files so that a reader, or a machine that lost power,
// finds either the old contents or all of the new ones, never a part.
package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Write calls write with a new file beside path and, if that succeeds, syncs the file
// and renames it to path. If anything fails, path is untouched and the new file removed.
// An existing file keeps its permissions; a new one has 0666 less the umask.
func Write(path string, write func(w io.Writer) error) (err error) {
	dir, base := filepath.Split(path)
	perm := fs.FileMode(0o666)
	old, statErr := os.Stat(path)
	if statErr == nil {
		if !old.Mode().IsRegular() {
			return fmt.Errorf("write %s: not a regular file", path)
		}
		perm = old.Mode().Perm()
	}

	// os.CreateTemp would give 0600, which nobody expects of a checkpoint or a picture.
	var f *os.File
	for range 100 {
		tmp := filepath.Join(dir, temporary(base, fmt.Sprintf("%08x", rand.Uint32())))
		f, err = os.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err != nil {
		return err
	}
	// This also runs when write panics: done is then still false.
	done := false
	defer func() {
		if !done {
			_ = f.Close() // a second Close only returns an error
			_ = os.Remove(f.Name())
		}
	}()

	if err := write(f); err != nil {
		return err
	}
	if statErr == nil {
		// The umask may have taken away what the old file had.
		if err := f.Chmod(perm); err != nil && runtime.GOOS != "windows" && runtime.GOOS != "js" {
			return err
		}
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	done = true

	// The rename itself lasts once the folder is on the disk. Not every system can sync
	// a folder, and the file is complete either way, so an error here is not one.
	if dir == "" {
		dir = "."
	}
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
	return nil
}

// temporary is the name of the new file beside one called base.
func temporary(base, unique string) string { return fmt.Sprintf(".%s.%s.tmp", base, unique) }

// RemoveStale removes what a Write to path left behind that never ended, because its process was killed or the machine
// lost power. The caller sees to it that no Write to path is under way, for example with a lock.
func RemoveStale(path string) error {
	dir, base := filepath.Split(path)
	if dir == "" {
		dir = "."
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		// 8 hexadecimal digits and nothing else: another file of the user may have a similar name.
		unique, ok := strings.CutPrefix(e.Name(), "."+base+".")
		unique, end := strings.CutSuffix(unique, ".tmp")
		if !ok || !end || len(unique) != 8 || strings.Trim(unique, "0123456789abcdef") != "" || !e.Type().IsRegular() {
			continue
		}
		errs = append(errs, os.Remove(filepath.Join(dir, e.Name())))
	}
	return errors.Join(errs...)
}
