package serialize

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/gotorch-dev/torch/internal/dtype"
	"github.com/gotorch-dev/torch/internal/filekind"
	"github.com/gotorch-dev/torch/internal/mapfile"
	"github.com/gotorch-dev/torch/internal/pickle"
	"github.com/gotorch-dev/torch/internal/torchzip"
	"github.com/gotorch-dev/torch/serialize/npy"
	"github.com/gotorch-dev/torch/tensor"
)

// LoadFile reads a file that torch.save wrote. Dicts come back as *Dict, lists as []any, tuples as Tuple, ints as int,
// floats as float64, tensors on the devices that they were saved from unless the options say otherwise, and tensors of
// dtypes that this package does not know as *Opaque. Arrays of NumPy are *npy.Array, its numbers Go's. What is not data
// comes back as an inert description, *Object or Global; see there. It is torch.load(weights_only=True) but for that:
// PyTorch refuses those and NumPy's.
// https://pytorch.org/docs/stable/generated/torch.load.html
func LoadFile(path string, opts ...LoadOptions) (any, error) {
	return openFile(path, opts, func(r io.ReaderAt, size int64, mapped []byte, opts []LoadOptions) (any, error) {
		v, err := load(r, size, mapped, opts)
		if err != nil {
			return nil, explain(err, r, size)
		}
		return v, nil
	})
}

// LoadPickle reads a file that pickle.dump wrote, of protocol 0 to 5, instead of torch.save. The values are those of
// LoadFile.
func LoadPickle(path string, opts ...LoadOptions) (any, error) {
	return openFile(path, opts, loadPickle)
}

// LoadPickleBytes is LoadPickle from memory.
func LoadPickleBytes(b []byte, opts ...LoadOptions) (any, error) {
	return loadPickle(bytes.NewReader(b), int64(len(b)), nil, opts)
}

func loadPickle(r io.ReaderAt, size int64, mapped []byte, opts []LoadOptions) (any, error) {
	root, err := torchzip.LoadPickle(r, size)
	if err != nil {
		return nil, err
	}
	return decode(root, mapped, opts)
}

// openFile calls read with a file, which it maps into memory where the options want that and the system can.
func openFile(path string, opts []LoadOptions,
	read func(r io.ReaderAt, size int64, mapped []byte, opts []LoadOptions) (any,
		error)) (any, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	var r io.ReaderAt = f
	var mapped []byte
	if len(opts) > 0 && opts[0].MMap {
		if mapped, err = mapfile.Map(f, st.Size()); err == nil {
			r = bytes.NewReader(mapped)
		} // else the file is read
	}
	v, err := read(r, st.Size(), mapped, opts)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return v, nil
}

// Load reads what Save or torch.save wrote, in any format that PyTorch has had. Values keep their identity: a list or
// dict that occurs twice in the file is one slice or one *Dict, a tensor that occurs twice one *Tensor. Time and memory
// are bounded by a multiple of the file's size.
//
// [Repr] prints a value of a file that nobody vouches for. A dict may contain itself. A list or tuple that contains
// itself with no dict between is an error ([ErrCycle]), since package fmt would print such a slice for ever; PyTorch
// loads it. A file of another kind is an error that says what the file is.
func Load(r io.ReaderAt, size int64, opts ...LoadOptions) (any, error) {
	v, err := load(r, size, nil, opts)
	if err != nil {
		return nil, explain(err, r, size)
	}
	return v, nil
}

func load(r io.ReaderAt, size int64, mapped []byte, opts []LoadOptions) (any, error) {
	root, err := torchzip.Load(r, size)
	if err != nil {
		return nil, err
	}
	if filekind.Of(r, size).Kind == filekind.TorchScript {
		return nil, errors.New("serialize: objects of classes whose code is in the file")
	}
	return decode(root, mapped, opts)
}

