// The machine that carries out the operations of a stream, one step an opcode.

package pickle

import (
	"encoding/binary"
	"errors"
	"math"
	"math/big"
	"strconv"
	"strings"
)

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
		return d.pushKnown(v)

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
		size, err := d.fixed(n)
		if err != nil {
			return err
		}
		if size > maxLong {
			return syntax("integer of %d bytes, expected at most %d", size, maxLong)
		}
		b, err := d.read(size)
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
		if args, ok := a.(Tuple); ok {
			return d.call(class, args, nil, op == opNewObj)
		}
		// TorchScript's pickler writes the value of a member of an enumeration without a tuple around it.
		if g, ok := class.(*Global); ok && op == opReduce && g.fn == nil && strings.HasPrefix(g.Module, "__torch__") {
			return d.push(&Object{Class: class, Args: Tuple{a}, Bare: true})
		}
		return syntax("arguments of a call must be a tuple, got %s", typeName(a))
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

// maxLong bounds the bytes of an integer, and maxDecimal the digits of one in text form. Nothing in a checkpoint needs
// integers of that size, and whoever prints one waits longer than linear time.
const (
	maxLong    = 1 << 12
	maxDecimal = 1 << 13
)

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
		return d.grown(16 * int64(len(items)))
	case *Object:
		v.ListItems = append(v.ListItems, items...)
		return d.grown(16 * int64(len(items)))
	}
	return syntax("APPEND to a %s", typeName(v))
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
	if err := d.grown(64 * int64(len(items))); err != nil { // the entry, its key in canonical form and its place
		return err
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
