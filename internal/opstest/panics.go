package opstest

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/gotorch-dev/torch/tensor"
)

// Try runs f and returns the *tensor.Error that it ends in, if any, as torch.Try does. Where f panics with anything
// else, which nothing in this module may, text says with what and where.
func Try(f func()) (text string, err error) {
	defer func() {
		if r := recover(); r != nil {
			text = fmt.Sprintf("%v at %s", r, panicPlace())
		}
	}()
	return "", tensor.Try(f)
}

// panicPlace is the function that the panic which is being recovered from came from.
func panicPlace() string {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs[:])])
	for panicked := false; ; {
		f, more := frames.Next()
		if strings.HasPrefix(f.Function, "runtime.") {
			panicked = panicked || f.Function == "runtime.gopanic"
		} else if panicked && !strings.Contains(f.Function, "Try") {
			return fmt.Sprintf("%s:%d", f.File, f.Line)
		}
		if !more {
			return "?"
		}
	}
}
