package pickle

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"strconv"
	"strings"
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
	return &Decoder{r: bufio.NewReader(r), opts: opts, buffers: opts.Buffers, cost: budget{left: 1 << 20}}
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

func (d *Decoder) push(v Value) error {
	if len(d.stack) >= d.opts.MaxStack {
		return syntax("stack of more than %d values", d.opts.MaxStack)
	}
	d.stack = append(d.stack, v)
	return nil
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
		return d.push(d.memo[i])
	}
	v, ok := d.sparse[i]
	if !ok {
		return syntax("memo has no entry %d", i)
	}
	return d.push(v)
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

func (d *Decoder) step(op byte) error {
	switch op {
	case opMark:
		if len(d.marks) >= d.opts.MaxMarks {
			return syntax("more than %d nested marks", d.opts.MaxMarks)
		}
		d.marks = append(d.marks, len(d.stack))
		return nil
	case opPop:
		if len(d.stack) == d.floor() { // POP drops a mark as well
			_, err := d.popMark()
			return err
		}
		_, err := d.pop()
		return err
	case opPopMark:
		_, err := d.popMark()
		return err
	case opDup:
		v, err := d.top()
		if err != nil {
			return err
		}
		return d.push(v)

	case opNone:
		return d.push(nil)
	case opNewTrue:
		return d.push(true)
	case opNewFalse:
		return d.push(false)
	case opInt, opLong:
		s, err := d.line()
		if err != nil {
			return err
		}
		return d.pushDecimal(op, s)
	case opBinInt:
		v, err := d.fixed(4)
		if err != nil {
			return err
		}
		return d.push(int64(int32(v)))
	case opBinInt1:
		return d.pushUint(1)
	case opBinInt2:
		return d.pushUint(2)
	case opLong1, opLong4:
		n := 1
		if op == opLong4 {
			n = 4
		}
		b, err := d.sized(n)
		if err != nil {
			return err
		}
		return d.push(longFromBytes(b))
	case opFloat:
		s, err := d.line()
		if err != nil {
			return err
		}
		f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) { // out of range gives ±inf, as in Python
			return syntax("float %q", cut(s))
		}
		return d.push(f)
	case opBinFloat:
		b, err := d.read(8)
		if err != nil {
			return err
		}
		return d.push(math.Float64frombits(binary.BigEndian.Uint64(b)))

	case opString:
		s, err := d.line()
		if err != nil {
			return err
		}
		b, err := unquote(s)
		if err != nil {
			return err
		}
		return d.pushString(b)
	case opBinString, opShortBinString:
		n := 4
		if op == opShortBinString {
			n = 1
		}
		b, err := d.sized(n)
		if err != nil {
			return err
		}
		return d.pushString(b)
	case opUnicode:
		s, err := d.line()
		if err != nil {
			return err
		}
		return d.pushText(rawUnicodeEscape(s))
	case opShortBinUnicode:
		return d.pushText(d.sized(1))
	case opBinUnicode:
		return d.pushText(d.sized(4))
	case opBinUnicode8:
		return d.pushText(d.sized(8))
	case opShortBinBytes, opBinBytes, opBinBytes8, opByteArray8:
		n := map[byte]int{opShortBinBytes: 1, opBinBytes: 4, opBinBytes8: 8, opByteArray8: 8}[op]
		b, err := d.sized(n)
		if err != nil {
			return err
		}
		if op == opByteArray8 {
			return d.push(ByteArray(b))
		}
		return d.push(b)
	case opNextBuffer:
		if len(d.buffers) == 0 {
			return syntax("out-of-band buffer was not supplied")
		}
		b := d.buffers[0]
		d.buffers = d.buffers[1:]
		return d.push(ByteArray(b))
	case opReadonlyBuffer:
		v, err := d.pop()
		if err != nil {
			return err
		}
		if b, ok := v.(ByteArray); ok {
			v = []byte(b)
		}
		return d.push(v)

	case opEmptyList:
		return d.push(&List{})
	case opEmptyDict:
		return d.push(&Dict{})
	case opEmptySet:
		return d.push(&Set{})
	case opEmptyTuple:
		return d.push(Tuple{})
	case opTuple, opList, opDict, opFrozenSet:
		items, err := d.popMark()
		if err != nil {
			return err
		}
		switch op {
		case opTuple:
			return d.push(Tuple(items))
		case opList:
			return d.push(&List{Items: items})
		case opDict:
			m := &Dict{}
			if err := d.setItems(m, items); err != nil {
				return err
			}
			return d.push(m)
		}
		s := &Set{Frozen: true}
		if err := d.addItems(s, items); err != nil {
			return err
		}
		return d.push(s)
	case opTuple1, opTuple2, opTuple3:
		n := int(op-opTuple1) + 1
		if len(d.stack)-n < d.floor() {
			return syntax("stack underflow")
		}
		t := make(Tuple, n)
		copy(t, d.stack[len(d.stack)-n:])
		d.stack = d.stack[:len(d.stack)-n]
		return d.push(t)
	case opAppend:
		v, err := d.pop()
		if err != nil {
			return err
		}
		return d.appendItems(v)
	case opAppends:
		items, err := d.popMark()
		if err != nil {
			return err
		}
		return d.appendItems(items...)
	case opSetItem:
		v, err := d.pop()
		if err != nil {
			return err
		}
		k, err := d.pop()
		if err != nil {
			return err
		}
		return d.setTop([]Value{k, v})
	case opSetItems:
		items, err := d.popMark()
		if err != nil {
			return err
		}
		return d.setTop(items)
	case opAddItems:
		items, err := d.popMark()
		if err != nil {
			return err
		}
		v, err := d.top()
		if err != nil {
			return err
		}
		s, ok := v.(*Set)
		if !ok || s.Frozen {
			return syntax("ADDITEMS to a %s", typeName(v))
		}
		return d.addItems(s, items)

	case opPut, opGet:
		s, err := d.line()
		if err != nil {
			return err
		}
		i, err := strconv.ParseUint(strings.TrimSpace(s), 10, 63)
		if err != nil {
			return syntax("memo index %q", cut(s))
		}
		if op == opPut {
			return d.put(i)
		}
		return d.get(i)
	case opBinPut, opLongBinPut, opBinGet, opLongBinGet:
		n := 1
		if op == opLongBinPut || op == opLongBinGet {
			n = 4
		}
		i, err := d.fixed(n)
		if err != nil {
			return err
		}
		if op == opBinPut || op == opLongBinPut {
			return d.put(i)
		}
		return d.get(i)
	case opMemoize:
		return d.put(uint64(len(d.memo) + len(d.sparse)))

	case opProto:
		v, err := d.fixed(1)
		if err != nil {
			return err
		}
		if v > highestProtocol {
			return syntax("protocol %d, expected 0 to %d", v, highestProtocol)
		}
		return nil
	case opFrame:
		// Frames only help a reader to prefetch; nothing depends on their length.
		_, err := d.fixed(8)
		return err
	case opExt1, opExt2, opExt4:
		return syntax("extension registry codes have no meaning outside the writing program")

	case opPersID:
		s, err := d.line()
		if err != nil {
			return err
		}
		return d.persistent(s)
	case opBinPersID:
		id, err := d.pop()
		if err != nil {
			return err
		}
		return d.persistent(id)

	case opGlobal:
		module, err := d.line()
		if err != nil {
			return err
		}
		name, err := d.line()
		if err != nil {
			return err
		}
		return d.pushGlobal(module, name)
	case opStackGlobal:
		n, err := d.pop()
		if err != nil {
			return err
		}
		m, err := d.pop()
		if err != nil {
			return err
		}
		name, ok1 := n.(string)
		module, ok2 := m.(string)
		if !ok1 || !ok2 {
			return syntax("STACK_GLOBAL needs two strings, got %s and %s", typeName(m), typeName(n))
		}
		return d.pushGlobal(module, name)
	case opReduce, opNewObj:
		a, err := d.pop()
		if err != nil {
			return err
		}
		class, err := d.pop()
		if err != nil {
			return err
		}
		args, ok := a.(Tuple)
		if !ok {
			return syntax("arguments of a call must be a tuple, got %s", typeName(a))
		}
		return d.call(class, args, nil, op == opNewObj)
	case opNewObjEx:
		k, err := d.pop()
		if err != nil {
			return err
		}
		a, err := d.pop()
		if err != nil {
			return err
		}
		class, err := d.pop()
		if err != nil {
			return err
		}
		args, ok1 := a.(Tuple)
		kwargs, ok2 := k.(*Dict)
		if !ok1 || !ok2 {
			return syntax("NEWOBJ_EX needs a tuple and a dict, got %s and %s", typeName(a), typeName(k))
		}
		return d.call(class, args, kwargs, true)
	case opInst:
		module, err := d.line()
		if err != nil {
			return err
		}
		name, err := d.line()
		if err != nil {
			return err
		}
		args, err := d.popMark()
		if err != nil {
			return err
		}
		class, err := d.global(module, name)
		if err != nil {
			return err
		}
		return d.call(class, args, nil, false)
	case opObj:
		items, err := d.popMark()
		if err != nil {
			return err
		}
		if len(items) == 0 {
			return syntax("OBJ without a class")
		}
		return d.call(items[0], items[1:], nil, false)
	case opBuild:
		state, err := d.pop()
		if err != nil {
			return err
		}
		v, err := d.top()
		if err != nil {
			return err
		}
		return d.build(v, state)
	}
	return syntax("unknown opcode")
}

