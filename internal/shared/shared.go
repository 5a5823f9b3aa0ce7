// Package shared finds, for tests, the folder of reference data that is kept beside
// the repository: golden values from PyTorch, sample files, small data sets. It is too
// large for the repository, so a test that needs it skips where it is absent.
package shared

import (
	"os"
	"path/filepath"
	"testing"
)

// Path returns the path of a file or folder, given by its slash-separated elements,
// in the shared folder: the one that the environment variable GOTORCH_SHARED names,
// or else the first folder named shared beside the test's directory or one of its
// parents. The test is skipped if there is no such file or folder.
//
//	dir := shared.Path(t, "data/mnist")
func Path(t testing.TB, elem ...string) string {
	t.Helper()
	rel := filepath.FromSlash(filepath.Join(elem...))
	if root := os.Getenv("GOTORCH_SHARED"); root != "" {
		p := filepath.Join(root, rel)
		if _, err := os.Stat(p); err != nil {
			t.Skipf("GOTORCH_SHARED is set, but: %v", err)
		}
		return p
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Skip(err)
	}
	for {
		p := filepath.Join(dir, "shared", rel)
		if _, err := os.Stat(p); err == nil {
			return p
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Skipf("no folder shared with %s beside the repository (GOTORCH_SHARED may name one)", rel)
		}
		dir = up
	}
}
