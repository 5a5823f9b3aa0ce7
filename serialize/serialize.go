package serialize

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"math"
	"math/big"
	"os"
	"reflect"
	"sort"
	"strings"

	"github.com/gotorch-dev/torch/internal/dtype"
	"github.com/gotorch-dev/torch/internal/pickle"
	"github.com/gotorch-dev/torch/internal/pyfmt"
	"github.com/gotorch-dev/torch/internal/torchzip"
	"github.com/gotorch-dev/torch/tensor"
)

// Tuple is a Python tuple; lists are []any.
type Tuple []any

// String prints the tuple as Python does.
func (t Tuple) String() string {
	s := pyfmt.Repr([]any(t))
	if len(t) == 1 {
		s = strings.TrimSuffix(s, "]") + ",]"
	}
	return "(" + s[1:len(s)-1] + ")"
}

// Dict is a Python dict (or OrderedDict) in its order. Keys are strings, ints, or what else Python can hash.
type Dict struct {
	Ordered bool
	entries []entry
	index   map[any]int
}

type entry struct{ key, val any }

// String prints the dict as Python prints a dict or an OrderedDict.
func (d *Dict) String() string {
	var b strings.Builder
	for i, e := range d.entries {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(pyfmt.Repr(e.key) + ": " + pyfmt.Repr(e.val))
	}
	switch {
	case !d.Ordered:
		return "{" + b.String() + "}"
	case len(d.entries) == 0:
		return "OrderedDict()"
	}
	return "OrderedDict({" + b.String() + "})"
}

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

// StateDict reads the dict as a state dict: string keys, tensor values. Other values are an error that names the key.
func (d *Dict) StateDict() (*tensor.StateDict, error) {
	sd := &tensor.StateDict{}
	for _, e := range d.entries {
		k, ok := e.key.(string)
		t, ok2 := e.val.(*tensor.Tensor)
		if !ok || !ok2 {
			return nil, fmt.Errorf("serialize: entry %v is a %T: a state dict has names and tensors only", e.key, e.val)
		}
		sd.Set(k, t)
	}
	return sd, nil
}

func dictKey(k any) any {
	switch x := k.(type) {
	case int64:
		return int(x)
	case int32:
		return int(x)
	case string, int, bool, float64:
		return x
	case Tuple:
		return fmt.Sprintf("tuple:%v", x)
	}
	return fmt.Sprintf("%T:%v", k, k)
}

// SaveFile writes a value to a file as torch.save does: to a temporary file first, synced and renamed, so that an
// existing file is either kept or replaced whole.
func SaveFile(path string, v any) error {
	e := encoder{storages: map[*tensor.Storage]*torchzip.StorageRef{}}
	root, err := e.encode(v)
	if err != nil {
		return fmt.Errorf("save %s: %w", path, err)
	}
	return torchzip.SaveFile(path, root, torchzip.SaveOptions{})
}

// Save writes a value as torch.save does.
func Save(w io.Writer, v any) error {
	e := encoder{storages: map[*tensor.Storage]*torchzip.StorageRef{}}
	root, err := e.encode(v)
	if err != nil {
		return err
	}
	return torchzip.Save(w, root, torchzip.SaveOptions{})
}