func (d *Decoder) pushUint(n int) error {
	v, err := d.fixed(n)
	if err != nil {
		return err
	}
	return d.push(int64(v))
}

// maxDecimal bounds the digits of a number in text form, whose conversion takes
// more than linear time.
const maxDecimal = 1 << 14

func (d *Decoder) pushDecimal(op byte, s string) error {
	if op == opInt {
		switch s { // booleans of protocol 0 and 1
		case "00":
			return d.push(false)
		case "01":
			return d.push(true)
		}
	} else {
		s = strings.TrimSuffix(s, "L")
	}
	s = strings.TrimSpace(s)
	if v, err := strconv.ParseInt(s, 10, 64); err == nil {
		return d.push(v)
	}
	if len(s) <= maxDecimal {
		if v, ok := new(big.Int).SetString(s, 10); ok {
			return d.push(normalInt(v))
		}
	}
	return syntax("integer %q", cut(s))
}

func normalInt(v *big.Int) Value {
	if v.IsInt64() {
		return v.Int64()
	}
	return v
}

// longFromBytes reads a little-endian number in two's complement.
func longFromBytes(b []byte) Value {
	if len(b) <= 8 {
		var v uint64
		for i, x := range b {
			v |= uint64(x) << (8 * i)
		}
		shift := 64 - 8*len(b)
		if shift == 64 {
			return int64(0)
		}
		return int64(v<<shift) >> shift
	}
	be := make([]byte, len(b))
	for i, x := range b {
		be[len(b)-1-i] = x
	}
	v := new(big.Int).SetBytes(be)
	if be[0]&0x80 != 0 {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return normalInt(v)
}

func (d *Decoder) appendItems(items ...Value) error {
	v, err := d.top()
	if err != nil {
		return err
	}
	switch v := v.(type) {
	case *List:
		v.Items = append(v.Items, items...)
	case *Object:
		v.ListItems = append(v.ListItems, items...)
	default:
		return syntax("APPEND to a %s", typeName(v))
	}
	return nil
}

func (d *Decoder) setTop(items []Value) error {
	v, err := d.top()
	if err != nil {
		return err
	}
	return d.setItems(v, items)
}

func (d *Decoder) setItems(v Value, items []Value) error {
	if len(items)%2 != 0 {
		return syntax("key without a value")
	}
	switch v := v.(type) {
	case *Dict:
		for i := 0; i < len(items); i += 2 {
			if err := v.set(items[i], items[i+1], &d.cost); err != nil {
				return err
			}
		}
	case *Object:
		for i := 0; i < len(items); i += 2 {
			v.DictItems = append(v.DictItems, Entry{items[i], items[i+1]})
		}
	default:
		return syntax("SETITEM on a %s", typeName(v))
	}
	return nil
}

func (d *Decoder) addItems(s *Set, items []Value) error {
	for _, it := range items {
		if err := s.d.set(it, nil, &d.cost); err != nil {
			return err
		}
	}
	return nil
}

func (d *Decoder) persistent(id Value) error {
	if d.opts.PersistentLoad == nil {
		return syntax("persistent id %s, but none is expected here", Repr(id))
	}
	v, err := d.opts.PersistentLoad(id)
	if err != nil {
		return err
	}
	return d.push(v)
}

func (d *Decoder) pushGlobal(module, name string) error {
	g, err := d.global(module, name)
	if err != nil {
		return err
	}
	return d.push(g)
}

func (d *Decoder) global(module, name string) (*Global, error) {
	module, name = python3Name(module, name)
	key := [2]string{module, name}
	if g := d.globals[key]; g != nil {
		return g, nil
	}
	g := &Global{Module: module, Name: name}
	if d.opts.FindClass != nil {
		fn, err := d.opts.FindClass(module, name)
		if err != nil {
			return nil, err
		}
		g.fn = fn
	}
	d.globals[key] = g
	return g, nil
}

func (d *Decoder) call(class Value, args Tuple, kwargs *Dict, isNew bool) error {
	if g, ok := class.(*Global); ok && (kwargs == nil || kwargs.Len() == 0) {
		if g.fn != nil {
			v, err := g.fn(args)
			if err != nil {
				return fmt.Errorf("%s: %w", g, err)
			}
			return d.push(v)
		}
		v, ok, err := d.builtin(g, args)
		if err != nil {
			return fmt.Errorf("%s: %w", g, err)
		}
		if ok {
			return d.push(v)
		}
	}
	switch class.(type) {
	case *Global, *Object: // an object can be callable: a partial, a bound method
	default:
		return syntax("call of a %s", typeName(class))
	}
	return d.push(&Object{Class: class, Args: args, Kwargs: kwargs, New: isNew})
}

func (d *Decoder) build(v, state Value) error {
	switch v := v.(type) {
	case *Object:
		v.State, v.HasState = state, true
	case *Dict:
		v.Attrs = state
	case Builder:
		return v.PickleBuild(state)
	default:
		return syntax("BUILD of a %s", typeName(v))
	}
	return nil
}

// builtin makes the values of Python's own data types, which protocol 2 can only
// express as calls. Calls that it does not recognise are left to be described.
func (d *Decoder) builtin(g *Global, args Tuple) (v Value, ok bool, err error) {
	switch g.Module {
	case "builtins":
		switch g.Name {
		case "set", "frozenset":
			items, ok := iterable(args)
			if !ok {
				return nil, false, nil
			}
			s := &Set{Frozen: g.Name == "frozenset"}
			return s, true, d.addItems(s, items)
		case "list", "tuple":
			items, ok := iterable(args)
			if !ok {
				return nil, false, nil
			}
			if err := d.cost.spend(16 * len(items)); err != nil {
				return nil, false, err
			}
			items = append([]Value{}, items...)
			if g.Name == "list" {
				return &List{Items: items}, true, nil
			}
			return Tuple(items), true, nil
		case "dict":
			if len(args) == 0 {
				return &Dict{}, true, nil
			}
		case "bytes", "bytearray":
			b, ok, err := d.toBytes(args)
			if ok && g.Name == "bytearray" {
				return ByteArray(b), true, err
			}
			return b, ok, err
		case "complex":
			if len(args) == 2 {
				re, ok1 := toFloat(args[0])
				im, ok2 := toFloat(args[1])
				return complex(re, im), ok1 && ok2, nil
			}
		}
	case "_codecs":
		if g.Name == "encode" {
			b, ok, err := d.toBytes(args)
			return b, ok, err
		}
	case "collections":
		switch g.Name {
		case "OrderedDict", "Counter":
			m := &Dict{Class: OrderedDict}
			if g.Name == "Counter" {
				m.Class = Counter
			}
			switch len(args) {
			case 0:
				return m, true, nil
			case 1:
				return m, true, d.update(m, args[0])
			}
		case "defaultdict":
			m := &Dict{Class: DefaultDict}
			switch len(args) {
			case 0:
				return m, true, nil
			case 1:
				m.Factory = args[0]
				return m, true, nil
			}
		}
	}
	return nil, false, nil
}

// update fills a new mapping from a dict or a sequence of pairs.
func (d *Decoder) update(m *Dict, from Value) error {
	if src, ok := from.(*Dict); ok {
		for _, e := range src.entries {
			if err := d.cost.spend(64); err != nil {
				return err
			}
			if err := m.set(e.Key, e.Value, &d.cost); err != nil {
				return err
			}
		}
		return nil
	}
	items, ok := iterable(Tuple{from})
	if !ok {
		return syntax("cannot fill a dict from a %s", typeName(from))
	}
	for _, it := range items {
		if err := d.cost.spend(64); err != nil {
			return err
		}
		pair, ok := iterable(Tuple{it})
		if !ok || len(pair) != 2 {
			return syntax("dict item is not a pair")
		}
		if err := m.set(pair[0], pair[1], &d.cost); err != nil {
			return err
		}
	}
	return nil
}

// iterable returns the items of the one list or tuple among the arguments of a
// container's constructor; no argument means no items.
func iterable(args Tuple) ([]Value, bool) {
	switch len(args) {
	case 0:
		return nil, true
	case 1:
		switch v := args[0].(type) {
		case *List:
			return v.Items, true
		case Tuple:
			return v, true
		}
	}
	return nil, false
}

// toBytes interprets the arguments with which Python rebuilds bytes: none, bytes,
// or text and the encoding latin1, in which a code point is a byte.
func (d *Decoder) toBytes(args Tuple) ([]byte, bool, error) {
	switch len(args) {
	case 0:
		return []byte{}, true, nil
	case 1:
		switch b := args[0].(type) {
		case []byte:
			return append([]byte{}, b...), true, d.cost.spend(len(b))
		case ByteArray:
			return append([]byte{}, b...), true, d.cost.spend(len(b))
		}
	case 2:
		s, ok := args[0].(string)
		enc, _ := args[1].(string)
		if !ok || (enc != "latin1" && enc != "latin-1") {
			return nil, false, nil
		}
		if err := d.cost.spend(len(s)); err != nil {
			return nil, false, err
		}
		b := make([]byte, 0, len(s))
		for _, r := range s {
			if r > 0xff {
				return nil, false, syntax("U+%04X is not latin1", r)
			}
			b = append(b, byte(r))
		}
		return b, true, nil
	}
	return nil, false, nil
}

func toFloat(v Value) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case int64:
		return float64(v), true
	}
	return 0, false
}

