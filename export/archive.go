package export

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/mapfile"
	"github.com/gotorch-dev/torch/internal/torchzip"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/tensor"
)

// The causes of the errors of this package.
var (
	// ErrFormat is about files that are no archives of torch.export, or damaged ones.
	ErrFormat = errors.New("export: no archive of torch.export")
	// ErrUnsupported is about archives that are well formed but use something that is not there.
	ErrUnsupported = errors.New("export: not supported")
	// ErrInput is about arguments that do not have the structure that the program was exported with.
	ErrInput = errors.New("export: arguments do not fit")
	// ErrGuard is about arguments that a guard of the program refuses: a size out of its range, another constant.
	ErrGuard = errors.New("export: a guard failed")
)

// LoadOptions are the options of Load.
type LoadOptions struct {
	// Model is the name of the program in an archive that holds several; "" is for the only one, or else the one of
	// the name "model".
	Model string
	// MaxSteps ends each call after so many steps of the program, with graph.ErrSteps; 0 is for no limit of use. A
	// program from a stranger may loop for ever; a context ends it as well.
	MaxSteps int64
	// MMap maps a file into memory instead of reading it, as serialize.LoadOptions.MMap: each page of the weights is
	// read when it is used, and processes that load one file share their memory. The weights can be written to; the
	// file stays as it is. It must not be cut short while the program is in use.
	MMap bool
	// Winograd allows 3×3 convolutions in float32 to be computed by Winograd's algorithm in Run, where that is faster: in
	// a third to a half of the time on large images, with rounding errors two to five times as large. See
	// torch.SetWinograd.
	Winograd bool
}

// LoadFile reads an archive that torch.export.save has written (.pt2). All of it is in memory when LoadFile returns, or
// with LoadOptions.MMap mapped.
func LoadFile(name string, opts ...LoadOptions) (*Program, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	return loadOpen(name, f, opts)
}

// LoadFS is LoadFile for a file of a file system, such as an embed.FS.
func LoadFS(fsys fs.FS, name string, opts ...LoadOptions) (*Program, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	if r, ok := f.(readerAt); ok {
		return loadOpen(name, r, opts)
	}
	b, err := io.ReadAll(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	p, err := Load(bytes.NewReader(b), int64(len(b)), opts...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}

type readerAt interface {
	fs.File
	io.ReaderAt
}

func loadOpen(name string, f readerAt, opts []LoadOptions) (*Program, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	var r io.ReaderAt = f
	var mapped []byte
	if file, ok := f.(*os.File); ok && len(opts) > 0 && opts[0].MMap {
		if b, err := mapfile.Map(file, st.Size()); err == nil { // otherwise it is read
			r, mapped = bytes.NewReader(b), b
		}
	}
	p, err := load(r, st.Size(), mapped, opts)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}

// Load is LoadFile from memory or an open file of a size. Nothing of the file is executed. An operator that does not
// exist is an error that names it, a *graph.MissingError, unless it stands in a branch or a loop: then it is an error
// of the call that meets it.
func Load(r io.ReaderAt, size int64, opts ...LoadOptions) (*Program, error) {
	return load(r, size, nil, opts)
}

// load reads an archive, which mapped is, too, where it is mapped into memory.
func load(r io.ReaderAt, size int64, mapped []byte, opts []LoadOptions) (p *Program, err error) {
	zr, err := torchzip.NewReader(r, size)
	if err != nil {
		flat, flatErr := torchzip.NewFlatReader(r, size)
		if flatErr != nil || !flat.Has(oldModel) {
			return nil, fmt.Errorf("%w: %w", ErrFormat, err)
		}
		zr = flat
	}
	a := &archive{zr: zr, size: size, mapped: mapped}
	if len(opts) > 0 {
		a.opts = opts[0]
	}
	if tryErr := tensor.Try(func() { p, err = a.load() }); tryErr != nil { // no memory for a tensor, say
		return nil, tryErr
	}
	if err == nil {
		p.fuse.Winograd = a.opts.Winograd
	}
	return p, err
}

type archive struct {
	zr     *torchzip.Reader
	size   int64
	opts   LoadOptions
	mapped []byte // the archive, where it is mapped into memory
}

// The version of model.json that PyTorch 2.15 writes. Another major version means another format.
const (
	schemaMajor = 8
	schemaMinor = 20
)

func (a *archive) load() (*Program, error) {
	if a.zr.Has(oldModel) {
		return a.loadOld()
	}
	model, err := a.model()
	if err != nil {
		return nil, err
	}
	raw, err := a.text("models/" + model + ".json")
	if err != nil {
		return nil, err
	}
	m, err := readModel("models/"+model+".json", raw)
	if err != nil {
		return nil, err
	}
	p := &Program{model: raw, name: model, limit: graph.Options{MaxSteps: a.opts.MaxSteps}, state: map[string]*Weight{}}
	for _, part := range []struct {
		dir, config string
		constants   bool
	}{{"data/weights/", "_weights_config.json", false}, {"data/constants/", "_constants_config.json", true}} {
		if err := a.tensors(p, part.dir, model+part.config, part.constants); err != nil {
			return nil, err
		}
	}
	if entry := "data/sample_inputs/" + model + ".pt"; a.zr.Has(entry) && a.zr.Size(entry)/16 <= a.size {
		if p.samples, err = a.zr.ReadAll(entry); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrFormat, err)
		}
	}
	if err := p.build(m); err != nil {
		return nil, err
	}
	return p, nil
}

