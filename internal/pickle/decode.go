package pickle

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"unicode/utf8"
)

// ErrSyntax is wrapped by every error about the stream itself, as opposed to
// errors of the underlying reader and of callbacks.
var ErrSyntax = errors.New("malformed pickle")

// Error says where in a stream decoding failed.
type Error struct {
	Offset int64 // of the opcode, from the start of the Decoder's input
	Op     byte  // the opcode
	Err    error
}

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("pickle: offset %d, opcode %q: %v", e.Offset, e.Op, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Func makes the value for a call of a class or function in the stream. The
// arguments may still be filled by later opcodes when they are containers.
type Func func(args Tuple) (Value, error)

// DecodeOptions configures a [Decoder]. The zero value decodes plain data and
// describes everything else.
type DecodeOptions struct {
	// FindClass resolves the names in the stream. It returns the constructor to run
	// when the class is called, or nil to have the call described by an *Object. An
	// error refuses the stream. Names arrive in their Python 3 form. When FindClass
	// is nil or returns nil, the constructors of Python's own data types (set,
	// OrderedDict, complex, bytes, ...) still apply.
	FindClass func(module, name string) (Func, error)

	// PersistentLoad resolves persistent ids; a stream with such ids fails without it.
	PersistentLoad func(id Value) (Value, error)

	// Buffers are the out-of-band buffers of protocol 5, in order.
	Buffers [][]byte

	// MaxMemory limits what the values take, by a rough count, beyond twice the bytes read. 0 means 256 MB: a pickle
	// has opcodes of one byte that make empty containers of a hundred.
	MaxMemory int64

	// MaxStack limits the values on the stack and MaxMarks the marks, that is, the
	// open nested containers. 0 means 1<<24 and 1<<16.
	MaxStack, MaxMarks int
}

// Decoder reads pickles, one after the other, from a stream.
type Decoder struct {
	r    *bufio.Reader
	opts DecodeOptions
	off  int64 // bytes consumed

	stack   []Value
	marks   []int // positions in stack
	memo    []Value
	sparse  map[uint64]Value // memo entries that were not stored in sequence
	globals map[[2]string]*Global
	buffers [][]byte
	cost    budget
	memory  budget
}

// NewDecoder returns a decoder that reads from r. It buffers its input, so that r
// is left somewhere behind the last pickle read; [Decoder.Offset] tells where that was.
func NewDecoder(r io.Reader, opts DecodeOptions) *Decoder {
	if opts.MaxStack <= 0 {
		opts.MaxStack = 1 << 24
	}
	if opts.MaxMarks <= 0 {
		opts.MaxMarks = 1 << 16
	}
	if opts.MaxMemory <= 0 {
		opts.MaxMemory = 256 << 20
	}
	return &Decoder{r: bufio.NewReader(r), opts: opts, buffers: opts.Buffers, cost: budget{left: 1 << 20},
		memory: budget{left: opts.MaxMemory}}
}

// Unmarshal decodes the one pickle that data starts with.
func Unmarshal(data []byte, opts DecodeOptions) (Value, error) {
	return NewDecoder(bytes.NewReader(data), opts).Decode()
}

// Offset returns the number of bytes that the pickles decoded so far took.
func (d *Decoder) Offset() int64 { return d.off }

// budget bounds the work that costs more than the bytes which ask for it: hashing
// a long memoised string again and again, or encoding it to bytes. Every byte read
// earns a fixed allowance, so that the total stays proportional to the input.
type budget struct{ left int64 }

const budgetPerByte = 64

var errBudget = fmt.Errorf("%w: too much work for its size", ErrSyntax)

// spend is safe on a nil budget, which is unlimited.
func (b *budget) spend(n int) error {
	if b == nil {
		return nil
	}
	if b.left -= int64(n); b.left < 0 {
		return errBudget
	}
	return nil
}

func syntax(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrSyntax, fmt.Sprintf(format, args...))
}

// Decode reads the next pickle. At the end of the input, before any opcode, it
// returns io.EOF; other failures are of type *Error.
func (d *Decoder) Decode() (Value, error) {
	d.stack, d.marks, d.memo, d.sparse = d.stack[:0], d.marks[:0], nil, nil
	d.globals = map[[2]string]*Global{}
	for first := true; ; first = false {
		start := d.off
		op, err := d.r.ReadByte()
		if err != nil {
			if err == io.EOF && !first {
				err = io.ErrUnexpectedEOF
			}
			if first {
				return nil, err
			}
			return nil, &Error{start, 0, err}
		}
		d.consumed(1)
		if op == opStop {
			v, err := d.pop()
			if err == nil && (len(d.stack) > 0 || len(d.marks) > 0) {
				// Python ignores what is left; we do as well, some writers leave marks.
				d.stack, d.marks = d.stack[:0], d.marks[:0]
			}
			if err != nil {
				return nil, &Error{start, op, err}
			}
			d.memo, d.sparse = nil, nil
			return v, nil
		}
		if err := d.step(op); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return nil, &Error{start, op, err}
		}
	}
}

func (d *Decoder) consumed(n int) {
	d.off += int64(n)
	d.cost.left += budgetPerByte * int64(n)
	d.memory.left += 2 * int64(n)
}

// read returns the next n bytes. It grows its buffer as data arrives, so that a
// false length in a short file costs nothing.
func (d *Decoder) read(n uint64) ([]byte, error) {
	const chunk = 1 << 16
	if n <= chunk {
		buf := make([]byte, n)
		m, err := io.ReadFull(d.r, buf)
		d.consumed(m)
		return buf, err
	}
	if n > math.MaxInt64 {
		return nil, syntax("length %d", n)
	}
	var buf bytes.Buffer
	m, err := io.CopyN(&buf, d.r, int64(n))
	d.consumed(int(m))
	return buf.Bytes(), err
}

