// Package golden reads the reference data that the conformance runner compares with: arguments and results in JSON
// beside .npz arrays.
package golden

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"github.com/gotorch-dev/torch/internal/dtype"
	"github.com/gotorch-dev/torch/serialize/npy"
	"github.com/gotorch-dev/torch/tensor"
)

// The decoded values: nil, bool, int, float64, complex128, string and *tensor.Tensor are themselves; the rest are
// these.
type (
	// List and Tuple are Python's sequences.
	List  []any
	Tuple []any
	// Size is a torch.Size, where Decoder.Sizes asks for it.
	Size []any
	// Dict is a dict in its order.
	Dict []Item
	// Slice is a slice object; nil parts are absent.
	Slice struct{ Start, Stop, Step any }
	// Ellipsis is "...".
	Ellipsis struct{}
	// Layout is a torch.layout.
	Layout string
	// Func is a named function.
	Func string
	// Module is a module to construct.
	Module struct {
		Cls    string
		Args   []any
		Kwargs map[string]any
	}
	// NoValues is a tensor of which only shape, stride and dtype are defined.
	NoValues struct {
		DType         tensor.DType
		Shape, Stride []int
	}
	// Object is an options object.
	Object struct {
		Cls    string
		Fields map[string]any
	}
	// Unsupported is a value of a type that is not there.
	Unsupported string
)

// Item is one entry of a Dict.
type Item struct {
	Key string
	Val any
}

// TensorInfo is what the data say of a tensor beyond its elements.
type TensorInfo struct {
	Key          string
	RequiresGrad bool
	Stride       []int
	Offset       int
	Alias        string // the argument whose memory a result shares: input, args.1, kwargs.out
}

// Device is where decoded tensors are put, and new ones are made while the cases run.
var Device tensor.Device

// Files is a directory with files that the cases name without saying where they lie; "" without.
var Files string

// onDevice moves a tensor, with the whole storage that it views, to Device.
func onDevice(t *tensor.Tensor) *tensor.Tensor {
	if Device == (tensor.Device{}) {
		return t
	}
	conj, neg := tensor.Bits(t)
	return encTensor{Conj: conj, Neg: neg}.lazy(tensor.FromStorage(tensor.StorageOn(t.Storage(), Device), t.DType(),
		t.Shape(), t.Strides(), t.StorageOffset()))
}

// NeedsElements reports an error that says that something depends on the elements of tensors, which the meta device
// does not have. The case that it comes from is skipped there.
func NeedsElements(err error) bool {
	return Device.Type == tensor.MetaDevice && (errors.Is(err, tensor.ErrDevice) || errors.Is(err, tensor.ErrNotImpl))
}

// Recovered is the error that a panic value stands for.
func Recovered(r any) error {
	if err, ok := r.(error); ok {
		return fmt.Errorf("panic: %w", err)
	}
	return fmt.Errorf("panic: %v", r)
}

// Guard runs f and turns a panic into an error.
func Guard(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = Recovered(r)
		}
	}()
	return f()
}

// Decoder turns encoded values into tensors and Go values. The same key gives the same tensor.
type Decoder struct {
	Arrays  *npy.NPZ
	Tensors map[string]*tensor.Tensor
	Info    map[*tensor.Tensor]TensorInfo
	// Named are the tensors of a case's arguments by the names that TensorInfo.Alias uses; the runner sets it.
	Named map[string][]*tensor.Tensor
	// Sizes tells a torch.Size from a tuple, which few care for: it is decoded to a Size instead of a Tuple.
	Sizes bool
}

// NewDecoder reads arrays from an .npz file; "" when a case has none.
func NewDecoder(path string) (*Decoder, error) {
	d := &Decoder{}
	d.Reset()
	if path == "" {
		return d, nil
	}
	Note(path)
	z, err := npy.OpenNPZ(path)
	if err != nil {
		return nil, err
	}
	d.Arrays = z
	return d, nil
}

// Close closes the file.
func (d *Decoder) Close() {
	if d.Arrays != nil {
		_ = d.Arrays.Close() // only read
	}
}

