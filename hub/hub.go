package hub

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/serialize"
)

// Args are the arguments of an entry point, of the kinds that JSON has: bool, float64, string, nil, []any, map.
type Args map[string]any

// EntryPoint makes models.
type EntryPoint struct {
	// Doc says what the model is, and what arguments New takes.
	Doc string
	// New makes the model. Arguments that it does not know are an error of its own.
	New func(args Args) (nn.Module, error)
}

var entries struct {
	sync.Mutex
	byName map[string]EntryPoint
}

// Register makes a function known under a name that manifests may use, as a rule in an init function. It panics where
// the name is taken.
func Register(name string, e EntryPoint) {
	entries.Lock()
	defer entries.Unlock()
	if _, taken := entries.byName[name]; taken || name == "" || e.New == nil {
		panic(fmt.Sprintf("hub: Register(%q): the name is empty or taken, or there is no function", name))
	}
	if entries.byName == nil {
		entries.byName = map[string]EntryPoint{}
	}
	entries.byName[name] = e
}

// Registered lists the names of the entry points of this program.
func Registered() []string {
	entries.Lock()
	defer entries.Unlock()
	return slices.Sorted(maps.Keys(entries.byName))
}

func entryPoint(name string) (EntryPoint, bool) {
	entries.Lock()
	defer entries.Unlock()
	e, ok := entries.byName[name]
	return e, ok
}

// ManifestName is the name of the manifest in a repository.
const ManifestName = "hubconf.json"

// maxManifest bounds the size of a manifest.
const maxManifest = 16 << 20

type manifest struct {
	Models map[string]model `json:"models"`
}

type model struct {
	Entry   string             `json:"entry"`
	Doc     string             `json:"doc"`
	Args    Args               `json:"args"`
	Default string             `json:"default"`
	Weights map[string]weights `json:"weights"`
}

type weights struct {
	File   string   `json:"file"`
	SHA256 string   `json:"sha256"`
	Entry  []string `json:"entry"` // keys within a checkpoint
}

// Options are the options of List, Help and Load.
type Options struct {
	// Weights names the weights of the manifest; "" means the default ones, "none" leaves the model as it was made.
	Weights string
	// Args are put over the arguments of the manifest.
	Args Args
	// Load are the options with which the weights are read.
	Load serialize.LoadOptions
	// NonStrict loads weights whose names and shapes do not all fit; see nn.LoadMatching.
	NonStrict bool
	// Progress is told of the download of weights.
	Progress func(done, total int64)
	// Client makes the requests; nil means http.DefaultClient.
	Client *http.Client
}

func isAddress(s string) bool {
	return strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://")
}

// read reads the manifest of a repository. The manifest of an address is asked for each time, so that there is no
// outdated one.
func read(ctx context.Context, source string, o Options) (*manifest, error) {
	var b []byte
	var err error
	if isAddress(source) {
		if b, err = fetch(ctx, source, o); err != nil {
			return nil, err
		}
	} else {
		f, err := os.Open(filepath.Join(source, ManifestName))
		if err != nil {
			return nil, fmt.Errorf("hub: %w", err)
		}
		defer func() { _ = f.Close() }() // only read
		if b, err = io.ReadAll(io.LimitReader(f, maxManifest+1)); err != nil {
			return nil, fmt.Errorf("hub: %w", err)
		}
	}
	var m manifest
	d := json.NewDecoder(bytes.NewReader(b))
	if err := d.Decode(&m); err != nil || len(b) > maxManifest {
		if err == nil {
			err = fmt.Errorf("more than %d bytes", maxManifest)
		}
		return nil, fmt.Errorf("hub: %s of %s: %w", ManifestName, source, err)
	}
	if len(m.Models) == 0 {
		return nil, fmt.Errorf("hub: %s of %s names no models", ManifestName, source)
	}
	return &m, nil
}

func fetch(ctx context.Context, source string, o Options) ([]byte, error) {
	dir, err := os.MkdirTemp("", "gotorch-hub")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // a folder of our own
	address, err := url.JoinPath(source, ManifestName)
	if err != nil {
		return nil, fmt.Errorf("hub: %w", err)
	}
	file := filepath.Join(dir, ManifestName)
	if err := Download(ctx, address, file, DownloadOptions{Client: o.Client, MaxBytes: maxManifest}); err != nil {
		return nil, err
	}
	return os.ReadFile(file)
}

// find finds a model in the manifest.
func find(ctx context.Context, source, name string, o Options) (*model, error) {
	m, err := read(ctx, source, o)
	if err != nil {
		return nil, err
	}
	x, ok := m.Models[name]
	if !ok {
		return nil, fmt.Errorf("hub: %s has no model %q: it has %s", source, name,
			strings.Join(slices.Sorted(maps.Keys(m.Models)), ", "))
	}
	return &x, nil
}

