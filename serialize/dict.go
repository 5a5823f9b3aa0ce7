package serialize

import (
	"fmt"
	"iter"
	"math"
	"math/big"
	"reflect"
	"strings"

	"github.com/gotorch-dev/torch/tensor"
)

// Tuple is a Python tuple; lists are []any.
type Tuple []any

// String prints the tuple as Python does; see [Dict.String].
func (t Tuple) String() string { return text(t) }

// Dict is a Python dict (or OrderedDict) in its order. Keys are strings, ints, or what else Python can hash.
type Dict struct {
	Ordered bool
	entries []entry
	index   map[any]int
	// versions are those of a module's state dict, which Python keeps in its attribute _metadata
	versions []tensor.ModuleVersion
}

type entry struct{ key, val any }

// String prints the dict as Python prints a dict or an OrderedDict. A container within itself prints as "...", as in
// Python. Unlike Python, the text ends with "..." after a million bytes: where containers share their items it could
// be exponentially longer than they are.
func (d *Dict) String() string { return text(d) }

// NewDict makes a dict from alternating keys and values.
func NewDict(kv ...any) *Dict {
	d := &Dict{}
	for i := 0; i+1 < len(kv); i += 2 {
		d.Set(kv[i], kv[i+1])
	}
	return d
}

// Set adds or replaces an entry. Integer keys of any Go type are the same as int.
func (d *Dict) Set(key, val any) {
	k := dictKey(key)
	if d.index == nil {
		d.index = map[any]int{}
	}
	if i, ok := d.index[k]; ok {
		d.entries[i].val = val
		return
	}
	d.index[k] = len(d.entries)
	d.entries = append(d.entries, entry{key, val})
}

// Get finds a value; nil when the key is not there.
func (d *Dict) Get(key any) any {
	if i, ok := d.index[dictKey(key)]; ok {
		return d.entries[i].val
	}
	return nil
}

// Has reports whether the key is there.
func (d *Dict) Has(key any) bool { _, ok := d.index[dictKey(key)]; return ok }

// Len is the number of entries.
func (d *Dict) Len() int { return len(d.entries) }

// All walks the entries in order.
func (d *Dict) All() iter.Seq2[any, any] {
	return func(yield func(any, any) bool) {
		for _, e := range d.entries {
			if !yield(e.key, e.val) {
				return
			}
		}
	}
}

// Keys of the kinds that Go cannot compare, or must not take for those of other kinds.
type (
	bytesKey string
	bigKey   string
	tupleKey string
)

// dictKey maps a key to a comparable value, the same one for keys that Python takes for equal: 1, 1.0 and True.
func dictKey(k any) any {
	switch x := k.(type) {
	case bool:
		if x {
			return 1
		}
		return 0
	case int64:
		return int(x)
	case int32:
		return int(x)
	case float64:
		if x == math.Trunc(x) && math.Abs(x) < 1<<62 {
			return int(x)
		}
		return x
	case complex128:
		if imag(x) == 0 {
			return dictKey(real(x))
		}
		return x
	case []byte:
		return bytesKey(x)
	case *big.Int:
		return bigKey(append(x.Bytes(), byte(x.Sign())))
	case Tuple:
		var b strings.Builder
		for _, e := range x {
			part := ""
			switch k := dictKey(e).(type) {
			case nil, int, float64, complex128, string, bytesKey, bigKey, tupleKey:
				part = fmt.Sprint(k)
			default:
				part = fmt.Sprintf("%p", k)
			}
			fmt.Fprintf(&b, "%T %d %s", dictKey(e), len(part), part)
		}
		return tupleKey(b.String())
	}
	t := reflect.TypeOf(k) // nil for None
	if t == nil || t.Comparable() && t.Kind() != reflect.Struct && t.Kind() != reflect.Array {
		return k
	}
	return fmt.Sprintf("%T:%v", k, k)
}
