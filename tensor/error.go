package tensor

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
)

// The causes that errors.Is can tell apart.
var (
	ErrShape    = errors.New("shape mismatch")
	ErrDType    = errors.New("dtype mismatch")
	ErrIndex    = errors.New("index out of range")
	ErrValue    = errors.New("invalid value")
	ErrType     = errors.New("wrong kind of argument")
	ErrAutograd = errors.New("autograd rule violated")
	ErrReleased = errors.New("tensor was released by Tidy")
	ErrNotFound = errors.New("no such operator")
	ErrNotImpl  = errors.New("not implemented")
	ErrDevice   = errors.New("wrong or missing device")
	ErrMemory   = errors.New("out of memory")
)

// Error is what a mistake in a tensor expression panics with; Try turns it into an ordinary error.
type Error struct {
	Op     string   // schema name of the operator, "aten::mm"
	Args   []string // every argument's shape, dtype and device, or its value
	Msg    string   // what is wrong and what was expected, in PyTorch's words where PyTorch has some
	Err    error    // one of the causes above
	Caller string   // file:line outside this module
}

// Error gives the message first, then the operator with its arguments and the place of the call.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Msg)
	if e.Op != "" {
		fmt.Fprintf(&b, " [%s(%s)]", e.Op, strings.Join(e.Args, ", "))
	}
	if e.Caller != "" {
		fmt.Fprintf(&b, " at %s", e.Caller)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Try calls f and returns the *Error that it panics with, if any. Other panics pass through.
func Try(f func()) (err error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*Error)
			if !ok {
				panic(r)
			}
			err = e
		}
	}()
	f()
	return nil
}

// Fail panics with an *Error that belongs to no operator call.
func Fail(cause error, format string, args ...any) {
	panic(&Error{Msg: fmt.Sprintf(format, args...), Err: cause, Caller: caller()})
}

// caller finds the first frame outside this module's library packages.
func caller() string {
	var pcs [48]uintptr
	n := runtime.Callers(3, pcs[:])
	frames := runtime.CallersFrames(pcs[:n])
	for {
		f, more := frames.Next()
		lib := strings.HasPrefix(f.Function, "github.com/gotorch-dev/torch") &&
			!strings.HasSuffix(f.File, "_test.go") &&
			!strings.Contains(f.Function, "/cmd/") && !strings.Contains(f.Function, "/examples/")
		if !lib && !strings.HasPrefix(f.Function, "runtime.") {
			return fmt.Sprintf("%s:%d", f.File, f.Line)
		}
		if !more {
			return ""
		}
	}
}
