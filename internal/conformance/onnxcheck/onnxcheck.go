// Package onnxcheck runs ONNX models and compares what they compute with recorded results.
//
// A directory is read by what it holds:
//
//   - index.json with the kind "onnx": the golden models, each with calls whose inputs and results lie in an archive;
//   - model.onnx beside folders test_data_set_0, …: the layout of ONNX's own tests, with input_0.pb and output_0.pb;
//   - meta.json: the sha256 of a model, which is looked for among the files of [Files], with cases whose arrays lie in
//     .npy files beside it;
//   - NAME.onnx beside NAME_output_0.pb: ONNX's light models, whose inputs count from 0 to 1;
//   - any other .onnx file: it has to load.
package onnxcheck

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg" // formats of images that models decode
	_ "image/png"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"

	_ "golang.org/x/image/bmp"
	_ "golang.org/x/image/tiff"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/internal/onnxpb"
	"github.com/gotorch-dev/torch/onnx"
	"github.com/gotorch-dev/torch/tensor"
	_ "github.com/gotorch-dev/torch/vision/io" // Portable Pixmaps
)

// Options choose what is run.
type Options struct {
	Only    *regexp.Regexp
	Verbose func(string, ...any)
	Files   string // where the models of meta.json are
	Every   int    // run every n-th test of a directory; 0: all
}

