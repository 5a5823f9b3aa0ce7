// Package modcheck builds modules of package nn from their Python constructors and compares their text, state dict,
// outputs and gradients with reference cases.
package modcheck

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"

	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/internal/conformance/opcheck"
	"github.com/gotorch-dev/torch/internal/dtype"
	"github.com/gotorch-dev/torch/internal/rng"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

type record struct {
	Name, Cls, DType, Repr, File string
	Ctor                         json.RawMessage
	StateDict                    []string `json:"state_dict"`
	Cases                        []caseRecord
}

type caseRecord struct {
	Mode, DType     string
	Lazy            bool
	Params, Buffers map[string]json.RawMessage
	Args            []json.RawMessage
	Kwargs          json.RawMessage
	Seed            *int64
	Out             json.RawMessage
	GradInputs      []json.RawMessage          `json:"grad_inputs"`
	GradParams      map[string]json.RawMessage `json:"grad_params"`
	BuffersAfter    map[string]json.RawMessage `json:"buffers_after"`
}

// Run checks every module of dir's index whose record or class name matches only.
func Run(dir string, only *regexp.Regexp, verbose func(format string, args ...any)) ([]golden.Result, error) {
	var index struct{ Modules []record }
	if err := golden.ReadJSON(filepath.Join(dir, "index.json"), &index); err != nil {
		return nil, err
	}
	t := &golden.Tally{Verbose: verbose}
	for i := range index.Modules {
		rec := &index.Modules[i]
		if only != nil && !only.MatchString(rec.Name) && !only.MatchString(rec.Cls) {
			continue
		}
		path, err := golden.Path(dir, rec.File)
		if err != nil {
			return nil, err
		}
		d, err := golden.NewDecoder(path)
		if err != nil {
			return nil, err
		}
		d.Sizes = true
		for j := range rec.Cases {
			err := error(golden.Skip("class not there"))
			if Known(rec.Cls) {
				err = runCase(d, rec, &rec.Cases[j])
			}
			t.Add(rec.Cls, fmt.Sprintf("%s/%d", rec.Name, j), err)
		}
		d.Close()
	}
	return t.Results(), nil
}

func runCase(d *golden.Decoder, rec *record, c *caseRecord) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = golden.Recovered(r)
		}
	}()
	d.Reset()
	ctor, err := d.Module(rec.Ctor)
	if err != nil {
		return err
	}
	dt := dtype.Parse(rec.DType)
	modes := []bool{c.Mode == "train"}
	if c.Mode == "both" {
		modes = []bool{true, false}
	}
	for _, train := range modes {
		m, err := Build(ctor)
		if err != nil {
			return err
		}
		if err := runMode(d, rec, c, m, dt, train); err != nil {
			return err
		}
		d.Reset()
		if ctor, err = d.Module(rec.Ctor); err != nil {
			return err
		}
	}
	return nil
}

// prepare gives a module the parameters and buffers of a case and reads the case's arguments.
func prepare(d *golden.Decoder, c *caseRecord, m nn.Module, dt tensor.DType, train bool) (args []any,
	kwargs map[string]any, params, own map[string]*tensor.Tensor, err error) {
	nn.ToDType(m, dt)
	nn.Train(m, train)
	if args, err = d.Args(c.Args); err != nil {
		return args, kwargs, params, own, err
	}
	if kwargs, err = d.Kwargs(c.Kwargs); err != nil {
		return args, kwargs, params, own, err
	}
	if c.Lazy {
		if lazy, ok := m.(nn.Lazy); ok {
			lazy.Materialize(args[0].(*tensor.Tensor))
			nn.ToDType(m, dt)
		}
	}
	params = map[string]*tensor.Tensor{}
	for n, p := range nn.NamedParameters(m) {
		params[n] = p
	}
	own = map[string]*tensor.Tensor{}
	for n, b := range nn.NamedBuffers(m) {
		own[n] = b
	}
	load := func(into map[string]*tensor.Tensor, from map[string]json.RawMessage, what string) error {
		for name, raw := range from {
			v, err := d.Decode(raw)
			if err != nil {
				return err
			}
			t, ok := v.(*tensor.Tensor)
			p := into[name]
			if !ok || p == nil {
				return fmt.Errorf("%s %s: not there", what, name)
			}
			if !tensor.SameShape(p.Shape(), t.Shape()) || p.DType() != t.DType() {
				return fmt.Errorf("%s %s is %s %v, want %s %v", what, name, p.DType(), p.Shape(), t.DType(), t.Shape())
			}
			tensor.CopyRaw(p, t)
		}
		return nil
	}
	if err := load(params, c.Params, "parameter"); err != nil {
		return args, kwargs, params, own, err
	}
	if err := load(own, c.Buffers, "buffer"); err != nil {
		return args, kwargs, params, own, err
	}
	if c.Seed != nil {
		rng.Default.ManualSeed(*c.Seed)
	}
	return args, kwargs, params, own, nil
}

