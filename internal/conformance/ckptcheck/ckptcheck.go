// Package ckptcheck compares activation checkpointing and anomaly mode with reference runs and programs.
package ckptcheck

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/autograd"
	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/internal/conformance/opcheck"
	"github.com/gotorch-dev/torch/internal/conformance/programs"
	"github.com/gotorch-dev/torch/internal/dtype"
	"github.com/gotorch-dev/torch/internal/pylite"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/tensor"
)

// Run checks the models and the programs of a directory.
func Run(dir string, only *regexp.Regexp, verbose func(format string, args ...any)) ([]golden.Result, error) {
	d, err := golden.NewDecoder(filepath.Join(dir, "checkpoint.npz"))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	t := &golden.Tally{Verbose: verbose}
	chosen := func(name string) bool { return only == nil || only.MatchString(name) }
	var file struct{ Models []model }
	if err := golden.ReadJSON(filepath.Join(dir, "index.json"), &file); err != nil {
		return nil, err
	}
	for i := range file.Models {
		m := &file.Models[i]
		name := m.Kind + " " + m.DType
		if !chosen(name) {
			continue
		}
		for j := range m.Runs {
			t.Add(name, fmt.Sprint(j), golden.Guard(func() error { return m.check(d, &m.Runs[j]) }))
		}
	}
	var rules struct{ Rules []rule }
	if err := golden.ReadJSON(filepath.Join(dir, "rules.json"), &rules); err != nil {
		return nil, err
	}
	for i := range rules.Rules {
		if r := &rules.Rules[i]; chosen(r.Kind) {
			t.Add(r.Kind, r.Name, golden.Guard(func() error { return r.check(d) }))
		}
	}
	return t.Results(), nil
}

// model is a Sequential with its runs; the first run of each seed is plain.
type model struct {
	Model       string
	Kind, DType string
	X           json.RawMessage
	Params      map[string]json.RawMessage
	Runs        []modelRun
}

type modelRun struct {
	How         json.RawMessage
	Seed        int64
	Y           json.RawMessage
	GradX       json.RawMessage `json:"grad_x"`
	Grads       map[string]json.RawMessage
	Buffers     map[string]json.RawMessage
	Equal       map[string]bool `json:"equal_to_plain"`
	RandBetween []float64       `json:"rand_between"`
	RandAfter   []float64       `json:"rand_after"`
}

// form says how a run is checkpointed; the zero form is not at all.
type form struct {
	Form      string
	Segments  int
	Reentrant bool  `json:"use_reentrant"`
	Preserve  *bool `json:"preserve_rng_state"`
}

// outcome is what a run leaves behind.
type outcome struct {
	y, gx          *tensor.Tensor
	grads          map[string]*tensor.Tensor
	buffers        map[string]*tensor.Tensor
	between, after []float64
}

// run builds the model and runs it forward and backward.
func (m *model) run(d *golden.Decoder, seed int64, f form) (*outcome, error) {
	d.Reset()
	in, _ := programs.New()
	v, err := in.Eval(constructor(m.Model))
	if err != nil {
		return nil, err
	}
	net, ok := v.(*nn.Sequential)
	if !ok {
		return nil, fmt.Errorf("%s is no Sequential", m.Model)
	}
	nn.ToDType(net, dtype.Parse(m.DType))
	params := map[string]*tensor.Tensor{}
	for n, p := range nn.NamedParameters(net) {
		params[n] = p
		w, err := d.Decode(m.Params[n])
		if err != nil {
			return nil, err
		}
		t, ok := w.(*tensor.Tensor)
		if !ok {
			return nil, fmt.Errorf("no parameter %s", n)
		}
		tensor.CopyRaw(p, t)
	}
	xv, err := d.Decode(m.X)
	if err != nil {
		return nil, err
	}
	x := xv.(*tensor.Tensor).Detach().SetRequiresGrad(true)
	torch.ManualSeed(seed)
	o := &outcome{grads: map[string]*tensor.Tensor{}, buffers: map[string]*tensor.Tensor{}}
	y, err := forward(net, x, f)
	if err != nil {
		return nil, err
	}
	o.y = y.Detach()
	o.between = draws()
	tensor.BackwardAll([]*tensor.Tensor{y}, []*tensor.Tensor{opcheck.Weights(y)}, tensor.BackwardOptions{})
	o.after = draws()
	o.gx = x.Grad()
	for n, p := range params {
		o.grads[n] = p.Grad()
	}
	for n, b := range nn.NamedBuffers(net) {
		o.buffers[n] = b
	}
	return o, nil
}

// constructor turns the text that PyTorch prints for a Sequential into the call that makes one.
func constructor(printed string) string {
	var b strings.Builder
	b.WriteString("nn.Sequential(")
	for _, line := range strings.Split(printed, "\n") {
		_, layer, ok := strings.Cut(line, "): ")
		if !ok {
			continue
		}
		// LayerNorm prints bias, BatchNorm its settings, all by name; inplace=False is the default of each.
		b.WriteString("nn." + layer + ", ")
	}
	b.WriteString(")")
	return b.String()
}

func draws() []float64 {
	t := torch.Rand([]int{3})
	out := make([]float64, 3)
	for i := range out {
		out[i] = t.Select(0, i).Item()
	}
	return out
}

