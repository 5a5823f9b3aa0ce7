package jit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/gotorch-dev/torch/graph"
	"github.com/gotorch-dev/torch/internal/mapfile"
	"github.com/gotorch-dev/torch/internal/torchzip"
	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/serialize"
	"github.com/gotorch-dev/torch/tensor"
)

// LoadOptions are the options of Load.
type LoadOptions struct {
	// MapLocation says on which device a storage is to be: see serialize.LoadOptions.
	MapLocation func(location string) (d tensor.Device, ok bool)
	// MMap maps a file into memory instead of reading it: see serialize.LoadOptions.
	MMap bool
	// Winograd allows 3×3 convolutions in float32 to be computed by Winograd's algorithm in calls that record no
	// gradients, where that is faster: in a third to a half of the time on large images, with rounding errors two to
	// five times as large. See torch.SetWinograd.
	Winograd bool
}

// ErrFormat is wrapped by the errors about files that are no TorchScript archives, or damaged ones.
var ErrFormat = errors.New("jit: no TorchScript archive")

// The versions of the format that this package reads.
const (
	minVersion = 1
	maxVersion = 10
)

// LoadFile reads a TorchScript archive that torch.jit.save has written, or a program for the lite interpreter. All of
// it is in memory when LoadFile returns, or with LoadOptions.MMap mapped: then each page is read when it is used, and
// processes that load one file share the memory of its weights.
func LoadFile(path string, opts ...LoadOptions) (*Module, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return loadOpen(path, f, opts)
}

// LoadFS is LoadFile for a file of a file system, such as an embed.FS.
func LoadFS(fsys fs.FS, name string, opts ...LoadOptions) (*Module, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	if r, ok := f.(interface {
		fs.File
		io.ReaderAt
	}); ok {
		return loadOpen(name, r, opts)
	}
	b, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, err
	}
	m, err := Load(strings.NewReader(string(b)), int64(len(b)), opts...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return m, nil
}

