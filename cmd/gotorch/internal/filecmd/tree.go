package filecmd

import (
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/serialize/npy"
	"github.com/gotorch-dev/torch/tensor"
)

// entry is a value of a file.
type entry struct {
	Path  []string `json:"path"`
	Type  string   `json:"type"` // "tensor", "dict of 3", "int", …
	DType string   `json:"dtype,omitempty"`
	Shape []int    `json:"shape,omitempty"`
	Bytes int64    `json:"bytes,omitempty"`
	CRC32 string   `json:"crc32,omitempty"` // of the elements in row-major order
	Value string   `json:"value,omitempty"`
	Note  string   `json:"note,omitempty"`
}

// mostEntries and mostDepth bound the walk through a value whose containers share items.
const (
	mostEntries = 1 << 20
	mostDepth   = 64
)

// value adds a value and what it contains.
func (r *report) value(path []string, v any) {
	w := walker{r: r, storages: map[*tensor.Storage]string{}, open: map[any]bool{}}
	w.walk(path, v)
}

type walker struct {
	r        *report
	storages map[*tensor.Storage]string // who was first to use a storage
	open     map[any]bool
}

func (w *walker) walk(path []string, v any) {
	e := entry{Path: slices.Clone(path)}
	if len(w.r.Entries) >= mostEntries {
		return
	}
	if len(path) > mostDepth {
		e.Type = "nested deeper"
		w.r.Entries = append(w.r.Entries, e)
		return
	}
	inside := func(id any, items func(each func(key string, v any))) {
		if w.open[id] {
			return
		}
		w.open[id] = true
		items(func(key string, v any) { w.walk(append(path[:len(path):len(path)], key), v) })
		delete(w.open, id)
	}
	list := func(kind string, id any, items []any) {
		e.Type = fmt.Sprintf("%s of %d", kind, len(items))
		if flat := len(items) <= 8 && !slices.ContainsFunc(items, nested); flat {
			e.Value = short(serialize.Repr(v))
			w.r.Entries = append(w.r.Entries, e)
			return
		}
		w.r.Entries = append(w.r.Entries, e)
		inside(id, func(each func(string, any)) {
			for i, x := range items {
				each(fmt.Sprint(i), x)
			}
		})
	}
	switch x := v.(type) {
	case *tensor.Tensor:
		w.tensor(&e, x)
	case *serialize.Opaque:
		e.Type, e.DType, e.Shape, e.Bytes = "tensor", x.DType, x.Shape, int64(x.Storage.NumBytes())
		e.CRC32 = checksum(x.Storage.Bytes())
		e.Note = "checksum and size of the whole storage"
		n := int64(1)
		for _, d := range x.Shape {
			n *= int64(d)
		}
		w.r.Tensors, w.r.Numbers = w.r.Tensors+1, w.r.Numbers+n
		w.r.Unusual = append(w.r.Unusual,
			fmt.Sprintf("%s has the dtype %s, which has no operators here", name(path), x.DType))
	case *npy.Array:
		e.Type, e.DType, e.Shape, e.Bytes = "array of NumPy", x.DType, x.Shape, int64(len(x.Data))
		e.CRC32 = checksum(x.RowMajor().Data)
		if x.FortranOrder {
			e.Note = "Fortran order"
		}
		w.r.Tensors, w.r.Numbers = w.r.Tensors+1, w.r.Numbers+int64(x.NumElements())
	case *serialize.Dict:
		kind := "dict"
		if x.Ordered {
			kind = "OrderedDict"
		}
		e.Type = fmt.Sprintf("%s of %d", kind, x.Len())
		w.r.Entries = append(w.r.Entries, e)
		inside(x, func(each func(string, any)) {
			for k, v := range x.All() {
				key, ok := k.(string)
				if !ok {
					key = serialize.Repr(k)
				}
				each(short(key), v)
			}
		})
		return
	case []any:
		var id any
		if len(x) > 0 {
			id = &x[0]
		}
		list("list", id, x)
		return
	case serialize.Tuple:
		var id any
		if len(x) > 0 {
			id = &x[0]
		}
		list("tuple", id, x)
		return
	case *serialize.Object:
		e.Type = "object of " + short(x.Class.String())
		w.r.Entries = append(w.r.Entries, e)
		inside(x, func(each func(string, any)) {
			for i, a := range x.Args {
				each(fmt.Sprintf("(%d)", i), a)
			}
			for i, a := range x.Items {
				each(fmt.Sprint(i), a)
			}
			for _, kv := range x.Entries {
				each(short(serialize.Repr(kv[0])), kv[1])
			}
			if d, ok := x.State.(*serialize.Dict); ok {
				for k, v := range d.All() {
					if name := fmt.Sprint(k); !x.IsModule() || !hook(name, v) {
						each("."+short(name), v)
					}
				}
			} else if x.State != nil {
				each("state", x.State)
			}
		})
		return
	case serialize.Global:
		e.Type, e.Value = "reference", short(x.String())
	default:
		e.Type, e.Value = typeName(v), short(serialize.Repr(v))
	}
	w.r.Entries = append(w.r.Entries, e)
}

