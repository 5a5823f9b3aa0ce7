package pickle

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"sort"
	"strconv"
	"strings"
)

// Value is a decoded Python value; the package comment lists the Go types it can hold.
// Constructors given to a [Decoder] may add types of their own.
type Value = any

// Tuple is a Python tuple.
type Tuple []Value

// ByteArray is a Python bytearray. It differs from []byte (Python's bytes) in
// being unhashable and in how it is written.
type ByteArray []byte

// List is a Python list. It is always handled through a pointer, so that two
// references to one list stay one list.
type List struct {
	Items []Value
}

// NewList returns a list of the given items.
func NewList(items ...Value) *List { return &List{Items: items} }

// DictClass tells the mapping types of Python apart.
type DictClass uint8

// The mapping types that a [Dict] can stand for.
const (
	PlainDict   DictClass = iota // dict
	OrderedDict                  // collections.OrderedDict
	DefaultDict                  // collections.defaultdict; Factory is set
	Counter                      // collections.Counter
)

// Entry is one key with its value.
type Entry struct {
	Key, Value Value
}

// Dict is a Python mapping that remembers insertion order. The zero value is an
// empty dict. Keys compare as in Python: 1, 1.0 and true are the same key.
type Dict struct {
	Class   DictClass
	Factory Value // the default factory of a DefaultDict, usually a *Global
	// Attrs holds instance attributes, which an OrderedDict can have: a module's
	// state dict carries its versions in an attribute named _metadata. nil if none.
	Attrs Value

	entries []Entry
	keys    []any       // canonical form of each entry's key
	index   map[any]int // canonical key -> position; nil while the dict is small
}

// smallDict is the size up to which a linear scan beats a map. Most dicts in
// checkpoints (optimizer groups, module metadata) are that small.
const smallDict = 8

// NewDict returns an empty dict of the given class.
func NewDict(class DictClass) *Dict { return &Dict{Class: class} }

// Len returns the number of entries.
func (d *Dict) Len() int { return len(d.entries) }

// Entries returns the entries in insertion order. The slice belongs to the dict
// and must not be changed.
func (d *Dict) Entries() []Entry { return d.entries }

// Get returns the value stored under key. It reports false for a missing key and
// for a key that Python cannot hash.
func (d *Dict) Get(key Value) (Value, bool) {
	k, err := hashKey(key, nil)
	if err != nil {
		return nil, false
	}
	i := d.find(k)
	if i < 0 {
		return nil, false
	}
	return d.entries[i].Value, true
}

// Set stores value under key, keeping the position of an existing key. It fails
// when the key is unhashable (a list, a dict, a set).
func (d *Dict) Set(key, value Value) error {
	return d.set(key, value, nil)
}

func (d *Dict) set(key, value Value, b *budget) error {
	k, err := hashKey(key, b)
	if err != nil {
		return err
	}
	if i := d.find(k); i >= 0 {
		d.entries[i].Value = value
		return nil
	}
	d.entries = append(d.entries, Entry{key, value})
	d.keys = append(d.keys, k)
	switch {
	case d.index != nil:
		d.index[k] = len(d.entries) - 1
	case len(d.entries) > smallDict:
		d.index = make(map[any]int, 2*len(d.entries))
		for i, k := range d.keys {
			d.index[k] = i
		}
	}
	return nil
}

func (d *Dict) find(k any) int {
	if d.index != nil {
		if i, ok := d.index[k]; ok {
			return i
		}
		return -1
	}
	for i, have := range d.keys {
		if have == k {
			return i
		}
	}
	return -1
}

// Set is a Python set, or a frozenset when Frozen is set. Items keep the order
// in which the stream listed them.
type Set struct {
	Frozen bool
	d      Dict
}

