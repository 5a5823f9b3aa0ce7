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
	"reflect"
	"unicode/utf8"
	"unsafe"
)

// ErrDepth is wrapped when a value is nested deeper than an [Encoder] follows.
var ErrDepth = errors.New("nested too deep")

// maxEncodeDepth is far beyond what Python itself can load (its recursion limit
// is 1000 by default) and far below what would endanger the goroutine's stack.
const maxEncodeDepth = 10000

// batchSize is the number of items that Python puts between MARK and APPENDS or SETITEMS.
const batchSize = 1000

// EncodeOptions configures an [Encoder].
type EncodeOptions struct {
	// PersistentID returns the persistent id under which to refer to a value, and
	// whether the value has one. It is asked for every value before anything else.
	PersistentID func(v Value) (id Value, ok bool, err error)

	// Reduce describes values of Go types outside the value model. It is called once
	// for each distinct value; nil, nil means that the type is unknown.
	Reduce func(v Value) (Value, error)

	// MemoAfterBuild gives an object made by __new__ its number after it was filled instead of before, as PyTorch's own
	// pickler does: its unpickler has no object before. An object must not contain itself then.
	MemoAfterBuild bool
}

// Encoder writes pickles of protocol 2.
type Encoder struct {
	w    *bufio.Writer
	opts EncodeOptions
	next uint32 // the next memo number
	memo map[any]uint32
}

// Text is a string with an identity of its own. A plain string is written once
// and referred to wherever an equal one occurs, as Python does with the strings it
// interns, literals above all. But Python goes by identity, not by contents: text
// that a program computes is written again even if an equal string came before.
// A *Text is shared only with itself. It reads back as a string.
type Text struct{ S string }

// Memo keys of the kinds that are not identified by a pointer.
type (
	sliceID struct {
		p *byte
		n int
	}
	tupleID struct {
		p *Value
		n int
	}
)

// NewEncoder returns an encoder that writes to w.
func NewEncoder(w io.Writer, opts EncodeOptions) *Encoder {
	return &Encoder{w: bufio.NewWriter(w), opts: opts}
}

// Marshal returns the pickle of a value.
func Marshal(v Value, opts EncodeOptions) ([]byte, error) {
	var buf bytes.Buffer
	err := NewEncoder(&buf, opts).Encode(v)
	return buf.Bytes(), err
}

// Encode writes one pickle. Equal strings and globals are written once and
// referred to afterwards, as are lists, dicts, sets and objects with the same
// pointer and tuples and byte slices with the same backing array.
func (e *Encoder) Encode(v Value) error {
	e.next, e.memo = 0, map[any]uint32{}
	e.w.WriteByte(opProto)
	e.w.WriteByte(2)
	if err := e.save(v, 0); err != nil {
		return fmt.Errorf("pickle: %w", err)
	}
	e.w.WriteByte(opStop)
	return e.w.Flush() // reports any earlier write error
}

func (e *Encoder) op(op byte, args ...byte) {
	e.w.WriteByte(op)
	e.w.Write(args)
}

// put gives the value on the stack the next memo number and remembers it under
// key; a nil key takes a number that nothing refers to, as Python does.
func (e *Encoder) put(key any) {
	if key != nil {
		e.memo[key] = e.next
	}
	if e.next < 256 {
		e.op(opBinPut, byte(e.next))
	} else {
		e.op(opLongBinPut)
		e.uint32(e.next)
	}
	e.next++
}

// get writes a reference if the key is in the memo.
func (e *Encoder) get(key any) bool {
	i, ok := e.memo[key]
	if !ok {
		return false
	}
	if i < 256 {
		e.op(opBinGet, byte(i))
	} else {
		e.op(opLongBinGet)
		e.uint32(i)
	}
	return true
}

func (e *Encoder) uint32(v uint32) {
	var b [4]byte
	binary.LittleEndian.PutUint32(b[:], v)
	e.w.Write(b[:])
}

