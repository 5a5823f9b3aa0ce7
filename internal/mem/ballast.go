//go:build !js && !wasip1

package mem

// ballast makes the heap look larger, so that the collector does not run after every four megabytes of small tensors.
// The pages are never touched: it takes addresses, not memory.
var ballast = make([]byte, 64<<20)

// dropBallast is called where the heap has a limit: there the ballast would count as used. The lock is held.
func dropBallast() {
	if ballast != nil { // read here, too: what nothing reads a compiler may leave out
		ballast = nil
	}
}
