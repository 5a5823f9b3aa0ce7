package serialize

import (
	"fmt"
	"io"
	"math"
	"math/big"
	"reflect"
	"sort"

	"github.com/gotorch-dev/torch/internal/pickle"
	"github.com/gotorch-dev/torch/internal/torchzip"
	"github.com/gotorch-dev/torch/serialize/npy"
	"github.com/gotorch-dev/torch/tensor"
)

// SaveFile writes a value to a file as torch.save does: to a temporary file first, synced and renamed, so that an
// existing file is either kept or replaced whole.
func SaveFile(path string, v any) error {
	root, err := encode(v)
	if err != nil {
		return fmt.Errorf("save %s: %w", path, err)
	}
	return torchzip.SaveFile(path, root, torchzip.SaveOptions{})
}

// Save writes a value as torch.save does. Containers keep their identity: a dict that occurs twice is one dict in the
// file, and it may contain itself. What Save accepts, Load reads; both refuse a list or tuple that contains itself with
// no dict between ([ErrCycle]) and more than a thousand nested containers ([ErrDepth]).
func Save(w io.Writer, v any) error {
	root, err := encode(v)
	if err != nil {
		return err
	}
	return torchzip.Save(w, root, torchzip.SaveOptions{})
}

// encoder turns Go values into those of package pickle, each container once.
type encoder struct {
	path     path
	done     map[identity]pickle.Value
	storages map[*tensor.Storage]*torchzip.StorageRef
	own      int // objects of NewObject around what is encoded
}

func encode(v any) (pickle.Value, error) {
	e := encoder{done: map[identity]pickle.Value{}, storages: map[*tensor.Storage]*torchzip.StorageRef{}}
	root, err := e.encode(v)
	if err != nil {
		return nil, err
	}
	return root, checkCycles(root)
}

// at encodes what lies under a key.
func (e *encoder) at(key, v any) (pickle.Value, error) {
	if len(e.path) >= maxDepth {
		return nil, e.path.errorf("%w: more than %d containers", ErrDepth, maxDepth)
	}
	e.path.push(key)
	r, err := e.encode(v)
	if err == nil { // else the error has the path
		e.path.pop()
	}
	return r, err
}

func (e *encoder) encode(v any) (pickle.Value, error) {
	switch x := v.(type) {
	case nil, bool, string, []byte, float64, int64, complex128, Device, Size, *Set, ByteArray:
		return x, nil
	case *big.Int:
		if x == nil {
			return nil, nil
		}
		return x, nil
	case int:
		return int64(x), nil
	case tensor.DType:
		return torchzip.DType(x.Name()), nil
	}
	id, known := identityOf(v)
	if known {
		if r, ok := e.done[id]; ok {
			return r, nil
		}
	}
	switch x := v.(type) {
	case *tensor.Tensor:
		r, err := e.tensor(x)
		if err == nil {
			e.done[id] = r
		}
		return r, err
	case *Opaque:
		r, err := e.opaque(x)
		if err == nil {
			e.done[id] = r
		}
		return r, err
	case *npy.Array:
		r, err := e.array(x)
		if err == nil {
			e.done[id] = r
		}
		return r, err
	case *Object:
		if x.own && x.Callee == nil && x.Kwargs == nil && x.Items == nil && x.Entries == nil {
			o := &pickle.Object{Class: &pickle.Global{Module: x.Class.Module, Name: x.Class.Name}, New: x.New}
			e.done[id] = o
			return o, e.object(o, x)
		}
		return nil, e.path.errorf("%w: an object of class %s is not saved, since Python would import and run what it "+
			"names",
			ErrNotData, cut(x.Class.String()))
	case Global:
		if e.own > 0 {
			return &pickle.Global{Module: x.Module, Name: x.Name}, nil
		}
		return nil, e.path.errorf("%w: a reference to %s is not saved, since Python would import it", ErrNotData,
			cut(x.String()))
	case *tensor.StateDict:
		if x == nil {
			return nil, nil
		}
		d := pickle.NewDict(pickle.OrderedDict)
		e.done[id] = d
		return d, e.stateDict(d, x)
	case *Dict:
		if x == nil {
			return nil, nil
		}
		d := pickle.NewDict(pickle.PlainDict)
		if x.Ordered {
			d.Class = pickle.OrderedDict
		}
		e.done[id] = d
		for k, val := range x.All() {
			if err := e.set(d, k, val); err != nil {
				return nil, err
			}
		}
		return d, nil
	case Tuple:
		t := make(pickle.Tuple, len(x))
		if known {
			e.done[id] = t
		}
		return t, e.items(t, func(i int) any { return x[i] })
	}
	// Other numbers, maps and lists, named types among them. A list of numbers is one list as well as any.
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
		l := &pickle.List{Items: make([]pickle.Value, r.Len())}
		if known {
			e.done[id] = l
		}
		return l, e.items(l.Items, func(i int) any { return r.Index(i).Interface() })
	case reflect.Map:
		if r.Type().Key().Kind() == reflect.String {
			d := pickle.NewDict(pickle.PlainDict)
			if known {
				e.done[id] = d
			}
			keys := r.MapKeys()
			sort.Slice(keys, func(i, j int) bool { return keys[i].String() < keys[j].String() })
			for _, k := range keys {
				if err := e.set(d, k.String(), r.MapIndex(k).Interface()); err != nil {
					return nil, err
				}
			}
			return d, nil
		}
	}
	if _, ok := v.(interface{ StateDict() *tensor.StateDict }); ok {
		return nil, e.path.errorf("cannot save a %T: save its StateDict()", v)
	}
	return nil, e.path.errorf("cannot save a %T", v)
}