// Reset forgets the tensors of the previous case.
func (d *Decoder) Reset() {
	d.Tensors = map[string]*tensor.Tensor{}
	d.Info = map[*tensor.Tensor]TensorInfo{}
	d.Named = nil
}

type encTensor struct {
	T       string          `json:"t"`
	DType   string          `json:"dtype"`
	Shape   []int           `json:"shape"`
	Stride  []int           `json:"stride"`
	Offset  int             `json:"offset"`
	RG      bool            `json:"rg"`
	Conj    bool            `json:"conj"`
	Neg     bool            `json:"neg"`
	Storage string          `json:"storage"`
	Alias   json.RawMessage `json:"alias"`
	Values  *bool           `json:"values"`
}

// into parses JSON and says what it could not parse.
func into(raw json.RawMessage, p any) error {
	if err := json.Unmarshal(raw, p); err != nil {
		return fmt.Errorf("golden: %w in %.80s", err, raw)
	}
	return nil
}

// Decode reads one encoded value.
func (d *Decoder) Decode(raw json.RawMessage) (any, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	var m map[string]json.RawMessage
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, fmt.Errorf("golden: %w in %.80s", err, raw)
	}
	has := func(k string) bool { _, ok := m[k]; return ok }
	// A value of another kind than its key says would otherwise become an empty one, and the case pass or fail for no
	// reason.
	str := func(k string) (string, error) {
		var s string
		err := into(m[k], &s)
		return s, err
	}
	switch {
	case has("t"):
		var e encTensor
		if err := json.Unmarshal(raw, &e); err != nil {
			return nil, err
		}
		return d.tensor(&e)
	case has("q"):
		return d.quantized(raw)
	case has("v"):
		return plain(m["v"])
	case has("f"):
		return number(m["f"])
	case has("c"):
		var p []json.RawMessage
		if err := into(m["c"], &p); err != nil {
			return nil, err
		}
		if len(p) != 2 {
			return nil, fmt.Errorf("golden: a complex number of %d parts, want 2", len(p))
		}
		re, err := number(p[0])
		if err != nil {
			return nil, err
		}
		im, err := number(p[1])
		return complex(re, im), err
	case has("s"):
		s, err := str("s")
		if err != nil {
			return nil, err
		}
		return named(s), nil
	case has("l"), has("u"):
		key := "l"
		if has("u") {
			key = "u"
		}
		var p []json.RawMessage
		if err := into(m[key], &p); err != nil {
			return nil, err
		}
		out := make([]any, len(p))
		for i, e := range p {
			v, err := d.Decode(e)
			if err != nil {
				return nil, err
			}
			out[i] = v
		}
		switch {
		case key == "l":
			return List(out), nil
		case d.Sizes && has("size"):
			return Size(out), nil
		}
		return Tuple(out), nil
	case has("d"):
		dec := json.NewDecoder(bytes.NewReader(m["d"]))
		if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
			return nil, fmt.Errorf("golden: want an object, got %.80s", m["d"])
		}
		out := Dict{}
		for dec.More() {
			k, err := dec.Token()
			if err != nil {
				return nil, err
			}
			var e json.RawMessage
			if err := dec.Decode(&e); err != nil {
				return nil, err
			}
			v, err := d.Decode(e)
			if err != nil {
				return nil, err
			}
			out = append(out, Item{k.(string), v})
		}
		return out, nil
	case has("od"):
		var p [][]json.RawMessage
		if err := into(m["od"], &p); err != nil {
			return nil, err
		}
		out := Dict{}
		for _, e := range p {
			if len(e) != 2 {
				return nil, fmt.Errorf("golden: a dict entry of %d parts, want 2", len(e))
			}
			var k string
			if err := into(e[0], &k); err != nil {
				return nil, err
			}
			v, err := d.Decode(e[1])
			if err != nil {
				return nil, err
			}
			out = append(out, Item{k, v})
		}
		return out, nil
	case has("slice"):
		var p []json.RawMessage
		if err := into(m["slice"], &p); err != nil {
			return nil, err
		}
		if len(p) > 3 {
			return nil, fmt.Errorf("golden: a slice of %d parts, want at most 3", len(p))
		}
		var s [3]any
		for i := range p {
			if len(p[i]) > 0 && p[i][0] == '{' {
				v, err := d.Decode(p[i])
				if err != nil {
					return nil, err
				}
				s[i] = v
				continue
			}
			v, err := plain(p[i])
			if err != nil {
				return nil, err
			}
			s[i] = v
		}
		return Slice{s[0], s[1], s[2]}, nil
	case has("ref"):
		name, err := str("ref")
		if err != nil {
			return nil, err
		}
		t, ok := d.Tensors[name]
		if !ok {
			return nil, fmt.Errorf("golden: ref to unknown tensor %s", name)
		}
		return t, nil
	case has("fn"):
		s, err := str("fn")
		return Func(s), err
	case has("module"):
		return d.Module(m["module"])
	case has("obj"):
		var e struct {
			Cls    string
			Fields json.RawMessage
		}
		if err := json.Unmarshal(m["obj"], &e); err != nil {
			return nil, err
		}
		fields, err := d.Kwargs(e.Fields)
		return Object{e.Cls, fields}, err
	case has("values"), has("dtype") && has("shape"): // elements are not defined
		var e encTensor
		if err := into(raw, &e); err != nil {
			return nil, err
		}
		return NoValues{dtype.Parse(e.DType), e.Shape, e.Stride}, nil
	}
	return Unsupported(fmt.Sprintf("%.60s", raw)), nil
}