// fixed reads up to eight bytes as a little-endian number, without allocation.
func (d *Decoder) fixed(n int) (uint64, error) {
	var v uint64
	for i := range n {
		b, err := d.r.ReadByte()
		if err != nil {
			return 0, io.ErrUnexpectedEOF
		}
		v |= uint64(b) << (8 * i)
	}
	d.consumed(n)
	return v, nil
}

// sized reads a block preceded by its length of n bytes.
func (d *Decoder) sized(n int) ([]byte, error) {
	size, err := d.fixed(n)
	if err != nil {
		return nil, err
	}
	return d.read(size)
}

// line reads up to a newline, which it drops.
func (d *Decoder) line() (string, error) {
	var buf []byte
	for {
		part, err := d.r.ReadSlice('\n')
		d.consumed(len(part))
		if err == nil && buf == nil {
			return string(part[:len(part)-1]), nil
		}
		buf = append(buf, part...)
		switch err {
		case nil:
			return string(buf[:len(buf)-1]), nil
		case bufio.ErrBufferFull:
		default:
			return "", err
		}
	}
}

// push puts a value that was just made on the stack.
func (d *Decoder) push(v Value) error {
	if err := d.pushKnown(v); err != nil {
		return err
	}
	return d.grown(sizeOf(v))
}

// pushKnown puts a value on the stack that was there before.
func (d *Decoder) pushKnown(v Value) error {
	if len(d.stack) >= d.opts.MaxStack {
		return syntax("stack of more than %d values", d.opts.MaxStack)
	}
	d.stack = append(d.stack, v)
	return d.grown(16)
}

// grown counts memory that values take.
func (d *Decoder) grown(n int64) error {
	if d.memory.left -= n; d.memory.left < 0 {
		return syntax("values of more than %d bytes beyond twice the pickle's size", d.opts.MaxMemory)
	}
	return nil
}

// sizeOf is about what a value takes that was made for the stack, without what it refers to. References to values that
// were made before cost no more than their place.
func sizeOf(v Value) int64 {
	switch v := v.(type) {
	case nil, bool:
		return 16
	case string:
		return 32 + int64(len(v))
	case []byte:
		return 40 + int64(len(v))
	case ByteArray:
		return 40 + int64(len(v))
	case int64, float64, complex128:
		return 32
	case Tuple:
		return 40 + 16*int64(len(v))
	case *List, *Set:
		return 80
	case *Dict:
		return 160
	case *Object:
		return 256
	}
	return 64
}

// floor is the stack height that opcodes may not reach below: the last mark.
func (d *Decoder) floor() int {
	if len(d.marks) == 0 {
		return 0
	}
	return d.marks[len(d.marks)-1]
}

func (d *Decoder) pop() (Value, error) {
	n := len(d.stack)
	if n <= d.floor() {
		return nil, syntax("stack underflow")
	}
	v := d.stack[n-1]
	d.stack[n-1] = nil
	d.stack = d.stack[:n-1]
	return v, nil
}

func (d *Decoder) top() (Value, error) {
	if len(d.stack) <= d.floor() {
		return nil, syntax("stack underflow")
	}
	return d.stack[len(d.stack)-1], nil
}

// popMark returns a copy of the values above the last mark and drops them.
func (d *Decoder) popMark() ([]Value, error) {
	if len(d.marks) == 0 {
		return nil, syntax("no mark")
	}
	at := d.marks[len(d.marks)-1]
	d.marks = d.marks[:len(d.marks)-1]
	items := make([]Value, len(d.stack)-at)
	copy(items, d.stack[at:])
	clear(d.stack[at:])
	d.stack = d.stack[:at]
	return items, nil
}

func (d *Decoder) put(i uint64) error {
	v, err := d.top()
	if err != nil {
		return err
	}
	if i < uint64(len(d.memo)) {
		d.memo[i] = v
		return nil
	}
	if i == uint64(len(d.memo)) && d.sparse == nil {
		d.memo = append(d.memo, v)
		return nil
	}
	if d.sparse == nil {
		d.sparse = map[uint64]Value{}
	}
	d.sparse[i] = v
	return nil
}

func (d *Decoder) get(i uint64) error {
	if i < uint64(len(d.memo)) {
		return d.pushKnown(d.memo[i])
	}
	v, ok := d.sparse[i]
	if !ok {
		return syntax("memo has no entry %d", i)
	}
	return d.pushKnown(v)
}

func (d *Decoder) pushText(b []byte, err error) error {
	if err != nil {
		return err
	}
	if !validText(b) {
		return syntax("text is not UTF-8")
	}
	return d.push(string(b))
}

// validText accepts UTF-8 and, as Python does here, encoded lone surrogates.
func validText(b []byte) bool {
	for len(b) > 0 {
		if r, n := utf8.DecodeRune(b); r != utf8.RuneError || n > 1 {
			b = b[n:]
			continue
		}
		if len(b) < 3 || b[0] != 0xed || b[1]&0xe0 != 0xa0 || b[2]&0xc0 != 0x80 {
			return false
		}
		b = b[3:]
	}
	return true
}

// pushString handles the 8-bit strings of Python 2, which hold text or bytes.
// Python decodes them as ASCII or as the caller says; we take UTF-8 for text and
// keep anything else as bytes.
func (d *Decoder) pushString(b []byte) error {
	if utf8.Valid(b) {
		return d.push(string(b))
	}
	return d.push(b)
}
