// Package rngcheck runs the random-number cases of a directory in the rng format: the values drawn and the generator's
// state afterwards, which shows how many draws were made.
package rngcheck

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/internal/conformance/opcheck"
	"github.com/gotorch-dev/torch/internal/dtype"
	"github.com/gotorch-dev/torch/internal/rng"
	"github.com/gotorch-dev/torch/tensor"
)

// Options choose what runs.
type Options struct {
	Only    *regexp.Regexp
	Verbose func(format string, args ...any)
	// Module constructs a module by its class and calls it in training mode; nil when there are no modules. ok is false
	// when the class is not there.
	Module func(cls string, args []any, kwargs map[string]any, inputs []*tensor.Tensor) (outs []*tensor.Tensor, ok bool,
		err error)
	// Init constructs a module and returns its state; nil when there are no modules.
	// A lazy module sees an input of so many features first.
	Init func(cls string, args []any, kwargs map[string]any, features int) (state *tensor.StateDict, ok bool, err error)
	// InitProgram runs what constructs several modules.
	InitProgram func(text string) (outs []*tensor.Tensor, ok bool)
}

type outRecord struct {
	T, DType, Name string
	Shape, Stride  []int
}

type caseRecord struct {
	Group, Case string
	Seed        int64
	Out         []outRecord
	State       struct{ Sha256 string }
	Call        *callRecord
	W           []float64
	Module      string
	Fn          string
	Args        json.RawMessage
	Kwargs      map[string]any
	Shape       []int
	DType       string
}

type callRecord struct {
	Kind, Fn string
	Args     []json.RawMessage
	Kwargs   json.RawMessage
	DType    string
	Size     []int
	View     string
	Inputs   []json.RawMessage
}

// Run checks dir's rng.json.
func Run(dir string, o Options) ([]golden.Result, error) {
	raw, err := golden.ReadFile(filepath.Join(dir, "rng.json"))
	if err != nil {
		return nil, err
	}
	// Arrays of bfloat16 are stored as float32, which the dtype's text says.
	raw = bytes.ReplaceAll(raw, []byte("(as f32)"), nil)
	var index struct{ Cases []caseRecord }
	if err := json.Unmarshal(raw, &index); err != nil {
		return nil, fmt.Errorf("rng.json: %w", err)
	}
	d, err := golden.NewDecoder(filepath.Join(dir, "rng.npz"))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	before := rng.Default.State()
	defer func() { _ = rng.Default.SetState(before) }() // a state it gave itself is always accepted
	t := &golden.Tally{Verbose: o.Verbose}
	for i := range index.Cases {
		c := &index.Cases[i]
		name := c.Group
		if c.Call != nil {
			name += "." + c.Call.Fn
		}
		if o.Only != nil && !o.Only.MatchString(name) {
			continue
		}
		err := check(d, c, o)
		if err != nil {
			err = fmt.Errorf("(%s, seed %d) %w", c.Case, c.Seed, err)
		}
		t.Add(name, strconv.Itoa(i), err)
	}
	return t.Results(), nil
}

func check(d *golden.Decoder, c *caseRecord, o Options) (err error) {
	defer func() {
		if r := recover(); r != nil {
			if s, ok := r.(golden.Skip); ok {
				err = s
				return
			}
			err = golden.Recovered(r)
		}
	}()
	d.Reset()
	rng.Default.ManualSeed(c.Seed)
	var outs []*tensor.Tensor
	switch {
	case c.Call != nil:
		outs, err = runCall(d, c, o)
	case c.Group == "nn.init":
		outs, err = runInit(c)
	case c.Group == "init":
		if c.Module == "" && o.InitProgram != nil {
			var ok bool
			if outs, ok = o.InitProgram(c.Case); !ok {
				return golden.Skip("no program for " + c.Case)
			}
			break
		}
		if o.Init == nil {
			return golden.Skip("no modules")
		}
		features := 0
		if len(c.Out) > 0 && len(c.Out[0].Shape) > 0 {
			features = c.Out[0].Shape[len(c.Out[0].Shape)-1]
		}
		var args []any
		if err := json.Unmarshal(c.Args, &args); err != nil {
			return err
		}
		sd, ok, err := o.Init(c.Module, args, c.Kwargs, features)
		if !ok {
			return golden.Skip("no module " + c.Module)
		}
		if err != nil {
			return err
		}
		for _, w := range c.Out {
			t := sd.Get(w.Name)
			if t == nil {
				return fmt.Errorf("the state has no %s", w.Name)
			}
			outs = append(outs, t)
		}
	default:
		outs, err = runProgram(c)
	}
	if err != nil {
		return err
	}
	if len(outs) != len(c.Out) {
		return fmt.Errorf("got %d results, want %d", len(outs), len(c.Out))
	}
	sum := sha256.Sum256(rng.Default.State())
	for i, w := range c.Out {
		want, err := d.Array(w.T)
		if err != nil {
			return err
		}
		dt := dtype.Parse(w.DType)
		if dt == 0 {
			return golden.Skip("dtype " + w.DType)
		}
		if want.DType() != dt {
			want = tensor.DenseAs(want, dt)
		}
		if why := golden.Close(shown(outs[i].Detach()), want, tolerance(c, dt)); why != "" {
			return fmt.Errorf("result %d: %s", i, why)
		}
		for k, s := range w.Stride {
			if w.Shape[k] > 1 && outs[i].Stride(k) != s && c.Group == "basic" {
				return fmt.Errorf("result %d has strides %v, want %v", i, outs[i].Strides(), w.Stride)
			}
		}
	}
	// nothing is drawn there
	if got := hex.EncodeToString(sum[:]); got != c.State.Sha256 && golden.Device.Type != tensor.MetaDevice {
		return fmt.Errorf("the generator's state is another")
	}
	return nil
}

