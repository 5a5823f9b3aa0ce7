package board

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/gotorch-dev/torch/tensorboard"
)

//go:embed static
var staticFS embed.FS

// Options are the options of [New]; the zero value is ready to use.
type Options struct {
	// Hosts are names, besides "localhost" and any IP address, that the page may
	// be reached by: the Host header must have one of them.
	Hosts []string
	// Interval is how often at most the directory is looked at for new data; 0 is
	// two seconds, less than 0 looks at every request for the state.
	Interval time.Duration
	// AllowMissing makes a missing directory no error: it is waited for.
	AllowMissing bool
	// Title is shown next to the product's name and in the window's title.
	Title string
	// ErrorLog gets the details of errors, which the page is not told; nil: none.
	ErrorLog *log.Logger
}

// Server is the board as an [http.Handler]. It is safe for concurrent use. It
// holds no file open between requests and needs no closing.
type Server struct {
	dir   string
	opts  Options
	boot  string
	hosts map[string]bool
	files map[string]*staticFile
	mux   *http.ServeMux

	ready chan struct{} // closed when the logs have been read once
	log   *tensorboard.Log
	fail  error // why they could not be

	poll   sync.Mutex // held while looking for new data
	polled time.Time

	mu      sync.RWMutex
	version uint64
	ids     map[string]int
	runs    []*runState

	curves   sampleCache
	projects projectionCache
}

// runState is what the server remembers of a run; its place in Server.runs is
// the run's number.
type runState struct {
	name       string
	generation uint64
	purged     int
	version    uint64 // Server.version at the last change
}

type staticFile struct {
	data, gz []byte
	kind     string
	etag     string
}

// New returns a board for the event files at or below logdir, which it begins to
// read in the background. It fails if logdir cannot be read at all.
func New(logdir string, o Options) (*Server, error) {
	if logdir == "" {
		return nil, errors.New("board: no log directory given")
	}
	switch _, err := os.Stat(logdir); {
	case err == nil:
	case errors.Is(err, fs.ErrNotExist) && o.AllowMissing:
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("board: the log directory %s does not exist: %w", logdir, err)
	default:
		return nil, fmt.Errorf("board: the log directory cannot be read: %w", err)
	}
	if o.Interval == 0 {
		o.Interval = 2 * time.Second
	}
	id := make([]byte, 8)
	if _, err := rand.Read(id); err != nil {
		return nil, fmt.Errorf("board: %w", err)
	}
	s := &Server{dir: logdir, opts: o, boot: hex.EncodeToString(id), ready: make(chan struct{}),
		hosts: map[string]bool{"localhost": true}, ids: map[string]int{}}
	for _, h := range o.Hosts {
		s.hosts[strings.ToLower(strings.TrimSuffix(h, "."))] = true
	}
	if err := s.loadStatic(); err != nil {
		return nil, err
	}
	s.routes()
	go func() {
		defer close(s.ready)
		// A restarted run shows what counts now: points behind the restart are void.
		l, err := tensorboard.Open(logdir, tensorboard.OpenOptions{AllowMissing: true})
		if err != nil {
			s.fail = err
			s.logf("reading logs: %v", err)
			return
		}
		s.log = l
		s.polled = time.Now()
		s.note()
	}()
	return s, nil
}

// Wait waits until the logs have been read once.
func (s *Server) Wait() error {
	<-s.ready
	return s.fail
}

func (s *Server) logf(format string, args ...any) {
	if s.opts.ErrorLog != nil {
		s.opts.ErrorLog.Printf(format, args...)
	}
}

func (s *Server) loadStatic() error {
	s.files = map[string]*staticFile{}
	return fs.WalkDir(staticFS, "static", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		// A fixed table: the types that package mime knows depend on the machine.
		kind := map[string]string{".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8",
			".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}[path.Ext(p)]
		if kind == "" {
			kind = "text/plain; charset=utf-8"
		}
		b, err := staticFS.ReadFile(p)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(b)
		f := &staticFile{data: b, kind: kind, etag: `"` + hex.EncodeToString(sum[:8]) + `"`}
		var z bytes.Buffer
		w, _ := gzip.NewWriterLevel(&z, gzip.BestCompression)
		_, _ = w.Write(b)
		if err := w.Close(); err != nil {
			return err
		}
		if z.Len() < len(b) {
			f.gz = z.Bytes()
		}
		s.files[strings.TrimPrefix(p, "static")] = f
		return nil
	})
}