// Run runs the cases of a directory.
func Run(dir string, opt Options) ([]golden.Result, error) {
	r := &runner{opt: opt}
	r.tally.Verbose = opt.Verbose
	if _, err := os.Stat(filepath.Join(dir, "index.json")); err == nil {
		return r.golden(dir)
	}
	var folders, files []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch name := d.Name(); {
		case d.IsDir():
		case name == "meta.json" || name == "model.onnx":
			folders = append(folders, filepath.Dir(path))
		case strings.HasSuffix(name, ".onnx"):
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i, f := range folders {
		if opt.Every > 1 && i%opt.Every != 0 {
			continue
		}
		name := r.name(dir, f)
		if opt.Only != nil && !opt.Only.MatchString(name) {
			continue
		}
		if _, err := os.Stat(filepath.Join(f, "meta.json")); err == nil {
			r.meta(name, f)
		} else {
			r.folder(name, f)
		}
	}
	for i, f := range files {
		if opt.Every > 1 && i%opt.Every != 0 {
			continue
		}
		name := r.name(dir, strings.TrimSuffix(f, ".onnx"))
		if opt.Only == nil || opt.Only.MatchString(name) {
			r.file(name, f)
		}
	}
	return r.tally.Results(), nil
}

type runner struct {
	opt   Options
	tally golden.Tally
	sums  map[string]string // sha256 of the files of opt.Files → path
}

func (r *runner) name(dir, path string) string {
	rel, err := filepath.Rel(dir, path)
	if err != nil || rel == "." {
		return filepath.Base(path)
	}
	return filepath.ToSlash(rel)
}

// open loads a model. What is not supported is skipped.
func open(path string) (*onnx.Model, error) {
	golden.Note(path)
	m, err := onnx.Open(path)
	if errors.Is(err, onnx.ErrUnsupported) {
		return nil, golden.Skip(err.Error())
	}
	return m, err
}

// outputs are what a call must give.
type outputs struct {
	names []string
	vals  []tensor.Value
	tol   func(name string, dt tensor.DType) golden.Tolerance
	// random says that the model draws random numbers: of its outputs dtype and shape are compared.
	random bool
}

// call runs a model once and compares.
func call(m *onnx.Model, inputs map[string]tensor.Value, want outputs) (err error) {
	defer func() {
		if x := recover(); x != nil {
			err = golden.Recovered(x)
		}
	}()
	got, err := m.RunValues(context.Background(), inputs)
	if err != nil && strings.Contains(err.Error(), image.ErrFormat.Error()) {
		return golden.Skip("an image of a format that Go does not read")
	}
	if err != nil {
		return err
	}
	for i, name := range want.names {
		g, ok := got[name]
		if !ok {
			return fmt.Errorf("output %q is missing", name)
		}
		if want.random {
			if g.K == tensor.KTensor && want.vals[i].K == tensor.KTensor {
				if g.T.DType() != want.vals[i].T.DType() || !tensor.SameShape(g.T.Shape(), want.vals[i].T.Shape()) {
					return fmt.Errorf("output %q: %s, want %s", name, g, want.vals[i])
				}
			}
			continue
		}
		if why := compare(g, want.vals[i],
			func(dt tensor.DType) golden.Tolerance { return want.tol(name, dt) }); why != "" {
			return fmt.Errorf("output %q: %s", name, why)
		}
	}
	return nil
}

// compare compares tensors, also of strings, lists of them and None.
func compare(got, want tensor.Value, tol func(tensor.DType) golden.Tolerance) string {
	if want.K == tensor.KNone || got.K == tensor.KNone {
		if got.K != want.K {
			return fmt.Sprintf("got %s, want %s", got, want)
		}
		return ""
	}
	if want.K == tensor.KTensor {
		return golden.Close(got.T, want.T, tol(want.T.DType()))
	}
	if w, ok := want.X.(*graph.Strings); ok {
		if g, ok := got.X.(*graph.Strings); !ok || !slices.Equal(g.Shape, w.Shape) || !slices.Equal(g.Data, w.Data) {
			return fmt.Sprintf("got %v, want %v", got.X, *w)
		}
		return ""
	}
	g, ok := graph.ItemsOf(got)
	w, _ := graph.ItemsOf(want)
	if !ok || len(g) != len(w) {
		return fmt.Sprintf("got %d elements, want %d", len(g), len(w))
	}
	for i := range w {
		if why := compare(g[i], w[i], tol); why != "" {
			return fmt.Sprintf("element %d: %s", i, why)
		}
	}
	return ""
}

// backendTolerance is that of ONNX's own tests.
func backendTolerance(_ string, dt tensor.DType) golden.Tolerance {
	if dt.IsIntOrBool() {
		return golden.Tolerance{}
	}
	return golden.Tolerance{RTol: 1e-3, ATol: 1e-7}
}

// folder runs a folder of ONNX's tests.
func (r *runner) folder(name, dir string) {
	sets, err := filepath.Glob(filepath.Join(dir, "test_data_set_*"))
	if err != nil || len(sets) == 0 {
		r.tally.Add(name, "load", errors.Join(err, errors.New("there is no test_data_set_0")))
		return
	}
	sort.Strings(sets)
	model, err := open(filepath.Join(dir, "model.onnx"))
	for _, set := range sets {
		id := strings.TrimPrefix(filepath.Base(set), "test_data_set_")
		if err != nil {
			r.tally.Add(name, id, err)
			continue
		}
		inputs := map[string]tensor.Value{}
		want := outputs{tol: backendTolerance, random: draws(filepath.Join(dir, "model.onnx"))}
		cerr := func() error {
			for i, p := range model.Inputs() {
				v, ok, err := readValue(filepath.Join(set, fmt.Sprintf("input_%d.pb", i)), p)
				if err != nil {
					return err
				}
				if ok {
					inputs[p.Name] = v
				}
			}
			for i, p := range model.Outputs() {
				v, ok, err := readValue(filepath.Join(set, fmt.Sprintf("output_%d.pb", i)), p)
				if err != nil {
					return err
				}
				if ok {
					want.names, want.vals = append(want.names, p.Name), append(want.vals, v)
				}
			}
			return call(model, inputs, want)
		}()
		r.tally.Add(name, id, cerr)
	}
}

// draws reports a model that draws random numbers. ONNX does not say which generator makes them of a seed.
func draws(path string) bool {
	b, err := golden.ReadFile(path)
	if err != nil {
		return false
	}
	m, err := onnxpb.ReadModel(b)
	if err != nil {
		return false
	}
	for _, n := range m.Graph.Nodes {
		switch n.Op {
		case "Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike":
			return true
		case "Dropout": // in training mode
			if len(n.Inputs) > 2 && n.Inputs[2] != "" {
				return true
			}
		}
	}
	return false
}

// readValue reads a tensor, a sequence or an optional, by the type of the port. ok is false when there is no file.
func readValue(path string, p graph.Port) (v tensor.Value, ok bool, err error) {
	b, err := golden.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return v, false, nil
	}
	if err != nil {
		return v, false, err
	}
	t, optional := p.Type, false
	if t.Kind == graph.OptionalType {
		t, optional = t.Elems[0], true
	}
	if optional {
		// the file holds an OptionalProto, whose members have the numbers of a sequence's
		q, err := onnxpb.ReadOptional(b)
		if err == nil && len(q.Sequences) == 1 && t.Kind == graph.ListType {
			v, err = sequence(q.Sequences[0])
			return v, true, err
		}
		if err == nil && len(q.Tensors) == 1 && t.Kind == graph.TensorType {
			x, err := q.Tensors[0].Decode(nil)
			return tensor.TensorValue(x), true, err
		}
		// what is left is a message of its own for the value, or nothing
		if x, err := onnxpb.ReadTensor(b); t.Kind == graph.TensorType && (err != nil || !x.HasRaw) {
			return v, true, nil
		}
	}
	if t.Kind == graph.ListType {
		q, err := onnxpb.ReadSequence(b)
		if err != nil {
			return v, false, err
		}
		v, err = sequence(q)
		return v, true, err
	}
	x, err := onnxpb.ReadTensor(b)
	if err != nil {
		return v, false, err
	}
	if x.Type == onnxpb.String {
		shape, elems, err := x.DecodeStrings()
		return graph.Box(&graph.Strings{Shape: shape, Data: elems}), true, err
	}
	y, err := x.Decode(nil)
	if errors.Is(err, onnxpb.ErrUnsupported) {
		err = golden.Skip(err.Error())
	}
	return tensor.TensorValue(y), true, err
}