func (e *Encoder) save(v Value, depth int) error {
	if depth > maxEncodeDepth {
		return fmt.Errorf("value is %w: more than %d levels", ErrDepth, maxEncodeDepth)
	}
	if e.opts.PersistentID != nil {
		id, ok, err := e.opts.PersistentID(v)
		if err != nil {
			return err
		}
		if ok {
			if err := e.save(id, depth+1); err != nil {
				return err
			}
			e.op(opBinPersID)
			return nil
		}
	}
	switch v := v.(type) {
	case nil:
		e.op(opNone)
	case bool:
		if v {
			e.op(opNewTrue)
		} else {
			e.op(opNewFalse)
		}
	case int64:
		e.saveInt(v)
	case int:
		e.saveInt(int64(v))
	case *big.Int:
		return e.saveBig(v)
	case float64:
		var b [8]byte
		binary.BigEndian.PutUint64(b[:], math.Float64bits(v))
		e.op(opBinFloat, b[:]...)
	case string:
		if e.get(v) {
			return nil
		}
		return e.saveText(v, v)
	case *Text:
		if e.get(v) {
			return nil
		}
		return e.saveText(v.S, v)
	case *Global:
		return e.saveGlobal(v)
	case []byte:
		return e.saveBytes(v, depth)
	case ByteArray:
		return e.saveByteArray(v, depth)
	case complex128:
		return e.saveCall("builtins", "complex", Tuple{real(v), imag(v)}, nil, depth)
	case Tuple:
		return e.saveTuple(v, depth)
	case *List:
		if e.get(v) {
			return nil
		}
		e.op(opEmptyList)
		e.put(v)
		return e.saveList(v.Items, depth)
	case *Dict:
		return e.saveDict(v, depth)
	case *Set:
		if e.get(v) {
			return nil
		}
		name := "set"
		if v.Frozen {
			name = "frozenset"
		}
		return e.saveCall("builtins", name, Tuple{&List{Items: v.Items()}}, v, depth)
	case *Object:
		if e.get(v) {
			return nil
		}
		return e.saveObject(v, v, depth)
	default:
		return e.saveOther(v, depth)
	}
	return nil
}

func (e *Encoder) saveOther(v Value, depth int) error {
	if e.opts.Reduce == nil {
		return fmt.Errorf("cannot write a value of Go type %T", v)
	}
	// Only pointers have an identity to remember.
	var key any
	if k, err := hashKey(v, nil); err == nil && k == v && isPointer(v) {
		key = v
		if e.get(key) {
			return nil
		}
	}
	r, err := e.opts.Reduce(v)
	if err != nil {
		return err
	}
	switch r := r.(type) {
	case nil:
		return fmt.Errorf("cannot write a value of Go type %T", v)
	case *Object:
		return e.saveObject(r, key, depth)
	default:
		return e.save(r, depth+1)
	}
}

func (e *Encoder) saveInt(v int64) {
	switch {
	case v >= 0 && v < 1<<8:
		e.op(opBinInt1, byte(v))
	case v >= 0 && v < 1<<16:
		e.op(opBinInt2, byte(v), byte(v>>8))
	case v >= math.MinInt32 && v <= math.MaxInt32:
		e.op(opBinInt)
		e.uint32(uint32(v))
	default:
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], uint64(v))
		n := 8
		// Drop bytes that only repeat the sign.
		for n > 1 && (b[n-1] == 0 && b[n-2] < 0x80 || b[n-1] == 0xff && b[n-2] >= 0x80) {
			n--
		}
		e.op(opLong1, byte(n))
		e.w.Write(b[:n])
	}
}

func (e *Encoder) saveBig(v *big.Int) error {
	if v.IsInt64() {
		e.saveInt(v.Int64())
		return nil
	}
	// Two's complement in as few bytes as hold the sign bit.
	n := v.BitLen()/8 + 1
	mag := new(big.Int).Set(v)
	if v.Sign() < 0 {
		if neg := new(big.Int).Neg(v); neg.BitLen()%8 == 0 && neg.TrailingZeroBits() == uint(neg.BitLen()-1) {
			n-- // -2**(8k-1) needs no further byte
		}
		mag.Add(mag, new(big.Int).Lsh(big.NewInt(1), uint(8*n)))
	}
	b := make([]byte, n)
	mag.FillBytes(b)
	for i, j := 0, n-1; i < j; i, j = i+1, j-1 {
		b[i], b[j] = b[j], b[i]
	}
	if n < 256 {
		e.op(opLong1, byte(n))
	} else {
		if n > maxLong { // a Decoder would refuse it
			return fmt.Errorf("integer of %d bytes, expected at most %d", n, maxLong)
		}
		e.op(opLong4)
		e.uint32(uint32(n))
	}
	e.w.Write(b)
	return nil
}