// csp allows what the page itself consists of. Trusted types make the browser
// refuse text where HTML is expected, save through the one policy that takes the
// server's cleaned Markdown.
const csp = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; media-src 'self'; " +
	"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
	"require-trusted-types-for 'script'; trusted-types markdown"

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", csp)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
	h.Set("Cache-Control", "no-cache")
	if !s.hostAllowed(r.Host) {
		s.refuse(w, http.StatusMisdirectedRequest,
			"this name is not served; use the address that the server printed, or start it with --allow-host")
		return
	}
	if !originAllowed(r) {
		s.refuse(w, http.StatusForbidden, "requests from other sites are refused")
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		s.refuse(w, http.StatusMethodNotAllowed, "only GET and HEAD are known")
		return
	}
	if strings.HasPrefix(r.URL.Path, "/api/") {
		s.mux.ServeHTTP(w, r)
		return
	}
	s.serveStatic(w, r)
}

// hostAllowed defends against DNS rebinding: a name that an attacker points at
// this machine arrives here as the Host, an address cannot be rebound.
func (s *Server) hostAllowed(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	if s.hosts[name] {
		return true
	}
	_, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(name, "["), "]"))
	return err == nil
}

// originAllowed refuses what a page of another origin sends. A link to the board
// on such a page may be followed.
func originAllowed(r *http.Request) bool {
	if o := r.Header.Get("Origin"); o != "" {
		u, err := url.Parse(o)
		if err != nil || u.Host == "" || !strings.EqualFold(u.Host, r.Host) {
			return false
		}
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return true
	}
	return r.URL.Path == "/" && r.Header.Get("Sec-Fetch-Mode") == "navigate" &&
		r.Header.Get("Sec-Fetch-Dest") == "document"
}

func (s *Server) serveStatic(w http.ResponseWriter, r *http.Request) {
	p := r.URL.Path
	if p == "/" {
		p = "/index.html"
	}
	f := s.files[p] // whole paths as keys: there is nothing to climb out of
	if f == nil {
		s.refuse(w, http.StatusNotFound, "there is no such page")
		return
	}
	h := w.Header()
	h.Set("Content-Type", f.kind)
	h.Set("ETag", f.etag)
	h.Set("Vary", "Accept-Encoding")
	if matches(r, f.etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	b := f.data
	if f.gz != nil && acceptsGzip(r) {
		h.Set("Content-Encoding", "gzip")
		b = f.gz
	}
	h.Set("Content-Length", fmt.Sprint(len(b)))
	if r.Method != http.MethodHead {
		_, _ = w.Write(b)
	}
}

// matches says whether the client holds this version already.
func matches(r *http.Request, etag string) bool {
	for _, t := range strings.Split(r.Header.Get("If-None-Match"), ",") {
		t = strings.TrimPrefix(strings.TrimSpace(t), "W/")
		if t == etag || t == "*" {
			return true
		}
	}
	return false
}

func acceptsGzip(r *http.Request) bool {
	for _, e := range strings.Split(r.Header.Get("Accept-Encoding"), ",") {
		name, q, _ := strings.Cut(strings.TrimSpace(e), ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			q = strings.ReplaceAll(q, " ", "")
			return q != "q=0" && q != "q=0.0"
		}
	}
	return false
}

var gzips = sync.Pool{New: func() any {
	w, _ := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed)
	return w
}}

