package tscheck

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/conformance/golden"
	"github.com/gotorch-dev/torch/internal/dtype"
	"github.com/gotorch-dev/torch/jit"
	"github.com/gotorch-dev/torch/serialize/npy"
	"github.com/gotorch-dev/torch/tensor"
)

// meta is the meta.json of a folder: an archive from elsewhere, found by its SHA-256, with calls whose tensors are .npy
// files in the folder.
type meta struct {
	Archive, SHA256 string
	Methods         []string
	State           [][]any
	Cases           []struct {
		Method        string
		Args, Outputs []leaf
	}
}

// leaf is a tensor in a file or a plain value; its name says where it stands: arg0.1 is an element of a tuple or a
// list, arg0[key] an entry of a dictionary.
type leaf struct {
	Name, File string
	Value      json.RawMessage
	Shape      []int
	DType      string
}

func runFolders(dir string, o Options) ([]golden.Result, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	if o.Files == "" {
		return nil, errors.New("the folders name their archives by SHA-256: -files says where the archives are")
	}
	sums, err := checksums(o.Files)
	if err != nil {
		return nil, err
	}
	tally := &golden.Tally{Verbose: o.Verbose}
	for _, e := range entries {
		if !e.IsDir() || o.Only != nil && !o.Only.MatchString(e.Name()) {
			continue
		}
		if err := runFolder(filepath.Join(dir, e.Name()), e.Name(), sums, tally); err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name(), err)
		}
	}
	return tally.Results(), nil
}

// checksums finds the files below a directory by their SHA-256.
func checksums(dir string) (map[string]string, error) {
	out := map[string]string{}
	return out, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || strings.HasSuffix(path, ".npy") {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		h := sha256.New()
		if _, err := io.Copy(h, f); err != nil {
			return err
		}
		out[hex.EncodeToString(h.Sum(nil))] = path
		return nil
	})
}

func runFolder(dir, name string, sums map[string]string, tally *golden.Tally) error {
	b, err := golden.ReadFile(filepath.Join(dir, "meta.json"))
	if err != nil {
		return err
	}
	var m meta
	if err := json.Unmarshal(b, &m); err != nil {
		return err
	}
	path := sums[m.SHA256]
	if path == "" {
		tally.Add(name, "load", golden.Skip("there is no file with the SHA-256 of "+m.Archive))
		return nil
	}
	golden.Note(path)
	mod, err := load(path, false)
	if err != nil {
		tally.Add(name, "load", Skipped(err))
		return nil
	}
	r := record{Methods: m.Methods, Training: mod.Training()}
	for _, s := range m.State {
		r.StateDict = append(r.StateDict, []any{s[0], strings.TrimPrefix(fmt.Sprint(s[2]), "torch."), s[1]})
	}
	tally.Add(name, "state", r.state(mod))
	for i, c := range m.Cases {
		tally.Add(name, fmt.Sprint(i), Skipped(runCase(dir, mod, c.Method, c.Args, c.Outputs)))
	}
	return nil
}

func runCase(dir string, m *jit.Module, method string, args, outs []leaf) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = golden.Recovered(r)
		}
	}()
	f := m.Method(method)
	if f == nil {
		return fmt.Errorf("there is no method %s", method)
	}
	var in []tensor.Value
	for i, p := range f.Schema.Params[1:] {
		v, ok, err := gather(dir, args, fmt.Sprintf("arg%d", i), p.Type)
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		in = append(in, v)
	}
	var got tensor.Value
	tensor.NoGrad(func() { got, err = m.Call(context.Background(), method, in, nil) })
	if err != nil {
		return err
	}
	want, ok, err := gather(dir, outs, "out", f.Schema.Results[0].Type)
	if err != nil {
		return err
	}
	if !ok {
		return errors.New("there is no recorded result")
	}
	if s := Compare(got, want, 10); s != "" {
		return errors.New(s)
	}
	return nil
}

// gather puts the leaves whose names start with prefix together; t tells lists from tuples.
func gather(dir string, leaves []leaf, prefix string, t *graph.Type) (v tensor.Value, ok bool, err error) {
	if !slices.ContainsFunc(leaves, func(l leaf) bool { return l.under(prefix) }) {
		return v, false, nil
	}
	var items []tensor.Value
	dict := graph.NewDict(nil, nil)
	for t != nil && t.Kind == graph.OptionalType {
		t = t.Elems[0]
	}
	for i := range leaves {
		l := &leaves[i]
		if l.Name == prefix {
			v, err := l.value(dir)
			return v, true, err
		}
		if rest, found := strings.CutPrefix(l.Name, prefix+"["); found {
			key, _, _ := strings.Cut(rest, "]")
			if _, had := dict.Get(tensor.StrValue(key)); had {
				continue
			}
			var elem *graph.Type
			if t != nil && t.Kind == graph.DictType {
				elem = t.Elems[1]
			}
			e, _, err := gather(dir, leaves, prefix+"["+key+"]", elem)
			if err != nil {
				return v, false, err
			}
			dict.Set(tensor.StrValue(key), e)
		}
	}
	if dict.Len() > 0 {
		return graph.Box(dict), true, nil
	}
	for k := 0; ; k++ {
		var elem *graph.Type
		if t != nil && t.Kind == graph.ListType {
			elem = t.Elems[0]
		} else if t != nil && t.Kind == graph.TupleType && k < len(t.Elems) {
			elem = t.Elems[k]
		}
		e, found, err := gather(dir, leaves, fmt.Sprintf("%s.%d", prefix, k), elem)
		if err != nil {
			return v, false, err
		}
		if !found {
			break
		}
		items = append(items, e)
	}
	if items == nil {
		return v, false, nil
	}
	if t != nil && t.Kind == graph.ListType {
		return graph.NewList(nil, items...), true, nil
	}
	return graph.NewTuple(items...), true, nil
}