// NewSet returns a set of the given items; it fails on an unhashable one.
func NewSet(frozen bool, items ...Value) (*Set, error) {
	s := &Set{Frozen: frozen}
	for _, it := range items {
		if err := s.Add(it); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Add inserts an item; it fails when the item is unhashable.
func (s *Set) Add(item Value) error { return s.d.set(item, nil, nil) }

// Has reports whether the set contains item.
func (s *Set) Has(item Value) bool {
	_, ok := s.d.Get(item)
	return ok
}

// Len returns the number of items.
func (s *Set) Len() int { return len(s.d.entries) }

// Items returns the items in insertion order.
func (s *Set) Items() []Value {
	out := make([]Value, len(s.d.entries))
	for i, e := range s.d.entries {
		out[i] = e.Key
	}
	return out
}

// Global names a class, function or other module attribute. Names are those of
// Python 3 ("builtins", not "__builtin__").
type Global struct {
	Module, Name string
	fn           Func
}

// String returns module.name.
func (g *Global) String() string { return g.Module + "." + g.Name }

// Is reports whether g names module.name; a nil g names nothing.
func (g *Global) Is(module, name string) bool {
	return g != nil && g.Module == module && g.Name == name
}

// Object describes an object that Python would make by calling Class with Args
// and then filling it.
type Object struct {
	Class  Value // a *Global as a rule
	Args   Tuple
	Kwargs *Dict // keyword arguments of __new__; nil if none
	New    bool  // made by Class.__new__(Class, *Args) rather than Class(*Args)
	Bare   bool  // the one argument is not in a tuple, as TorchScript writes members of enumerations

	ListItems []Value // items appended to it (a subclass of list)
	DictItems []Entry // items set in it (a subclass of dict), in stream order
	State     Value   // what __setstate__ or __dict__ received; nil if HasState is false
	HasState  bool
}

// Global returns the class as a *Global, or nil if it is something else.
func (o *Object) Global() *Global {
	g, _ := o.Class.(*Global)
	return g
}

// Builder is implemented by values of caller-supplied types that accept the
// BUILD opcode, which hands an object its state.
type Builder interface {
	PickleBuild(state Value) error
}

var errUnhashable = errors.New("unhashable key")

// Canonical keys of the kinds that must not collide with plain Go values.
type (
	bytesKey  string
	bigKey    string
	tupleKey  string
	globalKey struct{ module, name string }
)

// maxKeyNodes bounds the values in one composite key. Without it a tuple that
// contains another one twice, and so on, takes exponential time to hash.
const maxKeyNodes = 1024

// hashKey maps a value to a comparable Go value such that equal Python keys give
// equal results. The budget, if any, pays for the bytes hashed.
func hashKey(v Value, b *budget) (any, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case bool:
		if v {
			return int64(1), nil
		}
		return int64(0), nil
	case int64:
		return v, nil
	case int:
		return int64(v), nil
	case string:
		return v, b.spend(len(v))
	case []byte:
		return bytesKey(v), b.spend(len(v))
	case float64:
		// A float equals the int of the same value. NaN is unequal to itself, which
		// a map key cannot be; Python finds NaN keys by identity, we by their bits.
		if v == math.Trunc(v) && math.Abs(v) < 1<<62 {
			return int64(v), nil
		}
		return math.Float64bits(v), nil
	case *big.Int:
		if v.IsInt64() {
			return v.Int64(), nil
		}
		key := append(v.Bytes(), byte(v.Sign()))
		return bigKey(key), b.spend(len(key))
	case *Global:
		return globalKey{v.Module, v.Name}, nil
	case *Object:
		return v, nil
	case complex128:
		if imag(v) == 0 {
			return hashKey(real(v), b)
		}
		return v, nil
	case Tuple, *Set:
		nodes := maxKeyNodes
		buf, err := appendKey(nil, v, &nodes, b)
		if err != nil {
			return nil, err
		}
		// the items without text cost as well, for the key is stored
		return tupleKey(buf), b.spend(len(buf) + 16*(maxKeyNodes-nodes))
	case *List:
		return nil, fmt.Errorf("%w of type list", errUnhashable)
	case *Dict:
		return nil, fmt.Errorf("%w of type dict", errUnhashable)
	case ByteArray:
		return nil, fmt.Errorf("%w of type bytearray", errUnhashable)
	}
	// Types added by constructors hash as Go compares them: pointers by identity.
	if t := reflect.TypeOf(v); t.Comparable() && t.Kind() != reflect.Struct && t.Kind() != reflect.Array {
		return v, nil
	}
	return nil, fmt.Errorf("%w of Go type %T", errUnhashable, v)
}

// appendKey encodes a key, prefix-free, for use inside a composite key.
func appendKey(buf []byte, v Value, nodes *int, b *budget) ([]byte, error) {
	*nodes--
	if *nodes < 0 {
		return nil, fmt.Errorf("key of more than %d values", maxKeyNodes)
	}
	switch v := v.(type) {
	case Tuple:
		buf = append(buf, 't')
		buf = binary.AppendUvarint(buf, uint64(len(v)))
		var err error
		for _, item := range v {
			if buf, err = appendKey(buf, item, nodes, b); err != nil {
				return nil, err
			}
		}
		return buf, nil
	case *Set:
		if !v.Frozen {
			return nil, fmt.Errorf("%w of type set", errUnhashable)
		}
		// Equal sets must give equal keys whatever their order.
		parts := make([]string, 0, min(v.Len(), maxKeyNodes))
		for _, e := range v.d.entries {
			p, err := appendKey(nil, e.Key, nodes, b)
			if err != nil {
				return nil, err
			}
			parts = append(parts, string(p))
		}
		sort.Strings(parts)
		buf = append(buf, 'z')
		buf = binary.AppendUvarint(buf, uint64(len(parts)))
		return append(buf, strings.Join(parts, "")...), nil
	}
	k, err := hashKey(v, b)
	if err != nil {
		return nil, err
	}
	text := func(tag byte, s string) []byte {
		buf = append(buf, tag)
		buf = binary.AppendUvarint(buf, uint64(len(s)))
		return append(buf, s...)
	}
	switch k := k.(type) {
	case nil:
		return append(buf, 'n'), nil
	case int64:
		return binary.AppendVarint(append(buf, 'i'), k), nil
	case uint64:
		return binary.AppendUvarint(append(buf, 'f'), k), nil
	case string:
		return text('s', k), nil
	case bytesKey:
		return text('b', string(k)), nil
	case bigKey:
		return text('l', string(k)), nil
	case globalKey:
		buf = text('g', k.module)
		return text('g', k.name), nil
	case complex128:
		return text('c', strconv.FormatComplex(k, 'g', -1, 128)), nil
	default: // an object: its identity counts
		return text('o', fmt.Sprintf("%p", k)), nil
	}
}

// reprDepth and reprSize bound the text that Repr makes.
const (
	reprDepth = 20
	reprSize  = 1 << 16
)

// Repr returns a value in the notation of Python's repr, for messages and tests.
// Deep or recursive structures and long text are cut with "...".
func Repr(v Value) string {
	var sb strings.Builder
	repr(&sb, v, 0)
	return sb.String()
}

func repr(sb *strings.Builder, v Value, depth int) {
	if depth > reprDepth || sb.Len() > reprSize {
		sb.WriteString("...")
		return
	}
	seq := func(open, close string, items []Value) {
		sb.WriteString(open)
		for i, it := range items {
			if i > 0 {
				sb.WriteString(", ")
			}
			if sb.Len() > reprSize {
				sb.WriteString("...")
				break
			}
			repr(sb, it, depth+1)
		}
		sb.WriteString(close)
	}
	entries := func(es []Entry) {
		sb.WriteString("{")
		for i, e := range es {
			if i > 0 {
				sb.WriteString(", ")
			}
			if sb.Len() > reprSize {
				sb.WriteString("...")
				break
			}
			repr(sb, e.Key, depth+1)
			sb.WriteString(": ")
			repr(sb, e.Value, depth+1)
		}
		sb.WriteString("}")
	}
	switch v := v.(type) {
	case nil:
		sb.WriteString("None")
	case bool:
		if v {
			sb.WriteString("True")
		} else {
			sb.WriteString("False")
		}
	case float64:
		s := strconv.FormatFloat(v, 'g', -1, 64)
		switch {
		case math.IsInf(v, 1):
			s = "inf"
		case math.IsInf(v, -1):
			s = "-inf"
		case math.IsNaN(v):
			s = "nan"
		case !strings.ContainsAny(s, ".e"):
			s += ".0"
		}
		sb.WriteString(s)
	case string:
		sb.WriteString(quote(cut(v)))
	case []byte:
		sb.WriteString("b" + quoteBytes(cut(string(v))))
	case ByteArray:
		sb.WriteString("bytearray(b" + quoteBytes(cut(string(v))) + ")")
	case Tuple:
		if len(v) == 1 {
			seq("(", ",)", v)
		} else {
			seq("(", ")", v)
		}
	case *List:
		seq("[", "]", v.Items)
	case *Set:
		if v.Frozen {
			seq("frozenset({", "})", v.Items())
		} else {
			seq("{", "}", v.Items())
		}
	case *Dict:
		switch v.Class {
		case OrderedDict:
			sb.WriteString("OrderedDict(")
		case DefaultDict:
			sb.WriteString("defaultdict(")
			repr(sb, v.Factory, depth+1)
			sb.WriteString(", ")
		case Counter:
			sb.WriteString("Counter(")
		}
		entries(v.entries)
		if v.Class != PlainDict {
			sb.WriteString(")")
		}
	case *Object:
		repr(sb, v.Class, depth+1)
		seq("(", ")", v.Args)
		if len(v.ListItems) > 0 {
			seq("[", "]", v.ListItems)
		}
		if len(v.DictItems) > 0 {
			entries(v.DictItems)
		}
		if v.HasState {
			sb.WriteString(" state=")
			repr(sb, v.State, depth+1)
		}
	default:
		fmt.Fprint(sb, v)
	}
}

func cut(s string) string {
	const most = 1 << 10
	if len(s) > most {
		return s[:most] + "..."
	}
	return s
}

func quote(s string) string {
	q := strconv.Quote(s)
	return "'" + strings.ReplaceAll(strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`), "'", `\'`) + "'"
}

func quoteBytes(s string) string {
	var sb strings.Builder
	sb.WriteByte('\'')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\'' || c == '\\':
			sb.WriteByte('\\')
			sb.WriteByte(c)
		case c < 32 || c > 126:
			fmt.Fprintf(&sb, `\x%02x`, c)
		default:
			sb.WriteByte(c)
		}
	}
	sb.WriteByte('\'')
	return sb.String()
}

// String returns Repr of the list.
func (l *List) String() string { return Repr(l) }

// String returns Repr of the tuple.
func (t Tuple) String() string { return Repr(t) }

// String returns Repr of the dict.
func (d *Dict) String() string { return Repr(d) }

// String returns Repr of the set.
func (s *Set) String() string { return Repr(s) }

// String returns Repr of the object.
func (o *Object) String() string { return Repr(o) }
