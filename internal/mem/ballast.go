//go:build !js && !wasip1

package mem

import "runtime"

// ballast makes the heap look larger, so that the collector does not run after every four megabytes of small tensors.
// The pages are never touched: it takes addresses, not memory.
var ballast = make([]byte, 64<<20)

// Nothing reads the ballast, and what nothing reads a compiler may leave out; here it is used once.
func init() { runtime.KeepAlive(ballast) }
