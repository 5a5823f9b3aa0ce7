// Package tscheck runs TorchScript archives and compares what their methods return with recorded results.
package tscheck

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gotorch-dev/torch"
	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/jit"
	"github.com/gotorch-dev/torch/tensor"
)

// Options choose what Run does.
type Options struct {
	Only    *regexp.Regexp
	Verbose func(format string, args ...any)
	// Files is where the archives of a directory lie whose folders name them by their SHA-256 only.
	Files string
	// Through takes each module that is not for the lite interpreter and gives the one to run in its place.
	Through func(m *jit.Module) (*jit.Module, error)
}

// record is one archive of index.json.
type record struct {
	Name, File, Group, NPZ, Lite string
	Methods                      []string
	Training                     bool
	StateDict                    [][]any           `json:"state_dict"`
	Extra                        map[string]string `json:"extra_files"`
	Calls                        []call
}

type call struct {
	Method string
	Args   []json.RawMessage
	Kwargs map[string]json.RawMessage
	Seed   *int64
	Out    json.RawMessage
	After  map[string]json.RawMessage `json:"args_after"`
	Error  *struct{ Type, Message, Last string }
}

// limit ends a call that does not come back.
const limit = 2 * time.Minute

// Run runs the cases of a directory: one with an index.json of records, or one of folders with a meta.json each.
func Run(dir string, o Options) ([]golden.Result, error) {
	b, err := golden.ReadFile(filepath.Join(dir, "index.json"))
	if err != nil {
		return runFolders(dir, o)
	}
	var index struct{ Models []record }
	if err := json.Unmarshal(b, &index); err != nil || index.Models == nil {
		return runPairs(dir, b, o)
	}
	tally := &golden.Tally{Verbose: o.Verbose}
	for i := range index.Models {
		r := &index.Models[i]
		if o.Only != nil && !o.Only.MatchString(r.Name) {
			continue
		}
		if err := r.run(dir, o, tally); err != nil {
			return nil, fmt.Errorf("%s: %w", r.Name, err)
		}
	}
	return tally.Results(), nil
}

// run runs all calls of a record on the archive, and those of forward on the program for the lite interpreter.
func (r *record) run(dir string, o Options, tally *golden.Tally) error {
	npz := ""
	if r.NPZ != "" {
		npz = filepath.Join(dir, r.NPZ)
	}
	d, err := golden.NewDecoder(npz)
	if err != nil {
		return err
	}
	defer d.Close()
	for _, file := range []string{r.File, r.Lite} {
		if file == "" {
			continue
		}
		path, err := golden.Path(dir, file)
		if err != nil {
			return err
		}
		golden.Note(path)
		prefix := ""
		if file == r.Lite {
			prefix = "lite "
		}
		m, err := load(path, file == r.Lite)
		if err != nil {
			tally.Add(r.Name, prefix+"load", Skipped(err))
			continue
		}
		if file == r.File && o.Through != nil {
			if m, err = o.Through(m); err != nil {
				tally.Add(r.Name, "through", err)
				continue
			}
		}
		if file == r.File {
			tally.Add(r.Name, "state", r.state(m))
		}
		dec := &decoder{Decoder{Golden: d, Enum: m.EnumMember}, m}
		for i := range r.Calls {
			c := &r.Calls[i]
			d.Reset()
			if file == r.Lite && (c.Method != "forward" || len(c.Kwargs) > 0) {
				_ = dec.call(c) // it may change the state that later calls see
				continue
			}
			tally.Add(r.Name, fmt.Sprintf("%s%d", prefix, i), Skipped(dec.call(c)))
		}
	}
	return nil
}

// load reads an archive, or the bytecode for the lite interpreter; a panic is an error that says so.
func load(path string, lite bool) (m *jit.Module, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = golden.Recovered(r)
		}
	}()
	if !lite {
		return jit.LoadFile(path)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return jit.LoadLite(bytes.NewReader(b), int64(len(b)))
}

// Skipped turns the error of a program whose operators are not there into a skip.
func Skipped(err error) error {
	var missing *graph.MissingError
	if errors.As(err, &missing) {
		return golden.Skip(missing.Error())
	}
	return err
}