// typeName is Python's name of a plain value's type.
func typeName(v any) string {
	switch v.(type) {
	case nil:
		return "None"
	case bool:
		return "bool"
	case int, *big.Int:
		return "int"
	case float64:
		return "float"
	case complex128:
		return "complex"
	case string:
		return "str"
	case []byte:
		return "bytes"
	case serialize.ByteArray:
		return "bytearray"
	case *serialize.Set:
		return "set"
	case serialize.Size:
		return "torch.Size"
	case serialize.Device:
		return "torch.device"
	case tensor.DType:
		return "torch.dtype"
	}
	return strings.TrimPrefix(fmt.Sprintf("%T", v), "*")
}

// hook reports attributes that every nn.Module has for its hooks, which are empty as a rule.
func hook(name string, v any) bool {
	d, _ := v.(*serialize.Dict)
	return strings.Contains(name, "hook") && (v == nil || d != nil && d.Len() == 0)
}

// nested reports values that are shown on lines of their own.
func nested(v any) bool {
	switch v.(type) {
	case *tensor.Tensor, *serialize.Opaque, *npy.Array, *serialize.Dict, []any, serialize.Tuple, *serialize.Object:
		return true
	}
	return false
}

func (w *walker) tensor(e *entry, t *tensor.Tensor) {
	e.Type, e.DType, e.Shape = "tensor", t.DType().Name(), slices.Clone(t.Shape())
	e.Bytes = int64(t.Numel()) * int64(t.ElementSize())
	w.r.Tensors, w.r.Numbers = w.r.Tensors+1, w.r.Numbers+int64(t.Numel())
	unusual := func(format string, args ...any) {
		w.r.Unusual = append(w.r.Unusual, name(e.Path)+" "+fmt.Sprintf(format, args...))
	}
	if t.Device().Type == tensor.MetaDevice {
		e.Note = "on the meta device, without elements"
		return
	}
	var notes []string
	if t.IsParameter() {
		notes = append(notes, "Parameter")
	} else if t.RequiresGrad() {
		notes = append(notes, "requires grad")
	}
	st := t.Storage()
	if first, shared := w.storages[st]; shared {
		notes = append(notes, "shares memory with "+first)
	} else {
		w.storages[st] = name(e.Path)
		if n := int64(st.NumBytes()); n > 2*e.Bytes && n > 1<<12 {
			unusual("is a view of %s of a storage of %s, all of which is in the file", size(e.Bytes), size(n))
		}
	}
	if !t.IsContiguous() {
		notes = append(notes, fmt.Sprintf("strides %v", t.Strides()))
	}
	// A view that repeats elements can be larger than any memory.
	if n := int64(st.NumBytes()); e.Bytes <= max(1<<20, 2*n) {
		err := tensor.Try(func() {
			d := tensor.Dense(tensor.Resolved(t.Detach()))
			from := d.StorageOffset() * d.ElementSize()
			e.CRC32 = checksum(d.Storage().Bytes()[from : from+int(e.Bytes)])
			if t.DType().IsFloat() && t.Numel() > 0 {
				if bad := int(d.IsFinite().LogicalNot().Sum().Item()); bad > 0 {
					unusual("has %s that are not finite", plural(bad, "element"))
				}
			}
		})
		if err != nil {
			unusual("could not be read: %v", err)
		}
	} else {
		unusual("repeats its elements: %s from a storage of %s", size(e.Bytes), size(n))
	}
	e.Note = strings.Join(notes, ", ")
}

