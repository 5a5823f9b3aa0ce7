package hub

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gotorch-dev/torch/nn"
	"github.com/gotorch-dev/torch/serialize"
)

func init() {
	pause = time.Millisecond
	Register("linear", EntryPoint{Doc: "A linear layer; in, out: sizes.", New: func(a Args) (nn.Module, error) {
		in, ok1 := a["in"].(float64)
		out, ok2 := a["out"].(float64)
		if !ok1 || !ok2 {
			return nil, errors.New("want in and out")
		}
		return nn.NewLinear(int(in), int(out)), nil
	}})
}

// content is a file of some size.
func content(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i * i >> 3)
	}
	return b
}

func hashOf(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// flaky serves a file and breaks off after some bytes of each request. How it resumes is up to the test.
type flaky struct {
	data     []byte
	each     int // bytes of a request
	ranges   bool
	tag      string
	requests atomic.Int32
	change   bool // another file from the second request on
}

func (f *flaky) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := f.requests.Add(1)
	data, from := f.data, 0
	if f.change && n > 1 {
		data = bytes.Repeat([]byte{7}, len(data))
	}
	if f.tag != "" {
		w.Header().Set("ETag", f.tag)
	}
	if s := r.Header.Get("Range"); s != "" && f.ranges {
		if _, err := fmt.Sscanf(s, "bytes=%d-", &from); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, len(data)-1, len(data)))
		w.Header().Set("Content-Length", fmt.Sprint(len(data)-from))
		w.WriteHeader(http.StatusPartialContent)
	} else {
		w.Header().Set("Content-Length", fmt.Sprint(len(data)))
	}
	end := min(len(data), from+f.each)
	_, _ = w.Write(data[from:end]) // the client may have gone
	if end < len(data) {
		if fl, ok := w.(http.Flusher); ok {
			fl.Flush()
		}
		panic(http.ErrAbortHandler) // cuts the connection
	}
}

// TestDownload downloads over connections that break off. A failure leaves neither a file nor a part of one.
func TestDownload(t *testing.T) {
	data := content(300_000)
	sum := hashOf(data)
	for _, c := range []struct {
		name   string
		server *flaky
		opts   DownloadOptions
		says   string
	}{
		{"whole", &flaky{each: 1 << 20}, DownloadOptions{HashPrefix: sum[:8]}, ""},
		{"without a hash", &flaky{each: 1 << 20}, DownloadOptions{}, ""},
		{"resumed", &flaky{each: 70_000, ranges: true, tag: `"a"`}, DownloadOptions{HashPrefix: sum}, ""},
		{"resumed without a tag", &flaky{each: 70_000, ranges: true}, DownloadOptions{HashPrefix: strings.ToUpper(sum)},
			""},
		{"without ranges, never whole", &flaky{each: 299_999}, DownloadOptions{HashPrefix: sum}, "bytes are there"},
		{"without ranges and hash", &flaky{each: 200_000}, DownloadOptions{}, "does not send the rest"},
		{"another file on the way", &flaky{each: 200_000, ranges: true, change: true}, DownloadOptions{HashPrefix: sum},
			"the hash of the file is wrong"},
		{"another hash", &flaky{each: 1 << 20}, DownloadOptions{HashPrefix: "00"}, "the hash of the file is wrong"},
		{"too large", &flaky{each: 1 << 20}, DownloadOptions{MaxBytes: 1000}, "at most 1000"},
		{"never a byte", &flaky{each: 0}, DownloadOptions{HashPrefix: sum}, "0 bytes are there"},
	} {
		c.server.data = data
		srv := httptest.NewServer(c.server)
		dir := t.TempDir()
		file := filepath.Join(dir, "sub", "x.bin")
		var last int64
		c.opts.Progress = func(done, total int64) {
			if done < last || total != int64(len(data)) {
				t.Errorf("%s: progress %d of %d after %d", c.name, done, total, last)
			}
			last = done
		}
		err := Download(t.Context(), srv.URL+"/x.bin", file, c.opts)
		srv.Close()
		if c.says == "" {
			got, rerr := os.ReadFile(file)
			if err != nil || rerr != nil || !bytes.Equal(got, data) || last != int64(len(data)) {
				t.Errorf("%s: %v, %v, %d bytes", c.name, err, rerr, len(got))
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, want %s", c.name, err, c.says)
		}
		if left, _ := os.ReadDir(filepath.Join(dir, "sub")); len(left) > 0 {
			t.Errorf("%s: left %v behind", c.name, left)
		}
	}
	for _, address := range []string{"ftp://x/y", "file:///etc/passwd", "x", "http://", ":"} {
		if err := Download(t.Context(), address, filepath.Join(t.TempDir(), "x")); err == nil {
			t.Errorf("%s was downloaded", address)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter,
		*http.Request) {
		cancel()
		panic(http.ErrAbortHandler)
	}))
	defer srv.Close()
	if err := Download(ctx, srv.URL, filepath.Join(t.TempDir(), "x")); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	gone := httptest.NewServer(http.NotFoundHandler())
	defer gone.Close()
	if err := Download(t.Context(), gone.URL, filepath.Join(t.TempDir(), "x")); err == nil ||
		!strings.Contains(err.Error(), "404") {
		t.Errorf("404: %v", err)
	}
}