func sequence(q *onnxpb.Sequence) (tensor.Value, error) {
	var items []tensor.Value
	for _, p := range q.Tensors {
		x, err := p.Decode(nil)
		if err != nil {
			return tensor.Value{}, err
		}
		items = append(items, tensor.TensorValue(x))
	}
	return graph.NewList(graph.Tensor, items...), nil
}

// file runs a light model, or loads a model of which nothing else is known.
func (r *runner) file(name, path string) {
	model, err := open(path)
	if err != nil {
		r.tally.Add(name, "load", err)
		return
	}
	stem := strings.TrimSuffix(path, ".onnx")
	want := outputs{tol: backendTolerance}
	for i, p := range model.Outputs() {
		v, ok, err := readValue(fmt.Sprintf("%s_output_%d.pb", stem, i), p)
		if err != nil {
			r.tally.Add(name, "load", err)
			return
		}
		if ok {
			want.names, want.vals = append(want.names, p.Name), append(want.vals, v)
		}
	}
	if len(want.names) == 0 {
		r.tally.Add(name, "load", nil)
		return
	}
	inputs := map[string]tensor.Value{}
	for _, p := range model.Inputs() {
		shape := make([]int, len(p.Shape))
		for i, d := range p.Shape {
			if shape[i] = d.Size; d.Size < 0 || d.Name != "" {
				shape[i] = 1
			}
		}
		n := 1
		for _, d := range shape {
			n *= d
		}
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(float64(i) / float64(n))
		}
		inputs[p.Name] = tensor.TensorValue(tensor.FromSlice(x, shape...))
	}
	r.tally.Add(name, "0", call(model, inputs, want))
}

// record is a model of the golden index.
type record struct {
	Name, File, NPZ, Group string
	Calls                  []struct {
		Inputs        map[string]json.RawMessage
		Out           map[string]json.RawMessage
		MaxDiff       float64 `json:"max_diff"`
		OrtLevelsDiff float64 `json:"ort_levels_diff"`
	}
}

// golden runs the models of an index.
func (r *runner) golden(dir string) ([]golden.Result, error) {
	var index struct {
		Kind   string
		Models []record
	}
	if err := golden.ReadJSON(filepath.Join(dir, "index.json"), &index); err != nil {
		return nil, err
	}
	if index.Kind != "onnx" {
		return nil, fmt.Errorf("%s holds models of the kind %q, want onnx", dir, index.Kind)
	}
	for _, rec := range index.Models {
		if r.opt.Only == nil || r.opt.Only.MatchString(rec.Name) {
			if err := r.record(dir, rec); err != nil {
				return nil, fmt.Errorf("%s: %w", rec.Name, err)
			}
		}
	}
	return r.tally.Results(), nil
}

func (r *runner) record(dir string, rec record) error {
	npz, err := golden.Path(dir, rec.NPZ)
	if err != nil {
		return err
	}
	dec, err := golden.NewDecoder(npz)
	if err != nil {
		return err
	}
	defer dec.Close()
	path, err := golden.Path(dir, rec.File)
	if err != nil {
		return err
	}
	golden.Note(path + ".data")
	model, lerr := open(path)
	for i, c := range rec.Calls {
		id := fmt.Sprint(i)
		if lerr != nil {
			r.tally.Add(rec.Name, id, lerr)
			continue
		}
		inputs := map[string]tensor.Value{}
		want := outputs{tol: func(_ string, dt tensor.DType) golden.Tolerance {
			t := golden.ToleranceOf(dt).Times(10)
			t.ATol += 10 * max(c.MaxDiff, c.OrtLevelsDiff)
			if dt.IsIntOrBool() {
				return golden.Tolerance{}
			}
			return t
		}}
		cerr := func() error {
			for name, raw := range c.Inputs {
				v, err := decode(dec, raw)
				if err != nil {
					return err
				}
				inputs[name] = v
			}
			names := make([]string, 0, len(c.Out))
			for name := range c.Out {
				names = append(names, name)
			}
			sort.Strings(names)
			for _, name := range names {
				v, err := decode(dec, c.Out[name])
				if err != nil {
					return err
				}
				want.names, want.vals = append(want.names, name), append(want.vals, v)
			}
			if rec.Group == "quantized" {
				want.tol = r.steps(path, want)
			}
			return call(model, inputs, want)
		}()
		r.tally.Add(rec.Name, id, cerr)
	}
	return nil
}

func decode(dec *golden.Decoder, raw json.RawMessage) (tensor.Value, error) {
	x, err := dec.Decode(raw)
	if err != nil {
		return tensor.Value{}, err
	}
	if l, ok := x.(golden.List); ok {
		items := make([]tensor.Value, len(l))
		for i, e := range l {
			items[i] = tensor.Box(e)
		}
		return graph.NewList(graph.Tensor, items...), nil
	}
	return tensor.Box(x), nil
}
