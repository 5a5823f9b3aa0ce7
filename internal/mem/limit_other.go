//go:build !linux && !darwin && !windows

package mem

import (
	"math"
	"runtime"
)

// systemMemory is what WebAssembly can address, less some for everything else; of other systems nothing is known.
func systemMemory() int {
	if runtime.GOARCH == "wasm" {
		return 3 << 30
	}
	return math.MaxInt
}
