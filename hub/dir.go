package hub

import (
	"os"
	"path/filepath"
	"sync"
)

var dir struct {
	sync.Mutex
	path string
}

// Dir is the folder of the cache: what SetDir set, or else $TORCH_HOME/hub, where TORCH_HOME is $XDG_CACHE_HOME/torch
// and XDG_CACHE_HOME is ~/.cache unless they are set. It is torch.hub.get_dir.
func Dir() (string, error) {
	dir.Lock()
	defer dir.Unlock()
	if dir.path != "" {
		return dir.path, nil
	}
	if home := os.Getenv("TORCH_HOME"); home != "" {
		return filepath.Join(home, "hub"), nil
	}
	if cache := os.Getenv("XDG_CACHE_HOME"); cache != "" {
		return filepath.Join(cache, "torch", "hub"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(home, ".cache", "torch", "hub"), nil
}

// SetDir sets the folder of the cache for this program, "" as it was. It is torch.hub.set_dir.
func SetDir(path string) {
	dir.Lock()
	defer dir.Unlock()
	dir.path = path
}

// checkpoints is where weights go.
func checkpoints() (string, error) {
	d, err := Dir()
	return filepath.Join(d, "checkpoints"), err
}
