package tensorboard

import (
	"path/filepath"
	"strings"
)

// IsEventFile says whether a path is named like an event file: TensorBoard takes
// every file with "tfevents" in its name.
func IsEventFile(path string) bool { return strings.Contains(filepath.Base(path), "tfevents") }
