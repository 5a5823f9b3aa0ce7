package data

import "time"

// SetStuckAfter changes how soon a worker that hangs is reported, and returns a function that undoes it.
func SetStuckAfter(d time.Duration) (undo func()) {
	old := stuckAfter
	stuckAfter = d
	return func() { stuckAfter = old }
}