// LoadFile reads a file that torch.save wrote. Dicts come back as *Dict, lists as []any, tuples as Tuple, ints as int,
// floats as float64, tensors on the devices that they were saved from unless the options say otherwise.
func LoadFile(path string, opts ...LoadOptions) (any, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	v, err := Load(f, st.Size(), opts...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return v, nil
}

// Load reads what Save or torch.save wrote.
func Load(r io.ReaderAt, size int64, opts ...LoadOptions) (any, error) {
	root, err := torchzip.Load(r, size)
	if err != nil {
		return nil, err
	}
	d := decoder{storages: map[*torchzip.StorageRef]*tensor.Storage{}}
	if len(opts) > 0 {
		d.opts = opts[0]
	}
	return d.decode(root, 0)
}

// LoadBytes is Load from memory.
func LoadBytes(b []byte, opts ...LoadOptions) (any, error) {
	return Load(bytes.NewReader(b), int64(len(b)), opts...)
}

// LoadStateDict reads a file that holds a state dict.
func LoadStateDict(path string, opts ...LoadOptions) (*tensor.StateDict, error) {
	v, err := LoadFile(path, opts...)
	if err != nil {
		return nil, err
	}
	d, ok := v.(*Dict)
	if !ok {
		return nil, fmt.Errorf("%s holds a %T, not a state dict", path, v)
	}
	sd, err := d.StateDict()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return sd, nil
}

type encoder struct {
	storages map[*tensor.Storage]*torchzip.StorageRef
}

func (e *encoder) encode(v any) (pickle.Value, error) {
	switch x := v.(type) {
	case nil, bool, string, []byte, float64, int64, complex128, *big.Int, torchzip.Device, *pickle.Set:
		return x, nil
	case int:
		return int64(x), nil
	case int32:
		return int64(x), nil
	case float32:
		return float64(x), nil
	case *tensor.Tensor:
		return e.tensor(x)
	case tensor.DType:
		return torchzip.DType(x.Name()), nil
	case *tensor.StateDict:
		d := pickle.NewDict(pickle.OrderedDict)
		for k, t := range x.All() {
			r, err := e.tensor(t)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", k, err)
			}
			if err := d.Set(k, r); err != nil {
				return nil, fmt.Errorf("%s: %w", k, err)
			}
		}
		if x.Metadata != nil {
			meta := pickle.NewDict(pickle.OrderedDict)
			for _, m := range x.Metadata {
				entry := pickle.NewDict(pickle.PlainDict)
				if m.Version > 0 {
					if err := entry.Set("version", int64(m.Version)); err != nil {
						return nil, err
					}
				}
				if err := meta.Set(m.Prefix, entry); err != nil {
					return nil, err
				}
			}
			attrs := pickle.NewDict(pickle.PlainDict)
			if err := attrs.Set("_metadata", meta); err != nil {
				return nil, err
			}
			d.Attrs = attrs
		}
		return d, nil
	case *Dict:
		class := pickle.PlainDict
		if x.Ordered {
			class = pickle.OrderedDict
		}
		d := pickle.NewDict(class)
		for k, val := range x.All() {
			ek, err := e.encode(k)
			if err != nil {
				return nil, err
			}
			ev, err := e.encode(val)
			if err != nil {
				return nil, fmt.Errorf("%v: %w", k, err)
			}
			// A key that Python cannot hash, say a list, would be lost here.
			if err := d.Set(ek, ev); err != nil {
				return nil, fmt.Errorf("%v: %w", k, err)
			}
		}
		return d, nil
	case map[string]any:
		keys := make([]string, 0, len(x))
		for k := range x {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		d := NewDict()
		for _, k := range keys {
			d.Set(k, x[k])
		}
		return e.encode(d)
	case map[string]*tensor.Tensor:
		m := make(map[string]any, len(x))
		for k, t := range x {
			m[k] = t
		}
		return e.encode(m)
	case []any:
		return e.list(len(x), func(i int) any { return x[i] })
	case []*tensor.Tensor:
		return e.list(len(x), func(i int) any { return x[i] })
	case []int:
		return e.list(len(x), func(i int) any { return x[i] })
	case []float64:
		return e.list(len(x), func(i int) any { return x[i] })
	case []string:
		return e.list(len(x), func(i int) any { return x[i] })
	case Tuple:
		l, err := e.list(len(x), func(i int) any { return x[i] })
		if err != nil {
			return nil, err
		}
		return pickle.Tuple(l.Items), nil
	}
	// other numbers and lists, named types among them
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return r.Int(), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if u := r.Uint(); u > math.MaxInt64 {
			return new(big.Int).SetUint64(u), nil
		}
		return int64(r.Uint()), nil
	case reflect.Float32:
		return r.Float(), nil
	case reflect.Slice, reflect.Array:
		return e.list(r.Len(), func(i int) any { return r.Index(i).Interface() })
	}
	return nil, fmt.Errorf("cannot save a %T", v)
}

