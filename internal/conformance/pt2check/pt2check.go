// Package pt2check runs the archives of torch.export and compares what they return with recorded results.
package pt2check

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/export"
	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/internal/conformance/tscheck"
	"github.com/gotorch-dev/torch/tensor"
)

// Options choose what Run does.
type Options struct {
	Only    *regexp.Regexp
	Verbose func(format string, args ...any)
}

// record is one archive of index.json.
type record struct {
	Name, File, NPZ string
	StateDict       [][]any `json:"state_dict"`
	Calls           []call
	BuffersAfter    map[string]json.RawMessage `json:"buffers_after"`
}

type call struct {
	Args    []json.RawMessage
	Kwargs  map[string]json.RawMessage
	Seed    *int64
	Out     json.RawMessage
	Inputs  map[string]json.RawMessage `json:"inputs_after"`
	Buffers map[string]json.RawMessage `json:"buffers_after"`
	Grads   map[string]json.RawMessage
	Error   *struct{ Type, Message, Last string }
}

// limit ends a call that does not come back.
const limit = 2 * time.Minute

func init() {
	// the operators of the library graphs, which the reference data registers for its programs
	tensor.Register(tensor.Def{
		Schema: "graphs::twice(Tensor x) -> Tensor",
		Body:   func(c *tensor.Ctx) { c.Return(c.T(0).MulScalar(2)) },
	})
	tensor.Register(tensor.Def{
		Schema: "graphs::split2(Tensor x, int n) -> (Tensor, Tensor)",
		Body: func(c *tensor.Ctx) {
			x, n := c.T(0), c.Int(1)
			c.Return(x.Narrow(0, 0, n).Clone(), x.Narrow(0, n, x.Size(0)-n).Clone())
		},
	})
}

// Run runs the cases of a directory with an index.json.
func Run(dir string, o Options) ([]golden.Result, error) {
	var index struct{ Models []record }
	if err := golden.ReadJSON(filepath.Join(dir, "index.json"), &index); err != nil {
		return nil, err
	}
	tally := &golden.Tally{Verbose: o.Verbose}
	for i := range index.Models {
		r := &index.Models[i]
		if o.Only != nil && !o.Only.MatchString(r.Name) {
			continue
		}
		if err := r.run(dir, tally); err != nil {
			return nil, fmt.Errorf("%s: %w", r.Name, err)
		}
	}
	return tally.Results(), nil
}

func (r *record) run(dir string, tally *golden.Tally) error {
	npz := ""
	if r.NPZ != "" {
		npz = filepath.Join(dir, r.NPZ)
	}
	d, err := golden.NewDecoder(npz)
	if err != nil {
		return err
	}
	defer d.Close()
	path, err := golden.Path(dir, r.File)
	if err != nil {
		return err
	}
	golden.Note(path)
	var p *export.Program
	err = golden.Guard(func() (err error) {
		p, err = export.LoadFile(path)
		return err
	})
	if err != nil {
		tally.Add(r.Name, "load", tscheck.Skipped(err))
		return nil
	}
	tally.Add(r.Name, "state", r.state(p))
	dec := &tscheck.Decoder{Golden: d, Named: true}
	for i := range r.Calls {
		d.Reset()
		tally.Add(r.Name, strconv.Itoa(i), tscheck.Skipped(golden.Guard(func() error { return r.Calls[i].run(p, dec) })))
	}
	if r.BuffersAfter != nil {
		d.Reset()
		tally.Add(r.Name, "buffers", golden.Guard(func() error { return buffers(p, dec, r.BuffersAfter) }))
	}
	return nil
}

// state compares the state dict with the record.
func (r *record) state(p *export.Program) error {
	var got, want []string
	for _, w := range p.StateDict() {
		got = append(got, fmt.Sprintf("%s %s %s", w.Name, w.Tensor.DType().Name(),
			tensor.ShapeString(w.Tensor.Shape())))
	}
	for _, s := range r.StateDict {
		var shape []int
		for _, x := range s[2].([]any) {
			shape = append(shape, int(x.(float64)))
		}
		want = append(want, fmt.Sprintf("%s %s %s", s[0], s[1], tensor.ShapeString(shape)))
	}
	slices.Sort(want)
	if g, w := strings.Join(got, "; "), strings.Join(want, "; "); g != w {
		return fmt.Errorf("state dict %s, want %s", g, w)
	}
	return nil
}