// plain adds a tensor of which only the bytes are known.
func (r *report) plain(key, dtype string, shape []int, n int64, b []byte) {
	r.Entries = append(r.Entries, entry{Path: []string{key}, Type: "tensor", DType: dtype, Shape: shape, Bytes: n,
		CRC32: checksum(b)})
	r.Tensors++
	numel := int64(1)
	for _, d := range shape {
		numel *= int64(d)
	}
	r.Numbers += numel
}

func checksum(b []byte) string { return fmt.Sprintf("%08x", crc32.ChecksumIEEE(b)) }

func name(path []string) string {
	if len(path) == 0 {
		return "the value"
	}
	return strings.Join(path, "/")
}

// finish adds what the entries tell together.
func (r *report) finish() {
	prefix := map[string]int{}
	for _, e := range r.Entries {
		if e.Type == "tensor" && len(e.Path) > 0 {
			first, _, ok := strings.Cut(e.Path[len(e.Path)-1], ".")
			if ok {
				prefix[first]++
			}
		}
	}
	for _, p := range []string{"module", "_orig_mod"} {
		if n := prefix[p]; n > 0 && n == r.Tensors {
			r.Unusual = append(r.Unusual, fmt.Sprintf("all keys begin with %q, as wrappers write them", p+"."))
		}
	}
}

// print writes the report as text.
func (r *report) print(w io.Writer, most int) {
	fmt.Fprintf(w, "%s: %s, %s (%d bytes)\n", r.File, r.Kind, size(r.Bytes), r.Bytes)
	if r.SHA256 != "" {
		fmt.Fprintf(w, "sha256: %s\n", r.SHA256)
	}
	for _, k := range slices.Sorted(maps.Keys(r.Producer)) {
		fmt.Fprintf(w, "%s: %s\n", k, r.Producer[k])
	}
	if len(r.Entries) > 0 {
		fmt.Fprintln(w)
		r.table(w, most)
		fmt.Fprintf(w, "\n%s, %d numbers\n", plural(r.Tensors, "tensor"), r.Numbers)
	}
	if r.Program != nil {
		fmt.Fprintln(w)
		r.Program.print(w)
	}
	for _, u := range r.Unusual[:min(len(r.Unusual), 50)] {
		fmt.Fprintln(w, "unusual:", u)
	}
	if n := len(r.Unusual) - 50; n > 0 {
		fmt.Fprintf(w, "unusual: %d more; --json lists them\n", n)
	}
	for _, u := range r.Unsafe {
		fmt.Fprintln(w, "UNSAFE:", u)
	}
}

func (r *report) table(w io.Writer, most int) {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for _, e := range r.Entries[:min(max(most, 0), len(r.Entries))] {
		key := "(value)"
		if n := len(e.Path); n > 0 {
			key = strings.Repeat("  ", n-1) + strings.ReplaceAll(e.Path[n-1], "\t", " ")
		}
		if e.Shape == nil && e.CRC32 == "" {
			fmt.Fprintf(t, "%s\t%s\t%s\t\t\t%s\n", key, e.Type, e.Value, e.Note)
			continue
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", key, e.DType, tensor.ShapeString(e.Shape), size(e.Bytes), e.CRC32,
			e.Note)
	}
	_ = t.Flush() // an error of w shows in what follows
	if n := len(r.Entries) - most; n > 0 {
		fmt.Fprintf(w, "... and %d more entries\n", n)
	}
}

// maxDifference is the largest difference between two tensors of one shape; infinite where one has a number and the
// other has none.
func maxDifference(a, b *tensor.Tensor) (float64, error) {
	d := 0.0
	err := tensor.Try(func() {
		tensor.NoGrad(func() {
			if a.Numel() == 0 {
				return
			}
			wide := func(t *tensor.Tensor) *tensor.Tensor {
				if t.DType().IsComplex() {
					return t.To(tensor.Complex128)
				}
				return t.To(tensor.Float64)
			}
			x, y := wide(a), wide(b)
			if x.DType() != y.DType() {
				x, y = x.To(tensor.Complex128), y.To(tensor.Complex128)
			}
			// Equal infinities and NaN in the same places are no difference.
			same := x.Eq(y).LogicalOr(x.IsNaN().LogicalAnd(y.IsNaN()))
			diff := x.Sub(y).Abs().MaskedFillScalar(same, 0.0)
			if d = diff.Max().Item(); math.IsNaN(d) {
				d = math.Inf(1)
			}
		})
	})
	return d, err
}