// state compares what the module says of itself with the record.
func (r *record) state(m *jit.Module) error {
	var got []string
	for _, n := range m.StateDict() {
		got = append(got, fmt.Sprintf("%s %s %s", n.Name, n.Tensor.DType().Name(),
			tensor.ShapeString(n.Tensor.Shape())))
	}
	var want []string
	for _, s := range r.StateDict {
		var shape []int
		for _, x := range s[2].([]any) {
			shape = append(shape, int(x.(float64)))
		}
		want = append(want, fmt.Sprintf("%s %s %s", s[0], s[1], tensor.ShapeString(shape)))
	}
	if g, w := strings.Join(got, "; "), strings.Join(want, "; "); g != w {
		return fmt.Errorf("state dict %s, want %s", g, w)
	}
	if m.Training() != r.Training {
		return fmt.Errorf("training is %v, want %v", m.Training(), r.Training)
	}
	for _, name := range r.Methods {
		if m.Method(name) == nil {
			return fmt.Errorf("there is no method %s", name)
		}
	}
	for name, want := range r.Extra {
		if got := m.Metadata()[name]; got != want {
			return fmt.Errorf("extra file %s is %q, want %q", name, got, want)
		}
	}
	return nil
}

// call runs one call and compares its result.
func (d *decoder) call(c *call) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = golden.Recovered(r)
		}
	}()
	switch c.Method {
	case "eval", "train":
		d.m.Train(c.Method == "train")
		return nil
	}
	args, kwargs, err := d.Arguments(c.Args, c.Kwargs)
	if err != nil {
		return err
	}
	if c.Seed != nil {
		torch.ManualSeed(*c.Seed)
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	got, err := d.m.Call(ctx, c.Method, args, kwargs)
	if c.Error != nil {
		return compareError(err, c.Error.Message, c.Error.Last)
	}
	if err != nil {
		return err
	}
	want, err := d.Value(c.Out)
	if err != nil {
		return err
	}
	if s := Compare(got, want, 10); s != "" {
		return errors.New(s)
	}
	for k, raw := range c.After {
		var i int
		if _, err := fmt.Sscan(k, &i); err != nil || i >= len(args) {
			return fmt.Errorf("args_after names argument %s", k)
		}
		want, err := d.Value(raw)
		if err != nil {
			return err
		}
		if s := Compare(args[i], want, 10); s != "" {
			return fmt.Errorf("argument %s after the call: %s", k, s)
		}
	}
	return nil
}

// compareError compares kind and text of an exception.
func compareError(err error, message, last string) error {
	if err == nil {
		return fmt.Errorf("no error, want %s", last)
	}
	got := err.Error()
	var raised *graph.RaisedError
	var te *tensor.Error
	switch {
	case errors.As(err, &raised):
		if got = raised.Text; raised.Class != "" {
			got = raised.Class + ": " + got
		} else {
			got = "RuntimeError: " + got
		}
	case errors.As(err, &te):
		got = te.Msg
	}
	got = strings.TrimSpace(got)
	first, _, _ := strings.Cut(message, "\n")
	for _, want := range []string{last, strings.TrimPrefix(last, "RuntimeError: "), first} {
		if got == strings.TrimSpace(want) {
			return nil
		}
	}
	var missing *graph.MissingError
	if errors.As(err, &missing) {
		return err
	}
	return fmt.Errorf("error %q, want %q", got, last)
}

// Decoder turns recorded values into those of programs.
type Decoder struct {
	Golden *golden.Decoder
	// Enum finds a member of an enumeration, nil when there is none.
	Enum func(class, name string) *graph.Enum
	// Named makes named tuples of tuples whose fields have names.
	Named bool
}

// decoder decodes the values for a module, and calls it.
type decoder struct {
	Decoder
	m *jit.Module
}

// Arguments decodes the arguments of a call, by position and by name.
func (d *Decoder) Arguments(byPosition []json.RawMessage, byName map[string]json.RawMessage) (args []tensor.Value,
	kwargs map[string]tensor.Value, err error) {
	args, kwargs = make([]tensor.Value, len(byPosition)), make(map[string]tensor.Value, len(byName))
	for i, raw := range byPosition {
		if args[i], err = d.Value(raw); err != nil {
			return nil, nil, err
		}
	}
	for name, raw := range byName {
		if kwargs[name], err = d.Value(raw); err != nil {
			return nil, nil, err
		}
	}
	return args, kwargs, nil
}