// Module reads {"cls","args","kwargs"}.
func (d *Decoder) Module(raw json.RawMessage) (Module, error) {
	var e struct {
		Cls    string
		Args   []json.RawMessage
		Kwargs json.RawMessage
	}
	if err := json.Unmarshal(raw, &e); err != nil {
		return Module{}, err
	}
	out := Module{Cls: e.Cls, Kwargs: map[string]any{}}
	for _, a := range e.Args {
		v, err := d.Decode(a)
		if err != nil {
			return Module{}, err
		}
		out.Args = append(out.Args, v)
	}
	kw, err := d.Kwargs(e.Kwargs)
	out.Kwargs = kw
	return out, err
}

// Kwargs reads an object of encoded values.
func (d *Decoder) Kwargs(raw json.RawMessage) (map[string]any, error) {
	out := map[string]any{}
	if len(raw) == 0 || string(raw) == "null" {
		return out, nil
	}
	// in their order: a value may refer to a tensor of an earlier one
	dec := json.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	for dec.More() {
		k, err := dec.Token()
		if err != nil {
			return nil, err
		}
		name, ok := k.(string)
		if !ok {
			return nil, fmt.Errorf("golden: keyword arguments are no object: %.80s", raw)
		}
		var e json.RawMessage
		if err := dec.Decode(&e); err != nil {
			return nil, err
		}
		v, err := d.Decode(e)
		if name == "device" && v == "cpu" {
			v = Device
		}
		if err != nil {
			return nil, err
		}
		out[name] = v
	}
	return out, nil
}

// Args reads a list of encoded values.
func (d *Decoder) Args(raws []json.RawMessage) ([]any, error) {
	var out []any
	for _, r := range raws {
		v, err := d.Decode(r)
		if err != nil {
			return nil, err
		}
		if v == "cpu" && Device != (tensor.Device{}) {
			v = Device
		}
		out = append(out, v)
	}
	return out, nil
}

func plain(raw json.RawMessage) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if n, ok := v.(json.Number); ok {
		if i, err := n.Int64(); err == nil {
			return int(i), nil
		}
		if !strings.ContainsAny(n.String(), ".eE") {
			return Unsupported("integer " + n.String()), nil
		}
		return n.Float64()
	}
	return v, nil
}

func number(raw json.RawMessage) (float64, error) {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		switch s {
		case "inf":
			return math.Inf(1), nil
		case "-inf":
			return math.Inf(-1), nil
		case "nan":
			return math.NaN(), nil
		}
		return 0, fmt.Errorf("golden: number %q", s)
	}
	var f float64
	err := json.Unmarshal(raw, &f)
	return f, err
}