func runMode(d *golden.Decoder, rec *record, c *caseRecord, m nn.Module, dt tensor.DType, train bool) error {
	args, kwargs, params, own, err := prepare(d, c, m, dt, train)
	if err != nil {
		return err
	}
	before := opcheck.Remember(d)
	got := forward(m, args, kwargs)
	if s := nn.Repr(m); s != rec.Repr {
		return fmt.Errorf("prints\n%s\nwant\n%s", s, rec.Repr)
	}
	keys := nn.StateDict(m).Keys()
	if strings.Join(keys, " ") != strings.Join(rec.StateDict, " ") {
		return fmt.Errorf("state dict %v, want %v", keys, rec.StateDict)
	}
	want, err := d.Decode(c.Out)
	if err != nil {
		return err
	}
	// sums over many elements: as loose as their length asks for
	if err := opcheck.Compare(d, got, want, dt); err != nil {
		return fmt.Errorf("output: %w", err)
	}
	for name, raw := range c.BuffersAfter {
		v, err := d.Decode(raw)
		if err != nil {
			return err
		}
		if err := opcheck.Compare(d, own[name], v, dt); err != nil {
			return fmt.Errorf("buffer %s afterwards: %w", name, err)
		}
	}
	if err := gradients(d, c, got, params, dt); err != nil {
		return err
	}
	if !strings.Contains(rec.Repr, "inplace=True") {
		if err := before.Unchanged(); err != nil {
			return err
		}
	}
	return hooked(m, args, kwargs)
}

// hooked runs a module once more and expects its hooks to run, once each.
func hooked(m nn.Module, args []any, kwargs map[string]any) error {
	before, after := 0, 0
	nn.RegisterForwardPreHook(m, func(nn.Module, []*tensor.Tensor) []*tensor.Tensor { before++; return nil })
	nn.RegisterForwardHook(m, func(nn.Module, []*tensor.Tensor, *tensor.Tensor) *tensor.Tensor { after++; return nil })
	tensor.NoGrad(func() { forward(m, args, kwargs) })
	if before != 1 || after != 1 {
		return fmt.Errorf("its hooks ran %d and %d times", before, after)
	}
	return nil
}