// Value decodes a value.
func (d *Decoder) Value(raw json.RawMessage) (tensor.Value, error) {
	raw = bytes.TrimSpace(raw)
	var m map[string]json.RawMessage
	if len(raw) == 0 || string(raw) == "null" || json.Unmarshal(raw, &m) != nil {
		return tensor.Value{}, nil
	}
	switch {
	case m["l"] != nil || m["u"] != nil:
		var p []json.RawMessage
		list := m["l"] != nil
		body := m["u"]
		if list {
			body = m["l"]
		}
		if err := json.Unmarshal(body, &p); err != nil {
			return tensor.Value{}, err
		}
		items := make([]tensor.Value, len(p))
		for i, e := range p {
			var err error
			if items[i], err = d.Value(e); err != nil {
				return tensor.Value{}, err
			}
		}
		if list {
			return graph.NewList(nil, items...), nil
		}
		if m["names"] != nil && d.Named {
			return namedTuple(m, items)
		}
		return graph.NewTuple(items...), nil
	case m["obj"] != nil:
		return d.object(m["obj"])
	case m["d"] != nil:
		v, err := d.Golden.Decode(raw) // for the order of the keys
		if err != nil {
			return tensor.Value{}, err
		}
		var entries map[string]json.RawMessage
		if err := json.Unmarshal(m["d"], &entries); err != nil {
			return tensor.Value{}, err
		}
		out := graph.NewDict(nil, nil)
		for _, it := range v.(golden.Dict) {
			e, err := d.Value(entries[it.Key])
			if err != nil {
				return tensor.Value{}, err
			}
			out.Set(tensor.StrValue(it.Key), e)
		}
		return graph.Box(out), nil
	case m["od"] != nil || m["kd"] != nil:
		body := m["od"]
		if body == nil {
			body = m["kd"]
		}
		var p [][2]json.RawMessage
		if err := json.Unmarshal(body, &p); err != nil {
			return tensor.Value{}, err
		}
		out := graph.NewDict(nil, nil)
		for _, e := range p {
			k, err := d.key(e[0])
			if err != nil {
				return tensor.Value{}, err
			}
			v, err := d.Value(e[1])
			if err != nil {
				return tensor.Value{}, err
			}
			out.Set(k, v)
		}
		return graph.Box(out), nil
	case m["enum"] != nil:
		var cls, name string
		if err := errors.Join(json.Unmarshal(m["enum"], &cls), json.Unmarshal(m["name"], &name)); err != nil {
			return tensor.Value{}, err
		}
		if e := d.Enum(cls, name); e != nil {
			return graph.Box(e), nil
		}
		return tensor.Value{}, fmt.Errorf("the archive has no enumeration %s with %s", cls, name)
	}
	v, err := d.Golden.Decode(raw)
	if err != nil {
		return tensor.Value{}, err
	}
	switch x := v.(type) {
	case golden.Unsupported:
		return tensor.Value{}, golden.Skip("a value that is not supported: " + string(x))
	case golden.Layout:
		return tensor.IntValue(0), nil
	}
	return graph.Normal(tensor.Box(v)), nil
}

// namedTuple makes a tuple whose fields have names.
func namedTuple(m map[string]json.RawMessage, items []tensor.Value) (tensor.Value, error) {
	t := &graph.Type{Kind: graph.TupleType}
	if err := json.Unmarshal(m["names"], &t.Fields); err != nil {
		return tensor.Value{}, err
	}
	if m["cls"] != nil {
		if err := json.Unmarshal(m["cls"], &t.Name); err != nil {
			return tensor.Value{}, err
		}
	}
	for range items {
		t.Elems = append(t.Elems, graph.Any)
	}
	return graph.Box(&graph.Tuple{Type: t, Items: items}), nil
}