// typeName names a value's type for messages, as Python would.
func typeName(v Value) string {
	switch v := v.(type) {
	case nil:
		return "NoneType"
	case bool:
		return "bool"
	case int64, *big.Int:
		return "int"
	case float64:
		return "float"
	case string:
		return "str"
	case []byte:
		return "bytes"
	case ByteArray:
		return "bytearray"
	case Tuple:
		return "tuple"
	case *List:
		return "list"
	case *Dict:
		return "dict"
	case *Set:
		return "set"
	case *Global:
		return "global " + cut(v.String())
	case *Object:
		if g := v.Global(); g != nil {
			return cut(g.String())
		}
		return "object"
	}
	return fmt.Sprintf("%T", v)
}

// unquote reads the repr of a Python 2 string, the argument of STRING.
func unquote(s string) ([]byte, error) {
	s = strings.TrimRight(s, " \t\r")
	if len(s) < 2 || (s[0] != '\'' && s[0] != '"') || s[len(s)-1] != s[0] {
		return nil, syntax("STRING argument %q is not quoted", cut(s))
	}
	s = s[1 : len(s)-1]
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			out = append(out, s[i])
			continue
		}
		i++
		if i == len(s) {
			return nil, syntax("STRING ends in a backslash")
		}
		switch c := s[i]; c {
		case 'n', 't', 'r', 'a', 'b', 'f', 'v':
			out = append(out, "\n\t\r\a\b\f\v"[strings.IndexByte("ntrabfv", c)])
		case '\\', '\'', '"':
			out = append(out, c)
		case '\n':
		case 'x':
			if i+2 >= len(s) {
				return nil, syntax("STRING has a short \\x escape")
			}
			v, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
			if err != nil {
				return nil, syntax("STRING has a bad \\x escape")
			}
			out = append(out, byte(v))
			i += 2
		case '0', '1', '2', '3', '4', '5', '6', '7':
			v, n := 0, 0
			for n < 3 && i+n < len(s) && s[i+n] >= '0' && s[i+n] <= '7' {
				v = v*8 + int(s[i+n]-'0')
				n++
			}
			out = append(out, byte(v))
			i += n - 1
		default: // Python keeps unknown escapes as they are
			out = append(out, '\\', c)
		}
	}
	return out, nil
}

// rawUnicodeEscape reads the argument of UNICODE: latin1 in which only \uXXXX and
// \UXXXXXXXX are escapes.
func rawUnicodeEscape(s string) ([]byte, error) {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		n := 0
		if s[i] == '\\' && i+1 < len(s) {
			switch s[i+1] {
			case 'u':
				n = 4
			case 'U':
				n = 8
			}
		}
		if n == 0 {
			out = utf8.AppendRune(out, rune(s[i]))
			continue
		}
		if i+2+n > len(s) {
			return nil, syntax("UNICODE has a short escape")
		}
		v, err := strconv.ParseUint(s[i+2:i+2+n], 16, 32)
		if err != nil || v > utf8.MaxRune {
			return nil, syntax("UNICODE has a bad escape")
		}
		if v >= 0xd800 && v < 0xe000 { // a lone surrogate keeps its three-byte form
			out = append(out, 0xed, byte(0x80|v>>6&0x3f), byte(0x80|v&0x3f))
		} else {
			out = utf8.AppendRune(out, rune(v))
		}
		i += 1 + n
	}
	return out, nil
}