// TestDir finds the cache where PyTorch has it.
func TestDir(t *testing.T) {
	t.Setenv("TORCH_HOME", "")
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("HOME", "/h")
	check := func(want string) {
		t.Helper()
		if d, err := Dir(); err != nil || filepath.ToSlash(d) != want {
			t.Errorf("%s, %v; want %s", d, err, want)
		}
	}
	if home, err := os.UserHomeDir(); err == nil && home == "/h" {
		check("/h/.cache/torch/hub")
	}
	t.Setenv("XDG_CACHE_HOME", "/c")
	check("/c/torch/hub")
	t.Setenv("TORCH_HOME", "/t")
	check("/t/hub")
	SetDir("/own")
	check("/own")
	SetDir("")
	check("/t/hub")
}

// repository makes a folder with a manifest and the weights of two linear layers.
func repository(t *testing.T) (dir string, weights []byte) {
	t.Helper()
	dir = t.TempDir()
	file := filepath.Join(dir, "w", "linear.pt")
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := serialize.SaveFile(file, serialize.NewDict("model", nn.NewLinear(2, 3).StateDict())); err != nil {
		t.Fatal(err)
	}
	weights, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(`{"models": {
		"small": {"entry": "linear", "doc": "Small.", "args": {"in": 2, "out": 3}, "default": "a",
			"weights": {"a": {"file": "w/linear.pt", "sha256": %q, "entry": ["model"]},
				"bad": {"file": "w/linear.pt", "sha256": "00"}, "out": {"file": "../x.pt"}, "no": {"file": "w/no.pt"}}},
		"linear": {}, "unknown": {"entry": "os.system"}}}`, hashOf(weights)[:10])
	if err := os.WriteFile(filepath.Join(dir, ManifestName), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir, weights
}

// TestLoad lists, explains and loads from a folder and from a server, by the cache where it can.
func TestLoad(t *testing.T) {
	cache := t.TempDir()
	SetDir(cache)
	defer SetDir("")
	dir, weights := repository(t)
	var requests atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ".pt") {
			requests.Add(1)
		}
		http.FileServer(http.Dir(dir)).ServeHTTP(w, r)
	}))
	defer srv.Close()
	want, err := serialize.LoadStateDict(filepath.Join(dir, "w", "linear.pt"),
		serialize.LoadOptions{Entry: []string{"model"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, source := range []string{dir, srv.URL} {
		names, err := List(t.Context(), source)
		if err != nil || !slices.Equal(names, []string{"linear", "small", "unknown"}) {
			t.Errorf("%v, %v", names, err)
		}
		if help, err := Help(t.Context(), source, "small"); err != nil ||
			!strings.HasPrefix(help, "Small.\nweights \"a\": w/linear.pt (default)") {
			t.Errorf("%q, %v", help, err)
		}
		if help, err := Help(t.Context(), source, "linear"); err != nil || help != "A linear layer; in, out: sizes." {
			t.Errorf("%q, %v", help, err)
		}
		for range 2 {
			m, err := Load(t.Context(), source, "small")
			if err != nil {
				t.Fatal(err)
			}
			if got := nn.StateDict(m); !got.Get("weight").Equal(want.Get("weight")) ||
				!got.Get("bias").Equal(want.Get("bias")) {
				t.Error("the weights were not loaded")
			}
		}
		if m, err := Load(t.Context(), source, "linear", Options{Args: Args{"in": 4.0, "out": 5.0}}); err != nil ||
			nn.NumParameters(m) != 25 {
			t.Errorf("%v, %v", m, err)
		}
		for _, c := range []struct {
			name string
			o    Options
			says string
		}{
			{"nothing", Options{}, `no model "nothing"`},
			{"unknown", Options{}, `"os.system", which this program has not registered`},
			{"linear", Options{}, "want in and out"},
			{"small", Options{Weights: "x"}, `no weights "x"`},
			{"small", Options{Weights: "bad"}, "hash"},
			{"small", Options{Weights: "out"}, "want a path below it"},
			{"small", Options{Weights: "no"}, "no"},
			{"small", Options{Args: Args{"out": 7.0}}, "size mismatch"},
		} {
			if _, err := Load(t.Context(), source, c.name, c.o); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s %v: got %v, want %s", c.name, c.o, err, c.says)
			}
		}
	}
	if _, err := List(t.Context(), t.TempDir()); err == nil {
		t.Error("a folder without a manifest")
	}
	// The bad hash asked again; the good file was downloaded once, and is still there.
	if got, err := os.ReadFile(filepath.Join(cache, "checkpoints", "linear.pt")); err != nil ||
		!bytes.Equal(got, weights) {
		t.Errorf("the cache holds %d bytes, %v", len(got), err)
	}
	before := requests.Load()
	for range 2 {
		if _, err := LoadStateDictFromURL(t.Context(), srv.URL+"/w/linear.pt", LoadOptions{Load: serialize.LoadOptions{
			Entry: []string{"model"}}}); err != nil {
			t.Error(err)
		}
	}
	if requests.Load() != before {
		t.Error("downloaded what the cache has")
	}
	// A hash in the name is checked where that is asked for.
	name := "x-" + hashOf(weights)[:8] + ".pt"
	if err := os.WriteFile(filepath.Join(dir, name), weights, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "x-0123abcd.pt"), weights, 0o600); err != nil {
		t.Fatal(err)
	}
	o := LoadOptions{CheckHash: true, Dir: t.TempDir(), Load: serialize.LoadOptions{Entry: []string{"model"}}}
	if _, err := LoadStateDictFromURL(t.Context(), srv.URL+"/"+name, o); err != nil {
		t.Error(err)
	}
	if _, err := LoadStateDictFromURL(t.Context(), srv.URL+"/x-0123abcd.pt", o); !errors.Is(err, ErrHash) {
		t.Errorf("another hash than in the name: %v", err)
	}
	for _, address := range []string{srv.URL, srv.URL + "/..", srv.URL + "/a%2Fb"} {
		if _, err := LoadStateDictFromURL(t.Context(), address, o); err == nil {
			t.Errorf("%s gives a file name", address)
		}
	}
}

func FuzzManifest(f *testing.F) {
	f.Add([]byte(`{"models": {"a": {"entry": "linear", "args": {"in": 1, "out": 1}, "weights": {"w": {"file": "x"}}}}}`))
	f.Add([]byte(`{"models": {}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, ManifestName), b, 0o600); err != nil {
			t.Fatal(err)
		}
		names, err := List(context.Background(), dir)
		if err != nil {
			return
		}
		for _, n := range names {
			if _, err := Help(context.Background(), dir, n); err != nil {
				t.Fatal(err)
			}
		}
	})
}
