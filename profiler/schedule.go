package profiler

import "github.com/gotorch-dev/torch/tensor"

// Action is what a profiler does in a step.
type Action uint8

// The actions, in the order in which a cycle runs through them.
const (
	None          Action = iota // nothing
	Warmup                      // record, and forget it: the first recorded steps are slower than others
	Record                      // record
	RecordAndSave               // record, and hand over the trace at the end of the step
)

// Cycle says how many steps a profiler leaves alone, warms up and records.
type Cycle struct {
	SkipFirst int // steps left alone before the first cycle
	Wait      int // steps left alone at the beginning of each cycle
	Warmup    int // steps that are recorded and forgotten
	Active    int // steps that are recorded; at least 1
	Repeat    int // number of cycles, 0 for no end
	// SkipFirstWait leaves out the steps of Wait of the first cycle.
	SkipFirstWait bool
}

// Schedule is the schedule of such cycles.
// https://docs.pytorch.org/docs/stable/profiler.html#torch.profiler.schedule
func Schedule(c Cycle) func(step int) Action {
	if c.Wait < 0 || c.Warmup < 0 || c.Active < 1 || c.Repeat < 0 || c.SkipFirst < 0 {
		tensor.Fail(tensor.ErrValue, "Invalid profiler schedule arguments: %+v: Active must be at least 1, nothing "+
			"below 0", c)
	}
	n := c.Wait + c.Warmup + c.Active
	return func(step int) Action {
		step -= c.SkipFirst
		if step < 0 {
			return None
		}
		if c.SkipFirstWait {
			step += c.Wait
		}
		if c.Repeat > 0 && step/n >= c.Repeat {
			return None
		}
		switch i := step % n; {
		case i < c.Wait:
			return None
		case i < c.Wait+c.Warmup:
			return Warmup
		case i < n-1:
			return Record
		}
		return RecordAndSave
	}
}