// send writes a body, compressed if that is worth it.
func send(w http.ResponseWriter, r *http.Request, status int, kind string, body []byte) {
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Add("Vary", "Accept-Encoding")
	if len(body) < 1024 || !acceptsGzip(r) {
		h.Set("Content-Length", fmt.Sprint(len(body)))
		w.WriteHeader(status)
		if r.Method != http.MethodHead {
			_, _ = w.Write(body)
		}
		return
	}
	h.Set("Content-Encoding", "gzip")
	w.WriteHeader(status)
	if r.Method == http.MethodHead {
		return
	}
	z := gzips.Get().(*gzip.Writer)
	defer gzips.Put(z)
	z.Reset(w)
	_, _ = z.Write(body)
	_ = z.Close()
}

const jsonKind = "application/json; charset=utf-8"

func (s *Server) refuse(w http.ResponseWriter, status int, text string) {
	b, _ := json.Marshal(map[string]string{"error": text})
	w.Header().Del("ETag")
	w.Header().Set("Content-Type", jsonKind)
	w.WriteHeader(status)
	_, _ = w.Write(append(b, '\n'))
}

// apiError is an error whose text may be shown to anyone.
type apiError struct {
	status int
	text   string
}

func (e *apiError) Error() string { return e.text }

func badRequest(format string, args ...any) error {
	return &apiError{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

// failed answers with an error, whose text may hold paths and so stays here.
func (s *Server) failed(w http.ResponseWriter, r *http.Request, err error) {
	var a *apiError
	switch {
	case r.Context().Err() != nil: // the client has gone, as when one zooms on
	case errors.As(err, &a):
		s.refuse(w, a.status, a.text)
	case errors.Is(err, tensorboard.ErrNotFound):
		s.refuse(w, http.StatusNotFound, "there is no such run, tag or point")
	default:
		s.logf("%s: %v", r.URL.Path, err)
		s.refuse(w, http.StatusInternalServerError, "the data could not be read; the server's log says why")
	}
}

// handle registers an endpoint that answers with JSON. The function gets the log
// once it has been read.
func (s *Server) handle(name string, f func(*http.Request) (any, error)) {
	s.handleRaw(name, func(w http.ResponseWriter, r *http.Request) error {
		v, err := f(r)
		if err != nil {
			return err
		}
		b, ok := v.([]byte)
		if !ok {
			if b, err = json.Marshal(v); err != nil {
				return err
			}
		}
		send(w, r, http.StatusOK, jsonKind, b)
		return nil
	})
}

// handleRaw registers an endpoint that writes its answer itself unless it
// returns an error.
func (s *Server) handleRaw(name string, f func(http.ResponseWriter, *http.Request) error) {
	s.mux.HandleFunc("/api/"+name, func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-s.ready:
		default:
			if name != "state" {
				s.refuse(w, http.StatusServiceUnavailable, "the logs are still being read")
				return
			}
		}
		if s.log == nil && name != "state" {
			s.refuse(w, http.StatusInternalServerError, "the log directory could not be read")
			return
		}
		if err := f(w, r); err != nil {
			s.failed(w, r, err)
		}
	})
}

func (s *Server) routes() {
	s.mux = http.NewServeMux()
	s.handle("state", s.state)
	s.handle("scalars", s.scalars)
	s.handleRaw("scalars.csv", s.scalarsCSV)
	s.tagged("points", "", s.points)
	s.handleRaw("image", s.image)
	s.handleRaw("audio", s.audio)
	s.tagged("histograms", tensorboard.PluginHistograms, s.histograms)
	s.tagged("text", tensorboard.PluginText, s.text)
	s.tagged("pr", tensorboard.PluginPRCurves, s.prCurves)
	s.tagged("mesh", tensorboard.PluginMesh, s.mesh)
	s.handle("graph", s.graph)
	s.handle("hparams", s.hparams)
	s.handle("custom", s.custom)
	s.handle("embeddings", s.embeddings)
	s.handle("embedding", s.embedding)
	s.handleRaw("sprite", s.sprite)
	s.mux.HandleFunc("/api/", func(w http.ResponseWriter, _ *http.Request) {
		s.refuse(w, http.StatusNotFound, "there is no such endpoint")
	})
}