// under reports a leaf of the value that prefix names.
func (l *leaf) under(prefix string) bool {
	rest, ok := strings.CutPrefix(l.Name, prefix)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

func (l *leaf) value(dir string) (tensor.Value, error) {
	if l.File != "" {
		return readNPY(dir, l.File)
	}
	var d golden.Decoder
	v, err := d.Decode(json.RawMessage(`{"v":` + string(l.Value) + `}`))
	if err != nil {
		return tensor.Value{}, err
	}
	return graph.Normal(tensor.Box(v)), nil
}

// runPairs runs a directory with an index.json that maps names to what they are, tensors NAME.in0.npy, NAME.out0.npy
// and so on, and archives NAME.pt below Options.Files.
func runPairs(dir string, index []byte, o Options) ([]golden.Result, error) {
	var models map[string]json.RawMessage
	if err := json.Unmarshal(index, &models); err != nil {
		return nil, err
	}
	tally := &golden.Tally{Verbose: o.Verbose}
	files := map[string]string{}
	root := o.Files
	if root == "" {
		root = filepath.Dir(dir)
	}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.HasSuffix(path, ".pt") {
			files[strings.TrimSuffix(filepath.Base(path), ".pt")] = path
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, name := range sorted(models) {
		if o.Only != nil && !o.Only.MatchString(name) {
			continue
		}
		if files[name] == "" {
			tally.Add(name, "load", golden.Skip("there is no archive of this name"))
			continue
		}
		tally.Add(name, "0", Skipped(runPair(dir, name, files[name])))
	}
	return tally.Results(), nil
}

func sorted(m map[string]json.RawMessage) []string { return slices.Sorted(maps.Keys(m)) }

// runPair runs forward on the inputs of one archive. The files hold the leaves of the arguments in order: a list gets
// what the parameters behind it leave.
func runPair(dir, name, path string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = golden.Recovered(r)
		}
	}()
	golden.Note(path)
	m, err := load(path, false)
	if err != nil {
		return err
	}
	f := m.Method("forward")
	if f == nil {
		return errors.New("there is no method forward")
	}
	leaves, err := readLeaves(dir, name+".in")
	if err != nil {
		return err
	}
	params := f.Schema.Params[1:]
	var in []tensor.Value
	for i, p := range params {
		if len(leaves) == 0 {
			break
		}
		n := 1
		if p.Type.Kind == graph.ListType {
			n = len(leaves) - (len(params) - i - 1)
		}
		if n < 0 || n > len(leaves) {
			return errors.New("too few inputs")
		}
		if p.Type.Kind == graph.ListType {
			in = append(in, graph.NewList(nil, leaves[:n]...))
		} else {
			in = append(in, leaves[0])
		}
		leaves = leaves[n:]
	}
	var got tensor.Value
	tensor.NoGrad(func() { got, err = m.Call(context.Background(), "forward", in, nil) })
	if err != nil {
		return err
	}
	want, err := readLeaves(dir, name+".out")
	if err != nil {
		return err
	}
	var flat []tensor.Value
	flatten(got, &flat)
	if s := Compare(graph.NewTuple(flat...), graph.NewTuple(want...), 10); s != "" {
		return errors.New(s)
	}
	return nil
}

// flatten lists the tensors and plain values of a result in order.
func flatten(v tensor.Value, out *[]tensor.Value) {
	if items, ok := graph.ItemsOf(v); ok {
		for _, e := range items {
			flatten(e, out)
		}
		return
	}
	if d, ok := v.X.(*graph.Dict); ok {
		d.Each(func(_, e tensor.Value) { flatten(e, out) })
		return
	}
	switch {
	case v.K == tensor.KNone: // has no file
		return
	case v.K == tensor.KTensor && v.T.Dim() == 0: // nor does a file tell it from a number
		v = v.T.Num().Value()
	}
	*out = append(*out, v)
}

// readLeaves reads PREFIX0.npy, PREFIX1.npy, … Arrays of no dimensions are Python's numbers and strings.
func readLeaves(dir, prefix string) ([]tensor.Value, error) {
	var out []tensor.Value
	for i := 0; ; i++ {
		file := fmt.Sprintf("%s%d.npy", prefix, i)
		if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
			return out, nil
		}
		v, err := readNPY(dir, file)
		if err != nil {
			return nil, err
		}
		if v.K == tensor.KTensor && v.T.Dim() == 0 {
			v = v.T.Num().Value()
		}
		out = append(out, v)
	}
}

// readNPY reads a tensor, or a string of numpy's type U.
func readNPY(dir, file string) (tensor.Value, error) {
	path, err := golden.Path(dir, file)
	if err != nil {
		return tensor.Value{}, err
	}
	b, err := golden.ReadFile(path)
	if err != nil {
		return tensor.Value{}, err
	}
	if head, body, ok := bytes.Cut(b, []byte("}")); ok && bytes.Contains(head, []byte("'<U")) {
		_, body, _ = bytes.Cut(body, []byte("\n"))
		var s strings.Builder
		for ; len(body) >= 4; body = body[4:] {
			if r := rune(binary.LittleEndian.Uint32(body)); r != 0 {
				s.WriteRune(r)
			}
		}
		return tensor.StrValue(s.String()), nil
	}
	a, err := npy.Read(bytes.NewReader(b))
	if err != nil {
		return tensor.Value{}, err
	}
	a = a.RowMajor()
	dt := dtype.Parse(a.DType)
	if dt == 0 {
		return tensor.Value{}, fmt.Errorf("%s has dtype %s", file, a.DType)
	}
	t := tensor.New(a.Shape, dt)
	copy(t.Storage().Bytes(), a.Data)
	return tensor.TensorValue(t), nil
}