// object makes an object with the fields of a data class.
func (d *Decoder) object(raw json.RawMessage) (tensor.Value, error) {
	var o struct {
		Cls    string
		Fields map[string]json.RawMessage
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return tensor.Value{}, err
	}
	c := graph.NewClass(o.Cls, graph.ClassType)
	for _, name := range slices.Sorted(maps.Keys(o.Fields)) {
		c.AddAttr(graph.Attr{Name: name, Type: graph.Any})
	}
	x := graph.NewObject(c)
	for name, f := range o.Fields {
		v, err := d.Value(f)
		if err != nil {
			return tensor.Value{}, err
		}
		x.SetAttr(name, v)
	}
	return graph.Box(x), nil
}

// key is a key of a dictionary: an encoded value, or plain JSON.
func (d *Decoder) key(raw json.RawMessage) (tensor.Value, error) {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return tensor.Value{}, err
	}
	if s, ok := v.(string); ok {
		return tensor.StrValue(s), nil
	}
	return d.Value(raw)
}

// Compare tells how a result differs from the recorded one, "" when it does not. The tolerance for tensors is that of
// torch.testing.assert_close times a factor.
func Compare(got, want tensor.Value, factor float64) string {
	number := func(v tensor.Value) bool { return v.K == tensor.KFloat || v.K == tensor.KInt || v.K == tensor.KComplex }
	switch {
	case want.K == tensor.KTensor:
		if got.K != tensor.KTensor {
			return fmt.Sprintf("got %s, want a tensor", graph.Text(got))
		}
		return golden.Close(got.T, want.T, golden.ToleranceOf(want.T.DType()).Times(factor))
	case number(want) && got.K == want.K:
		g, w := got.Num(), want.Num()
		if want.K == tensor.KInt {
			if g.I != w.I {
				return fmt.Sprintf("got %d, want %d", g.I, w.I)
			}
			return ""
		}
		return golden.Close(tensor.FromSlice([]complex128{g.C}, 1), tensor.FromSlice([]complex128{w.C}, 1),
			golden.Tolerance{RTol: 1e-7, ATol: 1e-9}.Times(factor))
	}
	if w, ok := graph.ItemsOf(want); ok {
		g, ok := graph.ItemsOf(got)
		if !ok || fmt.Sprintf("%T", got.X) != fmt.Sprintf("%T", want.X) {
			return fmt.Sprintf("got %s, want %s", kind(got), kind(want))
		}
		if len(g) != len(w) {
			return fmt.Sprintf("got %d elements, want %d", len(g), len(w))
		}
		for i := range w {
			if s := Compare(g[i], w[i], factor); s != "" {
				return fmt.Sprintf("element %d: %s", i, s)
			}
		}
		return ""
	}
	if w, ok := want.X.(*graph.Dict); ok {
		g, ok := got.X.(*graph.Dict)
		if !ok || g.Len() != w.Len() {
			return fmt.Sprintf("got %s, want %s", graph.Text(got), graph.Text(want))
		}
		s := ""
		w.Each(func(k, v tensor.Value) {
			x, ok := g.Get(k)
			if !ok {
				s = "no entry " + graph.Text(k)
			} else if t := Compare(x, v, factor); t != "" && s == "" {
				s = fmt.Sprintf("entry %s: %s", graph.Text(k), t)
			}
		})
		return s
	}
	if w, ok := want.X.(*graph.Object); ok {
		return compareObjects(got, w, factor)
	}
	if got.K != want.K || !graph.Equal(got, want) {
		return fmt.Sprintf("got %s, want %s", graph.Text(got), graph.Text(want))
	}
	return ""
}

// compareObjects compares the fields of data classes.
func compareObjects(got tensor.Value, want *graph.Object, factor float64) string {
	g, ok := got.X.(*graph.Object)
	if !ok || len(g.Class.Attrs) != len(want.Class.Attrs) {
		return fmt.Sprintf("got %s, want an object of %s", graph.Text(got), want.Class.Name)
	}
	for i, a := range want.Class.Attrs {
		v, ok := g.Attr(a.Name)
		if !ok {
			return "no field " + a.Name
		}
		if s := Compare(v, want.Slots[i], factor); s != "" {
			return fmt.Sprintf("field %s: %s", a.Name, s)
		}
	}
	return ""
}

func kind(v tensor.Value) string { return graph.TypeOf(v).String() }