func named(s string) any {
	switch s {
	case "...":
		return Ellipsis{}
	case "cpu":
		return Device
	case "torch.contiguous_format":
		return tensor.ContiguousFormat
	case "torch.preserve_format":
		return tensor.PreserveFormat
	case "torch.channels_last":
		return tensor.ChannelsLast
	case "torch.channels_last_3d":
		return tensor.ChannelsLast3d
	case "torch.strided", "torch.sparse_coo", "torch.sparse_csr":
		return Layout(s)
	}
	if d := dtype.Parse(s); d != 0 {
		return d
	}
	if q, ok := tensor.ParseQScheme(s); ok {
		return q
	}
	return Unsupported(s)
}

// npyTypes are the names numpy's arrays have.
func arrayType(a *npy.Array) dtype.DType { return dtype.Parse(a.DType) }

// Array reads an array as a tensor with its own dtype.
func (d *Decoder) Array(key string) (*tensor.Tensor, error) {
	if d.Arrays == nil {
		return nil, fmt.Errorf("golden: no arrays for %s", key)
	}
	a, err := d.Arrays.Read(key)
	if err != nil {
		return nil, err
	}
	t, err := TensorOf(a)
	if err != nil {
		return nil, fmt.Errorf("golden: array %s: %w", key, err)
	}
	return t, nil
}

// TensorOf copies an array into a tensor.
func TensorOf(a *npy.Array) (*tensor.Tensor, error) {
	a = a.RowMajor()
	dt := arrayType(a)
	if dt == 0 {
		return nil, fmt.Errorf("dtype %s", a.DType)
	}
	t := tensor.New(a.Shape, dt)
	copy(t.Storage().Bytes(), a.Data)
	return t, nil
}

func (d *Decoder) tensor(e *encTensor) (any, error) {
	dt := dtype.Parse(e.DType)
	if dt == 0 {
		return Unsupported("dtype " + e.DType), nil
	}
	if e.Values != nil && !*e.Values {
		return NoValues{dt, e.Shape, e.Stride}, nil
	}
	src, err := d.Array(e.T)
	if err != nil {
		return nil, err
	}
	shape := e.Shape
	if shape == nil {
		shape = []int{}
	}
	var t *tensor.Tensor
	switch {
	case e.Storage != "":
		s, err := d.Array(e.Storage)
		if err != nil {
			return nil, err
		}
		s = tensor.DenseAs(s, dt)
		stride := e.Stride
		if stride == nil {
			stride = tensor.FormatStrides(shape, tensor.ContiguousFormat)
		}
		t = tensor.FromStorage(s.Storage(), dt, shape, stride, e.Offset)
	case e.Stride == nil && e.Offset == 0:
		t = e.lazy(tensor.New(shape, dt))
		tensor.CopyRaw(t, src)
	default:
		stride := e.Stride
		if stride == nil {
			stride = tensor.FormatStrides(shape, tensor.ContiguousFormat)
		}
		n := e.Offset + 1
		for i, s := range shape {
			if s == 0 {
				n = e.Offset
				break
			}
			n += (s - 1) * stride[i]
		}
		st := tensor.NewStorage(n * dt.Size())
		clear(st.Bytes())
		t = e.lazy(tensor.FromStorage(st, dt, shape, stride, e.Offset))
		tensor.CopyRaw(t, src)
	}
	t = onDevice(t)
	if e.RG {
		t.SetRequiresGrad(true)
	}
	alias := ""
	_ = json.Unmarshal(e.Alias, &alias) // most tensors have none; only the name of one matters here
	d.Tensors[e.T] = t
	d.Info[t] = TensorInfo{Key: e.T, RequiresGrad: e.RG, Stride: e.Stride, Offset: e.Offset, Alias: alias}
	return t, nil
}

// lazy sets the conjugate and the negative bit of a new tensor.
func (e encTensor) lazy(t *tensor.Tensor) *tensor.Tensor {
	if e.Conj {
		t = tensor.LazyConj(t)
	}
	if e.Neg {
		t = tensor.LazyNeg(t)
	}
	return t
}

// Path joins a directory and a file name of the data; names that leave the directory are refused.
func Path(dir, file string) (string, error) {
	if file == "" {
		return "", nil
	}
	if !filepath.IsLocal(file) {
		return "", fmt.Errorf("golden: file name %q leaves the directory", file)
	}
	return filepath.Join(dir, file), nil
}
