package tensor

import (
	"fmt"
	"os"
	"runtime"
	"sync"
)

// Warning is advice about a call that did its work all the same, such as a loss of two tensors that had to be
// broadcast.
type Warning struct {
	Category string // Python's class: UserWarning, FutureWarning
	Text     string // in PyTorch's words where PyTorch has the warning
	Caller   string // file:line of the program's call, "" if there is none
}

// String is the line that goes to standard error: place, category, text.
func (w Warning) String() string {
	if w.Caller == "" {
		return w.Category + ": " + w.Text
	}
	return w.Caller + ": " + w.Category + ": " + w.Text
}

// maxWarnings bounds what is remembered of the warnings given: texts hold shapes, of which a program may have any
// number.
const maxWarnings = 4096

var warnings struct {
	sync.Mutex
	handler func(Warning)
	given   map[Warning]bool
	always  bool
	stacks  map[stackOfWarning]bool // that have given their warning
}

// SetWarnAlways has every warning given as often as it occurs, instead of once for each line of the program.
func SetWarnAlways(on bool) {
	warnings.Lock()
	defer warnings.Unlock()
	warnings.always = on
}

// IsWarnAlways reports what SetWarnAlways has set.
func IsWarnAlways() bool {
	warnings.Lock()
	defer warnings.Unlock()
	return warnings.always
}

// SetWarnings sends the warnings of all goroutines to handler instead of standard error, and returns the one before;
// nil stands for standard error. Handlers may be called by several goroutines at once. As in Python, each line of the
// program is told the same thing once; setting a handler makes that begin anew.
//
//	torch.SetWarnings(func(torch.Warning) {})                       // silence
//	torch.SetWarnings(func(w torch.Warning) { panic(w.String()) })  // warnings are errors
//
// It is for what Python does with warnings.filterwarnings and logging.captureWarnings.
func SetWarnings(handler func(Warning)) (before func(Warning)) {
	warnings.Lock()
	defer warnings.Unlock()
	before = warnings.handler
	warnings.handler, warnings.given, warnings.stacks = handler, nil, nil
	return before
}

// Warn gives a UserWarning to the line of the program that called into the library.
func Warn(format string, args ...any) { warn("UserWarning", fmt.Sprintf(format, args...)) }

// WarnFuture gives a FutureWarning: the call will mean something else, or nothing, one day.
func WarnFuture(format string, args ...any) { warn("FutureWarning", fmt.Sprintf(format, args...)) }

// WarnTracer gives a TracerWarning: a recording may not do what the recorded program would have done. place is the line
// of the program that it concerns.
func WarnTracer(place, format string, args ...any) {
	deliver(Warning{"TracerWarning", fmt.Sprintf(format, args...), place})
}

func warn(category, text string) {
	at := stackOfWarning{category: category, text: text}
	n := runtime.Callers(2, at.frames[:])
	known := n < len(at.frames) // the whole stack: equal ones have been at the same line
	warnings.Lock()
	given := known && warnings.stacks[at] && !warnings.always
	warnings.Unlock()
	if given {
		return
	}
	deliver(Warning{category, text, caller()})
	if known {
		warnings.Lock()
		defer warnings.Unlock()
		if warnings.stacks == nil || len(warnings.stacks) >= maxWarnings {
			warnings.stacks = map[stackOfWarning]bool{}
		}
		warnings.stacks[at] = true
	}
}

// stackOfWarning tells a warning by the calls that led to it. Finding the line of the program among them takes long,
// which a warning that has been given is spared.
type stackOfWarning struct {
	category, text string
	frames         [64]uintptr
}

func deliver(w Warning) {
	warnings.Lock()
	if warnings.given[w] && !warnings.always {
		warnings.Unlock()
		return
	}
	if warnings.given == nil || len(warnings.given) >= maxWarnings {
		warnings.given = map[Warning]bool{}
	}
	warnings.given[w] = true
	handler := warnings.handler
	warnings.Unlock() // the handler may warn
	if handler == nil {
		fmt.Fprintln(os.Stderr, w)
		return
	}
	handler(w)
}