// shown is t, or what the meta device would have of it: there nothing is drawn.
func shown(t *tensor.Tensor) *tensor.Tensor {
	if golden.Device.Type == tensor.MetaDevice {
		return t.To(golden.Device)
	}
	return t
}

// tolerance: what does not pass through the C library's functions is exact.
func tolerance(c *caseRecord, dt tensor.DType) golden.Tolerance {
	switch {
	case strings.Contains(c.Case, "orthogonal"):
		return golden.Tolerance{RTol: 1e-5, ATol: 1e-5}
	case c.Group == "layer":
		// relative to the largest element: layers end in sums that cancel
		return golden.Tolerance{RTol: 1e-6, ATol: 1e-6}
	case dt == tensor.Float64, dt == tensor.Complex128:
		return golden.Tolerance{RTol: 4 * 0x1p-52}
	case c.Call != nil && dt == tensor.Float32:
		switch c.Call.Fn {
		case "exponential_", "cauchy_", "log_normal_", "_standard_gamma", "_sample_dirichlet":
			return golden.Tolerance{RTol: 4 * 0x1p-23}
		}
	}
	return golden.Tolerance{}
}

// source is the tensor that an in-place or *_like function is given.
func source(c *callRecord) *tensor.Tensor {
	dt := dtype.Parse(c.DType)
	if dt == 0 {
		panic(golden.Skip("dtype " + c.DType))
	}
	stride := tensor.FormatStrides(c.Size, tensor.ContiguousFormat)
	if c.View == "channels_last" {
		stride = tensor.FormatStrides(c.Size, tensor.ChannelsLast)
	}
	t := tensor.NewOn(golden.Device, c.Size, stride, dt)
	tensor.ZeroRaw(t)
	shape, n := append([]int(nil), c.Size...), len(c.Size)
	switch c.View {
	case "t":
		shape[0], shape[1] = shape[1], shape[0]
		t = tensor.Alias(t, shape, []int{stride[1], stride[0]}, 0)
	case "slice2":
		shape[n-1] = (shape[n-1] + 1) / 2
		stride[n-1] *= 2
		t = tensor.Alias(t, shape, stride, 0)
	}
	return t
}

func runCall(d *golden.Decoder, rec *caseRecord, o Options) ([]*tensor.Tensor, error) {
	c := rec.Call
	args, err := d.Args(c.Args)
	if err != nil {
		return nil, err
	}
	kwargs, err := d.Kwargs(c.Kwargs)
	if err != nil {
		return nil, err
	}
	if c.Kind == "module" {
		if o.Module == nil {
			return nil, golden.Skip("no modules")
		}
		ins, err := d.Args(c.Inputs)
		if err != nil {
			return nil, err
		}
		var inputs []*tensor.Tensor
		for _, v := range ins {
			inputs = append(inputs, v.(*tensor.Tensor))
		}
		outs, ok, err := o.Module(c.Fn, args, kwargs, inputs)
		if len(outs) > len(rec.Out) { // of a recurrent layer only the output sequence is recorded
			outs = outs[:len(rec.Out)]
		}
		if !ok {
			return nil, golden.Skip("no module " + c.Fn)
		}
		return outs, err
	}
	names := opcheck.Names("torch." + c.Fn)
	switch c.Kind {
	case "factory":
		if c.DType != "" {
			dt := dtype.Parse(c.DType)
			if dt == 0 {
				return nil, golden.Skip("dtype " + c.DType)
			}
			kwargs["dtype"] = dt
		}
	case "inplace":
		names = opcheck.Names("torch.Tensor." + c.Fn)
		args = append([]any{source(c)}, args...)
	case "like":
		args = append([]any{source(c)}, args...)
	case "functional":
		names = opcheck.Names("torch.nn.functional." + c.Fn)
	}
	if !opcheck.Exists(names) {
		return nil, golden.Skip("operator not there yet: " + names[0])
	}
	for _, a := range args {
		if u, ok := a.(golden.Unsupported); ok {
			return nil, golden.Skip("not supported: " + string(u))
		}
	}
	v, err := opcheck.Call(names, args, kwargs)
	if err != nil {
		return nil, err
	}
	var outs []*tensor.Tensor
	switch x := v.(type) {
	case *tensor.Tensor:
		outs = append(outs, x)
	case golden.List:
		for _, e := range x {
			outs = append(outs, e.(*tensor.Tensor))
		}
	case golden.Tuple:
		for _, e := range x {
			outs = append(outs, e.(*tensor.Tensor))
		}
	}
	if len(outs) > len(rec.Out) {
		outs = outs[:len(rec.Out)]
	}
	return outs, nil
}