// decode turns what a file holds into Go values.
func decode(root pickle.Value, mapped []byte, opts []LoadOptions) (any, error) {
	if err := checkCycles(root); err != nil {
		return nil, err
	}
	d := decoder{
		lists: map[*pickle.List][]any{}, tuples: map[tupleID]Tuple{}, dicts: map[*pickle.Dict]*Dict{},
		tensors: map[*torchzip.TensorRef]*tensor.Tensor{}, storages: map[*torchzip.StorageRef]*tensor.Storage{},
		bare:    map[*torchzip.StorageRef]*tensor.Tensor{},
		opaques: map[*torchzip.TensorRef]*Opaque{}, objects: map[*pickle.Object]*Object{},
		arrays: map[*pickle.Object]*npy.Array{}, mapped: mapped,
	}
	if len(opts) > 0 {
		d.opts = opts[0]
	}
	return d.decode(root)
}

// LoadBytes is Load from memory.
func LoadBytes(b []byte, opts ...LoadOptions) (any, error) {
	return Load(bytes.NewReader(b), int64(len(b)), opts...)
}

// decoder turns the values of package pickle into Go values, each container and tensor once.
type decoder struct {
	opts     LoadOptions
	path     path
	lists    map[*pickle.List][]any
	tuples   map[tupleID]Tuple
	dicts    map[*pickle.Dict]*Dict
	tensors  map[*torchzip.TensorRef]*tensor.Tensor
	storages map[*torchzip.StorageRef]*tensor.Storage
	sparses  map[*pickle.Object]*tensor.Tensor
	bare     map[*torchzip.StorageRef]*tensor.Tensor // storages that were saved without a tensor
	opaques  map[*torchzip.TensorRef]*Opaque
	objects  map[*pickle.Object]*Object
	arrays   map[*pickle.Object]*npy.Array
	mapped   []byte // the file, where it is mapped into memory
}

// at decodes what lies under a key.
func (d *decoder) at(key any, v pickle.Value) (any, error) {
	if len(d.path) >= maxDepth {
		return nil, d.path.errorf("%w: more than %d containers", ErrDepth, maxDepth)
	}
	d.path.push(key)
	r, err := d.decode(v)
	if err == nil { // else the error has the path
		d.path.pop()
	}
	return r, err
}