// readModel reads model.json, whose later minor versions only add fields.
func readModel(entry string, raw []byte) (*programJSON, error) {
	var m programJSON
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrFormat, entry, err)
	}
	if m.Schema.Major != schemaMajor {
		return nil, fmt.Errorf("%w: %s has schema version %d.%d, version %d can be read: load and save the archive with "+
			"PyTorch 2.6 or later", ErrUnsupported, entry, m.Schema.Major, m.Schema.Minor, schemaMajor)
	}
	return &m, nil
}

// model finds the name of the program.
func (a *archive) model() (string, error) {
	var names []string
	for _, r := range a.zr.Records() {
		if n, ok := strings.CutPrefix(r, "models/"); ok && strings.HasSuffix(n, ".json") && !strings.Contains(n, "/") {
			names = append(names, strings.TrimSuffix(n, ".json"))
		}
	}
	want := a.opts.Model
	switch {
	case len(names) == 0:
		return "", fmt.Errorf("%w: there is no entry models/….json", ErrFormat)
	case want == "" && len(names) == 1:
		return names[0], nil
	case want == "":
		want = "model"
	}
	if !slices.Contains(names, want) {
		return "", fmt.Errorf("%w: there is no program %q; there are %s", ErrInput, want, strings.Join(names, ", "))
	}
	return want, nil
}

// text reads an entry with JSON.
func (a *archive) text(entry string) ([]byte, error) {
	if !a.zr.Has(entry) {
		return nil, fmt.Errorf("%w: there is no entry %s", ErrFormat, entry)
	}
	return a.whole(entry)
}

// whole reads an entry, unless it claims to be far larger than the archive.
func (a *archive) whole(entry string) ([]byte, error) {
	// PyTorch compresses nothing; a program that compresses files again gains a factor of ten or so here.
	if n := a.zr.Size(entry); n > 1<<20 && n/16 > a.size {
		return nil, fmt.Errorf("%w: entry %s inflates to %d bytes, the file has %d", ErrFormat, entry, n, a.size)
	}
	b, err := a.zr.ReadAll(entry)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return b, nil
}

// tensors reads the tensors that a config lists.
func (a *archive) tensors(p *Program, dir, config string, constants bool) error {
	if !a.zr.Has(dir + config) {
		return nil
	}
	b, err := a.text(dir + config)
	if err != nil {
		return err
	}
	var list payloadsJSON
	if err := json.Unmarshal(b, &list); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrFormat, dir+config, err)
	}
	storages := map[string]*tensor.Storage{}
	names := make([]string, 0, len(list.Config))
	for name := range list.Config {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		c := list.Config[name]
		if c == nil {
			return fmt.Errorf("%w: %s: %s has no description", ErrFormat, dir+config, shorten(name))
		}
		w := &Weight{Name: name, Parameter: c.Param, constant: constants}
		switch {
		case strings.HasPrefix(path.Base(c.Path), "custom_obj_"), strings.HasPrefix(path.Base(c.Path), "opaque_obj_"):
			// an object; a program that uses it is refused
		case c.Pickle:
			w.Tensor, err = a.pickled(dir + c.Path)
		default:
			w.Tensor, err = a.tensor(dir, c, storages)
		}
		if err != nil {
			return fmt.Errorf("%w: %s: %s: %w", ErrFormat, dir+config, shorten(name), err)
		}
		if w.Tensor != nil && c.Meta != nil && c.Meta.Grad && !constants &&
			(w.Tensor.DType().IsFloat() || w.Tensor.DType().IsComplex()) {
			w.Tensor.SetRequiresGrad(true)
		}
		p.state[name] = w
	}
	return nil
}