func loadOpen(path string, f interface {
	fs.File
	io.ReaderAt
}, opts []LoadOptions) (*Module, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	var mapped []byte
	if file, ok := f.(*os.File); ok && len(opts) > 0 && opts[0].MMap {
		if mapped, err = mapfile.Map(file, st.Size()); err != nil {
			mapped = nil // it is read
		}
	}
	m, err := loadArchive(f, st.Size(), mapped, false, opts)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// LoadLite is Load by the bytecode of an archive that was saved for the lite interpreter, whether or not it has code as
// well. Load itself takes the bytecode only where there is no code. Methods have the types that the bytecode tells.
func LoadLite(r io.ReaderAt, size int64, opts ...LoadOptions) (*Module, error) {
	return loadArchive(r, size, nil, true, opts)
}

// Load is LoadFile from memory or an open file of a size. Nothing of the file is executed but the registered operators
// and the __setstate__ methods of its objects, whose number of steps is bounded. Operators that do not exist here are
// no error of Load: the methods that call them are refused, with a *graph.MissingError, when they are called.
func Load(r io.ReaderAt, size int64, opts ...LoadOptions) (*Module, error) {
	return loadArchive(r, size, nil, false, opts)
}

// loadArchive reads an archive, which mapped is, too, where it is mapped into memory.
func loadArchive(r io.ReaderAt, size int64, mapped []byte, lite bool, opts []LoadOptions) (*Module, error) {
	if mapped != nil {
		r = bytes.NewReader(mapped)
	}
	zr, err := torchzip.NewReader(r, size)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	a := &archive{zr: zr, lite: lite, mapped: mapped}
	if len(opts) > 0 {
		a.opts = opts[0]
	}
	return a.load()
}

type archive struct {
	zr      *torchzip.Reader
	opts    LoadOptions
	version int
	unit    *unit
	lite    bool   // the bytecode is wanted
	mapped  []byte // the archive, where it is mapped into memory
}

// mostCode bounds the code of one file of an archive.
const mostCode = 64 << 20

func (a *archive) text(entry string) (string, bool, error) {
	if !a.zr.Has(entry) {
		return "", false, nil
	}
	if n := a.zr.Size(entry); n > mostCode {
		return "", false, fmt.Errorf("%w: entry %s has %d bytes", ErrFormat, entry, n)
	}
	b, err := a.zr.ReadAll(entry)
	if err != nil {
		return "", false, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return string(b), true, nil
}

func (a *archive) load() (*Module, error) {
	if err := a.readVersion(); err != nil {
		return nil, err
	}
	a.unit = newUnit(a.text)
	a.unit.version, a.unit.fuse.Winograd = a.version, a.opts.Winograd
	p := newUnpickler(a.unit, serialize.LoadOptions{MapLocation: a.opts.MapLocation})
	p.tensors.Mapped(a.mapped)
	if err := a.readConstants(p); err != nil {
		return nil, err
	}
	if !a.zr.Has("data.pkl") {
		return nil, fmt.Errorf("%w: there is no entry data.pkl", ErrFormat)
	}
	if a.lite || !a.hasCode() && a.zr.Has("bytecode.pkl") {
		p.lite, a.unit.lite = true, true
		if err := a.readBytecode(p); err != nil {
			return nil, err
		}
	}
	root, err := a.unpickle(p, "data.pkl", "data/")
	if err != nil {
		return nil, err
	}
	obj, ok := root.X.(*graph.Object)
	if !ok {
		return nil, fmt.Errorf("%w: data.pkl holds no object of a class of the archive but data, such as weights, which "+
			"serialize.LoadStateDict reads", ErrFormat)
	}
	if !p.lite {
		if err := a.unit.translateAll(); err != nil {
			return nil, err
		}
	}
	if err := p.setStates(); err != nil {
		return nil, err
	}
	m := a.unit.module(obj)
	m.meta = a.metadata()
	return nn.New(m), nil
}

func (a *archive) hasCode() bool {
	for _, name := range a.zr.Records() {
		if strings.HasPrefix(name, "code/") && strings.HasSuffix(name, ".py") {
			return true
		}
	}
	return false
}

func (a *archive) readVersion() error {
	for _, entry := range []string{"version", ".data/version"} {
		s, ok, err := a.text(entry)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		v, err := strconv.Atoi(strings.TrimSpace(s))
		if err != nil {
			return fmt.Errorf("%w: version %.20q", ErrFormat, s)
		}
		if v < minVersion || v > maxVersion {
			return fmt.Errorf("%w: version %d, versions %d to %d can be read", ErrFormat, v, minVersion, maxVersion)
		}
		a.version = v
		return nil
	}
	return fmt.Errorf("%w: there is no entry version", ErrFormat)
}

// readConstants reads the constants that the code names: a tuple in constants.pkl, single tensors in old archives.
func (a *archive) readConstants(p *unpickler) error {
	if !a.zr.Has("constants.pkl") {
		return nil
	}
	v, err := a.unpickle(p, "constants.pkl", "constants/")
	if err != nil {
		return err
	}
	items, ok := graph.ItemsOf(v)
	if !ok {
		return fmt.Errorf("%w: constants.pkl holds no tuple", ErrFormat)
	}
	a.unit.constants = items
	return nil
}

func (a *archive) unpickle(p *unpickler, entry, prefix string) (tensor.Value, error) {
	v, err := torchzip.LoadRecord(a.zr, entry, prefix, torchzip.LoadOptions{})
	if err != nil {
		return tensor.Value{}, fmt.Errorf("%w: %s: %w", ErrFormat, entry, err)
	}
	out, err := p.value(v, nil)
	if err != nil {
		return tensor.Value{}, fmt.Errorf("%s: %w", entry, err)
	}
	return out, nil
}

func (a *archive) metadata() map[string]string {
	m := map[string]string{"format": "TorchScript", "version": strconv.Itoa(a.version)}
	for _, entry := range a.zr.Records() {
		if name, ok := strings.CutPrefix(entry, "extra/"); ok && a.zr.Size(entry) < 1<<16 {
			if s, _, err := a.text(entry); err == nil {
				m[name] = s
			}
		}
	}
	return m
}

// translateAll translates every function that has been declared, and those that their bodies name.
func (u *unit) translateAll() error {
	for len(u.queue) > 0 {
		f := u.queue[0]
		u.queue = u.queue[1:]
		if err := f.translate(); err != nil {
			return err
		}
	}
	return nil
}