func first(opts []Options) (o Options) {
	if len(opts) > 0 {
		o = opts[0]
	}
	return o
}

// List lists the models of a repository, a local folder or an address of HTTP or HTTPS. It is torch.hub.list.
func List(ctx context.Context, source string, opts ...Options) ([]string, error) {
	m, err := read(ctx, source, first(opts))
	if err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(m.Models)), nil
}

// Help says what a model of a repository is, with its weights. It is torch.hub.help.
func Help(ctx context.Context, source, name string, opts ...Options) (string, error) {
	x, err := find(ctx, source, name, first(opts))
	if err != nil {
		return "", err
	}
	doc := x.Doc
	if e, ok := entryPoint(x.entry(name)); ok && doc == "" {
		doc = e.Doc
	}
	var b strings.Builder
	b.WriteString(doc)
	for _, w := range slices.Sorted(maps.Keys(x.Weights)) {
		fmt.Fprintf(&b, "\nweights %q: %s", w, x.Weights[w].File)
		if w == x.Default {
			b.WriteString(" (default)")
		}
	}
	return strings.TrimPrefix(b.String(), "\n"), nil
}

func (x *model) entry(name string) string {
	if x.Entry != "" {
		return x.Entry
	}
	return name
}

// Load makes a model of a repository with its weights, which it downloads into the cache where the repository is an
// address. The function that makes the model is one that the program has registered under the name in the manifest. It
// is torch.hub.load, but that nothing of the repository is run.
func Load(ctx context.Context, source, name string, opts ...Options) (nn.Module, error) {
	o := first(opts)
	x, err := find(ctx, source, name, o)
	if err != nil {
		return nil, err
	}
	e, ok := entryPoint(x.entry(name))
	if !ok {
		return nil, fmt.Errorf("hub: %s of %s is made by the entry point %q, which this program has not registered; "+
			"it has %q",
			name, source, x.entry(name), Registered())
	}
	args := Args{}
	maps.Copy(args, x.Args)
	maps.Copy(args, o.Args)
	m, err := e.New(args)
	if err != nil {
		return nil, fmt.Errorf("hub: %s: %w", name, err)
	}
	which := o.Weights
	if which == "" {
		which = x.Default
	}
	if which == "none" || which == "" && len(x.Weights) == 0 {
		return m, nil
	}
	w, ok := x.Weights[which]
	if !ok {
		return nil, fmt.Errorf("hub: %s of %s has no weights %q: it has %s", name, source, which,
			strings.Join(slices.Sorted(maps.Keys(x.Weights)), ", "))
	}
	file, err := w.path(ctx, source, o)
	if err != nil {
		return nil, err
	}
	load := o.Load
	if load.Entry == nil {
		load.Entry = w.Entry
	}
	sd, err := loadStateDict(file, load)
	if err != nil {
		return nil, err
	}
	if o.NonStrict {
		_, err = nn.LoadMatching(m, sd)
	} else {
		err = nn.LoadStateDict(m, sd)
	}
	if err != nil {
		return nil, fmt.Errorf("hub: weights %q of %s: %w", which, name, err)
	}
	return m, nil
}

// path is where the weights lie, in the repository or in the cache.
func (w *weights) path(ctx context.Context, source string, o Options) (string, error) {
	address := w.File
	if !isAddress(address) {
		if !filepath.IsLocal(filepath.FromSlash(w.File)) || strings.ContainsAny(w.File, "\\?#%") {
			return "", fmt.Errorf("hub: the manifest of %s names the file %q: want a path below it or an address",
				source, w.File)
		}
		if !isAddress(source) {
			file := filepath.Join(source, filepath.FromSlash(w.File))
			if _, err := os.Stat(file); err != nil {
				return "", fmt.Errorf("hub: %w", err)
			}
			if !hasHash(file, w.SHA256) {
				return "", fmt.Errorf("hub: %s: %w: expected %q", file, ErrHash, w.SHA256)
			}
			return file, nil
		}
		var err error
		if address, err = url.JoinPath(source, w.File); err != nil {
			return "", fmt.Errorf("hub: %w", err)
		}
	}
	if strings.Trim(strings.ToLower(w.SHA256), "0123456789abcdef") != "" {
		return "", errors.New("hub: the manifest's sha256 is no hexadecimal number")
	}
	return cached(ctx, address, LoadOptions{CheckHash: true, DownloadOptions: DownloadOptions{HashPrefix: w.SHA256,
		Progress: o.Progress, Client: o.Client}})
}