func (e *encoder) list(n int, at func(int) any) (*pickle.List, error) {
	l := pickle.NewList()
	for i := range n {
		v, err := e.encode(at(i))
		if err != nil {
			return nil, fmt.Errorf("[%d]: %w", i, err)
		}
		l.Items = append(l.Items, v)
	}
	return l, nil
}

func (e *encoder) tensor(t *tensor.Tensor) (pickle.Value, error) {
	st := t.Storage()
	ref := e.storages[st]
	dt := torchzip.DType(t.DType().Name())
	if ref == nil {
		ref = describe(st, dt, t.ElementSize())
		e.storages[st] = ref
	}
	return &torchzip.TensorRef{Storage: ref, DType: dt, Offset: t.StorageOffset(), Shape: t.Shape(),
		Stride:       t.Strides(),
		RequiresGrad: t.RequiresGrad() && t.IsLeaf(), Parameter: t.IsParameter()}, nil
}

type decoder struct {
	opts     LoadOptions
	storages map[*torchzip.StorageRef]*tensor.Storage
}

// maxDepth bounds the nesting of loaded values, so that one that contains itself ends in an error.
const maxDepth = 200

func (d *decoder) decode(v pickle.Value, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("values are nested more than %d deep", maxDepth)
	}
	switch x := v.(type) {
	case int64:
		return int(x), nil
	case *torchzip.TensorRef:
		return d.tensor(x)
	case torchzip.DType:
		return dtype.Parse(string(x)), nil
	case *pickle.Global:
		if x.Module == "torch" {
			if dt := dtype.Parse(x.Name); dt != 0 {
				return dt, nil
			}
		}
		return nil, fmt.Errorf("the file refers to %s.%s, which is not data", x.Module, x.Name)
	case torchzip.Size:
		return []int(x), nil
	case *pickle.List:
		out := make([]any, len(x.Items))
		for i, e := range x.Items {
			r, err := d.decode(e, depth+1)
			if err != nil {
				return nil, err
			}
			out[i] = r
		}
		return out, nil
	case pickle.Tuple:
		out := make(Tuple, len(x))
		for i, e := range x {
			r, err := d.decode(e, depth+1)
			if err != nil {
				return nil, err
			}
			out[i] = r
		}
		return out, nil
	case *pickle.Dict:
		out := &Dict{Ordered: x.Class == pickle.OrderedDict}
		for _, en := range x.Entries() {
			k, err := d.decode(en.Key, depth+1)
			if err != nil {
				return nil, err
			}
			val, err := d.decode(en.Value, depth+1)
			if err != nil {
				return nil, fmt.Errorf("%v: %w", k, err)
			}
			out.Set(k, val)
		}
		return out, nil
	case *pickle.Object:
		return nil, fmt.Errorf("the file holds an object of class %s, which is not data", pickle.Repr(x.Class))
	}
	return v, nil
}

func (d *decoder) tensor(r *torchzip.TensorRef) (t *tensor.Tensor, err error) {
	dt := dtype.Parse(string(r.DType))
	if dt == 0 {
		return nil, fmt.Errorf("tensor of dtype %s, which is not supported", r.DType)
	}
	st, err := d.storage(r.Storage)
	if err != nil {
		return nil, err
	}
	err = tensor.Try(func() { t = tensor.FromStorage(st, dt, r.Shape, r.Stride, r.Offset) })
	if err != nil {
		return nil, err
	}
	if m, ok := r.Metadata.(*pickle.Dict); ok { // views that PyTorch resolves when they are read
		err = tensor.Try(func() {
			tensor.NoGrad(func() {
				if v, _ := m.Get("conj"); v == true {
					t = t.ConjPhysical()
				}
				if v, _ := m.Get("neg"); v == true {
					t = t.Neg()
				}
			})
		})
		if err != nil {
			return nil, err
		}
	}
	switch {
	case r.Parameter:
		t.SetParameter()
		t.SetRequiresGrad(r.RequiresGrad)
	case r.RequiresGrad:
		t.SetRequiresGrad(true)
	}
	return t, nil
}