func gradients(d *golden.Decoder, c *caseRecord, got any, params map[string]*tensor.Tensor, dt tensor.DType) error {
	var ins, wants []*tensor.Tensor
	var names []string
	add := func(name string, in *tensor.Tensor, raw json.RawMessage) error {
		var e struct{ None bool }
		if err := json.Unmarshal(raw, &e); err != nil {
			return fmt.Errorf("%w in the gradient %.80s", err, raw)
		}
		var w *tensor.Tensor
		if !e.None {
			v, err := d.Decode(raw)
			if err != nil {
				return err
			}
			w, _ = v.(*tensor.Tensor)
		}
		if in == nil {
			return fmt.Errorf("gradient of %s, which is not there", name)
		}
		ins, wants, names = append(ins, in), append(wants, w), append(names, name)
		return nil
	}
	for _, raw := range c.GradInputs {
		var e struct{ Of string }
		if err := json.Unmarshal(raw, &e); err != nil {
			return fmt.Errorf("%w in the gradient %.80s", err, raw)
		}
		if err := add(e.Of, d.Tensors[e.Of], raw); err != nil {
			return err
		}
	}
	for n, raw := range c.GradParams {
		if err := add(n, params[n], raw); err != nil {
			return err
		}
	}
	var roots, gs []*tensor.Tensor
	for _, o := range opcheck.Flatten(got) {
		if o.RequiresGrad() {
			roots, gs = append(roots, o), append(gs, opcheck.Weights(o))
		}
	}
	if len(ins) == 0 {
		return nil
	}
	grads := make([]*tensor.Tensor, len(ins))
	if len(roots) > 0 {
		if err := tensor.Try(func() {
			grads = tensor.Grad(roots, ins, tensor.GradOptions{GradOutputs: gs, AllowUnused: true})
		}); err != nil {
			return fmt.Errorf("backward: %w", err)
		}
	}
	for i, w := range wants {
		g := grads[i]
		if g != nil && g.IsSparse() { // the record holds it dense
			g = g.ToDense()
		}
		switch {
		case w == nil && g == nil:
		case w == nil:
			if why := golden.CloseOnDevice(g, g.Detach().ZerosLike(), golden.ToleranceOf(dt)); why != "" {
				return fmt.Errorf("gradient of %s: %s, want none", names[i], why)
			}
		case g == nil:
			g = w.Detach().ZerosLike()
			fallthrough
		default:
			if why := golden.CloseOnDevice(g, w, golden.ToleranceOf(w.DType()).Times(10)); why != "" {
				return fmt.Errorf("gradient of %s: %s", names[i], why)
			}
		}
	}
	return nil
}

func tensorKw(kwargs map[string]any, name string) *tensor.Tensor {
	t, _ := kwargs[name].(*tensor.Tensor)
	return t
}

// toTensor turns the lists of lengths that CTCLoss takes into tensors.
func toTensor(v any) (*tensor.Tensor, bool) {
	switch x := v.(type) {
	case *tensor.Tensor:
		return x, true
	case float64:
		return tensor.FromSlice([]float64{x}).Reshape([]int{}), true
	}
	if l, ok := seq(v); ok {
		n := make([]int64, len(l))
		for i, e := range l {
			k, isInt := e.(int)
			if !isInt {
				return nil, false
			}
			n[i] = int64(k)
		}
		return tensor.FromSlice(n, len(n)), true
	}
	return nil, false
}

// Forward calls the module as Python would, with its results as Python would give them.
func Forward(m nn.Module, args []any, kwargs map[string]any) any { return forward(m, args, kwargs) }

