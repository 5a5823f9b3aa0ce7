// Package shared finds, for tests, the folder of reference data that is kept beside the repository: golden values from
// PyTorch, sample files, small data sets. It is too large for the repository, so a test that needs it skips where it is
// absent. The small sample of the golden values, which every clone has, lies in internal/conformance/sample.
package shared

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// variable names the environment variable that names the folder.
const variable = "GOTORCH_SHARED"

// Path returns the path of a file or folder, given by its slash-separated elements, in the shared folder: the one that
// the environment variable GOTORCH_SHARED names, or else the first folder named shared beside the test's directory or
// one of its parents that has the file. The test is skipped if there is none; it fails if GOTORCH_SHARED names a folder
// that lacks the file, since a mistyped name would otherwise turn the checks off.
//
//	dir := shared.Path(t, "data/mnist")
func Path(t testing.TB, elem ...string) string {
	t.Helper()
	p := Find(t, elem...)
	if p == "" {
		t.Skipf("no folder shared with %s beside the repository (%s may name one)", filepath.Join(elem...), variable)
	}
	return p
}

// Find is Path for tests that have something to do without the file: it returns "" where Path skips the test.
func Find(t testing.TB, elem ...string) string {
	t.Helper()
	p, err := Locate(elem...)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return p
}

// Locate is Find for programs. It is an error that GOTORCH_SHARED names a folder without the file.
func Locate(elem ...string) (string, error) {
	rel := filepath.FromSlash(filepath.Join(elem...))
	if root := os.Getenv(variable); root != "" {
		p := filepath.Join(root, rel)
		if _, err := os.Stat(p); err != nil {
			return "", fmt.Errorf("%s=%s is not the folder of reference data: %w", variable, root, err)
		}
		return p, nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		p := filepath.Join(dir, "shared", rel)
		if _, err := os.Stat(p); err == nil {
			return p, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", nil
		}
		dir = up
	}
}