// pickled reads a tensor that is a file of torch.save of its own.
func (a *archive) pickled(entry string) (*tensor.Tensor, error) {
	b, err := a.zr.ReadAll(entry)
	if err != nil {
		return nil, err
	}
	v, err := serialize.Load(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", entry, err)
	}
	t, ok := v.(*tensor.Tensor)
	if !ok {
		return nil, fmt.Errorf("%s holds no tensor", entry)
	}
	return t, nil
}

// tensor cuts a tensor out of a storage, which is read once.
func (a *archive) tensor(dir string, c *payloadJSON, storages map[string]*tensor.Storage) (*tensor.Tensor, error) {
	if c.Meta == nil {
		return nil, fmt.Errorf("it has no tensor_meta")
	}
	dt, err := dtypeOf(c.Meta.DType)
	if err != nil {
		return nil, err
	}
	if c.Meta.Layout != stridedLayout {
		return nil, fmt.Errorf("layout %d: only strided tensors can be read", c.Meta.Layout)
	}
	shape, err := ints(c.Meta.Sizes)
	if err != nil {
		return nil, err
	}
	stride, err := ints(c.Meta.Strides)
	if err != nil {
		return nil, err
	}
	offset, err := ints([]sizeJSON{c.Meta.Offset})
	if err != nil {
		return nil, err
	}
	if len(stride) != len(shape) {
		return nil, fmt.Errorf("%d sizes and %d strides", len(shape), len(stride))
	}
	st := storages[c.Path]
	if st == nil {
		n := a.zr.Size(dir + c.Path)
		if n < 0 {
			return nil, fmt.Errorf("there is no entry %s", dir+c.Path)
		}
		if n > 1<<30 && n/32 > a.size {
			return nil, fmt.Errorf("entry %s inflates to %d bytes, the file has %d", dir+c.Path, n, a.size)
		}
		if st = a.lent(dir+c.Path, n); st == nil {
			st = tensor.New([]int{int(n)}, tensor.Uint8).Storage()
			if err := a.zr.ReadInto(dir+c.Path, st.Bytes()); err != nil {
				return nil, err
			}
		}
		storages[c.Path] = st
	}
	// the last element must lie in the storage, whatever the numbers multiply to
	end, room := offset[0], st.NumBytes()/dt.Size()
	empty := slices.Contains(shape, 0)
	for i, n := range shape {
		if n > 1 && !empty && (stride[i] > room || (n-1) > room && stride[i] > 0 || end > room) {
			return nil, fmt.Errorf("sizes %v and strides %v reach past the %d elements of %s", shape, stride, room,
				c.Path)
		}
		if n > 0 && !empty {
			end += (n - 1) * stride[i]
		}
		if stride[i] == 0 && n > 1<<40 {
			return nil, fmt.Errorf("size %d", n)
		}
	}
	if !empty && end >= room || offset[0] > room {
		return nil, fmt.Errorf("sizes %v and strides %v reach past the %d elements of %s", shape, stride, room, c.Path)
	}
	if empty {
		for _, n := range shape {
			if n > 1<<40 {
				return nil, fmt.Errorf("size %d", n)
			}
		}
	}
	return tensor.FromStorage(st, dt, shape, stride, offset[0]), nil
}

// lent is an entry as a storage in the mapped archive, nil where that cannot be: it is not mapped, the entry is
// compressed, or it does not lie at a multiple of the size of any element.
func (a *archive) lent(entry string, n int64) *tensor.Storage {
	if a.mapped == nil || n == 0 {
		return nil
	}
	off, err := a.zr.Offset(entry)
	if err != nil || off < 0 || off%16 != 0 || off > int64(len(a.mapped))-n {
		return nil
	}
	return tensor.LentStorage(a.mapped[off : off+n : off+n])
}

// ints are sizes that are numbers.
func ints(l []sizeJSON) ([]int, error) {
	out := make([]int, len(l))
	for i := range l {
		if l[i].Int == nil || *l[i].Int < 0 {
			return nil, fmt.Errorf("a size that is no number")
		}
		out[i] = *l[i].Int
	}
	return out, nil
}