func (d *decoder) items(to []any, from []pickle.Value) (err error) {
	for i, v := range from {
		if to[i], err = d.at(i, v); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) decode(v pickle.Value) (any, error) {
	switch x := v.(type) {
	case int64:
		return int(x), nil
	case *torchzip.TensorRef:
		if x.Quantizer != nil && dtype.Parse(string(x.DType)).IsQuantized() {
			return d.quantized(x)
		}
		if x.Quantizer != nil || dtype.Parse(string(x.DType)) == 0 {
			return d.opaque(x)
		}
		t := d.tensors[x]
		if t == nil {
			var err error
			if t, err = d.tensor(x); err != nil {
				return nil, d.path.errorf("%w", err)
			}
			d.tensors[x] = t
		}
		return t, nil
	case *torchzip.StorageRef:
		return d.bareStorage(x)
	case torchzip.DType:
		return dtype.Parse(string(x)), nil
	case *pickle.Global:
		if x.Module == "torch" {
			if dt := dtype.Parse(x.Name); dt != 0 {
				return dt, nil
			}
		}
		return Global{x.Module, x.Name}, nil
	case *pickle.List:
		out, ok := d.lists[x]
		if ok {
			return out, nil
		}
		out = make([]any, len(x.Items))
		d.lists[x] = out
		return out, d.items(out, x.Items)
	case pickle.Tuple:
		id := idOf(x)
		out, ok := d.tuples[id]
		if ok {
			return out, nil
		}
		out = make(Tuple, len(x))
		if len(x) > 0 {
			d.tuples[id] = out
		}
		return out, d.items(out, x)
	case *pickle.Dict:
		return d.dict(x)
	case *pickle.Set:
		for _, it := range x.Items() {
			switch it.(type) {
			case nil, bool, int64, float64, complex128, string, []byte:
			default: // what a *Set cannot hold: tuples, names of classes
				return d.object(&pickle.Object{Class: &pickle.Global{Module: "builtins", Name: "set"},
					Args: pickle.Tuple{&pickle.List{Items: x.Items()}}})
			}
		}
	case *pickle.Object:
		if t, ok, err := d.sparse(x); ok {
			return t, err
		}
		return d.object(x)
	}
	return v, nil
}

func (d *decoder) dict(x *pickle.Dict) (*Dict, error) {
	out := d.dicts[x]
	if out != nil {
		return out, nil
	}
	out = &Dict{Ordered: x.Class == pickle.OrderedDict, versions: moduleVersions(x.Attrs)}
	d.dicts[x] = out
	for _, en := range x.Entries() {
		k, err := d.at(en.Key, en.Key)
		if err != nil {
			return nil, err
		}
		val, err := d.at(k, en.Value)
		if err != nil {
			return nil, err
		}
		out.Set(k, val)
	}
	return out, nil
}

// moduleVersions reads the attributes of a dict: {"_metadata": {"layer1": {"version": 2}}}. nil without versions.
func moduleVersions(attrs pickle.Value) (out []tensor.ModuleVersion) {
	a, ok := attrs.(*pickle.Dict)
	if !ok {
		return nil
	}
	v, _ := a.Get("_metadata")
	meta, ok := v.(*pickle.Dict)
	if !ok {
		return nil
	}
	for _, e := range meta.Entries() {
		prefix, ok1 := e.Key.(string)
		local, ok2 := e.Value.(*pickle.Dict)
		if !ok1 || !ok2 {
			continue
		}
		m := tensor.ModuleVersion{Prefix: prefix}
		if n, _ := local.Get("version"); n != nil {
			if n, ok := n.(int64); ok && n > 0 && n < 1<<31 {
				m.Version = int(n)
			}
		}
		out = append(out, m)
	}
	return out
}

// bareStorage is a storage that was saved without a tensor, as a tensor of one dimension.
func (d *decoder) bareStorage(r *torchzip.StorageRef) (*tensor.Tensor, error) {
	if t := d.bare[r]; t != nil {
		return t, nil
	}
	ref := &torchzip.TensorRef{Storage: r, DType: r.ElementType(), Shape: []int{r.NumElements}, Stride: []int{1}}
	if dt := dtype.Parse(string(ref.DType)); dt == 0 || dt.IsQuantized() { // the bytes
		ref.DType, ref.Shape = "uint8", []int{int(r.NumBytes())}
	}
	t, err := d.tensor(ref)
	if err != nil {
		return nil, d.path.errorf("%w", err)
	}
	d.bare[r] = t
	return t, nil
}

func (d *decoder) tensor(r *torchzip.TensorRef) (t *tensor.Tensor, err error) {
	dt := dtype.Parse(string(r.DType))
	st, err := d.storage(r.Storage)
	if err != nil {
		return nil, err
	}
	err = tensor.Try(func() {
		t = tensor.FromStorage(st, dt, r.Shape, r.Stride, r.Offset)
		if m, ok := r.Metadata.(*pickle.Dict); ok { // the bits of lazy views
			if conj, _ := m.Get("conj"); conj == true && dt.IsComplex() {
				tensor.LazyConj(t)
			}
			if neg, _ := m.Get("neg"); neg == true {
				// No operator reads these types.
				if dt == tensor.Bool || dt.IsStorage() && !dt.IsComplex() {
					tensor.Fail(tensor.ErrDType, "a negated view of elements of type %s", dt)
				}
				tensor.LazyNeg(t)
			}
		}
		if r.Parameter {
			t.SetParameter()
		}
		if r.RequiresGrad {
			t.SetRequiresGrad(true)
		}
	})
	return t, err
}