func (c *call) run(p *export.Program, d *tscheck.Decoder) error {
	args, kwargs, err := d.Arguments(c.Args, c.Kwargs)
	if err != nil {
		return err
	}
	if c.Seed != nil {
		torch.ManualSeed(*c.Seed)
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	var got tensor.Value
	var grads map[string]*tensor.Tensor
	tensor.NoGrad(func() { got, grads, err = p.CallGrads(ctx, args, kwargs) })
	if c.Error != nil {
		return compareError(err, c.Error.Type, c.Error.Message, c.Error.Last)
	}
	if err != nil {
		return err
	}
	want, err := d.Value(c.Out)
	if err != nil {
		return err
	}
	if s := tscheck.Compare(got, want, 10); s != "" {
		return errors.New(s)
	}
	for name, raw := range c.Grads {
		if grads[name] == nil {
			return fmt.Errorf("no gradient of %s", name)
		}
		if err := compare(d, "gradient of "+name, tensor.TensorValue(grads[name]), raw); err != nil {
			return err
		}
	}
	if c.Buffers != nil {
		if err := buffers(p, d, c.Buffers); err != nil {
			return err
		}
	}
	return c.inputsAfter(d, args, kwargs)
}

// inputsAfter compares the leaves of the arguments after a call that writes them.
func (c *call) inputsAfter(d *tscheck.Decoder, args []tensor.Value, kwargs map[string]tensor.Value) error {
	if len(c.Inputs) == 0 {
		return nil
	}
	var leaves []tensor.Value
	for _, v := range args {
		flatten(v, &leaves)
	}
	for _, v := range kwargs {
		flatten(v, &leaves)
	}
	for k, raw := range c.Inputs {
		i, err := strconv.Atoi(k)
		if err != nil || i < 0 || i >= len(leaves) {
			return fmt.Errorf("inputs_after names input %s", k)
		}
		if err := compare(d, "input "+k+" after the call", leaves[i], raw); err != nil {
			return err
		}
	}
	return nil
}

func flatten(v tensor.Value, out *[]tensor.Value) {
	if items, ok := graph.ItemsOf(v); ok {
		for _, e := range items {
			flatten(e, out)
		}
	} else if dict, ok := v.X.(*graph.Dict); ok {
		dict.Each(func(_, e tensor.Value) { flatten(e, out) })
	} else {
		*out = append(*out, v)
	}
}

// buffers compares buffers by name.
func buffers(p *export.Program, d *tscheck.Decoder, want map[string]json.RawMessage) error {
	have := map[string]*tensor.Tensor{}
	for _, w := range append(p.StateDict(), p.Constants()...) {
		have[w.Name] = w.Tensor
	}
	for name, raw := range want {
		if have[name] == nil {
			return fmt.Errorf("no buffer %s", name)
		}
		if err := compare(d, "buffer "+name, tensor.TensorValue(have[name]), raw); err != nil {
			return err
		}
	}
	return nil
}

func compare(d *tscheck.Decoder, what string, got tensor.Value, raw json.RawMessage) error {
	want, err := d.Value(raw)
	if err != nil {
		return err
	}
	if s := tscheck.Compare(got, want, 10); s != "" {
		return fmt.Errorf("%s: %s", what, s)
	}
	return nil
}

// compareError compares the text of an error with PyTorch's. Of one about the structure of the arguments the last line
// counts, or the kind: it names keywords in an order that Go does not have.
func compareError(err error, kind, message, last string) error {
	if err == nil {
		return fmt.Errorf("no error, want %s", last)
	}
	var te *tensor.Error
	var missing *graph.MissingError
	if errors.As(err, &missing) || !errors.As(err, &te) {
		return err
	}
	if got := strings.TrimSpace(te.Msg); got == strings.TrimSpace(message) || got == strings.TrimSpace(last) ||
		kind == "ValueError" && errors.Is(err, export.ErrInput) {
		return nil
	}
	return fmt.Errorf("error %q, want %q", te.Msg, message)
}
