package bottleneck

import (
	"fmt"
	"time"
)

// The limits beyond which something is worth a sentence.
const (
	outsideLimit  = 25.0 // percent of the time that is spent outside of operators
	convertLimit  = 8.0  // percent in conversions and copies
	gcLimit       = 8.0  // percent of the processors' time in the garbage collector
	dominantLimit = 30.0 // percent in one operator
	idleLimit     = 0.6  // of the processors
	stepLimit     = 15.0 // percent in the optimizer
	smallCall     = 10 * time.Microsecond
	manyCalls     = 1000
)

// Findings are sentences about what takes time without need, the first what takes most.
func (s *Sums) Findings() []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	rows := s.by(func(r *Row) string { return r.Name })
	if len(rows) == 0 {
		return []string{"The program calls no operators on tensors."}
	}
	if outside := s.Wall - s.Busy; percent(outside, s.Wall) > outsideLimit {
		say("%.0f %% of the time passes outside of operators: reading data, or Go code of the program. Load data with "+
			"workers (data.DataLoader, Workers), and see the Go functions below.", percent(outside, s.Wall))
	}
	if r := rows[0]; percent(r.Self, s.Wall) > dominantLimit {
		say("%s takes %.0f %% of the time: make that one faster, with smaller shapes, or bfloat16 (amp.Autocast) if it "+
			"is a product or a convolution.", r.Name, percent(r.Self, s.Wall))
	}
	var small, convert, step, reads time.Duration
	calls, numReads := 0, 0
	for _, r := range rows {
		mean := r.Self / time.Duration(max(r.Count, 1))
		if mean < smallCall {
			small += r.Self
			calls += r.Count
		}
		switch r.Name {
		case "aten::_to_copy", "aten::copy_", "aten::clone", "aten::contiguous":
			convert += r.Self
		case "aten::_local_scalar_dense", "aten::item":
			reads += r.Self
			numReads += r.Count
		}
		if len(r.Name) > 15 && r.Name[:15] == "Optimizer.step#" || len(r.Name) > 13 && r.Name[:13] == "aten::_fused_" ||
			len(r.Name) > 14 && r.Name[:14] == "aten::_foreach" {
			step += r.Self
		}
	}
	if calls > manyCalls && percent(small, s.Wall) > 10 {
		say("%d calls take less than %v each, %.0f %% of the time together: larger batches, or fewer and larger "+
			"operators, waste less on calls.", calls, smallCall, percent(small, s.Wall))
	}
	if percent(convert, s.Wall) > convertLimit {
		say("%.0f %% of the time goes into copies and conversions of tensors: look for Contiguous, Clone and changes of "+
			"dtype that can be left out.", percent(convert, s.Wall))
	}
	if percent(step, s.Wall) > stepLimit {
		say("The optimizer takes %.0f %% of the time: larger batches need fewer steps.", percent(step, s.Wall))
	}
	if numReads > manyCalls {
		say("Numbers of tensors are read %d times (Item): collect losses in a tensor and read them once in a while.",
			numReads)
	}
	if s.UserCPU > 0 && 100*s.GCCPU/(s.UserCPU+s.GCCPU) > gcLimit {
		say("The garbage collector takes %.0f %% of the processors' time: training steps inside torch.Tidy free memory "+
			"without it; GOGC=400 makes it run less often.", 100*s.GCCPU/(s.UserCPU+s.GCCPU))
	}
	if used := s.UserCPU / (s.Wall.Seconds() * float64(max(s.Threads, 1))); s.Threads > 1 && used < idleLimit {
		say("Of %d threads, %.1f work on average: the operators are too small to be shared out, or one goroutine waits "+
			"for another.", s.Threads, used*float64(s.Threads))
	}
	if len(out) == 0 {
		say("Nothing stands out: operators take %.0f %% of the time, and no one of them too much.",
			percent(s.Busy, s.Wall))
	}
	return out
}
