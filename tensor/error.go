package tensor

import (
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync"
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
	ErrLinAlg   = errors.New("matrix cannot be factored") // torch.linalg.LinAlgError
)

// Error is what a mistake in a tensor expression panics with; Try turns it into an ordinary error. With the verb %+v it
// prints the stack of the panic below its text.
type Error struct {
	Op     string   // schema name of the operator, "aten::mm"
	Args   []string // every argument's shape, dtype and device, or its value
	Msg    string   // what is wrong and what was expected, in PyTorch's words where PyTorch has some; "" where Err says it
	Hint   string   // what to write instead, in Go, "" where Msg says it
	Err    error    // one of the causes above, for errors.Is
	Caller string   // file:line of the innermost call from outside this module's library
	Module string   // the layer whose Forward was running, by its path in the model: "net.1 (Linear) of Classifier"

	pcs []uintptr // of the panic, innermost first
}

// Error gives the message first, then the hint, the operator with its arguments, the layer, and the place of the call.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Msg)
	if e.Msg == "" && e.Err != nil {
		b.WriteString(e.Err.Error())
	}
	if e.Hint != "" {
		fmt.Fprintf(&b, " (%s)", e.Hint)
	}
	if e.Op != "" {
		fmt.Fprintf(&b, " [%s(%s)]", e.Op, strings.Join(e.Args, ", "))
	}
	if e.Module != "" {
		fmt.Fprintf(&b, " in %s", e.Module)
	}
	if e.Caller != "" {
		fmt.Fprintf(&b, " at %s", e.Caller)
	}
	return b.String()
}

// Format prints the error's text for every verb, and for %+v the stack of the panic below it.
func (e *Error) Format(f fmt.State, verb rune) {
	switch {
	case verb == 'q':
		fmt.Fprintf(f, "%q", e.Error())
	case verb == 'v' && f.Flag('+'):
		fmt.Fprintf(f, "%s\n%s", e.Error(), e.Stack())
	default:
		fmt.Fprint(f, e.Error())
	}
}

// Stack is the stack of the panic, two lines for each call as in Go's own traces, the innermost call first. It is empty
// for an error that was returned and never panicked with.
func (e *Error) Stack() string {
	var b strings.Builder
	for f := range frames(e.pcs) {
		fmt.Fprintf(&b, "%s(...)\n\t%s:%d\n", f.Function, f.File, f.Line)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Try calls f and returns the *Error that it panics with, if any. Other panics pass through. The error keeps the stack
// of the panic:
//
//	if err := torch.Try(func() { net.Forward(x) }); err != nil {
//		log.Printf("%+v", err)
//	}
func Try(f func()) (err error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*Error)
			if !ok {
				panic(r)
			}
			if e.pcs == nil {
				e.locate(1)
			}
			err = e
		}
	}()
	f()
	return nil
}

// Fail panics with an *Error that belongs to no operator call.
func Fail(cause error, format string, args ...any) {
	e := &Error{Msg: fmt.Sprintf(format, args...), Err: cause}
	e.locate(1)
	panic(e)
}

// FailHint is Fail with a hint: what to write instead, in Go, where PyTorch's sentence speaks of Python or does not
// tell.
func FailHint(cause error, hint, format string, args ...any) {
	e := &Error{Msg: fmt.Sprintf(format, args...), Hint: hint, Err: cause}
	e.locate(1)
	panic(e)
}

// maxStack is the number of calls that an error keeps of its stack.
const maxStack = 512

// locate keeps the stack from the function that is skip calls above the caller of locate, and finds the user's line in
// it.
func (e *Error) locate(skip int) {
	var buf [maxStack]uintptr
	e.pcs = slices.Clone(buf[:runtime.Callers(skip+2, buf[:])])
	e.Caller = userLine(e.pcs)
}

// caller is the user's line that called into the library.
func caller() string {
	var buf [maxStack]uintptr
	return userLine(buf[:runtime.Callers(2, buf[:])])
}

// userLine is the first line of a stack that does not belong to the library; empty if there is none.
func userLine(stack []uintptr) string {
	for f := range frames(stack) {
		if !isLibrary(f.Function, f.File) {
			return fmt.Sprintf("%s:%d", f.File, f.Line)
		}
	}
	return ""
}

// frames walks a stack.
func frames(stack []uintptr) iter.Seq[runtime.Frame] {
	return func(yield func(runtime.Frame) bool) {
		if len(stack) == 0 {
			return
		}
		frames := runtime.CallersFrames(stack)
		for {
			f, more := frames.Next()
			if !yield(f) || !more {
				return
			}
		}
	}
}

// callbacks are the packages of Go's library through which the library calls its own functions.
var callbacks = []string{"runtime", "reflect", "slices", "maps", "sort", "sync", "iter"}

// libraryRoot is the folder of this module's files, as the compiler wrote it down, with a slash behind.
var libraryRoot = sync.OnceValue(func() string {
	_, file, _, _ := runtime.Caller(0)
	for range 2 { // this is tensor/error.go
		file = file[:strings.LastIndexByte(file, '/')]
	}
	return file + "/"
})

// isLibrary reports that a line belongs to this module's library, or to a package of Go's through which the library
// calls itself. The programs of this module, its examples, its cookbook and its tests use the library as any user does.
// The file decides, since a closure of the library has the name of the user's function that it was inlined into.
func isLibrary(function, file string) bool {
	for _, p := range callbacks {
		if strings.HasPrefix(function, p) && len(function) > len(p) && function[len(p)] == '.' {
			return true
		}
	}
	rest, ok := strings.CutPrefix(file, libraryRoot())
	if !ok || strings.HasSuffix(file, "_test.go") {
		return file == "<autogenerated>"
	}
	for _, p := range []string{"cmd/", "examples/", "cookbook/"} {
		if strings.HasPrefix(rest, p) {
			return false
		}
	}
	return true
}