// forward calls the module as Python would, with its results as Python would give them.
func forward(m nn.Module, args []any, kwargs map[string]any) any {
	if x, ok := kwargs["input"]; ok {
		args = append([]any{x}, args...)
	}
	var ts []*tensor.Tensor
	for _, a := range args {
		switch x := a.(type) {
		case nil:
		case *tensor.Tensor:
			ts = append(ts, x)
		default:
			if t, ok := toTensor(a); ok {
				ts = append(ts, t)
			} else if l, ok := seq(a); ok { // the two states of an LSTM
				for _, e := range l {
					if t, ok := e.(*tensor.Tensor); ok {
						ts = append(ts, t)
					}
				}
			}
		}
	}
	// masks that were given by position
	names := map[string][]string{
		"*nn.Transformer": {"src_mask", "tgt_mask", "memory_mask", "src_key_padding_mask",
			"tgt_key_padding_mask", "memory_key_padding_mask"},
		"*nn.TransformerEncoder":      {"mask", "src_key_padding_mask"},
		"*nn.TransformerEncoderLayer": {"src_mask", "src_key_padding_mask"},
		"*nn.TransformerDecoder":      {"tgt_mask", "memory_mask", "tgt_key_padding_mask", "memory_key_padding_mask"},
		"*nn.TransformerDecoderLayer": {"tgt_mask", "memory_mask", "tgt_key_padding_mask", "memory_key_padding_mask"},
	}[fmt.Sprintf("%T", m)]
	if names != nil {
		first := 2
		if strings.Contains(fmt.Sprintf("%T", m), "Encoder") {
			first = 1
		}
		for i, a := range args[min(first, len(args)):] {
			kwargs[names[i]] = a
		}
	}
	kw := func(n string) *tensor.Tensor { return tensorKw(kwargs, n) }
	switch x := m.(type) {
	case *nn.LSTM:
		out, h, c := x.Forward(ts[0], ts[1:]...)
		return golden.Tuple{out, golden.Tuple{h, c}}
	case *nn.MultiheadAttention:
		out, w := x.Forward(ts[0], ts[1], ts[2],
			nn.AttentionOptions{KeyPaddingMask: kw("key_padding_mask"), AttnMask: kw("attn_mask"),
				NoWeights: kwargs["need_weights"] == false,
				NoAverage: kwargs["average_attn_weights"] == false, IsCausal: kwargs["is_causal"] == true})
		if w == nil {
			return golden.Tuple{out, nil}
		}
		return golden.Tuple{out, w}
	case *nn.TransformerEncoderLayer:
		return x.Forward(ts[0], nn.EncoderMasks{Mask: kw("src_mask"), KeyPaddingMask: kw("src_key_padding_mask")})
	case *nn.TransformerEncoder:
		return x.Forward(ts[0], nn.EncoderMasks{Mask: kw("mask"), KeyPaddingMask: kw("src_key_padding_mask")})
	case *nn.TransformerDecoderLayer:
		return x.Forward(ts[0], ts[1], nn.DecoderMasks{TgtMask: kw("tgt_mask"), MemoryMask: kw("memory_mask"),
			TgtKeyPaddingMask: kw("tgt_key_padding_mask"), MemoryKeyPaddingMask: kw("memory_key_padding_mask")})
	case *nn.TransformerDecoder:
		return x.Forward(ts[0], ts[1], nn.DecoderMasks{TgtMask: kw("tgt_mask"), MemoryMask: kw("memory_mask"),
			TgtKeyPaddingMask: kw("tgt_key_padding_mask"), MemoryKeyPaddingMask: kw("memory_key_padding_mask")})
	case *nn.Transformer:
		return x.Forward(ts[0], ts[1], nn.TransformerMasks{SrcMask: kw("src_mask"), TgtMask: kw("tgt_mask"),
			MemoryMask: kw("memory_mask"), SrcKeyPaddingMask: kw("src_key_padding_mask"),
			TgtKeyPaddingMask: kw("tgt_key_padding_mask"), MemoryKeyPaddingMask: kw("memory_key_padding_mask")})
	case *nn.EmbeddingBag:
		in := nn.BagInput{Offsets: kw("offsets"), PerSampleWeights: kw("per_sample_weights")}
		if len(ts) > 1 {
			in.Offsets = ts[1]
		}
		if len(ts) > 2 || len(args) > 2 && args[2] != nil {
			in.PerSampleWeights = ts[len(ts)-1]
			if len(args) > 1 && args[1] == nil {
				in.Offsets = nil
			}
		}
		return x.Forward(ts[0], in)
	case nn.IndexPool:
		if f := reflect.ValueOf(m).Elem().FieldByName("ReturnIndices"); f.IsValid() && f.Bool() {
			out, idx := x.ForwardIndices(ts[0])
			return golden.Tuple{out, idx}
		}
	}
	if size, ok := toSize(kwargs["output_size"]); ok && size != nil {
		switch x := m.(type) {
		case interface {
			ForwardSize(*tensor.Tensor, ...int) *tensor.Tensor
		}:
			return x.ForwardSize(ts[0], size...)
		case interface {
			Forward(x, indices *tensor.Tensor, outputSize ...int) *tensor.Tensor
		}:
			return x.Forward(ts[0], ts[1], size...)
		}
	}
	f := reflect.ValueOf(m).MethodByName("Forward")
	if !f.IsValid() {
		panic(errors.New("no Forward"))
	}
	n := f.Type().NumIn()
	if f.Type().IsVariadic() {
		n--
		if f.Type().In(n).Elem() == reflect.TypeFor[*tensor.Tensor]() {
			n = len(ts)
		}
	}
	if len(ts) < n {
		panic(fmt.Errorf("Forward takes %d tensors, got %d", n, len(ts)))
	}
	in := make([]reflect.Value, n)
	for i := range in {
		in[i] = reflect.ValueOf(ts[i])
	}
	res := f.Call(in)
	if len(res) == 1 {
		return res[0].Interface()
	}
	out := golden.Tuple{}
	for _, r := range res {
		out = append(out, r.Interface())
	}
	return out
}