// object fills an object of NewObject.
func (e *encoder) object(o *pickle.Object, x *Object) (err error) {
	e.own++
	defer func() { e.own-- }()
	o.Args = make(pickle.Tuple, len(x.Args))
	if err := e.items(o.Args, func(i int) any { return x.Args[i] }); err != nil {
		return err
	}
	if x.State != nil {
		o.HasState = true
		o.State, err = e.at("state", x.State)
	}
	return err
}

func (e *encoder) items(to []pickle.Value, at func(i int) any) (err error) {
	for i := range to {
		if to[i], err = e.at(i, at(i)); err != nil {
			return err
		}
	}
	return nil
}

func (e *encoder) set(d *pickle.Dict, key, val any) error {
	k, err := e.encode(key)
	if err != nil {
		return err
	}
	v, err := e.at(key, val)
	if err != nil {
		return err
	}
	// A key that Python cannot hash, say a list, would be lost here.
	if err := d.Set(k, v); err != nil {
		return e.path.errorf("key %s: %w", cut(text(key)), err)
	}
	return nil
}

func (e *encoder) stateDict(d *pickle.Dict, sd *tensor.StateDict) error {
	for k, t := range sd.All() {
		if err := e.set(d, k, t); err != nil {
			return err
		}
	}
	if sd.Metadata == nil {
		return nil
	}
	meta := pickle.NewDict(pickle.OrderedDict)
	for _, m := range sd.Metadata {
		entry := pickle.NewDict(pickle.PlainDict)
		if m.Version > 0 {
			if err := entry.Set("version", int64(m.Version)); err != nil {
				return err
			}
		}
		if err := meta.Set(m.Prefix, entry); err != nil {
			return err
		}
	}
	attrs := pickle.NewDict(pickle.PlainDict)
	d.Attrs = attrs
	return attrs.Set("_metadata", meta)
}

func (e *encoder) tensor(t *tensor.Tensor) (pickle.Value, error) {
	if t == nil {
		return nil, e.path.errorf("tensor is nil")
	}
	if t.HasNames() {
		return nil, e.path.errorf("named tensors don't support serialization: drop names with RenameNone before")
	}
	if t.IsSparse() {
		return e.sparse(t)
	}
	st := t.Storage()
	ref := e.storages[st]
	dt := torchzip.DType(t.DType().Name())
	if ref == nil {
		ref = describe(st, dt, t.ElementSize())
		e.storages[st] = ref
	}
	var bits pickle.Value // of lazy views
	if conj, neg := tensor.Bits(t); conj || neg {
		d := pickle.NewDict(pickle.PlainDict)
		for i, on := range [...]bool{conj, neg} {
			if !on {
				continue
			}
			if err := d.Set([...]string{"conj", "neg"}[i], true); err != nil {
				return nil, err
			}
		}
		bits = d
	}
	r := &torchzip.TensorRef{Storage: ref, DType: dt, Offset: t.StorageOffset(), Shape: t.Shape(), Metadata: bits,
		Stride:       t.Strides(),
		RequiresGrad: t.RequiresGrad() && t.IsLeaf(), Parameter: t.IsParameter()}
	if q := tensor.QuantizerOf(t); q != nil {
		var err error
		if r.Quantizer, err = e.quantizerOf(q); err != nil {
			return nil, err
		}
	}
	return r, nil
}