// forward runs the model as the form says.
func forward(net *nn.Sequential, x *tensor.Tensor, f form) (*tensor.Tensor, error) {
	o := autograd.CheckpointOptions{Reentrant: f.Reentrant, NoPreserveRNG: f.Preserve != nil && !*f.Preserve}
	var layers []func(*tensor.Tensor) *tensor.Tensor
	for c := range nn.Children(net) {
		l := c.(nn.Layer)
		layers = append(layers, l.Forward)
	}
	chain := func(fs []func(*tensor.Tensor) *tensor.Tensor) func(*tensor.Tensor) *tensor.Tensor {
		return func(x *tensor.Tensor) *tensor.Tensor {
			for _, f := range fs {
				x = f(x)
			}
			return x
		}
	}
	n := len(layers)
	switch f.Form {
	case "":
		return chain(layers)(x), nil
	case "whole":
		return autograd.Checkpoint1(chain(layers), x, o), nil
	case "seq":
		return autograd.CheckpointSequential(layers, f.Segments, x, o), nil
	case "each":
		for _, l := range layers {
			x = autograd.Checkpoint1(l, x, o)
		}
		return x, nil
	case "mid":
		x = layers[0](x)
		x = autograd.Checkpoint1(chain(layers[1:n-2]), x, o)
		return chain(layers[n-2:])(x), nil
	case "nested":
		return autograd.Checkpoint1(func(x *tensor.Tensor) *tensor.Tensor {
			return chain(layers[3:])(autograd.Checkpoint1(chain(layers[:3]), x, o))
		}, x, o), nil
	}
	return nil, golden.Skip("a form that is not known: " + f.Form)
}

func (m *model) check(d *golden.Decoder, r *modelRun) error {
	var f form
	plain := string(r.How) == `"plain"`
	if !plain {
		if err := json.Unmarshal(r.How, &f); err != nil {
			return err
		}
	}
	got, err := m.run(d, r.Seed, f)
	if err != nil {
		return err
	}
	ref := got
	if !plain {
		if ref, err = m.run(d, r.Seed, form{}); err != nil {
			return err
		}
	}
	for _, x := range []struct {
		name     string
		got, ref *tensor.Tensor
		raw      json.RawMessage
	}{{"y", got.y, ref.y, r.Y}, {"grad_x", got.gx, ref.gx, r.GradX}} {
		if err := same(d, x.name, x.got, x.ref, x.raw, plain || !r.Equal[x.name]); err != nil {
			return err
		}
	}
	for n, g := range got.grads {
		if err := same(d, "gradient of "+n, g, ref.grads[n], r.Grads[n], plain || !r.Equal["grads"]); err != nil {
			return err
		}
	}
	for n, raw := range r.Buffers {
		if err := same(d, "buffer "+n, got.buffers[n], nil, raw, true); err != nil {
			return err
		}
	}
	for i := range 3 {
		if i < len(r.RandBetween) && float32(got.between[i]) != float32(r.RandBetween[i]) {
			return fmt.Errorf("between the passes rand gives %v, want %v", got.between, r.RandBetween)
		}
		if i < len(r.RandAfter) && float32(got.after[i]) != float32(r.RandAfter[i]) {
			return fmt.Errorf("afterwards rand gives %v, want %v", got.after, r.RandAfter)
		}
	}
	return nil
}

// same compares a tensor with the recorded one, or, where the record says that it is that of the plain run, with ours
// bit for bit.
func same(d *golden.Decoder, name string, got, ref *tensor.Tensor, raw json.RawMessage, recorded bool) error {
	if !recorded {
		if got == nil || !got.Equal(ref) {
			return fmt.Errorf("%s differs from that of the plain run", name)
		}
		return nil
	}
	if len(raw) == 0 {
		return nil
	}
	v, err := d.Decode(raw)
	if err != nil {
		return err
	}
	want, ok := v.(*tensor.Tensor)
	if !ok {
		return fmt.Errorf("%s: the record holds no tensor", name)
	}
	if why := golden.Close(got, want, golden.ToleranceOf(want.DType()).Times(4)); why != "" {
		return fmt.Errorf("%s: %s", name, why)
	}
	return nil
}

// rule is a program with what it leaves behind.
type rule struct {
	Name, Kind, Code string
	Out              map[string]json.RawMessage
	Error            *struct{ Type, Message string }
	Warnings         []string
}

func (r *rule) check(d *golden.Decoder) error {
	d.Reset()
	in, h := programs.New()
	torch.ManualSeed(0)
	err := programs.Run(in, h, r.Code)
	if r.Error != nil {
		// Behind the message PyTorch advises on options of its own.
		message, _, _ := strings.Cut(r.Error.Message, "\n\nTip: ")
		message, _, _ = strings.Cut(message, " Hint: ")
		if err := programs.Matches(err, message); err != nil {
			return err
		}
	} else if err != nil {
		return err
	}
	out := in.Globals["out"].(*pylite.Dict)
	for name, raw := range r.Out {
		want, err := d.Decode(raw)
		if err != nil {
			return err
		}
		v, ok := out.Get(name)
		if !ok {
			return fmt.Errorf("%s is not there", name)
		}
		if err := programs.Same(programs.FromPython(v), want, 1); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	for _, w := range r.Warnings {
		first, _, _ := strings.Cut(w, "\n") // what follows is a Python traceback
		if !strings.Contains(strings.Join(h.Warnings, "\n"), first) {
			return fmt.Errorf("no warning %q, got %q", first, h.Warnings)
		}
	}
	return nil
}