func (e *Encoder) saveText(s string, key any) error {
	if int64(len(s)) > math.MaxUint32 {
		return fmt.Errorf("text of %d bytes is too long for protocol 2", len(s))
	}
	if !validText(unsafe.Slice(unsafe.StringData(s), len(s))) {
		return fmt.Errorf("text %q is not UTF-8", cut(s))
	}
	e.op(opBinUnicode)
	e.uint32(uint32(len(s)))
	e.w.WriteString(s)
	e.put(key)
	return nil
}

func (e *Encoder) saveGlobal(g *Global) error {
	key := globalKey{g.Module, g.Name}
	if e.get(key) {
		return nil
	}
	module, name := python2Name(g.Module, g.Name)
	for _, s := range []string{module, name} {
		for _, r := range s {
			if r == '\n' || r == utf8.RuneError {
				return fmt.Errorf("cannot write the global %q", cut(g.String()))
			}
		}
	}
	e.op(opGlobal)
	e.w.WriteString(module)
	e.w.WriteByte('\n')
	e.w.WriteString(name)
	e.w.WriteByte('\n')
	e.put(key)
	return nil
}

// saveCall writes a call of a global, and remembers its result under key.
func (e *Encoder) saveCall(module, name string, args Tuple, key any, depth int) error {
	return e.saveObject(&Object{Class: &Global{Module: module, Name: name}, Args: args}, key, depth)
}

func latin1(b []byte) *Text {
	out := make([]byte, 0, len(b)+len(b)/4)
	for _, c := range b {
		out = utf8.AppendRune(out, rune(c))
	}
	return &Text{string(out)}
}

// saveBytes writes bytes as protocol 2 must, which has no opcode for them.
func (e *Encoder) saveBytes(b []byte, depth int) error {
	if len(b) == 0 {
		return e.saveCall("builtins", "bytes", nil, nil, depth)
	}
	key := sliceID{unsafe.SliceData(b), len(b)}
	if e.get(key) {
		return nil
	}
	return e.saveCall("_codecs", "encode", Tuple{latin1(b), "latin1"}, key, depth)
}

func (e *Encoder) saveByteArray(b ByteArray, depth int) error {
	if len(b) == 0 {
		return e.saveCall("builtins", "bytearray", nil, nil, depth)
	}
	key := sliceID{unsafe.SliceData(b), len(b)}
	if e.get(key) {
		return nil
	}
	// The bytes inside are made for the occasion and have no identity of their own.
	inner := &Object{Class: &Global{Module: "_codecs", Name: "encode"}, Args: Tuple{latin1(b), "latin1"}}
	return e.saveCall("builtins", "bytearray", Tuple{inner}, key, depth)
}

func (e *Encoder) saveTuple(t Tuple, depth int) error {
	if len(t) == 0 {
		e.op(opEmptyTuple)
		return nil
	}
	key := tupleID{unsafe.SliceData(t), len(t)}
	if e.get(key) {
		return nil
	}
	if len(t) > 3 {
		e.op(opMark)
	}
	for _, it := range t {
		if err := e.save(it, depth+1); err != nil {
			return err
		}
	}
	// A tuple that contains itself, through a list say, was written while its items
	// were: drop them and refer to it.
	if _, ok := e.memo[key]; ok {
		if len(t) > 3 {
			e.op(opPopMark)
		} else {
			for range t {
				e.op(opPop)
			}
		}
		e.get(key)
		return nil
	}
	if len(t) > 3 {
		e.op(opTuple)
	} else {
		e.op(opTuple1 + byte(len(t)-1))
	}
	e.put(key)
	return nil
}

// saveList writes the items of a list that is on the stack.
func (e *Encoder) saveList(items []Value, depth int) error {
	if len(items) == 1 {
		if err := e.save(items[0], depth+1); err != nil {
			return err
		}
		e.op(opAppend)
		return nil
	}
	for len(items) > 0 {
		n := min(len(items), batchSize)
		e.op(opMark)
		for _, it := range items[:n] {
			if err := e.save(it, depth+1); err != nil {
				return err
			}
		}
		e.op(opAppends)
		items = items[n:]
	}
	return nil
}

// saveItems writes the entries of a mapping that is on the stack. CPython has two
// loops for this, which differ at the borders of batches: one for exact dicts,
// and one for any other mapping or list, which looks one item ahead.
func (e *Encoder) saveItems(n int, exact bool, save func(i int) error, one, many byte) error {
	if n == 0 {
		return nil
	}
	if exact && n == 1 {
		if err := save(0); err != nil {
			return err
		}
		e.op(one)
		return nil
	}
	for i := 0; ; {
		if !exact {
			if i == n {
				return nil
			}
			if i == n-1 {
				if err := save(i); err != nil {
					return err
				}
				e.op(one)
				return nil
			}
		}
		batch := min(n-i, batchSize)
		e.op(opMark)
		for ; batch > 0; batch-- {
			if err := save(i); err != nil {
				return err
			}
			i++
		}
		e.op(many)
		// The loop for exact dicts ends with a batch that is not full, be it empty.
		if exact && i == n && n%batchSize != 0 {
			return nil
		}
		if exact && i == n {
			e.op(opMark)
			e.op(many)
			return nil
		}
	}
}

func (e *Encoder) saveEntries(entries []Entry, exact bool, depth int) error {
	return e.saveItems(len(entries), exact, func(i int) error {
		if err := e.save(entries[i].Key, depth+1); err != nil {
			return err
		}
		return e.save(entries[i].Value, depth+1)
	}, opSetItem, opSetItems)
}

func (e *Encoder) saveDict(d *Dict, depth int) error {
	if e.get(d) {
		return nil
	}
	obj := Object{State: d.Attrs, HasState: d.Attrs != nil, DictItems: d.entries}
	switch d.Class {
	case PlainDict:
		e.op(opEmptyDict)
		e.put(d)
		if err := e.saveEntries(d.entries, true, depth); err != nil {
			return err
		}
		return e.saveState(&obj, depth)
	case OrderedDict:
		obj.Class = &Global{Module: "collections", Name: "OrderedDict"}
	case DefaultDict:
		obj.Class = &Global{Module: "collections", Name: "defaultdict"}
		if d.Factory != nil {
			obj.Args = Tuple{d.Factory}
		}
	case Counter:
		// A Counter passes its contents to the constructor.
		obj.Class = &Global{Module: "collections", Name: "Counter"}
		obj.Args = Tuple{&Dict{entries: d.entries}}
		obj.DictItems = nil
	default:
		return fmt.Errorf("unknown dict class %d", d.Class)
	}
	return e.saveObject(&obj, d, depth)
}

// saveObject writes a call and what follows it, and remembers the result under key.
func (e *Encoder) saveObject(o *Object, key any, depth int) error {
	if o.Class == nil {
		return errors.New("object without a class")
	}
	if o.Kwargs != nil && o.Kwargs.Len() > 0 {
		// Protocol 2 writes a partial of __new__ here, which no safe reader accepts.
		return fmt.Errorf("cannot write %s: protocol 2 has no keyword arguments", typeName(o))
	}
	if err := e.save(o.Class, depth+1); err != nil {
		return err
	}
	var args Value = o.Args
	if o.Bare && len(o.Args) == 1 {
		args = o.Args[0]
	}
	if err := e.save(args, depth+1); err != nil {
		return err
	}
	if o.New {
		e.op(opNewObj)
	} else {
		e.op(opReduce)
	}
	if key != nil {
		if _, ok := e.memo[key]; ok { // its own arguments contained it
			e.op(opPop)
			e.get(key)
			return nil
		}
	}
	late := o.New && e.opts.MemoAfterBuild
	if !late {
		e.put(key)
	}
	err := e.saveItems(len(o.ListItems), false, func(i int) error {
		return e.save(o.ListItems[i], depth+1)
	}, opAppend, opAppends)
	if err != nil {
		return err
	}
	if err := e.saveEntries(o.DictItems, false, depth); err != nil {
		return err
	}
	if err := e.saveState(o, depth); err != nil {
		return err
	}
	if late {
		e.put(key)
	}
	return nil
}

func (e *Encoder) saveState(o *Object, depth int) error {
	if !o.HasState {
		return nil
	}
	if err := e.save(o.State, depth+1); err != nil {
		return err
	}
	e.op(opBuild)
	return nil
}

func isPointer(v Value) bool { return reflect.TypeOf(v).Kind() == reflect.Pointer }
